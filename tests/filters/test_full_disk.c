/*
 * Stores on a disk that fills up, and then has free space again (invariants I2,
 * I5, I6): each call succeeds or reports an error, what was acknowledged
 * exists, and a store that is opened again can be written.
 *
 * The disk fills up at 25 points of a process: at some of them in a file system
 * in memory, if this program may mount one, at the others in simulated system
 * calls. The process is this program, started again. COLANDER_RUNS sets the
 * number of points of each kind.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/fault_runs.h"
#include "support/scoped.h"

#include <sys/mount.h>
#include <sys/statvfs.h>

/* The file system in memory. */
#define DISK_SIZE (4u << 20)

static void
ballast_path(const char *store, char path[TEMPORARY_SIZE + 32])
{
    (void)snprintf(path, TEMPORARY_SIZE + 32, "%s.ballast", store);
}

/* Leaves this many bytes free on the disk; 0: none. */
static void
fill_disk(const char *ballast, uint64_t room)
{
    int fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct statvfs disk;
    uint64_t left;

    assert_true(fd >= 0);
    ZERO(fstatvfs(fd, &disk));
    left = (uint64_t)disk.f_bavail * disk.f_bsize;
    if (left > room)
        ZERO(posix_fallocate(fd, 0, (off_t)(left - room)));
    close(fd);
}

/* A process on a nearly full disk, which gets more space at the end. */
ROLE(full)
{
    const bool is_mounted = strcmp(arguments[4], "tmpfs") == 0;
    char ballast[TEMPORARY_SIZE + 32];
    struct process process;

    process_begin(&process, arguments);
    ballast_path(arguments[2], ballast);
    process.scenario.is_full = true;
    if (is_mounted)
        fill_disk(ballast, process.number);
    if (is_mounted)
        faults_begin(arguments[2], NULL);
    else
        faults_begin_room(arguments[2], process.number);
    run_with_faults(&process.scenario);
    faults_repair();
    if (is_mounted)
        ZERO(unlink(ballast));
    run_repaired(&process.scenario, process.is_killed);
    return process_end(&process);
}

/* Fills the disk at evenly spread points, up to one where everything fits. */
static void
fill_at_points(struct runs *runs, const char *what, uint64_t points,
               uint64_t most)
{
    for (uint64_t i = 0; i <= points; i++)
        run_once(runs, "--full", what, most * i / points,
                 random_below(&runs->random, 2) == 0);
    assert_int_equal(atomic_load(&runs->progress->failed_count), 0);
}

TEST(a_disk_with_room_for_some_bytes)
{
    SCOPED(runs_release) struct runs runs;

    runs_init(&runs, __func__);
    make_killed(&runs, "--full", "room", UINT64_MAX);
    run_once(&runs, "--full", "room", UINT64_MAX, false);
    fill_at_points(&runs, "room", random_runs(6),
                   atomic_load(&runs.progress->written) * 5 / 4);
    assert_true(runs.failed_count > 0);
}

TEST(a_small_file_system_that_fills_up)
{
    struct runs runs;
    char disk[TEMPORARY_SIZE + 8];
    char size[32];

    runs_init(&runs, __func__);
    (void)snprintf(size, sizeof(size), "size=%u", DISK_SIZE);
    (void)snprintf(disk, sizeof(disk), "%s/disk", runs.directory);
    (void)snprintf(runs.store, sizeof(runs.store), "%s/store", disk);
    ZERO(mkdir(disk, 0700));
    if (mount("tmpfs", disk, "tmpfs", 0, size) != 0) {
        printf("no file system can be mounted here (%s): only with simulated "
               "system calls\n",
               strerror(errno));
        runs_release(&runs);
        skip();
    }
    make_killed(&runs, "--full", "room", UINT64_MAX);
    fill_at_points(&runs, "tmpfs", random_runs(8), DISK_SIZE / 2);
    assert_true(runs.failed_count > 0);
    ZERO(umount2(disk, MNT_DETACH));
    runs_release(&runs);
}
