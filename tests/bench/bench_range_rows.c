/*
 * Generated rows for ranges, prefixes and order, and questions about them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_range_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define STATES 64
#define SYLLABLES 32
#define TRIES 1000 /* to find a range of about as many rows as wanted */

enum { FILLER = BENCH_RANGE_COLUMNS + 1 }; /* the streams of random numbers */

/* ---------------------------------------------------------------- rows --- */

const char *
bench_range_column_name(enum bench_range_column column)
{
    static const char *const names[] = {"uniform", "zipf", "clustered",
                                        "mixed",   "name", "state"};

    return names[column];
}

/* The stream 0 is that of keys. */
static uint64_t
random_of(uint64_t number, unsigned stream)
{
    return stream == 0 ? (uint64_t)bench_made_key(number).integer
                       : bench_mix(bench_mix(number) + stream);
}

/* From 0 to below 1. */
static double
unit(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-53;
}

/* From 1 to below `end`: k is k times as rare as 1. */
static uint64_t
zipf(uint64_t random, double end)
{
    return (uint64_t)exp(unit(random) * log(end));
}

/* Two words of three syllables each. */
static void
make_name(uint64_t random, char text[BENCH_RANGE_TEXT])
{
    static const char syllables[SYLLABLES + 1][4] = {
        "",   "ma",  "an", "jo",  "sa",  "mi",  "ra", "li",  "ka", "el", "da",
        "ne", "to",  "ri", "ben", "lu",  "os",  "ta", "vi",  "zo", "pe", "gar",
        "ho", "wen", "ul", "fe",  "chi", "bra", "ny", "dor", "xa", "yu", "quo"};
    size_t size = 0;

    for (unsigned i = 0; i < 6; i++) {
        random = bench_mix(random);
        size += (size_t)snprintf(text + size, BENCH_RANGE_TEXT - size, "%s%s",
                                 i == 3 ? " " : "",
                                 syllables[zipf(random, SYLLABLES + 1)]);
    }
}

/* A text needs memory. */
static struct colander_value
value_of(uint64_t number, enum bench_range_column column,
         char text[BENCH_RANGE_TEXT])
{
    const uint64_t random = random_of(number, column + 1);
    double rank;

    switch (column) {
    case BENCH_UNIFORM: /* quarters have few digits and are exact */
        return colander_double((double)(random >> 31) / 4);
    case BENCH_ZIPF:
        return colander_integer((int64_t)zipf(random, 1e6));
    case BENCH_CLUSTERED:
        return colander_integer((int64_t)(random_of(number, 0) >> 33) +
                                (int64_t)(random >> 40) - (1 << 23));
    case BENCH_MIXED:
        if (random % 2 == 0)
            return colander_double((double)(random >> 34) / 4);
        (void)snprintf(text, BENCH_RANGE_TEXT, "item %07" PRIx64, random >> 36);
        return colander_text(text);
    case BENCH_NAME:
        make_name(random, text);
        return colander_text(text);
    default: /* each is a seventh rarer than another, which is elsewhere */
        rank = log(1 - unit(random)) / log(6.0 / 7);
        (void)snprintf(text, BENCH_RANGE_TEXT, "state %02u",
                       (unsigned)(rank < STATES ? rank : STATES - 1) * 37 %
                           STATES);
        return colander_text(text);
    }
}

/* One long text, whose order nobody asks for. */
static void
add_filler(struct colander_row_builder *builder, uint64_t number)
{
    static const char *const words[] = {"pump",  "valve", "open", "shut",
                                        "alarm", "level", "high", "low"};
    const uint64_t random = random_of(number, FILLER);
    char text[160];

    (void)snprintf(text, sizeof(text),
                   "%s %s %s %s %s %s %s %s of device-%05u in plant %016" PRIx64
                   " at %016" PRIx64,
                   words[random >> 3 & 7], words[random >> 6 & 7],
                   words[random >> 9 & 7], words[random >> 12 & 7],
                   words[random >> 15 & 7], words[random >> 18 & 7],
                   words[random >> 21 & 7], words[random >> 24 & 7],
                   (unsigned)(random % 50000), random, bench_mix(random));
    colander_row_builder_add(builder, "text", colander_text(text));
}

void
bench_range_rows_make(uint64_t rows, bench_take_keyed *take, void *context)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    char text[BENCH_RANGE_TEXT];

    if (builder == NULL)
        bench_fail("rows", "no memory");
    for (uint64_t i = 0; i < rows; i++) {
        const struct colander_value key = bench_made_key(i);

        bench_check(colander_key_encode(&key, 1, &bytes, &bench_error));
        for (unsigned column = 0; column < BENCH_RANGE_COLUMNS; column++)
            colander_row_builder_add(builder, bench_range_column_name(column),
                                     value_of(i, column, text));
        add_filler(builder, i);
        bench_check(colander_row_builder_finish(builder, &row, &bench_error));
        take(context, colander_buffer_slice(&bytes), row);
    }
    colander_buffer_release(&bytes);
    colander_row_builder_destroy(builder);
}

/* -------------------------------------------------------------- column --- */

struct entry {
    struct colander_value value;
    uint64_t number; /* of its row */
};

/* The values of a column, in order. */
struct column {
    struct entry *entries;
    uint64_t count;
    uint64_t *starts; /* of each distinct value, and the end */
    uint64_t distinct_count;
    char (*texts)[BENCH_RANGE_TEXT];
};

static int
compare_entries(const void *a, const void *b)
{
    const struct entry *left = a;
    const struct entry *right = b;

    return colander_value_compare(&left->value, &right->value);
}

static void
column_init(struct column *it, uint64_t rows, enum bench_range_column column)
{
    it->count = rows;
    it->entries = bench_allocate(rows, sizeof(*it->entries));
    it->starts = bench_allocate(rows + 1, sizeof(*it->starts));
    it->texts = bench_allocate(rows, sizeof(*it->texts));
    for (uint64_t i = 0; i < rows; i++)
        it->entries[i] = (struct entry){value_of(i, column, it->texts[i]), i};
    qsort(it->entries, rows, sizeof(*it->entries), compare_entries);
    it->distinct_count = 0;
    for (uint64_t i = 0; i < rows; i++)
        if (i == 0 || compare_entries(&it->entries[i - 1], &it->entries[i]) < 0)
            it->starts[it->distinct_count++] = i;
    it->starts[it->distinct_count] = rows;
}

static void
column_release(struct column *it)
{
    free(it->entries);
    free(it->starts);
    free(it->texts);
}

/* ----------------------------------------------------------- questions --- */

static void
set_value(struct bench_range_question *question, size_t i,
          const struct colander_value *value)
{
    question->values[i] = *value;
    if (value->type != COLANDER_STRING)
        return;
    memcpy(question->texts[i], value->bytes.data, value->bytes.size);
    question->values[i].bytes.data = (const uint8_t *)question->texts[i];
}

/* Expects the rows of the entries from `start` to before `end`. */
static void
expect(struct bench_range_question *question, const struct column *it,
       uint64_t start, uint64_t end)
{
    question->expected = end - start;
    for (uint64_t i = start; i < end; i++)
        question->key_sum +=
            (uint64_t)bench_made_key(it->entries[i].number).integer;
}

/* Makes a range from a random value on. Returns false if it would have far too
 * many rows, or values that are not compared with one another. */
static bool
make_range(struct bench_range_question *question, const struct column *it,
           uint64_t wanted, uint64_t random)
{
    const uint64_t first = random % it->distinct_count;
    const uint64_t start = it->starts[first];
    uint64_t last = first + 1;

    while (last < it->distinct_count && it->starts[last] - start < wanted)
        last++;
    if (it->starts[last] - start < wanted / 2 ||
        it->starts[last] - start > 2 * wanted ||
        it->entries[start].value.type !=
            it->entries[it->starts[last] - 1].value.type)
        return false;
    set_value(question, 0, &it->entries[start].value);
    set_value(question, 1, &it->entries[it->starts[last] - 1].value);
    expect(question, it, start, it->starts[last]);
    return true;
}

static bool
begins_so(const struct colander_value *value, struct colander_slice prefix)
{
    return value->bytes.size >= prefix.size &&
           memcmp(value->bytes.data, prefix.data, prefix.size) == 0;
}

/* Makes a prefix of a random text, as short as possible. */
static bool
make_prefix(struct bench_range_question *question, const struct column *it,
            uint64_t wanted, uint64_t random)
{
    const uint64_t place = random % it->count;
    struct colander_value prefix = it->entries[place].value;
    const size_t size = prefix.bytes.size;
    uint64_t start = place;
    uint64_t end = place;

    if (prefix.type != COLANDER_STRING)
        return false;
    for (prefix.bytes.size = 1; prefix.bytes.size <= size;
         prefix.bytes.size++) {
        for (start = place; start > 0 && place - start <= 2 * wanted; start--)
            if (it->entries[start - 1].value.type != COLANDER_STRING ||
                !begins_so(&it->entries[start - 1].value, prefix.bytes))
                break;
        for (end = place + 1; end < it->count && end - start <= 2 * wanted;
             end++)
            if (!begins_so(&it->entries[end].value, prefix.bytes))
                break;
        if (end - start <= 2 * wanted)
            break;
    }
    if (prefix.bytes.size > size || end - start < wanted / 2)
        return false;
    set_value(question, 0, &prefix);
    set_value(question, 1, &prefix);
    question->texts[1][prefix.bytes.size - 1]++;
    expect(question, it, start, end);
    return true;
}

static bool
make_top(struct bench_range_question *question, const struct column *it)
{
    for (uint64_t i = 0; i < BENCH_TOP_ROWS; i++)
        set_value(question, i, &it->entries[it->count - 1 - i].value);
    question->expected = BENCH_TOP_ROWS;
    return true;
}

static bool
make_question(struct bench_range_question *question, const struct column *it,
              enum bench_range_kind kind, uint64_t random)
{
    static const uint64_t wanted[BENCH_RANGE_KINDS] = {10, 100, 1000, 10000,
                                                       100};

    if (kind == BENCH_TOP)
        return make_top(question, it);
    if (kind == BENCH_PREFIX_100)
        return make_prefix(question, it, wanted[kind], random);
    return make_range(question, it, wanted[kind], random);
}

void
bench_range_sets_make(uint64_t rows, enum bench_range_column column,
                      const uint64_t counts[BENCH_RANGE_KINDS],
                      struct bench_range_set sets[BENCH_RANGE_KINDS])
{
    struct column it;

    column_init(&it, rows, column);
    for (unsigned kind = 0; kind < BENCH_RANGE_KINDS; kind++) {
        struct bench_range_set *set = &sets[kind];
        uint64_t tries = 0;

        set->questions = bench_allocate(counts[kind], sizeof(*set->questions));
        for (set->count = 0; set->count < counts[kind];) {
            if (tries++ == TRIES * counts[kind])
                break;
            if (make_question(&set->questions[set->count], &it, kind,
                              bench_mix(100 * tries + kind)))
                set->count++;
        }
    }
    column_release(&it);
}
