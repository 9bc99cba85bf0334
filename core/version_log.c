/*
 * The MANIFEST: see version_log.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/version_log.h"

#include "core/bytes_in.h"
#include "core/log_records.h"

#include <stdlib.h>

/* RocksDB's tags. Later ones that an older reader may leave out have a bit, and
 * their size. */
enum tag {
    TAG_COMPARATOR = 1,
    TAG_LOG_NUMBER = 2,
    TAG_NEXT_FILE = 3,
    TAG_LAST_SEQUENCE = 4,
    TAG_COMPACT_CURSOR = 5,
    TAG_DELETED_FILE = 6,
    TAG_PREVIOUS_LOG = 9,
    TAG_LEAST_LOG = 10,
    TAG_NEW_FILE = 103,
    TAG_FAMILY = 200,
    TAG_FAMILY_ADD = 201,
    TAG_FAMILY_DROP = 202,
    TAG_FAMILY_MAX = 203,
    TAG_GROUP = 300,
};

#define TAG_MAY_BE_LEFT_OUT 0x2000

/* Among what follows a new file: each a tag and a text, up to the first. */
#define FILE_TAG_END 1
#define FILE_TAG_IDENTITY 12 /* begins with the session */

/* Behind each key RocksDB has sequence and type. */
#define KEY_END_SIZE 8

/* What an edit says of its family, which it names last. */
struct edit {
    uint32_t family;
    bool adds_family;
    bool drops_family;
    bool has_log_number;
    uint64_t log_number;
    uint32_t family_max;
    struct colander_slice name;
};

/* ------------------------------------------------------------- families --- */

const struct version_family *
version_log_family(const struct version_log *log, uint32_t id)
{
    for (size_t i = 0; i < log->family_count; i++) {
        if (log->families[i].id == id)
            return &log->families[i];
    }
    return NULL;
}

static enum colander_code
fail_memory(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a MANIFEST");
}

/* Adds a family, or names one that is known by its files. */
static enum colander_code
add_family(struct version_log *log, uint32_t id, struct colander_slice name,
           struct colander_error *err)
{
    struct version_family *family;

    family = realloc(log->families, (log->family_count + 1) * sizeof(*family));
    if (family == NULL)
        return fail_memory(err);
    log->families = family;
    family += log->family_count;
    memset(family, 0, sizeof(*family));
    family->id = id;
    family->name = malloc(name.size + 1);
    if (family->name == NULL)
        return fail_memory(err);
    if (name.size > 0)
        memcpy(family->name, name.data, name.size);
    family->name[name.size] = '\0';
    log->family_count++;
    return COLANDER_OK;
}

static enum colander_code
apply_to_family(struct version_log *log, const struct edit *edit,
                struct colander_error *err)
{
    struct version_family *family =
        (struct version_family *)version_log_family(log, edit->family);

    if (edit->family_max > log->family_max)
        log->family_max = edit->family_max;
    if (family == NULL && edit->adds_family) {
        enum colander_code code =
            add_family(log, edit->family, edit->name, err);

        if (code != COLANDER_OK)
            return code;
        family = &log->families[log->family_count - 1];
    }
    if (family == NULL)
        return COLANDER_OK; /* its beginning was lost */
    family->is_dropped = family->is_dropped || edit->drops_family;
    if (edit->has_log_number)
        family->log_number = edit->log_number;
    return COLANDER_OK;
}

enum colander_code
version_log_drop(struct version_log *log, uint32_t id,
                 struct colander_error *err)
{
    const struct edit edit = {
        .family = id,
        .adds_family = true,
        .drops_family = true,
    };

    return apply_to_family(log, &edit, err);
}

/* --------------------------------------------------------------- tables --- */

/* Where the table is, or would be. */
static size_t
table_place(const struct version_log *log, uint64_t number)
{
    size_t low = 0;
    size_t high = log->table_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (log->tables[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct version_table *
version_log_table(const struct version_log *log, uint64_t number)
{
    const size_t place = table_place(log, number);

    if (place < log->table_count && log->tables[place].number == number)
        return &log->tables[place];
    return NULL;
}

/* Notes what becomes of a table; NULL: no memory. Until all is read each edit
 * has an entry: put in order once, however edits go to and fro between numbers.
 */
static struct version_table *
note_table(struct version_log *log, uint64_t number)
{
    struct version_table *table = log->tables;

    if ((log->table_count & (log->table_count + 1)) == 0) {
        table =
            realloc(table, (2 * log->table_count + 2) * sizeof(*log->tables));
        if (table == NULL)
            return NULL;
        log->tables = table;
    }
    table += log->table_count;
    memset(table, 0, sizeof(*table));
    table->number = number;
    table->noted_at = log->table_count++;
    return table;
}

static int
compare_tables(const void *a, const void *b)
{
    const struct version_table *one = a;
    const struct version_table *other = b;

    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return (one->noted_at > other->noted_at) -
           (one->noted_at < other->noted_at);
}

static void
release_table(struct version_table *table)
{
    colander_buffer_release(&table->smallest);
    colander_buffer_release(&table->largest);
}

/* Leaves one entry of each table: of what was noted the last counts, but one
 * that was removed stays known as what it was. */
static void
settle_tables(struct version_log *log)
{
    size_t kept = 0;

    if (log->table_count > 1)
        qsort(log->tables, log->table_count, sizeof(*log->tables),
              compare_tables);
    for (size_t i = 0; i < log->table_count; i++) {
        struct version_table *now = &log->tables[i];
        struct version_table *last = kept > 0 ? &log->tables[kept - 1] : NULL;

        if (last == NULL || last->number != now->number) {
            log->tables[kept++] = *now;
        } else if (now->is_live) {
            release_table(last);
            *last = *now;
        } else {
            last->is_live = false;
            release_table(now);
        }
    }
    log->table_count = kept;
}

static enum colander_code
copy_key(struct bytes_in *in, struct colander_buffer *key,
         struct colander_error *err)
{
    const struct colander_slice text = bytes_in_text(in);

    colander_buffer_clear(key);
    if (text.size < KEY_END_SIZE) {
        in->is_bad = true;
        return COLANDER_OK;
    }
    return colander_buffer_append(key, text.data, text.size - KEY_END_SIZE,
                                  err);
}

static enum colander_code
take_new_file(struct version_log *log, uint32_t family, struct bytes_in *in,
              struct colander_error *err)
{
    struct version_table *table;
    enum colander_code code;
    uint64_t first;
    uint64_t last;
    uint64_t tag;

    (void)bytes_in_varint(in); /* the level */
    table = note_table(log, bytes_in_varint(in));
    if (table == NULL)
        return fail_memory(err);
    table->family = family;
    table->is_live = true;
    table->size = bytes_in_varint(in);
    code = copy_key(in, &table->smallest, err);
    if (code == COLANDER_OK)
        code = copy_key(in, &table->largest, err);
    first = bytes_in_varint(in);
    last = bytes_in_varint(in);
    table->only_sequence = first == last ? last : 0;
    while (!in->is_bad && (tag = bytes_in_varint(in)) != FILE_TAG_END) {
        struct bytes_in about = bytes_in(bytes_in_text(in));

        if (tag == FILE_TAG_IDENTITY)
            table->session = bytes_in_fixed(&about, 8);
    }
    return code;
}

static void
skip_new_file(struct bytes_in *in)
{
    for (unsigned i = 0; i < 3; i++)
        (void)bytes_in_varint(in);
    for (unsigned i = 0; i < 2; i++)
        (void)bytes_in_text(in);
    for (unsigned i = 0; i < 2; i++)
        (void)bytes_in_varint(in);
    while (!in->is_bad && bytes_in_varint(in) != FILE_TAG_END)
        (void)bytes_in_text(in);
}

static enum colander_code
take_deleted_file(struct version_log *log, struct bytes_in *in,
                  struct colander_error *err)
{
    struct version_table *table;

    (void)bytes_in_varint(in); /* the level */
    table = note_table(log, bytes_in_varint(in));
    if (table == NULL)
        return fail_memory(err);
    table->is_live = false;
    return COLANDER_OK;
}

/* ---------------------------------------------------------------- edits --- */

/* Takes what belongs to `tag` and concerns neither family nor files. */
static void
skip(struct bytes_in *in, uint64_t tag)
{
    switch (tag) {
    case TAG_COMPACT_CURSOR:
        (void)bytes_in_varint(in);
        (void)bytes_in_text(in);
        break;
    case TAG_NEXT_FILE:
    case TAG_LAST_SEQUENCE:
    case TAG_PREVIOUS_LOG:
    case TAG_LEAST_LOG:
    case TAG_FAMILY_MAX:
    case TAG_GROUP:
        (void)bytes_in_varint(in);
        break;
    default:
        if (tag == TAG_COMPARATOR || (tag & TAG_MAY_BE_LEFT_OUT) != 0)
            (void)bytes_in_text(in);
        else
            in->is_bad = true;
    }
}

/* What the edit says of its family; false: it is none. */
static bool
read_family(struct colander_slice record, struct edit *edit)
{
    struct bytes_in in = bytes_in(record);

    memset(edit, 0, sizeof(*edit));
    while (bytes_in_are_left(&in)) {
        const uint64_t tag = bytes_in_varint(&in);

        if (tag == TAG_FAMILY) {
            edit->family = (uint32_t)bytes_in_varint(&in);
        } else if (tag == TAG_FAMILY_ADD) {
            edit->adds_family = true;
            edit->name = bytes_in_text(&in);
        } else if (tag == TAG_FAMILY_DROP) {
            edit->drops_family = true;
        } else if (tag == TAG_LOG_NUMBER) {
            edit->has_log_number = true;
            edit->log_number = bytes_in_varint(&in);
        } else if (tag == TAG_FAMILY_MAX) {
            edit->family_max = (uint32_t)bytes_in_varint(&in);
        } else if (tag == TAG_NEW_FILE) {
            skip_new_file(&in);
        } else if (tag == TAG_DELETED_FILE) {
            (void)bytes_in_varint(&in);
            (void)bytes_in_varint(&in);
        } else {
            skip(&in, tag);
        }
    }
    return !in.is_bad;
}

/* *is_good: all of it was understood. */
static enum colander_code
apply_files(struct version_log *log, const struct edit *edit,
            struct colander_slice record, bool *is_good,
            struct colander_error *err)
{
    struct bytes_in in = bytes_in(record);
    enum colander_code code = COLANDER_OK;

    while (bytes_in_are_left(&in) && code == COLANDER_OK) {
        const uint64_t tag = bytes_in_varint(&in);

        if (tag == TAG_NEW_FILE)
            code = take_new_file(log, edit->family, &in, err);
        else if (tag == TAG_DELETED_FILE)
            code = take_deleted_file(log, &in, err);
        else if (tag == TAG_FAMILY || tag == TAG_LOG_NUMBER)
            (void)bytes_in_varint(&in);
        else if (tag == TAG_FAMILY_ADD)
            (void)bytes_in_text(&in);
        else if (tag != TAG_FAMILY_DROP)
            skip(&in, tag);
    }
    *is_good = !in.is_bad;
    return code;
}

/* *is_good: the record is an edit. */
static enum colander_code
apply(struct version_log *log, struct colander_slice record, bool *is_good,
      struct colander_error *err)
{
    struct edit edit;
    enum colander_code code;

    *is_good = read_family(record, &edit);
    if (!*is_good)
        return COLANDER_OK;
    code = apply_to_family(log, &edit, err);
    return code == COLANDER_OK ? apply_files(log, &edit, record, is_good, err)
                               : code;
}

/* What is behind the first gap is read, but what it did to files, where it is
 * not known what was done before, is not known to be all. */
static enum colander_code
read_edits(struct version_log *log, struct log_records *records,
           struct colander_error *err)
{
    enum log_step step = LOG_RECORD;
    enum colander_code code = COLANDER_OK;
    bool has_gap = false;

    while (code == COLANDER_OK && step != LOG_END) {
        struct colander_slice record;
        struct log_gap gap;
        bool is_good = true;

        code = log_records_next(records, &step, &record, &gap, err);
        if (code != COLANDER_OK)
            break;
        if (step == LOG_RECORD)
            code = apply(log, record, &is_good, err);
        has_gap = has_gap || step == LOG_GAP || !is_good;
        if (!has_gap)
            log->whole = log_records_position(records);
        if ((step == LOG_GAP && !gap.is_last) || !is_good)
            log->is_whole = false;
    }
    log->is_whole =
        log->is_whole && log->whole > 0 && !log_records_has_failed(records);
    return code;
}

enum colander_code
version_log_read(struct version_log *log, int directory, const char *name,
                 struct colander_error *err)
{
    struct log_records *records = NULL;
    enum colander_code code = log_records_open(directory, name, &records, err);

    log->is_whole = code == COLANDER_OK;
    if (code == COLANDER_OK)
        code = add_family(log, 0, colander_slice_text("default"), err);
    if (code == COLANDER_OK)
        code = read_edits(log, records, err);
    settle_tables(log);
    log_records_close(records);
    return code;
}

void
version_log_release(struct version_log *log)
{
    const struct version_log empty = VERSION_LOG_EMPTY;

    for (size_t i = 0; i < log->family_count; i++)
        free(log->families[i].name);
    for (size_t i = 0; i < log->table_count; i++)
        release_table(&log->tables[i]);
    free(log->families);
    free(log->tables);
    *log = empty;
}
