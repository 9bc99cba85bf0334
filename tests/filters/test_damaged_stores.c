/*
 * Stores with one damaged file: every answer is correct, or an error that names
 * the file (invariants I1, I2, I5, I6).
 *
 * The store was written by a process that was killed, so rows are in SST files
 * of several levels, in files of a bulk and in write-ahead logs. It is copied,
 * damaged, and opened for reading, for writing, and for reading again.
 * COLANDER_RUNS sets the number of damages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/damage.h"
#include "support/filter_files.h"
#include "support/killed_store.h"
#include "support/scoped.h"

#define FINDS 20

/* -------------------------------------------------------------- looking --- */

struct looking {
    char killed[TEMPORARY_SIZE + 16]; /* as it was written */
    char path[TEMPORARY_SIZE + 16];   /* its copy */
    uint64_t seed;
    uint64_t random;
    struct model models[2]; /* of `rows` and of `bulk` */
    const struct damage *damage;
    bool is_short;     /* the end of its log was lost */
    bool was_reported; /* once, by the open that drops it */
    uint64_t refused[KINDS];
    uint64_t failed[KINDS]; /* opened, and something failed later */
    uint64_t fine[KINDS];
    uint64_t rows_verified; /* by finds in stores that could be opened */
    uint64_t rows_direct;   /* of these, read directly */
};

static const char *
base_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* Checks that an error has a code of damage, and names the file. */
static void
assert_names_file(const struct looking *looking,
                  const struct colander_error *err)
{
    const struct damage *damage = looking->damage;

    /* Without its record it is not a store. */
    if (err->code != COLANDER_CORRUPT && err->code != COLANDER_IO &&
        strcmp(damage->path, "./COLANDER") != 0)
        fail_msg("code %d: %s", (int)err->code, err->message);
    if (strstr(err->message, base_name(damage->path)) == NULL &&
        (damage->other[0] == '\0' ||
         strstr(err->message, base_name(damage->other)) == NULL))
        fail_msg("names no file: %s", err->message);
}

/* Compares the rows of the model that match with those of the find, in order.
 * Returns false if the find failed because of the damage. */
static bool
compare_with_model(struct looking *looking, const struct model *model,
                   struct colander_family *family,
                   const struct colander_predicate *where)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    struct colander_query query = usual_query();
    struct colander_error err;
    enum colander_code code;
    bool is_row = true;

    query.where = where;
    code = colander_family_find(family, &query, &cursor, &err);
    for (uint64_t i = 0; i <= KEYS && code == COLANDER_OK; i++) {
        bool is_match = i < KEYS && model->is_there[i];

        if (is_match && where != NULL)
            OK(colander_predicate_evaluate(
                where, colander_buffer_slice(&model->rows[i]), &is_match, NULL,
                NULL));
        if (i < KEYS && !is_match)
            continue;
        code = colander_cursor_next(cursor, &is_row, &result, &err);
        if (code != COLANDER_OK)
            break;
        assert_int_equal(is_row, i < KEYS);
        if (!is_row)
            break;
        encode_key(i, &key);
        assert_true(
            colander_slice_equal(result.key, colander_buffer_slice(&key)));
        ASSERT_SAME(result.row, colander_buffer_slice(&model->rows[i]));
    }
    if (cursor != NULL) {
        struct colander_explain explain;

        colander_cursor_explain(cursor, &explain);
        looking->rows_verified += explain.rows_verified;
        looking->rows_direct += explain.rows_direct;
    }
    colander_cursor_close(cursor);
    if (code != COLANDER_OK)
        assert_names_file(looking, &err);
    return code == COLANDER_OK;
}

/* Runs a whole scan, finds, and gets. */
static bool
compare_family(struct looking *looking, const struct model *model,
               struct colander_family *family)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    bool is_fine = compare_with_model(looking, model, family, NULL);

    for (unsigned i = 0; i < FINDS; i++) {
        SCOPED_PREDICATE predicate = random_predicate(&looking->random, 2);

        assert_non_null(predicate);
        is_fine &= compare_with_model(looking, model, family, predicate);
    }
    for (unsigned i = 0; i < FINDS; i++) {
        const uint64_t index = random_below(&looking->random, KEYS);
        struct colander_error err;
        bool is_there;

        encode_key(index, &key);
        if (colander_family_get(family, colander_buffer_slice(&key), NULL, &row,
                                &is_there, &err) != COLANDER_OK) {
            assert_names_file(looking, &err);
            is_fine = false;
            continue;
        }
        assert_int_equal(is_there, model->is_there[index]);
        assert_true(
            !is_there ||
            colander_slice_equal(colander_buffer_slice(&row),
                                 colander_buffer_slice(&model->rows[index])));
    }
    return is_fine;
}

/* Returns the last step that the family shows, and the keys it has; -1 if it
 * cannot be read. */
static int64_t
last_step(struct colander_family *family, bool is_there[KEYS])
{
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    struct colander_value value;
    int64_t last = -1;
    bool is_found;
    bool is_row;

    if (colander_family_find(family, NULL, &cursor, NULL) != COLANDER_OK)
        return -1;
    for (;;) {
        enum colander_code code =
            colander_cursor_next(cursor, &is_row, &result, NULL);

        if (code != COLANDER_OK)
            last = -1;
        if (code != COLANDER_OK || !is_row)
            break;
        is_there[decode_key(result.key)] = true;
        OK(colander_row_get(result.row, "step", &value, &is_found, NULL));
        if (is_found && value.integer > last)
            last = value.integer;
    }
    return last;
}

/* Only the end of the last log may be lost. Then the family has the rows of an
 * earlier step. */
static void
find_earlier_step(struct looking *looking, struct colander_family *family,
                  bool is_reported)
{
    const struct damage *damage = looking->damage;
    struct model *model = &looking->models[0];
    bool is_there[KEYS] = {false};
    const int64_t last = last_step(family, is_there);

    if (last < 0 || (last == model_last_step(model) &&
                     memcmp(is_there, model->is_there, sizeof(is_there)) == 0))
        return;
    if (!damage->is_last_log || damage->at < damage->size / 16 * 14)
        fail_msg("only %lld steps", (long long)last);
    looking->was_reported = looking->was_reported || is_reported;
    if (!looking->was_reported && damage->kind != CUT)
        fail_msg("the loss is not reported");
    looking->is_short = true;
    model_go_to_shown(model, looking->seed, last, is_there, STEPS);
}

static bool
look_at_store(struct looking *looking, struct colander_store *store)
{
    struct colander_recovery recovery;
    struct colander_family *family;
    bool is_fine = true;

    colander_store_recovery(store, &recovery);
    for (unsigned i = 0; i < 2; i++) {
        OK(colander_family_open(store, i == 0 ? "rows" : "bulk", &family,
                                NULL));
        if (i == 0)
            find_earlier_step(looking, family, recovery.dropped_size > 0);
        is_fine &= compare_family(looking, &looking->models[i], family);
        colander_family_close(family);
    }
    return is_fine;
}

enum outcome { FINE, FAILED, REFUSED };

static enum outcome
look_at(struct looking *looking, enum colander_open_mode mode)
{
    struct colander_options options = usual_options();
    struct colander_store *store;
    struct colander_error err;
    bool is_fine;

    options.mode = mode;
    if (colander_store_open(looking->path, &options, &store, &err) !=
        COLANDER_OK) {
        assert_names_file(looking, &err);
        return REFUSED;
    }
    is_fine = look_at_store(looking, store);
    if (colander_store_close(store, &err) != COLANDER_OK) {
        assert_names_file(looking, &err);
        is_fine = false;
    }
    return is_fine ? FINE : FAILED;
}

static void
damage_once(struct looking *looking, const struct damageable *files)
{
    static const enum colander_open_mode modes[] = {COLANDER_OPEN_READ_ONLY,
                                                    COLANDER_OPEN_EXISTING,
                                                    COLANDER_OPEN_READ_ONLY};
    enum outcome worst = FINE;
    struct damage damage;

    choose_damage(looking->killed, files, &looking->random, &damage);
    printf("%s: %s%s%s at %lld of %lld: ", damage_names[damage.kind],
           damage.path, damage.other[0] == '\0' ? "" : " and ", damage.other,
           (long long)damage.at, (long long)damage.size);
    (void)fflush(stdout);
    copy_store(looking->killed, looking->path);
    do_damage(looking->path, &damage, &looking->random);
    looking->damage = &damage;
    looking->is_short = false;
    looking->was_reported = false;
    model_go_to(&looking->models[0], looking->seed, STEPS);
    for (unsigned i = 0; i < COUNT(modes); i++) {
        enum outcome outcome = look_at(looking, modes[i]);

        if (outcome > worst)
            worst = outcome;
    }
    printf("%s%s\n",
           worst == FINE     ? "fine"
           : worst == FAILED ? "failed"
                             : "refused",
           looking->is_short ? ", short" : "");
    looking->fine[damage.file_kind] += worst == FINE;
    looking->failed[damage.file_kind] += worst == FAILED;
    looking->refused[damage.file_kind] += worst == REFUSED;
    temporary_remove(looking->path);
}

TEST(damaged_stores_are_right_or_report_the_damage)
{
    SCOPED_MEMORY struct looking *looking = calloc(1, sizeof(*looking));
    static struct damageable files;
    char directory[TEMPORARY_SIZE];

    temporary_make(directory);
    (void)snprintf(looking->killed, sizeof(looking->killed), "%s/killed",
                   directory);
    (void)snprintf(looking->path, sizeof(looking->path), "%s/store", directory);
    looking->seed = random_seed(__func__);
    looking->random = looking->seed;
    write_killed_store(looking->killed, looking->seed);
    model_go_to(&looking->models[0], looking->seed, STEPS);
    model_go_to(&looking->models[1], looking->seed + 1, STEPS);
    list_files(looking->killed, &files);
    for (uint64_t runs = random_runs(50); runs > 0; runs--)
        damage_once(looking, &files);
    for (size_t i = 0; i < KINDS; i++)
        printf("%-8s %5llu fine, %5llu failed, %5llu refused\n", kind_names[i],
               (unsigned long long)looking->fine[i],
               (unsigned long long)looking->failed[i],
               (unsigned long long)looking->refused[i]);
    printf("%llu of %llu rows read directly\n",
           (unsigned long long)looking->rows_direct,
           (unsigned long long)looking->rows_verified);
    assert_true(2 * looking->rows_direct >= looking->rows_verified);
    model_release(&looking->models[0]);
    model_release(&looking->models[1]);
    temporary_remove(directory);
}
