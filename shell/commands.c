/*
 * Commands: see commands.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"

#include <stdio.h>

static const struct command *const commands[] = {
    &command_load,     &command_find,    &command_get,     &command_export,
    &command_families, &command_columns, &command_stats,
#ifdef COLANDER_FILTERS
    &command_refilter,
#endif
    &command_check,    &command_backup,  &command_restore, &command_salvage,
    &command_shell,    &command_demo,    &command_help,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const char overview[] =
    "colander: a wide-column store that finds rows by any value\n"
    "\n"
    "usage: colander COMMAND ...\n"
    "       colander STORE          (short for colander shell STORE)\n"
    "\n";

const struct command *
commands_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

/* Whether the command works on a store that is open while it runs. */
static bool
uses_store(const struct command *command)
{
    return command->store == COMMAND_READS || command->store == COMMAND_WRITES;
}

/* ------------------------------------------------------------- help --- */

static void
print_usage(const struct session *session, const struct command *command,
            FILE *file)
{
    bool names_store = uses_store(command) && !session->is_shell;

    fprintf(file, "usage: %s%s%s%s%s\n", session->is_shell ? "." : "colander ",
            command->name, names_store ? " STORE" : "",
            command->words[0] == '\0' ? "" : " ", command->words);
}

static void
print_help(const struct session *session, const struct command *command)
{
    print_usage(session, command, stdout);
    printf("\n%s", command->help);
}

static void
print_overview(void)
{
    fputs(overview, stdout);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
    printf("\ncolander COMMAND --help tells more. So does man colander, once "
           "installed.\n");
}

void
commands_print_shell(void)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (uses_store(commands[i]))
            printf("  .%-9s %s\n", commands[i]->name, commands[i]->summary);
    }
}

const char *
commands_shell_name(size_t index)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (uses_store(commands[i]) && index-- == 0)
            return commands[i]->name;
    }
    return NULL;
}

static const struct argument_option no_options[] = {{NULL, false, false}};

static enum session_exit
run_help(struct session *session, const struct arguments *arguments)
{
    const struct command *command;

    if (arguments->word_count == 0) {
        print_overview();
        return SESSION_FINE;
    }
    command = commands_find(arguments->words[0]);
    if (command == NULL) {
        session_complain(session, "no command '%s'", arguments->words[0]);
        return SESSION_USAGE;
    }
    print_help(session, command);
    return SESSION_FINE;
}

const struct command command_help = {
    "help",
    "[COMMAND]",
    "this, or more about one command",
    "Lists the commands, or tells more about one of them.\n",
    COMMAND_ALONE,
    no_options,
    0,
    1,
    SIZE_MAX,
    run_help,
};

/* -------------------------------------------------------------- run --- */

/* Says what is wrong with the number of words. */
static enum session_exit
misuse(const struct session *session, const struct command *command,
       const char *what)
{
    session_complain(session, "%s", what);
    print_usage(session, command, stderr);
    return SESSION_USAGE;
}

/* Runs a command between the opening and the closing of its store. */
static enum session_exit
run_on_store(struct session *session, const struct command *command,
             struct arguments *arguments)
{
    const enum colander_open_mode mode = command->store == COMMAND_READS
                                             ? COLANDER_OPEN_READ_ONLY
                                             : COLANDER_OPEN_OR_CREATE;
    enum session_exit status;
    struct colander_error err;

    if (session_open(session, arguments->words[0], mode, &err) != COLANDER_OK)
        return session_fail(session, &err);
    arguments_shift(arguments);
    status = command->run(session, arguments);
    if (session_close(session, &err) != COLANDER_OK && status == SESSION_FINE)
        status = session_fail(session, &err);
    return status;
}

static enum session_exit
run_parsed(struct session *session, const struct command *command,
           struct arguments *arguments)
{
    bool names_store = uses_store(command) && !session->is_shell;
    size_t first = names_store ? 1 : 0;

    if (arguments->wants_help) {
        print_help(session, command);
        return SESSION_FINE;
    }
    if (session->is_shell && command->store == COMMAND_OPENS) {
        session_complain(session, "not within the shell");
        return SESSION_USAGE;
    }
    if (arguments->word_count < command->word_count_min + first)
        return misuse(session, command, "something is missing");
    if (arguments->word_count - first > command->word_count_max)
        return misuse(session, command, "too many words");
    if (names_store)
        return run_on_store(session, command, arguments);
    return command->run(session, arguments);
}

static enum session_exit
refuse(const struct session *session, const char *name)
{
    if (session->is_shell)
        session_complain(session, "no command '.%s' (see .help)", name);
    else
        session_complain(session,
                         "neither a command nor a store: '%s' (see colander "
                         "--help)",
                         name);
    return SESSION_USAGE;
}

enum session_exit
commands_run(struct session *session, int argc, const char *const *argv)
{
    const struct command *command = commands_find(argv[0]);
    struct arguments arguments = ARGUMENTS_EMPTY;
    struct colander_error err;
    enum session_exit status;

    if (command == NULL)
        return refuse(session, argv[0]);
    session->command = command->name;
    if (arguments_parse(&arguments, command->options, command->option_words,
                        argc, argv, &err) == COLANDER_OK)
        status = run_parsed(session, command, &arguments);
    else
        status = session_misused(session, &err);
    arguments_release(&arguments);
    if (output_flush(stdout, &err) != COLANDER_OK && status == SESSION_FINE)
        status = session_fail(session, &err);
    session->command = NULL;
    return status;
}
