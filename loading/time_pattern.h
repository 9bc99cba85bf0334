/*
 * Time patterns: the formats of times.h that have a % in them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_TIME_PATTERN_H
#define LOADING_TIME_PATTERN_H

#include "loading/civil_time.h"

/* Takes what fits a pattern that was checked, and fills the fields it has. */
bool time_pattern_read(struct colander_slice pattern,
                       struct time_scanner *scanner, struct civil_time *time);

COLANDER_CHECKED enum colander_code
time_pattern_check(struct colander_slice pattern, struct colander_error *err);

#endif
