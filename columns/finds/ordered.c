/*
 * Ordered rows: all that were added, or a heap of the first ones, with the last
 * of these at its top. Rows that take too much memory are written to a file as
 * a sorted run; the runs, each later than those before, are merged by a heap.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/ordered.h"
#include "columns/path.h"
#include "columns/spill_file.h"
#include "core/array.h"
#include "core/heap.h"
#include "core/sized.h"

#include <stdlib.h>
#include <unistd.h>

#define BUFFERS_SIZE ((size_t)32 << 20) /* of all runs that are merged */
#define BUFFER_SIZE_MAX ((size_t)1 << 20)

/* What decides where a row is. */
struct ordered_place {
    struct colander_value value; /* in the row's bytes */
    bool has_value;
    uint64_t number; /* in the order of adding; of a run: its own */
};

struct ordered_row {
    struct ordered_place place;
    size_t key_size;
    size_t row_size;
    uint8_t bytes[]; /* the key, then the row */
};

/* Sorted rows in the file. */
struct ordered_run {
    struct ordered_place place; /* of its present row */
    struct colander_slice row;
    struct spill_region region;
    struct spill_reader reader;
    struct colander_buffer large; /* a row that its reader has no room for */
};

struct colander_ordered {
    struct colander_order order; /* its path is not used */
    struct path path;
    struct ordered_row **rows; /* a heap once `limit` of them are held */
    size_t count;
    size_t capacity;
    uint64_t added_count;
    size_t size;   /* bytes of all rows */
    uint64_t next; /* to be returned */
    bool is_sorted;
    struct ordered_run **runs;
    size_t run_count;
    size_t run_capacity;
    size_t heap_count; /* the first runs, which have a row */
    uint8_t *buffers;  /* of the runs */
    int fd;            /* of their file; -1: none */
    uint64_t file_size;
    struct ordered_finds finds;
};

/* ----------------------------------------------------------------- life --- */

void
colander_order_init_sized(struct colander_order *order, size_t struct_size)
{
    const struct colander_order all = {.limit = UINT64_MAX,
                                       .size_max = SIZE_MAX};

    sized_return(order, struct_size, &all, sizeof(all));
    memcpy(order, &struct_size, sizeof(struct_size));
}

enum colander_code
colander_ordered_create(const struct colander_order *order,
                        struct colander_ordered **ordered,
                        struct colander_error *err)
{
    struct colander_ordered *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *ordered = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot order rows");
    created->fd = -1;
    colander_order_init(&created->order);
    code = sized_accept(&created->order, sizeof(created->order), order,
                        "members of the order", err);
    if (code == COLANDER_OK)
        code = colander_path_parse(created->order.path, &created->path, err);
    if (code != COLANDER_OK) {
        colander_ordered_destroy(created);
        return code;
    }
    *ordered = created;
    return COLANDER_OK;
}

static void
free_rows(struct colander_ordered *ordered)
{
    for (size_t i = 0; i < ordered->count; i++)
        free(ordered->rows[i]);
    ordered->count = 0;
    ordered->size = 0;
}

static void
destroy_run(struct ordered_run *run)
{
    spill_region_release(&run->region);
    colander_buffer_release(&run->large);
    free(run);
}

void
ordered_clear(struct colander_ordered *ordered)
{
    free_rows(ordered);
    for (size_t i = 0; i < ordered->run_count; i++)
        destroy_run(ordered->runs[i]);
    ordered->run_count = 0;
    ordered->added_count = ordered->file_size = 0;
}

struct ordered_finds *
ordered_finds_of(struct colander_ordered *ordered)
{
    return &ordered->finds;
}

const struct colander_order *
ordered_order(const struct colander_ordered *ordered)
{
    return &ordered->order;
}

const struct path *
ordered_path(const struct colander_ordered *ordered)
{
    return &ordered->path;
}

bool
colander_ordered_is_sated(const struct colander_ordered *ordered)
{
    return ordered->finds.state == FINDS_SATED;
}

size_t
colander_ordered_size(const struct colander_ordered *ordered)
{
    return ordered->size;
}

const struct colander_value *
ordered_last(const struct colander_ordered *ordered)
{
    if (ordered->count == 0 || ordered->count < ordered->order.limit ||
        !ordered->rows[0]->place.has_value)
        return NULL;
    return &ordered->rows[0]->place.value;
}

void
colander_ordered_destroy(struct colander_ordered *ordered)
{
    if (ordered == NULL)
        return;
    ordered_clear(ordered);
    ordered_finds_release(&ordered->finds);
    free(ordered->rows);
    free(ordered->runs);
    free(ordered->buffers);
    if (ordered->fd >= 0)
        (void)close(ordered->fd);
    path_release(&ordered->path);
    free(ordered);
}

/* ---------------------------------------------------------------- order --- */

static bool
is_cancelled(const struct colander_ordered *ordered)
{
    return ordered->order.is_cancelled != NULL && ordered->order.is_cancelled();
}

/* After a cancellation the order is undefined, so that a sort ends soon. */
static int
compare_places(const struct ordered_place *left,
               const struct ordered_place *right,
               const struct colander_ordered *ordered)
{
    int order = 0;

    if (is_cancelled(ordered))
        return 0;
    if (left->has_value != right->has_value)
        return left->has_value ? -1 : 1;
    if (left->has_value)
        order = colander_value_compare(&left->value, &right->value);
    if (ordered->order.is_descending)
        order = -order;
    return order != 0 ? order : left->number < right->number ? -1 : 1;
}

/* Returns the place of the row or run to which the element points; it is the
 * first member of both. */
static const struct ordered_place *
place_of(const void *element)
{
    const struct ordered_place *place;

    memcpy(&place, element, sizeof(place));
    return place;
}

static int
compare_pointers(const void *a, const void *b, void *context)
{
    return compare_places(place_of(a), place_of(b), context);
}

static bool
comes_later(const void *a, const void *b, const void *context)
{
    return compare_places(place_of(a), place_of(b), context) > 0;
}

static bool
comes_before(const void *a, const void *b, const void *context)
{
    return compare_places(place_of(a), place_of(b), context) < 0;
}

static void
sort_rows(struct colander_ordered *ordered)
{
    if (ordered->count > 0)
        qsort_r(ordered->rows, ordered->count, sizeof(ordered->rows[0]),
                compare_pointers, ordered);
}

static enum colander_code
check_cancelled(const struct colander_ordered *ordered,
                struct colander_error *err)
{
    if (is_cancelled(ordered))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    return COLANDER_OK;
}

/* Takes the first value at the path. */
static bool
take_value(void *context, const struct colander_value *value, size_t offset)
{
    struct ordered_place *place = context;

    (void)offset;
    place->value = *value;
    place->has_value = true;
    return false;
}

/* --------------------------------------------------------------- a file --- */

static enum colander_code
write_rows(const struct colander_ordered *ordered, struct spill_writer *writer,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < ordered->count && code == COLANDER_OK; i++) {
        const struct ordered_row *row = ordered->rows[i];

        code = check_cancelled(ordered, err);
        if (code == COLANDER_OK)
            code = spill_writer_add(
                writer, colander_slice_of(row->bytes, row->key_size),
                colander_slice_of(row->bytes + row->key_size, row->row_size),
                err);
    }
    return code == COLANDER_OK ? spill_writer_finish(writer, err) : code;
}

static enum colander_code
open_file(struct colander_ordered *ordered, struct colander_error *err)
{
    const char *directory = ordered->order.directory;
    enum colander_code code = COLANDER_OK;

    if (ordered->fd < 0)
        code = spill_file_open(directory, &ordered->fd, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "rows to order, in '%s'", directory);
    return code;
}

/* Writes the rows that are held to the file, and holds them no more. */
static enum colander_code
write_run(struct colander_ordered *ordered, struct colander_error *err)
{
    struct ordered_run *run = calloc(1, sizeof(*run));
    struct spill_writer writer;
    enum colander_code code;

    if (run == NULL ||
        array_reserve(&ordered->runs, ordered->run_count,
                      &ordered->run_capacity, 1, NULL) != COLANDER_OK) {
        free(run);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to order rows");
    }
    run->place.number = ordered->run_count;
    ordered->runs[ordered->run_count++] = run;
    code = open_file(ordered, err);
    spill_writer_init(&writer, &run->region, ordered->fd, ordered->file_size,
                      ordered->size);
    sort_rows(ordered);
    if (code == COLANDER_OK)
        code = write_rows(ordered, &writer, err);
    spill_writer_release(&writer);
    ordered->file_size += run->region.size;
    free_rows(ordered);
    return code;
}

/* Steps to the next row of the run. The key of its reader has no data at the
 * end. */
static enum colander_code
step_run(const struct colander_ordered *ordered, struct ordered_run *run,
         struct colander_error *err)
{
    enum colander_code code = spill_reader_next(&run->reader, err);

    if (code != COLANDER_OK || run->reader.key.data == NULL)
        return code;
    run->place.has_value = false;
    code = spill_reader_row(&run->reader, &run->large, &run->row, err);
    if (code == COLANDER_OK)
        code =
            path_visit(&ordered->path, run->row, take_value, &run->place, err);
    return code;
}

/* Reads the first row of each run. */
static enum colander_code
begin_merge(struct colander_ordered *ordered, struct colander_error *err)
{
    const size_t count = ordered->run_count;
    size_t size = BUFFERS_SIZE / count;
    enum colander_code code = COLANDER_OK;

    if (size > BUFFER_SIZE_MAX)
        size = BUFFER_SIZE_MAX;
    if (size < SPILL_BUFFER_MIN)
        size = SPILL_BUFFER_MIN;
    ordered->buffers = malloc(count * size);
    if (ordered->buffers == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to merge rows");
    ordered->heap_count = count;
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct ordered_run *run = ordered->runs[i]; /* none is empty */

        spill_reader_init(&run->reader, &run->region,
                          ordered->buffers + i * size, size);
        code = step_run(ordered, run, err);
    }
    heap_build(ordered->runs, sizeof(ordered->runs[0]), count, comes_before,
               ordered);
    return code;
}

/* Steps to the next row of all runs. */
static enum colander_code
merge_next(struct colander_ordered *ordered, struct colander_error *err)
{
    struct ordered_run *run = ordered->runs[0];
    enum colander_code code;

    if (ordered->buffers == NULL)
        return begin_merge(ordered, err);
    if (ordered->heap_count == 0)
        return COLANDER_OK;
    code = step_run(ordered, run, err);
    if (code != COLANDER_OK)
        return code;
    if (run->reader.key.data == NULL) {
        ordered->runs[0] = ordered->runs[--ordered->heap_count];
        ordered->runs[ordered->heap_count] = run;
    }
    heap_sift_down(ordered->runs, sizeof(ordered->runs[0]), ordered->heap_count,
                   0, comes_before, ordered);
    return COLANDER_OK;
}

/* --------------------------------------------------------------- adding --- */

static size_t
size_of(const struct ordered_row *row)
{
    return sizeof(*row) + sizeof(row) + row->key_size + row->row_size;
}

static struct ordered_row *
copy_row(const struct ordered_row *header, const struct colander_result *result)
{
    struct ordered_row *row =
        malloc(sizeof(*row) + result->key.size + result->row.size);

    if (row == NULL)
        return NULL;
    *row = *header;
    memcpy(row->bytes, result->key.data, result->key.size);
    memcpy(row->bytes + row->key_size, result->row.data, result->row.size);
    if (row->place.has_value && colander_type_has_bytes(row->place.value.type))
        row->place.value.bytes.data =
            row->bytes + row->key_size +
            (header->place.value.bytes.data - result->row.data);
    return row;
}

/* Puts the row, which is taken, among those that are held. */
static void
hold(struct colander_ordered *ordered, struct ordered_row *row)
{
    ordered->size += size_of(row);
    if (ordered->count == ordered->order.limit) {
        ordered->size -= size_of(ordered->rows[0]);
        free(ordered->rows[0]);
        ordered->rows[0] = row;
        heap_sift_down(ordered->rows, sizeof(row), ordered->count, 0,
                       comes_later, ordered);
        return;
    }
    ordered->rows[ordered->count++] = row;
    if (ordered->count == ordered->order.limit)
        heap_build(ordered->rows, sizeof(row), ordered->count, comes_later,
                   ordered);
}

enum colander_code
colander_ordered_add(struct colander_ordered *ordered,
                     const struct colander_result *result,
                     struct colander_error *err)
{
    struct ordered_row header = {
        .place.number = ordered->added_count++,
        .key_size = result->key.size,
        .row_size = result->row.size,
    };
    const bool is_full = ordered->count == ordered->order.limit;
    struct ordered_row *row;
    enum colander_code code;

    if (ordered_finds_have(&ordered->finds, result->key))
        return COLANDER_OK;
    code =
        path_visit(&ordered->path, result->row, take_value, &header.place, err);
    if (code != COLANDER_OK || ordered->order.limit == 0)
        return code;
    if (is_full &&
        compare_places(&header.place, &ordered->rows[0]->place, ordered) >= 0)
        return ordered_finds_note(ordered, result->key, err);
    row = copy_row(&header, result);
    if (row == NULL ||
        array_reserve(&ordered->rows, ordered->count, &ordered->capacity, 1,
                      NULL) != COLANDER_OK) {
        free(row);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to order rows");
    }
    hold(ordered, row);
    if (ordered->size <= ordered->order.size_max)
        return ordered_finds_note(ordered, result->key, err);
    if (ordered->order.directory != NULL) {
        code = write_run(ordered, err);
        return code == COLANDER_OK
                   ? ordered_finds_note(ordered, result->key, err)
                   : code;
    }
    return COLANDER_FAIL(err, COLANDER_LIMIT,
                         "%zu rows to order take more than %zu bytes (with "
                         "a limit fewer are held)",
                         ordered->count, ordered->order.size_max);
}

/* ------------------------------------------------------------ returning --- */

/* Sorts the rows that are held. If there are runs, they become the last. */
static enum colander_code
finish_adding(struct colander_ordered *ordered, struct colander_error *err)
{
    if (ordered->is_sorted)
        return COLANDER_OK;
    ordered->is_sorted = true;
    if (ordered->run_count > 0 && ordered->count > 0)
        return write_run(ordered, err);
    sort_rows(ordered);
    return COLANDER_OK;
}

enum colander_code
colander_ordered_next(struct colander_ordered *ordered, bool *is_row,
                      struct colander_result *result,
                      struct colander_error *err)
{
    enum colander_code code = finish_adding(ordered, err);

    memset(result, 0, sizeof(*result));
    *is_row = false;
    if (code == COLANDER_OK)
        code = check_cancelled(ordered, err);
    if (code != COLANDER_OK || ordered->next == ordered->order.limit)
        return code;
    if (ordered->run_count > 0) {
        code = merge_next(ordered, err);
        *is_row = code == COLANDER_OK && ordered->heap_count > 0;
        if (*is_row) {
            result->key = ordered->runs[0]->reader.key;
            result->row = ordered->runs[0]->row;
        }
    } else if (ordered->next < ordered->count) {
        const struct ordered_row *row = ordered->rows[ordered->next];

        *is_row = true;
        result->key = colander_slice_of(row->bytes, row->key_size);
        result->row =
            colander_slice_of(row->bytes + row->key_size, row->row_size);
    }
    ordered->next += *is_row;
    return code;
}
