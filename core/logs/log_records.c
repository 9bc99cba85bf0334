/* SPDX-License-Identifier: MIT */
#include "core/log_records.h"

#include "core/bytes.h"
#include "core/logs/log_block.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct log_records {
    struct log_block block;
    size_t place;                  /* of the next piece in the block */
    bool has_begun;                /* the first piece of a record was read */
    uint64_t begun_at;             /* offset of that piece */
    struct colander_buffer record; /* content of the pieces so far */
    size_t kept_max;               /* bytes of a record that are kept */
    uint64_t sum;                  /* of the pieces so far, without gaps */
    bool has_gap;                  /* the last piece read is part of a gap */
    struct log_gap gap;
};

static enum colander_code
find_end(struct log_block *block, struct colander_error *err)
{
    struct stat status;

    if (fstat(block->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return COLANDER_FAIL(err, COLANDER_IO, "%s is not a regular file",
                             block->name);
    block->end = (uint64_t)status.st_size;
    return COLANDER_OK;
}

enum colander_code
log_records_open(int directory, const char *name, struct log_records **records,
                 struct colander_error *err)
{
    struct log_records *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *records = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a log");
    opened->block.name = name;
    opened->kept_max = SIZE_MAX;
    /* an open of a pipe must not wait */
    opened->block.fd =
        openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened->block.fd < 0 && errno == ENOENT)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "there is no %s", name);
    else if (opened->block.fd < 0)
        code = log_block_fail(name, err);
    else
        code = find_end(&opened->block, err);
    if (code == COLANDER_OK)
        code = log_block_read(&opened->block, 0, err);
    if (code != COLANDER_OK) {
        log_records_close(opened);
        return code;
    }
    *records = opened;
    return COLANDER_OK;
}

/* ---------------------------------------------------------------- gaps --- */

uint64_t
log_records_position(const struct log_records *records)
{
    return records->block.at + records->place;
}

/* Begins a gap at `at`, or at the unfinished record before it. */
static void
begin_gap(struct log_records *records, uint64_t at)
{
    if (!records->has_gap) {
        records->gap.offset = records->has_begun ? records->begun_at : at;
        records->gap.bad_at = at;
    }
    records->has_gap = true;
    records->has_begun = false;
    records->record.size = 0;
}

static void
end_gap(struct log_records *records, bool is_last, enum log_step *step,
        struct log_gap *gap)
{
    *step = LOG_GAP;
    *gap = records->gap;
    gap->size = log_records_position(records) - gap->offset;
    gap->is_last = is_last;
    records->has_gap = false;
}

/* Moves to the next piece after a bad one. */
static void
skip_piece(struct log_records *records)
{
    const struct log_block *block = &records->block;
    const size_t place = records->place;
    struct colander_slice content;
    size_t next = LOG_BLOCK_SIZE;

    if (block->size - place >= LOG_HEAD_SIZE)
        next = place + LOG_HEAD_SIZE +
               bytes_get_le16(block->bytes + place + LOG_HEAD_SIZE_AT);
    if (next > block->size ||
        log_block_piece(block, next, &content) == LOG_PIECE_BAD)
        next = block->size;
    records->place = next;
}

/* -------------------------------------------------------------- pieces --- */

/* Reads the next block if this one has no more pieces. Sets *is_end if there is
 * none. */
static enum colander_code
find_piece(struct log_records *records, bool *is_end,
           struct colander_error *err)
{
    struct log_block *block = &records->block;
    enum colander_code code;

    *is_end = false;
    if (records->place + LOG_HEAD_SIZE <= LOG_BLOCK_SIZE &&
        records->place < block->size)
        return COLANDER_OK;
    if (block->size < LOG_BLOCK_SIZE) {
        *is_end = true;
        return COLANDER_OK;
    }
    records->place = 0;
    code = log_block_read(block,
                          records->has_gap ? log_block_after_hole(block)
                                           : block->at + LOG_BLOCK_SIZE,
                          err);
    *is_end = block->size == 0;
    return code;
}

/* Adds a piece to the record. Sets *is_whole if it is the last one. */
static enum colander_code
take_piece(struct log_records *records, enum log_piece piece,
           struct colander_slice content, bool *is_whole,
           struct colander_error *err)
{
    const bool begins = piece == LOG_PIECE_FULL || piece == LOG_PIECE_FIRST;
    size_t left = records->kept_max;

    *is_whole = piece == LOG_PIECE_FULL || piece == LOG_PIECE_LAST;
    if (begins) {
        records->begun_at = log_records_position(records);
        records->record.size = 0;
    }
    records->has_begun = !*is_whole;
    records->sum =
        log_sum_add(records->sum, records->block.bytes + records->place);
    records->place += LOG_HEAD_SIZE + content.size;
    left -= records->record.size;
    return colander_buffer_append(&records->record, content.data,
                                  content.size < left ? content.size : left,
                                  err);
}

/* Whether a piece of this kind may follow the pieces so far. */
static bool
is_in_order(const struct log_records *records, enum log_piece piece)
{
    const bool begins = piece == LOG_PIECE_FULL || piece == LOG_PIECE_FIRST;

    return piece != LOG_PIECE_BAD && begins != records->has_begun;
}

enum colander_code
log_records_next(struct log_records *records, enum log_step *step,
                 struct colander_slice *record, struct log_gap *gap,
                 struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_whole = false;
    bool is_end;

    while (code == COLANDER_OK && !is_whole) {
        struct colander_slice content = {NULL, 0};
        enum log_piece piece;

        code = find_piece(records, &is_end, err);
        if (code != COLANDER_OK)
            return code;
        if (is_end && records->has_begun)
            begin_gap(records, log_records_position(records));
        if (is_end && records->has_gap) {
            end_gap(records, true, step, gap);
            return COLANDER_OK;
        }
        if (is_end) {
            *step = LOG_END;
            return COLANDER_OK;
        }
        piece = log_block_piece(&records->block, records->place, &content);
        if (is_in_order(records, piece)) {
            if (records->has_gap) {
                end_gap(records, false, step, gap);
                return COLANDER_OK;
            }
            code = take_piece(records, piece, content, &is_whole, err);
            continue;
        }
        begin_gap(records, log_records_position(records));
        /* A piece that begins another record is read again after the gap. */
        if (piece == LOG_PIECE_BAD)
            skip_piece(records);
        else if (piece == LOG_PIECE_MIDDLE || piece == LOG_PIECE_LAST)
            records->place += LOG_HEAD_SIZE + content.size;
    }
    *step = LOG_RECORD;
    *record = colander_buffer_slice(&records->record);
    return code;
}

bool
log_records_has_failed(const struct log_records *records)
{
    return records->block.has_failed;
}

void
log_records_close(struct log_records *records)
{
    if (records == NULL)
        return;
    if (records->block.fd >= 0)
        (void)close(records->block.fd);
    colander_buffer_release(&records->record);
    free(records);
}

/* ---------------------------------------------------------------- check --- */

enum colander_code
log_fail_damaged(const char *name, uint64_t byte, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "%s is corrupt at byte %" PRIu64
                         ", with valid records after it",
                         name, byte);
}

struct write_head
log_write_head(struct colander_slice bytes)
{
    struct write_head head = {0, 0};

    if (bytes.size >= LOG_WRITE_HEAD_SIZE) {
        head.sequence = bytes_get_le64(bytes.data);
        head.count = bytes_get_le32(bytes.data + 8);
    }
    return head;
}

/* Whether a record begins in the block at `place` or after it. Nothing after a
 * bad head says where the next piece is, so each byte may be one. */
static bool
has_record(const struct log_block *block, size_t place)
{
    const uint8_t *bytes = block->bytes + place;

    /* Zeros, of which there may be gigabytes, are not a piece. */
    if (place < block->size && *bytes == 0 &&
        memcmp(bytes, bytes + 1, block->size - place - 1) == 0)
        return false;
    for (; place + LOG_HEAD_SIZE <= block->size; place++) {
        struct colander_slice content;
        const enum log_piece piece = log_block_piece(block, place, &content);

        if (piece == LOG_PIECE_FULL || piece == LOG_PIECE_FIRST)
            return true;
    }
    return false;
}

/* Describes the gap at which the whole records end. */
static enum colander_code
check_gap(struct log_block *block, const struct log_gap *gap,
          struct log_state *state, struct colander_error *err)
{
    size_t place = (size_t)(gap->offset % LOG_BLOCK_SIZE) + LOG_HEAD_SIZE;
    enum colander_code code =
        log_block_read(block, gap->offset - gap->offset % LOG_BLOCK_SIZE, err);

    if (code == COLANDER_OK && place < block->size)
        state->bad = log_write_head(
            colander_slice_of(block->bytes + place, block->size - place));
    place = (size_t)(gap->bad_at % LOG_BLOCK_SIZE);
    if (code == COLANDER_OK && block->at != gap->bad_at - place)
        code = log_block_read(block, gap->bad_at - place, err);
    while (code == COLANDER_OK && block->size > 0 && !state->has_more) {
        state->has_more = has_record(block, place);
        place = 0;
        code = log_block_read(block, log_block_after_hole(block), err);
    }
    return code;
}

/* Compares the last record with an extent that should end at it. */
static void
check_extent(struct log_state *state, const struct log_extent *extent,
             struct log_extent now)
{
    const bool ends_here =
        extent->size > state->whole.size && extent->size <= now.size;

    if (ends_here && extent->sum != 0 && state->differs_before == 0 &&
        (extent->size != now.size || extent->sum != now.sum))
        state->differs_before = extent->size;
}

/* An empty write may have the sequence of the write before it. So the one after
 * an empty write may seem to leave one out. */
static void
check_sequence(struct log_state *state, struct write_head head, uint64_t now)
{
    if (head.sequence != 0 && state->repeats_at == 0 &&
        head.sequence + (head.count == 0) < state->next_sequence)
        state->repeats_at = now;
    if (state->next_sequence == 0)
        state->first = head;
    else if (head.sequence > state->next_sequence + 1)
        state->jump = head.sequence;
    if (head.sequence == 0)
        state->next_sequence = 0;
    else if (head.sequence + head.count > state->next_sequence)
        state->next_sequence = head.sequence + head.count;
}

static enum colander_code
check_records(struct log_records *records, const struct log_extent *extents,
              size_t extent_count, struct log_state *state,
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    enum log_step step = LOG_RECORD;
    struct colander_slice record;
    struct log_gap gap;

    state->size = records->block.end;
    records->kept_max = LOG_WRITE_HEAD_SIZE; /* a record may be large */
    while (code == COLANDER_OK && step == LOG_RECORD) {
        code = log_records_next(records, &step, &record, &gap, err);
        if (code == COLANDER_OK && step == LOG_RECORD) {
            const struct log_extent now = {log_records_position(records),
                                           records->sum};

            check_sequence(state, log_write_head(record), now.size);
            for (size_t i = 0; i < extent_count; i++)
                check_extent(state, &extents[i], now);
            state->whole = now;
        }
    }
    state->whole.size = step == LOG_GAP ? gap.offset : state->size;
    if (code == COLANDER_OK && step == LOG_GAP)
        code = check_gap(&records->block, &gap, state, err);
    if (code == COLANDER_OK && records->block.has_failed) {
        errno = EIO;
        code = log_block_fail(records->block.name, err);
    }
    return code;
}

enum colander_code
log_check(int directory, const char *name, const struct log_extent *extents,
          size_t extent_count, struct log_state *state,
          struct colander_error *err)
{
    struct log_records *records;
    enum colander_code code = log_records_open(directory, name, &records, err);

    if (code == COLANDER_NOT_FOUND) /* listed, and removed since */
        code = COLANDER_FAIL(err, COLANDER_IO, "cannot open '%s': it is gone",
                             name);
    memset(state, 0, sizeof(*state));
    if (code == COLANDER_OK)
        code = check_records(records, extents, extent_count, state, err);
    log_records_close(records);
    return code;
}
