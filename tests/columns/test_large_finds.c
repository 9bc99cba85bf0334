/*
 * Large results read by several threads have the same rows, errors and counts
 * as with one thread.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of finds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "naive_hooks.h"
#include "support/cases.h"
#include "support/scoped.h"

#include "columns/store.h"
#include "core/engine.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define ROWS 4000

static const uint32_t thread_counts[] = {1, 2, 8, 0};

/* ---------------------------------------------------------------- rows --- */

/* {"n": n, "m": number, "t": text of `size` bytes} */
static void
put_row(struct world *world, uint64_t number, uint8_t n, uint32_t size)
{
    SCOPED_BUFFER key = numbered_key(number);
    char text[600];
    struct colander_slice row;

    assert_true(size <= sizeof(text));
    memset(text, 'a' + (int)(number % 26), size);
    colander_row_builder_add(world->builder, "n", colander_integer(n));
    colander_row_builder_add(world->builder, "m", colander_unsigned(number));
    colander_row_builder_add(world->builder, "t",
                             colander_string(colander_slice_of(text, size)));
    OK(colander_row_builder_finish(world->builder, &row, NULL));
    OK(colander_family_put(world->families[0], colander_buffer_slice(&key), row,
                           NULL, NULL));
    colander_buffer_clear(&world->naive.log);
}

static void
put_rows(struct world *world, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put_row(world, i, (uint8_t)(i % 8), (uint32_t)(i % 50));
}

/* Puts bytes that are not a row under the key, without any check. */
static void
spoil_row(struct world *world, uint64_t number)
{
    SCOPED_BUFFER key = numbered_key(number);
    struct engine_family *family;
    SCOPED_ENGINE_BATCH batch = NULL;

    OK(family_engine(world->families[0], &family, NULL));
    OK(engine_batch_create(world->store->engine, false, &batch, NULL));
    OK(engine_batch_put(batch, family, colander_buffer_slice(&key),
                        colander_slice_of("\xc1", 1), NULL));
    OK(engine_batch_write(batch, COLANDER_AS_STORE, NULL));
}

static int
setup(void **state)
{
    struct world *world;

    (void)world_setup(state);
    world = *state;
    world->naive.is_exact = true;
    return 0;
}

/* ---------------------------------------------------------------- finds --- */

/* Everything that a find reports. */
struct found {
    struct colander_buffer text; /* rows, columns and errors, in order */
    uint64_t rows;
    int errors;
    struct colander_explain explain;
};

static void
note(struct found *found, const char *text)
{
    OK(colander_buffer_append(&found->text, text, strlen(text), NULL));
}

static void
note_result(struct found *found, const struct colander_result *result)
{
    OK(colander_json_append_row(&found->text, result->key, result->row, NULL));
    for (size_t i = 0; i < result->columns.count; i++)
        note(found, result->columns.paths[i]);
    found->rows++;
}

/* Reads the whole find, and continues after errors, some of which repeat
 * forever. */
static struct found
find(struct world *world, const struct colander_query *query,
     uint32_t thread_count)
{
    struct found found = {COLANDER_BUFFER_EMPTY, 0, 0, {0}};
    struct colander_query asked = *query;
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    bool is_row = true;

    world->naive.seed = world->seed;
    asked.thread_count = thread_count;
    OK(colander_family_find(world->families[0], &asked, &cursor, NULL));
    while (is_row || found.errors > 0) {
        if (colander_cursor_next(cursor, &is_row, &result, why()) !=
            COLANDER_OK) {
            note(&found, error_text());
            if (++found.errors == 5)
                break;
        } else if (is_row) {
            note_result(&found, &result);
        } else {
            break;
        }
    }
    colander_cursor_explain(cursor, &found.explain);
    return found;
}

/* What a scan with the predicate returns from an undamaged store. */
static struct found
scan(struct world *world, const struct colander_query *query)
{
    struct found found = {COLANDER_BUFFER_EMPTY, 0, 0, {0}};
    struct colander_query all = *query;
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    bool is_row = true, is_match;

    all.where = NULL;
    all.limit = UINT64_MAX;
    OK(colander_family_find(world->families[0], &all, &cursor, NULL));
    while (found.rows < query->limit) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_predicate_evaluate(query->where, result.row, &is_match,
                                       NULL, NULL));
        if (is_match)
            note_result(&found, &result);
    }
    return found;
}

static void
assert_found_same(const struct found *found, const struct found *expected)
{
    assert_int_equal(found->rows, expected->rows);
    assert_int_equal(found->errors, expected->errors);
    ASSERT_SAME(colander_buffer_slice(&found->text),
                colander_buffer_slice(&expected->text));
}

/* Asserts that any number of threads reports the same, and the same counts. */
static struct found
find_with_all(struct world *world, const struct colander_query *query)
{
    struct found expected = find(world, query, 1);

    for (size_t i = 1; i < 4; i++) {
        struct found found = find(world, query, thread_counts[i]);

        assert_found_same(&found, &expected);
        assert_memory_equal(&found.explain, &expected.explain,
                            sizeof(found.explain));
        colander_buffer_release(&found.text);
    }
    return expected;
}

static struct colander_predicate *
draw(struct world *world)
{
    const int64_t n = (int64_t)random_below(&world->seed, 8);
    struct colander_predicate *operands[2];

    switch (random_below(&world->seed, 5)) {
    case 0:
        return colander_where("n", COLANDER_EQ, colander_integer(n), NULL);
    case 1:
        return colander_where("n", COLANDER_LE, colander_integer(n), NULL);
    case 2:
        return colander_where_any_column(colander_integer(n), NULL);
    case 3: /* half of the candidates do not match */
        operands[0] = colander_where_exists("n", NULL);
        operands[1] = colander_not(
            colander_where("n", COLANDER_LT, colander_integer(n), NULL), NULL);
        return colander_all_of(operands, 2, NULL);
    default:
        return colander_where_exists("n", NULL);
    }
}

static void
check_random_find(struct world *world, const struct colander_snapshot *snapshot,
                  uint64_t *large)
{
    SCOPED_BUFFER from = numbered_key(random_below(&world->seed, ROWS / 2));
    SCOPED_BUFFER to =
        numbered_key(ROWS / 2 + random_below(&world->seed, ROWS / 2));
    struct colander_query query = usual_query();
    struct found found, expected;

    query.where = draw(world);
    query.is_reverse = random_below(&world->seed, 2) == 0;
    query.snapshot = random_below(&world->seed, 2) == 0 ? snapshot : NULL;
    if (random_below(&world->seed, 3) == 0)
        query.limit = random_below(&world->seed, 2000);
    if (random_below(&world->seed, 3) == 0)
        query.keys.from = colander_buffer_slice(&from);
    if (random_below(&world->seed, 3) == 0)
        query.keys.to = colander_buffer_slice(&to);
    world->naive.is_exact = random_below(&world->seed, 2) == 0;
    expected = scan(world, &query);
    found = find_with_all(world, &query);
    assert_found_same(&found, &expected);
    assert_int_equal(found.explain.rows_returned, found.rows);
    if (found.rows < query.limit)
        assert_int_equal(found.explain.candidate_count,
                         found.rows + found.explain.rows_false +
                             found.explain.rows_gone);
    *large += found.rows > 1000;
    colander_buffer_release(&found.text);
    colander_buffer_release(&expected.text);
    query.reports_columns = true;
    found = find_with_all(world, &query);
    colander_buffer_release(&found.text);
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

#define LARGE_TEST(name)                                                       \
    TEST_WITH(struct world *world, name, setup, world_teardown)

LARGE_TEST(any_number_of_threads_finds_what_a_scan_finds)
{
    struct colander_snapshot *snapshot;
    const uint64_t runs = random_runs(25);
    uint64_t large = 0;

    world->seed = random_seed("large finds");
    put_rows(world, ROWS);
    OK(colander_family_flush(world->families[0], NULL));
    OK(colander_store_snapshot(world->store, &snapshot, NULL));
    for (uint64_t i = 0; i < ROWS / 3; i++) {
        uint64_t number = random_below(&world->seed, ROWS);
        SCOPED_BUFFER key = numbered_key(number);

        if (i % 2 == 0)
            put_row(world, number, (uint8_t)random_below(&world->seed, 8), 9);
        else
            OK(colander_family_delete(world->families[0],
                                      colander_buffer_slice(&key), NULL, NULL));
    }
    for (uint64_t run = 0; run < runs; run++)
        check_random_find(world, snapshot, &large);
    colander_snapshot_release(snapshot);
    assert_true(runs < 25 || large > 2);
}

/* --------------------------------------------------------------- errors --- */

static struct colander_query
query_of_all(void)
{
    struct colander_query query = usual_query();

    query.where = colander_where_exists("n", NULL);
    return query;
}

LARGE_TEST(a_damaged_row_is_reported_in_its_place)
{
    struct colander_query query = query_of_all();
    struct found found;

    put_rows(world, ROWS);
    spoil_row(world, 1234);
    spoil_row(world, 1235);
    spoil_row(world, 3210);
    found = find_with_all(world, &query);
    assert_int_equal(found.errors, 3);
    assert_int_equal(found.rows, ROWS - 3);
    colander_buffer_release(&found.text);
    query.is_reverse = true;
    query.reports_columns = true;
    found = find_with_all(world, &query);
    assert_int_equal(found.errors, 3);
    colander_buffer_release(&found.text);
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

/* Damages the middle of the only SST file, none of which is cached. */
static void
spoil_sst(const struct world *world)
{
    char path[2 * TEMPORARY_SIZE], file[4 * TEMPORARY_SIZE] = "";
    const uint8_t bytes[64] = {0};
    struct dirent *entry;
    DIR *stream;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/rocksdb", world->directory);
    stream = opendir(path);
    while ((entry = readdir(stream)) != NULL) {
        if (strstr(entry->d_name, ".sst") != NULL)
            (void)snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
    }
    closedir(stream);
    fd = open(file, O_RDWR);
    assert_int_equal(
        pwrite(fd, bytes, sizeof(bytes), lseek(fd, 0, SEEK_END) / 2),
        sizeof(bytes));
    ZERO(close(fd));
}

LARGE_TEST(a_damaged_file_is_reported_after_the_rows_before_it)
{
    struct colander_query query = query_of_all();
    struct found found;

    for (uint64_t i = 0; i < ROWS; i++)
        put_row(world, i, 1, (uint32_t)random_below(&world->seed, 600));
    OK(colander_family_compact(world->families[0], NULL));
    spoil_sst(world);
    found = find_with_all(world, &query);
    assert_int_equal(found.errors, 5); /* the same one each time */
    assert_in_range(found.rows, 700, ROWS - 700);
    OK(colander_buffer_append(&found.text, "", 1, NULL));
    assert_non_null(strstr((char *)found.text.data, "block checksum mismatch"));
    colander_buffer_release(&found.text);
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

/* --------------------------------------------------------------- cancel --- */

struct canceller {
    struct colander_cursor *cursor;
    atomic_ullong steps;
    uint64_t at;
};

static void *
cancel_at(void *context)
{
    struct canceller *canceller = context;

    while (atomic_load(&canceller->steps) < canceller->at)
        sched_yield();
    colander_cursor_cancel(canceller->cursor);
    return NULL;
}

LARGE_TEST(cancel_from_another_thread_ends_the_reading)
{
    struct colander_query query = query_of_all();
    enum colander_code code;

    put_rows(world, ROWS);
    query.thread_count = 8;
    for (uint64_t i = 0; i < 40; i++) {
        struct canceller canceller = {NULL, 0, i * 90};
        struct colander_result result;
        bool is_row = true;
        pthread_t thread;

        OK(colander_family_find(world->families[0], &query, &canceller.cursor,
                                NULL));
        ZERO(pthread_create(&thread, NULL, cancel_at, &canceller));
        do {
            code =
                colander_cursor_next(canceller.cursor, &is_row, &result, NULL);
            atomic_fetch_add(&canceller.steps, 1);
        } while (code == COLANDER_OK && is_row);
        ZERO(pthread_join(thread, NULL));
        assert_true(code == COLANDER_CANCELLED || canceller.steps > ROWS);
        FAILS(colander_cursor_next(canceller.cursor, &is_row, &result, NULL),
              COLANDER_CANCELLED);
        colander_cursor_close(canceller.cursor);
    }
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

/* -------------------------------------------------------------- threads --- */

/* Counts the threads of this process; *blocked: signals the newest blocks. */
static size_t
count_threads(unsigned long long *blocked)
{
    DIR *stream = opendir("/proc/self/task");
    struct dirent *entry;
    long last = 0;
    size_t count = 0;
    char line[256];
    FILE *status;

    while ((entry = readdir(stream)) != NULL) {
        count += entry->d_name[0] != '.';
        if (strtol(entry->d_name, NULL, 10) > last)
            last = strtol(entry->d_name, NULL, 10);
    }
    closedir(stream);
    (void)snprintf(line, sizeof(line), "/proc/self/task/%ld/status", last);
    status = fopen(line, "r");
    while (status != NULL && fgets(line, sizeof(line), status) != NULL)
        (void)sscanf(line, "SigBlk: %llx", blocked);
    if (status != NULL)
        (void)fclose(status);
    return count;
}

static void
step(struct colander_cursor *cursor, size_t count)
{
    struct colander_result result;
    bool is_row;

    while (count-- > 0) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        assert_true(is_row);
    }
}

LARGE_TEST(threads_are_made_for_large_results_and_take_no_signals)
{
    struct colander_query query = query_of_all();
    struct colander_cursor *cursor;
    unsigned long long blocked = 0;
    size_t before, during = 0;

    put_rows(world, ROWS);
    OK(colander_family_flush(world->families[0], NULL));
    before = count_threads(&blocked);
    for (query.thread_count = 8; query.thread_count > 0; query.thread_count--) {
        OK(colander_family_find(world->families[0], &query, &cursor, NULL));
        step(cursor, 8 + 32 + 128);
        assert_int_equal(count_threads(&blocked), before);
        step(cursor, 600);
        during = count_threads(&blocked);
        if (query.thread_count == 1)
            assert_int_equal(during, before);
        else
            assert_in_range(during, before + 1,
                            before + query.thread_count - 1);
        step(cursor, 2400);
        assert_int_equal(count_threads(&blocked),
                         before + query.thread_count - 1);
        if (query.thread_count == 8) {
            assert_true(blocked >> (SIGINT - 1) & 1);
            assert_true(blocked >> (SIGTERM - 1) & 1);
            assert_true(blocked >> (SIGUSR1 - 1) & 1);
        }
        colander_cursor_close(cursor);
        while (count_threads(&blocked) > before) /* may still be listed */
            sched_yield();
    }
    colander_predicate_destroy((struct colander_predicate *)query.where);
}
