/*
 * Definitions as objects. A put replaces what is there, so neither kind relies
 * on a put alone: README.md says what happens to two processes at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/content.h"
#include "cluster/definition_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

#define CLUSTER_OBJECT "cluster.json"
#define FAMILIES "families"
#define PARTITIONS "partitions"
#define SUFFIX ".json"
#define HASH_DIGITS ((size_t)2 * CONTENT_HASH_SIZE)

struct cluster {
    struct objects *objects;
    struct cluster_definition definition;
    char *address;
};

static enum colander_code
put(struct objects *objects, const char *name,
    const struct colander_buffer *json, struct colander_error *err)
{
    const struct object_body body = {-1, json->data, json->size};

    return objects_put(objects, name, &body, err);
}

/* ------------------------------------------------------------- clusters --- */

/* Reads cluster.json into an empty struct. */
static enum colander_code
read_cluster(struct objects *objects, struct cluster_definition *definition,
             struct colander_error *err)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    enum colander_code code = objects_get(objects, CLUSTER_OBJECT, 0,
                                          DEFINITION_SIZE_MAX, &json, err);

    if (code == COLANDER_OK) {
        code = cluster_definition_decode(definition,
                                         colander_buffer_slice(&json), err);
        if (code != COLANDER_OK)
            colander_error_context(
                err, code == COLANDER_CORRUPT ? "'%s' is damaged" : "'%s'",
                CLUSTER_OBJECT);
    }
    colander_buffer_release(&json);
    return code;
}

/* Fails if there is a cluster, and says which. */
static enum colander_code
check_none(struct objects *objects, struct colander_error *err)
{
    struct cluster_definition there = {.name = NULL};
    enum colander_code code = read_cluster(objects, &there, err);

    if (code == COLANDER_OK)
        code = COLANDER_FAIL(err, COLANDER_EXISTS,
                             "there is the cluster '%s' already, whose log is "
                             "%s",
                             there.name, there.log);
    cluster_definition_release(&there);
    return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
}

/* Fails unless what is there is what was put. */
static enum colander_code
check_own(struct objects *objects, const char *id, struct colander_error *err)
{
    struct cluster_definition there = {.name = NULL};
    enum colander_code code = read_cluster(objects, &there, err);

    if (code == COLANDER_OK && strcmp(there.id, id) != 0)
        code = COLANDER_FAIL(err, COLANDER_EXISTS,
                             "another process has created the cluster '%s' "
                             "there at the same time",
                             there.name);
    cluster_definition_release(&there);
    return code;
}

/* Creates a cluster, or only looks whether it may. */
static enum colander_code
create(const char *address, const struct cluster_definition *definition,
       bool only_looks, struct colander_error *err)
{
    struct cluster_definition own = *definition; /* borrows but for the id */
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct objects *objects = NULL;
    enum colander_code code = objects_open(address, &objects, err);
    uint64_t number = 0;
    char id[17];

    if (code == COLANDER_OK &&
        getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        code = COLANDER_FAIL(err, COLANDER_IO, "no random number");
    (void)snprintf(id, sizeof(id), "%016" PRIx64, number);
    own.id = id;
    if (code == COLANDER_OK)
        code = cluster_definition_encode(&own, &json, err);
    if (code == COLANDER_OK)
        code = check_none(objects, err);
    if (code == COLANDER_OK && !only_looks)
        code = put(objects, CLUSTER_OBJECT, &json, err);
    if (code == COLANDER_OK && !only_looks)
        code = check_own(objects, id, err);
    colander_buffer_release(&json);
    objects_close(objects);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot create a cluster at '%s'", address);
    return code;
}

enum colander_code
cluster_may_create(const char *address,
                   const struct cluster_definition *definition,
                   struct colander_error *err)
{
    return create(address, definition, true, err);
}

enum colander_code
cluster_create(const char *address, const struct cluster_definition *definition,
               struct colander_error *err)
{
    return create(address, definition, false, err);
}

enum colander_code
cluster_open(const char *address, struct cluster **cluster,
             struct colander_error *err)
{
    struct cluster *opened = calloc(1, sizeof(*opened));
    size_t size = strlen(address);
    enum colander_code code;

    *cluster = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a cluster");
    while (size > strlen("file:///") && address[size - 1] == '/')
        size--;
    opened->address = strndup(address, size);
    code =
        opened->address != NULL
            ? objects_open(address, &opened->objects, err)
            : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a cluster");
    if (code == COLANDER_OK)
        code = read_cluster(opened->objects, &opened->definition, err);
    if (code == COLANDER_NOT_FOUND)
        code = COLANDER_FAIL(err, code, "there is no cluster at '%s'", address);
    else if (code != COLANDER_OK)
        colander_error_context(err, "cannot open the cluster at '%s'", address);
    if (code == COLANDER_OK)
        *cluster = opened;
    else
        cluster_close(opened);
    return code;
}

void
cluster_stop_by(struct cluster *cluster, const atomic_bool *is_stopped)
{
    objects_stop_by(cluster->objects, is_stopped);
}

void
cluster_close(struct cluster *cluster)
{
    if (cluster == NULL)
        return;
    objects_close(cluster->objects);
    cluster_definition_release(&cluster->definition);
    free(cluster->address);
    free(cluster);
}

const struct cluster_definition *
cluster_definition(const struct cluster *cluster)
{
    return &cluster->definition;
}

/* ------------------------------------------------------------- families --- */

/* Returns the name of a family whose definition an object is; empty: it is
 * another object. */
static struct colander_slice
name_in(const char *object)
{
    const char *name = object + strlen(FAMILIES "/");
    const size_t size = strlen(name);
    const size_t rest = 1 + HASH_DIGITS + strlen(SUFFIX);

    if (size <= rest || name[size - rest] != '-' ||
        strspn(name + size - rest + 1, "0123456789abcdef") != HASH_DIGITS ||
        strcmp(name + size - strlen(SUFFIX), SUFFIX) != 0)
        return colander_slice_of(name, 0);
    return colander_slice_of(name, size - rest);
}

/* Sets *object to the name of the object of a definition. The caller frees it.
 */
static enum colander_code
object_of(const char *family, struct colander_slice json, char **object,
          struct colander_error *err)
{
    const struct object_body body = {-1, json.data, json.size};
    char hash[HASH_DIGITS + 1];
    struct content content;
    enum colander_code code = content_of(&body, &content, err);

    *object = NULL;
    for (size_t i = 0; i < CONTENT_HASH_SIZE && code == COLANDER_OK; i++)
        (void)snprintf(hash + 2 * i, 3, "%02x", content.hash[i]);
    if (code == COLANDER_OK &&
        asprintf(object, FAMILIES "/%s-%s" SUFFIX, family, hash) < 0) {
        *object = NULL;
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    }
    return code;
}

/* Lists the objects that define the family `name`; NULL: any. */
static enum colander_code
list(struct cluster *cluster, const char *name, struct object_list *objects,
     struct colander_error *err)
{
    enum colander_code code =
        objects_list(cluster->objects, FAMILIES, objects, err);
    size_t count = 0;

    for (size_t i = 0; i < objects->count; i++) {
        const struct object object = objects->items[i];
        const struct colander_slice found = name_in(object.name);

        if (found.size > 0 &&
            (name == NULL ||
             colander_slice_equal(found, colander_slice_text(name))))
            objects->items[count++] = object;
        else
            free(object.name);
    }
    objects->count = count;
    return code;
}

/* Reads the definition in an object into an empty struct. */
static enum colander_code
read_family(struct cluster *cluster, const char *object,
            struct cluster_family *family, struct colander_error *err)
{
    const struct colander_slice name = name_in(object);
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    char *named = NULL;
    enum colander_code code = objects_get(cluster->objects, object, 0,
                                          DEFINITION_SIZE_MAX, &json, err);

    if (code == COLANDER_OK)
        code = cluster_family_decode(family, colander_buffer_slice(&json), err);
    if (code == COLANDER_OK)
        code =
            object_of(family->name, colander_buffer_slice(&json), &named, err);
    if (code == COLANDER_OK && strcmp(named, object) != 0)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "it has other bytes");
    if (code == COLANDER_CORRUPT)
        colander_error_context(err, "'%s' is damaged", object);
    else if (code == COLANDER_TOO_NEW)
        colander_error_context(err, "'%s'", object);
    if (code == COLANDER_OK &&
        strcmp(family->cluster, cluster->definition.id) != 0)
        code = COLANDER_FAIL(
            err, COLANDER_CORRUPT,
            "family '%.*s' is of a cluster that was there before, with the id "
            "%s: remove '%s', or put that cluster's cluster.json back",
            (int)name.size, (const char *)name.data, family->cluster, object);
    if (code != COLANDER_OK)
        cluster_family_release(family);
    free(named);
    colander_buffer_release(&json);
    return code;
}

/* Fails because a family has no definition, or two that count. */
static enum colander_code
fail_none(const char *name, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                         "the cluster has no family '%s'", name);
}

static enum colander_code
fail_two(const char *name, const char *one, const char *other,
         struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "family '%s' has 2 definitions, since processes have "
                         "defined it at the same time: remove '%s' or '%s'",
                         name, one, other);
}

/* Reads the definition that counts into an empty struct: that of the last
 * generation. Sets *object to its name, borrowed from the list. */
static enum colander_code
read_last(struct cluster *cluster, const char *name,
          const struct object_list *objects, struct cluster_family *family,
          const char **object, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    const char *other = NULL; /* of the same generation */

    *object = NULL;
    for (size_t i = 0; i < objects->count && code == COLANDER_OK; i++) {
        struct cluster_family read = {.name = NULL};

        code = read_family(cluster, objects->items[i].name, &read, err);
        if (code != COLANDER_OK)
            break;
        if (*object != NULL && read.generation == family->generation)
            other = objects->items[i].name;
        if (*object == NULL || read.generation > family->generation) {
            cluster_family_release(family);
            *family = read;
            *object = objects->items[i].name;
            other = NULL;
        } else {
            cluster_family_release(&read);
        }
    }
    if (code == COLANDER_OK && *object == NULL)
        code = fail_none(name, err);
    if (code == COLANDER_OK && other != NULL)
        code = fail_two(name, *object, other, err);
    if (code != COLANDER_OK)
        cluster_family_release(family);
    return code;
}

enum colander_code
cluster_family(struct cluster *cluster, const char *name,
               struct cluster_family *family, struct colander_error *err)
{
    struct object_list objects = {NULL, 0, 0};
    const char *object;
    enum colander_code code = list(cluster, name, &objects, err);

    if (code == COLANDER_OK)
        code = read_last(cluster, name, &objects, family, &object, err);
    object_list_release(&objects);
    return code;
}

/* Orders objects by their families, and then by their names. */
static int
compare(const void *one, const void *other)
{
    const char *a = ((const struct object *)one)->name;
    const char *b = ((const struct object *)other)->name;
    const int order = colander_slice_compare(name_in(a), name_in(b));

    return order != 0 ? order : strcmp(a, b);
}

enum colander_code
cluster_family_names(struct cluster *cluster, struct cluster_texts *names,
                     uint64_t **marks, struct colander_error *err)
{
    struct object_list objects = {NULL, 0, 0};
    enum colander_code code = list(cluster, NULL, &objects, err);
    uint64_t *found = calloc(objects.count + 1, sizeof(*found));

    if (code == COLANDER_OK && found == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for names");
    if (objects.count > 0)
        qsort(objects.items, objects.count, sizeof(*objects.items), compare);
    for (size_t i = 0; i < objects.count && code == COLANDER_OK; i++) {
        char *object = objects.items[i].name;
        char *name = object + strlen(FAMILIES "/");
        const struct colander_slice own = name_in(object);
        const uint64_t mark = XXH3_64bits(object, strlen(object));

        name[own.size] = '\0';
        if (names->count == 0 ||
            strcmp(names->items[names->count - 1], name) != 0)
            code = cluster_texts_add(names, name, err);
        if (code == COLANDER_OK)
            found[names->count - 1] ^= mark;
    }
    object_list_release(&objects);
    if (code == COLANDER_OK && marks != NULL)
        *marks = found;
    else
        free(found);
    return code;
}

/* Fails, and says in what the definition differs that is there. */
static enum colander_code
fail_other(const struct cluster_family *there,
           const struct cluster_family *wanted, struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum colander_code code = definition_differences(there, wanted, &text, err);

    if (code == COLANDER_OK)
        code = COLANDER_FAIL(err, COLANDER_EXISTS,
                             "family '%s' is defined otherwise, and a "
                             "definition never changes: %.*s",
                             wanted->name, (int)text.size,
                             (const char *)text.data);
    colander_buffer_release(&text);
    return code;
}

/* Puts a definition, and fails if another one counts afterwards, too: of two
 * processes at once, the one that lists last sees both. Neither is removed, as
 * others may have put or read the same one. */
static enum colander_code
put_family(struct cluster *cluster, const struct cluster_family *family,
           const char *object, const struct colander_buffer *json,
           struct colander_error *err)
{
    struct object_list objects = {NULL, 0, 0};
    struct cluster_family last = {.name = NULL};
    const char *counts = object;
    enum colander_code code = put(cluster->objects, object, json, err);

    if (code == COLANDER_OK)
        code = list(cluster, family->name, &objects, err);
    if (code == COLANDER_OK && object_list_find(&objects, object) == NULL)
        code =
            COLANDER_FAIL(err, COLANDER_IO,
                          "'%s' was put, and a list does not show it", object);
    if (code == COLANDER_OK && objects.count > 1)
        code = read_last(cluster, family->name, &objects, &last, &counts, err);
    if (code == COLANDER_OK && strcmp(counts, object) != 0)
        code = COLANDER_FAIL(err, COLANDER_EXISTS,
                             "another process has defined a later generation "
                             "of family '%s'",
                             family->name);
    cluster_family_release(&last);
    object_list_release(&objects);
    return code;
}

/* Looks for the definition that counts, unless `object` is the only one. `own`
 * gets its generation; *is_there: it is the same then. */
static enum colander_code
compare_last(struct cluster *cluster, const struct object_list *objects,
             struct cluster_family *own, const char *object, bool *is_there,
             struct colander_error *err)
{
    struct cluster_family there = {.name = NULL};
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    char *same = NULL;
    const char *counts;
    enum colander_code code;

    *is_there =
        objects->count == 1 && strcmp(objects->items[0].name, object) == 0;
    if (*is_there)
        return COLANDER_OK;
    code = read_last(cluster, own->name, objects, &there, &counts, err);
    own->generation = there.generation;
    own->whole = there.whole; /* borrowed */
    if (code == COLANDER_OK && there.partition_count == own->partition_count)
        code = cluster_family_encode(own, &json, err);
    if (code == COLANDER_OK && json.size > 0)
        code = object_of(own->name, colander_buffer_slice(&json), &same, err);
    *is_there = same != NULL && strcmp(same, counts) == 0;
    if (code == COLANDER_OK && !*is_there)
        code = fail_other(&there, own, err);
    cluster_family_release(&there);
    colander_buffer_release(&json);
    free(same);
    return code;
}

/* Defines a family, or only looks whether it may. */
static enum colander_code
define(struct cluster *cluster, const struct cluster_family *family,
       bool only_looks, bool *is_there, struct colander_error *err)
{
    struct cluster_family own = *family; /* borrows */
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct object_list objects = {NULL, 0, 0};
    char *object = NULL;
    enum colander_code code;

    *is_there = false;
    own.cluster = cluster->definition.id;
    code = cluster_family_encode(&own, &json, err);
    if (code == COLANDER_OK)
        code = object_of(own.name, colander_buffer_slice(&json), &object, err);
    if (code == COLANDER_OK)
        code = list(cluster, own.name, &objects, err);
    if (code == COLANDER_OK && objects.count > 0)
        code = compare_last(cluster, &objects, &own, object, is_there, err);
    if (code == COLANDER_OK && objects.count == 0 && !only_looks)
        code = put_family(cluster, &own, object, &json, err);
    free(object);
    object_list_release(&objects);
    colander_buffer_release(&json);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot define the family");
    return code;
}

enum colander_code
cluster_may_define(struct cluster *cluster, const struct cluster_family *family,
                   bool *is_there, struct colander_error *err)
{
    return define(cluster, family, true, is_there, err);
}

enum colander_code
cluster_define(struct cluster *cluster, const struct cluster_family *family,
               bool *is_new, struct colander_error *err)
{
    bool is_there;
    const enum colander_code code =
        define(cluster, family, false, &is_there, err);

    *is_new = code == COLANDER_OK && !is_there;
    return code;
}

enum colander_code
cluster_redefine(struct cluster *cluster, const struct cluster_family *family,
                 struct colander_error *err)
{
    struct cluster_family own = *family; /* borrows */
    struct cluster_family there = {.name = NULL};
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    char *object = NULL;
    enum colander_code code = cluster_family(cluster, own.name, &there, err);

    own.cluster = cluster->definition.id;
    if (code == COLANDER_OK && own.generation != there.generation + 1)
        code = COLANDER_FAIL(err, COLANDER_EXISTS,
                             "generation %" PRIu32 " of family '%s' is there "
                             "already",
                             there.generation, own.name);
    if (code == COLANDER_OK)
        code = cluster_family_encode(&own, &json, err);
    if (code == COLANDER_OK)
        code = object_of(own.name, colander_buffer_slice(&json), &object, err);
    if (code == COLANDER_OK) {
        code = put_family(cluster, &own, object, &json, err);
        if (code != COLANDER_OK && code != COLANDER_EXISTS)
            colander_error_context(
                err, "it may count or not: see 'colander cluster status' "
                     "before anything is sent to either topic");
    }
    free(object);
    colander_buffer_release(&json);
    cluster_family_release(&there);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot define the family");
    return code;
}

const char *
cluster_family_folder(const struct cluster_family *family,
                      char folder[CLUSTER_FOLDER_SIZE])
{
    if (family->generation == 0)
        (void)snprintf(folder, CLUSTER_FOLDER_SIZE, "%s", family->name);
    else
        (void)snprintf(folder, CLUSTER_FOLDER_SIZE, "%s.%" PRIu32, family->name,
                       family->generation);
    return folder;
}

int64_t
cluster_family_whole(const struct cluster_family *family, uint32_t number)
{
    return family->generation == 0
               ? 0
               : strtoll(family->whole.items[number], NULL, 10);
}

enum colander_code
cluster_partition_address(const struct cluster *cluster, const char *folder,
                          uint32_t partition, char **partition_address,
                          struct colander_error *err)
{
    if (asprintf(partition_address, "%s/" PARTITIONS "/%s/%04" PRIu32,
                 cluster->address, folder, partition) >= 0)
        return COLANDER_OK;
    *partition_address = NULL;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for an address");
}
