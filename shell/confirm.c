/* See confirm.h. SPDX-License-Identifier: MIT */
#include "shell/confirm.h"
#include "shell/interrupt.h"
#include "shell/pager.h"

#include <stdio.h>
#include <unistd.h>

bool
confirm_is_possible(const struct session *session)
{
    if (session->client != NULL)
        return session->client->in_is_terminal;
    return isatty(STDIN_FILENO) == 1;
}

/* Reads a line, byte by byte: what follows is for others. Returns its first
 * character. */
static char
read_answer(void)
{
    char first = '\n';
    char next;

    for (bool is_first = true; read(STDIN_FILENO, &next, 1) == 1;
         is_first = false) {
        if (is_first)
            first = next;
        if (next == '\n')
            break;
    }
    return first;
}

/* Prints on the terminal, also if standard error is elsewhere: nobody should
 * have to answer what they cannot read. */
static void
print(const char *text)
{
    FILE *terminal = isatty(STDERR_FILENO) == 1 ? NULL : fopen("/dev/tty", "w");

    fputs(text, terminal == NULL ? stderr : terminal);
    if (terminal == NULL)
        (void)fflush(stderr);
    else
        (void)fclose(terminal);
}

enum colander_code
confirm_ask_here(const char *question, bool *is_yes, struct colander_error *err)
{
    char answer;

    pager_end();
    (void)fflush(stdout);
    print(question);
    interrupt_ends_reads(true);
    answer = interrupt_happened() ? '\n' : read_answer();
    interrupt_ends_reads(false);
    *is_yes = answer == 'y' || answer == 'Y';
    if (!interrupt_happened())
        return COLANDER_OK;
    print("\n");
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
}

enum colander_code
confirm_ask(const struct session *session, struct report *question,
            bool *is_yes, struct colander_error *err)
{
    const struct session_client *client = session->client;
    enum colander_code code;

    report_add(question, " [y/N] ");
    if (question->code == COLANDER_OK)
        question->code =
            colander_buffer_append(&question->text, "", 1, &question->err);
    code = question->code;
    if (code != COLANDER_OK && err != NULL)
        *err = question->err;
    if (code == COLANDER_OK && client != NULL)
        code = client->confirm(client->context,
                               (const char *)question->text.data, is_yes, err);
    else if (code == COLANDER_OK)
        code = confirm_ask_here((const char *)question->text.data, is_yes, err);
    report_release(question);
    return code;
}
