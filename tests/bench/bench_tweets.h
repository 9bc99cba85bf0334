/*
 * Tweets generated from their number, as JSON lines, for the experiments that
 * read text.
 *
 *     {"id":1612345678901234567,"user":"...","text":"...","likes":3,
 *      "lang":"en","place":"...","time":"2023-01-01T00:00:00Z"}
 *
 * on one line of about 180 bytes. Ids ascend with gaps, beyond 2^53, and times
 * with them. Few users write most; few words make up most of a text, but texts
 * are hardly ever equal; likes have a long tail.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_TWEETS_H
#define BENCH_TWEETS_H

#include "bench.h"

/* The bytes before a tweet's id, which is first. */
#define BENCH_TWEET_ID_AT 6

/* Writes `count` tweets from number `first` on into a new file. */
void bench_tweets_write(const char *path, uint64_t first, uint64_t count);

#endif
