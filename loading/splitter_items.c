/*
 * Splitter of items, as Elasticsearch's _bulk has them: a line with an action,
 * and, but for a delete, a line with its source.
 *
 * If a line is not an action, it is not known whether a source follows it: all
 * lines up to the next one that looks like an action are one bad item. So a bad
 * action and its source are one item, as for the client that counts them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/item_rows.h"
#include "loading/splitter_formats.h"

enum items_state {
    ITEMS_BETWEEN,
    ITEMS_ACTION, /* the end of its line is looked for */
    ITEMS_SOURCE,
    ITEMS_LOST, /* up to an action */
};

static enum split
end_item(struct splitter *splitter, const struct split_text *text, size_t size,
         struct split_record *ended)
{
    size_t record = size;

    while (record > 0 && split_is_blank(text->data[record - 1]))
        record--;
    split_end(splitter, text, size, record, ended);
    splitter->line = 0;
    return SPLIT_RECORD;
}

static enum split
end_lost(struct splitter *splitter, const struct split_text *text, size_t size,
         struct split_record *ended, struct colander_error *err)
{
    (void)end_item(splitter, text, size, ended);
    (void)COLANDER_FAIL(
        err, COLANDER_INVALID,
        "the line is not an action: expected {\"index\":{...}}, "
        "create, update or delete");
    return SPLIT_BAD;
}

/* Looks at the line from `line` to `end`. Returns whether the item has ended:
 * before *size. */
static bool
see_line(struct splitter *splitter, const struct split_text *text, size_t end,
         size_t *size)
{
    const struct colander_slice line =
        colander_slice_of(text->data + splitter->line, end - splitter->line);
    const size_t next = end < text->size ? end + 1 : end;
    const enum item_action action = item_action_of(line);

    *size = next;
    switch (splitter->state) {
    case ITEMS_ACTION:
        splitter->state = action == ITEM_NONE ? ITEMS_LOST : ITEMS_SOURCE;
        splitter->line = next;
        return action == ITEM_DELETE;
    case ITEMS_SOURCE:
        return true;
    default:
        *size = splitter->line;
        splitter->line = next;
        return action != ITEM_NONE && *size > 0;
    }
}

enum split
splitter_items_next(struct splitter *splitter, struct split_text text,
                    struct split_record *ended, struct colander_error *err)
{
    size_t size = 0;

    if (splitter->state == ITEMS_BETWEEN && !splitter->is_cut) {
        while (size < text.size && split_is_blank(text.data[size]))
            size++;
        split_step(&text, size, ended);
        if (text.size == 0)
            return text.is_end ? SPLIT_END : SPLIT_MORE;
        splitter->state = ITEMS_ACTION;
    }
    while (splitter->line < text.size) {
        const bool is_lost = splitter->state == ITEMS_LOST;
        const size_t end = split_find(&text, splitter->scanned, '\n');

        splitter->scanned = end;
        if (end == text.size && !text.is_end)
            return SPLIT_MORE;
        splitter->scanned = end < text.size ? end + 1 : end;
        if (see_line(splitter, &text, end, &size))
            return is_lost ? end_lost(splitter, &text, size, ended, err)
                           : end_item(splitter, &text, size, ended);
    }
    if (!text.is_end)
        return SPLIT_MORE;
    if (splitter->state == ITEMS_LOST)
        return end_lost(splitter, &text, text.size, ended, err);
    return end_item(splitter, &text, text.size, ended);
}

void
splitter_items_give_up(struct splitter *splitter)
{
    if (splitter->state == ITEMS_ACTION)
        splitter->state = ITEMS_LOST;
    splitter->line = 0;
}
