/*
 * Values: what those who encode them ask first.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_VALUE_H
#define COLANDER_VALUE_H

#include "columns/columns.h"

/* A second has so many nanoseconds: those of a TIMESTAMP are below. */
#define VALUE_NANOSECONDS 1000000000u

/* The extension type that msgpack gives to timestamps: no EXTENSION has it,
 * so that an instant is one value and not two. */
#define VALUE_TIMESTAMP_TYPE (-1)

/*
 * Whether the content of a scalar is what its type promises: INVALID for a
 * string that is not UTF-8, too many nanoseconds, an extension that would be
 * a timestamp. Whether the type is welcome is the caller's question.
 */
COLANDER_CHECKED enum colander_code
value_check(const struct colander_value *value, struct colander_error *err);

#endif
