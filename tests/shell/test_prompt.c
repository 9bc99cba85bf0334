/*
 * The prompt in a pseudo-terminal, as a user at a keyboard sees it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "colander.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/temporary.h"
#include "support/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROMPT "colander> "
#define MORE "      ... "
#define ROW_COUNT 50000

static char directory[TEMPORARY_SIZE];
static char store_path[TEMPORARY_SIZE + 16];
static char history_path[TEMPORARY_SIZE + 32];

static void
put_rows(struct colander_store *store, struct colander_family *family)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;
    struct colander_slice row;
    SCOPED_BUILDER builder = colander_row_builder_create();

    assert_non_null(builder);
    OK(colander_batch_create(store, &batch, NULL));
    for (int64_t i = 0; i < ROW_COUNT; i++) {
        struct colander_value part = colander_integer(i);

        OK(colander_key_encode(&part, 1, &key, NULL));
        colander_row_builder_add(builder, "user", colander_text("Smith"));
        colander_row_builder_add(builder, "number", part);
        colander_row_builder_add(builder, "note", colander_text("n"));
        OK(colander_row_builder_finish(builder, &row, NULL));
        OK(colander_batch_put(batch, family, colander_buffer_slice(&key), row,
                              NULL));
    }
    OK(colander_batch_commit(batch, NULL, NULL));
}

static int
make_store(void **state)
{
    struct colander_store *store;
    struct colander_family *family;

    temporary_make(directory);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    snprintf(history_path, sizeof(history_path), "%s/colander/history",
             directory);
    setenv("HOME", directory, 1);
    setenv("XDG_STATE_HOME", directory, 1);
    setenv("XDG_CONFIG_HOME", directory, 1);
    unsetenv("EDITRC");
    setenv("PAGER", "", 1); /* none */
    unsetenv("COLANDER_PAGER");
    OK(colander_store_open(store_path, NULL, &store, NULL));
    OK(colander_family_open(store, "tweets", &family, NULL));
    put_rows(store, family);
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

static struct terminal terminal; /* of a test */

static void
start(struct terminal *shell)
{
    const char *const words[] = {"colander", "shell", store_path, "--readonly",
                                 NULL};

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

/* Types Ctrl-C, and waits for the prompt. */
static void
interrupt(struct terminal *shell)
{
    terminal_type(shell, "\x03");
    terminal_expect(shell, "interrupted");
    terminal_expect(shell, PROMPT);
}

TEST(a_find_is_shown_as_a_table_with_its_counts)
{
    start(&terminal);
    show(&terminal, "tweets:find{number = 7}\r",
         "_key  number  user   note\r\n");
    terminal_expect(&terminal, "\n7          7  Smith  n\r\n");
    terminal_expect(&terminal, "1 row\r\n" PROMPT);
    enter(&terminal, "tweets:count{number = 7}", "1\r\n");
    enter(&terminal, ".timer on", "");
    show(&terminal, "tweets:find{number = 7}\r",
         "\n7          7  Smith  n\r\n");
#ifdef COLANDER_FILTERS
    terminal_expect(&terminal, "1 row: read ");
    terminal_expect(&terminal, " of about 50,000 rows (");
    terminal_expect(&terminal, " bytes) in ");
#else
    terminal_expect(&terminal, "1 row: scanned 50,000 rows (");
    terminal_expect(&terminal, " MB) in ");
#endif
    terminal_expect(&terminal, "ms\r\ntime: ");
    terminal_expect(&terminal, "ms\r\n");
    terminal_expect(&terminal, PROMPT);
    quit(&terminal);
}

TEST(expressions_show_their_values_and_statements_nothing)
{
    start(&terminal);
    enter(&terminal, "1 + 1, 'x'", "2\tx\r\n");
    enter(&terminal, "kept = {b = 2, 1, a = {}}", "");
    enter(&terminal, "kept", "{1, a = {}, b = 2}\r\n");
    enter(&terminal, "nil", "nil\r\n");
    enter(&terminal, "tweets:get(8)", "_key = 8\r\nuser = Smith\r\n");
    enter(&terminal, "tweets:find{number = lt(3)}:group('number'):count()",
          "number  count\r\n------  -----\r\n     0      1\r\n");
    quit(&terminal);
}

TEST(a_failure_leaves_the_prompt)
{
    start(&terminal);
    enter(&terminal, "1 +* 2", "stdin:1: unexpected symbol near '*'");
    enter(&terminal, "nothing.at.all", "attempt to index a nil value");
    enter(&terminal, "tweets:put(1, {})", "is open for reading only");
    enter(&terminal, ".bogus", "no command '.bogus' (try .help)");
    enter(&terminal, ".tabels",
          "no command '.tabels': did you mean '.tables'?");
    enter(&terminal, ".find tweets number",
          "find: 'number' is a column: write 'number?' for rows that have it, "
          "or '\"number\"' for the words\r\n"
          "    number\r\n    ^\r\n");
    enter(&terminal, ".mode xml", "mode: no format 'xml'");
    enter(&terminal, ".families", "tweets");
    enter(&terminal, "help", ".quit");
    terminal_type(&terminal, "\x04");
    assert_int_equal(terminal_finish(&terminal), 0);
}

TEST(a_chunk_continues_until_it_is_complete)
{
    start(&terminal);
    show(&terminal, "for i = 1, 2 do\r", MORE);
    show(&terminal, "\r", MORE); /* an empty line ends nothing */
    show(&terminal, "print('round', i)\r", MORE);
    show(&terminal, "end\r", "\r\nround\t1\r\nround\t2\r\n");
    terminal_expect(&terminal, PROMPT);
    show(&terminal, "tweets:find{\r", MORE);
    show(&terminal, "\x03", PROMPT);
    enter(&terminal, "'whole'", "whole\r\n");
    quit(&terminal);
}

TEST(tab_completes_what_there_is)
{
    start(&terminal);
    show(&terminal, "twe\t", "tweets");
    show(&terminal, ":fin\t\t",
         "find        find_value"); /* several: they are listed */
    show(&terminal, "{numb\t", "tweets:find{number");
    show(&terminal, " = 9}:sel\t", "= 9}:select");
    show(&terminal, "(\"us\t", "(\"user");
    show(&terminal, "\")\r", "\n9     Smith\r\n");
    terminal_expect(&terminal, PROMPT);
    show(&terminal, "string.fo\t", "string.format");
    show(&terminal, "\x15.fam\t", ".families"); /* Ctrl-U: clears the line */
    enter(&terminal, "", "sst_files");
    show(&terminal, ".export tweets --out\t", "--output");
    terminal_type(&terminal, "\x15");
    quit(&terminal);
}

TEST(ctrl_c_stops_whatever_runs)
{
    static const char *const endless[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "coroutine.wrap(function() while true do end end)()",
        ("co = coroutine.create(function() while true do "
         "coroutine.resume(coroutine.create(function() while true do end end)) "
         "end end) while true do coroutine.resume(co) end"),
        "while true do tweets:count{number = 5} end",
        "tweets:find():where(function() while true do end end):count()",
        "for i = 1, 1e9 do tweets:find():order('number'):first() end",
        ("co = coroutine.create(function() local x <close> = setmetatable({}, "
         "{__close = function() while true do end end}) coroutine.yield() end) "
         "coroutine.resume(co) coroutine.close(co)"),
    };

    start(&terminal);
    for (size_t i = 0; i < COUNT(endless); i++) {
        terminal_type(&terminal, "print('it ' .. 'runs') ");
        terminal_type(&terminal, endless[i]);
        show(&terminal, "\r", "it runs");
        interrupt(&terminal);
    }
    enter(&terminal, "tweets:count()", "50000\r\n");
    quit(&terminal);
}

TEST(ctrl_c_stops_a_find_that_is_shown)
{
    start(&terminal);
    enter(&terminal, ".limit off", "");
    enter(&terminal, ".mode jsonl", "");
    enter(&terminal, ".pager off", "");
    show(&terminal, "tweets:find()\r", "{\"_key\":10,");
    interrupt(&terminal);
    assert_true(terminal.total < ROW_COUNT * strlen("{\"_key\":1}") / 2);
    enter(&terminal, "tweets:count()", "50000\r\n");
    quit(&terminal);
}

TEST(ctrl_c_at_the_prompt_drops_the_line)
{
    start(&terminal);
    show(&terminal, "os.exit(1) -- not yet", "not yet");
    show(&terminal, "\x03", PROMPT);
    enter(&terminal, "tweets:count{number = 8}", "1\r\n");
    quit(&terminal);
}

TEST(ctrl_c_at_an_empty_prompt_says_how_to_leave)
{
    start(&terminal);
    show(&terminal, "\x03", "Ctrl-D leaves\r\n" PROMPT);
    enter(&terminal, "1 + 1", "2\r\n"); /* the count begins again */
    show(&terminal, "\x03", "Ctrl-D leaves\r\n" PROMPT);
    show(&terminal, "\r", PROMPT);
    show(&terminal, "\x03", "Ctrl-D leaves\r\n" PROMPT);
    show(&terminal, "kept\x03", PROMPT); /* a line is only discarded */
    show(&terminal, "\x03", "Ctrl-D leaves\r\n" PROMPT);
    show(&terminal, "kept {\r", MORE); /* and so is an entry */
    show(&terminal, "\x03", PROMPT);
    show(&terminal, "\x03", "Ctrl-D leaves\r\n" PROMPT);
    /* before the chunk runs, Ctrl-C would still be a key of the editor */
    show(&terminal, "print('it ' .. 'runs') while true do end\r", "it runs");
    interrupt(&terminal);
    show(&terminal, "\x03", "Ctrl-D leaves\r\n" PROMPT);
    terminal_type(&terminal, "\x04");
    assert_int_equal(terminal_finish(&terminal), 0);
}

TEST(a_second_ctrl_c_within_a_second_leaves)
{
    start(&terminal);
    terminal_type(&terminal, "\x03\x03"); /* keys, at the prompt */
    assert_int_equal(terminal_finish(&terminal), 130);

    start(&terminal); /* a finalizer, which no hook stops */
    terminal_type(&terminal,
                  "setmetatable({}, {__gc = function() print('it ' .. 'runs') "
                  "while true do end end}) collectgarbage()\r");
    terminal_expect(&terminal, "it runs");
    for (int i = 0; i < 4; i++) { /* on a busy machine a pair may be late */
        (void)!write(terminal.fd, "\x03", 1);
        usleep(200000); /* two signals at once would be one */
    }
    assert_int_equal(terminal_finish(&terminal), 130);
}

TEST(ctrl_z_suspends_and_keeps_the_line)
{
    const char *const words[] = {"colander", "shell", store_path, "--readonly",
                                 NULL};

    terminal_start_job(&terminal, words);
    terminal_expect(&terminal, PROMPT);
    show(&terminal, "tweets:count{num", "num");
    show(&terminal, "\x1a", "[stopped]");
    terminal_expect(&terminal, PROMPT "tweets:count{num");
    show(&terminal, "ber = 8}\r", "\n1\r\n");
    terminal_expect(&terminal, PROMPT);
    quit(&terminal);
}

TEST(long_results_go_through_a_pager_and_are_limited)
{
    setenv("PAGER", "sed -u 's/^/paged /'", 1);
    start(&terminal);
    show(&terminal, "tweets:find()\r", "paged _key  user   number");
    terminal_expect(&terminal, "paged 999   Smith     999");
    terminal_expect(&terminal,
                    "[the first 1,000 rows; there are more: see .limit]");
    terminal_expect(&terminal, PROMPT);
    assert_false(terminal_has(&terminal, "paged 1000"));
    show(&terminal, ".find tweets number<50\r", "paged 49        49  Smith");
    terminal_expect(&terminal, "\r\n50 rows\r\n");
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, ".limit 30", "");
    show(&terminal, "tweets:find():all()\r", "paged 29");
    terminal_expect(&terminal, "[the first 30 rows: see .limit]");
    terminal_expect(&terminal, PROMPT);
    show(&terminal, "tweets:find():limit(3)\r",
         "\r\n0     Smith       0"); /* fits */
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, ".pager off", "");
    show(&terminal, "tweets:find():limit(25)\r", "\r\n24    Smith      24");
    terminal_expect(&terminal, PROMPT);
    terminal_type(&terminal, "tweets:find():distinct('number')\r");
    terminal_expect(&terminal, "\r\n    29\r\n[the first 30 rows; there are");
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, ".pager nosuchpager", "");
    enter(&terminal, "tweets:find()", "[no pager 'nosuchpager'");
    enter(&terminal, ".pager 'head -n 1 | tr n N'", ""); /* exits early */
    enter(&terminal, "tweets:find()", "Number");
    quit(&terminal);
    setenv("PAGER", "", 1);
}

TEST(results_can_go_to_a_file)
{
    char line[TEMPORARY_SIZE + 64];
    char text[128];
    FILE *file;

    snprintf(line, sizeof(line), ".output '%s/results'", directory);
    start(&terminal);
    enter(&terminal, line, "");
    enter(&terminal, "tweets:find{number = 5}", "");
    enter(&terminal, "print('printed')", "");
    enter(&terminal, ".output", "");
    enter(&terminal, "'here again'", "here again\r\n");
    quit(&terminal);
    snprintf(line, sizeof(line), "%s/results", directory);
    file = fopen(line, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    assert_string_equal(
        text, "{\"_key\":5,\"user\":\"Smith\",\"number\":5,\"note\":\"n\"}\n");
    assert_non_null(fgets(text, sizeof(text), file));
    assert_string_equal(text, "printed\n");
    assert_null(fgets(text, sizeof(text), file));
    (void)fclose(file);
}

/* Returns what a file of a test's directory has. The caller frees it. */
static char *
content_of(const char *name)
{
    char path[TEMPORARY_SIZE + 32];
    char *text = NULL;
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "r");
    assert_non_null(file);
    if (getdelim(&text, &size, '\0', file) < 0)
        text[0] = '\0';
    (void)fclose(file);
    return text;
}

TEST(a_file_gets_every_row_and_no_cut_table)
{
    char line[TEMPORARY_SIZE + 64];
    char *text;

    start(&terminal);
    enter(&terminal, ".mode table", "");
    snprintf(line, sizeof(line), ".once '%s/once'", directory);
    enter(&terminal, line, "");
    enter(&terminal,
          "tweets:find{number = lt(1500)}:where(function(row) "
          "row.note = ('long '):rep(50) return true end)",
          "");
    enter(&terminal, "tweets:find():all()", /* here again */
          "[the first 1,000 rows: see .limit]");
    enter(&terminal, line, "");
    enter(&terminal, ".find tweets number=5 --format jsonl", "");
    enter(&terminal, "'here'", "here\r\n");
    text = content_of("once");
    assert_string_equal(
        text, "{\"_key\":5,\"user\":\"Smith\",\"number\":5,\"note\":\"n\"}\n");
    free(text);
    snprintf(line, sizeof(line), ".output '%s/all'", directory);
    enter(&terminal, line, "");
    enter(&terminal, "tweets:find{number = lt(1500)}", "");
    enter(&terminal, ".width", "");
    enter(&terminal, ".output", "");
    quit(&terminal);
    text = content_of("all");
    assert_non_null(strstr(text, "_key  number  user   note\n"));
    assert_non_null(strstr(text, "1499    1499  Smith  n\noff\n"));
    free(text);
}

TEST(tables_have_the_width_and_the_null_that_was_chosen)
{
    start(&terminal);
    enter(&terminal, ".width 20", "");
    enter(&terminal, "tweets:find{number = 5}",
          "columns left out: note: the format line prints all");
    enter(&terminal, ".width", "20\r\n");
    enter(&terminal, ".width off", "");
    enter(&terminal, "tweets:find{number = 5}", "_key  number  user   note");
    enter(&terminal, ".nullvalue", "null\r\n");
    enter(&terminal, ".nullvalue NULL", "");
    enter(&terminal, "colander.fromjson '{\"_key\": 1, \"none\": null}'",
          "none = NULL\r\n");
    enter(&terminal, ".width x", "expected a number of characters, or off");
    quit(&terminal);
}

TEST(the_greeting_lists_the_families)
{
    const char *const words[] = {"colander", "shell", store_path, "--readonly",
                                 NULL};

    terminal_start(&terminal, words);
    terminal_expect(&terminal, "(read only). Try .help.\r\n"
                               "1 family: tweets (about 50,000 rows)\r\n");
    terminal_expect(&terminal, PROMPT);
    quit(&terminal);
}

TEST(what_is_not_lua_is_answered_with_lua)
{
    start(&terminal);
    enter(&terminal, "SELECT * FROM tweets LIMIT 5",
          "this is Lua: tweets:find():limit(10)\r\n");
    enter(&terminal, "show tables", "this is Lua: tweets:find():limit(10)\r\n");
    enter(&terminal, "use tweets", "this is Lua: tweets:find():limit(10)\r\n");
    enter(&terminal, "UPDATE tweets SET number = 5",
          "this is Lua: tweets:find():limit(10)\r\n");
    enter(&terminal, "use = 5 show = 6", "");
    enter(&terminal, "find tweets number=5",
          "commands begin with a dot: .find");
    enter(&terminal, "update tweets number=5 --set user=Wu",
          "commands begin with a dot: .update");
    enter(&terminal, "twets:find()", "did you mean 'tweets'?");
    enter(&terminal, "tweets:fnd()", "did you mean 'find'?");
    enter(&terminal, "db:batsh()", "did you mean 'batch'?");
    enter(&terminal, "prnt(5)", "did you mean 'print'?");
    enter(&terminal, "nothing_like_it()",
          "attempt to call a nil value (global 'nothing_like_it')\r\n");
    quit(&terminal);
}

TEST(a_family_alone_shows_what_is_in_it)
{
    start(&terminal);
    enter(&terminal, "tweets",
          "family   tweets\r\n"
          "rows     about 50,000\r\n"
          "columns  3 in a sample of 1,000 rows of about 50,000\r\n"
          "         user    100.0 %  string\r\n"
          "         number  100.0 %  integer\r\n"
          "         note    100.0 %  string\r\n"
          "example  tweets:find{user = \"Smith\"}:limit(10)\r\n");
    enter(&terminal, "tostring(tweets)", "family 'tweets'\r\n");
    quit(&terminal);
}

TEST(explain_covers_queries_that_return_a_value)
{
    static const char *const chunks[] = {
        "tweets:count{number = 7}", "tweets:find{number = 7}:first()",
        "tweets:find{number = 7}:group('user'):count()",
        "tweets:find{number = 7}:order('user'):all()",
        "for _ in tweets:find{number = 7} do end"};

    start(&terminal);
    enter(&terminal, ".explain", "");
    for (size_t i = 0; i < COUNT(chunks); i++) {
        enter(&terminal, chunks[i], "work     1 row: ");
    }
    show(&terminal, "for i = 1, 12 do tweets:count{number = 7} end\r", "plan ");
    for (int i = 1; i < 10; i++)
        terminal_expect(&terminal, "plan ");
    terminal_expect(&terminal, "work ");
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, ".explain", "");
    show(&terminal, "tweets:count{number = 7}\r", "\r\n1\r\n" PROMPT);
    quit(&terminal);
}

TEST(words_of_lua_have_help)
{
    start(&terminal);
    enter(&terminal, ".help gt",
          "gt(value)\r\n"
          "    is greater\r\n"
          "    example: tweets:count{likes = gt(900)}\r\n");
    enter(&terminal, ".help find", "family:find([condition [, range]])\r\n");
    enter(&terminal, ".help find", "\r\nusage: .find FAMILY");
    enter(&terminal, ".help .find", "usage: .find FAMILY");
    enter(&terminal, "help(tweets)",
          "family:any_column(value)  the rows with the value in any column\r\n"
          "    tweets:any_column(\"Houston\")\r\n");
    enter(&terminal, "help(tweets.find)", "family:find(");
    enter(&terminal, "help(null)", "is null\r\n");
    enter(&terminal, "help()", "help(tweets)");
    enter(&terminal, "help 'bogus'", "nil\r\n");
    enter(&terminal, ".help bogus", "no command 'bogus'");
    quit(&terminal);
}

TEST(file_names_are_completed)
{
    char line[TEMPORARY_SIZE + 64];
    char path[TEMPORARY_SIZE + 64];

    snprintf(path, sizeof(path), "%s/entries-to-read.lua", directory);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    snprintf(line, sizeof(line), ".read %s/entr\t", directory);
    start(&terminal);
    show(&terminal, line, "ies-to-read.lua");
    terminal_type(&terminal, "\x15");
    quit(&terminal);
    unlink(path);
}

TEST(commands_have_other_names_and_are_guessed)
{
    start(&terminal);
    enter(&terminal, ".tables", "tweets");
    enter(&terminal, ".schema tweets --depth 1", "number");
    enter(&terminal, ".fnid tweets",
          "no command '.fnid': did you mean '.find'?");
    enter(&terminal, ".find tweets --lmit 1",
          "unknown option '--lmit': did you mean '--limit'?");
    terminal_type(&terminal, ".exit\r");
    assert_int_equal(terminal_finish(&terminal), 0);
}

TEST(a_second_shell_runs_next_to_the_first)
{
    struct terminal terminals[2];

    for (int i = 0; i < 2; i++) {
        start(&terminals[i]);
        enter(&terminals[i], "tweets:count{number = 8}", "1\r\n");
    }
    for (int i = 0; i < 2; i++)
        quit(&terminals[i]);
}

TEST(the_history_comes_back_and_is_for_its_owner_only)
{
    struct stat status;

    start(&terminal);
    show(&terminal, "tweets:count{\r", MORE);
    show(&terminal, "number = 4321}\r", "\n1\r\n");
    quit(&terminal);
    ZERO(stat(history_path, &status));
    assert_int_equal(status.st_mode & 0777, 0600);

    start(&terminal);
    show(&terminal, "\x10\x10",
         "tweets:count{ number = 4321}"); /* Ctrl-P: past ".quit" */
    show(&terminal, "\r", "\n1\r\n");
    quit(&terminal);
}

TEST(the_history_keeps_what_has_ended_the_program)
{
    start(&terminal);
    show(&terminal, "print('bye ' .. 'then') os.exit(3)\r", "bye then");
    assert_int_equal(terminal_finish(&terminal), 3);

    start(&terminal);
    show(&terminal, "\x10", "print('bye ' .. 'then') os.exit(3)"); /* Ctrl-P */
    terminal_type(&terminal, "\x15"); /* Ctrl-U: clears the line */
    enter(&terminal, "'still here'", "still here\r\n");
    quit(&terminal);
}

TEST(the_init_file_runs_before_the_first_prompt)
{
    const char *const words[] = {"colander",   "shell",     store_path,
                                 "--readonly", "--no-init", NULL};
    char path[TEMPORARY_SIZE + 32];
    FILE *file;

    snprintf(path, sizeof(path), "%s/colander", directory);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/colander/init.lua", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("function twice(x)\n  return 2 * x\nend\n.mode line\n", file);
    ZERO(fclose(file));
    start(&terminal);
    enter(&terminal, "twice(21)", "42\r\n");
    enter(&terminal, "tweets:find{number = 3}", "_key = 3\r\n");
    quit(&terminal);
    terminal_start(&terminal, words);
    terminal_expect(&terminal, PROMPT);
    enter(&terminal, "twice", "nil\r\n");
    quit(&terminal);
    ZERO(unlink(path));
}

int
main(void)
{
    return tests_run(make_store, remove_store);
}
