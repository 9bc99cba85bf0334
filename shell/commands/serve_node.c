/* See serve_node.h. SPDX-License-Identifier: MIT */
#include "shell/commands/serve_node.h"

#include "columns/words.h"

#include <limits.h>

static void
say(void *context, const char *line)
{
    session_complain(context, SESSION_FINE, "%s", line);
}

static enum colander_code
read_checkpoint(const struct arguments *arguments, unsigned *wait_ms,
                struct colander_error *err)
{
    const char *text = arguments_value(arguments, "checkpoint");
    int64_t seconds;

    if (text == NULL)
        return COLANDER_OK;
    if (!colander_duration_read(colander_slice_text(text), &seconds) ||
        seconds == 0 || seconds > UINT_MAX / 1000)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--checkpoint must be a duration such as 10m, "
                             "not '%s'",
                             text);
    *wait_ms = (unsigned)seconds * 1000;
    return COLANDER_OK;
}

enum colander_code
serve_node_open(struct serve_node *serving, struct session *session,
                const struct arguments *arguments, const char *address,
                struct colander_error *err)
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
    if (code == COLANDER_OK)
        code = read_checkpoint(arguments, &options->checkpoint_ms, err);
    if (code == COLANDER_OK)
        code = node_open(options, &serving->node, err);
    if (code != COLANDER_OK)
        return code;
    session->store = node_store(serving->node);
    session->path = colander_store_path(session->store);
    session->is_read_only = true;
    return COLANDER_OK;
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
