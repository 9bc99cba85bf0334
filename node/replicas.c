/* See replicas.h. SPDX-License-Identifier: MIT */
#include "node/replicas.h"

#include "columns/group_bytes.h"
#include "core/clock.h"
#include "node/replicas_inside.h"

#include <stdlib.h>

#define SUSPECT_US 3000000
#define CREDIT_FIRST 100 /* for finds that are asked twice; see HEDGE_COST */
#define USUAL_FIRST_US 100000

/* ------------------------------------------------------------- suspects --- */

size_t
replicas_first(struct replicas *replicas)
{
    return clock_us() < atomic_load(&replicas->suspect_us) ? 1 : 0;
}

void
replicas_failed(struct replicas *replicas, size_t which)
{
    if (which == 0)
        atomic_store(&replicas->suspect_us, clock_us() + SUSPECT_US);
}

void
replicas_answered(struct replicas *replicas, size_t which)
{
    if (which != 0)
        return;
    atomic_store(&replicas->suspect_us, 0);
    atomic_store(&replicas->lost, 0);
}

enum colander_code
replicas_fail(enum colander_code code, const struct colander_error *first,
              const struct colander_error *second, struct colander_error *err)
{
    return COLANDER_FAIL(err, code, "%s; %s", first->message, second->message);
}

/* --------------------------------------------------------------- asking --- */

/* Asks one of the stores. */
typedef enum colander_code ask_one(void *asked, struct colander_family *family,
                                   struct colander_error *err);

static enum colander_code
ask_store(struct colander_store *store, const char *name, ask_one *one,
          void *asked, struct colander_error *err)
{
    struct colander_family *family;
    enum colander_code code = colander_family_open(store, name, &family, err);

    if (code == COLANDER_OK)
        code = one(asked, family, err);
    colander_family_close(family);
    return code;
}

/* Asks the first of the stores that answers. */
static enum colander_code
ask(struct replicas *replicas, const char *name, ask_one *one, void *asked,
    struct colander_error *err)
{
    const size_t first = replicas_first(replicas);
    struct colander_error failures[REPLICAS];

    for (size_t i = 0; i < REPLICAS; i++) {
        const size_t which = first ^ i;
        const enum colander_code code =
            ask_store(replicas->stores[which], name, one, asked, &failures[i]);

        if (replicas_is_failure(code)) {
            replicas_failed(replicas, which);
            continue;
        }
        replicas_answered(replicas, which);
        return code == COLANDER_OK
                   ? code
                   : COLANDER_FAIL(err, code, "%s", failures[i].message);
    }
    return replicas_fail(COLANDER_BUSY, &failures[0], &failures[1], err);
}

static enum colander_code
families_one(void *names, struct colander_family *family,
             struct colander_error *err)
{
    return colander_store_families(colander_family_store(family), names, err);
}

static enum colander_code
families(void *context, struct colander_names *names,
         struct colander_error *err)
{
    return ask(context, "any", families_one, names, err);
}

static enum colander_code
snapshot(void *context, struct colander_snapshot **snapshot,
         struct colander_error *err)
{
    const struct replicas *replicas = context;

    return colander_store_snapshot(replicas->stores[0], snapshot, err);
}

static enum colander_code
exists_one(void *exists, struct colander_family *family,
           struct colander_error *err)
{
    return colander_family_exists_there(family, exists, err);
}

static enum colander_code
exists(void *context, const char *family, bool *exists,
       struct colander_error *err)
{
    return ask(context, family, exists_one, exists, err);
}

static enum colander_code
sizes_one(void *sizes, struct colander_family *family,
          struct colander_error *err)
{
    return colander_family_sizes(family, sizes, err);
}

static enum colander_code
sizes(void *context, const char *family, struct colander_family_sizes *sizes,
      struct colander_error *err)
{
    return ask(context, family, sizes_one, sizes, err);
}

struct asked_split {
    struct colander_buffer *keys;
    size_t count;
    size_t *found;
};

static enum colander_code
split_one(void *context, struct colander_family *family,
          struct colander_error *err)
{
    const struct asked_split *split = context;

    return colander_family_split_keys(family, split->keys, split->count,
                                      split->found, err);
}

static enum colander_code
split_keys(void *context, const char *family, struct colander_buffer *keys,
           size_t count, size_t *found, struct colander_error *err)
{
    struct asked_split split = {keys, count, found};

    return ask(context, family, split_one, &split, err);
}

struct asked_mark {
    struct colander_slice name;
    struct colander_buffer *value;
    bool *found;
};

static enum colander_code
mark_one(void *context, struct colander_family *family,
         struct colander_error *err)
{
    const struct asked_mark *mark = context;

    return colander_family_mark(family, mark->name, mark->value, mark->found,
                                err);
}

static enum colander_code
mark(void *context, const char *family, struct colander_slice name,
     struct colander_buffer *value, bool *found, struct colander_error *err)
{
    struct asked_mark mark = {name, value, found};

    return ask(context, family, mark_one, &mark, err);
}

struct asked_rows {
    const struct colander_slice *keys;
    size_t count;
    const struct colander_read *read;
    struct colander_buffer *rows;
    bool *found;
};

static enum colander_code
get_one(void *context, struct colander_family *family,
        struct colander_error *err)
{
    const struct asked_rows *asked = context;

    return colander_family_get_many(family, asked->keys, asked->count,
                                    asked->read, asked->rows, asked->found,
                                    err);
}

static enum colander_code
get_many(void *context, const char *family, const struct colander_slice *keys,
         size_t count, const struct colander_read *read,
         struct colander_buffer *rows, bool *found, struct colander_error *err)
{
    struct asked_rows asked = {keys, count, read, rows, found};

    return ask(context, family, get_one, &asked, err);
}

struct asked_bound {
    const char *path;
    bool is_descending;
    uint64_t rows;
    struct colander_buffer *bytes;
    struct colander_value *bound;
    bool *found;
};

static enum colander_code
bound_one(void *context, struct colander_family *family,
          struct colander_error *err)
{
    const struct asked_bound *bound = context;

    return colander_family_order_bound(
        family, bound->path, bound->is_descending, bound->rows, bound->bytes,
        bound->bound, bound->found, err);
}

static enum colander_code
order_bound(void *context, const char *family, const char *path,
            bool is_descending, uint64_t rows, struct colander_buffer *bytes,
            struct colander_value *bound, bool *found,
            struct colander_error *err)
{
    struct asked_bound asked = {path, is_descending, rows, bytes, bound, found};

    return ask(context, family, bound_one, &asked, err);
}

/* --------------------------------------------------------------- groups --- */

/* Rows that are grouped by one of the stores, into groups that are thrown away
 * if it fails. */
struct replica_group {
    struct replicas *replicas;
    char *name;
    const struct colander_query *query;
    struct colander_groups *groups; /* of the caller */
    size_t first;
    struct colander_groups *own;
    struct colander_family *family;
    struct colander_group_run *run;
};

static enum colander_code
begin_group(struct replica_group *group, size_t which,
            struct colander_error *err)
{
    enum colander_code code =
        colander_groups_create_like(group->groups, &group->own, err);

    if (code == COLANDER_OK)
        code = colander_family_open(group->replicas->stores[which], group->name,
                                    &group->family, err);
    if (code == COLANDER_OK)
        code = colander_group_run_begin(group->family, group->query, group->own,
                                        &group->run, err);
    return code;
}

static void
end_group(struct replica_group *group)
{
    colander_group_run_close(group->run);
    colander_family_close(group->family);
    colander_groups_destroy(group->own);
    group->run = NULL;
    group->family = NULL;
    group->own = NULL;
}

static void
group_close(void *context)
{
    struct replica_group *group = context;

    end_group(group);
    free(group->name);
    free(group);
}

static enum colander_code
group_open(void *context, const char *family,
           const struct colander_query *query, struct colander_groups *groups,
           void **opened, struct colander_error *err)
{
    struct replica_group *group = calloc(1, sizeof(*group));
    enum colander_code code;

    *opened = NULL;
    if (group == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot group rows");
    group->replicas = context;
    group->query = query;
    group->groups = groups;
    group->first = replicas_first(context);
    group->name = strdup(family);
    code = group->name == NULL
               ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot group rows")
               : begin_group(group, group->first, err);
    if (code == COLANDER_OK)
        *opened = group;
    else
        group_close(group);
    return code;
}

static enum colander_code
group_finish(void *context, struct colander_explain *explain,
             struct colander_error *err)
{
    struct replica_group *group = context;
    struct replicas *replicas = group->replicas;
    struct colander_error failures[REPLICAS];
    enum colander_code code = COLANDER_BUSY;
    size_t at = 0;

    for (; at < REPLICAS && replicas_is_failure(code); at++) {
        code = COLANDER_OK;
        if (at > 0) {
            replicas_failed(replicas, group->first);
            end_group(group);
            code = begin_group(group, 1 - group->first, &failures[at]);
        }
        if (code == COLANDER_OK)
            code =
                colander_group_run_finish(group->run, explain, &failures[at]);
    }
    if (replicas_is_failure(code))
        return replicas_fail(COLANDER_BUSY, &failures[0], &failures[1], err);
    if (code != COLANDER_OK)
        return COLANDER_FAIL(err, code, "%s", failures[at - 1].message);
    replicas_answered(replicas, at == 1 ? group->first : 1 - group->first);
    explain->nodes_asked_again += at > 1;
    return colander_groups_merge(group->groups, group->own, err);
}

/* ---------------------------------------------------------------- store --- */

enum colander_code
replicas_open(struct colander_store *first, struct colander_store *second,
              struct colander_store **store, struct colander_error *err)
{
    struct replicas *created = calloc(1, sizeof(*created));
    const struct colander_source source = {
        .context = created,
        .name = colander_store_path(first),
        .closed = free,
        .families = families,
        .snapshot = snapshot,
        .exists = exists,
        .sizes = sizes,
        .split_keys = split_keys,
        .mark = mark,
        .get_many = get_many,
        .order_bound = order_bound,
        .find = replica_find_open,
        .find_next = replica_find_next,
        .find_seek = replica_find_seek,
        .find_cancel = replica_find_cancel,
        .find_pause = replica_find_pause,
        .find_explain = replica_find_explain,
        .find_close = replica_find_close,
        .group = group_open,
        .group_finish = group_finish,
        .group_close = group_close,
    };

    *store = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open '%s'",
                             colander_store_path(first));
    created->stores[0] = first;
    created->stores[1] = second;
    atomic_init(&created->usual_us, USUAL_FIRST_US);
    atomic_init(&created->credit, CREDIT_FIRST);
    return colander_store_open_source(&source, store, err);
}
