/*
 * Interpreter: Lua with a store at hand, as the shell and its scripts have it.
 *
 * What is there besides Lua's own: `db`, the store; `colander`, the module; its
 * operators as globals (`gt`, `null`, ...); and a global for each family, made
 * when it is first asked for, that gives way to whatever a script sets.
 *
 * Ctrl-C ends what runs, also in a coroutine and through pcall; so does a pipe
 * that nobody reads. A function of C that goes on for long is not ended, nor
 * are finalizers and what handles an error (but see interrupt.h for a second
 * one).
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

/* `session` has a store, and outlives the interpreter. With `memory_size`, what
 * runs is a stranger's: it gets the sandbox's libraries, and Lua so many bytes;
 * 0: all of Lua, and no limit. */
COLANDER_CHECKED enum colander_code
interpreter_create(struct session *session, size_t memory_size,
                   struct interpreter **interpreter,
                   struct colander_error *err);

/* Closes all that scripts have opened. NULL is allowed. */
void interpreter_destroy(struct interpreter *interpreter);

lua_State *interpreter_state(struct interpreter *interpreter);

/* How much is told of a failure. */
enum interpreter_detail {
    INTERPRETER_MESSAGE,
    INTERPRETER_TRACEBACK,
};

/* Calls the function that stands below `argument_count` arguments on the stack,
 * which leaves all its results there; on failure nothing, and complains. */
COLANDER_CHECKED enum session_exit
interpreter_call(struct interpreter *interpreter, int argument_count,
                 enum interpreter_detail detail);

/* Complains of the error on the stack that loading a chunk has left there. */
enum session_exit interpreter_fail(struct interpreter *interpreter);

/* Runs a script: `text` (of the file `name`), or, where that is NULL, the file,
 * "-" being standard input. The words become `...` and the table `arg`. */
COLANDER_CHECKED enum session_exit
interpreter_run_script(struct interpreter *interpreter, const char *name,
                       struct colander_slice text, const char *const *words,
                       size_t word_count);

#endif
