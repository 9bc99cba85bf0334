/*
 * Options: defaults, ranges, and their record in a store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static const char title[] = "colander store ";

/* Words of enums in the record; the place is the enum's value, 0 is KEEP. */
static const char *const compressions[] = {NULL, "none", "lz4", "zstd"};
static const char *const compactions[] = {NULL, "leveled", "universal", "fifo"};
#define WORDS 4

void
colander_options_init(struct colander_options *options)
{
    memset(options, 0, sizeof(*options));
    options->cache_size = 64 * MIB;
    options->write_buffer_size = 64 * MIB;
    options->open_files_max = 512;
}

static enum colander_code
check_range(const char *name, uint64_t value, uint64_t low, uint64_t high,
            struct colander_error *err)
{
    if (value >= low && value <= high)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "option '%s' is %" PRIu64 ", not between %" PRIu64
                         " and %" PRIu64,
                         name, value, low, high);
}

/* A kept option may also be 0: as the store has it. */
static enum colander_code
check_kept(const char *name, uint64_t value, uint64_t low, uint64_t high,
           struct colander_error *err)
{
    if (value == 0)
        return COLANDER_OK;
    return check_range(name, value, low, high, err);
}

static enum colander_code
check_runtime(const struct colander_options *options,
              struct colander_error *err)
{
    enum colander_code code;

    code = check_range("mode", options->mode, COLANDER_OPEN_OR_CREATE,
                       COLANDER_OPEN_READ_ONLY, err);
    if (code == COLANDER_OK)
        code = check_range("cache_size", options->cache_size, MIB, 1024 * GIB,
                           err);
    if (code == COLANDER_OK)
        code = check_range("write_buffer_size", options->write_buffer_size, MIB,
                           64 * GIB, err);
    if (code == COLANDER_OK)
        code = check_range("open_files_max", options->open_files_max, 32,
                           1000000, err);
    if (code == COLANDER_OK)
        code = check_range("thread_count", options->thread_count, 0, 256, err);
    return code;
}

enum colander_code
options_check(const struct colander_options *options,
              struct colander_error *err)
{
    enum colander_code code = check_runtime(options, err);

    if (code == COLANDER_OK)
        code =
            check_range("compression", options->compression, 0, WORDS - 1, err);
    if (code == COLANDER_OK)
        code =
            check_range("compaction", options->compaction, 0, WORDS - 1, err);
    if (code == COLANDER_OK)
        code = check_kept("block_size", options->block_size, KIB, MIB, err);
    if (code == COLANDER_OK)
        code =
            check_kept("sst_size", options->sst_size, 64 * KIB, 16 * GIB, err);
    if (code == COLANDER_OK)
        code = check_kept("fifo_size", options->fifo_size, MIB,
                          1024 * 1024 * GIB, err);
    return code;
}

void
options_fill_kept(struct colander_options *options)
{
    if (options->compression == COLANDER_COMPRESSION_KEEP)
        options->compression = COLANDER_COMPRESSION_LZ4;
    if (options->compaction == COLANDER_COMPACTION_KEEP)
        options->compaction = COLANDER_COMPACTION_LEVELED;
    if (options->block_size == 0)
        options->block_size = 16 * KIB;
    if (options->sst_size == 0)
        options->sst_size = 64 * MIB;
    if (options->fifo_size == 0)
        options->fifo_size = GIB;
}

enum colander_code
options_merge_kept(struct colander_options *options,
                   const struct colander_options *kept,
                   struct colander_error *err)
{
    if (options->compaction != COLANDER_COMPACTION_KEEP &&
        options->compaction != kept->compaction)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the store was made with %s compaction, which "
                             "cannot become %s",
                             compactions[kept->compaction],
                             compactions[options->compaction]);
    options->compaction = kept->compaction;
    if (options->compression == COLANDER_COMPRESSION_KEEP)
        options->compression = kept->compression;
    if (options->block_size == 0)
        options->block_size = kept->block_size;
    if (options->sst_size == 0)
        options->sst_size = kept->sst_size;
    if (options->fifo_size == 0)
        options->fifo_size = kept->fifo_size;
    return COLANDER_OK;
}

bool
options_same_kept(const struct colander_options *a,
                  const struct colander_options *b)
{
    return a->compression == b->compression && a->compaction == b->compaction &&
           a->block_size == b->block_size && a->sst_size == b->sst_size &&
           a->fifo_size == b->fifo_size;
}

/* The last line of a record, with its end. */
#define CHECKSUM_SIZE 26

static void
print_checksum(char line[CHECKSUM_SIZE + 1], const void *data, size_t size)
{
    (void)snprintf(line, CHECKSUM_SIZE + 1, "checksum %016" PRIx64 "\n",
                   (uint64_t)XXH3_64bits(data, size));
}

enum colander_code
options_encode(const struct colander_options *options,
               struct colander_buffer *record, struct colander_error *err)
{
    char text[512];
    int size;

    size = snprintf(text, sizeof(text),
                    "%s%d\n"
                    "compression %s\n"
                    "compaction %s\n"
                    "block_size %" PRIu32 "\n"
                    "sst_size %" PRIu64 "\n"
                    "fifo_size %" PRIu64 "\n",
                    title, OPTIONS_FORMAT, compressions[options->compression],
                    compactions[options->compaction], options->block_size,
                    options->sst_size, options->fifo_size);
    print_checksum(text + size, text, (size_t)size);
    colander_buffer_clear(record);
    return colander_buffer_append(record, text, (size_t)size + CHECKSUM_SIZE,
                                  err);
}

/* Reads a record line by line; `line` is where an error will be told of. */
struct reader {
    const char *at;
    const char *end;
    int line;
};

static enum colander_code
damaged(const struct reader *reader, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "the store's record COLANDER is damaged at line %d",
                         reader->line);
}

/* The rest of the line behind `word`, or NULL; moves to the next line. */
static const char *
read_line(struct reader *reader, const char *word, size_t *size)
{
    size_t word_size = strlen(word);
    const char *start = reader->at;
    const char *stop;

    reader->line++;
    if ((size_t)(reader->end - start) < word_size ||
        memcmp(start, word, word_size) != 0)
        return NULL;
    start += word_size;
    stop = memchr(start, '\n', (size_t)(reader->end - start));
    if (stop == NULL)
        return NULL;
    *size = (size_t)(stop - start);
    reader->at = stop + 1;
    return start;
}

static bool
read_number(struct reader *reader, const char *word, uint64_t *number)
{
    size_t size;
    const char *text = read_line(reader, word, &size);

    if (text == NULL || size == 0 || size > 19)
        return false;
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

static bool
read_word(struct reader *reader, const char *word,
          const char *const words[WORDS], unsigned *choice)
{
    size_t size;
    const char *text = read_line(reader, word, &size);

    if (text == NULL)
        return false;
    for (unsigned i = 1; i < WORDS; i++) {
        if (strlen(words[i]) == size && memcmp(text, words[i], size) == 0) {
            *choice = i;
            return true;
        }
    }
    return false;
}

static bool
read_kept(struct reader *reader, struct colander_options *options)
{
    unsigned compression = 0;
    unsigned compaction = 0;
    uint64_t block_size = 0;

    if (!read_word(reader, "compression ", compressions, &compression) ||
        !read_word(reader, "compaction ", compactions, &compaction) ||
        !read_number(reader, "block_size ", &block_size) ||
        block_size > UINT32_MAX ||
        !read_number(reader, "sst_size ", &options->sst_size) ||
        !read_number(reader, "fifo_size ", &options->fifo_size))
        return false;
    options->compression = (enum colander_compression)compression;
    options->compaction = (enum colander_compaction)compaction;
    options->block_size = (uint32_t)block_size;
    return options->block_size != 0 && options->sst_size != 0 &&
           options->fifo_size != 0;
}

/* The last line, in every format: the checksum of all before it. */
static bool
is_whole(struct colander_slice record)
{
    char line[CHECKSUM_SIZE + 1];
    size_t covered;

    if (record.size < CHECKSUM_SIZE)
        return false;
    covered = record.size - CHECKSUM_SIZE;
    print_checksum(line, record.data, covered);
    return memcmp(record.data + covered, line, CHECKSUM_SIZE) == 0;
}

/* Of this format nothing else is left. */
static bool
read_checksum(struct reader *reader, struct colander_slice record)
{
    reader->line++;
    return reader->end - reader->at == CHECKSUM_SIZE && is_whole(record);
}

enum colander_code
options_decode(struct colander_slice record, struct colander_options *options,
               struct colander_error *err)
{
    const char *text = (const char *)record.data;
    struct reader reader = {text, text + record.size, 0};
    struct colander_options kept = *options;
    uint64_t format;

    if (!read_number(&reader, title, &format))
        return damaged(&reader, err);
    if (format > OPTIONS_FORMAT && is_whole(record))
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "the store has format %" PRIu64
                             ", this version of colander reads up to %d",
                             format, OPTIONS_FORMAT);
    if (format != OPTIONS_FORMAT || !read_kept(&reader, &kept) ||
        !read_checksum(&reader, record))
        return damaged(&reader, err);
    if (options_check(&kept, err) != COLANDER_OK)
        return damaged(&reader, err);
    *options = kept;
    return COLANDER_OK;
}
