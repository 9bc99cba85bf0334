/* See peer_store.h. SPDX-License-Identifier: MIT */
#include "serve/peer_store.h"

#include "columns/query_bytes.h"
#include "columns/source.h"
#include "core/array.h"
#include "core/bytes.h"
#include "core/clock.h"
#include "serve/peers/call.h"
#include "serve/peers/explanation.h"
#include "serve/peers/peer_groups.h"

#include <stdio.h>
#include <stdlib.h>

#define KEYS_OF_GET 1000
#define KEYS_SIZE ((size_t)128 << 10) /* of them, in one request */
#define MAPPED_SIZE                                                            \
    ((size_t)192 << 10) /* of a request with functions: 256 KiB are taken */

/* --------------------------------------------------------------- values --- */

/* Asks, and passes on what is answered. The caller releases the call. */
static enum colander_code
ask(struct call *call, const char *what, const char *family, call_take *take,
    void *context, struct colander_error *err)
{
    enum colander_code code;

    if (call->is_void)
        return COLANDER_OK;
    code = call_begin(call, what, family, err);
    if (code == COLANDER_OK)
        code = call_take_all(call, take, context, err);
    return code == COLANDER_OK ? call_finish(call, err) : code;
}

static enum colander_code
take_name(void *context, uint8_t kind, struct colander_slice data,
          struct colander_error *err)
{
    struct colander_names *names = context;
    char **grown;

    if (kind != PEER_VALUE)
        return COLANDER_INVALID;
    grown = realloc(names->names, (names->count + 1) * sizeof(*grown));
    if (grown != NULL)
        names->names = grown;
    if (grown == NULL || (grown[names->count] = strndup((const char *)data.data,
                                                        data.size)) == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for names");
    names->count++;
    return COLANDER_OK;
}

static enum colander_code
families(void *context, struct colander_names *names,
         struct colander_error *err)
{
    struct call call = {.store = context};
    enum colander_code code = call_begin_body(&call, NULL, NULL, err);

    *names = (struct colander_names){NULL, 0};
    if (code == COLANDER_OK)
        code = ask(&call, PEER_FAMILIES, NULL, take_name, names, err);
    call_release(&call);
    if (code != COLANDER_OK)
        colander_names_release(names);
    return code;
}

/* A snapshot would have to be held by the server. A find is of one moment. */
static enum colander_code
snapshot(void *context, struct colander_snapshot **snapshot,
         struct colander_error *err)
{
    (void)context;
    (void)err;
    *snapshot = NULL;
    return COLANDER_OK;
}

struct numbers {
    uint64_t list[4 + 2 * COLANDER_LEVELS_MAX];
    size_t count;
};

static enum colander_code
take_numbers(void *context, uint8_t kind, struct colander_slice data,
             struct colander_error *err)
{
    struct numbers *numbers = context;

    (void)err;
    if (kind != PEER_NUMBERS || data.size % sizeof(uint64_t) != 0)
        return COLANDER_INVALID;
    for (size_t at = 0; at < data.size; at += sizeof(uint64_t)) {
        if (numbers->count < sizeof(numbers->list) / sizeof(numbers->list[0]))
            numbers->list[numbers->count++] = bytes_get_be64(data.data + at);
    }
    return COLANDER_OK;
}

static enum colander_code
ask_numbers(struct peer_store *store, const char *what, const char *family,
            size_t wanted, struct numbers *numbers, struct colander_error *err)
{
    struct call call = {.store = store};
    enum colander_code code = call_begin_body(&call, family, NULL, err);

    memset(numbers, 0, sizeof(*numbers));
    if (code == COLANDER_OK)
        code = ask(&call, what, family, take_numbers, numbers, err);
    if (code == COLANDER_OK && numbers->count < wanted && !call.is_void)
        code = call_fail_malformed(&call, err);
    call_release(&call);
    return code;
}

static enum colander_code
exists(void *context, const char *family, bool *exists,
       struct colander_error *err)
{
    struct numbers numbers;
    const enum colander_code code =
        ask_numbers(context, PEER_EXISTS, family, 1, &numbers, err);

    *exists = code == COLANDER_OK && numbers.list[0] != 0;
    return code;
}

static enum colander_code
sizes(void *context, const char *family, struct colander_family_sizes *sizes,
      struct colander_error *err)
{
    struct numbers numbers;
    const size_t wanted = 4 + 2 * COLANDER_LEVELS_MAX;
    const enum colander_code code =
        ask_numbers(context, PEER_SIZES, family, wanted, &numbers, err);

    memset(sizes, 0, sizeof(*sizes));
    if (code != COLANDER_OK)
        return code;
    sizes->key_count = numbers.list[0];
    sizes->sst_count = numbers.list[1];
    sizes->sst_size = numbers.list[2];
    sizes->unflushed_size = numbers.list[3];
    for (size_t i = 0; i < COLANDER_LEVELS_MAX; i++) {
        sizes->levels[i].sst_count = numbers.list[4 + 2 * i];
        sizes->levels[i].sst_size = numbers.list[5 + 2 * i];
    }
    return COLANDER_OK;
}

/* Values of an answer, copied into buffers of the caller. */
struct values {
    struct colander_buffer *list;
    bool *found; /* of each; NULL: all are */
    size_t count;
    size_t max;
};

static enum colander_code
take_values(void *context, uint8_t kind, struct colander_slice data,
            struct colander_error *err)
{
    struct values *values = context;
    struct colander_buffer *value = &values->list[values->count];
    enum colander_code code = COLANDER_OK;

    if (values->count == values->max ||
        (kind != PEER_VALUE && (kind != PEER_UNFOUND || values->found == NULL)))
        return COLANDER_INVALID;
    colander_buffer_clear(value);
    if (data.size > 0)
        code = colander_buffer_append(value, data.data, data.size, err);
    if (values->found != NULL)
        values->found[values->count] = kind == PEER_VALUE;
    values->count++;
    return code;
}

static enum colander_code
append_count(struct call *call, uint64_t count, struct colander_error *err)
{
    uint8_t number[sizeof(uint64_t)];

    bytes_put_be64(number, count);
    return peer_append(&call->body, PEER_COUNT,
                       colander_slice_of(number, sizeof(number)), err);
}

static enum colander_code
split_keys(void *context, const char *family, struct colander_buffer *keys,
           size_t count, size_t *found, struct colander_error *err)
{
    struct call call = {.store = context};
    struct values values = {.list = keys, .max = count};
    enum colander_code code = call_begin_body(&call, family, NULL, err);

    if (code == COLANDER_OK)
        code = append_count(&call, count, err);
    if (code == COLANDER_OK)
        code = ask(&call, PEER_SPLIT, family, take_values, &values, err);
    call_release(&call);
    *found = code == COLANDER_OK ? values.count : 0;
    return code;
}

static enum colander_code
mark(void *context, const char *family, struct colander_slice name,
     struct colander_buffer *value, bool *found, struct colander_error *err)
{
    struct call call = {.store = context};
    struct values values = {.list = value, .max = 1};
    enum colander_code code = call_begin_body(&call, family, NULL, err);

    if (code == COLANDER_OK)
        code = peer_append(&call.body, PEER_MARK, name, err);
    if (code == COLANDER_OK)
        code = ask(&call, PEER_READ_MARK, family, take_values, &values, err);
    call_release(&call);
    *found = code == COLANDER_OK && values.count == 1;
    return code;
}

/* Gets some rows. */
static enum colander_code
get_some(struct peer_store *store, const char *family,
         const struct colander_slice *keys, size_t count,
         const struct colander_read *read, struct colander_buffer *rows,
         bool *found, struct colander_error *err)
{
    struct call call = {.store = store};
    struct values values = {.list = rows, .found = found, .max = count};
    const struct colander_key_range only = {.exact = keys[0]};
    enum colander_code code =
        call_begin_body(&call, family, count == 1 ? &only : NULL, err);

    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = peer_append(&call.body, PEER_KEY, keys[i], err);
    for (size_t i = 0; read != NULL && read->paths != NULL &&
                       i < read->path_count && code == COLANDER_OK;
         i++)
        code = peer_append(
            &call.body, PEER_COLUMN,
            colander_slice_of(read->paths[i], strlen(read->paths[i]) + 1), err);
    if (code == COLANDER_OK)
        code = ask(&call, PEER_GET, family, take_values, &values, err);
    if (code == COLANDER_OK && values.count < count && !call.is_void)
        code = call_fail_malformed(&call, err);
    for (size_t i = 0; i < count && call.is_void; i++)
        found[i] = false;
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (found[i])
            code = colander_row_check(colander_buffer_slice(&rows[i]), err);
    }
    call_release(&call);
    return code;
}

static enum colander_code
get_many(void *context, const char *family, const struct colander_slice *keys,
         size_t count, const struct colander_read *read,
         struct colander_buffer *rows, bool *found, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t at = 0; at < count && code == COLANDER_OK;) {
        size_t some = 0;
        size_t size = 0;

        while (at + some < count && some < KEYS_OF_GET &&
               (some == 0 || size + keys[at + some].size < KEYS_SIZE))
            size += PEER_FRAME_SIZE + keys[at + some++].size;
        code = get_some(context, family, keys + at, some, read, rows + at,
                        found + at, err);
        at += some;
    }
    return code;
}

static enum colander_code
order_bound(void *context, const char *family, const char *path,
            bool is_descending, uint64_t rows, struct colander_buffer *bytes,
            struct colander_value *bound, bool *found,
            struct colander_error *err)
{
    struct call call = {.store = context};
    struct colander_buffer order = COLANDER_BUFFER_EMPTY;
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct values values = {.list = &key, .max = 1};
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    size_t count = 0;
    enum colander_code code = call_begin_body(&call, family, NULL, err);

    if (code == COLANDER_OK)
        code =
            colander_buffer_append(&order, is_descending ? "-" : "+", 1, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&order, path, strlen(path) + 1, err);
    if (code == COLANDER_OK)
        code = append_count(&call, rows, err);
    if (code == COLANDER_OK)
        code = peer_append(&call.body, PEER_ORDER,
                           colander_buffer_slice(&order), err);
    if (code == COLANDER_OK)
        code = ask(&call, PEER_BOUND, family, take_values, &values, err);
    if (code == COLANDER_OK && values.count == 1)
        code = colander_key_decode(colander_buffer_slice(&key), parts, &count,
                                   &scratch, err);
    if (code == COLANDER_OK && count == 1 &&
        colander_type_has_bytes(parts[0].type) && parts[0].bytes.size > 0)
        code = colander_buffer_append(bytes, parts[0].bytes.data,
                                      parts[0].bytes.size, err);
    *found = code == COLANDER_OK && count == 1;
    if (*found) {
        *bound = parts[0];
        if (colander_type_has_bytes(bound->type))
            bound->bytes = colander_buffer_slice(bytes);
    }
    colander_buffer_release(&order);
    colander_buffer_release(&key);
    colander_buffer_release(&scratch);
    call_release(&call);
    return code;
}

/* ---------------------------------------------------------------- finds --- */

struct peer_find {
    struct call call;
    char *family;
    struct colander_buffer scope; /* the frames of the parts that are asked */
    struct colander_buffer query;
    atomic_bool is_cancelled;
    uint64_t pause_us;
    bool is_end;
    bool is_mapped;       /* with functions, that may be called there */
    const char **columns; /* of the row, in the frame */
    size_t column_capacity;
    enum colander_code code;       /* a failure, */
    struct colander_error failure; /* after which there are no rows */
    struct colander_explain explain;
};

static enum colander_code
begin_find(struct peer_find *find, const struct colander_slice *sought,
           struct colander_error *err)
{
    struct colander_buffer *body = &find->call.body;
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(body);
    if (find->scope.size > 0)
        code = colander_buffer_append(body, find->scope.data, find->scope.size,
                                      err);
    if (code == COLANDER_OK)
        code = peer_append(body, PEER_QUERY,
                           colander_buffer_slice(&find->query), err);
    if (code == COLANDER_OK && sought != NULL)
        code = peer_append(&find->call.body, PEER_SOUGHT, *sought, err);
    explanation_begin(&find->explain);
    find->is_end = find->call.is_void;
    find->code = COLANDER_OK;
    if (code == COLANDER_OK && !find->is_end)
        code = call_begin(&find->call, PEER_FIND, find->family, err);
    if (code == COLANDER_OK && !find->is_end && find->is_mapped)
        call_send(&find->call); /* it answers when all its rows are reduced */
    return code;
}

static void
find_close(void *context)
{
    struct peer_find *find = context;

    call_release(&find->call);
    colander_buffer_release(&find->scope);
    colander_buffer_release(&find->query);
    free(find->columns);
    free(find->family);
    free(find);
}

/* Adds the functions of the query to what is asked, if there is room. */
static enum colander_code
append_functions(struct peer_find *find, const struct colander_query *query,
                 struct colander_error *err)
{
    const char *const texts[] = {query->map, query->reduce};
    struct colander_buffer *body = &find->call.body;
    enum colander_code code = COLANDER_OK;

    if (query->map == NULL || body->size + find->query.size +
                                      strlen(query->map) +
                                      strlen(query->reduce) >
                                  MAPPED_SIZE)
        return COLANDER_OK;
    find->is_mapped = true;
    for (size_t i = 0; i < 2 && code == COLANDER_OK; i++)
        code =
            peer_append(body, PEER_COLUMN,
                        colander_slice_of(texts[i], strlen(texts[i]) + 1), err);
    return code;
}

static enum colander_code
find_open(void *context, const char *family, const struct colander_query *query,
          void **found, struct colander_error *err)
{
    struct peer_find *find = calloc(1, sizeof(*find));
    enum colander_code code;

    *found = NULL;
    if (find == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find");
    find->call.store = context;
    find->call.is_cancelled = &find->is_cancelled;
    find->call.pause_us = &find->pause_us;
    find->family = strdup(family);
    code = find->family == NULL
               ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find")
               : colander_query_encode(query, &find->query, err);
    if (code == COLANDER_OK)
        code = call_begin_body(&find->call, family, &query->keys, err);
    if (code == COLANDER_OK)
        code = append_functions(find, query, err);
    if (code == COLANDER_OK && find->call.body.size > 0)
        code = colander_buffer_append(&find->scope, find->call.body.data,
                                      find->call.body.size, err);
    if (code == COLANDER_OK)
        code = begin_find(find, NULL, err);
    if (code != COLANDER_OK) {
        find_close(find);
        return code;
    }
    *found = find;
    return COLANDER_OK;
}

static struct colander_slice
take_sized(struct colander_slice *bytes, bool *is_bad)
{
    struct colander_slice part = {NULL, 0};
    size_t size;

    *is_bad = *is_bad || bytes->size < sizeof(uint32_t);
    if (*is_bad)
        return part;
    size = bytes_get_be32(bytes->data);
    bytes->data += sizeof(uint32_t);
    bytes->size -= sizeof(uint32_t);
    *is_bad = size > bytes->size;
    if (*is_bad)
        return part;
    part = colander_slice_of(bytes->data, size);
    bytes->data += size;
    bytes->size -= size;
    return part;
}

/* Makes a result of a frame, which it borrows from. */
static enum colander_code
take_row(struct peer_find *find, struct colander_slice data,
         struct colander_result *row, struct colander_error *err)
{
    bool is_bad = false;
    size_t count = 0;
    enum colander_code code = COLANDER_OK;

    memset(row, 0, sizeof(*row));
    row->key = take_sized(&data, &is_bad);
    row->row = take_sized(&data, &is_bad);
    is_bad = is_bad || row->key.size == 0 ||
             (data.size > 0 && data.data[data.size - 1] != 0);
    while (!is_bad && data.size > 0 && code == COLANDER_OK) {
        const char *path = (const char *)data.data;
        const size_t size = strlen(path) + 1;

        code = array_reserve(&find->columns, count, &find->column_capacity, 1,
                             err);
        if (code == COLANDER_OK)
            find->columns[count++] = path;
        data.data += size;
        data.size -= size;
    }
    if (code == COLANDER_OK && !is_bad)
        code = colander_row_check(row->row, err);
    row->columns.paths = find->columns;
    row->columns.count = count;
    return is_bad ? call_fail_malformed(&find->call, err) : code;
}

static enum colander_code
next_row(struct peer_find *find, bool *is_row, struct colander_result *result,
         struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && !find->is_end && !*is_row) {
        struct colander_slice data;
        uint8_t kind;

        code = call_next_frame(&find->call, &kind, &data, err);
        if (code != COLANDER_OK)
            return code;
        if (kind == PEER_FAILURE)
            return call_fail_as(&find->call, data, err);
        find->is_end = kind == PEER_END;
        if (kind == PEER_ROW) {
            code = take_row(find, data, result, err);
            *is_row = code == COLANDER_OK;
        } else if (kind == PEER_REDUCED && find->is_mapped) {
            memset(result, 0, sizeof(*result));
            result->row = data;
            code = colander_row_check(data, err);
            *is_row = code == COLANDER_OK;
        } else if (kind == PEER_WORDS || kind == PEER_NUMBERS) {
            explanation_take(&find->explain, kind, data);
        } else if (!find->is_end && kind != PEER_ALIVE) {
            code = call_fail_malformed(&find->call, err);
        }
    }
    return code;
}

/* A failure stays one: a frame may have been taken already. */
static enum colander_code
find_next(void *context, bool *is_row, struct colander_result *result,
          struct colander_error *err)
{
    struct peer_find *find = context;

    *is_row = false;
    if (find->code == COLANDER_OK)
        find->code = next_row(find, is_row, result, &find->failure);
    if (find->code == COLANDER_OK)
        return COLANDER_OK;
    *is_row = false;
    if (call_is_paused(&find->call)) {
        find->code = COLANDER_OK;
        return COLANDER_FAIL(err, COLANDER_BUSY, "the find is paused");
    }
    return COLANDER_FAIL(err, find->code, "%s", find->failure.message);
}

static enum colander_code
find_seek(void *context, struct colander_slice key, struct colander_error *err)
{
    struct peer_find *find = context;
    struct colander_buffer copy = COLANDER_BUFFER_EMPTY;
    struct colander_slice sought;
    enum colander_code code = COLANDER_OK;

    if (key.size > 0) /* it may be that of the row, in what call_end frees */
        code = colander_buffer_append(&copy, key.data, key.size, err);
    sought = colander_buffer_slice(&copy);
    if (code == COLANDER_OK) {
        call_end(&find->call);
        code = begin_find(find, &sought, err);
    }
    colander_buffer_release(&copy);
    return code;
}

static void
find_cancel(void *context)
{
    struct peer_find *find = context;

    atomic_store_explicit(&find->is_cancelled, true, memory_order_relaxed);
}

static void
find_pause(void *context, uint64_t time_us)
{
    struct peer_find *find = context;

    find->pause_us = time_us == 0 ? 0 : clock_us() + time_us;
}

static void
find_explain(const void *context, struct colander_explain *explain)
{
    const struct peer_find *find = context;

    *explain = find->explain;
    explanation_add_unasked(explain, &find->call);
}

/* ---------------------------------------------------------------- store --- */

static void
closed(void *context)
{
    struct peer_store *store = context;

    call_free_idle(store);
    curl_slist_free_all(store->headers);
    pthread_mutex_destroy(&store->mutex);
    for (size_t i = 0; i < store->part_count; i++)
        free(store->parts[i]);
    free(store->parts);
    free(store->address);
    free(store->path);
    free(store->ca_file);
    free(store);
}

static bool
add_header(struct peer_store *store, const char *line)
{
    struct curl_slist *list = curl_slist_append(store->headers, line);

    if (list != NULL)
        store->headers = list;
    return list != NULL;
}

/* Puts the address and the parts together. */
static bool
make_path(struct peer_store *store, const struct peer_store_options *options)
{
    size_t size = strlen(options->address) + 1;
    char *end;

    for (size_t i = 0; i < options->part_count; i++)
        size += 1 + strlen(options->parts[i]);
    store->path = malloc(size);
    if (store->path == NULL)
        return false;
    end = stpcpy(store->path, options->address);
    for (size_t i = 0; i < options->part_count; i++)
        end = stpcpy(stpcpy(end, " "), options->parts[i]);
    return true;
}

/* Copies the options. Returns false if memory is short. */
static bool
copy_options(struct peer_store *store, const struct peer_store_options *options)
{
    char *line = NULL;
    bool is_copied;

    store->options.wait_ms = options->wait_ms;
    store->address = strdup(options->address);
    is_copied = store->address != NULL && make_path(store, options) &&
                add_header(store, "Expect:");
    if (is_copied && options->ca_file != NULL) {
        store->ca_file = strdup(options->ca_file);
        is_copied = store->ca_file != NULL;
    }
    if (is_copied && options->token != NULL) {
        is_copied =
            asprintf(&line, "Authorization: Bearer %s", options->token) >= 0 &&
            add_header(store, line);
        free(line);
    }
    store->options.choose = options->choose;
    store->options.choose_context = options->choose_context;
    if (is_copied && options->part_count > 0) {
        store->parts = calloc(options->part_count, sizeof(char *));
        is_copied = store->parts != NULL;
    }
    for (size_t i = 0; i < options->part_count && is_copied; i++) {
        store->parts[i] = strdup(options->parts[i]);
        store->part_count++;
        is_copied = store->parts[i] != NULL;
    }
    return is_copied;
}

enum colander_code
peer_store_open(const struct peer_store_options *options,
                struct colander_store **store, struct colander_error *err)
{
    struct peer_store *created = calloc(1, sizeof(*created));
    struct colander_source source = {
        .context = created,
        .closed = closed,
        .families = families,
        .snapshot = snapshot,
        .exists = exists,
        .sizes = sizes,
        .split_keys = split_keys,
        .mark = mark,
        .get_many = get_many,
        .order_bound = order_bound,
        .find = find_open,
        .find_next = find_next,
        .find_seek = find_seek,
        .find_cancel = find_cancel,
        .find_pause = find_pause,
        .find_explain = find_explain,
        .find_close = find_close,
        .group = peer_groups_open,
        .group_finish = peer_groups_finish,
        .group_close = peer_groups_close,
    };

    *store = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open '%s'",
                             options->address);
    pthread_mutex_init(&created->mutex, NULL);
    if (!copy_options(created, options)) {
        closed(created);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open '%s'",
                             options->address);
    }
    source.name = created->path;
    return colander_store_open_source(&source, store, err);
}
