/*
 * Time zones: how far the clocks of a place are ahead of UTC, from the system's
 * zone data (TZif files, RFC 8536).
 *
 * A zone is a list of periods, each with one offset. The rule at the end of the
 * file, for the years after its last change, is turned into periods of 400
 * years, after which the calendar repeats. A zone never changes, and any number
 * of threads can use it.
 *
 * Life:   open -> period, instant, any number of times -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_ZONE_H
#define COLANDER_COLUMNS_GROUPS_ZONE_H

#include "core/core.h"

struct zone;

/* Clocks that are `offset` seconds ahead of UTC, from one instant until before
 * another: seconds since 1970. */
struct zone_period {
    int64_t from;
    int64_t until;
    int32_t offset;
};

/* Opens the zone `name`, such as "Europe/Berlin"; "local" is that of the
 * system. Fails with INVALID if there is none. */
COLANDER_CHECKED enum colander_code
zone_open(const char *name, struct zone **zone, struct colander_error *err);

/* NULL is allowed. */
void zone_close(struct zone *zone);

/* Returns the period that `second` is in. `zone` NULL is UTC. */
struct zone_period zone_period(const struct zone *zone, int64_t second);

/* Returns the first instant at which the clocks show `local` or a later time.
 * `local` is the number of seconds since 1970 that UTC would have then. */
int64_t zone_instant(const struct zone *zone, int64_t local);

/* For tests: reads the bytes of a file. */
COLANDER_CHECKED enum colander_code zone_read(struct colander_slice file,
                                              struct zone **zone,
                                              struct colander_error *err);

#endif
