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
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define INITDB "/usr/lib/postgresql/15/bin/initdb"
#define POSTGRES "/usr/lib/postgresql/15/bin/postgres"
#define USER "postgres"
#define SOCKET_PATH_MAX 80 /* of its folder: the name comes behind it */

/* As little waiting for the disk as the other peers have; a cache as large as
 * SQLite's. */
static const char *const settings[] = {
    "listen_addresses=",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_wal_size=4GB",
    "shared_buffers=256MB",
    "work_mem=64MB",
    "maintenance_work_mem=256MB",
    "effective_cache_size=2GB",
    "random_page_cost=1.1",
    "jit=off",
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

const char *
bench_postgres_missing(void)
{
    if (access(INITDB, X_OK) != 0 || access(POSTGRES, X_OK) != 0)
        return "PostgreSQL 15 is not installed (Debian: postgresql-15)";
    if (geteuid() == 0 && getpwnam(USER) == NULL)
        return "it does not run as root, and there is no user " USER;
    return NULL;
}

static bool
become_user(const struct passwd *user)
{
    return user == NULL ||
           (initgroups(user->pw_name, user->pw_gid) == 0 &&
            setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0);
}

/* Becomes the program, in the folder, with what it says kept in a log. */
static _Noreturn void
become(const char *directory, const struct passwd *user, char *const *arguments)
{
    int log = -1;

    if (become_user(user) && chdir(directory) == 0)
        log = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    bench_guard_follow(SIGQUIT); /* a change of user ended it */
    execv(arguments[0], arguments);
    _exit(127);
}

static pid_t
start(const char *directory, const struct passwd *user, char *const *arguments)
{
    const pid_t child = bench_guard_fork(SIGQUIT);

    if (child == 0)
        become(directory, user, arguments);
    return child;
}

static bool
make_cluster(const char *directory, const struct passwd *user)
{
    char *const arguments[] = {
        INITDB,       "--pgdata=data", "--username",
        USER,         "--auth=trust",  "--encoding=UTF8",
        "--locale=C", "--no-sync",     "--no-instructions",
        NULL};
    const pid_t child = start(directory, user, arguments);
    int status;

    return waitpid(child, &status, 0) == child && status == 0;
}

static pid_t
start_server(const char *directory, const struct passwd *user)
{
    char *arguments[2 * SETTINGS + 8] = {POSTGRES, "-D", "data", "-k",
                                         (char *)directory};
    size_t count = 5;

    for (size_t i = 0; i < SETTINGS; i++) {
        arguments[count++] = "-c";
        arguments[count++] = (char *)settings[i];
    }
    return start(directory, user, arguments);
}

const char *
bench_postgres_start(struct bench_postgres_server *server,
                     const char *directory)
{
    const struct passwd *user = geteuid() == 0 ? getpwnam(USER) : NULL;

    (void)snprintf(server->directory, sizeof(server->directory), "%s-server",
                   directory);
    if (strlen(server->directory) > SOCKET_PATH_MAX)
        return "the path of its folder is too long for a socket (--dir)";
    if (mkdir(server->directory, 0700) != 0)
        return "its folder cannot be created";
    if (user != NULL &&
        chown(server->directory, user->pw_uid, user->pw_gid) != 0)
        return "its folder cannot be given to the user " USER;
    if (!make_cluster(server->directory, user))
        return "initdb failed (can the user " USER " get to --dir?)";
    server->process = start_server(server->directory, user);
    return NULL;
}

bool
bench_postgres_has_ended(struct bench_postgres_server *server)
{
    if (server->process == 0 ||
        waitpid(server->process, NULL, WNOHANG) != server->process)
        return server->process == 0;
    server->process = 0;
    return true;
}

/* At once; what is under way is given up. */
void
bench_postgres_stop(struct bench_postgres_server *server)
{
    if (server->process == 0)
        return;
    (void)kill(server->process, SIGINT);
    while (waitpid(server->process, NULL, 0) < 0 && errno == EINTR)
        ;
    server->process = 0;
}
