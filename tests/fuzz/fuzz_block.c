/*
 * Any bytes as a block of data of an SST, decoded: nothing crashes, reads past
 * the end or writes past what was measured, and rows ascend.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sst_places.h"
#include "fuzz/fuzz.h"

/* Asserts that the rows are in `size` bytes, in order. */
static void
look_at_rows(const struct sst_rows *rows, size_t size)
{
    const uint8_t *const bytes = (const uint8_t *)rows;
    struct colander_slice last = {NULL, 0};

    for (uint32_t i = 0; i < rows->count; i++) {
        struct colander_slice key;
        struct colander_slice value;

        expect(sst_rows_get(rows, i, &key, &value) < UINT64_C(1) << 56);
        expect(key.data >= bytes && key.data + key.size <= bytes + size);
        expect(value.data == key.data + key.size + SST_TAIL_SIZE &&
               value.data + value.size <= bytes + size);
        expect(i == 0 || colander_slice_compare(last, key) < 0);
        last = key;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);
    const struct colander_slice block = colander_slice_of(copy, size);
    uint32_t entry_count;
    const size_t needed = sst_rows_measure(block, &entry_count);
    struct colander_slice last;
    struct sst_rows *rows;

    if (needed > 0) {
        expect(entry_count > 0);
        expect(sst_rows_first_key(block).size <= size);
        rows = malloc(needed);
        expect(rows != NULL);
        if (sst_rows_decode(block, entry_count, rows, &last)) {
            look_at_rows(rows, needed);
            expect(last.data + last.size <= (const uint8_t *)rows + needed);
        }
        expect(rows->count <= entry_count);
        free(rows);
    }
    free(copy);
    return 0;
}
