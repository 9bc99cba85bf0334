/*
 * Files in memory, their lines, and rows made ready of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_ready.h"
#include "bench_rocksdb.h"

#include "loading/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --------------------------------------------------------------- files --- */

struct colander_slice
bench_map(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *data;

    if (file < 0 || fstat(file, &status) != 0)
        bench_fail(path, strerror(errno));
    data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED)
        bench_fail(path, strerror(errno));
    (void)close(file);
    return colander_slice_of(data, (size_t)status.st_size);
}

void
bench_unmap(struct colander_slice file)
{
    (void)munmap((void *)file.data, file.size);
}

static struct colander_slice
take(struct colander_slice *from, size_t size)
{
    struct colander_slice taken;

    if (size > from->size)
        bench_fail("a file", "it is cut off");
    taken = colander_slice_of(from->data, size);
    *from = colander_slice_of(from->data + size, from->size - size);
    return taken;
}

bool
bench_next_line(struct colander_slice *lines, struct colander_slice *line)
{
    const uint8_t *end;

    if (lines->size == 0)
        return false;
    end = memchr(lines->data, '\n', lines->size);
    if (end == NULL)
        bench_fail("a file", "its last line has no end");
    *line = take(lines, (size_t)(end - lines->data) + 1);
    line->size--;
    return true;
}

/* --------------------------------------------------------------- ready --- */

/* Of a row in a file, behind which are key and row. */
struct head {
    uint32_t key_size;
    uint32_t row_size;
};

static void
write_ready(FILE *file, const struct made_row *made)
{
    const struct head head = {(uint32_t)made->key.size,
                              (uint32_t)made->row.size};

    if (fwrite(&head, sizeof(head), 1, file) != 1 ||
        fwrite(made->key.data, made->key.size, 1, file) != 1 ||
        fwrite(made->row.data, made->row.size, 1, file) != 1)
        bench_fail("ready rows", strerror(errno));
}

/* What this thread had of a processor, in seconds. */
static double
thread_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double
bench_make_ready(struct colander_slice lines, const char *path)
{
    FILE *file = path == NULL ? NULL : fopen(path, "we");
    struct schema *schema = schema_create();
    struct colander_slice line;
    struct made_row made;
    struct colander_error err;
    struct rows *rows;
    double start;

    if (schema == NULL || (path != NULL && file == NULL))
        bench_fail("ready rows", strerror(errno));
    bench_check(schema_texts_add(&schema->key, "id", &err), &err);
    bench_check(rows_create(RECORDS_JSONL, NULL, schema, &rows, &err), &err);
    start = thread_now();
    while (bench_next_line(&lines, &line)) {
        bench_check(rows_make(rows, line, &made, &err), &err);
        if (file != NULL)
            write_ready(file, &made);
    }
    start = thread_now() - start;
    if (file != NULL && fclose(file) != 0)
        bench_fail("ready rows", strerror(errno));
    rows_destroy(rows);
    schema_destroy(schema);
    return start;
}

bool
bench_next_ready(struct colander_slice *ready, struct colander_slice *key,
                 struct colander_slice *row)
{
    struct head head;

    if (ready->size == 0)
        return false;
    memcpy(&head, take(ready, sizeof(head)).data, sizeof(head));
    *key = take(ready, head.key_size);
    *row = take(ready, head.row_size);
    return true;
}

/* ------------------------------------------------------------- rocksdb --- */

/* Puts all rows; they are in the log and the memtable, or further. */
static void
put_rows(rocksdb_t *db, struct colander_slice ready, unsigned batch_rows)
{
    rocksdb_writeoptions_t *how = rocksdb_writeoptions_create();
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    struct colander_slice key;
    struct colander_slice row;
    char *message = NULL;
    unsigned count = 0;

    while (bench_next_ready(&ready, &key, &row)) {
        if (batch_rows == 1) {
            rocksdb_put(db, how, (const char *)key.data, key.size,
                        (const char *)row.data, row.size, &message);
            bench_rocksdb_check(message);
            continue;
        }
        rocksdb_writebatch_put(batch, (const char *)key.data, key.size,
                               (const char *)row.data, row.size);
        if (++count == batch_rows || ready.size == 0) {
            rocksdb_write(db, how, batch, &message);
            bench_rocksdb_check(message);
            rocksdb_writebatch_clear(batch);
            count = 0;
        }
    }
    rocksdb_writebatch_destroy(batch);
    rocksdb_writeoptions_destroy(how);
}

double
bench_put_ready(struct colander_slice ready, const char *path,
                unsigned batch_rows)
{
    rocksdb_options_t *options = bench_rocksdb_options();
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    char *message = NULL;
    rocksdb_t *db = rocksdb_open(options, path, &message);
    double start;

    bench_rocksdb_check(message);
    start = bench_now();
    put_rows(db, ready, batch_rows);
    rocksdb_flush(db, flush, &message);
    bench_rocksdb_check(message);
    start = bench_now() - start;
    rocksdb_close(db);
    rocksdb_flushoptions_destroy(flush);
    rocksdb_options_destroy(options);
    return start;
}
