/*
 * A value within which the first rows in the order of a column lie, as far as
 * the orders of the parts tell.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/find.h"
#include "filters/find/plan.h"
#include "filters/live.h"
#include "filters/order.h"
#include "filters/settings.h"

/* More rows than this part of all are read faster without a bound. */
#define PART_OF_ROWS 8

static enum colander_code
add_file(const struct filter_file *filter, uint64_t path_hash,
         struct order_ends *ends, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0; i < filter->part_count && code == COLANDER_OK; i++) {
        const struct filter_part *part = &filter->parts[i];
        struct cached_block *block;
        uint32_t first;

        if (part->block_count[FILTER_ORDER] == 0)
            continue;
        code = filter_file_block(filter, part, FILTER_ORDER,
                                 order_place(path_hash), &block, &first, err);
        if (code != COLANDER_OK)
            return code;
        code = order_ends_add(ends, block->bytes, path_hash, err);
        block_cache_release(filter->cache, block);
    }
    return code;
}

/* Adds the values of a type. A filter that cannot be read has none: the rows
 * that a find reads tell whether it had some. */
static enum colander_code
add_type(const struct file_view *view, uint64_t path_hash,
         struct order_ends *ends, struct colander_error *err)
{
    for (size_t i = 0; i < view->file_count; i++) {
        const struct filter_file *filter = view->files[i]->filter;
        struct colander_error failure;

        if (filter != NULL && filter->version >= FILTER_FILE_VERSION_ORDERS &&
            add_file(filter, path_hash, ends, &failure) == COLANDER_NO_MEMORY)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "%s",
                                 failure.message);
    }
    return COLANDER_OK;
}

/* Fills `ends` with those of the type in which the bound is, if it is known. */
static enum colander_code
find_type(const struct file_view *view, const struct bound_request *request,
          struct order_ends *ends, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    ends->is_descending = request->is_descending;
    ends->wanted = request->rows;
    /* types have the order of their values; null has none */
    for (unsigned i = 0; i < COLANDER_ARRAY && code == COLANDER_OK; i++) {
        ends->type = (enum colander_type)(
            request->is_descending ? COLANDER_ARRAY - i : COLANDER_BOOLEAN + i);
        if (ends->type == COLANDER_UNSIGNED || ends->type == COLANDER_DOUBLE)
            continue; /* of INTEGER, as all numbers */
        ends->count = ends->total = 0;
        code = add_type(view, request->path_hash, ends, err);
        if (ends->total >= ends->wanted)
            return code;
        ends->wanted -= ends->total;
    }
    ends->count = 0;
    return code;
}

enum colander_code
find_order_bound(void *context, const struct bound_request *request,
                 struct colander_buffer *bytes, struct colander_value *bound,
                 bool *found, struct colander_error *err)
{
    struct filters *filters = context;
    struct settings *settings;
    struct family_filters *family = registry_family(
        &filters->registry, engine_family_id(request->family), &settings);
    struct order_ends ends = {.wanted = 0};
    struct file_view *view = NULL;
    enum colander_code code;

    *found = false;
    if (family == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    settings_unref(settings);
    code = plan_view(filters, family, NULL, &view, err);
    if (code == COLANDER_OK &&
        request->rows <= view->row_count / PART_OF_ROWS) {
        code = find_type(view, request, &ends, err);
        *found = code == COLANDER_OK && order_ends_bound(&ends, bound);
    }
    if (*found && colander_type_has_bytes(bound->type)) {
        code = colander_buffer_append(bytes, bound->bytes.data,
                                      bound->bytes.size, err);
        bound->bytes = colander_buffer_slice(bytes);
    }
    order_ends_release(&ends);
    file_view_release(view);
    return code;
}
