/*
 * A naive model of rows: a fixed set of columns, a slot for every possible key,
 * and patches written out by hand.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_MODEL_ROW_H
#define TESTS_COLUMNS_MODEL_ROW_H

#include "support/cases.h"
#include "support/scoped.h"

#include "columns/columns.h"

#include "support/random.h"

#include <string.h>

/* A key is {station, time}; key order is index order. */
#define STATIONS 8
#define TIMES 40
#define KEYS (STATIONS * TIMES)
#define COLUMNS 5

enum kind { ABSENT, IS_NULL, INTEGER, TEXT, MAP };

struct cell {
    enum kind kind;
    int value;          /* of INTEGER and TEXT */
    int inner_value[2]; /* of MAP: x and y; 0 absent, -1 null in a patch */
};

struct row {
    bool exists;
    struct cell cells[COLUMNS];
};

static const char *const column_names[] = {"a", "b", "c.d", "e", "f"};
static const char *const column_paths[] = {"a", "b", "c\\.d", "e", "f"};

/* ---------------------------------------------------------- model rows --- */

static inline struct cell
random_cell(uint64_t *random, bool is_patch)
{
    struct cell cell = {ABSENT, 0, {0, 0}};
    uint64_t choice = random_below(random, 10);

    if (choice < 4) {
        cell.kind = INTEGER;
        cell.value = (int)random_below(random, 6);
    } else if (choice < 6) {
        cell.kind = TEXT;
        cell.value = (int)random_below(random, 6);
    } else if (choice < 7) {
        cell.kind = MAP;
        for (int i = 0; i < 2; i++)
            cell.inner_value[i] =
                (int)random_below(random, 5) - (is_patch ? 1 : 0);
    } else if (choice < 8) {
        cell.kind = IS_NULL;
    }
    return cell;
}

static inline struct row
random_row(uint64_t *random, bool is_patch)
{
    struct row row = {true, {{ABSENT, 0, {0, 0}}}};

    for (int i = 0; i < COLUMNS; i++)
        row.cells[i] = random_cell(random, is_patch);
    return row;
}

/* RFC 7386 for cells, written out by hand. */
static inline void
patch_cell(struct cell *cell, const struct cell *patch)
{
    switch (patch->kind) {
    case ABSENT:
        return;
    case IS_NULL:
        cell->kind = ABSENT;
        return;
    case INTEGER:
    case TEXT:
        *cell = *patch;
        return;
    case MAP:
        if (cell->kind != MAP) {
            cell->kind = MAP;
            cell->inner_value[0] = 0;
            cell->inner_value[1] = 0;
        }
        for (int i = 0; i < 2; i++) {
            if (patch->inner_value[i] != 0)
                cell->inner_value[i] =
                    patch->inner_value[i] < 0 ? 0 : patch->inner_value[i];
        }
        return;
    }
}

static inline void
patch_row(struct row *row, const struct row *patch)
{
    if (!row->exists)
        memset(row, 0, sizeof(*row));
    row->exists = true;
    for (int i = 0; i < COLUMNS; i++)
        patch_cell(&row->cells[i], &patch->cells[i]);
}

/* ---------------------------------------------------- to and from bytes --- */

/* Borrowed until the builder is next used. */
static inline struct colander_slice
encode_row(struct colander_row_builder *builder, const struct row *row)
{
    struct colander_slice bytes;
    char text[16];

    for (int i = 0; i < COLUMNS; i++) {
        const struct cell *cell = &row->cells[i];
        const char *name = column_names[i];

        (void)snprintf(text, sizeof(text), "text %d", cell->value);
        if (cell->kind == IS_NULL) {
            colander_row_builder_add(builder, name, colander_null());
        } else if (cell->kind == INTEGER) {
            colander_row_builder_add(builder, name,
                                     colander_integer(cell->value));
        } else if (cell->kind == TEXT) {
            colander_row_builder_add(builder, name, colander_text(text));
        } else if (cell->kind == MAP) {
            colander_row_builder_begin_map(builder, name);
            for (int j = 0; j < 2; j++) {
                int value = cell->inner_value[j];

                if (value != 0)
                    colander_row_builder_add(
                        builder, j == 0 ? "x" : "y",
                        value < 0 ? colander_null() : colander_integer(value));
            }
            colander_row_builder_end(builder);
        }
    }
    OK(colander_row_builder_finish(builder, &bytes, NULL));
    return bytes;
}

static inline struct cell
decode_cell(const struct colander_value *value)
{
    struct cell cell = {IS_NULL, 0, {0, 0}};
    struct colander_members members;
    struct colander_slice name;
    struct colander_value inner;
    bool is_member;

    if (value->type == COLANDER_INTEGER) {
        cell.kind = INTEGER;
        cell.value = (int)value->integer;
    } else if (value->type == COLANDER_STRING) {
        cell.kind = TEXT;
        cell.value = value->bytes.data[value->bytes.size - 1] - '0';
    } else if (value->type == COLANDER_MAP) {
        cell.kind = MAP;
        OK(colander_members_init(&members, value->bytes, NULL));
        for (;;) {
            OK(colander_members_next(&members, &is_member, &name, &inner,
                                     NULL));
            if (!is_member)
                break;
            assert_int_equal(inner.type, COLANDER_INTEGER);
            cell.inner_value[name.data[0] == 'x' ? 0 : 1] = (int)inner.integer;
        }
    }
    return cell;
}

static inline struct row
decode_row(struct colander_slice bytes)
{
    struct row row = {true, {{ABSENT, 0, {0, 0}}}};
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member;

    OK(colander_members_init(&members, bytes, NULL));
    for (;;) {
        int column = 0;

        OK(colander_members_next(&members, &is_member, &name, &value, NULL));
        if (!is_member)
            return row;
        while (!colander_slice_equal(name,
                                     colander_slice_text(column_names[column])))
            column++;
        row.cells[column] = decode_cell(&value);
    }
}

static inline void
encode_key(size_t index, struct colander_buffer *key)
{
    char station[16];
    struct colander_value parts[2];

    (void)snprintf(station, sizeof(station), "s%zu", index / TIMES);
    parts[0] = colander_text(station);
    parts[1] = colander_integer((int64_t)(index % TIMES) * 1000 - 7000);
    OK(colander_key_encode(parts, 2, key, NULL));
}

static inline size_t
decode_key(struct colander_slice key)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    size_t count;

    OK(colander_key_decode(key, parts, &count, &scratch, NULL));
    assert_int_equal(count, 2);
    return (size_t)(parts[0].bytes.data[1] - '0') * TIMES +
           (size_t)((parts[1].integer + 7000) / 1000);
}

static inline void
assert_same_row(const struct row *expected, const struct row *got)
{
    assert_int_equal(expected->exists, got->exists);
    for (int i = 0; i < COLUMNS && expected->exists; i++) {
        const struct cell *a = &expected->cells[i];
        const struct cell *b = &got->cells[i];

        assert_int_equal(a->kind, b->kind);
        if (a->kind == INTEGER || a->kind == TEXT)
            assert_int_equal(a->value, b->value);
        if (a->kind == MAP)
            assert_memory_equal(a->inner_value, b->inner_value,
                                sizeof(a->inner_value));
    }
}

#endif
