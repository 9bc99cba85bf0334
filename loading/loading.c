/*
 * Loading: see loading.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/loading.h"
#include "core/quiet_thread.h"
#include "loading/feeder.h"
#include "loading/maker.h"
#include "loading/writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAKERS_MAX 8
#define CHUNKS_WAITING 3 /* beside those that makers have */
#define PROGRESS_MS 100  /* between two tellings */
#define RECORD_SIZE (8u << 20)

/* A load under way. */
struct load {
    struct colander_store *store;
    struct colander_family *family;
    const struct loading_options *options;
    struct loading_figures *figures;
    struct writer *writer;
    struct colander_buffer mark_name; /* of the file under way */
    uint64_t bytes_before;            /* of files that were read */
};

/* The threads of one file. */
struct file_load {
    struct source *source;
    const struct loading_options *options;
    struct ring *ring;
    struct maker maker;
    pthread_t threads[MAKERS_MAX + 1];
    size_t thread_count;
};

void
loading_options_init(struct loading_options *options)
{
    memset(options, 0, sizeof(*options));
    options->errors_max = UINT64_MAX;
    options->record_size = RECORD_SIZE;
}

/* -------------------------------------------------------------- threads --- */

static void *
feed(void *context)
{
    struct file_load *file = context;

    (void)pthread_setname_np(pthread_self(), "feeder"); /* for debuggers */
    feeder_run(file->source, file->options, file->ring);
    return NULL;
}

static void *
make(void *context)
{
    struct file_load *file = context;

    (void)pthread_setname_np(pthread_self(), "maker");
    maker_run(&file->maker);
    return NULL;
}

/* Signals are for the thread that writes. */
static enum colander_code
start_thread(struct file_load *file, void *(*run)(void *),
             struct colander_error *err)
{
    int failed =
        quiet_thread_create(&file->threads[file->thread_count], run, file);

    if (failed != 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot start a thread: %s", strerror(failed));
    file->thread_count++;
    return COLANDER_OK;
}

static size_t
maker_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (cores < 3)
        return 1;
    return cores - 1 > MAKERS_MAX ? MAKERS_MAX : (size_t)cores - 1;
}

static enum colander_code
start_threads(struct file_load *file, struct load *load, struct source *source,
              struct colander_error *err)
{
    const size_t makers = maker_count();
    enum colander_code code;

    memset(file, 0, sizeof(*file));
    file->source = source;
    file->options = load->options;
    file->ring = ring_create(makers + CHUNKS_WAITING);
    if (file->ring == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    file->maker = (struct maker){load->store, load->family, source,
                                 load->options, file->ring};
    code = start_thread(file, feed, err);
    for (size_t i = 0; i < makers && code == COLANDER_OK; i++)
        code = start_thread(file, make, err);
    return code;
}

/* Whatever they wait for: a chunk, or a pipe that may stay empty for long. */
static void
end_threads(struct file_load *file)
{
    input_cancel(file->source->input);
    if (file->ring != NULL)
        ring_stop(file->ring);
    for (size_t i = 0; i < file->thread_count; i++)
        pthread_join(file->threads[i], NULL);
    ring_destroy(file->ring);
}

/* ---------------------------------------------------------------- files --- */

static bool
is_stopped(const struct load *load)
{
    return load->options->stops != NULL && atomic_load(load->options->stops);
}

static void
tell_progress(struct load *load, const struct source *source)
{
    if (source != NULL)
        load->figures->bytes_read =
            load->bytes_before + input_bytes_read(source->input);
    if (load->options->progress != NULL)
        load->options->progress(load->options->context, load->figures);
}

/* Writes what the threads make. */
static enum colander_code
write_chunks(struct load *load, struct file_load *file,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_last = false;

    while (code == COLANDER_OK && !is_last) {
        struct chunk *chunk = ring_take_made(file->ring, PROGRESS_MS);

        if (chunk != NULL) {
            is_last = chunk->is_last;
            code = writer_chunk(load->writer, chunk, err);
            ring_empty(file->ring, chunk);
        }
        tell_progress(load, file->source);
        if (code == COLANDER_OK && !is_last && is_stopped(load))
            code = COLANDER_FAIL(err, COLANDER_CANCELLED, "interrupted");
    }
    return code;
}

static enum colander_code
load_source(struct load *load, struct source *source,
            struct colander_error *err)
{
    struct file_load file;
    enum colander_code code;

    tell_progress(load, source); /* what is skipped is behind */
    code = start_threads(&file, load, source, err);
    if (code == COLANDER_OK)
        code = write_chunks(load, &file, err);
    end_threads(&file);
    if (code != COLANDER_OK && code != COLANDER_CANCELLED)
        colander_error_context(err, "%s", source->file);
    return code;
}

/* Reads the place of an earlier load of the file. */
static enum colander_code
read_place(struct load *load, const char *file, struct place *place,
           bool *found, struct colander_error *err)
{
    enum colander_code code = place_name(file, &load->mark_name, err);

    if (code == COLANDER_OK)
        code = place_read(place, load->family,
                          colander_buffer_slice(&load->mark_name), found, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "%s", file);
    return code;
}

/* Whether the place of an earlier load is one to go on from. */
static enum colander_code
find_place(struct load *load, const char *file, struct place *place,
           bool *found, struct colander_error *err)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    enum colander_code code = read_place(load, file, place, found, err);

    if (code != COLANDER_OK || !*found)
        return code;
    if (place->bulk_key_size > 0)
        code = colander_family_get(
            load->family,
            colander_slice_of(place->bulk_key, place->bulk_key_size), NULL,
            &row, found, err);
    if (place->offset == 0) /* not even a line of names was there */
        *found = false;
    colander_buffer_release(&row);
    return code;
}

/* Loads one file, or what is left of it. */
static enum colander_code
load_file(struct load *load, const char *file, struct colander_error *err)
{
    struct source source;
    struct place place;
    enum colander_code code;
    bool resumes = false;

    load->figures->file = file;
    code = find_place(load, file, &place, &resumes, err);
    if (code != COLANDER_OK)
        return code;
    resumes = resumes && load->options->resumes;
    code =
        source_open(&source, file, load->options, resumes ? &place : NULL, err);
    if (code != COLANDER_OK)
        return code;
    if (resumes && place.is_end && source.text.size == 0)
        code = source_read(&source, &source.text, CHUNK_SIZE, err);
    if (code != COLANDER_OK) {
        colander_error_context(err, "%s", file);
    } else if (resumes && place.is_end && source.text.size == 0) {
        load->figures->files_skipped++;
    } else {
        code = writer_begin_file(load->writer, &source,
                                 colander_buffer_slice(&load->mark_name),
                                 resumes ? &place : NULL, err);
        if (code == COLANDER_OK)
            code = load_source(load, &source, err);
    }
    load->bytes_before += input_bytes_read(source.input);
    source_close(&source);
    return code;
}

/* ---------------------------------------------------------- beginnings --- */

/* Sees that all files are there, before anything is changed; and how much of
 * the file of rejects the places of earlier loads account for. */
static enum colander_code
find_places(struct load *load, const char *const *files, size_t count,
            uint64_t *rejects_size, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *rejects_size = 0;
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct place place;
        bool found;

        code = read_place(load, files[i], &place, &found, err);
        if (code == COLANDER_OK && found && place.rejects_size > *rejects_size)
            *rejects_size = place.rejects_size;
    }
    return code;
}

/* Forgets the places of earlier loads: a load that begins anew and is stopped
 * before its first batch must not be resumed there. */
static enum colander_code
forget_places(struct load *load, const char *const *files, size_t count,
              struct colander_error *err)
{
    struct colander_batch *batch;
    enum colander_code code = colander_batch_create(load->store, &batch, err);

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct place place;
        bool found;

        code = read_place(load, files[i], &place, &found, err);
        if (code == COLANDER_OK && found)
            code = place_mark(NULL, batch, load->family,
                              colander_buffer_slice(&load->mark_name), err);
    }
    if (code == COLANDER_OK && colander_batch_count(batch) > 0)
        code = colander_batch_commit(batch, COLANDER_AS_STORE, err);
    colander_batch_destroy(batch);
    return code;
}

/* Adds up the sizes of the files; a pipe has none. */
static void
measure_files(struct load *load, const char *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stat status;

        if (stat(files[i], &status) != 0 || !S_ISREG(status.st_mode)) {
            load->figures->bytes_all = 0;
            return;
        }
        load->figures->bytes_all += (uint64_t)status.st_size;
    }
}

static enum colander_code
begin(struct load *load, const char *const *files, size_t count,
      struct colander_error *err)
{
    const struct loading_options *options = load->options;
    uint64_t rejects_size = 0;
    enum colander_code code = COLANDER_OK;

    measure_files(load, files, count);
    if (options->is_bulk &&
        (options->resumes || options->duplicates != LOADING_REPLACE))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a bulk load is one of all rows, into a family "
                             "without rows: it cannot be resumed, and of two "
                             "rows with one key it takes the last");
    code = find_places(load, files, count, &rejects_size, err);
    if (!options->resumes)
        rejects_size = 0;
    if (code == COLANDER_OK)
        code = writer_create(load->store, load->family, options, rejects_size,
                             load->figures, &load->writer, err);
    if (code == COLANDER_OK && !options->resumes && !options->has_no_place)
        code = forget_places(load, files, count, err);
    return code;
}

/* Makes the rows of a bulk load appear. Their places are there already: where
 * nothing appears, they go again. */
static enum colander_code
finish_bulk(struct load *load, const char *const *files, size_t count,
            struct colander_error *err)
{
    enum colander_code code = writer_finish(load->writer, err);

    if (code != COLANDER_OK && !load->options->has_no_place)
        (void)forget_places(load, files, count, NULL); /* `err` is told */
    return code;
}

enum colander_code
loading_run(struct colander_store *store, struct colander_family *family,
            const char *const *files, size_t file_count,
            const struct loading_options *options,
            struct loading_figures *figures, struct colander_error *err)
{
    struct load load = {.store = store,
                        .family = family,
                        .options = options,
                        .figures = figures};
    enum colander_code code;

    memset(figures, 0, sizeof(*figures));
    code = begin(&load, files, file_count, err);
    for (size_t i = 0; i < file_count && code == COLANDER_OK; i++)
        code = load_file(&load, files[i], err);
    if (code == COLANDER_OK && options->is_bulk)
        code = finish_bulk(&load, files, file_count, err);
    writer_destroy(load.writer);
    colander_buffer_release(&load.mark_name);
    return code;
}
