/*
 * Conditions: what each form matches, and the place of each mistake.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <stdio.h>
#include <stdlib.h>

/* user: "Smith", likes: 5, score: 2.5, big: 2^63, ok: true, gone: null,
 * zip: "007", hex: "5e0", "a=b": 1, tags: ["x", "5"],
 * profile: {city: "Houston"} */
static struct colander_slice
sample(struct colander_row_builder *builder)
{
    struct colander_slice row;

    colander_row_builder_add(builder, "user", colander_text("Smith"));
    colander_row_builder_add(builder, "likes", colander_integer(5));
    colander_row_builder_add(builder, "score", colander_double(2.5));
    colander_row_builder_add(builder, "big",
                             colander_unsigned((uint64_t)INT64_MAX + 1));
    colander_row_builder_add(builder, "ok", colander_boolean(true));
    colander_row_builder_add(builder, "gone", colander_null());
    colander_row_builder_add(builder, "zip", colander_text("007"));
    colander_row_builder_add(builder, "hex", colander_text("5e0"));
    colander_row_builder_add(builder, "a=b", colander_integer(1));
    colander_row_builder_begin_array(builder, "tags");
    colander_row_builder_add(builder, NULL, colander_text("x"));
    colander_row_builder_add(builder, NULL, colander_text("5"));
    colander_row_builder_end(builder);
    colander_row_builder_begin_map(builder, "profile");
    colander_row_builder_add(builder, "city", colander_text("Houston"));
    colander_row_builder_end(builder);
    OK(colander_row_builder_finish(builder, &row, NULL));
    return row;
}

/* Returns whether the sample row matches the predicate, which it destroys. */
static bool
meets(struct colander_predicate *predicate, const char *text)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    bool is_match = false;

    if (predicate == NULL)
        fail_msg("'%s': %s", text, error_text());
    OK(colander_predicate_evaluate(predicate, sample(builder), &is_match, NULL,
                                   NULL));
    colander_predicate_destroy(predicate);
    return is_match;
}

/* Reads one condition. A mistake is in the only word. */
static struct colander_predicate *
condition_parse(const char *text, size_t *offset, struct colander_error *err)
{
    struct colander_fault fault = {0, 0};
    struct colander_predicate *predicate =
        colander_where_words(&text, 1, &fault, err);

    assert_int_equal(fault.word, 0);
    *offset = fault.offset;
    return predicate;
}

static void
check_all(const char *const *texts, bool expected)
{
    for (; *texts != NULL; texts++) {
        size_t offset;

        if (meets(condition_parse(*texts, &offset, why()), *texts) != expected)
            fail_msg("'%s' is wrong", *texts);
    }
}

TEST(each_form_meets_the_rows_it_names)
{
    static const char *const texts[] = {
        "user=Smith",
        "user=\"Smith\"",
        "user=\"\\u0053mith\"",
        "user!=Jones",
        "user<T",
        "user<=Smith",
        "user>Sm",
        "user>=Smith",
        "user~Smi",
        "user~\"Smi\"",
        "user~\"\"",
        "user!=\"=Smith\"",
        "user!=Sm=<>~' ith",
        "likes\\ !",
        "_keys!",
        "a._key!",
        "user?",
        "nobody!",
        "likes=5",
        "likes=5.0",
        "likes=50e-1",
        "likes>-1",
        "likes!=6",
        "likes!=\"5\"",
        "score>=2.5",
        "big=9223372036854775808",
        "ok=true",
        "ok!=false",
        "gone=null",
        "gone?",
        "user!=null",
        "zip=007",
        "hex=5e0",
        "hex=[1,5e0]",
        "hex=[5e0, \"a,]\\\"\"]",
        "hex!=5",
        "hex!=5.0",
        "hex!=4e0",
        "tags[]=5",
        "tags[]!=5",
        "likes=5e0",
        "likes!=6e0",
        "likes<6e0",
        "zip~0",
        "zip~00",
        "a\\=b=1",
        "tags[]=x",
        "tags[]=\"5\"",
        "profile.city=Houston",
        "user=[\"Jones\",\"Smith\"]",
        "likes=[ 4 , 5 ]",
        "score=25e-1",
        "score=0.25E+1",
        "likes>-0.5",
        NULL,
    };

    check_all(texts, true);
}

TEST(no_form_meets_other_rows)
{
    static const char *const texts[] = {
        "user=smith",   "user=",       "user!=Smith",   "user<Smith",
        "user>Smith",   "user~mith",   "user!",         "nobody?",
        "nobody!=1",    "likes=\"5\"", "likes=true",    "likes~5",
        "ok=1",         "ok=\"true\"", "gone!",         "gone=\"null\"",
        "nobody=null",  "zip=7",       "tags=x",        "tags[]=5.0",
        "user=[\"J\"]", "user=[]",     "likes=[\"5\"]", "hex=5",
        "hex=5E0",      "hex=5.0e0",   "hex!=5e0",      "likes!=5e0",
        "hex<6e0",      "hex>=5e0",    "tags[]>=5",     "hex=[5]",
        "likes=05",     "likes=5.",    "likes=5e",      "likes=+5",
        "likes=5.0.0",  "likes=5x",    "likes=5e+",     "likes<-.5",
        NULL,
    };

    check_all(texts, false);
}

TEST(any_finds_typed_values_at_every_depth)
{
    static const struct {
        const char *text;
        bool expected;
    } cases[] = {
        {"Houston", true},  {"x", true},     {"5", true},    {"\"5\"", true},
        {"2.5", true},      {"true", true},  {"null", true}, {"6", false},
        {"\"2.5\"", false}, {"city", false}, {"5e0", true},  {"6e0", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t offset;

        if (meets(colander_where_any_text(cases[i].text, &offset, why()),
                  cases[i].text) != cases[i].expected)
            fail_msg("--any '%s' is wrong", cases[i].text);
    }
}

#define NO_CONDITION                                                           \
    "expected a condition: COL=VALUE, COL<VALUE, COL~TEXT, COL?, or a word"
#define OPERATORS "operators are =, !=, <, <=, >, >=, ~"
#define APART(sign)                                                            \
    "unexpected text after '" sign "' (another condition, ( and ) are words "  \
    "of their own; --search is for texts with signs)"
#define SLIP(sign, hint)                                                       \
    "unexpected '" sign "' (" hint "; a text that begins with '" sign          \
    "' needs double quotes)"
#define SPACE(sign)                                                            \
    "unexpected space before '" sign "' (a name that ends in a space needs a " \
    "backslash before it)"
#define OUT_OF_RANGE                                                           \
    "number is out of range: integers have 64 bits (a text of digits needs "   \
    "double quotes)"
#define TOO_LARGE "number is too large for a double"

TEST(a_mistake_is_reported_with_its_place)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *message; /* NULL: the message of the JSON reader */
    } cases[] = {
        {"", 0, NO_CONDITION},
        {"=5", 0, "expected a column before '='"},
        {"user?5", 5, APART("?")},
        {"user!5", 5, APART("!")},
        {"user==Smith", 5, SLIP("=", "one = compares")},
        {"user~", 5, "expected a text after '~' (COL~\"\" is for any text)"},
        {"user~=Sm", 5, SLIP("=", "one = compares")},
        {"likes=>3", 6, SLIP(">", OPERATORS)},
        {"text<>5", 5, SLIP(">", OPERATORS)},
        {"text!=~x", 6, SLIP("~", OPERATORS)},
        {"user='Smith'", 5,
         "unexpected single quote (write texts in double quotes)"},
        {"likes= 1", 6,
         "unexpected space (a text that begins with a space needs double "
         "quotes)"},
        {"likes = 1", 5, SPACE("=")},
        {"likes ?", 5, SPACE("?")},
        {"_key=1", 0,
         "the key is not a column: use --key, --prefix, --from or --to"},
        {"_key[].a?", 0,
         "the key is not a column: use --key, --prefix, --from or --to"},
        {"user=\"x", 5, NULL},
        {"user~\"x", 5, NULL},
        {"user=\"\\q\"", 6, NULL},
        {"user=\"\\", 6, NULL},
        {"user=\"\\ud800\"", 6, NULL},
        {"user=\"a\"b", 8, NULL},
        {"user=[1", 7, NULL},
        {"user=[1,]", 8, NULL},
        {"user=[[1]]", 5,
         "a list has numbers, texts, true, false and null only"},
        {"user=[1],\"x\":2", 8, NULL},
        {"user=[1]]", 8, NULL},
        {"user!=[1]", 6,
         "only = takes an array (write a text that begins with '[' in double "
         "quotes)"},
        {"likes<=null", 7, "null has no order: use = or !="},
        {"likes=18446744073709551616", 6, OUT_OF_RANGE},
        {"likes=-18446744073709551616", 6, OUT_OF_RANGE},
        {"likes=1e999", 6, TOO_LARGE},
        {"likes=-1e400", 6, TOO_LARGE},
        {"likes=1e9999999999", 6, TOO_LARGE},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct colander_error err;
        size_t offset = 999;

        assert_null(condition_parse(cases[i].text, &offset, &err));
        assert_int_equal(err.code, COLANDER_INVALID);
        if (cases[i].message != NULL)
            assert_string_equal(err.message, cases[i].message);
        else
            assert_null(strstr(err.message, "byte "));
        if (offset != cases[i].offset)
            fail_msg("'%s': at %zu, not %zu", cases[i].text, offset,
                     cases[i].offset);
    }
}

TEST(a_wrong_path_is_reported_at_its_place)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *message;
    } cases[] = {
        {"tags[=x", 4, "'[' must be followed by ']' (a[] is any element of a)"},
        {"a]=x", 1, "']' without '['"},
        {"a.b[]c?", 5, "'[]' must be followed by '.' or the end"},
        {"\\(position 9)\\xg!", 13, "'\\x' must be followed by two hex digits"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct colander_error err;
        size_t offset = 999;

        assert_null(condition_parse(cases[i].text, &offset, &err));
        assert_int_equal(err.code, COLANDER_INVALID);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(offset, cases[i].offset);
    }
}

/* However little of such a path fits into the message. */
TEST(a_mistake_far_inside_a_path_is_reported_at_its_place)
{
    char text[1000];
    size_t offset = 0;

    memset(text, 'a', sizeof(text));
    memcpy(text + sizeof(text) - 4, "]=x", 4);
    assert_null(condition_parse(text, &offset, why()));
    assert_string_equal(error_text(), "']' without '['");
    assert_int_equal(offset, sizeof(text) - 4);
}

TEST(library_names_are_not_in_messages)
{
    size_t offset = 0;

    assert_null(condition_parse("user=\xFF", &offset, why()));
    assert_string_equal(error_text(), "string is not UTF-8");
    assert_int_equal(offset, 5);
    assert_null(colander_where_any_text("\xFF", &offset, why()));
    assert_string_equal(error_text(), "string is not UTF-8");
}

/* Any prefix is a predicate, or has a mistake within it. */
TEST(every_beginning_is_read_or_refused)
{
    static const char text[] =
        "a\\.b[].c=[\"\\ud83d\\ude00\\n\",-1.5e+3,null,true , false]";

    for (size_t size = 0; size < sizeof(text); size++) {
        SCOPED_MEMORY char *cut = strndup(text, size);
        SCOPED_PREDICATE predicate = NULL;
        size_t offset = 0;

        assert_non_null(cut);
        predicate = condition_parse(cut, &offset, why());
        assert_true(predicate != NULL || offset <= size);
        if (size + 1 == sizeof(text))
            assert_non_null(predicate);
    }
}
