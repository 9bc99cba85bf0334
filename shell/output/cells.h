/*
 * Cells: what is printed of a row, one after another: its key, the columns that
 * matched, its columns or the selected ones.
 *
 * For people, texts are printable and long values are cut. For programs they
 * are exact: strings as they are, binaries and timestamps as in JSON without
 * the quotes, other values as in JSON.
 *
 * Life:   a zeroed struct, the options set -> pass* -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_OUTPUT_CELLS_H
#define SHELL_OUTPUT_CELLS_H

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
    bool is_container;
};

typedef enum colander_code (*cell_taker)(void *taker, const struct cell *cell,
                                         struct colander_error *err);

struct cells {
    const struct output_options *options; /* borrowed */
    size_t size_max;             /* bytes of a value that are printed */
    bool is_exact;               /* for programs */
    cell_taker take;             /* of the current row, */
    void *taker;                 /* and its first argument */
    struct colander_buffer name; /* of the current cell */
    struct colander_buffer text;
};

/* Passes each cell of the row to `take`, until that fails. If `result` is NULL,
 * passes the cells that every row has, as missing: key, matches, selection. */
COLANDER_CHECKED enum colander_code
cells_pass(struct cells *cells, const struct colander_result *result,
           cell_taker take, void *taker, struct colander_error *err);

/* Passes the cells of the columns of the row, as missing. */
COLANDER_CHECKED enum colander_code
cells_pass_row_names(struct cells *cells, struct colander_slice row,
                     cell_taker take, void *taker, struct colander_error *err);

void cells_release(struct cells *cells);

#endif
