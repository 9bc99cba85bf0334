/*
 * Rows that a policy does not keep, deleted.
 *
 * The largest time that must go because of `size_max` is found by histograms of
 * bytes over time: the first over all rows, each further one over the bucket of
 * the one before in which the bound lies, until that bucket has one time. So
 * memory is bounded, and each scan but the first reads few rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/upkeep/retention_inside.h"

#include "columns/partitions.h"
#include "columns/path.h"
#include "columns/store.h"
#include "columns/time_range.h"
#include "columns/write.h"
#include "core/engine.h"
#include "core/sized.h"

#include <inttypes.h>
#include <stdlib.h>

#define ASKED_EVERY 1000 /* rows between two calls of goes_on */
#define BUCKETS 1024

/* Deletes from which on they are flushed: compactions that free the space of
 * rows see only what is in files. */
#define FLUSHED_FROM 10000

struct retaining {
    struct colander_family *family;
    struct colander_retention retention;
    const struct colander_retention *kept; /* the family's own; NULL: another */
    struct colander_retain_options options;
    struct colander_retained done;
    struct colander_buffer column;      /* the time column, a C string */
    struct path path;                   /* the same */
    struct colander_value oldest;       /* of all times */
    struct colander_predicate *expired; /* because of age; NULL: none is */
    uint64_t row_count;                 /* read since the last goes_on */
};

void
colander_retain_options_init_sized(struct colander_retain_options *options,
                                   size_t struct_size)
{
    const struct colander_retain_options usual = {.now = colander_null()};

    sized_return(options, struct_size, &usual, sizeof(usual));
    memcpy(options, &struct_size, sizeof(struct_size));
}

/* ---------------------------------------------------------------- reads --- */

/* Receives a row of a find. */
typedef enum colander_code take_row(void *context,
                                    const struct colander_result *row,
                                    struct colander_error *err);

static enum colander_code
check_goes_on(struct retaining *retaining, struct colander_error *err)
{
    const struct colander_retain_options *options = &retaining->options;

    if (retaining->row_count++ % ASKED_EVERY != 0 || options->goes_on == NULL ||
        options->goes_on(options->context, retaining->done.row_count))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
}

static void
watch(const struct retaining *retaining, struct colander_cursor *cursor)
{
    if (retaining->options.watch != NULL)
        retaining->options.watch(retaining->options.context, cursor);
}

/* Passes each row of the query to `take`. */
static enum colander_code
read_rows(struct retaining *retaining, const struct colander_query *query,
          take_row *take, void *context, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_result row;
    bool is_row = true;
    enum colander_code code =
        colander_family_find(retaining->family, query, &cursor, err);

    if (code == COLANDER_OK)
        watch(retaining, cursor);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &row, err);
        if (code == COLANDER_OK && is_row)
            code = check_goes_on(retaining, err);
        if (code == COLANDER_OK && is_row)
            code = take(context, &row, err);
    }
    if (cursor != NULL)
        watch(retaining, NULL);
    colander_cursor_close(cursor);
    return code;
}

/* ----------------------------------------------------------- histograms --- */

/* A time as one number, of nanoseconds. */
typedef __int128 instant;

static instant
instant_of(const struct colander_value *time)
{
    return (instant)time->second * 1000000000 + time->nanosecond;
}

static struct colander_value
instant_value(instant time)
{
    const instant nanoseconds = 1000000000;
    instant second = time / nanoseconds;

    if (time % nanoseconds < 0)
        second--;
    return colander_timestamp((int64_t)second,
                              (uint32_t)(time - second * nanoseconds));
}

struct bucket {
    instant first; /* time in it */
    instant last;
    uint64_t size; /* 0: it has no row */
};

struct histogram {
    struct retaining *retaining;
    instant from; /* the times that are counted */
    instant to;
    bool is_first;      /* it is of all rows: those beyond count at its ends */
    uint64_t all_count; /* rows */
    uint64_t untimed_count; /* rows without a time */
    uint64_t untimed_size;
    uint64_t size; /* of all rows */
    struct bucket buckets[BUCKETS];
};

struct latest {
    bool found;
    struct colander_value time;
};

static bool
take_time(void *context, const struct colander_value *value, size_t offset)
{
    struct latest *latest = context;

    (void)offset;
    if (value->type == COLANDER_TIMESTAMP &&
        (!latest->found || colander_value_compare(value, &latest->time) > 0)) {
        latest->time = *value;
        latest->found = true;
    }
    return true;
}

static void
count_time(struct histogram *histogram, instant time, uint64_t size)
{
    const instant width = histogram->to - histogram->from + 1;
    instant place = time;
    struct bucket *bucket;

    if (time < histogram->from)
        place = histogram->from;
    if (time > histogram->to)
        place = histogram->to;
    if (place != time && !histogram->is_first)
        return;
    bucket = &histogram->buckets[(place - histogram->from) * BUCKETS / width];
    if (bucket->size == 0 || time < bucket->first)
        bucket->first = time;
    if (bucket->size == 0 || time > bucket->last)
        bucket->last = time;
    bucket->size += size;
}

/* Counts a row that does not go because of its age. */
static enum colander_code
count_row(void *context, const struct colander_result *row,
          struct colander_error *err)
{
    struct histogram *histogram = context;
    const struct colander_predicate *expired = histogram->retaining->expired;
    const uint64_t size = row->key.size + row->row.size;
    struct latest latest = {.found = false};
    bool is_expired = false;
    enum colander_code code = path_visit(&histogram->retaining->path, row->row,
                                         take_time, &latest, err);

    if (code == COLANDER_OK && expired != NULL && latest.found)
        code = colander_predicate_evaluate(expired, row->row, &is_expired, NULL,
                                           err);
    if (code != COLANDER_OK) {
        error_add_row(histogram->retaining->family, row->key, err);
        return code;
    }
    histogram->all_count++;
    histogram->size += size;
    histogram->untimed_count += !latest.found;
    histogram->untimed_size += latest.found ? 0 : size;
    if (latest.found && !is_expired)
        count_time(histogram, instant_of(&latest.time), size);
    return COLANDER_OK;
}

/* Counts all rows if it is the first one, else those with times in `from` to
 * `to`. */
static enum colander_code
fill(struct histogram *histogram, struct retaining *retaining,
     const struct colander_snapshot *snapshot, struct colander_error *err)
{
    struct colander_predicate *where = NULL;
    struct colander_query query;
    enum colander_code code;

    histogram->retaining = retaining;
    memset(histogram->buckets, 0, sizeof(histogram->buckets));
    colander_query_init(&query);
    query.snapshot = snapshot;
    if (!histogram->is_first) {
        where = colander_where_between((const char *)retaining->column.data,
                                       instant_value(histogram->from),
                                       instant_value(histogram->to), err);
        if (where == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a condition");
        query.where = where;
    }
    code = read_rows(retaining, &query, count_row, histogram, err);
    colander_predicate_destroy(where);
    return code;
}

/* Adds the bytes of the latest buckets to *kept while they fit. Returns the one
 * that does not; NULL: all fit. */
static const struct bucket *
first_over(const struct histogram *histogram, uint64_t size_max, uint64_t *kept)
{
    for (size_t i = BUCKETS; i-- > 0;) {
        const struct bucket *bucket = &histogram->buckets[i];

        if (bucket->size > size_max - *kept)
            return bucket;
        *kept += bucket->size;
    }
    return NULL;
}

/* Notes what the first histogram says of all rows. */
static enum colander_code
take_counts(struct retaining *retaining, const struct histogram *histogram,
            struct colander_error *err)
{
    const uint64_t size_max = retaining->retention.size_max;

    retaining->done.is_counted = true;
    retaining->done.all_count = histogram->all_count;
    retaining->done.untimed_count = histogram->untimed_count;
    retaining->done.size = histogram->size;
    if (histogram->untimed_size <= size_max)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_LIMIT,
                         "family '%s': the rows without a time in '%s' have "
                         "%" PRIu64 " bytes, more than the %" PRIu64
                         " that may be kept",
                         colander_family_name(retaining->family),
                         (const char *)retaining->column.data,
                         histogram->untimed_size, size_max);
}

/* Fails if the rows in `over`, which do not fit with `kept` bytes of others,
 * are those of the newest time: then all that have a time would go. */
static enum colander_code
check_cut(const struct retaining *retaining, const struct histogram *histogram,
          const struct bucket *over, uint64_t kept, struct colander_error *err)
{
    if (kept > histogram->untimed_size)
        return COLANDER_OK;
    return COLANDER_FAIL(
        err, COLANDER_LIMIT,
        "family '%s': the rows of the newest time alone have %" PRIu64
        " bytes, and those without a time %" PRIu64 ", more than the %" PRIu64
        " that may be kept",
        colander_family_name(retaining->family), over->size, kept,
        retaining->retention.size_max);
}

/* Counts all rows. Sets *cut to the latest time that must go because of the
 * size of later ones; *has_cut: there is one. */
static enum colander_code
count_all(struct retaining *retaining, struct histogram *histogram,
          const struct colander_snapshot *snapshot, struct colander_value *cut,
          bool *has_cut, struct colander_error *err)
{
    const uint64_t size_max = retaining->retention.size_max;
    const struct bucket *over;
    uint64_t kept;
    enum colander_code code;

    *has_cut = false;
    if (retaining->done.newest.type != COLANDER_NULL) {
        histogram->from = instant_of(&retaining->oldest);
        histogram->to = instant_of(&retaining->done.newest);
    }
    histogram->is_first = true;
    code = fill(histogram, retaining, snapshot, err);
    if (code == COLANDER_OK)
        code = take_counts(retaining, histogram, err);
    if (code != COLANDER_OK)
        return code;
    kept = histogram->untimed_size;
    over = first_over(histogram, size_max, &kept);
    while (over != NULL && over->first < over->last) {
        histogram->from = over->first;
        histogram->to = over->last;
        histogram->is_first = false;
        code = fill(histogram, retaining, snapshot, err);
        if (code != COLANDER_OK)
            return code;
        over = first_over(histogram, size_max, &kept);
    }
    *has_cut = over != NULL;
    if (over == NULL)
        return COLANDER_OK;
    *cut = instant_value(over->last);
    return check_cut(retaining, histogram, over, kept, err);
}

static enum colander_code
count_at_once(struct retaining *retaining, struct colander_value *cut,
              bool *has_cut, struct colander_error *err)
{
    struct histogram *histogram = calloc(1, sizeof(*histogram));
    struct colander_snapshot *snapshot = NULL;
    enum colander_code code;

    if (histogram == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a histogram");
    code = colander_store_snapshot(retaining->family->store, &snapshot, err);
    if (code == COLANDER_OK)
        code = count_all(retaining, histogram, snapshot, cut, has_cut, err);
    colander_snapshot_release(snapshot);
    free(histogram);
    return code;
}

/* -------------------------------------------------------------- deletes --- */

struct deletion {
    struct retaining *retaining;
    struct colander_changes *changes; /* NULL: rows are only counted */
    uint64_t added_count;             /* rows */
};

/* Before rows are deleted: the family's own policy must be what it was. */
static enum colander_code
check_policy(const struct deletion *deletion, struct colander_error *err)
{
    const struct retaining *retaining = deletion->retaining;

    if (retaining->kept == NULL || deletion->added_count == 0)
        return COLANDER_OK;
    return retention_check_same(retaining->family, retaining->kept, err);
}

static enum colander_code
delete_row(void *context, const struct colander_result *row,
           struct colander_error *err)
{
    struct deletion *deletion = context;
    uint64_t *count = &deletion->retaining->done.row_count;
    enum colander_code code;

    if (deletion->changes == NULL) {
        ++*count;
        return COLANDER_OK;
    }
    deletion->added_count++;
    if (deletion->added_count % CHANGES_LOT == 0) { /* deletes them */
        code = check_policy(deletion, err);
        if (code != COLANDER_OK)
            return code;
    }
    code = colander_changes_add(deletion->changes, row->key, err);
    *count = colander_changes_count(deletion->changes);
    return code;
}

static enum colander_code
delete_rows(struct retaining *retaining, const struct colander_predicate *where,
            struct colander_error *err)
{
    const struct colander_slice none = {NULL, 0};
    struct deletion deletion = {.retaining = retaining};
    struct colander_query query;
    enum colander_code code = COLANDER_OK;

    colander_query_init(&query);
    query.where = where;
    query.keys_only = true;
    if (!retaining->options.is_dry)
        code = colander_changes_create(retaining->family, where, none,
                                       retaining->options.writes,
                                       &deletion.changes, err);
    if (retaining->options.yields) {
        query.thread_count = 1;
        if (deletion.changes != NULL)
            changes_yield(deletion.changes);
    }
    if (code == COLANDER_OK)
        code = read_rows(retaining, &query, delete_row, &deletion, err);
    if (code == COLANDER_OK)
        code = check_policy(&deletion, err);
    if (code == COLANDER_OK && deletion.changes != NULL) {
        code = colander_changes_commit(deletion.changes, err);
        retaining->done.row_count = colander_changes_count(deletion.changes);
    }
    colander_changes_destroy(deletion.changes);
    if (code == COLANDER_OK && !retaining->options.is_dry &&
        retaining->done.row_count >= FLUSHED_FROM)
        code = colander_family_flush(retaining->family, err);
    return code;
}

/* ------------------------------------------------------------ in one go --- */

/* Reads the time column. That of the family's own policy is the one for which
 * it was found to be in force. */
static enum colander_code
read_column(struct retaining *retaining, struct colander_error *err)
{
    const char *path;

    if (retaining->kept == NULL)
        return retention_time_column(retaining->family, &retaining->column,
                                     err);
    path = retention_path(retaining->kept);
    return colander_buffer_append(&retaining->column, path, strlen(path) + 1,
                                  err);
}

/* Finds out from which time ages count, and which rows are too old. */
static enum colander_code
look_at_times(struct retaining *retaining, struct colander_error *err)
{
    const struct cursor_watch watch = {retaining->options.watch,
                                       retaining->options.context};
    const bool needs_oldest = retaining->retention.size_max != UINT64_MAX ||
                              retaining->options.counts;
    struct colander_retained *done = &retaining->done;
    const char *column;
    bool found = false;
    enum colander_code code = read_column(retaining, err);

    if (code != COLANDER_OK)
        return code;
    column = (const char *)retaining->column.data;
    code = colander_path_parse(column, &retaining->path, err);
    if (code == COLANDER_OK)
        code = time_range_find(retaining->family, column, &watch,
                               needs_oldest ? &retaining->oldest : NULL,
                               &done->newest, &found, err);
    if (code != COLANDER_OK || !found)
        return code;
    done->reference = retention_reference(&retaining->options, &done->newest);
    return retention_expired(&retaining->retention, column, &done->reference,
                             &retaining->expired, err);
}

/* Whether all rows together may have more bytes than may be kept. While the
 * files have fewer, no row has to be read to see that. */
static bool
may_be_too_large(const struct retaining *retaining)
{
    const uint64_t size_max = retaining->retention.size_max;
    struct engine_family *family = NULL;

    return size_max != UINT64_MAX &&
           (family_engine(retaining->family, &family, NULL) != COLANDER_OK ||
            family == NULL || engine_family_size_bound(family) > size_max);
}

static enum colander_code
retain(struct retaining *retaining, struct colander_error *err)
{
    struct colander_predicate *each[2] = {NULL, NULL};
    struct colander_error failure = {.code = COLANDER_NO_MEMORY};
    struct colander_predicate *where;
    struct colander_value cut;
    bool has_cut = false;
    size_t count = 0;
    enum colander_code code = look_at_times(retaining, err);

    if (code == COLANDER_OK &&
        (retaining->options.counts || may_be_too_large(retaining)))
        code = count_at_once(retaining, &cut, &has_cut, err);
    if (retaining->options.asked != NULL) {
        cut = retaining->options.asked->cut;
        has_cut = cut.type != COLANDER_NULL;
    }
    if (code == COLANDER_OK && has_cut)
        retaining->done.cut = cut;
    if (code != COLANDER_OK || (retaining->expired == NULL && !has_cut))
        return code;
    if (retaining->expired != NULL)
        each[count++] = retaining->expired;
    retaining->expired = NULL;
    if (has_cut)
        each[count++] = retention_before((const char *)retaining->column.data,
                                         COLANDER_LE, cut, err);
    where = colander_any_of(each, count, &failure);
    if (where == NULL)
        return COLANDER_FAIL(err, failure.code, "%s", failure.message);
    code = delete_rows(retaining, where, err);
    colander_predicate_destroy(where);
    return code;
}

/* Drops families of a pattern, or deletes rows of another family. */
static enum colander_code
retain_all(struct retaining *retaining, struct colander_error *err)
{
    enum colander_code code;

    if (colander_partition_unit(colander_family_name(retaining->family)) ==
        NULL)
        return retain(retaining, err);
    code =
        retention_check_pattern(retaining->family, &retaining->retention, err);
    if (code == COLANDER_OK)
        code = read_column(retaining, err);
    return code == COLANDER_OK
               ? retention_drop_families(
                     retaining->family, &retaining->retention, retaining->kept,
                     (const char *)retaining->column.data, &retaining->options,
                     &retaining->done, err)
               : code;
}

/* Retains as the family's own policy says. */
static enum colander_code
retain_as_kept(struct retaining *retaining, struct colander_error *err)
{
    const char *name = colander_family_name(retaining->family);
    struct colander_retention *kept;
    enum colander_retention_state state;
    enum colander_code code =
        colander_family_retention(retaining->family, &kept, &state, err);

    if (code != COLANDER_OK)
        return code;
    if (state == COLANDER_RETENTION_NONE)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "family '%s' has no retention", name);
    else if (state != COLANDER_RETENTION_IN_FORCE)
        code = COLANDER_FAIL(
            err, COLANDER_INVALID,
            "the retention of family '%s' is paused until it is set again: %s",
            name,
            state == COLANDER_RETENTION_PAUSED_STORE
                ? "the store is a restored or salvaged one"
                : "the family had another time column");
    if (code == COLANDER_OK) {
        retaining->retention = *kept;
        retaining->kept = kept;
        code = retain_all(retaining, err);
    }
    colander_retention_destroy(kept);
    return code;
}

static enum colander_code
retain_as_asked(struct retaining *retaining,
                const struct colander_retention *retention,
                const struct colander_retain_options *options,
                struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (options != NULL)
        code = sized_accept(&retaining->options, sizeof(retaining->options),
                            options, "options of retaining", err);
    if (code == COLANDER_OK && !retaining->options.is_dry)
        code = store_check_writable(retaining->family->store, err);
    if (code == COLANDER_OK && !colander_family_exists(retaining->family))
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "no family '%s'",
                             colander_family_name(retaining->family));
    if (code == COLANDER_OK && retention == NULL)
        return retain_as_kept(retaining, err);
    if (code == COLANDER_OK)
        code = retention_accept(&retaining->retention, retention, err);
    return code == COLANDER_OK ? retain_all(retaining, err) : code;
}

enum colander_code
colander_family_retain_sized(struct colander_family *family,
                             const struct colander_retention *retention,
                             const struct colander_retain_options *options,
                             struct colander_retained *retained,
                             size_t retained_size, struct colander_error *err)
{
    struct retaining retaining = {.family = family,
                                  .done = {.newest = colander_null(),
                                           .reference = colander_null(),
                                           .cut = colander_null()}};
    enum colander_code code;

    colander_retain_options_init(&retaining.options);
    code = retain_as_asked(&retaining, retention, options, err);
    sized_return(retained, retained_size, &retaining.done,
                 sizeof(retaining.done));
    colander_predicate_destroy(retaining.expired);
    colander_buffer_release(&retaining.column);
    path_release(&retaining.path);
    return code;
}
