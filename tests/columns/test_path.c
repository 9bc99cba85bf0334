/*
 * Paths: their text, and what they find in a row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rows.h"
#include "support/cases.h"
#include "support/scoped.h"

#include "columns/path.h"
#include "columns/row.h"

#include "counted_skip.h"

#include "columns/rows/path_visit.c"

static void
assert_path_error(const char *text, const char *message)
{
    struct path path;

    FAILS(colander_path_parse(text, &path, why()), COLANDER_INVALID);
    assert_string_equal(error_text(), message);
    assert_null(path.steps);
    assert_int_equal(path.count, 0);
}

/* `steps`: names, or NULL for []. */
static void
assert_steps(const char *text, const char *const *steps, size_t count)
{
    SCOPED(path_release) struct path path;

    OK(colander_path_parse(text, &path, why()));
    assert_int_equal(path.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(path.steps[i].is_element, steps[i] == NULL);
        if (steps[i] != NULL)
            ASSERT_SAME(path.steps[i].name, colander_slice_text(steps[i]));
    }
}

TEST(parse_reads_names_and_elements)
{
    assert_steps("user", (const char *[]){"user"}, 1);
    assert_steps("user.name", (const char *[]){"user", "name"}, 2);
    assert_steps("a.b[].c", (const char *[]){"a", "b", NULL, "c"}, 4);
    assert_steps("matrix[][]", (const char *[]){"matrix", NULL, NULL}, 3);
    assert_steps("", (const char *[]){""}, 1);
    assert_steps("[]", (const char *[]){"", NULL}, 2);
    assert_steps("a..b", (const char *[]){"a", "", "b"}, 3);
    assert_steps(".", (const char *[]){"", ""}, 2);
    assert_steps("a\\.b", (const char *[]){"a.b"}, 1);
    assert_steps("\\[\\]\\\\", (const char *[]){"[]\\"}, 1);
    assert_steps("\\x41\\xc3\\xBC", (const char *[]){"A\xc3\xbc"}, 1);
    assert_steps("\\user", (const char *[]){"user"}, 1);
}

TEST(parse_reports_the_mistake_and_its_place)
{
    assert_path_error("a[3]", "path 'a[3]': '[' must be followed by ']' (a[] "
                              "is any element of a) (position 2)");
    assert_path_error("a[", "path 'a[': '[' must be followed by ']' (a[] is "
                            "any element of a) (position 2)");
    assert_path_error("a.]", "path 'a.]': ']' without '[' (position 3)");
    assert_path_error("a[]b", "path 'a[]b': '[]' must be followed by '.' or "
                              "the end (position 4)");
    assert_path_error("a\\", "path 'a\\': nothing follows '\\' (position 2)");
    assert_path_error("\\x4", "path '\\x4': '\\x' must be followed by two hex "
                              "digits (position 1)");
    assert_path_error("b\\xg0", "path 'b\\xg0': '\\x' must be followed by two "
                                "hex digits (position 2)");
}

TEST(parse_refuses_one_step_too_many)
{
    char text[2 * COLANDER_ROW_DEPTH_MAX + 4] = "a";
    struct path path;

    for (int i = 1; i < COLANDER_ROW_DEPTH_MAX; i++)
        strcat(text, i % 2 ? "[]" : ".b");
    OK(colander_path_parse(text, &path, why()));
    assert_int_equal(path.count, COLANDER_ROW_DEPTH_MAX);
    path_release(&path);
    strcat(text, ".b");
    FAILS(colander_path_parse(text, &path, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "more than 64 steps"));
}

TEST(parse_refuses_a_name_longer_than_any_column_has)
{
    char text[2 + COLANDER_NAME_SIZE_MAX + 2] = "a.";
    struct path path;

    memset(text + 2, 'n', COLANDER_NAME_SIZE_MAX);
    OK(colander_path_parse(text, &path, why()));
    path_release(&path);
    text[2 + COLANDER_NAME_SIZE_MAX] = 'n';
    FAILS(colander_path_parse(text, &path, why()), COLANDER_LIMIT);
    assert_non_null(
        strstr(error_text(), "a name of 1025 bytes, over the limit of 1024"));
    assert_null(path.steps);
}

/* U+00FC has two bytes, and the 200th byte is its first. */
TEST(messages_do_not_cut_characters)
{
    char text[300] = "";
    struct path path;

    memset(text, 'n', 199);
    strcat(text, "\xc3\xbc]");
    FAILS(colander_path_parse(text, &path, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "nnn': ']' without '['"));
    text[198] = '\0';
    strcat(text, "\xc3\xbc]");
    FAILS(colander_path_parse(text, &path, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "nnn\xc3\xbc': ']' without '['"));
}

TEST(a_plain_path_has_only_the_backslashes_of_bytes)
{
    char path[] = "\\a\\.b.c\\\\\\[\\x0a\\";

    colander_path_make_plain(path);
    assert_string_equal(path, "a.b.c\\[\\x0a\\");
}

TEST(names_in_a_path_have_the_backslashes_they_need)
{
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;

    OK(colander_path_append_name(&text, BYTES("a.b[]\\\0\n\x7f\xc3\xbc"),
                                 NULL));
    OK(colander_path_append_name(&text, BYTES("|\xc3|"), NULL));
    ASSERT_SAME(colander_buffer_slice(&text),
                BYTES("a\\.b\\[\\]\\\\\\x00\\x0a\\x7f\xc3\xbc|\\xc3|"));
}

static void
random_steps(struct path *path, struct path_step *steps, uint8_t *bytes,
             uint64_t *seed)
{
    static const char special[] = ".[]\\x0";

    path->steps = steps;
    path->count = 1 + random_below(seed, 6);
    for (size_t i = 0; i < path->count; i++) {
        size_t size = random_below(seed, 6);

        steps[i].is_element = i > 0 && random_below(seed, 3) == 0;
        steps[i].name = colander_slice_of(bytes, size);
        while (size-- > 0)
            *bytes++ = random_below(seed, 2)
                           ? (uint8_t)random_next(seed)
                           : (uint8_t)special[random_below(seed, 6)];
    }
}

TEST(printed_paths_are_read_as_the_same_path)
{
    uint64_t seed = random_seed("printed_paths_are_read_as_the_same_path");
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    struct path_step steps[6];
    uint8_t bytes[36];
    struct path path, parsed;

    for (int i = 0; i < 100000; i++) {
        random_steps(&path, steps, bytes, &seed);
        colander_buffer_clear(&text);
        OK(path_append(&text, &path, why()));
        put_byte(&text, 0);
        assert_int_equal(strlen((char *)text.data), text.size - 1);
        OK(colander_path_parse((char *)text.data, &parsed, why()));
        assert_int_equal(path_compare(&path, &parsed), 0);
        path_release(&parsed);
    }
}

TEST(paths_that_begin_alike_sort_together)
{
    static const char *const sorted[] = {
        "",    "[]",    ".a",  "a",     "a[]", "a[][]", "a[].b",
        "a.b", "a.b.c", "a.c", "a\\.b", "aa",  "b",
    };
    const size_t count = COUNT(sorted);
    struct path a, b;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int order;

            OK(colander_path_parse(sorted[i], &a, NULL));
            OK(colander_path_parse(sorted[j], &b, NULL));
            order = path_compare(&a, &b);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            path_release(&a);
            path_release(&b);
        }
}

/* {"id": 7, "user": {"name": "x", "a.b": 1}, "a": {"b": 2},
 *  "tags": ["p", "q"], "list": [{"x": 1}, 5, {"y": 2}, {"x": 3}],
 *  "matrix": [[1, 2], [], [3]], "": null} */
#define SAMPLE                                                                 \
    BYTES("\x87\xa2id\x07\xa4user\x82\xa4name\xa1x\xa3"                        \
          "a.b\x01\xa1"                                                        \
          "a\x81\xa1"                                                          \
          "b\x02\xa4tags\x92\xa1p\xa1q\xa4list\x94\x81\xa1x\x01\x05\x81\xa1y"  \
          "\x02\x81\xa1x\x03\xa6matrix\x93\x92\x01\x02\x90\x91\x03\xa0\xc0")

static void
assert_integer_at(const char *path, int64_t integer)
{
    struct colander_value value;
    bool found;

    OK(colander_row_get(SAMPLE, path, &value, &found, why()));
    assert_true(found);
    assert_int_equal(value.type, COLANDER_INTEGER);
    assert_int_equal(value.integer, integer);
}

static void
assert_nothing_at(const char *path)
{
    struct colander_value value;
    bool found;

    OK(colander_row_get(SAMPLE, path, &value, &found, why()));
    assert_false(found);
}

TEST(get_returns_the_value_at_a_path)
{
    struct colander_value value;
    bool found;

    assert_integer_at("id", 7);
    assert_integer_at("a.b", 2);
    assert_integer_at("user.a\\.b", 1);
    OK(colander_row_get(SAMPLE, "", &value, &found, NULL));
    assert_true(found);
    assert_int_equal(value.type, COLANDER_NULL);
    OK(colander_row_get(SAMPLE, "user", &value, &found, NULL));
    assert_true(found);
    assert_int_equal(value.type, COLANDER_MAP);
    ASSERT_SAME(value.bytes, BYTES("\x82\xa4name\xa1x\243a.b\x01"));
}

TEST(get_returns_the_first_of_several)
{
    assert_integer_at("list[].x", 1);
    assert_integer_at("list[].y", 2);
    assert_integer_at("matrix[][]", 1);
}

TEST(get_finds_nothing_where_nothing_is)
{
    assert_nothing_at("nobody");
    assert_nothing_at("user.nobody");
    assert_nothing_at("a\\.b");
    assert_nothing_at("id.x");
    assert_nothing_at("id[]");
    assert_nothing_at("user[]");
    assert_nothing_at("tags.p");
    assert_nothing_at("tags[].p");
    assert_nothing_at("list.x");
    assert_nothing_at("list[].z");
    assert_nothing_at("matrix[][][]");
    assert_nothing_at(".x");
}

TEST(get_reports_corrupt_for_an_invalid_row)
{
    struct colander_value value;
    bool found;

    FAILS(colander_row_get(BYTES("\x91\x01"), "a", &value, &found, why()),
          COLANDER_CORRUPT);
    FAILS(colander_row_get(BYTES(""), "a", &value, &found, why()),
          COLANDER_CORRUPT);
    FAILS(colander_row_get(BYTES("\x81\xa1"), "a", &value, &found, why()),
          COLANDER_CORRUPT);
    assert_string_equal(error_text(), "row ends in the middle of a value");
    FAILS(colander_row_get(BYTES("\x81\xa1x\x01"), "a[", &value, &found, why()),
          COLANDER_INVALID);
    assert_false(found);
}

struct visits {
    int64_t sum;
    unsigned count;
    unsigned limit;
    size_t last; /* offset of the value returned last */
};

static bool
count_visit(void *context, const struct colander_value *value, size_t offset)
{
    struct visits *visits = context;

    visits->sum = visits->sum * 10 + value->integer;
    visits->last = offset;
    return ++visits->count < visits->limit;
}

static struct visits
visit(const char *text, unsigned limit)
{
    struct visits visits = {0, 0, limit, 0};
    SCOPED(path_release) struct path path;

    OK(colander_path_parse(text, &path, why()));
    OK(path_visit(&path, SAMPLE, count_visit, &visits, why()));
    return visits;
}

TEST(visit_visits_every_value_in_the_order_of_the_row)
{
    assert_int_equal(visit("matrix[][]", 99).sum, 123);
    assert_int_equal(visit("list[].x", 99).sum, 13);
    assert_int_equal(visit("matrix[]", 99).count, 3);
    assert_int_equal(visit("id", 99).count, 1);
    assert_int_equal(visit("none[]", 99).count, 0);
}

TEST(visit_stops_on_request)
{
    assert_int_equal(visit("matrix[][]", 2).sum, 12);
    assert_int_equal(visit("matrix[][]", 1).count, 1);
    assert_int_equal(visit("list[].x", 1).sum, 1);
}

TEST(visit_reports_the_place_of_each_value_in_the_row)
{
    const struct colander_slice sample = SAMPLE;

    assert_int_equal(visit("id", 99).last, 4);
    assert_int_equal(sample.data[visit("list[].x", 99).last], 3);
    assert_int_equal(sample.data[visit("matrix[][]", 2).last], 2);
}

TEST(visit_continues_after_the_name_it_looked_for)
{
    /* {"l":[{"a":[1],"b":[8]},[9],{"b":9,"a":[2,3]},{"a":4},{}],"x":5} */
    const struct colander_slice row =
        BYTES("\x82\xa1l\x95\x82\241a\x91\x01\241b\x91\x08\x91\x09\x82\241b\x09"
              "\241a\x92\x02\x03\x81\241a\x04\x80\xa1x\x05");
    struct visits visits = {0, 0, 99, 0};
    SCOPED(path_release) struct path path;

    OK(colander_path_parse("l[].a[]", &path, why()));
    OK(path_visit(&path, row, count_visit, &visits, why()));
    assert_int_equal(visits.sum, 123);
}

TEST(what_is_in_many_arrays_is_passed_once)
{
    /* {"a":[[[.. 40 deep .. "p","p", ..]]]}; the path ends one level above. */
    char text[1 + 2 * 39 + 1] = "a";
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct visits visits = {0, 0, 99, 0};
    SCOPED(path_release) struct path path;

    put_bytes(&row, "\x81\241a", 3);
    for (int i = 0; i < 39; i++) {
        put_bytes(&row, "\x92", 1);
        strcat(text, "[]");
    }
    put_bytes(&row, "\x9f", 1);
    for (int i = 0; i < 15; i++)
        put_bytes(&row, "\xa1p", 2);
    for (int i = 0; i < 39; i++)
        put_bytes(&row, "\x81\xa1x\x01", 4);
    OK(colander_path_parse(text, &path, why()));
    skipped = 0;
    OK(path_visit(&path, colander_buffer_slice(&row), count_visit, &visits,
                  why()));
    assert_int_equal(visits.count, 2);
    assert_true(skipped <= row.size);
}
