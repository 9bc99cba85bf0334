/*
 * Files of JSON lines, and their rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"

#include "loading/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool
bench_next_line(struct colander_slice *lines, struct colander_slice *line)
{
    const uint8_t *end;
    size_t size;

    if (lines->size == 0)
        return false;
    end = memchr(lines->data, '\n', lines->size);
    if (end == NULL)
        bench_fail("a file", "its last line has no end");
    size = (size_t)(end - lines->data);
    *line = colander_slice_of(lines->data, size);
    *lines = colander_slice_of(end + 1, lines->size - size - 1);
    return true;
}

size_t
bench_lines_parse(const char *path, const char *key_name,
                  bench_take_keyed *take, void *context)
{
    const struct colander_slice lines = bench_map(path);
    struct colander_slice rest = lines;
    struct colander_schema *schema = schema_create();
    struct colander_slice line;
    struct parsed_row parsed;
    struct rows rows;

    if (schema == NULL)
        bench_fail("rows", "no memory");
    if (strcmp(key_name, "_key") != 0)
        bench_check(schema_texts_add(&schema->key, key_name, &bench_error));
    rows_init(&rows, RECORDS_JSONL, NULL, schema);
    while (bench_next_line(&rest, &line)) {
        bench_check(rows_parse(&rows, line, &parsed, &bench_error));
        if (take != NULL)
            take(context, parsed.key, parsed.row);
    }
    rows_release(&rows);
    colander_schema_close(schema);
    bench_unmap(lines);
    return lines.size;
}
