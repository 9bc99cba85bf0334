/* See safe_script.h. SPDX-License-Identifier: MIT */
#include "shell/safe_script.h"
#include "shell/entries.h"
#include "shell/safe/guard.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define MEMORY_SIZE (64u << 20)     /* default */
#define OUTPUT_SIZE (16u << 20)     /* default */
#define SECONDS 10                  /* default */
#define SECONDS_MAX 86400           /* a day */
#define SCRIPT_SIZE_MAX (16u << 20) /* of text */
#define STORE_SIZE (96u << 20)      /* of an open store, with room to spare */
#define CACHE_SIZE (8u << 20)       /* of blocks, in the child */

/* Arguments of the child: program, mark, store, memory, format, kind, name. */
enum {
    WORD_STORE = 2,
    WORD_MEMORY,
    WORD_FORMAT,
    WORD_KIND,
    WORD_NAME,
    WORD_FIRST, /* of the arguments of the script */
};

#define KIND_CODE "code"
#define KIND_SCRIPT "script"

/* ---------------------------------------------------------------- child --- */

/* Runs the text, which ends with a zero. */
static enum session_exit
run_text(struct session *session, size_t memory_size,
         const struct colander_buffer *text, int argc, const char *const *argv)
{
    const bool is_code = strcmp(argv[WORD_KIND], KIND_CODE) == 0;
    struct interpreter *interpreter = NULL;
    struct entries entries;
    struct colander_error err;
    enum session_exit status;

    if (interpreter_create(session, memory_size, &interpreter, &err) !=
        COLANDER_OK)
        return session_fail(session, &err);
    entries_init(&entries, session, interpreter);
    if (is_code)
        status = entries_run_chunk(&entries, (const char *)text->data, "=-e");
    else
        status = interpreter_run_script(
            interpreter, argv[WORD_NAME],
            colander_slice_of(text->data, text->size - 1), argv + WORD_FIRST,
            (size_t)(argc - WORD_FIRST));
    if (output_flush(stdout, &err) != COLANDER_OK && status == SESSION_FINE)
        status = session_fail(session, &err);
    /* closing the state would run finalizers of the script */
    _exit((int)status);
}

static enum colander_code
read_text(FILE *file, struct colander_buffer *text, struct colander_error *err)
{
    char bytes[65536];
    size_t size;
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK &&
           (size = fread(bytes, 1, sizeof(bytes), file)) > 0) {
        if (text->size + size > SCRIPT_SIZE_MAX)
            return COLANDER_FAIL(err, COLANDER_LIMIT,
                                 "a script may have %u bytes", SCRIPT_SIZE_MAX);
        code = colander_buffer_append(text, bytes, size, err);
    }
    if (code == COLANDER_OK && ferror(file))
        return COLANDER_FAIL(err, COLANDER_IO, "%s", strerror(errno));
    return code;
}

enum session_exit
safe_script_run_child(int argc, const char *const *argv)
{
    struct session session = {.has_format = true};
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct colander_options options;
    struct colander_error err;

    if (argc < WORD_FIRST)
        return SESSION_USAGE;
    if (output_format_parse(argv[WORD_FORMAT], &session.format, &err) !=
            COLANDER_OK ||
        read_text(stdin, &text, &err) != COLANDER_OK ||
        colander_buffer_append(&text, "", 1, &err) != COLANDER_OK)
        return session_fail(&session, &err);
    colander_options_init(&options);
    options.mode = COLANDER_OPEN_READ_ONLY;
    options.cache_size = CACHE_SIZE;
    options.thread_count = 1;
    if (session_open_with(&session, argv[WORD_STORE], &options, &err) !=
        COLANDER_OK)
        return session_fail(&session, &err);
    return run_text(&session, (size_t)strtoumax(argv[WORD_MEMORY], NULL, 10),
                    &text, argc, argv);
}

/* --------------------------------------------------------------- parent --- */

static enum colander_code
read_limits(const struct arguments *arguments, struct guard_limits *limits,
            struct colander_error *err)
{
    double seconds = SECONDS;
    enum colander_code code;

    limits->memory_size = MEMORY_SIZE;
    limits->output_size = OUTPUT_SIZE;
    code = arguments_size(arguments, "memory", &limits->memory_size, err);
    if (code == COLANDER_OK)
        code = arguments_size(arguments, "output", &limits->output_size, err);
    if (code == COLANDER_OK)
        code = arguments_real(arguments, "time", &seconds, err);
    if (code == COLANDER_OK && !(seconds > 0 && seconds <= SECONDS_MAX))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "--time takes seconds, up to a day");
    if (code == COLANDER_OK && limits->memory_size > SIZE_MAX / 2)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "--memory is too much");
    if (code == COLANDER_OK)
        limits->milliseconds = (uint64_t)ceil(seconds * 1000);
    return code;
}

/* Prints how the child ended. Returns how the program exits. */
static enum session_exit
report_outcome(const struct session *session, const struct guard_limits *limits,
               const struct guard_outcome *outcome)
{
    switch (outcome->end) {
    case GUARD_EXITED:
        return (enum session_exit)outcome->status;
    case GUARD_KILLED:
        return session_complain(
            session, SESSION_FAILED, "the script was ended: %s%s",
            strsignal(outcome->status),
            outcome->status == SIGABRT || outcome->status == SIGSEGV ||
                    outcome->status == SIGKILL
                ? " (it may have taken too much memory: --memory)"
                : "");
    case GUARD_OUT_OF_TIME:
        return session_complain(session, SESSION_FAILED,
                                "the script was ended: it took longer than %g "
                                "seconds (--time)",
                                (double)limits->milliseconds / 1000);
    case GUARD_OUT_OF_OUTPUT:
        return session_complain(
            session, SESSION_FAILED,
            "the script was ended: it printed more than %" PRIu64
            " bytes (--output)",
            limits->output_size);
    case GUARD_UNREAD:
        return SESSION_UNREAD;
    case GUARD_UNWRITTEN:
        return session_complain(session, SESSION_DAMAGED,
                                "cannot write output: %s",
                                strerror(outcome->status));
    case GUARD_INTERRUPTED:
        break;
    }
    return session_complain(session, SESSION_INTERRUPTED, "interrupted");
}

/* Reads the script `name`, "-" for standard input. */
static enum colander_code
read_script(const char *name, struct colander_buffer *text,
            struct colander_error *err)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    enum colander_code code;

    if (file == NULL)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "cannot read '%s': %s",
                             name, strerror(errno));
    code = read_text(file, text, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot read '%s'", name);
    if (file != stdin)
        (void)fclose(file);
    return code;
}

/* Runs the text in a child. */
static enum session_exit
run_guarded(struct session *session, const struct arguments *arguments,
            struct colander_slice text, struct guard_limits *limits)
{
    const char *code = arguments_value(arguments, "e");
    const bool is_shown = isatty(STDOUT_FILENO) != 0;
    const char **words =
        calloc(WORD_FIRST + arguments->word_count + 1, sizeof(*words));
    struct guard_outcome outcome;
    struct colander_error err;
    char memory[32];
    size_t count = WORD_FIRST;
    enum session_exit status;

    if (words == NULL)
        return session_complain(session, SESSION_FAILED, "no memory for words");
    (void)snprintf(memory, sizeof(memory), "%" PRIu64, limits->memory_size);
    words[0] = "colander";
    words[1] = SAFE_SCRIPT_CHILD;
    words[WORD_STORE] = arguments->words[0];
    words[WORD_MEMORY] = memory;
    words[WORD_FORMAT] =
        output_format_name(is_shown ? OUTPUT_TABLE : OUTPUT_JSONL);
    words[WORD_KIND] = code != NULL ? KIND_CODE : KIND_SCRIPT;
    words[WORD_NAME] = code != NULL ? "-e" : arguments->words[1];
    for (size_t i = 2; i < arguments->word_count; i++)
        words[count++] = arguments->words[i];
    limits->memory_size += STORE_SIZE;
    if (guard_run(words, text, limits, &outcome, &err) == COLANDER_OK)
        status = report_outcome(session, limits, &outcome);
    else
        status = session_fail(session, &err);
    free(words);
    return status;
}

enum session_exit
safe_script_run(struct session *session, const struct arguments *arguments)
{
    const char *code = arguments_value(arguments, "e");
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct guard_limits limits;
    struct colander_error err;
    enum session_exit status;

    if (code == NULL && arguments->word_count < 2)
        return session_complain(session, SESSION_USAGE,
                                "--safe runs a script (- is standard input) "
                                "or the code of -e");
    if (read_limits(arguments, &limits, &err) != COLANDER_OK)
        return session_misused(session, &err);
    if ((code != NULL
             ? colander_buffer_append(&text, code, strlen(code), &err)
             : read_script(arguments->words[1], &text, &err)) == COLANDER_OK)
        status = run_guarded(session, arguments, colander_buffer_slice(&text),
                             &limits);
    else
        status = session_fail(session, &err);
    colander_buffer_release(&text);
    return status;
}
