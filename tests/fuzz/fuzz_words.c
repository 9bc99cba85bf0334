/*
 * Any text as words of a condition, as assignments, as a value in any column,
 * as a time and as a duration. Nothing crashes, a mistake is in one of the
 * words, a time reads as itself after it was written, and a number equals the
 * text that it is.
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
    predicate = colander_where_words_icase(words, count, &fault, &err);
    colander_predicate_destroy(predicate);
    predicate = colander_where_search_text(NULL, words[0], &offset, &err);
    if (predicate == NULL && err.code == COLANDER_INVALID)
        expect(offset <= strlen(words[0]));
    colander_predicate_destroy(predicate);
    read_assignments(words, count);
    predicate = colander_where_any_text(words[0], &offset, &err);
    if (predicate == NULL && err.code == COLANDER_INVALID)
        expect(offset <= strlen(words[0]));
    colander_predicate_destroy(predicate);
}

/* Whether a row with the value equals the text, as any column. Text that is not
 * UTF-8 is in no row. */
static bool
is_found(struct colander_value value, const char *text)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_predicate *predicate;
    struct colander_slice row;
    size_t offset;
    bool is_match;

    expect(builder != NULL);
    colander_row_builder_add(builder, "a", value);
    predicate = colander_where_any_text(text, &offset, NULL);
    is_match = predicate == NULL;
    if (!is_match &&
        colander_row_builder_finish(builder, &row, NULL) == COLANDER_OK)
        OK(colander_predicate_evaluate(predicate, row, &is_match, NULL, NULL));
    colander_predicate_destroy(predicate);
    colander_row_builder_destroy(builder);
    return is_match;
}

static void
read_value(const char *text)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    size_t offset = 0;

    if (colander_value_read(text, &value, &bytes, &offset, NULL) !=
        COLANDER_OK) {
        expect(offset <= strlen(text));
    } else if (value.type != COLANDER_TIMESTAMP) { /* which may be now */
        expect(is_found(value, text));
        if (colander_type_is_number(value.type))
            expect(is_found(colander_text(text), text));
    }
    colander_buffer_release(&bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);

    expect(text != NULL);
    read_time(colander_slice_of(data, size));
    read_value(text);
    read_words(text);
    free(text);
    return 0;
}
