/*
 * SST files that are written outside the database and cannot be read back, as
 * memory is short: the observer learns of each file that it has tagged,
 * whichever allocation failed. (RocksDB ends the process if it gets no memory
 * while it writes a file.)
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bulk_files.h"

#include "support/failing_memory.h"
#include "support/interposed_calls.h"
#include "support/sst_fixture.h"

#define KEYS 100

/* How many allocations succeed from the moment at which the next file is opened
 * to be read; below 0: all. */
static long reading_left = -1;

static int
open_counting(int directory, const char *name, int flags, mode_t mode)
{
    if ((flags & O_ACCMODE) == O_RDONLY && strstr(name, "/bulk-") != NULL) {
        atomic_store(&allocations_left, reading_left);
        reading_left = -1;
    }
    return REAL(openat)(directory, name, flags, mode);
}

INTERPOSE_OPEN(open_counting);

/* RocksDB loses memory when it gets no more. LeakSanitizer asks this. */
/* NOLINTBEGIN(bugprone-reserved-identifier): the name is the sanitizer's. */
PUBLIC const char *__lsan_default_suppressions(void);

PUBLIC const char *
__lsan_default_suppressions(void)
{
    return "leak:librocksdb";
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* Begins a file with some keys. */
static struct bulk_sst *
make_sst(struct bulk_files *files)
{
    struct bulk_sst *sst;
    uint64_t size;

    OK(bulk_sst_begin(files, &sst, NULL));
    for (unsigned i = 0; i < KEYS; i++) {
        const uint8_t key[4] = {0, 0, 0, (uint8_t)i};

        OK(bulk_sst_add(sst, colander_slice_of(key, sizeof(key)),
                        colander_slice_text("value"), &size, NULL));
    }
    return sst;
}

/* Returns how many files have a tag. */
static int
count_tagged(struct watch *watch)
{
    int count = 0;

    pthread_mutex_lock(&watch->mutex);
    for (const struct seen_sst *seen = watch->files; seen != NULL;
         seen = seen->next)
        count += seen->file.is_tagged;
    pthread_mutex_unlock(&watch->mutex);
    return count;
}

SST_TEST(a_file_that_cannot_be_finished_is_reported_if_it_has_a_tag)
{
    struct engine_family *family;
    bool is_met = true;
    int unfinished = 0; /* with a tag */

    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    for (long left = 0; is_met; left++) {
        struct watch *watch = &fixture->watch;
        struct bulk_files *files;
        struct bulk_sst *sst;
        enum colander_code code;

        OK(bulk_files_create(family, false, &files, NULL));
        sst = make_sst(files);
        atomic_store(&allocation_failed, false);
        reading_left = left;
        code = bulk_sst_finish(&sst, NULL);
        atomic_store(&allocations_left, -1);
        is_met = atomic_load(&allocation_failed);
        assert_true(is_met || code == COLANDER_OK);
        if (code != COLANDER_OK) {
            assert_int_equal(watch->failure_count, count_tagged(watch));
            unfinished = watch->failure_count;
        }
        bulk_files_destroy(files);
        assert_int_equal(watch->failure_count, count_tagged(watch));
    }
    assert_true(unfinished > 0);
}
