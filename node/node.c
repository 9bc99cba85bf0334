/* See node.h. SPDX-License-Identifier: MIT */
#include "node/node.h"

#include "columns/union.h"
#include "core/array.h"
#include "core/clock.h"
#include "core/thread.h"
#include "node/partition.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECKPOINT_MS (10 * 60 * 1000)
#define LOOK_MS 10000
#define JOIN_AGAIN_US 100000
#define LOCK "LOCK"
#define CLUSTER_ID "CLUSTER" /* the file with the id of the cluster */

/* A family, and its partitions. */
struct node_family {
    struct cluster_family definition;
    struct partition **partitions;
    size_t count;
};

struct node {
    struct node_options options;
    char *directory; /* its absolute path */
    int lock;        /* a descriptor; -1: none */
    struct cluster *cluster;
    struct colander_budget *budget;
    struct colander_store *all;
    pthread_t keeper;
    bool has_keeper;

    pthread_mutex_t joining; /* while the members of `all` are replaced */
    pthread_mutex_t mutex;   /* of what follows */
    pthread_cond_t woken;
    struct node_family **families; /* in the order in which they were found */
    size_t family_count;
    size_t family_capacity;
    bool is_stopped;
};

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
    if (file != NULL) {
        if (fgets(text, sizeof(text), file) == NULL)
            text[0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        (void)fclose(file);
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

/* ----------------------------------------------------------- partitions --- */

static enum colander_code
try_join(struct node *node, struct colander_error *err)
{
    struct colander_store **stores;
    enum colander_code code;
    size_t count = 0;

    pthread_mutex_lock(&node->mutex);
    for (size_t i = 0; i < node->family_count; i++)
        count += node->families[i]->count;
    stores = calloc(count + 1, sizeof(struct colander_store *));
    count = 0;
    for (size_t i = 0; i < node->family_count && stores != NULL; i++) {
        const struct node_family *family = node->families[i];

        for (size_t j = 0; j < family->count; j++) {
            stores[count] = partition_store(family->partitions[j]);
            count += stores[count] != NULL;
        }
    }
    pthread_mutex_unlock(&node->mutex);
    code = stores == NULL
               ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for stores")
               : colander_union_replace(node->all, stores, count, err);
    free(stores);
    return code;
}

/* Makes the open stores of all partitions the members of the union. If there is
 * no memory for some pointers, waits until there is: a store that is to be
 * closed must not stay. */
static void
join_stores(void *context)
{
    struct node *node = context;

    pthread_mutex_lock(&node->joining);
    while (try_join(node, NULL) != COLANDER_OK)
        (void)usleep(JOIN_AGAIN_US);
    pthread_mutex_unlock(&node->joining);
}

static enum colander_code
start_partition(struct node *node, struct node_family *family, uint32_t number,
                struct colander_error *err)
{
    const struct partition_setup setup = {
        .options = &node->options,
        .cluster = node->cluster,
        .family = &family->definition,
        .budget = node->budget,
        .number = number,
        .changed = join_stores,
        .context = node,
    };
    struct partition *partition;
    const enum colander_code code = partition_start(&setup, &partition, err);

    if (code != COLANDER_OK)
        return code;
    pthread_mutex_lock(&node->mutex);
    family->partitions[family->count++] = partition;
    pthread_mutex_unlock(&node->mutex);
    join_stores(node); /* it may have opened its store before it was known */
    return COLANDER_OK;
}

static void
free_family(struct node_family *family)
{
    cluster_family_release(&family->definition);
    free(family->partitions);
    free(family);
}

static bool
has_family(const struct node *node, const char *name)
{
    for (size_t i = 0; i < node->family_count; i++) {
        if (strcmp(node->families[i]->definition.name, name) == 0)
            return true;
    }
    return false;
}

/* Starts the partitions of a family that is new. */
static enum colander_code
add_family(struct node *node, const char *name, struct colander_error *err)
{
    struct node_family *family = calloc(1, sizeof(*family));
    enum colander_code code = COLANDER_OK;

    if (family == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a family");
    code = cluster_family(node->cluster, name, &family->definition, err);
    if (code == COLANDER_OK) {
        family->partitions = calloc(family->definition.partition_count,
                                    sizeof(struct partition *));
        if (family->partitions == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for partitions");
    }
    if (code == COLANDER_OK) {
        pthread_mutex_lock(&node->mutex);
        code = array_reserve(&node->families, node->family_count,
                             &node->family_capacity, 1, err);
        if (code == COLANDER_OK)
            node->families[node->family_count++] = family;
        pthread_mutex_unlock(&node->mutex);
    }
    if (code != COLANDER_OK) {
        free_family(family);
        return code;
    }
    for (uint32_t i = 0;
         i < family->definition.partition_count && code == COLANDER_OK; i++)
        code = start_partition(node, family, i, err);
    return code;
}

static enum colander_code
look_for_families(struct node *node, struct colander_error *err)
{
    struct cluster_texts names = {NULL, 0, 0};
    enum colander_code code = cluster_family_names(node->cluster, &names, err);

    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++) {
        if (!has_family(node, names.items[i]))
            code = add_family(node, names.items[i], err);
    }
    cluster_texts_release(&names);
    return code;
}

/* --------------------------------------------------------------- keeper --- */

static void
say(const struct node *node, const struct colander_error *err)
{
    if (node->options.say != NULL)
        node->options.say(node->options.context, err->message);
}

/* Returns partition `index` of all, or NULL after the last. */
static struct partition *
partition_at(struct node *node, size_t index)
{
    struct partition *found = NULL;

    pthread_mutex_lock(&node->mutex);
    for (size_t i = 0; i < node->family_count && found == NULL; i++) {
        const struct node_family *family = node->families[i];

        if (index < family->count)
            found = family->partitions[index];
        else
            index -= family->count;
    }
    pthread_mutex_unlock(&node->mutex);
    return found;
}

/* Makes checkpoints, one after another. Returns the first failure. */
static enum colander_code
checkpoint_all(struct node *node, struct colander_error *err)
{
    struct partition *partition;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; (partition = partition_at(node, i)) != NULL; i++) {
        struct colander_error found;
        const enum colander_code made = partition_checkpoint(partition, &found);

        if (made == COLANDER_OK)
            continue;
        say(node, &found);
        if (code == COLANDER_OK)
            code = COLANDER_FAIL(err, made, "%s", found.message);
    }
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

static void *
keep(void *context)
{
    struct node *node = context;
    const struct node_options *options = &node->options;
    const unsigned look_ms = options->look_ms > 0 ? options->look_ms : LOOK_MS;
    const unsigned checkpoint_ms =
        options->checkpoint_ms > 0 ? options->checkpoint_ms : CHECKPOINT_MS;
    const unsigned step_ms = look_ms < checkpoint_ms ? look_ms : checkpoint_ms;
    uint64_t looked = clock_us();
    uint64_t saved = looked;
    struct colander_error err;

    while (wait_on(node, step_ms)) {
        if (clock_us() - looked >= look_ms * UINT64_C(1000)) {
            looked = clock_us();
            if (look_for_families(node, &err) != COLANDER_OK)
                say(node, &err);
        }
        if (clock_us() - saved >= checkpoint_ms * UINT64_C(1000)) {
            saved = clock_us();
            (void)checkpoint_all(node, NULL);
        }
    }
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

static enum colander_code
start(struct node *node, struct colander_error *err)
{
    enum colander_code code =
        cluster_open(node->options.cluster, &node->cluster, err);

    if (code == COLANDER_OK)
        code = lock_directory(node, err);
    if (code == COLANDER_OK)
        code = check_cluster(node, err);
    if (code == COLANDER_OK)
        code = make_budget(node, err);
    if (code == COLANDER_OK)
        code = colander_union_open(node->directory, NULL, 0, &node->all, err);
    if (code == COLANDER_OK)
        code = look_for_families(node, err);
    if (code == COLANDER_OK && thread_create(&node->keeper, keep, node) != 0)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread");
    node->has_keeper = code == COLANDER_OK;
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
    pthread_mutex_init(&opened->joining, NULL);
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
    return node->all;
}

static void
stop_all(struct node *node)
{
    struct partition *partition;

    pthread_mutex_lock(&node->mutex);
    node->is_stopped = true;
    pthread_cond_broadcast(&node->woken);
    pthread_mutex_unlock(&node->mutex);
    if (node->has_keeper)
        (void)pthread_join(node->keeper, NULL);
    for (size_t i = 0; (partition = partition_at(node, i)) != NULL; i++)
        partition_stop(partition);
    for (size_t i = 0; (partition = partition_at(node, i)) != NULL; i++)
        partition_join(partition);
}

static enum colander_code
free_families(struct node *node, struct colander_error *err)
{
    struct node_family **families = node->families;
    const size_t count = node->family_count;
    enum colander_code code = COLANDER_OK;

    pthread_mutex_lock(&node->mutex);
    node->family_count = 0; /* no partition joins the others any more */
    pthread_mutex_unlock(&node->mutex);
    if (node->all != NULL)
        join_stores(node);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < families[i]->count; j++) {
            struct colander_error found;
            const enum colander_code closed =
                partition_free(families[i]->partitions[j], &found);

            if (closed != COLANDER_OK && code == COLANDER_OK)
                code = COLANDER_FAIL(err, closed, "%s", found.message);
        }
        free_family(families[i]);
    }
    free(families);
    return code;
}

enum colander_code
node_close(struct node *node, struct colander_error *err)
{
    enum colander_code code;
    enum colander_code closed;
    struct colander_error found;

    if (node == NULL)
        return COLANDER_OK;
    stop_all(node);
    code = node->has_keeper ? checkpoint_all(node, err) : COLANDER_OK;
    closed = free_families(node, &found);
    if (code == COLANDER_OK && closed != COLANDER_OK)
        code = COLANDER_FAIL(err, closed, "%s", found.message);
    closed = colander_store_close(node->all, &found);
    if (code == COLANDER_OK && closed != COLANDER_OK)
        code = COLANDER_FAIL(err, closed, "%s", found.message);
    colander_budget_release(node->budget);
    cluster_close(node->cluster);
    if (node->lock >= 0)
        (void)close(node->lock);
    pthread_cond_destroy(&node->woken);
    pthread_mutex_destroy(&node->mutex);
    pthread_mutex_destroy(&node->joining);
    free(node->directory);
    free(node);
    return code;
}

/* ---------------------------------------------------------------- state --- */

enum colander_code
node_partitions(struct node *node, struct node_partition **partitions,
                size_t *count, struct colander_error *err)
{
    struct node_partition *list = NULL;
    struct partition *partition;
    size_t capacity = 0;
    enum colander_code code = COLANDER_OK;

    *count = 0;
    for (size_t i = 0;
         code == COLANDER_OK && (partition = partition_at(node, i)) != NULL;
         i++) {
        code = array_reserve(&list, *count, &capacity, 1, err);
        if (code != COLANDER_OK)
            break;
        partition_state(partition, &list[*count]);
        list[*count].family = strdup(list[*count].family);
        if (list[*count].family == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a partition");
        (*count)++;
    }
    if (code != COLANDER_OK) {
        node_partitions_release(list, *count);
        list = NULL;
        *count = 0;
    }
    *partitions = list;
    return code;
}

void
node_partitions_release(struct node_partition *partitions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(partitions[i].family);
    free(partitions);
}
