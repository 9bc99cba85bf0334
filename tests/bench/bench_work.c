/*
 * Work for peers: rows as a file of JSON lines, and questions about them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_work.h"
#include "bench_data.h"
#include "bench_lines.h"
#include "bench_text_rows.h"
#include "bench_tweets.h"

#include <inttypes.h>
#include <stdlib.h>

#define WORD_BYTES                                                             \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define LATER_MIN 20
#define LATER_MAX 10000
#define LATER_SHARE 100 /* later rows are one hundredth */
#define NUMBER_SHIFT 24 /* of random bits: numbers have 40 */
#define NEAR_STEP 10    /* from row to row, and what is added */
#define NEAR_NOISE 1000

static struct bench_work *
create(const char *directory, char *name)
{
    struct bench_work *work = bench_allocate(1, sizeof(*work));

    work->name = name;
    (void)snprintf(work->lines_path, sizeof(work->lines_path), "%s/%s.jsonl",
                   directory, name);
    (void)snprintf(work->later_path, sizeof(work->later_path),
                   "%s/%s-later.jsonl", directory, name);
    return work;
}

int64_t
bench_work_key(const struct bench_work *work, struct colander_slice line)
{
    return strtoll((const char *)line.data + work->key_at, NULL, 10);
}

/* ---------------------------------------------------------- later rows --- */

static uint64_t
count_later(const struct bench_work *work)
{
    const uint64_t share = work->row_count / LATER_SHARE;
    const uint64_t count = share > LATER_MAX ? LATER_MAX : share;

    if (work->row_count < LATER_MIN)
        bench_fail(work->name, "it has less than 20 rows");
    if (count < LATER_MIN)
        return LATER_MIN;
    return count - count % BENCH_WORK_ADDED_ROWS;
}

/* Writes the first rows again, under keys above all others, with one more
 * column after the key. Returns the bytes of all rows. */
static uint64_t
write_later(struct bench_work *work)
{
    const uint64_t values = work->later_count / BENCH_WORK_ADDED_ROWS;
    struct colander_slice lines = bench_map(work->lines_path);
    struct colander_slice rest = lines;
    struct colander_slice line;
    FILE *later = bench_open_new(work->later_path);

    for (uint64_t i = 0; i < work->later_count; i++) {
        const char *comma;

        (void)bench_next_line(&rest, &line);
        comma = memchr(line.data, ',', line.size);
        if (comma == NULL)
            bench_fail(work->name, "a row has no column");
        (void)fprintf(
            later,
            "{\"%s\":%" PRIu64 ",\"" BENCH_WORK_ADDED_COLUMN
            "\":\"" BENCH_WORK_ADDED_VALUE "\"%.*s\n",
            work->key_name, INT64_MAX - work->later_count + i, i % values,
            (int)((const char *)line.data + line.size - comma), comma);
    }
    bench_close_written(later, work->later_path);
    bench_unmap(lines);
    return lines.size;
}

static void
add_later(struct bench_work *work)
{
    work->later_count = count_later(work);
    work->lines_size = write_later(work);
}

static void
finish(struct bench_work *work)
{
    add_later(work);
    bench_work_pick(work);
}

/* -------------------------------------------------------- made and read --- */

struct bench_work *
bench_work_make(const char *directory, uint64_t rows)
{
    struct bench_work *work = create(directory, bench_copy("made"));

    work->key_name = "id";
    work->key_at = BENCH_TWEET_ID_AT;
    work->row_count = rows;
    work->chosen = bench_copy("user");
    work->other = bench_copy("time");
    bench_tweets_write(work->lines_path, 0, rows);
    finish(work);
    return work;
}

struct bench_work *
bench_work_make_texts(const char *directory, uint64_t rows)
{
    struct bench_work *work = create(directory, bench_copy("texts"));
    struct bench_text_rows *texts = bench_text_rows_create(rows);
    FILE *file = bench_open_new(work->lines_path);
    char text[BENCH_TEXT_SIZE];

    work->about = BENCH_WORK_OF_TEXTS;
    work->key_name = "id";
    work->key_at = strlen("{\"id\":");
    work->row_count = rows;
    for (uint64_t i = 0; i < rows; i++) {
        bench_text_make(texts, i, text);
        (void)fprintf(file,
                      "{\"id\":%" PRIu64 ",\"user\":\"user%" PRIu64
                      "\",\"" BENCH_WORK_TEXT_COLUMN "\":\"%s\",\"likes\":"
                      "%" PRIu64 ",\"lang\":\"%s\"}\n",
                      UINT64_C(1000000000) + i, bench_mix(i) % 50000, text,
                      bench_mix(i) % 500, i % 4 == 0 ? "fr" : "en");
    }
    bench_close_written(file, work->lines_path);
    add_later(work);
    bench_text_rows_destroy(texts);
    bench_work_pick_texts(work);
    return work;
}

struct bench_work *
bench_work_make_numbers(const char *directory, uint64_t rows)
{
    static const char *const paths[] = {"user", "spread", "near", "text"};
    struct bench_work *work = create(directory, bench_copy("numbers"));
    int64_t *spread = bench_allocate(rows, sizeof(*spread));
    int64_t *near = bench_allocate(rows, sizeof(*near));
    FILE *file = bench_open_new(work->lines_path);

    work->about = BENCH_WORK_OF_NUMBERS;
    work->key_name = "id";
    work->key_at = strlen("{\"id\":");
    work->row_count = rows;
    work->chosen = bench_copy(paths[1]);
    work->other = bench_copy(paths[2]);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        work->paths[work->path_count++] = bench_copy(paths[i]);
    for (uint64_t i = 0; i < rows; i++) {
        spread[i] = (int64_t)(bench_mix(i) >> NUMBER_SHIFT);
        near[i] = (int64_t)(i * NEAR_STEP + bench_mix(~i) % NEAR_NOISE);
        (void)fprintf(file,
                      "{\"id\":%" PRIu64 ",\"user\":\"user%" PRIu64
                      "\",\"spread\":%" PRId64 ",\"near\":%" PRId64
                      ",\"text\":\"%016" PRIx64 "%016" PRIx64 "\"}\n",
                      UINT64_C(1000000000) + i, bench_mix(i) % 50000, spread[i],
                      near[i], bench_mix(i * 3), bench_mix(i * 5));
    }
    bench_close_written(file, work->lines_path);
    add_later(work);
    bench_work_pick_ranges(work, BENCH_WORK_SPREAD, work->chosen, spread);
    bench_work_pick_ranges(work, BENCH_WORK_NEAR, work->other, near);
    bench_work_pick_added(work);
    free(spread);
    free(near);
    return work;
}

struct writing {
    struct bench_work *work;
    FILE *file;
    struct colander_buffer key;
    struct colander_buffer json;
};

/* Writes a row from a file under its number. */
static void
write_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct writing *writing = context;
    const struct colander_value number =
        colander_integer((int64_t)writing->work->row_count++);

    (void)key;
    colander_buffer_clear(&writing->key);
    colander_buffer_clear(&writing->json);
    bench_check(colander_key_encode(&number, 1, &writing->key, &bench_error));
    bench_check(colander_json_append_row(&writing->json,
                                         colander_buffer_slice(&writing->key),
                                         row, &bench_error));
    bench_append(&writing->json, "\n", 1);
    (void)fwrite(writing->json.data, 1, writing->json.size, writing->file);
}

/* Returns the name of a file up to its first dot, suitable for a link. */
static char *
word_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *word = bench_copy(slash == NULL ? path : slash + 1);

    word[strcspn(word, ".")] = '\0';
    for (char *at = word; *at != '\0'; at++) {
        if (strchr(WORD_BYTES, *at) == NULL)
            *at = '-';
    }
    return word;
}

struct bench_work *
bench_work_read(const struct bench_options *options, const char *path)
{
    struct bench_work *work = create(options->directory, word_of(path));
    struct writing writing = {
        .work = work,
        .file = bench_open_new(work->lines_path),
    };

    work->key_name = "_key";
    work->key_at = strlen("{\"_key\":");
    bench_data_read(options, path, write_row, &writing);
    bench_close_written(writing.file, work->lines_path);
    colander_buffer_release(&writing.key);
    colander_buffer_release(&writing.json);
    finish(work);
    return work;
}

void
bench_work_release(struct bench_work *work)
{
    for (unsigned kind = 0; kind < BENCH_WORK_KINDS; kind++) {
        for (size_t i = 0; i < work->kinds[kind].count; i++) {
            free(work->kinds[kind].questions[i].value);
            free(work->kinds[kind].questions[i].to);
        }
    }
    for (size_t i = 0; i < work->path_count; i++)
        free(work->paths[i]);
    free(work->name);
    free(work->chosen);
    free(work->other);
    (void)remove(work->lines_path);
    (void)remove(work->later_path);
    free(work);
}
