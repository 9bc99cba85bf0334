/* See load_turn.h. SPDX-License-Identifier: MIT */
#include "shell/load_turn.h"
#include "core/clock.h"
#include "loading/load.h"
#include "shell/interrupt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 200 /* how often a turn that waits looks for an interrupt */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_fewer = PTHREAD_COND_INITIALIZER;
static struct load_turn *turns; /* those that have begun */

static unsigned large_count; /* that have memory for a run or a bulk */

bool
load_turn_take_memory(void *context)
{
    bool is_taken;

    (void)context;
    pthread_mutex_lock(&lock);
    is_taken = large_count < LOAD_TURN_LARGE_MAX;
    large_count += is_taken;
    pthread_mutex_unlock(&lock);
    return is_taken;
}

void
load_turn_give_memory(void *context)
{
    (void)context;
    pthread_mutex_lock(&lock);
    large_count--;
    pthread_mutex_unlock(&lock);
}

static bool
has_file(const struct load_turn *turn, const char *file)
{
    for (size_t i = 0; i < turn->file_count; i++) {
        if (strcmp(turn->files[i], file) == 0)
            return true;
    }
    return false;
}

/* Whether a load of one of its files runs. Requires the lock. */
static bool
must_wait(const struct load_turn *turn)
{
    for (const struct load_turn *other = turns; other != NULL;
         other = other->next) {
        for (size_t i = 0; i < turn->file_count; i++) {
            if (strcmp(other->family, turn->family) == 0 &&
                has_file(other, turn->files[i]))
                return true;
        }
    }
    return false;
}

/* Asks the client of a turn that waits, which says so if it is interrupted.
 * Releases the lock meanwhile, as the client may take its time. */
static void
ask_client(const struct load_turn *turn)
{
    uint64_t size;
    char *path = NULL;

    pthread_mutex_unlock(&lock);
    (void)!turn->client->look(turn->client->context, turn->files[0], &size,
                              &path, NULL);
    free(path);
    pthread_mutex_lock(&lock);
}

bool
load_turn_begin(struct load_turn *turn, bool waits)
{
    pthread_mutex_lock(&lock);
    while (waits && must_wait(turn) && !interrupt_happened()) {
        const struct timespec next = clock_after(CLOCK_MONOTONIC, LOOK_MS);
        const int error =
            pthread_cond_clockwait(&has_fewer, &lock, CLOCK_MONOTONIC, &next);

        if (error != 0)
            ask_client(turn);
    }
    turn->next = turns;
    turns = turn;
    pthread_mutex_unlock(&lock);
    return !interrupt_happened();
}

void
load_turn_end(struct load_turn *turn)
{
    struct load_turn **place;

    pthread_mutex_lock(&lock);
    for (place = &turns; *place != turn;)
        place = &(*place)->next;
    *place = turn->next;
    pthread_cond_broadcast(&has_fewer);
    pthread_mutex_unlock(&lock);
}
