/*
 * Writes filter files: blocks as they come, then the directory, then the
 * footer. In memory are a buffer for the end of the file, and the directory,
 * which takes a few bytes for each block.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/files/filter_directory.h"

#include "core/array.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define WRITE_SIZE (64u << 10)

/* The most bytes that the directory has for a 64-bit number, and for a part
 * without keys and blocks: 12 numbers and 4 bytes. */
#define NUMBER_SIZE_MAX 10
#define PART_SIZE_MAX (12 * NUMBER_SIZE_MAX + 4)

/* A block of the current part, already in the file. */
struct written_block {
    uint32_t size;
    uint32_t first;
    enum filter_block_kind kind;
};

struct filter_writer {
    char *path;
    int fd;
    bool is_finished;
    uint64_t salt;
    uint64_t size; /* including the bytes in `buffer` */

    /* The directory: the parts so far. */
    struct colander_buffer parts;
    uint32_t part_count;
    uint32_t block_count; /* of ended parts */
    uint64_t key_size;    /* of all keys */

    /* The current part. */
    struct written_block *blocks;
    size_t pending_count;
    size_t capacity;
    uint32_t kind_counts[FILTER_KINDS];
    uint32_t kind_firsts[FILTER_KINDS]; /* of the last block of each kind */

    size_t waiting; /* bytes in `buffer` */
    uint8_t buffer[WRITE_SIZE];
};

/* --------------------------------------------------------------- bytes --- */

/* The next four append to a buffer with reserved room. */

static void
add_byte(struct colander_buffer *buffer, unsigned byte)
{
    buffer->data[buffer->size++] = (uint8_t)byte;
}

static void
add_number(struct colander_buffer *buffer, uint64_t number)
{
    buffer->size =
        (size_t)(bytes_put_varint(buffer->data + buffer->size, number) -
                 buffer->data);
}

static void
add_fixed(struct colander_buffer *buffer, uint64_t number)
{
    bytes_put_le64(buffer->data + buffer->size, number);
    buffer->size += sizeof(number);
}

static void
add_bytes(struct colander_buffer *buffer, const void *data, size_t size)
{
    if (size > 0)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

/* ------------------------------------------------------------- writing --- */

static enum colander_code
fail_errno(const struct filter_writer *writer, const char *what,
           struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot %s filter file '%s': %s",
                         what, writer->path, strerror(errno));
}

static enum colander_code
fail_invalid(const struct filter_writer *writer, const char *what,
             struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "cannot write filter file '%s': %s", writer->path,
                         what);
}

static enum colander_code
write_all(struct filter_writer *writer, const uint8_t *data, size_t size,
          struct colander_error *err)
{
    while (size > 0) {
        ssize_t put = write(writer->fd, data, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = ENOSPC;
        if (put <= 0)
            return fail_errno(writer, "write", err);
        data += put;
        size -= (size_t)put;
    }
    return COLANDER_OK;
}

static enum colander_code
flush(struct filter_writer *writer, struct colander_error *err)
{
    size_t waiting = writer->waiting;

    writer->waiting = 0;
    return write_all(writer, writer->buffer, waiting, err);
}

/* Appends to the file. Large pieces are not copied. */
static enum colander_code
put(struct filter_writer *writer, const uint8_t *data, size_t size,
    struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (size > WRITE_SIZE - writer->waiting)
        code = flush(writer, err);
    if (code == COLANDER_OK && size > WRITE_SIZE)
        code = write_all(writer, data, size, err);
    else if (code == COLANDER_OK && size > 0) {
        memcpy(writer->buffer + writer->waiting, data, size);
        writer->waiting += size;
    }
    if (code == COLANDER_OK)
        writer->size += size;
    return code;
}

/* ---------------------------------------------------------------- life --- */

enum colander_code
filter_draw(uint64_t *number, struct colander_error *err)
{
    ssize_t got;

    do {
        got = getrandom(number, sizeof(*number), 0);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof(*number))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "cannot draw a random number: %s",
                             strerror(errno));
    return COLANDER_OK;
}

static enum colander_code
begin(struct filter_writer *writer, struct colander_error *err)
{
    uint8_t bytes[FILTER_BEGINNING_SIZE];
    enum colander_code code = filter_draw(&writer->salt, err);

    if (code != COLANDER_OK) {
        colander_error_context(err, "cannot create filter file '%s'",
                               writer->path);
        return code;
    }
    writer->fd =
        open(writer->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (writer->fd < 0 && errno == EEXIST)
        return COLANDER_FAIL(err, COLANDER_EXISTS,
                             "cannot create filter file '%s': it exists",
                             writer->path);
    if (writer->fd < 0)
        return fail_errno(writer, "make", err);
    filter_beginning(FILTER_FILE_VERSION, writer->salt, bytes);
    return put(writer, bytes, sizeof(bytes), err);
}

enum colander_code
filter_writer_create(const char *path, struct filter_writer **writer,
                     struct colander_error *err)
{
    struct filter_writer *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *writer = NULL;
    if (created != NULL) {
        created->fd = -1;
        created->path = strdup(path);
    }
    if (created == NULL || created->path == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to write filter file '%s'", path);
    else
        code = begin(created, err);
    if (code != COLANDER_OK) {
        filter_writer_destroy(created);
        return code;
    }
    *writer = created;
    return COLANDER_OK;
}

void
filter_writer_destroy(struct filter_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->fd >= 0) {
        (void)close(writer->fd);
        if (!writer->is_finished)
            (void)unlink(writer->path);
    }
    colander_buffer_release(&writer->parts);
    free(writer->blocks);
    free(writer->path);
    free(writer);
}

/* -------------------------------------------------------------- blocks --- */

enum colander_code
filter_writer_block(struct filter_writer *writer, enum filter_block_kind kind,
                    struct colander_slice block, uint32_t first,
                    struct colander_error *err)
{
    uint8_t checksum[FILTER_CHECKSUM_SIZE];
    struct written_block *written;
    enum colander_code code;

    if (block.size > FILTER_BLOCK_SIZE_MAX ||
        writer->pending_count >= UINT32_MAX - writer->block_count)
        return fail_invalid(writer, "a block is too large, or one too many",
                            err);
    if (writer->kind_counts[kind] > 0 && first <= writer->kind_firsts[kind])
        return fail_invalid(writer, "blocks are out of order", err);
    code = array_reserve(&writer->blocks, writer->pending_count,
                         &writer->capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
    bytes_put_le64(checksum,
                   filter_checksum(block, writer->salt, writer->size));
    code = put(writer, block.data, block.size, err);
    if (code == COLANDER_OK)
        code = put(writer, checksum, sizeof(checksum), err);
    if (code != COLANDER_OK)
        return code;
    written = &writer->blocks[writer->pending_count++];
    written->size = (uint32_t)block.size;
    written->first = first;
    written->kind = kind;
    writer->kind_counts[kind]++;
    writer->kind_firsts[kind] = first;
    return COLANDER_OK;
}

/* --------------------------------------------------------------- parts --- */

static enum colander_code
check_part(const struct filter_writer *writer, const struct filter_part *part,
           struct colander_error *err)
{
    if (!filter_part_is_valid(part))
        return fail_invalid(writer, "a part is out of range", err);
    for (unsigned kind = 0; kind < FILTER_KINDS; kind++) {
        if (writer->kind_counts[kind] > 0 &&
            writer->kind_firsts[kind] >= filter_part_places(part, kind))
            return fail_invalid(writer, "a block is after the end of its part",
                                err);
    }
    if (writer->part_count == UINT32_MAX)
        return fail_invalid(writer, "a part too many", err);
    return COLANDER_OK;
}

static void
add_part(struct colander_buffer *parts, const struct filter_part *part)
{
    add_number(parts, part->shape.row_count);
    add_number(parts, part->shape.fine);
    add_number(parts, part->shape.coarse);
    add_byte(parts, part->shape.hash_bits);
    add_byte(parts, part->shape.group_bits);
    add_number(parts, part->presence.block_count);
    add_byte(parts, part->presence.probes);
    add_byte(parts, part->presence.hash_bits);
    add_number(parts, part->hash_count);
    add_number(parts, part->first_key.size);
    add_bytes(parts, part->first_key.data, part->first_key.size);
    add_number(parts, part->last_key.size);
    add_bytes(parts, part->last_key.data, part->last_key.size);
}

/* Appends the blocks in the order of the file, so that their offsets need not
 * be stored. Each has the distance of its first place from that of the block
 * before of its kind. */
static void
add_blocks(struct filter_writer *writer)
{
    struct colander_buffer *parts = &writer->parts;
    uint32_t before[FILTER_KINDS] = {0};

    for (unsigned kind = 0; kind < FILTER_KINDS; kind++)
        add_number(parts, writer->kind_counts[kind]);
    for (size_t i = 0; i < writer->pending_count; i++) {
        const struct written_block *block = &writer->blocks[i];

        add_number(parts, (uint64_t)block->size * FILTER_KINDS +
                              (unsigned)block->kind);
        add_number(parts, block->first - before[block->kind]);
        before[block->kind] = block->first;
    }
}

enum colander_code
filter_writer_part_end(struct filter_writer *writer,
                       const struct filter_part *part,
                       struct colander_error *err)
{
    size_t key_size = part->first_key.size + part->last_key.size;
    enum colander_code code = check_part(writer, part, err);

    if (code == COLANDER_OK)
        code = colander_buffer_reserve(&writer->parts,
                                       PART_SIZE_MAX + key_size +
                                           writer->pending_count * 2 *
                                               NUMBER_SIZE_MAX,
                                       err);
    if (code != COLANDER_OK)
        return code;
    add_part(&writer->parts, part);
    add_blocks(writer);
    writer->part_count++;
    writer->key_size += key_size;
    writer->block_count += (uint32_t)writer->pending_count;
    writer->pending_count = 0;
    memset(writer->kind_counts, 0, sizeof(writer->kind_counts));
    return COLANDER_OK;
}

/* -------------------------------------------------------------- finish --- */

static void
add_paths(struct colander_buffer *directory, const uint64_t *paths,
          uint32_t count)
{
    add_number(directory, count);
    for (uint32_t i = 0; i < count; i++)
        add_fixed(directory, paths[i]);
}

/* Builds the directory: what describes the file, the counts for which a reader
 * needs memory, the parts, and the spans. */
static enum colander_code
make_directory(const struct filter_writer *writer,
               const struct filter_head *head, const struct filter_span *spans,
               size_t span_count, struct colander_buffer *directory,
               struct colander_error *err)
{
    struct filter_span before = {0, 0, 0};
    enum colander_code code = colander_buffer_reserve(
        directory,
        sizeof(*head) + 10 * NUMBER_SIZE_MAX + 8 + writer->parts.size +
            span_count * (2 * NUMBER_SIZE_MAX + sizeof(spans->key_sum)),
        err);

    if (code != COLANDER_OK)
        return code;
    add_fixed(directory, writer->salt);
    add_bytes(directory, head->tag, SST_TAG_SIZE);
    add_number(directory, head->entry_count);
    add_number(directory, head->words_version);
    add_number(directory, head->words_size);
    add_number(directory, head->hash_version);
    add_paths(directory, head->unfiltered, head->unfiltered_count);
    add_number(directory, writer->part_count);
    add_number(directory, writer->block_count);
    add_number(directory, writer->key_size);
    add_bytes(directory, writer->parts.data, writer->parts.size);
    add_number(directory, span_count);
    for (size_t i = 0; i < span_count; i++) {
        add_number(directory, spans[i].offset - before.offset);
        add_number(directory, spans[i].first_row - before.first_row);
        bytes_put_le32(directory->data + directory->size, spans[i].key_sum);
        directory->size += sizeof(spans[i].key_sum);
        before = spans[i];
    }
    add_paths(directory, head->word_columns, head->word_column_count);
    return COLANDER_OK;
}

static enum colander_code
put_directory(struct filter_writer *writer, struct colander_slice directory,
              struct colander_error *err)
{
    uint8_t footer[FILTER_FOOTER_SIZE];
    uint64_t offset = writer->size;
    enum colander_code code = put(writer, directory.data, directory.size, err);

    bytes_put_le64(footer, offset);
    bytes_put_le64(footer + 8, directory.size);
    /* The checksum of the footer covers the salt, so it needs none. */
    bytes_put_le64(footer + 16, filter_checksum(directory, 0, offset));
    bytes_put_le32(footer + 24, 0);
    bytes_put_le32(footer + 28, FILTER_FILE_VERSION);
    memcpy(footer + 32, FILTER_FILE_MAGIC, FILTER_MAGIC_SIZE);
    if (code == COLANDER_OK)
        code = put(writer, footer, sizeof(footer), err);
    return code;
}

static enum colander_code
sync_and_close(struct filter_writer *writer, struct colander_error *err)
{
    enum colander_code code = flush(writer, err);
    int closed;

    if (code != COLANDER_OK)
        return code;
    while (fdatasync(writer->fd) != 0) {
        if (errno != EINTR)
            return fail_errno(writer, "sync", err);
    }
    closed = close(writer->fd);
    writer->fd = -1;
    if (closed != 0 && errno != EINTR) {
        (void)fail_errno(writer, "close", err);
        (void)unlink(writer->path);
        return COLANDER_IO;
    }
    writer->is_finished = true;
    return COLANDER_OK;
}

enum colander_code
filter_writer_finish(struct filter_writer *writer,
                     const struct filter_head *head,
                     const struct filter_span *spans, size_t count,
                     struct colander_error *err)
{
    struct colander_buffer directory = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    assert(!writer->is_finished);
    if (writer->pending_count > 0)
        return fail_invalid(writer, "a part has not ended", err);
    if (count > UINT32_MAX)
        return fail_invalid(writer, "too many blocks of its SST", err);
    if (head->unfiltered_count > FILTER_PATHS_MAX ||
        head->word_column_count > FILTER_PATHS_MAX)
        return fail_invalid(writer, "too many columns in a list", err);
    code = make_directory(writer, head, spans, count, &directory, err);
    if (code == COLANDER_OK)
        code = put_directory(writer, colander_buffer_slice(&directory), err);
    if (code == COLANDER_OK)
        code = sync_and_close(writer, err);
    colander_buffer_release(&directory);
    return code;
}
