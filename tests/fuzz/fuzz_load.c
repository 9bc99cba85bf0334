/*
 * Any bytes as a file to load, plain or compressed, read by the threads of a
 * load with a schema that is also any bytes, up to where rows are written. Rows
 * are valid, the pieces make up the whole file, and after resuming at a place
 * the rest is the same.
 *
 * Input: options (see below), the text of a schema up to a zero byte, the file.
 *
 *     bits 0 to 2   the format, or a guess
 *     bits 3, 4     the file as it is, or compressed here
 *     bit 5         records may be of 64 bytes only
 *     bits 6, 7     resumes at a record, or at any place: 24 bytes of the file
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "fuzz/fuzz.h"
#include "loading/guess.h"
#include "loading/load.h"
#include "loading/parser.h"
#include "loading/reader.h"

#include <pthread.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

static const atomic_bool never;

#define CHUNK_COUNT 4
#define TEXT_SIZE_MAX ((size_t)1 << 20) /* few bytes may become very many */

enum {
    HOW_FORMAT = 0x07,
    HOW_GZIP = 0x08,
    HOW_ZSTD = 0x10,
    HOW_SMALL = 0x20,
    HOW_RESUMED = 0x40,
    HOW_ANYWHERE = 0x80,
};

/* --------------------------------------------------------------- files --- */

static void
append_gzip(struct colander_buffer *out, struct colander_slice bytes)
{
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)bytes.data,
                       .avail_in = (uInt)bytes.size};
    size_t size;

    expect(deflateInit2(&stream, 1, Z_DEFLATED, 31, 1, 0) == Z_OK);
    size = deflateBound(&stream, (uLong)bytes.size);
    OK(colander_buffer_reserve(out, size, NULL));
    stream.next_out = out->data + out->size;
    stream.avail_out = (uInt)size;
    expect(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out->size += stream.total_out;
    expect(deflateEnd(&stream) == Z_OK);
}

static void
append_zstd(struct colander_buffer *out, struct colander_slice bytes)
{
    const size_t bound = ZSTD_compressBound(bytes.size);
    size_t size;

    OK(colander_buffer_reserve(out, bound, NULL));
    size =
        ZSTD_compress(out->data + out->size, bound, bytes.data, bytes.size, 1);
    expect(!ZSTD_isError(size));
    out->size += size;
}

/* The file as `how` says; with both bits, two streams of gzip. */
static void
append_file(struct colander_buffer *out, uint8_t how,
            struct colander_slice bytes)
{
    const size_t half = bytes.size / 2;

    switch (how & (HOW_GZIP | HOW_ZSTD)) {
    case 0:
        OK(colander_buffer_append(out, bytes.data, bytes.size, NULL));
        break;
    case HOW_GZIP:
        append_gzip(out, bytes);
        break;
    case HOW_ZSTD:
        append_zstd(out, bytes);
        break;
    default:
        append_gzip(out, colander_slice_of(bytes.data, half));
        append_gzip(out,
                    colander_slice_of(bytes.data + half, bytes.size - half));
    }
}

/* Returns NULL if the text is not a schema. */
static struct colander_schema *
read_schema(struct colander_slice text)
{
    static int fd = -1;
    struct colander_schema *schema = NULL;
    struct colander_error err;
    enum colander_code code;
    char path[32];

    if (text.size == 0)
        return NULL;
    code = colander_schema_open(fuzz_file(&fd, text.data, text.size, path),
                                &schema, &err);
    expect((code == COLANDER_OK) == (schema != NULL));
    expect(code == COLANDER_OK || code == COLANDER_INVALID ||
           code == COLANDER_LIMIT);
    return schema;
}

/* ---------------------------------------------------------------- load --- */

/* The result of a load: a hash for each record, accepted or rejected. */
struct outcome {
    uint64_t *hashes;
    size_t count;
    size_t capacity;
    uint64_t offset;         /* so far */
    bool is_cut;             /* there was more than we look at */
    enum colander_code code; /* of reading */
};

static void
outcome_add(struct outcome *outcome, uint64_t hash)
{
    OK(array_reserve(&outcome->hashes, outcome->count, &outcome->capacity, 1,
                     NULL));
    outcome->hashes[outcome->count++] = hash;
}

/* Whether the record got a generated key, as its file has none. */
static bool
is_made(const struct chunk *chunk, size_t index, struct colander_slice key)
{
    return chunk->key_size > 0 &&
           colander_slice_equal(
               key,
               colander_slice_of(chunk->keys.data + index * chunk->key_size,
                                 chunk->key_size));
}

/* Checks that the row and its key are valid. Generated keys differ each
 * time. */
static uint64_t
look_at_row(const struct chunk *chunk, size_t index, struct colander_slice key,
            struct colander_slice row)
{
    static struct colander_buffer scratch;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    uint64_t hash = XXH3_64bits(row.data, row.size);
    size_t count;

    OK(colander_row_check(row, NULL));
    OK(colander_key_decode(key, parts, &count, &scratch, NULL));
    if (!is_made(chunk, index, key))
        hash = XXH3_64bits_withSeed(key.data, key.size, hash);
    return hash;
}

static uint64_t
look_at_reject(const struct chunk *chunk, const struct reject *reject)
{
    const struct piece *piece = &chunk->pieces[reject->piece];
    const struct colander_slice text = chunk_piece(chunk, piece);
    const char *reason;

    expect(reject->fault <= piece->size);
    if (piece->kind == PIECE_REST)
        return 0;
    expect(reject->reason < chunk->reasons.size);
    reason = (const char *)chunk->reasons.data + reject->reason;
    expect(reason[0] != '\0');
    return XXH3_64bits_withSeed(reason, strlen(reason),
                                XXH3_64bits(text.data, text.size));
}

/* Rejects are in no order: the reader adds its own first. */
static const struct reject *
reject_of(const struct chunk *chunk, size_t piece)
{
    for (size_t i = 0; i < chunk->reject_count; i++)
        if (chunk->rejects[i].piece == piece)
            return &chunk->rejects[i];
    return NULL;
}

/* Each piece is a row or a reject, and rows are in file order. */
static void
look_at_pieces(struct outcome *outcome, const struct chunk *chunk)
{
    size_t waiting = 0, rejects = 0, record = 0, end = 0;

    for (size_t i = 0; i < chunk->piece_count; i++) {
        const struct piece *piece = &chunk->pieces[i];

        expect(piece->offset >= end);
        end = (size_t)piece->offset + piece->size;
        expect(end <= chunk->text.size);
        if (waiting < chunk->waiting_count &&
            chunk->waiting[waiting].piece == i) {
            outcome_add(outcome,
                        look_at_row(chunk, record,
                                    chunk_waiting_key(chunk, waiting),
                                    chunk_waiting_row(chunk, waiting)));
            waiting++;
        } else {
            const struct reject *reject = reject_of(chunk, i);

            expect(reject != NULL);
            outcome_add(outcome, look_at_reject(chunk, reject));
            rejects++;
        }
        record += piece->kind == PIECE_RECORD;
    }
    expect(waiting == chunk->waiting_count && rejects == chunk->reject_count);
}

static void
look_at_chunk(struct outcome *outcome, const struct chunk *chunk)
{
    expect(!chunk->is_broken);
    expect(chunk->offset == outcome->offset);
    expect(chunk->end_offset == chunk->offset + chunk->text.size);
    outcome->offset = chunk->end_offset;
    outcome->code = chunk->failure.code;
    expect(outcome->code == COLANDER_OK || outcome->code == COLANDER_CORRUPT ||
           outcome->code == COLANDER_LIMIT);
    expect(outcome->code == COLANDER_OK || chunk->is_last);
    look_at_pieces(outcome, chunk);
}

/* Shared by the threads of a load. */
struct load {
    struct source source;
    const struct colander_load_options *options;
    struct ring *ring;
};

static void *
feed(void *context)
{
    struct load *load = context;

    reader_run(&load->source, load->options, load->ring);
    return NULL;
}

static void *
make(void *context)
{
    const struct load *load = context;
    const struct parser parser = {
        .source = &load->source, .options = load->options, .ring = load->ring};

    parser_run(&parser);
    return NULL;
}

/* Loads what follows the place (NULL: everything). Returns false if the file
 * cannot be opened: it has no format, or the place is in another file. */
static bool
load_file(const char *path, const struct colander_load_options *options,
          const struct resume_point *point, struct outcome *outcome)
{
    struct load load = {.options = options, .ring = ring_create(CHUNK_COUNT)};
    pthread_t reader, parser;
    struct chunk *chunk;
    enum colander_code code;
    bool is_last = false;

    expect(load.ring != NULL);
    code = source_open(&load.source, path, options, &never, point, NULL);
    if (code == COLANDER_OK) {
        outcome->offset = load.source.offset;
        expect(pthread_create(&reader, NULL, feed, &load) == 0);
        expect(pthread_create(&parser, NULL, make, &load) == 0);
        while (!is_last && !outcome->is_cut) {
            chunk = ring_take_parsed(load.ring, 1000);
            if (chunk == NULL)
                continue;
            look_at_chunk(outcome, chunk);
            is_last = chunk->is_last;
            outcome->is_cut = !is_last && outcome->offset > TEXT_SIZE_MAX;
            ring_put(load.ring, chunk, CHUNK_FREE);
        }
        ring_stop(load.ring);
        expect(pthread_join(reader, NULL) == 0);
        expect(pthread_join(parser, NULL) == 0);
    }
    source_close(&load.source);
    ring_destroy(load.ring);
    expect(code == COLANDER_OK || code == COLANDER_INVALID ||
           code == COLANDER_LIMIT || code == COLANDER_CORRUPT);
    return code == COLANDER_OK;
}

/* -------------------------------------------------------------- places --- */

/* Finds the place after the first `count` records; false: there are fewer. */
static bool
find_resume_point(const char *path, const struct colander_load_options *options,
                  size_t count, struct resume_point *point)
{
    struct source source;
    struct resume_point_bytes tail = {0};
    struct resume_point_bytes head = {0};
    struct split_record ended;
    bool is_found = true;

    OK(source_open(&source, path, options, &never, NULL, NULL));
    while (!source.is_end && source.text.size < TEXT_SIZE_MAX)
        OK(source_read(&source, &source.text, CHUNK_SIZE, NULL));
    memset(point, 0, sizeof(*point));
    for (size_t at = 0; is_found && count > 0; count--) {
        const struct colander_slice text =
            colander_slice_of(source.text.data + at, source.text.size - at);
        const enum split split =
            splitter_next(&source.splitter, text, true, &ended, NULL);

        is_found = split != SPLIT_END;
        source_pass(&source, colander_slice_of(text.data, ended.size));
        resume_point_tail_append(&tail,
                                 colander_slice_of(text.data, ended.size));
        resume_point_head_append(&head,
                                 colander_slice_of(text.data, ended.size));
        at += ended.size;
    }
    point->offset = source.offset;
    point->line = source.line_number;
    point->line_offset = source.line_offset;
    point->format = (uint64_t)source.splitter.format;
    point->state = splitter_state(&source.splitter);
    resume_point_set_tail(point, &tail);
    resume_point_set_head(point, &head);
    source_close(&source);
    return is_found;
}

/* Resumes after some record: the same records must follow as before. */
static void
resume_at_record(const char *path, const struct colander_load_options *options,
                 const struct outcome *whole, size_t number)
{
    struct outcome rest = {0};
    struct resume_point point;
    const size_t count = number % (whole->count + 1);

    expect(find_resume_point(path, options, count, &point));
    expect(load_file(path, options, &point, &rest));
    expect(rest.code == COLANDER_OK && rest.offset == whole->offset);
    expect(rest.count == whole->count - count);
    for (size_t i = 0; i < rest.count; i++)
        expect(rest.hashes[i] == whole->hashes[count + i]);
    free(rest.hashes);
}

static uint64_t
read_number(struct colander_slice bytes, size_t at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size && at + i < bytes.size; i++)
        number |= (uint64_t)bytes.data[at + i] << 8 * i;
    return number;
}

/* Resumes at a place that the bytes describe, if it is valid. If the file is
 * plain, the bytes before the place are sometimes made to match. */
static void
resume_anywhere(const char *path, const struct colander_load_options *options,
                struct colander_slice bytes)
{
    struct outcome rest = {0};
    struct resume_point point = {.offset = read_number(bytes, 0, 4),
                                 .line = read_number(bytes, 4, 1),
                                 .line_offset = read_number(bytes, 5, 1),
                                 .format = read_number(bytes, 6, 1) % 4,
                                 .tail_size = read_number(bytes, 8, 2),
                                 .state = read_number(bytes, 16, 4)};

    if (point.offset <= bytes.size && point.tail_size <= point.offset)
        point.tail_hash =
            XXH3_64bits(bytes.data + point.offset - point.tail_size,
                        (size_t)point.tail_size);
    if (resume_point_is_sound(&point))
        (void)load_file(path, options, &point, &rest);
    free(rest.hashes);
}

/* -------------------------------------------------------------- target --- */

/* Guesses by names: the result must fit a file with these bytes. */
static void
guess(struct colander_slice bytes)
{
    static const char *const names[] = {NULL,     "a.csv",   "a.tsv.gz",
                                        "a.json", "a.jsonl", "a.msgpack.zst",
                                        "-",      "b/a.js"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct format_guess guess;
        enum colander_code code = format_guess(names[i], bytes, &guess, NULL);

        expect(code == COLANDER_OK || code == COLANDER_INVALID);
        expect(code != COLANDER_OK || guess.skip <= bytes.size);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {NULL,  "jsonl",   "json",      "csv",
                                          "tsv", "msgpack", "none such", NULL};
    static int fd = -1;
    struct colander_buffer file = COLANDER_BUFFER_EMPTY;
    struct outcome outcome = {0};
    struct colander_load_options options;
    struct colander_slice bytes;
    struct colander_schema *schema;
    const uint8_t *end;
    char path[32];

    if (size < 1 || (end = memchr(data + 1, 0, size - 1)) == NULL)
        return 0;
    bytes = colander_slice_of(end + 1, size - (size_t)(end + 1 - data));
    schema = read_schema(colander_slice_of(data + 1, (size_t)(end - data - 1)));
    append_file(&file, data[0], bytes);
    (void)fuzz_file(&fd, file.data, file.size, path);
    colander_load_options_init(&options);
    options.schema = schema;
    options.format = formats[data[0] & HOW_FORMAT];
    options.is_bulk = true; /* rows are kept for inspection */
    if (data[0] & HOW_SMALL)
        options.record_size = 64;
    guess(bytes);
    if (load_file(path, &options, NULL, &outcome) && !outcome.is_cut &&
        outcome.code == COLANDER_OK) {
        if (data[0] & HOW_ANYWHERE)
            resume_anywhere(path, &options, bytes);
        else if ((data[0] & HOW_RESUMED) && !(data[0] & HOW_SMALL))
            resume_at_record(path, &options, &outcome, data[size - 1]);
    }
    free(outcome.hashes);
    colander_schema_close(schema);
    colander_buffer_release(&file);
    return 0;
}
