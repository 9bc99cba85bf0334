/*
 * The command retain: sets, shows and applies policies of retention.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/commands/keeper.h"
#include "shell/commands/progress.h"
#include "shell/confirm.h"
#include "shell/hint.h"
#include "shell/interrupt.h"
#include "shell/retain_rules.h"
#include "shell/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct retain_job {
    const struct session *session;
    struct colander_family *family;
    const char *name;
    const struct colander_retention *retention; /* NULL: the family's own */
    bool is_kept; /* the policy is set after it was applied */
    bool is_dry;
    bool asks;
    bool names;     /* lines begin with the name of the family */
    bool counts;    /* rows without a time are counted */
    bool drops;     /* families, as a whole */
    uint64_t total; /* rows that were counted before; 0: they were not */
    struct colander_retained asked; /* what was counted then */
    const struct colander_retention
        *shown;           /* whose rules are printed with their
                                             * rows; NULL: none */
    struct report doubts; /* lines about conditions that no row can meet */
    struct progress progress;
};

/* ------------------------------------------------------------- applying --- */

static void
watch(void *context, struct colander_cursor *cursor)
{
    (void)context;
    interrupt_watch(cursor);
}

static bool
goes_on(void *context, uint64_t row_count)
{
    struct retain_job *job = context;
    struct report line = REPORT_EMPTY;

    if (row_count > 0 && progress_is_due(&job->progress)) {
        report_add(&line, "%s", NUMBER_OF(row_count, "row"));
        if (job->total > 0)
            report_add(&line, " of %s", THOUSANDS(job->total));
        report_add(&line, " deleted");
        progress_print(&job->progress, &line);
    }
    return !interrupt_happened();
}

static enum colander_code
retain(struct retain_job *job, bool is_dry, bool counts,
       struct colander_retained *done, struct colander_error *err)
{
    struct colander_retain_options options;
    enum colander_code code;

    colander_retain_options_init(&options);
    options.is_dry = is_dry;
    options.counts = counts;
    options.asked = job->asks && !is_dry ? &job->asked : NULL;
    options.watch = watch;
    options.goes_on = is_dry ? NULL : goes_on;
    options.context = job;
    progress_begin(&job->progress, job->session);
    code = colander_family_retain(job->family, job->retention, &options, done,
                                  err);
    progress_hide(&job->progress);
    return code;
}

/* Whether no row and no family was too old. */
static bool
has_nothing(const struct colander_retained *done)
{
    return done->row_count == 0 && done->family_count == 0;
}

/* "2 families with about 3,000,000 rows" */
static void
add_families(struct report *report, const struct colander_retained *done)
{
    report_add(report, "%s famil%s", THOUSANDS(done->family_count),
               done->family_count == 1 ? "y" : "ies");
    if (done->family_count > 0)
        report_add(report, " with about %s", NUMBER_OF(done->row_count, "row"));
}

/* Adds all that may show a mistake, and ends the line. */
static enum colander_code
add_doubts(struct retain_job *job, struct report *report,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    report_add(report, "%.*s", (int)job->doubts.text.size,
               (const char *)job->doubts.text.data);
    if (job->shown != NULL && !job->drops)
        code = retain_rules_count(job->family, job->shown, report, err);
    if (report->text.size > 0)
        report_add(report, "\n");
    return code;
}

/* ------------------------------------------------------------ questions --- */

/* Counts the rows and asks. Sets *is_yes if they may be deleted. */
static enum colander_code
ask(struct retain_job *job, bool *is_yes, struct colander_error *err)
{
    struct report question = REPORT_EMPTY;
    enum colander_code code;

    code = retain(job, true, false, &job->asked, err);
    job->total = job->asked.row_count;
    *is_yes = code == COLANDER_OK && has_nothing(&job->asked) &&
              job->doubts.text.size == 0;
    if (code == COLANDER_OK && !*is_yes)
        code = add_doubts(job, &question, err);
    if (code != COLANDER_OK || *is_yes) {
        report_release(&question);
        return code;
    }
    if (job->drops) {
        report_add(&question, "drop ");
        add_families(&question, &job->asked);
        report_add(&question, " of '");
    } else {
        report_add(&question, "delete %s of family '",
                   NUMBER_OF(job->total, "row"));
    }
    report_add_text(&question, colander_slice_text(job->name));
    report_add(&question, "'?");
    return confirm_ask(job->session, &question, is_yes, err);
}

static void
add_time(struct report *report, const struct colander_value *time)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    if (text_append_value(&text, time, SIZE_MAX, NULL) == COLANDER_OK)
        report_add(report, "%.*s", (int)text.size, (const char *)text.data);
    colander_buffer_release(&text);
}

static void
add_untimed(const struct retain_job *job, uint64_t count, struct report *report)
{
    struct colander_buffer column = COLANDER_BUFFER_EMPTY;
    bool found;

    report_add(report, "\n%s without a time", NUMBER_OF(count, "row"));
    if (colander_family_time_column(job->family, &column, &found, NULL) ==
            COLANDER_OK &&
        found) {
        report_add(report, " in '");
        report_add_text(report, colander_slice_text((const char *)column.data));
        report_add(report, "'");
    }
    report_add(report, job->is_dry ? " would stay" : " kept");
    colander_buffer_release(&column);
}

/* Adds that no row has the time column, if that is so. */
static void
add_no_times(const struct retain_job *job, struct report *report)
{
    struct colander_buffer column = COLANDER_BUFFER_EMPTY;
    bool found;

    if (colander_family_time_column(job->family, &column, &found, NULL) ==
            COLANDER_OK &&
        found)
        hint_add_column(job->family, (const char *)column.data, report);
    colander_buffer_release(&column);
}

/* Prints what was done, or would be. */
static enum colander_code
print_done(struct retain_job *job, const struct colander_retained *done,
           bool is_set, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code = COLANDER_OK;

    if (!job->asks)
        code = add_doubts(job, &report, err);
    if (code != COLANDER_OK) {
        report_release(&report);
        return code;
    }
    if (job->names) {
        report_add_text(&report, colander_slice_text(job->name));
        report_add(&report, ": ");
    }
    if (job->drops) {
        add_families(&report, done);
        report_add(&report, job->is_dry ? " would be dropped" : " dropped");
    } else {
        report_add(&report, "%s %s", NUMBER_OF(done->row_count, "row"),
                   job->is_dry ? "would be deleted" : "deleted");
    }
    if (done->newest.type == COLANDER_TIMESTAMP) {
        report_add(&report, "; the newest is of ");
        add_time(&report, &done->newest);
        if (colander_value_compare(&done->newest, &done->reference) > 0)
            report_add(&report, ", in the future: ages count from now");
    }
    if (done->is_counted && done->untimed_count > 0)
        add_untimed(job, done->untimed_count, &report);
    if (done->newest.type == COLANDER_NULL && !job->drops)
        add_no_times(job, &report);
    if (is_set)
        report_add(&report,
                   "\nretention set: 'colander retain STORE' applies it again");
    (void)fflush(session_out(job->session));
    return report_print(&report, session_err(job->session), err);
}

static enum session_exit
run_job(struct retain_job *job)
{
    struct colander_retained done;
    struct colander_error err;
    enum session_exit status = SESSION_FINE;
    bool is_yes = true;
    enum colander_code code;

    if (job->asks && ask(job, &is_yes, &err) != COLANDER_OK)
        return session_misused(job->session, &err);
    if (!is_yes)
        return session_complain(job->session, SESSION_FAILED, "no %s%s",
                                job->drops ? "family dropped" : "row deleted",
                                job->is_kept ? ", and no retention set" : "");
    /* What was not asked for is not deleted. */
    code = retain(job, job->is_dry || (job->asks && has_nothing(&job->asked)),
                  job->counts, &done, &err);
    if (job->asks) { /* of what the user was asked */
        done.newest = job->asked.newest;
        if (has_nothing(&job->asked))
            done.row_count = done.family_count = 0;
    }
    if (code == COLANDER_OK && job->is_kept)
        code = colander_family_set_retention(job->family, job->retention, &err);
    if (code == COLANDER_CANCELLED && !interrupt_happened())
        status =
            session_complain(job->session, SESSION_FAILED, "%s", err.message);
    else if (code != COLANDER_OK)
        status = session_misused(job->session, &err);
    if ((code == COLANDER_OK || !has_nothing(&done)) &&
        print_done(job, &done, code == COLANDER_OK && job->is_kept, &err) !=
            COLANDER_OK)
        status = session_fail(job->session, &err);
    return status;
}

/* Applies the family's own policy; *has_one: there is one. */
static enum session_exit
apply_own(struct retain_job *job, bool *has_one)
{
    struct colander_retention *own = NULL;
    enum colander_retention_state state;
    struct colander_error err;
    enum session_exit status = SESSION_FINE;

    if (colander_family_retention(job->family, &own, &state, &err) !=
        COLANDER_OK)
        return session_fail(job->session, &err);
    *has_one = state != COLANDER_RETENTION_NONE;
    if (job->is_dry && !job->names)
        job->shown = own;
    if (keeper_is_in_force(job->session, job->name, state))
        status = run_job(job);
    else if (*has_one)
        status = SESSION_FAILED;
    job->shown = NULL;
    colander_retention_destroy(own);
    return status;
}

/* ---------------------------------------------------------------- words --- */

/* A policy that was given by options. */
struct given {
    struct colander_retention retention;
    struct colander_keep *keeps;
    const char **words;
    size_t word_count;
};

static void
given_release(struct given *given)
{
    free(given->keeps);
    free(given->words);
}

static enum colander_code
read_keep(const char *text, int64_t *seconds, struct colander_error *err)
{
    if (colander_duration_read(colander_slice_text(text), seconds) &&
        *seconds > 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "--keep: expected a duration such as 30d or 12h, not "
                         "'%s'",
                         text);
}

/* Reads the options in order: conditions come before the --keep that is theirs.
 * That for all other rows may be anywhere, and becomes the last. */
static enum colander_code
read_keeps(struct given *given, const struct arguments *arguments,
           struct colander_error *err)
{
    struct colander_keep others = {NULL, 0, 0};
    size_t pending = 0; /* conditions without a --keep so far */
    size_t count = 0;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < arguments->choice_count && code == COLANDER_OK;
         i++) {
        const struct argument_choice *choice = &arguments->choices[i];
        struct colander_keep *keep =
            pending > 0 ? &given->keeps[count] : &others;

        if (strcmp(choice->option->name, "where") == 0) {
            given->words[given->word_count++] = choice->value;
            pending++;
        } else if (strcmp(choice->option->name, "keep") == 0) {
            if (pending == 0 && others.seconds > 0)
                return COLANDER_FAIL(err, COLANDER_INVALID,
                                     "--keep is there twice without a --where "
                                     "before it");
            code = read_keep(choice->value, &keep->seconds, err);
            keep->words = given->words + given->word_count - pending;
            keep->word_count = pending;
            count += pending > 0;
            pending = 0;
        }
    }
    if (code == COLANDER_OK && pending > 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "--where needs a --keep after it, as in --where "
                             "level=debug --keep 3d");
    if (others.seconds > 0)
        given->keeps[count++] = others;
    given->retention.keeps = given->keeps;
    given->retention.keep_count = count;
    return code;
}

/* Prints the mistake in the conditions of a rule, if there is one, and adds to
 * the doubts what no row can meet. */
static enum session_exit
check_keep(struct retain_job *job, const struct colander_retention *retention,
           size_t index)
{
    const char *const *words = retention->keeps[index].words;
    struct colander_fault fault = {0, 0};
    struct colander_error err;
    const enum colander_code code = retain_rule_check(
        job->family, retention, index, &fault, &job->doubts, &err);

    if (code == COLANDER_OK)
        return SESSION_FINE;
    colander_error_context(&err, "--where");
    return session_misread(job->session, words[fault.word], fault.offset, &err);
}

static enum session_exit
read_given(struct given *given, struct retain_job *job,
           const struct arguments *arguments)
{
    const size_t room = arguments->choice_count + 1;
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    colander_retention_init(&given->retention);
    given->keeps = calloc(room, sizeof(*given->keeps));
    given->words = calloc(room, sizeof(*given->words));
    if (given->keeps == NULL || given->words == NULL)
        code = COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory for options");
    if (code == COLANDER_OK)
        code = read_keeps(given, arguments, &err);
    if (code == COLANDER_OK)
        code = arguments_size(arguments, "max-bytes",
                              &given->retention.size_max, &err);
    if (code != COLANDER_OK)
        return session_misused(job->session, &err);
    for (size_t i = 0;
         i < given->retention.keep_count && status == SESSION_FINE; i++) {
        if (given->keeps[i].word_count > 0)
            status = check_keep(job, &given->retention, i);
    }
    return status;
}

/* -------------------------------------------------------------- showing --- */

static enum session_exit
show(const struct retain_job *job)
{
    struct colander_retention *own;
    enum colander_retention_state state;
    struct report report = REPORT_EMPTY;
    struct colander_error err;

    if (colander_family_retention(job->family, &own, &state, &err) !=
        COLANDER_OK)
        return session_fail(job->session, &err);
    for (size_t i = 0; own != NULL && i < own->keep_count; i++) {
        report_line(&report, "keep", "%s", "");
        retain_rule_add(&report, &own->keeps[i]);
    }
    if (own != NULL && own->size_max != UINT64_MAX)
        report_line(&report, "bytes", "%s at most", SIZE_OF(own->size_max));
    report_line(&report, "state", "%s",
                state == COLANDER_RETENTION_NONE ? "no retention"
                : state == COLANDER_RETENTION_IN_FORCE
                    ? "in force: 'colander retain STORE' applies it"
                : state == COLANDER_RETENTION_PAUSED_STORE
                    ? "paused until it is set again: this is a restored or "
                      "salvaged store"
                    : "paused until it is set again: the family had another "
                      "time column");
    colander_retention_destroy(own);
    if (report_print(&report, session_out(job->session), &err) == COLANDER_OK)
        return SESSION_FINE;
    return session_fail(job->session, &err);
}

/* ------------------------------------------------------------------ run --- */

/* Applies the policies of all families that have one. */
static enum session_exit
retain_all(struct retain_job *job)
{
    struct colander_names names = {NULL, 0};
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    size_t count = 0;

    if (colander_store_families(job->session->store, &names, &err) !=
        COLANDER_OK)
        return session_fail(job->session, &err);
    job->names = true;
    for (size_t i = 0; i < names.count && status != SESSION_INTERRUPTED; i++) {
        enum session_exit ended = SESSION_FINE;
        bool has_one = false;

        job->name = names.names[i];
        job->drops = colander_partition_unit(job->name) != NULL;
        if (colander_family_open(job->session->store, job->name, &job->family,
                                 &err) != COLANDER_OK)
            ended = session_fail(job->session, &err);
        else
            ended = apply_own(job, &has_one);
        colander_family_close(job->family);
        job->family = NULL;
        count += has_one;
        if (ended != SESSION_FINE)
            status = ended;
    }
    colander_names_release(&names);
    if (count == 0 && status == SESSION_FINE)
        session_complain(job->session, SESSION_FINE,
                         "no family has a retention: set one with --keep");
    return status;
}

static enum session_exit
remove_own(const struct retain_job *job)
{
    struct colander_error err;

    if (colander_family_set_retention(job->family, NULL, &err) == COLANDER_OK)
        return SESSION_FINE;
    return session_misused(job->session, &err);
}

/* Refuses conditions that no row meets: those that they should keep would go,
 * for ever, and the user cannot be asked. */
static enum session_exit
refuse_doubts(struct retain_job *job)
{
    (void)!report_print(&job->doubts, session_err(job->session), NULL);
    return session_complain(job->session, SESSION_USAGE,
                            "no row deleted, and no retention set: --yes takes "
                            "such conditions");
}

/* Applies a policy that options describe, and keeps it unless it is for
 * once. */
static enum session_exit
retain_given(struct retain_job *job, const struct arguments *arguments)
{
    struct given given = {.keeps = NULL};
    enum session_exit status = read_given(&given, job, arguments);

    job->retention = &given.retention;
    job->is_kept = !job->is_dry && !arguments_has(arguments, "once");
    job->counts = true;
    if (job->is_dry || job->asks)
        job->shown = &given.retention;
    if (status == SESSION_FINE && job->doubts.text.size > 0 && !job->is_dry &&
        !job->asks && !arguments_has(arguments, "yes"))
        status = refuse_doubts(job);
    if (status == SESSION_FINE)
        status = run_job(job);
    job->retention = job->shown = NULL;
    given_release(&given);
    return status;
}

static enum session_exit
retain_own(struct retain_job *job)
{
    bool has_one = false;
    enum session_exit status;

    job->counts = true;
    status = apply_own(job, &has_one);
    if (status == SESSION_FINE && !has_one)
        status = session_complain(job->session, SESSION_FAILED,
                                  "family '%s' has no retention: set one with "
                                  "--keep",
                                  job->name);
    return status;
}

static bool
gives_policy(const struct arguments *arguments)
{
    return arguments_has(arguments, "keep") ||
           arguments_has(arguments, "where") ||
           arguments_has(arguments, "max-bytes");
}

/* Complains if the family has no time column. */
static enum session_exit
check_time_column(const struct retain_job *job)
{
    struct colander_buffer column = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    bool found = false;
    enum colander_code code =
        colander_family_time_column(job->family, &column, &found, &err);

    colander_buffer_release(&column);
    if (code != COLANDER_OK)
        return session_fail(job->session, &err);
    if (found)
        return SESSION_FINE;
    return session_complain(
        job->session, SESSION_USAGE,
        "family '%s' has no time column, by which rows are old: set one with "
        "'colander families STORE %s --time COLUMN'",
        job->name, job->name);
}

static enum session_exit
retain_family(struct retain_job *job, const struct arguments *arguments)
{
    enum session_exit status;

    if (arguments_has(arguments, "off"))
        return remove_own(job);
    if (arguments->choice_count == 0)
        return show(job);
    status = check_time_column(job);
    if (status != SESSION_FINE)
        return status;
    return gives_policy(arguments) ? retain_given(job, arguments)
                                   : retain_own(job);
}

/* Returns a text about options that exclude each other, or NULL. */
static const char *
find_conflict(const struct arguments *arguments)
{
    const bool has_family = arguments->word_count > 0;

    if (!has_family &&
        (gives_policy(arguments) || arguments_has(arguments, "off") ||
         arguments_has(arguments, "once")))
        return "FAMILY is missing";
    if (arguments_has(arguments, "off") && arguments->choice_count > 1)
        return "--off excludes other options";
    if (has_family && arguments->choice_count == 1 &&
        arguments_has(arguments, "yes"))
        return "--yes needs --keep, --max-bytes or --once";
    return NULL;
}

/* Fails unless all families that the name selects are of the pattern. */
static enum colander_code
check_selected(const struct colander_names *all, const char *name,
               const char *pattern, struct colander_error *err)
{
    int64_t from, until;

    for (size_t i = 0; i < all->count; i++) {
        const char *other = all->names[i];

        assert(other != NULL);
        if (strcmp(other, pattern) != 0 && colander_name_is_like(other, name) &&
            !colander_partition_times(pattern, other, &from, &until))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "'%s' is also '%s', which is none of '%s': "
                                 "retain it alone",
                                 name, other, pattern);
    }
    return COLANDER_OK;
}

/* Opens the family that has the policy of all that a name with * selects: that
 * of their pattern. */
static enum colander_code
open_pattern(struct retain_job *job, const char *name,
             struct colander_error *err)
{
    struct colander_names all = {NULL, 0};
    const char *pattern = NULL;
    enum colander_code code =
        colander_store_families(job->session->store, &all, err);

    for (size_t i = 0; i < all.count && pattern == NULL; i++) {
        if (colander_partition_unit(all.names[i]) != NULL &&
            colander_name_is_like(all.names[i], name))
            pattern = all.names[i];
    }
    if (code == COLANDER_OK && pattern == NULL)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "'%s': no families by time, as load --partition "
                             "makes them",
                             name);
    if (code == COLANDER_OK)
        code = check_selected(&all, name, pattern, err);
    if (code == COLANDER_OK)
        code = session_family(job->session, pattern, &job->family, err);
    colander_names_release(&all);
    return code;
}

static enum colander_code
open_family(struct retain_job *job, const char *name,
            struct colander_error *err)
{
    bool is_one = strchr(name, '*') == NULL;
    enum colander_code code =
        colander_family_open(job->session->store, name, &job->family, err);

    if (code != COLANDER_OK)
        return code;
    is_one = is_one || colander_family_exists(job->family);
    colander_family_close(job->family);
    job->family = NULL;
    return is_one ? session_family(job->session, name, &job->family, err)
                  : open_pattern(job, name, err);
}

static enum session_exit
run_retain(struct session *session, const struct arguments *arguments)
{
    struct retain_job job = {
        .session = session,
        .is_dry = arguments_has(arguments, "dry-run"),
    };
    const char *conflict = find_conflict(arguments);
    enum session_exit status;
    struct colander_error err;

    if (conflict != NULL)
        return session_complain(session, SESSION_USAGE, "%s", conflict);
    job.asks = !job.is_dry && !arguments_has(arguments, "yes") &&
               confirm_is_possible(session);
    if (arguments->word_count == 0)
        return retain_all(&job);
    if (open_family(&job, arguments->words[0], &err) != COLANDER_OK)
        return session_misused(session, &err);
    job.name = colander_family_name(job.family);
    job.drops = colander_partition_unit(job.name) != NULL;
    status = retain_family(&job, arguments);
    colander_family_close(job.family);
    report_release(&job.doubts);
    return status;
}

/* Whether the command, with STORE among its words, only shows a policy. */
static bool
only_shows(const struct arguments *arguments)
{
    return arguments->word_count == 2 && arguments->choice_count == 0;
}

static const struct argument_option options[] = {
    OPTION_GROUP("policy"),
    OPTION_LIST("keep", "DURATION",
                "how long rows are kept: 30d, 12h; those that meet the\n"
                "conditions before it, or else all others"),
    OPTION_LIST("where", "CONDITION",
                "a condition as of find, for the next --keep: level=debug.\n"
                "Of several conditions all must be true"),
    OPTION("max-bytes", "N",
           "keep the newest rows with N bytes: 50g; counted before\n"
           "compression"),
    OPTION_FLAG("once", "apply it, or that of FAMILY, and do not keep it"),
    OPTION_FLAG("off", "remove that of FAMILY; deletes no row"),
    OPTION_GROUP("rows"),
    OPTION_FLAG("dry-run", "only print the number of rows"),
    OPTION_FLAG("yes", "do not ask, and take conditions that no row can meet"),
    OPTIONS_END,
};

const struct command command_retain = {
    .name = "retain",
    .words = "[FAMILY] [OPTION...]",
    .summary = "delete the rows that have become old",
    .help =
        "Sets how long the rows of a family are kept, and deletes those that\n"
        "are older. Without options shows what is set. Without FAMILY deletes\n"
        "the old rows of every family that has a policy: run that from time "
        "to\n"
        "time, from cron for example. Nothing else deletes them, except\n"
        "colander serve and load --follow, every hour while they run.\n"
        "\n"
        "The age of a row is counted by the family's time column (colander\n"
        "families --time), back from the newest row or the clock, whichever "
        "is\n"
        "earlier. Rows without a time are kept. At a terminal, prints the\n"
        "number of rows and asks first. Families by time, 'logs/*' or\n"
        "'logs/{day}', are dropped as a whole. In a restored or salvaged store "
        "a\n"
        "policy is paused until it is set again.\n",
    .examples = "  colander retain data logs --keep 30d --dry-run\n"
                "  colander retain data logs --keep 30d --where level=debug "
                "--keep 3d\n"
                "  colander retain data\n",
    .options = options,
    .store = COMMAND_CHANGES,
    .only_reads = only_shows,
    .word_count_max = 1,
    .run = run_retain,
};
