/* See union_group.h. SPDX-License-Identifier: MIT */
#include "columns/union/union_group.h"

#include "columns/source.h"
#include "columns/union/union_find.h"
#include "columns/union/union_missing.h"

#include <stdlib.h>

/* The rows of one member. */
struct part {
    struct colander_family *family;
    struct colander_group_run *run;
};

struct union_group {
    size_t unasked;
    size_t count;
    struct part parts[];
};

enum colander_code
union_group_open(struct colander_family **families, size_t count,
                 size_t unasked, const struct colander_query *query,
                 struct colander_groups *groups, struct union_group **group,
                 struct colander_error *err)
{
    struct union_group *created =
        calloc(1, sizeof(*created) + count * sizeof(created->parts[0]));
    enum colander_code code =
        created == NULL
            ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to group rows")
            : COLANDER_OK;

    *group = created;
    if (created != NULL)
        created->unasked = unasked;
    for (size_t i = 0; i < count; i++) {
        struct part *part;

        if (code != COLANDER_OK) {
            colander_family_close(families[i]);
            continue;
        }
        part = &created->parts[created->count++];
        part->family = families[i];
        code = colander_group_run_begin(part->family, query, groups, &part->run,
                                        err);
        if (code != COLANDER_OK)
            union_name_member(colander_family_store(part->family), err);
    }
    free(families);
    if (code != COLANDER_OK && created != NULL) {
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

    union_explain_begin(explain, group->unasked);
    for (size_t i = 0; i < 2 * group->count && code == COLANDER_OK; i++) {
        const bool is_elsewhere = i >= group->count;
        struct part *part = &group->parts[is_elsewhere ? i - group->count : i];
        struct colander_explain one;

        if (colander_store_has_source(colander_family_store(part->family)) !=
            is_elsewhere)
            continue;
        code = colander_group_run_finish(part->run, &one, err);
        if (code == COLANDER_OK)
            union_explain_add(explain, &one);
        else
            union_name_member(colander_family_store(part->family), err);
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
