/* See retain_record.h. SPDX-License-Identifier: MIT */
#include "loading/retain_record.h"

#include <stdlib.h>

struct retain_record {
    struct colander_slice time;   /* the path of the column */
    struct colander_slice before; /* a time, as text */
};

static enum colander_code
read_members(struct colander_slice row, struct retain_record *record,
             struct colander_error *err)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member = true;
    enum colander_code code = colander_members_init(&members, row, err);

    while (code == COLANDER_OK) {
        struct colander_slice *text = NULL;

        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code != COLANDER_OK || !is_member)
            break;
        if (colander_slice_equal(name, colander_slice_text("time")))
            text = &record->time;
        else if (colander_slice_equal(name, colander_slice_text("before")))
            text = &record->before;
        if (text == NULL || value.type != COLANDER_STRING ||
            memchr(value.bytes.data, '\0', value.bytes.size) != NULL)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "a retain has the texts \"time\", a column, "
                                 "and \"before\", a time, and no more");
        *text = value.bytes;
    }
    return code;
}

/* Makes the predicate. With @ a time may depend on the clock. */
static enum colander_code
make_predicate(const struct retain_record *record,
               struct colander_predicate **where, struct colander_error *err)
{
    struct colander_predicate *both[2];
    struct colander_times times;
    char *path;

    if (record->before.size == 0 || record->before.data[0] == '@' ||
        !colander_times_read(record->before, &times))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "\"before\" of a retain must be a time, such as "
                             "2026-01-31T12:00:00Z");
    path = strndup((const char *)record->time.data, record->time.size);
    if (path == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a retain");
    both[0] = colander_where(path, COLANDER_LT, times.first, err);
    both[1] =
        colander_not(colander_where(path, COLANDER_GE, times.first, err), err);
    *where = colander_all_of(both, 2, err);
    free(path);
    return *where != NULL ? COLANDER_OK : err->code;
}

enum colander_code
retain_record_read(struct colander_slice text,
                   struct colander_predicate **where,
                   struct colander_error *err)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    struct retain_record record = {{NULL, 0}, {NULL, 0}};
    struct colander_slice key;
    struct colander_slice row;
    bool has_key;
    enum colander_code code;

    *where = NULL;
    if (reader == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to read JSON");
    code =
        text.size <= RETAIN_RECORD_MAX
            ? colander_json_reader_row(reader, text, &key, &has_key, &row, err)
            : COLANDER_FAIL(err, COLANDER_INVALID,
                            "a retain has at most %d bytes", RETAIN_RECORD_MAX);
    if (code == COLANDER_OK)
        code = read_members(row, &record, err);
    if (code == COLANDER_OK && (has_key || record.time.size == 0))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "a retain names its column as \"time\"");
    if (code == COLANDER_OK)
        code = make_predicate(&record, where, err);
    colander_json_reader_destroy(reader);
    return code;
}
