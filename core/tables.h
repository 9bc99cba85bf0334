/*
 * Table files: SST files read without RocksDB, as far as they can be read.
 *
 * RocksDB stops at the first bad byte of a file. This reader skips damage, and
 * says which keys may have been there. It knows what RocksDB writes with our
 * options (block-based tables; no compression, LZ4 or Zstandard), trusts only
 * bytes with a valid checksum, and needs memory for a few blocks and the index.
 * Bytes that the disk cannot read are damaged as well. It serves salvage, and
 * the checks at the end.
 *
 * If the index is damaged, blocks are read one after the other from the
 * beginning of the file up to the first damaged one. If the number of entries
 * is lost as well, the end of the file is a gap even if nothing is missing.
 *
 * Life:   open -> head, next ... -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_H
#define COLANDER_CORE_TABLES_H

#include "core/core.h"

#include <sys/types.h>

/* The version of RocksDB's format that is written and read. */
#define TABLE_FORMAT 5

struct table_file;

/* The properties of a file. */
struct table_head {
    bool is_known;    /* false: they cannot be read, and the rest is zeros */
    bool is_external; /* written outside the database: its sequences are 0 */
    uint32_t family;  /* RocksDB's id of the column family */
    uint64_t number;  /* that it had in the database when written, or 0 */
    uint64_t session; /* of the writer, as in the MANIFEST, or 0 */
    uint64_t entry_count;
    struct colander_slice family_name; /* of the column family; borrowed */
};

enum table_entry_kind { TABLE_PUT, TABLE_DELETE };

/* Borrowed until the next step. */
struct table_entry {
    struct colander_slice key; /* the user's */
    struct colander_slice value;
    uint64_t sequence;
    enum table_entry_kind kind;
};

/* Bytes that cannot be read. Their keys were above `after` and at or below
 * `until`, each {NULL, 0} if there is no such bound. Entries with keys between
 * may have been read: of another version, or of the block before. Borrowed
 * until the next step. */
struct table_gap {
    uint64_t offset; /* in the file */
    uint64_t size;   /* 0: the file ends where there was more */
    struct colander_slice after;
    struct colander_slice until;
    char why[120]; /* "its checksum is wrong", ... */
};

enum table_step { TABLE_ENTRY, TABLE_GAP, TABLE_END };

/* Opens a file. One without any readable bytes is a single gap. Fails with
 * NOT_FOUND, CORRUPT (not a regular file, or it cannot be opened), IO (no
 * descriptors) or NO_MEMORY. */
COLANDER_CHECKED enum colander_code table_file_open(int directory,
                                                    const char *name,
                                                    struct table_file **table,
                                                    struct colander_error *err);

/* The same for a descriptor, which it owns. */
COLANDER_CHECKED enum colander_code
table_file_of(int fd, struct table_file **table, struct colander_error *err);

/* Borrowed until close. */
const struct table_head *table_file_head(const struct table_file *table);

/* Returns where the block of the last entry begins in the file. */
uint64_t table_file_block(const struct table_file *table);

/* Returns the size in bytes. */
uint64_t table_file_size(const struct table_file *table);

/* Returns errno of the last read that failed, or 0. What was not read is a
 * gap, as what is damaged. */
int table_file_error(const struct table_file *table);

/* Steps to the next entry or gap. Entries come in the order of the file: by
 * key, and of one key the newest first. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code table_file_next(struct table_file *table,
                                                    enum table_step *step,
                                                    struct table_entry *entry,
                                                    struct table_gap *gap,
                                                    struct colander_error *err);

/* NULL is allowed. */
void table_file_close(struct table_file *table);

/* -------------------------------------------------------------- checks --- */

/* Returns RocksDB's hash of a key, from which its Bloom filters are made. */
typedef uint64_t table_hash(struct colander_slice key);

/*
 * Reads a whole file. Fails with CORRUPT if anything is missing, or is not
 * where it was written: the checksums of RocksDB do not know the place of a
 * block. Keys must ascend and be within the bounds in the index, entries be as
 * many as the properties say, and the filter must know every key. Other errors
 * as of table_file_open.
 */
COLANDER_CHECKED enum colander_code table_check(int directory, const char *name,
                                                table_hash *hash,
                                                struct colander_error *err);

/* A file that is being read. */
struct table_source {
    int fd;
    uint64_t size;

    /* As pread(2). NULL: the descriptor is read. */
    ssize_t (*read)(const struct table_source *source, void *bytes, size_t size,
                    off_t offset);

    int *error; /* NULL, or takes errno of a read that fails */
};

/* Checks that the footer says how to read the file, and leads to whole
 * properties, to the end of a filter and to an index in the file. Sets *why to
 * what is wrong, or NULL. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code
table_check_properties(const struct table_source *source, const char **why,
                       struct colander_error *err);

#endif
