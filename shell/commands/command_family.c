/*
 * The commands drop, rename and copy, of families as a whole.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/partitions.h"
#include "scripting/scripting.h"
#include "shell/command.h"
#include "shell/commands/progress.h"
#include "shell/confirm.h"
#include "shell/interrupt.h"

#include <stdio.h>

/* What is dropped: a family, or those by time and then that of their pattern,
 * so that a policy is there until all are gone. */
struct drop {
    const struct session *session;
    const char *name;
    struct colander_names names; /* by time */
    uint64_t row_count;          /* about */
};

/* Adds "family 'old' of about 12 rows". */
static void
add_dropped(struct report *report, const struct drop *drop)
{
    if (drop->names.count > 0)
        report_add(report, "%s famil%s of '", THOUSANDS(drop->names.count),
                   drop->names.count == 1 ? "y" : "ies");
    else
        report_add(report, "family '");
    report_add_text(report, colander_slice_text(drop->name));
    report_add(report, "' %s about %s", drop->names.count > 0 ? "with" : "of",
               NUMBER_OF(drop->row_count, "row"));
}

/* Asks whether they may be dropped. */
static enum colander_code
ask_to_drop(const struct drop *drop, bool *is_yes, struct colander_error *err)
{
    struct report question = REPORT_EMPTY;

    report_add(&question, "drop ");
    add_dropped(&question, drop);
    report_add(&question, "?");
    return confirm_ask(drop->session, &question, is_yes, err);
}

static enum colander_code
print_dropped(const struct drop *drop, bool is_dry, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    add_dropped(&report, drop);
    report_add(&report, is_dry ? " would be dropped" : " dropped");
    (void)fflush(session_out(drop->session));
    return report_print(&report, session_err(drop->session), err);
}

/* Lists the families of a pattern; none for another name. */
static enum colander_code
list_parts(const struct session *session, const char *name,
           struct colander_names *names, struct colander_error *err)
{
    enum colander_code code;

    if (colander_partition_unit(name) == NULL)
        return COLANDER_OK;
    code = colander_store_families(session->store, names, err);
    if (code == COLANDER_OK)
        colander_names_select(names, name);
    return code;
}

/* Counts the rows of a family, or drops it. Another may have dropped it
 * meanwhile. */
static enum colander_code
drop_part(struct drop *drop, const char *name, bool only_counts,
          struct colander_error *err)
{
    struct colander_family_sizes sizes = {.key_count = 0};
    struct colander_family *family = NULL;
    enum colander_code code =
        colander_family_open(drop->session->store, name, &family, err);

    if (code == COLANDER_OK && only_counts)
        code = colander_family_sizes(family, &sizes, err);
    else if (code == COLANDER_OK)
        code = colander_family_drop(family, err);
    drop->row_count += sizes.key_count;
    colander_family_close(family);
    if (drop->names.count > 0 &&
        (code == COLANDER_NOT_FOUND || code == COLANDER_DROPPED))
        code = COLANDER_OK;
    return code;
}

/* Counts the rows of all, or drops them. */
static enum colander_code
drop_parts(struct drop *drop, bool only_counts, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < drop->names.count && code == COLANDER_OK; i++)
        code = drop_part(drop, drop->names.names[i], only_counts, err);
    return code == COLANDER_OK ? drop_part(drop, drop->name, only_counts, err)
                               : code;
}

/* Finds what the name means, and about how many rows that has. */
static enum colander_code
begin_drop(struct drop *drop, struct colander_error *err)
{
    struct colander_family *family = NULL;
    enum colander_code code =
        list_parts(drop->session, drop->name, &drop->names, err);

    if (code == COLANDER_OK && drop->names.count == 0)
        code = session_family(drop->session, drop->name, &family, err);
    colander_family_close(family);
    return code == COLANDER_OK ? drop_parts(drop, true, err) : code;
}

static enum session_exit
run_drop(struct session *session, const struct arguments *arguments)
{
    const bool is_dry = arguments_has(arguments, "dry-run");
    const bool asks = !is_dry && !arguments_has(arguments, "yes") &&
                      confirm_is_possible(session);
    struct drop drop = {.session = session, .name = arguments->words[0]};
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    bool is_yes = true;
    enum colander_code code = begin_drop(&drop, &err);

    if (code == COLANDER_OK && asks)
        code = ask_to_drop(&drop, &is_yes, &err);
    if (code == COLANDER_OK && is_yes && !is_dry)
        code = drop_parts(&drop, false, &err);
    if (code == COLANDER_OK && is_yes)
        code = print_dropped(&drop, is_dry, &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    else if (!is_yes)
        status = session_complain(session, SESSION_FAILED, "not dropped");
    colander_names_release(&drop.names);
    return status;
}

/* Opens the family, which a name alone means: a pattern whose families would
 * keep their names has parts that belong together. */
static enum colander_code
open_alone(const struct session *session, const char *name,
           struct colander_family **family, struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    enum colander_code code = list_parts(session, name, &names, err);

    if (code == COLANDER_OK && names.count > 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' are families by time, such as '%s': the "
                             "command takes one family",
                             name, names.names[0]);
    colander_names_release(&names);
    return code == COLANDER_OK ? session_family(session, name, family, err)
                               : code;
}

static enum session_exit
run_rename(struct session *session, const struct arguments *arguments)
{
    struct colander_family *family = NULL;
    struct colander_error err;
    enum colander_code code =
        open_alone(session, arguments->words[0], &family, &err);

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
        open_alone(session, arguments->words[0], &from, &err);

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
    .help =
        "Removes a family with all its rows, at once. At a terminal, asks\n"
        "first. A row or a few are removed by delete. Of 'logs/{day}', the\n"
        "families by time are removed, too, with their policy of retention.\n",
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
