/*
 * What a process does while faults occur: it creates a store, writes, flushes,
 * compacts, queries and so on; closes it, opens it, and writes again. Each call
 * succeeds or reports an error, and what is read is right.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FAULT_SCENARIO_H
#define TESTS_SUPPORT_FAULT_SCENARIO_H

#include "columns/bulk.h"
#include "columns/runs.h"
#include "support/faulty_rows.h"
#include "support/scoped.h"

#include <signal.h>
#include <xxhash.h>

#define ROUNDS 4

struct scenario;

typedef void scenario_step(struct scenario *it);

struct scenario {
    const char *path;
    struct progress *progress;
    struct colander_options options;
    struct colander_row_builder *builder;
    struct colander_store *store;
    struct colander_family *families[FAMILIES];
    uint64_t random;
    bool is_memory; /* our memory allocations fail */
    bool is_full;   /* the disk is full */
    bool is_repaired;
    scenario_step *also; /* NULL: nothing */
};

/* --------------------------------------------------------------- errors --- */

/* Checks an error: it is of the fault's kind, has a message, and occurs only
 * with a fault. Returns true if there is no error. */
static inline bool
went_well(struct scenario *it, enum colander_code code,
          const struct colander_error *err)
{
    if (code == COLANDER_OK)
        return true;
    if (code != err->code || err->message[0] == '\0')
        fail_msg("an error of code %d, but with %d in it: '%s'", (int)code,
                 (int)err->code, err->message);
    if (!it->is_full && !faults_were_met())
        fail_msg("without a fault: %s", err->message);
    if (code != (it->is_memory ? COLANDER_NO_MEMORY : COLANDER_IO))
        fail_msg("an error of code %d: %s", (int)code, err->message);
    if (it->is_memory && it->is_repaired)
        fail_msg("with memory: %s", err->message);
    atomic_fetch_add(&it->progress->failed_count, 1);
    if (getenv("COLANDER_TALK") != NULL)
        printf("    %s\n", err->message);
    return false;
}

/* The same for reads: once the fault is repaired, all data can be read. */
static inline bool
read_well(struct scenario *it, enum colander_code code,
          const struct colander_error *err)
{
    const bool is_fine = went_well(it, code, err);

    if (!is_fine && it->is_repaired)
        fail_msg("cannot be read after the fault was repaired: %s",
                 err->message);
    return is_fine;
}

/* --------------------------------------------------------------- writes --- */

static inline enum colander_code
add_member(struct scenario *it, struct colander_batch *batch, uint64_t group,
           uint64_t member, uint64_t version, struct colander_error *err)
{
    struct colander_family *family = it->families[group_family(group, member)];
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    group_key(group, member, &key);
    if (!version_is_row(version))
        code = colander_batch_delete(batch, family, colander_buffer_slice(&key),
                                     err);
    else if (group_is_patched(group))
        code = colander_batch_patch(
            batch, family, colander_buffer_slice(&key),
            group_row(it->builder, group, member, version), err);
    else
        code = colander_batch_put(
            batch, family, colander_buffer_slice(&key),
            group_row(it->builder, group, member, version), err);
    return code;
}

static inline enum colander_code
write_batch(struct scenario *it, uint64_t group, uint64_t version,
            struct colander_error *err)
{
    const bool is_synced = random_below(&it->random, 3) == 0;
    struct colander_write_options options;
    SCOPED_BATCH batch = NULL;
    enum colander_code code = colander_batch_create(it->store, &batch, err);

    colander_write_options_init(&options);
    options.durability = is_synced ? COLANDER_SYNC : COLANDER_NO_SYNC;
    for (uint64_t i = 0; i < group_member_count(group); i++) {
        if (code == COLANDER_OK)
            code = add_member(it, batch, group, i, version, err);
    }
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, &options, err);
    return code;
}

/* Returns a group of one row. */
static inline enum colander_code
write_row(struct scenario *it, uint64_t group, uint64_t version,
          struct colander_error *err)
{
    struct colander_family *family = it->families[group_family(group, 0)];
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    group_key(group, 0, &key);
    if (version_is_row(version))
        code = colander_family_put(family, colander_buffer_slice(&key),
                                   group_row(it->builder, group, 0, version),
                                   NULL, err);
    else
        code = colander_family_delete(family, colander_buffer_slice(&key), NULL,
                                      err);
    return code;
}

static inline void
write_group(struct scenario *it, uint64_t group)
{
    const uint64_t version =
        atomic_load(&it->progress->groups[group].begun) + 1;
    struct colander_error err;
    enum colander_code code;

    atomic_store(&it->progress->groups[group].begun, version);
    code = group_member_count(group) == 1
               ? write_row(it, group, version, &err)
               : write_batch(it, group, version, &err);
    if (went_well(it, code, &err))
        atomic_store(&it->progress->groups[group].acknowledged, version);
}

/* ---------------------------------------------------------------- finds --- */

/* Hashes the rows that a find returns. */
static inline enum colander_code
digest_find(struct colander_family *family, const struct colander_query *query,
            uint64_t *digest, struct colander_error *err)
{
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    bool is_row = true;
    enum colander_code code = colander_family_find(family, query, &cursor, err);

    *digest = 0;
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code != COLANDER_OK || !is_row)
            break;
        *digest =
            XXH3_64bits_withSeed(result.key.data, result.key.size, *digest);
        *digest =
            XXH3_64bits_withSeed(result.row.data, result.row.size, *digest);
    }
    return code;
}

/* A random predicate, or a version of a group; and the same inside two
 * negations, which hide it from filters. */
static inline void
make_predicates(struct scenario *it, struct colander_predicate *made[2])
{
    const uint64_t group = random_below(&it->random, GROUPS);
    const bool is_version = random_below(&it->random, 3) == 0;
    const uint64_t version = atomic_load(&it->progress->groups[group].begun);
    const uint64_t seed = random_next(&it->random);
    char text[48];

    faults_hold(true);
    for (size_t i = 0; i < 2; i++) {
        uint64_t random = seed;

        made[i] = is_version
                      ? colander_where("version", COLANDER_EQ,
                                       version_text(group, version, text), NULL)
                      : random_predicate(&random, 2);
    }
    made[1] = colander_not(colander_not(made[1], NULL), NULL);
    faults_hold(false);
    assert_non_null(made[0]);
    assert_non_null(made[1]);
}

/* A find returns what a scan returns, or reports an error. */
static inline void
find_rows(struct scenario *it, struct colander_family *family)
{
    SCOPED_SNAPSHOT now = NULL;
    struct colander_predicate *predicates[2];
    struct colander_error err;
    uint64_t digests[2];
    enum colander_code code = colander_store_snapshot(it->store, &now, &err);

    make_predicates(it, predicates);
    for (size_t i = 0; i < 2 && code == COLANDER_OK; i++) {
        struct colander_query query = usual_query();

        query.snapshot = now;
        query.where = predicates[i];
        code = digest_find(family, &query, &digests[i], &err);
    }
    if (read_well(it, code, &err) && digests[0] != digests[1])
        fail_msg("a find returns other rows than a scan");
    colander_predicate_destroy(predicates[0]);
    colander_predicate_destroy(predicates[1]);
}

static inline void
read_groups(struct scenario *it, uint64_t step)
{
    for (uint64_t group = random_below(&it->random, step); group < GROUPS;
         group += step) {
        struct colander_error err;
        uint64_t version;

        (void)read_well(it,
                        find_version(it->families, it->builder, it->progress,
                                     group, &version, &err),
                        &err);
    }
}

/* ------------------------------------------------------------- the rest --- */

static inline enum colander_code
add_to_bulk(struct scenario *it, struct colander_bulk *bulk,
            struct colander_error *err)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    for (uint64_t i = 0; i < BULK_ROWS && code == COLANDER_OK; i++) {
        bulk_key(i * 7 % BULK_ROWS, &key);
        code = colander_bulk_add(bulk, colander_buffer_slice(&key),
                                 group_row(it->builder, i, 0, 1), err);
    }
    return code;
}

/* Writes the same rows again, as a run with a mark: nothing changes. */
static inline enum colander_code
write_run(struct scenario *it, struct colander_family *family,
          struct colander_error *err)
{
    struct colander_bulk *run = NULL;
    enum colander_code code = colander_run_create(family, &run, err);

    if (code == COLANDER_OK)
        code = add_to_bulk(it, run, err);
    if (code == COLANDER_OK)
        code = colander_run_mark(run, colander_slice_text("mark"),
                                 colander_slice_text("value"), err);
    if (code == COLANDER_OK)
        code = colander_bulk_commit(run, NULL, err);
    colander_bulk_destroy(run);
    return code;
}

static inline void
load_bulk(struct scenario *it)
{
    SCOPED_FAMILY family = NULL;
    struct colander_bulk *bulk = NULL;
    struct colander_error err;
    enum colander_code code =
        colander_family_open(it->store, "bulk", &family, &err);

    if (code == COLANDER_OK)
        code = colander_bulk_create(family, &bulk, &err);
    if (code == COLANDER_OK)
        code = add_to_bulk(it, bulk, &err);
    if (code == COLANDER_OK) {
        atomic_store(&it->progress->bulk, MAYBE);
        code = colander_bulk_commit(bulk, NULL, &err);
        if (code == COLANDER_OK || it->is_memory)
            atomic_store(&it->progress->bulk,
                         code == COLANDER_OK ? IS_THERE : IS_GONE);
    }
    colander_bulk_destroy(bulk);
    if (went_well(it, code, &err))
        (void)went_well(it, write_run(it, family, &err), &err);
}

/* Removes what an earlier process loaded. */
static inline void
drop_bulk(struct scenario *it)
{
    SCOPED_FAMILY family = NULL;
    struct colander_error err;
    enum colander_code code =
        colander_family_open(it->store, "bulk", &family, &err);

    if (!went_well(it, code, &err))
        return;
    if (colander_family_exists(family)) {
        atomic_store(&it->progress->bulk, MAYBE);
        code = colander_family_drop(family, &err);
        if (went_well(it, code, &err))
            atomic_store(&it->progress->bulk, IS_GONE);
    }
}

/* Creates a family, writes a row to it, and drops it. */
static inline void
make_and_drop(struct scenario *it)
{
    SCOPED_FAMILY family = NULL;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    enum colander_code code =
        colander_family_open(it->store, "passing", &family, &err);

    if (!went_well(it, code, &err))
        return;
    group_key(0, 0, &key);
    code = colander_family_put(family, colander_buffer_slice(&key),
                               group_row(it->builder, 0, 0, 1), NULL, &err);
    if (code == COLANDER_OK)
        code = colander_family_flush(family, &err);
    if (code == COLANDER_OK)
        code = colander_family_drop(family, &err);
    (void)went_well(it, code, &err);
}

static inline void
change_filters(struct scenario *it)
{
    static const char *const left_out[] = {"text"};
    struct colander_filter_options options = usual_filters();
    struct colander_error err;

    options.unfiltered = left_out;
    options.unfiltered_count = random_below(&it->random, 2);
    options.rows_per_segment = random_below(&it->random, 2) == 0 ? 1 : 16;
    (void)went_well(
        it, colander_family_set_filters(it->families[0], &options, &err), &err);
}

/* Filters that are missing or damaged may be those that the fault affected;
 * none may deny a value. */
static inline void
ignore_finding(void *context, const char *file, const char *what)
{
    (void)context;
    (void)file;
    (void)what;
}

static inline void
check_all(struct scenario *it)
{
    struct colander_check check;
    struct colander_error err;

    memset(&check, 0, sizeof(check));
    (void)read_well(
        it, colander_store_check(it->store, &check, ignore_finding, NULL, &err),
        &err);
    (void)read_well(it,
                    colander_store_check_filters(it->store, false, &check,
                                                 ignore_finding, NULL, &err),
                    &err);
}

static inline void
disturb(struct scenario *it, uint64_t round)
{
    struct colander_family *first = it->families[0];
    struct colander_error err;

    for (size_t i = 0; i < FAMILIES; i++)
        (void)went_well(it, colander_family_flush(it->families[i], &err), &err);
    switch (round % ROUNDS) {
    case 0:
        drop_bulk(it);
        if (atomic_load(&it->progress->bulk) != MAYBE)
            load_bulk(it);
        break;
    case 1:
        make_and_drop(it);
        change_filters(it);
        break;
    case 2:
        (void)went_well(it, colander_family_compact(first, &err), &err);
        check_all(it);
        break;
    default:
        (void)went_well(it, colander_family_refilter(first, NULL, &err), &err);
        (void)went_well(it, colander_family_await_filters(first, &err), &err);
    }
}

static inline void
write_and_find(struct scenario *it, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        write_group(it, random_below(&it->random, GROUPS));
        if (i % 6 == 5)
            find_rows(it, it->families[i / 6 % FAMILIES]);
    }
}

/* Leaves rows that are in no SST. */
static inline void
do_round(struct scenario *it, uint64_t round)
{
    write_and_find(it, 18);
    disturb(it, round);
    if (it->also != NULL)
        it->also(it);
    for (uint64_t i = 0; i < 4; i++)
        find_rows(it, it->families[i % FAMILIES]);
    write_and_find(it, 12);
    read_groups(it, 5);
}

/* ---------------------------------------------------------- the process --- */

static inline bool
open_store(struct scenario *it)
{
    static const char *const names[FAMILIES] = {"first", "second"};
    struct colander_error err;
    enum colander_code code =
        colander_store_open(it->path, &it->options, &it->store, &err);

    memset(it->families, 0, sizeof(it->families));
    for (size_t i = 0; i < FAMILIES && code == COLANDER_OK; i++)
        code =
            colander_family_open(it->store, names[i], &it->families[i], &err);
    if (went_well(it, code, &err))
        return true;
    for (size_t i = 0; i < FAMILIES; i++)
        colander_family_close(it->families[i]);
    if (it->store != NULL)
        (void)went_well(it, colander_store_close(it->store, &err), &err);
    it->store = NULL;
    return false;
}

static inline void
close_store(struct scenario *it)
{
    struct colander_error err;

    if (it->store == NULL)
        return;
    for (size_t i = 0; i < FAMILIES; i++)
        colander_family_close(it->families[i]);
    (void)went_well(it, colander_store_close(it->store, &err), &err);
    it->store = NULL;
}

static inline size_t
count_descriptors(void)
{
    DIR *listing = opendir("/proc/self/fd");
    size_t count = 0;

    while (listing != NULL && readdir(listing) != NULL)
        count++;
    if (listing != NULL)
        closedir(listing);
    return count;
}

/* A fault may fail the first open. */
static inline bool
open_in_two_tries(struct scenario *it)
{
    const bool is_open = open_store(it);

    return is_open || open_store(it);
}

/* With faults, which are repaired at the end. */
static inline void
run_with_faults(struct scenario *it)
{
    if (open_in_two_tries(it)) {
        for (uint64_t round = 0; round < ROUNDS; round++)
            do_round(it, round);
        close_store(it);
        if (open_in_two_tries(it))
            do_round(it, ROUNDS + 1);
    }
    for (size_t i = 0; i < FAULT_KINDS; i++)
        atomic_store(&it->progress->counts[i],
                     faults_count((enum fault_kind)i));
    atomic_store(&it->progress->written, faults_written());
    atomic_store(&it->progress->is_met, faults_were_met());
}

/* Then without faults, with the same handles: what is read is right, and what
 * is written fails or is stored. Kills the process, or closes the store. */
static inline void
run_repaired(struct scenario *it, bool is_killed)
{
    it->is_repaired = true;
    if (it->store != NULL) {
        const uint64_t failed = atomic_load(&it->progress->failed_count);

        read_groups(it, 1);
        do_round(it, ROUNDS + 2);
        atomic_store(&it->progress->is_stopped,
                     atomic_load(&it->progress->failed_count) > failed);
    }
    if (is_killed)
        (void)kill(getpid(), SIGKILL);
    close_store(it);
}

static inline void
scenario_init(struct scenario *it, const char *path, struct progress *progress,
              uint64_t seed)
{
    memset(it, 0, sizeof(*it));
    it->path = path;
    it->progress = progress;
    it->random = seed;
    it->builder = colander_row_builder_create();
    colander_options_init(&it->options);
    it->options.sst_size = 64 << 10;
    it->options.block_size = 4 << 10;
    it->options.write_buffer_size = 1 << 20;
    it->options.thread_count = seed % 2 == 0 ? 16 : 0;
    it->options.sync = seed % 3 == 0;
}

static inline void
scenario_release(struct scenario *it)
{
    colander_row_builder_destroy(it->builder);
}

#endif
