/*
 * One of RocksDB's logs: see log_walk.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/log_walk.h"

#include "core/log_block.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_SIZE LOG_BLOCK_SIZE
#define HEAD_SIZE LOG_HEAD_SIZE
#define WRITE_HEAD_SIZE LOG_WRITE_HEAD_SIZE

enum colander_code
log_fail_damaged(const char *name, uint64_t byte, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "%s is damaged at byte %" PRIu64
                         ", and what was written after that is behind it",
                         name, byte);
}

/* --------------------------------------------------------------- pieces --- */

static uint32_t
get_32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
           (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* What the record begins with whose first piece is at a place of the block. */
static struct write_head
write_head_at(const struct log_block *log, size_t place)
{
    struct write_head head = {0, 0};
    const uint8_t *at = log->bytes + place + HEAD_SIZE;

    if (place + HEAD_SIZE + WRITE_HEAD_SIZE > log->size)
        return head;
    head.sequence = (uint64_t)get_32(at) | (uint64_t)get_32(at + 4) << 32;
    head.count = get_32(at + 8);
    return head;
}

/* The piece at a place of the block, and its size with the head. */
static enum log_piece
piece_at(const struct log_block *log, size_t place, size_t *size)
{
    struct colander_slice content = {NULL, 0};
    const enum log_piece piece = log_block_piece(log, place, &content);

    *size = HEAD_SIZE + content.size;
    return piece;
}

/* Whether a record begins at or behind a place of the block. After a bad head
 * nobody knows where the next one is. */
static bool
has_record_behind(const struct log_block *log, size_t place)
{
    for (; place + HEAD_SIZE <= log->size; place++) {
        size_t size;
        const enum log_piece type = piece_at(log, place, &size);

        if (type == LOG_PIECE_FULL || type == LOG_PIECE_FIRST)
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
walk_block(const struct log_block *log, struct log_state *state,
           uint64_t *begun_at, size_t *place)
{
    while (*place + HEAD_SIZE <= BLOCK_SIZE && *place < log->size) {
        size_t size;
        const enum log_piece type = piece_at(log, *place, &size);
        const bool begins = type == LOG_PIECE_FULL || type == LOG_PIECE_FIRST;

        if (type == LOG_PIECE_BAD || begins == state->has_begun)
            return;
        if (begins) {
            *begun_at = log->at + *place;
            state->begun = write_head_at(log, *place);
        }
        state->has_begun = type == LOG_PIECE_FIRST || type == LOG_PIECE_MIDDLE;
        if (!state->has_begun)
            note_record(state);
        *place += size;
    }
    *place = log->size;
}

/* Whether a record begins behind the bad one at `place` of the block, which
 * itself may be the good beginning of another. */
static enum colander_code
look_behind(struct log_block *log, size_t place, struct log_state *state,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && log->size > 0 && !state->has_behind) {
        state->has_behind = has_record_behind(log, place);
        place = 0;
        code = log_block_read(log, log->at + BLOCK_SIZE, err);
    }
    return code;
}

static enum colander_code
walk(struct log_block *log, struct log_state *state, struct colander_error *err)
{
    uint64_t begun_at = 0;
    size_t place = 0;
    enum colander_code code = log_block_read(log, 0, err);

    while (code == COLANDER_OK && log->size > 0) {
        place = 0;
        walk_block(log, state, &begun_at, &place);
        if (place < log->size) {
            state->bad_at = state->has_begun ? begun_at : log->at + place;
            state->bad =
                state->has_begun ? state->begun : write_head_at(log, place);
            return look_behind(log, place, state, err);
        }
        code = log_block_read(log, log->at + BLOCK_SIZE, err);
    }
    state->bad_at = state->has_begun ? begun_at : state->size;
    state->bad = state->begun;
    return code;
}

enum colander_code
log_walk(const char *directory, const char *name, struct log_state *state,
         struct colander_error *err)
{
    struct log_block *log = calloc(1, sizeof(*log));
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
        code = log_block_fail(name, err);
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
            if (tail->head[6] == LOG_PIECE_FULL ||
                tail->head[6] == LOG_PIECE_LAST)
                tail->whole = tail->size;
            tail->head_size = 0;
        }
    }
}
