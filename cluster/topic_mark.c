/* See topic_mark.h. SPDX-License-Identifier: MIT */
#include "cluster/topic_mark.h"
#include "cluster/topic.h"
#include "columns/rows.h"

#include <stdio.h>

enum colander_code
topic_mark_name(struct colander_buffer *name, const char *topic,
                int32_t partition, int slot, struct colander_error *err)
{
    char text[512];
    const int size = slot < 0 ? snprintf(text, sizeof(text), "follow:%s/%d",
                                         topic, (int)partition)
                              : snprintf(text, sizeof(text), "follow:%s/%d/%d",
                                         topic, (int)partition, slot);

    colander_buffer_clear(name);
    if (size < 0 || (size_t)size >= sizeof(text))
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "the name of a mark of topic "
                             "'%s' is too long",
                             topic);
    return colander_buffer_append(name, text, (size_t)size, err);
}

enum colander_code
topic_mark_encode(const struct topic_mark *mark, struct colander_buffer *value,
                  struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_slice row = {NULL, 0};
    enum colander_code code;

    colander_buffer_clear(value);
    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a mark");
    colander_row_builder_add(builder, "offset", colander_integer(mark->offset));
    colander_row_builder_add(builder, "begun", colander_integer(mark->begun));
    if (mark->has_load) {
        colander_row_builder_add(builder, "load",
                                 colander_unsigned(mark->load));
        colander_row_builder_add(builder, "at", colander_integer(mark->at));
    }
    if (mark->has_hash)
        colander_row_builder_add(builder, "hash",
                                 colander_unsigned(mark->hash));
    if (mark->cluster[0] != '\0')
        colander_row_builder_add(builder, "cluster",
                                 colander_text(mark->cluster));
    code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(value, row.data, row.size, err);
    colander_row_builder_destroy(builder);
    return code;
}

/* Reads an integer; *found: it is there. */
static enum colander_code
read_integer(struct colander_slice row, const char *name, uint64_t *number,
             bool *found, struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code = colander_row_get(row, name, &value, found, err);

    if (code != COLANDER_OK || !*found)
        return code;
    *number = value.natural;
    if (value.type != COLANDER_INTEGER && value.type != COLANDER_UNSIGNED)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "'%s' is not an integer",
                             name);
    return code;
}

static enum colander_code
decode(struct topic_mark *mark, struct colander_slice row,
       struct colander_error *err)
{
    uint64_t offset = 0;
    uint64_t begun = 0;
    uint64_t at = 0;
    bool has_offset = false;
    bool has_begun = false;
    bool has_at = false;
    bool has_cluster = false;
    struct colander_value value;
    enum colander_code code = colander_row_check(row, err);

    if (code == COLANDER_OK)
        code = read_integer(row, "offset", &offset, &has_offset, err);
    if (code == COLANDER_OK)
        code = read_integer(row, "begun", &begun, &has_begun, err);
    if (code == COLANDER_OK)
        code = read_integer(row, "hash", &mark->hash, &mark->has_hash, err);
    if (code == COLANDER_OK)
        code = read_integer(row, "load", &mark->load, &mark->has_load, err);
    if (code == COLANDER_OK)
        code = read_integer(row, "at", &at, &has_at, err);
    if (code == COLANDER_OK)
        code = colander_row_get(row, "cluster", &value, &has_cluster, err);
    if (code != COLANDER_OK)
        return code;
    if (!has_offset || !has_begun || offset > INT64_MAX || begun > INT64_MAX ||
        mark->has_load != has_at || at > INT64_MAX ||
        (has_cluster && (value.type != COLANDER_STRING ||
                         value.bytes.size >= sizeof(mark->cluster))))
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "it is malformed");
    mark->offset = (int64_t)offset;
    mark->begun = (int64_t)begun;
    mark->at = (int64_t)at;
    if (has_cluster)
        memcpy(mark->cluster, value.bytes.data, value.bytes.size);
    return COLANDER_OK;
}

enum colander_code
topic_mark_read(struct topic_mark *mark, struct colander_family *family,
                struct colander_slice name, bool *found,
                struct colander_error *err)
{
    struct colander_buffer value = COLANDER_BUFFER_EMPTY;
    enum colander_code code =
        colander_family_mark(family, name, &value, found, err);

    memset(mark, 0, sizeof(*mark));
    if (code == COLANDER_OK && *found) {
        code = decode(mark, colander_buffer_slice(&value), err);
        if (code != COLANDER_OK) {
            code = COLANDER_CORRUPT;
            if (err != NULL)
                err->code = code;
            colander_error_context(err, "mark '%.*s'", (int)name.size,
                                   (const char *)name.data);
        }
    }
    colander_buffer_release(&value);
    return code;
}

enum colander_code
topic_place(struct colander_family *family, const char *topic,
            int32_t partition, int64_t *offset, bool *found,
            struct colander_error *err)
{
    struct colander_buffer name = COLANDER_BUFFER_EMPTY;
    struct topic_mark mark = {.offset = 0};
    enum colander_code code = topic_mark_name(&name, topic, partition, -1, err);

    *found = false;
    if (code == COLANDER_OK)
        code = topic_mark_read(&mark, family, colander_buffer_slice(&name),
                               found, err);
    *offset = mark.offset;
    colander_buffer_release(&name);
    return code;
}

enum colander_code
topic_check_place(struct colander_family *family, const char *topic,
                  int32_t partition, int32_t count, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (int32_t i = 0; i < count && code == COLANDER_OK; i++) {
        int64_t offset;
        bool found;

        code = topic_place(family, topic, i, &offset, &found, err);
        if (code == COLANDER_OK && found != (i == partition))
            code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "it has %srecords of partition %d of topic "
                                 "'%s'",
                                 found ? "" : "no ", (int)i, topic);
    }
    return code;
}
