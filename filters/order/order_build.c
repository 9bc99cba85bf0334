/*
 * Orders: collects the values of a part, and writes its blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "core/hash_index.h"
#include "filters/order/order_code.h"

#include <stdlib.h>

#define ODD_SHARE 32 /* one text of so many may begin otherwise than a column */
#define TEXT_SHORT 16
#define TEXT_LONG 64
#define TEXT_PRICE 1.25 /* ranges are rather asked of numbers */
#define PRICE_STEPS 8   /* of a byte: prices that hardly differ are the same */

/* Bits of fractions: usual ones, and if the budget is short. */
#define GRAIN 3
#define GRAIN_MIN 1

struct order_builder {
    struct order_column *columns;
    size_t column_count;
    size_t column_capacity;
    struct hash_index by_id;
    size_t next; /* the column that followed the last one before */
    size_t item_count;
    enum order_wish wish; /* of columns that are added */
    bool is_cut;          /* a column is missing */
};

struct order_builder *
order_builder_create(void)
{
    return calloc(1, sizeof(struct order_builder));
}

static void
clear(struct order_builder *builder)
{
    for (size_t i = 0; i < builder->column_count; i++)
        order_column_release(&builder->columns[i]);
    hash_index_clear(&builder->by_id);
    builder->column_count = builder->item_count = builder->next = 0;
    builder->is_cut = false;
}

void
order_builder_destroy(struct order_builder *builder)
{
    if (builder == NULL)
        return;
    clear(builder);
    hash_index_release(&builder->by_id);
    free(builder->columns);
    free(builder);
}

size_t
order_builder_size(const struct order_builder *builder)
{
    return builder->item_count;
}

/* ---------------------------------------------------------------- texts --- */

static bool
is_text(enum colander_type type)
{
    return type == COLANDER_STRING || type == COLANDER_BINARY;
}

/* Until all texts are known, the rank of one is how many bytes it shares with
 * the first one, in the upper byte, and the bytes behind these; 0: it is empty.
 */
#define TAIL_BITS ORDER_WORD_BITS

/* Keeps the text, whose rank has only `tail`, in the sample. It is that of the
 * last item, and not empty. */
static void
add_to_sample(struct order_column *column, struct colander_slice text,
              struct colander_slice tail)
{
    struct order_sample *sample = &column->sample;
    const size_t i = column->count - 1;
    const size_t size = tail.size < ORDER_SYMBOLS ? tail.size : ORDER_SYMBOLS;

    sample->bits += order_symbol_bits(text);
    sample->size +=
        (unsigned)(text.size < ORDER_SYMBOLS ? text.size : ORDER_SYMBOLS);
    sample->tail_sizes[i] = (uint8_t)size;
    memcpy(sample->tails[i], tail.data, size);
}

/* Decides whether ranks have symbols, and codes those of the sample so. */
static void
choose_code(struct order_column *column)
{
    const struct order_sample *sample = &column->sample;

    column->is_coded =
        sample->size > 0 && sample->bits <= ORDER_SAMPLE_BITS * sample->size;
    for (size_t i = 0; i < column->count && column->is_coded; i++) {
        const struct colander_slice tail =
            colander_slice_of(sample->tails[i], sample->tail_sizes[i]);

        column->items[i].rank &= ~(UINT64_MAX >> 8);
        column->items[i].rank |= order_word(tail, 0, true, NULL) >> 8;
    }
}

static uint64_t
rank_of_text(struct order_column *column, struct colander_slice text)
{
    const struct colander_slice whole = text;
    size_t shared = 0;

    column->text_size += text.size;
    if (text.size == 0)
        return 0;
    if (!column->has_beginning) {
        column->has_beginning = true;
        column->beginning_size =
            (uint8_t)(text.size < ORDER_BEGINNING_MAX ? text.size
                                                      : ORDER_BEGINNING_MAX);
        memcpy(column->beginning, text.data, column->beginning_size);
        column->has_zeros =
            memchr(text.data, 0, column->beginning_size) != NULL;
    }
    while (shared < column->beginning_size && shared < text.size &&
           text.data[shared] == column->beginning[shared])
        shared++;
    text.data += shared;
    text.size -= shared;
    if (column->count <= ORDER_SAMPLE)
        add_to_sample(column, whole, text);
    column->has_zeros |=
        memchr(text.data, 0,
               text.size < ORDER_SYMBOLS ? text.size : ORDER_SYMBOLS) != NULL;
    return (uint64_t)shared << TAIL_BITS |
           order_word(text, 0, column->is_coded, NULL) >> 8;
}

/* Returns the rank in a column of which only `size` bytes are the beginning. */
static uint64_t
rank_behind(const struct order_column *column, uint64_t rank, size_t size)
{
    const size_t shared = rank >> TAIL_BITS;
    const uint64_t tail = rank << 8;
    const struct colander_slice other =
        colander_slice_of(column->beginning + shared, 1);
    uint64_t word;
    unsigned bits;

    if (shared < size) /* it ends here, or has another byte */
        return tail > order_word(other, UINT8_MAX, column->is_coded, NULL)
                   ? UINT64_MAX
                   : 0;
    word =
        order_word(colander_slice_of(column->beginning + size, shared - size),
                   0, column->is_coded, &bits);
    if (bits < TAIL_BITS)
        word |= (tail >> bits) & ~UINT64_C(255);
    return word;
}

/* Makes ranks of what was kept of texts. Nearly all begin as the column. */
static void
rank_texts(struct order_column *column)
{
    size_t counts[ORDER_BEGINNING_MAX + 1] = {0};
    size_t odd_max = 0;
    size_t below = 0;
    size_t size = 0;

    for (size_t i = 0; i < column->count; i++) {
        if (column->items[i].rank == 0)
            continue;
        counts[column->items[i].rank >> TAIL_BITS]++;
        odd_max++;
    }
    odd_max /= ODD_SHARE;
    while (size < column->beginning_size && below + counts[size] <= odd_max)
        below += counts[size++];
    for (size_t i = 0; i < column->count; i++)
        column->items[i].rank =
            rank_behind(column, column->items[i].rank, size);
    column->beginning_size = (uint8_t)size;
}

/* --------------------------------------------------------------- values --- */

/* Adds a column; NULL: that is not possible. */
static struct order_column *
add_column(struct order_builder *builder, uint64_t id, enum colander_type type)
{
    struct order_column *column;

    /* values of one that could not be added have been passed over */
    if (builder->is_cut || builder->column_count == ORDER_COLUMNS_MAX ||
        array_reserve(&builder->columns, builder->column_count,
                      &builder->column_capacity, 1, NULL) != COLANDER_OK ||
        hash_index_reserve(&builder->by_id, NULL) != COLANDER_OK) {
        builder->is_cut = true;
        return NULL;
    }
    hash_index_add(&builder->by_id, (uint32_t)id,
                   (uint32_t)builder->column_count);
    column = &builder->columns[builder->column_count++];
    memset(column, 0, sizeof(*column));
    column->id = id;
    column->type = type;
    column->wish = builder->wish;
    return column;
}

static struct order_column *
column_of(struct order_builder *builder, uint64_t path_hash,
          enum colander_type type)
{
    const uint64_t id = order_id(path_hash, type);
    size_t at = HASH_INDEX_START;
    size_t i = builder->next;

    /* most rows have the same columns in the same order */
    if (i >= builder->column_count || builder->columns[i].id != id) {
        do {
            i = hash_index_next(&builder->by_id, (uint32_t)id, &at);
        } while (i != HASH_INDEX_NONE && builder->columns[i].id != id);
        if (i == HASH_INDEX_NONE)
            return add_column(builder, id, type);
    }
    builder->next = i + 1;
    return &builder->columns[i];
}

void
order_builder_wish(struct order_builder *builder, enum order_wish wish)
{
    builder->wish = wish;
}

void
order_builder_value(struct order_builder *builder, uint64_t path_hash,
                    const struct colander_value *value, uint64_t entry)
{
    const struct order_value of = order_value_of(value);
    const bool has_text = is_text(of.type);
    struct order_column *column = column_of(builder, path_hash, of.type);
    struct order_item *item;

    if (column == NULL || column->is_lost)
        return;
    if (of.type == COLANDER_ARRAY) {
        column->count++;
        return;
    }
    /* an array may repeat a number; another one may have its hash */
    if (!has_text && column->count > 0 &&
        column->items[column->count - 1].entry == entry &&
        column->items[column->count - 1].rank == of.word)
        return;
    if (builder->item_count == ORDER_VALUES_MAX ||
        array_reserve(&column->items, column->count, &column->capacity, 1,
                      NULL) != COLANDER_OK) {
        column->is_lost = true;
        return;
    }
    item = &column->items[column->count++];
    item->entry = entry;
    item->rank = has_text ? rank_of_text(column, of.bytes) : of.word;
    if (has_text && column->count == ORDER_SAMPLE)
        choose_code(column);
    builder->item_count++;
}

/* ------------------------------------------------------------ finishing --- */

/* Makes ranks of all that a column has. */
static void
settle(struct order_column *column)
{
    if (is_text(column->type)) {
        if (column->count < ORDER_SAMPLE)
            choose_code(column);
        rank_texts(column);
    }
    column->low = column->items == NULL ? 0 : UINT64_MAX;
    for (size_t i = 0; i < column->count && column->items != NULL; i++) {
        const uint64_t rank = column->items[i].rank;

        column->low = rank < column->low ? rank : column->low;
        column->high = rank > column->high ? rank : column->high;
    }
}

/* What a part is built with. */
struct finish {
    struct order_column **columns;
    size_t count;
    uint32_t row_count;
    struct order_item *spare; /* for the items of any column */
    uint64_t left;            /* of the budget */
    unsigned grain;           /* bits of fractions that it has room for */
};

/* Returns the bytes of a value, which texts make dearer, and long ones more. */
static uint64_t
price_of(const struct order_column *column)
{
    const double count = (double)column->count + 1;
    const double texts = (double)column->text_size / count / TEXT_SHORT;
    double price = (double)order_column_size(column) / count * PRICE_STEPS;

    if (is_text(column->type))
        price *= texts > TEXT_PRICE ? texts : TEXT_PRICE;
    return (uint64_t)price;
}

static int
compare_ids(const void *a, const void *b)
{
    const uint64_t left = (*(struct order_column *const *)a)->id;
    const uint64_t right = (*(struct order_column *const *)b)->id;

    return (left > right) - (left < right);
}

/* Whether the column has what is left when others are fine: a range of long
 * texts is hardly ever asked for. */
static bool
is_last(const struct order_column *column)
{
    return is_text(column->type) && column->wish != ORDER_ALWAYS &&
           column->text_size > (uint64_t)TEXT_LONG * column->count;
}

static int
compare_prices(const void *a, const void *b)
{
    const struct order_column *left = *(struct order_column *const *)a;
    const struct order_column *right = *(struct order_column *const *)b;

    if ((left->wish == ORDER_ALWAYS) != (right->wish == ORDER_ALWAYS))
        return left->wish == ORDER_ALWAYS ? -1 : 1;
    if (is_last(left) != is_last(right))
        return is_last(right) ? -1 : 1;
    if (price_of(left) != price_of(right))
        return price_of(left) < price_of(right) ? -1 : 1;
    return compare_ids(a, b); /* so that all parts choose the same ones */
}

/* Returns whether lists and groups of the column may be kept. */
static bool
is_wanted(const struct finish *finish, const struct order_column *column)
{
    if (column->items == NULL || column->wish == ORDER_NEVER)
        return false;
    return column->wish == ORDER_ALWAYS ||
           (column->count >= ORDER_FEW_VALUES && finish->left > 0);
}

/* Codes all columns, and brings those that must have an order to the front, and
 * then the cheapest ones. */
static enum colander_code
code_columns(struct finish *finish, const struct order_sink *sink,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < finish->count && code == COLANDER_OK; i++) {
        struct order_column *column = finish->columns[i];

        if (column->wish == ORDER_NEVER)
            column->grain = ORDER_CODE_REFUSED;
        else if (finish->left == 0)
            column->grain = ORDER_CODE_NO_BUDGET;
        if (!is_wanted(finish, column))
            continue;
        code = order_column_sort(column, finish->spare, sink, err);
        if (code == COLANDER_OK)
            code = order_column_code(column, finish->spare, 0, GRAIN, err);
    }
    if (code != COLANDER_OK)
        return code;
    qsort(finish->columns, finish->count, sizeof(*finish->columns),
          compare_prices);
    return code;
}

/* Keeps the columns from `begin` to before `end` that the budget has room for,
 * the cheapest first. */
static void
keep_cheapest(struct finish *finish, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        const struct order_column *column = finish->columns[i];
        const uint64_t size = /* at most: fewer bits have fewer cuts, too */
            order_column_size(column) -
            column->fraction_count * (GRAIN - finish->grain) / 8;

        if (size <= finish->left)
            finish->left -= size;
        else if (column->wish == ORDER_ALWAYS)
            finish->left = 0;
        else
            order_column_forget(finish->columns[i]);
    }
}

/* Returns about how many bytes it takes to have needy values of up to
 * `needy_max` items in groups. */
static uint64_t
needy_size(const struct order_column *column, size_t needy_max,
           uint32_t row_count)
{
    uint64_t size = 0;

    for (size_t i = 0; i < column->repeated_count && column->width > 0; i++) {
        const struct order_repeated *value = &column->repeated[i];

        if (value->is_needy && value->count <= needy_max)
            size += 1 + (uint64_t)value->count *
                            (bits_log2(row_count / value->count + 1) + 2) / 8;
    }
    return size;
}

/* Gives the first columns fractions of up to `grain` bits, as far as the budget
 * has room. */
static void
refine(struct finish *finish, size_t count, unsigned grain)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++)
        bits += finish->columns[i]->fraction_count;
    for (; finish->grain < grain && bits / 8 <= finish->left; finish->grain++)
        finish->left -= bits / 8;
}

/* Gives the fractions of a column a bit more, if the budget has room. */
static void
refine_one(struct finish *finish, struct order_column *column)
{
    const uint64_t size = column->fraction_count / 8;

    column->is_finer = size > 0 && size <= finish->left;
    if (column->is_finer)
        finish->left -= size;
}

/* Gives some of the first columns a bit more, where not all can have it: those
 * that must have an order, then the dearest ones, as a range of texts reads the
 * most rows that it does not want. */
static void
refine_some(struct finish *finish, size_t count)
{
    size_t begin = 0;

    if (finish->grain == GRAIN)
        return;
    for (; begin < count && finish->columns[begin]->wish == ORDER_ALWAYS;
         begin++)
        refine_one(finish, finish->columns[begin]);
    for (size_t i = count; i-- > begin;)
        refine_one(finish, finish->columns[i]);
}

/* Returns the greatest number of items of needy values for which all of these
 * are in groups within the budget: the rarest come first. */
static size_t
choose_needy(struct finish *finish)
{
    size_t needy_max = finish->row_count;
    uint64_t size;

    for (;;) {
        size = 0;
        for (size_t i = 0; i < finish->count; i++)
            size +=
                needy_size(finish->columns[i], needy_max, finish->row_count);
        if (size <= finish->left)
            break;
        needy_max -= needy_max / 8 + 1;
    }
    finish->left -= size;
    return needy_max;
}

/* Codes the columns once more, with what the budget has room for: first some
 * bits of fractions, then columns of long texts, then needy values in groups,
 * then more bits. */
static enum colander_code
code_again(struct finish *finish, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t needy_max;
    size_t last = 0; /* the first of those that are */

    while (last < finish->count && !is_last(finish->columns[last]))
        last++;
    keep_cheapest(finish, 0, last);
    refine(finish, last, GRAIN);
    refine_some(finish, last);
    keep_cheapest(finish, last, finish->count);
    needy_max = choose_needy(finish);
    refine(finish, finish->count, ORDER_GRAIN_MAX);
    for (size_t i = 0; i < finish->count && code == COLANDER_OK; i++) {
        struct order_column *column = finish->columns[i];
        const unsigned grain = finish->grain + column->is_finer;

        if (needy_size(column, needy_max, finish->row_count) > 0 ||
            (column->fraction_count > 0 && grain != GRAIN))
            code =
                order_column_code(column, finish->spare, needy_max, grain, err);
    }
    return code;
}

/* Lists all columns that have all of their values. */
static enum colander_code
begin_finish(struct order_builder *builder, struct finish *finish,
             struct colander_error *err)
{
    size_t longest = 0;

    finish->columns =
        malloc((builder->column_count + 1) * sizeof(struct order_column *));
    for (size_t i = 0; i < builder->column_count; i++) {
        struct order_column *column = &builder->columns[i];

        builder->is_cut |= column->is_lost;
        if (column->is_lost || finish->columns == NULL)
            continue;
        settle(column);
        if (column->count > longest && column->items != NULL)
            longest = column->count;
        finish->columns[finish->count++] = column;
    }
    finish->spare = malloc((longest + 1) * sizeof(*finish->spare));
    if (finish->columns == NULL || finish->spare == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    return COLANDER_OK;
}

enum colander_code
order_builder_finish(struct order_builder *builder, uint32_t row_count,
                     uint64_t budget, const struct order_sink *sink,
                     struct colander_error *err)
{
    struct finish finish = {
        .row_count = row_count, .left = budget, .grain = GRAIN_MIN};
    enum colander_code code = begin_finish(builder, &finish, err);

    if (code == COLANDER_OK)
        code = code_columns(&finish, sink, err);
    if (code == COLANDER_OK)
        code = code_again(&finish, err);
    if (code == COLANDER_OK) {
        qsort(finish.columns, finish.count, sizeof(*finish.columns),
              compare_ids);
        code = order_blocks_put(finish.columns, finish.count, builder->is_cut,
                                sink, err);
    }
    free(finish.columns);
    free(finish.spare);
    clear(builder);
    return code;
}
