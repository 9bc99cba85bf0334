/*
 * Filter files: what was written is read. test_filter_file_damage.c has what
 * was damaged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter_model.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

static char directory[TEMPORARY_SIZE];
static char path[TEMPORARY_SIZE + 16];

static int
directory_create(void **state)
{
    (void)state;
    temporary_make(directory);
    (void)snprintf(path, sizeof(path), "%s/a.filter", directory);
    return 0;
}

static int
directory_remove(void **state)
{
    (void)state;
    temporary_remove(directory);
    return 0;
}

static void
write_model(const struct model *model)
{
    struct colander_error err;

    if (model_write(model, path, &err) != COLANDER_OK)
        fail_msg("%s", err.message);
}

/* ---------------------------------------------------------- roundtrips --- */

static void
files_read_back_as_they_were_written(void **state)
{
    uint64_t random = random_seed("filter_file");
    uint64_t runs = random_runs(60);

    (void)state;
    for (uint64_t run = 0; run < runs; run++) {
        struct model *model = model_create(&random, run % 10 == 0 ? 60 : 4,
                                           run % 10 == 0 ? 100000 : 3000);
        struct block_cache *cache = block_cache_create(1 << 20);
        struct filter_file *file;

        write_model(model);
        assert_int_equal(filter_file_open(path, &file, NULL), COLANDER_OK);
        assert_true(model_is_described_by(model, file));
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(model_compare_blocks(model, file, cache),
                             MODEL_SAME);
        assert_int_equal(filter_file_check(file, NULL), COLANDER_OK);
        filter_file_close(file);
        block_cache_destroy(cache);
        model_destroy(model);
        assert_int_equal(unlink(path), 0);
    }
}

static void
a_place_without_a_block_is_an_error(void **state)
{
    struct model *model = model_tiny();
    struct block_cache *cache = block_cache_create(1 << 20);
    struct cached_block *block;
    struct colander_error err;
    struct filter_file *file;
    uint32_t first;

    (void)state;
    write_model(model);
    assert_int_equal(filter_file_open(path, &file, NULL), COLANDER_OK);
    assert_int_equal(filter_file_block(file, cache, filter_file_part(file, 0),
                                       FILTER_PRESENCE, 0, &block, &first,
                                       &err),
                     COLANDER_CORRUPT);
    assert_non_null(strstr(err.message, path));
    /* The keys of the second part begin with unit 3. */
    assert_int_equal(filter_file_block(file, cache, filter_file_part(file, 1),
                                       FILTER_KEYS, 2, &block, &first, NULL),
                     COLANDER_CORRUPT);
    assert_int_equal(filter_file_block(file, cache, filter_file_part(file, 1),
                                       FILTER_KEYS, 3, &block, &first, NULL),
                     COLANDER_OK);
    assert_int_equal(first, 3);
    block_cache_release(cache, block);
    filter_file_close(file);
    block_cache_destroy(cache);
    model_destroy(model);
    unlink(path);
}

/* -------------------------------------------------------------- golden --- */

static void
golden_file_is_written_but_for_its_salt(void **state)
{
    struct model *model = model_golden();
    struct bytes written;
    uint8_t expected[sizeof(golden)];

    (void)state;
    write_model(model);
    written = bytes_read(path);
    assert_int_equal(written.size, sizeof(golden));
    memcpy(expected, golden, sizeof(golden));
    memcpy(expected + 16, written.data + 16, 8); /* the salt */
    memcpy(expected + 51, written.data + 16, 8);
    bytes_sum(expected, 24, 7, bytes_number(written.data + 16));
    bytes_sum(expected, 39, 4, bytes_number(written.data + 16));
    bytes_sum_directory(expected, sizeof(expected));
    assert_memory_equal(written.data, expected, sizeof(expected));
    bytes_free(&written);
    model_destroy(model);
    unlink(path);
}

static void
golden_file_is_read(void **state)
{
    struct model *model = model_golden();
    struct block_cache *cache = block_cache_create(1 << 20);
    struct filter_file *file;

    (void)state;
    bytes_write(path, golden, sizeof(golden));
    assert_int_equal(filter_file_open(path, &file, NULL), COLANDER_OK);
    assert_true(model_is_described_by(model, file));
    assert_int_equal(model_compare_blocks(model, file, cache), MODEL_SAME);
    assert_int_equal(filter_file_check(file, NULL), COLANDER_OK);
    assert_int_equal(filter_file_size(file), sizeof(golden));
    assert_int_equal(filter_file_kind_size(file, FILTER_LOCATOR), 15);
    assert_int_equal(filter_file_kind_size(file, FILTER_KEYS), 12);
    assert_int_equal(filter_file_kind_size(file, FILTER_ZONES), 0);
    filter_file_close(file);
    block_cache_destroy(cache);
    model_destroy(model);
    unlink(path);
}

static void
two_files_have_two_ids_and_one_opened_twice_has_one(void **state)
{
    struct model *model = model_tiny();
    struct filter_file *files[3];

    (void)state;
    write_model(model);
    assert_int_equal(filter_file_open(path, &files[0], NULL), COLANDER_OK);
    assert_int_equal(filter_file_open(path, &files[1], NULL), COLANDER_OK);
    unlink(path);
    write_model(model);
    assert_int_equal(filter_file_open(path, &files[2], NULL), COLANDER_OK);
    assert_int_equal(filter_file_id(files[0]), filter_file_id(files[1]));
    assert_int_not_equal(filter_file_id(files[0]), filter_file_id(files[2]));
    for (size_t i = 0; i < 3; i++)
        filter_file_close(files[i]);
    model_destroy(model);
    unlink(path);
}

static void
vanished_file_is_not_found_and_another_in_its_place_is_damage(void **state)
{
    struct model *model = model_tiny();
    struct block_cache *cache = block_cache_create(1 << 20);
    struct cached_block *block;
    struct colander_error err;
    struct filter_file *file;
    uint32_t first;

    (void)state;
    write_model(model);
    assert_int_equal(filter_file_open(path, &file, NULL), COLANDER_OK);
    unlink(path);
    assert_int_equal(filter_file_check(file, &err), COLANDER_NOT_FOUND);
    assert_int_equal(filter_file_block(file, cache, filter_file_part(file, 0),
                                       FILTER_LOCATOR, 0, &block, &first, &err),
                     COLANDER_NOT_FOUND);
    assert_non_null(strstr(err.message, path));
    write_model(model);
    assert_int_equal(filter_file_check(file, &err), COLANDER_CORRUPT);
    assert_int_equal(filter_file_block(file, cache, filter_file_part(file, 0),
                                       FILTER_LOCATOR, 0, &block, &first, &err),
                     COLANDER_CORRUPT);
    assert_null(block);
    filter_file_close(file);
    unlink(path);
    assert_int_equal(filter_file_open(path, &file, &err), COLANDER_NOT_FOUND);
    assert_int_equal(filter_file_open(directory, &file, &err),
                     COLANDER_CORRUPT);
    block_cache_destroy(cache);
    model_destroy(model);
}

/* -------------------------------------------------------------- writing --- */

/* A limit on the size of files does what a full disk does. */
static void
full_disk_is_told_and_leaves_no_file(void **state)
{
    uint64_t random = 5;
    struct model *model = NULL;
    struct rlimit before;
    size_t size = 0;

    (void)state;
    while (size < 100000) {
        struct bytes whole;

        if (model != NULL)
            model_destroy(model);
        model = model_create(&random, 3, 30000);
        write_model(model);
        whole = bytes_read(path);
        size = whole.size;
        bytes_free(&whole);
        unlink(path);
    }
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (size_t limit = 0; limit < size; limit += 1 + size / 50) {
        struct rlimit lower = before;
        struct colander_error err;
        enum colander_code code;

        lower.rlim_cur = limit;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &lower), 0);
        code = model_write(model, path, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(code, COLANDER_IO);
        assert_non_null(strstr(err.message, path));
        assert_int_equal(access(path, F_OK), -1);
    }
    (void)signal(SIGXFSZ, SIG_DFL);
    write_model(model);
    unlink(path);
    model_destroy(model);
}

static void
writer_keeps_off_an_existing_file_and_makes_private_ones(void **state)
{
    struct filter_writer *writer;
    struct stat status;

    (void)state;
    bytes_write(path, golden, 10);
    assert_int_equal(filter_writer_create(path, &writer, NULL),
                     COLANDER_EXISTS);
    assert_null(writer);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 10);
    unlink(path);
    assert_int_equal(filter_writer_create(path, &writer, NULL), COLANDER_OK);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    filter_writer_destroy(writer);
    assert_int_equal(access(path, F_OK), -1);
    filter_writer_destroy(NULL);
}

static void
writer_refuses_what_no_reader_would_take(void **state)
{
    const struct colander_slice block = colander_slice_text("block");
    struct model *model = model_golden();
    struct filter_part part = model->parts[0].part;
    struct filter_writer *writer;

    (void)state;
    assert_int_equal(filter_writer_create(path, &writer, NULL), COLANDER_OK);
    assert_int_equal(filter_writer_block(writer, FILTER_KEYS, block, 7, NULL),
                     COLANDER_OK);
    assert_int_equal(filter_writer_block(writer, FILTER_KEYS, block, 7, NULL),
                     COLANDER_INVALID);
    assert_int_equal(filter_writer_finish(writer, &model->head, NULL),
                     COLANDER_INVALID);
    part.shape.row_count = 7;
    assert_int_equal(filter_writer_part_end(writer, &part, NULL),
                     COLANDER_INVALID);
    part.shape.row_count = 8;
    part.shape.fine = 3;
    assert_int_equal(filter_writer_part_end(writer, &part, NULL),
                     COLANDER_INVALID);
    part.shape.fine = 1;
    assert_int_equal(filter_writer_part_end(writer, &part, NULL), COLANDER_OK);
    model->head.left_out_count = FILTER_LEFT_OUT_MAX + 1;
    assert_int_equal(filter_writer_finish(writer, &model->head, NULL),
                     COLANDER_INVALID);
    filter_writer_destroy(writer);
    model_destroy(model);
}

/* ------------------------------------------------------------- threads --- */

struct readers {
    const struct model *model;
    const struct filter_file *file;
    struct block_cache *cache;
};

static void *
read_all(void *argument)
{
    const struct readers *readers = argument;
    enum model_answer answer = MODEL_SAME;

    for (unsigned i = 0; i < 5 && answer == MODEL_SAME; i++)
        answer =
            model_compare_blocks(readers->model, readers->file, readers->cache);
    return answer == MODEL_SAME ? NULL : argument;
}

static void
threads_read_the_same_file(void **state)
{
    uint64_t random = random_seed("filter_file");
    struct model *model = model_create(&random, 5, 3000);
    struct filter_file *file;
    struct readers readers;
    pthread_t threads[4];

    (void)state;
    write_model(model);
    assert_int_equal(filter_file_open(path, &file, NULL), COLANDER_OK);
    readers.model = model;
    readers.file = file;
    readers.cache = block_cache_create(100000);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers),
                         0);
    for (size_t i = 0; i < 4; i++) {
        void *wrong;

        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    filter_file_close(file);
    block_cache_destroy(readers.cache);
    model_destroy(model);
    unlink(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_read_back_as_they_were_written),
        cmocka_unit_test(a_place_without_a_block_is_an_error),
        cmocka_unit_test(golden_file_is_written_but_for_its_salt),
        cmocka_unit_test(golden_file_is_read),
        cmocka_unit_test(two_files_have_two_ids_and_one_opened_twice_has_one),
        cmocka_unit_test(
            vanished_file_is_not_found_and_another_in_its_place_is_damage),
        cmocka_unit_test(full_disk_is_told_and_leaves_no_file),
        cmocka_unit_test(
            writer_keeps_off_an_existing_file_and_makes_private_ones),
        cmocka_unit_test(writer_refuses_what_no_reader_would_take),
        cmocka_unit_test(threads_read_the_same_file),
    };

    return cmocka_run_group_tests_name("filter_file", tests, directory_create,
                                       directory_remove);
}
