/*
 * Dictionaries: the words of the texts of some parts of a filter.
 *
 * A locator knows words by their hashes only. A dictionary leads from a piece
 * of a word to the words that have it in them, and so to their hashes. It is of
 * the part that it was written with and all parts before, back to the one that
 * has another. Words are apart by the tag of their column, folded, sorted, and
 * in compressed blocks.
 *
 * Words of more than DICTIONARY_WORD_MAX bytes are not in it. Rows with such a
 * word have an entry of DICTIONARY_LONG_HASH in the locator.
 *
 * Life:  create -> (add ... -> write) ... -> destroy
 * Bytes: filters/FORMAT.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_DICTIONARY_H
#define COLANDER_FILTERS_DICTIONARY_H

#include "columns/columns.h"
#include "filters/filter_file.h"

#define DICTIONARY_WORD_MAX 64
#define DICTIONARY_LONG_HASH UINT64_C(0x6c6f6e6720776f72)

/* A builder with this many words or bytes is full. More can be added. */
#define DICTIONARY_WORDS (UINT32_C(1) << 18)
#define DICTIONARY_BYTES (UINT32_C(4) << 20)

/* A block ends with the word that brings it to as many bytes. */
#define DICTIONARY_BLOCK_SIZE (32u << 10)

/* ------------------------------------------------------------ building --- */

struct dictionary_builder;

/* Returns NULL if memory is short. */
struct dictionary_builder *dictionary_builder_create(void);

/* NULL is allowed. */
void dictionary_builder_destroy(struct dictionary_builder *builder);

/* Adds a word of a column of `tag` (copied), unless it is there. `hash` is that
 * of the word. Requires at most DICTIONARY_WORD_MAX bytes, and no zero byte. */
COLANDER_CHECKED enum colander_code
dictionary_builder_add(struct dictionary_builder *builder, uint64_t hash,
                       unsigned tag, struct colander_slice word,
                       struct colander_error *err);

/* Returns how full it is: 1 and more is full. */
double dictionary_builder_share(const struct dictionary_builder *builder);

/* Passes all blocks to `sink`, with their firsts, and becomes empty. */
COLANDER_CHECKED enum colander_code dictionary_builder_write(
    struct dictionary_builder *builder,
    enum colander_code (*sink)(void *context, struct colander_slice block,
                               uint32_t first, struct colander_error *err),
    void *context, struct colander_error *err);

/* ------------------------------------------------------------- finding --- */

/* A word that was found. */
struct dictionary_word {
    uint64_t hash;       /* of the word, */
    uint64_t value_hash; /* and of the text that is this word alone */
    unsigned tag;        /* of its columns */
};

/* The words that have a piece in them. */
struct dictionary_answer {
    struct dictionary_word *words;
    size_t count;
    size_t capacity;
    bool is_too_many;                  /* then `words` are some of them */
    const atomic_bool *is_cancelled;   /* the caller's; NULL: never */
    char some[COLANDER_EXPLAIN_WORDS]; /* the first ones, joined by ", " */
};

/* The blocks of one dictionary, unpacked, for several searches in it. Starts
 * zeroed. They take little more than 4 MiB. */
struct dictionary_blocks {
    struct cached_block **blocks; /* by their number; NULL: not read */
    size_t count;
    struct block_cache *cache; /* of these */
    uint64_t salt;             /* of the file */
    uint32_t index;            /* of the part */
};

void dictionary_blocks_release(struct dictionary_blocks *blocks);

/* Returns the index of the part with the dictionary of part `index`, or the
 * number of parts: no part from there on has words. */
uint32_t dictionary_part(const struct filter_file *file, uint32_t index);

/* Fills `answer` with the words of columns of `tag` (LOCATOR_TAG_ANY: any) that
 * have `piece` in them, as in struct filter_query, in the dictionary of part
 * `index`, which has one. It starts zeroed, and the caller frees its words.
 * Stops after `max` words. Takes blocks from `kept` and adds to them, after it
 * has released those of another dictionary; NULL: keeps none. Fails with
 * CORRUPT, and with CANCELLED if the find was cancelled. */
COLANDER_CHECKED enum colander_code
dictionary_find(const struct filter_file *file, uint32_t index, unsigned tag,
                struct colander_slice piece, size_t max,
                struct dictionary_blocks *kept,
                struct dictionary_answer *answer, struct colander_error *err);

/* Returns how many bytes that search reads from the file at most; 0 for words
 * that begin with the piece, which are in few blocks. */
uint64_t dictionary_bytes(const struct filter_file *file, uint32_t index,
                          unsigned tag, struct colander_slice piece);

/* The next two are for filter_file.c, and tests. */

/* Returns how many bytes the words of a block take; 0: it is damaged. */
size_t dictionary_block_size(struct colander_slice block);

/* Fills `words` with the words of a block: a zero byte before each, and one at
 * the end. Returns false if the block is damaged. */
bool dictionary_block_unpack(struct colander_slice block, uint8_t *words,
                             size_t size);

#endif
