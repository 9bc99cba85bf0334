/*
 * Keys: tuples of scalars as bytes whose order is the order of the tuples.
 *
 * Each tuple has exactly one encoding, and the reader takes nothing else: two
 * keys are the same when their bytes are. The order of parts is that of
 * colander_value_compare; a tuple sorts before those that continue it.
 *
 * Bytes: columns/FORMAT.md, "Keys"
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/key.h"

#include "columns/utf8.h"
#include "columns/value.h"
#include "core/bytes.h"

#include <math.h>

enum key_tag {
    TAG_FALSE = 0x08,
    TAG_TRUE = 0x09,
    TAG_DOUBLE_LOW = 0x10,  /* below every int64_t */
    TAG_ZERO = 0x19,        /* minus or plus N: integers of N bytes, 1 to 8 */
    TAG_DOUBLE_HIGH = 0x22, /* above every uint64_t */
    TAG_NAN = 0x23,
    TAG_STRING = 0x30,
    TAG_BINARY = 0x38,
    TAG_TIMESTAMP = 0x40,
    TAG_EXTENSION = 0x48,
};

#define ESCAPE 0xFF /* follows a zero byte of the content */
#define FRACTION KEY_RANGE_END
#define SIGN_BIT (UINT64_C(1) << 63)

/* The bits of a double, changed so that they order as it does. */
static uint64_t
ordered_of_double(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return (bits & SIGN_BIT) != 0 ? ~bits : bits | SIGN_BIT;
}

static double
double_of_ordered(uint64_t ordered)
{
    uint64_t bits = (ordered & SIGN_BIT) != 0 ? ordered & ~SIGN_BIT : ~ordered;
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* The whole part below `number`, which fits int64_t. */
static int64_t
floor_of(double number)
{
    int64_t whole = (int64_t)number;

    return (double)whole > number ? whole - 1 : whole;
}

/* ------------------------------------------------------------- encode --- */

/* The key so far, kept away from the caller's buffer until it is whole. */
struct key_writer {
    size_t size;
    bool is_full; /* something did not fit, and is not there */
    uint8_t bytes[COLANDER_KEY_SIZE_MAX];
};

static void
write_bytes(struct key_writer *writer, const void *data, size_t size)
{
    if (size > sizeof(writer->bytes) - writer->size) {
        writer->is_full = true;
        return;
    }
    if (size > 0)
        memcpy(writer->bytes + writer->size, data, size);
    writer->size += size;
}

/* `tag`, then the low `size` bytes of `bits`, the highest first. */
static void
write_tagged(struct key_writer *writer, unsigned tag, uint64_t bits,
             size_t size)
{
    uint8_t bytes[1 + sizeof(bits)];

    bytes[0] = (uint8_t)tag;
    bytes_put_be(bytes + 1, bits, size);
    write_bytes(writer, bytes, 1 + size);
}

/* The fewest bytes that hold `magnitude`: none for 0. */
static unsigned
magnitude_size(uint64_t magnitude)
{
    if (magnitude == 0)
        return 0;
    return (unsigned)(71 - __builtin_clzll(magnitude)) / 8;
}

static void
write_natural(struct key_writer *writer, uint64_t natural)
{
    unsigned size = magnitude_size(natural);

    write_tagged(writer, TAG_ZERO + size, natural, size);
}

static void
write_integer(struct key_writer *writer, int64_t integer)
{
    uint64_t magnitude = 0 - (uint64_t)integer;
    unsigned size = magnitude_size(magnitude);

    if (integer >= 0)
        write_natural(writer, (uint64_t)integer);
    else
        write_tagged(writer, TAG_ZERO - size, ~magnitude, size);
}

static void
write_double(struct key_writer *writer, double number)
{
    uint64_t ordered = ordered_of_double(number);
    int64_t whole;

    if (isnan(number)) {
        write_tagged(writer, TAG_NAN, 0, 0);
    } else if (number < -0x1p63) {
        write_tagged(writer, TAG_DOUBLE_LOW, ordered, sizeof(ordered));
    } else if (number >= 0x1p64) {
        write_tagged(writer, TAG_DOUBLE_HIGH, ordered, sizeof(ordered));
    } else if (number >= 0x1p63) {
        write_natural(writer, (uint64_t)number);
    } else {
        whole = floor_of(number);
        write_integer(writer, whole);
        if ((double)whole != number)
            write_tagged(writer, FRACTION, ordered, sizeof(ordered));
    }
}

/* The bytes and their end; a zero byte inside gets the escape. */
static void
write_content(struct key_writer *writer, struct colander_slice content)
{
    static const uint8_t escaped_zero[] = {0, ESCAPE};
    const uint8_t *at = content.data;
    size_t left = content.size;

    while (left > 0 && !writer->is_full) {
        const uint8_t *zero = memchr(at, 0, left);
        size_t run = zero == NULL ? left : (size_t)(zero - at);

        write_bytes(writer, at, run);
        if (zero == NULL)
            break;
        write_bytes(writer, escaped_zero, sizeof(escaped_zero));
        at = zero + 1;
        left -= run + 1;
    }
    write_bytes(writer, escaped_zero, 1);
}

static void
write_timestamp(struct key_writer *writer, int64_t second, uint32_t nanosecond)
{
    uint8_t bytes[sizeof(nanosecond)];

    bytes_put_be32(bytes, nanosecond);
    write_tagged(writer, TAG_TIMESTAMP, (uint64_t)second ^ SIGN_BIT, 8);
    write_bytes(writer, bytes, sizeof(bytes));
}

static void
write_part(struct key_writer *writer, const struct colander_value *part)
{
    const bool is_text = part->type == COLANDER_STRING;

    switch (part->type) {
    case COLANDER_BOOLEAN:
        write_tagged(writer, part->boolean ? TAG_TRUE : TAG_FALSE, 0, 0);
        break;
    case COLANDER_INTEGER:
        write_integer(writer, part->integer);
        break;
    case COLANDER_UNSIGNED:
        write_natural(writer, part->natural);
        break;
    case COLANDER_DOUBLE:
        write_double(writer, part->number);
        break;
    case COLANDER_STRING:
    case COLANDER_BINARY:
        write_tagged(writer, is_text ? TAG_STRING : TAG_BINARY, 0, 0);
        write_content(writer, part->bytes);
        break;
    case COLANDER_TIMESTAMP:
        write_timestamp(writer, part->second, part->nanosecond);
        break;
    default:
        write_tagged(writer, TAG_EXTENSION,
                     (uint8_t)part->extension_type ^ 0x80u, 1);
        write_content(writer, part->bytes);
        break;
    }
}

static enum colander_code
encode_part(const struct colander_value *part, struct key_writer *writer,
            struct colander_error *err)
{
    enum colander_code code;

    if (part->type == COLANDER_NULL || part->type >= COLANDER_ARRAY)
        return COLANDER_FAIL(err, COLANDER_INVALID, "%s cannot be in a key",
                             colander_type_name(part->type));
    code = value_check(part, err);
    if (code != COLANDER_OK)
        return code;
    write_part(writer, part);
    if (writer->is_full)
        return COLANDER_FAIL(err, COLANDER_LIMIT, "key is longer than %d bytes",
                             COLANDER_KEY_SIZE_MAX);
    return COLANDER_OK;
}

static enum colander_code
encode(const struct colander_value *parts, size_t count,
       struct key_writer *writer, struct colander_error *err)
{
    if (count == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID, "key has no parts");
    if (count > COLANDER_KEY_PARTS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "key part %d: key has %zu parts, %d are allowed",
                             COLANDER_KEY_PARTS_MAX + 1, count,
                             COLANDER_KEY_PARTS_MAX);
    writer->size = 0;
    writer->is_full = false;
    for (size_t i = 0; i < count; i++) {
        enum colander_code code = encode_part(&parts[i], writer, err);

        if (code != COLANDER_OK) {
            colander_error_context(err, "key part %zu", i + 1);
            return code;
        }
    }
    return COLANDER_OK;
}

enum colander_code
colander_key_encode(const struct colander_value *parts, size_t count,
                    struct colander_buffer *key, struct colander_error *err)
{
    struct key_writer writer;
    enum colander_code code = encode(parts, count, &writer, err);
    size_t missing;

    if (code != COLANDER_OK)
        return code;
    missing = writer.size > key->size ? writer.size - key->size : 0;
    code = colander_buffer_reserve(key, missing, err);
    if (code != COLANDER_OK)
        return code;
    colander_buffer_clear(key);
    return colander_buffer_append(key, writer.bytes, writer.size, err);
}

enum colander_code
colander_key_encode_value(const struct colander_value *value,
                          struct colander_buffer *key,
                          struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_members members;
    struct colander_slice no_name;
    enum colander_code code;
    bool is_part;
    size_t count;

    if (value->type != COLANDER_ARRAY)
        return colander_key_encode(value, 1, key, err);
    code = colander_members_init(&members, value->bytes, err);
    count = members.left;
    for (size_t i = 0; i < count && i < COLANDER_KEY_PARTS_MAX; i++) {
        if (code == COLANDER_OK)
            code = colander_members_next(&members, &is_part, &no_name,
                                         &parts[i], err);
    }
    return code == COLANDER_OK ? colander_key_encode(parts, count, key, err)
                               : code;
}

struct colander_slice
colander_key_of(struct colander_key *key, const struct colander_value *parts,
                size_t count)
{
    struct key_writer writer;

    key->bytes[0] = 0; /* no key begins with it */
    if (encode(parts, count, &writer, NULL) != COLANDER_OK)
        return colander_slice_of(key->bytes, 1);
    memcpy(key->bytes, writer.bytes, writer.size);
    return colander_slice_of(key->bytes, writer.size);
}

/* ------------------------------------------------------------- decode --- */

struct key_reader {
    const uint8_t *at;
    const uint8_t *end;
};

/* One part, as it is in the key. */
struct key_part {
    struct colander_value value; /* its bytes still with their escapes */
    size_t escape_count;
};

/* The functions below return NULL, or a text that says what is wrong. This one
 * shifts the bytes into *bits. */
static const char *
read_number(struct key_reader *reader, size_t size, uint64_t *bits)
{
    if ((size_t)(reader->end - reader->at) < size)
        return "ends too early";
    for (size_t i = 0; i < size; i++)
        *bits = *bits << 8 | reader->at[i];
    reader->at += size;
    return NULL;
}

static const char *
read_fraction(struct key_reader *reader, struct colander_value *value)
{
    uint64_t ordered = 0;
    const char *problem = read_number(reader, sizeof(ordered), &ordered);
    double number;

    if (problem != NULL)
        return problem;
    number = double_of_ordered(ordered);
    if (value->type != COLANDER_INTEGER ||
        !(number > -0x1p63 && number < 0x1p63) ||
        floor_of(number) != value->integer)
        return "fraction does not belong to its integer";
    if ((double)value->integer == number)
        return "fraction is a whole number";
    *value = colander_double(number);
    return NULL;
}

/* `size` is below 0 for negative integers. */
static const char *
read_integer(struct key_reader *reader, int size, struct colander_value *value)
{
    unsigned byte_count = (unsigned)(size < 0 ? -size : size);
    uint64_t bits = size < 0 ? UINT64_MAX : 0;
    const char *problem = read_number(reader, byte_count, &bits);

    if (problem != NULL)
        return problem;
    if (size < 0)
        bits = ~bits;
    if (magnitude_size(bits) != byte_count)
        return "integer is longer than it needs to be";
    if (size < 0 && bits > SIGN_BIT)
        return "negative integer is out of range";
    *value = size < 0 ? colander_integer((int64_t)(0 - bits))
                      : colander_unsigned(bits);
    if (reader->at < reader->end && *reader->at == FRACTION) {
        reader->at++;
        return read_fraction(reader, value);
    }
    return NULL;
}

static const char *
read_double(struct key_reader *reader, unsigned tag,
            struct colander_value *value)
{
    uint64_t ordered = 0;
    const char *problem = read_number(reader, sizeof(ordered), &ordered);
    double number;

    if (problem != NULL)
        return problem;
    number = double_of_ordered(ordered);
    if (tag == TAG_DOUBLE_LOW ? !(number < -0x1p63) : !(number >= 0x1p64))
        return "double is within the integers, or no number";
    *value = colander_double(number);
    return NULL;
}

/* No character of more bytes has a zero byte in it, so text is valid when all
 * runs between zero bytes are. */
static const char *
read_content(struct key_reader *reader, struct key_part *part)
{
    const bool is_text = part->value.type == COLANDER_STRING;
    const uint8_t *start = reader->at;
    const uint8_t *run = start;

    for (;;) {
        const uint8_t *zero = memchr(run, 0, (size_t)(reader->end - run));

        if (zero == NULL)
            return "has no end";
        if (is_text && !utf8_is_valid(run, (size_t)(zero - run)))
            return "string is not UTF-8";
        run = zero + 1;
        if (run == reader->end || *run != ESCAPE) {
            part->value.bytes =
                colander_slice_of(start, (size_t)(zero - start));
            reader->at = run;
            return NULL;
        }
        part->escape_count++;
        run++;
    }
}

static const char *
read_timestamp(struct key_reader *reader, struct colander_value *value)
{
    uint64_t second = 0;
    uint64_t nanosecond = 0;
    const char *problem = read_number(reader, 8, &second);

    if (problem == NULL)
        problem = read_number(reader, 4, &nanosecond);
    if (problem == NULL && nanosecond >= VALUE_NANOSECONDS)
        problem = "timestamp has too many nanoseconds";
    *value =
        colander_timestamp((int64_t)(second ^ SIGN_BIT), (uint32_t)nanosecond);
    return problem;
}

static const char *
read_extension(struct key_reader *reader, struct key_part *part)
{
    uint64_t type = 0;
    const char *problem = read_number(reader, 1, &type);

    if (problem != NULL)
        return problem;
    part->value.type = COLANDER_EXTENSION;
    part->value.extension_type = (int8_t)((int)type - 128);
    if (part->value.extension_type == VALUE_TIMESTAMP_TYPE)
        return "extension has the type of timestamps";
    return read_content(reader, part);
}

/* There is at least one byte. */
static const char *
read_part(struct key_reader *reader, struct key_part *part)
{
    unsigned tag = *reader->at++;

    part->value = colander_null();
    part->escape_count = 0;
    if (tag > TAG_DOUBLE_LOW && tag < TAG_DOUBLE_HIGH)
        return read_integer(reader, (int)tag - TAG_ZERO, &part->value);
    switch (tag) {
    case TAG_FALSE:
    case TAG_TRUE:
        part->value = colander_boolean(tag == TAG_TRUE);
        return NULL;
    case TAG_DOUBLE_LOW:
    case TAG_DOUBLE_HIGH:
        return read_double(reader, tag, &part->value);
    case TAG_NAN:
        part->value = colander_double((double)NAN);
        return NULL;
    case TAG_STRING:
    case TAG_BINARY:
        part->value.type =
            tag == TAG_STRING ? COLANDER_STRING : COLANDER_BINARY;
        return read_content(reader, part);
    case TAG_TIMESTAMP:
        return read_timestamp(reader, &part->value);
    case TAG_EXTENSION:
        return read_extension(reader, part);
    default:
        return "unknown type tag";
    }
}

bool
key_is_valid(struct colander_slice key)
{
    struct key_reader reader;
    struct key_part part;
    size_t count = 0;

    if (key.size == 0 || key.size > COLANDER_KEY_SIZE_MAX)
        return false;
    reader.at = key.data;
    reader.end = key.data + key.size;
    while (reader.at < reader.end) {
        if (count++ == COLANDER_KEY_PARTS_MAX ||
            read_part(&reader, &part) != NULL)
            return false;
    }
    return true;
}

/* Moves the content into `scratch`, which has room, without its escapes. */
static void
unescape(struct key_part *part, struct colander_buffer *scratch)
{
    const uint8_t *from = part->value.bytes.data;
    const uint8_t *end = from + part->value.bytes.size;
    uint8_t *start = scratch->data + scratch->size;
    uint8_t *to = start;

    while (from < end) {
        *to++ = *from;
        from += *from == 0 ? 2 : 1;
    }
    scratch->size += (size_t)(to - start);
    part->value.bytes = colander_slice_of(start, (size_t)(to - start));
}

static enum colander_code
decode_part(struct colander_slice key, struct key_reader *reader,
            struct colander_value *value, struct colander_buffer *scratch,
            struct colander_error *err)
{
    const char *problem;
    struct key_part part;

    problem = read_part(reader, &part);
    if (problem != NULL)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "%s", problem);
    if (part.escape_count > 0) {
        /* Room for all parts at once: what was unescaped must not move. */
        size_t room = key.size - scratch->size;
        enum colander_code code = colander_buffer_reserve(scratch, room, err);

        if (code != COLANDER_OK)
            return code;
        unescape(&part, scratch);
    }
    *value = part.value;
    return COLANDER_OK;
}

enum colander_code
colander_key_decode(struct colander_slice key, struct colander_value *parts,
                    size_t *count, struct colander_buffer *scratch,
                    struct colander_error *err)
{
    struct key_reader reader;
    size_t done = 0;

    *count = 0;
    colander_buffer_clear(scratch);
    if (key.size == 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "key is empty");
    if (key.size > COLANDER_KEY_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "key has %zu bytes, %d are allowed", key.size,
                             COLANDER_KEY_SIZE_MAX);
    reader.at = key.data;
    reader.end = key.data + key.size;
    while (reader.at < reader.end) {
        enum colander_code code;

        if (done == COLANDER_KEY_PARTS_MAX)
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "key has more than %d parts",
                                 COLANDER_KEY_PARTS_MAX);
        code = decode_part(key, &reader, &parts[done], scratch, err);
        if (code != COLANDER_OK) {
            colander_error_context(err, "key part %zu", done + 1);
            return code;
        }
        done++;
    }
    *count = done;
    return COLANDER_OK;
}
