/* See retain_rules.h. SPDX-License-Identifier: MIT */
#include "shell/retain_rules.h"
#include "shell/hint.h"
#include "shell/row_count.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

static void
add_duration(struct report *report, int64_t seconds)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (seconds >= units[i].seconds)
            report_add(report, "%" PRId64 "%s", seconds / units[i].seconds,
                       units[i].name);
        seconds %= units[i].seconds;
    }
}

void
retain_rule_add(struct report *report, const struct colander_keep *keep)
{
    add_duration(report, keep->seconds);
    for (size_t i = 0; i < keep->word_count; i++) {
        report_add(report, i == 0 ? ", where " : " ");
        report_add_text(report, colander_slice_text(keep->words[i]));
    }
}

/* Creates the predicate that `keeps[index]` counts for a row. */
static struct colander_predicate *
counts_for(const struct colander_keep *keeps, size_t index,
           struct colander_error *err)
{
    struct colander_predicate **all = calloc(index + 1, sizeof(*all));
    struct colander_predicate *joined;

    if (all == NULL) {
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rules");
        return NULL;
    }
    for (size_t i = 0; i <= index; i++) {
        all[i] = colander_where_words(keeps[i].words, keeps[i].word_count, NULL,
                                      err);
        if (i < index)
            all[i] = colander_not(all[i], err);
    }
    joined = colander_all_of(all, index + 1, err);
    free(all);
    return joined;
}

enum colander_code
retain_rules_count(struct colander_family *family,
                   const struct colander_retention *retention,
                   struct report *report, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (retention->keep_count == 0 || retention->keeps[0].word_count == 0)
        return COLANDER_OK;
    for (size_t i = 0; i < retention->keep_count && code == COLANDER_OK; i++) {
        struct colander_predicate *where = counts_for(retention->keeps, i, err);
        uint64_t count = 0;

        code = where == NULL
                   ? err->code
                   : row_count(family, where, UINT64_MAX, &count, err);
        colander_predicate_destroy(where);
        report_add(report, "%skeep ", report->text.size > 0 ? "\n" : "");
        retain_rule_add(report, &retention->keeps[i]);
        report_add(report, ": %s", NUMBER_OF(count, "row"));
    }
    return code;
}

/* Returns and, or, or not within the condition, where it is a part of a text:
 * "text:a or text:b", "not text:a". NULL: none. In double quotes, after a
 * backslash, in a pattern and alone it is meant. */
static const char *
find_joint(const char *word)
{
    bool begins = true; /* a word of the condition */
    bool is_quoted = false;

    for (const char *at = word; *at != '\0'; at++) {
        const size_t size = strcspn(at, " ");

        if (begins && !is_quoted && (at != word || at[size] == ' ') &&
            ((size == 2 && strncasecmp(at, "or", size) == 0) ||
             (size == 3 && (strncasecmp(at, "and", size) == 0 ||
                            strncasecmp(at, "not", size) == 0))))
            return at;
        if (strncmp(at, "=~", 2) == 0 || strncmp(at, "!~", 2) == 0)
            return NULL;
        begins = *at == ' ';
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
    const char first = joint == NULL ? '\0' : (char)tolower(*joint);

    *offset = joint == NULL ? 0 : (size_t)(joint - word);
    if (word[0] == '-' && isalpha((unsigned char)word[1]) &&
        strpbrk(word, "=!<>~?:") == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a condition, not an option");
    if (joint == NULL)
        return COLANDER_OK;
    return COLANDER_FAIL(
        err, COLANDER_INVALID,
        "a --where is one condition: write %s (a text with '%.*s' in it needs "
        "double quotes)",
        first == 'o'   ? "--where A --keep DURATION --where B --keep DURATION"
        : first == 'a' ? "--where A --where B"
                       : "--where not --where A",
        first == 'o' ? 2 : 3, joint);
}

/* Fails if a condition is wrong. */
static enum colander_code
check_words(struct colander_family *family, const struct colander_keep *keep,
            const struct colander_predicate *where,
            struct colander_fault *fault, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    const char *word = keep->words[fault->word];

    if (where == NULL && err->code == COLANDER_INVALID &&
        (strstr(word, "==") != NULL || strstr(word, "~=") != NULL))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a condition as of find, such as "
                             "verified=true, not one in Lua");
    if (where == NULL)
        return err->code;
    for (size_t i = 0; i < keep->word_count && code == COLANDER_OK; i++) {
        fault->word = i;
        code = check_meaning(keep->words[i], &fault->offset, err);
    }
    return code == COLANDER_OK
               ? colander_family_check_words(family, keep->words,
                                             keep->word_count, fault, err)
               : code;
}

enum colander_code
retain_rule_check(struct colander_family *family,
                  const struct colander_keep *keep,
                  struct colander_fault *fault, struct report *doubts,
                  struct colander_error *err)
{
    struct colander_predicate *where =
        colander_where_words(keep->words, keep->word_count, fault, err);
    const struct hint_question question = {.family = family, .where = where};
    enum colander_code code = check_words(family, keep, where, fault, err);
    uint64_t count = 0;

    if (code == COLANDER_OK)
        code = row_count(family, where, 1, &count, err);
    if (code == COLANDER_OK && count == 0)
        hint_add(&question, doubts);
    colander_predicate_destroy(where);
    return code;
}
