/* See keeper.h. SPDX-License-Identifier: MIT */
#include "shell/commands/keeper.h"
#include "core/clock.h"
#include "core/thread.h"
#include "shell/report.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVERY_MS ((uint64_t)3600 * 1000)

struct keeper {
    const struct session *session;
    pthread_t thread;
    pthread_mutex_t mutex;          /* of the cursor */
    pthread_cond_t stopped;         /* is_stopped became true */
    struct colander_cursor *cursor; /* that is being read; NULL: none */
    atomic_bool is_stopped;
};

static void
watch(void *context, struct colander_cursor *cursor)
{
    struct keeper *keeper = context;

    pthread_mutex_lock(&keeper->mutex);
    keeper->cursor = cursor;
    if (cursor != NULL && keeper->is_stopped)
        colander_cursor_cancel(cursor);
    pthread_mutex_unlock(&keeper->mutex);
}

static bool
goes_on(void *context, uint64_t row_count)
{
    const struct keeper *keeper = context;

    (void)row_count;
    return !keeper->is_stopped;
}

/* Begins and ends a line on standard error, where another thread may show its
 * progress: its line is removed, and shown again by that thread. */
static void
begin_line(void)
{
    flockfile(stderr);
    if (isatty(STDERR_FILENO))
        fputs("\r\x1b[K", stderr);
}

static void
end_line(void)
{
    funlockfile(stderr);
}

static void
print_deleted(const char *name, const struct colander_retained *done)
{
    struct report report = REPORT_EMPTY;

    report_add_text(&report, colander_slice_text(name));
    if (done->family_count > 0)
        report_add(&report, ": %s famil%s dropped with about %s",
                   THOUSANDS(done->family_count),
                   done->family_count == 1 ? "y" : "ies",
                   NUMBER_OF(done->row_count, "row"));
    else
        report_add(&report, ": %s deleted", NUMBER_OF(done->row_count, "row"));
    begin_line();
    (void)!report_print(&report, stderr, NULL);
    end_line();
}

static void
print_failure(const struct keeper *keeper, const struct colander_error *err)
{
    begin_line();
    (void)session_fail(keeper->session, err);
    end_line();
}

static enum colander_code
retain(struct keeper *keeper, struct colander_family *family, const char *name,
       struct colander_error *err)
{
    struct colander_retain_options options;
    struct colander_retained done;
    enum colander_code code;

    colander_retain_options_init(&options);
    options.yields = true;
    options.watch = watch;
    options.goes_on = goes_on;
    options.context = keeper;
    code = colander_family_retain(family, NULL, &options, &done, err);
    if (done.row_count > 0 || done.family_count > 0)
        print_deleted(name, &done);
    return code;
}

bool
keeper_is_in_force(const struct session *session, const char *name,
                   enum colander_retention_state state)
{
    if (state == COLANDER_RETENTION_PAUSED_STORE)
        session_complain(session, SESSION_FAILED,
                         "the retention of family '%s' is paused, as this is "
                         "a restored or salvaged store: set it again, or "
                         "remove it with --off",
                         name);
    if (state == COLANDER_RETENTION_PAUSED_TIME)
        session_complain(session, SESSION_FAILED,
                         "the retention of family '%s' is paused, as the "
                         "family had another time column: set it again, or "
                         "remove it with --off",
                         name);
    return state == COLANDER_RETENTION_IN_FORCE;
}

static bool
is_in_force(const struct keeper *keeper, const char *name,
            enum colander_retention_state state)
{
    bool is;

    begin_line();
    is = keeper_is_in_force(keeper->session, name, state);
    end_line();
    return is;
}

static enum colander_code
keep_family(struct keeper *keeper, const char *name, struct colander_error *err)
{
    struct colander_retention *own = NULL;
    enum colander_retention_state state = COLANDER_RETENTION_NONE;
    struct colander_family *family = NULL;
    enum colander_code code =
        colander_family_open(keeper->session->store, name, &family, err);

    if (code == COLANDER_OK)
        code = colander_family_retention(family, &own, &state, err);
    if (code == COLANDER_OK && is_in_force(keeper, name, state))
        code = retain(keeper, family, name, err);
    colander_retention_destroy(own);
    colander_family_close(family);
    return code;
}

/* Whether a policy was removed or changed, or its family dropped, meanwhile. */
static bool
was_changed(enum colander_code code)
{
    return code == COLANDER_DROPPED || code == COLANDER_NOT_FOUND ||
           code == COLANDER_CANCELLED;
}

/* Applies all policies once. What fails for one family is tried again with the
 * others in an hour. */
static void
keep(struct keeper *keeper)
{
    struct colander_names names = {NULL, 0};
    struct colander_error err;

    if (colander_store_families(keeper->session->store, &names, &err) !=
        COLANDER_OK)
        print_failure(keeper, &err);
    for (size_t i = 0; i < names.count && !keeper->is_stopped; i++) {
        const enum colander_code code =
            keep_family(keeper, names.names[i], &err);

        if (code != COLANDER_OK && !was_changed(code) && !keeper->is_stopped)
            print_failure(keeper, &err);
    }
    colander_names_release(&names);
}

static void *
run(void *context)
{
    struct keeper *keeper = context;
    struct timespec next;

    while (!keeper->is_stopped) {
        keep(keeper);
        next = clock_after(CLOCK_MONOTONIC, EVERY_MS);
        pthread_mutex_lock(&keeper->mutex);
        while (!keeper->is_stopped &&
               pthread_cond_timedwait(&keeper->stopped, &keeper->mutex,
                                      &next) == 0)
            continue;
        pthread_mutex_unlock(&keeper->mutex);
    }
    return NULL;
}

enum colander_code
keeper_start(const struct session *session, struct keeper **keeper,
             struct colander_error *err)
{
    struct keeper *created = calloc(1, sizeof(*created));
    pthread_condattr_t attributes;

    *keeper = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a thread");
    created->session = session;
    pthread_mutex_init(&created->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&created->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    if (thread_create(&created->thread, run, created) != 0) {
        free(created);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot create a thread");
    }
    *keeper = created;
    return COLANDER_OK;
}

void
keeper_stop(struct keeper *keeper)
{
    if (keeper == NULL)
        return;
    pthread_mutex_lock(&keeper->mutex);
    keeper->is_stopped = true;
    if (keeper->cursor != NULL)
        colander_cursor_cancel(keeper->cursor);
    pthread_cond_signal(&keeper->stopped);
    pthread_mutex_unlock(&keeper->mutex);
    (void)pthread_join(keeper->thread, NULL);
    pthread_cond_destroy(&keeper->stopped);
    pthread_mutex_destroy(&keeper->mutex);
    free(keeper);
}
