/* See elastic.h. SPDX-License-Identifier: MIT */
#include "serve/elastic.h"
#include "serve/changes_inside.h"
#include "serve/reply.h"

#include <microhttpd.h>
#include <stdlib.h>

/* What only changes how an answer is written, or what is not there. */
static const struct choice choices[] = {
    LOAD_CHOICES,
    {"schema", "--schema", false, false, NULL},
    {"refresh", NULL, false, false, NULL},
    {"timeout", NULL, false, false, NULL},
    {"wait_for_active_shards", NULL, false, false, NULL},
    {"routing", NULL, false, false, NULL},
    {"filter_path", NULL, false, false, NULL},
    {"pretty", NULL, false, false, NULL},
    {"human", NULL, false, false, NULL},
    {"error_trace", NULL, false, false, NULL},
    CHOICES_END,
};

static const struct preset presets[] = {
    {"format", "--format=elasticsearch"},
    {NULL, NULL},
};

/* What was printed is the answer, unless the load has failed. */
static enum colander_code
answer(struct change_run *run, struct colander_buffer *bytes,
       struct colander_error *err)
{
    const struct colander_error *failure = &run->result.failure;
    struct colander_row_builder *builder;
    enum colander_code code;

    if (failure->code == COLANDER_OK)
        return COLANDER_OK;
    builder = colander_row_builder_create();
    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an answer");
    colander_buffer_clear(bytes);
    run->run.writer.status = change_status(run);
    reply_build_foreign(builder, REPLY_ELASTIC, run->run.writer.status,
                        failure->message);
    code = reply_append_built(bytes, builder, err);
    colander_row_builder_destroy(builder);
    return code == COLANDER_OK ? colander_buffer_append(bytes, "\n", 1, err)
                               : code;
}

static const struct change change = {
    .command = "load",
    .choices = choices,
    .presets = presets,
    .has_body = true,
    .prints = true,
    .answer = answer,
    .shape = REPLY_ELASTIC,
};

enum colander_code
elastic_bulk(struct server *server, struct parameters *parameters,
             struct writer **writer, const char **parameter, size_t *offset,
             struct colander_error *err)
{
    return change_make(&change, server, parameters, writer, parameter, offset,
                       err);
}

/* ----------------------------------------------------------- questions --- */

/* The version is that whose _bulk this is. */
#define INFO                                                                   \
    "{\"name\":\"colander\",\"cluster_name\":\"colander\","                    \
    "\"cluster_uuid\":\"colander\",\"version\":{\"number\":\"8.11.0\","        \
    "\"build_flavor\":\"default\",\"distribution\":\"colander\"},"             \
    "\"tagline\":\"You Know, for Search\"}\n"
#define LICENSE                                                                \
    "{\"license\":{\"uid\":\"colander\",\"type\":\"basic\","                   \
    "\"status\":\"active\"}}\n"
#define HEALTH                                                                 \
    "{\"cluster_name\":\"colander\",\"status\":\"green\","                     \
    "\"timed_out\":false}\n"
#define NOT_FOUND                                                              \
    "{\"error\":{\"type\":\"resource_not_found_exception\","                   \
    "\"reason\":\"not found: only _bulk is supported\"},\"status\":404}\n"

struct said {
    struct writer writer; /* first */
    const char *text;
};

static const struct {
    const char *path[2];
    const char *text;
} texts[] = {
    {{NULL, NULL}, INFO},
    {{"_license", NULL}, LICENSE},
    {{"_cat", "health"}, "colander green\n"},
    {{"_cluster", "health"}, HEALTH},
};

static enum colander_code
write_said(struct writer *writer, struct answer *answer,
           struct colander_buffer *bytes, bool *is_end,
           struct colander_error *err)
{
    const struct said *said = (struct said *)writer;

    (void)answer;
    *is_end = true;
    return colander_buffer_append(bytes, said->text, strlen(said->text), err);
}

static enum colander_code
fail_said(struct writer *writer, struct colander_buffer *bytes,
          const struct colander_error *failure)
{
    (void)writer;
    (void)bytes;
    return failure->code;
}

static void
destroy_said(struct writer *writer)
{
    free(writer);
}

static bool
is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

enum colander_code
elastic_ask(struct server *server, struct parameters *parameters,
            struct writer **writer, const char **parameter, size_t *offset,
            struct colander_error *err)
{
    struct said *said = calloc(1, sizeof(*said));

    (void)server;
    *parameter = NULL;
    *offset = 0;
    if (said == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an answer");
    said->writer.write = write_said;
    said->writer.fail = fail_said;
    said->writer.destroy = destroy_said;
    said->writer.content_type = REPLY_JSON;
    said->writer.header = REPLY_PRODUCT;
    said->writer.header_value = REPLY_PRODUCT_VALUE;
    said->writer.status = MHD_HTTP_NOT_FOUND;
    said->text = NOT_FOUND;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!is_same(parameters->path[0], texts[i].path[0]) ||
            !is_same(parameters->path[1], texts[i].path[1]))
            continue;
        said->writer.status = MHD_HTTP_OK;
        said->text = texts[i].text;
    }
    if (strncmp(said->text, "{", 1) != 0)
        said->writer.content_type = "text/plain; charset=utf-8";
    *writer = &said->writer;
    return COLANDER_OK;
}
