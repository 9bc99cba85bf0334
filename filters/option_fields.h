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
    {.name = "noindex", .kind = FIELD_OLD}, /* until 0.3: its name in 0.1 */
    FIELD_END,
};

#undef OPTION_FIELD

#endif
