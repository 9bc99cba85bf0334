/*
 * Every outcome of the splitter, told by a short text. One of the pieces is
 * written with a letter before it: r a record, b a bad one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/pieces.h"

/* Cuts `text` whole and byte by byte, and compares with `expected`: pieces,
 * each a letter and the record, until NULL. */
static void
assert_cut(enum record_format format, struct colander_slice text,
           const char *const *expected)
{
    struct splitter splitter;
    struct pieces whole;
    struct pieces bytewise;
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
    if (expected[i] != NULL || i + 1 != whole.count) {
        pieces_show("is", text, &whole);
        fail_msg("%zu pieces, not as many as expected", whole.count - 1);
    }
    pieces_release(&whole);
    pieces_release(&bytewise);
}

#define CUT(format, text, ...)                                                 \
    assert_cut(format, colander_slice_of(text, sizeof(text) - 1),              \
               (const char *const[]){__VA_ARGS__})
#define NOTHING NULL

/* The only fault in `text`: what is said, and of which byte of the record. */
static void
assert_fault(enum record_format format, const char *text, const char *why,
             size_t at)
{
    struct pieces pieces;
    size_t i = 0;

    cut_whole(format, colander_slice_text(text), &pieces);
    while (pieces.pieces[i].split == SPLIT_RECORD)
        i++;
    assert_int_equal(pieces.pieces[i].split, SPLIT_BAD);
    assert_string_equal(pieces.pieces[i].why, why);
    assert_int_equal(pieces.pieces[i].at, at);
    pieces_release(&pieces);
}

/* --------------------------------------------------------------- lines --- */

static void
lines_are_records_but_for_blank_ones(void **state)
{
    (void)state;
    CUT(RECORDS_JSONL, "", NOTHING);
    CUT(RECORDS_JSONL, "\n\r\n \t\n", NOTHING);
    CUT(RECORDS_JSONL, "{}\n{\"a\":1}\r\n\n{}\r\n", "r{}", "r{\"a\":1}", "r{}",
        NULL);
    CUT(RECORDS_JSONL, "{}\n  {\"a\":\n1}", "r{}", "r{\"a\":", "r1}", NULL);
}

static void
a_line_is_a_record_whatever_is_in_it(void **state)
{
    (void)state;
    CUT(RECORDS_JSONL, "rubbish\n\xff\xfe\n\"\n{\n", "rrubbish", "r\xff\xfe",
        "r\"", "r{", NULL);
}

static void
zero_bytes_are_bytes(void **state)
{
    struct pieces pieces;
    const char text[] = "a\0b\n\0\n";

    (void)state;
    cut_whole(RECORDS_JSONL, colander_slice_of(text, sizeof(text) - 1),
              &pieces);
    assert_int_equal(pieces.count, 3);
    assert_int_equal(pieces.pieces[0].size, 3);
    assert_int_equal(pieces.pieces[1].size, 1);
    pieces_release(&pieces);
}

/* ---------------------------------------------------------------- JSON --- */

static void
objects_stand_one_behind_the_other(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "", NOTHING);
    CUT(RECORDS_JSON, " \n\t\r\n", NOTHING);
    CUT(RECORDS_JSON, "{}{}", "r{}", "r{}", NULL);
    CUT(RECORDS_JSON, "{\n \"a\": [1, {}]\n}\n,{}, {} ;\n",
        "r{\n \"a\": [1, {}]\n}", "r{}", "r{}", NULL);
    CUT(RECORDS_JSON, "{\"}\\\"{[\":\"\\\\\"}{}", "r{\"}\\\"{[\":\"\\\\\"}",
        "r{}", NULL);
}

static void
objects_stand_in_an_array(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "[]", NOTHING);
    CUT(RECORDS_JSON, " [ {}, {\"a\":[]},{} ] \n", "r{}", "r{\"a\":[]}", "r{}",
        NULL);
    CUT(RECORDS_JSON, "[[1], {}]", "b[1]", "r{}", NULL);
}

static void
an_array_may_be_assigned(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "window.YTD.tweet.part0 = [ {} ]", "r{}", NULL);
    CUT(RECORDS_JSON, "Grailbird.data.tweets_2013_01 =\n [ {}, {} ];\n", "r{}",
        "r{}", NULL);
    CUT(RECORDS_JSON, "var x={\"a\":1};", "r{\"a\":1}", NULL);
    CUT(RECORDS_JSON, "{}\nx = {}", "r{}", "bx", "b= {}", NULL);
}

static void
a_value_that_is_no_object_is_bad_alone(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "5 \"x\" null {} [{}] -1.5e3", "b5", "b\"x\"", "bnull",
        "r{}", "b[{}]", "b-1.5e3", NULL);
    CUT(RECORDS_JSON, "[5,{},\"}\"]", "b5", "r{}", "b\"}\"", NULL);
    assert_fault(RECORDS_JSON, "null", "the value is no object", 0);
}

static void
a_line_that_ends_in_a_string_costs_its_record(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "{\"a\":\"x}\n{\"b\":2}\n", "b{\"a\":\"x}", "r{\"b\":2}",
        NULL);
    CUT(RECORDS_JSON, "[\n  {\"a\":\"x},\n{\n  {\"b\":2}\n]",
        "b{\"a\":\"x},\n{", "r{\"b\":2}", NULL);
    CUT(RECORDS_JSON, "[\n\t{\"a\":\"x\\\n\t{\"b\":2}\n]", "b{\"a\":\"x\\",
        "r{\"b\":2}", NULL);
    assert_fault(RECORDS_JSON, "{\"a\":\"x}\n{}",
                 "the line ends inside a string", 8);
}

static void
brackets_that_do_not_match_cost_their_record(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "{\"a\":[1}\n{}\n", "b{\"a\":[1}", "r{}", NULL);
    CUT(RECORDS_JSON, "{\"a\":{\"b\":1}\n{\"c\":1}\n{}\n", "b{\"a\":{\"b\":1}",
        "r{\"c\":1}", "r{}", NULL);
    CUT(RECORDS_JSON, "{\"a\":1}}\n{}\n", "r{\"a\":1}", "b}", "r{}", NULL);
    assert_fault(RECORDS_JSON, "{\"a\":[1}\n",
                 "the bracket closes another one than was opened", 7);
    assert_fault(RECORDS_JSON, "{\"a\":{\"b\":1}\n{\"c\":1}\n",
                 "a bracket opens where none may", 12);
}

/* Rubbish among records is one, where they begin lines. */
static void
rubbish_goes_to_the_next_line_of_the_kind(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "# {}\n  {}\n{}\n", "b# {}\n  {}", "r{}", NULL);
    CUT(RECORDS_JSON, "{} <a> {}\n{}\n", "r{}", "b<a> {}", "r{}", NULL);
    CUT(RECORDS_JSON, "[\n{},\n  : {}\n  {}\n{}\n]", "r{}", "b: {}", "r{}",
        "r{}", NULL);
}

static void
where_no_line_is_like_it_all_the_rest_is_bad(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "[{\"a\":\"x},\n{\"b\":1},\n{\"c\":1}]",
        "b{\"a\":\"x},\n{\"b\":1},\n{\"c\":1}]", NULL);
    CUT(RECORDS_JSON, "{\"a\":\"x}\n {}\n\t{}\n", "b{\"a\":\"x}\n {}\n\t{}",
        NULL);
    CUT(RECORDS_JSON, " \t{\"a\":\"x}\n \t{}\n", "b{\"a\":\"x}\n \t{}", NULL);
}

static void
what_stands_behind_the_array_is_bad(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "[{}] {} {}\n{}", "r{}", "b{} {}\n{}", NULL);
    CUT(RECORDS_JSON, "[{}]]", "r{}", "b]", NULL);
    assert_fault(RECORDS_JSON, "[];x",
                 "something stands behind the end of the "
                 "array",
                 0);
}

static void
an_array_that_does_not_end_is_told(void **state)
{
    (void)state;
    CUT(RECORDS_JSON, "[", "b", NULL);
    CUT(RECORDS_JSON, "[{},\n", "r{}", "b", NULL);
    CUT(RECORDS_JSON, "[{},{\"a\":", "r{}", "b{\"a\":", NULL);
    CUT(RECORDS_JSON, "{\"a\":\"", "b{\"a\":\"", NULL);
    assert_fault(RECORDS_JSON, "[{}", "the file ends before the array does", 0);
    assert_fault(RECORDS_JSON, "{\"a\":1 ", "the file ends inside the record",
                 6);
}

/* After each record a splitter that knows only the state goes on as well. */
static void
json_goes_on_from_its_state(void **state)
{
    struct colander_slice text =
        colander_slice_text("x = [\n  {\"a\":1}} ,\n  {\"b\":2}, 5\n ] ; {}");
    struct splitter splitter;
    struct pieces whole;
    struct pieces pieces;

    (void)state;
    cut_whole(RECORDS_JSON, text, &whole);
    assert_int_equal(whole.count, 6);
    splitter_init(&splitter, RECORDS_JSON, 0);
    cut(&splitter, text, chunk_whole, NULL, true, &pieces);
    assert_pieces_equal(text, &pieces, &whole);
    pieces_release(&whole);
    pieces_release(&pieces);
}

/* Reads on from where `text` has nothing but blanks left; what is broken costs
 * one record, as it would have without the interruption. */
static void
assert_resync_behind(const char *before, const char *behind)
{
    struct splitter splitter;
    struct split_record ended;
    struct colander_slice text = colander_slice_text(before);
    uint32_t state;
    enum split split;

    splitter_init(&splitter, RECORDS_JSON, 0);
    do {
        split = splitter_next(&splitter, text, false, &ended, NULL);
        text =
            colander_slice_of(text.data + ended.size, text.size - ended.size);
    } while (split == SPLIT_RECORD);
    assert_int_equal(split, SPLIT_MORE);
    assert_int_equal(text.size, 0);

    state = splitter_state(&splitter);
    splitter_init(&splitter, RECORDS_JSON, 0);
    splitter_resume(&splitter, state);
    text = colander_slice_text(behind);
    assert_int_equal(splitter_next(&splitter, text, true, &ended, NULL),
                     SPLIT_BAD);
    text = colander_slice_of(text.data + ended.size, text.size - ended.size);
    assert_int_equal(splitter_next(&splitter, text, true, &ended, NULL),
                     SPLIT_RECORD);
}

static void
json_that_goes_on_in_blanks_knows_how_its_line_begins(void **state)
{
    (void)state;
    assert_resync_behind("{\"a\":1}\n", "{\"a\":2\n{\"a\":3}\n");
    assert_resync_behind("[\n  {\"a\":1},\n ", " {\"a\":2,\n  {\"a\":3}]");
    assert_resync_behind("[\n\t{\"a\":1},\n\t", "{\"a\":2,\n\t{\"a\":3}]");
}

/* ----------------------------------------------------------------- CSV --- */

static void
csv_records_are_lines(void **state)
{
    (void)state;
    CUT(RECORDS_CSV, "", NOTHING);
    CUT(RECORDS_CSV, "a,b\n1,2\r\n3,4", "ra,b", "r1,2", "r3,4", NULL);
    CUT(RECORDS_CSV, "\n\r\na\n\n \n\r\n\r", "ra", "r ", NULL);
    CUT(RECORDS_CSV, "a\rb\n", "ra\rb", NULL);
}

static void
a_field_in_quotes_may_span_lines(void **state)
{
    (void)state;
    CUT(RECORDS_CSV, "a,\"x\ny\"\"\r\n\",b\nc\n", "ra,\"x\ny\"\"\r\n\",b", "rc",
        NULL);
    CUT(RECORDS_CSV, "\"\n\"\n\"\"\n", "r\"\n\"", "r\"\"", NULL);
    CUT(RECORDS_CSV, "\"a\"\r\n\"b\"\r", "r\"a\"", "r\"b\"", NULL);
}

static void
a_quote_in_a_field_is_text(void **state)
{
    (void)state;
    CUT(RECORDS_CSV, "5\" x, \"y\n6\n", "r5\" x, \"y", "r6", NULL);
}

static void
text_behind_a_closing_quote_costs_the_line(void **state)
{
    (void)state;
    CUT(RECORDS_CSV, "\"a\"b,c\nd\n", "b\"a\"b,c", "rd", NULL);
    CUT(RECORDS_CSV, "x,\"a\nb,\"c\nd\n", "bx,\"a", "bb,\"c", "rd", NULL);
    CUT(RECORDS_CSV, "\"a\"\rb\nd\n", "b\"a\"\rb", "rd", NULL);
    assert_fault(RECORDS_CSV, "1\nx,\"a\"b\n",
                 "neither a delimiter nor the end of the line follows a quote "
                 "that closes",
                 5);
    assert_fault(RECORDS_CSV, "x,\"a\nb\"c\n",
                 "neither a delimiter nor the end of the line follows a quote "
                 "that closes",
                 2);
}

/* As a load that goes on between them would tell the second. */
static void
lines_of_one_fault_are_told_alike_wherever_one_begins(void **state)
{
    const char *text = "\"a\nx\",\"y\nz\"!\n";
    struct pieces whole;
    struct pieces rest;

    (void)state;
    cut_whole(RECORDS_CSV, colander_slice_text(text), &whole);
    cut_whole(RECORDS_CSV, colander_slice_text(text + 3), &rest);
    assert_int_equal(whole.pieces[1].split, SPLIT_BAD);
    assert_int_equal(rest.pieces[0].split, SPLIT_BAD);
    assert_string_equal(whole.pieces[1].why, rest.pieces[0].why);
    assert_int_equal(whole.pieces[1].at, rest.pieces[0].at);
    pieces_release(&whole);
    pieces_release(&rest);
}

static void
a_quote_that_is_never_closed_costs_its_line(void **state)
{
    (void)state;
    CUT(RECORDS_CSV, "a\nb,\"c\r\nd\ne,f\n", "ra", "bb,\"c", "rd", "re,f",
        NULL);
    CUT(RECORDS_CSV, "x\",\"y\nx\",\"y\nz", "bx\",\"y", "bx\",\"y", "rz", NULL);
    assert_fault(RECORDS_CSV, "x\ny,\"\nz",
                 "a quote that opens is never closed", 2);
}

/* ------------------------------------------------------------- msgpack --- */

static void
maps_are_records_and_other_values_are_bad(void **state)
{
    (void)state;
    CUT(RECORDS_MSGPACK, "", NOTHING);
    CUT(RECORDS_MSGPACK,
        "\x81\xa1"
        "a\x05\x05\x80\xa2xy\x82\x01\x92\xc0\xc3\xd9\x01z\xcc"
        "a\xd4xx",
        "r\x81\xa1"
        "a\x05",
        "b\x05", "r\x80", "b\xa2xy",
        "r\x82\x01\x92\xc0\xc3\xd9\x01z\xcc"
        "a",
        "b\xd4xx", NULL);
}

/* Each kind of head, in an array, so that a wrong size shows. */
static void
every_msgpack_head_has_its_size(void **state)
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

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        uint8_t text[64] = {0};
        struct pieces pieces;

        text[0] = heads[i].head;
        text[heads[i].size] = 0x80;
        cut_whole(RECORDS_MSGPACK, colander_slice_of(text, heads[i].size + 1),
                  &pieces);
        assert_int_equal(pieces.count, 3);
        assert_int_equal(pieces.pieces[0].size, heads[i].size);
        assert_int_equal(pieces.pieces[1].split, SPLIT_RECORD);
        pieces_release(&pieces);
    }
}

static void
what_is_no_msgpack_costs_the_rest(void **state)
{
    (void)state;
    CUT(RECORDS_MSGPACK, "\x80\x81\x01\xc1\x80\x80", "r\x80",
        "b\x81\x01\xc1\x80\x80", NULL);
    CUT(RECORDS_MSGPACK, "\x80\x82\x01\x02\x03", "r\x80", "b\x82\x01\x02\x03",
        NULL);
    CUT(RECORDS_MSGPACK, "\x81\xdb\xff\xff\xff\xff",
        "b\x81\xdb\xff\xff\xff\xff", NULL);
    CUT(RECORDS_MSGPACK, "\xdf\xff\xff", "b\xdf\xff\xff", NULL);
    assert_fault(RECORDS_MSGPACK, "\x81\x01\xc1",
                 "0xc1 is no msgpack, so that all behind it cannot be read", 2);
    assert_fault(RECORDS_MSGPACK, "\x81\x01", "the file ends inside a value",
                 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_records_but_for_blank_ones),
        cmocka_unit_test(a_line_is_a_record_whatever_is_in_it),
        cmocka_unit_test(zero_bytes_are_bytes),
        cmocka_unit_test(objects_stand_one_behind_the_other),
        cmocka_unit_test(objects_stand_in_an_array),
        cmocka_unit_test(an_array_may_be_assigned),
        cmocka_unit_test(a_value_that_is_no_object_is_bad_alone),
        cmocka_unit_test(a_line_that_ends_in_a_string_costs_its_record),
        cmocka_unit_test(brackets_that_do_not_match_cost_their_record),
        cmocka_unit_test(rubbish_goes_to_the_next_line_of_the_kind),
        cmocka_unit_test(where_no_line_is_like_it_all_the_rest_is_bad),
        cmocka_unit_test(what_stands_behind_the_array_is_bad),
        cmocka_unit_test(an_array_that_does_not_end_is_told),
        cmocka_unit_test(json_goes_on_from_its_state),
        cmocka_unit_test(json_that_goes_on_in_blanks_knows_how_its_line_begins),
        cmocka_unit_test(csv_records_are_lines),
        cmocka_unit_test(a_field_in_quotes_may_span_lines),
        cmocka_unit_test(a_quote_in_a_field_is_text),
        cmocka_unit_test(text_behind_a_closing_quote_costs_the_line),
        cmocka_unit_test(lines_of_one_fault_are_told_alike_wherever_one_begins),
        cmocka_unit_test(a_quote_that_is_never_closed_costs_its_line),
        cmocka_unit_test(maps_are_records_and_other_values_are_bad),
        cmocka_unit_test(every_msgpack_head_has_its_size),
        cmocka_unit_test(what_is_no_msgpack_costs_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
