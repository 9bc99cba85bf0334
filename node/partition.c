/* See partition.h. SPDX-License-Identifier: MIT */
#include "node/partition.h"

#include "core/clock.h"
#include "core/thread.h"
#include "node/checkpoints.h"
#include "node/family_load.h"
#include "node/folder.h"
#include "node/topic_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define AGAIN_MS 5000     /* after a failure */
#define CLOSE_NS 20000000 /* how often a store in use is tried to be closed */
#define RECENT_US 3000000 /* a store that has what the log had then is fine */
#define CHECKPOINTS_KEPT 3
#define REJECTS ".rejects"

struct partition {
    struct partition_setup setup;
    char *name;         /* FAMILY/0017 */
    char *path;         /* of the store */
    char *fresh_path;   /* of one that is being restored */
    char *old_path;     /* of one that is being removed */
    char *damaged_path; /* of one that could not be opened */
    char *log;          /* the address of its topic */
    char *rejects;      /* the name of the family of rejected records */
    struct family_load load_options;
    pthread_t thread;
    atomic_bool is_stopped;
    atomic_bool gives_up;
    atomic_bool has_ended;
    atomic_bool is_placed; /* see topic_stream.h */
    struct checkpoints checkpoints;
    bool has_mark; /* of how far its log was read; of the thread */
    pthread_mutex_t checkpointing; /* one at a time */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t woken;
    struct node_partition state; /* its family is borrowed */
    struct colander_store *store;
    struct colander_family *rows;
    struct topic_reader *reader;
    int64_t target;     /* the end of the log */
    uint64_t target_us; /* at this moment; 0: it is not known */
    struct colander_load *load;
    uint64_t loaded_rows; /* by this load */
    uint64_t loaded_rejects;
};

static void
set_phase(struct partition *partition, enum node_phase phase,
          const char *problem)
{
    pthread_mutex_lock(&partition->lock);
    partition->state.phase = phase;
    (void)snprintf(partition->state.problem, sizeof(partition->state.problem),
                   "%s", problem);
    pthread_mutex_unlock(&partition->lock);
}

static void
say(const struct partition *partition, const char *text)
{
    const struct node_options *options = partition->setup.options;
    char line[900];

    if (options->say == NULL)
        return;
    (void)snprintf(line, sizeof(line), "%s: %s", partition->name, text);
    options->say(options->context, line);
}

/* --------------------------------------------------------------- store --- */

/* Makes the folders above the store. */
static enum colander_code
make_parent(const struct partition *partition, struct colander_error *err)
{
    char *slash = strrchr(partition->path, '/');
    int error = 0;

    *slash = '\0';
    if (mkdir(partition->path, 0777) != 0 && errno != EEXIST)
        error = errno;
    *slash = '/';
    if (error != 0)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot make '%s': %s",
                             partition->path, strerror(error));
    return COLANDER_OK;
}

static void
say_line(void *partition, const char *line)
{
    say(partition, line);
}

/* Restores, beside the store, the newest checkpoint that has more than the
 * records before `above` and is not damaged. *found: there is one. */
static enum colander_code
fetch(struct partition *partition, int64_t above, bool *found,
      struct colander_error *err)
{
    return checkpoints_restore(&partition->checkpoints, (uint64_t)(above + 1),
                               partition->fresh_path, &partition->is_stopped,
                               say_line, partition, found, err);
}

static enum colander_code
open_store(struct partition *partition, struct colander_store **store,
           struct colander_error *err)
{
    struct colander_options options;
    struct stat status;
    bool found = false;
    enum colander_code code = make_parent(partition, err);

    if (code == COLANDER_OK)
        code = folder_remove(partition->old_path, err);
    if (code == COLANDER_OK && stat(partition->path, &status) != 0)
        code = fetch(partition, -1, &found, err);
    if (code == COLANDER_OK && found) /* without one the log has it all */
        code = folder_move(partition->fresh_path, partition->path, err);
    if (code != COLANDER_OK)
        return code;
    colander_options_init(&options);
    options.budget = partition->setup.budget;
    code = colander_store_open(partition->path, &options, store, err);
    if (code == COLANDER_CORRUPT) { /* checkpoints and the log have its rows */
        say(partition, "its store is damaged, and kept as NUMBER.damaged");
        if (folder_move(partition->path, partition->damaged_path, NULL) !=
            COLANDER_OK)
            say(partition, "it cannot be moved");
    }
    return code;
}

/* Opens store and family, and makes them known. */
static enum colander_code
begin_store(struct partition *partition, struct colander_error *err)
{
    const struct partition_setup *setup = &partition->setup;
    struct colander_store *store = NULL;
    struct colander_family *rows = NULL;
    bool found = false;
    int64_t applied = 0;
    enum colander_code code = open_store(partition, &store, err);

    if (code == COLANDER_OK)
        code = colander_family_open(store, setup->family->name, &rows, err);
    if (code == COLANDER_OK)
        code = topic_place(rows, setup->family->topic, (int32_t)setup->number,
                           &applied, &found, err);
    partition->has_mark = found;
    if (code == COLANDER_OK && !found)
        code = checkpoints_list(&partition->checkpoints, &partition->is_stopped,
                                err); /* see follow */
    if (code != COLANDER_OK) {
        colander_family_close(rows);
        if (store != NULL && colander_store_close(store, NULL) != COLANDER_OK)
            say(partition, "its store could not be closed");
        return code;
    }
    pthread_mutex_lock(&partition->lock);
    partition->store = store;
    partition->rows = rows;
    partition->state.applied = applied;
    pthread_mutex_unlock(&partition->lock);
    setup->changed(setup->context);
    return COLANDER_OK;
}

/* Closes the store when the last cursor of a reader is closed. */
static enum colander_code
end_store(struct partition *partition, struct colander_error *err)
{
    const struct timespec pause = {0, CLOSE_NS};
    struct colander_store *store;
    struct colander_family *rows;
    enum colander_code code;

    pthread_mutex_lock(&partition->lock);
    store = partition->store;
    rows = partition->rows;
    partition->store = NULL;
    partition->rows = NULL;
    partition->state.applied = -1;
    partition->state.is_caught_up = false;
    partition->target_us = 0;
    pthread_mutex_unlock(&partition->lock);
    if (store == NULL)
        return COLANDER_OK;
    partition->setup.changed(partition->setup.context);
    colander_family_close(rows);
    pthread_mutex_lock(&partition->checkpointing);
    while ((code = colander_store_close(store, err)) == COLANDER_BUSY)
        (void)nanosleep(&pause, NULL);
    pthread_mutex_unlock(&partition->checkpointing);
    return code;
}

static struct colander_store *
store_of(struct partition *partition)
{
    struct colander_store *store;

    pthread_mutex_lock(&partition->lock);
    store = partition->store;
    pthread_mutex_unlock(&partition->lock);
    return store;
}

/* Returns the offset up to which all is in the store: not that after a retain
 * whose deletes are under way. Negative: it is not open. Requires the lock. */
static int64_t
read_applied(const struct partition *partition)
{
    int64_t applied;
    bool retains = false;
    bool found;

    /* the place first: a retain that begins after that is not in it */
    if (partition->rows == NULL ||
        topic_place(partition->rows, partition->setup.family->topic,
                    (int32_t)partition->setup.number, &applied, &found,
                    NULL) != COLANDER_OK ||
        !found ||
        colander_load_retains(partition->rows, &retains, NULL) != COLANDER_OK)
        return partition->state.applied;
    return applied - retains;
}

/* Returns the offset before which the log has the rows of the generation before
 * (cluster/definition.h). */
static int64_t
whole_of(const struct partition *partition)
{
    return cluster_family_whole(partition->setup.family,
                                partition->setup.number);
}

/* Sets *reading to how far the log is read, and notes whether the store has all
 * that the log has, or had shortly before: while others write, there is always
 * more. What was read is in the store only when it is written. Requires the
 * lock. */
static void
look_at_reader(struct partition *partition, struct topic_reader_state *reading)
{
    const uint64_t now = clock_us();
    int64_t applied;

    memset(reading, 0, sizeof(*reading));
    if (partition->reader == NULL)
        return;
    topic_reader_state(partition->reader, reading);
    if (partition->state.is_caught_up || reading->is_cut_off)
        return;
    applied = read_applied(partition);
    partition->state.is_caught_up =
        applied >= whole_of(partition) &&
        ((reading->lag == 0 && applied >= reading->next) ||
         (partition->target_us > 0 && applied >= partition->target &&
          now - partition->target_us < RECENT_US));
    if (partition->target_us == 0 || applied >= partition->target) {
        partition->target = reading->end;
        partition->target_us = now;
    }
}

struct colander_store *
partition_store(struct partition *partition, bool *is_caught_up)
{
    const int64_t whole = whole_of(partition);
    struct topic_reader_state reading;
    struct colander_store *store = NULL;

    pthread_mutex_lock(&partition->lock);
    look_at_reader(partition, &reading);
    *is_caught_up = partition->state.is_caught_up;
    if (whole == 0 || read_applied(partition) >= whole)
        store = partition->store;
    if (partition->state.phase == NODE_STOPPED)
        store = NULL;
    pthread_mutex_unlock(&partition->lock);
    return store;
}

bool
partition_is_placed(const struct partition *partition)
{
    return atomic_load(&partition->is_placed);
}

const char *
partition_name(const struct partition *partition)
{
    return partition->name;
}

/* -------------------------------------------------------------- follow --- */

static void
count_loaded(void *context, const struct colander_load_stats *stats)
{
    struct partition *partition = context;

    pthread_mutex_lock(&partition->lock);
    partition->loaded_rows = stats->row_count;
    partition->loaded_rejects = stats->reject_count;
    pthread_mutex_unlock(&partition->lock);
}

/* Reads whether all rows are in the partition that their key decides. Of a
 * store without rows they are; of one of an older version it is not known. */
static enum colander_code
look_for_placed(struct partition *partition, struct topic_stream *records,
                struct colander_error *err)
{
    const struct cluster_family *family = partition->setup.family;
    struct colander_query any;
    struct colander_cursor *cursor = NULL;
    struct colander_result row;
    struct colander_buffer how = COLANDER_BUFFER_EMPTY;
    bool is_row = false;
    enum colander_code code;

    if (family->partition_by == 0)
        return COLANDER_OK;
    colander_query_init(&any);
    any.limit = 1;
    any.keys_only = true;
    code =
        colander_family_mark(partition->rows, colander_slice_text(TOPIC_PLACED),
                             &how, &records->is_noted, err);
    if (code == COLANDER_OK && !records->is_noted)
        code = colander_family_find(partition->rows, &any, &cursor, err);
    if (cursor != NULL)
        code = colander_cursor_next(cursor, &is_row, &row, err);
    records->partition_count = (int32_t)family->partition_count;
    records->is_placed = &partition->is_placed;
    atomic_store(&partition->is_placed,
                 code == COLANDER_OK && (records->is_noted || !is_row));
    colander_cursor_close(cursor);
    colander_buffer_release(&how);
    return code;
}

/* Says where a new store begins, if its log has lost records before. */
static void
note_beginning(struct partition *partition)
{
    char text[120];
    int64_t offset;
    bool found = false;

    if (partition->has_mark ||
        topic_place(partition->rows, partition->setup.family->topic,
                    (int32_t)partition->setup.number, &offset, &found,
                    NULL) != COLANDER_OK)
        return;
    partition->has_mark = found;
    if (!found || offset == 0)
        return;
    (void)snprintf(text, sizeof(text),
                   "it begins at offset %" PRId64 ", the first in its log, as "
                   "it has no checkpoint",
                   offset);
    say(partition, text);
}

/* Reads the log until the partition is stopped. A failure to reach it leaves
 * the store open; after another *is_store_bad. */
static enum colander_code
follow(struct partition *partition, bool *is_store_bad,
       struct colander_error *err)
{
    const struct partition_setup *setup = &partition->setup;
    const int32_t number = (int32_t)setup->number;
    const struct topic_reader_options options = {
        .brokers = {.address = partition->log,
                    .is_stopped = &partition->is_stopped},
        .partitions = &number,
        .partition_count = 1,
        .client = setup->client,
        /* if no checkpoint can be used, or rows of the generation before are
         * the first records, the log must have it all */
        .is_whole = !partition->has_mark &&
                    (checkpoints_count(&partition->checkpoints) > 0 ||
                     whole_of(partition) > 0),
    };
    const char *const name = partition->log;
    struct colander_load_options load_options = partition->load_options.options;
    struct topic_stream records = {.reader = NULL};
    struct colander_load_stream stream;
    struct colander_family *rejects = NULL;
    struct topic_reader *reader = NULL;
    struct colander_load *load = NULL;
    enum colander_code code;

    *is_store_bad = false;
    code = topic_reader_open(partition->store, partition->rows, &options,
                             &reader, err);
    if (code != COLANDER_OK)
        return code;
    *is_store_bad = true;
    note_beginning(partition);
    code = colander_family_open(partition->store, partition->rejects, &rejects,
                                err);
    if (code == COLANDER_OK)
        code = look_for_placed(partition, &records, err);
    records.reader = reader;
    stream = topic_stream(&records, rejects, setup->family->partition_by);
    load_options.stream = &stream;
    load_options.report_progress = count_loaded;
    load_options.context = partition;
    if (code == COLANDER_OK)
        code = colander_load_create(partition->store, partition->rows,
                                    &load_options, &load, err);
    if (code == COLANDER_OK) {
        pthread_mutex_lock(&partition->lock);
        partition->reader = reader;
        partition->load = load;
        if (partition->is_stopped)
            colander_load_cancel(load);
        pthread_mutex_unlock(&partition->lock);
        set_phase(partition, NODE_FOLLOWING, "");
        code = colander_load_run(load, &name, 1, err);
        pthread_mutex_lock(&partition->lock);
        partition->reader = NULL;
        partition->load = NULL;
        partition->state.rows += colander_load_stats(load)->row_count;
        partition->state.rejects += colander_load_stats(load)->reject_count;
        partition->loaded_rows = 0;
        partition->loaded_rejects = 0;
        pthread_mutex_unlock(&partition->lock);
    }
    colander_load_destroy(load);
    topic_reader_close(reader);
    colander_family_close(rejects);
    return code;
}

/* Others should be asked from now on. */
static void
fall_behind(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    partition->state.is_caught_up = false;
    partition->target_us = 0;
    pthread_mutex_unlock(&partition->lock);
}

/* Gives up the store for a newer checkpoint, if there is one: the log has not
 * what comes after the records of the store any more. *is_given_up: the next
 * open is of that. */
static enum colander_code
give_up_store(struct partition *partition, bool *is_given_up,
              struct colander_error *err)
{
    struct node_partition state;
    bool found;
    enum colander_code code;

    *is_given_up = false;
    partition_state(partition, &state);
    code = fetch(partition, state.applied, &found, err);
    if (code != COLANDER_OK || !found)
        return code;
    code = end_store(partition, err);
    if (code == COLANDER_OK)
        code = folder_move(partition->path, partition->old_path, err);
    if (code == COLANDER_OK)
        code = folder_move(partition->fresh_path, partition->path, err);
    *is_given_up = code == COLANDER_OK;
    return code;
}

/* Waits before the next try. */
static void
wait_again(struct partition *partition)
{
    const struct timespec end = clock_after(CLOCK_MONOTONIC, AGAIN_MS);

    pthread_mutex_lock(&partition->lock);
    while (!partition->is_stopped &&
           pthread_cond_timedwait(&partition->woken, &partition->lock, &end) ==
               0)
        continue;
    pthread_mutex_unlock(&partition->lock);
}

/* Others have the partition, or it is not read any more. */
static void
remove_store(struct partition *partition)
{
    struct colander_error err;
    enum colander_code code = end_store(partition, &err);

    if (code == COLANDER_OK)
        code = folder_move(partition->path, partition->old_path, &err);
    if (code == COLANDER_OK)
        code = folder_remove(partition->old_path, &err);
    say(partition,
        code == COLANDER_OK ? "no longer of this node" : err.message);
}

/* Cuts off which option of a load would help: a node has none. */
static void
cut_advice(char *message)
{
    char *advice = strstr(message, ". To ");

    if (advice != NULL)
        *advice = '\0';
}

static void *
run(void *context)
{
    struct partition *partition = context;
    struct colander_error last = {.code = COLANDER_OK};

    while (!partition->is_stopped) {
        struct colander_error err = {.code = COLANDER_OK};
        struct colander_error other;
        bool is_given_up = false;
        bool is_store_bad = true;
        bool has_stopped;
        enum colander_code code = COLANDER_OK;

        if (store_of(partition) == NULL) {
            set_phase(partition, NODE_OPENING, "");
            code = begin_store(partition, &err);
        }
        if (code == COLANDER_OK)
            code = follow(partition, &is_store_bad, &err);
        if (partition->is_stopped || code == COLANDER_OK)
            break;
        cut_advice(err.message);
        has_stopped = code == COLANDER_CORRUPT && !is_store_bad;
        set_phase(partition, has_stopped ? NODE_STOPPED : NODE_WAITING,
                  err.message);
        if (code == COLANDER_CORRUPT)
            fall_behind(partition);
        if (has_stopped) /* its store is not read any more */
            partition->setup.changed(partition->setup.context);
        if (strcmp(err.message, last.message) != 0)
            say(partition, err.message);
        last = err;
        if (is_store_bad && end_store(partition, &other) != COLANDER_OK)
            say(partition, other.message);
        if (has_stopped &&
            give_up_store(partition, &is_given_up, &other) != COLANDER_OK)
            say(partition, other.message);
        if (!is_given_up)
            wait_again(partition);
    }
    if (partition->gives_up)
        remove_store(partition);
    atomic_store(&partition->has_ended, true);
    return NULL;
}

/* -------------------------------------------------------------- others --- */

void
partition_state(struct partition *partition, struct node_partition *state)
{
    struct topic_reader_state reading;
    struct checkpoint newest;

    newest = checkpoints_newest(&partition->checkpoints);
    pthread_mutex_lock(&partition->lock);
    look_at_reader(partition, &reading);
    *state = partition->state;
    state->checkpoint = (int64_t)newest.number - 1;
    state->checkpoint_time = newest.made;
    state->rows += partition->loaded_rows;
    state->rejects += partition->loaded_rejects;
    if (partition->reader != NULL)
        state->lag = reading.lag;
    if (reading.is_cut_off)
        (void)snprintf(state->problem, sizeof(state->problem),
                       "no broker answers: %s", reading.trouble);
    state->applied = read_applied(partition);
    pthread_mutex_unlock(&partition->lock);
}

void
partition_look(struct partition *partition)
{
    /* a failure is one of the next checkpoint, too */
    (void)!checkpoints_list(&partition->checkpoints, partition->setup.is_ending,
                            NULL);
}

enum colander_code
partition_checkpoint(struct partition *partition, bool is_last,
                     struct colander_error *err)
{
    const struct node_options *options = partition->setup.options;
    const uint64_t keep_count =
        options->checkpoints > 0 ? options->checkpoints : CHECKPOINTS_KEPT;
    const atomic_bool *is_stopped = partition->setup.is_ending;
    struct node_partition state;
    enum colander_code code = COLANDER_OK;
    struct colander_store *store;

    /* It keeps the store open. One that is being closed is not saved. */
    if (pthread_mutex_trylock(&partition->checkpointing) != 0)
        return COLANDER_OK;
    if (!is_last)
        code = checkpoints_list(&partition->checkpoints, is_stopped, err);
    partition_state(partition, &state);
    store = store_of(partition);
    if (code == COLANDER_OK && store != NULL && state.applied > 0 &&
        state.applied > state.checkpoint)
        code = checkpoints_make(&partition->checkpoints, store,
                                (uint64_t)state.applied + 1, keep_count,
                                is_last, is_stopped, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "checkpoint of %s", partition->name);
    pthread_mutex_lock(&partition->lock);
    (void)snprintf(partition->state.checkpoint_problem,
                   sizeof(partition->state.checkpoint_problem), "%s",
                   code == COLANDER_OK || err == NULL ? "" : err->message);
    pthread_mutex_unlock(&partition->lock);
    pthread_mutex_unlock(&partition->checkpointing);
    return code;
}

void
partition_stop(struct partition *partition, bool gives_up)
{
    pthread_mutex_lock(&partition->lock);
    if (gives_up)
        partition->gives_up = true;
    partition->is_stopped = true;
    if (partition->load != NULL)
        colander_load_cancel(partition->load);
    pthread_cond_broadcast(&partition->woken);
    pthread_mutex_unlock(&partition->lock);
}

bool
partition_has_ended(const struct partition *partition)
{
    return atomic_load(&partition->has_ended);
}

void
partition_join(struct partition *partition)
{
    (void)pthread_join(partition->thread, NULL);
}

static void
release(struct partition *partition)
{
    family_load_release(&partition->load_options);
    pthread_cond_destroy(&partition->woken);
    pthread_mutex_destroy(&partition->lock);
    pthread_mutex_destroy(&partition->checkpointing);
    free(partition->rejects);
    free(partition->log);
    checkpoints_release(&partition->checkpoints);
    free(partition->damaged_path);
    free(partition->old_path);
    free(partition->fresh_path);
    free(partition->path);
    free(partition->name);
    free(partition);
}

enum colander_code
partition_free(struct partition *partition, struct colander_error *err)
{
    const enum colander_code code = end_store(partition, err);

    release(partition);
    return code;
}

/* Returns the path of the store with this after it, or NULL. */
static char *
path_of(const struct partition *partition, const char *end)
{
    char *path;

    if (partition->name == NULL ||
        asprintf(&path, "%s/%s%s", partition->setup.directory, partition->name,
                 end) < 0)
        return NULL;
    return path;
}

static enum colander_code
prepare(struct partition *partition, struct colander_error *err)
{
    const struct partition_setup *setup = &partition->setup;
    const struct cluster_family *family = setup->family;
    char folder[CLUSTER_FOLDER_SIZE];
    enum colander_code code;

    if (asprintf(&partition->name, "%s/%04" PRIu32,
                 cluster_family_folder(family, folder), setup->number) < 0)
        partition->name = NULL;
    partition->path = path_of(partition, "");
    partition->fresh_path = path_of(partition, ".new");
    partition->old_path = path_of(partition, ".old");
    partition->damaged_path = path_of(partition, ".damaged");
    if (asprintf(&partition->log, "%s/%s",
                 cluster_definition(setup->cluster)->log, family->topic) < 0)
        partition->log = NULL;
    if (asprintf(&partition->rejects, "%s" REJECTS, family->name) < 0)
        partition->rejects = NULL;
    if (partition->path == NULL || partition->fresh_path == NULL ||
        partition->old_path == NULL || partition->damaged_path == NULL ||
        partition->log == NULL || partition->rejects == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a partition");
    partition->state.family = family->name;
    partition->state.number = setup->number;
    partition->state.applied = -1;
    partition->checkpoints.family = family;
    partition->checkpoints.partition = setup->number;
    code = cluster_partition_address(setup->cluster, folder, setup->number,
                                     &partition->checkpoints.address, err);
    if (code == COLANDER_OK)
        code = family_load_init(&partition->load_options, family, err);
    return code;
}

enum colander_code
partition_start(const struct partition_setup *setup,
                struct partition **partition, struct colander_error *err)
{
    struct partition *started = calloc(1, sizeof(*started));
    pthread_condattr_t clock;
    enum colander_code code;

    *partition = NULL;
    if (started == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a partition");
    started->setup = *setup;
    checkpoints_init(&started->checkpoints);
    pthread_mutex_init(&started->checkpointing, NULL);
    pthread_mutex_init(&started->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&started->woken, &clock);
    pthread_condattr_destroy(&clock);
    code = prepare(started, err);
    if (code == COLANDER_OK && thread_create(&started->thread, run, started))
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread");
    if (code != COLANDER_OK) {
        release(started);
        return code;
    }
    *partition = started;
    return COLANDER_OK;
}
