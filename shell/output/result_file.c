/* See result_file.h. SPDX-License-Identifier: MIT */
#include "shell/result_file.h"
#include "shell/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100 /* temporary names that other programs use */
#define BUFFER_SIZE (1u << 16)

static enum colander_code
fail(const struct result_file *result, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot write '%s': %s",
                         result->name, strerror(errno));
}

/* Creates a file with a temporary name in the same directory. */
static int
create_temporary(struct result_file *result)
{
    int fd = -1;

    for (unsigned i = 0; i < TRIES && fd < 0; i++) {
        char *temporary = NULL;

        if (asprintf(&temporary, "%s.%ld-%u.part", result->path, (long)getpid(),
                     i) < 0) {
            errno = ENOMEM;
            return -1;
        }
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            result->temporary = temporary;
        else
            free(temporary);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* An existing file is replaced where its links lead, and keeps its mode. */
static int
open_named(struct result_file *result)
{
    struct stat status;
    bool is_there = stat(result->name, &status) == 0;
    int fd;

    if (is_there && !S_ISREG(status.st_mode))
        return open(result->name, O_WRONLY | O_CLOEXEC);
    result->path =
        is_there ? realpath(result->name, NULL) : strdup(result->name);
    fd = result->path == NULL ? -1 : create_temporary(result);
    if (fd >= 0 && is_there)
        (void)fchmod(fd, status.st_mode & 0777); /* if permitted */
    return fd;
}

enum colander_code
result_file_open(struct result_file *result, const char *name, FILE *out,
                 struct colander_error *err)
{
    int fd;

    memset(result, 0, sizeof(*result));
    result->name = name;
    if (name == NULL) {
        result->file = result->borrowed = out;
        result->start = ftello(out);
        return COLANDER_OK;
    }
    fd = open_named(result);
    if (fd < 0)
        return fail(result, err);
    result->file = fdopen(fd, "w");
    if (result->file == NULL) {
        enum colander_code code = fail(result, err);

        close(fd);
        return code;
    }
    (void)setvbuf(result->file, NULL, _IOFBF, BUFFER_SIZE);
    result->start = ftello(result->file);
    return COLANDER_OK;
}

/* Syncs the file, and gives it its name. */
static enum colander_code
settle(struct result_file *result, struct colander_error *err)
{
    if (result->temporary == NULL)
        return COLANDER_OK;
    if (fsync(fileno(result->file)) != 0 ||
        rename(result->temporary, result->path) != 0)
        return fail(result, err);
    free(result->temporary);
    result->temporary = NULL;
    return COLANDER_OK;
}

enum colander_code
result_file_finish(struct result_file *result, struct colander_error *err)
{
    enum colander_code code = output_flush(result->file, err);

    return code == COLANDER_OK ? settle(result, err) : code;
}

bool
result_file_size(const struct result_file *result, uint64_t *size)
{
    const off_t end = ftello(result->file);

    *size = end < result->start ? 0 : (uint64_t)(end - result->start);
    return result->start >= 0 && end >= 0;
}

void
result_file_release(struct result_file *result)
{
    if (result->file != NULL && result->file != result->borrowed)
        (void)fclose(result->file);
    if (result->temporary != NULL)
        (void)unlink(result->temporary);
    free(result->temporary);
    free(result->path);
    memset(result, 0, sizeof(*result));
}
