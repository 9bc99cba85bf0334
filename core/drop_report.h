/*
 * The report of what opens dropped from the logs, in a file of the store until
 * an open has reported it.
 *
 * An open that cuts a log may fail later, or be killed. The next one finds a
 * log that looks complete. So the report is on the disk before anything is
 * dropped, and is removed when a store was opened for writing. If several opens
 * are killed, its number of bytes may be too high.
 *
 * Life: read -> write -> (logs are cut, RocksDB opens) -> remove
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_DROP_REPORT_H
#define COLANDER_CORE_DROP_REPORT_H

#include "core/core.h"

#define DROP_REPORT_FILE "DROPPED"
#define DROP_REPORT_NEW DROP_REPORT_FILE ".new"

/* Adds what earlier opens dropped and did not report. Damage counts as no
 * report. Fails with IO. */
COLANDER_CHECKED enum colander_code
drop_report_add(int directory, struct colander_recovery *recovery,
                struct colander_error *err);

/* Replaces the report. All is synced. Fails with IO. */
COLANDER_CHECKED enum colander_code
drop_report_write(int directory, const struct colander_recovery *recovery,
                  struct colander_error *err);

/* Removes the report. A failure is ignored. */
void drop_report_remove(int directory);

#endif
