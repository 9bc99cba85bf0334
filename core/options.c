/* SPDX-License-Identifier: MIT */
#include "core/options.h"

#include "core/engine.h"
#include "core/fields.h"
#include "core/sized.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static const char title[] = "colander store ";

/* Words in the record. That of KEEP is never there. */
static const char *const compressions[] = {"keep", "none", "lz4", "zstd", NULL};
static const char *const compactions[] = {"keep", "leveled", "universal",
                                          "fifo", NULL};

/* An option with a range. */
struct option {
    struct field field;
    uint64_t low;
    uint64_t high;
    uint64_t kept; /* the default of an option that the store keeps, for which 0
                    * means "as the store has it"; 0: an option of one open */
};

#define OPTION(kind, member, ...)                                              \
    FIELD(kind, #member, colander_options, member, __VA_ARGS__)

/* Those that the store keeps are in the order of the record. */
static const struct option table[] = {
    {OPTION(CHOICE, mode), 0, COLANDER_OPEN_READ_ONLY, 0},
    {OPTION(UINT64, cache_size), MIB, 1024 * GIB, 0},
    {OPTION(UINT64, write_buffer_size), MIB, 64 * GIB, 0},
    {OPTION(UINT32, open_files_max), 32, 1000000, 0},
    {OPTION(UINT32, thread_count), 0, 256, 0},
    {OPTION(CHOICE, compression, .words = compressions), 1,
     COLANDER_COMPRESSION_ZSTD, COLANDER_COMPRESSION_LZ4},
    {OPTION(CHOICE, compaction, .words = compactions), 1,
     COLANDER_COMPACTION_FIFO, COLANDER_COMPACTION_LEVELED},
    {OPTION(UINT32, block_size), KIB, MIB, 16 * KIB},
    {OPTION(UINT64, sst_size), 64 * KIB, 16 * GIB, 64 * MIB},
    {OPTION(UINT64, fifo_size), MIB, 1024 * 1024 * GIB, GIB},
};

#define OPTIONS (sizeof(table) / sizeof(table[0]))

void
colander_options_init_sized(struct colander_options *options,
                            size_t struct_size)
{
    const struct colander_options defaults = {
        .cache_size = 64 * MIB,
        .write_buffer_size = 64 * MIB,
        .open_files_max = 512,
    };

    sized_return(options, struct_size, &defaults, sizeof(defaults));
    memcpy(options, &struct_size, sizeof(struct_size));
}

enum colander_code
options_accept(struct colander_options *options,
               const struct colander_options *given, struct colander_error *err)
{
    colander_options_init(options);
    if (given == NULL)
        return COLANDER_OK;
    return sized_accept(options, sizeof(*options), given, "options", err);
}

void
colander_budget_options_init_sized(struct colander_budget_options *options,
                                   size_t struct_size)
{
    const struct colander_budget_options defaults = {
        .cache_size = 64 * MIB,
        .write_buffer_size = 64 * MIB,
        .open_files_max = 512,
        .filter_memory = 64 * MIB,
    };

    sized_return(options, struct_size, &defaults, sizeof(defaults));
    memcpy(options, &struct_size, sizeof(struct_size));
}

void
options_set_budget(struct colander_options *options,
                   const struct colander_budget_options *budget)
{
    options->cache_size = budget->cache_size;
    options->write_buffer_size = budget->write_buffer_size;
    options->open_files_max = budget->open_files_max;
    options->thread_count = budget->thread_count;
}

enum colander_code
budget_options_accept(struct colander_budget_options *options,
                      const struct colander_budget_options *given,
                      struct colander_error *err)
{
    const uint64_t filter_memory_min = 64 * KIB;
    struct colander_options checked;
    enum colander_code code = COLANDER_OK;

    colander_budget_options_init(options);
    if (given != NULL)
        code = sized_accept(options, sizeof(*options), given, "budget options",
                            err);
    if (code == COLANDER_OK && options->filter_memory < filter_memory_min)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "option 'filter_memory' is %" PRIu64
                             ", not at least %" PRIu64,
                             options->filter_memory, filter_memory_min);
    if (code != COLANDER_OK)
        return code;
    colander_options_init(&checked);
    options_set_budget(&checked, options);
    return options_check(&checked, err);
}

/* Whether a kept option is KEEP or 0. */
static bool
is_kept_as_is(const struct option *option,
              const struct colander_options *options)
{
    return option->kept != 0 && field_number(&option->field, options) == 0;
}

enum colander_code
options_check(const struct colander_options *options,
              struct colander_error *err)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &table[i];
        const uint64_t value = field_number(&option->field, options);

        if ((value < option->low || value > option->high) &&
            !is_kept_as_is(option, options))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "option '%s' is %" PRIu64
                                 ", not between %" PRIu64 " and %" PRIu64,
                                 option->field.name, value, option->low,
                                 option->high);
    }
    return COLANDER_OK;
}

void
options_fill_kept(struct colander_options *options)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (is_kept_as_is(&table[i], options))
            field_set_number(&table[i].field, options, table[i].kept);
    }
}

enum colander_code
options_merge_kept(struct colander_options *options,
                   const struct colander_options *kept,
                   struct colander_error *err)
{
    if (options->compaction != COLANDER_COMPACTION_KEEP &&
        options->compaction != kept->compaction)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the store was created with %s compaction, which "
                             "cannot become %s",
                             compactions[kept->compaction],
                             compactions[options->compaction]);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (is_kept_as_is(&table[i], options))
            field_set_number(&table[i].field, options,
                             field_number(&table[i].field, kept));
    }
    return COLANDER_OK;
}

/* Size of the last line of a record, with its newline. */
#define CHECKSUM_SIZE 26

static void
print_checksum(char line[CHECKSUM_SIZE + 1], const void *data, size_t size)
{
    (void)snprintf(line, CHECKSUM_SIZE + 1, "checksum %016" PRIx64 "\n",
                   (uint64_t)XXH3_64bits(data, size));
}

bool
store_identity_is_valid(struct colander_slice text)
{
    const char *characters = (const char *)text.data;

    for (size_t i = 0; i < text.size; i++) {
        const char c = characters[i];

        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
            !(c >= 'A' && c <= 'Z') && c != '-')
            return false;
    }
    return text.size > 0 &&
           text.size < sizeof(((struct store_identity *)NULL)->text);
}

enum colander_code
options_encode(const struct colander_options *options,
               const struct store_identity *identity,
               struct colander_buffer *record, struct colander_error *err)
{
    char text[512];
    size_t size =
        (size_t)snprintf(text, sizeof(text), "%s%d\n", title,
                         identity->text[0] == '\0' ? 1 : OPTIONS_FORMAT);

    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &table[i];
        const uint64_t value = field_number(&option->field, options);
        char number[24];

        if (option->kept == 0)
            continue;
        (void)snprintf(number, sizeof(number), "%" PRIu64, value);
        size += (size_t)snprintf(
            text + size, sizeof(text) - size, "%s %s\n", option->field.name,
            option->field.words != NULL ? option->field.words[value] : number);
    }
    if (identity->text[0] != '\0')
        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 "identity %s\n", identity->text);
    print_checksum(text + size, text, size);
    colander_buffer_clear(record);
    return colander_buffer_append(record, text, size + CHECKSUM_SIZE, err);
}

/* Reads a record line by line. Errors name `line`. */
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

/* Returns the rest of a line that begins with `word`, or NULL. Moves to the
 * next line. */
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
read_kept(struct reader *reader, struct colander_options *options)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct field *field = &table[i].field;
        const char *text;
        uint64_t value;
        size_t size;
        char word[32];

        if (table[i].kept == 0)
            continue;
        (void)snprintf(word, sizeof(word), "%s ", field->name);
        if (field->words == NULL) {
            if (!read_number(reader, word, &value) || value > table[i].high)
                return false;
            field_set_number(field, options, value);
        } else {
            text = read_line(reader, word, &size);
            if (text == NULL ||
                !field_set_word(field, options, colander_slice_of(text, size)))
                return false;
        }
        if (field_number(field, options) == 0)
            return false;
    }
    return true;
}

static bool
read_identity(struct reader *reader, struct store_identity *identity)
{
    size_t size = 0;
    const char *text = read_line(reader, "identity ", &size);

    if (text == NULL || !store_identity_is_valid(colander_slice_of(text, size)))
        return false;
    memcpy(identity->text, text, size);
    return true;
}

/* Whether the last line, of any format, is the checksum of those before. */
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

/* In this format nothing else follows. */
static bool
read_checksum(struct reader *reader, struct colander_slice record)
{
    reader->line++;
    return reader->end - reader->at == CHECKSUM_SIZE && is_whole(record);
}

enum colander_code
options_decode(struct colander_slice record, struct colander_options *options,
               struct store_identity *identity, struct colander_error *err)
{
    const char *text = (const char *)record.data;
    struct reader reader = {text, text + record.size, 0};
    struct colander_options kept = *options;
    uint64_t format;

    memset(identity, 0, sizeof(*identity));
    if (!read_number(&reader, title, &format))
        return damaged(&reader, err);
    if (format > OPTIONS_FORMAT && is_whole(record))
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "the store has format %" PRIu64
                             ", this version of colander reads up to %d",
                             format, OPTIONS_FORMAT);
    if (format < 1 || format > OPTIONS_FORMAT || !read_kept(&reader, &kept) ||
        (format > 1 && !read_identity(&reader, identity)) ||
        !read_checksum(&reader, record))
        return damaged(&reader, err);
    if (options_check(&kept, err) != COLANDER_OK)
        return damaged(&reader, err);
    *options = kept;
    return COLANDER_OK;
}
