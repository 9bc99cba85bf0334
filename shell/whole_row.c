/*
 * Whole rows: see whole_row.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/whole_row.h"
#include "shell/cells.h"
#include "shell/text.h"

/* Without its key, a row is an object as it stands. */
static enum colander_code
append_object(struct colander_buffer *text,
              const struct output_options *options,
              const struct colander_result *result, struct colander_error *err)
{
    struct colander_value columns = colander_null();

    if (!options->has_no_key)
        return colander_json_append_row(text, result->key, result->row, err);
    columns.type = COLANDER_MAP;
    columns.bytes = result->row;
    return colander_json_append_value(text, &columns, err);
}

/* Puts the columns that matched into the object at the end of the text. */
static enum colander_code
append_matches(struct colander_buffer *text,
               const struct colander_result *result, struct colander_error *err)
{
    bool is_first = text->data[text->size - 2] == '{';
    enum colander_code code;

    text->size--; /* the closing brace comes after one column more */
    code = text_append_format(
        text, err, "%s\"" CELLS_MATCHED_COLUMN "\":", is_first ? "" : ",");
    if (code == COLANDER_OK)
        code = cells_append_matches(text, &result->columns, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(text, "}", 1, err);
    return code;
}

enum colander_code
whole_row_append_json(struct colander_buffer *text,
                      const struct output_options *options,
                      const struct colander_result *result,
                      struct colander_error *err)
{
    enum colander_code code = append_object(text, options, result, err);

    if (code == COLANDER_OK && options->shows_matches)
        code = append_matches(text, result, err);
    return code;
}

/* Replaces `matched` by the row with the columns that matched in it. */
static enum colander_code
add_matches(struct colander_buffer *matched,
            const struct colander_result *result, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_slice patch;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    colander_row_builder_begin_array(builder, CELLS_MATCHED_COLUMN);
    for (size_t i = 0; i < result->columns.count; i++)
        colander_row_builder_add(builder, NULL,
                                 colander_text(result->columns.paths[i]));
    colander_row_builder_end(builder);
    code = colander_row_builder_finish(builder, &patch, err);
    if (code == COLANDER_OK)
        code = colander_row_patch(result->row, patch, matched, err);
    colander_row_builder_destroy(builder);
    return code;
}

enum colander_code
whole_row_append_msgpack(struct colander_buffer *text,
                         const struct output_options *options,
                         const struct colander_result *result,
                         struct colander_error *err)
{
    struct colander_buffer matched = COLANDER_BUFFER_EMPTY;
    struct colander_slice row = result->row;
    enum colander_code code = COLANDER_OK;

    if (options->shows_matches) {
        code = add_matches(&matched, result, err);
        row = colander_buffer_slice(&matched);
    }
    if (code == COLANDER_OK && options->has_no_key)
        code = colander_buffer_append(text, row.data, row.size, err);
    else if (code == COLANDER_OK)
        code = colander_row_append_keyed(text, result->key, row, err);
    colander_buffer_release(&matched);
    return code;
}
