/*
 * Streams of recent rows: the keys that have a value, collected and sorted.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "filters/find/stream.h"
#include "filters/part_find.h"

#include <stdlib.h>

/* Counting more entries than this would not change a plan. */
#define COUNT_MAX 4096

struct recent_stream {
    struct stream stream;
    const struct recent_view *view;  /* borrowed; has the bytes of the keys */
    const struct settings *settings; /* borrowed while keys are collected */
    struct colander_slice *keys;     /* ascending and distinct once collected */
    size_t count;
    size_t capacity;
    size_t next;
};

static void
close_recent(struct stream *stream)
{
    struct recent_stream *recent = (struct recent_stream *)stream;

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
recent_rows_suffice(const struct settings *settings,
                    const struct filter_query *query)
{
    const struct path_list *words = &settings->lists[LIST_WORD_COLUMNS];
    const struct path_list *unfiltered = &settings->lists[LIST_UNFILTERED];

    switch (query->kind) {
    case FILTER_QUERY_WORD:
        if (!settings->options.words ||
            filter_query_is_wordless(query, words->hashes, words->count))
            return false;
        /* fall through */
    case FILTER_QUERY_EQUAL:
        return !filter_query_is_unfiltered(query, unfiltered->hashes,
                                           unfiltered->count);
    case FILTER_QUERY_ALL_OF:
        for (size_t i = 0; i < query->operand_count; i++) {
            if (recent_rows_suffice(settings, query->operands[i]))
                return true;
        }
        return false;
    case FILTER_QUERY_ANY_OF:
        for (size_t i = 0; i < query->operand_count; i++) {
            if (!recent_rows_suffice(settings, query->operands[i]))
                return false;
        }
        return true;
    case FILTER_QUERY_RANGE:
    case FILTER_QUERY_PREFIX:
    case FILTER_QUERY_PIECE:
    case FILTER_QUERY_EXISTS:
    case FILTER_QUERY_OPEN:
        break;
    }
    return false;
}

/* Returns how many entries match the query, at most COUNT_MAX. */
static uint64_t
count_entries(const struct recent_view *view, const struct filter_query *query)
{
    uint64_t count = 0;

    if (query->hash_count > 0) {
        for (size_t i = 0; i < query->hash_count && count < COUNT_MAX; i++)
            count += recent_count(view, query->hashes[i], query_tag(query),
                                  COUNT_MAX);
        return count;
    }
    if (query->kind == FILTER_QUERY_ANY_OF) {
        for (size_t i = 0; i < query->operand_count && count < COUNT_MAX; i++)
            count += count_entries(view, query->operands[i]);
        return count;
    }
    return COUNT_MAX;
}

static enum colander_code
take_key(void *context, struct colander_slice key, struct colander_error *err)
{
    struct recent_stream *recent = context;
    enum colander_code code;

    if (!stream_has_key(recent->stream.find, key))
        return COLANDER_OK;
    code =
        array_reserve(&recent->keys, recent->count, &recent->capacity, 1, err);
    if (code == COLANDER_OK)
        recent->keys[recent->count++] = key;
    return code;
}

static enum colander_code
collect(struct recent_stream *recent, const struct filter_query *query,
        struct colander_error *err)
{
    const struct filter_query *rarest = NULL;
    enum colander_code code = COLANDER_OK;
    uint64_t fewest = UINT64_MAX;

    if (query->hash_count > 0) {
        for (size_t i = 0; i < query->hash_count && code == COLANDER_OK; i++)
            code = recent_find(recent->view, query->hashes[i], query_tag(query),
                               take_key, recent, err);
        return code;
    }
    for (size_t i = 0; i < query->operand_count && code == COLANDER_OK; i++) {
        const struct filter_query *operand = query->operands[i];

        if (query->kind == FILTER_QUERY_ANY_OF) {
            code = collect(recent, operand, err);
        } else if (recent_rows_suffice(recent->settings, operand)) {
            uint64_t count = count_entries(recent->view, operand);

            if (count < fewest) {
                fewest = count;
                rarest = operand;
            }
        }
    }
    return rarest == NULL ? code : collect(recent, rarest, err);
}

static int
compare_keys(const void *left, const void *right)
{
    return colander_slice_compare(*(const struct colander_slice *)left,
                                  *(const struct colander_slice *)right);
}

/* Sorts the keys and removes duplicates. */
static void
order_keys(struct recent_stream *recent)
{
    const size_t count = recent->count;

    qsort(recent->keys, count, sizeof(*recent->keys), compare_keys);
    recent->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (recent->count == 0 ||
            !colander_slice_equal(recent->keys[i],
                                  recent->keys[recent->count - 1]))
            recent->keys[recent->count++] = recent->keys[i];
    }
}

enum colander_code
stream_open_recent(const struct stream_find *find,
                   const struct recent_view *view,
                   const struct settings *settings, struct stream **stream,
                   uint64_t *count, bool *do_suffice,
                   struct colander_error *err)
{
    const struct filter_query *query = find->request->query;
    struct recent_stream *created;
    enum colander_code code;

    *stream = NULL;
    *count = 0;
    *do_suffice = recent_rows_suffice(settings, query);
    if (!*do_suffice || recent_view_is_empty(view))
        return COLANDER_OK;
    created = calloc(1, sizeof(*created));
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    created->stream.find = find;
    created->stream.next = next_recent;
    created->stream.close = close_recent;
    created->view = view;
    created->settings = settings;
    code = collect(created, query, err);
    if (code != COLANDER_OK || created->count == 0) {
        close_recent(&created->stream);
        return code;
    }
    order_keys(created);
    *count = created->count;
    *stream = &created->stream;
    return COLANDER_OK;
}
