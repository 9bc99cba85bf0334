/*
 * The writes in the logs of a damaged store, which may not be in an SST.
 *
 * Each record is a batch. It begins with the sequence of its first operation
 * and their number. An operation is a tag, the family where that is not the
 * first one, a key, and for a put a value.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include "core/array.h"
#include "core/bytes.h"
#include "core/drop_report.h"
#include "core/log_records.h"
#include "core/logs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A write in a log may be one of any row. */
static const struct salvage_loss any_rows = {.family = NULL};

/* A log that is being read. */
struct reading {
    struct salvage *salvage;
    uint64_t number;
};

static struct numbered_name
log_name(uint64_t number)
{
    return files_name("", number, ".log");
}

/* ---------------------------------------------------------- operations --- */

/* A put or delete, borrowed from the record. */
struct operation {
    uint64_t sequence;
    uint32_t family; /* RocksDB's id of the column family */
    bool is_delete;
    struct colander_slice key;
    struct colander_slice value;
};

/* RocksDB's tags that a store may have. */
enum tag {
    TAG_DELETE = 0x0,
    TAG_PUT = 0x1,
    TAG_NOTE = 0x3, /* for readers of the log; not an operation */
    TAG_FAMILY_DELETE = 0x4,
    TAG_FAMILY_PUT = 0x5,
    TAG_SINGLE_DELETE = 0x7,
    TAG_FAMILY_SINGLE_DELETE = 0x8,
    TAG_NOTHING = 0xd,
};

/* Reads what follows the tag. Clears *is_one if that is not an operation.
 * Returns false for an unknown tag. */
static bool
take_operation(struct bytes_reader *in, uint64_t tag,
               struct operation *operation, bool *is_one)
{
    *is_one = true;
    operation->family = 0;
    operation->is_delete = true;
    operation->value = colander_slice_of(NULL, 0);
    switch (tag) {
    case TAG_FAMILY_PUT:
        operation->family = (uint32_t)bytes_read_varint(in);
        operation->is_delete = false;
        break;
    case TAG_PUT:
        operation->is_delete = false;
        break;
    case TAG_FAMILY_DELETE:
    case TAG_FAMILY_SINGLE_DELETE:
        operation->family = (uint32_t)bytes_read_varint(in);
        break;
    case TAG_DELETE:
    case TAG_SINGLE_DELETE:
        break;
    case TAG_NOTE:
        (void)bytes_read_text(in);
        *is_one = false;
        return true;
    case TAG_NOTHING:
        *is_one = false;
        return true;
    default:
        return false;
    }
    operation->key = bytes_read_text(in);
    if (!operation->is_delete)
        operation->value = bytes_read_text(in);
    return true;
}

/* ------------------------------------------------------------- entries --- */

/* Whether the writes of the family in this log are also in SST files, all of
 * which are known. */
static bool
is_in_tables(const struct reading *reading, uint32_t family)
{
    const struct manifest *manifest = &reading->salvage->manifest;
    const struct manifest_family *known = manifest_family(manifest, family);

    /* A family that the MANIFEST lacks was dropped before it was written. */
    if (known == NULL)
        return manifest->is_whole && family <= manifest->family_max;
    return known->is_dropped ||
           (manifest->is_whole && !reading->salvage->is_log_misplaced &&
            reading->number < known->log_number);
}

/* Adds a family whose name is lost. */
static enum colander_code
add_nameless(struct salvage *salvage, uint32_t id, struct colander_error *err)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "unknown-%" PRIu32, id);
    return salvage_add_nameless(salvage, id, name, err);
}

static enum colander_code
keep_operation(const struct reading *reading, const struct operation *operation,
               struct colander_error *err)
{
    struct salvage *salvage = reading->salvage;
    struct salvage_log *log = &salvage->log;
    struct salvage_entry entry = {
        .family = operation->family,
        .is_delete = operation->is_delete,
        .sequence = operation->sequence,
        .key_at = log->bytes.size,
        .key_size = operation->key.size,
        .value_size = operation->value.size,
    };
    enum colander_code code = COLANDER_OK;

    if (is_in_tables(reading, operation->family) ||
        operation->key.size == 0) /* not a key of ours */
        return COLANDER_OK;
    if (operation->family != SALVAGE_ITEMS &&
        salvage_family(salvage, operation->family) == NULL)
        code = add_nameless(salvage, operation->family, err);
    if (code == COLANDER_OK)
        code = array_reserve(&log->entries, log->count, &log->capacity, 1, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&log->bytes, operation->key.data,
                                      operation->key.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&log->bytes, operation->value.data,
                                      operation->value.size, err);
    if (code == COLANDER_OK)
        log->entries[log->count++] = entry;
    return code;
}

/* Keeps the operations of a record. Fails with CORRUPT if the record is not a
 * batch, or has an operation that a store never writes; earlier operations are
 * kept. */
static enum colander_code
keep_batch(const struct reading *reading, struct colander_slice record,
           struct colander_error *err)
{
    const struct write_head head = log_write_head(record);
    struct bytes_reader in = bytes_reader_of(record);
    struct operation operation = {.sequence = head.sequence};
    enum colander_code code = COLANDER_OK;
    uint32_t count = 0;

    (void)bytes_read(&in, LOG_WRITE_HEAD_SIZE);
    while (bytes_reader_has_more(&in) && code == COLANDER_OK) {
        bool is_one;

        if (!take_operation(&in, bytes_read_le(&in, 1), &operation, &is_one))
            return COLANDER_CORRUPT;
        if (!is_one || in.is_bad)
            continue;
        code = keep_operation(reading, &operation, err);
        operation.sequence++;
        count++;
    }
    if (code == COLANDER_OK && (in.is_bad || count != head.count))
        return COLANDER_CORRUPT;
    return code;
}

static int
compare_entries(const void *a, const void *b, void *context)
{
    const uint8_t *bytes = context;
    const struct salvage_entry *one = a;
    const struct salvage_entry *other = b;
    int order = (one->family > other->family) - (one->family < other->family);

    if (order == 0)
        order = colander_slice_compare(
            colander_slice_of(bytes + one->key_at, one->key_size),
            colander_slice_of(bytes + other->key_at, other->key_size));
    if (order == 0)
        order = (one->sequence < other->sequence) -
                (one->sequence > other->sequence);
    return order;
}

/* ---------------------------------------------------------------- logs --- */

static void
lose_part(const struct reading *reading, const struct log_gap *gap)
{
    salvage_lose(reading->salvage, any_rows, log_name(reading->number).text,
                 gap->is_last ? "%" PRIu64 " bytes at %" PRIu64
                                ", its end, are not a whole write"
                              : "%" PRIu64 " bytes at %" PRIu64
                                " are damaged, and the writes in them lost",
                 gap->size, gap->offset);
}

/* Reads all records. Sets *whole to the bytes before the first damage. */
static enum colander_code
read_records(const struct reading *reading, struct log_records *records,
             uint64_t *whole, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    enum log_step step = LOG_RECORD;
    bool has_gap = false;

    while (code == COLANDER_OK && step != LOG_END) {
        struct log_gap gap = {.offset = log_records_position(records)};
        struct colander_slice record;

        code = log_records_next(records, &step, &record, &gap, err);
        if (code == COLANDER_OK && step == LOG_RECORD) {
            code = keep_batch(reading, record, err);
            gap.size = log_records_position(records) - gap.offset;
        }
        if (code == COLANDER_CORRUPT || step == LOG_GAP) {
            lose_part(reading, &gap);
            code = code == COLANDER_CORRUPT ? COLANDER_OK : code;
            has_gap = true;
        }
        if (!has_gap)
            *whole = log_records_position(records);
    }
    return code;
}

/* --------------------------------------------------------------- order --- */

/* Sets *sequence to that of the first write that can be read, or 0. */
static enum colander_code
read_first(const struct salvage *salvage, uint64_t number, uint64_t *sequence,
           struct colander_error *err)
{
    struct log_records *records;
    struct colander_slice record;
    struct log_gap gap;
    enum log_step step = LOG_GAP;
    const struct numbered_name name = log_name(number);
    enum colander_code code =
        log_records_open(salvage->engine_fd, name.text, &records, err);

    *sequence = 0;
    if (code != COLANDER_OK)
        return code == COLANDER_IO ? COLANDER_OK : code;
    while (code == COLANDER_OK && step != LOG_END && *sequence == 0) {
        code = log_records_next(records, &step, &record, &gap, err);
        if (code == COLANDER_OK && step == LOG_RECORD)
            *sequence = log_write_head(record).sequence;
    }
    log_records_close(records);
    return code;
}

/* Checks that each log begins after the one before. If two logs are swapped, it
 * is not known which of their writes are in SST files. Then all are read, and a
 * loss of all rows is reported, since compactions hide how old a row is. */
static enum colander_code
check_order(struct salvage *salvage, const struct files_numbers *numbers,
            struct colander_error *err)
{
    uint64_t highest = 0;
    uint64_t highest_number = 0;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < numbers->count && code == COLANDER_OK; i++) {
        uint64_t first;

        code = read_first(salvage, numbers->list[i], &first, err);
        if (code != COLANDER_OK || first == 0)
            continue;
        if (first >= highest) {
            highest = first;
            highest_number = numbers->list[i];
            continue;
        }
        salvage->is_log_misplaced = true;
        salvage_lose(salvage, any_rows, log_name(numbers->list[i]).text,
                     "its writes are older than those of %06" PRIu64
                     ".log: one of the two is not where it was written",
                     highest_number);
    }
    return code;
}

/* ----------------------------------------------------------------- logs --- */

static enum colander_code
read_log(struct salvage *salvage, uint64_t number, struct colander_error *err)
{
    struct reading reading = {salvage, number};
    struct log_records *records;
    struct colander_error error;
    const struct numbered_name name = log_name(number);
    const uint64_t written = ledger_noted(salvage->ledger, LEDGER_WAL, number)
                                 .extents[LEDGER_WRITTEN]
                                 .size;
    uint64_t whole = 0;
    enum colander_code code =
        log_records_open(salvage->engine_fd, name.text, &records, &error);

    ledger_found(salvage->ledger, LEDGER_WAL, number, (struct log_extent){0});
    if (code == COLANDER_IO) {
        salvage_lose(salvage, any_rows, name.text, "%s", error.message);
        return COLANDER_OK;
    }
    if (code != COLANDER_OK)
        return COLANDER_FAIL(err, code, "%s", error.message);
    code = read_records(&reading, records, &whole, err);
    log_records_close(records);
    if (code == COLANDER_OK && whole < written)
        salvage_lose(salvage, any_rows, name.text,
                     "%" PRIu64 " bytes were written, and only the first "
                     "%" PRIu64 " can be read without a gap",
                     written, whole);
    return code;
}

/* Whether the file is a log of the store that is in the place of another. */
static bool
is_misplaced(const struct salvage *salvage, const char *name)
{
    struct ledger *ledger = salvage->ledger;
    struct ledger_entry entry = ledger_next(ledger, LEDGER_WAL, 0);

    while (entry.number != 0 && (entry.extents[LEDGER_WRITTEN].size == 0 ||
                                 !logs_is_own(salvage->engine_fd, name, ledger,
                                              LEDGER_WAL, entry.number)))
        entry = ledger_next(ledger, LEDGER_WAL, entry.number);
    return entry.number != 0;
}

/* Reads a log if it is one of the store. Otherwise its rows may be those of
 * another store, or of an earlier moment. */
static enum colander_code
read_own_log(struct salvage *salvage, uint64_t number,
             struct colander_error *err)
{
    const struct numbered_name name = log_name(number);

    if (logs_is_own(salvage->engine_fd, name.text, salvage->ledger, LEDGER_WAL,
                    number) ||
        is_misplaced(salvage, name.text))
        return read_log(salvage, number, err);
    ledger_found(salvage->ledger, LEDGER_WAL, number, (struct log_extent){0});
    if (manifest_needs_log(&salvage->manifest, number))
        salvage_lose(salvage, any_rows, name.text,
                     "it is not the file that was written, and none of its "
                     "writes are kept. (Without " LEDGER_FILE
                     " they would be.)");
    return COLANDER_OK;
}

static void
lose_missing(const struct salvage *salvage)
{
    struct ledger_entry entry = ledger_next(salvage->ledger, LEDGER_WAL, 0);

    for (; entry.number != 0;
         entry = ledger_next(salvage->ledger, LEDGER_WAL, entry.number)) {
        const uint64_t written = entry.extents[LEDGER_WRITTEN].size;

        if (!entry.is_found && written > 0)
            salvage_lose(salvage, any_rows, log_name(entry.number).text,
                         "it is missing, with %" PRIu64 " bytes of writes",
                         written);
    }
}

/* Opens that failed may have cut logs, of which nothing else is left to see. */
static void
lose_dropped(const struct salvage *salvage)
{
    struct colander_recovery dropped = {.dropped_size = 0};
    struct colander_error error;

    if (drop_report_add(salvage->directory.fd, &dropped, &error) != COLANDER_OK)
        salvage_lose(salvage, any_rows, DROP_REPORT_FILE, "%s", error.message);
    else if (dropped.dropped_size > 0)
        salvage_lose(salvage, any_rows, DROP_REPORT_FILE,
                     "an open that failed dropped %" PRIu64 " bytes from %s on",
                     dropped.dropped_size, dropped.dropped_file);
}

enum colander_code
salvage_read_logs(struct salvage *salvage, struct colander_error *err)
{
    struct files_numbers numbers = {NULL, 0, 0};
    struct salvage_log *log = &salvage->log;
    enum colander_code code =
        files_list_numbers(salvage->engine_fd, "", ".log", &numbers, err);

    if (code == COLANDER_OK)
        code = check_order(salvage, &numbers, err);
    for (size_t i = 0; i < numbers.count && code == COLANDER_OK; i++)
        code = read_own_log(salvage, numbers.list[i], err);
    free(numbers.list);
    if (code != COLANDER_OK)
        return code;
    lose_missing(salvage);
    lose_dropped(salvage);
    if (log->count > 1)
        qsort_r(log->entries, log->count, sizeof(*log->entries),
                compare_entries, log->bytes.data);
    return COLANDER_OK;
}
