/*
 * UTF-8: what is valid text and what is not.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/utf8.h"
#include "support/cases.h"

#include <string.h>

TEST(utf8_accepts_just_what_unicode_does)
{
    for (uint32_t point = 0; point < 0x200000; point++) {
        uint8_t four[4] = {(uint8_t)(0xF0 | point >> 18),
                           (uint8_t)(0x80 | (point >> 12 & 63)),
                           (uint8_t)(0x80 | (point >> 6 & 63)),
                           (uint8_t)(0x80 | (point & 63))};
        uint8_t three[3] = {(uint8_t)(0xE0 | (point >> 12 & 15)), four[2],
                            four[3]};
        uint8_t two[2] = {(uint8_t)(0xC0 | (point >> 6 & 31)), four[3]};

        assert_int_equal(utf8_is_valid(four, 4),
                         point >= 0x10000 && point <= 0x10FFFF);
        if (point < 0x10000)
            assert_int_equal(utf8_is_valid(three, 3),
                             point >= 0x800 &&
                                 (point < 0xD800 || point > 0xDFFF));
        if (point < 0x800)
            assert_int_equal(utf8_is_valid(two, 2), point >= 0x80);
        if (point < 0x100)
            assert_int_equal(utf8_is_valid((uint8_t[]){(uint8_t)point}, 1),
                             point < 0x80);
    }
}

TEST(utf8_is_checked_anywhere_in_a_text)
{
    uint8_t text[40];

    for (size_t size = 2; size <= sizeof(text); size++) {
        for (size_t at = 0; at + 2 <= size; at++) {
            memset(text, 'a', sizeof(text));
            text[at] = 0xC3;
            assert_false(utf8_is_valid(text, size));
            text[at + 1] = 0xA9;
            assert_true(utf8_is_valid(text, size));
            assert_false(utf8_is_valid(text, at + 1));
            text[at] = 'a';
            assert_false(utf8_is_valid(text, size));
        }
    }
    assert_true(utf8_is_valid(NULL, 0));
}

TEST(cut_stops_between_characters)
{
    const char *text = "a\xc3\xa9\xe2\x82\xac\xf4\x8f\xbf\xbf"; /* 1 2 3 4 */
    const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10, 10};

    for (size_t max = 0; max < COUNT(expected); max++)
        assert_int_equal(utf8_cut((const uint8_t *)text, 10, max),
                         expected[max]);
    assert_int_equal(utf8_cut(NULL, 0, 3), 0);
    assert_in_range(utf8_cut((const uint8_t *)"\x80\x80\x80\x80\x80\x80", 6, 5),
                    2, 5);
}
