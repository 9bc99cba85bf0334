/*
 * Every result of the splitter, for a short text. A piece is written with a
 * letter before it: r for a record, b for a bad one. x is the end, if no
 * further record can be found.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/pieces.h"
#include "support/cases.h"
#include "support/scoped.h"

#define EXPECTED_MAX 8
#define TEXT(text)                                                             \
    {                                                                          \
        (const uint8_t *)(text), sizeof(text) - 1                              \
    }

/* Cuts `text` whole and byte by byte, and compares with `expected`: pieces,
 * each a letter and the record, ended by NULL. */
static void
assert_cut(enum record_format format, struct colander_slice text,
           const char *const expected[EXPECTED_MAX])
{
    struct splitter splitter;
    SCOPED(pieces_release) struct pieces whole;
    SCOPED(pieces_release) struct pieces bytewise;
    bool is_broken;
    size_t i;

    cut_whole(format, text, &whole);
    splitter_init(&splitter, format, ',');
    cut(&splitter, text, chunk_byte, NULL, false, &bytewise);
    assert_pieces_equal(text, &bytewise, &whole);
    for (i = 0; expected[i] != NULL && i + 1 < whole.count; i++) {
        const struct piece *piece = &whole.pieces[i];
        const char *record = expected[i] + 1;

        if (piece->split != (*expected[i] == 'r' ? SPLIT_RECORD : SPLIT_BAD) ||
            piece->size != strlen(record) ||
            memcmp(text.data + piece->from, record, piece->size) != 0) {
            pieces_show("is", text, &whole);
            fail_msg("piece %zu is not '%s'", i, expected[i]);
        }
    }
    is_broken = whole.pieces[whole.count - 1].split == SPLIT_BROKEN;
    if (is_broken != (expected[i] != NULL && strcmp(expected[i], "x") == 0))
        fail_msg("after %zu pieces it is %sbroken", i, is_broken ? "" : "not ");
    if (!is_broken && (expected[i] != NULL || i + 1 != whole.count))
        fail_msg("%zu pieces, not as many as expected", whole.count - 1);
}

/* Asserts the only fault in `text`: its message and its byte in the record. */
static void
assert_fault(enum record_format format, const char *text, const char *why,
             size_t at)
{
    SCOPED(pieces_release) struct pieces pieces;
    size_t i = 0;

    cut_whole(format, colander_slice_text(text), &pieces);
    while (pieces.pieces[i].split == SPLIT_RECORD)
        i++;
    assert_true(pieces.pieces[i].split == SPLIT_BAD ||
                pieces.pieces[i].split == SPLIT_BROKEN);
    assert_string_equal(pieces.pieces[i].why, why);
    assert_int_equal(pieces.pieces[i].at, at);
}

/* Letters and records, as assert_cut takes them. */
static const struct {
    enum record_format format;
    struct colander_slice text;
    const char *expected[EXPECTED_MAX];
} texts[] = {
    /* lines are records unless blank */
    {RECORDS_JSONL, TEXT(""), {NULL}},
    {RECORDS_JSONL, TEXT("\n\r\n \t\n"), {NULL}},
    {RECORDS_JSONL,
     TEXT("{}\n{\"a\":1}\r\n\n{}\r\n"),
     {"r{}", "r{\"a\":1}", "r{}"}},
    {RECORDS_JSONL, TEXT("{}\n  {\"a\":\n1}"), {"r{}", "r{\"a\":", "r1}"}},
    /* a line is a record whatever is in it */
    {RECORDS_JSONL,
     TEXT("rubbish\n\xff\xfe\n\"\n{\n"),
     {"rrubbish", "r\xff\xfe", "r\"", "r{"}},
    /* objects follow one another */
    {RECORDS_JSON, TEXT(""), {NULL}},
    {RECORDS_JSON, TEXT(" \n\t\r\n"), {NULL}},
    {RECORDS_JSON, TEXT("{}{}"), {"r{}", "r{}"}},
    {RECORDS_JSON,
     TEXT("{\n \"a\": [1, {}]\n}\n,{}, {} ;\n"),
     {"r{\n \"a\": [1, {}]\n}", "r{}", "r{}"}},
    {RECORDS_JSON,
     TEXT("{\"}\\\"{[\":\"\\\\\"}{}"),
     {"r{\"}\\\"{[\":\"\\\\\"}", "r{}"}},
    /* objects are in an array */
    {RECORDS_JSON, TEXT("[]"), {NULL}},
    {RECORDS_JSON,
     TEXT(" [ {}, {\"a\":[]},{} ] \n"),
     {"r{}", "r{\"a\":[]}", "r{}"}},
    {RECORDS_JSON, TEXT("[[1], {}]"), {"b[1]", "r{}"}},
    /* an array may be assigned */
    {RECORDS_JSON, TEXT("window.YTD.tweet.part0 = [ {} ]"), {"r{}"}},
    {RECORDS_JSON,
     TEXT("Grailbird.data.tweets_2013_01 =\n [ {}, {} ];\n"),
     {"r{}", "r{}"}},
    {RECORDS_JSON, TEXT("var x={\"a\":1};"), {"r{\"a\":1}"}},
    {RECORDS_JSON, TEXT("{}\nx = {}"), {"r{}", "bx", "x"}},
    /* only the value that is not an object is bad */
    {RECORDS_JSON,
     TEXT("5 \"x\" null {} [{}] -1.5e3"),
     {"b5", "b\"x\"", "bnull", "r{}", "b[{}]", "b-1.5e3"}},
    {RECORDS_JSON, TEXT("[5,{},\"}\"]"), {"b5", "r{}", "b\"}\""}},
    /* broken strings and brackets end the splitting */
    {RECORDS_JSON, TEXT("{}\n{\"a\":\"x}\n{\"b\":2}\n"), {"r{}", "x"}},
    {RECORDS_JSON, TEXT("{\"a\":[1}\n{}\n"), {"x"}},
    {RECORDS_JSON, TEXT("{\"a\":1}}\n{}\n"), {"r{\"a\":1}", "x"}},
    {RECORDS_JSON, TEXT("# {}\n{}\n"), {"x"}},
    {RECORDS_JSON, TEXT("[{}] {} {}\n{}"), {"r{}", "x"}},
    {RECORDS_JSON, TEXT("[{}]]"), {"r{}", "x"}},
    /* an array that does not end is bad */
    {RECORDS_JSON, TEXT("["), {"b"}},
    {RECORDS_JSON, TEXT("[{},\n"), {"r{}", "b"}},
    {RECORDS_JSON, TEXT("[{},{\"a\":"), {"r{}", "b{\"a\":"}},
    {RECORDS_JSON, TEXT("{\"a\":\""), {"b{\"a\":\""}},
    /* csv records are lines */
    {RECORDS_CSV, TEXT(""), {NULL}},
    {RECORDS_CSV, TEXT("a,b\n1,2\r\n3,4"), {"ra,b", "r1,2", "r3,4"}},
    {RECORDS_CSV, TEXT("\n\r\na\n\n \n\r\n\r"), {"ra", "r "}},
    {RECORDS_CSV, TEXT("a\rb\n"), {"ra\rb"}},
    /* a field in quotes may span lines */
    {RECORDS_CSV,
     TEXT("a,\"x\ny\"\"\r\n\",b\nc\n"),
     {"ra,\"x\ny\"\"\r\n\",b", "rc"}},
    {RECORDS_CSV, TEXT("\"\n\"\n\"\"\n"), {"r\"\n\"", "r\"\""}},
    {RECORDS_CSV, TEXT("\"a\"\r\n\"b\"\r"), {"r\"a\"", "r\"b\""}},
    /* a quote in a field is text */
    {RECORDS_CSV, TEXT("5\" x, \"y\n6\n"), {"r5\" x, \"y", "r6"}},
    /* text after a closing quote rejects the line */
    {RECORDS_CSV, TEXT("\"a\"b,c\nd\n"), {"b\"a\"b,c", "rd"}},
    {RECORDS_CSV, TEXT("x,\"a\nb,\"c\nd\n"), {"bx,\"a", "bb,\"c", "rd"}},
    {RECORDS_CSV, TEXT("\"a\"\rb\nd\n"), {"b\"a\"\rb", "rd"}},
    /* a quote that is never closed rejects its line */
    {RECORDS_CSV, TEXT("a\nb,\"c\r\nd\ne,f\n"), {"ra", "bb,\"c", "rd", "re,f"}},
    {RECORDS_CSV, TEXT("x\",\"y\nx\",\"y\nz"), {"bx\",\"y", "bx\",\"y", "rz"}},
    /* maps are records and other values are bad */
    {RECORDS_MSGPACK, TEXT(""), {NULL}},
    {RECORDS_MSGPACK,
     TEXT("\x81\xa1"
          "a\x05\x05\x80\xa2xy\x82\x01\x92\xc0\xc3\xd9\x01z\xcc"
          "a\xd4xx"),
     {"r\x81\xa1"
      "a\x05",
      "b\x05", "r\x80", "b\xa2xy",
      "r\x82\x01\x92\xc0\xc3\xd9\x01z\xcc"
      "a",
      "b\xd4xx"}},
    /* other bytes reject the rest */
    {RECORDS_MSGPACK,
     TEXT("\x80\x81\x01\xc1\x80\x80"),
     {"r\x80", "b\x81\x01\xc1\x80\x80"}},
    {RECORDS_MSGPACK,
     TEXT("\x80\x82\x01\x02\x03"),
     {"r\x80", "b\x82\x01\x02\x03"}},
    {RECORDS_MSGPACK,
     TEXT("\x81\xdb\xff\xff\xff\xff"),
     {"b\x81\xdb\xff\xff\xff\xff"}},
    {RECORDS_MSGPACK, TEXT("\xdf\xff\xff"), {"b\xdf\xff\xff"}},
};

TEST(texts_are_cut_into_records)
{
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_cut(texts[i].format, texts[i].text, texts[i].expected);
}

TEST(faults_are_reported_with_their_byte)
{
    static const struct {
        enum record_format format;
        const char *text;
        const char *reason;
        size_t at;
    } faults[] = {
        {RECORDS_JSON, "null", "the value is not an object", 0},
        {RECORDS_JSON, "{\"a\":\"x}\n{}", "the line ends inside a string", 8},
        {RECORDS_JSON, "{\"a\":[1}\n",
         "the bracket closes one of the other kind", 7},
        {RECORDS_JSON, "{} {\"a\":{\"b\":1}\n{\"c\":1}\n",
         "no bracket may open here", 13},
        {RECORDS_JSON, "{} }", "no value begins here", 0},
        {RECORDS_JSON, "[];x", "there is text after the end of the array", 0},
        {RECORDS_JSON, "[{}", "the file ends before the array does", 0},
        {RECORDS_JSON, "{\"a\":1 ", "the file ends inside the record", 6},
        {RECORDS_CSV, "1\nx,\"a\"b\n",
         "neither a delimiter nor the end of the line follows a quote "
         "that closes",
         5},
        {RECORDS_CSV, "x,\"a\nb\"c\n",
         "neither a delimiter nor the end of the line follows a quote "
         "that closes",
         2},
        {RECORDS_CSV, "x\ny,\"\nz", "an opening quote is never closed", 2},
        {RECORDS_MSGPACK, "\x81\x01\xc1",
         "0xc1 is not msgpack, so the rest of the file cannot be read", 2},
        {RECORDS_MSGPACK, "\x81\x01", "the file ends inside a value", 2},
    };

    for (size_t i = 0; i < COUNT(faults); i++)
        assert_fault(faults[i].format, faults[i].text, faults[i].reason,
                     faults[i].at);
}

TEST(zero_bytes_are_bytes)
{
    SCOPED(pieces_release) struct pieces pieces;
    const char text[] = "a\0b\n\0\n";

    cut_whole(RECORDS_JSONL, colander_slice_of(text, sizeof(text) - 1),
              &pieces);
    assert_int_equal(pieces.count, 3);
    assert_int_equal(pieces.pieces[0].size, 3);
    assert_int_equal(pieces.pieces[1].size, 1);
}

/* After each record a splitter that knows only the state continues equally;
 * older versions set more bits in it. */
TEST(json_continues_from_its_state)
{
    struct colander_slice text =
        colander_slice_text("x = [\n  {\"a\":1} ,\n  {\"b\":2}, 5\n ] ; {}");
    struct splitter splitter;
    SCOPED(pieces_release) struct pieces whole;
    SCOPED(pieces_release) struct pieces pieces;

    cut_whole(RECORDS_JSON, text, &whole);
    assert_int_equal(whole.count, 4);
    splitter_init(&splitter, RECORDS_JSON, 0);
    cut(&splitter, text, chunk_whole, NULL, true, &pieces);
    assert_pieces_equal(text, &pieces, &whole);
    splitter_resume(&splitter, 0x3ff6);
    assert_int_equal(splitter_state(&splitter), 2);
}

/* As a load reports the second one if it is resumed between them. */
TEST(lines_of_one_fault_are_reported_alike_wherever_one_begins)
{
    const char *text = "\"a\nx\",\"y\nz\"!\n";
    SCOPED(pieces_release) struct pieces whole;
    SCOPED(pieces_release) struct pieces rest;

    cut_whole(RECORDS_CSV, colander_slice_text(text), &whole);
    cut_whole(RECORDS_CSV, colander_slice_text(text + 3), &rest);
    assert_int_equal(whole.pieces[1].split, SPLIT_BAD);
    assert_int_equal(rest.pieces[0].split, SPLIT_BAD);
    assert_string_equal(whole.pieces[1].why, rest.pieces[0].why);
    assert_int_equal(whole.pieces[1].at, rest.pieces[0].at);
}

/* Each kind of head, in an array, so that a wrong size is noticed. */
TEST(every_msgpack_head_has_its_size)
{
    static const struct {
        uint8_t head;
        size_t size;
    } heads[] = {{0xc0, 1}, {0xc2, 1},  {0xc3, 1},  {0xca, 5}, {0xcb, 9},
                 {0xcc, 2}, {0xcd, 3},  {0xce, 5},  {0xcf, 9}, {0xd0, 2},
                 {0xd1, 3}, {0xd2, 5},  {0xd3, 9},  {0xd4, 3}, {0xd5, 4},
                 {0xd6, 6}, {0xd7, 10}, {0xd8, 18}, {0xc4, 2}, {0xc5, 3},
                 {0xc6, 5}, {0xc7, 3},  {0xc8, 4},  {0xc9, 6}, {0xd9, 2},
                 {0xda, 3}, {0xdb, 5},  {0xdc, 3},  {0xdd, 5}, {0xde, 3},
                 {0xdf, 5}};

    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        uint8_t text[64] = {0};
        SCOPED(pieces_release) struct pieces pieces;

        text[0] = heads[i].head;
        text[heads[i].size] = 0x80;
        cut_whole(RECORDS_MSGPACK, colander_slice_of(text, heads[i].size + 1),
                  &pieces);
        assert_int_equal(pieces.count, 3);
        assert_int_equal(pieces.pieces[0].size, heads[i].size);
        assert_int_equal(pieces.pieces[1].split, SPLIT_RECORD);
    }
}
