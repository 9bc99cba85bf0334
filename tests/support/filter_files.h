/*
 * The files of a store, and changes made to its filters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_FILTER_FILES_H
#define TESTS_SUPPORT_FILTER_FILES_H

#include "filters/filters.h"
#include "support/random.h"
#include "support/store_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define FILE_NAME_SIZE 400
#define FILES_MAX 4096

/* Opens a new store in place of the fixture's, with the same options. */
static inline void
fixture_remake(struct store_fixture *fixture)
{
    fixture_close(fixture);
    temporary_remove(fixture->directory);
    temporary_make(fixture->directory);
    fixture_open(fixture);
}

/* Numbers of files, ascending. */
struct file_numbers {
    uint64_t numbers[FILES_MAX];
    size_t count;
    size_t other_count; /* names without a number */
};

static inline int
compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;

    return (*a > *b) - (*a < *b);
}

/* The number at the start of a name that ends with `suffix`. Returns false if
 * there is none. */
static inline bool
number_of(const char *name, const char *suffix, uint64_t *number)
{
    const size_t size = strlen(name);
    const size_t suffix_size = strlen(suffix);
    char *end;

    if (size <= suffix_size || strcmp(name + size - suffix_size, suffix) != 0)
        return false;
    *number = strtoull(name, &end, 10);
    return end != name;
}

/* Lists the files named <number>...<suffix> in `directory`, and counts the
 * others. */
static inline void
list_numbers(const char *directory, const char *suffix,
             struct file_numbers *files)
{
    DIR *listing = opendir(directory);
    struct dirent *entry;

    files->count = 0;
    files->other_count = 0;
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        uint64_t number;

        if (entry->d_name[0] == '.')
            continue;
        if (!number_of(entry->d_name, suffix, &number)) {
            files->other_count++;
            continue;
        }
        assert_true(files->count < FILES_MAX);
        files->numbers[files->count++] = number;
    }
    if (listing != NULL)
        closedir(listing);
    qsort(files->numbers, files->count, sizeof(uint64_t), compare_numbers);
}

static inline void
list_filters(const struct store_fixture *fixture, struct file_numbers *files)
{
    char path[TEMPORARY_SIZE + 16];

    snprintf(path, sizeof(path), "%s/filters", fixture->directory);
    list_numbers(path, ".filter", files);
}

/* Fills the path of the filter of SST `number`; false: there is none. */
static inline bool
find_filter(const struct store_fixture *fixture, uint64_t number,
            char path[FILE_NAME_SIZE])
{
    char directory[TEMPORARY_SIZE + 16];
    bool is_found = false;
    struct dirent *entry;
    uint64_t other;
    DIR *listing;

    snprintf(directory, sizeof(directory), "%s/filters", fixture->directory);
    listing = opendir(directory);
    while (listing != NULL && !is_found && (entry = readdir(listing)) != NULL) {
        if (!number_of(entry->d_name, ".filter", &other) || other != number)
            continue;
        snprintf(path, FILE_NAME_SIZE, "%s/%.100s", directory, entry->d_name);
        is_found = true;
    }
    if (listing != NULL)
        closedir(listing);
    return is_found;
}

static inline void
pause_shortly(void)
{
    const struct timespec pause = {0, 5000000};

    nanosleep(&pause, NULL);
}

/* Lists every file in `directory` by name, size and time of change. The caller
 * frees the list. */
static inline char *
describe_files(const char *directory)
{
    char *text = NULL;
    char command[TEMPORARY_SIZE + 100];
    size_t size = 0;
    FILE *listing;

    snprintf(command, sizeof(command),
             "find '%s' -printf '%%P %%s %%T@ %%C@\\n' | sort", directory);
    listing = popen(command, "r");
    assert_non_null(listing);
    assert_true(getdelim(&text, &size, '\0', listing) > 0);
    ZERO(pclose(listing));
    return text;
}

/* Returns whether there are `count` filters, each of an SST, and no other
 * files. (The engine has SST files of its own, without filters.) */
static inline bool
has_filters(const struct store_fixture *fixture, size_t count)
{
    struct file_numbers ssts;
    struct file_numbers filters;
    char path[TEMPORARY_SIZE + 16];

    snprintf(path, sizeof(path), "%s/rocksdb", fixture->directory);
    list_filters(fixture, &filters);
    list_numbers(path, ".sst", &ssts);
    for (size_t i = 0; i < filters.count; i++) {
        if (bsearch(&filters.numbers[i], ssts.numbers, ssts.count,
                    sizeof(uint64_t), compare_numbers) == NULL)
            return false;
    }
    return filters.other_count == 0 && filters.count == count;
}

static inline struct colander_filter_stats
filter_stats(struct colander_family *family)
{
    struct colander_filter_stats stats;

    OK(colander_family_filter_stats(family, &stats, NULL));
    return stats;
}

/* Asserts that each SST of the families has its filter, and that there are no
 * others. Replaced files are removed a moment later; but if a file joined at
 * that time, RocksDB removes them after its next job. */
static inline void
assert_filters_of_ssts(const struct store_fixture *fixture,
                       struct colander_family *const *families, size_t count)
{
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t file_count = 0;

        for (size_t k = 0; k < count; k++)
            file_count += filter_stats(families[k]).file_count;
        if (has_filters(fixture, file_count))
            return;
        if (i % 200 == 199)
            OK(colander_family_compact(families[0], NULL));
        pause_shortly();
    }
    printf("the filters are not those of the SST files:\n%s",
           describe_files(fixture->directory)); /* print_message cuts it */
    fail();
}

/* Asserts that every SST has its filter, and that the hierarchy has it. */
static inline void
assert_all_loaded(struct colander_family *family)
{
    struct colander_filter_stats stats;

    for (unsigned i = 0; i < 1000; i++) {
        OK(colander_family_await_filters(family, NULL));
        stats = filter_stats(family);
        if (stats.loaded_count == stats.file_count)
            break;
        pause_shortly(); /* a compaction is under way */
    }
    assert_int_equal(stats.filter_count, stats.file_count);
    assert_int_equal(stats.loaded_count, stats.file_count);
}

/* Returns random options. With some, it is rarely known which rows match. */
static inline struct colander_filter_options
random_filters(uint64_t *random)
{
    static const uint32_t rows[] = {1, 16, COLANDER_SEGMENT_AUTO};
    static const char *const left_out[] = {"likes", "place"};
    struct colander_filter_options options = usual_filters();

    options.rows_per_segment = rows[random_below(random, 3)];
    options.hierarchy = random_below(random, 4) == 0
                            ? COLANDER_HIERARCHY_TREE
                            : COLANDER_HIERARCHY_SLICES;
    if (random_below(random, 16) != 0)
        return options;
    options.words = random_below(random, 2) != 0;
    options.is_on = random_below(random, 2) != 0;
    if (random_below(random, 4) == 0)
        options.rows_per_segment = 0;
    options.unfiltered = left_out;
    options.unfiltered_count = random_below(random, 3);
    return options;
}

static inline void
copy_file(const char *from, const char *to)
{
    char bytes[4096];
    FILE *source = fopen(from, "rb");
    FILE *target = fopen(to, "wb");
    size_t size;

    assert_non_null(source);
    assert_non_null(target);
    while ((size = fread(bytes, 1, sizeof(bytes), source)) > 0)
        assert_int_equal(fwrite(bytes, 1, size, target), size);
    fclose(source);
    ZERO(fclose(target));
}

/* Changes the byte at `back` from the end of a file. */
static inline void
flip_from_end(const char *path, off_t back)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    uint8_t byte;

    assert_true(fd >= 0);
    ZERO(fstat(fd, &status));
    assert_int_equal(pread(fd, &byte, 1, status.st_size - back), 1);
    byte ^= 0x40;
    assert_int_equal(pwrite(fd, &byte, 1, status.st_size - back), 1);
    close(fd);
}

static inline void
cut_file(const char *path)
{
    struct stat status;

    ZERO(stat(path, &status));
    ZERO(truncate(path, status.st_size / 2));
}

#endif
