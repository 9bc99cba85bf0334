/*
 * What the logs of a damaged store hold: writes that may be in no SST.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include "core/files.h"
#include "core/log_records.h"
#include "core/salvage/log_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct log_numbers {
    uint64_t *list;
    size_t count;
};

/* A log that is read. */
struct reading {
    struct salvage *salvage;
    uint64_t number;
};

/* ------------------------------------------------------------- entries --- */

/* Whether rows of the family that stand in this log are in SST files, all of
 * which are known. */
static bool
is_in_tables(const struct reading *reading, uint32_t family)
{
    const struct version_log *versions = &reading->salvage->versions;
    const struct version_family *known = version_log_family(versions, family);

    /* One that the MANIFEST no longer tells of was dropped before it began. */
    if (known == NULL)
        return versions->is_whole && family <= versions->family_max;
    return known->is_dropped ||
           (versions->is_whole && !reading->salvage->is_log_misplaced &&
            reading->number < known->log_number);
}

static enum colander_code
make_room(struct salvage_log *log, struct colander_error *err)
{
    const size_t capacity = log->capacity == 0 ? 1024 : 2 * log->capacity;
    struct salvage_entry *grown;

    if (log->count < log->capacity)
        return COLANDER_OK;
    grown = realloc(log->entries, capacity * sizeof(*grown));
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the writes of the logs");
    log->entries = grown;
    log->capacity = capacity;
    return COLANDER_OK;
}

/* A family whose name is lost. */
static enum colander_code
add_nameless(struct salvage *salvage, uint32_t id, struct colander_error *err)
{
    char name[SALVAGE_NAME_SIZE];

    (void)snprintf(name, sizeof(name), "unknown-%" PRIu32, id);
    return salvage_add_nameless(salvage, id, name, err);
}

static enum colander_code
keep_operation(void *context, const struct log_operation *operation,
               struct colander_error *err)
{
    const struct reading *reading = context;
    struct salvage *salvage = reading->salvage;
    struct salvage_log *log = &salvage->log;
    struct salvage_entry entry = {
        .family = operation->family,
        .is_delete = operation->is_delete,
        .sequence = operation->sequence,
        .key_at = log->bytes.size,
        .key_size = operation->key.size,
        .value_at = log->bytes.size + operation->key.size,
        .value_size = operation->value.size,
    };
    enum colander_code code = COLANDER_OK;

    if (operation->family == 0 || is_in_tables(reading, operation->family) ||
        operation->key.size == 0) /* no key of ours */
        return COLANDER_OK;
    if (salvage_family(salvage, operation->family) == NULL)
        code = add_nameless(salvage, operation->family, err);
    if (code == COLANDER_OK)
        code = make_room(log, err);
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
lose_part(const struct salvage *salvage, uint64_t number,
          const struct log_gap *gap)
{
    char name[SALVAGE_NAME_SIZE];

    (void)snprintf(name, sizeof(name), DIRECTORY_ENGINE "/%06" PRIu64 ".log",
                   number);
    salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN), name,
                 gap->is_last ? "%" PRIu64 " bytes at %" PRIu64
                                ", its end, are no whole write"
                              : "%" PRIu64 " bytes at %" PRIu64
                                " are damaged, and the writes in them lost",
                 gap->size, gap->offset);
}

/* *whole: bytes up to the first that cannot be read. */
static enum colander_code
read_records(struct reading *reading, struct log_records *records,
             uint64_t *whole, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    enum log_step step = LOG_RECORD;
    bool has_gap = false;

    while (code == COLANDER_OK && step != LOG_END) {
        struct log_gap gap = {log_records_position(records), 0, false};
        struct colander_slice record;

        code = log_records_next(records, &step, &record, &gap, err);
        if (code == COLANDER_OK && step == LOG_RECORD) {
            code = log_write_visit(record, keep_operation, reading, err);
            gap.size = log_records_position(records) - gap.offset;
        }
        if (code == COLANDER_CORRUPT || step == LOG_GAP) {
            lose_part(reading->salvage, reading->number, &gap);
            code = code == COLANDER_CORRUPT ? COLANDER_OK : code;
            has_gap = true;
        }
        if (!has_gap)
            *whole = log_records_position(records);
    }
    return code;
}

static void
lose_log(struct salvage *salvage, uint64_t number,
         const struct colander_error *why)
{
    char name[SALVAGE_NAME_SIZE];

    (void)ledger_found(salvage->ledger, LEDGER_WAL, number, 0);
    (void)snprintf(name, sizeof(name), DIRECTORY_ENGINE "/%06" PRIu64 ".log",
                   number);
    salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN), name, "%s",
                 why->message);
}

/* ----------------------------------------------------------------- order ---
 */

/* The sequence of the first write that can be read; 0: none can. */
static enum colander_code
read_first(const struct salvage *salvage, uint64_t number, uint64_t *sequence,
           struct colander_error *err)
{
    struct log_records *records;
    struct colander_slice record;
    struct log_gap gap;
    enum log_step step = LOG_GAP;
    char name[SALVAGE_NAME_SIZE];
    enum colander_code code;

    *sequence = 0;
    (void)snprintf(name, sizeof(name), "%06" PRIu64 ".log", number);
    code = log_records_open(salvage->engine_fd, name, &records, err);
    if (code != COLANDER_OK)
        return code == COLANDER_IO ? COLANDER_OK : code;
    while (code == COLANDER_OK && step != LOG_END && *sequence == 0) {
        code = log_records_next(records, &step, &record, &gap, err);
        if (code == COLANDER_OK && step == LOG_RECORD)
            *sequence = log_write_sequence(record);
    }
    log_records_close(records);
    return code;
}

/* Looks whether each log begins behind where the one before begins. Where two
 * stand in the place of each other, which of their writes are in SST files is
 * not known: all are taken, and all rows are told, as compactions take away how
 * old a row is. */
static enum colander_code
check_order(struct salvage *salvage, const struct log_numbers *numbers,
            struct colander_error *err)
{
    uint64_t highest = 0;
    uint64_t highest_number = 0;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < numbers->count && code == COLANDER_OK; i++) {
        char name[SALVAGE_NAME_SIZE];
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
        (void)snprintf(name, sizeof(name),
                       DIRECTORY_ENGINE "/%06" PRIu64 ".log", numbers->list[i]);
        salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN), name,
                     "its writes are older than those of %06" PRIu64
                     ".log: one of the two is not where it was written",
                     highest_number);
    }
    return code;
}

/* ------------------------------------------------------------------ logs ---
 */

static enum colander_code
read_log(struct salvage *salvage, uint64_t number, struct colander_error *err)
{
    struct reading reading = {salvage, number};
    struct log_records *records;
    struct ledger_entry noted;
    struct colander_error why;
    char name[SALVAGE_NAME_SIZE];
    enum colander_code code;
    uint64_t whole = 0;

    (void)snprintf(name, sizeof(name), "%06" PRIu64 ".log", number);
    code = log_records_open(salvage->engine_fd, name, &records, &why);
    if (code == COLANDER_IO) {
        lose_log(salvage, number, &why);
        return COLANDER_OK;
    }
    if (code != COLANDER_OK)
        return COLANDER_FAIL(err, code, "%s", why.message);
    code = read_records(&reading, records, &whole, err);
    log_records_close(records);
    if (code != COLANDER_OK)
        return code;
    noted = ledger_found(salvage->ledger, LEDGER_WAL, number, whole);
    (void)snprintf(name, sizeof(name), DIRECTORY_ENGINE "/%06" PRIu64 ".log",
                   number);
    if (whole < noted.written)
        salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN), name,
                     "%" PRIu64 " bytes had been written, and %" PRIu64
                     " can be read from its beginning on",
                     noted.written, whole);
    return COLANDER_OK;
}

/* --------------------------------------------------------------- listing ---
 */

static enum colander_code
note_log(void *context, int directory, const char *name,
         struct colander_error *err)
{
    struct log_numbers *numbers = context;
    const uint64_t number = strtoull(name, NULL, 10);
    char back[SALVAGE_NAME_SIZE];
    uint64_t *grown;

    (void)directory;
    (void)snprintf(back, sizeof(back), "%06" PRIu64 ".log", number);
    if (strcmp(back, name) != 0)
        return COLANDER_OK;
    grown = realloc(numbers->list, (numbers->count + 1) * sizeof(*grown));
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for logs");
    grown[numbers->count++] = number;
    numbers->list = grown;
    return COLANDER_OK;
}

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t *one = a;
    const uint64_t *other = b;

    return (*one > *other) - (*one < *other);
}

static void
lose_missing(const struct salvage *salvage)
{
    const struct ledger_entry *entry;
    size_t at = 0;

    while ((entry = ledger_missing(salvage->ledger, &at)) != NULL) {
        char name[SALVAGE_NAME_SIZE];

        (void)snprintf(name, sizeof(name),
                       DIRECTORY_ENGINE "/%06" PRIu64 ".log", entry->number);
        salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN), name,
                     "it is missing, with %" PRIu64 " bytes of writes",
                     entry->written);
    }
}

enum colander_code
salvage_read_logs(struct salvage *salvage, struct colander_error *err)
{
    struct log_numbers numbers = {NULL, 0};
    struct salvage_log *log = &salvage->log;
    enum colander_code code =
        files_visit(salvage->engine_fd, ".", note_log, &numbers, err);

    if (numbers.count > 1)
        qsort(numbers.list, numbers.count, sizeof(*numbers.list),
              compare_numbers);
    if (code == COLANDER_OK)
        code = check_order(salvage, &numbers, err);
    for (size_t i = 0; i < numbers.count && code == COLANDER_OK; i++)
        code = read_log(salvage, numbers.list[i], err);
    free(numbers.list);
    if (code != COLANDER_OK)
        return code;
    lose_missing(salvage);
    if (log->count > 1)
        qsort_r(log->entries, log->count, sizeof(*log->entries),
                compare_entries, log->bytes.data);
    return COLANDER_OK;
}
