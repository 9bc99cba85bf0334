/*
 * The commands delete and update: change the rows that a find returns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/commands/progress.h"
#include "shell/confirm.h"
#include "shell/find_run.h"
#include "shell/hint.h"
#include "shell/interrupt.h"

#include <stdlib.h>

struct change_job {
    const struct session *session;
    struct request request;
    struct colander_buffer patch;     /* empty: delete */
    struct find_run *run;             /* whose rows are changed */
    struct colander_changes *changes; /* of rows of one family: */
    struct colander_family *family;
    uint64_t count;    /* changed in families before */
    const char *verb;  /* "delete" */
    const char *done;  /* "deleted" */
    const char *would; /* "would be deleted" */
    uint64_t total;    /* rows that were counted before; 0: they were not */
    bool is_deletion;
    struct progress progress;
    struct report hint;       /* why no row was found */
    struct report patch_hint; /* whether it sets values of another kind */
};

/* ----------------------------------------------------------------- rows --- */

static uint64_t
count_changed(const struct change_job *job)
{
    return job->count +
           (job->changes == NULL ? 0 : colander_changes_count(job->changes));
}

/* Writes the changes of a family. `code` is how its rows were read: after a
 * failure only what is written counts. */
static enum colander_code
end_changes(struct change_job *job, enum colander_code code,
            struct colander_error *err)
{
    if (code == COLANDER_OK && job->changes != NULL)
        code = colander_changes_commit(job->changes, err);
    job->count = count_changed(job);
    colander_changes_destroy(job->changes);
    job->changes = NULL;
    return code;
}

static void
show_progress(struct change_job *job)
{
    struct report line = REPORT_EMPTY;

    if (!progress_is_due(&job->progress))
        return;
    report_add(&line, "%s", NUMBER_OF(count_changed(job), "row"));
    if (job->total > 0)
        report_add(&line, " of %s", THOUSANDS(job->total));
    report_add(&line, " %s", job->done);
    progress_print(&job->progress, &line);
}

static enum colander_code
change_row(void *context, const struct colander_result *result,
           struct colander_error *err)
{
    struct change_job *job = context;
    enum colander_code code = COLANDER_OK;

    show_progress(job);
    if (job->changes != NULL && job->family != job->run->family)
        code = end_changes(job, code, err);
    job->family = job->run->family;
    if (code == COLANDER_OK && job->changes == NULL)
        code = colander_changes_create(job->family, job->request.where,
                                       colander_buffer_slice(&job->patch), NULL,
                                       &job->changes, err);
    return code == COLANDER_OK
               ? colander_changes_add(job->changes, result->key, err)
               : code;
}

/* Passes the rows to `take`; NULL: only counts them, in *count. */
static enum colander_code
read_rows(struct change_job *job, find_taker take, uint64_t *count,
          struct colander_error *err)
{
    struct find_run run = {
        .request = &job->request,
        .take = take,
        .context = job,
        .explanation = {.request = &job->request},
    };
    enum colander_code code;

    job->run = &run;
    hint_missing_init(&run.missing, NULL, 0, job->request.order,
                      job->request.where);
    code = find_run_read(&run, err);
    *count = run.explanation.row_count;
    report_release(&job->hint); /* of a count before */
    if (code == COLANDER_OK)
        find_run_add_hint(&run, &job->hint);
    hint_missing_release(&run.missing);
    explanation_release(&run.explanation);
    return code;
}

/* Changes the rows, and sets *count to how many are changed, even after a
 * failure. */
static enum colander_code
change_rows(struct change_job *job, uint64_t *count, struct colander_error *err)
{
    uint64_t found;
    enum colander_code code;

    progress_begin(&job->progress, job->session);
    code = read_rows(job, change_row, &found, err);
    code = end_changes(job, code, err);
    progress_hide(&job->progress);
    *count = job->count;
    return code;
}

/* ------------------------------------------------------------------ run --- */

/* Prints "12 rows deleted", after the hint. */
static enum colander_code
print_count(struct change_job *job, uint64_t count, const char *done,
            struct colander_error *err)
{
    (void)fflush(session_out(job->session));
    session_add_fact(job->session, "rows", count);
    session_add_hints(job->session, &job->patch_hint, &job->hint);
    report_add(&job->hint, "%s%s %s", job->hint.text.size > 0 ? "\n" : "",
               NUMBER_OF(count, "row"), done);
    return report_print(&job->hint, session_err(job->session), err);
}

/* Counts the rows and asks. Sets *is_yes if they may be changed. */
static enum colander_code
ask(struct change_job *job, bool *is_yes, struct colander_error *err)
{
    struct report question = REPORT_EMPTY;
    enum colander_code code = read_rows(job, NULL, &job->total, err);

    *is_yes = code == COLANDER_OK && job->total == 0; /* nothing to ask */
    if (code != COLANDER_OK || job->total == 0)
        return code;
    if (job->hint.text.size > 0)
        report_add(&question, "%.*s\n", (int)job->hint.text.size,
                   (const char *)job->hint.text.data);
    report_add(&question, "%s %s of %s '", job->verb,
               NUMBER_OF(job->total, "row"),
               job->request.families.is_selection ? "families" : "family");
    report_add_text(&question, colander_slice_text(job->request.families.name));
    report_add(&question, "'?");
    return confirm_ask(job->session, &question, is_yes, err);
}

/* Complains of what a column that no row has would make select other rows than
 * were meant, as the user cannot be asked: an order, of which others than the
 * first rows would be changed, and of a deletion a condition that every row
 * without the column meets. An update by that may give rows a new column. */
static enum session_exit
check_columns(struct change_job *job)
{
    const struct request *request = &job->request;
    struct colander_family *model = request->families.model;
    struct report hint = REPORT_EMPTY;
    struct colander_condition condition;
    const char *what = "an order";

    if (request->order != NULL)
        hint_add_column(model, request->order, &hint);
    for (size_t i = 0;
         job->is_deletion && request->where != NULL && hint.text.size == 0 &&
         colander_predicate_condition(request->where, i, &condition);
         i++) {
        what = "a condition";
        if (condition.is_negated)
            hint_add_column(model, condition.path, &hint);
    }
    if (hint.text.size == 0)
        return SESSION_FINE;
    (void)!report_print(&hint, session_err(job->session), NULL);
    return session_complain(job->session, SESSION_USAGE,
                            "no row %s: --yes takes such %s", job->done, what);
}

static enum session_exit
run_job(struct change_job *job, const struct arguments *arguments)
{
    const bool is_dry = arguments_has(arguments, "dry-run");
    struct colander_error err;
    enum session_exit status = SESSION_FINE;
    uint64_t count = 0;
    bool is_yes = true;
    enum colander_code code = COLANDER_OK;

    if (!is_dry && !arguments_has(arguments, "yes")) {
        if (confirm_is_possible(job->session))
            code = ask(job, &is_yes, &err);
        else
            status = check_columns(job);
    }
    if (code != COLANDER_OK)
        return session_misused(job->session, &err);
    if (status != SESSION_FINE)
        return status;
    if (!is_yes)
        return session_complain(job->session, SESSION_FAILED, "no row %s",
                                job->done);
    code = is_dry ? read_rows(job, NULL, &count, &err)
                  : change_rows(job, &count, &err);
    if (code != COLANDER_OK)
        status = session_misused(job->session, &err);
    if ((code == COLANDER_OK || !is_dry) &&
        print_count(job, count, is_dry ? job->would : job->done, &err) !=
            COLANDER_OK)
        status = session_fail(job->session, &err);
    return status;
}

/* Prints whether a column gets values of another kind. */
static void
print_patch_hint(struct change_job *job)
{
    struct report report = REPORT_EMPTY;

    hint_add_patch(job->request.families.model,
                   colander_buffer_slice(&job->patch), &report);
    if (job->session->client != NULL && job->session->client->facts != NULL)
        job->patch_hint = report; /* for the answer */
    else
        (void)!report_print(&report, session_err(job->session), NULL);
}

/* Whether the words and options select some rows of the family. */
static bool
selects(const struct request *request)
{
    bool does = request->has_conditions || request->expressions != NULL;

    for (size_t i = 0; i < sizeof(request->keys) / sizeof(request->keys[0]);
         i++)
        does = does || request->keys[i].size > 0;
    return does;
}

static enum session_exit
run_change(struct session *session, const struct arguments *arguments,
           struct change_job *job)
{
    enum session_exit status = SESSION_FINE;

    job->session = session;
    status = request_read(&job->request, session, arguments);
    if (status == SESSION_FINE &&
        selects(&job->request) == arguments_has(arguments, "all"))
        status = session_complain(
            session, SESSION_USAGE,
            selects(&job->request)
                ? "--all excludes conditions and keys"
                : "no condition: --all means every row of the family");
    if (status == SESSION_FINE && job->request.order != NULL &&
        job->request.families.is_selection)
        status = session_complain(session, SESSION_USAGE,
                                  "--order is for rows of one family");
    job->request.query.keys_only =
        job->request.expressions == NULL && job->request.order == NULL;
    job->request.query.reports_columns = false;
    if (status == SESSION_FINE && job->patch.size > 0)
        print_patch_hint(job);
    if (status == SESSION_FINE)
        status = run_job(job, arguments);
    request_release(&job->request);
    colander_buffer_release(&job->patch);
    report_release(&job->hint);
    report_release(&job->patch_hint);
    return status;
}

static enum session_exit
run_delete(struct session *session, const struct arguments *arguments)
{
    struct change_job job = {.verb = "delete",
                             .done = "deleted",
                             .would = "would be deleted",
                             .is_deletion = true};

    return run_change(session, arguments, &job);
}

/* Adds the values of an option to those before. */
static size_t
collect(const struct arguments *arguments, const char *name,
        const char **values)
{
    size_t count = 0;

    for (size_t i = 0; i < arguments->choice_count; i++) {
        if (strcmp(arguments->choices[i].option->name, name) == 0)
            values[count++] = arguments->choices[i].value;
    }
    return count;
}

static enum session_exit
run_update(struct session *session, const struct arguments *arguments)
{
    struct change_job job = {
        .verb = "update", .done = "updated", .would = "would be updated"};
    const char **words = malloc((arguments->choice_count + 1) * sizeof(*words));
    struct colander_fault fault;
    struct colander_error err;
    size_t set_count, unset_count;
    enum session_exit status = SESSION_FINE;

    if (words == NULL) {
        (void)COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory for options");
        return session_fail(session, &err);
    }
    set_count = collect(arguments, "set", words);
    unset_count = collect(arguments, "unset", words + set_count);
    if (set_count + unset_count == 0)
        status = session_complain(session, SESSION_USAGE,
                                  "--set or --unset is missing");
    else if (colander_patch_words(words, set_count, words + set_count,
                                  unset_count, &job.patch, &fault,
                                  &err) != COLANDER_OK) {
        colander_error_context(&err,
                               fault.word < set_count ? "--set" : "--unset");
        status =
            session_misread(session, words[fault.word], fault.offset, &err);
    }
    free(words);
    if (status == SESSION_FINE)
        return run_change(session, arguments, &job);
    colander_buffer_release(&job.patch);
    return status;
}

#define CHANGE_OPTIONS                                                         \
    REQUEST_ORDER_OPTIONS, OPTION("limit", "N", "change at most N rows"),      \
        OPTION_FLAG("reverse", "start at the last key"),                       \
        OPTION_FLAG("all", "every row: needed without conditions and keys"),   \
        OPTION_FLAG("dry-run", "only print the number of rows"),               \
        OPTION_FLAG("yes", "do not ask"),                                      \
        OPTION_FLAG("scan", "read every row instead of using value filters")

#define CHANGE_HELP                                                            \
    "Conditions are those of find, and the rows are exactly those that find\n" \
    "prints for them. At a terminal, prints their number and asks first.\n"    \
    "\n"                                                                       \
    "Rows are written in batches of up to 1,000. Ctrl-C stops between two\n"   \
    "batches, and what is written remains.\n"

static const struct argument_option delete_options[] = {
    REQUEST_OPTIONS,
    OPTION_GROUP("rows"),
    CHANGE_OPTIONS,
    OPTIONS_END,
};

const struct command command_delete = {
    .name = "delete",
    .words = "FAMILY [CONDITION...] [OPTION...]",
    .summary = "delete the rows that meet conditions",
    .help = "Deletes the rows of a family that meet every "
            "condition.\n\n" CHANGE_HELP,
    .examples = "  colander delete data tweets lang=pl --dry-run\n"
                "  colander delete data logs --until 30d --yes\n"
                "  colander delete data tweets --key t1\n",
    .options = delete_options,
    .store = COMMAND_CHANGES,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .run = run_delete,
};

static const struct argument_option update_options[] = {
    OPTION_GROUP("columns"),
    OPTION_LIST("set", "COL=VALUE",
                "set a column. VALUE is as in conditions, or a map\n"
                "or array in JSON; @now is the time now"),
    OPTION_LIST("unset", "COL", "remove a column"),
    REQUEST_OPTIONS,
    OPTION_GROUP("rows"),
    CHANGE_OPTIONS,
    OPTIONS_END,
};

const struct command command_update = {
    .name = "update",
    .words = "FAMILY [CONDITION...] [OPTION...]",
    .summary = "change columns of the rows that meet conditions",
    .help = "Changes columns of the rows that meet every condition. The other\n"
            "columns stay as they are. COL may lead into maps: place.city.\n"
            "\n" CHANGE_HELP,
    .examples = "  colander update data tweets user=Smith --set "
                "'place=Houston'\n"
                "  colander update data tweets --key t1 --set likes=5 --unset "
                "draft\n",
    .options = update_options,
    .store = COMMAND_CHANGES,
    .word_count_min = 1,
    .word_count_max = SIZE_MAX - 1,
    .run = run_update,
};
