/*
 * Scan a prefix: keys have two parts, a sensor and a time, so the readings of
 * one sensor are adjacent and in order.
 *
 * Keys are ordered by their parts, and a prefix consists of complete parts:
 * {"sensor-7"} is not a prefix of {"sensor-70", 5}.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <inttypes.h>
#include <stdio.h>

static enum colander_code
encode_key(const char *sensor, int64_t second, struct colander_buffer *key,
           struct colander_error *err)
{
    struct colander_value parts[] = {colander_text(sensor),
                                     colander_integer(second)};

    return colander_key_encode(parts, 2, key, err);
}

static enum colander_code
put_readings(struct colander_family *readings, const char *sensor,
             struct colander_row_builder *builder, struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    for (int64_t second = 0; second < 50 && code == COLANDER_OK; second += 10) {
        struct colander_slice row;

        colander_row_builder_add(builder, "celsius",
                                 colander_double(20.5 + (double)second / 100));
        code = colander_row_builder_finish(builder, &row, err);
        if (code == COLANDER_OK)
            code = encode_key(sensor, second, &key, err);
        if (code == COLANDER_OK)
            code = colander_family_put(readings, colander_buffer_slice(&key),
                                       row, NULL, err);
    }
    colander_buffer_release(&key);
    return code;
}

static enum colander_code
print_reading(const struct colander_result *result, struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_value celsius;
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    size_t count;
    bool found = false;

    code = colander_key_decode(result->key, parts, &count, &scratch, err);
    if (code == COLANDER_OK)
        code = colander_row_get(result->row, "celsius", &celsius, &found, err);
    if (code == COLANDER_OK && found)
        printf("%.*s at %" PRId64 ": %.1f\n", (int)parts[0].bytes.size,
               (const char *)parts[0].bytes.data, parts[1].integer,
               celsius.number);
    colander_buffer_release(&scratch);
    return code;
}

static enum colander_code
print_all(struct colander_family *readings, const struct colander_query *query,
          struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    enum colander_code code;
    bool is_row = true;

    code = colander_family_find(readings, query, &cursor, err);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = print_reading(&result, err);
    }
    colander_cursor_close(cursor);
    return code;
}

/* The readings from second 10 to 30, and then the newest one. */
static enum colander_code
scan_sensor(struct colander_family *readings, const char *sensor,
            struct colander_error *err)
{
    struct colander_buffer prefix = COLANDER_BUFFER_EMPTY;
    struct colander_buffer from = COLANDER_BUFFER_EMPTY;
    struct colander_buffer to = COLANDER_BUFFER_EMPTY;
    struct colander_query query;
    enum colander_code code;

    code = colander_key_text(sensor, &prefix, err);
    if (code == COLANDER_OK)
        code = encode_key(sensor, 10, &from, err);
    if (code == COLANDER_OK)
        code = encode_key(sensor, 30, &to, err);
    if (code != COLANDER_OK)
        goto done;

    colander_query_init(&query);
    query.keys.from = colander_buffer_slice(&from);
    query.keys.to = colander_buffer_slice(&to);
    code = print_all(readings, &query, err);
    if (code != COLANDER_OK)
        goto done;

    colander_query_init(&query);
    query.keys.prefix = colander_buffer_slice(&prefix);
    query.is_reverse = true;
    query.limit = 1;
    code = print_all(readings, &query, err);
done:
    colander_buffer_release(&to);
    colander_buffer_release(&from);
    colander_buffer_release(&prefix);
    return code;
}

static enum colander_code
scan_prefix(struct colander_family *readings, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot build a row");
    code = put_readings(readings, "sensor-7", builder, err);
    if (code == COLANDER_OK)
        code = put_readings(readings, "sensor-70", builder, err);
    colander_row_builder_destroy(builder);
    if (code == COLANDER_OK)
        code = scan_sensor(readings, "sensor-7", err);
    return code;
}

int
main(int argc, char **argv)
{
    struct colander_store *store = NULL;
    struct colander_family *family = NULL;
    struct colander_error err;
    enum colander_code code, close_code;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s STORE\n", argv[0]);
        return 2;
    }
    code = colander_store_open(argv[1], NULL, &store, &err);
    if (code == COLANDER_OK)
        code = colander_family_open(store, "readings", &family, &err);
    if (code == COLANDER_OK)
        code = scan_prefix(family, &err);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? &err : NULL);
    if (code != COLANDER_OK || close_code != COLANDER_OK) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
        return 1;
    }
    return 0;
}
