/*
 * The checksum of RocksDB's logs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/crc32c.h"
#include "support/cases.h"

#include "support/random.h"

typedef uint32_t some_crc32c(uint32_t crc, const uint8_t *data, size_t size);

static void
assert_standard(some_crc32c *crc)
{
    uint8_t zeros[32] = {0};
    uint8_t text[] = "123456789";

    assert_int_equal(crc(0, zeros, 32), 0x8a9136aa);
    assert_int_equal(crc(0, text, 9), 0xe3069283);
    assert_int_equal(crc(crc(0, text, 4), text + 4, 5), 0xe3069283);
    assert_int_equal(crc(0, text, 0), 0);
}

TEST(checksums_are_those_of_the_standard)
{
    assert_standard(crc32c);
    assert_standard(crc32c_by_table);
}

/* A log written on one machine can be read on another. */
TEST(all_processors_have_the_same_checksums)
{
    uint64_t random = random_seed("crc32c");
    uint8_t bytes[100];

    for (uint64_t runs = random_runs(1000); runs > 0; runs--) {
        const size_t size = random_below(&random, sizeof(bytes));
        const uint32_t before = (uint32_t)random_next(&random);

        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)random_next(&random);
        assert_int_equal(crc32c(before, bytes, size),
                         crc32c_by_table(before, bytes, size));
    }
}
