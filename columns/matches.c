/*
 * Matches: the paths that made a predicate true.
 *
 * A note is a path (in `text`) and the offset of the first value in the row
 * that matched at it. A hash table finds the note of a path again, so memory
 * follows the paths and not the values; offsets order them in the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/matches.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What is kept from row to row: more than most rows ever need, and little
 * enough to keep for each cursor. */
#define KEPT_SLOTS 4096
#define KEPT_TEXT_SIZE (64u << 10)

struct note {
    size_t offset; /* of the value in the row */
    size_t text;   /* of the path in `text`, with a zero byte behind it */
    size_t size;   /* of the path */
    uint64_t hash; /* of the path */
};

struct colander_matches {
    struct note *notes; /* half as many as slots */
    uint32_t *slots;    /* index of a note + 1, or 0; a power of two */
    uint32_t note_count;
    uint32_t slot_count;
    struct colander_buffer text;
    const char **paths; /* into `text`; filled by matches_finish */
    size_t path_count;
    size_t path_capacity;
    bool is_cut;
};

struct colander_matches *
colander_matches_create(void)
{
    return calloc(1, sizeof(struct colander_matches));
}

static void
release(struct colander_matches *matches)
{
    free(matches->notes);
    free(matches->slots);
    free(matches->paths);
    colander_buffer_release(&matches->text);
}

void
colander_matches_destroy(struct colander_matches *matches)
{
    if (matches == NULL)
        return;
    release(matches);
    free(matches);
}

struct colander_columns
colander_matches_columns(const struct colander_matches *matches)
{
    struct colander_columns columns = {matches->paths, matches->path_count,
                                       matches->is_cut};

    return columns;
}

void
matches_clear(struct colander_matches *matches)
{
    if (matches->slot_count > KEPT_SLOTS ||
        matches->text.capacity > KEPT_TEXT_SIZE) {
        release(matches);
        memset(matches, 0, sizeof(*matches));
        return;
    }
    if (matches->note_count > 0)
        memset(matches->slots, 0,
               matches->slot_count * sizeof(*matches->slots));
    matches->note_count = 0;
    matches->path_count = 0;
    matches->is_cut = false;
    colander_buffer_clear(&matches->text);
}

bool
matches_is_cut(const struct colander_matches *matches)
{
    return matches->is_cut;
}

/* The slot of the note with this path, or the free one where it would be. */
static uint32_t
slot_of(const struct colander_matches *matches, struct colander_slice path,
        uint64_t hash)
{
    uint32_t slot = (uint32_t)hash & (matches->slot_count - 1);

    while (matches->slots[slot] != 0) {
        const struct note *note = &matches->notes[matches->slots[slot] - 1];

        if (note->hash == hash && note->size == path.size &&
            memcmp(matches->text.data + note->text, path.data, path.size) == 0)
            break;
        slot = (slot + 1) & (matches->slot_count - 1);
    }
    return slot;
}

static enum colander_code
notes_grow(struct colander_matches *matches, struct colander_error *err)
{
    uint32_t slot_count =
        matches->slot_count == 0 ? 32 : matches->slot_count * 4;
    uint32_t *slots = calloc(slot_count, sizeof(*slots));
    struct note *notes =
        realloc(matches->notes, slot_count / 2 * sizeof(*notes));

    if (notes != NULL)
        matches->notes = notes;
    if (notes == NULL || slots == NULL) {
        free(slots);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot note %u matched columns", slot_count / 2);
    }
    for (uint32_t i = 0; i < matches->note_count; i++) {
        uint32_t slot = (uint32_t)notes[i].hash & (slot_count - 1);

        while (slots[slot] != 0)
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = i + 1;
    }
    free(matches->slots);
    matches->slots = slots;
    matches->slot_count = slot_count;
    return COLANDER_OK;
}

/* There is room for one more note. */
static enum colander_code
note_add(struct colander_matches *matches, struct colander_slice path,
         struct note note, uint32_t slot, struct colander_error *err)
{
    enum colander_code code;

    if (path.size >= COLANDER_MATCHES_SIZE_MAX - matches->text.size) {
        matches->is_cut = true;
        return COLANDER_OK;
    }
    note.text = matches->text.size;
    code = colander_buffer_reserve(&matches->text, path.size + 1, err);
    if (code != COLANDER_OK)
        return code;
    if (path.size > 0)
        memcpy(matches->text.data + note.text, path.data, path.size);
    matches->text.data[note.text + path.size] = '\0';
    matches->text.size += path.size + 1;
    matches->notes[matches->note_count] = note;
    matches->slots[slot] = ++matches->note_count;
    return COLANDER_OK;
}

enum colander_code
matches_note(struct colander_matches *matches, struct colander_slice path,
             size_t offset, struct colander_error *err)
{
    /* The table's address is a seed that a foreign row cannot know. */
    uint64_t hash = XXH3_64bits_withSeed(path.data, path.size,
                                         (uint64_t)(uintptr_t)matches);
    struct note note = {offset, 0, path.size, hash};
    enum colander_code code;
    struct note *noted;
    uint32_t slot;

    if (matches->note_count == matches->slot_count / 2) {
        code = notes_grow(matches, err);
        if (code != COLANDER_OK)
            return code;
    }
    slot = slot_of(matches, path, hash);
    if (matches->slots[slot] == 0)
        return note_add(matches, path, note, slot, err);
    noted = &matches->notes[matches->slots[slot] - 1];
    if (offset < noted->offset)
        noted->offset = offset;
    return COLANDER_OK;
}

static int
compare_offsets(const void *left, const void *right)
{
    const struct note *a = left;
    const struct note *b = right;

    return (a->offset > b->offset) - (a->offset < b->offset);
}

enum colander_code
matches_finish(struct colander_matches *matches, struct colander_error *err)
{
    if (matches->note_count > 1)
        qsort(matches->notes, matches->note_count, sizeof(*matches->notes),
              compare_offsets);
    if (matches->note_count > matches->path_capacity) {
        const char **grown =
            realloc(matches->paths, matches->note_count * sizeof(*grown));

        if (grown == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "cannot list %u matched columns",
                                 matches->note_count);
        matches->paths = grown;
        matches->path_capacity = matches->note_count;
    }
    for (size_t i = 0; i < matches->note_count; i++)
        matches->paths[i] =
            (const char *)matches->text.data + matches->notes[i].text;
    matches->path_count = matches->note_count;
    return COLANDER_OK;
}
