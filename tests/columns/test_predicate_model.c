/*
 * Predicates against a naive evaluator.
 *
 * The evaluator compares the texts of paths and checks every place of the row
 * (naive_row.h). The predicate must have the same answers and matched paths.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of questions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/predicate_spans.h"
#include "naive_row.h"
#include "support/cases.h"
#include "support/scoped.h"

#define RUNS_DEFAULT 100000
#define QUESTIONS_PER_ROW 4
#define DEPTH_MAX 4

/* ---------------------------------------------------------- questions --- */

enum kind {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    IN,
    BETWEEN,
    PREFIX,
    CONTAINS,
    EXISTS,
    MISSING,
    IS_NULL,
    OUTSIDE,
    ANY_COLUMN,
    ANY_BETWEEN,
    ALL,
    SOME,
    OPPOSITE,
    KIND_COUNT
};

static const char *const kind_names[KIND_COUNT] = {
    "=",           "!=",      "<",       "<=",      ">",
    ">=",          "in",      "between", "prefix",  "contains",
    "exists",      "missing", "null",    "outside", "any",
    "any between", "and",     "or",      "not"};

struct question {
    enum kind kind;
    char path[128];
    struct scalar scalars[3];
    struct question *operands[3];
    size_t count; /* of scalars or operands */
};

/* A place to ask about, often one in the row, so that questions match. */
static const struct place *
place_draw(const struct layout *layout)
{
    if (layout->count == 0 || chance(4) == 0)
        return NULL;
    for (int tries = 0; tries < 3; tries++) {
        const struct place *place = &layout->places[chance(layout->count)];

        if (!place->is_container)
            return place;
    }
    return &layout->places[chance(layout->count)];
}

static void
path_draw(struct question *question, const struct place *place)
{
    static const char *const paths[] = {"a",   "b",     "c",       "a\\.b",
                                        "a.b", "b[]",   "c[].a",   "nowhere",
                                        "a.a", "b[][]", "x\\[\\]", "a[].b.c"};
    const char *path =
        place != NULL ? place->path : paths[chance(COUNT(paths))];

    (void)snprintf(question->path, sizeof(question->path), "%s", path);
}

/* Cuts after one character, which may have two bytes. */
static void
scalar_shorten(struct scalar *scalar)
{
    size_t size = scalar->size > 0 && (scalar->data[0] & 0x80) != 0 ? 2 : 1;

    if (scalar->size > size)
        scalar->size = size;
}

static bool
is_span(enum kind kind)
{
    return kind == BETWEEN || kind == OUTSIDE || kind == ANY_BETWEEN;
}

static bool
is_allowed(enum kind kind, const struct scalar *scalar)
{
    if ((kind >= LT && kind <= GE) || is_span(kind))
        return scalar->kin != NOTHING;
    if (kind == PREFIX || kind == CONTAINS)
        return scalar->kin == TEXT || scalar->kin == BLOB;
    return true;
}

/* Often the scalar at `place`, or one that is comparable with it. */
static struct scalar
scalar_draw_for(enum kind kind, const struct place *place)
{
    struct scalar scalar;

    do {
        scalar = scalar_draw();
        if (place == NULL || place->is_container || chance(3) == 0)
            continue;
        if (chance(2) == 0)
            scalar = place->scalar;
        else
            scalar.kin = place->scalar.kin;
        if (!is_allowed(kind, &scalar))
            place = NULL;
    } while (!is_allowed(kind, &scalar));
    return scalar;
}

static void
scalars_draw(struct question *question, const struct place *place)
{
    enum kind kind = question->kind;
    struct scalar *scalars = question->scalars;

    question->count = kind == IN ? chance(4) : is_span(kind) ? 2 : 1;
    for (size_t i = 0; i < question->count; i++)
        scalars[i] = scalar_draw_for(kind, place);
    if (is_span(kind))
        scalars[1].kin = scalars[0].kin;
    if ((kind == PREFIX || kind == CONTAINS) && chance(2) == 0)
        scalar_shorten(&scalars[0]);
}

static struct question *
question_draw(const struct layout *layout, int depth)
{
    static const enum kind operations[] = {ALL,  ALL,  SOME,
                                           SOME, SOME, OPPOSITE};
    struct question *question = calloc(1, sizeof(*question));
    const struct place *place = place_draw(layout);
    bool is_leaf = depth >= DEPTH_MAX || chance(2) == 0;

    assert_non_null(question);
    question->kind = is_leaf ? (enum kind)chance(ALL)
                             : operations[chance(COUNT(operations))];
    path_draw(question, place);
    if (is_leaf) {
        scalars_draw(question, place);
        return question;
    }
    question->count = chance(8) == 0 ? 0 : 1 + chance(3);
    if (question->kind == OPPOSITE)
        question->count = 1;
    for (size_t i = 0; i < question->count; i++)
        question->operands[i] = question_draw(layout, depth + 1);
    return question;
}

static void
question_destroy(struct question *question)
{
    for (size_t i = 0; i < COUNT(question->operands); i++) {
        if (question->operands[i] != NULL)
            question_destroy(question->operands[i]);
    }
    free(question);
}

/* The same question as a predicate; NULL if one of its parts is NULL. */
static struct colander_predicate *
question_predicate(const struct question *question, struct colander_error *err)
{
    const char *path = question->path;
    struct colander_predicate *operands[3] = {NULL};
    struct colander_value values[3];

    if (question->kind >= ALL) {
        for (size_t i = 0; i < question->count; i++)
            operands[i] = question_predicate(question->operands[i], err);
    } else {
        for (size_t i = 0; i < question->count; i++)
            values[i] = scalar_value(&question->scalars[i]);
    }
    switch (question->kind) {
    case IN:
        return colander_where_in(path, values, question->count, err);
    case BETWEEN:
        return colander_where_between(path, values[0], values[1], err);
    case PREFIX:
        return colander_where_prefix(path, values[0], err);
    case CONTAINS:
        return colander_where_contains(path, values[0], err);
    case EXISTS:
        return colander_where_exists(path, err);
    case MISSING:
        return colander_where_missing(path, err);
    case IS_NULL:
        return colander_where_null(path, err);
    case OUTSIDE:
        return predicate_outside(path, values, 1, err);
    case ANY_COLUMN:
        return colander_where_any_column(values[0], err);
    case ANY_BETWEEN:
        return predicate_any_between(values[0], values[1], err);
    case ALL:
        return colander_all_of(operands, question->count, err);
    case SOME:
        return colander_any_of(operands, question->count, err);
    case OPPOSITE:
        return colander_not(operands[0], err);
    default:
        return colander_where(
            path, (enum colander_comparison)((int)question->kind - EQ),
            values[0], err);
    }
}

/* -------------------------------------------------------------- model --- */

static bool
has_part(const struct scalar *whole, const struct scalar *part, size_t from)
{
    for (size_t i = 0; i < part->size; i++) {
        if (from + i >= whole->size || whole->data[from + i] != part->data[i])
            return false;
    }
    return true;
}

static bool
has_part_anywhere(const struct scalar *whole, const struct scalar *part)
{
    for (size_t from = 0; from <= whole->size; from++) {
        if (has_part(whole, part, from))
            return true;
    }
    return false;
}

static bool
is_one_of(const struct scalar *scalar, const struct question *question)
{
    for (size_t i = 0; i < question->count; i++) {
        if (scalar_equals(scalar, &question->scalars[i]))
            return true;
    }
    return false;
}

static bool
scalar_holds(const struct question *question, const struct scalar *scalar)
{
    const struct scalar *first = &question->scalars[0];
    bool is_kin = scalar->kin == first->kin;
    bool is_between = is_kin && is_span(question->kind) &&
                      scalar_order(scalar, first) >= 0 &&
                      scalar_order(scalar, &question->scalars[1]) <= 0;

    switch (question->kind) {
    case EQ:
    case ANY_COLUMN:
        return scalar_equals(scalar, first);
    case NE:
        return !scalar_equals(scalar, first);
    case LT:
        return is_kin && scalar_order(scalar, first) < 0;
    case LE:
        return is_kin && scalar_order(scalar, first) <= 0;
    case GT:
        return is_kin && scalar_order(scalar, first) > 0;
    case GE:
        return is_kin && scalar_order(scalar, first) >= 0;
    case IN:
        return is_one_of(scalar, question);
    case BETWEEN:
    case ANY_BETWEEN:
        return is_between;
    case OUTSIDE:
        return !is_between;
    case PREFIX:
        return is_kin && has_part(scalar, first, 0);
    case CONTAINS:
        return is_kin && has_part_anywhere(scalar, first);
    default:
        return scalar->kin == NOTHING; /* IS_NULL */
    }
}

static bool
leaf_is_true(const struct question *leaf, const struct layout *layout,
             bool *is_noted)
{
    bool is_true = false;

    for (size_t i = 0; i < layout->count; i++) {
        const struct place *place = &layout->places[i];

        if (leaf->kind != ANY_COLUMN && leaf->kind != ANY_BETWEEN &&
            strcmp(place->path, leaf->path) != 0)
            continue;
        if (leaf->kind == MISSING)
            return false;
        if (leaf->kind != EXISTS &&
            (place->is_container || !scalar_holds(leaf, &place->scalar)))
            continue;
        is_true = true;
        if (is_noted != NULL)
            is_noted[i] = true;
    }
    return is_true || leaf->kind == MISSING;
}

/* Marks in `is_noted` (if not NULL) the places that make it true. */
static bool
is_true(const struct question *question, const struct layout *layout,
        bool *is_noted)
{
    size_t true_count = 0;

    if (question->kind < ALL)
        return leaf_is_true(question, layout, is_noted);
    for (size_t i = 0; i < question->count; i++)
        true_count += is_true(question->operands[i], layout, NULL) ? 1 : 0;
    if (question->kind == OPPOSITE)
        return true_count == 0;
    if (question->kind == SOME ? true_count == 0 : true_count < question->count)
        return false;
    for (size_t i = 0; is_noted != NULL && i < question->count; i++) {
        if (is_true(question->operands[i], layout, NULL))
            (void)is_true(question->operands[i], layout, is_noted);
    }
    return true;
}

static size_t
paths_expected(const struct layout *layout, const bool *is_noted,
               const char **paths)
{
    size_t count = 0;

    for (size_t i = 0; i < layout->count; i++) {
        bool is_new = is_noted[i];

        for (size_t j = 0; is_new && j < count; j++)
            is_new = strcmp(paths[j], layout->places[i].path) != 0;
        if (is_new)
            paths[count++] = layout->places[i].path;
    }
    return count;
}

/* -------------------------------------------------------------- tests --- */

/* Counted at any depth. */
struct counts {
    uint64_t answers[KIND_COUNT][2];
    uint64_t lists; /* with several paths */
};

static void
answers_count(const struct question *question, const struct layout *layout,
              struct counts *counts)
{
    counts->answers[question->kind][is_true(question, layout, NULL)]++;
    for (size_t i = 0; question->kind >= ALL && i < question->count; i++)
        answers_count(question->operands[i], layout, counts);
}

static void
question_compare(const struct question *question, const struct layout *layout,
                 struct colander_slice row, struct colander_matches *matches,
                 struct counts *counts)
{
    static bool is_noted[PLACES_MAX];
    static const char *paths[PLACES_MAX];
    struct colander_predicate *predicate = question_predicate(question, why());
    struct colander_columns columns;
    bool expected, answer, answer_with_matches;
    size_t count = 0;

    if (predicate == NULL)
        fail_msg("%s", error_text());
    memset(is_noted, 0, layout->count * sizeof(is_noted[0]));
    expected = is_true(question, layout, is_noted);
    if (expected)
        count = paths_expected(layout, is_noted, paths);
    OK(colander_predicate_evaluate(predicate, row, &answer, NULL, why()));
    OK(colander_predicate_evaluate(predicate, row, &answer_with_matches,
                                   matches, why()));
    colander_predicate_destroy(predicate);

    columns = colander_matches_columns(matches);
    if (answer != expected)
        fail_msg("'%s' on '%s' is %d, not %d", kind_names[question->kind],
                 question->path, answer, expected);
    assert_int_equal(answer_with_matches, expected);
    assert_int_equal(columns.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(columns.paths[i], paths[i]);
    answers_count(question, layout, counts);
    counts->lists += count > 1;
}

/* In a long enough run, every kind has both answers. */
static void
counts_check(const struct counts *counts, uint64_t runs)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        const uint64_t *answers = counts->answers[kind];

        print_message("%10s: %6" PRIu64 " yes, %6" PRIu64 " no\n",
                      kind_names[kind], answers[1], answers[0]);
        if (runs < RUNS_DEFAULT)
            continue;
        assert_true(answers[0] + answers[1] >= runs / 20);
        assert_true(answers[0] >= runs / 200);
        assert_true(answers[1] >= runs / 200);
    }
    print_message("lists of several paths: %" PRIu64 "\n", counts->lists);
    if (runs >= RUNS_DEFAULT)
        assert_true(counts->lists >= runs / 100);
}

TEST(predicates_answer_as_a_naive_evaluator_does)
{
    static struct layout layout;
    uint64_t runs = random_runs(RUNS_DEFAULT);
    struct colander_matches *matches = colander_matches_create();
    struct counts counts;

    assert_non_null(matches);
    memset(&counts, 0, sizeof(counts));
    for (uint64_t run = 0; run < runs; run += QUESTIONS_PER_ROW) {
        struct colander_slice row = row_draw();

        OK(colander_row_check(row, NULL));
        layout_init(&layout, row);
        for (int i = 0; i < QUESTIONS_PER_ROW; i++) {
            struct question *question = question_draw(&layout, 0);

            question_compare(question, &layout, row, matches, &counts);
            question_destroy(question);
        }
        layout_release(&layout);
        free((void *)(uintptr_t)row.data);
    }
    colander_matches_destroy(matches);
    counts_check(&counts, runs);
}

/* Truncates the row, changes some of its bytes, or both. */
static struct colander_slice
row_damage(struct colander_slice row)
{
    size_t size = chance(2) == 0 ? chance(row.size + 1) : row.size;
    uint8_t *bytes = malloc(size + (size == 0));

    assert_non_null(bytes);
    memcpy(bytes, row.data, size);
    for (uint64_t changes = chance(4); size > 0 && changes > 0; changes--)
        bytes[chance(size)] = (uint8_t)chance(256);
    return colander_slice_of(bytes, size);
}

static void
damage_compare(const struct question *question, struct colander_slice row,
               struct colander_matches *matches, uint64_t *corrupt_count)
{
    SCOPED_PREDICATE predicate = question_predicate(question, why());
    bool answer, answer_with_matches;
    enum colander_code code;

    assert_non_null(predicate);
    code = colander_predicate_evaluate(predicate, row, &answer, NULL, why());
    if (code != COLANDER_OK) {
        assert_int_equal(code, COLANDER_CORRUPT);
        assert_false(answer);
        *corrupt_count += 1;
    }
    code = colander_predicate_evaluate(predicate, row, &answer_with_matches,
                                       matches, why());
    if (code == COLANDER_OK) {
        assert_int_equal(answer, answer_with_matches);
    } else {
        assert_int_equal(code, COLANDER_CORRUPT);
        assert_int_equal(colander_matches_columns(matches).count, 0);
    }
}

/* The rows are in memory of exact size, so that the sanitizer detects a read
 * past the end. */
TEST(damaged_rows_are_answered_or_corrupt)
{
    static struct layout layout;
    uint64_t runs = random_runs(RUNS_DEFAULT);
    struct colander_matches *matches = colander_matches_create();
    uint64_t corrupt_count = 0;

    assert_non_null(matches);
    for (uint64_t run = 0; run < runs; run += QUESTIONS_PER_ROW) {
        struct colander_slice row = row_draw();

        layout_init(&layout, row);
        for (int i = 0; i < QUESTIONS_PER_ROW; i++) {
            struct question *question = question_draw(&layout, 0);
            struct colander_slice damaged = row_damage(row);

            damage_compare(question, damaged, matches, &corrupt_count);
            question_destroy(question);
            free((void *)(uintptr_t)damaged.data);
        }
        layout_release(&layout);
        free((void *)(uintptr_t)row.data);
    }
    colander_matches_destroy(matches);
    if (runs >= RUNS_DEFAULT)
        assert_in_range(corrupt_count, runs / 10, runs * 9 / 10);
}
