/*
 * Load: load a CSV file into a family, then print all rows as JSON. A record
 * that cannot be read is reported, and the load continues.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>
#include <colander/load.h>

#include <err.h>
#include <stdio.h>

static const char csv[] = "city,year,rain\n"
                          "Lyon,2019,832.5\n"
                          "Oslo,2019\n"
                          "Oslo,2020,763\n";

static void
report(void *context, const struct colander_load_reject *reject)
{
    (void)context;
    printf("line %llu: %s\n", (unsigned long long)reject->line, reject->reason);
}

static void
make_file(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || fputs(csv, file) == EOF || fclose(file) != 0)
        err(1, "cannot write %s", path);
}

static enum colander_code
load(struct colander_store *store, struct colander_family *family,
     const char *file, struct colander_error *err)
{
    const char *const key[] = {"city", "year"};
    struct colander_load_options options;
    struct colander_load *load;
    enum colander_code code;

    colander_load_options_init(&options);
    options.format = "csv";
    options.key = key;
    options.key_count = 2;
    options.report_reject = report;
    code = colander_load_create(store, family, &options, &load, err);
    if (code == COLANDER_OK)
        code = colander_load_run(load, &file, 1, err);
    if (code == COLANDER_OK)
        printf("%llu rows\n",
               (unsigned long long)colander_load_stats(load)->row_count);
    colander_load_destroy(load);
    return code;
}

static enum colander_code
print_rows(struct colander_family *family, struct colander_error *err)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct colander_cursor *cursor;
    struct colander_result row;
    bool is_row = true;
    enum colander_code code = colander_family_find(family, NULL, &cursor, err);

    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &row, err);
        if (code != COLANDER_OK || !is_row)
            break;
        colander_buffer_clear(&json);
        code = colander_json_append_row(&json, row.key, row.row, err);
        if (code == COLANDER_OK)
            printf("%.*s\n", (int)json.size, (const char *)json.data);
    }
    colander_buffer_release(&json);
    colander_cursor_close(cursor);
    return code;
}

int
main(int argc, char **argv)
{
    struct colander_store *store;
    struct colander_family *family;
    struct colander_error error;
    char file[4096];

    if (argc != 2)
        errx(2, "usage: %s STORE", argv[0]);
    (void)snprintf(file, sizeof(file), "%s.csv", argv[1]);
    make_file(file);
    if (colander_store_open(argv[1], NULL, &store, &error) != COLANDER_OK ||
        colander_family_open(store, "rain", &family, &error) != COLANDER_OK ||
        load(store, family, file, &error) != COLANDER_OK ||
        print_rows(family, &error) != COLANDER_OK)
        errx(1, "%s", error.message);
    (void)remove(file);
    colander_family_close(family);
    if (colander_store_close(store, &error) != COLANDER_OK)
        errx(1, "%s", error.message);
    return 0;
}
