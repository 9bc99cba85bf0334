/*
 * Rows of msgpack.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/msgpack_rows.h"
#include "loading/rows.h"
#include "support/cases.h"

#include "support/random.h"
#include "support/scoped.h"

#define SLICE(text) colander_slice_of(text, sizeof(text) - 1)

/* The row of a record, and its key as JSON; NULL: none. */
static void
assert_row(struct colander_slice record, const char *key_json,
           struct colander_slice expected)
{
    struct msgpack_rows rows = {.key = COLANDER_BUFFER_EMPTY};
    SCOPED_BUFFER json = COLANDER_BUFFER_EMPTY;
    struct parsed_row parsed;

    OK(msgpack_rows_row(&rows, record, &parsed, why()));
    assert_true(colander_slice_equal(parsed.row, expected));
    assert_int_equal(parsed.has_key, key_json != NULL);
    if (parsed.has_key) {
        assert_int_equal(colander_json_append_key(&json, parsed.key, NULL), 0);
        assert_int_equal(json.size, strlen(key_json));
        assert_memory_equal(json.data, key_json, json.size);
    }
    msgpack_rows_release(&rows);
}

static void
assert_refused(struct colander_slice record, enum colander_code code,
               const char *message, size_t where)
{
    struct msgpack_rows rows = {.key = COLANDER_BUFFER_EMPTY};
    struct colander_error err;
    struct parsed_row parsed;

    assert_int_equal(msgpack_rows_row(&rows, record, &parsed, &err), code);
    assert_int_equal(err.code, code);
    if (strstr(err.message, message) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, message);
    assert_int_equal(parsed.fault, where);
    msgpack_rows_release(&rows);
}

#define KEY "\xa4_key"
#define A                                                                      \
    "\xa1"                                                                     \
    "a"
#define B                                                                      \
    "\xa1"                                                                     \
    "b"

TEST(a_record_without_a_key_is_the_row)
{
    assert_row(SLICE("\x80"), NULL, SLICE("\x80"));
    assert_row(SLICE("\x81" A "\x01"), NULL, SLICE("\x81" A "\x01"));
    assert_row(SLICE("\xde\x00\x01" A "\xcd\x00\x01"), NULL,
               SLICE("\xde\x00\x01" A "\xcd\x00\x01"));
    assert_row(SLICE("\x81" A "\x81" KEY "\x01"), NULL,
               SLICE("\x81" A "\x81" KEY "\x01"));
}

TEST(the_key_is_taken_out_wherever_it_is)
{
    assert_row(SLICE("\x81" KEY "\x05"), "5", SLICE("\x80"));
    assert_row(SLICE("\x82" KEY "\x05" A "\x01"), "5", SLICE("\x81" A "\x01"));
    assert_row(SLICE("\x82" A "\xcd\x00\x01" KEY "\xa1x"), "\"x\"",
               SLICE("\x81" A "\xcd\x00\x01"));
    assert_row(SLICE("\x83" A "\x01" KEY "\x93\xa1x\x01\xc3" B "\x90"),
               "[\"x\",1,true]", SLICE("\x82" A "\x01" B "\x90"));
    assert_row(SLICE("\x82" A "\x01\xd9\x04_key\x92\x01\x02"), "[1,2]",
               SLICE("\x81" A "\x01"));
}

/* So that what is loaded equals what was exported. */
TEST(the_head_keeps_its_kind)
{
    assert_row(SLICE("\xde\x00\x02" A "\x01" KEY "\x05"), "5",
               SLICE("\xde\x00\x01" A "\x01"));
    assert_row(SLICE("\xdf\x00\x00\x00\x01" KEY "\x05"), "5",
               SLICE("\xdf\x00\x00\x00\x00"));
}

/* A map of `count` columns, in its shortest form, followed by a key. */
static void
assert_count(uint32_t count, size_t head_size)
{
    SCOPED_BUFFER record = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    uint8_t head[5] = {0xdf, 0, (uint8_t)((count + 1) >> 16),
                       (uint8_t)((count + 1) >> 8), (uint8_t)(count + 1)};
    SCOPED_BUILDER builder = colander_row_builder_create();

    for (uint32_t i = 0; i < count; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "%u", i);
        colander_row_builder_add(builder, name, colander_integer(i));
    }
    assert_int_equal(colander_row_builder_finish(builder, &row, NULL), 0);
    if (count + 1 < 16)
        head[0] = (uint8_t)(0x80 | (count + 1));
    else if (count + 1 <= UINT16_MAX) {
        head[0] = 0xde;
        memmove(head + 1, head + 3, 2);
    }
    assert_int_equal(colander_buffer_append(&record, head,
                                            count + 1 < 16            ? 1
                                            : count + 1 <= UINT16_MAX ? 3
                                                                      : 5,
                                            NULL),
                     0);
    assert_int_equal(colander_buffer_append(&record, row.data + head_size,
                                            row.size - head_size, NULL),
                     0);
    assert_int_equal(colander_buffer_append(&record, KEY "\x05", 6, NULL), 0);
    assert_row(colander_buffer_slice(&record), "5", row);
}

TEST(the_shortest_head_stays_the_shortest)
{
    assert_count(14, 1);
    assert_count(15, 1);
    assert_count(16, 3);
    assert_count(65534, 3);
    assert_count(65535, 3);
    assert_count(65536, 5);
}

TEST(records_that_may_not_be_stored_are_refused_with_the_place)
{
    assert_refused(SLICE("\x90"), COLANDER_INVALID, "not a map", 0);
    assert_refused(SLICE("\x82" A "\x01" B "\xa1\xff"), COLANDER_INVALID, "b",
                   4);
    assert_refused(SLICE("\x83" KEY "\x01" A "\x01" B "\xa1\xff"),
                   COLANDER_INVALID, "b", 10);
    assert_refused(SLICE("\x82" A "\x01\x05\x01"), COLANDER_INVALID, "", 4);
    assert_refused(SLICE("\x82" A "\x01" A "\x01"), COLANDER_INVALID, "a", 0);
    assert_refused(SLICE("\x82" A "\x01" B), COLANDER_INVALID, "", 4);
    assert_refused(SLICE("\x80\x80"), COLANDER_INVALID, "", 0);
}

TEST(invalid_keys_are_rejected_with_their_place)
{
    assert_refused(SLICE("\x82" A "\x01" KEY "\xc0"), COLANDER_INVALID, "", 4);
    assert_refused(SLICE("\x81" KEY "\x80"), COLANDER_INVALID, "", 1);
    assert_refused(SLICE("\x81" KEY "\x90"), COLANDER_INVALID, "", 1);
    assert_refused(SLICE("\x81" KEY "\x91\x91\x01"), COLANDER_INVALID, "", 1);
    assert_refused(SLICE("\x81" KEY "\xdc\x00\x11\1\1\1\1\1\1\1\1\1\1\1\1\1\1"
                         "\1\1\1"),
                   COLANDER_LIMIT, "17 parts", 1);
    assert_refused(SLICE("\x82" KEY "\x01" KEY "\x02"), COLANDER_INVALID,
                   "_key", 7);
}

/* For any bytes: it does not read beyond them, and returns only valid rows. */
TEST(damaged_records_are_rejected_or_valid)
{
    static const uint8_t record[] = "\x84" A "\x92\x01\x81" A "\xa3xyz" KEY
                                    "\x92\xa1x\x07" B "\xcb\0\0\0\0\0\0\0\0"
                                    "\xa1"
                                    "c\xd6\xff\0\0\0\1";
    uint64_t random = random_seed("damaged");
    struct msgpack_rows rows = {.key = COLANDER_BUFFER_EMPTY};

    for (uint64_t run = random_runs(100000); run > 0; run--) {
        size_t size = random_below(&random, 8) == 0
                          ? random_below(&random, sizeof(record))
                          : sizeof(record) - 1;
        SCOPED_MEMORY uint8_t *bytes = malloc(size + (size == 0));
        struct parsed_row parsed;

        memcpy(bytes, record, size);
        if (size > 0)
            bytes[random_below(&random, size)] = (uint8_t)random_next(&random);
        if (msgpack_rows_row(&rows, colander_slice_of(bytes, size), &parsed,
                             NULL) == COLANDER_OK)
            OK(colander_row_check(parsed.row, NULL));
        else
            assert_true(parsed.fault <= size);
    }
    msgpack_rows_release(&rows);
}
