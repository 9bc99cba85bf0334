/*
 * RocksDB's logs: see logs.h.
 *
 * A log is a row of blocks of 32 KiB. A record lies in one of them, or in
 * several as a first, middle and last piece. Before each piece stands its head:
 * checksum of type and content, size, type. Where less than a head is left of a
 * block there are zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/logs.h"

#include "core/crc32c.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_SIZE 32768
#define HEAD_SIZE 7
#define WRITE_HEAD_SIZE 12

enum piece_type { PIECE_FULL = 1, PIECE_FIRST, PIECE_MIDDLE, PIECE_LAST };

/* A log, and the block of it that was read last. */
struct log {
    int fd;
    const char *name;
    uint64_t block_at; /* in the file */
    size_t block_size; /* less than BLOCK_SIZE: the last */
    uint8_t block[BLOCK_SIZE];
};

/* What a write of the database begins with: how many were before it, and how
 * many it is itself. */
struct write_head {
    uint64_t sequence; /* 0: not known */
    uint32_t count;
};

/* What is known of a log when all of it was looked at. */
struct log_state {
    uint64_t size;
    uint64_t bad_at;         /* where the first record begins that is not whole;
                              * SIZE: all are */
    bool has_begun;          /* there is the first piece of a record: */
    struct write_head begun; /* what it begins with */
    struct write_head first; /* of the first record that is whole */
    uint64_t next_sequence;  /* behind the last one; 0: not known */
    struct write_head bad; /* of the record at `bad_at`, as far as it is there;
                            * its checksum is not right */
};

static enum colander_code
fail_read(const char *name, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot read %s: %s", name,
                         strerror(errno));
}

static enum colander_code
fail_damaged(const char *name, uint64_t byte, struct colander_error *err)
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
            return fail_damaged(log->name, state->bad_at, err);
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

static enum colander_code
check_log(const char *directory, const char *name, struct log_state *state,
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

/* Notes the end of a log that is no whole record, if it has one. */
static void
note_end(const char *name, const struct log_state *state,
         struct colander_recovery *recovery)
{
    if (state->bad_at == state->size)
        return;
    if (recovery->dropped_size == 0)
        (void)snprintf(recovery->dropped_file, sizeof(recovery->dropped_file),
                       "%s", name);
    recovery->dropped_size += state->size - state->bad_at;
}

/* ------------------------------------------------------- the MANIFEST --- */

/* Its name is all that CURRENT has. RocksDB tells what is wrong with CURRENT,
 * and of a MANIFEST that is not there: then `name` is empty. */
static void
read_current(const char *directory, char *name, size_t size)
{
    char path[PATH_MAX];
    FILE *file;

    name[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/CURRENT", directory);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(name, (int)size, file) == NULL)
        name[0] = '\0';
    (void)fclose(file);
    name[strcspn(name, "\n")] = '\0';
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (strncmp(name, "MANIFEST-", 9) != 0 || strchr(name, '/') != NULL ||
        access(path, F_OK) != 0)
        name[0] = '\0';
}

static enum colander_code
check_manifest(const char *directory, struct colander_recovery *recovery,
               struct colander_error *err)
{
    enum colander_code code;
    struct log_state state;
    char name[32];

    read_current(directory, name, sizeof(name));
    if (name[0] == '\0')
        return COLANDER_OK;
    code = check_log(directory, name, &state, err);
    if (code == COLANDER_OK)
        note_end(name, &state, recovery);
    return code;
}

/* ---------------------------------------------------- write-ahead logs --- */

struct numbers {
    uint64_t *list;
    size_t count;
    size_t capacity;
};

static int
compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;

    return (*a > *b) - (*a < *b);
}

static enum colander_code
add_number(struct numbers *numbers, uint64_t number, struct colander_error *err)
{
    if (numbers->count == numbers->capacity) {
        const size_t capacity = 2 * numbers->capacity + 64;
        uint64_t *list =
            realloc(numbers->list, capacity * sizeof(*numbers->list));

        if (list == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a list of logs");
        numbers->list = list;
        numbers->capacity = capacity;
    }
    numbers->list[numbers->count++] = number;
    return COLANDER_OK;
}

/* The number of a log's name, or 0. */
static uint64_t
log_number(const char *name)
{
    char *end;
    unsigned long long number = strtoull(name, &end, 10);

    return end != name && strcmp(end, ".log") == 0 ? number : 0;
}

/* In the order in which they were written. */
static enum colander_code
list_logs(const char *directory, struct numbers *numbers,
          struct colander_error *err)
{
    DIR *listing = opendir(directory);
    enum colander_code code = COLANDER_OK;
    struct dirent *entry;

    if (listing == NULL && errno == ENOENT)
        return COLANDER_OK;
    if (listing == NULL)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot read '%s': %s",
                             directory, strerror(errno));
    while (code == COLANDER_OK && (entry = readdir(listing)) != NULL) {
        uint64_t number = log_number(entry->d_name);

        if (number != 0)
            code = add_number(numbers, number, err);
    }
    (void)closedir(listing);
    if (numbers->count > 1)
        qsort(numbers->list, numbers->count, sizeof(*numbers->list),
              compare_numbers);
    return code;
}

/* A log that ends in a bad record, and what is known of the writes around. */
struct bad_end {
    char name[32]; /* empty: there is none */
    struct log_state state;
    uint64_t next_sequence; /* of the first write that is missing, if known */
};

/* Whether a later log begins where the good part of the bad one ends: then it
 * was made by an open that dropped the end, and was killed before the log went.
 * Such an open may begin it with a write of nothing, under the sequence before.
 */
static bool
goes_on_from(const struct bad_end *bad, const struct log_state *later)
{
    const uint64_t sequence = later->first.sequence;
    const uint64_t expected[] = {bad->next_sequence, bad->state.bad.sequence};

    if (bad->state.size < HEAD_SIZE + WRITE_HEAD_SIZE)
        return true; /* not even the beginning of one write */
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (expected[i] != 0 &&
            (sequence == expected[i] ||
             (later->first.count == 0 && sequence + 1 == expected[i])))
            return true;
    }
    return false;
}

/* A log that ends in a bad record must be the last that has any, but for what
 * an open leaves that was killed. */
static enum colander_code
check_numbers(const char *directory, const struct numbers *numbers,
              struct colander_recovery *recovery, struct colander_error *err)
{
    struct bad_end bad = {.name = ""};
    uint64_t next_sequence = 0;

    for (size_t i = 0; i < numbers->count; i++) {
        enum colander_code code;
        struct log_state state;
        char name[32];

        (void)snprintf(name, sizeof(name), "%06" PRIu64 ".log",
                       numbers->list[i]);
        code = check_log(directory, name, &state, err);
        if (code != COLANDER_OK)
            return code;
        if (bad.name[0] != '\0' && state.next_sequence != 0) {
            if (!goes_on_from(&bad, &state))
                return fail_damaged(bad.name, bad.state.bad_at, err);
            bad.name[0] = '\0';
        }
        if (state.next_sequence != 0)
            next_sequence = state.next_sequence;
        if (state.bad_at < state.size && bad.name[0] == '\0') {
            memcpy(bad.name, name, sizeof(name));
            bad.state = state;
            bad.next_sequence = next_sequence;
        }
    }
    if (bad.name[0] != '\0')
        note_end(bad.name, &bad.state, recovery);
    return COLANDER_OK;
}

static enum colander_code
check_wals(const char *directory, struct colander_recovery *recovery,
           struct colander_error *err)
{
    struct numbers numbers = {0};
    enum colander_code code = list_logs(directory, &numbers, err);

    if (code == COLANDER_OK)
        code = check_numbers(directory, &numbers, recovery, err);
    free(numbers.list);
    return code;
}

enum colander_code
logs_check(const char *directory, struct colander_recovery *recovery,
           struct colander_error *err)
{
    enum colander_code code;

    memset(recovery, 0, sizeof(*recovery));
    code = check_manifest(directory, recovery, err);
    return code == COLANDER_OK ? check_wals(directory, recovery, err) : code;
}
