/*
 * Core: errors, bytes, options, and the engine that keeps bytes under keys.
 *
 * Most programs want columns.h, which keeps rows. They meet from here the
 * error, the slice, the buffer, the options and the snapshot; the engine is
 * for those who build a layer of their own.
 *
 * Life:    engine_open -> family_open -> batch, get, cursor -> close in any
 *          order, the engine last
 * Memory:  *owned* by X: X frees it. *Borrowed* until Y: do not free it, do
 *          not use it after Y. *Copied*: yours again on return. *Taken*: no
 *          longer yours, also when the call fails. A slice is always
 *          borrowed, a buffer always owned by whoever declared it.
 * Threads: engines, families and snapshots may be used by many threads at
 *          once; a buffer, batch or cursor by one thread at a time.
 * Knows:   bytes. Rows, columns and values are columns/'s business.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_H
#define COLANDER_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLANDER_API __attribute__((visibility("default")))
#define COLANDER_CHECKED __attribute__((warn_unused_result))
#define COLANDER_FORMAT(string, first)                                         \
    __attribute__((format(printf, string, first)))

/* The version of this library, "major.minor.patch". */
COLANDER_API const char *colander_version(void);

/* -------------------------------------------------------------- errors --- */

/* What went wrong, for programs. The values are part of the ABI. */
enum colander_code {
    COLANDER_OK = 0,
    COLANDER_INVALID = 1,    /* the caller broke a documented rule */
    COLANDER_NOT_FOUND = 2,  /* no such store or family */
    COLANDER_EXISTS = 3,     /* a store is where a new one was to be made */
    COLANDER_BUSY = 4,       /* held by another process, or still in use */
    COLANDER_READ_ONLY = 5,  /* a write to a store opened for reading */
    COLANDER_TOO_NEW = 6,    /* the store was written by a newer format */
    COLANDER_DROPPED = 7,    /* the family was dropped meanwhile */
    COLANDER_LIMIT = 8,      /* over a limit of limits.h; nothing was changed */
    COLANDER_CANCELLED = 9,  /* the caller asked the work to stop */
    COLANDER_CORRUPT = 10,   /* bytes on disk are not what we wrote */
    COLANDER_IO = 11,        /* the file system or the engine failed */
    COLANDER_NO_MEMORY = 12, /* an allocation failed; nothing was changed */
};

/*
 * What went wrong, for people. The storage belongs to the caller, so telling
 * of an error never allocates. Every function that takes one accepts NULL
 * from callers who only want the code. It is written on failure only.
 */
struct colander_error {
    enum colander_code code;
    const char *file; /* where it was noticed; static storage */
    int line;
    char message[600]; /* outermost context first, joined by ": " */
};

/* Fills `err` (if any) and returns `code`. */
COLANDER_API enum colander_code
colander_error_set(struct colander_error *err, enum colander_code code,
                   const char *file, int line, const char *format, ...)
    COLANDER_FORMAT(5, 6);

/* Puts "context: " before the message; of one too long, the context is cut. */
COLANDER_API void colander_error_context(struct colander_error *err,
                                         const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* The code as a word: "corrupt", "busy", ... */
COLANDER_API const char *colander_code_name(enum colander_code code);

/* Fill `err` and yield `code`, so that failing is one statement. (`code` is
 * written out twice, for those who read or analyse the call without the
 * function behind it.) */
#define COLANDER_FAIL(err, code, ...)                                          \
    colander_failed(                                                           \
        colander_error_set((err), (code), __FILE__, __LINE__, __VA_ARGS__),    \
        (code))

static inline enum colander_code
colander_failed(enum colander_code set, enum colander_code code)
{
    (void)set;
    return code;
}

/* --------------------------------------------------------------- bytes --- */

/* Bytes of somebody else. */
struct colander_slice {
    const uint8_t *data;
    size_t size;
};

static inline struct colander_slice
colander_slice_of(const void *data, size_t size)
{
    struct colander_slice slice = {(const uint8_t *)data, size};
    return slice;
}

/* The bytes of a C string, without its terminator. */
static inline struct colander_slice
colander_slice_text(const char *text)
{
    return colander_slice_of(text, strlen(text));
}

static inline bool
colander_slice_equal(struct colander_slice a, struct colander_slice b)
{
    return a.size == b.size &&
           (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Orders as memcmp, a prefix before what it begins: <0, 0 or >0. */
static inline int
colander_slice_compare(struct colander_slice a, struct colander_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

/* Bytes of our own, growing. Start with COLANDER_BUFFER_EMPTY. */
struct colander_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

#define COLANDER_BUFFER_EMPTY                                                  \
    {                                                                          \
        NULL, 0, 0                                                             \
    }

static inline struct colander_slice
colander_buffer_slice(const struct colander_buffer *buffer)
{
    return colander_slice_of(buffer->data, buffer->size);
}

/* Forgets the content, keeps the memory. */
static inline void
colander_buffer_clear(struct colander_buffer *buffer)
{
    buffer->size = 0;
}

/* Makes room for `size` more bytes: NO_MEMORY changes nothing. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_buffer_reserve(struct colander_buffer *buffer, size_t size,
                        struct colander_error *err);

/* Adds a copy of `size` bytes at the end; they may not be the buffer's own. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_buffer_append(struct colander_buffer *buffer, const void *data,
                       size_t size, struct colander_error *err);

/* Frees the memory; the buffer is empty and usable again. */
COLANDER_API void colander_buffer_release(struct colander_buffer *buffer);

/* ------------------------------------------------------------- options --- */

enum colander_open_mode {
    COLANDER_OPEN_OR_CREATE = 0,
    COLANDER_OPEN_EXISTING,  /* NOT_FOUND where no store is */
    COLANDER_OPEN_NEW,       /* EXISTS where a store is */
    COLANDER_OPEN_READ_ONLY, /* must exist; changes nothing on disk */
};

/* KEEP means: as the store has it, or the default when it is new. */
enum colander_compression {
    COLANDER_COMPRESSION_KEEP = 0,
    COLANDER_COMPRESSION_NONE,
    COLANDER_COMPRESSION_LZ4, /* default */
    COLANDER_COMPRESSION_ZSTD,
};

enum colander_compaction {
    COLANDER_COMPACTION_KEEP = 0,
    COLANDER_COMPACTION_LEVELED,   /* default: least space, steady reads */
    COLANDER_COMPACTION_UNIVERSAL, /* writes less, needs more space */
    COLANDER_COMPACTION_FIFO, /* drops its oldest rows beyond `fifo_size` */
};

/*
 * How a store is opened. Start from colander_options_init. What is under
 * "kept in the store" is written into it and need not be given again: 0
 * there means "as the store has it".
 */
struct colander_options {
    enum colander_open_mode mode;
    bool sync;                /* each write waits for the disk (false) */
    size_t cache_size;        /* blocks in memory, and as much again for
                               * blocks of filters (64 MiB) */
    size_t write_buffer_size; /* unflushed rows of all families (64 MiB) */
    uint32_t open_files_max;  /* descriptors for SST files (512) */
    uint32_t thread_count;    /* flush and compaction (0: the cores) */

    /* kept in the store */
    enum colander_compression compression; /* of SST blocks; new SSTs get it */
    enum colander_compaction compaction;   /* fixed when the store is made */
    uint32_t block_size; /* target bytes of a block (16 KiB); new SSTs get it */
    uint64_t sst_size;   /* target bytes of an SST (64 MiB); new SSTs get it */
    uint64_t fifo_size;  /* bytes that a FIFO family keeps (1 GiB) */
};

/* The defaults: they suit a laptop. */
COLANDER_API void colander_options_init(struct colander_options *options);

/* -------------------------------------------------------------- engine --- */

/* One open directory of key-value families. */
struct colander_engine;

/* A set of keys, each with a value; reference-counted. */
struct colander_engine_family;

/* A state of all families, unchanged by later writes; dropped ones are gone. */
struct colander_snapshot;

/*
 * Opens the store at `path` (copied). `options` NULL means the defaults. On
 * success *engine is the caller's to close; on failure it is NULL.
 * Says BUSY, with the process that holds the store, rather than wait.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_open(const char *path, const struct colander_options *options,
                     struct colander_engine **engine,
                     struct colander_error *err);

/*
 * Flushes every family and closes. While a family reference, batch, cursor or
 * snapshot is open it says BUSY and the engine stays open. Any other failure
 * still closes the engine and tells what is not in SST files yet: such
 * writes stand in the write-ahead log and come back at the next open.
 * NULL is allowed.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_close(struct colander_engine *engine,
                      struct colander_error *err);

/* What an open found in RocksDB's logs. */
struct colander_recovery {
    uint64_t dropped_size; /* bytes at the end of a log, from the first write
                            * on that is not whole: what a lost machine had not
                            * yet put on the disk, or damage that looks like it.
                            * 0: none */
    char dropped_file[32]; /* the log, or the first of two */
};

COLANDER_API void colander_engine_recovery(const struct colander_engine *engine,
                                           struct colander_recovery *recovery);

/* A backup that was made, or restored: see colander_store_backup. */
struct colander_backup {
    uint64_t number;        /* its directory is this, in six digits; 0: a store
                             * that was restored from, and is no backup */
    uint64_t file_count;    /* of the store */
    uint64_t size;          /* their bytes */
    uint64_t copied_count;  /* of these: not shared with the backup before */
    uint64_t copied_size;   /* their bytes */
    uint64_t removed_count; /* older backups that went */
};

/*
 * Makes a store at `path`, where there is none, of backup `number` (0: the
 * newest) in `directory`. That may be a store, too, which nobody has open for
 * writing: one backup by itself, say. All that was copied is read again and
 * checked: CORRUPT names the file that is damaged, and no store is made.
 * `restored` is filled; NULL is allowed.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_backup_restore(const char *directory, uint64_t number,
                        const char *path, struct colander_backup *restored,
                        struct colander_error *err);

/* The options in force, with what the store keeps filled in. */
COLANDER_API void colander_engine_options(const struct colander_engine *engine,
                                          struct colander_options *options);

/* The absolute path; borrowed until close. */
COLANDER_API const char *
colander_engine_path(const struct colander_engine *engine);

/* Names of families, in byte order. Release it. */
struct colander_names {
    char **names;
    size_t count;
};

COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_families(struct colander_engine *engine,
                         struct colander_names *names,
                         struct colander_error *err);

COLANDER_API void colander_names_release(struct colander_names *names);

/*
 * A reference to the family `name`. When there is none it is created, or,
 * without `create` or in a read-only store, NOT_FOUND is said. A name is 1 to
 * 255 bytes without control characters.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_family_open(struct colander_engine *engine, const char *name,
                            bool create, struct colander_engine_family **family,
                            struct colander_error *err);

/* Gives the reference back. NULL is allowed. */
COLANDER_API void
colander_engine_family_close(struct colander_engine_family *family);

/* Never reused within a store, unlike a name. */
COLANDER_API uint32_t
colander_engine_family_id(const struct colander_engine_family *family);

COLANDER_API const char *
colander_engine_family_name(const struct colander_engine_family *family);

/* Whether it was dropped since the reference was taken. */
COLANDER_API bool
colander_engine_family_is_dropped(const struct colander_engine_family *family);

/*
 * Deletes the family with all it holds. Waits for writes and flushes that are
 * under way and stops compactions; what comes later through any reference gets
 * DROPPED. Cursors that are open go on reading, and the files stay on disk
 * until the last of them and the last reference are closed. Snapshots do not
 * keep a family.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_family_drop(struct colander_engine_family *family,
                            struct colander_error *err);

/* Levels of SST files: a flush writes to the first, compactions move what is
 * there down. Each but the first holds a key in one file at most. */
#define COLANDER_LEVELS_MAX 7

struct colander_level_sizes {
    uint64_t sst_count;
    uint64_t sst_size; /* bytes */
};

/* Sizes of a family; estimates except for the SST figures. */
struct colander_family_sizes {
    uint64_t key_count;      /* an estimate: overwritten keys count twice */
    uint64_t sst_count;      /* SST files */
    uint64_t sst_size;       /* their bytes */
    uint64_t unflushed_size; /* memory for keys that no SST holds yet */
    struct colander_level_sizes levels[COLANDER_LEVELS_MAX];
};

COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_family_sizes(struct colander_engine_family *family,
                             struct colander_family_sizes *sizes,
                             struct colander_error *err);

/*
 * Gives keys that part the family into `count` + 1 runs of about as many bytes:
 * to look at some of it without reading all. They are keys that are there,
 * ascending, none the first; fewer where blocks or the memtable tell no better.
 * Replaces the content of keys[0] to keys[*found - 1].
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_family_spread(struct colander_engine_family *family,
                              struct colander_buffer *keys, size_t count,
                              size_t *found, struct colander_error *err);

/* Writes unflushed keys to SST files, and waits for it. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_family_flush(struct colander_engine_family *family,
                             struct colander_error *err);

/* Flushes, then rewrites all SST files into the fewest. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_family_compact(struct colander_engine_family *family,
                               struct colander_error *err);

/* ----------------------------------------------------------- snapshots --- */

/* On success *snapshot is the caller's to release, before the engine closes. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_snapshot_create(struct colander_engine *engine,
                         struct colander_snapshot **snapshot,
                         struct colander_error *err);

/* NULL is allowed. */
COLANDER_API void colander_snapshot_release(struct colander_snapshot *snapshot);

/* --------------------------------------------------------------- reads --- */

/*
 * Fills `value` with what stands under `key` in `snapshot` (NULL: now), or
 * empties it: *found tells. A missing key is an answer, not an error.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_get(struct colander_engine_family *family,
                    const struct colander_snapshot *snapshot,
                    struct colander_slice key, struct colander_buffer *value,
                    bool *found, struct colander_error *err);

/* The same for `count` keys at once, all of one state of the family. On failure
 * what `values` and `found` hold is not to be used. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_get_many(struct colander_engine_family *family,
                         const struct colander_snapshot *snapshot,
                         const struct colander_slice *keys, size_t count,
                         struct colander_buffer *values, bool *found,
                         struct colander_error *err);

/* Values that are read at once and held as the engine has them, without a copy.
 * Blocks of the cache stay in memory while their values are held, whatever the
 * size of the cache. By one thread at a time; not to outlive the engine. */
struct colander_engine_rows;

COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_rows_create(struct colander_engine_rows **rows,
                            struct colander_error *err);

/* NULL is allowed. */
COLANDER_API void
colander_engine_rows_destroy(struct colander_engine_rows *rows);

/* Replaces what is held by the values of `count` keys, all of one state of the
 * family. On failure nothing is held. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_engine_rows_read(
    struct colander_engine_rows *rows, struct colander_engine_family *family,
    const struct colander_snapshot *snapshot, const struct colander_slice *keys,
    size_t count, struct colander_error *err);

/* The value of key `index` of those read, borrowed until the next read; false:
 * there is none. */
COLANDER_API bool
colander_engine_rows_get(const struct colander_engine_rows *rows, size_t index,
                         struct colander_slice *value);

/* The memory that holding that value may take: its block's, or its own. */
COLANDER_API size_t colander_engine_rows_size(
    const struct colander_engine_rows *rows, size_t index);

/* Lets go of all values. */
COLANDER_API void colander_engine_rows_clear(struct colander_engine_rows *rows);

/* Walks the keys of one family in one state of it, in byte order. */
struct colander_engine_cursor;

struct colander_engine_cursor_options {
    const struct colander_snapshot *snapshot; /* NULL: now */
    struct colander_slice from;  /* first key; empty: the first there is */
    struct colander_slice until; /* first key beyond; empty: no bound */
    bool is_reverse;
    bool skips_cache; /* for long scans: blocks read do not displace others */
};

/* Copies what it needs of `options`. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_engine_cursor_open(
    struct colander_engine_family *family,
    const struct colander_engine_cursor_options *options,
    struct colander_engine_cursor **cursor, struct colander_error *err);

/*
 * Steps to the next key, the first time to the first. *key and *value are
 * borrowed until the next call; at the end *key is {NULL, 0}. A damaged file
 * is an error, never an early end.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_engine_cursor_next(
    struct colander_engine_cursor *cursor, struct colander_slice *key,
    struct colander_slice *value, struct colander_error *err);

/* NULL is allowed. */
COLANDER_API void
colander_engine_cursor_close(struct colander_engine_cursor *cursor);

/* -------------------------------------------------------------- writes --- */

/* Puts and deletes that happen together or not at all. */
struct colander_engine_batch;

/* When a write is acknowledged. */
enum colander_durability {
    COLANDER_AS_STORE = 0, /* as the option `sync` says */
    COLANDER_SYNC,         /* after it is on disk */
    COLANDER_NO_SYNC,      /* once the system has it: survives a dead process */
};

/* With `is_indexed`, colander_engine_batch_get sees what the batch holds. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_batch_create(struct colander_engine *engine, bool is_indexed,
                             struct colander_engine_batch **batch,
                             struct colander_error *err);

/* NULL is allowed. */
COLANDER_API void
colander_engine_batch_destroy(struct colander_engine_batch *batch);

/* Copies key and value. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_engine_batch_put(
    struct colander_engine_batch *batch, struct colander_engine_family *family,
    struct colander_slice key, struct colander_slice value,
    struct colander_error *err);

COLANDER_API COLANDER_CHECKED enum colander_code colander_engine_batch_delete(
    struct colander_engine_batch *batch, struct colander_engine_family *family,
    struct colander_slice key, struct colander_error *err);

/* As colander_engine_get, now, and as if the (indexed) batch were written. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_engine_batch_get(
    struct colander_engine_batch *batch, struct colander_engine_family *family,
    struct colander_slice key, struct colander_buffer *value, bool *found,
    struct colander_error *err);

/*
 * Writes the batch; on success it is empty again. DROPPED when one of its
 * families is gone, and then nothing of it was written.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_engine_batch_write(struct colander_engine_batch *batch,
                            enum colander_durability durability,
                            struct colander_error *err);

/* Bytes of the encoded batch; an index takes some more memory. */
COLANDER_API size_t
colander_engine_batch_size(const struct colander_engine_batch *batch);

/* Forgets what it holds. */
COLANDER_API void
colander_engine_batch_clear(struct colander_engine_batch *batch);

#ifdef __cplusplus
}
#endif

#endif
