/*
 * Settings: where they are found, and what of them is used.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/s3/s3_settings.h"
#include "support/cases.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>

static char directory[TEMPORARY_SIZE];

/* Writes a file and sets the variable to its path. */
static void
write_file(const char *variable, const char *text)
{
    char path[TEMPORARY_SIZE + 64];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", directory, variable);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    ZERO(fclose(file));
    ZERO(setenv(variable, path, 1));
}

static int
setup(void **state)
{
    static const char *const variables[] = {
        "AWS_ENDPOINT_URL_S3",   "AWS_ENDPOINT_URL",  "AWS_REGION",
        "AWS_DEFAULT_REGION",    "AWS_PROFILE",       "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_MAX_ATTEMPTS",
        "AWS_CA_BUNDLE"};

    for (size_t i = 0; i < COUNT(variables); i++)
        (void)unsetenv(variables[i]);
    write_file("AWS_SHARED_CREDENTIALS_FILE", "");
    write_file("AWS_CONFIG_FILE", "");
    return 0;
}

#define TEST_SETTINGS(name) TEST_WITH(void *state, name, setup, NULL)

static void
expect(const char *bucket, const char *scheme, const char *host,
       const char *path, const char *region, const char *key)
{
    struct s3_settings settings;

    OK(s3_settings_read(&settings, bucket, why()));
    assert_string_equal(settings.scheme, scheme);
    assert_string_equal(settings.host, host);
    assert_string_equal(settings.path, path);
    assert_string_equal(settings.region, region);
    assert_string_equal(settings.key, key);
    s3_settings_release(&settings);
}

TEST_SETTINGS(the_environment_comes_first)
{
    write_file("AWS_SHARED_CREDENTIALS_FILE",
               "[default]\naws_access_key_id = f\naws_secret_access_key = g\n");
    write_file("AWS_CONFIG_FILE",
               "[default]\nregion=eu-north-1\nendpoint_url=http://file:1\n");
    expect("bucket", "http", "file:1", "/bucket", "eu-north-1", "g");
    ZERO(setenv("AWS_ENDPOINT_URL", "https://all.example:443/", 1));
    ZERO(setenv("AWS_DEFAULT_REGION", "eu-west-3", 1));
    expect("bucket", "https", "all.example", "/bucket", "eu-west-3", "g");
    ZERO(setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000", 1));
    ZERO(setenv("AWS_REGION", "eu-west-1", 1));
    ZERO(setenv("AWS_ACCESS_KEY_ID", "i", 1));
    ZERO(setenv("AWS_SECRET_ACCESS_KEY", "k", 1));
    expect("bucket", "http", "127.0.0.1:9000", "/bucket", "eu-west-1", "k");
}

TEST_SETTINGS(a_profile_has_its_own_section)
{
    write_file("AWS_SHARED_CREDENTIALS_FILE",
               "# keys\r\n[default]\r\naws_access_key_id=a\r\n"
               "aws_secret_access_key=b\r\n\r\n[ other ]\r\n"
               "aws_access_key_id = c\r\naws_secret_access_key = d+/=\r\n");
    write_file("AWS_CONFIG_FILE", "[profile other]\n"
                                  "region = ap-south-1\n"
                                  "s3 =\n"
                                  "    addressing_style = virtual\n"
                                  "    payload_signing_enabled = true\n"
                                  "endpoint_url = http://host.example:80\n"
                                  "[default]\nregion = eu-north-1\n");
    ZERO(setenv("AWS_PROFILE", "other", 1));
    expect("bucket", "http", "bucket.host.example", "", "ap-south-1", "d+/=");
    ZERO(setenv("AWS_PROFILE", "default", 1));
    expect("bucket", "https", "bucket.s3.eu-north-1.amazonaws.com", "",
           "eu-north-1", "b");
    /* a certificate is for one level of names */
    expect("my.bucket", "https", "s3.eu-north-1.amazonaws.com", "/my.bucket",
           "eu-north-1", "b");
}

TEST_SETTINGS(what_is_missing_or_malformed_is_named)
{
    static const char *const secret[] = {
        "http://user@host", "https://user:pass@host:9000",
        "ftp://user:pass@host", "user:p@ss@host", "https://user:pa/ss@host"};
    struct s3_settings settings;

    FAILS(s3_settings_read(&settings, "bucket", why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "AWS_ACCESS_KEY_ID"));
    ZERO(setenv("AWS_ACCESS_KEY_ID", "i", 1));
    FAILS(s3_settings_read(&settings, "bucket", why()), COLANDER_INVALID);
    ZERO(setenv("AWS_SECRET_ACCESS_KEY", "k", 1));
    OK(s3_settings_read(&settings, "bucket", why()));
    assert_string_equal(settings.region, "us-east-1");
    s3_settings_release(&settings);
    ZERO(setenv("AWS_ENDPOINT_URL", "ftp://host", 1));
    FAILS(s3_settings_read(&settings, "bucket", why()), COLANDER_INVALID);
    for (size_t i = 0; i < COUNT(secret); i++) {
        ZERO(setenv("AWS_ENDPOINT_URL", secret[i], 1));
        FAILS(s3_settings_read(&settings, "bucket", why()), COLANDER_INVALID);
        assert_non_null(strstr(error_text(), "the endpoint 'host"));
        assert_null(strstr(error_text(), "user"));
        assert_null(strstr(error_text(), "pass"));
    }
    ZERO(setenv("AWS_ENDPOINT_URL", "http://host/path", 1));
    FAILS(s3_settings_read(&settings, "bucket", why()), COLANDER_INVALID);
    ZERO(unsetenv("AWS_ENDPOINT_URL"));
    ZERO(setenv("AWS_MAX_ATTEMPTS", "many", 1));
    FAILS(s3_settings_read(&settings, "bucket", why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "AWS_MAX_ATTEMPTS is 'many'"));
}

int
main(void)
{
    int failures;

    temporary_make(directory);
    failures = tests_run(NULL, NULL);
    temporary_remove(directory);
    return failures;
}
