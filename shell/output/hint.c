/* See hint.h. SPDX-License-Identifier: MIT */
#include "shell/hint.h"
#include "shell/column_stats.h"
#include "shell/nearest.h"
#include "shell/output/hint_parts.h"
#include "shell/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#define SAMPLE_ROWS 1000
#define TIMED_ROWS 60    /* that show which columns look like times */
#define FEW_ROWS 20      /* that have most columns */
#define FOUND_ROWS 20    /* that are read of a column that the sample lacks */
#define SCAN_ROWS 100000 /* that may be read for it without filters */
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

/* ------------------------------------------------------------- families --- */

static size_t
family_count(const struct hint_question *question)
{
    return question->families == NULL ? 1 : question->family_count;
}

static struct colander_family *
family_at(const struct hint_question *question, size_t index)
{
    return question->families == NULL ? question->family
                                      : question->families[index];
}

/* Reads a sample, of the same size of each family. */
static bool
read_sample(struct column_stats *stats, const struct hint_question *question,
            uint64_t row_count)
{
    const size_t count = family_count(question);

    for (size_t i = 0; i < count; i++) {
        if (column_stats_read_sample(stats, family_at(question, i),
                                     row_count * (i + 1) / count,
                                     NULL) != COLANDER_OK)
            return false;
    }
    return count > 0;
}

/* Opens a find in one of the families, *cursor, that reads few rows without a
 * match: filters say which rows may match, or the family is small. Returns
 * whether it is such a find. */
static bool
open_cheap(const struct hint_question *question, size_t index,
           const struct colander_predicate *where,
           struct colander_cursor **cursor)
{
    struct colander_family *family = family_at(question, index);
    struct colander_family_sizes sizes;
    struct colander_explain explain;
    struct colander_query query;

    colander_query_init(&query);
    query.where = where;
    query.limit = 1;
    if (colander_family_sizes(family, &sizes, NULL) != COLANDER_OK ||
        colander_family_find(family, &query, cursor, NULL) != COLANDER_OK)
        return false;
    colander_cursor_explain(*cursor, &explain);
    return explain.plan != COLANDER_PLAN_SCAN ||
           sizes.key_count <= SCAN_ROWS / family_count(question);
}

/* Adds the rows with something at `path` to the statistics. Returns whether
 * there can be no others: filters rule them out, or all rows were read. */
static bool
read_exact_of(struct column_stats *stats, const struct hint_question *question,
              size_t index, const char *path)
{
    struct colander_predicate *exists = colander_where_exists(path, NULL);
    struct colander_cursor *cursor = NULL;
    struct colander_query query;
    bool is_exact =
        exists != NULL && open_cheap(question, index, exists, &cursor);

    colander_cursor_close(cursor);
    colander_query_init(&query);
    query.where = exists;
    query.limit = FOUND_ROWS;
    if (is_exact)
        is_exact = column_stats_read_rows(stats, family_at(question, index),
                                          &query, NULL) == COLANDER_OK;
    colander_predicate_destroy(exists);
    return is_exact;
}

/* The same for all families. */
static bool
read_exact(struct column_stats *stats, const struct hint_question *question,
           const char *path)
{
    bool is_exact = true;

    for (size_t i = 0; i < family_count(question); i++)
        is_exact = read_exact_of(stats, question, i, path) && is_exact;
    return is_exact;
}

/* Adds how to write the words that are in the path, as in "not text". Returns
 * whether there are some. */
static bool
add_joined_path(const struct column_stats *stats, const char *path,
                struct report *report)
{
    const char *last = strrchr(path, ' ');
    const bool is_not = strncasecmp(path, "not ", 4) == 0;

    if (last == NULL || column_stats_find(stats, last + 1) == NULL)
        return false;
    report_add(report, ": write ");
    if (is_not && last == path + 3) {
        report_add(report, "'%.3s' as a separate word", path);
    } else {
        add_path(last + 1, report);
        report_add(report, " and what is before it as separate words");
    }
    return true;
}

/* Adds that no row has the path, of `condition` if that is not NULL. */
static void
add_unknown(const struct column_stats *stats, const char *path,
            const struct colander_condition *condition, bool is_exact,
            struct report *report)
{
    const char *meant = find_meant(stats, path);

    if (is_exact)
        report_add(report, "no row has ");
    else
        report_add(report, "none of %s rows has ",
                   THOUSANDS(column_stats_row_count(stats)));
    add_path(path, report);
    if (condition != NULL && add_joined_path(stats, path, report))
        return;
    if (meant != NULL) {
        report_add(report, ": did you mean ");
        add_path(meant, report);
        report_add(report, "?");
    } else if (condition != NULL && condition->is_words) {
        report_add(report, ": write --search '");
        report_add_text(report, colander_slice_text(path));
        report_add(report, ":");
        report_add_text(report, condition->values->bytes);
        report_add(report, "' to look for words in any column");
    }
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

/* Whether the value is a text that without quotes would be something else. */
static bool
looks_typed(const struct colander_value *value)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_value read;
    char *text = NULL;
    size_t offset;
    bool looks = false;

    if (value->type == COLANDER_STRING)
        text = text_copy(value->bytes);
    if (text != NULL)
        looks = colander_value_read(text, &read, &bytes, &offset, NULL) ==
                    COLANDER_OK &&
                read.type != COLANDER_STRING;
    colander_buffer_release(&bytes);
    free(text);
    return looks;
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
        const char *quote = looks_typed(value) ? "\"" : "";

        report_add(report, ", %s", quote);
        report_add_text(report, colander_buffer_slice(&text));
        report_add(report, "%s is %s", quote, kinds[kind_of(value->type)].one);
    }
    colander_buffer_release(&text);
}

/* Whether a condition on the column compares with values that it may have. A
 * time that was written is compared as a text and as a time. */
static bool
is_comparable(const struct colander_predicate *where,
              const struct column_stat *column)
{
    struct colander_condition condition;

    for (size_t i = 0; colander_predicate_condition(where, i, &condition);
         i++) {
        if (condition.is_negated || strcmp(condition.path, column->path) != 0)
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
 * likes>5", "pl and likes>5", "tea or text:milk". NULL: none. */
static const char *
second_condition(const struct column_stats *stats, const char *text)
{
    for (const char *blank = strchr(text, ' '); blank != NULL;
         blank = strchr(blank + 1, ' ')) {
        const char *word = blank + strspn(blank, " ");
        const size_t size = strcspn(word, " =!<>~?:");
        const char *after = word + size + strspn(word + size, " ");
        char name[64];

        if (size == 0 || size >= sizeof(name) || *after == '\0' ||
            strchr("=!<>~?:", *after) == NULL ||
            (*after == ':' && (after != word + size || after[1] == '\0' ||
                               after[1] == ' '))) /* of a sentence */
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

/* ----------------------------------------------------------- beginnings --- */

/* Returns the part of a time that the condition compares with: "2014",
 * "2014-03". Empty: none. */
static struct colander_slice
part_of_time(const struct colander_condition *condition, char year[5])
{
    const struct colander_value *value = condition->values;
    struct colander_times times;

    if (condition->value_count > 0 && value->type == COLANDER_INTEGER &&
        value->integer >= 1000 && value->integer <= 9999) {
        (void)snprintf(year, 5, "%d", (int)value->integer);
        return colander_slice_text(year);
    }
    for (size_t i = 0; i < condition->value_count; i++, value++) {
        if (value->type == COLANDER_STRING && value->bytes.size > 0 &&
            value->bytes.data[0] != '@' &&
            colander_times_read(value->bytes, &times))
            return value->bytes;
    }
    return colander_slice_of(NULL, 0);
}

/* Returns whether a row meets the predicate, as far as that is known without
 * reading many. */
static bool
is_met(const struct hint_question *question,
       const struct colander_predicate *where)
{
    bool found = false;

    for (size_t i = 0; i < family_count(question) && !found; i++) {
        struct colander_cursor *cursor = NULL;
        struct colander_result result;

        if (open_cheap(question, i, where, &cursor) &&
            colander_cursor_next(cursor, &found, &result, NULL) != COLANDER_OK)
            found = false;
        colander_cursor_close(cursor);
    }
    return found;
}

static bool
finds(const struct hint_question *question, const char *path,
      enum colander_operator how, struct colander_slice text)
{
    const struct colander_value value = colander_string(text);
    struct colander_predicate *where =
        colander_where_written(path, how, &value, 1, NULL);
    const bool found = where != NULL && is_met(question, where);

    colander_predicate_destroy(where);
    return found;
}

/* Adds how to find rows by the year, month or day that no value equals. Returns
 * whether there are such rows. */
static bool
add_beginning(const struct hint_question *question,
              const struct colander_condition *condition, struct report *report)
{
    char year[5];
    const struct colander_slice text = part_of_time(condition, year);
    const char *path = condition->path;

    if (text.size == 0 || finds(question, path, COLANDER_OPERATOR_EQ, text) ||
        !finds(question, path, COLANDER_OPERATOR_PREFIX, text))
        return false;
    if (report->text.size == 0) {
        report_add_text(report, text);
        report_add(report, " is not a whole value");
    }
    report_add(report, ": ");
    report_add_text(report, colander_slice_text(path));
    report_add(report, "~");
    report_add_text(report, text);
    report_add(report, " finds those that begin with it");
    return true;
}

/* ----------------------------------------------------------------- add --- */

/* Explains the path, which is that of the condition in a part of what was
 * asked, if there is one. Returns whether there was something to explain: not
 * if rows have the column and meet the part. */
static bool
explain_path(const struct hint_question *question, struct column_stats *stats,
             const char *path, const struct colander_predicate *part,
             const struct colander_condition *condition, struct report *report)
{
    const struct column_stat *column = column_stats_find(stats, path);
    bool is_exact = column_stats_is_all(stats);

    if (condition != NULL && add_second_condition(stats, condition, report))
        return true;
    if (column == NULL && !is_exact) {
        is_exact = read_exact(stats, question, path);
        column = column_stats_find(stats, path);
    }
    if (column == NULL) {
        add_unknown(stats, path, condition, is_exact, report);
        return true;
    }
    if (condition != NULL && condition->value_count > 0 &&
        condition->values[0].type != COLANDER_NULL &&
        !is_comparable(part, column)) {
        if (is_met(question, part))
            return false;
        add_mismatch(stats, column, &condition->values[0], report);
        (void)add_beginning(question, condition, report);
        return true;
    }
    if (condition != NULL)
        return !is_met(question, part) &&
               add_beginning(question, condition, report);
    if (!question->any_type && !has_scalars(column)) {
        add_mismatch(stats, column, NULL, report);
        return true;
    }
    return false;
}

/* Explains the first of the conditions for which there is something to explain,
 * of at most *left. Returns whether there was one. */
static bool
explain_part(const struct hint_question *question, struct column_stats *stats,
             const struct colander_predicate *part, size_t *left,
             struct report *line)
{
    struct colander_condition condition;

    for (size_t i = 0;
         *left > 0 && colander_predicate_condition(part, i, &condition);
         i++, (*left)--) {
        if (!condition.is_negated &&
            explain_path(question, stats, condition.path, part, &condition,
                         line))
            return true;
    }
    return false;
}

static bool
explain_where(const struct hint_question *question, struct column_stats *stats,
              const struct colander_predicate *where, struct report *line)
{
    const struct colander_predicate *part;
    size_t left = HINT_PATHS_MAX;

    for (size_t i = 0; where != NULL && left > 0 &&
                       (part = colander_predicate_part(where, i)) != NULL;
         i++) {
        if (explain_part(question, stats, part, &left, line))
            return true;
    }
    return false;
}

/* Explains each path. Returns whether there was something to explain. */
static bool
explain_paths(const struct hint_question *question, struct column_stats *stats,
              struct report *lines)
{
    bool is_explained = false;

    for (size_t i = 0;
         i < question->path_count && !(is_explained && question->are_guesses);
         i++) {
        const char *path = question->paths[i];
        struct report line = REPORT_EMPTY;

        if (hint_is_key(path) || hint_is_listed(path, question->paths, i) ||
            !explain_path(question, stats, path, NULL, NULL, &line))
            continue;
        report_add(lines, "%s%.*s", is_explained ? "\n" : "",
                   (int)line.text.size, (const char *)line.text.data);
        report_release(&line);
        is_explained = true;
    }
    return is_explained;
}

static void
explain(const struct hint_question *question, struct column_stats *stats,
        struct report *line)
{
    bool is_explained = explain_paths(question, stats, line);

    if (!is_explained)
        is_explained = explain_where(question, stats, question->where, line);
    if (!is_explained)
        (void)explain_where(question, stats, question->compared, line);
}

/* Adds lines, or nothing if there is no answer. */
static void
add_lines(const struct hint_question *question, struct column_stats *stats,
          struct report *report)
{
    struct report line = REPORT_EMPTY;

    explain(question, stats, &line);
    if (line.code == COLANDER_OK && line.text.size > 0)
        report_add(report, "%s%.*s", report->text.size > 0 ? "\n" : "",
                   (int)line.text.size, (const char *)line.text.data);
    report_release(&line);
}

/* Whether other rows have each of the paths, which a few rows and the filters
 * tell. */
static bool
has_all_paths(const struct hint_question *question)
{
    struct column_stats *stats = column_stats_create();
    bool has = stats != NULL && read_sample(stats, question, FEW_ROWS);

    for (size_t i = 0; i < question->path_count && has; i++) {
        const char *path = question->paths[i];

        has = hint_is_key(path) || column_stats_find(stats, path) != NULL ||
              (read_exact(stats, question, path) &&
               column_stats_find(stats, path) != NULL);
    }
    column_stats_destroy(stats);
    return has;
}

void
hint_add(const struct hint_question *question, struct report *report)
{
    struct column_stats *stats;

    if (question->any_type && question->where == NULL &&
        question->compared == NULL && has_all_paths(question))
        return;
    stats = column_stats_create();
    if (stats != NULL && read_sample(stats, question, SAMPLE_ROWS) &&
        column_stats_row_count(stats) > 0)
        add_lines(question, stats, report);
    column_stats_destroy(stats);
}

void
hint_add_column(struct colander_family *family, const char *path,
                struct report *report)
{
    const struct hint_question question = {
        .family = family, .paths = &path, .path_count = 1, .any_type = true};

    hint_add(&question, report);
}

/* --------------------------------------------------------------- times --- */

void
hint_add_types(struct colander_family *family, const char *const *paths,
               size_t path_count, bool finds_times, struct report *report)
{
    const struct hint_question all = {
        .family = family, .paths = paths, .path_count = path_count};
    struct column_stats *stats = NULL;

    if (!finds_times && has_all_paths(&all))
        return;
    stats = column_stats_create();
    if (stats != NULL &&
        column_stats_read_sample(stats, family,
                                 path_count > 0 ? SAMPLE_ROWS : TIMED_ROWS,
                                 NULL) == COLANDER_OK &&
        column_stats_row_count(stats) > 0) {
        for (size_t i = 0; i < path_count; i++) {
            const struct hint_question question = {.family = family,
                                                   .paths = &paths[i],
                                                   .path_count = 1,
                                                   .any_type = true};

            add_lines(&question, stats, report);
        }
        if (finds_times)
            hint_add_times(stats, paths, path_count, report);
    }
    column_stats_destroy(stats);
}

/* ------------------------------------------------------------- patches --- */

/* Whether all values of the column are times or null. */
static bool
has_only_times(const struct column_stat *column)
{
    for (int type = 0; type < COLUMN_TYPES; type++) {
        if (column->type_counts[type] > 0 && type != COLANDER_TIMESTAMP &&
            type != COLANDER_NULL)
            return false;
    }
    return column->type_counts[COLANDER_TIMESTAMP] > 0;
}

void
hint_add_patch(struct colander_family *family, struct colander_slice patch,
               struct report *report)
{
    struct column_stats *stats = column_stats_create();
    size_t count = 0;

    if (stats != NULL && column_stats_read_sample(stats, family, SAMPLE_ROWS,
                                                  NULL) == COLANDER_OK)
        count = column_stats_count(stats);
    for (size_t i = 0; i < count; i++) {
        const struct column_stat *column = column_stats_get(stats, i);
        struct colander_value value;
        bool found = false;

        if (!has_only_times(column) || strstr(column->path, "[]") != NULL ||
            colander_row_get(patch, column->path, &value, &found, NULL) !=
                COLANDER_OK ||
            !found || value.type == COLANDER_TIMESTAMP ||
            value.type == COLANDER_NULL)
            continue;
        report_add(report, "%s", report->text.size > 0 ? "\n" : "");
        add_mismatch(stats, column, &value, report);
        report_add(report, ": a time is written @2015-03-24 or @now");
    }
    column_stats_destroy(stats);
}
