/*
 * Summaries: presences of the parts of many SST files, in one file.
 *
 * For a program that reads filters from afar. By the filters alone, it would
 * have to ask each of them for a value. In a summary the same block of the
 * presences of all parts of one shape is one block of the file. A hash is
 * looked up in one block of each presence, so one read answers for up to
 * SUMMARY_PARTS_MAX parts.
 *
 * A summary is made before a backup is sent to an address, beside the filters,
 * for the files that no other one has. It never changes, so later backups share
 * it. It stays right as long as an SST exists, whatever becomes of its filter.
 *
 * Life:   writer: summary_write. Reader: open -> ask ... -> close
 * Errors: CORRUPT, with the path, if it is not what was written; TOO_NEW
 * Bytes:  filters/FORMAT.md, "Summaries"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_SUMMARY_H
#define COLANDER_FILTERS_SUMMARY_H

#include "filters/block_cache.h"
#include "filters/presence.h"

#define SUMMARY_VERSION 1
#define SUMMARY_PARTS_MAX 1024
#define SUMMARY_SUFFIX ".summary"

/* An SST file in a summary. */
struct summary_sst {
    uint64_t number;
    uint64_t size;
    uint32_t part_count;
    bool has_words; /* its presences know words, as this program cuts them */
};

/* The parts of one shape. */
struct summary_group {
    struct presence_shape shape;
    uint32_t column_count;
    uint32_t block_first; /* index of its first block */
    uint64_t offset;      /* of that block */
    uint32_t *columns;    /* the SST of each column */
};

/* An opened summary. Does not change. */
struct summary {
    char *path;
    const struct colander_remote_files *remote; /* borrowed; NULL: none */
    struct block_cache *cache;                  /* borrowed */
    uint64_t salt;                              /* its id in the cache */
    struct summary_sst *ssts;
    struct summary_group *groups;
    uint32_t sst_count;
    uint32_t group_count;
    uint32_t block_count;
};

COLANDER_CHECKED enum colander_code
summary_open(const char *path, const struct colander_remote_files *remote,
             struct block_cache *cache, struct summary **summary,
             struct colander_error *err);

/* NULL is allowed. */
void summary_close(struct summary *summary);

/* Sets the bit of each SST in `ssts` that may have the value in a part. Needs a
 * bit for each, zeroed before. */
COLANDER_CHECKED enum colander_code summary_ask(const struct summary *summary,
                                                uint64_t value_hash,
                                                uint64_t *ssts,
                                                struct colander_error *err);

/* A part of a summary to be: its presence is in a file, as words. */
struct summary_part {
    uint32_t sst; /* index */
    struct presence_shape shape;
    uint64_t offset; /* of its presence in the file */
};

/* Writes a summary of at most SUMMARY_PARTS_MAX parts, whose presences are in
 * `presences`, to a new file at `path`, and syncs it. Sorts the parts. On
 * failure there is no file. */
COLANDER_CHECKED enum colander_code
summary_write(const char *path, int presences, const struct summary_sst *ssts,
              uint32_t sst_count, struct summary_part *parts, uint32_t count,
              struct colander_error *err);

#endif
