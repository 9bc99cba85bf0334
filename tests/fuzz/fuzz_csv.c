/*
 * Any bytes as CSV: a row that is read is valid, has at most as many columns as
 * there are names, and is read again as the same row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"
#include "loading/rows.h"

/* Moves to the next record that is not bad. */
static bool
next(struct splitter *splitter, struct colander_slice *text,
     struct colander_slice *record)
{
    struct split_record ended;
    enum split split;

    do {
        split = splitter_next(splitter, *text, true, &ended, NULL);
        expect(split != SPLIT_MORE);
        text->data += text->size > 0 ? ended.size : 0;
        text->size -= ended.size;
        *record = ended.record;
    } while (split == SPLIT_BAD);
    return split == SPLIT_RECORD;
}

static void
read_row(struct csv_reader *reader, struct colander_slice record)
{
    struct colander_buffer before = COLANDER_BUFFER_EMPTY;
    struct parsed_row parsed;
    struct colander_error err;
    enum colander_code code = csv_reader_row(reader, record, &parsed, &err);

    expect(parsed.fault <= record.size);
    if (code != COLANDER_OK) {
        expect(code == COLANDER_INVALID || code == COLANDER_LIMIT);
        return;
    }
    OK(colander_row_check(parsed.row, NULL));
    expect(!parsed.has_key || parsed.key.size > 0);
    OK(colander_buffer_append(&before, parsed.row.data, parsed.row.size, NULL));
    OK(csv_reader_row(reader, record, &parsed, NULL));
    expect(colander_slice_equal(parsed.row, colander_buffer_slice(&before)));
    colander_buffer_release(&before);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct colander_schema *schema;
    struct colander_slice text = colander_slice_of(data, size);
    struct colander_slice record;
    struct csv_header *header;
    struct csv_reader reader;
    struct splitter splitter;
    char delimiter = csv_delimiter(text);

    if (schema == NULL) {
        schema = schema_create();
        expect(schema != NULL);
        OK(schema_texts_add(&schema->nulls, "NA", NULL));
    }
    splitter_init(&splitter, RECORDS_CSV, delimiter);
    if (!next(&splitter, &text, &record))
        return 0;
    if (csv_header_create(record, delimiter, schema, &header, NULL) !=
        COLANDER_OK)
        return 0;
    reader = (struct csv_reader){.header = header};
    while (next(&splitter, &text, &record))
        read_row(&reader, record);
    csv_reader_release(&reader);
    csv_header_destroy(header);
    return 0;
}
