/*
 * Any bytes as a row and a patch for it: nothing crashes or reads over the
 * end, checked rows answer every question, and patching them gives rows.
 *
 * The first byte says how many of the others are the row; the rest is the
 * patch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = {"a", "a.b", "a[]", "a[].b", "a[][]", "b"};
static const size_t path_count = sizeof(paths) / sizeof(paths[0]);

static void
expect(bool is_so)
{
    if (!is_so)
        abort();
}

/* Goes through all members at the top; an unchecked row may end in CORRUPT. */
static void
walk(struct colander_slice row, bool is_row)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    enum colander_code code;
    bool is_member = true;

    code = colander_members_init(&members, row, NULL);
    while (code == COLANDER_OK && is_member)
        code = colander_members_next(&members, &is_member, &name, &value, NULL);
    expect(code == COLANDER_OK || !is_row);
}

static void
get(struct colander_slice row, bool is_row)
{
    for (size_t i = 0; i < path_count; i++) {
        struct colander_value value;
        enum colander_code code;
        bool found = false;

        code = colander_row_get(row, paths[i], &value, &found, NULL);
        expect(code == COLANDER_OK || !is_row);
        if (code == COLANDER_OK && found && value.type < COLANDER_ARRAY) {
            (void)colander_value_hash(&value);
            expect(colander_value_compare(&value, &value) == 0);
        }
    }
}

/* What is selected of a row is a row. */
static void
cut(struct colander_slice row, bool is_row)
{
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    code = colander_row_select(row, paths, path_count, &out, NULL);
    expect(code == COLANDER_OK || !is_row);
    if (is_row)
        expect(colander_row_check(colander_buffer_slice(&out), NULL) ==
               COLANDER_OK);
    colander_buffer_release(&out);
}

/* A patched row is a row, unless both together are too much for one. */
static void
patch(struct colander_slice row, struct colander_slice change, bool are_rows)
{
    struct colander_buffer out = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_row_patch(row, change, &out, NULL);

    if (are_rows) {
        expect(code == COLANDER_OK || code == COLANDER_LIMIT);
        if (code == COLANDER_OK)
            expect(colander_row_check(colander_buffer_slice(&out), NULL) ==
                   COLANDER_OK);
    }
    colander_buffer_release(&out);
}

static void
print(struct colander_slice row)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_value value = colander_null();

    value.type = COLANDER_MAP;
    value.bytes = row;
    expect(colander_json_append_value(&json, &value, NULL) == COLANDER_OK);
    colander_buffer_release(&json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct colander_slice row, change;
    bool is_row, is_change;
    size_t row_size;

    if (size == 0)
        return 0;
    row_size = data[0] < size ? data[0] : size - 1;
    row = colander_slice_of(data + 1, row_size);
    change = colander_slice_of(data + 1 + row_size, size - 1 - row_size);
    is_row = colander_row_check(row, NULL) == COLANDER_OK;
    is_change = colander_row_check(change, NULL) == COLANDER_OK;

    walk(row, is_row);
    get(row, is_row);
    cut(row, is_row);
    patch(row, change, is_row && is_change);
    if (is_row)
        print(row);
    return 0;
}
