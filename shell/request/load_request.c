/* See load_request.h. SPDX-License-Identifier: MIT */
#include "shell/load_request.h"

#include <stdio.h>
#include <stdlib.h>

/* What a column of --add owns. */
struct added_column {
    char *path;
    struct colander_buffer bytes; /* of a text */
};

static enum colander_code
read_duplicates(const struct arguments *arguments,
                enum colander_load_duplicates *duplicates,
                struct colander_error *err)
{
    static const char *const names[] = {"replace", "keep", "patch", "error"};
    const char *text = arguments_value(arguments, "on-duplicate");

    if (text == NULL)
        return COLANDER_OK;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *duplicates = (enum colander_load_duplicates)i;
            return COLANDER_OK;
        }
    }
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "--on-duplicate must be replace, keep, patch or "
                         "error, not '%s'",
                         text);
}

static enum colander_code
read_csv_options(struct load_request *asked, const struct arguments *arguments,
                 struct colander_error *err)
{
    struct colander_load_options *options = &asked->options;
    const char *delimiter = arguments_value(arguments, "delimiter");

    options->guesses = !arguments_has(arguments, "no-guess");
    asked->nulls = calloc(arguments->choice_count + 1, sizeof(*asked->nulls));
    if (asked->nulls == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for options");
    for (size_t i = 0; i < arguments->choice_count; i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (strcmp(choice->option->name, "null") == 0)
            asked->nulls[options->null_count++] = choice->value;
    }
    options->nulls = asked->nulls;
    if (delimiter == NULL)
        return COLANDER_OK;
    if (strcmp(delimiter, "\\t") == 0)
        delimiter = "\t";
    if (strlen(delimiter) != 1)
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "--delimiter must be one ASCII character or \\t, not "
            "'%s'",
            delimiter);
    options->delimiter = delimiter[0];
    return COLANDER_OK;
}

enum colander_code
load_request_split(const struct argument_choice *choice, char **column,
                   const char **value, struct colander_error *err)
{
    size_t size = 0;

    while (choice->value[size] != '\0' && choice->value[size] != '=') {
        if (choice->value[size] == '\\' && choice->value[size + 1] != '\0')
            size++;
        size++;
    }
    *value = choice->value + size + 1;
    if (size == 0 || choice->value[size] == '\0')
        return COLANDER_FAIL(err, COLANDER_INVALID, "--%s must be %s, not '%s'",
                             choice->option->name, choice->option->value,
                             choice->value);
    *column = strndup(choice->value, size);
    if (*column == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for options");
    return COLANDER_OK;
}

/* Adds the types of --type to the schema, which is created if there is none. */
static enum colander_code
read_types(struct load_request *asked, const struct arguments *arguments,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < arguments->choice_count && code == COLANDER_OK;
         i++) {
        const struct argument_choice *choice = &arguments->choices[i];
        const char *type = NULL;
        char *column = NULL;

        if (strcmp(choice->option->name, "type") != 0)
            continue;
        if (asked->schema == NULL)
            code = colander_schema_create(&asked->schema, err);
        if (code == COLANDER_OK)
            code = load_request_split(choice, &column, &type, err);
        if (code == COLANDER_OK) {
            code = colander_schema_set_type(asked->schema, column, type, err);
            if (code != COLANDER_OK)
                colander_error_context(err, "--type");
        }
        free(column);
    }
    return code;
}

/* Reads --partition COL:UNIT. The family's name says the unit, too. */
static enum colander_code
read_partition(struct load_request *asked, const struct arguments *arguments,
               struct colander_error *err)
{
    const char *text = arguments_value(arguments, "partition");
    const char *unit = colander_partition_unit(arguments->words[0]);
    const char *colon = text == NULL ? NULL : strrchr(text, ':');

    if (text == NULL && unit == NULL)
        return COLANDER_OK;
    if (text == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "family '%s' is a family for each %s: which "
                             "column has the times? --partition COL:%s",
                             arguments->words[0], unit, unit);
    if (colon == NULL || colon == text ||
        (strcmp(colon + 1, "hour") != 0 && strcmp(colon + 1, "day") != 0 &&
         strcmp(colon + 1, "month") != 0))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--partition must be COL:hour, COL:day or "
                             "COL:month, not '%s'",
                             text);
    if (unit == NULL || strcmp(unit, colon + 1) != 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--partition %s: the name of the family must have "
                             "{%s} in it, once and no other unit, as '%s/{%s}'",
                             text, colon + 1,
                             strchr(arguments->words[0], '{') == NULL
                                 ? arguments->words[0]
                                 : "logs",
                             colon + 1);
    asked->partition = strndup(text, (size_t)(colon - text));
    asked->options.partition = asked->partition;
    return asked->partition != NULL ? COLANDER_OK
                                    : COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                                    "no memory for options");
}

/* Whether an option says how the column is read. */
static bool
has_type(const struct arguments *arguments, const char *column)
{
    const size_t size = strlen(column);

    for (size_t i = 0; i < arguments->choice_count; i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (strcmp(choice->option->name, "schema") == 0 ||
            (strcmp(choice->option->name, "type") == 0 &&
             strncmp(choice->value, column, size) == 0 &&
             choice->value[size] == '='))
            return true;
    }
    return false;
}

/* Reads the column of --partition as times, unless something says otherwise. */
static enum colander_code
type_partition(struct load_request *asked, const struct arguments *arguments,
               struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (asked->partition == NULL || has_type(arguments, asked->partition))
        return COLANDER_OK;
    if (asked->schema == NULL)
        code = colander_schema_create(&asked->schema, err);
    return code == COLANDER_OK
               ? colander_schema_set_type(asked->schema, asked->partition,
                                          "time", err)
               : code;
}

/* Reads the columns of --add. Their texts are borrowed from `added`. */
static enum colander_code
read_added(struct load_request *asked, const struct arguments *arguments,
           struct colander_error *err)
{
    struct added_column *added =
        calloc(arguments->choice_count + 1, sizeof(*added));
    struct colander_load_column *columns =
        calloc(arguments->choice_count + 1, sizeof(*columns));
    enum colander_code code = COLANDER_OK;
    size_t count = 0;

    asked->added = added;
    asked->options.added = asked->columns = columns;
    if (added == NULL || columns == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for options");
    for (size_t i = 0; i < arguments->choice_count && code == COLANDER_OK;
         i++) {
        const struct argument_choice *choice = &arguments->choices[i];
        const char *value;
        size_t offset;

        if (strcmp(choice->option->name, "add") != 0)
            continue;
        asked->added_count = ++count;
        code = load_request_split(choice, &added[count - 1].path, &value, err);
        columns[count - 1].path = added[count - 1].path;
        if (code == COLANDER_OK)
            code = colander_value_read(value, &columns[count - 1].value,
                                       &added[count - 1].bytes, &offset, err);
        if (code != COLANDER_OK)
            colander_error_context(err, "--add '%.200s'", choice->value);
    }
    asked->options.added_count = count;
    asked->options.file_name_column =
        arguments_value(arguments, "add-file-name");
    return code;
}

static void
release_added(struct load_request *asked)
{
    for (size_t i = 0; i < asked->added_count; i++) {
        free(asked->added[i].path);
        colander_buffer_release(&asked->added[i].bytes);
    }
    free(asked->added);
    free(asked->columns);
}

/* Reads the schema, and the options that override it. */
static enum colander_code
read_schema(struct load_request *asked, const struct arguments *arguments,
            struct colander_error *err)
{
    struct colander_load_options *options = &asked->options;
    const char *name = arguments_value(arguments, "schema");
    enum colander_code code = COLANDER_OK;

    if (name != NULL)
        code = colander_schema_open_elsewhere(name, options->elsewhere,
                                              &asked->schema, err);
    if (code == COLANDER_OK)
        code = read_types(asked, arguments, err);
    if (code == COLANDER_OK)
        code = type_partition(asked, arguments, err);
    if (code == COLANDER_OK && arguments_has(arguments, "key"))
        code = arguments_list(arguments, "key", &asked->key, err);
    if (code == COLANDER_OK)
        code = read_csv_options(asked, arguments, err);
    options->schema = asked->schema;
    options->key = asked->key.paths;
    options->key_count = asked->key.count;
    return code;
}

enum colander_code
load_request_read(struct load_request *asked, const struct session *session,
                  const struct arguments *arguments, struct colander_error *err)
{
    struct colander_load_options *options = &asked->options;
    uint64_t record_size;
    enum colander_code code;

    colander_load_options_init(options);
    record_size = options->record_size;
    options->format = arguments_value(arguments, "format");
    options->rejects = arguments_value(arguments, "rejects");
    options->resumes = arguments_has(arguments, "resume");
    options->is_bulk = arguments_has(arguments, "bulk");
    options->follows = arguments_has(arguments, "follow");
    options->syncs = arguments_has(arguments, "sync");
    options->precision = arguments_value(arguments, "precision");
    if (session->client != NULL)
        options->elsewhere = session->client->files;
    code = read_duplicates(arguments, &options->duplicates, err);
    if (code == COLANDER_OK)
        code = read_partition(asked, arguments, err);
    if (code == COLANDER_OK)
        code = arguments_number(arguments, "max-errors", &options->rejects_max,
                                err);
    if (code == COLANDER_OK)
        code = arguments_size(arguments, "record-size", &record_size, err);
    options->record_size = (size_t)record_size;
    asked->rejects_allowed =
        arguments_has(arguments, "max-errors") ? options->rejects_max : 0;
    if (code == COLANDER_OK)
        code = read_added(asked, arguments, err);
    return code == COLANDER_OK ? read_schema(asked, arguments, err) : code;
}

void
load_request_release(struct load_request *asked)
{
    colander_schema_close(asked->schema);
    argument_list_release(&asked->key);
    release_added(asked);
    free(asked->partition);
    free(asked->nulls);
}
