/*
 * Pieces of objects on the local disk: kept, checked and bounded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/object_cache.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/temporary.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[TEMPORARY_SIZE];

static int
make_directory(void **state)
{
    (void)state;
    temporary_make(directory);
    ZERO(setenv("COLANDER_CACHE", directory, 1));
    ZERO(unsetenv("COLANDER_CACHE_SIZE"));
    return 0;
}

static int
drop_directory(void **state)
{
    (void)state;
    temporary_remove(directory);
    return 0;
}

#define CACHE_TEST(name)                                                       \
    TEST_WITH(void *state, name, make_directory, drop_directory)

static struct object_cache *
open_cache(const char *address)
{
    struct object_cache *cache;

    OK(object_cache_open(address, &cache, why()));
    return cache;
}

/* Fills a piece with what only this piece has. */
static void
fill(uint8_t *bytes, uint64_t index)
{
    for (size_t i = 0; i < OBJECT_PIECE_SIZE; i++)
        bytes[i] = (uint8_t)(i * 31 + index * 7 + (i >> 8));
}

static uint8_t piece[OBJECT_PIECE_SIZE];
static uint8_t found[OBJECT_PIECE_SIZE];

CACHE_TEST(a_piece_is_there_for_its_object_and_place_only)
{
    struct object_cache *cache = open_cache("s3://a");
    struct object_cache *later = open_cache("s3://a");
    struct object_cache *other = open_cache("s3://b");

    fill(piece, 3);
    assert_false(object_cache_get(cache, "files/x", 3, found, sizeof(found)));
    object_cache_put(cache, "files/x", 3, piece, sizeof(piece));
    object_cache_put(cache, "files/x", 4, piece, 10); /* the last one */
    assert_true(object_cache_get(later, "files/x", 3, found, sizeof(found)));
    assert_memory_equal(found, piece, sizeof(piece));
    assert_true(object_cache_get(later, "files/x", 4, found, 10));
    assert_false(object_cache_get(later, "files/x", 4, found, 11));
    assert_false(object_cache_get(later, "files/x", 2, found, sizeof(found)));
    assert_false(object_cache_get(later, "files/y", 3, found, sizeof(found)));
    assert_false(object_cache_get(other, "files/x", 3, found, sizeof(found)));
    object_cache_close(cache);
    object_cache_close(later);
    object_cache_close(other);
}

/* Whether a piece is there for the next one who opens the cache. */
static bool
is_kept(void)
{
    struct object_cache *cache = open_cache("s3://a");
    bool is_there;

    fill(piece, 1);
    object_cache_put(cache, "files/x", 1, piece, sizeof(piece));
    object_cache_close(cache);
    cache = open_cache("s3://a");
    is_there = object_cache_get(cache, "files/x", 1, found, sizeof(found));
    object_cache_close(cache);
    return is_there;
}

/* In /tmp others could put pieces, and in the present directory, too. */
CACHE_TEST(nothing_is_kept_without_a_directory_of_the_user)
{
    ZERO(unsetenv("COLANDER_CACHE"));
    ZERO(unsetenv("XDG_CACHE_HOME"));
    ZERO(setenv("HOME", directory, 1));
    assert_true(is_kept());
    ZERO(setenv("HOME", "", 1));
    assert_false(is_kept());
    ZERO(unsetenv("HOME"));
    assert_false(is_kept());
    ZERO(setenv("XDG_CACHE_HOME", directory, 1));
    assert_true(is_kept());
    ZERO(unsetenv("XDG_CACHE_HOME"));
}

static uint64_t total;
static int (*visit)(const char *path);

static int
visit_file(const char *path, const struct stat *status, int kind,
           struct FTW *place)
{
    (void)place;
    if (kind != FTW_F)
        return 0;
    total += (uint64_t)status->st_size;
    return visit == NULL ? 0 : visit(path);
}

static uint64_t
visit_files(int (*visitor)(const char *path))
{
    total = 0;
    visit = visitor;
    ZERO(nftw(directory, visit_file, 8, FTW_PHYS));
    return total;
}

static int
flip_bit(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const off_t at = (off_t)random_below(random_state(), OBJECT_PIECE_SIZE);
    uint8_t byte;

    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= (uint8_t)(1 << random_below(random_state(), 8));
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    (void)close(fd);
    return 0;
}

static int
cut(const char *path)
{
    return truncate(path,
                    (off_t)random_below(random_state(), OBJECT_PIECE_SIZE));
}

CACHE_TEST(a_damaged_piece_is_none)
{
    struct object_cache *cache = open_cache("s3://a");

    for (uint64_t i = 0; i < 50; i++) {
        fill(piece, i);
        object_cache_put(cache, "files/x", i, piece, sizeof(piece));
    }
    (void)visit_files(flip_bit);
    for (uint64_t i = 0; i < 50; i++) {
        assert_false(
            object_cache_get(cache, "files/x", i, found, sizeof(found)));
        fill(piece, i);
        object_cache_put(cache, "files/x", i, piece, sizeof(piece));
        assert_true(
            object_cache_get(cache, "files/x", i, found, sizeof(found)));
    }
    (void)visit_files(cut);
    for (uint64_t i = 0; i < 50; i++)
        assert_false(
            object_cache_get(cache, "files/x", i, found, sizeof(found)));
    object_cache_close(cache);
}

CACHE_TEST(what_was_not_used_for_longest_makes_room)
{
    struct object_cache *cache;

    ZERO(setenv("COLANDER_CACHE_SIZE", "1", 1));
    cache = open_cache("s3://a");
    for (uint64_t i = 0; i < 300; i++) {
        fill(piece, i);
        object_cache_put(cache, "files/x", i, piece, sizeof(piece));
        assert_true(visit_files(NULL) < (1 << 20) + (1 << 17));
    }
    assert_true(visit_files(NULL) > 1 << 19);
    assert_true(object_cache_get(cache, "files/x", 299, found, sizeof(found)));
    assert_false(object_cache_get(cache, "files/x", 0, found, sizeof(found)));
    object_cache_close(cache);

    ZERO(setenv("COLANDER_CACHE_SIZE", "0", 1));
    cache = open_cache("s3://a");
    assert_false(object_cache_get(cache, "files/x", 299, found, sizeof(found)));
    object_cache_close(cache);
    ZERO(setenv("COLANDER_CACHE_SIZE", "1x", 1));
    FAILS(object_cache_open("s3://a", &cache, why()), COLANDER_INVALID);
}

static void *
use_often(void *context)
{
    struct object_cache *cache = open_cache("s3://a");
    uint8_t bytes[OBJECT_PIECE_SIZE];
    uint8_t got[OBJECT_PIECE_SIZE];
    uint64_t random = (uint64_t)(uintptr_t)context;

    for (unsigned i = 0; i < 600; i++) {
        const uint64_t index = random_below(&random, 100);

        fill(bytes, index);
        if (object_cache_get(cache, "files/x", index, got, sizeof(got)))
            assert_memory_equal(got, bytes, sizeof(bytes));
        else
            object_cache_put(cache, "files/x", index, bytes, sizeof(bytes));
    }
    object_cache_close(cache);
    return NULL;
}

/* Each has a cache of its own, as processes have. */
CACHE_TEST(several_may_use_the_same_directory)
{
    pthread_t threads[4];
    uint64_t seed = random_seed("several");

    ZERO(setenv("COLANDER_CACHE_SIZE", "1", 1));
    for (size_t i = 0; i < 4; i++)
        ZERO(pthread_create(&threads[i], NULL, use_often,
                            (void *)(uintptr_t)(seed + i)));
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}
