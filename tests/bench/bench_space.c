/*
 * space: what value filters take on disk, of the rows as JSON lines and as SST
 * files, part by part. Of generated rows or of those in files (--data, all
 * together one family, keys are the record numbers), default options, with
 * different rows per segment.
 *
 * Without --data also of the smallest entries that make sense, as the paper
 * has them: 16 bytes of key and one value, 29 bytes as stored, in SST files of
 * 2 MB.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_data.h"
#include "bench_store.h"

#include <inttypes.h>

#define BATCH 1000
#define HASH_BITS 32 /* the default */
#define SETTINGS_MAX 12

/* Entries of the paper, and what filters over them should not exceed. */
#define ENTRY_SIZE 29
#define PAPER_RATIO 0.123

struct setting {
    uint32_t rows_per_segment;
    uint32_t hash_bits;
    struct colander_filter_stats stats;
};

/* One family under measurement. */
struct experiment {
    struct bench_store store;
    struct colander_batch *batch;
    struct colander_buffer key;
    struct colander_buffer json;
    uint64_t rows;
    uint64_t json_size;
    struct setting settings[SETTINGS_MAX];
    size_t setting_count;
};

/* ------------------------------------------------------------- loading --- */

static void
begin(struct experiment *it, const char *path,
      const struct colander_options *options)
{
    struct colander_error err;

    memset(it, 0, sizeof(*it));
    bench_store_open(&it->store, path, options, NULL);
    bench_check(colander_batch_create(it->store.store, &it->batch, &err), &err);
}

static void
commit(struct experiment *it)
{
    struct colander_error err;

    bench_check(colander_batch_commit(it->batch, COLANDER_NO_SYNC, &err), &err);
    if (it->rows % (100ull * BATCH) == 0)
        bench_progress("loading: %.1f M rows", (double)it->rows / 1e6);
}

static void
put(struct experiment *it, struct colander_slice key, struct colander_slice row)
{
    struct colander_error err;

    bench_check(colander_batch_put(it->batch, it->store.family, key, row, &err),
                &err);
    colander_buffer_clear(&it->json);
    bench_check(colander_json_append_row(&it->json, key, row, &err), &err);
    it->json_size += it->json.size + 1;
    it->rows++;
    if (it->rows % BATCH == 0)
        commit(it);
}

static void
put_numbered(void *context, struct colander_slice row)
{
    struct experiment *it = context;
    struct colander_value part = colander_integer((int64_t)it->rows);
    struct colander_error err;

    bench_check(colander_key_encode(&part, 1, &it->key, &err), &err);
    put(it, colander_buffer_slice(&it->key), row);
}

static void
put_generated(struct experiment *it, uint64_t rows)
{
    struct bench_maker maker;

    bench_maker_init(&maker, rows);
    for (uint64_t i = 0; i < rows; i++) {
        struct colander_slice key;
        struct colander_slice row;

        bench_make(&maker, i, &key, &row);
        put(it, key, row);
    }
    bench_maker_release(&maker);
}

static void
finish(struct experiment *it)
{
    commit(it);
    bench_store_settle(&it->store);
}

static void
end(struct experiment *it)
{
    colander_batch_destroy(it->batch);
    colander_buffer_release(&it->key);
    colander_buffer_release(&it->json);
    bench_store_close(&it->store);
}

static struct setting *
measure(struct experiment *it, uint32_t rows_per_segment, uint32_t hash_bits)
{
    struct setting *setting = &it->settings[it->setting_count++];

    bench_progress("making filters of %s rows per segment, %u bits",
                   bench_segment_name(rows_per_segment), hash_bits);
    bench_store_refilter(&it->store, rows_per_segment, hash_bits);
    setting->rows_per_segment = rows_per_segment;
    setting->hash_bits = hash_bits;
    setting->stats = bench_store_stats(&it->store);
    bench_progress("%s", "");
    return setting;
}

/* -------------------------------------------------------------- telling --- */

static double
over_sst(const struct setting *setting)
{
    return (double)setting->stats.filter_size / (double)setting->stats.sst_size;
}

static double
over_json(const struct experiment *it, const struct setting *setting)
{
    return (double)setting->stats.filter_size / (double)it->json_size;
}

static void
print_part(const struct experiment *it, const struct setting *setting,
           uint64_t size)
{
    printf("  %5.1f %5.1f", 100. * (double)size / (double)it->json_size,
           100. * (double)size / (double)setting->stats.sst_size);
}

static void
print_table(const struct experiment *it)
{
    const struct colander_filter_stats *first = &it->settings[0].stats;

    printf("  %" PRIu64 " rows, %" PRIu64 " bytes of JSON lines, %" PRIu64
           " bytes in %" PRIu64 " SST files, %.1f different "
           "values a row\n"
           "  rows per               filters, in %% of JSON and of SST\n"
           "  segment  bits      all         locator      presence       "
           "keys         zones\n",
           it->rows, it->json_size, first->sst_size, first->file_count,
           (double)first->value_count / (double)it->rows);
    for (size_t i = 0; i < it->setting_count; i++) {
        const struct setting *setting = &it->settings[i];
        const struct colander_filter_stats *stats = &setting->stats;

        printf("  %-8s %4u", bench_segment_name(setting->rows_per_segment),
               setting->hash_bits);
        print_part(it, setting, stats->filter_size);
        print_part(it, setting, stats->locator_size);
        print_part(it, setting, stats->presence_size);
        print_part(it, setting, stats->keys_size);
        print_part(it, setting, stats->zones_size);
        printf("\n");
    }
}

static void
print_json_settings(const struct experiment *it)
{
    printf(",\"settings\":[");
    for (size_t i = 0; i < it->setting_count; i++) {
        const struct setting *setting = &it->settings[i];
        const struct colander_filter_stats *stats = &setting->stats;

        printf("%s{\"rows_per_segment\":\"%s\",\"hash_bits\":%u,"
               "\"over_json\":%.4f,\"over_sst\":%.4f,\"filter_size\":%" PRIu64
               ",\"locator_size\":%" PRIu64 ",\"presence_size\":%" PRIu64
               ",\"keys_size\":%" PRIu64 ",\"zones_size\":%" PRIu64 "}",
               i == 0 ? "" : ",", bench_segment_name(setting->rows_per_segment),
               setting->hash_bits, over_json(it, setting), over_sst(setting),
               stats->filter_size, stats->locator_size, stats->presence_size,
               stats->keys_size, stats->zones_size);
    }
    printf("]");
}

/* --------------------------------------------------- the paper's entries ---
 */

struct paper {
    double by_default;     /* filters over SST */
    double compact;        /* the same, for the first setting that is enough */
    struct setting choice; /* that setting */
};

/* The n-th entry: key and row have ENTRY_SIZE bytes together. */
static void
put_entry(struct experiment *it, struct colander_row_builder *builder,
          uint64_t number)
{
    uint64_t x = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct colander_slice row;
    struct colander_error err;
    char text[32];
    size_t size;

    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    (void)snprintf(text, sizeof(text), "%016" PRIx64, x);
    bench_check(colander_key_text(text, &it->key, &err), &err);
    /* One byte for the map, two for the name, one before the string. */
    size = ENTRY_SIZE - 4 - it->key.size;
    for (size_t i = 0; i < size; i++, x /= 36)
        text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[x % 36];
    colander_row_builder_add(builder, "v",
                             colander_string(colander_slice_of(text, size)));
    bench_check(colander_row_builder_finish(builder, &row, &err), &err);
    if (it->key.size + row.size != ENTRY_SIZE)
        bench_fail("space", "an entry has another size than in the paper");
    put(it, colander_buffer_slice(&it->key), row);
}

static struct paper
measure_paper(const struct bench_options *options, uint64_t rows,
              enum colander_compression compression)
{
    static const uint32_t compact[][2] = {
        {64, 32}, {64, 24}, {64, 20}, {64, 16}, {256, 24}, {256, 20}, {0, 32}};
    const char *path = bench_make_directory(options);
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_options how;
    struct experiment it;
    struct paper paper;

    if (builder == NULL)
        bench_fail("space", "no memory");
    colander_options_init(&how);
    how.sst_size = 2 << 20;
    how.compression = compression;
    begin(&it, path, &how);
    for (uint64_t i = 0; i < rows; i++)
        put_entry(&it, builder, i);
    finish(&it);
    paper.by_default = over_sst(measure(&it, COLANDER_SEGMENT_AUTO, HASH_BITS));
    paper.compact = 0;
    for (size_t i = 0; i < sizeof(compact) / sizeof(compact[0]); i++) {
        struct setting *setting = measure(&it, compact[i][0], compact[i][1]);

        if (paper.compact > 0 && paper.compact <= PAPER_RATIO)
            continue;
        paper.compact = over_sst(setting);
        paper.choice = *setting;
    }
    printf("space: entries of %d bytes in SST files of 2 MB, %s\n", ENTRY_SIZE,
           compression == COLANDER_COMPRESSION_NONE ? "not compressed"
                                                    : "compressed (LZ4)");
    print_table(&it);
    colander_row_builder_destroy(builder);
    end(&it);
    bench_remove_directory(path);
    return paper;
}

static void
print_json_paper(const char *suffix, const struct paper *paper)
{
    printf(",\"paper_default_over_sst%s\":%.4f,\"paper_compact_over_sst%s\""
           ":%.4f,\"paper_compact%s\":{\"rows_per_segment\":%u,"
           "\"hash_bits\":%u}",
           suffix, paper->by_default, suffix, paper->compact, suffix,
           paper->choice.rows_per_segment, paper->choice.hash_bits);
}

/* ---------------------------------------------------------- experiment --- */

static void
measure_rows(struct experiment *it, const struct bench_options *options,
             uint64_t rows, const char *path)
{
    begin(it, path, NULL);
    for (size_t i = 0; i < options->file_count; i++)
        bench_data_read(options->files[i], put_numbered, it);
    if (options->file_count == 0)
        put_generated(it, rows);
    if (it->rows == 0)
        bench_fail("space", "there are no rows");
    finish(it);
    (void)measure(it, COLANDER_SEGMENT_AUTO, HASH_BITS);
    (void)measure(it, 1, HASH_BITS);
    (void)measure(it, 16, HASH_BITS);
    (void)measure(it, 64, HASH_BITS);
    end(it);
}

int
bench_space(const struct bench_options *options)
{
    uint64_t rows =
        bench_round_rows(options->rows == 0 ? 1000000 : options->rows);
    const char *path = bench_make_directory(options);
    struct experiment it;
    struct paper plain = {0};
    struct paper compressed = {0};

    measure_rows(&it, options, rows, path);
    bench_remove_directory(path);
    printf("space: %s\n",
           options->file_count == 0 ? "generated rows" : "rows of");
    for (size_t i = 0; i < options->file_count; i++)
        printf("    %s\n", options->files[i]);
    print_table(&it);
    if (options->file_count == 0) {
        plain = measure_paper(options, rows, COLANDER_COMPRESSION_NONE);
        compressed = measure_paper(options, rows, COLANDER_COMPRESSION_LZ4);
    }
    if (!options->is_json)
        return 0;
    printf("{\"experiment\":\"space\",\"rows\":%" PRIu64
           ",\"over_json\":%.4f,\"over_sst\":%.4f,\"json_size\":%" PRIu64
           ",\"sst_size\":%" PRIu64,
           it.rows, over_json(&it, &it.settings[0]), over_sst(&it.settings[0]),
           it.json_size, it.settings[0].stats.sst_size);
    if (options->file_count == 0) {
        print_json_paper("", &plain);
        print_json_paper("_lz4", &compressed);
    }
    print_json_settings(&it);
    printf("}\n");
    return 0;
}
