/* See content.h. SPDX-License-Identifier: MIT */
#include "cluster/content.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#define END_SIZE 4096
#define PIECE_SIZE ((size_t)8 << 20)
#define FOLDER "files/"

static void
print_hash(const struct content *content, char text[2 * CONTENT_HASH_SIZE + 1])
{
    for (size_t i = 0; i < CONTENT_HASH_SIZE; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", content->hash[i]);
}

struct content_name
content_prefix(const struct content *content)
{
    char hash[2 * CONTENT_HASH_SIZE + 1];
    struct content_name name;

    print_hash(content, hash);
    (void)snprintf(name.text, sizeof(name.text), FOLDER "%s-%" PRIu64 "-", hash,
                   content->size);
    return name;
}

struct content_name
content_object(const struct content *content, uint64_t id)
{
    struct content_name name = content_prefix(content);
    const size_t size = strlen(name.text);

    (void)snprintf(name.text + size, sizeof(name.text) - size, "%016" PRIx64,
                   id);
    return name;
}

bool
content_is_object(const char *name)
{
    static const char digits[] = "0123456789abcdef";
    const size_t folder = strlen(FOLDER);

    return strncmp(name, FOLDER, folder) == 0 &&
           strspn(name + folder, digits) == (size_t)2 * CONTENT_HASH_SIZE &&
           name[folder + (size_t)2 * CONTENT_HASH_SIZE] == '-';
}

enum colander_code
content_of(const struct object_body *body, struct content *content,
           struct colander_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    uint8_t *piece = malloc(PIECE_SIZE);
    enum colander_code code = COLANDER_OK;
    XXH128_canonical_t hash;

    if (state == NULL || piece == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a piece");
    else
        (void)XXH3_128bits_reset(state);
    for (uint64_t at = 0; at < body->size && code == COLANDER_OK;) {
        const size_t size = body->size - at < PIECE_SIZE
                                ? (size_t)(body->size - at)
                                : PIECE_SIZE;

        code = object_body_read(body, at, piece, size, err);
        if (code == COLANDER_OK)
            (void)XXH3_128bits_update(state, piece, size);
        at += size;
    }
    if (code == COLANDER_OK) {
        XXH128_canonicalFromHash(&hash, XXH3_128bits_digest(state));
        memcpy(content->hash, hash.digest, CONTENT_HASH_SIZE);
        content->size = body->size;
    }
    free(piece);
    (void)XXH3_freeState(state);
    return code;
}

enum colander_code
content_end(const struct object_body *body, uint8_t end[CONTENT_HASH_SIZE],
            struct colander_error *err)
{
    const size_t size = body->size < END_SIZE ? (size_t)body->size : END_SIZE;
    XXH128_canonical_t hash;
    uint8_t bytes[END_SIZE];
    enum colander_code code =
        object_body_read(body, body->size - size, bytes, size, err);

    if (code != COLANDER_OK)
        return code;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes, size));
    memcpy(end, hash.digest, CONTENT_HASH_SIZE);
    return COLANDER_OK;
}

/* ------------------------------------------------------------ fetching --- */

static enum colander_code
write_piece(int fd, const struct colander_buffer *piece, uint64_t at,
            struct colander_error *err)
{
    size_t done = 0;

    while (fd >= 0 && done < piece->size) {
        const ssize_t written = pwrite(fd, piece->data + done,
                                       piece->size - done, (off_t)(at + done));

        if (written < 0 && errno != EINTR)
            return COLANDER_FAIL(err, COLANDER_IO, "cannot write the file: %s",
                                 strerror(errno));
        done += written > 0 ? (size_t)written : 0;
    }
    return COLANDER_OK;
}

/* Fetches all pieces. One byte more is asked for than there should be. */
static enum colander_code
fetch_pieces(struct objects *objects, const char *name,
             const struct content *content, int fd, XXH3_state_t *state,
             struct colander_error *err)
{
    struct colander_buffer piece = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;
    uint64_t at = 0;
    bool is_end = false;

    while (!is_end && code == COLANDER_OK) {
        const uint64_t left = content->size + 1 - at;
        const size_t size = left < PIECE_SIZE ? (size_t)left : PIECE_SIZE;

        colander_buffer_clear(&piece);
        code = objects_get(objects, name, at, size, &piece, err);
        is_end = piece.size < size || piece.size == left;
        if (code == COLANDER_OK)
            (void)XXH3_128bits_update(state, piece.data, piece.size);
        if (code == COLANDER_OK)
            code = write_piece(fd, &piece, at, err);
        at += piece.size;
    }
    colander_buffer_release(&piece);
    if (code == COLANDER_OK && at != content->size)
        code = COLANDER_FAIL(
            err, COLANDER_CORRUPT,
            "'%s' is damaged: it has %s%" PRIu64 " bytes, and had %" PRIu64,
            name, at > content->size ? "more than " : "",
            at > content->size ? content->size : at, content->size);
    return code;
}

enum colander_code
content_fetch(struct objects *objects, const char *name,
              const struct content *content, int fd, struct colander_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    XXH128_canonical_t hash;
    enum colander_code code;

    if (state == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a hash");
    (void)XXH3_128bits_reset(state);
    code = fetch_pieces(objects, name, content, fd, state, err);
    XXH128_canonicalFromHash(&hash, XXH3_128bits_digest(state));
    (void)XXH3_freeState(state);
    if (code == COLANDER_OK &&
        memcmp(hash.digest, content->hash, CONTENT_HASH_SIZE) != 0)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' is damaged: its bytes do not have the hash "
                             "in its name",
                             name);
    return code;
}
