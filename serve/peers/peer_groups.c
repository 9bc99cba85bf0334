/* See peer_groups.h. SPDX-License-Identifier: MIT */
#include "serve/peers/peer_groups.h"

#include "columns/group_bytes.h"
#include "columns/query_bytes.h"
#include "serve/peers/call.h"
#include "serve/peers/explanation.h"

#include <stdlib.h>

struct peer_grouping {
    struct call call;
    struct colander_groups *groups;
    struct colander_explain explain;
};

/* Appends what is asked to the body. */
static enum colander_code
append_asked(struct peer_grouping *grouping, const struct colander_query *query,
             struct colander_error *err)
{
    struct colander_buffer *body = &grouping->call.body;
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_query_encode(query, &bytes, err);

    if (code == COLANDER_OK)
        code =
            peer_append(body, PEER_QUERY, colander_buffer_slice(&bytes), err);
    colander_buffer_clear(&bytes);
    if (code == COLANDER_OK)
        code = colander_grouping_encode(grouping->groups, &bytes, err);
    if (code == COLANDER_OK)
        code = peer_append(body, PEER_GROUPING, colander_buffer_slice(&bytes),
                           err);
    colander_buffer_release(&bytes);
    return code;
}

enum colander_code
peer_groups_open(void *store, const char *family,
                 const struct colander_query *query,
                 struct colander_groups *groups, void **opened,
                 struct colander_error *err)
{
    struct peer_grouping *grouping = calloc(1, sizeof(*grouping));
    enum colander_code code;

    *opened = NULL;
    if (grouping == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot group rows");
    grouping->call.store = store;
    grouping->call.groups = groups;
    grouping->groups = groups;
    explanation_begin(&grouping->explain);
    code = call_begin_body(&grouping->call, family, &query->keys, err);
    if (code == COLANDER_OK)
        code = append_asked(grouping, query, err);
    if (code == COLANDER_OK && !grouping->call.is_void)
        code = call_begin(&grouping->call, PEER_GROUP, family, err);
    if (code == COLANDER_OK && !grouping->call.is_void)
        call_send(&grouping->call);
    if (code == COLANDER_OK)
        *opened = grouping;
    else
        peer_groups_close(grouping);
    return code;
}

static enum colander_code
take(void *context, uint8_t kind, struct colander_slice data,
     struct colander_error *err)
{
    struct peer_grouping *grouping = context;

    if (kind == PEER_GROUPS)
        return colander_groups_add_bytes(grouping->groups, data, err);
    if (kind == PEER_ALIVE)
        return COLANDER_OK;
    if (kind != PEER_WORDS && kind != PEER_NUMBERS)
        return COLANDER_INVALID;
    explanation_take(&grouping->explain, kind, data);
    return COLANDER_OK;
}

enum colander_code
peer_groups_finish(void *context, struct colander_explain *explain,
                   struct colander_error *err)
{
    struct peer_grouping *grouping = context;
    enum colander_code code = COLANDER_OK;

    if (!grouping->call.is_void)
        code = call_take_all(&grouping->call, take, grouping, err);
    *explain = grouping->explain;
    explanation_add_unasked(explain, &grouping->call);
    return code;
}

void
peer_groups_close(void *context)
{
    struct peer_grouping *grouping = context;

    call_release(&grouping->call);
    free(grouping);
}
