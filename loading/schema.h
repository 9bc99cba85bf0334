/*
 * Schema: how records of a known kind are read. It never says what they may
 * contain: a record that fits none of it is stored as it is.
 *
 * This is the schema in memory. Whoever reads a schema file (which is Lua, and
 * so not the business of this folder) fills one in.
 *
 * Life:    schema_create -> fields set, schema_add_* -> loads -> destroy
 * Threads: read by many at once, once it is filled in
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_SCHEMA_H
#define LOADING_SCHEMA_H

#include "loading/typed_value.h"

/* A list of texts, owned. */
struct schema_texts {
    char **texts;
    size_t count;
};

/* How one column is read. `path` is as in predicates, each written in one way
 * only; in CSV the name of a column is a path of one name. */
struct schema_column {
    char *path;                   /* owned */
    struct value_reading reading; /* its time_format is owned */
};

struct schema {
    char *name;   /* for messages; owned */
    char *record; /* path of the map in a record that is the row: owned; NULL:
                   * the record itself is, as where there is no such map */
    struct schema_texts key;       /* paths of the columns that make the key */
    struct schema_texts nulls;     /* texts of CSV that are null: "NA" */
    struct schema_texts left_out;  /* columns that value filters leave out */
    struct schema_column *columns; /* that guesses get wrong */
    size_t column_count;
    char delimiter; /* of CSV; 0: as the file has it */
    bool guesses;   /* types of CSV; false: texts are strings (true) */

    /* of the family, where the load creates it; 0: as always */
    double fp_rate;
    double bits_per_value;
    uint32_t rows_per_segment; /* UINT32_MAX: as always */
};

/* An empty one, which reads everything as if there were none; NULL when
 * memory is short. */
struct schema *schema_create(void);

/* NULL is allowed. */
void schema_destroy(struct schema *schema);

/* Adds a copy. */
COLANDER_CHECKED enum colander_code
schema_texts_add(struct schema_texts *texts, const char *text,
                 struct colander_error *err);

/* Frees the texts; the list is empty. */
void schema_texts_release(struct schema_texts *texts);

/* Says whether `path` is one: INVALID or LIMIT, with the place. */
COLANDER_CHECKED enum colander_code
schema_check_path(const char *path, struct colander_error *err);

/* Adds copies. INVALID for a path that is none, or that is there already, and
 * for a time format that is none. */
COLANDER_CHECKED enum colander_code
schema_add_column(struct schema *schema, const char *path,
                  const struct value_reading *reading,
                  struct colander_error *err);

/* How the column of CSV called `name` (as it is, no path) is read: NULL when
 * the schema does not say. */
const struct value_reading *schema_csv_column(const struct schema *schema,
                                              struct colander_slice name);

#endif
