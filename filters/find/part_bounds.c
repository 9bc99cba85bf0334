/*
 * Part bounds: finds the rows of a part that lie in a range of keys.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/part_find.h"
#include "filters/row_keys.h"

/* A binary search: the unit lies between `low` and `high`. */
struct unit_search {
    uint32_t low;
    uint32_t high;
    struct row_keys_reader reader;
};

/* Searches the block that holds the unit in the middle. */
static enum colander_code
search_block(const struct filter_file *filter, const struct filter_part *part,
             struct colander_slice key, struct unit_search *search,
             struct colander_error *err)
{
    const uint32_t middle = search->low + (search->high - search->low) / 2;
    struct cached_block *block;
    enum colander_code code;
    uint32_t first;
    uint32_t index;
    uint32_t count;

    code = filter_file_block(filter, part, FILTER_KEYS, middle, &block, &first,
                             err);
    if (code != COLANDER_OK)
        return code;
    code = row_keys_open(&search->reader, block->bytes, err);
    if (code == COLANDER_OK)
        code = row_keys_search(&search->reader, key, &index, err);
    block_cache_release(filter->cache, block);
    if (code != COLANDER_OK)
        return code;
    count = search->reader.count;
    if (middle - first >= count)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "a filter has no key for a row");
    if (index == count)
        search->low =
            count < search->high - first ? first + count : search->high;
    else if (index == 0)
        search->high = first;
    else
        search->low = search->high = first + index;
    return COLANDER_OK;
}

/* Finds the first unit whose key is not below `key`, or the number of units. */
static enum colander_code
find_unit(const struct filter_file *filter, const struct filter_part *part,
          struct colander_slice key, uint32_t *unit, struct colander_error *err)
{
    const struct locator_shape *shape = &part->shape;
    struct unit_search search = {0, (shape->row_count - 1) / shape->fine + 1,
                                 ROW_KEYS_READER_EMPTY};
    enum colander_code code = COLANDER_OK;

    while (search.low < search.high && code == COLANDER_OK)
        code = search_block(filter, part, key, &search, err);
    *unit = search.low;
    row_keys_reader_release(&search.reader);
    return code;
}

enum colander_code
part_bounds(const struct filter_file *filter, const struct filter_part *part,
            struct colander_slice from, struct colander_slice until,
            struct row_range *bounds, struct colander_error *err)
{
    const uint32_t fine = part->shape.fine;
    enum colander_code code = COLANDER_OK;
    uint32_t unit;

    bounds->first = 0;
    bounds->end = part->shape.row_count;
    if (from.size != 0 && colander_slice_compare(part->first_key, from) < 0) {
        code = find_unit(filter, part, from, &unit, err);
        /* The end of the unit before may not be below `from`. */
        if (code == COLANDER_OK)
            bounds->first = fine == 1 ? unit : (unit - (unit > 0)) * fine;
    }
    if (code == COLANDER_OK && until.size != 0 &&
        colander_slice_compare(part->last_key, until) >= 0) {
        code = find_unit(filter, part, until, &unit, err);
        if (code == COLANDER_OK &&
            (uint64_t)unit * fine < part->shape.row_count)
            bounds->end = unit * fine;
    }
    if (bounds->first > bounds->end)
        bounds->first = bounds->end;
    return code;
}
