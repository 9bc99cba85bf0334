/* See service.h. SPDX-License-Identifier: MIT */
#include "shell/service.h"
#include "loading/load.h"
#include "shell/command.h"
#include "shell/entries.h"
#include "shell/hint.h"
#include "shell/interrupt.h"
#include "shell/reduction.h"
#include "shell/request.h"
#include "shell/request_script.h"

#include <stdlib.h>

struct service {
    const struct session *session;
    struct server *server;
    bool runs_lua;    /* also for clients of an address */
    bool runs_shells; /* the same, and they are trusted */
    const char *backup_to;
    uint64_t backup_max;
    server_open_fresh *open_fresh;
    void *node;
};

/* ------------------------------------------------------------- commands --- */

/* What a command of a client knows instead of Ctrl-C. */

static void
watch(void *context, struct colander_cursor *cursor)
{
    server_command_watch(context, cursor);
}

static bool
is_over(void *context)
{
    return server_command_is_over(context);
}

static enum colander_code
confirm(void *context, const char *question, bool *is_yes,
        struct colander_error *err)
{
    return server_command_confirm(context, question, is_yes, err);
}

static enum colander_code
read_line(void *context, const char *prompt, bool is_new,
          struct colander_buffer *line, bool *is_end,
          struct colander_error *err)
{
    return server_command_read_line(context, prompt, is_new, line, is_end, err);
}

static void
count_load(void *context, uint64_t rows, uint64_t rejects)
{
    server_command_count_load(context, rows, rejects);
}

static enum session_exit
complete(struct entries *entries, void *context)
{
    return entries_complete(entries, context);
}

/* Runs a command for a client. */
static int
run_for_client(void *context, const struct server_command *command)
{
    const struct service *service = context;
    const struct colander_load_files files = {
        .context = (void *)command,
        .look = server_file_look,
        .read = server_file_read,
        .would_wait = server_file_would_wait,
        .cut = server_file_cut,
        .append = server_file_append,
    };
    const struct session_client client = {
        .out = command->out,
        .err = command->err,
        .out_is_terminal = command->out_is_terminal,
        .err_is_terminal = command->err_is_terminal,
        .in_is_terminal = command->in_is_terminal,
        .files = &files,
        .context = (void *)command,
        .confirm = confirm,
        .read_line = read_line,
        .count_load = count_load,
        .facts = command->result == NULL ? NULL : command->result->facts,
        .failure = command->result == NULL ? NULL : &command->result->failure,
        .may_run_lua =
            command->is_local || service->runs_lua || service->runs_shells,
        .is_trusted = command->is_local || service->runs_shells,
        .is_local = command->is_local,
        .backup_to = service->backup_to,
        .backup_max = service->backup_max,
        .open_fresh = service->open_fresh,
        .node = service->node,
    };
    const struct interrupt_source source = {(void *)command, watch, is_over};
    struct session session = {
        .store = service->session->store,
        .client = &client,
        .commands = service->session->commands,
        .is_read_only = service->session->is_read_only,
        .cluster = service->session->cluster,
        .cluster_brokers = service->session->cluster_brokers,
        .style = {.width = command->width},
    };
    const char *last = command->words[command->word_count - 1];
    enum session_exit status;

    interrupt_set_source(&source);
    if (strcmp(command->words[0], SERVER_SCRIPT) == 0 &&
        command->result != NULL)
        status = request_script_run(&session, last);
    else if (strcmp(command->words[0], SERVER_COMPLETION) == 0)
        status = client.may_run_lua
                     ? entries_run_task(&session, complete, (void *)last)
                     : SESSION_FAILED;
    else
        status =
            command_run(&session, (int)command->word_count, command->words);
    interrupt_set_source(NULL);
    return (int)status;
}

/* ---------------------------------------------------------------- hints --- */

static void *
begin_hint(const char *const *paths, size_t path_count, const char *order,
           const struct colander_predicate *where)
{
    struct hint_missing *missing = calloc(1, sizeof(*missing));

    if (missing != NULL)
        hint_missing_init(missing, paths, path_count, order, where);
    return missing;
}

static void
see_row(void *hint, struct colander_slice row)
{
    struct hint_missing *missing = hint;

    if (missing != NULL && missing->count > 0)
        hint_missing_see(missing, row);
}

/* A sample is read whether or not the client has left. */

static void
watch_nothing(void *context, struct colander_cursor *cursor)
{
    (void)context;
    (void)cursor;
}

static bool
is_never_over(void *context)
{
    (void)context;
    return false;
}

static void
end_hint(void *hint, struct colander_family *family,
         const struct colander_predicate *where,
         struct colander_row_builder *builder)
{
    struct hint_missing *missing = hint;
    struct report report = REPORT_EMPTY;

    if (missing == NULL)
        return;
    if (builder != NULL && (where != NULL || missing->count > 0)) {
        const struct session_client client = {.facts = builder};
        const struct session session = {.client = &client};
        const struct interrupt_source source = {NULL, watch_nothing,
                                                is_never_over};
        const struct hint_question question = {
            .family = family,
            .where = where,
            .paths = missing->paths,
            .path_count = missing->count,
            .any_type = true,
        };

        interrupt_set_source(&source);
        hint_add(&question, &report);
        interrupt_set_source(NULL);
        session_add_hints(&session, &report, NULL);
    }
    report_release(&report);
    hint_missing_release(missing);
    free(missing);
}

/* ----------------------------------------------------------------- life --- */

enum colander_code
service_start(const struct session *session, const struct server_options *asked,
              struct service **out, struct colander_error *err)
{
    struct service *service = calloc(1, sizeof(*service));
    struct server_options options;
    enum colander_code code;

    *out = NULL;
    if (service == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a server");
    server_options_init(&options);
    if (asked != NULL)
        options = *asked;
    options.run = run_for_client;
    options.run_context = service;
    options.check_order = request_check_order;
    options.begin_hint = begin_hint;
    options.see_row = see_row;
    options.end_hint = end_hint;
    if (options.runs_lua)
        options.reduce = reduction_run;
    service->session = session;
    service->runs_lua = options.runs_lua;
    service->runs_shells = options.runs_shells;
    service->backup_to = options.backup_to;
    service->backup_max = options.backup_max;
    service->open_fresh = options.open_fresh;
    service->node = options.parts_context;
    code = server_start(session->store, &options, &service->server, err);
    if (code == COLANDER_OK)
        *out = service;
    else
        free(service);
    return code;
}

const char *
service_address(const struct service *service)
{
    return server_address(service->server);
}

enum colander_code
service_reopen_log(const struct service *service, struct colander_error *err)
{
    return server_reopen_log(service->server, err);
}

void
service_stop(struct service *service)
{
    if (service == NULL)
        return;
    server_stop(service->server);
    free(service);
}
