/*
 * Completion: see completion.h.
 *
 * It reads the line from its end, as far as it understands it, and looks into
 * the state of Lua without running anything of a script's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/completion.h"
#include "shell/census.h"
#include "shell/commands.h"
#include "shell/dot_commands.h"

#include <ctype.h>
#include <lauxlib.h>
#include <stdlib.h>

#define NAMES_MAX 32   /* between dots */
#define SEEN_ROWS 500  /* whose columns are known */
#define SEEN_LINES 100 /* completions that a family's columns are known for */

struct completion {
    struct interpreter *interpreter;
    struct session *session;
    char *family; /* whose columns are known; NULL: none */
    struct census *census;
    unsigned age;
};

/* What is looked for, and what was found. */
struct search {
    struct completion *completion;
    struct colander_slice line;
    struct colander_slice word; /* its last part, to be completed */
    struct colander_buffer *texts;
};

struct completion *
completion_create(struct interpreter *interpreter, struct session *session)
{
    struct completion *completion = calloc(1, sizeof(*completion));

    if (completion == NULL)
        return NULL;
    completion->interpreter = interpreter;
    completion->session = session;
    return completion;
}

void
completion_destroy(struct completion *completion)
{
    if (completion == NULL)
        return;
    census_destroy(completion->census);
    free(completion->family);
    free(completion);
}

/* -------------------------------------------------------------- finding --- */

static bool
is_known(const struct colander_buffer *texts, const char *text)
{
    for (size_t at = 0; at < texts->size;) {
        const char *known = (const char *)texts->data + at;

        if (strcmp(known, text) == 0)
            return true;
        at += strlen(known) + 1;
    }
    return false;
}

/* Adds a text that begins with the word, unless it is there. */
static void
offer(struct search *search, const char *text)
{
    if (strlen(text) >= search->word.size &&
        memcmp(text, search->word.data, search->word.size) == 0 &&
        !is_known(search->texts, text) &&
        colander_buffer_append(search->texts, text, strlen(text) + 1, NULL) !=
            COLANDER_OK)
        search->texts->size = 0; /* none is better than some */
}

static void
offer_all(struct search *search, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        offer(search, *texts);
}

static void
offer_families(struct search *search)
{
    struct colander_names names = {NULL, 0};

    if (colander_store_families(search->completion->session->store, &names,
                                NULL) == COLANDER_OK) {
        for (size_t i = 0; i < names.count; i++)
            offer(search, names.names[i]);
    }
    colander_names_release(&names);
}

static bool
is_identifier(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    }
    return !isdigit((unsigned char)text[0]) && text[0] != '\0';
}

/* Offers the string keys of the table at `index`. */
static void
offer_keys(struct search *search, lua_State *L, int index)
{
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING &&
            is_identifier(lua_tostring(L, -1)))
            offer(search, lua_tostring(L, -1));
    }
}

/* Offers what is behind a dot or a colon: the fields of a table, the methods
 * of a handle or string. */
static void
offer_members(struct search *search, lua_State *L, int index)
{
    if (lua_istable(L, index))
        offer_keys(search, L, index);
    if (lua_getmetatable(L, index) != 0) {
        lua_pushliteral(L, "__index");
        if (lua_rawget(L, -2) == LUA_TTABLE)
            offer_keys(search, L, lua_gettop(L));
        lua_pop(L, 2);
    }
}

/* -------------------------------------------------------------- columns --- */

/* Makes the columns of the family known. */
static void
take_census(struct completion *completion, const char *name)
{
    struct colander_family *family = NULL;

    if (completion->family != NULL && strcmp(completion->family, name) == 0 &&
        completion->age++ < SEEN_LINES)
        return;
    census_destroy(completion->census);
    free(completion->family);
    completion->census = census_create();
    completion->family = strdup(name);
    completion->age = 0;
    if (completion->census == NULL || completion->family == NULL)
        return;
    if (colander_family_open(completion->session->store, name, &family, NULL) !=
        COLANDER_OK)
        return;
    /* what was taken before a failure will do */
    (void)!census_take(completion->census, family, SEEN_ROWS, NULL, NULL, NULL);
    colander_family_close(family);
}

/* Offers a path as it must be written in quotes. */
static void
offer_quoted(struct search *search, const char *path)
{
    struct colander_buffer quoted = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    for (const char *at = path; *at != '\0' && code == COLANDER_OK; at++) {
        if (strchr("\\\"'", *at) != NULL)
            code = colander_buffer_append(&quoted, "\\", 1, NULL);
        if (code == COLANDER_OK)
            code = colander_buffer_append(&quoted, at, 1, NULL);
    }
    if (code == COLANDER_OK)
        code = colander_buffer_append(&quoted, "", 1, NULL);
    if (code == COLANDER_OK)
        offer(search, (const char *)quoted.data);
    colander_buffer_release(&quoted);
}

static void
offer_columns_of(struct search *search, const char *family, bool in_quotes)
{
    struct completion *completion = search->completion;

    take_census(completion, family);
    if (completion->census == NULL)
        return;
    for (size_t i = 0; i < census_count(completion->census); i++) {
        const char *path = census_column(completion->census, i)->path;

        if (in_quotes)
            offer_quoted(search, path);
        else if (is_identifier(path))
            offer(search, path);
    }
}

static bool
is_name_byte(uint8_t byte)
{
    return isalnum(byte) || byte == '_' || byte >= 0x80;
}

/* Where the line has the name last, as a whole word; NULL: nowhere. */
static const uint8_t *
last_place(struct colander_slice line, const char *name)
{
    const size_t size = strlen(name);
    const uint8_t *last = NULL;

    for (size_t i = 0; size > 0 && i + size <= line.size; i++) {
        if (memcmp(line.data + i, name, size) == 0 &&
            (i == 0 || !is_name_byte(line.data[i - 1])) &&
            (i + size == line.size || !is_name_byte(line.data[i + size])))
            last = line.data + i;
    }
    return last;
}

/* The last family that the line names; those of the store if it names none. */
static void
offer_columns(struct search *search, bool in_quotes)
{
    struct colander_names names = {NULL, 0};
    const char *last = NULL;
    const uint8_t *last_at = NULL;

    if (colander_store_families(search->completion->session->store, &names,
                                NULL) != COLANDER_OK)
        return;
    for (size_t i = 0; i < names.count; i++) {
        const uint8_t *at = last_place(search->line, names.names[i]);

        if (at != NULL && (last == NULL || at > last_at)) {
            last = names.names[i];
            last_at = at;
        }
    }
    if (last != NULL)
        offer_columns_of(search, last, in_quotes);
    for (size_t i = 0; last == NULL && i < names.count && i < 10; i++)
        offer_columns_of(search, names.names[i], in_quotes);
    colander_names_release(&names);
}

/* ----------------------------------------------------------------- lines ---
 */

/* Bytes of the name that `text` ends in. */
static size_t
name_size(struct colander_slice text)
{
    size_t size = 0;

    while (size < text.size) {
        const uint8_t byte = text.data[text.size - size - 1];

        if (!is_name_byte(byte))
            break;
        size++;
    }
    return size;
}

/* The quote that is open at the end of the line, and how deep braces are. */
static char
open_quote(struct colander_slice line, size_t *after_quote, size_t *depth)
{
    char quote = '\0';

    *depth = 0;
    *after_quote = 0;
    for (size_t i = 0; i < line.size; i++) {
        const char c = (char)line.data[i];

        if (quote != '\0' && c == '\\')
            i++;
        else if (quote != '\0' && c == quote)
            quote = '\0';
        else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
            *after_quote = i + 1;
        } else if (quote == '\0' && c == '{')
            ++*depth;
        else if (quote == '\0' && c == '}' && *depth > 0)
            --*depth;
    }
    return quote;
}

/* Pushes the value that the names and dots at the end of `text` lead to, by
 * globals and plain fields; false: none, and nothing is pushed. */
static bool
push_named(lua_State *L, struct colander_slice text, int depth)
{
    const size_t size = name_size(text);
    const char *name = (const char *)text.data + text.size - size;
    const size_t before = text.size - size;
    bool is_found;

    if (size == 0 || depth == NAMES_MAX)
        return false;
    if (before > 0 && text.data[before - 1] == '.') {
        if (!push_named(L, colander_slice_of(text.data, before - 1), depth + 1))
            return false;
    } else {
        lua_pushglobaltable(L);
    }
    lua_pushlstring(L, name, size);
    if (lua_istable(L, -2))
        (void)lua_rawget(L, -2);
    lua_remove(L, -2);
    is_found = !lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING;
    if (!is_found)
        lua_pop(L, 1);
    return is_found;
}

/* Offers the methods of the type called `name` in Lua's registry. */
static void
offer_type(struct search *search, lua_State *L, const char *name)
{
    if (luaL_getmetatable(L, name) == LUA_TTABLE &&
        lua_getfield(L, -1, "__index") == LUA_TTABLE)
        offer_keys(search, L, lua_gettop(L));
    lua_settop(L, 0);
}

/* Whether the slice ends in the name of a family. */
static bool
ends_in_family(struct search *search, struct colander_slice text)
{
    const size_t size = name_size(text);
    struct colander_family *family = NULL;
    char *name = strndup((const char *)text.data + text.size - size, size);
    bool exists = false;

    if (name != NULL && size > 0 &&
        colander_family_open(search->completion->session->store, name, &family,
                             NULL) == COLANDER_OK)
        exists = colander_family_exists(family);
    colander_family_close(family);
    free(name);
    return exists;
}

/* What is behind `text` and a dot or colon. */
static void
offer_behind(struct search *search, lua_State *L, struct colander_slice text)
{
    const char last = text.size == 0 ? '\0' : (char)text.data[text.size - 1];

    if (push_named(L, text, 0)) {
        offer_members(search, L, lua_gettop(L));
        lua_settop(L, 0);
    } else if (ends_in_family(search, text)) {
        offer_type(search, L, "colander.family");
    } else if (last == '}' || last == ')' || last == '"') {
        offer_type(search, L, "colander.query"); /* most likely */
        if (memmem(text.data, text.size, ":group(", 7) != NULL)
            offer_type(search, L, "colander.grouped");
        if (memmem(text.data, text.size, ":family(", 8) != NULL)
            offer_type(search, L, "colander.family");
    }
}

static void
find_in_chunk(struct search *search, lua_State *L)
{
    static const char *const keywords[] = {
        "and",      "break",  "do",   "else", "elseif", "end",   "false", "for",
        "function", "goto",   "if",   "in",   "local",  "nil",   "not",   "or",
        "repeat",   "return", "then", "true", "until",  "while", NULL};
    size_t after_quote;
    size_t depth;
    const char quote = open_quote(search->line, &after_quote, &depth);
    const size_t size = name_size(search->line);
    const size_t before = search->line.size - size;
    const char mark = before == 0 ? '\0' : (char)search->line.data[before - 1];

    if (quote != '\0') {
        search->word = colander_slice_of(search->line.data + after_quote,
                                         search->line.size - after_quote);
        offer_families(search);
        offer_columns(search, true);
        return;
    }
    search->word = colander_slice_of(search->line.data + before, size);
    if (mark == '.' || mark == ':') {
        offer_behind(search, L,
                     colander_slice_of(search->line.data, before - 1));
        return;
    }
    if (depth > 0)
        offer_columns(search, false);
    lua_pushglobaltable(L);
    offer_keys(search, L, lua_gettop(L));
    lua_settop(L, 0);
    offer_families(search);
    offer_all(search, keywords);
}

/* Offers the options of the command that the line begins with. */
static void
offer_options(struct search *search)
{
    const char *line = (const char *)search->line.data;
    const size_t size = search->line.size;
    const char *end = memchr(line, ' ', size);
    char *name =
        end == NULL ? NULL : strndup(line + 1, (size_t)(end - line) - 1);
    const struct command *command = name == NULL ? NULL : commands_find(name);

    free(name);
    for (size_t i = 0; command != NULL && command->options[i].name != NULL;
         i++) {
        char word[64];

        snprintf(word, sizeof(word), "--%s", command->options[i].name);
        offer(search, word);
    }
}

/* Completes a line that begins with a dot. */
static void
find_in_command(struct search *search)
{
    static const char *const words[] = {
        "on", "off", "table", "line", "json", "jsonl", "csv", "msgpack", NULL};
    const char *line = (const char *)search->line.data;
    size_t start = search->line.size;
    const char *name;

    while (start > 0 && line[start - 1] != ' ' && line[start - 1] != '.')
        start--;
    search->word =
        colander_slice_of(search->line.data + start, search->line.size - start);
    if (start == 1) {
        for (size_t i = 0; (name = dot_commands_name(i)) != NULL; i++)
            offer(search, name);
        return;
    }
    if (search->word.size > 0 && search->word.data[0] == '-') {
        offer_options(search);
        return;
    }
    offer_families(search);
    offer_columns(search, true);
    offer_all(search, words);
}

static int
compare_texts(const void *a, const void *b)
{
    const char *const *first = a;
    const char *const *second = b;

    return strcmp(*first, *second);
}

/* Puts the texts in order, so that they can be read. */
static void
sort_texts(struct colander_buffer *texts)
{
    struct colander_buffer sorted = COLANDER_BUFFER_EMPTY;
    const char **list;
    size_t count = 0;

    list = calloc(texts->size + 1, sizeof(*list));
    if (list == NULL)
        return;
    for (size_t at = 0; at < texts->size;) {
        list[count] = (const char *)texts->data + at;
        at += strlen(list[count++]) + 1;
    }
    qsort(list, count, sizeof(*list), compare_texts);
    for (size_t i = 0; i < count; i++) {
        if (colander_buffer_append(&sorted, list[i], strlen(list[i]) + 1,
                                   NULL) != COLANDER_OK)
            sorted.size = 0;
    }
    free(list);
    colander_buffer_release(texts);
    *texts = sorted;
}

void
completion_find(void *context, struct colander_slice line, size_t *size,
                struct colander_buffer *texts)
{
    struct completion *completion = context;
    lua_State *L = interpreter_state(completion->interpreter);
    struct search search = {completion, line, {NULL, 0}, texts};

    if (line.size > 0 && line.data[0] == '.' &&
        (line.size == 1 || isalpha(line.data[1])))
        find_in_command(&search);
    else
        find_in_chunk(&search, L);
    *size = search.word.size;
    sort_texts(texts);
}
