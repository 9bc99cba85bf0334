/* SPDX-License-Identifier: MIT */
#include "loading/parser.h"
#include "columns/unchecked.h"
#include "loading/rows.h"

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

/* Parses one record; `index` is its number among those of the chunk. */
static enum colander_code
parse_one(struct rows *rows, const char *partition, struct chunk *chunk,
          size_t piece, size_t index, struct colander_error *err)
{
    struct parsed_row parsed;
    int64_t second = 0;
    bool lacks_time = false;
    enum colander_code code = rows_parse(
        rows, chunk_piece(chunk, &chunk->pieces[piece]), &parsed, err);

    if (rows->misfits.lacks_line)
        misfits_set_line(&rows->misfits, line_of(chunk, piece));
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
    if (code == COLANDER_OK && parsed.action != ITEM_NONE)
        code = chunk_note_item(chunk, (uint8_t)parsed.action, parsed.is_upsert,
                               parsed.family, err);
    if (!is_of_record(code))
        return code;
    code = chunk_add_reject(chunk, piece, parsed.fault, err->message, err);
    if (code != COLANDER_OK)
        return code;
    chunk->rejects[chunk->reject_count - 1].lacks_key = parsed.lacks_key;
    chunk->rejects[chunk->reject_count - 1].lacks_time = lacks_time;
    return COLANDER_OK;
}

static enum colander_code
parse_records(struct rows *rows, const char *partition, struct chunk *chunk,
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t index = 0;

    for (size_t i = 0; i < chunk->piece_count && code == COLANDER_OK; i++) {
        if (chunk->pieces[i].kind == PIECE_RECORD)
            code = parse_one(rows, partition, chunk, i, index++, err);
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
            code =
                parse_records(&rows, parser->options->partition, chunk, &err);
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
