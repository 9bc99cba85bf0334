/* SPDX-License-Identifier: MIT */
#include "core/repair.h"

#include "core/directory.h"
#include "core/files.h"
#include "core/log_records.h"
#include "core/logs.h"
#include "core/options.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct repair {
    struct directory directory;
    void (*report)(void *context, const char *file, const char *what);
    void *context;
};

static enum colander_code
rebuild_record(struct repair *repair, const struct colander_error *damage,
               struct colander_error *err)
{
    struct colander_options options;
    char what[sizeof(damage->message) + 64];
    enum colander_code code;

    colander_options_init(&options);
    options_fill_kept(&options);
    code = directory_write_options(&repair->directory, &options, err);
    if (code != COLANDER_OK)
        return code;
    (void)snprintf(what, sizeof(what), "%s: rebuilt, with the default options",
                   damage->message);
    repair->report(repair->context, DIRECTORY_RECORD, what);
    return COLANDER_OK;
}

static enum colander_code
repair_record(struct repair *repair, struct colander_error *err)
{
    struct colander_options kept;
    struct colander_error damage;
    enum colander_code code;

    if (repair->directory.is_store)
        code = directory_read_options(&repair->directory, &kept, &damage);
    else
        code = COLANDER_FAIL(&damage, COLANDER_CORRUPT, "it is missing");
    if (code == COLANDER_CORRUPT)
        return rebuild_record(repair, &damage, err);
    if (code != COLANDER_OK)
        return COLANDER_FAIL(err, code, "%s", damage.message);
    return COLANDER_OK;
}

/* Returns the number of the only MANIFEST, or 0. It must be whole and that of
 * the store, and the ledger must know of no later one: RocksDB may leave an
 * obsolete MANIFEST, with which the store would lose its newer files. */
static uint64_t
find_manifest(const struct repair *repair, int engine)
{
    struct files_numbers numbers = {NULL, 0, 0};
    struct ledger *ledger = NULL;
    struct log_state state;
    uint64_t number = 0;

    if (files_list_numbers(engine, LOGS_MANIFEST, "", &numbers, NULL) ==
            COLANDER_OK &&
        numbers.count == 1 &&
        ledger_open(repair->directory.fd, &ledger, NULL) == COLANDER_OK &&
        ledger_next(ledger, LEDGER_MANIFEST, numbers.list[0] - 1).number ==
            numbers.list[0] &&
        ledger_next(ledger, LEDGER_MANIFEST, numbers.list[0]).number == 0 &&
        log_check(engine, files_name(LOGS_MANIFEST, numbers.list[0], "").text,
                  NULL, 0, &state, NULL) == COLANDER_OK &&
        state.whole.size == state.size && state.size > 0 &&
        logs_is_own(engine, files_name(LOGS_MANIFEST, numbers.list[0], "").text,
                    ledger, LEDGER_MANIFEST, numbers.list[0]))
        number = numbers.list[0];
    ledger_close(ledger);
    free(numbers.list);
    return number;
}

/* What cannot be repaired is left for the open, which reports it. */
static enum colander_code
repair_current(struct repair *repair, int engine, struct colander_error *err)
{
    struct numbered_name line;
    uint64_t number;
    enum colander_code code = logs_read_current(engine, &number, NULL);

    if (number != 0 || (code != COLANDER_OK && code != COLANDER_CORRUPT))
        return COLANDER_OK;
    number = find_manifest(repair, engine);
    if (number == 0)
        return COLANDER_OK;
    line = files_name(LOGS_MANIFEST, number, "\n");
    code = files_replace(engine, "CURRENT", "CURRENT.colander",
                         colander_slice_text(line.text), err);
    if (code == COLANDER_OK)
        repair->report(repair->context, DIRECTORY_ENGINE "/CURRENT",
                       "it names no MANIFEST: rebuilt, for the only one");
    return code;
}

enum colander_code
repair_store(const char *path,
             void (*report)(void *context, const char *file, const char *what),
             void *context, struct colander_error *err)
{
    struct repair repair = {DIRECTORY_CLOSED, report, context};
    enum colander_code code =
        directory_open_damaged(&repair.directory, path, true, err);
    int engine = -1;

    if (code == COLANDER_OK)
        code = repair_record(&repair, err);
    if (code == COLANDER_OK) {
        engine = openat(repair.directory.fd, DIRECTORY_ENGINE,
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        code = engine < 0 ? files_fail(err, "open", DIRECTORY_ENGINE)
                          : repair_current(&repair, engine, err);
    }
    if (engine >= 0)
        (void)close(engine);
    directory_close(&repair.directory);
    return code;
}
