/*
 * Key columns: what is known of the columns of the key before a load writes
 * anything.
 *
 * A text must lead to one key in every file. So how a key column of CSV is read
 * is decided once: by the keys of the family if it has rows, or else by the
 * first records of all files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_KEY_COLUMNS_H
#define LOADING_KEY_COLUMNS_H

#include "loading/source.h"

/*
 * Sets the key kinds of `schema`, which is that of the options, from the family
 * and the files. A kind stays undecided if no file can be read twice, as a
 * pipe. Fails with INVALID if a CSV file lacks a key column. Other faults of a
 * file are left to its load.
 */
COLANDER_CHECKED enum colander_code key_columns_inspect(
    struct colander_family *family, const struct colander_load_options *options,
    struct colander_schema *schema, const atomic_bool *is_cancelled,
    const char *const *files, size_t count, struct colander_error *err);

/* Sets key kinds that are undecided to those of the open file. Fails with
 * INVALID if a CSV file lacks a key column. */
COLANDER_CHECKED enum colander_code
key_columns_take(const struct source *source, struct colander_schema *schema,
                 struct colander_error *err);

#endif
