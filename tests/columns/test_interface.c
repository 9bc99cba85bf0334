/*
 * Convenience functions of the public interface: keys on the stack, rows as
 * JSON, inserts, seeks, and structs of another version.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct colander_slice
key_of_number(struct colander_key *key, int64_t number)
{
    const struct colander_value part = colander_integer(number);

    return colander_key_of(key, &part, 1);
}

FIXTURE_TEST(keys_on_the_stack_are_those_of_encode)
{
    const struct colander_value parts[] = {colander_text("sensor-7"),
                                           colander_integer(-5)};
    const struct colander_value none = colander_null();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_BUFFER encoded = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_key_range range = {.prefix = {NULL, 0}};
    struct colander_key key;
    bool found;

    OK(colander_key_encode(parts, 2, &encoded, NULL));
    ASSERT_SAME(colander_key_of(&key, parts, 2),
                colander_buffer_slice(&encoded));
    OK(colander_key_text("ann", &encoded, NULL));
    ASSERT_SAME(colander_key_of_text(&key, "ann"),
                colander_buffer_slice(&encoded));

    /* An invalid key is not written, finds no row, and bounds no range. */
    OK(colander_family_put_json(family, "{\"_key\":1}", NULL, NULL, NULL));
    FAILS(colander_family_put(family, colander_key_of(&key, &none, 1),
                              colander_slice_text("\x80"), NULL, NULL),
          COLANDER_INVALID);
    OK(colander_family_get(family, colander_key_of(&key, &none, 1), NULL, &row,
                           &found, NULL));
    assert_false(found);
    range.prefix = colander_key_of(&key, parts, 0);
    FAILS(colander_family_delete_range(family, &range, NULL, NULL, NULL),
          COLANDER_INVALID);
    OK(colander_family_get(family, key_of_number(&key, 1), NULL, &row, &found,
                           NULL));
    assert_true(found);
}

FIXTURE_TEST(json_is_put_under_its_key_or_a_new_one)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    struct colander_key own;
    bool found;

    OK(colander_family_put_json(family, "{\"_key\":\"ann\",\"age\":41}", &key,
                                NULL, NULL));
    ASSERT_SAME(colander_buffer_slice(&key), colander_key_of_text(&own, "ann"));
    OK(colander_family_get(family, colander_key_of_text(&own, "ann"), NULL,
                           &row, &found, NULL));
    assert_true(found);
    OK(colander_json_append_row(&json, colander_buffer_slice(&key),
                                colander_buffer_slice(&row), NULL));
    OK(colander_buffer_append(&json, "", 1, NULL));
    assert_string_equal((const char *)json.data,
                        "{\"_key\":\"ann\",\"age\":41}");

    OK(colander_family_put_json(family, "{\"age\":7}", &key, NULL, NULL));
    OK(colander_family_get(family, colander_buffer_slice(&key), NULL, &row,
                           &found, NULL));
    assert_true(found);
    FAILS(colander_family_put_json(family, "{\"age\":}", NULL, NULL, why()),
          COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "byte 7"));
}

FIXTURE_TEST(one_json_value_is_read_as_columns_are)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;
    bool is_member;

    OK(colander_json_reader_value(reader, colander_slice_text(" -7 "), &value,
                                  NULL));
    assert_int_equal(value.type, COLANDER_INTEGER);
    assert_int_equal(value.integer, -7);
    OK(colander_json_reader_value(reader, colander_slice_text("\"a\\u00e9\""),
                                  &value, NULL));
    assert_int_equal(value.type, COLANDER_STRING);
    assert_int_equal(value.bytes.size, 3);
    OK(colander_json_reader_value(reader, colander_slice_text("[1,{\"a\":2}]"),
                                  &value, NULL));
    assert_int_equal(value.type, COLANDER_ARRAY);
    OK(colander_members_init(&members, value.bytes, NULL));
    OK(colander_members_next(&members, &is_member, &name, &value, NULL));
    assert_true(is_member);
    assert_int_equal(value.integer, 1);

    FAILS(colander_json_reader_value(reader, colander_slice_text("1, 2"),
                                     &value, why()),
          COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "byte 1"));
    FAILS(colander_json_reader_value(reader, colander_slice_text(""), &value,
                                     why()),
          COLANDER_INVALID);
    FAILS(colander_json_reader_value(
              reader, colander_slice_text("{\"a\":1,\"a\":2}"), &value, why()),
          COLANDER_INVALID);
    colander_json_reader_destroy(reader);
}

/* -------------------------------------------------------------- insert --- */

#define THREADS 4
#define KEYS 300

struct race {
    struct store_fixture *fixture;
    atomic_uint inserted_count;
    atomic_bool has_failed;
};

static void *
insert_all(void *context)
{
    static const uint8_t empty_row[] = {0x80};
    struct race *race = context;
    SCOPED_FAMILY family = fixture_family(race->fixture, "rows");
    struct colander_key key;

    for (int64_t i = 0; i < KEYS; i++) {
        bool is_inserted = false;

        if (colander_family_insert(family, key_of_number(&key, i),
                                   colander_slice_of(empty_row, 1), NULL,
                                   &is_inserted, NULL) != COLANDER_OK)
            atomic_store(&race->has_failed, true);
        atomic_fetch_add(&race->inserted_count, is_inserted);
    }
    return NULL;
}

FIXTURE_TEST(of_inserts_at_once_one_succeeds)
{
    struct race race = {.fixture = fixture};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    pthread_t threads[THREADS];
    uint64_t count;

    for (size_t i = 0; i < THREADS; i++)
        ZERO(pthread_create(&threads[i], NULL, insert_all, &race));
    for (size_t i = 0; i < THREADS; i++)
        ZERO(pthread_join(threads[i], NULL));
    assert_false(atomic_load(&race.has_failed));
    assert_int_equal(atomic_load(&race.inserted_count), KEYS);
    OK(colander_family_count(family, NULL, &count, NULL));
    assert_int_equal(count, KEYS);
}

FIXTURE_TEST(an_insert_leaves_the_row_that_is_there)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    struct colander_key key;
    bool is_inserted, found;

    OK(colander_family_insert(family, key_of_number(&key, 1),
                              fixture_row(fixture, "n", colander_integer(1)),
                              NULL, &is_inserted, NULL));
    assert_true(is_inserted);
    OK(colander_family_insert(family, key_of_number(&key, 1),
                              fixture_row(fixture, "n", colander_integer(2)),
                              NULL, &is_inserted, NULL));
    assert_false(is_inserted);
    OK(colander_family_get(family, key_of_number(&key, 1), NULL, &row, &found,
                           NULL));
    OK(colander_row_get(colander_buffer_slice(&row), "n", &value, &found,
                        NULL));
    assert_int_equal(value.integer, 1);
    FAILS(colander_family_insert(family, key_of_number(&key, 2),
                                 colander_slice_text("no row"), NULL,
                                 &is_inserted, NULL),
          COLANDER_INVALID);
    assert_false(is_inserted);
}

/* ---------------------------------------------------------------- seek --- */

/* Rows 0, 2, 4, ... 1998; every 60th has the value to find. That is rare enough
 * for a plan of candidates. */
static struct colander_family *
even_rows(struct store_fixture *fixture)
{
    struct colander_family *family = fixture_family(fixture, "even");
    struct colander_key key;

    for (int64_t i = 0; i < 2000; i += 2) {
        OK(colander_family_put(
            family, key_of_number(&key, i),
            fixture_row(fixture, "is_rare", colander_boolean(i % 120 == 0)),
            NULL, NULL));
        if (i == 1000)
            OK(colander_store_flush(fixture->store, NULL));
    }
    return family;
}

/* Returns the number in the key of the next row; -1 at the end. */
static int64_t
next_number(struct colander_cursor *cursor)
{
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_result result;
    size_t count;
    bool is_row;

    OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    if (!is_row)
        return -1;
    OK(colander_key_decode(result.key, parts, &count, &scratch, NULL));
    return parts[0].integer;
}

/* Finds the rows; those that meet a condition as candidates, if the program has
 * value filters. */
static struct colander_cursor *
find(struct colander_family *family, const struct colander_query *query)
{
    struct colander_cursor *cursor;
    struct colander_explain explain;

    OK(colander_family_find(family, query, &cursor, NULL));
    colander_cursor_explain(cursor, &explain);
    assert_true(query->where == NULL ||
                explain.plan == COLANDER_PLAN_CANDIDATES ||
                strcmp(explain.reason, "no value filters") == 0);
    return cursor;
}

static void
check_seeks(struct colander_family *family,
            const struct colander_predicate *where, bool is_reverse)
{
    const int64_t step = where == NULL ? 2 : 120;
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query = usual_query();
    struct colander_key key, from, to;

    query.where = where;
    query.is_reverse = is_reverse;
    query.keys.from = key_of_number(&from, 360);
    query.keys.to = key_of_number(&to, 1600);
    cursor = find(family, &query);
    (void)next_number(cursor);
    for (int64_t sought = 1800; sought >= 0; sought -= 70) {
        int64_t expected = sought;

        OK(colander_cursor_seek(cursor, key_of_number(&key, sought), NULL));
        if (is_reverse) {
            expected = expected > 1600 ? 1600 : expected;
            expected -= expected % step;
            expected = expected < 360 ? -1 : expected;
        } else {
            expected = expected < 360 ? 360 : expected;
            expected += (step - expected % step) % step;
            expected = expected > 1600 ? -1 : expected;
        }
        assert_int_equal(next_number(cursor), expected);
        if (expected > 360 && expected < 1540)
            assert_int_equal(next_number(cursor),
                             is_reverse ? expected - step : expected + step);
    }
    OK(colander_cursor_seek(cursor, colander_slice_of(NULL, 0), NULL));
    if (is_reverse)
        assert_int_equal(next_number(cursor), 1600 - 1600 % step);
    else
        assert_int_equal(next_number(cursor), 360);
    FAILS(colander_cursor_seek(cursor, colander_slice_text("no key"), NULL),
          COLANDER_INVALID);
}

FIXTURE_TEST(a_seek_finds_the_row_from_there_on)
{
    SCOPED_FAMILY family = even_rows(fixture);
    SCOPED_PREDICATE where =
        colander_where("is_rare", COLANDER_EQ, colander_boolean(true), NULL);

    for (int is_reverse = 0; is_reverse < 2; is_reverse++) {
        check_seeks(family, NULL, is_reverse);
        check_seeks(family, where, is_reverse);
    }
}

FIXTURE_TEST(a_seek_keeps_to_the_state_of_the_find)
{
    SCOPED_FAMILY family = even_rows(fixture);
    SCOPED_PREDICATE where =
        colander_where("is_rare", COLANDER_EQ, colander_boolean(true), NULL);
    const struct colander_predicate *const wheres[] = {NULL, where};
    struct colander_key key;

    for (size_t i = 0; i < 2; i++) {
        SCOPED_CURSOR cursor = NULL;
        struct colander_query query = usual_query();
        const int64_t number = 120 + 120 * (int64_t)i;

        query.where = wheres[i];
        cursor = find(family, &query);
        (void)next_number(cursor);
        OK(colander_family_delete(family, key_of_number(&key, number), NULL,
                                  NULL));
        OK(colander_cursor_seek(cursor, key_of_number(&key, number), NULL));
        assert_int_equal(next_number(cursor), number);
    }
}

FIXTURE_TEST(a_query_of_one_key_finds_that_row_alone)
{
    const struct colander_value parts[] = {colander_integer(4),
                                           colander_integer(1)};
    SCOPED_FAMILY family = even_rows(fixture);
    struct colander_query query = usual_query();
    struct colander_key key;
    uint64_t count;

    OK(colander_family_put(family, colander_key_of(&key, parts, 2),
                           fixture_row(fixture, "n", colander_integer(1)), NULL,
                           NULL));
    query.keys.prefix = key_of_number(&key, 4);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 2);
    query.keys.exact = key_of_number(&key, 4);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 1);
    query.keys.exact = key_of_number(&key, 5);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 0);
}

FIXTURE_TEST(keys_only_returns_rows_without_columns)
{
    SCOPED_FAMILY family = even_rows(fixture);
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    struct colander_members members;
    struct colander_query query = usual_query();
    bool is_row = true;
    int count = 0;

    query.keys_only = true;
    cursor = find(family, &query);
    for (;; count++) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_row_check(result.row, NULL));
        OK(colander_members_init(&members, result.row, NULL));
        assert_int_equal(members.left, 0);
    }
    assert_int_equal(count, 1000);
}

/* Keys of 60 bytes, which RocksDB does not keep in the iterator itself. */
static struct colander_slice
long_key(struct colander_key *key, int number)
{
    char text[61];

    (void)snprintf(text, sizeof(text), "%060d", number);
    return colander_key_of_text(key, text);
}

FIXTURE_TEST(a_seek_to_the_row_at_hand_returns_it_again)
{
    SCOPED_FAMILY family = fixture_family(fixture, "long");
    SCOPED_PREDICATE where =
        colander_where("n", COLANDER_EQ, colander_integer(1), NULL);
    struct colander_key key;

    for (int i = 0; i < 1000; i++)
        OK(colander_family_put(
            family, long_key(&key, i),
            fixture_row(fixture, "n", colander_integer(i % 50)), NULL, NULL));
    OK(colander_family_flush(family, NULL));
    for (int i = 0; i < 4; i++) {
        SCOPED_CURSOR cursor = NULL;
        struct colander_result result;
        struct colander_query query = usual_query();
        bool is_row;

        query.where = i < 2 ? NULL : where;
        query.is_reverse = i % 2;
        cursor = find(family, &query);
        for (int step = 0; step < 10; step++) {
            OK(colander_cursor_next(cursor, &is_row, &result, NULL));
            memcpy(key.bytes, result.key.data, result.key.size);
            OK(colander_cursor_seek(cursor, result.key, NULL));
            OK(colander_cursor_next(cursor, &is_row, &result, NULL));
            assert_true(is_row);
            assert_memory_equal(result.key.data, key.bytes, result.key.size);
        }
    }
}

FIXTURE_TEST(a_failed_seek_leaves_a_cursor_that_reports_it)
{
    SCOPED_FAMILY family = even_rows(fixture);
    SCOPED_PREDICATE where =
        colander_where("is_rare", COLANDER_EQ, colander_boolean(true), NULL);
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    struct colander_query query = usual_query();
    struct colander_key key;
    bool is_row;

    query.where = where;
    cursor = find(family, &query);
    (void)next_number(cursor);
    colander_cursor_cancel(cursor);
    FAILS(colander_cursor_seek(cursor, key_of_number(&key, 60), NULL),
          COLANDER_CANCELLED);
    FAILS(colander_cursor_next(cursor, &is_row, &result, NULL),
          COLANDER_CANCELLED);
    assert_false(is_row);
}

FIXTURE_TEST(a_seek_continues_in_a_dropped_family)
{
    SCOPED_PREDICATE where =
        colander_where("is_rare", COLANDER_EQ, colander_boolean(true), NULL);
    const struct colander_predicate *const wheres[] = {NULL, where};

    for (size_t i = 0; i < 2; i++) {
        SCOPED_FAMILY family = even_rows(fixture);
        SCOPED_CURSOR cursor = NULL;
        struct colander_query query = usual_query();
        struct colander_key key;

        query.where = wheres[i];
        cursor = find(family, &query);
        (void)next_number(cursor);
        OK(colander_family_drop(family, NULL));
        OK(colander_cursor_seek(cursor, key_of_number(&key, 120), NULL));
        assert_int_equal(next_number(cursor), 120);
    }
}

/* -------------------------------------------------------------- stores --- */

FIXTURE_TEST(a_store_knows_its_path_and_is_flushed_as_a_whole)
{
    SCOPED_FAMILY family = even_rows(fixture);
    SCOPED_FAMILY other = fixture_family(fixture, "other");
    struct colander_family_sizes sizes;

    assert_string_equal(colander_store_path(fixture->store),
                        fixture->directory);
    OK(colander_family_put_json(other, "{\"_key\":1}", NULL, NULL, NULL));
    OK(colander_store_flush(fixture->store, NULL));
    OK(colander_family_sizes(other, &sizes, NULL));
    assert_int_equal(sizes.sst_count, 1);
    OK(colander_family_sizes(family, &sizes, NULL));
    assert_int_equal(sizes.sst_count, 2);
}

/* The messages that a program received, as far as they fit. */
struct messages {
    char text[400];
    int count;
};

static void
keep_message(void *context, enum colander_log_level level, const char *message)
{
    struct messages *kept = context;
    const size_t size = strlen(kept->text);

    assert_true(level >= COLANDER_LOG_WARNING);
    assert_null(strchr(message, '\n'));
    (void)snprintf(kept->text + size, sizeof(kept->text) - size, "%s\n",
                   message);
    kept->count++;
}

/* An undamaged store has nothing to report. */
FIXTURE_TEST(nothing_is_logged_of_a_healthy_store)
{
    struct messages kept = {"", 0};

    fixture_close(fixture);
    fixture->options.log = keep_message;
    fixture->options.log_context = &kept;
    for (int i = 0; i < 3; i++) {
        struct colander_family *family;

        fixture_open(fixture);
        family = even_rows(fixture);
        OK(colander_store_flush(fixture->store, NULL));
        OK(colander_family_compact(family, NULL));
        OK(colander_family_drop(family, NULL));
        colander_family_close(family);
        fixture_close(fixture);
    }
    if (kept.count > 0)
        fail_msg("%d messages: %s", kept.count, kept.text);
    fixture->options.log = NULL;
    fixture_open(fixture);
}

/* A killed process leaves a log with an incomplete last write. Opening the
 * store drops it, with a warning. */
FIXTURE_TEST(warnings_reach_the_program)
{
    struct colander_recovery recovery;
    struct messages kept = {"", 0};
    char command[400];
    pid_t child;
    int status;

    fixture_close(fixture);
    child = fork();
    if (child == 0) {
        struct colander_family *family;

        fixture_open(fixture);
        family = fixture_family(fixture, "rows");
        for (int i = 0; i < 2; i++)
            OK(colander_family_put_json(family, "{\"n\":1}", NULL, NULL, NULL));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)snprintf(command, sizeof(command),
                   "for log in %s/rocksdb/*.log; do printf torn >>$log; done",
                   fixture->directory);
    ZERO(system(command));
    fixture->options.log = keep_message;
    fixture->options.log_context = &kept;
    fixture_open(fixture);
    colander_store_recovery(fixture->store, &recovery);
    assert_true(recovery.dropped_size > 0);
    assert_non_null(strstr(kept.text, recovery.dropped_file));
}

/* ------------------------------------------------ structs that may grow --- */

/* The options of a program that was compiled with a later version. */
struct later_options {
    struct colander_options known;
    uint64_t later;
};

FIXTURE_TEST(options_of_a_later_program_work_until_it_sets_what_is_new)
{
    struct later_options options;

    fixture_close(fixture);
    memset(&options, 0xff, sizeof(options));
    colander_options_init_sized(&options.known, sizeof(options));
    assert_int_equal(options.known.struct_size, sizeof(options));
    assert_int_equal(options.later, 0);
    OK(colander_store_open(fixture->directory, &options.known, &fixture->store,
                           NULL));
    fixture_close(fixture);
    options.later = 1;
    FAILS(colander_store_open(fixture->directory, &options.known,
                              &fixture->store, why()),
          COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "does not know"));
    fixture_open(fixture);
}

FIXTURE_TEST(structs_of_an_earlier_program_are_completed)
{
    SCOPED_FAMILY family = even_rows(fixture);
    struct colander_options options;
    struct colander_explain explain;
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query;
    const size_t options_size = offsetof(struct colander_options, log);
    const size_t query_size = offsetof(struct colander_query, limit);
    const size_t explain_size = offsetof(struct colander_explain, file_count);
    int count = 0;

    memset(&options, 0xff, sizeof(options));
    colander_store_options_sized(fixture->store, &options, options_size);
    assert_int_equal(options.struct_size, options_size);
    assert_int_equal(options.open_files_max, 512);
    assert_int_equal(options.fifo_size, UINT64_MAX); /* not written */

    /* Such a query has no limit: every row is found. */
    memset(&query, 0, sizeof(query));
    colander_query_init_sized(&query, query_size);
    assert_int_equal(query.limit, 0);
    OK(colander_family_find(family, &query, &cursor, NULL));
    while (next_number(cursor) >= 0)
        count++;
    assert_int_equal(count, 1000);

    memset(&explain, 0xff, sizeof(explain));
    colander_cursor_explain_sized(cursor, &explain, explain_size);
    assert_int_equal(explain.struct_size, explain_size);
    assert_int_equal(explain.plan, COLANDER_PLAN_SCAN);
    assert_int_equal(explain.file_count, UINT64_MAX);
}

FIXTURE_TEST(structs_that_were_not_initialized_are_refused)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_options options;
    struct colander_cursor *cursor;
    struct colander_store *store;
    struct colander_query query;

    memset(&query, 0, sizeof(query));
    FAILS(colander_family_find(family, &query, &cursor, why()),
          COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "not initialized"));
    assert_null(cursor);
    memset(&options, 0xff, sizeof(options));
    FAILS(colander_store_open("elsewhere", &options, &store, why()),
          COLANDER_INVALID);
    assert_null(store);
}

FIXTURE_TEST(write_options_are_checked)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_write_options options;
    SCOPED_BATCH batch = NULL;
    struct colander_key key;
    bool is_inserted;

    OK(colander_batch_create(fixture->store, &batch, NULL));
    for (int i = 0; i < 2; i++) {
        colander_write_options_init(&options);
        if (i == 0)
            options.struct_size = 0;
        else
            options.durability = (enum colander_durability)77;
        FAILS(colander_family_put_json(family, "{}", NULL, &options, NULL),
              COLANDER_INVALID);
        FAILS(colander_family_insert(
                  family, key_of_number(&key, 1),
                  fixture_row(fixture, "n", colander_integer(1)), &options,
                  &is_inserted, NULL),
              COLANDER_INVALID);
        FAILS(colander_family_delete_range(family, NULL, &options, NULL, NULL),
              COLANDER_INVALID);
        FAILS(colander_batch_commit(batch, &options, NULL), COLANDER_INVALID);
    }
}
