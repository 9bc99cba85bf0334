/*
 * What code behind the C++ border throws or returns, and what it becomes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_THROWN_H
#define TESTS_SUPPORT_THROWN_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

enum thrown {
    THROWN_NOTHING,
    THROWN_BAD_ALLOC,
    THROWN_RUNTIME_ERROR, /* "thrown" */
    THROWN_NUMBER,
    SAID_OK, /* a status of RocksDB's: */
    SAID_CORRUPTION,
    SAID_MEMORY_LIMIT,
    SAID_DROPPED,
    SAID_NO_SPACE,
};

/* What guard turns it into, with "try" as its context. */
enum colander_code guard_tried(enum thrown thrown, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
