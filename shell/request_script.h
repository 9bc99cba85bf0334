/*
 * Request scripts: scripts of clients of a server, which run in it. They read
 * the store that it has open, so they cannot have a process of their own, as
 * safe scripts have. What could not be stopped is therefore left out of their
 * Lua: request_script.lua lists that.
 *
 * Memory is limited: of Lua, and of what a query holds. A script ends when its
 * client leaves or its time is over.
 *
 * Threads: any, one script each
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_REQUEST_SCRIPT_H
#define SHELL_REQUEST_SCRIPT_H

#include "shell/session.h"

/* Runs the text for the client of the session. What it returns or prints are
 * lines of JSON: the rows of a query, groups, a row or a table of columns, and
 * {"value":...} for other values. */
enum session_exit request_script_run(struct session *session, const char *text);

#endif
