/* See input.h. SPDX-License-Identifier: MIT */
#include "loading/input_codec.h"

#include <stdio.h>
#include <stdlib.h>

#include <zstd.h>
#include <zstd_errors.h>

/* 128 MiB, as `zstd -d` allows by default. What strangers send may need 8 MiB,
 * as up to `zstd -19` it does. */
#define WINDOW_LOG_MAX 27
#define STRANGE_WINDOW_LOG_MAX 23

struct zstd_input {
    ZSTD_DCtx *context;
    int window_log_max;
    bool is_inside; /* a frame */
    size_t failure; /* its last error, after which nothing can be read */
};

enum colander_code
zstd_create(struct zstd_input **zstd, bool is_strange,
            struct colander_error *err)
{
    *zstd = calloc(1, sizeof(**zstd));
    if (*zstd != NULL)
        (*zstd)->context = ZSTD_createDCtx();
    if (*zstd != NULL && (*zstd)->context != NULL) {
        (*zstd)->window_log_max =
            is_strange ? STRANGE_WINDOW_LOG_MAX : WINDOW_LOG_MAX;
        (void)ZSTD_DCtx_setParameter((*zstd)->context, ZSTD_d_windowLogMax,
                                     (*zstd)->window_log_max);
        return COLANDER_OK;
    }
    free(*zstd);
    *zstd = NULL;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot read zstd");
}

void
zstd_destroy(struct zstd_input *zstd)
{
    if (zstd == NULL)
        return;
    (void)ZSTD_freeDCtx(zstd->context);
    free(zstd);
}

static enum colander_code
zstd_fail(const struct zstd_input *zstd, const struct raw_input *raw,
          struct colander_error *err)
{
    char text[100];

    switch (ZSTD_getErrorCode(zstd->failure)) {
    case ZSTD_error_memory_allocation:
        return raw_fail(raw, COLANDER_NO_MEMORY, "cannot read zstd", err);
    case ZSTD_error_frameParameter_windowTooLarge:
        (void)snprintf(text, sizeof(text),
                       "the zstd data need a window of more than %d MiB "
                       "(--long=%d is the most)",
                       1 << (zstd->window_log_max - 20), zstd->window_log_max);
        return raw_fail(raw, COLANDER_LIMIT, text, err);
    case ZSTD_error_prefix_unknown:
        return raw_fail(raw, COLANDER_CORRUPT,
                        "other data follow the zstd data", err);
    default:
        return raw_fail(raw, COLANDER_CORRUPT,
                        "the zstd data are damaged before here", err);
    }
}

enum colander_code
zstd_read(struct zstd_input *zstd, struct raw_input *raw, void *data,
          size_t size, size_t *got, struct colander_error *err)
{
    ZSTD_outBuffer out = {data, size, 0};

    while (out.pos == 0) {
        ZSTD_inBuffer in;
        size_t result;
        enum colander_code code = raw_fill(raw, err);

        if (code != COLANDER_OK)
            return code;
        if (zstd->failure != 0)
            return zstd_fail(zstd, raw, err);
        if (raw->at == raw->filled && !zstd->is_inside)
            break;
        in = (ZSTD_inBuffer){raw->buffer + raw->at, raw->filled - raw->at, 0};
        result = ZSTD_decompressStream(zstd->context, &out, &in);
        if (ZSTD_isError(result)) {
            zstd->failure = result;
            continue;
        }
        raw->at += in.pos;
        zstd->is_inside = result != 0;
        if (in.size == 0 && out.pos == 0)
            return raw_fail(raw, COLANDER_CORRUPT,
                            "the zstd data end too early", err);
    }
    *got = out.pos;
    return COLANDER_OK;
}
