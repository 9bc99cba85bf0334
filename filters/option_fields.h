/*
 * The fields of struct colander_filter_options, in the order of their record.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_OPTION_FIELDS_H
#define COLANDER_FILTERS_OPTION_FIELDS_H

#include "core/fields.h"
#include "filters/filters.h"

static const char *const hierarchy_names[] = {"slices", "tree", NULL};

#define OPTION_FIELD(kind, name, member, ...)                                  \
    FIELD(kind, name, colander_filter_options, member, __VA_ARGS__)

static const struct field filter_option_fields[] = {
    OPTION_FIELD(BOOLEAN, "on", is_on),
    OPTION_FIELD(UINT32_OR_AUTO, "rows_per_segment", rows_per_segment),
    OPTION_FIELD(UINT32, "hash_bits", hash_bits),
    OPTION_FIELD(DOUBLE, "fp_rate", fp_rate),
    OPTION_FIELD(DOUBLE, "bits_per_value", bits_per_value),
    OPTION_FIELD(UINT64, "filter_bits", filter_bits),
    OPTION_FIELD(CHOICE, "hierarchy", hierarchy, .words = hierarchy_names),
    OPTION_FIELD(UINT32, "tree_order", tree_order),
    OPTION_FIELD(UINT64, "memory_budget", memory_budget),
    OPTION_FIELD(DOUBLE, "order_budget", order_budget),
    OPTION_FIELD(BOOLEAN, "words", words),
    FIELD_NAME("unfiltered"),
    FIELD_NAME("word_columns"),
    FIELD_NAME("ordered"),
    FIELD_NAME("unordered"),
    {.name = "noindex", .kind = FIELD_OLD}, /* until 0.3: its name in 0.1 */
    FIELD_END,
};

#undef OPTION_FIELD

/* The lists of columns, in the order of the record. */
struct option_list {
    const char *name;
    size_t paths;
    size_t count;
};

#define OPTION_LIST_OF(name, paths, count)                                     \
    {                                                                          \
        name, offsetof(struct colander_filter_options, paths),                 \
            offsetof(struct colander_filter_options, count)                    \
    }

static const struct option_list filter_option_lists[] = {
    OPTION_LIST_OF("unfiltered", unfiltered, unfiltered_count),
    OPTION_LIST_OF("word_columns", word_columns, word_column_count),
    OPTION_LIST_OF("ordered", ordered, ordered_count),
    OPTION_LIST_OF("unordered", unordered, unordered_count),
};

#undef OPTION_LIST_OF

/* What there is of the order of a column. The labels say why there is none. */
#define ORDER_COUNT(name, member, ...)                                         \
    FIELD(UINT64, name, colander_order_stats, member, __VA_ARGS__)

static const struct field order_stats_fields[] = {
    ORDER_COUNT("ordered", ordered_count),
    ORDER_COUNT("few", few_count, .label = "few values"),
    ORDER_COUNT("over_budget", over_budget_count, .label = "over the budget"),
    ORDER_COUNT("no_budget", no_budget_count, .label = "the budget was 0"),
    ORDER_COUNT("refused", refused_count, .label = "refused by --unordered"),
    ORDER_COUNT("unknown", unknown_count, .label = "old filter or none"),
    ORDER_COUNT("values", value_count),
    ORDER_COUNT("listed", listed_count),
    ORDER_COUNT("groups", group_count),
    ORDER_COUNT("bytes", size),
    FIELD_END,
};

#undef ORDER_COUNT

#define OPTION_LISTS                                                           \
    (sizeof(filter_option_lists) / sizeof(filter_option_lists[0]))

static inline size_t
option_list_count(const struct colander_filter_options *options, size_t list)
{
    size_t count;

    memcpy(&count, (const char *)options + filter_option_lists[list].count,
           sizeof(count));
    return count;
}

/* Returns the paths of a list. */
static inline const char *const *
option_list_paths(const struct colander_filter_options *options, size_t list)
{
    const char *const *paths;

    memcpy(&paths, (const char *)options + filter_option_lists[list].paths,
           sizeof(paths));
    return paths;
}

/* Sets a list; the paths are borrowed. */
static inline void
option_list_set(struct colander_filter_options *options, size_t list,
                const char *const *paths, size_t count)
{
    memcpy((char *)options + filter_option_lists[list].paths, &paths,
           sizeof(paths));
    memcpy((char *)options + filter_option_lists[list].count, &count,
           sizeof(count));
}

#endif
