/* See filter_report.h. SPDX-License-Identifier: MIT */
#include "shell/filter_report.h"
#include "filters/option_fields.h"

#include <inttypes.h>

#define PROBES 100000 /* enough to measure a rate, of */
#define VALUES_MIN 1000
#define VALUES_MAX 10000 /* values in each part */

/* Returns how many values to probe each part for. */
static uint64_t
values_to_probe(uint64_t part_count)
{
    const uint64_t count = part_count == 0 ? 0 : PROBES / part_count;

    if (count > VALUES_MAX)
        return VALUES_MAX;
    return count < VALUES_MIN ? VALUES_MIN : count;
}

enum colander_code
filter_report_read(struct filter_report *filters,
                   struct colander_family *family, struct colander_error *err)
{
    enum colander_code code;

    memset(filters, 0, sizeof(*filters));
    colander_filter_options_init(&filters->options);
    code = colander_family_await_filters(family, err);
    if (code == COLANDER_OK)
        code = colander_family_filter_stats(family, &filters->stats, err);
    if (code == COLANDER_OK)
        code = colander_family_measure_filters(
            family, values_to_probe(filters->stats.part_count),
            &filters->measure, err);
    if (code == COLANDER_OK)
        code = colander_family_get_filters(family, &filters->options, err);
    return code;
}

void
filter_report_release(struct filter_report *filters)
{
    colander_filter_options_release(&filters->options);
}

/* -------------------------------------------------------------- fields --- */

#define STATS(name, member, ...)                                               \
    FIELD(UINT64, name, colander_filter_stats, member, __VA_ARGS__)

/* The labels are those of the lines for the pieces of filters on disk. */
static const struct field family_fields[] = {
    STATS("sst_files", file_count),
    STATS("files", filter_count),
    STATS("loaded_files", loaded_count),
    STATS("parts", part_count),
    STATS("values", value_count),
    STATS("sst_bytes", sst_size),
    STATS("bytes", filter_size),
    STATS("locator_bytes", locator_size, .label = "locator"),
    STATS("words_bytes", words_size, .label = "words"),
    STATS("presence_bytes", presence_size, .label = "presence"),
    STATS("keys_bytes", keys_size, .label = "keys"),
    STATS("order_bytes", order_size, .label = "order"),
    STATS("dictionary_bytes", dictionary_size, .label = "dictionary"),
    STATS("hierarchy_bytes", hierarchy_size),
    STATS("folds", fold_count),
    STATS("recent_rows", recent_count),
    STATS("recent_bytes", recent_size),
    FIELD_END,
};

/* The labels follow the numbers in one line. */
static const struct field store_fields[] = {
    STATS("cache_bytes", cache_size, .label = "bytes of filters in memory"),
    STATS("built", built_count, .label = "built with their file"),
    STATS("rebuilt", rebuilt_count, .label = "rebuilt"),
    STATS("damaged", damaged_count, .label = "found damaged"),
    STATS("errors", error_count, .label = "failed"),
    FIELD_END,
};

/* --------------------------------------------------------------- lines --- */

static void
add_share(struct report *report, uint64_t size, uint64_t whole)
{
    report_add(report, "%s, ", NUMBER_OF(size, "byte"));
    if (whole > 0)
        report_add(report, "%.1f %%", 100.0 * (double)size / (double)whole);
}

static void
add_disk(const struct colander_filter_stats *stats, struct report *report)
{
    report_line(report, "filters", "of %s",
                NUMBER_OF(stats->filter_count, "SST file"));
    if (stats->filter_count < stats->file_count)
        report_add(report, " (%s without)",
                   THOUSANDS(stats->file_count - stats->filter_count));
    if (stats->filter_count == 0)
        return;
    report_add(report, ": ");
    add_share(report, stats->filter_size, stats->sst_size);
    report_add(report, " of the size of the files");
    for (const struct field *part = family_fields; part->name != NULL; part++) {
        if (part->label == NULL || field_number(part, stats) == 0)
            continue;
        report_line(report, part->label, "%s", "");
        add_share(report, field_number(part, stats), stats->sst_size);
    }
}

/* Says that the columns that were listed have no words: maybe a slip. */
static void
add_wordless(const struct colander_filter_options *options,
             const struct colander_filter_stats *stats, struct report *report)
{
    if (options->words && options->word_column_count > 0 &&
        options->rows_per_segment != 0 && stats->filter_count > 0 &&
        stats->dictionary_size == 0)
        report_line(report, "words",
                    "none: no row has a text in the columns that have words");
}

static void
add_memory(const struct colander_filter_stats *stats, struct report *report)
{
    report_line(report, "memory", "%s for the hierarchy of %s",
                NUMBER_OF(stats->hierarchy_size, "byte"),
                NUMBER_OF(stats->part_count, "part"));
    if (stats->fold_count > 0)
        report_add(report, ", folded %s", NUMBER_OF(stats->fold_count, "time"));
    if (stats->recent_count > 0)
        report_add(report, ", %s for %s in no SST file",
                   NUMBER_OF(stats->recent_size, "byte"),
                   NUMBER_OF(stats->recent_count, "row"));
}

/* "0.97 % (97 of 10,000 probes), 1 of 97 after the on-disk filter" */
static void
add_false_positives(const struct colander_filter_measure *measure,
                    struct report *report)
{
    const uint64_t probes = measure->part_count * measure->value_count;

    if (probes == 0)
        return;
    report_line(report, "false positives", "%.3g %% (%s of %s)",
                100.0 * (double)measure->false_positive_count / (double)probes,
                THOUSANDS(measure->false_positive_count),
                NUMBER_OF(probes, "probe"));
    if (measure->disk_probe_count > 0)
        report_add(report, ", %s of %s after the on-disk filter",
                   THOUSANDS(measure->disk_false_positive_count),
                   THOUSANDS(measure->disk_probe_count));
}

static void
report_paths(struct report *report, const char *before,
             const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        report_add(report, "%s", i == 0 ? before : ", ");
        report_add_text(report, colander_slice_text(paths[i]));
    }
}

static void
add_options(const struct colander_filter_options *options,
            struct report *report)
{
    report_line(report, "options", "%s, rows per segment ",
                options->is_on ? "on" : "off");
    if (options->rows_per_segment == COLANDER_SEGMENT_AUTO)
        report_add(report, "auto, ");
    else
        report_add(report, "%" PRIu32 ", ", options->rows_per_segment);
    report_add(report, "%" PRIu32 " hash bits, ", options->hash_bits);
    if (options->filter_bits != 0)
        report_add(report, "%s per file",
                   NUMBER_OF(options->filter_bits, "bit"));
    else if (options->bits_per_value > 0)
        report_add(report, "%g bits per value", options->bits_per_value);
    else
        report_add(report, "false-positive rate %g", options->fp_rate);
    report_add(report, ", %s", hierarchy_names[options->hierarchy]);
    if (options->hierarchy == COLANDER_HIERARCHY_TREE)
        report_add(report, " of order %" PRIu32, options->tree_order);
    report_add(report, " in up to %s",
               NUMBER_OF(options->memory_budget, "byte"));
    report_add(report, ", order budget %g%s", options->order_budget,
               options->words ? "" : ", no words");
    report_paths(report, "; only these have words: ", options->word_columns,
                 options->words ? options->word_column_count : 0);
    report_paths(report, "; always in order: ", options->ordered,
                 options->ordered_count);
    report_paths(report, "; never in order: ", options->unordered,
                 options->unordered_count);
    report_paths(report, "; unfiltered: ", options->unfiltered,
                 options->unfiltered_count);
}

void
filter_report_add(const struct filter_report *filters, struct report *report)
{
    add_disk(&filters->stats, report);
    add_wordless(&filters->options, &filters->stats, report);
    add_memory(&filters->stats, report);
    add_false_positives(&filters->measure, report);
    add_options(&filters->options, report);
}

void
filter_report_add_store(const struct filter_report *filters,
                        struct report *report)
{
    const struct colander_filter_stats *stats = &filters->stats;

    if (stats->cache_size + stats->built_count + stats->rebuilt_count +
            stats->damaged_count + stats->error_count ==
        0)
        return;
    report_line(report, "store", "%s", "");
    for (const struct field *event = store_fields; event->name != NULL; event++)
        report_add_part(report, field_number(event, stats), event->label);
    if (stats->last_error[0] == '\0')
        return;
    report_line(report, "failure", "%s", "");
    report_add_text(report, colander_slice_text(stats->last_error));
}

/* ------------------------------------------------------------- columns --- */

static void
add_count(struct colander_row_builder *builder, const char *name,
          uint64_t count)
{
    colander_row_builder_add(builder, name, colander_unsigned(count));
}

/* Adds a share, or null of nothing. */
static void
add_rate(struct colander_row_builder *builder, const char *name, uint64_t part,
         uint64_t whole)
{
    colander_row_builder_add(
        builder, name,
        whole == 0 ? colander_null()
                   : colander_double((double)part / (double)whole));
}

/* Four names in it depend on its own. */
static void
add_probe_map(const struct colander_filter_measure *measure, const char *name,
              const char *const names[4], struct colander_row_builder *builder)
{
    colander_row_builder_begin_map(builder, name);
    add_count(builder, "values", measure->value_count);
    add_count(builder, "parts", measure->part_count);
    add_count(builder, names[0], measure->false_positive_count);
    add_count(builder, "followed", measure->disk_probe_count);
    add_count(builder, names[1], measure->disk_false_positive_count);
    add_rate(builder, names[2], measure->false_positive_count,
             measure->part_count * measure->value_count);
    add_rate(builder, names[3], measure->disk_false_positive_count,
             measure->disk_probe_count);
    colander_row_builder_end(builder);
}

static void
add_paths(struct colander_row_builder *builder, const char *name,
          const char *const *paths, size_t count)
{
    colander_row_builder_begin_array(builder, name);
    for (size_t i = 0; i < count; i++)
        colander_row_builder_add(builder, NULL, colander_text(paths[i]));
    colander_row_builder_end(builder);
}

static void
add_option_map(const struct colander_filter_options *options,
               struct colander_row_builder *builder)
{
    colander_row_builder_begin_map(builder, "options");
    fields_add_columns(filter_option_fields, options, builder);
    colander_row_builder_add(
        builder, "hierarchy",
        colander_text(hierarchy_names[options->hierarchy]));
    for (size_t i = OPTION_LISTS; i-- > 0;)
        add_paths(builder, filter_option_lists[i].name,
                  option_list_paths(options, i), option_list_count(options, i));
    add_paths(builder, "noindex", options->unfiltered, /* its name in 0.1 */
              options->unfiltered_count);
    colander_row_builder_end(builder);
}

void
filter_report_add_columns(const struct filter_report *filters,
                          struct colander_row_builder *builder)
{
    static const char *const names[] = {"count", "passed", "rate",
                                        "passed_rate"};
    static const char *const old_names[] = {/* of 0.1, for one release */
                                            "wrong", "let_through",
                                            "wrong_rate", "let_through_rate"};
    const struct colander_filter_stats *stats = &filters->stats;

    colander_row_builder_begin_map(builder, "filters");
    fields_add_columns(family_fields, stats, builder);
    colander_row_builder_end(builder);
    add_probe_map(&filters->measure, "false_positives", names, builder);
    add_probe_map(&filters->measure, "maybes", old_names, builder);
    add_option_map(&filters->options, builder);
    colander_row_builder_begin_map(builder, "store");
    fields_add_columns(store_fields, stats, builder);
    if (stats->last_error[0] != '\0')
        colander_row_builder_add(builder, "last_error",
                                 colander_text(stats->last_error));
    colander_row_builder_end(builder);
}
