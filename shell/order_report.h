/*
 * Order reports: what value filters have of the order of a column, and why they
 * have nothing. Without filters they are empty.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_ORDER_REPORT_H
#define SHELL_ORDER_REPORT_H

#include "colander.h"
#include "shell/report.h"

/* Adds "in order: 26,312 bytes (90 listed values, 12 groups)" or "no order:
 * over the budget", of all these families together; nothing if they have no
 * value in the column. */
void order_report_add(struct colander_family *const *families, size_t count,
                      const char *path, struct report *report);

/* Adds the map "order" with the same to a row, unless it is nothing. */
COLANDER_CHECKED enum colander_code
order_report_add_columns(struct colander_family *family, const char *path,
                         struct colander_row_builder *builder,
                         struct colander_error *err);

#endif
