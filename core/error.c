/*
 * Errors: filled in place, without an allocation.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

const char *
colander_version(void)
{
    return COLANDER_VERSION;
}

/* --------------------------------------------------------------- names --- */

/* Of the names of files that are in messages. */
#define FILE_CHARACTERS                                                        \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./%"

static pthread_rwlock_t names_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct colander_error_name *first_name; /* the last one first */

void
colander_error_name_add(struct colander_error_name *name)
{
    pthread_rwlock_wrlock(&names_lock);
    name->next = first_name;
    first_name = name;
    pthread_rwlock_unlock(&names_lock);
}

void
colander_error_name_remove(struct colander_error_name *name)
{
    struct colander_error_name **at = &first_name;

    pthread_rwlock_wrlock(&names_lock);
    while (*at != NULL && *at != name)
        at = &(*at)->next;
    if (*at != NULL)
        *at = name->next;
    pthread_rwlock_unlock(&names_lock);
}

/* Replaces the path at `at` in the message, and the file after it. Returns the
 * rest of the message. */
static char *
replace_path(struct colander_error *err, char *at,
             const struct colander_error_name *name)
{
    const size_t before = (size_t)(at - err->message);
    const char *file = at + strlen(name->path);
    size_t size = *file == '/' ? strspn(++file, FILE_CHARACTERS) : 0;
    char rest[sizeof(err->message)];
    char text[sizeof(err->message)] = "";
    char copy[sizeof(err->message)];

    (void)snprintf(rest, sizeof(rest), "%s", file + size);
    (void)snprintf(copy, sizeof(copy), "%.*s", (int)size, file);
    name->write(name->context, copy, text, sizeof(text));
    (void)snprintf(at, sizeof(err->message) - before, "%s%s", text, rest);
    size = strlen(at);
    return at + (size < strlen(text) ? size : strlen(text));
}

static void
replace_paths(struct colander_error *err)
{
    pthread_rwlock_rdlock(&names_lock);
    for (const struct colander_error_name *name = first_name; name != NULL;
         name = name->next) {
        char *at = err->message;

        while ((at = strstr(at, name->path)) != NULL)
            at = replace_path(err, at, name);
    }
    pthread_rwlock_unlock(&names_lock);
}

/* -------------------------------------------------------------- errors --- */

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
    replace_paths(err);
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
    replace_paths(err);
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
