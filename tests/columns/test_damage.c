/*
 * Damaged SST files: a scan returns all rows or an error, never some (I2).
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#define ROWS 6000
#define FILES_MAX 256

/* The SST files of the store. */
struct files {
    char paths[FILES_MAX][3 * TEMPORARY_SIZE];
    size_t count;
};

static struct files files;

static void
find_files(const struct store_fixture *fixture)
{
    char path[TEMPORARY_SIZE + 16];
    struct dirent *entry;
    DIR *stream;

    files.count = 0;
    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->directory);
    stream = opendir(path);
    while ((entry = readdir(stream)) != NULL && files.count < FILES_MAX) {
        if (strstr(entry->d_name, ".sst") != NULL)
            (void)snprintf(files.paths[files.count++], sizeof(files.paths[0]),
                           "%s/%s", path, entry->d_name);
    }
    closedir(stream);
}

/* Flips one byte; the same call restores it. */
static void
flip(const char *path, off_t offset)
{
    int fd = open(path, O_RDWR);
    unsigned char byte;

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte ^= 0x41;
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    ZERO(close(fd));
}

/* Writes rows to files on two levels: old values and deletes are below. */
static void
load(struct store_fixture *fixture, struct colander_family *family)
{
    char text[64];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < ROWS; i++) {
            if (round > 0 && i % (3 + round) != 0)
                continue;
            (void)snprintf(text, sizeof(text), "%05d", i);
            OK(put_text(fixture, family, text, "round",
                        colander_integer(i * 4 + round), NULL));
        }
        if (round == 1)
            OK(colander_family_compact(family, NULL));
        else
            OK(colander_family_flush(family, NULL));
    }
    for (int i = 0; i < ROWS; i += 1000) {
        SCOPED_BUFFER from;
        SCOPED_BUFFER to;
        struct colander_key_range range;

        (void)snprintf(text, sizeof(text), "%05d", i + 200);
        from = text_key(text);
        (void)snprintf(text, sizeof(text), "%05d", i + 700);
        to = text_key(text);
        range = (struct colander_key_range){
            .from = colander_buffer_slice(&from),
            .to = colander_buffer_slice(&to),
        };
        OK(colander_family_delete_range(family, &range, NULL, NULL, NULL));
    }
    OK(colander_family_flush(family, NULL));
}

/* Sums all rows from `first` to `last`. Returns how the scan ended. */
static enum colander_code
scan(struct colander_family *family, bool is_reverse, int first, int last,
     uint64_t *sum)
{
    struct colander_query query = usual_query();
    struct colander_result result;
    SCOPED_BUFFER from = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER to = COLANDER_BUFFER_EMPTY;
    SCOPED_CURSOR cursor = NULL;
    enum colander_code code;
    bool is_row = true;
    char text[16];

    *sum = 0;
    (void)snprintf(text, sizeof(text), "%05d", first);
    from = text_key(text);
    (void)snprintf(text, sizeof(text), "%05d", last);
    to = text_key(text);
    query.is_reverse = is_reverse;
    query.keys.from = colander_buffer_slice(&from);
    query.keys.to = colander_buffer_slice(&to);
    code = colander_family_find(family, &query, &cursor, NULL);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, NULL);
        if (code == COLANDER_OK && is_row) {
            struct colander_value value;
            bool found;

            OK(colander_row_get(result.row, "round", &value, &found, NULL));
            *sum += 1 + (uint64_t)value.integer * 1000003;
        }
    }
    return code;
}

/* The ranges that are scanned, and their sums in an undamaged store. */
#define RANGES 4

static const int ranges[RANGES][2] = {
    {0, ROWS}, {100, 1500}, {2750, 2990}, {4000, ROWS}};

/* Opens the damaged store, scans both ways and closes it. Counts errors. */
static void
scan_damaged(struct store_fixture *fixture, const uint64_t expected[RANGES],
             int *errors)
{
    fixture->options.mode = COLANDER_OPEN_READ_ONLY;
    if (colander_store_open(fixture->directory, &fixture->options,
                            &fixture->store, NULL) != COLANDER_OK) {
        ++*errors;
        return;
    }
    for (int i = 0; i < 2 * RANGES; i++) {
        const int *range = ranges[i / 2];
        SCOPED_FAMILY family = fixture_family(fixture, "f");
        uint64_t sum;
        enum colander_code code =
            scan(family, i % 2 == 1, range[0], range[1], &sum);

        if (code == COLANDER_OK)
            assert_true(sum == expected[i / 2]);
        else
            ++*errors;
    }
    fixture_close(fixture);
}

/* Loads a store with these options and damages one place at a time. */
static void
damage_often(struct store_fixture *fixture, uint64_t *random, uint64_t runs)
{
    struct colander_family *family;
    uint64_t expected[RANGES];
    int errors = 0;

    fixture->options.sst_size = 64 << 10;
    fixture->options.block_size = 1 << 10;
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    family = fixture_family(fixture, "f");
    load(fixture, family);
    for (int i = 0; i < RANGES; i++)
        OK(scan(family, false, ranges[i][0], ranges[i][1], &expected[i]));
    colander_family_close(family);
    fixture_close(fixture);
    find_files(fixture);
    assert_true(files.count >= 2);

    for (uint64_t run = 0; run < runs; run++) {
        const char *path = files.paths[random_below(random, files.count)];
        struct stat status;
        off_t offset;

        ZERO(stat(path, &status));
        /* Errors in the first block of a file used to be lost. */
        offset = (off_t)random_below(
            random, run % 2 == 0 ? 500 : (uint64_t)status.st_size);
        flip(path, offset);
        scan_damaged(fixture, expected, &errors);
        flip(path, offset);
    }
    /* A scan detects a flip in its range, except in padding or statistics. */
    assert_true((uint64_t)errors > runs);
    fixture->options.mode = COLANDER_OPEN_EXISTING;
    fixture_open(fixture);
}

static uint64_t
runs_of_one_kind(void)
{
    uint64_t asked = random_runs(300);

    return (asked < 10000 ? asked : 10000) / 3; /* each opens a store */
}

FIXTURE_TEST(damaged_block_is_an_error_and_never_a_short_scan)
{
    uint64_t random = random_seed("damaged_block");

    fixture->options.compression = COLANDER_COMPRESSION_NONE;
    damage_often(fixture, &random, runs_of_one_kind());
}

FIXTURE_TEST(damage_of_compressed_blocks_is_an_error)
{
    uint64_t random = random_seed("compressed_blocks");

    fixture->options.compression = COLANDER_COMPRESSION_LZ4;
    damage_often(fixture, &random, runs_of_one_kind());
}

FIXTURE_TEST(damage_under_universal_compaction_is_an_error)
{
    uint64_t random = random_seed("universal_compaction");

    fixture_close(fixture);
    temporary_remove(fixture->directory);
    fixture->options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    fixture->options.compression = COLANDER_COMPRESSION_NONE;
    fixture_open(fixture);
    damage_often(fixture, &random, runs_of_one_kind());
}

static void
note_finding(void *context, const char *file, const char *what)
{
    (void)context;
    (void)file;
    (void)what;
}

/* Also in the filter, the index and the properties, which a scan does not
 * read. */
FIXTURE_TEST(damage_anywhere_in_a_block_is_found_by_a_check)
{
    struct colander_family *family = fixture_family(fixture, "f");
    struct stat status;
    off_t end;

    for (int i = 0; i < 3000; i++)
        put_at(family, i, fixture_row(fixture, "n", colander_integer(i)));
    OK(colander_family_flush(family, NULL));
    colander_family_close(family);
    fixture_close(fixture);
    find_files(fixture);
    assert_int_equal(files.count, 1);
    ZERO(stat(files.paths[0], &status));
    end = status.st_size - 60; /* the footer has padding */
    for (off_t at = 0; at < end; at += end / 80) {
        struct colander_check check = {0};

        flip(files.paths[0], at);
        fixture->options.mode = COLANDER_OPEN_READ_ONLY;
        if (colander_store_open(fixture->directory, &fixture->options,
                                &fixture->store, NULL) == COLANDER_OK) {
            OK(colander_store_check(fixture->store, &check, note_finding, NULL,
                                    NULL));
            assert_true(check.finding_count > 0);
            fixture_close(fixture);
        }
        flip(files.paths[0], at);
    }
    fixture->options.mode = COLANDER_OPEN_EXISTING;
    fixture_open(fixture);
}
