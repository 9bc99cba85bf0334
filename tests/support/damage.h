/*
 * Damages one file of a store.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_DAMAGE_H
#define TESTS_SUPPORT_DAMAGE_H

#include "support/filter_files.h"
#include "support/random.h"

#define PATH_SIZE 600

/* ---------------------------------------------------------------- files --- */

/* The files of a store, of the kinds to damage. */
struct damageable {
    char paths[FILES_MAX][PATH_SIZE]; /* relative to the store */
    uint64_t kinds[FILES_MAX];
    size_t count;
};

static const char *const kind_names[] = {"SST",      "log",    "MANIFEST",
                                         "CURRENT",  "filter", "LEDGER",
                                         "COLANDER", "other"};

#define KINDS COUNT(kind_names)

#define LOG_KIND 1

static inline uint64_t
kind_of(const char *path)
{
    static const char *const parts[] = {".sst",    ".log",    "MANIFEST-",
                                        "CURRENT", ".filter", "LEDGER",
                                        "COLANDER"};
    uint64_t kind = 0;

    while (kind < KINDS - 1 && strstr(path, parts[kind]) == NULL)
        kind++;
    return kind;
}

static inline void
list_files(const char *store, struct damageable *files)
{
    char command[2 * PATH_SIZE];
    FILE *listing;

    (void)snprintf(command, sizeof(command),
                   "cd '%s' && find . -type f -size +0 | sort", store);
    listing = popen(command, "r");
    assert_non_null(listing);
    files->count = 0;
    while (fgets(files->paths[files->count], PATH_SIZE, listing) != NULL) {
        char *path = files->paths[files->count];

        path[strcspn(path, "\n")] = '\0';
        files->kinds[files->count++] = kind_of(path);
        assert_true(files->count < FILES_MAX);
    }
    ZERO(pclose(listing));
}

static inline void
run(const char *command)
{
    ZERO(system(command));
}

static inline void
copy_store(const char *from, const char *to)
{
    char command[2 * PATH_SIZE];

    (void)snprintf(command, sizeof(command), "cp -a '%s' '%s'", from, to);
    run(command);
}

/* --------------------------------------------------------------- damage --- */

enum damage_kind { BIT, BYTE, PAGE, CUT, SWAP, DELETE, DAMAGES };

static const char *const damage_names[] = {
    "a bit", "a byte", "a page of zeros", "cut", "swapped", "deleted"};

struct damage {
    enum damage_kind kind;
    uint64_t file_kind;
    char path[PATH_SIZE];  /* relative to the store */
    char other[PATH_SIZE]; /* swapped with it; or empty */
    off_t at;
    off_t size; /* of the file before the damage */
    bool is_last_log;
};

/* Picks a file of a random kind; each kind is equally likely. */
static inline void
choose_file(const struct damageable *files, uint64_t *random,
            struct damage *damage)
{
    size_t file;

    do {
        damage->file_kind = random_below(random, KINDS);
        file = random_below(random, files->count);
    } while (files->kinds[file] != damage->file_kind);
    memcpy(damage->path, files->paths[file], PATH_SIZE);
    damage->is_last_log = damage->file_kind == LOG_KIND &&
                          (file + 1 == files->count ||
                           files->kinds[file + 1] != damage->file_kind);
}

/* Picks a place in a file; often near its end, where most files have their
 * footer, and every bit counts. */
static inline off_t
choose_place(off_t size, uint64_t *random)
{
    const off_t end = size < 1500 ? size : 1500;

    if (random_below(random, 3) == 0)
        return size - 1 - (off_t)random_below(random, (uint64_t)end);
    return (off_t)random_below(random, (uint64_t)size);
}

static inline void
choose_damage(const char *store, const struct damageable *files,
              uint64_t *random, struct damage *damage)
{
    char path[2 * PATH_SIZE];
    struct stat status;
    size_t other = random_below(random, files->count);

    memset(damage, 0, sizeof(*damage));
    damage->kind = (enum damage_kind)random_below(random, DAMAGES);
    choose_file(files, random, damage);
    (void)snprintf(path, sizeof(path), "%s/%s", store, damage->path);
    ZERO(stat(path, &status));
    damage->size = status.st_size;
    damage->at = choose_place(status.st_size, random);
    if (damage->kind == PAGE)
        damage->at -= damage->at % 4096;
    if (damage->kind != SWAP)
        return;
    /* Mostly with one of its kind, which is harder to detect. */
    for (unsigned i = 0; i < 1000 && files->kinds[other] != damage->file_kind;
         i++)
        other = random_below(random, files->count);
    memcpy(damage->other, files->paths[other], PATH_SIZE);
}

static inline void
do_damage(const char *store, const struct damage *damage, uint64_t *random)
{
    char command[6 * PATH_SIZE];
    char path[2 * PATH_SIZE];
    uint8_t bytes[4096] = {0};
    size_t size = 1;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", store, damage->path);
    if (damage->kind == DELETE) {
        ZERO(unlink(path));
        return;
    }
    if (damage->kind == SWAP) {
        (void)snprintf(
            command, sizeof(command),
            "cd '%s' && mv '%s' aside && { test -e '%s' && mv '%s' '%s' || :; }"
            " && mv aside '%s'",
            store, damage->path, damage->other, damage->other, damage->path,
            damage->other);
        run(command);
        return;
    }
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    if (damage->kind == CUT) {
        ZERO(ftruncate(fd, damage->at));
        size = 0;
    } else if (damage->kind == PAGE) {
        size = (size_t)(damage->size - damage->at) < sizeof(bytes)
                   ? (size_t)(damage->size - damage->at)
                   : sizeof(bytes);
    } else {
        assert_int_equal(pread(fd, bytes, 1, damage->at), 1);
        bytes[0] ^= damage->kind == BIT
                        ? (uint8_t)(1 << random_below(random, 8))
                        : (uint8_t)(1 + random_below(random, 255));
    }
    assert_int_equal(pwrite(fd, bytes, size, damage->at), (ssize_t)size);
    ZERO(close(fd));
}

#endif
