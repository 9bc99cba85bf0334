/*
 * Cold files: see bench_cold.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_cold.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_SHARE_MAX 0.01 /* more than that calls for dropping everything */

/* nftw has no room for a context. */
static struct {
    bool forgets; /* else it only counts */
    uint64_t page_count;
    uint64_t kept_count;
} visit;

/* Pages of a file, and how many of them are in memory: all, in doubt. */
static void
count_pages(int file, size_t size)
{
    const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    const size_t count = (size + page_size - 1) / page_size;
    unsigned char *pages = bench_allocate(count, 1);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    const bool is_known = map != MAP_FAILED && mincore(map, size, pages) == 0;

    visit.page_count += count;
    for (size_t i = 0; i < count; i++)
        visit.kept_count += !is_known || (pages[i] & 1) != 0;
    if (map != MAP_FAILED)
        (void)munmap(map, size);
    free(pages);
}

/* Only what is on the storage can be forgotten: what is not is written. */
static int
visit_file(const char *path, const struct stat *status, int kind,
           struct FTW *place)
{
    int file;

    (void)place;
    if (kind != FTW_F || status->st_size == 0)
        return 0;
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0; /* the store removed it meanwhile */
    if (visit.forgets) {
        (void)fdatasync(file);
        (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    }
    count_pages(file, (size_t)status->st_size);
    (void)close(file);
    return 0;
}

/* Gives the share that is kept. */
static double
visit_files(const char *directory, bool forgets)
{
    visit.forgets = forgets;
    visit.page_count = 0;
    visit.kept_count = 0;
    (void)nftw(directory, visit_file, 16, FTW_PHYS);
    if (visit.page_count == 0)
        return 0;
    return (double)visit.kept_count / (double)visit.page_count;
}

static bool
drop_all(void)
{
    int file = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
    bool is_done = false;

    if (file >= 0) {
        is_done = write(file, "1", 1) == 1;
        (void)close(file);
    }
    return is_done;
}

void
bench_cold_make(struct bench_cold *cold, const char *directory)
{
    double share = visit_files(directory, true);

    if (share > KEPT_SHARE_MAX) {
        if (drop_all())
            cold->has_dropped_all = true;
        else
            cold->was_refused = true;
        share = visit_files(directory, false);
    }
    if (share > cold->share_max)
        cold->share_max = share;
}

const char *
bench_cold_about(const struct bench_cold *cold)
{
    static char text[400];

    (void)snprintf(
        text, sizeof(text),
        "The system was asked to forget the files%s; at most %.2g %% of their "
        "pages stayed in memory%s.",
        cold->has_dropped_all ? " (posix_fadvise) and, where it kept them, "
                                "everything (drop_caches)"
                              : " (posix_fadvise)",
        100 * cold->share_max,
        cold->was_refused ? ", as dropping everything was not permitted" : "");
    return text;
}
