/* SPDX-License-Identifier: MIT */
#include "core/logs.h"

#include "core/array.h"
#include "core/drop_report.h"
#include "core/files.h"
#include "core/log_records.h"
#include "core/manifest.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A check in progress. */
struct check {
    int store;
    int directory; /* of the logs */
    bool drops;
    struct ledger *ledger;
    struct colander_recovery *recovery;
};

/* A log that was checked. */
struct log {
    struct numbered_name name;
    bool is_missing;
    bool may_end; /* at the end of its whole records: see ledger_may_end */
    struct log_state state;
    uint64_t number;
    uint64_t written; /* as noted */
    uint64_t dropped; /* bytes that are or were after the last whole record */
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
                         "%s is corrupt: it has %" PRIu64
                         " bytes of whole records, and %" PRIu64
                         " were written",
                         name, size, noted);
}

/* What to do about a file that is not the store's, or of another moment. */
#define PUT_BACK_ALL                                                           \
    "put back the whole store, or restore a backup into an empty directory"

bool
logs_is_own(int directory, const char *name, struct ledger *ledger,
            enum ledger_kind kind, uint64_t number)
{
    const struct ledger_entry noted = ledger_noted(ledger, kind, number);
    struct log_state state;

    return log_check(directory, name, noted.extents, LEDGER_EXTENTS, &state,
                     NULL) != COLANDER_OK ||
           (state.differs_before == 0 &&
            ledger_allows(ledger, &noted, state.whole));
}

/* Checks that a log has the records that were written, and not those of another
 * log or of another moment. */
static enum colander_code
check_content(const struct check *check, const struct log *log,
              const struct ledger_entry *noted, struct colander_error *err)
{
    const struct log_state *state = &log->state;
    const char *name = log->name.text;

    if (state->differs_before != 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "%s is not the file that was written: its first "
                             "%" PRIu64 " bytes are not those that " LEDGER_FILE
                             " noted: " PUT_BACK_ALL,
                             name, state->differs_before);
    if (!ledger_allows(check->ledger, noted, state->whole))
        return COLANDER_FAIL(
            err, COLANDER_CORRUPT,
            noted->is_listed
                ? "%s is not the file that was written: it has %" PRIu64
                  " bytes of whole records, and " LEDGER_FILE " noted %" PRIu64
                  ": " PUT_BACK_ALL
                : "%s does not belong to this store: " LEDGER_FILE
                  " does not list it: " PUT_BACK_ALL,
            name, state->whole.size, noted->extents[LEDGER_WRITTEN].size);
    if (noted->kind == LEDGER_WAL && state->repeats_at != 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "%s is corrupt: the writes in the record that "
                             "ends at byte %" PRIu64
                             " are older than those before it",
                             name, state->repeats_at);
    return COLANDER_OK;
}

/* Checks one log, and compares it with the ledger. */
static enum colander_code
check_log(const struct check *check, enum ledger_kind kind, struct log *log,
          struct colander_error *err)
{
    const struct ledger_entry noted =
        ledger_noted(check->ledger, kind, log->number);
    const uint64_t written = noted.extents[LEDGER_WRITTEN].size;
    const uint64_t least = ledger_least(check->ledger, &noted);
    enum colander_code code =
        log_check(check->directory, log->name.text, noted.extents,
                  LEDGER_EXTENTS, &log->state, err);
    const uint64_t whole = log->state.whole.size;

    if (code != COLANDER_OK)
        return code;
    log->may_end = ledger_may_end(check->ledger, &noted, whole);
    if (log->state.has_more && !log->may_end)
        return log_fail_damaged(log->name.text, whole, err);
    if (whole < least)
        return fail_short(log->name.text, whole, least, err);
    code = check_content(check, log, &noted, err);
    if (code != COLANDER_OK)
        return code;
    ledger_found(check->ledger, kind, log->number, log->state.whole);
    log->written = written;
    log->dropped =
        (written > log->state.size ? written : log->state.size) - whole;
    return COLANDER_OK;
}

/* ------------------------------------------------------- the MANIFEST --- */

enum colander_code
logs_read_current(int directory, uint64_t *number, struct colander_error *err)
{
    char line[32];
    ssize_t got;
    int fd;
    enum colander_code code =
        files_open(directory, "CURRENT", O_RDONLY, &fd, err);

    *number = 0;
    if (code != COLANDER_OK)
        return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
    got = pread(fd, line, sizeof(line) - 1, 0);
    if (got < 0)
        code = files_fail(err, "read", "CURRENT");
    (void)close(fd);
    if (got < 0)
        return code;
    line[got] = '\0';
    *number = files_number(line, LOGS_MANIFEST, "\n");
    if (*number == 0 || strlen(line) != (size_t)got)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "CURRENT is corrupt: it names no MANIFEST");
    line[strcspn(line, "\n")] = '\0';
    if (code == COLANDER_OK && faccessat(directory, line, F_OK, 0) != 0)
        code = errno != ENOENT
                   ? files_fail(err, "read", line)
                   : COLANDER_FAIL(err, COLANDER_CORRUPT,
                                   "CURRENT names %s, which is missing", line);
    if (code != COLANDER_OK)
        *number = 0;
    return code;
}

static enum colander_code
check_manifest(const struct check *check, struct colander_error *err)
{
    struct log log = {.is_missing = false};
    enum colander_code code =
        logs_read_current(check->directory, &log.number, err);

    if (code != COLANDER_OK || log.number == 0)
        return code;
    log.name = files_name(LOGS_MANIFEST, log.number, "");
    code = check_log(check, LEDGER_MANIFEST, &log, err);
    if (code == COLANDER_OK)
        note_dropped(check, log.name.text,
                     log.state.size - log.state.whole.size);
    return code;
}

/* -------------------------------------------------- order of the logs --- */

/* Whether a later log begins where the whole records of one with a bad end end.
 * An open made it that dropped that end, and was killed before it removed the
 * log. Such an open may begin with an empty write, of the sequence before.
 * `missing` is the sequence of the first missing write, or 0. */
static bool
continues(const struct log *bad, uint64_t missing,
          const struct log_state *later)
{
    const uint64_t sequence = later->first.sequence;
    const uint64_t expected[] = {missing, bad->state.bad.sequence};

    if (bad->is_missing)
        return false;
    if (bad->state.size < LOG_EMPTY_WRITE_SIZE &&
        bad->dropped <= bad->state.size)
        return true; /* too short for even one write */
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (expected[i] != 0 &&
            (sequence == expected[i] ||
             (later->first.count == 0 && sequence + 1 == expected[i])))
            return true;
    }
    return false;
}

/* Whether RocksDB will read the log. Its writes may be in SST files, and the
 * log be one that was being removed, or that a power failure brought back. */
static enum colander_code
find_need(const struct check *check, uint64_t number, bool *is_needed,
          struct colander_error *err)
{
    struct manifest manifest = {0};
    uint64_t current;
    enum colander_code code =
        logs_read_current(check->directory, &current, err);

    if (code == COLANDER_OK && current != 0)
        code = manifest_read(&manifest, check->directory, current,
                             check->ledger, err);
    *is_needed = manifest_needs_log(&manifest, number);
    manifest_release(&manifest);
    return code;
}

/* The write-ahead logs, by number, and what is known of those that were looked
 * at. */
struct logs {
    struct log *list;
    size_t count;
    size_t capacity;
    const struct log *bad;  /* ends in a bad record, or is missing; or NULL */
    uint64_t bad_missing;   /* sequence of the first write missing there */
    bool has_hole;          /* writes after the end of `bad` must not count */
    const struct log *last; /* with records, or NULL */
    uint64_t next;          /* sequence after it, 0: not known */
};

static const struct log_extent nothing = {0, 0};

static enum colander_code
fail_bad(const struct log *bad, struct colander_error *err)
{
    if (!bad->is_missing)
        return log_fail_damaged(bad->name.text, bad->state.whole.size, err);
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "%s is missing, and %" PRIu64
                         " bytes of it were written",
                         bad->name.text, bad->written);
}

/* Decides about logs->bad, after whose end there are records, in it or in a
 * later log. */
static enum colander_code
judge_bad(const struct check *check, struct logs *logs,
          struct colander_error *err)
{
    enum colander_code code;

    assert(logs->bad != NULL);
    if (!logs->bad->may_end)
        return fail_bad(logs->bad, err);
    code = find_need(check, logs->bad->number, &logs->has_hole, err);
    if (code != COLANDER_OK || logs->has_hole)
        return code;
    /* It must not be there if this process is killed: then it looks damaged.
     * The directory is not synced: if a power failure brings the log back, the
     * ledger does not know it, and it is judged again. */
    ledger_cut(check->ledger, logs->bad->number, nothing);
    if (check->drops && !logs->bad->is_missing &&
        unlinkat(check->directory, logs->bad->name.text, 0) != 0)
        code = files_fail(err, "remove", logs->bad->name.text);
    logs->bad = NULL;
    return code;
}

/* Decides about a log whose writes are older than those of logs->last. RocksDB
 * may skip that one, because all its families were dropped or flushed, and then
 * gives its sequences to new writes. */
static enum colander_code
judge_older(const struct check *check, const struct logs *logs,
            const struct log *log, struct colander_error *err)
{
    bool is_needed = true;
    enum colander_code code =
        find_need(check, logs->last->number, &is_needed, err);

    if (code != COLANDER_OK || !is_needed)
        return code;
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "%s or %s is corrupt: the writes of the later log are "
                         "older",
                         logs->last->name.text, log->name.text);
}

/* Each log must begin after the one before. Only the last log with records may
 * end in a bad one, except after an open that was killed. */
static enum colander_code
add_log(const struct check *check, struct logs *logs, const struct log *log,
        struct colander_error *err)
{
    const struct log_state *state = &log->state;
    enum colander_code code = COLANDER_OK;

    if (state->next_sequence != 0) {
        if (logs->bad != NULL &&
            !continues(logs->bad, logs->bad_missing, state))
            code = judge_bad(check, logs, err);
        if (code != COLANDER_OK || logs->has_hole)
            return code;
        logs->bad = NULL;
        if (state->first.sequence != 0 &&
            state->first.sequence + (state->first.count == 0) < logs->next)
            code = judge_older(check, logs, log, err);
        if (code != COLANDER_OK)
            return code;
        logs->last = log;
        logs->next = state->next_sequence;
    }
    /* RocksDB reads over a hole of zeros, whichever log ended before it. */
    if (state->has_more && logs->bad != NULL)
        code = judge_bad(check, logs, err);
    if (code != COLANDER_OK || logs->has_hole)
        return code;
    if (log->dropped > 0 && logs->bad == NULL) {
        logs->bad = log;
        logs->bad_missing = logs->next;
    }
    return state->has_more ? judge_bad(check, logs, err) : COLANDER_OK;
}

/* --------------------------------------------------------- what counts --- */

/* Removes from the directory what does not count. A later log goes first, for
 * good: no power failure may bring it back after a shorter one. */
static enum colander_code
drop_after_hole(const struct check *check, const struct logs *logs,
                struct colander_error *err)
{
    const struct log *bad = logs->bad;
    enum colander_code code = COLANDER_OK;

    for (const struct log *log = logs->list + logs->count; --log > bad;) {
        if (!log->is_missing &&
            unlinkat(check->directory, log->name.text, 0) != 0)
            return files_fail(err, "remove", log->name.text);
    }
    code = files_sync_names(check->directory, ".", err);
    if (code == COLANDER_OK && !bad->is_missing)
        code = files_cut(check->directory, bad->name.text,
                         bad->state.whole.size, err);
    return code;
}

/* Lets nothing count after the hole. A log that was synced relies on those
 * before it: then the hole is damage. */
static enum colander_code
cut_at_hole(const struct check *check, const struct logs *logs,
            struct colander_error *err)
{
    const struct log *bad = logs->bad;
    const struct log *end = logs->list + logs->count;

    for (const struct log *log = bad; log < end; log++) {
        if (!log->may_end)
            return fail_bad(bad, err);
    }
    for (const struct log *log = bad; log < end; log++) {
        const uint64_t size =
            log->state.size > log->written ? log->state.size : log->written;

        note_dropped(check, bad->name.text, log == bad ? log->dropped : size);
        ledger_cut(check->ledger, log->number,
                   log == bad ? log->state.whole : nothing);
    }
    check->recovery->has_gap = true;
    return COLANDER_OK;
}

/* Drops the ends of logs that no records follow. RocksDB drops them as well,
 * but reads them, which may be gigabytes of zeros, and may leave logs whose
 * beginning is lost, which a process that is killed would find damaged. The
 * first goes last: the report names it. */
static enum colander_code
drop_ends(const struct check *check, const struct logs *logs,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (const struct log *log = logs->list + logs->count;
         log-- > logs->bad && code == COLANDER_OK;) {
        if (!log->is_missing && log->state.size > log->state.whole.size)
            code = files_cut(check->directory, log->name.text,
                             log->state.whole.size, err);
    }
    return code;
}

/* To a reader, whose logs are not cut, they seem to be. */
static void
note_ends(const struct check *check, const struct logs *logs)
{
    for (const struct log *log = logs->bad; log < logs->list + logs->count;
         log++) {
        note_dropped(check, log->name.text, log->dropped);
        if (!check->drops && !log->is_missing &&
            log->state.size > log->state.whole.size)
            ledger_cut(check->ledger, log->number, log->state.whole);
    }
}

/* Fails if the MANIFEST does not know of the sequences before `sequence`. */
static enum colander_code
check_known(const struct check *check, const struct log *log, uint64_t sequence,
            struct colander_error *err)
{
    struct manifest manifest = {0};
    uint64_t number;
    enum colander_code code = logs_read_current(check->directory, &number, err);

    if (code == COLANDER_OK && number != 0)
        code = manifest_read(&manifest, check->directory, number, check->ledger,
                             err);
    if (code == COLANDER_OK && manifest.is_whole &&
        sequence > manifest.last_sequence + 1)
        code = COLANDER_FAIL(
            err, COLANDER_CORRUPT,
            "%s has write %" PRIu64
            " and not the one before, and " LOGS_MANIFEST "%06" PRIu64
            " knows of %" PRIu64 ": they are not of one moment: " PUT_BACK_ALL,
            log->name.text, sequence, number, manifest.last_sequence);
    manifest_release(&manifest);
    return code;
}

/* Checks that no write that counts is missing where files of two moments were
 * mixed. Only SST files that join take sequences that are in no log, and the
 * MANIFEST knows of these. It also knows of the writes before the first log; a
 * ledger that lists all logs has noticed if they are of two moments. */
static enum colander_code
check_joins(const struct check *check, const struct logs *logs,
            struct colander_error *err)
{
    const size_t count =
        logs->has_hole ? (size_t)(logs->bad - logs->list) + 1 : logs->count;
    bool is_first = logs->bad == NULL && !ledger_lists_all(check->ledger);
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        const struct log *log = &logs->list[i];
        const uint64_t first = log->state.first.sequence;

        if (is_first && first != 0)
            code = check_known(check, log, first, err);
        if (code == COLANDER_OK && log->state.jump != 0)
            code = check_known(check, log, log->state.jump, err);
        is_first = is_first && first == 0;
    }
    return code;
}

static enum colander_code
check_order(const struct check *check, struct logs *logs,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0;
         i < logs->count && code == COLANDER_OK && !logs->has_hole; i++)
        code = add_log(check, logs, &logs->list[i], err);
    if (code == COLANDER_OK)
        code = check_joins(check, logs, err);
    if (code == COLANDER_OK && logs->has_hole)
        code = cut_at_hole(check, logs, err);
    else if (code == COLANDER_OK && logs->bad != NULL)
        note_ends(check, logs);
    if (code == COLANDER_OK)
        code = drop_report_add(check->store, check->recovery, err);
    if (code != COLANDER_OK || !check->drops ||
        check->recovery->dropped_size == 0)
        return code;
    /* RocksDB drops the end of the MANIFEST. */
    code = drop_report_write(check->store, check->recovery, err);
    if (code != COLANDER_OK || logs->bad == NULL)
        return code;
    return logs->has_hole ? drop_after_hole(check, logs, err)
                          : drop_ends(check, logs, err);
}

/* ---------------------------------------------------- write-ahead logs --- */

static enum colander_code
find_log(struct logs *logs, uint64_t number, struct log **log,
         struct colander_error *err)
{
    enum colander_code code =
        array_reserve(&logs->list, logs->count, &logs->capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    *log = &logs->list[logs->count++];
    memset(*log, 0, sizeof(**log));
    (*log)->number = number;
    (*log)->name = files_name("", number, ".log");
    return COLANDER_OK;
}

static int
compare_logs(const void *a, const void *b)
{
    const struct log *one = a;
    const struct log *other = b;

    return (one->number > other->number) - (one->number < other->number);
}

/* Adds logs that are in the ledger and not in the directory. */
static enum colander_code
add_missing(const struct check *check, struct logs *logs,
            struct colander_error *err)
{
    struct ledger_entry entry = ledger_next(check->ledger, LEDGER_WAL, 0);
    enum colander_code code = COLANDER_OK;

    for (; entry.number != 0 && code == COLANDER_OK;
         entry = ledger_next(check->ledger, LEDGER_WAL, entry.number)) {
        struct log *log;

        if (entry.is_found || entry.extents[LEDGER_WRITTEN].size == 0)
            continue;
        code = find_log(logs, entry.number, &log, err);
        if (code != COLANDER_OK)
            return code;
        log->is_missing = true;
        log->may_end = ledger_may_end(check->ledger, &entry, 0);
        log->written = entry.extents[LEDGER_WRITTEN].size;
        log->dropped = log->written;
        if (ledger_least(check->ledger, &entry) > 0)
            code = fail_bad(log, err);
    }
    return code;
}

/* Checks all logs. Those that are lost must be the last: a later log would
 * leave a hole. */
static enum colander_code
check_wals(const struct check *check, struct colander_error *err)
{
    struct logs logs = {.list = NULL};
    struct files_numbers numbers = {NULL, 0, 0};
    enum colander_code code = COLANDER_OK;

    if (check->directory >= 0)
        code = files_list_numbers(check->directory, "", ".log", &numbers, err);
    for (size_t i = 0; i < numbers.count && code == COLANDER_OK; i++) {
        struct log *log;
        bool is_needed = true;

        if (ledger_lists_all(check->ledger) &&
            !ledger_noted(check->ledger, LEDGER_WAL, numbers.list[i]).is_listed)
            code = find_need(check, numbers.list[i], &is_needed, err);
        if (code == COLANDER_OK && is_needed)
            code = find_log(&logs, numbers.list[i], &log, err);
        if (code == COLANDER_OK && is_needed)
            code = check_log(check, LEDGER_WAL, log, err);
    }
    free(numbers.list);
    if (code == COLANDER_OK)
        code = add_missing(check, &logs, err);
    if (logs.count > 1)
        qsort(logs.list, logs.count, sizeof(*logs.list), compare_logs);
    if (code == COLANDER_OK)
        code = check_order(check, &logs, err);
    free(logs.list);
    return code;
}

enum colander_code
logs_check(int directory, const char *name, struct ledger *ledger, bool drops,
           struct colander_recovery *recovery, struct colander_error *err)
{
    struct check check = {directory, -1, drops, ledger, recovery};
    enum colander_code code;

    memset(recovery, 0, sizeof(*recovery));
    check.directory =
        openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (check.directory < 0 && errno == ENOENT)
        return check_wals(&check, err);
    if (check.directory < 0)
        return files_fail(err, "open", name);
    code = check_manifest(&check, err);
    if (code == COLANDER_OK)
        code = check_wals(&check, err);
    (void)close(check.directory);
    return code;
}
