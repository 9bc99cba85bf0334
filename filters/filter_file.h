/*
 * Filter files: the value filter of one SST on disk.
 *
 * A file is a sequence of *parts*, each the filter of a run of rows of the SST
 * (so that building one needs bounded memory, however large the SST), and each
 * part is made of blocks: of its locator or presence, its keys, its zones.
 * Every block has a checksum; the directory at the end has one, too, and says
 * where the blocks are.
 *
 * Opening reads the end of the file only. Blocks are read when they are asked
 * for, through a cache. No descriptor stays open.
 *
 * A file has a *salt*, drawn when it is begun, which goes into every checksum,
 * as does the place of what is checked: so a block that stands elsewhere, or
 * comes from another file, is damage, even from another filter of the same SST.
 *
 * Life:   writer_create -> (block ..., part_end) ... -> finish; then under its
 *         final name: open -> block ... -> release
 * Errors: CORRUPT, with the path, for a file that is not what was written;
 *         TOO_NEW for a later version; NOT_FOUND when it is gone
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

#define FILTER_FILE_VERSION 2
#define FILTER_LEFT_OUT_MAX 64

enum filter_block_kind {
    FILTER_LOCATOR,  /* `first` is its first group */
    FILTER_KEYS,     /* its first unit */
    FILTER_ZONES,    /* 0: a part has one at most */
    FILTER_PRESENCE, /* its first presence block */
    FILTER_KINDS,    /* how many there are */
};

/* What is known of the whole filter. */
struct filter_head {
    uint8_t tag[SST_TAG_SIZE]; /* stands in the SST as well */
    uint64_t entry_count;      /* of the SST: puts and deletes */
    uint64_t valid_from;       /* snapshots before this sequence: maybe */
    uint32_t hash_version;     /* COLANDER_HASH_VERSION when it was made */
    uint32_t left_out_count;   /* columns that are not in it */
    uint64_t left_out[FILTER_LEFT_OUT_MAX]; /* hashes of their paths */
};

/* What is known of a part. */
struct filter_part {
    struct locator_shape shape;      /* in its ranges, also without locator */
    struct presence_shape presence;  /* block_count 0: the locator tells */
    uint64_t hash_count;             /* distinct hashes, as shape cuts them */
    struct colander_slice first_key; /* the lowest and highest key of a row */
    struct colander_slice last_key;

    /* Where in the directory its blocks are, by kind: found when opened. */
    uint32_t block_first[FILTER_KINDS];
    uint32_t block_count[FILTER_KINDS];
};

/* ------------------------------------------------------------- writing --- */

struct filter_writer;

/* Begins a file at `path` (copied), which is not there yet (EXISTS); 0600. */
COLANDER_CHECKED enum colander_code
filter_writer_create(const char *path, struct filter_writer **writer,
                     struct colander_error *err);

/* Adds a block of the part under way; blocks of one kind in order of `first`.
 * Kinds may come in any order. After IO, only destroy is of use. */
COLANDER_CHECKED enum colander_code
filter_writer_block(struct filter_writer *writer, enum filter_block_kind kind,
                    struct colander_slice block, uint32_t first,
                    struct colander_error *err);

/* Ends the part under way; the keys are copied, the block_* not looked at.
 * INVALID for what no reader would take. */
COLANDER_CHECKED enum colander_code
filter_writer_part_end(struct filter_writer *writer,
                       const struct filter_part *part,
                       struct colander_error *err);

/* Writes the directory, and waits until all is on disk (the file; its name is
 * the caller's to sync). Once; destroy after that only frees. */
COLANDER_CHECKED enum colander_code
filter_writer_finish(struct filter_writer *writer,
                     const struct filter_head *head,
                     struct colander_error *err);

/* Bytes written so far. */
uint64_t filter_writer_size(const struct filter_writer *writer);

/* Frees it; removes the file unless it was finished. NULL is allowed. */
void filter_writer_destroy(struct filter_writer *writer);

/* ------------------------------------------------------------- reading --- */

/* An opened file: unchanging, for many threads. */
struct filter_file;

COLANDER_CHECKED enum colander_code
filter_file_open(const char *path, struct filter_file **file,
                 struct colander_error *err);

/* NULL is allowed. Its blocks stay in the cache until they are forgotten. */
void filter_file_close(struct filter_file *file);

const struct filter_head *filter_file_head(const struct filter_file *file);
uint32_t filter_file_part_count(const struct filter_file *file);
const struct filter_part *filter_file_part(const struct filter_file *file,
                                           uint32_t index);

/* Bytes on disk, all and by kind of block, with checksums. */
uint64_t filter_file_size(const struct filter_file *file);
uint64_t filter_file_kind_size(const struct filter_file *file,
                               enum filter_block_kind kind);

/* The id by which its blocks are known in the cache. No other file has it; who
 * opens one file twice shares its blocks. */
uint64_t filter_file_id(const struct filter_file *file);

/* Bytes of memory that it takes, blocks excepted. */
size_t filter_file_memory(const struct filter_file *file);

/*
 * Gives the block of `part` (of this file) and `kind` that holds `place` (a
 * group, a unit or a presence block), and its first place: the caller's to
 * release to `cache`. CORRUPT also when there is none.
 */
COLANDER_CHECKED enum colander_code
filter_file_block(const struct filter_file *file, struct block_cache *cache,
                  const struct filter_part *part, enum filter_block_kind kind,
                  uint32_t place, struct cached_block **block, uint32_t *first,
                  struct colander_error *err);

/* Gives block `n` of those of one kind, below the part's block_count, as if it
 * had been asked for by place; but it does not enter the cache, for those who
 * read all of them once. */
COLANDER_CHECKED enum colander_code filter_file_nth_block(
    const struct filter_file *file, struct block_cache *cache,
    const struct filter_part *part, enum filter_block_kind kind, uint32_t n,
    struct cached_block **block, uint32_t *first, struct colander_error *err);

/* Reads the whole file and checks every byte; the first error that is found.
 * Past the cache. */
COLANDER_CHECKED enum colander_code
filter_file_check(const struct filter_file *file, struct colander_error *err);

#endif
