/*
 * A stranger's program that loads a CSV file of two records, and fails unless
 * both are found.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/load.h>

#include <stdio.h>

static enum colander_code
load(struct colander_store *store, struct colander_family *family,
     const char *file, struct colander_error *err)
{
    const char *key[] = {"id"};
    struct colander_schema *schema = NULL;
    struct colander_load_options options;
    struct colander_load *load = NULL;
    enum colander_code code;

    colander_load_options_init(&options);
    options.key = key;
    options.key_count = 1;
    code = colander_schema_open("sensor", &schema, err);
    options.schema = schema;
    if (code == COLANDER_OK)
        code = colander_load_create(store, family, &options, &load, err);
    if (code == COLANDER_OK)
        code = colander_load_run(load, &file, 1, err);
    if (code == COLANDER_OK && colander_load_stats(load)->row_count != 2)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "not all rows were loaded");
    colander_load_destroy(load);
    colander_schema_close(schema);
    return code;
}

int
main(int argc, char **argv)
{
    struct colander_store *store = NULL;
    struct colander_family *family = NULL;
    struct colander_error err;
    enum colander_code code;

    if (argc != 3)
        return 2;
    code = colander_store_open(argv[1], NULL, &store, &err);
    if (code == COLANDER_OK)
        code = colander_family_open(store, "cities", &family, &err);
    if (code == COLANDER_OK)
        code = load(store, family, argv[2], &err);
    if (code != COLANDER_OK)
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
    colander_family_close(family);
    return colander_store_close(store, NULL) != COLANDER_OK ||
           code != COLANDER_OK;
}
