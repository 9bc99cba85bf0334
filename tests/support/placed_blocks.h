/*
 * A store whose SST files have blocks of every kind that fit in the place of
 * another kind, and the places of these blocks.
 *
 * The store is written in a process of its own, so that this one has no threads
 * of RocksDB and can fork.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_PLACED_BLOCKS_H
#define TESTS_SUPPORT_PLACED_BLOCKS_H

#include "support/cases.h"
#include "support/filter_files.h"
#include "support/model_steps.h"
#include "support/random.h"
#include "support/scoped.h"

#include "core/tables/table_map.h"

#include <sys/wait.h>

#define PATH_SIZE 600
#define BLOCKS_MAX 4096
#define FILES 32

/* --------------------------------------------------------------- blocks --- */

enum kind { DATA, FILTER, INDEX, PROPERTIES, METAINDEX, KINDS };

static const char *const kind_names[KINDS] = {"data", "filter", "index",
                                              "properties", "metaindex"};

/* A block with its trailer. */
struct placed {
    enum kind kind;
    uint64_t offset;
    uint64_t size;
    bool has_one_key; /* all its entries have the same key */
};

struct sst_blocks {
    char path[PATH_SIZE]; /* relative to the store */
    char family[64];
    struct placed blocks[BLOCKS_MAX];
    size_t count;
};

static inline void
add_block(struct sst_blocks *file, enum kind kind, uint64_t begin, uint64_t end)
{
    assert_true(begin < end && file->count < BLOCKS_MAX);
    file->blocks[file->count++] =
        (struct placed){.kind = kind, .offset = begin, .size = end - begin};
}

static inline bool
has_one_key(struct table_block *block, const struct table_source *source,
            struct table_place place)
{
    struct colander_slice first;
    const char *why;

    OK(table_block_read(block, source, place, &why, NULL));
    assert_null(why);
    assert_null(table_block_check(block, &first));
    return colander_slice_equal(
        table_key_of(first).user,
        table_key_of(colander_slice_of(block->key, block->key_size)).user);
}

/* Finds the places of all blocks. Properties lie between index and metaindex.
 */
static inline void
learn_blocks(struct sst_blocks *file, const char *store)
{
    struct table_source source = {.fd = -1};
    uint8_t footer[53];
    char path[2 * PATH_SIZE];
    struct table_map map = {0};
    struct table_block block;
    struct table_place metaindex;
    struct table_place index;
    struct bytes_reader in;

    (void)snprintf(path, sizeof(path), "%s/%s", store, file->path);
    source.fd = open(path, O_RDONLY);
    source.size = (uint64_t)lseek(source.fd, 0, SEEK_END);
    assert_int_equal(pread(source.fd, footer, sizeof(footer),
                           (off_t)(source.size - sizeof(footer))),
                     sizeof(footer));
    in = bytes_reader_of(colander_slice_of(footer + 1, 40));
    metaindex = table_place_read(&in);
    index = table_place_read(&in);
    OK(table_block_init(&block, NULL));
    OK(table_map_read(&map, &source, &block, NULL));
    assert_true(map.has_index && map.is_index_placed);
    (void)snprintf(file->family, sizeof(file->family), "%.*s",
                   (int)map.head.family_name.size,
                   (const char *)map.head.family_name.data);
    file->count = 0;
    for (size_t i = 0; i < map.block_count; i++) {
        const struct table_place place = map.blocks[i].place;

        add_block(file, DATA, place.offset, table_place_end(place));
        file->blocks[i].has_one_key = has_one_key(&block, &source, place);
    }
    if (map.filter.size > 0)
        add_block(file, FILTER, map.filter.offset, table_place_end(map.filter));
    add_block(file, INDEX, index.offset, table_place_end(index));
    add_block(file, PROPERTIES, table_place_end(index), metaindex.offset);
    add_block(file, METAINDEX, metaindex.offset, table_place_end(metaindex));
    table_map_release(&map);
    table_block_release(&block);
    (void)close(source.fd);
}

/* -------------------------------------------------------------- writing --- */

#define ROWS_MAX 1500

/* A family and its rows. Each is in a block of its own, or several are. */
struct family {
    const char *name;
    uint64_t count;
    bool is_large;
    bool is_bulk;
    struct colander_buffer rows[ROWS_MAX]; /* the newest */
};

struct writing {
    struct colander_store *store;
    struct colander_row_builder *builder;
    struct colander_buffer key;
    uint64_t seed;
};

/* The sizes that blocks of data are to have, to fit in the places of others:
 * the last write of the store has shown them. */
struct sizes {
    uint64_t index[2]; /* of `large` and `other` */
    uint64_t properties[2];
    uint64_t ends[2]; /* the last block: as the filter, or as the metaindex */
};

/* Bytes of a block with one row that are not of the row. */
#define ROW_BLOCK_OVERHEAD (3 + 1 + 9 + 8 + 8 + TABLE_TRAILER_SIZE)

/* Builds a row of about a size. */
static inline struct colander_slice
build_row(struct writing *writing, uint64_t index, uint64_t version,
          uint64_t size)
{
    static char text[65536];
    struct colander_slice row;
    const uint64_t others = 15; /* bytes of names and numbers */
    const size_t length = size > others ? (size_t)(size - others) : 1;
    uint64_t random = writing->seed + 3 * index + version;

    assert_true(length < sizeof(text));
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + random_below(&random, 26));
    colander_row_builder_add(writing->builder, "n",
                             colander_integer((int64_t)(1000 + index)));
    colander_row_builder_add(writing->builder, "v",
                             colander_integer((int64_t)version));
    colander_row_builder_add(writing->builder, "t",
                             colander_string(colander_slice_of(text, length)));
    OK(colander_row_builder_finish(writing->builder, &row, NULL));
    return row;
}

/* Returns the size of a row of a family with large rows: its blocks have the
 * sizes of the other kinds, and many the same size. */
static inline uint64_t
large_size(const struct family *family, const struct sizes *sizes, size_t which,
           uint64_t index)
{
    uint64_t block = 1500;

    if (index == family->count - 1 && sizes->ends[which] > 0)
        block = sizes->ends[which];
    else if (index < 40 && sizes->properties[which] > 0)
        block = sizes->properties[which] - 20 + index;
    else if (index < 120 && sizes->index[which] > 0)
        block = sizes->index[which] - 80 + index;
    return block > ROW_BLOCK_OVERHEAD ? block - ROW_BLOCK_OVERHEAD : 1;
}

static inline struct colander_slice
row_of(struct writing *writing, const struct family *family, uint64_t index,
       uint64_t version, const struct sizes *sizes)
{
    const size_t which = strcmp(family->name, "other") == 0;

    return build_row(writing, index, version,
                     family->is_large ? large_size(family, sizes, which, index)
                                      : 80);
}

/* The first version has all rows; each of the other two, a third of them. */
static inline uint64_t
last_version(const struct family *family, uint64_t index)
{
    return family->is_bulk ? 0 : index % 3;
}

/* Fills the rows that the family has at last. */
static inline void
model_family(struct writing *writing, struct family *family,
             const struct sizes *sizes)
{
    for (uint64_t i = 0; i < family->count; i++) {
        const struct colander_slice row =
            row_of(writing, family, i, last_version(family, i), sizes);

        colander_buffer_clear(&family->rows[i]);
        OK(colander_buffer_append(&family->rows[i], row.data, row.size, NULL));
    }
}

static inline void
write_family(struct writing *writing, const struct family *family,
             const struct sizes *sizes)
{
    SCOPED_FAMILY written = NULL;
    struct colander_bulk *bulk = NULL;

    OK(colander_family_open(writing->store, family->name, &written, NULL));
    if (family->is_bulk)
        OK(colander_bulk_create(written, &bulk, NULL));
    for (uint64_t version = 0; version < (bulk != NULL ? 1 : 3); version++) {
        for (uint64_t i = version; i < family->count;
             i += version == 0 ? 1 : 3) {
            const struct colander_slice row =
                row_of(writing, family, i, version, sizes);

            encode_key(i, &writing->key);
            if (bulk != NULL)
                OK(colander_bulk_add(bulk, colander_buffer_slice(&writing->key),
                                     row, NULL));
            else
                OK(colander_family_put(written,
                                       colander_buffer_slice(&writing->key),
                                       row, NULL, NULL));
        }
        if (bulk == NULL)
            OK(colander_family_flush(written, NULL));
    }
    if (bulk != NULL)
        OK(colander_bulk_commit(bulk, NULL, NULL));
    colander_bulk_destroy(bulk);
    OK(colander_family_await_filters(written, NULL));
}

/* ---------------------------------------------------------------- store --- */

enum { LARGE, OTHER, SMALL, BULK, FAMILIES };

/* A store, and the blocks of its files. */
struct base {
    char path[TEMPORARY_SIZE + 16];
    struct family families[FAMILIES];
    struct sst_blocks files[FILES];
    size_t file_count;
};

/* Returns false if RocksDB ended the process. */
static inline bool
run_apart(void (*run)(void *context), void *context)
{
    pid_t pid;
    int status;

    (void)fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        run(context);
        (void)fflush(NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
        return false;
    ZERO(status);
    return true;
}

struct store_writing {
    struct base *base;
    enum colander_compression compression;
    const struct sizes *sizes;
    struct writing writing;
};

static inline void
write_store(void *context)
{
    struct store_writing *all = context;
    struct colander_options options = usual_options();

    options.compression = all->compression;
    options.block_size = 1024;
    OK(colander_store_open(all->base->path, &options, &all->writing.store,
                           NULL));
    for (size_t i = 0; i < FAMILIES; i++)
        write_family(&all->writing, &all->base->families[i], all->sizes);
    OK(colander_store_close(all->writing.store, NULL));
}

static inline void
make_store(struct base *base, enum colander_compression compression,
           const struct sizes *sizes, uint64_t seed)
{
    struct store_writing all = {
        .base = base,
        .compression = compression,
        .sizes = sizes,
        .writing = {.seed = seed, .key = COLANDER_BUFFER_EMPTY}};

    all.writing.builder = colander_row_builder_create();
    assert_true(run_apart(write_store, &all));
    for (size_t i = 0; i < FAMILIES; i++)
        model_family(&all.writing, &base->families[i], sizes);
    colander_row_builder_destroy(all.writing.builder);
}

static inline void
learn_files(struct base *base)
{
    char directory[TEMPORARY_SIZE + 32];
    static struct file_numbers numbers;

    (void)snprintf(directory, sizeof(directory), "%s/rocksdb", base->path);
    list_numbers(directory, ".sst", &numbers);
    base->file_count = 0;
    for (size_t i = 0; i < numbers.count; i++) {
        struct sst_blocks *file = &base->files[base->file_count];

        (void)snprintf(file->path, sizeof(file->path), "rocksdb/%06d.sst",
                       (int)numbers.numbers[i]);
        learn_blocks(file, base->path);
        if (strncmp(file->family, "family/", 7) == 0)
            base->file_count++; /* not one of the store's own records */
        assert_true(base->file_count < FILES);
    }
}

static inline size_t
family_of_file(const struct base *base, const struct sst_blocks *file)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        if (strcmp(base->families[i].name, file->family + 7) == 0)
            return i;
    }
    fail_msg("%s is of '%s'", file->path, file->family);
    return 0;
}

/* Returns the first file of a family, which has all keys. */
static const struct sst_blocks *
first_file(const struct base *base, size_t family)
{
    for (size_t i = 0; i < base->file_count; i++) {
        if (family_of_file(base, &base->files[i]) == family)
            return &base->files[i];
    }
    fail_msg("no file of family %zu", family);
    return NULL;
}

static inline uint64_t
size_of_kind(const struct sst_blocks *file, enum kind kind)
{
    for (size_t i = 0; i < file->count; i++) {
        if (file->blocks[i].kind == kind)
            return file->blocks[i].size;
    }
    return 0;
}

static inline uint64_t
last_data_size(const struct sst_blocks *file)
{
    size_t last = 0;

    for (size_t i = 0; i < file->count; i++)
        last = file->blocks[i].kind == DATA ? i : last;
    return file->blocks[last].size;
}

/* Takes the sizes from the store just written. Returns whether the last blocks
 * already have the sizes they were to have. */
static inline bool
learn_sizes(const struct base *base, struct sizes *sizes)
{
    bool fits = true;

    for (size_t i = 0; i < 2; i++) {
        const struct sst_blocks *file = first_file(base, i);
        const uint64_t wanted =
            size_of_kind(file, i == LARGE ? FILTER : METAINDEX);
        const uint64_t last = last_data_size(file);

        sizes->index[i] = size_of_kind(file, INDEX);
        sizes->properties[i] = size_of_kind(file, PROPERTIES);
        fits = fits && last == wanted;
        if (sizes->ends[i] == 0)
            sizes->ends[i] = wanted;
        else
            sizes->ends[i] += wanted - last;
    }
    return fits;
}

static inline struct base *
make_base(const char *directory, enum colander_compression compression,
          uint64_t seed)
{
    static const struct family families[FAMILIES] = {
        [LARGE] = {.name = "large", .count = 170, .is_large = true},
        [OTHER] = {.name = "other", .count = 170, .is_large = true},
        [SMALL] = {.name = "small", .count = 900},
        [BULK] = {.name = "bulk", .count = 900, .is_bulk = true}};
    struct base *base = calloc(1, sizeof(*base));
    struct sizes sizes = {.ends = {0}};

    (void)snprintf(base->path, sizeof(base->path), "%s/base-%d", directory,
                   (int)compression);
    memcpy(base->families, families, sizeof(families));
    for (unsigned tries = 0; tries < 6; tries++) {
        temporary_remove(base->path);
        make_store(base, compression, &sizes, seed);
        learn_files(base);
        if (learn_sizes(base, &sizes) ||
            (compression != COLANDER_COMPRESSION_NONE && tries > 0))
            return base;
    }
    fail_msg("the last blocks do not fit");
    return base;
}

static inline void
destroy_base(struct base *base)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        for (size_t j = 0; j < ROWS_MAX; j++)
            colander_buffer_release(&base->families[i].rows[j]);
    }
    free(base);
}

#endif
