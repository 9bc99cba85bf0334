/* See line_input.h. SPDX-License-Identifier: MIT */
#include "shell/line_input.h"
#include "shell/interrupt.h"
#include "shell/text.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HISTORY_LINES 1000
#define LINE_SIZE_MAX (16u << 20) /* about, of one that is not typed */

struct line_input {
    FILE *file;         /* the lines, borrowed; or */
    line_source source; /* has them; or */
    EditLine *editor;   /* they are typed here */
    FILE *terminal;     /* standard output as it was at first */
    History *history;
    char *history_path; /* NULL: it is not saved */
    const char *prompt; /* borrowed while a line is read */
    line_completer complete;
    void *context;                /* of `complete`, or of `source` */
    struct colander_buffer given; /* by `source` */
    char *line;
    size_t capacity;
    bool is_dropped; /* Ctrl-C was typed, */
    bool was_empty;  /* on an empty line */
};

static struct line_input *
input_of(EditLine *editor)
{
    struct line_input *input = NULL;

    (void)el_get(editor, EL_CLIENTDATA, (void **)&input);
    return input;
}

static char *
prompt(EditLine *editor)
{
    static char none[] = "";
    const struct line_input *input = input_of(editor);

    return input == NULL || input->prompt == NULL ? none
                                                  : (char *)input->prompt;
}

/* ---------------------------------------------------------- history --- */

char *
user_file_path(const char *variable, const char *fallback, const char *name)
{
    const char *place = getenv(variable);
    const char *home = getenv("HOME");
    char *path = NULL;
    int size = -1;

    /* the XDG rules: a path that is not absolute counts as none */
    if (place != NULL && place[0] == '/')
        size = asprintf(&path, "%s/colander/%s", place, name);
    else if (home != NULL && home[0] == '/')
        size = asprintf(&path, "%s/%s/colander/%s", home, fallback, name);
    return size < 0 ? NULL : path;
}

/* Creates the missing directories of `path`. */
static bool
make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        int status;

        *slash = '\0';
        status = mkdir(path, 0700);
        *slash = '/';
        if (status != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

/* Returns the path of the history, which the caller frees, or NULL. */
static char *
find_history_path(void)
{
    char *path = user_file_path("XDG_STATE_HOME", ".local/state", "history");

    if (path == NULL || make_directories(path))
        return path;
    free(path);
    return NULL;
}

/* Writes the history to a new file and renames it, so that no one else can read
 * it at any time and a full disk loses nothing. */
static void
save_history(const struct line_input *input)
{
    HistEvent event;
    char *path = NULL;
    FILE *file;
    bool is_saved;
    int fd;

    if (input->history_path == NULL ||
        asprintf(&path, "%s.XXXXXX", input->history_path) < 0)
        return;
    fd = mkstemp(path);
    file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) {
        if (fd >= 0) {
            close(fd);
            unlink(path);
        }
        free(path);
        return;
    }
    is_saved = history(input->history, &event, H_SAVE_FP, file) >= 0;
    if (fclose(file) != 0 || !is_saved ||
        rename(path, input->history_path) != 0)
        unlink(path);
    free(path);
}

static bool
start_history(struct line_input *input)
{
    HistEvent event;

    input->history = history_init();
    if (input->history == NULL)
        return false;
    (void)history(input->history, &event, H_SETSIZE, HISTORY_LINES);
    (void)history(input->history, &event, H_SETUNIQUE, 1);
    input->history_path = find_history_path();
    if (input->history_path != NULL) /* may not exist yet */
        (void)history(input->history, &event, H_LOAD, input->history_path);
    return true;
}

/* ----------------------------------------------------------- editor --- */

/* Ctrl-C while a line is edited. It is read as a key, because a signal between
 * two reads would interrupt neither. */
static unsigned char
drop_line(EditLine *editor, int key)
{
    struct line_input *input = input_of(editor);
    const LineInfo *line = el_line(editor);

    (void)key;
    if (input != NULL) {
        input->is_dropped = true;
        input->was_empty = line != NULL && line->lastchar == line->buffer;
    }
    return CC_EOF;
}

/* Ctrl-Z, read as a key. The editor's own handler blocks the signal while it
 * sends it, so another thread would stop the program later, after the line is
 * drawn again. Without that handler kill() returns when the program continues,
 * and the line is drawn after that. */
static unsigned char
suspend(EditLine *editor, int key)
{
    struct sigaction standard;
    struct sigaction editors;

    (void)key;
    memset(&standard, 0, sizeof(standard));
    standard.sa_handler = SIG_DFL;
    sigemptyset(&standard.sa_mask);
    (void)el_set(editor, EL_PREP_TERM, 0);
    (void)sigaction(SIGTSTP, &standard, &editors);
    (void)kill(0, SIGTSTP);
    (void)sigaction(SIGTSTP, &editors, NULL);
    (void)el_set(editor, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
}

/* ------------------------------------------------------- completion --- */

/* Tab. The texts are C strings. */
static unsigned char
complete_line(EditLine *editor, int key)
{
    struct line_input *input = input_of(editor);
    const LineInfo *line = el_line(editor);
    struct colander_buffer added = COLANDER_BUFFER_EMPTY;
    struct colander_buffer listing = COLANDER_BUFFER_EMPTY;
    unsigned char done = CC_ERROR;

    (void)key;
    if (input == NULL || input->complete == NULL || line == NULL)
        return CC_ERROR;
    input->complete(
        input->context,
        colander_slice_of(line->buffer, (size_t)(line->cursor - line->buffer)),
        &added, &listing);
    if (added.size > 0 && el_insertstr(editor, (const char *)added.data) == 0) {
        done = CC_REFRESH;
    } else if (listing.size > 0) {
        fprintf(input->terminal, "\n%s\n", (const char *)listing.data);
        done = CC_REDISPLAY;
    }
    colander_buffer_release(&added);
    colander_buffer_release(&listing);
    return done;
}

/* ------------------------------------------------------------- keys --- */

/* Binds a key in both maps of the editor, for the commands of vi too. */
static void
bind_key(EditLine *editor, const char *key, const char *name)
{
    (void)el_set(editor, EL_BIND, key, name, NULL);
    (void)el_set(editor, EL_BIND, "-a", key, name, NULL);
}

static void
bind_keys(EditLine *editor)
{
    (void)el_set(editor, EL_SETTY, "-d", "-isig", NULL);
    /* the narrow form leaks copies of the texts */
    (void)el_wset(editor, EL_ADDFN, L"colander-drop-line", L"drops the line",
                  drop_line);
    (void)el_wset(editor, EL_ADDFN, L"colander-suspend", L"stops the program",
                  suspend);
    (void)el_wset(editor, EL_ADDFN, L"colander-complete", L"completes a name",
                  complete_line);
    bind_key(editor, "^I", "colander-complete");
    bind_key(editor, "^C", "colander-drop-line");
    bind_key(editor, "^Z", "colander-suspend");
}

/* The prompt is not affected by what a script does to standard output. */
static FILE *
open_terminal(void)
{
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

static bool
start_editor(struct line_input *input)
{
    input->terminal = open_terminal();
    if (input->terminal == NULL)
        return false;
    input->editor = el_init("colander", stdin, input->terminal, stderr);
    if (input->editor == NULL)
        return false;
    (void)el_set(input->editor, EL_CLIENTDATA, input);
    (void)el_set(input->editor, EL_PROMPT, prompt);
    (void)el_set(input->editor, EL_EDITOR, "emacs");
    (void)el_set(input->editor, EL_SIGNAL, 1);
    (void)el_set(input->editor, EL_HIST, history, input->history);
    (void)el_set(input->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    (void)el_source(input->editor, NULL);
    bind_keys(input->editor); /* last: the user's file may change the maps */
    return true;
}

enum colander_code
line_input_open_terminal(line_completer complete, void *context,
                         struct line_input **input, struct colander_error *err)
{
    struct line_input *opened = calloc(1, sizeof(*opened));

    *input = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for input");
    opened->complete = complete;
    opened->context = context;
    if (!start_history(opened) || !start_editor(opened)) {
        line_input_close(opened);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot edit lines here");
    }
    *input = opened;
    return COLANDER_OK;
}

enum colander_code
line_input_open_file(FILE *file, struct line_input **input,
                     struct colander_error *err)
{
    *input = calloc(1, sizeof(**input));
    if (*input == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for input");
    (*input)->file = file;
    return COLANDER_OK;
}

enum colander_code
line_input_open_source(line_source source, void *context,
                       struct line_input **input, struct colander_error *err)
{
    *input = calloc(1, sizeof(**input));
    if (*input == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for input");
    (*input)->source = source;
    (*input)->context = context;
    return COLANDER_OK;
}

void
line_input_close(struct line_input *input)
{
    if (input == NULL)
        return;
    if (input->editor != NULL)
        el_end(input->editor);
    if (input->terminal != NULL)
        (void)fclose(input->terminal);
    if (input->history != NULL)
        history_end(input->history);
    colander_buffer_release(&input->given);
    free(input->history_path);
    free(input->line);
    free(input);
}

/* Returns why no line was read. */
static enum colander_code
explain_end(const struct line_input *input, bool is_end,
            struct colander_error *err)
{
    int number = errno;

    if (input->is_dropped || interrupt_happened())
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "interrupted");
    if (is_end)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_IO, "cannot read input: %s",
                         strerror(number));
}

static enum colander_code
read_typed(struct line_input *input, const char **line,
           struct colander_error *err)
{
    const char *typed;
    int size = 0;

    input->is_dropped = false;
    input->was_empty = false;
    /* before the prompt, so that the keys are the editor's when it appears */
    (void)el_set(input->editor, EL_PREP_TERM, 1);
    typed = el_gets(input->editor, &size);
    if (typed == NULL || size <= 0)
        return explain_end(input, size == 0, err);
    free(input->line);
    input->line = strndup(typed, strcspn(typed, "\r\n"));
    if (input->line == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a line");
    *line = input->line;
    return COLANDER_OK;
}

/* Reads a line as getline does, of at most LINE_SIZE_MAX bytes: clients of a
 * server send what they like. Returns -1 at the end, or with `is_long`. */
static ssize_t
read_line(struct line_input *input, bool *is_long)
{
    size_t size = 0;
    int next = 0;

    *is_long = false;
    while (next != '\n' && (next = getc(input->file)) != EOF) {
        if (size + 1 >= input->capacity) {
            const size_t capacity = 2 * input->capacity + 100;
            char *line =
                size < LINE_SIZE_MAX ? realloc(input->line, capacity) : NULL;

            *is_long = line == NULL;
            if (*is_long)
                return -1;
            input->line = line;
            input->capacity = capacity;
        }
        input->line[size++] = (char)next;
    }
    if (size == 0 || ferror(input->file) != 0)
        return -1;
    input->line[size] = '\0';
    return (ssize_t)size;
}

static enum colander_code
read_plain(struct line_input *input, const char **line,
           struct colander_error *err)
{
    bool is_long;
    ssize_t size = read_line(input, &is_long);

    if (is_long)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "a line of more than %u bytes", LINE_SIZE_MAX);
    if (size < 0)
        return explain_end(input, feof(input->file) != 0, err);
    if (strlen(input->line) != (size_t)size)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the line has a zero byte in it");
    if (size > 0 && input->line[size - 1] == '\n')
        input->line[--size] = '\0';
    if (size > 0 && input->line[size - 1] == '\r')
        input->line[--size] = '\0';
    *line = input->line;
    return COLANDER_OK;
}

/* Reads a line that is typed elsewhere. */
static enum colander_code
read_given(struct line_input *input, bool is_new, const char **line,
           struct colander_error *err)
{
    struct colander_buffer *given = &input->given;
    enum colander_code code;
    bool is_end = false;

    colander_buffer_clear(given);
    code = input->source(input->context, input->prompt, is_new, given, &is_end,
                         err);
    if (code == COLANDER_OK && memchr(given->data, '\0', given->size) != NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "the line has a zero byte in it");
    if (code == COLANDER_OK)
        code = colander_buffer_append(given, "", 1, err);
    if (code == COLANDER_OK && !is_end)
        *line = (const char *)given->data;
    return code;
}

enum colander_code
line_input_read(struct line_input *input, const char *prompt_text, bool is_new,
                const char **line, struct colander_error *err)
{
    enum colander_code code;

    *line = NULL;
    input->prompt = prompt_text;
    if (input->source != NULL)
        return read_given(input, is_new, line, err);
    interrupt_ends_reads(true);
    code = input->editor != NULL ? read_typed(input, line, err)
                                 : read_plain(input, line, err);
    interrupt_ends_reads(false);
    return code;
}

void
line_input_end_line(struct line_input *input)
{
    if (input->terminal == NULL)
        return;
    fputc('\n', input->terminal);
    (void)fflush(input->terminal);
}

bool
line_input_is_second_interrupt(const struct line_input *input, bool is_new)
{
    if (!is_new || !input->was_empty) {
        interrupt_count_again();
        return false;
    }
    if (interrupt_note())
        return true;
    fprintf(stderr, "Ctrl-D leaves\n");
    return false;
}

static void
remember_line(struct line_input *input, const char *text)
{
    HistEvent event;

    if (text[strspn(text, " \t")] == '\0')
        return;
    (void)history(input->history, &event, H_ENTER, text);
    save_history(input);
}

void
line_input_remember(struct line_input *input, struct colander_slice entry)
{
    char *text = input->history == NULL ? NULL : text_copy(entry);
    char *rest;

    if (text == NULL)
        return;
    if (strstr(text, "--") == NULL && strstr(text, "[[") == NULL &&
        strstr(text, "[=") == NULL && strchr(text, '\\') == NULL) {
        for (char *end = text; (end = strchr(end, '\n')) != NULL;)
            *end = ' ';
    }
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        remember_line(input, line);
    free(text);
}
