/* See misfits.h. SPDX-License-Identifier: MIT */
#include "loading/misfits.h"
#include "core/array.h"

#include <stdlib.h>

#define EXAMPLE_SIZE_MAX 60 /* bytes that are kept of a value */

void
misfits_release(struct misfits *misfits)
{
    for (size_t i = 0; i < misfits->count; i++) {
        colander_buffer_release(&misfits->items[i].example);
        colander_buffer_release(&misfits->items[i].file);
    }
    free(misfits->items);
}

bool
misfits_reach(struct misfits *misfits, const struct value_reading *reading)
{
    const size_t added = reading->number + 1 - misfits->count;

    if (array_reserve(&misfits->items, misfits->count, &misfits->capacity,
                      added, NULL) != COLANDER_OK)
        return false;
    memset(misfits->items + misfits->count, 0, added * sizeof(struct misfit));
    misfits->count += added;
    return true;
}

/* Cuts a text between characters, and ends it as a C string. */
static enum colander_code
cut(struct colander_buffer *text)
{
    static const char dots[] = "...";
    size_t size = EXAMPLE_SIZE_MAX;

    if (text->size <= size)
        return colander_buffer_append(text, "", 1, NULL);
    while (size > 0 && (text->data[size] & 0xC0) == 0x80)
        size--;
    text->size = size;
    return colander_buffer_append(text, dots, sizeof(dots), NULL);
}

void
misfits_note(struct misfits *misfits, struct misfit *misfit,
             const struct colander_value *value)
{
    struct colander_buffer *example = &misfit->example;

    if (misfit->misfit_count++ > 0)
        return;
    misfits->lacks_line = true;
    if (colander_json_append_value(example, value, NULL) != COLANDER_OK ||
        cut(example) != COLANDER_OK)
        colander_buffer_clear(example);
}

void
misfits_set_line(struct misfits *misfits, uint64_t line)
{
    for (size_t i = 0; i < misfits->count; i++) {
        if (misfits->items[i].misfit_count > 0 && misfits->items[i].line == 0)
            misfits->items[i].line = line;
    }
    misfits->lacks_line = false;
}

/* Replaces the text of `to`; without memory it is empty. */
static void
copy(struct colander_buffer *to, const void *text, size_t size)
{
    colander_buffer_clear(to);
    if (size > 0 && colander_buffer_append(to, text, size, NULL) != COLANDER_OK)
        colander_buffer_clear(to);
}

/* Whether the first misfit of `from`, in that file, comes before that of the
 * sum: files are added one after another, their parts in any order. */
static bool
comes_before(const struct misfit *from, const struct misfit *to,
             const char *file)
{
    return from->misfit_count > 0 &&
           (to->misfit_count == 0 ||
            (from->line < to->line && to->file.size > 0 &&
             strcmp((const char *)to->file.data, file) == 0));
}

void
misfits_add(struct misfits *sum, const struct misfits *misfits,
            const char *file)
{
    for (size_t i = 0; i < misfits->count; i++) {
        const struct misfit *from = &misfits->items[i];
        struct misfit *to;

        if (from->reading == NULL ||
            (i >= sum->count && !misfits_reach(sum, from->reading)))
            continue;
        to = &sum->items[i];
        if (comes_before(from, to, file)) {
            copy(&to->example, from->example.data, from->example.size);
            copy(&to->file, file, strlen(file) + 1);
            to->line = from->line;
        }
        to->reading = from->reading;
        to->value_count += from->value_count;
        to->misfit_count += from->misfit_count;
    }
}

static const char *
text_of(const struct colander_buffer *text)
{
    return text->size > 0 ? (const char *)text->data : "";
}

bool
misfits_next(const struct misfits *misfits, size_t *at,
             struct colander_load_misfit *misfit)
{
    while (*at < misfits->count) {
        const struct misfit *item = &misfits->items[(*at)++];

        if (item->misfit_count == 0)
            continue;
        misfit->path = item->reading->path;
        misfit->type = value_type_name(item->reading->type);
        misfit->value_count = item->value_count;
        misfit->misfit_count = item->misfit_count;
        misfit->example = text_of(&item->example);
        misfit->file = text_of(&item->file);
        misfit->line = item->line;
        return true;
    }
    return false;
}
