/*
 * The command demo: makes a store to play with, and shows some finds on it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command_shell.h"
#include "shell/commands.h"
#include "shell/demo_data.h"
#include "shell/interrupt.h"

#include <stdio.h>
#include <unistd.h>

#define BATCH_ROWS 1000
#define QUERY_WORDS_MAX 12

static const struct kind {
    const char *family;
    demo_record record;
} kinds[] = {{"tweets", demo_tweet}, {"sensors", demo_reading}};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static const struct query {
    const char *comment;
    const char *words[QUERY_WORDS_MAX]; /* ends with NULL */
} queries[] = {
    {"rows with a value in one column",
     {"find", "tweets", "user=Smith", "--select", "user,likes,text", "--limit",
      "3", NULL}},
    {"rows with a value in whatever column, and in which",
     {"find", "tweets", "--any", "Houston", "--select", "user,place,text",
      "--limit", "5", NULL}},
    {"several conditions, one of them a range",
     {"find", "tweets", "likes>=900", "lang=pl", "--select", "user,likes,text",
      "--limit", "3", NULL}},
    {"how many rows, looking into maps and arrays",
     {"find", "tweets", "entities.hashtags[].text=coffee", "--count", NULL}},
    {"ten minutes of one station, by the key alone",
     {"find", "sensors", "--from", "[\"sensor-7\",1600000000]", "--to",
      "[\"sensor-7\",1600000600]", NULL}},
    {"rows that have a column others lack",
     {"find", "sensors", "fault?", "--limit", "3", NULL}},
    {"how many rows have a value, in whatever column",
     {"find", "tweets", "--any", "Smith", "--count", NULL}},
    {"the same by reading every row, to compare what that takes",
     {"find", "tweets", "--any", "Smith", "--count", "--scan", NULL}},
    {"a value that no row has", {"find", "tweets", "user=Nobody", NULL}},
};

#define QUERY_COUNT (sizeof(queries) / sizeof(queries[0]))

static const struct example {
    const char *comment;
    const char *code; /* of Lua */
} examples[] = {
    {"in Lua: rows in the order of a column",
     "tweets:find{user = \"Smith\"}:order(\"likes\", \"desc\")"
     ":select(\"likes\", \"text\"):limit(3)"},
    {"how many tweets are in which language",
     "tweets:find():group(\"lang\"):count()"},
    {"the mean of what one station has measured",
     "sensors:scan{prefix = {\"sensor-7\"}}:avg(\"temperature\")"},
};

#define EXAMPLE_COUNT (sizeof(examples) / sizeof(examples[0]))

/* ------------------------------------------------------------- load --- */

/* What loading one family needs. */
struct load {
    const struct kind *kind;
    struct colander_family *family;
    struct colander_batch *batch;
    struct colander_row_builder *builder;
    struct colander_buffer key;
};

static void
show_progress(const struct load *load, uint32_t count)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rloading %s: %u of %u%s", load->kind->family, count,
                DEMO_RECORD_COUNT, count == DEMO_RECORD_COUNT ? "\n" : "");
}

/* Loads the batch of records that begins with `first`. */
static enum colander_code
load_batch(struct load *load, uint32_t first, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (uint32_t i = first; i < first + BATCH_ROWS && code == COLANDER_OK;
         i++) {
        struct colander_slice row;

        code = load->kind->record(load->builder, i, &load->key, &row, err);
        if (code == COLANDER_OK)
            code =
                colander_batch_put(load->batch, load->family,
                                   colander_buffer_slice(&load->key), row, err);
    }
    if (code == COLANDER_OK)
        code = colander_batch_commit(load->batch, COLANDER_AS_STORE, err);
    return code;
}

static enum colander_code
load_all(struct load *load, struct colander_error *err)
{
    for (uint32_t i = 0; i < DEMO_RECORD_COUNT; i += BATCH_ROWS) {
        enum colander_code code;

        if (interrupt_happened())
            return COLANDER_FAIL(err, COLANDER_CANCELLED, "interrupted");
        code = load_batch(load, i, err);
        if (code != COLANDER_OK)
            return code;
        show_progress(load, i + BATCH_ROWS);
    }
    return COLANDER_OK;
}

static enum colander_code
load_kind(const struct session *session, const struct kind *kind,
          struct colander_error *err)
{
    struct load load = {kind, NULL, NULL, NULL, COLANDER_BUFFER_EMPTY};
    enum colander_code code;

    code =
        colander_family_open(session->store, kind->family, &load.family, err);
    if (code == COLANDER_OK)
        code = colander_batch_create(session->store, &load.batch, err);
    if (code == COLANDER_OK) {
        load.builder = colander_row_builder_create();
        if (load.builder == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rows");
    }
    if (code == COLANDER_OK)
        code = load_all(&load, err);
    if (code == COLANDER_OK)
        code = colander_family_flush(load.family, err);
    colander_buffer_release(&load.key);
    colander_row_builder_destroy(load.builder);
    colander_batch_destroy(load.batch);
    colander_family_close(load.family);
    return code;
}

/* ------------------------------------------------------------ reuse --- */

/* Whether the store holds record `number` just as it would be made. */
static enum colander_code
has_record(const struct session *session, const struct kind *kind,
           uint32_t number, bool *has, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer stored = COLANDER_BUFFER_EMPTY;
    struct colander_family *family = NULL;
    struct colander_slice row = {NULL, 0};
    enum colander_code code = COLANDER_OK;
    bool found = false;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    code = kind->record(builder, number, &key, &row, err);
    if (code == COLANDER_OK)
        code = colander_family_open(session->store, kind->family, &family, err);
    if (code == COLANDER_OK)
        code = colander_family_get(family, colander_buffer_slice(&key), NULL,
                                   &stored, &found, err);
    *has = found && colander_slice_equal(colander_buffer_slice(&stored), row);
    colander_family_close(family);
    colander_buffer_release(&stored);
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    return code;
}

/* How many of the kinds the store holds to the last record. */
static enum colander_code
count_ready(const struct session *session, size_t *count,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *count = 0;
    for (size_t i = 0; i < KIND_COUNT && code == COLANDER_OK; i++) {
        bool has = false;

        code = has_record(session, &kinds[i], DEMO_RECORD_COUNT - 1, &has, err);
        *count += has;
    }
    return code;
}

/* INVALID when the store is somebody's, and not a demo's that may have
 * stopped midway: the first record goes in first. */
static enum colander_code
check_ours(const struct session *session, struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    enum colander_code code;
    bool is_ours = true;
    size_t count;

    code = colander_store_families(session->store, &names, err);
    count = names.count;
    colander_names_release(&names);
    if (code == COLANDER_OK && count > 0)
        code = has_record(session, &kinds[0], 0, &is_ours, err);
    if (code == COLANDER_OK && !is_ours)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is another store, and stays as it is",
                             session->path);
    return code;
}

/* Loads what the store does not hold yet. */
static enum colander_code
load_missing(const struct session *session, struct colander_error *err)
{
    enum colander_code code = check_ours(session, err);

    for (size_t i = 0; i < KIND_COUNT && code == COLANDER_OK; i++) {
        bool has = false;

        code = has_record(session, &kinds[i], DEMO_RECORD_COUNT - 1, &has, err);
        if (code == COLANDER_OK && !has)
            code = load_kind(session, &kinds[i], err);
    }
    return code;
}

/* Makes the store or what it lacks, and closes it again. */
static enum colander_code
make(struct session *session, const char *path, struct colander_error *err)
{
    enum colander_code code, closed;

    code = session_open(session, path, COLANDER_OPEN_OR_CREATE, err);
    if (code != COLANDER_OK)
        return code;
    code = load_missing(session, err);
    closed = session_close(session, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? closed : code;
}

/* Opens the store for reading, made if it must be: one that is there can be
 * read in two terminals at once. */
static enum colander_code
prepare(struct session *session, const char *path, struct colander_error *err)
{
    size_t ready = 0;
    enum colander_code code =
        session_open(session, path, COLANDER_OPEN_READ_ONLY, err);

    if (code == COLANDER_OK)
        code = count_ready(session, &ready, err);
    else if (code == COLANDER_NOT_FOUND)
        code = COLANDER_OK;
    if (code == COLANDER_OK && ready < KIND_COUNT) {
        code = session_close(session, err);
        if (code == COLANDER_OK)
            code = make(session, path, err);
        if (code == COLANDER_OK)
            code = session_open(session, path, COLANDER_OPEN_READ_ONLY, err);
    }
    if (code == COLANDER_OK)
        printf("the demo store '%s' %s: %d tweets, %d sensor readings\n"
               "(where colander is not installed, script/run stands for it: "
               "script/run find ...)\n",
               path, ready == KIND_COUNT ? "is there already" : "is made",
               DEMO_RECORD_COUNT, DEMO_RECORD_COUNT);
    return code;
}

/* ------------------------------------------------------------- show --- */

/* Prints a word as it must be typed in a shell. */
static void
print_word(const char *word)
{
    bool is_plain = strpbrk(word, " []<>\"?*&|;$()!~\\") == NULL;

    printf(is_plain ? " %s" : " '%s'", word);
}

static void
print_command(const struct session *session, const struct query *query)
{
    printf("\n# %s\n$ colander %s", query->comment, query->words[0]);
    print_word(session->path);
    for (size_t i = 1; query->words[i] != NULL; i++)
        print_word(query->words[i]);
    printf("\n");
}

static enum session_exit
show_queries(struct session *session)
{
    enum session_exit status = SESSION_FINE;

    session->is_shell = true;
    for (size_t i = 0; i < QUERY_COUNT && status == SESSION_FINE; i++) {
        int count = 0;

        while (queries[i].words[count] != NULL)
            count++;
        print_command(session, &queries[i]);
        status = commands_run(session, count, queries[i].words);
    }
    session->is_shell = false;
    return status;
}

static enum session_exit
show_examples(struct session *session)
{
    enum session_exit status = SESSION_FINE;

    for (size_t i = 0; i < EXAMPLE_COUNT && status == SESSION_FINE; i++) {
        printf("\n# %s\n$ colander shell", examples[i].comment);
        print_word(session->path);
        printf(" -e '%s'\n", examples[i].code);
        status = command_shell_run_code(session, examples[i].code);
    }
    return status;
}

static enum session_exit
show_demo(struct session *session)
{
    enum session_exit status;

    session->is_demo = true;
    status = show_queries(session);
    if (status == SESSION_FINE)
        status = show_examples(session);
    if (status == SESSION_FINE)
        printf("\n# your own records come in by load, and are found like these"
               ":\n# colander load --help tells how\n");
    session->is_demo = false;
    if (status == SESSION_FINE && isatty(STDIN_FILENO) &&
        isatty(STDOUT_FILENO)) {
        printf("\nNow type Lua, such as what stands in quotes behind -e; or "
               ".help, or .quit:\n");
        status = command_shell_run(session);
    }
    return status;
}

static enum session_exit
run_demo(struct session *session, const struct arguments *arguments)
{
    const char *path = arguments->word_count > 0 ? arguments->words[0] : "demo";
    struct colander_error err;
    enum session_exit status;

    if (prepare(session, path, &err) == COLANDER_OK)
        status = show_demo(session);
    else
        status = session_fail(session, &err);
    if (session_close(session, &err) != COLANDER_OK) {
        enum session_exit closed = session_fail(session, &err);

        status = status == SESSION_FINE ? closed : status;
    }
    return status;
}

static const struct argument_option options[] = {{NULL, false, false}};

static const char help[] =
    "Makes a store, ./demo if none is named, with 100,000 made-up tweets and\n"
    "as many sensor readings; one that is there already is used as it is.\n"
    "Then shows some finds with what each had to read, and some in Lua, and\n"
    "on a terminal goes on as the shell, for reading only.\n";

const struct command command_demo = {
    "demo",
    "[STORE]",
    "a store to play with, and what to ask it",
    help,
    COMMAND_OPENS,
    options,
    0,
    1,
    SIZE_MAX,
    run_demo,
};
