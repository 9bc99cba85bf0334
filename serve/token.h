/*
 * The token: a text that clients of a TCP address must know, in a file that
 * only its owner can read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_TOKEN_H
#define SERVE_TOKEN_H

#include "core/core.h"

#define TOKEN_SIZE_MIN 16
#define TOKEN_SIZE_MAX 256

/* A C string of printable characters of ASCII, without blanks. */
struct token {
    char text[TOKEN_SIZE_MAX + 1];
};

/* Reads the token in the file at `path`; a line break may follow it. Fails with
 * NOT_FOUND if there is no file, with INVALID if others than its owner may read
 * it, or if it is not a token. */
COLANDER_CHECKED enum colander_code
token_read(const char *path, struct token *token, struct colander_error *err);

/* Draws a token of 256 random bits, and creates the file with it. Fails with
 * EXISTS if there is a file. */
COLANDER_CHECKED enum colander_code
token_create(const char *path, struct token *token, struct colander_error *err);

/* Whether they are equal. Takes as long wherever they differ. */
bool token_equals(const struct token *token, const char *other);

/* Whether the header Authorization has it, as one of
 *
 *     Bearer TOKEN
 *     Token TOKEN, Token ANY:TOKEN     (clients of InfluxDB)
 *     ApiKey TOKEN, ApiKey, Basic      (of Elasticsearch, and any other)
 *
 * where the last two have ANY:TOKEN in base64. */
bool token_is_in_header(const struct token *token, const char *header);

#endif
