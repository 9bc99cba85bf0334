/*
 * Part find: see part_find.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/part_find.h"

#include "filters/zones.h"

/* With so few rows left, reading them costs less than one more lookup. */
#define ROWS_WORTH_VERIFYING 32

bool
question_is_left_out(const struct question *question, const uint64_t *left_out,
                     uint32_t count)
{
    if (question->path_length == 0)
        return count > 0;
    for (size_t i = 0; i < question->path_length; i++) {
        if (settings_is_left_out(left_out, count, question->path_hashes[i]))
            return true;
    }
    return false;
}

bool
question_has_left_out(const struct question *question, const uint64_t *left_out,
                      uint32_t count)
{
    if (count == 0 || question->kind == QUESTION_OPEN)
        return false;
    if (question->kind != QUESTION_ALL_OF && question->kind != QUESTION_ANY_OF)
        return question_is_left_out(question, left_out, count);
    for (size_t i = 0; i < question->operand_count; i++) {
        if (question_has_left_out(question->operands[i], left_out, count))
            return true;
    }
    return false;
}

static uint64_t
path_hash_of(const struct question *question)
{
    return question->path_hashes[question->path_length - 1];
}

static unsigned
tag_of(const struct question *question)
{
    return question->path_length == 0 ? LOCATOR_TAG_ANY
                                      : column_tag(path_hash_of(question));
}

static enum colander_code
all_rows(const struct filter_part *part, struct row_ranges *ranges,
         struct colander_error *err)
{
    row_ranges_clear(ranges);
    return row_ranges_add(ranges, 0, part->shape.row_count, err);
}

/* A part that is asked. */
struct asked {
    const struct filter *filter;
    const struct filter_part *part;
    const struct value_hints *hints;
};

/* Whether the part may hold the value `index` of the question, as far as the
 * hierarchy told. */
static bool
may_hold(const struct asked *asked, const struct question *question,
         size_t index)
{
    const struct value_hints *hints = asked->hints;
    size_t place = question->first_value + index;

    return hints->bits == NULL ||
           (hints->bits[place * hints->stride] >> hints->shift & 1) != 0;
}

/* ------------------------------------------------------------- equality --- */

/* Looks one value up; `ranges` NULL: only counts. */
static enum colander_code
locate(const struct asked *asked, uint64_t hash, unsigned tag,
       struct row_ranges *ranges, struct locator_answer *answer,
       struct colander_error *err)
{
    const struct filter *filter = asked->filter;
    const struct filter_part *part = asked->part;
    struct cached_block *block;
    enum colander_code code;
    uint32_t first;

    code = filter_file_block(filter->file, filter->cache, part, FILTER_LOCATOR,
                             locator_group(&part->shape, hash), &block, &first,
                             err);
    if (code != COLANDER_OK)
        return code;
    code = locator_find(&part->shape, block->bytes, first, hash, tag, ranges,
                        answer, err);
    block_cache_release(filter->cache, block);
    return code;
}

/* Whether the part's presence, on disk, may hold the value. */
static enum colander_code
ask_presence(const struct asked *asked, uint64_t hash, bool *is_there,
             struct colander_error *err)
{
    const struct filter *filter = asked->filter;
    const struct filter_part *part = asked->part;
    struct presence_probe probe;
    struct cached_block *block;
    enum colander_code code;
    uint32_t first;
    size_t offset;

    presence_locate(&part->presence, hash, &probe);
    code = filter_file_block(filter->file, filter->cache, part, FILTER_PRESENCE,
                             probe.block, &block, &first, err);
    if (code != COLANDER_OK)
        return code;
    offset = (size_t)(probe.block - first) * (PRESENCE_BLOCK_BITS / 8);
    *is_there = true;
    if (offset + PRESENCE_BLOCK_BITS / 8 > block->bytes.size)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "a presence is cut off");
    for (uint32_t i = 0; i < part->presence.probes && code == COLANDER_OK; i++)
        *is_there =
            *is_there && (block->bytes.data[offset + probe.bits[i] / 8] >>
                              probe.bits[i] % 8 &
                          1) != 0;
    block_cache_release(filter->cache, block);
    return code;
}

/* All rows, if the part's presence may hold one of the values. */
static enum colander_code
find_presence(const struct asked *asked, const struct question *question,
              struct row_ranges *ranges, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_there = false;

    for (size_t i = 0;
         i < question->value_count && !is_there && code == COLANDER_OK; i++) {
        if (may_hold(asked, question, i))
            code =
                ask_presence(asked, question->value_hashes[i], &is_there, err);
    }
    if (code == COLANDER_OK && is_there)
        code = all_rows(asked->part, ranges, err);
    return code;
}

static enum colander_code
find_values(const struct asked *asked, const struct question *question,
            struct row_ranges *ranges, struct colander_error *err)
{
    const unsigned tag = tag_of(question);
    struct locator_answer answer = {0, 0};
    struct row_ranges one = ROW_RANGES_EMPTY;
    enum colander_code code = COLANDER_OK;

    row_ranges_clear(ranges);
    if (asked->part->presence.block_count != 0)
        return find_presence(asked, question, ranges, err);
    if (question->value_count == 1)
        return locate(asked, question->value_hashes[0], tag, ranges, &answer,
                      err);
    for (size_t i = 0; i < question->value_count && code == COLANDER_OK; i++) {
        if (!may_hold(asked, question, i))
            continue;
        row_ranges_clear(&one);
        code =
            locate(asked, question->value_hashes[i], tag, &one, &answer, err);
        if (code == COLANDER_OK)
            code = row_ranges_gather(ranges, &one, err);
    }
    row_ranges_order(ranges);
    row_ranges_release(&one);
    return code;
}

/* --------------------------------------------------------------- ranges --- */

static struct zone_span
span_of(const struct question *question)
{
    const struct colander_value *low = &question->values[0];
    const struct colander_value *high = &question->values[1];
    struct zone_span span;

    if (question->kind == QUESTION_PREFIX) {
        span.low = zone_rank_of(low);
        span.high = zone_rank_of_prefix_end(low);
        return span;
    }
    span.low = question->has_low ? zone_rank_of(low) : zone_rank_least(high);
    span.high =
        question->has_high ? zone_rank_of(high) : zone_rank_largest(low);
    return span;
}

static enum colander_code
find_zones(const struct asked *asked, const struct question *question,
           struct row_ranges *ranges, struct colander_error *err)
{
    const struct filter *filter = asked->filter;
    const struct filter_part *part = asked->part;
    struct cached_block *block;
    enum colander_code code;
    struct zone_span span;
    uint32_t first;

    if (part->block_count[FILTER_ZONES] == 0)
        return all_rows(part, ranges, err);
    if (question->kind != QUESTION_EXISTS)
        span = span_of(question);
    row_ranges_clear(ranges);
    code = filter_file_block(filter->file, filter->cache, part, FILTER_ZONES, 0,
                             &block, &first, err);
    if (code != COLANDER_OK)
        return code;
    code = zones_find(
        block->bytes, part->shape.row_count, path_hash_of(question),
        question->kind == QUESTION_EXISTS ? NULL : &span, ranges, err);
    block_cache_release(filter->cache, block);
    return code;
}

/* ------------------------------------------------------- and, or, leaves ---
 */

static bool
is_countable(const struct asked *asked, const struct question *question)
{
    const struct filter_head *head = filter_file_head(asked->filter->file);

    return question->kind == QUESTION_EQUAL &&
           asked->part->presence.block_count == 0 &&
           !question_is_left_out(question, head->left_out,
                                 head->left_out_count);
}

/* How many rows may answer, at most, known without reading lists of rows. */
static enum colander_code
count_rows(const struct asked *asked, const struct question *question,
           uint64_t *rows, struct colander_error *err)
{
    struct locator_answer answer = {0, 0};
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < question->value_count && code == COLANDER_OK; i++) {
        if (may_hold(asked, question, i))
            code = locate(asked, question->value_hashes[i], tag_of(question),
                          NULL, &answer, err);
    }
    *rows = answer.rows;
    return code;
}

/* The operand with the fewest rows, as far as that can be told beforehand. */
static enum colander_code
find_rarest(const struct asked *asked, const struct question *question,
            size_t *rarest, struct colander_error *err)
{
    uint64_t fewest = UINT64_MAX;
    enum colander_code code = COLANDER_OK;

    *rarest = 0;
    for (size_t i = 0; i < question->operand_count && code == COLANDER_OK;
         i++) {
        uint64_t rows = UINT64_MAX;

        if (is_countable(asked, question->operands[i]))
            code = count_rows(asked, question->operands[i], &rows, err);
        if (rows < fewest) {
            fewest = rows;
            *rarest = i;
        }
    }
    return code;
}

static enum colander_code find(const struct asked *asked,
                               const struct question *question,
                               struct row_ranges *ranges,
                               struct colander_error *err);

static enum colander_code
find_all_of(const struct asked *asked, const struct question *question,
            struct row_ranges *ranges, struct colander_error *err)
{
    struct row_ranges other = ROW_RANGES_EMPTY;
    enum colander_code code;
    size_t rarest;

    code = find_rarest(asked, question, &rarest, err);
    if (code == COLANDER_OK)
        code = find(asked, question->operands[rarest], ranges, err);
    for (size_t i = 0; i < question->operand_count && code == COLANDER_OK;
         i++) {
        if (i == rarest || row_ranges_rows(ranges) <= ROWS_WORTH_VERIFYING)
            continue;
        code = find(asked, question->operands[i], &other, err);
        if (code == COLANDER_OK)
            code = row_ranges_intersect(ranges, &other, err);
    }
    row_ranges_release(&other);
    return code;
}

static enum colander_code
find_any_of(const struct asked *asked, const struct question *question,
            struct row_ranges *ranges, struct colander_error *err)
{
    struct row_ranges other = ROW_RANGES_EMPTY;
    enum colander_code code = COLANDER_OK;

    row_ranges_clear(ranges);
    for (size_t i = 0; i < question->operand_count && code == COLANDER_OK;
         i++) {
        code = find(asked, question->operands[i], &other, err);
        if (code == COLANDER_OK)
            code = row_ranges_gather(ranges, &other, err);
    }
    row_ranges_order(ranges);
    row_ranges_release(&other);
    return code;
}

static enum colander_code
find(const struct asked *asked, const struct question *question,
     struct row_ranges *ranges, struct colander_error *err)
{
    const struct filter_head *head = filter_file_head(asked->filter->file);

    switch (question->kind) {
    case QUESTION_ALL_OF:
        return find_all_of(asked, question, ranges, err);
    case QUESTION_ANY_OF:
        return find_any_of(asked, question, ranges, err);
    case QUESTION_OPEN:
        return all_rows(asked->part, ranges, err);
    case QUESTION_EQUAL:
    case QUESTION_RANGE:
    case QUESTION_PREFIX:
    case QUESTION_EXISTS:
        break;
    }
    if (question_is_left_out(question, head->left_out, head->left_out_count))
        return all_rows(asked->part, ranges, err);
    if (question->kind == QUESTION_EQUAL)
        return find_values(asked, question, ranges, err);
    return find_zones(asked, question, ranges, err);
}

enum colander_code
part_find(const struct filter *filter, const struct filter_part *part,
          const struct question *question, const struct value_hints *hints,
          struct row_ranges *ranges, struct colander_error *err)
{
    const struct asked asked = {filter, part, hints};

    return find(&asked, question, ranges, err);
}
