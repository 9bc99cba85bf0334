/* SPDX-License-Identifier: MIT */
#include "core/backup/store_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static enum colander_code
make_parent(const struct store_copy *copy, const char *name,
            struct colander_error *err)
{
    const char *slash = strchr(name, '/');
    char parent[NAME_MAX + 1];

    if (slash == NULL || (size_t)(slash - name) >= sizeof(parent))
        return COLANDER_OK;
    memcpy(parent, name, (size_t)(slash - name));
    parent[slash - name] = '\0';
    if (mkdirat(copy->to, parent, 0700) != 0 && errno != EEXIST)
        return files_fail(err, "create", parent);
    return COLANDER_OK;
}

static void
count(struct store_copy *copy, uint64_t size, bool is_new)
{
    copy->counts.file_count++;
    copy->counts.size += size;
    copy->counts.copied_count += is_new;
    copy->counts.copied_size += is_new ? size : 0;
}

void
store_copy_count(struct store_copy *copy, const char *name, bool is_new)
{
    count(copy, files_size(copy->to, name), is_new);
}

static enum colander_code
check_copy(const struct store_copy *copy, const char *name,
           struct colander_error *err)
{
    const size_t size = strlen(name);
    enum colander_code code;
    char *path;

    if (size < 4 || strcmp(name + size - 4, ".sst") != 0)
        return COLANDER_OK;
    if (asprintf(&path, "%s/%s", copy->path, name) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = copy->check(path, err);
    free(path);
    return code;
}

enum colander_code
store_copy_send(struct store_copy *copy, int directory, const char *name,
                struct colander_error *err)
{
    const struct colander_backup_target *target = copy->target;
    struct colander_backup_file file = {.name = name};
    bool is_there = false;
    struct stat status;
    enum colander_code code =
        files_open(directory, name, O_RDONLY, &file.fd, err);

    if (code != COLANDER_OK)
        return code;
    if (fstat(file.fd, &status) != 0)
        code = files_fail(err, "read", name);
    else
        file.size = (uint64_t)status.st_size;
    /* others may change under their name */
    if (code == COLANDER_OK && directory == copy->from)
        code = target->has(target->context, &file, &is_there, err);
    if (code == COLANDER_OK && !is_there)
        code = check_copy(copy, name, err);
    if (code == COLANDER_OK && !is_there)
        code = target->put(target->context, &file, err);
    if (code == COLANDER_OK)
        count(copy, file.size, !is_there);
    (void)close(file.fd);
    return code;
}

enum colander_code
store_copy_create(const struct store_copy *copy, const char *name, int *fd,
                  struct colander_error *err)
{
    enum colander_code code = make_parent(copy, name, err);

    *fd = -1;
    return code == COLANDER_OK
               ? files_open(copy->to, name, O_RDWR | O_CREAT | O_EXCL, fd, err)
               : code;
}

enum colander_code
store_copy_finish(struct store_copy *copy, const char *name,
                  struct colander_error *err)
{
    int fd;
    enum colander_code code = files_open(copy->to, name, O_RDWR, &fd, err);

    if (code != COLANDER_OK)
        return code;
    if (fsync(fd) != 0)
        code = files_fail(err, "sync", name);
    (void)close(fd);
    if (code == COLANDER_OK)
        code = check_copy(copy, name, err);
    if (code == COLANDER_OK)
        store_copy_count(copy, name, true);
    return code;
}

/* Links to the shared file if it is the same. A file system may have no links,
 * or no more of them: then the file is copied. */
static bool
link_file(const struct store_copy *copy, const char *name)
{
    return copy->shared >= 0 &&
           files_end_alike(copy->from, name, copy->shared, name) &&
           linkat(copy->shared, name, copy->to, name, 0) == 0;
}

/* Fails if a file of the store has another size than was written. */
static enum colander_code
check_size(const struct store_copy *copy, const struct backup_file *file,
           struct colander_error *err)
{
    const uint64_t has = files_size(copy->from, file->name);

    if (file->size == FILES_WHOLE || has == 0 || has == file->size)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "'%s' has %" PRIu64 " bytes, and %" PRIu64
                         " were written",
                         file->name, has, file->size);
}

/* Links to a file, or copies and checks it. */
static enum colander_code
share_file(const struct store_copy *copy, const struct backup_file *file,
           bool *is_new, struct colander_error *err)
{
    const char *name = file->name;
    enum colander_code code;

    *is_new = !link_file(copy, name);
    if (!*is_new)
        return COLANDER_OK;
    code = files_copy(copy->from, name, copy->to, name, FILES_WHOLE, err);
    return code == COLANDER_OK ? check_copy(copy, name, err) : code;
}

static bool
is_immutable(const struct backup_file *file)
{
    return file->kind == BACKUP_FILE || file->kind == BACKUP_OPTIONAL_FILE;
}

enum colander_code
store_copy_file(struct store_copy *copy, const struct backup_file *file,
                struct colander_error *err)
{
    const char *name = file->name;
    enum colander_code code = make_parent(copy, name, err);
    bool is_new = true;

    if (code == COLANDER_OK && is_immutable(file))
        code = check_size(copy, file, err);
    if (code != COLANDER_OK)
        return code;
    if (copy->target != NULL && is_immutable(file))
        return store_copy_send(copy, copy->from, name, err);
    if (file->kind == BACKUP_TEXT)
        code = files_write(copy->to, name, file->bytes, err);
    else if (!is_immutable(file))
        code = files_copy(copy->from, name, copy->to, name, file->size, err);
    else
        code = share_file(copy, file, &is_new, err);
    if (code == COLANDER_OK && copy->target == NULL)
        store_copy_count(copy, name, is_new);
    return code;
}
