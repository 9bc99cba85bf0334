/*
 * Rows in versions, written by a process that may end at any moment, and what
 * must be found of them afterwards.
 *
 * What was begun and what was acknowledged is recorded in shared memory, which
 * outlives the process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_VERSIONED_ROWS_H
#define TESTS_SUPPORT_VERSIONED_ROWS_H

#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/history.h"
#include "support/scoped.h"

#include <pthread.h>
#include <sys/mman.h>

#define KEYS 400
#define KEYS_ALL 3000 /* with those that are settled between two kills */
#define WRITERS 2
#define BATCH_MAX 12

/* The versions of each row: odd ones are deletes. A write under way may have
 * completed or not. */
struct versions {
    atomic_bool is_open; /* the store is */
    bool are_settled;    /* the other rows are written */
    struct history rows[KEYS];
};

/* -------------------------------------------------------------- writers --- */

struct writer {
    struct colander_store *store;
    struct colander_family *family;
    struct versions *versions;
    uint64_t random;
    uint64_t number; /* it writes every WRITERS-th key */
};

/* A text that takes several blocks of a log, or is written in fragments. */
static inline void
add_large(struct colander_row_builder *builder, uint64_t *random)
{
    const uint64_t size_max = random_below(random, 4) == 0 ? 2500000 : 100000;
    const size_t size = random_below(random, size_max);
    SCOPED_MEMORY char *text = malloc(size + 1);

    if (text == NULL)
        DID(COLANDER_NO_MEMORY);
    memset(text, 'a' + (int)random_below(random, 26), size);
    text[size] = '\0';
    colander_row_builder_add(builder, "large", colander_text(text));
}

/* A row with its version; no other version has the same row but by chance. */
static inline struct colander_slice
version_row(struct colander_row_builder *builder, uint64_t index,
            uint64_t version, uint64_t *random)
{
    struct colander_slice row;
    char text[48];

    colander_row_builder_add(builder, "version",
                             version_text(index, version, text));
    random_columns(builder, random);
    if (random_below(random, 200) == 0)
        add_large(builder, random);
    DID(colander_row_builder_finish(builder, &row, NULL));
    return row;
}

/* Adds the next version of a row to the batch. */
static inline void
add_version(struct writer *writer, struct colander_row_builder *builder,
            struct colander_batch *batch, uint64_t index)
{
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    const struct colander_slice key = integer_key(index, &bytes);
    uint64_t version =
        atomic_load(&writer->versions->rows[index].acknowledged) + 1;
    uint64_t choice = random_below(&writer->random, 8);

    if (choice >= 2)
        version += version % 2; /* a put */
    atomic_store(&writer->versions->rows[index].begun, version);
    if (version % 2 != 0)
        DID(colander_batch_delete(batch, writer->family, key, why()));
    else if (choice < 5)
        DID(colander_batch_put(
            batch, writer->family, key,
            version_row(builder, index, version, &writer->random), why()));
    else
        DID(colander_batch_patch(
            batch, writer->family, key,
            version_row(builder, index, version, &writer->random), why()));
}

static inline void
write_batch(struct writer *writer, struct colander_row_builder *builder,
            struct colander_batch *batch)
{
    uint64_t count = 1 + random_below(&writer->random, BATCH_MAX);
    uint64_t first = random_below(&writer->random, KEYS / WRITERS - count);

    for (uint64_t i = first; i < first + count; i++)
        add_version(writer, builder, batch, i * WRITERS + writer->number);
    DID(colander_batch_commit(batch, NULL, why()));
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t index = i * WRITERS + writer->number;

        atomic_store(&writer->versions->rows[index].acknowledged,
                     atomic_load(&writer->versions->rows[index].begun));
    }
}

static inline void *
write_forever(void *context)
{
    struct writer *writer = context;
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_batch *batch;

    DID(colander_batch_create(writer->store, &batch, why()));
    for (;;) {
        write_batch(writer, builder, batch);
        if (random_below(&writer->random, 8) == 0)
            pause_shortly();
    }
    return NULL;
}

static inline void
change_filters(struct colander_family *family, uint64_t *random)
{
    const struct colander_filter_options options = random_filters(random);

    DID(colander_family_set_filters(family, &options, why()));
}

/* Creates another family, writes a row to it, and drops it. */
static inline void
make_and_drop(struct colander_store *store, uint64_t *random)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_FAMILY family = NULL;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    DID(colander_family_open(store, "passing", &family, why()));
    DID(colander_family_put(family, integer_key(0, &key),
                            version_row(builder, 0, 0, random), NULL, why()));
    if (random_below(random, 2) == 0)
        DID(colander_family_flush(family, why()));
    DID(colander_family_drop(family, why()));
}

/* Flushes, compacts and so on, until it is killed. */
static inline void
disturb_forever(struct colander_store *store, struct colander_family *family,
                uint64_t random)
{
    for (;;) {
        switch (random_below(&random, 11)) {
        case 10:
            make_and_drop(store, &random);
            break;
        case 0:
            DID(colander_family_compact(family, why()));
            break;
        case 1:
            DID(colander_family_refilter(family, NULL, why()));
            break;
        case 2:
            change_filters(family, &random);
            break;
        case 3:
        case 4:
        case 5:
            DID(colander_family_flush(family, why()));
            break;
        default:
            pause_shortly();
        }
    }
}

/* The program that is killed: --write <store> <versions> <seed> ... Returns
 * only on failure. */
static inline int
write_until_killed(char **arguments, const struct colander_options *options)
{
    struct writer writers[WRITERS];
    struct colander_store *store;
    struct colander_family *family;
    struct versions *versions = history_map(arguments[3], sizeof(*versions));
    uint64_t random = strtoull(arguments[4], NULL, 10);
    pthread_t thread;

    if (versions == NULL)
        return 3;
    DID(colander_store_open(arguments[2], options, &store, why()));
    DID(colander_family_open(store, "rows", &family, why()));
    atomic_store(&versions->is_open, true);
    for (uint64_t i = 0; i < WRITERS; i++) {
        writers[i] =
            (struct writer){store, family, versions, random_next(&random), i};
        if (pthread_create(&thread, NULL, write_forever, &writers[i]) != 0)
            return 3;
    }
    disturb_forever(store, family, random);
    return 3;
}

/* ------------------------------------------------------------- checking --- */

struct killing {
    struct store_fixture *fixture;
    struct versions *versions;
    uint64_t random;
    struct find_counts reading; /* finds in stores opened for reading */
    struct find_counts writing;
    uint64_t rebuilt_count;
};

static inline uint64_t
count_version(struct killing *killing, struct colander_family *family,
              uint64_t index, uint64_t version, struct find_counts *counts)
{
    char text[48];

    return compare_equal(killing->fixture->store, family, "version",
                         version_text(index, version, text), counts);
}

/* Each row has its acknowledged version, or one that was begun, and is found by
 * its value. */
static inline void
check_versions(struct killing *killing, struct colander_family *family,
               struct find_counts *counts)
{
    struct versions *versions = killing->versions;

    for (uint64_t i = 0; i < KEYS; i++) {
        const uint64_t done = atomic_load(&versions->rows[i].acknowledged);
        const uint64_t begun = atomic_load(&versions->rows[i].begun);
        uint64_t is_done = 0;
        uint64_t is_begun = 0;

        if (done == begun && random_below(&killing->random, 4) != 0)
            continue;
        if (done > 0 && done % 2 == 0)
            is_done = count_version(killing, family, i, done, counts);
        if (begun > done && begun % 2 == 0)
            is_begun = count_version(killing, family, i, begun, counts);
        assert_true(is_done + is_begun <= 1);
        if (done % 2 == 0 && done > 0 && (begun == done || begun % 2 == 0))
            assert_int_equal(is_done + is_begun, 1);
        if (done % 2 != 0 && begun == done)
            assert_int_equal(is_done, 0);
    }
}

/* Writes again what was begun and not acknowledged, so that its version is
 * certain. */
static inline void
settle_versions(struct killing *killing, struct colander_family *family)
{
    struct versions *versions = killing->versions;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t begun = atomic_load(&versions->rows[i].begun);
        uint64_t next = (begun + 2) & ~UINT64_C(1); /* even */

        if (begun == atomic_load(&versions->rows[i].acknowledged))
            continue;
        OK(colander_family_put(
            family, integer_key(i, &key),
            version_row(killing->fixture->builder, i, next, &killing->random),
            NULL, NULL));
        history_settle(&versions->rows[i], next);
    }
}

/* Writes rows that are not written again, so that most finds do not end at rows
 * of the last moments. */
static inline void
settle_others(struct killing *killing, struct colander_family *family)
{
    if (!killing->versions->are_settled)
        put_settled_rows(family, killing->fixture->builder, KEYS, KEYS_ALL,
                         &killing->random);
    killing->versions->are_settled = true;
}

/* Opens the store for reading: nothing in it changes. */
static inline void
check_reading(struct killing *killing)
{
    struct store_fixture *fixture = killing->fixture;
    SCOPED_MEMORY char *before = describe_files(fixture->directory);
    struct colander_family *family;
    SCOPED_MEMORY char *after = NULL;

    fixture->options.mode = COLANDER_OPEN_READ_ONLY;
    fixture_open(fixture);
    family = fixture_family(fixture, "rows");
    check_versions(killing, family, &killing->reading);
    compare_random_finds(fixture->store, family, KEYS_ALL, 20, &killing->random,
                         &killing->reading);
    colander_family_close(family);
    fixture_close(fixture);
    after = describe_files(fixture->directory);
    assert_string_equal(before, after);
}

/* Checks the other family, if its drop was not reached. */
static inline void
drop_passing(struct store_fixture *fixture)
{
    SCOPED_FAMILY family = fixture_family(fixture, "passing");

    if (colander_family_exists(family))
        OK(colander_family_drop(family, NULL));
}

/* Opens it for writing: then every SST has its filter, and no others remain. */
static inline void
check_writing(struct killing *killing)
{
    struct store_fixture *fixture = killing->fixture;
    struct colander_filter_options options;
    struct colander_family *family;

    fixture->options.mode = COLANDER_OPEN_OR_CREATE;
    fixture_open(fixture);
    drop_passing(fixture);
    family = fixture_family(fixture, "rows");
    check_versions(killing, family, &killing->writing);
    compare_random_finds(fixture->store, family, KEYS_ALL, 20, &killing->random,
                         &killing->writing);
    settle_versions(killing, family);
    settle_others(killing, family);
    colander_filter_options_init(&options); /* they may be off */
    OK(colander_family_set_filters(family, &options, NULL));
    assert_all_loaded(family);
    assert_filters_of_ssts(fixture, &family, 1);
    /* with these options, so that most rows can be read directly */
    OK(colander_family_refilter(family, NULL, NULL));
    assert_all_loaded(family);
    compare_random_finds(fixture->store, family, KEYS_ALL, 20, &killing->random,
                         &killing->writing);
    check_versions(killing, family, &killing->writing);
    killing->rebuilt_count += filter_stats(family).rebuilt_count;
    colander_family_close(family);
    fixture_close(fixture);
}

#endif
