/* SPDX-License-Identifier: MIT */
#include "loading/rejects.h"
#include "loading/load.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static enum colander_code
failure(const struct rejects *rejects, const char *what,
        struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot %s '%s', for rejects: %s",
                         what, rejects->path, strerror(errno));
}

/* Cuts the file to what belongs to the resume point, and seeks to its end.
 * Pipes and terminals cannot be cut. */
static enum colander_code
cut(struct rejects *rejects, int file, uint64_t size,
    struct colander_error *err)
{
    struct stat status;

    rejects->size = 0;
    if (fstat(file, &status) != 0)
        return failure(rejects, "look at", err);
    if (!S_ISREG(status.st_mode))
        return COLANDER_OK;
    if ((uint64_t)status.st_size < size)
        size = (uint64_t)status.st_size;
    if (ftruncate(file, (off_t)size) != 0 || lseek(file, 0, SEEK_END) < 0)
        return failure(rejects, "cut", err);
    rejects->size = size;
    return COLANDER_OK;
}

enum colander_code
rejects_open(struct rejects *rejects, const char *path,
             const struct colander_load_files *elsewhere, uint64_t size,
             struct colander_error *err)
{
    enum colander_code code;
    int file;

    memset(rejects, 0, sizeof(*rejects));
    rejects->size = size;
    if (path == NULL)
        return COLANDER_OK;
    rejects->path = path;
    if (elsewhere != NULL && elsewhere->cut == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "there can be no file of rejects here");
    if (elsewhere != NULL) {
        rejects->elsewhere = elsewhere;
        return elsewhere->cut(elsewhere->context, path, &rejects->size, err);
    }
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return failure(rejects, "open", err);
    code = cut(rejects, file, size, err);
    if (code == COLANDER_OK) {
        rejects->file = fdopen(file, "w");
        if (rejects->file == NULL)
            code = failure(rejects, "open", err);
    }
    if (code != COLANDER_OK)
        (void)close(file); /* `err` has the first error */
    return code;
}

enum colander_code
rejects_set_header(struct rejects *rejects, struct colander_slice header,
                   bool is_there, struct colander_error *err)
{
    struct colander_buffer *last = &rejects->last_header;

    rejects->header = header;
    if (!is_there)
        return COLANDER_OK;
    colander_buffer_clear(last);
    return colander_buffer_append(last, header.data, header.size, err);
}

static enum colander_code
put(struct rejects *rejects, struct colander_slice bytes, bool ends_line,
    struct colander_error *err)
{
    struct colander_buffer *unwritten = &rejects->unwritten;
    enum colander_code code;

    if (rejects->elsewhere != NULL) {
        code = colander_buffer_append(unwritten, bytes.data, bytes.size, err);
        if (code == COLANDER_OK && ends_line)
            code = colander_buffer_append(unwritten, "\n", 1, err);
        rejects->size += bytes.size + ends_line;
        return code;
    }
    if (bytes.size > 0 &&
        fwrite(bytes.data, 1, bytes.size, rejects->file) != bytes.size)
        return failure(rejects, "write to", err);
    if (ends_line && fputc('\n', rejects->file) == EOF)
        return failure(rejects, "write to", err);
    rejects->size += bytes.size + ends_line;
    return COLANDER_OK;
}

enum colander_code
rejects_put(struct rejects *rejects, struct colander_slice record,
            bool ends_line, struct colander_error *err)
{
    struct colander_buffer *last = &rejects->last_header;
    enum colander_code code = COLANDER_OK;

    if (rejects->file == NULL && rejects->elsewhere == NULL)
        return COLANDER_OK;
    if (rejects->header.size > 0 &&
        !colander_slice_equal(rejects->header, colander_buffer_slice(last))) {
        code = put(rejects, rejects->header, true, err);
        colander_buffer_clear(last);
        if (code == COLANDER_OK)
            code = colander_buffer_append(last, rejects->header.data,
                                          rejects->header.size, err);
    }
    return code == COLANDER_OK ? put(rejects, record, ends_line, err) : code;
}

enum colander_code
rejects_flush(struct rejects *rejects, struct colander_error *err)
{
    const struct colander_load_files *elsewhere = rejects->elsewhere;
    enum colander_code code;

    if (elsewhere != NULL && rejects->unwritten.size > 0) {
        code =
            elsewhere->append(elsewhere->context, rejects->path,
                              colander_buffer_slice(&rejects->unwritten), err);
        colander_buffer_clear(&rejects->unwritten);
        return code;
    }
    if (rejects->file != NULL && fflush(rejects->file) != 0)
        return failure(rejects, "write to", err);
    return COLANDER_OK;
}

void
rejects_close(struct rejects *rejects)
{
    if (rejects->file != NULL)
        (void)fclose(rejects->file); /* was flushed */
    colander_buffer_release(&rejects->last_header);
    colander_buffer_release(&rejects->unwritten);
    memset(rejects, 0, sizeof(*rejects));
}
