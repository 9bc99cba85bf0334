/*
 * Any text as words of a condition, as assignments, as a value in any column,
 * as a time and as a duration. Nothing crashes, a mistake is in one of the
 * words, and a time reads as itself after it was written.
 *
 * Each line is a word.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/words/times.h"
#include "fuzz/fuzz.h"

#define WORDS_MAX 64

/* The time as JSON, without quotes, is that time. */
static void
expect_pasted(const struct colander_value *time)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_times read;
    struct colander_slice text;

    OK(colander_json_append_value(&json, time, NULL));
    text = colander_buffer_slice(&json);
    if (text.data[0] == '"') { /* else its year has not four digits */
        text.data++;
        text.size -= 2;
        expect(colander_times_read(text, &read));
        expect(colander_value_compare(&read.first, time) == 0);
        expect(colander_value_compare(&read.last, time) == 0);
        expect(times_read_prefix(text, &read));
        expect(colander_value_compare(&read.first, time) == 0);
    }
    colander_buffer_release(&json);
}

static void
read_time(struct colander_slice text)
{
    struct colander_times times;
    int64_t seconds;

    if (colander_duration_read(text, &seconds))
        expect(seconds >= 0);
    if (times_read_prefix(text, &times))
        expect(colander_value_compare(&times.first, &times.last) <= 0);
    if (!colander_times_read(text, &times))
        return;
    expect(colander_value_compare(&times.first, &times.last) <= 0);
    expect_pasted(&times.first);
    expect_pasted(&times.last);
}

/* The last quarter of the words are columns to remove. */
static void
read_assignments(const char *const *words, size_t count)
{
    const size_t set_count = count - count / 4;
    struct colander_buffer patch = COLANDER_BUFFER_EMPTY;
    struct colander_error err = {.code = COLANDER_OK};
    struct colander_fault fault = {0, 0};
    enum colander_code code =
        colander_patch_words(words, set_count, words + set_count,
                             count - set_count, &patch, &fault, &err);

    if (code == COLANDER_OK)
        OK(colander_row_check(colander_buffer_slice(&patch), NULL));
    else if (code == COLANDER_INVALID)
        expect(fault.word < count && fault.offset <= strlen(words[fault.word]));
    colander_buffer_release(&patch);
}

static void
read_words(char *text)
{
    const char *words[WORDS_MAX];
    struct colander_error err = {.code = COLANDER_OK};
    struct colander_predicate *predicate;
    struct colander_fault fault = {0, 0};
    size_t count = 0;
    size_t offset = 0;

    for (char *word = text; word != NULL && count < WORDS_MAX; count++)
        words[count] = strsep(&word, "\n");
    predicate = colander_where_words(words, count, &fault, &err);
    if (predicate == NULL && err.code == COLANDER_INVALID)
        expect(fault.word < count && fault.offset <= strlen(words[fault.word]));
    colander_predicate_destroy(predicate);
    read_assignments(words, count);
    predicate = colander_where_any_text(words[0], &offset, &err);
    if (predicate == NULL && err.code == COLANDER_INVALID)
        expect(offset <= strlen(words[0]));
    colander_predicate_destroy(predicate);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);

    expect(text != NULL);
    read_time(colander_slice_of(data, size));
    read_words(text);
    free(text);
    return 0;
}
