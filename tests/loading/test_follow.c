/*
 * A load that follows a log: what it takes for a line, where it continues, and
 * which file of the log comes next.
 *
 * The load runs in a thread. Tests wait until it has loaded a number of rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/store_fixture.h"

#include "loading/load.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define WAIT_MS 60000 /* at most, for rows */
#define SOON_MS 400   /* enough for a mistake to show, most times */

struct follower {
    struct store_fixture *fixture;
    struct colander_family *family;
    struct colander_load_options options;
    struct colander_load *load;
    const char *file;
    char path[TEMPORARY_SIZE + 64];
    pthread_t thread;
    enum colander_code code;
    struct colander_error err;
    atomic_uint_fast64_t row_count;
    atomic_uint lost_count;
    uint64_t reject_count;
};

static void
see_progress(void *context, const struct colander_load_stats *stats)
{
    struct follower *it = context;

    atomic_store(&it->row_count, stats->row_count);
}

static void
see_lost(void *context, const char *file)
{
    struct follower *it = context;

    assert_string_equal(file, it->file);
    atomic_fetch_add(&it->lost_count, 1);
}

static const char *
path_of(const struct follower *it, const char *name)
{
    static char paths[2][TEMPORARY_SIZE + 64];
    static unsigned next;
    char *path = paths[next++ % 2];

    snprintf(path, sizeof(paths[0]), "%s/%s", it->fixture->directory, name);
    return path;
}

static void
put(const struct follower *it, const char *name, const char *text)
{
    FILE *file = fopen(path_of(it, name), "ae");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    ZERO(fclose(file));
}

static void
move(const struct follower *it, const char *from, const char *to)
{
    ZERO(rename(path_of(it, from), path_of(it, to)));
}

static void
copy(const struct follower *it, const char *from, const char *to,
     const char *mode)
{
    char bytes[10000];
    gzFile in = gzopen(path_of(it, from), "rb");
    gzFile out = gzopen(path_of(it, to), mode);
    int size = gzread(in, bytes, sizeof(bytes));

    assert_in_range(size, 1, sizeof(bytes) - 1);
    assert_int_equal(gzwrite(out, bytes, (unsigned)size), size);
    ZERO(gzclose(in));
    ZERO(gzclose(out));
}

static void *
run(void *context)
{
    struct follower *it = context;

    it->code = colander_load_run(it->load, &it->file, 1, &it->err);
    return NULL;
}

static struct follower
follower_of(struct store_fixture *fixture, const char *name)
{
    struct follower it = {.fixture = fixture};

    it.family = kept_family(fixture, "log");
    colander_load_options_init(&it.options);
    it.options.follows = true;
    it.options.report_progress = see_progress;
    it.options.report_lost = see_lost;
    snprintf(it.path, sizeof(it.path), "%s/%s", fixture->directory, name);
    return it;
}

static void
start(struct follower *it)
{
    it->file = it->path;
    it->options.context = it;
    atomic_store(&it->row_count, 0);
    OK(colander_load_create(it->fixture->store, it->family, &it->options,
                            &it->load, why()));
    ZERO(pthread_create(&it->thread, NULL, run, it));
}

/* Waits for rows of this run. */
static void
await(struct follower *it, uint64_t row_count)
{
    for (int ms = 0; atomic_load(&it->row_count) < row_count; ms++) {
        assert_true(ms < WAIT_MS);
        usleep(1000);
    }
    assert_int_equal(atomic_load(&it->row_count), row_count);
}

static void
stop(struct follower *it)
{
    colander_load_cancel(it->load);
    ZERO(pthread_join(it->thread, NULL));
    if (it->code != COLANDER_CANCELLED)
        fail_msg("following ends: %s", it->err.message);
    it->reject_count = colander_load_stats(it->load)->reject_count;
    colander_load_destroy(it->load);
    it->load = NULL;
}

/* Asserts that the values of "n" are those digits, in the order of loading. */
static void
assert_rows(const struct follower *it, const char *digits)
{
    char found_digits[100] = "";
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    bool is_row = true;

    OK(colander_family_find(it->family, NULL, &cursor, why()));
    for (size_t i = 0; i + 1 < sizeof(found_digits); i++) {
        struct colander_value value;
        bool found;

        OK(colander_cursor_next(cursor, &is_row, &result, why()));
        if (!is_row)
            break;
        OK(colander_row_get(result.row, "n", &value, &found, why()));
        assert_true(found && value.type == COLANDER_INTEGER);
        found_digits[i] = (char)('0' + value.integer);
    }
    assert_string_equal(found_digits, digits);
}

FIXTURE_TEST(lines_are_loaded_as_they_are_written)
{
    struct follower it = follower_of(fixture, "a.log");

    put(&it, "a.log", "{\"n\":1}\n");
    start(&it);
    await(&it, 1);
    assert_rows(&it, "1"); /* visible while it runs */
    put(&it, "a.log", "{\"n\":2}\n{\"n\":3}\n\n");
    await(&it, 3);
    stop(&it);
    put(&it, "a.log", "{\"n\":4}\n");
    start(&it);
    await(&it, 1);
    stop(&it);
    assert_rows(&it, "1234");
    assert_int_equal(it.lost_count, 0);
}

FIXTURE_TEST(a_log_that_does_not_exist_yet_is_waited_for)
{
    struct follower it = follower_of(fixture, "new.log");

    start(&it);
    usleep(SOON_MS * 1000);
    put(&it, "new.log", "");
    put(&it, "new.log", "{\"n\":1}\n{\"n\"");
    await(&it, 1);
    put(&it, "new.log", ":2}\n");
    await(&it, 2);
    stop(&it);
    assert_rows(&it, "12");
    assert_int_equal(it.lost_count, 0);
    it = follower_of(fixture, "never.log");
    start(&it);
    stop(&it);
}

FIXTURE_TEST(a_line_without_an_end_waits_for_it)
{
    struct follower it = follower_of(fixture, "a.log");

    put(&it, "a.log", "{\"n\":1}\n{\"n\":2}");
    start(&it);
    await(&it, 1);
    usleep(SOON_MS * 1000);
    stop(&it);
    assert_rows(&it, "1");
    start(&it);
    put(&it, "a.log", "\n{\"n\"");
    await(&it, 1);
    put(&it, "a.log", ":3}\n");
    await(&it, 2);
    stop(&it);
    assert_rows(&it, "123");
    assert_int_equal(it.reject_count, 0);
}

FIXTURE_TEST(the_last_line_of_a_rotated_file_needs_no_end)
{
    struct follower it = follower_of(fixture, "a.log");

    put(&it, "a.log", "{\"n\":1}\n{\"n\":2}");
    start(&it);
    await(&it, 1);
    move(&it, "a.log", "a.log.1");
    put(&it, "a.log", "{\"n\":3}\n");
    await(&it, 3);
    move(&it, "a.log.1", "a.log.2");
    put(&it, "a.log", "{\"n\"");
    move(&it, "a.log", "a.log.1");
    put(&it, "a.log", "{\"n\":4}\n");
    await(&it, 4);
    stop(&it);
    assert_rows(&it, "1234");
    assert_int_equal(it.reject_count, 1);
    start(&it); /* the reject is in the past */
    put(&it, "a.log", "{\"n\":5}\n");
    await(&it, 1);
    stop(&it);
    assert_int_equal(it.reject_count, 0);
}

/* The program that writes the log may write to the old file for a while. */
FIXTURE_TEST(the_old_file_is_read_until_the_new_one_has_lines)
{
    struct follower it = follower_of(fixture, "a.log");

    put(&it, "a.log", "{\"n\":1}\n");
    start(&it);
    await(&it, 1);
    move(&it, "a.log", "a.log.1");
    put(&it, "a.log.1", "{\"n\":2}\n");
    await(&it, 2);
    put(&it, "a.log", "");
    usleep(SOON_MS * 2000);
    put(&it, "a.log.1", "{\"n\":3}\n");
    await(&it, 3);
    put(&it, "a.log", "{\"n\":4}\n");
    put(&it, "a.log.1", "{\"n\":5}\n");
    await(&it, 5);
    stop(&it);
    assert_rows(&it, "12354");
}

FIXTURE_TEST(a_truncated_log_begins_again_after_the_rest_of_its_copy)
{
    struct follower it = follower_of(fixture, "a.log");

    put(&it, "a.log", "{\"n\":1}\n");
    start(&it);
    await(&it, 1);
    stop(&it);
    put(&it, "a.log", "{\"n\":2}\n");
    copy(&it, "a.log", "a.log.1", "wbT");
    ZERO(truncate(it.path, 0));
    start(&it);
    await(&it, 1);
    put(&it, "a.log", "{\"n\":3}\n{\"n\":4}\n{\"n\":5}\n"); /* is longer now */
    await(&it, 4);
    assert_int_equal(it.lost_count, 0);
    ZERO(truncate(it.path, 0)); /* while it runs, without a copy */
    put(&it, "a.log", "{\"n\":6}\n");
    await(&it, 5);
    stop(&it);
    assert_int_equal(it.lost_count, 1);
    assert_rows(&it, "123456");
}

FIXTURE_TEST(rotations_while_nothing_runs_are_caught_up_with)
{
    struct follower it = follower_of(fixture, "a.jsonl");

    put(&it, "a.jsonl", "{\"n\":1}\n");
    start(&it);
    await(&it, 1);
    stop(&it);
    put(&it, "a.jsonl", "{\"n\":2}\n");
    copy(&it, "a.jsonl", "a.jsonl.4.gz", "wb6");
    ZERO(unlink(it.path));
    put(&it, "a.jsonl.3", "{\"n\":3}\n");
    put(&it, "a.jsonl.2.gz",
        "{\"n\":4}\n"); /* the name alone does not matter */
    put(&it, "a.jsonl", "{\"n\":5}\n");
    start(&it);
    await(&it, 4);
    stop(&it);
    assert_rows(&it, "12345"); /* .1 is missing, as during a rotation */
    assert_int_equal(it.lost_count, 0);
}

FIXTURE_TEST(a_place_that_is_in_no_file_is_reported)
{
    struct follower it = follower_of(fixture, "a.log");

    put(&it, "a.log", "{\"n\":1}\n{\"n\":2}\n");
    start(&it);
    await(&it, 2);
    stop(&it);
    ZERO(unlink(it.path));
    put(&it, "a.log.1", "{\"n\":7}\n{\"n\":8}\n"); /* of the same size */
    start(&it);
    usleep(SOON_MS * 1000);
    put(&it, "a.log", "{\"n\":3}\n");
    await(&it, 1);
    stop(&it);
    assert_rows(&it, "123");
    assert_int_equal(it.lost_count, 1);
}

/* A line that is longer than the last bytes before a place that are compared:
 * they are the same in all such lines. */
static void
put_long(const struct follower *it, const char *name, const char *mode, int n)
{
    FILE *file = fopen(path_of(it, name), mode);

    assert_non_null(file);
    assert_in_range(fprintf(file, "{\"n\":%d,\"text\":\"%06000d\"}\n", n, 0),
                    6000, 6100);
    ZERO(fclose(file));
}

FIXTURE_TEST(a_renamed_log_and_the_new_one_may_have_equal_last_bytes)
{
    struct follower it = follower_of(fixture, "a.log");

    put_long(&it, "a.log", "we", 1);
    start(&it);
    await(&it, 1);
    move(&it, "a.log", "a.log.1");
    put_long(&it, "a.log", "we", 2);
    put(&it, "a.log", "{\"n\":3}\n");
    await(&it, 3);
    stop(&it);
    assert_rows(&it, "123");
    assert_int_equal(it.lost_count, 0);
}

FIXTURE_TEST(a_copied_log_and_the_new_one_may_have_equal_last_bytes)
{
    struct follower it = follower_of(fixture, "a.log");

    put_long(&it, "a.log", "we", 1);
    start(&it);
    await(&it, 1);
    copy(&it, "a.log", "a.log.1", "wbT");
    put_long(&it, "a.log", "r+e", 2); /* is truncated and longer at once */
    await(&it, 2);
    stop(&it);
    copy(&it, "a.log", "a.log.1", "wbT");
    put_long(&it, "a.log", "r+e", 3);
    start(&it);
    await(&it, 1);
    put(&it, "a.log", "{\"n\":4}\n");
    await(&it, 2);
    stop(&it);
    assert_rows(&it, "1234");
    assert_int_equal(it.lost_count, 0);
}

FIXTURE_TEST(half_a_line_of_a_copy_that_is_being_written_is_not_taken)
{
    struct follower it = follower_of(fixture, "a.csv");

    put(&it, "a.csv", "n,m\n1,1\n");
    start(&it);
    await(&it, 1);
    stop(&it);
    move(&it, "a.csv", "a.csv.2");
    put(&it, "a.csv", "n,m\n2,5\n3,67\n");
    put(&it, "a.csv.1", "n,m\n2,5\n3,6");
    start(&it);
    await(&it, 2); /* the second from the log */
    put(&it, "a.csv.1", "7\n");
    ZERO(truncate(it.path, 0));
    put(&it, "a.csv", "n,m\n4,8\n");
    await(&it, 3);
    stop(&it);
    assert_rows(&it, "1234");
    assert_int_equal(it.reject_count, 0);
    assert_int_equal(it.lost_count, 0);
}

/* Many file systems give the inode of a removed file to the next one. */
FIXTURE_TEST(a_copy_may_get_the_inode_of_a_file_that_was_compressed)
{
    struct follower it = follower_of(fixture, "a.csv");

    put(&it, "a.csv", "n\n1\n");
    start(&it);
    await(&it, 1);
    move(&it, "a.csv", "a.csv.1");
    put(&it, "a.csv", "n\n");
    usleep(SOON_MS * 3000); /* now it waits for a line of the new file */
    copy(&it, "a.csv.1", "a.csv.2.gz", "wb6");
    ZERO(unlink(path_of(&it, "a.csv.1")));
    put(&it, "a.csv.1", "n\n2\n"); /* of the log, which was truncated */
    put(&it, "a.csv", "3\n");
    await(&it, 3);
    stop(&it);
    assert_rows(&it, "123");
    assert_int_equal(it.lost_count, 0);
}

/* Once it is known, no file of the log needs to show its format. */
FIXTURE_TEST(a_bad_first_line_is_one_bad_line)
{
    struct follower it = follower_of(fixture, "a.log");

    put(&it, "a.log", "{\"n\"\n{\"n\":1}\n");
    start(&it);
    await(&it, 1);
    move(&it, "a.log", "a.log.1");
    put(&it, "a.log", "bad\n{\"n\":2}\n");
    await(&it, 2);
    stop(&it);
    assert_rows(&it, "12");
    assert_int_equal(it.reject_count, 2);
}

/* The first records that are there decide; so do they after a restart. */
FIXTURE_TEST(csv_is_read_as_its_first_lines_say)
{
    struct follower it = follower_of(fixture, "a.csv");
    const char *const key = "id";
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER text = text_key("1e5");
    bool found;

    it.options.key = &key;
    it.options.key_count = 1;
    put(&it, "a.csv", "id,n\n");
    start(&it);
    usleep(SOON_MS * 1000);
    put(&it, "a.csv", "7,1\n");
    await(&it, 1);
    put(&it, "a.csv", "1e5,2\n100000,3\n");
    await(&it, 3);
    stop(&it);
    start(&it);
    put(&it, "a.csv", "10e4,4\n");
    await(&it, 1);
    move(&it, "a.csv", "a.csv.1");
    put(&it, "a.csv", "n,id\n5,007\n");
    await(&it, 2);
    stop(&it);
    assert_rows(&it, "13542"); /* 7, 100000, then texts */
    OK(colander_family_get(it.family, colander_buffer_slice(&text), NULL, &row,
                           &found, why()));
    assert_true(found);
}

FIXTURE_TEST(the_added_name_is_that_of_the_log)
{
    struct follower it = follower_of(fixture, "a.log");
    SCOPED_PREDICATE named = colander_where_text("from=a.log", why());
    struct colander_query query;
    uint64_t count;

    it.options.file_name_column = "from";
    put(&it, "a.log", "{\"n\":1}\n");
    start(&it);
    await(&it, 1);
    stop(&it);
    move(&it, "a.log", "a.log.1");
    put(&it, "a.log.1", "{\"n\":2}\n");
    put(&it, "a.log", "{\"n\":3}\n");
    start(&it);
    await(&it, 2);
    stop(&it);
    colander_query_init(&query);
    query.where = named;
    OK(colander_family_count(it.family, &query, &count, why()));
    assert_int_equal(count, 3);
}

FIXTURE_TEST(what_cannot_be_followed_is_refused)
{
    static const struct {
        const char *name;
        const char *text;
        const char *message;
    } cases[] = {
        {"a.json", "[{\"n\":1}\n", "only lines of JSON or CSV can be followed"},
        {"a.mp", "\x81\xa1n\x01\n",
         "only lines of JSON or CSV can be followed"},
        {"a.gz", "\x1f\x8b\x08\x01", "a compressed file cannot be followed"},
        {"no/folder", NULL, "cannot open its folder"},
        {".", NULL, "is a directory"},
        {"pipe", NULL, "only a file can be followed"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct follower it = follower_of(fixture, cases[i].name);

        if (cases[i].text != NULL)
            put(&it, cases[i].name, cases[i].text);
        else if (strcmp(cases[i].name, "pipe") == 0)
            ZERO(mkfifo(it.path, 0600));
        start(&it);
        ZERO(pthread_join(it.thread, NULL));
        if (strstr(it.err.message, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].name, it.err.message);
        colander_load_destroy(it.load);
        assert_false(colander_family_exists(it.family));
    }
}

FIXTURE_TEST(a_load_follows_one_file)
{
    struct follower it = follower_of(fixture, "a.log");
    const char *const files[] = {"-", "a.log"};

    it.options.is_bulk = true;
    FAILS(colander_load_create(fixture->store, it.family, &it.options, &it.load,
                               why()),
          COLANDER_INVALID);
    it.options.is_bulk = false;
    for (size_t count = 0; count <= 2; count++) {
        OK(colander_load_create(fixture->store, it.family, &it.options,
                                &it.load, why()));
        FAILS(colander_load_run(it.load, files, count, why()),
              COLANDER_INVALID);
        colander_load_destroy(it.load);
    }
}
