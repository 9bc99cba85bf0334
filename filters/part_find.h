/*
 * Part find: finds the rows of a part that may match a query.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_PART_FIND_H
#define COLANDER_FILTERS_PART_FIND_H

#include "columns/candidates.h"
#include "filters/dictionary.h"

/* The hierarchy's answer for a part: for each hash of the query (see struct
 * filter_query), whether the part may contain it. If `bits` is NULL, it may
 * contain all. */
struct hash_hints {
    const uint64_t *bits; /* of the part's slot, for hash 0 */
    size_t stride;        /* words between two hashes */
    unsigned shift;       /* of the bit in its word */
};

/* The words that have a piece in them, in the dictionary that was asked last:
 * that of part `index` of the filter with `salt`. */
struct piece_answer {
    const struct filter_query *query;
    uint64_t salt;
    uint32_t index;
    struct dictionary_answer found;
};

/* The answers to all pieces of a query, kept for several parts. Starts zeroed.
 */
struct piece_answers {
    struct piece_answer *answers; /* one for each piece so far */
    size_t count;
    size_t capacity;
    struct dictionary_blocks blocks; /* of the one that was asked last */

    /* Set by the caller: */
    bool are_many; /* several pieces are asked for: blocks are kept */
    const atomic_bool *is_cancelled; /* NULL: never */
    uint32_t row_count; /* of the part that are asked for: a dictionary is not
                         * searched if they cost less; 0: always */

    uint64_t words_found;              /* in all dictionaries that were asked */
    char some[COLANDER_EXPLAIN_WORDS]; /* of these */
    bool is_too_many;                  /* some dictionary has too many */
    bool is_dear;     /* some dictionary was not worth searching */
    bool is_unknown;  /* some part has no dictionary */
    bool lacks_words; /* some part has no words of a column asked for */
};

void piece_answers_release(struct piece_answers *pieces);

/* Fills `ranges` with rows of the part, including every row that matches.
 * `pieces` may be NULL if none are asked for. If `put_off` is not NULL, and
 * more rows than it says may match, they are only counted, about: it is their
 * number then, else 0. Fails with CORRUPT, NOT_FOUND or IO if the filter cannot
 * be read, and with CANCELLED. */
COLANDER_CHECKED enum colander_code
part_find(const struct filter_file *filter, const struct filter_part *part,
          const struct filter_query *query, const struct hash_hints *hints,
          struct piece_answers *pieces, uint64_t *put_off,
          struct row_ranges *ranges, struct colander_error *err);

/* Begins to bring into the processor's cache what part_find will read of the
 * locator. In FILTER_FETCH_STEPS steps, for several parts. */
void part_fetch(const struct filter_file *filter,
                const struct filter_part *part,
                const struct filter_query *query,
                const struct hash_hints *hints, unsigned step);

/* Fills `bounds` with rows of the part, including all whose keys are in [from,
 * until); empty: no bound. Requires that the part has keys. */
COLANDER_CHECKED enum colander_code
part_bounds(const struct filter_file *filter, const struct filter_part *part,
            struct colander_slice from, struct colander_slice until,
            struct row_range *bounds, struct colander_error *err);

/* Returns whether the query is about an unfiltered column, or about any column
 * while there are unfiltered ones. */
bool filter_query_is_unfiltered(const struct filter_query *query,
                                const uint64_t *unfiltered, uint32_t count);

/* Returns whether there are no words of the query's column: only those in the
 * list, and all below them, have words. An empty list means all. */
bool filter_query_is_wordless(const struct filter_query *query,
                              const uint64_t *word_columns, uint32_t count);

/* Returns whether the filter lacks the words of the query's column. */
bool filter_lacks_words(const struct filter_head *head,
                        const struct filter_query *query);

/* Returns how many queries of a kind the query is or has. */
size_t filter_query_count(const struct filter_query *query,
                          enum filter_query_kind kind);

/* Returns whether the hierarchy's answer about the file must be ignored: the
 * query, or one that it contains, is about something that the filter lacks. */
bool filter_lacks_query(const struct filter_file *filter,
                        const struct filter_query *query);

#endif
