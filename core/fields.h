/*
 * Fields: the members of a struct, in a static table. Code that reads or writes
 * them as text, JSON, Lua or options of a command loops over the table.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_FIELDS_H
#define COLANDER_CORE_FIELDS_H

#include "core/bytes.h"
#include "core/core.h"

#include <assert.h>

enum field_kind {
    FIELD_OTHER,  /* only a name: the code that has the table handles it */
    FIELD_OLD,    /* the same: an old name, which messages do not list */
    FIELD_CHOICE, /* an enum whose values from 0 on have `words` */
    FIELD_BOOLEAN,
    FIELD_SYNC, /* enum colander_durability, from `sync`; only read */
    FIELD_UINT32,
    FIELD_UINT32_OR_AUTO, /* UINT32_MAX is "auto" */
    FIELD_UINT64,         /* size_t as well */
    FIELD_DOUBLE,
};

static_assert(sizeof(size_t) == sizeof(uint64_t), "size_t is a FIELD_UINT64");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "members are read as little-endian numbers");

/* A table ends with FIELD_END. */
struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    const char *const *words; /* ends with NULL */
    const char *label;        /* in a report; NULL: none */
};

/* Words or a label may follow: `.label = "failed"`. */
#define FIELD(type_kind, text, type, member, ...)                              \
    {                                                                          \
        .name = (text), .kind = FIELD_##type_kind,                             \
        .offset = offsetof(struct type, member), __VA_ARGS__                   \
    }
#define FIELD_NAME(text)                                                       \
    {                                                                          \
        .name = (text), .kind = FIELD_OTHER                                    \
    }
#define FIELD_END FIELD_NAME(NULL)

/* Kinds of 8 bytes come last. */
static inline size_t
field_size(const struct field *field)
{
    if (field->kind == FIELD_BOOLEAN)
        return sizeof(bool);
    return field->kind < FIELD_UINT64 ? 4 : 8;
}

/* Returns the member of `object`: a number, 0 or 1, the value of an enum, or
 * the bits of a double. */
static inline uint64_t
field_number(const struct field *field, const void *object)
{
    return bytes_get_le((const uint8_t *)object + field->offset,
                        field_size(field));
}

/* Sets what field_number returns. */
static inline void
field_set_number(const struct field *field, void *object, uint64_t number)
{
    bytes_put_le((uint8_t *)object + field->offset,
                 field->kind == FIELD_BOOLEAN ? number != 0 : number,
                 field_size(field));
}

/* Returns the member of a FIELD_DOUBLE. */
static inline double *
field_double(const struct field *field, const void *object)
{
    return (double *)(void *)((uint8_t *)object + field->offset);
}

/* Sets a FIELD_CHOICE. Returns false if `word` is not one of its words. */
static inline bool
field_set_word(const struct field *field, void *object,
               struct colander_slice word)
{
    for (uint64_t i = 0; field->words[i] != NULL; i++) {
        if (colander_slice_equal(colander_slice_text(field->words[i]), word)) {
            field_set_number(field, object, i);
            return true;
        }
    }
    return false;
}

#endif
