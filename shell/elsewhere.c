/* See elsewhere.h. SPDX-License-Identifier: MIT */
#include "shell/elsewhere.h"
#include "serve/remote.h"
#include "serve/token.h"
#include "shell/client_files.h"
#include "shell/client_prompt.h"
#include "shell/interrupt.h"
#include "shell/output.h"
#include "shell/result_file.h"

#include <stdlib.h>
#include <unistd.h>

/* What the command of a client has here. */
struct client {
    struct result_file result; /* its output */
    struct client_files files;
    struct client_prompt prompt;
    bool is_typed;  /* it is a shell with a prompt */
    bool has_begun; /* something was answered */
};

bool
elsewhere_is_address(const char *store)
{
    return remote_is_address(store);
}

/* Prints what has come. A pipe that no one reads ends the command. */
static enum colander_code
print(void *context, bool is_err, struct colander_slice bytes,
      struct colander_error *err)
{
    struct client *client = context;
    const struct result_file *result = &client->result;
    FILE *file = is_err ? stderr : result->file;

    client->has_begun = true;
    if (is_err)
        (void)fflush(result->file);
    if (fwrite(bytes.data, 1, bytes.size, file) != bytes.size && !is_err)
        return output_fail(file, err);
    return is_err ? COLANDER_OK : output_flush(file, err);
}

/* A load learns of it when it asks for more, and says how far it got. */
static bool
is_cancelled(void *context)
{
    const struct client *client = context;

    return interrupt_happened() && !client->files.is_load;
}

/* At a prompt Ctrl-C stops what runs, and not the shell. */
static bool
interrupts(void *context)
{
    const struct client *client = context;
    const bool happened = client->is_typed && interrupt_happened();

    if (happened)
        interrupt_forget();
    return happened;
}

static enum colander_code
reply(void *context, const struct remote_ask *ask, struct remote_reply *reply,
      struct colander_error *err)
{
    struct client *client = context;

    client->has_begun = true;
    if (ask->kind == REMOTE_LINE && client->is_typed)
        return client_prompt_reply(&client->prompt, ask, reply, err);
    return client_files_reply(&client->files, ask, reply, err);
}

/* Reads the token for an address, if there is one. */
static enum colander_code
get_token(struct remote_command *command, struct token *token,
          struct colander_error *err)
{
    const char *path = getenv("COLANDER_TOKEN_FILE");
    enum colander_code code;

    if (!remote_is_address(command->store) || path == NULL || path[0] == '\0')
        return COLANDER_OK;
    code = token_read(path, token, err);
    command->token = token->text;
    return code;
}

/* Runs the command, and keeps its output if it succeeds. */
static enum colander_code
run(const struct remote_command *asked, const struct arguments *arguments,
    enum session_exit *status, bool *has_begun, struct colander_error *err)
{
    struct remote_command command = *asked;
    struct client client = {.prompt = {.command = &command}};
    struct token token;
    enum colander_code code;
    int exit_status = 0;

    client_files_init(&client.files, command.words[0], arguments);
    client.is_typed = client.files.is_shell && command.in_is_terminal &&
                      command.out_is_terminal && arguments->word_count == 1 &&
                      !arguments_has(arguments, "e");
    code = result_file_open(&client.result,
                            arguments_value(arguments, "output"), stdout, err);
    command.context = &client;
    if (code == COLANDER_OK)
        code = get_token(&command, &token, err);
    if (code == COLANDER_OK)
        code = remote_run(&command, &exit_status, err);
    if (code == COLANDER_OK && exit_status == SESSION_FINE)
        code = result_file_finish(&client.result, err);
    client_prompt_release(&client.prompt);
    result_file_release(&client.result);
    client_files_release(&client.files);
    *status = (enum session_exit)exit_status;
    *has_begun = client.has_begun;
    return code;
}

/* Whether the command names a directory that the process elsewhere writes, in
 * its second word. */
static bool
names_place(const struct arguments *arguments, const char *command)
{
    return strcmp(command, "backup") == 0 && arguments->word_count > 1 &&
           strchr("/", arguments->words[1][0]) == NULL && /* nor empty */
           strstr(arguments->words[1], "://") == NULL &&
           !remote_is_address(arguments->words[0]);
}

/* Replaces that word by one that means the same there. Both are the caller's to
 * free. Without memory the words stay as they are, and are refused. */
static const char **
replace_place(const struct arguments *arguments, int argc,
              const char *const *argv, char **place)
{
    const char **words = calloc((size_t)argc, sizeof(*words));
    char *here = getcwd(NULL, 0);

    *place = NULL;
    if (here != NULL && asprintf(place, "%s/%s", here, arguments->words[1]) < 0)
        *place = NULL;
    for (int i = 0; i < argc && words != NULL; i++)
        words[i] =
            argv[i] == arguments->words[1] && *place != NULL ? *place : argv[i];
    free(here);
    return words;
}

static struct remote_command
command_of(const struct session *session, const char *store, int argc,
           const char *const *words)
{
    const char *ca_file = getenv("COLANDER_CA_FILE");

    return (struct remote_command){
        .store = store,
        .words = words,
        .word_count = (size_t)argc,
        .width = output_width(),
        .in_is_terminal = isatty(STDIN_FILENO) == 1,
        .out_is_terminal = session_out_is_terminal(session),
        .err_is_terminal = session_err_is_terminal(session),
        .ca_file = ca_file == NULL || ca_file[0] == '\0' ? NULL : ca_file,
        .take = print,
        .is_cancelled = is_cancelled,
        .interrupts = interrupts,
        .reply = reply,
    };
}

bool
elsewhere_run(struct session *session, const struct arguments *arguments,
              int argc, const char *const *argv, enum session_exit *status)
{
    char *place = NULL;
    const char **words = names_place(arguments, argv[0])
                             ? replace_place(arguments, argc, argv, &place)
                             : NULL;
    const struct remote_command command = command_of(
        session, arguments->words[0], argc, words == NULL ? argv : words);
    struct colander_error err;
    bool has_begun;
    enum colander_code code =
        run(&command, arguments, status, &has_begun, &err);

    free(place);
    free(words);
    if (code == COLANDER_NOT_FOUND && !remote_is_address(command.store))
        return false;
    if (code != COLANDER_OK)
        *status = session_fail(session, &err);
    return true;
}

enum colander_code
elsewhere_run_at(struct session *session, const struct arguments *arguments,
                 const char *address, enum session_exit *status,
                 struct colander_error *err)
{
    const struct remote_command command =
        command_of(session, address, session->argc, session->argv);
    bool has_begun;
    const enum colander_code code =
        run(&command, arguments, status, &has_begun, err);

    if (code == COLANDER_BUSY && !has_begun)
        return code;
    if (code != COLANDER_OK)
        *status = session_fail(session, err);
    return COLANDER_OK;
}
