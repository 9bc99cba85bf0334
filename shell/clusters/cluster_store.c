/* See cluster_store.h. SPDX-License-Identifier: MIT */
#include "shell/cluster_store.h"
#include "cluster/topic.h"
#include "columns/union.h"
#include "core/array.h"
#include "shell/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REJECTS ".rejects" /* the family of what could not be read */
#define DESCRIBED_MAX 8    /* partitions */

/* A partition. */
struct part {
    char *name;                    /* FAMILY/0017 */
    struct cluster_reader *reader; /* NULL: there is no checkpoint */
    struct colander_store *store;
    const struct cluster_family *family; /* borrowed while it is opened */
    uint32_t number;                     /* of it */
    int64_t applied;                     /* the first offset that it has not */
    int64_t made;                        /* when, in seconds since 1970 */
};

struct cluster_store {
    struct colander_store *all;
    struct colander_budget *budget;
    struct part *parts;
    size_t count;
    size_t capacity;
};

/* ---------------------------------------------------------- checkpoints --- */

/* The numbers of the checkpoints of a partition, the oldest first. */
struct numbers {
    uint64_t *items;
    size_t count;
    size_t capacity;
};

static enum colander_code
note_number(void *context, const struct cluster_backup *backup,
            struct colander_error *err)
{
    struct numbers *numbers = context;
    const enum colander_code code = array_reserve(
        &numbers->items, numbers->count, &numbers->capacity, 1, err);

    if (code == COLANDER_OK)
        numbers->items[numbers->count++] = backup->number;
    return code;
}

/* Finds out how far the store is. Fails with CORRUPT if it is not of the
 * partition. */
static enum colander_code
find_place(struct part *part, struct colander_error *err)
{
    const struct cluster_family *family = part->family;
    const int32_t number = (int32_t)part->number;
    struct colander_family *rows = NULL;
    bool found = false;
    enum colander_code code =
        colander_family_open(part->store, family->name, &rows, err);

    if (code == COLANDER_OK)
        code = topic_check_place(rows, family->topic, number,
                                 (int32_t)family->partition_count, err);
    if (code == COLANDER_OK)
        code = topic_place(rows, family->topic, number, &part->applied, &found,
                           err);
    part->made = cluster_reader_made(part->reader);
    colander_family_close(rows);
    return code;
}

/* Opens the checkpoint at an address as a store. */
static enum colander_code
open_checkpoint(struct cluster_store *store, struct part *part,
                const char *address, struct colander_error *err)
{
    struct colander_options options;
    enum colander_code code = cluster_reader_open(address, &part->reader, err);

    if (code != COLANDER_OK)
        return code;
    colander_options_init(&options);
    options.mode = COLANDER_OPEN_READ_ONLY;
    options.budget = store->budget;
    options.remote = cluster_reader_files(part->reader);
    code = colander_store_open(cluster_reader_path(part->reader), &options,
                               &part->store, err);
    if (code == COLANDER_OK) {
        code = find_place(part, err);
        if (code != COLANDER_OK) {
            (void)!colander_store_close(part->store, NULL);
            part->store = NULL;
        }
    }
    if (code != COLANDER_OK) {
        cluster_reader_close(part->reader);
        part->reader = NULL;
    }
    return code;
}

/* Opens the newest one that is not damaged, which is not the last. */
static enum colander_code
open_older(struct cluster_store *store, struct part *part, const char *address,
           const struct colander_error *damage, struct colander_error *err)
{
    struct numbers numbers = {NULL, 0, 0};
    enum colander_code code =
        cluster_list(address, NULL, note_number, &numbers, err);
    bool is_open = false;

    for (size_t i = numbers.count;
         i-- > 1 && code == COLANDER_OK && !is_open;) {
        struct colander_error ignored;
        char *older;

        if (asprintf(&older, "%s#%" PRIu64, address, numbers.items[i - 1]) < 0)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
        else
            is_open =
                open_checkpoint(store, part, older, &ignored) == COLANDER_OK;
        if (code == COLANDER_OK)
            free(older);
    }
    free(numbers.items);
    if (code == COLANDER_OK && !is_open)
        return COLANDER_FAIL(err, damage->code, "%s", damage->message);
    return code;
}

static enum colander_code
open_part(struct cluster_store *store, struct cluster *cluster,
          const struct cluster_family *family, uint32_t number,
          struct colander_error *err)
{
    char *address = NULL;
    struct colander_error damage;
    char folder[CLUSTER_FOLDER_SIZE];
    struct part *part;
    enum colander_code code =
        array_reserve(&store->parts, store->count, &store->capacity, 1, err);

    if (code != COLANDER_OK)
        return code;
    part = &store->parts[store->count++];
    *part = (struct part){.family = family, .number = number};
    if (asprintf(&part->name, "%s/%04" PRIu32,
                 cluster_family_folder(family, folder), number) < 0) {
        part->name = NULL;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    }
    code = cluster_partition_address(cluster, folder, number, &address, err);
    if (code == COLANDER_OK) {
        code = open_checkpoint(store, part, address, &damage);
        if (code == COLANDER_CORRUPT)
            code = open_older(store, part, address, &damage, err);
        else if (code == COLANDER_NOT_FOUND)
            code = COLANDER_OK;
        else if (code != COLANDER_OK)
            (void)COLANDER_FAIL(err, code, "%s", damage.message);
    }
    if (code == COLANDER_OK &&
        part->applied < cluster_family_whole(family, number))
        code =
            COLANDER_FAIL(err, COLANDER_BUSY,
                          "no checkpoint has all rows that were there before "
                          "the repartition yet: wait until nodes make one");
    if (code != COLANDER_OK)
        colander_error_context(err, "partition %s", part->name);
    free(address);
    return code;
}

/* ------------------------------------------------------------------ all --- */

/* Whether a command that asks for `wanted` may read rows of a family. */
static bool
is_wanted(const char *family, const char *wanted)
{
    const size_t size = strlen(family);

    return wanted == NULL || colander_name_selects(wanted) ||
           (strncmp(wanted, family, size) == 0 &&
            (wanted[size] == '\0' || strcmp(wanted + size, REJECTS) == 0));
}

static enum colander_code
open_parts(struct cluster_store *store, struct cluster *cluster,
           const char *wanted, struct colander_error *err)
{
    struct cluster_texts names = {NULL, 0, 0};
    enum colander_code code = cluster_family_names(cluster, &names, NULL, err);
    bool has_some = false;

    for (size_t i = 0; i < names.count && !has_some; i++)
        has_some = is_wanted(names.items[i], wanted);
    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++) {
        struct cluster_family family = {.name = NULL};

        if (has_some && !is_wanted(names.items[i], wanted))
            continue; /* without any, messages name those there are */
        code = cluster_family(cluster, names.items[i], &family, err);
        for (uint32_t j = 0; code == COLANDER_OK && j < family.partition_count;
             j++)
            code = open_part(store, cluster, &family, j, err);
        cluster_family_release(&family);
    }
    cluster_texts_release(&names);
    return code;
}

static enum colander_code
open_union(struct cluster_store *store, const char *name,
           struct colander_error *err)
{
    struct colander_store **stores =
        calloc(store->count + 1, sizeof(struct colander_store *));
    size_t count = 0;
    enum colander_code code;

    if (stores == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for stores");
    for (size_t i = 0; i < store->count; i++) {
        if (store->parts[i].store != NULL)
            stores[count++] = store->parts[i].store;
    }
    code = colander_union_open(name, stores, count, &store->all, err);
    free(stores);
    return code;
}

enum colander_code
cluster_store_open(struct cluster *cluster, const char *name,
                   const char *family, struct cluster_store **store,
                   struct colander_error *err)
{
    struct cluster_store *opened = calloc(1, sizeof(*opened));
    struct colander_budget_options options;
    enum colander_code code;

    *store = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for stores");
    colander_budget_options_init(&options);
    code = colander_budget_create(&options, &opened->budget, err);
    if (code == COLANDER_OK)
        code = open_parts(opened, cluster, family, err);
    if (code == COLANDER_OK)
        code = open_union(opened, name, err);
    if (code == COLANDER_OK)
        *store = opened;
    else
        (void)!cluster_store_close(opened, NULL);
    return code;
}

enum colander_code
cluster_store_close(struct cluster_store *store, struct colander_error *err)
{
    enum colander_code code;

    if (store == NULL)
        return COLANDER_OK;
    code = colander_store_close(store->all, err);
    for (size_t i = 0; i < store->count; i++) {
        const enum colander_code closed = colander_store_close(
            store->parts[i].store, code == COLANDER_OK ? err : NULL);

        if (code == COLANDER_OK)
            code = closed;
        cluster_reader_close(store->parts[i].reader);
        free(store->parts[i].name);
    }
    colander_budget_release(store->budget);
    free(store->parts);
    free(store);
    return code;
}

struct colander_store *
cluster_store_get(const struct cluster_store *store)
{
    return store->all;
}

enum colander_code
cluster_store_describe(const struct cluster_store *store,
                       struct colander_buffer *text, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0;
         i < store->count && i < DESCRIBED_MAX && code == COLANDER_OK; i++) {
        const struct part *part = &store->parts[i];
        const time_t made = (time_t)part->made;
        char when[40] = "no checkpoint";
        struct tm utc;

        if (part->store != NULL)
            (void)strftime(when, sizeof(when), "checkpoint of %FT%TZ",
                           gmtime_r(&made, &utc));
        code = text_append_format(
            text, err, "%s%s from offset %" PRId64 " on (%s)",
            i == 0 ? "" : ", ", part->name, part->applied, when);
    }
    if (code == COLANDER_OK && store->count > DESCRIBED_MAX)
        code = text_append_format(text, err, ", and of %zu more partitions",
                                  store->count - DESCRIBED_MAX);
    return code;
}

struct cluster_reads
cluster_store_reads(const struct cluster_store *store)
{
    struct cluster_reads all = {0, 0, 0};

    for (size_t i = 0; i < store->count; i++) {
        struct cluster_reads reads;

        if (store->parts[i].reader == NULL)
            continue;
        reads = cluster_reader_reads(store->parts[i].reader);
        all.request_count += reads.request_count;
        all.fetched_size += reads.fetched_size;
        all.cached_size += reads.cached_size;
    }
    return all;
}
