/* See group_row.h. SPDX-License-Identifier: MIT */
#include "columns/groups/group_row.h"
#include "columns/msgpack.h"
#include "core/array.h"

enum colander_code
group_row_init(struct group_row *row, const struct group_plan *plan,
               struct colander_error *err)
{
    memset(row, 0, sizeof(*row));
    row->plan = plan;
    row->values = calloc(plan->source_count + 1, sizeof(*row->values));
    row->found = calloc(plan->source_count + 1, sizeof(*row->found));
    row->places = calloc(plan->column_count + 1, sizeof(*row->places));
    return row->values != NULL && row->found != NULL && row->places != NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for groups");
}

void
group_row_release(struct group_row *row)
{
    free(row->values);
    free(row->found);
    free(row->places);
    free(row->many);
    memset(row, 0, sizeof(*row));
}

struct first_value {
    struct group_row *row;
    size_t source;
};

static bool
take_first(void *context, const struct colander_value *value, size_t offset)
{
    const struct first_value *first = context;

    (void)offset;
    group_row_set(first->row, first->source, value);
    return false;
}

/* Takes all values at a path with []. */
struct each_value {
    struct group_row *row;
    size_t *bytes; /* of memory, which grow */
    enum colander_code code;
    struct colander_error *err;
};

static bool
take_each(void *context, const struct colander_value *value, size_t offset)
{
    struct each_value *each = context;
    struct group_row *row = each->row;
    const size_t before = row->many_capacity;

    (void)offset;
    each->code = array_reserve(&row->many, row->many_count, &row->many_capacity,
                               1, each->err);
    if (each->code != COLANDER_OK)
        return false;
    *each->bytes += (row->many_capacity - before) * sizeof(*value);
    row->many[row->many_count++] = *value;
    return true;
}

static enum colander_code
read_many(struct group_row *row, struct colander_slice bytes, size_t *memory,
          struct colander_error *err)
{
    const struct group_plan *plan = row->plan;
    struct each_value each = {row, memory, COLANDER_OK, err};
    enum colander_code code;

    row->many_count = 0;
    code = path_visit(&plan->sources[plan->keys[plan->many_key].source].path,
                      bytes, take_each, &each, err);
    return code == COLANDER_OK ? each.code : code;
}

static bool
is_called(const struct plan_column *column, const uint8_t *name, size_t size,
          size_t room)
{
    if (column->name.size != size)
        return false;
    return size <= 8 && room >= 8 ? plan_name_word(name, size) == column->word
                                  : memcmp(column->name.data, name, size) == 0;
}

/* Moves *at over a long name, or fails. */
static enum msgpack_result
pass_long_name(const uint8_t **at, const uint8_t *end,
               struct colander_slice *name)
{
    struct msgpack_reader reader = {*at, end};
    enum msgpack_result result = msgpack_read_name(&reader, name);

    *at = reader.at;
    return result == MSGPACK_FINE && *at == end ? MSGPACK_CUT : result;
}

/* Returns the end of the value at `at`, or NULL if it has none. */
static const uint8_t *
pass_long_value(const uint8_t *at, const uint8_t *end,
                enum msgpack_result *result)
{
    struct msgpack_reader reader = {at, end};

    *result = msgpack_skip(&reader);
    return *result == MSGPACK_FINE ? reader.at : NULL;
}

/* Sets the places of the columns, which are among `count` members from `at` on.
 * What most rows are made of, short names and scalars, takes no call. */
static enum msgpack_result
find_places(struct group_row *row, const uint8_t *at, const uint8_t *end,
            uint32_t count)
{
    const struct plan_column *const columns = row->plan->columns;
    const size_t column_count = row->plan->column_count;
    const uint64_t sizes = row->plan->column_sizes;
    size_t left = column_count;
    enum msgpack_result result = MSGPACK_FINE;

    for (; count > 0 && left > 0; count--) {
        struct colander_slice name;
        size_t size;

        if (at == end)
            return MSGPACK_CUT;
        name = colander_slice_of(at + 1, *at & 0x1f);
        at += 1 + name.size;
        if ((name.data[-1] & 0xe0) != 0xa0 || at >= end) {
            at = name.data - 1;
            result = pass_long_name(&at, end, &name);
            if (result != MSGPACK_FINE)
                return result;
        }
        for (size_t i = 0; (sizes >> name.size % 64 & 1) != 0; i++) {
            if (i == column_count)
                break;
            if (is_called(&columns[i], name.data, name.size,
                          (size_t)(end - name.data))) {
                row->places[i] = at;
                row->found[columns[i].source] = row->number;
                left--;
                break;
            }
        }
        size = msgpack_sizes[*at];
        if (size > 0 && size <= (size_t)(end - at))
            at += size;
        else if ((at = pass_long_value(at, end, &result)) == NULL)
            return result;
    }
    return MSGPACK_FINE;
}

enum colander_code
group_row_find(struct group_row *row, struct colander_slice bytes,
               struct colander_error *err)
{
    struct msgpack_reader reader = msgpack_reader_of(bytes);
    struct colander_value head;
    uint32_t count;
    enum msgpack_result result;

    row->number++;
    if (row->plan->column_count == 0)
        return COLANDER_OK;
    if (bytes.size > 0 && (*bytes.data & 0xf0) == 0x80) { /* few columns */
        result =
            find_places(row, bytes.data + 1, reader.end, *bytes.data & 0x0f);
    } else {
        result = msgpack_read(&reader, &head, &count);
        if (result == MSGPACK_FINE && head.type != COLANDER_MAP)
            return COLANDER_FAIL(err, COLANDER_CORRUPT, "row is not a map");
        if (result == MSGPACK_FINE)
            result = find_places(row, reader.at, reader.end, count);
    }
    if (result == MSGPACK_FINE)
        return COLANDER_OK;
    return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
}

/* Reads the value at `at`: a double, as are most that are summed up, at once.
 */
static enum msgpack_result
read_value(const uint8_t *at, const uint8_t *end, struct colander_value *value)
{
    struct msgpack_reader reader = {at, end};
    uint64_t bits;

    if (*at != 0xcb || end - at < 9)
        return msgpack_read_whole(&reader, value);
    bits = bytes_get_be64(at + 1);
    value->type = COLANDER_DOUBLE;
    value->extension_type = 0;
    value->nanosecond = 0;
    memcpy(&value->number, &bits, sizeof(bits));
    return MSGPACK_FINE;
}

enum colander_code
group_row_read(struct group_row *row, struct colander_slice bytes,
               const struct colander_value *const *given, size_t passed,
               size_t *memory, struct colander_error *err)
{
    const struct group_plan *plan = row->plan;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < plan->column_count; i++) {
        const size_t source = plan->columns[i].source;
        enum msgpack_result result;

        if (i == passed || !group_row_has(row, source))
            continue;
        result = read_value(row->places[i], bytes.data + bytes.size,
                            &row->values[source]);
        if (result != MSGPACK_FINE)
            return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
    }
    if (plan->column_count == plan->source_count)
        return COLANDER_OK;
    if (plan->many_key != SIZE_MAX)
        code = read_many(row, bytes, memory, err);
    for (size_t i = 0; i < plan->source_count && code == COLANDER_OK; i++) {
        const struct plan_source *source = &plan->sources[i];
        struct first_value first = {row, i};

        if (plan->many_key != SIZE_MAX &&
            i == plan->keys[plan->many_key].source)
            continue;
        if (source->path.count > 1)
            code = path_visit(&source->path, bytes, take_first, &first, err);
        else if (source->path.count == 0 && given[source->given] != NULL)
            group_row_set(row, i, given[source->given]);
    }
    return code;
}
