/* See serve_node.h. SPDX-License-Identifier: MIT */
#include "shell/serve_node.h"

#include "columns/words.h"

#include "cluster/members.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SAY_SHARE 10 /* of the time after which a silent node is lost */

static void
say(void *context, const char *line)
{
    session_complain(context, SESSION_FINE, "%s", line);
}

/* Reads an option that is a duration, if it is there. */
static enum colander_code
read_duration(const struct arguments *arguments, const char *name,
              unsigned *wait_ms, struct colander_error *err)
{
    const char *text = arguments_value(arguments, name);
    int64_t seconds;

    if (text == NULL)
        return COLANDER_OK;
    if (!colander_duration_read(colander_slice_text(text), &seconds) ||
        seconds <= 0 || seconds > UINT_MAX / 1000)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s must be a duration such as 10m, not '%s'",
                             name, text);
    *wait_ms = (unsigned)seconds * 1000;
    return COLANDER_OK;
}

/* Chooses the name of a node that others know: that of the machine and the
 * port, unless one is given. */
static enum colander_code
choose_name(struct serve_node *serving, const struct arguments *arguments,
            const char *listens, struct colander_error *err)
{
    const char *given = arguments_value(arguments, "name");
    const char *port = strrchr(listens, ':');
    char host[HOST_NAME_MAX + 1] = "node";

    if (given == NULL && port != NULL && strcmp(port, ":0") == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the port is any that is free: give the node a "
                             "--name that stays");
    (void)gethostname(host, sizeof(host) - 1);
    if (given == NULL)
        (void)snprintf(serving->name, sizeof(serving->name), "%.60s-%.10s",
                       host, port == NULL ? "" : port + 1);
    else if (strlen(given) < sizeof(serving->name))
        strcpy(serving->name, given);
    else
        return members_name_check(given, err);
    serving->options.name = serving->name;
    return members_name_check(serving->name, err);
}

enum colander_code
serve_node_open(struct serve_node *serving, struct session *session,
                const struct arguments *arguments, const char *address,
                struct server_options *server, struct colander_error *err)
{
    struct node_options *options = &serving->options;
    enum colander_code code =
        broker_options_read(&serving->brokers, arguments, NULL, err);

    options->cluster = address;
    options->directory = arguments_value(arguments, "dir");
    options->settings = serving->brokers.settings;
    options->setting_count = serving->brokers.options.setting_count;
    options->settings_file = serving->brokers.options.settings_file;
    options->say = say;
    options->context = session;
    options->token = server->token;
    options->ca_file = getenv("COLANDER_CA_FILE");
    serving->advertised = arguments_value(arguments, "advertise");
    if (code == COLANDER_OK)
        code = read_duration(arguments, "checkpoint", &options->checkpoint_ms,
                             err);
    if (code == COLANDER_OK)
        code = read_duration(arguments, "lost-after", &options->lost_ms, err);
    options->say_ms = options->lost_ms / SAY_SHARE;
    if (code == COLANDER_OK && server->address != NULL)
        code = choose_name(serving, arguments, server->address, err);
    if (code == COLANDER_OK)
        code = node_open(options, &serving->node, err);
    if (code != COLANDER_OK)
        return code;
    session->store = node_store(serving->node);
    session->path = colander_store_path(session->store);
    session->is_read_only = true;
    session->cluster = address;
    session->cluster_brokers = &serving->brokers.options;
    server->read_only = session_read_only(session);
    server->open_parts = node_open_parts;
    server->open_fresh = node_open_fresh;
    server->describe_cluster = node_describe;
    server->measure = node_measure;
    server->parts_context = serving->node;
    return COLANDER_OK;
}

enum colander_code
serve_node_join(struct serve_node *serving, const char *address, bool has_tls,
                struct colander_error *err)
{
    char url[300];

    if (serving->options.name == NULL)
        return node_join(serving->node, NULL, err);
    if (serving->advertised != NULL)
        return node_join(serving->node, serving->advertised, err);
    if (strncmp(address, "0.0.0.0:", 8) == 0 ||
        strncmp(address, "[::]:", 5) == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "say with --advertise where other nodes can ask "
                             "this one: %s is any address of this machine",
                             address);
    (void)snprintf(url, sizeof(url), "http%s://%s", has_tls ? "s" : "",
                   address);
    return node_join(serving->node, url, err);
}

enum colander_code
serve_node_close(struct serve_node *serving, struct session *session,
                 struct colander_error *err)
{
    const enum colander_code code = node_close(serving->node, err);

    if (serving->node != NULL) {
        session->store = NULL;
        session->path = serving->options.directory;
    }
    broker_options_release(&serving->brokers);
    return code;
}
