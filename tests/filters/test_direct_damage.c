/*
 * Damaged blocks of data, met by direct reads: a find is right, or fails and
 * names the file.
 *
 * Bits are flipped, and bytes are zeroed; blocks are put in the place of others
 * of the same size, of the same file or of another. The checksums of these are
 * right. COLANDER_RUNS sets the number of damages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/scoped.h"

#include "filters/filter_file.h"

#define FILES 3
#define ROWS 1600    /* row i is in file i % 2, */
#define REWRITTEN 40 /* rows that a third file has, too */
#define FINDS 24

/* An SST, as it was written, and its spans. */
struct sst_bytes {
    char path[FILE_NAME_SIZE];
    uint8_t *bytes;
    size_t size;
    struct filter_file *filter;
};

struct damaging {
    struct store_fixture *fixture;
    struct sst_bytes files[FILES];
    uint64_t random;
    uint64_t counts[2][4]; /* of damages, by whether they were told, and kind */
    uint64_t told;         /* finds that failed */
    uint64_t rows_direct;
    uint64_t rows_verified;
};

/* ---------------------------------------------------------------- store --- */

static void
make_texts(int number, int version, char name[16], char value[24])
{
    (void)snprintf(name, 16, "%08d", number);
    (void)snprintf(value, 24, "value %08d %d", number, version);
}

static void
put(struct store_fixture *fixture, struct colander_family *family, int number,
    int version)
{
    char name[16];
    char value[24];

    make_texts(number, version, name, value);
    colander_row_builder_add(fixture->builder, "name", colander_text(name));
    OK(put_text(fixture, family, name, "value", colander_text(value), NULL));
}

static void
read_sst(const struct store_fixture *fixture, uint64_t number,
         struct sst_bytes *file)
{
    char path[FILE_NAME_SIZE];
    struct stat status;
    int fd;

    assert_true(find_filter(fixture, number, path));
    OK(filter_file_open(path, NULL, &file->filter, NULL));
    (void)snprintf(file->path, sizeof(file->path), "%s/rocksdb/%06llu.sst",
                   fixture->directory, (unsigned long long)number);
    fd = open(file->path, O_RDONLY);
    ZERO(fstat(fd, &status));
    file->size = (size_t)status.st_size;
    file->bytes = malloc(file->size);
    assert_int_equal(read(fd, file->bytes, file->size), file->size);
    ZERO(close(fd));
}

static void
make_store(struct damaging *damaging)
{
    struct store_fixture *fixture = damaging->fixture;
    struct colander_family *family;
    static struct file_numbers numbers;

    fixture->options.compression = COLANDER_COMPRESSION_NONE;
    fixture->options.block_size = 1024;
    fixture_remake(fixture);
    family = kept_family(fixture, "rows");
    for (int file = 0; file < FILES - 1; file++) {
        for (int i = file; i < ROWS; i += FILES - 1)
            put(fixture, family, i, 0);
        OK(colander_family_flush(family, NULL));
    }
    for (int i = 0; i < ROWS; i += REWRITTEN)
        put(fixture, family, i, 1);
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    list_filters(fixture, &numbers);
    assert_int_equal(numbers.count, FILES);
    fixture_close(fixture);
    for (size_t i = 0; i < FILES; i++)
        read_sst(fixture, numbers.numbers[i], &damaging->files[i]);
}

/* --------------------------------------------------------------- damage --- */

enum { FLIP, ZEROS, MOVED, FOREIGN, KINDS };

static const char *const kinds[KINDS] = {"flipped", "zeroed", "moved",
                                         "foreign"};

static size_t
block_size(const struct sst_bytes *file, uint32_t span)
{
    return (size_t)(file->filter->spans[span + 1].offset -
                    file->filter->spans[span].offset);
}

/* A block that does not end the data. */
static uint32_t
some_block(struct damaging *damaging, const struct sst_bytes *file)
{
    return (uint32_t)random_below(&damaging->random,
                                  file->filter->span_count - 1);
}

static void
write_bytes(const struct sst_bytes *file, uint64_t offset, const uint8_t *bytes,
            size_t size)
{
    int fd = open(file->path, O_WRONLY);

    assert_int_equal(pwrite(fd, bytes, size, (off_t)offset), size);
    ZERO(close(fd));
}

/* Damages block `span`. Returns false if no other block has its size. */
static bool
damage_block(struct damaging *damaging, const struct sst_bytes *file,
             uint32_t span, int kind)
{
    const struct sst_bytes *from =
        kind == FOREIGN ? &damaging->files[random_below(&damaging->random, 2)]
                        : file;
    const uint64_t offset = file->filter->spans[span].offset;
    const size_t size = block_size(file, span);
    uint8_t bytes[4096] = {0};
    uint64_t at = random_below(&damaging->random, size);

    assert_true(size < sizeof(bytes));
    if (kind == FLIP) {
        bytes[0] = file->bytes[offset + at] ^
                   (uint8_t)(1 << random_below(&damaging->random, 8));
        write_bytes(file, offset + at, bytes, 1);
        return true;
    }
    if (kind == ZEROS) {
        write_bytes(file, offset + at, bytes, size - (size_t)at);
        return memcmp(file->bytes + offset + at, bytes, size - (size_t)at) != 0;
    }
    for (unsigned tries = 0; tries < 100; tries++) {
        const uint32_t other = some_block(damaging, from);
        const uint8_t *source = from->bytes + from->filter->spans[other].offset;

        if (block_size(from, other) != size ||
            memcmp(source, file->bytes + offset, size) == 0)
            continue;
        write_bytes(file, offset, source, size);
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------- finds --- */

/* Finds a row, or the version before, which is there no more. Returns false if
 * the find failed and told of the file. */
static bool
find_row(struct damaging *damaging, struct colander_family *family,
         const struct sst_bytes *file, int number, int version)
{
    const bool is_last = version == (number % REWRITTEN == 0);
    struct colander_query query = usual_query();
    struct colander_explain explain;
    struct colander_cursor *cursor;
    struct colander_result result;
    enum colander_code code;
    uint64_t count = 0;
    bool is_row = true;
    char name[16];
    char value[24];

    make_texts(number, version, name, value);
    SCOPED_PREDICATE where =
        colander_where("value", COLANDER_EQ, colander_text(value), NULL);
    query.where = where;
    code = colander_family_find(family, &query, &cursor, why());
    while (code == COLANDER_OK && is_row) {
        struct colander_value found;
        bool is_found;

        code = colander_cursor_next(cursor, &is_row, &result, why());
        if (code != COLANDER_OK || !is_row)
            break;
        OK(colander_row_get(result.row, "name", &found, &is_found, NULL));
        assert_true(is_found);
        assert_true(colander_slice_equal(
            found.bytes, colander_slice_of((const uint8_t *)name, 8)));
        count++;
    }
    if (code == COLANDER_OK)
        assert_int_equal(count, is_last);
    else if (strstr(error_text(), strrchr(file->path, '/') + 1) == NULL)
        fail_msg("names no file: %s", error_text());
    if (cursor != NULL) {
        colander_cursor_explain(cursor, &explain);
        damaging->rows_direct += explain.rows_direct;
        damaging->rows_verified += explain.rows_verified;
    }
    colander_cursor_close(cursor);
    return code == COLANDER_OK;
}

/* Finds rows in and around the block, and others. */
static bool
find_rows(struct damaging *damaging, const struct sst_bytes *file,
          uint32_t span)
{
    const int which = (int)(file - damaging->files);
    const int step = which < FILES - 1 ? FILES - 1 : REWRITTEN;
    const int first = (int)file->filter->spans[span].first_row * step +
                      (which < FILES - 1 ? which : 0);
    struct colander_family *family;
    bool is_told = false;

    fixture_open(damaging->fixture);
    family = kept_family(damaging->fixture, "rows");
    for (int i = 0; i < FINDS; i++) {
        int number = first + (i - 2) * step;

        if (i % 4 == 0 || number < 0 || number >= ROWS)
            number = (int)random_below(&damaging->random, ROWS);
        is_told |= !find_row(damaging, family, file, number,
                             i != 2 && random_below(&damaging->random, 4) == 0
                                 ? 0
                                 : number % REWRITTEN == 0);
    }
    fixture_close(damaging->fixture);
    return is_told;
}

FIXTURE_TEST(a_damaged_block_is_never_answered_from)
{
    SCOPED_MEMORY struct damaging *damaging = calloc(1, sizeof(*damaging));
    const uint64_t runs = random_runs(300);

    damaging->fixture = fixture;
    damaging->random = random_seed(__func__);
    make_store(damaging);
    fixture->options.mode = COLANDER_OPEN_READ_ONLY;
    for (uint64_t i = 0; i < runs; i++) {
        const int kind = (int)random_below(&damaging->random, KINDS);
        const struct sst_bytes *file =
            &damaging->files[random_below(&damaging->random, FILES)];
        const uint32_t span = some_block(damaging, file);
        const bool is_damaged = damage_block(damaging, file, span, kind);
        const bool is_told = find_rows(damaging, file, span);

        /* a row of the block itself was asked for */
        assert_int_equal(is_told, is_damaged);
        damaging->counts[is_told][kind]++;
        write_bytes(file, 0, file->bytes, file->size);
    }
    for (int kind = 0; kind < KINDS; kind++)
        printf("%-8s %5llu told, %5llu not possible, 0 wrong\n", kinds[kind],
               (unsigned long long)damaging->counts[1][kind],
               (unsigned long long)damaging->counts[0][kind]);
    printf("%llu of %llu rows read directly\n",
           (unsigned long long)damaging->rows_direct,
           (unsigned long long)damaging->rows_verified);
    assert_true(2 * damaging->rows_direct >= damaging->rows_verified);
    for (size_t i = 0; i < FILES; i++) {
        filter_file_unref(damaging->files[i].filter);
        free(damaging->files[i].bytes);
    }
    fixture->options.mode = COLANDER_OPEN_EXISTING;
    fixture_open(fixture);
}
