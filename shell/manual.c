/* See manual.h. SPDX-License-Identifier: MIT */
#include "shell/manual.h"

#include <stdio.h>

/* ---------------------------------------------------------------- text --- */

/* Prints text in which man finds no request. */
static void
print_text(const char *text, size_t size)
{
    static const struct {
        char byte;
        const char *name;
    } names[] = {
        {'\\', "\\(rs"}, {'\'', "\\(aq"}, {'-', "\\-"},
        {'^', "\\(ha"},  {'~', "\\(ti"},  {'`', "\\(ga"},
    };

    if (size > 0 && text[0] == '.')
        printf("\\&");
    for (size_t i = 0; i < size; i++) {
        const char *name = NULL;

        for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
            name = text[i] == names[j].byte ? names[j].name : name;
        if (name != NULL)
            fputs(name, stdout);
        else
            putchar(text[i]);
    }
}

static void
print_word(const char *text)
{
    print_text(text, strlen(text));
}

/* Prints lines. Those with a space before them stay as they are; others are one
 * paragraph up to an empty line. */
static void
print_lines(const char *text)
{
    bool is_kept = false;

    while (*text != '\0') {
        const size_t size = strcspn(text, "\n");
        const bool keeps = text[0] == ' ';

        if (keeps != is_kept)
            puts(keeps ? ".nf" : ".fi");
        is_kept = keeps;
        if (size == 0)
            printf(".PP");
        print_text(text, size);
        putchar('\n');
        text += size + (text[size] == '\n');
    }
    if (is_kept)
        puts(".fi");
}

/* ---------------------------------------------------------------- page --- */

static void
print_head(const struct command *command)
{
    printf(".TH \"COLANDER\\-");
    for (const char *at = command->name; *at != '\0'; at++)
        putchar(*at - 'a' + 'A');
    printf("\" 1 \"\" \"colander %s\" \"User commands\"\n"
           ".SH NAME\ncolander\\-%s \\- ",
           colander_version(), command->name);
    print_word(command->summary);
    printf("\n.SH SYNOPSIS\n\\fBcolander %s\\fP%s ", command->name,
           command->store < COMMAND_OPENS ? " STORE" : "");
    print_word(command->words);
    printf("\n.SH DESCRIPTION\n");
    if (command->help != NULL)
        print_lines(command->help);
    else
        print_word(command->summary);
}

static void
print_option(const struct argument_option *option)
{
    printf(".TP\n\\fB\\-%s", option->name[1] == '\0' ? "" : "\\-");
    print_word(option->name);
    printf("\\fP");
    if (option->value != NULL) {
        printf(" \\fI");
        print_word(option->value);
        printf("\\fP");
    }
    printf("\n");
    print_lines(option->help);
    printf("\n");
}

static void
print_options(const struct argument_option *options)
{
    for (; options->name != NULL; options++) {
        if (options->name[0] == '\0') {
            printf(".SS \"");
            for (const char *at = options->help; *at != '\0'; at++)
                printf(*at == '"' ? "\\(dq" : "%c", *at);
            printf("\"\n");
        } else if (options->instead == NULL) {
            print_option(options);
        }
    }
}

void
manual_print(const struct command *command)
{
    print_head(command);
    if (command->options->name != NULL ||
        command_common_options(command)->name != NULL)
        printf(".SH OPTIONS\n");
    print_options(command->options);
    print_options(command_common_options(command));
    if (command->examples != NULL) {
        printf(".SH EXAMPLES\n");
        print_lines(command->examples);
    }
    printf(".SH SEE ALSO\n"
           "\\fBcolander\\fP(1), which has exit statuses, environment and "
           "files\n");
}
