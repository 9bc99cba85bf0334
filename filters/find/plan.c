/* SPDX-License-Identifier: MIT */
#include "filters/find/plan.h"
#include "core/array.h"

#include "core/engine.h"
#include "filters/live.h"
#include "filters/part_find.h"

#include <stdlib.h>

/* Costs of steps in nanoseconds, measured on files that the system has in
 * memory. Only their ratios matter. A block is not yet decoded. */
#define COST_SCAN_ROW 150    /* a row of a scan, merged and evaluated */
#define COST_SCAN_BLOCK 4000 /* a block of data in a scan */
#define COST_ROW 100         /* a row that is read directly, and evaluated */
#define COST_MATCH 120       /* the same once more, with its key */
#define COST_BLOCK 5000      /* a block that is read directly */
#define COST_SEGMENT 4000    /* a seek in an SST */
#define COST_SEGMENT_ROW 200 /* a row read there */
#define COST_VERIFY 3500     /* a candidate, read by the engine */

/* Rows of a block where that is not known. */
#define BLOCK_ROWS 40

/* Rows that all streams together fetch ahead. */
#define ROWS_AHEAD 256

/* Rows of a part that are worth being located only if the find gets there. */
#define PUT_OFF_ROWS 64

/* So few rows of a part are most likely beside the ranges that are wanted: an
 * order knows within some rows where these begin and end. */
#define DOUBTFUL_ROWS 128

/* Costs that are estimated may be higher by this factor. */
#define DOUBT 4

/* Files whose locators are fetched before they are asked. */
#define FILES_FETCHED 16

/* Most bytes of hints for single values. */
#define HINTS_MAX (4u << 20)

struct planning {
    struct plan *plan;
    const struct stream_find *find;
    struct row_ranges ranges; /* of the current part */
    struct piece_answers pieces;
    uint64_t *slots;      /* a bit for each that may match */
    uint64_t *may_match;  /* a bit for each file; NULL: all may */
    uint64_t row_count;   /* approximate rows that a scan would read */
    bool is_whole_range;  /* the find has no bounds; the rows are counted */
    uint64_t cost;        /* of the candidates so far, */
    uint64_t block_count; /* and the blocks of data, if they are known, and */
    uint64_t block_rows;  /* rows of their files */
    uint64_t rows;        /* how many candidates */
    bool has_recent_keys; /* of all rows and deletes that are in no SST */
    bool has_ranges;      /* the query */
    bool may_put_off;     /* rows of parts may be located when reached */
    bool has_put_off;     /* the cost is an estimate */
};

void
plan_release(struct plan *plan)
{
    for (size_t i = 0; i < plan->stream_count; i++)
        stream_close(plan->streams[i]);
    free(plan->streams);
    free(plan->hash_slots);
    levels_unref(plan->levels);
    recent_view_release(plan->recent);
    file_view_release(plan->view);
    memset(plan, 0, sizeof(*plan));
}

static struct colander_explain *
explain_of(const struct planning *planning)
{
    return planning->find->request->explain;
}

/* -------------------------------------------------------------- streams --- */

/* Takes the stream, also on failure. */
static enum colander_code
add_stream(struct plan *plan, struct stream *stream, struct colander_error *err)
{
    enum colander_code code = array_reserve(&plan->streams, plan->stream_count,
                                            &plan->stream_capacity, 1, err);

    stream->place = LEVELS_NONE; /* until the levels are known */
    stream->ahead_max = 1;
    if (code == COLANDER_OK)
        plan->streams[plan->stream_count++] = stream;
    else
        stream_close(stream);
    return code;
}

static enum colander_code
add_whole(struct planning *planning, struct sst_file *file,
          struct colander_error *err)
{
    struct stream *stream;
    enum colander_code code =
        stream_open_sst(planning->find, file, &stream, err);

    planning->cost += sst_file_rows(file) * COST_SEGMENT_ROW + COST_SEGMENT;
    explain_of(planning)->files_read++;
    return code == COLANDER_OK ? add_stream(planning->plan, stream, err) : code;
}

/* Fills `bounds` with the rows of a part that are in the find's range of keys,
 * and counts them as rows that a scan would read. */
static enum colander_code
find_bounds(struct planning *planning, struct sst_file *file, uint32_t index,
            struct row_range *bounds, struct colander_error *err)
{
    const struct stream_find *find = planning->find;
    const struct filter_part *part = &file->filter->parts[index];
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
    if (code == COLANDER_OK && !planning->is_whole_range)
        planning->row_count += bounds->end - bounds->first;
    return code;
}

/* Estimates how many rows in `ranges` match. A short run comes from a rare
 * value: it has one match. A long run comes from a frequent value or a range:
 * half of it matches. */
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

/* What is to be read of a part. */
struct to_read {
    uint64_t rows;
    uint64_t runs;    /* of rows */
    uint64_t matches; /* of these rows */
};

/* Counts the cost of rows that are read directly. */
static void
count_direct(struct planning *planning, const struct filter_file *filter,
             const struct filter_part *part, const struct to_read *it)
{
    const uint64_t file_rows = filter_file_rows(filter);
    const uint64_t most =
        1 + filter->span_count * (uint64_t)part->shape.row_count / file_rows;
    const uint64_t blocks =
        it->runs + it->rows * filter->span_count / file_rows;

    planning->cost += it->rows * COST_ROW + it->matches * COST_MATCH +
                      (blocks < most ? blocks : most) * COST_BLOCK;
    planning->block_count += filter->span_count;
    planning->block_rows += file_rows;
}

static void
count_cost(struct planning *planning, const struct filter_file *filter,
           const struct filter_part *part, const struct to_read *it)
{
    planning->rows += it->rows;
    if (planning->has_recent_keys && filter->span_count > 0)
        count_direct(planning, filter, part, it);
    else if (part->shape.fine == 1 && it->rows <= 2 * it->runs)
        planning->cost += it->rows * COST_VERIFY;
    else
        planning->cost += it->runs * COST_SEGMENT +
                          it->rows * COST_SEGMENT_ROW +
                          it->matches * COST_VERIFY;
}

enum part_fate { PART_PRUNED, PART_LOCATED, PART_READ, PART_WHOLE };

/* Returns what the hierarchy says about a part. */
static struct hash_hints
hints_of(const struct planning *planning, const struct sst_file *file,
         uint32_t part)
{
    struct hash_hints hints = {NULL, planning->plan->slot_words, 0};

    if (file->state == FILE_LOADED && planning->plan->hash_slots != NULL) {
        hints.bits = planning->plan->hash_slots + file->slots[part] / 64;
        hints.shift = file->slots[part] % 64;
    }
    return hints;
}

/* Plans to locate the rows of a part, about `count`, once it is reached. */
static enum colander_code
put_off(struct planning *planning, struct sst_file *file, uint32_t index,
        const struct row_range *bounds, uint64_t rows,
        struct colander_error *err)
{
    const uint64_t most = bounds->end - bounds->first;
    const struct hash_hints hints = hints_of(planning, file, index);
    struct to_read it = {rows, rows, rows};
    struct stream *stream;
    enum colander_code code;

    if (rows > most)
        it = (struct to_read){most, most, most};
    count_cost(planning, file->filter, &file->filter->parts[index], &it);
    planning->has_put_off = true;
    code = stream_put_off(planning->find, file, index, &hints, bounds, &stream,
                          err);
    return code == COLANDER_OK ? add_stream(planning->plan, stream, err) : code;
}

/* Plans one part of a file that the hierarchy does not rule out. */
static enum colander_code
plan_part(struct planning *planning, struct sst_file *file, uint32_t index,
          const struct row_range *bounds, enum part_fate *fate,
          struct colander_error *err)
{
    const struct filter_part *part = &file->filter->parts[index];
    const struct hash_hints hints = hints_of(planning, file, index);
    const bool has_keys = part->block_count[FILTER_KEYS] != 0;
    const struct filter_query *query = planning->find->request->query;
    struct row_ranges *ranges = &planning->ranges;
    const bool may_put_off = has_keys && planning->may_put_off;
    enum colander_code code;
    uint64_t rows = PUT_OFF_ROWS;
    struct stream *stream;
    struct to_read it;

    planning->pieces.row_count = bounds->end - bounds->first;
    code = part_find(file->filter, part, query, &hints, &planning->pieces,
                     may_put_off ? &rows : NULL, ranges, err);
    if (code == COLANDER_OK && may_put_off && rows > 0) {
        *fate = PART_READ;
        return put_off(planning, file, index, bounds, rows, err);
    }
    if (code != COLANDER_OK)
        return code;
    if (has_keys)
        row_ranges_clip(ranges, bounds->first, bounds->end);
    *fate = PART_LOCATED;
    if (ranges->count == 0)
        return COLANDER_OK;
    *fate = has_keys ? PART_READ : PART_WHOLE;
    if (!has_keys)
        return COLANDER_OK;
    it = (struct to_read){row_ranges_rows(ranges), ranges->count,
                          expect_matches(part, ranges)};
    count_cost(planning, file->filter, part, &it);
    code = stream_open_part(planning->find, file, index, ranges,
                            planning->has_ranges && it.rows <= DOUBTFUL_ROWS,
                            &stream, err);
    return code == COLANDER_OK ? add_stream(planning->plan, stream, err) : code;
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
    const uint32_t count = file->filter->part_count;
    const bool uses_hierarchy =
        !filter_lacks_query(file->filter, planning->find->request->query);
    enum part_fate fate = PART_PRUNED;
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0; i < count && code == COLANDER_OK; i++) {
        const bool is_out = uses_hierarchy && is_pruned(planning, file, i);
        enum part_fate one = PART_PRUNED;
        struct row_range bounds;

        if (is_out && planning->is_whole_range)
            continue;
        code = find_bounds(planning, file, i, &bounds, err);
        if (code != COLANDER_OK || bounds.first == bounds.end || is_out)
            continue;
        code = plan_part(planning, file, i, &bounds, &one, err);
        if (one > fate)
            fate = one;
        if (fate == PART_WHOLE)
            break; /* the whole file is read, once */
    }
    if (code != COLANDER_OK)
        return code;
    if (fate == PART_WHOLE)
        return add_whole(planning, file, err);
    count_fate(explain_of(planning), fate);
    return COLANDER_OK;
}

/* Plans any file. A filter that cannot be read is doubted, and the file itself
 * is read: slow, but correct. */
static enum colander_code
plan_any_file(struct planning *planning, struct sst_file *file,
              struct colander_error *err)
{
    struct plan *plan = planning->plan;
    const size_t before = plan->stream_count;
    struct colander_error failure;
    enum colander_code code;

    if (file->filter == NULL) {
        if (!planning->is_whole_range)
            planning->row_count += sst_file_rows(file);
        explain_of(planning)->files_unsure++;
        return add_whole(planning, file, err);
    }
    code = plan_file(planning, file, &failure);
    if (code == COLANDER_OK)
        return code;
    if (code != COLANDER_CORRUPT && code != COLANDER_NOT_FOUND &&
        code != COLANDER_IO) {
        if (err != NULL)
            *err = failure;
        return code;
    }
    if (code != COLANDER_IO) /* that may be temporary */
        filters_doubt(planning->find->filters, file, &failure);
    while (plan->stream_count > before)
        stream_close(plan->streams[--plan->stream_count]);
    explain_of(planning)->files_unsure++;
    return add_whole(planning, file, err);
}

/* Begins to fetch what the locators of the marked files will be asked, so that
 * the misses of several parts overlap. */
static void
fetch_file(const struct planning *planning, const struct sst_file *file,
           unsigned step)
{
    const struct filter_file *filter = file->filter;

    for (uint32_t i = 0; i < filter->part_count; i++) {
        struct hash_hints hints;

        if (is_pruned(planning, file, i))
            continue;
        hints = hints_of(planning, file, i);
        part_fetch(filter, &filter->parts[i], planning->find->request->query,
                   &hints, step);
    }
}

static void
fetch_files(const struct planning *planning, const uint64_t *marks)
{
    const struct file_view *view = planning->plan->view;

    for (unsigned step = 0; step < FILTER_FETCH_STEPS; step++) {
        uint32_t left = FILES_FETCHED;

        for (size_t i = 0; i < view->file_count && left > 0; i++) {
            if ((marks[i / 64] >> i % 64 & 1) == 0 ||
                view->files[i]->filter == NULL)
                continue;
            fetch_file(planning, view->files[i], step);
            left--;
        }
    }
}

/* ---------------------------------------------------------- recent rows --- */

/* Adds the stream of recent rows that may match, and counts them. *do_suffice
 * is false if the recent rows cannot tell which do. */
static enum colander_code
open_recent_values(struct planning *planning, struct family_filters *family,
                   const struct settings *settings, bool *do_suffice,
                   struct colander_error *err)
{
    struct plan *plan = planning->plan;
    struct stream *stream;
    uint64_t count;
    enum colander_code code;

    *do_suffice = true;
    plan->recent = recent_view_create(family->recent);
    if (plan->recent == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    /* Must come last: once this is false, rows may be gone that no view has. */
    *do_suffice = atomic_load(&family->is_recent_all);
    planning->has_recent_keys =
        *do_suffice && atomic_load(&family->knows_recent_keys);
    if (!*do_suffice)
        return COLANDER_OK;
    code = stream_open_recent(planning->find, plan->recent, settings, &stream,
                              &count, do_suffice, err);
    planning->row_count = recent_sizes(family->recent).row_count;
    planning->rows = count;
    planning->cost = count * COST_VERIFY;
    explain_of(planning)->recent_found = count;
    if (code == COLANDER_OK && stream != NULL)
        code = add_stream(plan, stream, err);
    return code;
}

/* Adds the stream of rows that are in no SST. This must precede the view: rows
 * leave the memtables only after their file has entered it. */
static enum colander_code
open_recent(struct planning *planning, struct family_filters *family,
            const struct settings *settings, struct colander_error *err)
{
    struct filters *filters = planning->find->filters;
    enum colander_code code = COLANDER_OK;
    struct stream *stream;
    bool do_suffice = false;

    explain_of(planning)->recent_found = 0;
    if (filters->is_read_only && settings->options.is_on &&
        !atomic_load(&family->is_recent_all))
        code = recent_add_log(filters, planning->find->request->family, family,
                              err);
    if (code == COLANDER_OK)
        code = open_recent_values(planning, family, settings, &do_suffice, err);
    if (code != COLANDER_OK || do_suffice)
        return code;
    planning->row_count = recent_sizes(family->recent).row_count;
    planning->cost = planning->row_count * COST_SEGMENT_ROW;
    code = stream_open_unflushed(planning->find, &stream, err);
    return code == COLANDER_OK ? add_stream(planning->plan, stream, err) : code;
}

/* --------------------------------------------------------------- making --- */

/* At most. New files may come while those of the view before are opened. */
#define VIEWS_MAX 4

static bool
has_file(const struct file_view *view, const struct sst_file *file)
{
    for (size_t i = 0; view != NULL && i < view->file_count; i++) {
        if (view->files[i] == file)
            return true;
    }
    return false;
}

/* Opens the filters of the view that are not open yet, of all files or of those
 * whose bit is set; those of the view before (NULL: none) could not be opened.
 */
static enum colander_code
open_pending(struct filters *filters, const struct file_view *view,
             const struct file_view *before, const uint64_t *files,
             bool *is_any, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *is_any = false;
    for (size_t i = 0; code == COLANDER_OK && i < view->file_count; i++) {
        if (view->files[i]->state != FILE_PENDING ||
            (files != NULL && (files[i / 64] >> i % 64 & 1) == 0) ||
            has_file(before, view->files[i]))
            continue;
        code = filters_open_pending(filters, view->files[i], err);
        *is_any = true;
    }
    return code;
}

enum colander_code
plan_view(struct filters *filters, struct family_filters *family,
          const uint64_t *files, struct file_view **view,
          struct colander_error *err)
{
    struct file_view *before = NULL;
    enum colander_code code;
    bool is_opened = true;

    code = registry_view(&filters->registry, family, view, err);
    for (unsigned i = 1; i < VIEWS_MAX && code == COLANDER_OK && is_opened &&
                         (*view)->has_pending;
         i++) {
        code = open_pending(filters, *view, before, files, &is_opened, err);
        if (code == COLANDER_OK && is_opened) {
            file_view_release(before);
            before = *view;
            *view = NULL;
            code = registry_view(&filters->registry, family, view, err);
        }
    }
    file_view_release(before);
    return code;
}

/* Takes the view of a store whose files are far away, and opens the filters
 * that are not ruled out. No file comes or goes there. */
static enum colander_code
take_remote_view(struct planning *planning, struct family_filters *family,
                 struct colander_error *err)
{
    const struct stream_find *find = planning->find;
    struct plan *plan = planning->plan;
    enum colander_code code =
        registry_view(&find->filters->registry, family, &plan->view, err);

    if (code == COLANDER_OK)
        code = rule_out_files(find->filters, plan->view, find->request->query,
                              &planning->may_match, err);
    file_view_release(plan->view);
    plan->view = NULL;
    return code == COLANDER_OK
               ? plan_view(find->filters, family, planning->may_match,
                           &plan->view, err)
               : code;
}

/* Allocates the bits for the hierarchy's answers, and for files after them. */
static enum colander_code
make_room(struct planning *planning, struct colander_error *err)
{
    const struct file_view *view = planning->plan->view;
    const size_t words = (view->slot_count + 63) / 64;
    const size_t mark_words = view->file_count / 64 + 1;
    const size_t hashes = filter_query_hashes(planning->find->request->query);

    planning->plan->slot_words = words;
    planning->slots =
        malloc((words + 1 + mark_words) * sizeof(*planning->slots));
    if (planning->slots == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    /* A single hash needs no hints. Without memory, more filters are read. */
    if (hashes > 1 && hashes <= HINTS_MAX / sizeof(uint64_t) / (words + 1))
        planning->plan->hash_slots =
            calloc(hashes * words + 1, sizeof(uint64_t));
    return COLANDER_OK;
}

/* Marks the files whose parts the hierarchy does not rule out. */
static void
mark_files(const struct planning *planning, uint64_t *marks)
{
    const struct file_view *view = planning->plan->view;

    for (size_t word = 0; word < planning->plan->slot_words; word++) {
        uint64_t slots = planning->slots[word];

        for (; slots != 0; slots &= slots - 1) {
            size_t slot = word * 64 + (unsigned)__builtin_ctzll(slots);
            uint32_t file =
                slot < view->slot_count ? view->slot_files[slot] : 0;

            marks[file / 64] |= UINT64_C(1) << file % 64;
        }
    }
}

/* Plans the files whose bit is set. */
static enum colander_code
plan_files(struct planning *planning, const uint64_t *marks,
           struct colander_error *err)
{
    const struct file_view *view = planning->plan->view;
    struct colander_explain *explain = explain_of(planning);
    enum colander_code code = COLANDER_OK;

    explain->file_count = view->file_count;
    explain->files_pruned = explain->files_located = 0;
    explain->files_read = explain->files_unsure = 0;
    for (size_t i = 0; i < view->file_count && code == COLANDER_OK; i++) {
        if ((marks[i / 64] >> i % 64 & 1) != 0) {
            code = plan_any_file(planning, view->files[i], err);
            continue;
        }
        explain->files_pruned++;
        if (!planning->is_whole_range) /* a scan would read it */
            planning->row_count += sst_file_rows(view->files[i]);
    }
    return code;
}

static enum colander_code
find_sources(struct planning *planning, struct colander_error *err)
{
    const struct stream_find *find = planning->find;
    const struct file_view *view = planning->plan->view;
    const size_t words = view->file_count / 64 + 1;
    const bool has_words =
        filter_query_count(find->request->query, FILTER_QUERY_WORD) > 0;
    enum colander_code code = make_room(planning, err);
    uint64_t *marks;

    if (code == COLANDER_OK)
        code = plan_ask_hierarchy(planning->plan, find->request->query,
                                  planning->slots, err);
    if (code != COLANDER_OK)
        return code;
    marks = planning->slots + planning->plan->slot_words + 1;
    planning->is_whole_range = find->from.size == 0 && find->until.size == 0;
    if (planning->is_whole_range) {
        planning->row_count += view->row_count;
        memcpy(marks, view->asides, words * sizeof(*marks));
        for (size_t i = 0; i < words && has_words; i++)
            marks[i] |= view->wordless[i];
        mark_files(planning, marks);
    } else {
        /* in a range, rows are counted */
        memset(marks, 0xff, words * sizeof(*marks));
    }
    for (size_t i = 0; i < words && planning->may_match != NULL; i++)
        marks[i] &= planning->may_match[i];
    if (planning->is_whole_range)
        fetch_files(planning, marks);
    return plan_files(planning, marks, err);
}

/* Returns how many rows each stream fetches ahead: few if there are many
 * streams, as it holds their blocks. */
static uint32_t
rows_ahead(const struct planning *planning)
{
    const size_t count = planning->plan->stream_count;
    const uint64_t limit = planning->find->request->limit;
    uint64_t rows = count < ROWS_AHEAD ? ROWS_AHEAD / (count + 1) : 1;

    if (rows > STREAM_AHEAD_MAX)
        rows = STREAM_AHEAD_MAX;
    return (uint32_t)(limit < rows ? limit + (limit == 0) : rows);
}

/* Lists the levels, if rows can be read directly. This must follow the recent
 * rows: rows leave them only after their file has entered the levels. */
static void
take_levels(struct planning *planning, struct family_filters *family)
{
    struct filters *filters = planning->find->filters;
    struct plan *plan = planning->plan;
    const uint32_t ahead_max = rows_ahead(planning);

    if (plan->is_scan || plan->stream_count == 0 || !planning->has_recent_keys)
        return;
    plan->levels = registry_levels(&filters->registry, family, filters->engine,
                                   planning->find->request->family,
                                   &filters->commons->levels_memory);
    for (size_t i = 0; plan->levels != NULL && i < plan->stream_count; i++) {
        struct stream *stream = plan->streams[i];

        if (stream->file == NULL)
            continue;
        stream->place = levels_find(plan->levels, stream->file->number);
        stream->ahead_max = ahead_max;
    }
}

static uint64_t
scan_cost(const struct planning *planning)
{
    const uint64_t rows = planning->row_count;
    const double blocks =
        planning->block_rows == 0
            ? 1.0 / BLOCK_ROWS
            : (double)planning->block_count / (double)planning->block_rows;

    return rows * COST_SCAN_ROW +
           (uint64_t)((double)rows * blocks * COST_SCAN_BLOCK);
}

static const char *
reason_of(const struct planning *planning)
{
    if (!planning->plan->is_scan)
        return "value filters say which rows may match";
    if (planning->pieces.is_too_many)
        return "what is looked for is in too many words: reading candidates "
               "would cost more than all rows";
    if (planning->pieces.is_dear)
        return "searching dictionaries of words would cost more than reading "
               "all rows";
    if (planning->pieces.lacks_words)
        return "some files have no words of a column that is searched: reading "
               "candidates would cost more than all rows";
    if (planning->pieces.is_unknown)
        return "some files have no dictionary of words: reading candidates "
               "would cost more than all rows";
    return "reading candidates would cost more than all rows";
}

static void
choose(struct planning *planning, bool may_scan)
{
    struct colander_explain *explain = explain_of(planning);

    explain->rows_expected = planning->rows;
    planning->plan->is_scan = may_scan && planning->cost > scan_cost(planning);
    explain->reason = reason_of(planning);
    explain->words_found = planning->pieces.words_found;
    memcpy(explain->some_words, planning->pieces.some,
           sizeof(explain->some_words));
}

/* Makes the plan. *is_unsure: the cost is estimated, and a scan may cost less.
 */
static enum colander_code
make(struct plan *plan, const struct stream_find *find, bool may_scan,
     bool may_put_off, bool *is_unsure, struct colander_error *err)
{
    const struct candidate_request *request = find->request;
    const struct filter_query *query = request->query;
    const size_t pieces = filter_query_count(query, FILTER_QUERY_PIECE);
    struct planning planning = {
        .plan = plan,
        .find = find,
        .pieces = {.are_many = pieces > 1,
                   .is_cancelled = request->is_cancelled},
        .has_ranges = filter_query_count(query, FILTER_QUERY_RANGE) > 0 ||
                      filter_query_count(query, FILTER_QUERY_PREFIX) > 0,
        .may_put_off =
            may_put_off && pieces == 0 && request->limit != UINT64_MAX,
    };
    struct settings *settings;
    struct family_filters *family = registry_family(
        &find->filters->registry, engine_family_id(request->family), &settings);
    enum colander_code code;

    memset(plan, 0, sizeof(*plan));
    if (family == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    code = open_recent(&planning, family, settings, err);
    settings_unref(settings);
    if (code == COLANDER_OK && find->filters->remote != NULL)
        code = take_remote_view(&planning, family, err);
    else if (code == COLANDER_OK)
        code = plan_view(find->filters, family, NULL, &plan->view, err);
    if (code == COLANDER_OK)
        code = find_sources(&planning, err);
    *is_unsure = may_scan && planning.has_put_off &&
                 planning.cost > scan_cost(&planning) / DOUBT;
    if (code == COLANDER_OK)
        choose(&planning, may_scan);
    if (code == COLANDER_OK)
        take_levels(&planning, family);
    row_ranges_release(&planning.ranges);
    piece_answers_release(&planning.pieces);
    free(planning.slots);
    free(planning.may_match);
    if (code != COLANDER_OK)
        plan_release(plan);
    return code;
}

enum colander_code
plan_make(struct plan *plan, const struct stream_find *find, bool may_scan,
          struct colander_error *err)
{
    bool is_unsure;
    enum colander_code code = make(plan, find, may_scan, true, &is_unsure, err);

    if (code != COLANDER_OK || !is_unsure)
        return code;
    plan_release(plan);
    return make(plan, find, may_scan, false, &is_unsure, err);
}
