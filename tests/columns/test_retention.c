/*
 * Policies of retention: kept with their family, and in force only in the store
 * and for the time column for which they were set.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/retention.h"
#include "support/store_fixture.h"

#include <stdio.h>
#include <unistd.h>

static const char *const words[] = {"level=debug", "user!=root", "level=info"};

static const struct colander_keep keeps[] = {
    {words, 2, 3600}, {words + 2, 1, INT64_MAX}, {NULL, 0, 1}};

static struct colander_retention
some_policy(void)
{
    struct colander_retention retention;

    colander_retention_init(&retention);
    retention.keeps = keeps;
    retention.keep_count = 3;
    retention.size_max = UINT64_MAX - 1;
    return retention;
}

/* A family with a row that is older than the policy keeps, and one that is not.
 */
static struct colander_family *
prepare(struct store_fixture *fixture)
{
    struct colander_family *family = kept_family(fixture, "rows");

    for (int64_t i = 0; i < 2; i++)
        put_at(family, i,
               fixture_row(fixture, "at", colander_timestamp(i * 10, 0)));
    OK(colander_family_set_time_column(fixture->store, family, "at", NULL));
    return family;
}

static enum colander_retention_state
state_of(struct colander_family *family)
{
    struct colander_retention *retention;
    enum colander_retention_state state;

    OK(colander_family_retention(family, &retention, &state, why()));
    assert_int_equal(retention == NULL, state == COLANDER_RETENTION_NONE);
    colander_retention_destroy(retention);
    return state;
}

static void
assert_policy(struct colander_family *family)
{
    struct colander_retention *retention;
    enum colander_retention_state state;

    OK(colander_family_retention(family, &retention, &state, why()));
    assert_int_equal(state, COLANDER_RETENTION_IN_FORCE);
    assert_int_equal(retention->keep_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(retention->keeps[i].seconds, keeps[i].seconds);
        assert_int_equal(retention->keeps[i].word_count, keeps[i].word_count);
        for (size_t j = 0; j < keeps[i].word_count; j++)
            assert_string_equal(retention->keeps[i].words[j],
                                keeps[i].words[j]);
    }
    assert_true(retention->size_max == UINT64_MAX - 1);
    colander_retention_destroy(retention);
}

static void
set(struct colander_family *family)
{
    const struct colander_retention retention = some_policy();

    OK(colander_family_set_retention(family, &retention, why()));
}

/* Applies the family's own policy. Returns the number of rows deleted. */
static uint64_t
apply(struct colander_family *family)
{
    struct colander_retained done;

    OK(colander_family_retain(family, NULL, NULL, &done, why()));
    return done.row_count;
}

static void
refuses(struct colander_family *family, enum colander_code code,
        const char *part)
{
    struct colander_retained done;

    FAILS(colander_family_retain(family, NULL, NULL, &done, why()), code);
    if (strstr(error_text(), part) == NULL)
        fail_msg("'%s' is not in: %s", part, error_text());
    assert_int_equal(done.row_count, 0);
    assert_int_equal(count_rows(family), 2);
}

/* ------------------------------------------------------------ one store --- */

FIXTURE_TEST(a_policy_is_kept_replaced_applied_and_removed)
{
    struct colander_family *family = prepare(fixture);
    struct colander_retention other = some_policy();

    assert_int_equal(state_of(family), COLANDER_RETENTION_NONE);
    refuses(family, COLANDER_NOT_FOUND, "has no retention");
    other.keep_count = 1;
    OK(colander_family_set_retention(family, &other, why()));
    set(family);
    assert_policy(family);
    fixture_reopen(fixture, COLANDER_OPEN_EXISTING);
    family = kept_family(fixture, "rows");
    assert_policy(family);
    assert_int_equal(count_rows(family), 2);
    assert_int_equal(apply(family), 1);
    assert_int_equal(apply(family), 0);
    OK(colander_family_set_retention(family, NULL, why()));
    assert_int_equal(state_of(family), COLANDER_RETENTION_NONE);
    OK(colander_family_set_retention(family, NULL, why()));
}

/* Not read while the files show that all fit, also with overwritten rows. */
FIXTURE_TEST(rows_are_read_for_their_size_if_they_may_exceed_it)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained done;
    uint64_t size;

    colander_retention_init(&retention);
    colander_retain_options_init(&options);
    for (int64_t i = 0; i < 2000; i++)
        put_at(family, i, fixture_row(fixture, "at", colander_timestamp(i, 0)));
    OK(colander_family_set_time_column(fixture->store, family, "at", NULL));
    options.counts = true;
    retention.size_max = UINT64_C(1) << 40;
    OK(colander_family_retain(family, &retention, &options, &done, why()));
    size = done.size;
    options.counts = false;
    for (unsigned is_flushed = 0; is_flushed < 2; is_flushed++) {
        retention.size_max = UINT64_C(1) << 40;
        OK(colander_family_retain(family, &retention, &options, &done, why()));
        assert_false(done.is_counted);
        retention.size_max = size;
        OK(colander_family_retain(family, &retention, &options, &done, why()));
        assert_true(done.is_counted);
        assert_int_equal(done.row_count, 0);
        OK(colander_family_flush(family, NULL));
    }
    retention.size_max = 2 * size; /* each key has 8 bytes more in a file */
    OK(colander_family_retain(family, &retention, &options, &done, why()));
    assert_false(done.is_counted);
    for (int64_t i = 0; i < 2000; i++)
        put_at(family, i, fixture_row(fixture, "at", colander_timestamp(i, 0)));
    OK(colander_family_flush(family, NULL));
    OK(colander_family_retain(family, &retention, &options, &done, why()));
    assert_true(done.is_counted);
    assert_int_equal(done.row_count, 0);
    retention.size_max = size - 1;
    OK(colander_family_retain(family, &retention, &options, &done, why()));
    assert_int_equal(done.row_count, 1);
}

/* Rows that come after a dry call let no others go. */
FIXTURE_TEST(what_was_asked_is_deleted_and_no_more)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained asked, done;

    colander_retention_init(&retention);
    colander_retain_options_init(&options);
    for (int64_t i = 0; i < 100; i++)
        put_at(family, i, fixture_row(fixture, "at", colander_timestamp(i, 0)));
    OK(colander_family_set_time_column(fixture->store, family, "at", NULL));
    options.is_dry = true;
    for (int64_t round = 0; round < 2; round++) {
        retention.size_max = round == 0 ? UINT64_C(1) << 40 : 1000;
        OK(colander_family_retain(family, &retention, &options, &asked, why()));
        assert_int_equal(asked.row_count == 0, round == 0);
        for (int64_t i = 0; i < 50; i++)
            put_at(family, 100 + 50 * round + i,
                   fixture_row(fixture, "at",
                               colander_timestamp(100 + 50 * round + i, 0)));
        options.is_dry = false;
        options.asked = &asked;
        retention.size_max = 1000;
        OK(colander_family_retain(family, &retention, &options, &done, why()));
        assert_int_equal(done.row_count, asked.row_count);
        options.is_dry = true;
        options.asked = NULL;
        OK(colander_family_retain(family, &retention, &options, &done, why()));
        assert_true(done.row_count >= 50);
    }
}

FIXTURE_TEST(each_family_has_its_own_policy)
{
    struct colander_family *family = prepare(fixture);
    struct colander_family *other = kept_family(fixture, "other");

    OK(colander_family_create(other, NULL));
    OK(colander_family_set_time_column(fixture->store, other, "at", NULL));
    set(family);
    assert_int_equal(state_of(other), COLANDER_RETENTION_NONE);
    set(other);
    assert_policy(family);
    assert_policy(other);
    OK(colander_family_set_retention(other, NULL, why()));
    assert_int_equal(apply(family), 1);
}

static void
refuses_policy(struct colander_family *family,
               const struct colander_retention *retention, const char *part)
{
    struct colander_retained done;

    FAILS(colander_family_set_retention(family, retention, why()),
          COLANDER_INVALID);
    if (strstr(error_text(), part) == NULL)
        fail_msg("'%s' is not in: %s", part, error_text());
    FAILS(colander_family_retain(family, retention, NULL, &done, why()),
          COLANDER_INVALID);
    assert_int_equal(state_of(family), COLANDER_RETENTION_NONE);
    assert_int_equal(count_rows(family), 2);
}

FIXTURE_TEST(a_policy_that_makes_no_sense_is_refused)
{
    struct colander_family *family = prepare(fixture);
    const char *const wrong = "level=[";
    const char *const clock = "at<@now-1d";
    struct colander_keep some[2] = {{NULL, 0, 5}, {NULL, 0, 5}};
    struct colander_retention retention;

    colander_retention_init(&retention);
    refuses_policy(family, &retention, "keeps every row");
    retention.size_max = 0;
    refuses_policy(family, &retention, "at least a byte is kept");
    retention.size_max = UINT64_MAX;
    retention.keeps = some;
    retention.keep_count = 2;
    refuses_policy(family, &retention, "comes last");
    retention.keep_count = 1;
    some[0].seconds = 0;
    refuses_policy(family, &retention, "a second at least");
    some[0].seconds = 5;
    some[0].words = &wrong;
    some[0].word_count = 1;
    refuses_policy(family, &retention, "");
    some[0].words = &clock;
    refuses_policy(family, &retention, "@now cannot be used here");
    some[0].word_count = 0;
    OK(colander_family_set_time_column(fixture->store, family, "", NULL));
    refuses_policy(family, &retention, "has no time column");
    memset(&retention, 0, sizeof(retention));
    refuses_policy(family, &retention, "not initialized");
}

FIXTURE_TEST(a_family_that_does_not_exist_has_no_policy)
{
    struct colander_family *family = kept_family(fixture, "none");
    const struct colander_retention retention = some_policy();
    struct colander_retained done;

    assert_int_equal(state_of(family), COLANDER_RETENTION_NONE);
    FAILS(colander_family_set_retention(family, &retention, why()),
          COLANDER_NOT_FOUND);
    FAILS(colander_family_set_retention(family, NULL, why()),
          COLANDER_NOT_FOUND);
    FAILS(colander_family_retain(family, &retention, NULL, &done, why()),
          COLANDER_NOT_FOUND);
    assert_false(colander_family_exists(family));
}

FIXTURE_TEST(a_store_that_is_read_only_is_only_counted)
{
    struct colander_family *family = prepare(fixture);
    const struct colander_retention retention = some_policy();
    struct colander_retain_options options;
    struct colander_retained done;

    set(family);
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    family = kept_family(fixture, "rows");
    assert_policy(family);
    FAILS(colander_family_set_retention(family, &retention, why()),
          COLANDER_READ_ONLY);
    refuses(family, COLANDER_READ_ONLY, "");
    colander_retain_options_init(&options);
    options.is_dry = true;
    OK(colander_family_retain(family, NULL, &options, &done, why()));
    assert_int_equal(done.row_count, 1);
    assert_int_equal(count_rows(family), 2);
}

/* ------------------------------------------------------------- families --- */

FIXTURE_TEST(a_renamed_family_keeps_its_policy)
{
    struct colander_family *family = prepare(fixture);

    set(family);
    OK(colander_family_rename(family, "others", why()));
    assert_policy(family);
    fixture_reopen(fixture, COLANDER_OPEN_EXISTING);
    assert_policy(kept_family(fixture, "others"));
    family = kept_family(fixture, "rows");
    OK(colander_family_create(family, NULL));
    assert_int_equal(state_of(family), COLANDER_RETENTION_NONE);
}

FIXTURE_TEST(a_copy_of_a_family_has_no_policy)
{
    struct colander_family *family = prepare(fixture);
    struct colander_family *copy = kept_family(fixture, "copy");

    set(family);
    OK(colander_family_copy(family, NULL, copy, NULL, NULL, NULL, why()));
    assert_int_equal(state_of(copy), COLANDER_RETENTION_NONE);
    refuses(copy, COLANDER_NOT_FOUND, "has no retention");
}

FIXTURE_TEST(a_dropped_family_leaves_no_policy)
{
    SCOPED_FAMILY family = NULL;
    SCOPED_FAMILY again = NULL;

    set(prepare(fixture));
    family = fixture_family(fixture, "rows");
    OK(colander_family_drop(family, why()));
    again = fixture_family(fixture, "rows");
    OK(colander_family_create(again, NULL));
    assert_int_equal(state_of(again), COLANDER_RETENTION_NONE);
}

FIXTURE_TEST(another_time_column_pauses_a_policy)
{
    struct colander_family *family = prepare(fixture);

    set(family);
    OK(colander_family_set_time_column(fixture->store, family, "old", NULL));
    assert_int_equal(state_of(family), COLANDER_RETENTION_PAUSED_TIME);
    refuses(family, COLANDER_INVALID, "another time column");
    OK(colander_family_set_time_column(fixture->store, family, "", NULL));
    assert_int_equal(state_of(family), COLANDER_RETENTION_PAUSED_TIME);
    OK(colander_family_set_time_column(fixture->store, family, "at", NULL));
    assert_int_equal(apply(family), 1);
}

/* ------------------------------------------------------------- changes --- */

/* Another policy, none, or another time column, from when 1,000 rows are
 * deleted. */
struct change {
    struct store_fixture *fixture;
    struct colander_family *family;
    unsigned what;
};

static bool
change_policy(void *context, uint64_t row_count)
{
    struct change *change = context;
    struct colander_retention other = some_policy();

    other.keep_count = 1;
    if (row_count < 1000)
        return true;
    if (change->what == 0)
        OK(colander_family_set_retention(change->family, &other, why()));
    else if (change->what == 1)
        OK(colander_family_set_retention(change->family, NULL, why()));
    else
        OK(colander_family_set_time_column(change->fixture->store,
                                           change->family, "other", why()));
    return true;
}

FIXTURE_TEST(a_policy_that_is_changed_meanwhile_is_not_applied_further)
{
    for (unsigned what = 0; what < 6; what++) {
        struct change change = {.fixture = fixture, .what = what / 2};
        struct colander_retain_options options;
        struct colander_retained done;

        change.family = kept_family(fixture, "rows");
        for (int64_t i = 0; i < 2000; i++)
            put_at(change.family, i,
                   fixture_row(fixture, "at", colander_timestamp(i, 0)));
        OK(colander_family_set_time_column(fixture->store, change.family, "at",
                                           NULL));
        set(change.family);
        colander_retain_options_init(&options);
        options.yields = what % 2 == 0;
        options.goes_on = change_policy;
        options.context = &change;
        FAILS(
            colander_family_retain(change.family, NULL, &options, &done, why()),
            COLANDER_CANCELLED);
        assert_int_equal(done.row_count, 1000);
        assert_int_equal(count_rows(change.family), 1000);
        OK(colander_family_drop(change.family, NULL));
    }
}

/* -------------------------------------------------------------- copies --- */

/* Sets a policy, closes the store, and makes a copy of it with `command`, which
 * is open then. Returns its family. */
static struct colander_family *
open_copy(struct store_fixture *fixture, const char *command)
{
    char whole[3 * TEMPORARY_SIZE];

    set(prepare(fixture));
    fixture_close(fixture);
    (void)snprintf(whole, sizeof(whole), command, fixture->directory,
                   fixture->directory);
    ZERO(system(whole)); // NOLINT(cert-env33-c)
    fixture_open(fixture);
    return kept_family(fixture, "rows");
}

/* The policy is there, and does nothing until it is set again. */
static void
assert_paused(struct store_fixture *fixture, const char *path)
{
    struct colander_store *store;
    struct colander_family *family;

    (void)fixture;
    OK(colander_store_open(path, NULL, &store, why()));
    OK(colander_family_open(store, "rows", &family, why()));
    assert_int_equal(state_of(family), COLANDER_RETENTION_PAUSED_STORE);
    refuses(family, COLANDER_INVALID, "restored or salvaged");
    set(family);
    assert_policy(family);
    assert_int_equal(apply(family), 1);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
}

static void
path_beside(const struct store_fixture *fixture, const char *name,
            char path[TEMPORARY_SIZE + 16])
{
    (void)snprintf(path, TEMPORARY_SIZE + 16, "%s.%s", fixture->directory,
                   name);
}

FIXTURE_TEST(a_restored_store_pauses_its_policies)
{
    struct colander_family *family = prepare(fixture);
    char backups[TEMPORARY_SIZE + 16];
    char restored[TEMPORARY_SIZE + 16];

    path_beside(fixture, "backups", backups);
    path_beside(fixture, "restored", restored);
    set(family);
    OK(colander_store_backup(fixture->store, backups, 0, NULL, why()));
    assert_policy(family); /* a backup does not pause it */
    OK(colander_backup_restore(backups, 0, restored, NULL, why()));
    assert_paused(fixture, restored);
    temporary_remove(restored);
    temporary_remove(backups);
    assert_policy(family);
}

/* What reads while rows are deleted, from between two batches. */
struct readers {
    struct store_fixture *fixture;
    struct colander_family *family;
    struct colander_predicate *where;
    struct colander_cursor *cursors[2]; /* of a scan, and of candidates */
    const char *backups;
    uint64_t backed_up; /* rows at the moment of the backup */
};

static bool
begin_reading(void *context, uint64_t row_count)
{
    struct readers *readers = context;
    struct colander_query query = usual_query();
    struct colander_result row;
    bool is_row;

    for (size_t i = 0; i < 2 && row_count == 0; i++) {
        if (readers->cursors[i] != NULL)
            continue;
        query.where = i == 0 ? NULL : readers->where;
        OK(colander_family_find(readers->family, &query, &readers->cursors[i],
                                why()));
        OK(colander_cursor_next(readers->cursors[i], &is_row, &row, why()));
        assert_true(is_row);
    }
    if (row_count > 0 && readers->backed_up == 0) {
        readers->backed_up = count_rows(readers->family);
        OK(colander_store_backup(readers->fixture->store, readers->backups, 0,
                                 NULL, why()));
    }
    return true;
}

static uint64_t
count_rest(struct colander_cursor *cursor)
{
    struct colander_result row;
    uint64_t count = 0;
    bool is_row = true;

    for (;; count++) {
        OK(colander_cursor_next(cursor, &is_row, &row, why()));
        if (!is_row)
            break;
    }
    colander_cursor_close(cursor);
    return count;
}

FIXTURE_TEST(finds_and_backups_that_have_begun_keep_rows_that_become_old)
{
    const struct colander_keep keep = {NULL, 0, 500};
    SCOPED_PREDICATE old =
        colander_where("at", COLANDER_LT, colander_timestamp(100, 0), why());
    struct readers readers = {.fixture = fixture, .where = old};
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained done;
    struct colander_store *store;
    char backups[TEMPORARY_SIZE + 16];
    char restored[TEMPORARY_SIZE + 16];

    path_beside(fixture, "backups", backups);
    path_beside(fixture, "restored", restored);
    readers.backups = backups;
    readers.family = kept_family(fixture, "rows");
    for (int64_t i = 0; i < 3000; i++)
        put_at(readers.family, i,
               fixture_row(fixture, "at", colander_timestamp(i, 0)));
    OK(colander_family_set_time_column(fixture->store, readers.family, "at",
                                       NULL));
    OK(colander_family_flush(readers.family, NULL));
    colander_retention_init(&retention);
    retention.keeps = &keep;
    retention.keep_count = 1;
    colander_retain_options_init(&options);
    options.goes_on = begin_reading;
    options.context = &readers;
    OK(colander_family_retain(readers.family, &retention, &options, &done,
                              why()));
    assert_int_equal(done.row_count, 2499);
    assert_int_equal(count_rest(readers.cursors[0]), 3000 - 1);
    assert_int_equal(count_rest(readers.cursors[1]), 100 - 1);
    assert_in_range(readers.backed_up, 502, 2999);
    OK(colander_backup_restore(backups, 0, restored, NULL, why()));
    OK(colander_store_open(restored, NULL, &store, why()));
    OK(colander_family_open(store, "rows", &readers.family, why()));
    assert_int_equal(count_rows(readers.family), readers.backed_up);
    colander_family_close(readers.family);
    OK(colander_store_close(store, NULL));
    temporary_remove(restored);
    temporary_remove(backups);
}

/* A restore from the store itself, and not from a backup. */
FIXTURE_TEST(a_copied_store_pauses_its_policies)
{
    char restored[TEMPORARY_SIZE + 16];

    path_beside(fixture, "restored", restored);
    set(prepare(fixture));
    fixture_close(fixture);
    OK(colander_backup_restore(fixture->directory, 0, restored, NULL, why()));
    fixture_open(fixture);
    assert_paused(fixture, restored);
    temporary_remove(restored);
}

FIXTURE_TEST(a_salvaged_store_pauses_its_policies)
{
    struct colander_salvage salvage;
    struct colander_store *store;
    char salvaged[TEMPORARY_SIZE + 16];

    path_beside(fixture, "salvaged", salvaged);
    set(prepare(fixture));
    fixture_close(fixture);
    OK(colander_store_open(salvaged, NULL, &store, why()));
    OK(colander_store_salvage(store, fixture->directory, &salvage, NULL, NULL,
                              why()));
    OK(colander_store_close(store, NULL));
    fixture_open(fixture);
    assert_paused(fixture, salvaged);
    temporary_remove(salvaged);
}

FIXTURE_TEST(a_store_that_lost_what_ties_its_policies_pauses_them)
{
    struct colander_family *family =
        open_copy(fixture, "test -s '%s/ORIGINAL' && rm '%s/ORIGINAL'");

    assert_int_equal(state_of(family), COLANDER_RETENTION_PAUSED_STORE);
    refuses(family, COLANDER_INVALID, "restored or salvaged");
    set(family);
    assert_int_equal(apply(family), 1);
}

FIXTURE_TEST(what_is_no_tie_is_none)
{
    struct colander_family *family =
        open_copy(fixture, "test -s '%s/ORIGINAL' && echo >'%s/ORIGINAL'");

    assert_int_equal(state_of(family), COLANDER_RETENTION_PAUSED_STORE);
    set(family);
    assert_policy(family);
}

/* ---------------------------------------------------------------- bytes --- */

static void
write_mark(struct store_fixture *fixture, struct colander_family *family,
           struct colander_slice mark)
{
    SCOPED_BATCH batch = NULL;

    OK(colander_batch_create(fixture->store, &batch, NULL));
    OK(colander_batch_mark(batch, family, colander_slice_text("retention"),
                           mark, NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
}

#define BYTES(text) colander_slice_of((text), sizeof(text))

FIXTURE_TEST(a_policy_of_a_later_version_is_not_applied)
{
    struct colander_family *family = prepare(fixture);

    write_mark(fixture, family, BYTES("2\0x\0at\0forever\0yes"));
    refuses(family, COLANDER_TOO_NEW, "version 2");
    set(family);
    assert_policy(family);
}

FIXTURE_TEST(a_damaged_policy_is_not_applied)
{
    struct colander_family *family = prepare(fixture);
    const struct colander_slice damaged[] = {
        BYTES("1"),
        BYTES("1\0x"),
        BYTES("1\0x\0at"),
        BYTES("1\0x\0at\0keep"),
        BYTES("1\0x\0at\0keep\0"),
        BYTES("1\0x\0at\0keep\0000"),
        BYTES("1\0x\0at\0keep\0-5"),
        BYTES("1\0x\0at\0keep\0005s"),
        BYTES("1\0x\0at\0keep\09223372036854775808"),
        BYTES("1\0x\0at\0keep\0005\0keep\0005"),
        BYTES("1\0x\0at\0where\0a=1"),
        BYTES("1\0x\0at\0keep\0005\0where\0a=1"),
        BYTES("1\0x\0at\0where\0a=1\0size\0005\0keep\0005"),
        BYTES("1\0x\0at\0size\00018446744073709551615"),
        BYTES("1\0x\0at\0other\0005"),
        BYTES("1\0x\0at\0keep\0005\0other\0005"),
        colander_slice_of("1\0x\0at\0keep\0005", 13), /* its end is missing */
        colander_slice_of("1", 1),
    };
    struct colander_retention *retention;
    enum colander_retention_state state;

    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        write_mark(fixture, family, damaged[i]);
        FAILS(colander_family_retention(family, &retention, &state, why()),
              COLANDER_CORRUPT);
        assert_null(retention);
        refuses(family, COLANDER_CORRUPT, "retention of family 'rows'");
    }
    write_mark(fixture, family, BYTES("1\0x\0at\0keep\0005"));
    assert_int_equal(state_of(family), COLANDER_RETENTION_PAUSED_STORE);
}
