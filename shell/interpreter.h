/*
 * Interpreter: Lua with an open store, for the shell and its scripts.
 *
 * The globals are those of Lua; `db`, the store; `colander`, the module; its
 * operators (`gt`, `null`, ...); and a global for each family, created when it
 * is first used, unless a script sets that name.
 *
 * Ctrl-C stops what runs, also in a coroutine and through pcall; so does a pipe
 * that no one reads. It does not stop a long-running function of C, finalizers
 * or message handlers. A second Ctrl-C does: see interrupt.h.
 *
 * Life:    create -> load and call, any number of times -> destroy
 * Threads: one interpreter at a time, in the main thread
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_INTERPRETER_H
#define SHELL_INTERPRETER_H

#include "shell/session.h"

#include <lua.h>

struct interpreter;

/* Requires a session with a store, which outlives the interpreter. If
 * `memory_size` is not 0, scripts are not trusted: they have the libraries of
 * the sandbox, and as many bytes. */
COLANDER_CHECKED enum colander_code
interpreter_create(struct session *session, size_t memory_size,
                   struct interpreter **interpreter,
                   struct colander_error *err);

/* Closes all that scripts opened. NULL is allowed. */
void interpreter_destroy(struct interpreter *interpreter);

lua_State *interpreter_state(struct interpreter *interpreter);

/* What is printed of a failure. */
enum interpreter_detail {
    INTERPRETER_MESSAGE,
    INTERPRETER_TRACEBACK,
};

/* Calls the function below `argument_count` arguments on the stack, and leaves
 * its results there. On failure prints the error, and leaves nothing. */
COLANDER_CHECKED enum session_exit
interpreter_call(struct interpreter *interpreter, int argument_count,
                 enum interpreter_detail detail);

/* Prints the error that loading a chunk left on the stack. */
enum session_exit interpreter_fail(struct interpreter *interpreter);

/* Runs a script: `text`, or, if that is NULL, the file `name`, "-" for standard
 * input. The words become `...` and the table `arg`. */
COLANDER_CHECKED enum session_exit
interpreter_run_script(struct interpreter *interpreter, const char *name,
                       struct colander_slice text, const char *const *words,
                       size_t word_count);

#endif
