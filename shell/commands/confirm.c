/* See confirm.h. SPDX-License-Identifier: MIT */
#include "shell/commands/confirm.h"
#include "shell/interrupt.h"
#include "shell/pager.h"

#include <stdio.h>
#include <unistd.h>

bool
confirm_is_possible(void)
{
    return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
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

enum colander_code
confirm_ask(struct report *question, bool *is_yes, struct colander_error *err)
{
    enum colander_code code;
    char answer;

    report_add(question, " [y/N] ");
    code = question->code;
    if (code == COLANDER_OK) {
        pager_end();
        (void)fflush(stdout);
        fwrite(question->text.data, 1, question->text.size, stderr);
        (void)fflush(stderr);
    } else if (err != NULL) {
        *err = question->err;
    }
    report_release(question);
    if (code != COLANDER_OK)
        return code;
    interrupt_ends_reads(true);
    answer = interrupt_happened() ? '\n' : read_answer();
    interrupt_ends_reads(false);
    *is_yes = answer == 'y' || answer == 'Y';
    if (!interrupt_happened())
        return COLANDER_OK;
    fputc('\n', stderr);
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
}
