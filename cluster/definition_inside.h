/*
 * Private to definition.c and definition_objects.c: what they share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_DEFINITION_INSIDE_H
#define CLUSTER_DEFINITION_INSIDE_H

#include "cluster/definition.h"

#define DEFINITION_SIZE_MAX ((size_t)8 << 20)

/* Appends in which members `there` differs from `wanted`, with both values if
 * they are short. Nothing, if in none. */
COLANDER_CHECKED enum colander_code definition_differences(
    const struct cluster_family *there, const struct cluster_family *wanted,
    struct colander_buffer *text, struct colander_error *err);

#endif
