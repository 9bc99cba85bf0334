/*
 * Salvages a damaged store, and compares its rows with a model, inside and
 * outside of what is reported lost.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_SALVAGING_H
#define TESTS_SUPPORT_SALVAGING_H

#include "core/salvage.h"
#include "support/damage.h"
#include "support/killed_store.h"
#include "support/scoped.h"

#define LOSSES_MAX 256

/* Rows that were reported lost. */
struct lost {
    char family[32]; /* "": any family */
    bool has_after;
    bool has_until;
    bool is_from;
    struct colander_buffer after;
    struct colander_buffer until;
    char text[600];
};

struct salvaging {
    char killed[TEMPORARY_SIZE + 16]; /* as it was written */
    char path[TEMPORARY_SIZE + 16];   /* its copy */
    uint64_t seed;
    uint64_t random;
    struct model models[2]; /* of `rows` and of `bulk` */
    const struct damage *damage;
    struct lost losses[LOSSES_MAX];
    size_t loss_count;
    bool has_heard;    /* all losses were reported */
    uint64_t doubtful; /* rows that differ from the model */
    uint64_t whole[KINDS];
    uint64_t partial[KINDS];
};

/* --------------------------------------------------------------- losses --- */

static inline void
copy_bytes(struct colander_buffer *to, struct colander_slice from)
{
    colander_buffer_clear(to);
    OK(colander_buffer_append(to, from.data, from.size, NULL));
}

static inline void
note_loss(void *context, const struct salvage_loss *loss)
{
    struct salvaging *salvaging = context;
    struct lost *lost = &salvaging->losses[salvaging->loss_count];

    assert_true(strlen(loss->what) > 0);
    assert_true(strlen(loss->file) > 0);
    if (loss->is_none || salvaging->has_heard)
        return;
    assert_true(++salvaging->loss_count < LOSSES_MAX);
    (void)snprintf(lost->text, sizeof(lost->text), "%s: %s", loss->file,
                   loss->what);
    (void)snprintf(lost->family, sizeof(lost->family), "%s",
                   loss->family == NULL ? "" : loss->family);
    lost->has_after = loss->after.data != NULL;
    lost->has_until = loss->until.data != NULL;
    lost->is_from = loss->is_from;
    copy_bytes(&lost->after, loss->after);
    copy_bytes(&lost->until, loss->until);
}

static inline bool
is_reported(const struct salvaging *salvaging, const char *family,
            struct colander_slice key)
{
    for (size_t i = 0; i < salvaging->loss_count; i++) {
        const struct lost *lost = &salvaging->losses[i];
        int after =
            colander_slice_compare(key, colander_buffer_slice(&lost->after));
        int until =
            colander_slice_compare(key, colander_buffer_slice(&lost->until));

        if (lost->family[0] != '\0' && strcmp(lost->family, family) != 0)
            continue;
        if ((!lost->has_after || after > 0 || (after == 0 && lost->is_from)) &&
            (!lost->has_until || until <= 0))
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------- rows --- */

/* The key of a family was, or should be, something else. */
static inline void
must_be_reported(struct salvaging *salvaging, const char *family,
                 uint64_t index, const char *what)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    encode_key(index, &key);
    salvaging->doubtful++;
    if (!is_reported(salvaging, family, colander_buffer_slice(&key))) {
        for (size_t i = 0; i < salvaging->loss_count; i++)
            printf("reported: %s\n", salvaging->losses[i].text);
        fail_msg("row %llu of '%s' is %s, which is not reported",
                 (unsigned long long)index, family, what);
    }
}

/* Steps to the next row. Returns its number; KEYS: there are no more. */
static inline uint64_t
next_index(struct salvage *salvage, struct colander_slice *row)
{
    struct colander_slice key;
    bool is_row;

    OK(salvage_next(salvage, &is_row, &key, row, why()));
    return is_row ? decode_key(key) : KEYS;
}

static inline void
compare_rows(struct salvaging *salvaging, struct salvage *salvage,
             const char *family, const struct model *model)
{
    struct colander_slice row;
    uint64_t at = 0;

    for (;;) {
        const uint64_t index = next_index(salvage, &row);

        assert_true(index >= at); /* in key order */
        for (; at < index; at++) {
            if (model->is_there[at])
                must_be_reported(salvaging, family, at, "missing");
        }
        if (index == KEYS)
            return;
        if (!model->is_there[index])
            must_be_reported(salvaging, family, index, "back");
        else if (!colander_slice_equal(
                     row, colander_buffer_slice(&model->rows[index])))
            must_be_reported(salvaging, family, index, "another");
        at = index + 1;
    }
}

/* Returns the last step that a family shows, and the keys it has. */
static inline int64_t
last_step(struct salvage *salvage, bool is_there[KEYS])
{
    struct colander_slice row;
    int64_t last = -1;
    uint64_t index;

    while ((index = next_index(salvage, &row)) < KEYS) {
        struct colander_value value;
        bool is_found;

        is_there[index] = true;
        OK(colander_row_get(row, "step", &value, &is_found, NULL));
        if (is_found && value.integer > last)
            last = value.integer;
    }
    return last;
}

/* A cut of the last log between two records that the ledger has not noted yet
 * cannot be detected. Then the rows are those of an earlier step. */
static inline void
allow_cut(struct salvaging *salvaging, struct salvage *salvage, size_t index)
{
    const struct damage *damage = salvaging->damage;
    bool is_there[KEYS] = {false};
    int64_t last;

    if (damage == NULL || damage->kind != CUT || !damage->is_last_log ||
        salvaging->loss_count > 0 || damage->at < damage->size / 16 * 14)
        return;
    OK(salvage_begin(salvage, index, NULL));
    last = last_step(salvage, is_there);
    model_go_to_shown(&salvaging->models[0], salvaging->seed, last, is_there,
                      STEPS);
}

/* All losses have been reported once all rows were returned. */
static inline void
hear_losses(struct salvage *salvage)
{
    struct colander_slice row;

    for (size_t i = 0; i < salvage_family_count(salvage); i++) {
        OK(salvage_begin(salvage, i, NULL));
        while (next_index(salvage, &row) < KEYS)
            continue;
    }
}

static inline void
look_at_families(struct salvaging *salvaging, struct salvage *salvage)
{
    hear_losses(salvage);
    salvaging->has_heard = true;
    for (size_t i = 0; i < salvage_family_count(salvage); i++) {
        const char *name = salvage_family_name(salvage, i);
        const bool is_bulk = strcmp(name, "bulk") == 0;

        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(salvage_family_name(salvage, j), name);
        if (!is_bulk && strcmp(name, "rows") != 0)
            continue;
        if (!is_bulk)
            allow_cut(salvaging, salvage, i);
        OK(salvage_begin(salvage, i, NULL));
        compare_rows(salvaging, salvage, name, &salvaging->models[is_bulk]);
    }
}

static inline void
salvage_store(struct salvaging *salvaging, const char *path)
{
    struct salvage *salvage;

    salvaging->loss_count = 0;
    salvaging->has_heard = false;
    salvaging->doubtful = 0;
    model_go_to(&salvaging->models[0], salvaging->seed, STEPS);
    OK(salvage_open(path, note_loss, salvaging, &salvage, why()));
    look_at_families(salvaging, salvage);
    salvage_close(salvage);
}

/* ----------------------------------------------------------------- life --- */

static inline struct salvaging *
salvaging_begin(const char *name, char directory[TEMPORARY_SIZE])
{
    struct salvaging *salvaging = calloc(1, sizeof(*salvaging));

    temporary_make(directory);
    (void)snprintf(salvaging->killed, sizeof(salvaging->killed), "%s/killed",
                   directory);
    (void)snprintf(salvaging->path, sizeof(salvaging->path), "%s/store",
                   directory);
    salvaging->seed = random_seed(name);
    salvaging->random = salvaging->seed;
    write_killed_store(salvaging->killed, salvaging->seed);
    model_go_to(&salvaging->models[1], salvaging->seed + 1, STEPS);
    return salvaging;
}

static inline void
salvaging_end(struct salvaging *salvaging, const char *directory)
{
    for (size_t i = 0; i < LOSSES_MAX; i++) {
        colander_buffer_release(&salvaging->losses[i].after);
        colander_buffer_release(&salvaging->losses[i].until);
    }
    model_release(&salvaging->models[0]);
    model_release(&salvaging->models[1]);
    temporary_remove(directory);
    free(salvaging);
}

#endif
