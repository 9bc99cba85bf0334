/*
 * The commands drop, rename and copy, of families as a whole.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/scripting.h"
#include "shell/command.h"
#include "shell/commands/progress.h"
#include "shell/confirm.h"
#include "shell/interrupt.h"

#include <stdio.h>

/* Adds "family 'old' of about 12 rows". */
static void
add_family(struct report *report, const char *name, uint64_t row_count)
{
    report_add(report, "family '");
    report_add_text(report, colander_slice_text(name));
    report_add(report, "' of about %s", NUMBER_OF(row_count, "row"));
}

/* Asks whether the family may be dropped. */
static enum colander_code
ask_to_drop(const struct session *session, const char *name, uint64_t row_count,
            bool *is_yes, struct colander_error *err)
{
    struct report question = REPORT_EMPTY;

    report_add(&question, "drop ");
    add_family(&question, name, row_count);
    report_add(&question, "?");
    return confirm_ask(session, &question, is_yes, err);
}

static enum colander_code
print_dropped(const struct session *session, const char *name,
              uint64_t row_count, bool is_dry, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    add_family(&report, name, row_count);
    report_add(&report, is_dry ? " would be dropped" : " dropped");
    (void)fflush(session_out(session));
    return report_print(&report, session_err(session), err);
}

static enum session_exit
run_drop(struct session *session, const struct arguments *arguments)
{
    const bool is_dry = arguments_has(arguments, "dry-run");
    const bool asks = !is_dry && !arguments_has(arguments, "yes") &&
                      confirm_is_possible(session);
    const char *name = arguments->words[0];
    struct colander_family_sizes sizes = {.key_count = 0};
    struct colander_family *family = NULL;
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    bool is_yes = true;
    enum colander_code code = session_family(session, name, &family, &err);

    if (code == COLANDER_OK)
        code = colander_family_sizes(family, &sizes, &err);
    if (code == COLANDER_OK && asks)
        code = ask_to_drop(session, name, sizes.key_count, &is_yes, &err);
    if (code == COLANDER_OK && is_yes && !is_dry)
        code = colander_family_drop(family, &err);
    if (code == COLANDER_OK && is_yes)
        code = print_dropped(session, name, sizes.key_count, is_dry, &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    else if (!is_yes)
        status = session_complain(session, SESSION_FAILED, "not dropped");
    colander_family_close(family);
    return status;
}

static enum session_exit
run_rename(struct session *session, const struct arguments *arguments)
{
    struct colander_family *family = NULL;
    struct colander_error err;
    enum colander_code code =
        session_family(session, arguments->words[0], &family, &err);

    if (code == COLANDER_OK)
        code = colander_family_rename(family, arguments->words[1], &err);
    colander_family_close(family);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

/* Shows how many rows are copied. Returns false after Ctrl-C. */
static bool
show_copied(void *context, uint64_t row_count)
{
    struct progress *progress = context;
    struct report line = REPORT_EMPTY;

    if (progress_is_due(progress)) {
        report_add(&line, "%s copied", NUMBER_OF(row_count, "row"));
        progress_print(progress, &line);
    }
    return !interrupt_happened();
}

static enum session_exit
run_copy(struct session *session, const struct arguments *arguments)
{
    struct colander_family *from = NULL;
    struct colander_family *to = NULL;
    struct colander_error err;
    struct progress progress;
    uint64_t count = 0;
    enum colander_code code =
        session_family(session, arguments->words[0], &from, &err);

    if (code == COLANDER_OK)
        code = colander_family_open(session->store, arguments->words[1], &to,
                                    &err);
    progress_begin(&progress, session);
    if (code == COLANDER_OK)
        code = scripting_copy_family(from, to, show_copied, &progress, &count,
                                     &err);
    progress_hide(&progress);
    colander_family_close(from);
    colander_family_close(to);
    if (code != COLANDER_OK)
        return session_misused(session, &err);
    (void)fflush(session_out(session));
    fprintf(session_err(session), "%s copied\n", NUMBER_OF(count, "row"));
    return SESSION_FINE;
}

static const struct argument_option drop_options[] = {
    OPTION_FLAG("dry-run", "only print about how many rows it has"),
    OPTION_FLAG("yes", "do not ask"),
    OPTIONS_END,
};

const struct command command_drop = {
    .name = "drop",
    .words = "FAMILY [OPTION...]",
    .summary = "remove a family with all its rows",
    .help = "Removes a family with all its rows, at once. At a terminal, asks\n"
            "first. A row or a few are removed by delete.\n",
    .examples = "  colander drop data old --yes\n",
    .options = drop_options,
    .store = COMMAND_CHANGES,
    .word_count_min = 1,
    .run = run_drop,
};

const struct command command_rename = {
    .name = "rename",
    .words = "FAMILY NEWNAME",
    .summary = "give a family another name",
    .help = "Gives a family another name, at once. Fails if there is a family\n"
            "of that name.\n",
    .examples = "  colander rename data tweets old_tweets\n",
    .options = options_none,
    .store = COMMAND_CHANGES,
    .word_count_min = 2,
    .run = run_rename,
};

const struct command command_copy = {
    .name = "copy",
    .words = "FAMILY NEWNAME",
    .summary = "copy a family",
    .help =
        "Copies the rows of a family, as they are now, into a new one, with\n"
        "the time column and the options of filters. All rows appear at the\n"
        "end, or none. Fails if there is a family NEWNAME with rows.\n",
    .examples = "  colander copy data tweets tweets_before\n",
    .options = options_none,
    .store = COMMAND_CHANGES,
    .word_count_min = 2,
    .run = run_copy,
};
