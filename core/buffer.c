/*
 * Buffers: bytes that grow.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

#include <stdlib.h>

enum colander_code
colander_buffer_reserve(struct colander_buffer *buffer, size_t size,
                        struct colander_error *err)
{
    size_t capacity = buffer->capacity;
    uint8_t *grown;

    if (size <= capacity - buffer->size)
        return COLANDER_OK;
    if (size > SIZE_MAX / 2 - buffer->size)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot grow a buffer by %zu bytes", size);
    capacity += capacity / 2 + 64;
    if (capacity < buffer->size + size)
        capacity = buffer->size + size;
    grown = realloc(buffer->data, capacity);
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot grow a buffer to %zu bytes", capacity);
    buffer->data = grown;
    buffer->capacity = capacity;
    return COLANDER_OK;
}

enum colander_code
colander_buffer_append(struct colander_buffer *buffer, const void *data,
                       size_t size, struct colander_error *err)
{
    enum colander_code code = colander_buffer_reserve(buffer, size, err);

    if (code != COLANDER_OK)
        return code;
    if (size > 0)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return COLANDER_OK;
}

void
colander_buffer_release(struct colander_buffer *buffer)
{
    free(buffer->data);
    buffer->data = NULL;
    buffer->size = 0;
    buffer->capacity = 0;
}
