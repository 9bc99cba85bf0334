/*
 * A binary heap in an array. The element that comes first is at index 0. After
 * a change of that element, or of `count`, heap_sift_down restores the order.
 *
 * `size` is the size of an element, HEAP_ELEMENT_MAX bytes at most: heaps hold
 * pointers or indexes. With a constant `size` and a function that the compiler
 * sees, the code is that of a heap written for the type.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_HEAP_H
#define COLANDER_CORE_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEAP_ELEMENT_MAX 16

/* Whether element `a` comes before element `b`. Gets pointers to both. */
typedef bool heap_is_before(const void *a, const void *b, const void *context);

/* Moves the element at index `at` down to its place. Requires that all below it
 * are in order. */
static inline void
heap_sift_down(void *elements, size_t size, size_t count, size_t at,
               heap_is_before *is_before, const void *context)
{
    uint8_t *bytes = (uint8_t *)elements;
    uint8_t moved[HEAP_ELEMENT_MAX];
    size_t child;

    assert(size <= sizeof(moved));
    if (at >= count)
        return;
    memcpy(moved, bytes + at * size, size);
    for (; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(bytes + (child + 1) * size,
                                           bytes + child * size, context))
            child++;
        if (!is_before(bytes + child * size, moved, context))
            break;
        memcpy(bytes + at * size, bytes + child * size, size);
    }
    memcpy(bytes + at * size, moved, size);
}

/* Moves the element at index `at` up to its place. Requires that all others are
 * in order. Adding an element is appending it and sifting it up. */
static inline void
heap_sift_up(void *elements, size_t size, size_t at, heap_is_before *is_before,
             const void *context)
{
    uint8_t *bytes = (uint8_t *)elements;
    uint8_t moved[HEAP_ELEMENT_MAX];

    assert(size <= sizeof(moved));
    memcpy(moved, bytes + at * size, size);
    for (; at > 0; at = (at - 1) / 2) {
        const uint8_t *parent = bytes + (at - 1) / 2 * size;

        if (!is_before(moved, parent, context))
            break;
        memcpy(bytes + at * size, parent, size);
    }
    memcpy(bytes + at * size, moved, size);
}

/* Orders `count` elements. */
static inline void
heap_build(void *elements, size_t size, size_t count, heap_is_before *is_before,
           const void *context)
{
    for (size_t at = count / 2; at-- > 0;)
        heap_sift_down(elements, size, count, at, is_before, context);
}

#endif
