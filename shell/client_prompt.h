/*
 * Client prompt: lines that a shell which runs elsewhere has typed here, with
 * the editing and the history of one that runs here. Tab asks the server.
 *
 * Life:    a zeroed struct with its command -> reply* -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLIENT_PROMPT_H
#define SHELL_CLIENT_PROMPT_H

#include "serve/remote.h"

struct line_input;

struct client_prompt {
    const struct remote_command *command; /* the shell; borrowed */
    struct line_input *input;             /* NULL: nothing was typed yet */
    struct colander_buffer entry;         /* the lines of the current one */
    bool has_run; /* the server ran something since the last Ctrl-C here */
};

/* Saves the last entry in the history. */
void client_prompt_release(struct client_prompt *prompt);

/* Replies to an ask for a line. Fails with CANCELLED if the user leaves by
 * Ctrl-C. */
COLANDER_CHECKED enum colander_code
client_prompt_reply(struct client_prompt *prompt, const struct remote_ask *ask,
                    struct remote_reply *reply, struct colander_error *err);

#endif
