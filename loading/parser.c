/* SPDX-License-Identifier: MIT */
#include "loading/parser.h"
#include "columns/unchecked.h"
#include "loading/retain_record.h"
#include "loading/rows.h"

#include <stdio.h>

/* Whether the record is at fault. */
static bool
is_of_record(enum colander_code code)
{
    return code == COLANDER_INVALID || code == COLANDER_LIMIT;
}

static uint64_t
line_of(const struct chunk *chunk, size_t piece)
{
    struct chunk_spot spot = {0, chunk->line, chunk->line_offset};

    if (chunk->places != NULL)
        return (uint64_t)chunk->places[piece].offset;
    chunk_spot_move(&spot, chunk, chunk->pieces[piece].offset);
    return spot.line;
}

/* Sets the key of a row without one: of a stream its place, which is the same
 * if it is read again, else a new key of the reader. */
static enum colander_code
give_key(const struct chunk *chunk, size_t piece, size_t index,
         struct colander_buffer *buffer, struct colander_slice *key,
         struct colander_error *err)
{
    enum colander_code code;

    if (chunk->places == NULL) {
        *key = colander_slice_of(chunk->keys.data + index * chunk->key_size,
                                 chunk->key_size);
        return COLANDER_OK;
    }
    code = place_key(&chunk->places[piece], true, buffer, err);
    *key = colander_buffer_slice(buffer);
    return code;
}

static enum colander_code
check_row(const struct rows *rows, struct colander_slice row,
          struct colander_error *err)
{
    enum colander_code code = colander_row_check(row, err);

    if (code == COLANDER_INVALID && rows->added != NULL)
        added_columns_explain(rows->added, row, err);
    return code;
}

/* Notes the time by which a row has its family, or that there is none. */
static enum colander_code
find_time(const char *path, struct colander_slice row, int64_t *second,
          bool *is_missing, struct colander_error *err)
{
    struct colander_value value;
    bool found = false;
    enum colander_code code = colander_row_get(row, path, &value, &found, err);

    if (code != COLANDER_OK)
        return code;
    *is_missing = !found || value.type != COLANDER_TIMESTAMP;
    if (*is_missing)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "%s in '%s', by which rows are in families",
                             found ? "no time" : "nothing", path);
    *second = value.second;
    return colander_partition_check(*second, err);
}

enum colander_code
colander_load_partition_key(struct colander_slice key, size_t part_count,
                            struct colander_buffer *text,
                            struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_buffer prefix = COLANDER_BUFFER_EMPTY;
    size_t count = 0;
    enum colander_code code =
        colander_key_decode(key, parts, &count, &scratch, err);

    if (part_count > count)
        part_count = count;
    if (code == COLANDER_OK && part_count > 1) {
        code = colander_key_encode(parts, part_count, &prefix, err);
        if (code == COLANDER_OK)
            code = colander_json_append_key(
                text, colander_buffer_slice(&prefix), err);
    } else if (code == COLANDER_OK && colander_type_has_bytes(parts[0].type)) {
        code = colander_buffer_append(text, parts[0].bytes.data,
                                      parts[0].bytes.size, err);
    } else if (code == COLANDER_OK) {
        code = colander_json_append_value(text, &parts[0], err);
    }
    colander_buffer_release(&scratch);
    colander_buffer_release(&prefix);
    return code;
}

/* Fails as the key of the record is not that of its row. */
static enum colander_code
fail_elsewhere(const struct rows *rows, size_t part_count,
               struct colander_error *err)
{
    const struct colander_schema *schema = rows->schema;
    const size_t known = schema == NULL ? 0 : schema->key.count;
    char names[160] = "_key";
    size_t size = 0;

    for (size_t i = 0; i < part_count && i < known && size < sizeof(names); i++)
        size += (size_t)snprintf(names + size, sizeof(names) - size, "%s%s",
                                 i == 0 ? "" : ",", schema->key.texts[i]);
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "its producer does not key by %s: the record's key is "
                         "not the text of that",
                         schema != NULL && schema->hashes ? COLANDER_LOAD_HASH
                                                          : names);
}

/* Checks that the record has the key of its row, or the beginning of it. */
static enum colander_code
check_partition_key(struct rows *rows, const struct parser *parser,
                    const struct chunk *chunk, size_t piece,
                    struct colander_slice key, struct colander_error *err)
{
    const struct colander_load_stream *stream = parser->options->stream;
    const struct piece *at = &chunk->pieces[piece];
    enum colander_code code;

    if (stream == NULL || stream->partition_by == 0)
        return COLANDER_OK;
    colander_buffer_clear(&rows->partition_key);
    code = colander_load_partition_key(key, stream->partition_by,
                                       &rows->partition_key, err);
    return code != COLANDER_OK ||
                   colander_slice_equal(
                       colander_buffer_slice(&rows->partition_key),
                       colander_slice_of(chunk->text.data + at->offset +
                                             at->size,
                                         at->key_size))
               ? code
               : fail_elsewhere(rows, stream->partition_by, err);
}

/* Sets what a patch or delete does: it needs a key. */
static enum colander_code
set_operation(enum colander_load_operation operation, struct parsed_row *parsed,
              struct colander_error *err)
{
    const bool deletes = operation == COLANDER_LOAD_OPERATION_DELETE;

    parsed->action = deletes ? ITEM_DELETE : ITEM_UPDATE;
    return parsed->has_key
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_INVALID, "the %s has no key",
                               deletes ? "delete" : "patch");
}

/* Adds the delete of a row with this key. */
static enum colander_code
delete_part(struct chunk *chunk, size_t piece,
            const struct colander_value *part, struct colander_buffer *buffer,
            struct colander_error *err)
{
    const struct colander_slice nothing = {NULL, 0};
    enum colander_code code = colander_key_encode(part, 1, buffer, err);

    if (code == COLANDER_OK)
        code = chunk_add_waiting(chunk, piece, false,
                                 colander_buffer_slice(buffer), nothing, err);
    return code == COLANDER_OK
               ? chunk_note_item(chunk, ITEM_DELETE, false, nothing, err)
               : code;
}

/* Whether a null may say which rows are deleted. */
static enum colander_code
check_null(const struct schema_texts *paths, bool hashes, const char *partition,
           struct colander_slice text, struct colander_error *err)
{
    const char *why = NULL;

    if (paths != NULL && paths->count > 1)
        why = "keys of rows have several parts";
    else if (hashes)
        why = "keys of rows are hashes";
    else if (partition != NULL)
        why = "rows are in families by time";
    else if (text.size == 0)
        why = "it has no key";
    return why == NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_INVALID,
                               "the record is null, and %s: delete by a record "
                               "with the header op: delete and the columns of "
                               "the key",
                               why);
}

/* Makes the deletes of a record without a value: of the rows whose key has this
 * text. Without a type of the key column, 7 is the text of the integer and of
 * the string: which the family has is not asked, as the answer may change while
 * a chunk is parsed. */
static enum colander_code
parse_null(struct rows *rows, const struct parser *parser, struct chunk *chunk,
           size_t piece, struct colander_error *err)
{
    const struct colander_slice text =
        chunk_piece(chunk, &chunk->pieces[piece]);
    const struct colander_schema *schema = rows->schema;
    const struct value_reading *reading = NULL;
    struct colander_value part = colander_string(text);
    enum colander_code code = check_null(schema == NULL ? NULL : &schema->key,
                                         schema != NULL && schema->hashes,
                                         parser->options->partition, text, err);

    if (code == COLANDER_OK && schema != NULL && schema->key.count == 1 &&
        rows->key_is_name[0])
        reading = schema_csv_column(schema,
                                    colander_slice_text(schema->key.texts[0]));
    if (reading != NULL)
        (void)typed_value_read(reading, text, &part);
    if (code == COLANDER_OK)
        code = colander_key_encode(&part, 1, &rows->key, err);
    if (code == COLANDER_OK)
        code = check_partition_key(rows, parser, chunk, piece,
                                   colander_buffer_slice(&rows->key), err);
    if (code == COLANDER_OK)
        code = delete_part(chunk, piece, &part, &rows->key, err);
    if (code != COLANDER_OK || reading != NULL)
        return code;
    part = column_kind_read(COLUMN_WHOLE, text);
    return part.type == COLANDER_STRING
               ? COLANDER_OK
               : delete_part(chunk, piece, &part, &rows->key, err);
}

/* Rejects a record that is at fault. */
static enum colander_code
reject(struct chunk *chunk, size_t piece, const struct parsed_row *parsed,
       bool lacks_time, struct colander_error *err)
{
    enum colander_code code =
        chunk_add_reject(chunk, piece, parsed->fault, err->message, err);

    if (code != COLANDER_OK)
        return code;
    chunk->rejects[chunk->reject_count - 1].lacks_key = parsed->lacks_key;
    chunk->rejects[chunk->reject_count - 1].lacks_time = lacks_time;
    return COLANDER_OK;
}

/* Parses one record; `index` is its number among those of the chunk. */
static enum colander_code
parse_one(struct rows *rows, const struct parser *parser, struct chunk *chunk,
          size_t piece, size_t index, struct colander_error *err)
{
    const char *partition = parser->options->partition;
    const struct colander_load_sink *sink = parser->options->sink;
    const enum colander_load_operation operation =
        sink != NULL ? sink->operation : chunk->pieces[piece].operation;
    const struct colander_slice record =
        chunk_piece(chunk, &chunk->pieces[piece]);
    struct parsed_row parsed;
    int64_t second = 0;
    bool lacks_time = false;
    enum colander_code code;

    rows->is_delete = operation == COLANDER_LOAD_OPERATION_DELETE;
    code = operation == COLANDER_LOAD_OPERATION_ROW
               ? rows_parse_stored(rows, record, &parsed, err)
               : rows_parse(rows, record, &parsed, err);

    if (rows->misfits.lacks_line)
        misfits_set_line(&rows->misfits, line_of(chunk, piece));
    if (code == COLANDER_OK && (operation == COLANDER_LOAD_OPERATION_PATCH ||
                                operation == COLANDER_LOAD_OPERATION_DELETE))
        code = set_operation(operation, &parsed, err);
    if (code == COLANDER_OK && parsed.has_key)
        code = check_partition_key(rows, parser, chunk, piece, parsed.key, err);
    if (code == COLANDER_OK && !parsed.has_key)
        code = give_key(chunk, piece, index, &rows->key, &parsed.key, err);
    if (code == COLANDER_OK && !parsed.is_checked)
        code = check_row(rows, parsed.row, err);
    if (code == COLANDER_OK && partition != NULL)
        code = find_time(partition, parsed.row, &second, &lacks_time, err);
    if (code == COLANDER_OK) {
        code = chunk_add_waiting(chunk, piece, !parsed.has_key, parsed.key,
                                 parsed.row, err);
        if (code == COLANDER_OK)
            chunk->waiting[chunk->waiting_count - 1].second = second;
    }
    if (code == COLANDER_OK && parsed.action != ITEM_NONE && sink == NULL)
        code = chunk_note_item(chunk, (uint8_t)parsed.action, parsed.is_upsert,
                               parsed.family, err);
    return is_of_record(code) ? reject(chunk, piece, &parsed, lacks_time, err)
                              : code;
}

/* Checks a retain, the last record of its chunk. */
static enum colander_code
parse_retain(const struct parser *parser, struct chunk *chunk, size_t piece,
             struct colander_error *err)
{
    struct colander_predicate *where = NULL;
    enum colander_code code =
        parser->options->partition == NULL
            ? retain_record_read(chunk_piece(chunk, &chunk->pieces[piece]),
                                 &where, err)
            : COLANDER_FAIL(err, COLANDER_INVALID,
                            "rows are in families by time, which are dropped "
                            "as a whole");

    colander_predicate_destroy(where);
    chunk->retains = code == COLANDER_OK;
    return code;
}

static enum colander_code
parse_records(struct rows *rows, const struct parser *parser,
              struct chunk *chunk, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t index = 0;

    for (size_t i = 0; i < chunk->piece_count && code == COLANDER_OK; i++) {
        const struct parsed_row none = {.fault = 0};
        const struct piece *at = &chunk->pieces[i];

        if (at->kind == PIECE_RECORD &&
            at->operation == COLANDER_LOAD_OPERATION_RETAIN)
            code = parse_retain(parser, chunk, i, err);
        else if (at->kind == PIECE_RECORD)
            code = parse_one(rows, parser, chunk, i, index++, err);
        else if (at->kind == PIECE_NULL)
            code = parse_null(rows, parser, chunk, i, err);
        if (is_of_record(code)) /* parse_one has rejected others */
            code = reject(chunk, i, &none, false, err);
    }
    if (chunk->text.size > 2 * CHUNK_SIZE)
        rows_trim(rows);
    return code;
}

static void
count_columns(const struct rows *rows, const struct parser *parser)
{
    csv_reader_count(&rows->csv, parser->counts);
    column_counts_add_misfits(parser->counts, &rows->misfits,
                              parser->source->file);
}

void
parser_run(const struct parser *parser)
{
    struct chunk *chunk;
    struct colander_error err;
    struct rows rows;
    enum colander_code code = COLANDER_OK;

    rows_init(&rows, parser->source->splitter.format, parser->source->header,
              parser->options->schema);
    rows.added = parser->added;
    while ((chunk = ring_take_filled(parser->ring)) != NULL) {
        if (code == COLANDER_OK)
            code = parse_records(&rows, parser, chunk, &err);
        if (code != COLANDER_OK) { /* also of all later chunks */
            chunk->failure = err;
            chunk->is_broken = true;
        }
        ring_put(parser->ring, chunk, CHUNK_PARSED);
    }
    if (parser->counts != NULL)
        count_columns(&rows, parser);
    rows_release(&rows);
}
