/*
 * Filter files: what was written is read back. For damaged files see
 * test_filter_file_damage.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter_model.h"
#include "support/cases.h"
#include "support/file_limit.h"
#include "support/scoped.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

/* ---------------------------------------------------------- roundtrips --- */

TEST(files_read_back_as_they_were_written)
{
    uint64_t random = random_seed("filter_file");
    uint64_t runs = random_runs(60);

    for (uint64_t run = 0; run < runs; run++) {
        struct model *model = model_create(&random, run % 10 == 0 ? 60 : 4,
                                           run % 10 == 0 ? 100000 : 3000);
        struct filter_file *file;

        write_model(model);
        file = open_model();
        assert_true(model_is_described_by(model, file));
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(model_compare_blocks(model, file), MODEL_SAME);
        OK(filter_file_check(file, NULL));
        filter_file_unref(file);
        model_destroy(model);
        ZERO(unlink(path));
    }
}

TEST(a_place_without_a_block_is_an_error)
{
    SCOPED_MODEL model = model_tiny();
    struct cached_block *block;
    SCOPED_FILTER_FILE file = NULL;
    uint32_t first;

    write_model(model);
    file = open_model();
    FAILS(filter_file_block(file, &file->parts[0], FILTER_PRESENCE, 0, &block,
                            &first, why()),
          COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), path));
    /* The keys of the second part begin with unit 3. */
    FAILS(filter_file_block(file, &file->parts[1], FILTER_KEYS, 2, &block,
                            &first, NULL),
          COLANDER_CORRUPT);
    OK(filter_file_block(file, &file->parts[1], FILTER_KEYS, 3, &block, &first,
                         NULL));
    assert_int_equal(first, 3);
    block_cache_release(cache, block);
}

/* -------------------------------------------------------------- golden --- */

TEST(golden_file_is_written_but_for_its_salt)
{
    SCOPED_MODEL model = model_golden();
    SCOPED(file_bytes_free) struct file_bytes written;
    uint8_t expected[sizeof(golden)];

    write_model(model);
    written = file_bytes_read(path);
    assert_int_equal(written.size, sizeof(golden));
    memcpy(expected, golden, sizeof(golden));
    memcpy(expected + 16, written.data + 16, 8); /* the salt */
    memcpy(expected + 51, written.data + 16, 8);
    bytes_sum(expected, 24, 7, bytes_get_le64(written.data + 16));
    bytes_sum(expected, 39, 4, bytes_get_le64(written.data + 16));
    bytes_sum_directory(expected, sizeof(expected));
    assert_memory_equal(written.data, expected, sizeof(expected));
}

TEST(golden_file_is_read)
{
    SCOPED_MODEL model = model_golden();
    SCOPED_FILTER_FILE file = NULL;

    bytes_write(path, golden, sizeof(golden));
    file = open_model();
    assert_true(model_is_described_by(model, file));
    assert_int_equal(model_compare_blocks(model, file), MODEL_SAME);
    OK(filter_file_check(file, NULL));
    assert_int_equal(file->size, sizeof(golden));
    assert_int_equal(file->kind_sizes[FILTER_LOCATOR], 15);
    assert_int_equal(file->kind_sizes[FILTER_KEYS], 12);
    assert_int_equal(file->kind_sizes[FILTER_ORDER], 0);
}

/* Compares the file with the model, as an older version has it. */
static void
read_older(const uint8_t *bytes, size_t size, struct model *model)
{
    SCOPED_FILTER_FILE file = NULL;

    bytes_write(path, bytes, size);
    file = open_model();
    model->head.word_column_count = 0;
    model->head.word_columns[0] = 0;
    assert_true(model_is_described_by(model, file));
    assert_int_equal(model_compare_blocks(model, file), MODEL_SAME);
    OK(filter_file_check(file, NULL));
}

/* Version 5 has words of all columns, or none. */
TEST(file_of_the_last_version_is_read)
{
    const size_t end = sizeof(golden) - 40; /* of the directory */
    SCOPED_MODEL model = model_golden();
    uint8_t bytes[sizeof(golden) - GOLDEN_WORD_COLUMNS_SIZE];

    memcpy(bytes, golden, end - GOLDEN_WORD_COLUMNS_SIZE);
    memcpy(bytes + end - GOLDEN_WORD_COLUMNS_SIZE, golden + end, 40);
    bytes[8] = bytes[sizeof(bytes) - 12] = 5;
    bytes[sizeof(bytes) - 32] -= GOLDEN_WORD_COLUMNS_SIZE;
    bytes_sum_directory(bytes, sizeof(bytes));
    read_older(bytes, sizeof(bytes), model);
}

TEST(file_of_version_4_is_read)
{
    SCOPED_MODEL model = model_golden();

    model->head.words_size = 0;
    read_older(golden_4, sizeof(golden_4), model);
}

/* Version 2 has no spans. */
TEST(file_of_version_2_is_read)
{
    const size_t end = sizeof(golden_4) - 40; /* of the directory */
    SCOPED_MODEL model = model_golden();
    uint8_t bytes[sizeof(golden_4) - GOLDEN_SPANS_SIZE];

    memcpy(bytes, golden_4, end - GOLDEN_SPANS_SIZE);
    memcpy(bytes + end - GOLDEN_SPANS_SIZE, golden_4 + end, 40);
    bytes[8] = bytes[sizeof(bytes) - 12] = 2;
    bytes[sizeof(bytes) - 32] -= GOLDEN_SPANS_SIZE;
    bytes_sum_directory(bytes, sizeof(bytes));
    model->span_count = 0;
    model->head.words_version = 0; /* another number was there */
    model->head.words_size = 0;
    read_older(bytes, sizeof(bytes), model);
}

TEST(two_files_have_two_ids_and_one_opened_twice_has_one)
{
    SCOPED_MODEL model = model_tiny();
    struct filter_file *files[3];

    write_model(model);
    files[0] = open_model();
    files[1] = open_model();
    unlink(path);
    write_model(model);
    files[2] = open_model();
    assert_int_equal(files[0]->salt, files[1]->salt);
    assert_int_not_equal(files[0]->salt, files[2]->salt);
    for (size_t i = 0; i < 3; i++)
        filter_file_unref(files[i]);
}

TEST(vanished_file_is_not_found_and_another_in_its_place_is_damage)
{
    SCOPED_MODEL model = model_tiny();
    struct cached_block *block;
    struct filter_file *file;
    uint32_t first;

    write_model(model);
    file = open_model();
    unlink(path);
    FAILS(filter_file_check(file, why()), COLANDER_NOT_FOUND);
    FAILS(filter_file_block(file, &file->parts[0], FILTER_LOCATOR, 0, &block,
                            &first, why()),
          COLANDER_NOT_FOUND);
    assert_non_null(strstr(error_text(), path));
    write_model(model);
    FAILS(filter_file_check(file, why()), COLANDER_CORRUPT);
    FAILS(filter_file_block(file, &file->parts[0], FILTER_LOCATOR, 0, &block,
                            &first, why()),
          COLANDER_CORRUPT);
    assert_null(block);
    filter_file_unref(file);
    unlink(path);
    FAILS(filter_file_open(path, cache, &file, why()), COLANDER_NOT_FOUND);
    FAILS(filter_file_open(directory, cache, &file, why()), COLANDER_CORRUPT);
}

/* -------------------------------------------------------------- writing --- */

/* A file size limit acts like a full disk. */
TEST(full_disk_is_reported_and_leaves_no_file)
{
    uint64_t random = 5;
    struct model *model = NULL;
    size_t size = 0;

    while (size < 100000) {
        struct file_bytes whole;

        if (model != NULL)
            model_destroy(model);
        model = model_create(&random, 3, 30000);
        write_model(model);
        whole = file_bytes_read(path);
        size = whole.size;
        file_bytes_free(&whole);
        unlink(path);
    }
    for (size_t limit = 0; limit < size; limit += 1 + size / 50) {
        enum colander_code code;

        limit_files(limit);
        code = model_write(model, path, why());
        limit_files(RLIM_INFINITY);
        assert_int_equal(code, COLANDER_IO);
        assert_non_null(strstr(error_text(), path));
        assert_int_equal(access(path, F_OK), -1);
    }
    write_model(model);
    unlink(path);
    model_destroy(model);
}

TEST(writer_keeps_off_an_existing_file_and_makes_private_ones)
{
    struct filter_writer *writer;
    struct stat status;

    bytes_write(path, golden, 10);
    FAILS(filter_writer_create(path, &writer, NULL), COLANDER_EXISTS);
    assert_null(writer);
    ZERO(stat(path, &status));
    assert_int_equal(status.st_size, 10);
    unlink(path);
    OK(filter_writer_create(path, &writer, NULL));
    ZERO(stat(path, &status));
    assert_int_equal(status.st_mode & 0777, 0600);
    filter_writer_destroy(writer);
    assert_int_equal(access(path, F_OK), -1);
    filter_writer_destroy(NULL);
}

/* Calls of fdatasync for the whole file. The linker redirects them here. */
static unsigned sync_count;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
/* NOLINTEND(bugprone-reserved-identifier) */

int
__wrap_fdatasync(int fd)
{
    struct filter_file *file = NULL;

    sync_count += filter_file_open(path, cache, &file, NULL) == COLANDER_OK;
    filter_file_unref(file);
    return __real_fdatasync(fd);
}

TEST(a_file_is_synced_once_it_is_complete)
{
    SCOPED_MODEL model = model_tiny();

    sync_count = 0;
    write_model(model);
    assert_int_equal(sync_count, 1);
    ZERO(unlink(path));
}

TEST(writer_refuses_what_no_reader_would_take)
{
    const struct colander_slice block = colander_slice_text("block");
    SCOPED_MODEL model = model_golden();
    struct filter_part part = model->parts[0].part;
    struct filter_writer *writer;

    OK(filter_writer_create(path, &writer, NULL));
    OK(filter_writer_block(writer, FILTER_KEYS, block, 7, NULL));
    FAILS(filter_writer_block(writer, FILTER_KEYS, block, 7, NULL),
          COLANDER_INVALID);
    FAILS(filter_writer_finish(writer, &model->head, NULL, 0, NULL),
          COLANDER_INVALID);
    part.shape.row_count = 7;
    FAILS(filter_writer_part_end(writer, &part, NULL), COLANDER_INVALID);
    part.shape.row_count = 8;
    part.shape.fine = 3;
    FAILS(filter_writer_part_end(writer, &part, NULL), COLANDER_INVALID);
    part.shape.fine = 1;
    OK(filter_writer_part_end(writer, &part, NULL));
    model->head.unfiltered_count = FILTER_PATHS_MAX + 1;
    FAILS(filter_writer_finish(writer, &model->head, NULL, 0, NULL),
          COLANDER_INVALID);
    model->head.unfiltered_count = 0;
    model->head.word_column_count = FILTER_PATHS_MAX + 1;
    FAILS(filter_writer_finish(writer, &model->head, NULL, 0, NULL),
          COLANDER_INVALID);
    filter_writer_destroy(writer);
}

/* ------------------------------------------------------------- threads --- */

struct readers {
    const struct model *model;
    const struct filter_file *file;
};

static void *
read_all(void *argument)
{
    const struct readers *readers = argument;
    enum model_answer answer = MODEL_SAME;

    for (unsigned i = 0; i < 5 && answer == MODEL_SAME; i++)
        answer = model_compare_blocks(readers->model, readers->file);
    return answer == MODEL_SAME ? NULL : argument;
}

TEST(threads_read_the_same_file)
{
    uint64_t random = random_seed("filter_file");
    SCOPED_MODEL model = model_create(&random, 5, 3000);
    struct filter_file *file;
    struct block_cache *small = block_cache_create(100000, 4096);
    struct readers readers;
    pthread_t threads[4];

    write_model(model);
    OK(filter_file_open(path, small, &file, NULL));
    readers.model = model;
    readers.file = file;
    for (size_t i = 0; i < 4; i++)
        ZERO(pthread_create(&threads[i], NULL, read_all, &readers));
    for (size_t i = 0; i < 4; i++) {
        void *wrong;

        ZERO(pthread_join(threads[i], &wrong));
        assert_null(wrong);
    }
    filter_file_unref(file);
    block_cache_destroy(small);
}

int
main(void)
{
    return tests_run(directory_create, directory_remove);
}
