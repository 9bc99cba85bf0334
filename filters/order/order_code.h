/*
 * Order blocks: shared by writers and readers.
 *
 * Bytes: filters/FORMAT.md, "Order blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ORDER_ORDER_CODE_H
#define COLANDER_FILTERS_ORDER_ORDER_CODE_H

#include "core/bytes.h"
#include "filters/order.h"

/* Whether columns are missing u8, columns u16; then the directory: id u64,
 * offset in the block u32, ascending. */
#define ORDER_HEAD_SIZE 3
#define ORDER_ENTRY_SIZE 12

/* Form and width u8, bits u8, size of the beginning u8, values u32, list u32,
 * least rank u64, greatest u64, base u64; then the beginning and the list. */
#define ORDER_COLUMN_SIZE 35

#define ORDER_HASH_SIZE 5 /* of LOCATOR_HASH_BITS */
#define ORDER_WIDTH_MAX 8 /* bytes of a step */
#define ORDER_BEGINNING_MAX 255

enum order_form {
    ORDER_FORM_ROWS,
    ORDER_FORM_RUNS,
    ORDER_FORM_VALUES,
    ORDER_FORM_BUCKETS,
};

/* Returns the id of a column. */
static inline uint64_t
order_id(uint64_t path_hash, enum colander_type type)
{
    return path_hash + (uint64_t)type * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns the place of the column with this id. */
static inline uint32_t
order_place_of(uint64_t id)
{
    return (uint32_t)(id >> 33);
}

/* The scale of a column: ranks from `base` on, 2^bits of them, as steps of 64
 * bits. */
struct order_scale {
    uint64_t base;
    unsigned bits; /* 1 to 64 */
};

/* Returns the step of a rank. Ranks outside of the scale get its ends. */
static inline uint64_t
order_step(const struct order_scale *scale, uint64_t rank)
{
    const uint64_t above = rank <= scale->base ? 0 : rank - scale->base;

    if (scale->bits < 64 && above >> scale->bits != 0)
        return UINT64_MAX;
    return above << (64 - scale->bits);
}

/* Returns the upper `width` bytes of a step. */
static inline uint64_t
order_cut(uint64_t step, unsigned width)
{
    return step >> (64 - 8 * width);
}

/* Returns the first 8 bytes, padded with `fill`. */
uint64_t order_word(struct colander_slice bytes, uint8_t fill);

/* Returns the rank of a value in a column whose texts have this beginning. */
uint64_t order_rank(const struct order_value *value,
                    struct colander_slice beginning);

/* Returns the hash of a bucket of the column with this id. */
static inline uint64_t
order_bucket_hash(uint64_t id, uint32_t bucket)
{
    uint64_t word = id + (bucket + UINT64_C(1)) * UINT64_C(0xd1342543de82ef95);

    word = (word ^ word >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 29) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 32;
}

/* ---------------------------------------------------- for order_build.c --- */

/* A value of a row. */
struct order_item {
    uint64_t rank;
    uint64_t entry; /* of the locator: its row and hash */
};

/* A column while its part is built. */
struct order_column {
    uint64_t id;
    enum colander_type type;
    bool is_lost; /* memory was short, and values are missing */
    struct order_item *items;
    size_t count;
    size_t capacity;
    uint64_t text_size;         /* of all texts */
    struct colander_buffer odd; /* texts that begin otherwise */
    size_t odd_count;
    bool has_beginning;
    uint8_t beginning_size;
    uint8_t beginning[ORDER_BEGINNING_MAX]; /* of nearly all texts */

    /* What it becomes. */
    uint64_t low;  /* the least rank, */
    uint64_t high; /* and the greatest */
    enum order_form form;
    unsigned width;
    struct colander_buffer bytes; /* its code */
    double waste; /* rows read by runs for a row that is wanted */
    struct order_scale scale;
};

/* Cuts the beginning if too many texts do not have it. */
void order_column_settle(struct order_column *column);

/* Finds out how well runs serve the column, and chooses its form:
 * BUCKETS if it would be the best, whatever it takes. */
COLANDER_CHECKED enum colander_code
order_column_measure(struct order_column *column, uint32_t row_count,
                     struct colander_error *err);

/* Returns how much the column needs buckets: more if runs serve it badly, less
 * if it has long texts. */
double order_column_need(const struct order_column *column);

/* Returns about how many bytes of the budget the column takes in its form: in
 * buckets, or in runs that take more than a byte a value. */
uint64_t order_column_size(const struct order_column *column,
                           uint32_t row_count);

/* Codes the column. If it has buckets, passes their rows to `sink`; those of
 * values take of *left bytes. */
COLANDER_CHECKED enum colander_code
order_column_code(struct order_column *column, uint32_t row_count,
                  const struct order_sink *sink, uint64_t *left,
                  struct colander_error *err);

static inline uint32_t
order_run_count(uint32_t row_count)
{
    return (row_count + ORDER_RUN - 1) / ORDER_RUN;
}

#endif
