/*
 * Searches in texts: which rows they find, what matched, what is refused.
 * compare_texts.py compares them with a second definition.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/json.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <stdio.h>

#define ICASE COLANDER_SEARCH_ICASE
#define NOT COLANDER_SEARCH_NOT

static const char sample[] =
    "{\"text\":\"Heavy rain, 3.14 storms in ZÜRICH\",\"likes\":5,\"lang\":"
    "\"en\",\"user\":{\"name\":\"Ann O'Neill\",\"rainy\":\"sun\"},\"tags\":["
    "{\"text\":\"rain\"},{\"text\":\"cold snow\"},{\"text\":null}],\"both\":"
    "[\"cold\",\"wind\"],\"city\":\"東京都の雨 heavy\",\"gone\":null}";

static bool
meets(struct colander_predicate *predicate, const char *json,
      struct colander_matches *matches)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_slice key;
    struct colander_slice row;
    bool has_key;
    bool is_match = false;

    if (predicate == NULL)
        fail_msg("%s", error_text());
    OK(colander_json_reader_row(reader, colander_slice_text(json), &key,
                                &has_key, &row, why()));
    OK(colander_predicate_evaluate(predicate, row, &is_match, matches, why()));
    colander_json_reader_destroy(reader);
    colander_predicate_destroy(predicate);
    return is_match;
}

/* The predicate of words as on the command line, separated by |. */
static struct colander_predicate *
read_line(const char *line, bool is_folded, struct colander_fault *fault,
          struct colander_error *err)
{
    SCOPED_MEMORY char *copy = strdup(line);
    const char *words[16];
    size_t count = 0;

    for (char *at = copy; at != NULL && count < COUNT(words);)
        words[count++] = strsep(&at, "|");
    return (is_folded ? colander_where_words_icase
                      : colander_where_words)(words, count, fault, err);
}

static void
check_lines(const char *const *lines, bool is_folded, bool expected)
{
    for (; *lines != NULL; lines++) {
        if (meets(read_line(*lines, is_folded, NULL, why()), sample, NULL) !=
            expected)
            fail_msg("'%s' is wrong", *lines);
    }
}

TEST(conditions_find_words_phrases_pieces_and_patterns)
{
    static const char *const lines[] = {
        "text:rain",
        "text:RAIN heavy",
        "text:rain storms zürich",
        "text:zür*",
        "text:rain, storms!",
        "text:14",
        "text:3.14",
        "text:\"heavy rain\"",
        "text:\"rain 3 14\"",
        "text:\"HEAVY -- rain\"",
        "text:\"in zü*\"",
        "user.name:o'neill",
        "user.name:\"o neill\"",
        "tags[].text:snow",
        "tags[].text:\"cold snow\"",
        "both[]:wind",
        "city:東京",
        "city:京都 雨",
        "city:都",
        "city:\"雨 heavy\"",
        "city:\"東京都の雨 he*\"",
        "rain",
        "snow",
        "Heavy RAIN",
        "\"cold snow\"",
        "neil*",
        "not|hail|rain",
        "hail|or|snow",
        "likes=5|(|hail|or|rain|)",
        "text~~eavy",
        "text~~\"\"",
        "text~~\", 3.\"",
        "text~~ZÜR",
        "text=~^Heavy.*H$",
        "text=~[0-9][.][0-9]+",
        "text=~x*",
        "text!~^heavy",
        "likes!~x",
        "gone!~x",
        "tags[].text!~rain",
        "tags[].text=~^cold",
        NULL,
    };

    check_lines(lines, false, true);
}

TEST(conditions_find_no_other_texts)
{
    static const char *const lines[] = {
        "text:rai",
        "text:eavy",
        "text:rain snow",
        "text:\"rain heavy\"",
        "text:\"heavy storms\"",
        "text:\"heavy ra\"",
        "text:zurich",
        "likes:5",
        "5",
        "nobody:rain",
        "rainy",
        "name",
        "both[]:cold wind",
        "cold wind",
        "tags:rain",
        "user:ann",
        "city:東都",
        "city:\"東 heavy\"",
        "city:\"都 雨\"",
        "city:\"東京 heavy\"",
        "not|rain",
        "\"rain cold\"",
        "text~~heavy",
        "likes~~5",
        "text=~^rain",
        "text=~ZURICH",
        "likes=~5",
        "text!~rain",
        "nobody!~x",
        "tags!~x",
        NULL,
    };

    check_lines(lines, false, false);
}

TEST(case_may_not_matter)
{
    static const char *const lines[] = {
        "lang=EN",
        "lang=[\"PL\",\"En\"]",
        "lang!=PL",
        "lang~E",
        "text~heavy RAIN",
        "text~~ZüRi",
        "text=~züri",
        "text!~hail",
        "likes=5",
        "user.name=ann o'neill",
        NULL,
    };
    static const char *const others[] = {
        "lang!=EN", "lang=e", "text!~ZURICH|lang=x", "text!~HEAVY", NULL,
    };
    size_t offset;

    check_lines(lines, true, true);
    check_lines(others, true, false);
    assert_true(meets(colander_where_any_text_icase("SUN", &offset, why()),
                      sample, NULL));
    assert_false(
        meets(colander_where_any_text("SUN", &offset, why()), sample, NULL));
}

/* A row of which all words are in one text, and a row of which they are not. */
TEST(words_are_in_one_text)
{
    assert_true(meets(colander_where_all_words("a[]", "x y", why()),
                      "{\"a\":[\"z\",\"y x\"]}", NULL));
    assert_false(meets(colander_where_all_words("a[]", "x y", why()),
                       "{\"a\":[\"x\",\"y\"]}", NULL));
    assert_false(meets(colander_where_all_words(NULL, "x y", why()),
                       "{\"a\":\"x\",\"b\":{\"y\":\"y\"}}", NULL));
}

/* Such as the one that makes a heart an emoji. */
TEST(marks_after_signs_do_not_hide_words)
{
    static const char row[] = "{\"a\":\"\xE2\x9D\xA4\xEF\xB8\x8Frain "
                              "e\xCC\x81t\xCC\x81\"}";

    assert_true(meets(colander_where_phrase(NULL, "rain e\xCC\x81t*", why()),
                      row, NULL));
    assert_false(meets(colander_where_all_words(NULL, "et", why()), row, NULL));
}

TEST(letters_without_spaces_follow_each_other)
{
    assert_false(meets(colander_where_all_words("a", "東京都", why()),
                       "{\"a\":\"東京、京都\"}", NULL));
    assert_false(meets(colander_where_phrase("a", "東京 京都", why()),
                       "{\"a\":\"東京都\"}", NULL));
    assert_true(meets(colander_where_phrase("a", "東京 京都", why()),
                      "{\"a\":\"東京、京都\"}", NULL));
}

TEST(every_kind_may_be_in_any_column)
{
    static const char row[] = "{\"a\":[{\"b\":\"Fooled\"}]}";

    for (int how = COLANDER_SEARCH_WORDS; how <= COLANDER_SEARCH_PATTERN;
         how++) {
        const char *text = how == COLANDER_SEARCH_BEGINS  ? "Foo"
                           : how == COLANDER_SEARCH_PIECE ? "ole"
                                                          : "Fooled";

        for (unsigned flags = 0; flags <= ICASE; flags++)
            assert_true(
                meets(colander_where_search(NULL, (enum colander_search)how,
                                            colander_slice_text(text), flags,
                                            NULL, why()),
                      row, NULL));
    }
    assert_true(meets(colander_where_icase(NULL, "FOOLED", why()), row, NULL));
    assert_true(meets(colander_where_phrase(NULL, "fooled", why()), row, NULL));
    assert_true(meets(colander_where_regex(NULL, "d$", why()), row, NULL));
}

static void
check_columns(const char *line, const char *expected)
{
    SCOPED_MATCHES matches = colander_matches_create();
    struct colander_columns columns;
    char joined[200] = "";

    assert_true(meets(read_line(line, false, NULL, why()), sample, matches));
    columns = colander_matches_columns(matches);
    for (size_t i = 0; i < columns.count; i++)
        snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined),
                 "%s ", columns.paths[i]);
    assert_string_equal(joined, expected);
}

TEST(columns_that_matched_are_reported)
{
    check_columns("rain", "text tags[].text ");
    check_columns("\"cold snow\"", "tags[].text ");
    check_columns("heavy|lang=en", "text lang city ");
    check_columns("text=~rain", "text ");
    check_columns("~~old sn", "tags[].text ");
    check_columns("=~^[hH].*[a-z] r|lang=en", "text lang ");
    check_columns("not|hail|lang=en", "lang ");
}

TEST(searches_in_any_column_are_told_apart)
{
    static const struct {
        const char *line;
        bool expected;
    } cases[] = {
        {"rain", true},  {"a=1|or|rain", true}, {"text:rain", false},
        {"a=1", false},  {"not|rain", false},   {"a=1|(|b=1|rain|)", true},
        {"a~~x", false}, {"a=1|or|~~x", true},  {"=~x", true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        SCOPED_PREDICATE predicate =
            read_line(cases[i].line, false, NULL, why());

        assert_int_equal(colander_predicate_asks_any_column(predicate),
                         cases[i].expected);
    }
}

/* The words of a text in a condition are a value of it, for hints. */
TEST(a_search_is_a_condition_on_its_column)
{
    SCOPED_PREDICATE predicate =
        read_line("rain|text:snow", false, NULL, why());
    struct colander_condition condition;

    assert_true(colander_predicate_condition(predicate, 0, &condition));
    assert_string_equal(condition.path, "text");
    assert_int_equal(condition.value_count, 1);
    assert_true(condition.is_words);
    assert_true(colander_slice_equal(condition.values->bytes,
                                     colander_slice_text("snow")));
    assert_false(colander_predicate_condition(predicate, 1, &condition));
}

TEST(mistakes_are_reported_with_their_place)
{
    static const struct {
        const char *line;
        size_t word;
        size_t offset;
        const char *message;
    } cases[] = {
        {"a=1|text:", 1, 5, "expected a word"},
        {"a=1|:rain", 1, 0, "expected a column before ':'"},
        {"!!", 0, 0, "expected a column before '!'"},
        {"~x", 0, 0, "expected a column before '~'"},
        {"!~x", 0, 0,
         "expected a column before '!~' (not =~PATTERN is for any column)"},
        {"=~a(b", 0, 2, "pattern: missing ): a(b"},
        {"~~\"x", 0, 2, NULL},
        {"-,-", 0, 0, "it has no words: ~~TEXT and COL~~TEXT find other texts"},
        {"text:-,-", 0, 5,
         "it has no words: ~~TEXT and COL~~TEXT find other texts"},
        {"text:rai* storm", 0, 8, "only the last word may end in *"},
        {"rai* storm", 0, 3, "only the last word may end in *"},
        {"text:\"rain", 0, 5, NULL},
        {"\"rain\" x", 0, 7, NULL},
        {"te]xt:rain", 0, 2, "']' without '['"},
        {"_key:rain", 0, 0,
         "the key is not a column: use --key, --prefix, --from or --to"},
        {"text=~a(b", 0, 6, "pattern: missing ): a(b"},
        {"text!~a\\y", 0, 7, "pattern: invalid escape sequence: \\y"},
        {"text~~=x", 0, 6, NULL},
        {"a=1|text~~", 1, 6, "expected a text after '~~'"},
        {"~~", 0, 2, "expected a text after '~~'"},
        {"text=~", 0, 6, "expected a pattern after '=~'"},
        {"text!~", 0, 6, "expected a pattern after '!~'"},
        {"=~", 0, 2, "expected a pattern after '=~'"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct colander_fault fault = {99, 99};
        struct colander_error err;

        assert_null(read_line(cases[i].line, false, &fault, &err));
        assert_int_equal(err.code, COLANDER_INVALID);
        if (cases[i].message != NULL)
            assert_string_equal(err.message, cases[i].message);
        if (fault.word != cases[i].word || fault.offset != cases[i].offset)
            fail_msg("'%s': at %zu, %zu", cases[i].line, fault.word,
                     fault.offset);
    }
}

static void
assert_refused(const char *path, enum colander_search how, size_t size,
               char byte, unsigned flags, enum colander_code code)
{
    SCOPED_MEMORY char *text = malloc(size + 1);
    struct colander_error err;

    memset(text, byte, size);
    for (size_t i = 1; byte == 'w' && i < size; i += 2)
        text[i] = ' ';
    assert_null(colander_where_search(path, how, colander_slice_of(text, size),
                                      flags, NULL, &err));
    assert_int_equal(err.code, code);
}

TEST(what_cannot_be_looked_for_is_refused)
{
    const size_t max = COLANDER_SEARCH_SIZE_MAX;
    const size_t words = COLANDER_SEARCH_WORDS_MAX;

    assert_refused("a", COLANDER_SEARCH_WORDS, 2 * words + 1, 'w', 0,
                   COLANDER_LIMIT);
    assert_refused("a", COLANDER_SEARCH_PIECE, max + 1, 'a', ICASE,
                   COLANDER_LIMIT);
    assert_refused("a", COLANDER_SEARCH_PATTERN, COLANDER_PATTERN_SIZE_MAX + 1,
                   'a', 0, COLANDER_LIMIT);
    assert_refused("a", COLANDER_SEARCH_WORDS, 0, 'a', 0, COLANDER_INVALID);
    assert_refused("a", COLANDER_SEARCH_PATTERN + 1, 1, 'a', 0,
                   COLANDER_INVALID);
    assert_refused("a", COLANDER_SEARCH_WORDS, 1, 'a', 4, COLANDER_INVALID);
    assert_refused(NULL, COLANDER_SEARCH_PATTERN, 1, 'a', NOT,
                   COLANDER_INVALID);
    assert_refused("a[", COLANDER_SEARCH_WORDS, 1, 'a', 0, COLANDER_INVALID);
    assert_refused("a", COLANDER_SEARCH_PIECE, 1, '\xFF', 0, COLANDER_INVALID);
}

TEST(patterns_that_take_much_memory_are_refused)
{
    struct colander_error err;

    assert_null(colander_where_regex("a", "((a{100}){100}){10}", &err));
    assert_true(err.code == COLANDER_LIMIT || err.code == COLANDER_INVALID);
    assert_null(colander_where_regex("a", "(\\pL{500}|\\pN{500}){2}", &err));
    assert_int_equal(err.code, COLANDER_LIMIT);
}

TEST(a_predicate_has_few_patterns)
{
    struct colander_predicate *patterns[COLANDER_PATTERNS_MAX + 1];
    struct colander_error err;

    for (size_t i = 0; i < COUNT(patterns); i++)
        patterns[i] = colander_where_regex("a", "x", why());
    assert_null(colander_any_of(patterns, COUNT(patterns), &err));
    assert_int_equal(err.code, COLANDER_LIMIT);
}

/* A value of a MiB, and pieces that almost match everywhere. */
TEST(long_texts_are_searched_to_their_end)
{
    const size_t size = 1 << 20;
    SCOPED_MEMORY char *text = malloc(size + 100);
    SCOPED_MEMORY char *piece = malloc(30001);

    memset(piece, 'a', 30000);
    strcpy(piece + 29999, "B");
    strcpy(text, "{\"t\":\"");
    memset(text + 6, 'A', size);
    strcpy(text + 6 + size, "b the-end\"}");
    assert_true(meets(colander_where_search("t", COLANDER_SEARCH_PIECE,
                                            colander_slice_text(piece), ICASE,
                                            NULL, why()),
                      text, NULL));
    assert_true(
        meets(colander_where_phrase("t", "the end", why()), text, NULL));
    assert_true(
        meets(colander_where_regex("t", "(a|b|A*)*-end$", why()), text, NULL));
    assert_false(meets(colander_where_all_words("t", "b", why()), text, NULL));
    piece[0] = 'b';
    assert_false(meets(colander_where_search("t", COLANDER_SEARCH_PIECE,
                                             colander_slice_text(piece), ICASE,
                                             NULL, why()),
                       text, NULL));
}

/* Letters that fold to another number of bytes. */
TEST(folded_texts_may_be_shorter_or_longer)
{
    static const struct {
        const char *sought;
        const char *text;
    } cases[] = {
        {"k", "\xE2\x84\xAA"},                    /* the Kelvin sign */
        {"\xE2\xB1\xA5", "\xC8\xBA"},             /* a with stroke */
        {"x\xC3\x9Fy", "X\xE1\xBA\x9EY"},         /* sharp s */
        {"\xCF\x83\xCF\x83", "\xCE\xA3\xCF\x82"}, /* sigmas */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char json[100];

        snprintf(json, sizeof(json), "{\"a\":\"%s\"}", cases[i].text);
        assert_true(meets(colander_where_icase("a", cases[i].sought, why()),
                          json, NULL));
        assert_true(meets(colander_where_all_words("a", cases[i].sought, why()),
                          json, NULL));
    }
}

int
main(void)
{
    struct colander_error err;
    SCOPED_PREDICATE pattern = colander_where_regex("a", "x", &err);

    if (pattern == NULL) {
        print_message("without patterns: %s\n", err.message);
        return 77;
    }
    return tests_run(NULL, NULL);
}
