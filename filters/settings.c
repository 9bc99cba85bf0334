/*
 * Settings: see settings.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/settings.h"

#include "columns/candidates.h"

#include <stdlib.h>
#include <xxhash.h>

#define SETTINGS_VERSION 1
#define SEGMENT_MAX (1u << 16)
#define HASH_BITS_MIN 16
#define TREE_ORDER_MAX 1024
#define BUDGET_MIN (UINT64_C(1) << 16)

void
colander_filter_options_init(struct colander_filter_options *options)
{
    memset(options, 0, sizeof(*options));
    options->is_on = true;
    options->rows_per_segment = COLANDER_SEGMENT_AUTO;
    options->hash_bits = 32;
    options->fp_rate = 0.01;
    options->tree_order = 8;
    options->memory_budget = UINT64_C(64) << 20;
}

/* -------------------------------------------------------------- making --- */

static enum colander_code
check_sizes(const struct colander_filter_options *options,
            struct colander_error *err)
{
    uint32_t rows = options->rows_per_segment;

    if (rows != COLANDER_SEGMENT_AUTO &&
        (rows > SEGMENT_MAX || (rows & (rows - 1)) != 0))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "rows_per_segment is 0 or a power of two up to "
                             "%u, not %u",
                             SEGMENT_MAX, rows);
    if (options->hash_bits < HASH_BITS_MIN ||
        options->hash_bits > LOCATOR_HASH_BITS)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "hash_bits is %d to %d, not %u", HASH_BITS_MIN,
                             LOCATOR_HASH_BITS, options->hash_bits);
    if (options->memory_budget < BUDGET_MIN)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "memory_budget is at least %llu bytes, not %llu",
                             (unsigned long long)BUDGET_MIN,
                             (unsigned long long)options->memory_budget);
    return COLANDER_OK;
}

static enum colander_code
check_presence(const struct colander_filter_options *options,
               struct colander_error *err)
{
    const uint64_t bits_max =
        (uint64_t)PRESENCE_BLOCKS_MAX * PRESENCE_BLOCK_BITS;

    if (!(options->fp_rate > 1e-9 && options->fp_rate < 1))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "fp_rate is above 1e-9 and below 1, not %g",
                             options->fp_rate);
    if (!(options->bits_per_value >= 0 && options->bits_per_value <= 64))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "bits_per_value is 0 (unused) to 64, not %g",
                             options->bits_per_value);
    if (options->filter_bits > bits_max)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "filter_bits is 0 (unused) to %llu, not %llu",
                             (unsigned long long)bits_max,
                             (unsigned long long)options->filter_bits);
    if (options->hierarchy != COLANDER_HIERARCHY_SLICES &&
        options->hierarchy != COLANDER_HIERARCHY_TREE)
        return COLANDER_FAIL(err, COLANDER_INVALID, "no such hierarchy: %d",
                             (int)options->hierarchy);
    if (options->tree_order < 2 || options->tree_order > TREE_ORDER_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "tree_order is 2 to %d, not %u", TREE_ORDER_MAX,
                             options->tree_order);
    return COLANDER_OK;
}

/* Copies the paths, so that a failure leaves what releasing can free. */
static enum colander_code
copy_paths(const char *const *paths, size_t count,
           struct colander_filter_options *into, struct colander_error *err)
{
    char **copies = calloc(count + 1, sizeof(*copies));

    if (copies == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for filter options");
    into->left_out = (const char *const *)copies;
    for (size_t i = 0; i < count; i++) {
        copies[i] = strdup(paths[i]);
        if (copies[i] == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for filter options");
        into->left_out_count++;
    }
    return COLANDER_OK;
}

static enum colander_code
hash_paths(struct settings *settings, struct colander_error *err)
{
    const struct colander_filter_options *options = &settings->options;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < options->left_out_count && code == COLANDER_OK; i++)
        code = path_hash_of_text(options->left_out[i], &settings->left_out[i],
                                 err);
    settings->left_out_count = (uint32_t)options->left_out_count;
    return code;
}

void
colander_filter_options_release(struct colander_filter_options *options)
{
    for (size_t i = 0; i < options->left_out_count; i++)
        free((char *)options->left_out[i]);
    free((void *)options->left_out);
    options->left_out = NULL;
    options->left_out_count = 0;
}

static enum colander_code
copy_options(const struct colander_filter_options *from,
             struct colander_filter_options *into, struct colander_error *err)
{
    enum colander_code code;

    *into = *from;
    into->left_out = NULL;
    into->left_out_count = 0;
    code = copy_paths(from->left_out, from->left_out_count, into, err);
    if (code != COLANDER_OK)
        colander_filter_options_release(into);
    return code;
}

enum colander_code
settings_create(const struct colander_filter_options *options,
                struct settings **settings, struct colander_error *err)
{
    struct colander_filter_options defaults;
    struct settings *made;
    enum colander_code code;

    *settings = NULL;
    colander_filter_options_init(&defaults);
    if (options == NULL)
        options = &defaults;
    code = check_sizes(options, err);
    if (code == COLANDER_OK)
        code = check_presence(options, err);
    if (code == COLANDER_OK && options->left_out_count > FILTER_LEFT_OUT_MAX)
        code = COLANDER_FAIL(err, COLANDER_LIMIT,
                             "at most %d columns can be left out, not %zu",
                             FILTER_LEFT_OUT_MAX, options->left_out_count);
    if (code != COLANDER_OK)
        return code;
    made = calloc(1, sizeof(*made));
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for filter options");
    atomic_init(&made->reference_count, 1);
    code = copy_options(options, &made->options, err);
    if (code == COLANDER_OK)
        code = hash_paths(made, err);
    if (code != COLANDER_OK) {
        settings_unref(made);
        return code;
    }
    *settings = made;
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

enum colander_code
settings_copy_options(const struct settings *settings,
                      struct colander_filter_options *options,
                      struct colander_error *err)
{
    return copy_options(&settings->options, options, err);
}

struct presence_shape
settings_presence_shape(const struct settings *settings, uint64_t hash_count)
{
    const struct colander_filter_options *options = &settings->options;
    struct presence_shape shape;
    uint64_t bits = PRESENCE_BLOCK_BITS;

    /* powers of two: presences of different files then fit each other */
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

/* The record, but for the paths behind it, each with its zero, and the checksum
 * of all at the end. */
struct settings_record {
    uint32_t version;
    uint32_t is_on;
    uint32_t rows_per_segment;
    uint32_t hash_bits;
    double fp_rate;
    double bits_per_value;
    uint64_t filter_bits;
    uint32_t hierarchy;
    uint32_t tree_order;
    uint64_t memory_budget;
    uint64_t left_out_count;
};

_Static_assert(sizeof(struct settings_record) == 64, "it has no gaps");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "records are little-endian as they are");

enum colander_code
settings_encode(const struct settings *settings, struct colander_buffer *record,
                struct colander_error *err)
{
    const struct colander_filter_options *options = &settings->options;
    const struct settings_record fixed = {
        .version = SETTINGS_VERSION,
        .is_on = options->is_on,
        .rows_per_segment = options->rows_per_segment,
        .hash_bits = options->hash_bits,
        .fp_rate = options->fp_rate,
        .bits_per_value = options->bits_per_value,
        .filter_bits = options->filter_bits,
        .hierarchy = (uint32_t)options->hierarchy,
        .tree_order = options->tree_order,
        .memory_budget = options->memory_budget,
        .left_out_count = options->left_out_count,
    };
    enum colander_code code;
    uint64_t sum;

    colander_buffer_clear(record);
    code = colander_buffer_append(record, &fixed, sizeof(fixed), err);
    for (size_t i = 0; i < options->left_out_count && code == COLANDER_OK; i++)
        code = colander_buffer_append(record, options->left_out[i],
                                      strlen(options->left_out[i]) + 1, err);
    sum = XXH3_64bits(record->data, record->size);
    if (code == COLANDER_OK)
        code = colander_buffer_append(record, &sum, sizeof(sum), err);
    return code;
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
    const char *paths[FILTER_LEFT_OUT_MAX];
    struct colander_filter_options options;
    struct settings_record fixed;
    enum colander_code code;
    uint64_t sum;
    const char *end;

    *settings = NULL;
    if (record.size < sizeof(fixed) + sizeof(sum))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options is cut off");
    end = (const char *)record.data + record.size - sizeof(sum);
    memcpy(&sum, end, sizeof(sum));
    memcpy(&fixed, record.data, sizeof(fixed));
    if (sum != XXH3_64bits(record.data, record.size - sizeof(sum)))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options is damaged");
    if (fixed.version != SETTINGS_VERSION)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "filter options of version %u: this is %d",
                             fixed.version, SETTINGS_VERSION);
    if (fixed.left_out_count > FILTER_LEFT_OUT_MAX ||
        !find_paths((const char *)record.data + sizeof(fixed), end, paths,
                    fixed.left_out_count))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options is damaged");
    memset(&options, 0, sizeof(options));
    options.is_on = fixed.is_on != 0;
    options.rows_per_segment = fixed.rows_per_segment;
    options.hash_bits = fixed.hash_bits;
    options.fp_rate = fixed.fp_rate;
    options.bits_per_value = fixed.bits_per_value;
    options.filter_bits = fixed.filter_bits;
    options.hierarchy = (enum colander_hierarchy)fixed.hierarchy;
    options.tree_order = fixed.tree_order;
    options.memory_budget = fixed.memory_budget;
    options.left_out = paths;
    options.left_out_count = fixed.left_out_count;
    code = settings_create(&options, settings, err);
    if (code == COLANDER_INVALID)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record of filter options has others than "
                             "there are");
    return code;
}
