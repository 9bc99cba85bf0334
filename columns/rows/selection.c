/*
 * Selections: a row cut down to the columns at some paths.
 *
 * Sorted paths form a tree: paths with the same beginning are a run, and the
 * paths that also share the next step are a run within it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/selection.h"

#include <stdlib.h>

#include "columns/row.h"

static int
order_of(const void *a, const void *b)
{
    return path_compare(a, b);
}

enum colander_code
selection_init(struct selection *selection, const char *const *paths,
               size_t count, struct colander_error *err)
{
    enum colander_code code;

    selection->count = 0;
    selection->paths = calloc(count > 0 ? count : 1, sizeof(*selection->paths));
    if (selection->paths == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep %zu paths",
                             count);
    for (size_t i = 0; i < count; i++) {
        code = colander_path_parse(paths[i], &selection->paths[i], err);
        if (code != COLANDER_OK) {
            selection_release(selection);
            return code;
        }
        selection->count++;
    }
    qsort(selection->paths, count, sizeof(*selection->paths), order_of);
    return COLANDER_OK;
}

void
selection_release(struct selection *selection)
{
    for (size_t i = 0; i < selection->count; i++)
        path_release(&selection->paths[i]);
    free(selection->paths);
    selection->paths = NULL;
    selection->count = 0;
}

/* Paths that begin alike, as far as to the value the walk is at. */
struct path_run {
    const struct path *first;
    const struct path *end;
    size_t depth; /* steps that they have in common */
};

/* The first path of the run whose next step is not before `step` or, if
 * `is_end`, is after it. */
static const struct path *
bound_of(const struct path_run *run, const struct path_step *step, bool is_end)
{
    const struct path *low = run->first;
    const struct path *high = run->end;

    while (low < high) {
        const struct path *middle = low + (high - low) / 2;
        int order = path_step_compare(&middle->steps[run->depth], step);

        if (order < 0 || (is_end && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The paths of the run that go on with `step`, if any. */
static struct path_run
run_below(const struct path_run *run, const struct path_step *step)
{
    struct path_run below = {bound_of(run, step, false), run->end,
                             run->depth + 1};

    if (below.first == run->end ||
        path_step_compare(&below.first->steps[run->depth], step) != 0)
        below.end = below.first;
    else
        below.end = bound_of(run, step, true);
    return below;
}

struct cut {
    struct msgpack_reader reader;
    struct colander_buffer *out;
    struct colander_error *err;
};

static enum colander_code
fail(const struct cut *cut, enum msgpack_result result)
{
    return msgpack_fail(result, COLANDER_CORRUPT, "row", cut->err);
}

static enum colander_code
skip_value(struct cut *cut)
{
    enum msgpack_result result = msgpack_skip(&cut->reader);

    return result == MSGPACK_FINE ? COLANDER_OK : fail(cut, result);
}

static enum colander_code
copy_since(struct cut *cut, const uint8_t *start)
{
    return colander_buffer_append(cut->out, start,
                                  (size_t)(cut->reader.at - start), cut->err);
}

static enum colander_code cut_value(struct cut *cut, const struct path_run *run,
                                    bool *is_kept);

/* Appends a member with its name if something of it is selected. */
static enum colander_code
cut_member(struct cut *cut, const struct path_run *run, bool is_map,
           bool *is_kept)
{
    struct path_step step = {{NULL, 0}, !is_map};
    const uint8_t *start = cut->reader.at;
    size_t size = cut->out->size;
    enum msgpack_result result = MSGPACK_FINE;
    struct path_run below;
    enum colander_code code;

    *is_kept = false;
    if (is_map)
        result = msgpack_read_name(&cut->reader, &step.name);
    if (result != MSGPACK_FINE)
        return fail(cut, result);
    below = run_below(run, &step);
    if (below.first == below.end)
        return skip_value(cut);
    code = copy_since(cut, start);
    if (code == COLANDER_OK)
        code = cut_value(cut, &below, is_kept);
    if (!*is_kept)
        cut->out->size = size;
    return code;
}

/* Keeps a container that has something selected in it, cut down to that. */
static enum colander_code
cut_members(struct cut *cut, const struct path_run *run, bool is_map,
            uint32_t count, uint32_t *kept)
{
    bool is_kept = false;
    size_t start;
    enum colander_code code;

    *kept = 0;
    code = msgpack_container_begin(cut->out, &start, cut->err);
    for (; count > 0 && code == COLANDER_OK; count--) {
        code = cut_member(cut, run, is_map, &is_kept);
        *kept += is_kept;
    }
    if (code != COLANDER_OK)
        return code;
    return msgpack_container_end(cut->out, start, is_map, *kept, cut->err);
}

/* A run is never empty; recursion is as deep as its paths. */
static enum colander_code
cut_value(struct cut *cut, const struct path_run *run, bool *is_kept)
{
    const uint8_t *start = cut->reader.at;
    struct colander_value value;
    enum msgpack_result result;
    enum colander_code code;
    uint32_t count, kept;

    *is_kept = run->first->count == run->depth;
    if (*is_kept) {
        code = skip_value(cut);
        return code == COLANDER_OK ? copy_since(cut, start) : code;
    }
    result = msgpack_read(&cut->reader, &value, &count);
    if (result != MSGPACK_FINE)
        return fail(cut, result);
    if (value.type < COLANDER_ARRAY)
        return COLANDER_OK;
    code = cut_members(cut, run, value.type == COLANDER_MAP, count, &kept);
    *is_kept = code == COLANDER_OK && kept > 0;
    return code;
}

static enum colander_code
cut_row(struct cut *cut, const struct path_run *run)
{
    uint32_t count, kept;
    enum colander_code code =
        row_begin(&cut->reader, COLANDER_CORRUPT, &count, cut->err);

    if (code == COLANDER_OK)
        code = cut_members(cut, run, true, count, &kept);
    if (code == COLANDER_OK)
        code = row_end(&cut->reader, COLANDER_CORRUPT, cut->err);
    return code;
}

enum colander_code
selection_apply(const struct selection *selection, struct colander_slice row,
                struct colander_buffer *out, struct colander_error *err)
{
    struct cut cut = {msgpack_reader_of(row), out, err};
    struct path_run all = {selection->paths, selection->paths, 0};
    enum colander_code code;

    all.end += selection->count;
    colander_buffer_clear(out);
    code = cut_row(&cut, &all);
    if (code != COLANDER_OK)
        colander_buffer_clear(out);
    return code;
}

enum colander_code
colander_row_select(struct colander_slice row, const char *const *paths,
                    size_t path_count, struct colander_buffer *out,
                    struct colander_error *err)
{
    struct selection selection = SELECTION_EMPTY;
    enum colander_code code;

    colander_buffer_clear(out);
    code = selection_init(&selection, paths, path_count, err);
    if (code == COLANDER_OK)
        code = selection_apply(&selection, row, out, err);
    selection_release(&selection);
    return code;
}
