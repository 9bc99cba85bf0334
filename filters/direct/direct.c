/* SPDX-License-Identifier: MIT */
#include "filters/direct.h"

#include "core/sst_places.h"
#include "filters/levels.h"

#include <inttypes.h>
#include <unistd.h>

/* --------------------------------------------------------------- blocks --- */

/* Returns where the block of a span ends; 0: not known. */
static uint64_t
end_of(const struct sst_file *file, uint32_t span)
{
    const struct filter_file *filter = file->filter;

    return span + 1 < filter->span_count ? filter->spans[span + 1].offset
                                         : file->data_size;
}

/* Decoding makes a block larger, as keys are whole. Blocks that would grow by
 * more are not decoded. */
#define GROWTH_MAX 4
#define GROWTH_ALWAYS ((size_t)64 << 10)

static struct sst_rows *
rows_in(struct cached_block *block)
{
    return (struct sst_rows *)(void *)block_cache_bytes(block);
}

/* Returns how many rows begin in the block of a span. */
static uint64_t
rows_of(const struct filter_file *filter, uint32_t span)
{
    const uint64_t end = span + 1 < filter->span_count
                             ? filter->spans[span + 1].first_row
                             : filter_file_rows(filter);

    return end - filter->spans[span].first_row;
}

/* Returns the id of a file in the cache of rows. */
static uint64_t
id_of(const struct filters *filters, const struct sst_file *file)
{
    return registry_file_id(&filters->registry, file->number);
}

static enum colander_code
fail_misplaced(const struct sst_file *file, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "SST '%06" PRIu64 ".sst' is damaged: a block of data "
                         "is not where it was written",
                         file->number);
}

/* Decodes a block. Returns whether its rows can be read by number: no key has
 * several versions, here or in the next block, and the rows are those that the
 * filter counts here. */
static bool
decode_rows(const struct filter_file *filter, uint32_t span,
            struct colander_slice content, uint32_t entry_count,
            struct sst_rows *rows)
{
    struct colander_slice last;

    return sst_rows_decode(content, entry_count, rows, &last) &&
           rows->count == rows_of(filter, span) &&
           (span + 1 == filter->span_count ||
            filter->spans[span + 1].key_sum != filter_key_sum(last));
}

/* Decodes a block into memory of the cache. A block without rows says that they
 * cannot be read by number. */
static enum colander_code
decode_block(struct filters *filters, const struct sst_file *file,
             uint32_t span, struct colander_slice content,
             struct cached_block **block, struct colander_error *err)
{
    uint32_t entry_count;
    const size_t size = sst_rows_measure(content, &entry_count);

    if (size == 0 || filter_key_sum(sst_rows_first_key(content)) !=
                         file->filter->spans[span].key_sum)
        return fail_misplaced(file, err);
    if (size <= content.size * GROWTH_MAX + GROWTH_ALWAYS)
        *block = block_cache_allocate(filters->commons->rows, size);
    if (*block != NULL &&
        decode_rows(file->filter, span, content, entry_count, rows_in(*block)))
        return COLANDER_OK;
    block_cache_release(filters->commons->rows, *block);
    *block =
        block_cache_allocate(filters->commons->rows, sizeof(struct sst_rows));
    if (*block != NULL)
        rows_in(*block)->count = 0;
    return COLANDER_OK;
}

/* Returns the descriptor of a file, opened now if it is one of the first
 * descriptors_max files, else -1. */
static int
descriptor_of(struct filters *filters, const struct sst_file *file,
              const char *path)
{
    struct sst_descriptor *descriptor = file->descriptor;
    atomic_uint *open_count = &filters->commons->open_count;
    int none = -1;
    int fd;

    if (descriptor == NULL)
        return -1;
    fd = atomic_load_explicit(&descriptor->fd, memory_order_acquire);
    if (fd >= 0)
        return fd;
    if (atomic_fetch_add(open_count, 1) < filters->commons->descriptors_max &&
        sst_open_file(path, &fd, NULL) == COLANDER_OK) {
        if (atomic_compare_exchange_strong(&descriptor->fd, &none, fd))
            return fd;
        (void)close(fd); /* another thread was faster */
    }
    atomic_fetch_sub(open_count, 1);
    return none;
}

/* Reads the bytes of a block. */
static enum colander_code
read_block(struct filters *filters, const struct sst_file *file,
           uint64_t offset, uint64_t end, struct sst_room *room,
           struct colander_slice *content)
{
    enum colander_code code;
    char path[SST_PATH_MAX];
    struct sst_source sst = {-1, filters->remote, path};

    if (end == 0 || !engine_sst_path(filters->engine, file->number, path))
        return COLANDER_NOT_FOUND;
    if (sst.remote == NULL)
        sst.fd = descriptor_of(filters, file, path);
    if (sst.fd >= 0 || sst.remote != NULL)
        return sst_block_read(&sst, offset, end, room, content, NULL);
    code = sst_open_file(path, &sst.fd, NULL);
    if (code != COLANDER_OK)
        return code;
    code = sst_block_read(&sst, offset, end, room, content, NULL);
    (void)close(sst.fd);
    return code;
}

/* Reads a block into the cache. */
static enum colander_code
load_block(struct filters *filters, const struct sst_file *file, uint32_t span,
           struct cached_block **block, struct colander_error *err)
{
    struct sst_room room = {COLANDER_BUFFER_EMPTY, COLANDER_BUFFER_EMPTY};
    struct colander_slice content;
    enum colander_code code = COLANDER_OK;

    if (read_block(filters, file, file->filter->spans[span].offset,
                   end_of(file, span), &room, &content) == COLANDER_OK)
        code = decode_block(filters, file, span, content, block, err);
    sst_room_release(&room);
    if (*block == NULL)
        return code;
    block_cache_add(filters->commons->rows, *block, id_of(filters, file), span);
    filters_lend(filters);
    return COLANDER_OK;
}

/* ----------------------------------------------------------------- rows --- */

struct direct_place
direct_place_of(const struct sst_file *file, uint64_t number)
{
    const uint32_t span = filter_file_span(file->filter, number);
    const uint64_t index = number - file->filter->spans[span].first_row;

    return (struct direct_place){
        .number = number, .span = span, .index = (uint32_t)index};
}

static const struct sst_rows *
rows_at(const struct direct_place *place)
{
    return (const struct sst_rows *)(const void *)place->block->bytes.data;
}

/* Holds the block of a place if it is in the cache. `before` (NULL: none) is
 * another place in the file. */
static void
hold_block(struct filters *filters, const struct sst_file *file,
           struct direct_place *place, const struct direct_place *before)
{
    const struct sst_rows *rows;

    if (before != NULL && before->block != NULL && before->span == place->span)
        place->block = block_cache_hold(before->block);
    else
        place->block = block_cache_find(filters->commons->rows,
                                        id_of(filters, file), place->span);
    if (place->block == NULL)
        return;
    rows = rows_at(place);
    if (place->index < rows->count)
        __builtin_prefetch((const uint8_t *)rows +
                           rows->places[place->index].offset);
}

void
direct_fetch(struct filters *filters, const struct sst_file *file,
             struct direct_place *places, size_t count, unsigned step)
{
    for (size_t i = 0; i < count; i++) {
        struct direct_place *place = &places[i];

        if (step == 0)
            block_cache_fetch(filters->commons->rows, id_of(filters, file),
                              place->span);
        else if (step == 1)
            block_cache_fetch_block(
                filters->commons->rows, id_of(filters, file), place->span,
                sizeof(struct sst_rows) +
                    place->index * sizeof(struct sst_row_place));
        else
            hold_block(filters, file, place, i == 0 ? NULL : place - 1);
    }
}

void
direct_place_release(struct filters *filters, struct direct_place *place)
{
    block_cache_release(filters->commons->rows, place->block);
    place->block = NULL;
}

enum colander_code
direct_read(struct filters *filters, const struct sst_file *file,
            struct direct_place *place, uint64_t snapshot,
            struct direct_row *row, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    const struct sst_rows *rows;
    uint64_t sequence;

    memset(row, 0, sizeof(*row));
    if (place->block == NULL)
        place->block = block_cache_find(filters->commons->rows,
                                        id_of(filters, file), place->span);
    if (place->block == NULL)
        code = load_block(filters, file, place->span, &place->block, err);
    if (place->block == NULL)
        return code;
    rows = rows_at(place);
    if (place->index >= rows->count) {
        direct_place_release(filters, place);
        return COLANDER_OK;
    }
    row->block = place->block;
    place->block = NULL;
    sequence = sst_rows_get(rows, place->index, &row->key, &row->value);
    /* The rows of a file that has joined have the sequence 0 in it. */
    row->is_visible =
        sequence <= snapshot && (sequence != 0 || file->joined_at <= snapshot);
    return COLANDER_OK;
}

void
direct_release(struct filters *filters, struct direct_row *row)
{
    block_cache_release(filters->commons->rows, row->block);
    row->block = NULL;
}

bool
direct_is_newest(const struct recent_view *recent, const struct levels *levels,
                 uint32_t place, struct colander_slice key, uint64_t hash)
{
    return !recent_has_key(recent, hash) &&
           !levels_may_have_newer(levels, place, key, hash);
}
