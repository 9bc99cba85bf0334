/*
 * Any bytes as a row and a patch for it: nothing crashes or reads past the end,
 * checked rows answer every predicate, and patching them produces rows.
 *
 * The first byte says how many of the others are the row; the rest is the
 * patch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "fuzz/fuzz.h"

static const char *const paths[] = {"a", "a.b", "a[]", "a[].b", "a[][]", "b"};
static const size_t path_count = sizeof(paths) / sizeof(paths[0]);

/* Visits all top-level members; an unchecked row may end in CORRUPT. */
static void
walk(struct colander_slice row, bool is_row)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    enum colander_code code;
    bool is_member = true;

    code = colander_members_init(&members, row, NULL);
    while (code == COLANDER_OK && is_member)
        code = colander_members_next(&members, &is_member, &name, &value, NULL);
    expect(code == COLANDER_OK || !is_row);
}

static void
get(struct colander_slice row, bool is_row)
{
    for (size_t i = 0; i < path_count; i++) {
        struct colander_value value;
        enum colander_code code;
        bool found = false;

        code = colander_row_get(row, paths[i], &value, &found, NULL);
        expect(code == COLANDER_OK || !is_row);
        if (code == COLANDER_OK && found && value.type < COLANDER_ARRAY) {
            (void)colander_value_hash(&value);
            expect(colander_value_compare(&value, &value) == 0);
        }
    }
}

/* A selection of a row is a row. */
static void
cut(struct colander_slice row, bool is_row)
{
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    code = colander_row_select(row, paths, path_count, &out, NULL);
    expect(code == COLANDER_OK || !is_row);
    if (is_row)
        OK(colander_row_check(colander_buffer_slice(&out), NULL));
    colander_buffer_release(&out);
}

/* A patched row is a row, unless both together exceed the limits. */
static void
patch(struct colander_slice row, struct colander_slice change, bool are_rows)
{
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_row_patch(row, change, &out, NULL);

    if (are_rows) {
        expect(code == COLANDER_OK || code == COLANDER_LIMIT);
        if (code == COLANDER_OK)
            OK(colander_row_check(colander_buffer_slice(&out), NULL));
    }
    colander_buffer_release(&out);
}

/* Predicates of each kind, created once and never freed. */
#define QUESTION_COUNT 11

static void
make_questions(struct colander_predicate **questions)
{
    const struct colander_value values[] = {
        colander_integer(1), colander_text("a"), colander_null()};
    struct colander_predicate *either[4];
    size_t count = 0;

    either[0] = colander_where("a", COLANDER_NE, values[0], NULL);
    either[1] = colander_where_any_column(values[1], NULL);
    either[2] = colander_not(colander_where_exists("a[].b", NULL), NULL);
    either[3] = colander_where_prefix("a[]", values[1], NULL);
    questions[count++] = colander_any_of(either, 4, NULL);
    questions[count++] = colander_where_any_column(values[0], NULL);
    questions[count++] = colander_where_in("a[][]", values, 3, NULL);
    questions[count++] = colander_where("b", COLANDER_NE, values[1], NULL);
    questions[count++] = colander_where_exists("a.b", NULL);
    questions[count++] = colander_where_missing("a[]", NULL);
    questions[count++] =
        colander_where_between("a[].b", values[0], colander_double(2.5), NULL);
    questions[count++] = colander_where_contains("b", values[1], NULL);
    questions[count++] = colander_where_null("a", NULL);
    questions[count++] = colander_where_all_words(NULL, "a", NULL);
    questions[count++] = colander_where_search(
        "a[]", COLANDER_SEARCH_PIECE, values[1].bytes,
        COLANDER_SEARCH_ICASE | COLANDER_SEARCH_NOT, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        expect(questions[i] != NULL);
    expect(count == QUESTION_COUNT);
}

/* Matched columns are in the row, and none are reported without a match. */
static void
expect_columns(struct colander_slice row, struct colander_columns columns,
               bool is_match)
{
    expect(is_match || columns.count == 0);
    for (size_t i = 0; i < columns.count; i++) {
        struct colander_value value;
        bool found;

        OK(colander_row_get(row, columns.paths[i], &value, &found, NULL));
        expect(found);
    }
}

/* The answer is the same with and without matches. */
static void
ask(struct colander_slice row, bool is_row)
{
    static struct colander_predicate *questions[QUESTION_COUNT];
    static struct colander_matches *matches;

    if (matches == NULL) {
        make_questions(questions);
        matches = colander_matches_create();
        expect(matches != NULL);
    }
    for (size_t i = 0; i < QUESTION_COUNT; i++) {
        enum colander_code code, with_matches;
        bool is_match, has_match;

        code = colander_predicate_evaluate(questions[i], row, &is_match, NULL,
                                           NULL);
        with_matches = colander_predicate_evaluate(questions[i], row,
                                                   &has_match, matches, NULL);
        expect(code == COLANDER_OK || (!is_row && code == COLANDER_CORRUPT));
        expect(with_matches == COLANDER_OK ||
               (!is_row && with_matches == COLANDER_CORRUPT));
        if (is_row) {
            expect(has_match == is_match);
            expect_columns(row, colander_matches_columns(matches), is_match);
        }
    }
}

static void
print(struct colander_slice row)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_value value = colander_null();

    value.type = COLANDER_MAP;
    value.bytes = row;
    OK(colander_json_append_value(&json, &value, NULL));
    colander_buffer_release(&json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct colander_slice row, change;
    bool is_row, is_change;
    uint8_t *copies[2];
    size_t row_size;

    if (size == 0)
        return 0;
    row_size = data[0] < size ? data[0] : size - 1;
    copies[0] = fuzz_copy(data + 1, row_size);
    copies[1] = fuzz_copy(data + 1 + row_size, size - 1 - row_size);
    row = colander_slice_of(copies[0], row_size);
    change = colander_slice_of(copies[1], size - 1 - row_size);
    is_row = colander_row_check(row, NULL) == COLANDER_OK;
    is_change = colander_row_check(change, NULL) == COLANDER_OK;

    walk(row, is_row);
    get(row, is_row);
    cut(row, is_row);
    ask(row, is_row);
    patch(row, change, is_row && is_change);
    if (is_row)
        print(row);
    free(copies[0]);
    free(copies[1]);
    return 0;
}
