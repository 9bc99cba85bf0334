/*
 * Buckets: intervals of time, half open and one after another.
 *
 * Those of less than a day have a fixed size: 15m, 1h. Those of up to an hour
 * also end when the clocks of their zone change, so that an hour that is there
 * twice is two buckets. Longer ones begin when the clocks show a multiple of
 * their size, or later if that is skipped: a day of a zone may have 23 or 25
 * hours. Days are counted from Monday, 5 January 1970, so that 7d and 1w are
 * weeks; months (1mo) and years (1y) from year 0.
 *
 * Life:   parse -> of, any number of times -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_BUCKET_H
#define COLANDER_COLUMNS_GROUPS_BUCKET_H

#include "columns/columns.h"
#include "columns/groups/zone.h"

enum bucket_unit { BUCKET_SECONDS, BUCKET_DAYS, BUCKET_MONTHS };

struct bucket {
    enum bucket_unit unit;
    int64_t size;      /* units */
    struct zone *zone; /* NULL: UTC */
};

/* Seconds since 1970. A zeroed one is empty. */
struct bucket_span {
    int64_t from;
    int64_t until;
};

/* Reads a size such as "15m", "1h", "7d", "1mo" or "1y". `zone` is the name of
 * a time zone; NULL: UTC. Fails with INVALID. Release it only on success. */
COLANDER_CHECKED enum colander_code bucket_parse(struct bucket *bucket,
                                                 const char *size,
                                                 const char *zone,
                                                 struct colander_error *err);

static inline void
bucket_release(struct bucket *bucket)
{
    zone_close(bucket->zone);
    bucket->zone = NULL;
}

/* Returns the bucket that `second` is in, a time of the years 1 to 9999. */
struct bucket_span bucket_of(const struct bucket *bucket, int64_t second);

/* Replaces a string that is a time (see words.h) by a TIMESTAMP. */
void bucket_read_time(struct colander_value *value);

/* Returns whether the value is a TIMESTAMP of these years. */
bool bucket_has(const struct colander_value *value);

#endif
