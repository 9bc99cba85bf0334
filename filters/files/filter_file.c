/*
 * Reads filter files: the end when a file is opened, then block by block.
 * Checksums detect later changes on disk. The file is never mapped, so a file
 * that shrinks causes an error and not a signal.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/files/filter_directory.h"

#include "filters/dictionary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static enum colander_code
open_to_read(const char *path, int *fd, struct colander_error *err)
{
    do {
        /* an open of a pipe must not wait */
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (*fd < 0 && errno == EINTR);
    return *fd < 0 ? filter_fail_errno(path, "open", err) : COLANDER_OK;
}

enum colander_code
filter_file_open_remote(const char *path,
                        const struct colander_remote_files *remote,
                        struct block_cache *cache, struct filter_file **file,
                        struct colander_error *err)
{
    struct filter_source source = {-1, remote, path};
    enum colander_code code;

    *file = NULL;
    code = open_to_read(path, &source.fd, err);
    if (code != COLANDER_OK)
        return code;
    code = filter_directory_read(&source, file, err);
    (void)close(source.fd);
    if (code == COLANDER_OK) {
        (*file)->cache = cache;
        (*file)->remote = remote;
    }
    return code;
}

static struct filter_source
source_of(const struct filter_file *file, int fd)
{
    return (struct filter_source){fd, file->remote, file->path};
}

void
filter_file_count_spans(struct filter_file *file, atomic_size_t *bytes,
                        size_t max)
{
    const size_t size = file->span_count * sizeof(*file->spans);

    if (atomic_fetch_add(bytes, size) + size <= max) {
        file->span_bytes = bytes;
        return;
    }
    atomic_fetch_sub(bytes, size);
    file->span_count = 0;
    free(file->spans);
    file->spans = NULL;
}

struct filter_file *
filter_file_ref(struct filter_file *file)
{
    atomic_fetch_add_explicit(&file->reference_count, 1, memory_order_relaxed);
    return file;
}

void
filter_file_unref(struct filter_file *file)
{
    if (file == NULL || atomic_fetch_sub_explicit(&file->reference_count, 1,
                                                  memory_order_acq_rel) != 1)
        return;
    if (file->cache != NULL)
        block_cache_forget(file->cache, file->salt, file->place_count);
    if (file->span_bytes != NULL)
        atomic_fetch_sub(file->span_bytes,
                         file->span_count * sizeof(*file->spans));
    filter_directory_free(file);
}

/* -------------------------------------------------------------- blocks --- */

/* Reads a block with its checksum into `bytes` and checks it. */
static enum colander_code
read_place(const struct filter_file *file, int fd,
           const struct filter_place *place, uint8_t *bytes,
           struct colander_error *err)
{
    const struct filter_source source = source_of(file, fd);
    enum colander_code code = filter_read(
        &source, bytes, place->size + FILTER_CHECKSUM_SIZE, place->offset, err);

    if (code != COLANDER_OK)
        return code;
    if (filter_checksum(colander_slice_of(bytes, place->size), file->salt,
                        place->offset) != bytes_get_le64(bytes + place->size))
        return filter_fail_damaged(file->path,
                                   "the checksum of a block is wrong", err);
    return COLANDER_OK;
}

/* Replaces a block of a dictionary by what it was compressed from. */
static enum colander_code
unpack_block(const struct filter_file *file, struct cached_block **block,
             struct colander_error *err)
{
    struct cached_block *packed = *block;
    const size_t size = dictionary_block_size(packed->bytes);
    enum colander_code code = COLANDER_OK;

    *block = size == 0 ? NULL : block_cache_allocate(file->cache, size);
    if (size == 0)
        code = filter_fail_damaged(file->path, "a dictionary is damaged", err);
    else if (*block == NULL)
        code = filter_fail_memory(file->path, err);
    else if (!dictionary_block_unpack(packed->bytes, block_cache_bytes(*block),
                                      size))
        code = filter_fail_damaged(file->path,
                                   "a dictionary cannot be decompressed", err);
    block_cache_release(file->cache, packed);
    if (code == COLANDER_OK) {
        block_cache_set_in_turn(*block);
        return COLANDER_OK;
    }
    block_cache_release(file->cache, *block);
    *block = NULL;
    return code;
}

static enum colander_code
load_block(const struct filter_file *file, enum filter_block_kind kind,
           uint32_t index, bool is_kept, struct cached_block **block,
           struct colander_error *err)
{
    const struct filter_place *place = &file->places[index];
    struct cached_block *loaded;
    enum colander_code code;
    int fd;

    loaded =
        block_cache_allocate(file->cache, place->size + FILTER_CHECKSUM_SIZE);
    if (loaded == NULL)
        return filter_fail_memory(file->path, err);
    if (file->remote != NULL)
        code = read_place(file, -1, place, block_cache_bytes(loaded), err);
    else
        code = open_to_read(file->path, &fd, err);
    if (code == COLANDER_OK && file->remote == NULL) {
        code = read_place(file, fd, place, block_cache_bytes(loaded), err);
        (void)close(fd);
    }
    if (code != COLANDER_OK) {
        block_cache_release(file->cache, loaded);
        return code;
    }
    block_cache_cut(loaded, place->size);
    if (kind == FILTER_DICTIONARY)
        code = unpack_block(file, &loaded, err);
    if (code != COLANDER_OK)
        return code;
    if (is_kept)
        block_cache_add(file->cache, loaded, file->salt, index);
    *block = loaded;
    return COLANDER_OK;
}

/* Returns whether a block that is read stays in the cache. Dictionaries are
 * read from beginning to end: beyond half of the cache no block has to leave
 * for them, and what they have there is found again. */
static bool
is_kept(const struct filter_file *file, enum filter_block_kind kind)
{
    return kind != FILTER_DICTIONARY ||
           block_cache_bytes_in_turn(file->cache) <
               block_cache_capacity(file->cache) / 2;
}

/* Returns the index of the last of `count` numbers that is not above `wanted`;
 * the first one is not. They are members of structs of `size` bytes, and below
 * `end`. Distances are similar, so the search starts where the
 * number should be, in steps that double, and then halves. */
static uint32_t
search_numbers(const uint32_t *numbers, size_t size, uint32_t count,
               uint64_t wanted, uint64_t end)
{
    const size_t stride = size / sizeof(*numbers);
    uint64_t guess = count * wanted / end;
    uint32_t low = guess < count ? (uint32_t)guess : count - 1;
    uint32_t high = low + 1; /* above `wanted`, or the end */
    uint32_t step = 1;

    for (; high < count && numbers[high * stride] <= wanted; step *= 2) {
        low = high;
        high = step < count - high ? high + step : count;
    }
    for (; low > 0 && numbers[low * stride] > wanted; step *= 2) {
        high = low;
        low = step < low ? low - step : 0;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (numbers[middle * stride] <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint64_t
filter_file_rows(const struct filter_file *file)
{
    const struct filter_part *end = &file->parts[file->part_count];

    return file->part_count == 0 ? 0
                                 : end[-1].first_row + end[-1].shape.row_count;
}

uint32_t
filter_file_span(const struct filter_file *file, uint64_t row)
{
    return search_numbers(&file->spans->first_row, sizeof(*file->spans),
                          file->span_count, row, filter_file_rows(file));
}

enum colander_code
filter_file_block(const struct filter_file *file,
                  const struct filter_part *part, enum filter_block_kind kind,
                  uint32_t place, struct cached_block **block, uint32_t *first,
                  struct colander_error *err)
{
    const struct filter_place *blocks = &file->places[part->block_first[kind]];
    const uint32_t count = part->block_count[kind];
    uint32_t index = part->block_first[kind];

    *block = NULL;
    if (count == 0 || blocks->first > place)
        return filter_fail_damaged(file->path, "a block is missing", err);
    index += search_numbers(&blocks->first, sizeof(*blocks), count, place,
                            filter_part_places(part, kind));
    *first = file->places[index].first;
    *block = block_cache_find(file->cache, file->salt, index);
    if (*block != NULL)
        return COLANDER_OK;
    return load_block(file, kind, index, is_kept(file, kind), block, err);
}

void
filter_file_fetch(const struct filter_file *file,
                  const struct filter_part *part, uint32_t group, unsigned step)
{
    const uint32_t first = part->block_first[FILTER_LOCATOR];
    const uint32_t count = part->block_count[FILTER_LOCATOR];
    const uint64_t groups = filter_part_places(part, FILTER_LOCATOR);
    const struct filter_place *blocks = &file->places[first];
    uint64_t end;
    uint64_t head;
    uint32_t index;

    if (count == 0 || blocks->first > group)
        return;
    index =
        search_numbers(&blocks->first, sizeof(*blocks), count, group, groups);
    if (step == 0) {
        block_cache_fetch(file->cache, file->salt, first + index);
        return;
    }
    end = index + 1 < count ? blocks[index + 1].first : groups;
    group -= blocks[index].first;
    end -= blocks[index].first;
    head = LOCATOR_NUMBER_SIZE * (1 + end);
    block_cache_fetch_block(file->cache, file->salt, first + index,
                            LOCATOR_NUMBER_SIZE * (1 + (size_t)group));
    if (head < blocks[index].size) /* groups are about equally long */
        block_cache_fetch_block(file->cache, file->salt, first + index,
                                head +
                                    (blocks[index].size - head) * group / end);
}

enum colander_code
filter_file_nth_block(const struct filter_file *file,
                      const struct filter_part *part,
                      enum filter_block_kind kind, uint32_t n,
                      struct cached_block **block, uint32_t *first,
                      struct colander_error *err)
{
    const uint32_t index = part->block_first[kind] + n;

    *first = file->places[index].first;
    *block = block_cache_find(file->cache, file->salt, index);
    if (*block != NULL)
        return COLANDER_OK;
    return load_block(file, kind, index, false, block, err);
}

/* -------------------------------------------------------------- checks --- */

/* Checks that beginning and end are the same as when the file was opened. */
static enum colander_code
check_ends(const struct filter_file *file, int fd, struct colander_error *err)
{
    uint8_t expected[FILTER_BEGINNING_SIZE];
    uint8_t found[FILTER_BEGINNING_SIZE];
    const struct filter_source source = source_of(file, fd);
    struct filter_file *now;
    enum colander_code code;
    bool is_same;

    code = filter_read(&source, found, sizeof(found), 0, err);
    if (code != COLANDER_OK)
        return code;
    filter_beginning(file->version, file->salt, expected);
    if (memcmp(found, expected, sizeof(found)) != 0)
        return filter_fail_damaged(file->path, "its header is damaged", err);
    code = filter_directory_read(&source, &now, err);
    if (code != COLANDER_OK)
        return code;
    is_same = now->size == file->size && now->checksum == file->checksum;
    filter_directory_free(now);
    if (!is_same)
        return filter_fail_damaged(file->path, "another file has replaced it",
                                   err);
    return COLANDER_OK;
}

static enum colander_code
check_blocks(const struct filter_file *file, int fd, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t size = 0;
    uint8_t *bytes;

    for (uint32_t i = 0; i < file->place_count; i++) {
        if (file->places[i].size > size)
            size = file->places[i].size;
    }
    bytes = malloc(size + FILTER_CHECKSUM_SIZE);
    if (bytes == NULL)
        return filter_fail_memory(file->path, err);
    for (uint32_t i = 0; i < file->place_count && code == COLANDER_OK; i++)
        code = read_place(file, fd, &file->places[i], bytes, err);
    free(bytes);
    return code;
}

enum colander_code
filter_file_check(const struct filter_file *file, struct colander_error *err)
{
    enum colander_code code;
    int fd;

    code = open_to_read(file->path, &fd, err);
    if (code != COLANDER_OK)
        return code;
    code = check_ends(file, fd, err);
    if (code == COLANDER_OK)
        code = check_blocks(file, fd, err);
    (void)close(fd);
    return code;
}
