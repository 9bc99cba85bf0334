/*
 * Salvage of stores with one damage, in any of their files: what is not told to
 * be lost is as it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage.h"
#include "core/salvage/table_map.h"
#include "support/damage.h"
#include "support/killed_store.h"

#define LOSSES_MAX 256

/* Rows that were told to be lost. */
struct lost {
    char family[32]; /* "": of any */
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
    bool has_heard;    /* of all losses */
    uint64_t doubtful; /* rows that are not as they were */
    uint64_t whole[KINDS];
    uint64_t partial[KINDS];
};

/* --------------------------------------------------------------- losses --- */

static void
copy_bytes(struct colander_buffer *to, struct colander_slice from)
{
    colander_buffer_clear(to);
    OK(colander_buffer_append(to, from.data, from.size, NULL));
}

static void
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

static bool
is_told(const struct salvaging *salvaging, const char *family,
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

/* The key of a family was, or ought to be, something else. */
static void
must_be_told(struct salvaging *salvaging, const char *family, uint64_t index,
             const char *what)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    encode_key(index, &key);
    salvaging->doubtful++;
    if (!is_told(salvaging, family, colander_buffer_slice(&key))) {
        for (size_t i = 0; i < salvaging->loss_count; i++)
            printf("told: %s\n", salvaging->losses[i].text);
        fail_msg("row %llu of '%s' is %s, and that is not told",
                 (unsigned long long)index, family, what);
    }
    colander_buffer_release(&key);
}

/* Steps to the next row, and gives its number; KEYS: there is none. */
static uint64_t
next_index(struct salvage *salvage, struct colander_slice *row)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    struct colander_slice key;
    struct colander_error err;
    size_t count;

    if (salvage_next(salvage, &key, row, &err) != COLANDER_OK)
        fail_msg("%s", err.message);
    if (key.data == NULL)
        return KEYS;
    OK(colander_key_decode(key, parts, &count, &scratch, NULL));
    assert_int_equal(count, 1);
    assert_in_range(parts[0].integer, 0, KEYS - 1);
    colander_buffer_release(&scratch);
    return (uint64_t)parts[0].integer;
}

static void
compare_rows(struct salvaging *salvaging, struct salvage *salvage,
             const char *family, const struct model *model)
{
    struct colander_slice row;
    uint64_t at = 0;

    for (;;) {
        const uint64_t index = next_index(salvage, &row);

        assert_true(index >= at); /* in the order of keys */
        for (; at < index; at++) {
            if (model->is_there[at])
                must_be_told(salvaging, family, at, "missing");
        }
        if (index == KEYS)
            return;
        if (!model->is_there[index])
            must_be_told(salvaging, family, index, "back");
        else if (!colander_slice_equal(
                     row, colander_buffer_slice(&model->rows[index])))
            must_be_told(salvaging, family, index, "another");
        at = index + 1;
    }
}

/* The last step that a family shows, and which keys it has. */
static int64_t
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

/* Goes on with the deletes that were read behind the last put. */
static void
go_on_with_deletes(struct model *model, uint64_t seed,
                   const bool is_there[KEYS])
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct step step;

    for (;;) {
        make_step(seed, model->steps, builder, &step);
        if (model->steps == STEPS || !step.is_delete || is_there[step.key])
            break;
        model_go_to(model, seed, model->steps + 1);
    }
    colander_row_builder_destroy(builder);
}

/* A cut of the last log between two records, of which the ledger has no note
 * yet, cannot be told: then the rows are those of an earlier step. */
static void
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
    model_go_to(&salvaging->models[0], salvaging->seed, (uint64_t)last + 1);
    go_on_with_deletes(&salvaging->models[0], salvaging->seed, is_there);
}

/* All losses have been told when all rows were given. */
static void
hear_losses(struct salvage *salvage)
{
    struct colander_slice row;

    for (size_t i = 0; i < salvage_family_count(salvage); i++) {
        OK(salvage_begin(salvage, i, NULL));
        while (next_index(salvage, &row) < KEYS)
            continue;
    }
}

static void
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

static void
salvage_store(struct salvaging *salvaging, const char *path)
{
    struct salvage *salvage;
    struct colander_error err;

    salvaging->loss_count = 0;
    salvaging->has_heard = false;
    salvaging->doubtful = 0;
    model_go_to(&salvaging->models[0], salvaging->seed, STEPS);
    if (salvage_open(path, note_loss, salvaging, &salvage, &err) != COLANDER_OK)
        fail_msg("%s", err.message);
    look_at_families(salvaging, salvage);
    salvage_close(salvage);
}

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
    printf("%zu losses told, %llu rows\n", salvaging->loss_count,
           (unsigned long long)salvaging->doubtful);
    salvaging->whole[damage.file_kind] += salvaging->loss_count == 0;
    salvaging->partial[damage.file_kind] += salvaging->loss_count > 0;
    temporary_remove(salvaging->path);
}

/* ---------------------------------------------------------------- tests --- */

static struct salvaging *
begin(const char *name, char directory[TEMPORARY_SIZE])
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

static void
end(struct salvaging *salvaging, const char *directory)
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

static void
what_is_not_told_is_as_it_was(void **state)
{
    static struct damageable files;
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = begin(__func__, directory);

    (void)state;
    /* Of a store that is well nothing is lost. */
    salvage_store(salvaging, salvaging->killed);
    assert_int_equal(salvaging->loss_count, 0);
    list_files(salvaging->killed, &files);
    for (uint64_t runs = random_runs(300); runs > 0; runs--)
        damage_once(salvaging, &files);
    for (size_t i = 0; i < KINDS; i++)
        printf("%-8s %5llu whole, %5llu in part\n", kind_names[i],
               (unsigned long long)salvaging->whole[i],
               (unsigned long long)salvaging->partial[i]);
    end(salvaging, directory);
}

/* Changes a byte of what the file says of itself. */
static void
damage_properties(const char *store, const char *file)
{
    static const char name[] = "rocksdb.num.data.blocks";
    char path[2 * PATH_SIZE];
    static char bytes[1 << 20];
    const char *place;
    ssize_t size;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", store, file);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    size = pread(fd, bytes, sizeof(bytes), 0);
    assert_in_range(size, 1, sizeof(bytes) - 1);
    /* names are stored without what they share with the one before */
    place = memmem(bytes, (size_t)size, name + 12, sizeof(name) - 13);
    assert_non_null(place);
    assert_int_equal(pwrite(fd, "X", 1, place - bytes), 1);
    assert_int_equal(close(fd), 0);
}

/* They say whether rows were written beside the database, and so which of two
 * rows is newer. */
static void
properties_are_not_needed(void **state)
{
    static struct damageable files;
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = begin(__func__, directory);
    char command[2 * PATH_SIZE];

    (void)state;
    list_files(salvaging->killed, &files);
    for (size_t i = 0; i < files.count; i++) {
        if (strstr(files.paths[i], ".sst") == NULL)
            continue;
        printf("%s\n", files.paths[i]);
        copy_store(salvaging->killed, salvaging->path);
        damage_properties(salvaging->path, files.paths[i]);
        salvage_store(salvaging, salvaging->path);
        assert_int_equal(salvaging->doubtful, 0);
        /* nor to tell families apart, where nothing names that of the file */
        (void)snprintf(command, sizeof(command), "rm '%s'/rocksdb/MANIFEST-*",
                       salvaging->path);
        run(command);
        salvage_store(salvaging, salvaging->path);
        temporary_remove(salvaging->path);
    }
    end(salvaging, directory);
}

/* A family that was dropped does not come back from logs that are still there,
 * when the MANIFEST was begun anew without it. */
static void
dropped_families_stay_away(void **state)
{
    char command[6 * PATH_SIZE];
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = begin(__func__, directory);
    struct colander_options options;
    struct colander_store *store;
    struct salvage *salvage;

    (void)state;
    copy_store(salvaging->killed, salvaging->path);
    colander_options_init(&options);
    OK(colander_store_open(salvaging->path, &options, &store, NULL));
    OK(colander_store_close(store, NULL));
    (void)snprintf(command, sizeof(command),
                   "cp -n '%s'/rocksdb/*.log '%s/rocksdb/'", salvaging->killed,
                   salvaging->path);
    run(command);
    OK(salvage_open(salvaging->path, note_loss, salvaging, &salvage, NULL));
    for (size_t i = 0; i < salvage_family_count(salvage); i++)
        assert_null(strstr(salvage_family_name(salvage, i), "unknown-"));
    salvage_close(salvage);
    salvage_store(salvaging, salvaging->path);
    assert_int_equal(salvaging->doubtful, 0);
    end(salvaging, directory);
}

/* Deletes three keys, brings two of them with a bulk, and deletes one of these.
 */
static void
write_between_deletes(struct colander_family *family,
                      struct colander_slice keys[3], struct colander_slice row)
{
    struct colander_bulk *bulk;

    for (size_t i = 0; i < 3; i++)
        OK(colander_family_delete(family, keys[i], COLANDER_AS_STORE, NULL));
    OK(colander_family_flush(family, NULL));
    OK(colander_bulk_create(family, &bulk, NULL));
    for (size_t i = 0; i < 2; i++)
        OK(colander_bulk_add(bulk, keys[i], row, NULL));
    OK(colander_bulk_commit(bulk, NULL, NULL));
    colander_bulk_destroy(bulk);
    OK(colander_family_delete(family, keys[1], COLANDER_AS_STORE, NULL));
    OK(colander_family_flush(family, NULL));
}

/* Makes such a store at `killed`, of which one at `path` is a copy: there the
 * snapshot, for which rows and deletes of before are kept, is still needed. */
static void
write_bulk_between(const char *killed, const char *path)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer keys[3] = {COLANDER_BUFFER_EMPTY};
    struct colander_slice slices[3];
    struct colander_snapshot *before;
    struct colander_family *family;
    struct colander_store *store;
    struct colander_slice row;

    OK(colander_store_open(killed, NULL, &store, NULL));
    OK(colander_family_open(store, "bulk", &family, NULL));
    colander_row_builder_add(builder, "step", colander_integer(1));
    OK(colander_row_builder_finish(builder, &row, NULL));
    for (size_t i = 0; i < 3; i++) {
        encode_key(i, &keys[i]);
        slices[i] = colander_buffer_slice(&keys[i]);
        OK(colander_family_put(family, slices[i], row, COLANDER_AS_STORE,
                               NULL));
    }
    OK(colander_store_snapshot(store, &before, NULL));
    write_between_deletes(family, slices, row);
    copy_store(killed, path);
    colander_snapshot_release(before);
    for (size_t i = 0; i < 3; i++)
        colander_buffer_release(&keys[i]);
    colander_row_builder_destroy(builder);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
}

/* In the file of a bulk no entry has a sequence: the MANIFEST says of all
 * together that they are newer than what was deleted before, and older than
 * what came later. */
static void
rows_of_a_bulk_are_as_new_as_it_was(void **state)
{
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = begin(__func__, directory);
    struct salvage *salvage;
    struct colander_slice row;

    (void)state;
    temporary_remove(salvaging->killed);
    write_bulk_between(salvaging->killed, salvaging->path);
    OK(salvage_open(salvaging->path, note_loss, salvaging, &salvage, NULL));
    OK(salvage_begin(salvage, 0, NULL));
    assert_int_equal(next_index(salvage, &row), 0);
    assert_int_equal(next_index(salvage, &row), KEYS);
    assert_int_equal(salvaging->loss_count, 0);
    salvage_close(salvage);
    end(salvaging, directory);
}

/* Puts the first two blocks of a file in the place of each other, and takes its
 * index away. False: it has no two. */
static bool
exchange_blocks(const char *store, const char *file)
{
    struct table_source source;
    struct table_map map = {0};
    struct table_block block;
    char path[2 * PATH_SIZE];
    static uint8_t bytes[1 << 20];
    uint64_t first;
    uint64_t end;
    bool has_two;

    (void)snprintf(path, sizeof(path), "%s/%s", store, file);
    source.fd = open(path, O_RDWR);
    assert_true(source.fd >= 0);
    source.size = (uint64_t)pread(source.fd, bytes, sizeof(bytes), 0);
    OK(table_block_init(&block, NULL));
    OK(table_map_read(&map, &source, &block, NULL));
    has_two = map.block_count > 2;
    if (has_two) {
        first = table_place_end(map.blocks[0].place);
        end = table_place_end(map.blocks[1].place);
        assert_true(pwrite(source.fd, bytes + first, end - first, 0) > 0);
        assert_true(pwrite(source.fd, bytes, first, (off_t)(end - first)) > 0);
        memset(bytes, 0x55, 64);
        end = map.data_end;
        assert_true(pwrite(source.fd, bytes, 64, (off_t)end) > 0);
    }
    table_map_release(&map);
    table_block_release(&block);
    assert_int_equal(close(source.fd), 0);
    return has_two;
}

static void
blocks_out_of_order_are_told(void **state)
{
    static struct damageable files;
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = begin(__func__, directory);

    (void)state;
    list_files(salvaging->killed, &files);
    for (size_t i = 0; i < files.count; i++) {
        if (strstr(files.paths[i], ".sst") == NULL)
            continue;
        copy_store(salvaging->killed, salvaging->path);
        if (exchange_blocks(salvaging->path, files.paths[i])) {
            salvage_store(salvaging, salvaging->path);
            printf("%s: %zu losses, %llu rows\n", files.paths[i],
                   salvaging->loss_count,
                   (unsigned long long)salvaging->doubtful);
        }
        temporary_remove(salvaging->path);
    }
    end(salvaging, directory);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_told_is_as_it_was),
        cmocka_unit_test(properties_are_not_needed),
        cmocka_unit_test(rows_of_a_bulk_are_as_new_as_it_was),
        cmocka_unit_test(blocks_out_of_order_are_told),
        cmocka_unit_test(dropped_families_stay_away),
    };

    if (argc == 4 && strcmp(argv[1], "--write") == 0)
        return write_until_killed(argv[2], strtoull(argv[3], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
