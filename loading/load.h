/*
 * Load: files of records, read into a family.
 *
 * JSON, JSON lines, CSV, TSV and msgpack, plain or compressed with gzip or
 * zstd, are parsed by several threads. Rows are written in the order of the
 * file. A record that cannot be read does not stop a load: it is rejected,
 * reported, and can be kept in a file. Only a JSON file with a broken string or
 * bracket, or with text after its array, ends the load there.
 *
 * Each batch of rows is written with the resume point after it. A load that
 * was stopped in any way can be resumed: no record is lost, none is written
 * twice.
 *
 * This header belongs to a separate library, libcolander-load (pkg-config:
 * colander-load, CMake: colander::load).
 *
 * Life:    colander_load_options_init -> colander_load_create -> run -> stats
 *          -> destroy
 * Threads: a load is used by one thread, which also runs the callbacks;
 *          any thread or signal handler may call colander_load_cancel
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_LOAD_H
#define COLANDER_LOAD_H

#include "columns/columns.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- schemas --- */

/*
 * How records of a known kind are read: key columns, types, times, nulls. A
 * schema does not restrict what records may contain: a record that does not
 * fit is stored as it is.
 */
struct colander_schema;

/*
 * Opens a schema. `name_or_path` is a path if it has a slash in it or ends with
 * .lua, else the name of a schema that the library knows. *schema is owned by
 * the caller. Fails with NOT_FOUND or IO if the file cannot be read, and with
 * INVALID, file and line if it is not a schema.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_schema_open(const char *name_or_path, struct colander_schema **schema,
                     struct colander_error *err);

struct colander_load_files;

/* Opens it as colander_schema_open does, but from files that are elsewhere;
 * NULL: from the file system. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_schema_open_elsewhere(
    const char *name_or_path, const struct colander_load_files *elsewhere,
    struct colander_schema **schema, struct colander_error *err);

/* Opens the schema that a text is. Fails as colander_schema_open does, with
 * `name` in place of a file. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_schema_open_text(const char *name, struct colander_slice text,
                          struct colander_schema **schema,
                          struct colander_error *err);

/* Creates a schema that says nothing. *schema is owned by the caller. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_schema_create(struct colander_schema **schema,
                       struct colander_error *err);

/*
 * Sets the type of the column at `path`: "string", "integer", "number",
 * "boolean", "time", "time:" and a format such as "time:%d.%m.%Y", or "guess".
 * docs/schemas.md describes them. Replaces the type that the schema gives the
 * column. Fails with INVALID if path, type or format is wrong.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_schema_set_type(struct colander_schema *schema, const char *path,
                         const char *type, struct colander_error *err);

/* Returns the text of a schema that was opened, borrowed until close; empty for
 * one that was created. */
COLANDER_API struct colander_slice
colander_schema_text(const struct colander_schema *schema);

/* Returns the path of its key column `index`, NULL after the last. Borrowed
 * until close. */
COLANDER_API const char *
colander_schema_key(const struct colander_schema *schema, size_t index);

/* Returns the path of its time column, NULL if it has none. Borrowed until
 * close. */
COLANDER_API const char *
colander_schema_time(const struct colander_schema *schema);

/* Frees the schema. NULL is allowed. */
COLANDER_API void colander_schema_close(struct colander_schema *schema);

/* Returns the name of the schema `index` that the library knows, NULL after the
 * last. */
COLANDER_API const char *colander_schema_known(size_t index);

/* --------------------------------------------------------------- loads --- */

/* What happens to a record whose key already has a row. */
enum colander_load_duplicates {
    COLANDER_LOAD_REPLACE = 0, /* it replaces the row */
    COLANDER_LOAD_KEEP = 1,    /* the row stays and the record is counted */
    COLANDER_LOAD_PATCH = 2,   /* its columns are merged into the row */
    COLANDER_LOAD_REJECT = 3,  /* the row stays and the record is rejected */
};

/* How far a load is, and how it went. Later versions may append members. */
struct colander_load_stats {
    const char *file;    /* being loaded; NULL before the first */
    uint64_t bytes_read; /* of the files as they are on disk */
    uint64_t bytes_all;  /* of all files; 0 if unknown, as for pipes */
    uint64_t text_size;  /* bytes of the records read, uncompressed */
    uint64_t row_count;  /* rows written, or about to be */
    uint64_t kept_count; /* records dropped because their key had a row */
    uint64_t reject_count;
    uint64_t files_skipped;  /* loaded completely before */
    uint64_t bulk_rows;      /* of a bulk: rows in their final files, */
    uint64_t bulk_all;       /* of this many; 0 while files are being read */
    bool knows_new;          /* the two below are known, of all rows: */
    uint64_t new_count;      /* rows whose key had none */
    uint64_t replaced_count; /* rows that replaced or patched another, also of
                              * this load; a bulk does not count them as rows */
    bool is_damaged;         /* the load failed as the compressed file is */
    uint64_t family_count;   /* families that rows went to, of a partition */
    uint64_t patch_count;   /* of a stream: patches, which count as rows, and */
    uint64_t delete_count;  /* deletes, which do not; */
    uint64_t retain_count;  /* and records that retain, by which */
    uint64_t expired_count; /* rows were deleted */
};

/* Where a record of a stream is. */
struct colander_load_place {
    const char *topic; /* borrowed until the load is destroyed */
    int32_t partition;
    int64_t offset;
    int64_t time_ms; /* of the record, since 1970 */
};

/* What a record of a stream does with the row of its key. */
enum colander_load_operation {
    COLANDER_LOAD_OPERATION_PUT = 0, /* as `duplicates` says */
    COLANDER_LOAD_OPERATION_PATCH,   /* its columns are merged into the row */
    COLANDER_LOAD_OPERATION_DELETE,  /* it has the columns of the key */
    COLANDER_LOAD_OPERATION_RETAIN,  /* of all rows, by those before it: deletes
                                      * the old ones. It is JSON, {"time": a
                                      * column, "before": a time} */
    COLANDER_LOAD_OPERATION_ROW,     /* puts a row as it is stored: it is
                                      * msgpack, with the key as _key */
};

/* A record of a stream. */
struct colander_load_record {
    struct colander_load_place place;
    struct colander_slice value;
    bool is_null; /* it has no value: the rows whose key has one part, with the
                   * text `key`, are deleted */
    struct colander_slice key;
    enum colander_load_operation operation;
    const char *fault; /* it is rejected for this reason; NULL: it is not */
};

/* A record that was rejected. Borrowed until the callback returns. */
struct colander_load_reject {
    const char *file;
    uint64_t line;   /* of the byte at fault, from 1 */
    uint64_t column; /* in bytes, from 1 */
    const char *reason;
    bool lacks_key; /* the reason is that a key column is missing */
    const struct colander_load_place *place; /* of a stream, whose records have
                                              * one line; NULL: of a file */
};

/* What became of an item of the format elasticsearch. */
enum colander_load_outcome {
    COLANDER_LOAD_CREATED,
    COLANDER_LOAD_UPDATED, /* by an index, which replaces, or an update */
    COLANDER_LOAD_DELETED,
    COLANDER_LOAD_MISSING, /* there is no row to update or delete */
    COLANDER_LOAD_EXISTS,  /* there is a row already */
    COLANDER_LOAD_INVALID,
};

/* Such an item. Borrowed until the callback returns. */
struct colander_load_item {
    const char *action; /* index, create, update or delete */
    struct colander_slice family;
    struct colander_slice id; /* its key as text; empty: unknown */
    enum colander_load_outcome outcome;
    const char *reason; /* why it was rejected; NULL: it was not */
};

/* A column that a load adds to each record. */
struct colander_load_column {
    const char *path;            /* of one name */
    struct colander_value value; /* null, a boolean, number, string or time */
};

/*
 * Files that are not in the file system, such as the body of a request. Several
 * threads of a load may call the functions at once. Their failures are those of
 * the load.
 */
struct colander_load_files {
    void *context;

    /* Sets *size to the bytes of the file, or to UINT64_MAX if it is a pipe,
     * which is read once. Sets *path to the name of its resume point, which the
     * load frees. */
    enum colander_code (*look)(void *context, const char *file, uint64_t *size,
                               char **path, struct colander_error *err);

    /* Reads up to `size` bytes at `offset`; of a pipe, this is where the last
     * read ended. Sets *is_end after the last byte. May return with nothing
     * after a tenth of a second, as the load may have been cancelled. */
    enum colander_code (*read)(void *context, const char *file, uint64_t offset,
                               void *data, size_t size, size_t *got,
                               bool *is_end, struct colander_error *err);

    /* Whether a read of a pipe would wait. */
    bool (*would_wait)(void *context, const char *file);

    /* Opens the file of rejects and cuts it to *size bytes, or sets *size to
     * what it has. NULL: there can be none. */
    enum colander_code (*cut)(void *context, const char *file, uint64_t *size,
                              struct colander_error *err);

    /* Appends to it. */
    enum colander_code (*append)(void *context, const char *file,
                                 struct colander_slice bytes,
                                 struct colander_error *err);
};

/*
 * Records that come one by one from elsewhere, such as those of a topic of
 * Kafka. A thread of the load calls the functions. Marks of the family that say
 * how far the stream was read are written together with the rows, so that each
 * record has its effect once.
 */
struct colander_load_stream {
    void *context;

    /* Waits up to `wait_ms` for a record. *found: there is one, borrowed until
     * the next call. *is_end: there are no more. A failure is that of the load,
     * after the records before it were written. */
    enum colander_code (*next)(void *context, unsigned wait_ms,
                               struct colander_load_record *record, bool *found,
                               bool *is_end, struct colander_error *err);

    /* Passes on a mark that is to be written together with the records since
     * the last marks, borrowed until the next call. *found is false after the
     * last. */
    enum colander_code (*mark)(void *context, struct colander_slice *name,
                               struct colander_slice *value, bool *found,
                               struct colander_error *err);

    /* Whether many records wait, so that rows may appear later, if they then
     * cost less: as those of a large load. Any thread. */
    bool (*is_behind)(void *context);

    /* Gets the rejected records, borrowed. The key is {topic, partition,
     * offset}, so that one which is read again is the same row. */
    struct colander_family *rejects;

    /* A record is rejected if its key is not the text of the first N parts of
     * its row's key (colander_load_partition_key), as rows with one key may
     * then be in several partitions. This is N. 0: any key may be. */
    size_t partition_by;
};

/*
 * Where records go instead of into a family, which then keeps only how far each
 * file was loaded. The thread that runs the load calls the functions; their
 * failures are those of the load.
 */
struct colander_load_sink {
    void *context;

    /* What decides, beside the file, which records it has and where they go. */
    uint64_t spread;

    /* What records are sent for: PUT, PATCH or DELETE. Of the last two, those
     * without a key are rejected. */
    enum colander_load_operation operation;

    /* Begins a file, or continues it: with the same id, if neither `spread` nor
     * the file has changed, so that what is put again is what it was. (Or less,
     * if the options have a smaller record_size now.) */
    enum colander_code (*begin)(void *context, uint64_t id,
                                struct colander_error *err);

    /* Takes a record, which begins at byte `at` of the file, uncompressed: the
     * bytes of JSON or msgpack, or of another format a JSON object, unless the
     * sink has a format. The key is that of a row; empty: the record has none.
     * What was taken and is not acknowledged may be put again by a resumed
     * load. */
    enum colander_code (*put)(void *context, uint64_t at,
                              struct colander_slice key,
                              struct colander_slice record,
                              struct colander_error *err);

    /* Sets *at to where the last record of the file begins up to which all are
     * acknowledged, if there is *any. If it `waits`, after all records. */
    enum colander_code (*acknowledged)(void *context, bool waits, bool *any,
                                       uint64_t *at,
                                       struct colander_error *err);

    const char *format; /* that records are put in, json or msgpack; NULL: any
                         * of both */
};

/*
 * Start from colander_load_options_init. Everything that the members point to
 * is borrowed until the load is destroyed. Later versions may append members.
 */
struct colander_load_options {
    size_t struct_size; /* set by colander_load_options_init */

    const struct colander_schema *schema; /* NULL: none */
    const char *const *key; /* columns that make the key; if not empty, they */
    size_t key_count;       /* replace those of the schema. COLANDER_LOAD_HASH
                             * alone: a hash of the record */
    const char *const
        *nulls;        /* CSV: texts that are null, such as "NA", added */
    size_t null_count; /* to those of the schema */
    char delimiter;    /* CSV; 0: as the schema or the file says */
    bool guesses;      /* CSV: guess types; false: columns without a type
                        * are strings (true) */

    const char *format; /* jsonl, json, csv, tsv, msgpack, influx or
                         * elasticsearch; NULL: guessed from name and content */
    enum colander_load_duplicates duplicates; /* (COLANDER_LOAD_REPLACE) */
    const char *rejects;  /* path of a file for rejected records; NULL: none */
    uint64_t rejects_max; /* stop after more (UINT64_MAX) */
    size_t record_size;   /* largest record in bytes, 1 KiB to 32 MiB (8 MiB) */
    bool resumes;         /* continue where an earlier load stopped (false) */
    bool is_bulk; /* sort rows and show all at once, in a family without rows
                   * (false) */

    /* Called by the thread that runs the load, each may be NULL: for each
     * rejected record, and about ten times a second. */
    void (*report_reject)(void *context,
                          const struct colander_load_reject *reject);
    void (*report_progress)(void *context,
                            const struct colander_load_stats *stats);
    void *context;

    /* Columns that are added; they may be part of the key. A record that has
     * one already is rejected, a CSV file is refused. */
    const struct colander_load_column *added;
    size_t added_count;
    const char *file_name_column; /* gets the name of the file, without folder
                                   * and endings such as .csv.gz; NULL: none */

    /* Follow the file, which is one of lines of JSON or CSV: wait until it
     * exists, and load the lines that are appended, also after it was rotated,
     * until the load is cancelled. Continues where an earlier load stopped; if
     * that place is lost, calls report_lost (NULL: nothing), and begins with
     * the file. */
    bool follows; /* (false) */
    void (*report_lost)(void *context, const char *file);

    const struct colander_load_files *elsewhere; /* NULL: the file system */
    bool syncs; /* what was loaded is on the disk, and not only in the log,
                 * once the load has ended (false) */
    bool items_name_families; /* elasticsearch: an item that names no family is
                               * rejected, and not for that of the load (false)
                               */

    /* The column of the times by which rows are in families. The family of the
     * load is then one whose name is a pattern, see partitions.h; the others
     * are created when they are needed, at most 1,000 by one load, or in an
     * hour of one that follows. A record without a TIMESTAMP there is rejected.
     * NULL: all rows are in one family. */
    const char *partition;

    /* influx: the unit of times: ns, us, ms, s, m or h; NULL: ns */
    const char *precision;

    /* elasticsearch: items say what is done, also to other families than the
     * load's. Each is reported, in order, by the thread that runs the load
     * (NULL: nothing is). */
    void (*report_item)(void *context, const struct colander_load_item *item);

    /* Load a stream, of JSON or msgpack (format; NULL: jsonl), instead of
     * files. A record without a key has {time, topic, partition, offset}. NULL:
     * load files. */
    const struct colander_load_stream *stream;

    const struct colander_load_sink *sink; /* NULL: records become rows */

    /* Asked before a run of a large load, or a bulk, takes some 100 MB; and
     * told that they are free again. Without them rows go in batches, and a
     * bulk fails with BUSY. NULL: there is enough memory. */
    bool (*take_memory)(void *context);
    void (*give_memory)(void *context);
};

/* The key is a hash of the columns that the record itself has, so that a record
 * which is loaded again is the same row. */
#define COLANDER_LOAD_HASH ":hash"

/* Sets *retains to whether a record of a stream has begun to delete old rows
 * and not ended, although the mark after it is there: so a little of what that
 * mark says is not done yet. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_load_retains(struct colander_family *family, bool *retains,
                      struct colander_error *err);

/* Appends the text of the first `part_count` parts of a row's key, or of all if
 * it has fewer, by which a record has its partition: of one the string or the
 * bytes that it is, or else its JSON, of several an array of JSON. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_load_partition_key(struct colander_slice key, size_t part_count,
                            struct colander_buffer *text,
                            struct colander_error *err);

/* Sets the defaults. */
static inline void
colander_load_options_init(struct colander_load_options *options)
{
    memset(options, 0, sizeof(*options));
    options->struct_size = sizeof(*options);
    options->guesses = true;
    options->rejects_max = UINT64_MAX;
    options->record_size = (size_t)8 << 20;
}

/* Checks options of a load, as colander_load_create does. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_load_options_check(const struct colander_load_options *options,
                            struct colander_error *err);

struct colander_load;

/*
 * Creates a load into `family` of `store`; both are borrowed until the load is
 * destroyed. `options` (NULL: the defaults) are copied. If the family does not
 * exist yet, it gets the filter options of the schema. Fails with INVALID if
 * the options are wrong, or if the family's name is a pattern and there is no
 * column for its times, or the other way round.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_load_create(struct colander_store *store,
                     struct colander_family *family,
                     const struct colander_load_options *options,
                     struct colander_load **load, struct colander_error *err);

/*
 * Loads the files, one after another; "-" is standard input. Of a stream, the
 * one name is what errors call it. Requires that the load was not run before. A
 * load that follows has one file, and runs until it is cancelled or fails. What
 * was written before a failure stays, except of a bulk, which writes all rows
 * or none. Fails with CANCELLED after a cancel, and with LIMIT if more than
 * `rejects_max` records were rejected.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_load_run(struct colander_load *load, const char *const *files,
                  size_t file_count, struct colander_error *err);

/* Makes the run stop after the current batch. Has no effect afterwards. Safe
 * in signal handlers. */
COLANDER_API void colander_load_cancel(struct colander_load *load);

/* Returns how the load is going or went. Valid until it is destroyed. */
COLANDER_API const struct colander_load_stats *
colander_load_stats(const struct colander_load *load);

/* A column of CSV without a type whose fields were read as values of several
 * types. Borrowed until the load is destroyed. */
struct colander_load_mixed {
    const char *path;
    uint64_t integer_count;
    uint64_t double_count; /* numbers that are not integers */
    uint64_t boolean_count;
    uint64_t string_count;
    const char *missing; /* all the strings, if they are one text that often
                          * means a missing value, such as NA; else NULL */
};

/* Returns such a column, the next one from *at on, and moves *at after it: 0
 * at first. Returns false after the last. Requires that the load does not run.
 */
COLANDER_API bool colander_load_mixed(struct colander_load *load, size_t *at,
                                      struct colander_load_mixed *mixed);

/* A column with a type that has values which are not of it, and so stay as they
 * are. Borrowed until the load is destroyed. */
struct colander_load_misfit {
    const char *path;
    const char *type;      /* its name in colander_schema_set_type */
    uint64_t value_count;  /* that are not null, of which */
    uint64_t misfit_count; /* are not of the type */
    const char *example;   /* the first of these as JSON, cut if it is long, */
    const char *file;      /* and where it is, */
    uint64_t line;         /* from 1 */
};

/* Returns such a column, as colander_load_mixed does. */
COLANDER_API bool colander_load_misfit(struct colander_load *load, size_t *at,
                                       struct colander_load_misfit *misfit);

/* Frees the load. NULL is allowed. */
COLANDER_API void colander_load_destroy(struct colander_load *load);

#ifdef __cplusplus
}
#endif

#endif
