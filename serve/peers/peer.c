/* See peer.h. SPDX-License-Identifier: MIT */
#include "serve/peer.h"

#include "columns/query_bytes.h"
#include "columns/source.h"
#include "core/array.h"
#include "core/bytes.h"
#include "core/clock.h"
#include "serve/parameters.h"
#include "serve/peers/explanation.h"
#include "serve/peers/group.h"
#include "serve/reply.h"
#include "serve/serve_inside.h"

#include <stdlib.h>

#define CONTENT_TYPE "application/octet-stream"
#define ALIVE_US 1000000 /* how often it says that it still looks for rows */
#define KEYS_MAX 4096    /* of one get */
#define SPLIT_MAX 1024

struct peer {
    struct writer writer; /* first */
    struct server *server;
    const struct question_kind *kind;
    struct colander_buffer body;
    struct colander_store *store;   /* that is asked: the server's, or */
    bool is_part;                   /* a part of it, to be closed */
    struct colander_family *family; /* NULL: none is named */
    struct answer *answer;          /* of a find that has begun */

    /* of the request; borrowed from the body */
    const char **parts;
    size_t part_count;
    size_t part_capacity;
    struct colander_slice *keys;
    size_t key_count;
    size_t key_capacity;
    const char **columns;
    size_t column_count;
    size_t column_capacity;
    struct colander_slice query;
    struct colander_slice grouping;
    struct colander_slice sought;
    bool is_sought;
    struct colander_slice mark;
    uint64_t count;
    const char *order;

    struct colander_decoded_query *decoded;
    struct colander_cursor *cursor;
    struct peer_group *group;
    bool reduces; /* the rows of the cursor, and counts as one that does */
};

/* Appends to the answer. */
typedef enum colander_code append_answer(struct peer *peer,
                                         struct colander_buffer *bytes,
                                         struct colander_error *err);

/* Appends to it, as `write` of a writer. */
typedef enum colander_code append_part(struct peer *peer, struct answer *answer,
                                       struct colander_buffer *bytes,
                                       bool *is_end,
                                       struct colander_error *err);

struct question_kind {
    const char *name;
    bool has_family;
    append_answer *append; /* all of it; NULL: */
    append_part *append_part;
};

/* --------------------------------------------------------------- frames --- */

/* Appends the head of a frame, whose size follows (end_frame). */
static enum colander_code
begin_frame(struct colander_buffer *bytes, enum peer_frame kind,
            struct colander_error *err)
{
    const uint8_t head[PEER_FRAME_SIZE] = {(uint8_t)kind};

    return colander_buffer_append(bytes, head, sizeof(head), err);
}

/* Sets the size of the frame that began at `begin`. */
static void
end_frame(struct colander_buffer *bytes, size_t begin)
{
    bytes_put_be32(bytes->data + begin + 1,
                   (uint32_t)(bytes->size - begin - PEER_FRAME_SIZE));
}

enum colander_code
peer_append(struct colander_buffer *bytes, enum peer_frame kind,
            struct colander_slice data, struct colander_error *err)
{
    const size_t begin = bytes->size;
    enum colander_code code = begin_frame(bytes, kind, err);

    if (code == COLANDER_OK && data.size > 0)
        code = colander_buffer_append(bytes, data.data, data.size, err);
    if (code == COLANDER_OK)
        end_frame(bytes, begin);
    else
        bytes->size = begin;
    return code;
}

bool
peer_take(struct colander_slice *bytes, uint8_t *kind,
          struct colander_slice *data)
{
    size_t size;

    if (bytes->size < PEER_FRAME_SIZE)
        return false;
    size = bytes_get_be32(bytes->data + 1);
    if (bytes->size - PEER_FRAME_SIZE < size)
        return false;
    *kind = bytes->data[0];
    *data = colander_slice_of(bytes->data + PEER_FRAME_SIZE, size);
    bytes->data += PEER_FRAME_SIZE + size;
    bytes->size -= PEER_FRAME_SIZE + size;
    return true;
}

/* -------------------------------------------------------------- request --- */

static bool
is_text(struct colander_slice data)
{
    return data.size > 0 && memchr(data.data, 0, data.size) ==
                                (const void *)(data.data + data.size - 1);
}

static enum colander_code
add_text(const char ***texts, size_t *count, size_t *capacity,
         struct colander_slice data, struct colander_error *err)
{
    enum colander_code code;

    if (!is_text(data))
        return COLANDER_FAIL(err, COLANDER_INVALID, "a text has no end");
    code = array_reserve(texts, *count, capacity, 1, err);
    if (code == COLANDER_OK)
        (*texts)[(*count)++] = (const char *)data.data;
    return code;
}

static enum colander_code
add_key(struct peer *peer, struct colander_slice key,
        struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (peer->key_count == KEYS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT, "a get has more than %d keys",
                             KEYS_MAX);
    code = array_reserve(&peer->keys, peer->key_count, &peer->key_capacity, 1,
                         err);
    if (code == COLANDER_OK)
        peer->keys[peer->key_count++] = key;
    return code;
}

static enum colander_code
take_frame(struct peer *peer, uint8_t kind, struct colander_slice data,
           struct colander_error *err)
{
    switch (kind) {
    case PEER_PART:
        return add_text(&peer->parts, &peer->part_count, &peer->part_capacity,
                        data, err);
    case PEER_COLUMN:
        return add_text(&peer->columns, &peer->column_count,
                        &peer->column_capacity, data, err);
    case PEER_KEY:
        return add_key(peer, data, err);
    case PEER_QUERY:
        peer->query = data;
        return COLANDER_OK;
    case PEER_GROUPING:
        peer->grouping = data;
        return COLANDER_OK;
    case PEER_SOUGHT:
        peer->sought = data;
        peer->is_sought = true;
        return COLANDER_OK;
    case PEER_MARK:
        peer->mark = data;
        return COLANDER_OK;
    case PEER_COUNT:
        if (data.size != sizeof(uint64_t))
            break;
        peer->count = bytes_get_be64(data.data);
        return COLANDER_OK;
    case PEER_ORDER:
        if (!is_text(data) || (data.data[0] != '+' && data.data[0] != '-'))
            break;
        peer->order = (const char *)data.data;
        return COLANDER_OK;
    default:
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "this version does not know what is asked");
    }
    return COLANDER_FAIL(err, COLANDER_INVALID, "a frame is malformed");
}

static enum colander_code
take_frames(struct peer *peer, struct colander_error *err)
{
    struct colander_slice left = colander_buffer_slice(&peer->body);
    struct colander_slice data;
    enum colander_code code = COLANDER_OK;
    uint8_t kind;

    while (code == COLANDER_OK && peer_take(&left, &kind, &data))
        code = take_frame(peer, kind, data, err);
    if (code == COLANDER_OK && left.size > 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "a frame is not whole");
    return code;
}

/* -------------------------------------------------------------- answers --- */

static enum colander_code
append_end(struct colander_buffer *bytes, struct colander_error *err)
{
    return peer_append(bytes, PEER_END, colander_slice_of(NULL, 0), err);
}

static enum colander_code
append_numbers(struct colander_buffer *bytes, const uint64_t *numbers,
               size_t count, struct colander_error *err)
{
    const size_t begin = bytes->size;
    enum colander_code code = begin_frame(bytes, PEER_NUMBERS, err);

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        uint8_t number[sizeof(uint64_t)];

        bytes_put_be64(number, numbers[i]);
        code = colander_buffer_append(bytes, number, sizeof(number), err);
    }
    if (code == COLANDER_OK)
        end_frame(bytes, begin);
    return code;
}

static enum colander_code
append_families(struct peer *peer, struct colander_buffer *bytes,
                struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    enum colander_code code = colander_store_families(peer->store, &names, err);

    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++)
        code = peer_append(bytes, PEER_VALUE,
                           colander_slice_text(names.names[i]), err);
    colander_names_release(&names);
    return code;
}

static enum colander_code
append_exists(struct peer *peer, struct colander_buffer *bytes,
              struct colander_error *err)
{
    const uint64_t exists = colander_family_exists(peer->family);

    return append_numbers(bytes, &exists, 1, err);
}

static enum colander_code
append_sizes(struct peer *peer, struct colander_buffer *bytes,
             struct colander_error *err)
{
    uint64_t numbers[4 + 2 * COLANDER_LEVELS_MAX];
    struct colander_family_sizes sizes;
    enum colander_code code = colander_family_sizes(peer->family, &sizes, err);

    if (code != COLANDER_OK)
        return code;
    numbers[0] = sizes.key_count;
    numbers[1] = sizes.sst_count;
    numbers[2] = sizes.sst_size;
    numbers[3] = sizes.unflushed_size;
    for (size_t i = 0; i < COLANDER_LEVELS_MAX; i++) {
        numbers[4 + 2 * i] = sizes.levels[i].sst_count;
        numbers[5 + 2 * i] = sizes.levels[i].sst_size;
    }
    return append_numbers(bytes, numbers, sizeof(numbers) / sizeof(numbers[0]),
                          err);
}

static enum colander_code
append_split(struct peer *peer, struct colander_buffer *bytes,
             struct colander_error *err)
{
    const size_t count = peer->count < SPLIT_MAX ? peer->count : SPLIT_MAX;
    struct colander_buffer *keys = calloc(count + 1, sizeof(*keys));
    enum colander_code code = COLANDER_OK;
    size_t found = 0;

    if (keys == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for keys");
    code = colander_family_split_keys(peer->family, keys, count, &found, err);
    for (size_t i = 0; i < found && code == COLANDER_OK; i++)
        code = peer_append(bytes, PEER_VALUE, colander_buffer_slice(&keys[i]),
                           err);
    for (size_t i = 0; i < count; i++)
        colander_buffer_release(&keys[i]);
    free(keys);
    return code;
}

static enum colander_code
append_gets(struct peer *peer, struct colander_buffer *bytes,
            struct colander_error *err)
{
    const struct colander_read read = {
        NULL, peer->column_count > 0 ? peer->columns : NULL,
        peer->column_count};
    const size_t count = peer->key_count;
    struct colander_buffer *rows = calloc(count + 1, sizeof(*rows));
    bool *found = calloc(count + 1, sizeof(*found));
    enum colander_code code = COLANDER_OK;

    if (rows == NULL || found == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rows");
    if (code == COLANDER_OK)
        code = colander_family_get_many(peer->family, peer->keys, count, &read,
                                        rows, found, err);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = peer_append(bytes, found[i] ? PEER_VALUE : PEER_UNFOUND,
                           colander_buffer_slice(&rows[i]), err);
    for (size_t i = 0; i < count && rows != NULL; i++)
        colander_buffer_release(&rows[i]);
    free(rows);
    free(found);
    return code;
}

static enum colander_code
append_mark(struct peer *peer, struct colander_buffer *bytes,
            struct colander_error *err)
{
    struct colander_buffer value = COLANDER_BUFFER_EMPTY;
    bool found;
    enum colander_code code =
        colander_family_mark(peer->family, peer->mark, &value, &found, err);

    if (code == COLANDER_OK && found)
        code =
            peer_append(bytes, PEER_VALUE, colander_buffer_slice(&value), err);
    colander_buffer_release(&value);
    return code;
}

/* The bound is sent as a key of one part. */
static enum colander_code
append_bound(struct peer *peer, struct colander_buffer *bytes,
             struct colander_error *err)
{
    struct colander_buffer held = COLANDER_BUFFER_EMPTY;
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_value bound;
    bool found = false;
    enum colander_code code =
        peer->order == NULL
            ? COLANDER_FAIL(err, COLANDER_INVALID, "no order is asked for")
            : colander_family_order_bound(peer->family, peer->order + 1,
                                          peer->order[0] == '-', peer->count,
                                          &held, &bound, &found, err);

    /* One that is too long for a key, or no scalar, is not known elsewhere. */
    if (code == COLANDER_OK && found &&
        colander_key_encode(&bound, 1, &key, NULL) == COLANDER_OK)
        code = peer_append(bytes, PEER_VALUE, colander_buffer_slice(&key), err);
    colander_buffer_release(&held);
    colander_buffer_release(&key);
    return code;
}

/* ----------------------------------------------------------------- find --- */

static enum colander_code
append_sized(struct colander_buffer *bytes, struct colander_slice part,
             struct colander_error *err)
{
    uint8_t size[sizeof(uint32_t)];
    enum colander_code code;

    bytes_put_be32(size, (uint32_t)part.size);
    code = colander_buffer_append(bytes, size, sizeof(size), err);
    if (code == COLANDER_OK && part.size > 0)
        code = colander_buffer_append(bytes, part.data, part.size, err);
    return code;
}

static enum colander_code
append_row(const struct colander_result *row, struct colander_buffer *bytes,
           struct colander_error *err)
{
    const size_t begin = bytes->size;
    enum colander_code code = begin_frame(bytes, PEER_ROW, err);

    if (code == COLANDER_OK)
        code = append_sized(bytes, row->key, err);
    if (code == COLANDER_OK)
        code = append_sized(bytes, row->row, err);
    for (size_t i = 0; i < row->columns.count && code == COLANDER_OK; i++)
        code = colander_buffer_append(bytes, row->columns.paths[i],
                                      strlen(row->columns.paths[i]) + 1, err);
    if (code == COLANDER_OK)
        end_frame(bytes, begin);
    else
        bytes->size = begin;
    return code;
}

static enum colander_code
begin_find(struct peer *peer, struct answer *answer, struct colander_error *err)
{
    enum colander_code code =
        colander_query_decode(peer->query, &peer->decoded, err);

    if (code == COLANDER_OK)
        code = colander_family_find(peer->family,
                                    colander_decoded_query_get(peer->decoded),
                                    &peer->cursor, err);
    if (code != COLANDER_OK)
        return code;
    peer->answer = answer;
    answer_watch(answer, peer->cursor);
    return peer->is_sought
               ? colander_cursor_seek(peer->cursor, peer->sought, err)
               : COLANDER_OK;
}

static void
end_find(struct peer *peer)
{
    struct server *server = peer->server;

    if (peer->answer != NULL)
        answer_watch(peer->answer, NULL);
    peer_group_close(peer->group);
    colander_cursor_close(peer->cursor);
    colander_decoded_query_destroy(peer->decoded);
    peer->group = NULL;
    peer->cursor = NULL;
    peer->decoded = NULL;
    if (!peer->reduces)
        return;
    pthread_mutex_lock(&server->lock);
    server->kind_counts[SERVER_REDUCTIONS]--;
    pthread_mutex_unlock(&server->lock);
    peer->reduces = false;
}

/* Decides whether the rows of the cursor are reduced here. */
static void
admit_reduction(struct peer *peer)
{
    struct server *server = peer->server;

    if (peer->column_count != 2 || peer->is_sought ||
        server->options.reduce == NULL)
        return;
    pthread_mutex_lock(&server->lock);
    peer->reduces =
        server->kind_counts[SERVER_REDUCTIONS] < server->options.script_max;
    server->kind_counts[SERVER_REDUCTIONS] += peer->reduces;
    pthread_mutex_unlock(&server->lock);
}

static enum colander_code
append_reduced(struct peer *peer, struct colander_buffer *bytes, bool *is_end,
               struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (peer->group == NULL)
        code = peer_group_open_reduction(peer->server->options.reduce,
                                         peer->cursor, peer->columns[0],
                                         peer->columns[1], &peer->group, err);
    return code == COLANDER_OK
               ? peer_group_write(peer->group, ANSWER_STEP, bytes, is_end, err)
               : code;
}

/* Appends the next rows, and after the last what was read. */
static enum colander_code
append_rows(struct peer *peer, struct colander_buffer *bytes, bool *is_end,
            struct colander_error *err)
{
    const uint64_t begun = clock_us();
    struct colander_explain explain;
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    colander_cursor_pause(peer->cursor, ALIVE_US);
    while (code == COLANDER_OK && is_row && bytes->size < ANSWER_STEP) {
        struct colander_result row;

        code = colander_cursor_next(peer->cursor, &is_row, &row, err);
        if (code == COLANDER_OK && is_row) {
            code = append_row(&row, bytes, err);
            atomic_fetch_add(&peer->server->row_count, 1);
        }
    }
    *is_end = code == COLANDER_OK && !is_row;
    if (code == COLANDER_BUSY && clock_us() - begun >= ALIVE_US)
        return peer_append(bytes, PEER_ALIVE, colander_slice_of(NULL, 0), err);
    if (!*is_end)
        return code;
    colander_cursor_explain(peer->cursor, &explain);
    return explanation_append(&explain, bytes, err);
}

/* Appends what the rows are reduced to, or else the rows. A reduction that
 * fails has sent nothing, so they are found again: the one who asks calls the
 * functions then, and fails as they do. */
static enum colander_code
append_found(struct peer *peer, struct answer *answer,
             struct colander_buffer *bytes, bool *is_end,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (peer->cursor == NULL) {
        code = begin_find(peer, answer, err);
        if (code == COLANDER_OK)
            admit_reduction(peer);
    }
    if (code == COLANDER_OK && peer->reduces) {
        code = append_reduced(peer, bytes, is_end, err);
        if (code == COLANDER_OK || answer_stopped(answer) != ANSWER_GOES_ON)
            return code;
        end_find(peer);
        code = begin_find(peer, answer, err);
    }
    return code == COLANDER_OK ? append_rows(peer, bytes, is_end, err) : code;
}

static enum colander_code
append_groups(struct peer *peer, struct answer *answer,
              struct colander_buffer *bytes, bool *is_end,
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    (void)answer; /* a stop ends the group when it is closed */
    if (peer->group == NULL)
        code = peer_group_open(peer->family, peer->query, peer->grouping,
                               &peer->group, err);
    return code == COLANDER_OK
               ? peer_group_write(peer->group, ANSWER_STEP, bytes, is_end, err)
               : code;
}

/* --------------------------------------------------------------- writer --- */

/* Opens what is asked, once. */
static enum colander_code
open_asked(struct peer *peer, const char *family, struct colander_error *err)
{
    const struct server_options *options = &peer->server->options;
    enum colander_code code = take_frames(peer, err);

    peer->store = peer->server->store;
    if (code == COLANDER_OK && peer->part_count == 0 &&
        options->open_parts != NULL) /* it would ask other nodes in turn */
        code = COLANDER_FAIL(err, COLANDER_INVALID, "no part is named");
    if (code == COLANDER_OK && peer->part_count > 0) {
        code = options->open_parts == NULL
                   ? COLANDER_FAIL(err, COLANDER_INVALID,
                                   "this server has no parts")
                   : options->open_parts(options->parts_context, peer->parts,
                                         peer->part_count, &peer->store, err);
        peer->is_part = code == COLANDER_OK;
    }
    if (code == COLANDER_OK && peer->kind->has_family)
        code =
            family == NULL
                ? COLANDER_FAIL(err, COLANDER_INVALID, "no family is named")
                : colander_family_open(peer->store, family, &peer->family, err);
    return code;
}

static enum colander_code
write_answer(struct writer *writer, struct answer *answer,
             struct colander_buffer *bytes, bool *is_end,
             struct colander_error *err)
{
    struct peer *peer = (struct peer *)writer;
    enum colander_code code;

    *is_end = true;
    code = peer->kind->append == NULL
               ? peer->kind->append_part(peer, answer, bytes, is_end, err)
               : peer->kind->append(peer, bytes, err);
    return code == COLANDER_OK && *is_end ? append_end(bytes, err) : code;
}

static enum colander_code
fail_answer(struct writer *writer, struct colander_buffer *bytes,
            const struct colander_error *failure)
{
    const size_t begin = bytes->size;
    const uint8_t number = (uint8_t)failure->code;
    enum colander_code code = begin_frame(bytes, PEER_FAILURE, NULL);

    (void)writer;
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, &number, 1, NULL);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, failure->message,
                                      strlen(failure->message), NULL);
    if (code == COLANDER_OK)
        end_frame(bytes, begin);
    return code;
}

static void
destroy(struct writer *writer)
{
    struct peer *peer = (struct peer *)writer;

    end_find(peer);
    colander_family_close(peer->family);
    if (peer->is_part)
        (void)!colander_store_close(peer->store, NULL); /* has no handles */
    colander_buffer_release(&peer->body);
    free(peer->parts);
    free(peer->keys);
    free(peer->columns);
    free(peer);
}

static const struct question_kind kinds[] = {
    {PEER_FIND, true, NULL, append_found},
    {PEER_GROUP, true, NULL, append_groups},
    {PEER_GET, true, append_gets, NULL},
    {PEER_FAMILIES, false, append_families, NULL},
    {PEER_EXISTS, true, append_exists, NULL},
    {PEER_SIZES, true, append_sizes, NULL},
    {PEER_SPLIT, true, append_split, NULL},
    {PEER_READ_MARK, true, append_mark, NULL},
    {PEER_BOUND, true, append_bound, NULL},
};

enum colander_code
peer_ask(struct server *server, struct parameters *parameters,
         struct writer **writer, const char **parameter, size_t *offset,
         struct colander_error *err)
{
    const char *ask = parameters_value(parameters, "ask");
    const struct question_kind *kind = NULL;
    struct peer *peer;
    enum colander_code code;

    *parameter = NULL;
    *offset = 0;
    for (size_t i = 0; ask != NULL && i < sizeof(kinds) / sizeof(kinds[0]);
         i++) {
        if (strcmp(kinds[i].name, ask) == 0)
            kind = &kinds[i];
    }
    if (kind == NULL) {
        *parameter = "ask";
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "this version does not know what is asked");
    }
    peer = calloc(1, sizeof(*peer));
    if (peer == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an answer");
    peer->writer.write = write_answer;
    peer->writer.fail = fail_answer;
    peer->writer.destroy = destroy;
    peer->writer.content_type = CONTENT_TYPE;
    peer->writer.is_for_peer = true;
    peer->server = server;
    peer->kind = kind;
    code = colander_buffer_append(&peer->body, parameters->body.data,
                                  parameters->body.size, err);
    if (code == COLANDER_OK)
        code = open_asked(peer, parameters_value(parameters, "of"), err);
    if (code != COLANDER_OK) {
        destroy(&peer->writer);
        return code;
    }
    *writer = &peer->writer;
    return COLANDER_OK;
}
