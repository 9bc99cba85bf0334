/*
 * Line protocol: where a line ends, and what row it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/influx_rows.h"
#include "loading/pieces.h"
#include "loading/rows.h"
#include "support/cases.h"
#include "support/scoped.h"

struct sample {
    const char *line;
    uint64_t unit;
    const char *json; /* the row with its key */
};

#define T "\"time\":\"2023-11-14T22:13:20Z\"}"
#define N "1700000000000000000"

static const struct sample samples[] = {
    {"cpu v=1 " N, 1,
     "{\"_key\":[\"cpu\",\"\",\"2023-11-14T22:13:20Z\"],"
     "\"_measurement\":\"cpu\",\"v\":1.0," T},
    {"cpu,b=2,a=1 v=1i,w=2u,x=-3i,y=18446744073709551615u 1700000000",
     1000000000,
     "{\"_key\":[\"cpu\",\"a=1,b=2\",\"2023-11-14T22:13:20Z\"],"
     "\"_measurement\":\"cpu\",\"a\":\"1\",\"b\":\"2\",\"v\":1,\"w\":2,"
     "\"x\":-3,\"y\":18446744073709551615," T},
    {"m t=t,u=T,v=true,w=True,x=TRUE,f=f,g=F,h=false,i=False,j=FALSE " N, 1,
     "{\"_key\":[\"m\",\"\",\"2023-11-14T22:13:20Z\"],\"_measurement\":\"m\","
     "\"t\":true,\"u\":true,\"v\":true,\"w\":true,\"x\":true,\"f\":false,"
     "\"g\":false,\"h\":false,\"i\":false,\"j\":false," T},
    {"m a=-1.5,b=1e3,c=.5,d=1.,e=-0,f=1E-2 " N, 1,
     "{\"_key\":[\"m\",\"\",\"2023-11-14T22:13:20Z\"],\"_measurement\":\"m\","
     "\"a\":-1.5,\"b\":1000.0,\"c\":0.5,\"d\":1.0,\"e\":-0.0,\"f\":0.01," T},
    {"a\\,b\\ c\\=d,k\\,\\=\\ =v\\,\\=\\ \\w f\\,\\=\\ g=\"x\" " N, 1,
     "{\"_key\":[\"a,b c\\\\=d\",\"k\\\\,\\\\=\\\\ =v\\\\,\\\\=\\\\ \\\\w\","
     "\"2023-11-14T22:13:20Z\"],\"_measurement\":\"a,b c\\\\=d\","
     "\"k,= \":\"v,= \\\\w\",\"f,= g\":\"x\"," T},
    {"m s=\"a \\\"b\\\" \\\\ \\c, d=1\",t=\"\",u=\"l\nm\" " N, 1,
     "{\"_key\":[\"m\",\"\",\"2023-11-14T22:13:20Z\"],\"_measurement\":\"m\","
     "\"s\":\"a \\\"b\\\" \\\\ \\\\c, d=1\",\"t\":\"\",\"u\":\"l\\nm\"," T},
    {"m\"x\",t=\"q\" v=1 " N, 1,
     "{\"_key\":[\"m\\\"x\\\"\",\"t=\\\"q\\\"\",\"2023-11-14T22:13:20Z\"],"
     "\"_measurement\":\"m\\\"x\\\"\",\"t\":\"\\\"q\\\"\",\"v\":1.0," T},
    {"m   v=1   1700000000000  ", 1000000,
     "{\"_key\":[\"m\",\"\",\"2023-11-14T22:13:20Z\"],\"_measurement\":\"m\","
     "\"v\":1.0," T},
    {"m v=1 -1", 1000,
     "{\"_key\":[\"m\",\"\",\"1969-12-31T23:59:59.999999Z\"],"
     "\"_measurement\":\"m\",\"v\":1.0,"
     "\"time\":\"1969-12-31T23:59:59.999999Z\"}"},
    {"m v=1 472222", UINT64_C(3600000000000),
     "{\"_key\":[\"m\",\"\",\"2023-11-14T22:00:00Z\"],\"_measurement\":\"m\","
     "\"v\":1.0,\"time\":\"2023-11-14T22:00:00Z\"}"},
};

TEST(a_line_is_a_row)
{
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct influx_rows rows = {.builder = NULL};
        SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
        struct parsed_row parsed = {.has_key = false};

        OK(influx_rows_row(&rows, colander_slice_text(samples[i].line),
                           samples[i].unit, &parsed, why()));
        assert_true(parsed.has_key);
        OK(colander_json_append_row(&json, parsed.key, parsed.row, why()));
        OK(colander_buffer_append(&json, "", 1, why()));
        assert_string_equal((char *)json.data, samples[i].json);
        influx_rows_release(&rows);
    }
}

static const struct {
    const char *line;
    const char *message;
    size_t fault;
} refused[] = {
    {",t=1 v=1", "the measurement is missing", 0},
    {" v=1", "the measurement is missing", 0},
    {"m", "expected a field", 1},
    {"m,t=1", "expected a field", 5},
    {"m ", "expected a field", 2},
    {"m,t v=1", "expected a tag", 3},
    {"m,=1 v=1", "expected a tag", 2},
    {"m,t= v=1", "the tag has no value", 4},
    {"m,t=a=b v=1", "write = in the value", 5},
    {"m,t=1,t=2 v=1", "'t'", 0},
    {"m,time=1 v=1", "'time'", 0},
    {"m,t=1 t=2", "'t'", 0},
    {"m v", "expected a field", 3},
    {"m v=", "'' is neither", 4},
    {"m v=x", "'x' is neither", 4},
    {"m v=1x", "'1x' is neither", 4},
    {"m v=1.5i", "'1.5i' is neither", 4},
    {"m v=-1u", "'-1u' is neither", 4},
    {"m v=i", "'i' is neither", 4},
    {"m v=NaN", "'NaN' is neither", 4},
    {"m v=inf", "'inf' is neither", 4},
    {"m v=1e999", "'1e999' is neither", 4},
    {"m v=9223372036854775808i", "is neither", 4},
    {"m v=18446744073709551616u", "is neither", 4},
    {"m v=tRUE", "'tRUE' is neither", 4},
    {"m v=\"a", "a string is not closed", 6},
    {"m v=\"a\\\"", "a string is not closed", 8},
    {"m v=\"a\"b", "expected a comma or a blank", 7},
    {"m v=1,", "expected a field", 6},
    {"m v=1,,w=1", "expected a field", 6},
    {"m v=1 x", "the time is not an integer", 6},
    {"m v=1 1.5", "the time is not an integer", 6},
    {"m v=1 1 2", "the time is not an integer", 6},
    {"m v=1 9223372036854775808", "the time is not an integer", 6},
    {"m v=\"\xff\"", "UTF-8", 0},
    {"m,\xff=1 v=1", "UTF-8", 9},
};

TEST(a_line_that_is_none_is_refused_where_it_is_wrong)
{
    struct influx_rows rows = {.builder = NULL};

    for (size_t i = 0; i < COUNT(refused); i++) {
        struct parsed_row parsed = {.fault = 0};
        struct colander_error err;

        if (influx_rows_row(&rows, colander_slice_text(refused[i].line), 1,
                            &parsed, &err) == COLANDER_OK)
            fail_msg("'%s' is a row", refused[i].line);
        assert_int_equal(err.code, COLANDER_INVALID);
        if (strstr(err.message, refused[i].message) == NULL ||
            parsed.fault != refused[i].fault)
            fail_msg("'%s' at %zu: %s", refused[i].line, parsed.fault,
                     err.message);
    }
    influx_rows_release(&rows);
}

TEST(a_time_beyond_64_bits_of_its_unit_is_refused)
{
    struct influx_rows rows = {.builder = NULL};
    struct parsed_row parsed;
    struct colander_error err;

    FAILS(influx_rows_row(&rows,
                          colander_slice_text("m v=1 9223372036854775807"),
                          UINT64_C(3600000000000), &parsed, &err),
          COLANDER_INVALID);
    assert_string_equal(err.message, "the time is out of range");
    /* nanoseconds that are taken for seconds */
    FAILS(influx_rows_row(&rows,
                          colander_slice_text("m v=1 1795742957303021618"),
                          UINT64_C(1000000000), &parsed, &err),
          COLANDER_INVALID);
    influx_rows_release(&rows);
}

/* However many tags there are, and in whatever order. */
TEST(points_of_a_series_have_one_key)
{
    struct influx_rows rows = {.builder = NULL};
    struct colander_buffer keys[2] = {COLANDER_BUFFER_EMPTY,
                                      COLANDER_BUFFER_EMPTY};

    for (int turn = 0; turn < 2; turn++) {
        SCOPED_BUFFER line = COLANDER_BUFFER_EMPTY;
        struct parsed_row parsed;

        OK(colander_buffer_append(&line, "m", 1, why()));
        for (int i = 0; i < 300; i++) {
            char tag[32];
            const int number = turn == 0 ? i : 299 - i;

            (void)snprintf(tag, sizeof(tag), ",tag%d=value%d", number, number);
            OK(colander_buffer_append(&line, tag, strlen(tag), why()));
        }
        OK(colander_buffer_append(&line, " v=1 1", 6, why()));
        OK(influx_rows_row(&rows, colander_buffer_slice(&line), 1, &parsed,
                           why()));
        OK(colander_buffer_append(&keys[turn], parsed.key.data, parsed.key.size,
                                  why()));
    }
    ASSERT_SAME(colander_buffer_slice(&keys[0]),
                colander_buffer_slice(&keys[1]));
    colander_buffer_release(&keys[0]);
    colander_buffer_release(&keys[1]);
    influx_rows_release(&rows);
}

/* ---------------------------------------------------------------- lines --- */

/* R is a record and B a bad one; of each, what it is. */
static const struct {
    const char *text;
    const char *pieces[6];
} texts[] = {
    {"", {NULL}},
    {"\n\n# c\n \n#", {NULL}},
    {"m v=1", {"Rm v=1"}},
    {"m v=1\r\nn v=2\n", {"Rm v=1", "Rn v=2"}},
    {"#c\nm v=1 #\n", {"Rm v=1 #"}},
    {"m v=\"a\nb\" 1\nn v=1", {"Rm v=\"a\nb\" 1", "Rn v=1"}},
    {"m v=\"a\\\"\n\\\\\",w=1\nn v=1", {"Rm v=\"a\\\"\n\\\\\",w=1", "Rn v=1"}},
    {"m\",t=\"x v=1\nn v=2", {"Rm\",t=\"x v=1", "Rn v=2"}},
    {"m v=\"a\nn v=1\no v=2", {"Bm v=\"a", "Rn v=1", "Ro v=2"}},
    {"m v=\"a\nn v=\"b\"\n", {"Bm v=\"a", "Rn v=\"b\""}},
    {"m v=\"a\"x\nn v=1", {"Rm v=\"a\"x", "Rn v=1"}},
    {"m v=\"a", {"Rm v=\"a"}},
    {"m v\\=\"a\nn v=1", {"Rm v\\=\"a", "Rn v=1"}},
    {"m\\ v=\"a\nn v=1", {"Rm\\ v=\"a", "Rn v=1"}},
    {"m v=1\\\nn v=1\\", {"Rm v=1\\", "Rn v=1\\"}},
};

static void
assert_cut(const char *text, const char *const *expected, chunk_function *chunk,
           bool forgets)
{
    struct splitter splitter;
    struct pieces pieces;
    size_t i;

    splitter_init(&splitter, RECORDS_INFLUX, 0);
    cut(&splitter, colander_slice_text(text), chunk, NULL, forgets, &pieces);
    for (i = 0; i + 1 < pieces.count; i++) {
        const struct piece *piece = &pieces.pieces[i];

        if (expected[i] == NULL || piece->size != strlen(expected[i]) - 1 ||
            memcmp(text + piece->from, expected[i] + 1, piece->size) != 0 ||
            (expected[i][0] == 'B') != (piece->split == SPLIT_BAD)) {
            pieces_show("is", colander_slice_text(text), &pieces);
            fail_msg("piece %zu should be %s", i, expected[i]);
        }
    }
    assert_null(expected[i]);
    pieces_release(&pieces);
}

TEST(a_line_ends_outside_strings)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_cut(texts[i].text, texts[i].pieces, chunk_whole, false);
        assert_cut(texts[i].text, texts[i].pieces, chunk_byte, false);
        assert_cut(texts[i].text, texts[i].pieces, chunk_whole, true);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
