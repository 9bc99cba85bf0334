/*
 * Any bytes as the directory of a summary with valid checksums: it is opened
 * and asked, or damaged. Nothing crashes or reads past the end, and no SST is
 * named that is not in it.
 *
 * The first byte says how many blocks of 8 bytes there are, all zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/values.h"
#include "filters/files/filter_directory.h"
#include "filters/files/summary_bytes.h"
#include "fuzz/fuzz.h"

static int fd = -1;

static void
put(const void *bytes, size_t size, uint64_t offset)
{
    expect(pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size);
}

/* Puts the checksum of each block behind it. */
static void
put_checksums(const struct summary_group *group)
{
    const size_t size = summary_block_size(group->column_count);
    uint8_t *zeros = calloc(1, size);

    expect(zeros != NULL);
    for (uint32_t i = 0; i < group->shape.block_count; i++) {
        const uint64_t offset =
            group->offset + i * (uint64_t)(size + FILTER_CHECKSUM_SIZE);
        uint8_t sum[FILTER_CHECKSUM_SIZE];

        bytes_put_le(sum,
                     filter_checksum(colander_slice_of(zeros, size), 0, offset),
                     sizeof(sum));
        put(sum, sizeof(sum), offset + size);
    }
    free(zeros);
}

static void
ask(const struct summary *summary)
{
    uint64_t *ssts = calloc(summary->sst_count / 64 + 1, sizeof(*ssts));

    expect(ssts != NULL);
    for (uint32_t i = 0; i < summary->group_count; i++)
        put_checksums(&summary->groups[i]);
    for (uint64_t hash = 1; hash != 0; hash <<= 9)
        OK(summary_ask(summary, hash, ssts, NULL));
    for (uint32_t i = 0; i <= summary->sst_count / 64; i++)
        expect(ssts[i] == 0);
    free(ssts);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t begin[SUMMARY_BEGINNING_SIZE + 255 * 8] = SUMMARY_MAGIC;
    uint8_t footer[SUMMARY_FOOTER_SIZE] = {0};
    const size_t offset =
        SUMMARY_BEGINNING_SIZE + (size > 0 ? data[0] * (size_t)8 : 0);
    const struct colander_slice directory =
        colander_slice_of(data + (size > 0), size - (size > 0));
    struct block_cache *cache = block_cache_create(1 << 20, 4096);
    struct summary *summary;
    enum colander_code code;
    char path[32];

    bytes_put_le(footer, offset, 8);
    bytes_put_le(footer + 8, directory.size, 8);
    bytes_put_le(footer + 16, filter_checksum(directory, 0, offset), 8);
    bytes_put_le(footer + 32, SUMMARY_VERSION, 4);
    bytes_put_le(footer + 36, COLANDER_HASH_VERSION, 4);
    memcpy(footer + 40, SUMMARY_MAGIC, SUMMARY_MAGIC_SIZE);
    (void)fuzz_file(&fd, begin, offset, path);
    put(directory.data, directory.size, offset);
    put(footer, sizeof(footer), offset + directory.size);
    code = summary_open(path, NULL, cache, &summary, NULL);
    expect(code == COLANDER_OK || code == COLANDER_CORRUPT);
    if (code == COLANDER_OK)
        ask(summary);
    summary_close(summary);
    block_cache_destroy(cache);
    return 0;
}
