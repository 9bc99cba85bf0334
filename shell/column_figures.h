/*
 * Column figures: which columns a family has, as far as a sample of its rows
 * tells, for people and programs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COLUMN_FIGURES_H
#define SHELL_COLUMN_FIGURES_H

#include "shell/census.h"
#include "shell/report.h"

struct column_figures {
    struct census *census;
    struct census_sample sample;
    const struct census_column **columns; /* those in most rows first */
};

/* Looks at some 10,000 rows at most. Release them also on failure. */
COLANDER_CHECKED enum colander_code
column_figures_read(struct column_figures *figures,
                    struct colander_family *family, struct colander_error *err);

void column_figures_release(struct column_figures *figures);

/* Adds a line for each of the first columns, and how many more there are;
 * `key_count`: rows of the family, about. */
void column_figures_add(const struct column_figures *figures,
                        uint64_t key_count, struct report *report);

/* Adds it to a row, up to a thousand columns. */
void column_figures_add_columns(const struct column_figures *figures,
                                struct colander_row_builder *builder);

/* Adds what there is to tell of one column to the row or map under way: its
 * path, the rows that have it, and how many values it has of which types. */
void column_figures_describe(const struct census_column *column,
                             struct colander_row_builder *builder);

#endif
