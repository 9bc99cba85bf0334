/* See s3_settings.h. SPDX-License-Identifier: MIT */
#include "cluster/s3/s3_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_SIZE_MAX ((size_t)1 << 20)

/* --------------------------------------------------------------- files --- */

static struct colander_slice
trimmed(const char *from, const char *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (from < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return colander_slice_of(from, (size_t)(end - from));
}

static bool
is(struct colander_slice slice, const char *text)
{
    return colander_slice_equal(slice, colander_slice_text(text));
}

/* A line "[name]" or "[profile name]". */
static bool
begins_section(struct colander_slice line, const char *section)
{
    const char *text = (const char *)line.data;
    struct colander_slice name;

    if (line.size < 2 || text[line.size - 1] != ']')
        return false;
    name = trimmed(text + 1, text + line.size - 1);
    if (name.size > 8 && memcmp(name.data, "profile ", 8) == 0)
        name = trimmed((const char *)name.data + 8,
                       (const char *)name.data + name.size);
    return is(name, section);
}

/* What has been read of a file. */
struct scan {
    bool is_inside;  /* of the section */
    char parent[32]; /* the key without a value before indented ones */
};

/* Returns the value if the line has the key. */
static bool
read_line(struct scan *scan, const char *from, const char *end,
          const char *section, const char *key, struct colander_slice *value)
{
    const bool is_indented = from < end && (*from == ' ' || *from == '\t');
    const struct colander_slice line = trimmed(from, end);
    const char *equals;
    struct colander_slice name;
    char whole[64];

    if (line.size == 0 || line.data[0] == '#' || line.data[0] == ';')
        return false;
    if (line.data[0] == '[') {
        scan->is_inside = begins_section(line, section);
        scan->parent[0] = '\0';
        return false;
    }
    equals = memchr(line.data, '=', line.size);
    if (!scan->is_inside || equals == NULL)
        return false;
    name = trimmed((const char *)line.data, equals);
    *value = trimmed(equals + 1, (const char *)line.data + line.size);
    if (name.size >= sizeof(scan->parent))
        return false;
    (void)snprintf(whole, sizeof(whole), "%s%s%.*s",
                   is_indented ? scan->parent : "",
                   is_indented && scan->parent[0] != '\0' ? "." : "",
                   (int)name.size, (const char *)name.data);
    if (!is_indented)
        (void)snprintf(scan->parent, sizeof(scan->parent), "%.*s",
                       value->size == 0 ? (int)name.size : 0,
                       (const char *)name.data);
    return value->size > 0 && strcmp(whole, key) == 0;
}

char *
s3_settings_find(const char *text, const char *section, const char *key)
{
    struct scan scan = {false, ""};
    struct colander_slice found = {NULL, 0};

    while (*text != '\0') {
        const char *end = text + strcspn(text, "\n");
        struct colander_slice value;

        if (read_line(&scan, text, end, section, key, &value))
            found = value;
        text = *end == '\0' ? end : end + 1;
    }
    return found.size == 0 ? NULL
                           : strndup((const char *)found.data, found.size);
}

/* Returns the text of a file, or an empty one. NULL: no memory. */
static char *
read_file(const char *variable, const char *usual)
{
    const char *named = getenv(variable);
    const char *home = getenv("HOME");
    char *text = calloc(1, FILE_SIZE_MAX + 1);
    char *path = NULL;
    FILE *file;

    if (text == NULL)
        return NULL;
    if (named != NULL && named[0] != '\0')
        path = strdup(named);
    else if (home == NULL || asprintf(&path, "%s/.aws/%s", home, usual) < 0)
        path = NULL;
    file = path == NULL ? NULL : fopen(path, "re");
    if (file != NULL) {
        text[fread(text, 1, FILE_SIZE_MAX, file)] = '\0';
        (void)fclose(file);
    }
    free(path);
    return text;
}

/* ------------------------------------------------------------ settings --- */

struct files {
    char *credentials;
    char *config;
    const char *profile;
};

/* Returns a copy of a variable of the environment, if it is not empty. */
static char *
from_environment(const char *variable)
{
    const char *value = variable == NULL ? NULL : getenv(variable);

    return value == NULL || value[0] == '\0' ? NULL : strdup(value);
}

/* Returns the first that is set: a variable, another, a key of the files. */
static char *
find(const struct files *files, const char *variable, const char *other,
     const char *key)
{
    char *value = from_environment(variable);

    if (value == NULL)
        value = from_environment(other);
    if (value == NULL)
        value = s3_settings_find(files->credentials, files->profile, key);
    if (value == NULL)
        value = s3_settings_find(files->config, files->profile, key);
    return value;
}

/* All come from the environment, or none does; each of the others may be in
 * either file. */
static enum colander_code
find_keys(struct s3_settings *settings, const struct files *files,
          struct colander_error *err)
{
    settings->key_id = from_environment("AWS_ACCESS_KEY_ID");
    if (settings->key_id != NULL) {
        settings->key = from_environment("AWS_SECRET_ACCESS_KEY");
        settings->token = from_environment("AWS_SESSION_TOKEN");
    } else {
        settings->key_id = find(files, NULL, NULL, "aws_access_key_id");
        settings->key = find(files, NULL, NULL, "aws_secret_access_key");
        settings->token = find(files, NULL, NULL, "aws_session_token");
    }
    if (settings->key_id != NULL && settings->key != NULL)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "there are no credentials: set AWS_ACCESS_KEY_ID and "
                         "AWS_SECRET_ACCESS_KEY, or write them to section '%s' "
                         "of ~/.aws/credentials",
                         files->profile);
}

/* Sets scheme, host and path from "http://host:9000". */
static enum colander_code
set_endpoint(struct s3_settings *settings, const char *endpoint,
             const char *bucket, const char *style, struct colander_error *err)
{
    const bool is_plain = strncmp(endpoint, "http://", 7) == 0;
    const char *host = endpoint + (is_plain ? 7 : 8);
    const char *usual = is_plain ? ":80" : ":443";
    const char *secret_end = strrchr(endpoint, '@'); /* of "user:password@" */
    const char *shown = secret_end == NULL ? endpoint : secret_end + 1;
    size_t size;
    bool is_virtual;

    if (!is_plain && strncmp(endpoint, "https://", 8) != 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the endpoint '%s' begins neither with https:// "
                             "nor with http://",
                             shown);
    size = strcspn(host, "/?#@");
    if (size == 0 || (host[size] != '\0' && strcmp(host + size, "/") != 0))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the endpoint '%s' is not a host%s", shown,
                             secret_end == NULL ? "" : ", since it has an '@'");
    is_virtual = style != NULL && strcmp(style, "virtual") == 0;
    if (style == NULL || strcmp(style, "auto") == 0)
        is_virtual = strstr(host, ".amazonaws.com") != NULL &&
                     strchr(bucket, '.') == NULL;
    if (size > strlen(usual) &&
        memcmp(host + size - strlen(usual), usual, strlen(usual)) == 0)
        size -= strlen(usual);
    settings->scheme = strdup(is_plain ? "http" : "https");
    if (asprintf(&settings->host, "%s%s%.*s", is_virtual ? bucket : "",
                 is_virtual ? "." : "", (int)size, host) < 0)
        settings->host = NULL;
    if (asprintf(&settings->path, "%s%s", is_virtual ? "" : "/",
                 is_virtual ? "" : bucket) < 0)
        settings->path = NULL;
    return COLANDER_OK;
}

static enum colander_code
find_endpoint(struct s3_settings *settings, const struct files *files,
              const char *bucket, struct colander_error *err)
{
    char *endpoint =
        find(files, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "endpoint_url");
    char *style = find(files, NULL, NULL, "s3.addressing_style");
    enum colander_code code;

    if (endpoint == NULL && asprintf(&endpoint, "https://s3.%s.amazonaws.com",
                                     settings->region) < 0)
        endpoint = NULL;
    code = endpoint == NULL
               ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory")
               : set_endpoint(settings, endpoint, bucket, style, err);
    free(style);
    free(endpoint);
    return code;
}

static enum colander_code
find_attempts(struct s3_settings *settings, const struct files *files,
              struct colander_error *err)
{
    char *text = find(files, "AWS_MAX_ATTEMPTS", NULL, "max_attempts");
    char *end = text;
    const unsigned long attempts = text == NULL ? 8 : strtoul(text, &end, 10);
    enum colander_code code = COLANDER_OK;

    settings->attempts = (unsigned)attempts;
    if (attempts == 0 || attempts > 100 || (text != NULL && *end != '\0'))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "AWS_MAX_ATTEMPTS is '%s', and must be a number "
                             "from 1 to 100",
                             text);
    free(text);
    return code;
}

enum colander_code
s3_settings_read(struct s3_settings *settings, const char *bucket,
                 struct colander_error *err)
{
    const char *profile = getenv("AWS_PROFILE");
    const struct files files = {
        read_file("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
        read_file("AWS_CONFIG_FILE", "config"),
        profile == NULL || profile[0] == '\0' ? "default" : profile};
    enum colander_code code = COLANDER_OK;

    memset(settings, 0, sizeof(*settings));
    if (files.credentials == NULL || files.config == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    if (code == COLANDER_OK)
        code = find_keys(settings, &files, err);
    if (code == COLANDER_OK)
        code = find_attempts(settings, &files, err);
    if (code == COLANDER_OK) {
        settings->ca_bundle = find(&files, "AWS_CA_BUNDLE", NULL, "ca_bundle");
        settings->region =
            find(&files, "AWS_REGION", "AWS_DEFAULT_REGION", "region");
        if (settings->region == NULL)
            settings->region = strdup("us-east-1");
        code = find_endpoint(settings, &files, bucket, err);
    }
    if (code == COLANDER_OK &&
        (settings->region == NULL || settings->scheme == NULL ||
         settings->host == NULL || settings->path == NULL))
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    free(files.credentials);
    free(files.config);
    if (code != COLANDER_OK)
        s3_settings_release(settings);
    return code;
}

void
s3_settings_release(struct s3_settings *settings)
{
    free(settings->scheme);
    free(settings->host);
    free(settings->path);
    free(settings->region);
    free(settings->key_id);
    free(settings->key);
    free(settings->token);
    free(settings->ca_bundle);
    memset(settings, 0, sizeof(*settings));
}
