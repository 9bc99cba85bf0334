/*
 * Predicates: the tree that is evaluated and from which a find is planned.
 *
 * Nodes do not change after the function that creates them has returned, except
 * that the function that takes one links it to its parent. The operands of a
 * parent are a list: `first`, then `next`.
 *
 * Memory: a parent owns its operands, a node its path, text and values
 * Knows:  the predicate. predicate_evaluate.c knows how to evaluate it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FINDS_PREDICATE_H
#define COLANDER_COLUMNS_FINDS_PREDICATE_H

#include "columns/columns.h"
#include "columns/path.h"

#include <stdatomic.h>

enum predicate_kind {
    PREDICATE_COMPARE,  /* the scalar at the path `comparison` values[0] */
    PREDICATE_IN,       /* equals one of the values: ascending, none twice */
    PREDICATE_BETWEEN,  /* values[0] <= the scalar <= values[1] */
    PREDICATE_PREFIX,   /* begins with values[0], a string or binary */
    PREDICATE_CONTAINS, /* has values[0] in it, a string or binary */
    PREDICATE_SEARCH,   /* `search` is found in it, or in any scalar: no path */
    PREDICATE_EXISTS,   /* anything is at the path */
    PREDICATE_MISSING,  /* nothing is at the path */
    PREDICATE_UP_TO,    /* anything there `comparison` values[0] */
    PREDICATE_OUTSIDE,  /* in none of the spans values[0] to [1], [2] to [3] */
    PREDICATE_ANY,      /* some scalar of the row equals values[0]; no path */
    PREDICATE_ANY_BETWEEN, /* some scalar is in the span; no path */
    PREDICATE_ALL_OF,      /* every operand */
    PREDICATE_ANY_OF,      /* at least one operand */
    PREDICATE_NOT,         /* not the one operand */
};

struct colander_predicate {
    enum predicate_kind kind;
    enum colander_comparison comparison; /* of COMPARE and UP_TO */
    enum colander_search how;            /* of SEARCH, as `flags` */
    unsigned flags;
    bool is_taken;                 /* an operand: its parent destroys it */
    uint32_t depth;                /* levels: 1 without operands */
    uint32_t node_count;           /* this one and all below */
    struct path path;              /* PATH_EMPTY: any column, or operands */
    struct colander_buffer text;   /* the path, also a C string */
    struct colander_value *values; /* one allocation with their bytes */
    size_t value_count;
    uint32_t values_total;   /* of this one and all below */
    uint32_t patterns_total; /* the same */
    struct search *search;
    struct colander_predicate *first; /* operand */
    struct colander_predicate *next;  /* operand of the same parent */
};

/* Whether the leaf is about all scalars of the row. */
static inline bool
predicate_is_any(const struct colander_predicate *leaf)
{
    return leaf->kind == PREDICATE_ANY || leaf->kind == PREDICATE_ANY_BETWEEN ||
           (leaf->kind == PREDICATE_SEARCH && leaf->path.count == 0);
}

/* Whether a search matches what has not got its text. */
static inline bool
predicate_is_negated(const struct colander_predicate *leaf)
{
    return (leaf->flags & COLANDER_SEARCH_NOT) != 0;
}

/* Whether values of these types have an order: numbers are one type. */
static inline bool
predicate_types_compare(enum colander_type a, enum colander_type b)
{
    return a == b || (colander_type_is_number(a) && colander_type_is_number(b));
}

/* Matches if anything at `path`, of any type, compares so with `value` (not EQ
 * or NE), as colander_value_compare has it. `value` is not checked, and may be
 * an array without bytes. */
COLANDER_CHECKED struct colander_predicate *
predicate_up_to(const char *path, enum colander_comparison comparison,
                struct colander_value value, struct colander_error *err);

/* Orders two values for qsort and bsearch. */
int predicate_compare_values(const void *left, const void *right);

/*
 * Does what colander_predicate_evaluate does. Fails with CANCELLED after
 * *is_cancelled (NULL: never) is set, so that a large predicate on a large row
 * can be interrupted.
 */
COLANDER_CHECKED enum colander_code
predicate_evaluate(const struct colander_predicate *predicate,
                   struct colander_slice row, const atomic_bool *is_cancelled,
                   bool *is_match, struct colander_matches *matches,
                   struct colander_error *err);

#endif
