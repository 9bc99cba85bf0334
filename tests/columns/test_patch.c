/*
 * Patches: RFC 7386 on rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/msgpack.h"

/* The file is part of this program, so that what it skips can be counted. */
static size_t skipped;

static enum msgpack_result
counted_skip(struct msgpack_reader *reader)
{
    const uint8_t *start = reader->at;
    enum msgpack_result result = msgpack_skip(reader);

    skipped += (size_t)(reader->at - start);
    return result;
}

#define msgpack_skip(reader) counted_skip(reader)
#include "columns/patch.c"
#undef msgpack_skip

#include "rows.h"

/* ---------------------------------------------------- the RFC's examples ---
 */

/* Reads the little JSON that the examples need: no spaces, one-letter and
 * "bar" strings, digits. Gives what is behind the value. */
static const char *
put_json(struct colander_buffer *out, const char *json)
{
    size_t start = out->size;
    unsigned count = 0;
    const char *end;
    char close;

    if (*json == '"') {
        end = strchr(json + 1, '"');
        put_byte(out, 0xa0 | (unsigned)(end - json - 1));
        put_bytes(out, json + 1, (size_t)(end - json - 1));
        return end + 1;
    }
    if (*json == 'n') {
        put_byte(out, 0xc0);
        return json + 4;
    }
    if (*json != '{' && *json != '[') {
        put_byte(out, (unsigned)(*json - '0'));
        return json + 1;
    }
    close = *json == '{' ? '}' : ']';
    put_byte(out, *json == '{' ? 0x80 : 0x90);
    for (json++; *json != close; json += *json == ',') {
        if (close == '}')
            json = put_json(out, json) + 1;
        json = put_json(out, json);
        count++;
    }
    out->data[start] |= (uint8_t)count;
    return json + 1;
}

/* The table of RFC 7386, appendix A, as far as both sides are objects. */
static const char *const published[][3] = {
    {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
    {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
    {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
    {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
    {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
    {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
    {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
     "{\"a\":{\"b\":\"d\"}}"},
    {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
    {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
    {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
};

/* Those where one side is no object stand one column deeper. */
static const char *const published_inside[][3] = {
    {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
    {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
    {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
    {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
};

static void
assert_patched(const char *row_json, const char *patch_json,
               const char *expected_json)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_buffer patch = COLANDER_BUFFER_EMPTY;
    struct colander_buffer expected = COLANDER_BUFFER_EMPTY;
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    put_json(&row, row_json);
    put_json(&patch, patch_json);
    put_json(&expected, expected_json);
    put_byte(&out, 0); /* content that must go */
    ASSERT_OK(colander_row_patch(colander_buffer_slice(&row),
                                 colander_buffer_slice(&patch), &out, &err),
              err);
    assert_true(colander_slice_equal(colander_buffer_slice(&out),
                                     colander_buffer_slice(&expected)));
    colander_buffer_release(&row);
    colander_buffer_release(&patch);
    colander_buffer_release(&expected);
    colander_buffer_release(&out);
}

static void
patch_does_as_the_rfc_shows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
        assert_patched(published[i][0], published[i][1], published[i][2]);
    for (size_t i = 0;
         i < sizeof(published_inside) / sizeof(published_inside[0]); i++) {
        char text[3][64];

        for (int j = 0; j < 3; j++)
            snprintf(text[j], sizeof(text[j]), "{\"x\":%s}",
                     published_inside[i][j]);
        assert_patched(text[0], text[1], text[2]);
    }
}

static void
patch_removes_a_column_told_null(void **state)
{
    (void)state;
    assert_patched("{\"x\":{\"a\":\"foo\"}}", "{\"x\":null}", "{}");
    assert_patched("{\"a\":1,\"b\":2,\"c\":3}", "{\"b\":null,\"d\":null}",
                   "{\"a\":1,\"c\":3}");
}

static void
patch_keeps_the_order_and_appends_what_is_new(void **state)
{
    (void)state;
    assert_patched(
        "{\"b\":1,\"a\":{\"y\":1}}",
        "{\"z\":9,\"a\":{\"x\":2,\"y\":3},\"c\":{\"n\":null},\"b\":4}",
        "{\"b\":4,\"a\":{\"y\":3,\"x\":2},\"z\":9,\"c\":{}}");
}

static void
patch_keeps_nulls_inside_arrays(void **state)
{
    (void)state;
    assert_patched("{}", "{\"a\":[null,{\"b\":null}]}",
                   "{\"a\":[null,{\"b\":null}]}");
}

static void
patch_makes_a_row_of_no_row(void **state)
{
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    (void)state;
    ASSERT_OK(colander_row_patch(BYTES(""),
                                 BYTES("\x82\xa1"
                                       "a\x01\xa1"
                                       "b\xc0"),
                                 &out, &err),
              err);
    assert_true(
        colander_slice_equal(colander_buffer_slice(&out), BYTES("\x81\xa1"
                                                                "a\x01")));
    colander_buffer_release(&out);
}

static void
assert_not_patched(struct colander_slice row, struct colander_slice patch,
                   enum colander_code code, const char *message)
{
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    assert_int_equal(colander_row_patch(row, patch, &out, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
    assert_int_equal(out.size, 0);
    colander_buffer_release(&out);
}

static void
patch_tells_a_bad_patch_from_a_bad_row(void **state)
{
    const struct colander_slice good = BYTES("\x81\xa1"
                                             "b\x01");

    (void)state;
    assert_not_patched(good, BYTES("\x81\xa4_key\x01"), COLANDER_INVALID,
                       "patch: column '_key': the name is reserved for the "
                       "key");
    assert_not_patched(good, BYTES(""), COLANDER_INVALID,
                       "patch: row ends in the middle of a value");
    assert_not_patched(BYTES("\x82\xa1"
                             "a\x01"),
                       good, COLANDER_CORRUPT,
                       "row ends in the middle of a value");
    assert_not_patched(BYTES("\x90"), good, COLANDER_CORRUPT,
                       "row is not a map");
    assert_not_patched(BYTES("\x80\x80"), good, COLANDER_CORRUPT,
                       "row has 1 bytes behind its end");
    assert_not_patched(BYTES("\x82\xa1"
                             "a\x01\xa1"
                             "a\x02"),
                       good, COLANDER_CORRUPT,
                       "row as stored: column 'a': name appears twice");
}

static void
patch_refuses_a_result_over_the_limits(void **state)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    (void)state;
    put_bytes(&row, "\x81\xa1x\xc6", 4);
    put_number(&row, COLANDER_ROW_SIZE_MAX - 11, 4);
    while (row.size < COLANDER_ROW_SIZE_MAX - 3)
        put_byte(&row, 0);
    ASSERT_OK(colander_row_patch(colander_buffer_slice(&row),
                                 BYTES("\x81\xa1y\x01"), &out, &err),
              err);
    assert_int_equal(out.size, COLANDER_ROW_SIZE_MAX);
    assert_not_patched(colander_buffer_slice(&row), BYTES("\x81\xa2yy\x01"),
                       COLANDER_LIMIT,
                       "row has 16777217 bytes, 16777216 at most");
    colander_buffer_release(&row);
    colander_buffer_release(&out);
}

/* Names "n0", "n1", ... each with `value`, in a map. */
static void
numbered_row(struct colander_buffer *row, uint32_t count, unsigned value)
{
    char name[16];

    colander_buffer_clear(row);
    put_byte(row, 0xdf);
    put_number(row, count, 4);
    for (uint32_t i = 0; i < count; i++) {
        int size = snprintf(name, sizeof(name), "n%u", i);

        put_byte(row, 0xa0 | (unsigned)size);
        put_bytes(row, name, (size_t)size);
        put_byte(row, value);
    }
}

static void
patch_changes_every_one_of_a_hundred_thousand_columns(void **state)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_buffer patch = COLANDER_BUFFER_EMPTY;
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    (void)state;
    numbered_row(&row, COLANDER_ROW_NAMES_MAX, 1);
    numbered_row(&patch, COLANDER_ROW_NAMES_MAX, 2);
    ASSERT_OK(colander_row_patch(colander_buffer_slice(&row),
                                 colander_buffer_slice(&patch), &out, &err),
              err);
    assert_true(colander_slice_equal(colander_buffer_slice(&out),
                                     colander_buffer_slice(&patch)));
    numbered_row(&patch, COLANDER_ROW_NAMES_MAX, 0xc0);
    ASSERT_OK(colander_row_patch(colander_buffer_slice(&row),
                                 colander_buffer_slice(&patch), &out, &err),
              err);
    assert_true(
        colander_slice_equal(colander_buffer_slice(&out), BYTES("\x80")));
    colander_buffer_release(&row);
    colander_buffer_release(&patch);
    colander_buffer_release(&out);
}

/* ---------------------------------------------------------------- model --- */

/* MergePatch of the RFC, word for word. `target` NULL: not there. */
static msgpack_object
model_merge(const msgpack_object *target, const msgpack_object *patch,
            msgpack_zone *zone)
{
    bool is_map = target != NULL && target->type == MSGPACK_OBJECT_MAP;
    msgpack_object merged;

    if (patch->type != MSGPACK_OBJECT_MAP)
        return *patch;
    merged = object_container(
        MSGPACK_OBJECT_MAP,
        patch->via.map.size + (is_map ? target->via.map.size : 0), zone);
    for (uint32_t i = 0; is_map && i < target->via.map.size; i++) {
        const msgpack_object_kv *pair = &target->via.map.ptr[i];
        const msgpack_object *change = object_find(patch, &pair->key);

        if (change == NULL)
            object_add(&merged, pair->key, pair->val);
        else if (change->type != MSGPACK_OBJECT_NIL)
            object_add(&merged, pair->key,
                       model_merge(&pair->val, change, zone));
    }
    for (uint32_t i = 0; i < patch->via.map.size; i++) {
        const msgpack_object_kv *pair = &patch->via.map.ptr[i];

        if (pair->val.type != MSGPACK_OBJECT_NIL &&
            (!is_map || object_find(target, &pair->key) == NULL))
            object_add(&merged, pair->key, model_merge(NULL, &pair->val, zone));
    }
    return merged;
}

static void
patch_does_as_a_naive_model(void **state)
{
    uint64_t seed = random_seed("patch_does_as_a_naive_model");
    uint64_t runs = random_runs(100000);
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_buffer patch = COLANDER_BUFFER_EMPTY;
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    (void)state;
    for (uint64_t i = 0; i < runs; i++) {
        msgpack_object target, change;
        msgpack_zone zone;

        random_row(&row, &seed);
        random_row(&patch, &seed);
        ASSERT_OK(colander_row_patch(colander_buffer_slice(&row),
                                     colander_buffer_slice(&patch), &out, &err),
                  err);
        assert_true(msgpack_zone_init(&zone, 4096));
        target = unpack(colander_buffer_slice(&row), &zone);
        change = unpack(colander_buffer_slice(&patch), &zone);
        assert_says(colander_buffer_slice(&out),
                    model_merge(&target, &change, &zone));
        msgpack_zone_destroy(&zone);
    }
    colander_buffer_release(&row);
    colander_buffer_release(&patch);
    colander_buffer_release(&out);
}

static void
what_is_in_many_maps_is_passed_once(void **state)
{
    /* {"a":{"a":{.. 60 deep ..:[0,0, ..]}}} */
    struct colander_buffer deep = COLANDER_BUFFER_EMPTY;
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    struct colander_error err;

    (void)state;
    for (int i = 0; i < 60; i++)
        put_bytes(&deep,
                  "\x81\xa1"
                  "a",
                  3);
    put_bytes(&deep, "\xdc\x03\xe8", 3);
    for (int i = 0; i < 1000; i++)
        put_byte(&deep, 0);
    for (size_t i = 0; i < 2; i++) {
        row = i == 0 ? BYTES("") : colander_buffer_slice(&deep);
        skipped = 0;
        ASSERT_OK(
            colander_row_patch(row, colander_buffer_slice(&deep), &out, &err),
            err);
        assert_true(colander_slice_equal(colander_buffer_slice(&out),
                                         colander_buffer_slice(&deep)));
        assert_true(skipped <= row.size + deep.size);
    }
    colander_buffer_release(&deep);
    colander_buffer_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patch_does_as_the_rfc_shows),
        cmocka_unit_test(patch_removes_a_column_told_null),
        cmocka_unit_test(patch_keeps_the_order_and_appends_what_is_new),
        cmocka_unit_test(patch_keeps_nulls_inside_arrays),
        cmocka_unit_test(patch_makes_a_row_of_no_row),
        cmocka_unit_test(patch_tells_a_bad_patch_from_a_bad_row),
        cmocka_unit_test(patch_refuses_a_result_over_the_limits),
        cmocka_unit_test(patch_changes_every_one_of_a_hundred_thousand_columns),
        cmocka_unit_test(patch_does_as_a_naive_model),
        cmocka_unit_test(what_is_in_many_maps_is_passed_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
