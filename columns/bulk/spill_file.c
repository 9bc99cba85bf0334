/* SPDX-License-Identifier: MIT */
#include "columns/spill_file.h"

#include "columns/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define WRITE_SIZE (1u << 20)

struct spill_head {
    uint32_t key_size;
    uint32_t row_size;
    uint32_t key_check;
    uint32_t row_check;
};

static enum colander_code
fail_errno(const char *what, struct colander_error *err)
{
    int number = errno;

    return COLANDER_FAIL(err, COLANDER_IO,
                         "cannot %s a file of rows that wait: %s", what,
                         strerror(number));
}

static enum colander_code
fail_damaged(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "rows that waited on disk are not what was written");
}

enum colander_code
spill_file_open(const char *directory, int *fd, struct colander_error *err)
{
    char *path;

    *fd = -1;
    if (asprintf(&path, "%s/rows-XXXXXX", directory) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the name of a file");
    *fd = mkostemp(path, O_CLOEXEC); /* 0600 */
    if (*fd >= 0)
        (void)unlink(path); /* or it is removed with the directory */
    free(path);
    return *fd >= 0 ? COLANDER_OK : fail_errno("make", err);
}

struct colander_slice
spill_region_sample(const struct spill_region *region, size_t index)
{
    const struct spill_sample *sample = &region->samples[index];

    return colander_slice_of(region->sample_keys.data + sample->key_at,
                             sample->key_size);
}

void
spill_region_release(struct spill_region *region)
{
    colander_buffer_release(&region->sample_keys);
}

/* -------------------------------------------------------------- writing --- */

static uint32_t
check_of_key(const struct spill_head *head, struct colander_slice key)
{
    const uint64_t sizes = (uint64_t)head->key_size << 32 | head->row_size;

    return (uint32_t)XXH3_64bits_withSeed(key.data, key.size, sizes);
}

static uint32_t
check_of_row(struct colander_slice row)
{
    return (uint32_t)XXH3_64bits(row.data, row.size);
}

void
spill_writer_init(struct spill_writer *writer, struct spill_region *region,
                  int fd, uint64_t offset, uint64_t expected)
{
    const struct colander_buffer none = COLANDER_BUFFER_EMPTY;

    memset(region, 0, sizeof(*region));
    region->fd = fd;
    region->offset = offset;
    writer->region = region;
    writer->buffer = none;
    writer->sample_step = expected / SPILL_SAMPLES_MAX + 1;
}

enum colander_code
spill_writer_finish(struct spill_writer *writer, struct colander_error *err)
{
    const struct spill_region *region = writer->region;
    const uint8_t *at = writer->buffer.data;
    size_t left = writer->buffer.size;
    uint64_t offset = region->offset + region->size - left;

    while (left > 0) {
        ssize_t put = pwrite(region->fd, at, left, (off_t)offset);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return fail_errno("write", err);
        at += put;
        left -= (size_t)put;
        offset += (uint64_t)put;
    }
    colander_buffer_clear(&writer->buffer);
    return COLANDER_OK;
}

/* Keeps the key of the row that comes next. */
static enum colander_code
take_sample(struct spill_region *region, struct colander_slice key,
            struct colander_error *err)
{
    struct spill_sample *sample = &region->samples[region->sample_count];
    enum colander_code code;

    sample->offset = region->offset + region->size;
    sample->key_at = region->sample_keys.size;
    sample->key_size = key.size;
    code =
        colander_buffer_append(&region->sample_keys, key.data, key.size, err);
    region->sample_count += code == COLANDER_OK;
    return code;
}

enum colander_code
spill_writer_add(struct spill_writer *writer, struct colander_slice key,
                 struct colander_slice row, struct colander_error *err)
{
    struct spill_region *region = writer->region;
    struct colander_buffer *buffer = &writer->buffer;
    struct spill_head head = {(uint32_t)key.size, (uint32_t)row.size, 0, 0};
    const size_t size = sizeof(head) + key.size + row.size;
    enum colander_code code = COLANDER_OK;

    head.key_check = check_of_key(&head, key);
    head.row_check = check_of_row(row);
    if (region->sample_count < SPILL_SAMPLES_MAX &&
        region->size >= region->sample_count * writer->sample_step)
        code = take_sample(region, key, err);
    if (code == COLANDER_OK && buffer->size > 0 &&
        buffer->size + size > WRITE_SIZE)
        code = spill_writer_finish(writer, err);
    if (code == COLANDER_OK)
        code = colander_buffer_reserve(
            buffer, buffer->size + size > WRITE_SIZE ? size : WRITE_SIZE, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(buffer, &head, sizeof(head), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(buffer, key.data, key.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(buffer, row.data, row.size, err);
    if (code != COLANDER_OK)
        return code;
    region->size += size;
    region->count++;
    return COLANDER_OK;
}

void
spill_writer_release(struct spill_writer *writer)
{
    colander_buffer_release(&writer->buffer);
}

/* -------------------------------------------------------------- reading --- */

void
spill_reader_init(struct spill_reader *reader,
                  const struct spill_region *region, uint8_t *buffer,
                  size_t capacity)
{
    memset(reader, 0, sizeof(*reader));
    reader->region = region;
    reader->buffer = buffer;
    reader->capacity = capacity;
    reader->at = region->offset;
}

void
spill_reader_seek(struct spill_reader *reader, struct colander_slice key)
{
    const struct spill_region *region = reader->region;

    for (size_t i = 0; i < region->sample_count; i++) {
        if (colander_slice_compare(spill_region_sample(region, i), key) > 0)
            break;
        reader->at = region->samples[i].offset;
    }
    reader->begin = 0;
    reader->filled = 0;
    reader->skip = 0;
    reader->key = colander_slice_of(NULL, 0);
}

static uint64_t
end_of(const struct spill_region *region)
{
    return region->offset + region->size;
}

static enum colander_code
read_at(int fd, uint8_t *bytes, size_t size, uint64_t offset,
        struct colander_error *err)
{
    while (size > 0) {
        ssize_t got = pread(fd, bytes, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno("read", err);
        if (got == 0)
            return fail_damaged(err);
        bytes += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return COLANDER_OK;
}

/* Bytes of the region that the buffer has, from the present row on. */
static size_t
buffered(const struct spill_reader *reader)
{
    return reader->filled - reader->begin;
}

/* Fills the buffer with at least `size` bytes of the present row. Requires that
 * they fit. */
static enum colander_code
fill(struct spill_reader *reader, size_t size, struct colander_error *err)
{
    const uint64_t left = end_of(reader->region) - reader->at;
    enum colander_code code;
    size_t room;

    if (buffered(reader) >= size)
        return COLANDER_OK;
    memmove(reader->buffer, reader->buffer + reader->begin, buffered(reader));
    reader->filled -= reader->begin;
    reader->begin = 0;
    room = reader->capacity - reader->filled;
    if (room > left)
        room = (size_t)left;
    if (reader->filled + room < size)
        return fail_damaged(err);
    code = read_at(reader->region->fd, reader->buffer + reader->filled, room,
                   reader->at, err);
    if (code != COLANDER_OK)
        return code;
    reader->filled += room;
    reader->at += room;
    return COLANDER_OK;
}

/* Skips the present row. */
static void
skip_row(struct spill_reader *reader)
{
    if (reader->skip <= buffered(reader)) {
        reader->begin += (size_t)reader->skip;
    } else {
        reader->at += reader->skip - buffered(reader);
        reader->begin = reader->filled = 0;
    }
    reader->skip = 0;
}

static const uint8_t *
set_key(struct spill_reader *reader, size_t size)
{
    const uint8_t *at =
        reader->buffer + reader->begin + sizeof(struct spill_head);

    reader->key = colander_slice_of(at, size);
    return at + size;
}

enum colander_code
spill_reader_next(struct spill_reader *reader, struct colander_error *err)
{
    struct spill_head head;
    enum colander_code code;

    skip_row(reader);
    reader->key = colander_slice_of(NULL, 0);
    if (buffered(reader) == 0 && reader->at == end_of(reader->region))
        return COLANDER_OK;
    code = fill(reader, sizeof(head), err);
    if (code != COLANDER_OK)
        return code;
    memcpy(&head, reader->buffer + reader->begin, sizeof(head));
    if (head.key_size > COLANDER_KEY_SIZE_MAX ||
        head.row_size > COLANDER_ROW_SIZE_MAX)
        return fail_damaged(err);
    code = fill(reader, sizeof(head) + head.key_size, err);
    if (code != COLANDER_OK)
        return code;
    (void)set_key(reader, head.key_size);
    reader->row_size = head.row_size;
    reader->row_check = head.row_check;
    reader->skip = sizeof(head) + (uint64_t)head.key_size + head.row_size;
    if (reader->skip >
            buffered(reader) + (end_of(reader->region) - reader->at) ||
        check_of_key(&head, reader->key) != head.key_check)
        return fail_damaged(err);
    return COLANDER_OK;
}

/* Reads a row that is larger than the buffer. */
static enum colander_code
read_large(const struct spill_reader *reader, struct colander_buffer *large,
           struct colander_slice *row, struct colander_error *err)
{
    const uint64_t end =
        reader->at - buffered(reader) + reader->skip; /* of the row */
    enum colander_code code;

    colander_buffer_clear(large);
    code = colander_buffer_reserve(large, reader->row_size, err);
    if (code == COLANDER_OK)
        code = read_at(reader->region->fd, large->data, reader->row_size,
                       end - reader->row_size, err);
    if (code == COLANDER_OK)
        *row = colander_slice_of(large->data, reader->row_size);
    return code;
}

enum colander_code
spill_reader_row(struct spill_reader *reader, struct colander_buffer *large,
                 struct colander_slice *row, struct colander_error *err)
{
    enum colander_code code;

    if (reader->skip > reader->capacity) {
        code = read_large(reader, large, row, err);
    } else {
        code = fill(reader, (size_t)reader->skip, err);
        if (code == COLANDER_OK)
            *row = colander_slice_of(set_key(reader, reader->key.size),
                                     reader->row_size);
    }
    if (code == COLANDER_OK && check_of_row(*row) != reader->row_check)
        return fail_damaged(err);
    return code;
}
