/*
 * Loads that are killed at a random moment and resumed until they finish: the
 * family has every record of the file once, and the rejects are those of the
 * file, in order. Rows go in batches or in runs, into a new family or over
 * older rows.
 *
 * The process that is killed is this program, started again. COLANDER_RUNS sets
 * the number of files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/children.h"
#include "support/claims.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include "loading/load_inside.h"

#include <signal.h>
#include <sys/wait.h>
#include <zlib.h>

#define RECORDS 3000
#define ROUNDS 15
#define KILLS_MAX 6 /* of one load; then it may end */
#define AHEAD 700   /* records between two with one key */

/* The formats of the file. */
enum way { WAY_JSONL, WAY_JSONL_GZ, WAY_JSON, WAY_CSV, WAYS };

/* How rows are written. Runs are of one chunk or several. */
static const struct load_limits limits[] = {
    {UINT64_MAX, UINT64_MAX, 0}, /* batches */
    {0, 1, 0},
    {0, 1 << 20, 0},
    {1 << 20, 1, 0}, /* batches, then runs */
};

static const char *const extensions[WAYS] = {"jsonl", "jsonl.gz", "json",
                                             "csv"};

struct load_fixture {
    char directory[TEMPORARY_SIZE];
    char store[TEMPORARY_SIZE + 32];
    char file[TEMPORARY_SIZE + 32];
    char rejects[TEMPORARY_SIZE + 32];
    struct colander_buffer bad; /* the invalid records, verbatim */
    bool is_good[RECORDS];
    bool has_keys; /* those of the file; there are older rows */
    unsigned limits;
    size_t good_count;
    uint64_t random;
};

/* ------------------------------------------------------------ the file --- */

static void
append(struct colander_buffer *text, const char *format, ...)
{
    char line[2000];
    va_list list;
    int size;

    va_start(list, format);
    size = vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    assert_true(size >= 0 && (size_t)size < sizeof(line));
    OK(colander_buffer_append(text, line, (size_t)size, NULL));
}

/* The text of record `n`; lengths vary. */
static void
text_of(size_t n, char text[1200])
{
    size_t size = 20 + n * 7919 % 1000;

    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + (n * 31 + i * i) % 26);
    text[size] = '\0';
}

/* An invalid record; each format has a different one. */
static void
append_bad(struct load_fixture *it, enum way way, size_t n,
           struct colander_buffer *text)
{
    char line[80];

    if (way == WAY_CSV)
        snprintf(line, sizeof(line), "%zu,one field too many,x", n);
    else if (way == WAY_JSON)
        snprintf(line, sizeof(line), "{\"n\":%zu,\"n\":0}", n);
    else
        snprintf(line, sizeof(line), "{\"n\":%zu,", n);
    if (way == WAY_CSV && it->bad.size == 0)
        append(&it->bad, "n,text\n");
    append(&it->bad, "%s\n", line);
    append(text, "%s", line);
}

static void
write_file(const struct load_fixture *it, enum way way,
           const struct colander_buffer *text)
{
    /* "T": uncompressed */
    gzFile file = gzopen(it->file, way == WAY_JSONL_GZ ? "wb1" : "wbT");

    assert_non_null(file);
    assert_int_equal(gzwrite(file, text->data, (unsigned)text->size),
                     (int)text->size);
    assert_int_equal(gzclose(file), Z_OK);
}

static void
append_good(enum way way, size_t n, const char *value,
            struct colander_buffer *text)
{
    append(text, way == WAY_CSV ? "%zu,\"%s\"" : "{\"n\":%zu,\"text\":\"%s\"}",
           n, value);
}

/* With keys, some records are there before, with another text. */
static void
make_file(struct load_fixture *it, enum way way)
{
    const char *const between = way == WAY_JSON ? ",\n" : "\n";
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    static char value[1200];

    colander_buffer_clear(&it->bad);
    it->good_count = 0;
    for (size_t n = 0; n < RECORDS; n++) {
        it->is_good[n] = random_below(&it->random, 40) != 0;
        it->good_count += it->is_good[n];
    }
    if (way == WAY_JSON)
        append(&text, "[");
    if (way == WAY_CSV)
        append(&text, "n,text\n");
    for (size_t n = 0; n < RECORDS; n++) {
        if (n > 0)
            append(&text, "%s", between);
        if (it->has_keys && n + AHEAD < RECORDS && it->is_good[n + AHEAD] &&
            random_below(&it->random, 4) == 0) {
            append_good(way, n + AHEAD, "early", &text);
            append(&text, "%s", between);
        }
        text_of(n, value);
        if (it->is_good[n])
            append_good(way, n, value, &text);
        else
            append_bad(it, way, n, &text);
    }
    if (way != WAY_JSON)
        append(&text, "\n");
    if (way == WAY_JSON)
        append(&text, "]\n");
    write_file(it, way, &text);
}

/* ------------------------------------------------------------ the load --- */

/* The process that is killed. */
ROLE(load)
{
    struct colander_options store_options = usual_options();
    struct colander_load_options options;
    struct colander_load *load;
    struct colander_store *store;
    struct colander_family *family;
    const char *files[] = {arguments[3]};
    const char *key = "n";

    store_options.write_buffer_size = 1 << 20;
    colander_load_options_init(&options);
    options.rejects = arguments[4];
    options.resumes = strcmp(arguments[5], "resume") == 0;
    if (arguments[7][0] != '\0') { /* keys are numbers, in that order */
        options.key = &key;
        options.key_count = 1;
    }
    DID(colander_store_open(arguments[2], &store_options, &store, why()));
    DID(colander_family_open(store, "f", &family, why()));
    DID(colander_load_create(store, family, &options, &load, why()));
    load_set_limits(load, &limits[strtoul(arguments[6], NULL, 10)]);
    DID(colander_load_run(load, files, 1, why()));
    colander_load_destroy(load);
    colander_family_close(family);
    return colander_store_close(store, why()) == COLANDER_OK ? 0 : 1;
}

/* Starts it, and kills it after some microseconds. Returns whether it had
 * finished by then. */
static bool
run_for(const struct load_fixture *it, bool resumes, uint64_t microseconds)
{
    const char number[] = {(char)('0' + it->limits), '\0'};
    const char *const arguments[] = {"test",      "--load",
                                     it->store,   it->file,
                                     it->rejects, resumes ? "resume" : "fresh",
                                     number,      it->has_keys ? "keys" : "",
                                     NULL};
    const pid_t child = child_start(arguments);
    int status;

    if (microseconds > 0) {
        usleep((useconds_t)microseconds);
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        return false;
    assert_int_equal(WEXITSTATUS(status), 0);
    return true;
}

/* ---------------------------------------------------------- the result --- */

static void
assert_record(struct colander_slice row, bool *was_seen)
{
    struct colander_value value;
    static char text[1200];
    bool found;

    OK(colander_row_get(row, "n", &value, &found, NULL));
    assert_true(found && value.type == COLANDER_INTEGER);
    assert_in_range(value.integer, 0, RECORDS - 1);
    assert_false(was_seen[value.integer]); /* none is there twice */
    was_seen[value.integer] = true;
    text_of((size_t)value.integer, text);
    OK(colander_row_get(row, "text", &value, &found, NULL));
    assert_true(found && value.type == COLANDER_STRING);
    assert_true(colander_slice_equal(value.bytes, colander_slice_text(text)));
}

static void
assert_family(const struct load_fixture *it)
{
    static bool was_seen[RECORDS];
    struct colander_store *store;
    struct colander_family *family;
    struct colander_cursor *cursor;
    struct colander_result result;
    size_t count = 0;
    bool is_row;

    memset(was_seen, 0, sizeof(was_seen));
    OK(colander_store_open(it->store, NULL, &store, NULL));
    OK(colander_family_open(store, "f", &family, NULL));
    OK(colander_family_find(family, NULL, &cursor, NULL));
    for (;;) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        assert_record(result.row, was_seen);
        count++;
    }
    assert_int_equal(count, it->good_count);
    colander_cursor_close(cursor);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
}

static void
assert_rejects(const struct load_fixture *it)
{
    FILE *file = fopen(it->rejects, "re");
    char *text = malloc(it->bad.size + 1);
    size_t size;

    assert_non_null(file);
    size = fread(text, 1, it->bad.size + 1, file);
    if (size != it->bad.size || memcmp(text, it->bad.data, size) != 0)
        printf("rejected: '%.*s'\nnot '%.*s'\n", (int)size, text,
               (int)it->bad.size, (const char *)it->bad.data);
    assert_int_equal(size, it->bad.size);
    assert_memory_equal(text, it->bad.data, it->bad.size);
    free(text);
    fclose(file);
}

/* ------------------------------------------------------------ the test --- */

static uint64_t
now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Older rows, some in an SST and some in a log. */
static void
put_older_rows(const struct load_fixture *it)
{
    struct colander_store *store;
    struct colander_family *family;

    OK(colander_store_open(it->store, NULL, &store, NULL));
    OK(colander_family_open(store, "f", &family, NULL));
    for (size_t n = 0; n < RECORDS; n++) {
        char row[80];

        snprintf(row, sizeof(row), "{\"_key\":%zu,\"n\":%zu,\"text\":\"old\"}",
                 n, n);
        if (it->is_good[n])
            OK(colander_family_put_json(family, row, NULL, NULL, NULL));
        if (n == RECORDS / 2)
            OK(colander_family_flush(family, NULL));
    }
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
}

static void
begin_round(struct load_fixture *it, unsigned round, enum way way)
{
    snprintf(it->store, sizeof(it->store), "%s/%u", it->directory, round);
    snprintf(it->file, sizeof(it->file), "%s/%u.%s", it->directory, round,
             extensions[way]);
    snprintf(it->rejects, sizeof(it->rejects), "%s/%u.rejects", it->directory,
             round);
    it->has_keys = random_below(&it->random, 2) == 0;
    it->limits = (unsigned)random_below(&it->random, COUNT(limits));
    make_file(it, way);
    if (it->has_keys)
        put_older_rows(it);
}

TEST(a_load_that_is_killed_and_resumed_loads_each_record_once)
{
    struct load_fixture it = {.random = random_seed(__func__)};
    const uint64_t wanted = random_runs(ROUNDS);
    uint64_t whole_us = 0;
    uint64_t kill_count = 0;
    uint64_t killed = 0; /* rounds */

    temporary_make(it.directory);
    for (unsigned round = 0; round == 0 || killed < wanted; round++) {
        uint64_t start = now_us();
        bool resumes = false;
        bool is_killed = false;

        begin_round(&it, round, (enum way)(round % WAYS));
        for (int kill = 0; round > 0 && kill < KILLS_MAX; kill++) {
            uint64_t moment = 1 + random_below(&it.random, whole_us);
            bool is_through = run_for(&it, resumes, moment);

            resumes = true;
            if (is_through) { /* most must be killed while they load */
                whole_us = whole_us * 3 / 4 + 1;
                break;
            }
            whole_us += whole_us / 8;
            kill_count++;
            is_killed = true;
        }
        killed += is_killed;
        assert_true(run_for(&it, resumes, 0));
        if (round == 0)
            whole_us = now_us() - start;
        assert_family(&it);
        assert_rejects(&it);
        assert_true(run_for(&it, true, 0)); /* nothing is left to do */
        assert_family(&it);
        assert_rejects(&it);
        temporary_remove(it.store);
    }
    printf("%" PRIu64 " loads were killed, %" PRIu64 " times in all\n", killed,
           kill_count);
    colander_buffer_release(&it.bad);
    temporary_remove(it.directory);
}
