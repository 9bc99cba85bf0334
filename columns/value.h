/*
 * Values: the check before a value is encoded.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_VALUE_H
#define COLANDER_COLUMNS_VALUE_H

#include "columns/columns.h"

/* Nanoseconds in a second. Those of a TIMESTAMP are below. */
#define VALUE_NANOSECONDS 1000000000u

/* The extension type of timestamps in msgpack. An EXTENSION never has it, so
 * that an instant is one value and not two. */
#define VALUE_TIMESTAMP_TYPE (-1)

/*
 * Checks that the content of a scalar fits its type. Fails with INVALID for a
 * string that is not UTF-8, for too many nanoseconds, and for an extension with
 * the type of timestamps. The caller checks the type itself.
 */
COLANDER_CHECKED enum colander_code
value_check(const struct colander_value *value, struct colander_error *err);

#endif
