/* SPDX-License-Identifier: MIT */
#include "loading/load_inside.h"
#include "loading/load_options.h"
#ifdef COLANDER_FILTERS
#include "filters/filters.h"
#endif
#include "core/thread.h"
#include "loading/added_columns.h"
#include "loading/follow.h"
#include "loading/guess.h"
#include "loading/influx_rows.h"
#include "loading/key_columns.h"
#include "loading/parser.h"
#include "loading/partition.h"
#include "loading/reader.h"
#include "loading/stream_reader.h"
#include "loading/writer.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARSERS_MAX 8
#define CHUNKS_WAITING 3 /* in addition to those of the parsers */
#define PROGRESS_MS 100  /* between two reports */
#define LARGE_SIZE ((uint64_t)16 << 20)
#define RUN_SIZE ((uint64_t)64 << 20)
#define PIPE_MS 3000

struct colander_load {
    struct colander_store *store;
    struct colander_family *family;
    struct colander_load_options options; /* complete, with this schema: */
    struct colander_schema schema;
    struct load_limits limits;
    size_t parser_count; /* threads of a file */
    struct colander_load_stats stats;
    atomic_bool is_cancelled;
    struct writer *writer;
    struct column_counts counts; /* of the values of columns */
    struct added_columns added;
    struct colander_buffer mark_name; /* of the current file */
    uint64_t sink_id;                 /* of it, if it was begun before; or 0 */
    uint64_t bytes_before;            /* of files that were read */
};

/* The threads of one file. */
struct file_load {
    struct source *source;
    struct ring *ring;
    struct parser parser;
    pthread_t threads[PARSERS_MAX + 1];
    size_t thread_count;
};

/* -------------------------------------------------------------- threads --- */

static void *
run_reader(void *context)
{
    struct file_load *file = context;

    (void)pthread_setname_np(pthread_self(), "reader"); /* for debuggers */
    if (file->parser.options->stream != NULL)
        stream_reader_run(file->parser.options, file->ring);
    else
        reader_run(file->source, file->parser.options, file->ring);
    return NULL;
}

static void *
run_parser(void *context)
{
    struct file_load *file = context;

    (void)pthread_setname_np(pthread_self(), "parser");
    parser_run(&file->parser);
    return NULL;
}

/* Signals are for the thread that writes. */
static enum colander_code
start_thread(struct file_load *file, void *(*run)(void *),
             struct colander_error *err)
{
    int failed = thread_create(&file->threads[file->thread_count], run, file);

    if (failed != 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot start a thread: %s", strerror(failed));
    file->thread_count++;
    return COLANDER_OK;
}

static size_t
parser_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (cores < 3)
        return 1;
    return cores - 1 > PARSERS_MAX ? PARSERS_MAX : (size_t)cores - 1;
}

static enum colander_code
start_threads(struct file_load *file, struct colander_load *load,
              struct source *source, struct colander_error *err)
{
    const size_t parsers = load->parser_count;
    enum colander_code code;

    memset(file, 0, sizeof(*file));
    file->source = source;
    file->ring = ring_create(parsers + CHUNKS_WAITING);
    if (file->ring == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    file->parser = (struct parser){source, &load->options, file->ring,
                                   &load->counts, &load->added};
    code = start_thread(file, run_reader, err);
    for (size_t i = 0; i < parsers && code == COLANDER_OK; i++)
        code = start_thread(file, run_parser, err);
    return code;
}

/* Ends threads that wait for a chunk, or for a pipe. */
static void
end_threads(struct file_load *file)
{
    if (file->source->input != NULL)
        input_cancel(file->source->input);
    if (file->ring != NULL)
        ring_stop(file->ring);
    for (size_t i = 0; i < file->thread_count; i++)
        pthread_join(file->threads[i], NULL);
    ring_destroy(file->ring);
}

/* ---------------------------------------------------------------- files --- */

static void
report_progress(struct colander_load *load, const struct source *source)
{
    if (source->input != NULL)
        load->stats.bytes_read =
            load->bytes_before + input_bytes_read(source->input);
    if (load->options.report_progress != NULL)
        load->options.report_progress(load->options.context, &load->stats);
}

/* Writes what the parsers pass on. */
static enum colander_code
write_chunks(struct colander_load *load, struct file_load *file,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_last = false;

    while (code == COLANDER_OK && !is_last) {
        struct chunk *chunk = ring_take_parsed(file->ring, PROGRESS_MS);

        if (chunk != NULL) {
            is_last = chunk->is_last;
            code = writer_chunk(load->writer, chunk, err);
            ring_put(file->ring, chunk, CHUNK_FREE);
        } else {
            code = writer_pause(load->writer, err);
        }
        report_progress(load, file->source);
        if (code == COLANDER_OK && !is_last && atomic_load(&load->is_cancelled))
            code = COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the load was cancelled");
    }
    return code;
}

static enum colander_code
load_source(struct colander_load *load, struct source *source,
            struct colander_error *err)
{
    struct file_load file;
    enum colander_code code;

    report_progress(load, source);
    code = start_threads(&file, load, source, err);
    if (code == COLANDER_OK)
        code = write_chunks(load, &file, err);
    end_threads(&file);
    if (code != COLANDER_OK && code != COLANDER_CANCELLED)
        colander_error_context(err, "%s", source->file);
    return code;
}

/* Reads the resume point of an earlier load of the file. */
static enum colander_code
read_resume_point(struct colander_load *load, const char *file,
                  struct resume_point *point, bool *found,
                  struct colander_error *err)
{
    enum colander_code code =
        load->options.follows
            ? resume_point_log_name(file, &load->mark_name, err)
            : resume_point_name(file, load->options.elsewhere, &load->mark_name,
                                err);

    if (code == COLANDER_OK)
        code = resume_point_read(point, load->family,
                                 colander_buffer_slice(&load->mark_name), found,
                                 err);
    if (code != COLANDER_OK)
        colander_error_context(err, "%s", file);
    return code;
}

/* Reads it and sets *found to whether it counts. */
static enum colander_code
find_resume_point(struct colander_load *load, const char *file,
                  struct resume_point *point, bool *found,
                  struct colander_error *err)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    enum colander_code code = read_resume_point(load, file, point, found, err);

    if (code != COLANDER_OK || !*found)
        return code;
    if (point->bulk_key_size > 0)
        code = colander_family_get(
            load->family,
            colander_slice_of(point->bulk_key, point->bulk_key_size), NULL,
            &row, found, err);
    if (point->offset == 0) /* the file did not even have a header */
        *found = false;
    colander_buffer_release(&row);
    return code;
}

/* Loads an open file, or the rest of it. `name` is what the client calls it. */
static enum colander_code
load_opened(struct colander_load *load, const char *name, struct source *source,
            const struct resume_point *point, struct colander_error *err)
{
    enum colander_code code = key_columns_take(source, &load->schema, err);

    if (source->splitter.format == RECORDS_INFLUX && load->schema.time == NULL)
        load->schema.time = (char *)INFLUX_TIME; /* the load frees no copy */
    if (code == COLANDER_OK)
        code = added_columns_begin_file(&load->added, &load->options, name,
                                        source->header, err);
    if (code == COLANDER_OK && point != NULL && point->is_end &&
        source->text.size == 0 && !load->options.follows)
        code = source_read(source, &source->text, CHUNK_SIZE, err);
    if (code != COLANDER_OK) {
        colander_error_context(err, "%s", source->file);
        return code;
    }
    if (point != NULL && point->is_end && source->text.size == 0 &&
        !load->options.follows) {
        load->stats.files_skipped++;
        return COLANDER_OK;
    }
    code = writer_begin_file(load->writer, source,
                             colander_buffer_slice(&load->mark_name), point,
                             load->sink_id, err);
    return code == COLANDER_OK ? load_source(load, source, err) : code;
}

/* Returns the id that records of the file had in an earlier load, if those that
 * are put again are the same; else 0. */
static uint64_t
find_sink_id(const struct colander_load *load, const struct source *source,
             const struct resume_point *point)
{
    const struct colander_load_sink *sink = load->options.sink;
    uint64_t changed_ns;
    uint64_t size;

    if (sink == NULL || !load->options.resumes ||
        point->spread != sink->spread ||
        point->record_size < load->options.record_size ||
        point->inode != input_inode(source->input))
        return 0;
    input_stamp(source->input, &size, &changed_ns);
    return changed_ns != 0 && size == point->size &&
                   changed_ns == point->changed_ns
               ? point->id
               : 0;
}

/* Loads one file, or the rest of it. */
static enum colander_code
load_file(struct colander_load *load, const char *file,
          struct colander_error *err)
{
    struct source source;
    struct resume_point point;
    enum colander_code code;
    bool resumes = false;

    load->stats.file = file;
    code = find_resume_point(load, file, &point, &resumes, err);
    if (code != COLANDER_OK)
        return code;
    resumes = resumes && load->options.resumes;
    code = source_open(&source, file, &load->options, &load->is_cancelled,
                       resumes ? &point : NULL, err);
    load->stats.is_damaged = code == COLANDER_CORRUPT;
    if (code != COLANDER_OK)
        return code;
    load->sink_id = find_sink_id(load, &source, &point);
    code = load_opened(load, file, &source, resumes ? &point : NULL, err);
    load->bytes_before += input_bytes_read(source.input);
    load->stats.is_damaged =
        code == COLANDER_CORRUPT && input_is_damaged(source.input);
    source_close(&source);
    return code;
}

/* Loads one file of a log, from the place of the log or else its beginning.
 * *goes_on is whether another follows. */
static enum colander_code
follow_one(struct colander_load *load, struct follow *follow, bool *goes_on,
           struct colander_error *err)
{
    const char *file = follow->log;
    struct colander_load_options options = load->options;
    struct source source;
    struct resume_point point;
    bool found = false;
    bool resumes;
    bool is_lost;
    enum colander_code code =
        find_resume_point(load, file, &point, &found, err);

    *goes_on = false;
    if (options.format == NULL && found) /* as before, however a file begins */
        options.format = format_name((enum record_format)point.format, 0);
    if (code == COLANDER_OK)
        code = follow_open(follow, &options, found ? &point : NULL, &source,
                           &resumes, &is_lost, err);
    if (code != COLANDER_OK)
        return code;
    load->stats.file = source.file;
    if (is_lost && options.report_lost != NULL)
        options.report_lost(options.context, file);
    code = load_opened(load, file, &source, resumes ? &point : NULL, err);
    load->bytes_before += input_bytes_read(source.input);
    *goes_on = follow_note(follow, &source, code);
    load->stats.file = file;
    source_close(&source);
    return code;
}

/* Loads what a log gets, until the load is cancelled or fails. */
static enum colander_code
follow_file(struct colander_load *load, const char *file,
            struct colander_error *err)
{
    struct follow follow;
    enum colander_code code;
    bool goes_on;

    follow_init(&follow, file, &load->is_cancelled);
    do
        code = follow_one(load, &follow, &goes_on, err);
    while (goes_on);
    follow_release(&follow);
    return code;
}

/* Loads a stream until it ends, fails or is cancelled. `name` is what the
 * client calls it. */
static enum colander_code
load_stream(struct colander_load *load, const char *name,
            struct colander_error *err)
{
    struct source source = {.file = name};
    enum record_format format = RECORDS_JSONL;
    enum colander_code code;
    char delimiter;

    if (load->options.format != NULL) /* was checked */
        (void)format_parse(load->options.format, &format, &delimiter);
    load->stats.file = name;
    splitter_init(&source.splitter, format, 0);
    code =
        added_columns_begin_file(&load->added, &load->options, name, NULL, err);
    if (code == COLANDER_OK)
        code = writer_begin_file(load->writer, &source,
                                 colander_slice_of(NULL, 0), NULL, 0, err);
    return code == COLANDER_OK ? load_source(load, &source, err) : code;
}

/* ---------------------------------------------------------- beginnings --- */

/* Checks that all files exist before anything is changed, and finds how much of
 * the file of rejects belongs to their resume points. */
static enum colander_code
find_resume_points(struct colander_load *load, const char *const *files,
                   size_t count, uint64_t *rejects_size,
                   struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *rejects_size = 0;
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct resume_point point;
        bool found;

        code = read_resume_point(load, files[i], &point, &found, err);
        if (code == COLANDER_OK && found && point.rejects_size > *rejects_size)
            *rejects_size = point.rejects_size;
    }
    return code;
}

/* Removes the resume points of earlier loads: a load that starts from the
 * beginning and is stopped before its first batch must not be resumed there. */
static enum colander_code
forget_resume_points(struct colander_load *load, const char *const *files,
                     size_t count, struct colander_error *err)
{
    struct colander_batch *batch;
    enum colander_code code = colander_batch_create(load->store, &batch, err);

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct resume_point point;
        bool found;

        code = read_resume_point(load, files[i], &point, &found, err);
        if (code == COLANDER_OK && found)
            code =
                resume_point_mark(NULL, batch, NULL, load->family,
                                  colander_buffer_slice(&load->mark_name), err);
    }
    if (code == COLANDER_OK && colander_batch_count(batch) > 0)
        code = colander_batch_commit(batch, NULL, err);
    colander_batch_destroy(batch);
    return code;
}

/* Returns the size of a file; UINT64_MAX: it is a pipe. */
static uint64_t
measure_file(const char *file, const struct colander_load_files *elsewhere)
{
    struct stat status;
    uint64_t size = UINT64_MAX;
    char *path = NULL;

    if (elsewhere == NULL)
        return stat(file, &status) == 0 && S_ISREG(status.st_mode)
                   ? (uint64_t)status.st_size
                   : UINT64_MAX;
    if (elsewhere->look(elsewhere->context, file, &size, &path, NULL) !=
        COLANDER_OK)
        size = UINT64_MAX;
    free(path);
    return size;
}

/* Adds up the sizes of the files; that of a pipe is unknown. */
static void
measure_files(struct colander_load *load, const char *const *files,
              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t size = measure_file(files[i], load->options.elsewhere);

        if (size == UINT64_MAX) {
            load->stats.bytes_all = 0;
            return;
        }
        load->stats.bytes_all += size;
    }
}

/* The file of rejects is cut before the others are read, so it must not be one
 * of them. */
static enum colander_code
check_rejects(const struct colander_load *load, const char *const *files,
              size_t count, struct colander_error *err)
{
    struct stat rejects;
    struct stat file;

    if (load->options.rejects == NULL || load->options.elsewhere != NULL ||
        stat(load->options.rejects, &rejects) != 0)
        return COLANDER_OK;
    for (size_t i = 0; i < count; i++) {
        const bool is_input = strcmp(files[i], "-") == 0;

        if ((is_input ? fstat(STDIN_FILENO, &file) : stat(files[i], &file)) ==
                0 &&
            file.st_dev == rejects.st_dev && file.st_ino == rejects.st_ino)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the file for rejects, '%s', is one of the "
                                 "files to load",
                                 files[i]);
    }
    return COLANDER_OK;
}

/* Gives a family that does not exist yet the filter options of the schema. */
static enum colander_code
set_filters(const struct colander_load *load, struct colander_error *err)
{
#ifdef COLANDER_FILTERS
    const struct colander_schema *schema = &load->schema;
    struct colander_filter_options options;

    if (colander_family_exists(load->family) ||
        (schema->unfiltered.count == 0 && schema->fp_rate == 0 &&
         schema->bits_per_value == 0 && schema->rows_per_segment == UINT32_MAX))
        return COLANDER_OK;
    colander_filter_options_init(&options);
    options.unfiltered = (const char *const *)schema->unfiltered.texts;
    options.unfiltered_count = schema->unfiltered.count;
    options.bits_per_value = schema->bits_per_value;
    options.rows_per_segment = schema->rows_per_segment;
    if (schema->fp_rate > 0)
        options.fp_rate = schema->fp_rate;
    return colander_family_set_filters(load->family, &options, err);
#else
    (void)load;
    (void)err;
    return COLANDER_OK;
#endif
}

/* Gives the family the time column of the schema, unless it has one. */
static enum colander_code
set_time_column(const struct colander_load *load, bool makes_family,
                struct colander_error *err)
{
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;
    bool found = true;

    if (load->schema.time != NULL && load->options.partition == NULL &&
        (makes_family || colander_family_exists(load->family)))
        code = colander_family_time_column(load->family, &path, &found, err);
    if (code == COLANDER_OK && !found)
        code = colander_family_set_time_column(load->store, load->family,
                                               load->schema.time, err);
    colander_buffer_release(&path);
    return code;
}

/* Finds out how the key columns are read: as in the family. */
static enum colander_code
inspect_keys(struct colander_load *load, const char *const *files, size_t count,
             struct colander_error *err)
{
    struct colander_family *last = NULL;
    enum colander_code code = COLANDER_OK;

    if (load->options.partition != NULL)
        code = partition_open_last(
            load->store, colander_family_name(load->family), &last, err);
    if (code == COLANDER_OK)
        code = key_columns_inspect(last != NULL ? last : load->family,
                                   &load->options, &load->schema,
                                   &load->is_cancelled, files, count, err);
    colander_family_close(last);
    return code;
}

static enum colander_code
begin(struct colander_load *load, const char *const *files, size_t count,
      struct colander_error *err)
{
    const bool resumes = load->options.resumes;
    uint64_t rejects_size = 0;
    enum colander_code code = check_rejects(load, files, count, err);

    if (!load->options.follows) /* of a stream there are none */
        measure_files(load, files, count);
    if (code == COLANDER_OK)
        code = find_resume_points(load, files, count, &rejects_size, err);
    if (code == COLANDER_OK)
        code = inspect_keys(load, files, count, err);
    if (code == COLANDER_OK)
        code = set_filters(load, err);
    if (code == COLANDER_OK)
        code = writer_create(load->store, load->family, &load->options,
                             &load->limits, resumes ? rejects_size : 0,
                             &load->is_cancelled, &load->stats, &load->writer,
                             err);
    if (code == COLANDER_OK && !resumes && !load->options.items_name_families)
        code = forget_resume_points(load, files, count, err);
    return code;
}

/* Writes what was read and not written yet. `code` is that of the load. */
static enum colander_code
finish(struct colander_load *load, enum colander_code code,
       struct colander_error *err)
{
    const enum colander_code finished =
        writer_finish(load->writer, code, code == COLANDER_OK ? err : NULL);

    return code == COLANDER_OK ? finished : code;
}

/* A partition has a pattern and a column of times, other loads neither. */
static enum colander_code
check_partition(const struct colander_load *load, struct colander_error *err)
{
    const char *name = colander_family_name(load->family);
    const bool is_pattern = colander_partition_unit(name) != NULL;

    if ((load->options.partition != NULL) == is_pattern)
        return COLANDER_OK;
    if (is_pattern)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "family '%s': which column has the times?", name);
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "the family's name '%s' has no {hour}, {day} or "
                         "{month}, where the time of rows belongs",
                         name);
}

/* -------------------------------------------------------------- public --- */

enum colander_code
colander_load_create(struct colander_store *store,
                     struct colander_family *family,
                     const struct colander_load_options *options,
                     struct colander_load **load, struct colander_error *err)
{
    struct colander_load *created = calloc(1, sizeof(*created));
    enum colander_code code;

    *load = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    column_counts_init(&created->counts);
    created->stats.knows_new = true;
    created->limits = (struct load_limits){LARGE_SIZE, RUN_SIZE, PIPE_MS};
    created->parser_count = parser_count();
    created->store = store;
    created->family = family;
    code = load_options_read(options, &created->options, &created->schema, err);
    if (code == COLANDER_OK)
        code = check_partition(created, err);
    if (code == COLANDER_OK)
        *load = created;
    else
        colander_load_destroy(created);
    return code;
}

enum colander_code
colander_load_run(struct colander_load *load, const char *const *files,
                  size_t file_count, struct colander_error *err)
{
    const bool is_stream = load->options.stream != NULL;
    const bool follows = load->options.follows;
    enum colander_code code;

    if (load->writer != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID, "a load runs only once");
    if (follows && (file_count != 1 || strcmp(files[0], "-") == 0))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a load follows one file, which has a name");
    if (is_stream && file_count != 1)
        return COLANDER_FAIL(err, COLANDER_INVALID, "a stream has one name");
    code = begin(load, files, is_stream ? 0 : file_count, err);
    if (code == COLANDER_OK && (is_stream || follows)) /* it may never end */
        code = set_time_column(load, true, err);
    for (size_t i = 0; i < file_count && code == COLANDER_OK; i++)
        code = is_stream ? load_stream(load, files[i], err)
               : follows ? follow_file(load, files[i], err)
                         : load_file(load, files[i], err);
    if (load->writer != NULL)
        code = finish(load, code, err);
    if (code == COLANDER_OK)
        code = set_time_column(load, false, err);
    else /* what was written stays; `err` is set */
        (void)set_time_column(load, false, NULL);
    return code;
}

void
load_set_limits(struct colander_load *load, const struct load_limits *limits)
{
    load->limits = *limits;
}

void
load_set_parsers(struct colander_load *load, size_t count)
{
    assert(count > 0 && count <= PARSERS_MAX);
    load->parser_count = count;
}

uint64_t
load_run_count(const struct colander_load *load)
{
    return writer_run_count(load->writer);
}

void
colander_load_cancel(struct colander_load *load)
{
    atomic_store(&load->is_cancelled, true);
}

const struct colander_load_stats *
colander_load_stats(const struct colander_load *load)
{
    return &load->stats;
}

bool
colander_load_mixed(struct colander_load *load, size_t *at,
                    struct colander_load_mixed *mixed)
{
    return column_counts_mixed(&load->counts, at, mixed);
}

bool
colander_load_misfit(struct colander_load *load, size_t *at,
                     struct colander_load_misfit *misfit)
{
    return misfits_next(&load->counts.misfits, at, misfit);
}

void
colander_load_destroy(struct colander_load *load)
{
    if (load == NULL)
        return;
    column_counts_release(&load->counts);
    added_columns_release(&load->added);
    writer_destroy(load->writer);
    load_options_release(&load->schema);
    colander_buffer_release(&load->mark_name);
    free(load);
}
