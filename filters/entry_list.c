/*
 * Entry lists: see entry_list.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/entry_list.h"

#include <stdlib.h>

#define ROW_BITS LOCATOR_ROW_BITS
#define ROW_MASK ((UINT64_C(1) << ROW_BITS) - 1)

/* The sort looks at tag and hash alone, as rows ascend already. */
#define DIGIT_BITS 12
#define DIGITS (1u << DIGIT_BITS)
#define PASSES                                                                 \
    ((LOCATOR_HASH_BITS + LOCATOR_TAG_BITS + DIGIT_BITS - 1) / DIGIT_BITS)

#define SEEN_BITS 12

/*
 * Values seen before, in little room, so that it stays in the nearest cache:
 * the entry noted last of each, in how many rows and units it was noted until
 * it was frequent, and then how its rows lie.
 */
struct entry_seen {
    uint64_t entries[1u << SEEN_BITS];
    uint8_t rows[1u << SEEN_BITS]; /* 0: none */
    uint8_t units[1u << SEEN_BITS];
};

/* In place of the number of rows. */
enum {
    SEEN_SPARSE = LOCATOR_SHORT_MAX + 1, /* every row is noted */
    SEEN_DENSE,                          /* the first of each coarse unit */
    SEEN_LEFT_OUT,                       /* and others there were met */
};

_Static_assert(SEEN_LEFT_OUT <= UINT8_MAX, "rows are counted in bytes");

enum colander_code
entry_list_init(struct entry_list *list, uint32_t hash_bits, uint32_t coarse,
                struct colander_error *err)
{
    memset(list, 0, sizeof(*list));
    list->hash_bits = hash_bits;
    list->coarse_shift = (unsigned)__builtin_ctz(coarse);
    list->seen = calloc(1, sizeof(*list->seen));
    if (list->seen == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    return COLANDER_OK;
}

void
entry_list_release(struct entry_list *list)
{
    free(list->entries);
    free(list->spare);
    free(list->seen);
    memset(list, 0, sizeof(*list));
}

void
entry_list_clear(struct entry_list *list)
{
    list->count = 0;
    memset(list->seen->rows, 0, sizeof(list->seen->rows));
}

static enum colander_code
grow(struct entry_list *list, struct colander_error *err)
{
    size_t capacity = list->capacity == 0 ? 1024 : 2 * list->capacity;
    uint64_t *entries = realloc(list->entries, capacity * sizeof(*entries));

    if (entries == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    free(list->spare);
    list->spare = NULL;
    list->entries = entries;
    list->capacity = capacity;
    return COLANDER_OK;
}

/* Whether the entry is to be noted: not when the row has the value already, nor
 * when its list will be one of coarse units and has this one. *entry is changed
 * to say that it was left out. */
static inline bool
is_new(struct entry_list *list, uint64_t *entry)
{
    const uint64_t value = *entry & ~ROW_MASK;
    size_t slot =
        (size_t)((value * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SEEN_BITS));
    uint64_t *seen = &list->seen->entries[slot];
    uint8_t *rows = &list->seen->rows[slot];
    uint8_t *units = &list->seen->units[slot];
    const uint64_t other = *seen ^ *entry; /* what differs */
    const bool is_same_unit = other >> list->coarse_shift == 0;

    if (*rows == 0 || other > ROW_MASK) {
        *seen = *entry;
        *rows = *units = 1;
        return true;
    }
    if (other == 0 || (is_same_unit && *rows == SEEN_LEFT_OUT))
        return false;
    if (is_same_unit && *rows == SEEN_DENSE) {
        *entry |= LOCATOR_ROW_LEFT_OUT;
        *rows = SEEN_LEFT_OUT;
        return true;
    }
    *seen = *entry;
    if (*rows < SEEN_SPARSE) {
        ++*rows;
        *units = (uint8_t)(*units + !is_same_unit);
        if (*rows == SEEN_SPARSE &&
            (SEEN_SPARSE > LOCATOR_DENSE * *units ||
             (*entry & ROW_MASK) < SEEN_SPARSE * LOCATOR_COMMON))
            *rows = SEEN_DENSE;
    }
    return true;
}

enum colander_code
entry_list_add(struct entry_list *list, uint64_t value_hash, unsigned tag,
               uint32_t row, struct colander_error *err)
{
    uint64_t entry = locator_entry(
        value_hash & ~UINT64_C(0) << (64 - list->hash_bits), tag, row);

    if (!is_new(list, &entry))
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

/* The kept bits of the hash and the tag, without the space between them. */
static inline uint64_t
sort_key(uint64_t entry, unsigned hash_bits)
{
    return entry >> (64 - hash_bits) << LOCATOR_TAG_BITS |
           (entry >> ROW_BITS & (LOCATOR_TAGS - 1));
}

static inline unsigned
digit_of(uint64_t key, unsigned pass)
{
    return (unsigned)(key >> pass * DIGIT_BITS) & (DIGITS - 1);
}

/* Moves `count` entries of `from` to `to`, in the order of one digit. */
static void
sort_by_digit(const uint64_t *from, uint64_t *to, size_t count,
              unsigned hash_bits, unsigned pass, uint32_t *places)
{
    uint32_t place = 0;

    for (unsigned digit = 0; digit < DIGITS; digit++) {
        uint32_t size = places[digit];

        places[digit] = place;
        place += size;
    }
    for (size_t i = 0; i < count; i++)
        to[places[digit_of(sort_key(from[i], hash_bits), pass)]++] = from[i];
}

/* Leaves out doubles, and puts what says that rows were left out behind the
 * rows of its value: it was noted among them. */
static size_t
tidy(uint64_t *entries, size_t count)
{
    uint64_t left_out = 0; /* of the value under way; 0: nothing */
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t entry = entries[i];

        if (left_out != 0 && (entry ^ left_out) > ROW_MASK) {
            entries[kept++] = left_out;
            left_out = 0;
        }
        if ((entry & ROW_MASK) == LOCATOR_ROW_LEFT_OUT)
            left_out = entry;
        else if (kept == 0 || entries[kept - 1] != entry)
            entries[kept++] = entry;
    }
    if (left_out != 0)
        entries[kept++] = left_out;
    return kept;
}

enum colander_code
entry_list_sort(struct entry_list *list, struct colander_error *err)
{
    uint32_t(*places)[DIGITS] = calloc(PASSES, sizeof(*places));
    uint64_t *from = list->entries;
    uint64_t *to = list->spare;

    if (to == NULL)
        to = list->spare = malloc((list->capacity | 1) * sizeof(*to));
    if (places == NULL || to == NULL) {
        free(places);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to build a filter");
    }
    for (size_t i = 0; i < list->count; i++) {
        uint64_t key = sort_key(from[i], list->hash_bits);

        for (unsigned pass = 0; pass < PASSES; pass++)
            places[pass][digit_of(key, pass)]++;
    }
    for (unsigned pass = 0; pass < PASSES && list->count > 0; pass++) {
        uint64_t *swapped = from;

        if (places[pass][digit_of(sort_key(from[0], list->hash_bits), pass)] ==
            list->count)
            continue; /* all the same: bits that are not kept */
        sort_by_digit(from, to, list->count, list->hash_bits, pass,
                      places[pass]);
        from = to;
        to = swapped;
    }
    list->entries = from;
    list->spare = to;
    list->count = tidy(from, list->count);
    free(places);
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
