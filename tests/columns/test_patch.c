/*
 * Patches: RFC 7386 on rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/row.h"

#include "counted_skip.h"

#include "columns/rows/patch.c"

#include "rows.h"
#include "support/cases.h"
#include "support/scoped.h"

/* --------------------------------------------------- the RFC's examples --- */

/* Parses the subset of JSON that the examples need: no spaces, one-letter
 * strings and "bar", digits. Returns the rest of the text. */
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

/* The table of RFC 7386, appendix A, if both sides are objects. */
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

/* Examples with a side that is not an object are nested in a column. */
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
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER patch = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER expected = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    put_json(&row, row_json);
    put_json(&patch, patch_json);
    put_json(&expected, expected_json);
    put_byte(&out, 0); /* old content that must be removed */
    OK(colander_row_patch(colander_buffer_slice(&row),
                          colander_buffer_slice(&patch), &out, why()));
    ASSERT_SAME(colander_buffer_slice(&out), colander_buffer_slice(&expected));
}

TEST(patch_does_as_the_rfc_shows)
{
    for (size_t i = 0; i < COUNT(published); i++)
        assert_patched(published[i][0], published[i][1], published[i][2]);
    for (size_t i = 0; i < COUNT(published_inside); i++) {
        char text[3][64];

        for (int j = 0; j < 3; j++)
            snprintf(text[j], sizeof(text[j]), "{\"x\":%s}",
                     published_inside[i][j]);
        assert_patched(text[0], text[1], text[2]);
    }
}

TEST(patch_removes_a_column_set_to_null)
{
    assert_patched("{\"x\":{\"a\":\"foo\"}}", "{\"x\":null}", "{}");
    assert_patched("{\"a\":1,\"b\":2,\"c\":3}", "{\"b\":null,\"d\":null}",
                   "{\"a\":1,\"c\":3}");
}

TEST(patch_keeps_the_order_and_appends_what_is_new)
{
    assert_patched(
        "{\"b\":1,\"a\":{\"y\":1}}",
        "{\"z\":9,\"a\":{\"x\":2,\"y\":3},\"c\":{\"n\":null},\"b\":4}",
        "{\"b\":4,\"a\":{\"y\":3,\"x\":2},\"z\":9,\"c\":{}}");
}

TEST(patch_keeps_nulls_inside_arrays)
{
    assert_patched("{}", "{\"a\":[null,{\"b\":null}]}",
                   "{\"a\":[null,{\"b\":null}]}");
}

TEST(patch_makes_a_row_if_there_is_none)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    OK(colander_row_patch(BYTES(""), BYTES("\x82\241a\x01\241b\xc0"), &out,
                          why()));
    ASSERT_SAME(colander_buffer_slice(&out), BYTES("\x81\241a\x01"));
}

static void
assert_not_patched(struct colander_slice row, struct colander_slice patch,
                   enum colander_code code, const char *message)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    struct colander_error err;

    assert_int_equal(colander_row_patch(row, patch, &out, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
    assert_int_equal(out.size, 0);
}

TEST(patch_distinguishes_a_bad_patch_from_a_bad_row)
{
    const struct colander_slice good = BYTES("\x81\241b\x01");

    assert_not_patched(good, BYTES("\x81\xa4_key\x01"), COLANDER_INVALID,
                       "patch: column '_key': the name is reserved for the "
                       "key");
    assert_not_patched(good, BYTES(""), COLANDER_INVALID,
                       "patch: row ends in the middle of a value");
    assert_not_patched(BYTES("\x82\241a\x01"), good, COLANDER_CORRUPT,
                       "row ends in the middle of a value");
    assert_not_patched(BYTES("\x90"), good, COLANDER_CORRUPT,
                       "row is not a map but of type array");
    assert_not_patched(BYTES("\x80\x80"), good, COLANDER_CORRUPT,
                       "row has 1 bytes after its end");
    assert_not_patched(BYTES("\x82\241a\x01\241a\x02"), good, COLANDER_CORRUPT,
                       "row as stored: column 'a': name appears twice");
}

TEST(patch_refuses_a_result_over_the_limits)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    put_bytes(&row, "\x81\xa1x\xc6", 4);
    put_number(&row, COLANDER_ROW_SIZE_MAX - 11, 4);
    while (row.size < COLANDER_ROW_SIZE_MAX - 3)
        put_byte(&row, 0);
    OK(colander_row_patch(colander_buffer_slice(&row), BYTES("\x81\xa1y\x01"),
                          &out, why()));
    assert_int_equal(out.size, COLANDER_ROW_SIZE_MAX);
    assert_not_patched(colander_buffer_slice(&row), BYTES("\x81\xa2yy\x01"),
                       COLANDER_LIMIT,
                       "row has 16777217 bytes, 16777216 at most");
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

TEST(patch_changes_every_one_of_a_hundred_thousand_columns)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER patch = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    numbered_row(&row, COLANDER_ROW_NAMES_MAX, 1);
    numbered_row(&patch, COLANDER_ROW_NAMES_MAX, 2);
    OK(colander_row_patch(colander_buffer_slice(&row),
                          colander_buffer_slice(&patch), &out, why()));
    ASSERT_SAME(colander_buffer_slice(&out), colander_buffer_slice(&patch));
    numbered_row(&patch, COLANDER_ROW_NAMES_MAX, 0xc0);
    OK(colander_row_patch(colander_buffer_slice(&row),
                          colander_buffer_slice(&patch), &out, why()));
    ASSERT_SAME(colander_buffer_slice(&out), BYTES("\x80"));
}

/* ---------------------------------------------------------------- model --- */

/* MergePatch of the RFC, verbatim. `target` NULL: undefined. */
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

TEST(patch_does_as_a_naive_model)
{
    uint64_t seed = random_seed("patch_does_as_a_naive_model");
    uint64_t runs = random_runs(50000);
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER patch = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < runs; i++) {
        msgpack_object target, change;
        msgpack_zone zone;

        random_row(&row, &seed);
        random_row(&patch, &seed);
        OK(colander_row_patch(colander_buffer_slice(&row),
                              colander_buffer_slice(&patch), &out, why()));
        assert_true(msgpack_zone_init(&zone, 4096));
        target = unpack(colander_buffer_slice(&row), &zone);
        change = unpack(colander_buffer_slice(&patch), &zone);
        assert_says(colander_buffer_slice(&out),
                    model_merge(&target, &change, &zone));
        msgpack_zone_destroy(&zone);
    }
}

TEST(what_is_in_many_maps_is_passed_once)
{
    /* {"a":{"a":{.. 60 deep ..:[0,0, ..]}}} */
    SCOPED_BUFFER deep = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;

    for (int i = 0; i < 60; i++)
        put_bytes(&deep, "\x81\241a", 3);
    put_bytes(&deep, "\xdc\x03\xe8", 3);
    for (int i = 0; i < 1000; i++)
        put_byte(&deep, 0);
    for (size_t i = 0; i < 2; i++) {
        row = i == 0 ? BYTES("") : colander_buffer_slice(&deep);
        skipped = 0;
        OK(colander_row_patch(row, colander_buffer_slice(&deep), &out, why()));
        ASSERT_SAME(colander_buffer_slice(&out), colander_buffer_slice(&deep));
        assert_true(skipped <= row.size + deep.size);
    }
}
