/*
 * The program `colander`: picks the command to run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/safe_script.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

/* If a standard descriptor is closed, a file of the store would get its number,
 * and what we print would be written into that file. */
static bool
open_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", O_RDWR) != fd)
            return false;
    }
    return true;
}

/* Stores hold UTF-8, and so does what we print of them. */
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

static enum session_exit
show_version(const struct session *session, int argc)
{
    struct colander_error err;

    if (argc > 2)
        return session_complain(session, SESSION_USAGE,
                                "--version takes no argument");
    printf("colander %s\n", colander_version());
    if (output_flush(stdout, &err) != COLANDER_OK)
        return session_fail(session, &err);
    return SESSION_FINE;
}

/* Runs the command argv[1], or the shell if argv[1] is a store. */
static enum session_exit
run(int argc, const char **argv)
{
    struct session session = {.commands = commands_all};

    if (strcmp(argv[1], "--version") == 0)
        return show_version(&session, argc);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        argv[1] = command_help.name;
    if (command_by_name(&session, argv[1]) != NULL || !is_directory(argv[1]))
        return command_run(&session, argc - 1, argv + 1);
    argv[0] = "shell";
    return command_run(&session, argc, argv);
}

int
main(int argc, char **argv)
{
    int status;

    if (!open_standard_descriptors())
        return SESSION_DAMAGED; /* there is nowhere to print a message */
    set_locale();
    interrupt_install();
    if (argc < 2) {
        fprintf(
            stderr,
            "usage: colander COMMAND [ARGUMENT...] (try colander --help)\n");
        return SESSION_USAGE;
    }
    if (strcmp(argv[1], SAFE_SCRIPT_CHILD) == 0)
        return (int)safe_script_run_child(argc, (const char *const *)argv);
    status = (int)run(argc, (const char **)argv);
    return interrupt_ended_by() == 0 ? status
                                     : INTERRUPT_ENDED + interrupt_ended_by();
}
