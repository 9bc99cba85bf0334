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

/* ------------------------------------------------------------- equality --- */

/* Looks one value up; `ranges` NULL: only counts. */
static enum colander_code
locate(const struct filter *filter, const struct filter_part *part,
       uint64_t hash, unsigned tag, struct row_ranges *ranges,
       struct locator_answer *answer, struct colander_error *err)
{
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
ask_presence(const struct filter *filter, const struct filter_part *part,
             uint64_t hash, bool *may_hold, struct colander_error *err)
{
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
    *may_hold = true;
    if (offset + PRESENCE_BLOCK_BITS / 8 > block->bytes.size)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "a presence is cut off");
    for (uint32_t i = 0; i < part->presence.probes && code == COLANDER_OK; i++)
        *may_hold =
            *may_hold && (block->bytes.data[offset + probe.bits[i] / 8] >>
                              probe.bits[i] % 8 &
                          1) != 0;
    block_cache_release(filter->cache, block);
    return code;
}

static enum colander_code
find_values(const struct filter *filter, const struct filter_part *part,
            const struct question *question, struct row_ranges *ranges,
            struct colander_error *err)
{
    struct row_ranges one = ROW_RANGES_EMPTY;
    enum colander_code code = COLANDER_OK;

    row_ranges_clear(ranges);
    for (size_t i = 0; i < question->value_count && code == COLANDER_OK; i++) {
        const uint64_t hash = colander_value_hash(&question->values[i]);
        struct locator_answer answer = {0, 0};

        row_ranges_clear(&one);
        if (part->presence.block_count != 0) {
            bool may_hold = true;

            code = ask_presence(filter, part, hash, &may_hold, err);
            if (code == COLANDER_OK && may_hold)
                return all_rows(part, ranges, err);
            continue;
        }
        code = locate(filter, part, hash, tag_of(question),
                      question->value_count == 1 ? ranges : &one, &answer, err);
        if (code == COLANDER_OK && one.count > 0)
            code = row_ranges_unite(ranges, &one, err);
    }
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
find_zones(const struct filter *filter, const struct filter_part *part,
           const struct question *question, struct row_ranges *ranges,
           struct colander_error *err)
{
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
is_countable(const struct question *question, const struct filter_head *head,
             const struct filter_part *part)
{
    return question->kind == QUESTION_EQUAL &&
           part->presence.block_count == 0 &&
           !question_is_left_out(question, head->left_out,
                                 head->left_out_count);
}

/* How many rows may answer, at most, known without reading lists of rows. */
static enum colander_code
count_rows(const struct filter *filter, const struct filter_part *part,
           const struct question *question, uint64_t *rows,
           struct colander_error *err)
{
    struct locator_answer answer = {0, 0};
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < question->value_count && code == COLANDER_OK; i++)
        code = locate(filter, part, colander_value_hash(&question->values[i]),
                      tag_of(question), NULL, &answer, err);
    *rows = answer.rows;
    return code;
}

/* The operand with the fewest rows, as far as that can be told beforehand. */
static enum colander_code
find_rarest(const struct filter *filter, const struct filter_part *part,
            const struct question *question, size_t *rarest,
            struct colander_error *err)
{
    const struct filter_head *head = filter_file_head(filter->file);
    uint64_t fewest = UINT64_MAX;
    enum colander_code code = COLANDER_OK;

    *rarest = 0;
    for (size_t i = 0; i < question->operand_count && code == COLANDER_OK;
         i++) {
        const struct question *operand = question->operands[i];
        uint64_t rows = UINT64_MAX;

        if (is_countable(operand, head, part))
            code = count_rows(filter, part, operand, &rows, err);
        if (rows < fewest) {
            fewest = rows;
            *rarest = i;
        }
    }
    return code;
}

static enum colander_code
find_all_of(const struct filter *filter, const struct filter_part *part,
            const struct question *question, struct row_ranges *ranges,
            struct colander_error *err)
{
    struct row_ranges other = ROW_RANGES_EMPTY;
    enum colander_code code;
    size_t rarest;

    code = find_rarest(filter, part, question, &rarest, err);
    if (code == COLANDER_OK)
        code = part_find(filter, part, question->operands[rarest], ranges, err);
    for (size_t i = 0; i < question->operand_count && code == COLANDER_OK;
         i++) {
        if (i == rarest || row_ranges_rows(ranges) <= ROWS_WORTH_VERIFYING)
            continue;
        code = part_find(filter, part, question->operands[i], &other, err);
        if (code == COLANDER_OK)
            code = row_ranges_intersect(ranges, &other, err);
    }
    row_ranges_release(&other);
    return code;
}

static enum colander_code
find_any_of(const struct filter *filter, const struct filter_part *part,
            const struct question *question, struct row_ranges *ranges,
            struct colander_error *err)
{
    struct row_ranges other = ROW_RANGES_EMPTY;
    enum colander_code code = COLANDER_OK;

    row_ranges_clear(ranges);
    for (size_t i = 0; i < question->operand_count && code == COLANDER_OK;
         i++) {
        code = part_find(filter, part, question->operands[i], &other, err);
        if (code == COLANDER_OK)
            code = row_ranges_unite(ranges, &other, err);
    }
    row_ranges_release(&other);
    return code;
}

enum colander_code
part_find(const struct filter *filter, const struct filter_part *part,
          const struct question *question, struct row_ranges *ranges,
          struct colander_error *err)
{
    const struct filter_head *head = filter_file_head(filter->file);

    switch (question->kind) {
    case QUESTION_ALL_OF:
        return find_all_of(filter, part, question, ranges, err);
    case QUESTION_ANY_OF:
        return find_any_of(filter, part, question, ranges, err);
    case QUESTION_OPEN:
        return all_rows(part, ranges, err);
    case QUESTION_EQUAL:
    case QUESTION_RANGE:
    case QUESTION_PREFIX:
    case QUESTION_EXISTS:
        break;
    }
    if (question_is_left_out(question, head->left_out, head->left_out_count))
        return all_rows(part, ranges, err);
    if (question->kind == QUESTION_EQUAL)
        return find_values(filter, part, question, ranges, err);
    return find_zones(filter, part, question, ranges, err);
}
