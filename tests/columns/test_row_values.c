/*
 * Values of rows and the hashes of their paths.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "naive_filter_query.h"
#include "rows.h"
#include "support/cases.h"
#include "support/scoped.h"

#include "columns/row_walk.h"

/* Files contain them: a change requires a new COLANDER_HASH_VERSION. */
TEST(hashes_of_paths_are_the_promised_ones)
{
    static const struct {
        const char *path;
        uint64_t hash;
    } golden[] = {
        {"", UINT64_C(0x2d06800538d394c2)},
        {"a", UINT64_C(0xe6c632b61e964e1f)},
        {"user", UINT64_C(0x99e389d25c10af32)},
        {"user.name", UINT64_C(0x16f61b48a88f561d)},
        {"tags[]", UINT64_C(0x8b70a56008b65777)},
        {"matrix[][]", UINT64_C(0xc33b534caec7f56b)},
        {"entities.hashtags[].text", UINT64_C(0xd0accc0b4934909a)},
        {"a\\.b", UINT64_C(0x390c9ebbbb7402f6)},
        {"a name of more than 31 bytes\\, so", UINT64_C(0x6bfa0d6bc6e7ad54)},
    };
    uint64_t hash;

    for (size_t i = 0; i < COUNT(golden); i++) {
        OK(path_hash_of_text(golden[i].path, &hash, why()));
        if (hash != golden[i].hash)
            fail_msg("%s: 0x%016" PRIx64, golden[i].path, hash);
    }
    FAILS(path_hash_of_text("a[", &hash, why()), COLANDER_INVALID);
}

static bool
is_same(const struct colander_value *a, const struct colander_value *b)
{
    if (a->type >= COLANDER_ARRAY)
        return a->type == b->type;
    return a->type == b->type && colander_value_compare(a, b) == 0;
}

/* Compares with a walk that keeps the path as text. */
static void
compare_with_trail(struct colander_slice row, struct row_list *list)
{
    static struct row_walk walk;
    static struct row_trail trail;
    SCOPED_BUFFER path = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    struct colander_slice text;
    bool is_value, is_new;
    uint64_t hash;

    row_list_init(list, row);
    row_trail_init(&trail);
    OK(row_walk_begin(&walk, row, NULL));
    for (size_t i = 0; i <= list->count; i++) {
        OK(row_walk_next(&walk, &value, &is_value, NULL));
        assert_int_equal(is_value, i < list->count);
        if (!is_value)
            break;
        OK(row_trail_follow(&trail, &walk, &text, &is_new, NULL));
        colander_buffer_clear(&path);
        put_bytes(&path, text.data, text.size);
        put_byte(&path, 0);
        OK(path_hash_of_text((char *)path.data, &hash, NULL));
        assert_int_equal(hash, list->values[i].path_hash);
        assert_int_equal(list->values[i].depth, walk.depth);
        assert_true(is_same(&list->values[i].value, &value));
    }
    row_trail_release(&trail);
}

TEST(each_value_has_the_hash_of_its_path)
{
    static struct row_list list;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    uint64_t seed = random_seed("row values");
    uint64_t runs = random_runs(3000);
    size_t depth = 0;

    for (uint64_t run = 0; run < runs; run++) {
        struct colander_slice exact;

        random_row(&row, &seed);
        exact = exact_copy(colander_buffer_slice(&row));
        compare_with_trail(exact, &list);
        for (size_t i = 0; i < list.count; i++)
            depth = list.values[i].depth > depth ? list.values[i].depth : depth;
        exact_free(exact);
    }
    assert_true(runs < 1000 || depth >= 5);
}

TEST(a_row_of_all_levels_is_followed_to_its_end)
{
    static struct row_list list;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;

    put_bytes(&row, "\x81\xa1m", 3);
    for (int i = 1; i < COLANDER_ROW_DEPTH_MAX; i++)
        put_byte(&row, 0x91);
    put_byte(&row, 0xc0);
    compare_with_trail(colander_buffer_slice(&row), &list);
    assert_int_equal(list.count, COLANDER_ROW_DEPTH_MAX);
    row.data[row.size - 1] = 0x91;
    put_byte(&row, 0xc0);
    list.count = 0;
    FAILS(row_values(colander_buffer_slice(&row), row_list_add, &list, NULL),
          COLANDER_CORRUPT);
}

TEST(no_two_paths_of_a_few_names_share_a_hash)
{
    static const char *const steps[] = {"a", "b", "", "a.b", "[]", "aa"};
    static uint64_t hashes[6 + 36 + 216 + 1296];
    size_t count = 0, parents = 0;

    for (size_t i = 0; i < 6; i++)
        hashes[count++] =
            path_hash_name(PATH_HASH_START, colander_slice_text(steps[i]));
    while (count < COUNT(hashes)) {
        uint64_t parent = hashes[parents++];

        hashes[count++] = path_hash_element(parent);
        for (size_t i = 0; i < 5; i++)
            hashes[count++] =
                path_hash_name(parent, colander_slice_text(steps[i]));
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(hashes[i], hashes[j]);
    }
}

static void
count_value(void *context, const struct row_value *value)
{
    size_t *count = context;

    assert_true(value->depth >= 1 && value->depth <= COLANDER_ROW_DEPTH_MAX);
    assert_true(value->value.type <= COLANDER_MAP);
    ++*count;
}

/* In memory of exact size, so that the sanitizer detects an overrun. */
TEST(damaged_rows_are_corrupt_or_rows)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    uint64_t seed = random_seed("damage");
    uint64_t runs = random_runs(20000);
    uint64_t corrupt_count = 0;
    size_t count = 0;

    for (uint64_t run = 0; run < runs; run++) {
        struct colander_slice exact;
        enum colander_code code;

        random_row(&row, &seed);
        damage_row(&row, &seed);
        exact = exact_copy(colander_buffer_slice(&row));
        code = row_values(exact, count_value, &count, NULL);
        assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT);
        corrupt_count += code == COLANDER_CORRUPT;
        exact_free(exact);
    }
    assert_true(runs < 1000 || corrupt_count > runs / 10);
}
