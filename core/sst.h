/*
 * SST files, for a layer that keeps something beside each of them.
 *
 * An observer is told what RocksDB writes into SST files while it writes
 * them, and when a file comes and goes. It never learns of RocksDB: a file is
 * a number, which is not used twice while the engine is open, and a family an
 * id.
 *
 * What is told, and when:
 *     writer_*    every row of an SST being written, in order of keys, in the
 *                 thread of a flush or compaction
 *     created     before the file is installed: a view that has it by then
 *                 never lacks a row. Its failure is told as well
 *     replaced    after a compaction is installed: files that went into it.
 *                 The rows are in files that were created before
 *     deleted     the file is gone from the disk
 *     flushed     every write of the family up to a sequence is in files that
 *                 were created before
 *
 * Observers are called from RocksDB's threads, several at once, also while the
 * engine is opened and closed. They must not call the engine from there,
 * except colander_engine_path, and not throw or wait for somebody who does. A
 * lock that they take is never held while the engine is called.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SST_H
#define COLANDER_CORE_SST_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an observer leaves in an SST to know it by. */
#define SST_TAG_SIZE 16

/* A file that was written. */
struct sst_created {
    uint32_t family;
    uint64_t number;
    uint64_t size;        /* bytes */
    uint64_t entry_count; /* puts and deletes, every version of a key */
    bool is_ok;           /* false: it failed, and the file will not be used */
    bool is_tagged;       /* its writer gave a tag */
    uint8_t tag[SST_TAG_SIZE];
};

struct sst_observer {
    void *context;

    /* An SST is begun. What it gives is given to the next three; NULL: nobody
     * wants its rows. */
    void *(*writer_begin)(void *context, uint32_t family);

    /* The next entry: `is_put` or a delete. Several versions of one key come
     * newest first. Borrowed. */
    void (*writer_add)(void *writer, struct colander_slice key,
                       struct colander_slice value, bool is_put);

    /* All entries were added. Fills `tag`, which the SST keeps; false: none.
     * Called once; not when the SST is given up. */
    bool (*writer_finish)(void *writer, uint8_t tag[SST_TAG_SIZE]);

    /* The writer's end, finished or not. */
    void (*writer_end)(void *writer);

    void (*created)(void *context, const struct sst_created *file);
    void (*replaced)(void *context, const uint64_t *numbers, size_t count);
    void (*deleted)(void *context, uint64_t number);
    void (*flushed)(void *context, uint32_t family, uint64_t sequence);
};

/*
 * As colander_engine_open, with an observer (copied; NULL: none) that hears of
 * every file from then on; its context must live until the engine is closed.
 * An open for reading tells nothing.
 */
COLANDER_CHECKED enum colander_code
engine_open_observed(const char *path, const struct colander_options *options,
                     const struct sst_observer *observer,
                     struct colander_engine **engine,
                     struct colander_error *err);

/* A live file, in the list below. */
struct sst_info {
    uint32_t family;
    uint64_t number;
    uint64_t size;
    uint64_t entry_count;      /* 0: not known */
    uint64_t last_sequence;    /* the newest write in it */
    bool is_tag_known;         /* false: its properties cannot be read */
    uint8_t tag[SST_TAG_SIZE]; /* zeros: its writer gave none */
};

/*
 * Calls `visit` for each live SST of every family. NO_MEMORY or IO when it
 * cannot; stops, with its code, when `visit` gives one other than OK.
 */
COLANDER_CHECKED enum colander_code engine_ssts(
    struct colander_engine *engine,
    enum colander_code (*visit)(void *context, const struct sst_info *file,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* A live file, in the list that follows. */
struct sst_place {
    uint64_t number;
    const char *path; /* in the store */
    bool has_rows;    /* false: the store's own records */
};

/* The same, but only where each file is, also those without rows; none of them
 * is deleted until it returns. */
COLANDER_CHECKED enum colander_code engine_sst_places(
    struct colander_engine *engine,
    enum colander_code (*visit)(void *context, const struct sst_place *file,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* -------------------------------------------------------------- backup --- */

#define COMPANION_PATH_MAX 64

/* What somebody keeps beside each SST. */
struct engine_companions {
    void *context;

    /* Fills `name` with the file, in the store, that belongs to the SST of that
     * number and size; false: there is none. */
    bool (*find)(void *context, uint64_t number, uint64_t size,
                 char name[COMPANION_PATH_MAX]);
};

/*
 * Copies all of the store, as it is at one moment, with the companions of its
 * SSTs (NULL: they have none), into a new backup in `directory` (backup.h),
 * which is made where it is missing, and removes the oldest there, until there
 * are `keep_count` (0: all stay). Writes wait for that moment only. CORRUPT
 * when a file that was copied is damaged: then no backup is made.
 */
COLANDER_CHECKED enum colander_code
engine_backup(struct colander_engine *engine, const char *directory,
              uint64_t keep_count, const struct engine_companions *companions,
              struct colander_backup *made, struct colander_error *err);

/* ----------------------------------------------------------- sequences --- */

/* The sequence of the newest acknowledged write of the whole store. */
uint64_t engine_sequence(const struct colander_engine *engine);

/* The sequence of the newest write that the snapshot sees. */
uint64_t snapshot_sequence(const struct colander_snapshot *snapshot);

/* ------------------------------------------------------------- reading --- */

/*
 * One SST opened by itself. Blocks are shared with the engine's cache. It can
 * be read after the engine has deleted the file. For many threads at once.
 */
struct sst;

/* NOT_FOUND when the file is gone: somebody deleted it. Release it before the
 * engine is closed. */
COLANDER_CHECKED enum colander_code sst_open(struct colander_engine *engine,
                                             uint64_t number, struct sst **sst,
                                             struct colander_error *err);

/* NULL is allowed. */
void sst_close(struct sst *sst);

/* The tag that its writer gave; false: none. */
bool sst_tag(const struct sst *sst, uint8_t tag[SST_TAG_SIZE]);

/* Puts and deletes in the file, every version of a key. */
uint64_t sst_entry_count(const struct sst *sst);

/* Reads all of the file and checks every byte; NOT_FOUND when it is gone, else
 * the first error that is found. */
COLANDER_CHECKED enum colander_code sst_check(struct sst *sst,
                                              struct colander_error *err);

/* The same for a file that is in no open store. */
COLANDER_CHECKED enum colander_code sst_check_file(const char *path,
                                                   struct colander_error *err);

/*
 * Walks the rows of one SST as `snapshot` sees this file alone: newer versions
 * and deletes in other files are not seen, so a row may be stale.
 */
struct sst_cursor;

/* `snapshot` NULL: the newest versions. Both stay open until it is closed. In
 * reverse it goes from the last row to the first. */
COLANDER_CHECKED enum colander_code
sst_cursor_open(struct sst *sst, const struct colander_snapshot *snapshot,
                bool is_reverse, struct sst_cursor **cursor,
                struct colander_error *err);

/* NULL is allowed. */
void sst_cursor_close(struct sst_cursor *cursor);

/* Goes to the first row at or after `key`, or, empty, to the first; in reverse
 * to the last row before `key`, or, empty, to the last. The next step gives
 * that row. */
void sst_cursor_seek(struct sst_cursor *cursor, struct colander_slice key);

/* As colander_engine_cursor_next; it need not have been sought before. */
COLANDER_CHECKED enum colander_code
sst_cursor_next(struct sst_cursor *cursor, struct colander_slice *key,
                struct colander_slice *value, struct colander_error *err);

/*
 * Walks the rows that are in no SST yet, as `snapshot` sees them (NULL: now).
 * The options are as for colander_engine_cursor_open, as is the cursor.
 */
COLANDER_CHECKED enum colander_code engine_unflushed_cursor_open(
    struct colander_engine_family *family,
    const struct colander_engine_cursor_options *options,
    struct colander_engine_cursor **cursor, struct colander_error *err);

/* ---------------------------------------------------------------- bulk --- */

/*
 * SST files that are written beside the database, for a family that has no
 * keys, and join it all at once or not at all. The observer sees them written,
 * hears of them as created before anybody can read them, and as failed when
 * they do not join.
 *
 * They stand in a directory of their own in the store. Its maker may put files
 * there, too; all go with it, and what a killed process leaves goes when the
 * store is next opened for writing.
 *
 * Threads: many may write, each a file of its own; the rest is for one, when
 * no file is being written.
 */
struct bulk_files;

/* READ_ONLY; DROPPED; INVALID when the family has a key. Refers to the family
 * until it is destroyed. */
COLANDER_CHECKED enum colander_code
bulk_files_create(struct colander_engine_family *family,
                  struct bulk_files **files, struct colander_error *err);

/* Gives up what has not been installed. NULL is allowed. */
void bulk_files_destroy(struct bulk_files *files);

/* The directory, borrowed. */
const char *bulk_files_path(const struct bulk_files *files);

/*
 * Lets all files that were finished join the family. Who takes a snapshot or
 * writes waits for that; a snapshot that was taken before sees nothing of them.
 * On disk when it returns. On failure nothing has joined.
 */
COLANDER_CHECKED enum colander_code
bulk_files_install(struct bulk_files *files, struct colander_error *err);

/* Takes files out of those that will join, by their places in the order in
 * which they were finished, which ascend. On failure some may be. */
COLANDER_CHECKED enum colander_code
bulk_files_withdraw(struct bulk_files *files, const size_t *places,
                    size_t count, struct colander_error *err);

/* An SST that is being written. */
struct bulk_sst;

COLANDER_CHECKED enum colander_code bulk_sst_begin(struct bulk_files *files,
                                                   struct bulk_sst **sst,
                                                   struct colander_error *err);

/* Adds a key, which is above those before; the files of a bulk have no range of
 * keys in common. *size: bytes of the file so far, about. */
COLANDER_CHECKED enum colander_code bulk_sst_add(struct bulk_sst *sst,
                                                 struct colander_slice key,
                                                 struct colander_slice value,
                                                 uint64_t *size,
                                                 struct colander_error *err);

/* Completes the file, which has a key at least, and ends it: *sst is NULL then.
 * It is on disk, or removed on failure. By the thread that began it. NULL in
 * *sst is allowed. */
COLANDER_CHECKED enum colander_code bulk_sst_finish(struct bulk_sst **sst,
                                                    struct colander_error *err);

/* Removes the file, which was not finished. NULL is allowed. */
void bulk_sst_destroy(struct bulk_sst *sst);

/* What the withdrawn files hold, which were finished in the order of their
 * keys. Readers are closed before the files are destroyed. */
struct bulk_reader;

/* Will begin with the first key that is not below `from` (copied). */
COLANDER_CHECKED enum colander_code
bulk_reader_open(const struct bulk_files *files, struct colander_slice from,
                 struct bulk_reader **reader, struct colander_error *err);

/* The next key and value, borrowed until the next call; the key's data is NULL
 * at the end. */
COLANDER_CHECKED enum colander_code
bulk_reader_next(struct bulk_reader *reader, struct colander_slice *key,
                 struct colander_slice *value, struct colander_error *err);

/* NULL is allowed. */
void bulk_reader_close(struct bulk_reader *reader);

/* ------------------------------------------------------------- records --- */

/*
 * Small records of the layers above, kept in the store, in the column family
 * that is nobody's. Names: 1 to 255 bytes.
 */

/* Fills `record`, or empties it when there is none: *found tells. */
COLANDER_CHECKED enum colander_code
engine_record_get(struct colander_engine *engine, const char *name,
                  struct colander_buffer *record, bool *found,
                  struct colander_error *err);

/* Keeps a copy, on the disk when it returns; empty: removes it. */
COLANDER_CHECKED enum colander_code
engine_record_put(struct colander_engine *engine, const char *name,
                  struct colander_slice record, struct colander_error *err);

/* --------------------------------------------------------------- marks --- */

/*
 * Small values beside the rows of a family, in no row of it, each with a name;
 * gone with the family.
 */

/* Fills `value`, or empties it when there is none: *found tells. */
COLANDER_CHECKED enum colander_code
engine_mark_get(struct colander_engine_family *family,
                struct colander_slice name, struct colander_buffer *value,
                bool *found, struct colander_error *err);

/* Sets it with what else the batch writes; an empty value removes it. */
COLANDER_CHECKED enum colander_code
engine_batch_mark(struct colander_engine_batch *batch,
                  struct colander_engine_family *family,
                  struct colander_slice name, struct colander_slice value,
                  struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
