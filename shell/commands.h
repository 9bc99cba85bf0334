/*
 * Commands: what the program and its shell can be asked to do.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMMANDS_H
#define SHELL_COMMANDS_H

#include "shell/arguments.h"
#include "shell/session.h"

enum command_store {
    COMMAND_READS,  /* its first word is a store, opened to read */
    COMMAND_WRITES, /* the same, to write; made where there is none */
    COMMAND_OPENS,  /* sees to its store itself; not within a shell */
    COMMAND_ALONE,  /* needs none */
};

struct command {
    const char *name;
    const char *words; /* as the usage shows them, without a STORE */
    const char *summary;
    const char *help;
    enum command_store store;
    const struct argument_option *options;
    size_t word_count_min; /* without a STORE */
    size_t word_count_max;
    size_t option_words; /* options end behind so many words */
    enum session_exit (*run)(struct session *session,
                             const struct arguments *arguments);
};

extern const struct command command_backup;
extern const struct command command_check;
extern const struct command command_columns;
extern const struct command command_demo;
extern const struct command command_export;
extern const struct command command_families;
extern const struct command command_find;
extern const struct command command_get;
extern const struct command command_help;
extern const struct command command_load;
extern const struct command command_refilter; /* only with value filters */
extern const struct command command_restore;
extern const struct command command_salvage;
extern const struct command command_shell;
extern const struct command command_stats;

/* NULL when there is none. */
const struct command *commands_find(const char *name);

/* Prints a line for each command that goes within the shell as well. */
void commands_print_shell(void);

/* The name of such a command; NULL behind the last. */
const char *commands_shell_name(size_t index);

/* Runs the command argv[0] with the words behind it. */
enum session_exit commands_run(struct session *session, int argc,
                               const char *const *argv);

#endif
