/*
 * Tags: a filter under the name of another SST is doubted and rebuilt; a
 * rebuilt filter is used.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "columns/store.h"
#include "filters/context.h"
#include "filters/live.h"
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"

#define ROWS 100

/* A filter of this family gets another state once it has been replaced on disk;
 * NULL: none. The linker redirects the calls here. */
static struct colander_family *changed_next;
static unsigned publish_count;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
enum colander_code __real_filter_publish(struct filter_names *names,
                                         const char *path, uint64_t number,
                                         uint64_t size,
                                         struct colander_error *err);
enum colander_code __wrap_filter_publish(struct filter_names *names,
                                         const char *path, uint64_t number,
                                         uint64_t size,
                                         struct colander_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

/* Does what the worker may do at this moment, with what it read before. */
static void
change_state(struct colander_family *family, uint64_t number)
{
    struct filters *filters = store_hooks_context(family->store);
    struct sst_file *file = registry_find(&filters->registry, number);

    assert_non_null(file);
    OK(registry_change(&filters->registry, file, FILE_OPEN, file->filter,
                       NULL));
    sst_file_unref(&filters->registry, file);
}

enum colander_code
__wrap_filter_publish(struct filter_names *names, const char *path,
                      uint64_t number, uint64_t size,
                      struct colander_error *err)
{
    const enum colander_code code =
        __real_filter_publish(names, path, number, size, err);

    if (changed_next == NULL)
        return code;
    publish_count++;
    if (publish_count == 1)
        change_state(changed_next, number);
    return code;
}

/* Writes a file of ROWS rows, each with a unique value from `n` on. */
static void
write_file(struct store_fixture *fixture, struct colander_family *family,
           int64_t n)
{
    for (int64_t i = n; i < n + ROWS; i++) {
        char key[32];

        snprintf(key, sizeof(key), "%d", (int)i);
        OK(put_text(fixture, family, key, "n", colander_integer(i), NULL));
    }
    OK(colander_family_flush(family, NULL));
}

static struct colander_family *
reopen(struct store_fixture *fixture)
{
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    return kept_family(fixture, "rows");
}

static void
assert_found(struct store_fixture *fixture, struct colander_family *family)
{
    struct find_counts counts = {.row_count = 0};

    for (int64_t n = 0; n < 2 * ROWS; n++) {
        assert_int_equal(compare_equal(fixture->store, family, "n",
                                       colander_integer(n), &counts),
                         1);
    }
    assert_int_equal(counts.plans[COLANDER_PLAN_SCAN], 0);
    assert_int_equal(counts.files_unsure, 0);
}

/* Both SSTs have the same number of entries. */
FIXTURE_TEST(filter_of_another_sst_is_doubted_and_rebuilt)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct file_numbers filters;
    char paths[2][FILE_NAME_SIZE];

    write_file(fixture, family, 0);
    write_file(fixture, family, ROWS);
    fixture_close(fixture);
    list_filters(fixture, &filters);
    assert_int_equal(filters.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(find_filter(fixture, filters.numbers[i], paths[i]));
    copy_file(paths[0], paths[1]);

    fixture->options.mode = COLANDER_OPEN_READ_ONLY;
    fixture_open(fixture);
    family = kept_family(fixture, "rows");
    for (int64_t n = 0; n < 2 * ROWS; n++)
        assert_int_equal(count_equal(fixture, family, "n", n), 1);
    assert_int_equal(filter_stats(family).damaged_count, 1);

    family = reopen(fixture);
    for (int64_t n = 0; n < 2 * ROWS; n++)
        assert_int_equal(count_equal(fixture, family, "n", n), 1);
    assert_all_loaded(family);
    assert_int_equal(filter_stats(family).damaged_count, 1);
    assert_int_equal(filter_stats(family).rebuilt_count, 1);
    family = reopen(fixture);
    assert_found(fixture, family);
    assert_int_equal(filter_stats(family).damaged_count, 0);
}

/* Also if the SST has no tag, because it was written without a filter. */
FIXTURE_TEST(filters_that_were_rebuilt_are_used)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_filter_options options = usual_filters();
    uint64_t count;

    options.is_on = false;
    OK(colander_family_set_filters(family, &options, NULL));
    write_file(fixture, family, 0);
    options.is_on = true;
    OK(colander_family_set_filters(family, &options, NULL));
    write_file(fixture, family, ROWS);
    OK(colander_family_refilter(family, &count, NULL));
    assert_int_equal(count, 2);
    assert_found(fixture, family);
    assert_int_equal(filter_stats(family).damaged_count, 0);
    family = reopen(fixture);
    assert_found(fixture, family);
    assert_all_loaded(family);
    assert_int_equal(filter_stats(family).damaged_count, 0);
    assert_int_equal(filter_stats(family).rebuilt_count, 0);
}

/* Its old filter would be looked for under the name of the new one. */
FIXTURE_TEST(a_filter_that_is_loaded_while_it_is_replaced_is_replaced)
{
    struct colander_family *family = kept_family(fixture, "rows");

    write_file(fixture, family, 0);
    assert_all_loaded(family);
    changed_next = family;
    OK(colander_family_refilter(family, NULL, NULL));
    changed_next = NULL;
    assert_int_equal(publish_count, 1);
    for (int64_t n = 0; n < ROWS; n++)
        assert_int_equal(count_equal(fixture, family, "n", n), 1);
    assert_all_loaded(family);
    assert_int_equal(filter_stats(family).damaged_count, 0);
}

/* There is no tag to look for in it. */
FIXTURE_TEST(an_sst_that_cannot_be_opened_is_an_error)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct filters *filters = store_hooks_context(family->store);
    struct sst_file *file;
    char path[SST_PATH_MAX];

    write_file(fixture, family, 0);
    assert_all_loaded(family);
    file = registry_next(&filters->registry, 0, FILE_LOADED);
    assert_non_null(file);
    assert_true(engine_sst_path(filters->engine, file->number, path));
    sst_file_unref(&filters->registry, file);
    flip_from_end(path, 1);
    FAILS(colander_family_refilter(family, NULL, why()), COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), "cannot open SST"));
    flip_from_end(path, 1);
    OK(colander_family_refilter(family, NULL, NULL));
    assert_all_loaded(family);
    assert_int_equal(filter_stats(family).damaged_count, 0);
}

static void
make_file(const char *path)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    ZERO(fclose(file));
}

/* The filter of an SST that could not be written, and one that a crash left
 * under the number of a new SST. */
FIXTURE_TEST(filters_without_an_sst_are_removed)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct filters *filters = store_hooks_context(fixture->store);
    const struct sst_observer observer = observer_of(filters);
    struct sst_created failed = {.family = 7, .is_tagged = true};
    const struct sst_created made = {
        .family = 7, .number = 900000, .size = 100, .is_ok = true};
    char path[FILTER_PATH_MAX];

    write_file(fixture, family, 0);
    filter_tag_draw(&filters->names, failed.tag);
    assert_true(filter_path_of_tag(&filters->names, failed.tag, path));
    make_file(path);
    observer.created(observer.context, &failed);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(
        filter_path_of_sst(&filters->names, made.number, made.size, path));
    make_file(path);
    observer.created(observer.context, &made);
    assert_int_not_equal(access(path, F_OK), 0);
    observer.deleted(observer.context, made.number);
}
