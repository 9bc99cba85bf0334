/*
 * Filter figures: see filter_figures.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/filter_figures.h"

#include <inttypes.h>

#define ANSWERS 100000 /* enough to tell a rate, */
#define VALUES_MIN 1000
#define VALUES_MAX 10000

/* How many values to ask for, of so many parts each. */
static uint64_t
values_to_ask(uint64_t part_count)
{
    const uint64_t count = part_count == 0 ? 0 : ANSWERS / part_count;

    if (count > VALUES_MAX)
        return VALUES_MAX;
    return count < VALUES_MIN ? VALUES_MIN : count;
}

enum colander_code
filter_figures_read(struct filter_figures *figures,
                    struct colander_family *family, struct colander_error *err)
{
    enum colander_code code;

    memset(figures, 0, sizeof(*figures));
    code = colander_family_await_filters(family, err);
    if (code == COLANDER_OK)
        code = colander_family_filter_stats(family, &figures->stats, err);
    if (code == COLANDER_OK)
        code = colander_family_measure_filters(
            family, values_to_ask(figures->stats.part_count), &figures->measure,
            err);
    if (code == COLANDER_OK)
        code = colander_family_get_filters(family, &figures->options, err);
    return code;
}

void
filter_figures_release(struct filter_figures *figures)
{
    colander_filter_options_release(&figures->options);
}

/* ------------------------------------------------------------- options --- */

static const char *
hierarchy_name(const struct colander_filter_options *options)
{
    return options->hierarchy == COLANDER_HIERARCHY_TREE ? "tree" : "slices";
}

static void
add_presence(const struct colander_filter_options *options,
             struct report *report)
{
    if (options->filter_bits != 0) {
        report_add_number(report, options->filter_bits, "bit");
        report_add(report, " for a file");
    } else if (options->bits_per_value > 0) {
        report_add(report, "%g bits for a value", options->bits_per_value);
    } else {
        report_add(report, "%g wrong maybes", options->fp_rate);
    }
}

static void
add_options(const struct colander_filter_options *options,
            struct report *report)
{
    report_line(report, "options");
    report_add(report, options->is_on ? "on, " : "off, ");
    if (options->rows_per_segment == COLANDER_SEGMENT_AUTO)
        report_add(report, "rows per segment auto, ");
    else
        report_add(report, "rows per segment %" PRIu32 ", ",
                   options->rows_per_segment);
    report_add(report, "%" PRIu32 " hash bits, ", options->hash_bits);
    add_presence(options, report);
    report_add(report, ", %s", hierarchy_name(options));
    if (options->hierarchy == COLANDER_HIERARCHY_TREE)
        report_add(report, " of order %" PRIu32, options->tree_order);
    report_add(report, " in up to ");
    report_add_number(report, options->memory_budget, "byte");
    for (size_t i = 0; i < options->left_out_count; i++) {
        report_add(report, i == 0 ? "; not indexed: " : ", ");
        report_add_text(report, colander_slice_text(options->left_out[i]));
    }
}

/* --------------------------------------------------------------- lines --- */

static void
add_percent(struct report *report, uint64_t part, uint64_t whole)
{
    if (whole > 0)
        report_add(report, "%.1f %%", 100.0 * (double)part / (double)whole);
}

static void
add_kind(struct report *report, const char *kind, uint64_t size,
         uint64_t sst_size)
{
    if (size == 0)
        return;
    report_line(report, kind);
    report_add_number(report, size, "byte");
    report_add(report, ", ");
    add_percent(report, size, sst_size);
}

static void
add_disk(const struct colander_filter_stats *stats, struct report *report)
{
    report_line(report, "filters");
    report_add(report, "of ");
    report_add_number(report, stats->filter_count, "SST file");
    if (stats->filter_count < stats->file_count) {
        report_add(report, " (");
        report_add_count(report, stats->file_count - stats->filter_count);
        report_add(report, " without)");
    }
    if (stats->filter_count == 0)
        return;
    report_add(report, ": ");
    report_add_number(report, stats->filter_size, "byte");
    report_add(report, ", ");
    add_percent(report, stats->filter_size, stats->sst_size);
    report_add(report, " of what the files take");
    add_kind(report, "locator", stats->locator_size, stats->sst_size);
    add_kind(report, "presence", stats->presence_size, stats->sst_size);
    add_kind(report, "keys", stats->keys_size, stats->sst_size);
    add_kind(report, "zones", stats->zones_size, stats->sst_size);
}

static void
add_memory(const struct colander_filter_stats *stats, struct report *report)
{
    report_line(report, "memory");
    report_add_number(report, stats->hierarchy_size, "byte");
    report_add(report, " for the hierarchy of ");
    report_add_number(report, stats->part_count, "part");
    if (stats->fold_count > 0) {
        report_add(report, ", folded ");
        report_add_number(report, stats->fold_count, "time");
    }
    if (stats->recent_count > 0) {
        report_add(report, ", ");
        report_add_number(report, stats->recent_size, "byte");
        report_add(report, " for ");
        report_add_number(report, stats->recent_count, "row");
        report_add(report, " in no SST file");
    }
}

/* "0.97 % wrong: 97 of 10,000; filters on disk let 1 of 97 through" */
static void
add_maybes(const struct colander_filter_measure *measure, struct report *report)
{
    const uint64_t answers = measure->part_count * measure->value_count;

    if (answers == 0)
        return;
    report_line(report, "maybes");
    report_add(report, "%.3g %% wrong: ",
               100.0 * (double)measure->maybe_count / (double)answers);
    report_add_count(report, measure->maybe_count);
    report_add(report, " of ");
    report_add_count(report, answers);
    if (measure->located_count == 0)
        return;
    report_add(report, "; filters on disk let ");
    report_add_count(report, measure->wrong_count);
    report_add(report, " of ");
    report_add_count(report, measure->located_count);
    report_add(report, " through");
}

void
filter_figures_add(const struct filter_figures *figures, struct report *report)
{
    add_disk(&figures->stats, report);
    add_memory(&figures->stats, report);
    add_maybes(&figures->measure, report);
    add_options(&figures->options, report);
}

void
filter_figures_add_store(const struct filter_figures *figures,
                         struct report *report)
{
    const struct colander_filter_stats *stats = &figures->stats;

    if (stats->cache_size + stats->built_count + stats->rebuilt_count +
            stats->damaged_count + stats->error_count ==
        0)
        return;
    report_line(report, "store");
    report_add_part(report, stats->cache_size, "bytes of filters in memory");
    report_add_part(report, stats->built_count, "made with their file");
    report_add_part(report, stats->rebuilt_count, "made later");
    report_add_part(report, stats->damaged_count, "found damaged");
    report_add_part(report, stats->error_count,
                    stats->error_count == 1 ? "failure" : "failures");
    if (stats->last_error[0] == '\0')
        return;
    report_line(report, "failure");
    report_add_text(report, colander_slice_text(stats->last_error));
}

/* ------------------------------------------------------------- columns --- */

/* A number of a map: its name, and how many. */
struct figure {
    const char *name;
    uint64_t count;
};

static void
add_figures(struct colander_row_builder *builder, const struct figure *figures,
            size_t count)
{
    for (size_t i = 0; i < count; i++)
        colander_row_builder_add(builder, figures[i].name,
                                 colander_unsigned(figures[i].count));
}

static void
add_filter_map(const struct colander_filter_stats *stats,
               struct colander_row_builder *builder)
{
    const struct figure figures[] = {
        {"sst_files", stats->file_count},
        {"files", stats->filter_count},
        {"loaded_files", stats->loaded_count},
        {"parts", stats->part_count},
        {"values", stats->value_count},
        {"sst_bytes", stats->sst_size},
        {"bytes", stats->filter_size},
        {"locator_bytes", stats->locator_size},
        {"presence_bytes", stats->presence_size},
        {"keys_bytes", stats->keys_size},
        {"zones_bytes", stats->zones_size},
        {"hierarchy_bytes", stats->hierarchy_size},
        {"folds", stats->fold_count},
        {"recent_rows", stats->recent_count},
        {"recent_bytes", stats->recent_size},
    };

    colander_row_builder_begin_map(builder, "filters");
    add_figures(builder, figures, sizeof(figures) / sizeof(figures[0]));
    colander_row_builder_end(builder);
}

/* A share, or null of nothing. */
static struct colander_value
share_of(uint64_t part, uint64_t whole)
{
    return whole == 0 ? colander_null()
                      : colander_double((double)part / (double)whole);
}

static void
add_maybe_map(const struct colander_filter_measure *measure,
              struct colander_row_builder *builder)
{
    const struct figure figures[] = {
        {"values", measure->value_count},
        {"parts", measure->part_count},
        {"wrong", measure->maybe_count},
        {"followed", measure->located_count},
        {"let_through", measure->wrong_count},
    };

    colander_row_builder_begin_map(builder, "maybes");
    add_figures(builder, figures, sizeof(figures) / sizeof(figures[0]));
    colander_row_builder_add(
        builder, "wrong_rate",
        share_of(measure->maybe_count,
                 measure->part_count * measure->value_count));
    colander_row_builder_add(
        builder, "let_through_rate",
        share_of(measure->wrong_count, measure->located_count));
    colander_row_builder_end(builder);
}

static void
add_store_map(const struct colander_filter_stats *stats,
              struct colander_row_builder *builder)
{
    const struct figure figures[] = {
        {"cache_bytes", stats->cache_size}, {"built", stats->built_count},
        {"rebuilt", stats->rebuilt_count},  {"damaged", stats->damaged_count},
        {"errors", stats->error_count},
    };

    colander_row_builder_begin_map(builder, "store");
    add_figures(builder, figures, sizeof(figures) / sizeof(figures[0]));
    if (stats->last_error[0] != '\0')
        colander_row_builder_add(builder, "last_error",
                                 colander_text(stats->last_error));
    colander_row_builder_end(builder);
}

static void
add_option_map(const struct colander_filter_options *options,
               struct colander_row_builder *builder)
{
    colander_row_builder_begin_map(builder, "options");
    colander_row_builder_add(builder, "on", colander_boolean(options->is_on));
    colander_row_builder_add(builder, "rows_per_segment",
                             options->rows_per_segment == COLANDER_SEGMENT_AUTO
                                 ? colander_text("auto")
                                 : colander_integer(options->rows_per_segment));
    colander_row_builder_add(builder, "hash_bits",
                             colander_integer(options->hash_bits));
    colander_row_builder_add(builder, "fp_rate",
                             colander_double(options->fp_rate));
    colander_row_builder_add(builder, "bits_per_value",
                             colander_double(options->bits_per_value));
    colander_row_builder_add(builder, "filter_bits",
                             colander_unsigned(options->filter_bits));
    colander_row_builder_add(builder, "hierarchy",
                             colander_text(hierarchy_name(options)));
    colander_row_builder_add(builder, "tree_order",
                             colander_integer(options->tree_order));
    colander_row_builder_add(builder, "memory_budget",
                             colander_unsigned(options->memory_budget));
    colander_row_builder_begin_array(builder, "noindex");
    for (size_t i = 0; i < options->left_out_count; i++)
        colander_row_builder_add(builder, NULL,
                                 colander_text(options->left_out[i]));
    colander_row_builder_end(builder);
    colander_row_builder_end(builder);
}

void
filter_figures_add_columns(const struct filter_figures *figures,
                           struct colander_row_builder *builder)
{
    add_filter_map(&figures->stats, builder);
    add_maybe_map(&figures->measure, builder);
    add_option_map(&figures->options, builder);
    add_store_map(&figures->stats, builder);
}
