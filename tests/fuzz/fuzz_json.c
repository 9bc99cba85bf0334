/*
 * Any bytes as JSON: reading neither crashes nor reads past the end. What it
 * accepts is a row that is read again from its own text, and what it rejects
 * has a fault that is found.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/json/json_fault.h"
#include "fuzz/fuzz.h"

static struct colander_json_reader *
reader_of_all(void)
{
    static struct colander_json_reader *reader;

    if (reader == NULL)
        reader = colander_json_reader_create();
    expect(reader != NULL);
    return reader;
}

static void
append(struct colander_buffer *out, struct colander_slice bytes)
{
    OK(colander_buffer_append(out, bytes.data, bytes.size, NULL));
}

static void
write_and_read(struct colander_slice key, struct colander_slice row)
{
    struct colander_buffer old_key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer old_row = COLANDER_BUFFER_EMPTY;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    bool has_key;

    append(&old_key, key);
    append(&old_row, row);
    OK(colander_json_append_row(&json, key, row, NULL));
    OK(colander_json_reader_row(reader_of_all(), colander_buffer_slice(&json),
                                &key, &has_key, &row, NULL));
    expect(has_key);
    expect(colander_slice_equal(colander_buffer_slice(&old_key), key));
    expect(colander_slice_equal(colander_buffer_slice(&old_row), row));
    colander_buffer_release(&old_key);
    colander_buffer_release(&old_row);
    colander_buffer_release(&json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct colander_slice text = colander_slice_of(data, size);
    struct colander_buffer made_key = COLANDER_BUFFER_EMPTY;
    struct colander_slice key, row;
    struct colander_error err;
    struct json_fault fault;
    enum colander_code code;
    bool has_key;

    code = colander_json_reader_row(reader_of_all(), text, &key, &has_key, &row,
                                    &err);
    if (code == COLANDER_OK) {
        expect(!json_fault_find(text, true, &fault));
        OK(colander_row_check(row, NULL));
        OK(colander_key_text("k", &made_key, NULL));
        write_and_read(has_key ? key : colander_buffer_slice(&made_key), row);
    } else {
        expect(code == COLANDER_INVALID || code == COLANDER_LIMIT);
        if (json_fault_find(text, true, &fault))
            expect(fault.code == code && fault.at <= size);
        else /* valid JSON, but not a row */
            expect(strncmp(err.message, "column '", 8) == 0 ||
                   strstr(err.message, "parsing a number") != NULL);
    }
    colander_buffer_release(&made_key);
    return 0;
}
