/* See upkeep.h. SPDX-License-Identifier: MIT */
#include "core/salvage.h"
#include "columns/columns.h"
#include "columns/key.h"
#include "columns/store.h"
#include "core/sized.h"

#include <stdio.h>

/* The most bytes of a key in a report. */
#define KEY_TEXT_MAX 60

struct salvaging {
    struct colander_salvage *done;
    colander_finding *tell;
    void *context;
    struct colander_store *to;
};

/* ------------------------------------------------------------ reporting --- */

/* Fills `text` with a key as JSON, or as much of it as there is room. */
static void
key_text(struct colander_slice key, char text[KEY_TEXT_MAX + 4])
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    if (!key_is_valid(key) ||
        colander_json_append_key(&json, key, NULL) != COLANDER_OK) {
        (void)snprintf(text, KEY_TEXT_MAX + 4, "one that is damaged");
    } else {
        (void)snprintf(
            text, KEY_TEXT_MAX + 4, "%.*s%s",
            (int)(json.size < KEY_TEXT_MAX ? json.size : KEY_TEXT_MAX),
            (const char *)json.data, json.size > KEY_TEXT_MAX ? "..." : "");
    }
    colander_buffer_release(&json);
}

/* Fills `text` with which keys it may be. */
static void
range_text(const struct salvage_loss *loss, char *text, size_t size)
{
    char after[KEY_TEXT_MAX + 4];
    char until[KEY_TEXT_MAX + 4];

    key_text(loss->after, after);
    key_text(loss->until, until);
    if (loss->after.data == NULL && loss->until.data == NULL)
        text[0] = '\0';
    else if (loss->after.data == NULL)
        (void)snprintf(text, size, " with keys up to %s", until);
    else if (loss->until.data == NULL)
        (void)snprintf(text, size, " with keys %s %s",
                       loss->is_from ? "from" : "after", after);
    else
        (void)snprintf(text, size, " with keys %s %s up to %s",
                       loss->is_from ? "from" : "after", after, until);
}

static void
report_loss(void *context, const struct salvage_loss *loss)
{
    struct salvaging *salvaging = context;
    char range[4 * KEY_TEXT_MAX];
    char text[1200];

    range_text(loss, range, sizeof(range));
    if (loss->is_items)
        (void)snprintf(text, sizeof(text),
                       "%s: marks and filter options of any family may be "
                       "missing, or old",
                       loss->what);
    else if (loss->is_none)
        (void)snprintf(text, sizeof(text), "%s", loss->what);
    else if (loss->family == NULL)
        (void)snprintf(text, sizeof(text),
                       "%s: rows%s may be missing, or old, in any family",
                       loss->what, range);
    else
        (void)snprintf(text, sizeof(text),
                       "%s: rows of family '%s'%s may be missing, or old",
                       loss->what, loss->family, range);
    salvaging->done->loss_count++;
    salvaging->tell(salvaging->context, loss->file, text);
}

/* Reports and skips a row that a put would have refused. */
static void
report_row(const struct salvaging *salvaging, const char *family,
           struct colander_slice key, const struct colander_error *error)
{
    char name[KEY_TEXT_MAX + 4];
    char text[1200];

    key_text(key, name);
    (void)snprintf(text, sizeof(text),
                   "the row under the key %s of family '%s' is skipped: "
                   "%s",
                   name, family, error->message);
    salvaging->done->loss_count++;
    salvaging->tell(salvaging->context, "rocksdb", text);
}

/* ---------------------------------------------------- marks and options --- */

static enum colander_code
copy_mark(struct colander_store *to, struct colander_family *family,
          const struct salvage_item *item, struct colander_error *err)
{
    struct colander_batch *batch;
    enum colander_code code = colander_batch_create(to, &batch, err);

    if (code == COLANDER_OK)
        code = colander_batch_mark(batch, family, item->name, item->value, err);
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, NULL, err);
    colander_batch_destroy(batch);
    return code;
}

static enum colander_code
copy_item(struct salvaging *salvaging, const char *name,
          const struct salvage_item *item, struct colander_error *err)
{
    const struct store_hooks *hooks = &salvaging->to->hooks;
    struct colander_family *family;
    struct colander_error error;
    char text[1200];
    enum colander_code code =
        colander_family_open(salvaging->to, name, &family, err);

    if (code != COLANDER_OK)
        return code;
    code = colander_family_create(family, &error);
    if (code == COLANDER_OK && item->is_mark)
        code = copy_mark(salvaging->to, family, item, &error);
    else if (code == COLANDER_OK && hooks->record_salvaged != NULL)
        code =
            hooks->record_salvaged(hooks->context, family, item->value, &error);
    colander_family_close(family);
    if (code == COLANDER_INVALID || code == COLANDER_LIMIT ||
        code == COLANDER_CORRUPT) {
        (void)snprintf(text, sizeof(text), "%s of family '%s' skipped: %s",
                       item->is_mark ? "a mark" : "the filter options", name,
                       error.message);
        salvaging->done->loss_count++;
        salvaging->tell(salvaging->context, "rocksdb", text);
        return COLANDER_OK;
    }
    return code == COLANDER_OK ? code
                               : COLANDER_FAIL(err, code, "%s", error.message);
}

/* Copies the marks of all families and the options of their filters, which
 * then are right when the rows come. */
static enum colander_code
copy_items(struct salvaging *salvaging, struct salvage *salvage,
           struct colander_error *err)
{
    enum colander_code code = salvage_begin_items(salvage, err);
    bool is_item = true;

    while (code == COLANDER_OK && is_item) {
        struct salvage_item item = {.family = 0};

        code = salvage_next_item(salvage, &is_item, &item, err);
        if (code == COLANDER_OK && is_item)
            code =
                copy_item(salvaging, salvage_family_name(salvage, item.family),
                          &item, err);
    }
    return code;
}

/* -------------------------------------------------------------- copying --- */

static enum colander_code
copy_row(struct salvaging *salvaging, const char *family,
         struct colander_bulk *bulk, struct colander_slice key,
         struct colander_slice row, struct colander_error *err)
{
    struct colander_error error;
    enum colander_code code = colander_bulk_add(bulk, key, row, &error);

    if (code == COLANDER_INVALID || code == COLANDER_LIMIT ||
        code == COLANDER_CORRUPT) {
        report_row(salvaging, family, key, &error);
        return COLANDER_OK;
    }
    if (code != COLANDER_OK)
        return COLANDER_FAIL(err, code, "%s", error.message);
    salvaging->done->row_count++;
    salvaging->done->byte_count += key.size + row.size;
    return COLANDER_OK;
}

static enum colander_code
copy_rows(struct salvaging *salvaging, struct salvage *salvage,
          const char *family, struct colander_bulk *bulk,
          struct colander_error *err)
{
    struct colander_slice key;
    struct colander_slice row;
    enum colander_code code;
    bool is_row;

    do {
        code = salvage_next(salvage, &is_row, &key, &row, err);
        if (code == COLANDER_OK && is_row)
            code = copy_row(salvaging, family, bulk, key, row, err);
    } while (code == COLANDER_OK && is_row);
    return code;
}

static enum colander_code
copy_family(struct salvaging *salvaging, struct salvage *salvage, size_t index,
            struct colander_error *err)
{
    const char *name = salvage_family_name(salvage, index);
    struct colander_family *family;
    struct colander_bulk *bulk = NULL;
    enum colander_code code;

    code = colander_family_open(salvaging->to, name, &family, err);
    if (code != COLANDER_OK)
        return code;
    code = colander_family_create(family, err);
    if (code == COLANDER_OK)
        code = salvage_begin(salvage, index, err);
    if (code == COLANDER_OK)
        code = colander_bulk_create(family, &bulk, err);
    if (code == COLANDER_OK)
        code = copy_rows(salvaging, salvage, name, bulk, err);
    if (code == COLANDER_OK)
        code = colander_bulk_commit(bulk, NULL, err);
    colander_bulk_destroy(bulk);
    colander_family_close(family);
    if (code == COLANDER_OK)
        salvaging->done->family_count++;
    else
        colander_error_context(err, "family '%s'", name);
    return code;
}

enum colander_code
colander_salvage_options_sized(const char *path, const char *to,
                               struct colander_options *options,
                               size_t struct_size, struct colander_error *err)
{
    struct colander_options saved;
    enum colander_code code = salvage_options(path, to, &saved, err);

    if (code == COLANDER_OK) {
        sized_return(options, struct_size, &saved, sizeof(saved));
        memcpy(options, &struct_size, sizeof(struct_size));
    }
    return code;
}

enum colander_code
colander_store_salvage(struct colander_store *to, const char *path,
                       struct colander_salvage *salvage, colander_finding *tell,
                       void *context, struct colander_error *err)
{
    const struct colander_salvage nothing = {0, 0, 0, 0};
    struct salvaging salvaging = {salvage, tell, context, to};
    struct salvage *from;
    enum colander_code code;

    *salvage = nothing;
    code = salvage_open(path, report_loss, &salvaging, &from, err);
    if (code != COLANDER_OK)
        return code;
    code = copy_items(&salvaging, from, err);
    for (size_t i = 0; i < salvage_family_count(from) && code == COLANDER_OK;
         i++)
        code = copy_family(&salvaging, from, i, err);
    salvage_close(from);
    return code;
}
