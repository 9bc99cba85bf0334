/*
 * Conditions: see conditions.h.
 *
 * A condition that is compiled becomes predicates on a stack, in userdata, so
 * that they are freed whatever is wrong with the rest: each is pushed, and
 * those that belong together are replaced by one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/conditions.h"

#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/values.h"

#include <lauxlib.h>
#include <stdlib.h>

#define TYPE "colander.condition"
#define STACK "colander.predicates"

/* In the field `op` of a condition; its operands are its elements. */
enum operator{
    OP_COMPARE, /* and a comparison: OP_COMPARE + COLANDER_EQ, ... */
    OP_BETWEEN = OP_COMPARE + COLANDER_GE + 1,
    OP_PREFIX,
    OP_CONTAINS,
    OP_EXISTS,
    OP_MISSING,
    OP_ANY, /* of conditions on one column */
    OP_ALL,
    OP_NONE,
    OP_WHERE, /* of a row, from here on */
    OP_VALUE,
    OP_AND,
    OP_OR,
    OP_NOT,
};

static const char *const names[] = {
    "eq",     "ne",       "lt",     "le",      "gt",  "ge",  "between",
    "prefix", "contains", "exists", "missing", "any", "all", "none",
    "where",  "value",    "and",    "or",      "not",
};

struct stack {
    struct colander_predicate **items;
    size_t count;
    size_t capacity;
    struct colander_buffer path; /* of the column that is looked at, as text */
};

/* --------------------------------------------------------------- stack --- */

static int
stack_collect(lua_State *L)
{
    struct stack *stack = luaL_checkudata(L, 1, STACK);

    while (stack->count > 0)
        colander_predicate_destroy(stack->items[--stack->count]);
    free(stack->items);
    stack->items = NULL;
    colander_buffer_release(&stack->path);
    return 0;
}

static struct stack *
stack_push(lua_State *L)
{
    struct stack *stack = lua_newuserdatauv(L, sizeof(*stack), 0);

    memset(stack, 0, sizeof(*stack));
    if (luaL_newmetatable(L, STACK) != 0) {
        lua_pushcfunction(L, stack_collect);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return stack;
}

/* Room for one more, before it is made. */
static void
stack_reserve(lua_State *L, struct stack *stack)
{
    size_t capacity = stack->capacity * 2 + 8;
    struct colander_predicate **grown;

    if (stack->count < stack->capacity)
        return;
    grown = realloc(stack->items, capacity * sizeof(*grown));
    if (grown == NULL)
        failure_memory(L, "for a condition");
    stack->items = grown;
    stack->capacity = capacity;
}

static void
stack_add(lua_State *L, struct stack *stack,
          struct colander_predicate *predicate,
          const struct colander_error *err)
{
    if (predicate == NULL)
        failure_raise(L, err);
    stack->items[stack->count++] = predicate;
}

/* Makes one of those from `first` on. */
static void
stack_join(lua_State *L, struct stack *stack, size_t first, bool is_all)
{
    struct colander_predicate *joined;
    struct colander_error err;
    size_t count = stack->count - first;

    if (count == 1)
        return;
    stack_reserve(L, stack);
    stack->count = first; /* taken, whatever comes of it */
    joined = is_all ? colander_all_of(stack->items + first, count, &err)
                    : colander_any_of(stack->items + first, count, &err);
    stack_add(L, stack, joined, &err);
}

static void
stack_negate(lua_State *L, struct stack *stack)
{
    struct colander_error err;

    stack->count--;
    stack_add(L, stack, colander_not(stack->items[stack->count], &err), &err);
}

/* ----------------------------------------------------------- compiling --- */

static void compile(lua_State *L, struct stack *stack, int index,
                    unsigned depth);

/* The path as text; "" for the row itself. */
static const char *
path_of(const struct stack *stack)
{
    return stack->path.size == 0 ? "" : (const char *)stack->path.data;
}

/* Appends a name, or a path, that is inside; gives the size to go back to. */
static size_t
path_enter(lua_State *L, struct stack *stack, const char *text)
{
    const size_t before = stack->path.size;
    struct colander_error err;

    failure_check(
        L, colander_buffer_reserve(&stack->path, strlen(text) + 2, &err), &err);
    if (before > 0)
        stack->path.data[stack->path.size++] = '.';
    memcpy(stack->path.data + stack->path.size, text, strlen(text) + 1);
    stack->path.size += strlen(text);
    return before;
}

static void
path_leave(struct stack *stack, size_t size)
{
    stack->path.size = size;
    if (stack->path.data != NULL)
        stack->path.data[size] = '\0';
}

static void
need_path(lua_State *L, const struct stack *stack, const char *what)
{
    if (stack->path.size == 0)
        failure_misuse(L,
                       "%s says something of a column: write {column = ...} "
                       "(for any column, value(...))",
                       what);
}

/* The operand `number` of the condition at `index`; strings stay in it. */
static struct colander_value
operand(lua_State *L, int index, int number)
{
    struct colander_value value;

    lua_rawgeti(L, index, number);
    value = value_expect(L, -1, "a condition");
    lua_pop(L, 1);
    return value;
}

static void
compile_in(lua_State *L, struct stack *stack, int index)
{
    const size_t count =
        list_check(L, index, path_of(stack), COLANDER_PREDICATE_VALUES_MAX);
    struct colander_value *values =
        lua_newuserdatauv(L, (count + 1) * sizeof(*values), 0);
    struct colander_error err;

    for (size_t i = 0; i < count; i++)
        values[i] = operand(L, index, (int)i + 1);
    stack_reserve(L, stack);
    stack_add(L, stack, colander_where_in(path_of(stack), values, count, &err),
              &err);
    lua_pop(L, 1);
}

/* A table without an operator: names lead inside, all of them hold. */
static void
compile_columns(lua_State *L, struct stack *stack, int index, unsigned depth)
{
    const size_t first = stack->count;

    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        size_t size;

        if (lua_type(L, -2) != LUA_TSTRING)
            failure_misuse(L,
                           "a condition on columns has their names, and this "
                           "is a %s",
                           luaL_typename(L, -2));
        size = path_enter(L, stack, text_check(L, -2, "a path"));
        compile(L, stack, lua_gettop(L), depth + 1);
        path_leave(stack, size);
        lua_pop(L, 1);
    }
    stack_join(L, stack, first, true);
}

/* All operands of the condition at `index`, joined. */
static void
compile_operands(lua_State *L, struct stack *stack, int index, bool is_all,
                 unsigned depth)
{
    const size_t first = stack->count;
    const lua_Integer count = (lua_Integer)lua_rawlen(L, index);

    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, index, i);
        compile(L, stack, lua_gettop(L), depth + 1);
        lua_pop(L, 1);
    }
    stack_join(L, stack, first, is_all);
}

/* One that looks at the value of a column. */
static struct colander_predicate *
leaf(lua_State *L, struct stack *stack, int index, int op,
     struct colander_error *err)
{
    const char *path = path_of(stack);

    switch (op) {
    case OP_BETWEEN:
        return colander_where_between(path, operand(L, index, 1),
                                      operand(L, index, 2), err);
    case OP_PREFIX:
        return colander_where_prefix(path, operand(L, index, 1), err);
    case OP_CONTAINS:
        return colander_where_contains(path, operand(L, index, 1), err);
    case OP_EXISTS:
        return colander_where_exists(path, err);
    case OP_MISSING:
        return colander_where_missing(path, err);
    default:
        return colander_where(path, (enum colander_comparison)(op - OP_COMPARE),
                              operand(L, index, 1), err);
    }
}

static void
compile_operator(lua_State *L, struct stack *stack, int index, int op,
                 unsigned depth)
{
    struct colander_error err;

    if (op < OP_WHERE)
        need_path(L, stack, names[op]);
    else if (stack->path.size > 0)
        failure_misuse(L,
                       "column '%s': '%s' says something of a row, not of a "
                       "column",
                       path_of(stack), names[op]);
    switch (op) {
    case OP_ANY:
    case OP_OR:
        compile_operands(L, stack, index, false, depth);
        break;
    case OP_ALL:
    case OP_AND:
    case OP_WHERE:
        compile_operands(L, stack, index, true, depth);
        break;
    case OP_NONE:
    case OP_NOT:
        compile_operands(L, stack, index, false, depth);
        stack_negate(L, stack);
        break;
    case OP_VALUE:
        stack_reserve(L, stack);
        stack_add(L, stack, colander_where_any(operand(L, index, 1), &err),
                  &err);
        break;
    default:
        stack_reserve(L, stack);
        stack_add(L, stack, leaf(L, stack, index, op, &err), &err);
    }
}

/* The operator of the table at `index`; -1: it has none. */
static int
operator_of(lua_State *L, int index)
{
    bool is_condition;
    int op = -1;

    if (lua_getmetatable(L, index) == 0)
        return -1;
    luaL_getmetatable(L, TYPE);
    is_condition = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    if (!is_condition)
        return -1;
    lua_pushliteral(L, "op");
    lua_rawget(L, index);
    op = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (op < 0 || op > OP_NOT)
        failure_misuse(L, "a condition that was changed by hand");
    return op;
}

static bool
is_empty(lua_State *L, int index)
{
    lua_pushnil(L);
    if (lua_next(L, index) == 0)
        return true;
    lua_pop(L, 2);
    return false;
}

/* It calls itself for what is inside, so deep as predicates may be. */
static void
compile(lua_State *L, struct stack *stack, int index, unsigned depth)
{
    struct colander_value value;
    struct colander_error err;
    int op;

    if (depth > COLANDER_PREDICATE_DEPTH_MAX)
        failure_misuse(L, "a condition is nested deeper than %d",
                       COLANDER_PREDICATE_DEPTH_MAX);
    luaL_checkstack(L, 8, "a condition is nested too deeply");
    if (lua_istable(L, index)) {
        op = operator_of(L, index);
        if (op >= 0) {
            compile_operator(L, stack, index, op, depth);
        } else if (stack->path.size > 0 && value_is_array(L, index)) {
            compile_in(L, stack, index);
        } else {
            if (stack->path.size > 0 && is_empty(L, index))
                failure_misuse(L,
                               "column '%s': an empty table is no condition "
                               "(colander.array{} is one of none)",
                               path_of(stack));
            compile_columns(L, stack, index, depth);
        }
        return;
    }
    need_path(L, stack, "a value");
    if (!value_get(L, index, &value))
        failure_misuse(L, "column '%s': a %s is no condition", path_of(stack),
                       luaL_typename(L, index));
    stack_reserve(L, stack);
    stack_add(L, stack,
              colander_where(path_of(stack), COLANDER_EQ, value, &err), &err);
}

struct colander_predicate *
condition_compile(lua_State *L, int index)
{
    struct colander_predicate *predicate;
    struct stack *stack;

    if (lua_isnoneornil(L, index))
        return NULL;
    if (!lua_istable(L, index))
        failure_misuse(L,
                       "a condition is a table such as {user = \"Smith\"}, and "
                       "this is a %s",
                       luaL_typename(L, index));
    stack = stack_push(L);
    compile(L, stack, index, 0);
    predicate = stack->items[--stack->count];
    lua_pop(L, 1);
    return predicate;
}

/* -------------------------------------------------------------- making --- */

/* Makes a condition of the `count` values on top, which go. */
static void
make(lua_State *L, int op, int count)
{
    lua_createtable(L, count, 1);
    lua_insert(L, -count - 1);
    for (int i = count; i > 0; i--)
        lua_rawseti(L, -i - 1, i);
    lua_pushinteger(L, op);
    lua_setfield(L, -2, "op");
    luaL_setmetatable(L, TYPE);
}

void
condition_push_value(lua_State *L, int index)
{
    lua_pushvalue(L, index);
    make(L, OP_VALUE, 1);
}

/* How many operands an operator takes; -1: any number of conditions. */
static int
operand_count(int op)
{
    switch (op) {
    case OP_BETWEEN:
        return 2;
    case OP_ANY:
    case OP_ALL:
    case OP_NONE:
        return -1;
    default:
        return 1;
    }
}

/* What `colander.gt` and the like do: upvalue 1 is the operator. */
static int
make_condition(lua_State *L)
{
    const int op = (int)lua_tointeger(L, lua_upvalueindex(1));
    const int wanted = operand_count(op);
    const int count = lua_gettop(L);

    if (wanted >= 0 && count != wanted)
        failure_misuse(L, "%s takes %d value%s, not %d", names[op], wanted,
                       wanted == 1 ? "" : "s", count);
    for (int i = 1; i <= count; i++) {
        if (op == OP_WHERE)
            luaL_checktype(L, i, LUA_TTABLE);
        else if (wanted >= 0)
            (void)value_expect(L, i, names[op]);
    }
    make(L, op, count);
    return 1;
}

/* `exists` and `missing` are conditions, and exists() is the same one. */
static int
condition_call(lua_State *L)
{
    lua_settop(L, 1);
    return 1;
}

/* a & b, a | b; tables count as conditions beside one. */
static int
condition_and(lua_State *L)
{
    lua_settop(L, 2);
    make(L, OP_AND, 2);
    return 1;
}

static int
condition_or(lua_State *L)
{
    lua_settop(L, 2);
    make(L, OP_OR, 2);
    return 1;
}

/* ~a, which Lua calls with its operand twice */
static int
condition_not(lua_State *L)
{
    lua_settop(L, 1);
    make(L, OP_NOT, 1);
    return 1;
}

void
conditions_open(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__band", condition_and},
        {"__bor", condition_or},
        {"__bnot", condition_not},
        {"__call", condition_call},
        {NULL, NULL},
    };

    if (luaL_newmetatable(L, TYPE) != 0) {
        luaL_setfuncs(L, metamethods, 0);
        lua_pushstring(L, TYPE);
        lua_setfield(L, -2, "__name");
    }
    lua_pop(L, 1);
    for (int op = OP_COMPARE; op <= OP_VALUE; op++) {
        if (op == OP_EXISTS || op == OP_MISSING) {
            make(L, op, 0);
        } else {
            lua_pushinteger(L, op);
            lua_pushcclosure(L, make_condition, 1);
        }
        lua_setfield(L, -2, names[op]);
    }
}
