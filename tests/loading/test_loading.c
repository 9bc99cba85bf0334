/*
 * Loads in this process: what is kept of the place, and what comes of it when a
 * load does not go as it should.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/store_fixture.h"

#include "loading/loading.h"
#include "loading/place.h"

#include <sys/stat.h>

/* A store, and a directory for files to be loaded. */
struct load_fixture {
    struct store_fixture *store;
    struct colander_family *family;
    char directory[TEMPORARY_SIZE];
    char file[TEMPORARY_SIZE + 16];
    struct loading_options options;
    struct loading_figures figures;
    struct colander_error err;
};

static int
setup(void **state)
{
    struct load_fixture *it = calloc(1, sizeof(*it));

    OK(fixture_setup((void **)&it->store));
    it->family = fixture_family(it->store, "f");
    temporary_make(it->directory);
    snprintf(it->file, sizeof(it->file), "%s/file", it->directory);
    loading_options_init(&it->options);
    it->options.context = it;
    *state = it;
    return 0;
}

static int
teardown(void **state)
{
    struct load_fixture *it = *state;
    int result;

    colander_family_close(it->family);
    temporary_remove(it->directory);
    result = fixture_teardown((void **)&it->store);
    free(it);
    return result;
}

/* Appends to a file, or makes it. */
static void
append(const char *path, const char *text)
{
    FILE *file = fopen(path, "ae");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static enum colander_code
load(struct load_fixture *it)
{
    const char *const files[] = {it->file};

    return loading_run(it->store->store, it->family, files, 1, &it->options,
                       &it->figures, &it->err);
}

/* ----------------------------------------------------------------- bulks ---
 */

/* Somebody else puts a row, which a bulk will not have beside its own. */
static void
put_row(void *context, const struct loading_figures *figures)
{
    struct load_fixture *it = context;

    (void)figures;
    OK(put_text(it->store, it->family, "other", "a", colander_integer(0),
                NULL));
}

static void
a_bulk_load_that_failed_is_none_to_go_on_from(void **state)
{
    struct load_fixture *it = *state;

    append(it->file, "{\"a\":1}\n{\"a\":2}\n");
    it->options.is_bulk = true;
    it->options.progress = put_row;
    assert_int_not_equal(load(it), COLANDER_OK);
    it->options.is_bulk = false;
    it->options.progress = NULL;
    it->options.resumes = true;
    OK(load(it));
    assert_int_equal(it->figures.files_skipped, 0);
    assert_int_equal(it->figures.row_count, 2);
}

/* ---------------------------------------------------------- large records ---
 */

static enum colander_code
load_sized(struct load_fixture *it, const char *format, size_t size)
{
    char line[4096];

    memset(line, 'x', sizeof(line));
    line[size] = '\0';
    if (strcmp(format, "csv") == 0) {
        append(it->file, "n\n");
    } else {
        memcpy(line, "{\"a\":\"", 6);
        memcpy(line + size - 2, "\"}", 2);
    }
    append(it->file, line);
    append(it->file, "\n");
    it->options.format = format;
    return load(it);
}

/* Though what is read at once is more. */
static void
a_record_over_the_size_that_is_allowed_is_rejected(void **state)
{
    static const char *const formats[] = {"jsonl", "json", "csv"};
    struct load_fixture *it = *state;

    it->options.record_size = 2000;
    for (size_t i = 0; i < 3; i++) {
        OK(load_sized(it, formats[i], 2000));
        assert_int_equal(it->figures.row_count, 1);
        assert_int_equal(it->figures.reject_count, 0);
        assert_int_equal(unlink(it->file), 0);
        OK(load_sized(it, formats[i], 2002));
        assert_int_equal(it->figures.row_count, 0);
        assert_int_equal(it->figures.reject_count, 1);
        assert_int_equal(unlink(it->file), 0);
    }
}

static atomic_bool stops;

static void
stop_behind_a_row(void *context, const struct loading_figures *figures)
{
    (void)context;
    atomic_store(&stops, figures->row_count > 0);
}

/* The place before its first piece is the last there is. */
static void
a_load_that_stops_in_a_large_record_loads_none_before_it_twice(void **state)
{
    struct load_fixture *it = *state;
    char *large = malloc(1000001);
    char rejects[TEMPORARY_SIZE + 16];
    struct stat status;
    uint64_t count;

    snprintf(rejects, sizeof(rejects), "%s/rejects", it->directory);
    it->options.rejects = rejects;
    memset(large, 'x', 1000000);
    large[1000000] = '\0';
    append(it->file, "{\"a\":1}\n");
    append(it->file, large);
    append(it->file, "\n{\"a\":2}\n");
    free(large);
    it->options.record_size = 2000;
    it->options.stops = &stops;
    it->options.progress = stop_behind_a_row;
    assert_int_equal(load(it), COLANDER_CANCELLED);
    it->options.stops = NULL;
    it->options.resumes = true;
    OK(load(it));
    assert_int_equal(it->figures.reject_count, 1);
    OK(colander_family_count(it->family, NULL, &count, NULL));
    assert_int_equal(count, 2);
    assert_int_equal(stat(rejects, &status), 0);
    assert_int_equal(status.st_size, 1000001); /* one line, as it was */
}

static void
mark(struct load_fixture *it, const struct place *place)
{
    struct colander_buffer name = COLANDER_BUFFER_EMPTY;
    struct colander_batch *batch;

    OK(place_name(it->file, &name, NULL));
    OK(colander_batch_create(it->store->store, &batch, NULL));
    OK(place_mark(place, batch, it->family, colander_buffer_slice(&name),
                  NULL));
    OK(colander_batch_commit(batch, COLANDER_AS_STORE, NULL));
    colander_batch_destroy(batch);
    colander_buffer_release(&name);
}

/* So many bytes before the place were reserved to be read. */
static void
a_place_that_can_be_none_is_damage(void **state)
{
    struct load_fixture *it = *state;
    const struct place places[] = {
        {.offset = UINT64_MAX, .tail_size = UINT64_MAX - 1},
        {.offset = 8, .tail_size = 9},
        {.offset = 8, .line_offset = 9},
        {.offset = 8, .format = 4},
        {.offset = 8, .state = (uint64_t)UINT32_MAX + 1},
    };

    append(it->file, "{\"a\":1}\n{\"a\":2}\n");
    it->options.resumes = true;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        mark(it, &places[i]);
        assert_int_equal(load(it), COLANDER_CORRUPT);
        assert_non_null(
            strstr(it->err.message, "the place of an earlier load is none"));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_bulk_load_that_failed_is_none_to_go_on_from, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_record_over_the_size_that_is_allowed_is_rejected, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            a_load_that_stops_in_a_large_record_loads_none_before_it_twice,
            setup, teardown),
        cmocka_unit_test_setup_teardown(a_place_that_can_be_none_is_damage,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
