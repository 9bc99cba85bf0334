/*
 * Files of random rows, and finds in them compared with scans.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_RANDOM_FILES_H
#define TESTS_SUPPORT_RANDOM_FILES_H

#include "support/compared_finds.h"

#define KEYS 900

/* Writes random rows, flushed in `files` files. */
static inline void
write_files(struct store_fixture *fixture, struct colander_family *family,
            unsigned files, uint64_t *random)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    for (unsigned i = 0; i < files; i++) {
        for (unsigned k = 0; k < KEYS / 3; k++) {
            random_key(random, KEYS, &key);
            OK(colander_family_put(family, colander_buffer_slice(&key),
                                   random_row(fixture->builder, random),
                                   COLANDER_AS_STORE, NULL));
        }
        OK(colander_family_flush(family, NULL));
    }
    colander_buffer_release(&key);
}

static inline void
compare_some(struct store_fixture *fixture, struct colander_family *family,
             uint64_t *random, struct find_counts *counts)
{
    compare_random_finds(fixture->store, family, KEYS, 60, random, counts);
}

#endif
