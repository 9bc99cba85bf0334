/*
 * Entries of SST files as they were written, are read, or are reported lost.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_TABLE_ENTRIES_H
#define TESTS_SUPPORT_TABLE_ENTRIES_H

#include "core/tables.h"

#include "support/cases.h"
#include "support/random.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* One entry, a copy. */
struct kept_entry {
    struct colander_slice key;
    struct colander_slice value;
    uint64_t sequence;
    enum table_entry_kind kind;
};

/* Owned, with the entries. */
struct kept_entries {
    struct kept_entry *entries;
    size_t count;
};

/* A bound with NULL data is missing. */
struct kept_gap {
    uint64_t offset;
    uint64_t size;
    struct colander_slice after;
    struct colander_slice until;
    size_t entry_count; /* those returned before it */
    char why[120];
};

/* Everything that reading a file returned. */
struct reading {
    struct kept_entries given;
    struct kept_gap *gaps;
    size_t gap_count;
    struct table_head head; /* without the name */
};

static inline struct colander_slice
keep(struct colander_slice bytes)
{
    uint8_t *kept;

    if (bytes.data == NULL)
        return bytes;
    kept = malloc(bytes.size + 1); /* not NULL if it is empty */
    assert_non_null(kept);
    memcpy(kept, bytes.data, bytes.size);
    return colander_slice_of(kept, bytes.size);
}

static inline void *
grow(void *array, size_t count, size_t size)
{
    if (count % 256 == 0)
        array = realloc(array, (count + 256) * size);
    assert_non_null(array);
    return array;
}

static inline void
keep_entry(struct kept_entries *list, const struct table_entry *entry)
{
    list->entries = (struct kept_entry *)grow(list->entries, list->count,
                                              sizeof(*list->entries));
    list->entries[list->count++] = (struct kept_entry){
        keep(entry->key), keep(entry->value), entry->sequence, entry->kind};
}

static inline void
keep_gap(struct reading *reading, const struct table_gap *gap)
{
    struct kept_gap *kept;

    reading->gaps = (struct kept_gap *)grow(reading->gaps, reading->gap_count,
                                            sizeof(*reading->gaps));
    kept = &reading->gaps[reading->gap_count++];
    kept->offset = gap->offset;
    kept->size = gap->size;
    kept->after = keep(gap->after);
    kept->until = keep(gap->until);
    kept->entry_count = reading->given.count;
    memcpy(kept->why, gap->why, sizeof(kept->why));
}

static inline void
entries_release(struct kept_entries *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free((void *)list->entries[i].key.data);
        free((void *)list->entries[i].value.data);
    }
    free(list->entries);
    memset(list, 0, sizeof(*list));
}

static inline void
reading_release(struct reading *reading)
{
    entries_release(&reading->given);
    for (size_t i = 0; i < reading->gap_count; i++) {
        free((void *)reading->gaps[i].after.data);
        free((void *)reading->gaps[i].until.data);
    }
    free(reading->gaps);
    memset(reading, 0, sizeof(*reading));
}

/* Reads a whole file, and asserts that nothing fails. */
static inline void
read_table(int directory, const char *name, struct reading *reading)
{
    enum table_step step = TABLE_ENTRY;
    struct table_file *table;
    struct table_entry entry;
    struct table_gap gap;

    memset(reading, 0, sizeof(*reading));
    OK(table_file_open(directory, name, &table, NULL));
    reading->head = *table_file_head(table);
    reading->head.family_name = colander_slice_of(NULL, 0);
    while (step != TABLE_END) {
        OK(table_file_next(table, &step, &entry, &gap, NULL));
        if (step == TABLE_ENTRY)
            keep_entry(&reading->given, &entry);
        else if (step == TABLE_GAP)
            keep_gap(reading, &gap);
    }
    OK(table_file_next(table, &step, &entry, &gap, NULL));
    assert_int_equal(step, TABLE_END);
    table_file_close(table);
}

/* By key; of the same key the newest comes first. */
static inline int
compare_entries(const void *left, const void *right)
{
    const struct kept_entry *a = (const struct kept_entry *)left;
    const struct kept_entry *b = (const struct kept_entry *)right;
    const int order = colander_slice_compare(a->key, b->key);

    if (order != 0)
        return order;
    return (a->sequence < b->sequence) - (a->sequence > b->sequence);
}

static inline bool
is_same_entry(const struct kept_entry *a, const struct kept_entry *b)
{
    return a->sequence == b->sequence && a->kind == b->kind &&
           colander_slice_equal(a->key, b->key) &&
           colander_slice_equal(a->value, b->value);
}

/* Random bytes that compress well, a bit, or not at all. */
static inline struct colander_slice
random_value(uint64_t *random, uint8_t *bytes, size_t size_max)
{
    const uint64_t letters = random_below(random, 3) == 0 ? 256 : 6;
    const size_t size = random_below(random, size_max);

    for (size_t i = 0; i < size; i++)
        bytes[i] =
            (uint8_t)(letters == 256 ? random_next(random)
                                     : 'a' + random_below(random, letters));
    return colander_slice_of(bytes, size);
}

#endif
