/*
 * Entry lists: see entry_list.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/entry_list.h"

#include <stdlib.h>

#define ROW_BITS 20
#define ROW_MASK ((UINT64_C(1) << ROW_BITS) - 1)

/* The sort looks at tag and hash alone, as rows ascend already. */
#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define PASSES 4

#define SEEN_BITS 12

/* A value seen before: entry without the row, the last row, and in how many
 * rows of those that were noted. */
struct entry_seen {
    uint64_t value;
    uint32_t row;
    uint32_t count;
};

enum colander_code
entry_list_init(struct entry_list *list, uint32_t hash_bits, uint32_t coarse,
                struct colander_error *err)
{
    memset(list, 0, sizeof(*list));
    list->hash_mask = ~UINT64_C(0) << (64 - hash_bits);
    list->coarse = coarse;
    list->seen = calloc((size_t)1 << SEEN_BITS, sizeof(*list->seen));
    if (list->seen == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    return COLANDER_OK;
}

void
entry_list_release(struct entry_list *list)
{
    free(list->entries);
    free(list->seen);
    memset(list, 0, sizeof(*list));
}

void
entry_list_clear(struct entry_list *list)
{
    list->count = 0;
    memset(list->seen, 0, sizeof(*list->seen) << SEEN_BITS);
}

static enum colander_code
grow(struct entry_list *list, struct colander_error *err)
{
    size_t capacity = list->capacity == 0 ? 1024 : 2 * list->capacity;
    uint64_t *entries = realloc(list->entries, capacity * sizeof(*entries));

    if (entries == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    list->entries = entries;
    list->capacity = capacity;
    return COLANDER_OK;
}

/* Whether the entry would add nothing: the row has the value already, or the
 * list will be one of segments and has this one. */
static bool
is_told(struct entry_list *list, uint64_t value, uint32_t row)
{
    size_t slot =
        (size_t)((value * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SEEN_BITS));
    struct entry_seen *seen = &list->seen[slot];

    if (seen->value != value || seen->count == 0) {
        seen->value = value;
        seen->row = row;
        seen->count = 1;
        return false;
    }
    if (seen->row == row)
        return true;
    /* With so many rows its list is one of coarse units; or units are coarse
     * anyway. */
    if (seen->count > LOCATOR_SHORT_MAX &&
        seen->row / list->coarse == row / list->coarse)
        return true;
    seen->row = row;
    seen->count++;
    return false;
}

enum colander_code
entry_list_add(struct entry_list *list, uint64_t value_hash, unsigned tag,
               uint32_t row, struct colander_error *err)
{
    uint64_t entry = locator_entry(value_hash & list->hash_mask, tag, row);

    if (is_told(list, entry & ~ROW_MASK, row))
        return COLANDER_OK;
    if (list->count == list->capacity) {
        enum colander_code code = grow(list, err);

        if (code != COLANDER_OK)
            return code;
    }
    list->entries[list->count++] = entry;
    return COLANDER_OK;
}

/* ------------------------------------------------------------- sorting --- */

static unsigned
digit_of(uint64_t entry, unsigned pass)
{
    return (unsigned)(entry >> (ROW_BITS + pass * DIGIT_BITS)) & (DIGITS - 1);
}

/* Moves `count` entries of `from` to `to`, in the order of one digit. */
static void
sort_by_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned pass,
              uint32_t *places)
{
    uint32_t place = 0;

    for (unsigned digit = 0; digit < DIGITS; digit++) {
        uint32_t size = places[digit];

        places[digit] = place;
        place += size;
    }
    for (size_t i = 0; i < count; i++)
        to[places[digit_of(from[i], pass)]++] = from[i];
}

static size_t
drop_doubles(uint64_t *entries, size_t count)
{
    size_t kept = count > 0;

    for (size_t i = 1; i < count; i++) {
        if (entries[i] != entries[kept - 1])
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
            places[pass][digit_of(from[i], pass)]++;
    }
    for (unsigned pass = 0; pass < PASSES && list->count > 0; pass++) {
        uint64_t *swapped = from;

        if (places[pass][digit_of(from[0], pass)] == list->count)
            continue; /* all the same: hash bits that are not kept */
        sort_by_digit(from, to, list->count, pass, places[pass]);
        from = to;
        to = swapped;
    }
    list->entries = from;
    list->count = drop_doubles(from, list->count);
    free(places);
    free(to);
    return COLANDER_OK;
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
