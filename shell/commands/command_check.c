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
    enum colander_code code =
        colander_store_check(session->store, check, report_finding, NULL, err);

#ifdef COLANDER_FILTERS
    if (code == COLANDER_OK)
        code = colander_store_check_filters(session->store, repairs, check,
                                            report_finding, NULL, err);
#else
    (void)repairs;
#endif
    return code;
}

static enum colander_code
print_summary(const struct colander_check *check, struct colander_error *err)
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
    return report_print(&report, stdout, err);
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
    code = cluster_check(address, &check, report_finding, NULL, &err);
    if (code == COLANDER_OK)
        code = print_objects(&check, &err);
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return check.finding_count > 0 ? SESSION_DAMAGED : SESSION_FINE;
}
#endif

static enum session_exit
run_check(struct session *session, const struct arguments *arguments)
{
    const bool repairs = arguments_has(arguments, "repair");
    struct colander_check check = {.file_count = 0};
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    interrupt_ends_program();
#ifdef COLANDER_CLUSTER
    if (cluster_is_address(arguments->words[0]))
        return check_backups(session, arguments->words[0], repairs);
#endif
    if (repairs)
        code = colander_store_repair(arguments->words[0], &check,
                                     report_finding, NULL, &err);
    if (code == COLANDER_OK)
        code = session_open(
            session, arguments->words[0],
            repairs ? COLANDER_OPEN_EXISTING : COLANDER_OPEN_READ_ONLY, &err);
    if (code == COLANDER_OK)
        code = check_store(session, repairs, &check, &err);
    if (code == COLANDER_OK)
        code = print_summary(&check, &err);
    if (code != COLANDER_OK)
        status = session_fail(session, &err);
    else if (check.finding_count > check.repaired_count)
        status = SESSION_DAMAGED;
    return session_finish(session, status);
}

static const struct argument_option options[] = {
    OPTION_FLAG("repair", "rebuild what can be rebuilt without loss: value\n"
                          "filters, the record of options (with defaults),\n"
                          "CURRENT; no other program may have the store open"),
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
    .word_count_min = 1,
    .run = run_check,
};
