/*
 * Options: their rules, and the record of those that a store keeps.
 *
 * The record is the file COLANDER, which also marks a directory as a store.
 * It is text, so that people can read it; FORMAT.md has its grammar.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_OPTIONS_H
#define COLANDER_CORE_OPTIONS_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The newest store format that this code reads, and the one it writes. */
#define OPTIONS_FORMAT 1

/* A record is a few short lines; a longer file is none. */
#define OPTIONS_RECORD_SIZE_MAX 4096

/* Says INVALID, naming the option, when a value is out of range. */
COLANDER_CHECKED enum colander_code
options_check(const struct colander_options *options,
              struct colander_error *err);

/* Replaces every KEEP and 0 among the kept options by its default. */
void options_fill_kept(struct colander_options *options);

/*
 * Completes `options` from the `kept` ones of an existing store. INVALID when
 * they ask for what cannot be changed any more.
 */
COLANDER_CHECKED enum colander_code
options_merge_kept(struct colander_options *options,
                   const struct colander_options *kept,
                   struct colander_error *err);

/* Whether the kept options are the same. */
bool options_same_kept(const struct colander_options *a,
                       const struct colander_options *b);

/* Replaces the content of `record` by the kept options, which are complete. */
COLANDER_CHECKED enum colander_code
options_encode(const struct colander_options *options,
               struct colander_buffer *record, struct colander_error *err);

/*
 * Fills the kept options of `options`. TOO_NEW for a newer format, CORRUPT
 * for anything that options_encode did not write.
 */
COLANDER_CHECKED enum colander_code
options_decode(struct colander_slice record, struct colander_options *options,
               struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
