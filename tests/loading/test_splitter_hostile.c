/*
 * Hostile texts: records of any size, and texts that would be read again and
 * again. Work is counted in memchr, where it could multiply; elsewhere, a text
 * takes minutes if the work is more than linear.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/pieces.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <inttypes.h>
#include <unistd.h>

#define RECORD_SIZE_MAX ((size_t)128 << 10)
#define WINDOW_SIZE ((size_t)1 << 20)
#define CHUNK_SIZE ((size_t)64 << 10)

void *__real_memchr(const void *bytes, int byte, size_t size);
COLANDER_API void *__wrap_memchr(const void *bytes, int byte, size_t size);

static uint64_t looked_at; /* bytes searched by memchr */

void *
__wrap_memchr(const void *bytes, int byte, size_t size)
{
    const char *found = __real_memchr(bytes, byte, size);

    looked_at += found == NULL ? size : (size_t)(found - (const char *)bytes);
    return (void *)found;
}

/* A text of which only the part that was read exists. */
struct stream {
    const char *head;
    const char *repeated;
    uint64_t repeated_size; /* all together */
    const char *tail;
    uint64_t at;
};

static uint8_t
stream_byte(struct stream *stream)
{
    uint64_t at = stream->at++;
    size_t head = strlen(stream->head);

    if (at < head)
        return (uint8_t)stream->head[at];
    at -= head;
    if (at < stream->repeated_size)
        return (uint8_t)stream->repeated[at % strlen(stream->repeated)];
    return (uint8_t)stream->tail[at - stream->repeated_size];
}

static uint64_t
stream_size(const struct stream *stream)
{
    return strlen(stream->head) + stream->repeated_size + strlen(stream->tail);
}

/* The result. */
struct outcome {
    uint64_t record_count;
    uint64_t bad_count;
    uint64_t abandoned_count; /* records */
    bool is_broken;           /* it ended that way */
};

static void
count(struct outcome *outcome, enum split split)
{
    outcome->record_count += split == SPLIT_RECORD;
    outcome->bad_count += split == SPLIT_BAD;
}

/* Adds a chunk to the window of `size` bytes. */
static size_t
fill(struct stream *stream, uint8_t *window, size_t size)
{
    uint64_t left = stream_size(stream) - stream->at;
    size_t more = left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE;

    for (size_t i = 0; i < more; i++)
        window[size + i] = stream_byte(stream);
    return size + more;
}

/* Cuts the stream with only a window of it in memory. */
static void
cut_stream(enum record_format format, struct stream stream,
           struct outcome *outcome)
{
    SCOPED_MEMORY uint8_t *window = malloc(WINDOW_SIZE + CHUNK_SIZE);
    uint64_t abandoned_count = 0;
    struct splitter splitter;
    size_t from = 0;
    size_t to = 0;

    memset(outcome, 0, sizeof(*outcome));
    looked_at = 0;
    splitter_init(&splitter, format, ',');
    for (;;) {
        struct colander_slice text =
            colander_slice_of(window + from, to - from);
        bool is_end = stream.at == stream_size(&stream);
        struct split_record ended;
        enum split split =
            splitter_next(&splitter, text, is_end, &ended, why());

        from += ended.size;
        outcome->is_broken = split == SPLIT_BROKEN;
        if (split == SPLIT_END || split == SPLIT_BROKEN)
            break;
        if (split != SPLIT_MORE) {
            count(outcome, split);
            continue;
        }
        assert_false(is_end);
        text = colander_slice_of(window + from, to - from);
        if (text.size > RECORD_SIZE_MAX) {
            abandoned_count++;
            if (splitter_give_up(&splitter, text, &ended, why()))
                count(outcome, SPLIT_BAD);
            from += ended.size;
        }
        memmove(window, window + from, to - from);
        to = fill(&stream, window, to - from);
        from = 0;
    }
    assert_true(from == to || outcome->is_broken);
    outcome->abandoned_count = abandoned_count;
}

/* A record that is too large is a single one, of any size; the next is read. */
static void
assert_one_is_abandoned(enum record_format format, const char *head,
                        const char *repeated, const char *tail,
                        uint64_t count_behind)
{
    struct stream stream = {head, repeated, (uint64_t)3 << 22, tail, 0};
    struct outcome outcome;

    cut_stream(format, stream, &outcome);
    if (outcome.bad_count != 1 || outcome.record_count != count_behind)
        fail_msg("%" PRIu64 " bad, %" PRIu64 " records: '%s' '%s' '%s'",
                 outcome.bad_count, outcome.record_count, head, repeated, tail);
}

TEST(a_record_of_any_size_is_one_bad_record)
{
    assert_one_is_abandoned(RECORDS_JSONL, "", "x", "", 0);
    assert_one_is_abandoned(RECORDS_JSONL, "{}\n", "x", "\n{}\n{}", 3);
    assert_one_is_abandoned(RECORDS_JSON, "{}{\"a\":\"", "\\\"}", "\"}{}", 2);
    assert_one_is_abandoned(RECORDS_JSON, "[{\"a\":[", "{},", "1]},{}]", 1);
    assert_one_is_abandoned(RECORDS_JSON, "", "9", " {}", 1);
    assert_one_is_abandoned(RECORDS_CSV, "a\n", "x,", "\nb\nc", 3);
    assert_one_is_abandoned(RECORDS_CSV, "a\n\"", "x,", "\nb\nc", 3);
    assert_one_is_abandoned(RECORDS_MSGPACK, "\x81\x01\xdb\x7f\xff\xff\xff",
                            "\x01", "\x80\x80", 0);
    assert_one_is_abandoned(RECORDS_MSGPACK, "\x80\xc1", "\x81\x01", "", 1);
}

/* An array of 65,535 numbers, each of 9 bytes. */
TEST(a_head_may_lie_where_a_record_is_abandoned)
{
    struct stream stream = {"\x81\x01\xdc\xff\xff",
                            "\xcf"
                            "abcdefgh",
                            (uint64_t)9 * 65535, "\x81\x01\x01", 0};
    struct outcome outcome;

    cut_stream(RECORDS_MSGPACK, stream, &outcome);
    assert_int_equal(outcome.bad_count, 1);
    assert_true(outcome.abandoned_count >= 1);
    assert_int_equal(outcome.record_count, 1);
}

TEST(blanks_are_not_a_record)
{
    static const struct {
        enum record_format format;
        const char *blanks;
    } cases[] = {{RECORDS_JSONL, "\n"},     {RECORDS_JSONL, " \r\n\t"},
                 {RECORDS_JSON, " \t\r\n"}, {RECORDS_JSON, ", ;\n"},
                 {RECORDS_CSV, "\n"},       {RECORDS_CSV, "\r\n"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct stream stream = {"", cases[i].blanks, 8 << 20, "{}", 0};
        struct outcome outcome;

        cut_stream(cases[i].format, stream, &outcome);
        assert_int_equal(outcome.record_count, 1);
        assert_int_equal(outcome.bad_count + outcome.abandoned_count, 0);
    }
}

TEST(a_million_levels_are_one_record)
{
    struct stream stream = {"", "{\"a\":", 5000000, "", 0};
    SCOPED_MEMORY char *text = malloc(7000000);
    SCOPED(pieces_release) struct pieces pieces;
    size_t size = 0;

    while (stream.at < stream_size(&stream))
        text[size++] = (char)stream_byte(&stream);
    text[size++] = '1';
    memset(text + size, '}', 1000000);
    size += 1000000;
    cut_whole(RECORDS_JSON, colander_slice_of(text, size), &pieces);
    assert_int_equal(pieces.count, 2);
    assert_int_equal(pieces.pieces[0].split, SPLIT_RECORD);
    assert_int_equal(pieces.pieces[0].size, size);
}

/* ------------------------------------------------------ counting work --- */

/* Each byte is searched only a few times. */
static void
assert_linear(enum record_format format, const char *head, const char *repeated,
              const char *tail)
{
    struct stream stream = {head, repeated, (uint64_t)400 << 10, tail, 0};
    SCOPED_MEMORY char *text = malloc(stream_size(&stream));
    struct outcome outcome;
    SCOPED(pieces_release) struct pieces pieces;
    size_t size = 0;

    cut_stream(format, stream, &outcome);
    assert_in_range(looked_at, 0, 5 * stream_size(&stream));
    while (stream.at < stream_size(&stream))
        text[size++] = (char)stream_byte(&stream);
    looked_at = 0;
    cut_whole(format, colander_slice_of(text, size), &pieces);
    assert_in_range(looked_at, 0, 5 * size);
}

TEST(no_text_of_csv_is_read_again_and_again)
{
    static const char *const repeated[] = {
        "\"\n",           "x\",\"y\n", "\"x",      "\",\"\n", "\"\"\n",
        ",\"\"\"\n",      "x\n",       "\"",       "\n",      "\"\"\"\n",
        "\",\"\"\",\"\n", "\"\r",      ",\"\",\n", "a\"b\n",
    };
    static const char *const heads[] = {"", "\"", "\"\n", "x,\"y"};

    for (size_t i = 0; i < sizeof(repeated) / sizeof(*repeated); i++) {
        for (size_t j = 0; j < sizeof(heads) / sizeof(*heads); j++) {
            assert_linear(RECORDS_CSV, heads[j], repeated[i], "");
            assert_linear(RECORDS_CSV, heads[j], repeated[i], "\"z");
        }
    }
}

TEST(no_text_of_json_is_read_again_and_again)
{
    static const char *const repeated[] = {
        "{",         "{\"a\":",     "[",     "{\"", "{\"\n",
        "\n{\"a\":", "\n{\"a\":\n", "}",     "]",   "\"",
        "\\",        "\n  {\"\n",   "{}}\n", "[\n", "\n[",
        "x",         "x=",          "\n   ", "{ ",  "{\"a\":                \n",
    };
    static const char *const heads[] = {"", "[\n", "{\"a\":\"", "  {\"\n", "#"};

    (void)alarm(300);
    for (size_t i = 0; i < sizeof(repeated) / sizeof(*repeated); i++) {
        for (size_t j = 0; j < sizeof(heads) / sizeof(*heads); j++)
            assert_linear(RECORDS_JSON, heads[j], repeated[i], "\n");
    }
    (void)alarm(0);
}

TEST(no_size_of_msgpack_is_believed)
{
    static const char *const texts[] = {
        "\xdb\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xdd\xff\xff\xff\xff",
        "\x81\x01\xc9\xff\xff\xff\xff", "\xc6\xff\xff\xff\xff"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct stream stream = {texts[i], texts[i], 1 << 20, "", 0};
        struct outcome outcome;

        cut_stream(RECORDS_MSGPACK, stream, &outcome);
        assert_int_equal(outcome.record_count, 0);
        assert_int_equal(outcome.bad_count, 1);
    }
}
