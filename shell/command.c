/* See command.h. SPDX-License-Identifier: MIT */
#include "shell/command.h"
#include "shell/answer_scope.h"
#ifdef COLANDER_CLUSTER
#include "shell/cluster_find.h"
#endif
#include "shell/elsewhere.h"
#include "shell/interrupt.h"
#include "shell/manual.h"
#include "shell/nearest.h"

#include <stdio.h>

static const char overview[] =
    "colander: a wide-column store that finds rows by any value\n"
    "\n"
    "usage: colander COMMAND [ARGUMENT...]\n"
    "       colander STORE          (short for colander shell STORE)\n"
    "\n"
    "commands:\n";

static const char shell_overview[] =
    "Type Lua, in as many lines as it takes. The values of an expression are\n"
    "printed:\n"
    "  tweets:find{user = \"Smith\"}     rows of the family tweets\n"
    "  tweets:find{likes = gt(900)}:select(\"user\", \"likes\"):limit(3)\n"
    "  tweets:any_column(\"Houston\")    a value in any column\n"
    "  tweets:find():group(\"lang\"):count()\n"
    "  tweets:put(\"key\", {user = \"Wu\"})   db:family(\"new\"):put{...}\n"
    "\n"
    "Conditions: eq ne lt le gt ge between prefix contains any all none "
    "exists\n"
    "missing where any_column words phrase regex icase search, as in\n"
    "likes = between(5, 9), or the words of the command line:\n"
    "tweets:find{\"likes>5\", \"or\", \"lang=pl\"}. help(gt) describes one.\n"
    "\n"
    "Ctrl-C stops what runs, Tab completes names. The manuals are\n"
    "docs/shell.md, docs/lua.md and docs/cookbook.md, which are installed in\n"
    "share/doc/colander.\n\n";

/* Names that other programs have for a command of the shell. */
static const struct {
    const char *other;
    const char *name;
} aliases[] = {
    {"exit", "quit"},
    {"schema", "columns"},
    {"tables", "families"},
};

#define ALIAS_COUNT (sizeof(aliases) / sizeof(aliases[0]))

static bool
is_shell(const struct session *session)
{
    return session->dot_commands != NULL;
}

static bool
runs_in_shell(const struct command *command)
{
    return command->store <= COMMAND_CHANGES || command->store == COMMAND_ALONE;
}

/* Returns a command, whether or not it can be run here. */
static const struct command *
any_command_at(const struct session *session, size_t index)
{
    const struct command *dot = session->dot_commands;

    for (; dot != NULL && dot->name != NULL; dot++) {
        if (index-- == 0)
            return dot;
    }
    return session->commands == NULL ? NULL : session->commands[index];
}

const struct command *
command_at(const struct session *session, size_t index)
{
    const struct command *command;

    for (size_t i = 0; (command = any_command_at(session, i)) != NULL; i++) {
        if ((!is_shell(session) || runs_in_shell(command)) && index-- == 0)
            return command;
    }
    return NULL;
}

const struct command *
command_by_name(const struct session *session, const char *name)
{
    const struct command *command;

    for (size_t i = 0; is_shell(session) && i < ALIAS_COUNT; i++) {
        if (strcmp(aliases[i].other, name) == 0)
            name = aliases[i].name;
    }
    for (size_t i = 0; (command = any_command_at(session, i)) != NULL; i++) {
        if (strcmp(command->name, name) == 0)
            return command;
    }
    return NULL;
}

/* Reports that no command has the name, if another one may have been meant.
 * Returns whether it does. */
static bool
suggests_command(const struct session *session, const char *name)
{
    struct nearest nearest = {.wanted = name};
    const char *dot = is_shell(session) ? "." : "";
    const struct command *command;

    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++)
        nearest_offer(&nearest, command->name);
    for (size_t i = 0; is_shell(session) && i < ALIAS_COUNT; i++)
        nearest_offer(&nearest, aliases[i].other);
    if (nearest.name != NULL)
        session_complain(session, SESSION_FINE,
                         "no command '%s%s': did you mean '%s%s'?", dot, name,
                         dot, nearest.name);
    return nearest.name != NULL;
}

static bool
names_store(const struct session *session, const struct command *command)
{
    return command->store < COMMAND_OPENS && !is_shell(session);
}

/* Whether the process that has the store open can run the command. */
static bool
runs_elsewhere(const struct command *command)
{
    return command->store < COMMAND_OPENS || command->goes_elsewhere;
}

const struct argument_option *
command_common_options(const struct command *command)
{
#ifdef COLANDER_SERVER
    static const struct argument_option options[] = {
        OPTION_GROUP("a store that another process has open"),
        OPTION_FLAG("no-share", "do not have that process do it: fail"),
        OPTIONS_END,
    };
#ifdef COLANDER_CLUSTER
#define CLUSTER_OPTIONS                                                        \
    OPTION_GROUP("a store that another process has open, or a cluster"),       \
        OPTION_FLAG("no-share",                                                \
                    "do not have that process do it: fail; of a cluster\n"     \
                    "read the checkpoints"),                                   \
        OPTION("settings", "FILE",                                             \
               "options of librdkafka for the brokers of a cluster, one\n"     \
               "a line")
    static const struct argument_option shell_options[] = {CLUSTER_OPTIONS,
                                                           OPTIONS_END};
    static const struct argument_option read_options[] = {
        CLUSTER_OPTIONS, OPTION_ANSWER_SCOPE, OPTIONS_END};

    if (command->store == COMMAND_READS)
        return read_options;
    if (command->reads_clusters)
        return shell_options;
#endif
    if (runs_elsewhere(command))
        return options;
#endif
    (void)command;
    return options_none;
}

/* ---------------------------------------------------------------- help --- */

static void
print_usage(const struct session *session, const struct command *command,
            FILE *file)
{
    fprintf(file, "usage: %s%s%s%s%s\n", is_shell(session) ? "." : "colander ",
            command->name, names_store(session, command) ? " STORE" : "",
            command->words[0] == '\0' ? "" : " ", command->words);
}

static void
print_help(const struct session *session, const struct command *command)
{
    FILE *out = session_out(session);

    print_usage(session, command, out);
    if (command->help != NULL)
        fprintf(out, "\n%s", command->help);
    else
        fprintf(out, "\n%s\n", command->summary);
    arguments_print_help(out, command->options);
    if (!is_shell(session))
        arguments_print_help(out, command_common_options(command));
    if (command->examples != NULL)
        fprintf(out, "\nexamples:\n%s", command->examples);
}

static void
print_overview(const struct session *session)
{
    const char *dot = is_shell(session) ? "." : "";
    const struct command *command;
    FILE *out = session_out(session);

    fputs(is_shell(session) ? shell_overview : overview, out);
    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++)
        fprintf(out, "  %s%-10s %s\n", dot, command->name, command->summary);
    fprintf(out, "\n%s\n",
            is_shell(session)
                ? ".help WORD describes a command or a word of Lua."
                : "Try 'colander COMMAND --help', or 'man colander'.");
}

static enum session_exit
run_help(struct session *session, const struct arguments *arguments)
{
    const struct command *command;
    const char *name;

    if (arguments->word_count == 0 && arguments_has(arguments, "man"))
        return session_complain(session, SESSION_USAGE,
                                "--man needs the name of a command");
    if (arguments->word_count == 0) {
        print_overview(session);
        return SESSION_FINE;
    }
    name = arguments->words[0];
    name += is_shell(session) && name[0] == '.'; /* as it is typed */
    command = command_by_name(session, name);
    if (command == NULL && suggests_command(session, name))
        return SESSION_USAGE;
    if (command == NULL)
        return session_complain(
            session, SESSION_USAGE, "no command '%s' (try %s)", name,
            is_shell(session) ? ".help" : "colander --help");
    if (arguments_has(arguments, "man") && session->client == NULL)
        manual_print(command);
    else
        print_help(session, command);
    return SESSION_FINE;
}

static const struct argument_option help_options[] = {
    OPTION_FLAG("man", "as a manual page, in the language of man"),
    OPTIONS_END,
};

const struct command command_help = {
    .name = "help",
    .words = "[COMMAND] [--man]",
    .summary = "list the commands, or describe one",
    .help = "Lists the commands, or describes one of them.\n",
    .options = help_options,
    .store = COMMAND_ALONE,
    .word_count_max = 1,
    .is_paged = true,
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
    session_complain(session, SESSION_FINE, "%.*s is missing",
                     (int)strcspn(name, " "), name);
}

static bool
has_one(const struct arguments *arguments, const char *const *names)
{
    while (*names != NULL && !arguments_has(arguments, *names))
        names++;
    return *names != NULL;
}

/* Returns how the command opens its store. */
static enum colander_open_mode
mode_of(const struct command *command, const struct arguments *arguments)
{
    if (command->store == COMMAND_WRITES)
        return COLANDER_OPEN_OR_CREATE;
    if (command->store == COMMAND_WRITES_FILTERS ||
        (command->store == COMMAND_CHANGES &&
         !arguments_has(arguments, "dry-run") &&
         (command->only_reads == NULL || !command->only_reads(arguments))) ||
        has_one(arguments, command->writes_with))
        return COLANDER_OPEN_EXISTING;
    return COLANDER_OPEN_READ_ONLY;
}

bool
command_is_elsewhere(const char *store)
{
#ifdef COLANDER_SERVER
    return elsewhere_is_address(store);
#else
    (void)store;
    return false;
#endif
}

static enum session_exit
complain_of_address(const struct session *session,
                    const struct command *command, const char *address)
{
    if (command->instead != NULL)
        return session_complain(session, SESSION_FAILED,
                                "'%s' is open in another process: %s", address,
                                command->instead);
    return session_complain(session, SESSION_USAGE,
                            "'%s' is the address of a server, which does not "
                            "do this: name the directory of a store",
                            address);
}

bool
command_may_be_elsewhere(enum colander_code code)
{
    return code == COLANDER_BUSY || code == COLANDER_INVALID;
}

bool
command_run_elsewhere(struct session *session,
                      const struct arguments *arguments,
                      enum session_exit *status)
{
#ifdef COLANDER_SERVER
    if (arguments_has(arguments, "no-share"))
        return false;
    return elsewhere_run(session, arguments, session->argc, session->argv,
                         status);
#else
    (void)session;
    (void)arguments;
    (void)status;
    return false;
#endif
}

/* Opens the store for a command, or has another process run it. Returns false
 * if *status is how that went. */
static bool
open_store(struct session *session, const struct command *command,
           const struct arguments *arguments, enum session_exit *status)
{
    const char *store = arguments->words[0];
    struct colander_error err;
    enum colander_code code;

    if (command_is_elsewhere(store)) {
        (void)command_run_elsewhere(session, arguments, status);
        return false;
    }
    code = session_open(session, store, mode_of(command, arguments), &err);
    if (command_may_be_elsewhere(code) &&
        command_run_elsewhere(session, arguments, status))
        return false;
#ifdef COLANDER_CLUSTER
    if (code == COLANDER_NOT_FOUND && session_is_address(store)) {
        const enum cluster_find found =
            cluster_find(session, arguments, false, status);

        if (found != CLUSTER_FIND_NONE)
            return found == CLUSTER_FIND_OPEN;
    }
#endif
    if (code != COLANDER_OK)
        *status = session_fail(session, &err);
    return code == COLANDER_OK;
}

/* Runs a command on the store that is open. */
static enum session_exit
run_on_open(struct session *session, const struct command *command,
            const struct arguments *arguments)
{
    struct answer_scope scope = {NULL, NULL};
    struct colander_error err;
    enum session_exit status;

    if (answer_scope_begin(&scope, session, arguments, &err) == COLANDER_OK)
        status = command->run(session, arguments);
    else
        status = session_misused(session, &err);
    return answer_scope_end(&scope, session, status);
}

/* Runs a command between the opening and the closing of its store, or, for a
 * client, on the store that is open. */
static enum session_exit
run_on_store(struct session *session, const struct command *command,
             struct arguments *arguments)
{
    enum session_exit status = SESSION_FINE;

    if (session->client != NULL && session->is_read_only &&
        mode_of(command, arguments) != COLANDER_OPEN_READ_ONLY)
        return session_complain(session, SESSION_FAILED, "%s",
                                session_read_only(session));
    if (session->client != NULL) {
        arguments_shift(arguments);
        return run_on_open(session, command, arguments);
    }
    if (!runs_in_shell(command))
        interrupt_ends_program();
    if (!open_store(session, command, arguments, &status))
        return status;
    arguments_shift(arguments);
    return session_finish(session, run_on_open(session, command, arguments));
}

/* Whether it needs no files of its user, which a shell in a server does not
 * have. */
static bool
needs_no_files(const struct command *command, const struct arguments *arguments)
{
    return !command->reads_files && !arguments_has(arguments, "output");
}

/* Whether it touches neither the files nor the terminal of a server. */
static bool
runs_in_shell_of_client(const struct command *command,
                        const struct arguments *arguments)
{
    if (command->store == COMMAND_ALONE)
        return command == &command_help || command->is_dot;
    return needs_no_files(command, arguments) || arguments->wants_help;
}

static enum session_exit
refuse_for_client(const struct session *session, const struct command *command,
                  const struct arguments *arguments)
{
    if (needs_no_files(command, arguments))
        return session_complain(session, SESSION_USAGE,
                                "a server runs only commands that need its "
                                "store");
    return session_complain(
        session, SESSION_USAGE,
        "this shell runs in the server, where your files are not: run "
        "'colander %s %s %s' in another terminal",
        command->name, session->path,
        command->reads_files ? "FAMILY FILE" : "... --output FILE");
}

static enum session_exit
run_parsed(struct session *session, const struct command *command,
           struct arguments *arguments)
{
    const size_t first = names_store(session, command) ? 1 : 0;
    const size_t count_max = command->word_count_max == 0
                                 ? command->word_count_min
                                 : command->word_count_max;

    if (session->client != NULL &&
        !(is_shell(session)
              ? runs_in_shell_of_client(command, arguments)
              : (runs_elsewhere(command) || command->runs_at_node) &&
                    !arguments->wants_help))
        return refuse_for_client(session, command, arguments);
    if (arguments->wants_help) {
        print_help(session, command);
        return SESSION_FINE;
    }
    if (is_shell(session) && !runs_in_shell(command))
        return session_complain(
            session, SESSION_USAGE,
            "not available in the shell (run 'colander %s')", command->name);
    if (arguments->word_count < command->word_count_min + first) {
        report_missing(session, command, arguments->word_count);
        print_usage(session, command, session_err(session));
        return SESSION_USAGE;
    }
    if (arguments->word_count - first > count_max) {
        session_complain(session, SESSION_FINE, "unexpected argument '%s'",
                         arguments->words[first + count_max]);
        print_usage(session, command, session_err(session));
        return SESSION_USAGE;
    }
    if (command->store == COMMAND_OPENS && command->word_count_min > 0 &&
        !command->goes_elsewhere && command_is_elsewhere(arguments->words[0]))
        return complain_of_address(session, command, arguments->words[0]);
    if (arguments_has(arguments, "no-share") &&
        command_is_elsewhere(arguments->words[0]))
        return session_complain(session, SESSION_USAGE,
                                "--no-share is for the directory of a store, "
                                "and '%s' is the address of a server",
                                arguments->words[0]);
    if (session->client != NULL && is_shell(session) &&
        !session->client->is_trusted && command->store != COMMAND_ALONE &&
        mode_of(command, arguments) != COLANDER_OPEN_READ_ONLY)
        return session_complain(session, SESSION_FAILED,
                                "this shell only reads: the server was not "
                                "started with --shell");
    if (session->client != NULL && !is_shell(session)) /* it needs a store */
        session->path = arguments->words[0];
    if (first > 0)
        return run_on_store(session, command, arguments);
    return command->run(session, arguments);
}

/* Whether the first word that is not an option is an address of topics, or may
 * be that of a cluster. Which options have a value is only known of this
 * command, or the one for topics. */
static bool
names_topic(const struct command *command, bool takes_clusters, int argc,
            const char *const *argv)
{
    const char *word = command == NULL
                           ? NULL
                           : arguments_first_word(command->options, argc, argv);

    return word != NULL && (strncmp(word, "kafka://", 8) == 0 ||
                            (takes_clusters && session_is_address(word)));
}

enum session_exit
command_run(struct session *session, int argc, const char *const *argv)
{
    const struct command *command = command_by_name(session, argv[0]);
    struct arguments arguments = {.words = NULL};
    struct colander_error err;
    enum session_exit status;

#ifndef COLANDER_CLUSTER
    if (strcmp(argv[0], "follow") == 0 || strcmp(argv[0], "cluster") == 0 ||
        names_topic(command, false, argc, argv))
        return session_complain(session, SESSION_USAGE,
                                "this program was built without topics of "
                                "Kafka: COLANDER_CLUSTER=OFF");
#endif
    if (command == NULL && suggests_command(session, argv[0]))
        return SESSION_USAGE;
    if (command == NULL)
        return session_complain(
            session, SESSION_USAGE,
            is_shell(session) ? "no command '.%s' (try .help)"
                              : "'%s' is neither a command nor a store (try "
                                "colander --help)",
            argv[0]);
#ifdef COLANDER_CLUSTER
    if (command->for_topics != NULL && session->client == NULL &&
        !is_shell(session) &&
        (names_topic(command, true, argc, argv) ||
         names_topic(command->for_topics, true, argc, argv)))
        command = command->for_topics;
#endif
    session->command = command->name;
    session->argc = argc;
    session->argv = argv;
    if (!is_shell(session))
        arguments.common = command_common_options(command);
    if (arguments_parse(&arguments, command->options,
                        command->option_words == 0 ? SIZE_MAX
                                                   : command->option_words,
                        argc, argv, &err) == COLANDER_OK)
        status = run_parsed(session, command, &arguments);
    else
        status = session_misused(session, &err);
    arguments_release(&arguments);
    if (output_flush(session_out(session), &err) != COLANDER_OK &&
        status == SESSION_FINE)
        status = session_fail(session, &err);
    session->command = NULL;
    return status;
}
