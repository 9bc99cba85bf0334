/*
 * Queries as bytes: what is decoded is the query that was encoded, and bytes
 * that are damaged or made up do no harm.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of random queries.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/query_bytes.h"

#include "columns/json.h"
#include "query_samples.h"

/* A build may have no filters. */
#pragma weak colander_family_await_filters

#define RUNS 5000
#define KEYS 600

SCOPED_DEFINE(struct colander_decoded_query, colander_decoded_query_destroy)

#define SCOPED_DECODED                                                         \
    SCOPED(scoped_colander_decoded_query_destroy)                              \
    struct colander_decoded_query *

static struct colander_json_reader *reader;

/* A copy whose end is the end of its allocation. Free it. */
static struct colander_slice
exact_copy(struct colander_slice bytes)
{
    uint8_t *copy = malloc(bytes.size + 1);

    assert_non_null(copy);
    if (bytes.size > 0)
        memcpy(copy + 1, bytes.data, bytes.size);
    return colander_slice_of(copy + 1, bytes.size);
}

static void
exact_free(struct colander_slice bytes)
{
    free((uint8_t *)(uintptr_t)bytes.data - 1);
}

/* ------------------------------------------------------- random queries --- */

static void
decode(struct colander_slice bytes, struct colander_decoded_query **decoded)
{
    struct colander_slice copy = exact_copy(bytes);

    OK(colander_query_decode(copy, decoded, why()));
    exact_free(copy);
}

/* Encodes the query and decodes it, twice. */
static void
transfer(const struct colander_query *query,
         struct colander_decoded_query **decoded)
{
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER again = COLANDER_BUFFER_EMPTY;

    OK(colander_query_encode(query, &bytes, why()));
    decode(colander_buffer_slice(&bytes), decoded);
    OK(colander_query_encode(colander_decoded_query_get(*decoded), &again,
                             why()));
    ASSERT_SAME(colander_buffer_slice(&again), colander_buffer_slice(&bytes));
}

static void
assert_same_columns(const struct colander_columns *a,
                    const struct colander_columns *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->is_cut, b->is_cut);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(a->paths[i], b->paths[i]);
}

static void
assert_same_plans(struct colander_cursor *a, struct colander_cursor *b)
{
    struct colander_explain plans[2];

    colander_cursor_explain(a, &plans[0]);
    colander_cursor_explain(b, &plans[1]);
    assert_int_equal(plans[0].plan, plans[1].plan);
    assert_string_equal(plans[0].reason, plans[1].reason);
    assert_int_equal(plans[0].rows_expected, plans[1].rows_expected);
    assert_int_equal(plans[0].candidate_count, plans[1].candidate_count);
    assert_int_equal(plans[0].rows_read, plans[1].rows_read);
    assert_int_equal(plans[0].rows_verified, plans[1].rows_verified);
    assert_int_equal(plans[0].rows_returned, plans[1].rows_returned);
    assert_string_equal(plans[0].some_words, plans[1].some_words);
}

/* Returns the number of rows. */
static uint64_t
assert_same_finds(struct colander_family *family,
                  const struct colander_query *query,
                  const struct colander_query *decoded)
{
    struct colander_result results[2];
    SCOPED_CURSOR one = NULL;
    SCOPED_CURSOR other = NULL;
    uint64_t count = 0;

    OK(colander_family_find(family, query, &one, why()));
    OK(colander_family_find(family, decoded, &other, why()));
    for (;; count++) {
        bool is_row;
        bool is_other;

        OK(colander_cursor_next(one, &is_row, &results[0], why()));
        OK(colander_cursor_next(other, &is_other, &results[1], why()));
        assert_int_equal(is_row, is_other);
        if (!is_row)
            break;
        ASSERT_SAME(results[0].key, results[1].key);
        ASSERT_SAME(results[0].row, results[1].row);
        assert_same_columns(&results[0].columns, &results[1].columns);
    }
    assert_same_plans(one, other);
    return count;
}

static void
random_options(uint64_t *random, struct colander_query *query,
               const char *paths[3], struct colander_buffer keys[2])
{
    query->keys_only = random_below(random, 8) == 0;
    query->reports_columns = random_below(random, 2) == 0;
    query->is_timed = random_below(random, 4) == 0;
    if (random_below(random, 2) == 0) {
        query->paths = paths;
        query->path_count = random_below(random, 4);
        for (size_t i = 0; i < 3; i++)
            paths[i] = random_path(random);
    }
    if (random_below(random, 8) == 0) {
        random_key(random, KEYS, &keys[0]);
        query->keys.exact = colander_buffer_slice(&keys[0]);
    }
    if (random_below(random, 16) == 0) {
        random_key(random, KEYS, &keys[1]);
        query->keys.prefix = colander_buffer_slice(&keys[1]);
    }
}

FIXTURE_TEST(random_queries_that_are_decoded_find_the_same)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    uint64_t *random = random_state();
    uint64_t count = 0;

    put_settled_rows(family, fixture->builder, 0, KEYS, random);
    OK(colander_family_compact(family, why()));
    if (colander_family_await_filters != NULL)
        OK(colander_family_await_filters(family, why()));
    for (uint64_t i = random_runs(RUNS); i > 0; i--) {
        SCOPED_PREDICATE predicate = random_tree(random, 4, any_leaf);
        struct colander_buffer bounds[4] = {
            COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY,
            COLANDER_BUFFER_EMPTY};
        struct colander_query query = usual_query();
        SCOPED_DECODED decoded = NULL;
        const char *paths[3];

        assert_non_null(predicate);
        if (random_below(random, 50) != 0)
            query.where = predicate;
        random_bounds(random, KEYS, &query, bounds);
        random_options(random, &query, paths, bounds + 2);
        transfer(&query, &decoded);
        count += assert_same_finds(family, &query,
                                   colander_decoded_query_get(decoded));
        for (size_t k = 0; k < COUNT(bounds); k++)
            colander_buffer_release(&bounds[k]);
    }
    assert_true(count > 0);
}

TEST(the_members_of_a_query_come_back)
{
    SCOPED_PREDICATE predicate = where("a", COLANDER_EQ, 1);
    const char *const paths[] = {"a[].b", "", "\\x41\xff"};
    struct colander_key keys[4];
    struct colander_query query = usual_query();
    const struct colander_query *got;
    SCOPED_DECODED decoded = NULL;

    query.where = predicate;
    query.keys.prefix = colander_key_of_text(&keys[0], "a");
    query.keys.from = colander_key_of_text(&keys[1], "b");
    query.keys.to = colander_key_of_text(&keys[2], "c");
    query.keys.exact = colander_key_of_text(&keys[3], "d");
    query.paths = paths;
    query.path_count = COUNT(paths);
    query.limit = UINT64_MAX - 1;
    query.is_reverse = query.reports_columns = true;
    query.thread_count = 7;
    transfer(&query, &decoded);
    got = colander_decoded_query_get(decoded);

    ASSERT_SAME(got->keys.prefix, query.keys.prefix);
    ASSERT_SAME(got->keys.from, query.keys.from);
    ASSERT_SAME(got->keys.to, query.keys.to);
    ASSERT_SAME(got->keys.exact, query.keys.exact);
    assert_int_equal(got->path_count, COUNT(paths));
    assert_string_equal(got->paths[0], "a[].b");
    assert_string_equal(got->paths[1], "");
    assert_string_equal(got->paths[2], "A\\xff");
    assert_true(got->limit == UINT64_MAX - 1);
    assert_true(got->is_reverse && got->reports_columns);
    assert_true(!got->keys_only && !got->is_timed);
    assert_int_equal(got->thread_count, 0);
    assert_null(got->snapshot);
}

TEST(no_query_is_every_row)
{
    SCOPED_DECODED decoded = NULL;
    const struct colander_query *got;

    transfer(NULL, &decoded);
    got = colander_decoded_query_get(decoded);
    assert_null(got->where);
    assert_null(got->paths);
    assert_true(got->limit == UINT64_MAX);
}

TEST(values_of_all_types_come_back_exactly)
{
    for (size_t i = 0; i < COUNT(some_values); i++) {
        const struct colander_value *value = &some_values[i];
        SCOPED_PREDICATE predicate = colander_where_any_column(*value, why());
        struct colander_query query = usual_query();
        SCOPED_DECODED decoded = NULL;
        const struct colander_value *got;

        query.where = predicate;
        transfer(&query, &decoded);
        got = colander_decoded_query_get(decoded)->where->values;
        assert_int_equal(got->type, value->type);
        assert_int_equal(got->extension_type, value->extension_type);
        assert_int_equal(got->nanosecond, value->nanosecond);
        if (colander_type_has_bytes(value->type))
            ASSERT_SAME(got->bytes, value->bytes);
        else
            assert_true(got->natural == value->natural);
    }
    for (size_t i = 0; i < COUNT(last_values); i++) {
        const struct colander_value *value = &last_values[i];
        SCOPED_PREDICATE predicate =
            predicate_up_to("a", COLANDER_LE, *value, why());
        struct colander_query query = usual_query();
        SCOPED_DECODED decoded = NULL;
        const struct colander_value *got;

        query.where = predicate;
        transfer(&query, &decoded);
        got = colander_decoded_query_get(decoded)->where->values;
        assert_int_equal(got->type, value->type);
        ASSERT_SAME(got->bytes, value->bytes);
    }
}

/* --------------------------------------------------------- golden bytes --- */

static void
encode_where(const struct colander_predicate *predicate,
             struct colander_buffer *bytes)
{
    struct colander_query query = usual_query();

    query.where = predicate;
    colander_buffer_clear(bytes);
    OK(colander_query_encode(&query, bytes, why()));
}

/* Returns the bytes of a row of JSON, borrowed until the next call. */
static struct colander_slice
row_of(const char *json)
{
    struct colander_slice key;
    struct colander_slice row;
    bool has_key;

    OK(colander_json_reader_row(reader, colander_slice_text(json), &key,
                                &has_key, &row, why()));
    return row;
}

#define WHERE_SIZE 512

/* The same of a query with these nodes. */
static struct colander_slice
row_of_where(char json[WHERE_SIZE], const char *nodes)
{
    snprintf(json, WHERE_SIZE, "{\"version\":1,\"where\":[%s]}", nodes);
    return row_of(json);
}

TEST(the_bytes_of_each_kind_are_these)
{
    struct sample samples[SAMPLES_MAX];
    const size_t count = make_samples(samples);
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    char json[WHERE_SIZE];

    for (size_t i = 0; i < count; i++) {
        encode_where(samples[i].where, &bytes);
        ASSERT_SAME(colander_buffer_slice(&bytes),
                    row_of_where(json, samples[i].json));
    }
    drop_samples(samples, count);
}

/* A query with all members, byte by byte. */
static const char golden[] =
    "\x89"
    "\xa7version\x01"
    "\xa5where\x94"
    "\x9d\xa2in\xa1"
    "a"
    "\xc0"
    "\xc3"
    "\xd3\x80\0\0\0\0\0\0\0"
    "\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a"
    "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"
    "\xcb\x7f\xf0\0\0\0\0\0\0"
    "\xcb\x7f\xf8\0\0\0\0\0\0"
    "\xa4\xc3\xa9\0t"
    "\xc4\x02\xff\0"
    "\xc7\x0c\xff\x3b\x9a\xc9\xff\xff\xff\xff\xff\xff\xff\xff\xff"
    "\xc7\x03\x07"
    "abc"
    "\x94\xa5up_to\xa1"
    "a\xa1<\x91\xc4\x01\xc3"
    "\x91\xa3not"
    "\x92\xa6"
    "any_of\x02"
    "\xa4keys\x84"
    "\xa6prefix\xc4\x03\x30"
    "a\0"
    "\xa4"
    "from\xc4\x03\x30"
    "b\0"
    "\xa2to\xc4\x03\x30"
    "c\0"
    "\xa5"
    "exact\xc4\x03\x30"
    "d\0"
    "\xa5limit\xcd\x03\xe8"
    "\xaais_reverse\xc3"
    "\xa9keys_only\xc3"
    "\xafreports_columns\xc3"
    "\xa8is_timed\xc3"
    "\xa5paths\x92\xa3"
    "a[]\xa1"
    "b";

TEST(the_bytes_of_a_query_with_all_members_are_these)
{
    SCOPED_PREDICATE predicate = joined(
        false, colander_where_in("a", some_values, COUNT(some_values), why()),
        colander_not(predicate_up_to("a", COLANDER_LT, last_values[0], why()),
                     why()));
    const char *const paths[] = {"a[]", "b"};
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_query query = usual_query();
    struct colander_key keys[4];
    SCOPED_DECODED decoded = NULL;

    query.where = predicate;
    query.keys.prefix = colander_key_of_text(&keys[0], "a");
    query.keys.from = colander_key_of_text(&keys[1], "b");
    query.keys.to = colander_key_of_text(&keys[2], "c");
    query.keys.exact = colander_key_of_text(&keys[3], "d");
    query.limit = 1000;
    query.is_reverse = query.keys_only = true;
    query.reports_columns = query.is_timed = true;
    query.paths = paths;
    query.path_count = COUNT(paths);
    OK(colander_query_encode(&query, &bytes, why()));
    assert_int_equal(bytes.size, sizeof(golden) - 1);
    assert_memory_equal(bytes.data, golden, bytes.size);
    transfer(&query, &decoded);
}

/* ---------------------------------------------------------- other bytes --- */

/* Decodes bytes that may be anything. What is decoded can be encoded, and then
 * comes back. */
static enum colander_code
try_bytes(struct colander_slice bytes)
{
    struct colander_slice copy = exact_copy(bytes);
    SCOPED_DECODED decoded = NULL;
    SCOPED_DECODED again = NULL;
    enum colander_code code = colander_query_decode(copy, &decoded, why());

    exact_free(copy);
    assert_int_equal(code == COLANDER_OK, decoded != NULL);
    assert_true(code == COLANDER_OK || code == COLANDER_INVALID ||
                code == COLANDER_LIMIT);
    assert_int_equal(code == COLANDER_OK, error_text()[0] == '\0');
    if (code == COLANDER_OK)
        transfer(colander_decoded_query_get(decoded), &again);
    return code;
}

static void
cut_and_flip(struct colander_slice bytes)
{
    struct colander_slice copy = exact_copy(bytes);
    uint8_t *at = (uint8_t *)copy.data;

    for (size_t size = 0; size < bytes.size; size++)
        FAILS(try_bytes(colander_slice_of(at, size)), COLANDER_INVALID);
    for (size_t i = 0; i < bytes.size; i++) {
        const uint8_t before = at[i];

        for (unsigned flip = 1; flip < 256; flip++) {
            at[i] = before ^ (uint8_t)flip;
            (void)try_bytes(copy);
        }
        at[i] = before;
    }
    exact_free(copy);
}

TEST(every_cut_and_every_changed_byte_is_noticed_or_another_query)
{
    struct sample samples[SAMPLES_MAX];
    const size_t count = make_samples(samples);
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;

    cut_and_flip(colander_slice_of(golden, sizeof(golden) - 1));
    for (size_t i = 0; i < count; i++) {
        encode_where(samples[i].where, &bytes);
        cut_and_flip(colander_buffer_slice(&bytes));
    }
    drop_samples(samples, count);
}

static void
refuse(struct colander_slice bytes, enum colander_code code,
       const char *message)
{
    SCOPED_DECODED decoded = NULL;

    FAILS(colander_query_decode(bytes, &decoded, why()), code);
    if (strstr(error_text(), message) == NULL)
        fail_msg("'%s' is not in '%s'", message, error_text());
    assert_null(decoded);
}

struct refused {
    const char *json;
    const char *message;
};

TEST(members_that_encoding_never_writes_are_refused)
{
    static const struct refused refused[] = {
        {"{}", "do not begin with a version"},
        {"{\"where\":[],\"version\":1}", "do not begin with a version"},
        {"{\"version\":\"1\"}", "do not begin with a version"},
        {"{\"version\":2}", "bytes have version 2, but version"},
        {"{\"version\":1,\"snapshot\":1}", "unknown member 'snapshot'"},
        {"{\"version\":1,\"limit\":-1}", "limit is not a number of rows"},
        {"{\"version\":1,\"limit\":1.0}", "limit is not a number of rows"},
        {"{\"version\":1,\"is_timed\":1}", "is_timed: integer where boolean"},
        {"{\"version\":1,\"keys\":[]}", "keys: array where map"},
        {"{\"version\":1,\"keys\":{\"from\":\"a\"}}", "key: string where"},
        {"{\"version\":1,\"paths\":{}}", "paths: map where array"},
        {"{\"version\":1,\"paths\":[1]}", "path: integer where string"},
        {"{\"version\":1,\"paths\":[\"a[\"]}", "path 'a[': '[' must be"},
        {"{\"version\":1,\"paths\":[\"a\\u0000b\"]}", "a zero byte in a path"},
        {"{\"version\":1,\"where\":{}}", "where: map where array"},
    };

    for (size_t i = 0; i < COUNT(refused); i++)
        refuse(row_of(refused[i].json), COLANDER_INVALID, refused[i].message);
}

TEST(nodes_that_encoding_never_writes_are_refused)
{
    static const struct refused refused[] = {
        {"", "0 predicates where one"},
        {"[\"any\",1],[\"any\",1]", "2 predicates where one"},
        {"1", "predicate: integer where array"},
        {"[]", "predicate 1: something is missing"},
        {"[1]", "predicate: integer where string"},
        {"[\"some\",1]", "unknown predicate 'some'"},
        {"[\"compare\",\"a\",\"==\",1]", "unknown comparison '=='"},
        {"[\"compare\",\"a\",\"<\",null]", "null has no order"},
        {"[\"compare\",null,\"<\",1]", "no path"},
        {"[\"compare\",\"a\",\"<\",[]]", "type array cannot be compared"},
        {"[\"compare\",\"a\",\"<\"]", "compare with 0 values instead of 1"},
        {"[\"any\",1,2]", "any with 2 values instead of 1"},
        {"[\"exists\",\"a\",1]", "exists with 1 values instead of 0"},
        {"[\"between\",\"a\",1,\"b\"]", "integer and string have no order"},
        {"[\"prefix\",\"a\",1]", "integer is neither string nor binary"},
        {"[\"outside\",\"a\",1]", "half of a span"},
        {"[\"up_to\",\"a\",\"=\",1]", "up_to without an order"},
        {"[\"up_to\",\"a\",\"<\",\"b\"]", "up_to: string where array"},
        {"[\"up_to\",\"a\",\"<\",{}]", "up_to: map where array"},
        {"[\"up_to\",\"a\",\"<\",[1]]", "up_to: integer where binary"},
        {"[\"search\",\"a\",\"word\",0,\"b\"]", "unknown search 'word'"},
        {"[\"search\",\"a\",\"words\",4,\"b\"]", "unknown flags 4"},
        {"[\"search\",\"a\",\"words\",-1,\"b\"]", "unknown flags"},
        {"[\"search\",null,\"words\",2,\"b\"]",
         "COLANDER_SEARCH_NOT requires a path"},
        {"[\"search\",null,\"words\",0,1]", "text: integer where string"},
        {"[\"search\",null,\"words\",0,\"-\"]", "it has no words"},
        {"[\"not\"]", "not has not the operands"},
        {"[\"any\",1],[\"not\",1]", "not has not the operands"},
        {"[\"any\",1],[\"all_of\",2]", "all_of has not the operands"},
        {"[\"any\",1],[\"any_of\",-1]", "any_of has not the operands"},
        {"[\"any_of\"]", "something is missing"},
    };
    char json[WHERE_SIZE];

    for (size_t i = 0; i < COUNT(refused); i++)
        refuse(row_of_where(json, refused[i].json), COLANDER_INVALID,
               refused[i].message);
}

TEST(bytes_that_are_not_one_map_are_refused)
{
    refuse(colander_slice_of(NULL, 0), COLANDER_INVALID, "ends in the middle");
    refuse(colander_slice_text("\x93\x01\x02\x03"), COLANDER_INVALID,
           "not a map but of type array");
    refuse(colander_slice_text("\x81\xa7version\x01!"), COLANDER_INVALID,
           "1 bytes after its end");
    refuse(colander_slice_text("\x82\xa7version\x01\xa7version\x01"),
           COLANDER_INVALID, "name appears twice");
    refuse(colander_slice_text("\x82\xa7version\x01\xa5where\xdd\xff\xff\xff"
                               "\xff\x91\xa3not"),
           COLANDER_INVALID, "ends in the middle");
    refuse(colander_slice_text("\x82\xa7version\x01\xa4keys\x81\xa4"
                               "from\xc4\x01\x30"),
           COLANDER_INVALID, "not a key");
    refuse(colander_slice_text("\x82\xa7version\x01\xa4keys\x81\xa5"
                               "until\xc4\x01\x09"),
           COLANDER_INVALID, "not a key");
}

/* --------------------------------------------------------------- limits --- */

/* Appends `count` times the text, and decodes it all as `where`. */
static void
refuse_many(const char *before, const char *each, size_t count,
            const char *after, const char *message)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;

    OK(colander_buffer_append(&json, before, strlen(before), NULL));
    for (size_t i = 0; i < count; i++)
        OK(colander_buffer_append(&json, each, strlen(each), NULL));
    OK(colander_buffer_append(&json, after, strlen(after) + 1, NULL));
    refuse(row_of((const char *)json.data), COLANDER_LIMIT, message);
}

TEST(limits_hold_before_memory_is_taken)
{
    refuse_many("{\"version\":1,\"where\":[[\"any\",1]", ",[\"not\"]",
                COLANDER_PREDICATE_DEPTH_MAX, "]}", "nested deeper than 64");
    refuse_many("{\"version\":1,\"where\":[[\"any\",1]", ",[\"any\",1]",
                COLANDER_PREDICATE_NODES_MAX, "]}",
                "10001 predicates in one, over the limit of 10000");
    refuse_many("{\"version\":1,\"where\":[[\"in\",\"a\",1],[\"in\",\"a\"",
                ",1", COLANDER_PREDICATE_VALUES_MAX, "]]}",
                "100001 values, over the limit of 100000");
    refuse_many("{\"version\":1,\"paths\":[\"a\"", ",\"\"",
                COLANDER_ROW_NAMES_MAX, "]}",
                "100001 paths, over the limit of 100000");
}

TEST(patterns_are_counted_before_they_are_joined)
{
    struct colander_predicate *pattern =
        search("a", COLANDER_SEARCH_PATTERN, "b", 0);

    if (pattern == NULL)
        skip(); /* a library without patterns */
    colander_predicate_destroy(pattern);
    refuse_many("{\"version\":1,\"where\":[[\"any\",1]",
                ",[\"search\",\"a\",\"pattern\",0,\"b\"]",
                COLANDER_PATTERNS_MAX + 1, "]}",
                "predicate 66: more patterns than the limit of 64");
}

/* The largest predicate, with the operand that orders add. */
TEST(a_predicate_at_the_limit_comes_back)
{
    struct colander_predicate *chain = where("a", COLANDER_EQ, 1);
    struct colander_query query = usual_query();
    SCOPED_DECODED decoded = NULL;

    for (int i = 1; i < COLANDER_PREDICATE_DEPTH_MAX; i++)
        chain = colander_not(chain, why());
    query.where = chain;
    transfer(&query, &decoded);
    colander_predicate_destroy(chain);
}

TEST(a_query_that_is_too_large_is_not_encoded)
{
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_query query = usual_query();
    const char *bad[] = {"a["};

    OK(colander_buffer_reserve(&text, COLANDER_ROW_SIZE_MAX, NULL));
    memset(text.data, 'x', COLANDER_ROW_SIZE_MAX);
    text.size = COLANDER_ROW_SIZE_MAX;
    SCOPED_PREDICATE predicate = colander_where_any_column(
        colander_string(colander_buffer_slice(&text)), why());
    query.where = predicate;
    OK(colander_buffer_append(&bytes, "before", 6, NULL));
    FAILS(colander_query_encode(&query, &bytes, why()), COLANDER_LIMIT);
    query.where = NULL;
    query.paths = bad;
    query.path_count = 1;
    FAILS(colander_query_encode(&query, &bytes, why()), COLANDER_INVALID);
    assert_int_equal(bytes.size, 6);
}

int
main(void)
{
    int failed;

    reader = colander_json_reader_create();
    failed = reader == NULL ? 1 : tests_run(NULL, NULL);
    colander_json_reader_destroy(reader);
    return failed;
}
