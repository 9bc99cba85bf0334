/*
 * Schema lines: see schema_lines.h.
 *
 * What Lua took without a complaint is read again, token by token.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/schema_lines.h"

struct token {
    struct colander_slice text; /* of a name, or between the quotes */
    bool is_name;
    bool is_string;
};

struct lexer {
    const uint8_t *at;
    const uint8_t *end;
};

static uint8_t
peek(const struct lexer *lexer, size_t offset)
{
    return offset < (size_t)(lexer->end - lexer->at) ? lexer->at[offset] : 0;
}

static bool
is_name_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

/* Takes [[ ... ]], or [==[ ... ]==]; false when there is none. */
static bool
take_long(struct lexer *lexer, struct colander_slice *text)
{
    size_t level = 0;
    const uint8_t *from;

    while (peek(lexer, level + 1) == '=')
        level++;
    if (peek(lexer, 0) != '[' || peek(lexer, level + 1) != '[')
        return false;
    lexer->at += level + 2;
    from = lexer->at;
    for (; lexer->at < lexer->end; lexer->at++) {
        size_t count = 0;

        if (*lexer->at != ']')
            continue;
        while (peek(lexer, count + 1) == '=')
            count++;
        if (count == level && peek(lexer, count + 1) == ']')
            break;
    }
    *text = colander_slice_of(from, (size_t)(lexer->at - from));
    lexer->at += lexer->at < lexer->end ? level + 2 : 0;
    return true;
}

/* Takes what stands in quotes, which has no line end in it. */
static void
take_quoted(struct lexer *lexer, struct colander_slice *text)
{
    const uint8_t quote = *lexer->at++;
    const uint8_t *from = lexer->at;

    while (lexer->at < lexer->end && *lexer->at != quote)
        lexer->at += *lexer->at == '\\' && lexer->at + 1 < lexer->end ? 2 : 1;
    *text = colander_slice_of(from, (size_t)(lexer->at - from));
    lexer->at += lexer->at < lexer->end;
}

static void
skip_blanks(struct lexer *lexer)
{
    struct colander_slice comment;

    while (lexer->at < lexer->end) {
        if (peek(lexer, 0) == '-' && peek(lexer, 1) == '-') {
            lexer->at += 2;
            if (take_long(lexer, &comment))
                continue;
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else if (*lexer->at > ' ') {
            return;
        } else {
            lexer->at++;
        }
    }
}

/* Takes a token; false at the end. */
static bool
take(struct lexer *lexer, struct token *token)
{
    memset(token, 0, sizeof(*token));
    skip_blanks(lexer);
    if (lexer->at == lexer->end)
        return false;
    token->text.data = lexer->at;
    if (is_name_byte(*lexer->at)) {
        while (is_name_byte(peek(lexer, token->text.size)))
            token->text.size++;
        lexer->at += token->text.size;
        token->is_name = true;
    } else if (*lexer->at == '"' || *lexer->at == '\'') {
        take_quoted(lexer, &token->text);
        token->is_string = true;
    } else if (take_long(lexer, &token->text)) {
        token->is_string = true;
    } else {
        lexer->at++;
    }
    return true;
}

/* Whether the token is the text, also with \\ for a backslash. */
static bool
is_text(const struct token *token, const char *text)
{
    size_t at = 0;

    for (; *text != '\0'; text++, at++) {
        if (at >= token->text.size || token->text.data[at] != (uint8_t)*text)
            return false;
        if (*text == '\\' && at + 1 < token->text.size &&
            token->text.data[at + 1] == '\\')
            at++;
    }
    return at == token->text.size;
}

static size_t
line_at(struct colander_slice text, const uint8_t *at)
{
    size_t line = 1;

    for (const uint8_t *byte = text.data; byte < at; byte++)
        line += *byte == '\n';
    return line;
}

size_t
schema_line(struct colander_slice text, const char *const *names, size_t count)
{
    struct lexer lexer = {text.data, text.data + text.size};
    struct token token;
    size_t found = 0;

    while (found < count && take(&lexer, &token)) {
        if (!token.is_string && !token.is_name)
            continue;
        if (!is_text(&token, names[found]))
            continue;
        skip_blanks(&lexer);
        if (token.is_name && peek(&lexer, 0) != '=')
            continue;
        if (++found == count)
            return line_at(text, token.text.data);
    }
    return 0;
}
