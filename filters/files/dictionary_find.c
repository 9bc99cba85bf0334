/*
 * Finds words in dictionaries. Every word has a zero byte before and after it,
 * and none in it, so a piece is looked for in all words of a block at once.
 * Words that begin with a piece are looked for by halving.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/dictionary.h"

#include "columns/candidates.h"
#include "core/array.h"
#include "core/bytes.h"
#include "filters/files/dictionary_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* -------------------------------------------------------------- blocks --- */

size_t
dictionary_block_size(struct colander_slice block)
{
    uint32_t size;

    if (block.size < DICTIONARY_HEAD_SIZE)
        return 0;
    size = bytes_get_le32(block.data);
    return size < 2 || size > DICTIONARY_BLOCK_MAX ? 0 : size;
}

bool
dictionary_block_unpack(struct colander_slice block, uint8_t *words,
                        size_t size)
{
    return ZSTD_decompress(words, size, block.data + DICTIONARY_HEAD_SIZE,
                           block.size - DICTIONARY_HEAD_SIZE) == size &&
           words[0] == 0 && words[size - 1] == 0;
}

/* Returns the word after the zero byte at `offset`, which is not the last. */
static struct colander_slice
word_at(struct colander_slice block, size_t offset)
{
    const uint8_t *at = block.data + offset + 1;
    const uint8_t *end = memchr(at, 0, block.size - offset - 1);

    return colander_slice_of(at, (size_t)(end - at));
}

/* --------------------------------------------------------------- words --- */

/* A search in one dictionary. */
struct finding {
    const struct filter_file *file;
    const struct filter_part *part;
    struct colander_slice piece;
    unsigned tag;
    size_t max;
    struct dictionary_answer *answer;
    struct dictionary_blocks *kept; /* of this dictionary; NULL: none */
};

/* Returns whether the word is among those that are named. */
static bool
is_named(const char *some, struct colander_slice word)
{
    while (*some != '\0') {
        const size_t size = strcspn(some, ",");

        if (size == word.size && memcmp(some, word.data, size) == 0)
            return true;
        some += size;
        some += strspn(some, ", ");
    }
    return false;
}

/* Appends the word to those that are named, if it fits. Columns of several tags
 * may have it. */
static void
name_word(struct dictionary_answer *answer, struct colander_slice word)
{
    const size_t size = strlen(answer->some);
    const char *before = size == 0 ? "" : ", ";

    if (size + strlen(before) + word.size < sizeof(answer->some) &&
        !is_named(answer->some, word))
        (void)snprintf(answer->some + size, sizeof(answer->some) - size,
                       "%s%.*s", before, (int)word.size,
                       (const char *)word.data);
}

static enum colander_code
take_word(struct finding *finding, struct colander_slice word,
          struct colander_error *err)
{
    struct dictionary_answer *answer = finding->answer;
    const struct colander_value value = colander_string(word);
    enum colander_code code;

    if (answer->count == finding->max) {
        answer->is_too_many = true;
        return COLANDER_OK;
    }
    code =
        array_reserve(&answer->words, answer->count, &answer->capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
    name_word(answer, word);
    answer->words[answer->count++] = (struct dictionary_word){
        text_word_hash(word), colander_value_hash(&value), finding->tag};
    return COLANDER_OK;
}

/* Returns the first place of the piece in the words, or NULL. Its first, middle
 * and last byte are compared at 16 places at once: few words have all three
 * where the piece has them. */
static const uint8_t *
search(const uint8_t *words, size_t size, struct colander_slice piece)
{
    size_t at = 0;

#ifdef __SSE2__
    if (piece.size > 0) {
        const size_t middle = piece.size / 2;
        const size_t last = piece.size - 1;
        const __m128i bytes[] = {_mm_set1_epi8((char)piece.data[0]),
                                 _mm_set1_epi8((char)piece.data[middle]),
                                 _mm_set1_epi8((char)piece.data[last])};

        for (; at + last + 16 <= size; at += 16) {
            const uint8_t *place = words + at;
            const __m128i same = _mm_and_si128(
                _mm_cmpeq_epi8(_mm_loadu_si128((const void *)place), bytes[0]),
                _mm_and_si128(_mm_cmpeq_epi8(_mm_loadu_si128((
                                                 const void *)(place + middle)),
                                             bytes[1]),
                              _mm_cmpeq_epi8(
                                  _mm_loadu_si128((const void *)(place + last)),
                                  bytes[2])));
            unsigned places = (unsigned)_mm_movemask_epi8(same);

            for (; places != 0; places &= places - 1) {
                const uint8_t *found = place + __builtin_ctz(places);

                if (memcmp(found, piece.data, piece.size) == 0)
                    return found;
            }
        }
    }
#endif
    return memmem(words + at, size - at, piece.data, piece.size);
}

/* Takes the words of a block that have the piece in them. */
static enum colander_code
find_piece(struct finding *finding, struct colander_slice block,
           struct colander_error *err)
{
    const struct colander_slice piece = finding->piece;
    enum colander_code code = COLANDER_OK;
    size_t offset = 0; /* of the zero byte before a word */

    while (code == COLANDER_OK && offset < block.size - 1 &&
           !finding->answer->is_too_many) {
        const uint8_t *at =
            search(block.data + offset, block.size - offset, piece);
        struct colander_slice word;

        if (at == NULL)
            break;
        at = memrchr(block.data + offset, 0,
                     (size_t)(at - block.data) - offset + 1);
        word = word_at(block, (size_t)(at - block.data));
        code = take_word(finding, word, err);
        offset = (size_t)(word.data - block.data) + word.size;
    }
    return code;
}

/* ---------------------------------------------------------- beginnings --- */

/* Returns what the words begin with. */
static struct colander_slice
beginning_of(const struct finding *finding)
{
    struct colander_slice piece = finding->piece;

    piece.data++;
    piece.size--;
    piece.size -= piece.size > 0 && piece.data[piece.size - 1] == 0;
    return piece;
}

/* Returns the offset of the zero byte before the first word that is not below
 * the beginning, or of the last byte. */
static size_t
seek(struct colander_slice block, struct colander_slice beginning)
{
    size_t low = 0;
    size_t high = block.size - 1;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const uint8_t *at = memrchr(block.data + low, 0, middle - low + 1);
        const size_t before = (size_t)(at - block.data);
        const struct colander_slice word = word_at(block, before);

        if (colander_slice_compare(word, beginning) < 0)
            low = before + 1 + word.size;
        else
            high = before;
    }
    return low;
}

/* Takes the words of a block that begin with the piece. Sets *is_over if a word
 * is above these. */
static enum colander_code
find_beginning(struct finding *finding, struct colander_slice block,
               bool *is_over, struct colander_error *err)
{
    const struct colander_slice piece = finding->piece;
    size_t offset = seek(block, beginning_of(finding));
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && offset < block.size - 1 && !*is_over) {
        const struct colander_slice word = word_at(block, offset);

        *is_over = block.size - offset < piece.size ||
                   memcmp(block.data + offset, piece.data, piece.size) != 0 ||
                   finding->answer->is_too_many;
        if (!*is_over)
            code = take_word(finding, word, err);
        offset += 1 + word.size;
    }
    return code;
}

/* Reads a block of the part. */
static enum colander_code
read_block(const struct finding *finding, uint32_t index,
           struct cached_block **block, struct colander_error *err)
{
    const struct filter_place *places =
        &finding->file->places[finding->part->block_first[FILTER_DICTIONARY]];
    struct cached_block **kept =
        finding->kept == NULL ? NULL : &finding->kept->blocks[index];
    enum colander_code code;
    uint32_t first;

    if (kept != NULL && *kept != NULL) {
        *block = *kept;
        return COLANDER_OK;
    }
    code = filter_file_block(finding->file, finding->part, FILTER_DICTIONARY,
                             places[index].first, block, &first, err);
    if (code == COLANDER_OK && kept != NULL)
        *kept = *block;
    return code;
}

static void
release_block(const struct finding *finding, struct cached_block *block)
{
    if (finding->kept == NULL)
        block_cache_release(finding->file->cache, block);
}

/* Finds the last of the blocks [low, high) whose first word is below the
 * beginning, or the first block. */
static enum colander_code
seek_block(const struct finding *finding, uint32_t *low, uint32_t high,
           struct colander_error *err)
{
    const struct colander_slice beginning = beginning_of(finding);

    while (high - *low > 1) {
        const uint32_t middle = *low + (high - *low) / 2;
        struct cached_block *block;
        enum colander_code code = read_block(finding, middle, &block, err);

        if (code != COLANDER_OK)
            return code;
        if (colander_slice_compare(word_at(block->bytes, 0), beginning) < 0)
            *low = middle;
        else
            high = middle;
        release_block(finding, block);
    }
    return COLANDER_OK;
}

/* ------------------------------------------------------------- finding --- */

/* Returns the index of the part's first block of a tag or later. */
static uint32_t
first_block(const struct finding *finding, unsigned tag)
{
    const struct filter_part *part = finding->part;
    const struct filter_place *places =
        &finding->file->places[part->block_first[FILTER_DICTIONARY]];
    size_t place;

    array_search(place, part->block_count[FILTER_DICTIONARY],
                 places[place].first < dictionary_first(tag, 0));
    return (uint32_t)place;
}

static bool
is_beginning_of_words(struct colander_slice piece)
{
    return piece.size > 0 && piece.data[0] == 0;
}

static enum colander_code
find_tag(struct finding *finding, struct colander_error *err)
{
    const bool is_beginning = is_beginning_of_words(finding->piece);
    const atomic_bool *is_cancelled = finding->answer->is_cancelled;
    const uint32_t end = first_block(finding, finding->tag + 1);
    uint32_t index = first_block(finding, finding->tag);
    enum colander_code code = COLANDER_OK;
    bool is_over = false;

    if (is_beginning && index < end)
        code = seek_block(finding, &index, end, err);
    for (; code == COLANDER_OK && index < end && !is_over; index++) {
        struct cached_block *block;

        if (is_cancelled != NULL &&
            atomic_load_explicit(is_cancelled, memory_order_relaxed))
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the find was cancelled");
        code = read_block(finding, index, &block, err);
        if (code != COLANDER_OK)
            break;
        code = is_beginning
                   ? find_beginning(finding, block->bytes, &is_over, err)
                   : find_piece(finding, block->bytes, err);
        is_over = is_over || finding->answer->is_too_many;
        release_block(finding, block);
    }
    return code;
}

uint32_t
dictionary_part(const struct filter_file *file, uint32_t index)
{
    while (index < file->part_count &&
           file->parts[index].block_count[FILTER_DICTIONARY] == 0)
        index++;
    return index;
}

uint64_t
dictionary_bytes(const struct filter_file *file, uint32_t index, unsigned tag,
                 struct colander_slice piece)
{
    const struct filter_part *part = &file->parts[index];
    const struct finding finding = {.file = file, .part = part};
    const struct filter_place *places =
        &file->places[part->block_first[FILTER_DICTIONARY]];
    const bool is_any = tag == LOCATOR_TAG_ANY;
    const uint32_t end = is_any ? part->block_count[FILTER_DICTIONARY]
                                : first_block(&finding, tag + 1);
    uint64_t bytes = 0;

    if (is_beginning_of_words(piece))
        return 0;
    for (uint32_t i = is_any ? 0 : first_block(&finding, tag); i < end; i++)
        bytes += places[i].size;
    return bytes;
}

void
dictionary_blocks_release(struct dictionary_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        block_cache_release(blocks->cache, blocks->blocks[i]);
    free(blocks->blocks);
    memset(blocks, 0, sizeof(*blocks));
}

/* Makes room for the blocks of the dictionary of part `index`. Returns NULL if
 * memory is short: then each search reads them. */
static struct dictionary_blocks *
keep_blocks(struct dictionary_blocks *kept, const struct filter_file *file,
            uint32_t index)
{
    const size_t count = file->parts[index].block_count[FILTER_DICTIONARY];

    if (kept == NULL ||
        (kept->count > 0 && kept->salt == file->salt && kept->index == index))
        return kept;
    dictionary_blocks_release(kept);
    kept->blocks = calloc(count, sizeof(struct cached_block *));
    if (kept->blocks == NULL)
        return NULL;
    kept->count = count;
    kept->cache = file->cache;
    kept->salt = file->salt;
    kept->index = index;
    return kept;
}

enum colander_code
dictionary_find(const struct filter_file *file, uint32_t index, unsigned tag,
                struct colander_slice piece, size_t max,
                struct dictionary_blocks *kept,
                struct dictionary_answer *answer, struct colander_error *err)
{
    const bool is_any = tag == LOCATOR_TAG_ANY;
    struct finding finding = {.file = file,
                              .part = &file->parts[index],
                              .piece = piece,
                              .max = max,
                              .answer = answer,
                              .kept = keep_blocks(kept, file, index)};
    enum colander_code code = COLANDER_OK;

    answer->count = 0;
    answer->is_too_many = false;
    answer->some[0] = '\0';
    for (finding.tag = is_any ? 0 : tag;
         finding.tag < (is_any ? LOCATOR_TAGS : tag + 1) &&
         code == COLANDER_OK && !answer->is_too_many;
         finding.tag++)
        code = find_tag(&finding, err);
    return code;
}
