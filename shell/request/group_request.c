/* See group_request.h. SPDX-License-Identifier: MIT */
#include "shell/group_request.h"
#include "shell/interrupt.h"
#include "shell/request/having.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMORY_MAX ((uint64_t)1 << 30) /* of groups, unless --memory says */

/* An option that is a measure. */
static const struct measure_option {
    const char *name;
    enum colander_aggregate aggregate;
    double quantile;
} measure_options[] = {
    {"count", COLANDER_COUNT, 0},
    {"sum", COLANDER_SUM, 0},
    {"avg", COLANDER_AVG, 0},
    {"min", COLANDER_MIN, 0},
    {"max", COLANDER_MAX, 0},
    {"first", COLANDER_FIRST, 0},
    {"last", COLANDER_LAST, 0},
    {"distinct", COLANDER_DISTINCT, 0},
    {"approx-distinct", COLANDER_APPROX_DISTINCT, 0},
    {"p50", COLANDER_QUANTILE, 0.5},
    {"p75", COLANDER_QUANTILE, 0.75},
    {"p90", COLANDER_QUANTILE, 0.9},
    {"p95", COLANDER_QUANTILE, 0.95},
    {"p99", COLANDER_QUANTILE, 0.99},
    {"p999", COLANDER_QUANTILE, 0.999},
};

#define BUCKET "bucket("

#define MEASURE_OPTION_COUNT                                                   \
    (sizeof(measure_options) / sizeof(measure_options[0]))

/* Keeps a text, which is taken, until the end. */
static enum colander_code
keep_text(struct group_request *asked, char *text, struct colander_error *err)
{
    if (text == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a word");
    asked->texts[asked->text_count++] = text;
    return COLANDER_OK;
}

/* Returns the name of a column of the result, from 0. */
static const char *
name_at(const struct group_request *asked, size_t column)
{
    const size_t key_count = asked->grouping.key_count;

    return column < key_count ? asked->keys[column].name
                              : asked->measures[column - key_count].name;
}

/* Returns whether a column of the result has this name. */
static bool
is_taken(const struct group_request *asked, const char *name)
{
    for (size_t i = 0;
         i < asked->grouping.key_count + asked->grouping.measure_count; i++) {
        if (strcmp(name_at(asked, i), name) == 0)
            return true;
    }
    return false;
}

/* ---------------------------------------------------- keys and measures --- */

/* Returns a copy of a path as people read it, or NULL without memory. */
static char *
plain_name(const char *path)
{
    char *name = strdup(path);

    if (name != NULL)
        colander_path_make_plain(name);
    return name;
}

/* Returns the end of the first key of a list. A bucket has commas in it. */
static char *
key_end(char *text)
{
    char *end = argument_path_end(text);

    if (strncmp(text, BUCKET, strlen(BUCKET)) == 0) {
        while (*end != '\0' && end[-1] != ')')
            end = argument_path_end(end + 1);
    }
    return end;
}

/* Removes blanks from both ends. */
static char *
trim(char *text)
{
    size_t size;

    text += strspn(text, " ");
    size = strlen(text);
    while (size > 0 && text[size - 1] == ' ' &&
           (size == 1 || text[size - 2] != '\\'))
        text[--size] = '\0';
    return text;
}

/* Splits "bucket(COL,SIZE,ZONE)" in place. Returns false if it is something
 * else. */
static bool
split_bucket(char *text, struct colander_group_key *key)
{
    char *parts[3] = {NULL, NULL, NULL};
    char *at = text + strlen(BUCKET);

    if (text[strlen(text) - 1] != ')')
        return false;
    text[strlen(text) - 1] = '\0';
    for (size_t i = 0; i < 3 && at != NULL; i++) {
        char *end = argument_path_end(at);
        const bool is_last = *end == '\0';

        *end = '\0';
        parts[i] = trim(at);
        at = is_last ? NULL : end + 1;
    }
    key->path = parts[0];
    key->bucket = parts[1];
    key->zone = parts[2];
    return at == NULL && parts[1] != NULL && parts[0][0] != '\0';
}

/* Fails if there are too many columns, or if the path is that of the key. */
static enum colander_code
check_column(bool is_full, const char *path, const char *option,
             struct colander_error *err)
{
    const size_t size = strlen(COLANDER_KEY_COLUMN);

    if (is_full)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "at most %d columns to group by, and %d measures",
                             COLANDER_GROUP_KEYS_MAX,
                             COLANDER_GROUP_MEASURES_MAX);
    if (path == NULL || strncmp(path, COLANDER_KEY_COLUMN, size) != 0 ||
        strchr(".[", path[size]) == NULL)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "--%s: the key is not a column, and each row has "
                         "another: name a column",
                         option);
}

/* Fails for the column that finds add to rows of several families. */
static enum colander_code
check_family_column(const struct group_request *asked, const char *path,
                    struct colander_error *err)
{
    if (!asked->request.families.is_selection ||
        strcmp(path, FAMILY_COLUMN) != 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "--by " FAMILY_COLUMN
                         ": rows have no column with the name of their family: "
                         "group one family after the other");
}

/* Adds a key. It is called as its column, unless that is taken; then `word` is
 * the name. */
static enum colander_code
add_key(struct group_request *asked, const char *word,
        struct colander_error *err)
{
    struct colander_group_key key = {.path = word};
    char *text = strdup(word);
    char *name = NULL;
    enum colander_code code = keep_text(asked, text, err);

    if (code != COLANDER_OK)
        return code;
    if (strncmp(word, BUCKET, strlen(BUCKET)) == 0 && !split_bucket(text, &key))
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "--by: expected a column, or bucket(COL,SIZE) with "
            "a size such as 1h, not '%.100s'",
            word);
    code = check_column(asked->grouping.key_count == COLANDER_GROUP_KEYS_MAX,
                        key.path, "by", err);
    if (code == COLANDER_OK)
        code = check_family_column(asked, key.path, err);
    if (code == COLANDER_OK)
        code = keep_text(asked, name = plain_name(key.path), err);
    if (code != COLANDER_OK)
        return code;
    key.name = is_taken(asked, name) ? word : name;
    asked->keys[asked->grouping.key_count++] = key;
    return COLANDER_OK;
}

/* Adds a measure, called "avg t" or "count". */
static enum colander_code
add_measure(struct group_request *asked, const struct measure_option *option,
            const char *path, struct colander_error *err)
{
    struct colander_measure *measure =
        &asked->measures[asked->grouping.measure_count];
    char *plain = NULL;
    char *name = NULL;
    enum colander_code code = check_column(asked->grouping.measure_count ==
                                               COLANDER_GROUP_MEASURES_MAX,
                                           path, option->name, err);

    if (code != COLANDER_OK)
        return code;
    if (path != NULL && (plain = plain_name(path)) == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    if (asprintf(&name, "%s%s%s", option->name, path == NULL ? "" : " ",
                 path == NULL ? "" : plain) < 0)
        name = NULL;
    free(plain);
    code = keep_text(asked, name, err);
    if (code == COLANDER_OK && is_taken(asked, name)) { /* a column "count" */
        char *longer = NULL;

        if (asprintf(&longer, "%s()", name) < 0)
            longer = NULL;
        code = keep_text(asked, longer, err);
        name = longer;
    }
    if (code != COLANDER_OK)
        return code;
    measure->name = name;
    measure->aggregate = option->aggregate;
    measure->path = path;
    measure->quantile = option->quantile;
    asked->grouping.measure_count++;
    return COLANDER_OK;
}

static const struct measure_option *
measure_option(const char *name)
{
    for (size_t i = 0; i < MEASURE_OPTION_COUNT; i++) {
        if (strcmp(measure_options[i].name, name) == 0)
            return &measure_options[i];
    }
    return NULL;
}

/* Adds what an option says: columns, with commas between them. */
static enum colander_code
add_columns(struct group_request *asked, const struct argument_choice *choice,
            const struct measure_option *option, struct colander_error *err)
{
    char *text;
    enum colander_code code;

    if (choice->value == NULL)
        return option == NULL ? COLANDER_OK
                              : add_measure(asked, option, NULL, err);
    text = strdup(choice->value);
    code = keep_text(asked, text, err);
    while (code == COLANDER_OK && text != NULL) {
        char *end = option == NULL ? key_end(text) : argument_path_end(text);
        char *next = *end == ',' ? end + 1 : NULL;

        if (end == text)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "--%s has an empty column (write columns as "
                                 "a,b)",
                                 choice->option->name);
        *end = '\0';
        code = option == NULL ? add_key(asked, text, err)
                              : add_measure(asked, option, text, err);
        text = next;
    }
    return code;
}

/* Reads keys and measures in the order in which they were written. */
static enum colander_code
read_columns(struct group_request *asked, const struct arguments *arguments,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < arguments->choice_count && code == COLANDER_OK;
         i++) {
        const struct argument_choice *choice = &arguments->choices[i];
        const struct measure_option *option =
            measure_option(choice->option->name);

        if (option != NULL || strcmp(choice->option->name, "by") == 0)
            code = add_columns(asked, choice, option, err);
    }
    if (code == COLANDER_OK && asked->grouping.measure_count == 0)
        code = add_measure(asked, &measure_options[0], NULL, err);
    return code;
}

/* --------------------------------------------------------------- result --- */

/* Sets the paths of all columns. */
static enum colander_code
set_paths(struct group_request *asked, struct colander_error *err)
{
    const size_t count =
        asked->grouping.key_count + asked->grouping.measure_count;
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        const char *name = name_at(asked, i);
        char *text = NULL;

        colander_buffer_clear(&path);
        code = colander_path_append_name(&path, colander_slice_text(name), err);
        if (code == COLANDER_OK)
            text = strndup((const char *)path.data, path.size);
        if (code == COLANDER_OK)
            code = keep_text(asked, text, err);
        if (code == COLANDER_OK)
            asked->paths[asked->path_count++] = text;
    }
    colander_buffer_release(&path);
    return code;
}

static enum colander_code
read_fill(struct group_request *asked, const char *word,
          struct colander_error *err)
{
    static const char *const words[] = {"", "null", "prev", "0"};

    for (size_t i = 1; word != NULL && i < sizeof(words) / sizeof(words[0]);
         i++) {
        if (strcmp(word, words[i]) == 0) {
            asked->grouping.fill = (enum colander_fill)i;
            return COLANDER_OK;
        }
    }
    return word == NULL ? COLANDER_OK
                        : COLANDER_FAIL(err, COLANDER_INVALID,
                                        "--fill: expected null, prev or 0, not "
                                        "'%.100s'",
                                        word);
}

/* Whether the column of the result has numbers or null. */
static bool
is_number(const struct group_request *asked, size_t column)
{
    const size_t key_count = asked->grouping.key_count;

    if (column < key_count)
        return false;
    switch (asked->measures[column - key_count].aggregate) {
    case COLANDER_MIN:
    case COLANDER_MAX:
    case COLANDER_FIRST:
    case COLANDER_LAST:
        return false;
    default:
        return true;
    }
}

static bool
is_measure(const char *name, size_t size)
{
    for (size_t i = 0; i < MEASURE_OPTION_COUNT; i++) {
        if (strlen(measure_options[i].name) == size &&
            memcmp(measure_options[i].name, name, size) == 0)
            return true;
    }
    return false;
}

static enum colander_code
read_having(struct group_request *asked, const struct arguments *arguments,
            struct colander_error *err)
{
    struct colander_predicate **conditions =
        calloc(arguments->choice_count + 1, sizeof(*conditions));
    struct having_columns columns = {.paths = asked->paths,
                                     .count = asked->path_count,
                                     .is_measure = is_measure};
    size_t count = 0;
    enum colander_code code = COLANDER_OK;

    if (conditions == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for conditions");
    for (size_t i = 0; i < asked->path_count; i++) {
        columns.names[i] = name_at(asked, i);
        columns.is_number[i] = is_number(asked, i);
    }
    for (size_t i = 0; i < arguments->choice_count && code == COLANDER_OK;
         i++) {
        if (strcmp(arguments->choices[i].option->name, "having") != 0)
            continue;
        code = having_read(&columns, arguments->choices[i].value,
                           &conditions[count], err);
        count += code == COLANDER_OK;
        if (code != COLANDER_OK)
            colander_error_context(err, "--having");
    }
    if (code == COLANDER_OK && count > 0) {
        asked->having = colander_all_of(conditions, count, err);
        code = asked->having == NULL ? err->code : COLANDER_OK;
    } else {
        for (size_t i = 0; i < count; i++)
            colander_predicate_destroy(conditions[i]);
    }
    free(conditions);
    return code;
}

/* Sets the order to the column that `text` is the name of, or its path. */
static enum colander_code
set_order(struct group_request *asked, const char *text,
          struct colander_error *err)
{
    asked->grouping.order = text;
    for (size_t i = 0; text != NULL && i < asked->path_count; i++) {
        if (strcmp(name_at(asked, i), text) == 0 ||
            strcmp(asked->paths[i], text) == 0) {
            asked->grouping.order = name_at(asked, i);
            return COLANDER_OK;
        }
    }
    if (text == NULL || strchr(text, ',') == NULL)
        return COLANDER_OK; /* a column that is not there is reported later */
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "--order takes one column, not '%.100s'", text);
}

/* --order, --limit and --top are about groups, and not about rows. */
static enum colander_code
read_order(struct group_request *asked, const struct arguments *arguments,
           struct colander_error *err)
{
    struct colander_grouping *grouping = &asked->grouping;
    struct request *request = &asked->request;
    enum colander_code code;

    asked->order = request->order;
    request->order = NULL;
    code = set_order(asked, asked->order, err);
    if (code != COLANDER_OK)
        return code;
    grouping->is_descending = request->is_descending;
    grouping->limit = request->limit;
    request->limit = UINT64_MAX;
    request->query.limit = UINT64_MAX;
    if (!arguments_has(arguments, "top"))
        return COLANDER_OK;
    if (asked->order != NULL || arguments_has(arguments, "limit"))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--top excludes --order and --limit");
    code = arguments_number(arguments, "top", &grouping->limit, err);
    grouping->order = asked->measures[0].name;
    grouping->is_descending = true;
    return code;
}

/* What first and last are by: --time, or the time column. */
static enum colander_code
read_time(struct group_request *asked, const struct arguments *arguments,
          struct colander_family *family, struct colander_error *err)
{
    bool is_needed = false;
    bool found = true;
    enum colander_code code;

    for (size_t i = 0; i < asked->grouping.measure_count; i++)
        is_needed |= asked->measures[i].aggregate == COLANDER_FIRST ||
                     asked->measures[i].aggregate == COLANDER_LAST;
    asked->grouping.time_path = arguments_value(arguments, "time");
    if (!is_needed || asked->grouping.time_path != NULL)
        return COLANDER_OK;
    code =
        colander_family_time_column(family, &asked->time_column, &found, err);
    if (code == COLANDER_OK && !found)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "family '%s' has no time column: name the one of "
                             "--first and --last with --time COL",
                             arguments->words[0]);
    asked->grouping.time_path = (const char *)asked->time_column.data;
    return code;
}

enum colander_code
group_request_read(struct group_request *asked, const struct session *session,
                   const struct arguments *arguments,
                   struct colander_family *family, struct colander_error *err)
{
    uint64_t memory = MEMORY_MAX;
    enum colander_code code = read_columns(asked, arguments, err);

    asked->grouping.keys = asked->keys;
    asked->grouping.measures = asked->measures;
    asked->grouping.is_cancelled = interrupt_happened;
    if (code == COLANDER_OK)
        code = set_paths(asked, err);
    if (code == COLANDER_OK)
        code = read_fill(asked, arguments_value(arguments, "fill"), err);
    if (code == COLANDER_OK)
        code = read_having(asked, arguments, err);
    if (code == COLANDER_OK)
        code = read_order(asked, arguments, err);
    if (code == COLANDER_OK)
        code = read_time(asked, arguments, family, err);
    if (code == COLANDER_OK)
        code = arguments_size(arguments, "memory", &memory, err);
    if (code == COLANDER_OK && session->client != NULL && memory > MEMORY_MAX)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "--memory: in a server groups take at most 1g");
    asked->grouping.size_max = memory;
    asked->grouping.having = asked->having;
    return code;
}

void
group_request_release(struct group_request *asked)
{
    for (size_t i = 0; i < asked->text_count; i++)
        free(asked->texts[i]);
    free(asked->order);
    colander_predicate_destroy(asked->having);
    colander_buffer_release(&asked->time_column);
    request_release(&asked->request);
}
