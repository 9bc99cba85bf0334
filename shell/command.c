/* See command.h. SPDX-License-Identifier: MIT */
#include "shell/command.h"
#include "shell/interrupt.h"

#include <stdio.h>

static const char overview[] =
    "colander: a wide-column store that finds rows by any value\n"
    "\n"
    "usage: colander COMMAND [ARGUMENT...]\n"
    "       colander STORE          (short for colander shell STORE)\n"
    "\n"
    "commands:\n";

/* Returns NULL after the last. */
static const struct command *
command_at(const struct session *session, size_t index)
{
    return session->commands == NULL ? NULL : session->commands[index];
}

const struct command *
command_by_name(const struct session *session, const char *name)
{
    for (size_t i = 0; command_at(session, i) != NULL; i++) {
        if (strcmp(command_at(session, i)->name, name) == 0)
            return command_at(session, i);
    }
    return NULL;
}

static bool
runs_in_shell(const struct command *command)
{
    return command->store == COMMAND_READS || command->store == COMMAND_WRITES;
}

static bool
names_store(const struct session *session, const struct command *command)
{
    return command->store < COMMAND_OPENS && !session->is_shell;
}

/* ---------------------------------------------------------------- help --- */

static void
print_usage(const struct session *session, const struct command *command,
            FILE *file)
{
    fprintf(file, "usage: %s%s%s%s%s\n", session->is_shell ? "." : "colander ",
            command->name, names_store(session, command) ? " STORE" : "",
            command->words[0] == '\0' ? "" : " ", command->words);
}

static void
print_help(const struct session *session, const struct command *command)
{
    print_usage(session, command, stdout);
    printf("\n%s", command->help);
    arguments_print_help(command->options);
    if (command->examples != NULL)
        printf("\nexamples:\n%s", command->examples);
}

void
command_print_shell(const struct session *session)
{
    for (size_t i = 0; command_at(session, i) != NULL; i++) {
        if (runs_in_shell(command_at(session, i)))
            printf("  .%-9s %s\n", command_at(session, i)->name,
                   command_at(session, i)->summary);
    }
}

const char *
command_shell_name(const struct session *session, size_t index)
{
    for (size_t i = 0; command_at(session, i) != NULL; i++) {
        if (runs_in_shell(command_at(session, i)) && index-- == 0)
            return command_at(session, i)->name;
    }
    return NULL;
}

static enum session_exit
run_help(struct session *session, const struct arguments *arguments)
{
    const struct command *command;

    if (arguments->word_count == 0) {
        fputs(overview, stdout);
        for (size_t i = 0; command_at(session, i) != NULL; i++)
            printf("  %-9s %s\n", command_at(session, i)->name,
                   command_at(session, i)->summary);
        printf("\nTry 'colander COMMAND --help', or 'man colander'.\n");
        return SESSION_FINE;
    }
    command = command_by_name(session, arguments->words[0]);
    if (command == NULL) {
        session_complain(session, "no command '%s' (try %s)",
                         arguments->words[0],
                         session->is_shell ? ".help" : "colander --help");
        return SESSION_USAGE;
    }
    print_help(session, command);
    return SESSION_FINE;
}

static const struct argument_option no_options[] = {OPTIONS_END};

const struct command command_help = {
    .name = "help",
    .words = "[COMMAND]",
    .summary = "list the commands, or describe one",
    .help = "Lists the commands, or describes one of them.\n",
    .options = no_options,
    .store = COMMAND_ALONE,
    .word_count_max = 1,
    .run = run_help,
};

/* ----------------------------------------------------------------- run --- */

/* Reports the first word that the usage names and that is missing. */
static void
report_missing(const struct session *session, const struct command *command,
               size_t word_count)
{
    const bool has_store = names_store(session, command);
    const char *name = has_store && word_count == 0 ? "STORE" : command->words;

    for (size_t i = has_store ? 1 : 0; i < word_count; i++)
        name += strcspn(name, " ") + 1;
    session_complain(session, "%.*s is missing", (int)strcspn(name, " "), name);
}

/* Runs a command between the opening and the closing of its store. */
static enum session_exit
run_on_store(struct session *session, const struct command *command,
             struct arguments *arguments)
{
    enum colander_open_mode mode = COLANDER_OPEN_READ_ONLY;
    struct colander_error err;

    if (command->store == COMMAND_WRITES)
        mode = COLANDER_OPEN_OR_CREATE;
    if (command->store == COMMAND_WRITES_FILTERS)
        mode = COLANDER_OPEN_EXISTING;
    if (!runs_in_shell(command))
        interrupt_ends_program();
    if (session_open(session, arguments->words[0], mode, &err) != COLANDER_OK)
        return session_fail(session, &err);
    arguments_shift(arguments);
    return session_finish(session, command->run(session, arguments));
}

static enum session_exit
run_parsed(struct session *session, const struct command *command,
           struct arguments *arguments)
{
    const size_t first = names_store(session, command) ? 1 : 0;
    const size_t count_max = command->word_count_max == 0
                                 ? command->word_count_min
                                 : command->word_count_max;

    if (arguments->wants_help) {
        print_help(session, command);
        return SESSION_FINE;
    }
    if (session->is_shell && !runs_in_shell(command) &&
        command->store != COMMAND_ALONE) {
        session_complain(session,
                         "not available in the shell (run 'colander %s')",
                         command->name);
        return SESSION_USAGE;
    }
    if (arguments->word_count < command->word_count_min + first) {
        report_missing(session, command, arguments->word_count);
        print_usage(session, command, stderr);
        return SESSION_USAGE;
    }
    if (arguments->word_count - first > count_max) {
        session_complain(session, "unexpected argument '%s'",
                         arguments->words[first + count_max]);
        print_usage(session, command, stderr);
        return SESSION_USAGE;
    }
    if (first > 0)
        return run_on_store(session, command, arguments);
    return command->run(session, arguments);
}

enum session_exit
command_run(struct session *session, int argc, const char *const *argv)
{
    const struct command *command = command_by_name(session, argv[0]);
    struct arguments arguments = {.words = NULL};
    struct colander_error err;
    enum session_exit status;

    if (command == NULL) {
        session_complain(session,
                         session->is_shell
                             ? "no command '.%s' (try .help)"
                             : "'%s' is neither a command nor a store (try "
                               "colander --help)",
                         argv[0]);
        return SESSION_USAGE;
    }
    session->command = command->name;
    if (arguments_parse(&arguments, command->options,
                        command->option_words == 0 ? SIZE_MAX
                                                   : command->option_words,
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
