/*
 * Builds dictionaries: a hash table of words, which are sorted at the end by
 * eight of their bytes at a time. Each builder draws a secret for the places in
 * the table and for the pivots of the sort, so that nobody can choose words
 * that take quadratic time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "filters/dictionary.h"
#include "filters/files/dictionary_code.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#define SLOT_BITS_MIN 10
#define SLOT_BITS_MAX 31
#define COMPRESSION_LEVEL 1

/* Most words of a text are among the few that are frequent, and short. Those
 * are found in a small table, as the large one does not fit into caches. */
#define RECENT_BITS 10
#define SHORT_MAX 15 /* bytes */

/* The large table is asked for many words together, so that they wait for
 * memory together. */
#define WAITING_MAX 32

/* Fewer words are sorted by insertion. */
#define FEW 12

struct slot {
    uint32_t hash;
    uint32_t place; /* of the word plus 1; 0: free */
};

/* A word that waits to be looked up. */
struct waiting_word {
    uint32_t hash;
    uint8_t head[2]; /* tag, size */
    uint8_t bytes[DICTIONARY_WORD_MAX];
};

/* A word that is sorted: its next eight bytes, and its place. */
struct sorted {
    uint64_t key;
    uint32_t place;
};

/* A short word and its tag; zeros: none. */
struct short_word {
    uint64_t first; /* its first eight bytes, */
    uint64_t last;  /* those after them, and the tag as the last byte */
};

struct dictionary_builder {
    struct colander_buffer words; /* of each: tag, size, itself */
    struct slot *slots;
    unsigned slot_bits;
    uint32_t count;
    struct short_word *recent; /* words that were added, by their hashes */
    struct waiting_word waiting[WAITING_MAX];
    size_t waiting_count;
    uint64_t secret;               /* random and odd */
    struct colander_buffer block;  /* that is filled, */
    struct colander_buffer packed; /* and compressed */
};

/* Returns a random odd number. Without one from the system, addresses and the
 * time have to do. */
static uint64_t
draw_secret(const struct dictionary_builder *builder)
{
    uint64_t random;

    if (filter_draw(&random, NULL) != COLANDER_OK) {
        struct timespec now = {0, 0};

        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        random = ((uint64_t)(uintptr_t)builder ^ (uint64_t)now.tv_nsec) *
                 UINT64_C(0x9e3779b97f4a7c15);
    }
    return random | 1;
}

struct dictionary_builder *
dictionary_builder_create(void)
{
    struct dictionary_builder *created = calloc(1, sizeof(*created));

    if (created == NULL)
        return NULL;
    created->secret = draw_secret(created);
    created->slot_bits = SLOT_BITS_MIN;
    created->slots =
        calloc((size_t)1 << SLOT_BITS_MIN, sizeof(*created->slots));
    created->recent =
        calloc((size_t)1 << RECENT_BITS, sizeof(*created->recent));
    if (created->slots != NULL && created->recent != NULL)
        return created;
    dictionary_builder_destroy(created);
    return NULL;
}

void
dictionary_builder_destroy(struct dictionary_builder *builder)
{
    if (builder == NULL)
        return;
    colander_buffer_release(&builder->words);
    colander_buffer_release(&builder->block);
    colander_buffer_release(&builder->packed);
    free(builder->slots);
    free(builder->recent);
    free(builder);
}

/* -------------------------------------------------------------- adding --- */

static void
put_slot(struct slot *slots, unsigned bits, struct slot slot)
{
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    uint32_t at = slot.hash >> (32 - bits);

    while (slots[at].place != 0)
        at = (at + 1) & mask;
    slots[at] = slot;
}

/* Doubles the table when it is half full. */
static enum colander_code
make_room(struct dictionary_builder *builder, struct colander_error *err)
{
    const unsigned bits = builder->slot_bits + 1;
    const size_t count = (size_t)1 << builder->slot_bits;
    struct slot *grown;

    if (builder->count < count / 2)
        return COLANDER_OK;
    grown =
        bits > SLOT_BITS_MAX ? NULL : calloc((size_t)1 << bits, sizeof(*grown));
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the words of a filter");
    for (size_t i = 0; i < count; i++) {
        if (builder->slots[i].place != 0)
            put_slot(grown, bits, builder->slots[i]);
    }
    free(builder->slots);
    builder->slots = grown;
    builder->slot_bits = bits;
    return COLANDER_OK;
}

static bool
has_word(const struct dictionary_builder *builder,
         const struct waiting_word *word)
{
    const uint32_t mask = (UINT32_C(1) << builder->slot_bits) - 1;
    const size_t size = sizeof(word->head) + word->head[1];
    uint32_t at = word->hash >> (32 - builder->slot_bits);

    for (; builder->slots[at].place != 0; at = (at + 1) & mask) {
        const uint8_t *other =
            builder->words.data + builder->slots[at].place - 1;

        if (builder->slots[at].hash == word->hash &&
            other[1] == word->head[1] && memcmp(other, word->head, size) == 0)
            return true;
    }
    return false;
}

/* Adds a word that is not there. */
static enum colander_code
add_word(struct dictionary_builder *builder, const struct waiting_word *word,
         struct colander_error *err)
{
    const size_t size = sizeof(word->head) + word->head[1];
    struct colander_buffer *words = &builder->words;
    enum colander_code code = make_room(builder, err);

    if (code == COLANDER_OK)
        code = colander_buffer_reserve(words, size, err);
    if (code != COLANDER_OK)
        return code;
    put_slot(builder->slots, builder->slot_bits,
             (struct slot){word->hash, (uint32_t)words->size + 1});
    memcpy(words->data + words->size, word->head, size);
    words->size += size;
    builder->count++;
    return COLANDER_OK;
}

/* Asks for the bytes of the word that is probably the same. */
static void
expect(const struct dictionary_builder *builder,
       const struct waiting_word *word)
{
    const struct slot *slot =
        &builder->slots[word->hash >> (32 - builder->slot_bits)];

    if (slot->place != 0)
        __builtin_prefetch(builder->words.data + slot->place - 1);
}

/* Looks up the words that wait. */
static enum colander_code
settle(struct dictionary_builder *builder, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < builder->waiting_count; i++)
        expect(builder, &builder->waiting[i]);
    for (size_t i = 0; i < builder->waiting_count && code == COLANDER_OK; i++) {
        if (!has_word(builder, &builder->waiting[i]))
            code = add_word(builder, &builder->waiting[i], err);
    }
    builder->waiting_count = 0;
    return code;
}

static inline struct short_word
short_word_of(unsigned tag, struct colander_slice word)
{
    const size_t more = word.size > 8 ? word.size - 8 : 0;

    return (struct short_word){
        bytes_get_le(word.data, word.size - more),
        bytes_get_le(word.data + word.size - more, more) | (uint64_t)tag << 56,
    };
}

enum colander_code
dictionary_builder_add(struct dictionary_builder *builder, uint64_t hash,
                       unsigned tag, struct colander_slice word,
                       struct colander_error *err)
{
    /* columns of different tags have the same words */
    const uint64_t own = hash + tag * UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t mixed = (uint32_t)(own * builder->secret >> 32);
    struct short_word *recent = &builder->recent[mixed >> (32 - RECENT_BITS)];
    struct waiting_word *waiting;

    assert(word.size > 0 && word.size <= DICTIONARY_WORD_MAX);
    if (word.size <= SHORT_MAX) {
        const struct short_word itself = short_word_of(tag, word);

        if (recent->first == itself.first && recent->last == itself.last)
            return COLANDER_OK;
        *recent = itself;
    }
    waiting = &builder->waiting[builder->waiting_count++];
    waiting->hash = mixed;
    waiting->head[0] = (uint8_t)tag;
    waiting->head[1] = (uint8_t)word.size;
    memcpy(waiting->bytes, word.data, word.size);
    __builtin_prefetch(&builder->slots[mixed >> (32 - builder->slot_bits)]);
    return builder->waiting_count == WAITING_MAX ? settle(builder, err)
                                                 : COLANDER_OK;
}

double
dictionary_builder_share(const struct dictionary_builder *builder)
{
    const double words = (double)builder->count / DICTIONARY_WORDS;
    const double bytes = (double)builder->words.size / DICTIONARY_BYTES;

    return words > bytes ? words : bytes;
}

/* ------------------------------------------------------------- sorting --- */

/* Returns the eight bytes of tag and word from `depth` on, zeros after them. */
static uint64_t
key_at(const struct dictionary_builder *builder, uint32_t place, size_t depth)
{
    const uint8_t *at = builder->words.data + place;
    const size_t size = (size_t)at[1] + 1;
    uint8_t bytes[8] = {0};

    if (depth == 0) {
        bytes[0] = at[0];
        memcpy(bytes + 1, at + 2, size - 1 < 7 ? size - 1 : 7);
    } else if (depth < size) {
        memcpy(bytes, at + 1 + depth, size - depth < 8 ? size - depth : 8);
    }
    return bytes_get_be64(bytes);
}

static bool
is_less(const struct dictionary_builder *builder, const struct sorted *a,
        const struct sorted *b)
{
    const uint8_t *one = builder->words.data + a->place;
    const uint8_t *other = builder->words.data + b->place;

    return a->key != b->key ? a->key < b->key
                            : colander_slice_compare(
                                  colander_slice_of(one + 2, one[1]),
                                  colander_slice_of(other + 2, other[1])) < 0;
}

/* Sorts words whose bytes before their keys are equal. */
static void
sort_few(const struct dictionary_builder *builder, struct sorted *items,
         size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct sorted item = items[i];
        size_t at = i;

        for (; at > 0 && is_less(builder, &item, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static void
swap(struct sorted *a, struct sorted *b)
{
    const struct sorted other = *a;

    *a = *b;
    *b = other;
}

/* Moves items with lower keys before *first, and higher ones from *end on. */
static void
part(struct sorted *items, size_t count, uint64_t key, size_t *first,
     size_t *end)
{
    size_t at = 0;

    *first = 0;
    *end = count;
    while (at < *end) {
        if (items[at].key < key)
            swap(&items[at++], &items[(*first)++]);
        else if (items[at].key > key)
            swap(&items[at], &items[--*end]);
        else
            at++;
    }
}

/* Sorts words that are equal before `depth`, where their keys are. Words are
 * different, so those with equal keys go on. */
static void
sort(const struct dictionary_builder *builder, struct sorted *items,
     size_t count, size_t depth)
{
    uint64_t random = builder->secret + count;

    while (count > FEW) {
        uint64_t key;
        size_t first;
        size_t end;

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        key = items[(size_t)(random >> 33) % count].key;
        part(items, count, key, &first, &end);
        for (size_t i = first; i < end; i++)
            items[i].key = key_at(builder, items[i].place, depth + 8);
        if (end - first > 1)
            sort(builder, items + first, end - first, depth + 8);
        /* the smaller side first, so that few calls wait */
        if (first < count - end) {
            sort(builder, items, first, depth);
            items += end;
            count -= end;
        } else {
            sort(builder, items + end, count - end, depth);
            count = first;
        }
    }
    sort_few(builder, items, count);
}

/* Returns the words in order, allocated. */
static struct sorted *
sort_words(const struct dictionary_builder *builder)
{
    struct sorted *items = calloc((size_t)builder->count | 1, sizeof(*items));
    uint32_t place = 0;

    if (items == NULL)
        return NULL;
    for (uint32_t i = 0; i < builder->count; i++) {
        items[i] = (struct sorted){key_at(builder, place, 0), place};
        place += 2 + builder->words.data[place + 1];
    }
    sort(builder, items, builder->count, 0);
    return items;
}

/* ------------------------------------------------------------- writing --- */

struct writing {
    struct dictionary_builder *builder;
    enum colander_code (*sink)(void *context, struct colander_slice block,
                               uint32_t first, struct colander_error *err);
    void *context;
    ZSTD_CCtx *compression;
    unsigned tag;    /* of the block that is filled */
    uint32_t number; /* of this block among those of the tag */
};

/* Writes the block that is filled, if it has words. */
static enum colander_code
end_block(struct writing *writing, struct colander_error *err)
{
    struct colander_buffer *block = &writing->builder->block;
    struct colander_buffer *packed = &writing->builder->packed;
    const size_t bound = ZSTD_compressBound(block->size);
    enum colander_code code;
    size_t size;

    if (block->size == 0)
        return COLANDER_OK;
    colander_buffer_clear(packed);
    code = colander_buffer_reserve(packed, DICTIONARY_HEAD_SIZE + bound, err);
    if (code != COLANDER_OK)
        return code;
    size = ZSTD_compressCCtx(writing->compression,
                             packed->data + DICTIONARY_HEAD_SIZE, bound,
                             block->data, block->size, COMPRESSION_LEVEL);
    if (ZSTD_isError(size))
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot compress the words of a filter: %s",
                             ZSTD_getErrorName(size));
    bytes_put_le32(packed->data, (uint32_t)block->size);
    packed->size = DICTIONARY_HEAD_SIZE + size;
    colander_buffer_clear(block);
    return writing->sink(writing->context, colander_buffer_slice(packed),
                         dictionary_first(writing->tag, writing->number++),
                         err);
}

static enum colander_code
write_word(struct writing *writing, const uint8_t *word,
           struct colander_error *err)
{
    struct colander_buffer *block = &writing->builder->block;
    enum colander_code code = COLANDER_OK;

    if (word[0] != writing->tag || block->size >= DICTIONARY_BLOCK_SIZE) {
        code = end_block(writing, err);
        if (word[0] != writing->tag)
            writing->number = 0;
        writing->tag = word[0];
    }
    if (code == COLANDER_OK && block->size == 0)
        code = colander_buffer_append(block, "", 1, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(block, word + 2, word[1], err);
    return code == COLANDER_OK ? colander_buffer_append(block, "", 1, err)
                               : code;
}

enum colander_code
dictionary_builder_write(struct dictionary_builder *builder,
                         enum colander_code (*sink)(void *context,
                                                    struct colander_slice block,
                                                    uint32_t first,
                                                    struct colander_error *err),
                         void *context, struct colander_error *err)
{
    struct writing writing = {builder, sink, context, NULL, 0, 0};
    struct sorted *items = NULL;
    enum colander_code code = settle(builder, err);

    if (code != COLANDER_OK || builder->count == 0)
        return code;
    colander_buffer_clear(&builder->block);
    items = sort_words(builder);
    writing.compression = ZSTD_createCCtx();
    if (items == NULL || writing.compression == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the words of a filter");
    for (uint32_t i = 0; i < builder->count && code == COLANDER_OK; i++)
        code = write_word(&writing, builder->words.data + items[i].place, err);
    if (code == COLANDER_OK)
        code = end_block(&writing, err);
    (void)ZSTD_freeCCtx(writing.compression);
    free(items);
    colander_buffer_clear(&builder->words);
    memset(builder->slots, 0,
           ((size_t)1 << builder->slot_bits) * sizeof(*builder->slots));
    memset(builder->recent, 0,
           ((size_t)1 << RECENT_BITS) * sizeof(*builder->recent));
    builder->count = 0;
    return code;
}
