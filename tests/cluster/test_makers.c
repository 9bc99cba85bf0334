/*
 * Several backups to one address at the same time, each of which removes all
 * others: what is left at the end is whole.
 *
 * COLANDER_RUNS says how many rounds there are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/backups.h"
#include "cluster/cluster.h"
#include "columns/columns.h"
#include "columns/json.h"
#include "core/thread.h"
#include "support/cases.h"
#include "support/temporary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MAKERS 3
#define MEETINGS 20

static pthread_barrier_t meeting;
static _Thread_local bool meets; /* before it next puts a list */

enum colander_code __real_objects_put(struct objects *objects, const char *name,
                                      const struct object_body *body,
                                      struct colander_error *err);
enum colander_code __wrap_objects_put(struct objects *objects, const char *name,
                                      const struct object_body *body,
                                      struct colander_error *err);

enum colander_code
__wrap_objects_put(struct objects *objects, const char *name,
                   const struct object_body *body, struct colander_error *err)
{
    if (meets && strncmp(name, BACKUPS_FOLDER, strlen(BACKUPS_FOLDER)) == 0) {
        (void)pthread_barrier_wait(&meeting);
        meets = false;
    }
    return __real_objects_put(objects, name, body, err);
}

struct maker {
    char store[TEMPORARY_SIZE + 32];
    const char *address;
    unsigned round;
    enum colander_code code;
    struct colander_error err;
};

/* Puts rows that no other round or store has. */
static enum colander_code
put_rows(struct colander_store *store, const struct maker *maker,
         struct colander_error *err)
{
    struct colander_family *family;
    enum colander_code code = colander_family_open(store, "rows", &family, err);
    char row[TEMPORARY_SIZE + 128];

    for (unsigned i = 0; i < 200 && code == COLANDER_OK; i++) {
        (void)snprintf(row, sizeof(row),
                       "{\"_key\": %u, \"text\": \"%u of %s\"}", i,
                       maker->round, maker->store);
        code = colander_family_put_json(family, row, NULL, NULL, err);
    }
    if (code == COLANDER_OK)
        code = colander_family_flush(family, err);
    colander_family_close(family);
    return code;
}

static void *
make(void *context)
{
    struct maker *maker = context;
    struct colander_error *err = &maker->err;
    struct colander_backup made;
    struct colander_store *store;

    maker->code = colander_store_open(maker->store, NULL, &store, err);
    if (maker->code != COLANDER_OK)
        return NULL;
    maker->code = put_rows(store, maker, err);
    for (unsigned i = 0; i < 3 && maker->code == COLANDER_OK; i++)
        maker->code = cluster_backup(
            store, maker->address,
            &(struct cluster_backup_options){.keep_count = 1}, &made, err);
    if (colander_store_close(store, NULL) != COLANDER_OK)
        maker->code = COLANDER_IO;
    return NULL;
}

/* Makes what is there so old that it is removed if no backup has it. */
static void
make_old(const char *path, const char *address)
{
    struct object_list list = {NULL, 0, 0};
    struct objects *objects;
    char file[2 * TEMPORARY_SIZE + 256];

    OK(objects_open(address, &objects, why()));
    OK(objects_list(objects, BACKUPS_FILES, &list, why()));
    for (size_t i = 0; i < list.count; i++) {
        const time_t old =
            (time_t)list.items[i].modified - 2 * BACKUPS_COLLECTED_SECONDS;
        const struct timespec times[2] = {{.tv_sec = old}, {.tv_sec = old}};

        (void)snprintf(file, sizeof(file), "%s/objects/%s", path,
                       list.items[i].name);
        ZERO(utimensat(AT_FDCWD, file, times, 0));
    }
    object_list_release(&list);
    objects_close(objects);
}

/* Makes stores that may have their backups at one address: one, and others that
 * are restored from its backup. */
static void
make_stores(struct maker *makers, const char *path, const char *address)
{
    struct colander_backup made;
    struct colander_store *store;

    for (unsigned i = 0; i < MAKERS; i++) {
        (void)snprintf(makers[i].store, sizeof(makers[i].store), "%s/store%u",
                       path, i);
        makers[i].address = address;
    }
    OK(colander_store_open(makers[0].store, NULL, &store, why()));
    OK(cluster_backup(store, address, &(struct cluster_backup_options){0},
                      &made, why()));
    OK(colander_store_close(store, why()));
    for (unsigned i = 1; i < MAKERS; i++)
        OK(cluster_restore(address, 0, makers[i].store, NULL, &made, why()));
}

static void
no_finding(void *context, const char *file, const char *what)
{
    (void)context;
    fail_msg("%s: %s", file, what);
}

TEST(makers_and_removals_do_not_disturb_each_other)
{
    const char *runs = getenv("COLANDER_RUNS");
    const unsigned rounds = runs == NULL ? 4 : (unsigned)atoi(runs);
    struct maker makers[MAKERS];
    char path[TEMPORARY_SIZE];
    char address[TEMPORARY_SIZE + 32];

    temporary_make(path);
    (void)snprintf(address, sizeof(address), "file://%s/objects", path);
    make_stores(makers, path, address);
    for (unsigned round = 0; round < rounds; round++) {
        pthread_t threads[MAKERS];
        struct cluster_check check;

        for (unsigned i = 0; i < MAKERS; i++) {
            makers[i].round = round;
            ZERO(thread_create(&threads[i], make, &makers[i]));
        }
        for (unsigned i = 0; i < MAKERS; i++)
            ZERO(pthread_join(threads[i], NULL));
        for (unsigned i = 0; i < MAKERS; i++) {
            if (makers[i].code != COLANDER_OK)
                fail_msg("%s", makers[i].err.message);
        }
        OK(cluster_check(address, &check, no_finding, NULL, why()));
        assert_true(check.backup_count >= 1);
        make_old(path, address);
    }
    temporary_remove(path);
}

static void *
meet(void *context)
{
    struct maker *maker = context;
    struct colander_backup made;
    struct colander_store *store;

    maker->code = colander_store_open(maker->store, NULL, &store, &maker->err);
    for (unsigned i = 0; i < MEETINGS && maker->code == COLANDER_OK; i++) {
        meets = true;
        maker->code = cluster_backup(
            store, maker->address,
            &(struct cluster_backup_options){.keep_count = maker->round}, &made,
            &maker->err);
        if (meets) /* others must not wait */
            (void)pthread_barrier_wait(&meeting);
    }
    OK(colander_store_close(store, why()));
    return NULL;
}

static enum colander_code
note_number(void *context, const struct cluster_backup *backup,
            struct colander_error *err)
{
    uint64_t *last = context;

    (void)err;
    assert_true(backup->number > *last); /* they are in order */
    assert_null(backup->problem);
    *last = backup->number;
    return COLANDER_OK;
}

static uint64_t
count_backups(const char *address)
{
    struct object_list list = {NULL, 0, 0};
    struct objects *objects;
    uint64_t count;

    OK(objects_open(address, &objects, why()));
    OK(backups_list(objects, &list, why()));
    count = list.count;
    object_list_release(&list);
    objects_close(objects);
    return count;
}

TEST(no_two_backups_get_the_same_number)
{
    struct maker makers[MAKERS];
    char path[TEMPORARY_SIZE];
    char address[TEMPORARY_SIZE + 32];

    ZERO(pthread_barrier_init(&meeting, NULL, MAKERS));
    temporary_make(path);
    (void)snprintf(address, sizeof(address), "file://%s/objects", path);
    make_stores(makers, path, address);
    for (unsigned keep_count = 0; keep_count <= 10; keep_count += 10) {
        pthread_t threads[MAKERS];
        uint64_t last = 0;

        for (unsigned i = 0; i < MAKERS; i++) {
            makers[i].round = keep_count;
            ZERO(thread_create(&threads[i], meet, &makers[i]));
        }
        for (unsigned i = 0; i < MAKERS; i++)
            ZERO(pthread_join(threads[i], NULL));
        for (unsigned i = 0; i < MAKERS; i++)
            if (makers[i].code != COLANDER_OK)
                fail_msg("%s", makers[i].err.message);
        OK(cluster_list(address, NULL, note_number, &last, why()));
        if (keep_count == 0)
            assert_int_equal(count_backups(address), 1 + MAKERS * MEETINGS);
        else
            assert_true(count_backups(address) <= keep_count);
    }
    (void)pthread_barrier_destroy(&meeting);
    temporary_remove(path);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
