/*
 * Backups made while rows are written, and opened as stores to check them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CONCURRENT_BACKUPS_H
#define TESTS_SUPPORT_CONCURRENT_BACKUPS_H

#include "support/concurrent_families.h"
#include "support/filter_files.h"

/* Copies what is acknowledged by now. */
static inline void
note_acknowledged(struct world *world, struct world *backup)
{
    backup->settled_count = world->settled_count;
    for (uint64_t i = 0; i < KEYS; i++)
        shared_store(&backup->versions[i].acknowledged,
                     shared_load(&world->versions[i].acknowledged));
    for (uint64_t i = 0; i < PAIRS; i++)
        shared_store(&backup->stamps[i].acknowledged,
                     shared_load(&world->stamps[i].acknowledged));
}

/* Copies what is begun by now. */
static inline void
note_begun(struct world *world, struct world *backup)
{
    for (uint64_t i = 0; i < KEYS; i++)
        shared_store(&backup->versions[i].begun,
                     shared_load(&world->versions[i].begun));
    for (uint64_t i = 0; i < PAIRS; i++)
        shared_store(&backup->stamps[i].begun,
                     shared_load(&world->stamps[i].begun));
}

/* Checks the backup as readers check the store. */
static inline void
look_at_backup(struct actor *actor, struct world *backup, const char *path)
{
    struct colander_options options = usual_options();
    struct actor reader = *actor;

    options.mode = COLANDER_OPEN_READ_ONLY;
    DID(colander_store_open(path, &options, &backup->store, why()));
    reader.world = backup;
    backup->rows = open_family(&reader, "rows");
    backup->left = open_family(&reader, "left");
    backup->right = open_family(&reader, "right");
    check_scan(&reader);
    for (unsigned i = 0; i < 5; i++) {
        check_question(&reader);
        check_version(&reader);
        check_pair(&reader);
    }
    colander_family_close(backup->rows);
    colander_family_close(backup->left);
    colander_family_close(backup->right);
    DID(colander_store_close(backup->store, why()));
    actor->random = reader.random;
}

static inline void
back_up_once(struct actor *actor)
{
    const char *directory = play_of(actor)->backups;
    struct world *backup = calloc(1, sizeof(*backup));
    struct colander_backup made;
    char path[2 * TEMPORARY_SIZE];

    note_acknowledged(actor->world, backup);
    DID(colander_store_backup(actor->world->store, directory, 2, &made, why()));
    note_begun(actor->world, backup);
    (void)snprintf(path, sizeof(path), "%s/%06llu", directory,
                   (unsigned long long)made.number);
    look_at_backup(actor, backup, path);
    free(backup);
    pause_shortly();
}

#endif
