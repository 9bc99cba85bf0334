/*
 * Writes that depend on whether there is a row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/conditional.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <pthread.h>

#define THREADS 4
#define KEYS 400
#define BATCH 20

struct change {
    enum colander_change change;
    enum colander_row_condition condition;
    const char *key;
    const char *column;
    bool had_row;
};

FIXTURE_TEST(a_condition_sees_the_store_and_what_is_before_it_in_the_batch)
{
    static const struct change changes[] = {
        {COLANDER_CHANGE_PUT, COLANDER_IF_ABSENT, "old", "lost", true},
        {COLANDER_CHANGE_PATCH, COLANDER_IF_PRESENT, "old", "b", true},
        {COLANDER_CHANGE_PATCH, COLANDER_IF_PRESENT, "new", "lost", false},
        {COLANDER_CHANGE_PUT, COLANDER_IF_ABSENT, "new", "c", false},
        {COLANDER_CHANGE_PUT, COLANDER_IF_ABSENT, "new", "lost", true},
        {COLANDER_CHANGE_PATCH, COLANDER_ALWAYS, "new", "d", true},
        {COLANDER_CHANGE_DELETE, COLANDER_ALWAYS, "gone", NULL, true},
        {COLANDER_CHANGE_DELETE, COLANDER_ALWAYS, "gone", NULL, false},
        {COLANDER_CHANGE_PUT, COLANDER_IF_PRESENT, "gone", "lost", false},
        {COLANDER_CHANGE_PUT, COLANDER_ALWAYS, "other", "e", false},
    };
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BATCH batch = NULL;
    bool had_rows[COUNT(changes)];

    OK(put_text(fixture, family, "old", "a", colander_integer(1), NULL));
    OK(put_text(fixture, family, "gone", "a", colander_integer(1), NULL));
    OK(colander_batch_create(fixture->store, &batch, NULL));
    for (size_t i = 0; i < COUNT(changes); i++) {
        const struct change *change = &changes[i];
        SCOPED_BUFFER key = text_key(change->key);
        struct colander_slice row = {NULL, 0};

        if (change->column != NULL)
            row = fixture_row(fixture, change->column, colander_integer(2));
        had_rows[i] = !change->had_row;
        OK(colander_batch_change(batch, family, change->change,
                                 change->condition, colander_buffer_slice(&key),
                                 row, i % 2 == 0, &had_rows[i], why()));
    }
    OK(colander_batch_commit(batch, NULL, why()));
    for (size_t i = 0; i < COUNT(changes); i++)
        assert_int_equal(had_rows[i], changes[i].had_row);
    assert_row(family, "old", "{\"_key\":\"old\",\"a\":1,\"b\":2}");
    assert_row(family, "new", "{\"_key\":\"new\",\"c\":2,\"d\":2}");
    assert_row(family, "other", "{\"_key\":\"other\",\"e\":2}");
    assert_row(family, "gone", NULL);
}

FIXTURE_TEST(a_condition_is_met_by_the_first_family_that_is_made)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BATCH batch = NULL;
    SCOPED_BUFFER key = text_key("k");
    bool had_row = true;

    OK(colander_batch_create(fixture->store, &batch, NULL));
    OK(colander_batch_change(batch, family, COLANDER_CHANGE_PATCH,
                             COLANDER_IF_PRESENT, colander_buffer_slice(&key),
                             fixture_row(fixture, "a", colander_integer(1)),
                             false, &had_row, why()));
    OK(colander_batch_commit(batch, NULL, why()));
    assert_false(had_row);
    assert_false(colander_family_exists(family));
}

struct inserter {
    struct store_fixture *fixture;
    pthread_t thread;
    int number;
    bool had_rows[KEYS];
};

static void *
insert(void *context)
{
    struct inserter *inserter = context;
    SCOPED_FAMILY family = fixture_family(inserter->fixture, "f");
    SCOPED_BATCH batch = NULL;
    SCOPED_BUILDER builder = colander_row_builder_create();
    struct colander_slice row;

    OK(colander_batch_create(inserter->fixture->store, &batch, NULL));
    colander_row_builder_add(builder, "by", colander_integer(inserter->number));
    OK(colander_row_builder_finish(builder, &row, NULL));
    for (int i = 0; i < KEYS; i++) {
        const struct colander_value part = colander_integer(i);
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_batch_change(batch, family, COLANDER_CHANGE_PUT,
                                 COLANDER_IF_ABSENT,
                                 colander_buffer_slice(&key), row, true,
                                 &inserter->had_rows[i], NULL));
        if (i % BATCH == BATCH - 1)
            OK(colander_batch_commit(batch, NULL, NULL));
    }
    return NULL;
}

FIXTURE_TEST(of_several_batches_that_insert_a_key_one_does)
{
    static struct inserter inserters[THREADS];
    SCOPED_FAMILY family = fixture_family(fixture, "f");

    OK(colander_family_create(family, NULL));
    for (int i = 0; i < THREADS; i++) {
        inserters[i].fixture = fixture;
        inserters[i].number = i;
        ZERO(pthread_create(&inserters[i].thread, NULL, insert, &inserters[i]));
    }
    for (int i = 0; i < THREADS; i++)
        ZERO(pthread_join(inserters[i].thread, NULL));
    for (int i = 0; i < KEYS; i++) {
        const struct colander_value part = colander_integer(i);
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
        SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
        struct colander_value by;
        int winner = -1;
        bool found;

        for (int k = 0; k < THREADS; k++) {
            if (inserters[k].had_rows[i])
                continue;
            assert_int_equal(winner, -1);
            winner = k;
        }
        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_family_get(family, colander_buffer_slice(&key), NULL, &row,
                               &found, NULL));
        assert_true(found);
        OK(colander_row_get(colander_buffer_slice(&row), "by", &by, &found,
                            NULL));
        assert_int_equal(by.integer, winner);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
