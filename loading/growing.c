/* See growing.h. SPDX-License-Identifier: MIT */
#include "loading/growing.h"
#include "core/clock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STILL_US 500000 /* an old file is over when it is still for so long */

void
growing_begin(struct growing *growing, const char *log)
{
    growing->log = log;
    growing->head.size = 0;
    growing->tail.size = 0;
    growing->offset = 0;
    growing->still_since_us = clock_us();
    growing->rest = 0;
    growing->is_ending = false;
    growing->takes_rest = false;
    growing->is_cut = false;
}

void
growing_release(struct growing *growing)
{
    log_files_release(&growing->files);
}

void
growing_skip(struct growing *growing, uint64_t size)
{
    growing->offset += size;
    growing->tail.size = 0;
}

/* Whether the file has those bytes there. A failure to read them is one, too,
 * and is found again when the file is next opened. */
static bool
has_bytes(int file, const struct resume_point_bytes *known, uint64_t offset)
{
    uint8_t bytes[RESUME_TAIL_MAX];
    const ssize_t got = pread(file, bytes, known->size, (off_t)offset);

    return got == (ssize_t)known->size &&
           memcmp(bytes, known->bytes, known->size) == 0;
}

/* Whether the bytes that were read are still there. */
static bool
is_whole(const struct growing *growing, int file)
{
    return has_bytes(file, &growing->head, 0) &&
           has_bytes(file, &growing->tail,
                     growing->offset - growing->tail.size);
}

/* Whether the log has the bytes that were read. */
static bool
is_copy(const struct growing *growing)
{
    const int log = open(growing->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool has_all =
        log >= 0 && growing->tail.size > 0 && is_whole(growing, log);

    if (log >= 0)
        (void)close(log);
    return has_all;
}

/* Whether the file has not been written for a while. */
static bool
is_still(const struct growing *growing, const struct stat *status)
{
    const struct timespec *written = &status->st_mtim;
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    return clock_us() - growing->still_since_us >= STILL_US ||
           (now.tv_sec - written->tv_sec) * 1000000 +
                   (now.tv_nsec - written->tv_nsec) / 1000 >=
               STILL_US;
}

/* Sets *is_old to whether another file has the name, and one that is newer than
 * this one has bytes. */
static enum colander_code
find_newer(struct growing *growing, const struct stat *status, bool *is_old,
           struct colander_error *err)
{
    struct log_files *files = &growing->files;
    struct stat named;
    enum colander_code code;

    *is_old = false;
    if (stat(growing->log, &named) == 0 && named.st_ino == status->st_ino)
        return COLANDER_OK;
    code = log_files_read(files, growing->log, err);
    if (code == COLANDER_OK) {
        const size_t index = log_files_find(files, (uint64_t)status->st_ino);
        const size_t end = index < files->count ? index : 1;

        for (size_t i = 0; i < end; i++)
            *is_old |= files->files[i].size > 0;
    }
    return code;
}

size_t
growing_take(struct growing *growing, struct colander_slice bytes, size_t size)
{
    const uint8_t *end =
        bytes.size > 0 ? memrchr(bytes.data, '\n', bytes.size) : NULL;
    const size_t whole = end != NULL ? (size_t)(end - bytes.data) + 1 : 0;
    const size_t rest = bytes.size - whole;

    if (growing->takes_rest || (whole == 0 && bytes.size == size)) {
        growing->rest = 0;
        return bytes.size;
    }
    if (growing->rest != rest)
        growing->still_since_us = clock_us();
    growing->rest = rest;
    return whole;
}

enum colander_code
growing_see(struct growing *growing, int file, struct colander_slice bytes,
            enum growing_state *state, struct colander_error *err)
{
    const bool was_ending = growing->is_ending;
    struct stat status;
    enum colander_code code;
    bool is_old;

    growing->is_ending = false;
    growing->is_cut = !is_whole(growing, file);
    *state = growing->is_cut ? GROWING_CUT : GROWING_READ;
    if (growing->is_cut)
        return COLANDER_OK;
    if (bytes.size > 0) {
        if (growing->offset == growing->head.size) /* no byte was skipped */
            resume_point_head_append(&growing->head, bytes);
        resume_point_tail_append(&growing->tail, bytes);
        growing->offset += bytes.size;
        growing->still_since_us = clock_us();
        return COLANDER_OK;
    }
    *state = GROWING_WAITS;
    if (fstat(file, &status) != 0)
        return COLANDER_OK;
    code = find_newer(growing, &status, &is_old, err);
    if (code != COLANDER_OK || !is_old || !is_still(growing, &status))
        return code;
    growing->is_ending = true; /* its writer has left: look once more */
    *state = was_ending && (growing->rest == 0 || is_copy(growing))
                 ? GROWING_OVER
                 : GROWING_AGAIN;
    growing->takes_rest = was_ending;
    return COLANDER_OK;
}

uint64_t
growing_size(const struct growing *growing)
{
    return growing->offset + growing->rest;
}

bool
growing_would_wait(const struct growing *growing, int file)
{
    struct stat status;

    return fstat(file, &status) != 0 ||
           (uint64_t)status.st_size <= growing_size(growing);
}
