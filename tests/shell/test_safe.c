/*
 * Untrusted scripts: those of hostile_scripts all end as they should, use no
 * more memory than permitted, change nothing, and find no way out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "colander.h"
#include "core/clock.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/temporary.h"
#include "support/terminal.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_SHORT "0.1" /* for scripts that it must end */
#define SECONDS_SOAK "1"    /* the same in script/soak */
#define SECONDS_LONG "20"   /* for what ends earlier, even on a busy machine */
#define MEMORY "32m"
/* of a process: the limit of Lua, and what an open store needs */
#define MEMORY_KB_MAX ((32 + 96) * 1024)
#define ROW_COUNT 5000

static char directory[TEMPORARY_SIZE];
static char store_path[TEMPORARY_SIZE + 16];
static char out_path[TEMPORARY_SIZE + 16];
static char err_path[TEMPORARY_SIZE + 16];
static unsigned complaint_count;

/* The result of a run. */
struct run {
    int status;
    long memory_kb; /* of the largest process */
    double seconds;
    char out[65536];
    char err[65536];
};

static void
read_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    size_t count;

    assert_non_null(file);
    count = fread(text, 1, size - 1, file);
    for (size_t i = 0; i < count; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
    }
    text[count] = '\0';
    (void)fclose(file);
}

/* Runs the program with arguments, ended by NULL. */
static void
run_program(struct run *run, const char *const *words)
{
    const double start = clock_seconds();
    struct rusage usage;
    int status = 0;
    pid_t pid;

    assert_non_null(getenv("COLANDER"));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (freopen("/dev/null", "r", stdin) == NULL ||
            freopen(out_path, "w", stdout) == NULL ||
            freopen(err_path, "w", stderr) == NULL)
            _exit(126);
        execv(getenv("COLANDER"), (char *const *)words);
        _exit(127);
    }
    assert_int_equal(wait4(pid, &status, 0, &usage), pid);
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    run->memory_kb = usage.ru_maxrss;
    run->seconds = clock_seconds() - start;
    read_file(out_path, run->out, sizeof(run->out));
    read_file(err_path, run->err, sizeof(run->err));
}

static void
run_code(struct run *run, const char *seconds, const char *code)
{
    const char *const words[] = {"colander", "shell", store_path, "--safe",
                                 "--time",   seconds, "--memory", MEMORY,
                                 "--output", "1m",    "-e",       code,
                                 NULL};

    run_program(run, words);
}

static int
make_store(void **state)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_store *store;
    struct colander_family *family;
    struct colander_slice row;

    temporary_make(directory);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    snprintf(out_path, sizeof(out_path), "%s/out", directory);
    snprintf(err_path, sizeof(err_path), "%s/err", directory);
    OK(colander_store_open(store_path, NULL, &store, NULL));
    OK(colander_family_open(store, "tweets", &family, NULL));
    for (int64_t i = 0; i < ROW_COUNT; i++) {
        struct colander_value part = colander_integer(i);
        char text[64];

        snprintf(text, sizeof(text), "text number %d", (int)i);
        OK(colander_key_encode(&part, 1, &key, NULL));
        colander_row_builder_add(builder, "user", colander_text("Smith"));
        colander_row_builder_add(builder, "likes", part);
        colander_row_builder_add(builder, "text", colander_text(text));
        OK(colander_row_builder_finish(builder, &row, NULL));
        OK(colander_family_put(family, colander_buffer_slice(&key), row, NULL,
                               NULL));
    }
    colander_row_builder_destroy(builder);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
    return 0;
}

static int
remove_store(void **state)
{
    temporary_remove(directory);
    return 0;
}

/* Returns whether the run ended as `ending` says. */
static bool
has_ended(const struct run *run, const char *ending)
{
    const bool is_late = strstr(run->err, "it took longer than") != NULL;
    const bool is_long = strstr(run->err, "it printed more than") != NULL;

    if (strcmp(ending, "fine") == 0)
        return run->status == 0 && run->err[0] == '\0';
    if (strcmp(ending, "any") == 0)
        return run->status == 0 || run->status == 1;
    if (run->status != 1)
        return false;
    if (strcmp(ending, "time") == 0)
        return is_late;
    if (strcmp(ending, "output") == 0)
        return is_long;
    if (strcmp(ending, "memory") == 0)
        return !is_late && !is_long && strstr(run->err, "memory") != NULL;
    if (strcmp(ending, "error") == 0)
        return !is_late && !is_long && run->err[0] != '\0';
    fail_msg("no ending is called '%s'", ending);
    return false;
}

/* A checksum over the files of the store, names and bytes. */
static unsigned long
sum_store(void)
{
    char command[TEMPORARY_SIZE + 64];
    unsigned long sum = 0;
    FILE *list;

    snprintf(command, sizeof(command),
             "find '%s' -type f | sort | xargs cksum | cksum", store_path);
    list = popen(command, "r");
    assert_non_null(list);
    assert_int_equal(fscanf(list, "%lu", &sum), 1);
    ZERO(pclose(list));
    return sum;
}

/* Continues, so that one run reports on all scripts. */
static void __attribute__((format(printf, 1, 2)))
complain(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    complaint_count++;
}

/* Runs one script; `heading` is "ending: name". */
static void
check_script(char *heading, const char *code, struct run *most)
{
    static struct run run;
    char *name = strstr(heading, ": ");
    const char *seconds = SECONDS_LONG;

    assert_non_null(name);
    *name = '\0';
    name += 2;
    if (strcmp(heading, "time") == 0 || strcmp(heading, "any") == 0)
        seconds =
            getenv("COLANDER_RUNS") == NULL ? SECONDS_SHORT : SECONDS_SOAK;
    run_code(&run, seconds, code);
    if (!has_ended(&run, heading))
        complain("'%s' exits %d, and is to end by %s: %s%s", name, run.status,
                 heading, run.out, run.err);
    if (strstr(run.out, "ESCAPED") != NULL)
        complain("'%s' has found what it should not have: %s", name, run.out);
    if (strchr(run.err, '\33') != NULL)
        complain("'%s' sends the terminal what it likes", name);
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory counts */
    if (run.memory_kb > MEMORY_KB_MAX)
        complain("'%s' takes %ld KiB", name, run.memory_kb);
#endif
    if (run.memory_kb > most->memory_kb)
        most->memory_kb = run.memory_kb;
    if (run.seconds > most->seconds)
        most->seconds = run.seconds;
}

TEST(hostile_scripts_end_and_find_no_way_out)
{
    const char *path = getenv("HOSTILE_SCRIPTS");
    const unsigned long before = sum_store();
    static struct run most;
    struct run *run = &most;
    char heading[200] = "";
    char code[8192] = "";
    char line[2048];
    unsigned count = 0;
    FILE *file;

    assert_non_null(path);
    file = fopen(path, "r");
    assert_non_null(file);
    for (bool is_line = true; is_line;) {
        is_line = fgets(line, sizeof(line), file) != NULL;
        if (heading[0] != '\0' && (!is_line || strncmp(line, "#! ", 3) == 0)) {
            check_script(heading, code, run);
            count++;
        }
        if (is_line && strncmp(line, "#! ", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(heading, sizeof(heading), "%.190s", line + 3);
            code[0] = '\0';
        } else if (is_line && heading[0] != '\0') {
            strncat(code, line, sizeof(code) - strlen(code) - 1);
        }
    }
    (void)fclose(file);
    assert_true(count >= 120);
    assert_int_equal(complaint_count, 0);
    print_message("%u scripts: %.2f seconds and %ld KiB at most\n", count,
                  most.seconds, most.memory_kb);
    assert_int_equal(sum_store(), before);
    run_code(run, SECONDS_LONG, "tweets:count()");
    assert_string_equal(run->out, "5000\n");
}

TEST(a_script_gets_its_words_and_the_store)
{
    char path[TEMPORARY_SIZE + 16];
    const char *const words[] = {"colander", "shell", store_path, "--safe",
                                 path,       "--a",   "b",        NULL};
    static struct run run;
    FILE *file;

    snprintf(path, sizeof(path), "%s/script.lua", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("#!/usr/bin/env colander\nprint(#arg, arg[1], tweets:count{likes = "
          "lt(3)}, ...)",
          file);
    ZERO(fclose(file));
    run_program(&run, words);
    assert_string_equal(run.err, "");
    assert_string_equal(run.out, "2\t--a\t3\t--a\tb\n");
    assert_int_equal(run.status, 0);
}

TEST(an_expression_is_shown)
{
    static struct run run;

    run_code(&run, SECONDS_LONG, "tweets:find{likes = 7}:select('likes')");
    assert_string_equal(run.out, "{\"_key\":7,\"likes\":7}\n");
    assert_int_equal(run.status, 0);
}

TEST(mistakes_are_reported_with_their_place)
{
    static struct run run;

    run_code(&run, SECONDS_LONG, "local x = 1\nlocal y = x.y.z");
    assert_int_equal(run.status, 1);
    assert_non_null(strstr(run.err, "-e:2: attempt to index a number value"));
    assert_non_null(strstr(run.err, "stack traceback:"));
    run_code(&run, SECONDS_LONG, "io.open('x')");
    assert_non_null(strstr(run.err, "(global 'io'): --safe has none\n"));
    run_code(&run, SECONDS_LONG, "nothing.open('x')");
    assert_null(strstr(run.err, "--safe has none"));
}

/* Starts the program on the code; its standard output is `out`. */
static pid_t
start_code(const char *seconds, const char *code, int out)
{
    const char *const words[] = {"colander", "shell",  store_path,
                                 "--safe",   "--time", seconds,
                                 "-e",       code,     NULL};
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        if (dup2(out, STDOUT_FILENO) < 0)
            _exit(126);
        execv(getenv("COLANDER"), (char *const *)words);
        _exit(127);
    }
    return pid;
}

/* The process that the program has started; waits for it. */
static pid_t
child_of(pid_t pid)
{
    char path[64];
    int child = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
             (int)pid);
    while (child == 0) {
        FILE *file = fopen(path, "r");

        assert_non_null(file);
        if (fscanf(file, "%d", &child) != 1)
            child = 0;
        (void)fclose(file);
        usleep(1000);
    }
    return child;
}

/* Waits until there is no such process, or it is a zombie. */
static void
await_end(pid_t pid)
{
    char path[64];
    char state = '\0';

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    while (state != 'Z') {
        FILE *file = fopen(path, "r");

        if (file == NULL)
            return;
        if (fscanf(file, "%*d %*s %c", &state) != 1)
            state = 'Z';
        (void)fclose(file);
        usleep(1000);
    }
}

static int
exit_of(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(a_script_ends_when_its_output_is_not_read)
{
    int fds[2];
    pid_t pid;

    ZERO(pipe(fds));
    pid = start_code("1", "while true do print(('x'):rep(1000)) end", fds[1]);
    assert_int_equal(exit_of(pid), 1);
    close(fds[0]);
    close(fds[1]);
}

TEST(a_script_dies_with_its_parent)
{
    const int out = open("/dev/null", O_WRONLY);
    pid_t pid;
    pid_t child;

    assert_true(out >= 0);
    pid = start_code("1000", "while true do end", out);
    child = child_of(pid);
    ZERO(kill(pid, SIGKILL));
    assert_int_equal(exit_of(pid), -1);
    await_end(child);
    close(out);
}

TEST(ctrl_c_ends_a_script)
{
    const int out = open("/dev/null", O_WRONLY);
    pid_t pid;
    pid_t child;

    assert_true(out >= 0);
    pid = start_code("1000", "while true do end", out);
    child = child_of(pid);
    ZERO(kill(pid, SIGINT));
    assert_int_equal(exit_of(pid), 130);
    await_end(child);
    close(out);
}

TEST(a_failure_is_one_also_where_children_are_ignored)
{
    char command[TEMPORARY_SIZE * 2 + 256];

    snprintf(command, sizeof(command),
             "trap '' CHLD; exec '%s' shell '%s' --safe -e 'error(1)' 2>'%s'",
             getenv("COLANDER"), store_path, err_path);
    assert_int_equal(WEXITSTATUS(system(command)), 1);
}

TEST(a_terminal_gets_no_control_characters)
{
    const char *const words[] = {"colander", "shell",
                                 store_path, "--safe",
                                 "-e",       "print('\\27[2J<\\194\\155>')",
                                 NULL};
    struct terminal terminal;

    terminal_start(&terminal, words);
    terminal_expect(&terminal, "?[2J<\302?>\r\n");
    assert_int_equal(terminal_finish(&terminal), 0);
}

int
main(void)
{
    return tests_run(make_store, remove_store);
}
