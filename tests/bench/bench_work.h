/*
 * Work for peers: rows as a file of JSON lines, and questions about them. The
 * answers are known because all rows were read once.
 *
 * A row's key is the number at the start of its line, in a column that has no
 * other use. The columns asked about hold text: for generated rows `user` and
 * `time`; for others those whose values are in a few rows.
 *
 * Life: bench_work_make or bench_work_read -> used -> bench_work_release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "bench.h"

#include <inttypes.h>

#define BENCH_WORK_PATHS_MAX 250
#define BENCH_WORK_QUESTIONS_MAX 200

enum bench_work_kind {
    BENCH_WORK_CHOSEN,        /* the column chosen beforehand = 'x' */
    BENCH_WORK_OTHER,         /* a column that was not chosen = 'x' */
    BENCH_WORK_ANY,           /* any column = 'x', at any depth */
    BENCH_WORK_ABSENT_CHOSEN, /* the same for values that no row has */
    BENCH_WORK_ABSENT_OTHER,
    BENCH_WORK_ABSENT_ANY,
    BENCH_WORK_WORD, /* of texts only: a word of five rows, in any case, */
    BENCH_WORK_PHRASE,
    BENCH_WORK_PIECE,
    BENCH_WORK_ABSENT_WORD,
    BENCH_WORK_SPREAD, /* of numbers only: a range of a hundred rows that lie
                        * anywhere, */
    BENCH_WORK_NEAR,   /* and of rows that lie close together */
    BENCH_WORK_ADDED,  /* the column that only later rows have */
    BENCH_WORK_KINDS
};

enum bench_work_how {
    BENCH_WORK_EQUAL,     /* to a value */
    BENCH_WORK_HAS_WORDS, /* one after the other, whatever their case */
    BENCH_WORK_HAS_PIECE,
    BENCH_WORK_FROM_TO, /* integers, both included */
};

struct bench_work_question {
    enum bench_work_how how;
    const char *column; /* the name of one at the top of the row; NULL: any, at
                         * any depth */
    char *value;        /* text; owned by the work */
    char *to;           /* the end of a range; owned; NULL: there is none */
    uint64_t expected;  /* rows */
};

/* None: the work has none of a kind. */
struct bench_work_questions {
    struct bench_work_question questions[BENCH_WORK_QUESTIONS_MAX];
    size_t count;
};

enum bench_work_about {
    BENCH_WORK_OF_VALUES,
    BENCH_WORK_OF_TEXTS,
    BENCH_WORK_OF_NUMBERS,
};

struct bench_work {
    enum bench_work_about about;
    char *name;           /* a word, for names of files; owned */
    const char *key_name; /* of the first column of each line */
    size_t key_at;        /* bytes of a line before the key */
    uint64_t row_count;
    uint64_t later_count;
    char lines_path[4200];
    char later_path[4200]; /* rows with one more column */
    uint64_t lines_size;   /* bytes */
    char *chosen;          /* columns; owned; NULL: of texts */
    char *other;

    /* The paths of scalars, without the key, as in bench_scalars.h, in the
     * order in which they were found; owned. */
    char *paths[BENCH_WORK_PATHS_MAX];
    size_t path_count;
    bool has_arrays; /* there are paths through them */

    struct bench_work_questions kinds[BENCH_WORK_KINDS];
};

/* Made tweets, in files in `directory`. */
struct bench_work *bench_work_make(const char *directory, uint64_t rows);

/* Made rows whose column `text` has the texts of bench_text_rows.h, with
 * questions about its words. */
#define BENCH_WORK_TEXT_COLUMN "text"
struct bench_work *bench_work_make_texts(const char *directory, uint64_t rows);

/* Made rows with two columns of numbers, and questions about ranges. */
struct bench_work *bench_work_make_numbers(const char *directory,
                                           uint64_t rows);

/* The rows of a file, as bench_data_read reads them. */
struct bench_work *bench_work_read(const struct bench_options *options,
                                   const char *path);

void bench_work_release(struct bench_work *work);

/* The key of a line. */
int64_t bench_work_key(const struct bench_work *work,
                       struct colander_slice line);

/* The column that later rows have, and its values by their number. */
#define BENCH_WORK_ADDED_COLUMN "added_later"
#define BENCH_WORK_ADDED_WORD "no%06" PRIu64
#define BENCH_WORK_ADDED_VALUE "added " BENCH_WORK_ADDED_WORD
#define BENCH_WORK_ADDED_ROWS 5 /* of a value */

/* Sets paths and questions, and the columns asked about if the work has none;
 * or, for a work of texts, questions; or questions about a column with these
 * values, which are sorted. Only bench_work.c calls them. */
void bench_work_pick(struct bench_work *work);
void bench_work_pick_texts(struct bench_work *work);
void bench_work_pick_ranges(struct bench_work *work, enum bench_work_kind kind,
                            const char *column, int64_t *values);
void bench_work_pick_added(struct bench_work *work);

#endif
