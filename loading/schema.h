/*
 * Schema: a schema in memory. schema_lua.h fills it from a file.
 *
 * Life:    schema_create -> set members, schema_add_* -> use ->
 *          colander_schema_close
 * Threads: may be read by many threads at once
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_SCHEMA_H
#define LOADING_SCHEMA_H

#include "loading/column_kind.h"
#include "loading/column_tree.h"
#include "loading/load.h"

/* A list of texts, owned. */
struct schema_texts {
    char **texts;
    size_t count;
    size_t capacity;
};

struct colander_schema {
    char *name;                  /* for messages; owned */
    struct colander_buffer text; /* that it was read from; empty: from none */
    char *record; /* path of the map in a record that is the row: owned; NULL:
                   * the record itself is, as where there is no such map */
    char *time;   /* path of the family's time column: owned; NULL: none */
    struct schema_texts key;        /* paths of the key columns */
    struct schema_texts nulls;      /* texts of CSV that are null: "NA" */
    struct schema_texts unfiltered; /* columns without value filters */
    struct column_node *columns;    /* with types; owned; NULL: none */
    char delimiter;                 /* of CSV; 0: guessed */

    /* of a load, for each key column: */
    uint8_t key_kinds[COLANDER_KEY_PARTS_MAX]; /* enum column_kind of CSV;
                                                * GUESSED: by the file */
    bool key_is_added[COLANDER_KEY_PARTS_MAX]; /* to the records */

    bool hashes; /* the key is a hash of the record, of no columns (false) */

    bool guesses;       /* types of CSV; false: texts are strings (true) */
    uint64_t time_unit; /* of a load: nanoseconds, of line protocol (1) */

    /* of a family that the load creates; 0: the default */
    double fp_rate;
    double bits_per_value;
    uint32_t rows_per_segment; /* UINT32_MAX: the default */
};

/* Makes it empty: everything is read as without a schema. */
void schema_init(struct colander_schema *schema);

/* Returns an empty one, NULL without memory. Close it with
 * colander_schema_close. */
struct colander_schema *schema_create(void);

/* Adds a copy. */
COLANDER_CHECKED enum colander_code
schema_texts_add(struct schema_texts *texts, const char *text,
                 struct colander_error *err);

/* Adds copies. Fails with INVALID if the path or time format is wrong, or the
 * path is there already and not replaced. */
COLANDER_CHECKED enum colander_code
schema_add_column(struct colander_schema *schema, const char *path,
                  const struct value_reading *reading, bool replaces,
                  struct colander_error *err);

/* Returns how the CSV column `name`, which is not a path, is read; NULL if the
 * schema does not say. */
const struct value_reading *
schema_csv_column(const struct colander_schema *schema,
                  struct colander_slice name);

#endif
