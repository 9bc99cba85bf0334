/* See s3_answer.h. SPDX-License-Identifier: MIT */
#include "cluster/s3/s3_answer.h"

#include "cluster/objects_inside.h"
#include "core/civil_time.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE 32
#define DEPTH_MAX 8

struct reader {
    const char *next;
    const char *end;
    struct s3_answer *answer;
    struct text text;                 /* since the last tag */
    char names[DEPTH_MAX][NAME_SIZE]; /* of the open elements */
    size_t depth;
    /* Of the element Contents: */
    struct text key;
    uint64_t size;
    int64_t modified;
    unsigned found; /* bits: what it has */
};

enum { FOUND_KEY = 1, FOUND_SIZE = 2, FOUND_MODIFIED = 4, FOUND_ALL = 7 };

/* ---------------------------------------------------------------- text --- */

static bool
add_character(struct text *text, unsigned long character)
{
    const unsigned c = (unsigned)character;

    if (character == 0 || character > 0x10ffff)
        return false;
    if (c < 0x80)
        text_add(text, "%c", (int)c);
    else if (c < 0x800)
        text_add(text, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
    else if (c < 0x10000)
        text_add(text, "%c%c%c", (int)(0xe0 | c >> 12),
                 (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
    else
        text_add(text, "%c%c%c%c", (int)(0xf0 | c >> 18),
                 (int)(0x80 | (c >> 12 & 0x3f)), (int)(0x80 | (c >> 6 & 0x3f)),
                 (int)(0x80 | (c & 0x3f)));
    return true;
}

/* Reads "&amp;", or "&#38;". */
static bool
read_entity(struct reader *reader)
{
    static const char *const entities[] = {"amp&", "lt<", "gt>", "quot\"",
                                           "apos'"};
    const size_t left = (size_t)(reader->end - reader->next);
    const char *from = reader->next + 1;
    const char *semicolon = memchr(reader->next, ';', left < 12 ? left : 12);
    size_t size;

    if (semicolon == NULL)
        return false;
    size = (size_t)(semicolon - from);
    reader->next = semicolon + 1;
    if (size > 1 && from[0] == '#') {
        const bool is_hex = from[1] == 'x';
        char digits[12];
        char *end;
        unsigned long character;

        (void)snprintf(digits, sizeof(digits), "%.*s",
                       (int)(size - (is_hex ? 2 : 1)), from + (is_hex ? 2 : 1));
        character = strtoul(digits, &end, is_hex ? 16 : 10);
        return digits[0] != '\0' && *end == '\0' && digits[0] != '-' &&
               add_character(&reader->text, character);
    }
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
        if (strlen(entities[i]) == size + 1 &&
            memcmp(entities[i], from, size) == 0)
            return add_character(&reader->text,
                                 (unsigned char)entities[i][size]);
    }
    return false;
}

/* ------------------------------------------------------------ elements --- */

static bool
read_time(const char *text, int64_t *seconds)
{
    int year;
    int month;
    int day;
    int hour;
    int minute;
    int second;

    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &year, &month, &day, &hour,
               &minute, &second) != 6 ||
        year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 ||
        hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 60)
        return false;
    *seconds = civil_day_number(year, month, day) * 86400 + hour * 3600 +
               minute * 60 + second;
    return true;
}

static bool
read_size(const char *text, uint64_t *size)
{
    char *end;

    *size = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' &&
           *size <= INT64_MAX;
}

static bool
end_contents(struct reader *reader, struct colander_error *err)
{
    const struct colander_slice key = colander_buffer_slice(&reader->key.bytes);

    return reader->found == FOUND_ALL && key.size > 0 &&
           object_list_add(&reader->answer->objects, key, reader->size,
                           reader->modified, err) == COLANDER_OK;
}

/* An element of Contents. */
static bool
end_entry(struct reader *reader, const char *name)
{
    const char *text = text_string(&reader->text);

    if (strcmp(name, "Key") == 0) {
        text_clear(&reader->key);
        text_add(&reader->key, "%s", text);
        reader->found |= FOUND_KEY;
    } else if (strcmp(name, "Size") == 0) {
        reader->found |= FOUND_SIZE;
        return read_size(text, &reader->size);
    } else if (strcmp(name, "LastModified") == 0) {
        reader->found |= FOUND_MODIFIED;
        return read_time(text, &reader->modified);
    }
    return true;
}

/* An element of the root. */
static void
end_field(struct reader *reader, const char *name)
{
    struct s3_answer *answer = reader->answer;
    const char *text = text_string(&reader->text);
    const struct {
        const char *name;
        struct text *text;
    } fields[] = {
        {"NextContinuationToken", &answer->token},
        {"UploadId", &answer->upload},
        {"Code", &answer->code},
        {"Message", &answer->message},
        {"Region", &answer->region},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strcmp(fields[i].name, name) == 0) {
            text_clear(fields[i].text);
            text_add(fields[i].text, "%s", text);
        }
    }
    if (strcmp(name, "IsTruncated") == 0)
        answer->is_truncated = strcmp(text, "true") == 0;
}

static bool
begin_element(struct reader *reader, const char *name, size_t size)
{
    char *kept;

    if (reader->depth == DEPTH_MAX || size == 0 ||
        (reader->depth == 0 && reader->names[0][0] != '\0'))
        return false; /* a second root */
    kept = reader->names[reader->depth++];
    (void)snprintf(kept, NAME_SIZE, "%.*s",
                   (int)(size < NAME_SIZE ? size : NAME_SIZE - 1), name);
    if (reader->depth == 1)
        reader->answer->is_error = strcmp(kept, "Error") == 0;
    if (reader->depth == 2)
        reader->found = 0;
    return true;
}

static bool
end_element(struct reader *reader, struct colander_error *err)
{
    const size_t depth = reader->depth--;
    const char *name = reader->names[depth - 1];

    if (depth == 2 && strcmp(name, "Contents") == 0)
        return end_contents(reader, err);
    if (depth == 2)
        end_field(reader, name);
    if (depth == 3 && strcmp(reader->names[1], "Contents") == 0)
        return end_entry(reader, name);
    return true;
}

/* ---------------------------------------------------------------- tags --- */

/* Skips up to and with `mark`. Returns where it was, or NULL. */
static const char *
skip_to(struct reader *reader, const char *mark)
{
    const char *found = memmem(
        reader->next, (size_t)(reader->end - reader->next), mark, strlen(mark));

    if (found != NULL)
        reader->next = found + strlen(mark);
    return found;
}

static bool
begins(const struct reader *reader, const char *mark)
{
    return (size_t)(reader->end - reader->next) >= strlen(mark) &&
           memcmp(reader->next, mark, strlen(mark)) == 0;
}

/* Reads a tag, from its '<' on. A value of an attribute may have a '>'. */
static bool
read_tag(struct reader *reader, struct colander_error *err)
{
    const char *from = reader->next + 1;
    const char *at = from;
    const bool is_end = at < reader->end && *at == '/';
    char quote = '\0';
    size_t size = 0;

    for (; at < reader->end && (quote != '\0' || *at != '>'); at++) {
        if (quote == '\0' && (*at == '"' || *at == '\''))
            quote = *at;
        else if (*at == quote)
            quote = '\0';
    }
    if (at >= reader->end)
        return false;
    reader->next = at + 1;
    from += is_end;
    while (from + size < at && strchr(" \t\r\n/", from[size]) == NULL)
        size++;
    if (is_end) {
        const size_t kept = size < NAME_SIZE ? size : NAME_SIZE - 1;

        return reader->depth > 0 &&
               strncmp(reader->names[reader->depth - 1], from, kept) == 0 &&
               reader->names[reader->depth - 1][kept] == '\0' &&
               end_element(reader, err);
    }
    text_clear(&reader->text);
    return begin_element(reader, from, size) &&
           (at[-1] != '/' || end_element(reader, err));
}

/* Reads a tag, an entity, or a piece of text. */
static bool
read_next(struct reader *reader, struct colander_error *err)
{
    const char *from = reader->next;
    const char *end;
    bool is_ok = true;

    if (begins(reader, "<!--"))
        return skip_to(reader, "-->") != NULL;
    if (begins(reader, "<?"))
        return skip_to(reader, "?>") != NULL;
    if (begins(reader, "<![CDATA[")) {
        end = skip_to(reader, "]]>");
        from += strlen("<![CDATA[");
        if (end == NULL || end < from)
            return false;
        text_add(&reader->text, "%.*s", (int)(end - from), from);
    } else if (*from == '<') {
        const bool is_end = begins(reader, "</");

        is_ok = !begins(reader, "<!") && read_tag(reader, err);
        if (is_end)
            text_clear(&reader->text);
    } else if (*from == '&') {
        is_ok = read_entity(reader);
    } else {
        while (reader->next < reader->end && *reader->next != '<' &&
               *reader->next != '&')
            reader->next++;
        text_add(&reader->text, "%.*s", (int)(reader->next - from), from);
    }
    return is_ok;
}

enum colander_code
s3_answer_read(struct s3_answer *answer, struct colander_slice bytes,
               struct colander_error *err)
{
    struct reader reader = {.next = (const char *)bytes.data,
                            .end = (const char *)bytes.data + bytes.size,
                            .answer = answer};
    struct colander_error mine = {.code = COLANDER_OK};
    bool is_ok = bytes.size > 0 && bytes.size < INT32_MAX &&
                 memchr(bytes.data, '\0', bytes.size) == NULL;

    while (is_ok && reader.next < reader.end)
        is_ok = read_next(&reader, &mine) && !reader.text.is_short;
    is_ok = is_ok && reader.depth == 0 && reader.names[0][0] != '\0';
    if (reader.text.is_short || reader.key.is_short)
        mine.code = COLANDER_NO_MEMORY;
    text_release(&reader.text);
    text_release(&reader.key);
    if (mine.code == COLANDER_NO_MEMORY)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a list");
    if (!is_ok)
        return COLANDER_FAIL(
            err, COLANDER_IO, "the server's answer is malformed at byte %zu",
            bytes.size == 0 ? 0
                            : (size_t)(reader.next - (const char *)bytes.data));
    return COLANDER_OK;
}

void
s3_answer_release(struct s3_answer *answer)
{
    object_list_release(&answer->objects);
    text_release(&answer->token);
    text_release(&answer->upload);
    text_release(&answer->code);
    text_release(&answer->message);
    text_release(&answer->region);
    memset(answer, 0, sizeof(*answer));
}
