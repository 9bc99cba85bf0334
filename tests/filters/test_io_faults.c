/*
 * Stores on a failing disk: the N-th read, write, sync and so on fails, for
 * every N of a process, once or until the fault is repaired (invariants I1, I2,
 * I5, I6). Each call succeeds or reports an error, and nothing crashes, hangs
 * or leaks. A store that is opened again has what was acknowledged, and can be
 * written.
 *
 * The process is this program, started again. COLANDER_RUNS sets the number of
 * calls at which each kind of failure is tried; fewer calls are all tried.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/fault_runs.h"
#include "support/scoped.h"

static const struct plan plans[] = {
    {"read-once", {FAULT_READ, 0, EIO, false, false}},
    {"read-always", {FAULT_READ, 0, EIO, false, true}},
    {"write-once", {FAULT_WRITE, 0, EIO, false, false}},
    {"write-always", {FAULT_WRITE, 0, EIO, false, true}},
    {"write-short", {FAULT_WRITE, 0, EIO, true, false}},
    {"write-short-always", {FAULT_WRITE, 0, EIO, true, true}},
    {"full-once", {FAULT_WRITE, 0, ENOSPC, false, false}},
    {"full-always", {FAULT_WRITE, 0, ENOSPC, false, true}},
    {"full-short-always", {FAULT_WRITE, 0, ENOSPC, true, true}},
    {"sync-once", {FAULT_SYNC, 0, EIO, false, false}},
    {"sync-always", {FAULT_SYNC, 0, EIO, false, true}},
    {"open-once", {FAULT_OPEN, 0, EMFILE, false, false}},
    {"open-always", {FAULT_OPEN, 0, EIO, false, true}},
    {"name-once", {FAULT_NAME, 0, EIO, false, false}},
    {"name-always", {FAULT_NAME, 0, ENOSPC, false, true}},
    {"room-once", {FAULT_ROOM, 0, EIO, false, false}},
    {"room-always", {FAULT_ROOM, 0, ENOSPC, false, true}},
};

#define PLANS COUNT(plans)

TEST(a_disk_that_fails_loses_and_invents_nothing)
{
    SCOPED(runs_release) struct runs runs;

    runs_init(&runs, __func__);
    run_plans(&runs, "--run", plans, PLANS, random_runs(1));
}

ROLE(run)
{
    return run_process(arguments, find_plan(plans, PLANS, arguments[4]), NULL);
}
