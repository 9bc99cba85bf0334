/*
 * CSV: see csv.h.
 *
 * A row in memory or in the temporary file is a sequence of cells: struct
 * cell_head and its bytes. In the file the size of the row comes first.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/output/csv.h"
#include "core/array.h"
#include "core/hash_index.h"
#include "shell/interrupt.h"

#include <errno.h>
#include <stdlib.h>

struct cell_head {
    uint32_t column;
    uint32_t size;
};

struct column {
    struct colander_buffer name;
    struct colander_slice field; /* of the line; borrowed from the row */
    bool has_field;
};

struct csv {
    FILE *file;
    FILE *spool; /* rows that are kept; NULL: none */
    struct column *columns;
    size_t column_count;
    size_t column_capacity;
    struct hash_index index; /* of columns by name */
    bool is_fixed;
    bool is_tsv;
    struct colander_buffer row;
    struct colander_buffer line;
};

struct csv *
csv_create(FILE *file, bool is_tsv)
{
    struct csv *csv = calloc(1, sizeof(*csv));

    if (csv == NULL)
        return NULL;
    csv->file = file;
    csv->is_tsv = is_tsv;
    return csv;
}

void
csv_destroy(struct csv *csv)
{
    if (csv == NULL)
        return;
    for (size_t i = 0; i < csv->column_count; i++)
        colander_buffer_release(&csv->columns[i].name);
    free(csv->columns);
    hash_index_release(&csv->index);
    if (csv->spool != NULL)
        (void)fclose(csv->spool); /* removes it */
    colander_buffer_release(&csv->row);
    colander_buffer_release(&csv->line);
    free(csv);
}

/* ------------------------------------------------------------- columns --- */

enum colander_code
csv_add_column(struct csv *csv, struct colander_slice name,
               struct colander_error *err)
{
    struct column *column;
    enum colander_code code;

    if (csv->column_count == CSV_COLUMNS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "more than %d different columns for one line of "
                             "names: choose some with --select",
                             CSV_COLUMNS_MAX);
    code = array_reserve(&csv->columns, csv->column_count,
                         &csv->column_capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
    column = &csv->columns[csv->column_count];
    memset(column, 0, sizeof(*column));
    code = colander_buffer_append(&column->name, name.data, name.size, err);
    if (code == COLANDER_OK)
        csv->column_count++;
    return code;
}

enum colander_code
csv_column(struct csv *csv, struct colander_slice name, size_t *column,
           struct colander_error *err)
{
    const struct colander_value value = colander_string(name);
    const uint32_t hash = (uint32_t)colander_value_hash(&value);
    size_t at = HASH_INDEX_START;
    enum colander_code code;
    uint32_t i;

    while ((i = hash_index_next(&csv->index, hash, &at)) != HASH_INDEX_NONE) {
        *column = i;
        if (colander_slice_equal(colander_buffer_slice(&csv->columns[i].name),
                                 name))
            return COLANDER_OK;
    }
    code = hash_index_reserve(&csv->index, err);
    if (code == COLANDER_OK)
        code = csv_add_column(csv, name, err);
    if (code != COLANDER_OK)
        return code;
    *column = csv->column_count - 1;
    hash_index_add(&csv->index, hash, (uint32_t)*column);
    return COLANDER_OK;
}

/* ------------------------------------------------------------- writing --- */

static bool
needs_quotes(struct colander_slice text)
{
    if (text.size == 0)
        return true;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == ',' || text.data[i] == '"' ||
            text.data[i] == '\r' || text.data[i] == '\n')
            return true;
    }
    return false;
}

/* Appends a field of TSV. */
static enum colander_code
append_escaped(struct colander_buffer *line, struct colander_slice text,
               struct colander_error *err)
{
    static const char special[] = "\t\n\r\\";
    static const char letters[] = "tnr\\";
    enum colander_code code = colander_buffer_reserve(line, 2 * text.size, err);

    for (size_t i = 0; i < text.size && code == COLANDER_OK; i++) {
        const char *found =
            text.data[i] == '\0' ? NULL : strchr(special, (char)text.data[i]);

        if (found != NULL)
            line->data[line->size++] = '\\';
        line->data[line->size++] =
            found != NULL ? (uint8_t)letters[found - special] : text.data[i];
    }
    return code;
}

static enum colander_code
append_field(const struct csv *csv, struct colander_buffer *line,
             struct colander_slice text, struct colander_error *err)
{
    enum colander_code code;

    if (csv->is_tsv)
        return append_escaped(line, text, err);
    if (!needs_quotes(text))
        return colander_buffer_append(line, text.data, text.size, err);
    /* two quotes, and every byte twice */
    code = colander_buffer_reserve(line, 2 * text.size + 2, err);
    if (code != COLANDER_OK)
        return code;
    line->data[line->size++] = '"';
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"')
            line->data[line->size++] = '"';
        line->data[line->size++] = text.data[i];
    }
    line->data[line->size++] = '"';
    return COLANDER_OK;
}

/* Writes the fields of the columns, or their names. */
static enum colander_code
write_line(struct csv *csv, bool is_names, struct colander_error *err)
{
    struct colander_buffer *line = &csv->line;
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(line);
    for (size_t i = 0; i < csv->column_count && code == COLANDER_OK; i++) {
        const struct column *column = &csv->columns[i];

        if (i > 0)
            code =
                colander_buffer_append(line, csv->is_tsv ? "\t" : ",", 1, err);
        if (code == COLANDER_OK && is_names)
            code = append_field(csv, line, colander_buffer_slice(&column->name),
                                err);
        else if (code == COLANDER_OK && column->has_field)
            code = append_field(csv, line, column->field, err);
    }
    if (code == COLANDER_OK && line->size == 0 && csv->column_count == 1 &&
        !csv->is_tsv)
        code = colander_buffer_append(line, "\"\"", 2, err); /* no blank line */
    if (code == COLANDER_OK)
        code = colander_buffer_append(line, "\n", 1, err);
    if (code == COLANDER_OK)
        fwrite(line->data, 1, line->size, csv->file);
    return code;
}

static enum colander_code
write_row(struct csv *csv, struct colander_error *err)
{
    const uint8_t *at = csv->row.data;
    const uint8_t *end = at + csv->row.size;

    for (size_t i = 0; i < csv->column_count; i++)
        csv->columns[i].has_field = false;
    while (at < end) {
        struct cell_head head;
        struct column *column;

        memcpy(&head, at, sizeof(head));
        at += sizeof(head);
        column = &csv->columns[head.column];
        column->field = colander_slice_of(at, head.size);
        column->has_field = true;
        at += head.size;
    }
    return write_line(csv, false, err);
}

enum colander_code
csv_fix(struct csv *csv, struct colander_error *err)
{
    csv->is_fixed = true;
    return write_line(csv, true, err);
}

/* ---------------------------------------------------------------- rows --- */

enum colander_code
csv_put(struct csv *csv, size_t column, struct colander_slice text,
        struct colander_error *err)
{
    struct cell_head head = {(uint32_t)column, (uint32_t)text.size};
    enum colander_code code;

    code = colander_buffer_append(&csv->row, &head, sizeof(head), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&csv->row, text.data, text.size, err);
    return code;
}

static enum colander_code
spool_failure(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO,
                         "cannot use a temporary file for rows of CSV: %s",
                         strerror(errno));
}

/* Keeps the row in the temporary file. */
static enum colander_code
spool_row(struct csv *csv, struct colander_error *err)
{
    size_t size = csv->row.size;

    if (csv->spool == NULL)
        csv->spool = tmpfile();
    if (csv->spool == NULL || fwrite(&size, sizeof(size), 1, csv->spool) != 1 ||
        (size > 0 && fwrite(csv->row.data, size, 1, csv->spool) != 1))
        return spool_failure(err);
    return COLANDER_OK;
}

enum colander_code
csv_end_row(struct csv *csv, struct colander_error *err)
{
    enum colander_code code =
        csv->is_fixed ? write_row(csv, err) : spool_row(csv, err);

    colander_buffer_clear(&csv->row);
    return code;
}

/* Reads the next row of the temporary file. */
static enum colander_code
unspool_row(struct csv *csv, bool *is_row, struct colander_error *err)
{
    enum colander_code code;
    size_t size;

    *is_row = fread(&size, sizeof(size), 1, csv->spool) == 1;
    if (!*is_row)
        return ferror(csv->spool) ? spool_failure(err) : COLANDER_OK;
    colander_buffer_clear(&csv->row);
    code = colander_buffer_reserve(&csv->row, size, err);
    if (code != COLANDER_OK)
        return code;
    csv->row.size = size;
    if (size > 0 && fread(csv->row.data, size, 1, csv->spool) != 1)
        return spool_failure(err);
    return COLANDER_OK;
}

enum colander_code
csv_finish(struct csv *csv, struct colander_error *err)
{
    bool was_interrupted = interrupt_happened();
    enum colander_code code = COLANDER_OK;
    bool is_row = csv->spool != NULL;

    if (!csv->is_fixed && csv->column_count > 0)
        code = csv_fix(csv, err);
    if (is_row && (fflush(csv->spool) != 0 || fseek(csv->spool, 0, SEEK_SET)))
        return spool_failure(err);
    while (code == COLANDER_OK && is_row && !ferror(csv->file)) {
        if (interrupt_happened() && !was_interrupted)
            return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
        code = unspool_row(csv, &is_row, err);
        if (code == COLANDER_OK && is_row)
            code = write_row(csv, err);
    }
    return code;
}
