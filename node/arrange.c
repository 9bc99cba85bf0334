/*
 * Which partitions a node has, and where the others are read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/node_text.h"
#include "cluster/placement.h"
#include "core/array.h"
#include "core/clock.h"
#include "node/folder.h"
#include "node/node_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long partitions of a generation are kept that is not read any more, as
 * other nodes may not have heard yet what makes them read the next one, beside
 * the time in which they look for that. At least. */
#define KEPT_MS 10000

/* ---------------------------------------------------------------- nodes --- */

/* Whether the node says that it serves the partition (cluster/node_text.h). */
static bool
serves(const struct member *member, const char *partition)
{
    const char *text = (const char *)member->text.data;
    const size_t size = strlen(partition);

    while ((text = strchr(text, '\n')) != NULL) {
        text++;
        if (strncmp(text, partition, size) == 0 && text[size] == '\n')
            return true;
        if (node_text_is_detail(text))
            return false;
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
 * first ones first, of which the first replica_count own it. */
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

/* Before the name of a partition whose rows are all where their key decides. */
#define PLACED "placed "
#define PLACED_SIZE (CLUSTER_FOLDER_SIZE + 20)

static bool
says_placed(const struct member *other, const struct route *route)
{
    char line[PLACED_SIZE];

    (void)snprintf(line, sizeof(line), PLACED "%s", route->partition);
    return serves(other, line);
}

/* Reads the partition at this node, if it serves it and one is missing. */
static void
try_node(const struct member *other, struct route *route)
{
    const char *text = (const char *)other->text.data;

    if (route->second != NULL || other->is_self || other->text.size == 0 ||
        text[0] == '\n' || text == route->address ||
        !serves(other, route->partition))
        return;
    route->is_placed = route->is_placed && says_placed(other, route);
    if (route->address == NULL)
        route->address = text;
    else
        route->second = text;
}

/* Chooses where a partition is read: here, if it is up to date or no one else
 * has it, or at the first two of the nodes that serve it. */
static void
choose_route(const struct node *node, const struct node_family *family,
             uint32_t number, struct route *route)
{
    struct partition *partition = family->partitions[number];
    size_t order[CLUSTER_REPLICAS_MAX];
    bool is_caught_up = false;
    size_t count;

    route->family = &family->definition;
    route->number = number;
    if (partition != NULL)
        route->store = partition_store(partition, &is_caught_up);
    route->is_placed = route->store == NULL || partition_is_placed(partition);
    if (route->store != NULL && is_caught_up)
        return;
    count = order_nodes(node, &family->definition, number, order);
    for (size_t i = 0; i < count; i++)
        try_node(&node->nodes[order[i]], route);
    for (size_t i = 0; i < node->node_count; i++)
        try_node(&node->nodes[i], route); /* and at all others */
    if (route->store == NULL && route->address == NULL)
        route->is_placed = false;
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

/* Keeps the first line of the text. */
static enum colander_code
keep_line(struct route_texts *texts, const char **text,
          struct colander_error *err)
{
    return keep_text(texts, strndup(*text, strcspn(*text, "\n")), text, err);
}

/* Returns what a node says why it has stopped reading the partition, up to the
 * end of a line, or NULL. */
static const char *
find_stopped(const struct member *member, const char *partition)
{
    char line[CLUSTER_FOLDER_SIZE + 40];
    const char *found = NULL;

    (void)snprintf(line, sizeof(line), "\npartition %s stopped ", partition);
    if (!member->is_self && member->text.size > 0)
        found = strstr((const char *)member->text.data, line);
    if (found != NULL)
        found += strlen(line);
    for (int i = 0; i < 4 && found != NULL; i++) { /* numbers */
        found += strcspn(found, " \n");
        found = *found == ' ' ? found + 1 : NULL;
    }
    return found;
}

/* Finds out why a partition is read nowhere: it has stopped here, or elsewhere.
 */
static enum colander_code
add_problem(const struct node *node, struct partition *partition,
            struct route *route, struct route_texts *texts,
            struct colander_error *err)
{
    struct node_partition state = {.phase = NODE_OPENING};
    char *problem = NULL;
    int made = 0;

    if (partition != NULL)
        partition_state(partition, &state);
    if (state.phase == NODE_STOPPED)
        made = asprintf(&problem, "it has stopped: %s", state.problem);
    for (size_t i = 0; i < node->node_count && made == 0; i++) {
        const struct member *member = &node->nodes[i];
        const char *why = find_stopped(member, route->partition);

        if (why != NULL)
            made = asprintf(&problem, "it has stopped at %s: %.*s",
                            member->name, (int)strcspn(why, "\n"), why);
    }
    if (made == 0)
        return COLANDER_OK;
    return keep_text(texts, made < 0 ? NULL : problem, &route->problem, err);
}

static enum colander_code
add_route(const struct node *node, const struct node_family *family,
          uint32_t number, struct route *route, struct route_texts *texts,
          struct colander_error *err)
{
    char folder[CLUSTER_FOLDER_SIZE];
    char *name = NULL;
    enum colander_code code;

    if (asprintf(&name, "%s/%04" PRIu32,
                 cluster_family_folder(&family->definition, folder),
                 number) < 0)
        name = NULL;
    code = keep_text(texts, name, &route->partition, err);
    if (code != COLANDER_OK)
        return code;
    choose_route(node, family, number, route);
    if (route->address != NULL)
        code = keep_line(texts, &route->address, err);
    else if (route->store == NULL)
        code = add_problem(node, family->partitions[number], route, texts, err);
    if (code == COLANDER_OK && route->second != NULL)
        code = keep_line(texts, &route->second, err);
    return code;
}

/* Returns the generation of a family that is read: the last one all of whose
 * partitions can be. It stays so, as it has what was sent since then. */
static const struct node_family *
find_read(const struct node_family *family)
{
    while (family->after != NULL)
        family = family->after;
    for (const struct node_family *one = family; one != NULL;
         one = one->before) {
        if (one->is_routed || one->was_read)
            return one;
    }
    return family;
}

/* Whether partitions of a generation that is not read any more are kept. */
static bool
is_kept(const struct node *node, const struct node_family *family)
{
    const unsigned lost_ms = node->options.lost_ms;
    const uint64_t kept_ms = (lost_ms > KEPT_MS ? lost_ms : KEPT_MS) +
                             2 * (uint64_t)node_look_ms(node);

    return clock_us() - family->hidden_us < kept_ms * 1000;
}

/* Hides the routes of generations that are not read. */
static void
hide_routes(struct node *node, struct route *routes)
{
    for (size_t i = 0; i < node->family_count; i++) {
        struct node_family *family = node->families[i];
        const struct node_family *read = find_read(family);
        const uint32_t count = family->definition.partition_count;

        for (uint32_t j = 0; j < count; j++)
            routes[j].is_hidden = family != read;
        routes += count;
        family->was_read = family->was_read || family == read;
        if (family->hidden_us == 0 &&
            family->definition.generation < read->definition.generation)
            family->hidden_us = clock_us();
    }
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
        struct node_family *family = node->families[i];

        family->is_routed = true;
        for (uint32_t j = 0;
             j < family->definition.partition_count && code == COLANDER_OK;
             j++, count++) {
            code = add_route(node, family, j, &routes[count], &texts, err);
            family->is_routed =
                family->is_routed &&
                (routes[count].store != NULL || routes[count].address != NULL);
        }
    }
    if (code == COLANDER_OK)
        hide_routes(node, routes);
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

void
node_visit_partitions(struct node *node, bool only_last,
                      void (*visit)(void *context, struct partition *partition),
                      void *context)
{
    pthread_mutex_lock(&node->mutex);
    for (size_t i = 0; i < node->family_count; i++) {
        const struct node_family *family = node->families[i];

        if (only_last && family->after != NULL)
            continue;
        for (uint32_t j = 0; j < family->definition.partition_count; j++) {
            if (family->partitions[j] != NULL)
                visit(context, family->partitions[j]);
        }
    }
    pthread_mutex_unlock(&node->mutex);
}

void
node_route(struct node *node)
{
    pthread_mutex_lock(&node->routing_lock);
    while (try_route(node, NULL) != COLANDER_OK)
        (void)usleep(NODE_AGAIN_US);
    pthread_mutex_unlock(&node->routing_lock);
}

static void
changed(void *node)
{
    node_route(node);
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
        .client = node->client,
        .number = number,
        .is_ending = &node->is_ending,
        .changed = changed,
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

void
node_free_family(struct node_family *family)
{
    cluster_family_release(&family->definition);
    free(family->partitions);
    free(family);
}

/* Returns the last generation of a family; NULL: it is not known. */
static struct node_family *
find_family(const struct node *node, const char *name)
{
    struct node_family *found = NULL;

    for (size_t i = 0; i < node->family_count; i++) {
        if (strcmp(node->families[i]->definition.name, name) == 0)
            found = node->families[i];
    }
    return found;
}

/* Removes what the node has of earlier generations, since before it was
 * started. */
static enum colander_code
remove_earlier(const struct node *node, const struct cluster_family *family,
               struct colander_error *err)
{
    struct cluster_family earlier = {.name = family->name};
    enum colander_code code = COLANDER_OK;

    for (; earlier.generation < family->generation && code == COLANDER_OK;
         earlier.generation++) {
        char folder[CLUSTER_FOLDER_SIZE];
        char *path;

        if (asprintf(&path, "%s/%s", node->directory,
                     cluster_family_folder(&earlier, folder)) < 0)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a path");
        code = folder_remove(path, err);
        free(path);
    }
    return code;
}

/* Adds a family, or a later generation of one, whose definitions have this
 * mark. */
static enum colander_code
add_family(struct node *node, const char *name, uint64_t mark,
           struct colander_error *err)
{
    struct node_family *family = calloc(1, sizeof(*family));
    struct node_family *before = find_family(node, name);
    enum colander_code code = COLANDER_OK;

    if (family == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a family");
    code = cluster_family(node->cluster, name, &family->definition, err);
    if (code == COLANDER_OK && before != NULL &&
        before->definition.generation >= family->definition.generation) {
        before->mark = mark;
        node_free_family(family);
        return COLANDER_OK;
    }
    family->mark = mark;
    if (code == COLANDER_OK && before == NULL)
        code = remove_earlier(node, &family->definition, err);
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
        if (code == COLANDER_OK) {
            node->families[node->family_count++] = family;
            family->before = before;
            if (before != NULL)
                before->after = family;
        }
        pthread_mutex_unlock(&node->mutex);
    }
    if (code != COLANDER_OK)
        node_free_family(family);
    return code;
}

enum colander_code
node_look_for_families(struct node *node, struct colander_error *err)
{
    const char *only = node->options.only;
    const uint64_t now = clock_us();
    struct cluster_texts names = {NULL, 0, 0};
    uint64_t *marks = NULL;
    enum colander_code code =
        cluster_family_names(node->cluster, &names, &marks, err);
    bool knows_all = code == COLANDER_OK;

    for (size_t i = 0; marks != NULL && i < names.count; i++) {
        const char *name = names.items[i];
        const struct node_family *known = find_family(node, name);
        struct colander_error found;
        enum colander_code added = COLANDER_OK;

        if ((known == NULL || known->mark != marks[i]) &&
            (only == NULL || strcmp(only, name) == 0))
            added = add_family(node, name, marks[i], &found);
        knows_all = knows_all && (added == COLANDER_OK || known == NULL);
        if (added != COLANDER_OK && code == COLANDER_OK)
            code = COLANDER_FAIL(err, added, "%s", found.message);
    }
    if (knows_all)
        node->looked_us = now;
    cluster_texts_release(&names);
    free(marks);
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
    char folder[CLUSTER_FOLDER_SIZE];
    char name[CLUSTER_FOLDER_SIZE + 20];

    (void)snprintf(name, sizeof(name), "%s/%04" PRIu32,
                   cluster_family_folder(definition, folder), number);
    *is_served = count > 0;
    for (size_t i = 0; i < count && i < definition->replica_count; i++) {
        const struct member *member = &node->nodes[order[i]];

        is_own = is_own || member->is_self;
        *is_served = *is_served && !member->is_self && member->text.size > 0 &&
                     serves(member, name);
    }
    return is_own;
}

/* Whether the directory has a store of the partition, of an earlier process. */
static bool
has_store(const struct node *node, const struct node_family *family,
          uint32_t number)
{
    char folder[CLUSTER_FOLDER_SIZE];
    struct stat status;
    char *path;
    bool is_there;

    if (asprintf(&path, "%s/%s/%04" PRIu32, node->directory,
                 cluster_family_folder(&family->definition, folder),
                 number) < 0)
        return false;
    is_there = stat(path, &status) == 0;
    free(path);
    return is_there;
}

/* Starts a partition, also one that is there from before, until those have it
 * that own it; gives one up, or frees one that was given up. */
static enum colander_code
arrange_one(struct node *node, struct node_family *family, uint32_t number,
            struct colander_error *err)
{
    struct partition *partition = family->partitions[number];
    bool is_served;
    bool owns;

    pthread_mutex_lock(&node->routing_lock); /* of the nodes */
    owns = is_own(node, family, number, &is_served);
    if (family->hidden_us > 0) { /* a moment later, so that all nodes are */
        owns = partition != NULL && is_kept(node, family);
        is_served = true;
    }
    pthread_mutex_unlock(&node->routing_lock);
    if (partition == NULL) {
        owns = owns || (!family->has_looked && has_store(node, family, number));
        return owns ? start_partition(node, family, number, err) : COLANDER_OK;
    }
    if (partition_has_ended(partition)) {
        enum colander_code code;

        if (pthread_mutex_trylock(&node->saving) != 0)
            return COLANDER_OK; /* it may be looked at: next time */
        pthread_mutex_lock(&node->mutex);
        family->partitions[number] = NULL;
        pthread_mutex_unlock(&node->mutex);
        partition_join(partition);
        code = partition_free(partition, err);
        pthread_mutex_unlock(&node->saving);
        return code;
    }
    if (!owns && is_served)
        partition_stop(partition, true);
    return COLANDER_OK;
}

/* Returns a family, which stays, or NULL. */
static struct node_family *
family_at(struct node *node, size_t index)
{
    struct node_family *family = NULL;

    pthread_mutex_lock(&node->mutex);
    if (index < node->family_count)
        family = node->families[index];
    pthread_mutex_unlock(&node->mutex);
    return family;
}

enum colander_code
node_arrange(struct node *node, struct colander_error *err)
{
    enum colander_code code = list_nodes(node, err);

    if (code == COLANDER_OK &&
        (node->members == NULL || members_has_settled(node->members))) {
        struct node_family *family;

        for (size_t i = 0; (family = family_at(node, i)) != NULL; i++) {
            const uint32_t count = family->definition.partition_count;

            for (uint32_t j = 0; j < count; j++) {
                struct colander_error found;
                const enum colander_code arranged =
                    arrange_one(node, family, j, &found);

                if (code == COLANDER_OK && arranged != COLANDER_OK)
                    code = COLANDER_FAIL(err, arranged, "%s", found.message);
            }
            family->has_looked = true;
        }
    }
    node_route(node);
    return code;
}

/* What a node says. */
struct said {
    struct colander_buffer *text;
    struct colander_buffer *details;
    enum colander_code code; /* the first failure, with */
    struct colander_error *err;
};

static void
add_line(struct said *said, const char *line)
{
    if (said->code == COLANDER_OK)
        said->code =
            colander_buffer_append(said->text, line, strlen(line), said->err);
    if (said->code == COLANDER_OK)
        said->code = colander_buffer_append(said->text, "\n", 1, said->err);
}

static void
add_partition(void *context, struct partition *partition)
{
    static const enum node_text_phase phases[] = {
        [NODE_OPENING] = NODE_TEXT_OPENING,
        [NODE_FOLLOWING] = NODE_TEXT_FOLLOWING,
        [NODE_WAITING] = NODE_TEXT_WAITING,
        [NODE_STOPPED] = NODE_TEXT_STOPPED,
    };
    struct said *said = context;
    struct node_partition state;
    struct node_text_partition shown;
    char placed[PLACED_SIZE];

    partition_state(partition, &state);
    shown = (struct node_text_partition){
        .name = partition_name(partition),
        .phase = phases[state.phase],
        .applied = state.applied,
        .lag = state.phase == NODE_FOLLOWING ? (int64_t)state.lag : -1,
        .checkpoint = state.checkpoint,
        .checkpoint_time = state.checkpoint < 0 ? -1 : state.checkpoint_time,
        .problem =
            state.problem[0] != '\0' ? state.problem : state.checkpoint_problem,
    };
    if (state.is_caught_up)
        add_line(said, shown.name);
    if (state.is_caught_up && partition_is_placed(partition)) {
        (void)snprintf(placed, sizeof(placed), PLACED "%s", shown.name);
        add_line(said, placed);
    }
    if (said->code == COLANDER_OK)
        said->code = node_text_add_partition(said->details, &shown, said->err);
}

enum colander_code
node_make_text(struct node *node, struct colander_buffer *text,
               struct colander_buffer *details, struct colander_error *err)
{
    struct said said = {text, details, COLANDER_OK, err};
    struct members_state state = {.problem = ""};

    if (node->members != NULL)
        members_state(node->members, &state);
    add_line(&said, node->address == NULL ? "-" : node->address);
    if (said.code == COLANDER_OK)
        said.code = node_text_add_node(details, state.problem, err);
    node_visit_partitions(node, false, add_partition, &said);
    return said.code;
}

/* Says on standard error that there is a problem, when it begins. */
static void
print_problem(struct node *node)
{
    struct members_state state;
    bool has_problem;

    members_state(node->members, &state);
    has_problem = state.problem[0] != '\0';
    if (has_problem && !node->has_problem && node->options.say != NULL)
        node->options.say(node->options.context, state.problem);
    node->has_problem = has_problem;
}

enum colander_code
node_say(struct node *node, struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct colander_buffer details = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    if (node->members == NULL)
        return COLANDER_OK;
    print_problem(node);
    code = node_make_text(node, &text, &details, err);
    if (text.size + details.size > MEMBERS_TEXT_MAX)
        colander_buffer_clear(&details);
    if (code == COLANDER_OK) /* else it is said next time */
        code = members_say(node->members, colander_buffer_slice(&text),
                           colander_buffer_slice(&details), err);
    colander_buffer_release(&text);
    colander_buffer_release(&details);
    return code;
}
