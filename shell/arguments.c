/*
 * Arguments: see arguments.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Whether the word looks like an option; "-" and "-5" do not. */
static bool
is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' &&
           !isdigit((unsigned char)word[1]) && word[1] != '.';
}

static const struct argument_option *
find_option(const struct argument_option *options, const char *name,
            size_t size)
{
    for (; options->name != NULL; options++) {
        if (strlen(options->name) == size &&
            memcmp(options->name, name, size) == 0)
            return options;
    }
    return NULL;
}

/* Adds the option argv[*index], and steps over its value. */
static enum colander_code
add_option(struct arguments *arguments, const struct argument_option *options,
           int argc, const char *const *argv, int *index,
           struct colander_error *err)
{
    const char *word = argv[*index];
    size_t size = strcspn(word, "=");
    const struct argument_option *option = NULL;
    const char *value = word[size] == '=' ? word + size + 1 : NULL;

    if (size > 3 && word[1] == '-')
        option = find_option(options, word + 2, size - 2);
    else if (size == 2)
        option = find_option(options, word + 1, 1);
    if (option == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "unknown option '%.*s'",
                             (int)size, word);
    if (!option->repeats && arguments_has(arguments, option->name))
        return COLANDER_FAIL(err, COLANDER_INVALID, "%.*s is given twice",
                             (int)size, word);
    if (!option->has_value && value != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "%.*s takes no value",
                             (int)size, word);
    if (option->has_value && value == NULL) {
        if (*index + 1 >= argc)
            return COLANDER_FAIL(err, COLANDER_INVALID, "%.*s needs a value",
                                 (int)size, word);
        value = argv[++*index];
    }
    arguments->choices[arguments->choice_count].option = option;
    arguments->choices[arguments->choice_count++].value = value;
    return COLANDER_OK;
}

enum colander_code
arguments_parse(struct arguments *arguments,
                const struct argument_option *options, size_t option_words,
                int argc, const char *const *argv, struct colander_error *err)
{
    size_t room = argc > 0 ? (size_t)argc : 1;
    bool is_open = true; /* options may still come */

    arguments->words = calloc(room, sizeof(*arguments->words));
    arguments->choices = calloc(room, sizeof(*arguments->choices));
    if (arguments->words == NULL || arguments->choices == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for words");
    for (int i = 1; i < argc; i++) {
        enum colander_code code;

        if (is_open && strcmp(argv[i], "--") == 0) {
            is_open = false;
        } else if (is_open && (strcmp(argv[i], "--help") == 0 ||
                               strcmp(argv[i], "-h") == 0)) {
            arguments->wants_help = true;
        } else if (is_open && is_option(argv[i])) {
            code = add_option(arguments, options, argc, argv, &i, err);
            if (code != COLANDER_OK)
                return code;
        } else {
            arguments->words[arguments->word_count++] = argv[i];
            is_open = is_open && arguments->word_count < option_words;
        }
    }
    return COLANDER_OK;
}

void
arguments_release(struct arguments *arguments)
{
    free(arguments->words);
    free(arguments->choices);
    memset(arguments, 0, sizeof(*arguments));
}

static const struct argument_choice *
find_choice(const struct arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->choice_count; i++) {
        if (strcmp(arguments->choices[i].option->name, name) == 0)
            return &arguments->choices[i];
    }
    return NULL;
}

bool
arguments_has(const struct arguments *arguments, const char *name)
{
    return find_choice(arguments, name) != NULL;
}

const char *
arguments_value(const struct arguments *arguments, const char *name)
{
    const struct argument_choice *choice = find_choice(arguments, name);

    return choice == NULL ? NULL : choice->value;
}

enum colander_code
arguments_number(const struct arguments *arguments, const char *name,
                 uint64_t *number, struct colander_error *err)
{
    const char *text = arguments_value(arguments, name);
    uintmax_t parsed;
    char *end;

    if (text == NULL)
        return COLANDER_OK;
    errno = 0;
    parsed = strtoumax(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s takes a number from 0 up, not '%s'", name,
                             text);
    *number = parsed;
    return COLANDER_OK;
}

enum colander_code
arguments_size(const struct arguments *arguments, const char *name,
               uint64_t *size, struct colander_error *err)
{
    static const char units[] = "kmg";
    const char *text = arguments_value(arguments, name);
    unsigned shift = 0;
    uintmax_t parsed;
    char *end;

    if (text == NULL)
        return COLANDER_OK;
    errno = 0;
    parsed = strtoumax(text, &end, 10);
    if (*end != '\0' && strchr(units, *end) != NULL)
        shift = 10 * (unsigned)(strchr(units, *end++) - units + 1);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 ||
        parsed == 0 || parsed > UINT64_MAX >> shift)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s takes bytes such as 1000000 or 64m, not "
                             "'%s'",
                             name, text);
    *size = parsed << shift;
    return COLANDER_OK;
}

enum colander_code
arguments_real(const struct arguments *arguments, const char *name,
               double *number, struct colander_error *err)
{
    const char *text = arguments_value(arguments, name);
    double parsed;
    char *end;

    if (text == NULL)
        return COLANDER_OK;
    parsed = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || *end != '\0')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s takes a number such as 0.01, not '%s'", name,
                             text);
    *number = parsed;
    return COLANDER_OK;
}

void
arguments_shift(struct arguments *arguments)
{
    arguments->word_count--;
    memmove(arguments->words, arguments->words + 1,
            arguments->word_count * sizeof(*arguments->words));
}
