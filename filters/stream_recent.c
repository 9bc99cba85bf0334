/*
 * Streams of recent rows: the keys that have a value noted, collected and
 * sorted.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/part_find.h"
#include "filters/stream.h"

#include <stdlib.h>

/* Counting notes further than this would not change a plan. */
#define COUNT_MAX 4096

struct recent_stream {
    struct stream stream;
    struct colander_buffer bytes; /* of the keys */
    struct colander_slice *keys;  /* in `bytes`: ascending, none twice */
    size_t count;
    size_t next;
};

/* What a question is collected into: keys one after the other, their ends. */
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

static unsigned
tag_of(const struct question *question)
{
    return question->path_length == 0
               ? LOCATOR_TAG_ANY
               : column_tag(question->path_hashes[question->path_length - 1]);
}

/* Whether the notes tell all rows that may answer the question. */
static bool
is_told_by_notes(const struct collection *collection,
                 const struct question *question)
{
    const struct settings *settings = collection->settings;

    switch (question->kind) {
    case QUESTION_EQUAL:
        return !question_is_left_out(question, settings->left_out,
                                     settings->left_out_count);
    case QUESTION_ALL_OF:
        for (size_t i = 0; i < question->operand_count; i++) {
            if (is_told_by_notes(collection, question->operands[i]))
                return true;
        }
        return false;
    case QUESTION_ANY_OF:
        for (size_t i = 0; i < question->operand_count; i++) {
            if (!is_told_by_notes(collection, question->operands[i]))
                return false;
        }
        return true;
    case QUESTION_RANGE:
    case QUESTION_PREFIX:
    case QUESTION_EXISTS:
    case QUESTION_OPEN:
        break;
    }
    return false;
}

/* How many notes answer the question, at most COUNT_MAX of them counted. */
static uint64_t
count_notes(const struct collection *collection,
            const struct question *question)
{
    uint64_t count = 0;

    if (question->kind == QUESTION_EQUAL) {
        for (size_t i = 0; i < question->value_count && count < COUNT_MAX; i++)
            count += recent_count(collection->recent, question->value_hashes[i],
                                  tag_of(question), COUNT_MAX);
        return count;
    }
    if (question->kind == QUESTION_ANY_OF) {
        for (size_t i = 0; i < question->operand_count && count < COUNT_MAX;
             i++)
            count += count_notes(collection, question->operands[i]);
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
collect(struct collection *collection, const struct question *question,
        struct colander_error *err)
{
    const struct question *rarest = NULL;
    enum colander_code code = COLANDER_OK;
    uint64_t fewest = UINT64_MAX;

    if (question->kind == QUESTION_EQUAL) {
        for (size_t i = 0; i < question->value_count && code == COLANDER_OK;
             i++)
            code = recent_find(collection->recent, question->value_hashes[i],
                               tag_of(question), take_key, collection, err);
        return code;
    }
    for (size_t i = 0; i < question->operand_count && code == COLANDER_OK;
         i++) {
        const struct question *operand = question->operands[i];

        if (question->kind == QUESTION_ANY_OF) {
            code = collect(collection, operand, err);
        } else if (is_told_by_notes(collection, operand)) {
            uint64_t count = count_notes(collection, operand);

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

/* Makes slices of what was collected: sorted, none twice. */
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

/* A stream of what was collected, and its bytes; there is something. */
static enum colander_code
make_stream(struct collection *collection, struct stream **stream,
            uint64_t *count, struct colander_error *err)
{
    struct recent_stream *made = calloc(1, sizeof(*made));
    enum colander_code code;

    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    made->stream.find = collection->find;
    made->stream.next = next_recent;
    made->stream.close = close_recent;
    made->bytes = collection->bytes;
    collection->bytes = (struct colander_buffer)COLANDER_BUFFER_EMPTY;
    code = sort_keys(made, &collection->sizes, err);
    if (code != COLANDER_OK) {
        close_recent(&made->stream);
        return code;
    }
    *count = made->count;
    *stream = &made->stream;
    return COLANDER_OK;
}

enum colander_code
stream_open_recent(const struct stream_find *find,
                   const struct recent_view *recent,
                   const struct settings *settings, struct stream **stream,
                   uint64_t *count, bool *is_told, struct colander_error *err)
{
    struct collection collection = {
        find, recent, settings, COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY};
    enum colander_code code;

    *stream = NULL;
    *count = 0;
    *is_told = is_told_by_notes(&collection, find->request->question);
    if (!*is_told || recent_view_is_empty(recent))
        return COLANDER_OK;
    code = collect(&collection, find->request->question, err);
    if (code == COLANDER_OK && collection.sizes.size > 0)
        code = make_stream(&collection, stream, count, err);
    colander_buffer_release(&collection.bytes);
    colander_buffer_release(&collection.sizes);
    return code;
}
