/* See union_members.h. SPDX-License-Identifier: MIT */
#include "columns/union/union_members.h"

#include "columns/store.h"

#include <stdlib.h>

struct union_members *
union_members_create(struct colander_store *const *stores, size_t count,
                     struct colander_error *err)
{
    struct union_members *members =
        calloc(1, sizeof(*members) + count * sizeof(members->stores[0]));

    if (members == NULL) {
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                            "no memory for the members of a union");
        return NULL;
    }
    members->count = count;
    for (size_t i = 0; i < count && stores != NULL; i++)
        members->stores[i] = stores[i];
    return members;
}

void
union_members_leave(const struct union_view *view,
                    struct union_members *members)
{
    struct unified *unified = view->unified;
    struct union_members *whole = members;

    if (members->whole != NULL) {
        whole = members->whole;
        free(members);
    }
    pthread_mutex_lock(&unified->mutex);
    if (--whole->users == 0)
        pthread_cond_broadcast(&unified->left);
    pthread_mutex_unlock(&unified->mutex);
}

static bool
ends_with(const char *path, const char *end)
{
    const size_t path_size = strlen(path);
    const size_t size = strlen(end);

    return path_size > size && path[path_size - size - 1] == '/' &&
           strcmp(path + path_size - size, end) == 0;
}

/* Replaces the members by those of the part, which the union still has. */
static enum colander_code
select_part(const struct union_view *view, struct union_members **members,
            struct colander_error *err)
{
    const struct union_members *whole = *members;
    struct union_members *part =
        union_members_create(NULL, view->end_count, err);

    if (part == NULL)
        return COLANDER_NO_MEMORY;
    part->whole = *members;
    for (size_t i = 0; i < view->end_count; i++) {
        size_t at = 0;

        while (
            at < whole->count &&
            !ends_with(colander_store_path(whole->stores[at]), view->ends[i]))
            at++;
        for (size_t j = 0; at < whole->count && j < i; j++)
            at = part->stores[j] == whole->stores[at] ? whole->count : at;
        if (at == whole->count) {
            free(part);
            return COLANDER_FAIL(err, COLANDER_BUSY,
                                 "'%s' is not in '%s', or only once",
                                 view->ends[i], view->unified->name);
        }
        part->stores[i] = whole->stores[at];
    }
    *members = part;
    return COLANDER_OK;
}

enum colander_code
union_members_take(const struct union_view *view,
                   struct union_members **members, struct colander_error *err)
{
    struct unified *unified = view->unified;
    enum colander_code code;
    bool has_changed;

    pthread_mutex_lock(&unified->mutex);
    *members = unified->members;
    has_changed =
        view->how.is_fixed && unified->change_count != view->change_count;
    (*members)->users += !has_changed;
    pthread_mutex_unlock(&unified->mutex);
    if (has_changed)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "partitions of '%s' have moved meanwhile: ask "
                             "again",
                             unified->name);
    if (!view->is_part)
        return COLANDER_OK;
    code = select_part(view, members, err);
    if (code != COLANDER_OK)
        union_members_leave(view, *members);
    return code;
}

const char union_any_family[] = "any";

enum colander_member_use
union_use_of(const struct union_view *view, const struct colander_store *member,
             const char *family, const struct colander_key_range *keys)
{
    const struct unified *unified = view->unified;

    return unified->choose == NULL
               ? COLANDER_MEMBER_READ
               : unified->choose(unified->choose_context,
                                 colander_store_path(member), family, keys);
}

void
union_families_close(struct union_families *families)
{
    for (size_t i = 0; i < families->count; i++)
        colander_family_close(families->items[i]);
    free(families->items);
}

enum colander_code
union_families_open(const struct union_view *view, const char *name,
                    const struct colander_key_range *keys,
                    struct union_families *families, struct colander_error *err)
{
    const bool is_any = name == union_any_family;
    struct union_members *members;
    enum colander_code code = union_members_take(view, &members, err);

    *families = (struct union_families){NULL, 0, 0};
    if (code != COLANDER_OK)
        return code;
    families->items =
        calloc(members->count + 1, sizeof(struct colander_family *));
    if (families->items == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the members of a union");
    for (size_t i = 0; i < members->count && code == COLANDER_OK; i++) {
        const enum colander_member_use use =
            is_any ? COLANDER_MEMBER_READ
                   : union_use_of(view, members->stores[i], name, keys);

        families->unasked += use == COLANDER_MEMBER_UNASKED;
        if (use != COLANDER_MEMBER_READ ||
            (!is_any && !union_may_have(members->stores[i], name)))
            continue;
        code = colander_family_open(members->stores[i], name,
                                    &families->items[families->count], err);
        families->count += code == COLANDER_OK;
    }
    union_members_leave(view, members);
    if (code != COLANDER_OK)
        union_families_close(families);
    return code;
}

enum colander_code
union_visit(const struct union_view *view, const char *name,
            union_visit_family *visit, void *context, const bool *is_enough,
            struct colander_error *err)
{
    struct union_families families;
    enum colander_code code =
        union_families_open(view, name, NULL, &families, err);

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < families.count && code == COLANDER_OK; i++) {
        if (is_enough != NULL && *is_enough)
            break;
        code = visit(context, families.items[i], err);
        if (code == COLANDER_BUSY && view->how.is_partial)
            code = union_missing_note((struct union_missing *)&view->missing,
                                      name == union_any_family ? NULL : name,
                                      colander_family_store(families.items[i]),
                                      err);
        if (code != COLANDER_OK)
            union_name_member(colander_family_store(families.items[i]), err);
    }
    union_families_close(&families);
    return code;
}
