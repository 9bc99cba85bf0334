/*
 * Tweets generated from their number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_tweets.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define WORDS 30000
#define USERS 100000
#define PLACES 300
#define WORD_SIZE 16 /* with its zero byte */
#define LIKES_MAX 2000000
#define FIRST_MS INT64_C(383696225343)  /* since the epoch of ids: */
#define EPOCH_MS INT64_C(1288834974657) /* since 1970 */
#define GAP_MS 400                      /* between two tweets */

struct tweets {
    char (*words)[WORD_SIZE];
    char (*places)[WORD_SIZE];
    uint64_t random;
    struct colander_buffer line;
};

static uint64_t
next_random(struct tweets *tweets)
{
    return bench_mix(tweets->random++);
}

/* Above 0, up to 1. */
static double
next_share(struct tweets *tweets)
{
    return (double)((next_random(tweets) >> 11) + 1) * 0x1p-53;
}

/* Below `count`; n is picked about 1 / (n + 1) as often as 0. */
static size_t
next_rank(struct tweets *tweets, size_t count)
{
    double rank = exp(next_share(tweets) * log((double)count + 1)) - 1;

    return rank < (double)count ? (size_t)rank : count - 1;
}

/* --------------------------------------------------------------- words --- */

/* About one word in sixty has a non-ASCII letter in each syllable. */
static void
make_word(struct tweets *tweets, char *word, unsigned syllables)
{
    static const char *const first[] = {"b", "d", "f",  "g",  "k",  "l", "m",
                                        "n", "p", "r",  "s",  "t",  "v", "w",
                                        "z", "h", "th", "st", "ch", ""};
    static const char *const second[] = {"a", "e", "i", "o", "u"};
    static const char *const accented[] = {"é", "ó", "ü", "ą", "ö"};
    static const char *const third[] = {"", "", "", "n", "r", "s", "t", "l"};
    bool is_accented = next_random(tweets) % 60 == 0;

    word[0] = '\0';
    for (unsigned i = 0; i < syllables; i++) {
        uint64_t random = next_random(tweets);

        strcat(word, first[random % 20]);
        strcat(word, (is_accented ? accented : second)[random / 20 % 5]);
        if (i == syllables - 1)
            strcat(word, third[random / 100 % 8]);
    }
}

static void
make_words(struct tweets *tweets)
{
    tweets->words = bench_allocate(WORDS, sizeof(*tweets->words));
    tweets->places = bench_allocate(PLACES, sizeof(*tweets->places));
    for (unsigned i = 0; i < WORDS; i++)
        make_word(tweets, tweets->words[i], i < 100 ? 1 : i < 3000 ? 2 : 3);
    for (unsigned i = 0; i < PLACES; i++)
        make_word(tweets, tweets->places[i], 3);
}

/* --------------------------------------------------------------- lines --- */

/* One word in forty is a hash tag; one text in fifty ends with a quote. */
static void
add_text(struct tweets *tweets)
{
    const unsigned count = 6 + (unsigned)(next_random(tweets) % 9);

    bench_print(&tweets->line, "\"text\":\"");
    for (unsigned i = 0; i < count; i++)
        bench_print(&tweets->line, "%s%s%s", i == 0 ? "" : " ",
                    next_random(tweets) % 40 == 0 ? "#" : "",
                    tweets->words[next_rank(tweets, WORDS)]);
    if (next_random(tweets) % 50 == 0)
        bench_print(&tweets->line, " \\\"%s\\\"",
                    tweets->words[next_rank(tweets, WORDS)]);
    bench_print(&tweets->line, "\",");
}

static uint64_t
next_likes(struct tweets *tweets)
{
    double likes = 2 * (pow(next_share(tweets), -1 / 1.1) - 1);

    return likes < LIKES_MAX ? (uint64_t)likes : LIKES_MAX;
}

static const char *
next_language(struct tweets *tweets)
{
    static const char *const languages[] = {"en", "ja", "pl", "de", "fr"};
    uint64_t random = next_random(tweets) % 8;

    return languages[random < 4 ? 0 : random - 3];
}

static void
add_time(struct tweets *tweets, int64_t ms)
{
    time_t second = (ms + EPOCH_MS) / 1000;
    struct tm fields;
    char text[32];

    (void)gmtime_r(&second, &fields);
    if (strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &fields) == 0)
        bench_fail("tweets", "a time is too long");
    bench_print(&tweets->line, "\"time\":\"%s\"}\n", text);
}

static void
make_tweet(struct tweets *tweets, uint64_t number)
{
    size_t user;
    int64_t ms;

    tweets->random = number << 20;
    colander_buffer_clear(&tweets->line);
    ms = FIRST_MS + (int64_t)number * GAP_MS +
         (int64_t)(next_random(tweets) % GAP_MS);
    user = next_rank(tweets, USERS);
    bench_print(&tweets->line, "{\"id\":%" PRIu64 ",",
                (uint64_t)ms << 22 | next_random(tweets) >> 42);
    bench_print(&tweets->line, "\"user\":\"%s%zu\",",
                tweets->words[(user * 7919) % WORDS], user);
    add_text(tweets);
    bench_print(&tweets->line,
                "\"likes\":%" PRIu64 ",\"lang\":\"%s\",\"place\":\"%s\",",
                next_likes(tweets), next_language(tweets),
                tweets->places[next_rank(tweets, PLACES)]);
    add_time(tweets, ms);
}

void
bench_tweets_write(const char *path, uint64_t first, uint64_t count)
{
    struct tweets tweets = {.random = 0};
    FILE *file = bench_open_new(path);

    make_words(&tweets);
    tweets.random += 100 * first; /* more than a tweet takes */
    for (uint64_t i = 0; i < count; i++) {
        make_tweet(&tweets, first + i);
        (void)fwrite(tweets.line.data, 1, tweets.line.size, file);
        if (i % 100000 == 0)
            bench_progress("writing: %.1f of %.1f M tweets", (double)i / 1e6,
                           (double)count / 1e6);
    }
    bench_close_written(file, path);
    bench_progress("%s", "");
    colander_buffer_release(&tweets.line);
    free(tweets.words);
    free(tweets.places);
}
