/*
 * The report of what was dropped: see drop_report.h. The file:
 *
 *     0   "colander dropped 1\n" and zeros to 24
 *     24  bytes dropped
 *     32  1 if there is a gap, or 0
 *     40  the name of the log, zeros to 72
 *     72  XXH3, 64 bits, of all before
 *
 * All numbers are of 64 bits, little-endian.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/drop_report.h"

#include "core/bytes.h"
#include "core/files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC "colander dropped 1\n"
#define SIZE_AT 24
#define GAP_AT 32
#define NAME_AT 40
#define SUM_AT 72
#define REPORT_SIZE 80

static_assert(SUM_AT - NAME_AT ==
                  sizeof(((struct colander_recovery *)NULL)->dropped_file),
              "the name fits");

/* An open that was killed before it had cut the log leaves the same bytes to
 * the next. These count once, as the named log is cut last. */
static void
add(const uint8_t *report, struct colander_recovery *recovery)
{
    const char *name = (const char *)report + NAME_AT;
    const uint64_t size = bytes_get_le64(report + SIZE_AT);

    if (strcmp(name, recovery->dropped_file) != 0)
        recovery->dropped_size += size;
    else if (recovery->dropped_size < size)
        recovery->dropped_size = size;
    recovery->has_gap |= bytes_get_le64(report + GAP_AT) != 0;
    memcpy(recovery->dropped_file, name, SUM_AT - NAME_AT);
}

enum colander_code
drop_report_add(int directory, struct colander_recovery *recovery,
                struct colander_error *err)
{
    uint8_t report[REPORT_SIZE];
    ssize_t size;
    int fd;
    enum colander_code code =
        files_open(directory, DROP_REPORT_FILE, O_RDONLY, &fd, err);

    if (code != COLANDER_OK)
        return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
    size = pread(fd, report, sizeof(report), 0);
    if (size < 0)
        code = files_fail(err, "read", DROP_REPORT_FILE);
    (void)close(fd);
    if (size == REPORT_SIZE && memcmp(report, MAGIC, sizeof(MAGIC)) == 0 &&
        XXH3_64bits(report, SUM_AT) == bytes_get_le64(report + SUM_AT) &&
        report[SUM_AT - 1] == '\0')
        add(report, recovery);
    return code;
}

enum colander_code
drop_report_write(int directory, const struct colander_recovery *recovery,
                  struct colander_error *err)
{
    uint8_t report[REPORT_SIZE] = MAGIC;

    bytes_put_le64(report + SIZE_AT, recovery->dropped_size);
    bytes_put_le64(report + GAP_AT, recovery->has_gap);
    memcpy(report + NAME_AT, recovery->dropped_file, SUM_AT - NAME_AT);
    bytes_put_le64(report + SUM_AT, XXH3_64bits(report, SUM_AT));
    return files_replace(directory, DROP_REPORT_FILE, DROP_REPORT_NEW,
                         colander_slice_of(report, sizeof(report)), err);
}

void
drop_report_remove(int directory)
{
    if (unlinkat(directory, DROP_REPORT_FILE, 0) != 0 ||
        files_sync_names(directory, ".", NULL) != COLANDER_OK)
        return; /* then the report is given once more */
}
