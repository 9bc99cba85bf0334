/*
 * A statement of SQL, put together piece by piece.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_statement.h"

#include <stdarg.h>

struct bench_statement *
bench_statement_create(void)
{
    return bench_allocate(1, sizeof(struct bench_statement));
}

void
bench_statement_add(struct bench_statement *statement, const char *format, ...)
{
    const size_t room = sizeof(statement->text) - statement->size;
    va_list arguments;
    int size;

    va_start(arguments, format);
    size =
        vsnprintf(statement->text + statement->size, room, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= room)
        bench_fail("a statement", "it is too long");
    statement->size += (size_t)size;
}

void
bench_statement_add_quoted(struct bench_statement *statement, const char *text,
                           size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\'')
            bench_statement_add(statement, "'");
        bench_statement_add(statement, "%c", text[i]);
    }
}
