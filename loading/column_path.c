/*
 * Column path: see column_path.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/column_path.h"

#include <stdlib.h>

static int
hex_digit(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    return (character | 0x20) - 'a' + 10;
}

/* Takes one byte of a name from *at, in a path that is known to be one. */
static uint8_t
take_byte(const char **at)
{
    const char *from = *at;

    if (*from != '\\') {
        *at = from + 1;
        return (uint8_t)*from;
    }
    if (from[1] != 'x') {
        *at = from + 2;
        return (uint8_t)from[1];
    }
    *at = from + 4;
    return (uint8_t)(hex_digit(from[2]) * 16 + hex_digit(from[3]));
}

static bool
is_in_name(char character)
{
    return character != '\0' && character != '.' && character != '[';
}

static void
split(const char *text, struct column_path *path, uint8_t *names)
{
    const char *at = text;

    for (;;) {
        struct column_step *step = &path->steps[path->count++];

        step->is_element = false;
        step->name.data = names;
        while (is_in_name(*at))
            *names++ = take_byte(&at);
        step->name.size = (size_t)(names - step->name.data);
        for (; *at == '['; at += 2) {
            path->steps[path->count].name = colander_slice_of(NULL, 0);
            path->steps[path->count++].is_element = true;
        }
        if (*at == '\0')
            return;
        at++; /* a dot */
    }
}

/* The library reads paths to follow them: here in a row without columns. */
static enum colander_code
check(const char *text, struct colander_error *err)
{
    static const uint8_t row[] = {0x80};
    struct colander_value value;
    bool found;

    return colander_row_get(colander_slice_of(row, sizeof(row)), text, &value,
                            &found, err);
}

enum colander_code
column_path_parse(const char *text, struct column_path *path,
                  struct colander_error *err)
{
    const size_t steps_size =
        COLANDER_ROW_DEPTH_MAX * sizeof(struct column_step);
    enum colander_code code = check(text, err);

    path->steps = NULL;
    path->count = 0;
    if (code != COLANDER_OK)
        return code;
    path->steps = malloc(steps_size + strlen(text));
    if (path->steps == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a path");
    split(text, path, (uint8_t *)path->steps + steps_size);
    return COLANDER_OK;
}

void
column_path_release(struct column_path *path)
{
    free(path->steps);
    path->steps = NULL;
    path->count = 0;
}

enum colander_code
column_path_text(const struct column_path *path, struct colander_buffer *text,
                 struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(text);
    for (size_t i = 0; i < path->count && code == COLANDER_OK; i++) {
        const struct column_step *step = &path->steps[i];

        if (step->is_element)
            code = colander_buffer_append(text, "[]", 2, err);
        else if (i > 0)
            code = colander_buffer_append(text, ".", 1, err);
        if (code == COLANDER_OK && !step->is_element)
            code = colander_path_append_name(text, step->name, err);
    }
    if (code == COLANDER_OK)
        code = colander_buffer_append(text, "", 1, err);
    return code;
}

bool
column_path_is_name(const char *text, struct colander_slice name)
{
    const char *at = text;

    for (size_t i = 0; i < name.size; i++) {
        if (!is_in_name(*at) || take_byte(&at) != name.data[i])
            return false;
    }
    return *at == '\0';
}
