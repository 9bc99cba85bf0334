/*
 * Commands: what the program and its shell can do.
 *
 * A command is a static struct. The session has the list of them, so that the
 * shell can run the commands of the program. Those that only change the shell
 * are in prompt/dot_commands.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COMMAND_H
#define SHELL_COMMAND_H

#include "shell/arguments.h"
#include "shell/session.h"

/* Which store a command needs, and how it is opened. Its first word names it,
 * except in the shell, which runs only commands that read, write or need none,
 * on its own store. */
enum command_store {
    COMMAND_READS,          /* to read */
    COMMAND_WRITES,         /* to write; created if it does not exist */
    COMMAND_CHANGES,        /* to write; it must exist. With the option
                             * dry-run to read */
    COMMAND_READS_WHOLE,    /* to read; Ctrl-C ends the program */
    COMMAND_WRITES_FILTERS, /* to write; it must exist; Ctrl-C as above */
    COMMAND_OPENS,          /* the command opens the store */
    COMMAND_ALONE,          /* none */
};

struct command {
    const char *name;
    const char *words;    /* as the usage shows them, without a STORE */
    const char *summary;  /* of one line */
    const char *help;     /* paragraphs before the options; NULL: the summary */
    const char *examples; /* lines after the options; NULL: none */
    const struct argument_option *options;
    const struct command *for_topics; /* runs instead if the first word is an
                                       * address of topics or of a cluster;
                                       * NULL: none */
    const char *writes_with[5]; /* a command that READS opens its store to write
                                 * if it has one of these; ends with NULL */
    bool (*only_reads)(const struct arguments *arguments); /* with these words,
                              * STORE among them, a command that CHANGES opens
                              * its store to read; NULL: never */
    enum command_store store;
    bool goes_elsewhere;   /* it OPENS its store, or has it opened elsewhere */
    bool reads_clusters;   /* as those that READ do */
    bool runs_at_node;     /* the server of a node runs it for a client */
    bool is_dot;           /* it changes a shell, and nothing else */
    bool reads_files;      /* of its user */
    bool is_paged;         /* in the shell its output may go to a pager */
    const char *instead;   /* what to do about a store that another process has
                            * open; NULL: name the directory of one that none
                            * has */
    size_t word_count_min; /* without a STORE */
    size_t word_count_max; /* 0: as many as word_count_min */
    size_t option_words;   /* options end after these words; 0: nowhere */
    enum session_exit (*run)(struct session *session,
                             const struct arguments *arguments);
};

extern const struct command command_help;

/* All of them, in the order of help, then NULL. */
extern const struct command *const commands_all[];

/* Returns the command called `name`, or NULL if there is none. */
const struct command *command_by_name(const struct session *session,
                                      const char *name);

/* Returns a command that can be run here, or NULL after the last. */
const struct command *command_at(const struct session *session, size_t index);

/* The options that all commands have which a process can run that has the store
 * open; none for others. */
const struct argument_option *
command_common_options(const struct command *command);

/* Whether it is the address of a server, and not the directory of a store. */
bool command_is_elsewhere(const char *store);

/* Whether another process may answer for a directory if opening it fails so: it
 * has the store open, or is a node, which has its stores in folders there. */
bool command_may_be_elsewhere(enum colander_code code);

/* Has the command that runs, which OPENS its store, run by the process that has
 * the store open. Returns false, without a word, if none answers. */
bool command_run_elsewhere(struct session *session,
                           const struct arguments *arguments,
                           enum session_exit *status);

/* Runs the command argv[0] with the words after it. */
enum session_exit command_run(struct session *session, int argc,
                              const char *const *argv);

#endif
