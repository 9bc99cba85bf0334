/*
 * Slices: what classes are there, how presences find theirs, and editions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/slices.h"

#include <assert.h>
#include <stdlib.h>

#include "filters/slice_class.h"

/* Where a slot's part is. */
struct slice_place {
    struct slice_class *class; /* NULL: no part */
    uint32_t column;
};

struct slices {
    uint64_t budget;
    uint64_t fold_count;
    struct slice_class **classes;
    size_t class_count;
    size_t class_capacity;
    struct slice_place *places; /* by slot */
    uint32_t place_count;
};

struct slices_edition {
    uint32_t slot_count;
    size_t view_count;
    struct slice_view *views[]; /* counted; of one shape side by side */
};

static bool
is_same_shape(const struct presence_shape *a, const struct presence_shape *b)
{
    return a->block_count == b->block_count && a->probes == b->probes &&
           a->hash_bits == b->hash_bits;
}

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
    if (slices->class_count == slices->class_capacity) {
        size_t capacity = slices->class_capacity * 2 + 8;
        struct slice_class **grown =
            realloc(slices->classes, capacity * sizeof(*grown));

        if (grown == NULL)
            return false;
        slices->classes = grown;
        slices->class_capacity = capacity;
    }
    slices->classes[slices->class_count++] = class;
    return true;
}

static void
slices_drop(struct slices *slices, const struct slice_class *class)
{
    size_t i = 0;

    while (slices->classes[i] != class)
        i++;
    slices->classes[i] = slices->classes[--slices->class_count];
}

static void
slices_replace(struct slices *slices, struct slice_class *old,
               struct slice_class *class)
{
    size_t i = 0;

    while (slices->classes[i] != old)
        i++;
    slices->classes[i] = class;
    slice_class_retire(old);
}

/* Those parts of `from` that find their column in `to` stay in it. */
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

/* The parts of `from` from column `first` on get columns that are free. What
 * the copy left in those goes first. */
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

/*
 * Makes of `class`, and of `other` of the same shape unless it is NULL, one
 * class of `column_count` columns, which is room enough. False when memory is
 * short, and nothing has changed.
 */
static bool
remake(struct slices *slices, struct slice_class *class,
       struct slice_class *other, uint32_t column_count)
{
    struct slice_class *made =
        slice_class_create(&class->matrix.shape, column_count);
    uint32_t parts = class->live_count;

    if (made == NULL)
        return false;
    slice_matrix_copy(&made->matrix, &class->matrix);
    keep_columns(slices, made, class);
    move_columns(slices, made, class, column_count);
    made->fill = class->fill;
    if (other != NULL) {
        move_columns(slices, made, other, 0);
        parts += other->live_count;
        made->fill += (other->fill - class->fill) * other->live_count / parts;
        slices_drop(slices, other);
        slice_class_retire(other);
    }
    slices_replace(slices, class, made);
    return true;
}

static uint32_t
most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/*
 * A class that lost parts or changed its shape: goes when it is empty, joins
 * another of its shape when both have room in one, or gets narrower. What
 * memory does not suffice for is left.
 */
static void
tidy(struct slices *slices, struct slice_class *class)
{
    const uint32_t column_count = class->matrix.column_count;

    if (class->live_count == 0) {
        slices_drop(slices, class);
        slice_class_retire(class);
        return;
    }
    for (size_t i = 0; i < slices->class_count; i++) {
        struct slice_class *other = slices->classes[i];
        uint32_t room = most(column_count, other->matrix.column_count);

        /* a quarter stays free: else the next part would undo it */
        if (other != class &&
            is_same_shape(&other->matrix.shape, &class->matrix.shape) &&
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
    struct slice_class *made;

    shape.block_count /= 2;
    made = slice_class_create(&shape, class->matrix.column_count);
    if (made == NULL)
        return false;
    slice_matrix_fold(&made->matrix, &class->matrix);
    keep_columns(slices, made, class);
    made->fill = class->fill * (2 - class->fill);
    slices->fold_count += class->live_count;
    slices_replace(slices, class, made);
    tidy(slices, made);
    return true;
}

/* A presence on its way in: how far it will be folded. */
struct newcomer {
    struct presence_shape shape;
    double fill;
};

enum relief { RELIEVED, NOTHING_TO_FOLD, NO_ROOM_TO_FOLD };

/* Folds the class or newcomer that loses least by it. */
static enum relief
relieve(struct slices *slices, struct newcomer *newcomer)
{
    struct slice_class *class = NULL;
    double lowest = 2;

    for (size_t i = 0; i < slices->class_count; i++) {
        struct slice_class *one = slices->classes[i];

        if (one->matrix.shape.block_count % 2 != 0 || one->fill > lowest ||
            (class != NULL && one->fill == lowest &&
             slice_class_size(one) <= slice_class_size(class)))
            continue;
        class = one;
        lowest = one->fill;
    }
    if (newcomer->shape.block_count % 2 == 0 && newcomer->fill < lowest) {
        newcomer->shape.block_count /= 2;
        newcomer->fill *= 2 - newcomer->fill;
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

/* Where a newcomer will go. */
struct plan {
    struct slice_class *class; /* NULL: one is made */
    uint32_t column;           /* SLICE_NO_COLUMN: the class is remade */
    uint32_t column_count;     /* then */
    uint64_t growth;           /* bytes */
};

static struct plan
plan_for(struct slices *slices, const struct presence_shape *shape)
{
    struct plan plan = {NULL, SLICE_NO_COLUMN, SLICE_COLUMNS_MIN,
                        slice_matrix_size(shape, SLICE_COLUMNS_MIN)};

    for (size_t i = 0; i < slices->class_count; i++) {
        struct slice_class *class = slices->classes[i];
        uint32_t column_count = class->matrix.column_count;
        uint32_t column;

        if (!is_same_shape(&class->matrix.shape, shape))
            continue;
        column = slice_class_free_column(class);
        if (column != SLICE_NO_COLUMN)
            return (struct plan){class, column, column_count, 0};
        if (class->live_count <= column_count / 4 * 3)
            /* old editions hold the others: a copy that they do not see */
            plan = (struct plan){class, SLICE_NO_COLUMN, column_count, 0};
        else if (column_count < SLICE_COLUMNS_MAX && plan.class == NULL)
            plan = (struct plan){class, SLICE_NO_COLUMN, column_count * 2,
                                 slice_class_size(class)};
    }
    return plan;
}

/* Follows the plan until there is a column; false when memory is short. */
static bool
carry_out(struct slices *slices, struct plan *plan,
          const struct presence_shape *shape)
{
    struct slice_class *class;

    if (plan->column != SLICE_NO_COLUMN)
        return true;
    if (plan->class != NULL) {
        size_t i = 0;

        while (slices->classes[i] != plan->class)
            i++;
        if (!remake(slices, plan->class, NULL, plan->column_count))
            return false;
        plan->class = slices->classes[i];
    } else {
        class = slice_class_create(shape, plan->column_count);
        if (class == NULL)
            return false;
        if (!slices_append(slices, class)) {
            slice_class_retire(class);
            return false;
        }
        plan->class = class;
    }
    plan->column = slice_class_free_column(plan->class);
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

enum colander_code
slices_add(struct slices *slices, uint32_t slot,
           const struct presence *presence, struct colander_error *err)
{
    struct newcomer newcomer = {presence->shape, presence_fill(presence)};
    enum relief relief = RELIEVED;
    struct plan plan = {0};
    struct slice_class *class;
    bool is_done = grow_places(slices, slot);

    assert(!is_done || slices->places[slot].class == NULL);
    while (is_done && relief == RELIEVED) {
        plan = plan_for(slices, &newcomer.shape);
        if (plan.growth == 0 ||
            slices_size(slices) + plan.growth <= slices->budget)
            break;
        relief = relieve(slices, &newcomer);
    }
    is_done = is_done && relief != NO_ROOM_TO_FOLD &&
              carry_out(slices, &plan, &newcomer.shape);
    if (!is_done)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot keep a filter of %zu bytes in memory",
                             presence_size(&presence->shape));
    class = plan.class;
    slice_matrix_write(&class->matrix, plan.column, presence);
    place_part(slices, class, plan.column, slot);
    class->fill += (newcomer.fill - class->fill) / class->live_count;
    for (uint32_t count = presence->shape.block_count;
         count > newcomer.shape.block_count; count /= 2)
        slices->fold_count++;
    return COLANDER_OK;
}

void
slices_remove(struct slices *slices, uint32_t slot)
{
    struct slice_place *place;
    struct slice_class *class;

    if (slot >= slices->place_count || slices->places[slot].class == NULL)
        return;
    place = &slices->places[slot];
    class = place->class;
    slice_class_leave(class, place->column);
    place->class = NULL;
    tidy(slices, class);
}

/* ---------------------------------------------------------------- life --- */

struct slices *
slices_create(uint64_t budget)
{
    struct slices *slices = calloc(1, sizeof(*slices));

    if (slices != NULL)
        slices->budget = budget;
    return slices;
}

void
slices_destroy(struct slices *slices)
{
    if (slices == NULL)
        return;
    for (size_t i = 0; i < slices->class_count; i++)
        slice_class_retire(slices->classes[i]);
    free(slices->classes);
    free(slices->places);
    free(slices);
}

struct hierarchy_sizes
slices_sizes(const struct slices *slices)
{
    struct hierarchy_sizes sizes = {0};

    for (size_t i = 0; i < slices->class_count; i++)
        sizes.part_count += slices->classes[i]->live_count;
    sizes.bytes = slices_size(slices);
    sizes.fold_count = slices->fold_count;
    sizes.height = slices->class_count > 0;
    return sizes;
}

/* ------------------------------------------------------------ editions --- */

static bool
is_before(const struct presence_shape *a, const struct presence_shape *b)
{
    if (a->block_count != b->block_count)
        return a->block_count < b->block_count;
    if (a->probes != b->probes)
        return a->probes < b->probes;
    return a->hash_bits < b->hash_bits;
}

/* Puts a view among those of its shape. */
static void
edition_insert(struct slices_edition *edition, struct slice_view *view)
{
    size_t at = edition->view_count++;

    for (; at > 0 && is_before(&view->matrix.shape,
                               &edition->views[at - 1]->matrix.shape);
         at--)
        edition->views[at] = edition->views[at - 1];
    edition->views[at] = view;
}

struct slices_edition *
slices_publish(struct slices *slices)
{
    struct slices_edition *edition = malloc(
        sizeof(*edition) + slices->class_count * sizeof(edition->views[0]));
    uint32_t slot_count = slices->place_count;

    if (edition == NULL)
        return NULL;
    while (slot_count > 0 && slices->places[slot_count - 1].class == NULL)
        slot_count--;
    edition->slot_count = slot_count;
    edition->view_count = 0;
    for (size_t i = 0; i < slices->class_count; i++) {
        struct slice_view *view = slice_class_view(slices->classes[i]);

        if (view == NULL) {
            slices_edition_release(edition);
            return NULL;
        }
        edition_insert(edition, view);
    }
    return edition;
}

void
slices_edition_release(struct slices_edition *edition)
{
    if (edition == NULL)
        return;
    for (size_t i = 0; i < edition->view_count; i++)
        slice_view_unref(edition->views[i]);
    free(edition);
}

uint32_t
slices_edition_slots(const struct slices_edition *edition)
{
    return edition->slot_count;
}

/* The columns whose bit is set, in order; gives their number. */
static inline size_t
list_columns(const uint64_t *hits, uint32_t column_count, uint16_t *columns)
{
    size_t count = 0;

    for (uint32_t first = 0; first < column_count; first += 64) {
        uint64_t word = hits[first / 64];

        /* Most words have one bit or none, by chance: asking which would be
         * guessed wrongly half the time, so the first is always listed. */
        columns[count] = (uint16_t)(first + (unsigned)__builtin_ctzll(
                                                word | UINT64_C(1) << 63));
        count += word != 0;
        for (word &= word - 1; word != 0; word &= word - 1)
            columns[count++] =
                (uint16_t)(first + (unsigned)__builtin_ctzll(word));
    }
    return count;
}

static void
view_find(const struct slice_view *view, const struct presence_probe *probe,
          uint64_t *slots)
{
    uint64_t hits[SLICE_WORDS_MAX];
    uint16_t columns[SLICE_COLUMNS_MAX];
    size_t count;

    slice_matrix_find(&view->matrix, probe, view->mask, hits);
    count = list_columns(hits, view->matrix.column_count, columns);
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = view->slots[columns[i]];

        slots[slot / 64] |= UINT64_C(1) << slot % 64;
    }
}

/* Memory is asked for a lot of views at once, and answers while the first of
 * them are looked at. */
#define LOT 16

void
slices_find(const struct slices_edition *edition, uint64_t value_hash,
            uint64_t *slots)
{
    struct presence_probe probes[LOT];

    for (size_t first = 0; first < edition->view_count; first += LOT) {
        struct slice_view *const *views = edition->views + first;
        size_t count = edition->view_count - first;

        for (size_t i = 0; i < count && i < LOT; i++) {
            const struct slice_matrix *matrix = &views[i]->matrix;

            if (i > 0 &&
                is_same_shape(&matrix->shape, &views[i - 1]->matrix.shape))
                probes[i] = probes[i - 1];
            else
                presence_locate(&matrix->shape, value_hash, &probes[i]);
            slice_matrix_prefetch(matrix, &probes[i]);
        }
        for (size_t i = 0; i < count && i < LOT; i++)
            view_find(views[i], &probes[i], slots);
    }
}
