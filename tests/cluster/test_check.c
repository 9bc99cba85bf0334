/*
 * The check of backups, while others remove some of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/backups.h"
#include "cluster/cluster.h"
#include "columns/columns.h"
#include "columns/json.h"
#include "support/cases.h"
#include "support/temporary.h"

#include <stdio.h>

#define BACKUPS 3

/* An address with backups, and what is removed when a finding is reported. */
struct address {
    char path[TEMPORARY_SIZE];
    char text[TEMPORARY_SIZE + 32];
    struct objects *objects;
    char backups[BACKUPS][CONTENT_NAME_SIZE];
    const char *removed; /* a list, or NULL */
    char file[CONTENT_NAME_SIZE];
    unsigned finding_count;
    unsigned missing_count;
};

/* Finds the object of the ledger, which no two backups share. */
static void
find_ledger(struct address *address, const char *backup)
{
    const struct listed_file *ledger;
    struct file_list files;

    OK(backups_read(address->objects, backup, &files, why()));
    ledger = file_list_find(&files, "LEDGER");
    assert_non_null(ledger);
    (void)snprintf(address->file, sizeof(address->file), "%s",
                   content_object(&ledger->content, ledger->id).text);
    file_list_release(&files);
}

static int
setup(void **state)
{
    static struct address made;
    struct object_list list = {NULL, 0, 0};
    struct colander_backup backup;
    struct colander_family *family;
    struct colander_store *store;
    char path[TEMPORARY_SIZE + 32];

    memset(&made, 0, sizeof(made));
    temporary_make(made.path);
    (void)snprintf(path, sizeof(path), "%s/store", made.path);
    (void)snprintf(made.text, sizeof(made.text), "file://%s/objects",
                   made.path);
    OK(colander_store_open(path, NULL, &store, why()));
    OK(colander_family_open(store, "rows", &family, why()));
    for (unsigned i = 0; i < BACKUPS; i++) {
        OK(colander_family_put_json(family, "{\"_key\": 1}", NULL, NULL,
                                    why()));
        OK(cluster_backup(store, made.text, &(struct cluster_backup_options){0},
                          &backup, why()));
    }
    colander_family_close(family);
    OK(colander_store_close(store, why()));
    OK(objects_open(made.text, &made.objects, why()));
    OK(backups_list(made.objects, &list, why()));
    assert_int_equal(list.count, BACKUPS);
    for (unsigned i = 0; i < BACKUPS; i++)
        (void)snprintf(made.backups[i], CONTENT_NAME_SIZE, "%s",
                       list.items[i].name);
    object_list_release(&list);
    *state = &made;
    return 0;
}

static int
teardown(void **state)
{
    struct address *address = *state;

    objects_close(address->objects);
    temporary_remove(address->path);
    return 0;
}

#define TEST_CHECK(name)                                                       \
    TEST_WITH(struct address *address, name, setup, teardown)

/* The first finding is of the list that was damaged: the objects were not read
 * yet. Others remove a backup at this moment. */
static void
count_finding(void *context, const char *file, const char *what)
{
    struct address *address = context;

    (void)file;
    if (address->finding_count++ == 0) {
        if (address->removed != NULL)
            OK(objects_delete(address->objects, address->removed, why()));
        OK(objects_delete(address->objects, address->file, why()));
    }
    address->missing_count += strcmp(what, "it is missing") == 0;
}

/* Damages a list, and lets another and its ledger be removed meanwhile. */
static void
check(struct address *address, unsigned damaged, unsigned removed,
      bool removes_list, struct cluster_check *check)
{
    static const struct object_body bad = {-1, (const uint8_t *)"bad", 3};

    find_ledger(address, address->backups[removed]);
    OK(objects_put(address->objects, address->backups[damaged], &bad, why()));
    address->removed = removes_list ? address->backups[removed] : NULL;
    OK(cluster_check(address->text, check, count_finding, address, why()));
    assert_int_equal(check->finding_count, address->finding_count);
}

TEST_CHECK(a_list_that_is_removed_before_it_is_read_is_no_finding)
{
    struct cluster_check checked;

    check(address, 0, 1, true, &checked);
    assert_int_equal(checked.finding_count, 1);
    assert_int_equal(checked.backup_count, 2);
}

TEST_CHECK(an_object_that_is_removed_with_its_backup_is_no_finding)
{
    struct cluster_check checked;

    check(address, 2, 0, true, &checked);
    assert_int_equal(checked.finding_count, 1);
    assert_int_equal(checked.backup_count, 3);
}

TEST_CHECK(an_object_that_is_removed_alone_is_missing)
{
    struct cluster_check checked;

    check(address, 2, 0, false, &checked);
    assert_int_equal(checked.finding_count, 2);
    assert_int_equal(address->missing_count, 1);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
