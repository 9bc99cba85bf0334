/*
 * Checks of value filters: each is read from end to end, and asked for every
 * value of its SST (invariants I1, I5).
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/context.h"
#include "filters/filters.h"
#include "filters/part_find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct checking {
    struct filters *filters;
    struct colander_check *check;
    colander_finding *tell;
    void *context;
    bool mends;
};

/* What a part said to a question lately: values come again, and those that
 * many rows have are told in long lists. */
struct answer {
    uint64_t question; /* a hash of it and of the part */
    struct row_ranges rows;
};

#define ANSWERS 4096
#define ANSWERS_SIZE_MAX ((size_t)32 << 20)

/* An SST whose filter is asked, row by row. */
struct asking {
    struct checking *checking;
    const struct filter *filter;
    uint32_t part_index;
    const struct filter_part *part; /* that has the row under way */
    struct row_range row;           /* where in the part it may be */
    struct answer answers[ANSWERS];
    size_t answers_size;
    struct colander_buffer end;            /* of the keys that are the row's */
    uint64_t path[COLANDER_ROW_DEPTH_MAX]; /* of the value under way */
    enum colander_code code;
    struct colander_error *err;
};

/* --------------------------------------------------------------- values --- */

static void
forget_answers(struct asking *asking)
{
    for (size_t i = 0; i < ANSWERS; i++) {
        row_ranges_release(&asking->answers[i].rows);
        asking->answers[i].question = 0;
    }
    asking->answers_size = 0;
}

/* The rows that the question finds in the part; NULL when that fails. */
static const struct row_ranges *
answer_to(struct asking *asking, const struct question *question,
          uint64_t value_hash)
{
    const struct value_hints none = {NULL, 0, 0};
    const uint64_t words[] = {question->path_hashes[question->path_length - 1],
                              value_hash, question->kind, asking->part_index};
    const uint64_t hash = XXH3_64bits(words, sizeof(words)) | 1;
    struct answer *answer = &asking->answers[(hash >> 1) % ANSWERS];

    if (answer->question == hash)
        return &answer->rows;
    if (asking->answers_size > ANSWERS_SIZE_MAX)
        forget_answers(asking);
    answer->question = 0;
    asking->answers_size -= answer->rows.capacity * sizeof(struct row_range);
    asking->code = part_find(asking->filter, asking->part, question, &none,
                             &answer->rows, asking->err);
    asking->answers_size += answer->rows.capacity * sizeof(struct row_range);
    if (asking->code != COLANDER_OK)
        return NULL;
    answer->question = hash;
    return &answer->rows;
}

/* Whether one of the ranges, which ascend, has a row of [first, end). */
static bool
has_row_of(const struct row_ranges *ranges, struct row_range row)
{
    size_t low = 0;
    size_t high = ranges->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (ranges->ranges[middle].end <= row.first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges->count && ranges->ranges[low].first < row.end;
}

/* The row must be among those that the question finds. */
static void
ask(struct asking *asking, const struct question *question, uint64_t value_hash,
    const char *what)
{
    const struct row_ranges *found;

    if (asking->code != COLANDER_OK)
        return;
    found = answer_to(asking, question, value_hash);
    if (found != NULL && !has_row_of(found, asking->row))
        asking->code =
            COLANDER_FAIL(asking->err, COLANDER_CORRUPT,
                          "it denies %s of row %" PRIu32 " of part %" PRIu32,
                          what, asking->row.first, asking->part_index);
}

static bool
has_order(enum colander_type type)
{
    return type == COLANDER_INTEGER || type == COLANDER_UNSIGNED ||
           type == COLANDER_DOUBLE || type == COLANDER_STRING;
}

static void
ask_value(void *context, const struct row_value *value)
{
    struct asking *asking = context;
    const struct filter_head *head = filter_file_head(asking->filter->file);
    const struct colander_value values[] = {value->value, value->value};
    struct question question = {
        .path_hashes = asking->path,
        .path_length = value->depth,
        .values = values,
        .has_low = true,
        .has_high = true,
    };
    uint64_t hash;

    asking->path[value->depth - 1] = value->path_hash;
    if (question_is_left_out(&question, head->left_out, head->left_out_count))
        return;
    question.kind = QUESTION_EXISTS;
    ask(asking, &question, 0, "a column");
    if (value->value.type == COLANDER_ARRAY ||
        value->value.type == COLANDER_MAP)
        return;
    hash = colander_value_hash(&value->value);
    question.kind = QUESTION_EQUAL;
    question.value_hashes = &hash;
    question.value_count = 1;
    ask(asking, &question, hash, "a value");
    question.kind = QUESTION_RANGE;
    question.value_count = 2;
    if (has_order(value->value.type))
        ask(asking, &question, hash, "a range");
    asking->checking->check->value_count++;
}

/* ----------------------------------------------------------------- rows --- */

/* Goes to the part that has the key; NULL where none has. */
static void
find_part(struct asking *asking, struct colander_slice key)
{
    const struct filter_file *file = asking->filter->file;

    while (asking->part_index < filter_file_part_count(file)) {
        asking->part = filter_file_part(file, asking->part_index);
        if (colander_slice_compare(key, asking->part->last_key) <= 0)
            break;
        asking->part_index++;
    }
    if (asking->part_index == filter_file_part_count(file) ||
        colander_slice_compare(key, asking->part->first_key) < 0)
        asking->part = NULL;
}

/* Finds out where in the part the row may be: everywhere where it has no keys.
 */
static void
find_row(struct asking *asking, struct colander_slice key)
{
    asking->row.first = 0;
    asking->row.end = asking->part->shape.row_count;
    if (asking->part->block_count[FILTER_KEYS] == 0)
        return;
    colander_buffer_clear(&asking->end);
    asking->code =
        colander_buffer_append(&asking->end, key.data, key.size, asking->err);
    if (asking->code == COLANDER_OK)
        asking->code = colander_buffer_append(&asking->end, "", 1, asking->err);
    if (asking->code == COLANDER_OK)
        asking->code = part_bounds(asking->filter, asking->part, key,
                                   colander_buffer_slice(&asking->end),
                                   &asking->row, asking->err);
}

static void
ask_row(struct asking *asking, struct colander_slice key,
        struct colander_slice row)
{
    struct colander_error err;

    find_part(asking, key);
    if (asking->part == NULL) {
        asking->code = COLANDER_FAIL(asking->err, COLANDER_CORRUPT,
                                     "it does not know all rows");
        return;
    }
    find_row(asking, key);
    if (asking->code != COLANDER_OK)
        return;
    /* What is no row has no values: the check of the SST tells. */
    if (row_values(row, ask_value, asking, &err) == COLANDER_NO_MEMORY)
        asking->code =
            COLANDER_FAIL(asking->err, COLANDER_NO_MEMORY, "%s", err.message);
}

/* Asks the filter for all rows of the SST. An SST that cannot be read is not
 * the filter's fault. */
static enum colander_code
ask_rows(struct asking *asking, uint64_t number)
{
    struct sst_cursor *cursor = NULL;
    struct sst *sst = NULL;
    struct colander_slice key;
    struct colander_slice row;

    if (sst_open(asking->checking->filters->engine, number, &sst, NULL) !=
            COLANDER_OK ||
        sst_cursor_open(sst, NULL, false, &cursor, NULL) != COLANDER_OK) {
        sst_close(sst);
        return COLANDER_OK;
    }
    while (asking->code == COLANDER_OK &&
           sst_cursor_next(cursor, &key, &row, NULL) == COLANDER_OK &&
           key.data != NULL)
        ask_row(asking, key, row);
    sst_cursor_close(cursor);
    sst_close(sst);
    return asking->code;
}

static enum colander_code
ask_filter(struct checking *checking, const struct filter *filter,
           uint64_t number, struct colander_error *err)
{
    struct asking *asking = calloc(1, sizeof(*asking));
    enum colander_code code;

    if (asking == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to ask a filter");
    asking->checking = checking;
    asking->filter = filter;
    asking->code = COLANDER_OK;
    asking->err = err;
    code = ask_rows(asking, number);
    forget_answers(asking);
    colander_buffer_release(&asking->end);
    free(asking);
    return code;
}

/* ---------------------------------------------------------------- files --- */

/* *id: of the filter that was checked; 0: it could not be opened. */
static enum colander_code
check_filter(struct checking *checking, const char *path,
             const struct sst_info *sst, uint64_t *id,
             struct colander_error *err)
{
    struct filter_file *file;
    struct filter *filter;
    enum colander_code code = filter_file_open(path, &file, err);

    *id = 0;
    if (code != COLANDER_OK)
        return code;
    *id = filter_file_id(file);
    code = filter_check_head(filter_file_head(file), sst->entry_count,
                             sst->is_tag_known ? sst->tag : NULL, err);
    if (code == COLANDER_OK)
        code = filter_file_check(file, err);
    filter = filter_create(file, checking->filters->registry.cache);
    if (filter == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to open a filter");
    if (code == COLANDER_OK)
        code = ask_filter(checking, filter, sst->number, err);
    filter_unref(filter);
    return code;
}

/* Whether the name is another filter's now. Then some blocks that were read for
 * the one may be of the other, which says nothing of either. */
static bool
is_replaced(const char *path, uint64_t id)
{
    struct filter_file *now;
    bool is_other;

    if (id == 0 || filter_file_open(path, &now, NULL) != COLANDER_OK)
        return false;
    is_other = filter_file_id(now) != id;
    filter_file_close(now);
    return is_other;
}

/* Whether the family has filters, and the SST is still there. */
static bool
wants_filter(struct filters *filters, uint64_t number)
{
    struct sst_file *file = registry_find(&filters->registry, number);
    struct settings *settings;
    bool is_wanted;

    if (file == NULL)
        return false;
    settings = registry_settings(&filters->registry, file->family);
    is_wanted = settings->options.is_on;
    settings_unref(settings);
    sst_file_unref(&filters->registry, file);
    return is_wanted;
}

/* Makes the filter anew. One that is not there is none that was found damaged.
 */
static enum colander_code
mend(const struct checking *checking, uint64_t number, enum colander_code why,
     struct colander_error *err)
{
    enum colander_code code =
        worker_rebuild_latest(checking->filters, number, err);

    if (code == COLANDER_OK && why != COLANDER_NOT_FOUND)
        checking->check->mended_count++;
    return code;
}

static enum colander_code
check_sst(void *context, const struct sst_info *sst, struct colander_error *err)
{
    struct checking *checking = context;
    struct colander_error found;
    char path[FILTER_PATH_MAX];
    enum colander_code code;
    uint64_t id;

    if (!filter_path_of_sst(checking->filters, sst->number, sst->size, path))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    do {
        code = check_filter(checking, path, sst, &id, &found);
    } while (code != COLANDER_OK && is_replaced(path, id));
    checking->check->filter_count += id != 0;
    if (code == COLANDER_OK || (code == COLANDER_NOT_FOUND &&
                                !wants_filter(checking->filters, sst->number)))
        return COLANDER_OK;
    if (code == COLANDER_NO_MEMORY)
        return COLANDER_FAIL(err, code, "%s", found.message);
    if (code == COLANDER_NOT_FOUND)
        checking->check->leftover_count++;
    else
        checking->check->finding_count++;
    checking->tell(checking->context, strrchr(path, '/') - strlen("filters"),
                   code == COLANDER_NOT_FOUND ? "is not there" : found.message);
    return checking->mends ? mend(checking, sst->number, code, err)
                           : COLANDER_OK;
}

static void
check_orphan(void *context, int directory_fd, const char *name)
{
    struct checking *checking = context;
    char path[FILTER_PATH_MAX];

    (void)directory_fd;
    (void)snprintf(path, sizeof(path), "filters/%s", name);
    checking->check->leftover_count++;
    checking->tell(checking->context, path, "is the filter of no SST");
}

enum colander_code
colander_store_check_filters(struct colander_store *store, bool mends,
                             struct colander_check *check,
                             colander_finding *tell, void *context,
                             struct colander_error *err)
{
    struct filters *filters = store_extension_context(store);
    struct checking checking = {filters, check, tell, context, mends};
    enum colander_code code;

    if (mends && filters->is_read_only)
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "the store is open for reading");
    code = engine_ssts(filters->engine, check_sst, &checking, err);
    /* An open for writing has removed them, and makes files that look so. */
    if (code == COLANDER_OK && filters->is_read_only)
        observer_visit_orphans(filters, check_orphan, &checking);
    return code;
}
