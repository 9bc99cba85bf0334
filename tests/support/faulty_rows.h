/*
 * Rows in groups, written by a process with faults, and what must be found of
 * them. Each group is written atomically, in one batch or as one row, so that
 * all its rows have the same version.
 *
 * What was begun and what was acknowledged is recorded in shared memory, which
 * outlives the process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FAULTY_ROWS_H
#define TESTS_SUPPORT_FAULTY_ROWS_H

#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/history.h"
#include "support/io_faults.h"
#include "support/scoped.h"

#include <sys/mman.h>

#define GROUPS 48
#define MEMBERS 4 /* of a group, at most */
#define FAMILIES 2
#define BULK_ROWS 60

/* The state of something that exists completely or not at all. */
enum whole { NOT_BEGUN, MAYBE, IS_THERE, IS_GONE };

/* Shared with the process. The version of a group lies between what was
 * acknowledged and what was begun. */
struct progress {
    struct history groups[GROUPS];
    _Atomic(unsigned) bulk;                /* enum whole */
    _Atomic(uint64_t) counts[FAULT_KINDS]; /* calls that were counted */
    _Atomic(uint64_t) written;             /* bytes */
    _Atomic(uint64_t) failed_count;        /* calls that reported an error */
    atomic_bool is_met;
    atomic_bool is_stopped; /* writes failed after the fault was repaired */
};

/* --------------------------------------------------------------- groups --- */

/* A third of them are patched, a third put as one row, a third as several. */
static inline bool
group_is_patched(uint64_t group)
{
    return group % 3 == 0;
}

static inline uint64_t
group_member_count(uint64_t group)
{
    return group % 3 == 1 ? 1 : 2 + group % 3;
}

static inline uint64_t
group_family(uint64_t group, uint64_t member)
{
    return (group / 3 + member) % FAMILIES;
}

static inline bool
version_is_row(uint64_t version)
{
    return version % 5 != 0; /* otherwise deleted, or not yet written */
}

static inline void
group_key(uint64_t group, uint64_t member, struct colander_buffer *key)
{
    faults_hold(true);
    (void)integer_key(group * MEMBERS + member, key);
    faults_hold(false);
}

/* Depends only on its arguments. Patched groups always have the same columns.
 * Borrowed until the builder is next used. */
static inline struct colander_slice
group_row(struct colander_row_builder *builder, uint64_t group, uint64_t member,
          uint64_t version)
{
    uint64_t random = (group * MEMBERS + member) * 1000003 + version;
    struct colander_slice row;
    char text[300];

    faults_hold(true);
    colander_row_builder_add(builder, "version",
                             version_text(group, version, text));
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        text[i] = (char)('a' + random_below(&random, 26));
    text[sizeof(text) - 1] = '\0';
    colander_row_builder_add(builder, "text", colander_text(text));
    colander_row_builder_add(
        builder, "member", colander_integer((int64_t)random_below(&random, 9)));
    if (!group_is_patched(group))
        random_columns(builder, &random);
    OK(colander_row_builder_finish(builder, &row, NULL));
    faults_hold(false);
    return row;
}

static inline void
bulk_key(uint64_t index, struct colander_buffer *key)
{
    group_key(index, 0, key);
}

/* ------------------------------------------------------------- checking --- */

/* Checks whether the rows of the group are those of that version. */
static inline enum colander_code
group_has_version(struct colander_family *const families[FAMILIES],
                  struct colander_row_builder *builder, uint64_t group,
                  uint64_t version, bool *has_all, struct colander_error *err)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    *has_all = true;
    for (uint64_t i = 0; i < group_member_count(group) && *has_all; i++) {
        bool found;

        group_key(group, i, &key);
        code = colander_family_get(families[group_family(group, i)],
                                   colander_buffer_slice(&key), NULL, &row,
                                   &found, err);
        if (code != COLANDER_OK)
            break;
        *has_all = found == version_is_row(version);
        if (*has_all && found)
            *has_all =
                colander_slice_equal(colander_buffer_slice(&row),
                                     group_row(builder, group, i, version));
    }
    return code;
}

/* Returns the version of the group's rows. Fails the test if they may not have
 * it. */
static inline enum colander_code
find_version(struct colander_family *const families[FAMILIES],
             struct colander_row_builder *builder,
             const struct progress *progress, uint64_t group, uint64_t *version,
             struct colander_error *err)
{
    const uint64_t done = atomic_load(&progress->groups[group].acknowledged);
    const uint64_t begun = atomic_load(&progress->groups[group].begun);

    for (*version = done; *version <= begun; ++*version) {
        bool has_all;
        enum colander_code code = group_has_version(families, builder, group,
                                                    *version, &has_all, err);

        if (code != COLANDER_OK || has_all)
            return code;
    }
    fail_msg("group %llu: its rows are not those of one of the versions %llu "
             "to %llu",
             (unsigned long long)group, (unsigned long long)done,
             (unsigned long long)begun);
    return COLANDER_OK;
}

/* All groups have versions that they may have, and are found by them as by a
 * scan. */
static inline void
check_groups(struct colander_store *store,
             struct colander_family *const families[FAMILIES],
             struct colander_row_builder *builder,
             const struct progress *progress, struct find_counts *counts)
{
    for (uint64_t group = 0; group < GROUPS; group++) {
        uint64_t found = 0;
        uint64_t version;
        char text[48];

        if (find_version(families, builder, progress, group, &version, why()) !=
            COLANDER_OK)
            fail_msg("a get failed: %s", error_text());
        for (size_t i = 0; i < FAMILIES; i++)
            found += compare_equal(store, families[i], "version",
                                   version_text(group, version, text), counts);
        assert_int_equal(
            found, version_is_row(version) ? group_member_count(group) : 0);
    }
}

/* All rows of the bulk exist, or none, as it was reported. */
static inline void
check_bulk(struct colander_store *store, const struct progress *progress)
{
    const enum whole bulk = (enum whole)atomic_load(&progress->bulk);
    struct colander_family *family;
    uint64_t count;

    OK(colander_family_open(store, "bulk", &family, NULL));
    count = colander_family_exists(family) ? count_rows(family) : 0;
    colander_family_close(family);
    if (count != 0 && count != BULK_ROWS)
        fail_msg("%llu rows of a bulk", (unsigned long long)count);
    if (bulk == IS_THERE)
        assert_int_equal(count, BULK_ROWS);
    if (bulk == IS_GONE || bulk == NOT_BEGUN)
        assert_int_equal(count, 0);
}

static inline void
report_finding(void *context, const char *file, const char *what)
{
    (void)context;
    printf("  %s: %s\n", file, what);
}

/* Nothing in the store is damaged, and no filter denies a value. */
static inline void
check_files(struct colander_store *store)
{
    struct colander_check check;

    memset(&check, 0, sizeof(check));
    OK(colander_store_check(store, &check, report_finding, NULL, NULL));
    OK(colander_store_check_filters(store, false, &check, report_finding, NULL,
                                    NULL));
    if (check.finding_count > 0)
        fail_msg("%llu files are damaged",
                 (unsigned long long)check.finding_count);
}

/* Writes all groups once more, so that their versions are certain. */
static inline void
settle_groups(struct colander_store *store,
              struct colander_family *const families[FAMILIES],
              struct colander_row_builder *builder, struct progress *progress)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;

    OK(colander_batch_create(store, &batch, NULL));
    for (uint64_t group = 0; group < GROUPS; group++) {
        const uint64_t next =
            atomic_load(&progress->groups[group].begun) / 5 * 5 + 6;

        for (uint64_t i = 0; i < group_member_count(group); i++) {
            group_key(group, i, &key);
            OK(colander_batch_put(batch, families[group_family(group, i)],
                                  colander_buffer_slice(&key),
                                  group_row(builder, group, i, next), NULL));
        }
        history_settle(&progress->groups[group], next);
    }
    OK(colander_batch_commit(batch, NULL, NULL));
}

/* Every SST of the store has its filter, and there are no other filters. */
static inline void
check_filters(const struct store_fixture *fixture)
{
    struct colander_family *families[8];
    SCOPED(colander_names_release) struct colander_names names;

    OK(colander_store_families(fixture->store, &names, NULL));
    assert_in_range(names.count, 0, 8);
    for (size_t i = 0; i < names.count; i++) {
        OK(colander_family_open(fixture->store, names.names[i], &families[i],
                                NULL));
        OK(colander_family_flush(families[i], NULL));
        assert_all_loaded(families[i]);
    }
    assert_filters_of_ssts(fixture, families, names.count);
    for (size_t i = 0; i < names.count; i++)
        colander_family_close(families[i]);
}

/* Opens the store of a process with faults, without faults: it has what was
 * acknowledged, can be written, and every SST gets its filter. */
static inline void
check_store(const char *path, struct progress *progress, uint64_t *random)
{
    struct store_fixture fixture = {.store = NULL};
    struct find_counts counts = {.row_count = 0};
    struct colander_family *families[FAMILIES];

    (void)snprintf(fixture.directory, sizeof(fixture.directory), "%s", path);
    fixture.builder = colander_row_builder_create();
    colander_options_init(&fixture.options);
    OK(colander_store_open(path, &fixture.options, &fixture.store, why()));
    families[0] = fixture_family(&fixture, "first");
    families[1] = fixture_family(&fixture, "second");
    check_groups(fixture.store, families, fixture.builder, progress, &counts);
    check_bulk(fixture.store, progress);
    check_files(fixture.store);
    settle_groups(fixture.store, families, fixture.builder, progress);
    check_filters(&fixture);
    for (size_t i = 0; i < FAMILIES; i++)
        compare_random_finds(fixture.store, families[i], GROUPS * MEMBERS, 4,
                             random, &counts);
    check_groups(fixture.store, families, fixture.builder, progress, &counts);
    for (size_t i = 0; i < FAMILIES; i++)
        colander_family_close(families[i]);
    colander_row_builder_destroy(fixture.builder);
    fixture_close(&fixture);
}

#endif
