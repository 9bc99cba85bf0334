/* See retain_rules.h. SPDX-License-Identifier: MIT */
#include "shell/retain_rules.h"
#include "shell/hint.h"
#include "shell/interrupt.h"
#include "shell/row_count.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MAX 100 /* columns that are explained */

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

static void
watch(void *context, struct colander_cursor *cursor)
{
    (void)context;
    interrupt_watch(cursor);
}

/* Fails if a word is an option. */
static enum colander_code
check_options(const struct colander_keep *keep, struct colander_fault *fault,
              struct colander_error *err)
{
    *fault = (struct colander_fault){0, 0};
    for (; fault->word < keep->word_count; fault->word++) {
        const char *word = keep->words[fault->word];

        if (word[0] == '-' && isalpha((unsigned char)word[1]) &&
            strpbrk(word, "=!<>~?:") == NULL)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "expected a condition, not an option");
    }
    return COLANDER_OK;
}

/* Fails if a condition is wrong. */
static enum colander_code
check_keep(struct colander_family *family,
           const struct colander_retention *retention, size_t index,
           struct colander_fault *fault, struct colander_error *err)
{
    struct colander_retain_options options;
    const struct colander_keep *keep = &retention->keeps[index];
    const char *word;
    enum colander_code code = check_options(keep, fault, err);

    if (code != COLANDER_OK)
        return code;
    colander_retain_options_init(&options);
    options.watch = watch;
    code = colander_family_check_keep(family, retention, index, &options, fault,
                                      err);
    word = keep->words[fault->word];
    if (code == COLANDER_INVALID &&
        (strstr(word, "==") != NULL || strstr(word, "~=") != NULL))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "expected a condition as of find, such as "
                             "verified=true, not one in Lua");
    return code;
}

/* Adds why no row meets the conditions of a rule: a hint, or else what `err`
 * says. */
static enum colander_code
add_doubt(struct colander_family *family, const struct colander_keep *keep,
          const struct colander_error *why, struct report *doubts,
          struct colander_error *err)
{
    const char *paths[PATHS_MAX];
    struct hint_question question = {
        .family = family, .paths = paths, .any_type = true};
    struct colander_predicate *where =
        colander_where_words(keep->words, keep->word_count, NULL, err);
    struct colander_condition condition;
    const size_t before = doubts->text.size;
    uint64_t count = 0;
    enum colander_code code =
        where == NULL ? err->code : row_count(family, where, 1, &count, err);

    for (; where != NULL && question.path_count < PATHS_MAX &&
           colander_predicate_condition(where, question.path_count, &condition);
         question.path_count++)
        paths[question.path_count] = condition.path;
    question.where = count == 0 ? where : NULL;
    if (code == COLANDER_OK)
        hint_add(&question, doubts);
    if (code == COLANDER_OK && doubts->text.size == before)
        report_add(doubts, "%s%s", before > 0 ? "\n" : "", why->message);
    colander_predicate_destroy(where);
    return code;
}

enum colander_code
retain_rule_check(struct colander_family *family,
                  const struct colander_retention *retention, size_t index,
                  struct colander_fault *fault, struct report *doubts,
                  struct colander_error *err)
{
    const struct colander_keep *keep = &retention->keeps[index];
    struct colander_error why;
    const enum colander_code code =
        check_keep(family, retention, index, fault, err);

    if (code != COLANDER_NOT_FOUND)
        return code;
    why = *err;
    return add_doubt(family, keep, &why, doubts, err);
}
