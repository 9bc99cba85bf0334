/*
 * Loads in this process: which place they record, and what happens if a load
 * fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include "loading/load.h"
#include "loading/resume_point.h"
#include "loading/splitter.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A store, and a directory for files to be loaded. */
struct load_fixture {
    struct store_fixture *store;
    struct colander_family *family;
    char directory[TEMPORARY_SIZE];
    char file[TEMPORARY_SIZE + 16];
    struct colander_load_options options;
    struct colander_load_stats figures;
    struct colander_load *load; /* under way */
    struct colander_error err;
};

static int
setup(void **state)
{
    struct load_fixture *it = calloc(1, sizeof(*it));

    ZERO(fixture_setup((void **)&it->store));
    it->family = fixture_family(it->store, "f");
    temporary_make(it->directory);
    snprintf(it->file, sizeof(it->file), "%s/file", it->directory);
    colander_load_options_init(&it->options);
    it->options.context = it;
    *state = it;
    return 0;
}

static int
teardown(void **state)
{
    struct load_fixture *it = *state;
    int result;

    colander_family_close(it->family);
    temporary_remove(it->directory);
    result = fixture_teardown((void **)&it->store);
    free(it);
    return result;
}

/* Appends to a file, or creates it. */
static void
append(const char *path, const char *text)
{
    FILE *file = fopen(path, "ae");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    ZERO(fclose(file));
}

static enum colander_code
load(struct load_fixture *it)
{
    const char *const files[] = {it->file};
    enum colander_code code;

    OK(colander_load_create(it->store->store, it->family, &it->options,
                            &it->load, &it->err));
    code = colander_load_run(it->load, files, 1, &it->err);
    it->figures = *colander_load_stats(it->load);
    colander_load_destroy(it->load);
    return code;
}

/* Counts syncs of logs. Replaces the C library's for the whole program. */
static atomic_int log_syncs;

COLANDER_API int
fdatasync(int fd)
{
    char link[64];
    char path[512] = "";

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof(path) - 1) > 4 &&
        strcmp(path + strlen(path) - 4, ".log") == 0)
        log_syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

/* ---------------------------------------------------------------- bulks --- */

/* Puts a row during the load, which conflicts with the bulk. */
static void
put_row(void *context, const struct colander_load_stats *figures)
{
    struct load_fixture *it = context;

    (void)figures;
    OK(put_text(it->store, it->family, "other", "a", colander_integer(0),
                NULL));
}

#define LOAD_TEST(name)                                                        \
    TEST_WITH(struct load_fixture *it, name, setup, teardown)

LOAD_TEST(a_failed_bulk_load_cannot_be_resumed)
{
    append(it->file, "{\"a\":1}\n{\"a\":2}\n");
    it->options.is_bulk = true;
    it->options.report_progress = put_row;
    assert_int_not_equal(load(it), COLANDER_OK);
    it->options.is_bulk = false;
    it->options.report_progress = NULL;
    it->options.resumes = true;
    OK(load(it));
    assert_int_equal(it->figures.files_skipped, 0);
    assert_int_equal(it->figures.row_count, 2);
}

/* ---------------------------------------------------------------- syncs --- */

LOAD_TEST(a_load_that_syncs_waits_for_the_disk)
{
    int before;

    append(it->file, "{\"_key\":1}\n");
    OK(load(it)); /* creates the family */
    before = log_syncs;
    OK(load(it));
    assert_int_equal(log_syncs - before, 0);
    it->options.syncs = true;
    OK(load(it));
    assert_true(log_syncs > before);
}

/* ----------------------------------------------------------------- hash --- */

/* The key is of the record's columns, and not of those that a load adds. */
LOAD_TEST(a_record_that_is_loaded_again_has_the_same_hash)
{
    static const char *const key[] = {COLANDER_LOAD_HASH};
    struct colander_load_column added = {"at", colander_integer(1)};

    append(it->file, "{\"a\":1}\n{\"a\":2}\n{\"a\":1}\n{\"_key\":5,\"a\":1}\n");
    it->options.key = key;
    it->options.key_count = 1;
    it->options.added = &added;
    it->options.added_count = 1;
    OK(load(it));
    assert_int_equal(it->figures.new_count, 2);
    added.value = colander_integer(2);
    OK(load(it));
    assert_int_equal(it->figures.new_count, 0);
    assert_int_equal(it->figures.replaced_count, 4);
}

/* -------------------------------------------------------- large records --- */

static enum colander_code
load_sized(struct load_fixture *it, const char *format, size_t size)
{
    char line[4096];

    memset(line, 'x', sizeof(line));
    line[size] = '\0';
    if (strcmp(format, "csv") == 0) {
        append(it->file, "n\n");
    } else {
        memcpy(line, "{\"a\":\"", 6);
        memcpy(line + size - 2, "\"}", 2);
    }
    append(it->file, line);
    append(it->file, "\n");
    it->options.format = format;
    return load(it);
}

/* Although more is read at once. */
LOAD_TEST(a_record_over_the_size_that_is_allowed_is_rejected)
{
    static const char *const formats[] = {"jsonl", "json", "csv"};

    it->options.record_size = 2000;
    for (size_t i = 0; i < 3; i++) {
        OK(load_sized(it, formats[i], 2000));
        assert_int_equal(it->figures.row_count, 1);
        assert_int_equal(it->figures.reject_count, 0);
        ZERO(unlink(it->file));
        OK(load_sized(it, formats[i], 2002));
        assert_int_equal(it->figures.row_count, 0);
        assert_int_equal(it->figures.reject_count, 1);
        ZERO(unlink(it->file));
    }
}

static void
stop_behind_a_row(void *context, const struct colander_load_stats *figures)
{
    struct load_fixture *it = context;

    if (figures->row_count > 0)
        colander_load_cancel(it->load);
}

/* The place before its first fragment is the last one recorded. */
LOAD_TEST(a_load_that_stops_in_a_large_record_loads_none_before_it_twice)
{
    char *large = malloc(1000001);
    char rejects[TEMPORARY_SIZE + 16];
    struct stat status;
    uint64_t count;

    snprintf(rejects, sizeof(rejects), "%s/rejects", it->directory);
    it->options.rejects = rejects;
    memset(large, 'x', 1000000);
    large[1000000] = '\0';
    append(it->file, "{\"a\":1}\n");
    append(it->file, large);
    append(it->file, "\n{\"a\":2}\n");
    free(large);
    it->options.record_size = 2000;
    it->options.report_progress = stop_behind_a_row;
    FAILS(load(it), COLANDER_CANCELLED);
    it->options.report_progress = NULL;
    it->options.resumes = true;
    OK(load(it));
    assert_int_equal(it->figures.reject_count, 1);
    OK(colander_family_count(it->family, NULL, &count, NULL));
    assert_int_equal(count, 2);
    ZERO(stat(rejects, &status));
    assert_int_equal(status.st_size, 1000001); /* one unchanged line */
}

static void
mark(struct load_fixture *it, const struct resume_point *place)
{
    SCOPED_BUFFER name = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;

    OK(resume_point_name(it->file, NULL, &name, NULL));
    OK(colander_batch_create(it->store->store, &batch, NULL));
    OK(resume_point_mark(place, batch, NULL, it->family,
                         colander_buffer_slice(&name), NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
}

/* Adds to the mark what a bulk load of version 0.1 wrote: the key of its first
 * row, which was not there yet. */
static void
add_bulk_key(struct load_fixture *it, struct colander_slice key)
{
    SCOPED_BUFFER name = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER before = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER after = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;
    struct colander_slice patch;
    bool found;

    OK(resume_point_name(it->file, NULL, &name, NULL));
    OK(colander_family_mark(it->family, colander_buffer_slice(&name), &before,
                            &found, NULL));
    assert_true(found);
    colander_row_builder_add(it->store->builder, "bulk_key",
                             colander_binary(key));
    OK(colander_row_builder_finish(it->store->builder, &patch, NULL));
    OK(colander_row_patch(colander_buffer_slice(&before), patch, &after, NULL));
    OK(colander_batch_create(it->store->store, &batch, NULL));
    OK(colander_batch_mark(batch, it->family, colander_buffer_slice(&name),
                           colander_buffer_slice(&after), NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
}

/* Even if another load or program writes its first row. */
LOAD_TEST(a_failed_bulk_load_leaves_no_resume_point)
{
    append(it->file, "{\"_key\":\"k\",\"a\":1}\n{\"_key\":\"l\",\"a\":2}\n");
    it->options.is_bulk = true;
    it->options.report_progress = put_row;
    assert_int_not_equal(load(it), COLANDER_OK);
    OK(put_text(it->store, it->family, "k", "a", colander_integer(1), NULL));
    it->options.is_bulk = false;
    it->options.report_progress = NULL;
    it->options.resumes = true;
    OK(load(it));
    assert_int_equal(it->figures.files_skipped, 0);
}

/* Of a bulk, resume points are written before its rows. A process that was
 * killed in between has loaded nothing. */
LOAD_TEST(a_bulk_load_without_its_rows_is_not_resumed)
{
    SCOPED_BUFFER key = text_key("k");
    struct resume_point place = {
        .offset = 16, .line = 2, .line_offset = 16, .is_end = true};
    struct resume_point_bytes tail = {.size = 0};

    append(it->file, "{\"a\":1}\n{\"a\":2}\n");
    resume_point_tail_append(&tail,
                             colander_slice_text("{\"a\":1}\n{\"a\":2}\n"));
    resume_point_set_tail(&place, &tail);
    place.format = RECORDS_JSONL;
    it->options.resumes = true;
    for (unsigned has_key = 0; has_key < 2; has_key++) {
        mark(it, &place);
        if (has_key != 0)
            add_bulk_key(it, colander_buffer_slice(&key));
        OK(load(it));
        assert_int_equal(it->figures.files_skipped, 1 - has_key);
        assert_int_equal(it->figures.row_count, 2 * has_key);
    }
}

/* The last bytes before the place alone are those of any long record. */
LOAD_TEST(a_file_with_other_first_records_is_not_resumed)
{
    char line[6000];

    it->options.resumes = true;
    for (int number = 1; number <= 2; number++) {
        snprintf(line, sizeof(line), "{\"a\":%d,\"b\":\"%05900d\"}\n", number,
                 0);
        append(it->file, line);
        if (number == 1)
            OK(load(it));
        else
            FAILS(load(it), COLANDER_INVALID);
        ZERO(unlink(it->file));
    }
    assert_non_null(strstr(it->err.message, "the file has changed"));
}

/* No load can have recorded such places. */
LOAD_TEST(an_impossible_place_is_damage)
{
    const struct resume_point places[] = {
        {.offset = UINT64_MAX, .tail_size = UINT64_MAX - 1},
        {.offset = 8, .tail_size = 9},
        {.offset = 8, .head_size = 9},
        {.offset = 8, .line_offset = 9},
        {.offset = 8, .format = 6},
        {.offset = 8, .state = (uint64_t)UINT32_MAX + 1},
    };

    append(it->file, "{\"a\":1}\n{\"a\":2}\n");
    it->options.resumes = true;
    for (size_t i = 0; i < COUNT(places); i++) {
        mark(it, &places[i]);
        FAILS(load(it), COLANDER_CORRUPT);
        assert_non_null(strstr(
            it->err.message, "the resume point of an earlier load is invalid"));
    }
}

/* --------------------------------------------------------- broken JSON --- */

/* Nothing before the fault is lost, and nothing after it is loaded. */
LOAD_TEST(a_broken_json_file_stops_at_its_byte_and_is_resumed_once_repaired)
{
    uint64_t count;

    append(it->file, "[\n{\"a\":1},\n{\"a\":[2},\n{\"a\":3}]\n");
    it->options.format = "json";
    FAILS(load(it), COLANDER_CORRUPT);
    assert_non_null(strstr(it->err.message,
                           "/file: line 3, column 8: the bracket closes one of "
                           "the other kind, so the next record cannot be "
                           "found; repair the file there"));
    assert_int_equal(it->figures.row_count, 1);
    assert_int_equal(it->figures.reject_count, 0);
    ZERO(unlink(it->file));
    append(it->file, "[\n{\"a\":1},\n{\"a\":[2]},\n{\"a\":3}]\n");
    it->options.resumes = true;
    OK(load(it));
    assert_int_equal(it->figures.row_count, 2);
    OK(colander_family_count(it->family, NULL, &count, NULL));
    assert_int_equal(count, 3);
}

/* Wherever it was cut. */
LOAD_TEST(an_array_that_was_cut_is_resumed_once_complete)
{
    static const char array[] = "part = [{\"_key\":1,\"a\":\"]\"},\n"
                                "{\"_key\":2,\"b\":[{\"c\":2}]}, 5,\n"
                                " {\"_key\":3}\n"
                                "]\n";

    it->options.format = "json";
    it->options.resumes = true;
    for (size_t size = 1; size < strlen(array) - 2; size++) {
        char cut[sizeof(array)] = "";
        uint64_t row_count;
        uint64_t count;

        OK(colander_family_delete_range(it->family, NULL, NULL, NULL, NULL));
        memcpy(cut, array, size);
        append(it->file, cut);
        mark(it, NULL);
        OK(load(it));
        if (size >= strlen("part = ["))
            assert_true(it->figures.reject_count > 0);
        row_count = it->figures.row_count;
        OK(load(it)); /* unchanged */
        assert_int_equal(it->figures.row_count, 0);
        append(it->file, array + size);
        OK(load(it));
        assert_int_equal(it->figures.row_count, 3 - row_count);
        assert_true(it->figures.reject_count <= 1); /* the number */
        OK(colander_family_count(it->family, NULL, &count, NULL));
        assert_int_equal(count, 3);
        ZERO(unlink(it->file));
    }
}

/* It may still be an array after stray text is removed. */
LOAD_TEST(a_file_that_begins_broken_is_resumed_once_repaired)
{
    uint64_t count;

    append(it->file, "\n# comment\n[{\"a\":1},\n{\"a\":2}]\n");
    it->options.format = "json";
    FAILS(load(it), COLANDER_CORRUPT);
    ZERO(unlink(it->file));
    append(it->file, "\n[{\"a\":1},\n{\"a\":2}]\n");
    it->options.resumes = true;
    OK(load(it));
    assert_int_equal(it->figures.reject_count, 0);
    OK(colander_family_count(it->family, NULL, &count, NULL));
    assert_int_equal(count, 2);
}

/* -------------------------------------------------------------- options --- */

/* A client that was compiled with an older and shorter struct. */
LOAD_TEST(options_of_an_older_version_keep_the_new_defaults)
{
    append(it->file, "{\"a\":1}\n");
    it->options.struct_size =
        offsetof(struct colander_load_options, record_size);
    it->options.record_size = 0; /* not in its struct */
    OK(load(it));
    assert_int_equal(it->figures.row_count, 1);
}

static void
refuse(struct load_fixture *it, const char *message)
{
    struct colander_load *load;

    FAILS(colander_load_create(it->store->store, it->family, &it->options,
                               &load, &it->err),
          COLANDER_INVALID);
    assert_null(load);
    assert_non_null(strstr(it->err.message, message));
    colander_load_options_init(&it->options);
}

LOAD_TEST(wrong_options_are_refused_before_anything_is_done)
{
    static const char *const keys[] = {"a", "b[]", "_key", "c]"};

    it->options.struct_size = 0;
    refuse(it, "not initialized");
    it->options.record_size = 1023;
    refuse(it, "the record size must be 1024 to 33554432 bytes, not 1023");
    it->options.delimiter = '"';
    refuse(it, "the delimiter must be an ASCII character");
    it->options.is_bulk = it->options.resumes = true;
    refuse(it, "a bulk load cannot be resumed");
    for (size_t i = 1; i < 4; i++) {
        it->options.key = &keys[i];
        it->options.key_count = 1;
        refuse(it, keys[i]);
    }
    it->options.key = (const char *const[]){"a", "b", "a"};
    it->options.key_count = 3;
    refuse(it, "key column 'a' is listed twice");
    it->options.key = keys;
    it->options.key_count = COLANDER_KEY_PARTS_MAX + 1;
    refuse(it, "a key has at most 16 columns, not 17");
    assert_false(colander_family_exists(it->family));
}

static uint64_t
count_nulls(struct load_fixture *it)
{
    struct colander_query query = usual_query();
    uint64_t count;

    query.where = colander_where("a", COLANDER_EQ, colander_null(), &it->err);
    assert_non_null(query.where);
    OK(colander_family_count(it->family, &query, &count, &it->err));
    colander_predicate_destroy((struct colander_predicate *)query.where);
    return count;
}

LOAD_TEST(options_are_added_to_the_schema)
{
    static const char *const key[] = {"id"};
    static const char *const nulls[] = {"?"};
    struct colander_schema *schema;

    OK(colander_schema_open("sensor", &schema, &it->err));
    append(it->file, "id|a|b\n1|NA|x\n2|?|x\n3|z|x\n");
    it->options.schema = schema;
    it->options.format = "csv";
    it->options.key = key;
    it->options.key_count = 1;
    it->options.nulls = nulls;
    it->options.null_count = 1;
    it->options.delimiter = '|';
    OK(load(it));
    colander_schema_close(schema);
    assert_int_equal(it->figures.row_count, 3);
    assert_int_equal(count_nulls(it), 2);
}
