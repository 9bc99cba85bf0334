/*
 * Rows, keys, paths and JSON while memory is short: each allocation in turn
 * fails, which is told as NO_MEMORY, changes nothing and loses nothing (the
 * leak checker sees that).
 *
 * The linker sends every allocation of this program here: see CMakeLists.txt.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rows.h"

#include <stdlib.h>

#include "columns/candidates.h"
#include "columns/matched.h"
#include "columns/names.h"
#include "columns/row.h"

static long allocations_left = -1; /* below 0: none fails */

static bool
allocation_fails(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *
__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return allocation_fails() ? NULL : __real_realloc(memory, size);
}

/*
 * Does `work` with the first allocation failing, then with the second, until
 * it succeeds; gives how often it failed. Afterwards none fails.
 */
typedef enum colander_code some_work(struct colander_error *err);

static long
failures_of(some_work *work)
{
    struct colander_error err;
    enum colander_code code;
    long failed = 0;

    for (;; failed++) {
        err.code = COLANDER_OK;
        allocations_left = failed;
        code = work(&err);
        allocations_left = -1;
        if (code == COLANDER_OK)
            return failed;
        assert_int_equal(code, COLANDER_NO_MEMORY);
        assert_int_equal(err.code, COLANDER_NO_MEMORY);
    }
}

/* A row that small tables and buffers do not hold; made by row_create. */
static struct colander_buffer large_row;

static int
row_create(void **state)
{
    (void)state;
    put_bytes(&large_row, "\x82\xa1m\xde\x00\xc8", 6);
    for (unsigned i = 0; i < 200; i++) {
        char name[8];

        snprintf(name, sizeof(name), "\xa4n%03u", i);
        put_bytes(&large_row, name, 5);
        put_byte(&large_row, i % 100);
    }
    put_bytes(&large_row, "\xa1l\x92\xa1x\x81\xa1y\xc0", 9);
    return 0;
}

static int
row_release(void **state)
{
    (void)state;
    colander_buffer_release(&large_row);
    return 0;
}

/* ------------------------------------------------------------------ rows ---
 */

static enum colander_code
check_large(struct colander_error *err)
{
    return colander_row_check(colander_buffer_slice(&large_row), err);
}

static enum colander_code
check_and_find_names(struct colander_error *err)
{
    struct names names;
    enum colander_code code;

    names_init(&names);
    code = row_check_names(colander_buffer_slice(&large_row), &names, err);
    if (code == COLANDER_OK)
        assert_int_equal(names.count, 203);
    names_release(&names);
    return code;
}

static void
a_row_is_checked_or_memory_is_short(void **state)
{
    (void)state;
    assert_true(failures_of(check_large) >= 4);
    assert_true(failures_of(check_and_find_names) >= 4);
}

/* The path of a mistake is told where there is memory for it; the mistake is
 * always. */
static void
a_mistake_is_told_also_without_memory(void **state)
{
    struct colander_error err;

    (void)state;
    for (long failing = 0; failing < 3; failing++) {
        allocations_left = failing;
        assert_int_equal(colander_row_check(BYTES("\x81\xa1x\xc1"), &err),
                         COLANDER_INVALID);
        allocations_left = -1;
        assert_string_equal(
            err.message, failing == 0
                             ? "row has bytes that are no value"
                             : "column 'x': row has bytes that are no value");
    }
}

static void
build_some(struct colander_row_builder *builder)
{
    colander_row_builder_begin_map(builder, "m");
    for (unsigned i = 0; i < 100; i++) {
        char name[8];

        snprintf(name, sizeof(name), "n%03u", i);
        colander_row_builder_add(builder, name, colander_text("0123456789"));
    }
    colander_row_builder_end(builder);
    colander_row_builder_begin_array(builder, "l");
    for (unsigned i = 0; i < 100; i++)
        colander_row_builder_add(builder, NULL, colander_timestamp(1, i));
    colander_row_builder_end(builder);
}

static enum colander_code
build(struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_slice row;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no builder");
    build_some(builder);
    code = colander_row_builder_finish(builder, &row, err);
    allocations_left = -1;
    if (code == COLANDER_OK)
        assert_true(row.size > 1500);
    else
        assert_int_equal(row.size, 0);
    if (code != COLANDER_OK)
        assert_int_equal(colander_row_builder_finish(builder, &row, NULL),
                         COLANDER_OK);
    colander_row_builder_destroy(builder);
    return code;
}

static void
a_row_is_built_or_memory_is_short(void **state)
{
    (void)state;
    assert_true(failures_of(build) >= 5);
}

/* Of select and patch: what fails leaves nothing in `out`. */
static enum colander_code
select_some(struct colander_error *err)
{
    const char *const paths[] = {"m.n007", "l[].y", "m.n003", "l"};
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    code = colander_row_select(colander_buffer_slice(&large_row), paths, 4,
                               &out, err);
    assert_int_equal(out.size > 0, code == COLANDER_OK);
    colander_buffer_release(&out);
    return code;
}

static enum colander_code
patch_with_itself(struct colander_error *err)
{
    struct colander_slice row = colander_buffer_slice(&large_row);
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    code = colander_row_patch(row, row, &out, err);
    assert_int_equal(out.size > 0, code == COLANDER_OK);
    colander_buffer_release(&out);
    return code;
}

static void
a_row_is_cut_down_or_memory_is_short(void **state)
{
    (void)state;
    assert_true(failures_of(select_some) >= 3);
}

static void
a_row_is_patched_or_memory_is_short(void **state)
{
    (void)state;
    assert_true(failures_of(patch_with_itself) >= 4);
}

static enum colander_code
get_one(struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code;
    bool found;

    code = colander_row_get(colander_buffer_slice(&large_row), "l[].y", &value,
                            &found, err);
    if (code == COLANDER_OK)
        assert_true(found);
    return code;
}

static enum colander_code
append_name(struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    code = colander_path_append_name(&text, BYTES("a.b"), err);
    assert_int_equal(text.size, code == COLANDER_OK ? 4 : 0);
    colander_buffer_release(&text);
    return code;
}

static void
a_path_is_followed_and_told_or_memory_is_short(void **state)
{
    (void)state;
    assert_true(failures_of(get_one) >= 1);
    assert_true(failures_of(append_name) >= 1);
}

/* ------------------------------------------------------------------ keys ---
 */

static char long_text[1000];

/* Over a key that is there, and which a failure leaves as it is. */
static enum colander_code
encode_over(struct colander_error *err)
{
    struct colander_value part =
        colander_string(colander_slice_of(long_text, sizeof(long_text)));
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    uint8_t old[4];
    enum colander_code code;

    code = colander_key_text("ab", &key, err);
    if (code == COLANDER_OK) {
        memcpy(old, key.data, sizeof(old));
        code = colander_key_encode(&part, 1, &key, err);
        if (code == COLANDER_OK)
            assert_int_equal(key.size, 1 + 2 * sizeof(long_text) + 1);
        else
            assert_true(colander_slice_equal(colander_buffer_slice(&key),
                                             colander_slice_of(old, 4)));
    }
    colander_buffer_release(&key);
    return code;
}

static enum colander_code
generate(struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_key_generate(&key, err);

    assert_int_equal(key.size, code == COLANDER_OK ? 28 : 0);
    colander_buffer_release(&key);
    return code;
}

static enum colander_code
decode_escaped(struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    size_t count;

    code = colander_key_decode(BYTES("\x30\0\xff\0\x30\0\xff\0"), parts, &count,
                               &scratch, err);
    assert_int_equal(count, code == COLANDER_OK ? 2 : 0);
    colander_buffer_release(&scratch);
    return code;
}

static void
a_key_is_replaced_or_stays(void **state)
{
    (void)state;
    assert_int_equal(failures_of(encode_over), 2);
    assert_int_equal(failures_of(generate), 1);
}

static void
a_key_is_decoded_or_memory_is_short(void **state)
{
    (void)state;
    assert_int_equal(failures_of(decode_escaped), 1);
}

/* ------------------------------------------------------------------ JSON ---
 */

/* Appending fails with the text before it as it was. */
static enum colander_code
append_json_row(struct colander_error *err)
{
    struct colander_slice key = BYTES("\x30\0\xff\0\x1a\x05");
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    code = colander_buffer_append(&json, "[", 1, err);
    if (code == COLANDER_OK) {
        code = colander_json_append_row(&json, key,
                                        colander_buffer_slice(&large_row), err);
        assert_int_equal(json.data[0], '[');
        assert_int_equal(json.size > 1, code == COLANDER_OK);
    }
    colander_buffer_release(&json);
    return code;
}

static void
a_row_is_printed_or_memory_is_short(void **state)
{
    (void)state;
    assert_true(failures_of(append_json_row) >= 4);
}

static struct colander_buffer large_json;

/* A failure changes nothing: a reader that failed reads on. */
static enum colander_code
read_json_row(struct colander_error *err)
{
    struct colander_slice text = colander_buffer_slice(&large_json);
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_slice key, row;
    enum colander_code code;
    bool has_key;

    if (reader == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no reader");
    code = colander_json_reader_row(reader, text, &key, &has_key, &row, err);
    allocations_left = -1;
    if (code != COLANDER_OK) {
        assert_int_equal(row.size, 0);
        assert_int_equal(
            colander_json_reader_row(reader, text, &key, &has_key, &row, NULL),
            COLANDER_OK);
    }
    assert_true(has_key);
    assert_true(colander_slice_equal(row, colander_buffer_slice(&large_row)));
    colander_json_reader_destroy(reader);
    return code;
}

static void
a_row_is_read_or_memory_is_short(void **state)
{
    struct colander_slice key = BYTES("\x30\0\xff\0\x1a\x05");

    (void)state;
    assert_int_equal(colander_json_append_row(&large_json, key,
                                              colander_buffer_slice(&large_row),
                                              NULL),
                     COLANDER_OK);
    assert_true(failures_of(read_json_row) >= 10);
    colander_buffer_release(&large_json);
}

/* ------------------------------------------------------------- questions ---
 */

static enum colander_code
make_question(struct colander_error *err)
{
    static struct colander_predicate *predicate;
    struct question *question;
    enum colander_code code;

    if (predicate == NULL) {
        long left = allocations_left;

        allocations_left = -1;
        predicate =
            colander_where("a.b", COLANDER_LT, colander_integer(5), NULL);
        allocations_left = left;
    }
    code = question_create(predicate, &question, err);
    assert_int_equal(question != NULL, code == COLANDER_OK);
    question_destroy(question);
    if (code == COLANDER_OK) {
        colander_predicate_destroy(predicate);
        predicate = NULL;
    }
    return code;
}

static enum colander_code
hash_path(struct colander_error *err)
{
    uint64_t hash;

    return path_hash_of_text("a.b[]", &hash, err);
}

static enum colander_code
count_matched(struct colander_error *err)
{
    static const char *const paths[] = {"a", "b", "c", "d", "e",
                                        "f", "g", "h", "i"};
    const struct colander_columns columns = {paths, 9, false};
    struct matched *matched = matched_create();
    enum colander_code code;

    if (matched == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    code = matched_add(matched, columns, err);
    matched_destroy(matched);
    return code;
}

static void
a_find_is_planned_and_counted_or_memory_is_short(void **state)
{
    (void)state;
    assert_int_equal(failures_of(make_question), 1);
    assert_int_equal(failures_of(hash_path), 1);
    assert_int_equal(failures_of(count_matched), 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_checked_or_memory_is_short),
        cmocka_unit_test(a_mistake_is_told_also_without_memory),
        cmocka_unit_test(a_row_is_built_or_memory_is_short),
        cmocka_unit_test(a_row_is_cut_down_or_memory_is_short),
        cmocka_unit_test(a_row_is_patched_or_memory_is_short),
        cmocka_unit_test(a_path_is_followed_and_told_or_memory_is_short),
        cmocka_unit_test(a_key_is_replaced_or_stays),
        cmocka_unit_test(a_key_is_decoded_or_memory_is_short),
        cmocka_unit_test(a_row_is_printed_or_memory_is_short),
        cmocka_unit_test(a_row_is_read_or_memory_is_short),
        cmocka_unit_test(a_find_is_planned_and_counted_or_memory_is_short),
    };

    return cmocka_run_group_tests(tests, row_create, row_release);
}
