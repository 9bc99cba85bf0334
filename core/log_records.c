/*
 * The records of a log: see log_records.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/log_records.h"

#include "core/log_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct log_records {
    struct log_block block;
    size_t place;                  /* of the next piece in the block */
    bool has_begun;                /* a record of several pieces: */
    uint64_t begun_at;             /* where its first one is */
    struct colander_buffer record; /* what of it was read */
    bool has_gap;                  /* what was read last is part of one: */
    uint64_t gap_at;               /* where it begins */
};

/* From here on a sector that cannot be read is damage. */
static enum colander_code
find_end(struct log_block *block, struct colander_error *err)
{
    struct stat status;

    if (fstat(block->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return COLANDER_FAIL(err, COLANDER_IO, "%s is no file", block->name);
    block->end = (uint64_t)status.st_size;
    block->steps_over = true;
    return COLANDER_OK;
}

enum colander_code
log_records_open(int directory, const char *name, struct log_records **records,
                 struct colander_error *err)
{
    struct log_records *made = calloc(1, sizeof(*made));
    enum colander_code code;

    *records = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a log");
    made->block.name = name;
    /* without waiting for who writes into it, should it be a pipe */
    made->block.fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (made->block.fd < 0 && errno == ENOENT)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "there is no %s", name);
    else if (made->block.fd < 0)
        code = log_block_fail(name, err);
    else
        code = find_end(&made->block, err);
    if (code == COLANDER_OK)
        code = log_block_read(&made->block, 0, err);
    if (code != COLANDER_OK) {
        log_records_close(made);
        return code;
    }
    *records = made;
    return COLANDER_OK;
}

/* ---------------------------------------------------------------- gaps --- */

uint64_t
log_records_position(const struct log_records *records)
{
    return records->block.at + records->place;
}

/* What stands from `at` on is no record, nor is the one that was under way. */
static void
begin_gap(struct log_records *records, uint64_t at)
{
    if (!records->has_gap)
        records->gap_at = records->has_begun ? records->begun_at : at;
    records->has_gap = true;
    records->has_begun = false;
    records->record.size = 0;
}

static void
end_gap(struct log_records *records, bool is_last, enum log_step *step,
        struct log_gap *gap)
{
    *step = LOG_GAP;
    gap->offset = records->gap_at;
    gap->size = log_records_position(records) - records->gap_at;
    gap->is_last = is_last;
    records->has_gap = false;
}

/* Goes behind a bad piece. */
static void
step_over(struct log_records *records)
{
    const struct log_block *block = &records->block;
    const size_t place = records->place;
    struct colander_slice content;
    size_t behind = LOG_BLOCK_SIZE;

    if (block->size - place >= LOG_HEAD_SIZE)
        behind = place + LOG_HEAD_SIZE + block->bytes[place + 4] +
                 ((size_t)block->bytes[place + 5] << 8);
    if (behind > block->size ||
        log_block_piece(block, behind, &content) == LOG_PIECE_BAD)
        behind = block->size;
    records->place = behind;
}

/* -------------------------------------------------------------- pieces --- */

/* Goes to the next block where this one has no more. *is_end: there is none. */
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
    code = log_block_read(block, block->at + LOG_BLOCK_SIZE, err);
    *is_end = block->size == 0;
    return code;
}

/* Takes a piece. *is_whole: with it, the record is. */
static enum colander_code
take_piece(struct log_records *records, enum log_piece piece,
           struct colander_slice content, bool *is_whole,
           struct colander_error *err)
{
    const bool begins = piece == LOG_PIECE_FULL || piece == LOG_PIECE_FIRST;

    *is_whole = piece == LOG_PIECE_FULL || piece == LOG_PIECE_LAST;
    if (begins) {
        records->begun_at = log_records_position(records);
        records->record.size = 0;
    }
    records->has_begun = !*is_whole;
    records->place += LOG_HEAD_SIZE + content.size;
    return colander_buffer_append(&records->record, content.data, content.size,
                                  err);
}

/* Whether a piece of this kind can be where it is. */
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
            begin_gap(records, records->begun_at);
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
        /* The beginning of another record is looked at once more. */
        if (piece == LOG_PIECE_BAD)
            step_over(records);
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
