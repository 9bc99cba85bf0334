/* See file_list.h. SPDX-License-Identifier: MIT */
#include "cluster/file_list.h"

#include "core/array.h"
#include "core/bytes.h"

#include <stdlib.h>
#include <xxhash.h>

#define MAGIC "COLLIST"
#define MAGIC_SIZE 7
#define VERSION '1'

enum colander_code
file_list_add(struct file_list *list, const struct listed_file *file,
              struct colander_error *err)
{
    struct listed_file added = *file;
    enum colander_code code =
        array_reserve(&list->items, list->count, &list->capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    added.name = strdup(file->name);
    if (added.name == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    list->items[list->count++] = added;
    return COLANDER_OK;
}

static int
compare(const void *one, const void *other)
{
    const struct listed_file *a = one;
    const struct listed_file *b = other;

    return strcmp(a->name, b->name);
}

void
file_list_sort(struct file_list *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), compare);
}

const struct listed_file *
file_list_find(const struct file_list *list, const char *name)
{
    size_t place;

    array_search(place, list->count, strcmp(list->items[place].name, name) < 0);
    return place < list->count && strcmp(list->items[place].name, name) == 0
               ? &list->items[place]
               : NULL;
}

uint64_t
file_list_size(const struct file_list *list)
{
    uint64_t size = 0;

    for (size_t i = 0; i < list->count; i++)
        size += list->items[i].content.size;
    return size;
}

void
file_list_release(struct file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].name);
    free(list->items);
    memset(list, 0, sizeof(*list));
}

/* -------------------------------------------------------------- encode --- */

static enum colander_code
append_file(struct colander_buffer *bytes, const struct listed_file *file,
            struct colander_error *err)
{
    const size_t size = strlen(file->name);
    uint8_t id[8];
    enum colander_code code = bytes_append_varint(bytes, size, err);

    bytes_put_le64(id, file->id);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, file->name, size, err);
    if (code == COLANDER_OK)
        code = bytes_append_varint(bytes, file->content.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, file->content.hash,
                                      CONTENT_HASH_SIZE, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, file->end, CONTENT_HASH_SIZE, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, id, sizeof(id), err);
    return code;
}

static XXH128_canonical_t
sum_of(const uint8_t *bytes, size_t size)
{
    XXH128_canonical_t sum;

    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes, size));
    return sum;
}

enum colander_code
file_list_encode(const struct file_list *list, struct colander_buffer *bytes,
                 struct colander_error *err)
{
    static const char magic[] = {MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3],
                                 MAGIC[4], MAGIC[5], MAGIC[6], VERSION};
    enum colander_code code;
    XXH128_canonical_t sum;

    colander_buffer_clear(bytes);
    code = colander_buffer_append(bytes, magic, sizeof(magic), err);
    if (code == COLANDER_OK)
        code = bytes_append_varint(bytes, list->count, err);
    for (size_t i = 0; i < list->count && code == COLANDER_OK; i++)
        code = append_file(bytes, &list->items[i], err);
    sum = sum_of(bytes->data, bytes->size);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, &sum, sizeof(sum), err);
    return code;
}

/* -------------------------------------------------------------- decode --- */

/* Reads a file. Returns false if it is malformed, or not after `before`. */
static bool
read_file(struct bytes_reader *reader, const char *before,
          struct listed_file *file, struct colander_error *err)
{
    const struct colander_slice name = bytes_read_text(reader);
    struct colander_slice hash;

    file->content.size = bytes_read_varint(reader);
    hash = bytes_read(reader, CONTENT_HASH_SIZE);
    if (!reader->is_bad)
        memcpy(file->content.hash, hash.data, CONTENT_HASH_SIZE);
    hash = bytes_read(reader, CONTENT_HASH_SIZE);
    if (!reader->is_bad)
        memcpy(file->end, hash.data, CONTENT_HASH_SIZE);
    file->id = bytes_read_le(reader, 8);
    if (reader->is_bad || name.size == 0 || file->content.size > INT64_MAX ||
        memchr(name.data, '\0', name.size) != NULL)
        return false;
    file->name = strndup((const char *)name.data, name.size);
    if (file->name == NULL)
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    return file->name != NULL &&
           (before == NULL || strcmp(before, file->name) < 0);
}

static enum colander_code
read_files(struct file_list *list, struct bytes_reader *reader,
           struct colander_error *err)
{
    const uint64_t count = bytes_read_varint(reader);

    for (uint64_t i = 0; i < count; i++) {
        struct listed_file file = {.name = NULL};
        const char *before = i > 0 ? list->items[i - 1].name : NULL;
        enum colander_code code;

        code =
            array_reserve(&list->items, list->count, &list->capacity, 1, err);
        if (code != COLANDER_OK)
            return code;
        if (!read_file(reader, before, &file, err)) {
            free(file.name);
            return COLANDER_FAIL(
                err, COLANDER_CORRUPT, "entry %llu of %llu is malformed",
                (unsigned long long)i, (unsigned long long)count);
        }
        list->items[list->count++] = file;
    }
    if (reader->is_bad || bytes_reader_has_more(reader))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "it does not end with its last entry");
    return COLANDER_OK;
}

enum colander_code
file_list_decode(struct file_list *list, struct colander_slice bytes,
                 struct colander_error *err)
{
    const size_t head = MAGIC_SIZE + 1;
    const size_t sum_size = sizeof(XXH128_canonical_t);
    struct bytes_reader reader;
    XXH128_canonical_t sum;
    enum colander_code code;

    memset(list, 0, sizeof(*list));
    if (bytes.size < head + sum_size ||
        memcmp(bytes.data, MAGIC, MAGIC_SIZE) != 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "it is not a list of files");
    if (bytes.data[MAGIC_SIZE] != VERSION)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "a newer version of Colander wrote it");
    sum = sum_of(bytes.data, bytes.size - sum_size);
    if (memcmp(&sum, bytes.data + bytes.size - sum_size, sum_size) != 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "its checksum is wrong");
    reader = bytes_reader_of(
        colander_slice_of(bytes.data + head, bytes.size - head - sum_size));
    code = read_files(list, &reader, err);
    if (code != COLANDER_OK)
        file_list_release(list);
    return code;
}
