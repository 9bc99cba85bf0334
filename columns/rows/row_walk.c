/* See row_walk.h. SPDX-License-Identifier: MIT */
#include "columns/row_walk.h"

#include "columns/row.h"

enum colander_code
row_walk_begin(struct row_walk *walk, struct colander_slice row,
               struct colander_error *err)
{
    enum colander_code code;
    uint32_t count;

    walk->reader = msgpack_reader_of(row);
    walk->row = row.data;
    walk->start = row.data;
    walk->depth = 0;
    walk->open = 0;
    code = row_begin(&walk->reader, COLANDER_CORRUPT, &count, err);
    if (code == COLANDER_OK)
        (void)row_walk_enter(walk, true, count);
    return code;
}

size_t
row_walk_offset(const struct row_walk *walk)
{
    return (size_t)(walk->start - walk->row);
}

void
row_trail_init(struct row_trail *trail)
{
    const struct colander_buffer empty = COLANDER_BUFFER_EMPTY;

    trail->text = empty;
    trail->depth = 0;
}

void
row_trail_release(struct row_trail *trail)
{
    colander_buffer_release(&trail->text);
}

/* Whether the level is as it was. A name in another map is kept in place of
 * its equal: near one in a row the next comparison needs no bytes. */
static bool
level_stays(struct row_trail_level *level, const struct path_step *step)
{
    if (level->step.is_element != step->is_element)
        return false;
    if (step->is_element || level->step.name.data == step->name.data)
        return true;
    if (!colander_slice_equal(level->step.name, step->name))
        return false;
    level->step.name = step->name;
    return true;
}

static enum colander_code
trail_add(struct row_trail *trail, const struct path_step *step,
          struct colander_error *err)
{
    struct row_trail_level *level = &trail->levels[trail->depth];
    enum colander_code code =
        path_append_step(&trail->text, step, trail->depth == 0, err);

    if (code != COLANDER_OK)
        return code;
    level->step = *step;
    level->text_size = trail->text.size;
    level->is_returned = false;
    trail->depth++;
    return COLANDER_OK;
}

enum colander_code
row_trail_follow(struct row_trail *trail, const struct row_walk *walk,
                 struct colander_slice *path, bool *is_new,
                 struct colander_error *err)
{
    struct row_trail_level *last = &trail->levels[walk->depth - 1];
    enum colander_code code = COLANDER_OK;
    size_t stayed = 0;

    while (stayed < walk->depth && stayed < trail->depth &&
           level_stays(&trail->levels[stayed], &walk->levels[stayed].step))
        stayed++;
    if (stayed < walk->depth) {
        trail->depth = stayed;
        trail->text.size =
            stayed == 0 ? 0 : trail->levels[stayed - 1].text_size;
    }
    for (; stayed < walk->depth && code == COLANDER_OK; stayed++)
        code = trail_add(trail, &walk->levels[stayed].step, err);
    if (code != COLANDER_OK)
        return code;
    *path = colander_slice_of(trail->text.data, last->text_size);
    *is_new = !last->is_returned;
    last->is_returned = true;
    return COLANDER_OK;
}
