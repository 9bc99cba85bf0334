/*
 * The command salvage: copies what can be read of a damaged store to a new one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/report.h"

#include <stdio.h>

static const char is_open[] =
    "salvage is for stores that cannot be opened, and 'colander backup' copies "
    "this one";

static enum colander_code
print_summary(const struct colander_salvage *salvage,
              struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    report_line(&report, "copied", "%s (%s) of %s %s",
                NUMBER_OF(salvage->row_count, "row"),
                SIZE_OF(salvage->byte_count), THOUSANDS(salvage->family_count),
                salvage->family_count == 1 ? "family" : "families");
    if (salvage->loss_count == 0)
        report_line(&report, "lost", "nothing");
    else
        report_line(&report, "lost", "%s, listed above",
                    NUMBER_OF(salvage->loss_count, "part"));
    return report_print(&report, stdout, err);
}

/* Copies to a new store, and closes it. */
static enum colander_code
copy(struct session *session, const char *from, const char *to,
     struct colander_salvage *salvage, struct colander_error *err)
{
    struct colander_options options;
    struct colander_error close_err;
    enum colander_code code = colander_salvage_options(from, to, &options, err);

    if (code == COLANDER_BUSY)
        return COLANDER_FAIL(err, code, "'%s' is open in another process: %s",
                             from, is_open);
    if (code != COLANDER_OK)
        return code;
    options.mode = COLANDER_OPEN_NEW;
    code = session_open_with(session, to, &options, err);
    if (code != COLANDER_OK)
        return code;
    code = colander_store_salvage(session->store, from, salvage, report_finding,
                                  session, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "'%s' has only some of the families", to);
    if (session_close(session, &close_err) != COLANDER_OK &&
        code == COLANDER_OK)
        code = COLANDER_FAIL(err, close_err.code, "%s", close_err.message);
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
        code = print_summary(&salvage, &err);
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return salvage.loss_count == 0 ? SESSION_FINE : SESSION_DAMAGED;
}

const struct command command_salvage = {
    .name = "salvage",
    .words = "STORE DIR",
    .summary = "copy what can be read of a damaged store",
    .help =
        "Creates the store DIR, which must not exist yet, from all rows\n"
        "that can be read of STORE. STORE is not changed, and may be\n"
        "damaged in any way. Prints a line for each part that cannot be\n"
        "read: which rows DIR may lack, or have in an older version. All\n"
        "other rows are as in STORE. The exit status is 4 if a line is\n"
        "printed.\n"
        "\n"
        "A backup is better: see colander backup --help. See colander check\n"
        "--help for damage that can be repaired without loss.\n",
    .examples = "  colander salvage data data.new\n",
    .options = options_none,
    .instead = is_open,
    .store = COMMAND_OPENS,
    .word_count_min = 2,
    .run = run_salvage,
};
