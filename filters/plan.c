/*
 * Plans: see plan.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/plan.h"

#include "filters/part_find.h"

#include <stdlib.h>

/*
 * What steps cost, in nanoseconds, as measured by `colander-bench find` on
 * warm data. Only how they compare matters.
 */
#define COST_SCAN_ROW 250    /* a row of a scan, merged and evaluated */
#define COST_SEGMENT 4000    /* a seek in an SST */
#define COST_SEGMENT_ROW 200 /* a row read there */
#define COST_VERIFY 3500     /* a candidate, read at the snapshot */

/* A part that may have rows, or all of a file. */
struct source {
    struct sst_file *file; /* borrowed from the view */
    uint32_t part;
    bool is_whole; /* the SST is read from end to end */
    struct row_ranges ranges;
};

struct planning {
    struct plan *plan;
    const struct stream_find *find;
    struct source *sources;
    size_t source_count;
    size_t source_capacity;
    uint64_t *slots; /* that may hold the values, a bit for each */
    size_t slot_words;
    uint64_t row_count; /* of all files, about */
    uint64_t cost;      /* of the candidates found so far */
    uint64_t rows;      /* that many */
};

void
plan_release(struct plan *plan)
{
    for (size_t i = 0; i < plan->stream_count; i++)
        stream_close(plan->streams[i]);
    free(plan->streams);
    recent_view_release(plan->recent);
    view_release(plan->view);
    memset(plan, 0, sizeof(*plan));
}

static struct colander_explain *
explain_of(const struct planning *planning)
{
    return planning->find->request->explain;
}

/* ------------------------------------------------------------ hierarchy --- */

static enum colander_code ask_hierarchy(const struct planning *planning,
                                        const struct question *question,
                                        uint64_t *slots,
                                        struct colander_error *err);

/* Sets in `slots` those that may answer one (`any`) or all operands. */
static enum colander_code
ask_operands(const struct planning *planning, const struct question *question,
             bool any, uint64_t *slots, struct colander_error *err)
{
    const size_t words = planning->slot_words;
    uint64_t *other = malloc((words + 1) * sizeof(*other));
    enum colander_code code = COLANDER_OK;

    if (other == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    memset(slots, any ? 0 : 0xff, words * sizeof(*slots));
    for (size_t i = 0; i < question->operand_count && code == COLANDER_OK;
         i++) {
        code = ask_hierarchy(planning, question->operands[i], other, err);
        for (size_t k = 0; k < words; k++)
            slots[k] = any ? slots[k] | other[k] : slots[k] & other[k];
    }
    free(other);
    return code;
}

/* Fills `slots` with the parts that may answer the question, as far as the
 * hierarchy tells. */
static enum colander_code
ask_hierarchy(const struct planning *planning, const struct question *question,
              uint64_t *slots, struct colander_error *err)
{
    const size_t size = planning->slot_words * sizeof(*slots);

    switch (question->kind) {
    case QUESTION_EQUAL:
        memset(slots, 0, size);
        for (size_t i = 0; i < question->value_count; i++)
            hierarchy_find(planning->plan->view->edition,
                           colander_value_hash(&question->values[i]), slots);
        return COLANDER_OK;
    case QUESTION_ALL_OF:
    case QUESTION_ANY_OF:
        return ask_operands(planning, question,
                            question->kind == QUESTION_ANY_OF, slots, err);
    case QUESTION_RANGE:
    case QUESTION_PREFIX:
    case QUESTION_EXISTS:
    case QUESTION_OPEN:
        break;
    }
    memset(slots, 0xff, size);
    return COLANDER_OK;
}

/* Whether some column of the question is not in the file's filter: then what
 * the hierarchy says of it means nothing. */
static bool
is_left_out(const struct question *question, const struct filter_head *head)
{
    if (head->left_out_count == 0 || question->kind == QUESTION_OPEN)
        return false;
    if (question->kind != QUESTION_ALL_OF && question->kind != QUESTION_ANY_OF)
        return question_is_left_out(question, head->left_out,
                                    head->left_out_count);
    for (size_t i = 0; i < question->operand_count; i++) {
        if (is_left_out(question->operands[i], head))
            return true;
    }
    return false;
}

/* -------------------------------------------------------------- sources --- */

static enum colander_code
add_source(struct planning *planning, const struct source *source,
           struct colander_error *err)
{
    if (planning->source_count == planning->source_capacity) {
        size_t capacity = 2 * planning->source_capacity + 8;
        struct source *grown =
            realloc(planning->sources, capacity * sizeof(*grown));

        if (grown == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a find");
        planning->sources = grown;
        planning->source_capacity = capacity;
    }
    planning->sources[planning->source_count++] = *source;
    return COLANDER_OK;
}

/* How many rows a file has, about. */
static uint64_t
rows_of(const struct sst_file *file)
{
    const uint64_t typical_row = 100; /* bytes */

    if (file->filter != NULL)
        return filter_file_head(file->filter->file)->entry_count;
    return file->entry_count != 0 ? file->entry_count
                                  : file->size / typical_row;
}

static enum colander_code
add_whole(struct planning *planning, struct sst_file *file,
          struct colander_error *err)
{
    const struct source source = {file, 0, true, ROW_RANGES_EMPTY};

    planning->cost += rows_of(file) * COST_SEGMENT_ROW + COST_SEGMENT;
    explain_of(planning)->files_read++;
    return add_source(planning, &source, err);
}

/* Fills `bounds` with the rows of a part that are in the find's range of keys,
 * and counts them as those that a scan would read. */
static enum colander_code
find_bounds(struct planning *planning, struct sst_file *file, uint32_t index,
            struct row_range *bounds, struct colander_error *err)
{
    const struct stream_find *find = planning->find;
    const struct filter_part *part =
        filter_file_part(file->filter->file, index);
    enum colander_code code = COLANDER_OK;

    bounds->first = 0;
    bounds->end = part->shape.row_count;
    if ((find->from.size != 0 &&
         colander_slice_compare(part->last_key, find->from) < 0) ||
        (find->until.size != 0 &&
         colander_slice_compare(part->first_key, find->until) >= 0))
        bounds->end = 0;
    else if (part->block_count[FILTER_KEYS] != 0)
        code = part_bounds(file->filter, part, find->from, find->until, bounds,
                           err);
    if (code == COLANDER_OK)
        planning->row_count += bounds->end - bounds->first;
    return code;
}

/* How many of the rows in `ranges` match, about: in a unit of a value that is
 * not rare one or few; in a long run, of a value that is nearly everywhere or
 * of a range of values, every other. */
static uint64_t
expect_matches(const struct filter_part *part, const struct row_ranges *ranges)
{
    uint64_t matches = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        uint32_t rows = ranges->ranges[i].end - ranges->ranges[i].first;

        matches += rows <= part->shape.coarse ? 1 : rows / 2;
    }
    return matches;
}

static void
count_cost(struct planning *planning, const struct filter_part *part,
           const struct row_ranges *ranges)
{
    uint64_t rows = row_ranges_rows(ranges);

    planning->rows += rows;
    if (part->shape.fine == 1 && rows <= 2 * ranges->count)
        planning->cost += rows * COST_VERIFY;
    else
        planning->cost += ranges->count * COST_SEGMENT +
                          rows * COST_SEGMENT_ROW +
                          expect_matches(part, ranges) * COST_VERIFY;
}

enum part_fate { PART_PRUNED, PART_LOCATED, PART_READ, PART_WHOLE };

/* Looks at one part of a file that the hierarchy lets through. */
static enum colander_code
plan_part(struct planning *planning, struct sst_file *file, uint32_t index,
          const struct row_range *bounds, enum part_fate *fate,
          struct colander_error *err)
{
    const struct filter_part *part =
        filter_file_part(file->filter->file, index);
    struct source source = {file, index, false, ROW_RANGES_EMPTY};
    enum colander_code code;

    code = part_find(file->filter, part, planning->find->request->question,
                     &source.ranges, err);
    if (code == COLANDER_OK && part->block_count[FILTER_KEYS] != 0)
        row_ranges_clip(&source.ranges, bounds->first, bounds->end);
    *fate = PART_LOCATED;
    if (code == COLANDER_OK && source.ranges.count > 0) {
        *fate = PART_READ;
        if (part->block_count[FILTER_KEYS] == 0) {
            *fate = PART_WHOLE;
        } else {
            count_cost(planning, part, &source.ranges);
            code = add_source(planning, &source, err);
            if (code == COLANDER_OK)
                return code;
        }
    }
    row_ranges_release(&source.ranges);
    return code;
}

static bool
is_pruned(const struct planning *planning, const struct sst_file *file,
          uint32_t part)
{
    uint32_t slot;

    if (file->state != FILE_LOADED)
        return false;
    slot = file->slots[part];
    return (planning->slots[slot / 64] >> slot % 64 & 1) == 0;
}

static void
count_fate(struct colander_explain *explain, enum part_fate fate)
{
    if (fate == PART_PRUNED)
        explain->files_pruned++;
    else if (fate == PART_LOCATED)
        explain->files_located++;
    else if (fate == PART_READ)
        explain->files_read++;
}

/* Plans a file whose filter is open. */
static enum colander_code
plan_file(struct planning *planning, struct sst_file *file,
          struct colander_error *err)
{
    const struct filter_head *head = filter_file_head(file->filter->file);
    const uint32_t count = filter_file_part_count(file->filter->file);
    const bool asks_hierarchy =
        !is_left_out(planning->find->request->question, head);
    enum part_fate fate = PART_PRUNED;
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        enum part_fate one = PART_PRUNED;
        struct row_range bounds;

        code = find_bounds(planning, file, i, &bounds, err);
        if (code != COLANDER_OK || bounds.first == bounds.end ||
            (asks_hierarchy && is_pruned(planning, file, i)))
            continue;
        code = plan_part(planning, file, i, &bounds, &one, err);
        if (one > fate)
            fate = one;
        if (fate == PART_WHOLE)
            break; /* the file is read from end to end: once */
    }
    if (code != COLANDER_OK)
        return code;
    if (fate == PART_WHOLE)
        return add_whole(planning, file, err);
    count_fate(explain_of(planning), fate);
    return COLANDER_OK;
}

/* A filter that cannot be read is doubted from here on: reading the file itself
 * is right, and slow. */
static enum colander_code
plan_any_file(struct planning *planning, struct sst_file *file,
              struct colander_error *err)
{
    const uint64_t snapshot =
        snapshot_sequence(planning->find->request->snapshot);
    const size_t before = planning->source_count;
    struct colander_error why;
    enum colander_code code;

    if (file->filter == NULL ||
        filter_file_head(file->filter->file)->valid_from > snapshot) {
        planning->row_count += rows_of(file);
        explain_of(planning)->files_unsure++;
        return add_whole(planning, file, err);
    }
    code = plan_file(planning, file, &why);
    if (code == COLANDER_OK)
        return code;
    if (code != COLANDER_CORRUPT && code != COLANDER_NOT_FOUND &&
        code != COLANDER_IO) {
        if (err != NULL)
            *err = why;
        return code;
    }
    if (code != COLANDER_IO) /* which may pass */
        filters_doubt(planning->find->filters, file, &why);
    while (planning->source_count > before)
        row_ranges_release(&planning->sources[--planning->source_count].ranges);
    explain_of(planning)->files_unsure++;
    return add_whole(planning, file, err);
}

/* -------------------------------------------------------------- streams --- */

static enum colander_code
add_stream(struct plan *plan, struct stream *stream, struct colander_error *err)
{
    if (plan->stream_count == plan->stream_capacity) {
        size_t capacity = 2 * plan->stream_capacity + 8;
        struct stream **grown =
            realloc(plan->streams, capacity * sizeof(struct stream *));

        if (grown == NULL) {
            stream_close(stream);
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a find");
        }
        plan->streams = grown;
        plan->stream_capacity = capacity;
    }
    plan->streams[plan->stream_count++] = stream;
    return COLANDER_OK;
}

/* Adds the stream of rows that are in no SST. Before the view is taken: rows
 * leave the memtables only after their file has entered it. */
static enum colander_code
open_recent(struct planning *planning, struct family_filters *family,
            struct colander_error *err)
{
    struct filters *filters = planning->find->filters;
    struct plan *plan = planning->plan;
    struct settings *settings = registry_settings(&filters->registry, family);
    struct stream *stream = NULL;
    uint64_t recent_rows;
    uint64_t count = 0;
    enum colander_code code = COLANDER_OK;

    if (filters->is_read_only && settings->options.is_on &&
        !atomic_load(&family->is_recent_all))
        code =
            notes_of_log(filters, planning->find->request->family, family, err);
    if (code == COLANDER_OK && atomic_load(&family->is_recent_all)) {
        plan->recent = recent_view_create(family->recent);
        code =
            plan->recent == NULL
                ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find")
                : stream_open_recent(planning->find, plan->recent, settings,
                                     &stream, &count, err);
    }
    settings_unref(settings);
    recent_rows = recent_sizes(family->recent).row_count;
    planning->row_count = recent_rows;
    planning->rows = count;
    planning->cost = count * COST_VERIFY;
    explain_of(planning)->recent_found = count;
    if (code == COLANDER_OK && stream == NULL) {
        planning->cost = recent_rows * COST_SEGMENT_ROW;
        code = stream_open_unflushed(planning->find, &stream, err);
    } else if (code == COLANDER_OK && count == 0) {
        stream_close(stream);
        return COLANDER_OK;
    }
    if (code == COLANDER_OK)
        code = add_stream(plan, stream, err);
    return code;
}

static enum colander_code
open_sources(struct planning *planning, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < planning->source_count && code == COLANDER_OK; i++) {
        struct source *source = &planning->sources[i];
        struct stream *stream;

        if (source->is_whole)
            code = stream_open_sst(planning->find, source->file, &stream, err);
        else
            code = stream_open_part(planning->find, source->file, source->part,
                                    &source->ranges, &stream, err);
        if (code == COLANDER_OK)
            code = add_stream(planning->plan, stream, err);
    }
    return code;
}

/* --------------------------------------------------------------- making --- */

/* Takes the view, with the filters of its files opened. */
static enum colander_code
take_view(struct planning *planning, struct family_filters *family,
          struct colander_error *err)
{
    struct filters *filters = planning->find->filters;
    struct view **view = &planning->plan->view;
    enum colander_code code;
    bool is_opened = false;

    code = registry_view(&filters->registry, family, view, err);
    for (size_t i = 0; code == COLANDER_OK && i < (*view)->file_count; i++) {
        if ((*view)->files[i]->state != FILE_PENDING)
            continue;
        code = filters_open_pending(filters, (*view)->files[i], err);
        is_opened = true;
    }
    if (code == COLANDER_OK && is_opened) {
        view_release(*view);
        *view = NULL;
        code = registry_view(&filters->registry, family, view, err);
    }
    return code;
}

static enum colander_code
find_sources(struct planning *planning, struct colander_error *err)
{
    const struct view *view = planning->plan->view;
    struct colander_explain *explain = explain_of(planning);
    enum colander_code code;

    planning->slot_words = (view->slot_count + 63) / 64;
    planning->slots = malloc((planning->slot_words + 1) * sizeof(uint64_t));
    if (planning->slots == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    code = ask_hierarchy(planning, planning->find->request->question,
                         planning->slots, err);
    explain->file_count = view->file_count;
    explain->files_pruned = explain->files_located = 0;
    explain->files_read = explain->files_unsure = 0;
    for (size_t i = 0; i < view->file_count && code == COLANDER_OK; i++)
        code = plan_any_file(planning, view->files[i], err);
    return code;
}

static enum colander_code
choose(struct planning *planning, bool may_scan, struct colander_error *err)
{
    struct colander_explain *explain = explain_of(planning);

    explain->rows_expected = planning->rows;
    if (may_scan && planning->cost > planning->row_count * COST_SCAN_ROW) {
        planning->plan->is_scan = true;
        explain->reason = "reading candidates would cost more than all rows";
        return COLANDER_OK;
    }
    explain->reason = "value filters tell which rows may match";
    return open_sources(planning, err);
}

enum colander_code
plan_make(struct plan *plan, const struct stream_find *find, bool may_scan,
          struct colander_error *err)
{
    struct planning planning = {.plan = plan, .find = find};
    struct family_filters *family =
        registry_family(&find->filters->registry,
                        colander_engine_family_id(find->request->family));
    enum colander_code code;

    memset(plan, 0, sizeof(*plan));
    if (family == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    code = open_recent(&planning, family, err);
    if (code == COLANDER_OK)
        code = take_view(&planning, family, err);
    if (code == COLANDER_OK)
        code = find_sources(&planning, err);
    if (code == COLANDER_OK)
        code = choose(&planning, may_scan, err);
    for (size_t i = 0; i < planning.source_count; i++)
        row_ranges_release(&planning.sources[i].ranges);
    free(planning.sources);
    free(planning.slots);
    if (code != COLANDER_OK)
        plan_release(plan);
    return code;
}
