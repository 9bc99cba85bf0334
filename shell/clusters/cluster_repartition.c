/*
 * See cluster_repartition.h.
 *
 * A node that is alone makes the partitions as they are at the end of the log:
 * from checkpoints, and the records after these. So also rows come along whose
 * records brokers have removed, and what patches, deletes and retains have left
 * is what is sent. Nothing counts before the definition of the next generation
 * is put, at the end: who is killed before leaves a topic that no one reads,
 * and the next try takes another one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/clusters/cluster_repartition.h"

#include "loading/load.h"
#include "node/node.h"
#include "shell/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define LOOK_US 100000 /* between two looks at the partitions */
#define QUIET_US 2000000
#define TOPICS_MAX 100 /* that are tried */

struct ends {
    struct topic_ends *items;
    size_t count;
};

struct repartition {
    const struct session *session;
    const struct repartition_options *options;
    struct cluster *cluster;
    struct cluster_family before; /* as it is defined now */
    struct cluster_family after;  /* borrows from it, but for the two below */
    char *topic;
    struct cluster_texts whole;
    struct node *node;
    struct ends ends; /* of the log as it is */
    uint64_t row_count;
};

/* --------------------------------------------------------------- topics --- */

/* Sets the brokers' address to that of a topic. The caller frees it. */
static enum colander_code
address_topic(const struct repartition *job, const char *topic,
              struct topic_broker_options *brokers, char **address,
              struct colander_error *err)
{
    *brokers = job->options->brokers;
    if (asprintf(address, "%s/%s", cluster_definition(job->cluster)->log,
                 topic) < 0) {
        *address = NULL;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an address");
    }
    brokers->address = *address;
    return COLANDER_OK;
}

static enum colander_code
read_ends(const struct repartition *job, const char *topic, struct ends *ends,
          struct colander_error *err)
{
    struct topic_broker_options brokers;
    char *address;
    int64_t retention_ms;
    enum colander_code code =
        address_topic(job, topic, &brokers, &address, err);

    if (code == COLANDER_OK)
        code = topic_ends(&brokers, &ends->items, &ends->count, &retention_ms,
                          err);
    free(address);
    return code;
}

/* Fails if the log has more than there was, as writers go on, and says where.
 */
static enum colander_code
check_ends(const struct repartition *job, struct colander_error *err)
{
    const char *topic = job->before.topic;
    struct colander_buffer where = COLANDER_BUFFER_EMPTY;
    struct ends ends = {NULL, 0};
    enum colander_code code = read_ends(job, topic, &ends, err);

    for (size_t i = 0; i < ends.count && code == COLANDER_OK; i++) {
        const int64_t before =
            i < job->ends.count ? job->ends.items[i].high : 0;
        char text[80];

        if (ends.items[i].high == before)
            continue;
        (void)snprintf(text, sizeof(text),
                       "%sin partition %zu from offset %" PRId64 " on",
                       where.size > 0 ? ", " : "", i, before);
        code = colander_buffer_append(&where, text, strlen(text), err);
    }
    if (code == COLANDER_OK && where.size > 0)
        code =
            COLANDER_FAIL(err, COLANDER_BUSY, "topic '%s' gets records, %.*s",
                          topic, (int)where.size, (const char *)where.data);
    free(ends.items);
    colander_buffer_release(&where);
    return code;
}

/* The same before the definition counts. */
static enum colander_code
check_writers(const struct repartition *job, struct colander_error *err)
{
    const enum colander_code code = check_ends(job, err);

    if (code == COLANDER_BUSY)
        colander_error_context(err, "stop all that write, and try again");
    return code;
}

/* Fails if records came too late: the definition counts. */
static enum colander_code
check_late(const struct repartition *job, struct colander_error *err)
{
    enum colander_code code;

    /* --fresh waits for the new topic then */
    (void)usleep(NODE_HEARD_MS * 1000);
    code = check_ends(job, err);
    if (code != COLANDER_OK)
        colander_error_context(err,
                               "the family has the topic '%s' now, and nothing "
                               "reads what came to the other one meanwhile",
                               job->topic);
    return code;
}

/* Creates the topic, or looks at it. *is_empty: it never had records, and, if
 * it was not asked for, is new: another process may be about to send to one
 * that is there. If some were removed, it would not begin with the rows
 * (node/partition.c). */
static enum colander_code
try_topic(const struct repartition *job, const char *topic, bool *is_empty,
          struct colander_error *err)
{
    struct topic_wanted wanted = job->options->wanted;
    struct topic_broker_options brokers;
    struct topic_made made;
    struct ends ends = {NULL, 0};
    char *address;
    enum colander_code code =
        address_topic(job, topic, &brokers, &address, err);

    wanted.partition_count = job->options->partition_count;
    *is_empty = false;
    if (code == COLANDER_OK)
        code = topic_create(&brokers, &wanted, &made, err);
    if (code == COLANDER_OK)
        code = read_ends(job, topic, &ends, err);
    if (code == COLANDER_OK)
        *is_empty = made.is_new || job->options->topic != NULL;
    for (size_t i = 0; i < ends.count; i++)
        *is_empty = *is_empty && ends.items[i].high == 0;
    free(ends.items);
    free(address);
    return code;
}

/* Chooses the topic that was asked for, or makes one. */
static enum colander_code
choose_topic(struct repartition *job, struct colander_error *err)
{
    const char *asked = job->options->topic;
    bool is_empty = false;
    enum colander_code code = COLANDER_OK;

    for (int i = 1; i < TOPICS_MAX && code == COLANDER_OK && !is_empty; i++) {
        char suffix[16] = "";

        if (i > 1)
            (void)snprintf(suffix, sizeof(suffix), "-%d", i);
        free(job->topic);
        if (asked != NULL)
            job->topic = strdup(asked);
        else if (asprintf(&job->topic, "%s.%s.%" PRIu32 "%s",
                          cluster_definition(job->cluster)->name,
                          job->before.name, job->after.generation, suffix) < 0)
            job->topic = NULL;
        if (job->topic == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a topic");
        code = try_topic(job, job->topic, &is_empty, err);
        if (code == COLANDER_INVALID && asked == NULL)
            code = COLANDER_OK; /* it has another number of partitions */
        if (code == COLANDER_OK && !is_empty && asked != NULL)
            return COLANDER_FAIL(
                err, COLANDER_INVALID,
                "topic '%s' has or had records: it must be new", asked);
    }
    if (code == COLANDER_OK && !is_empty)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "topics up to '%s' are there: delete them, they "
                             "are of tries that were cut off",
                             job->topic);
    job->after.topic = job->topic;
    return code;
}

/* ----------------------------------------------------------- partitions --- */

static void
say(void *context, const char *line)
{
    const struct repartition *job = context;

    session_complain(job->session, SESSION_FINE, "%s", line);
}

static enum colander_code
open_node(struct repartition *job, struct colander_error *err)
{
    const struct repartition_options *options = job->options;
    const struct node_options how = {
        .cluster = options->address,
        .directory = options->directory,
        .only = job->before.name,
        .settings = options->settings,
        .setting_count = options->setting_count,
        .settings_file = options->brokers.settings_file,
        .say = say,
        .context = job,
    };
    enum colander_code code = node_open(&how, &job->node, err);

    return code == COLANDER_OK ? node_join(job->node, NULL, err) : code;
}

/* Whether all partitions have all that the log had. Fails with the problem of
 * one. */
static enum colander_code
look_at_partitions(struct repartition *job, bool *is_done,
                   struct colander_error *err)
{
    struct node_partition *partitions;
    size_t count;
    enum colander_code code =
        node_partitions(job->node, &partitions, &count, err);

    *is_done = count == job->ends.count;
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        const struct node_partition *one = &partitions[i];

        if (one->phase == NODE_WAITING || one->phase == NODE_STOPPED)
            code = COLANDER_FAIL(err, COLANDER_IO, "partition %" PRIu32 ": %s",
                                 one->number, one->problem);
        else if (one->number >= job->ends.count ||
                 one->applied < job->ends.items[one->number].high)
            *is_done = false;
    }
    node_partitions_release(partitions, count);
    return code;
}

/* Makes the partitions as they are at the end of the log. */
static enum colander_code
make_partitions(struct repartition *job, struct colander_error *err)
{
    bool is_done = false;
    enum colander_code code =
        read_ends(job, job->before.topic, &job->ends, err);

    if (code == COLANDER_OK && job->ends.count != job->before.partition_count)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "topic '%s' has %zu partitions, and family '%s' "
                             "is defined with %" PRIu32,
                             job->before.topic, job->ends.count,
                             job->before.name, job->before.partition_count);
    if (code == COLANDER_OK)
        code = open_node(job, err);
    while (code == COLANDER_OK && !is_done) {
        (void)usleep(LOOK_US);
        code = look_at_partitions(job, &is_done, err);
    }
    if (code == COLANDER_OK)
        (void)usleep(QUIET_US); /* writers would be noticed */
    return code == COLANDER_OK ? check_writers(job, err) : code;
}

/* ----------------------------------------------------------------- rows --- */

/* Fails if the row has the key of the one before: they are in two partitions.
 */
static enum colander_code
check_key(const struct repartition *job, struct colander_slice key,
          struct colander_buffer *before, struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    if (job->row_count > 0 &&
        colander_slice_equal(colander_buffer_slice(before), key)) {
        code = text_append_key(&text, key, err);
        if (code == COLANDER_OK)
            code = COLANDER_FAIL(
                err, COLANDER_INVALID,
                "key %.*s has rows in several partitions, of which one would "
                "be left: writers have not chosen the partition by the key. "
                "Delete the others where they are, and try again",
                (int)text.size, (const char *)text.data);
        colander_buffer_release(&text);
        return code;
    }
    colander_buffer_clear(before);
    return colander_buffer_append(before, key.data, key.size, err);
}

/* Sends a row, with the text of its key by which it has its partition. */
static enum colander_code
send_row(struct repartition *job, struct topic_writer *writer,
         const struct colander_result *row, struct colander_buffer *record,
         struct colander_buffer *key, struct colander_error *err)
{
    const uint32_t parts = job->after.partition_by;
    enum colander_code code;

    colander_buffer_clear(record);
    colander_buffer_clear(key);
    code = colander_row_append_keyed(record, row->key, row->row, err);
    if (code == COLANDER_OK && parts > 0)
        code = colander_load_partition_key(row->key, parts, key, err);
    if (code == COLANDER_OK)
        code = topic_writer_put(writer, job->row_count, "row",
                                colander_buffer_slice(key),
                                colander_buffer_slice(record), err);
    job->row_count += code == COLANDER_OK;
    return code;
}

static enum colander_code
send_rows(struct repartition *job, struct topic_writer *writer,
          struct colander_error *err)
{
    struct colander_store *store = node_store(job->node);
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer before = COLANDER_BUFFER_EMPTY;
    struct colander_family *family = NULL;
    struct colander_cursor *cursor = NULL;
    struct colander_result row;
    bool is_row = true;
    enum colander_code code =
        colander_family_open(store, job->before.name, &family, err);

    if (code == COLANDER_OK)
        code = colander_family_find(family, NULL, &cursor, err);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &row, err);
        if (code == COLANDER_OK && is_row)
            code = check_key(job, row.key, &before, err);
        if (code == COLANDER_OK && is_row)
            code = send_row(job, writer, &row, &record, &key, err);
    }
    colander_cursor_close(cursor);
    colander_family_close(family);
    colander_buffer_release(&record);
    colander_buffer_release(&key);
    colander_buffer_release(&before);
    return code == COLANDER_OK ? topic_writer_flush(writer, err) : code;
}

static enum colander_code
send_all(struct repartition *job, struct colander_error *err)
{
    struct topic_broker_options brokers;
    struct topic_writer *writer = NULL;
    uint64_t id = 0;
    char *address;
    enum colander_code code =
        address_topic(job, job->topic, &brokers, &address, err);

    if (code == COLANDER_OK &&
        getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
        code = COLANDER_FAIL(err, COLANDER_IO, "no random number");
    if (code == COLANDER_OK)
        code = topic_writer_open(&brokers, &writer, err);
    if (code == COLANDER_OK) {
        topic_writer_begin(writer, id);
        code = send_rows(job, writer, err);
    }
    topic_writer_close(writer);
    free(address);
    return code;
}

/* ----------------------------------------------------------- definition --- */

/* Defines the next generation: its topic is whole where it ends now. Fails if
 * it has other records than those that were sent. */
static enum colander_code
define(struct repartition *job, struct colander_error *err)
{
    struct ends ends = {NULL, 0};
    uint64_t count = 0;
    enum colander_code code = read_ends(job, job->topic, &ends, err);

    for (size_t i = 0; i < ends.count && code == COLANDER_OK; i++) {
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRId64, ends.items[i].high);
        code = cluster_texts_add(&job->whole, text, err);
        count += (uint64_t)ends.items[i].high;
    }
    if (code == COLANDER_OK &&
        (ends.count != job->after.partition_count || count != job->row_count))
        code = COLANDER_FAIL(
            err, COLANDER_BUSY,
            "topic '%s' has %" PRIu64 " records in %zu partitions, not %" PRIu64
            " in %" PRIu32 ": another process makes it at the same time. Run "
            "one at a time, with another topic",
            job->topic, count, ends.count, job->row_count,
            job->after.partition_count);
    free(ends.items);
    job->after.whole = job->whole;
    return code == COLANDER_OK
               ? cluster_redefine(job->cluster, &job->after, err)
               : code;
}

static void
add_report(const struct repartition *job, struct report *report)
{
    report_line(report, "family", "%s, defined again: %s", job->before.name,
                NUMBER_OF(job->after.partition_count, "partition"));
    report_add(report, " instead of %s",
               THOUSANDS(job->before.partition_count));
    report_line(report, "topic", "%s: %s sent", job->topic,
                NUMBER_OF(job->row_count, "row"));
    report_line(report, "note",
                "writers send to this topic from now on; nothing reads '%s'",
                job->before.topic);
}

static enum colander_code
run(struct repartition *job, struct colander_error *err)
{
    const struct repartition_options *options = job->options;
    enum colander_code code =
        cluster_family(job->cluster, options->family, &job->before, err);

    job->after = job->before;
    job->after.generation++;
    job->after.partition_count = options->partition_count;
    if (code == COLANDER_OK &&
        options->partition_count == job->before.partition_count)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "family '%s' has %" PRIu32 " partitions already",
                             job->before.name, job->before.partition_count);
    if (code == COLANDER_OK)
        code = make_partitions(job, err);
    if (code == COLANDER_OK)
        code = choose_topic(job, err);
    if (code == COLANDER_OK)
        code = send_all(job, err);
    if (code == COLANDER_OK)
        code = check_writers(job, err);
    if (code == COLANDER_OK)
        code = define(job, err);
    return code == COLANDER_OK ? check_late(job, err) : code;
}

enum colander_code
cluster_repartition(const struct session *session, struct cluster *cluster,
                    const struct repartition_options *options,
                    struct report *report, struct colander_error *err)
{
    struct repartition job = {
        .session = session, .options = options, .cluster = cluster};
    struct colander_error closed;
    enum colander_code code = run(&job, err);

    if (node_close(job.node, &closed) != COLANDER_OK)
        session_complain(session, SESSION_FINE, "%s", closed.message);
    if (code == COLANDER_OK)
        add_report(&job, report);
    cluster_family_release(&job.before);
    cluster_texts_release(&job.whole);
    free(job.topic);
    free(job.ends.items);
    return code;
}
