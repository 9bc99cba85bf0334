/* SPDX-License-Identifier: MIT */
#include "filters/build/entry_list.h"

#include "core/array.h"

#include <stdlib.h>

#define ROW_BITS LOCATOR_ROW_BITS
#define ROW_MASK ((UINT64_C(1) << ROW_BITS) - 1)

/* Entries are sorted by the upper bits of their hashes, digit by digit; the few
 * that are equal there, one by one. */
#define DIGIT_BITS 9
#define DIGITS (1u << DIGIT_BITS)
#define PASSES 3
#define FIRST_DIGIT (64 - PASSES * DIGIT_BITS)

/* Entries that are equal in the upper bits and not in order are moved one by
 * one, but sorted by their lower digits if that takes many moves for each. */
#define MOVED_MAX 4
#define MOVED_ALWAYS 1000

#define SEEN_BITS 12

/* Recently seen values, in a table that fits the L1 cache: the last entry of
 * each; the number of rows that it was added for, until it became frequent; and
 * how many other values it outlives, more for each row that has it. */
struct entry_seen {
    uint64_t entries[1u << SEEN_BITS];
    uint16_t rows[1u << SEEN_BITS]; /* 0: none */
    uint8_t lives[1u << SEEN_BITS];
};

#define SEEN_LIVES_MAX 8

/* Values that replace the number of rows. */
enum {
    SEEN_DENSE = UINT16_MAX - 1, /* only the first row of each coarse unit is
                                  * added, */
    SEEN_OMITTED,                /* and others there were omitted */
};

/* Before this row it is not known which values are frequent. */
#define SEEN_ROWS_MIN ((uint32_t)1 << 14)

enum colander_code
entry_list_init(struct entry_list *list, uint32_t hash_bits, uint32_t coarse,
                struct colander_error *err)
{
    memset(list, 0, sizeof(*list));
    list->hash_bits = hash_bits;
    list->coarse_shift = (unsigned)__builtin_ctz(coarse);
    list->seen = calloc(1, sizeof(*list->seen));
    list->seen_columns = calloc(1, sizeof(*list->seen_columns));
    list->seen_words = calloc(1, sizeof(*list->seen_words));
    if (list->seen == NULL || list->seen_columns == NULL ||
        list->seen_words == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    return COLANDER_OK;
}

void
entry_list_release(struct entry_list *list)
{
    free(list->entries);
    free(list->seen);
    free(list->seen_columns);
    free(list->seen_words);
    memset(list, 0, sizeof(*list));
}

void
entry_list_clear(struct entry_list *list)
{
    list->count = 0;
    memset(list->seen->rows, 0, sizeof(list->seen->rows));
    memset(list->seen_columns->rows, 0, sizeof(list->seen_columns->rows));
    memset(list->seen_words->rows, 0, sizeof(list->seen_words->rows));
}

/* Returns whether the entry must be added. It need not be if the row has the
 * value already, or if its list will consist of coarse units and has this unit.
 * Changes *entry to mark that rows were omitted. */
static inline bool
is_new(const struct entry_list *list, struct entry_seen *table, uint64_t *entry)
{
    const uint64_t value = *entry & ~ROW_MASK;
    size_t slot =
        (size_t)((value * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SEEN_BITS));
    uint64_t *seen = &table->entries[slot];
    uint16_t *rows = &table->rows[slot];
    uint8_t *lives = &table->lives[slot];
    const uint64_t other = *seen ^ *entry; /* the bits that differ */
    const bool is_same_unit = other >> list->coarse_shift == 0;
    const uint32_t row = (uint32_t)(*entry & ROW_MASK);

    if (*rows == 0 || other > ROW_MASK) {
        if (*rows != 0 && *lives > 0) {
            --*lives;
            return true;
        }
        *seen = *entry;
        *rows = 1;
        *lives = 0;
        return true;
    }
    if (other == 0 || (is_same_unit && *rows == SEEN_OMITTED))
        return false;
    if (is_same_unit && *rows == SEEN_DENSE) {
        *entry |= LOCATOR_ROWS_OMITTED;
        *rows = SEEN_OMITTED;
        return true;
    }
    *seen = *entry;
    *lives = (uint8_t)(*lives + (*lives < SEEN_LIVES_MAX));
    if (*rows < SEEN_DENSE - 1)
        ++*rows;
    if (*rows < SEEN_DENSE && row >= SEEN_ROWS_MIN &&
        (uint64_t)*rows * LOCATOR_COMMON > row)
        *rows = SEEN_DENSE;
    return true;
}

static inline enum colander_code
add(struct entry_list *list, struct entry_seen *table, uint64_t hash,
    unsigned tag, uint32_t row, struct colander_error *err)
{
    uint64_t entry =
        locator_entry(hash & ~UINT64_C(0) << (64 - list->hash_bits), tag, row);

    if (!is_new(list, table, &entry))
        return COLANDER_OK;
    if (list->count == list->capacity) {
        enum colander_code code =
            array_reserve(&list->entries, list->count, &list->capacity, 1, err);

        if (code != COLANDER_OK)
            return code;
    }
    list->entries[list->count++] = entry;
    return COLANDER_OK;
}

enum colander_code
entry_list_add(struct entry_list *list, uint64_t value_hash, unsigned tag,
               uint32_t row, struct colander_error *err)
{
    return add(list, list->seen, value_hash, tag, row, err);
}

enum colander_code
entry_list_add_column(struct entry_list *list, uint64_t path_hash, unsigned tag,
                      uint32_t row, struct colander_error *err)
{
    return add(list, list->seen_columns, path_hash, tag, row, err);
}

enum colander_code
entry_list_add_word(struct entry_list *list, uint64_t word_hash, unsigned tag,
                    uint32_t row, struct colander_error *err)
{
    return add(list, list->seen_words, word_hash, tag, row, err);
}

/* ------------------------------------------------------------- sorting --- */

static inline unsigned
digit_of(uint64_t entry, unsigned shift)
{
    return (unsigned)(entry >> shift) & (DIGITS - 1);
}

/* Moves `count` entries of `from` to `to`, sorted by the digit at `shift`.
 * `places` has the number of entries of each digit. */
static void
sort_by_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned shift,
              uint32_t *places)
{
    uint32_t place = 0;

    for (unsigned digit = 0; digit < DIGITS; digit++) {
        uint32_t size = places[digit];

        places[digit] = place;
        place += size;
    }
    for (size_t i = 0; i < count; i++)
        to[places[digit_of(from[i], shift)]++] = from[i];
}

/* Sorts entries that are equal in their upper bits. */
static void
sort_by_lower_digits(uint64_t *entries, uint64_t *spare, size_t count)
{
    uint64_t *from = entries;
    uint64_t *to = spare;

    for (unsigned shift = 0; shift < FIRST_DIGIT; shift += DIGIT_BITS) {
        uint32_t places[DIGITS] = {0};
        uint64_t *swapped = from;

        for (size_t i = 0; i < count; i++)
            places[digit_of(from[i], shift)]++;
        sort_by_digit(from, to, count, shift, places);
        from = to;
        to = swapped;
    }
    if (from != entries)
        memcpy(entries, from, count * sizeof(*entries));
}

/* Sorts entries that are equal in their upper bits and nearly in order. */
static void
sort_some(uint64_t *entries, uint64_t *spare, size_t count)
{
    size_t moves_left = count * MOVED_MAX + MOVED_ALWAYS;

    for (size_t i = 1; i < count; i++) {
        const uint64_t entry = entries[i];
        size_t at = i;

        for (; at > 0 && entries[at - 1] > entry && moves_left > 0; at--) {
            entries[at] = entries[at - 1];
            moves_left--;
        }
        entries[at] = entry;
        if (moves_left == 0) {
            sort_by_lower_digits(entries, spare, count);
            return;
        }
    }
}

/* Sorts entries that are in the order of their upper bits. */
static void
sort_rest(uint64_t *entries, uint64_t *spare, size_t count)
{
    size_t end;

    for (size_t begin = 0; begin < count; begin = end) {
        bool is_sorted = true;

        for (end = begin + 1;
             end < count && (entries[end] ^ entries[begin]) >> FIRST_DIGIT == 0;
             end++)
            is_sorted &= entries[end - 1] <= entries[end];
        if (!is_sorted)
            sort_some(entries + begin, spare, end - begin);
    }
}

/* Removes duplicates. */
static size_t
tidy(uint64_t *entries, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || entries[kept - 1] != entries[i])
            entries[kept++] = entries[i];
    }
    return kept;
}

enum colander_code
entry_list_sort(struct entry_list *list, struct colander_error *err)
{
    uint32_t(*places)[DIGITS] = calloc(PASSES, sizeof(*places));
    uint64_t *from = list->entries;
    uint64_t *to = malloc((list->capacity | 1) * sizeof(*to));

    if (places == NULL || to == NULL) {
        free(places);
        free(to);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    }
    for (size_t i = 0; i < list->count; i++) {
        for (unsigned pass = 0; pass < PASSES; pass++)
            places[pass][digit_of(from[i], FIRST_DIGIT + pass * DIGIT_BITS)]++;
    }
    for (unsigned pass = 0; pass < PASSES; pass++) {
        uint64_t *swapped = from;

        sort_by_digit(from, to, list->count, FIRST_DIGIT + pass * DIGIT_BITS,
                      places[pass]);
        from = to;
        to = swapped;
    }
    list->entries = from;
    sort_rest(from, to, list->count);
    free(to);
    list->count = tidy(from, list->count);
    free(places);
    return COLANDER_OK;
}

uint64_t
entry_list_rows(const struct entry_list *list, uint64_t hash, unsigned tag,
                uint32_t listed_max, uint64_t most)
{
    const uint64_t first =
        locator_entry(hash & ~UINT64_C(0) << (64 - list->hash_bits), tag, 0);
    const uint64_t last = first | ROW_MASK;
    uint64_t units = 0;
    uint64_t rows = 0;
    bool is_whole = true;
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (list->entries[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < list->count && list->entries[low] <= last && rows <= most;
         low++) {
        if ((list->entries[low] & ROW_MASK) == LOCATOR_ROWS_OMITTED) {
            is_whole = false;
            break;
        }
        rows++;
        units += rows == 1 || (list->entries[low] ^ list->entries[low - 1]) >>
                                      list->coarse_shift !=
                                  0;
    }
    if (is_whole && (rows <= LOCATOR_SHORT_MAX || rows <= listed_max))
        return rows;
    return units << list->coarse_shift;
}

uint64_t
entry_list_hashes(const struct entry_list *list)
{
    const unsigned shift = 64 - LOCATOR_HASH_BITS;
    uint64_t count = list->count > 0;

    for (size_t i = 1; i < list->count; i++)
        count += list->entries[i] >> shift != list->entries[i - 1] >> shift;
    return count;
}
