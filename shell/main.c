/*
 * The program `colander`: picks the command and exits as it says.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/interrupt.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <sys/stat.h>

/* Stores hold UTF-8, and so does what we show of them. */
static void
set_locale(void)
{
    if (setlocale(LC_CTYPE, "") == NULL ||
        strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
}

static bool
is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The command argv[1]; where that is a store, its shell. */
static enum session_exit
run(int argc, const char **argv)
{
    struct session session = SESSION_EMPTY;

    if (commands_find(argv[1]) != NULL || !is_directory(argv[1]))
        return commands_run(&session, argc - 1, argv + 1);
    argv[0] = command_shell.name;
    return commands_run(&session, argc, argv);
}

int
main(int argc, char **argv)
{
    const char **words = (const char **)argv;

    set_locale();
    interrupt_install();
    (void)signal(SIGPIPE, SIG_IGN); /* a write that fails says so itself */
    if (argc < 2) {
        fprintf(stderr, "usage: colander COMMAND ... (colander --help)\n");
        return SESSION_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("colander %s\n", colander_version());
        return SESSION_FINE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        words[1] = command_help.name;
    return (int)run(argc, words);
}
