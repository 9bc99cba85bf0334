/* See cluster_nodes.h. SPDX-License-Identifier: MIT */
#include "shell/clusters/cluster_nodes.h"
#include "cluster/members.h"
#include "core/array.h"
#include "core/clock.h"
#include "serve/remote.h"
#include "shell/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BROKERS_US 10000000 /* that brokers have to answer */
#define SPEAK_US 2000000    /* in which a node that runs has spoken */
#define LOOK_US 10000

struct cluster_nodes {
    struct members *members;
    char *topic;
    char **asked; /* addresses that were returned */
    size_t asked_count;
    size_t asked_capacity;
    uint64_t opened_us;
    uint64_t read_us; /* when what was said before was read; 0: it is not */
    bool is_alive;
};

enum colander_code
cluster_nodes_open(const struct cluster_definition *cluster,
                   const char *settings_file, struct cluster_nodes **nodes,
                   struct colander_error *err)
{
    struct cluster_nodes *opened = calloc(1, sizeof(*opened));
    struct members_options options = {
        .brokers = {.settings = (const char *const *)cluster->settings.items,
                    .setting_count = cluster->settings.count,
                    .settings_file = settings_file},
        .cluster = cluster->id, /* without a name it only listens */
    };
    enum colander_code code = COLANDER_OK;

    *nodes = NULL;
    if (opened == NULL ||
        asprintf(&opened->topic, "%s/%s", cluster->log, cluster->members) < 0) {
        free(opened);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for nodes");
    }
    opened->opened_us = clock_us();
    options.brokers.address = opened->topic;
    code = members_open(&options, &opened->members, err);
    if (code == COLANDER_OK)
        *nodes = opened;
    else
        cluster_nodes_close(opened);
    return code;
}

void
cluster_nodes_close(struct cluster_nodes *nodes)
{
    if (nodes == NULL)
        return;
    members_close(nodes->members);
    for (size_t i = 0; i < nodes->asked_count; i++)
        free(nodes->asked[i]);
    free(nodes->asked);
    free(nodes->topic);
    free(nodes);
}

bool
cluster_nodes_is_alive(const struct cluster_nodes *nodes)
{
    return nodes->is_alive;
}

bool
cluster_nodes_is_deaf(const struct cluster_nodes *nodes)
{
    return nodes->read_us == 0;
}

/* Returns a copy of the address of a node, the first line of what it says; NULL
 * if there is none, or no memory. */
static char *
address_of(const struct member *node)
{
    const struct colander_buffer *text = &node->text;
    const uint8_t *end =
        text->size == 0 ? NULL : memchr(text->data, '\n', text->size);
    char *address = NULL;

    if (end != NULL &&
        memchr(text->data, 0, (size_t)(end - text->data)) == NULL)
        address = strndup((const char *)text->data, (size_t)(end - text->data));
    if (address != NULL && remote_is_address(address))
        return address;
    free(address);
    return NULL;
}

static bool
was_asked(const struct cluster_nodes *nodes, const char *address)
{
    for (size_t i = 0; i < nodes->asked_count; i++) {
        if (strcmp(nodes->asked[i], address) == 0)
            return true;
    }
    return false;
}

/* Whether a node is more likely to run than another one. */
static bool
is_better(const struct member *node, const struct member *other)
{
    return node->is_past == other->is_past ? node->age_ms < other->age_ms
                                           : other->is_past;
}

/* Chooses one of those that have spoken, if there is one. */
static enum colander_code
choose(struct cluster_nodes *nodes, const char **address,
       struct colander_error *err)
{
    const struct member *best = NULL;
    char *chosen = NULL;
    struct member *list;
    size_t count;
    enum colander_code code = members_list(nodes->members, &list, &count, err);

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        char *found = address_of(&list[i]);

        nodes->is_alive = nodes->is_alive || !list[i].is_past;
        if (found != NULL && !was_asked(nodes, found) &&
            (best == NULL || is_better(&list[i], best))) {
            free(chosen);
            chosen = found;
            found = NULL;
            best = &list[i];
        }
        free(found);
    }
    if (chosen != NULL)
        code = array_reserve(&nodes->asked, nodes->asked_count,
                             &nodes->asked_capacity, 1, err);
    if (chosen != NULL && code == COLANDER_OK)
        *address = nodes->asked[nodes->asked_count++] = chosen;
    else
        free(chosen);
    members_list_release(list, count);
    return code;
}

enum colander_code
cluster_nodes_next(struct cluster_nodes *nodes, const char **address,
                   struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (*address = NULL; *address == NULL && code == COLANDER_OK;) {
        const uint64_t now = clock_us();
        struct members_state state;

        members_state(nodes->members, &state);
        if (state.has_read && nodes->read_us == 0)
            nodes->read_us = now;
        if (nodes->read_us > 0)
            code = choose(nodes, address, err);
        if (*address != NULL || code != COLANDER_OK ||
            (nodes->read_us > 0 ? now - nodes->read_us >= SPEAK_US
                                : now - nodes->opened_us >= BROKERS_US))
            break;
        if (interrupt_happened())
            code = COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
        else
            (void)usleep(LOOK_US);
    }
    return code;
}
