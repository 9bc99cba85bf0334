/*
 * Races planted in the store's own code. ThreadSanitizer must report each with
 * the settings of the tests; otherwise tests without reports prove nothing.
 * tests/tsan/README.md has the settings.
 *
 * The linker redirects three functions of the store to this test. One is called
 * by finds. RocksDB calls the others, which hides the rest of the stack: when a
 * file is created and when the log is written. Each of these changes memory
 * that finds read.
 *
 * The racing program is this one, started again. It ends with a special status.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/registry.h"
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/plain_finds.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include "core/log_tail.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define LOOKS 5 /* by finds, between RocksDB's call and the change */
#define SIZE 100
#define SETTLED 2000     /* rows that are not written meanwhile, */
#define SETTLED_FOUND 20 /* and how many of them each find finds */
#define REPORT_SIZE 200000

/* Which thread does what. */
struct plant {
    const char *name;
    bool is_log; /* when the log is written, not when a file is created */
    void (*change)(void);
    void (*look)(void); /* called by finds */
    const char *report; /* NULL: none must be reported */
};

/* Set before any thread starts. Reading it orders nothing. */
static const struct plant *_Atomic planted;
static char *shared;    /* SIZE bytes */
static char sink[SIZE]; /* of the finding thread */
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;

/* Relaxed, so that they establish no order and hide no race. */
static atomic_uint looks;
static atomic_bool is_changed;

/* --------------------------------------------------------------- plants --- */

static void
change_by_store(void)
{
    shared[7] = 1;
}

static void
change_by_memcpy(void)
{
    memcpy(shared, "as long as it is not constant", 24);
}

static void
change_by_memset(void)
{
    memset(shared, 1, SIZE);
}

static void
change_by_free(void)
{
    free(shared);
}

static void
change_by_realloc(void)
{
    free(realloc(shared, SIZE * 1000)); /* the others keep their pointer */
}

static void
change_under_mutex(void)
{
    pthread_mutex_lock(&inner);
    memset(shared, 1, SIZE);
    pthread_mutex_unlock(&inner);
}

static void
lock_outer_first(void)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
}

static void
look_by_load(void)
{
    sink[0] = shared[7];
}

static void
look_by_memcpy(void)
{
    memcpy(sink, shared, SIZE);
}

static void
look_by_memcmp(void)
{
    sink[0] = (char)memcmp(shared, sink + 1, 20);
}

static void
look_under_mutex(void)
{
    pthread_mutex_lock(&inner);
    memcpy(sink, shared, SIZE);
    pthread_mutex_unlock(&inner);
}

/* Once, so that the other threads never run into it. */
static void
lock_inner_first(void)
{
    if (atomic_load_explicit(&looks, memory_order_relaxed) > 0)
        return;
    pthread_mutex_lock(&inner);
    pthread_mutex_lock(&outer);
    pthread_mutex_unlock(&outer);
    pthread_mutex_unlock(&inner);
}

static const char race[] = "data race";
static const char inversion[] = "lock-order-inversion";

static const struct plant plants[] = {
    {"file: store, load", false, change_by_store, look_by_load, race},
    {"file: store, memcpy", false, change_by_store, look_by_memcpy, race},
    {"file: memcpy, load", false, change_by_memcpy, look_by_load, race},
    {"file: memset, memcmp", false, change_by_memset, look_by_memcmp, race},
    {"file: free, load", false, change_by_free, look_by_load, race},
    {"file: free, memcpy", false, change_by_free, look_by_memcpy, race},
    {"file: realloc, load", false, change_by_realloc, look_by_load, race},
    {"log: store, load", true, change_by_store, look_by_load, race},
    {"log: memcpy, memcpy", true, change_by_memcpy, look_by_memcpy, race},
    {"log: free, load", true, change_by_free, look_by_load, race},
    {"file: locked", false, change_under_mutex, look_under_mutex, NULL},
    {"log: locked", true, change_under_mutex, look_under_mutex, NULL},
    {"file: locks", false, lock_outer_first, lock_inner_first, inversion},
    {"log: locks", true, lock_outer_first, lock_inner_first, inversion},
};

#define PLANTS COUNT(plants)

/* ---------------------------------------------------- the store's calls --- */

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
enum colander_code __real_registry_add(struct registry *registry,
                                       const struct sst_info *file,
                                       enum file_state state,
                                       struct colander_error *err);
enum colander_code __wrap_registry_add(struct registry *registry,
                                       const struct sst_info *file,
                                       enum file_state state,
                                       struct colander_error *err);
enum colander_code __real_registry_view(struct registry *registry,
                                        struct family_filters *family,
                                        struct file_view **view,
                                        struct colander_error *err);
enum colander_code __wrap_registry_view(struct registry *registry,
                                        struct family_filters *family,
                                        struct file_view **view,
                                        struct colander_error *err);
void __real_log_tail_add(struct log_tail *tail, const uint8_t *bytes,
                         size_t size);
void __wrap_log_tail_add(struct log_tail *tail, const uint8_t *bytes,
                         size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

/* Changes the memory once, after finds have looked since this thread last took
 * a lock: an order between the two would be a coincidence. */
static void
change_once(bool is_log)
{
    const unsigned from = atomic_load_explicit(&looks, memory_order_relaxed);
    const struct plant *plant =
        atomic_load_explicit(&planted, memory_order_relaxed);

    if (plant == NULL || plant->is_log != is_log || from < LOOKS ||
        atomic_load_explicit(&is_changed, memory_order_relaxed))
        return;
    while (atomic_load_explicit(&looks, memory_order_relaxed) - from < LOOKS)
        usleep(100);
    plant->change();
    atomic_store_explicit(&is_changed, true, memory_order_relaxed);
}

enum colander_code
__wrap_registry_add(struct registry *registry, const struct sst_info *file,
                    enum file_state state, struct colander_error *err)
{
    enum colander_code code = __real_registry_add(registry, file, state, err);

    change_once(false);
    return code;
}

void
__wrap_log_tail_add(struct log_tail *tail, const uint8_t *bytes, size_t size)
{
    __real_log_tail_add(tail, bytes, size);
    change_once(true);
}

enum colander_code
__wrap_registry_view(struct registry *registry, struct family_filters *family,
                     struct file_view **view, struct colander_error *err)
{
    const struct plant *plant =
        atomic_load_explicit(&planted, memory_order_relaxed);

    if (plant != NULL) {
        plant->look();
        atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    }
    return __real_registry_view(registry, family, view, err);
}

/* -------------------------------------------------- the racing program --- */

/* Finds the rows with n = 1. */
static void
find_once(struct colander_family *family, struct find_counts *counts)
{
    struct colander_query query = usual_query();
    SCOPED_PREDICATE where =
        colander_where("n", COLANDER_EQ, colander_integer(1), NULL);
    struct colander_result result;
    SCOPED_CURSOR cursor = NULL;
    unsigned count = 0;

    query.where = where;
    DID(colander_family_find(family, &query, &cursor, why()));
    while (next_row(cursor, &result))
        count++;
    CLAIM(count == SETTLED_FOUND + 1);
    count_find(cursor, counts);
}

static void *
find_until_changed(void *context)
{
    struct colander_family *family = context;
    struct find_counts counts = {.row_count = 0};
    unsigned after = 0;

    while (after < LOOKS) { /* as many after the change */
        find_once(family, &counts);
        after += atomic_load_explicit(&is_changed, memory_order_relaxed);
    }
    assert_direct(&counts, 2);
    return NULL;
}

static void
put_settled(struct store_fixture *fixture, struct colander_family *family)
{
    for (int i = 0; i < SETTLED; i++) {
        const int n = i % (SETTLED / SETTLED_FOUND);
        char key[16];

        (void)snprintf(key, sizeof(key), "settled %d", i);
        OK(put_text(fixture, family, key, "n", colander_integer(n), NULL));
    }
    OK(colander_family_flush(family, NULL));
}

static void
put_until_changed(struct store_fixture *fixture, struct colander_family *family)
{
    while (!atomic_load_explicit(&is_changed, memory_order_relaxed)) {
        OK(put_text(fixture, family, "key", "n", colander_integer(1), NULL));
        OK(colander_family_flush(family, NULL));
    }
}

ROLE(plant)
{
    struct store_fixture *fixture;
    struct colander_family *family;
    pthread_t finder;
    void *state;

    if (fixture_setup(&state) != 0)
        return 1;
    fixture = state;
    family = kept_family(fixture, "rows");
    put_settled(fixture, family);
    OK(put_text(fixture, family, "key", "n", colander_integer(1), NULL));
    shared = calloc(1, SIZE);
    assert_non_null(shared);
    for (size_t i = 0; i < PLANTS; i++) {
        if (strcmp(plants[i].name, arguments[2]) == 0)
            atomic_store_explicit(&planted, &plants[i], memory_order_relaxed);
    }
    assert_non_null(atomic_load(&planted));
    ZERO(pthread_create(&finder, NULL, find_until_changed, family));
    put_until_changed(fixture, family);
    pthread_join(finder, NULL);
    atomic_store_explicit(&planted, NULL, memory_order_relaxed);
    return fixture_teardown(&state);
}

/* ------------------------------------------------------------ the tests --- */

/* Runs this program again with a plant. Returns its status and report. */
static int
run_apart(const char *name, char report[REPORT_SIZE])
{
    size_t size = 0;
    ssize_t count;
    int ends[2];
    int status;
    pid_t child;

    ZERO(pipe(ends));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "test", "--plant", name, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while ((count = read(ends[0], report + size, REPORT_SIZE - 1 - size)) > 0)
        size += (size_t)count;
    report[size] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* All plants of a kind. Settings for another kind do not report them. */
static void
assert_reported(const char *kind)
{
    SCOPED_MEMORY char *report = malloc(REPORT_SIZE);

    assert_non_null(report);
    for (size_t i = 0; i < PLANTS; i++) {
        const struct plant *plant = &plants[i];
        char heading[60];
        int status;

        if (plant->report != kind)
            continue;
        status = run_apart(plant->name, report);
        snprintf(heading, sizeof(heading), "WARNING: ThreadSanitizer: %s",
                 kind == NULL ? "" : kind);
        if ((status != 0) != (kind != NULL) ||
            (strstr(report, heading) != NULL) != (kind != NULL))
            fail_msg("'%s' ended with %d:\n%s", plant->name, status, report);
    }
}

/* Returns whether the settings are for races, for locks, or not set. */
static bool
is_tested(const char *what)
{
#ifdef __SANITIZE_THREAD__
    const char *settings = getenv("TSAN_OPTIONS");

    return settings != NULL && strstr(settings, what) != NULL;
#else
    (void)what;
    return false;
#endif
}

TEST(race_of_a_callback_and_a_find_is_reported)
{
    if (!is_tested("ignore_noninstrumented_modules=1"))
        skip();
    assert_reported(race);
}

TEST(locks_in_both_orders_are_reported)
{
    if (!is_tested("locks.supp"))
        skip();
    assert_reported(inversion);
}

TEST(what_a_mutex_guards_is_not_reported)
{
    assert_reported(NULL);
}
