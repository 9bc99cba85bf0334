/*
 * Arrays that grow: elements, count and capacity, which the caller keeps. And
 * searches in arrays that are in order.
 *
 *     struct list {
 *         struct item *items;
 *         size_t count;
 *         size_t capacity;
 *     };
 *
 *     code = array_reserve(&list->items, list->count, &list->capacity, 1, err);
 *     if (code != COLANDER_OK)
 *         return code;
 *     list->items[list->count++] = item;
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ARRAY_H
#define COLANDER_CORE_ARRAY_H

#include "core/core.h"

#include <stdlib.h>

/*
 * Makes room for `more` elements after the first `count`. `elements` is the
 * address of a pointer to the elements, `capacity` the address of their size_t
 * capacity; both start as NULL and 0. The capacity at least doubles, so adding
 * one by one takes amortized constant time. Moves the elements. NO_MEMORY
 * changes nothing. The array is released with free.
 */
#define array_reserve(elements, count, capacity, more, err)                    \
    array_reserve_sized((elements), sizeof(**(elements)), (count), (capacity), \
                        (more), (err))

/* The same. `elements` points to a pointer to elements of `size` bytes. */
COLANDER_CHECKED static inline enum colander_code
array_reserve_sized(void *elements, size_t size, size_t count, size_t *capacity,
                    size_t more, struct colander_error *err)
{
    const size_t count_max = SIZE_MAX / 4 / size;
    size_t larger = 2 * *capacity + 8;
    void *grown = NULL;

    if (more <= *capacity - count)
        return COLANDER_OK;
    if (larger < count + more)
        larger = count + more;
    memcpy(&grown, elements, sizeof(grown));
    if (more <= count_max && larger <= count_max)
        grown = realloc(grown, larger * size);
    else
        grown = NULL;
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for %zu elements of %zu bytes", larger,
                             size);
    memcpy(elements, &grown, sizeof(grown));
    *capacity = larger;
    return COLANDER_OK;
}

/*
 * Sets `place`, a size_t, to the number of the first elements, of `count`, that
 * come before something: those for which `is_before` is true, an expression
 * that contains `place` as the index of an element.
 *
 *     array_search(place, list->count, list->items[place].number < number);
 */
#define array_search(place, count, is_before)                                  \
    do {                                                                       \
        size_t low_ = 0;                                                       \
        size_t high_ = (count);                                                \
                                                                               \
        while (low_ < high_) {                                                 \
            (place) = low_ + (high_ - low_) / 2;                               \
            if (is_before)                                                     \
                low_ = (place) + 1;                                            \
            else                                                               \
                high_ = (place);                                               \
        }                                                                      \
        (place) = low_;                                                        \
    } while (0)

#endif
