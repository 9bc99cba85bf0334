/*
 * Salvage of stores in which two files of the same size were swapped: older
 * rows that appear are reported.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/salvaging.h"
#include "support/scoped.h"

#define ROWS 50
#define OLDER 1
#define NEWER 2

struct writing {
    struct colander_store *store;
    struct colander_family *family;
    struct colander_family *other;
    struct colander_row_builder *builder;
    struct colander_buffer key;
};

static void
begin_writing(struct writing *writing, const char *path)
{
    const struct colander_buffer empty = COLANDER_BUFFER_EMPTY;
    struct colander_options options = usual_options();

    options.compression = COLANDER_COMPRESSION_NONE; /* for equal sizes */
    OK(colander_store_open(path, &options, &writing->store, NULL));
    OK(colander_family_open(writing->store, "rows", &writing->family, NULL));
    OK(colander_family_open(writing->store, "other", &writing->other, NULL));
    writing->builder = colander_row_builder_create();
    writing->key = empty;
}

static void
end_writing(struct writing *writing)
{
    colander_buffer_release(&writing->key);
    colander_row_builder_destroy(writing->builder);
    colander_family_close(writing->other);
    colander_family_close(writing->family);
    OK(colander_store_close(writing->store, NULL));
}

static struct colander_slice
key_of(struct writing *writing, uint64_t index)
{
    encode_key(index, &writing->key);
    return colander_buffer_slice(&writing->key);
}

static struct colander_slice
row_of(struct writing *writing, int64_t step)
{
    struct colander_slice row;

    colander_row_builder_add(writing->builder, "step", colander_integer(step));
    OK(colander_row_builder_finish(writing->builder, &row, NULL));
    return row;
}

/* The log is that of a family without any flush. */
static void
put_rows(struct writing *writing, int64_t step)
{
    OK(colander_family_put(writing->other, key_of(writing, (uint64_t)step),
                           row_of(writing, step), NULL, NULL));
    for (uint64_t i = 0; i < ROWS; i++)
        OK(colander_family_put(writing->family, key_of(writing, i),
                               row_of(writing, step), NULL, NULL));
}

static void
bring_rows(struct writing *writing, int64_t step)
{
    SCOPED_BULK bulk = NULL;

    OK(colander_bulk_create(writing->family, &bulk, NULL));
    for (uint64_t i = 0; i < ROWS; i++)
        OK(colander_bulk_add(bulk, key_of(writing, i), row_of(writing, step),
                             NULL));
    OK(colander_bulk_commit(bulk, NULL, NULL));
}

static off_t
size_of(const char *store, const char *file)
{
    char path[2 * PATH_SIZE];
    struct stat status;

    (void)snprintf(path, sizeof(path), "%s/%s", store, file);
    ZERO(stat(path, &status));
    return status.st_size;
}

/* The salvaged `rows` are the newer ones, or are reported. */
static void
look_at_rows(struct salvaging *salvaging)
{
    int64_t steps[KEYS] = {0};
    struct salvage *salvage;
    struct colander_slice row;
    uint64_t index;

    salvaging->loss_count = 0;
    salvaging->has_heard = false;
    salvaging->doubtful = 0;
    OK(salvage_open(salvaging->path, note_loss, salvaging, &salvage, NULL));
    hear_losses(salvage);
    for (size_t i = 0; i < salvage_family_count(salvage); i++) {
        if (strcmp(salvage_family_name(salvage, i), "rows") != 0)
            continue;
        OK(salvage_begin(salvage, i, NULL));
        while ((index = next_index(salvage, &row)) < KEYS) {
            struct colander_value value;
            bool is_found;

            OK(colander_row_get(row, "step", &value, &is_found, NULL));
            steps[index] = value.integer;
        }
    }
    salvage_close(salvage);
    for (index = 0; index < ROWS; index++) {
        if (steps[index] != NEWER)
            must_be_reported(salvaging, "rows", index, "not the newest");
    }
}

/* Swaps every two files of one kind and size. Returns the number of pairs. */
static unsigned
swap_files(struct salvaging *salvaging, const char *kind)
{
    static struct damageable files;
    char command[8 * PATH_SIZE];
    unsigned count = 0;

    list_files(salvaging->killed, &files);
    for (size_t i = 0; i < files.count; i++) {
        for (size_t j = i + 1; j < files.count; j++) {
            if (strstr(files.paths[i], kind) == NULL ||
                strstr(files.paths[j], kind) == NULL ||
                size_of(salvaging->killed, files.paths[i]) !=
                    size_of(salvaging->killed, files.paths[j]))
                continue;
            copy_store(salvaging->killed, salvaging->path);
            (void)snprintf(command, sizeof(command),
                           "cd '%s' && mv '%s' swapped && mv '%s' '%s' && "
                           "mv swapped '%s'",
                           salvaging->path, files.paths[i], files.paths[j],
                           files.paths[i], files.paths[j]);
            run(command);
            look_at_rows(salvaging);
            assert_true(salvaging->loss_count > 0);
            if (strcmp(kind, ".log") == 0) /* they have sequences */
                assert_int_equal(salvaging->doubtful, 0);
            temporary_remove(salvaging->path);
            count++;
        }
    }
    return count;
}

/* A store after its last write, when the rows are those written last. */
static void
swapped_files_are_reported(const char *test, const char *kind,
                           void (*write)(struct writing *writing, int64_t step))
{
    char directory[TEMPORARY_SIZE];
    char path[TEMPORARY_SIZE + 16];
    struct salvaging *salvaging = salvaging_begin(test, directory);
    struct writing writing;

    (void)snprintf(path, sizeof(path), "%s/written", directory);
    temporary_remove(salvaging->killed);
    begin_writing(&writing, path);
    write(&writing, OLDER);
    OK(colander_family_flush(writing.family, NULL));
    if (write == bring_rows) {
        for (uint64_t i = 0; i < ROWS; i++)
            OK(colander_family_delete(writing.family, key_of(&writing, i), NULL,
                                      NULL));
        OK(colander_family_flush(writing.family, NULL));
    }
    write(&writing, NEWER);
    copy_store(path, salvaging->killed);
    end_writing(&writing);

    copy_store(salvaging->killed, salvaging->path);
    look_at_rows(salvaging);
    assert_int_equal(salvaging->loss_count, 0);
    temporary_remove(salvaging->path);
    assert_int_equal(swap_files(salvaging, kind), 1);
    salvaging_end(salvaging, directory);
}

/* The names of logs show which of their writes are in SST files. */
TEST(swapped_logs_are_reported)
{
    swapped_files_are_reported(__func__, ".log", put_rows);
}

/* Rows of a bulk have no sequences of their own. */
TEST(swapped_bulks_are_reported)
{
    swapped_files_are_reported(__func__, ".sst", bring_rows);
}
