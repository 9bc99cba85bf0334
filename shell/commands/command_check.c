/*
 * The command check: reads a whole store, and reports damage.
 *
 * SPDX-License-Identifier: MIT
 */
#ifdef COLANDER_CLUSTER
#include "cluster/cluster.h"
#endif
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/report.h"

#include <stdio.h>

static enum colander_code
check_store(struct session *session, bool repairs, struct colander_check *check,
            struct colander_error *err)
{
    enum colander_code code = colander_store_check(
        session->store, check, report_finding, session, err);

#ifdef COLANDER_FILTERS
    if (code == COLANDER_OK)
        code = colander_store_check_filters(session->store, repairs, check,
                                            report_finding, session, err);
#else
    (void)repairs;
#endif
    return code;
}

static enum colander_code
print_summary(const struct session *session, const struct colander_check *check,
              struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    report_line(&report, "checked", "%s of %s (%s)",
                NUMBER_OF(check->file_count, "SST file"),
                NUMBER_OF(check->row_count, "row"), SIZE_OF(check->byte_count));
#ifdef COLANDER_FILTERS
    report_add(&report, ", %s for %s", NUMBER_OF(check->filter_count, "filter"),
               NUMBER_OF(check->value_count, "value"));
#endif
    report_line(&report, "found", "%s",
                check->finding_count == 0
                    ? "nothing wrong"
                    : NUMBER_OF(check->finding_count, "damaged file"));
    if (check->repaired_count > 0)
        report_add(&report, ", %s repaired", THOUSANDS(check->repaired_count));
    if (check->leftover_count > 0)
        report_add(&report,
                   ", %s of unfinished writes: the next open for writing "
                   "removes or rebuilds them",
                   NUMBER_OF(check->leftover_count, "leftover"));
    return report_print(&report, session_out(session), err);
}

#ifdef COLANDER_CLUSTER
static enum colander_code
print_objects(const struct cluster_check *check, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    report_line(&report, "checked", "%s: %s of %s",
                NUMBER_OF(check->backup_count, "backup"),
                NUMBER_OF(check->object_count, "object"), SIZE_OF(check->size));
    report_line(&report, "found", "%s",
                check->finding_count == 0
                    ? "nothing wrong"
                    : NUMBER_OF(check->finding_count, "damaged object"));
    return report_print(&report, stdout, err);
}

static enum session_exit
check_backups(struct session *session, const char *address, bool repairs)
{
    struct cluster_check check;
    struct colander_error err;
    enum colander_code code;

    if (repairs)
        return session_complain(session, SESSION_USAGE,
                                "backups at an address cannot be repaired");
    code = cluster_check(address, &check, report_finding, session, &err);
    if (code == COLANDER_OK)
        code = print_objects(&check, &err);
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return check.finding_count > 0 ? SESSION_DAMAGED : SESSION_FINE;
}
#endif

/* Checks the store that is open. */
static enum session_exit
check_open(struct session *session, bool repairs, struct colander_check *check)
{
    struct colander_error err;
    enum colander_code code = check_store(session, repairs, check, &err);

    if (code == COLANDER_OK)
        code = print_summary(session, check, &err);
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return check->finding_count > check->repaired_count ? SESSION_DAMAGED
                                                        : SESSION_FINE;
}

static bool
is_cancelled(void *context)
{
    (void)context;
    return interrupt_happened();
}

/* Checks the store of a server, which cannot lack what an open needs. */
static enum session_exit
check_for_client(struct session *session, bool repairs)
{
    struct colander_check check = {.is_cancelled = is_cancelled};

    if (repairs && session->is_read_only)
        return session_complain(session, SESSION_FAILED, "%s",
                                session_read_only(session));
    return check_open(session, repairs, &check);
}

/* Opens the store, with what a repair of it needs. */
static enum colander_code
open_store(struct session *session, const char *path, bool repairs,
           struct colander_check *check, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (repairs)
        code = colander_store_repair(path, check, report_finding, session, err);
    return code == COLANDER_OK ? session_open(session, path,
                                              repairs ? COLANDER_OPEN_EXISTING
                                                      : COLANDER_OPEN_READ_ONLY,
                                              err)
                               : code;
}

static enum session_exit
run_check(struct session *session, const struct arguments *arguments)
{
    const bool repairs = arguments_has(arguments, "repair");
    const char *store = arguments->words[0];
    struct colander_check check = {.file_count = 0};
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code;

    if (session->client != NULL)
        return check_for_client(session, repairs);
    interrupt_ends_program();
    if (command_is_elsewhere(store)) {
        (void)command_run_elsewhere(session, arguments, &status);
        return status;
    }
#ifdef COLANDER_CLUSTER
    if (cluster_is_address(store))
        return check_backups(session, store, repairs);
#endif
    code = open_store(session, store, repairs, &check, &err);
    if (code == COLANDER_BUSY &&
        command_run_elsewhere(session, arguments, &status))
        return status;
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return session_finish(session, check_open(session, repairs, &check));
}

static const struct argument_option options[] = {
    OPTION_FLAG("repair", "rebuild what can be rebuilt without loss: value\n"
                          "filters, the record of options (with defaults),\n"
                          "CURRENT"),
    OPTIONS_END,
};

const struct command command_check = {
    .name = "check",
    .words = "STORE|ADDRESS [--repair]",
    .summary = "read the whole store, and report damage",
    .help =
        "Reads all of a store: every SST file, byte by byte and row by row;\n"
        "the logs; and every value filter, which must find every value of\n"
        "every row of its SST file. Prints a line for each damaged file;\n"
        "the exit status is then 4. Changes nothing without --repair, and\n"
        "never a row: for damaged SST files see colander salvage --help.\n"
        "\n"
        "At an ADDRESS (colander backup --help) reads every object of all\n"
        "backups, and prints a line for each that is damaged or missing.\n",
    .examples = "  colander check data\n"
                "  colander check s3://backups/data\n"
                "  colander check data --repair\n",
    .options = options,
    .store = COMMAND_OPENS,
    .goes_elsewhere = true,
    .word_count_min = 1,
    .run = run_check,
};
