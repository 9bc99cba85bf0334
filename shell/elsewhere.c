/* See elsewhere.h. SPDX-License-Identifier: MIT */
#include "shell/elsewhere.h"
#include "serve/remote.h"
#include "serve/token.h"
#include "shell/interrupt.h"
#include "shell/output.h"
#include "shell/result_file.h"

#include <stdlib.h>

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
    const struct result_file *result = context;
    FILE *file = is_err ? stderr : result->file;

    if (is_err)
        (void)fflush(result->file);
    if (fwrite(bytes.data, 1, bytes.size, file) == bytes.size && is_err)
        return COLANDER_OK;
    return output_flush(file, err);
}

static bool
is_cancelled(void *context)
{
    (void)context;
    return interrupt_happened();
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
run(const struct remote_command *asked, const char *output,
    enum session_exit *status, struct colander_error *err)
{
    struct remote_command command = *asked;
    struct result_file result;
    struct token token;
    enum colander_code code;
    int exit_status = 0;

    code = result_file_open(&result, output, stdout, err);
    command.context = &result;
    if (code == COLANDER_OK)
        code = get_token(&command, &token, err);
    if (code == COLANDER_OK)
        code = remote_run(&command, &exit_status, err);
    if (code == COLANDER_OK && exit_status == SESSION_FINE)
        code = result_file_finish(&result, err);
    result_file_release(&result);
    *status = (enum session_exit)exit_status;
    return code;
}

bool
elsewhere_run(struct session *session, const struct arguments *arguments,
              int argc, const char *const *argv, enum session_exit *status)
{
    const struct remote_command command = {
        .store = arguments->words[0],
        .words = argv,
        .word_count = (size_t)argc,
        .width = output_width(),
        .out_is_terminal = session_out_is_terminal(session),
        .err_is_terminal = session_err_is_terminal(session),
        .take = print,
        .is_cancelled = is_cancelled,
    };
    struct colander_error err;
    enum colander_code code =
        run(&command, arguments_value(arguments, "output"), status, &err);

    if (code == COLANDER_NOT_FOUND && !remote_is_address(command.store))
        return false;
    if (code != COLANDER_OK)
        *status = session_fail(session, &err);
    return true;
}
