/*
 * A private server of PostgreSQL.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_postgres_server.h"
#include "bench.h"
#include "bench_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define INITDB "/usr/lib/postgresql/15/bin/initdb"
#define POSTGRES "/usr/lib/postgresql/15/bin/postgres"
#define USER "postgres"
#define SOCKET_PATH_MAX 80 /* of its folder: the name follows */
#define ARGUMENTS_MAX 40

/* Runs as that user, without root's privileges, and ends with this process. */
static const char *const as_user[] = {
    "setpriv",       "--reuid=" USER,    "--regid=" USER,
    "--init-groups", "--pdeathsig=QUIT", NULL,
};

static const char *const make_cluster[] = {
    INITDB,       "--pgdata=data", ("--username=" USER), "--auth=trust",
    "--locale=C", "--no-sync",     "--no-instructions",  "--encoding=UTF8",
    NULL,
};

/* Waits for the disk as little as the other peers; a cache as large as
 * SQLite's. */
static const char *const serve[] = {
    /* in the folder "data" */
    POSTGRES,
    "-D",
    "data",
    "--unix_socket_directories=..",
    "--listen_addresses=",
    "--fsync=off",
    "--synchronous_commit=off",
    "--full_page_writes=off",
    "--wal_level=minimal",
    "--max_wal_senders=0",
    "--max_wal_size=4GB",
    "--shared_buffers=256MB",
    "--work_mem=64MB",
    "--maintenance_work_mem=256MB",
    "--effective_cache_size=2GB",
    "--random_page_cost=1.1",
    "--jit=off",
    NULL,
};

static size_t
add_arguments(char **arguments, size_t count, const char *const *added)
{
    for (; *added != NULL; added++)
        arguments[count++] = (char *)*added;
    return count;
}

/* Starts a program in the folder, with its output in a log. */
static pid_t
start(const char *directory, const char *const *program)
{
    char *arguments[ARGUMENTS_MAX] = {NULL};
    size_t count = 0;
    char path[4200];
    pid_t child;
    int log;

    if (geteuid() == 0)
        count = add_arguments(arguments, count, as_user);
    (void)add_arguments(arguments, count, program);
    (void)snprintf(path, sizeof(path), "%s/log", directory);
    log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0)
        bench_fail(path, strerror(errno));
    child = bench_guard_start(arguments, directory,
                              (const int[]){STDIN_FILENO, log, log}, SIGQUIT);
    (void)close(log);
    return child;
}

const char *
bench_postgres_start(struct bench_postgres_server *server,
                     const char *directory)
{
    const struct passwd *user = geteuid() == 0 ? getpwnam(USER) : NULL;

    if (access(INITDB, X_OK) != 0 || access(POSTGRES, X_OK) != 0)
        return "PostgreSQL 15 is not installed (Debian: postgresql-15)";
    if (geteuid() == 0 && user == NULL)
        return "it does not run as root, and there is no user " USER;
    (void)snprintf(server->directory, sizeof(server->directory), "%s-server",
                   directory);
    if (strlen(server->directory) > SOCKET_PATH_MAX)
        return "the path of its folder is too long for a socket (--dir)";
    if (mkdir(server->directory, 0700) != 0)
        return "its folder cannot be created";
    if (user != NULL &&
        chown(server->directory, user->pw_uid, user->pw_gid) != 0)
        return "its folder cannot be given to the user " USER;
    if (bench_guard_await(start(server->directory, make_cluster)) != 0)
        return "initdb failed (can the user " USER " get to --dir?)";
    server->process = start(server->directory, serve);
    return NULL;
}

bool
bench_postgres_has_ended(struct bench_postgres_server *server)
{
    if (server->process != 0 &&
        waitpid(server->process, NULL, WNOHANG) == server->process)
        server->process = 0;
    return server->process == 0;
}

/* Ends immediately, and abandons what is under way. */
void
bench_postgres_stop(struct bench_postgres_server *server)
{
    if (server->process != 0)
        bench_guard_stop(server->process, SIGINT);
    server->process = 0;
}
