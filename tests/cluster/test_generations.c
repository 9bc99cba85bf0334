/*
 * Generations of families: the last one counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/definition.h"
#include "place.h"

static struct cluster *
create(struct place *place)
{
    const struct cluster_definition definition = {
        .name = (char *)"c",
        .log = (char *)"kafka://b1",
        .members = (char *)"c-members",
    };
    struct cluster *cluster;

    OK(cluster_create(place->address, &definition, why()));
    OK(cluster_open(place->address, &cluster, why()));
    return cluster;
}

static struct cluster_family
some_family(void)
{
    return (struct cluster_family){
        .name = (char *)"air_quality",
        .topic = (char *)"air",
        .partition_count = 4,
        .replica_count = 2,
        .format = (char *)"json",
        .on_duplicate = (char *)"replace",
        .record_size = 5000,
    };
}

/* Adds offsets to the next generation of `family`. */
static void
make_next(struct cluster_family *family, uint32_t partitions)
{
    static char *offsets[] = {"0", "12", "3", "400000000000"};

    family->generation++;
    family->partition_count = partitions;
    family->whole = (struct cluster_texts){offsets, partitions, 4};
}

PLACE_TEST(the_last_generation_of_a_family_counts)
{
    struct cluster *cluster = create(place);
    struct cluster_family family = some_family();
    struct cluster_family read = {.name = NULL};
    struct cluster_texts names = {NULL, 0, 0};
    struct object_list list = {NULL, 0, 0};
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    char folder[CLUSTER_FOLDER_SIZE];
    const char *other;
    uint64_t *before;
    uint64_t *after;
    char *first;
    bool is_new;

    FAILS(cluster_redefine(cluster, &family, why()), COLANDER_NOT_FOUND);
    OK(cluster_define(cluster, &family, &is_new, why()));
    OK(objects_list(place->objects, "families", &list, why()));
    first = strdup(list.items[0].name);
    object_list_release(&list);
    OK(cluster_family_names(cluster, &names, &before, why()));
    assert_int_equal(names.count, 1);
    cluster_texts_release(&names);
    assert_string_equal(cluster_family_folder(&family, folder), "air_quality");
    assert_int_equal(cluster_family_whole(&family, 0), 0);
    FAILS(cluster_redefine(cluster, &family, why()), COLANDER_EXISTS);
    make_next(&family, 4);
    family.whole.count = 3;
    FAILS(cluster_redefine(cluster, &family, why()), COLANDER_INVALID);
    family.whole.count = 4;
    OK(cluster_redefine(cluster, &family, why()));
    FAILS(cluster_redefine(cluster, &family, why()), COLANDER_EXISTS);
    OK(cluster_family(cluster, "air_quality", &read, why()));
    assert_int_equal(read.generation, 1);
    assert_int_equal(read.partition_count, 4);
    assert_int_equal(read.record_size, 5000);
    assert_int_equal(cluster_family_whole(&read, 3), INT64_C(400000000000));
    assert_string_equal(cluster_family_folder(&read, folder), "air_quality.1");
    cluster_family_release(&read);
    OK(cluster_family_names(cluster, &names, &after, why()));
    assert_int_equal(names.count, 1);
    assert_int_not_equal(before[0], after[0]);
    cluster_texts_release(&names);
    free(before);
    free(after);

    /* it is asked for without its generation */
    family.generation = 0;
    family.whole.count = 0;
    OK(cluster_define(cluster, &family, &is_new, why()));
    assert_false(is_new);
    family.partition_count = 3;
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_EXISTS);
    assert_non_null(strstr(error_text(), "partitions is '4', not '3'"));

    /* another process makes another one at the same time */
    OK(objects_list(place->objects, "families", &list, why()));
    assert_int_equal(list.count, 2);
    other = strcmp(list.items[0].name, first) == 0 ? list.items[1].name
                                                   : list.items[0].name;
    OK(objects_get(place->objects, other, 0, 10000, &json, why()));
    OK(objects_delete(place->objects, other, why()));
    make_next(&family, 2);
    OK(cluster_redefine(cluster, &family, why()));
    put(place, other, colander_buffer_slice(&json));
    object_list_release(&list);
    colander_buffer_release(&json);
    free(first);
    FAILS(cluster_family(cluster, "air_quality", &read, why()),
          COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), "has 2 definitions"));
    cluster_close(cluster);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
