/*
 * Schema reader: what is needed to read any field of a schema: texts and
 * lists, and the telling of mistakes with their place.
 *
 * Each function reads what is on top of Lua's stack and leaves it there. A
 * mistake is kept; the first is told. Lua may throw from all of them, and then
 * nothing is lost.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_SCHEMA_READER_H
#define SHELL_SCHEMA_READER_H

#include "colander.h"
#include "loading/schema.h"

#include <lua.h>

#define SCHEMA_SHOWN_MAX 100 /* bytes of a text in a message */
#define SCHEMA_FIELDS_MAX 12 /* of one table */

struct schema_reader {
    struct colander_slice text;    /* that Lua made the table of; borrowed */
    struct schema *schema;         /* to be filled; borrowed */
    struct colander_buffer joined; /* formats of times, a line each */
    enum colander_code code;       /* of the first mistake */
    size_t line;                   /* where it is, or 0 */
    struct colander_error err;
};

/* Where in the table: the names that lead there, for people and for the line.
 * The schema itself is {{0}}. */
struct schema_place {
    char shown[160];
    const char *names[4]; /* borrowed */
    size_t count;
};

/* The field `name` of it. */
struct schema_place schema_place_field(const struct schema_place *above,
                                       const char *name);

/* What stands under a text. */
struct schema_place schema_place_named(const struct schema_place *above,
                                       const char *text);

/* Keeps a mistake. */
void schema_refuse(struct schema_reader *reader,
                   const struct schema_place *place, const char *format, ...)
    COLANDER_FORMAT(3, 4);

/* Keeps what somebody else says is wrong there; OK is fine. */
void schema_refuse_error(struct schema_reader *reader,
                         const struct schema_place *place,
                         enum colander_code code,
                         const struct colander_error *err);

/* "must be such, not ..." what is on top. */
void schema_refuse_found(lua_State *L, struct schema_reader *reader,
                         const struct schema_place *place, const char *wanted);

/* The text on top; NULL when it is none. `wanted` is what should be there. */
const char *schema_read_text(lua_State *L, struct schema_reader *reader,
                             const struct schema_place *place,
                             const char *wanted);

typedef void schema_element(lua_State *L, struct schema_reader *reader,
                            const struct schema_place *place, void *context);

/* Gives the elements of a list one by one, each on top; what is no table, as
 * it is. */
void schema_read_list(lua_State *L, struct schema_reader *reader,
                      const struct schema_place *place, const char *wanted,
                      schema_element *element, void *context);

/* schema_element: a path into `context`, a struct schema_texts. */
void schema_add_path(lua_State *L, struct schema_reader *reader,
                     const struct schema_place *place, void *context);

/* The same, of any text. */
void schema_add_text(lua_State *L, struct schema_reader *reader,
                     const struct schema_place *place, void *context);

/* A field of a table, whose value is on top when it is read. */
struct schema_field {
    const char *name;
    void (*read)(lua_State *L, struct schema_reader *reader,
                 const struct schema_place *place);
};

/* Reads those fields of a table that it has, in the order of `fields`; others
 * are mistakes. */
void schema_read_fields(lua_State *L, struct schema_reader *reader,
                        const struct schema_place *place,
                        const struct schema_field *fields, size_t count);

/* Fields with columns: { types = ... } and { time = ... }. */
void schema_read_types(lua_State *L, struct schema_reader *reader,
                       const struct schema_place *place);
void schema_read_time(lua_State *L, struct schema_reader *reader,
                      const struct schema_place *place);

/* schema_use of schema_state.h: fills the schema from the table on top;
 * `context` is a struct schema_reader. */
void schema_read_table(lua_State *L, void *context);

#endif
