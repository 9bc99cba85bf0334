/*
 * The orders of a column in all filters of a family, counted.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sized.h"
#include "filters/live.h"
#include "filters/order.h"

/* A filter that cannot be read in this many views is damaged. */
#define VIEWS_MAX 16

static const enum colander_type order_types[] = {
    COLANDER_BOOLEAN, COLANDER_INTEGER,   COLANDER_STRING,
    COLANDER_BINARY,  COLANDER_TIMESTAMP, COLANDER_EXTENSION,
};

/* Adds the bytes of the column's groups. */
static enum colander_code
add_groups(struct colander_order_stats *stats, const struct filter_file *filter,
           const struct filter_part *part,
           const struct order_column_view *column, struct colander_error *err)
{
    const struct filter_place *places =
        &filter->places[part->block_first[FILTER_ORDER]];
    const uint32_t begin = ORDER_GROUP_PLACE + column->first_group;
    const uint32_t end = begin + column->groups.count;
    const uint32_t count = part->block_count[FILTER_ORDER];
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct cached_block *block;
        uint32_t first;

        if (places[i].first >= end ||
            (i + 1 < count && places[i + 1].first <= begin))
            continue;
        if (i + 1 < count && places[i].first >= begin &&
            places[i + 1].first <= end) {
            stats->size += places[i].size;
            continue;
        }
        code = filter_file_block(filter, part, FILTER_ORDER, places[i].first,
                                 &block, &first, err);
        if (code != COLANDER_OK)
            break;
        stats->size += order_groups_size(block->bytes, first, begin, end);
        block_cache_release(filter->cache, block);
    }
    return code;
}

static enum colander_code
add_column(struct colander_order_stats *stats, const struct filter_file *filter,
           const struct filter_part *part, const struct cached_block *block,
           uint64_t path_hash, enum colander_type type,
           struct colander_error *err)
{
    struct order_column_view column;
    enum order_reason reason;
    enum colander_code code =
        order_look(block->bytes, path_hash, type, &column, &reason, err);

    if (code != COLANDER_OK)
        return code;
    stats->ordered_count += reason == ORDER_HAS_SOME;
    stats->few_count += reason == ORDER_FEW;
    stats->over_budget_count += reason == ORDER_OVER_BUDGET;
    stats->no_budget_count += reason == ORDER_NO_BUDGET;
    stats->refused_count += reason == ORDER_REFUSED;
    stats->unknown_count += reason == ORDER_UNKNOWN && type == order_types[0];
    if (reason != ORDER_HAS_SOME)
        return COLANDER_OK;
    stats->value_count += column.item_count;
    stats->listed_count += column.values.count;
    stats->group_count += column.groups.count;
    stats->size += (uint64_t)column.values.count * column.values.size +
                   (uint64_t)column.groups.count * column.groups.size;
    return column.groups.count == 0
               ? COLANDER_OK
               : add_groups(stats, filter, part, &column, err);
}

static enum colander_code
add_part(struct colander_order_stats *stats, const struct filter_file *filter,
         const struct filter_part *part, uint64_t path_hash,
         struct colander_error *err)
{
    const size_t count = sizeof(order_types) / sizeof(order_types[0]);
    enum colander_code code = COLANDER_OK;
    struct cached_block *block;
    uint32_t first;

    if (filter->version < FILTER_FILE_VERSION_ORDERS ||
        part->block_count[FILTER_ORDER] == 0) {
        stats->unknown_count++;
        return COLANDER_OK;
    }
    code = filter_file_block(filter, part, FILTER_ORDER, order_place(path_hash),
                             &block, &first, err);
    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = add_column(stats, filter, part, block, path_hash, order_types[i],
                          err);
    block_cache_release(filter->cache, block);
    return code;
}

/* Counts in the files as they are now. */
static enum colander_code
add_files(struct colander_order_stats *stats, struct filters *filters,
          struct family_filters *family, uint64_t path_hash,
          struct colander_error *err)
{
    struct file_view *view;
    enum colander_code code =
        registry_view(&filters->registry, family, &view, err);

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < view->file_count; i++) {
        const struct filter_file *filter = view->files[i]->filter;

        stats->unknown_count += filter == NULL;
        for (uint32_t k = 0;
             filter != NULL && k < filter->part_count && code == COLANDER_OK;
             k++)
            code = add_part(stats, filter, &filter->parts[k], path_hash, err);
    }
    file_view_release(view);
    return code;
}

/* A filter may be replaced while it is read. */
static enum colander_code
fill_stats(struct colander_family *family, const char *path,
           struct colander_order_stats *stats, struct colander_error *err)
{
    struct engine_family *engine_family;
    struct family_filters *found;
    struct filters *filters;
    uint64_t path_hash;
    enum colander_code code = path_hash_of_text(path, &path_hash, err);

    if (code == COLANDER_OK)
        code = filters_look_up(family, &filters, &engine_family, &found, err);
    if (code != COLANDER_OK || found == NULL)
        return code;
    for (unsigned i = 0; i < VIEWS_MAX; i++) {
        memset(stats, 0, sizeof(*stats));
        code = add_files(stats, filters, found, path_hash, err);
        if (code != COLANDER_CORRUPT && code != COLANDER_NOT_FOUND)
            break;
    }
    return code;
}

enum colander_code
colander_family_order_stats_sized(struct colander_family *family,
                                  const char *path,
                                  struct colander_order_stats *stats,
                                  size_t struct_size,
                                  struct colander_error *err)
{
    struct colander_order_stats filled;
    enum colander_code code;

    memset(&filled, 0, sizeof(filled));
    code = fill_stats(family, path, &filled, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "orders of family '%s'",
                               colander_family_name(family));
    sized_return(stats, struct_size, &filled, sizeof(filled));
    return code;
}
