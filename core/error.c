/*
 * Errors: filled in place, without an allocation.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

#include <stdarg.h>
#include <stdio.h>

const char *
colander_version(void)
{
    return COLANDER_VERSION;
}

enum colander_code
colander_error_set(struct colander_error *err, enum colander_code code,
                   const char *file, int line, const char *format, ...)
{
    va_list arguments;

    if (err == NULL)
        return code;
    err->code = code;
    err->file = file;
    err->line = line;
    va_start(arguments, format);
    (void)vsnprintf(err->message, sizeof(err->message), format, arguments);
    va_end(arguments);
    return code;
}

/* If a message with its context is too long, at least this much of the cause is
 * kept. */
#define CAUSE_SIZE 300

void
colander_error_context(struct colander_error *err, const char *format, ...)
{
    char context[sizeof(err->message)];
    const size_t room = sizeof(err->message) - 1;
    size_t message_size;
    size_t context_size;
    size_t context_max;
    va_list arguments;

    if (err == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(context, sizeof(context) - 2, format, arguments);
    va_end(arguments);
    strcat(context, ": ");
    context_size = strlen(context);
    message_size = strlen(err->message);
    context_max =
        room - (message_size < CAUSE_SIZE ? message_size : CAUSE_SIZE);
    if (context_size > context_max) {
        memcpy(context + context_max - 5, "...: ", 6);
        context_size = context_max;
    }
    if (context_size + message_size > room)
        message_size = room - context_size;
    memmove(err->message + context_size, err->message, message_size);
    memcpy(err->message, context, context_size);
    err->message[context_size + message_size] = '\0';
}

const char *
colander_code_name(enum colander_code code)
{
    static const char *const names[] = {
        [COLANDER_OK] = "ok",
        [COLANDER_INVALID] = "invalid",
        [COLANDER_NOT_FOUND] = "not found",
        [COLANDER_EXISTS] = "exists",
        [COLANDER_BUSY] = "busy",
        [COLANDER_READ_ONLY] = "read-only",
        [COLANDER_TOO_NEW] = "too new",
        [COLANDER_DROPPED] = "dropped",
        [COLANDER_LIMIT] = "limit",
        [COLANDER_CANCELLED] = "cancelled",
        [COLANDER_CORRUPT] = "corrupt",
        [COLANDER_IO] = "io",
        [COLANDER_NO_MEMORY] = "no memory",
    };

    return code < sizeof(names) / sizeof(names[0]) ? names[code] : "unknown";
}
