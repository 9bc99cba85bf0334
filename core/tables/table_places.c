/* SPDX-License-Identifier: MIT */
#include "core/sst_places.h"

#include "core/files.h"
#include "core/sst.h"
#include "core/tables.h"
#include "core/tables/table_filter.h"
#include "core/tables/table_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- files --- */

static enum colander_code
fail_damaged(const char *path, const char *what, const char *why,
             struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT, "%s of SST '%s' is damaged: %s",
                         what, path, why);
}

enum colander_code
sst_open_file(const char *path, int *fd, struct colander_error *err)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 && errno == ENOENT)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "there is no SST '%s'",
                             path);
    return *fd < 0 ? files_fail(err, "open SST", path) : COLANDER_OK;
}

/* An SST as a source of tables. */
struct places_source {
    struct table_source source; /* first */
    const struct sst_source *sst;
};

static ssize_t
read_remote(const struct table_source *source, void *bytes, size_t size,
            off_t offset)
{
    const struct sst_source *sst = ((const struct places_source *)source)->sst;

    if (*source->error == 0 &&
        sst->remote->read(sst->remote->context, sst->path, (uint64_t)offset,
                          bytes, size, NULL) == COLANDER_OK)
        return (ssize_t)size;
    *source->error = errno = EIO; /* and asks no more */
    return -1;
}

/* Borrows `sst`. A read that fails sets *error to errno, and *error to 0
 * before. */
static struct places_source
source_of(const struct sst_source *sst, uint64_t size, int *error)
{
    *error = 0;
    return (struct places_source){
        {.fd = sst->fd,
         .size = size,
         .read = sst->remote != NULL ? read_remote : NULL,
         .error = error},
        sst};
}

/* Whether the failure is one of the system: what was read is no damage. */
static enum colander_code
check_read(const struct sst_source *sst, int error, struct colander_error *err)
{
    if (error == 0 || sst->remote == NULL)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_IO, "cannot read SST '%s'", sst->path);
}

/* --------------------------------------------------------------- blocks --- */

void
sst_room_release(struct sst_room *room)
{
    colander_buffer_release(&room->stored);
    colander_buffer_release(&room->content);
}

/* Decodes the block in `room->stored`. */
static enum colander_code
decode_block(struct sst_room *room, uint64_t size, struct colander_slice *block,
             const char **why, struct colander_error *err)
{
    *why = NULL;
    if (room->stored.size < size)
        *why = "the file ends before it does";
    else if (!table_codec_is_whole(room->stored.data,
                                   (size_t)size - TABLE_TRAILER_SIZE))
        *why = "its checksum is wrong";
    if (*why != NULL)
        return COLANDER_OK;
    return table_codec_decompress(room->stored.data,
                                  (size_t)size - TABLE_TRAILER_SIZE,
                                  &room->content, block, why, err);
}

enum colander_code
sst_block_read(const struct sst_source *sst, uint64_t offset, uint64_t end,
               struct sst_room *room, struct colander_slice *block,
               struct colander_error *err)
{
    int error;
    const struct places_source source = source_of(sst, end, &error);
    const uint64_t size = end - offset;
    const char *why = NULL;
    enum colander_code code;

    if (end < offset || size <= TABLE_TRAILER_SIZE ||
        size > TABLE_BLOCK_SIZE_MAX)
        return fail_damaged(sst->path, "a block", "it has no valid size", err);
    colander_buffer_clear(&room->stored);
    code = table_source_read(&source.source, offset, (size_t)size,
                             &room->stored, err);
    if (code == COLANDER_OK)
        code = check_read(sst, error, err);
    if (code == COLANDER_OK)
        code = decode_block(room, size, block, &why, err);
    if (code == COLANDER_OK && why != NULL)
        code = fail_damaged(sst->path, "a block", why, err);
    return code;
}

/* ----------------------------------------------------------------- rows --- */

struct entry {
    size_t shared;              /* bytes that its key shares with the last */
    struct colander_slice rest; /* of the key, with its tail */
    struct colander_slice value;
};

static struct bytes_reader
entries_of(struct colander_slice block)
{
    return bytes_reader_of(table_block_entries(block));
}

/* Reads a number, which usually has one byte. */
static inline uint64_t
take_number(struct bytes_reader *in)
{
    if (in->left.size > 0 && in->left.data[0] < 0x80) {
        in->left.size--;
        return *in->left.data++;
    }
    return bytes_read_varint(in);
}

/* Reads an entry after a key of `last` bytes, and moves past it. */
static inline bool
take_entry(struct bytes_reader *in, size_t last, struct entry *entry)
{
    const uint64_t shared = take_number(in);
    const uint64_t rest = take_number(in);
    const uint64_t size = take_number(in);

    entry->rest = bytes_read(in, rest);
    entry->value = bytes_read(in, size);
    entry->shared = (size_t)shared;
    return !in->is_bad && shared <= last &&
           shared + rest <= TABLE_KEY_SIZE_MAX &&
           shared + rest >= TABLE_KEY_TAIL;
}

size_t
sst_rows_measure(struct colander_slice block, uint32_t *entry_count)
{
    struct bytes_reader in = entries_of(block);
    size_t size = sizeof(struct sst_rows);
    struct entry entry;
    size_t last = 0;

    *entry_count = 0;
    while (in.left.size > 0) {
        if (!take_entry(&in, last, &entry))
            return 0;
        last = entry.shared + entry.rest.size;
        size += sizeof(struct sst_row_place) + last + entry.value.size;
        ++*entry_count;
    }
    return *entry_count == 0 || size > UINT32_MAX ? 0 : size;
}

struct colander_slice
sst_rows_first_key(struct colander_slice block)
{
    struct bytes_reader in = entries_of(block);
    struct entry entry;

    if (!take_entry(&in, 0, &entry))
        return colander_slice_of(NULL, 0);
    entry.rest.size -= TABLE_KEY_TAIL;
    return entry.rest;
}

/* Whether a key is above the last one. Both have a tail. */
static bool
is_above(struct colander_slice key, struct colander_slice last)
{
    key.size -= TABLE_KEY_TAIL;
    last.size -= TABLE_KEY_TAIL;
    return colander_slice_compare(key, last) > 0;
}

static bool
is_delete(unsigned type)
{
    return type == DELETION || type == SINGLE_DELETION;
}

bool
sst_rows_decode(struct colander_slice block, uint32_t entry_count,
                struct sst_rows *rows, struct colander_slice *last_key)
{
    struct bytes_reader in = entries_of(block);
    uint8_t *at = (uint8_t *)&rows->places[entry_count];
    struct colander_slice last = {at, 0}; /* key, with its tail */
    struct entry entry;

    rows->count = 0;
    while (in.left.size > 0 && take_entry(&in, last.size, &entry)) {
        const struct colander_slice key = {at, entry.shared + entry.rest.size};
        unsigned type;

        memcpy(at, last.data, entry.shared);
        if (entry.rest.size > 0)
            memcpy(at + entry.shared, entry.rest.data, entry.rest.size);
        type = at[key.size - TABLE_KEY_TAIL];
        if ((last.size > 0 && !is_above(key, last)) ||
            (type != VALUE && !is_delete(type)))
            return false;
        last = key;
        at += key.size;
        if (type != VALUE)
            continue;
        rows->places[rows->count++] = (struct sst_row_place){
            (uint32_t)(key.data - (uint8_t *)rows), (uint32_t)key.size,
            (uint32_t)entry.value.size};
        if (entry.value.size > 0)
            memcpy(at, entry.value.data, entry.value.size);
        at += entry.value.size;
    }
    *last_key = colander_slice_of(last.data, last.size - TABLE_KEY_TAIL);
    return true;
}

/* -------------------------------------------------------------- entries --- */

static enum colander_code
fail_gap(const char *path, const struct table_file *table,
         const struct table_gap *gap, struct colander_error *err)
{
    if (table_file_error(table) == 0)
        return fail_damaged(path, "an entry", gap->why, err);
    errno = table_file_error(table);
    return files_fail(err, "read SST", path);
}

enum colander_code
sst_entries_visit(const char *path,
                  enum colander_code (*visit)(void *context,
                                              const struct sst_entry *entry,
                                              struct colander_error *err),
                  void *context, struct colander_error *err)
{
    enum table_step step = TABLE_ENTRY;
    struct table_file *table = NULL;
    enum colander_code code;
    int fd;

    code = sst_open_file(path, &fd, err);
    if (code == COLANDER_OK)
        code = table_file_of(fd, &table, err);
    while (code == COLANDER_OK && step == TABLE_ENTRY) {
        struct table_entry found;
        struct sst_entry entry;
        struct table_gap gap;

        code = table_file_next(table, &step, &found, &gap, err);
        if (code != COLANDER_OK || step == TABLE_END)
            break;
        if (step == TABLE_GAP) {
            code = fail_gap(path, table, &gap, err);
            break;
        }
        entry = (struct sst_entry){.key = found.key,
                                   .value = found.value,
                                   .block = table_file_block(table),
                                   .is_put = found.kind == TABLE_PUT};
        code = visit(context, &entry, err);
    }
    table_file_close(table);
    return code;
}

/* ----------------------------------------------------------------- keys --- */

struct sst_keys {
    struct table_filter filter;
};

static enum colander_code
read_filter(const struct sst_source *sst, uint64_t size, struct sst_keys *keys,
            struct colander_error *err)
{
    int error;
    const struct places_source source = source_of(sst, size, &error);
    struct table_place place = {0, 0};
    const char *why = NULL;
    enum colander_code code =
        table_map_check(&source.source, &place, &why, err);

    if (code == COLANDER_OK && why == NULL && place.size > 0)
        code =
            table_filter_read(&keys->filter, &source.source, place, &why, err);
    if (code == COLANDER_OK)
        code = check_read(sst, error, err);
    if (code == COLANDER_OK && why != NULL)
        code = fail_damaged(sst->path, "the Bloom filter", why, err);
    return code;
}

enum colander_code
sst_keys_read(const char *path, const struct colander_remote_files *remote,
              struct sst_keys **keys, struct colander_error *err)
{
    struct sst_keys *made = calloc(1, sizeof(*made));
    struct sst_source sst = {-1, remote, path};
    struct stat status;
    enum colander_code code;

    *keys = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a filter");
    code = sst_open_file(path, &sst.fd, err);
    if (code == COLANDER_OK) {
        code = fstat(sst.fd, &status) != 0
                   ? files_fail(err, "look at SST", path)
                   : read_filter(&sst, (uint64_t)status.st_size, made, err);
        (void)close(sst.fd);
    }
    if (code == COLANDER_OK && made->filter.line_count > 0)
        *keys = made;
    else
        sst_keys_destroy(made);
    return code;
}

void
sst_keys_destroy(struct sst_keys *keys)
{
    if (keys == NULL)
        return;
    table_filter_release(&keys->filter);
    free(keys);
}

size_t
sst_keys_size(const struct sst_keys *keys)
{
    return sizeof(*keys) + keys->filter.bytes.capacity;
}

bool
sst_keys_may_have(const struct sst_keys *keys, uint64_t hash)
{
    return table_filter_may_have(&keys->filter, hash);
}
