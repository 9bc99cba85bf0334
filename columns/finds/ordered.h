/*
 * Ordered rows: the rows that a list holds, for the finds that fill it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FINDS_ORDERED_H
#define COLANDER_COLUMNS_FINDS_ORDERED_H

#include "columns/finds/predicate.h"

/* What the last find of a list read (ordered_find.c). */
enum ordered_finds_state {
    FINDS_NONE,    /* there was none */
    FINDS_ALL,     /* all rows of the query */
    FINDS_BOUNDED, /* those up to the bound */
    FINDS_SATED,   /* some of these: no more of them need be read */
};

struct ordered_finds {
    enum ordered_finds_state state;
    uint64_t wanted; /* rows up to the bound */
    uint64_t left;   /* rows to be added until the list may be sated */
    struct colander_value bound;
    struct colander_buffer bytes;       /* of the bound */
    struct colander_buffer path;        /* a C string */
    struct colander_buffer last_key;    /* added before it was sated */
    struct colander_predicate *within;  /* up to the bound */
    struct colander_predicate both;     /* this, and what the query wants */
    struct colander_snapshot *snapshot; /* of all finds; NULL: the query's */
};

void ordered_finds_release(struct ordered_finds *finds);

struct ordered_finds *ordered_finds_of(struct colander_ordered *ordered);
const struct colander_order *
ordered_order(const struct colander_ordered *ordered);
const struct path *ordered_path(const struct colander_ordered *ordered);

/* Frees all rows. */
void ordered_clear(struct colander_ordered *ordered);

/* Returns the value of the last row, if there are as many rows as the limit
 * allows and the last one has a value; else NULL. */
const struct colander_value *
ordered_last(const struct colander_ordered *ordered);

/* Whether a row of this key was added before the last find continued. */
bool ordered_finds_have(const struct ordered_finds *finds,
                        struct colander_slice key);

/* Notes that a row was added. */
COLANDER_CHECKED enum colander_code
ordered_finds_note(struct colander_ordered *ordered, struct colander_slice key,
                   struct colander_error *err);

#endif
