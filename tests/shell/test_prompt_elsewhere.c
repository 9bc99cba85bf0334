/*
 * The prompt of a shell whose store a server holds, in a pseudo-terminal; and
 * how many of them a server has.
 *
 * SPDX-License-Identifier: MIT
 */
#include "colander.h"
#include "support/cases.h"
#include "support/temporary.h"
#include "support/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROMPT "colander> "
#define MORE "      ... "
#define SCRIPTS 4 /* that a server runs at once, */
#define SHELLS 16 /* and that it has */

static char directory[TEMPORARY_SIZE];
static char store_path[TEMPORARY_SIZE + 16];
static char history_path[TEMPORARY_SIZE + 32];
static char token_path[TEMPORARY_SIZE + 16];
static char address[64]; /* at which clients run Lua that only reads */
static pid_t server;

/* Starts a server, and waits until it says that it is ready. */
static void
start_server(void)
{
    static const char at[] = " at ";
    int ready[2];
    char said[2 * TEMPORARY_SIZE] = "";
    const char *place;

    ZERO(pipe2(ready, O_CLOEXEC));
    server = fork();
    assert_true(server >= 0);
    if (server == 0) {
        if (dup2(ready[1], STDOUT_FILENO) == STDOUT_FILENO)
            execl(getenv("COLANDER"), "colander", "serve", store_path,
                  "--listen", "127.0.0.1:0", "--token-file", token_path,
                  "--lua", (char *)NULL);
        _exit(127);
    }
    ZERO(close(ready[1]));
    assert_true(read(ready[0], said, sizeof(said) - 1) > 0);
    ZERO(close(ready[0]));
    place = strstr(said, at);
    assert_non_null(place);
    place += strlen(at);
    (void)snprintf(address, sizeof(address), "%.*s", (int)strcspn(place, "\n"),
                   place);
}

static int
make_store(void **state)
{
    const struct colander_value part = colander_integer(7);
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_family *family;
    struct colander_store *store;
    struct colander_slice row;

    temporary_make(directory);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    snprintf(history_path, sizeof(history_path), "%s/colander/history",
             directory);
    snprintf(token_path, sizeof(token_path), "%s/token", directory);
    setenv("COLANDER_TOKEN_FILE", token_path, 1);
    setenv("HOME", directory, 1);
    setenv("XDG_STATE_HOME", directory, 1);
    setenv("XDG_CONFIG_HOME", directory, 1);
    unsetenv("EDITRC");
    OK(colander_store_open(store_path, NULL, &store, why()));
    OK(colander_family_open(store, "tweets", &family, why()));
    OK(colander_key_encode(&part, 1, &key, why()));
    colander_row_builder_add(builder, "user", colander_text("Smith"));
    colander_row_builder_add(builder, "number", part);
    OK(colander_row_builder_finish(builder, &row, why()));
    OK(colander_family_put(family, colander_buffer_slice(&key), row, NULL,
                           why()));
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    colander_family_close(family);
    OK(colander_store_close(store, why()));
    start_server();
    return 0;
}

static int
remove_store(void **state)
{
    int status;

    ZERO(kill(server, SIGTERM));
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    temporary_remove(directory);
    return 0;
}

static struct terminal terminal; /* of a test */

static void
start(struct terminal *shell)
{
    const char *const words[] = {"colander", "shell", store_path, NULL};

    terminal_start(shell, words);
    terminal_expect(shell, PROMPT);
}

/* Types a line, and waits until `text` and then the prompt are shown. */
static void
enter(struct terminal *shell, const char *line, const char *text)
{
    terminal_type(shell, line);
    terminal_type(shell, "\r");
    terminal_expect(shell, "\r\n");
    terminal_expect(shell, text);
    terminal_expect(shell, PROMPT);
}

static void
quit(struct terminal *shell)
{
    terminal_type(shell, ".quit\r");
    assert_int_equal(terminal_finish(shell), 0);
}

/* Types keys, and waits until `text` is shown. */
static void
show(struct terminal *shell, const char *keys, const char *text)
{
    terminal_type(shell, keys);
    terminal_expect(shell, text);
}

TEST(a_line_is_edited_here_and_run_there)
{
    start(&terminal);
    show(&terminal, "tweets:find{number = 7}\r", "_key  number  user\r\n");
    terminal_expect(&terminal, "1 row\r\n" PROMPT);
    show(&terminal, "'writ'\x02te\x02\r", "\nwritte\r\n"); /* Ctrl-B */
    terminal_expect(&terminal, PROMPT);
    show(&terminal, "for i = 1, 2 do\r", MORE);
    show(&terminal, "print('round', i)\r", MORE);
    show(&terminal, "end\r", "\r\nround\t1\r\nround\t2\r\n");
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, "kept = 5", "");
    enter(&terminal, "kept", "5\r\n");
    enter(&terminal, "quit()", "attempt to call a nil value");
    terminal_type(&terminal, "\x04");
    assert_int_equal(terminal_finish(&terminal), 0);
}

TEST(tab_asks_the_server)
{
    start(&terminal);
    show(&terminal, "twe\t", "tweets");
    show(&terminal, ":fin\t\t", "find        find_value");
    show(&terminal, "{numb\t", "tweets:find{number");
    show(&terminal, " = 7}:sel\t", "= 7}:select");
    show(&terminal, "(\"us\t", "(\"user");
    show(&terminal, "\")\r", "\n7     Smith\r\n");
    terminal_expect(&terminal, PROMPT);
    show(&terminal, ".fam\t", ".families");
    enter(&terminal, "", "sst_files");
    show(&terminal, ".read /etc/hos\t", ".read /etc/hos");
    show(&terminal, "X", "\aX"); /* it is not of the client */
    terminal_type(&terminal, "\x15");
    quit(&terminal);
}

TEST(a_prompt_at_an_address_has_the_same)
{
    const char *const words[] = {"colander", "shell", address, NULL};

    terminal_start(&terminal, words);
    terminal_expect(&terminal, PROMPT);
    show(&terminal, "twe\t", "tweets");
    show(&terminal, ":sca\t", ":scan"); /* and not what writes */
    show(&terminal, "\x15tweets:pu\t", "tweets:pu");
    show(&terminal, "X", "\aX");
    show(&terminal, "\x15tweets:find{}\r", "\n7     Smith       7\r\n");
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, "tweets:put('k', {})", "refused: this Lua only reads");
    show(&terminal, "print('it ' .. 'runs') while true do end\r", "it runs");
    show(&terminal, "\x03", "interrupted");
    terminal_expect(&terminal, PROMPT);
    quit(&terminal);
}

TEST(the_history_is_that_of_every_shell)
{
    char other[TEMPORARY_SIZE + 16];
    const char *const here[] = {"colander", "shell", other, NULL};
    char *text = NULL;
    size_t size = 0;
    FILE *file;

    start(&terminal);
    show(&terminal, "tweets:count{\r", MORE);
    show(&terminal, "number = 4321}\r", "\n0\r\n");
    terminal_expect(&terminal, PROMPT);
    show(&terminal, "dropped {\r", MORE);
    show(&terminal, "\x03", PROMPT);
    quit(&terminal);
    file = fopen(history_path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    assert_null(strstr(text, "dropped"));
    free(text);
    ZERO(fclose(file));
    (void)snprintf(other, sizeof(other), "%s/other", directory);
    terminal_start(&terminal, here); /* a store that no one serves */
    terminal_expect(&terminal, PROMPT);
    show(&terminal, "\x10\x10", "tweets:count{ number = 4321}"); /* Ctrl-P */
    terminal_type(&terminal, "\x15");
    quit(&terminal);
}

TEST(ctrl_c_stops_what_runs_there)
{
    static const char *const endless[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do tweets:count{number = 5} end",
        "coroutine.wrap(function() while true do end end)()",
    };

    start(&terminal);
    for (size_t i = 0; i < COUNT(endless); i++) {
        terminal_type(&terminal, "print('it ' .. 'runs') ");
        terminal_type(&terminal, endless[i]);
        show(&terminal, "\r", "it runs");
        show(&terminal, "\x03", "interrupted");
        terminal_expect(&terminal, PROMPT);
    }
    show(&terminal, "for i = 1, 1e9 do print(i) end\r", "\n3\r\n");
    show(&terminal, "\x03", "interrupted");
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, "tweets:count()", "1\r\n");
    quit(&terminal);
}

TEST(ctrl_c_at_the_prompt_drops_the_entry_or_leaves)
{
    start(&terminal);
    show(&terminal, "error('not dropped')", "dropped");
    show(&terminal, "\x03", PROMPT);
    show(&terminal, "tweets:count{\r", MORE);
    show(&terminal, "\x03", PROMPT);
    enter(&terminal, "tweets:count{number = 7}", "1\r\n");
    show(&terminal, "\x03", "Ctrl-D leaves\r\n" PROMPT);
    enter(&terminal, "1 + 1", "2\r\n"); /* the count begins again */
    show(&terminal, "\x03", "Ctrl-D leaves\r\n" PROMPT);
    terminal_type(&terminal, "\x04");
    assert_int_equal(terminal_finish(&terminal), 0);

    start(&terminal);
    terminal_type(&terminal, "\x03\x03");
    assert_int_equal(terminal_finish(&terminal), 130);
}

TEST(a_line_that_is_too_long_is_not_sent)
{
    char piece[1024];

    memset(piece, 'a', sizeof(piece));
    piece[sizeof(piece) - 2] = 'b';
    piece[sizeof(piece) - 1] = '\0';
    start(&terminal);
    for (size_t i = 0; i < 130; i++)
        show(&terminal, piece, "b");
    show(&terminal, "\r", "a line of more than 131072 bytes is not sent\r\n");
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, "1 + 1", "2\r\n");
    quit(&terminal);
}

TEST(what_needs_files_says_what_to_do)
{
    char text[2 * TEMPORARY_SIZE];

    start(&terminal);
    (void)snprintf(text, sizeof(text), "run 'colander load %s FAMILY FILE'",
                   store_path);
    enter(&terminal, ".load tweets file", text);
    (void)snprintf(text, sizeof(text), "run 'colander shell %s <FILE'",
                   store_path);
    enter(&terminal, ".read file", text);
    enter(&terminal, ".export tweets --output file", "... --output FILE'");
    enter(&terminal, "io.open('file')", "this Lua runs in the server");
    enter(&terminal, ".help load", "usage: .load FAMILY");
    quit(&terminal);
}

TEST(a_prompt_that_waits_is_no_script)
{
    const char *const script[] = {"colander", "shell", store_path,
                                  "-e",       "6 * 7", NULL};
    struct terminal shells[SCRIPTS + 2];

    for (size_t i = 0; i < COUNT(shells); i++)
        start(&shells[i]);
    terminal_start(&terminal, script);
    terminal_expect(&terminal, "42");
    assert_int_equal(terminal_finish(&terminal), 0);
    for (int i = 0; i < SCRIPTS; i++)
        show(&shells[i], "print('it ' .. 'runs') while true do end\r",
             "it runs");
    /* now those that run are all that may, and Tab has no turn */
    show(&shells[SCRIPTS + 1], "twe\t", "twe");
    show(&shells[SCRIPTS + 1], "X", "\aX");
    terminal_type(&shells[SCRIPTS + 1], "\x15");
    terminal_type(&shells[SCRIPTS], "print('its ' .. 'turn')\r");
    terminal_expect(&shells[SCRIPTS], "the server runs 4 scripts, and no more "
                                      "at once: this one waits\r\n");
    assert_false(terminal_has(&shells[SCRIPTS], "its turn"));
    show(&shells[0], "\x03", PROMPT);
    terminal_expect(&shells[SCRIPTS], "its turn\r\n" PROMPT);
    for (int i = 1; i < SCRIPTS; i++)
        show(&shells[i], "\x03", PROMPT);
    for (size_t i = 0; i < COUNT(shells); i++)
        quit(&shells[i]);
}

TEST(a_server_has_so_many_shells)
{
    const char *const words[] = {"colander", "shell", store_path, NULL};
    const char *const find[] = {"colander", "find",     store_path,
                                "tweets",   "number=7", NULL};
    struct terminal shells[SHELLS];

    for (size_t i = 0; i < COUNT(shells); i++)
        start(&shells[i]);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, "the server has 16 shells, and takes no more at "
                               "once: try again later\r\n");
    assert_int_equal(terminal_finish(&terminal), 1);
    terminal_start(&terminal, find);
    terminal_expect(&terminal, "Smith");
    assert_int_equal(terminal_finish(&terminal), 0);
    quit(&shells[0]);
    start(&shells[0]); /* there is room again */
    for (size_t i = 0; i < COUNT(shells); i++)
        quit(&shells[i]);
}

int
main(void)
{
    return tests_run(make_store, remove_store);
}
