/* See changes.h. SPDX-License-Identifier: MIT */
#include "serve/body.h"
#include "serve/changes_inside.h"
#include "serve/reply.h"

#include <microhttpd.h>
#include <stdlib.h>

#define PRESETS_MAX 4
#define EXIT_REJECTED 3 /* of the program: some records were rejected */

static const struct choice load_choices[] = {
    LOAD_CHOICES,
    {"bulk", "--bulk", true, false, NULL},
    {"delimiter", "--delimiter", false, false, NULL},
    {"format", "--format", false, false, NULL},
    {"no-guess", "--no-guess", true, false, NULL},
    {"null", "--null", false, true, NULL},
    {"on-duplicate", "--on-duplicate", false, false, NULL},
    {"precision", "--precision", false, false, NULL},
    {"schema", "--schema", false, false, NULL},
    CHOICES_END,
};

#define ROW_CHOICES                                                            \
    {"all", "--all", true, false, NULL}, {"any", "--any", false, true, NULL},  \
        {"dry-run", "--dry-run", true, false, NULL},                           \
        {"from", "--from", false, false, NULL},                                \
        {"i", "-i", true, false, NULL}, {"key", "--key", false, false, NULL},  \
        {"limit", "--limit", false, false, NULL},                              \
        {"order", "--order", false, false, NULL},                              \
        {"prefix", "--prefix", false, false, NULL},                            \
        {"reverse", "--reverse", true, false, NULL},                           \
        {"search", "--search", false, true, NULL},                             \
        {"since", "--since", false, false, NULL},                              \
        {"to", "--to", false, false, NULL},                                    \
        {"until", "--until", false, false, NULL},                              \
        {"yes", "--yes", true, false, NULL}, CHOICES_END

static const struct choice delete_choices[] = {ROW_CHOICES};
static const struct choice update_choices[] = {
    {"set", "--set", false, true, NULL},
    {"unset", "--unset", false, true, NULL},
    ROW_CHOICES,
};

/* Of which partitions the answer is. */
#define SCOPE_CHOICES                                                          \
    {"fresh", "--fresh", true, false, NULL},                                   \
    {                                                                          \
        "partial", "--partial", true, false, NULL                              \
    }

static const struct choice find_choices[] = {
    {"any", "--any", false, true, NULL},
    {"from", "--from", false, false, NULL},
    {"i", "-i", true, false, NULL},
    {"key", "--key", false, false, NULL},
    {"limit", "--limit", false, false, NULL},
    {"order", "--order", false, false, NULL},
    {"prefix", "--prefix", false, false, NULL},
    {"reverse", "--reverse", true, false, NULL},
    {"search", "--search", false, true, NULL},
    {"select", "--select", false, true, NULL},
    {"since", "--since", false, false, NULL},
    {"skip", "--skip", false, false, NULL},
    {"to", "--to", false, false, NULL},
    {"until", "--until", false, false, NULL},
    SCOPE_CHOICES,
    CHOICES_END,
};

static const struct choice columns_choices[] = {
    {"all", "--all", true, false, NULL},
    {"depth", "--depth", false, false, NULL},
    {"like", "--like", false, false, NULL},
    {"rows", "--rows", false, false, NULL},
    SCOPE_CHOICES,
    CHOICES_END,
};

#define MEASURE(name)                                                          \
    {                                                                          \
        name, "--" name, false, true, NULL                                     \
    }

static const struct choice group_choices[] = {
    {"any", "--any", false, true, NULL},
    {"by", "--by", false, true, NULL},
    {"count", "--count", true, false, NULL},
    {"fill", "--fill", false, false, NULL},
    {"from", "--from", false, false, NULL},
    {"having", "--having", false, true, NULL},
    {"i", "-i", true, false, NULL},
    {"key", "--key", false, false, NULL},
    {"limit", "--limit", false, false, NULL},
    {"memory", "--memory", false, false, NULL},
    {"order", "--order", false, false, NULL},
    {"prefix", "--prefix", false, false, NULL},
    {"search", "--search", false, true, NULL},
    {"since", "--since", false, false, NULL},
    {"time", "--time", false, false, NULL},
    {"to", "--to", false, false, NULL},
    {"top", "--top", false, false, NULL},
    {"until", "--until", false, false, NULL},
    MEASURE("approx-distinct"),
    MEASURE("avg"),
    MEASURE("distinct"),
    MEASURE("first"),
    MEASURE("last"),
    MEASURE("max"),
    MEASURE("min"),
    MEASURE("p50"),
    MEASURE("p75"),
    MEASURE("p90"),
    MEASURE("p95"),
    MEASURE("p99"),
    MEASURE("p999"),
    MEASURE("sum"),
    SCOPE_CHOICES,
    CHOICES_END,
};

static const struct choice no_choices[] = {CHOICES_END};
static const struct choice backup_choices[] = {
    {"keep", "--keep", false, false, NULL},
    {"to", NULL, false, false, NULL},
    CHOICES_END,
};

static const struct change script_change = {.command = SERVER_SCRIPT,
                                            .choices = no_choices,
                                            .is_script = true,
                                            .reads = true};
static const struct change backup_change = {.command = "backup",
                                            .choices = backup_choices,
                                            .family = "to",
                                            .is_backup = true};
static const struct change load_change = {
    .command = "load",
    .choices = load_choices,
    .has_body = true,
    .prints = true,
};
static const struct change delete_change = {
    .command = "delete", .choices = delete_choices, .has_words = true};
static const struct change update_change = {
    .command = "update", .choices = update_choices, .has_words = true};
static const struct change find_change = {.command = "find",
                                          .choices = find_choices,
                                          .has_words = true,
                                          .reads = true};
static const struct change columns_change = {
    .command = "columns", .choices = columns_choices, .reads = true};
static const struct change group_change = {.command = "group",
                                           .choices = group_choices,
                                           .has_words = true,
                                           .reads = true};

/* --------------------------------------------------------------- writer --- */

unsigned
change_status(const struct change_run *run)
{
    const enum colander_code code = run->result.failure.code;

    if (run->change->has_body && code == COLANDER_LIMIT)
        return MHD_HTTP_CONTENT_TOO_LARGE;
    return reply_status(code, false);
}

/* Appends the facts of the command, and keeps how many rows there were. */
static enum colander_code
append_facts(struct change_run *run, const char *rows,
             struct colander_buffer *bytes, struct colander_error *err)
{
    struct colander_value facts = colander_null();
    struct colander_value count;
    bool found = false;
    enum colander_code code =
        colander_row_builder_finish(run->result.facts, &facts.bytes, err);

    facts.type = COLANDER_MAP;
    if (code == COLANDER_OK)
        code = colander_row_get(facts.bytes, rows, &count, &found, err);
    if (code == COLANDER_OK && found && count.type == COLANDER_INTEGER) {
        run->run.writer.counts_rows = true;
        atomic_store(&run->run.writer.row_count, (uint64_t)count.integer);
    }
    if (code == COLANDER_OK)
        code = colander_json_append_value(bytes, &facts, err);
    return code == COLANDER_OK ? colander_buffer_append(bytes, "\n", 1, err)
                               : code;
}

/* Appends what the command has done, and why it failed. */
static enum colander_code
append_result(struct change_run *run, struct colander_buffer *bytes,
              struct colander_error *err)
{
    const struct colander_error *failure = &run->result.failure;

    if (failure->code != COLANDER_OK) {
        reply_build_error(run->result.facts, colander_code_name(failure->code),
                          failure->message, NULL, 0);
        run->run.writer.status = change_status(run);
    }
    return append_facts(run, "rows", bytes, err);
}

/* A client that has not left gets what was done even if the server ends: it
 * must know how far the request got. */
static enum colander_code
write_change(struct writer *writer, struct answer *answer,
             struct colander_buffer *bytes, bool *is_end,
             struct colander_error *err)
{
    struct change_run *run = (struct change_run *)writer;
    struct server_result *result = &run->result;
    enum colander_code code;
    int status = 0;

    *is_end = true;
    code = run_perform(&run->run, answer, bytes, &status, err);
    if (code != COLANDER_OK || answer_stopped(answer) == ANSWER_LEFT)
        return code != COLANDER_OK
                   ? code
                   : COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (status != 0 && answer_stopped(answer) == ANSWER_ENDED)
        (void)COLANDER_FAIL(&result->failure, COLANDER_CANCELLED,
                            "the server ends");
    else if (status != 0 && status != EXIT_REJECTED &&
             result->failure.code == COLANDER_OK)
        (void)COLANDER_FAIL(&result->failure, COLANDER_IO,
                            "the command exits with status %d", status);
    if (run->change->answer != NULL)
        return run->change->answer(run, bytes, err);
    if (bytes->size > 0 && result->failure.code == COLANDER_OK)
        return COLANDER_OK;       /* it has printed its answer */
    colander_buffer_clear(bytes); /* what was printed before a failure */
    return append_result(run, bytes, err);
}

/* Appends the last line of what a command has printed. */
static enum colander_code
append_last(struct change_run *run, struct colander_buffer *bytes,
            struct colander_error *err)
{
    colander_row_builder_end(run->result.facts);
    return append_facts(run, "_end.rows", bytes, err);
}

static enum colander_code
write_lines(struct writer *writer, struct answer *answer,
            struct colander_buffer *bytes, bool *is_end,
            struct colander_error *err)
{
    struct change_run *run = (struct change_run *)writer;
    const struct colander_error *failure = &run->result.failure;
    enum colander_code code;
    int status = 0;

    *is_end = true;
    colander_row_builder_begin_map(run->result.facts, "_end");
    code = run_perform(&run->run, answer, bytes, &status, err);
    if (code == COLANDER_OK && answer_stopped(answer) != ANSWER_GOES_ON)
        code = COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    else if (code == COLANDER_OK && failure->code != COLANDER_OK)
        code = COLANDER_FAIL(err, failure->code, "%s", failure->message);
    else if (code == COLANDER_OK && status != 0)
        code = COLANDER_FAIL(err, COLANDER_IO,
                             "the command exits with status %d", status);
    return code == COLANDER_OK ? append_last(run, bytes, err) : code;
}

static enum colander_code
fail_lines(struct writer *writer, struct colander_buffer *bytes,
           const struct colander_error *failure)
{
    struct change_run *run = (struct change_run *)writer;
    struct colander_slice left; /* facts */

    colander_row_builder_end(run->result.facts);
    (void)!colander_row_builder_finish(run->result.facts, &left, NULL);
    reply_build_error(run->result.facts, colander_code_name(failure->code),
                      failure->message, NULL, 0);
    if (reply_append_built(bytes, run->result.facts, NULL) != COLANDER_OK)
        return COLANDER_NO_MEMORY;
    return colander_buffer_append(bytes, "\n", 1, NULL);
}

/* It fails before it has begun, or not at all. */
static enum colander_code
fail_change(struct writer *writer, struct colander_buffer *bytes,
            const struct colander_error *failure)
{
    (void)writer;
    (void)bytes;
    return failure->code;
}

/* ----------------------------------------------------------------- make --- */

static const struct choice *
choice_of(const struct change *change, const char *name)
{
    const struct choice *choice = change->choices;

    while (choice->name != NULL && strcmp(choice->name, name) != 0)
        choice++;
    return choice->name == NULL ? NULL : choice;
}

/* Adds the option that a parameter is. */
static enum colander_code
add_choice(struct change_run *run, const struct parameters *parameters,
           const struct parameter *parameter, struct colander_error *err)
{
    const struct choice *choice = choice_of(run->change, parameter->name);
    struct server_command *command = &run->run.command;
    const char **words = run->run.words;
    bool is_set = true;
    char *word;
    enum colander_code code = COLANDER_OK;

    if (choice == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "unknown parameter '%s'",
                             parameter->name);
    if (!choice->repeats &&
        parameters_value(parameters, parameter->name) != parameter->value)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the parameter '%s' is there twice",
                             parameter->name);
    if (choice->option == NULL)
        return COLANDER_OK;
    if (choice->is_flag)
        code = parameters_flag(parameters, parameter->name, &is_set, err);
    if (code != COLANDER_OK || !is_set)
        return code;
    if (choice->is_flag) {
        words[command->word_count++] = choice->option;
        return COLANDER_OK;
    }
    /* one word: a value may begin with -- */
    if (asprintf(&word, "%s=%s%s", choice->option, parameter->value,
                 choice->suffix == NULL ? "" : choice->suffix) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a request");
    run->choices[run->choice_count++] = word;
    words[command->word_count++] = word;
    return COLANDER_OK;
}

/* Adds the options that no parameter replaces. */
static void
add_presets(struct change_run *run, const struct parameters *parameters)
{
    const struct preset *preset = run->change->presets;

    for (; preset != NULL && preset->name != NULL; preset++) {
        if (parameters_value(parameters, preset->name) == NULL)
            run->run.words[run->run.command.word_count++] = preset->word;
    }
}

/* Returns the family that the request is about; "": each item names its own.
 * NULL: none is named. Of a backup returns where it goes. */
static const char *
family_of(const struct change_run *run, const struct parameters *parameters)
{
    const struct change *change = run->change;
    const char *family = parameters->path[1];

    if (change->family != NULL)
        family = parameters_value(parameters, change->family);
    else if (family == NULL)
        family = "";
    return family == NULL && change->is_backup
               ? run->run.server->options.backup_to
               : family;
}

/* Only the user of this process removes backups, and chooses where in its file
 * system one goes, and not relative to a directory that the client does not
 * know. */
static enum colander_code
check_backup(const struct parameters *parameters, const char **parameter,
             struct colander_error *err)
{
    const char *to = parameters_value(parameters, "to");

    *parameter = "keep";
    if (!parameters->is_local && parameters_value(parameters, "keep") != NULL)
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "only clients of the socket remove backups");
    *parameter = to == NULL ? NULL : "to";
    if (to == NULL)
        return COLANDER_OK;
    if (!parameters->is_local)
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "backups go where the server was told by "
                             "--backup-to: only clients of the socket choose");
    if (to[0] != '/' && strstr(to, "://") == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is neither an absolute path nor an address",
                             to);
    return COLANDER_OK;
}

/* Adds the text of a script, as the last word. */
static enum colander_code
add_script(struct change_run *run, struct colander_slice text,
           struct colander_error *err)
{
    char *word;

    if (text.size == 0 || memchr(text.data, 0, text.size) != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             text.size == 0
                                 ? "the body, which is the script, is missing"
                                 : "the script has a zero byte");
    word = strndup((const char *)text.data, text.size);
    if (word == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a script");
    run->choices[run->choice_count++] = word;
    run->run.words[run->run.command.word_count++] = word;
    return COLANDER_OK;
}

/* Makes the command line. */
static enum colander_code
read_parameters(struct change_run *run, const struct parameters *parameters,
                const char **parameter, struct colander_error *err)
{
    const char *family = family_of(run, parameters);
    struct server_command *command = &run->run.command;
    const char **words = run->run.words;
    enum colander_code code = COLANDER_OK;

    words[command->word_count++] = run->change->command;
    add_presets(run, parameters);
    for (size_t i = 0; i < parameters->count && code == COLANDER_OK; i++) {
        if ((run->change->has_words &&
             strcmp(parameters->list[i].name, "q") == 0) ||
            (run->change->reads &&
             strcmp(parameters->list[i].name, "timeout") == 0))
            continue;
        *parameter = parameters->list[i].name;
        code = add_choice(run, parameters, &parameters->list[i], err);
    }
    if (code != COLANDER_OK)
        return code;
    *parameter = run->change->family;
    if (family == NULL || (family[0] == '\0' && *parameter != NULL))
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "the parameter '%s', which names %s, is missing", *parameter,
            run->change->is_backup ? "where the backup goes" : "the family");
    *parameter = NULL;
    words[command->word_count++] = "--"; /* names may begin with a dash */
    words[command->word_count++] = "store";
    if (run->change->is_script)
        return add_script(run, parameters->body, err);
    words[command->word_count++] = family;
    for (size_t i = 0; i < run->words.count; i++)
        words[command->word_count++] = run->words.words[i];
    if (run->change->has_body)
        words[command->word_count++] = "-";
    return COLANDER_OK;
}

static void
destroy_change(struct writer *writer)
{
    struct change_run *run = (struct change_run *)writer;

    colander_row_builder_destroy(run->result.facts);
    for (size_t i = 0; run->choices != NULL && i < run->choice_count; i++)
        free(run->choices[i]);
    free(run->choices);
    words_release(&run->words);
    run_destroy(&run->run);
}

/* Splits the parameter q, which is there once at most. */
static enum colander_code
split_words(const struct change *change, const struct parameters *parameters,
            struct words *words, const char **parameter, size_t *offset,
            struct colander_error *err)
{
    const char *text = NULL;

    if (!change->has_words)
        return COLANDER_OK;
    *parameter = "q";
    for (size_t i = 0; i < parameters->count; i++) {
        if (strcmp(parameters->list[i].name, "q") != 0)
            continue;
        if (text != NULL)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the parameter 'q' is there twice");
        text = parameters->list[i].value;
    }
    return text == NULL ? COLANDER_OK : words_split(words, text, offset, err);
}

enum colander_code
change_make(const struct change *change, struct server *server,
            struct parameters *parameters, struct writer **writer,
            const char **parameter, size_t *offset, struct colander_error *err)
{
    const struct parameters none = {.list = NULL};
    struct words words = {.words = NULL};
    struct run *made = NULL;
    struct change_run *run;
    enum colander_code code;

    *offset = 0;
    if (server->options.read_only != NULL && !change->reads &&
        !change->is_backup)
        return COLANDER_FAIL(err, COLANDER_READ_ONLY, "%s",
                             server->options.read_only);
    code = split_words(change, parameters, &words, parameter, offset, err);
    if (code == COLANDER_OK)
        *parameter = NULL;
    if (code == COLANDER_OK)
        code = run_create(server, sizeof(*run),
                          2 * parameters->count + words.count + 8 + PRESETS_MAX,
                          &made, err);
    if (code != COLANDER_OK) {
        words_release(&words);
        return code;
    }
    run = (struct change_run *)made;
    run->change = change;
    run->words = words;
    run->run.prints = change->prints || change->reads;
    run->run.streams = change->reads;
    run->run.writer.write = change->reads ? write_lines : write_change;
    run->run.writer.fail = change->reads ? fail_lines : fail_change;
    run->run.writer.destroy = destroy_change;
    run->run.writer.content_type = change->reads ? REPLY_JSONL : REPLY_JSON;
    run->run.writer.shape = change->shape;
    run->run.writer.writes = !change->reads;
    if (change->shape == REPLY_ELASTIC) {
        run->run.writer.header = REPLY_PRODUCT;
        run->run.writer.header_value = REPLY_PRODUCT_VALUE;
    }
    run->run.command.is_local = parameters->is_local;
    run->run.command.result = &run->result;
    run->result.facts = colander_row_builder_create();
    run->choices = calloc(parameters->count + 2, sizeof(*run->choices));
    if (change->has_body)
        run->run.writer.body =
            body_create(server->options.drop_ms,
                        parameters->is_local ? 0 : server->options.request_ms);
    if (run->result.facts == NULL || run->choices == NULL ||
        (change->has_body && run->run.writer.body == NULL))
        code =
            COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for an answer");
    if (code == COLANDER_OK && change->is_backup)
        code = check_backup(parameters, parameter, err);
    if (code == COLANDER_OK)
        code = read_parameters(run, parameters, parameter, err);
    if (code == COLANDER_OK)
        code = run_admit(made, err);
    if (code != COLANDER_OK) {
        destroy_change(&run->run.writer);
        return code;
    }
    run->run.parameters = *parameters;
    *parameters = none;
    *writer = &run->run.writer;
    return COLANDER_OK;
}

enum colander_code
changes_load(struct server *server, struct parameters *parameters,
             struct writer **writer, const char **parameter, size_t *offset,
             struct colander_error *err)
{
    return change_make(&load_change, server, parameters, writer, parameter,
                       offset, err);
}

enum colander_code
changes_delete(struct server *server, struct parameters *parameters,
               struct writer **writer, const char **parameter, size_t *offset,
               struct colander_error *err)
{
    return change_make(&delete_change, server, parameters, writer, parameter,
                       offset, err);
}

enum colander_code
changes_update(struct server *server, struct parameters *parameters,
               struct writer **writer, const char **parameter, size_t *offset,
               struct colander_error *err)
{
    return change_make(&update_change, server, parameters, writer, parameter,
                       offset, err);
}

enum colander_code
changes_find(struct server *server, struct parameters *parameters,
             struct writer **writer, const char **parameter, size_t *offset,
             struct colander_error *err)
{
    return change_make(&find_change, server, parameters, writer, parameter,
                       offset, err);
}

enum colander_code
changes_columns(struct server *server, struct parameters *parameters,
                struct writer **writer, const char **parameter, size_t *offset,
                struct colander_error *err)
{
    return change_make(&columns_change, server, parameters, writer, parameter,
                       offset, err);
}

enum colander_code
changes_group(struct server *server, struct parameters *parameters,
              struct writer **writer, const char **parameter, size_t *offset,
              struct colander_error *err)
{
    return change_make(&group_change, server, parameters, writer, parameter,
                       offset, err);
}

enum colander_code
changes_script(struct server *server, struct parameters *parameters,
               struct writer **writer, const char **parameter, size_t *offset,
               struct colander_error *err)
{
    if (!parameters->is_local && !server->options.runs_lua)
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "the server runs no Lua for clients from "
                             "elsewhere: start it with --lua");
    return change_make(&script_change, server, parameters, writer, parameter,
                       offset, err);
}

enum colander_code
changes_backup(struct server *server, struct parameters *parameters,
               struct writer **writer, const char **parameter, size_t *offset,
               struct colander_error *err)
{
    return change_make(&backup_change, server, parameters, writer, parameter,
                       offset, err);
}
