/* See text.h. SPDX-License-Identifier: MIT */
#include "cluster/text.h"

#include <stdarg.h>
#include <stdio.h>

void
text_add(struct text *text, const char *format, ...)
{
    struct colander_buffer *bytes = &text->bytes;
    va_list values;
    int size;

    va_start(values, format);
    size = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (size < 0 ||
        colander_buffer_reserve(bytes, (size_t)size + 1, NULL) != COLANDER_OK) {
        text->is_short = true;
        return;
    }
    va_start(values, format);
    (void)vsnprintf((char *)bytes->data + bytes->size, (size_t)size + 1, format,
                    values);
    va_end(values);
    bytes->size += (size_t)size;
}

void
text_add_encoded(struct text *text, const char *bytes, bool keeps_slash)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *bytes != '\0'; bytes++) {
        if (strchr(plain, *bytes) != NULL || (keeps_slash && *bytes == '/'))
            text_add(text, "%c", *bytes);
        else
            text_add(text, "%%%02X", (unsigned)(unsigned char)*bytes);
    }
}

const char *
text_string(struct text *text)
{
    if (colander_buffer_reserve(&text->bytes, 1, NULL) != COLANDER_OK) {
        text->is_short = true;
        return "";
    }
    text->bytes.data[text->bytes.size] = '\0';
    return (const char *)text->bytes.data;
}

enum colander_code
text_settle(const struct text *text, struct colander_error *err)
{
    if (text->is_short)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a text");
    return COLANDER_OK;
}

void
text_clear(struct text *text)
{
    colander_buffer_clear(&text->bytes);
    text->is_short = false;
}

void
text_release(struct text *text)
{
    colander_buffer_release(&text->bytes);
    text->is_short = false;
}
