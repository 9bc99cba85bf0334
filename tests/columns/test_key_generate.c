/*
 * Generated keys: ULIDs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ULID_SIZE 26
#define THREAD_COUNT 8
#define THREAD_KEYS 20000

typedef char ulid_text[ULID_SIZE + 1];

static void
generate(char ulid[ULID_SIZE + 1])
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    size_t count = 0;

    if (colander_key_generate(&key, NULL) != COLANDER_OK ||
        colander_key_decode(colander_buffer_slice(&key), parts, &count,
                            &scratch, NULL) != COLANDER_OK ||
        count != 1 || parts[0].type != COLANDER_STRING ||
        parts[0].bytes.size != ULID_SIZE)
        abort(); /* in any thread, where cmocka cannot assert */
    memcpy(ulid, parts[0].bytes.data, ULID_SIZE);
    ulid[ULID_SIZE] = '\0';
}

static uint64_t
ulid_time(const char *ulid)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint64_t time = 0;

    for (size_t i = 0; i < ULID_SIZE; i++) {
        const char *digit = strchr(digits, ulid[i]);

        assert_non_null(digit);
        if (i < 10)
            time = time << 5 | (uint64_t)(digit - digits);
    }
    return time;
}

static uint64_t
millisecond_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

TEST(a_generated_key_has_the_time_of_its_creation)
{
    uint64_t before = millisecond_now();
    char ulid[ULID_SIZE + 1];
    uint64_t made;

    generate(ulid);
    made = ulid_time(ulid);
    assert_in_range(made, before, millisecond_now());
}

TEST(generated_keys_grow_and_stay_within_the_time)
{
    char last[ULID_SIZE + 1] = "";
    char ulid[ULID_SIZE + 1];

    for (int i = 0; i < 100000; i++) {
        generate(ulid);
        assert_true(strcmp(last, ulid) < 0);
        memcpy(last, ulid, sizeof(last));
    }
    assert_true(ulid_time(last) <= millisecond_now());
}

static void *
generate_many(void *argument)
{
    ulid_text *ulids = argument;

    for (size_t i = 0; i < THREAD_KEYS; i++)
        generate(ulids[i]);
    return NULL;
}

static int
ulid_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(generated_keys_differ_between_threads)
{
    const size_t count = (size_t)THREAD_COUNT * THREAD_KEYS;
    SCOPED_MEMORY ulid_text *ulids = calloc(count, sizeof(*ulids));
    pthread_t threads[THREAD_COUNT];

    assert_non_null(ulids);
    for (size_t i = 0; i < THREAD_COUNT; i++)
        ZERO(pthread_create(&threads[i], NULL, generate_many,
                            ulids + i * THREAD_KEYS));
    for (size_t i = 0; i < THREAD_COUNT; i++)
        ZERO(pthread_join(threads[i], NULL));
    for (size_t i = 1; i < count; i++) {
        if (i % THREAD_KEYS != 0)
            assert_true(strcmp(ulids[i - 1], ulids[i]) < 0);
    }
    qsort(ulids, count, sizeof(*ulids), ulid_order);
    for (size_t i = 1; i < count; i++)
        assert_true(strcmp(ulids[i - 1], ulids[i]) != 0);
}

/* Returns the first key that the child of a fork generates. */
static void
generate_in_child(ulid_text ulid)
{
    int ends[2];
    pid_t child;
    int status;

    ZERO(pipe(ends));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        generate(ulid);
        _exit(write(ends[1], ulid, sizeof(ulid_text)) !=
              (ssize_t)sizeof(ulid_text));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], ulid, sizeof(ulid_text)), sizeof(ulid_text));
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* If it continued from the parent's last key, as its siblings do, a child would
 * generate the same keys as they. */
TEST(a_forked_child_draws_its_own_random_bits)
{
    const size_t random_start = 10;
    ulid_text parent;
    ulid_text child;

    for (int i = 0; i < 20; i++) {
        generate(parent);
        generate_in_child(child);
        assert_memory_not_equal(parent + random_start, child + random_start, 8);
    }
}

static atomic_bool is_over;

static void *
generate_until_over(void *unused)
{
    char ulid[ULID_SIZE + 1];

    (void)unused;
    while (!atomic_load(&is_over))
        generate(ulid);
    return NULL;
}

/* Its one key needs no memory, so it tests our lock, not the heap's. */
static void
assert_child_generates(struct colander_buffer *key)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60); /* instead of waiting forever */
        _exit(colander_key_generate(key, NULL) != COLANDER_OK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(a_child_forked_while_a_thread_generates_can_generate)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    pthread_t threads[THREAD_COUNT];

    OK(colander_buffer_reserve(&key, 64, NULL));
    atomic_store(&is_over, false);
    for (size_t i = 0; i < THREAD_COUNT; i++)
        ZERO(pthread_create(&threads[i], NULL, generate_until_over, NULL));
    for (int i = 0; i < 200; i++)
        assert_child_generates(&key);
    atomic_store(&is_over, true);
    for (size_t i = 0; i < THREAD_COUNT; i++)
        ZERO(pthread_join(threads[i], NULL));
}
