/*
 * Core: errors, bytes and options, the words that all other headers use.
 *
 * Memory:  Every pointer that crosses a function is one of four kinds.
 *          *Owned*: the owner frees it. *Borrowed* until an event: do not free
 *          it, and do not use it after the event. *Copied*: the callee keeps a
 *          copy. *Taken*: the callee owns it from then on, even if the call
 *          fails. A slice is always borrowed. A buffer is always owned by the
 *          code that declared it.
 * Structs: A struct that may grow in later versions begins with `struct_size`,
 *          set by its init function. A program keeps working with a newer
 *          library without being compiled again.
 * Ends:    An iteration has one shape everywhere. `next` returns a code and
 *          sets a bool: true with the next item, false at the end.
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

/* Returns the version of this library, "major.minor.patch". */
COLANDER_API const char *colander_version(void);

/* -------------------------------------------------------------- errors --- */

/* What went wrong, for programs. The values are part of the ABI. */
enum colander_code {
    COLANDER_OK = 0,
    COLANDER_INVALID = 1,    /* the caller broke a documented rule */
    COLANDER_NOT_FOUND = 2,  /* no such store or family */
    COLANDER_EXISTS = 3,     /* a store exists where a new one was requested */
    COLANDER_BUSY = 4,       /* locked by another process, or still in use */
    COLANDER_READ_ONLY = 5,  /* a write to a store opened read-only */
    COLANDER_TOO_NEW = 6,    /* the store has a newer format */
    COLANDER_DROPPED = 7,    /* the family was dropped */
    COLANDER_LIMIT = 8,      /* over a limit of limits.h; nothing was changed */
    COLANDER_CANCELLED = 9,  /* the caller cancelled the call */
    COLANDER_CORRUPT = 10,   /* bytes on disk are not what was written */
    COLANDER_IO = 11,        /* the file system failed */
    COLANDER_NO_MEMORY = 12, /* an allocation failed; nothing was changed */
};

/* What went wrong, for people. The caller provides the storage, so reporting an
 * error never allocates. Functions that take one accept NULL. They write it
 * only if they fail. */
struct colander_error {
    enum colander_code code;
    const char *file; /* where it was detected; static storage */
    int line;
    char message[600]; /* outermost context first, joined by ": " */
};

/* Fills `err`, unless it is NULL, and returns `code`. */
COLANDER_API enum colander_code
colander_error_set(struct colander_error *err, enum colander_code code,
                   const char *file, int line, const char *format, ...)
    COLANDER_FORMAT(5, 6);

/* Prepends "context: " to the message. If both do not fit, the context is
 * truncated. */
COLANDER_API void colander_error_context(struct colander_error *err,
                                         const char *format, ...)
    COLANDER_FORMAT(2, 3);

/* What messages have for the path of a directory that means nothing to
 * users, as it is temporary. */
struct colander_error_name {
    const char *path; /* of the directory, borrowed */
    /* Writes a C string of at most `size` bytes, which stands for a file below
     * it, or for the directory if the name is empty. */
    void (*write)(void *context, const char *file, char *text, size_t size);
    void *context;
    struct colander_error_name *next; /* is set */
};

/* Makes messages of errors, in any thread, name what is below the path so.
 * Borrows the name until it is removed. */
COLANDER_API void colander_error_name_add(struct colander_error_name *name);

/* Does nothing if it was not added. */
COLANDER_API void colander_error_name_remove(struct colander_error_name *name);

/* Returns the code as a word: "corrupt", "busy", ... */
COLANDER_API const char *colander_code_name(enum colander_code code);

/* Fills `err` and evaluates to `code`, so that failing takes one statement.
 * (The macro repeats `code` so that compilers know what is returned.) */
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

/* Borrowed bytes. */
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

/* Returns the bytes of a C string, without its terminator. */
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

/* Returns <0, 0 or >0, in the order of memcmp. A prefix sorts first. */
static inline int
colander_slice_compare(struct colander_slice a, struct colander_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

/* Owned bytes that can grow. Start with COLANDER_BUFFER_EMPTY. */
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

/* Empties the buffer but keeps its memory. */
static inline void
colander_buffer_clear(struct colander_buffer *buffer)
{
    buffer->size = 0;
}

/* Makes room for `size` more bytes. NO_MEMORY changes nothing. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_buffer_reserve(struct colander_buffer *buffer, size_t size,
                        struct colander_error *err);

/* Appends a copy of `size` bytes, which may not be the buffer's own. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_buffer_append(struct colander_buffer *buffer, const void *data,
                       size_t size, struct colander_error *err);

/* Frees the memory. The buffer is empty and can be used again. */
COLANDER_API void colander_buffer_release(struct colander_buffer *buffer);

/* ------------------------------------------------------------- options --- */

enum colander_open_mode {
    COLANDER_OPEN_OR_CREATE = 0,
    COLANDER_OPEN_EXISTING,  /* fails with NOT_FOUND if there is no store */
    COLANDER_OPEN_NEW,       /* fails with EXISTS if there is a store */
    COLANDER_OPEN_READ_ONLY, /* as EXISTING, and changes nothing on disk */
};

/* KEEP means: as the store has it, or the default if the store is new. */
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
    COLANDER_COMPACTION_FIFO, /* deletes the oldest rows over `fifo_size` */
};

enum colander_log_level {
    COLANDER_LOG_WARNING = 1, /* handled, but worth knowing: a damaged filter */
    COLANDER_LOG_ERROR = 2,   /* work in the background failed */
};

/* Receives one message: a line of text without a line end, borrowed. Called
 * from any thread, from several at once, and with locks held: it should return
 * soon, and may not call the library. */
typedef void colander_log(void *context, enum colander_log_level level,
                          const char *message);

struct colander_budget;

/* Files of a store that are not in its directory. There, each SST file and each
 * file in `filters` only has its size. Borrowed until the store is closed. */
struct colander_remote_files {
    void *context;

    /* Reads `size` bytes at `offset` of the file at `path`, which begins with
     * the absolute path of the store and is not shorter. Any thread. */
    enum colander_code (*read)(void *context, const char *path, uint64_t offset,
                               uint8_t *bytes, size_t size,
                               struct colander_error *err);
};

/* How a store is opened. Start from colander_options_init. The options under
 * "saved in the store" are written into the store and need not be given again.
 * For these, 0 keeps the saved value. */
struct colander_options {
    size_t struct_size; /* set by colander_options_init */

    enum colander_open_mode mode;
    bool sync;         /* each write waits for the disk (false) */
    size_t cache_size; /* bytes of data blocks in memory; filter blocks get the
                          same amount (64 MiB) */
    size_t write_buffer_size; /* bytes of unflushed rows in memory, of all
                               * families (64 MiB) */
    uint32_t open_files_max;  /* file descriptors for SST files (512) */
    uint32_t thread_count;    /* threads for flushes and compactions
                               * (0: one for each core) */
    colander_log *log;        /* receives warnings and errors (NULL: failures
                               * of filters are only counted) */
    void *log_context;        /* passed to `log` */

    /* saved in the store */
    enum colander_compression compression; /* of blocks in new SST files */
    enum colander_compaction compaction;   /* fixed when a store is created */
    uint32_t block_size; /* target bytes of a block in new SSTs (16 KiB) */
    uint64_t sst_size;   /* target bytes of a new SST file (64 MiB) */
    uint64_t fifo_size;  /* bytes that a FIFO family keeps (1 GiB) */

    /* A share in what several stores have together (NULL: the store has its
     * own). Its sizes and counts replace those of these options. */
    struct colander_budget *budget;

    /* Who reads its SST files and filters (NULL: they are in its directory).
     * Requires READ_ONLY. */
    const struct colander_remote_files *remote;
};

/* Sets the defaults, which suit a laptop. */
COLANDER_API void colander_options_init_sized(struct colander_options *options,
                                              size_t struct_size);

static inline void
colander_options_init(struct colander_options *options)
{
    colander_options_init_sized(options, sizeof(*options));
}

/* What several stores of a process have together. Start from
 * colander_budget_options_init. */
struct colander_budget_options {
    size_t struct_size; /* set by colander_budget_options_init */

    size_t cache_size;        /* as those of colander_options, but of all */
    size_t write_buffer_size; /* stores together (64 MiB each; 512 files; */
    uint32_t open_files_max;  /* 0: one thread for each core) */
    uint32_t thread_count;    /* threads that load and repair filters, too */
    uint64_t filter_memory;   /* bytes for filters in memory of all families;
                               * their own `memory_budget` is a limit as well
                               * (64 MiB) */
};

/* Sets the defaults. */
COLANDER_API void
colander_budget_options_init_sized(struct colander_budget_options *options,
                                   size_t struct_size);

static inline void
colander_budget_options_init(struct colander_budget_options *options)
{
    colander_budget_options_init_sized(options, sizeof(*options));
}

/*
 * Creates a budget, which any number of stores can be opened with: one cache of
 * blocks and one of filters, one limit for unflushed rows, for filters in
 * memory and for descriptors of SST files, one set of threads. NULL as
 * `options` means the defaults. Fails with INVALID, and says which option is
 * wrong.
 *
 * In addition each open store has some ten descriptors, and a few hundred KiB
 * of memory.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_budget_create(const struct colander_budget_options *options,
                       struct colander_budget **budget,
                       struct colander_error *err);

/* Releases the caller's reference. Stores that were opened with the budget
 * keep it until they are closed. NULL is allowed. */
COLANDER_API void colander_budget_release(struct colander_budget *budget);

/* What the stores of a budget use now. */
struct colander_budget_use {
    size_t struct_size;      /* bytes that the library filled */
    uint64_t store_count;    /* open stores */
    uint64_t cache_size;     /* bytes of blocks in the cache of the database */
    uint64_t unflushed_size; /* bytes of unflushed rows, with those that are
                              * being flushed */
    uint64_t file_count;     /* descriptors of SST files that are open */
    uint64_t filter_memory;  /* bytes of filters in memory */
};

/* Reports it. */
COLANDER_API void colander_budget_measure_sized(struct colander_budget *budget,
                                                struct colander_budget_use *use,
                                                size_t struct_size);

static inline void
colander_budget_measure(struct colander_budget *budget,
                        struct colander_budget_use *use)
{
    colander_budget_measure_sized(budget, use, sizeof(*use));
}

/* When a write returns. */
enum colander_durability {
    COLANDER_AS_STORE = 0, /* as the option `sync` says */
    COLANDER_SYNC,         /* once the write is on disk */
    COLANDER_NO_SYNC,      /* once the operating system has it: survives a
                            * killed process, not a power failure */
};

/* How a row is written. Start from colander_write_options_init. Functions
 * accept NULL for the defaults. */
struct colander_write_options {
    size_t struct_size; /* set by colander_write_options_init */
    enum colander_durability durability; /* (COLANDER_AS_STORE) */
};

static inline void
colander_write_options_init(struct colander_write_options *options)
{
    memset(options, 0, sizeof(*options));
    options->struct_size = sizeof(*options);
}

/* -------------------------------------------------------------- stores --- */

/* The state of a whole store at one moment. Later writes do not change it. A
 * dropped family disappears from it. */
struct colander_snapshot;

/* Releases the snapshot. NULL is allowed. */
COLANDER_API void colander_snapshot_release(struct colander_snapshot *snapshot);

/* What an open dropped from the write-ahead logs and the MANIFEST, and earlier
 * opens that failed or were killed. */
struct colander_recovery {
    uint64_t dropped_size; /* bytes dropped at the end of a log because its last
                            * write is incomplete, for example after a power
                            * failure; with has_gap also whole writes, and
                            * those of later logs; 0: none */
    char dropped_file[32]; /* the log; the first, if there are two */
    bool has_gap;          /* a power failure lost writes that were not synced,
                            * and later ones were dropped with them: all after
                            * the first that is lost, in this log and later */
    char message[128];     /* the same as a sentence, without a full stop */
};

/* A list of names in byte order, owned by the caller. */
struct colander_names {
    char **names;
    size_t count;
};

/* Frees the names. The list is empty. */
COLANDER_API void colander_names_release(struct colander_names *names);

/* SST files are arranged in levels. A flush writes to level 0; compactions move
 * rows to higher levels. A key is in at most one file of each level above 0. */
#define COLANDER_LEVELS_MAX 7

struct colander_level_sizes {
    uint64_t sst_count;
    uint64_t sst_size; /* bytes */
};

/* Sizes of a family. The SST figures are exact, the others are estimates. */
struct colander_family_sizes {
    uint64_t key_count;      /* a key that was overwritten may count twice */
    uint64_t sst_count;      /* SST files */
    uint64_t sst_size;       /* bytes of SST files */
    uint64_t unflushed_size; /* bytes in memory of rows in no SST file yet */
    struct colander_level_sizes levels[COLANDER_LEVELS_MAX];
};

/* A backup that was made or restored: see colander_store_backup. */
struct colander_backup {
    uint64_t number;        /* its directory, in six digits; 0 if a plain store
                             * was restored, which is not a backup */
    uint64_t file_count;    /* files of the store */
    uint64_t size;          /* bytes of these files */
    uint64_t copied_count;  /* files copied: a backup shares the others with
                             * the previous one, a restore copies all */
    uint64_t copied_size;   /* bytes of these files */
    uint64_t removed_count; /* older backups that were removed */
};

/* A file of a backup. All is borrowed until the call returns. */
struct colander_backup_file {
    const char *name; /* in the store: "rocksdb/000012.sst" */
    int fd;           /* open for reading */
    uint64_t size;    /* bytes of it */
};

/* Where a backup is sent that is not a directory: storage of the program's own.
 * Its functions are called by the thread that makes the backup, for one file
 * after the other. A failure ends the backup. */
struct colander_backup_target {
    void *context;

    /* Sets whether the file is there already: then it is neither checked nor
     * put. Asked for files that never change under their name, and that differ
     * in their last 4 KiB if they differ at all. */
    enum colander_code (*has)(void *context,
                              const struct colander_backup_file *file,
                              bool *is_there, struct colander_error *err);

    /* Takes a file that was checked. Its bytes do not change as long as the
     * descriptor, or a duplicate of it, is open. */
    enum colander_code (*put)(void *context,
                              const struct colander_backup_file *file,
                              struct colander_error *err);
};

/* Where a store is restored from that is not a directory. `names` has all files
 * that the target took or had. */
struct colander_backup_source {
    void *context;
    const char *const *names;
    size_t count;

    /* Writes file `index` to `fd`, which is taken. May return before that is
     * done. */
    enum colander_code (*get)(void *context, size_t index, int fd,
                              struct colander_error *err);

    /* Waits until all files are written. Called once after the last `get`, also
     * if that failed. */
    enum colander_code (*wait)(void *context, struct colander_error *err);
};

/*
 * Copies a backup to `path`, as a new store. No store may exist there. `number`
 * 0 means the newest backup in `directory`. `directory` may also be a single
 * backup, or any store that no process has open for writing. Reads back what it
 * copied: if a file is damaged, fails with CORRUPT, names the file and creates
 * no store. Fills `restored`, unless it is NULL.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_backup_restore(const char *directory, uint64_t number,
                        const char *path, struct colander_backup *restored,
                        struct colander_error *err);

/* Does the same from a source. `number` of `restored` is 0. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_backup_restore_from(const struct colander_backup_source *source,
                             const char *path, struct colander_backup *restored,
                             struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
