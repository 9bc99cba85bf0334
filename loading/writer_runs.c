/* See writer_inside.h. SPDX-License-Identifier: MIT */
#include "columns/runs.h"
#include "core/clock.h"
#include "core/thread.h"
#include "loading/writer_inside.h"

#define WAIT_MS 10 /* before files are counted again */
#define BATCHES 32 /* chunks after one with changes: runs would be small */
#define RUN_TEXT                                                               \
    4 /* bytes of text for each byte of a run, see writer_run_is_due */

/* Waits while there are too many files for the next run. */
static void
await_compactions(const struct writer *writer)
{
    const struct colander_load_options *options = writer->options;

    while (!atomic_load(writer->is_cancelled) &&
           colander_run_must_wait(writer->family)) {
        const struct timespec moment = {0, WAIT_MS * 1000000L};

        (void)nanosleep(&moment, NULL);
        if (options->report_progress != NULL)
            options->report_progress(options->context, writer->stats);
    }
}

/* Whether the sizes of files are not known, as those of pipes: more may come
 * soon, or never. */
static bool
is_pipe(const struct writer *writer)
{
    return writer->stats->bytes_all == 0;
}

/* Whether rows of a pipe may wait no longer that have waited since then. */
static bool
is_late(const struct writer *writer, uint64_t since)
{
    return clock_us() - since >= writer->limits->pipe_ms * 1000;
}

void
writer_run_count_flow(struct writer *writer, size_t text_size)
{
    if (!is_pipe(writer))
        return;
    if (writer->flow_text == 0 || is_late(writer, writer->flow_begun)) {
        writer->flow_text = 0;
        writer->flow_begun = clock_us();
    }
    writer->flow_text += text_size;
}

/* Whether the records of a stream wait, so that rows may. */
static bool
is_behind(const struct writer *writer)
{
    const struct colander_load_stream *stream = writer->options->stream;

    return stream != NULL && stream->is_behind(stream->context);
}

/* Whether rows go in runs now. */
static bool
is_large(const struct writer *writer)
{
    const uint64_t large = writer->limits->large_size;

    return writer->stats->bytes_all >= large || is_behind(writer) ||
           (is_pipe(writer) && writer->flow_text >= large &&
            !is_late(writer, writer->flow_begun));
}

bool
writer_take_memory(struct writer *writer)
{
    const struct colander_load_options *options = writer->options;

    if (options->take_memory == NULL)
        return true;
    if (!options->take_memory(options->context))
        return false;
    writer->memory_count++;
    return true;
}

void
writer_give_memory(struct writer *writer)
{
    if (writer->memory_count == 0)
        return;
    writer->options->give_memory(writer->options->context);
    writer->memory_count--;
}

static enum colander_code
begin(struct writer *writer, struct colander_error *err)
{
    if (!writer_take_memory(writer)) {
        enum colander_code code = writer_run_await(writer, err);

        if (code != COLANDER_OK || !writer_take_memory(writer))
            return code;
    }
    await_compactions(writer);
    writer->run_size = 0;
    writer->run_text = 0;
    writer->run_begun = clock_us();
    writer->run_taken = 0;
    writer->run_new = 0;
    return colander_run_create(writer->family, &writer->run, err);
}

enum colander_code
writer_run_begin(struct writer *writer, struct colander_error *err)
{
    if (writer->batch_count > 0)
        writer->batch_count--;
    else if (writer->run == NULL && writer->may_run && is_large(writer))
        return begin(writer, err);
    return COLANDER_OK;
}

enum colander_code
writer_run_leave(struct writer *writer, struct colander_error *err)
{
    writer->batch_count = BATCHES;
    return writer->run == NULL ? COLANDER_OK : writer_run_end(writer, err);
}

bool
writer_run_is_due(const struct writer *writer, bool is_pause)
{
    const uint64_t size = writer->limits->run_size;

    return writer->may_run && writer->run != NULL && writer->has_end &&
           (writer->run_size >= size || writer->run_text / RUN_TEXT >= size ||
            (is_pipe(writer) && is_late(writer, writer->run_begun) &&
             (is_pause || !is_behind(writer))));
}

static void *
commit_run(void *context)
{
    struct run_commit *commit = context;

    commit->code =
        colander_bulk_commit(commit->run, &commit->row_count, &commit->err);
    return NULL;
}

/* Whether the thread ended, within a moment. */
static bool
has_ended(pthread_t thread)
{
    const struct timespec until = clock_after(CLOCK_REALTIME, 100);

    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

static void
show_commit(const struct writer *writer)
{
    const struct colander_load_options *options = writer->options;
    struct colander_bulk_progress progress;

    if (options->is_bulk) {
        if (atomic_load(writer->is_cancelled))
            colander_bulk_cancel(writer->commit.run);
        colander_bulk_progress(writer->commit.run, &progress);
        writer->stats->bulk_rows = progress.built_count;
        writer->stats->bulk_all = progress.added_count;
    }
    if (options->report_progress != NULL)
        options->report_progress(options->context, writer->stats);
}

/* Takes back that the rows of a run count, which were not written. */
static void
discount(const struct writer *writer, uint64_t taken, uint64_t new)
{
    if (!writer->may_run)
        return;
    writer->stats->row_count -= taken;
    writer->stats->new_count -= new;
    writer->stats->replaced_count -= taken - new;
}

void
writer_run_drop(struct writer *writer)
{
    if (writer->run == NULL)
        return;
    discount(writer, writer->run_taken, writer->run_new);
    colander_bulk_destroy(writer->run);
    writer->run = NULL;
    writer_give_memory(writer);
}

enum colander_code
writer_run_await(struct writer *writer, struct colander_error *err)
{
    struct run_commit *commit = &writer->commit;
    const enum colander_code *code = &commit->code;

    if (commit->run == NULL)
        return COLANDER_OK;
    while (!has_ended(commit->thread))
        show_commit(writer);
    colander_bulk_destroy(commit->run);
    commit->run = NULL;
    writer_give_memory(writer);
    if (*code != COLANDER_OK) {
        if (err != NULL)
            *err = commit->err;
        discount(writer, commit->taken, commit->new);
        writer_run_drop(writer);
        return *code;
    }
    writer->run_count++;
    if (writer->options->is_bulk) {
        /* it does not count rows that it has replaced itself */
        writer_count_rows(writer, commit->row_count, commit->row_count);
        writer->stats->replaced_count = commit->taken - commit->row_count;
    }
    return COLANDER_OK;
}

enum colander_code
writer_run_end(struct writer *writer, struct colander_error *err)
{
    struct run_commit *commit = &writer->commit;
    enum colander_code code = writer_run_await(writer, err);
    int failed;

    if (code != COLANDER_OK)
        return code;
    *commit = (struct run_commit){
        .run = writer->run,
        .taken = writer->run_taken,
        .new = writer->run_new,
    };
    failed = thread_create(&commit->thread, commit_run, commit);
    if (failed != 0) {
        commit->run = NULL;
        writer_run_drop(writer);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot start a thread: %s", strerror(failed));
    }
    writer->run = NULL;
    writer->flow_text = writer->run_text; /* as if it took no time to write */
    writer->flow_begun = clock_us();
    return writer->options->is_bulk ? writer_run_await(writer, err)
                                    : COLANDER_OK;
}
