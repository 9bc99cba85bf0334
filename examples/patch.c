/*
 * Patch: change some columns of a row, and leave the others alone.
 *
 * A patch is itself a row: its columns replace those of the same name, maps are
 * merged, and a null removes a column. No concurrent patch is lost.
 *
 * SPDX-License-Identifier: MIT
 */
#include <colander/colander.h>

#include <stdio.h>

/* {"user":{"name":"Smith","city":"Houston"},"likes":3,"draft":true} */
static void
build_tweet(struct colander_row_builder *builder)
{
    colander_row_builder_begin_map(builder, "user");
    colander_row_builder_add(builder, "name", colander_text("Smith"));
    colander_row_builder_add(builder, "city", colander_text("Houston"));
    colander_row_builder_end(builder);
    colander_row_builder_add(builder, "likes", colander_integer(3));
    colander_row_builder_add(builder, "draft", colander_boolean(true));
}

/* {"user":{"city":"Austin"},"draft":null,"lang":"en"} */
static void
build_patch(struct colander_row_builder *builder)
{
    colander_row_builder_begin_map(builder, "user");
    colander_row_builder_add(builder, "city", colander_text("Austin"));
    colander_row_builder_end(builder);
    colander_row_builder_add(builder, "draft", colander_null());
    colander_row_builder_add(builder, "lang", colander_text("en"));
}

static enum colander_code
show(struct colander_family *tweets, struct colander_slice key,
     struct colander_error *err)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    bool found = false;

    code = colander_family_get(tweets, key, NULL, &row, &found, err);
    if (code == COLANDER_OK)
        code = colander_json_append_row(&json, key, colander_buffer_slice(&row),
                                        err);
    if (code == COLANDER_OK)
        printf("%.*s\n", (int)json.size, (const char *)json.data);

    colander_buffer_release(&json);
    colander_buffer_release(&row);
    return code;
}

static enum colander_code
put_and_patch(struct colander_family *tweets, struct colander_slice key,
              struct colander_row_builder *builder, struct colander_error *err)
{
    struct colander_slice row;
    enum colander_code code;

    build_tweet(builder);
    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_family_put(tweets, key, row, NULL, err);
    if (code == COLANDER_OK)
        code = show(tweets, key, err);
    if (code != COLANDER_OK)
        return code;

    build_patch(builder);
    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_family_patch(tweets, key, row, NULL, err);
    if (code == COLANDER_OK)
        code = show(tweets, key, err);
    return code;
}

static enum colander_code
patch(struct colander_family *tweets, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot build a row");
    code = colander_key_text("t1", &key, err);
    if (code == COLANDER_OK)
        code = put_and_patch(tweets, colander_buffer_slice(&key), builder, err);

    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
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
        code = colander_family_open(store, "tweets", &family, &err);
    if (code == COLANDER_OK)
        code = patch(family, &err);

    colander_family_close(family);
    close_code = colander_store_close(store, code == COLANDER_OK ? &err : NULL);
    if (code != COLANDER_OK || close_code != COLANDER_OK) {
        (void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
        return 1;
    }
    return 0;
}
