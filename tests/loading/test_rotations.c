/*
 * A log that is rotated while a load follows it and is killed: the family has
 * every line once.
 *
 * Each rotation either renames the log and creates it again, or copies and
 * truncates it, and moves older files up by one number; some are compressed.
 * Lines are written in pieces. COLANDER_RUNS is the number of rotations.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/children.h"
#include "support/claims.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/temporary.h"
#include "support/usual.h"

#include "loading/load.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#define PATH_SIZE (TEMPORARY_SIZE + 64)
#define ATTEMPTS 40 /* to load the rest; each takes longer */

struct log_fixture {
    char directory[TEMPORARY_SIZE];
    char store[PATH_SIZE];
    char log[PATH_SIZE];
    uint64_t *random;
    bool is_csv;
    int file;
    unsigned rotated; /* files */
    uint64_t line_count;
    pid_t child; /* 0: none */
    unsigned kill_count;
};

/* ---------------------------------------------------------- the process --- */

static struct colander_load *running;

static void
cancel(int number)
{
    (void)number;
    colander_load_cancel(running); /* NOLINT(bugprone-signal-handler): safe */
}

static void
report_lost(void *context, const char *file)
{
    (void)context;
    fprintf(stderr, "the place in %s is lost\n", file);
}

/* Follows until it is killed, or cancelled by SIGTERM. */
ROLE(follow)
{
    struct colander_options store_options = usual_options();
    struct colander_load_options options;
    struct colander_store *store;
    struct colander_family *family;
    const char *files[] = {arguments[3]};
    enum colander_code code;

    colander_load_options_init(&options);
    options.follows = true;
    options.rejects_max = 0;
    options.report_lost = report_lost;
    DID(colander_store_open(arguments[2], &store_options, &store, why()));
    DID(colander_family_open(store, "f", &family, why()));
    DID(colander_load_create(store, family, &options, &running, why()));
    (void)signal(SIGTERM, cancel);
    code = colander_load_run(running, files, 1, why());
    if (code != COLANDER_CANCELLED)
        fprintf(stderr, "following ends: %s\n", error_text());
    (void)signal(SIGTERM, SIG_IGN);
    colander_load_destroy(running);
    colander_family_close(family);
    return colander_store_close(store, why()) == COLANDER_OK &&
                   code == COLANDER_CANCELLED
               ? 0
               : 1;
}

static void
start(struct log_fixture *it)
{
    const char *const arguments[] = {"test", "--follow", it->store, it->log,
                                     NULL};

    if (it->child == 0)
        it->child = child_start(arguments);
}

/* Ends it. One that was just started may have no handler for SIGTERM yet. */
static void
end(struct log_fixture *it, int how)
{
    int status;

    if (it->child == 0)
        return;
    kill(it->child, how);
    assert_int_equal(waitpid(it->child, &status, 0), it->child);
    it->child = 0;
    if (WIFSIGNALED(status))
        assert_int_equal(WTERMSIG(status), how);
    else
        assert_int_equal(WEXITSTATUS(status), 0);
    it->kill_count += how == SIGKILL;
}

/* -------------------------------------------------------------- the log --- */

static void
rest_ms(uint64_t milliseconds)
{
    usleep((useconds_t)(milliseconds * 1000));
}

static void
put(const struct log_fixture *it, const char *text, size_t size)
{
    assert_int_equal(write(it->file, text, size), (ssize_t)size);
}

static void
put_header(const struct log_fixture *it)
{
    if (it->is_csv)
        put(it, "n,text\n", 7);
}

/* Writes one line, perhaps in two pieces. Lines have various sizes. */
static void
put_line(struct log_fixture *it)
{
    char line[8000];
    int size = snprintf(line, sizeof(line),
                        it->is_csv ? "%" PRIu64 ",\"%0*d\"\n"
                                   : "{\"n\":%" PRIu64 ",\"text\":\"%0*d\"}\n",
                        it->line_count++,
                        random_below(it->random, 20) == 0 ? 6000 : 30, 0);
    size_t first = random_below(it->random, (uint64_t)size);

    put(it, line, first);
    if (random_below(it->random, 8) == 0)
        rest_ms(random_below(it->random, 20));
    put(it, line + first, (size_t)size - first);
}

static void
name_of(const struct log_fixture *it, unsigned number, const char *ending,
        char path[PATH_SIZE + 20])
{
    snprintf(path, PATH_SIZE + 20, number == 0 ? "%s" : "%s.%u%s", it->log,
             number, ending);
}

static void
copy(const char *from, const char *to, const char *mode)
{
    static char bytes[1 << 16];
    gzFile in = gzopen(from, "rb");
    gzFile out = gzopen(to, mode);
    int size;

    assert_true(in != NULL && out != NULL);
    while ((size = gzread(in, bytes, sizeof(bytes))) > 0)
        assert_int_equal(gzwrite(out, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(in), Z_OK);
    assert_int_equal(gzclose(out), Z_OK);
}

/* Moves the older files up by one number, the oldest first, and compresses some
 * that become number 2, as logrotate does. */
static void
move_up(struct log_fixture *it)
{
    char from[PATH_SIZE + 20];
    char to[PATH_SIZE + 20];

    for (unsigned number = it->rotated; number > 0; number--) {
        const char *ending = "";

        name_of(it, number, "", from);
        if (access(from, F_OK) != 0) {
            ending = ".gz";
            name_of(it, number, ending, from);
        }
        name_of(it, number + 1, ending, to);
        ZERO(rename(from, to));
    }
    it->rotated++;
    name_of(it, 2, "", from);
    if (it->rotated > 1 && random_below(it->random, 3) == 0 &&
        access(from, F_OK) == 0) {
        name_of(it, 2, ".gz", to);
        copy(from, to, "wb1");
        ZERO(unlink(from));
    }
}

static void
create(struct log_fixture *it)
{
    it->file = open(it->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(it->file >= 0);
    put_header(it);
}

static void
rotate(struct log_fixture *it)
{
    char to[PATH_SIZE + 20];

    move_up(it);
    name_of(it, 1, "", to);
    if (random_below(it->random, 2) == 0) {
        copy(it->log, to, "wbT");
        ZERO(ftruncate(it->file, 0));
        put_header(it);
        return;
    }
    ZERO(rename(it->log, to));
    if (random_below(it->random, 4) == 0) /* before it is created again */
        put_line(it);
    close(it->file);
    if (random_below(it->random, 4) == 0)
        rest_ms(random_below(it->random, 200));
    create(it);
}

/* ----------------------------------------------------------- the result --- */

/* Returns whether every line is there; fails if one is there twice. Prints
 * those that are missing, if asked to. */
static bool
has_all(const struct log_fixture *it, bool prints)
{
    struct colander_store *store;
    struct colander_family *family;
    struct colander_cursor *cursor;
    struct colander_result result;
    bool *was_seen = calloc(it->line_count, 1);
    uint64_t count = 0;
    bool is_row = true;

    OK(colander_store_open(it->store, NULL, &store, why()));
    OK(colander_family_open(store, "f", &family, why()));
    OK(colander_family_find(family, NULL, &cursor, why()));
    for (;;) {
        struct colander_value value;
        bool found;

        OK(colander_cursor_next(cursor, &is_row, &result, why()));
        if (!is_row)
            break;
        OK(colander_row_get(result.row, "n", &value, &found, why()));
        assert_true(found && value.type == COLANDER_INTEGER);
        assert_in_range(value.integer, 0, it->line_count - 1);
        if (was_seen[value.integer])
            fail_msg("line %" PRId64 " is there twice", value.integer);
        was_seen[value.integer] = true;
        count++;
    }
    for (uint64_t i = 1; i < it->line_count && prints; i++) {
        if (was_seen[i - 1] && !was_seen[i])
            printf("lines are missing from %" PRIu64 " on\n", i);
    }
    free(was_seen);
    colander_cursor_close(cursor);
    colander_family_close(family);
    OK(colander_store_close(store, why()));
    return count == it->line_count;
}

/* ------------------------------------------------------------- the test --- */

/* Follows until every line is there. */
static void
load_rest(struct log_fixture *it)
{
    for (unsigned attempt = 1; attempt <= ATTEMPTS; attempt++) {
        start(it);
        rest_ms(100 * attempt);
        end(it, SIGTERM);
        if (has_all(it, attempt == ATTEMPTS))
            return;
    }
    fail_msg("lines are missing");
}

static void
follow_rotations(struct log_fixture *it, uint64_t rotations)
{
    create(it);
    put_line(it);
    load_rest(it); /* from here on it has a place in the log */
    for (uint64_t i = 0; i < rotations; i++) {
        if (random_below(it->random, 3) > 0)
            start(it);
        for (uint64_t line = random_below(it->random, 8); line > 0; line--)
            put_line(it);
        if (random_below(it->random, 4) > 0)
            rest_ms(random_below(it->random, 150));
        if (random_below(it->random, 3) == 0)
            end(it, random_below(it->random, 3) == 0 ? SIGTERM : SIGKILL);
        rotate(it);
    }
    put_line(it);
    load_rest(it);
    close(it->file);
}

TEST(every_line_of_a_rotated_log_is_loaded_once)
{
    for (int is_csv = 0; is_csv < 2; is_csv++) {
        struct log_fixture it = {.random = random_state(), .is_csv = is_csv};

        temporary_make(it.directory);
        snprintf(it.store, sizeof(it.store), "%s/store", it.directory);
        snprintf(it.log, sizeof(it.log), "%s/app.%s", it.directory,
                 is_csv ? "csv" : "jsonl");
        follow_rotations(&it, random_runs(24));
        printf("%" PRIu64 " lines, %u rotations, %u kills\n", it.line_count,
               it.rotated, it.kill_count);
        temporary_remove(it.directory);
    }
}
