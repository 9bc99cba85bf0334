/* See filter_words.h. SPDX-License-Identifier: MIT */
#include "shell/filter_words.h"

#include "shell/hint.h"
#include "shell/text.h"

#include <string.h>

static const char *const names[FILTER_WORDS_OPTIONS] = {"words", "ordered",
                                                        "unordered"};

const char *
filter_words_given(const struct arguments *arguments)
{
    for (size_t i = 0; i < FILTER_WORDS_OPTIONS; i++) {
        if (arguments_has(arguments, names[i]))
            return names[i];
    }
    return arguments_has(arguments, "no-words") ? "no-words" : NULL;
}

#ifdef COLANDER_FILTERS
#include "filters/option_fields.h"

/* The list of --words follows that of unfiltered columns. */
#define LIST_WORDS 1

/* A column that is called so is written \on. */
static bool
is_switch(const struct argument_list *columns, const char *word)
{
    return columns->count == 1 && strcmp(columns->paths[0], word) == 0;
}

/* Refuses what was probably meant for on, off or none. */
static enum colander_code
check_columns(const struct argument_list *columns, size_t list,
              struct colander_error *err)
{
    static const char *const meant[] = {"true", "false", "yes",  "no", "all",
                                        "1",    "0",     "of",   "On", "Off",
                                        "ON",   "OFF",   "none", "on", "off"};
    const size_t count = sizeof(meant) / sizeof(meant[0]) - (list == 0 ? 2 : 0);

    for (size_t i = 0; i < count; i++) {
        if (is_switch(columns, meant[i]) &&
            (list == 0 || strcmp(meant[i], "none") != 0))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "--%s must be %s or columns, not '%s' (a "
                                 "column that is called so is written \\%s)",
                                 names[list], list == 0 ? "on, off" : "none",
                                 meant[i], meant[i]);
    }
    return COLANDER_OK;
}

/* Sets what one of the options says. */
static enum colander_code
read_columns(const struct arguments *arguments, size_t list,
             struct argument_list *columns,
             struct colander_filter_options *options,
             struct colander_error *err)
{
    enum colander_code code =
        arguments_list(arguments, names[list], columns, err);
    bool is_none;

    if (code == COLANDER_OK)
        code = check_columns(columns, list, err);
    if (code != COLANDER_OK || columns->count == 0)
        return code;
    is_none = is_switch(columns, "none");
    if (list == 0) {
        options->words = !is_switch(columns, "off");
        is_none = !options->words || is_switch(columns, "on");
    }
    option_list_set(options, LIST_WORDS + list, columns->paths,
                    is_none ? 0 : columns->count);
    return COLANDER_OK;
}

enum colander_code
filter_words_read(const struct arguments *arguments,
                  struct argument_list columns[FILTER_WORDS_OPTIONS],
                  struct colander_filter_options *options,
                  struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < FILTER_WORDS_OPTIONS && code == COLANDER_OK; i++)
        code = read_columns(arguments, i, &columns[i], options, err);
    if (code == COLANDER_OK && arguments_has(arguments, "words") &&
        arguments_has(arguments, "no-words"))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--words and --no-words exclude each other");
    return code;
}

static bool
are_same(const struct colander_filter_options *left,
         const struct colander_filter_options *right)
{
    for (size_t i = LIST_WORDS; i < OPTION_LISTS; i++) {
        const size_t count = option_list_count(left, i);

        if (option_list_count(right, i) != count)
            return false;
        for (size_t k = 0; k < count; k++) {
            if (strcmp(option_list_paths(left, i)[k],
                       option_list_paths(right, i)[k]) != 0)
                return false;
        }
    }
    return left->words == right->words;
}

/* A change flushes the family, so one to what is there is none. */
enum colander_code
filter_words_set(struct colander_family *family,
                 const struct arguments *arguments, struct colander_error *err)
{
    struct argument_list columns[FILTER_WORDS_OPTIONS];
    struct colander_filter_options old, options;
    enum colander_code code = colander_family_get_filters(family, &old, err);

    if (code != COLANDER_OK)
        return code;
    memset(columns, 0, sizeof(columns));
    options = old; /* borrows its paths */
    if (arguments_has(arguments, "no-words")) {
        options.words = false;
        options.word_column_count = 0;
    }
    code = filter_words_read(arguments, columns, &options, err);
    if (code == COLANDER_OK && !are_same(&old, &options))
        code = colander_family_set_filters(family, &options, err);
    for (size_t i = 0; i < FILTER_WORDS_OPTIONS; i++)
        argument_list_release(&columns[i]);
    colander_filter_options_release(&old);
    return code;
}

static void
add_note(struct colander_family *family, const char *path,
         struct report *report)
{
    const size_t size = report->text.size;

    hint_add_column(family, path, report);
    if (report->text.size > size && strchr(path, ' ') != NULL &&
        report->text.data[report->text.size - 1] != '?')
        report_add(report, ": columns have commas between them");
}

void
filter_words_add_notes(struct colander_family *family, struct report *report)
{
    struct colander_filter_options options;

    if (colander_family_get_filters(family, &options, NULL) != COLANDER_OK)
        return;
    if (!options.words)
        options.word_column_count = 0;
    for (size_t i = LIST_WORDS; i < OPTION_LISTS; i++) {
        for (size_t k = 0; k < option_list_count(&options, i); k++)
            add_note(family, option_list_paths(&options, i)[k], report);
    }
    colander_filter_options_release(&options);
}

/* Adds the columns of a list, or what the others say. */
static enum colander_code
add_list(const struct colander_filter_options *options, size_t list,
         struct colander_row_builder *builder, struct colander_error *err)
{
    const size_t count = option_list_count(options, LIST_WORDS + list);
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    if (list > 0 && count == 0)
        return COLANDER_OK;
    if (list == 0 && (count == 0 || !options->words))
        code =
            text_append_format(&text, err, "%s", options->words ? "on" : "off");
    for (size_t i = 0;
         (list > 0 || options->words) && i < count && code == COLANDER_OK; i++)
        code = text_append_format(
            &text, err, "%s%s", i > 0 ? "," : "",
            option_list_paths(options, LIST_WORDS + list)[i]);
    if (code == COLANDER_OK)
        colander_row_builder_add(builder, names[list],
                                 colander_string(colander_buffer_slice(&text)));
    colander_buffer_release(&text);
    return code;
}

enum colander_code
filter_words_add_column(struct colander_family *family,
                        struct colander_row_builder *builder,
                        struct colander_error *err)
{
    struct colander_filter_options options;
    enum colander_code code =
        colander_family_get_filters(family, &options, err);

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < FILTER_WORDS_OPTIONS && code == COLANDER_OK; i++)
        code = add_list(&options, i, builder, err);
    colander_filter_options_release(&options);
    return code;
}
#else
void
filter_words_add_notes(struct colander_family *family, struct report *report)
{
    (void)family;
    (void)report;
}

enum colander_code
filter_words_add_column(struct colander_family *family,
                        struct colander_row_builder *builder,
                        struct colander_error *err)
{
    (void)family;
    (void)builder;
    (void)err;
    return COLANDER_OK;
}

enum colander_code
filter_words_set(struct colander_family *family,
                 const struct arguments *arguments, struct colander_error *err)
{
    (void)family;
    (void)arguments;
    (void)err;
    return COLANDER_OK;
}
#endif
