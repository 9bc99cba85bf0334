/*
 * Questions about the rows of a work, picked and counted.
 *
 * All rows are read for their paths and a hash of each text, and those with the
 * values that are picked again, for their texts. Values in about five rows are
 * preferred.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"
#include "bench_text_rows.h"
#include "bench_work.h"

#include "core/array.h"

#include <inttypes.h>

#define ROWS_WANTED 5 /* of a value */
#define FEW_ROWS 20
#define ROWS_OF_RANGE 100
#define VALUE_SIZE_MAX 500 /* bytes; longer texts are not asked about */

/* A text in a row. */
struct seen {
    uint64_t hash;
    uint64_t line; /* bytes of the file before its line */
    uint32_t path;
};

/* A value that may be asked about. */
struct picked {
    const struct seen *seen; /* the first */
    uint64_t rows;           /* that have it */
};

struct picking {
    struct bench_work *work;
    struct colander_json_reader *reader;
    struct colander_slice lines;
    uint64_t line; /* being read */
    struct seen *seen;
    size_t seen_count;
    size_t seen_capacity;
    struct picked *picked; /* of one kind */
    size_t picked_count;
    size_t picked_capacity;
};

/* ------------------------------------------------------------ all rows --- */

static void
visit_line(struct picking *it, struct colander_slice line,
           bench_take_scalar *take, void *context)
{
    struct colander_slice key;
    struct colander_slice row;
    bool has_key;

    bench_check(colander_json_reader_row(it->reader, line, &key, &has_key, &row,
                                         &bench_error));
    bench_scalars_visit(row, take, context);
}

/* SQLite searches for a name as it is in the text, where these characters are
 * escaped. Also, a name must not be empty. */
static bool
can_be_asked(const char *path)
{
    bool is_name_due = true;

    for (; *path != '\0'; path++) {
        const bool is_mark = strchr(BENCH_PATH_MARKS, *path) != NULL;

        if (*path == '"' || *path == '\\' ||
            (is_mark ? is_name_due : (unsigned char)*path < 0x20))
            return false;
        is_name_due = *path == BENCH_PATH_MEMBER;
    }
    return !is_name_due;
}

static size_t
path_number(struct bench_work *work, const char *path)
{
    size_t i = 0;

    while (i < work->path_count && strcmp(work->paths[i], path) != 0)
        i++;
    if (i == BENCH_WORK_PATHS_MAX)
        bench_fail(work->name, "it has too many columns");
    if (i < work->path_count)
        return i;
    if (!can_be_asked(path))
        bench_fail(work->name, "not every peer can be asked about a column "
                               "whose name is empty or has a quote, a "
                               "backslash or a control character");
    work->paths[work->path_count++] = bench_copy(path);
    work->has_arrays =
        work->has_arrays || strchr(path, BENCH_PATH_ELEMENT) != NULL;
    return i;
}

static bool
is_usable(const struct colander_value *value)
{
    return value->type == COLANDER_STRING && value->bytes.size > 0 &&
           value->bytes.size <= VALUE_SIZE_MAX &&
           memchr(value->bytes.data, '\0', value->bytes.size) == NULL;
}

static void
see_scalar(void *context, const char *path, const struct colander_value *value)
{
    struct picking *it = context;
    uint32_t number;

    if (strcmp(path, it->work->key_name) == 0)
        return;
    number = (uint32_t)path_number(it->work, path);
    if (!is_usable(value))
        return;
    bench_check(array_reserve(&it->seen, it->seen_count, &it->seen_capacity, 1,
                              &bench_error));
    it->seen[it->seen_count++] =
        (struct seen){colander_value_hash(value), it->line, number};
}

static int
compare_seen(const void *a, const void *b)
{
    const struct seen *left = a;
    const struct seen *right = b;

    if (left->hash != right->hash)
        return left->hash < right->hash ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return (left->path > right->path) - (left->path < right->path);
}

/* ------------------------------------------------------------- picking --- */

/* Returns the number of rows with the value of `seen[first]`, at a path or,
 * with BENCH_WORK_PATHS_MAX, at any. Sets *next after all of its entries. */
static uint64_t
count_rows(const struct picking *it, size_t first, size_t path, size_t *next)
{
    uint64_t count = 0;
    uint64_t last = UINT64_MAX;
    size_t i = first;

    for (; i < it->seen_count && it->seen[i].hash == it->seen[first].hash;
         i++) {
        if (it->seen[i].line == last ||
            (path != BENCH_WORK_PATHS_MAX && it->seen[i].path != path))
            continue;
        last = it->seen[i].line;
        count++;
    }
    *next = i;
    return count;
}

/* Takes the column with the most values in a few rows or, if there are none,
 * with the most values. */
static char *
choose_column(const struct picking *it, const char *taken)
{
    const struct bench_work *work = it->work;
    uint64_t best_score = 0;
    size_t best = 0;

    for (size_t path = 0; path < work->path_count; path++) {
        uint64_t score = 0;

        if (strpbrk(work->paths[path], BENCH_PATH_MARKS) != NULL ||
            (taken != NULL && strcmp(work->paths[path], taken) == 0))
            continue;
        for (size_t i = 0; i < it->seen_count;) {
            const uint64_t rows = count_rows(it, i, path, &i);

            if (rows > 0)
                score += rows >= 2 && rows <= FEW_ROWS ? UINT64_C(1) << 32 : 1;
        }
        if (score > best_score) {
            best_score = score;
            best = path;
        }
    }
    if (best_score == 0)
        bench_fail(work->name, "it does not have two columns of text");
    return bench_copy(work->paths[best]);
}

static uint64_t
distance(const struct picked *picked)
{
    return picked->rows > ROWS_WANTED ? picked->rows - ROWS_WANTED
                                      : ROWS_WANTED - picked->rows;
}

/* Those closest to the wanted number of rows come first, then by hash, which is
 * practically random. */
static int
compare_picked(const void *a, const void *b)
{
    const struct picked *left = a;
    const struct picked *right = b;

    if (distance(left) != distance(right))
        return distance(left) < distance(right) ? -1 : 1;
    return (left->seen->hash > right->seen->hash) -
           (left->seen->hash < right->seen->hash);
}

/* A text to be found in its row. */
struct wanted {
    uint64_t hash;
    char *text; /* NULL: not yet */
};

static void
take_text(void *context, const char *path, const struct colander_value *value)
{
    struct wanted *wanted = context;

    (void)path;
    if (wanted->text == NULL && is_usable(value) &&
        colander_value_hash(value) == wanted->hash)
        wanted->text =
            strndup((const char *)value->bytes.data, value->bytes.size);
}

static void
add_question(struct bench_work_questions *questions, const char *column,
             char *value, uint64_t expected)
{
    questions->questions[questions->count++] = (struct bench_work_question){
        .how = BENCH_WORK_EQUAL,
        .column = column,
        .value = value,
        .expected = expected,
    };
}

/* Picks the values of a kind. */
static void
pick_values(struct picking *it, enum bench_work_kind kind, const char *column)
{
    struct bench_work_questions *questions = &it->work->kinds[kind];
    const size_t path =
        column == NULL ? BENCH_WORK_PATHS_MAX : path_number(it->work, column);

    it->picked_count = 0;
    for (size_t i = 0; i < it->seen_count;) {
        const struct seen *seen = &it->seen[i];
        const uint64_t rows = count_rows(it, i, path, &i);

        if (rows == 0)
            continue;
        bench_check(array_reserve(&it->picked, it->picked_count,
                                  &it->picked_capacity, 1, &bench_error));
        it->picked[it->picked_count++] = (struct picked){seen, rows};
    }
    if (it->picked_count == 0)
        bench_fail(it->work->name, "there is no value to ask for");
    qsort(it->picked, it->picked_count, sizeof(*it->picked), compare_picked);
    for (size_t i = 0; i < it->picked_count && i < BENCH_WORK_QUESTIONS_MAX;
         i++) {
        const struct seen *seen = it->picked[i].seen;
        struct colander_slice rest = colander_slice_of(
            it->lines.data + seen->line, it->lines.size - seen->line);
        struct wanted wanted = {seen->hash, NULL};
        struct colander_slice line;

        (void)bench_next_line(&rest, &line);
        visit_line(it, line, take_text, &wanted);
        add_question(questions, column, wanted.text, it->picked[i].rows);
    }
}

/* Adds questions for values that no row has. They look like words of rows. */
static void
pick_absent(struct bench_work *work, enum bench_work_kind kind,
            const char *column)
{
    for (uint64_t i = 0; i < BENCH_WORK_QUESTIONS_MAX; i++) {
        char text[40];

        (void)snprintf(text, sizeof(text), "none%" PRIx64,
                       bench_mix(kind * BENCH_WORK_QUESTIONS_MAX + i));
        add_question(&work->kinds[kind], column, bench_copy(text), 0);
    }
}

void
bench_work_pick_added(struct bench_work *work)
{
    for (uint64_t i = 0; i < work->later_count / BENCH_WORK_ADDED_ROWS &&
                         i < BENCH_WORK_QUESTIONS_MAX;
         i++) {
        char text[40];

        (void)snprintf(text, sizeof(text), BENCH_WORK_ADDED_VALUE, i);
        add_question(&work->kinds[BENCH_WORK_ADDED], BENCH_WORK_ADDED_COLUMN,
                     bench_copy(text), BENCH_WORK_ADDED_ROWS);
    }
}

void
bench_work_pick(struct bench_work *work)
{
    struct picking it = {.work = work,
                         .reader = colander_json_reader_create(),
                         .lines = bench_map(work->lines_path)};
    struct colander_slice rest = it.lines;
    struct colander_slice line;

    if (it.reader == NULL)
        bench_fail(work->name, "no memory");
    bench_progress("%s: looking for columns", work->name);
    while (bench_next_line(&rest, &line)) {
        it.line = (uint64_t)(line.data - it.lines.data);
        visit_line(&it, line, see_scalar, &it);
    }
    qsort(it.seen, it.seen_count, sizeof(*it.seen), compare_seen);
    if (work->chosen == NULL) {
        work->chosen = choose_column(&it, NULL);
        work->other = choose_column(&it, work->chosen);
    }
    bench_progress("%s: picking values", work->name);
    pick_values(&it, BENCH_WORK_CHOSEN, work->chosen);
    pick_values(&it, BENCH_WORK_OTHER, work->other);
    pick_values(&it, BENCH_WORK_ANY, NULL);
    pick_absent(work, BENCH_WORK_ABSENT_CHOSEN, work->chosen);
    pick_absent(work, BENCH_WORK_ABSENT_OTHER, work->other);
    pick_absent(work, BENCH_WORK_ABSENT_ANY, NULL);
    bench_work_pick_added(work);
    bench_progress("%s", "");
    bench_unmap(it.lines);
    colander_json_reader_destroy(it.reader);
    free(it.picked);
    free(it.seen);
}

/* ---------------------------------------------------------------- texts --- */

static void
pick_made(struct bench_work *work, enum bench_work_kind kind,
          enum bench_work_how how, const char *column, uint64_t expected)
{
    struct bench_work_questions *questions = &work->kinds[kind];
    const uint64_t rows =
        kind == BENCH_WORK_ADDED ? work->later_count : work->row_count;

    for (uint64_t i = 0; i < BENCH_WORK_QUESTIONS_MAX; i++) {
        const uint64_t group = bench_mix(i) % (rows / BENCH_TEXT_GROUP);
        char text[40];

        if (kind == BENCH_WORK_WORD)
            (void)snprintf(text, sizeof(text), BENCH_TEXT_WORD, group);
        else if (kind == BENCH_WORK_PHRASE)
            (void)snprintf(text, sizeof(text), BENCH_TEXT_PHRASE, group);
        else if (kind == BENCH_WORK_PIECE)
            (void)snprintf(text, sizeof(text), BENCH_TEXT_PIECE, group);
        else if (kind == BENCH_WORK_ABSENT_WORD)
            (void)snprintf(text, sizeof(text), BENCH_TEXT_ABSENT, group);
        else
            (void)snprintf(text, sizeof(text), BENCH_WORK_ADDED_WORD, group);
        add_question(questions, column, bench_copy(text), expected);
        questions->questions[i].how = how;
    }
}

void
bench_work_pick_texts(struct bench_work *work)
{
    static const char column[] = BENCH_WORK_TEXT_COLUMN;

    pick_made(work, BENCH_WORK_WORD, BENCH_WORK_HAS_WORDS, column,
              BENCH_TEXT_GROUP);
    pick_made(work, BENCH_WORK_PHRASE, BENCH_WORK_HAS_WORDS, column,
              BENCH_TEXT_GROUP);
    pick_made(work, BENCH_WORK_PIECE, BENCH_WORK_HAS_PIECE, column,
              BENCH_TEXT_GROUP);
    pick_made(work, BENCH_WORK_ABSENT_WORD, BENCH_WORK_HAS_WORDS, column, 0);
    pick_made(work, BENCH_WORK_ADDED, BENCH_WORK_HAS_WORDS,
              BENCH_WORK_ADDED_COLUMN, BENCH_WORK_ADDED_ROWS);
}

/* -------------------------------------------------------------- numbers --- */

static int
compare_numbers(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static char *
number_text(int64_t number)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "%" PRId64, number);
    return bench_copy(text);
}

void
bench_work_pick_ranges(struct bench_work *work, enum bench_work_kind kind,
                       const char *column, int64_t *values)
{
    struct bench_work_questions *questions = &work->kinds[kind];
    const uint64_t rows = work->row_count;
    const uint64_t wanted = rows / 2 < ROWS_OF_RANGE ? rows / 2 : ROWS_OF_RANGE;

    qsort(values, rows, sizeof(*values), compare_numbers);
    for (uint64_t i = 0; i < BENCH_WORK_QUESTIONS_MAX; i++) {
        uint64_t start = bench_mix(i) % (rows - wanted);
        uint64_t end = start + wanted;

        while (start > 0 && values[start - 1] == values[start])
            start--;
        while (end < rows && values[end] == values[end - 1])
            end++;
        add_question(questions, column, number_text(values[start]),
                     end - start);
        questions->questions[i].how = BENCH_WORK_FROM_TO;
        questions->questions[i].to = number_text(values[end - 1]);
    }
}
