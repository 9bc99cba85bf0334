/*
 * Arguments: the words of one command, told apart from its options.
 *
 * An option is --name, --name VALUE or --name=VALUE; one of a single letter has
 * one dash. "--" ends the options.
 * A word such as -5 is a word, so that negative keys need no quoting.
 *
 * Life:   parse -> has, value, number -> release
 * Memory: all texts are borrowed from argv
 * Knows:  nothing of what the options mean
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_ARGUMENTS_H
#define SHELL_ARGUMENTS_H

#include "colander.h"

/* A list of them ends with one whose name is NULL. */
struct argument_option {
    const char *name; /* without the dashes */
    bool has_value;
    bool repeats; /* may be given more than once */
};

struct argument_choice {
    const struct argument_option *option;
    const char *value; /* NULL when it takes none */
};

struct arguments {
    const char **words; /* what is no option, in order */
    size_t word_count;
    struct argument_choice *choices; /* the options given, in order */
    size_t choice_count;
    bool wants_help; /* --help or -h was among them */
};

#define ARGUMENTS_EMPTY                                                        \
    {                                                                          \
        NULL, 0, NULL, 0, false                                                \
    }

/* Reads argv[1] and on; behind `option_words` words all is words. INVALID for
 * an option that is not in `options`. */
COLANDER_CHECKED enum colander_code
arguments_parse(struct arguments *arguments,
                const struct argument_option *options, size_t option_words,
                int argc, const char *const *argv, struct colander_error *err);

void arguments_release(struct arguments *arguments);

/* Takes away the first word. */
void arguments_shift(struct arguments *arguments);

bool arguments_has(const struct arguments *arguments, const char *name);

/* The value of the option `name`, or NULL when it was not given. */
const char *arguments_value(const struct arguments *arguments,
                            const char *name);

/* Sets *number when the option `name` was given. INVALID for no number. */
COLANDER_CHECKED enum colander_code
arguments_number(const struct arguments *arguments, const char *name,
                 uint64_t *number, struct colander_error *err);

/* The same for bytes, where k, m or g behind the number multiply it. */
COLANDER_CHECKED enum colander_code
arguments_size(const struct arguments *arguments, const char *name,
               uint64_t *size, struct colander_error *err);

/* The same for a number with a fraction. */
COLANDER_CHECKED enum colander_code
arguments_real(const struct arguments *arguments, const char *name,
               double *number, struct colander_error *err);

#endif
