/* SPDX-License-Identifier: MIT */
#include "filters/part_find.h"

#include "core/array.h"
#include "filters/order.h"
#include "filters/settings.h"

#include <stdlib.h>

/* Reading this few rows costs less than one more lookup. */
#define ROWS_WORTH_VERIFYING 32

/* More groups of a condition would not stay in the processor's cache. */
#define FETCHED_MAX 16

/* Looking up a word in the parts of a dictionary costs as much as reading so
 * many rows, together with all others. */
#define ROWS_OF_A_WORD 128
#define WORDS_MIN 64

/* About this many bytes of a dictionary, which become three times as many, are
 * decompressed and searched in the time in which a row is read. */
#define BYTES_OF_A_ROW 50

static uint64_t
path_hash_of(const struct filter_query *query)
{
    return query->path_hashes[query->path_length - 1];
}

static enum colander_code
all_rows(const struct filter_part *part, struct row_ranges *ranges,
         struct colander_error *err)
{
    row_ranges_clear(ranges);
    return row_ranges_add(ranges, 0, part->shape.row_count, err);
}

/* The block with the order of the column that was asked for last. */
struct order_block {
    uint64_t path_hash;
    struct cached_block *block; /* NULL: none */
};

/* The part that is searched. */
struct asked {
    const struct filter_file *filter;
    const struct filter_part *part;
    const struct hash_hints *hints;
    struct piece_answers *pieces;
    struct order_block *order;
};

/* Returns whether the part may contain hash `index` of the query, as far as the
 * hierarchy can tell. */
static bool
may_hold(const struct asked *asked, const struct filter_query *query,
         size_t index)
{
    const struct hash_hints *hints = asked->hints;
    size_t place = query->first_hash + index;

    return hints->bits == NULL ||
           (hints->bits[place * hints->stride] >> hints->shift & 1) != 0;
}

/* --------------------------------------------------- values and columns --- */

/* Looks up one hash. Only counts if `ranges` is NULL. */
static enum colander_code
locate(const struct asked *asked, uint64_t hash, unsigned tag,
       struct row_ranges *ranges, struct locator_answer *answer,
       struct colander_error *err)
{
    const struct filter_file *filter = asked->filter;
    const struct filter_part *part = asked->part;
    struct cached_block *block;
    enum colander_code code;
    uint32_t first;

    code = filter_file_block(filter, part, FILTER_LOCATOR,
                             locator_group(&part->shape, hash), &block, &first,
                             err);
    if (code != COLANDER_OK)
        return code;
    code = locator_find(&part->shape, block->bytes, first, hash, tag, ranges,
                        answer, err);
    block_cache_release(filter->cache, block);
    return code;
}

/* Asks the part's presence on disk whether it may contain the hash. */
static enum colander_code
ask_presence(const struct asked *asked, uint64_t hash, bool *is_there,
             struct colander_error *err)
{
    const struct filter_file *filter = asked->filter;
    const struct filter_part *part = asked->part;
    struct presence some = {.shape = part->presence};
    struct presence_probe probe;
    struct cached_block *block;
    enum colander_code code;
    uint32_t first;

    presence_locate(&part->presence, hash, &probe);
    code = filter_file_block(filter, part, FILTER_PRESENCE, probe.block, &block,
                             &first, err);
    if (code != COLANDER_OK)
        return code;
    some.words = (uint64_t *)(void *)block->bytes.data;
    if ((size_t)(probe.block - first + 1) * (PRESENCE_BLOCK_BITS / 8) >
        block->bytes.size)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "a presence is truncated");
    else
        *is_there = presence_may_hold_probe(&some, &probe, probe.block - first);
    block_cache_release(filter->cache, block);
    return code;
}

/* Adds all rows if the part's presence may contain one of the hashes. */
static enum colander_code
find_presence(const struct asked *asked, const struct filter_query *query,
              struct row_ranges *ranges, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_there = false;

    for (size_t i = 0;
         i < query->hash_count && !is_there && code == COLANDER_OK; i++) {
        if (may_hold(asked, query, i))
            code = ask_presence(asked, query->hashes[i], &is_there, err);
    }
    if (code == COLANDER_OK && is_there)
        code = all_rows(asked->part, ranges, err);
    return code;
}

static enum colander_code
find_hashes(const struct asked *asked, const struct filter_query *query,
            struct row_ranges *ranges, struct colander_error *err)
{
    const unsigned tag = query_tag(query);
    struct locator_answer answer = {0, 0};
    enum colander_code code = COLANDER_OK;

    row_ranges_clear(ranges);
    if (asked->part->presence.block_count != 0)
        return find_presence(asked, query, ranges, err);
    for (size_t i = 0; i < query->hash_count && code == COLANDER_OK; i++) {
        if (may_hold(asked, query, i))
            code = locate(asked, query->hashes[i], tag, ranges, &answer, err);
    }
    if (query->hash_count > 1 || tag == LOCATOR_TAG_ANY)
        row_ranges_order(ranges);
    return code;
}

/* Of many rows, keeps those that have something in the column. This is what
 * finds `true` in a column that few rows have: the list of rows with `true` may
 * be that of other columns with the same tag. */
static enum colander_code
keep_rows_of_column(const struct asked *asked, const struct filter_query *query,
                    struct row_ranges *ranges, struct colander_error *err)
{
    const uint64_t rows = row_ranges_rows(ranges);
    struct row_ranges other = ROW_RANGES_EMPTY;
    struct locator_answer answer = {0, 0};
    enum colander_code code;

    if (query->path_length == 0 || rows <= ROWS_WORTH_VERIFYING ||
        asked->part->presence.block_count != 0 ||
        asked->filter->version < FILTER_FILE_VERSION_COLUMNS)
        return COLANDER_OK;
    code = locate(asked, path_hash_of(query), query_tag(query), NULL, &answer,
                  err);
    if (code != COLANDER_OK || answer.units >= rows)
        return code;
    code = locate(asked, path_hash_of(query), query_tag(query), &other, &answer,
                  err);
    if (code == COLANDER_OK)
        code = row_ranges_intersect(ranges, &other, err);
    row_ranges_release(&other);
    return code;
}

/* --------------------------------------------------------------- pieces --- */

void
piece_answers_release(struct piece_answers *pieces)
{
    for (size_t i = 0; i < pieces->count; i++)
        free(pieces->answers[i].found.words);
    free(pieces->answers);
    dictionary_blocks_release(&pieces->blocks);
    memset(pieces, 0, sizeof(*pieces));
}

/* Returns the rows of the parts that have their words in the dictionary. */
static uint64_t
dictionary_rows(const struct filter_file *filter, uint32_t index)
{
    const struct filter_part *last = &filter->parts[index];
    uint64_t first_row = last->first_row;

    while (index > 0 &&
           filter->parts[index - 1].block_count[FILTER_DICTIONARY] == 0)
        first_row = filter->parts[--index].first_row;
    return last->first_row + last->shape.row_count - first_row;
}

/* Returns whether searching a dictionary costs less than reading the rows that
 * are asked for. */
static bool
is_worth_searching(const struct asked *asked, const struct filter_query *query,
                   uint32_t index)
{
    const uint32_t wanted = asked->pieces->row_count;
    const uint64_t rows = wanted < asked->part->shape.row_count
                              ? wanted
                              : dictionary_rows(asked->filter, index);

    return wanted == 0 ||
           dictionary_bytes(asked->filter, index, query_tag(query),
                            query->piece) <= rows * BYTES_OF_A_ROW;
}

/* Returns how many words of a dictionary are worth looking up, besides those of
 * other pieces. */
static size_t
words_worth(const struct asked *asked, uint32_t index)
{
    const struct piece_answers *pieces = asked->pieces;
    uint64_t worth =
        WORDS_MIN + dictionary_rows(asked->filter, index) / ROWS_OF_A_WORD;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece_answer *other = &pieces->answers[i];
        const uint64_t used = other->found.count;

        if (other->salt == asked->filter->salt && other->index == index)
            worth -= used < worth ? used : worth;
    }
    return worth;
}

/* All rows it is, then. */
static void
forget_words(struct dictionary_answer *found)
{
    free(found->words);
    memset(found, 0, sizeof(*found));
    found->is_too_many = true;
}

/* Asks the dictionary of part `index`. */
static enum colander_code
ask_dictionary(const struct asked *asked, struct piece_answer *answer,
               uint32_t index, struct colander_error *err)
{
    const struct filter_file *filter = asked->filter;
    const struct filter_query *query = answer->query;
    struct piece_answers *pieces = asked->pieces;
    enum colander_code code;

    answer->salt = filter->salt;
    answer->index = UINT32_MAX;
    if (!is_worth_searching(asked, query, index)) {
        pieces->is_dear = true;
        forget_words(&answer->found);
        return COLANDER_OK;
    }
    answer->found.is_cancelled = pieces->is_cancelled;
    code = dictionary_find(filter, index, query_tag(query), query->piece,
                           words_worth(asked, index),
                           pieces->are_many ? &pieces->blocks : NULL,
                           &answer->found, err);
    if (code != COLANDER_OK)
        return code;
    answer->index = index;
    pieces->is_too_many |= answer->found.is_too_many;
    pieces->words_found += answer->found.count;
    if (pieces->some[0] == '\0')
        memcpy(pieces->some, answer->found.some, sizeof(pieces->some));
    if (answer->found.is_too_many)
        forget_words(&answer->found);
    return COLANDER_OK;
}

/* Sets *found to the words that have the piece in them, of the part and perhaps
 * others; NULL: there are none. */
static enum colander_code
find_words(const struct asked *asked, const struct filter_query *query,
           const struct dictionary_answer **found, struct colander_error *err)
{
    const struct filter_file *filter = asked->filter;
    const uint32_t index =
        dictionary_part(filter, (uint32_t)(asked->part - filter->parts));
    struct piece_answers *pieces = asked->pieces;
    struct piece_answer *answer = NULL;
    enum colander_code code;

    *found = NULL;
    if (index == filter->part_count)
        return COLANDER_OK;
    for (size_t i = 0; i < pieces->count && answer == NULL; i++) {
        if (pieces->answers[i].query == query)
            answer = &pieces->answers[i];
    }
    if (answer == NULL) {
        code = array_reserve(&pieces->answers, pieces->count, &pieces->capacity,
                             1, err);
        if (code != COLANDER_OK)
            return code;
        answer = &pieces->answers[pieces->count++];
        memset(answer, 0, sizeof(*answer));
        answer->query = query;
        answer->index = UINT32_MAX;
    }
    code = answer->salt == filter->salt && answer->index == index
               ? COLANDER_OK
               : ask_dictionary(asked, answer, index, err);
    *found = &answer->found;
    return code;
}

/* Adds the rows that have one of the words. */
static enum colander_code
find_rows_of_words(const struct asked *asked,
                   const struct dictionary_answer *found,
                   struct row_ranges *ranges, struct colander_error *err)
{
    struct locator_answer answer = {0, 0};
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < found->count && code == COLANDER_OK; i++) {
        const struct dictionary_word *word = &found->words[i];

        code = locate(asked, word->hash, word->tag, ranges, &answer, err);
        if (code == COLANDER_OK)
            code = locate(asked, word->value_hash, word->tag, ranges, &answer,
                          err);
    }
    return code;
}

static enum colander_code
find_piece(const struct asked *asked, const struct filter_query *query,
           struct row_ranges *ranges, struct colander_error *err)
{
    const struct filter_file *filter = asked->filter;
    const struct dictionary_answer *found;
    struct locator_answer answer = {0, 0};
    enum colander_code code;

    asked->pieces->lacks_words |= filter_lacks_words(&filter->head, query);
    if (filter->version < FILTER_FILE_VERSION_DICTIONARIES ||
        filter_lacks_words(&filter->head, query) ||
        asked->part->presence.block_count != 0) {
        asked->pieces->is_unknown = true;
        return all_rows(asked->part, ranges, err);
    }
    row_ranges_clear(ranges);
    code = find_words(asked, query, &found, err);
    if (code == COLANDER_OK && found != NULL && found->is_too_many)
        return all_rows(asked->part, ranges, err);
    if (code == COLANDER_OK && found != NULL)
        code = find_rows_of_words(asked, found, ranges, err);
    if (code == COLANDER_OK)
        code = locate(asked, DICTIONARY_LONG_HASH, query_tag(query), ranges,
                      &answer, err);
    row_ranges_order(ranges);
    return code;
}

/* --------------------------------------------------------------- ranges --- */

static struct order_span
span_of(const struct filter_query *query)
{
    struct order_span span;

    if (query->kind == FILTER_QUERY_PREFIX)
        return order_span_of_prefix(&query->values[0]);
    span = order_span_of(query->has_low ? &query->values[0] : NULL,
                         query->has_high ? &query->values[1] : NULL);
    span.low.shift = query->excludes_low;
    span.high.shift = -(int)query->excludes_high;
    return span;
}

/* Holds the block with the order of the query's column. */
static enum colander_code
hold_order(const struct asked *asked, const struct filter_query *query,
           struct colander_error *err)
{
    const uint64_t path_hash = path_hash_of(query);
    struct order_block *order = asked->order;
    uint32_t first;

    if (order->block != NULL && order->path_hash == path_hash)
        return COLANDER_OK;
    block_cache_release(asked->filter->cache, order->block);
    order->block = NULL;
    order->path_hash = path_hash;
    return filter_file_block(asked->filter, asked->part, FILTER_ORDER,
                             order_place(path_hash), &order->block, &first,
                             err);
}

/* Asks the order of the column where values of a range are. The answer borrows
 * from the block that is held. */
static enum colander_code
ask_order(const struct asked *asked, const struct filter_query *query,
          struct order_answer *answer, struct colander_error *err)
{
    const struct filter_part *part = asked->part;
    enum colander_code code;
    struct order_span span;

    answer->where = ORDER_COLUMN;
    answer->item_count = part->shape.row_count;
    if (asked->filter->version < FILTER_FILE_VERSION_ORDERS ||
        part->block_count[FILTER_ORDER] == 0 || query->path_length == 0)
        return COLANDER_OK;
    span = span_of(query);
    if (span.low.type == COLANDER_NULL)
        return COLANDER_OK;
    code = hold_order(asked, query, err);
    return code == COLANDER_OK
               ? order_find(asked->order->block->bytes, path_hash_of(query),
                            &span, answer, err)
               : code;
}

/* Adds the rows of the answer's groups. */
static enum colander_code
find_groups(const struct asked *asked, const struct order_answer *answer,
            struct row_ranges *ranges, struct colander_error *err)
{
    const struct filter_file *filter = asked->filter;
    struct cached_block *block = NULL;
    enum colander_code code = COLANDER_OK;
    uint32_t first = 0;

    for (uint32_t i = answer->first_group;
         i < answer->end_group && code == COLANDER_OK; i++) {
        const uint32_t place = order_group_place(answer, i);

        if (block == NULL || !order_has_group(block->bytes, first, place)) {
            block_cache_release(filter->cache, block);
            block = NULL;
            code = filter_file_block(filter, asked->part, FILTER_ORDER, place,
                                     &block, &first, err);
        }
        if (code == COLANDER_OK)
            code = order_group(answer, i, block->bytes, first,
                               asked->part->shape.row_count, ranges, err);
    }
    block_cache_release(filter->cache, block);
    return code;
}

static enum colander_code
find_range(const struct asked *asked, const struct filter_query *query,
           struct row_ranges *ranges, struct colander_error *err)
{
    struct locator_answer located = {0, 0};
    struct order_answer answer;
    enum colander_code code = ask_order(asked, query, &answer, err);

    row_ranges_clear(ranges);
    if (code != COLANDER_OK)
        return code;
    switch (answer.where) {
    case ORDER_NOWHERE:
        break;
    case ORDER_COLUMN:
        code = all_rows(asked->part, ranges, err);
        break;
    case ORDER_LISTS:
        for (uint32_t i = answer.first_value;
             i < answer.end_value && code == COLANDER_OK; i++)
            code = locate(asked, order_hash(&answer, i), query_tag(query),
                          ranges, &located, err);
        if (code == COLANDER_OK)
            code = find_groups(asked, &answer, ranges, err);
        row_ranges_order(ranges);
        break;
    }
    return code;
}

/* ------------------------------------------------------ and, or, leaves --- */

/* Returns whether a locator has hashes of the query. */
static bool
is_located(const struct asked *asked, const struct filter_query *query)
{
    return query->hash_count > 0 && asked->part->presence.block_count == 0 &&
           !filter_lacks_query(asked->filter, query);
}

static enum colander_code
count_range(const struct asked *asked, const struct filter_query *query,
            uint64_t *rows, struct colander_error *err)
{
    struct order_answer answer;
    enum colander_code code = ask_order(asked, query, &answer, err);

    if (code != COLANDER_OK)
        return code;
    if (answer.where == ORDER_NOWHERE || answer.where == ORDER_LISTS)
        *rows = answer.item_count;
    return COLANDER_OK;
}

static enum colander_code count_rows(const struct asked *asked,
                                     const struct filter_query *query,
                                     uint64_t *rows,
                                     struct colander_error *err);

/* Finds the operand with the fewest rows, as far as that can be estimated. */
static enum colander_code
find_rarest(const struct asked *asked, const struct filter_query *query,
            size_t *rarest, uint64_t *fewest, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *rarest = 0;
    *fewest = UINT64_MAX;
    for (size_t i = 0; i < query->operand_count && code == COLANDER_OK; i++) {
        uint64_t rows;

        code = count_rows(asked, query->operands[i], &rows, err);
        if (code == COLANDER_OK && rows < *fewest) {
            *fewest = rows;
            *rarest = i;
        }
    }
    return code;
}

/* Adds up the rows of all operands, if each can be counted. */
static enum colander_code
count_any_of(const struct asked *asked, const struct filter_query *query,
             uint64_t *rows, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint64_t total = 0;

    for (size_t i = 0; i < query->operand_count && code == COLANDER_OK; i++) {
        uint64_t more;

        code = count_rows(asked, query->operands[i], &more, err);
        if (code != COLANDER_OK || more > UINT64_MAX - total)
            return code;
        total += more;
    }
    *rows = total;
    return code;
}

/* Counts the rows that may match, about, without reading lists of rows.
 * UINT64_MAX: they cannot be counted. */
static enum colander_code
count_rows(const struct asked *asked, const struct filter_query *query,
           uint64_t *rows, struct colander_error *err)
{
    struct locator_answer answer = {0, 0};
    enum colander_code code = COLANDER_OK;
    size_t rarest;

    *rows = UINT64_MAX;
    if (query->kind == FILTER_QUERY_ALL_OF)
        return find_rarest(asked, query, &rarest, rows, err);
    if (query->kind == FILTER_QUERY_ANY_OF)
        return count_any_of(asked, query, rows, err);
    if ((query->kind == FILTER_QUERY_RANGE ||
         query->kind == FILTER_QUERY_PREFIX) &&
        !filter_lacks_query(asked->filter, query))
        return count_range(asked, query, rows, err);
    if (query->kind == FILTER_QUERY_PIECE) /* more than all others */
        *rows = UINT64_MAX - query->piece.size;
    if (!is_located(asked, query))
        return COLANDER_OK;
    for (size_t i = 0; i < query->hash_count && code == COLANDER_OK; i++) {
        if (may_hold(asked, query, i))
            code = locate(asked, query->hashes[i], query_tag(query), NULL,
                          &answer, err);
    }
    *rows = answer.rows;
    return code;
}

static enum colander_code find(const struct asked *asked,
                               const struct filter_query *query,
                               struct row_ranges *ranges,
                               struct colander_error *err);

static enum colander_code
find_all_of(const struct asked *asked, const struct filter_query *query,
            struct row_ranges *ranges, struct colander_error *err)
{
    struct row_ranges other = ROW_RANGES_EMPTY;
    enum colander_code code;
    uint64_t fewest;
    size_t rarest;

    code = find_rarest(asked, query, &rarest, &fewest, err);
    if (code == COLANDER_OK)
        code = find(asked, query->operands[rarest], ranges, err);
    for (size_t i = 0; i < query->operand_count && code == COLANDER_OK; i++) {
        if (i == rarest || row_ranges_rows(ranges) <= ROWS_WORTH_VERIFYING)
            continue;
        code = find(asked, query->operands[i], &other, err);
        if (code == COLANDER_OK)
            code = row_ranges_intersect(ranges, &other, err);
    }
    row_ranges_release(&other);
    return code;
}

static enum colander_code
find_any_of(const struct asked *asked, const struct filter_query *query,
            struct row_ranges *ranges, struct colander_error *err)
{
    struct row_ranges other = ROW_RANGES_EMPTY;
    enum colander_code code = COLANDER_OK;

    row_ranges_clear(ranges);
    for (size_t i = 0; i < query->operand_count && code == COLANDER_OK; i++) {
        code = find(asked, query->operands[i], &other, err);
        for (size_t k = 0; k < other.count && code == COLANDER_OK; k++)
            code = row_ranges_add(ranges, other.ranges[k].first,
                                  other.ranges[k].end, err);
    }
    row_ranges_order(ranges);
    row_ranges_release(&other);
    return code;
}

static enum colander_code
find(const struct asked *asked, const struct filter_query *query,
     struct row_ranges *ranges, struct colander_error *err)
{
    enum colander_code code;

    switch (query->kind) {
    case FILTER_QUERY_ALL_OF:
        return find_all_of(asked, query, ranges, err);
    case FILTER_QUERY_ANY_OF:
        return find_any_of(asked, query, ranges, err);
    case FILTER_QUERY_OPEN:
        return all_rows(asked->part, ranges, err);
    case FILTER_QUERY_EQUAL:
    case FILTER_QUERY_RANGE:
    case FILTER_QUERY_PREFIX:
    case FILTER_QUERY_EXISTS:
    case FILTER_QUERY_WORD:
    case FILTER_QUERY_PIECE:
        break;
    }
    if (filter_lacks_query(asked->filter, query)) {
        if (query->kind == FILTER_QUERY_WORD)
            asked->pieces->lacks_words = true;
        return all_rows(asked->part, ranges, err);
    }
    if (query->kind == FILTER_QUERY_EXISTS)
        return find_hashes(asked, query, ranges, err);
    if (query->kind == FILTER_QUERY_PIECE)
        code = find_piece(asked, query, ranges, err);
    else if (query->hash_count > 0)
        code = find_hashes(asked, query, ranges, err);
    else
        code = find_range(asked, query, ranges, err);
    if (code != COLANDER_OK)
        return code;
    return keep_rows_of_column(asked, query, ranges, err);
}

enum colander_code
part_find(const struct filter_file *filter, const struct filter_part *part,
          const struct filter_query *query, const struct hash_hints *hints,
          struct piece_answers *pieces, uint64_t *put_off,
          struct row_ranges *ranges, struct colander_error *err)
{
    struct order_block order = {0, NULL};
    const struct asked asked = {filter, part, hints, pieces, &order};
    enum colander_code code = COLANDER_OK;
    uint64_t rows = UINT64_MAX;

    row_ranges_clear(ranges);
    if (put_off != NULL) {
        code = count_rows(&asked, query, &rows, err);
        *put_off = rows > *put_off && rows != UINT64_MAX ? rows : 0;
    }
    if (code == COLANDER_OK && (put_off == NULL || *put_off == 0))
        code = find(&asked, query, ranges, err);
    block_cache_release(filter->cache, order.block);
    return code;
}

/* ------------------------------------------------------------ fetching --- */

static void
fetch(const struct asked *asked, const struct filter_query *query,
      unsigned step)
{
    const size_t count =
        query->hash_count < FETCHED_MAX ? query->hash_count : FETCHED_MAX;

    for (size_t i = 0; i < query->operand_count; i++)
        fetch(asked, query->operands[i], step);
    if (!is_located(asked, query))
        return;
    for (size_t i = 0; i < count; i++) {
        if (may_hold(asked, query, i))
            filter_file_fetch(
                asked->filter, asked->part,
                locator_group(&asked->part->shape, query->hashes[i]), step);
    }
}

void
part_fetch(const struct filter_file *filter, const struct filter_part *part,
           const struct filter_query *query, const struct hash_hints *hints,
           unsigned step)
{
    const struct asked asked = {filter, part, hints, NULL, NULL};

    fetch(&asked, query, step);
}
