/* See union.h. SPDX-License-Identifier: MIT */
#include "columns/union.h"

#include "columns/source.h"
#include "columns/store.h"
#include "columns/union/union_find.h"
#include "columns/union/union_group.h"
#include "columns/union/union_members.h"
#include "columns/union/union_missing.h"
#include "core/engine.h"

#include <stdlib.h>

/* ------------------------------------------------------------- families --- */

static enum colander_code
add_names(struct colander_names *names, const struct colander_names *more,
          struct colander_error *err)
{
    for (size_t i = 0; i < more->count; i++) {
        size_t at = 0;
        char **grown;

        while (at < names->count &&
               strcmp(names->names[at], more->names[i]) < 0)
            at++;
        if (at < names->count && strcmp(names->names[at], more->names[i]) == 0)
            continue;
        grown = realloc(names->names, (names->count + 1) * sizeof(*grown));
        if (grown == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for names of families");
        names->names = grown;
        memmove(grown + at + 1, grown + at,
                (names->count - at) * sizeof(*grown));
        grown[at] = more->names[i];
        more->names[i] = NULL; /* taken */
        names->count++;
    }
    return COLANDER_OK;
}

static enum colander_code
visit_names(void *context, struct colander_family *family,
            struct colander_error *err)
{
    struct colander_names more = {NULL, 0};
    enum colander_code code =
        colander_store_families(colander_family_store(family), &more, err);

    if (code == COLANDER_OK)
        code = add_names(context, &more, err);
    colander_names_release(&more);
    return code;
}

static enum colander_code
list_families(void *context, struct colander_names *names,
              struct colander_error *err)
{
    enum colander_code code;

    *names = (struct colander_names){NULL, 0};
    code =
        union_visit(context, union_any_family, visit_names, names, NULL, err);
    if (code != COLANDER_OK)
        colander_names_release(names);
    return code;
}

static enum colander_code
take_snapshot(void *context, struct colander_snapshot **snapshot,
              struct colander_error *err)
{
    struct union_families families;
    struct colander_snapshot **parts;
    enum colander_code code =
        union_families_open(context, union_any_family, NULL, &families, err);
    size_t count = 0;

    *snapshot = NULL;
    if (code != COLANDER_OK)
        return code;
    parts = calloc(families.count + 1, sizeof(*parts));
    if (parts == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot take a snapshot");
    for (; code == COLANDER_OK && count < families.count; count++) {
        code = colander_store_snapshot(
            colander_family_store(families.items[count]), &parts[count], err);
        if (code != COLANDER_OK)
            break;
    }
    if (code == COLANDER_OK)
        code = engine_snapshot_join(parts, count, snapshot, err);
    else
        while (count > 0)
            colander_snapshot_release(parts[--count]);
    free(parts);
    union_families_close(&families);
    return code;
}

static enum colander_code
visit_exists(void *context, struct colander_family *family,
             struct colander_error *err)
{
    return colander_family_exists_there(family, context, err);
}

static enum colander_code
exists(void *context, const char *family, bool *exists,
       struct colander_error *err)
{
    *exists = false;
    return union_visit(context, family, visit_exists, exists, exists, err);
}

static enum colander_code
visit_sizes(void *context, struct colander_family *family,
            struct colander_error *err)
{
    struct colander_family_sizes *all = context;
    struct colander_family_sizes sizes;
    const enum colander_code code = colander_family_sizes(family, &sizes, err);

    all->key_count += sizes.key_count;
    all->sst_count += sizes.sst_count;
    all->sst_size += sizes.sst_size;
    all->unflushed_size += sizes.unflushed_size;
    for (size_t i = 0; i < COLANDER_LEVELS_MAX; i++) {
        all->levels[i].sst_count += sizes.levels[i].sst_count;
        all->levels[i].sst_size += sizes.levels[i].sst_size;
    }
    return code;
}

static enum colander_code
add_sizes(void *context, const char *family,
          struct colander_family_sizes *sizes, struct colander_error *err)
{
    memset(sizes, 0, sizeof(*sizes));
    return union_visit(context, family, visit_sizes, sizes, NULL, err);
}

/* ----------------------------------------------------------------- keys --- */

/* Keys that split the families of all members. */
struct splits {
    size_t wanted; /* of each member */
    struct colander_buffer *keys;
    size_t count;
};

static enum colander_code
visit_split_keys(void *context, struct colander_family *family,
                 struct colander_error *err)
{
    struct splits *splits = context;
    struct colander_buffer *grown = realloc(
        splits->keys, (splits->count + splits->wanted) * sizeof(*grown));
    enum colander_code code;
    size_t found;

    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for keys");
    splits->keys = grown;
    memset(grown + splits->count, 0, splits->wanted * sizeof(*grown));
    code = colander_family_split_keys(family, grown + splits->count,
                                      splits->wanted, &found, err);
    if (code == COLANDER_OK)
        splits->count += found;
    else
        for (size_t i = 0; i < splits->wanted; i++)
            colander_buffer_release(&grown[splits->count + i]);
    return code;
}

static int
compare_keys(const void *a, const void *b)
{
    return colander_slice_compare(colander_buffer_slice(a),
                                  colander_buffer_slice(b));
}

/* Members are taken to be of one size: so of all keys that split them, evenly
 * chosen ones split the union. */
static enum colander_code
split_keys(void *context, const char *family, struct colander_buffer *keys,
           size_t count, size_t *found, struct colander_error *err)
{
    struct splits splits = {.wanted = count};
    enum colander_code code = COLANDER_OK;

    *found = 0;
    if (count > 0)
        code =
            union_visit(context, family, visit_split_keys, &splits, NULL, err);
    if (code == COLANDER_OK && splits.count > 0) {
        qsort(splits.keys, splits.count, sizeof(splits.keys[0]), compare_keys);
        for (size_t i = 1; i <= count && code == COLANDER_OK; i++) {
            const struct colander_buffer *key =
                &splits.keys[i * splits.count / (count + 1)];

            if (*found > 0 && compare_keys(key, &keys[*found - 1]) == 0)
                continue;
            colander_buffer_clear(&keys[*found]);
            code = colander_buffer_append(&keys[*found], key->data, key->size,
                                          err);
            *found += code == COLANDER_OK;
        }
    }
    for (size_t i = 0; i < splits.count; i++)
        colander_buffer_release(&splits.keys[i]);
    free(splits.keys);
    return code;
}

/* ---------------------------------------------------------------- reads --- */

struct mark_read {
    struct colander_slice name;
    struct colander_buffer *value;
    bool *found;
};

static enum colander_code
visit_mark(void *context, struct colander_family *family,
           struct colander_error *err)
{
    const struct mark_read *read = context;

    return colander_family_mark(family, read->name, read->value, read->found,
                                err);
}

static enum colander_code
read_mark(void *context, const char *family, struct colander_slice name,
          struct colander_buffer *value, bool *found,
          struct colander_error *err)
{
    struct mark_read read = {name, value, found};

    return union_visit(context, family, visit_mark, &read, found, err);
}

/* Rows that are read by their keys: of each member those that none before
 * had. */
struct gets {
    const struct union_view *view;
    const char *family;
    const struct colander_slice *keys;
    size_t count;
    const struct colander_read *read;
    struct colander_buffer *rows;
    bool *found;

    size_t left;                         /* not found yet */
    size_t *places;                      /* of these keys, those first that */
    struct colander_slice *asked;        /* a member is asked for, */
    struct colander_buffer *answer_rows; /* and what it has */
    bool *answer_found;
    bool is_done;
};

/* Puts the keys first that the member may have. Returns their number. */
static size_t
choose_keys(struct gets *gets, const struct colander_family *family)
{
    const struct colander_store *store = colander_family_store(family);
    size_t count = 0;

    for (size_t i = 0; i < gets->left; i++) {
        const size_t place = gets->places[i];
        const struct colander_key_range range = {.exact = gets->keys[place]};

        if (union_use_of(gets->view, store, gets->family, &range) !=
            COLANDER_MEMBER_READ)
            continue;
        gets->places[i] = gets->places[count];
        gets->places[count] = place;
        gets->asked[count++] = gets->keys[place];
    }
    return count;
}

static enum colander_code
visit_gets(void *context, struct colander_family *family,
           struct colander_error *err)
{
    struct gets *gets = context;
    const size_t count = choose_keys(gets, family);
    size_t left = 0;
    enum colander_code code = COLANDER_OK;

    if (count > 0)
        code = colander_family_get_many(family, gets->asked, count, gets->read,
                                        gets->answer_rows, gets->answer_found,
                                        err);
    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < gets->left; i++) {
        const size_t place = gets->places[i];

        if (i < count && gets->answer_found[i]) {
            struct colander_buffer row = gets->rows[place];

            gets->rows[place] = gets->answer_rows[i];
            gets->answer_rows[i] = row;
            gets->found[place] = true;
        } else {
            gets->places[left++] = place;
        }
    }
    gets->left = left;
    gets->is_done = left == 0;
    return COLANDER_OK;
}

static enum colander_code
get_many(void *context, const char *family, const struct colander_slice *keys,
         size_t count, const struct colander_read *read,
         struct colander_buffer *rows, bool *found, struct colander_error *err)
{
    struct gets gets = {context, family, keys,  count,
                        read,    rows,   found, .left = count};
    enum colander_code code = COLANDER_OK;

    if (count == 0)
        return COLANDER_OK;
    gets.places = calloc(count, sizeof(*gets.places));
    gets.asked = calloc(count, sizeof(*gets.asked));
    gets.answer_rows = calloc(count, sizeof(*gets.answer_rows));
    gets.answer_found = calloc(count, sizeof(*gets.answer_found));
    if (gets.places == NULL || gets.asked == NULL || gets.answer_rows == NULL ||
        gets.answer_found == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rows");
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        gets.places[i] = i;
    if (code == COLANDER_OK)
        code =
            union_visit(context, family, visit_gets, &gets, &gets.is_done, err);
    for (size_t i = 0; i < count && gets.answer_rows != NULL; i++)
        colander_buffer_release(&gets.answer_rows[i]);
    free(gets.answer_found);
    free(gets.answer_rows);
    free(gets.asked);
    free(gets.places);
    return code;
}

/* ---------------------------------------------------------------- order --- */

/* A bound of a member is one of the union: about as many rows are within it,
 * and more. The nearest is the best. */
struct nearest {
    const char *path;
    bool is_descending;
    uint64_t rows;
    struct colander_buffer *bytes;
    struct colander_value *bound;
    bool *found;
};

static enum colander_code
visit_bound(void *context, struct colander_family *family,
            struct colander_error *err)
{
    const struct nearest *nearest = context;
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_value bound;
    bool found;
    enum colander_code code = colander_family_order_bound(
        family, nearest->path, nearest->is_descending, nearest->rows, &bytes,
        &bound, &found, err);
    int order = -1;

    if (found && *nearest->found)
        order = colander_value_compare(&bound, nearest->bound);
    if (nearest->is_descending && *nearest->found)
        order = -order;
    if (code == COLANDER_OK && found && order < 0) {
        struct colander_buffer before = *nearest->bytes;

        *nearest->bytes = bytes;
        *nearest->bound = bound;
        *nearest->found = true;
        bytes = before;
    }
    colander_buffer_release(&bytes);
    return code;
}

static enum colander_code
find_bound(void *context, const char *family, const char *path,
           bool is_descending, uint64_t rows, struct colander_buffer *bytes,
           struct colander_value *bound, bool *found,
           struct colander_error *err)
{
    struct nearest nearest = {path, is_descending, rows, bytes, bound, found};

    *found = false;
    return union_visit(context, family, visit_bound, &nearest, NULL, err);
}

/* ---------------------------------------------------------------- finds --- */

static enum colander_code
open_find(void *context, const char *family, const struct colander_query *query,
          void **find, struct colander_error *err)
{
    struct union_view *view = context;
    struct union_families families;
    struct union_find *created = NULL;
    enum colander_code code =
        union_families_open(context, family, &query->keys, &families, err);

    *find = NULL;
    if (code == COLANDER_OK)
        code = union_find_open(
            families.items, families.count, families.unasked, query,
            view->how.is_partial ? &view->missing : NULL, &created, err);
    *find = created;
    return code;
}

static enum colander_code
open_group(void *context, const char *family,
           const struct colander_query *query, struct colander_groups *groups,
           void **group, struct colander_error *err)
{
    struct union_families families;
    struct union_group *created = NULL;
    enum colander_code code =
        union_families_open(context, family, &query->keys, &families, err);

    *group = NULL;
    if (code == COLANDER_OK)
        code = union_group_open(families.items, families.count,
                                families.unasked, query, groups, &created, err);
    *group = created;
    return code;
}

/* ---------------------------------------------------------------- store --- */

static void
closed(void *context)
{
    struct union_view *view = context;
    struct unified *unified = view->unified;

    if (view->is_whole) {
        free(unified->members);
        pthread_cond_destroy(&unified->left);
        pthread_mutex_destroy(&unified->mutex);
        free(unified);
    }
    colander_names_release(&view->missing.names);
    for (size_t i = 0; i < view->end_count; i++)
        free(view->ends[i]);
    free(view);
}

static const struct colander_source functions = {
    .closed = closed,
    .families = list_families,
    .snapshot = take_snapshot,
    .exists = exists,
    .sizes = add_sizes,
    .split_keys = split_keys,
    .mark = read_mark,
    .get_many = get_many,
    .order_bound = find_bound,
    .find = open_find,
    .find_next = union_find_next,
    .find_seek = union_find_seek,
    .find_cancel = union_find_cancel,
    .find_pause = union_find_pause,
    .find_explain = union_find_explain,
    .find_close = union_find_close,
    .group = open_group,
    .group_finish = union_group_finish,
    .group_close = union_group_close,
};

/* Opens a store that has what the view has, which it takes. */
static enum colander_code
open_view(struct union_view *view, struct colander_store **store,
          struct colander_error *err)
{
    struct colander_source source = functions;

    if (view->how.is_partial)
        source.group = NULL; /* rows are grouped here */
    source.context = view;
    source.name = view->unified->name;
    return colander_store_open_source(&source, store, err);
}

enum colander_code
colander_union_open(const char *name, struct colander_store *const *members,
                    size_t count, struct colander_store **store,
                    struct colander_error *err)
{
    struct unified *created = calloc(1, sizeof(*created) + strlen(name) + 1);
    struct union_view *view = calloc(1, sizeof(*view));

    *store = NULL;
    if (created != NULL)
        created->members = union_members_create(members, count, NULL);
    if (created == NULL || created->members == NULL || view == NULL) {
        if (created != NULL)
            free(created->members);
        free(created);
        free(view);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open union '%s'",
                             name);
    }
    strcpy(created->name, name);
    pthread_mutex_init(&created->mutex, NULL);
    pthread_cond_init(&created->left, NULL);
    view->unified = created;
    view->is_whole = true;
    return open_view(view, store, err);
}

bool
colander_store_is_union(const struct colander_store *store)
{
    return store->source.closed == closed;
}

enum colander_code
colander_union_open_view(struct colander_store *whole,
                         const struct colander_union_view *how,
                         struct colander_store **view,
                         struct colander_error *err)
{
    const struct union_view *all = whole->source.context;
    struct union_view *created = calloc(1, sizeof(*created));

    *view = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot open a view of '%s'", all->unified->name);
    created->unified = all->unified;
    created->how = *how;
    pthread_mutex_init(&created->missing.mutex, NULL);
    pthread_mutex_lock(&all->unified->mutex);
    created->change_count = all->unified->change_count;
    pthread_mutex_unlock(&all->unified->mutex);
    return open_view(created, view, err);
}

enum colander_code
colander_union_missing(struct colander_store *view,
                       struct colander_names *names, struct colander_error *err)
{
    return union_missing_list(
        &((struct union_view *)view->source.context)->missing, names, err);
}

enum colander_code
colander_union_open_part(struct colander_store *whole, const char *const *ends,
                         size_t count, struct colander_store **part,
                         struct colander_error *err)
{
    const struct union_view *all = whole->source.context;
    struct union_view *view =
        calloc(1, sizeof(*view) + count * sizeof(view->ends[0]));
    bool is_short = view == NULL;

    *part = NULL;
    for (size_t i = 0; i < count && !is_short; i++) {
        view->ends[i] = strdup(ends[i]);
        view->end_count++;
        is_short = view->ends[i] == NULL;
    }
    if (view != NULL) {
        view->unified = all->unified;
        view->is_part = true;
    }
    if (!is_short)
        return open_view(view, part, err);
    if (view != NULL)
        closed(view);
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open a part of '%s'",
                         all->unified->name);
}

enum colander_code
colander_union_replace(struct colander_store *store,
                       struct colander_store *const *members, size_t count,
                       struct colander_error *err)
{
    struct unified *unified =
        ((struct union_view *)store->source.context)->unified;
    struct union_members *new = union_members_create(members, count, err);
    struct union_members *old;

    if (new == NULL)
        return COLANDER_NO_MEMORY;
    pthread_mutex_lock(&unified->mutex);
    old = unified->members;
    unified->members = new;
    unified->change_count +=
        old->count != count ||
        memcmp(old->stores, new->stores, count * sizeof(new->stores[0])) != 0;
    while (old->users > 0)
        pthread_cond_wait(&unified->left, &unified->mutex);
    pthread_mutex_unlock(&unified->mutex);
    free(old);
    return COLANDER_OK;
}

void
colander_union_choose(struct colander_store *store,
                      colander_choose_member *choose, void *context)
{
    struct unified *unified =
        ((struct union_view *)store->source.context)->unified;

    unified->choose = choose;
    unified->choose_context = context;
}
