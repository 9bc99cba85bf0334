/* See nearest.h. SPDX-License-Identifier: MIT */
#include "loading/nearest.h"

#include <ctype.h>
#include <stdio.h>

#define SIZE_MAX_COMPARED 64 /* of a name; longer ones are never near */

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be added, removed or replaced. */
static size_t
distance(struct colander_slice a, struct colander_slice b)
{
    size_t row[SIZE_MAX_COMPARED + 1];

    for (size_t k = 0; k <= b.size; k++)
        row[k] = k;
    for (size_t i = 0; i < a.size; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t k = 0; k < b.size; k++) {
            const size_t replaced =
                diagonal + (tolower(a.data[i]) != tolower(b.data[k]));

            diagonal = row[k + 1];
            row[k + 1] = least(replaced, 1 + least(row[k], row[k + 1]));
        }
    }
    return row[b.size];
}

struct nearest
nearest_of(struct colander_slice wanted)
{
    return (struct nearest){wanted, {NULL, 0}, 2 + wanted.size / 5};
}

void
nearest_try(struct nearest *nearest, struct colander_slice name)
{
    size_t found;

    if (name.size == 0 || name.size > SIZE_MAX_COMPARED ||
        nearest->wanted.size > SIZE_MAX_COMPARED)
        return;
    found = distance(nearest->wanted, name);
    if (found < nearest->distance && found < nearest->wanted.size) {
        nearest->distance = found;
        nearest->name = name;
    }
}

const char *
nearest_hint(const struct nearest *nearest, char hint[NEAREST_HINT_SIZE])
{
    hint[0] = '\0';
    if (nearest->name.size > 0)
        (void)snprintf(hint, NEAREST_HINT_SIZE, ": did you mean '%.*s'?",
                       (int)nearest->name.size,
                       (const char *)nearest->name.data);
    return hint;
}
