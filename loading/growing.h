/*
 * Growing: a log that is read to its end and may get more lines, be rotated, or
 * be cut.
 *
 * Another file takes over once it has bytes: the program that writes the log
 * has opened it. The old file is over when it then is read to its end, and has
 * not grown for half a second, as several processes may write it.
 *
 * A file was cut if the first or the last bytes that were read are not where
 * they were. This is checked after each read, so nothing that was written after
 * a cut is taken for what comes next. Only whole lines are taken, until the
 * file is over: half a line may be the beginning of other lines, too. While the
 * log has the same bytes, the file is a copy of it that may not be complete:
 * then half a line at its end is not taken, and can be read from the log.
 *
 * It looks ten times a second. That costs a few system calls, and works on file
 * systems that report no changes, such as NFS.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_GROWING_H
#define LOADING_GROWING_H

#include "loading/log_files.h"
#include "loading/resume_point.h"

#define GROWING_WAIT_MS 100 /* between two looks */

struct growing {
    const char *log; /* the name that it is written under; borrowed */
    struct log_files files;
    struct resume_point_bytes head; /* the first bytes that were read */
    struct resume_point_bytes tail; /* the last bytes */
    uint64_t offset;                /* after them */
    size_t rest;                    /* bytes after that, of half a line */
    uint64_t still_since_us;        /* when it was last seen to grow */
    bool is_ending;  /* it is over unless there is more to read */
    bool takes_rest; /* it is over after that */
    bool is_cut;
};

enum growing_state {
    GROWING_READ,  /* bytes were read */
    GROWING_AGAIN, /* read again */
    GROWING_WAITS, /* read again in a while */
    GROWING_OVER,  /* the file has ended */
    GROWING_CUT,   /* the bytes that were read are not what comes next */
};

/* Begins with a file that was opened at its beginning. */
void growing_begin(struct growing *growing, const char *log);

void growing_release(struct growing *growing);

/* Moves on, without having read. */
void growing_skip(struct growing *growing, uint64_t size);

/* Returns how much to take of `bytes`, which were read into a space of `size`
 * bytes: whole lines. The rest is to be read again. */
size_t growing_take(struct growing *growing, struct colander_slice bytes,
                    size_t size);

/* Sets *state after `bytes` were taken from the file; none: at its end. */
COLANDER_CHECKED enum colander_code
growing_see(struct growing *growing, int file, struct colander_slice bytes,
            enum growing_state *state, struct colander_error *err);

/* Returns the size of the file, as far as it was seen. */
uint64_t growing_size(const struct growing *growing);

/* Returns whether a read would find no bytes. */
bool growing_would_wait(const struct growing *growing, int file);

#endif
