/*
 * Signatures: requests that AWS has published with theirs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/s3/s3_sign.h"
#include "support/cases.h"

#include <stdio.h>

#define NOTHING                                                                \
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct sample {
    struct sign_request request;
    const char *headers; /* that are signed */
    const char *signature;
};

/* Those of the general test suite. */
#define GENERAL                                                                \
    .body_hash = NOTHING, .time = "20150830T123600Z", .region = "us-east-1",   \
    .service = "service", .key_id = "AKIDEXAMPLE",                             \
    .key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define GENERAL_HEADERS                                                        \
    {"host", "example.amazonaws.com"},                                         \
    {                                                                          \
        "x-amz-date", "20150830T123600Z"                                       \
    }

/* Those of the documentation of S3. */
#define S3                                                                     \
    .time = "20130524T000000Z", .region = "us-east-1", .service = "s3",        \
    .key_id = "AKIAIOSFODNN7EXAMPLE",                                          \
    .key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define S3_HEADERS                                                             \
    {"host", "examplebucket.s3.amazonaws.com"},                                \
    {                                                                          \
        "x-amz-date", "20130524T000000Z"                                       \
    }

static void
check(struct sample *sample)
{
    struct text authorization = TEXT_EMPTY;
    char wanted[512];

    OK(sign(&sample->request, &authorization, why()));
    (void)snprintf(wanted, sizeof(wanted),
                   "AWS4-HMAC-SHA256 Credential=%s/%.8s/us-east-1/%s/"
                   "aws4_request, SignedHeaders=%s, Signature=%s",
                   sample->request.key_id, sample->request.time,
                   sample->request.service, sample->headers, sample->signature);
    assert_string_equal(text_string(&authorization), wanted);
    text_release(&authorization);
}

TEST(requests_of_the_general_suite_have_their_signatures)
{
    struct sample samples[] = {
        {.request = {.method = "GET",
                     .path = "/",
                     .headers = {GENERAL_HEADERS},
                     .header_count = 2,
                     GENERAL},
         .headers = "host;x-amz-date",
         .signature = "5fa00fa31553b73ebf1942676e86291e"
                      "8372ff2a2260956d9b8aae1d763fbf31"},
        {.request = {.method = "POST",
                     .path = "/",
                     .headers = {GENERAL_HEADERS},
                     .header_count = 2,
                     GENERAL},
         .headers = "host;x-amz-date",
         .signature = "5da7c1a2acd57cee7505fc6676e4e544"
                      "621c30862966e37dddb68e92efbe5d6b"},
        /* parameters in order, names and values */
        {.request = {.method = "GET",
                     .path = "/",
                     .parameters = {{"Param2", "value2"}, {"Param1", "value1"}},
                     .parameter_count = 2,
                     .headers = {GENERAL_HEADERS},
                     .header_count = 2,
                     GENERAL},
         .headers = "host;x-amz-date",
         .signature = "b97d918cfa904a5beff61c982a1b6f45"
                      "8b799221646efd99d3219ec94cdf2500"},
        /* what is not encoded */
        {.request = {.method = "GET",
                     .path = "/",
                     .parameters = {{"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz",
                                     "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz"}},
                     .parameter_count = 1,
                     .headers = {GENERAL_HEADERS},
                     .header_count = 2,
                     GENERAL},
         .headers = "host;x-amz-date",
         .signature = "9c3e54bfcdf0b19771a7f523ee5669cd"
                      "f59bc7cc0884027167c21bb143a40197"},
        /* a path with a letter of three bytes */
        {.request = {.method = "GET",
                     .path = "/\xe1\x88\xb4",
                     .headers = {GENERAL_HEADERS},
                     .header_count = 2,
                     GENERAL},
         .headers = "host;x-amz-date",
         .signature = "8318018e0b0f223aa2bbf98705b62bb7"
                      "87dc9c0e678f255a891fd03141be5d85"},
        /* a path with a space */
        {.request = {.method = "GET",
                     .path = "/example space/",
                     .headers = {GENERAL_HEADERS},
                     .header_count = 2,
                     GENERAL},
         .headers = "host;x-amz-date",
         .signature = "652487583200325589f1fba4c7e578f7"
                      "2c47cb61beeca81406b39ddec1366741"},
        /* spaces around and in the value of a header */
        {.request = {.method = "GET",
                     .path = "/",
                     .headers = {GENERAL_HEADERS,
                                 {"my-header1", " value1"},
                                 {"my-header2", " \"a   b   c\""}},
                     .header_count = 4,
                     GENERAL},
         .headers = "host;my-header1;my-header2;x-amz-date",
         .signature = "acc3ed3afb60bb290fc8d2dd0098b991"
                      "1fcaa05412b367055dee359757a9c736"},
    };

    for (size_t i = 0; i < COUNT(samples); i++)
        check(&samples[i]);
}

TEST(requests_in_the_documentation_of_s3_have_their_signatures)
{
    struct sample samples[] = {
        {.request = {.method = "GET",
                     .path = "/test.txt",
                     .headers = {S3_HEADERS,
                                 {"range", "bytes=0-9"},
                                 {"x-amz-content-sha256", NOTHING}},
                     .header_count = 4,
                     .body_hash = NOTHING,
                     S3},
         .headers = "host;range;x-amz-content-sha256;x-amz-date",
         .signature = "f0e8bdb87c964420e857bd35b5d6ed31"
                      "0bd44f0170aba48dd91039c6036bdb41"},
        {.request = {.method = "GET",
                     .path = "/",
                     .parameters = {{"lifecycle", ""}},
                     .parameter_count = 1,
                     .headers = {S3_HEADERS, {"x-amz-content-sha256", NOTHING}},
                     .header_count = 3,
                     .body_hash = NOTHING,
                     S3},
         .headers = "host;x-amz-content-sha256;x-amz-date",
         .signature = "fea454ca298b7da1c68078a5d1bdbfbb"
                      "e0d65c699e0f91ac7a200a0136783543"},
        {.request = {.method = "GET",
                     .path = "/",
                     .parameters = {{"prefix", "J"}, {"max-keys", "2"}},
                     .parameter_count = 2,
                     .headers = {S3_HEADERS, {"x-amz-content-sha256", NOTHING}},
                     .header_count = 3,
                     .body_hash = NOTHING,
                     S3},
         .headers = "host;x-amz-content-sha256;x-amz-date",
         .signature = "34b48302e7b5fa45bde8084f4b7868a8"
                      "6f0a534bc59db6670ed5711ef69dc6f7"},
    };

    for (size_t i = 0; i < COUNT(samples); i++)
        check(&samples[i]);
}

TEST(a_body_is_hashed_and_signed)
{
    static const char text[] = "Welcome to Amazon S3.";
    const struct object_body body = {-1, (const uint8_t *)text,
                                     sizeof(text) - 1};
    char hash[SIGN_HASH_SIZE];
    struct sample sample = {
        .request = {.method = "PUT",
                    .path = "/test$file.text",
                    .headers = {S3_HEADERS,
                                {"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                                {"x-amz-content-sha256", hash}},
                    .header_count = 5,
                    .body_hash = hash,
                    S3},
        .headers = "date;host;x-amz-content-sha256;x-amz-date;"
                   "x-amz-storage-class",
        .signature = "98ad721746da40c64f1a55b78f14c238"
                     "d841ea1380cd77a1b5971af0ece108bd"};

    OK(sign_hash(&body, 0, body.size, hash, why()));
    check(&sample);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
