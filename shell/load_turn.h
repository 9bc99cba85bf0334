/*
 * Load turns: loads that run in this process, for clients or beside them.
 *
 * One that resumes waits for those of the same files into the same family: if
 * its client was killed, a load may not have ended yet, and what it still
 * writes would be loaded twice. All share one budget of memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LOAD_TURN_H
#define SHELL_LOAD_TURN_H

#include <stdbool.h>
#include <stddef.h>

struct colander_load_files;

struct load_turn {
    struct load_turn *next;
    const char *family; /* borrowed until the turn ends, as are the files */
    const char *const *files;
    size_t file_count;
    const struct colander_load_files *client; /* that has them, borrowed; NULL:
                                               * this process; it never waits */
};

/* Begins the turn of a load; if it `waits`, after those before it. Returns
 * false if it was interrupted. To be ended in any case. */
bool load_turn_begin(struct load_turn *turn, bool waits);

void load_turn_end(struct load_turn *turn);

/* Takes the memory for a run or a bulk, some 100 MB, of what all loads of this
 * process may hold: LOAD_TURN_LARGE_MAX have it at once. Returns false if none
 * is left. */
#define LOAD_TURN_LARGE_MAX 4
bool load_turn_take_memory(void *context);
void load_turn_give_memory(void *context);

#endif
