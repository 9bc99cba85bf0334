/* SPDX-License-Identifier: MIT */
#include "core/manifest.h"

#include "core/array.h"
#include "core/bytes.h"
#include "core/files.h"
#include "core/log_records.h"
#include "core/logs.h"

/* RocksDB's tags. A later tag that an older reader may skip has a bit set, and
 * its size follows. */
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

#define TAG_MAY_BE_SKIPPED 0x2000

/* Tag and text of each property of a new file, up to the first tag. */
#define FILE_TAG_END 1
#define FILE_TAG_IDENTITY 12 /* begins with the session */

/* Sequence and type, after each user key. */
#define KEY_END_SIZE 8

/* What an edit says about its family, whose id comes last. */
struct edit {
    uint32_t family;
    bool adds_family;
    bool drops_family;
    bool has_log_number;
    uint64_t log_number;
    uint32_t family_max;
    uint64_t last_sequence;
    uint64_t least_log;
    uint64_t group_left; /* edits after it that count only together with it */
    struct colander_slice name;
};

/* ------------------------------------------------------------- families --- */

const struct manifest_family *
manifest_family(const struct manifest *manifest, uint32_t id)
{
    for (size_t i = 0; i < manifest->family_count; i++) {
        if (manifest->families[i].id == id)
            return &manifest->families[i];
    }
    return NULL;
}

static enum colander_code
add_family(struct manifest *manifest, uint32_t id, struct colander_slice name,
           struct colander_error *err)
{
    enum colander_code code =
        array_reserve(&manifest->families, manifest->family_count,
                      &manifest->family_capacity, 1, err);
    char *copy = code == COLANDER_OK ? malloc(name.size + 1) : NULL;

    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a MANIFEST");
    if (name.size > 0)
        memcpy(copy, name.data, name.size);
    copy[name.size] = '\0';
    manifest->families[manifest->family_count++] =
        (struct manifest_family){.id = id, .name = copy};
    return COLANDER_OK;
}

static enum colander_code
apply_to_family(struct manifest *manifest, const struct edit *edit,
                struct colander_error *err)
{
    struct manifest_family *family =
        (struct manifest_family *)manifest_family(manifest, edit->family);

    if (edit->family_max > manifest->family_max)
        manifest->family_max = edit->family_max;
    if (edit->last_sequence > manifest->last_sequence)
        manifest->last_sequence = edit->last_sequence;
    if (edit->least_log > manifest->least_log)
        manifest->least_log = edit->least_log;
    if (family == NULL && edit->adds_family) {
        enum colander_code code =
            add_family(manifest, edit->family, edit->name, err);

        if (code != COLANDER_OK)
            return code;
        family = &manifest->families[manifest->family_count - 1];
    }
    if (family == NULL)
        return COLANDER_OK; /* the edit that added it was lost */
    family->is_dropped = family->is_dropped || edit->drops_family;
    if (edit->has_log_number)
        family->log_number = edit->log_number;
    return COLANDER_OK;
}

enum colander_code
manifest_drop_family(struct manifest *manifest, uint32_t id,
                     struct colander_error *err)
{
    const struct edit edit = {
        .family = id,
        .adds_family = true,
        .drops_family = true,
    };

    return apply_to_family(manifest, &edit, err);
}

/* --------------------------------------------------------------- tables --- */

static int
compare_numbers(const void *number, const void *table)
{
    const uint64_t one = *(const uint64_t *)number;
    const uint64_t other = ((const struct manifest_table *)table)->number;

    return (one > other) - (one < other);
}

const struct manifest_table *
manifest_table(const struct manifest *manifest, uint64_t number)
{
    if (manifest->table_count == 0)
        return NULL;
    return bsearch(&number, manifest->tables, manifest->table_count,
                   sizeof(*manifest->tables), compare_numbers);
}

bool
manifest_needs_log(const struct manifest *manifest, uint64_t number)
{
    bool is_needed = !manifest->is_whole;

    for (size_t i = 0; i < manifest->family_count; i++) {
        const struct manifest_family *family = &manifest->families[i];

        is_needed =
            is_needed || (!family->is_dropped && family->log_number <= number &&
                          manifest->least_log <= number);
    }
    return is_needed;
}

bool
manifest_has_table(const struct manifest *manifest,
                   const struct manifest_table *table)
{
    const struct manifest_family *family =
        manifest_family(manifest, table->family);

    return table->is_live && family != NULL && !family->is_dropped;
}

/* Adds an entry for an edit of a table. Each edit has one until all are read,
 * so that they are sorted only once. */
static enum colander_code
add_table(struct manifest *manifest, uint64_t number, bool is_live,
          struct colander_error *err)
{
    const size_t index = manifest->table_count;
    enum colander_code code = array_reserve(&manifest->tables, index,
                                            &manifest->table_capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    manifest->tables[manifest->table_count++] = (struct manifest_table){
        .number = number, .edit_index = index, .is_live = is_live};
    return COLANDER_OK;
}

static int
compare_tables(const void *a, const void *b)
{
    const struct manifest_table *one = a;
    const struct manifest_table *other = b;

    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return (one->edit_index > other->edit_index) -
           (one->edit_index < other->edit_index);
}

static void
release_table(struct manifest_table *table)
{
    colander_buffer_release(&table->smallest);
    colander_buffer_release(&table->largest);
}

static void
remove_tables_from(struct manifest *manifest, size_t index)
{
    while (manifest->table_count > index)
        release_table(&manifest->tables[--manifest->table_count]);
}

/* Merges the edits of each table. The last one counts. A table that was removed
 * keeps its description. */
static void
merge_tables(struct manifest *manifest)
{
    size_t kept = 0;

    if (manifest->table_count > 1)
        qsort(manifest->tables, manifest->table_count,
              sizeof(*manifest->tables), compare_tables);
    for (size_t i = 0; i < manifest->table_count; i++) {
        struct manifest_table *now = &manifest->tables[i];
        struct manifest_table *last =
            kept > 0 ? &manifest->tables[kept - 1] : NULL;

        if (last == NULL || last->number != now->number) {
            manifest->tables[kept++] = *now;
        } else if (now->is_live) {
            release_table(last);
            *last = *now;
        } else {
            last->is_live = false;
            release_table(now);
        }
    }
    manifest->table_count = kept;
}

/* ---------------------------------------------------------------- edits --- */

static enum colander_code
read_key(struct bytes_reader *in, struct colander_buffer *key,
         struct colander_error *err)
{
    const struct colander_slice text = bytes_read_text(in);

    if (text.size < KEY_END_SIZE) {
        in->is_bad = true;
        return COLANDER_OK;
    }
    return colander_buffer_append(key, text.data, text.size - KEY_END_SIZE,
                                  err);
}

static enum colander_code
read_new_file(struct manifest *manifest, struct bytes_reader *in,
              struct colander_error *err)
{
    struct manifest_table *table;
    enum colander_code code;
    uint64_t first;
    uint64_t tag;

    (void)bytes_read_varint(in); /* the level */
    code = add_table(manifest, bytes_read_varint(in), true, err);
    if (code != COLANDER_OK)
        return code;
    table = &manifest->tables[manifest->table_count - 1];
    table->size = bytes_read_varint(in);
    code = read_key(in, &table->smallest, err);
    if (code == COLANDER_OK)
        code = read_key(in, &table->largest, err);
    first = bytes_read_varint(in);
    table->only_sequence = bytes_read_varint(in);
    if (first != table->only_sequence)
        table->only_sequence = 0;
    while (!in->is_bad && (tag = bytes_read_varint(in)) != FILE_TAG_END) {
        struct bytes_reader property = bytes_reader_of(bytes_read_text(in));

        if (tag == FILE_TAG_IDENTITY)
            table->session = bytes_read_le(&property, 8);
    }
    return code;
}

/* Reads what follows a tag that concerns neither family nor files. */
static void
skip(struct bytes_reader *in, uint64_t tag)
{
    switch (tag) {
    case TAG_COMPACT_CURSOR:
        (void)bytes_read_varint(in);
        (void)bytes_read_text(in);
        break;
    case TAG_NEXT_FILE:
    case TAG_PREVIOUS_LOG:
        (void)bytes_read_varint(in);
        break;
    default:
        if (tag == TAG_COMPARATOR || (tag & TAG_MAY_BE_SKIPPED) != 0)
            (void)bytes_read_text(in);
        else
            in->is_bad = true;
    }
}

static enum colander_code
read_edit(struct manifest *manifest, struct bytes_reader *in, struct edit *edit,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (bytes_reader_has_more(in) && code == COLANDER_OK) {
        const uint64_t tag = bytes_read_varint(in);

        if (tag == TAG_FAMILY) {
            edit->family = (uint32_t)bytes_read_varint(in);
        } else if (tag == TAG_FAMILY_ADD) {
            edit->adds_family = true;
            edit->name = bytes_read_text(in);
        } else if (tag == TAG_FAMILY_DROP) {
            edit->drops_family = true;
        } else if (tag == TAG_LOG_NUMBER) {
            edit->has_log_number = true;
            edit->log_number = bytes_read_varint(in);
        } else if (tag == TAG_LAST_SEQUENCE) {
            edit->last_sequence = bytes_read_varint(in);
        } else if (tag == TAG_LEAST_LOG) {
            edit->least_log = bytes_read_varint(in);
        } else if (tag == TAG_FAMILY_MAX) {
            edit->family_max = (uint32_t)bytes_read_varint(in);
        } else if (tag == TAG_GROUP) {
            edit->group_left = bytes_read_varint(in);
        } else if (tag == TAG_NEW_FILE) {
            code = read_new_file(manifest, in, err);
        } else if (tag == TAG_DELETED_FILE) {
            (void)bytes_read_varint(in); /* the level */
            code = add_table(manifest, bytes_read_varint(in), false, err);
        } else {
            skip(in, tag);
        }
    }
    return code;
}

/* Applies a record. If it is not an edit, only clears *is_edit. *group is how
 * many tables there were before the group that it belongs to and does not end;
 * SIZE_MAX: none. */
static enum colander_code
apply(struct manifest *manifest, struct colander_slice record, size_t *group,
      bool *is_edit, struct colander_error *err)
{
    const size_t first = manifest->table_count;
    struct bytes_reader in = bytes_reader_of(record);
    struct edit edit = {0};
    enum colander_code code = read_edit(manifest, &in, &edit, err);

    *is_edit = !in.is_bad;
    if (code != COLANDER_OK)
        return code;
    if (!*is_edit) {
        remove_tables_from(manifest, first);
        return COLANDER_OK;
    }
    if (edit.group_left == 0)
        *group = SIZE_MAX;
    else if (*group == SIZE_MAX)
        *group = first;
    for (size_t i = first; i < manifest->table_count; i++)
        manifest->tables[i].family = edit.family;
    return apply_to_family(manifest, &edit, err);
}

/* Edits after a gap are read, too, but the list of files is uncertain then. If
 * `ledger` knows that bytes after the gap do not count, it ends the file. */
static enum colander_code
read_edits(struct manifest *manifest, struct log_records *records,
           struct ledger *ledger, const struct ledger_entry *noted,
           struct colander_error *err)
{
    enum log_step step = LOG_RECORD;
    enum colander_code code = COLANDER_OK;
    size_t group = SIZE_MAX;
    bool has_gap = false;

    while (code == COLANDER_OK && step != LOG_END) {
        struct colander_slice record;
        struct log_gap gap;
        bool is_edit = true;

        code = log_records_next(records, &step, &record, &gap, err);
        if (code != COLANDER_OK)
            break;
        if (step == LOG_GAP && ledger != NULL &&
            ledger_may_end(ledger, noted, gap.offset))
            break;
        if (step == LOG_RECORD)
            code = apply(manifest, record, &group, &is_edit, err);
        has_gap = has_gap || step == LOG_GAP || !is_edit;
        if (!has_gap)
            manifest->whole = log_records_position(records);
        if ((step == LOG_GAP && !gap.is_last) || !is_edit)
            manifest->is_whole = false;
    }
    if (group != SIZE_MAX) /* its last edit was not written */
        remove_tables_from(manifest, group);
    manifest->is_whole = manifest->is_whole && manifest->whole > 0 &&
                         !log_records_has_failed(records);
    return code;
}

enum colander_code
manifest_read(struct manifest *manifest, int directory, uint64_t number,
              struct ledger *ledger, struct colander_error *err)
{
    struct log_records *records = NULL;
    struct ledger_entry noted = {.number = 0};
    const struct numbered_name name = files_name(LOGS_MANIFEST, number, "");
    enum colander_code code =
        log_records_open(directory, name.text, &records, err);

    if (ledger != NULL)
        noted = ledger_noted(ledger, LEDGER_MANIFEST, number);
    manifest->is_whole = code == COLANDER_OK;
    if (code == COLANDER_OK)
        code = add_family(manifest, 0, colander_slice_text("default"), err);
    if (code == COLANDER_OK)
        code = read_edits(manifest, records, ledger, &noted, err);
    if (ledger != NULL &&
        (manifest->whole < ledger_least(ledger, &noted) ||
         !logs_is_own(directory, name.text, ledger, LEDGER_MANIFEST, number)))
        manifest->is_whole = false;
    merge_tables(manifest);
    log_records_close(records);
    return code;
}

void
manifest_release(struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->family_count; i++)
        free(manifest->families[i].name);
    remove_tables_from(manifest, 0);
    free(manifest->families);
    free(manifest->tables);
    memset(manifest, 0, sizeof(*manifest));
}
