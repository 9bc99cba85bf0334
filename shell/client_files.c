/* See client_files.h. SPDX-License-Identifier: MIT */
#include "shell/client_files.h"
#include "shell/confirm.h"
#include "shell/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS 100
#define READ_MAX ((uint64_t)1 << 20) /* whatever a server asks for */

void
client_files_init(struct client_files *files, const char *command,
                  const struct arguments *arguments)
{
    memset(files, 0, sizeof(*files));
    files->arguments = arguments;
    files->is_load = strcmp(command, "load") == 0;
    files->is_shell = strcmp(command, "shell") == 0;
    files->fd = files->rejects = -1;
}

static void
close_file(struct client_files *files)
{
    if (files->fd > STDERR_FILENO)
        (void)close(files->fd);
    files->name = NULL;
    files->fd = -1;
}

void
client_files_release(struct client_files *files)
{
    close_file(files);
    if (files->rejects >= 0)
        (void)close(files->rejects);
    files->rejects = -1;
}

/* -------------------------------------------------------------- reading --- */

/* Whether --schema names a file, and not a schema that Colander knows. */
static bool
is_schema_file(const char *name)
{
    const size_t size = strlen(name);

    return strchr(name, '/') != NULL ||
           (size >= 4 && strcmp(name + size - 4, ".lua") == 0);
}

/* The same for a shell, which has one file. */
static const char *
given_script(const struct arguments *arguments, const char *name)
{
    const char *script = "-";

    if (arguments->word_count > 1)
        script = arguments->words[1];
    else if (arguments_has(arguments, "e"))
        return NULL;
    return strcmp(script, name) == 0 ? script : NULL;
}

/* Returns the name of the file as it was given; NULL: it was not. */
static const char *
given_name(const struct client_files *files, const char *name)
{
    const struct arguments *arguments = files->arguments;
    const char *schema = arguments_value(arguments, "schema");

    if (files->is_shell)
        return given_script(arguments, name);
    if (!files->is_load)
        return NULL;
    for (size_t i = 2; i < arguments->word_count; i++) {
        if (strcmp(arguments->words[i], name) == 0)
            return arguments->words[i];
    }
    if (schema != NULL && strcmp(schema, name) == 0 && is_schema_file(schema))
        return schema;
    return arguments->word_count == 2 && strcmp(name, "-") == 0 ? "-" : NULL;
}

static enum colander_code
fail_open(struct colander_error *err)
{
    return COLANDER_FAIL(
        err,
        errno == ENOENT || errno == ENOTDIR ? COLANDER_NOT_FOUND : COLANDER_IO,
        "cannot open: %s", strerror(errno));
}

/* Finds its size, and the name that its resume point has here, too. */
static enum colander_code
look(const char *name, struct remote_reply *reply, struct colander_error *err)
{
    const bool is_input = strcmp(name, "-") == 0;
    char *path = is_input ? strdup(name) : realpath(name, NULL);
    enum colander_code code = COLANDER_OK;
    struct stat status;

    reply->size = UINT64_MAX;
    if (path == NULL && errno == ENOENT && stat(name, &status) == 0)
        path = strdup(name); /* a pipe of /dev/fd */
    if (path == NULL || (!is_input && stat(name, &status) != 0))
        code = fail_open(err);
    else if (!is_input && S_ISDIR(status.st_mode))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "is a directory: name the files in it");
    else if (!is_input && S_ISREG(status.st_mode))
        reply->size = (uint64_t)status.st_size;
    if (code == COLANDER_OK)
        code = colander_buffer_append(reply->bytes, path, strlen(path), err);
    free(path);
    return code;
}

/* Opens another file than before; it was closed, so a pipe is read once. */
static enum colander_code
open_file(struct client_files *files, const char *name,
          struct colander_error *err)
{
    const bool is_input = strcmp(name, "-") == 0;
    struct stat status;

    if (files->name == name)
        return COLANDER_OK;
    close_file(files);
    files->fd =
        is_input ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (files->fd < 0 || fstat(files->fd, &status) != 0)
        return fail_open(err);
    files->name = name;
    files->is_seekable = S_ISREG(status.st_mode) && !is_input;
    return COLANDER_OK;
}

static bool
is_ready(int fd, int wait_ms)
{
    struct pollfd one = {fd, POLLIN, 0};

    return poll(&one, 1, wait_ms) > 0;
}

/* Reads once. *got is 0 at the end, and -1 if there is nothing yet. */
static enum colander_code
read_some(const struct client_files *files, uint64_t offset, void *data,
          size_t size, ssize_t *got, struct colander_error *err)
{
    *got = files->is_seekable ? pread(files->fd, data, size, (off_t)offset)
                              : read(files->fd, data, size);
    if (*got >= 0 || errno == EINTR || errno == EAGAIN)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_IO, "cannot read: %s", strerror(errno));
}

/* Reads what there is, up to the size. */
static enum colander_code
read_file(const struct client_files *files, const struct remote_ask *ask,
          struct remote_reply *reply, struct colander_error *err)
{
    const uint64_t size = ask->size < READ_MAX ? ask->size : READ_MAX;
    struct colander_buffer *bytes = reply->bytes;
    enum colander_code code = colander_buffer_reserve(bytes, size, err);
    uint64_t done = 0;
    ssize_t got = 1;

    if (!files->is_seekable && !is_ready(files->fd, WAIT_MS)) {
        reply->would_wait = true;
        return code;
    }
    while (code == COLANDER_OK && got > 0 && done < size) {
        code = read_some(files, ask->offset + done, bytes->data + bytes->size,
                         size - done, &got, err);
        if (got > 0) {
            bytes->size += (size_t)got;
            done += (uint64_t)got;
        }
        if (!files->is_seekable && !is_ready(files->fd, 0))
            break;
    }
    reply->is_end = got == 0;
    reply->would_wait = !files->is_seekable && got != 0 && done < size;
    return code;
}

/* -------------------------------------------------------------- rejects --- */

static enum colander_code
fail_rejects(const char *name, const char *what, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot %s '%s', for rejects: %s",
                         what, name, strerror(errno));
}

/* It is cut before the others are read, so it must not be one of them. */
static enum colander_code
check_rejects(const struct client_files *files, const char *name,
              struct colander_error *err)
{
    const struct arguments *arguments = files->arguments;
    struct stat rejects;
    struct stat file;

    if (stat(name, &rejects) != 0)
        return COLANDER_OK;
    for (size_t i = 2; i <= arguments->word_count; i++) {
        const char *word =
            i < arguments->word_count ? arguments->words[i] : "-";
        const bool is_input = strcmp(word, "-") == 0;

        if (i == arguments->word_count && i > 2)
            break; /* standard input only without files */
        if ((is_input ? fstat(STDIN_FILENO, &file) : stat(word, &file)) == 0 &&
            file.st_dev == rejects.st_dev && file.st_ino == rejects.st_ino)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the file for rejects, '%s', is one of the "
                                 "files to load",
                                 word);
    }
    return COLANDER_OK;
}

static enum colander_code
cut(struct client_files *files, const char *name, uint64_t size,
    struct remote_reply *reply, struct colander_error *err)
{
    enum colander_code code = check_rejects(files, name, err);
    struct stat status;

    if (code != COLANDER_OK)
        return code;
    if (files->rejects < 0)
        files->rejects = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (files->rejects < 0)
        return fail_rejects(name, "open", err);
    if (fstat(files->rejects, &status) != 0)
        return fail_rejects(name, "look at", err);
    if (!S_ISREG(status.st_mode))
        return COLANDER_OK;
    if ((uint64_t)status.st_size < size)
        size = (uint64_t)status.st_size;
    if (ftruncate(files->rejects, (off_t)size) != 0 ||
        lseek(files->rejects, 0, SEEK_END) < 0)
        return fail_rejects(name, "cut", err);
    reply->size = size;
    return COLANDER_OK;
}

static enum colander_code
append(const struct client_files *files, const char *name,
       struct colander_slice bytes, struct colander_error *err)
{
    while (bytes.size > 0) {
        const ssize_t count = write(files->rejects, bytes.data, bytes.size);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail_rejects(name, "write to", err);
        bytes =
            colander_slice_of(bytes.data + count, bytes.size - (size_t)count);
    }
    return COLANDER_OK;
}

/* ------------------------------------------------------------------ all --- */

static enum colander_code
fail_not_given(const char *name, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "the server asks for '%s', which it was not given",
                         name);
}

/* What writes the file of rejects. */
static enum colander_code
reply_rejects(struct client_files *files, const struct remote_ask *ask,
              struct remote_reply *reply, struct colander_error *err)
{
    const char *name = arguments_value(files->arguments, "rejects");

    if (!files->is_load || name == NULL || strcmp(name, ask->name) != 0)
        return fail_not_given(ask->name, err);
    return ask->kind == REMOTE_CUT ? cut(files, name, ask->size, reply, err)
                                   : append(files, name, ask->bytes, err);
}

/* Asks with the bytes of `ask`, whatever they are. */
static enum colander_code
confirm(const struct remote_ask *ask, struct remote_reply *reply,
        struct colander_error *err)
{
    char *question = strndup((const char *)ask->bytes.data, ask->bytes.size);
    enum colander_code code;
    bool is_yes = false;

    if (question == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to ask");
    code = confirm_ask_here(question, &is_yes, err);
    reply->size = is_yes;
    free(question);
    return code;
}

enum colander_code
client_files_reply(struct client_files *files, const struct remote_ask *ask,
                   struct remote_reply *reply, struct colander_error *err)
{
    const char *name;
    enum colander_code code;

    if (ask->kind == REMOTE_CONFIRM)
        return confirm(ask, reply, err);
    if (ask->kind == REMOTE_CUT || ask->kind == REMOTE_APPEND)
        return reply_rejects(files, ask, reply, err);
    if (interrupt_happened()) /* the command ends, and says how far it is */
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    name = given_name(files, ask->name);
    if (name == NULL)
        return fail_not_given(ask->name, err);
    if (ask->kind == REMOTE_LOOK)
        return look(name, reply, err);
    code = open_file(files, name, err);
    return code == COLANDER_OK ? read_file(files, ask, reply, err) : code;
}
