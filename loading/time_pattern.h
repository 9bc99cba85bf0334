/*
 * Time patterns: the formats of times.h with conversions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_TIME_PATTERN_H
#define LOADING_TIME_PATTERN_H

#include "core/civil_time.h"

/* Reads what matches `pattern`, which was checked, and sets its fields. */
bool time_pattern_read(struct colander_slice pattern,
                       struct time_scanner *scanner, struct civil_time *time);

/* Fails with INVALID as times_check_format does. */
COLANDER_CHECKED enum colander_code
time_pattern_check(struct colander_slice pattern, struct colander_error *err);

#endif
