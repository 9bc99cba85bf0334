/* SPDX-License-Identifier: MIT */
#include "filters/settings.h"

#include "columns/candidates.h"
#include "core/bytes.h"
#include "core/sized.h"
#include "filters/option_fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#define SETTINGS_VERSION 3
#define SETTINGS_VERSION_ORDER 2 /* the first with order_budget and words, */
#define SETTINGS_VERSION_WORD_COLUMNS 3 /* and with columns of words */
#define SEGMENT_MAX (1u << 16)
#define HASH_BITS_MIN 16
#define TREE_ORDER_MAX 1024
#define BUDGET_MIN (UINT64_C(1) << 16)

void
colander_filter_options_init_sized(struct colander_filter_options *options,
                                   size_t struct_size)
{
    const struct colander_filter_options defaults = {
        .is_on = true,
        .rows_per_segment = COLANDER_SEGMENT_AUTO,
        .hash_bits = 32,
        .fp_rate = 0.01,
        .tree_order = 8,
        .memory_budget = UINT64_C(64) << 20,
        .order_budget = 0.036,
        .words = true,
    };

    sized_return(options, struct_size, &defaults, sizeof(defaults));
    memcpy(options, &struct_size, sizeof(struct_size));
}

/* -------------------------------------------------------------- making --- */

static enum colander_code
check_options(const struct colander_filter_options *options,
              struct colander_error *err)
{
    const uint32_t rows = options->rows_per_segment;
    const struct {
        const char *name;
        double value;
        double min;
        double max;
    } bounds[] = {
        {"hash_bits", options->hash_bits, HASH_BITS_MIN, LOCATOR_HASH_BITS},
        {"bits_per_value", options->bits_per_value, 0, 64},
        {"filter_bits", (double)options->filter_bits, 0,
         (double)PRESENCE_BLOCKS_MAX * PRESENCE_BLOCK_BITS},
        {"hierarchy", options->hierarchy, COLANDER_HIERARCHY_SLICES,
         COLANDER_HIERARCHY_TREE},
        {"tree_order", options->tree_order, 2, TREE_ORDER_MAX},
        {"order_budget", options->order_budget, 0, 1},
    };

    if (rows != COLANDER_SEGMENT_AUTO &&
        (rows > SEGMENT_MAX || (rows & (rows - 1)) != 0))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "rows_per_segment must be 0 or a power of two up "
                             "to %u, not %u",
                             SEGMENT_MAX, rows);
    if (options->memory_budget < BUDGET_MIN)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "memory_budget must be at least %" PRIu64
                             ", not %" PRIu64,
                             BUDGET_MIN, options->memory_budget);
    if (!(options->fp_rate > 1e-9 && options->fp_rate < 1))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "fp_rate must be above 1e-9 and below 1, not %g",
                             options->fp_rate);
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        if (!(bounds[i].value >= bounds[i].min &&
              bounds[i].value <= bounds[i].max))
            return COLANDER_FAIL(
                err, COLANDER_INVALID, "%s must be %.15g to %.15g, not %.15g",
                bounds[i].name, bounds[i].min, bounds[i].max, bounds[i].value);
    }
    if (options->unfiltered_count > FILTER_PATHS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "at most %d columns can be unfiltered, not %zu",
                             FILTER_PATHS_MAX, options->unfiltered_count);
    if (options->word_column_count > FILTER_PATHS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "at most %d columns can be listed for words, not "
                             "%zu",
                             FILTER_PATHS_MAX, options->word_column_count);
    return COLANDER_OK;
}

static enum colander_code
hash_paths(const char *const *paths, size_t count, uint64_t *hashes,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = path_hash_of_text(paths[i], &hashes[i], err);
    return code;
}

static enum colander_code
hash_columns(struct settings *settings, struct colander_error *err)
{
    const struct colander_filter_options *options = &settings->options;
    enum colander_code code =
        hash_paths(options->unfiltered, options->unfiltered_count,
                   settings->unfiltered, err);

    settings->unfiltered_count = (uint32_t)options->unfiltered_count;
    if (code == COLANDER_OK)
        code = hash_paths(options->word_columns, options->word_column_count,
                          settings->word_columns, err);
    if (options->words)
        settings->word_column_count = (uint32_t)options->word_column_count;
    return code;
}

/* An older program has no word_columns. */
void
colander_filter_options_release(struct colander_filter_options *options)
{
    free((void *)options->unfiltered);
    options->unfiltered = NULL;
    options->unfiltered_count = 0;
    if (options->struct_size <=
        offsetof(struct colander_filter_options, word_column_count))
        return;
    options->word_columns = NULL;
    options->word_column_count = 0;
}

/* Moves the texts of some paths to *text, and behind them. */
static void
copy_paths(const char *const *from, size_t count, const char **paths,
           char **text)
{
    for (size_t i = 0; i < count; i++) {
        paths[i] = *text;
        *text = stpcpy(*text, from[i]) + 1;
    }
}

static size_t
size_of_paths(const char *const *paths, size_t count)
{
    size_t size = count * sizeof(char *);

    for (size_t i = 0; i < count; i++)
        size += strlen(paths[i]) + 1;
    return size;
}

/* The lists of paths and their texts are one block of memory. */
enum colander_code
settings_copy_options(const struct colander_filter_options *from,
                      struct colander_filter_options *into,
                      struct colander_error *err)
{
    const size_t first = from->unfiltered_count;
    const size_t count = from->word_column_count;
    const char **paths =
        calloc(1, 1 + size_of_paths(from->unfiltered, first) +
                      size_of_paths(from->word_columns, count));
    char *text;

    *into = *from;
    into->unfiltered = paths;
    into->word_columns = paths == NULL ? NULL : paths + first;
    if (paths == NULL) {
        into->unfiltered_count = into->word_column_count = 0;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for filter options");
    }
    text = (char *)(paths + first + count);
    copy_paths(from->unfiltered, first, paths, &text);
    copy_paths(from->word_columns, count, paths + first, &text);
    return COLANDER_OK;
}

enum colander_code
settings_create(const struct colander_filter_options *options,
                struct settings **settings, struct colander_error *err)
{
    struct colander_filter_options defaults;
    struct settings *created;
    enum colander_code code;

    *settings = NULL;
    colander_filter_options_init(&defaults);
    if (options == NULL)
        options = &defaults;
    code = check_options(options, err);
    if (code != COLANDER_OK)
        return code;
    created = calloc(1, sizeof(*created));
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for filter options");
    atomic_init(&created->reference_count, 1);
    code = settings_copy_options(options, &created->options, err);
    if (code == COLANDER_OK)
        code = hash_columns(created, err);
    if (code != COLANDER_OK) {
        settings_unref(created);
        return code;
    }
    *settings = created;
    return COLANDER_OK;
}

struct settings *
settings_ref(struct settings *settings)
{
    atomic_fetch_add_explicit(&settings->reference_count, 1,
                              memory_order_relaxed);
    return settings;
}

void
settings_unref(struct settings *settings)
{
    if (settings == NULL ||
        atomic_fetch_sub_explicit(&settings->reference_count, 1,
                                  memory_order_acq_rel) != 1)
        return;
    colander_filter_options_release(&settings->options);
    free(settings);
}

struct presence_shape
settings_presence_shape(const struct settings *settings, uint64_t hash_count)
{
    const struct colander_filter_options *options = &settings->options;
    struct presence_shape shape;
    uint64_t bits = PRESENCE_BLOCK_BITS;

    /* Powers of two make presences of different files fit each other. */
    while ((double)bits < options->bits_per_value * (double)hash_count)
        bits *= 2;
    if (options->filter_bits != 0)
        shape = presence_shape_for_bits(hash_count, options->filter_bits);
    else if (options->bits_per_value > 0)
        shape = presence_shape_for_bits(hash_count, bits);
    else
        shape = presence_shape_for_rate(hash_count, options->fp_rate);
    shape.hash_bits = (uint8_t)options->hash_bits;
    return shape;
}

/* --------------------------------------------------------------- bytes --- */

/* The record begins with the version, the options in the order of their table,
 * up to the paths, and the numbers of paths. They are followed by the paths,
 * each with its zero byte, and by the checksum of everything. */
#define FIXED_SIZE_MIN 64 /* of version 1 */
#define FIXED_SIZE 84

static size_t
size_in_record(const struct field *field)
{
    return field->kind >= FIELD_UINT64 ? 8 : 4;
}

static bool
is_in_version(const struct field *field, uint64_t version)
{
    return version >= SETTINGS_VERSION_ORDER ||
           field->offset <
               offsetof(struct colander_filter_options, order_budget);
}

static enum colander_code
append_paths(struct colander_buffer *record, const char *const *paths,
             size_t count, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code =
            colander_buffer_append(record, paths[i], strlen(paths[i]) + 1, err);
    return code;
}

enum colander_code
settings_encode(const struct settings *settings, struct colander_buffer *record,
                struct colander_error *err)
{
    const struct colander_filter_options *options = &settings->options;
    const struct field *field = filter_option_fields;
    uint8_t fixed[FIXED_SIZE];
    uint8_t *at = fixed + 4;
    enum colander_code code;
    uint64_t sum;

    bytes_put_le(fixed, SETTINGS_VERSION, 4);
    for (; field->kind != FIELD_OTHER; field++) {
        bytes_put_le(at, field_number(field, options), size_in_record(field));
        at += size_in_record(field);
    }
    bytes_put_le(at, options->unfiltered_count, 8);
    bytes_put_le(at + 8, options->word_column_count, 8);
    colander_buffer_clear(record);
    code = colander_buffer_append(record, fixed, sizeof(fixed), err);
    if (code == COLANDER_OK)
        code = append_paths(record, options->unfiltered,
                            options->unfiltered_count, err);
    if (code == COLANDER_OK)
        code = append_paths(record, options->word_columns,
                            options->word_column_count, err);
    sum = XXH3_64bits(record->data, record->size);
    if (code == COLANDER_OK)
        code = colander_buffer_append(record, &sum, sizeof(sum), err);
    return code;
}

/* Returns the number of paths at *at, and moves *at past it. */
static size_t
take_count(const uint8_t **at, const char *end)
{
    const uint8_t *number = *at;

    if ((const uint8_t *)end - number < 8)
        return SIZE_MAX;
    *at += 8;
    return bytes_get_le(number, 8);
}

/* Fills `paths` with the zero-terminated texts in [at, end). */
static bool
find_paths(const char *at, const char *end, const char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *zero = memchr(at, '\0', (size_t)(end - at));

        if (zero == NULL)
            return false;
        paths[i] = at;
        at = zero + 1;
    }
    return at == end;
}

enum colander_code
settings_decode(struct colander_slice record, struct settings **settings,
                struct colander_error *err)
{
    const char *paths[2 * FILTER_PATHS_MAX];
    struct colander_filter_options options;
    const struct field *field = filter_option_fields;
    const uint8_t *at;
    uint64_t version;
    enum colander_code code;
    uint64_t sum;
    const char *end;

    *settings = NULL;
    if (record.size < FIXED_SIZE_MIN + sizeof(sum))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options is truncated");
    end = (const char *)record.data + record.size - sizeof(sum);
    memcpy(&sum, end, sizeof(sum));
    if (sum != XXH3_64bits(record.data, record.size - sizeof(sum)))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options is damaged");
    version = bytes_get_le(record.data, 4);
    if (version < 1 || version > SETTINGS_VERSION)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "filter options of version %" PRIu64
                             ": this is %d",
                             version, SETTINGS_VERSION);
    colander_filter_options_init(&options);
    for (at = record.data + 4; field->kind != FIELD_OTHER; field++) {
        if (!is_in_version(field, version))
            continue;
        field_set_number(field, &options,
                         bytes_get_le(at, size_in_record(field)));
        at += size_in_record(field);
    }
    options.unfiltered = paths;
    options.unfiltered_count = take_count(&at, end);
    if (version >= SETTINGS_VERSION_WORD_COLUMNS)
        options.word_column_count = take_count(&at, end);
    if (options.unfiltered_count > FILTER_PATHS_MAX ||
        options.word_column_count > FILTER_PATHS_MAX ||
        !find_paths((const char *)at, end, paths,
                    options.unfiltered_count + options.word_column_count))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options is damaged");
    options.word_columns = paths + options.unfiltered_count;
    code = settings_create(&options, settings, err);
    if (code == COLANDER_INVALID)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options has invalid "
                             "options");
    return code;
}
