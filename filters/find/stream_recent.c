/*
 * Streams of recent rows: the keys that have a value, collected and sorted.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/find/stream.h"
#include "filters/part_find.h"

#include <stdlib.h>

/* Counting more entries than this would not change a plan. */
#define COUNT_MAX 4096

struct recent_stream {
    struct stream stream;
    struct colander_buffer bytes; /* of the keys */
    struct colander_slice *keys;  /* in `bytes`: ascending, distinct */
    size_t count;
    size_t next;
};

/* What a query is collected into: keys, and the size of each. */
struct collection {
    const struct stream_find *find;
    const struct recent_view *recent;
    const struct settings *settings;
    struct colander_buffer bytes;
    struct colander_buffer sizes; /* uint32_t each */
};

static void
close_recent(struct stream *stream)
{
    struct recent_stream *recent = (struct recent_stream *)stream;

    colander_buffer_release(&recent->bytes);
    free(recent->keys);
    free(recent);
}

static enum colander_code
next_recent(struct stream *stream, struct colander_error *err)
{
    struct recent_stream *recent = (struct recent_stream *)stream;

    (void)err;
    stream->key = colander_slice_of(NULL, 0);
    if (recent->next < recent->count) {
        size_t place = recent->next++;

        if (stream->find->request->is_reverse)
            place = recent->count - 1 - place;
        stream->key = recent->keys[place];
    }
    return COLANDER_OK;
}

/* ----------------------------------------------------------- collecting --- */

/* Returns whether the recent rows contain every row that may match. */
static bool
recent_rows_suffice(const struct collection *collection,
                    const struct filter_query *query)
{
    const struct settings *settings = collection->settings;

    switch (query->kind) {
    case FILTER_QUERY_EQUAL:
        return !filter_query_is_unfiltered(query, settings->unfiltered,
                                           settings->unfiltered_count);
    case FILTER_QUERY_ALL_OF:
        for (size_t i = 0; i < query->operand_count; i++) {
            if (recent_rows_suffice(collection, query->operands[i]))
                return true;
        }
        return false;
    case FILTER_QUERY_ANY_OF:
        for (size_t i = 0; i < query->operand_count; i++) {
            if (!recent_rows_suffice(collection, query->operands[i]))
                return false;
        }
        return true;
    case FILTER_QUERY_RANGE:
    case FILTER_QUERY_PREFIX:
    case FILTER_QUERY_EXISTS:
    case FILTER_QUERY_OPEN:
        break;
    }
    return false;
}

/* Returns how many entries match the query, at most COUNT_MAX. */
static uint64_t
count_entries(const struct collection *collection,
              const struct filter_query *query)
{
    uint64_t count = 0;

    if (query->kind == FILTER_QUERY_EQUAL) {
        for (size_t i = 0; i < query->value_count && count < COUNT_MAX; i++)
            count += recent_count(collection->recent, query->value_hashes[i],
                                  query_tag(query), COUNT_MAX);
        return count;
    }
    if (query->kind == FILTER_QUERY_ANY_OF) {
        for (size_t i = 0; i < query->operand_count && count < COUNT_MAX; i++)
            count += count_entries(collection, query->operands[i]);
        return count;
    }
    return COUNT_MAX;
}

static enum colander_code
take_key(void *context, struct colander_slice key, struct colander_error *err)
{
    struct collection *collection = context;
    const uint32_t size = (uint32_t)key.size;
    enum colander_code code;

    if (!stream_has_key(collection->find, key))
        return COLANDER_OK;
    code = colander_buffer_append(&collection->bytes, key.data, key.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&collection->sizes, &size, sizeof(size),
                                      err);
    return code;
}

static enum colander_code
collect(struct collection *collection, const struct filter_query *query,
        struct colander_error *err)
{
    const struct filter_query *rarest = NULL;
    enum colander_code code = COLANDER_OK;
    uint64_t fewest = UINT64_MAX;

    if (query->kind == FILTER_QUERY_EQUAL) {
        for (size_t i = 0; i < query->value_count && code == COLANDER_OK; i++)
            code = recent_find(collection->recent, query->value_hashes[i],
                               query_tag(query), take_key, collection, err);
        return code;
    }
    for (size_t i = 0; i < query->operand_count && code == COLANDER_OK; i++) {
        const struct filter_query *operand = query->operands[i];

        if (query->kind == FILTER_QUERY_ANY_OF) {
            code = collect(collection, operand, err);
        } else if (recent_rows_suffice(collection, operand)) {
            uint64_t count = count_entries(collection, operand);

            if (count < fewest) {
                fewest = count;
                rarest = operand;
            }
        }
    }
    return rarest == NULL ? code : collect(collection, rarest, err);
}

static int
compare_keys(const void *left, const void *right)
{
    return colander_slice_compare(*(const struct colander_slice *)left,
                                  *(const struct colander_slice *)right);
}

/* Makes slices of the collected keys: sorted, distinct. */
static enum colander_code
sort_keys(struct recent_stream *stream, const struct colander_buffer *sizes,
          struct colander_error *err)
{
    const size_t count = sizes->size / sizeof(uint32_t);
    const uint8_t *at = stream->bytes.data;

    stream->keys = calloc(count, sizeof(*stream->keys));
    if (stream->keys == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    for (size_t i = 0; i < count; i++) {
        uint32_t size;

        memcpy(&size, sizes->data + i * sizeof(size), sizeof(size));
        stream->keys[i] = colander_slice_of(at, size);
        at += size;
    }
    qsort(stream->keys, count, sizeof(*stream->keys), compare_keys);
    for (size_t i = 0; i < count; i++) {
        if (stream->count == 0 ||
            !colander_slice_equal(stream->keys[i],
                                  stream->keys[stream->count - 1]))
            stream->keys[stream->count++] = stream->keys[i];
    }
    return COLANDER_OK;
}

/* Creates a stream of the collected keys and takes their bytes. Requires at
 * least one key. */
static enum colander_code
make_stream(struct collection *collection, struct stream **stream,
            uint64_t *count, struct colander_error *err)
{
    struct recent_stream *created = calloc(1, sizeof(*created));
    enum colander_code code;

    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    created->stream.find = collection->find;
    created->stream.next = next_recent;
    created->stream.close = close_recent;
    created->bytes = collection->bytes;
    collection->bytes = (struct colander_buffer)COLANDER_BUFFER_EMPTY;
    code = sort_keys(created, &collection->sizes, err);
    if (code != COLANDER_OK) {
        close_recent(&created->stream);
        return code;
    }
    *count = created->count;
    *stream = &created->stream;
    return COLANDER_OK;
}

enum colander_code
stream_open_recent(const struct stream_find *find,
                   const struct recent_view *recent,
                   const struct settings *settings, struct stream **stream,
                   uint64_t *count, bool *do_suffice,
                   struct colander_error *err)
{
    struct collection collection = {
        find, recent, settings, COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY};
    enum colander_code code;

    *stream = NULL;
    *count = 0;
    *do_suffice = recent_rows_suffice(&collection, find->request->query);
    if (!*do_suffice || recent_view_is_empty(recent))
        return COLANDER_OK;
    code = collect(&collection, find->request->query, err);
    if (code == COLANDER_OK && collection.sizes.size > 0)
        code = make_stream(&collection, stream, count, err);
    colander_buffer_release(&collection.bytes);
    colander_buffer_release(&collection.sizes);
    return code;
}
