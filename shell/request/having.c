/* See having.h. SPDX-License-Identifier: MIT */
#include "shell/request/having.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define BLANKS " \t\r\n"
#define OPERATORS "=!<>~?:"

/* The words that a text is taken apart into. A text of n bytes has at most n.
 */
struct having_words {
    const struct having_columns *columns;
    const char *at;     /* what is left of the text */
    unsigned depth;     /* open parentheses */
    const char **words; /* one after another in `bytes` */
    size_t count;
    struct colander_buffer bytes;
};

static const char *
skip_blanks(const char *at)
{
    return at + strspn(at, BLANKS);
}

/* Returns the size of "and", "or" or "not" at `at`, or 0. */
static size_t
joint_size(const char *at)
{
    static const char *const joints[] = {"and", "or", "not"};

    for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++) {
        const size_t size = strlen(joints[i]);

        if (strncasecmp(at, joints[i], size) == 0 &&
            (at[size] == '\0' || strchr(BLANKS "()", at[size]) != NULL))
            return size;
    }
    return 0;
}

/* Returns the column whose name is at `at`, the longest, if an operator
 * follows, and sets *sign to that; or SIZE_MAX. */
static size_t
column_at(const struct having_columns *columns, const char *at,
          const char **sign)
{
    size_t longest = SIZE_MAX;
    size_t longest_size = 0;

    for (size_t i = 0; i < 2 * columns->count; i++) {
        const char *name =
            i % 2 == 0 ? columns->names[i / 2] : columns->paths[i / 2];
        const size_t size = strlen(name);
        const char *after = skip_blanks(at + strnlen(at, size));

        if (size >= longest_size && strncmp(at, name, size) == 0 &&
            *after != '\0' && strchr(OPERATORS, *after) != NULL) {
            longest = i / 2;
            longest_size = size;
            *sign = after;
        }
    }
    return longest;
}

/* Returns the end of the JSON string at `at`. */
static const char *
string_end(const char *at)
{
    for (at++; *at != '\0' && *at != '"'; at++)
        at += at[0] == '\\' && at[1] != '\0';
    return at + (*at == '"');
}

/* Returns the end of the value at `at`. */
static const char *
value_end(const struct having_words *words, const char *at)
{
    const bool is_list = *at == '[';
    const char *sign;

    if (*at == '"')
        at = string_end(at);
    while (is_list && *at != '\0' && *at != ']')
        at = *at == '"' ? string_end(at) : at + 1;
    for (; *at != '\0' && (*at != ')' || words->depth == 0); at++) {
        const char *next = skip_blanks(at);

        if (next != at &&
            (*next == '\0' || *next == '(' || joint_size(next) > 0 ||
             column_at(words->columns, next, &sign) != SIZE_MAX))
            break;
    }
    return at;
}

static enum colander_code
add_bytes(struct having_words *words, const char *bytes, size_t size,
          struct colander_error *err)
{
    return colander_buffer_append(&words->bytes, bytes, size, err);
}

/* Adds the name of a column as COL of a condition. */
static enum colander_code
add_name(struct having_words *words, const char *name,
         struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (; *name != '\0' && code == COLANDER_OK; name++) {
        if (strchr(OPERATORS ".[]\\\"(", *name) != NULL ||
            (*name == ' ' && name[1] == '\0'))
            code = add_bytes(words, "\\", 1, err);
        if (code == COLANDER_OK)
            code = add_bytes(words, name, 1, err);
    }
    return code;
}

/* Adds the condition at the front of the text. */
static enum colander_code
add_condition(struct having_words *words, struct colander_error *err)
{
    const char *sign = words->at;
    const size_t column = column_at(words->columns, words->at, &sign);
    size_t sign_size = 1;
    const char *value;
    enum colander_code code;

    if (column == SIZE_MAX)
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "expected a condition on a column of the groups, such as "
            "'%.100s>5', not '%.100s'",
            words->columns->names[words->columns->count - 1], words->at);
    if (*sign != '?' && *sign != ':')
        sign_size = strspn(sign, "=!<>~");
    value = skip_blanks(sign + sign_size);
    words->at = value_end(words, value);
    if (*sign == '?' || (*sign == '!' && sign_size == 1)) /* no value */
        words->at = value = sign + sign_size;
    code = add_name(words, words->columns->names[column], err);
    if (code == COLANDER_OK)
        code = add_bytes(words, sign, sign_size, err);
    return code == COLANDER_OK
               ? add_bytes(words, value, (size_t)(words->at - value), err)
               : code;
}

/* Adds the next word, of which there is one. */
static enum colander_code
add_word(struct having_words *words, struct colander_error *err)
{
    const bool is_sign = *words->at == '(' || *words->at == ')';
    const size_t size = is_sign ? 1 : joint_size(words->at);
    enum colander_code code;

    if (size > 0) {
        code = add_bytes(words, words->at, size, err);
        words->depth += *words->at == '(';
        words->depth -= *words->at == ')' && words->depth > 0;
        words->at += size;
    } else {
        code = add_condition(words, err);
    }
    words->count++;
    return code == COLANDER_OK ? add_bytes(words, "", 1, err) : code;
}

/* Takes the text apart. */
static enum colander_code
take_apart(struct having_words *words, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    const char *word;

    for (words->at = skip_blanks(words->at);
         *words->at != '\0' && code == COLANDER_OK;
         words->at = skip_blanks(words->at))
        code = add_word(words, err);
    if (code == COLANDER_OK && words->count == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "expected a condition");
    if (code != COLANDER_OK)
        return code;
    words->words = calloc(words->count, sizeof(*words->words));
    if (words->words == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for words");
    word = (const char *)words->bytes.data;
    for (size_t i = 0; i < words->count; i++) {
        words->words[i] = word;
        word += strlen(word) + 1;
    }
    return COLANDER_OK;
}

enum colander_code
having_read(const struct having_columns *columns, const char *text,
            struct colander_predicate **having, struct colander_error *err)
{
    struct having_words words = {.columns = columns, .at = text};
    enum colander_code code = take_apart(&words, err);

    *having = NULL;
    if (code == COLANDER_OK) {
        *having = colander_where_words(words.words, words.count, NULL, err);
        code = *having == NULL ? err->code : COLANDER_OK;
    }
    free(words.words);
    colander_buffer_release(&words.bytes);
    return code;
}
