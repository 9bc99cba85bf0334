/*
 * Orders: which rows of a part may have a value in a range.
 *
 * A *column* here is the values of one type at one path; all numbers are one
 * type, and so are arrays and maps, which have no order. Each value has a
 * *rank*: 64 bits in the order of colander_value_compare (order_rank.c). Two
 * values may share a rank, but ranks are never in the opposite order. So a
 * range of ranks includes every value of a range.
 *
 * A value that many rows have is in a list, with its hash: the locator leads to
 * its rows. All other items, a value of a row each, are in *groups*, in the
 * order of their values: the rank with which a group begins, its rows, and
 * about where between it and the next group each of them lies. A value for
 * which the locator would read too many other rows has a group for itself.
 *
 * Lists and groups of all columns share a budget. The cheapest columns come
 * first: those of few different values, and those whose rows near each other
 * have similar ones. Of columns that it has no room for, the least and the
 * greatest rank are known.
 *
 * Life:   builder_create -> value ... -> finish ... -> destroy; then find
 * Errors: CORRUPT for bytes that the builder cannot have made
 * Bytes:  filters/FORMAT.md, "Order blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ORDER_H
#define COLANDER_FILTERS_ORDER_H

#include "columns/columns.h"
#include "filters/locator.h"

#define ORDER_GROUP 128 /* most items of a group that has several values */

/* Of a part. What is more may be anywhere. */
#define ORDER_COLUMNS_MAX 1024
#define ORDER_VALUES_MAX (UINT32_C(1) << 21)

/* A value as bytes that keep the order within its type. Numbers, times and
 * booleans have eight; strings and binaries, whose bytes are borrowed, any
 * number. */
struct order_value {
    enum colander_type type; /* INTEGER: a number; ARRAY: an array or map */
    uint8_t fill;            /* repeats after the bytes without end */
    bool is_exact;           /* no other value has this word */
    int shift; /* an end of a span: 1: only what is after it; -1: before it */
    uint64_t word; /* of a type without bytes */
    struct colander_slice bytes;
};

struct order_value order_value_of(const struct colander_value *value);

/* From `low` to `high`, of one type, both included. */
struct order_span {
    struct order_value low;
    struct order_value high;
};

/* Returns the values from `low` to `high`; NULL: to the end of the type of the
 * other. */
struct order_span order_span_of(const struct colander_value *low,
                                const struct colander_value *high);

/* Returns all values that begin with `prefix`, a string or binary. */
struct order_span order_span_of_prefix(const struct colander_value *prefix);

/* ------------------------------------------------------------- building --- */

struct order_builder;

/* Whether a column is to have lists and groups. */
enum order_wish {
    ORDER_IF_CHEAP, /* while the budget lasts */
    ORDER_ALWAYS,   /* before the others, and beyond the budget */
    ORDER_NEVER,
};

/* Returns NULL if memory is short. */
struct order_builder *order_builder_create(void);

/* NULL is allowed. */
void order_builder_destroy(struct order_builder *builder);

/* Sets what is wished of the columns of the next values (IF_CHEAP). */
void order_builder_wish(struct order_builder *builder, enum order_wish wish);

/* Adds a value of a row, but for null. `entry` is its locator_entry, if it is a
 * scalar. Requires ascending rows. Never fails: if memory is short, or the part
 * has very many values, the column may be anywhere. */
void order_builder_value(struct order_builder *builder, uint64_t path_hash,
                         const struct colander_value *value, uint64_t entry);

/* Returns how many values were added since the last finish. */
size_t order_builder_size(const struct order_builder *builder);

/* Takes what a part needs, and returns failures to the builder. */
struct order_sink {
    void *context;

    /* Returns about how many rows are read for a hash of the locator, or any
     * number above `most` if they are more. */
    uint64_t (*count)(void *context, uint64_t hash, unsigned tag,
                      uint64_t most);

    /* A block, borrowed, that begins at this place: that of a column, or
     * ORDER_GROUP_PLACE and the number of a group. Places ascend. */
    enum colander_code (*block)(void *context, struct colander_slice block,
                                uint32_t first_place,
                                struct colander_error *err);
};

/* Passes the blocks of a part of `row_count` rows to `sink`, and starts again.
 * Lists and groups may take about `budget` bytes. */
COLANDER_CHECKED enum colander_code
order_builder_finish(struct order_builder *builder, uint32_t row_count,
                     uint64_t budget, const struct order_sink *sink,
                     struct colander_error *err);

/* -------------------------------------------------------------- finding --- */

/* Blocks have the columns in the order of this number, all types of a path in
 * one, and then the groups. */
#define ORDER_PLACES (UINT64_C(1) << 32)
#define ORDER_GROUP_PLACE (UINT32_C(1) << 31)

static inline uint32_t
order_place(uint64_t path_hash)
{
    return (uint32_t)(path_hash >> 33);
}

/* Steps of values or groups, ascending. */
struct order_entries {
    const uint8_t *data; /* borrowed */
    uint32_t count;
    unsigned size;  /* of an entry */
    unsigned width; /* of its step */
};

/* A column of a block, from which it borrows. */
struct order_column_view {
    enum colander_type type;
    unsigned width; /* of a step; 0: there are neither values nor groups */
    unsigned grain;
    bool has_zeros; /* maybe */
    bool is_coded;  /* ranks of texts have symbols */
    uint64_t low;   /* the least rank */
    uint64_t high;
    uint32_t item_count;
    uint32_t first_group; /* its number in the part */
    struct colander_slice beginning;
    struct order_entries values; /* of the list */
    struct order_entries groups;
};

/* Why a column has neither values nor groups. */
enum order_reason {
    ORDER_HAS_SOME,    /* it has */
    ORDER_FEW,         /* so few values are read faster */
    ORDER_OVER_BUDGET, /* other columns were cheaper */
    ORDER_NO_BUDGET,
    ORDER_REFUSED, /* ORDER_NEVER */
    ORDER_ABSENT,  /* the part has no such column */
    ORDER_UNKNOWN, /* it may be missing in the block */
};

/* Finds the column of a type (as of order_value) in a block as of order_find.
 */
COLANDER_CHECKED enum colander_code
order_look(struct colander_slice block, uint64_t path_hash,
           enum colander_type type, struct order_column_view *column,
           enum order_reason *reason, struct colander_error *err);

/* Where to look for the rows of a range. */
enum order_where {
    ORDER_NOWHERE, /* there are none */
    ORDER_COLUMN,  /* in the rows of the column */
    ORDER_LISTS,   /* under hashes in the locator, and in groups */
};

struct order_answer {
    enum order_where where;
    struct order_column_view column;
    uint64_t item_count;  /* LISTS: of the range, about */
    uint32_t first_value; /* LISTS: indexes for order_hash, */
    uint32_t end_value;   /* up to here */
    uint32_t first_group; /* LISTS: indexes of groups of the column, */
    uint32_t end_group;   /* up to here */
    uint64_t low;         /* the places of the range, */
    uint64_t high;        /* both included */
};

/* Finds where values of the span are. `block` is the one that has the place of
 * the column, if the part has a column there. */
COLANDER_CHECKED enum colander_code order_find(struct colander_slice block,
                                               uint64_t path_hash,
                                               const struct order_span *span,
                                               struct order_answer *answer,
                                               struct colander_error *err);

/* Returns hash `i` of the answer, from `first_value` to below `end_value`. */
uint64_t order_hash(const struct order_answer *answer, uint32_t i);

/* Returns the place of group `i` of the answer. */
uint32_t order_group_place(const struct order_answer *answer, uint32_t i);

/* Returns the bytes of the groups from `place` to before `end` in a block that
 * begins at `first_place`. */
uint64_t order_groups_size(struct colander_slice block, uint32_t first_place,
                           uint32_t place, uint32_t end);

/* Returns whether a block that begins at `first_place` has a group. */
bool order_has_group(struct colander_slice block, uint32_t first_place,
                     uint32_t place);

/* Adds the rows of group `i` of the answer that may be in its range. The block
 * has the group. */
COLANDER_CHECKED enum colander_code
order_group(const struct order_answer *answer, uint32_t i,
            struct colander_slice block, uint32_t first_place,
            uint32_t row_count, struct row_ranges *ranges,
            struct colander_error *err);

/* ----------------------------------------------------------------- ends --- */

struct order_end;

/* About the first values of a type from one end of a column, over parts. Set
 * the first three members. */
struct order_ends {
    enum colander_type type; /* as of order_value */
    bool is_descending;      /* from the greatest value on */
    uint64_t wanted;         /* items */
    uint64_t total;          /* items so far, at most those wanted and a few */
    struct order_end **ends; /* `made` of them, of which `count` are in use */
    size_t count;
    size_t made;
    size_t capacity;
};

void order_ends_release(struct order_ends *ends);

/* Adds those of a part. `block` is as of order_find. */
COLANDER_CHECKED enum colander_code order_ends_add(struct order_ends *ends,
                                                   struct colander_slice block,
                                                   uint64_t path_hash,
                                                   struct colander_error *err);

/* Sets *bound, borrowed, to a value such that about `total` items lie from the
 * end up to it. Returns false if that is not known. */
bool order_ends_bound(const struct order_ends *ends,
                      struct colander_value *bound);

#endif
