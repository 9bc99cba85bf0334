/*
 * The command refilter: sets what value filters are to be like, and makes them
 * anew.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/filter_figures.h"
#include "shell/interrupt.h"

#include <stdlib.h>

/* ------------------------------------------------------------- options --- */

/* Options that are of one kind: one of them at most. */
static enum colander_code
check_exclusive(const struct arguments *arguments, const char *const *names,
                size_t count, struct colander_error *err)
{
    const char *given = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!arguments_has(arguments, names[i]))
            continue;
        if (given != NULL)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "--%s goes without --%s", names[i], given);
        given = names[i];
    }
    return COLANDER_OK;
}

static enum colander_code
check_options(const struct arguments *arguments, struct colander_error *err)
{
    static const char *const switches[] = {"on", "off"};
    static const char *const sizes[] = {"fp-rate", "bits-per-value",
                                        "filter-bits"};
    enum colander_code code = check_exclusive(arguments, switches, 2, err);

    return code == COLANDER_OK ? check_exclusive(arguments, sizes, 3, err)
                               : code;
}

static enum colander_code
read_small(const struct arguments *arguments, const char *name,
           uint32_t *number, struct colander_error *err)
{
    uint64_t wide = *number;
    enum colander_code code = arguments_number(arguments, name, &wide, err);

    if (code != COLANDER_OK)
        return code;
    if (wide > UINT32_MAX - 1 && arguments_has(arguments, name))
        return COLANDER_FAIL(err, COLANDER_INVALID, "--%s is too large: %s",
                             name, arguments_value(arguments, name));
    *number = (uint32_t)wide;
    return COLANDER_OK;
}

static enum colander_code
read_segment(const struct arguments *arguments,
             struct colander_filter_options *options,
             struct colander_error *err)
{
    const char *text = arguments_value(arguments, "rows-per-segment");

    if (text == NULL)
        return COLANDER_OK;
    if (strcmp(text, "auto") != 0)
        return read_small(arguments, "rows-per-segment",
                          &options->rows_per_segment, err);
    options->rows_per_segment = COLANDER_SEGMENT_AUTO;
    return COLANDER_OK;
}

static enum colander_code
read_hierarchy(const struct arguments *arguments,
               struct colander_filter_options *options,
               struct colander_error *err)
{
    const char *text = arguments_value(arguments, "hierarchy");

    if (text == NULL)
        return COLANDER_OK;
    if (strcmp(text, "tree") == 0)
        options->hierarchy = COLANDER_HIERARCHY_TREE;
    else if (strcmp(text, "slices") == 0)
        options->hierarchy = COLANDER_HIERARCHY_SLICES;
    else
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "no hierarchy '%s': there are slices and tree",
                             text);
    return COLANDER_OK;
}

/* The one that is given takes the place of the others. */
static enum colander_code
read_presence(const struct arguments *arguments,
              struct colander_filter_options *options,
              struct colander_error *err)
{
    enum colander_code code;

    if (arguments_has(arguments, "fp-rate") ||
        arguments_has(arguments, "bits-per-value") ||
        arguments_has(arguments, "filter-bits")) {
        options->bits_per_value = 0;
        options->filter_bits = 0;
    }
    code = arguments_real(arguments, "fp-rate", &options->fp_rate, err);
    if (code == COLANDER_OK)
        code = arguments_real(arguments, "bits-per-value",
                              &options->bits_per_value, err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "filter-bits", &options->filter_bits,
                                err);
    return code;
}

/* Paths take the place of those in force; an empty one stands for none. */
static enum colander_code
read_paths(const struct arguments *arguments, const char ***paths,
           struct colander_filter_options *options, struct colander_error *err)
{
    if (!arguments_has(arguments, "noindex"))
        return COLANDER_OK;
    *paths = calloc(arguments->choice_count, sizeof(**paths));
    if (*paths == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    options->left_out = *paths;
    options->left_out_count = 0;
    for (size_t i = 0; i < arguments->choice_count; i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (strcmp(choice->option->name, "noindex") == 0 &&
            choice->value[0] != '\0')
            (*paths)[options->left_out_count++] = choice->value;
    }
    return COLANDER_OK;
}

/* Sets in `options` what was given; `paths` is the caller's to free. */
static enum colander_code
read_options(const struct arguments *arguments, const char ***paths,
             struct colander_filter_options *options,
             struct colander_error *err)
{
    enum colander_code code = read_segment(arguments, options, err);

    if (arguments_has(arguments, "on") || arguments_has(arguments, "off"))
        options->is_on = arguments_has(arguments, "on");
    if (code == COLANDER_OK)
        code = read_small(arguments, "hash-bits", &options->hash_bits, err);
    if (code == COLANDER_OK)
        code = read_presence(arguments, options, err);
    if (code == COLANDER_OK)
        code = read_hierarchy(arguments, options, err);
    if (code == COLANDER_OK)
        code = read_small(arguments, "tree-order", &options->tree_order, err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "memory-budget",
                                &options->memory_budget, err);
    if (code == COLANDER_OK)
        code = read_paths(arguments, paths, options, err);
    return code;
}

/* ----------------------------------------------------------------- run --- */

/* Puts what was given in force, and keeps the rest. */
static enum colander_code
change_options(struct colander_family *family,
               const struct arguments *arguments, bool *is_on,
               struct colander_error *err)
{
    struct colander_filter_options old, options;
    const char **paths = NULL;
    enum colander_code code = colander_family_get_filters(family, &old, err);

    if (code != COLANDER_OK)
        return code;
    options = old; /* borrows its paths */
    code = read_options(arguments, &paths, &options, err);
    if (code == COLANDER_OK && arguments->choice_count > 0)
        code = colander_family_set_filters(family, &options, err);
    *is_on = options.is_on;
    free(paths);
    colander_filter_options_release(&old);
    return code;
}

/* Says what was done, and what came of it. */
static enum colander_code
tell(struct colander_family *family, bool is_on, uint64_t count,
     struct colander_error *err)
{
    struct filter_figures figures;
    struct report report = REPORT_EMPTY;
    enum colander_code code = filter_figures_read(&figures, family, err);

    report_line(&report, "family");
    report_add_text(&report, colander_slice_text(colander_family_name(family)));
    report_line(&report, "done");
    if (is_on) {
        report_add(&report, "the filters of ");
        report_add_number(&report, count, "SST file");
        report_add(&report, " were made anew");
    } else {
        report_add(&report, "filters are off: new SST files get none");
    }
    if (code == COLANDER_OK) {
        filter_figures_add(&figures, &report);
        code = report_print(&report, stdout, err);
    }
    report_release(&report);
    filter_figures_release(&figures);
    return code;
}

static enum colander_code
refilter(struct session *session, const struct arguments *arguments,
         struct colander_error *err)
{
    struct colander_family *family = NULL;
    bool is_on = true;
    uint64_t count = 0;
    enum colander_code code;

    code = session_family(session, arguments->words[1], &family, err);
    if (code == COLANDER_OK)
        code = change_options(family, arguments, &is_on, err);
    if (code == COLANDER_OK && is_on)
        code = colander_family_refilter(family, &count, err);
    if (code == COLANDER_OK)
        code = tell(family, is_on, count, err);
    colander_family_close(family);
    return code;
}

static enum session_exit
run_refilter(struct session *session, const struct arguments *arguments)
{
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code;

    if (check_options(arguments, &err) != COLANDER_OK)
        return session_misused(session, &err);
    interrupt_ends_program();
    code = session_open(session, arguments->words[0], COLANDER_OPEN_EXISTING,
                        &err);
    if (code == COLANDER_OK)
        code = refilter(session, arguments, &err);
    if (code != COLANDER_OK)
        status = session_misused(session, &err);
    if (session_close(session, &err) != COLANDER_OK && status == SESSION_FINE)
        status = session_fail(session, &err);
    return status;
}

static const struct argument_option options[] = {
    {"on", false, false},
    {"off", false, false},
    {"rows-per-segment", true, false},
    {"hash-bits", true, false},
    {"fp-rate", true, false},
    {"bits-per-value", true, false},
    {"filter-bits", true, false},
    {"hierarchy", true, false},
    {"tree-order", true, false},
    {"memory-budget", true, false},
    {"noindex", true, true},
    {NULL, false, false},
};

static const char help[] =
    "Makes the value filters of a family anew, by the options given and, for\n"
    "the rest, those in force; they are kept in the store, and files written\n"
    "later get such filters too. Rows are read and not written. A find gives\n"
    "the same rows whatever the options are.\n"
    "\n"
    "options:\n"
    "  --rows-per-segment N    how finely a filter tells where a value is: a\n"
    "                          power of two, 1 for every row exactly, 0 for\n"
    "                          the file only, or auto\n"
    "  --hash-bits N           bits kept of a value's hash, 16 to 40\n"
    "  --fp-rate X             at most so many wrong maybes for a file, such\n"
    "                          as 0.01; or\n"
    "  --bits-per-value X      so many bits for a value; or\n"
    "  --filter-bits N         so many bits for a file\n"
    "  --hierarchy KIND        slices or tree, the structure in memory\n"
    "  --tree-order N          N to 2N children of a node of the tree\n"
    "  --memory-budget BYTES   for filters in memory\n"
    "  --noindex PATH          leaves out this column and what is below it;\n"
    "                          may be repeated, and replaces those in force;\n"
    "                          '' for none\n"
    "  --off  --on             no filters for files from now on; filters "
    "again\n";

const struct command command_refilter = {
    "refilter",
    "STORE FAMILY [OPTION...]",
    "makes the value filters of a family anew",
    help,
    COMMAND_OPENS,
    options,
    2,
    2,
    SIZE_MAX,
    run_refilter,
};
