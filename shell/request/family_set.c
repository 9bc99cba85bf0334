/* See family_set.h. SPDX-License-Identifier: MIT */
#include "shell/family_set.h"

#include <stdlib.h>

/* Whether the name of a family says that rows with such times cannot be in it,
 * as it is one of the pattern. */
static bool
is_outside(const char *pattern, const char *name,
           const struct family_times *times)
{
    int64_t from, until;

    if (!colander_partition_times(pattern, name, &from, &until))
        return false;
    return (times->since != NULL && times->since->second >= until) ||
           (times->until != NULL &&
            (times->until->second < from ||
             (times->until->second == from && times->until->nanosecond == 0)));
}

/* Sets *is_same to whether both families have the same time column. */
static enum colander_code
compare_columns(const struct session *session, const char *pattern,
                struct colander_family *family, bool *is_same,
                struct colander_error *err)
{
    struct colander_buffer column = COLANDER_BUFFER_EMPTY;
    struct colander_buffer other = COLANDER_BUFFER_EMPTY;
    struct colander_family *parent = NULL;
    bool found = false;
    bool other_found = false;
    enum colander_code code =
        colander_family_open(session->store, pattern, &parent, err);

    if (code == COLANDER_OK)
        code = colander_family_time_column(parent, &column, &found, err);
    if (code == COLANDER_OK)
        code = colander_family_time_column(family, &other, &other_found, err);
    *is_same = code == COLANDER_OK && found && other_found &&
               strcmp((const char *)column.data, (const char *)other.data) == 0;
    colander_family_close(parent);
    colander_buffer_release(&column);
    colander_buffer_release(&other);
    return code;
}

/* Sets *has to whether rows with such times may be in the family, as far as its
 * name says: it does not if it is by the times of another column than that
 * which is asked. `all` has the patterns. */
static enum colander_code
may_have(const struct session *session, const struct colander_names *all,
         struct colander_family *family, const struct family_times *times,
         bool *has, struct colander_error *err)
{
    const char *name = colander_family_name(family);
    enum colander_code code = COLANDER_OK;
    bool is_same;

    *has = true;
    for (size_t i = 0;
         times != NULL && i < all->count && code == COLANDER_OK && *has; i++) {
        if (!is_outside(all->names[i], name, times))
            continue;
        code = compare_columns(session, all->names[i], family, &is_same, err);
        *has = !is_same;
    }
    return code;
}

static enum colander_code
open_selected(struct family_set *set, const struct session *session,
              const struct colander_names *all,
              const struct colander_names *selected,
              const struct family_times *times, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    set->known_count = selected->count;
    set->families = calloc(selected->count + 1, sizeof(*set->families));
    if (set->families == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for families");
    for (size_t i = 0; i < selected->count && code == COLANDER_OK; i++) {
        struct colander_family **family = &set->families[set->count];
        bool has = false;

        code = colander_family_open(session->store, selected->names[i], family,
                                    err);
        if (code != COLANDER_OK)
            break;
        code = may_have(session, all, *family, times, &has, err);
        if (has && code == COLANDER_OK)
            set->count++;
        else
            colander_family_close(*family);
    }
    if (code == COLANDER_OK)
        code = colander_family_open(
            session->store,
            set->count > 0 ? colander_family_name(set->families[set->count - 1])
                           : selected->names[selected->count - 1],
            &set->model, err);
    return code;
}

/* The moment comes first: a family that is created after it has no rows then,
 * and need not be among the names. */
static enum colander_code
open_selection(struct family_set *set, const struct session *session,
               const struct family_times *times, struct colander_error *err)
{
    struct colander_names all = {NULL, 0};
    struct colander_names selected = {NULL, 0};
    enum colander_code code =
        colander_store_snapshot(session->store, &set->snapshot, err);

    set->is_selection = true;
    if (code == COLANDER_OK)
        code = colander_store_families(session->store, &all, err);
    if (code == COLANDER_OK)
        code = colander_store_families(session->store, &selected, err);
    if (code == COLANDER_OK)
        colander_names_select(&selected, set->name);
    if (code == COLANDER_OK && selected.count == 0)
        code = session_no_family(session, set->name, err);
    else if (code == COLANDER_OK)
        code = open_selected(set, session, &all, &selected, times, err);
    colander_names_release(&all);
    colander_names_release(&selected);
    return code;
}

/* Whether the name selects families: a pattern, or one with * that is not the
 * name of a family. */
static enum colander_code
check_selection(const struct session *session, const char *name, bool *selects,
                struct colander_error *err)
{
    struct colander_family *family = NULL;
    enum colander_code code = COLANDER_OK;

    *selects = colander_name_selects(name);
    if (!*selects || colander_partition_unit(name) != NULL)
        return COLANDER_OK;
    code = colander_family_open(session->store, name, &family, err);
    *selects = code == COLANDER_OK && !colander_family_exists(family);
    colander_family_close(family);
    return code;
}

static enum colander_code
open_one(struct family_set *set, const struct session *session,
         struct colander_error *err)
{
    enum colander_code code =
        session_family(session, set->name, &set->model, err);

    if (code != COLANDER_OK)
        return code;
    set->families = calloc(1, sizeof(*set->families));
    if (set->families == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for families");
    code =
        colander_family_open(session->store, set->name, &set->families[0], err);
    set->count = code == COLANDER_OK;
    set->known_count = set->count;
    return code;
}

enum colander_code
family_set_open(struct family_set *set, const struct session *session,
                const char *name, const struct family_times *times,
                struct colander_error *err)
{
    bool selects = false;
    enum colander_code code;

    memset(set, 0, sizeof(*set));
    set->name = name;
    code = check_selection(session, name, &selects, err);
    if (code != COLANDER_OK)
        return code;
    return selects ? open_selection(set, session, times, err)
                   : open_one(set, session, err);
}

void
family_set_release(struct family_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        colander_family_close(set->families[i]);
    free(set->families);
    colander_family_close(set->model);
    colander_snapshot_release(set->snapshot);
    memset(set, 0, sizeof(*set));
}

uint64_t
family_set_key_count(const struct family_set *set)
{
    uint64_t count = 0;

    for (size_t i = 0; i < set->count; i++) {
        struct colander_family_sizes sizes;

        if (colander_family_sizes(set->families[i], &sizes, NULL) !=
            COLANDER_OK)
            return 0;
        count += sizes.key_count;
    }
    return count;
}

/* Makes the row that has only the name. */
static enum colander_code
name_family(struct family_namer *namer, const struct colander_family *family,
            struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_slice patch;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    colander_row_builder_add(builder, FAMILY_COLUMN,
                             colander_text(colander_family_name(family)));
    code = colander_row_builder_finish(builder, &patch, err);
    colander_buffer_clear(&namer->patch);
    if (code == COLANDER_OK)
        code =
            colander_buffer_append(&namer->patch, patch.data, patch.size, err);
    colander_row_builder_destroy(builder);
    namer->family = code == COLANDER_OK ? family : NULL;
    return code;
}

enum colander_code
family_namer_add(struct family_namer *namer,
                 const struct colander_family *family,
                 struct colander_slice *row, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (namer->family != family)
        code = name_family(namer, family, err);
    if (code == COLANDER_OK)
        code = colander_row_patch(*row, colander_buffer_slice(&namer->patch),
                                  &namer->row, err);
    *row = colander_buffer_slice(&namer->row);
    return code;
}

void
family_namer_release(struct family_namer *namer)
{
    colander_buffer_release(&namer->patch);
    colander_buffer_release(&namer->row);
}
