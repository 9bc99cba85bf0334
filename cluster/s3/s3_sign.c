/* See s3_sign.h. SPDX-License-Identifier: MIT */
#include "cluster/s3/s3_sign.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGEST_SIZE 32
#define PIECE_SIZE ((size_t)1 << 20)

struct digest {
    uint8_t bytes[DIGEST_SIZE];
};

static void
print_digest(const struct digest *digest, char hash[SIGN_HASH_SIZE])
{
    for (size_t i = 0; i < DIGEST_SIZE; i++)
        (void)snprintf(hash + 2 * i, 3, "%02x", digest->bytes[i]);
}

enum colander_code
sign_hash(const struct object_body *body, uint64_t offset, uint64_t size,
          char hash[SIGN_HASH_SIZE], struct colander_error *err)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    uint8_t *piece = malloc(PIECE_SIZE);
    enum colander_code code = COLANDER_OK;
    struct digest digest;

    if (context == NULL || piece == NULL ||
        EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a hash");
    while (size > 0 && code == COLANDER_OK) {
        const size_t part = size < PIECE_SIZE ? (size_t)size : PIECE_SIZE;

        code = object_body_read(body, offset, piece, part, err);
        if (code == COLANDER_OK && EVP_DigestUpdate(context, piece, part) != 1)
            code = COLANDER_FAIL(err, COLANDER_IO, "SHA-256 failed");
        offset += part;
        size -= part;
    }
    if (code == COLANDER_OK &&
        EVP_DigestFinal_ex(context, digest.bytes, NULL) != 1)
        code = COLANDER_FAIL(err, COLANDER_IO, "SHA-256 failed");
    if (code == COLANDER_OK)
        print_digest(&digest, hash);
    free(piece);
    EVP_MD_CTX_free(context);
    return code;
}

/* Replaces the key by the HMAC of the text under it. */
static bool
chain(struct digest *key, const void *old, size_t old_size, const char *text)
{
    struct digest next;

    if (HMAC(EVP_sha256(), old, (int)old_size, (const uint8_t *)text,
             strlen(text), next.bytes, NULL) == NULL)
        return false;
    *key = next;
    return true;
}

static int
compare(const void *one, const void *other)
{
    const struct sign_pair *a = one;
    const struct sign_pair *b = other;
    const int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->value, b->value);
}

/* Encoding keeps the order of names and values only in part. */
static int
compare_encoded(const void *one, const void *other)
{
    const struct sign_pair *a = one;
    const struct sign_pair *b = other;
    struct text texts[4] = {TEXT_EMPTY, TEXT_EMPTY, TEXT_EMPTY, TEXT_EMPTY};
    int order;

    text_add_encoded(&texts[0], a->name, false);
    text_add_encoded(&texts[1], b->name, false);
    text_add_encoded(&texts[2], a->value, false);
    text_add_encoded(&texts[3], b->value, false);
    order = strcmp(text_string(&texts[0]), text_string(&texts[1]));
    if (order == 0)
        order = strcmp(text_string(&texts[2]), text_string(&texts[3]));
    for (size_t i = 0; i < 4; i++)
        text_release(&texts[i]);
    return order;
}

void
sign_add_parameters(const struct sign_request *request, struct text *text)
{
    for (size_t i = 0; i < request->parameter_count; i++) {
        if (i > 0)
            text_add(text, "&");
        text_add_encoded(text, request->parameters[i].name, false);
        text_add(text, "=");
        text_add_encoded(text, request->parameters[i].value, false);
    }
}

static void
add_header_names(const struct sign_request *request, struct text *text)
{
    for (size_t i = 0; i < request->header_count; i++)
        text_add(text, "%s%s", i > 0 ? ";" : "", request->headers[i].name);
}

/* Adds a value without spaces at its ends, and with one for several. */
static void
add_value(const char *value, struct text *text)
{
    bool is_first = true;

    while (*value != '\0') {
        const size_t spaces = strspn(value, " \t");
        const size_t word = strcspn(value + spaces, " \t");

        if (word > 0)
            text_add(text, "%s%.*s", is_first ? "" : " ", (int)word,
                     value + spaces);
        is_first = is_first && word == 0;
        value += spaces + word;
    }
}

static void
add_canonical(const struct sign_request *request, struct text *text)
{
    text_add(text, "%s\n", request->method);
    text_add_encoded(text, request->path, true);
    text_add(text, "\n");
    sign_add_parameters(request, text);
    text_add(text, "\n");
    for (size_t i = 0; i < request->header_count; i++) {
        text_add(text, "%s:", request->headers[i].name);
        add_value(request->headers[i].value, text);
        text_add(text, "\n");
    }
    text_add(text, "\n");
    add_header_names(request, text);
    text_add(text, "\n%s", request->body_hash);
}

/* Adds the signature. */
static enum colander_code
add_signature(const struct sign_request *request, const char *scope,
              struct text *authorization, struct colander_error *err)
{
    struct text text = TEXT_EMPTY;
    struct text secret = TEXT_EMPTY;
    struct object_body body = {.fd = -1};
    char hash[SIGN_HASH_SIZE] = "";
    char date[9];
    struct digest key = {{0}};
    enum colander_code code;

    (void)snprintf(date, sizeof(date), "%.8s", request->time);
    add_canonical(request, &text);
    body.bytes = (const uint8_t *)text_string(&text);
    code = text_settle(&text, err);
    if (code == COLANDER_OK)
        code = sign_hash(&body, 0, text.bytes.size, hash, err);
    text_clear(&text);
    text_add(&text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", request->time, scope, hash);
    text_add(&secret, "AWS4%s", request->key);
    if (code == COLANDER_OK &&
        !(chain(&key, text_string(&secret), secret.bytes.size, date) &&
          chain(&key, key.bytes, DIGEST_SIZE, request->region) &&
          chain(&key, key.bytes, DIGEST_SIZE, request->service) &&
          chain(&key, key.bytes, DIGEST_SIZE, "aws4_request") &&
          chain(&key, key.bytes, DIGEST_SIZE, text_string(&text))))
        code = COLANDER_FAIL(err, COLANDER_IO, "HMAC failed");
    print_digest(&key, hash);
    text_add(authorization, "%s", hash);
    if (code == COLANDER_OK)
        code = text_settle(&text, err);
    if (code == COLANDER_OK)
        code = text_settle(&secret, err);
    text_release(&text);
    text_release(&secret);
    return code;
}

enum colander_code
sign(struct sign_request *request, struct text *authorization,
     struct colander_error *err)
{
    struct text scope = TEXT_EMPTY;
    enum colander_code code;

    qsort(request->parameters, request->parameter_count,
          sizeof(request->parameters[0]), compare_encoded);
    qsort(request->headers, request->header_count, sizeof(request->headers[0]),
          compare);
    text_add(&scope, "%.8s/%s/%s/aws4_request", request->time, request->region,
             request->service);
    text_add(authorization, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=",
             request->key_id, text_string(&scope));
    add_header_names(request, authorization);
    text_add(authorization, ", Signature=");
    code = text_settle(&scope, err);
    if (code == COLANDER_OK)
        code = add_signature(request, text_string(&scope), authorization, err);
    text_release(&scope);
    return code == COLANDER_OK ? text_settle(authorization, err) : code;
}
