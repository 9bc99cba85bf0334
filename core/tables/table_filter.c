/* SPDX-License-Identifier: MIT */
#include "core/tables/table_filter.h"

#define LINE_SIZE 64
#define LINE_BITS_LOG 9

#define PROBES_MAX 30 /* those above are reserved */
#define NEXT_PROBE UINT32_C(0x9e3779b9)

bool
table_filter_ends(const uint8_t end[TABLE_FILTER_END + TABLE_TRAILER_SIZE])
{
    return end[0] == 0xff && end[1] == 0 && end[2] >= 1 &&
           end[2] <= PROBES_MAX && end[3] == 0 && end[4] == 0 &&
           end[TABLE_FILTER_END] == TABLE_PLAIN;
}

enum colander_code
table_filter_read(struct table_filter *filter,
                  const struct table_source *source, struct table_place place,
                  const char **why, struct colander_error *err)
{
    const size_t size = (size_t)place.size;
    const uint8_t *bytes;
    enum colander_code code = table_source_read(
        source, place.offset, size + TABLE_TRAILER_SIZE, &filter->bytes, err);

    *why = NULL;
    if (code != COLANDER_OK)
        return code;
    bytes = filter->bytes.data;
    if (filter->bytes.size < size + TABLE_TRAILER_SIZE)
        *why = "the file ends before it does";
    else if (!table_codec_is_whole(bytes, size))
        *why = "its checksum is wrong";
    else if (size % LINE_SIZE != TABLE_FILTER_END || size < LINE_SIZE ||
             !table_filter_ends(bytes + size - TABLE_FILTER_END))
        *why = "it is not a Bloom filter";
    if (*why != NULL)
        return COLANDER_OK;
    filter->line_count = size / LINE_SIZE;
    filter->probe_count = bytes[size - TABLE_FILTER_END + 2];
    return COLANDER_OK;
}

void
table_filter_release(struct table_filter *filter)
{
    colander_buffer_release(&filter->bytes);
    memset(filter, 0, sizeof(*filter));
}

bool
table_filter_may_have(const struct table_filter *filter, uint64_t hash)
{
    const uint64_t lower = hash & UINT32_MAX;
    const uint8_t *line =
        filter->bytes.data + LINE_SIZE * (lower * filter->line_count >> 32);
    uint32_t probe = (uint32_t)(hash >> 32);

    for (unsigned i = 0; i < filter->probe_count; i++) {
        const uint32_t bit = probe >> (32 - LINE_BITS_LOG);

        if ((line[bit / 8] >> bit % 8 & 1) == 0)
            return false;
        probe *= NEXT_PROBE;
    }
    return true;
}
