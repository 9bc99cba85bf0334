/*
 * Work for peers: rows as a file of JSON lines, and questions about them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_work.h"
#include "bench_data.h"
#include "bench_lines.h"
#include "bench_tweets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#define WORD_BYTES                                                             \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define LATER_MIN 20
#define LATER_MAX 10000
#define LATER_SHARE 100 /* later rows are one hundredth */
#define ROWS_OF_VALUE 5 /* of the added column */

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

static void
finish(struct bench_work *work)
{
    struct stat status;

    if (stat(work->lines_path, &status) != 0)
        bench_fail(work->lines_path, strerror(errno));
    work->lines_size = (uint64_t)status.st_size;
    bench_work_pick(work);
}

/* ---------------------------------------------------------- later rows --- */

static void
count_later(struct bench_work *work)
{
    uint64_t count = work->row_count / LATER_SHARE;

    if (work->row_count < LATER_MIN)
        bench_fail(work->name, "it has less than 20 rows");
    if (count < LATER_MIN)
        count = LATER_MIN;
    if (count > LATER_MAX)
        count = LATER_MAX;
    work->later_count = count - count % ROWS_OF_VALUE;
}

static uint64_t
later_values(const struct bench_work *work)
{
    return work->later_count / ROWS_OF_VALUE;
}

/* Writes later row `number`: a line under another key, with one more column
 * after the key. */
static void
write_later(const struct bench_work *work, FILE *file, uint64_t number,
            int64_t key, struct colander_slice line)
{
    const char *text = (const char *)line.data;
    const char *comma = memchr(text, ',', line.size);

    if (comma == NULL)
        bench_fail(work->name, "a row has no column");
    (void)fprintf(file,
                  "{\"%s\":%" PRId64 ",\"" BENCH_WORK_ADDED_COLUMN
                  "\":\"added %" PRIu64 "\"%.*s",
                  work->key_name, key, number % later_values(work),
                  (int)(line.size - (size_t)(comma - text)), comma);
}

static void
add_question(struct bench_work *work, uint64_t value)
{
    struct bench_work_questions *added = &work->kinds[BENCH_WORK_ADDED];
    struct bench_work_question *question = &added->questions[added->count];
    char text[40];

    if (added->count == BENCH_WORK_QUESTIONS_MAX)
        return;
    (void)snprintf(text, sizeof(text), "added %" PRIu64, value);
    question->column = BENCH_WORK_ADDED_COLUMN;
    question->value = bench_copy(text);
    question->expected = ROWS_OF_VALUE;
    added->count++;
}

static void
add_questions(struct bench_work *work)
{
    for (uint64_t i = 0; i < later_values(work); i++)
        add_question(work, i);
}

/* ---------------------------------------------------------------- made --- */

struct bench_work *
bench_work_make(const char *directory, uint64_t rows)
{
    struct bench_work *work = create(directory, bench_copy("made"));
    struct bench_tweets *tweets = bench_tweets_create();
    FILE *later = bench_open_new(work->later_path);

    work->key_name = "id";
    work->key_at = BENCH_TWEET_ID_AT;
    work->row_count = rows;
    work->chosen = bench_copy("user");
    work->other = bench_copy("time");
    bench_tweets_write(work->lines_path, rows);
    count_later(work);
    for (uint64_t i = 0; i < work->later_count; i++) {
        const struct colander_slice line = bench_tweet(tweets, rows + i);

        write_later(work, later, i, bench_work_key(work, line), line);
    }
    bench_close_written(later, work->later_path);
    bench_tweets_destroy(tweets);
    add_questions(work);
    finish(work);
    return work;
}

/* ---------------------------------------------------------------- read --- */

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

/* Writes the first rows again, with other keys and the added column. */
static void
write_first_again(struct bench_work *work)
{
    struct colander_slice lines = bench_map(work->lines_path);
    struct colander_slice rest = lines;
    struct colander_slice line;
    FILE *later = bench_open_new(work->later_path);

    for (uint64_t i = 0; i < work->later_count; i++) {
        (void)bench_next_line(&rest, &line);
        line.size++; /* its end */
        write_later(work, later, i, (int64_t)(work->row_count + i), line);
    }
    bench_close_written(later, work->later_path);
    bench_unmap(lines);
}

/* Returns the name of a file up to its first dot, as a link can have it. */
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
    count_later(work);
    write_first_again(work);
    add_questions(work);
    finish(work);
    return work;
}

void
bench_work_release(struct bench_work *work)
{
    for (unsigned kind = 0; kind < BENCH_WORK_KINDS; kind++) {
        for (size_t i = 0; i < work->kinds[kind].count; i++)
            free(work->kinds[kind].questions[i].value);
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
