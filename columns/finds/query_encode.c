/*
 * Queries as bytes: written with the row builder.
 *
 * The predicate is a list of nodes, operands before what joins them. So bytes
 * can nest nothing, and reading needs no recursion.
 *
 * Bytes: columns/FORMAT.md, "Queries"
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/decode.h"
#include "columns/finds/find.h"
#include "columns/finds/query_format.h"

enum colander_code
query_append_path(struct colander_buffer *out, const char *text,
                  struct colander_error *err)
{
    struct path path = PATH_EMPTY;
    enum colander_code code = colander_path_parse(text, &path, err);

    if (code == COLANDER_OK)
        code = path_append(out, &path, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(out, "", 1, err);
    path_release(&path);
    return code;
}

static void
add_text(struct colander_row_builder *builder, const char *text)
{
    colander_row_builder_add(builder, NULL, colander_text(text));
}

/* UP_TO has what is not in rows: a string that is only part of one is not
 * UTF-8, an array has no bytes. */
static void
add_value(struct colander_row_builder *builder, enum predicate_kind kind,
          const struct colander_value *value)
{
    const bool is_text = value->type == COLANDER_STRING;

    if (kind != PREDICATE_UP_TO || (!is_text && value->type < COLANDER_ARRAY)) {
        colander_row_builder_add(builder, NULL, *value);
        return;
    }
    colander_row_builder_begin_array(builder, NULL);
    if (is_text)
        colander_row_builder_add(builder, NULL, colander_binary(value->bytes));
    colander_row_builder_end(builder);
}

/* Adds the operands of the node, and then the node. Recursive: the depth is
 * limited. */
static void
add_node(struct colander_row_builder *builder,
         const struct colander_predicate *node)
{
    const struct colander_predicate *operand = node->first;
    uint64_t operand_count = 0;

    for (; operand != NULL; operand = operand->next, operand_count++)
        add_node(builder, operand);
    colander_row_builder_begin_array(builder, NULL);
    add_text(builder, query_kind_names[node->kind]);
    if (node->kind == PREDICATE_ALL_OF || node->kind == PREDICATE_ANY_OF)
        colander_row_builder_add(builder, NULL,
                                 colander_unsigned(operand_count));
    if (query_node_has_path(node->kind))
        colander_row_builder_add(
            builder, NULL,
            node->path.count == 0
                ? colander_null()
                : colander_string(colander_buffer_slice(&node->text)));
    if (query_node_has_comparison(node->kind))
        add_text(builder, query_comparison_names[node->comparison]);
    if (node->kind == PREDICATE_SEARCH) {
        add_text(builder, query_search_names[node->how]);
        colander_row_builder_add(builder, NULL, colander_unsigned(node->flags));
    }
    for (size_t i = 0; i < node->value_count; i++)
        add_value(builder, node->kind, &node->values[i]);
    colander_row_builder_end(builder);
}

static void
add_keys(struct colander_row_builder *builder, struct colander_query *query)
{
    struct colander_slice *keys[QUERY_KEYS];
    bool has_any = false;

    query_list_keys(&query->keys, keys);
    for (size_t i = 0; i < QUERY_KEYS; i++) {
        if (keys[i]->size == 0)
            continue;
        if (!has_any)
            colander_row_builder_begin_map(builder, "keys");
        has_any = true;
        colander_row_builder_add(builder, query_key_names[i],
                                 colander_binary(*keys[i]));
    }
    if (has_any)
        colander_row_builder_end(builder);
}

static enum colander_code
add_paths(struct colander_row_builder *builder,
          const struct colander_query *query, struct colander_error *err)
{
    enum colander_code code = query_check_path_count(query->path_count, err);
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;

    colander_row_builder_begin_array(builder, "paths");
    for (size_t i = 0; i < query->path_count && code == COLANDER_OK; i++) {
        colander_buffer_clear(&path);
        code = query_append_path(&path, query->paths[i], err);
        if (code == COLANDER_OK)
            add_text(builder, (const char *)path.data);
    }
    colander_row_builder_end(builder);
    colander_buffer_release(&path);
    return code;
}

static enum colander_code
add_query(struct colander_row_builder *builder, struct colander_query *query,
          struct colander_error *err)
{
    bool *options[QUERY_OPTIONS];

    colander_row_builder_add(builder, DECODE_VERSION,
                             colander_integer(QUERY_VERSION));
    if (query->where != NULL) {
        colander_row_builder_begin_array(builder, "where");
        add_node(builder, query->where);
        colander_row_builder_end(builder);
    }
    add_keys(builder, query);
    if (query->limit != UINT64_MAX)
        colander_row_builder_add(builder, "limit",
                                 colander_unsigned(query->limit));
    query_list_options(query, options);
    for (size_t i = 0; i < QUERY_OPTIONS; i++) {
        if (*options[i])
            colander_row_builder_add(builder, query_option_names[i],
                                     colander_boolean(true));
    }
    return query->paths == NULL ? COLANDER_OK : add_paths(builder, query, err);
}

enum colander_code
colander_query_encode(const struct colander_query *query,
                      struct colander_buffer *bytes, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_query whole;
    struct colander_slice row;
    enum colander_code code = query_accept(&whole, query, err);

    if (code == COLANDER_OK && builder == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    if (code == COLANDER_OK)
        code = add_query(builder, &whole, err);
    if (code == COLANDER_OK)
        code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, row.data, row.size, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot encode a query");
    colander_row_builder_destroy(builder);
    return code;
}
