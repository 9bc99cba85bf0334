/*
 * text: words, phrases, pieces and patterns in texts, in a compacted and warm
 * store, compared with a find by a value, a scan, and SQLite's FTS5
 * (bench_sqlite_texts.h).
 *
 * The texts are those of bench_text_rows.h, the other columns like those of
 * tweets. With --data, real rows follow (bench_text_data.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_sqlite_texts.h"
#include "bench_store.h"
#include "bench_text_data.h"
#include "bench_text_rows.h"
#include "bench_turns.h"

#include <inttypes.h>
#include <stdlib.h>

#define TEXT_SIZE BENCH_TEXT_SIZE
#define GROUP BENCH_TEXT_GROUP /* rows that have a value, too */

/* The time of a way in a round, in seconds. */
#define WAY_TIME_MAX 1.0

enum way {
    FIND,
    WORD,
    WORD_ANY,
    ABSENT,
    AND,
    PHRASE,
    BEGINNING,
    PIECE,
    PATTERN,
    PATTERN_WORD,
    COMMON,
    SHORT_PIECE,
    EVERYTHING,
    SCAN,
    FTS_WORD,
    FTS_ABSENT,
    FTS_AND,
    FTS_PHRASE,
    WAYS
};

static const struct way_of {
    const char *name;
    uint64_t questions; /* different ones */
} ways[WAYS] = {
    [FIND] = {"find", 400},
    [WORD] = {"word", 400},
    [WORD_ANY] = {"word_any", 400},
    [ABSENT] = {"absent_word", 400},
    [AND] = {"and", 1},
    [PHRASE] = {"phrase", 400},
    [BEGINNING] = {"beginning", 400},
    [PIECE] = {"piece", 20},
    [PATTERN] = {"regex", 20},
    [PATTERN_WORD] = {"regex_with_a_word", 20},
    [COMMON] = {"word_in_all_rows", 1},
    [SHORT_PIECE] = {"piece_of_two", 1},
    [EVERYTHING] = {"regex_of_anything", 1},
    [SCAN] = {"scan", 1},
    [FTS_WORD] = {"fts5_word", 400},
    [FTS_ABSENT] = {"fts5_absent_word", 400},
    [FTS_AND] = {"fts5_and", 1},
    [FTS_PHRASE] = {"fts5_phrase", 400},
};

/* Also shown in milliseconds. */
static const enum way slow_ways[] = {AND, PIECE, PATTERN};

struct experiment {
    uint64_t rows;
    struct bench_store store;
    struct bench_sqlite_texts *sqlite; /* NULL: it is not there */
    struct bench_text_rows *texts;
    uint64_t json_size;
    double load_times[2]; /* without words and with them, of all rounds */
    struct colander_filter_stats plain; /* without them */
    struct bench_turns turns;
};

/* ----------------------------------------------------------- the rows --- */

/* Adds columns as tweets have them. */
static void
add_others(struct colander_row_builder *builder, uint64_t number)
{
    const uint64_t user = bench_mix(number) % 50000;
    char text[100];

    (void)sprintf(text, "2026-%02u-%02uT%02u:%02u:%02uZ",
                  (unsigned)(number / 200000 % 12 + 1),
                  (unsigned)(number / 8000 % 28 + 1),
                  (unsigned)(number / 400 % 24), (unsigned)(number / 7 % 60),
                  (unsigned)(bench_mix(number) % 60));
    colander_row_builder_add(builder, "created_at", colander_text(text));
    (void)sprintf(text, "%" PRIu64, UINT64_C(488435752574128128) + number);
    colander_row_builder_add(builder, "id_str", colander_text(text));
    colander_row_builder_add(
        builder, "source",
        colander_text(number % 3 == 0 ? "<a href=\"http://twitter.com\">web</a>"
                                      : "<a href=\"http://twitter.com/"
                                        "download/android\">Android</a>"));
    colander_row_builder_begin_map(builder, "user");
    (void)sprintf(text, "User Number%" PRIu64, user);
    colander_row_builder_add(builder, "name", colander_text(text));
    (void)sprintf(text, "user%" PRIu64, user);
    colander_row_builder_add(builder, "screen_name", colander_text(text));
    colander_row_builder_add(builder, "followers",
                             colander_integer((int64_t)(user * 7 % 1000)));
    colander_row_builder_add(builder, "verified",
                             colander_boolean(user % 100 == 0));
    colander_row_builder_end(builder);
    colander_row_builder_add(builder, "lang",
                             colander_text(number % 4 == 0 ? "fr" : "en"));
    colander_row_builder_add(builder, "likes",
                             colander_integer((int64_t)(user % 500)));
}

static void
make_rows(struct experiment *it, bench_take_keyed *take, void *context)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    char text[TEXT_SIZE];

    if (builder == NULL)
        bench_fail("rows", "no memory");
    for (uint64_t i = 0; i < it->rows; i++) {
        const struct colander_value part = bench_made_key(i);

        bench_text_make(it->texts, i, text);
        colander_buffer_clear(&key);
        bench_check(colander_key_encode(&part, 1, &key, &bench_error));
        add_others(builder, i);
        colander_row_builder_add(builder, "text", colander_text(text));
        colander_row_builder_add(
            builder, "group5",
            colander_integer((int64_t)bench_text_group(it->texts, i) +
                             1000000000));
        bench_check(colander_row_builder_finish(builder, &row, &bench_error));
        take(context, colander_buffer_slice(&key), row);
    }
    colander_row_builder_destroy(builder);
    colander_buffer_release(&key);
}

/* ------------------------------------------------------------- loading --- */

static void
load_round(struct experiment *it, const char *path, unsigned round)
{
    struct colander_filter_options filters;
    char below[4200];
    double start;

    colander_filter_options_init(&filters);
    filters.words = round % 2 == 1;
    (void)snprintf(below, sizeof(below), "%s/store%u", path, round);
    bench_store_open(&it->store, below, NULL, &filters);
    start = bench_now();
    make_rows(it, bench_store_put, &it->store);
    bench_store_settle(&it->store);
    it->load_times[round % 2] += bench_now() - start;
    if (round % 2 == 0)
        it->plain = bench_store_stats(&it->store);
}

#ifdef BENCH_SQLITE
static void
add_to_sqlite(void *context, struct colander_slice key,
              struct colander_slice row)
{
    struct experiment *it = context;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value text;
    char words[TEXT_SIZE];
    size_t count;
    bool found;

    bench_check(
        colander_key_decode(key, parts, &count, &scratch, &bench_error));
    bench_check(colander_json_append_row(&json, key, row, &bench_error));
    bench_check(colander_row_get(row, "text", &text, &found, &bench_error));
    (void)snprintf(words, sizeof(words), "%.*s", (int)text.bytes.size,
                   (const char *)text.bytes.data);
    bench_sqlite_texts_add(it->sqlite, parts[0].integer,
                           colander_buffer_slice(&json), words);
    colander_buffer_release(&json);
    colander_buffer_release(&scratch);
}

static void
load_sqlite(struct experiment *it, const char *path)
{
    bench_progress("loading SQLite");
    it->sqlite = bench_sqlite_texts_open(path);
    make_rows(it, add_to_sqlite, it);
    bench_sqlite_texts_settle(it->sqlite);
}

static void
close_sqlite(struct experiment *it)
{
    bench_sqlite_texts_close(it->sqlite);
}

static uint64_t
ask_sqlite(const struct experiment *it, const char *query)
{
    return bench_sqlite_texts_ask(it->sqlite, query);
}
#else
static void
load_sqlite(struct experiment *it, const char *path)
{
    (void)it;
    (void)path;
}

static void
close_sqlite(struct experiment *it)
{
    (void)it;
}

static uint64_t
ask_sqlite(const struct experiment *it, const char *query)
{
    (void)it;
    (void)query;
    return 0;
}
#endif

static void
add_size(void *context, struct colander_slice key, struct colander_slice row)
{
    struct experiment *it = context;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    bench_check(colander_json_append_row(&json, key, row, &bench_error));
    it->json_size += json.size + 1;
    colander_buffer_release(&json);
}

/* Loads the store without words and with them, in turns. The last one stays. */
static void
load(struct experiment *it, unsigned rounds, const char *path)
{
    for (unsigned i = 0; i < 2 * rounds; i++) {
        if (i > 0)
            bench_store_close(&it->store);
        load_round(it, path, i);
    }
    make_rows(it, add_size, it);
    load_sqlite(it, path);
}

/* ------------------------------------------------------------- asking --- */

static struct colander_predicate *
make_where(enum way way, uint64_t group)
{
    enum colander_search how = COLANDER_SEARCH_WORDS;
    const char *path = "text";
    char text[100];

    switch (way) {
    case FIND:
        return colander_where("group5", COLANDER_EQ,
                              colander_integer((int64_t)group + 1000000000),
                              &bench_error);
    case WORD:
    case WORD_ANY:
        path = way == WORD ? "text" : NULL;
        (void)sprintf(text, BENCH_TEXT_WORD, group);
        break;
    case ABSENT:
        (void)sprintf(text, BENCH_TEXT_ABSENT, group);
        break;
    case AND:
        (void)strcpy(text, "alpha beta");
        break;
    case PHRASE:
        (void)sprintf(text, BENCH_TEXT_PHRASE, group);
        how = COLANDER_SEARCH_PHRASE;
        break;
    case BEGINNING:
        (void)sprintf(text, BENCH_TEXT_WORD "*", group);
        break;
    case PIECE:
        (void)sprintf(text, BENCH_TEXT_PIECE, group);
        how = COLANDER_SEARCH_PIECE;
        break;
    case PATTERN:
        (void)sprintf(text, "e%06" PRIu64 " t", group);
        how = COLANDER_SEARCH_PATTERN;
        break;
    case PATTERN_WORD:
        (void)sprintf(text, ", Five%06" PRIu64 " ta[hi]l ", group);
        how = COLANDER_SEARCH_PATTERN;
        break;
    case COMMON:
        (void)strcpy(text, "every");
        break;
    case SHORT_PIECE:
        (void)strcpy(text, "zq");
        how = COLANDER_SEARCH_PIECE;
        break;
    case EVERYTHING:
        (void)strcpy(text, ".*");
        how = COLANDER_SEARCH_PATTERN;
        break;
    default:
        return bench_sound(colander_not(
            bench_sound(colander_where("group5", COLANDER_EQ,
                                       colander_integer(-1), &bench_error)),
            &bench_error));
    }
    return colander_where_search(path, how, colander_slice_text(text), 0, NULL,
                                 &bench_error);
}

static uint64_t
ask_fts(const struct experiment *it, enum way way, uint64_t group)
{
    char text[100];

    if (way == FTS_AND)
        (void)strcpy(text, "alpha beta");
    else
        (void)sprintf(text,
                      way == FTS_WORD     ? BENCH_TEXT_WORD
                      : way == FTS_ABSENT ? BENCH_TEXT_ABSENT
                                          : "\"" BENCH_TEXT_PHRASE "\"",
                      group);
    return ask_sqlite(it, text);
}

static void
touch(void *context, struct colander_slice key, struct colander_slice row)
{
    uint64_t *sum = context;

    (void)key;
    for (size_t i = 0; i < row.size; i += 64)
        *sum += row.data[i];
}

static uint64_t
expected_of(const struct experiment *it, enum way way, uint64_t found)
{
    switch (way) {
    case ABSENT:
    case FTS_ABSENT:
        return 0;
    case COMMON:
    case EVERYTHING:
    case SCAN:
        return it->rows;
    case SHORT_PIECE:
        return found;
    default:
        return GROUP;
    }
}

static uint64_t
ask(struct experiment *it, enum way way, uint64_t question)
{
    const uint64_t group =
        bench_mix(question) % (it->rows / GROUP); /* spread over all */
    struct colander_predicate *where;
    uint64_t found;
    uint64_t sum = 0;

    if (way >= FTS_WORD)
        return ask_fts(it, way, group);
    where = bench_sound(make_where(way, group));
    found = bench_store_find(&it->store, where, touch, &sum, NULL);
    colander_predicate_destroy(where);
    return found;
}

/* Asks each question once to warm, and all again until time is up. */
static void
take_turn(void *context, unsigned number, double times[BENCH_TIMES])
{
    struct experiment *it = context;
    const enum way way = number;
    const uint64_t count = ways[way].questions;
    double start = bench_now();
    uint64_t asked = 0;

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t found = ask(it, way, i);

        if (found != expected_of(it, way, found))
            bench_fail(ways[way].name, "found wrong rows");
        if (bench_now() - start > WAY_TIME_MAX)
            break;
    }
    start = bench_now();
    while (asked < 10 * count && bench_now() - start < WAY_TIME_MAX)
        (void)ask(it, way, asked++ % count);
    times[0] = (bench_now() - start) / (double)asked * 1e6;
}

/* ------------------------------------------------------------- figures --- */

static void
print(struct experiment *it, const struct bench_options *options,
      unsigned count)
{
    struct bench_figures *figures =
        bench_figures_begin(options, "text", it->rows);
    const struct colander_filter_stats stats = bench_store_stats(&it->store);

    bench_figure(figures, 3, bench_turns_ratio(&it->turns, WORD, FIND, 0),
                 "word_over_find");
    bench_figure(figures, 3, bench_turns_ratio(&it->turns, WORD_ANY, FIND, 0),
                 "word_any_over_find");
    bench_figure(figures, 3, bench_turns_ratio(&it->turns, COMMON, SCAN, 0),
                 "word_in_all_rows_over_scan");
    if (it->sqlite != NULL) {
        bench_figure(figures, 3,
                     bench_turns_ratio(&it->turns, WORD, FTS_WORD, 0),
                     "word_over_fts5");
        bench_figure(figures, 3,
                     bench_turns_ratio(&it->turns, PHRASE, FTS_PHRASE, 0),
                     "phrase_over_fts5");
        bench_figure(figures, 3, bench_turns_ratio(&it->turns, AND, FTS_AND, 0),
                     "and_over_fts5");
    }
    bench_figure(figures, 3, it->load_times[1] / it->load_times[0],
                 "load_with_words");
    bench_figure(figures, 4,
                 (double)(stats.locator_size - it->plain.locator_size) /
                     (double)it->json_size,
                 "words_share");
    bench_figure(figures, 4,
                 (double)stats.dictionary_size / (double)it->json_size,
                 "dictionary_share");
    bench_figure(figures, 4,
                 (double)(stats.filter_size - it->plain.filter_size) /
                     (double)it->json_size,
                 "words_and_dictionary_share");
    bench_figure(figures, 3,
                 bench_turns_ratio(&it->turns, SHORT_PIECE, SCAN, 0),
                 "piece_of_two_over_scan");
    bench_figure(figures, 3, bench_turns_ratio(&it->turns, EVERYTHING, SCAN, 0),
                 "regex_of_anything_over_scan");
    bench_figure(figures, 1, (double)it->json_size / (double)it->rows,
                 "row_size");
    for (unsigned way = 0; way < count; way++)
        bench_figure(figures, 1, bench_turns_median(&it->turns, way, 0),
                     "%s_us", ways[way].name);
    for (size_t i = 0; i < sizeof(slow_ways) / sizeof(slow_ways[0]); i++)
        bench_figure(figures, 3,
                     bench_turns_median(&it->turns, slow_ways[i], 0) / 1e3,
                     "%s_ms", ways[slow_ways[i]].name);
    if (options->file_count > 0)
        bench_text_data(options, figures);
    bench_figures_end(figures);
}

void
bench_text(const struct bench_options *options)
{
    struct experiment it = {.rows = bench_round_rows(options, 300000)};
    char *path = bench_make_directory(options);
    unsigned count;

    it.texts = bench_text_rows_create(it.rows);
    load(&it, options->rounds, path);
    count = it.sqlite == NULL ? FTS_WORD : WAYS;
    bench_turns_take(&it.turns, options->rounds, count, take_turn, &it);
    print(&it, options, count);
    bench_turns_release(&it.turns);
    if (it.sqlite != NULL)
        close_sqlite(&it);
    bench_store_close(&it.store);
    bench_text_rows_destroy(it.texts);
    bench_remove_directory(path);
}
