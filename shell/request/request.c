/* See request.h. SPDX-License-Identifier: MIT */
#include "shell/request.h"
#include "columns/union.h"
#include "shell/nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct conditions {
    struct colander_predicate **predicates;
    size_t count;
};

/* Takes the predicate. NULL is a mistake in `text`. */
static enum session_exit
add_condition(struct conditions *conditions, const struct session *session,
              struct colander_predicate *predicate, const char *text,
              size_t offset, const struct colander_error *err)
{
    if (predicate == NULL)
        return session_misread(session, text, offset, err);
    conditions->predicates[conditions->count++] = predicate;
    return SESSION_FINE;
}

/* Adds the words after the family. One that is looked for in any column must
 * not be the name of one. */
static enum session_exit
add_words(struct conditions *conditions, const struct session *session,
          const struct arguments *arguments, struct colander_family *family)
{
    const char *const *words = (const char *const *)arguments->words + 1;
    const size_t count = arguments->word_count - 1;
    struct colander_fault fault = {0, 0};
    struct colander_predicate *predicate;
    struct colander_error err;

    if (arguments->word_count < 2)
        return SESSION_FINE;
    predicate = (arguments_has(arguments, "i")
                     ? colander_where_words_icase
                     : colander_where_words)(words, count, &fault, &err);
    if (predicate != NULL &&
        colander_family_check_words(family, words, count, &fault, &err) !=
            COLANDER_OK) {
        colander_predicate_destroy(predicate);
        predicate = NULL;
    }
    return add_condition(conditions, session, predicate, words[fault.word],
                         fault.offset, &err);
}

static enum session_exit
add_conditions(struct conditions *conditions, const struct session *session,
               const struct arguments *arguments,
               struct colander_family *family)
{
    enum session_exit status =
        add_words(conditions, session, arguments, family);
    const bool is_folded = arguments_has(arguments, "i");

    for (size_t i = 0; i < arguments->choice_count && status == SESSION_FINE;
         i++) {
        const struct argument_choice *choice = &arguments->choices[i];
        struct colander_predicate *predicate;
        struct colander_error err;
        size_t offset = 0;

        if (strcmp(choice->option->name, "any") == 0)
            predicate = (is_folded ? colander_where_any_text_icase
                                   : colander_where_any_text)(choice->value,
                                                              &offset, &err);
        else if (strcmp(choice->option->name, "search") == 0)
            predicate =
                colander_where_search_text(NULL, choice->value, &offset, &err);
        else
            continue;
        status = add_condition(conditions, session, predicate, choice->value,
                               offset, &err);
    }
    return status;
}

/* Adds the condition of --since or --until, if it is there. */
static enum session_exit
add_time(struct conditions *conditions, const struct session *session,
         const struct arguments *arguments, const char *column,
         const char *name, enum colander_operator how)
{
    const char *text = arguments_value(arguments, name);
    struct colander_predicate *predicate = NULL;
    struct colander_value value;
    struct colander_error err;

    if (text == NULL)
        return SESSION_FINE;
    if (colander_moment_read(text, &value))
        predicate = colander_where_written(column, how, &value, 1, &err);
    else
        (void)COLANDER_FAIL(&err, COLANDER_INVALID,
                            "--%s: expected a time, a date or a duration such "
                            "as 1h30m or 7d%s",
                            name,
                            text[0] != '\0' &&
                                    text[strspn(text, "0123456789")] == '\0'
                                ? ", not a number alone (a year is written "
                                  "2015-01-01)"
                                : "");
    return add_condition(conditions, session, predicate, text, 0, &err);
}

/* Complains unless the families have one time column. */
static enum session_exit
check_times(const struct family_set *families, const struct session *session,
            const char *column)
{
    struct colander_buffer other = COLANDER_BUFFER_EMPTY;
    enum session_exit status = SESSION_FINE;
    struct colander_error err;

    for (size_t i = 0; i < families->count && status == SESSION_FINE; i++) {
        struct colander_family *family = families->families[i];
        bool found;

        if (colander_family_time_column(family, &other, &found, &err) !=
            COLANDER_OK)
            status = session_fail(session, &err);
        else if (!found || strcmp((const char *)other.data, column) != 0)
            status = session_complain(
                session, SESSION_USAGE,
                "families '%s' and '%s' have different time columns",
                colander_family_name(families->model),
                colander_family_name(family));
    }
    colander_buffer_release(&other);
    return status;
}

static enum session_exit
add_times(struct conditions *conditions, const struct session *session,
          const struct arguments *arguments, const struct family_set *families)
{
    struct colander_family *family = families->model;
    struct colander_buffer column = COLANDER_BUFFER_EMPTY;
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    bool found = true;

    if (!arguments_has(arguments, "since") &&
        !arguments_has(arguments, "until"))
        return SESSION_FINE;
    if (colander_family_time_column(family, &column, &found, &err) !=
        COLANDER_OK) {
        status = session_fail(session, &err);
    } else if (!found && colander_store_is_union(session->store)) {
        status = session_complain(
            session, SESSION_USAGE,
            "family '%s' has no time column for --since and --until, as its "
            "schema names none: write a condition, such as 'TIME>=2026-01-01'",
            colander_family_name(family));
    } else if (!found) {
        status = session_complain(
            session, SESSION_USAGE,
            "family '%s' has no time column for --since and --until: set one "
            "with 'colander families STORE %s --time COLUMN'",
            colander_family_name(family), colander_family_name(family));
    } else {
        const char *path = (const char *)column.data;

        status = check_times(families, session, path);
        if (status == SESSION_FINE)
            status = add_time(conditions, session, arguments, path, "since",
                              COLANDER_OPERATOR_GE);
        if (status == SESSION_FINE)
            status = add_time(conditions, session, arguments, path, "until",
                              COLANDER_OPERATOR_LT);
    }
    colander_buffer_release(&column);
    return status;
}

/* Replaces `*where` by a predicate that only a scan can answer: the same, or
 * what no row meets. A find in an order knows it by that. */
static enum colander_code
require_scan(struct colander_predicate **where, struct colander_error *err)
{
    struct colander_predicate *operands[2] = {*where, NULL};
    struct colander_predicate *every = colander_all_of(NULL, 0, err);

    *where = NULL;
    if (every != NULL)
        operands[1] = colander_not(every, err);
    if (operands[1] == NULL) {
        colander_predicate_destroy(operands[0]);
        return err->code;
    }
    *where = colander_any_of(operands, 2, err);
    return *where == NULL ? err->code : COLANDER_OK;
}

/* Complains of a condition on the column that only printed rows have. */
static enum session_exit
refuse_family_column(const struct request *request,
                     const struct session *session)
{
    struct colander_condition condition;

    for (size_t i = 0;
         request->families.is_selection && request->where != NULL &&
         colander_predicate_condition(request->where, i, &condition);
         i++) {
        if (strcmp(condition.path, FAMILY_COLUMN) == 0)
            return session_complain(session, SESSION_USAGE,
                                    FAMILY_COLUMN
                                    " is not a column: name the families, "
                                    "such as 'logs/2026-03-*', or use --where");
    }
    return SESSION_FINE;
}

/* Joins all conditions to one predicate, if there are any. */
static enum session_exit
read_where(struct request *request, const struct session *session,
           const struct arguments *arguments)
{
    const struct family_set *families = &request->families;
    size_t room = arguments->word_count + arguments->choice_count + 1;
    struct conditions conditions = {NULL, 0};
    struct colander_error err;
    enum session_exit status;

    conditions.predicates = calloc(room, sizeof(*conditions.predicates));
    if (conditions.predicates == NULL)
        return session_complain(session, SESSION_FAILED,
                                "no memory for conditions");
    status = add_conditions(&conditions, session, arguments, families->model);
    if (status == SESSION_FINE)
        status = add_times(&conditions, session, arguments, families);
    if (status != SESSION_FINE) {
        for (size_t i = 0; i < conditions.count; i++)
            colander_predicate_destroy(conditions.predicates[i]);
    } else if (conditions.count > 0 || request->is_scan) {
        request->has_conditions = conditions.count > 0;
        request->where =
            colander_all_of(conditions.predicates, conditions.count, &err);
        if (request->where == NULL ||
            (request->is_scan &&
             require_scan(&request->where, &err) != COLANDER_OK))
            status = session_misused(session, &err);
    }
    free(conditions.predicates);
    return status == SESSION_FINE ? refuse_family_column(request, session)
                                  : status;
}

static const struct key_option {
    const char *name;
    enum colander_key_use use;
} key_options[] = {
    {"key", COLANDER_KEY_EXACT},
    {"prefix", COLANDER_KEY_PREFIX},
    {"from", COLANDER_KEY_FROM},
    {"to", COLANDER_KEY_TO},
};

#define KEY_OPTION_COUNT (sizeof(key_options) / sizeof(key_options[0]))

static enum session_exit
read_key(struct request *request, const struct session *session,
         struct colander_family *family, const struct key_option *option,
         const char *text)
{
    struct colander_error err;
    size_t offset = 0;
    enum colander_code code = colander_family_read_key(
        family, text, option->use, &request->keys[option->use], &offset, &err);

    if (code == COLANDER_OK)
        return SESSION_FINE;
    colander_error_context(&err, "--%s", option->name);
    return session_misread(session, text, offset, &err);
}

/* Reads the options that are keys. */
static enum session_exit
read_keys(struct request *request, const struct session *session,
          const struct arguments *arguments)
{
    struct colander_family *family = request->families.model;
    const struct colander_buffer *keys = request->keys;
    enum session_exit status = SESSION_FINE;

    for (size_t i = 0; i < KEY_OPTION_COUNT && status == SESSION_FINE; i++) {
        const char *text = arguments_value(arguments, key_options[i].name);

        if (text != NULL)
            status = read_key(request, session, family, &key_options[i], text);
    }
    if (status == SESSION_FINE && keys[COLANDER_KEY_EXACT].size > 0 &&
        keys[COLANDER_KEY_PREFIX].size + keys[COLANDER_KEY_FROM].size +
                keys[COLANDER_KEY_TO].size >
            0)
        return session_complain(session, SESSION_USAGE,
                                "--key excludes --prefix, --from and --to");
    return status;
}

/* Reads the time of an option, if it is there and can be read. */
static const struct colander_value *
read_bound(const struct arguments *arguments, const char *name,
           struct colander_value *bound)
{
    const char *text = arguments_value(arguments, name);
    struct colander_times times;

    if (text == NULL || !colander_moment_read(text, bound))
        return NULL;
    if (bound->type == COLANDER_STRING) {
        if (!colander_times_read(bound->bytes, &times))
            return NULL;
        *bound = times.first;
    }
    return bound;
}

/* Opens the families, as far as their times are asked for. */
static enum session_exit
open_families(struct request *request, const struct session *session,
              const struct arguments *arguments)
{
    struct colander_value since, until;
    const struct family_times times = {
        read_bound(arguments, "since", &since),
        read_bound(arguments, "until", &until),
    };
    struct colander_error err;

    if (family_set_open(&request->families, session, arguments->words[0],
                        &times, &err) != COLANDER_OK)
        return session_misused(session, &err);
    request->query.snapshot = request->families.snapshot;
    return SESSION_FINE;
}

/* Reads keys and conditions, which may mean something else in each family. */
static enum session_exit
read_rows(struct request *request, const struct session *session,
          const struct arguments *arguments)
{
    enum session_exit status = open_families(request, session, arguments);

    if (status == SESSION_FINE)
        status = read_keys(request, session, arguments);
    if (status == SESSION_FINE)
        status = read_where(request, session, arguments);
    return status;
}

static enum session_exit
read_expressions(struct request *request, const struct session *session,
                 const struct arguments *arguments)
{
    enum session_exit status = SESSION_FINE;
    struct colander_error err;

    if (!arguments_has(arguments, "where"))
        return SESSION_FINE;
    if (session->client != NULL && !session->client->may_run_lua)
        return session_complain(session, SESSION_USAGE,
                                "--where: the server runs no Lua for clients "
                                "from elsewhere, unless it is started with "
                                "--lua");
    request->expressions = where_create();
    if (request->expressions == NULL) {
        (void)COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory for Lua");
        return session_fail(session, &err);
    }
    for (size_t i = 0; i < arguments->choice_count && status == SESSION_FINE;
         i++) {
        const struct argument_choice *choice = &arguments->choices[i];
        size_t offset = 0;

        if (strcmp(choice->option->name, "where") != 0 ||
            where_add(request->expressions, choice->value, &offset, &err) ==
                COLANDER_OK)
            continue;
        colander_error_context(&err, "--where");
        status = session_misread(session, choice->value, offset, &err);
    }
    return status;
}

/* Whether the text ends with :asc or :desc, at *colon. */
static bool
ends_with_order(const char *text, const char **colon)
{
    *colon = strrchr(text, ':');
    return *colon != NULL &&
           (strcmp(*colon, ":desc") == 0 || strcmp(*colon, ":asc") == 0);
}

enum colander_code
request_check_order(const char *text, struct colander_error *err)
{
    static const char *const ends[] = {"desc", "asc", "descending",
                                       "ascending"};
    const size_t size = strlen(text);
    const char *colon;
    size_t column = ends_with_order(text, &colon) ? 0 : size;

    while (column > 0 && text[column - 1] != ':' && text[column - 1] != ' ')
        column--;
    if (column < 2)
        return COLANDER_OK;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct nearest nearest = {.wanted = text + column};

        nearest_offer(&nearest, ends[i]);
        if (nearest.name != NULL)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "'%.200s': write '%.*s:%s', or "
                                 "'%.200s:asc' if that is the column",
                                 text, (int)(column - 1), text,
                                 i % 2 == 0 ? "desc" : "asc", text);
    }
    return COLANDER_OK;
}

/* Reads --order COL[:asc|:desc]. The key is an order that finds have. */
static enum colander_code
read_order(struct request *request, const struct arguments *arguments,
           struct colander_error *err)
{
    const char *text = arguments_value(arguments, "order");
    enum colander_code code;
    const char *colon;
    size_t size;

    request->query.is_reverse = arguments_has(arguments, "reverse");
    if (text == NULL)
        return COLANDER_OK;
    code = request_check_order(text, err);
    if (code != COLANDER_OK) {
        colander_error_context(err, "--order");
        return code;
    }
    size = strlen(text);
    if (ends_with_order(text, &colon)) {
        request->is_descending = colon[1] == 'd';
        size = (size_t)(colon - text);
    }
    if (size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--order has an empty column");
    if (size == strlen(COLANDER_KEY_COLUMN) &&
        strncmp(text, COLANDER_KEY_COLUMN, size) == 0) {
        request->query.is_reverse =
            request->query.is_reverse != request->is_descending;
        return COLANDER_OK;
    }
    request->order = strndup(text, size);
    return request->order != NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
}

static void
fill_query(struct request *request, const struct session *session,
           const struct arguments *arguments)
{
    const struct colander_buffer *keys = request->keys;
    struct colander_query *query = &request->query;
    bool explains = arguments_has(arguments, "explain");

    query->where = request->where;
    query->keys.exact = colander_buffer_slice(&keys[COLANDER_KEY_EXACT]);
    query->keys.prefix = colander_buffer_slice(&keys[COLANDER_KEY_PREFIX]);
    query->keys.from = colander_buffer_slice(&keys[COLANDER_KEY_FROM]);
    query->keys.to = colander_buffer_slice(&keys[COLANDER_KEY_TO]);
    if (request->expressions == NULL && request->order == NULL) {
        if (request->limit < UINT64_MAX - request->skip)
            query->limit = request->limit + request->skip;
        query->paths = request->selection.paths;
        query->path_count = request->selection.count;
    }
    request->is_any = request->where != NULL &&
                      colander_predicate_asks_any_column(request->where);
    query->reports_columns = request->is_any || explains;
    query->is_timed = explains || session_shows_costs(session);
}

enum session_exit
request_read(struct request *request, const struct session *session,
             const struct arguments *arguments)
{
    enum session_exit status;
    struct colander_error err;

    memset(request, 0, sizeof(*request));
    colander_query_init(&request->query);
    request->limit = UINT64_MAX;
    if (arguments_number(arguments, "limit", &request->limit, &err) !=
            COLANDER_OK ||
        arguments_number(arguments, "skip", &request->skip, &err) !=
            COLANDER_OK ||
        read_order(request, arguments, &err) != COLANDER_OK ||
        arguments_list(arguments, "select", &request->selection, &err) !=
            COLANDER_OK)
        return session_misused(session, &err);
    request->is_scan = arguments_has(arguments, "scan");
    status = read_rows(request, session, arguments);
    if (status == SESSION_FINE)
        status = read_expressions(request, session, arguments);
    if (status == SESSION_FINE)
        fill_query(request, session, arguments);
    return status;
}

void
request_release(struct request *request)
{
    colander_predicate_destroy(request->where);
    where_destroy(request->expressions);
    argument_list_release(&request->selection);
    free(request->order);
    for (size_t i = 0; i < KEY_OPTION_COUNT; i++)
        colander_buffer_release(&request->keys[i]);
    family_set_release(&request->families);
    memset(request, 0, sizeof(*request));
}
