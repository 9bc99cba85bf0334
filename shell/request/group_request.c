/* See group_request.h. SPDX-License-Identifier: MIT */
#include "shell/group_request.h"
#include "shell/interrupt.h"

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

/* Splits "bucket(COL,SIZE,ZONE)" in place. Returns false if it is something
 * else. The last comma that is followed by neither ends COL, so that a column
 * may have commas in its name. */
static bool
split_bucket(char *text, struct colander_group_key *key)
{
    static const char begin[] = "bucket(";
    const size_t size = strlen(text);
    char *last;
    char *before;

    if (strncmp(text, begin, strlen(begin)) != 0 || text[size - 1] != ')')
        return false;
    text[size - 1] = '\0';
    key->path = text + strlen(begin);
    last = strrchr(key->path, ',');
    if (last == NULL || last == key->path)
        return false;
    *last = '\0';
    key->bucket = last + 1;
    before = strrchr(key->path, ',');
    if (before != NULL && before[1] >= '0' && before[1] <= '9') {
        *before = '\0';
        key->zone = key->bucket;
        key->bucket = before + 1;
    }
    return true;
}

/* Adds the key of --by. A bucket is called as its column, unless that is taken;
 * then all of it is the name. */
static enum colander_code
add_key(struct group_request *asked, const char *word,
        struct colander_error *err)
{
    struct colander_group_key *key = &asked->keys[asked->grouping.key_count];
    char *text = strdup(word);
    enum colander_code code = keep_text(asked, text, err);

    if (code != COLANDER_OK)
        return code;
    memset(key, 0, sizeof(*key));
    key->name = key->path = word;
    if (strchr(word, '(') != NULL && word[strlen(word) - 1] == ')' &&
        !split_bucket(text, key))
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "--by: expected a column, or bucket(COL,SIZE) with "
            "a size such as 1h, not '%.100s'",
            word);
    if (key->bucket != NULL && !is_taken(asked, key->path))
        key->name = key->path;
    asked->grouping.key_count++;
    return COLANDER_OK;
}

/* Adds a measure, called "avg t" or "count". */
static enum colander_code
add_measure(struct group_request *asked, const struct measure_option *option,
            const char *path, struct colander_error *err)
{
    struct colander_measure *measure =
        &asked->measures[asked->grouping.measure_count];
    char *name = NULL;
    enum colander_code code;

    if (path == NULL)
        name = strdup(option->name);
    else if (asprintf(&name, "%s %s", option->name, path) < 0)
        name = NULL;
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

        if (asked->grouping.key_count == COLANDER_GROUP_KEYS_MAX ||
            asked->grouping.measure_count == COLANDER_GROUP_MEASURES_MAX)
            return COLANDER_FAIL(err, COLANDER_LIMIT,
                                 "at most %d columns to group by, and %d "
                                 "measures",
                                 COLANDER_GROUP_KEYS_MAX - 1,
                                 COLANDER_GROUP_MEASURES_MAX - 1);
        if (strcmp(choice->option->name, "by") == 0)
            code = add_key(asked, choice->value, err);
        else if (option != NULL)
            code = add_measure(asked, option, choice->value, err);
    }
    if (code == COLANDER_OK && asked->grouping.measure_count == 0)
        code = add_measure(asked, &measure_options[0], NULL, err);
    return code;
}

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

/* Returns the column whose name `text` begins with, the longest, if an operator
 * follows; or SIZE_MAX. */
static size_t
column_before(const struct group_request *asked, const char *text)
{
    size_t longest = SIZE_MAX;

    for (size_t i = 0; i < asked->path_count; i++) {
        const char *name = name_at(asked, i);
        const size_t size = strlen(name);

        if (strncmp(text, name, size) == 0 && text[size] != '\0' &&
            strchr("=!<>~?", text[size]) != NULL &&
            (longest == SIZE_MAX || size > strlen(name_at(asked, longest))))
            longest = i;
    }
    return longest;
}

/* Creates a condition on a column of the result, whose name is not a path. */
static enum colander_code
read_condition(const struct group_request *asked, const char *text,
               struct colander_predicate **condition,
               struct colander_error *err)
{
    const size_t column = column_before(asked, text);
    char *word = NULL;

    if (column == SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--having: '%.100s' does not begin with a column "
                             "of the groups, such as '%.100s', and an operator",
                             text, asked->measures[0].name);
    if (asprintf(&word, "%s%s", asked->paths[column],
                 text + strlen(name_at(asked, column))) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a condition");
    *condition = colander_where_text(word, err);
    free(word);
    if (*condition != NULL)
        return COLANDER_OK;
    colander_error_context(err, "--having");
    return err->code;
}

static enum colander_code
read_having(struct group_request *asked, const struct arguments *arguments,
            struct colander_error *err)
{
    struct colander_predicate **conditions =
        calloc(arguments->choice_count + 1, sizeof(*conditions));
    size_t count = 0;
    enum colander_code code = COLANDER_OK;

    if (conditions == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for conditions");
    for (size_t i = 0; i < arguments->choice_count && code == COLANDER_OK;
         i++) {
        if (strcmp(arguments->choices[i].option->name, "having") != 0)
            continue;
        code = read_condition(asked, arguments->choices[i].value,
                              &conditions[count], err);
        count += code == COLANDER_OK;
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
    grouping->order = asked->order;
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
