/* See node.h. SPDX-License-Identifier: MIT */
#include "node/node.h"

#include "cluster/members.h"
#include "cluster/placement.h"
#include "columns/union.h"
#include "core/array.h"
#include "core/clock.h"
#include "core/thread.h"
#include "node/partition.h"
#include "node/routing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECKPOINT_MS (10 * 60 * 1000)
#define LOOK_MS 10000
#define SAY_MS 1000
#define ROUTE_AGAIN_US 100000
#define LOCK "LOCK"
#define CLUSTER_ID "CLUSTER" /* the file with the id of the cluster */

/* A family, and its partitions. */
struct node_family {
    struct cluster_family definition;
    struct partition **partitions; /* by number; NULL: it is not here */
};

struct node {
    struct node_options options;
    char *directory; /* its absolute path */
    int lock;        /* a descriptor; -1: none */
    struct cluster *cluster;
    struct colander_budget *budget;
    struct routing_options routes;
    struct routing *routing;
    char *address;           /* where others ask this node */
    char *topic;             /* of the members */
    const char **settings;   /* of librdkafka */
    struct members *members; /* NULL: it is alone */
    pthread_t keeper;        /* starts, gives up and frees partitions */
    bool has_keeper;

    /* Taken before the other one. */
    pthread_mutex_t routing_lock; /* of routing_set, and */
    struct member *nodes;         /* those alive */
    size_t node_count;

    pthread_mutex_t mutex; /* of what follows, if it is changed */
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

/* ---------------------------------------------------------------- nodes --- */

/*
 * What a node says of itself: its address, and the partitions that it serves,
 * each with a line break after it.
 */

static bool
serves(const struct member *member, const char *partition)
{
    const char *text = (const char *)member->text.data;
    const size_t size = strlen(partition);

    while ((text = strchr(text, '\n')) != NULL) {
        text++;
        if (strncmp(text, partition, size) == 0 && text[size] == '\n')
            return true;
    }
    return false;
}

/* Ends the text with a zero byte, and what is after its address with a line
 * break. Returns false for one that is malformed: that node is not asked. */
static bool
make_readable(struct member *member)
{
    return member->text.size > 0 &&
           memchr(member->text.data, 0, member->text.size) == NULL &&
           colander_buffer_append(&member->text, "\n", 2, NULL) == COLANDER_OK;
}

/* Takes the list of the nodes that are alive. */
static enum colander_code
list_nodes(struct node *node, struct colander_error *err)
{
    struct member *list = NULL;
    struct member *old;
    size_t old_count;
    size_t count = 0;
    enum colander_code code = COLANDER_OK;

    if (node->members != NULL)
        code = members_list(node->members, &list, &count, err);
    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < count; i++) {
        if (!list[i].is_self && !make_readable(&list[i]))
            colander_buffer_clear(&list[i].text);
    }
    pthread_mutex_lock(&node->routing_lock);
    old = node->nodes;
    old_count = node->node_count;
    node->nodes = list;
    node->node_count = count;
    pthread_mutex_unlock(&node->routing_lock);
    members_list_release(old, old_count);
    return COLANDER_OK;
}

/* Fills `order` with the indexes of the nodes that should have a partition, the
 * first ones first: all of them, of which the first replica_count own it. */
static size_t
order_nodes(const struct node *node, const struct cluster_family *family,
            uint32_t partition, size_t order[CLUSTER_REPLICAS_MAX])
{
    const char *names[MEMBERS_MAX + 1];
    size_t count =
        node->node_count < MEMBERS_MAX ? node->node_count : MEMBERS_MAX;

    for (size_t i = 0; i < count; i++)
        names[i] = node->nodes[i].name;
    return placement_owners(family->name, partition, names, count,
                            CLUSTER_REPLICAS_MAX, order);
}

/* Chooses where a partition is read: here, if it is up to date or no one else
 * has it, or at the first of the nodes that serve it. */
static void
choose_route(const struct node *node, const struct node_family *family,
             uint32_t number, struct route *route)
{
    struct partition *partition = family->partitions[number];
    size_t order[CLUSTER_REPLICAS_MAX];
    bool is_caught_up = false;
    size_t count;

    if (partition != NULL)
        route->store = partition_store(partition, &is_caught_up);
    if (route->store != NULL && is_caught_up)
        return;
    count = order_nodes(node, &family->definition, number, order);
    for (size_t i = 0; i < count && route->address == NULL; i++) {
        const struct member *other = &node->nodes[order[i]];

        if (!other->is_self && other->text.size > 0 &&
            serves(other, route->partition))
            route->address = (const char *)other->text.data;
    }
}

/* Names of partitions and addresses of nodes, that routes borrow. */
struct route_texts {
    char **items;
    size_t count;
    size_t capacity;
};

static enum colander_code
keep_text(struct route_texts *texts, char *text, const char **kept,
          struct colander_error *err)
{
    enum colander_code code =
        text == NULL ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory")
                     : array_reserve(&texts->items, texts->count,
                                     &texts->capacity, 1, err);

    if (code == COLANDER_OK)
        texts->items[texts->count++] = text;
    else
        free(text);
    *kept = text;
    return code;
}

static enum colander_code
add_route(const struct node *node, const struct node_family *family,
          uint32_t number, struct route *route, struct route_texts *texts,
          struct colander_error *err)
{
    char *name = NULL;
    enum colander_code code;

    if (asprintf(&name, "%s/%04" PRIu32, family->definition.name, number) < 0)
        name = NULL;
    code = keep_text(texts, name, &route->partition, err);
    if (code != COLANDER_OK)
        return code;
    choose_route(node, family, number, route);
    if (route->address == NULL)
        return COLANDER_OK;
    return keep_text(texts,
                     strndup(route->address, strcspn(route->address, "\n")),
                     &route->address, err);
}

/* Routes all partitions. Under the lock. */
static enum colander_code
try_route(struct node *node, struct colander_error *err)
{
    struct route_texts texts = {NULL, 0, 0};
    struct route *routes = NULL;
    enum colander_code code = COLANDER_OK;
    size_t count = 0;
    size_t max = 0;

    pthread_mutex_lock(&node->mutex);
    for (size_t i = 0; i < node->family_count; i++)
        max += node->families[i]->definition.partition_count;
    routes = calloc(max + 1, sizeof(*routes));
    if (routes == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    for (size_t i = 0; i < node->family_count && code == COLANDER_OK; i++) {
        const struct node_family *family = node->families[i];

        for (uint32_t j = 0;
             j < family->definition.partition_count && code == COLANDER_OK; j++)
            code = add_route(node, family, j, &routes[count++], &texts, err);
    }
    pthread_mutex_unlock(&node->mutex);
    if (code == COLANDER_OK)
        code = routing_set(node->routing, routes, count, err);
    for (size_t i = 0; i < texts.count; i++)
        free(texts.items[i]);
    free(texts.items);
    free(routes);
    return code;
}

/* ----------------------------------------------------------- partitions --- */

/* Calls for each partition that the node has. */
typedef void visit_partition(void *context, struct partition *partition);

static void
visit_partitions(struct node *node, visit_partition *visit, void *context)
{
    pthread_mutex_lock(&node->mutex);
    for (size_t i = 0; i < node->family_count; i++) {
        const struct node_family *family = node->families[i];

        for (uint32_t j = 0; j < family->definition.partition_count; j++) {
            if (family->partitions[j] != NULL)
                visit(context, family->partitions[j]);
        }
    }
    pthread_mutex_unlock(&node->mutex);
}

static void
route_all(void *context)
{
    struct node *node = context;

    pthread_mutex_lock(&node->routing_lock);
    while (try_route(node, NULL) != COLANDER_OK)
        (void)usleep(ROUTE_AGAIN_US);
    pthread_mutex_unlock(&node->routing_lock);
}

static enum colander_code
start_partition(struct node *node, struct node_family *family, uint32_t number,
                struct colander_error *err)
{
    const struct partition_setup setup = {
        .options = &node->options,
        .directory = node->directory,
        .cluster = node->cluster,
        .family = &family->definition,
        .budget = node->budget,
        .number = number,
        .changed = route_all,
        .context = node,
    };
    struct partition *partition;
    const enum colander_code code = partition_start(&setup, &partition, err);

    if (code != COLANDER_OK)
        return code;
    pthread_mutex_lock(&node->mutex);
    family->partitions[number] = partition;
    pthread_mutex_unlock(&node->mutex);
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
    if (code != COLANDER_OK)
        free_family(family);
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

/* ---------------------------------------------------------- arrangement --- */

/* Whether this node owns the partition, and, if not, whether all that own it
 * serve it. */
static bool
is_own(const struct node *node, const struct node_family *family,
       uint32_t number, bool *is_served)
{
    const struct cluster_family *definition = &family->definition;
    size_t order[CLUSTER_REPLICAS_MAX];
    const size_t count = order_nodes(node, definition, number, order);
    bool is_own = node->members == NULL;
    char name[CLUSTER_NAME_MAX + 20];

    (void)snprintf(name, sizeof(name), "%s/%04" PRIu32, definition->name,
                   number);
    *is_served = true;
    for (size_t i = 0; i < count && i < definition->replica_count; i++) {
        const struct member *member = &node->nodes[order[i]];

        is_own = is_own || member->is_self;
        *is_served = *is_served && !member->is_self && member->text.size > 0 &&
                     serves(member, name);
    }
    return is_own;
}

/* Starts a partition, gives one up, or frees one that was given up. */
static enum colander_code
arrange_one(struct node *node, struct node_family *family, uint32_t number,
            struct colander_error *err)
{
    struct partition *partition = family->partitions[number];
    bool is_served;
    bool owns;

    pthread_mutex_lock(&node->routing_lock); /* of the nodes */
    owns = is_own(node, family, number, &is_served);
    pthread_mutex_unlock(&node->routing_lock);
    if (partition == NULL)
        return owns ? start_partition(node, family, number, err) : COLANDER_OK;
    if (partition_has_ended(partition)) {
        pthread_mutex_lock(&node->mutex);
        family->partitions[number] = NULL;
        pthread_mutex_unlock(&node->mutex);
        partition_join(partition);
        return partition_free(partition, err);
    }
    if (!owns && is_served)
        partition_stop(partition, true);
    return COLANDER_OK;
}

/* Has the partitions that are this node's, as far as it is known which. */
static enum colander_code
arrange(struct node *node, struct colander_error *err)
{
    enum colander_code code = list_nodes(node, err);

    if (code == COLANDER_OK &&
        (node->members == NULL || members_has_settled(node->members))) {
        for (size_t i = 0; i < node->family_count; i++) {
            struct node_family *family = node->families[i];
            const uint32_t count = family->definition.partition_count;

            for (uint32_t j = 0; j < count && code == COLANDER_OK; j++)
                code = arrange_one(node, family, j, err);
        }
    }
    route_all(node);
    return code;
}

static void
add_served(void *context, struct partition *partition)
{
    struct colander_buffer *text = context;
    bool is_caught_up;

    if (partition_store(partition, &is_caught_up) == NULL || !is_caught_up)
        return;
    if (colander_buffer_append(text, partition_name(partition),
                               strlen(partition_name(partition)),
                               NULL) != COLANDER_OK ||
        colander_buffer_append(text, "\n", 1, NULL) != COLANDER_OK)
        colander_buffer_release(text); /* next time */
}

/* Says where this node is, and what it serves. */
static enum colander_code
say_partitions(struct node *node, struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    if (node->members == NULL)
        return COLANDER_OK;
    code = colander_buffer_append(&text, node->address, strlen(node->address),
                                  err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&text, "\n", 1, err);
    if (code == COLANDER_OK)
        visit_partitions(node, add_served, &text);
    if (code == COLANDER_OK && text.size > 0)
        code = members_say(node->members, colander_buffer_slice(&text), err);
    colander_buffer_release(&text);
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
 * frees them. */
static struct partition **
list_partitions(struct node *node, struct colander_error *err)
{
    struct partition **list;
    size_t count = 0;

    for (size_t i = 0; i < node->family_count; i++)
        count += node->families[i]->definition.partition_count;
    list = calloc(count + 1, sizeof(struct partition *));
    if (list == NULL) {
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
    return list;
}

/* Makes checkpoints, one after another. Returns the first failure. */
static enum colander_code
checkpoint_all(struct node *node, struct colander_error *err)
{
    struct partition **list = list_partitions(node, err);
    enum colander_code code = list == NULL ? COLANDER_NO_MEMORY : COLANDER_OK;

    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        struct colander_error found;
        const enum colander_code made = partition_checkpoint(list[i], &found);

        if (made == COLANDER_OK)
            continue;
        say(node, &found);
        if (code == COLANDER_OK)
            code = COLANDER_FAIL(err, made, "%s", found.message);
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

static void *
keep(void *context)
{
    struct node *node = context;
    const struct node_options *options = &node->options;
    const unsigned look_ms = options->look_ms > 0 ? options->look_ms : LOOK_MS;
    const unsigned checkpoint_ms =
        options->checkpoint_ms > 0 ? options->checkpoint_ms : CHECKPOINT_MS;
    const unsigned say_ms = options->say_ms > 0 ? options->say_ms : SAY_MS;
    unsigned step_ms = look_ms < checkpoint_ms ? look_ms : checkpoint_ms;
    uint64_t looked = clock_us();
    uint64_t saved = looked;
    struct colander_error err;

    step_ms = say_ms < step_ms ? say_ms : step_ms;
    do {
        if (clock_us() - looked >= look_ms * UINT64_C(1000)) {
            looked = clock_us();
            if (look_for_families(node, &err) != COLANDER_OK)
                say(node, &err);
        }
        if (clock_us() - saved >= checkpoint_ms * UINT64_C(1000)) {
            saved = clock_us();
            (void)!checkpoint_all(node, NULL);
        }
        if (arrange(node, &err) != COLANDER_OK)
            say(node, &err);
        if (say_partitions(node, &err) != COLANDER_OK)
            say(node, &err);
    } while (wait_on(node, step_ms));
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
    if (code == COLANDER_OK) {
        node->routes.name = node->directory;
        node->routes.token = node->options.token;
        node->routes.ca_file = node->options.ca_file;
        code = routing_open(&node->routes, &node->routing, err);
    }
    return code == COLANDER_OK ? look_for_families(node, err) : code;
}

/* Begins to tell other nodes of this one, and to hear of them. */
static enum colander_code
meet_others(struct node *node, struct colander_error *err)
{
    const struct cluster_definition *definition =
        cluster_definition(node->cluster);
    struct members_options options = {
        .cluster = definition->id,
        .name = node->options.name,
        .say_ms = node->options.say_ms,
        .lost_ms = node->options.lost_ms,
    };
    enum colander_code code;

    if (asprintf(&node->topic, "%s/%s", definition->log, definition->members) <
        0)
        node->topic = NULL;
    if (node->topic == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a topic");
    code = node_settings(node->cluster, &node->options, &node->settings,
                         &options.brokers.setting_count, err);
    options.brokers.address = node->topic;
    options.brokers.settings = node->settings;
    options.brokers.settings_file = node->options.settings_file;
    return code == COLANDER_OK ? members_open(&options, &node->members, err)
                               : code;
}

enum colander_code
node_join(struct node *node, const char *address, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (address != NULL && strchr(address, '\n') != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the address of a node is one line");
    if (node->options.name != NULL) {
        node->address = strdup(address == NULL ? "" : address);
        code = node->address == NULL
                   ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory")
                   : meet_others(node, err);
    }
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
    if (node->has_keeper)
        (void)pthread_join(node->keeper, NULL);
    visit_partitions(node, stop_one, NULL);
    while ((list = list_partitions(node, NULL)) == NULL)
        (void)usleep(ROUTE_AGAIN_US);
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
        route_all(node);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < families[i]->definition.partition_count; j++) {
            struct colander_error found;
            enum colander_code closed = COLANDER_OK;

            if (families[i]->partitions[j] != NULL)
                closed = partition_free(families[i]->partitions[j], &found);
            if (closed != COLANDER_OK && code == COLANDER_OK)
                code = COLANDER_FAIL(err, closed, "%s", found.message);
        }
        free_family(families[i]);
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

enum colander_code
node_close(struct node *node, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct colander_error found;

    if (node == NULL)
        return COLANDER_OK;
    stop_all(node);
    if (node->has_keeper)
        code = checkpoint_all(node, err);
    members_close(node->members); /* others take over what it has saved */
    add_failure(&code, err, free_families(node, &found), &found);
    add_failure(&code, err, routing_close(node->routing, &found), &found);
    members_list_release(node->nodes, node->node_count);
    colander_budget_release(node->budget);
    cluster_close(node->cluster);
    if (node->lock >= 0)
        (void)close(node->lock);
    pthread_cond_destroy(&node->woken);
    pthread_mutex_destroy(&node->mutex);
    pthread_mutex_destroy(&node->routing_lock);
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

    visit_partitions(node, add_state, &list);
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
