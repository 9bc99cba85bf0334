/*
 * Input of gzip: any number of members, and zero bytes after the last, as tapes
 * and block devices add them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/input_codec.h"

#include <stdlib.h>

#include <zlib.h>

enum gzip_place {
    GZIP_INSIDE,  /* a member */
    GZIP_BETWEEN, /* members */
    GZIP_PADDING, /* after the last */
};

struct gzip_input {
    z_stream stream;
    enum gzip_place place;
};

enum colander_code
gzip_create(struct gzip_input **gzip, struct colander_error *err)
{
    const int with_gzip_heads = 16 + MAX_WBITS;

    *gzip = calloc(1, sizeof(**gzip));
    if (*gzip != NULL &&
        inflateInit2(&(*gzip)->stream, with_gzip_heads) == Z_OK)
        return COLANDER_OK;
    free(*gzip);
    *gzip = NULL;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot read gzip");
}

void
gzip_destroy(struct gzip_input *gzip)
{
    if (gzip == NULL)
        return;
    (void)inflateEnd(&gzip->stream);
    free(gzip);
}

/* Decompresses what is in the buffer. It is empty at the end of the file. */
static enum colander_code
inflate_some(struct gzip_input *gzip, struct raw_input *raw,
             struct colander_error *err)
{
    z_stream *stream = &gzip->stream;
    int result;

    if (raw->at == raw->filled)
        return raw_fail(raw, COLANDER_CORRUPT, "the gzip data end too early",
                        err);
    stream->next_in = raw->buffer + raw->at;
    stream->avail_in = (uInt)(raw->filled - raw->at);
    result = inflate(stream, Z_NO_FLUSH);
    raw->at = raw->filled - stream->avail_in;
    if (result == Z_STREAM_END)
        gzip->place = GZIP_BETWEEN;
    else if (result == Z_MEM_ERROR)
        return raw_fail(raw, COLANDER_NO_MEMORY, "cannot read gzip", err);
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return raw_fail(raw, COLANDER_CORRUPT,
                        "the gzip data are damaged before here", err);
    return COLANDER_OK;
}

/* Checks what follows a member. */
static enum colander_code
step_between(struct gzip_input *gzip, struct raw_input *raw,
             struct colander_error *err)
{
    uint8_t byte = raw->buffer[raw->at];

    if (byte == 0) {
        gzip->place = GZIP_PADDING;
        raw->at++;
        return COLANDER_OK;
    }
    if (gzip->place == GZIP_PADDING || byte != 0x1f)
        return raw_fail(raw, COLANDER_CORRUPT,
                        "other data follow the gzip data", err);
    gzip->place = GZIP_INSIDE;
    (void)inflateReset(&gzip->stream);
    return COLANDER_OK;
}

enum colander_code
gzip_read(struct gzip_input *gzip, struct raw_input *raw, void *data,
          size_t size, size_t *got, struct colander_error *err)
{
    uInt room = size < INT32_MAX ? (uInt)size : INT32_MAX;
    enum colander_code code = COLANDER_OK;

    gzip->stream.next_out = data;
    gzip->stream.avail_out = room;
    while (code == COLANDER_OK && gzip->stream.avail_out == room) {
        code = raw_fill(raw, err);
        if (code != COLANDER_OK)
            break;
        if (gzip->place == GZIP_INSIDE)
            code = inflate_some(gzip, raw, err);
        else if (raw->at < raw->filled)
            code = step_between(gzip, raw, err);
        else
            break;
    }
    *got = room - gzip->stream.avail_out;
    return *got > 0 ? COLANDER_OK : code; /* a fault is found again */
}
