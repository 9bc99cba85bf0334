/*
 * Any bytes as a block of a dictionary, compressed or as it is once it was
 * decompressed, in a file with valid checksums. Nothing crashes or reads past
 * the end.
 *
 * The first byte selects which, the second the size of the piece that is looked
 * for; then comes the piece.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "filters/dictionary.h"
#include "filters/files/dictionary_code.h"
#include "fuzz/directory.h"

#include <zstd.h>

/* Returns the block with these words, compressed; owned. */
static struct colander_slice
pack(struct colander_slice words)
{
    const size_t bound = ZSTD_compressBound(words.size);
    uint8_t *block = malloc(DICTIONARY_HEAD_SIZE + bound);

    expect(block != NULL);
    bytes_put_le32(block, (uint32_t)words.size);
    return colander_slice_of(
        block,
        DICTIONARY_HEAD_SIZE + ZSTD_compress(block + DICTIONARY_HEAD_SIZE,
                                             bound, words.data, words.size, 1));
}

static void
write_file(const char *path, struct colander_slice block)
{
    const struct filter_head head = {.hash_version = COLANDER_HASH_VERSION};
    const struct filter_part part = {
        .shape = {.row_count = 1, .fine = 1, .coarse = 1, .hash_bits = 1}};
    struct filter_writer *writer;

    OK(filter_writer_create(path, &writer, NULL));
    for (uint32_t i = 0; i < 3; i++)
        OK(filter_writer_block(writer, FILTER_DICTIONARY, block,
                               dictionary_first(i / 2, i % 2), NULL));
    OK(filter_writer_part_end(writer, &part, NULL));
    OK(filter_writer_finish(writer, &head, NULL, 0, NULL));
    filter_writer_destroy(writer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[TEMPORARY_SIZE + 16];
    struct block_cache *cache = block_cache_create(1 << 20, 4096);
    struct dictionary_answer answer = {.words = NULL};
    struct colander_slice piece;
    struct colander_slice block;
    struct filter_file *file;
    enum colander_code code;

    expect(cache != NULL);
    if (path[0] == '\0') {
        fuzz_directory_make();
        (void)snprintf(path, sizeof(path), "%s/a.filter", fuzz_directory);
    }
    if (size >= 2 && data[1] > 0 && size - 2 > data[1]) {
        piece = colander_slice_of(data + 2, data[1]);
        block = colander_slice_of(data + 2 + piece.size, size - 2 - piece.size);
        if (data[0] % 2 == 0)
            block = pack(block);
        write_file(path, block);
        OK(filter_file_open(path, cache, &file, NULL));
        for (unsigned tag = 0; tag <= LOCATOR_TAGS; tag++) {
            code =
                dictionary_find(file, 0, tag, piece, 20, NULL, &answer, NULL);
            expect(code == COLANDER_OK || code == COLANDER_CORRUPT);
            expect(answer.count <= 20);
        }
        filter_file_unref(file);
        (void)unlink(path);
        if (data[0] % 2 == 0)
            free((void *)(uintptr_t)block.data);
    }
    free(answer.words);
    block_cache_destroy(cache);
    return 0;
}
