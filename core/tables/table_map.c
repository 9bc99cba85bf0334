/* SPDX-License-Identifier: MIT */
#include "core/tables/table_map.h"

#include "core/array.h"
#include "core/tables/table_filter.h"

#define FOOTER_SIZE 53 /* checksum kind, two places, zeros, version, magic */
#define FOOTER_PLACES 1
#define FOOTER_PLACES_END 41
#define FOOTER_VERSION FOOTER_PLACES_END
#define FOOTER_MAGIC 45

#define CHECKSUM_KIND 4 /* XXH3 */
#define MAGIC UINT64_C(0x88e241b785f4cff7)

/* A metaindex has a few names and places. */
#define METAINDEX_SIZE_MAX 4096
#define PROPERTIES_SIZE_MAX ((uint64_t)1 << 20)

#define SESSION_LOWER 12 /* digits */

/* Limit of the keys of an index. In the file a key may share most of its bytes
 * with the one before. */
#define KEYS_SIZE_MAX ((size_t)64 << 20)

#define SEQUENCE_MAX ((UINT64_C(1) << 56) - 1)

#define PROPERTIES "rocksdb.properties"
#define FILTER "fullfilter."
#define ENTRY_COUNT "rocksdb.num.entries"

/* The blocks after the data. A size of 0 means that the place is not known. */
struct tail {
    struct table_place metaindex;
    struct table_place filter;
    struct table_place properties;
    struct table_place index;
};

/* The footer, or zeros if it cannot be read. */
struct footer {
    unsigned checksum_kind;
    uint32_t version;
    uint64_t magic;
};

/* What the properties say about the index. */
struct index_kind {
    bool is_known;
    bool has_user_keys; /* without a tail */
    uint32_t type;      /* 0: one block, searched by halving */
};

struct reader {
    struct table_map *map;
    const struct table_source *source;
    struct table_block *block;
    struct footer footer;
    struct tail tail;
    struct index_kind index_kind;
};

/* Returns the place of a block between two offsets. */
static struct table_place
place_between(uint64_t begin, uint64_t end)
{
    struct table_place place = {begin, 0};

    if (end > begin && end - begin > TABLE_TRAILER_SIZE)
        place.size = end - begin - TABLE_TRAILER_SIZE;
    return place;
}

static bool
is_inside(const struct table_source *source, struct table_place place)
{
    return place.size > 0 && place.offset < source->size &&
           place.size < source->size - place.offset;
}

/* Reads a block after the data. Sets *is_read if it is whole. */
static enum colander_code
read_tail(struct reader *reader, struct table_place place, bool *is_read,
          struct colander_error *err)
{
    const char *why;
    enum colander_code code;

    *is_read = false;
    if (!is_inside(reader->source, place))
        return COLANDER_OK;
    code = table_block_read(reader->block, reader->source, place, &why, err);
    *is_read = code == COLANDER_OK && why == NULL;
    return code;
}

/* --------------------------------------------------------------- footer --- */

static enum colander_code
read_footer(struct reader *reader, struct colander_error *err)
{
    struct colander_buffer footer = COLANDER_BUFFER_EMPTY;
    struct bytes_reader in;
    enum colander_code code;

    if (reader->source->size < FOOTER_SIZE)
        return COLANDER_OK;
    code = table_source_read(reader->source, reader->source->size - FOOTER_SIZE,
                             FOOTER_SIZE, &footer, err);
    if (code == COLANDER_OK && footer.size == FOOTER_SIZE) {
        reader->footer.checksum_kind = footer.data[0];
        reader->footer.version = bytes_get_le32(footer.data + FOOTER_VERSION);
        reader->footer.magic = bytes_get_le64(footer.data + FOOTER_MAGIC);
        in = bytes_reader_of(colander_slice_of(
            footer.data + FOOTER_PLACES, FOOTER_PLACES_END - FOOTER_PLACES));
        reader->tail.metaindex = table_place_read(&in);
        reader->tail.index = table_place_read(&in);
    }
    colander_buffer_release(&footer);
    return code;
}

/* ------------------------------------------------------------ metaindex --- */

static bool
begins_with(struct colander_slice bytes, const char *text)
{
    const size_t size = strlen(text);

    return bytes.size >= size && memcmp(bytes.data, text, size) == 0;
}

/* Whether the present block is a metaindex. Notes the places in it. */
static bool
take_metaindex(struct reader *reader)
{
    struct tail *tail = &reader->tail;
    struct colander_slice name;
    struct colander_slice value;
    enum table_parse parsed;

    tail->properties.size = 0;
    tail->filter.size = 0;
    while ((parsed = table_block_next(reader->block, &name, &value)) ==
           TABLE_PARSED) {
        struct bytes_reader in = bytes_reader_of(value);
        const struct table_place place = table_place_read(&in);

        if (begins_with(name, PROPERTIES))
            tail->properties = place;
        if (begins_with(name, FILTER))
            tail->filter = place;
    }
    return parsed == TABLE_PARSED_ALL && tail->properties.size > 0;
}

/* Tries these bytes as a metaindex. It is not compressed, and its first entry
 * shares no bytes. */
static enum colander_code
try_metaindex(struct reader *reader, const uint8_t *bytes, size_t size,
              bool *is_found, struct colander_error *err)
{
    const char *why;
    enum colander_code code;

    if (bytes[0] != 0 || bytes[size] != TABLE_PLAIN ||
        !table_codec_is_whole(bytes, size))
        return COLANDER_OK;
    code = table_block_take(reader->block, bytes, size, &why, err);
    *is_found = code == COLANDER_OK && why == NULL && take_metaindex(reader);
    return code;
}

/* Searches for the beginning of the metaindex, which ends at the footer. */
static enum colander_code
search_metaindex(struct reader *reader, bool *is_found,
                 struct colander_error *err)
{
    const uint64_t end = reader->source->size - FOOTER_SIZE;
    const uint64_t size = end < METAINDEX_SIZE_MAX ? end : METAINDEX_SIZE_MAX;
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    code = table_source_read(reader->source, end - size, (size_t)size, &bytes,
                             err);
    for (size_t at = 0; code == COLANDER_OK && !*is_found &&
                        at + TABLE_TRAILER_SIZE < bytes.size;
         at++) {
        code =
            try_metaindex(reader, bytes.data + at,
                          bytes.size - at - TABLE_TRAILER_SIZE, is_found, err);
        if (*is_found)
            reader->tail.metaindex = place_between(end - bytes.size + at, end);
    }
    colander_buffer_release(&bytes);
    return code;
}

static enum colander_code
read_metaindex(struct reader *reader, struct colander_error *err)
{
    bool is_found;
    enum colander_code code =
        read_tail(reader, reader->tail.metaindex, &is_found, err);

    if (code != COLANDER_OK)
        return code;
    is_found = is_found && take_metaindex(reader);
    if (!is_found && reader->source->size > FOOTER_SIZE)
        code = search_metaindex(reader, &is_found, err);
    /* Even a damaged metaindex is where the properties end, which follow the
     * index. */
    if (!is_found && is_inside(reader->source, reader->tail.metaindex) &&
        is_inside(reader->source, reader->tail.index))
        reader->tail.properties = place_between(
            table_place_end(reader->tail.index), reader->tail.metaindex.offset);
    return code;
}

/* ----------------------------------------------------------- properties --- */

static bool
is_named(struct colander_slice name, const char *text)
{
    return colander_slice_equal(name, colander_slice_text(text));
}

static uint64_t
number_of(struct colander_slice value)
{
    struct bytes_reader in = bytes_reader_of(value);

    return bytes_read_varint(&in);
}

/* Returns the lower 64 bits of a session, as the MANIFEST has them. RocksDB
 * writes its 128 bits in base 36: the last 12 digits are the lower 62 bits. */
static uint64_t
session_of(struct colander_slice digits)
{
    uint64_t parts[2] = {0, 0};

    if (digits.size <= SESSION_LOWER || digits.size > 2 * SESSION_LOWER)
        return 0;
    for (size_t i = 0; i < digits.size; i++) {
        uint64_t *part = &parts[i + SESSION_LOWER >= digits.size];
        const uint8_t c = digits.data[i];

        if (c >= '0' && c <= '9')
            *part = *part * 36 + (uint64_t)(c - '0');
        else if (c >= 'A' && c <= 'Z')
            *part = *part * 36 + (uint64_t)(c - 'A' + 10);
        else
            return 0;
    }
    return parts[0] << 62 | (parts[1] & UINT64_MAX >> 2);
}

static enum colander_code
take_property(struct reader *reader, struct colander_slice name,
              struct colander_slice value, struct colander_error *err)
{
    struct index_kind *kind = &reader->index_kind;
    struct table_map *map = reader->map;

    if (is_named(name, ENTRY_COUNT))
        map->head.entry_count = number_of(value);
    else if (is_named(name, "rocksdb.data.size"))
        map->data_end = number_of(value);
    else if (is_named(name, "rocksdb.column.family.id"))
        map->head.family = (uint32_t)number_of(value);
    else if (is_named(name, "rocksdb.original.file.number"))
        map->head.number = number_of(value);
    else if (is_named(name, "rocksdb.creating.session.identity"))
        map->head.session = session_of(value);
    else if (is_named(name, "rocksdb.external_sst_file.version"))
        map->head.is_external = true;
    else if (is_named(name, "rocksdb.index.key.is.user.key"))
        kind->has_user_keys = number_of(value) != 0;
    else if (is_named(name, "rocksdb.block.based.table.index.type"))
        kind->type = value.size == 4 ? bytes_get_le32(value.data) : UINT32_MAX;
    else if (is_named(name, "rocksdb.column.family.name"))
        return colander_buffer_append(&map->family_name, value.data, value.size,
                                      err);
    return COLANDER_OK;
}

static enum colander_code
read_properties(struct reader *reader, struct colander_error *err)
{
    struct table_map *map = reader->map;
    struct colander_slice name;
    struct colander_slice value;
    bool is_read = false;
    enum colander_code code = COLANDER_OK;

    if (reader->tail.properties.size <= PROPERTIES_SIZE_MAX)
        code = read_tail(reader, reader->tail.properties, &is_read, err);
    if (code != COLANDER_OK || !is_read)
        return code;
    while (code == COLANDER_OK &&
           table_block_next(reader->block, &name, &value) == TABLE_PARSED) {
        if (is_named(name, ENTRY_COUNT))
            map->head.is_known = true;
        code = take_property(reader, name, value, err);
    }
    reader->index_kind.is_known = map->head.is_known;
    map->head.family_name = colander_buffer_slice(&map->family_name);
    if (map->data_end > reader->source->size)
        map->data_end = TABLE_END_UNKNOWN;
    return code;
}

/* ---------------------------------------------------------------- index --- */

/* Keeps the key of the last block. Keys are kept only if all are, in order. */
static enum colander_code
add_key(struct table_map *map, struct colander_slice key, bool is_user_key,
        struct colander_error *err)
{
    struct table_indexed *block = &map->blocks[map->block_count - 1];

    if (!is_user_key && key.size < TABLE_KEY_TAIL) {
        map->has_keys = false;
        return COLANDER_OK;
    }
    if (!is_user_key) {
        const struct table_key parts = table_key_of(key);

        /* RocksDB sets the highest sequence in a key that it shortened. After
         * the sequence 0 there is no older entry. */
        block->may_go_on =
            parts.sequence != SEQUENCE_MAX && parts.sequence != 0;
        key = parts.user;
    }
    block->key_at = map->keys.size;
    block->key_size = key.size;
    if (map->block_count > 1) {
        const int order = colander_slice_compare(
            table_map_key(map, map->block_count - 2), key);

        map->has_keys = order <= 0;
        block->lower = order == 0 ? block[-1].lower : map->block_count - 1;
    }
    if (map->keys.size + key.size > KEYS_SIZE_MAX) {
        map->has_keys = false;
        colander_buffer_release(&map->keys);
        return COLANDER_OK;
    }
    return colander_buffer_append(&map->keys, key.data, key.size, err);
}

/* Keeps the present block if it is an index of blocks before `limit`. */
static enum colander_code
take_index(struct table_map *map, struct table_block *block,
           const struct index_kind *kind, uint64_t limit,
           struct colander_error *err)
{
    const uint64_t end = table_block_index_end(block, 0, limit);
    struct table_place place = {0, 0};
    struct colander_slice key;
    size_t capacity = 0;
    enum colander_code code = COLANDER_OK;

    if (end == 0)
        return COLANDER_OK;
    map->has_index = true;
    map->has_keys = kind->is_known;
    if (map->data_end == TABLE_END_UNKNOWN)
        map->data_end = end;
    table_block_rewind(block);
    while (code == COLANDER_OK &&
           table_block_next_place(block, &key, &place) == TABLE_PARSED) {
        code = array_reserve(&map->blocks, map->block_count, &capacity, 1, err);
        if (code == COLANDER_OK)
            map->blocks[map->block_count++] =
                (struct table_indexed){.place = place};
        if (code == COLANDER_OK && map->has_keys)
            code = add_key(map, key, kind->has_user_keys, err);
    }
    return code;
}

static enum colander_code
try_index(struct reader *reader, struct table_place place,
          struct colander_error *err)
{
    const struct index_kind *kind = &reader->index_kind;
    bool is_read;
    enum colander_code code = read_tail(reader, place, &is_read, err);

    if (code != COLANDER_OK || !is_read || kind->type != 0)
        return code;
    return take_index(reader->map, reader->block, kind, place.offset, err);
}

static enum colander_code
read_index(struct reader *reader, struct colander_error *err)
{
    const struct tail *tail = &reader->tail;
    const uint64_t begin = tail->filter.size > 0 ? table_place_end(tail->filter)
                                                 : reader->map->data_end;
    enum colander_code code = try_index(reader, tail->index, err);

    reader->map->is_index_placed = reader->map->has_index;
    /* It is between the block before and the properties. */
    if (code == COLANDER_OK && !reader->map->has_index &&
        tail->properties.size > 0)
        code = try_index(reader, place_between(begin, tail->properties.offset),
                         err);
    return code;
}

enum colander_code
table_map_read(struct table_map *map, const struct table_source *source,
               struct table_block *block, struct colander_error *err)
{
    struct reader reader = {.map = map, .source = source, .block = block};
    enum colander_code code;

    map->data_end = TABLE_END_UNKNOWN;
    code = read_footer(&reader, err);
    if (code == COLANDER_OK)
        code = read_metaindex(&reader, err);
    map->filter = reader.tail.filter;
    if (code == COLANDER_OK)
        code = read_properties(&reader, err);
    if (code == COLANDER_OK)
        code = read_index(&reader, err);
    return code;
}

/* Whether the present block has the number of entries, as properties do. */
static bool
is_properties(struct table_block *block)
{
    struct colander_slice name;
    struct colander_slice value;

    while (table_block_next(block, &name, &value) == TABLE_PARSED) {
        if (is_named(name, ENTRY_COUNT))
            return true;
    }
    return false;
}

/* Checks that the filter ends as one. RocksDB takes any bytes for a filter. */
static enum colander_code
check_filter_end(const struct reader *reader, const char **why,
                 struct colander_error *err)
{
    const struct table_place place = reader->tail.filter;
    struct colander_buffer end = COLANDER_BUFFER_EMPTY;
    const size_t size = TABLE_FILTER_END + TABLE_TRAILER_SIZE;
    enum colander_code code = COLANDER_OK;

    if (place.size == 0)
        return COLANDER_OK;
    if (is_inside(reader->source, place) && place.size > TABLE_FILTER_END)
        code = table_source_read(reader->source, table_place_end(place) - size,
                                 size, &end, err);
    if (code == COLANDER_OK &&
        (end.size < size || !table_filter_ends(end.data)))
        *why = "its Bloom filter is damaged";
    colander_buffer_release(&end);
    return code;
}

static enum colander_code
find_whole_properties(struct reader *reader, const char **why,
                      struct colander_error *err)
{
    const struct tail *tail = &reader->tail;
    bool is_read = false;
    enum colander_code code = read_footer(reader, err);

    if (code == COLANDER_OK && tail->metaindex.size <= METAINDEX_SIZE_MAX)
        code = read_tail(reader, tail->metaindex, &is_read, err);
    if (code != COLANDER_OK)
        return code;
    if (!is_read || !take_metaindex(reader) ||
        !is_inside(reader->source, tail->index) ||
        reader->footer.checksum_kind != CHECKSUM_KIND ||
        reader->footer.version != TABLE_FORMAT ||
        reader->footer.magic != MAGIC) {
        *why = "its footer, or a block that it leads to, is damaged";
        return COLANDER_OK;
    }
    is_read = false;
    if (tail->properties.size <= PROPERTIES_SIZE_MAX)
        code = read_tail(reader, tail->properties, &is_read, err);
    if (code == COLANDER_OK && (!is_read || !is_properties(reader->block)))
        *why = "its properties are damaged";
    if (code == COLANDER_OK && *why == NULL)
        code = check_filter_end(reader, why, err);
    return code;
}

enum colander_code
table_map_check(const struct table_source *source, struct table_place *filter,
                const char **why, struct colander_error *err)
{
    struct table_map map = {0};
    struct table_block block;
    struct reader reader = {.map = &map, .source = source, .block = &block};
    enum colander_code code = table_block_init(&block, err);

    *why = NULL;
    if (code != COLANDER_OK)
        return code;
    code = find_whole_properties(&reader, why, err);
    *filter = reader.tail.filter;
    table_block_release(&block);
    return code;
}

enum colander_code
table_check_properties(const struct table_source *source, const char **why,
                       struct colander_error *err)
{
    struct table_place filter;

    return table_map_check(source, &filter, why, err);
}

void
table_map_release(struct table_map *map)
{
    colander_buffer_release(&map->family_name);
    colander_buffer_release(&map->keys);
    free(map->blocks);
    memset(map, 0, sizeof(*map));
}

struct colander_slice
table_map_after(const struct table_map *map, size_t index)
{
    if (map->has_keys && index > 0 && map->blocks[index - 1].may_go_on)
        index = map->blocks[index - 1].lower;
    return map->has_keys && index > 0 ? table_map_key(map, index - 1)
                                      : colander_slice_of(NULL, 0);
}
