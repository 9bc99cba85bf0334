/*
 * Loads in this process: what is kept of the place, and what comes of it when a
 * load does not go as it should.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/store_fixture.h"

#include "loading/loading.h"

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_bulk_load_that_failed_is_none_to_go_on_from, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
