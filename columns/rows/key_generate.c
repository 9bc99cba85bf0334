/*
 * Generated keys: ULIDs.
 *
 * 48 bits of milliseconds, then 80 random bits, as 26 characters of Crockford's
 * base 32. So rows sort in the order in which they were added. Within a process
 * each key is greater than the previous one: if the clock does not advance, the
 * random bits are incremented. A forked child draws new random bits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"

#include <errno.h>
#include <pthread.h>
#include <sys/random.h>
#include <time.h>

#define TEXT_SIZE 26
#define RANDOM_SIZE 10
#define MILLISECOND_BITS 48
#define MILLISECOND_END (UINT64_C(1) << MILLISECOND_BITS)

struct ulid {
    uint64_t millisecond; /* since 1970 */
    uint8_t random[RANDOM_SIZE];
};

/* The last one. */
static struct {
    pthread_once_t once;
    int fork_error; /* of guarding against forks; 0: guarded */
    pthread_mutex_t mutex;
    bool is_ours; /* this process has generated it */
    struct ulid ulid;
} last = {.once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER};

static void
last_lock(void)
{
    pthread_mutex_lock(&last.mutex);
}

static void
last_unlock(void)
{
    pthread_mutex_unlock(&last.mutex);
}

static void
last_leave_to_parent(void)
{
    last.is_ours = false;
    pthread_mutex_unlock(&last.mutex);
}

/* In a child that is forked while another thread generates a key, the mutex
 * would stay locked. */
static void
last_guard_forks(void)
{
    last.fork_error =
        pthread_atfork(last_lock, last_unlock, last_leave_to_parent);
}

static uint64_t
millisecond_now(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || now.tv_sec < 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static enum colander_code
random_fill(uint8_t *bytes, size_t size, struct colander_error *err)
{
    while (size > 0) {
        ssize_t got = getrandom(bytes, size, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return COLANDER_FAIL(err, COLANDER_IO,
                                 "cannot get random bytes: %s",
                                 strerror(errno));
        bytes += got;
        size -= (size_t)got;
    }
    return COLANDER_OK;
}

/* False when all bits were ones. */
static bool
random_increment(uint8_t *bytes)
{
    for (size_t i = RANDOM_SIZE; i-- > 0;) {
        if (++bytes[i] != 0)
            return true;
    }
    return false;
}

/* The ULID after `ulid`; the mutex is held. */
static enum colander_code
ulid_advance(struct ulid *ulid, bool is_foreign, struct colander_error *err)
{
    uint64_t now = millisecond_now();

    if (now > ulid->millisecond)
        ulid->millisecond = now;
    else if (!is_foreign && random_increment(ulid->random))
        return COLANDER_OK;
    else if (!is_foreign)
        ulid->millisecond++;
    if (ulid->millisecond >= MILLISECOND_END)
        return COLANDER_FAIL(err, COLANDER_IO,
                             "cannot generate a key: the clock is after 10889");
    return random_fill(ulid->random, sizeof(ulid->random), err);
}

static enum colander_code
ulid_next(struct ulid *ulid, struct colander_error *err)
{
    enum colander_code code;

    (void)pthread_once(&last.once, last_guard_forks);
    if (last.fork_error != 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot generate a key: %s",
                             strerror(last.fork_error));
    last_lock();
    *ulid = last.ulid;
    code = ulid_advance(ulid, !last.is_ours, err);
    if (code == COLANDER_OK) {
        last.ulid = *ulid;
        last.is_ours = true;
    }
    last_unlock();
    return code;
}

/* Writes the low 5 * `count` bits, the highest first. */
static void
text_put(char *text, uint64_t bits, size_t count)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    while (count-- > 0) {
        text[count] = digits[bits & 31];
        bits >>= 5;
    }
}

enum colander_code
colander_key_generate(struct colander_buffer *key, struct colander_error *err)
{
    char text[TEXT_SIZE + 1];
    struct ulid ulid;
    enum colander_code code = ulid_next(&ulid, err);

    if (code != COLANDER_OK)
        return code;
    text_put(text, ulid.millisecond, 10);
    for (size_t half = 0; half < 2; half++) {
        uint64_t bits = 0;

        for (size_t i = 0; i < RANDOM_SIZE / 2; i++)
            bits = bits << 8 | ulid.random[half * (RANDOM_SIZE / 2) + i];
        text_put(text + 10 + half * 8, bits, 8);
    }
    text[TEXT_SIZE] = '\0';
    return colander_key_text(text, key, err);
}
