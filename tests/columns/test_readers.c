/*
 * Reading in lots: groups are in order, a lot can end at any time, and memory
 * is bounded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/store_fixture.h"

#include "columns/finds/readers.h"
#include "core/engine.h"

#define KEYS 64
#define ROW_SIZE (1u << 20)

struct lots {
    struct store_fixture *fixture;
    struct colander_family *family;
    struct candidate_request request;
    struct colander_buffer buffers[KEYS];
    struct candidate keys[KEYS];
    struct store_hooks hooks;
    struct candidate_source source;
    atomic_bool is_cancelled;
};

/* All rows are left to the engine. */
static enum colander_code
read_none(struct candidates *candidates, const struct candidate *found,
          size_t count, struct candidate_rows *rows, struct colander_error *err)
{
    memset(rows->rows, 0, sizeof(rows->rows));
    rows->count = count;
    return COLANDER_OK;
}

static void
release_none(struct candidates *candidates, struct candidate_rows *rows)
{
    rows->count = 0;
}

/* Rows of `size` bytes, each with a different letter. */
static void
lots_init(struct lots *lots, struct store_fixture *fixture, size_t size)
{
    char *text = malloc(size + 1);
    char key[16];

    memset(lots, 0, sizeof(*lots));
    lots->fixture = fixture;
    lots->family = fixture_family(fixture, "f");
    for (int i = 0; i < KEYS; i++) {
        memset(text, '0' + i, size);
        text[size] = '\0';
        (void)snprintf(key, sizeof(key), "%03d", i);
        OK(put_text(fixture, lots->family, key, "t", colander_text(text),
                    NULL));
        lots->buffers[i] = text_key(key);
        lots->keys[i].key = colander_buffer_slice(&lots->buffers[i]);
    }
    free(text);
    lots->request.where = colander_where_exists("t", NULL);
    lots->request.is_cancelled = &lots->is_cancelled;
    lots->hooks.candidates_read = read_none;
    lots->hooks.candidates_release = release_none;
    lots->source.hooks = &lots->hooks;
    lots->source.request = &lots->request;
    OK(family_engine(lots->family, &lots->request.family, NULL));
}

static void
lots_release(struct lots *lots)
{
    for (int i = 0; i < KEYS; i++)
        colander_buffer_release(&lots->buffers[i]);
    colander_predicate_destroy(
        (struct colander_predicate *)lots->request.where);
    colander_family_close(lots->family);
}

/* Asserts that the group has the rows of the keys from `first` on. */
static void
assert_group(const struct row_group *group, size_t first)
{
    for (size_t i = 0; i < group->count; i++) {
        struct colander_slice row;

        assert_true(found_rows_get(&group->rows, i, &row));
        assert_int_equal(group->answers[i], ROW_TRUE);
        assert_int_equal(row.data[row.size / 2], '0' + first + i);
        assert_int_equal(row.data[row.size - 1], '0' + first + i);
    }
}

FIXTURE_TEST(reading_ahead_stops_when_it_holds_enough)
{
    const struct row_group *group;
    struct readers *readers;
    struct lots lots;
    size_t count;

    lots_init(&lots, fixture, ROW_SIZE);
    readers = readers_create(&lots.source, 3);
    assert_non_null(readers);
    for (size_t first = 0; first < KEYS; first += count) {
        readers_begin(readers, lots.keys + first, KEYS - first, 4);
        for (count = 0; readers_next(readers, &group); count += group->count) {
            assert_int_equal(group->first, count);
            assert_group(group, first + count);
        }
        readers_end(readers);
        assert_in_range(count, 4, READERS_BYTES / ROW_SIZE + 3 * 4);
    }
    readers_destroy(readers);
    lots_release(&lots);
}

/* A reader still at the previous lot would return groups into the next one. */
FIXTURE_TEST(a_lot_that_ends_early_leaves_nothing_for_the_next)
{
    const struct row_group *group;
    struct readers *readers;
    struct lots lots;

    lots_init(&lots, fixture, ROW_SIZE / 8);
    readers = readers_create(&lots.source, 4);
    assert_non_null(readers);
    for (size_t lot = 0; lot < 200; lot++) {
        const size_t first = lot % 2 * (KEYS / 2);

        readers_begin(readers, lots.keys + first, KEYS / 2, 2);
        for (size_t count = 0; count < lot % 8; count += 2) {
            assert_true(readers_next(readers, &group));
            assert_int_equal(group->first, count);
            assert_group(group, first + count);
        }
        readers_end(readers);
    }
    readers_destroy(readers);
    lots_release(&lots);
}

FIXTURE_TEST(nothing_is_read_once_the_find_is_cancelled)
{
    const struct row_group *group;
    struct readers *readers;
    struct lots lots;

    lots_init(&lots, fixture, 100);
    readers = readers_create(&lots.source, 4);
    assert_non_null(readers);
    atomic_store(&lots.is_cancelled, true);
    readers_begin(readers, lots.keys, KEYS, 4);
    assert_false(readers_next(readers, &group));
    readers_end(readers);
    readers_destroy(readers);
    assert_null(readers_create(&lots.source, 1));
    lots_release(&lots);
}
