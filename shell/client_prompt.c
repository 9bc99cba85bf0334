/* See client_prompt.h. SPDX-License-Identifier: MIT */
#include "shell/client_prompt.h"
#include "serve/serve.h"
#include "shell/interrupt.h"
#include "shell/line_input.h"

#include <stdio.h>
#include <stdlib.h>

/* What a server says to Tab is not longer, if it is honest. */
#define OFFER_SIZE_MAX ((size_t)1 << 20)

#define TYPED_SIZE_MAX                                                         \
    ((size_t)128 << 10) /* bytes of a line: a reply has room */

/* ----------------------------------------------------------- completion --- */

static enum colander_code
keep(void *context, bool is_err, struct colander_slice bytes,
     struct colander_error *err)
{
    struct colander_buffer *offer = context;

    if (is_err)
        return COLANDER_OK;
    if (offer->size + bytes.size > OFFER_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT, "too much to choose from");
    return colander_buffer_append(offer, bytes.data, bytes.size, err);
}

static bool
is_never_cancelled(void *context)
{
    (void)context;
    return false;
}

/* Copies the text without what is meant for a terminal, and not for its
 * reader. */
static void
copy_shown(struct colander_buffer *to, struct colander_slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        const uint8_t byte = text.data[i];

        if (byte == '\n' || (byte >= ' ' && byte != 0x7f))
            (void)!colander_buffer_append(to, &byte, 1, NULL);
    }
    if (to->size > 0)
        (void)!colander_buffer_append(to, "", 1, NULL);
}

/* Has the server complete the line. A failure offers nothing. */
static void
complete(void *context, struct colander_slice line,
         struct colander_buffer *added, struct colander_buffer *listing)
{
    const struct client_prompt *prompt = context;
    struct remote_command command = *prompt->command;
    struct colander_buffer offer = COLANDER_BUFFER_EMPTY;
    char *text = strndup((const char *)line.data, line.size);
    const char *const words[] = {SERVER_COMPLETION, command.store, text};
    struct colander_error err;
    int status = 0;

    command.words = words;
    command.word_count = sizeof(words) / sizeof(words[0]);
    command.take = keep;
    command.is_cancelled = is_never_cancelled;
    command.interrupts = NULL;
    command.reply = NULL;
    command.context = &offer;
    if (text != NULL && remote_run(&command, &status, &err) == COLANDER_OK &&
        status == 0 && offer.size > 1)
        copy_shown(offer.data[0] == '+' ? added : listing,
                   colander_slice_of(offer.data + 1, offer.size - 1));
    colander_buffer_release(&offer);
    free(text);
}

/* ---------------------------------------------------------------- lines --- */

/* Only what was typed here gets into the history. */
static void
remember(struct client_prompt *prompt)
{
    if (prompt->input != NULL && prompt->entry.size > 0)
        line_input_remember(prompt->input,
                            colander_buffer_slice(&prompt->entry));
    colander_buffer_clear(&prompt->entry);
}

void
client_prompt_release(struct client_prompt *prompt)
{
    remember(prompt);
    line_input_close(prompt->input);
    colander_buffer_release(&prompt->entry);
    prompt->input = NULL;
}

static enum colander_code
add_line(struct client_prompt *prompt, const char *line,
         struct colander_error *err)
{
    struct colander_buffer *entry = &prompt->entry;
    enum colander_code code = COLANDER_OK;

    if (entry->size > 0)
        code = colander_buffer_append(entry, "\n", 1, err);
    return code == COLANDER_OK
               ? colander_buffer_append(entry, line, strlen(line), err)
               : code;
}

static void
drop_entry(struct client_prompt *prompt, struct remote_reply *reply)
{
    colander_buffer_clear(&prompt->entry);
    reply->size = 1;
}

static enum colander_code
send_line(struct client_prompt *prompt, const char *line,
          struct remote_reply *reply, struct colander_error *err)
{
    const size_t size = strlen(line);
    enum colander_code code;

    if (size > TYPED_SIZE_MAX) {
        fprintf(stderr, "a line of more than %zu bytes is not sent\n",
                TYPED_SIZE_MAX);
        drop_entry(prompt, reply);
        return COLANDER_OK;
    }
    code = add_line(prompt, line, err);
    return code == COLANDER_OK
               ? colander_buffer_append(reply->bytes, line, size, err)
               : code;
}

enum colander_code
client_prompt_reply(struct client_prompt *prompt, const struct remote_ask *ask,
                    struct remote_reply *reply, struct colander_error *err)
{
    const bool is_new = ask->offset == 1;
    char *text = strndup((const char *)ask->bytes.data, ask->bytes.size);
    enum colander_code code = COLANDER_OK;
    const char *line = NULL;

    if (text == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a prompt");
    if (prompt->input == NULL)
        code = line_input_open_terminal(complete, prompt, &prompt->input, err);
    if (is_new)
        remember(prompt);
    if (prompt->has_run)
        interrupt_count_again();
    if (code == COLANDER_OK)
        code = line_input_read(prompt->input, text, is_new, &line, err);
    free(text);
    prompt->has_run = code == COLANDER_OK && line != NULL;
    if (prompt->has_run) {
        interrupt_count_again();
        return send_line(prompt, line, reply, err);
    }
    if (prompt->input != NULL)
        line_input_end_line(prompt->input);
    reply->is_end = code == COLANDER_OK;
    if (code != COLANDER_CANCELLED ||
        line_input_is_second_interrupt(prompt->input, is_new))
        return code;
    interrupt_forget();
    drop_entry(prompt, reply);
    return COLANDER_OK;
}
