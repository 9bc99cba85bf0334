/* See bench_text_rows.h. SPDX-License-Identifier: MIT */
#include "bench_text_rows.h"

#include <stdlib.h>

#define VOCABULARY 50000
#define WORDS_OF_A_TEXT 14
#define SHARE 20     /* each such row has "alpha", and another one "beta" */
#define STRIDE 99991 /* groups are far from each other; prime */

struct bench_text_rows {
    uint64_t count;
    double zipf[VOCABULARY]; /* sums of the shares of words */
};

struct bench_text_rows *
bench_text_rows_create(uint64_t count)
{
    struct bench_text_rows *rows = bench_allocate(1, sizeof(*rows));
    double sum = 0;

    rows->count = count;
    for (size_t i = 0; i < VOCABULARY; i++)
        rows->zipf[i] = sum += 1 / (double)(i + 1);
    return rows;
}

void
bench_text_rows_destroy(struct bench_text_rows *rows)
{
    free(rows);
}

/* Appends a word of the vocabulary: letters that tell its number. */
static char *
add_word(const struct bench_text_rows *rows, uint64_t random, char *at)
{
    const double wanted =
        rows->zipf[VOCABULARY - 1] * (double)(random >> 11) * 0x1p-53;
    size_t low = 0;
    size_t high = VOCABULARY - 1;
    uint64_t letters;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (rows->zipf[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    letters = bench_mix(low + 1);
    *at++ = ' ';
    for (size_t i = 3 + letters % 7; i > 0; i--) {
        letters /= 7;
        *at++ = (char)('a' + letters % 26);
    }
    return at;
}

uint64_t
bench_text_group(const struct bench_text_rows *rows, uint64_t number)
{
    return number * STRIDE % rows->count / BENCH_TEXT_GROUP;
}

void
bench_text_make(const struct bench_text_rows *rows, uint64_t number,
                char text[BENCH_TEXT_SIZE])
{
    const uint64_t place = number * STRIDE % rows->count;
    char *at = stpcpy(text, "Every");

    for (unsigned i = 0; i < WORDS_OF_A_TEXT; i++) {
        at = add_word(rows, bench_mix(number * WORDS_OF_A_TEXT + i), at);
        if (i == 7)
            at += sprintf(at, ", " BENCH_TEXT_WORD_THERE " tail",
                          bench_text_group(rows, number));
    }
    if (place % SHARE == 0 || place < BENCH_TEXT_GROUP)
        at = stpcpy(at, " alpha");
    if (place % SHARE == 9 || place < BENCH_TEXT_GROUP)
        at = stpcpy(at, " beta");
    *at = '\0';
}
