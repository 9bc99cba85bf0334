/*
 * Matched columns: an open-addressing table of indexes into a list of paths.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/matched.h"

#include <assert.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SLOT_COUNT 2048

static_assert((SLOT_COUNT & (SLOT_COUNT - 1)) == 0 &&
                  SLOT_COUNT > 2 * MATCHED_PATHS_MAX,
              "slots are masked, and half of them stay free");

struct matched_path {
    size_t text; /* where its text begins, with a zero byte behind it */
    uint64_t hash;
    uint64_t row_count;
};

struct matched {
    struct matched_path *paths;
    size_t count;
    size_t capacity;
    struct colander_buffer text;
    uint16_t slots[SLOT_COUNT]; /* index of a path plus 1; 0: free */
};

struct matched *
matched_create(void)
{
    return calloc(1, sizeof(struct matched));
}

void
matched_destroy(struct matched *matched)
{
    if (matched == NULL)
        return;
    free(matched->paths);
    colander_buffer_release(&matched->text);
    free(matched);
}

static const char *
text_of(const struct matched *matched, size_t index)
{
    return (const char *)matched->text.data + matched->paths[index].text;
}

/* The slot of the path, or the free one where it would be. */
static uint16_t *
slot_of(struct matched *matched, const char *path, uint64_t hash)
{
    size_t slot = hash & (SLOT_COUNT - 1);

    while (matched->slots[slot] != 0) {
        size_t index = matched->slots[slot] - 1u;

        if (matched->paths[index].hash == hash &&
            strcmp(text_of(matched, index), path) == 0)
            break;
        slot = (slot + 1) & (SLOT_COUNT - 1);
    }
    return &matched->slots[slot];
}

static enum colander_code
path_add(struct matched *matched, const char *path, uint64_t hash,
         uint16_t *slot, struct colander_error *err)
{
    struct matched_path *added;
    const size_t text = matched->text.size;
    enum colander_code code;

    if (matched->count == matched->capacity) {
        size_t capacity = 2 * matched->capacity + 8;
        struct matched_path *grown =
            realloc(matched->paths, capacity * sizeof(*grown));

        if (grown == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "cannot count %zu matched columns", capacity);
        matched->paths = grown;
        matched->capacity = capacity;
    }
    code = colander_buffer_append(&matched->text, path, strlen(path) + 1, err);
    if (code != COLANDER_OK)
        return code;
    added = &matched->paths[matched->count++];
    added->text = text;
    added->hash = hash;
    added->row_count = 1;
    *slot = (uint16_t)matched->count;
    return COLANDER_OK;
}

enum colander_code
matched_add(struct matched *matched, struct colander_columns columns,
            struct colander_error *err)
{
    /* The table's address is a seed that a foreign row cannot know. */
    const uint64_t seed = (uint64_t)(uintptr_t)matched;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < columns.count && code == COLANDER_OK; i++) {
        const char *path = columns.paths[i];
        const size_t size = strlen(path);
        const uint64_t hash = XXH3_64bits_withSeed(path, size, seed);
        uint16_t *slot = slot_of(matched, path, hash);

        if (*slot != 0)
            matched->paths[*slot - 1].row_count++;
        else if (matched->count < MATCHED_PATHS_MAX &&
                 size < MATCHED_SIZE_MAX - matched->text.size)
            code = path_add(matched, path, hash, slot, err);
    }
    return code;
}

bool
matched_get(const struct matched *matched, size_t index, const char **path,
            uint64_t *row_count)
{
    if (index >= matched->count)
        return false;
    *path = text_of(matched, index);
    *row_count = matched->paths[index].row_count;
    return true;
}
