/*
 * The command families: lists the families of a store, and sets their time
 * columns and the words in their filters.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/union.h"
#include "shell/command.h"
#include "shell/family_set.h"
#include "shell/filter_words.h"
#include "shell/hint.h"
#include "shell/output.h"
#include "shell/report.h"
#include "shell/row_count.h"

/* Adds the sizes, the words of the filters and the exact number of rows, as far
 * as these are wanted. */
static enum colander_code
add_sizes(struct colander_family *family, bool is_elsewhere, bool is_exact,
          bool shows_words, struct colander_row_builder *builder,
          struct colander_error *err)
{
    struct colander_family_sizes sizes;
    uint64_t count;
    enum colander_code code = colander_family_sizes(family, &sizes, err);

    if (code == COLANDER_OK)
        family_sizes_add_columns(&sizes, is_elsewhere, builder);
    if (code == COLANDER_OK && shows_words)
        code = filter_words_add_column(family, builder, err);
    if (code != COLANDER_OK || !is_exact)
        return code;
    code = row_count(family, NULL, UINT64_MAX, &count, err);
    colander_row_builder_add(builder, "exact_rows", colander_unsigned(count));
    return code;
}

/* Adds the time column, and the oldest and newest time in it. */
static enum colander_code
add_times(struct colander_family *family, struct colander_row_builder *builder,
          struct colander_error *err)
{
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    struct colander_value oldest, newest;
    bool found = false;
    enum colander_code code =
        colander_family_time_column(family, &path, &found, err);

    if (code == COLANDER_OK && found) {
        const char *column = (const char *)path.data;

        colander_row_builder_add(builder, "time_column", colander_text(column));
        code = colander_family_time_range(family, column, &oldest, &newest,
                                          &found, err);
    }
    if (code == COLANDER_OK && found) {
        colander_row_builder_add(builder, "oldest", oldest);
        colander_row_builder_add(builder, "newest", newest);
    }
    colander_buffer_release(&path);
    return code;
}

/* Prints the family as a row whose key is its name. With `shows_words` also
 * whose texts have words in its filters, of one store. */
static enum colander_code
print_family(const struct session *session, const char *name, bool is_exact,
             bool shows_words, struct colander_row_builder *builder,
             struct output *output, struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_family *family = NULL;
    struct colander_result result = {.row = {NULL, 0}};
    enum colander_code code;

    code = colander_family_open(session->store, name, &family, err);
    shows_words = shows_words && !colander_store_is_union(session->store);
    if (code == COLANDER_OK)
        code = add_sizes(family, session_reads_objects(session), is_exact,
                         shows_words, builder, err);
    if (code == COLANDER_OK)
        code = add_times(family, builder, err);
    if (code == COLANDER_OK)
        code = colander_key_text(name, &key, err);
    if (code == COLANDER_OK)
        code = colander_row_builder_finish(builder, &result.row, err);
    result.key = colander_buffer_slice(&key);
    if (code == COLANDER_OK)
        code = output_row(output, &result, err);
    colander_buffer_release(&key);
    colander_family_close(family);
    return code;
}

/* Sets the time column of a family, and the words in its filters. */
static enum session_exit
set_options(const struct session *session, const struct arguments *arguments)
{
    const char *column = arguments_value(arguments, "time");
    struct colander_family *family = NULL;
    struct report notes = REPORT_EMPTY;
    struct colander_error err;
    enum colander_code code =
        session_family(session, arguments->words[0], &family, &err);

    if (code == COLANDER_OK && filter_words_given(arguments) != NULL)
        code = filter_words_set(family, arguments, &err);
    if (code == COLANDER_OK && column != NULL) {
        code = colander_family_set_time_column(session->store, family, column,
                                               &err);
        if (code != COLANDER_OK)
            colander_error_context(&err, "--time");
    }
    if (code == COLANDER_OK && column != NULL && column[0] != '\0')
        hint_add_column(family, column, &notes);
    if (code == COLANDER_OK && filter_words_given(arguments) != NULL)
        filter_words_add_notes(family, &notes);
    if (code == COLANDER_OK)
        code = report_print(&notes, session_err(session), &err);
    report_release(&notes);
    colander_family_close(family);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static enum session_exit
list(struct session *session, const struct arguments *arguments)
{
    struct output_options options = {.format = OUTPUT_JSONL};
    struct colander_row_builder *builder = colander_row_builder_create();
    const bool is_exact = arguments_has(arguments, "exact");
    const char *only = arguments->word_count > 0 ? arguments->words[0] : NULL;
    struct colander_names names = {NULL, 0};
    struct family_set set;
    struct output *output = NULL;
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    memset(&set, 0, sizeof(set));
    if (builder == NULL)
        code = COLANDER_FAIL(&err, COLANDER_NO_MEMORY, "no memory for a row");
    if (code == COLANDER_OK)
        code = session_format(session, arguments_value(arguments, "format"),
                              OUTPUT_TABLE, &options, &err);
    if (code == COLANDER_OK)
        code = only == NULL
                   ? colander_store_families(session->store, &names, &err)
                   : family_set_open(&set, session, only, NULL, &err);
    if (code == COLANDER_OK)
        code = output_create(session_out(session), &options, &output, &err);
    for (size_t i = 0; i < names.count + set.count && code == COLANDER_OK; i++)
        code =
            print_family(session,
                         only == NULL ? names.names[i]
                                      : colander_family_name(set.families[i]),
                         is_exact, only != NULL, builder, output, &err);
    if (code == COLANDER_OK)
        code = output_finish(output, &err);
    family_set_release(&set);
    output_destroy(output);
    colander_names_release(&names);
    colander_row_builder_destroy(builder);
    return code == COLANDER_OK ? SESSION_FINE : session_misused(session, &err);
}

static enum session_exit
run_families(struct session *session, const struct arguments *arguments)
{
    const char *filtered = filter_words_given(arguments);
    const bool has_time = arguments_has(arguments, "time");

    if (!has_time && filtered == NULL)
        return list(session, arguments);
    if (arguments->word_count == 0)
        return session_complain(session, SESSION_USAGE,
                                "--%s needs the name of a family",
                                has_time ? "time" : filtered);
    return set_options(session, arguments);
}

static const struct argument_option options[] = {
    OPTION("time", "COL",
           "set the time column of FAMILY, which find --since and\n"
           "--until use; '' removes it"),
    OPTIONS_FILTERED,
    OPTION_FLAG("exact", "also count the rows, which reads all of them"),
    OPTION_FORMAT("table"),
    OPTIONS_END,
};

const struct command command_families = {
    .name = "families",
    .words = "[FAMILY] [OPTION...]",
    .summary = "list families with their sizes and times",
    .help =
        "Lists the families of a store, or one of them: the approximate\n"
        "number of rows (a row that was overwritten may count twice), the\n"
        "number and the bytes of SST files, and the bytes of rows that are in\n"
        "no SST file yet. If a family has a time column, its name is there\n"
        "too, with the oldest and the newest timestamp in it. Of FAMILY also\n"
        "what --words, --ordered and --unordered have set.\n",
    .examples = "  colander families demo\n"
                "  colander families data logs --time at --words msg\n"
                "  colander families demo --format csv\n",
    .options = options,
    .store = COMMAND_READS,
    .writes_with = {"time", "words", "ordered", "unordered"},
    .word_count_max = 1,
    .is_paged = true,
    .run = run_families,
};
