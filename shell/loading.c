/*
 * Loading: see loading.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/loading.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH_ROWS 1000
#define BATCH_SIZE (4u << 20) /* bytes of lines */

/* What a load needs. */
struct load {
    struct colander_family *family;
    struct colander_batch *batch;
    struct colander_json_reader *reader;
    struct colander_buffer key; /* that was made */
    char *line;
    size_t capacity;
    size_t size; /* of the lines whose rows are in the batch */
};

/* Adds the row of a line to the batch. */
static enum colander_code
add_line(struct load *load, struct colander_slice line,
         struct colander_error *err)
{
    struct colander_slice key;
    struct colander_slice row;
    bool has_key;
    enum colander_code code;

    code =
        colander_json_reader_row(load->reader, line, &key, &has_key, &row, err);
    if (code == COLANDER_OK && !has_key) {
        code = colander_key_generate(&load->key, err);
        key = colander_buffer_slice(&load->key);
    }
    if (code == COLANDER_OK)
        code = colander_batch_put(load->batch, load->family, key, row, err);
    return code;
}

static enum colander_code
commit(struct load *load, struct loading *loading, struct colander_error *err)
{
    const size_t count = colander_batch_count(load->batch);
    enum colander_code code;

    if (count == 0)
        return COLANDER_OK;
    code = colander_batch_commit(load->batch, COLANDER_AS_STORE, err);
    if (code == COLANDER_OK)
        loading->row_count += count;
    load->size = 0;
    return code;
}

static bool
is_blank(struct colander_slice line)
{
    for (size_t i = 0; i < line.size; i++) {
        if (strchr(" \t\r\n", line.data[i]) == NULL || line.data[i] == '\0')
            return false;
    }
    return true;
}

/* Reads all lines; the rows of the last ones stay in the batch. */
static enum colander_code
read_lines(struct load *load, struct loading *loading, FILE *file,
           bool (*stops)(void), struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    ssize_t size;

    while (code == COLANDER_OK &&
           (size = getline(&load->line, &load->capacity, file)) >= 0) {
        const struct colander_slice line =
            colander_slice_of(load->line, (size_t)size);

        loading->line_count++;
        if (is_blank(line))
            continue;
        code = add_line(load, line, err);
        load->size += line.size;
        if (code == COLANDER_OK &&
            (colander_batch_count(load->batch) >= BATCH_ROWS ||
             load->size >= BATCH_SIZE)) {
            code = commit(load, loading, err);
            if (code == COLANDER_OK && stops != NULL && stops())
                code = COLANDER_FAIL(err, COLANDER_CANCELLED, "interrupted");
        }
    }
    if (code == COLANDER_OK && ferror(file))
        code =
            COLANDER_FAIL(err, COLANDER_IO, "cannot read: %s", strerror(errno));
    return code;
}

enum colander_code
loading_run(struct loading *loading, struct colander_store *store,
            struct colander_family *family, FILE *file, bool (*stops)(void),
            struct colander_error *err)
{
    struct load load = {.family = family};
    struct colander_error unwritten;
    enum colander_code code;

    memset(loading, 0, sizeof(*loading));
    load.reader = colander_json_reader_create();
    if (load.reader == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to read JSON");
    code = colander_batch_create(store, &load.batch, err);
    if (code == COLANDER_OK) {
        code = read_lines(&load, loading, file, stops, err);
        /* rows that cannot be written matter more than a line that is wrong */
        if (commit(&load, loading, &unwritten) != COLANDER_OK) {
            code = unwritten.code;
            if (err != NULL)
                *err = unwritten;
        }
    }
    colander_batch_destroy(load.batch);
    colander_json_reader_destroy(load.reader);
    colander_buffer_release(&load.key);
    free(load.line);
    return code;
}
