/*
 * A machine that loses power: part of what this program wrote to files and did
 * not sync is lost, and the program ends.
 *
 * power_loss.c replaces the system calls that change files, also for the
 * libraries: link it into the program. It does not see writes made through the
 * C library's streams.
 *
 * As on a file system after a power loss:
 *   - bytes that were not synced are there or not; of a file either up to some
 *     byte in the order of the writes, or scattered, with zeros or the old
 *     bytes where some are missing;
 *   - files that were created, renamed, linked or removed are so only up to
 *     some moment, unless their directory was synced since.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_POWER_LOSS_H
#define TESTS_SUPPORT_POWER_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on changes in `directory`, an absolute path, can be lost. Before the
 * change with this number they are lost, and this process is killed. `only`
 * counts only changes of files with this in their names; NULL: all. With
 * `is_kill` it is killed, and nothing is lost. Syncs do not wait for the disk.
 * Call once. */
void power_loss_begin(const char *directory, uint64_t number, const char *only,
                      uint64_t seed, bool is_kill);

#endif
