/*
 * Arguments: the words of one command, and its options.
 *
 * An option is --name, --name VALUE or --name=VALUE. An option of one letter
 * has one dash. "--" ends the options. A word such as -5 is not an option, so
 * negative keys need no quoting. A value that begins with -- needs
 * --name=VALUE, as most of them are the next option, by mistake.
 *
 * Life:   a zeroed struct, perhaps with `common` -> parse
 *         -> has, value, number -> release
 * Memory: all texts are borrowed from argv
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_ARGUMENTS_H
#define SHELL_ARGUMENTS_H

#include "colander.h"

#include <stdio.h>

/* A list of options ends with OPTIONS_END. */
struct argument_option {
    const char *name;    /* without the dashes; "": a heading */
    const char *value;   /* as help shows it; NULL: the option takes none */
    const char *help;    /* lines that fit in the second column */
    const char *instead; /* of an old spelling: the option that it means */
    bool repeats;
};

/* clang-format off */
#define OPTION(name, value, help)           { name, value, help, NULL, false }
#define OPTION_LIST(name, value, help)      { name, value, help, NULL, true }
#define OPTION_FLAG(name, help)             { name, NULL, help, NULL, false }
#define OPTION_OLD(name, value, instead)    { name, value, NULL, instead, true }
#define OPTION_GROUP(heading)               { "", NULL, heading, NULL, false }
#define OPTIONS_END                         { NULL, NULL, NULL, NULL, false }
/* clang-format on */

extern const struct argument_option options_none[];

/* The options that several commands have. */
#define OPTION_SELECT                                                          \
    OPTION_LIST("select", "COL[,COL]", "print only these columns")
#define OPTION_FORMAT(terminal)                                                \
    OPTION("format", "FORMAT",                                                 \
           "jsonl, json, csv, tsv, msgpack, table, box, markdown,\n"           \
           "line or pretty (default: " terminal " on a terminal, else\n"       \
           "jsonl)")

struct argument_choice {
    const struct argument_option *option;
    const char *value; /* NULL if the option takes none */
};

struct arguments {
    const struct argument_option *common; /* that many commands have, and this
                                           * one, too; NULL: none; borrowed */
    const char **words; /* all that is not an option, in order */
    size_t word_count;
    struct argument_choice *choices; /* the options, in order */
    size_t choice_count;
    bool wants_help; /* --help or -h is among them */
};

/* Reads argv[1] and the words after it. After `option_words` words, all others
 * are words too. Fails with INVALID for an option that is not in `options`. */
COLANDER_CHECKED enum colander_code
arguments_parse(struct arguments *arguments,
                const struct argument_option *options, size_t option_words,
                int argc, const char *const *argv, struct colander_error *err);

/* Returns the first word of argv[1] and those after it that is neither an
 * option nor the value of one, or NULL. An unknown option has no value. */
const char *arguments_first_word(const struct argument_option *options,
                                 int argc, const char *const *argv);

void arguments_release(struct arguments *arguments);

/* Removes the first word. */
void arguments_shift(struct arguments *arguments);

bool arguments_has(const struct arguments *arguments, const char *name);

/* Returns the value of the option `name`, or NULL if it is missing. */
const char *arguments_value(const struct arguments *arguments,
                            const char *name);

/* The following three set *number if the option `name` is there. They fail with
 * INVALID if its value is not a number. */

COLANDER_CHECKED enum colander_code
arguments_number(const struct arguments *arguments, const char *name,
                 uint64_t *number, struct colander_error *err);

/* Reads bytes: a number with k, m or g after it, in any case, or without. */
COLANDER_CHECKED enum colander_code
arguments_size(const struct arguments *arguments, const char *name,
               uint64_t *size, struct colander_error *err);

/* Reads a number that may have a fraction. */
COLANDER_CHECKED enum colander_code
arguments_real(const struct arguments *arguments, const char *name,
               double *number, struct colander_error *err);

/* The paths of an option such as --select. Starts zeroed. */
struct argument_list {
    char *text;         /* the paths, one after another */
    const char **paths; /* none: the option is missing */
    size_t count;
};

/* Returns the end of the first path of a list: its comma, or the end of the
 * text. A backslash makes a comma part of a name. */
char *argument_path_end(char *path);

/* Reads the paths of every option `name`. Commas separate them; a backslash
 * makes a comma part of a name. Release the list also on failure. */
COLANDER_CHECKED enum colander_code
arguments_list(const struct arguments *arguments, const char *name,
               struct argument_list *list, struct colander_error *err);

void argument_list_release(struct argument_list *list);

/* Prints the options as help shows them. */
void arguments_print_help(FILE *file, const struct argument_option *options);

#endif
