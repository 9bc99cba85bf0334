/*
 * Table files, entry by entry: see tables.h.
 *
 * Blocks come from the index, or else from a walk over the file. A block is
 * checked as a whole before any entry of it is returned: its checksum, its
 * keys, and their bounds.
 *
 * A gap is returned when the next block is known, because without an index its
 * first key is the end of the gap.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/tables.h"

#include "core/files.h"
#include "core/tables/table_filter.h"
#include "core/tables/table_map.h"
#include "core/tables/table_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct table_file {
    struct table_source source;
    int error; /* errno of a read that failed, or 0 */
    struct table_map map;
    struct table_walk walk; /* without an index */
    struct table_block block;
    struct table_place place; /* of the block */
    size_t next_block;        /* of the index */
    bool has_block;           /* `block` has more entries */
    bool has_ended;           /* there are no more blocks */
    bool is_finished;         /* and the number of entries was checked */
    bool is_end_reported;     /* a gap reaches to the end */

    /* the keys of the last entry, and of the last one with another key */
    struct colander_buffer last; /* with its tail; empty before the first */
    struct colander_buffer lower;
    bool has_lower;

    uint64_t entry_count; /* so far */
    uint64_t gap_count;
    bool has_gap;     /* `gap` was not returned yet */
    bool has_until;   /* its `until` is known */
    bool is_anywhere; /* it has no bounds */
    struct table_gap gap;
};

/* ----------------------------------------------------------------- life --- */

static enum colander_code
open_file(int directory, const char *name, int *fd, struct colander_error *err)
{
    /* an open of a pipe must not wait */
    *fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 && errno == ENOENT)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "there is no '%s'", name);
    if (*fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
        return files_fail(err, "open", name);
    if (*fd < 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "it cannot be opened: %s",
                             strerror(errno));
    return COLANDER_OK;
}

static enum colander_code
find_size(struct table_file *table, struct colander_error *err)
{
    struct stat status;

    if (fstat(table->source.fd, &status) != 0 || !S_ISREG(status.st_mode))
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "it is not a regular file");
    table->source.size = (uint64_t)status.st_size;
    return COLANDER_OK;
}

enum colander_code
table_file_of(int fd, struct table_file **table, struct colander_error *err)
{
    struct table_file *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *table = NULL;
    if (opened == NULL) {
        (void)close(fd);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a file");
    }
    opened->source.fd = fd;
    opened->source.error = &opened->error;
    code = find_size(opened, err);
    if (code == COLANDER_OK)
        code = table_block_init(&opened->block, err);
    if (code == COLANDER_OK)
        code =
            table_map_read(&opened->map, &opened->source, &opened->block, err);
    if (code != COLANDER_OK) {
        table_file_close(opened);
        return code;
    }
    table_walk_start(&opened->walk, &opened->source, opened->map.data_end);
    *table = opened;
    return COLANDER_OK;
}

enum colander_code
table_file_open(int directory, const char *name, struct table_file **table,
                struct colander_error *err)
{
    enum colander_code code;
    int fd;

    *table = NULL;
    code = open_file(directory, name, &fd, err);
    return code == COLANDER_OK ? table_file_of(fd, table, err) : code;
}

const struct table_head *
table_file_head(const struct table_file *table)
{
    return &table->map.head;
}

uint64_t
table_file_block(const struct table_file *table)
{
    return table->place.offset;
}

uint64_t
table_file_size(const struct table_file *table)
{
    return table->source.size;
}

int
table_file_error(const struct table_file *table)
{
    return table->error;
}

void
table_file_close(struct table_file *table)
{
    if (table == NULL)
        return;
    (void)close(table->source.fd);
    table_walk_release(&table->walk);
    table_map_release(&table->map);
    table_block_release(&table->block);
    colander_buffer_release(&table->last);
    colander_buffer_release(&table->lower);
    free(table);
}

/* ----------------------------------------------------------------- keys --- */

static const struct colander_slice no_key = {NULL, 0};

/* Makes a bound of a key, which may be empty. */
static struct colander_slice
bound_of(struct colander_slice key)
{
    return colander_slice_of(key.data != NULL ? key.data : (const uint8_t *)"",
                             key.size);
}

static struct table_key
last_key(const struct table_file *table)
{
    return table_key_of(colander_buffer_slice(&table->last));
}

/* Notes the key of the present entry. */
static enum colander_code
pass_key(struct table_file *table, struct colander_slice key,
         struct colander_error *err)
{
    const struct table_key now = table_key_of(key);

    if (table->last.size > 0 &&
        !colander_slice_equal(last_key(table).user, now.user)) {
        const struct colander_buffer freed = table->lower;

        table->lower = table->last;
        table->lower.size -= TABLE_KEY_TAIL;
        table->has_lower = true;
        table->last = freed;
    }
    table->entry_count++;
    colander_buffer_clear(&table->last);
    return colander_buffer_append(&table->last, key.data, key.size, err);
}

/* Returns the bound of the keys after the last entry. Its own key may have
 * older entries, except after the sequence 0. */
static struct colander_slice
passed_key(const struct table_file *table)
{
    if (table->last.size > 0 && last_key(table).sequence == 0)
        return bound_of(last_key(table).user);
    if (table->has_lower)
        return bound_of(colander_buffer_slice(&table->lower));
    return no_key;
}

static struct colander_slice
higher_of(struct colander_slice a, struct colander_slice b)
{
    if (a.data == NULL || b.data == NULL)
        return a.data == NULL ? b : a;
    return colander_slice_compare(a, b) < 0 ? b : a;
}

/* ----------------------------------------------------------------- gaps --- */

/* Begins a gap, or extends the present one. */
static void
add_gap(struct table_file *table, uint64_t offset, uint64_t end,
        const char *why)
{
    struct table_gap *gap = &table->gap;

    if (!table->has_gap) {
        gap->offset = offset;
        gap->after = passed_key(table);
        gap->until = no_key;
        table->has_until = false;
        table->is_anywhere = false;
        (void)snprintf(gap->why, sizeof(gap->why), "%s", why);
    }
    gap->size = end - gap->offset;
    table->has_gap = true;
}

/* Adds the gap of a block of the index. */
static void
add_indexed_gap(struct table_file *table, size_t index, const char *why)
{
    const struct table_map *map = &table->map;
    const struct table_place place = map->blocks[index].place;

    add_gap(table, place.offset, table_place_end(place), why);
    if (!map->has_keys)
        return;
    table->gap.after = higher_of(table->gap.after, table_map_after(map, index));
    table->gap.until = bound_of(table_map_key(map, index));
    table->has_until = true;
}

static void
return_gap(struct table_file *table, struct table_gap *gap)
{
    *gap = table->gap;
    if (table->is_anywhere) {
        gap->after = no_key;
        gap->until = no_key;
    }
    table->has_gap = false;
    table->gap_count++;
}

/* --------------------------------------------------------------- blocks --- */

/* Checks that the keys of the present block are above those before. Returns
 * NULL, or what is wrong. */
static const char *
check_keys(const struct table_file *table, struct colander_slice first)
{
    const struct table_key first_key = table_key_of(first);
    struct table_key before;

    if (table->last.size == 0)
        return NULL;
    before = last_key(table);
    return table_key_compare(&before, &first_key) < 0
               ? NULL
               : "its keys are not above those before it";
}

/* The same, with the bounds in the index. The last key is in the block. */
static const char *
check_indexed_keys(const struct table_file *table, size_t index,
                   struct colander_slice first)
{
    const struct table_block *block = &table->block;
    const struct table_map *map = &table->map;
    const struct table_key first_key = table_key_of(first);
    const struct table_key last =
        table_key_of(colander_slice_of(block->key, block->key_size));
    struct colander_slice after;

    if (!map->has_keys)
        return check_keys(table, first);
    after = table_map_after(map, index);
    if ((after.data != NULL &&
         colander_slice_compare(first_key.user, after) <= 0) ||
        colander_slice_compare(last.user, table_map_key(map, index)) > 0)
        return "its keys are outside the bounds in the index";
    return check_keys(table, first);
}

/* Begins to return entries of the present block. Its first key ends a gap. */
static void
begin_block(struct table_file *table, struct table_place place,
            struct colander_slice first)
{
    table_block_rewind(&table->block);
    table->has_block = true;
    table->place = place;
    if (table->has_gap && !table->has_until) {
        table->gap.until = bound_of(table_key_of(first).user);
        table->has_until = true;
    }
}

/* Reads the next block of the index. A bad one is a gap. */
static enum colander_code
next_indexed(struct table_file *table, struct colander_error *err)
{
    const size_t index = table->next_block;
    const struct table_map *map = &table->map;
    const struct table_place place = map->blocks[index].place;
    struct colander_slice first;
    const char *why;
    enum colander_code code;

    code = table_block_read(&table->block, &table->source, place, &why, err);
    if (code != COLANDER_OK)
        return code;
    if (why == NULL)
        why = table_block_check(&table->block, &first);
    if (why == NULL)
        why = check_indexed_keys(table, index, first);
    if (why == NULL)
        begin_block(table, place, first);
    else
        add_indexed_gap(table, index, why);
    table->next_block++;
    table->has_ended = table->next_block == map->block_count;
    return COLANDER_OK;
}

/* Finds the next block without an index. Skipped bytes are a gap. */
static enum colander_code
next_walked(struct table_file *table, struct colander_error *err)
{
    struct colander_slice first;
    struct table_found found;
    const char *why;
    enum colander_code code;

    code = table_walk_next(&table->walk, &table->block, &found, err);
    if (code != COLANDER_OK)
        return code;
    table->has_ended = !found.is_block;
    if (found.is_damaged)
        add_gap(table, found.skipped_at, table->walk.end,
                "it is damaged, and so is the index, without which the blocks "
                "after it cannot be found");
    else if (found.is_end)
        table->map.data_end = found.skipped_at;
    else if (!found.is_block && table->walk.at > found.skipped_at)
        add_gap(table, found.skipped_at, table->walk.at,
                "it has no block of data");
    else if (found.is_block && found.place.offset > found.skipped_at)
        add_gap(table, found.skipped_at, found.place.offset,
                "it has no block of data");
    table->is_end_reported = table->has_ended && table->has_gap;
    if (!found.is_block)
        return COLANDER_OK;
    why = table_block_check(&table->block, &first);
    if (why == NULL)
        why = check_keys(table, first);
    if (why == NULL) {
        begin_block(table, found.place, first);
    } else {
        /* one of the two blocks is not where it was written */
        add_gap(table, found.place.offset, table->walk.at, why);
        table->is_anywhere = true;
    }
    return COLANDER_OK;
}

/* Checks at the end whether all entries were there. */
static void
finish(struct table_file *table)
{
    const struct table_map *map = &table->map;
    const bool is_complete =
        map->head.is_known && map->head.entry_count == table->entry_count;

    table->is_finished = true;
    if (is_complete)
        return;
    if (map->data_end == TABLE_END_UNKNOWN && !table->is_end_reported) {
        add_gap(table, table->walk.at, table->source.size,
                "the end of the file is missing or damaged, and with it the "
                "number of its entries");
    } else if (map->head.is_known && table->gap_count == 0) {
        add_gap(table, 0, table->source.size, "");
        (void)snprintf(table->gap.why, sizeof(table->gap.why),
                       "it has %" PRIu64 " entries where it had %" PRIu64,
                       table->entry_count, map->head.entry_count);
        table->is_anywhere = true;
    }
}

/* ---------------------------------------------------------------- steps --- */

/* Makes a gap of one entry. */
static void
describe_strange_entry(const struct table_file *table,
                       const struct table_key *key, struct table_gap *gap)
{
    gap->offset = table->place.offset;
    gap->size = table->place.size + TABLE_TRAILER_SIZE;
    gap->after = passed_key(table);
    if (table->last.size > 0)
        if (!colander_slice_equal(last_key(table).user, key->user))
            gap->after = bound_of(last_key(table).user);
    gap->until = bound_of(key->user);
    (void)snprintf(gap->why, sizeof(gap->why),
                   "an entry of a kind that this store does not write");
}

/* Returns the next entry of the block. */
static enum colander_code
next_entry(struct table_file *table, enum table_step *step,
           struct table_entry *entry, struct table_gap *gap,
           struct colander_error *err)
{
    struct colander_slice key;
    struct table_key parts;

    if (table_block_next(&table->block, &key, &entry->value) != TABLE_PARSED) {
        table->has_block = false;
        *step = TABLE_END;
        return COLANDER_OK;
    }
    parts = table_key_of(key);
    entry->key = parts.user;
    entry->sequence = parts.sequence;
    entry->kind = parts.type == VALUE ? TABLE_PUT : TABLE_DELETE;
    *step = TABLE_ENTRY;
    if (parts.type != VALUE && parts.type != DELETION &&
        parts.type != SINGLE_DELETION) {
        *step = TABLE_GAP;
        describe_strange_entry(table, &parts, gap);
    }
    return pass_key(table, key, err);
}

enum colander_code
table_file_next(struct table_file *table, enum table_step *step,
                struct table_entry *entry, struct table_gap *gap,
                struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *step = TABLE_END;
    while (code == COLANDER_OK && *step == TABLE_END) {
        const bool has_all = table->has_ended && !table->has_block;

        if (table->has_gap && (table->has_until || has_all)) {
            return_gap(table, gap);
            *step = TABLE_GAP;
        } else if (table->has_block) {
            code = next_entry(table, step, entry, gap, err);
        } else if (has_all && table->is_finished) {
            break;
        } else if (has_all) {
            finish(table);
        } else if (table->map.has_index) {
            code = next_indexed(table, err);
        } else {
            code = next_walked(table, err);
        }
    }
    return code;
}

/* --------------------------------------------------------------- check --- */

/* Checks what the blocks of data do not show. */
static enum colander_code
check_map(const struct table_file *table, struct table_filter *filter,
          struct colander_error *err)
{
    const struct table_map *map = &table->map;
    const char *why;
    enum colander_code code = table_check_properties(&table->source, &why, err);

    if (code != COLANDER_OK)
        return code;
    if (why != NULL)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "%s", why);
    if (!map->is_index_placed)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "its index is damaged");
    if (map->filter.size == 0)
        return COLANDER_OK;
    code = table_filter_read(filter, &table->source, map->filter, &why, err);
    if (code != COLANDER_OK || why == NULL)
        return code;
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "the block at byte %" PRIu64 ", its filter: %s",
                         map->filter.offset, why);
}

static enum colander_code
check_step(const struct table_file *table, enum table_step step,
           const struct table_entry *entry, const struct table_gap *gap,
           const struct table_filter *filter, table_hash *hash,
           struct colander_error *err)
{
    if (step == TABLE_GAP && gap->size == table->source.size)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "%s", gap->why);
    if (step == TABLE_GAP)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the block at byte %" PRIu64 ": %s", gap->offset,
                             gap->why);
    if (filter->line_count > 0 &&
        !table_filter_may_have(filter, hash(entry->key)))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "its Bloom filter, the block at byte %" PRIu64
                             ", denies a key of the block at byte %" PRIu64,
                             table->map.filter.offset, table->place.offset);
    return COLANDER_OK;
}

enum colander_code
table_check(int directory, const char *name, table_hash *hash,
            struct colander_error *err)
{
    struct table_filter filter = {.line_count = 0};
    enum table_step step = TABLE_ENTRY;
    struct table_file *table = NULL;
    struct table_entry entry;
    struct table_gap gap;
    enum colander_code code = table_file_open(directory, name, &table, err);

    if (code == COLANDER_OK)
        code = check_map(table, &filter, err);
    while (code == COLANDER_OK && step != TABLE_END) {
        code = table_file_next(table, &step, &entry, &gap, err);
        if (code == COLANDER_OK && step != TABLE_END)
            code = check_step(table, step, &entry, &gap, &filter, hash, err);
    }
    table_filter_release(&filter);
    table_file_close(table);
    return code;
}
