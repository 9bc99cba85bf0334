/* See load_items.h. SPDX-License-Identifier: MIT */
#include "shell/load_items.h"
#include "core/clock.h"
#include "loading/load.h"
#include "shell/text.h"

#include <inttypes.h>

/* How clients of Elasticsearch know an outcome. */
static const struct {
    unsigned status;
    const char *result;
    const char *error;
} outcomes[] = {
    [COLANDER_LOAD_CREATED] = {201, "created", NULL},
    [COLANDER_LOAD_UPDATED] = {200, "updated", NULL},
    [COLANDER_LOAD_DELETED] = {200, "deleted", NULL},
    [COLANDER_LOAD_MISSING] = {404, "not_found", "document_missing_exception"},
    [COLANDER_LOAD_EXISTS] = {409, NULL, "version_conflict_engine_exception"},
    [COLANDER_LOAD_INVALID] = {400, NULL, "document_parsing_exception"},
};

void
load_items_begin(struct load_items *items, const struct session *session)
{
    memset(items, 0, sizeof(*items));
    items->out = session_out(session);
    items->begun = clock_us();
    fprintf(items->out, "{\"items\":[");
}

/* Appends a text as a string of JSON. Bytes that are none become question
 * marks. */
static enum colander_code
append_text(struct colander_buffer *json, struct colander_slice text,
            struct colander_error *err)
{
    struct colander_buffer clean = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    enum colander_code code = text_append_printable(&clean, text, err);

    value = colander_string(colander_buffer_slice(&clean));
    if (code == COLANDER_OK)
        code = colander_json_append_value(json, &value, err);
    colander_buffer_release(&clean);
    return code;
}

/* Appends the text of a name or an id, as it is. Clients take each item to have
 * a name, which may be empty. */
static enum colander_code
append_name(struct colander_buffer *json, const char *name,
            struct colander_slice text, struct colander_error *err)
{
    const struct colander_value value = colander_string(text);
    enum colander_code code = COLANDER_OK;

    if (text.size == 0 && strcmp(name, "_index") != 0)
        return code;
    code = text_append_format(json, err, "\"%s\":", name);
    if (code == COLANDER_OK)
        code = colander_json_append_value(json, &value, err);
    return code == COLANDER_OK ? colander_buffer_append(json, ",", 1, err)
                               : code;
}

static enum colander_code
append_error(struct colander_buffer *json, const char *type, const char *reason,
             struct colander_error *err)
{
    enum colander_code code = text_append_format(
        json, err, ",\"error\":{\"type\":\"%s\",\"reason\":", type);

    if (code == COLANDER_OK)
        code = append_text(json, colander_slice_text(reason), err);
    return code == COLANDER_OK ? colander_buffer_append(json, "}", 1, err)
                               : code;
}

static enum colander_code
append_item(struct colander_buffer *json, const struct colander_load_item *item,
            struct colander_error *err)
{
    const char *result = outcomes[item->outcome].result;
    enum colander_code code =
        text_append_format(json, err, "{\"%s\":{", item->action);

    if (code == COLANDER_OK)
        code = append_name(json, "_index", item->family, err);
    if (code == COLANDER_OK)
        code = append_name(json, "_id", item->id, err);
    if (code == COLANDER_OK)
        code = text_append_format(json, err, "\"status\":%u",
                                  outcomes[item->outcome].status);
    if (code == COLANDER_OK && item->reason == NULL)
        code = text_append_format(json, err, ",\"result\":\"%s\"", result);
    if (code == COLANDER_OK && item->reason != NULL)
        code = append_error(json, outcomes[item->outcome].error, item->reason,
                            err);
    return code == COLANDER_OK ? colander_buffer_append(json, "}}", 2, err)
                               : code;
}

enum colander_code
load_items_take(struct load_items *items, const struct colander_load_item *item,
                struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(&items->json);
    if (items->count++ > 0)
        code = colander_buffer_append(&items->json, ",", 1, err);
    if (code == COLANDER_OK)
        code = append_item(&items->json, item, err);
    items->has_errors = items->has_errors || item->reason != NULL;
    items->size += items->json.size;
    if (code == COLANDER_OK && items->size > LOAD_ITEMS_SIZE_MAX)
        code = COLANDER_FAIL(err, COLANDER_LIMIT,
                             "the answer is over %zu bytes: send fewer items "
                             "at once",
                             LOAD_ITEMS_SIZE_MAX);
    if (code == COLANDER_OK && fwrite(items->json.data, 1, items->json.size,
                                      items->out) != items->json.size)
        code = COLANDER_FAIL(err, COLANDER_IO, "cannot write the answer");
    return code;
}

void
load_items_end(struct load_items *items)
{
    fprintf(items->out, "],\"errors\":%s,\"took\":%" PRIu64 "}\n",
            items->has_errors ? "true" : "false",
            (clock_us() - items->begun) / 1000);
    colander_buffer_release(&items->json);
}
