/*
 * Options: their rules, and the record of those that a store keeps.
 *
 * The record is the file COLANDER, which also marks a directory as a store. It
 * is text, described in FORMAT.md.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_OPTIONS_H
#define COLANDER_CORE_OPTIONS_H

#include "core/core.h"

/* The newest store format that this code reads, and the one it writes. Format 1
 * has no identity, and is written if that is not known. */
#define OPTIONS_FORMAT 2

/* A longer file is not a record. */
#define OPTIONS_RECORD_SIZE_MAX 4096

/* The identity of the database that a record belongs to: letters, digits and
 * '-'. Empty: not known. */
struct store_identity {
    char text[64];
};

/* Whether the text is one of a database. */
bool store_identity_is_valid(struct colander_slice text);

/* Fails with INVALID, naming the option, if a value is out of range. */
COLANDER_CHECKED enum colander_code
options_check(const struct colander_options *options,
              struct colander_error *err);

/* Sets `options` to those given (NULL: the defaults), and checks them. */
COLANDER_CHECKED enum colander_code
budget_options_accept(struct colander_budget_options *options,
                      const struct colander_budget_options *given,
                      struct colander_error *err);

/* Replaces the options that a budget has for all its stores. */
void options_set_budget(struct colander_options *options,
                        const struct colander_budget_options *budget);

/* Sets the default of each kept option that is KEEP or 0. */
void options_fill_kept(struct colander_options *options);

/*
 * Completes `options` from those `kept` in the store. Fails with INVALID if
 * they change what is fixed when a store is created.
 */
COLANDER_CHECKED enum colander_code
options_merge_kept(struct colander_options *options,
                   const struct colander_options *kept,
                   struct colander_error *err);

/* Replaces `record` by the kept options, which must be complete. */
COLANDER_CHECKED enum colander_code
options_encode(const struct colander_options *options,
               const struct store_identity *identity,
               struct colander_buffer *record, struct colander_error *err);

/*
 * Fills the kept options of `options`, and the identity. Fails with TOO_NEW for
 * a newer format, and with CORRUPT for what options_encode did not write.
 */
COLANDER_CHECKED enum colander_code
options_decode(struct colander_slice record, struct colander_options *options,
               struct store_identity *identity, struct colander_error *err);

#endif
