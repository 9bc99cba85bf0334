/*
 * Reads summaries: see filters/summary.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/files/summary_bytes.h"

#include "columns/candidates.h"
#include "columns/values.h"
#include "core/bytes.h"
#include "filters/files/filter_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING_SIZE (16u << 10) /* what is read first */
#define DIRECTORY_SIZE_MAX (UINT64_C(1) << 28)

/* ------------------------------------------------------------ directory --- */

/* What is false without this is for lack of memory. */
static bool
is_damaged(struct bytes_reader *in)
{
    in->is_bad = true;
    return false;
}

static bool
read_ssts(struct summary *summary, struct bytes_reader *in)
{
    const uint64_t count = bytes_read_varint(in);

    if (in->is_bad || count > in->left.size)
        return is_damaged(in);
    summary->ssts = calloc((size_t)count + 1, sizeof(*summary->ssts));
    if (summary->ssts == NULL)
        return false;
    for (; summary->sst_count < count; summary->sst_count++) {
        struct summary_sst *sst = &summary->ssts[summary->sst_count];
        uint64_t parts;

        sst->number = bytes_read_varint(in);
        sst->size = bytes_read_varint(in);
        parts = bytes_read_varint(in);
        sst->has_words = bytes_read_varint(in) == TEXT_WORDS_VERSION;
        if (in->is_bad || parts > SUMMARY_PARTS_MAX)
            return is_damaged(in);
        sst->part_count = (uint32_t)parts;
    }
    return true;
}

static bool
read_columns(const struct summary *summary, struct summary_group *group,
             struct bytes_reader *in)
{
    group->columns = calloc(group->column_count, sizeof(*group->columns));
    for (uint32_t i = 0; group->columns != NULL && i < group->column_count;
         i++) {
        const uint64_t sst = bytes_read_varint(in);

        if (in->is_bad || sst >= summary->sst_count)
            return is_damaged(in);
        group->columns[i] = (uint32_t)sst;
    }
    return group->columns != NULL;
}

/* The groups are one after the other, from the beginning to the directory. */
static bool
read_groups(struct summary *summary, struct bytes_reader *in, uint64_t end)
{
    const uint64_t count = bytes_read_varint(in);
    uint64_t offset = SUMMARY_BEGINNING_SIZE;

    if (in->is_bad || count > in->left.size)
        return is_damaged(in);
    summary->groups = calloc((size_t)count + 1, sizeof(*summary->groups));
    if (summary->groups == NULL)
        return false;
    for (; summary->group_count < count; summary->group_count++) {
        struct summary_group *group = &summary->groups[summary->group_count];
        const uint64_t blocks = bytes_read_varint(in);
        const uint64_t probes = bytes_read_varint(in);
        const uint64_t hash_bits = bytes_read_varint(in);
        const uint64_t columns = bytes_read_varint(in);

        if (in->is_bad || blocks > PRESENCE_BLOCKS_MAX ||
            probes > PRESENCE_PROBES_MAX || hash_bits > 64 || columns == 0 ||
            columns > SUMMARY_PARTS_MAX)
            return is_damaged(in);
        group->shape = (struct presence_shape){
            (uint32_t)blocks, (uint8_t)probes, (uint8_t)hash_bits};
        group->column_count = (uint32_t)columns;
        group->offset = offset;
        group->block_first = summary->block_count;
        if (!presence_shape_is_valid(&group->shape) ||
            blocks > UINT32_MAX - summary->block_count)
            return is_damaged(in);
        summary->block_count += (uint32_t)blocks;
        offset += blocks * (summary_block_size(group->column_count) +
                            FILTER_CHECKSUM_SIZE);
        if (!read_columns(summary, group, in)) {
            summary->group_count++; /* what it has is freed */
            return false;
        }
    }
    return (offset == end && !bytes_reader_has_more(in)) || is_damaged(in);
}

/* What the footer says. */
struct footer {
    uint64_t offset; /* of the directory */
    uint64_t size;
    uint64_t checksum;
};

static enum colander_code
check_footer(struct summary *summary, const uint8_t *bytes, uint64_t file_size,
             struct footer *footer, struct colander_error *err)
{
    const uint64_t room = file_size - SUMMARY_FOOTER_SIZE;

    if (memcmp(bytes + 40, SUMMARY_MAGIC, SUMMARY_MAGIC_SIZE) != 0)
        return filter_fail_damaged(summary->path, "it has no end", err);
    if (bytes_get_le32(bytes + 32) != SUMMARY_VERSION ||
        bytes_get_le32(bytes + 36) != COLANDER_HASH_VERSION)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW, "'%s' has another version",
                             summary->path);
    footer->offset = bytes_get_le64(bytes);
    footer->size = bytes_get_le64(bytes + 8);
    footer->checksum = bytes_get_le64(bytes + 16);
    summary->salt = bytes_get_le64(bytes + 24);
    if (footer->size > DIRECTORY_SIZE_MAX || footer->offset > room ||
        footer->offset + footer->size != room)
        return filter_fail_damaged(summary->path, "its end is damaged", err);
    return COLANDER_OK;
}

static enum colander_code
decode(struct summary *summary, struct colander_slice directory,
       const struct footer *footer, struct colander_error *err)
{
    struct bytes_reader in = bytes_reader_of(directory);

    if (filter_checksum(directory, summary->salt, footer->offset) !=
        footer->checksum)
        return filter_fail_damaged(
            summary->path, "the checksum of its directory is wrong", err);
    if (read_ssts(summary, &in) && read_groups(summary, &in, footer->offset))
        return COLANDER_OK;
    return in.is_bad ? filter_fail_damaged(summary->path,
                                           "its directory is damaged", err)
                     : filter_fail_memory(summary->path, err);
}

static enum colander_code
read_end(struct summary *summary, const struct filter_source *source,
         uint64_t size, struct colander_error *err)
{
    size_t got = size < ENDING_SIZE ? (size_t)size : ENDING_SIZE;
    struct footer footer = {0, 0, 0};
    uint8_t *bytes = malloc(ENDING_SIZE);
    enum colander_code code;
    uint8_t *whole;

    if (bytes == NULL)
        return filter_fail_memory(summary->path, err);
    code = filter_read(source, bytes, got, size - got, err);
    if (code == COLANDER_OK)
        code = check_footer(summary, bytes + got - SUMMARY_FOOTER_SIZE, size,
                            &footer, err);
    if (code == COLANDER_OK && footer.size + SUMMARY_FOOTER_SIZE > got) {
        got = (size_t)footer.size + SUMMARY_FOOTER_SIZE;
        whole = realloc(bytes, got);
        if (whole != NULL)
            bytes = whole;
        code = whole == NULL
                   ? filter_fail_memory(summary->path, err)
                   : filter_read(source, bytes, got, footer.offset, err);
    }
    if (code == COLANDER_OK)
        code = decode(
            summary,
            colander_slice_of(bytes + got - SUMMARY_FOOTER_SIZE - footer.size,
                              (size_t)footer.size),
            &footer, err);
    free(bytes);
    return code;
}

/* ----------------------------------------------------------------- life --- */

enum colander_code
summary_open(const char *path, const struct colander_remote_files *remote,
             struct block_cache *cache, struct summary **summary,
             struct colander_error *err)
{
    struct summary *opened = calloc(1, sizeof(*opened));
    struct filter_source source = {-1, remote, path};
    struct stat status = {.st_size = 0};
    enum colander_code code = COLANDER_OK;

    *summary = NULL;
    if (opened == NULL || (opened->path = strdup(path)) == NULL) {
        free(opened);
        return filter_fail_memory(path, err);
    }
    opened->remote = remote;
    opened->cache = cache;
    source.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (source.fd < 0 || fstat(source.fd, &status) != 0)
        code = filter_fail_errno(path, "open", err);
    else if (status.st_size < SUMMARY_BEGINNING_SIZE + SUMMARY_FOOTER_SIZE)
        code = filter_fail_damaged(path, "it is too short", err);
    if (code == COLANDER_OK)
        code = read_end(opened, &source, (uint64_t)status.st_size, err);
    if (source.fd >= 0)
        (void)close(source.fd);
    if (code == COLANDER_OK)
        *summary = opened;
    else
        summary_close(opened);
    return code;
}

void
summary_close(struct summary *summary)
{
    if (summary == NULL)
        return;
    for (uint32_t i = 0; i < summary->group_count; i++)
        free(summary->groups[i].columns);
    free(summary->groups);
    free(summary->ssts);
    free(summary->path);
    free(summary);
}

/* --------------------------------------------------------------- asking --- */

static enum colander_code
read_block(const struct summary *summary, const struct summary_group *group,
           uint32_t block, struct cached_block **read,
           struct colander_error *err)
{
    const size_t size = summary_block_size(group->column_count);
    const uint64_t offset =
        group->offset + block * (uint64_t)(size + FILTER_CHECKSUM_SIZE);
    struct filter_source source = {-1, summary->remote, summary->path};
    struct cached_block *made =
        block_cache_allocate(summary->cache, size + FILTER_CHECKSUM_SIZE);
    enum colander_code code = COLANDER_OK;
    uint8_t *bytes;

    if (made == NULL)
        return filter_fail_memory(summary->path, err);
    bytes = block_cache_bytes(made);
    if (source.remote == NULL) {
        source.fd = open(summary->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (source.fd < 0)
            code = filter_fail_errno(summary->path, "open", err);
    }
    if (code == COLANDER_OK)
        code = filter_read(&source, bytes, size + FILTER_CHECKSUM_SIZE, offset,
                           err);
    if (source.fd >= 0)
        (void)close(source.fd);
    if (code == COLANDER_OK &&
        filter_checksum(colander_slice_of(bytes, size), summary->salt,
                        offset) != bytes_get_le64(bytes + size))
        code = filter_fail_damaged(summary->path,
                                   "the checksum of a block is wrong", err);
    if (code == COLANDER_OK) {
        block_cache_add(summary->cache, made, summary->salt,
                        group->block_first + block);
        *read = made;
    } else {
        block_cache_release(summary->cache, made);
    }
    return code;
}

/* Marks the SSTs whose presence has all bits of the probe. */
static void
mark(const struct summary_group *group, const struct presence_probe *probe,
     const uint8_t *cells, uint64_t *ssts)
{
    for (uint32_t i = 0; i < group->column_count; i++) {
        const uint8_t *cell = cells + i * SUMMARY_CELL_SIZE;
        const uint32_t sst = group->columns[i];
        unsigned set = 0;

        while (set < group->shape.probes &&
               (cell[probe->bits[set] / 8] >> probe->bits[set] % 8 & 1) != 0)
            set++;
        if (set == group->shape.probes)
            ssts[sst / 64] |= UINT64_C(1) << sst % 64;
    }
}

enum colander_code
summary_ask(const struct summary *summary, uint64_t value_hash, uint64_t *ssts,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = 0; i < summary->group_count && code == COLANDER_OK; i++) {
        const struct summary_group *group = &summary->groups[i];
        struct presence_probe probe;
        struct cached_block *block;

        presence_locate(&group->shape, value_hash, &probe);
        block = block_cache_find(summary->cache, summary->salt,
                                 group->block_first + probe.block);
        if (block == NULL)
            code = read_block(summary, group, probe.block, &block, err);
        if (block == NULL)
            break;
        mark(group, &probe, block->bytes.data, ssts);
        block_cache_release(summary->cache, block);
    }
    return code;
}
