/*
 * The command serve: answers other processes about a store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve.h"
#include "serve/systemd.h"
#include "serve/token.h"
#include "shell/command.h"
#include "shell/commands/keeper.h"
#include "shell/interrupt.h"
#ifdef COLANDER_CLUSTER
#include "shell/serve_node.h"
#endif
#include "shell/service.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define STOP_SECONDS 30           /* for what cannot be cancelled */
#define PEM_MAX ((size_t)1 << 20) /* bytes of a certificate or a key */

/* Connections and files of the store are many descriptors. */
static void
raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Reads the token, or makes one, which a terminal shows this once. Others than
 * this machine are let in only with a token that was made on purpose.
 */
static enum colander_code
get_token(const struct session *session, const char *path, const char *address,
          struct token *token, struct colander_error *err)
{
    enum colander_code code = token_read(path, token, err);

    if (code != COLANDER_NOT_FOUND)
        return code;
    if (!server_is_loopback(address)) {
        colander_error_context(err, "others than this machine can reach %s",
                               address);
        return code;
    }
    code = token_create(path, token, err);
    if (code == COLANDER_OK && session_err_is_terminal(session))
        session_complain(session, SESSION_FINE,
                         "made the token file '%s': the token is %s", path,
                         token->text);
    else if (code == COLANDER_OK) /* it would be in a log */
        session_complain(session, SESSION_FINE,
                         "made the token file '%s', which has the token", path);
    return code;
}

/* Whether others than the owner, and a group that may only read, can use the
 * file. */
static bool
is_exposed(FILE *file)
{
    struct stat status;

    return fstat(fileno(file), &status) != 0 ||
           (S_ISREG(status.st_mode) && (status.st_mode & 037) != 0);
}

/* Reads a file in PEM that has `what`; *text is the caller's to free. A secret
 * must not be there for others. */
static enum colander_code
read_pem(const char *path, const char *what, bool is_secret, char **text,
         struct colander_error *err)
{
    char *bytes = calloc(1, PEM_MAX + 1);
    FILE *file = bytes == NULL ? NULL : fopen(path, "re");
    size_t size = 0;
    int error = errno;

    *text = bytes;
    if (bytes == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for '%s'",
                             path);
    if (file != NULL && is_secret && is_exposed(file)) {
        (void)fclose(file);
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "others may read the key '%s': chmod 600 it",
                             path);
    }
    if (file != NULL) {
        size = fread(bytes, 1, PEM_MAX, file);
        error = ferror(file) != 0 ? EIO : 0;
        (void)fclose(file);
    }
    if (error != 0)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot read '%s': %s", path,
                             strerror(error));
    if (strlen(bytes) != size || strstr(bytes, what) == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' has no '%s': it must be in PEM", path, what);
    return COLANDER_OK;
}

/* Reads the certificate and its key, which are the caller's to free. */
static enum colander_code
read_certificate(const struct arguments *arguments, bool has_address,
                 char *texts[2], struct colander_error *err)
{
    const char *certificate = arguments_value(arguments, "cert");
    const char *key = arguments_value(arguments, "key");
    enum colander_code code;

    if (certificate == NULL && key == NULL)
        return COLANDER_OK;
    if (certificate == NULL || key == NULL || !has_address)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--cert and --key need each other, and --listen");
    code = read_pem(certificate, "BEGIN CERTIFICATE", false, &texts[0], err);
    return code == COLANDER_OK
               ? read_pem(key, "PRIVATE KEY", true, &texts[1], err)
               : code;
}

/* Says that requests can come, to whoever waits for that. */
static void
announce(const struct session *session, const char *address, bool has_tls)
{
    printf("serving %s%s%s\n", session->path,
           address == NULL ? ""
           : has_tls       ? " at https://"
                           : " at http://",
           address == NULL ? "" : address);
    (void)fflush(stdout);
}

/* Called when requests are answered at the address. */
typedef enum colander_code begin_serving(void *context, const char *address,
                                         bool has_tls,
                                         struct colander_error *err);

/* Called when no request should come any more; they are answered still. */
typedef void end_serving(void *context);

/* Waits for the end, unless it came while the store was opened. If the log is a
 * file, a hang-up says that it was renamed. */
static void
await_end(const struct session *session, const struct service *service,
          const sigset_t *signals, bool has_log_file)
{
    struct colander_error err;
    int number;

    while (interrupt_ended_by() == 0 && sigwait(signals, &number) == 0 &&
           number == SIGHUP && has_log_file) {
        if (service_reopen_log(service, &err) != COLANDER_OK)
            session_complain(session, SESSION_FINE, "%s", err.message);
    }
}

/* Answers until SIGTERM, SIGINT or a hang-up. Another one, while answers end,
 * ends the program, which a store survives. */
static enum colander_code
serve(const struct session *session, const struct server_options *options,
      begin_serving *begin, end_serving *end, void *context,
      struct colander_error *err)
{
    struct service *service = NULL;
    struct keeper *keeper = NULL;
    const bool has_log_file =
        options->log != NULL && strcmp(options->log, "-") != 0;
    struct sigaction hangup = {.sa_handler = SIG_DFL};
    enum colander_code code;
    sigset_t ends;

    sigemptyset(&ends);
    (void)sigaction(SIGHUP, NULL, &hangup);
    if (has_log_file || hangup.sa_handler != SIG_IGN)
        sigaddset(&ends, SIGHUP);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    code = service_start(session, options, &service, err);
    if (code == COLANDER_OK && begin != NULL)
        code = begin(context, service_address(service),
                     options->certificate != NULL, err);
    if (code == COLANDER_OK && options->read_only == NULL)
        code = keeper_start(session, &keeper, err);
    if (code == COLANDER_OK) {
        announce(session, service_address(service),
                 options->certificate != NULL);
        systemd_notify("READY=1");
        await_end(session, service, &ends, has_log_file);
        systemd_notify("STOPPING=1");
    }
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
    if (code == COLANDER_OK && end != NULL)
        end(context);
    (void)alarm(STOP_SECONDS); /* a store survives that, too */
    service_stop(service);
    keeper_stop(keeper);
    (void)alarm(0);
    return code;
}

/* Reads the options of who may come by a network. */
static enum colander_code
read_network(const struct session *session, const struct arguments *arguments,
             struct server_options *options, struct token *token,
             char *certificate[2], struct colander_error *err)
{
    const char *token_file = arguments_value(arguments, "token-file");
    char address[ADDRESS_TEXT_SIZE] = "";
    enum colander_code code =
        systemd_take_socket(&options->listen_fd, address, err);

    options->address = arguments_value(arguments, "listen");
    if (code != COLANDER_OK)
        return code;
    if (options->address != NULL && options->listen_fd >= 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--listen and a socket that systemd passes "
                             "exclude each other");
    if (options->address != NULL)
        (void)snprintf(address, sizeof(address), "%s", options->address);
    if ((address[0] == '\0') != (token_file == NULL))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--listen and --token-file need each other: who "
                             "comes by a network shows the token");
    code = read_certificate(arguments, address[0] != '\0', certificate, err);
    if (code != COLANDER_OK || address[0] == '\0')
        return code;
    options->certificate = certificate[0];
    options->key = certificate[1];
    code = get_token(session, token_file, address, token, err);
    options->token = token->text;
    return code;
}

/* Opens the store, answers, and closes it. */
static enum session_exit
serve_store(struct session *session, const struct arguments *arguments,
            struct server_options *options)
{
    enum session_exit status = SESSION_FINE;
    struct colander_error err;

    if (session_open(session, arguments->words[0],
                     options->read_only != NULL ? COLANDER_OPEN_READ_ONLY
                                                : COLANDER_OPEN_EXISTING,
                     &err) != COLANDER_OK)
        return session_fail(session, &err);
    if (serve(session, options, NULL, NULL, NULL, &err) != COLANDER_OK)
        status = session_misused(session, &err);
    return session_finish(session, status);
}

#ifdef COLANDER_CLUSTER
/* Whether an option is given that only a node has. */
static bool
is_of_node(const struct arguments *arguments)
{
    static const char *const names[] = {"name",       "advertise", "lost-after",
                                        "checkpoint", "set",       "settings"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (arguments_has(arguments, names[i]))
            return true;
    }
    return false;
}

static enum colander_code
join_cluster(void *context, const char *address, bool has_tls,
             struct colander_error *err)
{
    return serve_node_join(context, address, has_tls, err);
}

static void
leave_cluster(void *context)
{
    const struct serve_node *serving = context;

    node_leave(serving->node);
}

/* The same with a node of the cluster. */
static enum session_exit
serve_cluster(struct session *session, const struct arguments *arguments,
              struct server_options *options)
{
    struct serve_node serving = {.node = NULL};
    enum session_exit status = SESSION_FINE;
    struct colander_error err;

    if (serve_node_open(&serving, session, arguments, arguments->words[0],
                        options, &err) != COLANDER_OK ||
        serve(session, options, join_cluster, leave_cluster, &serving, &err) !=
            COLANDER_OK)
        status = session_misused(session, &err);
    if (serve_node_close(&serving, session, &err) != COLANDER_OK)
        status = session_fail(session, &err);
    return status;
}
#endif

static enum session_exit
run_serve(struct session *session, const struct arguments *arguments)
{
    char *certificate[2] = {NULL, NULL}; /* and its key */
    struct server_options options;
    struct token token;
    struct colander_error err;
    enum session_exit status = SESSION_FINE;

    server_options_init(&options);
    options.runs_lua = arguments_has(arguments, "lua");
    options.runs_shells = arguments_has(arguments, "shell");
    options.backup_to = arguments_value(arguments, "backup-to");
    if (arguments_has(arguments, "read-only"))
        options.read_only = session_read_only(session);
    options.log = arguments_value(arguments, "log");
    options.logs_values = arguments_has(arguments, "log-values");
    if (arguments_number(arguments, "backup-max", &options.backup_max, &err) !=
        COLANDER_OK)
        return session_misused(session, &err);
    if (options.logs_values && options.log == NULL) {
        (void)COLANDER_FAIL(&err, COLANDER_INVALID, "--log-values needs --log");
        return session_misused(session, &err);
    }
    if (read_network(session, arguments, &options, &token, certificate, &err) !=
        COLANDER_OK)
        status = session_misused(session, &err);
    raise_descriptor_limit();
#ifdef COLANDER_CLUSTER
    if (status == SESSION_FINE && !arguments_has(arguments, "dir") &&
        is_of_node(arguments)) {
        (void)COLANDER_FAIL(&err, COLANDER_INVALID,
                            "--name, --advertise, --lost-after, --checkpoint, "
                            "--set and --settings are of a node: they need "
                            "--dir");
        status = session_misused(session, &err);
    }
    if (status == SESSION_FINE && !arguments_has(arguments, "dir") &&
        session_is_address(arguments->words[0]) && options.read_only == NULL) {
        (void)COLANDER_FAIL(&err, COLANDER_INVALID,
                            "'%s' is an address: a node of a cluster needs "
                            "--dir, where it keeps its stores, and a backup is "
                            "served --read-only",
                            arguments->words[0]);
        status = session_misused(session, &err);
    }
    if (status == SESSION_FINE && arguments_has(arguments, "dir"))
        status = serve_cluster(session, arguments, &options);
    else
#endif
        if (status == SESSION_FINE)
        status = serve_store(session, arguments, &options);
    free(certificate[0]);
    free(certificate[1]);
    return status;
}

static const struct argument_option options[] = {
    OPTION("listen", "ADDRESS:PORT",
           "also answer there, as at 127.0.0.1:7411; the port 0\n"
           "is any that is free"),
    OPTION("token-file", "FILE",
           "the token that clients of --listen need; made if it is\n"
           "not there and the address is one of this machine"),
    OPTION("cert", "FILE",
           "speak TLS at --listen, with the certificate in FILE, in\n"
           "PEM; those that sign it follow it"),
    OPTION("key", "FILE", "the key of the certificate, in PEM"),
    OPTION_FLAG("read-only", "open the store to read"),
    OPTION_FLAG("lua", "clients of --listen may run Lua: --where, and scripts\n"
                       "that read; a node maps and reduces its rows"),
    OPTION_FLAG("shell", "they may use the shell, which also writes: only for\n"
                         "clients that are trusted as the user is"),
    OPTION("backup-to", "DIR|ADDRESS",
           "where backups go that clients of --listen ask for"),
    OPTION("backup-max", "N", "how many there may be (100)"),
#ifdef COLANDER_CLUSTER
    OPTION("dir", "DIR",
           "be a node of the cluster whose address STORE is, with\n"
           "the stores of its partitions in DIR"),
    OPTION("name", "NAME", "of a node: no other has it (HOST-PORT)"),
    OPTION("advertise", "URL",
           "of a node: where the others ask it, unless that is the\n"
           "address of --listen"),
    OPTION("lost-after", "DURATION",
           "of a node: others that are silent for so long are taken\n"
           "to be gone (10s); the same for all nodes"),
    OPTION("checkpoint", "DURATION",
           "of a node: between two checkpoints of a partition (10m)"),
    OPTION_BROKERS,
#endif
    OPTION("log", "FILE|-",
           "append a line of JSON for each request, without the\n"
           "values in it; - is standard output. SIGHUP opens FILE\n"
           "again, which was renamed"),
    OPTION_FLAG("log-values", "with --log: also what was asked for"),
    OPTIONS_END,
};

const struct command command_serve = {
    .name = "serve",
    .words = "STORE [OPTION...]",
    .summary = "answer other programs about a store, by HTTP",
    .help = "Opens STORE and answers requests about it, at the socket SOCKET\n"
            "in its directory, which the user's own programs can use, and\n"
            "with --listen at an address. Prints a line when it is ready.\n"
            "SIGTERM or Ctrl-C ends it, once the answers that are under way\n"
            "have been sent, or after ten seconds; what cannot be cancelled,\n"
            "such as a pattern in a script, is ended after thirty.\n"
            "\n"
            "docs/serve.md describes the requests.\n",
    .examples = "  colander serve data\n"
                "  colander serve data --listen 127.0.0.1:7411 "
                "--token-file token\n",
    .options = options,
    .store = COMMAND_OPENS,
    .word_count_min = 1,
    .run = run_serve,
};
