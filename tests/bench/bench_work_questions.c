/*
 * Questions about the rows of a work, picked and counted.
 *
 * All rows are gone through three times: for the paths that they have, for
 * values picked at random, and to count the rows that have these. Values in
 * about five rows are preferred to all others.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_work_questions.h"
#include "bench_ready.h"
#include "bench_scalars.h"

#include <stdlib.h>

#define PICKED_MAX 4000 /* values of a kind, of which some are asked about */
#define PICKED_ABSENT 200
#define ROWS_WANTED 5 /* of a value */
#define FEW_ROWS 20
#define VALUE_SIZE_MAX 500 /* bytes; longer texts are not asked about */
#define SLOTS (1u << 16)   /* more than twice the values picked */

struct picked {
    enum bench_work_kind kind;
    char *value; /* owned, until it is a question's */
    uint64_t hash;
    uint64_t rows;     /* that have it */
    uint64_t last_row; /* counted */
};

/* A text of a column, to learn how often values repeat. */
struct seen {
    size_t path;
    uint64_t hash;
};

struct picking {
    struct bench_work *work;
    uint64_t row; /* under way, from 1 on */
    uint64_t random;
    struct seen *seen;
    size_t seen_count;
    size_t seen_capacity;
    struct picked *picked[BENCH_WORK_KINDS];
    size_t picked_count[BENCH_WORK_KINDS];
    uint64_t offered[BENCH_WORK_KINDS];
    struct picked *slots[SLOTS]; /* by hash, the next free one behind it */
};

/* ------------------------------------------------------------ all rows --- */

void
bench_work_visit(const struct bench_work *work, bench_take_row *take,
                 void *context)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_slice lines = bench_map(work->lines_path);
    struct colander_slice rest = lines;
    struct colander_slice line;

    if (reader == NULL)
        bench_fail(work->name, "no memory");
    while (bench_next_line(&rest, &line)) {
        struct colander_slice key;
        struct colander_slice row;
        struct colander_error err;
        bool has_key;

        bench_check(
            colander_json_reader_row(reader, line, &key, &has_key, &row, &err),
            &err);
        take(context, row);
    }
    bench_unmap(lines);
    colander_json_reader_destroy(reader);
}

/* --------------------------------------------------------------- paths --- */

/* SQLite looks for a name as it stands in the text, where these characters are
 * escaped; and a name may not be empty. */
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
    if (i == work->path_count) {
        if (!can_be_asked(path))
            bench_fail(work->name, "not every peer can be asked about a column "
                                   "whose name is empty or has a quote, a "
                                   "backslash or a control character");
        work->paths[work->path_count++] = strdup(path);
        if (work->paths[i] == NULL)
            bench_fail(work->name, "no memory");
        work->has_arrays =
            work->has_arrays || strchr(path, BENCH_PATH_ELEMENT) != NULL;
    }
    return i;
}

static void
note_scalar(void *context, const char *path, const struct colander_value *value)
{
    struct picking *it = context;
    size_t number;

    if (strcmp(path, it->work->key_name) == 0)
        return;
    number = path_number(it->work, path);
    if (it->work->chosen != NULL || value->type != COLANDER_STRING ||
        strpbrk(path, BENCH_PATH_MARKS) != NULL)
        return;
    if (it->seen_count == it->seen_capacity) {
        it->seen_capacity = it->seen_capacity * 2 + 1024;
        it->seen = realloc(it->seen, it->seen_capacity * sizeof(*it->seen));
        if (it->seen == NULL)
            bench_fail(it->work->name, "no memory");
    }
    it->seen[it->seen_count++] =
        (struct seen){number, colander_value_hash(value)};
}

static void
note_row(void *context, struct colander_slice row)
{
    bench_scalars_visit(row, note_scalar, context);
}

static int
compare_seen(const void *a, const void *b)
{
    const struct seen *left = a;
    const struct seen *right = b;

    if (left->path != right->path)
        return left->path < right->path ? -1 : 1;
    return (left->hash > right->hash) - (left->hash < right->hash);
}

/* How many values each column has that are in some few rows; and, far less
 * worth, how many values. */
static void
score(const struct picking *it, uint64_t *scores)
{
    for (size_t i = 0, next; i < it->seen_count; i = next) {
        next = i;
        while (next < it->seen_count &&
               compare_seen(&it->seen[i], &it->seen[next]) == 0)
            next++;
        scores[it->seen[i].path] +=
            next - i >= 2 && next - i <= FEW_ROWS ? UINT64_C(1) << 32 : 1;
    }
}

static char *
take_best(struct bench_work *work, uint64_t *scores)
{
    size_t best = 0;
    char *name;

    for (size_t i = 1; i < work->path_count; i++) {
        if (scores[i] > scores[best])
            best = i;
    }
    if (scores[best] == 0)
        bench_fail(work->name, "it has not two columns of text");
    scores[best] = 0;
    name = strdup(work->paths[best]);
    if (name == NULL)
        bench_fail(work->name, "no memory");
    return name;
}

static void
choose_columns(struct picking *it)
{
    uint64_t scores[BENCH_WORK_PATHS_MAX] = {0};

    bench_work_visit(it->work, note_row, it);
    if (it->work->chosen != NULL)
        return;
    qsort(it->seen, it->seen_count, sizeof(*it->seen), compare_seen);
    score(it, scores);
    it->work->chosen = take_best(it->work, scores);
    it->work->other = take_best(it->work, scores);
    free(it->seen);
}

/* ------------------------------------------------------------- picking --- */

static uint64_t
next_random(struct picking *it)
{
    return bench_mix(it->random++);
}

static void
set(struct picked *picked, enum bench_work_kind kind,
    struct colander_slice text)
{
    const struct colander_value value = colander_string(text);

    free(picked->value);
    *picked = (struct picked){.kind = kind};
    picked->value = strndup((const char *)text.data, text.size);
    if (picked->value == NULL)
        bench_fail("work", "no memory");
    picked->hash = colander_value_hash(&value);
}

/* Each text of a kind has the same chance to be among those picked. */
static void
offer(struct picking *it, enum bench_work_kind kind, struct colander_slice text)
{
    uint64_t place = it->offered[kind]++;

    if (text.size == 0 || text.size > VALUE_SIZE_MAX ||
        memchr(text.data, '\0', text.size) != NULL)
        return;
    if (it->picked_count[kind] < PICKED_MAX)
        place = it->picked_count[kind]++;
    else
        place = next_random(it) % (place + 1);
    if (place < PICKED_MAX)
        set(&it->picked[kind][place], kind, text);
}

static void
offer_scalar(void *context, const char *path,
             const struct colander_value *value)
{
    struct picking *it = context;

    if (value->type != COLANDER_STRING)
        return;
    if (strcmp(path, it->work->chosen) == 0)
        offer(it, BENCH_WORK_CHOSEN, value->bytes);
    else if (strcmp(path, it->work->other) == 0)
        offer(it, BENCH_WORK_OTHER, value->bytes);
    offer(it, BENCH_WORK_ANY, value->bytes);
}

static void
offer_row(void *context, struct colander_slice row)
{
    bench_scalars_visit(row, offer_scalar, context);
}

/* They look like words of any row, and are counted like the others. */
static void
pick_absent(struct picking *it, enum bench_work_kind kind)
{
    for (size_t i = 0; i < PICKED_ABSENT; i++) {
        char text[40];

        (void)snprintf(text, sizeof(text), "none%llx",
                       (unsigned long long)next_random(it));
        set(&it->picked[kind][i], kind, colander_slice_text(text));
    }
    it->picked_count[kind] = PICKED_ABSENT;
}

static void
pick_values(struct picking *it)
{
    for (unsigned kind = 0; kind < BENCH_WORK_KINDS; kind++)
        it->picked[kind] = bench_allocate(PICKED_MAX, sizeof(struct picked));
    bench_work_visit(it->work, offer_row, it);
    pick_absent(it, BENCH_WORK_ABSENT_CHOSEN);
    pick_absent(it, BENCH_WORK_ABSENT_OTHER);
    pick_absent(it, BENCH_WORK_ABSENT_ANY);
}

/* ------------------------------------------------------------ counting --- */

/* Of a value that was picked twice only one gets a slot, and is counted. */
static void
enter(struct picking *it, struct picked *picked)
{
    size_t slot = picked->hash % SLOTS;

    for (; it->slots[slot] != NULL; slot = (slot + 1) % SLOTS) {
        if (it->slots[slot]->kind == picked->kind &&
            strcmp(it->slots[slot]->value, picked->value) == 0)
            return;
    }
    it->slots[slot] = picked;
}

static const char *
column_of(const struct bench_work *work, enum bench_work_kind kind)
{
    switch (kind) {
    case BENCH_WORK_CHOSEN:
    case BENCH_WORK_ABSENT_CHOSEN:
        return work->chosen;
    case BENCH_WORK_OTHER:
    case BENCH_WORK_ABSENT_OTHER:
        return work->other;
    default:
        return NULL;
    }
}

static void
count_scalar(void *context, const char *path,
             const struct colander_value *value)
{
    struct picking *it = context;
    size_t slot;

    if (value->type != COLANDER_STRING)
        return;
    slot = colander_value_hash(value) % SLOTS;
    for (; it->slots[slot] != NULL; slot = (slot + 1) % SLOTS) {
        struct picked *picked = it->slots[slot];
        const char *column = column_of(it->work, picked->kind);

        if (picked->last_row == it->row ||
            (column != NULL && strcmp(column, path) != 0) ||
            !colander_slice_equal(colander_slice_text(picked->value),
                                  value->bytes))
            continue;
        picked->last_row = it->row;
        picked->rows++;
    }
}

static void
count_row(void *context, struct colander_slice row)
{
    struct picking *it = context;

    it->row++;
    bench_scalars_visit(row, count_scalar, it);
}

static void
count_rows(struct picking *it)
{
    for (unsigned kind = 0; kind < BENCH_WORK_KINDS; kind++) {
        for (size_t i = 0; i < it->picked_count[kind]; i++)
            enter(it, &it->picked[kind][i]);
    }
    bench_work_visit(it->work, count_row, it);
}

/* ----------------------------------------------------------- questions --- */

static uint64_t
distance(const struct picked *picked)
{
    return picked->rows > ROWS_WANTED ? picked->rows - ROWS_WANTED
                                      : ROWS_WANTED - picked->rows;
}

/* Those nearest to the wanted number of rows first; then by hash, which is as
 * good as random. */
static int
compare_picked(const void *a, const void *b)
{
    const struct picked *left = a;
    const struct picked *right = b;

    if (distance(left) != distance(right))
        return distance(left) < distance(right) ? -1 : 1;
    return (left->hash > right->hash) - (left->hash < right->hash);
}

static void
ask_about(struct picking *it, enum bench_work_kind kind)
{
    const bool is_absent = kind >= BENCH_WORK_ABSENT_CHOSEN;
    struct bench_work_questions *questions = &it->work->kinds[kind];
    struct picked *picked = it->picked[kind];

    qsort(picked, it->picked_count[kind], sizeof(*picked), compare_picked);
    for (size_t i = 0; i < it->picked_count[kind]; i++) {
        struct bench_work_question *question =
            &questions->questions[questions->count];

        if (is_absent != (picked[i].rows == 0) ||
            questions->count == BENCH_WORK_QUESTIONS_MAX) {
            free(picked[i].value);
            continue;
        }
        question->column = column_of(it->work, kind);
        question->value = picked[i].value;
        question->expected = picked[i].rows;
        questions->count++;
    }
    if (questions->count == 0)
        bench_fail(it->work->name, "there is no value to ask for");
}

void
bench_work_pick(struct bench_work *work)
{
    struct picking *it = bench_allocate(1, sizeof(*it));

    it->work = work;
    bench_progress("%s: looking for columns", work->name);
    choose_columns(it);
    bench_progress("%s: picking values", work->name);
    pick_values(it);
    bench_progress("%s: counting their rows", work->name);
    count_rows(it);
    for (unsigned kind = 0; kind < BENCH_WORK_KINDS; kind++) {
        if (kind != BENCH_WORK_ADDED)
            ask_about(it, (enum bench_work_kind)kind);
        free(it->picked[kind]);
    }
    bench_progress("%s", "");
    free(it);
}
