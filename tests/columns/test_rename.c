/*
 * Families that are renamed: in any order of creating, renaming, dropping and
 * opening the store again, each family has its rows under its name. A killed
 * process leaves the old name or the new one.
 *
 * COLANDER_SEED repeats a run. COLANDER_RUNS sets the number of steps, and a
 * tenth of that the number of kills.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/children.h"
#include "support/claims.h"
#include "support/random.h"
#include "support/store_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#define NAMES 4
#define KILL_ROWS 300

static const char *const names[NAMES] = {"a", "b", "c", "d e"};

/* ---------------------------------------------------------------- model --- */

/* What the family of each name is: a number that is in its row; 0: none. */
struct model {
    int64_t numbers[NAMES];
    int64_t last;
};

static void
put_number(struct store_fixture *fixture, struct colander_family *family,
           int64_t number)
{
    OK(put_text(fixture, family, "k", "n", colander_integer(number), NULL));
}

/* Asserts that the store has the families of the model. */
static void
assert_families(struct store_fixture *fixture, const struct model *model)
{
    struct colander_names found = {NULL, 0};
    size_t count = 0;

    for (size_t i = 0; i < NAMES; i++) {
        SCOPED_FAMILY family = fixture_family(fixture, names[i]);
        char json[60];

        snprintf(json, sizeof(json), "{\"_key\":\"k\",\"n\":%" PRId64 "}",
                 model->numbers[i]);
        assert_row(family, "k", model->numbers[i] == 0 ? NULL : json);
        assert_string_equal(colander_family_name(family), names[i]);
        count += model->numbers[i] != 0;
    }
    OK(colander_store_families(fixture->store, &found, NULL));
    assert_int_equal(found.count, count);
    colander_names_release(&found);
}

static void
rename_one(struct store_fixture *fixture, struct model *model, size_t from,
           size_t to)
{
    SCOPED_FAMILY family = fixture_family(fixture, names[from]);
    struct colander_error err;
    enum colander_code code = colander_family_rename(family, names[to], &err);

    if (model->numbers[from] == 0) {
        assert_int_equal(code, COLANDER_NOT_FOUND);
    } else if (model->numbers[to] != 0) {
        assert_int_equal(code, COLANDER_INVALID);
    } else {
        assert_int_equal(code, COLANDER_OK);
        assert_string_equal(colander_family_name(family), names[to]);
        model->numbers[to] = model->numbers[from];
        model->numbers[from] = 0;
        model->numbers[to] = ++model->last; /* the handle still writes to it */
        put_number(fixture, family, model->last);
    }
}

static void
take_step(struct store_fixture *fixture, struct model *model, uint64_t *random)
{
    const size_t one = random_below(random, NAMES);

    switch (random_below(random, 8)) {
    case 0:
    case 1: {
        SCOPED_FAMILY family = fixture_family(fixture, names[one]);

        model->numbers[one] = ++model->last;
        put_number(fixture, family, model->last);
        break;
    }
    case 2: {
        SCOPED_FAMILY family = fixture_family(fixture, names[one]);

        assert_int_equal(colander_family_drop(family, NULL),
                         model->numbers[one] == 0 ? COLANDER_NOT_FOUND
                                                  : COLANDER_OK);
        model->numbers[one] = 0;
        break;
    }
    case 3:
        fixture_reopen(fixture, random_below(random, 4) == 0
                                    ? COLANDER_OPEN_READ_ONLY
                                    : COLANDER_OPEN_OR_CREATE);
        assert_families(fixture, model);
        fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
        break;
    default:
        rename_one(fixture, model, one, random_below(random, NAMES));
    }
}

static void
fail_finding(void *context, const char *file, const char *what)
{
    fail_msg("%s: %s", file, what);
}

/* Salvages the store into another one, which must have the same families. */
static void
assert_salvaged(struct store_fixture *fixture, const struct model *model)
{
    char path[TEMPORARY_SIZE + 16];
    struct store_fixture other = {.store = NULL};
    struct colander_salvage done;

    snprintf(path, sizeof(path), "%s.salvaged", fixture->directory);
    fixture_close(fixture);
    OK(colander_store_open(path, NULL, &other.store, why()));
    OK(colander_store_salvage(other.store, fixture->directory, &done,
                              fail_finding, NULL, why()));
    assert_families(&other, model);
    OK(colander_store_close(other.store, why()));
    temporary_remove(path);
    fixture_open(fixture);
}

FIXTURE_TEST(each_family_keeps_its_rows_under_its_name)
{
    uint64_t random = random_seed(__func__);
    struct model model = {{0}, 0};

    for (uint64_t step = random_runs(400); step > 0; step--) {
        take_step(fixture, &model, &random);
        if (random_below(&random, 4) == 0)
            assert_families(fixture, &model);
        if (random_below(&random, 100) == 0)
            assert_salvaged(fixture, &model);
    }
    assert_families(fixture, &model);
    assert_salvaged(fixture, &model);
}

/* -------------------------------------------------------------- handles --- */

FIXTURE_TEST(handles_follow_their_family)
{
    struct colander_family *first = kept_family(fixture, "a");
    struct colander_family *early = kept_family(fixture, "b");
    struct colander_family *second;
    const char *before;

    put_number(fixture, first, 1);
    second = kept_family(fixture, "a");
    before = colander_family_name(second);
    OK(colander_family_rename(first, "b", NULL));
    assert_string_equal(before, "a"); /* still valid */
    assert_string_equal(colander_family_name(second), "b");
    assert_string_equal(colander_family_name(early), "b");
    put_number(fixture, second, 2);
    assert_row(early, "k", "{\"_key\":\"k\",\"n\":2}");
    assert_row(kept_family(fixture, "a"), "k", NULL);
    FAILS(colander_family_rename(first, "b", NULL), COLANDER_INVALID);
    FAILS(colander_family_rename(first, "", NULL), COLANDER_INVALID);
    FAILS(colander_family_rename(first, "x\ny", NULL), COLANDER_INVALID);
    FAILS(colander_family_rename(first, "\xff", NULL), COLANDER_INVALID);
    OK(colander_family_drop(early, NULL));
    FAILS(colander_family_rename(first, "c", NULL), COLANDER_DROPPED);
}

FIXTURE_TEST(a_store_open_for_reading_renames_nothing)
{
    put_number(fixture, kept_family(fixture, "a"), 1);
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    FAILS(colander_family_rename(kept_family(fixture, "a"), "b", NULL),
          COLANDER_READ_ONLY);
    assert_row(kept_family(fixture, "a"), "k", "{\"_key\":\"k\",\"n\":1}");
}

/* Marks, such as the time column, stay with the family. */
FIXTURE_TEST(marks_stay_with_the_family)
{
    struct colander_family *family = kept_family(fixture, "a");
    SCOPED_BUFFER path = COLANDER_BUFFER_EMPTY;
    bool found;

    OK(colander_family_set_time_column(fixture->store, family, "at", NULL));
    OK(colander_family_rename(family, "b", NULL));
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    OK(colander_family_time_column(kept_family(fixture, "b"), &path, &found,
                                   NULL));
    assert_true(found);
    assert_string_equal((char *)path.data, "at");
}

/* ---------------------------------------------------------------- kills --- */

/* The process that is killed: renames a to b and back, without an end. */
ROLE(rename)
{
    struct colander_store *store;
    struct colander_family *family;

    DID(colander_store_open(arguments[2], NULL, &store, why()));
    DID(colander_family_open(store, "a", &family, why()));
    if (!colander_family_exists(family)) {
        colander_family_close(family);
        DID(colander_family_open(store, "b", &family, why()));
    }
    CLAIM(write(STDOUT_FILENO, "!", 1) == 1);
    for (;;) {
        const bool is_a = colander_family_name(family)[0] == 'a';

        DID(colander_family_rename(family, is_a ? "b" : "a", why()));
    }
    return 1;
}

static void
rename_for(const char *store, uint64_t microseconds)
{
    const char *const arguments[] = {"test", "--rename", store, NULL};

    child_kill_after(arguments, microseconds);
}

FIXTURE_TEST(a_killed_process_leaves_one_name_with_all_rows)
{
    uint64_t random = random_seed(__func__);
    uint64_t found_as_b = 0;

    for (int64_t i = 0; i < KILL_ROWS; i++)
        put_at(kept_family(fixture, "a"), i,
               fixture_row(fixture, "n", colander_integer(i)));
    for (uint64_t kill = (random_runs(200) + 9) / 10; kill > 0; kill--) {
        SCOPED_PREDICATE where = colander_where_text("n=7", NULL);
        struct colander_names found = {NULL, 0};
        struct colander_query query = usual_query();
        struct colander_family *family;
        uint64_t count;

        fixture_close(fixture);
        rename_for(fixture->directory, random_below(&random, 20000));
        fixture_open(fixture);
        OK(colander_store_families(fixture->store, &found, NULL));
        assert_int_equal(found.count, 1);
        found_as_b += strcmp(found.names[0], "b") == 0;
        family = kept_family(fixture, found.names[0]);
        assert_int_equal(count_rows(family), KILL_ROWS);
        query.where = where;
        OK(colander_family_count(family, &query, &count, NULL));
        assert_int_equal(count, 1);
        colander_names_release(&found);
    }
    printf("b was found %" PRIu64 " times\n", found_as_b);
}
