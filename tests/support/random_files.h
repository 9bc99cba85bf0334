/*
 * SST files of random rows, and finds in them compared with scans.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_RANDOM_FILES_H
#define TESTS_SUPPORT_RANDOM_FILES_H

#include "support/compared_finds.h"

#define KEYS 900

/* Writes random rows, flushed into `files` files. */
static inline void
write_files(struct store_fixture *fixture, struct colander_family *family,
            unsigned files, uint64_t *random)
{
    for (unsigned i = 0; i < files; i++) {
        put_random_rows(fixture, family, KEYS, KEYS / 3, random);
        OK(colander_family_flush(family, NULL));
    }
}

static inline void
compare_some(struct store_fixture *fixture, struct colander_family *family,
             uint64_t *random, struct find_counts *counts)
{
    compare_random_finds(fixture->store, family, KEYS, 60, random, counts);
}

#endif
