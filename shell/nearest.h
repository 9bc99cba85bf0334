/*
 * Nearest: which of some names may have been meant by a misspelled one.
 *
 * Life:   {.wanted = text} -> offer, for each name -> name
 * Memory: both texts are borrowed
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_NEAREST_H
#define SHELL_NEAREST_H

struct nearest {
    const char *wanted;
    const char *name;  /* the best so far; NULL: none is near */
    unsigned distance; /* letters to change in it */
};

/* Takes `name` if it is nearer than all before. Case does not matter. A name is
 * near if about a third of its letters or fewer differ; of two letters, the
 * second may, or they may be swapped. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
