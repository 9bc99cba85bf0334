/*
 * Finds in replicas.
 *
 * Until its first row a find may be asked of both stores. It then looks at each
 * for some milliseconds, so a call never waits for one while the other has
 * answered.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "node/replicas_inside.h"

#include <stdlib.h>

#define LOOK_US 2000   /* at one of two stores */
#define WAIT_US 100000 /* at one alone; then a cancellation is noticed */

/* A find pays 1 into the credit, and one that is asked twice takes 20 of it. */
#define HEDGE_COST 20
#define CREDIT_MAX 200

#define USUAL_MIN_US 10000
#define USUAL_MAX_US 1000000
#define LOST_MAX 3 /* then the first is a suspect */

/* The find in one of the stores. */
struct attempt {
    struct colander_family *family;
    struct colander_cursor *cursor;
    bool is_begun;
    bool has_failed;
    struct colander_error failure;
};

struct replica_find {
    struct replicas *replicas;
    char *name;
    struct colander_query query;
    struct colander_buffer keys; /* what query.keys points at */
    struct colander_buffer sought;
    bool is_sought;
    struct attempt attempts[REPLICAS];
    size_t at;      /* which is looked at */
    bool is_chosen; /* its rows are returned */
    uint64_t begun_us;
    uint64_t hedge_us; /* of the clock, when the other is asked; 0: never */
    uint64_t pause_us; /* of the clock; 0: never */
    atomic_bool is_cancelled;
    _Atomic(struct colander_cursor *) chosen; /* its cursor; NULL: none yet */
};

/* ------------------------------------------------------------- attempts --- */

/* Begins to ask one of the stores. It fails as the attempt does. */
static enum colander_code
begin(struct replica_find *find, size_t which, struct colander_error *err)
{
    struct attempt *attempt = &find->attempts[which];
    enum colander_code code;

    attempt->is_begun = true;
    code = colander_family_open(find->replicas->stores[which], find->name,
                                &attempt->family, err);
    if (code == COLANDER_OK)
        code = colander_family_find(attempt->family, &find->query,
                                    &attempt->cursor, err);
    if (code == COLANDER_OK && find->is_sought)
        code = colander_cursor_seek(attempt->cursor,
                                    colander_buffer_slice(&find->sought), err);
    return code;
}

static void
end(struct attempt *attempt)
{
    colander_cursor_close(attempt->cursor);
    colander_family_close(attempt->family);
    attempt->cursor = NULL;
    attempt->family = NULL;
}

/* Notes that the attempt has failed, and ends it. */
static void
fail(struct replica_find *find, size_t which,
     const struct colander_error *failure)
{
    struct attempt *attempt = &find->attempts[which];

    attempt->has_failed = true;
    attempt->failure = *failure;
    end(attempt);
    replicas_failed(find->replicas, which);
}

static bool
is_running(const struct attempt *attempt)
{
    return attempt->is_begun && !attempt->has_failed;
}

/* --------------------------------------------------------------- hedges --- */

/* Takes what an extra request costs. */
static bool
may_hedge(struct replicas *replicas)
{
    if (atomic_fetch_sub(&replicas->credit, HEDGE_COST) >= HEDGE_COST)
        return true;
    (void)atomic_fetch_add(&replicas->credit, HEDGE_COST);
    return false;
}

/* Notes how long the first row of the first store took: one step up for each
 * that took longer than usual, and 19 times smaller steps down. */
static void
learn(struct replicas *replicas, uint64_t time_us)
{
    uint64_t usual = atomic_load(&replicas->usual_us);

    usual = time_us > usual ? usual + usual / 5 : usual - usual / 95;
    if (usual < USUAL_MIN_US)
        usual = USUAL_MIN_US;
    if (usual > USUAL_MAX_US)
        usual = USUAL_MAX_US;
    atomic_store(&replicas->usual_us, usual);
}

/* Returns the rows of this attempt from now on. */
static void
choose(struct replica_find *find, size_t which)
{
    struct replicas *replicas = find->replicas;
    struct attempt *other = &find->attempts[1 - which];
    struct colander_cursor *cursor = find->attempts[which].cursor;
    const bool is_late = which == 1 && is_running(other);

    find->is_chosen = true;
    find->at = which;
    if (which == 0 && find->query.map == NULL)
        learn(replicas, clock_us() - find->begun_us);
    if (!is_late)
        replicas_answered(replicas, which);
    else if (atomic_fetch_add(&replicas->lost, 1) + 1 >= LOST_MAX)
        replicas_failed(replicas, 0);
    end(other);
    atomic_store(&find->chosen, cursor);
    if (atomic_load(&find->is_cancelled))
        colander_cursor_cancel(cursor);
}

/* ----------------------------------------------------------------- next --- */

/* Asks for the first row until that time. Returns whether there is no answer
 * yet. */
static bool
is_waiting(struct attempt *attempt, uint64_t until_us, bool *is_row,
           struct colander_result *result, enum colander_code *code,
           struct colander_error *err)
{
    const uint64_t now = clock_us();

    colander_cursor_pause(attempt->cursor, until_us > now ? until_us - now : 1);
    *code = colander_cursor_next(attempt->cursor, is_row, result, err);
    colander_cursor_pause(attempt->cursor, 0);
    return *code == COLANDER_BUSY && clock_us() >= until_us;
}

/* Begins with the other store. Returns false if that fails, as in `code`. */
static bool
begin_other(struct replica_find *find, enum colander_code *code,
            struct colander_error *err)
{
    const size_t other = 1 - find->at;

    *code = begin(find, other, err);
    if (*code != COLANDER_OK)
        fail(find, other, err);
    return *code == COLANDER_OK;
}

/* Goes on with the other store after a failure. */
static enum colander_code
turn(struct replica_find *find, const struct colander_error *failure,
     struct colander_error *err)
{
    struct attempt *other = &find->attempts[1 - find->at];
    enum colander_code code = COLANDER_OK;

    fail(find, find->at, failure);
    if (!other->is_begun)
        (void)begin_other(find, &code, err);
    if (code != COLANDER_OK && !replicas_is_failure(code))
        return code;
    if (other->has_failed)
        return replicas_fail(COLANDER_BUSY, failure, &other->failure, err);
    find->at = 1 - find->at;
    return COLANDER_OK;
}

/* How long the present attempt is looked at. */
static uint64_t
time_to_look(const struct replica_find *find)
{
    const uint64_t now = clock_us();
    const bool are_both = is_running(&find->attempts[1 - find->at]);
    uint64_t until = now + (are_both ? LOOK_US : WAIT_US);

    if (!are_both && find->hedge_us != 0 && find->hedge_us < until)
        until = find->hedge_us;
    return find->pause_us != 0 && find->pause_us < until ? find->pause_us
                                                         : until;
}

/* Asks the other store as well, if the present one is late; or turns to it, if
 * both are asked. */
static void
look_elsewhere(struct replica_find *find)
{
    struct attempt *other = &find->attempts[1 - find->at];
    enum colander_code code;

    if (!other->is_begun && find->hedge_us != 0 &&
        clock_us() >= find->hedge_us) {
        find->hedge_us = 0;
        if (may_hedge(find->replicas))
            (void)begin_other(find, &code, &other->failure);
    }
    if (is_running(other))
        find->at = 1 - find->at;
}

static enum colander_code
first_row(struct replica_find *find, bool *is_row,
          struct colander_result *result, struct colander_error *err)
{
    struct colander_error failure;
    enum colander_code code;

    for (;;) {
        struct attempt *attempt = &find->attempts[find->at];

        if (atomic_load(&find->is_cancelled))
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the find was cancelled");
        if (is_waiting(attempt, time_to_look(find), is_row, result, &code,
                       &failure)) {
            if (find->pause_us != 0 && clock_us() >= find->pause_us)
                return COLANDER_FAIL(err, COLANDER_BUSY, "the find is paused");
            look_elsewhere(find);
            continue;
        }
        if (!replicas_is_failure(code))
            break;
        code = turn(find, &failure, err);
        if (code != COLANDER_OK)
            return code;
    }
    if (code != COLANDER_OK)
        return COLANDER_FAIL(err, code, "%s", failure.message);
    choose(find, find->at);
    return COLANDER_OK;
}

enum colander_code
replica_find_next(void *context, bool *is_row, struct colander_result *result,
                  struct colander_error *err)
{
    struct replica_find *find = context;
    const struct attempt *attempts = find->attempts;
    uint64_t now;

    *is_row = false;
    if (attempts[0].has_failed && attempts[1].has_failed)
        return replicas_fail(COLANDER_BUSY, &attempts[0].failure,
                             &attempts[1].failure, err);
    if (!find->is_chosen)
        return first_row(find, is_row, result, err);
    now = clock_us();
    if (find->pause_us != 0)
        colander_cursor_pause(attempts[find->at].cursor,
                              find->pause_us > now ? find->pause_us - now : 1);
    return colander_cursor_next(attempts[find->at].cursor, is_row, result, err);
}

/* ----------------------------------------------------------------- life --- */

/* Copies the query, whose keys are borrowed only until the find is open. */
static enum colander_code
copy_query(struct replica_find *find, const struct colander_query *query,
           struct colander_error *err)
{
    struct colander_slice *keys[] = {
        &find->query.keys.exact, &find->query.keys.from, &find->query.keys.to,
        &find->query.keys.prefix};
    const size_t count = sizeof(keys) / sizeof(keys[0]);
    enum colander_code code = COLANDER_OK;
    size_t at = 0;

    find->query = *query;
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (keys[i]->size > 0)
            code = colander_buffer_append(&find->keys, keys[i]->data,
                                          keys[i]->size, err);
    }
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (keys[i]->size > 0)
            keys[i]->data = find->keys.data + at;
        at += keys[i]->size;
    }
    return code;
}

enum colander_code
replica_find_open(void *context, const char *family,
                  const struct colander_query *query, void **opened,
                  struct colander_error *err)
{
    struct replicas *replicas = context;
    struct replica_find *find = calloc(1, sizeof(*find));
    struct colander_error failure;
    enum colander_code code;

    *opened = NULL;
    if (find == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find");
    find->replicas = replicas;
    find->at = replicas_first(replicas);
    find->begun_us = clock_us();
    if (find->at == 0 && query->map == NULL) /* else all rows are read first */
        find->hedge_us = find->begun_us + atomic_load(&replicas->usual_us);
    if (atomic_fetch_add(&replicas->credit, 1) >= CREDIT_MAX)
        (void)atomic_fetch_sub(&replicas->credit, 1);
    find->name = strdup(family);
    code = find->name == NULL
               ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find")
               : copy_query(find, query, err);
    if (code == COLANDER_OK) {
        code = begin(find, find->at, &failure);
        if (replicas_is_failure(code))
            code = turn(find, &failure, err);
        else if (code != COLANDER_OK)
            (void)COLANDER_FAIL(err, code, "%s", failure.message);
    }
    if (code == COLANDER_OK)
        *opened = find;
    else
        replica_find_close(find);
    return code;
}

void
replica_find_close(void *context)
{
    struct replica_find *find = context;

    for (size_t i = 0; i < REPLICAS; i++)
        end(&find->attempts[i]);
    colander_buffer_release(&find->keys);
    colander_buffer_release(&find->sought);
    free(find->name);
    free(find);
}

enum colander_code
replica_find_seek(void *context, struct colander_slice key,
                  struct colander_error *err)
{
    struct replica_find *find = context;
    struct colander_buffer sought = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    if (key.size > 0) /* it may be that of the row at which the cursor is */
        code = colander_buffer_append(&sought, key.data, key.size, err);
    if (code != COLANDER_OK)
        return code;
    colander_buffer_release(&find->sought);
    find->sought = sought;
    find->is_sought = true;
    for (size_t i = 0; i < REPLICAS && code == COLANDER_OK; i++) {
        if (find->attempts[i].cursor != NULL)
            code = colander_cursor_seek(find->attempts[i].cursor,
                                        colander_buffer_slice(&sought), err);
    }
    return code;
}

void
replica_find_cancel(void *context)
{
    struct replica_find *find = context;
    struct colander_cursor *cursor;

    atomic_store(&find->is_cancelled, true);
    cursor = atomic_load(&find->chosen);
    if (cursor != NULL)
        colander_cursor_cancel(cursor);
}

void
replica_find_pause(void *context, uint64_t time_us)
{
    struct replica_find *find = context;

    find->pause_us = time_us == 0 ? 0 : clock_us() + time_us;
    if (find->is_chosen && time_us == 0)
        colander_cursor_pause(find->attempts[find->at].cursor, 0);
}

void
replica_find_explain(const void *context, struct colander_explain *explain)
{
    const struct replica_find *find = context;
    const struct attempt *attempt = &find->attempts[find->at];

    memset(explain, 0, sizeof(*explain));
    explain->plan = COLANDER_PLAN_NOTHING;
    explain->reason = "no node has answered";
    if (attempt->cursor != NULL)
        colander_cursor_explain(attempt->cursor, explain);
    explain->nodes_asked_again +=
        find->attempts[0].is_begun && find->attempts[1].is_begun;
}
