/* See arguments.h. SPDX-License-Identifier: MIT */
#include "shell/arguments.h"
#include "shell/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HELP_COLUMN 24 /* where the help of an option begins */

const struct argument_option options_none[] = {OPTIONS_END};

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

static void
offer_options(struct nearest *nearest, const struct argument_option *options)
{
    for (; options->name != NULL; options++) {
        if (options->instead == NULL)
            nearest_offer(nearest, options->name);
    }
}

/* Returns the option that may have been meant by a word of `size` bytes, or
 * NULL. */
static const char *
nearest_option(const struct arguments *arguments,
               const struct argument_option *options, const char *word,
               size_t size)
{
    char name[64];
    struct nearest nearest = {.wanted = name};

    if (size < 3 || size - 2 >= sizeof(name))
        return NULL;
    memcpy(name, word + 2, size - 2);
    name[size - 2] = '\0';
    offer_options(&nearest, options);
    if (arguments->common != NULL)
        offer_options(&nearest, arguments->common);
    return nearest.name;
}

/* Fails with a hint: which option may have been meant, or how to write one that
 * has only one dash. */
static enum colander_code
fail_unknown(const struct arguments *arguments,
             const struct argument_option *options, const char *word,
             size_t size, struct colander_error *err)
{
    const char *nearest = nearest_option(arguments, options, word, size);

    if (size > 2 && find_option(options, word + 1, size - 1) != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unknown option '%.*s' (write -%.*s)", (int)size,
                             word, (int)size, word);
    if (nearest != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unknown option '%.*s': did you mean '--%s'?",
                             (int)size, word, nearest);
    return COLANDER_FAIL(
        err, COLANDER_INVALID, "unknown option '%.*s' (%s)", (int)size, word,
        options->name == NULL ? "write -- before a word that begins with -"
                              : "--help lists the options");
}

/* Adds the option argv[*index], and steps over its value. An old spelling
 * counts as the option that it means. */
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
    if (option == NULL && size > 3 && arguments->common != NULL)
        option = find_option(arguments->common, word + 2, size - 2);
    if (option == NULL)
        return fail_unknown(arguments, options, word, size, err);
    if (option->instead != NULL)
        option = find_option(options, option->instead, strlen(option->instead));
    if (!option->repeats && arguments_has(arguments, option->name))
        return COLANDER_FAIL(err, COLANDER_INVALID, "%.*s is given twice",
                             (int)size, word);
    if (option->value == NULL && value != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "%.*s takes no value",
                             (int)size, word);
    if (option->value != NULL && value == NULL) {
        if (*index + 1 >= argc)
            return COLANDER_FAIL(err, COLANDER_INVALID, "%.*s needs a value",
                                 (int)size, word);
        value = argv[++*index];
        if (strncmp(value, "--", 2) == 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "%.*s needs a value before '%.40s' (or write "
                                 "%.*s=%.40s)",
                                 (int)size, word, value, (int)size, word,
                                 value);
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
    bool is_open = true; /* options may still follow */

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

const char *
arguments_first_word(const struct argument_option *options, int argc,
                     const char *const *argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + (argv[i][0] == '-' && argv[i][1] == '-') +
                           (argv[i][0] == '-');
        const struct argument_option *option;

        if (!is_option(argv[i]))
            return argv[i];
        if (name[0] == '\0') /* -- */
            return i + 1 < argc ? argv[i + 1] : NULL;
        option = find_option(options, name, strlen(name)); /* without = */
        i += option != NULL && option->value != NULL;
    }
    return NULL;
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

/* Reads digits; *end is what follows them. */
static bool
read_digits(const char *text, uintmax_t *number, char **end)
{
    errno = 0;
    *number = strtoumax(text, end, 10);
    return isdigit((unsigned char)text[0]) && errno == 0;
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
    if (!read_digits(text, &parsed, &end) || *end != '\0')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s must be a number, not '%s'", name, text);
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
    bool ok;

    if (text == NULL)
        return COLANDER_OK;
    ok = read_digits(text, &parsed, &end);
    if (*end != '\0' && strchr(units, tolower((unsigned char)*end)) != NULL)
        shift = 10 * (unsigned)(strchr(units, tolower((unsigned char)*end++)) -
                                units + 1);
    if (!ok || *end != '\0' || parsed == 0 || parsed > UINT64_MAX >> shift)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s must be a number of bytes such as 1000000 "
                             "or 64m, not '%s'",
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
                             "--%s must be a number such as 0.01, not '%s'",
                             name, text);
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

/* --------------------------------------------------------------- lists --- */

char *
argument_path_end(char *path)
{
    while (*path != '\0' && *path != ',')
        path += path[0] == '\\' && path[1] != '\0' ? 2 : 1;
    return path;
}

/* Adds the paths in `text`, which it cuts. */
static enum colander_code
add_paths(struct argument_list *list, char *text, const char *name,
          struct colander_error *err)
{
    for (bool is_last = false; !is_last;) {
        char *end = argument_path_end(text);

        is_last = *end == '\0';
        if (end == text)
            return COLANDER_FAIL(
                err, COLANDER_INVALID,
                "--%s has an empty column (write columns as a,b)", name);
        *end = '\0';
        list->paths[list->count++] = text;
        text = end + 1;
    }
    return COLANDER_OK;
}

enum colander_code
arguments_list(const struct arguments *arguments, const char *name,
               struct argument_list *list, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t size = 0;
    char *at;

    for (size_t i = 0; i < arguments->choice_count; i++) {
        if (strcmp(arguments->choices[i].option->name, name) == 0)
            size += strlen(arguments->choices[i].value) + 1;
    }
    if (size == 0)
        return COLANDER_OK;
    list->text = at = malloc(size);
    list->paths = calloc(size, sizeof(*list->paths));
    if (list->text == NULL || list->paths == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    for (size_t i = 0; i < arguments->choice_count && code == COLANDER_OK;
         i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (strcmp(choice->option->name, name) != 0)
            continue;
        size = strlen(choice->value) + 1;
        memcpy(at, choice->value, size);
        code = add_paths(list, at, name, err);
        at += size;
    }
    return code;
}

void
argument_list_release(struct argument_list *list)
{
    free(list->text);
    free(list->paths);
    memset(list, 0, sizeof(*list));
}

/* ---------------------------------------------------------------- help --- */

/* Prints one option: its name in the first column, its help in the second. */
static void
print_option(FILE *file, const struct argument_option *option)
{
    const char *line = option->help;
    int width =
        fprintf(file, "  %s%s%s%s", option->name[1] == '\0' ? "-" : "--",
                option->name, option->value == NULL ? "" : " ",
                option->value == NULL ? "" : option->value);

    if (width > HELP_COLUMN - 2)
        width = fprintf(file, "\n") - 1;
    while (*line != '\0') {
        const int size = (int)strcspn(line, "\n");

        fprintf(file, "%*s%.*s\n", HELP_COLUMN - width, "", size, line);
        line += size + (line[size] == '\n');
        width = 0;
    }
}

void
arguments_print_help(FILE *file, const struct argument_option *options)
{
    for (size_t i = 0; options[i].name != NULL; i++) {
        const bool is_heading = options[i].name[0] == '\0';

        if (options[i].instead != NULL)
            continue;
        if (is_heading || i == 0)
            fprintf(file, "\n%s:\n", is_heading ? options[i].help : "options");
        if (!is_heading)
            print_option(file, &options[i]);
    }
}
