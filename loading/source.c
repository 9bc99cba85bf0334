/* SPDX-License-Identifier: MIT */
#include "loading/source.h"
#include "loading/guess.h"

#include <inttypes.h>

#define SAMPLE_RECORDS 1000
#define READ_SIZE ((size_t)32 << 10)

enum colander_code
source_read(struct source *source, struct colander_buffer *text, size_t size,
            struct colander_error *err)
{
    enum colander_code code = colander_buffer_reserve(text, size, err);
    size_t got = 0;

    if (code == COLANDER_OK && size > 0)
        code =
            input_read(source->input, text->data + text->size, size, &got, err);
    text->size += got;
    if (code == COLANDER_OK && got == 0 && size > 0)
        source->is_end = true;
    return code;
}

void
source_pass(struct source *source, struct colander_slice passed)
{
    const uint8_t *at = passed.data;
    const uint8_t *end;

    if (passed.size == 0) /* it may be nowhere */
        return;
    end = passed.data + passed.size;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        source->line_number++;
        source->line_offset = source->offset + (uint64_t)(at - passed.data);
    }
    source->offset += passed.size;
}

/* Reads until the text has `size` bytes, or all there are. */
static enum colander_code
read_up_to(struct source *source, size_t size, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && !source->is_end && source->text.size < size)
        code =
            source_read(source, &source->text, size - source->text.size, err);
    return code;
}

/* Takes the first `size` bytes of the text away. */
static void
take(struct source *source, size_t size)
{
    struct colander_buffer *text = &source->text;

    source_pass(source, colander_slice_of(text->data, size));
    memmove(text->data, text->data + size, text->size - size);
    text->size -= size;
}

/* ------------------------------------------------------------- opening --- */

/* Finds the header. */
static enum colander_code
find_header(struct source *source, size_t size_max, struct split_record *header,
            struct colander_error *err)
{
    for (;;) {
        enum colander_code code;

        switch (splitter_next(&source->splitter,
                              colander_buffer_slice(&source->text),
                              source->is_end, header, err)) {
        case SPLIT_RECORD:
        case SPLIT_END:
            return COLANDER_OK;
        case SPLIT_BAD:
        case SPLIT_BROKEN: /* never of CSV */
            colander_error_context(err, "the header");
            return COLANDER_INVALID;
        case SPLIT_MORE:
            if (source->text.size >= size_max)
                return COLANDER_FAIL(err, COLANDER_LIMIT,
                                     "the header is over %zu bytes", size_max);
            code = read_up_to(source, source->text.size + GUESS_SIZE, err);
            if (code != COLANDER_OK)
                return code;
        }
    }
}

/* Whether there is a CR before the end. Lines may then end with CR alone, and
 * the whole file would be one line. */
static bool
has_bare_return(struct colander_slice line)
{
    return line.size > 0 && memchr(line.data, '\r', line.size - 1) != NULL &&
           memchr(line.data, '"', line.size) == NULL;
}

/* Reads the header. */
static enum colander_code
read_header(struct source *source, const struct colander_load_options *options,
            struct colander_error *err)
{
    struct split_record header;
    enum colander_code code;

    code = find_header(source, options->record_size, &header, err);
    if (code == COLANDER_OK && has_bare_return(header.record))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "the header has a carriage return in it: "
                             "lines end with LF, or CR LF");
    if (code == COLANDER_OK)
        code = csv_header_create(header.record, source->splitter.delimiter,
                                 options->schema, &source->header, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&source->line, header.record.data,
                                      header.record.size, err);
    if (code == COLANDER_OK)
        take(source, header.size);
    return code;
}

/* Whether the sample of a file that grows is over: more would have to wait. */
static bool
ends_sample(const struct source *source, size_t count, bool is_known)
{
    return source->grows && (count > 0 || is_known) &&
           input_would_wait(source->input);
}

/* Reads the first records, up to SAMPLE_RECORDS, and decides the kinds of
 * columns. `size` bytes are read at most; with `is_all` they end the sample as
 * the file does. It does not matter how much a read returns. If one fails, the
 * reader fails there, too. */
static void
read_sample(struct source *source, size_t size, bool is_all)
{
    struct splitter splitter = source->splitter;
    struct split_record ended = {.size = 0};
    struct colander_error ignored;
    enum split split = SPLIT_RECORD;
    size_t at = 0;

    for (size_t count = 0; count < SAMPLE_RECORDS && split != SPLIT_END;) {
        const bool is_full = source->text.size >= size;
        const size_t known = is_full ? size : source->text.size;
        const size_t more = size - known < READ_SIZE ? size - known : READ_SIZE;

        split = splitter_next(
            &splitter, colander_slice_of(source->text.data + at, known - at),
            is_full ? is_all : source->is_end, &ended, &ignored);
        at += ended.size;
        count += split == SPLIT_RECORD;
        if (split == SPLIT_RECORD)
            csv_header_sample(source->header, ended.record);
        else if (split == SPLIT_MORE &&
                 (is_full || ends_sample(source, count, is_all) ||
                  source_read(source, &source->text, more, &ignored) !=
                      COLANDER_OK))
            break;
    }
    source->sample_size = at;
    csv_header_decide(source->header);
}

static enum colander_code
fail_changed(const struct resume_point *point, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "cannot resume at byte %" PRIu64
                         ": the file has changed; load it from the beginning, "
                         "without --resume",
                         point->offset);
}

/* Compares the first records, at which the text begins. */
static enum colander_code
check_head(struct source *source, const struct resume_point *point,
           struct colander_error *err)
{
    enum colander_code code = read_up_to(source, (size_t)point->head_size, err);

    if (code == COLANDER_OK &&
        !resume_point_has_head(point, colander_buffer_slice(&source->text)))
        code = fail_changed(point, err);
    return code;
}

/* Skips to the resume point and compares the bytes before it. */
static enum colander_code
skip_to(struct source *source, const struct resume_point *point,
        struct colander_error *err)
{
    const uint64_t known = source->offset + source->text.size;
    const uint64_t tail = point->offset - point->tail_size;
    uint64_t skipped = 0;
    enum colander_code code = COLANDER_OK;

    if (tail > known) {
        code = input_skip(source->input, tail - known, &skipped, err);
        colander_buffer_clear(&source->text);
        source->offset = known + skipped;
    } else if (tail >= source->offset) {
        take(source, (size_t)(tail - source->offset));
    }
    if (code == COLANDER_OK && source->offset == tail)
        code = read_up_to(source, (size_t)point->tail_size, err);
    if (code != COLANDER_OK)
        return code;
    if (source->offset == tail && source->text.size >= point->tail_size)
        resume_point_tail_append(
            &source->tail,
            colander_slice_of(source->text.data, (size_t)point->tail_size));
    if (source->offset != tail || !resume_point_has_tail(point, &source->tail))
        return fail_changed(point, err);
    take(source, (size_t)point->tail_size);
    source->line_number = point->line;
    source->line_offset = point->line_offset;
    splitter_resume(&source->splitter, (uint32_t)point->state);
    return COLANDER_OK;
}

static enum colander_code
open_format(struct source *source, const struct colander_load_options *options,
            const struct resume_point *point, struct colander_error *err)
{
    const struct colander_schema *schema = options->schema;
    const struct colander_slice text = colander_buffer_slice(&source->text);
    struct format_guess guess;
    enum record_format format;
    char delimiter = 0;
    enum colander_code code;

    if (options->format == NULL)
        code = format_guess(source->file, text, &guess, err);
    else if (format_parse(options->format, &format, &delimiter))
        code = format_given(format, delimiter, text, &guess, err);
    else
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "unknown format '%s': use jsonl, json, csv, tsv, "
                             "msgpack, influx or elasticsearch",
                             options->format);
    if (code != COLANDER_OK)
        return code;
    if (schema != NULL && schema->delimiter != 0)
        guess.delimiter = schema->delimiter;
    if (point != NULL && point->format != (uint64_t)guess.format)
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "cannot resume: it was loaded as %s, not as %s",
            format_name((enum record_format)point->format, guess.delimiter),
            format_name(guess.format, guess.delimiter));
    if (options->follows && guess.format == RECORDS_JSON &&
        text.size > guess.skip &&
        text.data[guess.skip] == '{') /* its first line may be a bad one */
        guess.format = RECORDS_JSONL;
    if (options->follows && guess.format != RECORDS_JSONL &&
        guess.format != RECORDS_CSV)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "only lines of JSON or CSV can be followed, not "
                             "%s",
                             format_name(guess.format, guess.delimiter));
    take(source, guess.skip);
    splitter_init(&source->splitter, guess.format, guess.delimiter);
    return COLANDER_OK;
}

/* Reads what a guess needs; from a slow pipe not more than a line. */
static enum colander_code
read_head(struct source *source, struct colander_error *err)
{
    struct colander_buffer *text = &source->text;
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && !source->is_end && text->size < GUESS_SIZE &&
           (text->size == 0 || memchr(text->data, '\n', text->size) == NULL))
        code = source_read(source, text, GUESS_SIZE - text->size, err);
    return code;
}

/* Finds the format of the open input, and where the load begins. */
static enum colander_code
begin(struct source *source, const struct colander_load_options *options,
      const struct resume_point *point, struct colander_error *err)
{
    enum colander_code code;

    source->line_number = 1;
    code = read_head(source, err);
    if (code == COLANDER_OK)
        code = open_format(source, options, point, err);
    if (code == COLANDER_OK && source->splitter.format == RECORDS_CSV &&
        (source->text.size > 0 || !source->is_end))
        code = read_header(source, options, err);
    if (code == COLANDER_OK && source->header != NULL &&
        csv_header_needs_sample(source->header)) {
        const bool is_known = point != NULL && point->sample_size > 0;

        read_sample(source, is_known ? point->sample_size : RESUME_SAMPLE_MAX,
                    is_known);
    }
    if (code == COLANDER_OK && point != NULL)
        code = check_head(source, point, err);
    if (code == COLANDER_OK && point != NULL)
        code = skip_to(source, point, err);
    return code;
}

/* Closes the source if it could not be opened, and says so. */
static enum colander_code
opened(struct source *source, const char *file, enum colander_code code,
       struct colander_error *err)
{
    if (code != COLANDER_OK) {
        source_close(source);
        colander_error_context(err, "%s", file);
    }
    return code;
}

enum colander_code
source_open(struct source *source, const char *file,
            const struct colander_load_options *options,
            const atomic_bool *is_cancelled, const struct resume_point *point,
            struct colander_error *err)
{
    enum colander_code code;

    memset(source, 0, sizeof(*source));
    source->file = file;
    code =
        input_open(file, options->elsewhere, is_cancelled, &source->input, err);
    if (code == COLANDER_OK)
        code = begin(source, options, point, err);
    return opened(source, file, code, err);
}

enum colander_code
source_open_growing(struct source *source, const char *file,
                    const struct colander_load_options *options,
                    const atomic_bool *is_cancelled,
                    const struct resume_point *point, struct growing *growing,
                    struct colander_error *err)
{
    enum colander_code code;

    memset(source, 0, sizeof(*source));
    source->file = file;
    source->grows = true;
    code = input_open_growing(file, is_cancelled, growing, &source->input, err);
    if (code == COLANDER_OK)
        code = begin(source, options, point, err);
    return opened(source, file, code, err);
}

void
source_close(struct source *source)
{
    input_close(source->input);
    csv_header_destroy(source->header);
    colander_buffer_release(&source->text);
    colander_buffer_release(&source->line);
    memset(source, 0, sizeof(*source));
}
