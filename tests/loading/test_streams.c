/*
 * Streams with puts, patches, deletes, retains and bad records: a store is a
 * function of the records, whatever chunks, runs, threads and interruptions
 * there are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/random.h"
#include "support/store_fixture.h"

#include "loading/load_inside.h"

#define RECORDS 30000
#define KEYS 4000
#define PAUSE 200                 /* records, at most, between two pauses */
#define BEGIN INT64_C(1767225600) /* of times */

/* A stream of records, each made of its offset. */
struct stream {
    uint64_t seed;            /* of the records */
    const char *const *texts; /* instead; NULL: none */
    int64_t at;
    int64_t end;    /* it is interrupted there */
    uint64_t pause; /* state of a random sequence; 0: it never pauses */
    int64_t until;  /* the next pause */
    bool is_idle;
    bool is_behind;
    bool is_marked;
    uint64_t expired; /* rows that retains have deleted */
    char text[240];
    char key[20];
    char mark[24];
};

/* What a record is. */
struct fact {
    unsigned kind;
    unsigned key;
    bool is_retain;
    int64_t second; /* of the row, or from when on rows stay */
};

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 29)) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ (x >> 32);
}

/* Long stretches have only puts, so that there are runs between others. Some
 * rows come when they are too old already for a retain before them. */
static struct fact
fact_of(uint64_t seed, int64_t at)
{
    const uint64_t r = mix(seed + (uint64_t)at);
    const bool is_calm = at / 5000 % 2 == 0;
    struct fact fact = {
        .kind = (unsigned)(r >> 40) % (is_calm ? 8 : 16),
        .key = (unsigned)(r % KEYS),
        .is_retain = !is_calm && (r >> 24) % 256 == 0,
    };

    fact.second = fact.is_retain
                      ? BEGIN + 10 * (at - 9000)
                      : BEGIN + 10 * (at - (int64_t)((r >> 8) % 12000));
    return fact;
}

static void
make_record(struct stream *stream, struct colander_load_record *record)
{
    const struct fact fact = fact_of(stream->seed, stream->at);
    const unsigned kind = fact.kind;
    const time_t second = (time_t)fact.second;
    char when[24];
    struct tm tm;

    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&second, &tm));
    snprintf(stream->key, sizeof(stream->key), "%u", fact.key);
    snprintf(stream->text, sizeof(stream->text),
             kind == 0 ? "{\"id\":%u,bad%u"
             : kind == 1
                 ? "{\"none\":%u,\"c%u\":1}"
                 : "{\"id\":%u,\"c%u\":\"................................"
                   "................................\",\"at\":%u,"
                   "\"when\":\"%s\"}",
             fact.key, (unsigned)(stream->at % 5), (unsigned)stream->at, when);
    if (fact.is_retain)
        snprintf(stream->text, sizeof(stream->text),
                 "{\"time\":\"when\",\"before\":\"%s\"}", when);
    *record = (struct colander_load_record){
        .place = {"t", 0, stream->at, 1000 * stream->at},
        .value = colander_slice_text(stream->text),
        .key = colander_slice_text(stream->key),
        .is_null = kind == 8 && !fact.is_retain,
    };
    if (fact.is_retain)
        record->operation = COLANDER_LOAD_OPERATION_RETAIN;
    else if (kind >= 9 && kind < 12)
        record->operation = COLANDER_LOAD_OPERATION_DELETE;
    else if (kind >= 12)
        record->operation = COLANDER_LOAD_OPERATION_PATCH;
}

/* The keys that the records leave, by a simple model. */
static void
model(uint64_t seed, enum colander_load_duplicates duplicates,
      int64_t seconds[KEYS], uint64_t *expired)
{
    for (unsigned i = 0; i < KEYS; i++)
        seconds[i] = INT64_MIN; /* there is no row */
    for (int64_t at = 0; at < RECORDS; at++) {
        const struct fact fact = fact_of(seed, at);
        int64_t *second = &seconds[fact.key];

        for (unsigned i = 0; i < KEYS && fact.is_retain; i++) {
            if (seconds[i] != INT64_MIN && seconds[i] < fact.second) {
                seconds[i] = INT64_MIN;
                ++*expired;
            }
        }
        if (fact.is_retain || fact.kind < 2)
            continue;
        if (fact.kind >= 8 && fact.kind < 12)
            *second = INT64_MIN;
        else if (fact.kind >= 12 || duplicates != COLANDER_LOAD_KEEP ||
                 *second == INT64_MIN)
            *second = fact.second;
    }
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
    if (stream->texts != NULL)
        *record = (struct colander_load_record){
            .place = {"t", 0, stream->at, 0},
            .value = colander_slice_text(stream->texts[stream->at])};
    else
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
    struct colander_schema *schema;
    struct colander_load *load;
    uint64_t runs;

    OK(colander_schema_create(&schema, NULL));
    OK(colander_schema_set_type(schema, "when", "time", NULL));
    colander_load_options_init(&options);
    options.schema = schema;
    options.stream = &given;
    options.key = key;
    options.key_count = 1;
    options.duplicates = duplicates;
    OK(colander_load_create(fixture->store, family, &options, &load, why()));
    load_set_limits(load, &limits);
    load_set_parsers(load, parser_count);
    OK(colander_load_run(load, &name, 1, why()));
    runs = load_run_count(load);
    stream->expired += colander_load_stats(load)->expired_count;
    colander_load_destroy(load);
    colander_schema_close(schema);
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

/* The family has the rows of the model. */
static void
check_model(struct colander_family *family, const struct stream *stream,
            enum colander_load_duplicates duplicates)
{
    static int64_t seconds[KEYS];
    struct colander_value key;
    SCOPED_BUFFER encoded = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    uint64_t expired = 0;
    bool found;

    model(stream->seed, duplicates, seconds, &expired);
    assert_true(expired > KEYS / 4);
    assert_int_equal(stream->expired, expired);
    for (int64_t i = 0; i < KEYS; i++) {
        key = colander_integer(i);
        encoded.size = 0;
        OK(colander_key_encode(&key, 1, &encoded, NULL));
        OK(colander_family_get(family, colander_buffer_slice(&encoded), NULL,
                               &row, &found, NULL));
        assert_int_equal(found, seconds[i] != INT64_MIN);
    }
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
    check_model(one, &stream, duplicates);
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
    assert_true(count_rows(one) > KEYS / 4 && count_rows(one) < KEYS);
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

static bool
has_row(struct colander_family *family, int64_t id)
{
    const struct colander_value key = colander_integer(id);
    SCOPED_BUFFER encoded = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    bool found;

    OK(colander_key_encode(&key, 1, &encoded, NULL));
    OK(colander_family_get(family, colander_buffer_slice(&encoded), NULL, &row,
                           &found, NULL));
    return found;
}

/* As after a crash in the middle of its deletes, when the place after it was
 * written. */
FIXTURE_TEST(a_retain_that_was_cut_off_ends_before_later_rows)
{
    static const char *const before[] = {
        "{\"id\":1,\"when\":\"2026-01-01T00:00:00Z\"}",
        "{\"id\":2,\"when\":\"2026-01-03T00:00:00Z\"}",
        ("{\"id\":3,\"when\":[\"2026-01-01T00:00:00Z\","
         "\"2026-01-03T00:00:00Z\"]}"),
        "{\"id\":4,\"when\":\"a day\"}",
    };
    static const char *const after[] = {
        "{\"id\":5,\"when\":\"2026-01-01T00:00:00Z\"}"};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_FAMILY bad = fixture_family(fixture, "rows.rejects");
    SCOPED_BUFFER value = COLANDER_BUFFER_EMPTY;
    struct stream stream = {.texts = before, .end = 4};
    struct colander_batch *batch;
    bool found;

    (void)load(fixture, family, bad, &stream, COLANDER_LOAD_REPLACE, UINT64_MAX,
               1);
    OK(colander_batch_create(fixture->store, &batch, NULL));
    OK(colander_batch_mark(
        batch, family, colander_slice_text("retain"),
        colander_slice_text("{\"before\":\"2026-01-02\",\"time\":\"when\"}"),
        NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
    colander_batch_destroy(batch);
    for (int i = 0; i < 2; i++) {
        stream = (struct stream){.texts = after, .end = 1};
        (void)load(fixture, family, bad, &stream, COLANDER_LOAD_REPLACE,
                   UINT64_MAX, 1);
        assert_int_equal(stream.expired, i == 0 ? 1 : 0);
        assert_false(has_row(family, 1));
        assert_true(has_row(family, 2) && has_row(family, 3));
        assert_true(has_row(family, 4) && has_row(family, 5));
    }
    OK(colander_family_mark(family, colander_slice_text("retain"), &value,
                            &found, NULL));
    assert_false(found);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
