/* See input.h. SPDX-License-Identifier: MIT */
#include "loading/growing.h"
#include "loading/input_codec.h"
#include "loading/load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)256 << 10)
#define POLL_MS 50

/* What strangers send may decompress to this many bytes, and to its size this
 * many times: no text that anyone stores goes beyond. */
#define INFLATED_FREE ((uint64_t)64 << 20)
#define INFLATED_RATIO 300

enum input_kind {
    INPUT_UNKNOWN, /* until it is first read */
    INPUT_PLAIN,
    INPUT_GZIP,
    INPUT_ZSTD,
};

struct input {
    struct raw_input raw;
    enum input_kind kind;
    struct gzip_input *gzip; /* owned, of GZIP */
    struct zstd_input *zstd; /* owned, of ZSTD */
    uint64_t inflated;       /* bytes that were decompressed */
    atomic_bool is_damaged;
};

/* ---------------------------------------------------------- raw bytes --- */

enum colander_code
raw_fail(const struct raw_input *raw, enum colander_code code, const char *what,
         struct colander_error *err)
{
    uint64_t byte = atomic_load_explicit(&raw->read, memory_order_relaxed) -
                    (raw->filled - raw->at);

    return COLANDER_FAIL(err, code, "byte %llu: %s", (unsigned long long)byte,
                         what);
}

static enum colander_code
fail_with_errno(enum colander_code code, const char *what,
                struct colander_error *err)
{
    char reason[128];

    return COLANDER_FAIL(err, code, "cannot %s: %s", what,
                         strerror_r(errno, reason, sizeof(reason)));
}

static bool
is_stopped(const struct raw_input *raw)
{
    return atomic_load(&raw->is_cancelled) ||
           (raw->stops != NULL && atomic_load(raw->stops));
}

/* Waits until there is something to read. Files never wait. */
static enum colander_code
wait_for_bytes(const struct raw_input *raw, struct colander_error *err)
{
    struct pollfd polled = {raw->file, POLLIN, 0};
    int ready = 0;

    while (!raw->is_seekable && ready == 0) {
        if (is_stopped(raw))
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "reading was cancelled");
        ready = poll(&polled, 1, POLL_MS);
        if (ready < 0 && errno != EINTR)
            return fail_with_errno(COLANDER_IO, "read", err);
        if (ready < 0)
            ready = 0;
    }
    return COLANDER_OK;
}

/* Reads a file that grows. *count is 0 when it is over. */
static enum colander_code
read_growing(struct raw_input *raw, void *data, size_t size, ssize_t *count,
             struct colander_error *err)
{
    enum growing_state state = GROWING_AGAIN;
    enum colander_code code = COLANDER_OK;
    ssize_t whole;

    while (state == GROWING_AGAIN || state == GROWING_WAITS) {
        if (state == GROWING_WAITS)
            (void)poll(NULL, 0, GROWING_WAIT_MS);
        if (is_stopped(raw))
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "reading was cancelled");
        do
            *count = read(raw->file, data, size);
        while (*count < 0 && errno == EINTR);
        if (*count < 0)
            return COLANDER_OK;
        whole = (ssize_t)growing_take(
            raw->growing, colander_slice_of(data, (size_t)*count), size);
        if (whole < *count && lseek(raw->file, whole - *count, SEEK_CUR) < 0)
            return fail_with_errno(COLANDER_IO, "read", err);
        *count = whole;
        code = growing_see(raw->growing, raw->file,
                           colander_slice_of(data, (size_t)whole), &state, err);
        if (code != COLANDER_OK)
            return code;
    }
    if (state == GROWING_CUT)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the file was cut or replaced");
    return COLANDER_OK;
}

/* Reads what is elsewhere. */
static enum colander_code
read_elsewhere(struct raw_input *raw, void *data, size_t size, ssize_t *count,
               struct colander_error *err)
{
    const struct colander_load_files *files = raw->elsewhere;
    enum colander_code code = COLANDER_OK;
    bool is_end = false;
    size_t got = 0;

    while (code == COLANDER_OK && got == 0 && !is_end) {
        if (is_stopped(raw))
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "reading was cancelled");
        code = files->read(files->context, raw->path, atomic_load(&raw->read),
                           data, size, &got, &is_end, err);
    }
    *count = (ssize_t)got;
    return code;
}

/* Reads anything else. */
static enum colander_code
read_waiting(const struct raw_input *raw, void *data, size_t size,
             ssize_t *count, struct colander_error *err)
{
    enum colander_code code;

    do {
        code = wait_for_bytes(raw, err);
        if (code != COLANDER_OK)
            return code;
        *count = read(raw->file, data, size);
    } while (*count < 0 && (errno == EINTR || errno == EAGAIN));
    return COLANDER_OK;
}

static enum colander_code
raw_read(struct raw_input *raw, void *data, size_t size, size_t *got,
         struct colander_error *err)
{
    enum colander_code code;
    ssize_t count;

    *got = 0;
    if (raw->has_ended)
        return COLANDER_OK;
    if (raw->elsewhere != NULL)
        code = read_elsewhere(raw, data, size, &count, err);
    else
        code = raw->growing != NULL
                   ? read_growing(raw, data, size, &count, err)
                   : read_waiting(raw, data, size, &count, err);
    if (code != COLANDER_OK)
        return code;
    if (count < 0)
        return fail_with_errno(COLANDER_IO, "read", err);
    raw->has_ended = count == 0;
    *got = (size_t)count;
    atomic_fetch_add_explicit(&raw->read, (uint64_t)count,
                              memory_order_relaxed);
    return COLANDER_OK;
}

/* Appends to the buffer. */
static enum colander_code
raw_append(struct raw_input *raw, struct colander_error *err)
{
    size_t got;
    enum colander_code code = raw_read(raw, raw->buffer + raw->filled,
                                       BUFFER_SIZE - raw->filled, &got, err);

    raw->filled += got;
    return code;
}

enum colander_code
raw_fill(struct raw_input *raw, struct colander_error *err)
{
    if (raw->at < raw->filled)
        return COLANDER_OK;
    raw->at = raw->filled = 0;
    return raw_append(raw, err);
}

/* ----------------------------------------------------- open and close --- */

static enum input_kind
kind_of(const uint8_t *first, size_t size)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t skipped[] = {0x2a, 0x4d, 0x18}; /* by zstd */

    if (size >= 2 && first[0] == 0x1f && first[1] == 0x8b)
        return INPUT_GZIP;
    if (size >= 4 && memcmp(first, zstd, 4) == 0)
        return INPUT_ZSTD;
    if (size >= 4 && first[0] >> 4 == 5 && memcmp(first + 1, skipped, 3) == 0)
        return INPUT_ZSTD;
    return INPUT_PLAIN;
}

static enum colander_code
raw_open(struct raw_input *raw, const char *path, struct colander_error *err)
{
    struct stat status;

    raw->is_owned = strcmp(path, "-") != 0;
    raw->file = raw->is_owned ? -1 : STDIN_FILENO;
    raw->buffer = malloc(BUFFER_SIZE);
    if (raw->buffer == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to read");
    /* does not wait for a writer of a pipe */
    if (raw->is_owned)
        raw->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (raw->file < 0)
        return fail_with_errno(errno == ENOENT || errno == ENOTDIR
                                   ? COLANDER_NOT_FOUND
                                   : COLANDER_IO,
                               "open", err);
    if (fstat(raw->file, &status) != 0)
        return fail_with_errno(COLANDER_IO, "open", err);
    if (S_ISDIR(status.st_mode))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "is a directory: name the files in it");
    raw->is_seekable = S_ISREG(status.st_mode);
    return COLANDER_OK;
}

static enum colander_code
raw_open_elsewhere(struct raw_input *raw, const char *path,
                   struct colander_error *err)
{
    const struct colander_load_files *files = raw->elsewhere;
    char *name = NULL;
    enum colander_code code;

    raw->file = -1;
    raw->path = path;
    raw->buffer = malloc(BUFFER_SIZE);
    if (raw->buffer == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to read");
    code = files->look(files->context, path, &raw->size, &name, err);
    raw->is_seekable = raw->size != UINT64_MAX;
    free(name);
    return code;
}

enum colander_code
input_open(const char *path, const struct colander_load_files *elsewhere,
           const atomic_bool *stops, struct input **input,
           struct colander_error *err)
{
    struct input *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *input = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to read");
    opened->raw.stops = stops;
    opened->raw.elsewhere = elsewhere;
    code = elsewhere != NULL ? raw_open_elsewhere(&opened->raw, path, err)
                             : raw_open(&opened->raw, path, err);
    if (code == COLANDER_OK)
        *input = opened;
    else
        input_close(opened);
    return code;
}

enum colander_code
input_open_growing(const char *path, const atomic_bool *stops,
                   struct growing *growing, struct input **input,
                   struct colander_error *err)
{
    enum colander_code code = input_open(path, NULL, stops, input, err);
    struct raw_input *raw;
    uint8_t first[4];
    ssize_t got;

    if (code != COLANDER_OK)
        return code;
    raw = &(*input)->raw;
    if (!raw->is_seekable)
        code =
            COLANDER_FAIL(err, COLANDER_INVALID,
                          "only a file can be followed, not a pipe or device");
    else if ((got = pread(raw->file, first, sizeof(first), 0)) > 0 &&
             kind_of(first, (size_t)got) != INPUT_PLAIN)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "a compressed file cannot be followed");
    raw->growing = growing;
    (*input)->kind = INPUT_PLAIN;
    if (code == COLANDER_OK)
        return COLANDER_OK;
    input_close(*input);
    *input = NULL;
    return code;
}

void
input_close(struct input *input)
{
    if (input == NULL)
        return;
    gzip_destroy(input->gzip);
    zstd_destroy(input->zstd);
    if (input->raw.is_owned && input->raw.file >= 0)
        (void)close(input->raw.file);
    free(input->raw.buffer);
    free(input);
}

void
input_cancel(struct input *input)
{
    atomic_store(&input->raw.is_cancelled, true);
}

/* ------------------------------------------------------------ reading --- */

/* Finds the kind by the first bytes. A pipe may return them one by one. */
static enum colander_code
find_kind(struct input *input, struct colander_error *err)
{
    struct raw_input *raw = &input->raw;
    enum colander_code code = COLANDER_OK;
    enum input_kind kind;

    while (code == COLANDER_OK && raw->filled < 4 && !raw->has_ended)
        code = raw_append(raw, err);
    if (code != COLANDER_OK)
        return code;
    kind = kind_of(raw->buffer, raw->filled);
    if (kind == INPUT_GZIP)
        code = gzip_create(&input->gzip, err);
    else if (kind == INPUT_ZSTD)
        code = zstd_create(&input->zstd, input->raw.elsewhere != NULL, err);
    if (code == COLANDER_OK)
        input->kind = kind;
    return code;
}

static enum colander_code
plain_read(struct raw_input *raw, void *data, size_t size, size_t *got,
           struct colander_error *err)
{
    size_t left = raw->filled - raw->at;

    if (left == 0)
        return raw_read(raw, data, size, got, err);
    *got = size < left ? size : left;
    memcpy(data, raw->buffer + raw->at, *got);
    raw->at += *got;
    return COLANDER_OK;
}

/* Whether a file of elsewhere has decompressed to too much. */
static bool
is_bomb(const struct input *input)
{
    return input->raw.elsewhere != NULL &&
           input->inflated >
               INFLATED_FREE + INFLATED_RATIO * input_bytes_read(input);
}

enum colander_code
input_read(struct input *input, void *data, size_t size, size_t *got,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *got = 0;
    if (input->kind == INPUT_UNKNOWN)
        code = find_kind(input, err);
    if (code != COLANDER_OK || size == 0)
        return code;
    switch (input->kind) {
    case INPUT_GZIP:
        code = gzip_read(input->gzip, &input->raw, data, size, got, err);
        break;
    case INPUT_ZSTD:
        code = zstd_read(input->zstd, &input->raw, data, size, got, err);
        break;
    default:
        return plain_read(&input->raw, data, size, got, err);
    }
    input->inflated += *got;
    if (code == COLANDER_CORRUPT)
        atomic_store(&input->is_damaged, true);
    if (code == COLANDER_OK && is_bomb(input)) {
        *got = 0;
        code = raw_fail(&input->raw, COLANDER_LIMIT,
                        "the bytes before it decompress to hundreds of times "
                        "their size: decompress them first",
                        err);
    }
    return code;
}

/* Requires an empty buffer. *skipped is 0 at the end of the file. */
static enum colander_code
seek(struct raw_input *raw, uint64_t size, uint64_t *skipped,
     struct colander_error *err)
{
    const uint64_t before = atomic_load(&raw->read);
    struct stat status;
    off_t at;

    if (raw->elsewhere != NULL) {
        *skipped = before >= raw->size         ? 0
                   : size > raw->size - before ? raw->size - before
                                               : size;
        atomic_fetch_add(&raw->read, *skipped);
        return COLANDER_OK;
    }
    at = lseek(raw->file, 0, SEEK_CUR);
    if (at < 0 || fstat(raw->file, &status) != 0)
        return fail_with_errno(COLANDER_IO, "read", err);
    if (at >= status.st_size)
        return COLANDER_OK;
    if (size > (uint64_t)(status.st_size - at))
        size = (uint64_t)(status.st_size - at);
    if (lseek(raw->file, (off_t)size, SEEK_CUR) < 0)
        return fail_with_errno(COLANDER_IO, "read", err);
    *skipped = size;
    if (raw->growing != NULL)
        growing_skip(raw->growing, size);
    atomic_fetch_add_explicit(&raw->read, size, memory_order_relaxed);
    return COLANDER_OK;
}

static enum colander_code
skip_some(struct input *input, uint64_t size, uint64_t *skipped,
          struct colander_error *err)
{
    struct raw_input *raw = &input->raw;
    uint8_t bytes[16 << 10];
    size_t got;
    enum colander_code code;

    *skipped = 0;
    if (input->kind == INPUT_PLAIN && raw->is_seekable &&
        raw->at == raw->filled)
        return seek(raw, size, skipped, err);
    code = input_read(input, bytes,
                      size < sizeof(bytes) ? (size_t)size : sizeof(bytes), &got,
                      err);
    *skipped = got;
    return code;
}

enum colander_code
input_skip(struct input *input, uint64_t size, uint64_t *skipped,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint64_t some = 1;

    *skipped = 0;
    while (code == COLANDER_OK && *skipped < size && some > 0) {
        code = skip_some(input, size - *skipped, &some, err);
        *skipped += some;
    }
    return code;
}

bool
input_would_wait(const struct input *input)
{
    const struct raw_input *raw = &input->raw;
    struct pollfd polled = {raw->file, POLLIN, 0};

    if (raw->at < raw->filled || raw->has_ended)
        return false;
    if (raw->elsewhere != NULL)
        return !raw->is_seekable &&
               raw->elsewhere->would_wait(raw->elsewhere->context, raw->path);
    if (raw->growing != NULL)
        return growing_would_wait(raw->growing, raw->file);
    return !raw->is_seekable && poll(&polled, 1, 0) == 0;
}

bool
input_is_damaged(const struct input *input)
{
    return atomic_load(&input->is_damaged);
}

uint64_t
input_inode(const struct input *input)
{
    struct stat status;

    return fstat(input->raw.file, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

void
input_stamp(const struct input *input, uint64_t *size, uint64_t *changed_ns)
{
    struct stat status;

    *size = *changed_ns = 0;
    if (fstat(input->raw.file, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    *size = (uint64_t)status.st_size;
    *changed_ns = (uint64_t)status.st_mtim.tv_sec * UINT64_C(1000000000) +
                  (uint64_t)status.st_mtim.tv_nsec;
}

uint64_t
input_bytes_read(const struct input *input)
{
    return atomic_load_explicit(&input->raw.read, memory_order_relaxed);
}
