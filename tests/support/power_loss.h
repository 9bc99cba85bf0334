/*
 * A machine that loses its power: what this program wrote to files and did not
 * sync is lost, in part, and the program ends.
 *
 * power_loss.c stands in for the system calls that change files, also for those
 * of the libraries: link it into the program. What it cannot see is written by
 * the C library's streams.
 *
 * As a file system may after a loss:
 *   - bytes that were not synced are there or not; of a file either up to some
 *     byte in the order in which they were written, or here and there, where
 *     what is missing reads as zeros or as it was before;
 *   - files that were made, renamed, linked or removed are so only up to some
 *     moment, unless their directory was synced since.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_POWER_LOSS_H
#define TESTS_SUPPORT_POWER_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on changes below `directory`, an absolute path, can be lost; before
 * the one of that number they are, and this process is killed. `only`: of those
 * of files with this in their names; NULL: of all. `is_kill`: it is killed, and
 * nothing is lost. Syncs do not wait for the disk. Once. */
void power_loss_begin(const char *directory, uint64_t number, const char *only,
                      uint64_t seed, bool is_kill);

#endif
