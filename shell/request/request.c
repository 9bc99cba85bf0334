/* See request.h. SPDX-License-Identifier: MIT */
#include "shell/request.h"
#include "shell/conditions.h"
#include "shell/literals.h"

#include <stdlib.h>

struct conditions {
    struct colander_predicate **predicates;
    size_t count;
};

/* Adds the condition in `text`, or, with `is_any`, the value of an --any. */
static enum session_exit
add_condition(struct conditions *conditions, const struct session *session,
              const char *text, bool is_any)
{
    struct colander_predicate *predicate;
    struct colander_error err;
    size_t offset = 0;

    predicate = is_any ? condition_parse_any(text, &offset, &err)
                       : condition_parse(text, &offset, &err);
    if (predicate == NULL)
        return session_misread(session, text, offset, &err);
    conditions->predicates[conditions->count++] = predicate;
    return SESSION_FINE;
}

static enum session_exit
add_conditions(struct conditions *conditions, const struct session *session,
               const struct arguments *arguments)
{
    enum session_exit status = SESSION_FINE;

    for (size_t i = 1; i < arguments->word_count && status == SESSION_FINE; i++)
        status = add_condition(conditions, session, arguments->words[i], false);
    for (size_t i = 0; i < arguments->choice_count && status == SESSION_FINE;
         i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (strcmp(choice->option->name, "any") == 0)
            status = add_condition(conditions, session, choice->value, true);
    }
    return status;
}

/* Replaces `*where` by a predicate that only a scan can answer: the same, or
 * what no row meets. */
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

/* Joins all conditions to one predicate, if there are any. */
static enum session_exit
read_where(struct request *request, const struct session *session,
           const struct arguments *arguments)
{
    size_t room = arguments->word_count + arguments->choice_count + 1;
    struct conditions conditions = {NULL, 0};
    struct colander_error err;
    enum session_exit status;

    conditions.predicates = calloc(room, sizeof(*conditions.predicates));
    if (conditions.predicates == NULL)
        return session_complain(session, SESSION_FAILED,
                                "no memory for conditions");
    status = add_conditions(&conditions, session, arguments);
    if (status != SESSION_FINE) {
        for (size_t i = 0; i < conditions.count; i++)
            colander_predicate_destroy(conditions.predicates[i]);
    } else if (conditions.count > 0) {
        request->where =
            colander_all_of(conditions.predicates, conditions.count, &err);
        if (request->where == NULL ||
            (request->is_scan &&
             require_scan(&request->where, &err) != COLANDER_OK))
            status = session_misused(session, &err);
    }
    free(conditions.predicates);
    return status;
}

/* Reads the options that are keys. */
static enum session_exit
read_keys(struct request *request, const struct session *session,
          const struct arguments *arguments)
{
    const struct {
        const char *name;
        struct colander_buffer *key;
    } options[] = {
        {"key", &request->key},
        {"prefix", &request->prefix},
        {"from", &request->from},
        {"to", &request->to},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const char *text = arguments_value(arguments, options[i].name);
        struct colander_error err;
        size_t offset = 0;

        if (text == NULL || literals_parse_key(text, options[i].key, &offset,
                                               &err) == COLANDER_OK)
            continue;
        colander_error_context(&err, "--%s", options[i].name);
        return session_misread(session, text, offset, &err);
    }
    if (request->key.size > 0 &&
        request->prefix.size + request->from.size + request->to.size > 0)
        return session_complain(session, SESSION_USAGE,
                                "--key excludes --prefix, --from and --to");
    return SESSION_FINE;
}

static enum session_exit
read_expressions(struct request *request, const struct session *session,
                 const struct arguments *arguments)
{
    enum session_exit status = SESSION_FINE;
    struct colander_error err;

    if (!arguments_has(arguments, "where"))
        return SESSION_FINE;
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

static void
fill_query(struct request *request, const struct session *session,
           const struct arguments *arguments)
{
    struct colander_query *query = &request->query;
    bool explains = arguments_has(arguments, "explain");

    query->where = request->where;
    query->keys.exact = colander_buffer_slice(&request->key);
    query->keys.prefix = colander_buffer_slice(&request->prefix);
    query->keys.from = colander_buffer_slice(&request->from);
    query->keys.to = colander_buffer_slice(&request->to);
    if (request->expressions == NULL) {
        query->limit = request->limit;
        query->paths = request->selection.paths;
        query->path_count = request->selection.count;
    }
    query->is_reverse = arguments_has(arguments, "reverse");
    request->is_any = arguments_has(arguments, "any");
    query->reports_columns = request->is_any || explains;
    query->is_timed = explains || session_shows_counts(session);
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
        arguments_list(arguments, "select", &request->selection, &err) !=
            COLANDER_OK)
        return session_misused(session, &err);
    request->is_scan = arguments_has(arguments, "scan");
    status = read_keys(request, session, arguments);
    if (status == SESSION_FINE)
        status = read_where(request, session, arguments);
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
    colander_buffer_release(&request->key);
    colander_buffer_release(&request->prefix);
    colander_buffer_release(&request->from);
    colander_buffer_release(&request->to);
    memset(request, 0, sizeof(*request));
}
