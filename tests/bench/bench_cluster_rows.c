/*
 * Tweets, and those of their users that have written five.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_cluster_rows.h"
#include "bench_lines.h"
#include "bench_nodes.h"
#include "bench_tweets.h"

#include <inttypes.h>
#include <stdlib.h>

#define USERS_MAX 500 /* that are asked for */

struct user {
    uint64_t hash;
    struct colander_slice name; /* in the file */
};

static int
compare(const void *a, const void *b)
{
    const struct user *x = a;
    const struct user *y = b;

    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Reads the user of a line. Its name needs no escapes in an address. */
static bool
read_user(struct colander_slice line, struct user *user)
{
    static const char before[] = "\"user\":\"";
    const uint8_t *at =
        memmem(line.data, line.size, before, sizeof(before) - 1);
    size_t size = 0;

    if (at == NULL)
        return false;
    at += sizeof(before) - 1;
    user->hash = 0;
    for (; at[size] != '"'; size++) {
        if (at[size] < '0' || at[size] > 'z')
            return false;
        user->hash = bench_mix(user->hash ^ at[size]);
    }
    user->name = colander_slice_of(at, size);
    return size < BENCH_CLUSTER_USER_MAX;
}

static void
choose_users(struct bench_cluster_rows *rows, struct user *users, size_t count)
{
    rows->users = bench_allocate(USERS_MAX, sizeof(*rows->users));
    for (size_t i = 0; i < count && rows->user_count < USERS_MAX;) {
        size_t end = i + 1;

        while (end < count && users[end].hash == users[i].hash)
            end++;
        if (end - i == BENCH_CLUSTER_FOUND)
            (void)snprintf(
                rows->users[rows->user_count++], BENCH_CLUSTER_USER_MAX, "%.*s",
                (int)users[i].name.size, (const char *)users[i].name.data);
        i = end;
    }
    if (rows->user_count == 0)
        bench_fail("cluster", "no user has five rows");
}

void
bench_cluster_rows_make(struct bench_cluster_rows *rows, const char *directory,
                        uint64_t count)
{
    struct user *users = bench_allocate(count, sizeof(*users));
    struct colander_slice file;
    struct colander_slice lines;
    struct colander_slice line;
    size_t user_count = 0;

    memset(rows, 0, sizeof(*rows));
    rows->count = count;
    (void)snprintf(rows->path, sizeof(rows->path), "%s/%" PRIu64 ".jsonl",
                   directory, count);
    bench_tweets_write(rows->path, 0, count);
    file = bench_map(rows->path);
    rows->size = file.size;
    lines = file;
    while (bench_next_line(&lines, &line))
        user_count += read_user(line, &users[user_count]);
    qsort(users, user_count, sizeof(*users), compare);
    choose_users(rows, users, user_count);
    bench_unmap(file);
    free(users);
}

void
bench_cluster_rows_release(struct bench_cluster_rows *rows)
{
    free(rows->users);
}

const char *
bench_cluster_user(const struct bench_cluster_rows *rows, uint64_t number)
{
    return rows->users[number % rows->user_count];
}

bool
bench_cluster_ask(struct bench_http *http, const char *user, unsigned count)
{
    struct colander_slice answer;
    char target[200];
    unsigned lines = 0;

    (void)snprintf(target, sizeof(target),
                   "/find/" BENCH_FAMILY "?q=user%%3D%s", user);
    if (!bench_http_try(http, target, &answer))
        return false;
    for (size_t i = 0; i < answer.size; i++)
        lines += answer.data[i] == '\n';
    if (lines < 1 || memmem(answer.data, answer.size, "{\"_end\":", 8) == NULL)
        return false;
    if (lines - 1 != count)
        bench_fail("cluster", "an answer has a wrong number of rows");
    return true;
}
