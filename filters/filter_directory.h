/*
 * The directory of a filter file, and what else its writer and its reader have
 * in common. Only they know of it.
 *
 * Errors: CORRUPT, TOO_NEW, NO_MEMORY, IO; with the path
 * Bytes:  filters/FORMAT.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILTER_DIRECTORY_H
#define COLANDER_FILTERS_FILTER_DIRECTORY_H

#include "filters/filter_file.h"

#define FILTER_FILE_MAGIC "COLFILT\n" /* at the beginning and at the end */
#define FILTER_MAGIC_SIZE 8
#define FILTER_BEGINNING_SIZE 24
#define FILTER_FOOTER_SIZE 40
#define FILTER_CHECKSUM_SIZE 8
#define FILTER_BLOCK_SIZE_MAX (UINT32_C(1) << 30)

/* Where a block stands. */
struct filter_place {
    uint64_t offset;
    uint32_t size; /* without its checksum */
    uint32_t first;
};

/*
 * An opened file is one piece of memory: this, the parts, the places of the
 * blocks, the keys and the path.
 */
struct filter_file {
    struct filter_head head;
    uint64_t salt;
    uint64_t size;
    uint64_t checksum; /* of the directory */
    uint64_t kind_sizes[FILTER_KINDS];
    size_t memory;
    struct filter_part *parts;
    struct filter_place *places; /* by part, then by kind, then ascending */
    uint8_t *keys;
    char *path;
    uint64_t key_size;
    uint32_t part_count;
    uint32_t place_count;
};

/* Reads the end of the file `fd`. `path` (copied) is what it is called. On
 * success *file is the caller's, to free. */
COLANDER_CHECKED enum colander_code
filter_directory_read(int fd, const char *path, struct filter_file **file,
                      struct colander_error *err);

/* Reads `size` bytes, or says CORRUPT when the file has fewer. */
COLANDER_CHECKED enum colander_code filter_read(int fd, const char *path,
                                                uint8_t *bytes, size_t size,
                                                uint64_t offset,
                                                struct colander_error *err);

/* Says that the file is damaged, and gives CORRUPT. */
enum colander_code filter_fail_damaged(const char *path, const char *what,
                                       struct colander_error *err);

/* Says what errno says. */
enum colander_code filter_fail_errno(const char *path, const char *what,
                                     struct colander_error *err);

enum colander_code filter_fail_memory(const char *path,
                                      struct colander_error *err);

/* The first bytes of a file. */
void filter_beginning(uint64_t salt, uint8_t bytes[FILTER_BEGINNING_SIZE]);

/* Of a block or directory that stands at `offset`. */
uint64_t filter_checksum(struct colander_slice bytes, uint64_t salt,
                         uint64_t offset);

/* Whether its numbers are in their ranges, and its keys in order. */
bool filter_part_is_valid(const struct filter_part *part);

/* How many places a part has for blocks of a kind to begin at. */
uint64_t filter_part_places(const struct filter_part *part,
                            enum filter_block_kind kind);

/* A number of `size` bytes, the lowest first. */
static inline void
filter_encode_number(uint8_t *bytes, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

static inline uint64_t
filter_decode_number(const uint8_t *bytes, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

#endif
