/*
 * Output: every format, byte for byte, for rows of a store and for rows without
 * a key.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/output.h"
#include "shell/output/csv.h"
#include "shell/text.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#define UNICODE "\xC5\xBC\xC3\xB3\xC5\x82w \xF0\x9F\x90\xA2"

/* Rows being printed, and the output so far. */
struct shown {
    char *text;
    size_t size;
    FILE *file;
    struct output *output;
    struct colander_row_builder *builder;
    struct colander_buffer key;
    struct colander_columns matched;
};

static void
begin(struct shown *shown, const struct output_options *options)
{
    memset(shown, 0, sizeof(*shown));
    shown->file = open_memstream(&shown->text, &shown->size);
    shown->builder = colander_row_builder_create();
    assert_non_null(shown->file);
    assert_non_null(shown->builder);
    OK(output_create(shown->file, options, &shown->output, NULL));
}

static void
add(struct shown *shown, const char *name, struct colander_value value)
{
    colander_row_builder_add(shown->builder, name, value);
}

/* Ends the row; with NULL, it has no key. */
static enum colander_code
end_row(struct shown *shown, const char *key, struct colander_error *err)
{
    struct colander_result result;

    memset(&result, 0, sizeof(result));
    if (key != NULL) {
        OK(colander_key_text(key, &shown->key, NULL));
        result.key = colander_buffer_slice(&shown->key);
    }
    result.columns = shown->matched;
    OK(colander_row_builder_finish(shown->builder, &result.row, NULL));
    return output_row(shown->output, &result, err);
}

static void
row(struct shown *shown, const char *key)
{
    OK(end_row(shown, key, NULL));
}

static void
assert_shows(struct shown *shown, const char *text)
{
    OK(output_finish(shown->output, NULL));
    output_destroy(shown->output);
    ZERO(fclose(shown->file));
    assert_string_equal(shown->text, text);
    free(shown->text);
    colander_row_builder_destroy(shown->builder);
    colander_buffer_release(&shown->key);
}

/* ----------------------------------------------------------------- CSV --- */

TEST(csv_has_quotes_where_a_field_needs_them)
{
    struct shown shown;

    begin(&shown, &(struct output_options){.format = OUTPUT_CSV});
    add(&shown, "plain", colander_text("two words"));
    add(&shown, "a,b", colander_text("say \"no\""));
    add(&shown, "lines", colander_text("one\ntwo\r\nthree"));
    add(&shown, "", colander_text(""));
    add(&shown, "\"", colander_text(UNICODE));
    add(&shown, "old", colander_text("a\rb"));
    row(&shown, "k,1");
    assert_shows(&shown, "_key,plain,\"a,b\",lines,\"\",\"\"\"\",old\n"
                         "\"k,1\",two words,\"say \"\"no\"\"\","
                         "\"one\ntwo\r\nthree\",\"\"," UNICODE ",\"a\rb\"\n");
}

TEST(csv_shows_every_type)
{
    const struct colander_slice bytes = {(const uint8_t *)"\0\1\2", 3};
    struct shown shown;

    begin(&shown, &(struct output_options){.format = OUTPUT_CSV});
    add(&shown, "null", colander_null());
    add(&shown, "true", colander_boolean(true));
    add(&shown, "integer", colander_integer(-5));
    add(&shown, "large", colander_unsigned(UINT64_MAX));
    add(&shown, "double", colander_double(5.0));
    add(&shown, "infinite", colander_double(INFINITY));
    add(&shown, "digits", colander_text("5"));
    add(&shown, "binary", colander_binary(bytes));
    add(&shown, "time", colander_timestamp(1600000000, 0));
    colander_row_builder_begin_array(shown.builder, "list");
    add(&shown, NULL, colander_integer(1));
    add(&shown, NULL, colander_text("x"));
    colander_row_builder_end(shown.builder);
    colander_row_builder_begin_map(shown.builder, "map");
    add(&shown, "a", colander_null());
    colander_row_builder_end(shown.builder);
    row(&shown, "k");
    assert_shows(&shown,
                 "_key,null,true,integer,large,double,infinite,digits,binary,"
                 "time,list,map\n"
                 "k,,true,-5,18446744073709551615,5.0,,5,AAEC,"
                 "2020-09-13T12:26:40Z,\"[1,\"\"x\"\"]\",\"{\"\"a\"\":null}\""
                 "\n");
}

TEST(csv_has_the_columns_of_all_rows)
{
    struct shown shown;

    begin(&shown, &(struct output_options){.format = OUTPUT_CSV});
    add(&shown, "b", colander_integer(1));
    row(&shown, "k1");
    add(&shown, "a", colander_integer(2));
    add(&shown, "b", colander_integer(3));
    row(&shown, "k2");
    row(&shown, "k3");
    add(&shown, "c", colander_integer(4));
    row(&shown, "k4");
    assert_shows(&shown, "_key,b,a,c\nk1,1,,\nk2,3,2,\nk3,,,\nk4,,,4\n");
}

TEST(csv_has_the_columns_selected)
{
    const char *const paths[] = {"b", "_key", "u.name", "b"};
    const struct output_options options = {
        .format = OUTPUT_CSV, .paths = paths, .path_count = 4};
    struct shown shown;

    begin(&shown, &options);
    assert_shows(&shown, "_key,b,u.name\n");
    begin(&shown, &options);
    add(&shown, "a", colander_integer(1));
    add(&shown, "b", colander_integer(2));
    row(&shown, "k1");
    colander_row_builder_begin_map(shown.builder, "u");
    add(&shown, "name", colander_text("Ann"));
    colander_row_builder_end(shown.builder);
    row(&shown, "k2");
    assert_shows(&shown, "_key,b,u.name\nk1,2,\nk2,,Ann\n");
}

/* A column is also kept if its name is the one that a find adds. */
TEST(csv_shows_the_columns_that_matched)
{
    const char *const paths[] = {"a", "b"};
    struct shown shown;

    begin(&shown, &(struct output_options){.format = OUTPUT_CSV,
                                           .shows_matches = true});
    shown.matched = (struct colander_columns){paths, 2, false};
    add(&shown, "_matched", colander_integer(7));
    row(&shown, "k");
    assert_shows(&shown,
                 "_key,_matched,_matched\nk,\"[\"\"a\"\",\"\"b\"\"]\",7\n");
}

TEST(csv_has_no_blank_line)
{
    struct shown shown;

    begin(&shown,
          &(struct output_options){.format = OUTPUT_CSV, .has_no_key = true});
    add(&shown, "a", colander_null());
    row(&shown, NULL);
    add(&shown, "a", colander_integer(1));
    row(&shown, NULL);
    assert_shows(&shown, "a\n\"\"\n1\n");
}

TEST(csv_refuses_too_many_columns_and_keeps_the_rows_before)
{
    struct shown shown;
    char name[16];

    begin(&shown, &(struct output_options){.format = OUTPUT_CSV});
    for (int i = 1; i <= CSV_COLUMNS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "c%d", i);
        add(&shown, name, colander_integer(i));
        if (i < 3)
            row(&shown, "k");
    }
    FAILS(end_row(&shown, "k", why()), COLANDER_LIMIT);
    assert_string_equal(error_text(),
                        "more than 16384 different columns for one line of "
                        "names: choose some with --select");
    OK(output_finish(shown.output, NULL));
    assert_non_null(strstr(shown.text, ",c16383\nk,1,,,"));
    shown.text[8] = '\0';
    assert_string_equal(shown.text, "_key,c1,");
    output_destroy(shown.output);
    ZERO(fclose(shown.file));
    free(shown.text);
    colander_row_builder_destroy(shown.builder);
    colander_buffer_release(&shown.key);
}

/* -------------------------------------------------------- other formats --- */

TEST(json_is_one_array)
{
    const struct output_options options = {.format = OUTPUT_JSON};
    struct shown shown;

    begin(&shown, &options);
    assert_shows(&shown, "[]\n");
    begin(&shown, &options);
    add(&shown, "a", colander_text("x\ny"));
    row(&shown, "k1");
    assert_shows(&shown, "[\n{\"_key\":\"k1\",\"a\":\"x\\ny\"}\n]\n");
    begin(&shown, &options);
    row(&shown, "k1");
    row(&shown, "k2");
    assert_shows(&shown, "[\n{\"_key\":\"k1\"},\n{\"_key\":\"k2\"}\n]\n");
}

/* A row with all that a format has to escape or to arrange. */
static void
add_everything(struct shown *shown)
{
    colander_row_builder_begin_map(shown->builder, "map");
    colander_row_builder_add(shown->builder, "a\"{", colander_text("}\\"));
    colander_row_builder_begin_array(shown->builder, "empty");
    colander_row_builder_end(shown->builder);
    colander_row_builder_begin_array(shown->builder, "list");
    colander_row_builder_add(shown->builder, NULL, colander_integer(1));
    colander_row_builder_add(shown->builder, NULL, colander_null());
    colander_row_builder_end(shown->builder);
    colander_row_builder_end(shown->builder);
    add(shown, "text", colander_text("a|b\tc\nd\\"));
    add(shown, "at", colander_timestamp(1427155200, 0));
    add(shown, "user", colander_text(""));
    add(shown, "none", colander_null());
}

/* The key first, then columns of conditions; maps and arrays last. */
TEST(a_table_has_what_matters_first)
{
    struct colander_predicate *where = colander_where_text("user.name=x", NULL);
    struct shown shown;

    assert_non_null(where);
    begin(&shown, &(struct output_options){
                      .format = OUTPUT_MARKDOWN,
                      .style.null_text = "NULL",
                      .where = where,
                  });
    add_everything(&shown);
    row(&shown, "a key");
    assert_shows(
        &shown,
        "| _key  | user | text       | at                   | none | map "
        "                                      |\n"
        "|-------|------|------------|----------------------|------|-----"
        "--------------------------------------|\n"
        "| a key |      | a\\|b\\tc\\nd\\ | 2015-03-24T00:00:00Z | NULL | "
        "{\"a\\\"{\":\"}\\\\\",\"empty\":[],\"list\":[1,null]} |\n");
    colander_predicate_destroy(where);
}

TEST(pretty_json_and_tsv_keep_every_value)
{
    struct shown shown;

    begin(&shown, &(struct output_options){.format = OUTPUT_PRETTY});
    add_everything(&shown);
    row(&shown, "k");
    assert_shows(&shown, "{\n"
                         "  \"_key\": \"k\",\n"
                         "  \"map\": {\n"
                         "    \"a\\\"{\": \"}\\\\\",\n"
                         "    \"empty\": [],\n"
                         "    \"list\": [\n"
                         "      1,\n"
                         "      null\n"
                         "    ]\n"
                         "  },\n"
                         "  \"text\": \"a|b\\tc\\nd\\\\\",\n"
                         "  \"at\": \"2015-03-24T00:00:00Z\",\n"
                         "  \"user\": \"\",\n"
                         "  \"none\": null\n"
                         "}\n");
    begin(&shown, &(struct output_options){.format = OUTPUT_TSV});
    add_everything(&shown);
    row(&shown, "k");
    assert_shows(&shown, "_key\tmap\ttext\tat\tuser\tnone\n"
                         "k\t{\"a\\\\\"{\":\"}\\\\\\\\\",\"empty\":[],"
                         "\"list\":[1,null]}\ta|b\\tc\\nd\\\\\t"
                         "2015-03-24T00:00:00Z\t\t\n");
}

TEST(rows_without_a_key_are_shown_in_every_format)
{
    static const struct {
        enum output_format format;
        const char *text;
    } cases[] = {
        {OUTPUT_JSONL, "{\"a\":1,\"b\":\"x\"}\n{}\n"},
        {OUTPUT_JSON, "[\n{\"a\":1,\"b\":\"x\"},\n{}\n]\n"},
        {OUTPUT_CSV, "a,b\n1,x\n,\n"},
        {OUTPUT_TSV, "a\tb\n1\tx\n\t\n"},
        {OUTPUT_TABLE, "a  b\n-  -\n1  x\n   \n"},
        {OUTPUT_BOX,
         "\u250c\u2500\u2500\u2500\u252c\u2500\u2500\u2500\u2510\n"
         "\u2502 a \u2502 b \u2502\n"
         "\u251c\u2500\u2500\u2500\u253c\u2500\u2500\u2500\u2524\n"
         "\u2502 1 \u2502 x \u2502\n"
         "\u2502   \u2502   \u2502\n"
         "\u2514\u2500\u2500\u2500\u2534\u2500\u2500\u2500\u2518\n"},
        {OUTPUT_MARKDOWN, "| a | b |\n|---|---|\n| 1 | x |\n|   |   |\n"},
        {OUTPUT_LINE, "a = 1\nb = x\n\n"},
        {OUTPUT_PRETTY, "{\n  \"a\": 1,\n  \"b\": \"x\"\n}\n{}\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct shown shown;

        begin(&shown, &(struct output_options){.format = cases[i].format,
                                               .has_no_key = true});
        add(&shown, "a", colander_integer(1));
        add(&shown, "b", colander_text("x"));
        row(&shown, NULL);
        row(&shown, NULL);
        assert_shows(&shown, cases[i].text);
    }
}

TEST(msgpack_is_one_map_after_another)
{
    const char *const paths[] = {"a", "b"};
    struct shown shown;

    begin(&shown, &(struct output_options){.format = OUTPUT_MSGPACK});
    add(&shown, "a", colander_integer(1));
    row(&shown, "k1");
    row(&shown, "k2");
    assert_shows(&shown, "\x82\xa4_key\xa2k1\xa1"
                         "a\x01\x81\xa4_key\xa2k2");
    begin(&shown, &(struct output_options){.format = OUTPUT_MSGPACK,
                                           .has_no_key = true});
    add(&shown, "a", colander_integer(1));
    row(&shown, NULL);
    assert_shows(&shown, "\x81\xa1"
                         "a\x01");
    begin(&shown, &(struct output_options){.format = OUTPUT_MSGPACK,
                                           .shows_matches = true});
    shown.matched = (struct colander_columns){paths, 2, false};
    add(&shown, "a", colander_integer(1));
    row(&shown, "k");
    assert_shows(&shown, "\x83\xa4_key\xa1k\xa1"
                         "a\x01\xa8_matched\x92\xa1"
                         "a\xa1"
                         "b");
}

/* If all columns are known, the first row is written before the second one. */
TEST(csv_that_knows_its_columns_keeps_no_row_back)
{
    struct colander_result result;
    struct shown shown;

    memset(&result, 0, sizeof(result));
    begin(&shown, &(struct output_options){.format = OUTPUT_CSV,
                                           .learns_columns = true});
    for (int i = 0; i < 2; i++) {
        add(&shown, i == 0 ? "a" : "b", colander_integer(1));
        OK(colander_row_builder_finish(shown.builder, &result.row, NULL));
        OK(output_learn(shown.output, &result, NULL));
    }
    add(&shown, "a", colander_text(""));
    row(&shown, "k1");
    ZERO(fflush(shown.file));
    assert_string_equal(shown.text, "_key,a,b\nk1,\"\",\n");
    add(&shown, "b", colander_integer(2));
    row(&shown, "k2");
    assert_shows(&shown, "_key,a,b\nk1,\"\",\nk2,,2\n");
}

TEST(matches_of_an_empty_row_are_json)
{
    const char *const paths[] = {"a"};
    struct shown shown;

    begin(&shown,
          &(struct output_options){.has_no_key = true, .shows_matches = true});
    shown.matched = (struct colander_columns){paths, 1, false};
    row(&shown, NULL);
    assert_shows(&shown, "{\"_matched\":[\"a\"]}\n");
}

TEST(the_caret_is_under_its_place)
{
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;

    OK(text_append_caret(&text, "a\tb=\"", 4, NULL));
    OK(colander_buffer_append(&text, "", 1, NULL));
    assert_string_equal(text.data, "    a\\tb=\"\n         ^\n");
}

int
main(void)
{
    (void)setlocale(LC_ALL, "C.UTF-8");
    return tests_run(NULL, NULL);
}
