/*
 * Serve: a store that this process has open, for other processes.
 *
 * A server answers HTTP/1.1 on a Unix socket in the store's directory and, if
 * it is asked to, on a TCP address. docs/serve.md describes the requests. Rows
 * of a find are those of one moment. They are read no faster than the client
 * takes them, and an answer ends with a last frame, so that one that was
 * cut is never taken for whole.
 *
 * The socket can be used by processes of this process's user and of root. A
 * client that comes by TCP must know the token.
 *
 * Life:    server_start -> (threads of the server answer) -> server_stop
 * Memory:  the store is borrowed until server_stop returns; options are copied
 * Threads: the store may be used by others meanwhile, but not closed
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "columns/columns.h"

#include <stdio.h>

#define SERVER_SOCKET "SOCKET" /* in the directory of the store */

/* What a request has changed. */
struct server_result {
    struct colander_row_builder *facts; /* its answer, in which a run adds */
    struct colander_error failure;      /* or why it failed */
};

/* A command of the program, with the words that a client was given, or those
 * that a request means. What is printed goes to the client; once that has left,
 * writes fail with EPIPE. */
struct server_command {
    const char *const *words; /* "find", "data", "tweets", ... */
    size_t word_count;        /* 1 at least */
    FILE *out;
    FILE *err;
    uint64_t width; /* of the terminal of the client; 0: unknown */
    bool out_is_terminal;
    bool err_is_terminal;
    bool in_is_terminal;
    bool is_local;                /* the client came through the Unix socket */
    struct server_result *result; /* of a request, for which nothing is printed;
                                   * NULL: a command line */
};

/* The command of a script in Lua, whose text is its last word. It may only read
 * the store, and prints lines of JSON. */
#define SERVER_SCRIPT "script"

/* The command of Tab at the prompt of a client: what may follow its last word,
 * a line that is typed there. */
#define SERVER_COMPLETION "complete"

/* Makes the end of the client cancel `cursor`; NULL: nothing any more. */
void server_command_watch(const struct server_command *command,
                          struct colander_cursor *cursor);

/* Whether the client has left, or the server ends. */
bool server_command_is_over(const struct server_command *command);

/*
 * Files of the client. Those of a command line are read and written by the
 * client, which is asked for them; of a request only "-" is there, its body.
 * `command` is const struct server_command *. loading/load.h describes the
 * functions. Any thread of the command may call them.
 */
enum colander_code server_file_look(void *command, const char *file,
                                    uint64_t *size, char **path,
                                    struct colander_error *err);
enum colander_code server_file_read(void *command, const char *file,
                                    uint64_t offset, void *data, size_t size,
                                    size_t *got, bool *is_end,
                                    struct colander_error *err);
bool server_file_would_wait(void *command, const char *file);
enum colander_code server_file_cut(void *command, const char *file,
                                   uint64_t *size, struct colander_error *err);
enum colander_code server_file_append(void *command, const char *file,
                                      struct colander_slice bytes,
                                      struct colander_error *err);

/* Counts what a load has done, for the metrics. */
void server_command_count_load(const struct server_command *command,
                               uint64_t rows, uint64_t rejects);

/* Asks at the terminal of the client. */
enum colander_code server_command_confirm(const struct server_command *command,
                                          const char *question, bool *is_yes,
                                          struct colander_error *err);

/* Has a line typed at the terminal of the client, which edits it, and appends
 * it, without its end; *is_end: there was none. `is_new`: what is typed before
 * is not of the same entry. Fails with CANCELLED if the user drops the entry;
 * once the user leaves, the command is over, too. */
enum colander_code server_command_read_line(
    const struct server_command *command, const char *prompt, bool is_new,
    struct colander_buffer *line, bool *is_end, struct colander_error *err);

/* Opens a view of a union (columns/union.h) that has what was acknowledged
 * before, of the family (NULL: of all); `is_partial`: of what can be read.
 * Waits for that at most wait_ms, or until is_over returns true. */
typedef enum colander_code server_open_fresh(void *node, const char *family,
                                             bool is_partial, unsigned wait_ms,
                                             bool (*is_over)(void *context),
                                             void *context,
                                             struct colander_store **view,
                                             struct colander_error *err);

/* A number among the metrics of a server. Those with one name follow each
 * other. */
struct server_metric {
    const char *name; /* without colander_; a gauge */
    const char *help;
    const char *family; /* labels; NULL: none */
    uint32_t partition;
    int64_t value;
};

/* Takes one, borrowed. */
typedef void server_take_metric(void *context,
                                const struct server_metric *metric);

/* Makes a value of the rows of a cursor, by the texts of two functions (see
 * docs/lua.md). Appends a row to `row` that has it as "value", unless it is
 * nil; nothing, without rows. Returns false if the rows are to be sent
 * instead: a function has failed, or needs too much, or is_over has returned
 * true. Is called in a thread that it may block. */
typedef bool server_reduce(struct colander_cursor *cursor, const char *map,
                           const char *reduce, bool (*is_over)(void),
                           struct colander_buffer *row);

/* Runs it, in a thread that it may block. Returns the exit status. */
typedef int server_run(void *context, const struct server_command *command);

struct server_options {
    const char *address; /* ADDRESS:PORT, as numbers; the port 0 means any that
                          * is free; NULL: only the socket */
    int listen_fd;       /* a socket of TCP that listens, in place of an
                          * address; taken; -1: none (-1) */
    const char *token;   /* required with an address: as token.h has it */
    const char *certificate; /* for TLS at the address: a certificate and those
                              * that sign it, in PEM; NULL: none */
    const char *key;         /* of the certificate, in PEM */
    const char *read_only;   /* why the store cannot be changed, for those that
                              * try; NULL: it can; borrowed until server_stop
                              * returns */
    server_run *run;         /* NULL: no commands */
    void *run_context;       /* borrowed until server_stop returns */

    /* Fails with INVALID if an order of a find is probably a mistake; NULL: no
     * order is. */
    enum colander_code (*check_order)(const char *text,
                                      struct colander_error *err);

    /* Say what a find lacks, in three steps: it begins with its columns, its
     * order (may be NULL) and its conditions; then each row is seen; then lines
     * about columns that no row has are added to the builder, as "hints", and
     * what `begin_hint` returned is freed. `where` is NULL if rows met it. The
     * builder is NULL if the find failed. All NULL: nothing is said. */
    void *(*begin_hint)(const char *const *paths, size_t path_count,
                        const char *order,
                        const struct colander_predicate *where);
    void (*see_row)(void *hint, struct colander_slice row);
    void (*end_hint)(void *hint, struct colander_family *family,
                     const struct colander_predicate *where,
                     struct colander_row_builder *builder);

    /* Opens a part of the store for another server: the members of a union
     * whose paths end so (columns/union.h). It is closed by the server. NULL:
     * there are no parts. */
    enum colander_code (*open_parts)(void *context, const char *const *ends,
                                     size_t count, struct colander_store **part,
                                     struct colander_error *err);
    server_open_fresh *open_fresh; /* NULL: the store always has it */

    /* Of a node of a cluster: adds what it knows of the cluster, as GET /nodes
     * answers (docs/serve.md), and lists its metrics. NULL: it is not one. */
    enum colander_code (*describe_cluster)(void *context,
                                           struct colander_row_builder *builder,
                                           struct colander_error *err);
    enum colander_code (*measure)(void *context, server_take_metric *take,
                                  void *take_context,
                                  struct colander_error *err);
    void *parts_context; /* of these; borrowed until server_stop returns */

    server_reduce *reduce; /* for another server; NULL: rows are sent */

    bool runs_lua;         /* also for clients of the address */
    bool runs_shells;      /* the same, and they may write with it */
    const char *backup_to; /* where clients of the address may have backups
                            * made, a directory or an address; NULL: nowhere;
                            * borrowed until server_stop returns */
    uint64_t backup_max;   /* how many there may be (100) */
    const char *log;       /* a file that gets a line for each request, or "-";
                            * NULL: none */
    bool logs_values;      /* also what was asked for */

    /* limits; what server_options_init sets is in braces */
    uint32_t connection_max; /* for each of socket and address (1024) */
    uint32_t answer_max;     /* answers under way; more are refused, to be
                              * asked again later (256) */
    uint32_t thread_max;     /* that read rows (32) */
    uint32_t command_max;    /* commands under way, each in a thread (64) */
    uint32_t load_max;       /* of these, loads: each has up to 100 MB (16) */
    uint32_t script_max;     /* of these, scripts: each has up to 135 MB; and
                              * as many reductions (4) */
    uint32_t shell_max;      /* of these, shells, which are scripts while they
                              * do not wait for their client (16) */
    uint32_t upkeep_max; /* of these, what reads or copies whole stores (2) */
    uint32_t request_ms; /* a request must have come whole after this time,
                              * or something of a load's body from elsewhere,
                              * and an idle connection is closed (30,000) */
    uint32_t stall_ms;   /* after which a client from elsewhere must have taken
                              * something of its answer (300,000) */
    uint32_t drop_ms;    /* that a client may still send a body which is not
                              * read any more, before it is cut off (5,000) */
    uint32_t stop_ms;    /* that server_stop waits for answers (10,000) */
};

void server_options_init(struct server_options *options);

struct server;

/*
 * Starts to answer. On success *server is the caller's to stop. Fails with BUSY
 * if another process serves the store, with INVALID if the address is none or
 * has no token or the certificate and its key cannot be used, and with IO if it
 * cannot be listened on. A socket that a killed
 * server left is replaced.
 */
COLANDER_CHECKED enum colander_code
server_start(struct colander_store *store, const struct server_options *options,
             struct server **server, struct colander_error *err);

/* Returns the address with its port, "127.0.0.1:40123", borrowed until
 * server_stop; NULL if there is none. */
const char *server_address(const struct server *server);

/* Whether only this machine can reach the address. */
bool server_is_loopback(const char *address);

/* Opens the file of the log again, which was renamed. On failure it is written
 * to as before. */
COLANDER_CHECKED enum colander_code
server_reopen_log(struct server *server, struct colander_error *err);

/* Removes the socket and takes no more requests. Waits for the answers under
 * way, `stop_ms` at most; those that are left are ended with an error that
 * their clients see. NULL is allowed. */
void server_stop(struct server *server);

#endif
