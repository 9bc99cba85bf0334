/*
 * JSON read into rows: random rows printed as JSON, and texts that are damaged
 * at random.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/json/json_fault.h"
#include "json_rows.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* -------------------------------------------------------------- damage --- */

/* A text with something of every kind. */
static const char long_text[] =
    " {\"_key\":[\"s-1\",1600000000,-0.5],\"user\":{\"name\":\"Ann \\\"A\\\" "
    "\\ud83d\\ude00 \xC5\xBC\",\"id\":18446744073709551615,\"verified\":true},"
    "\"tags\":[\"x\",[],null,2.0,-1.5e-7,{\"\":{}}],\"n\\n\":false, \"text\" :"
    "\"a longer text that takes more than one block of the parser, and ends\","
    "\"likes\":-12}\n";

/* The function that rejects a text and the one that explains why agree. */
static enum colander_code
assert_agreement(struct colander_slice text)
{
    struct json_fault fault;
    struct read_row got;
    enum colander_code code = read_text(text, &got, why());

    assert_true(code == COLANDER_OK || code == COLANDER_INVALID ||
                code == COLANDER_LIMIT);
    if (code == COLANDER_OK) {
        OK(colander_row_check(got.row, NULL));
        assert_false(json_fault_find(text, true, &fault));
    } else if (json_fault_find(text, true, &fault)) {
        assert_int_equal(code, fault.code);
        assert_true(fault.at <= text.size);
        assert_memory_equal(error_text(), "byte ", 5);
    } else {
        assert_memory_equal(error_text(), "column '", 8);
    }
    return code;
}

TEST(a_text_cut_off_anywhere_is_refused)
{
    const size_t whole = sizeof(long_text) - 2; /* without the last space */

    for (size_t size = 0; size < whole; size++)
        FAILS(assert_agreement(colander_slice_of(long_text, size)),
              COLANDER_INVALID);
    OK(assert_agreement(colander_slice_of(long_text, whole)));
}

TEST(damaged_texts_are_read_or_refused_safely)
{
    static const char pieces[] = "{}[],:\"\\u0dc8-+.eE123 tfn_\n\x80\xC3\xFF";
    uint64_t runs = random_runs(40000);
    uint64_t fine_count = 0;
    char text[sizeof(long_text) - 1];

    for (uint64_t i = 0; i < runs; i++) {
        memcpy(text, long_text, sizeof(text));
        for (uint64_t n = random_below(random_state(), 3) + 1; n > 0; n--) {
            size_t at = random_below(random_state(), sizeof(text));

            text[at] = pieces[random_below(random_state(), sizeof(pieces))];
        }
        if (assert_agreement(colander_slice_of(text, sizeof(text))) ==
            COLANDER_OK)
            fine_count++;
    }
    assert_true(runs < 1000 || fine_count > runs / 100);
}

/* -------------------------------------------- what the writer wrote --- */

static void
add_random_text(struct colander_buffer *text)
{
    static const char *const pieces[] = {
        "a",  "_",    "key",         "\"",           "\\",
        "\n", "\x1f", "\xC5\xBC",    "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
        "/",  "\x7f", "sensor-7 at", "\\u0041",      "\xEF\xBF\xBD"};
    uint64_t count = random_below(random_state(), 6);

    if (random_below(random_state(), 50) == 0)
        count *= 20 + random_below(random_state(), 3000);
    for (; count > 0; count--) {
        const char *piece = pieces[random_below(random_state(), COUNT(pieces))];

        put_bytes(text, piece, strlen(piece));
    }
    if (random_below(random_state(), 8) == 0)
        put_bytes(text, "\0", 1);
}

/* A scalar that exists in JSON; a string's bytes are in `text`. */
static struct colander_value
random_scalar(struct colander_buffer *text)
{
    uint64_t bits = random_next(random_state());
    int shift = (int)random_below(random_state(), 64);
    double number;

    switch (random_below(random_state(), 8)) {
    case 0:
        return colander_null();
    case 1:
        return colander_boolean((bits & 1) != 0);
    case 2:
        return colander_integer((int64_t)bits >> shift);
    case 3:
        return colander_unsigned(bits >> shift);
    case 4:
        return colander_double((double)(int64_t)(bits >> shift) / 8);
    case 5:
        memcpy(&number, &bits, sizeof(number));
        return colander_double(isfinite(number) ? number : -0.0);
    default:
        colander_buffer_clear(text);
        add_random_text(text);
        return colander_string(colander_buffer_slice(text));
    }
}

/* A name that its number makes unique. */
static struct colander_slice
random_name(struct colander_buffer *name, unsigned number)
{
    char digits[16];

    colander_buffer_clear(name);
    if (random_below(random_state(), 4) == 0)
        add_random_text(name);
    name->size = name->size > 900 ? 0 : name->size;
    (void)snprintf(digits, sizeof(digits), "%u", number);
    put_bytes(name, digits, strlen(digits));
    return colander_buffer_slice(name);
}

static void
add_random_members(struct colander_row_builder *builder, bool is_map,
                   unsigned depth)
{
    SCOPED_BUFFER name = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    unsigned count = (unsigned)random_below(random_state(), 6);

    if (random_below(random_state(), 30) == 0)
        count += (unsigned)random_below(random_state(), 30);
    if (depth == 1 && random_below(random_state(), 1000) == 0)
        count += 70000;
    for (unsigned i = 0; i < count; i++) {
        struct colander_slice column = {NULL, 0};

        if (is_map)
            column = random_name(&name, i);
        if (depth < 60 && random_below(random_state(), 5) == 0) {
            bool is_inner_map = random_below(random_state(), 2) == 0;

            if (is_inner_map && is_map)
                colander_row_builder_begin_map_named(builder, column);
            else if (is_map)
                colander_row_builder_begin_array_named(builder, column);
            else if (is_inner_map)
                colander_row_builder_begin_map(builder, NULL);
            else
                colander_row_builder_begin_array(builder, NULL);
            add_random_members(builder, is_inner_map,
                               count > 1000 ? 60 : depth + 1);
            colander_row_builder_end(builder);
        } else if (is_map) {
            colander_row_builder_add_named(builder, column,
                                           random_scalar(&text));
        } else {
            colander_row_builder_add(builder, NULL, random_scalar(&text));
        }
    }
}

static void
random_key(struct colander_buffer *key)
{
    struct colander_buffer texts[3] = {
        COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY};
    struct colander_value parts[3];

    do {
        for (size_t i = 0; i < 3; i++)
            do
                parts[i] = random_scalar(&texts[i]);
            while (parts[i].type == COLANDER_NULL);
    } while (colander_key_encode(parts, 1 + random_below(random_state(), 3),
                                 key, NULL) != COLANDER_OK);
    for (size_t i = 0; i < 3; i++)
        colander_buffer_release(&texts[i]);
}

TEST(rows_read_back_as_they_were_written)
{
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUILDER builder = colander_row_builder_create();

    for (uint64_t i = random_runs(8000); i > 0; i--) {
        struct colander_slice row;
        struct read_row got;

        add_random_members(builder, true, 1);
        OK(colander_row_builder_finish(builder, &row, why()));
        random_key(&key);
        colander_buffer_clear(&json);
        OK(colander_json_append_row(&json, colander_buffer_slice(&key), row,
                                    why()));
        got = read_fine(colander_buffer_slice(&json));
        assert_true(got.has_key);
        assert_bytes(got.key, colander_buffer_slice(&key));
        assert_bytes(got.row, row);
    }
}

/* Rows of every type and encoding: what JSON has no type for is read as the
 * text or number that was written for it. */
TEST(any_row_read_back_is_the_same_text)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER again = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = random_runs(8000); i > 0; i--) {
        struct read_row got;

        random_row(&row, random_state());
        random_key(&key);
        colander_buffer_clear(&json);
        colander_buffer_clear(&again);
        OK(colander_json_append_row(&json, colander_buffer_slice(&key),
                                    colander_buffer_slice(&row), why()));
        got = read_fine(colander_buffer_slice(&json));
        OK(colander_json_append_row(&again, got.key, got.row, why()));
        assert_bytes(colander_buffer_slice(&again),
                     colander_buffer_slice(&json));
    }
}

int
main(void)
{
    return tests_run(reader_create, reader_destroy);
}
