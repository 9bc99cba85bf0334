/*
 * Conditions: see conditions.h.
 *
 * Compiling pushes predicates on a stack in userdata, so that they are freed
 * whatever is wrong with the rest of the condition. An operator replaces its
 * operands by one predicate.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scripting/conditions.h"

#include "core/array.h"
#include "scripting/failure.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/types.h"
#include "scripting/values.h"

#define TYPE "colander.condition"

/* The field `op` of a condition. Its operands are its elements. */
enum operator{
    OP_COMPARE, /* plus a comparison: OP_COMPARE + COLANDER_EQ, ... */
    OP_BETWEEN = OP_COMPARE + COLANDER_GE + 1,
    OP_PREFIX,
    OP_CONTAINS,
    OP_WORDS,
    OP_PHRASE,
    OP_REGEX,
    OP_ICASE, /* of a value or a condition on a column, or of one on rows */
    OP_EXISTS,
    OP_MISSING,
    OP_ANY, /* of conditions on one column */
    OP_ALL,
    OP_NONE,
    OP_WHERE,      /* on rows, from here on */
    OP_ANY_COLUMN, /* of a value, or of a condition on a text */
    OP_SEARCH,
    OP_AND,
    OP_OR,
    OP_NOT,
};

static const struct {
    const char *name;
    int operand_count; /* -1: any number of conditions */
} operators[] = {
    {"eq", 1},       {"ne", 1},     {"lt", 1},      {"le", 1},
    {"gt", 1},       {"ge", 1},     {"between", 2}, {"prefix", 1},
    {"contains", 1}, {"words", 1},  {"phrase", 1},  {"regex", 1},
    {"icase", 1},    {"exists", 0}, {"missing", 0}, {"any", -1},
    {"all", -1},     {"none", -1},  {"where", 1},   {"any_column", 1},
    {"search", 1},   {"and", 2},    {"or", 2},      {"not", 1},
};

struct stack {
    struct colander_predicate **items;
    size_t count;
    size_t capacity;
    struct colander_buffer path; /* of the current column, as text */
    condition_word_check *check; /* of words; NULL: none */
    bool is_folded;              /* the case of texts does not matter */
};

/* --------------------------------------------------------------- stack --- */

static void
release_stack(void *object)
{
    struct stack *stack = object;

    while (stack->count > 0)
        colander_predicate_destroy(stack->items[--stack->count]);
    free(stack->items);
    colander_buffer_release(&stack->path);
}

/* Adds a predicate, which is taken, or raises `err` if it is NULL. */
static void
stack_add(lua_State *L, struct stack *stack,
          struct colander_predicate *predicate,
          const struct colander_error *err)
{
    if (predicate == NULL)
        failure_raise(L, err);
    if (array_reserve(&stack->items, stack->count, &stack->capacity, 1, NULL) !=
        COLANDER_OK) {
        colander_predicate_destroy(predicate);
        failure_memory(L, "for a condition");
    }
    stack->items[stack->count++] = predicate;
}

/* Replaces the predicates from `first` on by one. */
static void
stack_join(lua_State *L, struct stack *stack, size_t first, bool is_all)
{
    struct colander_predicate *joined;
    struct colander_error err;
    size_t count = stack->count - first;

    if (count == 1)
        return;
    stack->count = first; /* taken, even on failure */
    joined = (is_all ? colander_all_of : colander_any_of)(
        count > 0 ? &stack->items[first] : NULL, count, &err);
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
static int operator_of(lua_State *L, int index);

static void
check_depth(lua_State *L, unsigned depth)
{
    if (depth > COLANDER_PREDICATE_DEPTH_MAX)
        failure_misuse(L, "a condition is nested deeper than %d",
                       COLANDER_PREDICATE_DEPTH_MAX);
    luaL_checkstack(L, 8, "a condition is nested too deeply");
}

/* Returns the path as text; "" for the row itself. */
static const char *
path_of(const struct stack *stack)
{
    return stack->path.size == 0 ? "" : (const char *)stack->path.data;
}

/* Appends a path to the current one. Returns the size to go back to. */
static size_t
path_enter(lua_State *L, struct stack *stack, const char *text)
{
    const size_t before = stack->path.size;

    failure_try(L,
                colander_buffer_reserve(&stack->path, strlen(text) + 2, &err));
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
    stack->path.data[size] = '\0';
}

static void
need_path(lua_State *L, const struct stack *stack, const char *what)
{
    if (stack->path.size == 0)
        failure_misuse(L,
                       "%s requires a column: write {column = ...} (for any "
                       "column, any_column(...))",
                       what);
}

/* Returns an operand of the condition at `index`, valid as long as that. */
static struct colander_value
operand(lua_State *L, int index, int number)
{
    struct colander_value value;

    lua_rawgeti(L, index, number);
    value = value_expect(L, -1, "a condition");
    lua_pop(L, 1);
    return value;
}

/* Creates the predicate that the present column compares so with the values. */
static struct colander_predicate *
create_written(const struct stack *stack, enum colander_operator how,
               const struct colander_value *values, size_t count,
               struct colander_error *err)
{
    const char *path = how == COLANDER_OPERATOR_ANY ? NULL : path_of(stack);

    return (stack->is_folded
                ? colander_where_written_icase
                : colander_where_written)(path, how, values, count, err);
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
    stack_add(L, stack,
              create_written(stack, COLANDER_OPERATOR_IN, values, count, &err),
              &err);
    lua_pop(L, 1);
}

/* Compiles the elements of a table, if it has any: the words of a condition as
 * on the command line. Returns their number. */
static lua_Integer
compile_words(lua_State *L, struct stack *stack, int index)
{
    const size_t count = lua_rawlen(L, index);
    const int top = lua_gettop(L);
    struct colander_predicate *predicate;
    struct colander_fault fault;
    struct colander_error err;
    const char **words;

    if (count == 0 || lua_rawgeti(L, index, 1) != LUA_TSTRING) {
        lua_settop(L, top);
        return 0;
    }
    if (count > COLANDER_PREDICATE_NODES_MAX) {
        (void)COLANDER_FAIL(&err, COLANDER_LIMIT,
                            "a condition: a list of more than %d",
                            (int)COLANDER_PREDICATE_NODES_MAX);
        failure_raise(L, &err);
    }
    words = lua_newuserdatauv(L, count * sizeof(*words), 0);
    for (size_t i = 0; i < count; i++) {
        if (lua_rawgeti(L, index, (lua_Integer)i + 1) != LUA_TSTRING)
            failure_misuse(L,
                           "an element of a condition must be a text such as "
                           "\"likes>5\", not a %s",
                           luaL_typename(L, -1));
        words[i] = text_check(L, lua_gettop(L), "a condition");
        lua_pop(L, 1); /* the table keeps it */
    }
    if (stack->check != NULL)
        stack->check(L, words, count);
    predicate =
        (stack->is_folded ? colander_where_words_icase
                          : colander_where_words)(words, count, &fault, &err);
    if (predicate == NULL && err.code == COLANDER_INVALID)
        colander_error_context(&err, "'%.100s'", words[fault.word]);
    stack_add(L, stack, predicate, &err);
    lua_settop(L, top);
    return (lua_Integer)count;
}

/* Compiles a table without an operator: names of columns, and words of a
 * condition, all of which must match. */
static void
compile_columns(lua_State *L, struct stack *stack, int index, unsigned depth)
{
    const size_t first = stack->count;
    lua_Integer word_count = 0;

    if (stack->path.size == 0)
        word_count = compile_words(L, stack, index);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        size_t size;

        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) > 0 &&
            lua_tointeger(L, -2) <= word_count) {
            lua_pop(L, 1);
            continue;
        }
        if (lua_type(L, -2) != LUA_TSTRING)
            failure_misuse(L, "the name of a column must be a string, not a %s",
                           luaL_typename(L, -2));
        size = path_enter(L, stack, text_check(L, -2, "a path"));
        compile(L, stack, lua_gettop(L), depth + 1);
        path_leave(stack, size);
        lua_pop(L, 1);
    }
    if (stack->count == first && stack->path.size > 0)
        failure_misuse(L,
                       "column '%s': an empty table is not a condition "
                       "(colander.array{} matches no row)",
                       path_of(stack));
    stack_join(L, stack, first, true);
}

/* Compiles and joins the operands of the condition at `index`. */
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

/* Returns how an operator looks for a text, or -1. */
static int
search_of(int op)
{
    switch (op) {
    case OP_COMPARE + COLANDER_EQ:
        return COLANDER_SEARCH_EQUAL;
    case OP_PREFIX:
        return COLANDER_SEARCH_BEGINS;
    case OP_CONTAINS:
        return COLANDER_SEARCH_PIECE;
    case OP_WORDS:
        return COLANDER_SEARCH_WORDS;
    case OP_PHRASE:
        return COLANDER_SEARCH_PHRASE;
    case OP_REGEX:
        return COLANDER_SEARCH_PATTERN;
    default:
        return -1;
    }
}

/* Returns the predicate of an operator that looks for a text at `path`, or in
 * any column if that is NULL. */
static struct colander_predicate *
create_search(lua_State *L, const struct stack *stack, int index, int op,
              const char *path, struct colander_error *err)
{
    const struct colander_value text = operand(L, index, 1);

    if (text.type != COLANDER_STRING)
        failure_misuse(L, "%s takes a text, not %s", operators[op].name,
                       colander_type_name(text.type));
    return colander_where_search(
        path, (enum colander_search)search_of(op), text.bytes,
        stack->is_folded ? COLANDER_SEARCH_ICASE : 0, NULL, err);
}

/* Returns the predicate of an operator on the value of a column. */
static struct colander_predicate *
create_leaf(lua_State *L, struct stack *stack, int index, int op,
            struct colander_error *err)
{
    const char *path = path_of(stack);
    enum colander_operator how = (enum colander_operator)(op - OP_COMPARE);
    struct colander_value values[2];

    if (op == OP_CONTAINS && !stack->is_folded) /* of binary values, too */
        return colander_where_contains(path, operand(L, index, 1), err);
    if (op >= OP_CONTAINS && op <= OP_REGEX)
        return create_search(L, stack, index, op, path, err);
    if (op == OP_EXISTS)
        return colander_where_exists(path, err);
    if (op == OP_MISSING)
        return colander_where_missing(path, err);
    if (op == OP_BETWEEN)
        how = COLANDER_OPERATOR_BETWEEN;
    if (op == OP_PREFIX)
        how = COLANDER_OPERATOR_PREFIX;
    for (int i = 0; i < operators[op].operand_count; i++)
        values[i] = operand(L, index, i + 1);
    return create_written(stack, how, values,
                          (size_t)operators[op].operand_count, err);
}

/* Compiles the operand of icase. */
static void
compile_folded(lua_State *L, struct stack *stack, int index, unsigned depth)
{
    const bool before = stack->is_folded;

    stack->is_folded = true;
    lua_rawgeti(L, index, 1);
    compile(L, stack, lua_gettop(L), depth + 1);
    lua_pop(L, 1);
    stack->is_folded = before;
}

/* Compiles the operand of any_column: a value, a condition on a text, or icase
 * of one of these. */
static void
compile_any_column(lua_State *L, struct stack *stack, int index, unsigned depth)
{
    const bool before = stack->is_folded;
    const int top = lua_gettop(L);
    struct colander_value value;
    struct colander_error err;
    int op;

    check_depth(L, depth);
    lua_rawgeti(L, index, 1);
    op = operator_of(L, lua_gettop(L));
    if (op == OP_ICASE) {
        stack->is_folded = true;
        compile_any_column(L, stack, lua_gettop(L), depth + 1);
        stack->is_folded = before;
    } else if (op >= 0 && search_of(op) < 0) {
        failure_misuse(L,
                       "any_column takes a value, or a text as words, phrase, "
                       "contains, prefix, regex or icase, not '%s'",
                       operators[op].name);
    } else if (op >= 0) {
        stack_add(L, stack,
                  create_search(L, stack, lua_gettop(L), op, NULL, &err), &err);
    } else {
        value = operand(L, index, 1);
        stack_add(L, stack,
                  create_written(stack, COLANDER_OPERATOR_ANY, &value, 1, &err),
                  &err);
    }
    lua_settop(L, top);
}

/* Compiles search(text): words in any column, or a phrase in double quotes. */
static void
compile_search(lua_State *L, struct stack *stack, int index)
{
    struct colander_predicate *predicate;
    struct colander_error err;
    const char *text;
    size_t offset;

    lua_rawgeti(L, index, 1);
    text = text_check(L, lua_gettop(L), operators[OP_SEARCH].name);
    predicate = colander_where_search_text(NULL, text, &offset, &err);
    if (predicate == NULL && err.code == COLANDER_INVALID)
        colander_error_context(&err, "'%.100s'", text);
    stack_add(L, stack, predicate, &err);
    lua_pop(L, 1);
}

static void
compile_operator(lua_State *L, struct stack *stack, int index, int op,
                 unsigned depth)
{
    struct colander_error err;

    if (op == OP_ICASE) { /* on a column or on rows, as its operand is */
        compile_folded(L, stack, index, depth);
        return;
    }
    if (op < OP_WHERE)
        need_path(L, stack, operators[op].name);
    else if (stack->path.size > 0)
        failure_misuse(L,
                       "column '%s': '%s' is a condition on rows, not on a "
                       "column",
                       path_of(stack), operators[op].name);
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
    case OP_ANY_COLUMN:
        compile_any_column(L, stack, index, depth);
        break;
    case OP_SEARCH:
        compile_search(L, stack, index);
        break;
    default:
        stack_add(L, stack, create_leaf(L, stack, index, op, &err), &err);
    }
}

/* Returns the operator of the table at `index`, or -1 if it has none. */
static int
operator_of(lua_State *L, int index)
{
    int op;

    if (!type_is_table(L, index, TYPE))
        return -1;
    lua_pushliteral(L, "op");
    lua_rawget(L, index);
    op = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (op < 0 || op > OP_NOT)
        failure_misuse(L, "the condition has been changed");
    return op;
}

/* Recursive, to the depth that predicates may have. */
static void
compile(lua_State *L, struct stack *stack, int index, unsigned depth)
{
    struct colander_value value;
    struct colander_error err;
    int op;

    check_depth(L, depth);
    if (lua_istable(L, index)) {
        op = operator_of(L, index);
        if (op >= 0) {
            compile_operator(L, stack, index, op, depth);
        } else if (stack->path.size > 0 && value_is_array(L, index)) {
            compile_in(L, stack, index);
        } else {
            compile_columns(L, stack, index, depth);
        }
        return;
    }
    if (stack->path.size == 0 && lua_type(L, index) == LUA_TSTRING) {
        lua_createtable(L, 1, 0); /* one word */
        lua_pushvalue(L, index);
        lua_rawseti(L, -2, 1);
        compile_columns(L, stack, lua_gettop(L), depth);
        lua_pop(L, 1);
        return;
    }
    need_path(L, stack, "a value");
    if (!value_get(L, index, &value))
        failure_misuse(L, "column '%s': a %s is not a condition",
                       path_of(stack), luaL_typename(L, index));
    stack_add(L, stack,
              create_written(stack, COLANDER_OPERATOR_EQ, &value, 1, &err),
              &err);
}

struct colander_predicate *
condition_compile(lua_State *L, int index, condition_word_check *check)
{
    struct colander_predicate *predicate;
    struct stack *stack;

    if (lua_isnoneornil(L, index))
        return NULL;
    if (!lua_istable(L, index) && lua_type(L, index) != LUA_TSTRING)
        failure_misuse(L,
                       "a condition must be a table such as {user = "
                       "\"Smith\"} or a text such as \"likes>5\", not a %s",
                       luaL_typename(L, index));
    stack = type_push_owner(L, sizeof(*stack), release_stack);
    stack->check = check;
    compile(L, stack, index, 0);
    predicate = stack->items[--stack->count];
    lua_pop(L, 1);
    return predicate;
}

/* ------------------------------------------------------------ creating --- */

/* Replaces the `count` values on top by a condition on them. */
static void
push_condition(lua_State *L, int op, int count)
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
condition_push_any_column(lua_State *L, int index)
{
    if (!type_is_table(L, index, TYPE))
        (void)value_expect(L, index, operators[OP_ANY_COLUMN].name);
    lua_pushvalue(L, index);
    push_condition(L, OP_ANY_COLUMN, 1);
}

void
condition_push_search(lua_State *L, int index)
{
    (void)text_check(L, index, operators[OP_SEARCH].name);
    lua_pushvalue(L, index);
    push_condition(L, OP_SEARCH, 1);
}

/* colander.gt(value) and the like. Upvalue 1 is the operator. */
static int
create_condition(lua_State *L)
{
    const int op = (int)lua_tointeger(L, lua_upvalueindex(1));
    const char *name = operators[op].name;
    const int wanted = operators[op].operand_count;
    const int count = lua_gettop(L);

    if (wanted >= 0 && count != wanted)
        failure_misuse(L, "%s takes %d value%s, not %d", name, wanted,
                       wanted == 1 ? "" : "s", count);
    for (int i = 1; i <= count; i++) {
        if (op == OP_WHERE)
            luaL_checktype(L, i, LUA_TTABLE);
        else if (op >= OP_WORDS && op <= OP_REGEX)
            (void)luaL_checktype(L, i, LUA_TSTRING);
        else if (op == OP_SEARCH)
            (void)text_check(L, i, name);
        else if (op == OP_ICASE ||
                 (op == OP_ANY_COLUMN && type_is_table(L, i, TYPE)))
            luaL_checkany(L, i);
        else if (wanted >= 0)
            (void)value_expect(L, i, name);
    }
    push_condition(L, op, count);
    return 1;
}

/* `exists` and `missing` are conditions; exists() is the same as exists. */
static int
condition_call(lua_State *L)
{
    lua_settop(L, 1);
    return 1;
}

/* a & b, a | b, where either may be a plain table, and ~a, for which Lua passes
 * the operand twice. Upvalue 1 is the operator. */
static int
combine(lua_State *L)
{
    const int op = (int)lua_tointeger(L, lua_upvalueindex(1));

    lua_settop(L, operators[op].operand_count);
    push_condition(L, op, operators[op].operand_count);
    return 1;
}

void
conditions_register(lua_State *L)
{
    static const struct luaL_Reg metamethods[] = {
        {"__call", condition_call},
        {NULL, NULL},
    };

    type_define(L, TYPE, metamethods);
    luaL_getmetatable(L, TYPE);
    type_set_function(L, "__band", combine, OP_AND);
    type_set_function(L, "__bor", combine, OP_OR);
    type_set_function(L, "__bnot", combine, OP_NOT);
    lua_pop(L, 1);
    for (int op = OP_COMPARE; op <= OP_SEARCH; op++) {
        if (operators[op].operand_count != 0) {
            type_set_function(L, operators[op].name, create_condition, op);
        } else {
            push_condition(L, op, 0);
            lua_setfield(L, -2, operators[op].name);
        }
    }
    /* until 0.3: its name in 0.1 */
    type_set_function(L, "value", create_condition, OP_ANY_COLUMN);
}
