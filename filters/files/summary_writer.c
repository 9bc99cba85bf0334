/*
 * Writes summaries: see filters/summary.h.
 *
 * The presences of a group are read a few blocks at a time, from all parts. So
 * memory is bounded, whatever their size.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/files/summary_bytes.h"

#include "columns/candidates.h"
#include "columns/values.h"
#include "core/bytes.h"
#include "filters/files/filter_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK_BLOCKS 128 /* of a presence that are read at once */

struct writing {
    const char *path;
    int fd;
    int presences;
    uint64_t salt;
    uint64_t offset;
    uint8_t *chunk; /* blocks of each part */
    uint8_t *block; /* of the summary, and its checksum */
};

static enum colander_code
put(struct writing *writing, const uint8_t *bytes, size_t size,
    struct colander_error *err)
{
    while (size > 0) {
        const ssize_t written = write(writing->fd, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return filter_fail_errno(writing->path, "write", err);
        bytes += written;
        size -= (size_t)written;
        writing->offset += (uint64_t)written;
    }
    return COLANDER_OK;
}

/* -------------------------------------------------------------- groups --- */

/* Reads blocks `first` to `first` + `count` - 1 of each part. */
static enum colander_code
read_chunk(const struct writing *writing, const struct summary_part *parts,
           uint32_t part_count, uint32_t first, uint32_t count,
           struct colander_error *err)
{
    const struct filter_source source = {writing->presences, NULL,
                                         writing->path};
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0; i < part_count && code == COLANDER_OK; i++)
        code = filter_read(
            &source,
            writing->chunk + (size_t)i * CHUNK_BLOCKS * SUMMARY_CELL_SIZE,
            (size_t)count * SUMMARY_CELL_SIZE,
            parts[i].offset + (uint64_t)first * SUMMARY_CELL_SIZE, err);
    return code;
}

static enum colander_code
put_group(struct writing *writing, const struct summary_part *parts,
          uint32_t count, struct colander_error *err)
{
    const uint32_t blocks = parts[0].shape.block_count;
    const size_t size = summary_block_size(count);
    enum colander_code code = COLANDER_OK;

    for (uint32_t b = 0; b < blocks && code == COLANDER_OK; b++) {
        const uint32_t in_chunk = b % CHUNK_BLOCKS;

        if (in_chunk == 0)
            code = read_chunk(
                writing, parts, count, b,
                blocks - b < CHUNK_BLOCKS ? blocks - b : CHUNK_BLOCKS, err);
        if (code != COLANDER_OK)
            break;
        for (uint32_t i = 0; i < count; i++)
            memcpy(writing->block + (size_t)i * SUMMARY_CELL_SIZE,
                   writing->chunk + ((size_t)i * CHUNK_BLOCKS + in_chunk) *
                                        SUMMARY_CELL_SIZE,
                   SUMMARY_CELL_SIZE);
        bytes_put_le64(writing->block + size,
                       filter_checksum(colander_slice_of(writing->block, size),
                                       writing->salt, writing->offset));
        code = put(writing, writing->block, size + FILTER_CHECKSUM_SIZE, err);
    }
    return code;
}

/* ------------------------------------------------------------ directory --- */

static enum colander_code
append_numbers(struct colander_buffer *bytes, const uint64_t *numbers,
               size_t count, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = bytes_append_varint(bytes, numbers[i], err);
    return code;
}

/* Returns how many parts from `first` on have the shape of the first. */
static uint32_t
group_size(const struct summary_part *parts, uint32_t first, uint32_t count)
{
    uint32_t end = first + 1;

    while (end < count &&
           presence_is_same_shape(&parts[first].shape, &parts[end].shape))
        end++;
    return end - first;
}

static enum colander_code
append_groups(struct colander_buffer *bytes, const struct summary_part *parts,
              uint32_t count, struct colander_error *err)
{
    uint64_t groups = 0;
    enum colander_code code;

    for (uint32_t i = 0; i < count; i += group_size(parts, i, count))
        groups++;
    code = bytes_append_varint(bytes, groups, err);
    for (uint32_t i = 0; i < count && code == COLANDER_OK;) {
        const uint32_t size = group_size(parts, i, count);
        const struct presence_shape *shape = &parts[i].shape;
        const uint64_t head[] = {shape->block_count, shape->probes,
                                 shape->hash_bits, size};

        code = append_numbers(bytes, head, 4, err);
        for (uint32_t end = i + size; i < end && code == COLANDER_OK; i++)
            code = bytes_append_varint(bytes, parts[i].sst, err);
    }
    return code;
}

static enum colander_code
put_end(struct writing *writing, const struct summary_sst *ssts,
        uint32_t sst_count, const struct summary_part *parts, uint32_t count,
        struct colander_error *err)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    uint8_t footer[SUMMARY_FOOTER_SIZE];
    enum colander_code code = bytes_append_varint(&bytes, sst_count, err);

    for (uint32_t i = 0; i < sst_count && code == COLANDER_OK; i++) {
        const uint64_t sst[] = {ssts[i].number, ssts[i].size,
                                ssts[i].part_count,
                                ssts[i].has_words ? TEXT_WORDS_VERSION : 0};

        code = append_numbers(&bytes, sst, 4, err);
    }
    if (code == COLANDER_OK)
        code = append_groups(&bytes, parts, count, err);
    if (code == COLANDER_OK) {
        bytes_put_le64(footer, writing->offset);
        bytes_put_le64(footer + 8, bytes.size);
        bytes_put_le64(footer + 16,
                       filter_checksum(colander_buffer_slice(&bytes),
                                       writing->salt, writing->offset));
        bytes_put_le64(footer + 24, writing->salt);
        bytes_put_le32(footer + 32, SUMMARY_VERSION);
        bytes_put_le32(footer + 36, COLANDER_HASH_VERSION);
        memcpy(footer + 40, SUMMARY_MAGIC, SUMMARY_MAGIC_SIZE);
        code = put(writing, bytes.data, bytes.size, err);
    }
    if (code == COLANDER_OK)
        code = put(writing, footer, sizeof(footer), err);
    colander_buffer_release(&bytes);
    return code;
}

/* -------------------------------------------------------------- writing --- */

static int
compare_parts(const void *one, const void *other)
{
    const struct summary_part *a = one;
    const struct summary_part *b = other;

    if (a->shape.block_count != b->shape.block_count)
        return a->shape.block_count < b->shape.block_count ? -1 : 1;
    if (a->shape.probes != b->shape.probes)
        return a->shape.probes - b->shape.probes;
    if (a->shape.hash_bits != b->shape.hash_bits)
        return a->shape.hash_bits - b->shape.hash_bits;
    return (a->sst > b->sst) - (a->sst < b->sst);
}

static enum colander_code
put_all(struct writing *writing, const struct summary_sst *ssts,
        uint32_t sst_count, const struct summary_part *parts, uint32_t count,
        struct colander_error *err)
{
    enum colander_code code =
        put(writing, (const uint8_t *)SUMMARY_MAGIC, SUMMARY_MAGIC_SIZE, err);

    for (uint32_t i = 0; i < count && code == COLANDER_OK;) {
        const uint32_t size = group_size(parts, i, count);

        code = put_group(writing, parts + i, size, err);
        i += size;
    }
    if (code == COLANDER_OK)
        code = put_end(writing, ssts, sst_count, parts, count, err);
    if (code == COLANDER_OK && fsync(writing->fd) != 0)
        code = filter_fail_errno(writing->path, "sync", err);
    return code;
}

enum colander_code
summary_write(const char *path, int presences, const struct summary_sst *ssts,
              uint32_t sst_count, struct summary_part *parts, uint32_t count,
              struct colander_error *err)
{
    struct writing writing = {.path = path, .fd = -1, .presences = presences};
    enum colander_code code = filter_draw(&writing.salt, err);

    if (count > 0)
        qsort(parts, count, sizeof(*parts), compare_parts);
    writing.chunk =
        malloc((size_t)count * CHUNK_BLOCKS * SUMMARY_CELL_SIZE + 1);
    writing.block = malloc(summary_block_size(count) + FILTER_CHECKSUM_SIZE);
    if (code == COLANDER_OK && (writing.chunk == NULL || writing.block == NULL))
        code = filter_fail_memory(path, err);
    if (code == COLANDER_OK) {
        writing.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (writing.fd < 0)
            code = filter_fail_errno(path, "create", err);
    }
    if (code == COLANDER_OK)
        code = put_all(&writing, ssts, sst_count, parts, count, err);
    if (writing.fd >= 0 && close(writing.fd) != 0 && code == COLANDER_OK)
        code = filter_fail_errno(path, "close", err);
    if (writing.fd >= 0 && code != COLANDER_OK)
        (void)unlink(path);
    free(writing.chunk);
    free(writing.block);
    return code;
}
