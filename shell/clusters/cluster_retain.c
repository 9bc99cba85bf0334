/* See cluster_retain.h. SPDX-License-Identifier: MIT */
#include "shell/clusters/cluster_retain.h"

#include "columns/words.h"
#include "loading/load.h"
#include "shell/confirm.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

struct retain {
    struct colander_schema *schema; /* of the family; NULL: none */
    const char *column;
    struct colander_value before;
    struct colander_buffer before_text; /* as JSON, */
    struct colander_buffer record;      /* and in this */
};

/* Reads from when on rows stay. A time that is yet to come would be a mistake:
 * rows that come until then would be deleted, if it is sent then. */
static enum colander_code
read_before(struct retain *retain, const struct arguments *arguments,
            struct colander_error *err)
{
    const char *age = arguments_value(arguments, "older-than");
    const char *until = arguments_value(arguments, "before");
    const int64_t now = (int64_t)time(NULL);
    struct colander_times times;
    int64_t seconds;

    if ((age == NULL) == (until == NULL))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "which rows are old? --older-than 30d, or "
                             "--before TIME");
    if (age != NULL) {
        if (!colander_duration_read(colander_slice_text(age), &seconds) ||
            seconds <= 0 || seconds > now)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "--older-than must be a time such as 30d or "
                                 "36h, not '%s'",
                                 age);
        retain->before = colander_timestamp(now - seconds, 0);
        return COLANDER_OK;
    }
    if (!colander_times_read(colander_slice_text(until), &times))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "--before must be a time such as 2026-01-31 or "
                             "2026-01-31T12:00:00Z, not '%s'",
                             until);
    retain->before = times.first;
    if (times.first.second <= now)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "--before %s has not come yet, by the clock of this "
                         "machine",
                         until);
}

/* Without --time it is the time column of the family's schema. */
static enum colander_code
read_column(struct retain *retain, const struct arguments *arguments,
            const struct cluster_family *family, struct colander_error *err)
{
    struct colander_predicate *where;

    retain->column = arguments_value(arguments, "time");
    if (retain->column == NULL && family->schema != NULL) {
        const enum colander_code code = colander_schema_open_text(
            "schema", colander_slice_text(family->schema), &retain->schema,
            err);

        if (code != COLANDER_OK)
            return code;
        retain->column = colander_schema_time(retain->schema);
    }
    if (retain->column == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "which column has the times? --time COL");
    where = colander_where(retain->column, COLANDER_LT, retain->before, err);
    colander_predicate_destroy(where);
    if (where == NULL)
        colander_error_context(err, "--time");
    return where != NULL ? COLANDER_OK : err->code;
}

static enum colander_code
append(struct colander_buffer *buffer, const char *text,
       struct colander_error *err)
{
    return colander_buffer_append(buffer, text, strlen(text), err);
}

/* Makes the record. */
static enum colander_code
make_record(struct retain *retain, struct colander_error *err)
{
    const struct colander_value column = colander_text(retain->column);
    struct colander_buffer *record = &retain->record;
    enum colander_code code =
        colander_json_append_value(&retain->before_text, &retain->before, err);

    if (code == COLANDER_OK)
        code = append(record, "{\"time\":", err);
    if (code == COLANDER_OK)
        code = colander_json_append_value(record, &column, err);
    if (code == COLANDER_OK)
        code = append(record, ",\"before\":", err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(record, retain->before_text.data,
                                      retain->before_text.size, err);
    return code == COLANDER_OK ? append(record, "}", err) : code;
}

/* Adds the time, without the quotes of JSON. */
static void
add_before(struct report *report, const struct retain *retain)
{
    report_add_text(report, colander_slice_of(retain->before_text.data + 1,
                                              retain->before_text.size - 2));
}

static enum colander_code
ask(const struct session *session, const struct retain *retain,
    const struct cluster_family *family, struct colander_error *err)
{
    struct report question = REPORT_EMPTY;
    bool is_yes = false;
    enum colander_code code;

    report_add(&question, "delete the rows of family '%s' before ",
               family->name);
    add_before(&question, retain);
    report_add(&question, ", by '");
    report_add_text(&question, colander_slice_text(retain->column));
    report_add(&question, "', in all partitions?");
    code = confirm_ask(session, &question, &is_yes, err);
    return code != COLANDER_OK || is_yes
               ? code
               : COLANDER_FAIL(err, COLANDER_CANCELLED, "nothing was sent");
}

/* Sends the record to each partition. */
static enum colander_code
send_all(const struct retain *retain, struct cluster *cluster,
         const struct cluster_family *family,
         const struct topic_broker_options *brokers, struct colander_error *err)
{
    struct topic_broker_options options = *brokers;
    struct topic_writer *writer = NULL;
    uint64_t id = 0;
    char *address = NULL;
    enum colander_code code = COLANDER_OK;

    if (asprintf(&address, "%s/%s", cluster_definition(cluster)->log,
                 family->topic) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an address");
    options.address = address;
    if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
        code = COLANDER_FAIL(err, COLANDER_IO, "no random number");
    if (code == COLANDER_OK)
        code = topic_writer_open(&options, &writer, err);
    if (code == COLANDER_OK) {
        topic_writer_begin(writer, id);
        code = topic_writer_tell_all(
            writer, 0, "retain", colander_buffer_slice(&retain->record), err);
    }
    if (code == COLANDER_OK)
        code = topic_writer_flush(writer, err);
    topic_writer_close(writer);
    free(address);
    return code;
}

enum colander_code
cluster_retain(const struct session *session, const struct arguments *arguments,
               struct cluster *cluster,
               const struct topic_broker_options *brokers,
               struct report *report, struct colander_error *err)
{
    struct retain retain = {.column = NULL};
    struct cluster_family family = {.name = NULL};
    enum colander_code code = read_before(&retain, arguments, err);

    if (code == COLANDER_OK)
        code = cluster_family(cluster, arguments->words[2], &family, err);
    if (code == COLANDER_OK)
        code = read_column(&retain, arguments, &family, err);
    if (code == COLANDER_OK)
        code = make_record(&retain, err);
    if (code == COLANDER_OK && !arguments_has(arguments, "yes") &&
        confirm_is_possible(session))
        code = ask(session, &retain, &family, err);
    if (code == COLANDER_OK)
        code = send_all(&retain, cluster, &family, brokers, err);
    if (code == COLANDER_OK) {
        report_line(report, "retain", "%s: rows before ", family.name);
        add_before(report, &retain);
        report_add(report, ", by '");
        report_add_text(report, colander_slice_text(retain.column));
        report_add(report, "', go: sent to %s",
                   NUMBER_OF(family.partition_count, "partition"));
    }
    cluster_family_release(&family);
    colander_schema_close(retain.schema);
    colander_buffer_release(&retain.before_text);
    colander_buffer_release(&retain.record);
    return code;
}
