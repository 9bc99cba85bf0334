/*
 * Searches: what is looked for in a text, prepared once and compared with the
 * texts of many rows.
 *
 * A search never changes after it was created, so any number of threads can use
 * it. Comparing takes time in proportion to the text, whatever the search, and
 * allocates nothing, except for patterns.
 *
 * predicates.h says what each kind finds.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_SEARCH_H
#define COLANDER_COLUMNS_SEARCH_H

#include "columns/predicates.h"

struct search;

/* Creates the search for `text` (copied). Fails with INVALID at the byte
 * *offset of `text`, with LIMIT if it is too large. */
COLANDER_CHECKED enum colander_code
search_create(enum colander_search how, struct colander_slice text,
              bool is_folded, struct search **search, size_t *offset,
              struct colander_error *err);

/* Returns whether words or a phrase are looked for. */
bool search_is_of_words(const struct search *search);

/* NULL is allowed. */
void search_destroy(struct search *search);

/* Sets *is_found to whether the text has what is looked for. Fails with
 * NO_MEMORY. */
COLANDER_CHECKED enum colander_code search_text(const struct search *search,
                                                struct colander_slice text,
                                                bool *is_found,
                                                struct colander_error *err);

/* What a text has in which a search finds something: a word with the piece in
 * it, at its beginning, at its end, or all of it. */
struct search_term {
    struct colander_slice
        piece; /* folded; a zero byte is before and after it */
    bool begins;
    bool ends;
    bool is_other; /* instead of the term before */
};

/* Returns the terms that each text has in which the search finds something, of
 * alternatives at least one. Of each word, only what a filter can know. */
const struct search_term *search_terms(const struct search *search,
                                       size_t *count);

#endif
