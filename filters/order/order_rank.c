/*
 * Orders: ranks of values.
 *
 * They follow colander_value_compare (invariant I3): different values may have
 * one rank, but never the opposite order.
 *
 * The rank of a text is its first seven bytes behind the beginning that most
 * texts of its column share, or, if they are in lower case, some more of them,
 * each as a symbol of some bits. A text that does not begin so comes before or
 * after all that do, and gets the least or the greatest rank.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order/order_code.h"

#include <math.h>

/* No number has the nearest double of another one below this. */
#define EXACT_MAX 0x1p53

#define SIGN_BIT (UINT64_C(1) << 63)

/* Only NaN is as high as this; infinity is far below. */
#define RANK_OF_NAN UINT64_MAX

/* Numbers become the nearest double, so the order of two numbers never changes
 * to the opposite. */
static uint64_t
word_of_number(double number)
{
    uint64_t bits;

    if (number != number)
        return RANK_OF_NAN;
    number += 0.0; /* changes -0.0 to 0.0 */
    memcpy(&bits, &number, sizeof(bits));
    return (bits & SIGN_BIT) != 0 ? ~bits : bits | SIGN_BIT;
}

static double
number_of_word(uint64_t word)
{
    const uint64_t bits = (word & SIGN_BIT) != 0 ? word ^ SIGN_BIT : ~word;
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* ---------------------------------------------------------------- texts --- */

/* The bytes up to `last` have symbols of this many bits, and the least of these
 * begins as the table says. Other tables would be other files: FORMAT.md. */
struct symbols {
    uint16_t first; /* the symbol of the first one, in its upper bits */
    uint8_t last;
    uint8_t bits;
};

static const struct symbols all_symbols[] = {
    {0x0000, 31, 14},  {0x0400, 32, 6},   {0x0800, 44, 11}, {0x0980, 46, 9},
    {0x0a80, 47, 11},  {0x0b00, 57, 8},   {0x1500, 64, 11}, {0x1600, 90, 9},
    {0x2300, 94, 11},  {0x2380, 95, 9},   {0x2400, 96, 11}, {0x2800, 122, 5},
    {0xf800, 127, 11}, {0xf8a0, 255, 13},
};

#define SYMBOL_KINDS (sizeof(all_symbols) / sizeof(all_symbols[0]))

static unsigned
first_of(size_t kind)
{
    return kind == 0 ? 0 : all_symbols[kind - 1].last + 1u;
}

/* Returns the symbol of a byte, in the upper of 16 bits, and its bits. */
static unsigned
symbol_of(uint8_t byte, unsigned *bits)
{
    size_t kind = 0;

    while (byte > all_symbols[kind].last)
        kind++;
    *bits = all_symbols[kind].bits;
    return all_symbols[kind].first + ((byte - first_of(kind)) << (16 - *bits));
}

/* Returns the last byte whose symbol is not above 16 bits. */
static uint8_t
byte_of(unsigned symbol)
{
    size_t kind = SYMBOL_KINDS - 1;
    unsigned byte;

    while (all_symbols[kind].first > symbol)
        kind--;
    byte = first_of(kind) + ((symbol - all_symbols[kind].first) >>
                             (16 - all_symbols[kind].bits));
    return byte < all_symbols[kind].last ? (uint8_t)byte
                                         : all_symbols[kind].last;
}

unsigned
order_symbol_bits(struct colander_slice text)
{
    unsigned total = 0;
    unsigned bits;

    for (size_t i = 0; i < text.size && i < ORDER_SYMBOLS; i++) {
        (void)symbol_of(text.data[i], &bits);
        total += bits;
    }
    return total;
}

static uint64_t
word_of_bytes(struct colander_slice bytes, uint8_t fill, unsigned *bits)
{
    const size_t size = ORDER_WORD_BITS / 8;
    uint8_t word[8];

    *bits = 8 * (unsigned)(bytes.size > size ? size + 1 : bytes.size);
    memset(word, fill, sizeof(word));
    if (bytes.size > 0)
        memcpy(word, bytes.data, bytes.size < size ? bytes.size : size);
    return bytes_get_be64(word);
}

uint64_t
order_word(struct colander_slice bytes, uint8_t fill, bool is_coded,
           unsigned *bits)
{
    uint64_t word = 0;
    unsigned total = 0;
    unsigned size;

    if (!is_coded) {
        word = word_of_bytes(bytes, fill, &size);
        total = size;
    }
    for (size_t i = 0; is_coded && i < bytes.size && total <= ORDER_WORD_BITS;
         i++) {
        word |= (uint64_t)symbol_of(bytes.data[i], &size) << 48 >> total;
        total += size;
    }
    if (is_coded) {
        if (total < 64 && fill != 0)
            word |= UINT64_MAX >> total;
        word = (word & ~UINT64_C(255)) | fill;
    }
    if (bits != NULL)
        *bits = total;
    return word;
}

size_t
order_text_of_word(uint64_t rank, bool above, bool is_coded,
                   uint8_t text[ORDER_SYMBOLS])
{
    const size_t bytes = ORDER_WORD_BITS / 8;
    size_t size = 0;

    if (!is_coded) {
        for (size_t i = 0; i < bytes; i++)
            text[i] = (uint8_t)(rank >> (56 - 8 * i));
        for (size = bytes; size > 0 && text[size - 1] == 0;)
            size--;
        return size;
    }
    rank &= ~UINT64_C(255);
    for (unsigned total = 0; rank != 0 && size < ORDER_SYMBOLS;) {
        const unsigned ahead = (unsigned)(rank >> 48);
        uint8_t byte = byte_of(ahead);
        unsigned bits;
        const unsigned symbol = symbol_of(byte, &bits);

        total += bits;
        if (total <= ORDER_WORD_BITS &&
            ahead >> (16 - bits) == symbol >> (16 - bits)) {
            text[size++] = byte;
            rank <<= bits;
            continue;
        }
        /* between two symbols, or in one that is cut */
        if (!above)
            break;
        if (rank > (uint64_t)symbol << 48 && byte++ == UINT8_MAX)
            return SIZE_MAX;
        text[size++] = byte;
        break;
    }
    return size;
}

struct order_value
order_value_of(const struct colander_value *value)
{
    struct order_value of = {.type = value->type};

    if (colander_type_is_number(value->type))
        of.type = COLANDER_INTEGER;
    if (value->type == COLANDER_MAP)
        of.type = COLANDER_ARRAY;
    switch (value->type) {
    case COLANDER_INTEGER:
        of.word = word_of_number((double)value->integer);
        break;
    case COLANDER_UNSIGNED:
        of.word = word_of_number((double)value->natural);
        break;
    case COLANDER_DOUBLE:
        of.word = word_of_number(value->number);
        break;
    case COLANDER_TIMESTAMP:
        of.word = (uint64_t)value->second ^ SIGN_BIT;
        break;
    case COLANDER_EXTENSION:
        of.word = (uint64_t)((uint8_t)value->extension_type ^ 0x80u) << 56 |
                  order_word(value->bytes, 0, false, NULL) >> 8;
        break;
    case COLANDER_BOOLEAN:
        of.word = value->boolean;
        of.is_exact = true;
        break;
    case COLANDER_STRING:
    case COLANDER_BINARY:
        of.bytes = value->bytes;
        break;
    default:
        break;
    }
    if (of.type == COLANDER_INTEGER)
        of.is_exact = fabs(number_of_word(of.word)) < EXACT_MAX;
    return of;
}

struct order_span
order_span_of(const struct colander_value *low,
              const struct colander_value *high)
{
    struct order_span span = {order_value_of(low == NULL ? high : low),
                              order_value_of(high == NULL ? low : high)};

    if (low == NULL) {
        span.low.word = 0;
        span.low.bytes.size = 0;
    }
    if (high == NULL) {
        span.high.word = UINT64_MAX;
        span.high.fill = UINT8_MAX;
        span.high.bytes.size = 0;
    }
    return span;
}

struct order_span
order_span_of_prefix(const struct colander_value *prefix)
{
    struct order_span span = {order_value_of(prefix), order_value_of(prefix)};

    span.high.fill = UINT8_MAX;
    return span;
}

/* Returns the rank, or that before or behind it if no other value has it. */
static uint64_t
shifted(const struct order_value *value, uint64_t rank, bool is_exact)
{
    if (!is_exact || rank == (value->shift < 0 ? 0 : UINT64_MAX))
        return rank;
    return rank + (uint64_t)value->shift;
}

uint64_t
order_rank(const struct order_value *value, struct colander_slice beginning,
           bool has_zeros, bool is_coded)
{
    const unsigned more = is_coded ? ORDER_SYMBOL_MAX : 8; /* bits of another */
    struct colander_slice bytes = value->bytes;
    uint64_t word;
    unsigned bits;
    size_t shared;
    int order;

    if (value->type != COLANDER_STRING && value->type != COLANDER_BINARY)
        return shifted(value, value->word, value->is_exact);
    shared = bytes.size < beginning.size ? bytes.size : beginning.size;
    order = shared == 0 ? 0 : memcmp(bytes.data, beginning.data, shared);
    if (order == 0 && bytes.size < beginning.size)
        order = value->fill == 0 ? -1 : 1;
    if (order != 0)
        return order < 0 ? 0 : UINT64_MAX;
    if (bytes.size > 0)
        bytes.data += shared;
    bytes.size -= shared;
    word = order_word(bytes, value->fill, is_coded, &bits);
    return shifted(value, word,
                   value->fill == 0 && bits + more <= ORDER_WORD_BITS &&
                       !has_zeros);
}

bool
order_value_of_rank(enum colander_type type, uint64_t rank, bool is_descending,
                    struct colander_slice text, struct colander_value *value)
{
    memset(value, 0, sizeof(*value));
    value->type = type;
    switch (type) {
    case COLANDER_BOOLEAN:
        value->boolean = rank != 0;
        return true;
    case COLANDER_INTEGER:
        *value = colander_double(number_of_word(rank));
        return true;
    case COLANDER_TIMESTAMP:
        *value = colander_timestamp((int64_t)(rank ^ SIGN_BIT),
                                    is_descending ? 0 : 999999999);
        return true;
    case COLANDER_STRING:
    case COLANDER_BINARY:
        value->bytes = text;
        return true;
    case COLANDER_ARRAY:
        return true;
    default:
        return false;
    }
}
