/*
 * Random expressions of conditions: the library, Lua, the program and the
 * command .find at the prompt find the rows that the same predicate finds that
 * was built by hand, and that a naive evaluator of the expression accepts.
 *
 * Each is written in another spelling for each of them: with and without
 * parentheses, escapes and quotes that are not needed, as words of sh and as
 * they are.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of expressions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "expressions.h"
#include "support/usual.h"

#include <sys/wait.h>

#define RUNS_DEFAULT 120
#define BATCH 250 /* expressions about the same rows */
#define WORDS_MAX 512
#define DEPTH_MAX 4
#define FAMILY "rows"

/* ------------------------------------------------------------ spelling --- */

/* An expression as words. */
struct words {
    char *texts[WORDS_MAX];
    size_t count;
};

__attribute__((format(printf, 2, 3))) static void
put(struct colander_buffer *text, const char *format, ...)
{
    SCOPED_MEMORY char *piece = NULL;
    va_list list;

    va_start(list, format);
    assert_true(vasprintf(&piece, format, list) >= 0);
    va_end(list);
    OK(colander_buffer_append(text, piece, strlen(piece), NULL));
}

/* Takes the text as the next word. */
static void
add_word(struct words *words, struct colander_buffer *text)
{
    OK(colander_buffer_append(text, "", 1, NULL));
    assert_true(words->count < WORDS_MAX);
    words->texts[words->count++] = (char *)text->data;
    *text = (struct colander_buffer)COLANDER_BUFFER_EMPTY;
}

static void
add_joint(struct words *words, const char *joint)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    for (bool is_large = chance(4) == 0; *joint != '\0'; joint++)
        put(&text, "%c", is_large && *joint >= 'a' ? *joint - 32 : *joint);
    add_word(words, &text);
}

static void
words_release(struct words *words)
{
    while (words->count > 0)
        free(words->texts[--words->count]);
}

static bool
is_plain(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || (byte & 0x80) != 0;
}

/* Escapes what may be an operator, and other characters as they come. */
static void
put_path(struct colander_buffer *text, const char *path)
{
    for (; *path != '\0'; path++) {
        const bool is_escaped = *path == '\\';

        if (is_escaped && path[1] == 'x') { /* two digits follow */
            put(text, "%.4s", path);
            path += 3;
            continue;
        }
        path += is_escaped;
        if ((is_escaped || is_plain(*path)) && chance(8) == 0)
            put(text, chance(2) == 0 ? "\\x%02x" : "\\x%02X",
                (unsigned char)*path);
        else if (is_escaped || !(is_plain(*path) || strchr(".[]", *path)))
            put(text, "\\%c", *path);
        else
            put(text, "%c", *path);
    }
}

/* As a string in JSON. */
static void
put_quoted(struct colander_buffer *text, const char *string)
{
    put(text, "\"");
    for (; *string != '\0'; string++) {
        const bool must = *string < ' ' && *string > 0;

        if (must || ((*string & 0x80) == 0 && chance(8) == 0))
            put(text, "\\u%04x", (unsigned char)*string);
        else if (*string == '"' || *string == '\\')
            put(text, "\\%c", *string);
        else
            put(text, "%c", *string);
    }
    put(text, "\"");
}

/* Whether a text means itself without quotes. Texts of `spelled` are quoted. */
static bool
is_bare(const char *string, bool is_prefix)
{
    static const char *const others[] = {"true", "null", "1",
                                         "1e0",  "2",    "2026"};

    for (size_t i = 0; i < COUNT(others); i++) {
        if (!is_prefix && strcmp(string, others[i]) == 0)
            return false;
    }
    return strcmp(string, "@ann") == 0 ||
           (is_plain(string[0]) && strchr(string, '\n') == NULL);
}

static void
put_operand(struct colander_buffer *text, const struct operand *operand,
            enum kind kind)
{
    const char *string = operand->scalars[0].data;

    if (operand->spelling != NULL)
        put(text, "%s", operand->spelling);
    else if (kind != IN && is_bare(string, kind == PREFIX) && chance(2) == 0)
        put(text, "%s", string);
    else
        put_quoted(text, string);
}

static void
add_leaf(struct words *words, const struct question *leaf)
{
    static const char *const signs[] = {"=", "!=", "<", "<=", ">", ">="};
    static const char *const gaps[] = {"", " ", "", "\t"};
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    put_path(&text, leaf->path);
    if (leaf->kind == EXISTS || leaf->kind == MISSING) {
        put(&text, leaf->kind == EXISTS ? "?" : "!");
    } else if (leaf->kind == IN) {
        put(&text, "=[%s", gaps[chance(4)]);
        for (size_t i = 0; i < leaf->count; i++) {
            put(&text, "%s%s", i > 0 ? "," : "", gaps[chance(4)]);
            put_operand(&text, &leaf->operands[i], IN);
            put(&text, "%s", gaps[chance(4)]);
        }
        put(&text, "]");
    } else {
        put(&text, "%s",
            leaf->kind == PREFIX ? "~" : signs[(size_t)leaf->comparison]);
        put_operand(&text, &leaf->operands[0], leaf->kind);
    }
    add_word(words, &text);
}

/* Adds the words of a question, which is an operand of `around`: of SOME if
 * anything may stand there. */
static void
add_question(struct words *words, const struct question *question,
             enum kind around)
{
    const bool has_brackets = chance(6) == 0 ||
                              (question->kind == SOME && around != SOME) ||
                              (question->kind == ALL && around == NO);

    if (has_brackets)
        add_joint(words, "(");
    if (question->kind < ALL)
        add_leaf(words, question);
    if (question->kind == NO)
        add_joint(words, "not");
    for (size_t i = 0; question->kind >= ALL && i < question->count; i++) {
        if (i > 0 && (question->kind == SOME || chance(2) == 0))
            add_joint(words, question->kind == SOME ? "or" : "and");
        add_question(words, question->parts[i], question->kind);
    }
    if (has_brackets)
        add_joint(words, ")");
}

/* As a string in Lua. */
static void
put_lua_text(struct colander_buffer *text, const char *string)
{
    put(text, "\"");
    for (; *string != '\0'; string++)
        put(text, is_plain(*string) ? "%c" : "\\%03u", (unsigned char)*string);
    put(text, "\"");
}

/* As a condition in Lua: all words, or parts of it joined by operators. */
static void
put_lua(struct colander_buffer *text, const struct question *question)
{
    SCOPED(words_release) struct words words = {.count = 0};

    if (question->kind >= ALL && chance(2) == 0) {
        put(text, question->kind == NO ? "~(" : "(");
        for (size_t i = 0; i < question->count; i++) {
            put(text, i == 0 ? "" : question->kind == ALL ? " & " : " | ");
            put_lua(text, question->parts[i]);
        }
        put(text, ")");
        return;
    }
    add_question(&words, question, SOME);
    put(text, "where{");
    for (size_t i = 0; i < words.count; i++) {
        put_lua_text(text, words.texts[i]);
        put(text, ",");
    }
    put(text, "}");
}

static void
put_lua_any(struct colander_buffer *text, const struct operand *operand)
{
    const char *spelling = operand->spelling;

    if (spelling == NULL) {
        put(text, " & any_column(");
        put_lua_text(text, operand->scalars[0].data);
        put(text, ")");
    } else if (operand->has_instants) {
        put(text, " & any_column(colander.timestamp(\"%s\"))", spelling);
    } else if (operand->count ==
               2) { /* a number, which text would be as well */
        put(text, " & (any_column(%s) | any_column(\"%s\"))", spelling,
            spelling);
    } else {
        put(text, " & any_column(%s)", spelling);
    }
}

/* As a word of sh. */
static void
put_word(struct colander_buffer *text, const char *word)
{
    const uint64_t style = chance(3);
    const char *special = style == 0 ? "'" : style == 1 ? "\"\\$`" : NULL;

    if (word[0] != '\0' && word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
                                             "0123456789@-_=.")] == '\0') {
        put(text, " %s", word);
        return;
    }
    put(text, style == 0 ? " '" : style == 1 ? " \"" : " ");
    if (style == 2 && word[0] == '\0')
        put(text, "''");
    for (; *word != '\0'; word++) {
        if (special != NULL ? strchr(special, *word) != NULL : !is_plain(*word))
            put(text, style == 0 ? "'\\'" : "\\");
        put(text, "%c", *word);
    }
    put(text, style == 0 ? "'" : style == 1 ? "\"" : "");
}

/* ---------------------------------------------------------------- asked --- */

/* What is asked: all of these. */
struct asked {
    struct question *expression;
    struct question *any;      /* may be NULL: --any */
    struct question *contains; /* may be NULL: --where */
    bool is_found[ROWS];
};

static void
asked_draw(struct asked *asked, const struct sample *sample)
{
    memset(asked, 0, sizeof(*asked));
    asked->expression = question_draw(sample, (int)chance(DEPTH_MAX + 1));
    if (chance(5) == 0) {
        asked->any = calloc(1, sizeof(*asked->any));
        assert_non_null(asked->any);
        asked->any->kind = ANY;
        asked->any->count = 1;
        do /* a time without a text is one instant */
            asked->any->operands[0] = operand_draw(false);
        while (asked->any->operands[0].count == 0 &&
               is_before(&asked->any->operands[0].first,
                         &asked->any->operands[0].last));
    }
    if (chance(5) == 0) {
        asked->contains = calloc(1, sizeof(*asked->contains));
        assert_non_null(asked->contains);
        asked->contains->kind = CONTAINS;
        do
            asked->contains->path = path_of(place_draw(sample));
        while (is_plural(asked->contains->path));
        asked->contains->count = 1;
        asked->contains->operands[0] = random_text();
    }
    for (size_t i = 0; i < ROWS; i++)
        asked->is_found[i] =
            is_true(asked->expression, &sample->layouts[i]) &&
            (asked->any == NULL || is_true(asked->any, &sample->layouts[i])) &&
            (asked->contains == NULL ||
             is_true(asked->contains, &sample->layouts[i]));
}

static void
asked_release(struct asked *asked)
{
    question_destroy(asked->expression);
    if (asked->any != NULL)
        question_destroy(asked->any);
    if (asked->contains != NULL)
        question_destroy(asked->contains);
}

/* Fails unless the keys are those of the rows that are expected. They are the
 * first number in each line of `answer`. */
static void
check_answer(const bool *is_expected, const char *answer, const char *who,
             const char *text)
{
    SCOPED_BUFFER expected = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER found = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < ROWS; i++) {
        if (is_expected[i])
            put(&expected, " %zu", i);
    }
    for (; *answer != '\0'; answer++) {
        answer += strcspn(answer, "0123456789\n");
        if (*answer == '\0')
            break;
        if (*answer != '\n')
            put(&found, " %lu", strtoul(answer, NULL, 10));
        answer += strcspn(answer, "\n");
    }
    if (!colander_slice_equal(colander_buffer_slice(&expected),
                              colander_buffer_slice(&found)))
        fail_msg("%s finds%.*s, not%.*s, for\n%s", who, (int)found.size,
                 (const char *)found.data, (int)expected.size,
                 (const char *)expected.data, text);
}

/* Takes the predicate. */
static void
check_predicate(struct colander_family *family, const struct asked *asked,
                struct colander_predicate *predicate, const char *who,
                const char *text)
{
    SCOPED_BUFFER answer = COLANDER_BUFFER_EMPTY;
    struct colander_query query = usual_query();
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    bool is_row = true;

    if (predicate == NULL)
        fail_msg("%s refuses %s: %s", who, text, error_text());
    query.where = predicate;
    OK(colander_family_find(family, &query, &cursor, why()));
    while (is_row) {
        OK(colander_cursor_next(cursor, &is_row, &result, why()));
        if (!is_row)
            break;
        OK(colander_json_append_key(&answer, result.key, NULL));
        put(&answer, "\n");
    }
    put(&answer, "\n");
    OK(colander_buffer_append(&answer, "", 1, NULL));
    check_answer(asked->is_found, (const char *)answer.data, who, text);
    colander_cursor_close(cursor);
    cursor = NULL;
    colander_predicate_destroy(predicate);
}

static struct colander_predicate *
by_words(const struct asked *asked, const struct words *words, const char *any)
{
    const char *const *list = (const char *const *)words->texts;
    struct colander_predicate *parts[3] = {NULL};
    size_t offset;
    size_t count = 0;

    parts[count++] =
        words->count == 1
            ? colander_where_text(list[0], why())
            : colander_where_words(list, words->count, NULL, why());
    if (any != NULL)
        parts[count++] = colander_where_any_text(any, &offset, why());
    if (asked->contains != NULL)
        parts[count++] = by_hand(asked->contains);
    return colander_all_of(parts, count, NULL);
}

static struct colander_predicate *
all_by_hand(const struct asked *asked)
{
    struct colander_predicate *all = by_hand(asked->expression);

    if (asked->any != NULL)
        all = join(ALL, all, by_hand(asked->any));
    return asked->contains == NULL ? all
                                   : join(ALL, all, by_hand(asked->contains));
}

/* ------------------------------------------------------------- programs --- */

/* Runs a program, which must succeed, and returns what it prints. Its notes are
 * shown only if it fails. */
static char *
output_of(const char *const *arguments, const char *text)
{
    struct colander_buffer output = COLANDER_BUFFER_EMPTY;
    FILE *notes = tmpfile();
    char bytes[4096];
    int ends[2];
    int status;
    ssize_t size;
    pid_t child;

    assert_non_null(notes);
    ZERO(pipe(ends));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(fileno(notes), STDERR_FILENO);
        close(ends[0]);
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    close(ends[1]);
    while ((size = read(ends[0], bytes, sizeof(bytes))) > 0)
        OK(colander_buffer_append(&output, bytes, (size_t)size, NULL));
    close(ends[0]);
    OK(colander_buffer_append(&output, "", 1, NULL));
    assert_true(waitpid(child, &status, 0) == child);
    if (status != 0) {
        size = pread(fileno(notes), bytes, sizeof(bytes), 0);
        fail_msg("status %d of\n%s\n%.*s", status, text, (int)size, bytes);
    }
    fclose(notes);
    return (char *)output.data;
}

/* The words of a find after the name of the family, of all that is asked. */
static void
add_find(struct words *words, const struct asked *asked)
{
    static const char *const formats[] = {"csv", "jsonl", "table", "tsv"};
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    add_question(words, asked->expression, SOME);
    if (asked->any != NULL) {
        put(&text, "--any=");
        put_operand(&text, &asked->any->operands[0], ANY);
        add_word(words, &text);
    }
    if (asked->contains != NULL) {
        put(&text, "--where=contains(row(");
        put_lua_text(&text, asked->contains->path);
        put(&text, "), ");
        put_lua_text(&text, asked->contains->operands[0].scalars[0].data);
        put(&text, ")");
        add_word(words, &text);
    }
    put(&text, "--select=_key");
    add_word(words, &text);
    put(&text, "--format=%s", formats[chance(COUNT(formats))]);
    add_word(words, &text);
}

/* Appends the words, each after a space. */
static void
put_find(struct colander_buffer *line, const struct asked *asked)
{
    SCOPED(words_release) struct words words = {.count = 0};

    add_find(&words, asked);
    put(line, " " FAMILY);
    for (size_t i = 0; i < words.count; i++)
        put_word(line, words.texts[i]);
}

/* Half of the words pass through sh. */
static void
check_program(const struct sample *sample, const struct asked *asked)
{
    SCOPED(words_release) struct words words = {.count = 0};
    SCOPED_BUFFER line = COLANDER_BUFFER_EMPTY;
    SCOPED_MEMORY char *answer = NULL;
    const char *arguments[WORDS_MAX + 5] = {"sh", "-c", NULL};
    bool is_direct = chance(2) == 0;

    put(&line, "exec \"$COLANDER\" find '%s'", sample->directory);
    put_find(&line, asked);
    put(&line, "%s", "");
    OK(colander_buffer_append(&line, "", 1, NULL));
    arguments[2] = (const char *)line.data;
    if (is_direct) {
        add_find(&words, asked);
        arguments[0] = getenv("COLANDER");
        arguments[1] = "find";
        arguments[2] = sample->directory;
        arguments[3] = FAMILY;
        memcpy(&arguments[4], words.texts, words.count * sizeof(char *));
    }
    answer = output_of(arguments, (const char *)line.data);
    check_answer(asked->is_found, answer,
                 is_direct ? "the program" : "the program of a shell",
                 (const char *)line.data);
}

/* One line of the prompt, .find or Lua. */
static void
put_entry(struct colander_buffer *line, const struct asked *asked)
{
    if (chance(2) == 0) {
        put(line, ".find");
        put_find(line, asked);
        return;
    }
    put(line, "for key in " FAMILY ":find(");
    put_lua(line, asked->expression);
    if (asked->any != NULL)
        put_lua_any(line, &asked->any->operands[0]);
    if (asked->contains != NULL) {
        put(line, " & where{[");
        put_lua_text(line, asked->contains->path);
        put(line, "] = contains(");
        put_lua_text(line, asked->contains->operands[0].scalars[0].data);
        put(line, ")}");
    }
    put(line, ") do print(key) end");
}

/* ---------------------------------------------------------------- tests --- */

static void
sample_make(struct sample *sample)
{
    struct colander_options options = usual_options();
    struct colander_store *store;
    struct colander_family *family;

    temporary_make(sample->directory);
    OK(colander_store_open(sample->directory, &options, &store, why()));
    OK(colander_family_open(store, FAMILY, &family, why()));
    for (int64_t i = 0; i < ROWS; i++) {
        const struct colander_value part = colander_integer(i);
        struct colander_key key;

        sample->rows[i] = row_draw();
        layout_init(&sample->layouts[i], sample->rows[i]);
        OK(colander_family_put(family, colander_key_of(&key, &part, 1),
                               sample->rows[i], NULL, why()));
    }
    colander_family_close(family);
    OK(colander_store_close(store, why()));
}

static void
sample_drop(struct sample *sample)
{
    for (size_t i = 0; i < ROWS; i++) {
        layout_release(&sample->layouts[i]);
        free((void *)(uintptr_t)sample->rows[i].data);
    }
    temporary_remove(sample->directory);
}

/* Asks the library and the program. Adds an entry for the prompt. */
static void
check_asked(const struct sample *sample, struct colander_family *family,
            const struct asked *asked, struct colander_buffer *entries)
{
    SCOPED(words_release) struct words words = {.count = 0};
    SCOPED_BUFFER any = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;

    add_question(&words, asked->expression, SOME);
    if (asked->any != NULL) {
        put_operand(&any, &asked->any->operands[0], ANY);
        OK(colander_buffer_append(&any, "", 1, NULL));
    }
    for (size_t i = 0; i < words.count; i++)
        put(&text, "%s\n", words.texts[i]);
    OK(colander_buffer_append(&text, "", 1, NULL));
    check_predicate(family, asked, all_by_hand(asked), "a predicate by hand",
                    (const char *)text.data);
    check_predicate(
        family, asked,
        by_words(asked, &words, asked->any != NULL ? (char *)any.data : NULL),
        "C", (const char *)text.data);
    check_program(sample, asked);
    put_entry(entries, asked);
    put(entries, "\nprint('#')\n");
}

/* Runs the entries, and compares each answer. */
static void
check_entries(const struct sample *sample, const struct asked *asked,
              size_t count, struct colander_buffer *entries)
{
    SCOPED_MEMORY char *answers = NULL;
    SCOPED_MEMORY char *command = NULL;
    SCOPED_MEMORY char *path = NULL;
    char *answer;
    char *entry = (char *)entries->data;
    FILE *file;

    assert_true(asprintf(&path, "%s.in", sample->directory) > 0);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(entries->data, 1, entries->size, file),
                     entries->size);
    ZERO(fclose(file));
    assert_true(asprintf(&command, "exec \"$COLANDER\" shell %s --readonly <%s",
                         sample->directory, path) > 0);
    answers = output_of((const char *[]){"sh", "-c", command, NULL}, command);
    ZERO(remove(path));
    answer = answers;
    for (size_t i = 0; i < count; i++) {
        const char *one = strsep(&answer, "#");
        const char *line = strsep(&entry, "\n");

        assert_non_null(answer);
        check_answer(asked[i].is_found, one, "an entry of the prompt", line);
        (void)strsep(&entry, "\n");
    }
}

TEST(every_way_to_ask_finds_the_rows_of_the_same_predicate)
{
    static struct sample sample;
    static struct asked asked[BATCH];
    const uint64_t runs = random_runs(RUNS_DEFAULT);
    uint64_t telling = 0;

    assert_non_null(getenv("COLANDER"));
    for (uint64_t run = 0; run < runs; run += BATCH) {
        const size_t count = runs - run < BATCH ? runs - run : BATCH;
        struct colander_options options = usual_options();
        SCOPED_BUFFER entries = COLANDER_BUFFER_EMPTY;
        struct colander_store *store;
        struct colander_family *family;

        sample_make(&sample);
        options.mode = COLANDER_OPEN_READ_ONLY;
        OK(colander_store_open(sample.directory, &options, &store, why()));
        OK(colander_family_open(store, FAMILY, &family, why()));
        for (size_t i = 0; i < count; i++) {
            size_t found = 0;

            asked_draw(&asked[i], &sample);
            check_asked(&sample, family, &asked[i], &entries);
            for (size_t row = 0; row < ROWS; row++)
                found += asked[i].is_found[row];
            telling += found > 0 && found < ROWS;
            asked_release(&asked[i]);
        }
        check_entries(&sample, asked, count, &entries);
        colander_family_close(family);
        OK(colander_store_close(store, why()));
        sample_drop(&sample);
    }
    print_message("%" PRIu64 " expressions, %" PRIu64
                  " of which some rows meet\n",
                  runs, telling);
    assert_true(runs < 1000 || telling >= runs / 4);
}
