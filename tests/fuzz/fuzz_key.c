/*
 * Any bytes as a key: decoding neither crashes nor reads past the end, and
 * accepts exactly what encoding produces and key_is_valid accepts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/key.h"
#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct colander_slice key = colander_slice_of(data, size);
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_buffer again = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    enum colander_code code;
    size_t count = 0;

    code = colander_key_decode(key, parts, &count, &scratch, &err);
    expect(key_is_valid(key) == (code == COLANDER_OK));
    if (code == COLANDER_OK) {
        expect(count >= 1 && count <= COLANDER_KEY_PARTS_MAX);
        OK(colander_key_encode(parts, count, &again, &err));
        expect(colander_slice_equal(colander_buffer_slice(&again), key));
    } else {
        expect(code == COLANDER_CORRUPT);
    }
    colander_buffer_release(&again);
    colander_buffer_release(&scratch);
    return 0;
}
