/*
 * Views of all partitions that have applied what the log had.
 *
 * How far a partition is, is a mark of its store, which is read as rows are: of
 * the store that a find would read. A view that is fixed fails once a partition
 * is read elsewhere, so a find cannot read another store than the one that was
 * waited for; but one that two other nodes have is asked of the second one if
 * the first one is late or fails, and that may have read less.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/union.h"
#include "core/array.h"
#include "core/clock.h"
#include "node/node_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_US 20000
#define KNOWN_US ((NODE_HEARD_MS - 1000) * UINT64_C(1000))
#define AGAIN_US 100000 /* after a failure */

/* How far a partition must be. */
struct target {
    const struct cluster_family *family; /* borrowed from the node */
    uint32_t partition;
    int64_t high;
};

struct waiting {
    struct node *node;
    struct colander_union_view how;
    struct target *targets;
    size_t count;
    size_t capacity;
    struct colander_store *view;
    struct colander_names missing; /* in the view */
    size_t reached;                /* targets, in it */
    int64_t applied;               /* by the next one */
    uint64_t end_us;
    bool (*is_over)(void *context);
    void *context;
};

/* Waits before another look. Fails if the caller does not want to wait any
 * more. */
static enum colander_code
pause_unless_over(const struct waiting *waiting, unsigned us,
                  struct colander_error *err)
{
    if (waiting->is_over(waiting->context))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    (void)usleep(us);
    return COLANDER_OK;
}

/* Waits until the node has looked for families not long ago. Then it knows all
 * to whose topics others send already (NODE_HEARD_MS). */
static enum colander_code
wait_for_families(const struct waiting *waiting, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK &&
           clock_us() - waiting->node->looked_us >= KNOWN_US) {
        if (clock_us() >= waiting->end_us)
            return COLANDER_FAIL(err, COLANDER_BUSY,
                                 "the definitions of families could not be "
                                 "read for %u seconds: not fresh in time",
                                 (unsigned)(KNOWN_US / 1000000));
        code = pause_unless_over(waiting, LOOK_US, err);
    }
    return code;
}

static bool
is_asked(const char *family, const char *asked)
{
    const size_t size = strlen(family);

    return asked == NULL || colander_name_selects(asked) ||
           (strncmp(asked, family, size) == 0 &&
            (asked[size] == '\0' || asked[size] == '.'));
}

/* Adds the partitions of a family, with what brokers have of them. */
static enum colander_code
add_targets(struct waiting *waiting, const struct cluster_family *family,
            struct colander_error *err)
{
    const struct node *node = waiting->node;
    struct topic_broker_options brokers = node->brokers;
    const uint64_t now = clock_us();
    struct topic_ends *ends = NULL;
    char *address = NULL;
    int64_t retention_ms;
    size_t count = 0;
    enum colander_code code = COLANDER_OK;

    if (asprintf(&address, "%s/%s", cluster_definition(node->cluster)->log,
                 family->topic) < 0) {
        address = NULL;
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a topic");
    }
    brokers.address = address;
    brokers.is_stopped = &node->has_left;
    if (now < waiting->end_us)
        brokers.wait_ms = (unsigned)((waiting->end_us - now) / 1000) + 1;
    else if (code == COLANDER_OK)
        code = COLANDER_FAIL(err, COLANDER_BUSY, "not fresh in time");
    if (code == COLANDER_OK)
        code = topic_ends(&brokers, &ends, &count, &retention_ms, err);
    if (code == COLANDER_CANCELLED)
        code = COLANDER_FAIL(err, COLANDER_BUSY, "the node ends");
    if (code == COLANDER_OK)
        code = array_reserve(&waiting->targets, waiting->count,
                             &waiting->capacity, count, err);
    for (size_t i = 0;
         i < count && i < family->partition_count && code == COLANDER_OK; i++)
        waiting->targets[waiting->count++] =
            (struct target){family, (uint32_t)i, ends[i].high};
    free(ends);
    free(address);
    return code;
}

/* Asks brokers what the log has. Of a family that has a later generation that
 * counts, also before it is read: writers send to its topic. */
static enum colander_code
set_targets(struct waiting *waiting, const char *asked,
            struct colander_error *err)
{
    struct node *node = waiting->node;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; code == COLANDER_OK; i++) {
        const struct cluster_family *family = NULL;
        bool is_last = false;

        pthread_mutex_lock(&node->mutex); /* families stay until the end */
        if (i < node->family_count) {
            family = &node->families[i]->definition;
            is_last = node->families[i]->after == NULL;
        }
        pthread_mutex_unlock(&node->mutex);
        if (family == NULL)
            break;
        if (is_last && is_asked(family->name, asked))
            code = add_targets(waiting, family, err);
    }
    return code;
}

static void
close_view(struct waiting *waiting)
{
    colander_names_release(&waiting->missing);
    (void)!colander_store_close(waiting->view, NULL); /* has no handles */
    waiting->view = NULL;
    waiting->reached = 0;
}

/* Whether the view has left out the partition. */
static bool
is_missing(const struct waiting *waiting, const struct target *target)
{
    char folder[CLUSTER_FOLDER_SIZE];
    char name[CLUSTER_FOLDER_SIZE + 20];

    (void)snprintf(name, sizeof(name), "%s/%04" PRIu32,
                   cluster_family_folder(target->family, folder),
                   target->partition);
    for (size_t i = 0; i < waiting->missing.count; i++) {
        if (strcmp(waiting->missing.names[i], name) == 0)
            return true;
    }
    return false;
}

/* Looks whether the partition of a target has applied what it must. */
static enum colander_code
look(struct waiting *waiting, const struct target *target, bool *has_reached,
     struct colander_error *err)
{
    struct colander_family *rows = NULL;
    bool found = false;
    enum colander_code code =
        colander_family_open(waiting->view, target->family->name, &rows, err);

    waiting->applied = 0;
    if (code == COLANDER_OK)
        code =
            topic_place(rows, target->family->topic, (int32_t)target->partition,
                        &waiting->applied, &found, err);
    colander_family_close(rows);
    if (code == COLANDER_OK && !found && waiting->how.is_partial) {
        colander_names_release(&waiting->missing);
        code = colander_union_missing(waiting->view, &waiting->missing, err);
    }
    *has_reached =
        code == COLANDER_OK && (waiting->applied >= target->high ||
                                (!found && is_missing(waiting, target)));
    return code;
}

/* Looks at those that were not there yet. *is_done: all are. */
static enum colander_code
look_at_all(struct waiting *waiting, bool *is_done, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool has_reached = true;

    if (waiting->view == NULL)
        code = colander_union_open_view(node_store(waiting->node),
                                        &waiting->how, &waiting->view, err);
    while (code == COLANDER_OK && has_reached &&
           waiting->reached < waiting->count) {
        code = look(waiting, &waiting->targets[waiting->reached], &has_reached,
                    err);
        waiting->reached += has_reached;
    }
    *is_done = code == COLANDER_OK && waiting->reached == waiting->count;
    return code;
}

static enum colander_code
fail_late(const struct waiting *waiting, struct colander_error *err)
{
    const struct target *target = &waiting->targets[waiting->reached];
    char folder[CLUSTER_FOLDER_SIZE];

    return COLANDER_FAIL(
        err, COLANDER_BUSY,
        "partition %s/%04" PRIu32 " was read up to offset %" PRId64
        ", and the log had records up to %" PRId64 ": not fresh in time",
        cluster_family_folder(target->family, folder), target->partition,
        waiting->applied, target->high);
}

/* Waits until all are as far as they must be. */
static enum colander_code
wait_for_all(struct waiting *waiting, struct colander_error *err)
{
    bool is_done = false;
    enum colander_code code = COLANDER_OK;

    while (!is_done) {
        code = look_at_all(waiting, &is_done, err);
        if (is_done || (code != COLANDER_OK && code != COLANDER_BUSY))
            break;
        if (clock_us() >= waiting->end_us)
            return code == COLANDER_OK ? fail_late(waiting, err) : code;
        if (code != COLANDER_OK) /* they may be read elsewhere by now */
            close_view(waiting);
        code = pause_unless_over(waiting,
                                 code == COLANDER_OK ? LOOK_US : AGAIN_US, err);
        if (code != COLANDER_OK)
            return code;
    }
    return code;
}

enum colander_code
node_open_fresh(void *node, const char *family, bool is_partial,
                unsigned wait_ms, bool (*is_over)(void *context), void *context,
                struct colander_store **view, struct colander_error *err)
{
    struct waiting waiting = {
        .node = node,
        .how = {.is_partial = is_partial, .is_fixed = true},
        .end_us = clock_us() + wait_ms * UINT64_C(1000),
        .is_over = is_over,
        .context = context,
    };
    enum colander_code code = wait_for_families(&waiting, err);

    if (code == COLANDER_OK)
        code = set_targets(&waiting, family, err);
    if (code == COLANDER_OK)
        code = wait_for_all(&waiting, err);
    *view = code == COLANDER_OK ? waiting.view : NULL;
    if (code == COLANDER_OK)
        colander_names_release(&waiting.missing);
    else
        close_view(&waiting);
    free(waiting.targets);
    return code;
}
