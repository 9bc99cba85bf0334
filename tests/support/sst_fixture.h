/*
 * A store whose SST files are watched, and shortcuts for checking them.
 *
 * The observer keeps the rows of each file as they were reported. A row's value
 * begins with the sequence of its write, so every version is a different row.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_SST_FIXTURE_H
#define TESTS_SUPPORT_SST_FIXTURE_H

#include "core/sst.h"

#include "support/engine_fixture.h"
#include "support/random.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>

/* A test with a store whose SST files are watched. */
#define SST_TEST(name)                                                         \
    TEST_WITH(struct sst_fixture *fixture, name, sst_setup, sst_teardown)

struct row {
    uint32_t key;
    bool is_put;
    uint64_t sequence; /* of a put */
};

struct rows {
    struct row *rows;
    size_t count;
    size_t capacity;
};

static inline void
rows_add(struct rows *rows, struct row row)
{
    if (rows->count == rows->capacity) {
        rows->capacity = 2 * rows->capacity + 64;
        rows->rows = realloc(rows->rows, rows->capacity * sizeof(struct row));
    }
    rows->rows[rows->count++] = row;
}

static inline struct row
row_of(struct colander_slice key, struct colander_slice value, bool is_put)
{
    struct row row = {.is_put = is_put};

    for (size_t i = 0; i < 4 && i < key.size; i++)
        row.key = row.key << 8 | key.data[i];
    for (size_t i = 0; i < 8 && i < value.size; i++)
        row.sequence = row.sequence << 8 | value.data[i];
    return row;
}

/* ------------------------------------------------------------ observer --- */

/* An SST as it was reported, from its first row on. */
struct seen_sst {
    struct seen_sst *next;
    struct watch *watch;
    struct rows rows;
    struct sst_created file; /* its tag points to this struct */
    bool is_in_view;
    bool is_deleted;
};

#define FAMILIES_MAX (1 << 16)

struct watch {
    pthread_mutex_t mutex;
    struct seen_sst *files;
    uint64_t flushed[FAMILIES_MAX]; /* by family id */
    bool is_dropped[FAMILIES_MAX];
    struct sst_created failure; /* the last one */
    int failure_count;
    atomic_int writer_count; /* begun and not ended */
    atomic_int event_count;
    atomic_int fault_count;
};

/* Callbacks run in RocksDB's threads, where cmocka cannot assert. */
static inline void
expect(struct watch *watch, bool holds, const char *claim)
{
    if (holds)
        return;
    (void)fprintf(stderr, "not so: %s\n", claim);
    watch->fault_count++;
}

static inline void *
on_begin(void *context, uint32_t family, bool is_passing)
{
    struct watch *watch = context;
    struct seen_sst *seen = calloc(1, sizeof(*seen));

    watch->event_count++;
    watch->writer_count++;
    expect(watch, family != 0, "writers have a family");
    seen->watch = watch;
    seen->file.family = family;
    seen->file.is_passing = is_passing;
    pthread_mutex_lock(&watch->mutex);
    seen->next = watch->files;
    watch->files = seen;
    pthread_mutex_unlock(&watch->mutex);
    return seen;
}

static inline void
on_add(void *writer, const struct sst_entry *entry)
{
    struct seen_sst *seen = writer;
    struct row row = row_of(entry->key, entry->value, entry->is_put);
    struct row last = {0};

    if (seen->rows.count > 0) {
        last = seen->rows.rows[seen->rows.count - 1];
        expect(seen->watch,
               last.key < row.key ||
                   (last.key == row.key && (!last.is_put || !entry->is_put ||
                                            last.sequence > row.sequence)),
               "rows come in order, the newest version first");
    }
    rows_add(&seen->rows, row);
}

static inline bool
on_finish(void *writer, uint8_t tag[SST_TAG_SIZE])
{
    struct seen_sst *seen = writer;

    expect(seen->watch, !seen->file.is_tagged, "a writer finishes once");
    seen->file.is_tagged = true;
    memset(tag, 0xa5, SST_TAG_SIZE);
    memcpy(tag, &seen, sizeof(seen));
    memcpy(seen->file.tag, tag, SST_TAG_SIZE);
    return true;
}

static inline void
on_end(void *writer)
{
    ((struct seen_sst *)writer)->watch->writer_count--;
}

static inline void
on_created(void *context, const struct sst_created *file)
{
    struct watch *watch = context;
    struct seen_sst *seen = NULL;

    watch->event_count++;
    pthread_mutex_lock(&watch->mutex);
    if (file->is_tagged) {
        memcpy(&seen, file->tag, sizeof(seen));
        expect(watch, memcmp(seen->file.tag, file->tag, SST_TAG_SIZE) == 0,
               "the tag comes back");
        expect(watch, seen->file.family == file->family, "so does the family");
    }
    expect(watch, file->number != 0 || !file->is_ok, "files have numbers");
    if (!file->is_ok) {
        watch->failure = *file;
        watch->failure_count++;
    } else if (seen != NULL) {
        expect(watch, file->entry_count == seen->rows.count, "all is reported");
        seen->file = *file;
        seen->is_in_view = true;
    }
    expect(watch, seen != NULL || !file->is_ok, "files are tagged");
    pthread_mutex_unlock(&watch->mutex);
}

static inline struct seen_sst *
find_seen(struct watch *watch, uint64_t number)
{
    struct seen_sst *seen = watch->files;

    while (seen != NULL && seen->file.number != number)
        seen = seen->next;
    return seen;
}

/* Returns the one that was begun last. */
static inline struct seen_sst *
newest_seen(struct watch *watch)
{
    struct seen_sst *seen;

    pthread_mutex_lock(&watch->mutex);
    seen = watch->files;
    pthread_mutex_unlock(&watch->mutex);
    return seen;
}

static inline void
on_replaced(void *context, const uint64_t *numbers, size_t count)
{
    struct watch *watch = context;

    pthread_mutex_lock(&watch->mutex);
    for (size_t i = 0; i < count; i++) {
        struct seen_sst *seen = find_seen(watch, numbers[i]);

        expect(watch, seen != NULL, "what is replaced was created");
        if (seen != NULL)
            seen->is_in_view = false;
    }
    pthread_mutex_unlock(&watch->mutex);
}

static inline void
on_deleted(void *context, uint64_t number)
{
    struct watch *watch = context;
    struct seen_sst *seen;

    pthread_mutex_lock(&watch->mutex);
    seen = find_seen(watch, number);
    if (seen != NULL) {
        seen->is_in_view = false;
        seen->is_deleted = true;
    }
    pthread_mutex_unlock(&watch->mutex);
}

static inline void
on_flushed(void *context, uint32_t family, uint64_t sequence)
{
    struct watch *watch = context;

    pthread_mutex_lock(&watch->mutex);
    expect(watch, family != 0 && family < FAMILIES_MAX, "it has a family");
    if (family < FAMILIES_MAX && watch->flushed[family] < sequence)
        watch->flushed[family] = sequence;
    pthread_mutex_unlock(&watch->mutex);
}

/* ------------------------------------------------------------- fixture --- */

struct sst_fixture {
    struct fixture base;
    struct watch watch;
    struct colander_options options;
};

static inline void
open_watched(struct sst_fixture *fixture)
{
    const struct sst_observer observer = {
        .context = &fixture->watch,
        .writer_begin = on_begin,
        .writer_add = on_add,
        .writer_finish = on_finish,
        .writer_end = on_end,
        .created = on_created,
        .replaced = on_replaced,
        .deleted = on_deleted,
        .flushed = on_flushed,
    };

    /* Sequences of rows dropped with their family may be reused. */
    memset(fixture->watch.flushed, 0, sizeof(fixture->watch.flushed));
    OK(engine_open(fixture->base.path, &fixture->options, &observer,
                   &fixture->base.engine, why()));
}

static inline int
sst_setup(void **state)
{
    struct sst_fixture *fixture = calloc(1, sizeof(*fixture));

    temporary_make(fixture->base.directory);
    (void)snprintf(fixture->base.path, sizeof(fixture->base.path), "%s/store",
                   fixture->base.directory);
    pthread_mutex_init(&fixture->watch.mutex, NULL);
    colander_options_init(&fixture->options);
    fixture->options.write_buffer_size = 1 << 20;
    fixture->options.sst_size = 64 << 10;
    fixture->options.block_size = 4 << 10;
    *state = fixture;
    return 0;
}

static inline int
sst_teardown(void **state)
{
    struct sst_fixture *fixture = *state;
    struct watch *watch = &fixture->watch;
    bool is_fine;

    close_families(&fixture->base);
    is_fine = engine_close(fixture->base.engine, NULL) == COLANDER_OK;
    expect(watch, watch->writer_count == 0, "every writer ends");
    is_fine = is_fine && watch->fault_count == 0;
    while (watch->files != NULL) {
        struct seen_sst *seen = watch->files;

        watch->files = seen->next;
        free(seen->rows.rows);
        free(seen);
    }
    pthread_mutex_destroy(&watch->mutex);
    temporary_remove(fixture->base.directory);
    free(fixture);
    return is_fine ? 0 : -1;
}

/* Writes `count` random rows in one batch, some of them deletes, or, if
 * `random` is NULL, the keys `first`, `first` + 1, ... Returns false on
 * failure. */
static inline bool
write_batch(struct engine *engine, struct engine_family *family,
            uint64_t *random, uint32_t first, uint32_t count)
{
    uint64_t sequence = engine_sequence(engine);
    SCOPED_ENGINE_BATCH batch = NULL;
    bool is_fine =
        engine_batch_create(engine, false, &batch, NULL) == COLANDER_OK;

    for (uint32_t i = 0; is_fine && i < count; i++) {
        bool is_put = random == NULL || random_below(random, 4) > 0;
        uint64_t number =
            random == NULL ? first + i : random_below(random, 3000);
        uint64_t noise = ++sequence;
        uint8_t key[4];
        uint8_t value[108];

        for (size_t j = 0; j < 4; j++)
            key[j] = (uint8_t)(number >> (24 - 8 * j));
        for (size_t j = 0; j < 8; j++)
            value[j] = (uint8_t)(sequence >> (56 - 8 * j));
        for (size_t j = 8; j < sizeof(value); j++)
            value[j] = (uint8_t)random_next(&noise);
        is_fine =
            (is_put
                 ? engine_batch_put(batch, family, colander_slice_of(key, 4),
                                    colander_slice_of(value, sizeof(value)),
                                    NULL)
                 : engine_batch_delete(batch, family, colander_slice_of(key, 4),
                                       NULL)) == COLANDER_OK;
    }
    return is_fine &&
           engine_batch_write(batch, COLANDER_AS_STORE, NULL) == COLANDER_OK;
}

static inline bool
write_rows(struct engine *engine, struct engine_family *family,
           uint64_t *random, uint32_t count)
{
    return write_batch(engine, family, random, 0, count);
}

/* Reads the cursor to its end, and closes it. */
static inline struct rows
rows_of_cursor(struct engine_cursor *cursor)
{
    struct rows rows = {0};
    struct colander_slice key;
    struct colander_slice value;
    bool is_row;

    for (;;) {
        OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
        if (!is_row)
            break;
        rows_add(&rows, row_of(key, value, true));
    }
    engine_cursor_close(cursor);
    return rows;
}

typedef enum colander_code
cursor_open_function(struct engine_family *family,
                     const struct engine_cursor_options *options,
                     struct engine_cursor **cursor, struct colander_error *err);

static inline struct rows
rows_at(struct engine_family *family, const struct colander_snapshot *snapshot,
        cursor_open_function *open)
{
    const struct engine_cursor_options at = {.snapshot = snapshot};
    struct engine_cursor *cursor;

    OK(open(family, &at, &cursor, NULL));
    return rows_of_cursor(cursor);
}

/* Marks the rows that are among `reported`; both are in key order. */
static inline void
cover(const struct rows *rows, bool *is_covered, const struct rows *seen)
{
    size_t first = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->rows[i];

        while (first < seen->count && seen->rows[first].key < row->key)
            first++;
        for (size_t j = first; j < seen->count && seen->rows[j].key == row->key;
             j++)
            is_covered[i] |=
                seen->rows[j].is_put && seen->rows[j].sequence == row->sequence;
    }
}

/* The guarantee: what `snapshot` (taken before) shows is unflushed, or in a
 * file in view; and whatever was reported flushed is in one. */
static inline void
check_family(struct sst_fixture *fixture, struct engine_family *family,
             const struct colander_snapshot *snapshot)
{
    struct watch *watch = &fixture->watch;
    uint32_t id = engine_family_id(family);
    struct rows unflushed;
    struct rows visible;
    SCOPED_MEMORY bool *is_covered = NULL;
    uint64_t flushed;

    pthread_mutex_lock(&watch->mutex);
    flushed = watch->flushed[id];
    pthread_mutex_unlock(&watch->mutex);
    visible = rows_at(family, snapshot, engine_cursor_open);
    unflushed = rows_at(family, snapshot, engine_unflushed_cursor_open);
    is_covered = calloc(visible.count + 1, sizeof(bool));
    for (size_t i = 0; i < unflushed.count; i++) {
        if (unflushed.rows[i].sequence <= flushed) /* a file must have it */
            unflushed.rows[i].is_put = false;
    }
    cover(&visible, is_covered, &unflushed);
    pthread_mutex_lock(&watch->mutex); /* the view: after the unflushed rows */
    for (struct seen_sst *seen = watch->files; seen != NULL;
         seen = seen->next) {
        if (seen->is_in_view && seen->file.family == id)
            cover(&visible, is_covered, &seen->rows);
    }
    pthread_mutex_unlock(&watch->mutex);
    for (size_t i = 0; i < visible.count; i++) {
        assert_true(is_covered[i]);
        assert_true(visible.rows[i].sequence <= snapshot_sequence(snapshot));
    }
    free(unflushed.rows);
    free(visible.rows);
}

static inline void
check_now(struct sst_fixture *fixture, struct engine_family *family)
{
    SCOPED_SNAPSHOT snapshot = NULL;

    OK(engine_snapshot_create(fixture->base.engine, &snapshot, NULL));
    check_family(fixture, family, snapshot);
}

/* -------------------------------------------------------- quiet stores --- */

/* Returns the rows of an SST as its cursor returns them. */
static inline struct rows
rows_of_sst(struct sst *sst, const struct colander_snapshot *snapshot)
{
    struct engine_cursor *cursor;

    OK(sst_cursor_open(sst, snapshot, false, &cursor, NULL));
    return rows_of_cursor(cursor);
}

/* Asserts that an SST has the rows that were reported. */
static inline void
check_sst(struct sst *sst, const struct seen_sst *seen)
{
    struct rows rows = rows_of_sst(sst, NULL);
    uint8_t tag[SST_TAG_SIZE];
    size_t next = 0;

    assert_true(sst_tag(sst, tag));
    assert_memory_equal(tag, seen->file.tag, SST_TAG_SIZE);
    assert_int_equal(sst_entry_count(sst), seen->rows.count);
    for (size_t i = 0; i < seen->rows.count; i++) {
        const struct row *row = &seen->rows.rows[i];

        if ((i > 0 && row[-1].key == row->key) || !row->is_put)
            continue;
        assert_true(next < rows.count);
        assert_int_equal(rows.rows[next].key, row->key);
        assert_int_equal(rows.rows[next].sequence, row->sequence);
        next++;
    }
    assert_int_equal(next, rows.count);
    free(rows.rows);
}

struct list {
    struct sst_info files[1024];
    size_t count;
};

static inline enum colander_code
list_add(void *context, const struct sst_info *file, struct colander_error *err)
{
    struct list *list = context;

    if (list->count == 1024)
        return COLANDER_FAIL(err, COLANDER_LIMIT, "too many files");
    list->files[list->count++] = *file;
    return COLANDER_OK;
}

static inline bool
is_view_live(struct watch *watch, const struct list *list)
{
    size_t count = 0;
    bool is_same = true;

    pthread_mutex_lock(&watch->mutex);
    for (struct seen_sst *seen = watch->files; seen != NULL; seen = seen->next)
        count += seen->is_in_view && !watch->is_dropped[seen->file.family];
    for (size_t i = 0; i < list->count; i++) {
        const struct sst_info *live = &list->files[i];
        const struct seen_sst *seen = find_seen(watch, live->number);

        is_same = is_same && seen != NULL && seen->is_in_view &&
                  seen->file.family == live->family &&
                  seen->file.size == live->size && live->is_tag_known &&
                  memcmp(seen->file.tag, live->tag, SST_TAG_SIZE) == 0 &&
                  (live->entry_count == 0 ||
                   seen->file.entry_count == live->entry_count);
    }
    pthread_mutex_unlock(&watch->mutex);
    return is_same && count == list->count;
}

/* Waits until nothing changes: then the files in view are the live files, with
 * the rows that were reported. Returns their number. */
static inline size_t
check_files(struct sst_fixture *fixture)
{
    SCOPED_MEMORY struct list *list = calloc(1, sizeof(*list));
    enum colander_code code;
    struct sst *sst;

    for (int i = 0; i < 1000; i++) {
        list->count = 0;
        OK(engine_ssts(fixture->base.engine, list_add, list, NULL));
        if (is_view_live(&fixture->watch, list))
            break;
        usleep(10000);
    }
    assert_true(is_view_live(&fixture->watch, list));
    for (size_t i = 0; i < list->count; i++) {
        uint64_t number = list->files[i].number;
        const struct seen_sst *seen;

        code = sst_open(fixture->base.engine, number, &sst, NULL);
        if (code == COLANDER_NOT_FOUND) /* something changed */
            continue;
        assert_int_equal(code, COLANDER_OK);
        pthread_mutex_lock(&fixture->watch.mutex);
        seen = find_seen(&fixture->watch, number);
        pthread_mutex_unlock(&fixture->watch.mutex);
        check_sst(sst, seen);
        sst_close(sst);
    }
    return list->count;
}

/* Waits for the callback of a flush; the flush itself does not wait for it. */
static inline void
wait_until_flushed(struct watch *watch, uint32_t family, uint64_t sequence)
{
    uint64_t flushed = 0;

    for (int i = 0; i < 1000 && flushed < sequence; i++) {
        pthread_mutex_lock(&watch->mutex);
        flushed = watch->flushed[family];
        pthread_mutex_unlock(&watch->mutex);
        usleep(1000);
    }
    assert_true(flushed >= sequence);
}

#endif
