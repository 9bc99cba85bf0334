/* See conditions.h. SPDX-License-Identifier: MIT */
#include "shell/conditions.h"
#include "shell/literals.h"
#include "shell/text.h"

#include <stdio.h>
#include <stdlib.h>

enum operation { COMPARISON, PREFIX, EXISTS, MISSING };

static const struct condition_operator {
    const char *sign;
    enum operation operation;
    enum colander_comparison comparison; /* of COMPARISON */
} operators[] = {
    /* a sign comes before those that it begins with */
    {"!=", COMPARISON, COLANDER_NE}, {"<=", COMPARISON, COLANDER_LE},
    {">=", COMPARISON, COLANDER_GE}, {"=", COMPARISON, COLANDER_EQ},
    {"<", COMPARISON, COLANDER_LT},  {">", COMPARISON, COLANDER_GT},
    {"~", PREFIX, COLANDER_EQ},      {"?", EXISTS, COLANDER_EQ},
    {"!", MISSING, COLANDER_EQ},
};

/* The parts of a condition, borrowed from its text except for the path. */
struct condition {
    char *path;
    const struct condition_operator *how;
    const char *value; /* after the operator */
};

/* Returns the place of the first operator of `text` without a backslash before
 * it, or the end. *has_space: a space is before it, without a backslash. */
static size_t
path_size(const char *text, bool *has_space)
{
    size_t size = 0;

    *has_space = false;
    while (text[size] != '\0' && strchr("=!<>~?", text[size]) == NULL) {
        *has_space = text[size] == ' ';
        if (text[size] == '\\' && text[size + 1] != '\0')
            size++;
        size++;
    }
    return size;
}

static const struct condition_operator *
operator_at(const char *text)
{
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strncmp(text, operators[i].sign, strlen(operators[i].sign)) == 0)
            return &operators[i];
    }
    return NULL;
}

/* On success condition->path is the caller's to free. */
static enum colander_code
take_apart(struct condition *condition, const char *text, size_t *offset,
           struct colander_error *err)
{
    bool has_space;
    size_t size = path_size(text, &has_space);
    const struct condition_operator *found = operator_at(text + size);

    *offset = size;
    if (found == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected =, !=, <, <=, >, >=, ~, ? or ! right "
                             "after the column");
    if (size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a column before '%s'", found->sign);
    if (has_space) {
        *offset = size - 1;
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unexpected space before '%s' (a name that ends "
                             "in a space needs a backslash before it)",
                             found->sign);
    }
    condition->value = text + size + strlen(found->sign);
    if ((found->operation == EXISTS || found->operation == MISSING) &&
        *condition->value != '\0') {
        *offset = (size_t)(condition->value - text);
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unexpected text after '%s'", found->sign);
    }
    condition->how = found;
    condition->path = strndup(text, size);
    if (condition->path == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    return COLANDER_OK;
}

static struct colander_predicate *
compare(const struct condition *condition, const struct literals *literals,
        struct colander_error *err)
{
    enum colander_comparison comparison = condition->how->comparison;
    bool is_equality = comparison == COLANDER_EQ || comparison == COLANDER_NE;

    if (literals->is_list && comparison != COLANDER_EQ) {
        COLANDER_FAIL(err, COLANDER_INVALID,
                      "only = takes an array (write a text that begins with "
                      "'[' in double quotes)");
        return NULL;
    }
    if (literals->is_list)
        return colander_where_in(condition->path, literals->values,
                                 literals->count, err);
    if (!is_equality && literals->values[0].type == COLANDER_NULL) {
        COLANDER_FAIL(err, COLANDER_INVALID, "null has no order: use = or !=");
        return NULL;
    }
    return colander_where(condition->path, comparison, literals->values[0],
                          err);
}

/* Reads the value, and creates the predicate. */
static struct colander_predicate *
build_with_value(const struct condition *condition, size_t *offset,
                 struct colander_error *err)
{
    bool is_prefix = condition->how->operation == PREFIX;
    struct literals literals = {.values = NULL};
    struct colander_predicate *predicate = NULL;
    enum colander_code code;

    code = is_prefix
               ? literals_parse_text(&literals, condition->value, offset, err)
               : literals_parse(&literals, condition->value, offset, err);
    if (code == COLANDER_OK) {
        *offset = 0;
        predicate = is_prefix ? colander_where_prefix(condition->path,
                                                      literals.values[0], err)
                              : compare(condition, &literals, err);
        if (predicate == NULL) /* the caret shows it better */
            text_drop_lead(err, "predicate on '%s': ", condition->path);
    }
    literals_release(&literals);
    return predicate;
}

/* Moves the place inside the path from a message such as
 * "path '...': what is wrong (position 5)" to *offset. */
static void
move_place(struct colander_error *err, const char *path, size_t *offset)
{
    char *place = strrchr(err->message, '(');
    size_t position;

    if (place == NULL || place == err->message ||
        sscanf(place, "(position %zu)", &position) != 1 || position == 0 ||
        position > strlen(path) + 1)
        return;
    *offset = position - 1;
    place[-1] = '\0';
    text_drop_lead(err, "path '%.200s': ", path);
}

/* The library checks paths; a predicate for EXISTS is the cheapest. */
static bool
is_path(const char *path, size_t *offset, struct colander_error *err)
{
    struct colander_predicate *predicate = colander_where_exists(path, err);

    colander_predicate_destroy(predicate);
    if (predicate != NULL)
        return true;
    text_drop_lead(err, "predicate: ");
    move_place(err, path, offset);
    return false;
}

/* Whether the path is that of the key column, or inside it. */
static bool
is_key(const char *path)
{
    size_t size = strlen(COLANDER_KEY_COLUMN);

    return strncmp(path, COLANDER_KEY_COLUMN, size) == 0 &&
           strchr(".[", path[size]) != NULL;
}

static struct colander_predicate *
build(const struct condition *condition, const char *text, size_t *offset,
      struct colander_error *err)
{
    struct colander_predicate *predicate;

    *offset = 0;
    if (!is_path(condition->path, offset, err))
        return NULL;
    if (is_key(condition->path)) {
        COLANDER_FAIL(err, COLANDER_INVALID,
                      "the key is not a column: use --key, --prefix, --from "
                      "or --to");
        return NULL;
    }
    if (condition->how->operation == EXISTS)
        return colander_where_exists(condition->path, err);
    if (condition->how->operation == MISSING)
        return colander_where_missing(condition->path, err);
    predicate = build_with_value(condition, offset, err);
    *offset += (size_t)(condition->value - text);
    return predicate;
}

struct colander_predicate *
condition_parse(const char *text, size_t *offset, struct colander_error *err)
{
    struct condition condition = {NULL, NULL, NULL};
    struct colander_predicate *predicate = NULL;

    if (take_apart(&condition, text, offset, err) == COLANDER_OK)
        predicate = build(&condition, text, offset, err);
    free(condition.path);
    return predicate;
}

struct colander_predicate *
condition_parse_any(const char *text, size_t *offset,
                    struct colander_error *err)
{
    struct literals literals = {.values = NULL};
    struct colander_predicate *predicate = NULL;

    if (literals_parse(&literals, text, offset, err) == COLANDER_OK) {
        *offset = 0;
        if (literals.is_list)
            COLANDER_FAIL(
                err, COLANDER_INVALID,
                "--any takes one value, not a list (write a text that "
                "begins with '[' in double quotes)");
        else
            predicate = colander_where_any_column(literals.values[0], err);
        if (predicate == NULL)
            text_drop_lead(err, "predicate on any column: ");
    }
    literals_release(&literals);
    return predicate;
}
