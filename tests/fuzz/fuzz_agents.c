/*
 * Any bytes as line protocol, and as items of Elasticsearch: nothing crashes, a
 * fault is in its record, and what is a row may be stored.
 *
 * The first byte selects the format, and for line protocol the unit of times.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"
#include "loading/rows.h"
#include "loading/schema.h"

static void
parse(struct rows *rows, struct colander_slice record)
{
    uint8_t *copy = fuzz_copy(record.data, record.size);
    struct colander_error err = {.code = COLANDER_OK};
    struct parsed_row parsed;
    enum colander_code code;

    code =
        rows_parse(rows, colander_slice_of(copy, record.size), &parsed, &err);
    if (code == COLANDER_OK) {
        struct colander_value parts[COLANDER_KEY_PARTS_MAX];
        struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
        size_t count = 0;

        if (parsed.has_key)
            OK(colander_key_decode(parsed.key, parts, &count, &scratch, NULL));
        if (parsed.is_checked && parsed.action != ITEM_DELETE)
            OK(colander_row_check(parsed.row, NULL));
        expect(parsed.has_key || parsed.action == ITEM_INDEX ||
               parsed.action == ITEM_CREATE);
        colander_buffer_release(&scratch);
    } else {
        expect(code == COLANDER_INVALID || code == COLANDER_LIMIT);
        expect(err.message[0] != '\0' && parsed.fault <= record.size);
    }
    free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t units[] = {1, 1000, 1000000000,
                                     UINT64_C(3600000000000)};
    struct colander_slice text;
    struct colander_schema schema;
    struct splitter splitter;
    struct split_record ended;
    struct rows rows;
    enum split split;

    if (size == 0)
        return 0;
    text = colander_slice_of(data + 1, size - 1);
    schema_init(&schema);
    schema.time_unit = units[data[0] / 2 % 4];
    splitter_init(&splitter, data[0] % 2 == 0 ? RECORDS_INFLUX : RECORDS_ITEMS,
                  0);
    rows_init(&rows, splitter.format, NULL, &schema);
    rows.influx.now = colander_timestamp(0, 0);
    while ((split = splitter_next(&splitter, text, true, &ended, NULL)) !=
           SPLIT_END) {
        if (split == SPLIT_RECORD)
            parse(&rows, ended.record);
        expect(ended.size > 0 && ended.size <= text.size);
        text =
            colander_slice_of(text.data + ended.size, text.size - ended.size);
    }
    rows_release(&rows);
    return 0;
}
