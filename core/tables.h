/*
 * Table files: SST files read without RocksDB, as far as they can be read.
 *
 * RocksDB gives up a file at its first bad byte. This reader goes on behind
 * what is damaged, and says which keys may have been there. It knows what
 * RocksDB writes for our options (block-based tables; no compression, LZ4 or
 * Zstandard), believes nothing that a checksum does not vouch for, and
 * needs no more memory than a few blocks and the index. What the disk cannot
 * read is damaged as well. For salvage; finds come to no more than the check at
 * the end.
 *
 * Where the index or the footer is damaged, blocks are found one behind the
 * other from the beginning of the file, and behind a damaged one by trying each
 * byte as the beginning of the next. Where also what says how many entries
 * there are is gone, the end of the file is a gap, even if nothing is missing.
 *
 * Life:   open -> head, next ... -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_TABLES_H
#define COLANDER_CORE_TABLES_H

#include "core/core.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of RocksDB's formats: the one that is written and read. */
#define TABLE_FORMAT 5

struct table_file;

/* What its properties say of a file. */
struct table_head {
    bool is_known;    /* false: they cannot be read, and the rest is zeros */
    bool is_external; /* written beside the database: sequences in it are 0 */
    uint32_t family;  /* RocksDB's id of the column family */
    uint64_t number;  /* that it was made with in the database, or 0 */
    uint64_t session; /* of whoever wrote it, as the MANIFEST has it, or 0 */
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

/* What cannot be read: its keys were above `after` and not above `until`, each
 * {NULL, 0} when there is no such bound. An entry with a key within may have
 * been read: another version of it, or one of the block before. Borrowed as an
 * entry. */
struct table_gap {
    uint64_t offset; /* in the file */
    uint64_t size;   /* 0: the file ends where there was more */
    struct colander_slice after;
    struct colander_slice until;
    char why[120]; /* "its checksum is wrong", ... */
};

enum table_step { TABLE_ENTRY, TABLE_GAP, TABLE_END };

/* NOT_FOUND, CORRUPT (it is no file, or cannot be opened), IO (there are no
 * descriptors) or NO_MEMORY; of a file in which nothing can be read it is OK,
 * and that all of it is a gap. */
COLANDER_CHECKED enum colander_code table_file_open(int directory,
                                                    const char *name,
                                                    struct table_file **table,
                                                    struct colander_error *err);

/* Borrowed until close. */
const struct table_head *table_file_head(const struct table_file *table);

/* In bytes. */
uint64_t table_file_size(const struct table_file *table);

/* Goes to what comes next: entries in the order of the file (by key, and of one
 * key the newest first), and gaps between them. NO_MEMORY. */
COLANDER_CHECKED enum colander_code table_file_next(struct table_file *table,
                                                    enum table_step *step,
                                                    struct table_entry *entry,
                                                    struct table_gap *gap,
                                                    struct colander_error *err);

/* NULL is allowed. */
void table_file_close(struct table_file *table);

/* ------------------------------------------------------ before RocksDB --- */

/* A file that is being read. */
struct table_source {
    int fd;
    uint64_t size;

    /* NULL, or instead of the descriptor; as pread(2). */
    ssize_t (*read)(const struct table_source *source, void *bytes, size_t size,
                    off_t offset);
};

/* Whether the footer says how the file is to be read, and leads to properties
 * that are whole and an index in the file: *why is NULL, or says what is wrong.
 * OK or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
table_check_properties(const struct table_source *source, const char **why,
                       struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
