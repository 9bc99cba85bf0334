/*
 * The directory of a filter file: shared by its writer and its reader.
 *
 * Errors: CORRUPT, TOO_NEW, NO_MEMORY, IO; with the path
 * Bytes:  filters/FORMAT.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILES_FILTER_DIRECTORY_H
#define COLANDER_FILTERS_FILES_FILTER_DIRECTORY_H

#include "core/bytes.h"
#include "filters/filter_file.h"

#define FILTER_FILE_MAGIC "COLFILT\n" /* at the beginning and at the end */
#define FILTER_MAGIC_SIZE 8
#define FILTER_BEGINNING_SIZE 24
#define FILTER_FOOTER_SIZE 40
#define FILTER_CHECKSUM_SIZE 8
#define FILTER_BLOCK_SIZE_MAX (UINT32_C(1) << 30)

/* A file that is read. Borrowed. */
struct filter_source {
    int fd;                                     /* of the file, */
    const struct colander_remote_files *remote; /* unless this is not NULL */
    const char *path;
};

/* Reads the end of the file; its path is copied. On success *file has one
 * reference and no cache. */
COLANDER_CHECKED enum colander_code
filter_directory_read(const struct filter_source *source,
                      struct filter_file **file, struct colander_error *err);

/* Frees a file, whatever its references. NULL is allowed. */
void filter_directory_free(struct filter_file *file);

/* Reads `size` bytes. Fails with CORRUPT if the file has fewer. */
COLANDER_CHECKED enum colander_code
filter_read(const struct filter_source *source, uint8_t *bytes, size_t size,
            uint64_t offset, struct colander_error *err);

/* Reports that the file is damaged. Returns CORRUPT. */
enum colander_code filter_fail_damaged(const char *path, const char *what,
                                       struct colander_error *err);

/* Reports errno. Returns its code. */
enum colander_code filter_fail_errno(const char *path, const char *what,
                                     struct colander_error *err);

enum colander_code filter_fail_memory(const char *path,
                                      struct colander_error *err);

/* Writes the first bytes of a file. */
void filter_beginning(uint32_t version, uint64_t salt,
                      uint8_t bytes[FILTER_BEGINNING_SIZE]);

/* Returns the checksum of a block or directory at `offset`. */
uint64_t filter_checksum(struct colander_slice bytes, uint64_t salt,
                         uint64_t offset);

/* Returns whether the numbers are in their ranges and the keys in order. */
bool filter_part_is_valid(const struct filter_part *part);

/* Returns how many places of a part a block of a kind can begin at. */
uint64_t filter_part_places(const struct filter_part *part,
                            enum filter_block_kind kind);

#endif
