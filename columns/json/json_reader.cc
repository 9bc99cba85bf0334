/*
 * Rows from JSON: simdjson parses the text, and this file packs the result.
 *
 * Nothing throws here: simdjson is used without exceptions and reports when
 * memory is short, and all else is buffers. A text that simdjson refuses is
 * parsed again (json_fault.h) to find the place. Only the row check knows the
 * rules for rows.
 *
 * This uses simdjson's object model and not its On-Demand interface. Most of
 * On-Demand is compiled with its caller, for the oldest processor that a
 * package supports, and takes twice the time.
 *
 * SPDX-License-Identifier: MIT
 */

/* C++ would have it that the function colander_family_sizes hides the
 * constructor of the struct of that name. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "columns/columns.h"
#pragma GCC diagnostic pop
extern "C" {
#include "columns/json/json_fault.h"
#include "columns/msgpack.h"
#include "columns/row.h"
}

#include <msgpack.h>

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <cassert>
#include <new>

namespace dom = simdjson::dom;

/* Bytes of text that the reader makes room for at least. */
#define CAPACITY_MIN 4096

/* The depth of the parser has one level more. It does not count an empty
 * container, so the row check may still have to refuse one. */
#define PARSER_DEPTH_MAX (COLANDER_ROW_DEPTH_MAX + 1)

/* simdjson counts the members of a container up to here, which is more than a
 * text has room for: a member takes two bytes, the row around them six. */
#define COUNT_MAX 0xffffffu

static_assert(2 * COUNT_MAX + 6 > COLANDER_JSON_SIZE_MAX,
              "no container has more members than are counted");

struct colander_json_reader {
    dom::parser parser;
    dom::document document;
    struct colander_buffer text; /* a copy, followed by simdjson's padding */
    struct colander_buffer row;
    struct colander_buffer key;
    struct colander_error *err; /* of the call */
    bool has_fault;             /* of the last text; its byte: */
    size_t fault_at;
};

/* As colander_buffer_append, to be inlined: pieces of a row are short. */
static inline enum colander_code
append(struct colander_json_reader *reader, const void *data, size_t size)
{
    struct colander_buffer *row = &reader->row;

    if (size > row->capacity - row->size)
        return colander_buffer_append(row, data, size, reader->err);
    memcpy(row->data + row->size, data, size);
    row->size += size;
    return COLANDER_OK;
}

/* msgpack_packer_write */
static inline int
append_packed(void *context, const char *data, size_t size)
{
    enum colander_code code =
        append(static_cast<struct colander_json_reader *>(context), data, size);

    return code == COLANDER_OK ? 0 : -1;
}

/* A packer that appends to the row. Made where it is used, it is inlined. */
static inline msgpack_packer
packer_of(struct colander_json_reader *reader)
{
    return {reader, append_packed};
}

struct colander_json_reader *
colander_json_reader_create(void)
{
    return new (std::nothrow) colander_json_reader();
}

void
colander_json_reader_destroy(struct colander_json_reader *reader)
{
    if (reader == nullptr)
        return;
    colander_buffer_release(&reader->text);
    colander_buffer_release(&reader->row);
    colander_buffer_release(&reader->key);
    delete reader;
}

/* ------------------------------------------------------------- values --- */

static enum colander_code append_value(struct colander_json_reader *reader,
                                       dom::element value);

/* The result of packing, which can only fail if memory is short. */
static inline enum colander_code
packed(int failed)
{
    return failed == 0 ? COLANDER_OK : COLANDER_NO_MEMORY;
}

/* Inlined: most parts of a text are strings. */
[[gnu::always_inline]] static inline enum colander_code
append_string(struct colander_json_reader *reader, std::string_view text)
{
    msgpack_packer packer = packer_of(reader);
    enum colander_code code = packed(msgpack_pack_str(&packer, text.size()));

    if (code != COLANDER_OK)
        return code;
    return append(reader, text.data(), text.size());
}

static enum colander_code
append_array(struct colander_json_reader *reader, dom::array array)
{
    msgpack_packer packer = packer_of(reader);
    enum colander_code code = packed(msgpack_pack_array(&packer, array.size()));

    for (dom::element element : array) {
        if (code != COLANDER_OK)
            break;
        code = append_value(reader, element);
    }
    return code;
}

static enum colander_code
append_member(struct colander_json_reader *reader, dom::key_value_pair member)
{
    enum colander_code code = append_string(reader, member.key);

    return code == COLANDER_OK ? append_value(reader, member.value) : code;
}

static enum colander_code
append_map(struct colander_json_reader *reader, dom::object object)
{
    msgpack_packer packer = packer_of(reader);
    enum colander_code code = packed(msgpack_pack_map(&packer, object.size()));

    for (dom::key_value_pair member : object) {
        if (code != COLANDER_OK)
            break;
        code = append_member(reader, member);
    }
    return code;
}

/* The parser has checked the depth. */
static enum colander_code
append_value(struct colander_json_reader *reader, dom::element value)
{
    msgpack_packer packer = packer_of(reader);

    switch (value.type()) {
    case dom::element_type::ARRAY:
        return append_array(reader, value.get_array().value_unsafe());
    case dom::element_type::OBJECT:
        return append_map(reader, value.get_object().value_unsafe());
    case dom::element_type::INT64:
        return packed(
            msgpack_pack_int64(&packer, value.get_int64().value_unsafe()));
    case dom::element_type::UINT64:
        return packed(
            msgpack_pack_uint64(&packer, value.get_uint64().value_unsafe()));
    case dom::element_type::DOUBLE:
        return packed(
            msgpack_pack_double(&packer, value.get_double().value_unsafe()));
    case dom::element_type::STRING:
        return append_string(reader, value.get_string().value_unsafe());
    case dom::element_type::BOOL:
        return packed(value.get_bool().value_unsafe()
                          ? msgpack_pack_true(&packer)
                          : msgpack_pack_false(&packer));
    default:
        return packed(msgpack_pack_nil(&packer));
    }
}

/* --------------------------------------------------------------- keys --- */

static bool
is_key_column(dom::key_value_pair column)
{
    return column.key == COLANDER_KEY_COLUMN;
}

/* Uses the row as a buffer. It is empty before and after. */
static enum colander_code
encode_key(struct colander_json_reader *reader, dom::element value)
{
    enum colander_code code = append_value(reader, value);
    const struct colander_slice encoded = colander_buffer_slice(&reader->row);
    struct msgpack_reader items = msgpack_reader_of(encoded);
    struct colander_value read;
    uint32_t count;

    colander_buffer_clear(&reader->row);
    if (code != COLANDER_OK)
        return code;
    [[maybe_unused]] const auto result = msgpack_read(&items, &read, &count);
    assert(result == MSGPACK_FINE); /* the reader has packed it */
    if (read.type >= COLANDER_ARRAY)
        read.bytes = encoded;
    return colander_key_encode_value(&read, &reader->key, reader->err);
}

/* Encodes the key if it is among the columns: *key_count says how often. */
static enum colander_code
read_key(struct colander_json_reader *reader, dom::object columns,
         uint32_t *key_count)
{
    enum colander_code code = COLANDER_OK;

    *key_count = 0;
    for (dom::key_value_pair column : columns) {
        if (!is_key_column(column))
            continue;
        if (++*key_count > 1)
            code = COLANDER_FAIL(reader->err, COLANDER_INVALID,
                                 "name appears twice");
        else
            code = encode_key(reader, column.value);
        if (code != COLANDER_OK) {
            colander_error_context(reader->err,
                                   "column '" COLANDER_KEY_COLUMN "'");
            break;
        }
    }
    return code;
}

/* --------------------------------------------------------------- rows --- */

static enum colander_code
read_columns(struct colander_json_reader *reader, dom::object columns,
             uint32_t key_count)
{
    msgpack_packer packer = packer_of(reader);
    enum colander_code code =
        packed(msgpack_pack_map(&packer, columns.size() - key_count));

    for (dom::key_value_pair column : columns) {
        if (code != COLANDER_OK)
            break;
        if (!is_key_column(column))
            code = append_member(reader, column);
    }
    if (code != COLANDER_OK)
        return code;
    /* the parser has checked that texts are UTF-8 */
    return row_check_of_utf8(colander_buffer_slice(&reader->row), reader->err);
}

/* Copies the text and appends padding. */
static enum colander_code
copy_text(struct colander_json_reader *reader, struct colander_slice text)
{
    static const char padding[simdjson::SIMDJSON_PADDING] = {};
    enum colander_code code;

    colander_buffer_clear(&reader->text);
    code = colander_buffer_reserve(&reader->text, text.size + sizeof(padding),
                                   reader->err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&reader->text, text.data, text.size,
                                      reader->err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&reader->text, padding, sizeof(padding),
                                      reader->err);
    return code;
}

/* Reserves a little more, as the next text may be a little longer. */
static simdjson::error_code
make_room(struct colander_json_reader *reader, size_t size)
{
    const size_t capacity =
        size < CAPACITY_MIN ? CAPACITY_MIN : size + size / 4;
    simdjson::error_code error = simdjson::SUCCESS;

    if (reader->document.capacity() < size)
        error = reader->document.allocate(capacity);
    /* A failure may have left it with its capacity, but without its stack. */
    if (!error && (reader->parser.capacity() < size ||
                   reader->parser.max_depth() != PARSER_DEPTH_MAX))
        error = reader->parser.allocate(capacity, PARSER_DEPTH_MAX);
    return error;
}

/* Fails with the fault of a text that the parser refuses, or that is not an
 * object. */
static enum colander_code
refuse(struct colander_json_reader *reader, struct colander_slice text,
       bool is_row, simdjson::error_code error)
{
    struct json_fault fault;

    if (error == simdjson::MEMALLOC)
        return COLANDER_FAIL(reader->err, COLANDER_NO_MEMORY,
                             "cannot read a text of %zu bytes", text.size);
    if (!json_fault_find(text, is_row, &fault))
        return COLANDER_FAIL(reader->err, COLANDER_INVALID,
                             "cannot read the text: %s",
                             simdjson::error_message(error));
    (void)COLANDER_FAIL(reader->err, fault.code, "%s", fault.message);
    colander_error_context(reader->err, "byte %zu", fault.at);
    reader->has_fault = true;
    reader->fault_at = fault.at;
    return fault.code;
}

/* Parses a text, which with `is_row` must be an object. */
static enum colander_code
parse(struct colander_json_reader *reader, struct colander_slice text,
      bool is_row, dom::element *root)
{
    simdjson::error_code error;
    enum colander_code code;

    if (text.size > COLANDER_JSON_SIZE_MAX)
        return COLANDER_FAIL(reader->err, COLANDER_LIMIT,
                             "text has %zu bytes, %u at most", text.size,
                             COLANDER_JSON_SIZE_MAX);
    code = copy_text(reader, text);
    if (code != COLANDER_OK)
        return code;
    error = make_room(reader, text.size);
    if (!error)
        error = reader->parser
                    .parse_into_document(reader->document, reader->text.data,
                                         text.size, false)
                    .get(*root);
    if (!error && is_row && !root->is_object())
        error = simdjson::INCORRECT_TYPE;
    if (error)
        return refuse(reader, text, is_row, error);
    colander_buffer_clear(&reader->row);
    return COLANDER_OK;
}

static enum colander_code
read_row(struct colander_json_reader *reader, struct colander_slice text,
         bool *has_key)
{
    enum colander_code code;
    uint32_t key_count;
    dom::element root;
    dom::object columns;

    code = parse(reader, text, true, &root);
    if (code != COLANDER_OK)
        return code;
    columns = root.get_object().value_unsafe();
    code = read_key(reader, columns, &key_count);
    *has_key = key_count > 0;
    return code == COLANDER_OK ? read_columns(reader, columns, key_count)
                               : code;
}

enum colander_code
colander_json_reader_row(struct colander_json_reader *reader,
                         struct colander_slice text, struct colander_slice *key,
                         bool *has_key, struct colander_slice *row,
                         struct colander_error *err)
{
    enum colander_code code;

    reader->err = err;
    reader->has_fault = false;
    code = read_row(reader, text, has_key);
    if (code != COLANDER_OK)
        *has_key = false;
    *key = *has_key ? colander_buffer_slice(&reader->key)
                    : colander_slice_of(nullptr, 0);
    *row = code == COLANDER_OK ? colander_buffer_slice(&reader->row)
                               : colander_slice_of(nullptr, 0);
    return code;
}

/* The value becomes the one column of a row, so that the row check says whether
 * it may be stored. */
static enum colander_code
read_value(struct colander_json_reader *reader, struct colander_slice text,
           struct colander_value *value)
{
    constexpr std::string_view name = "value";
    msgpack_packer packer = packer_of(reader);
    struct colander_members members;
    struct colander_slice read_name;
    enum colander_code code;
    dom::element root;
    bool is_member;

    code = parse(reader, text, false, &root);
    if (code == COLANDER_OK)
        code = packed(msgpack_pack_map(&packer, 1));
    if (code == COLANDER_OK)
        code = packed(msgpack_pack_str(&packer, name.size()));
    if (code == COLANDER_OK)
        code = append(reader, name.data(), name.size());
    if (code == COLANDER_OK)
        code = append_value(reader, root);
    if (code == COLANDER_OK)
        code =
            row_check_of_utf8(colander_buffer_slice(&reader->row), reader->err);
    if (code == COLANDER_OK)
        code = colander_members_init(
            &members, colander_buffer_slice(&reader->row), reader->err);
    if (code == COLANDER_OK)
        code = colander_members_next(&members, &is_member, &read_name, value,
                                     reader->err);
    return code;
}

enum colander_code
colander_json_reader_value(struct colander_json_reader *reader,
                           struct colander_slice text,
                           struct colander_value *value,
                           struct colander_error *err)
{
    enum colander_code code;

    reader->err = err;
    reader->has_fault = false;
    code = read_value(reader, text, value);
    if (code != COLANDER_OK)
        *value = colander_null();
    return code;
}

bool
colander_json_reader_fault(const struct colander_json_reader *reader,
                           size_t *at)
{
    if (reader->has_fault)
        *at = reader->fault_at;
    return reader->has_fault;
}
