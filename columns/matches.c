/*
 * Matches: the paths that made a predicate true.
 *
 * A note is a path (in `text`) and the offset of a value in the row. Offsets
 * order the paths; of notes with one path the first in the row stays.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/matches.h"

#include <stdlib.h>

struct note {
    size_t offset; /* of the value in the row */
    size_t text;   /* of the path in `text`, with a zero byte behind it */
};

struct colander_matches {
    struct note *notes;
    size_t note_count;
    size_t note_capacity;
    struct colander_buffer text;
    const char **paths; /* into `text`; filled by matches_finish */
    size_t path_count;
    size_t path_capacity;
};

struct colander_matches *
colander_matches_create(void)
{
    return calloc(1, sizeof(struct colander_matches));
}

void
colander_matches_destroy(struct colander_matches *matches)
{
    if (matches == NULL)
        return;
    free(matches->notes);
    free(matches->paths);
    colander_buffer_release(&matches->text);
    free(matches);
}

struct colander_columns
colander_matches_columns(const struct colander_matches *matches)
{
    struct colander_columns columns = {matches->paths, matches->path_count};

    return columns;
}

void
matches_clear(struct colander_matches *matches)
{
    matches->note_count = 0;
    matches->path_count = 0;
    colander_buffer_clear(&matches->text);
}

static const char *
note_path(const struct colander_matches *matches, const struct note *note)
{
    return (const char *)matches->text.data + note->text;
}

/* Notes of one path side by side, the first in the row first. */
static int
compare_paths(const void *left, const void *right, void *matches)
{
    const struct note *a = left;
    const struct note *b = right;
    int order = strcmp(note_path(matches, a), note_path(matches, b));

    if (order != 0)
        return order;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int
compare_texts(const void *left, const void *right)
{
    const struct note *a = left;
    const struct note *b = right;

    return (a->text > b->text) - (a->text < b->text);
}

static int
compare_offsets(const void *left, const void *right)
{
    const struct note *a = left;
    const struct note *b = right;

    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Leaves one note of each path, in the order of the paths. */
static void
notes_unite(struct colander_matches *matches)
{
    struct note *notes = matches->notes;
    size_t kept = 1;

    if (matches->note_count < 2)
        return;
    qsort_r(notes, matches->note_count, sizeof(*notes), compare_paths, matches);
    for (size_t i = 1; i < matches->note_count; i++) {
        if (strcmp(note_path(matches, &notes[i]),
                   note_path(matches, &notes[kept - 1])) != 0)
            notes[kept++] = notes[i];
    }
    matches->note_count = kept;
}

/* Moving the texts down from the first on overwrites none to come. */
static void
notes_compact(struct colander_matches *matches)
{
    size_t end = 0;

    if (matches->note_count == 0)
        return;
    notes_unite(matches);
    qsort(matches->notes, matches->note_count, sizeof(*matches->notes),
          compare_texts);
    for (size_t i = 0; i < matches->note_count; i++) {
        const char *path = note_path(matches, &matches->notes[i]);
        size_t size = strlen(path) + 1;

        memmove(matches->text.data + end, path, size);
        matches->notes[i].text = end;
        end += size;
    }
    matches->text.size = end;
}

static enum colander_code
notes_grow(struct colander_matches *matches, struct colander_error *err)
{
    size_t capacity = matches->note_capacity * 2 + 64;
    struct note *grown = realloc(matches->notes, capacity * sizeof(*grown));

    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot note %zu matched columns", capacity);
    matches->notes = grown;
    matches->note_capacity = capacity;
    return COLANDER_OK;
}

/* Grows only when uniting did not free half of the room, so that it is not
 * done again for every note. */
static enum colander_code
notes_make_room(struct colander_matches *matches, struct colander_error *err)
{
    if (matches->note_count < matches->note_capacity)
        return COLANDER_OK;
    notes_compact(matches);
    if (matches->note_count < matches->note_capacity / 2)
        return COLANDER_OK;
    return notes_grow(matches, err);
}

enum colander_code
matches_note(struct colander_matches *matches, struct colander_slice path,
             size_t offset, struct colander_error *err)
{
    enum colander_code code = notes_make_room(matches, err);
    struct note note = {offset, matches->text.size};

    if (code != COLANDER_OK)
        return code;
    code = colander_buffer_reserve(&matches->text, path.size + 1, err);
    if (code != COLANDER_OK)
        return code;
    if (path.size > 0)
        memcpy(matches->text.data + note.text, path.data, path.size);
    matches->text.data[note.text + path.size] = '\0';
    matches->text.size += path.size + 1;
    matches->notes[matches->note_count++] = note;
    return COLANDER_OK;
}

enum colander_code
matches_finish(struct colander_matches *matches, struct colander_error *err)
{
    notes_unite(matches);
    if (matches->note_count > 1)
        qsort(matches->notes, matches->note_count, sizeof(*matches->notes),
              compare_offsets);
    if (matches->note_count > matches->path_capacity) {
        const char **grown =
            realloc(matches->paths, matches->note_count * sizeof(*grown));

        if (grown == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "cannot list %zu matched columns",
                                 matches->note_count);
        matches->paths = grown;
        matches->path_capacity = matches->note_count;
    }
    for (size_t i = 0; i < matches->note_count; i++)
        matches->paths[i] = note_path(matches, &matches->notes[i]);
    matches->path_count = matches->note_count;
    return COLANDER_OK;
}
