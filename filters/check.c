/*
 * Checks value filters: reads each completely, and asks it for every value of
 * its SST (invariants I1, I5).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "filters/live.h"
#include "filters/part_find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct checking {
    struct filters *filters;
    struct colander_check *check;
    colander_finding *report;
    void *context;
    bool repairs;
};

/* A recent answer of the part. Values repeat, and frequent ones have long
 * lists. */
struct part_answer {
    uint64_t query; /* hash of the query and the part */
    struct row_ranges rows;
};

#define ANSWERS 4096
#define ANSWERS_SIZE_MAX ((size_t)32 << 20)

/* An SST whose filter is checked row by row. */
struct asking {
    struct checking *checking;
    const struct filter_file *filter;
    uint32_t part_index;
    const struct filter_part *part; /* that has the current row */
    struct row_range row;           /* where the row may be in the part */
    struct part_answer answers[ANSWERS];
    size_t answers_size;
    struct colander_buffer end;            /* of the row's range of keys */
    uint64_t path[COLANDER_ROW_DEPTH_MAX]; /* of the current value */
    const struct filter_query *word_query; /* without its hash */
    enum colander_code code;
    struct colander_error *err;
};

/* --------------------------------------------------------------- values --- */

static void
forget_answers(struct asking *asking)
{
    for (size_t i = 0; i < ANSWERS; i++) {
        row_ranges_release(&asking->answers[i].rows);
        asking->answers[i].query = 0;
    }
    asking->answers_size = 0;
}

/* Returns the rows of the part that the query finds; NULL on failure. */
static const struct row_ranges *
answer_to(struct asking *asking, const struct filter_query *query,
          uint64_t value_hash)
{
    const struct hash_hints none = {NULL, 0, 0};
    struct piece_answers pieces = {.answers = NULL};
    const uint64_t words[] = {query->path_hashes[query->path_length - 1],
                              value_hash, query->kind, asking->part_index};
    const uint64_t hash = XXH3_64bits(words, sizeof(words)) | 1;
    struct part_answer *answer = &asking->answers[(hash >> 1) % ANSWERS];

    if (answer->query == hash)
        return &answer->rows;
    if (asking->answers_size > ANSWERS_SIZE_MAX)
        forget_answers(asking);
    answer->query = 0;
    asking->answers_size -= answer->rows.capacity * sizeof(struct row_range);
    asking->code = part_find(asking->filter, asking->part, query, &none,
                             &pieces, NULL, &answer->rows, asking->err);
    piece_answers_release(&pieces);
    asking->answers_size += answer->rows.capacity * sizeof(struct row_range);
    if (asking->code != COLANDER_OK)
        return NULL;
    answer->query = hash;
    return &answer->rows;
}

/* Returns whether one of the ascending ranges has a row of [first, end). */
static bool
has_row_of(const struct row_ranges *ranges, struct row_range row)
{
    size_t place;

    array_search(place, ranges->count, ranges->ranges[place].end <= row.first);
    return place < ranges->count && ranges->ranges[place].first < row.end;
}

/* Fails unless the query finds the current row. */
static void
ask(struct asking *asking, const struct filter_query *query,
    uint64_t value_hash, const char *what)
{
    const struct row_ranges *found;

    if (asking->code != COLANDER_OK)
        return;
    found = answer_to(asking, query, value_hash);
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

/* Asks the dictionary for a word, as a piece that is all of it. If the word is
 * too long for a dictionary, what is in no word leads to its row, too. */
static void
ask_dictionary(struct asking *asking, const struct text_word *word)
{
    struct filter_query query = *asking->word_query;
    uint8_t piece[DICTIONARY_WORD_MAX + 2] = {0, ' '};
    const size_t size = word->folded.size;
    const bool is_long = size == 0 || size > DICTIONARY_WORD_MAX;

    if (!is_long)
        memcpy(piece + 1, word->folded.data, size);
    query.kind = FILTER_QUERY_PIECE;
    query.piece = colander_slice_of(piece, (is_long ? 1 : size) + 2);
    ask(asking, &query, is_long ? DICTIONARY_LONG_HASH : word->hash,
        "a piece of a word");
}

static void
ask_word(void *context, const struct text_word *word)
{
    struct asking *asking = context;
    struct filter_query query = *asking->word_query;

    query.kind = FILTER_QUERY_WORD;
    query.hashes = &word->hash;
    query.hash_count = 1;
    if (!word->is_value)
        ask(asking, &query, word->hash, "a word");
    ask_dictionary(asking, word);
}

static void
ask_value(void *context, const struct row_value *value)
{
    struct asking *asking = context;
    const struct filter_head *head = &asking->filter->head;
    const struct colander_value values[] = {value->value, value->value};
    struct filter_query query = {
        .path_hashes = asking->path,
        .path_length = value->depth,
        .values = values,
        .has_low = true,
        .has_high = true,
    };
    uint64_t hash;

    asking->path[value->depth - 1] = value->path_hash;
    if (filter_query_is_unfiltered(&query, head->unfiltered,
                                   head->unfiltered_count))
        return;
    query.kind = FILTER_QUERY_EXISTS;
    query.hashes = &value->path_hash;
    query.hash_count = 1;
    ask(asking, &query, value->path_hash, "a column");
    if (value->value.type == COLANDER_ARRAY ||
        value->value.type == COLANDER_MAP)
        return;
    hash = colander_value_hash(&value->value);
    query.kind = FILTER_QUERY_EQUAL;
    query.hashes = &hash;
    ask(asking, &query, hash, "a value");
    query.kind = FILTER_QUERY_RANGE;
    query.hash_count = 0;
    if (has_order(value->value.type))
        ask(asking, &query, hash, "a range");
    asking->word_query = &query;
    if (value->value.type == COLANDER_STRING &&
        head->words_version == TEXT_WORDS_VERSION &&
        !filter_query_is_wordless(&query, head->word_columns,
                                  head->word_column_count))
        text_words(value->value.bytes, ask_word, asking);
    asking->checking->check->value_count++;
}

/* ----------------------------------------------------------------- rows --- */

/* Moves to the part that has the key; NULL: there is none. */
static void
find_part(struct asking *asking, struct colander_slice key)
{
    const struct filter_file *file = asking->filter;

    while (asking->part_index < file->part_count) {
        asking->part = &file->parts[asking->part_index];
        if (colander_slice_compare(key, asking->part->last_key) <= 0)
            break;
        asking->part_index++;
    }
    if (asking->part_index == file->part_count ||
        colander_slice_compare(key, asking->part->first_key) < 0)
        asking->part = NULL;
}

/* Finds where the row may be in the part: anywhere if the part has no keys. */
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
                                     "it does not cover all rows");
        return;
    }
    find_row(asking, key);
    if (asking->code != COLANDER_OK)
        return;
    /* Bytes that are not a row have no values; the check of the SST reports
     * them. */
    if (row_values(row, ask_value, asking, &err) == COLANDER_NO_MEMORY)
        asking->code =
            COLANDER_FAIL(asking->err, COLANDER_NO_MEMORY, "%s", err.message);
}

/* Asks the filter for all rows of the SST. An SST that is damaged is not the
 * filter's fault; and RocksDB may end the process if a block is not where it
 * was written. */
static enum colander_code
ask_rows(struct asking *asking, uint64_t number)
{
    struct engine_cursor *cursor = NULL;
    struct sst *sst = NULL;
    struct colander_slice key;
    struct colander_slice row;
    bool is_row;

    if (sst_open(asking->checking->filters->engine, number, &sst, NULL) !=
            COLANDER_OK ||
        sst_check(sst, NULL) != COLANDER_OK ||
        sst_cursor_open(sst, NULL, false, &cursor, NULL) != COLANDER_OK) {
        sst_close(sst);
        return COLANDER_OK;
    }
    while (asking->code == COLANDER_OK &&
           engine_cursor_next(cursor, &is_row, &key, &row, NULL) ==
               COLANDER_OK &&
           is_row)
        ask_row(asking, key, row);
    engine_cursor_close(cursor);
    sst_close(sst);
    return asking->code;
}

static enum colander_code
ask_filter(struct checking *checking, const struct filter_file *filter,
           uint64_t number, struct colander_error *err)
{
    struct asking *asking = calloc(1, sizeof(*asking));
    enum colander_code code;

    if (asking == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to check a filter");
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

/* Sets *id to the id of the checked filter, or 0 if it could not be opened. */
static enum colander_code
check_filter(struct checking *checking, const char *path,
             const struct sst_info *sst, uint64_t *id,
             struct colander_error *err)
{
    struct filter_file *filter;
    enum colander_code code = filter_file_open_remote(
        path, checking->filters->remote, checking->filters->commons->cache,
        &filter, err);

    *id = 0;
    if (code != COLANDER_OK)
        return code;
    *id = filter->salt;
    code = filter_check_head(&filter->head, sst->entry_count,
                             sst->is_tag_known ? sst->tag : NULL, err);
    if (code == COLANDER_OK)
        code = filter_file_check(filter, err);
    if (code == COLANDER_OK)
        code = ask_filter(checking, filter, sst->number, err);
    filter_file_unref(filter);
    return code;
}

/* Returns whether another filter has the name now. Then some blocks may have
 * come from the wrong one, which says nothing about either. */
static bool
is_replaced(const char *path, uint64_t id)
{
    struct filter_file *now;
    bool is_other;

    if (id == 0 || filter_file_open(path, NULL, &now, NULL) != COLANDER_OK)
        return false;
    is_other = now->salt != id;
    filter_file_unref(now);
    return is_other;
}

/* Returns whether the family has filters and the SST still exists. */
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

/* Rebuilds the filter. A missing one does not count as repaired damage. */
static enum colander_code
repair(const struct checking *checking, uint64_t number,
       enum colander_code failure, struct colander_error *err)
{
    enum colander_code code =
        worker_rebuild_latest(checking->filters, number, err);

    if (code == COLANDER_OK && failure != COLANDER_NOT_FOUND)
        checking->check->repaired_count++;
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

    if (checking->check->is_cancelled != NULL &&
        checking->check->is_cancelled(checking->context))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (!filter_path_of_sst(&checking->filters->names, sst->number, sst->size,
                            path))
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
    checking->report(checking->context, strrchr(path, '/') - strlen("filters"),
                     code == COLANDER_NOT_FOUND ? "is missing" : found.message);
    return checking->repairs ? repair(checking, sst->number, code, err)
                             : COLANDER_OK;
}

static void
check_leftover(void *context, int directory_fd, const char *name)
{
    struct checking *checking = context;
    char path[FILTER_PATH_MAX];

    (void)directory_fd;
    (void)snprintf(path, sizeof(path), "filters/%s", name);
    checking->check->leftover_count++;
    checking->report(checking->context, path, "belongs to no SST");
}

enum colander_code
colander_store_check_filters(struct colander_store *store, bool repairs,
                             struct colander_check *check,
                             colander_finding *report, void *context,
                             struct colander_error *err)
{
    struct filters *filters = store_hooks_context(store);
    struct checking checking = {filters, check, report, context, repairs};
    enum colander_code code;

    if (filters == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' has no files that could be checked",
                             colander_store_path(store));
    if (repairs && filters->is_read_only)
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "the store is open for reading");
    code = engine_ssts(filters->engine, check_sst, &checking, err);
    /* An open for writing has removed leftovers, and has unfinished files. */
    if (code == COLANDER_OK && filters->is_read_only)
        filter_names_visit_leftovers(&filters->names, &filters->registry,
                                     check_leftover, &checking);
    return code;
}
