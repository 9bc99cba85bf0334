/* See topic_stream.h. SPDX-License-Identifier: MIT */
#include "node/topic_stream.h"

#define FAR_BEHIND 100000 /* records: rows may wait for those after them */

static enum colander_code
next(void *context, unsigned wait_ms, struct colander_load_place *place,
     struct colander_slice *record, const char **fault, bool *found,
     bool *is_end, struct colander_error *err)
{
    struct topic_record next;
    const enum colander_code code =
        topic_reader_next(context, wait_ms, &next, found, is_end, err);

    if (code != COLANDER_OK || !*found)
        return code;
    *place = (struct colander_load_place){next.topic, next.partition,
                                          next.offset, next.time_ms};
    *record = next.value;
    *fault = next.is_null ? "the record is null: rows are not deleted" : NULL;
    return COLANDER_OK;
}

static enum colander_code
mark(void *context, struct colander_slice *name, struct colander_slice *value,
     bool *found, struct colander_error *err)
{
    return topic_reader_mark(context, name, value, found, err);
}

static bool
is_behind(void *context)
{
    struct topic_reader_state state;

    topic_reader_state(context, &state);
    return state.lag >= FAR_BEHIND;
}

struct colander_load_stream
topic_stream(struct topic_reader *reader, struct colander_family *rejects)
{
    return (struct colander_load_stream){reader, next, mark, is_behind,
                                         rejects};
}
