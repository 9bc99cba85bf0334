/*
 * The checksum of RocksDB's logs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void
checksums_are_those_of_the_standard(void **state)
{
    uint8_t zeros[32] = {0};
    uint8_t text[] = "123456789";

    (void)state;
    assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aa);
    assert_int_equal(crc32c(0, text, 9), 0xe3069283);
    assert_int_equal(crc32c(crc32c(0, text, 4), text + 4, 5), 0xe3069283);
    assert_int_equal(crc32c(0, text, 0), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_those_of_the_standard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
