/* See hint.h. SPDX-License-Identifier: MIT */
#include "shell/hint.h"
#include "shell/column_stats.h"
#include "shell/nearest.h"
#include "shell/text.h"

#include <ctype.h>
#include <stdlib.h>

#define SAMPLE_ROWS 1000
#define FOUND_ROWS 20    /* that are read of a column that the sample lacks */
#define SCAN_ROWS 100000 /* that may be read for it without filters */
#define PATHS_MAX 100    /* columns that are looked at */
#define VALUE_WIDTH 40   /* cells of a value that are shown */

/* A type as a kind of values: those of one kind are compared. */
static const struct kind {
    const char *one;
    const char *many;
} kinds[] = {
    [COLANDER_NULL] = {"null", "nulls"},
    [COLANDER_BOOLEAN] = {"a boolean", "booleans"},
    [COLANDER_INTEGER] = {"a number", "numbers"},
    [COLANDER_STRING] = {"a text", "texts"},
    [COLANDER_BINARY] = {"a binary", "binaries"},
    [COLANDER_TIMESTAMP] = {"a time", "times"},
    [COLANDER_EXTENSION] = {"an extension", "extensions"},
    [COLANDER_ARRAY] = {"an array", "arrays"},
    [COLANDER_MAP] = {"a map", "maps"},
};

static enum colander_type
kind_of(enum colander_type type)
{
    return colander_type_is_number(type) ? COLANDER_INTEGER : type;
}

static bool
has_kind(const struct column_stat *column, enum colander_type kind)
{
    for (int type = 0; type < COLUMN_TYPES; type++) {
        if (column->type_counts[type] > 0 &&
            kind_of((enum colander_type)type) == kind)
            return true;
    }
    return false;
}

static bool
has_scalars(const struct column_stat *column)
{
    return column->first.type != COLANDER_NULL ||
           column->type_counts[COLANDER_NULL] > 0;
}

/* Adds "texts and numbers". */
static void
add_kinds(const struct column_stat *column, struct report *report)
{
    bool is_said[COLUMN_TYPES] = {false};
    const char *before = "";

    for (int type = 0; type < COLUMN_TYPES; type++) {
        const enum colander_type kind = kind_of((enum colander_type)type);

        if (column->type_counts[type] == 0 || is_said[kind])
            continue;
        is_said[kind] = true;
        report_add(report, "%s%s", before, kinds[kind].many);
        before = " and ";
    }
}

/* Adds a quoted path. */
static void
add_path(const char *path, struct report *report)
{
    report_add(report, "'");
    report_add_text(report, colander_slice_text(path));
    report_add(report, "'");
}

/* ------------------------------------------------------------- unknown --- */

/* Whether the paths differ only in [] and in case. */
static bool
is_alike(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (a[0] == '[' && a[1] == ']')
            a += 2;
        while (b[0] == '[' && b[1] == ']')
            b += 2;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

/* Whether the path ends with the names of `end`. */
static bool
ends_with(const char *path, const char *end)
{
    const size_t size = strlen(path);
    const size_t end_size = strlen(end);

    return size > end_size + 1 && path[size - end_size - 1] == '.' &&
           strcmp(path + size - end_size, end) == 0;
}

/* Returns a column that may have been meant by `path`, or NULL. */
static const char *
find_meant(const struct column_stats *stats, const char *path)
{
    const size_t count = column_stats_count(stats);
    struct nearest nearest = {.wanted = path};

    for (size_t i = 0; i < count; i++) {
        if (is_alike(column_stats_get(stats, i)->path, path))
            return column_stats_get(stats, i)->path;
    }
    for (size_t i = 0; i < count; i++) {
        if (ends_with(column_stats_get(stats, i)->path, path))
            return column_stats_get(stats, i)->path;
    }
    for (size_t i = 0; i < count; i++)
        nearest_offer(&nearest, column_stats_get(stats, i)->path);
    return nearest.name;
}

/* Adds the rows with something at `path` to the statistics. Returns whether
 * there can be no others: filters rule them out, or all rows were read. */
static bool
read_exact(struct column_stats *stats, struct colander_family *family,
           const char *path)
{
    struct colander_predicate *exists = colander_where_exists(path, NULL);
    struct colander_family_sizes sizes;
    struct colander_explain explain;
    struct colander_cursor *cursor = NULL;
    struct colander_query query;
    bool is_exact = false;

    colander_query_init(&query);
    query.where = exists;
    query.limit = FOUND_ROWS;
    if (exists != NULL &&
        colander_family_sizes(family, &sizes, NULL) == COLANDER_OK &&
        colander_family_find(family, &query, &cursor, NULL) == COLANDER_OK) {
        colander_cursor_explain(cursor, &explain);
        is_exact =
            explain.plan != COLANDER_PLAN_SCAN || sizes.key_count <= SCAN_ROWS;
    }
    colander_cursor_close(cursor);
    if (is_exact)
        is_exact =
            column_stats_read_rows(stats, family, &query, NULL) == COLANDER_OK;
    colander_predicate_destroy(exists);
    return is_exact;
}

static void
add_unknown(const struct column_stats *stats, const char *path, bool is_exact,
            struct report *report)
{
    const char *meant = find_meant(stats, path);

    if (is_exact)
        report_add(report, "no row has ");
    else
        report_add(report, "none of %s rows has ",
                   THOUSANDS(column_stats_row_count(stats)));
    add_path(path, report);
    if (meant == NULL)
        return;
    report_add(report, ": did you mean ");
    add_path(meant, report);
    report_add(report, "?");
}

/* --------------------------------------------------------------- types --- */

/* Returns the column within the container `column` that most rows have and that
 * has values of the kind (NULL: any scalars), or NULL. */
static const char *
find_within(const struct column_stats *stats, const struct column_stat *column,
            const struct colander_value *value)
{
    const size_t size = strlen(column->path);

    for (size_t i = 0; i < column_stats_count(stats); i++) {
        const struct column_stat *other = column_stats_get(stats, i);

        if (strncmp(other->path, column->path, size) == 0 &&
            (other->path[size] == '.' || other->path[size] == '[') &&
            (value == NULL ? has_scalars(other)
                           : has_kind(other, kind_of(value->type))))
            return other->path;
    }
    return NULL;
}

/* Adds "x holds arrays: x[].text?", or "x holds times, 5 is a number". */
static void
add_mismatch(const struct column_stats *stats, const struct column_stat *column,
             const struct colander_value *value, struct report *report)
{
    const bool is_container =
        has_kind(column, COLANDER_ARRAY) || has_kind(column, COLANDER_MAP);
    const char *within =
        is_container ? find_within(stats, column, value) : NULL;
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    report_add_text(report, colander_slice_text(column->path));
    report_add(report, " holds ");
    add_kinds(column, report);
    if (within != NULL) {
        report_add(report, ": ");
        report_add_text(report, colander_slice_text(within));
        report_add(report, "?");
    } else if (value != NULL && text_append_value(&text, value, VALUE_WIDTH,
                                                  NULL) == COLANDER_OK) {
        report_add(report, ", ");
        report_add_text(report, colander_buffer_slice(&text));
        report_add(report, " is %s", kinds[kind_of(value->type)].one);
    }
    colander_buffer_release(&text);
}

/* Whether a condition on the column compares with values that it may have. A
 * time that was written is compared as a text and as a time. */
static bool
is_comparable(const struct hint_question *question,
              const struct column_stat *column)
{
    struct colander_condition condition;

    for (size_t i = 0;
         colander_predicate_condition(question->where, i, &condition); i++) {
        if (strcmp(condition.path, column->path) != 0)
            continue;
        for (size_t j = 0; j < condition.value_count; j++) {
            if (has_kind(column, kind_of(condition.values[j].type)))
                return true;
        }
        if (condition.value_count == 0)
            return true;
    }
    return false;
}

/* --------------------------------------------------------------- words --- */

/* Returns the second condition that the text seems to have in it: "pl
 * likes>5", "pl and likes>5". NULL: none. */
static const char *
second_condition(const struct column_stats *stats, const char *text)
{
    for (const char *blank = strchr(text, ' '); blank != NULL;
         blank = strchr(blank + 1, ' ')) {
        const char *word = blank + strspn(blank, " ");
        const size_t size = strcspn(word, " =!<>~?");
        const char *after = word + size + strspn(word + size, " ");
        char name[64];

        if (size == 0 || size >= sizeof(name) || *after == '\0' ||
            strchr("=!<>~?", *after) == NULL)
            continue;
        memcpy(name, word, size);
        name[size] = '\0';
        if (column_stats_find(stats, name) != NULL)
            return word;
    }
    return NULL;
}

/* Adds that a text has a condition in it. Returns whether it does. */
static bool
add_second_condition(const struct column_stats *stats,
                     const struct colander_condition *condition,
                     struct report *report)
{
    const char *second = NULL;
    char *text = NULL;

    if (condition->value_count == 1 &&
        condition->values[0].type == COLANDER_STRING)
        text = text_copy(condition->values[0].bytes);
    if (text != NULL)
        second = second_condition(stats, text);
    if (second != NULL) {
        report_add(report, "'");
        report_add_text(report, colander_slice_text(text));
        report_add(report, "' is one text: write '");
        report_add_text(report, colander_slice_text(second));
        report_add(report, "' as a separate word");
    }
    free(text);
    return second != NULL;
}

/* ----------------------------------------------------------------- add --- */

/* Explains the path, which is that of the condition, if there is one. Returns
 * whether there was something to explain. */
static bool
explain_path(const struct hint_question *question, struct column_stats *stats,
             const char *path, const struct colander_condition *condition,
             struct report *report)
{
    const struct column_stat *column = column_stats_find(stats, path);
    bool is_exact = column_stats_is_all(stats);

    if (condition != NULL && add_second_condition(stats, condition, report))
        return true;
    if (column == NULL && !is_exact) {
        is_exact = read_exact(stats, question->family, path);
        column = column_stats_find(stats, path);
    }
    if (column == NULL) {
        add_unknown(stats, path, is_exact, report);
        return true;
    }
    if (condition != NULL && condition->value_count > 0 &&
        condition->values[0].type != COLANDER_NULL &&
        !is_comparable(question, column)) {
        add_mismatch(stats, column, &condition->values[0], report);
        return true;
    }
    if (condition == NULL && !question->any_type && !has_scalars(column)) {
        add_mismatch(stats, column, NULL, report);
        return true;
    }
    return false;
}

static bool
is_key(const char *path)
{
    return strcmp(path, COLANDER_KEY_COLUMN) == 0;
}

static void
explain(const struct hint_question *question, struct column_stats *stats,
        struct report *line)
{
    struct colander_condition condition;
    bool is_explained = false;

    for (size_t i = 0; i < question->path_count && !is_explained; i++) {
        const char *path = question->paths[i];

        is_explained =
            !is_key(path) && explain_path(question, stats, path, NULL, line);
    }
    for (size_t i = 0;
         i < PATHS_MAX && question->where != NULL && !is_explained &&
         colander_predicate_condition(question->where, i, &condition);
         i++)
        is_explained =
            explain_path(question, stats, condition.path, &condition, line);
}

void
hint_add(const struct hint_question *question, struct report *report)
{
    struct column_stats *stats = column_stats_create();
    struct report line = REPORT_EMPTY;

    if (stats != NULL &&
        column_stats_read_sample(stats, question->family, SAMPLE_ROWS, NULL) ==
            COLANDER_OK &&
        column_stats_row_count(stats) > 0)
        explain(question, stats, &line);
    if (line.code == COLANDER_OK && line.text.size > 0)
        report_add(report, "%s%.*s", report->text.size > 0 ? "\n" : "",
                   (int)line.text.size, (const char *)line.text.data);
    report_release(&line);
    column_stats_destroy(stats);
}

/* ------------------------------------------------------------- missing --- */

void
hint_missing_init(struct hint_missing *missing, const char *const *paths,
                  size_t count, const char *order)
{
    missing->count = 0;
    missing->paths = calloc(count + 1, sizeof(*missing->paths));
    for (size_t i = 0; i < count && missing->paths != NULL; i++) {
        if (!is_key(paths[i]))
            missing->paths[missing->count++] = paths[i];
    }
    if (order != NULL && missing->paths != NULL)
        missing->paths[missing->count++] = order;
}

void
hint_missing_see(struct hint_missing *missing, struct colander_slice row)
{
    struct colander_value value;
    size_t left = 0;

    for (size_t i = 0; i < missing->count; i++) {
        bool found = false;

        if (colander_row_get(row, missing->paths[i], &value, &found, NULL) !=
                COLANDER_OK ||
            !found)
            missing->paths[left++] = missing->paths[i];
    }
    missing->count = left;
}

void
hint_missing_release(struct hint_missing *missing)
{
    free(missing->paths);
    missing->paths = NULL;
    missing->count = 0;
}
