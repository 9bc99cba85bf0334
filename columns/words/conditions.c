/*
 * Conditions: see columns/words.h.
 *
 * A word is a condition, or one of and, or, not, ( and ), in any case:
 *
 *     any  = all {"or" all}
 *     all  = unit {["and"] unit}
 *     unit = CONDITION | "not" unit | "(" any ")"
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/words.h"

#include "columns/limits.h"
#include "columns/words/conditions.h"
#include "columns/words/literals.h"
#include "core/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum operation { COMPARISON, PIECE, PATTERN, NO_PATTERN, EXISTS, MISSING };

static const struct condition_operator {
    const char *sign;
    enum operation operation;
    enum colander_operator how; /* of COMPARISON */
} operators[] = {
    /* a sign comes before those that it begins with */
    {"~~", PIECE, COLANDER_OPERATOR_EQ},
    {"=~", PATTERN, COLANDER_OPERATOR_EQ},
    {"!~", NO_PATTERN, COLANDER_OPERATOR_EQ},
    {"!=", COMPARISON, COLANDER_OPERATOR_NE},
    {"<=", COMPARISON, COLANDER_OPERATOR_LE},
    {">=", COMPARISON, COLANDER_OPERATOR_GE},
    {"=", COMPARISON, COLANDER_OPERATOR_EQ},
    {"<", COMPARISON, COLANDER_OPERATOR_LT},
    {">", COMPARISON, COLANDER_OPERATOR_GT},
    {"~", COMPARISON, COLANDER_OPERATOR_PREFIX},
    {"?", EXISTS, COLANDER_OPERATOR_EQ},
    {"!", MISSING, COLANDER_OPERATOR_EQ},
};

/* The parts of a condition, borrowed from its text except for the path. */
struct condition {
    char *path;                            /* NULL: any column */
    const struct condition_operator *sign; /* NULL: words are looked for */
    const char *value;                     /* after the operator, or words */
    bool is_folded; /* texts are compared whatever their case */
};

/* Returns the place of the first operator of `text` without a backslash before
 * it, or the end. *has_space: a space is before it, without a backslash. */
static size_t
path_size(const char *text, bool *has_space)
{
    size_t size = 0;

    *has_space = false;
    while (text[size] != '\0' && strchr("=!<>~?", text[size]) == NULL) {
        *has_space = text[size] == ' ';
        if (text[size] == '\\' && text[size + 1] != '\0')
            size++;
        size++;
    }
    return size;
}

/* Returns the size of the path before the colon of COL:WORDS, or of the whole
 * text if it is WORDS or a "PHRASE". */
static size_t
words_path_size(const char *text)
{
    size_t size = 0;

    if (text[0] == '"')
        return strlen(text);
    while (text[size] != '\0' && text[size] != ':') {
        if (text[size] == '\\' && text[size + 1] != '\0')
            size++;
        size++;
    }
    return size;
}

static const struct condition_operator *
operator_at(const char *text)
{
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strncmp(text, operators[i].sign, strlen(operators[i].sign)) == 0)
            return &operators[i];
    }
    return NULL;
}

static enum colander_code
set_path(struct condition *condition, const char *text, size_t size,
         struct colander_error *err)
{
    condition->path = strndup(text, size);
    return condition->path != NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
}

/* Takes apart COL:WORDS, or WORDS, which have no path. */
static enum colander_code
take_words(struct condition *condition, const char *text, size_t *offset,
           struct colander_error *err)
{
    const size_t size = words_path_size(text);

    *offset = 0;
    condition->value = text;
    if (text[0] == '\0')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a condition: COL=VALUE, COL<VALUE, "
                             "COL~TEXT, COL?, or a word");
    if (text[size] == '\0')
        return COLANDER_OK;
    if (size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a column before ':'");
    condition->value = text + size + 1;
    return set_path(condition, text, size, err);
}

/* Fails if a text that is looked for is empty: every text would match, which an
 * unset variable of a shell does not mean. "" is such a text. */
static enum colander_code
check_text(const struct condition *condition, const char *text, size_t *offset,
           struct colander_error *err)
{
    const struct condition_operator *sign = condition->sign;
    const bool is_prefix = sign->how == COLANDER_OPERATOR_PREFIX;

    if (condition->value[0] != '\0' ||
        (!is_prefix && sign->operation != PIECE && sign->operation != PATTERN &&
         sign->operation != NO_PATTERN))
        return COLANDER_OK;
    *offset = (size_t)(condition->value - text);
    return COLANDER_FAIL(
        err, COLANDER_INVALID, "expected a %s after '%s'%s",
        is_prefix || sign->operation == PIECE ? "text" : "pattern", sign->sign,
        is_prefix ? " (COL~\"\" is for any text)" : "");
}

/* On success condition->path is the caller's to free. */
static enum colander_code
take_apart(struct condition *condition, const char *text, size_t *offset,
           struct colander_error *err)
{
    bool has_space;
    size_t size = path_size(text, &has_space);
    const struct condition_operator *found = operator_at(text + size);

    *offset = size;
    if (found == NULL)
        return take_words(condition, text, offset, err);
    condition->sign = found;
    condition->value = text + size + strlen(found->sign);
    if (size == 0 && (found->operation == PIECE || found->operation == PATTERN))
        return check_text(condition, text, offset, err);
    if (size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a column before '%s'%s", found->sign,
                             found->operation == NO_PATTERN
                                 ? " (not =~PATTERN is for any column)"
                                 : "");
    if (has_space) {
        *offset = size - 1;
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unexpected space before '%s' (a name that ends "
                             "in a space needs a backslash before it)",
                             found->sign);
    }
    if ((found->operation == EXISTS || found->operation == MISSING) &&
        *condition->value != '\0') {
        *offset = (size_t)(condition->value - text);
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "unexpected text after '%s' (another condition, "
                             "( and ) are words of their own; --search is for "
                             "texts with signs)",
                             found->sign);
    }
    return check_text(condition, text, offset, err) == COLANDER_OK
               ? set_path(condition, text, size, err)
               : COLANDER_INVALID;
}

static struct colander_predicate *
compare(const struct condition *condition, const struct literals *literals,
        struct colander_error *err)
{
    const struct operand *first = literals->operands;
    enum colander_operator how = condition->sign->how;
    const bool is_equality =
        how == COLANDER_OPERATOR_EQ || how == COLANDER_OPERATOR_NE;

    if (literals->is_list && how != COLANDER_OPERATOR_EQ) {
        COLANDER_FAIL(err, COLANDER_INVALID,
                      "only = takes an array (write a text that begins with "
                      "'[' in double quotes)");
        return NULL;
    }
    if (!literals->is_list && !is_equality && first->has_value &&
        first->value.type == COLANDER_NULL) {
        COLANDER_FAIL(err, COLANDER_INVALID, "null has no order: use = or !=");
        return NULL;
    }
    if (literals->is_list)
        how = COLANDER_OPERATOR_IN;
    return operands_compare(condition->path, how, condition->is_folded, first,
                            literals->count, err);
}

/* Removes a text from the start of the message, if it is there. */
static void
drop_lead(struct colander_error *err, const char *format, ...)
{
    char lead[sizeof(err->message)];
    va_list list;
    size_t size;

    va_start(list, format);
    (void)vsnprintf(lead, sizeof(lead), format, list);
    va_end(list);
    size = strlen(lead);
    if (strncmp(err->message, lead, size) == 0)
        memmove(err->message, err->message + size,
                strlen(err->message) - size + 1);
}

/* Creates the predicate of a text that is looked for. */
static struct colander_predicate *
build_search(const struct condition *condition, enum colander_search how,
             unsigned flags, struct colander_slice text, size_t *offset,
             struct colander_error *err)
{
    struct colander_predicate *predicate;

    flags |= condition->is_folded ? COLANDER_SEARCH_ICASE : 0;
    predicate =
        colander_where_search(condition->path, how, text, flags, offset, err);
    if (predicate == NULL && condition->path == NULL)
        drop_lead(err, "predicate on any column: ");
    else if (predicate == NULL) /* the place shows it better */
        drop_lead(err, "predicate on '%s': ", condition->path);
    return predicate;
}

/* Reads a text, which may be in double quotes, and looks for it. In a text in
 * quotes the place of a mistake is its beginning. */
static struct colander_predicate *
build_text(const struct condition *condition, enum colander_search how,
           size_t *offset, struct colander_error *err)
{
    struct literals literals = {.operands = NULL};
    struct colander_predicate *predicate = NULL;

    if (literals_parse_text(&literals, condition->value, offset, err) ==
        COLANDER_OK) {
        predicate = build_search(condition, how, 0,
                                 literals.operands->value.bytes, offset, err);
        *offset = literals.is_quoted ? 0 : *offset;
    }
    literals_release(&literals);
    return predicate;
}

/* Reads WORDS, or a PHRASE in double quotes. */
static struct colander_predicate *
build_words(const struct condition *condition, size_t *offset,
            struct colander_error *err)
{
    if (condition->value[0] == '"')
        return build_text(condition, COLANDER_SEARCH_PHRASE, offset, err);
    return build_search(condition, COLANDER_SEARCH_WORDS, 0,
                        colander_slice_text(condition->value), offset, err);
}

static bool
begins_word(unsigned char byte)
{
    const unsigned char letter = byte | 0x20;

    return byte >= 0x80 || byte == '_' || (letter >= 'a' && letter <= 'z') ||
           (byte >= '0' && byte <= '9');
}

/* Refuses a * that a word follows, as in *ain and r*n: it would be a sign. */
static bool
are_words(const struct condition *condition, size_t *offset,
          struct colander_error *err)
{
    const char *words = condition->value;
    const char *star = words[0] == '"' ? NULL : strchr(words, '*');

    while (star != NULL && !begins_word((unsigned char)star[1]))
        star = strchr(star + 1, '*');
    if (star == NULL)
        return true;
    *offset = (size_t)(star - words);
    COLANDER_FAIL(err, COLANDER_INVALID,
                  "a * can only end the last word: ~~TEXT and COL~~TEXT find "
                  "a piece of a word (--search is for texts with signs)");
    return false;
}

/* Reads the value, and creates the predicate. */
static struct colander_predicate *
build_with_value(const struct condition *condition, size_t *offset,
                 struct colander_error *err)
{
    struct literals literals = {.operands = NULL};
    struct colander_predicate *predicate = NULL;
    enum colander_code code;

    code = condition->sign->how == COLANDER_OPERATOR_PREFIX
               ? literals_parse_text(&literals, condition->value, offset, err)
               : literals_parse(&literals, condition->value, offset, err);
    if (code == COLANDER_OK) {
        *offset = 0;
        predicate = compare(condition, &literals, err);
        if (predicate == NULL) /* the place shows it better */
            drop_lead(err, "predicate on '%s': ", condition->path);
    }
    literals_release(&literals);
    return predicate;
}

/* Moves the place inside the path from a message such as
 * "path '...': what is wrong (position 5)" to *offset. */
static void
move_place(struct colander_error *err, const char *path, size_t *offset)
{
    char *place = strrchr(err->message, '(');
    size_t position;

    if (place == NULL || place == err->message ||
        sscanf(place, "(position %zu)", &position) != 1 || position == 0 ||
        position > strlen(path) + 1)
        return;
    *offset = position - 1;
    place[-1] = '\0';
    drop_lead(err, "path '%.200s': ", path);
}

/* The library checks paths; a predicate for EXISTS is the cheapest. */
static bool
is_path(const char *path, size_t *offset, struct colander_error *err)
{
    struct colander_predicate *predicate = colander_where_exists(path, err);

    colander_predicate_destroy(predicate);
    if (predicate != NULL)
        return true;
    drop_lead(err, "predicate: ");
    move_place(err, path, offset);
    return false;
}

/* Whether the path is that of the key column, or inside it. */
static bool
is_key(const char *path)
{
    size_t size = strlen(COLANDER_KEY_COLUMN);

    return strncmp(path, COLANDER_KEY_COLUMN, size) == 0 &&
           strchr(".[", path[size]) != NULL;
}

static struct colander_predicate *
build(const struct condition *condition, const char *text, size_t *offset,
      struct colander_error *err)
{
    struct colander_predicate *predicate;

    *offset = 0;
    if (condition->path != NULL && !is_path(condition->path, offset, err))
        return NULL;
    if (condition->path != NULL && is_key(condition->path)) {
        COLANDER_FAIL(err, COLANDER_INVALID,
                      "the key is not a column: use --key, --prefix, --from "
                      "or --to");
        return NULL;
    }
    if (condition->sign == NULL)
        predicate = are_words(condition, offset, err)
                        ? build_words(condition, offset, err)
                        : NULL;
    else if (condition->sign->operation == EXISTS)
        return colander_where_exists(condition->path, err);
    else if (condition->sign->operation == MISSING)
        return colander_where_missing(condition->path, err);
    else if (condition->sign->operation == PIECE)
        predicate = build_text(condition, COLANDER_SEARCH_PIECE, offset, err);
    else if (condition->sign->operation != COMPARISON)
        predicate = build_search(
            condition, COLANDER_SEARCH_PATTERN,
            condition->sign->operation == NO_PATTERN ? COLANDER_SEARCH_NOT : 0,
            colander_slice_text(condition->value), offset, err);
    else
        predicate = build_with_value(condition, offset, err);
    *offset += (size_t)(condition->value - text);
    return predicate;
}

/* Creates the predicate of one condition. */
static struct colander_predicate *
parse_condition(const char *text, bool is_folded, size_t *offset,
                struct colander_error *err)
{
    struct condition condition = {NULL, NULL, NULL, is_folded};
    struct colander_predicate *predicate = NULL;

    if (take_apart(&condition, text, offset, err) == COLANDER_OK)
        predicate = build(&condition, text, offset, err);
    free(condition.path);
    return predicate;
}

/* ---------------------------------------------------------------- words --- */

/* Words that are read one after the other. */
struct parser {
    const char *const *words;
    size_t count;
    size_t next;    /* word */
    bool is_folded; /* texts are compared whatever their case */
    struct colander_fault fault;
    struct colander_error *err;
};

/* Operands of "and" or "or", owned. */
struct operand_list {
    struct colander_predicate **predicates;
    size_t count;
    size_t capacity;
};

static struct colander_predicate *parse_any(struct parser *parser,
                                            unsigned depth);

static bool
is_word(const struct parser *parser, const char *word)
{
    return parser->next < parser->count &&
           strcasecmp(parser->words[parser->next], word) == 0;
}

static bool
take_word(struct parser *parser, const char *word)
{
    const bool is = is_word(parser, word);

    parser->next += is;
    return is;
}

/* Returns NULL, after a mistake in the word, or after the last one. */
static struct colander_predicate *
fail_at(struct parser *parser, size_t word, const char *message)
{
    parser->fault.word = word;
    parser->fault.offset = 0;
    if (word == parser->count && word > 0) {
        parser->fault.word = word - 1;
        parser->fault.offset = strlen(parser->words[word - 1]);
    }
    (void)COLANDER_FAIL(parser->err, COLANDER_INVALID, "%s", message);
    return NULL;
}

/* Adds the predicate, which is taken, unless it is NULL. */
static bool
list_add(struct operand_list *list, struct colander_predicate *predicate,
         struct colander_error *err)
{
    if (predicate == NULL)
        return false;
    if (array_reserve(&list->predicates, list->count, &list->capacity, 1,
                      err) != COLANDER_OK) {
        colander_predicate_destroy(predicate);
        return false;
    }
    list->predicates[list->count++] = predicate;
    return true;
}

/* Replaces the list by one predicate; by NULL after a failure. */
static struct colander_predicate *
list_join(struct operand_list *list, bool is_complete, bool is_all,
          struct colander_error *err)
{
    struct colander_predicate *joined = NULL;

    if (is_complete && list->count == 1)
        joined = list->predicates[0];
    else if (is_complete)
        joined = (is_all ? colander_all_of : colander_any_of)(list->predicates,
                                                              list->count, err);
    for (size_t i = 0; i < list->count && !is_complete; i++)
        colander_predicate_destroy(list->predicates[i]);
    free(list->predicates);
    return joined;
}

static struct colander_predicate *
parse_group(struct parser *parser, size_t opening, unsigned depth)
{
    struct colander_predicate *predicate = parse_any(parser, depth + 1);

    if (predicate == NULL || take_word(parser, ")"))
        return predicate;
    colander_predicate_destroy(predicate);
    return fail_at(parser, opening, "'(' without ')'");
}

static struct colander_predicate *
parse_unit(struct parser *parser, unsigned depth)
{
    const size_t word = parser->next;
    struct colander_predicate *predicate;

    if (depth > COLANDER_PREDICATE_DEPTH_MAX)
        return fail_at(parser, word, "conditions are nested too deeply");
    if (take_word(parser, "not"))
        return colander_not(parse_unit(parser, depth + 1), parser->err);
    if (take_word(parser, "("))
        return parse_group(parser, word, depth);
    if (word == parser->count || is_word(parser, "or") ||
        is_word(parser, "and") || is_word(parser, ")"))
        return fail_at(parser, word, "expected a condition");
    if (parser->words[word][0] == '(')
        return fail_at(parser, word,
                       "( and ) are words of their own (a name that begins so "
                       "needs a backslash before it)");
    parser->fault.word = word;
    predicate = parse_condition(parser->words[word], parser->is_folded,
                                &parser->fault.offset, parser->err);
    parser->next++;
    return predicate;
}

static struct colander_predicate *
parse_all(struct parser *parser, unsigned depth)
{
    struct operand_list list = {NULL, 0, 0};
    bool is_complete;

    do {
        is_complete = list_add(&list, parse_unit(parser, depth), parser->err);
    } while (is_complete &&
             (take_word(parser, "and") ||
              (parser->next < parser->count && !is_word(parser, "or") &&
               !is_word(parser, ")"))));
    return list_join(&list, is_complete, true, parser->err);
}

static struct colander_predicate *
parse_any(struct parser *parser, unsigned depth)
{
    struct operand_list list = {NULL, 0, 0};
    bool is_complete;

    do {
        is_complete = list_add(&list, parse_all(parser, depth), parser->err);
    } while (is_complete && take_word(parser, "or"));
    return list_join(&list, is_complete, false, parser->err);
}

static struct colander_predicate *
read_words(const char *const *words, size_t count, bool is_folded,
           struct colander_fault *fault, struct colander_error *err)
{
    struct colander_error unwanted;
    struct parser parser = {
        .words = words,
        .count = count,
        .is_folded = is_folded,
        .err = err != NULL ? err : &unwanted,
    };
    struct colander_predicate *predicate;

    if (count == 0)
        return colander_all_of(NULL, 0, err);
    predicate = parse_any(&parser, 1);
    if (predicate != NULL && parser.next < count) {
        colander_predicate_destroy(predicate);
        predicate = fail_at(&parser, parser.next, "')' without '('");
    }
    if (fault != NULL)
        *fault = parser.fault;
    return predicate;
}

struct colander_predicate *
colander_where_words(const char *const *words, size_t count,
                     struct colander_fault *fault, struct colander_error *err)
{
    return read_words(words, count, false, fault, err);
}

struct colander_predicate *
colander_where_words_icase(const char *const *words, size_t count,
                           struct colander_fault *fault,
                           struct colander_error *err)
{
    return read_words(words, count, true, fault, err);
}

static struct colander_predicate *
read_any(const char *text, bool is_folded, size_t *offset,
         struct colander_error *err)
{
    struct literals literals = {.operands = NULL};
    struct colander_predicate *predicate = NULL;
    struct colander_error unwanted;

    if (err == NULL)
        err = &unwanted;
    if (literals_parse(&literals, text, offset, err) == COLANDER_OK) {
        *offset = 0;
        if (literals.is_list)
            COLANDER_FAIL(
                err, COLANDER_INVALID,
                "any column takes one value, not a list (write a text that "
                "begins with '[' in double quotes)");
        else
            predicate = operands_compare(NULL, COLANDER_OPERATOR_ANY, is_folded,
                                         literals.operands, 1, err);
        if (predicate == NULL)
            drop_lead(err, "predicate on any column: ");
    }
    literals_release(&literals);
    return predicate;
}

struct colander_predicate *
colander_where_any_text(const char *text, size_t *offset,
                        struct colander_error *err)
{
    return read_any(text, false, offset, err);
}

struct colander_predicate *
colander_where_any_text_icase(const char *text, size_t *offset,
                              struct colander_error *err)
{
    return read_any(text, true, offset, err);
}

struct colander_predicate *
colander_where_search_text(const char *path, const char *text, size_t *offset,
                           struct colander_error *err)
{
    const struct condition condition = {(char *)path, NULL, text, false};
    struct colander_error unwanted;

    return build_words(&condition, offset, err != NULL ? err : &unwanted);
}

bool
condition_is_bare(const char *word)
{
    static const char *const others[] = {"or", "and", "not", "(", ")"};
    bool has_space;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcasecmp(word, others[i]) == 0)
            return false;
    }
    return word[0] != '"' && word[path_size(word, &has_space)] == '\0' &&
           word[words_path_size(word)] == '\0';
}
