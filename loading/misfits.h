/*
 * Misfits: how many values of columns with a type are not of that type. They
 * stay as they are; nulls are not counted.
 *
 * Life:    zeros -> see* -> add to a sum -> release
 * Threads: one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_MISFITS_H
#define LOADING_MISFITS_H

#include "loading/load.h"
#include "loading/typed_value.h"

struct misfit {
    const struct value_reading *reading; /* borrowed; NULL: none was seen */
    uint64_t value_count;
    uint64_t misfit_count;
    uint64_t line;                  /* of the first; 0: not known yet */
    struct colander_buffer example; /* the first: JSON, as a C string */
    struct colander_buffer file;    /* where it is: a C string; of a sum */
};

struct misfits {
    struct misfit *items; /* owned, by the numbers of the readings */
    size_t count;
    size_t capacity;
    bool lacks_line; /* of an item */
};

void misfits_release(struct misfits *misfits);

/* Makes room for the reading. Returns false without memory. */
bool misfits_reach(struct misfits *misfits,
                   const struct value_reading *reading);

/* Counts a value that is not of its type. */
void misfits_note(struct misfits *misfits, struct misfit *misfit,
                  const struct colander_value *value);

/* Counts a value as it is stored. Without memory it counts nothing. `misfits`
 * may be NULL. */
static inline void
misfits_see(struct misfits *misfits, const struct value_reading *reading,
            const struct colander_value *value)
{
    struct misfit *misfit;

    if (misfits == NULL || value->type == COLANDER_NULL ||
        (reading->number >= misfits->count && !misfits_reach(misfits, reading)))
        return;
    misfit = &misfits->items[reading->number];
    misfit->reading = reading;
    misfit->value_count++;
    if (!value_type_fits(reading->type, value->type))
        misfits_note(misfits, misfit, value);
}

/* Sets the line of the values that were noted since the last call. */
void misfits_set_line(struct misfits *misfits, uint64_t line);

/* Adds those of a file, or of a part of it, to a sum. */
void misfits_add(struct misfits *sum, const struct misfits *misfits,
                 const char *file);

/* Returns the next column at or after *at that has any, and moves *at after it.
 * Returns false after the last. */
bool misfits_next(const struct misfits *misfits, size_t *at,
                  struct colander_load_misfit *misfit);

#endif
