/*
 * Follow: which file of a log is read next.
 *
 * The place in a log is the resume point of its name: an inode, an offset, and
 * a hash of the last bytes before. The file of the place is the one with the
 * inode, or else the newest, that has these bytes there: the log itself, or
 * what it was renamed or copied to (log_files.h). It is read to its end, and
 * then each newer one, down to the log.
 *
 * Life: init -> {open -> read the source -> note} -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_FOLLOW_H
#define LOADING_FOLLOW_H

#include "loading/growing.h"
#include "loading/source.h"

struct follow {
    const char *log;           /* the name, borrowed */
    const atomic_bool *stops;  /* borrowed */
    struct growing growing;    /* of the open file */
    struct log_files files;    /* among which one is searched */
    struct log_files later;    /* the same after a search */
    struct colander_buffer at; /* path of the open file, a C string */
    struct input *last;        /* the file that was read to its end, until the
                                * next is known: so none gets its inode */
    uint64_t inode;            /* of the file that was open */
    uint64_t size;             /* of it that was seen, if it grows */
    bool is_over;              /* it was read to its end */
    bool has_begun;            /* a file was open */
};

void follow_init(struct follow *follow, const char *log,
                 const atomic_bool *stops);

void follow_release(struct follow *follow);

/*
 * Opens the file to read, and waits until there is something to read. `point`
 * is that of the log, or NULL; *resumes is whether the source begins there.
 * *is_lost is whether no file has the bytes before the point; then it begins
 * with the log. Fails with NOT_FOUND if there was no log to begin with.
 */
COLANDER_CHECKED enum colander_code
follow_open(struct follow *follow, const struct colander_load_options *options,
            const struct resume_point *point, struct source *source,
            bool *resumes, bool *is_lost, struct colander_error *err);

/* Notes how reading the source ended, and takes its input. Returns whether
 * following goes on: the file was read to its end, or was cut. */
bool follow_note(struct follow *follow, struct source *source,
                 enum colander_code code);

#endif
