/* See influx.h. SPDX-License-Identifier: MIT */
#include "serve/influx.h"
#include "serve/changes_inside.h"
#include "serve/reply.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>

#define INFLUX_CHOICES                                                         \
    LOAD_CHOICES, {"precision", "--precision", false, false, NULL},            \
    {                                                                          \
        "on-duplicate", "--on-duplicate", false, false, NULL                   \
    }

static const struct choice choices[] = {
    INFLUX_CHOICES,
    {"db", NULL, false, false, NULL},
    {"rp", NULL, false, false, NULL},
    {"consistency", NULL, false, false, NULL},
    CHOICES_END,
};

static const struct choice bucket_choices[] = {
    INFLUX_CHOICES,
    {"bucket", NULL, false, false, NULL},
    {"org", NULL, false, false, NULL},
    {"orgID", NULL, false, false, NULL},
    CHOICES_END,
};

/* Agents send the fields of a point in several lines. */
static const struct preset presets[] = {
    {"format", "--format=influx"},
    {"on-duplicate", "--on-duplicate=patch"},
    {NULL, NULL},
};

/* -------------------------------------------------------------- answer --- */

/* Sets `text` to why the first line was rejected, and how many were. */
static void
describe_rejects(struct colander_slice facts, uint64_t count, char *text,
                 size_t size)
{
    struct colander_value line = colander_integer(0);
    struct colander_value reason = colander_text("");
    bool found;

    (void)!colander_row_get(facts, "rejects[].line", &line, &found, NULL);
    (void)!colander_row_get(facts, "rejects[].reason", &reason, &found, NULL);
    (void)snprintf(text, size,
                   "partial write: %" PRIu64 " line%s rejected, the first is "
                   "line %" PRId64 ": %.*s",
                   count, count == 1 ? " was" : "s were", line.integer,
                   (int)reason.bytes.size, (const char *)reason.bytes.data);
}

/* Adds why lines were rejected, and how many were loaded. */
static void
add_facts(struct colander_row_builder *builder, struct colander_slice facts)
{
    static const char *const names[] = {"rows", "rejected", "rejects"};
    struct colander_value value;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool found = false;

        if (colander_row_get(facts, names[i], &value, &found, NULL) ==
                COLANDER_OK &&
            found)
            colander_row_builder_add(builder, names[i], value);
    }
}

/* Version 1 has its errors in "error", version 2 in "code" and "message". */
static enum colander_code
append_failure(struct change_run *run, struct colander_slice facts,
               struct colander_buffer *bytes, struct colander_error *err)
{
    const struct colander_error *failure = &run->result.failure;
    struct colander_row_builder *builder = colander_row_builder_create();
    char rejects[sizeof(failure->message)];
    const char *text = failure->message;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an answer");
    run->run.writer.status = MHD_HTTP_BAD_REQUEST;
    if (failure->code == COLANDER_OK) {
        describe_rejects(facts, run->run.reject_count, rejects,
                         sizeof(rejects));
        text = rejects;
    } else {
        run->run.writer.status = change_status(run);
    }
    reply_build_foreign(builder, REPLY_INFLUX, run->run.writer.status, text);
    add_facts(builder, facts);
    code = reply_append_built(bytes, builder, err);
    colander_row_builder_destroy(builder);
    return code == COLANDER_OK ? colander_buffer_append(bytes, "\n", 1, err)
                               : code;
}

static enum colander_code
answer(struct change_run *run, struct colander_buffer *bytes,
       struct colander_error *err)
{
    struct colander_slice facts;
    enum colander_code code;

    run->run.writer.status = MHD_HTTP_NO_CONTENT;
    if (run->result.failure.code == COLANDER_OK && run->run.reject_count == 0)
        return COLANDER_OK;
    code = colander_row_builder_finish(run->result.facts, &facts, err);
    return code == COLANDER_OK ? append_failure(run, facts, bytes, err) : code;
}

/* ---------------------------------------------------------------- make --- */

static const struct change change = {
    .command = "load",
    .choices = choices,
    .presets = presets,
    .family = "db",
    .has_body = true,
    .answer = answer,
    .shape = REPLY_INFLUX,
};

static const struct change bucket_change = {
    .command = "load",
    .choices = bucket_choices,
    .presets = presets,
    .family = "bucket",
    .has_body = true,
    .answer = answer,
    .shape = REPLY_INFLUX,
};

enum colander_code
influx_write(struct server *server, struct parameters *parameters,
             struct writer **writer, const char **parameter, size_t *offset,
             struct colander_error *err)
{
    return change_make(&change, server, parameters, writer, parameter, offset,
                       err);
}

enum colander_code
influx_write_bucket(struct server *server, struct parameters *parameters,
                    struct writer **writer, const char **parameter,
                    size_t *offset, struct colander_error *err)
{
    return change_make(&bucket_change, server, parameters, writer, parameter,
                       offset, err);
}
