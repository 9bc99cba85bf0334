/*
 * Resume point: how far a file was loaded. It is a mark of the family, written
 * in one batch with the rows before it.
 *
 * A file is identified by its absolute path. It is resumed if its first records
 * and the last bytes before the resume point are unchanged. The last bytes
 * alone may be those of any long record. A log that is followed has one resume
 * point, by its name, which may be in a file that it was rotated to.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_RESUME_POINT_H
#define LOADING_RESUME_POINT_H

#include "columns/runs.h"

#define RESUME_TAIL_MAX 4096
#define RESUME_SAMPLE_MAX ((size_t)256 << 10)

/* The first bytes of records, or the last bytes before a point. */
struct resume_point_bytes {
    size_t size;
    uint8_t bytes[RESUME_TAIL_MAX];
};

struct colander_load_files;

struct resume_point {
    uint64_t offset;      /* in the uncompressed bytes */
    uint64_t line;        /* that begins or continues there, from 1 */
    uint64_t line_offset; /* where that line begins */
    uint64_t row_count;
    uint64_t reject_count;
    uint64_t rejects_size; /* of the file of rejected records */
    uint64_t tail_hash;    /* of the last bytes before it */
    uint64_t tail_size;
    uint64_t head_hash;   /* of the first bytes of records before it */
    uint64_t head_size;   /* 0: unknown */
    uint64_t format;      /* enum record_format */
    uint64_t state;       /* of the splitter there */
    uint64_t inode;       /* of the file, a hint; 0: unknown */
    uint64_t sample_size; /* of CSV, bytes after the header that decided the
                           * kinds of columns */
    uint64_t id;          /* of a load whose records go elsewhere; 0: none */
    uint64_t spread;      /* of its sink, */
    uint64_t record_size; /* and the largest record */
    uint64_t size;        /* of the file, when it was opened, */
    uint64_t changed_ns;  /* and when it had been changed last */
    bool is_end;          /* the file ended there */

    /* The key of the first row of a bulk of version 0.1, which wrote its resume
     * points before its rows. Such a one counts only if that row exists. */
    size_t bulk_key_size;
    uint8_t bulk_key[COLANDER_KEY_SIZE_MAX];
};

/* Returns whether the members can be those of a resume point. */
bool resume_point_is_sound(const struct resume_point *point);

/* Appends `text` and keeps the last bytes. */
void resume_point_tail_append(struct resume_point_bytes *tail,
                              struct colander_slice text);

/* Appends `text` and keeps the first bytes. */
void resume_point_head_append(struct resume_point_bytes *head,
                              struct colander_slice text);

/* Notes the bytes before the point. */
void resume_point_set_tail(struct resume_point *point,
                           const struct resume_point_bytes *tail);

/* Notes the first bytes of records. */
void resume_point_set_head(struct resume_point *point,
                           const struct resume_point_bytes *head);

/* Returns whether the text begins with the first bytes of records. */
bool resume_point_has_head(const struct resume_point *point,
                           struct colander_slice text);

/* Returns whether the last bytes are those. */
bool resume_point_has_tail(const struct resume_point *point,
                           const struct resume_point_bytes *tail);

/* Sets `name` to the name of the mark for `file`. */
COLANDER_CHECKED enum colander_code
resume_point_name(const char *file, const struct colander_load_files *elsewhere,
                  struct colander_buffer *name, struct colander_error *err);

/* The same for a log, which need not exist at the moment. A link is not
 * resolved, as it may be another one later. */
COLANDER_CHECKED enum colander_code
resume_point_log_name(const char *file, struct colander_buffer *name,
                      struct colander_error *err);

/* Adds the mark to the run, or to the batch if `run` is NULL; NULL as `point`
 * removes the mark. */
COLANDER_CHECKED enum colander_code
resume_point_mark(const struct resume_point *point,
                  struct colander_batch *batch, struct colander_bulk *run,
                  struct colander_family *family, struct colander_slice name,
                  struct colander_error *err);

/* Reads the mark, if there is one. Fails with CORRUPT if it is not a resume
 * point. */
COLANDER_CHECKED enum colander_code
resume_point_read(struct resume_point *point, struct colander_family *family,
                  struct colander_slice name, bool *found,
                  struct colander_error *err);

#endif
