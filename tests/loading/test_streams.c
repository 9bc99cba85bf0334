/*
 * Streams with puts, patches, deletes and bad records: a store is a function of
 * the records, whatever chunks, runs, threads and interruptions there are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/random.h"
#include "support/store_fixture.h"

#include "loading/load_inside.h"

#define RECORDS 30000
#define KEYS 4000
#define PAUSE 200 /* records, at most, between two pauses */

/* A stream of records, each made of its offset. */
struct stream {
    uint64_t seed; /* of the records */
    int64_t at;
    int64_t end;    /* it is interrupted there */
    uint64_t pause; /* state of a random sequence; 0: it never pauses */
    int64_t until;  /* the next pause */
    bool is_idle;
    bool is_behind;
    bool is_marked;
    char text[200];
    char key[20];
    char mark[24];
};

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 29)) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ (x >> 32);
}

/* Long stretches have only puts, so that there are runs between others. */
static void
make_record(struct stream *stream, struct colander_load_record *record)
{
    const uint64_t r = mix(stream->seed + (uint64_t)stream->at);
    const bool is_calm = stream->at / 5000 % 2 == 0;
    const unsigned kind = (unsigned)(r >> 40) % (is_calm ? 8 : 16);
    const unsigned key = (unsigned)(r % KEYS);

    snprintf(stream->key, sizeof(stream->key), "%u", key);
    snprintf(stream->text, sizeof(stream->text),
             kind == 0 ? "{\"id\":%u,bad%u"
             : kind == 1
                 ? "{\"none\":%u,\"c%u\":1}"
                 : "{\"id\":%u,\"c%u\":\"................................"
                   "................................\",\"at\":%u}",
             key, (unsigned)(r >> 20) % 5, (unsigned)stream->at);
    *record = (struct colander_load_record){
        .place = {"t", 0, stream->at, 1000 * stream->at},
        .value = colander_slice_text(stream->text),
        .key = colander_slice_text(stream->key),
        .is_null = kind == 8,
    };
    if (kind >= 9 && kind < 12)
        record->operation = COLANDER_LOAD_OPERATION_DELETE;
    else if (kind >= 12)
        record->operation = COLANDER_LOAD_OPERATION_PATCH;
}

static enum colander_code
next(void *context, unsigned wait_ms, struct colander_load_record *record,
     bool *found, bool *is_end, struct colander_error *err)
{
    struct stream *stream = context;

    *found = stream->at < stream->end;
    if (*found && stream->pause != 0 && stream->at >= stream->until) {
        *found = false;
        stream->is_idle = !stream->is_idle; /* twice: a chunk waits for more */
        if (stream->is_idle)
            return COLANDER_OK;
        stream->pause = mix(stream->pause + 1) | 1;
        stream->until = stream->at + 1 + (int64_t)(stream->pause % PAUSE);
        return COLANDER_OK;
    }
    *is_end = stream->at == stream->end;
    if (!*found)
        return COLANDER_OK;
    make_record(stream, record);
    stream->at++;
    stream->is_marked = false;
    return COLANDER_OK;
}

static enum colander_code
mark(void *context, struct colander_slice *name, struct colander_slice *value,
     bool *found, struct colander_error *err)
{
    struct stream *stream = context;

    *found = !stream->is_marked;
    stream->is_marked = true;
    snprintf(stream->mark, sizeof(stream->mark), "%lld", (long long)stream->at);
    *name = colander_slice_text("at");
    *value = colander_slice_text(stream->mark);
    return COLANDER_OK;
}

static bool
is_behind(void *context)
{
    return ((struct stream *)context)->is_behind;
}

/* Loads the stream up to its end. */
static uint64_t
load(struct store_fixture *fixture, struct colander_family *family,
     struct colander_family *rejects, struct stream *stream,
     enum colander_load_duplicates duplicates, uint64_t run_size,
     size_t parser_count)
{
    static const char *const key[] = {"id"};
    static const char *const name = "stream";
    const struct load_limits limits = {UINT64_MAX, run_size, UINT32_MAX};
    const struct colander_load_stream given = {stream,    next,    mark,
                                               is_behind, rejects, 0};
    struct colander_load_options options;
    struct colander_load *load;
    uint64_t runs;

    colander_load_options_init(&options);
    options.stream = &given;
    options.key = key;
    options.key_count = 1;
    options.duplicates = duplicates;
    OK(colander_load_create(fixture->store, family, &options, &load, why()));
    load_set_limits(load, &limits);
    load_set_parsers(load, parser_count);
    OK(colander_load_run(load, &name, 1, why()));
    runs = load_run_count(load);
    colander_load_destroy(load);
    return runs;
}

/* Appends the keys and rows of a family, as they are stored. */
static void
dump(struct colander_family *family, struct colander_buffer *bytes)
{
    struct colander_cursor *cursor;
    struct colander_result result;
    bool is_row = true;

    OK(colander_family_find(family, NULL, &cursor, NULL));
    while (is_row) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_buffer_append(bytes, result.key.data, result.key.size,
                                  NULL));
        OK(colander_buffer_append(bytes, result.row.data, result.row.size,
                                  NULL));
    }
    colander_cursor_close(cursor);
}

static void
check(struct store_fixture *fixture, enum colander_load_duplicates duplicates)
{
    SCOPED_FAMILY one = fixture_family(fixture, "one");
    SCOPED_FAMILY two = fixture_family(fixture, "two");
    SCOPED_FAMILY bad = fixture_family(fixture, "one.rejects");
    SCOPED_FAMILY bad_two = fixture_family(fixture, "two.rejects");
    SCOPED_BUFFER rows = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER others = COLANDER_BUFFER_EMPTY;
    struct stream stream = {.seed = mix(random_seed("streams")),
                            .end = RECORDS};
    uint64_t runs = 0;

    (void)load(fixture, one, bad, &stream, duplicates, UINT64_MAX, 1);
    dump(one, &rows);
    dump(bad, &rows);
    stream.at = 0;
    stream.pause = mix(stream.seed) | 1;
    for (int part = 0; stream.at < RECORDS; part++) {
        stream.end = stream.at + 1 + (int64_t)(mix(stream.pause + 7) % 9000);
        if (stream.end > RECORDS)
            stream.end = RECORDS;
        stream.is_behind = part % 3 != 2;
        runs += load(fixture, two, bad_two, &stream, duplicates, 100000,
                     2 + (size_t)part % 7);
    }
    dump(two, &others);
    dump(bad_two, &others);
    assert_true(runs > 1 || duplicates != COLANDER_LOAD_REPLACE);
    assert_int_equal(rows.size, others.size);
    assert_memory_equal(rows.data, others.data, rows.size);
    assert_true(count_rows(one) > KEYS / 2 && count_rows(one) < KEYS);
    assert_true(count_rows(bad) > RECORDS / 20);
}

FIXTURE_TEST(rows_do_not_depend_on_chunks_runs_threads_and_interruptions)
{
    check(fixture, COLANDER_LOAD_REPLACE);
}

FIXTURE_TEST(patched_rows_do_not_either)
{
    check(fixture, COLANDER_LOAD_PATCH);
}

FIXTURE_TEST(rows_that_stay_do_not_either)
{
    check(fixture, COLANDER_LOAD_KEEP);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
