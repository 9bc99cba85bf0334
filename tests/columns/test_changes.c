/*
 * Rows of finds, deleted and patched: exactly those that the find returns, in
 * batches that a killed process leaves whole.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of finds and a
 * tenth of that the number of kills.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/children.h"
#include "support/claims.h"
#include "support/random_rows.h"
#include "support/store_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#define KEYS 240
#define BATCH 1000 /* rows of one, as the header promises */

/* Returns the number that is the key. */
static int64_t
number_of(struct colander_slice key)
{
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    size_t count;

    OK(colander_key_decode(key, parts, &count, &scratch, NULL));
    assert_int_equal(count, 1);
    return parts[0].integer;
}

/* -------------------------------------------------- compared with finds --- */

/* The rows of a family: their bytes by number of the key; empty: none. */
struct rows {
    struct colander_buffer rows[KEYS];
};

static void
read_rows(struct colander_family *family, struct rows *rows)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    bool found;

    for (int64_t i = 0; i < KEYS; i++) {
        const struct colander_value part = colander_integer(i);

        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_family_get(family, colander_buffer_slice(&key), NULL,
                               &rows->rows[i], &found, NULL));
        assert_int_equal(found, rows->rows[i].size > 0);
    }
}

static void
release_rows(struct rows *rows)
{
    for (size_t i = 0; i < KEYS; i++)
        colander_buffer_release(&rows->rows[i]);
}

/* Changes the expected rows as the find says. Returns how many it finds. */
static uint64_t
expect(struct colander_family *family, const struct colander_query *query,
       struct colander_slice patch, struct rows *rows)
{
    SCOPED_CURSOR cursor = NULL;
    SCOPED_BUFFER after = COLANDER_BUFFER_EMPTY;
    struct colander_result result;
    uint64_t count = 0;
    bool is_row;

    OK(colander_family_find(family, query, &cursor, NULL));
    for (;; count++) {
        struct colander_buffer *row;

        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            return count;
        row = &rows->rows[number_of(result.key)];
        if (patch.size > 0)
            OK(colander_row_patch(result.row, patch, &after, NULL));
        colander_buffer_clear(row);
        OK(colander_buffer_append(row, after.data, after.size, NULL));
    }
}

static void
assert_rows(struct colander_family *family, const struct rows *expected)
{
    struct rows rows = {{COLANDER_BUFFER_EMPTY}};

    read_rows(family, &rows);
    for (size_t i = 0; i < KEYS; i++)
        ASSERT_SAME(colander_buffer_slice(&rows.rows[i]),
                    colander_buffer_slice(&expected->rows[i]));
    release_rows(&rows);
}

FIXTURE_TEST(changes_concern_exactly_the_rows_that_the_find_returns)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct rows expected = {{COLANDER_BUFFER_EMPTY}};
    SCOPED_BUILDER patches = colander_row_builder_create();
    uint64_t random = random_seed(__func__);
    uint64_t changed = 0;

    for (uint64_t run = random_runs(200); run > 0; run--) {
        SCOPED_PREDICATE where = random_predicate(&random, 3);
        struct colander_buffer bounds[2] = {COLANDER_BUFFER_EMPTY,
                                            COLANDER_BUFFER_EMPTY};
        struct colander_query query = usual_query();
        struct colander_slice patch = {NULL, 0};
        uint64_t count, expected_count;

        put_random_rows(fixture, family, KEYS, KEYS / 4, &random);
        if (random_below(&random, 4) == 0)
            OK(colander_family_flush(family, NULL));
        query.where = where;
        random_bounds(&random, KEYS, &query, bounds);
        if (random_below(&random, 2) == 0)
            patch = random_row(patches, &random);
        read_rows(family, &expected);
        expected_count = expect(family, &query, patch, &expected);
        OK(patch.size > 0 ? colander_family_patch_found(family, &query, patch,
                                                        NULL, &count, NULL)
                          : colander_family_delete_found(family, &query, NULL,
                                                         &count, NULL));
        assert_int_equal(count, expected_count);
        assert_rows(family, &expected);
        changed += count;
        colander_buffer_release(&bounds[0]);
        colander_buffer_release(&bounds[1]);
    }
    assert_true(changed > 0);
    release_rows(&expected);
}

/* ------------------------------------------------------- other writers --- */

static void
put_rank(struct store_fixture *fixture, struct colander_family *family,
         const char *key, int64_t rank)
{
    OK(put_text(fixture, family, key, "rank", colander_integer(rank), NULL));
}

static void
add_key(struct colander_changes *changes, const char *text)
{
    SCOPED_BUFFER key = text_key(text);

    OK(colander_changes_add(changes, colander_buffer_slice(&key), NULL));
}

/* Rows a to d were found with rank >= 5; then others wrote b, c and d. */
static struct colander_changes *
changes_with_another_writer(struct store_fixture *fixture,
                            struct colander_family *family,
                            const struct colander_predicate *where,
                            struct colander_slice patch)
{
    SCOPED_BUFFER gone = text_key("d");
    struct colander_changes *changes;

    for (const char *key = "a\0b\0c\0d\0"; *key != '\0'; key += 2)
        put_rank(fixture, family, key, 5);
    OK(colander_changes_create(family, where, patch, NULL, &changes, NULL));
    for (const char *key = "a\0b\0c\0d\0"; *key != '\0'; key += 2)
        add_key(changes, key);
    put_rank(fixture, family, "b", 4);
    put_rank(fixture, family, "c", 6);
    OK(colander_family_delete(family, colander_buffer_slice(&gone), NULL,
                              NULL));
    return changes;
}

FIXTURE_TEST(a_row_that_no_longer_matches_is_not_deleted)
{
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_PREDICATE where = colander_where_text("rank>=5", NULL);
    const struct colander_slice none = {NULL, 0};
    struct colander_changes *changes =
        changes_with_another_writer(fixture, family, where, none);

    assert_int_equal(colander_changes_count(changes), 0);
    assert_row(family, "a", "{\"_key\":\"a\",\"rank\":5}");
    OK(colander_changes_commit(changes, NULL));
    assert_int_equal(colander_changes_count(changes), 2);
    assert_row(family, "a", NULL);
    assert_row(family, "b", "{\"_key\":\"b\",\"rank\":4}");
    assert_row(family, "c", NULL);
    colander_changes_destroy(changes);
}

FIXTURE_TEST(a_patch_changes_the_row_as_another_writer_left_it)
{
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_PREDICATE where = colander_where_text("rank>=5", NULL);
    const struct colander_slice patch =
        fixture_row(fixture, "seen", colander_boolean(true));
    SCOPED_BUFFER kept = COLANDER_BUFFER_EMPTY;
    struct colander_changes *changes;

    OK(colander_buffer_append(&kept, patch.data, patch.size, NULL));
    changes = changes_with_another_writer(fixture, family, where,
                                          colander_buffer_slice(&kept));
    OK(colander_changes_commit(changes, NULL));
    assert_int_equal(colander_changes_count(changes), 2);
    assert_row(family, "a", "{\"_key\":\"a\",\"rank\":5,\"seen\":true}");
    assert_row(family, "b", "{\"_key\":\"b\",\"rank\":4}");
    assert_row(family, "c", "{\"_key\":\"c\",\"rank\":6,\"seen\":true}");
    assert_row(family, "d", NULL); /* a patch creates no row */
    colander_changes_destroy(changes);
}

FIXTURE_TEST(changes_that_are_not_committed_change_nothing)
{
    struct colander_family *family = kept_family(fixture, "rows");
    const struct colander_slice none = {NULL, 0};
    struct colander_changes *changes;

    put_rank(fixture, family, "a", 1);
    OK(colander_changes_create(family, NULL, none, NULL, &changes, NULL));
    add_key(changes, "a");
    colander_changes_destroy(changes);
    assert_row(family, "a", "{\"_key\":\"a\",\"rank\":1}");
}

FIXTURE_TEST(changes_of_what_cannot_be_changed_fail)
{
    struct colander_family *family = kept_family(fixture, "rows");
    const struct colander_slice none = {NULL, 0};
    uint64_t count = 7;

    OK(colander_family_delete_found(family, NULL, NULL, &count, NULL));
    assert_int_equal(count, 0); /* no family */
    assert_false(colander_family_exists(family));
    put_rank(fixture, family, "a", 1);
    FAILS(colander_family_patch_found(family, NULL, none, NULL, &count, NULL),
          COLANDER_INVALID);
    FAILS(colander_family_patch_found(
              family, NULL, colander_slice_of("\xc1", 1), NULL, NULL, NULL),
          COLANDER_INVALID);
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    family = kept_family(fixture, "rows");
    FAILS(colander_family_delete_found(family, NULL, NULL, &count, NULL),
          COLANDER_READ_ONLY);
    assert_row(family, "a", "{\"_key\":\"a\",\"rank\":1}");
}

/* Patched rows of a batch exceed what one may have in memory. */
FIXTURE_TEST(large_rows_are_written_in_smaller_batches)
{
    struct colander_family *family = kept_family(fixture, "rows");
    static char text[1 << 20];
    const struct colander_slice patch = {(const uint8_t *)"\x81\241a\x01", 4};
    SCOPED_PREDICATE patched = colander_where_text("a=1", NULL);
    struct colander_query query = usual_query();
    uint64_t count;

    memset(text, 'x', sizeof(text) - 1);
    for (int64_t i = 0; i < 20; i++)
        put_at(family, i, fixture_row(fixture, "text", colander_text(text)));
    OK(colander_family_patch_found(family, NULL, patch, NULL, &count, NULL));
    assert_int_equal(count, 20);
    query.where = patched;
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 20);
}

/* --------------------------------------------------------------- kills --- */

#define KILL_ROWS 20000

/* The process that is killed: changes rows whose `round` is not its own. */
ROLE(change)
{
    const long round = strtol(arguments[3], NULL, 10);
    struct colander_query query = usual_query();
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_slice patch;
    struct colander_store *store;
    struct colander_family *family;
    struct colander_predicate *where =
        colander_where("round", COLANDER_NE, colander_integer(round), why());

    CLAIM(where != NULL && builder != NULL);
    query.where = where;
    colander_row_builder_add(builder, "round", colander_integer(round));
    DID(colander_row_builder_finish(builder, &patch, why()));
    DID(colander_store_open(arguments[2], NULL, &store, why()));
    DID(colander_family_open(store, "rows", &family, why()));
    CLAIM(write(STDOUT_FILENO, "!", 1) == 1);
    if (strcmp(arguments[4], "delete") == 0)
        DID(colander_family_delete_found(family, &query, NULL, NULL, why()));
    else
        DID(colander_family_patch_found(family, &query, patch, NULL, NULL,
                                        why()));
    raise(SIGKILL); /* also after the last batch */
    return 1;
}

/* Lets a process change rows for some microseconds. */
static void
change_for(const char *store, int round, bool deletes, uint64_t microseconds)
{
    char number[20];
    const char *const arguments[] = {
        "test", "--change", store, number, deletes ? "delete" : "patch", NULL};

    snprintf(number, sizeof(number), "%d", round);
    child_kill_after(arguments, microseconds);
}

static void
put_rounds(struct store_fixture *fixture, struct colander_family *family)
{
    for (int64_t i = 0; i < KILL_ROWS; i++)
        put_at(family, i, fixture_row(fixture, "round", colander_integer(0)));
}

/* Returns how many rows are of the round, or are deleted. They must be the
 * first ones. */
static size_t
count_changed(struct colander_family *family, int round, bool deletes)
{
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    struct colander_value value;
    size_t changed = deletes ? KILL_ROWS - (size_t)count_rows(family) : 0;
    size_t number = changed;
    bool is_row, found;

    OK(colander_family_find(family, NULL, &cursor, NULL));
    for (;; number++) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        assert_int_equal(number_of(result.key), number);
        OK(colander_row_get(result.row, "round", &value, &found, NULL));
        assert_true(found);
        if (value.integer != round)
            continue;
        assert_int_equal(number, changed);
        changed++;
    }
    assert_int_equal(number, KILL_ROWS);
    return changed;
}

FIXTURE_TEST(a_killed_process_leaves_whole_batches)
{
    uint64_t random = random_seed(__func__);
    uint64_t in_between = 0;
    uint64_t whole_us = 20000;
    int round = 1;
    bool deletes = false;
    size_t before = 0;

    put_rounds(fixture, kept_family(fixture, "rows"));
    for (uint64_t kill = (random_runs(200) + 9) / 10; kill > 0; kill--) {
        size_t changed;

        fixture_close(fixture);
        change_for(fixture->directory, round, deletes,
                   random_below(&random, whole_us));
        fixture_open(fixture);
        changed = count_changed(kept_family(fixture, "rows"), round, deletes);
        assert_true(changed >= before);
        assert_int_equal(changed % BATCH, 0);
        in_between += changed > 0 && changed < KILL_ROWS;
        whole_us += changed == before ? whole_us / 4 : 0;
        before = changed;
        if (changed < KILL_ROWS)
            continue;
        before = 0;
        whole_us = whole_us / 2 + 1;
        if (deletes)
            put_rounds(fixture, kept_family(fixture, "rows"));
        deletes = random_below(&random, 3) == 0;
        round++;
    }
    printf("%" PRIu64 " kills left a part of the rows\n", in_between);
}
