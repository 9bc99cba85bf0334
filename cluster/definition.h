/*
 * Definitions: what a cluster is, and its families.
 *
 *     cluster.json             the cluster: its name, and where its log is
 *     families/NAME-HASH.json  a family: all that its rows depend on
 *     partitions/NAME/0017     backups of one partition, as cluster.h makes
 *                              them, with this as their address
 *
 * Both are one JSON object, at an address of objects.h. The definition of a
 * family never changes, and HASH is that of its bytes: so two processes that
 * define a family at once cannot replace what the other one has put, and a
 * damaged definition is not read. cluster.json has no hash: brokers may move,
 * and then it is edited by hand.
 *
 * A family whose rows were sent to another topic, with another number of
 * partitions, has a definition of a later generation, which counts as soon as
 * it is put. The partitions of that are others, NAME.1/0017.
 *
 * A definition with a member that this version does not know is of a newer
 * version, and is not read: rows could depend on it. FORMAT.md has the members.
 *
 * This knows no topics: topic.h makes and checks them. Nor does it know what a
 * schema means, or a type: that is for loading.
 *
 * Life:    cluster_create, once; then cluster_open -> define, family_names,
 *          family -> cluster_close
 * Threads: any number of them may use one `struct cluster`
 * Memory:  a zeroed struct is empty; release frees what it owns
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_DEFINITION_H
#define CLUSTER_DEFINITION_H

#include "core/core.h"

#include <stdatomic.h>

#define CLUSTER_NAME_MAX 100 /* bytes */
#define CLUSTER_PARTITIONS_MAX 10000
#define CLUSTER_REPLICAS_MAX 100
#define CLUSTER_FOLDER_SIZE (CLUSTER_NAME_MAX + 12) /* with the zero byte */
#define CLUSTER_RECORD_SIZE ((uint32_t)8 << 20)     /* bytes, the usual one */

/* Texts, owned. */
struct cluster_texts {
    char **items;
    size_t count;
    size_t capacity;
};

/* A cluster. All texts are owned. */
struct cluster_definition {
    char *name;
    char *id;      /* drawn when it was created, 16 hex digits */
    char *log;     /* kafka://BROKER[:PORT][,BROKER...], without a topic */
    char *members; /* the topic by which nodes know of each other */
    struct cluster_texts settings; /* of librdkafka, pairs; none of them is a
                                    * secret */
};

/* A family of a cluster. All texts are owned. */
struct cluster_family {
    char *name;
    char *cluster; /* the id of its cluster */
    char *topic;
    uint32_t partition_count;
    uint32_t replica_count;   /* how many nodes have each partition */
    struct cluster_texts key; /* the paths of the key columns; none: a row gets
                               * the key [time, topic, partition, offset] */
    uint32_t partition_by;    /* how many of them, the first, make the key of a
                               * record in the log; 0 if there are none */
    char *format;             /* of a record: json or msgpack */
    char *on_duplicate;       /* replace, keep, patch or error */
    uint32_t record_size;     /* of the largest record, in bytes: larger ones
                               * are rejected; 0: CLUSTER_RECORD_SIZE */
    char *schema;             /* its text; NULL: none */
    struct cluster_texts types; /* pairs COLUMN=TYPE, which count more than the
                                 * schema's */
    uint32_t generation;        /* 0: the first */
    struct cluster_texts whole; /* of a later one: of each partition the offset
                                 * before which the log has the rows of the
                                 * generation before */
};

/* Adds a copy. */
COLANDER_CHECKED enum colander_code
cluster_texts_add(struct cluster_texts *texts, const char *text,
                  struct colander_error *err);

/* Adds a copy of NAME=VALUE, and keeps the texts in the order of the names. In
 * a name there may be \=. Fails with INVALID if it is not such a pair, or the
 * name is there already. */
COLANDER_CHECKED enum colander_code
cluster_pairs_add(struct cluster_texts *pairs, const char *pair,
                  struct colander_error *err);

void cluster_texts_release(struct cluster_texts *texts);
void cluster_definition_release(struct cluster_definition *definition);
void cluster_family_release(struct cluster_family *family);

/* Checks a name of a cluster or family: letters, digits, '_' and '-', at most
 * CLUSTER_NAME_MAX, the first one a letter or digit. So it can be a part of the
 * names of objects, files and topics. Fails with INVALID, and says so. */
COLANDER_CHECKED enum colander_code
cluster_name_check(const char *name, struct colander_error *err);

/* ------------------------------------------------------------- clusters --- */

struct cluster;

/* Creates a cluster at an address. Its `id` is drawn, whatever `definition`
 * has. Fails with EXISTS, and says which, if there is one already, and with
 * INVALID if the definition is wrong. */
COLANDER_CHECKED enum colander_code
cluster_create(const char *address, const struct cluster_definition *definition,
               struct colander_error *err);

/* Fails as cluster_create would before it puts anything. */
COLANDER_CHECKED enum colander_code
cluster_may_create(const char *address,
                   const struct cluster_definition *definition,
                   struct colander_error *err);

/* Opens the cluster at an address. Fails with NOT_FOUND if there is none, with
 * CORRUPT if its definition is damaged, and with TOO_NEW if that is of a newer
 * version. */
COLANDER_CHECKED enum colander_code cluster_open(const char *address,
                                                 struct cluster **cluster,
                                                 struct colander_error *err);

/* As objects_stop_by. */
void cluster_stop_by(struct cluster *cluster, const atomic_bool *is_stopped);

/* NULL is allowed. */
void cluster_close(struct cluster *cluster);

/* Returns what is borrowed until close. */
const struct cluster_definition *
cluster_definition(const struct cluster *cluster);

/* ------------------------------------------------------------- families --- */

/*
 * Defines a family, whose topic should exist by then. Its `cluster` is set,
 * whatever `family` has. If it is defined already, *is_new is false. Fails with
 * INVALID if the definition is wrong, with EXISTS, and says what differs, if
 * the family has another one, and with CORRUPT, as all that read it later, if
 * another process defines it otherwise at the same time.
 */
COLANDER_CHECKED enum colander_code
cluster_define(struct cluster *cluster, const struct cluster_family *family,
               bool *is_new, struct colander_error *err);

/* Fails as cluster_define would before it puts anything. *is_there: it is
 * defined already, as in `family`. */
COLANDER_CHECKED enum colander_code
cluster_may_define(struct cluster *cluster, const struct cluster_family *family,
                   bool *is_there, struct colander_error *err);

/* Defines the next generation of a family, which counts from then on. Fails
 * with EXISTS if there is another one already, and otherwise as define. After
 * another failure it may count, too, which the error says. */
COLANDER_CHECKED enum colander_code
cluster_redefine(struct cluster *cluster, const struct cluster_family *family,
                 struct colander_error *err);

/* Reads a family, its last generation, into an empty struct. Fails with
 * NOT_FOUND if there is none of that name, with CORRUPT if it is damaged, or is
 * of another cluster, or has two definitions, and with TOO_NEW as open.
 * `family` stays empty then. */
COLANDER_CHECKED enum colander_code
cluster_family(struct cluster *cluster, const char *name,
               struct cluster_family *family, struct colander_error *err);

/* Adds the names of all families, in order. `names` is empty. Sets *marks, if
 * it is wanted, to a number for each, which changes with its definitions. The
 * caller frees it. */
COLANDER_CHECKED enum colander_code
cluster_family_names(struct cluster *cluster, struct cluster_texts *names,
                     uint64_t **marks, struct colander_error *err);

/* Returns what the names of its partitions begin with: NAME, or NAME.1 of a
 * later generation. It is in `folder`. */
const char *cluster_family_folder(const struct cluster_family *family,
                                  char folder[CLUSTER_FOLDER_SIZE]);

/* Returns the offset from which on partition `number` has all rows of the
 * generation before. */
int64_t cluster_family_whole(const struct cluster_family *family,
                             uint32_t number);

/* Sets *partition_address to that of the backups of a partition, for cluster.h.
 * `folder` is that of its family. The caller frees it. */
COLANDER_CHECKED enum colander_code
cluster_partition_address(const struct cluster *cluster, const char *folder,
                          uint32_t partition, char **partition_address,
                          struct colander_error *err);

/* ---------------------------------------------------------------- bytes --- */

/* Append one line of JSON. Fail with INVALID if the definition is wrong. */
COLANDER_CHECKED enum colander_code
cluster_definition_encode(const struct cluster_definition *definition,
                          struct colander_buffer *json,
                          struct colander_error *err);
COLANDER_CHECKED enum colander_code
cluster_family_encode(const struct cluster_family *family,
                      struct colander_buffer *json, struct colander_error *err);

/* Read it into an empty struct, which stays empty after a failure. Fail with
 * CORRUPT or TOO_NEW, or with NO_MEMORY. */
COLANDER_CHECKED enum colander_code
cluster_definition_decode(struct cluster_definition *definition,
                          struct colander_slice json,
                          struct colander_error *err);
COLANDER_CHECKED enum colander_code
cluster_family_decode(struct cluster_family *family, struct colander_slice json,
                      struct colander_error *err);

#endif
