/*
 * Retention: old rows of a family, deleted as a policy says.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/retention.h"

#include "scripting/failure.h"
#include "scripting/families.h"
#include "scripting/fields.h"
#include "scripting/module.h"
#include "scripting/scratch.h"
#include "scripting/types.h"
#include "scripting/values.h"

#include <stdlib.h>
#include <string.h>

#define LIST_MAX 1000 /* rules, and conditions of one */

/* A policy in the making, and where its conditions are. */
struct policy {
    struct colander_retention retention;
    struct colander_keep *keeps;
    char ***words; /* of each */
    size_t room;   /* of both */
};

static void
policy_release(void *object)
{
    struct policy *policy = object;

    for (size_t i = 0; i < policy->room && policy->words != NULL; i++) {
        for (size_t j = 0; j < policy->keeps[i].word_count; j++)
            free(policy->words[i][j]);
        free(policy->words[i]);
    }
    free(policy->keeps);
    free(policy->words);
}

/* Returns the duration on top of the stack, a text or a number of seconds, and
 * pops it. */
static int64_t
take_duration(lua_State *L)
{
    int64_t seconds = 0;
    int is_integer = 0;

    if (lua_type(L, -1) == LUA_TSTRING) {
        const char *text = text_check(L, -1, "keep");

        if (!colander_duration_read(colander_slice_text(text), &seconds))
            failure_misuse(L, "keep: '%s' is not a duration such as 30d", text);
    } else {
        seconds = lua_tointegerx(L, -1, &is_integer);
        if (!is_integer)
            failure_misuse(L,
                           "keep must be a duration such as \"30d\", or "
                           "seconds, not a %s",
                           luaL_typename(L, -1));
    }
    lua_pop(L, 1);
    return seconds;
}

/* Copies the conditions on top of the stack, a text or a list, and pops
 * them. */
static void
take_words(lua_State *L, struct policy *policy, size_t index)
{
    const bool is_one = lua_type(L, -1) == LUA_TSTRING;
    size_t count = 1;

    if (!is_one) {
        luaL_checktype(L, -1, LUA_TTABLE);
        count = list_check(L, -1, "where", LIST_MAX);
        if (count == 0)
            failure_misuse(L, "rule: where is empty");
    } else if (*lua_tostring(L, -1) == '\0') {
        failure_misuse(L, "rule: where is empty");
    }
    policy->words[index] = calloc(count + 1, sizeof(**policy->words));
    if (policy->words[index] == NULL)
        failure_memory(L, "for conditions");
    policy->keeps[index].words = (const char *const *)policy->words[index];
    for (size_t i = 0; i < count; i++) {
        if (is_one)
            lua_pushvalue(L, -1);
        else
            lua_rawgeti(L, -1, (lua_Integer)i + 1);
        policy->words[index][i] = strdup(text_check(L, -1, "where"));
        if (policy->words[index][i] == NULL)
            failure_memory(L, "for conditions");
        policy->keeps[index].word_count++;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Reads the rule {where = , keep = } on top of the stack. */
static void
read_rule(lua_State *L, struct policy *policy, size_t index)
{
    static const struct field fields[] = {FIELD_NAME("where"),
                                          FIELD_NAME("keep"), FIELD_END};

    luaL_checktype(L, -1, LUA_TTABLE);
    fields_read(L, lua_gettop(L), "rule", fields, NULL);
    if (!field_push(L, lua_gettop(L), "where"))
        failure_misuse(L, "rule: where is missing");
    take_words(L, policy, index);
    if (!field_push(L, lua_gettop(L), "keep"))
        failure_misuse(L, "rule: keep is missing");
    policy->keeps[index].seconds = take_duration(L);
}

/* Reads the policy in the table at 2. Returns NULL if it has none. */
static const struct colander_retention *
read_policy(lua_State *L)
{
    struct policy *policy = type_push_owner(L, sizeof(*policy), policy_release);
    size_t rule_count = 0;

    colander_retention_init(&policy->retention);
    if (field_push(L, 2, "rules")) {
        luaL_checktype(L, -1, LUA_TTABLE);
        rule_count = list_check(L, -1, "rules", LIST_MAX);
        if (rule_count == 0)
            failure_misuse(L, "rules is empty");
    }
    policy->keeps = calloc(rule_count + 1, sizeof(*policy->keeps));
    policy->words = calloc(rule_count + 1, sizeof(*policy->words));
    if (policy->keeps == NULL || policy->words == NULL)
        failure_memory(L, "for a policy");
    policy->room = rule_count;
    policy->retention.keeps = policy->keeps;
    policy->retention.keep_count = rule_count;
    for (size_t i = 0; i < rule_count; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        read_rule(L, policy, i);
        lua_pop(L, 1);
    }
    if (field_push(L, 2, "keep"))
        policy->keeps[policy->retention.keep_count++].seconds =
            take_duration(L);
    if (field_push(L, 2, "max_bytes")) {
        const lua_Integer size = luaL_checkinteger(L, -1);

        if (size < 1)
            failure_misuse(L, "max_bytes must be at least 1");
        policy->retention.size_max = (uint64_t)size;
    }
    return policy->retention.keep_count > 0 ||
                   policy->retention.size_max != UINT64_MAX
               ? &policy->retention
               : NULL;
}

struct script_options {
    bool is_dry;
    bool is_forced;
    bool is_once;
    bool is_off;
};

static void
watch(void *context, struct colander_cursor *cursor)
{
    const struct scratch *scratch = context;

    if (scratch->watch != NULL)
        scratch->watch(cursor);
}

static bool
goes_on(void *context, uint64_t row_count)
{
    const struct scratch *scratch = context;

    (void)row_count;
    return scratch->is_cancelled == NULL || !scratch->is_cancelled();
}

/* Pushes what was done beside the deletes. */
static void
push_done(lua_State *L, const struct colander_retained *done)
{
    lua_createtable(L, 0, 3);
    if (done->family_count > 0) {
        lua_pushinteger(L, (lua_Integer)done->family_count);
        lua_setfield(L, -2, "families");
    }
    if (done->newest.type != COLANDER_NULL) {
        value_push(L, &done->newest);
        lua_setfield(L, -2, "newest");
        value_push(L, &done->reference);
        lua_setfield(L, -2, "reference");
    }
}

/* Raises if the conditions of a rule may be others than were meant. */
static void
check_rules(lua_State *L, struct colander_family *family,
            const struct colander_retention *retention,
            const struct colander_retain_options *options)
{
    for (size_t i = 0; i < retention->keep_count; i++) {
        struct colander_error err;
        struct colander_fault fault;
        const struct colander_keep *keep = &retention->keeps[i];
        const enum colander_code code =
            keep->word_count == 0
                ? COLANDER_OK
                : colander_family_check_keep(family, retention, i, options,
                                             &fault, &err);

        if (code == COLANDER_OK ||
            (code == COLANDER_NOT_FOUND && options->is_dry))
            continue;
        if (code == COLANDER_INVALID)
            colander_error_context(&err, "'%.100s'", keep->words[fault.word]);
        else if (code == COLANDER_NOT_FOUND)
            colander_error_context(&err,
                                   "force = true takes conditions that no "
                                   "row meets");
        colander_error_context(&err, "rule %zu", i + 1);
        failure_raise(L, &err);
    }
}

/* family:retain([options]): the number of rows, and from when ages count.
 * Without options as the family's own policy says. */
static int
family_retain(lua_State *L)
{
    static const struct field fields[] = {
        FIELD_NAME("keep"),
        FIELD_NAME("rules"),
        FIELD_NAME("max_bytes"),
        FIELD(BOOLEAN, "dry_run", script_options, is_dry),
        FIELD(BOOLEAN, "once", script_options, is_once),
        FIELD(BOOLEAN, "off", script_options, is_off),
        FIELD(BOOLEAN, "force", script_options, is_forced),
        FIELD_END,
    };
    struct script_options given = {.is_dry = false};
    struct colander_family *family = family_check(L, 1)->family;
    const struct colander_retention *retention = NULL;
    struct colander_retain_options options;
    struct colander_retained done;

    arguments_check_count(L, 2);
    lua_settop(L, 2);
    fields_read(L, 2, "retain", fields, &given);
    if (!lua_isnil(L, 2))
        retention = read_policy(L);
    if (given.is_forced && retention == NULL)
        failure_misuse(L, "retain: force needs a policy");
    if (given.is_off && (retention != NULL || given.is_once || given.is_dry))
        failure_misuse(L, "retain: off excludes other options");
    if (given.is_off) {
        failure_try(L, colander_family_set_retention(family, NULL, &err));
        return 0;
    }
    colander_retain_options_init(&options);
    options.is_dry = given.is_dry;
    options.watch = watch;
    options.goes_on = goes_on;
    options.context = scratch_get(L);
    if (retention != NULL && !given.is_forced)
        check_rules(L, family, retention, &options);
    failure_try(
        L, colander_family_retain(family, retention, &options, &done, &err));
    if (retention != NULL && !given.is_once && !given.is_dry)
        failure_try(L, colander_family_set_retention(family, retention, &err));
    lua_pushinteger(L, (lua_Integer)done.row_count);
    push_done(L, &done);
    return 2;
}

static void
release_retention(void *object)
{
    colander_retention_destroy(*(struct colander_retention **)object);
}

/* Pushes {where = {...}, keep = seconds}. */
static void
push_rule(lua_State *L, const struct colander_keep *keep)
{
    lua_createtable(L, 0, 2);
    lua_createtable(L, (int)keep->word_count, 0);
    for (size_t i = 0; i < keep->word_count; i++) {
        lua_pushstring(L, keep->words[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "where");
    lua_pushinteger(L, keep->seconds);
    lua_setfield(L, -2, "keep");
}

/* family:retention(): its policy as a table, or nil */
static int
family_retention(lua_State *L)
{
    struct colander_family *family = family_check(L, 1)->family;
    struct colander_retention **own;
    enum colander_retention_state state;

    arguments_check_count(L, 1);
    own = type_push_owner(L, sizeof(*own), release_retention);
    failure_try(L, colander_family_retention(family, own, &state, &err));
    if (*own == NULL)
        return 0;
    lua_createtable(L, 0, 4);
    lua_createtable(L, 0, 0);
    for (size_t i = 0; i < (*own)->keep_count; i++) {
        const struct colander_keep *keep = &(*own)->keeps[i];

        if (keep->word_count == 0) {
            lua_pushinteger(L, keep->seconds);
            lua_setfield(L, -3, "keep");
        } else {
            push_rule(L, keep);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
    }
    lua_setfield(L, -2, "rules");
    if ((*own)->size_max != UINT64_MAX) {
        lua_pushinteger(L, (lua_Integer)(*own)->size_max);
        lua_setfield(L, -2, "max_bytes");
    }
    lua_pushboolean(L, state != COLANDER_RETENTION_IN_FORCE);
    lua_setfield(L, -2, "paused");
    return 1;
}

/* family:time_column([path]): sets it, "" removes it; returns it, or nil */
static int
family_time_column(lua_State *L)
{
    struct script_family *family = family_check(L, 1);
    struct scratch *scratch = scratch_get(L);
    bool found;

    arguments_check_count(L, 2);
    if (!lua_isnoneornil(L, 2))
        failure_try(L,
                    colander_family_set_time_column(
                        ((struct script_store *)family->handle.parent)->store,
                        family->family, text_check(L, 2, "a column"), &err));
    failure_try(L, colander_family_time_column(family->family, &scratch->text,
                                               &found, &err));
    if (!found)
        return 0;
    lua_pushstring(L, (const char *)scratch->text.data);
    return 1;
}

void
retention_register(lua_State *L)
{
    static const struct luaL_Reg methods[] = {
        {"retain", family_retain},
        {"retention", family_retention},
        {"time_column", family_time_column},
        {NULL, NULL},
    };

    type_extend(L, FAMILY_TYPE, methods, NULL);
}
