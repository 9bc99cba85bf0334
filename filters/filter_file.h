/*
 * Filter files: the value filter of one SST on disk.
 *
 * A file is a sequence of *parts*. Each is the filter of a run of rows of the
 * SST, so that building one needs bounded memory, however large the SST. A part
 * consists of blocks: of its locator or presence, its keys, its orders, and
 * perhaps of a dictionary. The directory at the end says where the blocks are.
 * Every block and the directory have a checksum.
 *
 * Opening reads only the end of the file. Blocks are read on demand, through a
 * cache. No descriptor stays open.
 *
 * A file has a random *salt*, which goes into every checksum together with the
 * position of the block. So a block at another position, or of another file, is
 * damage, even if that file is a filter of the same SST.
 *
 * Life:   writer_create -> (block ..., part_end) ... -> finish; then under its
 *         final name: open -> block ... -> release
 * Errors: CORRUPT, with the path, if the file is not what was written;
 *         TOO_NEW for a later version; NOT_FOUND if it is missing
 * Bytes:  filters/FORMAT.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILTER_FILE_H
#define COLANDER_FILTERS_FILTER_FILE_H

#include "core/sst.h"
#include "filters/block_cache.h"
#include "filters/locator.h"
#include "filters/presence.h"

#include <stdatomic.h>

#define FILTER_FILE_VERSION 7
#define FILTER_FILE_VERSION_OLDEST 2  /* that is read */
#define FILTER_FILE_VERSION_COLUMNS 3 /* the first that has columns, */
#define FILTER_FILE_VERSION_WORDS 4   /* words, */
#define FILTER_FILE_VERSION_DICTIONARIES 5
#define FILTER_FILE_VERSION_ORDERS 6 /* orders that are read, */
#define FILTER_FILE_VERSION_WORD_COLUMNS 6
#define FILTER_PATHS_MAX 64 /* of a list of columns */

enum filter_block_kind {
    FILTER_LOCATOR,    /* `first` is its first group */
    FILTER_KEYS,       /* its first unit */
    FILTER_ORDER,      /* the place of its first column or group, or 0 */
    FILTER_PRESENCE,   /* its first presence block */
    FILTER_DICTIONARY, /* the tag of its columns, and its number among theirs */
    FILTER_KINDS,      /* number of kinds */
};

/* The version of words that are left out of a filter until it is rebuilt. */
#define FILTER_WORDS_LATER UINT64_MAX

/* Describes the whole filter. */
struct filter_head {
    uint8_t tag[SST_TAG_SIZE]; /* the same as in the SST */
    uint64_t entry_count;      /* of the SST: puts and deletes */
    uint64_t words_version;    /* TEXT_WORDS_VERSION then; 0: has no words;
                                * FILTER_WORDS_LATER: not yet */
    uint64_t words_size;       /* bytes that they take in locators, about */
    uint32_t hash_version;     /* COLANDER_HASH_VERSION when it was built */
    uint32_t unfiltered_count; /* columns that are not in the filter */
    uint64_t unfiltered[FILTER_PATHS_MAX]; /* hashes of their paths */

    /* Columns that have words, with all below them; none: all columns. */
    uint32_t word_column_count;
    uint64_t word_columns[FILTER_PATHS_MAX]; /* hashes of their paths */
};

/* Describes a part. */
struct filter_part {
    struct locator_shape shape;      /* also valid without a locator */
    struct presence_shape presence;  /* block_count 0: the locator is used
                                      * instead */
    uint64_t hash_count;             /* distinct hashes, cut as in `shape` */
    struct colander_slice first_key; /* lowest and highest key of a row */
    struct colander_slice last_key;

    uint64_t first_row; /* number of its first row; set by opening */

    /* Positions of its blocks in the directory, by kind; set by opening. */
    uint32_t block_first[FILTER_KINDS];
    uint32_t block_count[FILTER_KINDS];
};

/* A block of data of the SST, which ends where the next one begins. */
struct filter_span {
    uint64_t offset;
    uint32_t first_row; /* of those that begin in it, counted over all parts */
    uint32_t key_sum;   /* of the key of its first entry (filter_key_sum) */
};

#define FILTER_SPAN_ROWS_MAX UINT32_MAX

/* Returns a checksum of a key, by which a block that is not where it was
 * written is noticed. */
uint32_t filter_key_sum(struct colander_slice key);

/* ------------------------------------------------------------- writing --- */

/* Draws a random number, which distinguishes files. Fails with IO. */
COLANDER_CHECKED enum colander_code filter_draw(uint64_t *number,
                                                struct colander_error *err);

struct filter_writer;

/* Creates the file at `path` (copied) with mode 0600. Fails with EXISTS if
 * there is one. */
COLANDER_CHECKED enum colander_code
filter_writer_create(const char *path, struct filter_writer **writer,
                     struct colander_error *err);

/* Adds a block of the current part. Blocks of one kind come in order of
 * `first`; kinds come in any order. After a failure only destroy is allowed. */
COLANDER_CHECKED enum colander_code
filter_writer_block(struct filter_writer *writer, enum filter_block_kind kind,
                    struct colander_slice block, uint32_t first,
                    struct colander_error *err);

/* Ends the current part. Copies the keys and ignores the block_* members. Fails
 * with INVALID if no reader would accept the part. */
COLANDER_CHECKED enum colander_code
filter_writer_part_end(struct filter_writer *writer,
                       const struct filter_part *part,
                       struct colander_error *err);

/* Writes the directory, with the `count` blocks of the SST (0: they are not
 * known), and waits until the file is on disk; its name is the caller's to
 * sync. Call at most once; afterwards destroy only frees. */
COLANDER_CHECKED enum colander_code filter_writer_finish(
    struct filter_writer *writer, const struct filter_head *head,
    const struct filter_span *spans, size_t count, struct colander_error *err);

/* Frees the writer, and removes the file unless it is finished. NULL is
 * allowed. */
void filter_writer_destroy(struct filter_writer *writer);

/* ------------------------------------------------------------- reading --- */

/* The position of a block. */
struct filter_place {
    uint64_t offset;
    uint32_t size; /* without its checksum */
    uint32_t first;
};

/* An opened file, counted. Nothing in it changes after it was opened, so any
 * number of threads may use it. It is one block of memory, this, the parts, the
 * places of blocks, the keys and the path, and another for the spans. */
struct filter_file {
    struct filter_head head;
    uint64_t salt; /* also the id of its blocks in the cache: no other file has
                    * it, but a file that is opened twice has the same */
    uint64_t size; /* bytes on disk, */
    uint64_t kind_sizes[FILTER_KINDS]; /* and of blocks with their checksums */
    uint64_t checksum;                 /* of the directory */
    struct block_cache *cache;
    const struct colander_remote_files *remote; /* NULL: it is at its path */
    atomic_size_t
        *span_bytes; /* counts those of the spans; NULL: not counted */
    atomic_size_t reference_count;
    struct filter_part *parts;
    struct filter_place *places; /* by part, then by kind, then ascending */
    struct filter_span *spans;   /* ascending */
    uint8_t *keys;
    char *path;
    uint64_t key_size;
    uint32_t part_count;
    uint32_t place_count;
    uint32_t span_count; /* 0: not known */
    uint32_t version;
};

/* Opens the file with one reference. Its blocks are kept in `cache`, which may
 * be NULL if none will be read. `remote` (NULL: none) reads its bytes. */
COLANDER_CHECKED enum colander_code
filter_file_open_remote(const char *path,
                        const struct colander_remote_files *remote,
                        struct block_cache *cache, struct filter_file **file,
                        struct colander_error *err);

COLANDER_CHECKED static inline enum colander_code
filter_file_open(const char *path, struct block_cache *cache,
                 struct filter_file **file, struct colander_error *err)
{
    return filter_file_open_remote(path, NULL, cache, file, err);
}

/* Counts the memory of the spans in *bytes (borrowed) until the file is closed.
 * Drops the spans if there would be more than `max`. Must come before any other
 * use of the file. */
void filter_file_count_spans(struct filter_file *file, atomic_size_t *bytes,
                             size_t max);

struct filter_file *filter_file_ref(struct filter_file *file);

/* NULL is allowed. The last reference removes the blocks from the cache. */
void filter_file_unref(struct filter_file *file);

/* Reads the block of `part` (of this file) and `kind` that holds `place` (a
 * group, a unit or a presence block), and reports its first place. A block of a
 * dictionary is decompressed, and kept only while half of the cache is free.
 * The caller must release the block to the cache.
 * Fails with CORRUPT also if there is no such block. */
COLANDER_CHECKED enum colander_code
filter_file_block(const struct filter_file *file,
                  const struct filter_part *part, enum filter_block_kind kind,
                  uint32_t place, struct cached_block **block, uint32_t *first,
                  struct colander_error *err);

/* Begins to bring into the processor's cache what the search in a group of the
 * locator reads, as far as it is in the cache of blocks. In steps, from 0 on,
 * for several groups, so that their misses overlap. */
#define FILTER_FETCH_STEPS 2
void filter_file_fetch(const struct filter_file *file,
                       const struct filter_part *part, uint32_t group,
                       unsigned step);

/* Reads block `n` of a kind, below the part's block_count, without adding it to
 * the cache: for callers that read all blocks once. */
COLANDER_CHECKED enum colander_code filter_file_nth_block(
    const struct filter_file *file, const struct filter_part *part,
    enum filter_block_kind kind, uint32_t n, struct cached_block **block,
    uint32_t *first, struct colander_error *err);

/* Returns the number of rows of all parts. */
uint64_t filter_file_rows(const struct filter_file *file);

/* Returns the index of the span in which a row of the file begins. Requires
 * that the spans are known. */
uint32_t filter_file_span(const struct filter_file *file, uint64_t row);

/* Reads the whole file past the cache and checks every byte. Returns the first
 * error. */
COLANDER_CHECKED enum colander_code
filter_file_check(const struct filter_file *file, struct colander_error *err);

#endif
