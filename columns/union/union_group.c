/* See union_group.h. SPDX-License-Identifier: MIT */
#include "columns/union/union_group.h"

#include "columns/source.h"
#include "columns/union/union_find.h"

#include <stdlib.h>

/* The rows of one member. */
struct part {
    struct colander_store *store;
    struct colander_family *family;
    struct colander_group_run *run;
};

struct union_group {
    size_t count;
    struct part parts[];
};

static enum colander_code
begin_part(struct part *part, const char *family,
           const struct colander_query *query, struct colander_groups *groups,
           struct colander_error *err)
{
    enum colander_code code =
        colander_family_open(part->store, family, &part->family, err);

    if (code == COLANDER_OK)
        code = colander_group_run_begin(part->family, query, groups, &part->run,
                                        err);
    if (code != COLANDER_OK)
        colander_error_context(err, "%s", colander_store_path(part->store));
    return code;
}

enum colander_code
union_group_open(struct colander_store *const *stores, size_t count,
                 const char *family, const struct colander_query *query,
                 struct colander_groups *groups, struct union_group **group,
                 struct colander_error *err)
{
    struct union_group *created =
        calloc(1, sizeof(*created) + count * sizeof(created->parts[0]));
    enum colander_code code = COLANDER_OK;

    *group = created;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to group rows");
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        created->parts[created->count++].store = stores[i];
        code = begin_part(&created->parts[i], family, query, groups, err);
    }
    if (code != COLANDER_OK) {
        union_group_close(created);
        *group = NULL;
    }
    return code;
}

/* The rows that are here are grouped while others work on theirs. */
enum colander_code
union_group_finish(void *context, struct colander_explain *explain,
                   struct colander_error *err)
{
    struct union_group *group = context;
    enum colander_code code = COLANDER_OK;

    union_explain_begin(explain);
    for (size_t i = 0; i < 2 * group->count && code == COLANDER_OK; i++) {
        struct part *part = &group->parts[i % group->count];
        struct colander_explain one;

        if (colander_store_has_source(part->store) != (i >= group->count))
            continue;
        code = colander_group_run_finish(part->run, &one, err);
        if (code == COLANDER_OK)
            union_explain_add(explain, &one);
        else
            colander_error_context(err, "%s", colander_store_path(part->store));
    }
    return code;
}

void
union_group_close(void *context)
{
    struct union_group *group = context;

    for (size_t i = 0; i < group->count; i++) {
        colander_group_run_close(group->parts[i].run);
        colander_family_close(group->parts[i].family);
    }
    free(group);
}
