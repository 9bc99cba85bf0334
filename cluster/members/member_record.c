/* See member_record.h. SPDX-License-Identifier: MIT */
#include "cluster/members/member_record.h"
#include "cluster/members.h"
#include "core/bytes.h"

#define MAGIC "COLMEMB1"
#define MAGIC_SIZE 8
#define FIXED_SIZE (MAGIC_SIZE + 1 + 8 + 8)

static enum colander_code
append_text(struct colander_buffer *bytes, struct colander_slice text,
            struct colander_error *err)
{
    enum colander_code code = bytes_append_varint(bytes, text.size, err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, text.data, text.size, err);
    return code;
}

enum colander_code
member_record_encode(const struct member_record *record,
                     struct colander_buffer *bytes, struct colander_error *err)
{
    uint8_t fixed[FIXED_SIZE];
    enum colander_code code;

    memcpy(fixed, MAGIC, MAGIC_SIZE);
    fixed[MAGIC_SIZE] = record->is_goodbye ? 1 : 0;
    bytes_put_le64(fixed + MAGIC_SIZE + 1, record->process);
    bytes_put_le64(fixed + MAGIC_SIZE + 9, record->generation);
    colander_buffer_clear(bytes);
    code = colander_buffer_append(bytes, fixed, sizeof(fixed), err);
    if (code == COLANDER_OK)
        code = append_text(bytes, record->cluster, err);
    if (code == COLANDER_OK)
        code = append_text(bytes, record->name, err);
    if (code == COLANDER_OK)
        code = append_text(bytes, record->text, err);
    return code;
}

bool
member_record_decode(struct colander_slice bytes, struct member_record *record)
{
    struct bytes_reader reader = bytes_reader_of(bytes);
    const struct colander_slice magic = bytes_read(&reader, MAGIC_SIZE);
    const uint64_t kind = bytes_read_le(&reader, 1);

    record->is_goodbye = kind == 1;
    record->process = bytes_read_le(&reader, 8);
    record->generation = bytes_read_le(&reader, 8);
    record->cluster = bytes_read_text(&reader);
    record->name = bytes_read_text(&reader);
    record->text = bytes_read_text(&reader);
    return !reader.is_bad && reader.left.size == 0 && kind <= 1 &&
           magic.data != NULL && memcmp(magic.data, MAGIC, MAGIC_SIZE) == 0 &&
           record->text.size <= MEMBERS_TEXT_MAX &&
           member_record_is_name(record->name);
}

static bool
is_letter_or_digit(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

bool
member_record_is_name(struct colander_slice name)
{
    if (name.size == 0 || name.size > MEMBERS_NAME_MAX ||
        !is_letter_or_digit(name.data[0]))
        return false;
    for (size_t i = 1; i < name.size; i++) {
        if (!is_letter_or_digit(name.data[i]) &&
            memchr("_-.", name.data[i], 3) == NULL)
            return false;
    }
    return true;
}
