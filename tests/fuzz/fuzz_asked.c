/*
 * Any bytes as a query of another process. Nothing crashes, and what is decoded
 * is encoded to bytes that are decoded and encoded as they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/query_bytes.h"
#include "fuzz/fuzz.h"

/* Decodes the bytes and encodes them again. Returns false if they are not a
 * query. */
static bool
transfer(struct colander_slice bytes, struct colander_buffer *again)
{
    struct colander_decoded_query *decoded;
    enum colander_code code = colander_query_decode(bytes, &decoded, NULL);

    expect(code == COLANDER_OK || code == COLANDER_INVALID ||
           code == COLANDER_LIMIT);
    expect((code == COLANDER_OK) == (decoded != NULL));
    if (code == COLANDER_OK)
        OK(colander_query_encode(colander_decoded_query_get(decoded), again,
                                 NULL));
    colander_decoded_query_destroy(decoded);
    return code == COLANDER_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct colander_buffer once = COLANDER_BUFFER_EMPTY;
    struct colander_buffer twice = COLANDER_BUFFER_EMPTY;
    uint8_t *copy = fuzz_copy(data, size);

    if (transfer(colander_slice_of(copy, size), &once)) {
        expect(transfer(colander_buffer_slice(&once), &twice));
        expect(colander_slice_equal(colander_buffer_slice(&once),
                                    colander_buffer_slice(&twice)));
    }
    colander_buffer_release(&once);
    colander_buffer_release(&twice);
    free(copy);
    return 0;
}
