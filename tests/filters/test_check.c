/*
 * Checks of value filters: they find nothing wrong with good filters, and
 * report and repair one that denies a value of its SST (I1, I5).
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filter_builder.h"
#include "filters/filter_file.h"
#include "support/cases.h"
#include "support/filter_files.h"
#include "support/random_rows.h"
#include "support/scoped.h"

#define KEYS 3000

/* Its filters are rebuilt once one has been opened for a check; NULL: none. The
 * linker redirects the calls here. */
static struct colander_family *refiltered_next;

enum colander_code __real_filter_file_check(const struct filter_file *file,
                                            struct colander_error *err);
enum colander_code __wrap_filter_file_check(const struct filter_file *file,
                                            struct colander_error *err);

enum colander_code
__wrap_filter_file_check(const struct filter_file *file,
                         struct colander_error *err)
{
    struct colander_family *family = refiltered_next;

    refiltered_next = NULL;
    if (family != NULL)
        OK(colander_family_refilter(family, NULL, NULL));
    return __real_filter_file_check(file, err);
}

struct findings {
    unsigned count;
    char file[300];
    char what[700];
};

static void
note_finding(void *context, const char *file, const char *what)
{
    struct findings *findings = context;

    findings->count++;
    (void)snprintf(findings->file, sizeof(findings->file), "%s", file);
    (void)snprintf(findings->what, sizeof(findings->what), "%s", what);
}

static struct colander_check
check(struct store_fixture *fixture, bool repairs, struct findings *findings)
{
    struct colander_check totals = {.file_count = 0};

    memset(findings, 0, sizeof(*findings));
    OK(colander_store_check(fixture->store, &totals, note_finding, findings,
                            NULL));
    OK(colander_store_check_filters(fixture->store, repairs, &totals,
                                    note_finding, findings, NULL));
    return totals;
}

static void
put_rows(struct store_fixture *fixture, struct colander_family *family,
         uint64_t *random)
{
    put_random_rows(fixture, family, KEYS, KEYS, random);
    OK(colander_family_flush(family, NULL));
}

FIXTURE_TEST(good_filters_deny_nothing)
{
    static const uint32_t segments[] = {0, 1, 16, 256, COLANDER_SEGMENT_AUTO};
    struct colander_family *family = kept_family(fixture, "rows");
    uint64_t random = random_seed(__func__);
    static const char *const left_out[] = {"place", "likes"};
    struct findings findings;

    for (unsigned i = 0; i < 3; i++)
        put_rows(fixture, family, &random);
    for (size_t i = 0; i < COUNT(segments); i++) {
        struct colander_filter_options options = usual_filters();
        struct colander_check totals;

        options.rows_per_segment = segments[i];
        options.unfiltered = left_out;
        options.unfiltered_count = i % 3;
        OK(colander_family_set_filters(family, &options, NULL));
        OK(colander_family_refilter(family, NULL, NULL));
        totals = check(fixture, i % 2 == 0, &findings);
        if (findings.count > 0)
            fail_msg("%s: %s", findings.file, findings.what);
        assert_int_equal(totals.finding_count + totals.leftover_count, 0);
        assert_true(totals.filter_count > 0 && totals.row_count > KEYS / 2);
        assert_true(totals.value_count > totals.row_count);
    }
}

/* It used to be reported as damaged: half of the old file had been read. */
FIXTURE_TEST(filter_that_is_rebuilt_meanwhile_is_not_damaged)
{
    struct colander_family *family = kept_family(fixture, "rows");
    uint64_t random = random_seed(__func__);
    struct colander_check totals;
    struct findings findings;

    put_rows(fixture, family, &random);
    refiltered_next = family;
    totals = check(fixture, false, &findings);
    assert_null(refiltered_next);
    if (findings.count > 0)
        fail_msg("%s: %s", findings.file, findings.what);
    assert_int_equal(totals.filter_count, 1);
    assert_int_equal(totals.finding_count, 0);
}

/* Puts a row of unique values. */
static void
put_only_row(struct store_fixture *fixture, struct colander_family *family,
             struct colander_slice key)
{
    struct colander_slice row;
    char text[32];

    for (unsigned i = 0; i < 8; i++) {
        (void)snprintf(text, sizeof(text), "only here %u", i);
        colander_row_builder_add(fixture->builder, text, colander_text(text));
    }
    OK(colander_row_builder_finish(fixture->builder, &row, NULL));
    OK(colander_family_put(family, key, row, NULL, NULL));
}

/* Replaces the filter at `path` by one of the same SST that was built from
 * another row in place of that of `key`. */
static void
forge_filter(struct store_fixture *fixture, struct colander_family *family,
             const char *path, struct colander_slice key)
{
    char forged[FILE_NAME_SIZE + 8];
    struct filter_builder *builder;
    struct colander_filter_options options = usual_filters();
    struct settings *settings;
    struct filter_file *file;
    struct filter_head head;
    struct colander_cursor *cursor;
    struct colander_result result;
    bool is_row = true;

    OK(filter_file_open(path, NULL, &file, NULL));
    head = file->head;
    filter_file_unref(file);
    (void)snprintf(forged, sizeof(forged), "%s.new", path);
    OK(settings_create(&options, &settings, NULL));
    OK(filter_builder_create(forged, settings, &builder, NULL));
    OK(colander_family_find(family, NULL, &cursor, NULL));
    while (is_row) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (is_row) {
            const struct sst_entry entry = {
                .key = result.key,
                .value = colander_slice_equal(result.key, key)
                             ? fixture_row(fixture, "other", colander_text("x"))
                             : result.row,
                .block = SST_BLOCK_UNKNOWN,
                .is_put = true};

            OK(filter_builder_add(builder, &entry, NULL));
        }
    }
    colander_cursor_close(cursor);
    OK(filter_builder_finish(builder, head.tag, head.entry_count, NULL));
    filter_builder_destroy(builder);
    settings_unref(settings);
    ZERO(rename(forged, path));
}

FIXTURE_TEST(a_filter_that_denies_a_value_is_reported)
{
    struct colander_family *family = kept_family(fixture, "rows");
    uint64_t random = random_seed(__func__);
    struct file_numbers filters;
    struct colander_check totals;
    struct findings findings;
    SCOPED_BUFFER key = text_key("only");
    char path[FILE_NAME_SIZE];

    put_only_row(fixture, family, colander_buffer_slice(&key));
    put_rows(fixture, family, &random);
    assert_all_loaded(family);
    list_filters(fixture, &filters);
    assert_int_equal(filters.count, 1);
    assert_true(find_filter(fixture, filters.numbers[0], path));
    forge_filter(fixture, family, path, colander_buffer_slice(&key));

    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    totals = check(fixture, false, &findings);
    assert_int_equal(totals.finding_count, 1);
    assert_non_null(strstr(findings.what, "it denies"));
    assert_string_equal(findings.file, strstr(path, "filters/"));

    fixture_reopen(fixture, COLANDER_OPEN_EXISTING);
    totals = check(fixture, true, &findings);
    assert_int_equal(totals.finding_count, 1);
    assert_int_equal(totals.repaired_count, 1);
    totals = check(fixture, false, &findings);
    assert_int_equal(totals.finding_count, 0);
}
