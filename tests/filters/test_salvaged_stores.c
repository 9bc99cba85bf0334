/*
 * Salvage of stores with one damaged file: whatever is not reported as lost is
 * unchanged. COLANDER_RUNS sets the number of damages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/salvaging.h"

static void
damage_once(struct salvaging *salvaging, const struct damageable *files)
{
    struct damage damage;

    choose_damage(salvaging->killed, files, &salvaging->random, &damage);
    printf("%s: %s%s%s at %lld of %lld: ", damage_names[damage.kind],
           damage.path, damage.other[0] == '\0' ? "" : " and ", damage.other,
           (long long)damage.at, (long long)damage.size);
    (void)fflush(stdout);
    copy_store(salvaging->killed, salvaging->path);
    do_damage(salvaging->path, &damage, &salvaging->random);
    salvaging->damage = &damage;
    salvage_store(salvaging, salvaging->path);
    printf("%zu losses reported, %llu rows\n", salvaging->loss_count,
           (unsigned long long)salvaging->doubtful);
    salvaging->whole[damage.file_kind] += salvaging->loss_count == 0;
    salvaging->partial[damage.file_kind] += salvaging->loss_count > 0;
    temporary_remove(salvaging->path);
}

TEST(what_is_not_reported_is_unchanged)
{
    static struct damageable files;
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = salvaging_begin(__func__, directory);

    /* Nothing is lost from an intact store. */
    salvage_store(salvaging, salvaging->killed);
    assert_int_equal(salvaging->loss_count, 0);
    list_files(salvaging->killed, &files);
    for (uint64_t runs = random_runs(100); runs > 0; runs--)
        damage_once(salvaging, &files);
    for (size_t i = 0; i < KINDS; i++)
        printf("%-8s %5llu whole, %5llu in part\n", kind_names[i],
               (unsigned long long)salvaging->whole[i],
               (unsigned long long)salvaging->partial[i]);
    salvaging_end(salvaging, directory);
}
