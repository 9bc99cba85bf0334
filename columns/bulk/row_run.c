/*
 * Sorts by the eight bytes after what all keys begin with, byte by byte, and
 * compares only keys that are equal there. Sorting with qsort_r alone makes a
 * bulk of random keys a fifth slower.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/row_run.h"
#include "core/array.h"
#include "core/bytes.h"

#include <stdlib.h>

/* Before each row in memory. */
struct row_head {
    uint32_t key_size;
    uint32_t row_size;
};

struct row_entry {
    uint64_t prefix; /* of the key, after the common bytes, as a number */
    uint32_t offset; /* of the row's head */
    uint32_t key_size;
};

struct row_run {
    uint8_t *bytes;
    size_t capacity;
    size_t size;
    size_t rows_max;
    size_t added;
    size_t common; /* bytes that all keys begin with */
    bool is_ascending;
    struct colander_slice last; /* key */
    struct row_entry *entries;  /* the list, */
    struct row_entry *others;   /* and room for another */
    size_t entry_capacity;
    size_t count; /* of the list */
};

/* ----------------------------------------------------------------- life --- */

enum colander_code
row_run_create(size_t size, size_t rows_max, struct row_run **run,
               struct colander_error *err)
{
    struct row_run *created = calloc(1, sizeof(*created));

    *run = created;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rows");
    created->capacity = size;
    created->rows_max = rows_max;
    created->is_ascending = true;
    return COLANDER_OK;
}

static void
free_entries(struct row_run *run)
{
    free(run->entries);
    free(run->others);
    run->entries = NULL;
    run->others = NULL;
    run->entry_capacity = 0;
}

void
row_run_destroy(struct row_run *run)
{
    if (run == NULL)
        return;
    free_entries(run);
    free(run->bytes);
    free(run);
}

void
row_run_clear(struct row_run *run)
{
    run->size = 0;
    run->added = 0;
    run->count = 0;
    run->is_ascending = true;
}

/* --------------------------------------------------------------- adding --- */

/* Allocates when the first row comes, and for a row that is larger. */
static enum colander_code
make_room(struct row_run *run, size_t size, bool *is_full,
          struct colander_error *err)
{
    uint8_t *grown;
    size_t capacity;

    *is_full = run->added > 0 &&
               (run->added == run->rows_max || run->size > run->capacity ||
                size > run->capacity - run->size);
    if (*is_full || (run->bytes != NULL && size <= run->capacity))
        return COLANDER_OK;
    capacity = size > run->capacity ? size : run->capacity;
    grown = realloc(run->bytes, capacity);
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rows");
    run->bytes = grown;
    run->capacity = capacity;
    return COLANDER_OK;
}

/* How many bytes the two have in common, `max` at most. */
static size_t
common_size(struct colander_slice a, struct colander_slice b, size_t max)
{
    size_t size = 0;

    if (max > a.size)
        max = a.size;
    if (max > b.size)
        max = b.size;
    while (size < max && a.data[size] == b.data[size])
        size++;
    return size;
}

static void
note_key(struct row_run *run, struct colander_slice key)
{
    if (run->added == 0) {
        run->common = key.size;
    } else {
        run->common = common_size(run->last, key, run->common);
        if (run->is_ascending && colander_slice_compare(run->last, key) >= 0)
            run->is_ascending = false;
    }
    run->last = key;
    run->added++;
}

enum colander_code
row_run_add(struct row_run *run, struct colander_slice key,
            struct colander_slice row, bool *is_full,
            struct colander_error *err)
{
    const struct row_head head = {(uint32_t)key.size, (uint32_t)row.size};
    const size_t size = sizeof(head) + key.size + row.size;
    enum colander_code code = make_room(run, size, is_full, err);
    uint8_t *at;

    if (code != COLANDER_OK || *is_full)
        return code;
    at = run->bytes + run->size;
    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), key.data, key.size);
    memcpy(at + sizeof(head) + key.size, row.data, row.size);
    note_key(run, colander_slice_of(at + sizeof(head), key.size));
    run->size += size;
    return COLANDER_OK;
}

bool
row_run_is_ascending(const struct row_run *run)
{
    return run->is_ascending;
}

/* -------------------------------------------------------------- sorting --- */

static struct colander_slice
key_of(const struct row_run *run, const struct row_entry *entry)
{
    return colander_slice_of(
        run->bytes + entry->offset + sizeof(struct row_head), entry->key_size);
}

/* Up to eight bytes of the key, as a number that orders as they do. */
static uint64_t
prefix_of(struct colander_slice key, size_t common)
{
    uint8_t bytes[sizeof(uint64_t)] = {0};
    const size_t size = key.size - common;

    if (size > 0)
        memcpy(bytes, key.data + common,
               size < sizeof(bytes) ? size : sizeof(bytes));
    return bytes_get_be64(bytes);
}

/* Lists the rows in the order in which they were added. */
static void
list_rows(struct row_run *run)
{
    size_t offset = 0;

    for (size_t i = 0; i < run->added; i++) {
        struct row_entry *entry = &run->entries[i];
        struct row_head head;

        memcpy(&head, run->bytes + offset, sizeof(head));
        entry->offset = (uint32_t)offset;
        entry->key_size = head.key_size;
        entry->prefix = prefix_of(key_of(run, entry), run->common);
        offset += sizeof(head) + head.key_size + head.row_size;
    }
    run->count = run->added;
}

/* Orders by keys, and equal keys by when they were added. */
static int
compare_entries(const void *left, const void *right, void *context)
{
    const struct row_entry *a = left;
    const struct row_entry *b = right;
    int order = (a->prefix > b->prefix) - (a->prefix < b->prefix);

    if (order == 0)
        order = colander_slice_compare(key_of(context, a), key_of(context, b));
    return order != 0 ? order
                      : (a->offset > b->offset) - (a->offset < b->offset);
}

/* Keeps of each key the row that was added last. */
static void
keep_latest(struct row_run *run)
{
    size_t kept = 0;

    for (size_t i = 0; i < run->count; i++) {
        if (i + 1 < run->count &&
            run->entries[i].prefix == run->entries[i + 1].prefix &&
            colander_slice_equal(key_of(run, &run->entries[i]),
                                 key_of(run, &run->entries[i + 1])))
            continue;
        run->entries[kept++] = run->entries[i];
    }
    run->count = kept;
}

/* Sorts by one byte of the prefixes, into the other list. Keeps the order of
 * those that are equal there. */
static void
sort_by_byte(struct row_run *run, unsigned shift)
{
    struct row_entry *sorted = run->others;
    uint32_t places[256] = {0};
    uint32_t place = 0;

    for (size_t i = 0; i < run->count; i++)
        places[run->entries[i].prefix >> shift & 255]++;
    if (places[run->entries[0].prefix >> shift & 255] == run->count)
        return; /* all are equal */
    for (unsigned i = 0; i < 256; i++) {
        const uint32_t count = places[i];

        places[i] = place;
        place += count;
    }
    for (size_t i = 0; i < run->count; i++)
        sorted[places[run->entries[i].prefix >> shift & 255]++] =
            run->entries[i];
    run->others = run->entries;
    run->entries = sorted;
}

/* Sorts the runs of entries with equal prefixes. */
static void
sort_ties(struct row_run *run)
{
    size_t end;

    for (size_t begin = 0; begin < run->count; begin = end) {
        end = begin + 1;
        while (end < run->count &&
               run->entries[end].prefix == run->entries[begin].prefix)
            end++;
        if (end - begin > 1)
            qsort_r(run->entries + begin, end - begin, sizeof(*run->entries),
                    compare_entries, run);
    }
}

static enum colander_code
reserve_entries(struct row_run *run, struct colander_error *err)
{
    if (run->entry_capacity >= run->added)
        return COLANDER_OK;
    free_entries(run);
    run->entries = malloc(run->added * sizeof(*run->entries));
    run->others = malloc(run->added * sizeof(*run->others));
    if (run->entries == NULL || run->others == NULL) {
        free_entries(run);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to sort rows");
    }
    run->entry_capacity = run->added;
    return COLANDER_OK;
}

enum colander_code
row_run_sort(struct row_run *run, struct colander_error *err)
{
    enum colander_code code = reserve_entries(run, err);

    if (code != COLANDER_OK)
        return code;
    list_rows(run);
    if (!run->is_ascending) {
        for (unsigned shift = 0; shift < 64; shift += 8)
            sort_by_byte(run, shift);
        sort_ties(run);
        keep_latest(run);
    }
    return COLANDER_OK;
}

/* -------------------------------------------------------------- looking --- */

size_t
row_run_count(const struct row_run *run)
{
    return run->count;
}

uint64_t
row_run_bytes(const struct row_run *run)
{
    return run->size;
}

void
row_run_get(const struct row_run *run, size_t place, struct colander_slice *key,
            struct colander_slice *row)
{
    const uint8_t *at = run->bytes + run->entries[place].offset;
    struct row_head head;

    memcpy(&head, at, sizeof(head));
    *key = colander_slice_of(at + sizeof(head), head.key_size);
    *row = colander_slice_of(key->data + key->size, head.row_size);
}

size_t
row_run_find(const struct row_run *run, struct colander_slice key)
{
    size_t place;

    array_search(
        place, run->count,
        colander_slice_compare(key_of(run, &run->entries[place]), key) < 0);
    return place;
}
