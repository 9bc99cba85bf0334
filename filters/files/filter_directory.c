/*
 * Reads the directory of a filter file. Nothing in it is trusted: first the
 * checksum is compared, then every number is checked against its range and
 * against what the file can hold, before memory is allocated or a position is
 * read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/files/filter_directory.h"

#include "filters/files/dictionary_code.h"
#include "filters/order.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Read at once when a file is opened; usually contains the whole directory. */
#define ENDING_SIZE (32u << 10)

/* The least that a part, a block and a span take in the directory. */
#define PART_SIZE_MIN 15
#define PLACE_SIZE_MIN 2
#define SPAN_SIZE_MIN 6

static_assert(sizeof(struct filter_place) == 16,
              "a block costs 16 bytes of memory");

/* -------------------------------------------------------------- errors --- */

enum colander_code
filter_fail_damaged(const char *path, const char *what,
                    struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "filter file '%s' is damaged: %s", path, what);
}

enum colander_code
filter_fail_errno(const char *path, const char *what,
                  struct colander_error *err)
{
    int number = errno;
    enum colander_code code = number == ENOENT   ? COLANDER_NOT_FOUND
                              : number == ENOMEM ? COLANDER_NO_MEMORY
                                                 : COLANDER_IO;

    return COLANDER_FAIL(err, code, "cannot %s filter file '%s': %s", what,
                         path, strerror(number));
}

enum colander_code
filter_fail_memory(const char *path, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                         "no memory to read filter file '%s'", path);
}

/* --------------------------------------------------------------- bytes --- */

void
filter_beginning(uint32_t version, uint64_t salt,
                 uint8_t bytes[FILTER_BEGINNING_SIZE])
{
    memcpy(bytes, FILTER_FILE_MAGIC, FILTER_MAGIC_SIZE);
    bytes_put_le32(bytes + 8, version);
    bytes_put_le32(bytes + 12, 0);
    bytes_put_le64(bytes + 16, salt);
}

uint64_t
filter_checksum(struct colander_slice bytes, uint64_t salt, uint64_t offset)
{
    return XXH3_64bits_withSeed(bytes.size == 0 ? (const void *)""
                                                : (const void *)bytes.data,
                                bytes.size, salt + offset);
}

uint32_t
filter_key_sum(struct colander_slice key)
{
    return (uint32_t)filter_checksum(key, 0, 0);
}

/* --------------------------------------------------------------- parts --- */

static bool
presence_is_valid(const struct presence_shape *shape)
{
    if (shape->block_count > PRESENCE_BLOCKS_MAX ||
        shape->probes > PRESENCE_PROBES_MAX || shape->hash_bits > 64)
        return false;
    return shape->block_count == 0 ||
           (shape->probes >= 1 && shape->hash_bits >= 1);
}

bool
filter_part_is_valid(const struct filter_part *part)
{
    return locator_shape_is_sound(&part->shape) &&
           part->shape.coarse <= LOCATOR_UNIT_MAX &&
           presence_is_valid(&part->presence) &&
           part->hash_count <= UINT64_C(1) << part->shape.hash_bits &&
           colander_slice_compare(part->first_key, part->last_key) <= 0;
}

uint64_t
filter_part_places(const struct filter_part *part, enum filter_block_kind kind)
{
    switch (kind) {
    case FILTER_LOCATOR:
        return UINT64_C(1) << part->shape.group_bits;
    case FILTER_KEYS:
        return locator_units(&part->shape, part->shape.fine);
    case FILTER_PRESENCE:
        return part->presence.block_count;
    case FILTER_DICTIONARY:
        return dictionary_first(LOCATOR_TAGS, 0);
    default:
        return ORDER_PLACES;
    }
}

/* ------------------------------------------------------------- endings --- */

enum colander_code
filter_read(const struct filter_source *source, uint8_t *bytes, size_t size,
            uint64_t offset, struct colander_error *err)
{
    const struct colander_remote_files *remote = source->remote;

    if (remote != NULL)
        return remote->read(remote->context, source->path, offset, bytes, size,
                            err);
    while (size > 0) {
        ssize_t got = pread(source->fd, bytes, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return filter_fail_errno(source->path, "read", err);
        if (got == 0)
            return filter_fail_damaged(source->path, "it is truncated", err);
        bytes += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return COLANDER_OK;
}

/* The end of a file: the directory, and what the footer says about it. */
struct ending {
    uint8_t *bytes; /* owned */
    struct colander_slice directory;
    uint64_t offset; /* of the directory */
    uint64_t checksum;
    uint64_t file_size;
    uint32_t version;
};

/* Checks that the footer and the size of the file agree. */
static enum colander_code
check_footer(struct ending *ending, const uint8_t *footer, const char *path,
             struct colander_error *err)
{
    uint32_t version = bytes_get_le32(footer + 28);
    uint64_t size = bytes_get_le64(footer + 8);
    uint64_t room = ending->file_size - FILTER_FOOTER_SIZE;

    if (memcmp(footer + 32, FILTER_FILE_MAGIC, FILTER_MAGIC_SIZE) != 0)
        return filter_fail_damaged(path, "it has no footer", err);
    if (version > FILTER_FILE_VERSION)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "filter file '%s' has version %u, this version of "
                             "colander reads up to %u",
                             path, version, FILTER_FILE_VERSION);
    ending->version = version;
    ending->offset = bytes_get_le64(footer);
    ending->checksum = bytes_get_le64(footer + 16);
    if (version < FILTER_FILE_VERSION_OLDEST ||
        bytes_get_le32(footer + 24) != 0 ||
        ending->offset < FILTER_BEGINNING_SIZE || ending->offset > room ||
        size != room - ending->offset)
        return filter_fail_damaged(path, "its footer is damaged", err);
    ending->directory.size = (size_t)size;
    return COLANDER_OK;
}

/* Reads the directory, usually from what was read with the footer. */
static enum colander_code
read_directory(struct ending *ending, size_t got,
               const struct filter_source *source, struct colander_error *err)
{
    size_t size = ending->directory.size;
    uint8_t *grown;

    if (size + FILTER_FOOTER_SIZE <= got) {
        ending->directory.data =
            ending->bytes + (got - FILTER_FOOTER_SIZE - size);
        return COLANDER_OK;
    }
    grown = realloc(ending->bytes, size);
    if (grown == NULL)
        return filter_fail_memory(source->path, err);
    ending->bytes = grown;
    ending->directory.data = grown;
    return filter_read(source, grown, size, ending->offset, err);
}

static enum colander_code
read_ending(struct ending *ending, const struct filter_source *source,
            struct colander_error *err)
{
    const char *path = source->path;
    struct stat status;
    enum colander_code code;
    size_t size;

    if (fstat(source->fd, &status) != 0)
        return filter_fail_errno(path, "look at", err);
    if (!S_ISREG(status.st_mode))
        return filter_fail_damaged(path, "it is not a regular file", err);
    if (status.st_size < FILTER_BEGINNING_SIZE + FILTER_FOOTER_SIZE)
        return filter_fail_damaged(path, "it is too short", err);
    ending->file_size = (uint64_t)status.st_size;
    size = ending->file_size < ENDING_SIZE ? (size_t)ending->file_size
                                           : ENDING_SIZE;
    ending->bytes = malloc(size);
    if (ending->bytes == NULL)
        return filter_fail_memory(path, err);
    code =
        filter_read(source, ending->bytes, size, ending->file_size - size, err);
    if (code == COLANDER_OK)
        code = check_footer(ending, ending->bytes + size - FILTER_FOOTER_SIZE,
                            path, err);
    if (code == COLANDER_OK)
        code = read_directory(ending, size, source, err);
    if (code != COLANDER_OK)
        return code;
    if (filter_checksum(ending->directory, 0, ending->offset) !=
        ending->checksum)
        return filter_fail_damaged(
            path, "the checksum of its directory is wrong", err);
    return COLANDER_OK;
}

/* ------------------------------------------------------------ decoding --- */

/* Reads a number of at most `max`. */
static uint64_t
take_number(struct bytes_reader *input, uint64_t max)
{
    uint64_t number = bytes_read_varint(input);

    input->is_bad = input->is_bad || number > max;
    return input->is_bad ? 0 : number;
}

/* Takes hashes of paths. Returns how many. */
static uint32_t
take_paths(struct bytes_reader *input, uint64_t paths[FILTER_PATHS_MAX])
{
    const uint32_t count = (uint32_t)take_number(input, FILTER_PATHS_MAX);

    for (uint32_t i = 0; i < count; i++)
        paths[i] = bytes_read_le(input, 8);
    return count;
}

static void
take_head(struct bytes_reader *input, uint32_t version,
          struct filter_head *head)
{
    struct colander_slice tag = bytes_read(input, SST_TAG_SIZE);

    if (tag.size == SST_TAG_SIZE)
        memcpy(head->tag, tag.data, SST_TAG_SIZE);
    head->entry_count = take_number(input, UINT64_MAX);
    head->words_version = take_number(input, UINT64_MAX);
    if (version >= FILTER_FILE_VERSION_DICTIONARIES)
        head->words_size = take_number(input, UINT64_MAX);
    head->hash_version = (uint32_t)take_number(input, UINT32_MAX);
    head->unfiltered_count = take_paths(input, head->unfiltered);
}

/* The parts being decoded, and the memory used so far. */
struct decoder {
    struct bytes_reader input;
    struct filter_file *file;
    uint32_t version;
    uint32_t kinds;              /* that the version has */
    uint64_t key_offset;         /* of the next key, in file->keys */
    uint32_t next;               /* index of the next part */
    uint32_t ends[FILTER_KINDS]; /* of the places of each kind of the part */
    uint64_t offset;             /* of the next block */
    uint64_t end;                /* of all blocks */
};

/* Copies a key after those copied before. */
static struct colander_slice
take_key(struct decoder *decoder)
{
    uint64_t room = decoder->file->key_size - decoder->key_offset;
    uint64_t size = take_number(&decoder->input, room);
    struct colander_slice key = bytes_read(&decoder->input, size);
    uint8_t *copy = decoder->file->keys + decoder->key_offset;

    if (key.size > 0)
        memcpy(copy, key.data, key.size);
    decoder->key_offset += key.size;
    return colander_slice_of(copy, key.size);
}

static void
take_part(struct decoder *decoder, struct filter_part *part)
{
    struct bytes_reader *input = &decoder->input;

    part->shape.row_count = (uint32_t)take_number(input, UINT32_MAX);
    part->shape.fine = (uint32_t)take_number(input, UINT32_MAX);
    part->shape.coarse = (uint32_t)take_number(input, UINT32_MAX);
    part->shape.hash_bits = (uint8_t)bytes_read_le(input, 1);
    part->shape.group_bits = (uint8_t)bytes_read_le(input, 1);
    part->presence.block_count = (uint32_t)take_number(input, UINT32_MAX);
    part->presence.probes = (uint8_t)bytes_read_le(input, 1);
    part->presence.hash_bits = (uint8_t)bytes_read_le(input, 1);
    part->hash_count = take_number(input, UINT64_MAX);
    part->first_key = take_key(decoder);
    part->last_key = take_key(decoder);
    if (!input->is_bad && !filter_part_is_valid(part))
        input->is_bad = true;
}

/* Reads the next block of the part. Its position follows from those before. */
static void
take_place(struct decoder *decoder, struct filter_part *part)
{
    const uint64_t word_max =
        ((uint64_t)FILTER_BLOCK_SIZE_MAX + 1) * decoder->kinds - 1;
    uint64_t word = take_number(&decoder->input, word_max);
    uint64_t first = take_number(&decoder->input, UINT32_MAX);
    enum filter_block_kind kind =
        (enum filter_block_kind)(word % decoder->kinds);
    uint64_t size = word / decoder->kinds + FILTER_CHECKSUM_SIZE;
    uint32_t index = part->block_first[kind] + part->block_count[kind];
    struct filter_place *place = &decoder->file->places[index];
    bool is_good = !decoder->input.is_bad && index < decoder->ends[kind] &&
                   size <= decoder->end - decoder->offset;

    if (is_good && part->block_count[kind] > 0) {
        is_good = first > 0;
        first += place[-1].first;
    }
    if (!is_good || first >= filter_part_places(part, kind)) {
        decoder->input.is_bad = true;
        return;
    }
    place->offset = decoder->offset;
    place->size = (uint32_t)(size - FILTER_CHECKSUM_SIZE);
    place->first = (uint32_t)first;
    part->block_count[kind]++;
    decoder->offset += size;
    decoder->file->kind_sizes[kind] += size;
}

/* Reads the blocks of a part: the number of each kind, then each block, in the
 * order of the file. */
static void
take_places(struct decoder *decoder, struct filter_part *part)
{
    uint32_t before = decoder->next;

    for (unsigned kind = 0; kind < FILTER_KINDS; kind++) {
        uint32_t left = decoder->file->place_count - decoder->next;

        part->block_first[kind] = decoder->next;
        if (kind < decoder->kinds)
            decoder->next += (uint32_t)take_number(&decoder->input, left);
        decoder->ends[kind] = decoder->next;
    }
    for (uint32_t i = before; i < decoder->next && !decoder->input.is_bad; i++)
        take_place(decoder, part);
}

/* Allocates a file with these numbers of parts, blocks and bytes of keys. */
static struct filter_file *
file_create(uint64_t part_count, uint64_t place_count, uint64_t key_size,
            const char *path)
{
    size_t path_size = strlen(path) + 1;
    size_t parts_size = part_count * sizeof(struct filter_part);
    size_t places_size = place_count * sizeof(struct filter_place);
    size_t size = sizeof(struct filter_file) + parts_size + places_size +
                  key_size + path_size;
    struct filter_file *file = calloc(1, size);
    uint8_t *rest;

    if (file == NULL)
        return NULL;
    rest = (uint8_t *)file + sizeof(*file);
    atomic_init(&file->reference_count, 1);
    file->part_count = (uint32_t)part_count;
    file->place_count = (uint32_t)place_count;
    file->key_size = key_size;
    file->parts = (struct filter_part *)(void *)rest;
    file->places = (struct filter_place *)(void *)(rest + parts_size);
    file->keys = rest + parts_size + places_size;
    file->path = (char *)file->keys + key_size;
    memcpy(file->path, path, path_size);
    return file;
}

static_assert(sizeof(struct filter_file) % 8 == 0 &&
                  sizeof(struct filter_part) % 8 == 0,
              "what follows in the same memory is aligned");

/* Reads the spans. Each has its distance from the one before. */
static enum colander_code
take_spans(struct decoder *decoder, const char *path,
           struct colander_error *err)
{
    struct filter_file *file = decoder->file;
    const uint64_t count =
        take_number(&decoder->input, decoder->input.left.size / SPAN_SIZE_MIN);
    struct filter_span before = {0, 0, 0};

    if (count == 0 || count > UINT32_MAX)
        return COLANDER_OK;
    file->spans = calloc((size_t)count, sizeof(*file->spans));
    if (file->spans == NULL)
        return filter_fail_memory(path, err);
    file->span_count = (uint32_t)count;
    for (uint32_t i = 0; i < file->span_count && !decoder->input.is_bad; i++) {
        const uint64_t offset = take_number(&decoder->input, INT64_MAX);
        const uint64_t rows =
            take_number(&decoder->input, UINT32_MAX - before.first_row);

        decoder->input.is_bad |= i > 0 && offset == 0;
        before.offset += offset;
        before.first_row += (uint32_t)rows;
        before.key_sum = (uint32_t)bytes_read_le(&decoder->input, 4);
        file->spans[i] = before;
    }
    return COLANDER_OK;
}

static void
take_parts(struct decoder *decoder)
{
    struct filter_file *file = decoder->file;
    uint64_t rows = 0;

    for (uint32_t i = 0; i < file->part_count && !decoder->input.is_bad; i++) {
        take_part(decoder, &file->parts[i]);
        take_places(decoder, &file->parts[i]);
        file->parts[i].first_row = rows;
        rows += file->parts[i].shape.row_count;
    }
}

/* Everything must have been used: the whole directory, and every byte of the
 * file. */
static bool
is_complete(const struct decoder *decoder)
{
    const struct filter_file *file = decoder->file;

    return !decoder->input.is_bad && decoder->input.left.size == 0 &&
           decoder->key_offset == file->key_size &&
           decoder->next == file->place_count &&
           decoder->offset == decoder->end;
}

/* Reads what describes the whole file, and allocates memory for the rest. A
 * count is accepted only if the rest of the directory could hold as much. */
static enum colander_code
take_file(struct decoder *decoder, const char *path, struct colander_error *err)
{
    struct bytes_reader *input = &decoder->input;
    struct filter_head head = {0};
    uint64_t salt = bytes_read_le(input, 8);
    uint64_t part_count;
    uint64_t place_count;
    uint64_t key_size;

    take_head(input, decoder->version, &head);
    part_count = take_number(input, input->left.size / PART_SIZE_MIN);
    place_count = take_number(input, input->left.size / PLACE_SIZE_MIN);
    key_size = take_number(input, input->left.size);
    if (input->is_bad || part_count > UINT32_MAX || place_count > UINT32_MAX)
        return filter_fail_damaged(path, "its directory is invalid", err);
    decoder->file = file_create(part_count, place_count, key_size, path);
    if (decoder->file == NULL)
        return filter_fail_memory(path, err);
    decoder->file->head = head;
    decoder->file->salt = salt;
    return COLANDER_OK;
}

void
filter_directory_free(struct filter_file *file)
{
    if (file != NULL)
        free(file->spans);
    free(file);
}

static enum colander_code
decode_directory(const struct ending *ending, const char *path,
                 struct filter_file **file, struct colander_error *err)
{
    struct decoder decoder = {0};
    enum colander_code code;

    decoder.input = bytes_reader_of(ending->directory);
    decoder.offset = FILTER_BEGINNING_SIZE;
    decoder.end = ending->offset;
    decoder.version = ending->version;
    decoder.kinds = ending->version < FILTER_FILE_VERSION_DICTIONARIES
                        ? FILTER_DICTIONARY
                        : FILTER_KINDS;
    code = take_file(&decoder, path, err);
    if (code != COLANDER_OK)
        return code;
    take_parts(&decoder);
    if (ending->version > FILTER_FILE_VERSION_OLDEST)
        code = take_spans(&decoder, path, err);
    if (ending->version >= FILTER_FILE_VERSION_WORD_COLUMNS)
        decoder.file->head.word_column_count =
            take_paths(&decoder.input, decoder.file->head.word_columns);
    if (code == COLANDER_OK && !is_complete(&decoder))
        code = filter_fail_damaged(path, "its directory is invalid", err);
    if (code != COLANDER_OK) {
        filter_directory_free(decoder.file);
        return code;
    }
    if (ending->version < FILTER_FILE_VERSION_WORDS) /* another number */
        decoder.file->head.words_version = 0;
    decoder.file->version = ending->version;
    decoder.file->size = ending->file_size;
    decoder.file->checksum = ending->checksum;
    *file = decoder.file;
    return COLANDER_OK;
}

enum colander_code
filter_directory_read(const struct filter_source *source,
                      struct filter_file **file, struct colander_error *err)
{
    struct ending ending = {0};
    enum colander_code code = read_ending(&ending, source, err);

    if (code == COLANDER_OK)
        code = decode_directory(&ending, source->path, file, err);
    free(ending.bytes);
    return code;
}
