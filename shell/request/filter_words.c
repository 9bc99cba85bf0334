/* See filter_words.h. SPDX-License-Identifier: MIT */
#include "shell/filter_words.h"

#ifdef COLANDER_FILTERS
#include "filters/filters.h"
#include "shell/hint.h"
#include "shell/text.h"

#include <string.h>

/* A column that is called so is written \on. */
static bool
is_switch(const struct argument_list *columns, const char *word)
{
    return columns->count == 1 && strcmp(columns->paths[0], word) == 0;
}

/* Refuses what was probably meant for on or off. */
static enum colander_code
check_columns(const struct argument_list *columns, struct colander_error *err)
{
    static const char *const meant[] = {"true", "false", "yes", "no", "all",
                                        "none", "1",     "0",   "of", "On",
                                        "Off",  "ON",    "OFF"};

    for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++) {
        if (is_switch(columns, meant[i]))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "--words must be on, off or columns, not '%s' "
                                 "(a column that is called so is written \\%s)",
                                 meant[i], meant[i]);
    }
    return COLANDER_OK;
}

enum colander_code
filter_words_read(const struct arguments *arguments,
                  struct argument_list *columns,
                  struct colander_filter_options *options,
                  struct colander_error *err)
{
    enum colander_code code = arguments_list(arguments, "words", columns, err);

    if (code == COLANDER_OK && arguments_has(arguments, "words") &&
        arguments_has(arguments, "no-words"))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--words and --no-words exclude each other");
    if (code == COLANDER_OK)
        code = check_columns(columns, err);
    if (code != COLANDER_OK || columns->count == 0)
        return code;
    options->words = !is_switch(columns, "off");
    options->word_columns = columns->paths;
    options->word_column_count =
        is_switch(columns, "on") || is_switch(columns, "off") ? 0
                                                              : columns->count;
    return COLANDER_OK;
}

static bool
are_same(const struct colander_filter_options *left,
         const struct colander_filter_options *right)
{
    if (left->words != right->words ||
        left->word_column_count != right->word_column_count)
        return false;
    for (size_t i = 0; i < left->word_column_count; i++) {
        if (strcmp(left->word_columns[i], right->word_columns[i]) != 0)
            return false;
    }
    return true;
}

/* A change flushes the family, so one to what is there is none. */
enum colander_code
filter_words_set(struct colander_family *family,
                 const struct arguments *arguments, struct colander_error *err)
{
    struct argument_list columns = {NULL, NULL, 0};
    struct colander_filter_options old, options;
    enum colander_code code = colander_family_get_filters(family, &old, err);

    if (code != COLANDER_OK)
        return code;
    options = old; /* borrows its paths */
    if (arguments_has(arguments, "no-words")) {
        options.words = false;
        options.word_column_count = 0;
    }
    code = filter_words_read(arguments, &columns, &options, err);
    if (code == COLANDER_OK && !are_same(&old, &options))
        code = colander_family_set_filters(family, &options, err);
    argument_list_release(&columns);
    colander_filter_options_release(&old);
    return code;
}

void
filter_words_add_notes(struct colander_family *family, struct report *report)
{
    struct colander_filter_options options;

    if (colander_family_get_filters(family, &options, NULL) != COLANDER_OK)
        return;
    for (size_t i = 0; i < options.word_column_count && options.words; i++) {
        const char *path = options.word_columns[i];
        const size_t size = report->text.size;

        hint_add_column(family, path, report);
        if (report->text.size > size && strchr(path, ' ') != NULL &&
            report->text.data[report->text.size - 1] != '?')
            report_add(report, ": columns have commas between them");
    }
    colander_filter_options_release(&options);
}

enum colander_code
filter_words_add_column(struct colander_family *family,
                        struct colander_row_builder *builder,
                        struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct colander_filter_options options;
    enum colander_code code =
        colander_family_get_filters(family, &options, err);
    size_t count;

    if (code != COLANDER_OK)
        return code;
    count = options.words ? options.word_column_count : 0;
    if (count == 0)
        code =
            text_append_format(&text, err, "%s", options.words ? "on" : "off");
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = text_append_format(&text, err, "%s%s", i > 0 ? "," : "",
                                  options.word_columns[i]);
    if (code == COLANDER_OK)
        colander_row_builder_add(builder, "words",
                                 colander_string(colander_buffer_slice(&text)));
    colander_buffer_release(&text);
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
