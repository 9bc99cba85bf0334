/* See token.h. SPDX-License-Identifier: MIT */
#include "serve/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_SIZE 32

static enum colander_code
fail_file(struct colander_error *err, const char *what, const char *path)
{
    return COLANDER_FAIL(err,
                         errno == ENOENT   ? COLANDER_NOT_FOUND
                         : errno == EEXIST ? COLANDER_EXISTS
                                           : COLANDER_IO,
                         "cannot %s the token file '%s': %s", what, path,
                         strerror(errno));
}

/* Takes the token from what the file has, up to a line break at its end. */
static enum colander_code
take(struct token *token, const char *text, const char *path,
     struct colander_error *err)
{
    const size_t size = strcspn(text, "\r\n");

    if (size > TOKEN_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the token in '%s' has more than %d bytes", path,
                             TOKEN_SIZE_MAX);
    memcpy(token->text, text, size);
    token->text[size] = '\0';
    if (text[size + strspn(text + size, "\r\n")] != '\0')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the token file '%s' has more than one line",
                             path);
    if (size < TOKEN_SIZE_MIN)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the token in '%s' has %zu bytes, of %d at least",
                             path, size, TOKEN_SIZE_MIN);
    for (size_t i = 0; i < size; i++) {
        if (token->text[i] <= ' ' || token->text[i] > '~')
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the token in '%s' is not printable ASCII "
                                 "without blanks: byte %zu",
                                 path, i);
    }
    return COLANDER_OK;
}

static enum colander_code
read_open(int fd, const char *path, struct token *token,
          struct colander_error *err)
{
    char text[TOKEN_SIZE_MAX + 8]; /* with a line break, and more */
    struct stat status;
    ssize_t size;

    if (fstat(fd, &status) != 0)
        return fail_file(err, "read", path);
    if (!S_ISREG(status.st_mode))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the token file '%s' is not a file", path);
    if ((status.st_mode & 037) != 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "others may read the token file '%s': "
                             "chmod 600 it",
                             path);
    size = read(fd, text, sizeof(text) - 1);
    if (size < 0)
        return fail_file(err, "read", path);
    text[size] = '\0';
    return take(token, text, path, err);
}

enum colander_code
token_read(const char *path, struct token *token, struct colander_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum colander_code code;

    if (fd < 0)
        return fail_file(err, "read", path);
    code = read_open(fd, path, token, err);
    (void)close(fd);
    return code;
}

/* A token that is not whole is not left behind. */
static enum colander_code
write_token(int fd, const char *path, const struct token *token,
            struct colander_error *err)
{
    char line[sizeof(token->text) + 1];
    int size = snprintf(line, sizeof(line), "%s\n", token->text);
    enum colander_code code = COLANDER_OK;

    errno = 0;
    if (write(fd, line, (size_t)size) != size || fsync(fd) != 0) {
        code = fail_file(err, "write", path);
        (void)unlink(path);
    }
    return code;
}

enum colander_code
token_create(const char *path, struct token *token, struct colander_error *err)
{
    uint8_t bytes[RANDOM_SIZE];
    enum colander_code code;
    int fd;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return COLANDER_FAIL(err, COLANDER_IO, "no random bytes for a token");
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(token->text + 2 * i, 3, "%02x", bytes[i]);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_file(err, "create", path);
    code = write_token(fd, path, token, err);
    (void)close(fd);
    return code;
}

bool
token_equals(const struct token *token, const char *other)
{
    const size_t size = strlen(token->text);
    const size_t other_size = strlen(other);
    volatile unsigned char differs = size != other_size;

    for (size_t i = 0; i < size; i++)
        differs |=
            (unsigned char)(token->text[i] ^ other[i < other_size ? i : 0]);
    return differs == 0;
}

/* Decodes base64 up to its padding. Returns false if it is none, or too long
 * for a name and a token. */
static bool
decode_base64(const char *text, char *bytes, size_t size_max)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    unsigned count = 0;
    size_t size = 0;

    for (; *text != '\0' && *text != '='; text++) {
        const char *digit = strchr(digits, *text);

        if (digit == NULL || size + 1 == size_max)
            return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes[size++] = (char)(bits >> count);
        }
    }
    bytes[size] = '\0';
    return count < 6 && (bits & ((1U << count) - 1)) == 0 &&
           text[strspn(text, "=")] == '\0';
}

/* Whether it is the text, or what follows the name before a colon. */
static bool
is_named_token(const struct token *token, const char *text)
{
    const char *colon = strchr(text, ':');
    const bool is_whole = token_equals(token, text);

    return token_equals(token, colon == NULL ? text : colon + 1) || is_whole;
}

bool
token_is_in_header(const struct token *token, const char *header)
{
    char decoded[3 * TOKEN_SIZE_MAX] = "";
    const size_t size = strcspn(header, " ");
    const char *given = header + size + (header[size] != '\0');

    if (size == 6 && strncasecmp(header, "Bearer", size) == 0)
        return token_equals(token, given);
    if (size == 5 && strncasecmp(header, "Token", size) == 0)
        return is_named_token(token, given);
    if (size == 6 && strncasecmp(header, "ApiKey", size) == 0 &&
        token_equals(token, given))
        return true;
    return ((size == 6 && strncasecmp(header, "ApiKey", size) == 0) ||
            (size == 5 && strncasecmp(header, "Basic", size) == 0)) &&
           decode_base64(given, decoded, sizeof(decoded)) &&
           is_named_token(token, decoded);
}
