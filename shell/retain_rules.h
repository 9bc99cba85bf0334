/*
 * The rules of a policy of retention: whether their conditions are those that
 * were meant, and for how many rows they count. A mistake in them deletes rows
 * that were to be kept.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_RETAIN_RULES_H
#define SHELL_RETAIN_RULES_H

#include "colander.h"
#include "shell/report.h"

/* Adds "3d, where level=debug". */
void retain_rule_add(struct report *report, const struct colander_keep *keep);

/* As colander_family_check_keep, but adds what it fails with NOT_FOUND for to
 * the doubts. */
COLANDER_CHECKED enum colander_code
retain_rule_check(struct colander_family *family,
                  const struct colander_retention *retention, size_t index,
                  struct colander_fault *fault, struct report *doubts,
                  struct colander_error *err);

/* Adds lines with the number of rows that each rule counts for, unless there is
 * only one, for all rows: a rule for too few or too many was perhaps written
 * otherwise than it was meant. */
COLANDER_CHECKED enum colander_code
retain_rules_count(struct colander_family *family,
                   const struct colander_retention *retention,
                   struct report *report, struct colander_error *err);

#endif
