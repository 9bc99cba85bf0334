/*
 * One SST read on its own, and the engine's own records.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "support/golden_table.h"
#include "support/rocksdb_inside.h"
#include "support/scoped.h"
#include "support/sst_fixture.h"

#include <sys/stat.h>

/* ------------------------------------------------------------- one file --- */

/* Opens the only SST of a family of `count` rows. */
static struct sst *
make_sst(struct sst_fixture *fixture, struct engine_family *family,
         uint32_t count, uint64_t *number)
{
    struct sst *sst;

    assert_true(write_rows(fixture->base.engine, family, NULL, count));
    OK(engine_family_flush(family, NULL));
    *number = newest_seen(&fixture->watch)->file.number;
    OK(sst_open(fixture->base.engine, *number, &sst, NULL));
    return sst;
}

SST_TEST(sst_cursor_seeks_and_sees_what_its_snapshot_sees)
{
    const uint8_t middle[] = {0, 0, 0, 5};
    struct engine_family *family;
    SCOPED_SNAPSHOT snapshot = NULL;
    struct colander_slice key;
    struct colander_slice value;
    bool is_row;
    struct engine_cursor *cursor;
    struct rows rows;
    struct sst *sst;
    uint64_t number;

    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    assert_true(write_rows(fixture->base.engine, family, NULL, 7));
    OK(engine_snapshot_create(fixture->base.engine, &snapshot, NULL));
    sst = make_sst(fixture, family, 9, &number);
    assert_int_equal(sst_entry_count(sst), 16);
    rows = rows_of_sst(sst, snapshot);
    assert_int_equal(rows.count, 7);
    assert_int_equal(rows.rows[6].sequence, snapshot_sequence(snapshot));
    free(rows.rows);

    OK(sst_cursor_open(sst, NULL, false, &cursor, NULL));
    for (uint8_t last = 9; last >= 7; last -= 2) { /* and backwards */
        OK(engine_cursor_seek(cursor, colander_slice_of(middle, 4), false,
                              NULL));
        for (uint8_t i = 5; i < last; i++) {
            OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
            assert_int_equal(row_of(key, value, true).key, i);
        }
    }
    OK(engine_cursor_seek(cursor, colander_slice_text("\xff"), false, NULL));
    for (int i = 0; i < 2; i++) {
        OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
        assert_false(is_row);
    }
    OK(engine_cursor_seek(cursor, colander_slice_of(NULL, 0), false, NULL));
    OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
    assert_int_equal(row_of(key, value, true).key, 0);
    engine_cursor_close(cursor);
    sst_close(sst);
}

SST_TEST(sst_cursor_walks_back_from_before_a_key)
{
    static const uint8_t keys[][4] = {{0, 0, 0, 5}, {0, 0, 0, 9}, {1, 0, 0, 0}};
    static const uint32_t firsts[] = {4, 8, 8}; /* 9 is beyond the last */
    struct engine_family *family;
    struct colander_slice key;
    struct colander_slice value;
    bool is_row;
    struct engine_cursor *cursor;
    struct sst *sst;
    uint64_t number;

    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    sst = make_sst(fixture, family, 9, &number);
    OK(sst_cursor_open(sst, NULL, true, &cursor, NULL));
    for (size_t i = 0; i < 4; i++) { /* 0: without a seek, from the last */
        uint32_t expected = i == 0 ? 8 : firsts[i - 1];

        if (i > 0)
            OK(engine_cursor_seek(cursor, colander_slice_of(keys[i - 1], 4),
                                  true, NULL));
        for (; expected != UINT32_MAX; expected--) {
            OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
            assert_true(is_row);
            assert_int_equal(row_of(key, value, true).key, expected);
        }
        OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
        assert_false(is_row);
    }
    engine_cursor_close(cursor);
    sst_close(sst);
}

SST_TEST(deleted_sst_is_not_found_but_an_open_one_reads_on)
{
    struct engine_family *family;
    struct seen_sst *seen;
    struct sst *other;
    struct sst *sst;
    uint64_t number;
    bool is_deleted = false;

    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    sst = make_sst(fixture, family, 1000, &number);
    seen = newest_seen(&fixture->watch);
    assert_true(write_rows(fixture->base.engine, family, NULL, 500));
    OK(engine_family_compact(family, NULL));
    for (int i = 0; i < 1000 && !is_deleted; i++) {
        pthread_mutex_lock(&fixture->watch.mutex);
        is_deleted = seen->is_deleted;
        pthread_mutex_unlock(&fixture->watch.mutex);
        usleep(1000);
    }
    assert_true(is_deleted);
    FAILS(sst_open(fixture->base.engine, number, &other, NULL),
          COLANDER_NOT_FOUND);
    assert_null(other);
    check_sst(sst, seen);
    FAILS(engine_close(fixture->base.engine, NULL), COLANDER_BUSY);
    sst_close(sst);
}

/* Flips bits of the SST from `offset` on. */
static void
damage(const struct sst_fixture *fixture, uint64_t number, off_t offset,
       size_t size)
{
    char path[TEMPORARY_SIZE + 64];
    uint8_t byte;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/rocksdb/%06d.sst",
                   fixture->base.path, (int)number);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    if (offset < 0)
        offset += lseek(fd, 0, SEEK_END);
    for (size_t i = 0; i < size; i++, offset++) {
        assert_int_equal(pread(fd, &byte, 1, offset), 1);
        byte ^= 0x55;
        assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    }
    close(fd);
}

SST_TEST(sst_shares_the_cache_and_damage_is_never_an_early_end)
{
    struct engine_family *family;
    struct engine_cursor *cursor;
    struct colander_slice key;
    struct colander_slice value;
    bool is_row;
    enum colander_code code;
    struct rows rows;
    struct sst *sst;
    uint64_t number;

    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    sst = make_sst(fixture, family, 1000, &number);
    rows = rows_at(family, NULL, engine_cursor_open);
    damage(fixture, number, 20000, 20000);
    check_sst(
        sst, newest_seen(&fixture->watch)); /* from blocks that the scan read */
    sst_close(sst);
    free(rows.rows);
    close_engine(&fixture->base);

    open_watched(fixture);
    OK(sst_open(fixture->base.engine, number, &sst, NULL));
    OK(sst_cursor_open(sst, NULL, false, &cursor, NULL));
    do {
        code = engine_cursor_next(cursor, &is_row, &key, &value, NULL);
    } while (code == COLANDER_OK && is_row);
    assert_int_equal(code, COLANDER_CORRUPT);
    engine_cursor_close(cursor);
    sst_close(sst);
    damage(fixture, number, -1, 1); /* of the magic number at the end */
    FAILS(sst_open(fixture->base.engine, number, &sst, NULL), COLANDER_CORRUPT);
    assert_null(sst);
}

#define FOOTER_SIZE 53
#define FOOTER_TAIL_SIZE 12 /* version, and what all such files end with */

/* Flips each bit of a file in turn. Only in the footer may a bit have no
 * meaning: where its block handles are padded with zeros. */
static void
damage_each_bit(const char *path)
{
    struct stat status;
    uint8_t byte;
    int fd = open(path, O_RDWR);

    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    assert_in_range(status.st_size, 1000, 10000);
    OK(sst_check_file(path, NULL));
    for (off_t bit = 0; bit < 8 * status.st_size; bit++) {
        struct colander_error err = {.message = ""};
        enum colander_code code;
        const bool may_be_nothing = bit / 8 > status.st_size - FOOTER_SIZE &&
                                    bit / 8 < status.st_size - FOOTER_TAIL_SIZE;

        assert_int_equal(pread(fd, &byte, 1, bit / 8), 1);
        byte ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(pwrite(fd, &byte, 1, bit / 8), 1);
        code = sst_check_file(path, &err);
        if (code != COLANDER_CORRUPT &&
            (code != COLANDER_OK || !may_be_nothing))
            fail_msg("bit %lld: code %d: %s", (long long)bit, (int)code,
                     err.message);
        if (code != COLANDER_OK)
            assert_non_null(strstr(err.message, path));
        byte ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(pwrite(fd, &byte, 1, bit / 8), 1);
    }
    OK(sst_check_file(path, NULL));
    close(fd);
}

/* RocksDB opens the first files of a store when it opens the store, and reads
 * the properties of the others without opening them. */
#define FILES 24

/* Flips, or restores, the bit of the properties that makes RocksDB 7.8 end the
 * process. */
static void
flip_bit_of_properties(const struct sst_fixture *fixture, uint64_t number)
{
    char path[TEMPORARY_SIZE + 64];
    uint8_t footer[FOOTER_SIZE];
    uint64_t metaindex = 0;
    uint8_t byte;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/rocksdb/%06d.sst",
                   fixture->base.path, (int)number);
    fd = open(path, O_RDWR);
    assert_int_equal(
        pread(fd, footer, FOOTER_SIZE, lseek(fd, 0, SEEK_END) - FOOTER_SIZE),
        FOOTER_SIZE);
    for (size_t i = 1; i == 1 || footer[i - 1] >= 128; i++)
        metaindex |= (uint64_t)(footer[i] & 127) << 7 * (i - 1);
    assert_int_equal(pread(fd, &byte, 1, (off_t)metaindex - 6), 1);
    byte ^= 128;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)metaindex - 6), 1);
    close(fd);
}

static enum colander_code
scan(struct engine_family *family, struct colander_error *err)
{
    const struct engine_cursor_options all = {0};
    SCOPED_ENGINE_CURSOR cursor = NULL;
    struct colander_slice key;
    struct colander_slice value;
    bool is_row = true;
    enum colander_code code = engine_cursor_open(family, &all, &cursor, err);

    while (code == COLANDER_OK && is_row)
        code = engine_cursor_next(cursor, &is_row, &key, &value, err);
    return code;
}

static void
assert_told(struct sst_fixture *fixture, uint64_t number)
{
    struct engine_family *family;
    static struct list list;
    enum colander_code code;
    char name[24];

    (void)snprintf(name, sizeof(name), "%06d.sst", (int)number);
    fixture->options.mode = COLANDER_OPEN_READ_ONLY;
    code = engine_open(fixture->base.path, &fixture->options, NULL,
                       &fixture->base.engine, why());
    if (code == COLANDER_OK) {
        family = family_of(&fixture->base, "f");
        list.count = 0;
        OK(engine_ssts(fixture->base.engine, list_add, &list, NULL));
        assert_int_equal(list.count, FILES);
        code = scan(family, why());
        close_engine(&fixture->base);
    }
    assert_int_equal(code, COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), name));
}

SST_TEST(wrong_properties_are_reported_for_any_file)
{
    struct engine_family *family;
    static struct list list;

    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    rocksdb_stop_compactions(family);
    for (unsigned i = 0; i < FILES; i++) {
        assert_true(write_rows(fixture->base.engine, family, NULL, 10));
        OK(engine_family_flush(family, NULL));
    }
    list.count = 0;
    OK(engine_ssts(fixture->base.engine, list_add, &list, NULL));
    assert_int_equal(list.count, FILES);
    close_engine(&fixture->base);
    for (size_t i = 0; i < list.count; i++) {
        flip_bit_of_properties(fixture, list.files[i].number);
        assert_told(fixture, list.files[i].number);
        flip_bit_of_properties(fixture, list.files[i].number);
    }
}

/* Damages bytes of the footer, so that it may place blocks anywhere and of any
 * size. */
static void
damage_footer(const char *path, uint64_t *random)
{
    uint8_t footer[FOOTER_SIZE];
    int fd = open(path, O_RDWR);
    const off_t at = lseek(fd, 0, SEEK_END) - FOOTER_SIZE;

    assert_int_equal(pread(fd, footer, FOOTER_SIZE, at), FOOTER_SIZE);
    for (unsigned i = 0; i < 3000; i++) {
        uint8_t damaged[FOOTER_SIZE];
        const uint64_t count = 1 + random_below(random, 12);
        size_t place = random_below(random, FOOTER_SIZE - count);
        enum colander_code code;

        memcpy(damaged, footer, FOOTER_SIZE);
        for (uint64_t j = 0; j < count; j++)
            damaged[place++] = (uint8_t)random_next(random);
        assert_int_equal(pwrite(fd, damaged, FOOTER_SIZE, at), FOOTER_SIZE);
        code = sst_check_file(path, why());
        if (code != COLANDER_OK && code != COLANDER_CORRUPT)
            fail_msg("%s", error_text());
    }
    close(fd);
}

SST_TEST(every_wrong_bit_is_reported)
{
    const struct colander_slice keys[] = {colander_slice_text("a"),
                                          colander_slice_text("b")};
    const struct colander_slice rows[] = {colander_slice_text("the first row"),
                                          colander_slice_text("the second")};
    const struct rocksdb_table bulk = {
        .compression = 4, .block_size = 4096, .restart_interval = 16};
    uint64_t random = random_seed(__func__);
    char path[TEMPORARY_SIZE + 32];

    open_watched(fixture);
    (void)snprintf(path, sizeof(path), "%s/one.sst", fixture->base.path);
    golden_write(path, GOLDEN_SIZE);
    damage_each_bit(path);
    rocksdb_write_table(path, &bulk, keys, rows, 2);
    damage_each_bit(path);
    damage_footer(path, &random);
}

/* ------------------------------------------------------------- records --- */

static void
assert_record(struct sst_fixture *fixture, const char *name, const char *text)
{
    SCOPED_BUFFER record = COLANDER_BUFFER_EMPTY;
    bool found;

    OK(colander_buffer_append(&record, "old", 3, NULL));
    OK(engine_record_get(fixture->base.engine, name, &record, &found, NULL));
    assert_int_equal(found, text != NULL);
    assert_true(
        colander_slice_equal(colander_buffer_slice(&record),
                             colander_slice_text(text == NULL ? "" : text)));
}

SST_TEST(records_are_kept_until_they_are_removed)
{
    struct engine *engine;
    char longest[257];

    open_watched(fixture);
    engine = fixture->base.engine;
    memset(longest, 'n', sizeof(longest));
    longest[256] = '\0';
    FAILS(engine_record_put(engine, "", colander_slice_text("r"), NULL),
          COLANDER_INVALID);
    FAILS(engine_record_put(engine, longest, colander_slice_text("r"), NULL),
          COLANDER_INVALID);
    longest[255] = '\0';
    OK(engine_record_put(engine, longest, colander_slice_text("l"), NULL));
    OK(engine_record_put(engine, "a", colander_slice_text("1"), NULL));
    OK(engine_record_put(engine, "a", colander_slice_text("2"), NULL));
    OK(engine_record_put(engine, "b", colander_slice_text("3"), NULL));
    OK(engine_record_put(engine, "b", colander_slice_of(NULL, 0), NULL));
    for (int i = 0; i < 3; i++) {
        assert_record(fixture, longest, "l");
        assert_record(fixture, "a", "2");
        assert_record(fixture, "b", NULL);
        close_engine(&fixture->base);
        fixture->options.mode =
            i == 0 ? COLANDER_OPEN_EXISTING : COLANDER_OPEN_READ_ONLY;
        open_watched(fixture);
    }
    FAILS(engine_record_put(fixture->base.engine, "a", colander_slice_text("r"),
                            NULL),
          COLANDER_READ_ONLY);
    assert_int_equal(fixture->watch.event_count, 0);
}
