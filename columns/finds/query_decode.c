/*
 * Queries from bytes, which are read as a row is that has passed the row check.
 *
 * Each node is made by the function that all predicates are made by, so it is
 * checked as they are. What those functions check only when nodes are joined is
 * counted here before.
 *
 * Bytes: columns/FORMAT.md, "Queries"
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/decode.h"
#include "columns/finds/query_format.h"
#include "columns/key.h"
#include "columns/predicate_spans.h"
#include "core/array.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The values of a node of each kind. */
static const uint8_t value_counts[COUNT(query_kind_names)] = {
    [PREDICATE_COMPARE] = 1,  [PREDICATE_IN] = UINT8_MAX, /* any number */
    [PREDICATE_BETWEEN] = 2,  [PREDICATE_PREFIX] = 1,
    [PREDICATE_CONTAINS] = 1, [PREDICATE_SEARCH] = 1,
    [PREDICATE_UP_TO] = 1,    [PREDICATE_OUTSIDE] = UINT8_MAX,
    [PREDICATE_ANY] = 1,      [PREDICATE_ANY_BETWEEN] = 2,
};

struct colander_decoded_query {
    struct colander_query query;
    struct colander_predicate *where;
    struct colander_buffer keys[QUERY_KEYS];
    struct colander_buffer path_texts; /* each with a zero byte after it */
    const char **paths;
};

/* Nodes that are read. */
struct decoder {
    struct colander_predicate **stack; /* those that no other has joined */
    size_t count;
    size_t capacity;
    struct colander_value *values; /* of the present node */
    size_t value_count;
    size_t value_capacity;
    struct colander_buffer path; /* of the present node: a C string */
    size_t values_total;         /* of all nodes */
    size_t patterns_total;
};

/* Reads a path, borrowed from the decoder; nil is NULL. */
static enum colander_code
take_path(struct decoder *decoder, struct colander_members *members,
          const char **path, struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code = decode_next(members, &value, err);

    *path = NULL;
    if (code != COLANDER_OK || value.type == COLANDER_NULL)
        return code;
    colander_buffer_clear(&decoder->path);
    code = decode_append_text(&decoder->path, &value, err);
    *path = (const char *)decoder->path.data;
    return code;
}

/* Reads what add_value wrote of UP_TO. */
static enum colander_code
read_up_to(struct colander_value *value, struct colander_error *err)
{
    struct colander_members members;
    struct colander_value text;
    enum colander_code code;

    if (value->type == COLANDER_STRING || value->type == COLANDER_MAP)
        return decode_expect(value, COLANDER_ARRAY, "up_to", err);
    if (value->type != COLANDER_ARRAY)
        return COLANDER_OK;
    code = decode_enter(&members, value, COLANDER_ARRAY, "up_to", err);
    value->bytes = colander_slice_of(NULL, 0);
    if (code != COLANDER_OK || members.left == 0)
        return code;
    code = decode_next_of(&members, COLANDER_BINARY, "up_to", &text, err);
    *value = colander_string(text.bytes);
    if (code == COLANDER_OK && members.left > 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "up_to: several texts");
    return code;
}

/* Reads the rest of a node: its values. */
static enum colander_code
take_values(struct decoder *decoder, enum predicate_kind kind,
            struct colander_members *members, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct colander_value *value;

    decoder->value_count = 0;
    decoder->values_total += members->left;
    if (decoder->values_total > COLANDER_PREDICATE_VALUES_MAX)
        return COLANDER_FAIL(
            err, COLANDER_LIMIT, "%zu values, over the limit of %d",
            decoder->values_total, COLANDER_PREDICATE_VALUES_MAX);
    code = array_reserve(&decoder->values, 0, &decoder->value_capacity,
                         members->left, err);
    while (members->left > 0 && code == COLANDER_OK) {
        value = &decoder->values[decoder->value_count++];
        code = decode_next(members, value, err);
        if (code == COLANDER_OK && kind == PREDICATE_UP_TO)
            code = read_up_to(value, err);
    }
    if (code == COLANDER_OK && value_counts[kind] != UINT8_MAX &&
        decoder->value_count != value_counts[kind])
        code = COLANDER_FAIL(
            err, COLANDER_INVALID, "%s with %zu values instead of %d",
            query_kind_names[kind], decoder->value_count, value_counts[kind]);
    if (code == COLANDER_OK && kind == PREDICATE_OUTSIDE &&
        decoder->value_count % 2 != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "half of a span");
    return code;
}

static enum colander_code
read_search(struct decoder *decoder, struct colander_members *members,
            const char *path, struct colander_predicate **made,
            struct colander_error *err)
{
    struct colander_value flags;
    size_t how = 0;
    enum colander_code code =
        decode_name(members, query_search_names, COUNT(query_search_names),
                    "search", &how, err);

    if (code == COLANDER_OK)
        code = decode_next_of(members, COLANDER_INTEGER, "flags", &flags, err);
    if (code == COLANDER_OK && (flags.integer < 0 || flags.integer > UINT8_MAX))
        code = COLANDER_FAIL(err, COLANDER_INVALID, "unknown flags");
    if (code == COLANDER_OK)
        code = take_values(decoder, PREDICATE_SEARCH, members, err);
    if (code == COLANDER_OK)
        code = decode_expect(&decoder->values[0], COLANDER_STRING, "text", err);
    decoder->patterns_total += how == COLANDER_SEARCH_PATTERN;
    if (code == COLANDER_OK && decoder->patterns_total > COLANDER_PATTERNS_MAX)
        code = COLANDER_FAIL(err, COLANDER_LIMIT,
                             "more patterns than the limit of %d",
                             COLANDER_PATTERNS_MAX);
    if (code == COLANDER_OK)
        *made = colander_where_search(path, (enum colander_search)how,
                                      decoder->values[0].bytes,
                                      (unsigned)flags.integer, NULL, err);
    return code;
}

static struct colander_predicate *
make_leaf(const struct decoder *decoder, enum predicate_kind kind,
          const char *path, enum colander_comparison comparison,
          struct colander_error *err)
{
    const struct colander_value *values = decoder->values;

    switch (kind) {
    case PREDICATE_COMPARE:
        return colander_where(path, comparison, values[0], err);
    case PREDICATE_IN:
        return colander_where_in(path, values, decoder->value_count, err);
    case PREDICATE_BETWEEN:
        return colander_where_between(path, values[0], values[1], err);
    case PREDICATE_PREFIX:
        return colander_where_prefix(path, values[0], err);
    case PREDICATE_CONTAINS:
        return colander_where_contains(path, values[0], err);
    case PREDICATE_EXISTS:
        return colander_where_exists(path, err);
    case PREDICATE_MISSING:
        return colander_where_missing(path, err);
    case PREDICATE_UP_TO:
        return predicate_up_to(path, comparison, values[0], err);
    case PREDICATE_OUTSIDE:
        return predicate_outside(path, values, decoder->value_count / 2, err);
    case PREDICATE_ANY:
        return colander_where_any_column(values[0], err);
    default: /* PREDICATE_ANY_BETWEEN */
        return predicate_any_between(values[0], values[1], err);
    }
}

static enum colander_code
read_leaf(struct decoder *decoder, enum predicate_kind kind,
          struct colander_members *members, struct colander_predicate **made,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t comparison = COLANDER_EQ;
    const char *path = NULL;

    if (query_node_has_path(kind))
        code = take_path(decoder, members, &path, err);
    if (code == COLANDER_OK && kind == PREDICATE_SEARCH)
        return read_search(decoder, members, path, made, err);
    if (code == COLANDER_OK && query_node_has_comparison(kind))
        code = decode_name(members, query_comparison_names,
                           COUNT(query_comparison_names), "comparison",
                           &comparison, err);
    if (code == COLANDER_OK && kind == PREDICATE_UP_TO &&
        comparison <= COLANDER_NE)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "up_to without an order");
    if (code == COLANDER_OK)
        code = take_values(decoder, kind, members, err);
    if (code == COLANDER_OK)
        *made = make_leaf(decoder, kind, path,
                          (enum colander_comparison)comparison, err);
    return code;
}

/* Joins the last nodes of the stack. */
static enum colander_code
read_operation(struct decoder *decoder, enum predicate_kind kind,
               struct colander_members *members,
               struct colander_predicate **made, struct colander_error *err)
{
    struct colander_value count = colander_integer(1);
    struct colander_predicate **operands;
    enum colander_code code = COLANDER_OK;

    if (kind != PREDICATE_NOT)
        code =
            decode_next_of(members, COLANDER_INTEGER, "operands", &count, err);
    if (code != COLANDER_OK)
        return code;
    if (members->left > 0 || count.integer < 0 ||
        (uint64_t)count.integer > decoder->count)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "%s has not the operands that it needs",
                             query_kind_names[kind]);
    decoder->count -= (size_t)count.integer; /* taken, whatever happens */
    operands = decoder->stack + decoder->count;
    *made = kind == PREDICATE_NOT ? colander_not(operands[0], err)
            : kind == PREDICATE_ALL_OF
                ? colander_all_of(operands, (size_t)count.integer, err)
                : colander_any_of(operands, (size_t)count.integer, err);
    return COLANDER_OK;
}

static enum colander_code
read_node(struct decoder *decoder, const struct colander_value *node,
          struct colander_error *err)
{
    struct colander_predicate *made = NULL;
    struct colander_members members;
    size_t kind;
    enum colander_code code;

    code = array_reserve(&decoder->stack, decoder->count, &decoder->capacity, 1,
                         err);
    if (code == COLANDER_OK)
        code = decode_enter(&members, node, COLANDER_ARRAY, "predicate", err);
    if (code == COLANDER_OK)
        code = decode_name(&members, query_kind_names, COUNT(query_kind_names),
                           "predicate", &kind, err);
    if (code == COLANDER_OK && kind >= PREDICATE_ALL_OF)
        code = read_operation(decoder, (enum predicate_kind)kind, &members,
                              &made, err);
    else if (code == COLANDER_OK)
        code =
            read_leaf(decoder, (enum predicate_kind)kind, &members, &made, err);
    if (code != COLANDER_OK)
        return code;
    if (made == NULL)
        return err->code;
    decoder->stack[decoder->count++] = made;
    return COLANDER_OK;
}

static enum colander_code
read_nodes(struct decoder *decoder, const struct colander_value *where,
           struct colander_error *err)
{
    struct colander_members members;
    struct colander_value node;
    enum colander_code code =
        decode_enter(&members, where, COLANDER_ARRAY, "where", err);

    if (code == COLANDER_OK && members.left > COLANDER_PREDICATE_NODES_MAX)
        code = COLANDER_FAIL(err, COLANDER_LIMIT,
                             "%u predicates in one, over the limit of %d",
                             members.left, COLANDER_PREDICATE_NODES_MAX);
    for (size_t i = 1; code == COLANDER_OK && members.left > 0; i++) {
        code = decode_next(&members, &node, err);
        if (code == COLANDER_OK)
            code = read_node(decoder, &node, err);
        if (code != COLANDER_OK)
            colander_error_context(err, "predicate %zu", i);
    }
    if (code == COLANDER_OK && decoder->count != 1)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "%zu predicates where one is expected",
                             decoder->count);
    return code;
}

static enum colander_code
read_where(struct colander_decoded_query *decoded,
           const struct colander_value *where, struct colander_error *err)
{
    struct decoder decoder;
    enum colander_code code;

    memset(&decoder, 0, sizeof(decoder));
    code = read_nodes(&decoder, where, err);
    if (code == COLANDER_OK)
        decoded->query.where = decoded->where = decoder.stack[--decoder.count];
    while (decoder.count > 0)
        colander_predicate_destroy(decoder.stack[--decoder.count]);
    colander_buffer_release(&decoder.path);
    free(decoder.values);
    free(decoder.stack);
    return code;
}

static enum colander_code
read_keys(struct colander_decoded_query *decoded,
          const struct colander_value *keys, struct colander_error *err)
{
    struct colander_slice *list[QUERY_KEYS];
    struct colander_members members;
    struct colander_slice name;
    struct colander_value key;
    bool is_member;
    enum colander_code code =
        decode_enter(&members, keys, COLANDER_MAP, "keys", err);

    query_list_keys(&decoded->query.keys, list);
    while (code == COLANDER_OK && members.left > 0) {
        size_t i;

        code = colander_members_next(&members, &is_member, &name, &key, err);
        if (code == COLANDER_OK)
            code = decode_expect(&key, COLANDER_BINARY, "key", err);
        if (code != COLANDER_OK)
            return code;
        i = decode_find_name(query_key_names, QUERY_KEYS, name);
        if (i == QUERY_KEYS || !key_is_valid(key.bytes))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "keys have something that is not a key");
        code = colander_buffer_append(&decoded->keys[i], key.bytes.data,
                                      key.bytes.size, err);
        *list[i] = colander_buffer_slice(&decoded->keys[i]);
    }
    return code;
}

/* Points at the paths, which move no more. */
static enum colander_code
list_paths(struct colander_decoded_query *decoded, size_t count,
           struct colander_error *err)
{
    const char *at = (const char *)decoded->path_texts.data;

    decoded->paths = calloc(count + 1, sizeof(*decoded->paths));
    if (decoded->paths == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for paths");
    for (size_t i = 0; i < count; i++) {
        decoded->paths[i] = at;
        at += strlen(at) + 1;
    }
    decoded->query.paths = decoded->paths;
    decoded->query.path_count = count;
    return COLANDER_OK;
}

static enum colander_code
read_paths(struct colander_decoded_query *decoded,
           const struct colander_value *paths, struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct colander_members members;
    struct colander_value path;
    size_t count = 0;
    enum colander_code code =
        decode_enter(&members, paths, COLANDER_ARRAY, "paths", err);

    if (code == COLANDER_OK)
        code = query_check_path_count(members.left, err);
    for (; code == COLANDER_OK && members.left > 0; count++) {
        colander_buffer_clear(&text);
        code = decode_next(&members, &path, err);
        if (code == COLANDER_OK)
            code = decode_append_text(&text, &path, err);
        if (code == COLANDER_OK)
            code = query_append_path(&decoded->path_texts,
                                     (const char *)text.data, err);
    }
    colander_buffer_release(&text);
    return code == COLANDER_OK ? list_paths(decoded, count, err) : code;
}

static enum colander_code
read_limit(struct colander_decoded_query *decoded,
           const struct colander_value *limit, struct colander_error *err)
{
    if (limit->type != COLANDER_UNSIGNED &&
        (limit->type != COLANDER_INTEGER || limit->integer < 0))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "limit is not a number of rows");
    decoded->query.limit = limit->natural;
    return COLANDER_OK;
}

static enum colander_code
read_member(struct colander_decoded_query *decoded, struct colander_slice name,
            const struct colander_value *value, struct colander_error *err)
{
    const size_t option =
        decode_find_name(query_option_names, QUERY_OPTIONS, name);
    bool *options[QUERY_OPTIONS];
    enum colander_code code;

    if (colander_slice_equal(name, colander_slice_text("where")))
        return read_where(decoded, value, err);
    if (colander_slice_equal(name, colander_slice_text("keys")))
        return read_keys(decoded, value, err);
    if (colander_slice_equal(name, colander_slice_text("paths")))
        return read_paths(decoded, value, err);
    if (colander_slice_equal(name, colander_slice_text("limit")))
        return read_limit(decoded, value, err);
    if (option == QUERY_OPTIONS)
        return COLANDER_FAIL(err, COLANDER_INVALID, "unknown member '%.*s'",
                             (int)(name.size < 32 ? name.size : 32),
                             (const char *)name.data);
    query_list_options(&decoded->query, options);
    code =
        decode_expect(value, COLANDER_BOOLEAN, query_option_names[option], err);
    if (code == COLANDER_OK)
        *options[option] = value->boolean;
    return code;
}

static enum colander_code
read_query(struct colander_decoded_query *decoded, struct colander_slice bytes,
           struct colander_error *err)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member;
    enum colander_code code = decode_begin(&members, bytes, QUERY_VERSION, err);

    while (code == COLANDER_OK && members.left > 0) {
        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code == COLANDER_OK)
            code = read_member(decoded, name, &value, err);
    }
    return code;
}

enum colander_code
colander_query_decode(struct colander_slice bytes,
                      struct colander_decoded_query **decoded,
                      struct colander_error *err)
{
    struct colander_error unwanted;
    enum colander_code code;

    if (err == NULL)
        err = &unwanted; /* predicates report their code in it */
    *decoded = calloc(1, sizeof(**decoded));
    if (*decoded == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a query");
    colander_query_init(&(*decoded)->query);
    code = read_query(*decoded, bytes, err);
    if (code == COLANDER_OK)
        return code;
    colander_error_context(err, "cannot decode a query");
    colander_decoded_query_destroy(*decoded);
    *decoded = NULL;
    return code;
}

const struct colander_query *
colander_decoded_query_get(const struct colander_decoded_query *decoded)
{
    return &decoded->query;
}

void
colander_decoded_query_destroy(struct colander_decoded_query *decoded)
{
    if (decoded == NULL)
        return;
    colander_predicate_destroy(decoded->where);
    for (size_t i = 0; i < COUNT(decoded->keys); i++)
        colander_buffer_release(&decoded->keys[i]);
    colander_buffer_release(&decoded->path_texts);
    free(decoded->paths);
    free(decoded);
}
