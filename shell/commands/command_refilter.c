/*
 * The command refilter: changes the options of value filters, and rebuilds
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/option_fields.h"
#include "shell/command.h"
#include "shell/filter_report.h"
#include "shell/filter_words.h"

#include <stdio.h>
#include <stdlib.h>

#define CLIENT_BUDGET_MAX ((uint64_t)1 << 30) /* of a server's memory */

/* ------------------------------------------------------------- options --- */

static enum colander_code
check_exclusive(const struct arguments *arguments, const char **given,
                const char *name, struct colander_error *err)
{
    if (!arguments_has(arguments, name))
        return COLANDER_OK;
    if (*given != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s and --%s exclude each other", name, *given);
    *given = name;
    return COLANDER_OK;
}

/* Sets the field from the option of its name, if that is given with a value. */
static enum colander_code
read_option(const struct arguments *arguments, const struct field *field,
            struct colander_filter_options *options, struct colander_error *err)
{
    char name[32];
    const char *value;
    uint64_t number;
    enum colander_code code;

    (void)snprintf(name, sizeof(name), "%s", field->name);
    for (char *dash = name; (dash = strchr(dash, '_')) != NULL;)
        *dash = '-';
    value = arguments_value(arguments, name);
    if (value == NULL || field->kind == FIELD_OTHER ||
        field->kind == FIELD_BOOLEAN) /* these have options of their own */
        return COLANDER_OK;
    if (field->kind == FIELD_DOUBLE)
        return arguments_real(arguments, name, field_double(field, options),
                              err);
    if (strcmp(name, "memory-budget") == 0)
        return arguments_size(arguments, name, &options->memory_budget, err);
    if (field->kind == FIELD_CHOICE) {
        if (field_set_word(field, options, colander_slice_text(value)))
            return COLANDER_OK;
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--%s must be slices or tree, not '%s'", name,
                             value);
    }
    if (field->kind == FIELD_UINT32_OR_AUTO && strcmp(value, "auto") == 0) {
        options->rows_per_segment = COLANDER_SEGMENT_AUTO;
        return COLANDER_OK;
    }
    code = arguments_number(arguments, name, &number, err);
    if (code == COLANDER_OK && field->kind != FIELD_UINT64 &&
        number > UINT32_MAX - 1)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "--%s is too large: %s",
                             name, value);
    if (code == COLANDER_OK)
        field_set_number(field, options, number);
    return code;
}

/* Replaces the unfiltered columns. An empty path stands for none. */
static enum colander_code
read_paths(const struct arguments *arguments, const char ***paths,
           struct colander_filter_options *options, struct colander_error *err)
{
    if (!arguments_has(arguments, "unfiltered"))
        return COLANDER_OK;
    *paths = calloc(arguments->choice_count, sizeof(**paths));
    if (*paths == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    options->unfiltered = *paths;
    options->unfiltered_count = 0;
    for (size_t i = 0; i < arguments->choice_count; i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (strcmp(choice->option->name, "unfiltered") == 0 &&
            choice->value[0] != '\0')
            (*paths)[options->unfiltered_count++] = choice->value;
    }
    return COLANDER_OK;
}

/* Changes the options that are given. `paths` is the caller's to free. */
static enum colander_code
read_options(const struct arguments *arguments, const char ***paths,
             struct colander_filter_options *options,
             struct colander_error *err)
{
    static const char *const sizes[] = {"fp-rate", "bits-per-value",
                                        "filter-bits"};
    const struct field *field = filter_option_fields;
    const char *given = NULL;
    const char *size = NULL;
    enum colander_code code = check_exclusive(arguments, &given, "on", err);

    if (code == COLANDER_OK)
        code = check_exclusive(arguments, &given, "off", err);
    for (size_t i = 0; i < 3 && code == COLANDER_OK; i++)
        code = check_exclusive(arguments, &size, sizes[i], err);
    if (given != NULL)
        options->is_on = strcmp(given, "on") == 0;
    if (size != NULL) { /* it replaces the others */
        options->bits_per_value = 0;
        options->filter_bits = 0;
    }
    for (; field->name != NULL && code == COLANDER_OK; field++)
        code = read_option(arguments, field, options, err);
    if (code == COLANDER_OK)
        code = read_paths(arguments, paths, options, err);
    return code;
}

/* ----------------------------------------------------------------- run --- */

/* Changes the options that are given, and keeps the others. */
static enum colander_code
change_options(const struct session *session, struct colander_family *family,
               const struct arguments *arguments, bool *is_on,
               struct colander_error *err)
{
    struct colander_filter_options old, options;
    struct argument_list columns[FILTER_WORDS_OPTIONS];
    const char **paths = NULL;
    enum colander_code code = colander_family_get_filters(family, &old, err);

    if (code != COLANDER_OK)
        return code;
    memset(columns, 0, sizeof(columns));
    options = old; /* borrows its paths */
    code = read_options(arguments, &paths, &options, err);
    if (code == COLANDER_OK)
        code = filter_words_read(arguments, columns, &options, err);
    if (code == COLANDER_OK && session->client != NULL &&
        options.memory_budget > CLIENT_BUDGET_MAX &&
        options.memory_budget > old.memory_budget)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "--memory-budget: in a server the filters of a "
                             "family take at most 1g");
    if (code == COLANDER_OK && arguments->choice_count > 0)
        code = colander_family_set_filters(family, &options, err);
    *is_on = options.is_on;
    free(paths);
    for (size_t i = 0; i < FILTER_WORDS_OPTIONS; i++)
        argument_list_release(&columns[i]);
    colander_filter_options_release(&old);
    return code;
}

static enum colander_code
print_summary(const struct session *session, struct colander_family *family,
              bool is_on, uint64_t count, struct colander_error *err)
{
    struct filter_report filters;
    struct report report = REPORT_EMPTY;
    enum colander_code code = filter_report_read(&filters, family, err);

    if (code == COLANDER_OK) {
        report_line(&report, "family", "%s", "");
        report_add_text(&report,
                        colander_slice_text(colander_family_name(family)));
        if (is_on)
            report_line(&report, "done", "rebuilt the filters of %s",
                        NUMBER_OF(count, "SST file"));
        else
            report_line(&report, "done",
                        "filters are off: new SST files get none");
        filter_report_add(&filters, &report);
        if (colander_partition_unit(colander_family_name(family)) != NULL)
            report_line(&report, "note",
                        "for families that loads will create; those that are "
                        "there keep their options: refilter each");
        code = report_print(&report, session_out(session), err);
    }
    filter_report_release(&filters);
    return code;
}

/* Prints which columns of its options no row has. */
static enum colander_code
print_notes(const struct session *session, struct colander_family *family,
            struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    filter_words_add_notes(family, &report);
    (void)fflush(session_out(session));
    return report_print(&report, session_err(session), err);
}

static enum session_exit
run_refilter(struct session *session, const struct arguments *arguments)
{
    struct colander_family *family = NULL;
    struct colander_error err;
    bool is_on = true;
    uint64_t count = 0;
    enum colander_code code;

    code = session_family(session, arguments->words[0], &family, &err);
    if (code == COLANDER_OK)
        code = change_options(session, family, arguments, &is_on, &err);
    if (code == COLANDER_OK && is_on)
        code = colander_family_refilter(family, &count, &err);
    if (code == COLANDER_OK)
        code = print_summary(session, family, is_on, count, &err);
    if (code == COLANDER_OK && filter_words_given(arguments) != NULL)
        code = print_notes(session, family, &err);
    colander_family_close(family);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static const struct argument_option options[] = {
    OPTION("rows-per-segment", "N",
           "how finely a filter locates a value: a power of\n"
           "two, 1 for exact rows, 0 for the file only, or\n"
           "auto"),
    OPTION("hash-bits", "N", "bits kept of the hash of a value, 16 to 40"),
    OPTION("fp-rate", "X",
           "size of the filters in memory: by the rate of false\n"
           "positives for a file, such as 0.01,"),
    OPTION("bits-per-value", "X", "or by the bits for each value,"),
    OPTION("filter-bits", "N", "or by the bits for each file"),
    OPTION("hierarchy", "KIND", "the structure in memory: slices or tree"),
    OPTION("tree-order", "N", "a node of the tree has N to 2N children"),
    OPTION("memory-budget", "BYTES", "for the filters in memory, at least 64k"),
    OPTION("order-budget", "X",
           "for ranges, prefixes and order: lists of rows take up\n"
           "to this share of the bytes of rows, 0 to 1"),
    OPTIONS_FILTERED,
    OPTION_LIST("unfiltered", "PATH",
                "keep this column, and all below it, out of filters;\n"
                "may be repeated; '' for none"),
    OPTION_FLAG("off", "build no filters for new files"),
    OPTION_FLAG("on", "build filters again"),
    OPTION_OLD("noindex", "PATH", "unfiltered"), /* as in 0.1 */
    OPTIONS_END,
};

const struct command command_refilter = {
    .name = "refilter",
    .words = "FAMILY [OPTION...]",
    .summary = "rebuild the value filters of a family",
    .help =
        "Changes the options of the value filters of a family, and rebuilds\n"
        "its filters. Options that are not given keep their values. They\n"
        "are stored, and apply to new files too. Rows are read but not\n"
        "written, and finds return the same rows whatever the options are.\n",
    .examples = "  colander refilter demo tweets --rows-per-segment 16\n"
                "  colander refilter demo tweets --unfiltered text\n",
    .options = options,
    .store = COMMAND_WRITES_FILTERS,
    .word_count_min = 1,
    .run = run_refilter,
};
