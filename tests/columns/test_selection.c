/*
 * Rows reduced to chosen columns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rows.h"
#include "support/cases.h"
#include "support/scoped.h"

#include "columns/path.h"
#include "columns/selection.h"

#define PATH_COUNT_MAX 5

static void
assert_selected(struct colander_slice row, const char *const *paths,
                size_t count, struct colander_slice expected)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    put_byte(&out, 0); /* old content that must be removed */
    OK(colander_row_select(row, paths, count, &out, why()));
    ASSERT_SAME(colander_buffer_slice(&out), expected);
}

#define ASSERT_SELECTED(row, expected, ...)                                    \
    assert_selected((row), (const char *[]){__VA_ARGS__},                      \
                    sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),    \
                    (expected))

TEST(select_keeps_the_order_of_the_row)
{
    const struct colander_slice row = BYTES("\x83\241c\x01\241b\x02\241a\x03");

    ASSERT_SELECTED(row, BYTES("\x82\241c\x01\241a\x03"), "a", "c");
    ASSERT_SELECTED(row, row, "a", "b", "c", "d");
    ASSERT_SELECTED(row, BYTES("\x80"), "d");
    assert_selected(row, NULL, 0, BYTES("\x80"));
    ASSERT_SELECTED(BYTES("\x80"), BYTES("\x80"), "a");
}

TEST(select_keeps_all_below_a_path)
{
    const struct colander_slice row =
        BYTES("\x82\241a\x82\241b\x01\241c\x80\xa1"
              "x\x01");
    const struct colander_slice a = BYTES("\x81\241a\x82\241b\x01\241c\x80");

    ASSERT_SELECTED(row, a, "a");
    ASSERT_SELECTED(row, a, "a.b", "a");
    ASSERT_SELECTED(row, a, "a", "a.c", "a");
    ASSERT_SELECTED(row, a, "a.b", "a.c");
    ASSERT_SELECTED(row, BYTES("\x81\241a\x81\241b\x01"), "a.b");
}

TEST(select_leaves_out_what_is_left_without_members)
{
    const struct colander_slice row =
        BYTES("\x83\241a\x81\241b\x01\241e\x80\xa1"
              "n\x05");

    ASSERT_SELECTED(row, BYTES("\x80"), "a.c", "e.x", "n.x", "n[]", "a[]");
    ASSERT_SELECTED(row, BYTES("\x81\241e\x80"), "e", "a.c");
}

TEST(select_goes_into_arrays)
{
    const struct colander_slice row =
        BYTES("\x82\xa4list\x94\x82\xa1x\x01\xa1y\x02\x05\x81\xa1y\x03\x81\xa1x"
              "\x04\xa4tags\x92\xa1p\x90");

    ASSERT_SELECTED(row, BYTES("\x81\xa4tags\x92\xa1p\x90"), "tags[]");
    ASSERT_SELECTED(row, BYTES("\x81\xa4list\x92\x81\xa1x\x01\x81\xa1x\x04"),
                    "list[].x");
    ASSERT_SELECTED(
        row,
        BYTES("\x81\xa4list\x94\x82\xa1x\x01\xa1y\x02\x05\x81\xa1y\x03\x81"
              "\xa1x\x04"),
        "list[].x", "list[]");
    ASSERT_SELECTED(row, BYTES("\x80"), "list.x", "tags[].x", "list[][]");
}

TEST(select_reports_corrupt_for_an_invalid_row)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    const char *path = "a.b";

    put_byte(&out, 0);
    FAILS(colander_row_select(BYTES("\x90"), &path, 1, &out, why()),
          COLANDER_CORRUPT);
    assert_string_equal(error_text(), "row is not a map but of type array");
    assert_int_equal(out.size, 0);
    FAILS(colander_row_select(BYTES("\x80\x80"), &path, 1, &out, why()),
          COLANDER_CORRUPT);
    FAILS(
        colander_row_select(BYTES("\x81\241a\x81\xa1"), &path, 1, &out, why()),
        COLANDER_CORRUPT);
    assert_int_equal(out.size, 0);
}

TEST(select_rejects_a_text_that_is_not_a_path)
{
    const char *const paths[] = {"a", "b[", "c"};
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    FAILS(colander_row_select(BYTES("\x80"), paths, 3, &out, why()),
          COLANDER_INVALID);
    assert_string_equal(error_text(), "path 'b[': '[' must be followed by ']' "
                                      "(a[] is any element of a) (position 2)");
}

TEST(select_writes_heads_of_the_size_they_need)
{
    static const uint32_t counts[] = {1, 15, 16, 17, 65535, 65536};
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    const char *path = "l[].x";

    for (size_t i = 0; i < COUNT(counts); i++) {
        size_t head_size = counts[i] < 16 ? 1 : counts[i] < 65536 ? 3 : 5;

        colander_buffer_clear(&row);
        put_bytes(&row, "\x81\xa1l\xdd", 4);
        put_number(&row, counts[i], 4);
        for (uint32_t j = 0; j < counts[i]; j++)
            put_bytes(&row, "\x81\xa1x\x01", 4);
        OK(colander_row_select(colander_buffer_slice(&row), &path, 1, &out,
                               why()));
        assert_int_equal(out.size, 3 + head_size + 4 * counts[i]);
        OK(colander_row_check(colander_buffer_slice(&out), why()));
    }
}

/* ---------------------------------------------------------------- model --- */

struct chosen {
    const struct path *paths[PATH_COUNT_MAX];
    size_t count;
};

static bool
step_fits(const struct path_step *step, const msgpack_object *name)
{
    if (step->is_element || name == NULL)
        return step->is_element && name == NULL;
    return colander_slice_equal(
        step->name, colander_slice_of(name->via.str.ptr, name->via.str.size));
}

static bool model_cut(const msgpack_object *value, const struct chosen *chosen,
                      size_t depth, msgpack_object *cut, msgpack_zone *zone);

/* Selects in the member `name` (NULL: an element) with the paths into it. */
static bool
model_member(const msgpack_object *name, const msgpack_object *value,
             const struct chosen *chosen, size_t depth, msgpack_object *cut,
             msgpack_zone *zone)
{
    struct chosen fitting = {{NULL}, 0};

    for (size_t i = 0; i < chosen->count; i++)
        if (depth < chosen->paths[i]->count &&
            step_fits(&chosen->paths[i]->steps[depth], name))
            fitting.paths[fitting.count++] = chosen->paths[i];
    return fitting.count > 0 &&
           model_cut(value, &fitting, depth + 1, cut, zone);
}

static bool
model_cut(const msgpack_object *value, const struct chosen *chosen,
          size_t depth, msgpack_object *cut, msgpack_zone *zone)
{
    bool is_container = value->type == MSGPACK_OBJECT_MAP ||
                        value->type == MSGPACK_OBJECT_ARRAY;
    msgpack_object member;

    *cut = *value;
    for (size_t i = 0; i < chosen->count; i++)
        if (chosen->paths[i]->count == depth)
            return true;
    if (!is_container)
        return false;
    *cut = object_container(value->type, value->via.map.size, zone);
    if (value->type == MSGPACK_OBJECT_MAP)
        for (uint32_t i = 0; i < value->via.map.size; i++) {
            const msgpack_object_kv *pair = &value->via.map.ptr[i];

            if (model_member(&pair->key, &pair->val, chosen, depth, &member,
                             zone))
                object_add(cut, pair->key, member);
        }
    else
        for (uint32_t i = 0; i < value->via.array.size; i++)
            if (model_member(NULL, &value->via.array.ptr[i], chosen, depth,
                             &member, zone))
                cut->via.array.ptr[cut->via.array.size++] = member;
    return cut->via.map.size > 0;
}

static void
compare_with_model(struct colander_slice row, const char *const *texts,
                   size_t count)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
    struct path paths[PATH_COUNT_MAX];
    struct chosen chosen = {{NULL}, 0};
    msgpack_object object, cut;
    msgpack_zone zone;

    assert_true(msgpack_zone_init(&zone, 4096));
    for (; chosen.count < count; chosen.count++) {
        OK(colander_path_parse(texts[chosen.count], &paths[chosen.count],
                               why()));
        chosen.paths[chosen.count] = &paths[chosen.count];
    }
    object = unpack(row, &zone);
    model_cut(&object, &chosen, 0, &cut, &zone);
    OK(colander_row_select(row, texts, count, &out, why()));
    assert_says(colander_buffer_slice(&out), cut);
    while (count-- > 0)
        path_release(&paths[count]);
    msgpack_zone_destroy(&zone);
}

TEST(select_does_as_a_naive_model)
{
    uint64_t seed = random_seed("select_does_as_a_naive_model");
    uint64_t runs = random_runs(100000);
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_buffer texts[PATH_COUNT_MAX];
    const char *paths[PATH_COUNT_MAX];

    memset(texts, 0, sizeof(texts));
    for (uint64_t i = 0; i < runs; i++) {
        size_t count = random_below(&seed, PATH_COUNT_MAX + 1);

        random_row(&row, &seed);
        for (size_t j = 0; j < count; j++)
            paths[j] = random_path(&texts[j], &seed);
        compare_with_model(colander_buffer_slice(&row), paths, count);
    }
    for (size_t i = 0; i < PATH_COUNT_MAX; i++)
        colander_buffer_release(&texts[i]);
}
