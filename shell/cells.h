/*
 * Cells: what a row shows, one after another: its key, the columns that
 * matched, its columns or those selected.
 *
 * For people, texts are printable and long values are cut; for programs they
 * are exact: strings as they are, binaries and timestamps as in JSON but for
 * the quotes, all else as JSON.
 *
 * Life:   a zeroed struct, the options set -> give* -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CELLS_H
#define SHELL_CELLS_H

#include "shell/output.h"

#define CELLS_MATCHED_COLUMN "_matched"

enum cell_kind { CELL_KEY, CELL_MATCHES, CELL_COLUMN };

/* Texts are borrowed until the taker returns. */
struct cell {
    enum cell_kind kind;
    struct colander_slice name;
    struct colander_slice text;
    bool is_number; /* or missing */
    bool is_empty;  /* missing or null */
};

typedef enum colander_code (*cell_taker)(void *taker, const struct cell *cell,
                                         struct colander_error *err);

struct cells {
    const struct output_options *options; /* borrowed */
    size_t size_max;                      /* bytes of a value worth showing */
    bool is_exact;                        /* for programs */
    struct colander_buffer name;          /* of the cell under way */
    struct colander_buffer text;
};

/* Gives each cell of the row to `take`, until that fails. */
COLANDER_CHECKED enum colander_code
cells_give(struct cells *cells, const struct colander_result *result,
           cell_taker take, void *taker, struct colander_error *err);

/* Gives the cells that every row has, as missing: key, matches, selection. */
COLANDER_CHECKED enum colander_code
cells_give_names(struct cells *cells, cell_taker take, void *taker,
                 struct colander_error *err);

/* Gives the cells of the row's own columns, as missing. */
COLANDER_CHECKED enum colander_code
cells_give_row_names(struct cells *cells, struct colander_slice row,
                     cell_taker take, void *taker, struct colander_error *err);

/* Appends the paths as a JSON array. */
COLANDER_CHECKED enum colander_code
cells_append_matches(struct colander_buffer *json,
                     const struct colander_columns *columns,
                     struct colander_error *err);

void cells_release(struct cells *cells);

#endif
