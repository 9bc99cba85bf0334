/* SPDX-License-Identifier: MIT */
#include "filters/settings.h"

#include "columns/candidates.h"
#include "core/bytes.h"
#include "core/sized.h"
#include "filters/option_fields.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#define SETTINGS_VERSION 4
#define SETTINGS_VERSION_ORDER 2 /* the first with order_budget and words, */
#define SETTINGS_VERSION_WORD_COLUMNS 3 /* and with columns of words, */
#define SETTINGS_VERSION_ORDERED 4      /* and those in order or not */
#define SEGMENT_MAX (1u << 16)
#define HASH_BITS_MIN 16
#define TREE_ORDER_MAX 1024
#define BUDGET_MIN (UINT64_C(1) << 16)

static_assert(OPTION_LISTS == SETTINGS_LISTS,
              "a list of options is one of settings");

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
        .memory_budget = UINT64_C(128) << 20,
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
    for (size_t i = 0; i < OPTION_LISTS; i++) {
        const size_t count = option_list_count(options, i);

        if (count > FILTER_PATHS_MAX)
            return COLANDER_FAIL(
                err, COLANDER_LIMIT, "%s has at most %d columns, not %zu",
                filter_option_lists[i].name, FILTER_PATHS_MAX, count);
    }
    return COLANDER_OK;
}

static enum colander_code
hash_columns(struct settings *settings, struct colander_error *err)
{
    const struct colander_filter_options *options = &settings->options;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < OPTION_LISTS && code == COLANDER_OK; i++) {
        const char *const *paths = option_list_paths(options, i);
        struct path_list *list = &settings->lists[i];

        for (;
             list->count < option_list_count(options, i) && code == COLANDER_OK;
             list->count++)
            code = path_hash_of_text(paths[list->count],
                                     &list->hashes[list->count], err);
    }
    if (!options->words)
        settings->lists[LIST_WORD_COLUMNS].count = 0;
    return code;
}

/* An older program has fewer lists. */
void
colander_filter_options_release(struct colander_filter_options *options)
{
    free((void *)options->unfiltered);
    for (size_t i = 0; i < OPTION_LISTS; i++) {
        if (options->struct_size > filter_option_lists[i].count)
            option_list_set(options, i, NULL, 0);
    }
}

/* The lists of paths and their texts are one block of memory. */
enum colander_code
settings_copy_options(const struct colander_filter_options *from,
                      struct colander_filter_options *into,
                      struct colander_error *err)
{
    size_t size = 1;
    size_t total = 0;
    const char **paths;
    char *text;

    for (size_t i = 0; i < OPTION_LISTS; i++) {
        const size_t count = option_list_count(from, i);

        for (size_t k = 0; k < count; k++)
            size += strlen(option_list_paths(from, i)[k]) + 1;
        total += count;
    }
    paths = calloc(1, size + total * sizeof(*paths));
    *into = *from;
    text = (char *)(paths + (paths == NULL ? 0 : total));
    for (size_t i = 0; i < OPTION_LISTS; i++) {
        const size_t count = paths == NULL ? 0 : option_list_count(from, i);

        option_list_set(into, i, paths, count);
        for (size_t k = 0; k < count; k++) {
            *paths++ = text;
            text = stpcpy(text, option_list_paths(from, i)[k]) + 1;
        }
    }
    if (paths == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for filter options");
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
settings_without_words(const struct settings *settings)
{
    struct colander_filter_options options = settings->options;
    struct settings *created;

    options.words = false;
    if (settings_create(&options, &created, NULL) != COLANDER_OK)
        return NULL;
    created->adds_words_later = true;
    return created;
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
 * up to the lists of columns, and how many paths each list has. They are
 * followed by the paths, each with its zero byte, and by the checksum of
 * everything. */
#define FIXED_SIZE_MIN 64 /* of version 1 */
#define FIXED_SIZE 100

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
    for (size_t i = 0; i < OPTION_LISTS; i++, at += 8)
        bytes_put_le(at, option_list_count(options, i), 8);
    colander_buffer_clear(record);
    code = colander_buffer_append(record, fixed, sizeof(fixed), err);
    for (size_t i = 0; i < OPTION_LISTS; i++) {
        const char *const *paths = option_list_paths(options, i);

        for (size_t k = 0;
             k < option_list_count(options, i) && code == COLANDER_OK; k++)
            code = colander_buffer_append(record, paths[k],
                                          strlen(paths[k]) + 1, err);
    }
    sum = XXH3_64bits(record->data, record->size);
    if (code == COLANDER_OK)
        code = colander_buffer_append(record, &sum, sizeof(sum), err);
    return code;
}

/* Returns how many lists of columns a version has. */
static size_t
lists_in_version(uint64_t version)
{
    return version >= SETTINGS_VERSION_ORDERED        ? OPTION_LISTS
           : version >= SETTINGS_VERSION_WORD_COLUMNS ? 2
                                                      : 1;
}

/* Sets the lists of columns, which are the rest of a record: how many each of
 * them has, and then their zero-terminated texts. `paths` has room for all. */
static bool
take_lists(const char *at, const char *end, size_t list_count,
           const char **paths, struct colander_filter_options *options)
{
    const uint8_t *counts = (const uint8_t *)at;

    if (end - at < (ptrdiff_t)(8 * list_count))
        return false;
    at += 8 * list_count;
    for (size_t i = 0; i < list_count; i++, counts += 8) {
        const uint64_t count = bytes_get_le64(counts);

        if (count > FILTER_PATHS_MAX)
            return false;
        option_list_set(options, i, paths, count);
        for (size_t k = 0; k < count; k++) {
            const char *zero = memchr(at, '\0', (size_t)(end - at));

            if (zero == NULL)
                return false;
            *paths++ = at;
            at = zero + 1;
        }
    }
    return at == end;
}

enum colander_code
settings_decode(struct colander_slice record, struct settings **settings,
                struct colander_error *err)
{
    const char *paths[OPTION_LISTS * FILTER_PATHS_MAX];
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
    if (!take_lists((const char *)at, end, lists_in_version(version), paths,
                    &options))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options is damaged");
    code = settings_create(&options, settings, err);
    if (code == COLANDER_INVALID)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options has invalid "
                             "options");
    return code;
}
