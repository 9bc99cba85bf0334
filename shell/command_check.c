/*
 * The command check: whether all that a store has is as it was written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/report.h"

#include <stdio.h>

static void
print_finding(void *context, const char *file, const char *what)
{
    (void)context;
    printf("%s: %s\n", file, what);
    (void)fflush(stdout);
}

static enum colander_code
check_store(struct session *session, bool mends, struct colander_check *check,
            struct colander_error *err)
{
    enum colander_code code =
        colander_store_check(session->store, check, print_finding, NULL, err);

#ifdef COLANDER_FILTERS
    if (code == COLANDER_OK)
        code = colander_store_check_filters(session->store, mends, check,
                                            print_finding, NULL, err);
#else
    (void)mends;
#endif
    return code;
}

/* Says what was looked at, and what came of it. */
static enum colander_code
tell(const struct colander_check *check, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code;

    report_line(&report, "checked");
    report_add_number(&report, check->file_count, "SST file");
    report_add(&report, " of ");
    report_add_number(&report, check->row_count, "row");
    report_add(&report, " (");
    report_add_size(&report, check->byte_count);
    report_add(&report, ")");
#ifdef COLANDER_FILTERS
    report_add(&report, ", ");
    report_add_number(&report, check->filter_count, "filter");
    report_add(&report, " for ");
    report_add_number(&report, check->value_count, "value");
#endif
    report_line(&report, "found");
    if (check->finding_count == 0)
        report_add(&report, "nothing wrong");
    else
        report_add_number(&report, check->finding_count, "damaged file");
    if (check->mended_count > 0) {
        report_add(&report, ", ");
        report_add_count(&report, check->mended_count);
        report_add(&report, " made anew");
    }
    if (check->leftover_count > 0) {
        report_add(&report, ", ");
        report_add_number(&report, check->leftover_count, "leftover");
        report_add(&report, " of a crash");
    }
    code = report_print(&report, stdout, err);
    report_release(&report);
    return code;
}

static enum session_exit
run_check(struct session *session, const struct arguments *arguments)
{
    const bool mends = arguments_has(arguments, "repair");
    struct colander_check check = {.file_count = 0};
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    interrupt_ends_program();
    if (mends)
        code = colander_store_mend(arguments->words[0], &check, print_finding,
                                   NULL, &err);
    if (code == COLANDER_OK)
        code = session_open(
            session, arguments->words[0],
            mends ? COLANDER_OPEN_EXISTING : COLANDER_OPEN_READ_ONLY, &err);
    if (code == COLANDER_OK)
        code = check_store(session, mends, &check, &err);
    if (code == COLANDER_OK)
        code = tell(&check, &err);
    if (code != COLANDER_OK)
        status = session_fail(session, &err);
    else if (check.finding_count > check.mended_count)
        status = SESSION_DAMAGED;
    if (session_close(session, &err) != COLANDER_OK && status == SESSION_FINE)
        status = session_fail(session, &err);
    return status;
}

static const struct argument_option options[] = {
    {"repair", false, false},
    {NULL, false, false},
};

static const char help[] =
    "Reads all that a store has: every SST file, byte by byte and row by row;\n"
    "the logs, when it opens them; and every value filter, which is asked for\n"
    "every value of every row of its SST, as a find would ask. Each file that\n"
    "is damaged is a line, and the exit code then is 4. Nothing is changed.\n"
    "\n"
    "options:\n"
    "  --repair  makes anew what can be without a loss: value filters that "
    "are\n"
    "            damaged or missing, the record of options (with defaults),\n"
    "            CURRENT; nobody else may have the store open. No row is\n"
    "            touched: damaged SST files stay as they are, see salvage\n";

const struct command command_check = {
    "check",
    "STORE [--repair]",
    "reads everything and tells what is damaged",
    help,
    COMMAND_OPENS,
    options,
    1,
    1,
    SIZE_MAX,
    run_check,
};
