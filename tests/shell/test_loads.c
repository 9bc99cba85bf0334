/*
 * Loads from the point of view of a user at a terminal, and with hostile input:
 * progress, Ctrl-C, resuming; and inputs that are hard to read, each of which
 * has a defined result, in bounded memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "colander.h"
#include "core/clock.h"
#include "support/terminal.h"
#include "support/user_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* Two runs of 64 MiB, one of which is written while the other one is filled;
 * a few chunks of 8 MiB before them; the filters of a file in the making; and
 * what malloc keeps for its threads, which depends on how they are run. */
#define MEMORY_KB_MAX (320 * 1024)
#define ROWS 1000000 /* of a load that takes a while */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

static char said[65536]; /* standard error of the last run */

static void
write_rows(size_t count)
{
    FILE *file = fopen(file_path, "we");

    assert_non_null(file);
    for (size_t i = 0; i < count; i++)
        fprintf(file,
                "{\"n\":%zu,\"user\":\"user%zu\",\"text\":\"some text %zu\"}\n",
                i, i % 1000, i * 7919);
    ZERO(fclose(file));
}

/* ------------------------------------------------------------ terminal --- */

DIRECTORY_TEST(progress_is_shown_and_ctrl_c_stops_so_that_resume_continues)
{
    const char *const words[] = {"colander", "load",    store_path,
                                 "f",        file_path, NULL};
    const char *const again[] = {"colander", "load",     store_path, "f",
                                 file_path,  "--resume", NULL};
    struct terminal terminal;
    uint64_t count;

    write_rows(ROWS);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, " %, ");
    terminal_expect(&terminal, " rows/s, ");
    terminal_expect(&terminal, " MB/s, ");
    terminal_expect(&terminal, " left");
    terminal_type(&terminal, "\x03");
    terminal_expect(&terminal, "\r\x1b[Kcolander: load: interrupted");
    terminal_expect(&terminal, " rows loaded");
    terminal_expect(&terminal,
                    "to continue from the resume point, add --resume");
    assert_int_equal(terminal_finish(&terminal), 130);
    count = count_rows("f");
    assert_in_range(count, 1, ROWS - 1);
    terminal_start(&terminal, again);
    terminal_expect(&terminal, " rows loaded");
    assert_int_equal(terminal_finish(&terminal), 0);
    assert_int_equal(count_rows("f"), ROWS);
}

DIRECTORY_TEST(progress_is_shown_ten_times_a_second_at_most)
{
    const char *const words[] = {"colander", "load",    store_path,
                                 "f",        file_path, NULL};
    struct terminal terminal;
    double start = clock_seconds();
    size_t shown = 0;

    write_rows(ROWS);
    terminal_start(&terminal, words);
    terminal_await_end(&terminal);
    for (size_t i = 0; i < terminal.shown.size; i++)
        shown += terminal.shown.data[i] == '%';
    assert_int_equal(terminal_finish(&terminal), 0);
    assert_in_range(shown, 1, (size_t)((clock_seconds() - start) * 10) + 1);
}

/* Runs a command that succeeds. */
static void
run_at_terminal(const char *const *words)
{
    struct terminal terminal;

    terminal_start(&terminal, words);
    assert_int_equal(terminal_finish(&terminal), 0);
}

/* Writes a row of this time. */
static void
write_time(int64_t second)
{
    FILE *file = fopen(file_path, "we");

    assert_non_null(file);
    fprintf(file, "{\"_key\":%lld,\"at\":%lld}\n", (long long)second,
            (long long)second);
    ZERO(fclose(file));
}

/* What is deleted while a log is followed does not end up in its progress. */
DIRECTORY_TEST(a_line_about_deleted_rows_takes_the_place_of_progress)
{
    const char *const load[] = {"colander", "load",   store_path,     "f",
                                file_path,  "--type", "at=time:unix", NULL};
    const char *const time[] = {"colander", "families", store_path, "f",
                                "--time",   "at",       NULL};
    const char *const keep[] = {"colander", "retain", store_path, "f",
                                "--keep",   "1d",     NULL};
    const char *const follow[] = {
        "colander", "load",         store_path, "f", file_path,
        "--type",   "at=time:unix", "--follow", NULL};
    struct terminal terminal;

    write_time(1600000000);
    run_at_terminal(load);
    run_at_terminal(time);
    run_at_terminal(keep);
    write_time(1700000000);
    run_at_terminal(load);
    assert_int_equal(count_rows("f"), 2);
    terminal_start(&terminal, follow);
    terminal_expect(&terminal, "\r\x1b[Kf: 1 row deleted\r\n");
    terminal_type(&terminal, "\x03");
    assert_int_equal(terminal_finish(&terminal), 0);
    assert_int_equal(count_rows("f"), 1);
}

DIRECTORY_TEST(ctrl_c_ends_a_wait_for_input)
{
    const char *const words[] = {"colander", "load",    store_path,
                                 "f",        file_path, NULL};
    struct terminal terminal;
    int pipe_end;

    assert_int_equal(mkfifo(file_path, 0600), 0);
    terminal_start(&terminal, words);
    pipe_end = open(file_path, O_RDWR | O_CLOEXEC); /* does not wait */
    assert_true(pipe_end >= 0);
    assert_int_equal(write(pipe_end, "{\"a\":1}\n", 8), 8);
    usleep(500000); /* it is read, though more may follow */
    terminal_type(&terminal, "\x03");
    terminal_expect(&terminal, "interrupted");
    terminal_expect(&terminal, "1 row loaded");
    assert_int_equal(terminal_finish(&terminal), 130);
    close(pipe_end);
}

DIRECTORY_TEST(a_load_that_fails_does_not_wait_for_more_of_its_pipe)
{
    const char *program = getenv("COLANDER");
    pid_t loader;
    int in[2];
    int status;

    assert_non_null(program);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    loader = fork();
    if (loader == 0) {
        dup2(in[0], STDIN_FILENO);
        alarm(60); /* ends it if nothing else does */
        execl(program, program, "load", store_path, "f", "--format", "jsonl",
              "--max-errors", "0", NULL);
        _exit(127);
    }
    assert_int_equal(write(in[1], "bad\n", 4), 4);
    assert_int_equal(waitpid(loader, &status, 0), loader);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    close(in[0]);
    close(in[1]);
}

/* -------------------------------------------------------- hostile input --- */

/* Writes the input. A reader that has stopped reading is not an error. */
typedef void hostile_input(FILE *file);

static void
repeat(FILE *file, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fputs(text, file);
}

static void
long_line(FILE *file)
{
    static char piece[1 << 20];

    memset(piece, 'x', sizeof(piece));
    fputs("{\"a\":1}\n{\"a\":\"", file);
    for (int i = 0; i < MEMORY_KB_MAX / 1024 + 64; i++)
        fwrite(piece, 1, sizeof(piece), file);
    fputs("\"}\n{\"a\":2}\n", file);
}

static void
long_csv_quote(FILE *file)
{
    static char piece[1 << 20];

    memset(piece, 'y', sizeof(piece));
    piece[79] = '\n';
    fputs("a,b\n1,2\n\"3,4\n", file);
    for (int i = 0; i < 200; i++)
        fwrite(piece, 1, sizeof(piece), file);
    fputs("\n5,6\n", file);
}

static void
deep_arrays(FILE *file)
{
    fputs("{\"a\":1}\n{\"a\":", file);
    repeat(file, "[", 1000000);
    repeat(file, "]", 1000000);
    fputs("}\n{\"a\":2}\n", file);
}

static void
deep_objects(FILE *file)
{
    fputs("[{\"a\":1},\n{\"a\":", file);
    repeat(file, "{\"a\":", 1000000);
    fputs("1", file);
    repeat(file, "}", 1000000);
    fputs("},\n{\"a\":2}]\n", file);
}

static void
deep_msgpack(FILE *file)
{
    fputs("\x81\xa1"
          "a\x01\x81\xa1"
          "a",
          file);
    repeat(file, "\x91", 1000000);
    fputs("\x01\x81\xa1"
          "a\x02",
          file);
}

static void
write_columns(FILE *file, int count)
{
    fputs("{\"a\":1}\n{", file);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s\"c%d\":1", i == 0 ? "" : ",", i);
    fputs("}\n{\"a\":2}\n", file);
}

static void
many_columns(FILE *file)
{
    write_columns(file, 1000000);
}

static void
fewer_columns(FILE *file)
{
    write_columns(file, 600000);
}

static void
many_csv_columns(FILE *file)
{
    for (int i = 0; i < 1000000; i++)
        fprintf(file, "%sc%d", i == 0 ? "" : ",", i);
    fputs("\n1,2\n", file);
}

/* Many values in few bytes, which take many times more memory when parsed. */
static void
dense_values(FILE *file)
{
    for (int i = 0; i < 6; i++) {
        fputs("{\"a\":[1", file);
        repeat(file, ",1", 4000000);
        fputs("]}\n", file);
    }
}

static void
empty_objects(FILE *file)
{
    repeat(file, "{}\n", 1000000);
}

static void
only_rejects(FILE *file)
{
    repeat(file, "x\n", 2000000);
}

static void
msgpack_that_promises(FILE *file)
{
    fwrite("\x81\xa1\x61\x01\x81\xa1\x61\xdb\xff\xff\xff\xff never", 1, 18,
           file);
}

/* Rows that are 500 times as large as their records. */
static void
long_csv_names(FILE *file)
{
    for (int i = 0; i < 500; i++)
        fprintf(file, "%s%01000d", i > 0 ? "," : "", i);
    for (int row = 0; row < 300; row++) {
        fputs("\n1", file);
        repeat(file, ",1", 499);
    }
}

static void
unclosed_array(FILE *file)
{
    fputs("[{\"a\":1},\n{\"a\":2}\n", file);
}

static void
nul_bytes(FILE *file)
{
    fputs("{\"a\":1}\n", file);
    for (int i = 0; i < 1000000; i++)
        fputc('\0', file);
    fputs("\n{\"a\":2}\n", file);
}

static const struct hostile {
    const char *name;
    hostile_input *write;
    const char *format;
    int status;
    uint64_t row_count;
    const char *says;
} hostiles[] = {
    {"long_line", long_line, "jsonl", 3, 2,
     "-:2:1: the record is larger than the record size of 8388608 bytes"},
    {"long_csv_quote", long_csv_quote, "csv", 3, 2, "-:3:1: "},
    {"deep_arrays", deep_arrays, "jsonl", 3, 2, "-:2:"},
    {"deep_objects", deep_objects, "json", 3, 2, "-:2:"},
    {"deep_msgpack", deep_msgpack, "msgpack", 3, 2, "-:1:"},
    {"many_columns", many_columns, "jsonl", 3, 2,
     "-:2:1: the record is larger than the record size of 8388608 bytes"},
    {"fewer_columns", fewer_columns, "jsonl", 3, 2, "more than 100000"},
    {"many_csv_columns", many_csv_columns, "csv", 1, 0, "100000"},
    {"long_csv_names", long_csv_names, "csv", 0, 300, "300 rows loaded"},
    {"dense_values", dense_values, "jsonl", 0, 6, "6 rows loaded"},
    {"empty_objects", empty_objects, "jsonl", 0, 1000000, "1,000,000 rows"},
    {"only_rejects", only_rejects, "jsonl", 3, 0,
     "1999990 more records were rejected"},
    {"msgpack_that_promises", msgpack_that_promises, "msgpack", 3, 1,
     "-:1:19: the file ends inside a value"},
    {"unclosed_array", unclosed_array, "json", 3, 2, "-:3:1: "},
    {"nul_bytes", nul_bytes, "jsonl", 3, 2, "-:2:1: "},
};

/* Runs `load STORE NAME - --format FORMAT` with the input. Returns its exit
 * status and its peak memory. */
static int
load_hostile(const struct hostile *it, long *memory_kb)
{
    const char *program = getenv("COLANDER");
    struct rusage usage;
    int in[2];
    int err[2];
    pid_t loader;
    pid_t writer;
    size_t size = 0;
    ssize_t got;
    int status;

    assert_non_null(program);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    loader = fork();
    if (loader == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(err[1], STDERR_FILENO);
        execl(program, program, "load", store_path, it->name, "-", "--format",
              it->format, NULL);
        _exit(127);
    }
    writer = fork();
    if (writer == 0) {
        FILE *file = fdopen(in[1], "w");

        signal(SIGPIPE, SIG_IGN);
        it->write(file);
        fclose(file);
        _exit(0);
    }
    close(in[0]);
    close(in[1]);
    close(err[1]);
    while (size < sizeof(said) - 1 &&
           (got = read(err[0], said + size, sizeof(said) - 1 - size)) > 0)
        size += (size_t)got;
    said[size] = '\0';
    close(err[0]);
    assert_int_equal(wait4(loader, &status, 0, &usage), loader);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    assert_true(WIFEXITED(status));
    *memory_kb = usage.ru_maxrss;
    return WEXITSTATUS(status);
}

DIRECTORY_TEST(hostile_input_has_its_outcome_in_bounded_memory)
{
    unsigned complaint_count = 0;

    for (size_t i = 0; i < COUNT(hostiles); i++) {
        const struct hostile *it = &hostiles[i];
        long memory_kb;
        int status = load_hostile(it, &memory_kb);
        uint64_t count = count_rows(it->name);

        fflush(stdout);
        printf("%-22s exit %d, %ld MiB\n", it->name, status, memory_kb / 1024);
        if (status == it->status && count == it->row_count &&
            strstr(said, it->says) != NULL &&
            (IS_SANITIZED || memory_kb <= MEMORY_KB_MAX))
            continue;
        printf("FAILED: exit %d, %llu rows, '%.2000s'\n", status,
               (unsigned long long)count, said);
        complaint_count++;
    }
    assert_int_equal(complaint_count, 0);
}
