/*
 * Groupings as bytes. One is sent as its plan: the states that are needed, and
 * not what is computed of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/decode.h"
#include "columns/groups/groups_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

static const struct colander_measure measures[] = {
    [SLOT_ROWS] = {"rows", COLANDER_COUNT, NULL, 0},
    [SLOT_PRESENT] = {"present", COLANDER_COUNT, NULL, 0},
    [SLOT_SUM] = {"sum", COLANDER_SUM, NULL, 0},
    [SLOT_LEAST] = {"least", COLANDER_MIN, NULL, 0},
    [SLOT_GREATEST] = {"greatest", COLANDER_MAX, NULL, 0},
    [SLOT_FIRST] = {"first", COLANDER_FIRST, NULL, 0},
    [SLOT_LAST] = {"last", COLANDER_LAST, NULL, 0},
    [SLOT_SET] = {"set", COLANDER_DISTINCT, NULL, 0},
    [SLOT_ESTIMATE] = {"estimate", COLANDER_APPROX_DISTINCT, NULL, 0},
    [SLOT_QUANTILES] = {"quantiles", COLANDER_QUANTILE, NULL, 0},
};

#define KINDS (sizeof(measures) / sizeof(measures[0]))

bool
colander_groups_may_move(const struct colander_groups *groups)
{
    const struct group_plan *plan = &groups->plan;

    for (size_t i = 0; i < plan->source_count; i++) {
        if (plan->sources[i].path.count == 0)
            return false;
    }
    for (size_t i = 0; i < plan->key_count; i++) {
        const char *zone = plan->keys[i].zone;

        if (zone != NULL && strcmp(zone, "local") == 0)
            return false;
    }
    return true;
}

bool
colander_groups_is_cancelled(const struct colander_groups *groups)
{
    return groups_is_cancelled(groups);
}

/* ------------------------------------------------------------- encoding --- */

static enum colander_code
add_path(struct colander_row_builder *builder, const char *name,
         const struct group_plan *plan, size_t source,
         struct colander_error *err)
{
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    enum colander_code code =
        path_append(&path, &plan->sources[source].path, err);

    if (code == COLANDER_OK)
        colander_row_builder_add(builder, name,
                                 colander_string(colander_buffer_slice(&path)));
    colander_buffer_release(&path);
    return code;
}

/* Adds the size of the buckets of a key, and their zone. */
static void
add_bucket(struct colander_row_builder *builder, const struct plan_key *key)
{
    static const char *const units[] = {
        [BUCKET_SECONDS] = "s", [BUCKET_DAYS] = "d", [BUCKET_MONTHS] = "mo"};
    char text[40];

    if (!key->is_bucket)
        return;
    (void)snprintf(text, sizeof(text), "%" PRId64 "%s", key->bucket.size,
                   units[key->bucket.unit]);
    colander_row_builder_add(builder, NULL, colander_text(text));
    if (key->zone != NULL)
        colander_row_builder_add(builder, NULL, colander_text(key->zone));
}

static enum colander_code
add_plan(struct colander_row_builder *builder,
         const struct colander_groups *groups, struct colander_error *err)
{
    const struct group_plan *plan = &groups->plan;
    enum colander_code code = COLANDER_OK;

    colander_row_builder_add(builder, DECODE_VERSION,
                             colander_integer(GROUPS_VERSION));
    if (groups->asked.size_max != SIZE_MAX)
        colander_row_builder_add(builder, "memory",
                                 colander_unsigned(groups->asked.size_max));
    if (plan->time_source != PLAN_NO_SOURCE)
        code = add_path(builder, "time", plan, plan->time_source, err);
    colander_row_builder_begin_array(builder, "keys");
    for (size_t i = 0; i < plan->key_count && code == COLANDER_OK; i++) {
        colander_row_builder_begin_array(builder, NULL);
        code = add_path(builder, NULL, plan, plan->keys[i].source, err);
        add_bucket(builder, &plan->keys[i]);
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
    colander_row_builder_begin_array(builder, "states");
    for (size_t i = 0; i < plan->slot_count && code == COLANDER_OK; i++) {
        const struct plan_slot *slot = &plan->slots[i];

        colander_row_builder_begin_array(builder, NULL);
        colander_row_builder_add(builder, NULL,
                                 colander_text(measures[slot->kind].name));
        if (slot->kind != SLOT_ROWS)
            code = add_path(builder, NULL, plan, slot->source, err);
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
    return code;
}

enum colander_code
colander_grouping_encode(const struct colander_groups *groups,
                         struct colander_buffer *bytes,
                         struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for groups");
    return groups_finish_bytes(builder, add_plan(builder, groups, err), bytes,
                               err);
}

/* ------------------------------------------------------------- decoding --- */

/* A grouping that is read. Texts are offsets until all are there, plus 1. */
struct decoder {
    struct colander_buffer texts;
    struct colander_group_key keys[COLANDER_GROUP_KEYS_MAX];
    struct colander_measure measures[COLANDER_GROUP_MEASURES_MAX];
    size_t key_texts[COLANDER_GROUP_KEYS_MAX][3];
    size_t paths[COLANDER_GROUP_MEASURES_MAX];
    size_t time_path;
    struct colander_grouping grouping;
};

static enum colander_code
take_text(struct decoder *decoder, const struct colander_value *value,
          size_t *place, struct colander_error *err)
{
    *place = decoder->texts.size + 1;
    return decode_append_text(&decoder->texts, value, err);
}

static const char *
text_at(const struct decoder *decoder, size_t place)
{
    return place == 0 ? NULL : (const char *)decoder->texts.data + place - 1;
}

static enum colander_code
take_key(struct decoder *decoder, const struct colander_value *key,
         struct colander_error *err)
{
    size_t *texts = decoder->key_texts[decoder->grouping.key_count++];
    struct colander_members members;
    struct colander_value value;
    enum colander_code code =
        decode_enter(&members, key, COLANDER_ARRAY, "key", err);

    if (code == COLANDER_OK && (members.left < 1 || members.left > 3))
        code = COLANDER_FAIL(err, COLANDER_INVALID, "a key is malformed");
    for (size_t i = 0; code == COLANDER_OK && members.left > 0; i++) {
        code = decode_next(&members, &value, err);
        if (code == COLANDER_OK)
            code = take_text(decoder, &value, &texts[i], err);
    }
    return code;
}

static enum colander_code
take_measure(struct decoder *decoder, const struct colander_value *state,
             struct colander_error *err)
{
    const size_t index = decoder->grouping.measure_count++;
    const char *names[KINDS];
    struct colander_members members;
    struct colander_value value;
    size_t kind = 0;
    enum colander_code code =
        decode_enter(&members, state, COLANDER_ARRAY, "state", err);

    for (size_t i = 0; i < KINDS; i++)
        names[i] = measures[i].name;
    if (code == COLANDER_OK)
        code = decode_name(&members, names, KINDS, "state", &kind, err);
    if (code == COLANDER_OK && members.left != (kind == SLOT_ROWS ? 0 : 1))
        code = COLANDER_FAIL(err, COLANDER_INVALID, "a state is malformed");
    if (code == COLANDER_OK && kind != SLOT_ROWS)
        code = decode_next(&members, &value, err);
    if (code == COLANDER_OK && kind != SLOT_ROWS)
        code = take_text(decoder, &value, &decoder->paths[index], err);
    if (code == COLANDER_OK)
        decoder->measures[index].aggregate = measures[kind].aggregate;
    return code;
}

/* Takes each element of a list. */
static enum colander_code
take_list(struct decoder *decoder, const struct colander_value *list,
          size_t count_max,
          enum colander_code (*take)(struct decoder *,
                                     const struct colander_value *,
                                     struct colander_error *),
          struct colander_error *err)
{
    struct colander_members members;
    struct colander_value value;
    enum colander_code code =
        decode_enter(&members, list, COLANDER_ARRAY, "list", err);

    if (code == COLANDER_OK && members.left > count_max)
        code = COLANDER_FAIL(err, COLANDER_LIMIT,
                             "%u keys or states, over the limit of %zu",
                             members.left, count_max);
    while (code == COLANDER_OK && members.left > 0) {
        code = decode_next(&members, &value, err);
        if (code == COLANDER_OK)
            code = take(decoder, &value, err);
    }
    return code;
}

static enum colander_code
take_member(struct decoder *decoder, struct colander_slice name,
            const struct colander_value *value, struct colander_error *err)
{
    if (colander_slice_equal(name, colander_slice_text("keys")))
        return take_list(decoder, value, COLANDER_GROUP_KEYS_MAX, take_key,
                         err);
    if (colander_slice_equal(name, colander_slice_text("states")))
        return take_list(decoder, value, COLANDER_GROUP_MEASURES_MAX,
                         take_measure, err);
    if (colander_slice_equal(name, colander_slice_text("time")))
        return take_text(decoder, value, &decoder->time_path, err);
    if (!colander_slice_equal(name, colander_slice_text("memory")) ||
        (value->type != COLANDER_INTEGER && value->type != COLANDER_UNSIGNED))
        return COLANDER_FAIL(err, COLANDER_INVALID, "unknown member '%.*s'",
                             (int)(name.size < 32 ? name.size : 32),
                             (const char *)name.data);
    if (value->natural < decoder->grouping.size_max)
        decoder->grouping.size_max = value->natural;
    return COLANDER_OK;
}

/* Names the columns, and points at the texts, which move no more. */
static enum colander_code
create(struct decoder *decoder, struct colander_groups **groups,
       struct colander_error *err)
{
    static const char names[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ-+!$%&/()=?*#:;<>.";
    const size_t key_count = decoder->grouping.key_count;
    char texts[COLANDER_GROUP_KEYS_MAX + COLANDER_GROUP_MEASURES_MAX][2];

    static_assert(sizeof(names) > sizeof(texts) / 2, "a name for each");
    for (size_t i = 0; i < sizeof(texts) / 2; i++) {
        texts[i][0] = names[i];
        texts[i][1] = '\0';
    }
    for (size_t i = 0; i < key_count; i++)
        decoder->keys[i] = (struct colander_group_key){
            texts[i], text_at(decoder, decoder->key_texts[i][0]),
            text_at(decoder, decoder->key_texts[i][1]),
            text_at(decoder, decoder->key_texts[i][2])};
    for (size_t i = 0; i < decoder->grouping.measure_count; i++) {
        decoder->measures[i].name = texts[key_count + i];
        decoder->measures[i].path = text_at(decoder, decoder->paths[i]);
    }
    decoder->grouping.time_path = text_at(decoder, decoder->time_path);
    return colander_groups_create(&decoder->grouping, groups, err);
}

enum colander_code
colander_grouping_decode(struct colander_slice bytes, size_t size_max,
                         bool (*is_cancelled)(void),
                         struct colander_groups **groups,
                         struct colander_error *err)
{
    struct decoder decoder;
    struct colander_members members;
    enum colander_code code;

    *groups = NULL;
    memset(&decoder, 0, sizeof(decoder));
    colander_grouping_init(&decoder.grouping);
    decoder.grouping.keys = decoder.keys;
    decoder.grouping.measures = decoder.measures;
    decoder.grouping.size_max = size_max;
    decoder.grouping.is_cancelled = is_cancelled;
    code = decode_begin(&members, bytes, GROUPS_VERSION, err);
    while (code == COLANDER_OK && members.left > 0) {
        struct colander_slice name;
        struct colander_value value;
        bool is_member;

        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code == COLANDER_OK)
            code = take_member(&decoder, name, &value, err);
    }
    if (code == COLANDER_OK)
        code = create(&decoder, groups, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot decode a grouping");
    colander_buffer_release(&decoder.texts);
    return code;
}

enum colander_code
colander_groups_create_like(const struct colander_groups *groups,
                            struct colander_groups **like,
                            struct colander_error *err)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_grouping_encode(groups, &bytes, err);

    *like = NULL;
    if (code == COLANDER_OK)
        code = colander_grouping_decode(colander_buffer_slice(&bytes),
                                        groups->asked.size_max,
                                        groups->asked.is_cancelled, like, err);
    colander_buffer_release(&bytes);
    return code;
}
