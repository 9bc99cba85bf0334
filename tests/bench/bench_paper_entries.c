/*
 * The entries of the paper's experiments.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

/* Which of the random numbers of an entry. */
enum { KEY_NUMBER, VALUE_NUMBER, DRAWN_NUMBER, PICKED_NUMBER, NUMBERS };

/* Eleven characters of 6 bits: different numbers, different texts. */
static void
write_text(uint64_t number, char text[PAPER_TEXT_SIZE])
{
    static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm"
                                     "nopqrstuvwxyz0123456789-_";

    for (size_t i = 0; i < PAPER_TEXT_SIZE - 1; i++) {
        text[i] = characters[number % 64];
        number /= 64;
    }
    text[PAPER_TEXT_SIZE - 1] = '\0';
}

static void
write_key(uint64_t entry, char text[PAPER_TEXT_SIZE])
{
    write_text(bench_mix(NUMBERS * entry + KEY_NUMBER), text);
}

static void
write_value(uint64_t value_number, char text[PAPER_TEXT_SIZE])
{
    write_text(bench_mix(NUMBERS * value_number + VALUE_NUMBER), text);
}

static uint64_t
value_number_of(const struct paper_entries *entries, uint64_t entry)
{
    if (entries->domain == 0)
        return entry;
    return bench_mix(NUMBERS * entry + DRAWN_NUMBER) % entries->domain;
}

/* -------------------------------------------------------------- entries --- */

void
paper_entries_init(struct paper_entries *entries, uint64_t count,
                   unsigned domain)
{
    memset(entries, 0, sizeof(*entries));
    entries->count = count;
    entries->domain = count * domain / 100;
    if (domain != 0 && entries->domain == 0)
        entries->domain = 1;
    entries->builder = colander_row_builder_create();
    if (entries->builder == NULL)
        bench_fail("entries", "no memory");
}

void
paper_entries_release(struct paper_entries *entries)
{
    colander_buffer_release(&entries->key);
    colander_row_builder_destroy(entries->builder);
}

static struct colander_slice
encode_key(struct paper_entries *entries, uint64_t number)
{
    char text[PAPER_TEXT_SIZE];
    struct colander_value value;

    write_key(number, text);
    value = colander_text(text);
    bench_check(colander_key_encode(&value, 1, &entries->key, &bench_error));
    return colander_buffer_slice(&entries->key);
}

void
paper_entry_make(struct paper_entries *entries, uint64_t number,
                 struct colander_slice *key, struct colander_slice *row)
{
    char text[PAPER_TEXT_SIZE];

    *key = encode_key(entries, number);
    write_value(value_number_of(entries, number), text);
    colander_row_builder_add(entries->builder, "v", colander_text(text));
    bench_check(
        colander_row_builder_finish(entries->builder, row, &bench_error));
}

double
paper_entry_size(struct paper_entries *entries)
{
    const uint64_t sample = entries->count < 1000 ? entries->count : 1000;
    uint64_t size = 0;

    for (uint64_t i = 0; i < sample; i++) {
        struct colander_slice key;
        struct colander_slice row;

        paper_entry_make(entries, i, &key, &row);
        size += key.size + row.size;
    }
    return (double)size / (double)sample;
}

/* -------------------------------------------------------------- lookups --- */

void
paper_answer_add(struct paper_answer *answer, struct colander_slice key)
{
    const struct colander_value value = colander_binary(key);

    answer->count++;
    answer->key_sum += colander_value_hash(&value);
}

static void
pick(struct paper_entries *entries, size_t number, struct paper_lookup *lookup)
{
    const uint64_t random =
        bench_mix(NUMBERS * (uint64_t)number + PICKED_NUMBER);
    const uint64_t entry = random % entries->count;

    lookup->value_number =
        entries->domain == 0 ? entry : random % entries->domain;
    write_value(lookup->value_number, lookup->value_text);
    lookup->value = colander_text(lookup->value_text);
    lookup->hash = colander_value_hash(&lookup->value);
    write_key(entry, lookup->key_text);
    lookup->key = colander_text(lookup->key_text);
}

struct paper_lookup *
paper_lookups_make(struct paper_entries *entries, size_t count)
{
    struct paper_lookup *lookups = bench_allocate(count, sizeof(*lookups));

    for (size_t i = 0; i < count; i++)
        pick(entries, i, &lookups[i]);
    for (uint64_t entry = 0; entry < entries->count; entry++) {
        const uint64_t value_number = value_number_of(entries, entry);

        for (size_t i = 0; i < count; i++) {
            if (lookups[i].value_number == value_number)
                paper_answer_add(&lookups[i].by_value,
                                 encode_key(entries, entry));
        }
    }
    return lookups;
}
