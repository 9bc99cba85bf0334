/*
 * Slices: manages classes, and places presences in them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/slices.h"
#include "core/array.h"

#include <assert.h>
#include <stdlib.h>

#include "filters/hierarchy/slices_version.h"

/* Where the part of a slot is. */
struct slice_place {
    struct slice_class *class; /* NULL: no part */
    uint32_t column;
    uint32_t block_count; /* of its presence before folding */
};

struct slices {
    struct hierarchy base;
    struct slices_versions versions;
    struct slice_class **classes;
    size_t class_count;
    size_t class_capacity;
    struct slice_place *places; /* by slot */
    uint32_t place_count;
};

static void
place_part(struct slices *slices, struct slice_class *class, uint32_t column,
           uint32_t slot)
{
    slice_class_take(class, column, slot);
    slices->places[slot].class = class;
    slices->places[slot].column = column;
}

/* ----------------------------------------------------------- remaking --- */

static bool
slices_append(struct slices *slices, struct slice_class *class)
{
    if (array_reserve(&slices->classes, slices->class_count,
                      &slices->class_capacity, 1, NULL) != COLANDER_OK)
        return false;
    slices->classes[slices->class_count++] = class;
    return true;
}

/* Returns where the class is in the list. */
static struct slice_class **
slices_place(struct slices *slices, const struct slice_class *class)
{
    struct slice_class **place = slices->classes;

    while (*place != class)
        place++;
    return place;
}

/* Removes the class from the list, and releases it. */
static void
slices_drop(struct slices *slices, struct slice_class *class)
{
    *slices_place(slices, class) = slices->classes[--slices->class_count];
    slice_class_unref(class);
}

static void
slices_replace(struct slices *slices, struct slice_class *old,
               struct slice_class *class)
{
    *slices_place(slices, old) = class;
    slice_class_unref(old);
}

/* Keeps the parts of `from` whose column is also in `to`. */
static void
keep_columns(struct slices *slices, struct slice_class *to,
             const struct slice_class *from)
{
    for (uint32_t column = 0;
         column < from->matrix.column_count && column < to->matrix.column_count;
         column++) {
        if (slice_class_has(from, column))
            place_part(slices, to, column, from->slots[column]);
    }
}

/* Moves the parts of `from` from column `first` on to free columns of `to`. */
static void
move_columns(struct slices *slices, struct slice_class *to,
             const struct slice_class *from, uint32_t first)
{
    struct slice_move moves[SLICE_COLUMNS_MAX];
    size_t count = 0;
    uint32_t hole = 0;

    for (uint32_t column = first; column < from->matrix.column_count;
         column++) {
        if (!slice_class_has(from, column))
            continue;
        while (slice_class_has(to, hole))
            hole++;
        moves[count].from = (uint16_t)column;
        moves[count++].to = (uint16_t)hole;
        place_part(slices, to, hole, from->slots[column]);
    }
    slice_matrix_move(&to->matrix, &from->matrix, moves, count);
}

/* Replaces `class`, and `other` of the same shape unless it is NULL, by one
 * class of `column_count` columns, which must suffice. Returns false, and
 * changes nothing, if memory is short. */
static bool
remake(struct slices *slices, struct slice_class *class,
       struct slice_class *other, uint32_t column_count)
{
    struct slice_class *created =
        slice_class_create(&class->matrix.shape, column_count);
    uint32_t parts = class->live_count;

    if (created == NULL)
        return false;
    slice_matrix_copy(&created->matrix, &class->matrix);
    keep_columns(slices, created, class);
    move_columns(slices, created, class, column_count);
    created->fill = class->fill;
    if (other != NULL) {
        move_columns(slices, created, other, 0);
        parts += other->live_count;
        created->fill +=
            (other->fill - class->fill) * other->live_count / parts;
        slices_drop(slices, other);
    }
    slices_replace(slices, class, created);
    return true;
}

static uint32_t
most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Tidies up a class that lost parts or changed its shape: removes it if it is
 * empty, joins it with another of its shape if both fit in one, or makes it
 * narrower. Does nothing if memory is short. */
static void
tidy(struct slices *slices, struct slice_class *class)
{
    const uint32_t column_count = class->matrix.column_count;

    if (class->live_count == 0) {
        slices_drop(slices, class);
        return;
    }
    for (size_t i = 0; i < slices->class_count; i++) {
        struct slice_class *other = slices->classes[i];
        uint32_t room = most(column_count, other->matrix.column_count);

        /* A quarter stays free, or the next part would undo this. */
        if (other != class &&
            presence_is_same_shape(&other->matrix.shape,
                                   &class->matrix.shape) &&
            class->live_count + other->live_count <= room / 4 * 3) {
            if (other->live_count > class->live_count)
                (void)remake(slices, other, class, room);
            else
                (void)remake(slices, class, other, room);
            return;
        }
    }
    if (column_count > SLICE_COLUMNS_MIN &&
        class->live_count <= column_count / 4)
        (void)remake(slices, class, NULL, column_count / 2);
}

/* ------------------------------------------------------------- budget --- */

static bool
fold(struct slices *slices, struct slice_class *class)
{
    struct presence_shape shape = class->matrix.shape;
    struct slice_class *created;

    shape.block_count /= 2;
    created = slice_class_create(&shape, class->matrix.column_count);
    if (created == NULL)
        return false;
    slice_matrix_fold(&created->matrix, &class->matrix);
    keep_columns(slices, created, class);
    created->fill = class->fill * (2 - class->fill);
    slices_replace(slices, class, created);
    tidy(slices, created);
    return true;
}

/* A presence that is being added, and how far it will be folded. */
struct incoming {
    struct presence_shape shape;
    double fill;
};

enum relief { RELIEVED, NOTHING_TO_FOLD, NO_ROOM_TO_FOLD };

/* Removes unused columns from one class. Returns false if there are too few to
 * make any class narrower or to join two, or if memory is short. */
static bool
pack(struct slices *slices)
{
    for (size_t i = 0; i < slices->class_count; i++) {
        struct slice_class *class = slices->classes[i];
        const uint32_t column_count = class->matrix.column_count;
        uint32_t enough = column_count;

        while (enough > SLICE_COLUMNS_MIN && class->live_count <= enough / 2)
            enough /= 2;
        if (enough < column_count)
            return remake(slices, class, NULL, enough);
        for (size_t k = 0; k < slices->class_count; k++) {
            struct slice_class *other = slices->classes[k];

            if (k != i &&
                presence_is_same_shape(&other->matrix.shape,
                                       &class->matrix.shape) &&
                class->live_count + other->live_count <= column_count)
                return remake(slices, class, other, column_count);
        }
    }
    return false;
}

/* A new presence is folded instead of a class if it is at most this much
 * fuller: it is one part, and they are many. */
#define INCOMING_FULLER 1.1

/* Frees memory: without loss if possible, else by folding what loses least. */
static enum relief
relieve(struct slices *slices, struct incoming *incoming)
{
    struct slice_class *class = NULL;
    double lowest = 2;

    if (pack(slices))
        return RELIEVED;
    for (size_t i = 0; i < slices->class_count; i++) {
        struct slice_class *one = slices->classes[i];

        if (one->matrix.shape.block_count % 2 != 0 || one->fill > lowest ||
            (class != NULL && one->fill == lowest &&
             slice_class_size(one) <= slice_class_size(class)))
            continue;
        class = one;
        lowest = one->fill;
    }
    if (incoming->shape.block_count % 2 == 0 &&
        incoming->fill < lowest * INCOMING_FULLER) {
        incoming->shape.block_count /= 2;
        incoming->fill *= 2 - incoming->fill;
        return RELIEVED;
    }
    if (class == NULL)
        return NOTHING_TO_FOLD;
    return fold(slices, class) ? RELIEVED : NO_ROOM_TO_FOLD;
}

static uint64_t
slices_size(const struct slices *slices)
{
    uint64_t size = 0;

    for (size_t i = 0; i < slices->class_count; i++)
        size += slice_class_size(slices->classes[i]);
    return size;
}

/* ------------------------------------------------------------- adding --- */

/* Where a new presence will be placed. */
struct placement {
    struct slice_class *class; /* NULL: a new one */
    uint32_t column;           /* SLICE_NO_COLUMN: the class is replaced */
    uint32_t column_count;     /* of the class that replaces it */
    uint64_t growth;           /* bytes */
};

/* A class is folded as a whole. To fold only a fraction of the parts when a
 * fraction of the budget is missing, no class grows beyond this. */
static uint64_t
class_size_max(const struct slices *slices)
{
    const uint64_t always = UINT64_C(1) << 16;

    return slices->base.budget / 4 > always ? slices->base.budget / 4 : always;
}

static bool
may_double(const struct slices *slices, const struct slice_class *class)
{
    return class->matrix.column_count < SLICE_COLUMNS_MAX &&
           slice_class_size(class) <= class_size_max(slices) / 2;
}

static struct placement
plan_for(struct slices *slices, const struct presence_shape *shape)
{
    const uint64_t oldest = slices_version_oldest(&slices->versions);
    const uint64_t size = slices_size(slices);
    const struct placement created = {
        NULL, SLICE_NO_COLUMN, SLICE_COLUMNS_MIN,
        slice_matrix_size(shape, SLICE_COLUMNS_MIN)};
    struct placement plan = {NULL, SLICE_NO_COLUMN, 0, 0};

    for (size_t i = 0; i < slices->class_count; i++) {
        struct slice_class *class = slices->classes[i];
        uint32_t column_count = class->matrix.column_count;
        uint32_t column;

        if (!presence_is_same_shape(&class->matrix.shape, shape))
            continue;
        column = slice_class_free_column(class, oldest);
        if (column != SLICE_NO_COLUMN)
            return (struct placement){class, column, column_count, 0};
        if (class->live_count <= column_count / 4 * 3)
            /* Old versions hold the other columns: copy to a class that they do
             * not see. */
            plan = (struct placement){class, SLICE_NO_COLUMN, column_count, 0};
        else if (plan.class == NULL && may_double(slices, class))
            plan = (struct placement){class, SLICE_NO_COLUMN, column_count * 2,
                                      slice_class_size(class)};
    }
    /* A new class, if none can double or doubling takes too much. */
    if (plan.class == NULL || (size + plan.growth > slices->base.budget &&
                               size + created.growth <= slices->base.budget))
        return created;
    return plan;
}

/* Follows the plan until there is a column; false if memory is short. */
static bool
carry_out(struct slices *slices, struct placement *plan,
          const struct presence_shape *shape)
{
    struct slice_class *class;

    if (plan->column != SLICE_NO_COLUMN)
        return true;
    if (plan->class != NULL) {
        struct slice_class **place = slices_place(slices, plan->class);

        if (!remake(slices, plan->class, NULL, plan->column_count))
            return false;
        plan->class = *place;
    } else {
        class = slice_class_create(shape, plan->column_count);
        if (class == NULL)
            return false;
        if (!slices_append(slices, class)) {
            slice_class_unref(class);
            return false;
        }
        plan->class = class;
    }
    plan->column = slice_class_free_column(
        plan->class, slices_version_oldest(&slices->versions));
    return true;
}

static bool
grow_places(struct slices *slices, uint32_t slot)
{
    uint32_t count = slices->place_count;
    struct slice_place *grown;

    if (slot < count)
        return true;
    count = slot < UINT32_MAX / 2 ? most(slot + 1, count * 2) : UINT32_MAX;
    grown = realloc(slices->places, count * sizeof(*grown));
    if (grown == NULL)
        return false;
    memset(grown + slices->place_count, 0,
           (count - slices->place_count) * sizeof(*grown));
    slices->places = grown;
    slices->place_count = count;
    return true;
}

static bool
slices_add(struct hierarchy *hierarchy, uint32_t slot,
           const struct presence *presence)
{
    struct slices *slices = (struct slices *)hierarchy;
    struct incoming incoming = {presence->shape, presence_fill(presence)};
    enum relief relief = RELIEVED;
    struct placement plan = {0};
    struct slice_class *class;
    bool is_done = grow_places(slices, slot);

    assert(!is_done || slices->places[slot].class == NULL);
    while (is_done && relief == RELIEVED) {
        plan = plan_for(slices, &incoming.shape);
        if (plan.growth == 0 ||
            slices_size(slices) + plan.growth <= slices->base.budget)
            break;
        relief = relieve(slices, &incoming);
    }
    is_done = is_done && relief != NO_ROOM_TO_FOLD &&
              carry_out(slices, &plan, &incoming.shape);
    if (!is_done)
        return false;
    class = plan.class;
    slice_matrix_write(&class->matrix, plan.column, presence);
    place_part(slices, class, plan.column, slot);
    slices->places[slot].block_count = presence->shape.block_count;
    class->fill += (incoming.fill - class->fill) / class->live_count;
    return true;
}

static void
slices_remove(struct hierarchy *hierarchy, uint32_t slot)
{
    struct slices *slices = (struct slices *)hierarchy;
    struct slice_place *place;
    struct slice_class *class;

    if (slot >= slices->place_count || slices->places[slot].class == NULL)
        return;
    place = &slices->places[slot];
    class = place->class;
    slice_class_leave(class, place->column, slices->versions.count);
    place->class = NULL;
    tidy(slices, class);
}

/* ---------------------------------------------------------------- life --- */

static void
slices_destroy(struct hierarchy *hierarchy)
{
    struct slices *slices = (struct slices *)hierarchy;

    for (size_t i = 0; i < slices->class_count; i++)
        slice_class_unref(slices->classes[i]);
    free(slices->classes);
    free(slices->places);
    free(slices);
}

/* Returns how often the part was halved. */
static uint32_t
folds_of(const struct slice_place *place)
{
    uint32_t folds = 0;

    for (uint32_t count = place->class->matrix.shape.block_count;
         count < place->block_count; count *= 2)
        folds++;
    return folds;
}

static struct hierarchy_sizes
slices_sizes(const struct hierarchy *hierarchy)
{
    const struct slices *slices = (const struct slices *)hierarchy;
    struct hierarchy_sizes sizes = {0};

    for (uint32_t slot = 0; slot < slices->place_count; slot++) {
        const struct slice_place *place = &slices->places[slot];

        if (place->class == NULL)
            continue;
        sizes.part_count++;
        sizes.fold_count += folds_of(place);
        sizes.full_bytes += presence_size(&place->class->matrix.shape)
                            << folds_of(place);
    }
    sizes.bytes = slices_size(slices);
    sizes.height = slices->class_count > 0;
    return sizes;
}

static uint64_t
slices_bytes(const struct hierarchy *hierarchy)
{
    return slices_size((const struct slices *)hierarchy);
}

static void
slices_shrink(struct hierarchy *hierarchy)
{
    struct slices *slices = (struct slices *)hierarchy;
    struct incoming none = {.shape.block_count = 1, .fill = 1};

    while (slices_size(slices) > slices->base.budget &&
           relieve(slices, &none) == RELIEVED)
        continue;
}

static struct hierarchy_version *
slices_publish(struct hierarchy *hierarchy)
{
    struct slices *slices = (struct slices *)hierarchy;
    uint32_t slot_count = slices->place_count;

    while (slot_count > 0 && slices->places[slot_count - 1].class == NULL)
        slot_count--;
    return slices_version_publish(&slices->versions, slices->classes,
                                  slices->class_count, slot_count);
}

struct hierarchy *
slices_create(void)
{
    static const struct hierarchy_methods methods = {
        .add = slices_add,
        .remove = slices_remove,
        .sizes = slices_sizes,
        .size = slices_bytes,
        .shrink = slices_shrink,
        .destroy = slices_destroy,
        .publish = slices_publish,
        .version_destroy = slices_version_destroy,
        .find = slices_version_find,
    };
    struct slices *slices = calloc(1, sizeof(*slices));

    if (slices == NULL)
        return NULL;
    slices->base.methods = &methods;
    return &slices->base;
}
