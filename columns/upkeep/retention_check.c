/*
 * Whether the conditions of a policy are those that were meant.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/upkeep/retention_inside.h"
#include "columns/words.h"

#include <string.h>
#include <strings.h>

#define BLANKS " \t\r\n"

/* Returns and, or, or not within the condition, where it is a part of a text:
 * "text:a or text:b", "not text:a". NULL: none. In double quotes, after a
 * backslash, in a pattern and alone it is meant. */
static const char *
find_joint(const char *word)
{
    bool begins = true; /* a word of the condition */
    bool is_quoted = false;

    for (const char *at = word; *at != '\0'; at++) {
        const size_t size = strcspn(at, BLANKS);

        if (begins && !is_quoted && (at != word || at[size] != '\0') &&
            ((size == 2 && strncasecmp(at, "or", size) == 0) ||
             (size == 3 && (strncasecmp(at, "and", size) == 0 ||
                            strncasecmp(at, "not", size) == 0))))
            return at;
        if (strncmp(at, "=~", 2) == 0 || strncmp(at, "!~", 2) == 0)
            return NULL;
        begins = strchr(BLANKS, *at) != NULL;
        is_quoted = is_quoted != (*at == '"');
        at += *at == '\\' && at[1] != '\0';
    }
    return NULL;
}

/* Fails if a condition can be read and is probably another than was meant: the
 * rows that it keeps from being deleted are not those. */
static enum colander_code
check_meaning(const char *word, size_t *offset, struct colander_error *err)
{
    const char *joint = find_joint(word);
    int size;

    *offset = joint == NULL ? 0 : (size_t)(joint - word);
    if (joint == NULL)
        return COLANDER_OK;
    size = (int)strcspn(joint, BLANKS);
    return COLANDER_FAIL(
        err, COLANDER_INVALID,
        "this is one condition: '%.*s' must be a word beside it (a text with "
        "'%.*s' in it needs double quotes)",
        size, joint, size, joint);
}

/* Fails if one of the conditions is probably another than was meant. */
static enum colander_code
check_words(struct colander_family *family, const struct colander_keep *keep,
            struct colander_fault *fault, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < keep->word_count && code == COLANDER_OK; i++) {
        fault->word = i;
        code = check_meaning(keep->words[i], &fault->offset, err);
    }
    return code == COLANDER_OK
               ? colander_family_check_words(family, keep->words,
                                             keep->word_count, fault, err)
               : code;
}

/* Sets *is_met to whether a row of the family meets the predicate. */
static enum colander_code
check_met(struct colander_family *family,
          const struct colander_predicate *where,
          const struct colander_retain_options *options, bool *is_met,
          struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_query query;
    struct colander_result result;
    enum colander_code code;

    colander_query_init(&query);
    query.where = where;
    query.limit = 1;
    query.keys_only = true;
    code = colander_family_find(family, &query, &cursor, err);
    if (code == COLANDER_OK && options->watch != NULL)
        options->watch(options->context, cursor);
    if (code == COLANDER_OK)
        code = colander_cursor_next(cursor, is_met, &result, err);
    if (options->watch != NULL)
        options->watch(options->context, NULL);
    colander_cursor_close(cursor);
    return code;
}

/* Fails if no row has a column of the conditions. */
static enum colander_code
check_columns(struct colander_family *family,
              const struct colander_predicate *where,
              const struct colander_retain_options *options,
              struct colander_error *err)
{
    struct colander_condition condition;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; code == COLANDER_OK &&
                       colander_predicate_condition(where, i, &condition);
         i++) {
        struct colander_predicate *exists =
            colander_where_exists(condition.path, err);
        bool is_met = false;

        code = exists == NULL
                   ? err->code
                   : check_met(family, exists, options, &is_met, err);
        colander_predicate_destroy(exists);
        if (code == COLANDER_OK && !is_met)
            code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "no row has '%.100s'",
                                 condition.path);
    }
    return code;
}

/* Whether other rows are deleted sooner than those of the keep. */
static bool
keeps_longer(const struct colander_retention *retention, size_t index)
{
    for (size_t i = 0; i < retention->keep_count; i++) {
        if (retention->keeps[i].seconds < retention->keeps[index].seconds)
            return true;
    }
    return false;
}

enum colander_code
colander_family_check_keep(struct colander_family *family,
                           const struct colander_retention *retention,
                           size_t index,
                           const struct colander_retain_options *options,
                           struct colander_fault *fault,
                           struct colander_error *err)
{
    const struct colander_keep *keep = &retention->keeps[index];
    struct colander_predicate *where;
    bool is_met = true;
    enum colander_code code;

    *fault = (struct colander_fault){0, 0};
    code = retention_check_pattern(family, retention, err);
    if (code != COLANDER_OK)
        return code;
    where = colander_where_words(keep->words, keep->word_count, fault, err);
    if (where == NULL)
        return err->code;
    code = check_words(family, keep, fault, err);
    if (code == COLANDER_OK)
        code = check_columns(family, where, options, err);
    if (code == COLANDER_OK && keeps_longer(retention, index))
        code = check_met(family, where, options, &is_met, err);
    if (code == COLANDER_OK && !is_met)
        code = COLANDER_FAIL(
            err, COLANDER_NOT_FOUND, "no row meets '%.100s'%s", keep->words[0],
            keep->word_count > 1 ? " and what follows it" : "");
    colander_predicate_destroy(where);
    return code;
}
