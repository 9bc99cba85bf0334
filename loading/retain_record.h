/*
 * Retain records: records of a stream that delete the rows which are older than
 * a time that they name.
 *
 *     {"time": "at", "before": "2026-01-01T00:00:00Z"}
 *
 * So what is deleted depends on the records alone, and on no clock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_RETAIN_RECORD_H
#define LOADING_RETAIN_RECORD_H

#include "columns/columns.h"

#define RETAIN_RECORD_MAX 4096 /* bytes */

/* Makes the predicate that old rows match: there is a TIMESTAMP in the column
 * `time`, and none is `before` or later. Fails with INVALID if the text is not
 * such a record. */
COLANDER_CHECKED enum colander_code
retain_record_read(struct colander_slice text,
                   struct colander_predicate **where,
                   struct colander_error *err);

#endif
