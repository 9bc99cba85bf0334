/*
 * One of RocksDB's logs: see log_walk.h.
 *
 * A log is a row of blocks of 32 KiB. A record lies in one of them, or in
 * several as a first, middle and last piece. Before each piece stands its head:
 * checksum of type and content, size, type. Where less than a head is left of a
 * block there are zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/log_walk.h"

#include "core/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_SIZE 32768
#define HEAD_SIZE LOG_HEAD_SIZE
#define WRITE_HEAD_SIZE LOG_WRITE_HEAD_SIZE

enum piece_type { PIECE_FULL = 1, PIECE_FIRST, PIECE_MIDDLE, PIECE_LAST };

/* A log, and the block of it that was read last. */
struct log {
    int fd;
    const char *name;
    uint64_t block_at; /* in the file */
    size_t block_size; /* less than BLOCK_SIZE: the last */
    uint8_t block[BLOCK_SIZE];
};

static enum colander_code
fail_read(const char *name, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot read %s: %s", name,
                         strerror(errno));
}

enum colander_code
log_fail_damaged(const char *name, uint64_t byte, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "%s is damaged at byte %" PRIu64
                         ", and what was written after that is behind it",
                         name, byte);
}

/* Reads the block at `at`; an empty one at the end. */
static enum colander_code
read_block(struct log *log, uint64_t at, struct colander_error *err)
{
    log->block_at = at;
    log->block_size = 0;
    while (log->block_size < BLOCK_SIZE) {
        ssize_t got =
            pread(log->fd, log->block + log->block_size,
                  BLOCK_SIZE - log->block_size, (off_t)(at + log->block_size));

        if (got < 0 && errno != EINTR)
            return fail_read(log->name, err);
        if (got == 0)
            break;
        log->block_size += got > 0 ? (size_t)got : 0;
    }
    return COLANDER_OK;
}

/* --------------------------------------------------------------- pieces --- */

static uint32_t
get_32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
           (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Checksums are stored so that those of bytes with checksums differ. */
static uint32_t
masked(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

/* What the record begins with whose first piece is at a place of the block. */
static struct write_head
write_head_at(const struct log *log, size_t place)
{
    struct write_head head = {0, 0};
    const uint8_t *at = log->block + place + HEAD_SIZE;

    if (place + HEAD_SIZE + WRITE_HEAD_SIZE > log->block_size)
        return head;
    head.sequence = (uint64_t)get_32(at) | (uint64_t)get_32(at + 4) << 32;
    head.count = get_32(at + 8);
    return head;
}

/* The type of the piece at a place of the block, and its size with the head; 0
 * where no good one is. */
static unsigned
piece_at(const struct log *log, size_t place, size_t *size)
{
    const uint8_t *head = log->block + place;
    size_t content;

    if (log->block_size - place < HEAD_SIZE)
        return 0;
    content = (size_t)head[4] | (size_t)head[5] << 8;
    if (head[6] < PIECE_FULL || head[6] > PIECE_LAST ||
        content > log->block_size - place - HEAD_SIZE)
        return 0;
    if (masked(crc32c(0, head + HEAD_SIZE - 1, content + 1)) != get_32(head))
        return 0;
    *size = HEAD_SIZE + content;
    return head[6];
}

/* Whether a record begins at or behind a place of the block. After a bad head
 * nobody knows where the next one is. */
static bool
has_record_behind(const struct log *log, size_t place)
{
    for (; place + HEAD_SIZE <= log->block_size; place++) {
        size_t size;
        unsigned type = piece_at(log, place, &size);

        if (type == PIECE_FULL || type == PIECE_FIRST)
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------- logs --- */

static void
note_record(struct log_state *state)
{
    const struct write_head *head = &state->begun;

    if (state->next_sequence == 0)
        state->first = *head;
    state->next_sequence =
        head->sequence == 0 ? 0 : head->sequence + head->count;
}

/* Steps over the pieces of a block. At one that cannot be where it is, *place
 * stays there. */
static void
walk_block(const struct log *log, struct log_state *state, uint64_t *begun_at,
           size_t *place)
{
    while (*place + HEAD_SIZE <= BLOCK_SIZE && *place < log->block_size) {
        size_t size;
        unsigned type = piece_at(log, *place, &size);
        const bool begins = type == PIECE_FULL || type == PIECE_FIRST;

        if (type == 0 || begins == state->has_begun)
            return;
        if (begins) {
            *begun_at = log->block_at + *place;
            state->begun = write_head_at(log, *place);
        }
        state->has_begun = type == PIECE_FIRST || type == PIECE_MIDDLE;
        if (!state->has_begun)
            note_record(state);
        *place += size;
    }
    *place = log->block_size;
}

/* CORRUPT when a record begins behind the bad one at `place` of the block,
 * which itself may be the good beginning of another. */
static enum colander_code
look_behind(struct log *log, size_t place, const struct log_state *state,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && log->block_size > 0) {
        if (has_record_behind(log, place))
            return log_fail_damaged(log->name, state->bad_at, err);
        place = 0;
        code = read_block(log, log->block_at + BLOCK_SIZE, err);
    }
    return code;
}

static enum colander_code
walk(struct log *log, struct log_state *state, struct colander_error *err)
{
    uint64_t begun_at = 0;
    size_t place = 0;
    enum colander_code code = read_block(log, 0, err);

    while (code == COLANDER_OK && log->block_size > 0) {
        place = 0;
        walk_block(log, state, &begun_at, &place);
        if (place < log->block_size) {
            state->bad_at = state->has_begun ? begun_at : log->block_at + place;
            state->bad =
                state->has_begun ? state->begun : write_head_at(log, place);
            return look_behind(log, place, state, err);
        }
        code = read_block(log, log->block_at + BLOCK_SIZE, err);
    }
    state->bad_at = state->has_begun ? begun_at : state->size;
    state->bad = state->begun;
    return code;
}

enum colander_code
log_walk(const char *directory, const char *name, struct log_state *state,
         struct colander_error *err)
{
    struct log *log = malloc(sizeof(*log));
    enum colander_code code;
    char path[PATH_MAX];
    off_t size;

    memset(state, 0, sizeof(*state));
    if (log == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a log");
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    log->name = name;
    log->fd = open(path, O_RDONLY | O_CLOEXEC);
    size = log->fd < 0 ? -1 : lseek(log->fd, 0, SEEK_END);
    if (size < 0) {
        code = fail_read(name, err);
    } else {
        state->size = (uint64_t)size;
        code = walk(log, state, err);
    }
    if (log->fd >= 0)
        (void)close(log->fd);
    free(log);
    return code;
}

/* ---------------------------------------------------------------- tail --- */

/* Steps over what can be stepped over at once: the rest of a block that has no
 * room for a head, a byte of a head, content. Returns how many bytes. */
static size_t
step_over(struct log_tail *tail, const uint8_t *bytes, size_t size)
{
    const size_t block_left = BLOCK_SIZE - (size_t)(tail->size % BLOCK_SIZE);
    size_t step = 1;

    if (tail->piece_left > 0) {
        step = size < tail->piece_left ? size : tail->piece_left;
        tail->piece_left -= step;
    } else if (tail->head_size == 0 && block_left < HEAD_SIZE) {
        return size < block_left ? size : block_left;
    } else {
        tail->head[tail->head_size++] = bytes[0];
        if (tail->head_size == HEAD_SIZE)
            tail->piece_left = (size_t)tail->head[4] | (size_t)tail->head[5]
                                                           << 8;
    }
    return step;
}

void
log_tail_add(struct log_tail *tail, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const size_t step = step_over(tail, bytes, size);

        tail->size += step;
        bytes += step;
        size -= step;
        if (tail->head_size == HEAD_SIZE && tail->piece_left == 0) {
            if (tail->head[6] == PIECE_FULL || tail->head[6] == PIECE_LAST)
                tail->whole = tail->size;
            tail->head_size = 0;
        }
    }
}
