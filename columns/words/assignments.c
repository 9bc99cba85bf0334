/*
 * Assignments: texts COL=VALUE, as a patch.
 *
 * The paths are sorted, so that those into one map are adjacent. The patch is
 * then built from the first to the last: each one closes the maps that it is
 * not in, and opens those that it is in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/words.h"

#include "columns/json.h"
#include "columns/path.h"
#include "columns/rows.h"
#include "columns/words/literals.h"

#include <stdlib.h>

struct assignment {
    size_t word; /* its number, as in a fault */
    struct path path;
    struct colander_value value;         /* null: removes the column */
    struct literals literals;            /* has the bytes of a scalar */
    struct colander_json_reader *reader; /* has a map or an array; may be
                                          * NULL */
};

/* Where words are wrong, and the list of assignments. */
struct reading {
    struct assignment *assignments;
    size_t count;
    struct colander_fault fault;
    struct colander_error *err;
};

/* -------------------------------------------------------------- reading --- */

static enum colander_code
read_container(struct assignment *assignment, const char *text, size_t *offset,
               struct colander_error *err)
{
    enum colander_code code;

    assignment->reader = colander_json_reader_create();
    if (assignment->reader == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a value");
    code = colander_json_reader_value(
        assignment->reader, colander_slice_text(text), &assignment->value, err);
    if (code == COLANDER_OK ||
        !colander_json_reader_fault(assignment->reader, offset))
        *offset = 0;
    return code;
}

static enum colander_code
read_scalar(struct assignment *assignment, const char *text, size_t *offset,
            struct colander_error *err)
{
    struct literals *literals = &assignment->literals;
    enum colander_code code = literals_parse(literals, text, offset, err);

    if (code != COLANDER_OK)
        return code;
    *offset = 0;
    assignment->value = literals->operands[0].has_value
                            ? literals->operands[0].value
                            : literals->operands[0].times.first;
    if (assignment->value.type == COLANDER_NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "null removes a column: say so with --unset");
    return COLANDER_OK;
}

/* Reads the path, the first `size` bytes of `text`. */
static enum colander_code
read_path(struct assignment *assignment, const char *text, size_t size,
          struct colander_error *err)
{
    char *name = strndup(text, size);
    enum colander_code code;

    if (name == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = colander_path_parse(name, &assignment->path, err);
    free(name);
    for (size_t i = 0; code == COLANDER_OK && i < assignment->path.count; i++) {
        if (assignment->path.steps[i].is_element)
            code = COLANDER_FAIL(err, COLANDER_INVALID,
                                 "elements of an array cannot be set or "
                                 "removed, only the whole array");
    }
    return code;
}

/* Returns the place of the first = without a backslash before it, or the
 * end. */
static size_t
size_of_path(const char *text)
{
    size_t size = 0;

    while (text[size] != '\0' && text[size] != '=')
        size += text[size] == '\\' && text[size + 1] != '\0' ? 2 : 1;
    return size;
}

/* Whether the value is the column's own name and an operator, as in SQL: it
 * would be a text, and replace what it should be added to. */
static bool
is_arithmetic(const char *path, size_t size, const char *value)
{
    return strncmp(value, path, size) == 0 && value[size] != '\0' &&
           strchr("+-*/", value[size + strspn(value + size, " ")]) != NULL;
}

/* Reads COL=VALUE. */
static enum colander_code
read_set(struct assignment *assignment, const char *text, size_t *offset,
         struct colander_error *err)
{
    const size_t size = size_of_path(text);
    const char *value = text + size + 1;
    enum colander_code code;

    if (text[size] == '\0' || size == 0) {
        *offset = size;
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a column and a value: COL=VALUE");
    }
    code = read_path(assignment, text, size, err);
    if (code != COLANDER_OK)
        return code;
    *offset = size + 1;
    if (is_arithmetic(text, size, value))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "values are not computed here, but a script can "
                             "(a text like this needs double quotes)");
    code = value[0] == '{' || value[0] == '['
               ? read_container(assignment, value, offset, err)
               : read_scalar(assignment, value, offset, err);
    *offset += size + 1;
    return code;
}

/* Reads a word: one to set, or with `removes` the path of a column. */
static enum colander_code
read_word(struct reading *reading, const char *text, bool removes)
{
    struct assignment *assignment = &reading->assignments[reading->count];

    assignment->word = reading->count++;
    reading->fault.word = assignment->word;
    reading->fault.offset = 0;
    if (removes)
        return read_path(assignment, text, strlen(text), reading->err);
    return read_set(assignment, text, &reading->fault.offset, reading->err);
}

/* ------------------------------------------------------------- building --- */

static int
compare_assignments(const void *a, const void *b)
{
    const struct assignment *left = a;
    const struct assignment *right = b;
    int order = path_compare(&left->path, &right->path);

    return order != 0 ? order : left->word < right->word ? -1 : 1;
}

/* Returns how many steps both paths begin with. */
static size_t
common_steps(const struct path *a, const struct path *b)
{
    size_t count = 0;

    while (count < a->count && count < b->count &&
           path_step_compare(&a->steps[count], &b->steps[count]) == 0)
        count++;
    return count;
}

/* Fails if a path is that of another assignment, or leads into its value. */
static enum colander_code
check_apart(struct reading *reading)
{
    for (size_t i = 1; i < reading->count; i++) {
        const struct assignment *one = &reading->assignments[i - 1];
        const struct assignment *next = &reading->assignments[i];

        if (common_steps(&one->path, &next->path) < one->path.count)
            continue;
        reading->fault.word = one->word > next->word ? one->word : next->word;
        reading->fault.offset = 0;
        return COLANDER_FAIL(reading->err, COLANDER_INVALID,
                             "a column is set twice, or inside another one "
                             "that is set");
    }
    return COLANDER_OK;
}

static enum colander_code
build(struct reading *reading, struct colander_row_builder *builder,
      struct colander_buffer *patch)
{
    const struct path none = PATH_EMPTY;
    const struct path *last = &none;
    struct colander_slice row;
    enum colander_code code;

    for (size_t i = 0; i < reading->count; i++) {
        const struct assignment *assignment = &reading->assignments[i];
        const struct path *path = &assignment->path;
        const size_t common = common_steps(last, path);

        for (size_t open = last->count; open > common + 1; open--)
            colander_row_builder_end(builder);
        for (size_t step = common; step + 1 < path->count; step++)
            colander_row_builder_begin_map_named(builder,
                                                 path->steps[step].name);
        colander_row_builder_add_named(
            builder, path->steps[path->count - 1].name, assignment->value);
        last = path;
    }
    for (size_t open = last->count; open > 1; open--)
        colander_row_builder_end(builder);
    code = colander_row_builder_finish(builder, &row, reading->err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(patch, row.data, row.size, reading->err);
    return code;
}

/* Reads all words and builds the patch. Requires room for them. */
static enum colander_code
read_and_build(struct reading *reading, const char *const *set,
               size_t set_count, const char *const *unset, size_t unset_count,
               struct colander_buffer *patch)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < set_count && code == COLANDER_OK; i++)
        code = read_word(reading, set[i], false);
    for (size_t i = 0; i < unset_count && code == COLANDER_OK; i++)
        code = read_word(reading, unset[i], true);
    if (code == COLANDER_OK) {
        qsort(reading->assignments, reading->count,
              sizeof(reading->assignments[0]), compare_assignments);
        code = check_apart(reading);
    }
    if (code == COLANDER_OK && builder == NULL)
        code = COLANDER_FAIL(reading->err, COLANDER_NO_MEMORY,
                             "no memory for a patch");
    if (code == COLANDER_OK)
        code = build(reading, builder, patch);
    colander_row_builder_destroy(builder);
    return code;
}

enum colander_code
colander_patch_words(const char *const *set, size_t set_count,
                     const char *const *unset, size_t unset_count,
                     struct colander_buffer *patch,
                     struct colander_fault *fault, struct colander_error *err)
{
    struct reading reading = {.err = err};
    enum colander_code code;

    colander_buffer_clear(patch);
    reading.assignments =
        calloc(set_count + unset_count + 1, sizeof(*reading.assignments));
    if (reading.assignments == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a patch");
    code = read_and_build(&reading, set, set_count, unset, unset_count, patch);
    for (size_t i = 0; i < reading.count; i++) {
        path_release(&reading.assignments[i].path);
        literals_release(&reading.assignments[i].literals);
        colander_json_reader_destroy(reading.assignments[i].reader);
    }
    free(reading.assignments);
    if (fault != NULL)
        *fault = reading.fault;
    return code;
}
