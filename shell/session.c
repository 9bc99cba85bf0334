/* See session.h. SPDX-License-Identifier: MIT */
#include "shell/session.h"
#ifdef COLANDER_CLUSTER
#include "cluster/cluster.h"
#include "shell/cluster_store.h"
#endif
#include "shell/interrupt.h"
#include "shell/nearest.h"
#include "shell/pager.h"
#include "shell/report.h"
#include "shell/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* Reports what an open drops from the logs, while the store still has a report
 * of it, which a killed process leaves to the next. Other messages are in
 * RocksDB's log. */
static void
report_dropped(void *context, enum colander_log_level level,
               const char *message)
{
    const struct session *session = context;

    if (level == COLANDER_LOG_WARNING && strncmp(message, "dropped ", 8) == 0)
        session_complain(session, SESSION_FINE, "'%s': %s", session->path,
                         message);
}

bool
session_is_address(const char *word)
{
    return strncmp(word, "s3://", 5) == 0 || strncmp(word, "file://", 7) == 0;
}

/* Sets *path and options to those by which a backup is opened. */
static enum colander_code
prepare_backup(struct session *session, const char *address,
               struct colander_options *options, const char **path,
               struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (options->mode != COLANDER_OPEN_READ_ONLY)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is an address of backups or of a cluster, "
                             "which this cannot change: 'colander restore' "
                             "makes a store of a backup, and 'colander load' "
                             "sends rows, or with --op changes to them, to a "
                             "cluster",
                             address);
#ifdef COLANDER_CLUSTER
    interrupt_takes_ends(); /* the reader has a directory to remove */
    code = cluster_reader_open(address, &session->reader, err);
    if (code == COLANDER_OK) {
        options->remote = cluster_reader_files(session->reader);
        *path = cluster_reader_path(session->reader);
    }
#else
    (void)session;
    (void)path;
    code = COLANDER_FAIL(err, COLANDER_INVALID,
                         "'%s' is an address of backups, and this program was "
                         "built without them (COLANDER_CLUSTER=OFF)",
                         address);
#endif
    return code;
}

static void
close_reader(struct session *session)
{
#ifdef COLANDER_CLUSTER
    cluster_reader_close(session->reader);
#endif
    session->reader = NULL;
}

bool
session_reads_objects(const struct session *session)
{
    return session->reader != NULL || session->checkpoints != NULL;
}

void
session_add_reads(const struct session *session, struct report *report)
{
#ifdef COLANDER_CLUSTER
    struct cluster_reads reads;

    if (!session_reads_objects(session))
        return;
    reads = session->reader != NULL ? cluster_reader_reads(session->reader)
                                    : cluster_store_reads(session->checkpoints);
    report_line(report, "objects", "%s fetched by %s, %s from the local disk",
                SIZE_OF(reads.fetched_size),
                NUMBER_OF(reads.request_count, "read"),
                SIZE_OF(reads.cached_size));
#else
    (void)session;
    (void)report;
#endif
}

enum colander_code
session_open_with(struct session *session, const char *path,
                  const struct colander_options *options,
                  struct colander_error *err)
{
    struct colander_options logged = *options;
    enum colander_code code = COLANDER_OK;

    session->path = path;
    session->is_read_only = options->mode == COLANDER_OPEN_READ_ONLY;
    logged.log = report_dropped;
    logged.log_context = session;
    if (session_is_address(path))
        code = prepare_backup(session, path, &logged, &path, err);
    if (code == COLANDER_OK)
        code = colander_store_open(path, &logged, &session->store, err);
    if (code != COLANDER_OK)
        close_reader(session);
    return code;
}

enum colander_code
session_open(struct session *session, const char *path,
             enum colander_open_mode mode, struct colander_error *err)
{
    static const char hint[] =
        " ('colander load' creates a store, 'colander demo' one to try)";
    struct colander_options options;
    enum colander_code code;
    size_t size;

    colander_options_init(&options);
    options.mode = mode;
    code = session_open_with(session, path, &options, err);
    if (code == COLANDER_NOT_FOUND && !session_is_address(path)) {
        size = strlen(err->message);
        (void)snprintf(err->message + size, sizeof(err->message) - size, "%s",
                       hint);
    }
    return code;
}

enum colander_code
session_close(struct session *session, struct colander_error *err)
{
    struct colander_store *store = session->store;
    enum colander_code code;

    session->store = NULL;
#ifdef COLANDER_CLUSTER
    if (session->checkpoints != NULL) {
        code = cluster_store_close(session->checkpoints, err);
        session->checkpoints = NULL;
        return code;
    }
#endif
    code = colander_store_close(store, err);
    close_reader(session);
    return code;
}

enum session_exit
session_finish(struct session *session, enum session_exit status)
{
    struct colander_error err;

    if (session_close(session, &err) != COLANDER_OK) {
        enum session_exit closed = session_fail(session, &err);

        return status == SESSION_FINE ? closed : status;
    }
    return status;
}

/* Whether the family is one of many, for which a pattern stands. */
static bool
is_of_pattern(const struct colander_names *names, const char *name)
{
    int64_t from, until;

    for (size_t i = 0; i < names->count; i++) {
        if (colander_partition_times(names->names[i], name, &from, &until))
            return true;
    }
    return false;
}

enum colander_code
session_no_family(const struct session *session, const char *name,
                  struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct nearest nearest = {.wanted = name};
    enum colander_code code =
        colander_store_families(session->store, &names, err);

    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++) {
        nearest_offer(&nearest, names.names[i]);
        if (!is_of_pattern(&names, names.names[i]))
            code =
                text_append_format(&text, err, "%s'%s'",
                                   text.size == 0 ? "" : ", ", names.names[i]);
    }
    if (code == COLANDER_OK && nearest.name != NULL)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "no family '%s' in '%s': did you mean '%s'?", name,
                             session->path, nearest.name);
    else if (code == COLANDER_OK)
        code = COLANDER_FAIL(
            err, COLANDER_NOT_FOUND, "no family '%s' in '%s'%s%.*s", name,
            session->path,
            text.size == 0 ? ", which has none" : ": its families are ",
            (int)text.size, (const char *)text.data);
    colander_buffer_release(&text);
    colander_names_release(&names);
    return code;
}

enum colander_code
session_family(const struct session *session, const char *name,
               struct colander_family **family, struct colander_error *err)
{
    enum colander_code code;

    code = colander_family_open(session->store, name, family, err);
    if (code != COLANDER_OK || colander_family_exists(*family))
        return code;
    colander_family_close(*family);
    *family = NULL;
    return session_no_family(session, name, err);
}

FILE *
session_out(const struct session *session)
{
    return session->client == NULL ? stdout : session->client->out;
}

FILE *
session_err(const struct session *session)
{
    return session->client == NULL ? stderr : session->client->err;
}

bool
session_out_is_terminal(const struct session *session)
{
    return session->client == NULL ? isatty(STDOUT_FILENO)
                                   : session->client->out_is_terminal;
}

bool
session_err_is_terminal(const struct session *session)
{
    return session->client == NULL ? isatty(STDERR_FILENO)
                                   : session->client->err_is_terminal;
}

enum colander_code
session_format(const struct session *session, const char *name,
               enum output_format terminal, struct output_options *options,
               struct colander_error *err)
{
    options->style = session->style;
    options->is_terminal = session_out_is_terminal(session);
    if (name != NULL)
        return output_format_parse(name, &options->format, err);
    options->format = session->format;
    if (session->has_format)
        return COLANDER_OK;
    options->format =
        session->is_demo || options->is_terminal ? terminal : OUTPUT_JSONL;
    return COLANDER_OK;
}

const char *
session_read_only(const struct session *session)
{
    return session->cluster != NULL
               ? "nodes only read: 'colander load CLUSTER FAMILY' sends rows "
                 "to a cluster, or with --op changes to them"
               : "the server has opened the store to read";
}

bool
session_shows_costs(const struct session *session)
{
    return session->is_prompt ? session->is_timed
                              : session_shows_notes(session);
}

bool
session_shows_notes(const struct session *session)
{
    return session->is_prompt || session->is_demo ||
           (session_out_is_terminal(session) &&
            session_err_is_terminal(session));
}

void
session_add_fact(const struct session *session, const char *name,
                 uint64_t count)
{
    if (session->client != NULL && session->client->facts != NULL)
        colander_row_builder_add(session->client->facts, name,
                                 colander_unsigned(count));
}

/* JSON has text: other bytes become question marks. */
void
session_add_text(const struct session *session, const char *name,
                 const char *text)
{
    struct colander_buffer clean = COLANDER_BUFFER_EMPTY;

    if (session->client == NULL || session->client->facts == NULL)
        return;
    if (text_append_printable(&clean, colander_slice_text(text), NULL) ==
            COLANDER_OK &&
        colander_buffer_append(&clean, "", 1, NULL) == COLANDER_OK)
        colander_row_builder_add(session->client->facts, name,
                                 colander_text((const char *)clean.data));
    colander_buffer_release(&clean);
}

/* Adds each line as an element. */
static void
add_lines(const struct session *session, struct colander_slice text)
{
    while (text.size > 0) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        const size_t size = end == NULL ? text.size : (size_t)(end - text.data);
        char *line = strndup((const char *)text.data, size);

        if (line != NULL && size > 0)
            session_add_text(session, NULL, line);
        free(line);
        text = colander_slice_of(text.data + size, text.size - size);
        if (text.size > 0)
            text = colander_slice_of(text.data + 1, text.size - 1);
    }
}

void
session_add_hints(const struct session *session, const struct report *hints,
                  const struct report *more)
{
    const struct session_client *client = session->client;

    if (client == NULL || client->facts == NULL ||
        (hints->text.size == 0 && (more == NULL || more->text.size == 0)))
        return;
    colander_row_builder_begin_array(client->facts, "hints");
    add_lines(session, colander_buffer_slice(&hints->text));
    if (more != NULL)
        add_lines(session, colander_buffer_slice(&more->text));
    colander_row_builder_end(client->facts);
}

/* Keeps the first failure for the answer to a request. */
static void
keep_failure(const struct session *session, enum colander_code code,
             const char *message)
{
    if (session->client != NULL && session->client->failure != NULL &&
        session->client->failure->code == COLANDER_OK)
        (void)COLANDER_FAIL(session->client->failure, code, "%s", message);
}

enum session_exit
session_complain(const struct session *session, enum session_exit status,
                 const char *format, ...)
{
    char message[sizeof(((struct colander_error *)0)->message)];
    va_list list;

    if (session->client == NULL)
        pager_end(); /* a terminal shows what was printed before first */
    (void)fflush(session_out(session));
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    if (status != SESSION_FINE)
        keep_failure(session,
                     status == SESSION_USAGE ? COLANDER_INVALID : COLANDER_IO,
                     message);
    if (!session->is_prompt)
        fprintf(session_err(session), "colander: ");
    if (session->file != NULL)
        fprintf(session_err(session), "%s: ", session->file);
    if (session->line > 0)
        fprintf(session_err(session), "line %lu: ", session->line);
    if (session->command != NULL)
        fprintf(session_err(session), "%s: ", session->command);
    text_complain(session_err(session), colander_slice_text(message));
    return status;
}

enum session_exit
session_fail(const struct session *session, const struct colander_error *err)
{
    keep_failure(session, err->code, err->message);
    if (err->code == COLANDER_CANCELLED && !interrupt_happened())
        return SESSION_UNREAD;
    if (err->code == COLANDER_CANCELLED)
        return session_complain(session, SESSION_INTERRUPTED, "interrupted");
    return session_complain(session,
                            err->code == COLANDER_CORRUPT ||
                                    err->code == COLANDER_IO
                                ? SESSION_DAMAGED
                                : SESSION_FAILED,
                            "%s", err->message);
}

enum session_exit
session_misused(const struct session *session, const struct colander_error *err)
{
    enum session_exit status = session_fail(session, err);

    return err->code == COLANDER_INVALID ? SESSION_USAGE : status;
}

enum session_exit
session_misread(const struct session *session, const char *text, size_t offset,
                const struct colander_error *err)
{
    struct colander_buffer caret = COLANDER_BUFFER_EMPTY;
    enum session_exit status = session_misused(session, err);

    if (err->code == COLANDER_INVALID &&
        text_append_caret(&caret, text, offset, NULL) == COLANDER_OK)
        fprintf(session_err(session), "%.*s", (int)caret.size,
                (const char *)caret.data);
    colander_buffer_release(&caret);
    return status;
}
