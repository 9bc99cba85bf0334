/*
 * Filter figures: what the value filters of a family are like, told to people
 * and to programs. A program built without value filters tells none.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_FILTER_FIGURES_H
#define SHELL_FILTER_FIGURES_H

#include "colander.h"
#include "shell/report.h"

#ifdef COLANDER_FILTERS

struct filter_figures {
    struct colander_filter_stats stats;
    struct colander_filter_measure measure;
    struct colander_filter_options options;
};

/* Waits until the filters are known, so that the figures are of all. Release
 * them also on failure. */
COLANDER_CHECKED enum colander_code
filter_figures_read(struct filter_figures *figures,
                    struct colander_family *family, struct colander_error *err);

void filter_figures_release(struct filter_figures *figures);

/* Adds the lines of the family. */
void filter_figures_add(const struct filter_figures *figures,
                        struct report *report);

/* Adds the lines of the whole store: what befell filters since it was
 * opened. */
void filter_figures_add_store(const struct filter_figures *figures,
                              struct report *report);

/* Adds all of it to a row. */
void filter_figures_add_columns(const struct filter_figures *figures,
                                struct colander_row_builder *builder);

#else

struct filter_figures {
    char none;
};

static inline enum colander_code
filter_figures_read(struct filter_figures *figures,
                    struct colander_family *family, struct colander_error *err)
{
    (void)figures;
    (void)family;
    (void)err;
    return COLANDER_OK;
}

static inline void
filter_figures_release(struct filter_figures *figures)
{
    (void)figures;
}

static inline void
filter_figures_add(const struct filter_figures *figures, struct report *report)
{
    (void)figures;
    (void)report;
}

static inline void
filter_figures_add_store(const struct filter_figures *figures,
                         struct report *report)
{
    (void)figures;
    (void)report;
}

static inline void
filter_figures_add_columns(const struct filter_figures *figures,
                           struct colander_row_builder *builder)
{
    (void)figures;
    (void)builder;
}

#endif

#endif
