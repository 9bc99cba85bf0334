/*
 * Session: the store that commands use, and how they report errors.
 *
 * Each command of the program names its store, which is open while the command
 * runs. In the shell one store stays open for all commands.
 *
 * Life:   a zeroed struct -> open -> commands -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SESSION_H
#define SHELL_SESSION_H

#include "colander.h"
#include "shell/output.h"

/* How the program exits. */
enum session_exit {
    SESSION_FINE = 0,
    SESSION_FAILED = 1,
    SESSION_USAGE = 2,
    SESSION_REJECTED = 3, /* more records were rejected than allowed */
    SESSION_DAMAGED = 4,  /* the store is damaged, or I/O failed */
    SESSION_INTERRUPTED = 130,
    SESSION_UNREAD = 141, /* no one reads the output: exits without a word */
};

struct cluster_reader;
struct cluster_store;
struct colander_load_files;
struct topic_broker_options;
struct report;
struct command;
struct entries;

/* Another process, for which a command runs in a server. */
struct session_client {
    FILE *out; /* its standard output and error */
    FILE *err;
    bool out_is_terminal;
    bool err_is_terminal;
    bool in_is_terminal;
    bool may_run_lua; /* expressions of --where */
    bool is_local;    /* it is on this machine */
    bool
        is_trusted; /* in a shell it may do what the user of this process may */
    const char
        *backup_to;      /* where else it may have backups made; may be NULL */
    uint64_t backup_max; /* how many there may be */
    const struct colander_load_files *files; /* its files; their context: */
    void *context;

    /* Asks its user. */
    enum colander_code (*confirm)(void *context, const char *question,
                                  bool *is_yes, struct colander_error *err);

    /* Has its user type a line, as line_source of line_input.h. */
    enum colander_code (*read_line)(void *context, const char *prompt,
                                    bool is_new, struct colander_buffer *line,
                                    bool *is_end, struct colander_error *err);

    /* Opens a view of the store, as node_open_fresh does; NULL: it always has
     * what was acknowledged. */
    enum colander_code (*open_fresh)(void *node, const char *family,
                                     bool is_partial, unsigned wait_ms,
                                     bool (*is_over)(void *context),
                                     void *context,
                                     struct colander_store **view,
                                     struct colander_error *err);
    void *node;

    /* Counts what a load has done. */
    void (*count_load)(void *context, uint64_t rows, uint64_t rejects);

    /* Of a request that prints nothing: what the command has done, and why it
     * failed (OK: it did not). NULL: of a command line. */
    struct colander_row_builder *facts;
    struct colander_error *failure;
};

struct session {
    struct colander_store *store;        /* NULL while none is open */
    struct cluster_reader *reader;       /* of a backup that is read where it
                                            * is; NULL: a store */
    struct cluster_store *checkpoints;   /* that are read so; NULL: none */
    const struct session_client *client; /* NULL: this process; borrowed */
    const char *path;                    /* of the store; borrowed */
    const char *cluster; /* the address of that which the store is a node of;
                          * NULL: it is not; borrowed */
    const struct topic_broker_options *cluster_brokers; /* how its brokers are
                                                         * reached; borrowed */
    const struct command *const *commands; /* all there are, then NULL */
    const struct command *dot_commands;    /* those of the shell alone, then one
                                         * without a name; NULL: no shell */
    struct entries *entries;               /* of the shell, which they change */
    const char *command;     /* the one that runs, for messages; may be NULL */
    const char *const *argv; /* its words, as they were given; borrowed */
    int argc;
    const char *file;   /* that commands come from; may be NULL */
    unsigned long line; /* of it; 0: none */
    bool is_read_only;
    bool has_format; /* .mode was used: */
    enum output_format format;
    struct output_style style; /* of .nullvalue and .width */
    bool is_prompt;            /* a user types the commands */
    bool is_timed;             /* .timer is on */
    bool is_demo; /* rows are a table even if output is not a terminal */
};

/* Whether the word is the address of backups, of which one can be opened for
 * reading. */
bool session_is_address(const char *word);

/* Opens the store at `path`, or the backup at that address. It is borrowed
 * until close. */
COLANDER_CHECKED enum colander_code session_open(struct session *session,
                                                 const char *path,
                                                 enum colander_open_mode mode,
                                                 struct colander_error *err);
COLANDER_CHECKED enum colander_code
session_open_with(struct session *session, const char *path,
                  const struct colander_options *options,
                  struct colander_error *err);

/* Whether the store is a backup, or checkpoints, that are read where they
 * are. */
bool session_reads_objects(const struct session *session);

/* Adds a line about the objects that were read, if it does. */
void session_add_reads(const struct session *session, struct report *report);

/* Closes the store, if one is open. */
COLANDER_CHECKED enum colander_code session_close(struct session *session,
                                                  struct colander_error *err);

/* Closes the store after a command that ended with `status`. Returns `status`,
 * or how the program exits if only closing failed. */
enum session_exit session_finish(struct session *session,
                                 enum session_exit status);

/* Where commands print rows, and everything else. */
FILE *session_out(const struct session *session);
FILE *session_err(const struct session *session);

/* Whether that is a terminal. */
bool session_out_is_terminal(const struct session *session);
bool session_err_is_terminal(const struct session *session);

/* Opens the family `name`. Fails with NOT_FOUND if it does not exist, and names
 * the one that was probably meant, or else all that exist. */
COLANDER_CHECKED enum colander_code
session_family(const struct session *session, const char *name,
               struct colander_family **family, struct colander_error *err);

/* Fails with NOT_FOUND because no family has the name, as session_family. */
COLANDER_CHECKED enum colander_code
session_no_family(const struct session *session, const char *name,
                  struct colander_error *err);

/* Sets the style, and the format to the one called `name`. If that is NULL: to
 * the one of .mode, else to `terminal` on a terminal, else to JSON lines. */
COLANDER_CHECKED enum colander_code
session_format(const struct session *session, const char *name,
               enum output_format terminal, struct output_options *options,
               struct colander_error *err);

/* Adds to what a request of a client answers; nothing otherwise. */
void session_add_fact(const struct session *session, const char *name,
                      uint64_t count);

void session_add_text(const struct session *session, const char *name,
                      const char *text);

/* Adds the lines of both, as the array "hints", unless there are none. `more`
 * may be NULL. */
void session_add_hints(const struct session *session,
                       const struct report *hints, const struct report *more);

/* Whether commands print notes without being asked: how many rows there are,
 * and what a table left out. */
bool session_shows_notes(const struct session *session);

/* Whether finds also report what they read. At the prompt only with .timer. */
bool session_shows_costs(const struct session *session);

/* Why a store that is opened to read cannot be changed. */
const char *session_read_only(const struct session *session);

/* Prints a message on standard error, after the command, file and line that it
 * is about. Returns `status`, so that giving up is one statement. */
enum session_exit session_complain(const struct session *session,
                                   enum session_exit status, const char *format,
                                   ...) COLANDER_FORMAT(3, 4);

/* Prints the message of `err`. Returns how the program exits because of it. */
enum session_exit session_fail(const struct session *session,
                               const struct colander_error *err);

/* The same for what the user wrote: INVALID is wrong usage. */
enum session_exit session_misused(const struct session *session,
                                  const struct colander_error *err);

/* The same for a mistake at byte `offset` of `text`, with a caret below it. */
enum session_exit session_misread(const struct session *session,
                                  const char *text, size_t offset,
                                  const struct colander_error *err);

#endif
