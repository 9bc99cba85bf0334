/* See column_stats.h. SPDX-License-Identifier: MIT */
#include "shell/column_stats.h"
#include "core/array.h"
#include "core/hash_index.h"
#include "shell/interrupt.h"
#include "shell/order_report.h"
#include "shell/text.h"

#include <stdlib.h>

#define PATH_SIZE 64              /* bytes, to begin with */
#define SAMPLE_RUNS 250           /* of neighbours in a sample, at most, */
#define RUN_ROWS 20               /* each with as many rows at least */
#define SAMPLE_SIZE (64u << 20)   /* bytes of a sample, about, at most */
#define VALUE_SIZE_MAX 200        /* bytes that are kept of a text */
#define LINES_MAX 20              /* columns printed as lines */
#define PATH_WIDTH_MAX 32         /* cells of the path in a line */
#define COLUMNS_MAX 1000          /* columns in a row, which bounds its size */
#define PATHS_SIZE_MAX (1u << 20) /* bytes of their paths */

struct counted {
    struct column_stat column;
    uint64_t last_row; /* that had it, from 1 */
};

struct column_stats {
    struct counted *items;
    size_t count;
    size_t capacity;
    struct hash_index index;     /* of the items, by path */
    struct colander_buffer path; /* of the current value; never NULL */
    uint64_t row_count;
    bool is_all; /* these are all rows of the family */
    bool is_cut; /* there are more columns than are counted */
};

struct column_stats *
column_stats_create(void)
{
    struct column_stats *stats = calloc(1, sizeof(*stats));

    /* the path of the column "" has no bytes, but must not be NULL */
    if (stats != NULL &&
        colander_buffer_reserve(&stats->path, PATH_SIZE, NULL) != COLANDER_OK) {
        free(stats);
        return NULL;
    }
    return stats;
}

static void
value_release(struct colander_value *value)
{
    if (colander_type_has_bytes(value->type))
        free((void *)value->bytes.data);
    *value = colander_null();
}

void
column_stats_destroy(struct column_stats *stats)
{
    if (stats == NULL)
        return;
    for (size_t i = 0; i < stats->count; i++) {
        struct column_stat *column = &stats->items[i].column;

        free((char *)column->path);
        value_release(&column->first);
        value_release(&column->smallest);
        value_release(&column->largest);
    }
    hash_index_release(&stats->index);
    colander_buffer_release(&stats->path);
    free(stats->items);
    free(stats);
}

uint64_t
column_stats_row_count(const struct column_stats *stats)
{
    return stats->row_count;
}

bool
column_stats_is_all(const struct column_stats *stats)
{
    return stats->is_all;
}

size_t
column_stats_count(const struct column_stats *stats)
{
    return stats->count;
}

const struct column_stat *
column_stats_get(const struct column_stats *stats, size_t index)
{
    return &stats->items[index].column;
}

/* ------------------------------------------------------------ counting --- */

static enum colander_code
add_column(struct column_stats *stats, uint32_t hash,
           struct colander_error *err)
{
    struct counted *item;
    enum colander_code code;

    if (stats->count == COLUMN_STATS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "there are more than %d columns",
                             COLUMN_STATS_MAX);
    code = array_reserve(&stats->items, stats->count, &stats->capacity, 1, err);
    if (code == COLANDER_OK)
        code = hash_index_reserve(&stats->index, err);
    if (code != COLANDER_OK)
        return code;
    item = &stats->items[stats->count];
    memset(item, 0, sizeof(*item));
    item->column.first = colander_null();
    item->column.smallest = item->column.largest = colander_null();
    item->column.path = text_copy(colander_buffer_slice(&stats->path));
    if (item->column.path == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    hash_index_add(&stats->index, hash, (uint32_t)stats->count++);
    return COLANDER_OK;
}

/* Sets *item to the column at the current path, added if it is new. */
static enum colander_code
find_column(struct column_stats *stats, struct counted **item,
            struct colander_error *err)
{
    const struct colander_slice path = colander_buffer_slice(&stats->path);
    const struct colander_value value = colander_string(path);
    const uint32_t hash = (uint32_t)colander_value_hash(&value);
    size_t at = HASH_INDEX_START;
    uint32_t i;
    enum colander_code code;

    while ((i = hash_index_next(&stats->index, hash, &at)) != HASH_INDEX_NONE) {
        *item = &stats->items[i];
        if (colander_slice_equal(colander_slice_text((*item)->column.path),
                                 path))
            return COLANDER_OK;
    }
    code = add_column(stats, hash, err);
    *item = &stats->items[stats->count - 1];
    return code;
}

/* Replaces `to` by a copy of `from`, cut if it is long. */
static enum colander_code
value_copy(struct colander_value *to, const struct colander_value *from,
           struct colander_error *err)
{
    struct colander_value copy = *from;

    if (colander_type_has_bytes(from->type)) {
        if (copy.bytes.size > VALUE_SIZE_MAX)
            copy.bytes.size = VALUE_SIZE_MAX;
        while (from->type == COLANDER_STRING && copy.bytes.size > 0 &&
               copy.bytes.size < from->bytes.size &&
               (from->bytes.data[copy.bytes.size] & 0xC0) == 0x80)
            copy.bytes.size--; /* not within a character */
        copy.bytes.data = malloc(copy.bytes.size + 1);
        if (copy.bytes.data == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for columns");
        memcpy((void *)copy.bytes.data, from->bytes.data, copy.bytes.size);
    }
    value_release(to);
    *to = copy;
    return COLANDER_OK;
}

/* Keeps the value if it is the first, the smallest or the largest. */
static enum colander_code
keep_value(struct column_stat *column, const struct colander_value *value,
           struct colander_error *err)
{
    const bool is_first = column->first.type == COLANDER_NULL;
    enum colander_code code = COLANDER_OK;

    if (value->type == COLANDER_NULL || value->type >= COLANDER_ARRAY)
        return COLANDER_OK;
    if (is_first)
        code = value_copy(&column->first, value, err);
    if (code == COLANDER_OK &&
        (is_first || colander_value_compare(value, &column->smallest) < 0))
        code = value_copy(&column->smallest, value, err);
    if (code == COLANDER_OK &&
        (is_first || colander_value_compare(value, &column->largest) > 0))
        code = value_copy(&column->largest, value, err);
    return code;
}

static enum colander_code
count_value(struct column_stats *stats, const struct colander_value *value,
            struct colander_error *err)
{
    struct counted *item;
    enum colander_code code = find_column(stats, &item, err);

    if (code != COLANDER_OK)
        return code;
    item->column.type_counts[value->type]++;
    item->column.row_count += item->last_row != stats->row_count;
    item->last_row = stats->row_count;
    return keep_value(&item->column, value, err);
}

/* Appends the step from a container to its member to the path. The container at
 * `depth` 0 is the row. */
static enum colander_code
append_step(struct column_stats *stats, bool is_map, unsigned depth,
            struct colander_slice name, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (!is_map)
        return colander_buffer_append(&stats->path, "[]", 2, err);
    if (depth > 0)
        code = colander_buffer_append(&stats->path, ".", 1, err);
    if (code == COLANDER_OK)
        code = colander_path_append_name(&stats->path, name, err);
    return code;
}

/* Counts all values in the container, at any depth: that of rows is bounded. */
static enum colander_code
count_members(struct column_stats *stats, struct colander_slice container,
              unsigned depth, struct colander_error *err)
{
    const size_t size = stats->path.size;
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;
    bool is_member = true;
    enum colander_code code = colander_members_init(&members, container, err);

    while (code == COLANDER_OK) {
        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code != COLANDER_OK || !is_member)
            break;
        code = append_step(stats, members.is_map, depth, name, err);
        if (code == COLANDER_OK)
            code = count_value(stats, &value, err);
        if (code == COLANDER_OK &&
            (value.type == COLANDER_MAP || value.type == COLANDER_ARRAY))
            code = count_members(stats, value.bytes, depth + 1, err);
        stats->path.size = size;
    }
    return code;
}

/* ------------------------------------------------------------- reading --- */

/* A run of rows. */
struct rows_run {
    struct colander_slice from;  /* its first key; empty: that of the family */
    struct colander_slice until; /* the first key after it; empty: no bound */
    uint64_t row_limit;
    uint64_t byte_limit; /* the row that exceeds it is the last */
    bool is_whole;       /* it was read to its end */
};

/* Counts the rows of the cursor. Reads one row more, to learn whether these
 * were all. */
static enum colander_code
count_rows(struct column_stats *stats, struct colander_cursor *cursor,
           struct rows_run *run, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint64_t size = 0;

    for (uint64_t count = 0; code == COLANDER_OK; count++) {
        struct colander_result result;
        bool is_row;

        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code != COLANDER_OK)
            break;
        run->is_whole =
            !is_row || (run->until.size > 0 &&
                        colander_slice_compare(result.key, run->until) >= 0);
        if (run->is_whole || count == run->row_limit || size > run->byte_limit)
            break;
        size += result.row.size;
        stats->row_count++;
        stats->path.size = 0;
        code = count_members(stats, result.row, 0, err);
    }
    return code;
}

static enum colander_code
read_run(struct column_stats *stats, struct colander_family *family,
         const struct colander_query *query, struct rows_run *run,
         struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    enum colander_code code;

    code = colander_family_find(family, query, &cursor, err);
    if (code != COLANDER_OK)
        return code;
    interrupt_watch(cursor);
    code = count_rows(stats, cursor, run, err);
    interrupt_watch(NULL);
    colander_cursor_close(cursor);
    return code;
}

enum colander_code
column_stats_read_rows(struct column_stats *stats,
                       struct colander_family *family,
                       const struct colander_query *query,
                       struct colander_error *err)
{
    struct rows_run run = {.row_limit = UINT64_MAX, .byte_limit = SAMPLE_SIZE};

    return read_run(stats, family, query, &run, err);
}

static int
compare_columns(const void *a, const void *b)
{
    const struct counted *first = a;
    const struct counted *second = b;

    if (first->column.row_count != second->column.row_count)
        return first->column.row_count < second->column.row_count ? 1 : -1;
    return first->last_row < second->last_row ? -1 : 1;
}

/* Orders columns of as many rows as they were first seen: stable. */
static enum colander_code
sort_columns(struct column_stats *stats, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < stats->count; i++)
        stats->items[i].last_row = i;
    if (stats->count > 0)
        qsort(stats->items, stats->count, sizeof(*stats->items),
              compare_columns);
    hash_index_clear(&stats->index);
    for (size_t i = 0; i < stats->count && code == COLANDER_OK; i++) {
        const struct colander_value path =
            colander_text(stats->items[i].column.path);

        stats->items[i].last_row = 0;
        code = hash_index_reserve(&stats->index, err);
        if (code == COLANDER_OK)
            hash_index_add(&stats->index, (uint32_t)colander_value_hash(&path),
                           (uint32_t)i);
    }
    return code;
}

/* Reads the run after the first `index` of `count` split keys, of a sample of
 * `wanted` rows. */
static enum colander_code
read_part(struct column_stats *stats, struct colander_family *family,
          const struct colander_buffer *keys, size_t count, size_t index,
          uint64_t wanted, struct colander_error *err)
{
    /* later runs may have the rows that a short run lacks */
    struct rows_run run = {.row_limit = (wanted - stats->row_count) /
                                        (count + 1 - index),
                           .byte_limit = SAMPLE_SIZE / (count + 1)};
    struct colander_query query;
    enum colander_code code;

    if (wanted == UINT64_MAX)
        run.byte_limit = UINT64_MAX;
    if (index > 0)
        run.from = colander_buffer_slice(&keys[index - 1]);
    if (index < count)
        run.until = colander_buffer_slice(&keys[index]);
    colander_query_init(&query);
    query.keys.from = run.from;
    if (run.row_limit < UINT64_MAX)
        query.limit = run.row_limit + 1;
    code = read_run(stats, family, &query, &run, err);
    stats->is_all = stats->is_all && run.is_whole;
    return code;
}

enum colander_code
column_stats_read_sample(struct column_stats *stats,
                         struct colander_family *family, uint64_t row_count,
                         struct colander_error *err)
{
    const uint64_t wanted =
        row_count > stats->row_count ? row_count - stats->row_count : 0;
    const size_t runs =
        wanted / RUN_ROWS < SAMPLE_RUNS ? wanted / RUN_ROWS : SAMPLE_RUNS;
    struct colander_buffer keys[SAMPLE_RUNS];
    struct colander_family_sizes sizes;
    enum colander_code code = colander_family_sizes(family, &sizes, err);
    enum colander_code sorted;
    size_t count = 0;

    memset(keys, 0, sizeof(keys));
    stats->is_all = stats->is_all || stats->row_count == 0;
    if (code == COLANDER_OK && runs > 1 && sizes.key_count > wanted)
        code = colander_family_split_keys(family, keys, runs - 1, &count, err);
    for (size_t i = 0; i <= count && code == COLANDER_OK; i++)
        code = read_part(stats, family, keys, count, i, row_count, err);
    for (size_t i = 0; i < SAMPLE_RUNS; i++)
        colander_buffer_release(&keys[i]);
    stats->is_cut = code == COLANDER_LIMIT;
    if (stats->is_cut)
        code = COLANDER_OK;
    stats->is_all = stats->is_all && code == COLANDER_OK && !stats->is_cut;
    sorted = sort_columns(stats, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? sorted : code;
}

const struct column_stat *
column_stats_find(const struct column_stats *stats, const char *path)
{
    for (size_t i = 0; i < stats->count; i++) {
        if (strcmp(stats->items[i].column.path, path) == 0)
            return &stats->items[i].column;
    }
    return NULL;
}

/* ----------------------------------------------------------- as a text --- */

/* Replaces `shown` by the path, printable: what is escaped is wider. */
static struct colander_slice
show_path(struct colander_buffer *shown, const char *path,
          struct report *report)
{
    colander_buffer_clear(shown);
    if (report->code == COLANDER_OK)
        report->code = text_append_printable(shown, colander_slice_text(path),
                                             &report->err);
    return colander_buffer_slice(shown);
}

/* Adds the text, cut or filled to `width` cells. */
static void
add_path(struct colander_slice text, size_t width, struct report *report)
{
    const bool is_cut = text_width(text) > width;

    if (is_cut)
        text.size = text_fit(text, width - 1);
    report_add_text(report, text);
    report_add(report, "%s%*s", is_cut ? TEXT_ELLIPSIS : "",
               (int)(width - text_width(text) - is_cut), "");
}

/* Adds the share of rows that have the column, and the types of its values. */
static void
add_column_line(const struct column_stats *stats,
                const struct column_stat *column, struct report *report)
{
    const double percent =
        100.0 * (double)column->row_count / (double)stats->row_count;
    const char *before = "  ";

    if (percent < 0.1)
        report_add(report, "  < 0.1 %%");
    else
        report_add(report, "  %5.1f %%", percent);
    for (int type = 0; type < COLUMN_TYPES; type++) {
        if (column->type_counts[type] == 0)
            continue;
        report_add(report, "%s%s", before,
                   colander_type_name((enum colander_type)type));
        before = ", ";
    }
}

static void
add_order(struct colander_family *family, const char *path,
          struct report *report)
{
    const size_t size = report->text.size;

    report_add(report, "; ");
    order_report_add(&family, 1, path, report);
    if (report->text.size == size + 2)
        report->text.size = size;
}

void
column_stats_add(const struct column_stats *stats, uint64_t key_count,
                 struct colander_family *orders, struct report *report)
{
    const size_t shown = stats->count < LINES_MAX ? stats->count : LINES_MAX;
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    size_t width = 0;

    report_line(report, "columns", "%s%s in %s %s",
                stats->is_cut ? "more than " : "", THOUSANDS(stats->count),
                stats->is_all ? "all" : "a sample of",
                NUMBER_OF(stats->row_count, "row"));
    if (!stats->is_all && key_count > 0)
        report_add(report, " of about %s", THOUSANDS(key_count));
    for (size_t i = 0; i < shown; i++) {
        const size_t own =
            text_width(show_path(&path, stats->items[i].column.path, report));

        width = own > width ? own : width;
    }
    width = width < PATH_WIDTH_MAX ? width : PATH_WIDTH_MAX;
    for (size_t i = 0; i < shown; i++) {
        const struct column_stat *column = &stats->items[i].column;

        report_line(report, "", "%s", "");
        add_path(show_path(&path, column->path, report), width, report);
        add_column_line(stats, column, report);
        if (orders != NULL)
            add_order(orders, column->path, report);
    }
    if (shown < stats->count)
        report_line(report, "", "and %s more", THOUSANDS(stats->count - shown));
    colander_buffer_release(&path);
}

/* ------------------------------------------------------------ as a row --- */

void
column_stat_add_columns(const struct column_stat *column,
                        struct colander_row_builder *builder)
{
    colander_row_builder_add(builder, "column", colander_text(column->path));
    colander_row_builder_add(builder, "rows",
                             colander_unsigned(column->row_count));
    colander_row_builder_begin_map(builder, "types");
    for (int type = 0; type < COLUMN_TYPES; type++) {
        if (column->type_counts[type] > 0)
            colander_row_builder_add(
                builder, colander_type_name((enum colander_type)type),
                colander_unsigned(column->type_counts[type]));
    }
    colander_row_builder_end(builder);
}

void
column_stat_add_values(const struct column_stat *column,
                       struct colander_row_builder *builder)
{
    if (column->first.type == COLANDER_NULL)
        return;
    colander_row_builder_add(builder, "example", column->first);
    colander_row_builder_add(builder, "smallest", column->smallest);
    colander_row_builder_add(builder, "largest", column->largest);
}

/* Returns how many columns a row has room for. */
static size_t
count_fitting(const struct column_stats *stats)
{
    size_t size = 0;
    size_t count = 0;

    while (count < stats->count && count < COLUMNS_MAX) {
        size += strlen(stats->items[count].column.path);
        if (size > PATHS_SIZE_MAX)
            break;
        count++;
    }
    return count;
}

enum colander_code
column_stats_add_columns(const struct column_stats *stats,
                         struct colander_family *orders,
                         struct colander_row_builder *builder,
                         struct colander_error *err)
{
    const size_t count = count_fitting(stats);
    enum colander_code code = COLANDER_OK;

    colander_row_builder_add(builder, "sampled_rows",
                             colander_unsigned(stats->row_count));
    colander_row_builder_add(builder, "sampled_all",
                             colander_boolean(stats->is_all));
    colander_row_builder_add(builder, "column_count",
                             colander_unsigned(stats->count));
    colander_row_builder_add(
        builder, "columns_cut",
        colander_boolean(count < stats->count || stats->is_cut));
    colander_row_builder_begin_array(builder, "columns");
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        const struct column_stat *column = &stats->items[i].column;

        colander_row_builder_begin_map(builder, NULL);
        column_stat_add_columns(column, builder);
        colander_row_builder_add(builder, "share",
                                 colander_double((double)column->row_count /
                                                 (double)stats->row_count));
        if (orders != NULL)
            code = order_report_add_columns(orders, column->path, builder, err);
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
    return code;
}
