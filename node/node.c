/* See node.h. SPDX-License-Identifier: MIT */
#include "columns/union.h"
#include "core/array.h"
#include "core/clock.h"
#include "core/thread.h"
#include "node/node_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECKPOINT_MS (10 * 60 * 1000)
#define LOOK_MS 10000
#define SAY_MS 1000
#define LEAVE_SAYS 3   /* says: others hear a goodbye, and then route by it */
#define LEAVE_MS 60000 /* at most */
#define LOCK "LOCK"
#define CLUSTER_ID "CLUSTER" /* the file with the id of the cluster */

/* ------------------------------------------------------------ directory --- */

static enum colander_code
fail_at(const char *path, const char *what, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot %s '%s': %s", what, path,
                         strerror(errno));
}

static enum colander_code
lock_directory(struct node *node, struct colander_error *err)
{
    const char *given = node->options.directory;
    int directory;

    if (mkdir(given, 0777) != 0 && errno != EEXIST)
        return fail_at(given, "make", err);
    node->directory = realpath(given, NULL);
    if (node->directory == NULL)
        return fail_at(given, "use", err);
    directory = open(node->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        node->lock =
            openat(directory, LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        (void)close(directory);
    }
    if (directory < 0 || node->lock < 0)
        return fail_at(given, "use", err);
    if (flock(node->lock, LOCK_EX | LOCK_NB) == 0)
        return COLANDER_OK;
    if (errno != EWOULDBLOCK)
        return fail_at(given, "lock", err);
    return COLANDER_FAIL(err, COLANDER_BUSY,
                         "another process has the node's directory '%s'",
                         given);
}

/* Checks that the directory is of this cluster, or makes it so. */
static enum colander_code
check_cluster(const struct node *node, struct colander_error *err)
{
    const char *id = cluster_definition(node->cluster)->id;
    char text[64] = "";
    char *path;
    FILE *file;
    enum colander_code code = COLANDER_OK;

    if (asprintf(&path, "%s/" CLUSTER_ID, node->directory) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    file = fopen(path, "re");
    if (file == NULL && errno != ENOENT)
        code = fail_at(path, "read", err);
    if (file != NULL) {
        if (fgets(text, sizeof(text), file) == NULL)
            text[0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        (void)fclose(file);
    }
    if (code != COLANDER_OK) {
        free(path);
        return code;
    }
    if (text[0] != '\0' && strcmp(text, id) != 0) {
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' has partitions of another cluster: choose "
                             "a directory for each, or remove it",
                             node->directory);
    } else if (text[0] == '\0') {
        file = fopen(path, "we");
        if (file == NULL || fprintf(file, "%s\n", id) < 0 ||
            fflush(file) != 0 || fsync(fileno(file)) != 0)
            code = fail_at(path, "write", err);
        if (file != NULL)
            (void)fclose(file);
    }
    free(path);
    return code;
}

/* --------------------------------------------------------------- keeper --- */

static void
say(const struct node *node, const struct colander_error *err)
{
    if (node->options.say != NULL)
        node->options.say(node->options.context, err->message);
}

/* Returns the partitions that there are, ended by NULL, for the thread that
 * frees them, or under the lock `saving`. */
static struct partition **
list_partitions(struct node *node, struct colander_error *err)
{
    struct partition **list;
    size_t count = 0;

    pthread_mutex_lock(&node->mutex);
    for (size_t i = 0; i < node->family_count; i++)
        count += node->families[i]->definition.partition_count;
    list = calloc(count + 1, sizeof(struct partition *));
    if (list == NULL) {
        pthread_mutex_unlock(&node->mutex);
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                            "no memory for partitions");
        return NULL;
    }
    count = 0;
    for (size_t i = 0; i < node->family_count; i++) {
        const struct node_family *family = node->families[i];

        for (uint32_t j = 0; j < family->definition.partition_count; j++) {
            if (family->partitions[j] != NULL)
                list[count++] = family->partitions[j];
        }
    }
    pthread_mutex_unlock(&node->mutex);
    return list;
}

/* Makes checkpoints, one after another; of a node that ends, until no server
 * answers. Returns the first failure. */
static enum colander_code
checkpoint_all(struct node *node, bool is_last, struct colander_error *err)
{
    struct partition **list = list_partitions(node, err);
    enum colander_code code = list == NULL ? COLANDER_NO_MEMORY : COLANDER_OK;

    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        struct colander_error found;
        const enum colander_code made =
            partition_checkpoint(list[i], is_last, &found);

        if (made == COLANDER_OK)
            continue;
        say(node, &found);
        if (code == COLANDER_OK)
            code = COLANDER_FAIL(err, made, "%s", found.message);
        if (made == COLANDER_CANCELLED || (is_last && made == COLANDER_IO))
            break; /* others would wait for the same server */
    }
    free(list);
    return code;
}

/* Waits; returns whether the node goes on. */
static bool
wait_on(struct node *node, unsigned wait_ms)
{
    const struct timespec end = clock_after(CLOCK_MONOTONIC, wait_ms);
    bool goes_on;

    pthread_mutex_lock(&node->mutex);
    while (!node->is_stopped &&
           pthread_cond_timedwait(&node->woken, &node->mutex, &end) == 0)
        continue;
    goes_on = !node->is_stopped;
    pthread_mutex_unlock(&node->mutex);
    return goes_on;
}

/* Looks which checkpoints there are. */
static void
look_at_all(struct node *node)
{
    struct partition **list = list_partitions(node, NULL);

    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        partition_look(list[i]);
    free(list);
}

unsigned
node_look_ms(const struct node *node)
{
    const struct node_options *options = &node->options;

    if (options->look_ms > 0)
        return options->look_ms;
    return options->lost_ms > 0 && options->lost_ms < LOOK_MS ? options->lost_ms
                                                              : LOOK_MS;
}

/* Makes checkpoints now and then. */
static void *
save(void *context)
{
    struct node *node = context;
    const struct node_options *options = &node->options;
    const unsigned save_ms =
        options->checkpoint_ms > 0 ? options->checkpoint_ms : CHECKPOINT_MS;
    const unsigned look_ms = node_look_ms(node);
    uint64_t saved = clock_us();

    do {
        pthread_mutex_lock(&node->saving);
        look_at_all(node);
        if (clock_us() - saved >= save_ms * UINT64_C(1000)) {
            (void)!checkpoint_all(node, false, NULL);
            saved = clock_us();
        }
        pthread_mutex_unlock(&node->saving);
    } while (wait_on(node, look_ms < save_ms ? look_ms : save_ms));
    return NULL;
}

/* Looks for families. A thread of its own, as objects may be slow. */
static void *
look(void *context)
{
    struct node *node = context;
    struct colander_error err;

    while (wait_on(node, node_look_ms(node))) {
        const enum colander_code code = node_look_for_families(node, &err);

        if (code != COLANDER_OK && code != COLANDER_CANCELLED)
            say(node, &err);
    }
    return NULL;
}

/* Nothing here waits for objects: what a node has, and where others are, must
 * not depend on whether they can be reached. */
static void *
keep(void *context)
{
    struct node *node = context;
    const unsigned given = node->options.say_ms;
    struct colander_error err;

    do {
        if (node_arrange(node, &err) != COLANDER_OK)
            say(node, &err);
        if (node_say(node, &err) != COLANDER_OK)
            say(node, &err);
    } while (wait_on(node, given > 0 ? given : SAY_MS));
    return NULL;
}

/* ----------------------------------------------------------------- life --- */

static enum colander_code
make_budget(struct node *node, struct colander_error *err)
{
    struct colander_budget_options options;

    colander_budget_options_init(&options);
    if (node->options.memory_budget > 0) {
        options.cache_size = (size_t)node->options.memory_budget / 2;
        options.write_buffer_size = (size_t)node->options.memory_budget / 4;
        options.filter_memory = node->options.memory_budget / 4;
    }
    return colander_budget_create(&options, &node->budget, err);
}

/* Sets how brokers are reached, with the settings of the cluster and then of
 * the node, and opens the client of partitions. */
static enum colander_code
open_client(struct node *node, struct colander_error *err)
{
    const struct cluster_definition *definition =
        cluster_definition(node->cluster);
    const struct cluster_texts *first = &definition->settings;
    const struct node_options *options = &node->options;

    node->settings =
        calloc(first->count + options->setting_count + 1, sizeof(char *));
    if (node->settings == NULL ||
        asprintf(&node->topic, "%s/%s", definition->log, definition->members) <
            0) {
        node->topic = NULL;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for settings");
    }
    for (size_t i = 0; i < first->count; i++)
        node->settings[i] = first->items[i];
    for (size_t i = 0; i < options->setting_count; i++)
        node->settings[first->count + i] = options->settings[i];
    node->brokers = (struct topic_broker_options){
        .address = node->topic,
        .settings = node->settings,
        .setting_count = first->count + options->setting_count,
        .settings_file = options->settings_file,
    };
    return topic_client_open(&node->brokers, &node->client, err);
}

static enum colander_code
start(struct node *node, struct colander_error *err)
{
    enum colander_code code =
        cluster_open(node->options.cluster, &node->cluster, err);

    if (code == COLANDER_OK) {
        cluster_stop_by(node->cluster, &node->is_ending);
        code = lock_directory(node, err);
    }
    if (code == COLANDER_OK)
        code = check_cluster(node, err);
    if (code == COLANDER_OK)
        code = make_budget(node, err);
    if (code == COLANDER_OK)
        code = open_client(node, err);
    if (code == COLANDER_OK) {
        node->routes.name = node->directory;
        node->routes.token = node->options.token;
        node->routes.ca_file = node->options.ca_file;
        code = routing_open(&node->routes, &node->routing, err);
    }
    if (code == COLANDER_OK)
        code = node_look_for_families(node, err);
    if (code == COLANDER_OK)
        node_route(node); /* what is not there yet is missing, not empty */
    return code;
}

/* Begins to tell other nodes of this one, and to hear of them. */
static enum colander_code
meet_others(struct node *node, struct colander_error *err)
{
    const struct members_options options = {
        .brokers = node->brokers,
        .cluster = cluster_definition(node->cluster)->id,
        .name = node->options.name,
        .say_ms = node->options.say_ms,
        .lost_ms = node->options.lost_ms,
    };

    return members_open(&options, &node->members, err);
}

/* Starts what a node needs that goes on. */
static enum colander_code
start_others(struct node *node, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (thread_create(&node->saver, save, node) != 0)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread");
    node->has_saver = code == COLANDER_OK;
    if (code == COLANDER_OK && thread_create(&node->looker, look, node) != 0)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread");
    node->has_looker = code == COLANDER_OK;
    return code;
}

enum colander_code
node_join(struct node *node, const char *address, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (address != NULL && strchr(address, '\n') != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the address of a node is one line");
    if (node->options.name != NULL && (address == NULL || address[0] == '\0'))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a node that others know needs an address");
    if (node->options.name != NULL) {
        node->address = strdup(address);
        code = node->address == NULL
                   ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory")
                   : meet_others(node, err);
    }
    if (code == COLANDER_OK && thread_create(&node->keeper, keep, node) != 0)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread");
    node->has_keeper = code == COLANDER_OK;
    if (code == COLANDER_OK && node->options.only == NULL)
        code = start_others(node, err);
    atomic_store(&node->has_joined, code == COLANDER_OK);
    return code;
}

enum colander_code
node_open(const struct node_options *options, struct node **node,
          struct colander_error *err)
{
    struct node *opened = calloc(1, sizeof(*opened));
    pthread_condattr_t clock;
    enum colander_code code;

    *node = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a node");
    opened->options = *options;
    opened->lock = -1;
    pthread_mutex_init(&opened->saving, NULL);
    pthread_mutex_init(&opened->routing_lock, NULL);
    pthread_mutex_init(&opened->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&opened->woken, &clock);
    pthread_condattr_destroy(&clock);
    code = start(opened, err);
    if (code != COLANDER_OK) {
        struct colander_error other;

        if (node_close(opened, &other) != COLANDER_OK && options->say != NULL)
            options->say(options->context, other.message);
        return code;
    }
    *node = opened;
    return COLANDER_OK;
}

struct colander_store *
node_store(const struct node *node)
{
    return routing_all(node->routing);
}

enum colander_code
node_open_parts(void *context, const char *const *names, size_t count,
                struct colander_store **part, struct colander_error *err)
{
    const struct node *node = context;

    return colander_union_open_part(routing_here(node->routing), names, count,
                                    part, err);
}

static void
stop_one(void *context, struct partition *partition)
{
    (void)context;
    partition_stop(partition, false);
}

/* Ends all threads. */
static void
stop_all(struct node *node)
{
    struct partition **list;

    pthread_mutex_lock(&node->mutex);
    node->is_stopped = true;
    pthread_cond_broadcast(&node->woken);
    pthread_mutex_unlock(&node->mutex);
    atomic_store(&node->is_ending, true);
    if (node->has_keeper)
        (void)pthread_join(node->keeper, NULL);
    if (node->has_saver)
        (void)pthread_join(node->saver, NULL);
    if (node->has_looker)
        (void)pthread_join(node->looker, NULL);
    atomic_store(&node->is_ending, false); /* the last ones are made */
    node_visit_partitions(node, false, stop_one, NULL);
    while ((list = list_partitions(node, NULL)) == NULL)
        (void)usleep(NODE_AGAIN_US);
    for (size_t i = 0; list[i] != NULL; i++)
        partition_join(list[i]);
    free(list);
}

static enum colander_code
free_families(struct node *node, struct colander_error *err)
{
    struct node_family **families = node->families;
    const size_t count = node->family_count;
    enum colander_code code = COLANDER_OK;

    pthread_mutex_lock(&node->mutex);
    node->family_count = 0; /* nothing is routed any more */
    pthread_mutex_unlock(&node->mutex);
    if (node->routing != NULL)
        node_route(node);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < families[i]->definition.partition_count; j++) {
            struct colander_error found;
            enum colander_code closed = COLANDER_OK;

            if (families[i]->partitions[j] != NULL)
                closed = partition_free(families[i]->partitions[j], &found);
            if (closed != COLANDER_OK && code == COLANDER_OK)
                code = COLANDER_FAIL(err, closed, "%s", found.message);
        }
        node_free_family(families[i]);
    }
    free(families);
    return code;
}

/* Keeps the first failure. */
static void
add_failure(enum colander_code *code, struct colander_error *err,
            enum colander_code more, const struct colander_error *found)
{
    if (*code == COLANDER_OK && more != COLANDER_OK)
        *code = COLANDER_FAIL(err, more, "%s", found->message);
}

void
node_leave(struct node *node)
{
    const uint64_t given = node->options.say_ms;
    const uint64_t wait_ms = (given > 0 ? given : SAY_MS) * LEAVE_SAYS;

    if (!atomic_load(&node->has_joined) || node->members == NULL) {
        atomic_store(&node->has_left, true);
        return;
    }
    atomic_store(&node->is_ending, true); /* the saver ends its round */
    pthread_mutex_lock(&node->saving);
    atomic_store(&node->is_ending, false);
    node->left = checkpoint_all(node, true, &node->left_error);
    pthread_mutex_unlock(&node->saving);
    members_leave(node->members);
    (void)wait_on(node, wait_ms < LEAVE_MS ? (unsigned)wait_ms : LEAVE_MS);
    atomic_store(&node->has_left, true);
}

enum colander_code
node_close(struct node *node, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct colander_error found;

    if (node == NULL)
        return COLANDER_OK;
    stop_all(node);
    add_failure(&code, err, node->left, &node->left_error);
    if (code == COLANDER_OK && node->has_keeper && node->options.only == NULL)
        code = checkpoint_all(node, true, err);
    members_close(node->members); /* others take over what it has saved */
    add_failure(&code, err, free_families(node, &found), &found);
    add_failure(&code, err, routing_close(node->routing, &found), &found);
    topic_client_close(node->client);
    members_list_release(node->nodes, node->node_count);
    colander_budget_release(node->budget);
    cluster_close(node->cluster);
    if (node->lock >= 0)
        (void)close(node->lock);
    pthread_cond_destroy(&node->woken);
    pthread_mutex_destroy(&node->mutex);
    pthread_mutex_destroy(&node->routing_lock);
    pthread_mutex_destroy(&node->saving);
    free(node->settings);
    free(node->topic);
    free(node->address);
    free(node->directory);
    free(node);
    return code;
}

/* ---------------------------------------------------------------- state --- */

struct state_list {
    struct node_partition *items;
    size_t count;
    size_t capacity;
    enum colander_code code;
    struct colander_error *err;
};

static void
add_state(void *context, struct partition *partition)
{
    struct state_list *list = context;
    struct node_partition *state;

    if (list->code == COLANDER_OK)
        list->code = array_reserve(&list->items, list->count, &list->capacity,
                                   1, list->err);
    if (list->code != COLANDER_OK)
        return;
    state = &list->items[list->count++];
    partition_state(partition, state);
    state->family = strdup(state->family);
    if (state->family == NULL)
        list->code = COLANDER_FAIL(list->err, COLANDER_NO_MEMORY,
                                   "no memory for a partition");
}

enum colander_code
node_partitions(struct node *node, struct node_partition **partitions,
                size_t *count, struct colander_error *err)
{
    struct state_list list = {.err = err};

    node_visit_partitions(node, true, add_state, &list);
    if (list.code != COLANDER_OK) {
        node_partitions_release(list.items, list.count);
        list.items = NULL;
        list.count = 0;
    }
    *partitions = list.items;
    *count = list.count;
    return list.code;
}

void
node_partitions_release(struct node_partition *partitions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(partitions[i].family);
    free(partitions);
}
