/* See question.h. SPDX-License-Identifier: MIT */
#include "serve/question.h"
#include "serve/parameters.h"

#include <stdlib.h>

/* Those that may be there once come first. */
static const char *const find_names[] = {
    "q",       "i",     "limit",  "skip",   "order", "reverse",
    "format",  "key",   "prefix", "from",   "to",    "explain",
    "timeout", "since", "until",  "cursor", "hints", "partial",
    "fresh",   "any",   "search", "select", NULL,
};
#define FIND_SINGLE_COUNT 19

static const char *const get_names[] = {"key",   "format", "timeout", "partial",
                                        "fresh", "select", NULL};
#define GET_SINGLE_COUNT 5

static const char *const key_names[] = {
    [COLANDER_KEY_EXACT] = "key",
    [COLANDER_KEY_PREFIX] = "prefix",
    [COLANDER_KEY_FROM] = "from",
    [COLANDER_KEY_TO] = "to",
};

/* ----------------------------------------------------------- conditions --- */

/* Reads `q` as a predicate, or NULL if there are no words. */
static enum colander_code
read_words(struct colander_predicate **where, const char *text, bool is_folded,
           size_t *offset, struct colander_error *err)
{
    struct colander_fault fault = {0, 0};
    struct words words;
    enum colander_code code = words_split(&words, text, offset, err);

    if (code != COLANDER_OK)
        return code;
    if (words.count > 0) {
        *where =
            (is_folded ? colander_where_words_icase : colander_where_words)(
                (const char *const *)words.words, words.count, &fault, err);
        if (*where == NULL) {
            code = err->code;
            *offset = words_place(&words, fault.word, fault.offset);
        }
    }
    words_release(&words);
    return code;
}

/* Fails if a word of `q` is looked for in any column and is the name of one. */
static enum colander_code
check_words(struct question *question, struct colander_family *family,
            const char **parameter, size_t *offset, struct colander_error *err)
{
    struct colander_fault fault = {0, 0};
    struct words words;
    const char *text;
    enum colander_code code;

    *parameter = "q";
    text = parameters_value(&question->parameters, *parameter);
    if (text == NULL)
        return COLANDER_OK;
    code = words_split(&words, text, offset, err);
    if (code != COLANDER_OK)
        return code;
    code = colander_family_check_words(family, (const char *const *)words.words,
                                       words.count, &fault, err);
    if (code != COLANDER_OK)
        *offset = words_place(&words, fault.word, fault.offset);
    words_release(&words);
    return code;
}

/* Joins the predicate to the others. */
static enum colander_code
join(struct question *question, struct colander_predicate *predicate,
     struct colander_error *err)
{
    struct colander_predicate *both[2] = {question->where, predicate};

    if (predicate == NULL)
        return err->code;
    question->where =
        both[0] == NULL ? predicate : colander_all_of(both, 2, err);
    return question->where == NULL ? err->code : COLANDER_OK;
}

static enum colander_code
read_conditions(struct question *question, const char **parameter,
                size_t *offset, struct colander_error *err)
{
    const struct parameters *parameters = &question->parameters;
    bool is_folded = false;
    enum colander_code code;

    *parameter = "i";
    code = parameters_flag(parameters, *parameter, &is_folded, err);
    for (size_t i = 0; i < parameters->count && code == COLANDER_OK; i++) {
        const struct parameter *one = &parameters->list[i];
        struct colander_predicate *where = NULL;

        *parameter = one->name;
        *offset = 0;
        if (strcmp(one->name, "q") == 0) {
            code = read_words(&where, one->value, is_folded, offset, err);
            if (code == COLANDER_OK && where != NULL)
                code = join(question, where, err);
        } else if (strcmp(one->name, "any") == 0) {
            where =
                (is_folded ? colander_where_any_text_icase
                           : colander_where_any_text)(one->value, offset, err);
            code = join(question, where, err);
        } else if (strcmp(one->name, "search") == 0) {
            where = colander_where_search_text(NULL, one->value, offset, err);
            code = join(question, where, err);
        }
    }
    return code;
}

/* -------------------------------------------------------------- columns --- */

/* Returns the end of a path: a comma that no backslash precedes, or the end. */
static char *
path_end(char *text)
{
    while (*text != '\0' && *text != ',')
        text += text[0] == '\\' && text[1] != '\0' ? 2 : 1;
    return text;
}

/* Cuts the values of `select` at commas. */
static enum colander_code
read_selection(struct question *question, const char **parameter,
               size_t *offset, struct colander_error *err)
{
    const struct parameters *parameters = &question->parameters;
    size_t room = 0;

    for (size_t i = 0; i < parameters->count; i++) {
        if (strcmp(parameters->list[i].name, "select") == 0)
            room += strlen(parameters->list[i].value) + 1;
    }
    if (room == 0)
        return COLANDER_OK;
    *parameter = "select";
    question->paths = calloc(room, sizeof(*question->paths));
    if (question->paths == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    for (size_t i = 0; i < parameters->count; i++) {
        char *start = (char *)parameters->list[i].value;
        bool is_last = strcmp(parameters->list[i].name, "select") != 0;

        for (char *at = start; !is_last;) {
            char *end = path_end(at);

            *offset = (size_t)(at - start);
            if (end == at)
                return COLANDER_FAIL(err, COLANDER_INVALID,
                                     "select has an empty column (write "
                                     "columns as a,b)");
            is_last = *end == '\0';
            *end = '\0';
            question->paths[question->path_count++] = at;
            at = end + 1;
        }
    }
    return COLANDER_OK;
}

/* Reads COL, COL:asc or COL:desc. The key is an order that finds have. */
static void
read_order(struct question *question)
{
    char *text = (char *)parameters_value(&question->parameters, "order");
    char *colon = text == NULL ? NULL : strrchr(text, ':');

    if (colon != NULL &&
        (strcmp(colon, ":desc") == 0 || strcmp(colon, ":asc") == 0)) {
        question->is_descending = colon[1] == 'd';
        *colon = '\0';
    }
    if (text != NULL && strcmp(text, COLANDER_KEY_COLUMN) == 0)
        question->query.is_reverse =
            question->query.is_reverse != question->is_descending;
    else
        question->order = text;
}

static enum colander_code
read_format(struct question *question, const char **parameter,
            struct colander_error *err)
{
    const char *text = parameters_value(&question->parameters, "format");

    *parameter = "format";
    question->is_msgpack = text != NULL && strcmp(text, "msgpack") == 0;
    if (text == NULL || question->is_msgpack || strcmp(text, "jsonl") == 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "no format '%s': use jsonl or msgpack", text);
}

static enum colander_code
read_flags(struct question *question, const char **parameter,
           struct colander_error *err)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"reverse", &question->query.is_reverse},
        {"explain", &question->explains},
        {"hints", &question->wants_hints},
        {"partial", &question->is_partial},
        {"fresh", &question->is_fresh},
    };
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0;
         i < sizeof(flags) / sizeof(flags[0]) && code == COLANDER_OK; i++) {
        *parameter = flags[i].name;
        code = parameters_flag(&question->parameters, *parameter, flags[i].flag,
                               err);
    }
    return code;
}

static enum colander_code
read_numbers(struct question *question, const char **parameter,
             struct colander_error *err)
{
    const struct parameters *parameters = &question->parameters;
    enum colander_code code;

    question->limit = UINT64_MAX;
    *parameter = "limit";
    code = parameters_number(parameters, *parameter, &question->limit, err);
    if (code != COLANDER_OK)
        return code;
    *parameter = "skip";
    code = parameters_number(parameters, *parameter, &question->skip, err);
    if (code != COLANDER_OK)
        return code;
    return read_flags(question, parameter, err);
}

/* --------------------------------------------------------------- cursor --- */

static int
digit_of(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* Reads the key that a find has got to, in hexadecimal digits. */
static enum colander_code
read_cursor(struct question *question, const char **parameter, size_t *offset,
            struct colander_error *err)
{
    const char *text;
    enum colander_code code = COLANDER_OK;

    *parameter = "cursor";
    text = parameters_value(&question->parameters, *parameter);
    question->wants_cursor = text != NULL;
    if (text == NULL)
        return COLANDER_OK;
    for (size_t i = 0; text[i] != '\0' && code == COLANDER_OK; i += 2) {
        const int high = digit_of(text[i]);
        const int low = high < 0 ? -1 : digit_of(text[i + 1]);
        const uint8_t byte = low < 0 ? 0 : (uint8_t)(16 * high + low);

        *offset = i;
        if (low < 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "not the cursor of an answer");
        code = colander_buffer_append(&question->cursor, &byte, 1, err);
    }
    if (code == COLANDER_OK && question->order != NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "a cursor is a key, and excludes order: use skip");
    return code;
}

/* Begins the range at the cursor, unless it begins later. */
static enum colander_code
apply_cursor(struct question *question, struct colander_error *err)
{
    struct colander_buffer *bound =
        &question->keys[question->query.is_reverse ? COLANDER_KEY_TO
                                                   : COLANDER_KEY_FROM];
    const struct colander_slice cursor =
        colander_buffer_slice(&question->cursor);
    const int order =
        colander_slice_compare(cursor, colander_buffer_slice(bound));

    if (cursor.size == 0 ||
        (bound->size > 0 &&
         (question->query.is_reverse ? order > 0 : order < 0)))
        return COLANDER_OK;
    colander_buffer_clear(bound);
    return colander_buffer_append(bound, cursor.data, cursor.size, err);
}

bool
question_passed(const struct question *question, struct colander_slice key)
{
    const struct colander_slice cursor =
        colander_buffer_slice(&question->cursor);

    if (cursor.size == 0)
        return false;
    return question->query.is_reverse
               ? colander_slice_compare(key, cursor) >= 0
               : colander_slice_compare(key, cursor) <= 0;
}

/* ---------------------------------------------------------------- times --- */

/* Joins the conditions that `since` and `until` are. */
static enum colander_code
read_times(struct question *question, struct colander_family *family,
           const char **parameter, struct colander_error *err)
{
    static const struct {
        const char *name;
        enum colander_operator how;
    } bounds[] = {
        {"since", COLANDER_OPERATOR_GE},
        {"until", COLANDER_OPERATOR_LT},
    };
    struct colander_buffer column = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;
    bool found = false;

    for (size_t i = 0; i < 2 && code == COLANDER_OK; i++) {
        const char *text =
            parameters_value(&question->parameters, bounds[i].name);
        struct colander_value value;

        if (text == NULL)
            continue;
        *parameter = bounds[i].name;
        code = colander_family_time_column(family, &column, &found, err);
        if (code == COLANDER_OK && !found)
            code = COLANDER_FAIL(err, COLANDER_INVALID,
                                 "family '%s' has no time column: set one with "
                                 "'colander families STORE FAMILY --time "
                                 "COLUMN', or by its schema in a cluster",
                                 colander_family_name(family));
        if (code == COLANDER_OK && !colander_moment_read(text, &value))
            code = COLANDER_FAIL(err, COLANDER_INVALID,
                                 "expected a time, a date or a duration such "
                                 "as 1h30m or 7d");
        if (code == COLANDER_OK)
            code = join(question,
                        colander_where_written((const char *)column.data,
                                               bounds[i].how, &value, 1, err),
                        err);
    }
    colander_buffer_release(&column);
    return code;
}

/* ---------------------------------------------------------------- whole --- */

static enum colander_code
read_all(struct question *question, bool is_get, const char **parameter,
         size_t *offset, struct colander_error *err)
{
    enum colander_code code;

    code = parameters_check(
        &question->parameters, is_get ? get_names : find_names,
        is_get ? GET_SINGLE_COUNT : FIND_SINGLE_COUNT, parameter, err);
    if (code == COLANDER_OK)
        code = read_numbers(question, parameter, err);
    if (code == COLANDER_OK)
        code = read_format(question, parameter, err);
    if (code == COLANDER_OK)
        code = read_conditions(question, parameter, offset, err);
    if (code == COLANDER_OK)
        code = read_selection(question, parameter, offset, err);
    if (code == COLANDER_OK)
        read_order(question);
    if (code == COLANDER_OK && !is_get)
        code = read_cursor(question, parameter, offset, err);
    *parameter = code == COLANDER_OK ? "key" : *parameter;
    if (code == COLANDER_OK && is_get &&
        parameters_value(&question->parameters, "key") == NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "the parameter 'key' is missing");
    return code;
}

enum colander_code
question_read(struct question *question, struct parameters *parameters,
              bool is_get, const char **parameter, size_t *offset,
              struct colander_error *err)
{
    const struct parameters none = {.list = NULL};
    enum colander_code code;

    *offset = 0;
    colander_query_init(&question->query);
    question->parameters = *parameters;
    code = read_all(question, is_get, parameter, offset, err);
    if (code == COLANDER_OK)
        *parameters = none;
    else
        question->parameters = none; /* still the caller's */
    return code;
}

static void
fill_query(struct question *question)
{
    const struct colander_buffer *keys = question->keys;
    struct colander_query *query = &question->query;

    query->where = question->where;
    question->is_any = question->where != NULL &&
                       colander_predicate_asks_any_column(question->where);
    query->keys.exact = colander_buffer_slice(&keys[COLANDER_KEY_EXACT]);
    query->keys.prefix = colander_buffer_slice(&keys[COLANDER_KEY_PREFIX]);
    query->keys.from = colander_buffer_slice(&keys[COLANDER_KEY_FROM]);
    query->keys.to = colander_buffer_slice(&keys[COLANDER_KEY_TO]);
    query->reports_columns = question->is_any;
    query->is_timed = question->explains;
    if (question->order != NULL)
        return; /* by a column that may not be selected */
    query->paths = question->paths;
    query->path_count = question->path_count;
    if (question->limit < UINT64_MAX - question->skip - 1 &&
        !(question->cursor.size > 0 && query->is_reverse))
        query->limit = question->limit + question->skip +
                       (question->cursor.size > 0); /* its row */
}

enum colander_code
question_resolve(struct question *question, struct colander_family *family,
                 const char **parameter, size_t *offset,
                 struct colander_error *err)
{
    const struct colander_buffer *keys = question->keys;
    enum colander_code code = COLANDER_OK;

    for (int use = COLANDER_KEY_EXACT;
         use <= COLANDER_KEY_TO && code == COLANDER_OK; use++) {
        const char *text =
            parameters_value(&question->parameters, key_names[use]);

        *parameter = key_names[use];
        if (text != NULL)
            code = colander_family_read_key(family, text,
                                            (enum colander_key_use)use,
                                            &question->keys[use], offset, err);
    }
    if (code == COLANDER_OK)
        code = check_words(question, family, parameter, offset, err);
    if (code == COLANDER_OK)
        code = read_times(question, family, parameter, err);
    if (code != COLANDER_OK)
        return code;
    if (keys[COLANDER_KEY_EXACT].size > 0 &&
        keys[COLANDER_KEY_PREFIX].size + keys[COLANDER_KEY_FROM].size +
                keys[COLANDER_KEY_TO].size >
            0) {
        *parameter = "key";
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "key excludes prefix, from and to");
    }
    *parameter = question->cursor.size > 0 ? "cursor" : NULL;
    if (keys[COLANDER_KEY_EXACT].size > 0 && question->cursor.size > 0)
        return COLANDER_FAIL(err, COLANDER_INVALID, "key excludes cursor");
    code = apply_cursor(question, err);
    if (code == COLANDER_OK)
        fill_query(question);
    return code;
}

void
question_release(struct question *question)
{
    colander_predicate_destroy(question->where);
    free(question->paths);
    colander_buffer_release(&question->cursor);
    for (size_t i = 0; i < sizeof(question->keys) / sizeof(question->keys[0]);
         i++)
        colander_buffer_release(&question->keys[i]);
    parameters_release(&question->parameters);
    memset(question, 0, sizeof(*question));
}
