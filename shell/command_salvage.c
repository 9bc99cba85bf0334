/*
 * The command salvage: what can be read of a damaged store, in a new one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/report.h"

#include <stdio.h>

static void
print_loss(void *context, const char *file, const char *what)
{
    (void)context;
    printf("%s: %s\n", file, what);
    (void)fflush(stdout);
}

static enum colander_code
tell(const struct colander_salvage *salvage, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code;

    report_line(&report, "copied");
    report_add_number(&report, salvage->row_count, "row");
    report_add(&report, " (");
    report_add_size(&report, salvage->byte_count);
    report_add(&report, ") of ");
    report_add_count(&report, salvage->family_count);
    report_add(&report, salvage->family_count == 1 ? " family" : " families");
    report_line(&report, "lost");
    if (salvage->loss_count == 0)
        report_add(&report, "nothing");
    else
        report_add_number(&report, salvage->loss_count, "part");
    if (salvage->loss_count > 0)
        report_add(&report, ", as told above");
    code = report_print(&report, stdout, err);
    report_release(&report);
    return code;
}

/* Copies to a new store, which is closed then. */
static enum colander_code
copy(struct session *session, const char *from, const char *to,
     struct colander_salvage *salvage, struct colander_error *err)
{
    struct colander_options options;
    struct colander_error why;
    enum colander_code code = colander_salvage_options(from, to, &options, err);

    if (code != COLANDER_OK)
        return code;
    options.mode = COLANDER_OPEN_NEW;
    code = session_open_with(session, to, &options, err);
    if (code != COLANDER_OK)
        return code;
    code = colander_store_salvage(session->store, from, salvage, print_loss,
                                  NULL, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "'%s' has some of the families only", to);
    if (session_close(session, &why) != COLANDER_OK && code == COLANDER_OK)
        code = COLANDER_FAIL(err, why.code, "%s", why.message);
    return code;
}

static enum session_exit
run_salvage(struct session *session, const struct arguments *arguments)
{
    struct colander_salvage salvage;
    struct colander_error err;
    enum colander_code code;

    interrupt_ends_program();
    code =
        copy(session, arguments->words[0], arguments->words[1], &salvage, &err);
    if (code == COLANDER_OK)
        code = tell(&salvage, &err);
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return salvage.loss_count == 0 ? SESSION_FINE : SESSION_DAMAGED;
}

static const struct argument_option options[] = {{NULL, false, false}};

static const char help[] =
    "Makes the store DIR, which must not be there yet, of all rows that can "
    "be\n"
    "read of STORE, however damaged that is; nothing is changed there. What\n"
    "cannot be read is a line, with the rows that may be missing in DIR, or "
    "be\n"
    "as they were before; all others are as they are in STORE. If there is "
    "such\n"
    "a line the exit code is 4.\n"
    "\n"
    "A backup is better: see colander backup --help, and colander check "
    "--help\n"
    "for what needs no more than to be made anew.\n";

const struct command command_salvage = {
    "salvage",
    "STORE DIR",
    "copies what can be read of a damaged store",
    help,
    COMMAND_OPENS,
    options,
    2,
    2,
    SIZE_MAX,
    run_salvage,
};
