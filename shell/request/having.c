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

/* Whether a condition with the sign and the value can be true of a column of
 * numbers. */
static bool
may_be_number(const char *sign, size_t sign_size, const char *value)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_value read;
    size_t offset;
    bool may_be = false;

    if (*sign == ':' || memchr(sign, '~', sign_size) != NULL)
        return false;
    if (*value == '[') /* its mistakes are found later */
        return true;
    if (colander_value_read(value, &read, &bytes, &offset, NULL) == COLANDER_OK)
        may_be =
            colander_type_is_number(read.type) || read.type == COLANDER_NULL;
    colander_buffer_release(&bytes);
    return may_be;
}

/* Fails if the value ends as one does that another condition follows in another
 * language, or if a number cannot be compared with it. */
static enum colander_code
check_value(const struct having_words *words, size_t column, const char *sign,
            size_t sign_size, struct colander_slice value,
            struct colander_error *err)
{
    static const char *const ends[] = {"&&", "||", "&", "|", ","};
    char text[256];
    bool may_be = true;

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const size_t size = strlen(ends[i]);

        if (value.size >= size && value.data[0] != '"' &&
            memcmp(value.data + value.size - size, ends[i], size) == 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "write '%s' instead of '%s' (a text that ends "
                                 "so needs double quotes)",
                                 *ends[i] == '|' ? "or" : "and", ends[i]);
    }
    if (words->columns->is_number[column] && value.size < sizeof(text)) {
        memcpy(text, value.data, value.size);
        text[value.size] = '\0';
        may_be = may_be_number(sign, sign_size, text);
    }
    if (may_be)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "'%.100s' is a number: compare it with one, by = != < "
                         "<= > or >=, not '%.*s%.*s'",
                         words->columns->names[column], (int)sign_size, sign,
                         (int)value.size, (const char *)value.data);
}

/* Fails because no column is at the front of the text. */
static enum colander_code
fail_unknown(const struct having_words *words, struct colander_error *err)
{
    const size_t size = strcspn(words->at, BLANKS OPERATORS);
    const char *path = skip_blanks(words->at + size);
    size_t path_size = strcspn(path, OPERATORS);

    while (path_size > 0 && strchr(BLANKS, path[path_size - 1]) != NULL)
        path_size--;
    if (path_size > 0 && words->columns->is_measure(words->at, size))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the groups have no '%.*s': add --%.*s %.*s",
                             (int)(path + path_size - words->at), words->at,
                             (int)size, words->at, (int)path_size, path);
    return COLANDER_FAIL(
        err, COLANDER_INVALID,
        "expected a condition on a column of the groups, such as "
        "'%.100s>5', not '%.100s'",
        words->columns->names[words->columns->count - 1], words->at);
}

/* Adds the condition at the front of the text. */
static enum colander_code
add_condition(struct having_words *words, struct colander_error *err)
{
    const char *sign = words->at;
    const size_t column = column_at(words->columns, words->at, &sign);
    size_t sign_size = 1;
    const char *value;
    enum colander_code code = COLANDER_OK;

    if (column == SIZE_MAX)
        return fail_unknown(words, err);
    if (*sign != '?' && *sign != ':')
        sign_size = strspn(sign, "=!<>~");
    value = skip_blanks(sign + sign_size);
    words->at = value_end(words, value);
    if (*sign == '?' || (*sign == '!' && sign_size == 1)) /* no value */
        words->at = value = sign + sign_size;
    else
        code = check_value(words, column, sign, sign_size,
                           colander_slice_of((const uint8_t *)value,
                                             (size_t)(words->at - value)),
                           err);
    if (code == COLANDER_OK)
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
