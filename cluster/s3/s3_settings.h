/*
 * Where an S3 server is, and how to sign for it: from the environment and the
 * files that other programs for S3 read.
 *
 *     AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url   else that of AWS
 *     AWS_REGION, AWS_DEFAULT_REGION, region                else us-east-1
 *     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
 *     AWS_PROFILE                                           else default
 *     AWS_SHARED_CREDENTIALS_FILE            else ~/.aws/credentials
 *     AWS_CONFIG_FILE                        else ~/.aws/config
 *     AWS_CA_BUNDLE, ca_bundle               else those of the system
 *     AWS_MAX_ATTEMPTS, max_attempts         else 8
 *     addressing_style, below "s3 ="         path or virtual
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_S3_SETTINGS_H
#define CLUSTER_S3_SETTINGS_H

#include "core/core.h"

/* All texts are owned. */
struct s3_settings {
    char *scheme; /* "https" */
    char *host;   /* with the port, unless that is usual; with the bucket */
    char *path;   /* what is before the key: "" or "/bucket" */
    char *region;
    char *key_id;
    char *key;
    char *token;     /* NULL: none */
    char *ca_bundle; /* NULL: those of the system */
    unsigned attempts;
};

/* Reads the settings for a bucket. Fails with INVALID if something is missing
 * or malformed. */
COLANDER_CHECKED enum colander_code
s3_settings_read(struct s3_settings *settings, const char *bucket,
                 struct colander_error *err);

void s3_settings_release(struct s3_settings *settings);

/*
 * Finds `key` in `section` of a file of settings. A key that is indented below
 * "s3 =" is called "s3.KEY". Returns a copy of its last value, or NULL.
 */
char *s3_settings_find(const char *text, const char *section, const char *key);

#endif
