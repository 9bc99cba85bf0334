/*
 * Definitions of clusters and families: their bytes, what is refused, and
 * processes that create or define the same at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/definition_inside.h"
#include "cluster/objects.h"
#include "core/thread.h"
#include "place.h"
#include "support/failing_memory.h"

#define DEFINERS 3
#define ROUNDS 40

static const char cluster_json[] =
    "{\"version\":1,\"name\":\"prod\",\"id\":\"0123456789abcdef\","
    "\"log\":\"kafka://b1:9092,b2:9092\",\"members\":\"prod-members\","
    "\"settings\":{\"client.rack\":\"a=b\",\"security.protocol\":\"ssl\"}}\n";

static const char family_json[] =
    "{\"version\":1,\"name\":\"air_quality\",\"cluster\":\"0123456789abcdef\","
    "\"topic\":\"prod.air_quality\",\"partitions\":16,\"replicas\":2,"
    "\"key\":[\"station\",\"at\"],\"partition_by\":1,\"format\":\"json\","
    "\"on_duplicate\":\"keep\",\"types\":{\"at\":\"time:%d.%m.%Y\","
    "\"no\\\\=2\":\"number\"},\"schema\":\"return {\\n  key = { 'a' "
    "},\\n}\\n\"}"
    "\n";

/* Borrow literals: never released. */
static char *const settings[] = {(char *)"client.rack=a=b",
                                 (char *)"security.protocol=ssl"};
static char *const key[] = {(char *)"station", (char *)"at"};
static char *const types[] = {(char *)"at=time:%d.%m.%Y",
                              (char *)"no\\=2=number"};

static struct cluster_definition
some_cluster(void)
{
    return (struct cluster_definition){
        .name = (char *)"prod",
        .id = (char *)"0123456789abcdef",
        .log = (char *)"kafka://b1:9092,b2:9092",
        .members = (char *)"prod-members",
        .settings = {(char **)settings, 2, 2},
    };
}

static struct cluster_family
some_family(void)
{
    return (struct cluster_family){
        .name = (char *)"air_quality",
        .cluster = (char *)"0123456789abcdef",
        .topic = (char *)"prod.air_quality",
        .partition_count = 16,
        .replica_count = 2,
        .key = {(char **)key, 2, 2},
        .partition_by = 1,
        .format = (char *)"json",
        .on_duplicate = (char *)"keep",
        .schema = (char *)"return {\n  key = { 'a' },\n}\n",
        .types = {(char **)types, 2, 2},
    };
}

/* ---------------------------------------------------------------- bytes --- */

static struct colander_buffer
encode_family(const struct cluster_family *family)
{
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    OK(cluster_family_encode(family, &json, why()));
    return json;
}

TEST(definitions_have_these_bytes)
{
    const struct cluster_definition cluster = some_cluster();
    const struct cluster_family family = some_family();
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    OK(cluster_definition_encode(&cluster, &json, why()));
    ASSERT_SAME(colander_buffer_slice(&json),
                colander_slice_text(cluster_json));
    colander_buffer_release(&json);
    json = encode_family(&family);
    ASSERT_SAME(colander_buffer_slice(&json), colander_slice_text(family_json));
    colander_buffer_release(&json);
}

TEST(what_was_encoded_is_read_again)
{
    const struct cluster_family wanted = some_family();
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct cluster_definition cluster = {.name = NULL};
    struct cluster_family family = {.name = NULL};

    OK(cluster_definition_decode(&cluster, colander_slice_text(cluster_json),
                                 why()));
    assert_string_equal(cluster.name, "prod");
    assert_string_equal(cluster.log, "kafka://b1:9092,b2:9092");
    assert_string_equal(cluster.members, "prod-members");
    assert_int_equal(cluster.settings.count, 2);
    assert_string_equal(cluster.settings.items[0], "client.rack=a=b");
    OK(cluster_family_decode(&family, colander_slice_text(family_json), why()));
    OK(definition_differences(&family, &wanted, &text, why()));
    assert_int_equal(text.size, 0);
    assert_string_equal(family.types.items[1], "no\\=2=number");
    cluster_definition_release(&cluster);
    cluster_family_release(&family);
}

/* Without a schema, key or types, and in another order of members. */
TEST(a_definition_may_be_written_by_hand)
{
    static const char json[] =
        " {\"partition_by\": 0, \"key\": [],\n\"types\": {}, \"format\": "
        "\"msgpack\", \"on_duplicate\": \"error\", \"replicas\": 1, "
        "\"partitions\": 1, \"topic\": \"t\", \"name\": \"f\", \"cluster\": "
        "\"0123456789abcdef\", \"version\": 1}\n\n";
    struct cluster_family family = {.name = NULL};

    OK(cluster_family_decode(&family, colander_slice_text(json), why()));
    assert_null(family.schema);
    assert_int_equal(family.key.count, 0);
    assert_int_equal(family.record_size, 0);
    cluster_family_release(&family);
}

/* A record size that is the usual one is left out. */
TEST(a_family_may_have_a_record_size)
{
    struct cluster_family family = some_family();
    struct cluster_family read = {.name = NULL};
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct colander_buffer json;

    family.record_size = 5000;
    json = encode_family(&family);
    OK(colander_buffer_append(&json, "", 1, why()));
    assert_non_null(strstr((const char *)json.data,
                           "\"keep\",\"record_size\":5000,\"types\""));
    json.size--;
    OK(cluster_family_decode(&read, colander_buffer_slice(&json), why()));
    assert_int_equal(read.record_size, 5000);
    family.record_size = 0;
    OK(definition_differences(&read, &family, &text, why()));
    ASSERT_SAME(colander_buffer_slice(&text),
                colander_slice_text("record_size is '5000', not '8388608'"));
    colander_buffer_release(&text);
    colander_buffer_release(&json);
    cluster_family_release(&read);
}

/* ------------------------------------------------------------- refusals --- */

static enum colander_code
decode(bool is_family, struct colander_slice json)
{
    struct cluster_definition cluster = {.name = NULL};
    struct cluster_family family = {.name = NULL};
    const enum colander_code code =
        is_family ? cluster_family_decode(&family, json, why())
                  : cluster_definition_decode(&cluster, json, why());

    if (code != COLANDER_OK) {
        assert_null(family.name);
        assert_null(cluster.name);
    }
    cluster_family_release(&family);
    cluster_definition_release(&cluster);
    return code;
}

TEST(a_definition_that_was_cut_is_corrupt)
{
    for (size_t i = 0; i < sizeof(family_json) - 2; i++)
        FAILS(decode(true, colander_slice_of(family_json, i)),
              COLANDER_CORRUPT);
    for (size_t i = 0; i < sizeof(cluster_json) - 2; i++)
        FAILS(decode(false, colander_slice_of(cluster_json, i)),
              COLANDER_CORRUPT);
}

/* Decodes with what is at `from` replaced. */
static enum colander_code
decode_changed(const char *json, const char *from, const char *to)
{
    const char *at = strstr(json, from);
    char text[1000];

    assert_non_null(at);
    (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - json), json, to,
                   at + strlen(from));
    return decode(json == family_json, colander_slice_text(text));
}

TEST(newer_versions_and_unknown_members_are_too_new)
{
    FAILS(decode_changed(family_json, "version\":1", "version\":2"),
          COLANDER_TOO_NEW);
    FAILS(decode_changed(cluster_json, "version\":1", "version\":9"),
          COLANDER_TOO_NEW);
    FAILS(decode_changed(family_json, "\"replicas\"", "\"x\":1,\"replicas\""),
          COLANDER_TOO_NEW);
    assert_non_null(strstr(error_text(), "'x'"));
    FAILS(decode_changed(cluster_json, "\"log\"", "\"logs\":[],\"log\""),
          COLANDER_TOO_NEW);
    /* whatever else is in one of a newer version */
    FAILS(decode(true, colander_slice_text("{\"version\":2}")),
          COLANDER_TOO_NEW);
}

TEST(wrong_members_are_corrupt)
{
    static const char *const changes[][2] = {
        {"\"version\":1,", ""},
        {"\"version\":1", "\"version\":\"1\""},
        {"\"name\":\"air_quality\",", ""},
        {"\"name\":\"air_quality\"", "\"name\":7"},
        {"\"air_quality\"", "\"air/quality\""},
        {"\"air_quality\"", "\"air\\u0000\""},
        {"\"version\"", "\"_key\":1,\"version\""},
        {"\"partitions\":16", "\"partitions\":-1"},
        {"\"partitions\":16", "\"partitions\":1.5"},
        {"\"partitions\":16", "\"partitions\":4294967296"},
        {"\"partitions\":16", "\"partitions\":0"},
        {"\"partition_by\":1", "\"partition_by\":3"},
        {"[\"station\",\"at\"]", "\"station\""},
        {"[\"station\",\"at\"]", "[\"station\",1]"},
        {"[\"station\",\"at\"]", "[\"station\",[]]"},
        {"\"types\":{", "\"types\":{\"\":\"number\","},
        {"\"types\":{", "\"types\":{\"at\":\"number\","},
        {"\"types\":{", "\"types\":{\"a\":null,"},
        {"\"types\":{", "\"types\":{\"a=b\":\"number\","},
        {"\"types\":{", "\"types\":{\"a\\\\\":\"number\","},
        {"\"json\"", "\"csv\""},
        {"\"keep\"", "\"kept\""},
        {"0123456789abcdef", "0123456789abcdeg"},
        {"prod.air_quality", "prod/air_quality"},
        {"prod.air_quality", "a,b"},
        {"\"types\"", "\"record_size\":1023,\"types\""},
        {"\"types\"", "\"record_size\":33554433,\"types\""},
    };

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        FAILS(decode_changed(family_json, changes[i][0], changes[i][1]),
              COLANDER_CORRUPT);
    FAILS(decode_changed(cluster_json, "kafka://b1:9092", "kafka:///t"),
          COLANDER_CORRUPT);
    FAILS(decode_changed(cluster_json, "client.rack", "sasl.password"),
          COLANDER_CORRUPT);
}

TEST(memory_that_is_short_leaves_nothing)
{
    long failed = 0;
    enum colander_code code = COLANDER_NO_MEMORY;

    for (; code != COLANDER_OK; failed++) {
        allocations_left = failed;
        code = decode(true, colander_slice_text(family_json));
        allocations_left = -1;
        assert_true(code == COLANDER_OK || code == COLANDER_NO_MEMORY);
    }
    assert_true(failed > 10);
}

/* Names are parts of those of objects, files and topics. */
TEST(names_are_safe_everywhere)
{
    static const char *const fine[] = {"a", "9", "A-b_c", "tweets"};
    static const char *const wrong[] = {"",    "_a",  "-a",  "a.b", "a/b",
                                        "..",  "a b", "a,b", "ä",   "a\n",
                                        "a%b", "a:b", "a{",  "a=b"};
    char name[CLUSTER_NAME_MAX + 2];

    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
        OK(cluster_name_check(fine[i], why()));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        FAILS(cluster_name_check(wrong[i], why()), COLANDER_INVALID);
    memset(name, 'a', sizeof(name));
    name[CLUSTER_NAME_MAX + 1] = '\0';
    FAILS(cluster_name_check(name, why()), COLANDER_INVALID);
    name[CLUSTER_NAME_MAX] = '\0';
    OK(cluster_name_check(name, why()));
}

TEST(secrets_are_not_put_where_all_can_read_them)
{
    static const char *const secrets[] = {"sasl.password=x",
                                          "ssl.key.password=x",
                                          "ssl.keystore.password=x",
                                          "ssl.key.pem=x",
                                          "sasl.oauthbearer.client.secret=x",
                                          "sasl.oauthbearer.config=x"};
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        struct cluster_definition cluster = some_cluster();
        char *item = (char *)(uintptr_t)secrets[i];

        cluster.settings = (struct cluster_texts){&item, 1, 1};
        FAILS(cluster_definition_encode(&cluster, &json, why()),
              COLANDER_INVALID);
        assert_null(strstr(error_text(), "=x"));
    }
}

TEST(pairs_are_in_order_and_each_is_there_once)
{
    struct cluster_texts pairs = {NULL, 0, 0};

    OK(cluster_pairs_add(&pairs, "b=1", why()));
    OK(cluster_pairs_add(&pairs, "a\\=x=2", why()));
    OK(cluster_pairs_add(&pairs, "ab=", why()));
    FAILS(cluster_pairs_add(&pairs, "b=2", why()), COLANDER_INVALID);
    FAILS(cluster_pairs_add(&pairs, "=2", why()), COLANDER_INVALID);
    FAILS(cluster_pairs_add(&pairs, "b", why()), COLANDER_INVALID);
    FAILS(cluster_pairs_add(&pairs, "b\\=2", why()), COLANDER_INVALID);
    assert_int_equal(pairs.count, 3);
    assert_string_equal(pairs.items[0], "a\\=x=2");
    assert_string_equal(pairs.items[1], "ab=");
    assert_string_equal(pairs.items[2], "b=1");
    cluster_texts_release(&pairs);
}

/* -------------------------------------------------------------- objects --- */

/* Opens a new cluster. */
static struct cluster *
create(struct place *place)
{
    const struct cluster_definition definition = some_cluster();
    struct cluster *cluster;

    OK(cluster_create(place->address, &definition, why()));
    OK(cluster_open(place->address, &cluster, why()));
    return cluster;
}

/* Defines `family`, and returns the name of its object. The caller frees it. */
static char *
define(struct place *place, struct cluster *cluster,
       const struct cluster_family *family)
{
    struct object_list list = {NULL, 0, 0};
    char *name;
    bool is_new;

    OK(cluster_define(cluster, family, &is_new, why()));
    assert_true(is_new);
    OK(objects_list(place->objects, "families", &list, why()));
    assert_int_equal(list.count, 1);
    name = strdup(list.items[0].name);
    assert_non_null(name);
    object_list_release(&list);
    return name;
}

PLACE_TEST(a_cluster_is_created_once)
{
    struct cluster_definition definition = some_cluster();
    struct cluster *cluster;

    OK(cluster_may_create(place->address, &definition, why()));
    FAILS(cluster_open(place->address, &cluster, why()), COLANDER_NOT_FOUND);
    assert_null(cluster);
    OK(cluster_create(place->address, &definition, why()));
    definition.name = (char *)"other";
    FAILS(cluster_create(place->address, &definition, why()), COLANDER_EXISTS);
    assert_non_null(strstr(error_text(), "'prod'"));
    FAILS(cluster_may_create(place->address, &definition, why()),
          COLANDER_EXISTS);
    OK(cluster_open(place->address, &cluster, why()));
    assert_string_equal(cluster_definition(cluster)->name, "prod");
    assert_string_not_equal(cluster_definition(cluster)->id, definition.id);
    cluster_close(cluster);
}

PLACE_TEST(a_wrong_cluster_is_not_created)
{
    struct cluster_definition definition = some_cluster();
    struct cluster *cluster;

    definition.log = (char *)"kafka://b1:9092/topic";
    FAILS(cluster_create(place->address, &definition, why()), COLANDER_INVALID);
    definition.log = (char *)"b1:9092";
    FAILS(cluster_create(place->address, &definition, why()), COLANDER_INVALID);
    definition.log = (char *)"kafka://";
    FAILS(cluster_create(place->address, &definition, why()), COLANDER_INVALID);
    FAILS(cluster_create("b1", &definition, why()), COLANDER_INVALID);
    FAILS(cluster_open(place->address, &cluster, why()), COLANDER_NOT_FOUND);
}

/* What cannot be read is neither opened nor replaced. */
PLACE_TEST(a_damaged_or_newer_cluster_is_not_opened)
{
    const struct cluster_definition definition = some_cluster();
    struct cluster *cluster;

    put(place, "cluster.json", colander_slice_of(cluster_json, 20));
    FAILS(cluster_open(place->address, &cluster, why()), COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), "'cluster.json' is damaged"));
    FAILS(cluster_create(place->address, &definition, why()), COLANDER_CORRUPT);
    put(place, "cluster.json", colander_slice_text("{\"version\":2}"));
    FAILS(cluster_open(place->address, &cluster, why()), COLANDER_TOO_NEW);
    FAILS(cluster_create(place->address, &definition, why()), COLANDER_TOO_NEW);
}

PLACE_TEST(a_family_is_defined_once)
{
    struct cluster *cluster = create(place);
    struct cluster_family family = some_family();
    struct cluster_family read = {.name = NULL};
    bool is_there;
    bool is_new;

    OK(cluster_may_define(cluster, &family, &is_there, why()));
    assert_false(is_there);
    FAILS(cluster_family(cluster, "air_quality", &read, why()),
          COLANDER_NOT_FOUND);
    OK(cluster_define(cluster, &family, &is_new, why()));
    assert_true(is_new);
    OK(cluster_define(cluster, &family, &is_new, why()));
    assert_false(is_new);
    OK(cluster_may_define(cluster, &family, &is_there, why()));
    assert_true(is_there);
    OK(cluster_family(cluster, "air_quality", &read, why()));
    assert_string_equal(read.schema, family.schema);
    assert_string_equal(read.cluster, cluster_definition(cluster)->id);
    cluster_family_release(&read);

    family.partition_count = 8;
    family.schema = (char *)"return {}";
    family.key.count = 1;
    FAILS(cluster_may_define(cluster, &family, &is_there, why()),
          COLANDER_EXISTS);
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_EXISTS);
    assert_non_null(strstr(error_text(),
                           "partitions is '16', not '8', key is 'station,at', "
                           "not 'station', schema is "));
    OK(cluster_family(cluster, "air_quality", &read, why()));
    assert_int_equal(read.partition_count, 16);
    cluster_family_release(&read);
    cluster_close(cluster);
}

PLACE_TEST(a_wrong_family_is_not_defined)
{
    struct cluster *cluster = create(place);
    struct cluster_family family = some_family();
    struct cluster_texts names = {NULL, 0, 0};
    char *hash = (char *)":hash";
    bool is_new;

    family.partition_by = 3;
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_INVALID);
    family.partition_by = 1;
    family.key = (struct cluster_texts){&hash, 1, 1};
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_INVALID);
    family.key.count = 0;
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_INVALID);
    family.partition_by = 0;
    family.format = (char *)"csv";
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_INVALID);
    family.format = NULL;
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_INVALID);
    family.format = (char *)"json";
    family.schema = (char *)"\xff";
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_INVALID);
    OK(cluster_family_names(cluster, &names, NULL, why()));
    assert_int_equal(names.count, 0);
    cluster_close(cluster);
}

PLACE_TEST(families_are_listed_by_name)
{
    static const char *const wanted[] = {"a", "a-0", "a-b", "b"};
    struct cluster *cluster = create(place);
    struct cluster_family family = some_family();
    struct cluster_texts names = {NULL, 0, 0};
    bool is_new;

    for (size_t i = 4; i > 0; i--) {
        family.name = (char *)(uintptr_t)wanted[i - 1];
        OK(cluster_define(cluster, &family, &is_new, why()));
    }
    /* what a killed put leaves, and others */
    put(place, "families/a-0123456789abcdef0123456789abcdef.json.part-abcdef",
        colander_slice_text("{"));
    put(place, "families/-0123456789abcdef0123456789abcdef.json",
        colander_slice_text("{"));
    put(place, "families/a.json", colander_slice_text("{"));
    OK(cluster_family_names(cluster, &names, NULL, why()));
    assert_int_equal(names.count, 4);
    for (size_t i = 0; i < 4; i++) {
        struct cluster_family read = {.name = NULL};

        assert_string_equal(names.items[i], wanted[i]);
        OK(cluster_family(cluster, wanted[i], &read, why()));
        assert_string_equal(read.name, wanted[i]);
        cluster_family_release(&read);
    }
    cluster_texts_release(&names);
    cluster_close(cluster);
}

/* Also where the JSON is still one. */
PLACE_TEST(a_changed_byte_of_a_family_is_noticed)
{
    struct cluster *cluster = create(place);
    const struct cluster_family family = some_family();
    char *name = define(place, cluster, &family);
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;
    struct cluster_family read = {.name = NULL};

    OK(objects_get(place->objects, name, 0, 10000, &json, why()));
    for (size_t i = 0; i < json.size; i++) {
        enum colander_code code;

        json.data[i] ^= 1;
        put(place, name, colander_buffer_slice(&json));
        code = cluster_family(cluster, "air_quality", &read, why());
        assert_true(code == COLANDER_CORRUPT || code == COLANDER_TOO_NEW);
        assert_non_null(strstr(error_text(), name));
        json.data[i] ^= 1;
    }
    put(place, name, colander_buffer_slice(&json));
    OK(cluster_family(cluster, "air_quality", &read, why()));
    cluster_family_release(&read);
    colander_buffer_release(&json);
    free(name);
    cluster_close(cluster);
}

/* As when its cluster.json was lost, and another one created. */
PLACE_TEST(a_family_of_another_cluster_is_refused)
{
    struct cluster *cluster = create(place);
    const struct cluster_family family = some_family();
    struct cluster_family read = {.name = NULL};
    bool is_new;

    OK(cluster_define(cluster, &family, &is_new, why()));
    cluster_close(cluster);
    OK(objects_delete(place->objects, "cluster.json", why()));
    cluster = create(place);
    FAILS(cluster_family(cluster, "air_quality", &read, why()),
          COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), "of a cluster that was there before"));
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_CORRUPT);
    cluster_close(cluster);
}

PLACE_TEST(partitions_have_an_address)
{
    struct cluster *cluster = create(place);
    char wanted[TEMPORARY_SIZE + 100];
    char *address;

    OK(cluster_partition_address(cluster, "tweets", 17, &address, why()));
    (void)snprintf(wanted, sizeof(wanted),
                   "file://%s/here/partitions/tweets/0017", place->path);
    assert_string_equal(address, wanted);
    free(address);
    cluster_close(cluster);
}

/* -------------------------------------------------------------- at once --- */

/* Puts what another process does, right after the next put. */
static const struct intruder {
    const char *name;
    const char *text;
} * intruder;

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
    const struct intruder *other = intruder;
    enum colander_code code = __real_objects_put(objects, name, body, err);

    intruder = NULL;
    if (code == COLANDER_OK && other != NULL) {
        const struct object_body second = {-1, (const uint8_t *)other->text,
                                           strlen(other->text)};

        code = __real_objects_put(objects, other->name, &second, err);
    }
    return code;
}

PLACE_TEST(a_cluster_that_is_replaced_at_once_was_not_created)
{
    static const struct intruder other = {"cluster.json", cluster_json};
    struct cluster_definition definition = some_cluster();
    struct cluster *cluster;

    definition.name = (char *)"mine";
    intruder = &other;
    FAILS(cluster_create(place->address, &definition, why()), COLANDER_EXISTS);
    assert_non_null(strstr(error_text(), "the cluster 'prod'"));
    assert_non_null(strstr(error_text(), "at the same time"));
    OK(cluster_open(place->address, &cluster, why()));
    assert_string_equal(cluster_definition(cluster)->name, "prod");
    cluster_close(cluster);
}

PLACE_TEST(a_family_that_is_defined_otherwise_at_once_cannot_be_read)
{
    static const struct intruder other = {
        "families/air_quality-0123456789abcdef0123456789abcdef.json",
        family_json};
    const struct cluster_family family = some_family();
    struct cluster *cluster = create(place);
    struct cluster_family read = {.name = NULL};
    bool is_new = true;

    intruder = &other;
    FAILS(cluster_define(cluster, &family, &is_new, why()), COLANDER_CORRUPT);
    assert_false(is_new);
    assert_non_null(strstr(error_text(), other.name));
    FAILS(cluster_family(cluster, "air_quality", &read, why()),
          COLANDER_CORRUPT);
    OK(objects_delete(place->objects, other.name, why()));
    OK(cluster_family(cluster, "air_quality", &read, why()));
    cluster_family_release(&read);
    cluster_close(cluster);
}

struct definer {
    struct cluster *cluster;
    pthread_barrier_t *barrier;
    char name[20];
    uint32_t partition_count;
    enum colander_code code;
};

static void *
run_definer(void *context)
{
    struct definer *definer = context;
    struct cluster_family family = some_family();
    struct colander_error err;
    bool is_new;

    family.name = definer->name;
    family.partition_count = definer->partition_count;
    (void)pthread_barrier_wait(definer->barrier);
    definer->code = cluster_define(definer->cluster, &family, &is_new, &err);
    return NULL;
}

/* Returns how many succeed. `same`: all define the same. */
static unsigned
define_at_once(struct cluster *cluster, unsigned round, bool same)
{
    struct definer definers[DEFINERS];
    pthread_t threads[DEFINERS];
    pthread_barrier_t barrier;
    unsigned count = 0;

    ZERO(pthread_barrier_init(&barrier, NULL, DEFINERS));
    for (unsigned i = 0; i < DEFINERS; i++) {
        definers[i] = (struct definer){.cluster = cluster,
                                       .barrier = &barrier,
                                       .partition_count = same ? 1 : i + 1};
        (void)snprintf(definers[i].name, sizeof(definers[i].name), "%c%u",
                       same ? 's' : 'd', round);
        ZERO(thread_create(&threads[i], run_definer, &definers[i]));
    }
    for (unsigned i = 0; i < DEFINERS; i++) {
        ZERO(pthread_join(threads[i], NULL));
        count += definers[i].code == COLANDER_OK;
    }
    pthread_barrier_destroy(&barrier);
    return count;
}

/* At most one of several definitions counts as made, and if it does not stay
 * alone, no one reads any. */
PLACE_TEST(two_definitions_at_once_are_not_both_made)
{
    struct cluster *cluster = create(place);

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct cluster_family read = {.name = NULL};
        const unsigned count = define_at_once(cluster, round, false);
        enum colander_code code;
        char name[20];

        assert_true(count <= 1);
        (void)snprintf(name, sizeof(name), "d%u", round);
        code = cluster_family(cluster, name, &read, why());
        assert_true(code == COLANDER_CORRUPT ||
                    (code == COLANDER_OK && count == 1));
        if (code == COLANDER_CORRUPT)
            assert_non_null(strstr(error_text(), "definitions"));
        cluster_family_release(&read);
    }
    cluster_close(cluster);
}

PLACE_TEST(the_same_definition_at_once_is_made)
{
    struct cluster *cluster = create(place);

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct cluster_family read = {.name = NULL};
        char name[20];

        assert_int_equal(define_at_once(cluster, round, true), DEFINERS);
        (void)snprintf(name, sizeof(name), "s%u", round);
        OK(cluster_family(cluster, name, &read, why()));
        cluster_family_release(&read);
    }
    cluster_close(cluster);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
