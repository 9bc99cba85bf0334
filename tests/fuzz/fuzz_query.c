/*
 * Any text as a question: a condition, a value in any column, an expression of
 * Lua. Nothing crashes, and a mistake is at a byte of the text.
 *
 * The first byte says which it is. Expressions are read and not run: one may
 * run for ever.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"
#include "shell/conditions.h"
#include "shell/text.h"
#include "shell/where.h"

/* A mistake is where a caret can show it. */
static void
expect_place(const char *text, enum colander_code code, size_t offset)
{
    struct colander_buffer caret = COLANDER_BUFFER_EMPTY;

    if (code != COLANDER_INVALID)
        return;
    expect(offset <= strlen(text));
    OK(text_append_caret(&caret, text, offset, NULL));
    colander_buffer_release(&caret);
}

static void
parse(const char *text)
{
    struct colander_error err = {.code = COLANDER_OK};
    struct colander_predicate *predicate;
    size_t offset = 0;

    predicate = condition_parse(text, &offset, &err);
    if (predicate == NULL)
        expect_place(text, err.code, offset);
    colander_predicate_destroy(predicate);
    predicate = condition_parse_any(text, &offset, &err);
    if (predicate == NULL)
        expect_place(text, err.code, offset);
    colander_predicate_destroy(predicate);
}

static void
read_expression(const char *text)
{
    struct where *where = where_create();
    size_t offset = 0;

    expect(where != NULL);
    expect_place(text, where_add(where, text, &offset, NULL), offset);
    where_destroy(where);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0)
        return 0;
    text = strndup((const char *)data + 1, size - 1);
    expect(text != NULL);
    if (data[0] % 8 == 0) /* seldom: it takes a state of Lua */
        read_expression(text);
    else
        parse(text);
    free(text);
    return 0;
}
