/* See topic_stream.h. SPDX-License-Identifier: MIT */
#include "node/topic_stream.h"

#include <stdio.h>

#define COUNT 5           /* of operations */
#define FAR_BEHIND 100000 /* records: rows may wait for those after them */

/* Sets what a record does, by its header. A null deletes. */
static void
set_operation(struct topic_stream *records, const struct topic_record *next,
              struct colander_load_record *record)
{
    static const char *const names[] = {"put", "patch", "delete", "retain",
                                        "row"};
    struct colander_slice name = next->operation;
    char shown[40];
    size_t i = 0;

    if (next->has_operation)
        while (i < COUNT &&
               !colander_slice_equal(name, colander_slice_text(names[i])))
            i++;
    if (i < COUNT)
        record->operation = (enum colander_load_operation)i;
    if (next->is_null && record->operation == COLANDER_LOAD_OPERATION_PATCH)
        record->fault = "the patch is null";
    if (next->is_null && record->operation == COLANDER_LOAD_OPERATION_RETAIN)
        record->fault = "the retain is null";
    if (next->is_null && record->operation == COLANDER_LOAD_OPERATION_ROW)
        record->fault = "the row is null";
    if (i < COUNT)
        return;
    if (name.size >= sizeof(shown))
        name.size = sizeof(shown) - 1;
    for (i = 0; i < name.size; i++) /* reasons are printed */
        shown[i] =
            (char)(name.data[i] >= ' ' && name.data[i] < 0x7f ? name.data[i]
                                                              : '?');
    shown[i] = '\0';
    (void)snprintf(records->fault, sizeof(records->fault),
                   "the header op is '%s': it may be put, patch, delete, "
                   "retain or row",
                   shown);
    record->fault = records->fault;
}

static enum colander_code
next(void *context, unsigned wait_ms, struct colander_load_record *record,
     bool *found, bool *is_end, struct colander_error *err)
{
    struct topic_stream *records = context;
    struct topic_record next;
    const enum colander_code code =
        topic_reader_next(records->reader, wait_ms, &next, found, is_end, err);

    if (code != COLANDER_OK || !*found)
        return code;
    *record = (struct colander_load_record){
        .place = {next.topic, next.partition, next.offset, next.time_ms},
        .value = next.value,
        .is_null = next.is_null,
        .key = next.key,
    };
    if (records->partition_count > 0 && next.key.size > 0 &&
        topic_partition_of(next.key, records->partition_count) !=
            next.partition)
        atomic_store(records->is_placed, false);
    set_operation(records, &next, record);
    return COLANDER_OK;
}

static enum colander_code
mark(void *context, struct colander_slice *name, struct colander_slice *value,
     bool *found, struct colander_error *err)
{
    struct topic_stream *records = context;
    const enum colander_code code =
        topic_reader_mark(records->reader, name, value, found, err);
    bool is_placed;

    if (code != COLANDER_OK || *found || records->partition_count == 0)
        return code;
    is_placed = atomic_load(records->is_placed);
    *found = is_placed != records->is_noted;
    records->is_noted = is_placed;
    *name = colander_slice_text(TOPIC_PLACED);
    *value = colander_slice_text(is_placed ? TOPIC_PLACED_HOW : "");
    return COLANDER_OK;
}

static bool
is_behind(void *context)
{
    const struct topic_stream *records = context;
    struct topic_reader_state state;

    topic_reader_state(records->reader, &state);
    return state.lag >= FAR_BEHIND;
}

struct colander_load_stream
topic_stream(struct topic_stream *records, struct colander_family *rejects,
             size_t partition_by)
{
    return (struct colander_load_stream){records,   next,    mark,
                                         is_behind, rejects, partition_by};
}
