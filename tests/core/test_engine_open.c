/*
 * Opening and closing an engine: what is on disk, and what remains.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "support/engine_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------- opening stores --- */

ENGINE_TEST(missing_store_is_not_found)
{
    char expected[600];

    (void)snprintf(expected, sizeof(expected),
                   "cannot open store '%s': there is no such store",
                   fixture->path);
    FAILS(open_as(fixture, COLANDER_OPEN_EXISTING, why()), COLANDER_NOT_FOUND);
    assert_string_equal(error_text(), expected);
    FAILS(open_as(fixture, COLANDER_OPEN_READ_ONLY, why()), COLANDER_NOT_FOUND);
    assert_null(fixture->engine);
    assert_int_not_equal(access(fixture->path, F_OK), 0);
}

ENGINE_TEST(new_store_is_not_made_over_another)
{
    OK(open_as(fixture, COLANDER_OPEN_NEW, why()));
    close_engine(fixture);
    FAILS(open_as(fixture, COLANDER_OPEN_NEW, why()), COLANDER_EXISTS);
    OK(open_as(fixture, COLANDER_OPEN_EXISTING, why()));
}

ENGINE_TEST(foreign_directory_is_left_alone)
{
    char file[TEMPORARY_SIZE + 32];
    DIR *stream;
    int count = 0;

    (void)snprintf(file, sizeof(file), "%s/letter", fixture->path);
    ZERO(mkdir(fixture->path, 0755));
    ZERO(close(open(file, O_CREAT | O_WRONLY, 0644)));
    FAILS(open_with(fixture, NULL, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "it is not a store: it has files, but "
                                         "no 'COLANDER'"));
    stream = opendir(fixture->path);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    assert_int_equal(count, 3); /* ., .., letter */
}

ENGINE_TEST(file_is_not_a_store)
{
    ZERO(close(open(fixture->path, O_CREAT | O_WRONLY, 0644)));
    FAILS(open_with(fixture, NULL, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "not a directory"));
}

ENGINE_TEST(unfinished_creation_is_finished)
{
    char record[TEMPORARY_SIZE + 32];

    OK(open_with(fixture, NULL, NULL));
    close_engine(fixture);
    (void)snprintf(record, sizeof(record), "%s/COLANDER", fixture->path);
    ZERO(unlink(record));
    FAILS(open_as(fixture, COLANDER_OPEN_EXISTING, NULL), COLANDER_NOT_FOUND);
    OK(open_with(fixture, NULL, NULL));
}

ENGINE_TEST(store_that_lost_its_record_is_not_taken_for_a_new_one)
{
    char record[TEMPORARY_SIZE + 32];

    OK(open_with(fixture, NULL, NULL));
    (void)family_of(fixture, "f");
    close_engine(fixture);
    (void)snprintf(record, sizeof(record), "%s/COLANDER", fixture->path);
    ZERO(unlink(record));
    FAILS(open_with(fixture, NULL, why()), COLANDER_CORRUPT);
    assert_non_null(
        strstr(error_text(), "it has a database but no 'COLANDER'"));
    FAILS(open_as(fixture, COLANDER_OPEN_NEW, why()), COLANDER_CORRUPT);
    assert_int_not_equal(access(record, F_OK), 0);
}

ENGINE_TEST(path_may_be_relative_and_have_any_name)
{
    struct engine_family *family;
    char here[TEMPORARY_SIZE];

    assert_non_null(getcwd(here, sizeof(here)));
    ZERO(chdir(fixture->directory));
    ZERO(mkdir("OPTIONS-x", 0755));
    OK(engine_open("OPTIONS-x/OPTIONS-y", NULL, NULL, &fixture->engine, NULL));
    ZERO(chdir(here));
    family = family_of(fixture, "f");
    OK(put(fixture->engine, family, "k", "v", NULL));
    OK(engine_family_flush(family, NULL));
}

ENGINE_TEST(opening_often_does_not_collect_log_files)
{
    char path[TEMPORARY_SIZE + 32];
    struct dirent *entry;
    int count = 0;
    DIR *stream;

    for (int i = 0; i < 30; i++) {
        OK(open_with(fixture, NULL, NULL));
        close_engine(fixture);
    }
    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->path);
    stream = opendir(path);
    while ((entry = readdir(stream)) != NULL)
        count += strstr(entry->d_name, ".log") != NULL;
    closedir(stream);
    assert_true(count <= 9);
}

/* RocksDB takes them for its own, under another name or a number that it cannot
 * use, and ends the process. */
ENGINE_TEST(files_with_names_that_no_store_gives_are_left_alone)
{
    static const char *const names[] = {"0.log",
                                        "000000.log",
                                        "777.log",
                                        "0000000777.log",
                                        "0.blob",
                                        "000000.sst",
                                        "777.sst",
                                        "18446744073709551615.log",
                                        "8.log",
                                        "9.sst",
                                        "9223372036854775807.log"};
    char path[TEMPORARY_SIZE + 64];

    OK(open_with(fixture, NULL, NULL));
    close_engine(fixture);
    for (size_t i = 0; i < COUNT(names); i++) {
        int fd;

        (void)snprintf(path, sizeof(path), "%s/rocksdb/%s", fixture->path,
                       names[i]);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        assert_int_equal(write(fd, "stray", 5), 5);
        ZERO(close(fd));
        OK(open_as(fixture, COLANDER_OPEN_READ_ONLY, why()));
        close_engine(fixture);
        OK(open_with(fixture, NULL, why()));
        OK(put(fixture->engine, family_of(fixture, "f"), "k", "v", NULL));
        OK(engine_family_flush(family_of(fixture, "f"), NULL));
        close_engine(fixture);
        ZERO(unlink(path));
    }
}

ENGINE_TEST(closed_standard_descriptors_are_not_given_to_files)
{
    char target[512] = "";
    int saved = dup(STDIN_FILENO);

    ZERO(close(STDIN_FILENO));
    OK(open_with(fixture, NULL, NULL));
    assert_true(readlink("/proc/self/fd/0", target, sizeof(target) - 1) > 0);
    assert_string_equal(target, "/dev/null");
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
}

ENGINE_TEST(store_without_its_database_is_corrupt)
{
    char path[TEMPORARY_SIZE + 32];

    OK(open_with(fixture, NULL, NULL));
    close_engine(fixture);
    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->path);
    temporary_remove(path);
    FAILS(open_with(fixture, NULL, why()), COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), "cannot open the database"));
    FAILS(open_as(fixture, COLANDER_OPEN_READ_ONLY, why()), COLANDER_CORRUPT);
}

ENGINE_TEST(damaged_record_is_corrupt_and_newer_is_too_new)
{
    char path[TEMPORARY_SIZE + 32];
    FILE *file;

    OK(open_with(fixture, NULL, NULL));
    close_engine(fixture);
    (void)snprintf(path, sizeof(path), "%s/COLANDER", fixture->path);
    file = fopen(path, "w");
    fputs("colander store 1\ncompression lz5\n", file);
    fclose(file);
    FAILS(open_with(fixture, NULL, why()), COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), "damaged at line 2"));
    file = fopen(path, "w");
    fputs("colander store 77\nchecksum f029aea3dc243d3d\n", file);
    fclose(file);
    FAILS(open_with(fixture, NULL, why()), COLANDER_TOO_NEW);
}

ENGINE_TEST(files_are_for_the_owner_alone)
{
    static const char *const directories[] = {"", "/rocksdb"};
    struct engine_family *family;

    umask(0);
    ZERO(mkdir(fixture->path, 0755)); /* it existed before */
    family = open_with_family(fixture, "f");
    OK(put(fixture->engine, family, "k", "v", NULL));
    OK(engine_family_flush(family, NULL));
    close_engine(fixture);
    OK(open_with(fixture, NULL, NULL));
    for (size_t i = 0; i < 2; i++) {
        char path[2 * TEMPORARY_SIZE];
        struct dirent *entry;
        struct stat status;
        int seen = 0;
        DIR *stream;

        (void)snprintf(path, sizeof(path), "%s%s", fixture->path,
                       directories[i]);
        ZERO(stat(path, &status));
        assert_int_equal(status.st_mode & 07777, 0700);
        stream = opendir(path);
        while ((entry = readdir(stream)) != NULL) {
            assert_int_equal(fstatat(dirfd(stream), entry->d_name, &status, 0),
                             0);
            if (S_ISREG(status.st_mode)) {
                if ((status.st_mode & 07777) != 0600)
                    fail_msg("%s/%s has mode %o", path, entry->d_name,
                             status.st_mode & 07777);
                seen++;
            }
        }
        closedir(stream);
        assert_true(seen >= 2);
    }
}

ENGINE_TEST(options_are_kept_in_the_store)
{
    struct colander_options options = usual_options();

    options.compression = COLANDER_COMPRESSION_ZSTD;
    options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    options.block_size = 8192;
    OK(open_with(fixture, &options, NULL));
    close_engine(fixture);
    OK(open_with(fixture, NULL, NULL));
    engine_options(fixture->engine, &options);
    assert_int_equal(options.compression, COLANDER_COMPRESSION_ZSTD);
    assert_int_equal(options.compaction, COLANDER_COMPACTION_UNIVERSAL);
    assert_int_equal(options.block_size, 8192);
    assert_int_equal(options.sst_size, 64 << 20);
    close_engine(fixture);
    options.block_size = 4096;
    OK(open_with(fixture, &options, NULL));
    close_engine(fixture);
    OK(open_with(fixture, NULL, NULL));
    engine_options(fixture->engine, &options);
    assert_int_equal(options.block_size, 4096);
}

/* ------------------------------------------------------------- closing --- */

ENGINE_TEST(close_with_open_handles_is_busy_and_stays_open)
{
    struct colander_snapshot *snapshot;

    OK(open_with(fixture, NULL, NULL));
    (void)family_of(fixture, "f");
    FAILS(engine_close(fixture->engine, why()), COLANDER_BUSY);
    close_families(fixture);
    OK(engine_snapshot_create(fixture->engine, &snapshot, NULL));
    FAILS(engine_close(fixture->engine, why()), COLANDER_BUSY);
    assert_non_null(
        strstr(error_text(),
               "families and cursors open: 0, batches and snapshots: 1"));
    colander_snapshot_release(snapshot);
    close_engine(fixture);
}

ENGINE_TEST(close_leaves_every_key_in_an_sst)
{
    struct colander_family_sizes sizes;
    struct engine_family *family = open_with_family(fixture, "f");

    OK(put(fixture->engine, family, "k", "v", NULL));
    OK(engine_family_sizes(family, &sizes, NULL));
    assert_int_equal(sizes.sst_count, 0);
    assert_int_equal(sizes.key_count, 1);
    assert_true(sizes.unflushed_size > 0);
    close_engine(fixture);
    OK(open_as(fixture, COLANDER_OPEN_READ_ONLY, NULL));
    OK(engine_family_open(fixture->engine, "f", false, &family, NULL));
    OK(engine_family_sizes(family, &sizes, NULL));
    assert_int_equal(sizes.sst_count, 1);
    assert_true(sizes.sst_size > 0);
    assert_int_equal(sizes.key_count, 1);
    assert_int_equal(sizes.unflushed_size, 0);
    engine_family_close(family);
}
