/*
 * RocksDB's logs: see logs.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/logs.h"

#include "core/log_walk.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A check under way. */
struct check {
    const char *directory;
    struct ledger *ledger;
    struct colander_recovery *recovery;
};

/* A log that was walked. */
struct log {
    char name[32];
    struct log_state state;
    uint64_t dropped; /* bytes that it had, or has, behind the last whole
                       * record */
};

static void
note_dropped(const struct check *check, const char *name, uint64_t size)
{
    struct colander_recovery *recovery = check->recovery;

    if (size == 0)
        return;
    if (recovery->dropped_size == 0)
        (void)snprintf(recovery->dropped_file, sizeof(recovery->dropped_file),
                       "%s", name);
    recovery->dropped_size += size;
}

static enum colander_code
fail_short(const char *name, uint64_t size, uint64_t noted,
           struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "%s is damaged: %" PRIu64
                         " bytes of it are whole, and %" PRIu64
                         " had been written",
                         name, size, noted);
}

/* Walks the log of that name, and holds it against the ledger. */
static enum colander_code
check_log(const struct check *check, enum ledger_kind kind, uint64_t number,
          struct log *log, struct colander_error *err)
{
    enum colander_code code =
        log_walk(check->directory, log->name, &log->state, err);
    const uint64_t whole = log->state.bad_at;
    struct ledger_entry noted;
    uint64_t least;

    if (code != COLANDER_OK)
        return code;
    noted = ledger_found(check->ledger, kind, number, whole);
    if (log->state.has_behind && !ledger_may_have_holes(&noted))
        return log_fail_damaged(log->name, whole, err);
    least = ledger_least(check->ledger, &noted);
    if (whole < least)
        return fail_short(log->name, whole, least, err);
    log->dropped = log->state.size - whole;
    if (noted.written > log->state.size)
        log->dropped = noted.written - whole;
    return COLANDER_OK;
}

/* ------------------------------------------------------- the MANIFEST --- */

static enum colander_code
fail_errno(const char *name, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot read %s: %s", name,
                         strerror(errno));
}

enum colander_code
logs_read_current(const char *directory, char *name, size_t size,
                  struct colander_error *err)
{
    char path[PATH_MAX];
    bool is_read;
    FILE *file;

    name[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/CURRENT", directory);
    file = fopen(path, "re");
    if (file == NULL && errno == ENOENT)
        return COLANDER_OK;
    if (file == NULL)
        return fail_errno("CURRENT", err);
    size = fread(name, 1, size - 1, file);
    is_read = size > 0 || feof(file);
    if (!is_read)
        (void)fail_errno("CURRENT", err);
    (void)fclose(file);
    if (!is_read)
        return COLANDER_IO;
    name[size] = '\0';
    if (size < 2 || strcspn(name, "\n") != size - 1 ||
        strncmp(name, "MANIFEST-", 9) != 0 ||
        strspn(name + 9, "0123456789") != size - 10)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "CURRENT is damaged: it names no MANIFEST");
    name[size - 1] = '\0';
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (access(path, F_OK) == 0)
        return COLANDER_OK;
    if (errno != ENOENT)
        return fail_errno(name, err);
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "CURRENT names %s, which is not there", name);
}

static enum colander_code
check_manifest(const struct check *check, struct colander_error *err)
{
    enum colander_code code;
    struct log log;

    code = logs_read_current(check->directory, log.name, sizeof(log.name), err);
    if (code != COLANDER_OK || log.name[0] == '\0')
        return code;
    code = check_log(check, LEDGER_MANIFEST,
                     strtoull(log.name + strlen("MANIFEST-"), NULL, 10), &log,
                     err);
    if (code == COLANDER_OK)
        note_dropped(check, log.name, log.state.size - log.state.bad_at);
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
        return fail_errno(directory, err);
    errno = 0;
    while (code == COLANDER_OK && (entry = readdir(listing)) != NULL) {
        uint64_t number = log_number(entry->d_name);

        if (number != 0)
            code = add_number(numbers, number, err);
        errno = 0; /* readdir leaves it when it is through */
    }
    if (code == COLANDER_OK && errno != 0)
        code = fail_errno(directory, err);
    (void)closedir(listing);
    if (numbers->count > 1)
        qsort(numbers->list, numbers->count, sizeof(*numbers->list),
              compare_numbers);
    return code;
}

/* Whether a later log begins where the whole part of one with a bad end ends:
 * then it was made by an open that dropped the end, and was killed before the
 * log went. Such an open may begin it with a write of nothing, under the
 * sequence before. `missing`: of the first write that is missing, if known. */
static bool
goes_on_from(const struct log *bad, uint64_t missing,
             const struct log_state *later)
{
    const uint64_t sequence = later->first.sequence;
    const uint64_t expected[] = {missing, bad->state.bad.sequence};

    if (bad->state.size < LOG_HEAD_SIZE + LOG_WRITE_HEAD_SIZE &&
        bad->dropped <= bad->state.size)
        return true; /* it never had even the beginning of one write */
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (expected[i] != 0 &&
            (sequence == expected[i] ||
             (later->first.count == 0 && sequence + 1 == expected[i])))
            return true;
    }
    return false;
}

/* The logs as far as they were looked at. */
struct row_of_logs {
    struct log bad;       /* ends in a bad record; no name: there is none */
    uint64_t bad_missing; /* the sequence of the first write missing there */
    uint64_t first;       /* sequences of the last log with records: its */
    uint64_t next;        /* first, and behind its last; 0: not known */
    char last[32];        /* that log */
    uint64_t last_number; /* of the last log with records */
};

/* A log that ends in a bad record must be the last that has any, but for what
 * an open leaves that was killed; and each begins behind the one before. */
static enum colander_code
add_log(struct row_of_logs *row, uint64_t number, const struct log *log,
        struct colander_error *err)
{
    const struct log_state *state = &log->state;

    if (state->next_sequence != 0) {
        if (row->bad.name[0] != '\0' &&
            !goes_on_from(&row->bad, row->bad_missing, state))
            return log_fail_damaged(row->bad.name, row->bad.state.bad_at, err);
        row->bad.name[0] = '\0';
        if (state->first.sequence != 0 && state->first.sequence < row->first)
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "%s or %s is damaged: the writes of the later "
                                 "log are older",
                                 row->last, log->name);
        if (state->first.sequence != 0) {
            row->first = state->first.sequence;
            memcpy(row->last, log->name, sizeof(row->last));
        }
        row->next = state->next_sequence;
        row->last_number = number;
    }
    if (log->dropped > 0 && row->bad.name[0] == '\0') {
        row->bad = *log;
        row->bad_missing = row->next;
    }
    return COLANDER_OK;
}

/* Logs that the ledger has, and the directory has not. Behind one that may be
 * lost there must be no other: that would be a hole. */
static enum colander_code
check_missing(const struct check *check, uint64_t last_number,
              struct colander_error *err)
{
    const struct ledger_entry *entry;
    size_t at = 0;

    while ((entry = ledger_missing(check->ledger, &at)) != NULL) {
        char name[32];

        (void)snprintf(name, sizeof(name), "%06" PRIu64 ".log", entry->number);
        if (ledger_least(check->ledger, entry) > 0 ||
            entry->number < last_number)
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "%s is not there, and %" PRIu64
                                 " bytes of it had been written",
                                 name, entry->written);
        note_dropped(check, name, entry->written);
    }
    return COLANDER_OK;
}

static enum colander_code
check_wals(const struct check *check, struct colander_error *err)
{
    struct row_of_logs row = {.bad.name = ""};
    struct numbers numbers = {0};
    enum colander_code code = list_logs(check->directory, &numbers, err);

    for (size_t i = 0; i < numbers.count && code == COLANDER_OK; i++) {
        struct log log;

        (void)snprintf(log.name, sizeof(log.name), "%06" PRIu64 ".log",
                       numbers.list[i]);
        code = check_log(check, LEDGER_WAL, numbers.list[i], &log, err);
        if (code == COLANDER_OK)
            code = add_log(&row, numbers.list[i], &log, err);
    }
    free(numbers.list);
    if (code == COLANDER_OK && row.bad.name[0] != '\0')
        note_dropped(check, row.bad.name, row.bad.dropped);
    return code == COLANDER_OK ? check_missing(check, row.last_number, err)
                               : code;
}

enum colander_code
logs_check(const char *directory, struct ledger *ledger,
           struct colander_recovery *recovery, struct colander_error *err)
{
    const struct check check = {directory, ledger, recovery};
    enum colander_code code;

    memset(recovery, 0, sizeof(*recovery));
    code = check_manifest(&check, err);
    return code == COLANDER_OK ? check_wals(&check, err) : code;
}
