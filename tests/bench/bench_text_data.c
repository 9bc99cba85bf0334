/* See bench_text_data.h. SPDX-License-Identifier: MIT */
#include "bench_text_data.h"
#include "bench_data.h"
#include "bench_store.h"

#include "columns/candidates.h"

#include <inttypes.h>
#include <stdlib.h>

#define WORDS 20         /* that are looked for, in few rows, */
#define SEEN (5 * WORDS) /* of these, in rows spread over all */
#define FEW 50
#define WORD_SIZE_MIN 6 /* of ASCII letters */
#define WORD_SIZE_MAX 20
#define WAY_TIME 0.5 /* seconds for a way */

enum way { WORD, PIECE, PATTERN, WAYS };

static const struct {
    const char *name;
    enum colander_search how;
} ways[WAYS] = {
    [WORD] = {"word", COLANDER_SEARCH_WORDS},
    [PIECE] = {"piece", COLANDER_SEARCH_PIECE},
    [PATTERN] = {"regex", COLANDER_SEARCH_PATTERN},
};

struct data {
    struct bench_store store;
    uint64_t count; /* rows so far */
    uint64_t json_size;
    uint64_t step; /* rows between two of which a word is taken */
    char longest[WORD_SIZE_MAX + 1];
    char words[SEEN][WORD_SIZE_MAX + 1];
    size_t word_count;
    uint64_t expected[WORDS][WAYS];
};

/* ------------------------------------------------------------- loading --- */

static void
see_word(void *context, const struct text_word *word)
{
    struct data *it = context;
    const size_t size = word->folded.size;

    if (size < WORD_SIZE_MIN || size > WORD_SIZE_MAX ||
        size <= strlen(it->longest))
        return;
    for (size_t i = 0; i < size; i++) {
        if (word->folded.data[i] < 'a' || word->folded.data[i] > 'z')
            return;
    }
    memcpy(it->longest, word->folded.data, size);
    it->longest[size] = '\0';
}

static void
see_value(void *context, const struct row_value *value)
{
    if (value->value.type == COLANDER_STRING)
        text_words(value->value.bytes, see_word, context);
}

/* Counts a row, and takes its longest word if it is its turn. */
static void
count_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct data *it = context;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    bench_check(colander_json_append_row(&json, key, row, &bench_error));
    it->json_size += json.size + 1;
    colander_buffer_release(&json);
    it->longest[0] = '\0';
    if (it->step > 0 && it->count % it->step == 0 && it->word_count < SEEN)
        bench_check(row_values(row, see_value, it, &bench_error));
    if (it->longest[0] != '\0')
        (void)strcpy(it->words[it->word_count++], it->longest);
    it->count++;
}

static void
put_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct data *it = context;
    const struct colander_value part = bench_made_key(it->count++);
    struct colander_buffer number = COLANDER_BUFFER_EMPTY;

    (void)key;
    bench_check(colander_key_encode(&part, 1, &number, &bench_error));
    bench_store_put(&it->store, colander_buffer_slice(&number), row);
    colander_buffer_release(&number);
}

static void
read_all(const struct bench_options *options, struct data *it,
         bench_take_keyed *take)
{
    it->count = 0;
    for (size_t i = 0; i < options->file_count; i++)
        bench_data_read(options, options->files[i], take, it);
}

/* Loads the rows in a new store. Returns the seconds. */
static double
load(const struct bench_options *options, struct data *it, const char *path,
     bool words)
{
    struct colander_filter_options filters;
    char below[4200];
    double start;

    colander_filter_options_init(&filters);
    filters.words = words;
    (void)snprintf(below, sizeof(below), "%s/data%d", path, words);
    bench_store_open(&it->store, below, NULL, &filters);
    start = bench_now();
    read_all(options, it, put_row);
    bench_store_settle(&it->store);
    return bench_now() - start;
}

/* -------------------------------------------------------------- asking --- */

static struct colander_predicate *
make_where(const struct data *it, enum way way, size_t word)
{
    const char *text = it->words[word];
    struct colander_slice sought = colander_slice_text(text);
    char pattern[WORD_SIZE_MAX + 1];

    if (way == PIECE)
        sought = colander_slice_of(text + 1, strlen(text) - 2);
    if (way == PATTERN) {
        (void)strcpy(pattern, text);
        pattern[strlen(text) - 3] = '.';
        sought = colander_slice_text(pattern);
    }
    return bench_sound(colander_where_search(NULL, ways[way].how, sought, 0,
                                             NULL, &bench_error));
}

/* Asks for a word, by filters or by a scan. */
static uint64_t
ask(struct data *it, enum way way, size_t word, bool is_scan)
{
    struct colander_predicate *where = make_where(it, way, word);
    uint64_t found;

    if (is_scan)
        where = bench_sound(colander_not(
            bench_sound(colander_not(where, &bench_error)), &bench_error));
    found = bench_store_find(&it->store, where, NULL, NULL, NULL);
    colander_predicate_destroy(where);
    return found;
}

/* Keeps words of few rows. */
static void
keep_rare(struct data *it)
{
    size_t count = 0;

    for (size_t i = 0; i < it->word_count && count < WORDS; i++) {
        if (ask(it, WORD, i, false) <= FEW)
            memmove(it->words[count++], it->words[i], sizeof(it->words[i]));
    }
    it->word_count = count;
    if (count == 0)
        bench_fail("--data", "no word of six letters is in few rows");
}

/* The mean, in microseconds. */
static double
time_way(struct data *it, enum way way, bool is_scan)
{
    double start;
    uint64_t asked = 0;

    for (size_t i = 0; i < it->word_count && !is_scan; i++) {
        if (ask(it, way, i, false) != it->expected[i][way])
            bench_fail(it->words[i], "a scan finds other rows");
    }
    start = bench_now();
    while (bench_now() - start < WAY_TIME)
        (void)ask(it, way, asked++ % it->word_count, is_scan);
    return (bench_now() - start) / (double)asked * 1e6;
}

/* ------------------------------------------------------------- figures --- */

static void
add_figures(struct data *it, struct bench_figures *figures,
            const struct colander_filter_stats *plain, double load_with_words)
{
    const struct colander_filter_stats stats = bench_store_stats(&it->store);
    const double json = (double)it->json_size;

    bench_figures_open(figures, "data", '{');
    bench_figure(figures, 0, (double)it->count, "rows");
    bench_figure(figures, 3, load_with_words, "load_with_words");
    bench_figure(figures, 4,
                 (double)(stats.locator_size - plain->locator_size) / json,
                 "words_share");
    bench_figure(figures, 4, (double)stats.dictionary_size / json,
                 "dictionary_share");
    bench_figure(figures, 4,
                 (double)(stats.filter_size - plain->filter_size) / json,
                 "words_and_dictionary_share");
    for (enum way way = 0; way < WAYS; way++)
        bench_figure(figures, 1, time_way(it, way, false), "%s_us",
                     ways[way].name);
    bench_figure(figures, 1, time_way(it, WORD, true), "scan_us");
    bench_figures_close(figures, '}');
}

void
bench_text_data(const struct bench_options *options,
                struct bench_figures *figures)
{
    struct data *it = bench_allocate(1, sizeof(*it));
    char *path = bench_make_directory(options);
    struct colander_filter_stats plain;
    double seconds[2];

    seconds[0] = load(options, it, path, false);
    plain = bench_store_stats(&it->store);
    bench_store_close(&it->store);
    seconds[1] = load(options, it, path, true);
    it->step = it->count / SEEN + 1;
    read_all(options, it, count_row);
    keep_rare(it);
    for (size_t i = 0; i < it->word_count; i++) {
        for (enum way way = 0; way < WAYS; way++)
            it->expected[i][way] = ask(it, way, i, true);
    }
    add_figures(it, figures, &plain, seconds[1] / seconds[0]);
    bench_store_close(&it->store);
    bench_remove_directory(path);
    free(it);
}
