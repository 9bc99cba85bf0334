/*
 * The prompt, on a pseudo-terminal: what somebody at a keyboard meets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "colander.h"
#include "support/temporary.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT_MS 30000 /* so long without a word, and the program hangs */
#define PROMPT "colander> "
#define ROW_COUNT 50000

static char directory[TEMPORARY_SIZE];
static char store_path[TEMPORARY_SIZE + 16];
static char history_path[TEMPORARY_SIZE + 32];

/* The program on a terminal of its own, and what it has shown. */
struct session {
    pid_t pid;
    int fd;
    struct colander_buffer shown; /* since the last expect, with a zero */
    size_t total;                 /* bytes shown in all */
};

static void
execute(void)
{
    setenv("TERM", "dumb", 1);
    execl(getenv("COLANDER"), "colander", "shell", store_path, (char *)NULL);
    _exit(127);
}

/* What a shell with job control does: the program gets the terminal, and when
 * it stops that is told, and it goes on. */
static void
execute_as_job(void)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        (void)signal(SIGTTOU, SIG_IGN);
        tcsetpgrp(STDIN_FILENO, getpid());
        (void)signal(SIGTTOU, SIG_DFL);
        execute();
    }
    while (pid > 0 && waitpid(pid, &status, WUNTRACED) == pid &&
           WIFSTOPPED(status)) {
        dprintf(STDOUT_FILENO, "[stopped]");
        kill(pid, SIGCONT);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

static void
start_by(struct session *session, void (*run)(void))
{
    const struct winsize size = {.ws_row = 24, .ws_col = 80};

    memset(session, 0, sizeof(*session));
    assert_non_null(getenv("COLANDER"));
    session->pid = forkpty(&session->fd, NULL, NULL, &size);
    assert_true(session->pid >= 0);
    if (session->pid == 0)
        run();
}

static void
start(struct session *session)
{
    start_by(session, execute);
}

/* Reads some of what is shown; false at the end. */
static bool
read_some(struct session *session)
{
    struct pollfd poll_fd = {session->fd, POLLIN, 0};
    char bytes[4096];
    ssize_t size;

    if (poll(&poll_fd, 1, WAIT_MS) <= 0)
        fail_msg("the program hangs after '%.*s'", (int)session->shown.size,
                 (const char *)session->shown.data);
    size = read(session->fd, bytes, sizeof(bytes));
    if (size <= 0)
        return false;
    session->total += (size_t)size;
    assert_int_equal(
        colander_buffer_append(&session->shown, bytes, (size_t)size, NULL),
        COLANDER_OK);
    return true;
}

/* Waits until `text` is shown, and forgets all up to its end. */
static void
expect(struct session *session, const char *text)
{
    size_t size = strlen(text);
    const uint8_t *at;

    while ((at = session->shown.size == 0
                     ? NULL
                     : memmem(session->shown.data, session->shown.size, text,
                              size)) == NULL) {
        if (!read_some(session))
            fail_msg("'%s' never came after '%.*s'", text,
                     (int)session->shown.size,
                     (const char *)session->shown.data);
    }
    at += size;
    session->shown.size -= (size_t)(at - session->shown.data);
    memmove(session->shown.data, at, session->shown.size);
}

static void
type(struct session *session, const char *text)
{
    assert_int_equal(write(session->fd, text, strlen(text)),
                     (ssize_t)strlen(text));
}

/* Waits for the end; how the program exits. */
static int
finish(struct session *session)
{
    int status = 0;

    while (read_some(session))
        continue;
    assert_int_equal(waitpid(session->pid, &status, 0), session->pid);
    close(session->fd);
    colander_buffer_release(&session->shown);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
put_rows(struct colander_store *store, struct colander_family *family)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_batch *batch;
    struct colander_slice row;

    assert_non_null(builder);
    assert_int_equal(colander_batch_create(store, &batch, NULL), COLANDER_OK);
    for (int64_t i = 0; i < ROW_COUNT; i++) {
        struct colander_value part = colander_integer(i);

        assert_int_equal(colander_key_encode(&part, 1, &key, NULL),
                         COLANDER_OK);
        colander_row_builder_add(builder, "user", colander_text("Smith"));
        colander_row_builder_add(builder, "number", part);
        assert_int_equal(colander_row_builder_finish(builder, &row, NULL),
                         COLANDER_OK);
        assert_int_equal(colander_batch_put(batch, family,
                                            colander_buffer_slice(&key), row,
                                            NULL),
                         COLANDER_OK);
    }
    assert_int_equal(colander_batch_commit(batch, COLANDER_AS_STORE, NULL),
                     COLANDER_OK);
    colander_batch_destroy(batch);
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
}

static int
make_store(void **state)
{
    struct colander_store *store;
    struct colander_family *family;

    (void)state;
    temporary_make(directory);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    snprintf(history_path, sizeof(history_path), "%s/colander/history",
             directory);
    setenv("HOME", directory, 1);
    setenv("XDG_STATE_HOME", directory, 1);
    unsetenv("EDITRC");
    assert_int_equal(colander_store_open(store_path, NULL, &store, NULL),
                     COLANDER_OK);
    assert_int_equal(colander_family_open(store, "tweets", &family, NULL),
                     COLANDER_OK);
    put_rows(store, family);
    colander_family_close(family);
    assert_int_equal(colander_store_close(store, NULL), COLANDER_OK);
    return 0;
}

static int
remove_store(void **state)
{
    (void)state;
    temporary_remove(directory);
    return 0;
}

static void
a_find_at_the_prompt_shows_a_table_and_its_counts(void **state)
{
    struct session session;

    (void)state;
    start(&session);
    expect(&session, PROMPT);
    type(&session, "find tweets number=7\r");
    expect(&session, "_key  user   number\r\n");
    expect(&session, "\n7     Smith       7\r\n");
#ifdef COLANDER_FILTERS
    expect(&session, "1 row: read ");
    expect(&session, " of about 50,000 rows (");
#else
    expect(&session, "1 row: scanned 50,000 rows (");
#endif
    expect(&session, PROMPT);
    type(&session, "quit\r");
    assert_int_equal(finish(&session), 0);
}

static void
a_failed_command_leaves_the_prompt(void **state)
{
    struct session session;

    (void)state;
    start(&session);
    expect(&session, PROMPT);
    type(&session, "find tweets number\r");
    expect(&session, "find: expected =, !=");
    expect(&session, "    number\r\n          ^\r\n");
    expect(&session, PROMPT);
    type(&session, "families\r");
    expect(&session, "tweets");
    expect(&session, PROMPT);
    type(&session, "\x04");
    assert_int_equal(finish(&session), 0);
}

static void
ctrl_c_stops_a_find_and_returns_to_the_prompt(void **state)
{
    struct session session;

    (void)state;
    start(&session);
    expect(&session, PROMPT);
    type(&session, "find tweets --format jsonl\r");
    expect(&session, "{\"_key\":10,");
    type(&session, "\x03");
    expect(&session, "interrupted");
    expect(&session, PROMPT);
    assert_true(session.total < ROW_COUNT * strlen("{\"_key\":1}") / 2);
    type(&session, "find tweets --count\r");
    expect(&session, "\n50000\r\n");
    expect(&session, PROMPT);
    type(&session, "quit\r");
    assert_int_equal(finish(&session), 0);
}

static void
ctrl_c_at_the_prompt_drops_the_line(void **state)
{
    struct session session;

    (void)state;
    start(&session);
    expect(&session, PROMPT);
    type(&session, "quit no, not yet");
    expect(&session, "not yet");
    type(&session, "\x03");
    expect(&session, PROMPT);
    type(&session, "find tweets number=8 --count\r");
    expect(&session, "\n1\r\n");
    type(&session, "quit\r");
    assert_int_equal(finish(&session), 0);
}

static void
ctrl_z_suspends_and_keeps_the_line(void **state)
{
    struct session session;

    (void)state;
    start_by(&session, execute_as_job);
    expect(&session, PROMPT);
    type(&session, "find tweets num");
    expect(&session, "num");
    type(&session, "\x1a");
    expect(&session, "[stopped]");
    expect(&session, PROMPT "find tweets num");
    type(&session, "ber=8 --count\r");
    expect(&session, "\n1\r\n");
    expect(&session, PROMPT);
    type(&session, "quit\r");
    assert_int_equal(finish(&session), 0);
}

static void
a_second_shell_runs_beside_the_first(void **state)
{
    struct session sessions[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        start(&sessions[i]);
        expect(&sessions[i], PROMPT);
        type(&sessions[i], "find tweets number=8 --count\r");
        expect(&sessions[i], "\n1\r\n");
    }
    for (int i = 0; i < 2; i++) {
        type(&sessions[i], "quit\r");
        assert_int_equal(finish(&sessions[i]), 0);
    }
}

static void
the_history_comes_back_and_is_for_its_owner_only(void **state)
{
    struct session session;
    struct stat status;

    (void)state;
    start(&session);
    expect(&session, PROMPT);
    type(&session, "find tweets number=4321 --count\r");
    expect(&session, "\n1\r\n");
    type(&session, "quit\r");
    assert_int_equal(finish(&session), 0);
    assert_int_equal(stat(history_path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);

    start(&session);
    expect(&session, PROMPT);
    type(&session, "\x10\x10"); /* Ctrl-P: past "quit" */
    expect(&session, "number=4321 --count");
    type(&session, "\r");
    expect(&session, "\n1\r\n");
    type(&session, "quit\r");
    assert_int_equal(finish(&session), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_find_at_the_prompt_shows_a_table_and_its_counts),
        cmocka_unit_test(a_failed_command_leaves_the_prompt),
        cmocka_unit_test(ctrl_c_stops_a_find_and_returns_to_the_prompt),
        cmocka_unit_test(ctrl_c_at_the_prompt_drops_the_line),
        cmocka_unit_test(ctrl_z_suspends_and_keeps_the_line),
        cmocka_unit_test(a_second_shell_runs_beside_the_first),
        cmocka_unit_test(the_history_comes_back_and_is_for_its_owner_only),
    };

    return cmocka_run_group_tests(tests, make_store, remove_store);
}
