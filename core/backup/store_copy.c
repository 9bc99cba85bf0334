/* SPDX-License-Identifier: MIT */
#include "core/backup/store_copy.h"

#include <errno.h>
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

void
store_copy_count(struct store_copy *copy, const char *name, bool is_new)
{
    const uint64_t size = files_size(copy->to, name);

    copy->counts.file_count++;
    copy->counts.size += size;
    copy->counts.copied_count += is_new;
    copy->counts.copied_size += is_new ? size : 0;
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

/* Links to the shared file if it is the same. A file system may have no links,
 * or no more of them: then the file is copied. */
static bool
link_file(const struct store_copy *copy, const char *name)
{
    return copy->shared >= 0 &&
           files_end_alike(copy->from, name, copy->shared, name) &&
           linkat(copy->shared, name, copy->to, name, 0) == 0;
}

/* Links to a file, or copies and checks it. */
static enum colander_code
share_file(const struct store_copy *copy, const struct backup_file *file,
           bool *is_new, struct colander_error *err)
{
    const char *name = file->name;
    const uint64_t has = files_size(copy->from, name);
    enum colander_code code;

    if (file->size != FILES_WHOLE && has != 0 && has != file->size)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' has %" PRIu64 " bytes, and %" PRIu64
                             " were written",
                             name, has, file->size);
    *is_new = !link_file(copy, name);
    if (!*is_new)
        return COLANDER_OK;
    code = files_copy(copy->from, name, copy->to, name, FILES_WHOLE, err);
    return code == COLANDER_OK ? check_copy(copy, name, err) : code;
}

enum colander_code
store_copy_file(struct store_copy *copy, const struct backup_file *file,
                struct colander_error *err)
{
    const char *name = file->name;
    enum colander_code code = make_parent(copy, name, err);
    bool is_new = true;

    if (code != COLANDER_OK)
        return code;
    if (file->kind == BACKUP_TEXT)
        code = files_write(copy->to, name, file->bytes, err);
    else if (file->kind == BACKUP_WAL || file->kind == BACKUP_MANIFEST)
        code = files_copy(copy->from, name, copy->to, name, file->size, err);
    else
        code = share_file(copy, file, &is_new, err);
    if (code == COLANDER_OK)
        store_copy_count(copy, name, is_new);
    return code;
}
