/*
 * Definitions as JSON: a table of members for each kind, by which they are
 * written, read, compared and released.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/definition_inside.h"
#include "cluster/kafka.h"
#include "columns/columns.h"
#include "columns/json.h"
#include "columns/rows.h"
#include "core/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define VERSION 1
#define VERSION_MEMBER "version"
#define ID_SIZE 16
#define VALUE_SHOWN 40 /* bytes of a value that differs */
#define RECORD_SIZE_MIN 1024

enum member_kind {
    MEMBER_TEXT,     /* char * */
    MEMBER_OPTIONAL, /* the same; NULL: it is left out */
    MEMBER_NUMBER,   /* uint32_t */
    MEMBER_SIZE,     /* the same; 0: it is left out */
    MEMBER_TEXTS,    /* struct cluster_texts, as an array */
    MEMBER_PAIRS,    /* the same, as a map */
};

struct member {
    const char *name;
    size_t offset; /* in the struct */
    enum member_kind kind;
    bool may_be_left; /* out: 0, or no texts */
};

#define CLUSTER(member) offsetof(struct cluster_definition, member)
#define FAMILY(member) offsetof(struct cluster_family, member)

static const struct member cluster_members[] = {
    {"name", CLUSTER(name), MEMBER_TEXT, false},
    {"id", CLUSTER(id), MEMBER_TEXT, false},
    {"log", CLUSTER(log), MEMBER_TEXT, false},
    {"members", CLUSTER(members), MEMBER_TEXT, false},
    {"settings", CLUSTER(settings), MEMBER_PAIRS, false},
    {NULL, 0, MEMBER_TEXT, false},
};

static const struct member family_members[] = {
    {"name", FAMILY(name), MEMBER_TEXT, false},
    {"cluster", FAMILY(cluster), MEMBER_TEXT, false},
    {"topic", FAMILY(topic), MEMBER_TEXT, false},
    {"partitions", FAMILY(partition_count), MEMBER_NUMBER, false},
    {"replicas", FAMILY(replica_count), MEMBER_NUMBER, false},
    {"key", FAMILY(key), MEMBER_TEXTS, false},
    {"partition_by", FAMILY(partition_by), MEMBER_NUMBER, false},
    {"format", FAMILY(format), MEMBER_TEXT, false},
    {"on_duplicate", FAMILY(on_duplicate), MEMBER_TEXT, false},
    {"record_size", FAMILY(record_size), MEMBER_SIZE, true},
    {"types", FAMILY(types), MEMBER_PAIRS, false},
    {"schema", FAMILY(schema), MEMBER_OPTIONAL, false},
    {"generation", FAMILY(generation), MEMBER_NUMBER, true},
    {"whole", FAMILY(whole), MEMBER_TEXTS, true},
    {NULL, 0, MEMBER_TEXT, false},
};

/* Return a member of a struct, to be written only if the struct may be. */

static char **
text_of(const void *object, const struct member *member)
{
    return (char **)((char *)object + member->offset);
}

static uint32_t *
number_of(const void *object, const struct member *member)
{
    return (uint32_t *)((char *)object + member->offset);
}

static bool
is_number(const struct member *member)
{
    return member->kind == MEMBER_NUMBER || member->kind == MEMBER_SIZE;
}

static struct cluster_texts *
texts_of(const void *object, const struct member *member)
{
    return (struct cluster_texts *)((char *)object + member->offset);
}

/* ---------------------------------------------------------------- texts --- */

static enum colander_code
insert(struct cluster_texts *texts, size_t place, const char *text,
       struct colander_error *err)
{
    char *copy = strdup(text);
    enum colander_code code;

    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a text");
    code = array_reserve(&texts->items, texts->count, &texts->capacity, 1, err);
    if (code != COLANDER_OK) {
        free(copy);
        return code;
    }
    memmove(&texts->items[place + 1], &texts->items[place],
            (texts->count - place) * sizeof(*texts->items));
    texts->items[place] = copy;
    texts->count++;
    return COLANDER_OK;
}

enum colander_code
cluster_texts_add(struct cluster_texts *texts, const char *text,
                  struct colander_error *err)
{
    return insert(texts, texts->count, text, err);
}

/* Returns the name of a pair; empty: it is not a pair. */
static struct colander_slice
name_of(const char *pair)
{
    size_t size = 0;

    while (pair[size] != '\0' && pair[size] != '=')
        size += pair[size] == '\\' && pair[size + 1] != '\0' ? 2 : 1;
    return colander_slice_of(pair, pair[size] == '=' ? size : 0);
}

enum colander_code
cluster_pairs_add(struct cluster_texts *pairs, const char *pair,
                  struct colander_error *err)
{
    const struct colander_slice name = name_of(pair);
    size_t place;

    if (name.size == 0) /* the value may be a secret */
        return COLANDER_FAIL(err, COLANDER_INVALID, "it must be NAME=VALUE");
    array_search(place, pairs->count,
                 colander_slice_compare(name_of(pairs->items[place]), name) <
                     0);
    if (place < pairs->count &&
        colander_slice_equal(name_of(pairs->items[place]), name))
        return COLANDER_FAIL(err, COLANDER_INVALID, "'%.*s' is there twice",
                             (int)name.size, (const char *)name.data);
    return insert(pairs, place, pair, err);
}

void
cluster_texts_release(struct cluster_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    memset(texts, 0, sizeof(*texts));
}

static void
release(void *object, const struct member *member)
{
    for (; member->name != NULL; member++) {
        if (member->kind == MEMBER_TEXTS || member->kind == MEMBER_PAIRS)
            cluster_texts_release(texts_of(object, member));
        else if (!is_number(member))
            free(*text_of(object, member));
    }
}

void
cluster_definition_release(struct cluster_definition *definition)
{
    release(definition, cluster_members);
    memset(definition, 0, sizeof(*definition));
}

void
cluster_family_release(struct cluster_family *family)
{
    release(family, family_members);
    memset(family, 0, sizeof(*family));
}

/* --------------------------------------------------------------- checks --- */

enum colander_code
cluster_name_check(const char *name, struct colander_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t size = strlen(name);

    if (size > 0 && size <= CLUSTER_NAME_MAX && strspn(name, letters) == size &&
        name[0] != '_' && name[0] != '-')
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "'%.120s' must be 1 to %d letters, digits, '_' and "
                         "'-', and begin with a letter or digit: it is a part "
                         "of the names of objects, files and topics",
                         name, CLUSTER_NAME_MAX);
}

/* Checks a list of brokers and a topic of theirs. */
static enum colander_code
check_topic(const char *log, const char *topic, struct colander_error *err)
{
    struct kafka_address parts;
    enum colander_code code;
    char *address;

    if (strchr(topic, ',') != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%.260s' is not the name of a topic", topic);
    if (asprintf(&address, "%s/%s", log, topic) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an address");
    code = kafka_address_read(&parts, address, err);
    kafka_address_release(&parts);
    free(address);
    return code;
}

/* Whether a setting of librdkafka is a secret, or has one in it. */
static bool
is_secret(struct colander_slice name)
{
    static const char *const words[] = {"password", "secret", "key.pem",
                                        "oauthbearer.config",
                                        "sasl.jaas.config"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (memmem(name.data, name.size, words[i], strlen(words[i])) != NULL)
            return true;
    }
    return false;
}

static bool
is_id(const char *id)
{
    return strlen(id) == ID_SIZE && strspn(id, "0123456789abcdef") == ID_SIZE;
}

static enum colander_code
check_cluster(const void *object, struct colander_error *err)
{
    const struct cluster_definition *definition = object;
    enum colander_code code = cluster_name_check(definition->name, err);

    if (code != COLANDER_OK)
        return code;
    if (!topic_is_address(definition->log) ||
        strchr(strstr(definition->log, "//") + 2, '/') != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the log '%.200s' is not kafka://BROKER[:PORT]"
                             "[,BROKER...]: it has no topic, as each family "
                             "has one",
                             definition->log);
    if (!is_id(definition->id))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the id '%.40s' is not %d hexadecimal digits",
                             definition->id, ID_SIZE);
    for (size_t i = 0; i < definition->settings.count; i++) {
        const struct colander_slice name =
            name_of(definition->settings.items[i]);

        if (is_secret(name))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the setting '%.*s' is a secret, and "
                                 "everyone who reads the objects could read "
                                 "it: it belongs in a file on each machine",
                                 (int)name.size, (const char *)name.data);
    }
    return check_topic(definition->log, definition->members, err);
}

static bool
is_one_of(const char *text, const char *const *texts)
{
    while (*texts != NULL && strcmp(*texts, text) != 0)
        texts++;
    return *texts != NULL;
}

static enum colander_code
check_key(const struct cluster_family *family, struct colander_error *err)
{
    const size_t count = family->key.count;

    if (count > COLANDER_KEY_PARTS_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a key has at most %d columns, not %zu",
                             COLANDER_KEY_PARTS_MAX, count);
    if (count == 0 && family->partition_by != 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "without columns of the key nothing says which "
                             "partition a record is in, so partition_by must "
                             "be 0, not %" PRIu32,
                             family->partition_by);
    if (count > 0 &&
        (family->partition_by == 0 || family->partition_by > count))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "partition_by must be 1 to %zu, the columns of "
                             "the key, not %" PRIu32,
                             count, family->partition_by);
    for (size_t i = 0; i < count; i++) {
        if (family->key.items[i][0] == ':')
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the key must be columns, not '%.100s': "
                                 "producers must know which partition a "
                                 "record is in",
                                 family->key.items[i]);
    }
    return COLANDER_OK;
}

static enum colander_code
check_number(const char *what, uint32_t number, uint32_t most,
             struct colander_error *err)
{
    return number > 0 && number <= most
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_INVALID,
                               "%s must be 1 to %" PRIu32 ", not %" PRIu32,
                               what, most, number);
}

/* Checks the offsets of a later generation. */
static enum colander_code
check_whole(const struct cluster_family *family, struct colander_error *err)
{
    const uint32_t count = family->generation > 0 ? family->partition_count : 0;

    if (family->whole.count != count)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "of generation %" PRIu32 ", whole must have "
                             "%" PRIu32 " offsets, not %zu",
                             family->generation, count, family->whole.count);
    for (uint32_t i = 0; i < count; i++) {
        const char *text = family->whole.items[i];
        const size_t size = strspn(text, "0123456789");

        if (size == 0 || size > 18 || text[size] != '\0')
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "whole has '%.40s', which is not an offset",
                                 text);
    }
    return COLANDER_OK;
}

static enum colander_code
check_family(const void *object, struct colander_error *err)
{
    static const char *const formats[] = {"json", "msgpack", NULL};
    static const char *const ways[] = {"replace", "keep", "patch", "error",
                                       NULL};
    const struct cluster_family *family = object;
    enum colander_code code = cluster_name_check(family->name, err);

    if (code == COLANDER_OK)
        code = check_topic("kafka://broker", family->topic, err);
    if (code == COLANDER_OK)
        code = check_number("partitions", family->partition_count,
                            CLUSTER_PARTITIONS_MAX, err);
    if (code == COLANDER_OK)
        code = check_number("replicas", family->replica_count,
                            CLUSTER_REPLICAS_MAX, err);
    if (code == COLANDER_OK)
        code = check_key(family, err);
    if (code == COLANDER_OK)
        code = check_whole(family, err);
    if (code != COLANDER_OK)
        return code;
    if (family->record_size != 0 &&
        (family->record_size < RECORD_SIZE_MIN ||
         family->record_size > COLANDER_JSON_SIZE_MAX))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "record_size must be %d to %d bytes, not %" PRIu32,
                             RECORD_SIZE_MIN, (int)COLANDER_JSON_SIZE_MAX,
                             family->record_size);
    if (!is_id(family->cluster))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the id '%.40s' is not %d hexadecimal digits",
                             family->cluster, ID_SIZE);
    if (!is_one_of(family->format, formats))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the format must be json or msgpack, not '%.100s'",
                             family->format);
    if (!is_one_of(family->on_duplicate, ways))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "on_duplicate must be replace, keep, patch or "
                             "error, not '%.100s'",
                             family->on_duplicate);
    return COLANDER_OK;
}

/* -------------------------------------------------------------- writing --- */

static void
add_texts(struct colander_row_builder *builder, const struct member *member,
          const struct cluster_texts *texts)
{
    const bool is_map = member->kind == MEMBER_PAIRS;

    if (is_map)
        colander_row_builder_begin_map(builder, member->name);
    else
        colander_row_builder_begin_array(builder, member->name);
    for (size_t i = 0; i < texts->count; i++) {
        const struct colander_slice name = name_of(texts->items[i]);

        if (is_map)
            colander_row_builder_add_named(
                builder, name, colander_text(texts->items[i] + name.size + 1));
        else
            colander_row_builder_add(builder, NULL,
                                     colander_text(texts->items[i]));
    }
    colander_row_builder_end(builder);
}

/* Whether it is not written. */
static bool
is_left_out(const void *object, const struct member *member)
{
    return member->may_be_left &&
           (is_number(member) ? *number_of(object, member) == 0
                              : texts_of(object, member)->count == 0);
}

static void
add_members(struct colander_row_builder *builder, const void *object,
            const struct member *member)
{
    for (; member->name != NULL; member++) {
        if (is_left_out(object, member))
            continue;
        if (is_number(member))
            colander_row_builder_add(
                builder, member->name,
                colander_integer(*number_of(object, member)));
        else if (member->kind == MEMBER_TEXTS || member->kind == MEMBER_PAIRS)
            add_texts(builder, member, texts_of(object, member));
        else if (!is_number(member) && *text_of(object, member) != NULL)
            colander_row_builder_add(builder, member->name,
                                     colander_text(*text_of(object, member)));
    }
}

static enum colander_code
encode(const void *object, const struct member *members,
       enum colander_code (*check)(const void *object,
                                   struct colander_error *err),
       struct colander_buffer *json, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_value value = {.type = COLANDER_MAP};
    enum colander_code code = COLANDER_OK;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a definition");
    for (const struct member *member = members;
         member->name != NULL && code == COLANDER_OK; member++) {
        if (member->kind == MEMBER_TEXT && *text_of(object, member) == NULL)
            code = COLANDER_FAIL(err, COLANDER_INVALID, "it has no %s",
                                 member->name);
    }
    if (code == COLANDER_OK)
        code = check(object, err);
    colander_row_builder_add(builder, VERSION_MEMBER,
                             colander_integer(VERSION));
    if (code == COLANDER_OK) {
        add_members(builder, object, members);
        code = colander_row_builder_finish(builder, &value.bytes, err);
    }
    if (code == COLANDER_OK)
        code = colander_row_check(value.bytes, err);
    if (code == COLANDER_OK)
        code = colander_json_append_value(json, &value, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(json, "\n", 1, err);
    colander_row_builder_destroy(builder);
    return code;
}

enum colander_code
cluster_definition_encode(const struct cluster_definition *definition,
                          struct colander_buffer *json,
                          struct colander_error *err)
{
    return encode(definition, cluster_members, check_cluster, json, err);
}

enum colander_code
cluster_family_encode(const struct cluster_family *family,
                      struct colander_buffer *json, struct colander_error *err)
{
    return encode(family, family_members, check_family, json, err);
}

/* -------------------------------------------------------------- reading --- */

static enum colander_code
fail_kind(const char *name, const char *wanted, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT, "'%s' is not %s", name, wanted);
}

/* Sets *text to a copy of a text, after `before` and a '=' if that is not
 * empty. The caller frees it. */
static enum colander_code
copy_text(const char *member, struct colander_slice before,
          const struct colander_value *value, char **text,
          struct colander_error *err)
{
    if (value->type != COLANDER_STRING ||
        memchr(value->bytes.data, '\0', value->bytes.size) != NULL ||
        (before.size > 0 && memchr(before.data, '\0', before.size) != NULL))
        return fail_kind(member, "of texts", err);
    if (asprintf(text, "%.*s%s%.*s", (int)before.size,
                 (const char *)before.data, before.size == 0 ? "" : "=",
                 (int)value->bytes.size, (const char *)value->bytes.data) >= 0)
        return COLANDER_OK;
    *text = NULL;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a text");
}

static enum colander_code
read_texts(const struct member *member, const struct colander_value *value,
           struct cluster_texts *texts, struct colander_error *err)
{
    const bool is_map = member->kind == MEMBER_PAIRS;
    struct colander_members items;
    enum colander_code code;

    if (value->type != (is_map ? COLANDER_MAP : COLANDER_ARRAY))
        return fail_kind(member->name, is_map ? "a map" : "an array", err);
    code = colander_members_init(&items, value->bytes, err);
    while (code == COLANDER_OK) {
        struct colander_slice name;
        struct colander_value item;
        char *text = NULL;
        bool is_member;

        code = colander_members_next(&items, &is_member, &name, &item, err);
        if (code != COLANDER_OK || !is_member)
            break;
        code = copy_text(member->name, name, &item, &text, err);
        if (code == COLANDER_OK && is_map &&
            (name.size == 0 || name_of(text).size != name.size))
            code = fail_kind(member->name, "of names", err);
        if (code == COLANDER_OK)
            code = is_map ? cluster_pairs_add(texts, text, err)
                          : cluster_texts_add(texts, text, err);
        free(text);
    }
    return code;
}

static enum colander_code
read_member(void *object, const struct member *member,
            const struct colander_value *value, struct colander_error *err)
{
    const struct colander_slice nothing = {(const uint8_t *)"", 0};

    if (member->kind == MEMBER_TEXTS || member->kind == MEMBER_PAIRS)
        return read_texts(member, value, texts_of(object, member), err);
    if (!is_number(member))
        return copy_text(member->name, nothing, value, text_of(object, member),
                         err);
    if (value->type != COLANDER_INTEGER || value->integer < 0 ||
        value->integer > UINT32_MAX)
        return fail_kind(member->name, "a number", err);
    *number_of(object, member) = (uint32_t)value->integer;
    return COLANDER_OK;
}

/* Fails if the row is of a newer version, or has members that only one could
 * have. */
static enum colander_code
check_version(struct colander_slice row, const struct member *members,
              struct colander_error *err)
{
    struct colander_members items;
    struct colander_value value;
    struct colander_slice name;
    bool found = false;
    enum colander_code code =
        colander_row_get(row, VERSION_MEMBER, &value, &found, err);

    if (code == COLANDER_OK && (!found || value.type != COLANDER_INTEGER))
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "it has no version");
    if (code == COLANDER_OK && value.integer != VERSION)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "it is of version %" PRId64
                             ", and this program knows version %d",
                             value.integer, VERSION);
    if (code == COLANDER_OK)
        code = colander_members_init(&items, row, err);
    while (code == COLANDER_OK) {
        const struct member *member = members;

        code = colander_members_next(&items, &found, &name, &value, err);
        if (code != COLANDER_OK || !found)
            break;
        while (member->name != NULL &&
               !colander_slice_equal(colander_slice_text(member->name), name))
            member++;
        if (member->name == NULL &&
            !colander_slice_equal(colander_slice_text(VERSION_MEMBER), name))
            code = COLANDER_FAIL(err, COLANDER_TOO_NEW,
                                 "it has '%.*s', which this program does not "
                                 "know",
                                 (int)name.size, (const char *)name.data);
    }
    return code;
}

static enum colander_code
read_members(void *object, const struct member *member,
             struct colander_slice row, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (; member->name != NULL && code == COLANDER_OK; member++) {
        struct colander_value value;
        bool found;

        code = colander_row_get(row, member->name, &value, &found, err);
        if (code == COLANDER_OK && found)
            code = read_member(object, member, &value, err);
        else if (code == COLANDER_OK && member->kind != MEMBER_OPTIONAL &&
                 !member->may_be_left)
            code = COLANDER_FAIL(err, COLANDER_CORRUPT, "it has no '%s'",
                                 member->name);
    }
    return code;
}

static enum colander_code
decode(void *object, const struct member *members,
       enum colander_code (*check)(const void *object,
                                   struct colander_error *err),
       struct colander_slice json, struct colander_error *err)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_slice key;
    struct colander_slice row;
    bool has_key = false;
    enum colander_code code;

    if (reader == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a definition");
    code = colander_json_reader_row(reader, json, &key, &has_key, &row, err);
    if (code == COLANDER_OK && has_key)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "it has '%s'",
                             COLANDER_KEY_COLUMN);
    if (code == COLANDER_OK)
        code = check_version(row, members, err);
    if (code == COLANDER_OK)
        code = read_members(object, members, row, err);
    if (code == COLANDER_OK)
        code = check(object, err);
    colander_json_reader_destroy(reader);
    if (code == COLANDER_OK || code == COLANDER_NO_MEMORY ||
        code == COLANDER_TOO_NEW)
        return code;
    if (err != NULL)
        err->code = COLANDER_CORRUPT;
    return COLANDER_CORRUPT;
}

enum colander_code
cluster_definition_decode(struct cluster_definition *definition,
                          struct colander_slice json,
                          struct colander_error *err)
{
    const enum colander_code code =
        decode(definition, cluster_members, check_cluster, json, err);

    if (code != COLANDER_OK)
        cluster_definition_release(definition);
    return code;
}

enum colander_code
cluster_family_decode(struct cluster_family *family, struct colander_slice json,
                      struct colander_error *err)
{
    const enum colander_code code =
        decode(family, family_members, check_family, json, err);

    if (code != COLANDER_OK)
        cluster_family_release(family);
    return code;
}

/* ----------------------------------------------------------- comparison --- */

/* Sets `text` to the value of a member, as it is shown. */
static enum colander_code
show(const void *object, const struct member *member,
     struct colander_buffer *text, struct colander_error *err)
{
    const struct cluster_texts *texts = texts_of(object, member);
    char number[16];
    const char *shown = number;
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(text);
    if (member->kind == MEMBER_TEXTS || member->kind == MEMBER_PAIRS) {
        for (size_t i = 0; i < texts->count && code == COLANDER_OK; i++) {
            code = colander_buffer_append(text, ",", i > 0 ? 1 : 0, err);
            if (code == COLANDER_OK)
                code = colander_buffer_append(text, texts->items[i],
                                              strlen(texts->items[i]), err);
        }
        return code;
    }
    if (member->kind == MEMBER_SIZE && *number_of(object, member) == 0)
        (void)snprintf(number, sizeof(number), "%" PRIu32, CLUSTER_RECORD_SIZE);
    else if (is_number(member))
        (void)snprintf(number, sizeof(number), "%" PRIu32,
                       *number_of(object, member));
    else
        shown = *text_of(object, member);
    return shown == NULL
               ? COLANDER_OK
               : colander_buffer_append(text, shown, strlen(shown), err);
}

/* Appends "key is 'id', not 'user'", or only that it differs. */
static enum colander_code
append_difference(const char *name, struct colander_slice there,
                  struct colander_slice wanted, struct colander_buffer *text,
                  struct colander_error *err)
{
    char line[64 + 2 * VALUE_SHOWN];
    const bool is_short =
        there.size <= VALUE_SHOWN && wanted.size <= VALUE_SHOWN;
    const int size =
        is_short ? snprintf(line, sizeof(line), "%s%s is '%.*s', not '%.*s'",
                            text->size > 0 ? ", " : "", name, (int)there.size,
                            (const char *)there.data, (int)wanted.size,
                            (const char *)wanted.data)
                 : snprintf(line, sizeof(line), "%s%s is another one",
                            text->size > 0 ? ", " : "", name);

    return colander_buffer_append(text, line, (size_t)size, err);
}

enum colander_code
definition_differences(const struct cluster_family *there,
                       const struct cluster_family *wanted,
                       struct colander_buffer *text, struct colander_error *err)
{
    struct colander_buffer one = COLANDER_BUFFER_EMPTY;
    struct colander_buffer other = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    for (const struct member *member = family_members;
         member->name != NULL && code == COLANDER_OK; member++) {
        code = show(there, member, &one, err);
        if (code == COLANDER_OK)
            code = show(wanted, member, &other, err);
        if (code == COLANDER_OK &&
            !colander_slice_equal(colander_buffer_slice(&one),
                                  colander_buffer_slice(&other)))
            code = append_difference(member->name, colander_buffer_slice(&one),
                                     colander_buffer_slice(&other), text, err);
    }
    colander_buffer_release(&one);
    colander_buffer_release(&other);
    return code;
}
