/*
 * A small store with one wrong bit, in any of its files (invariants I1, I2, I5,
 * I6): opened for reading, and sometimes for writing, it has its rows and finds
 * return them, or an error is reported. Only the end of the log may be dropped,
 * and that is reported.
 *
 * COLANDER_RUNS sets the number of bits, evenly spread; if there are no more
 * bits than that, all are tried.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/damage.h"
#include "support/scoped.h"

#define ROWS 40
#define LOGGED 34 /* from here on rows are only in the log */
#define TEXT_SIZE 200
#define WRITING 16 /* one in WRITING bits is also opened for writing */

struct small_store {
    struct store_fixture *fixture;
    char path[TEMPORARY_SIZE + 16]; /* as a killed process leaves it */
    char copy[TEMPORARY_SIZE + 16]; /* opened for writing */
    struct damageable files;
    uint64_t random;
    uint64_t done_count;
    uint64_t refused_count;
    uint64_t failed_count; /* opened, and something failed later */
    uint64_t short_count;  /* the end of the log was lost */
    uint64_t by_candidates;
};

/* Borrowed until the builder is next used. */
static struct colander_slice
small_row(struct small_store *it, int64_t index)
{
    uint64_t random = (uint64_t)index;
    char text[TEXT_SIZE + 1];

    for (size_t i = 0; i < TEXT_SIZE; i++)
        text[i] = (char)('a' + random_below(&random, 26));
    text[TEXT_SIZE] = '\0';
    colander_row_builder_add(it->fixture->builder, "text", colander_text(text));
    return fixture_row(it->fixture, "number", colander_integer(index));
}

static void
small_key(int64_t index, struct colander_buffer *key)
{
    const struct colander_value part = colander_integer(index);

    OK(colander_key_encode(&part, 1, key, NULL));
}

/* Copies the files of the open store, like those of a killed process. */
static void
make_small_store(struct small_store *it)
{
    struct colander_family *family = kept_family(it->fixture, "rows");
    for (int64_t i = 0; i < ROWS; i++) {
        if (i == LOGGED) {
            OK(colander_family_flush(family, NULL));
            OK(colander_family_await_filters(family, NULL));
        }
        put_at(family, i, small_row(it, i));
    }
    copy_store(it->fixture->directory, it->path);
    list_files(it->path, &it->files);
}

/* Counts the rows that the query finds, which are those of the model from
 * number `first` on. Returns false if it failed. */
static bool
find_rows(struct small_store *it, struct colander_family *family,
          const struct colander_predicate *where, int64_t first, int64_t *count)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_CURSOR cursor = NULL;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query = usual_query();
    bool is_row = true;
    enum colander_code code;

    *count = 0;
    query.where = where;
    code = colander_family_find(family, &query, &cursor, NULL);
    while (code == COLANDER_OK) {
        code = colander_cursor_next(cursor, &is_row, &result, NULL);
        if (code != COLANDER_OK || !is_row)
            break;
        small_key(first + *count, &key);
        assert_true(
            colander_slice_equal(result.key, colander_buffer_slice(&key)));
        assert_true(
            colander_slice_equal(result.row, small_row(it, first + *count)));
        ++*count;
    }
    if (code == COLANDER_OK) {
        colander_cursor_explain(cursor, &explain);
        it->by_candidates += explain.plan == COLANDER_PLAN_CANDIDATES;
    }
    return code == COLANDER_OK;
}

/* Finds all rows, then some by their values. */
static bool
look_at_rows(struct small_store *it, struct colander_family *family,
             bool may_be_short)
{
    int64_t row_count;
    int64_t count;
    bool is_fine = find_rows(it, family, NULL, 0, &row_count);

    if (!is_fine)
        row_count = ROWS;
    assert_in_range(row_count, may_be_short ? LOGGED : ROWS, ROWS);
    it->short_count += row_count < ROWS;
    for (int64_t i = 0; i < 3; i++) {
        const int64_t number = (int64_t)random_below(&it->random, ROWS);
        const struct colander_value value = colander_integer(number);
        SCOPED_PREDICATE where =
            i == 0 ? colander_where_any_column(value, NULL)
                   : colander_where("number", COLANDER_EQ, value, NULL);

        if (!find_rows(it, family, where, number, &count))
            is_fine = false;
        else
            assert_int_equal(count, number < row_count);
    }
    return is_fine;
}

static void
look_at_store(struct small_store *it, const char *path, uint64_t kind,
              enum colander_open_mode mode)
{
    struct colander_recovery recovery;
    struct colander_options options = usual_options();
    struct colander_family *family;
    struct colander_store *store;
    bool is_fine;

    options.mode = mode;
    if (colander_store_open(path, &options, &store, why()) != COLANDER_OK) {
        assert_true(error_text()[0] != '\0');
        it->refused_count++;
        return;
    }
    colander_store_recovery(store, &recovery);
    OK(colander_family_open(store, "rows", &family, NULL));
    is_fine =
        look_at_rows(it, family, kind == LOG_KIND && recovery.dropped_size > 0);
    colander_family_close(family);
    is_fine &= colander_store_close(store, NULL) == COLANDER_OK;
    it->failed_count += !is_fine;
}

static void
flip_bit(const char *path, uint64_t bit)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    uint8_t byte;

    assert_int_equal(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
    byte ^= (uint8_t)(1 << bit % 8);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
    ZERO(close(fd));
}

/* Opening for reading changes no file, so only the bit must be restored. */
static void
try_bit(struct small_store *it, size_t file, const char *path, uint64_t bit)
{
    const uint64_t kind = it->files.kinds[file];

    flip_bit(path, bit);
    look_at_store(it, it->path, kind, COLANDER_OPEN_READ_ONLY);
    if (it->done_count++ % WRITING == 0) {
        copy_store(it->path, it->copy);
        look_at_store(it, it->copy, kind, COLANDER_OPEN_EXISTING);
        temporary_remove(it->copy);
    }
    flip_bit(path, bit);
}

static uint64_t
size_of(const char *path)
{
    struct stat status;

    ZERO(stat(path, &status));
    return (uint64_t)status.st_size;
}

FIXTURE_TEST(a_wrong_bit_changes_no_answer)
{
    SCOPED_MEMORY struct small_store *it = calloc(1, sizeof(*it));
    const uint64_t runs = random_runs(300);
    char path[2 * PATH_SIZE];

    it->fixture = fixture;
    it->random = random_seed(__func__);
    (void)snprintf(it->path, sizeof(it->path), "%s.small",
                   it->fixture->directory);
    (void)snprintf(it->copy, sizeof(it->copy), "%s.copy",
                   it->fixture->directory);
    make_small_store(it);
    for (size_t i = 0; i < it->files.count; i++) {
        const uint64_t share = runs / it->files.count + 1;
        uint64_t bits;
        uint64_t step;

        (void)snprintf(path, sizeof(path), "%s/%s", it->path,
                       it->files.paths[i]);
        if (strstr(path, "/rocksdb/LOG") != NULL) /* informational text */
            continue;
        bits = size_of(path) * 8;
        step = bits > share ? bits / share : 1;
        printf("%s: %llu bits, every %llu\n", it->files.paths[i],
               (unsigned long long)bits, (unsigned long long)step);
        (void)fflush(stdout);
        for (uint64_t bit = random_below(&it->random, step); bit < bits;
             bit += step)
            try_bit(it, i, path, bit);
    }
    printf("%llu bits: %llu opens refused, %llu failed later, %llu short; "
           "%llu finds by candidates\n",
           (unsigned long long)it->done_count,
           (unsigned long long)it->refused_count,
           (unsigned long long)it->failed_count,
           (unsigned long long)it->short_count,
           (unsigned long long)it->by_candidates);
    assert_true(it->refused_count > 0 && it->failed_count > 0);
    assert_true(it->by_candidates > 0);
    temporary_remove(it->path);
}
