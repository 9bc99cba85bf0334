/*
 * Selection: see selection.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/selection.h"

#include <stdlib.h>

/* Joins the values of every option `name` by commas; "" when there is none. */
static char *
join(const struct arguments *arguments, const char *name)
{
    size_t size = 1;
    char *text;

    for (size_t i = 0; i < arguments->choice_count; i++) {
        if (strcmp(arguments->choices[i].option->name, name) == 0)
            size += strlen(arguments->choices[i].value) + 1;
    }
    text = calloc(size, 1);
    for (size_t i = 0; text != NULL && i < arguments->choice_count; i++) {
        if (strcmp(arguments->choices[i].option->name, name) != 0)
            continue;
        if (text[0] != '\0')
            strcat(text, ",");
        strcat(text, arguments->choices[i].value);
    }
    return text;
}

/* The end of the path that begins at `path`: its comma or terminator. */
static char *
path_end(char *path)
{
    while (*path != '\0' && *path != ',')
        path += path[0] == '\\' && path[1] != '\0' ? 2 : 1;
    return path;
}

enum colander_code
selection_parse(struct selection *selection, const struct arguments *arguments,
                const char *name, struct colander_error *err)
{
    char *at;

    if (!arguments_has(arguments, name))
        return COLANDER_OK;
    selection->text = join(arguments, name);
    if (selection->text != NULL)
        selection->paths =
            calloc(strlen(selection->text) + 1, sizeof(*selection->paths));
    if (selection->text == NULL || selection->paths == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    for (at = selection->text;; at++) {
        char *end = path_end(at);
        bool is_last = *end == '\0';

        if (end == at)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "--%s has an empty column", name);
        selection->paths[selection->count++] = at;
        *end = '\0';
        at = end;
        if (is_last)
            return COLANDER_OK;
    }
}

void
selection_release(struct selection *selection)
{
    free(selection->text);
    free(selection->paths);
    memset(selection, 0, sizeof(*selection));
}
