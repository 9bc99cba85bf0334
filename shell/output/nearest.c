/* See nearest.h. SPDX-License-Identifier: MIT */
#include "shell/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define SIZE_MAX_COMPARED 64 /* bytes; longer names are never near */

static unsigned
least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool
is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Returns how many letters to insert, remove, replace or swap with the next one
 * to make one text of the other. */
static unsigned
distance_of(const char *a, size_t a_size, const char *b, size_t b_size)
{
    unsigned rows[3][SIZE_MAX_COMPARED + 1];
    unsigned *before = rows[0]; /* the last row but one */
    unsigned *last = rows[1];
    unsigned *row = rows[2];

    for (size_t j = 0; j <= b_size; j++)
        last[j] = before[j] = (unsigned)j;
    for (size_t i = 1; i <= a_size; i++) {
        unsigned *oldest = before;

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_size; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1,
                           last[j - 1] + !is_same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) &&
                is_same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_size];
}

/* Returns how many letters may differ: about a third. Of two, one may, but not
 * the first, or both may be swapped. */
static unsigned
limit_of(const char *wanted, const char *name, size_t size)
{
    if (size > 2)
        return (unsigned)size / 3;
    return is_same(wanted[0], name[0]) ||
           (is_same(wanted[0], name[1]) && is_same(wanted[1], name[0]));
}

void
nearest_offer(struct nearest *nearest, const char *name)
{
    const size_t wanted_size = strlen(nearest->wanted);
    const size_t size = strlen(name);
    unsigned distance;

    if (size > SIZE_MAX_COMPARED || wanted_size > SIZE_MAX_COMPARED ||
        size < 2 || wanted_size < 2)
        return;
    distance = distance_of(nearest->wanted, wanted_size, name, size);
    if (distance > limit_of(nearest->wanted, name, size) ||
        (nearest->name != NULL && distance >= nearest->distance))
        return;
    nearest->name = name;
    nearest->distance = distance;
}
