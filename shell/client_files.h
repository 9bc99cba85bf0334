/*
 * Client files: what a command that runs elsewhere asks this process for: the
 * files that its words name, a file of rejects, a yes at the terminal.
 *
 * A server gets no other file, whatever it asks for: those that `colander load`
 * was given, and its schema. It may write only the file of --rejects.
 *
 * Life:    init -> reply* -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLIENT_FILES_H
#define SHELL_CLIENT_FILES_H

#include "serve/remote.h"
#include "shell/arguments.h"

struct client_files {
    const struct arguments *arguments; /* borrowed */
    bool is_load;
    bool is_shell;    /* only its script is given, or standard input */
    const char *name; /* of the file that is open; borrowed; NULL: none is */
    int fd;
    bool is_seekable;
    int rejects; /* -1: not open */
};

/* `arguments` are those of the command; their first word is the store. */
void client_files_init(struct client_files *files, const char *command,
                       const struct arguments *arguments);

void client_files_release(struct client_files *files);

COLANDER_CHECKED enum colander_code
client_files_reply(struct client_files *files, const struct remote_ask *ask,
                   struct remote_reply *reply, struct colander_error *err);

#endif
