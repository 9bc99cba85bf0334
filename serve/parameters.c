/* See parameters.h. SPDX-License-Identifier: MIT */
#include "serve/parameters.h"
#include "core/array.h"

#include <stdlib.h>

static int
digit_of(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    character |= 0x20;
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* Decodes %XX in place, and in a form also +. Fails on others, on a zero byte,
 * which no text has, and on control characters that are not encoded. */
static bool
decode(char *text, bool is_form)
{
    char *to = text;

    for (; *text != '\0'; text++) {
        char character = *text;

        if (character == '+' && is_form) {
            character = ' ';
        } else if (character == '%') {
            const int high = digit_of(text[1]);
            const int low = high < 0 ? -1 : digit_of(text[2]);

            if (low < 0 || (high == 0 && low == 0))
                return false;
            character = (char)(high << 4 | low);
            text += 2;
        } else if ((unsigned char)character < ' ' || character == 0x7f) {
            return false;
        }
        *to++ = character;
    }
    *to = '\0';
    return true;
}

/* Copies `size` bytes; the copy is freed with the parameters. NULL if memory
 * is short. */
static char *
keep(struct parameters *parameters, const char *bytes, size_t size)
{
    char *text;

    if (array_reserve(&parameters->texts, parameters->text_count,
                      &parameters->text_capacity, 1, NULL) != COLANDER_OK)
        return NULL;
    text = malloc(size + 1);
    if (text == NULL)
        return NULL;
    memcpy(text, bytes, size);
    text[size] = '\0';
    parameters->texts[parameters->text_count++] = text;
    return text;
}

static enum colander_code
fail_memory(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a request");
}

/* Adds "name=value", which is split in place. */
static enum colander_code
add(struct parameters *parameters, char *text, struct colander_error *err)
{
    char *value = strchr(text, '=');
    enum colander_code code;

    if (value != NULL)
        *value++ = '\0';
    else
        value = text + strlen(text);
    if (!decode(text, true) || !decode(value, true))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a parameter is not encoded correctly: write "
                             "%%25 for a percent sign");
    code = array_reserve(&parameters->list, parameters->count,
                         &parameters->capacity, 1, err);
    if (code == COLANDER_OK) {
        parameters->list[parameters->count].name = text;
        parameters->list[parameters->count++].value = value;
    }
    return code;
}

/* Adds all of them, split in place at `&`. */
static enum colander_code
add_all(struct parameters *parameters, char *text, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    char *rest;

    for (char *at = strtok_r(text, "&", &rest);
         at != NULL && code == COLANDER_OK; at = strtok_r(NULL, "&", &rest))
        code = add(parameters, at, err);
    return code;
}

/* Splits the path in place. */
static enum colander_code
split_path(struct parameters *parameters, char *path,
           struct colander_error *err)
{
    size_t count = 0;

    if (path[0] != '/')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the path does not begin with a slash");
    while (path != NULL && path[1] != '\0') {
        char *end = strchr(++path, '/');

        if (count == PARAMETERS_PATH_MAX)
            return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "unknown path");
        if (end != NULL)
            *end = '\0';
        if (!decode(path, false) || path[0] == '\0')
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the path is not encoded correctly");
        parameters->path[count++] = path;
        path = end;
    }
    return COLANDER_OK;
}

/* A client that follows the rules of URLs cannot send the path /find/.., so the
 * family may also be a parameter. */
static void
take_family(struct parameters *parameters)
{
    struct parameter *list = parameters->list;
    size_t at = 0;

    while (at < parameters->count && strcmp(list[at].name, "family") != 0)
        at++;
    if (parameters->path[0] == NULL || parameters->path[1] != NULL ||
        at == parameters->count || list[at].value[0] == '\0')
        return;
    parameters->path[1] = (char *)list[at].value;
    memmove(&list[at], &list[at + 1],
            (--parameters->count - at) * sizeof(*list));
}

enum colander_code
parameters_read(struct parameters *parameters, const char *target,
                struct colander_error *err)
{
    char *path = keep(parameters, target, strlen(target));
    enum colander_code code;
    char *query;

    if (path == NULL)
        return fail_memory(err);
    query = strchr(path, '?');
    if (query != NULL)
        *query++ = '\0';
    code = split_path(parameters, path, err);
    if (code == COLANDER_OK && query != NULL)
        code = add_all(parameters, query, err);
    if (code == COLANDER_OK)
        take_family(parameters);
    return code;
}

enum colander_code
parameters_add_form(struct parameters *parameters, struct colander_slice form,
                    struct colander_error *err)
{
    char *text = keep(parameters, (const char *)form.data, form.size);

    if (text == NULL)
        return fail_memory(err);
    if (strlen(text) != form.size)
        return COLANDER_FAIL(err, COLANDER_INVALID, "the form has a zero byte");
    text[strcspn(text, "\r\n")] = '\0'; /* as editors end a file */
    return add_all(parameters, text, err);
}

void
parameters_release(struct parameters *parameters)
{
    for (size_t i = 0; i < parameters->text_count; i++)
        free(parameters->texts[i]);
    free(parameters->texts);
    free(parameters->list);
    memset(parameters, 0, sizeof(*parameters));
}

enum colander_code
parameters_check(const struct parameters *parameters, const char *const *names,
                 size_t single_count, const char **wrong,
                 struct colander_error *err)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < parameters->count; i++) {
        const char *name = parameters->list[i].name;
        size_t at = 0;

        while (names[at] != NULL && strcmp(names[at], name) != 0)
            at++;
        *wrong = name;
        if (names[at] == NULL)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "unknown parameter '%s'", name);
        if (at < single_count && (seen >> at & 1) != 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the parameter '%s' is there twice", name);
        seen |= (uint64_t)1 << at;
    }
    *wrong = NULL;
    return COLANDER_OK;
}

const char *
parameters_value(const struct parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++) {
        if (strcmp(parameters->list[i].name, name) == 0)
            return parameters->list[i].value;
    }
    return NULL;
}

enum colander_code
parameters_number(const struct parameters *parameters, const char *name,
                  uint64_t *number, struct colander_error *err)
{
    const char *text = parameters_value(parameters, name);
    uint64_t read = 0;

    if (text == NULL)
        return COLANDER_OK;
    for (const char *at = text; *at != '\0'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');

        if (digit > 9 || read > (UINT64_MAX - digit) / 10)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "%s: '%s' is not a number from 0", name, text);
        read = 10 * read + digit;
    }
    if (*text == '\0')
        return COLANDER_FAIL(err, COLANDER_INVALID, "%s: a number is missing",
                             name);
    *number = read;
    return COLANDER_OK;
}

enum colander_code
parameters_flag(const struct parameters *parameters, const char *name,
                bool *is_set, struct colander_error *err)
{
    const char *text = parameters_value(parameters, name);

    if (text == NULL)
        return COLANDER_OK;
    *is_set =
        strcmp(text, "1") == 0 || strcmp(text, "true") == 0 || text[0] == '\0';
    if (!*is_set && strcmp(text, "0") != 0 && strcmp(text, "false") != 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "%s: '%s' is neither 1 nor 0", name, text);
    return COLANDER_OK;
}

/* ---------------------------------------------------------------- words --- */

/* Where the splitting is. */
struct split {
    struct words *words;
    const char *from;
    size_t at;   /* in `from` */
    size_t size; /* of the text that was written */
};

static void
put(struct split *split, char byte)
{
    split->words->places[split->size] = split->at;
    split->words->text[split->size++] = byte;
}

/* Takes a part in quotes. Returns false if it does not end. */
static bool
take_quoted(struct split *split, char quote)
{
    const char *from = split->from;

    for (split->at++; from[split->at] != quote; split->at++) {
        if (quote == '"' && from[split->at] == '\\' &&
            (from[split->at + 1] == '"' || from[split->at + 1] == '\\'))
            split->at++;
        if (from[split->at] == '\0')
            return false;
        put(split, from[split->at]);
    }
    split->at++;
    return true;
}

static bool
is_blank(char character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

static enum colander_code
take_word(struct split *split, size_t *offset, struct colander_error *err)
{
    const char *from = split->from;

    split->words->words[split->words->count++] =
        split->words->text + split->size;
    while (from[split->at] != '\0' && !is_blank(from[split->at])) {
        const char first = from[split->at];

        *offset = split->at;
        if (first == '\'' || first == '"') {
            if (!take_quoted(split, first))
                return COLANDER_FAIL(err, COLANDER_INVALID,
                                     "a quote is not closed");
            continue;
        }
        if (first == '\\' && from[split->at + 1] != '\0')
            split->at++;
        put(split, from[split->at]);
        split->at++;
    }
    put(split, '\0');
    return COLANDER_OK;
}

enum colander_code
words_split(struct words *words, const char *text, size_t *offset,
            struct colander_error *err)
{
    const size_t room = 2 * strlen(text) + 2; /* each word and its end */
    struct split split = {words, text, 0, 0};
    enum colander_code code = COLANDER_OK;

    memset(words, 0, sizeof(*words));
    words->words = calloc(room, sizeof(*words->words));
    words->text = malloc(room);
    words->places = calloc(room, sizeof(*words->places));
    if (words->words == NULL || words->text == NULL || words->places == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for words");
    while (code == COLANDER_OK) {
        while (is_blank(text[split.at]))
            split.at++;
        if (text[split.at] == '\0')
            break;
        code = take_word(&split, offset, err);
    }
    if (code != COLANDER_OK)
        words_release(words);
    return code;
}

size_t
words_place(const struct words *words, size_t word, size_t offset)
{
    if (word >= words->count)
        return 0;
    if (offset > strlen(words->words[word]))
        offset = strlen(words->words[word]);
    return words->places[(size_t)(words->words[word] - words->text) + offset];
}

void
words_release(struct words *words)
{
    free(words->words);
    free(words->text);
    free(words->places);
    memset(words, 0, sizeof(*words));
}
