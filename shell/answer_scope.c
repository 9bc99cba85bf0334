/* See answer_scope.h. SPDX-License-Identifier: MIT */
#include "shell/answer_scope.h"
#include "columns/union.h"
#include "columns/words.h"
#include "shell/interrupt.h"
#include "shell/text.h"

#include <limits.h>

#define WAIT_MS 30000

static enum colander_code
read_wait(const struct arguments *arguments, unsigned *wait_ms,
          struct colander_error *err)
{
    const char *text = arguments_value(arguments, "timeout");
    int64_t seconds;

    *wait_ms = WAIT_MS;
    if (text == NULL)
        return COLANDER_OK;
    if (!arguments_has(arguments, "fresh"))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--timeout is how long --fresh waits, which is "
                             "missing");
    if (!colander_duration_read(colander_slice_text(text), &seconds) ||
        seconds <= 0 || seconds > UINT_MAX / 1000)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--timeout must be a duration such as 10s, not "
                             "'%s'",
                             text);
    *wait_ms = (unsigned)seconds * 1000;
    return COLANDER_OK;
}

static bool
is_over(void *context)
{
    (void)context;
    return interrupt_happened();
}

enum colander_code
answer_scope_begin(struct answer_scope *scope, struct session *session,
                   const struct arguments *arguments,
                   struct colander_error *err)
{
    const struct session_client *client = session->client;
    const struct colander_union_view how = {
        .is_partial = arguments_has(arguments, "partial")};
    const bool is_fresh = arguments_has(arguments, "fresh");
    unsigned wait_ms;
    enum colander_code code = read_wait(arguments, &wait_ms, err);

    if (code != COLANDER_OK || !colander_store_is_union(session->store) ||
        (!how.is_partial && !is_fresh))
        return code; /* one store has all that was acknowledged */
    if (is_fresh && (client == NULL || client->open_fresh == NULL))
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "no node can say what the log has, as --fresh "
                             "needs");
    code =
        is_fresh
            ? client->open_fresh(
                  client->node,
                  arguments->word_count > 0 ? arguments->words[0] : NULL,
                  how.is_partial, wait_ms, is_over, NULL, &scope->view, err)
            : colander_union_open_view(session->store, &how, &scope->view, err);
    if (code != COLANDER_OK)
        return code;
    scope->whole = session->store;
    session->store = scope->view;
    return COLANDER_OK;
}

/* Says which partitions are missing, if some are. */
static enum colander_code
report(const struct session *session, const struct colander_names *names,
       struct colander_error *err)
{
    struct colander_row_builder *facts =
        session->client == NULL ? NULL : session->client->facts;
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    if (names->count == 0)
        return COLANDER_OK;
    if (facts != NULL)
        colander_row_builder_begin_array(facts, "missing");
    for (size_t i = 0; i < names->count && code == COLANDER_OK; i++) {
        if (facts != NULL)
            colander_row_builder_add(facts, NULL,
                                     colander_text(names->names[i]));
        code = text_append_format(&text, err, "%s%s", i == 0 ? "" : ", ",
                                  names->names[i]);
    }
    if (facts != NULL)
        colander_row_builder_end(facts);
    else if (code == COLANDER_OK)
        session_complain(session, SESSION_FINE,
                         "rows of these partitions are missing, which cannot "
                         "be read now: %.*s",
                         (int)text.size, (const char *)text.data);
    colander_buffer_release(&text);
    return code;
}

enum session_exit
answer_scope_end(struct answer_scope *scope, struct session *session,
                 enum session_exit status)
{
    struct colander_names missing = {NULL, 0};
    struct colander_error err;
    enum colander_code code;

    if (scope->view == NULL)
        return status;
    session->store = scope->whole;
    code = colander_union_missing(scope->view, &missing, &err);
    if (code == COLANDER_OK)
        code = report(session, &missing, &err);
    colander_names_release(&missing);
    if (code == COLANDER_OK)
        code = colander_store_close(scope->view, &err);
    return code == COLANDER_OK || status != SESSION_FINE
               ? status
               : session_fail(session, &err);
}
