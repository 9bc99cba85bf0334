/*
 * Any text as a query: a condition, a value in any column, an expression of
 * Lua. Nothing crashes, and a mistake is at a byte of the text.
 *
 * The first byte selects the kind. Expressions are parsed but not run: one
 * might run forever.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"
#include "shell/text.h"
#include "shell/where.h"

/* A mistake is at a place where a caret can be shown. */
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
    struct colander_fault fault = {0, 0};
    struct colander_predicate *predicate;
    size_t offset = 0;

    predicate = colander_where_words(&text, 1, &fault, &err);
    if (predicate == NULL)
        expect_place(text, err.code, fault.offset);
    colander_predicate_destroy(predicate);
    predicate = colander_where_any_text(text, &offset, &err);
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
    if (data[0] % 8 == 0) /* rarely: it needs a Lua state */
        read_expression(text);
    else
        parse(text);
    free(text);
    return 0;
}
