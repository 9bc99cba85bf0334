/* See facts.h. SPDX-License-Identifier: MIT */
#include "serve/facts.h"
#include "serve/parameters.h"
#include "serve/reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct facts;

typedef enum colander_code append_facts(const struct facts *facts,
                                        struct colander_buffer *bytes,
                                        struct colander_error *err);

/* A writer that appends all at once. */
struct facts {
    struct writer writer; /* first */
    struct server *server;
    append_facts *append;
    bool has_times; /* of families: the oldest and the newest */
};

static enum colander_code
write_facts(struct writer *writer, struct answer *answer,
            struct colander_buffer *bytes, bool *is_end,
            struct colander_error *err)
{
    struct facts *facts = (struct facts *)writer;

    (void)answer;
    *is_end = true;
    return facts->append(facts, bytes, err);
}

/* Facts come in one step, so they fail before they begin. */
static enum colander_code
fail_facts(struct writer *writer, struct colander_buffer *bytes,
           const struct colander_error *failure)
{
    (void)writer;
    (void)bytes;
    return failure->code;
}

static void
destroy_facts(struct writer *writer)
{
    free(writer);
}

static append_facts append_families;

static enum colander_code
make(struct server *server, const struct parameters *parameters,
     append_facts *append, const char *content_type, struct writer **writer,
     const char **parameter, struct colander_error *err)
{
    static const char *const names[] = {"timeout", NULL};
    static const char *const family_names[] = {"timeout", "times", NULL};
    const bool is_families = append == append_families;
    enum colander_code code = parameters_check(
        parameters, is_families ? family_names : names, 2, parameter, err);
    struct facts *facts;
    bool has_times = false;

    if (code == COLANDER_OK && is_families) {
        *parameter = "times";
        code = parameters_flag(parameters, *parameter, &has_times, err);
    }
    if (code != COLANDER_OK)
        return code;
    facts = calloc(1, sizeof(*facts));
    if (facts == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an answer");
    facts->writer.write = write_facts;
    facts->writer.fail = fail_facts;
    facts->writer.destroy = destroy_facts;
    facts->writer.content_type = content_type;
    facts->server = server;
    facts->append = append;
    facts->has_times = has_times;
    *writer = &facts->writer;
    return COLANDER_OK;
}

/* ------------------------------------------------------------- families --- */

/* Called for each family. */
typedef enum colander_code
visit_family(void *context, const char *name, struct colander_family *family,
             const struct colander_family_sizes *sizes,
             struct colander_error *err);

/* A family that is dropped meanwhile is left out. */
static enum colander_code
visit_families(struct colander_store *store, visit_family *visit, void *context,
               struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    enum colander_code code = colander_store_families(store, &names, err);

    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++) {
        struct colander_family *family = NULL;
        struct colander_family_sizes sizes;

        code = colander_family_open(store, names.names[i], &family, err);
        if (code == COLANDER_OK && colander_family_exists(family)) {
            code = colander_family_sizes(family, &sizes, err);
            if (code == COLANDER_OK)
                code = visit(context, names.names[i], family, &sizes, err);
            if (code == COLANDER_DROPPED)
                code = COLANDER_OK;
        }
        colander_family_close(family);
    }
    colander_names_release(&names);
    return code;
}

static const struct {
    const char *name;
    const char *help; /* of the metric */
    size_t offset;
} sizes_of_family[] = {
    {"rows", "Rows, approximately.",
     offsetof(struct colander_family_sizes, key_count)},
    {"sst_files", "SST files.",
     offsetof(struct colander_family_sizes, sst_count)},
    {"sst_bytes", "Bytes of SST files.",
     offsetof(struct colander_family_sizes, sst_size)},
    {"unflushed_bytes", "Bytes in memory of rows in no SST file yet.",
     offsetof(struct colander_family_sizes, unflushed_size)},
};

#define SIZE_COUNT (sizeof(sizes_of_family) / sizeof(sizes_of_family[0]))

static uint64_t
size_of(const struct colander_family_sizes *sizes, size_t index)
{
    uint64_t size;

    memcpy(&size, (const char *)sizes + sizes_of_family[index].offset,
           sizeof(size));
    return size;
}

/* ----------------------------------------------------------------- JSON --- */

/* Appends what was built as a line, unless `code` is a failure. Destroys the
 * builder. */
static enum colander_code
finish_line(struct colander_row_builder *builder, enum colander_code code,
            struct colander_buffer *bytes, struct colander_error *err)
{
    if (code == COLANDER_OK)
        code = reply_append_built(bytes, builder, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, "\n", 1, err);
    colander_row_builder_destroy(builder);
    return code;
}

static struct colander_row_builder *
begin_line(struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();

    if (builder == NULL)
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    return builder;
}

static enum colander_code
append_health(const struct facts *facts, struct colander_buffer *bytes,
              struct colander_error *err)
{
    struct colander_row_builder *builder = begin_line(err);

    (void)facts;
    if (builder == NULL)
        return COLANDER_NO_MEMORY;
    colander_row_builder_add(builder, "status", colander_text("ok"));
    return finish_line(builder, COLANDER_OK, bytes, err);
}

/* What families are added to. */
struct list {
    struct colander_row_builder *builder;
    bool has_times;
};

/* The time column of a family, and the oldest and newest time in it. */
struct times {
    struct colander_buffer column; /* empty: there is none */
    struct colander_value oldest;
    struct colander_value newest;
    bool found;
};

static enum colander_code
read_times(const struct list *list, struct colander_family *family,
           struct times *times, struct colander_error *err)
{
    bool found = false;
    enum colander_code code =
        colander_family_time_column(family, &times->column, &found, err);

    if (!found)
        colander_buffer_clear(&times->column);
    if (code != COLANDER_OK || !found || !list->has_times)
        return code;
    return colander_family_time_range(family, (const char *)times->column.data,
                                      &times->oldest, &times->newest,
                                      &times->found, err);
}

static enum colander_code
add_family(void *context, const char *name, struct colander_family *family,
           const struct colander_family_sizes *sizes,
           struct colander_error *err)
{
    const struct list *list = context;
    struct colander_row_builder *builder = list->builder;
    struct times times = {.column = COLANDER_BUFFER_EMPTY};
    enum colander_code code = read_times(list, family, &times, err);

    if (code == COLANDER_OK) {
        colander_row_builder_begin_map(builder, NULL);
        colander_row_builder_add(builder, "name", colander_text(name));
        for (size_t i = 0; i < SIZE_COUNT; i++)
            colander_row_builder_add(builder, sizes_of_family[i].name,
                                     colander_unsigned(size_of(sizes, i)));
        if (times.column.size > 0)
            colander_row_builder_add(
                builder, "time_column",
                colander_text((const char *)times.column.data));
        if (times.found) {
            colander_row_builder_add(builder, "oldest", times.oldest);
            colander_row_builder_add(builder, "newest", times.newest);
        }
        colander_row_builder_end(builder);
    }
    colander_buffer_release(&times.column);
    return code;
}

static enum colander_code
append_families(const struct facts *facts, struct colander_buffer *bytes,
                struct colander_error *err)
{
    struct list list = {begin_line(err), facts->has_times};
    enum colander_code code;

    if (list.builder == NULL)
        return COLANDER_NO_MEMORY;
    colander_row_builder_begin_array(list.builder, "families");
    code = visit_families(facts->server->store, add_family, &list, err);
    colander_row_builder_end(list.builder);
    return finish_line(list.builder, code, bytes, err);
}

static enum colander_code
append_nodes(const struct facts *facts, struct colander_buffer *bytes,
             struct colander_error *err)
{
    const struct server_options *options = &facts->server->options;
    struct colander_row_builder *builder = begin_line(err);
    enum colander_code code = COLANDER_OK;

    if (builder == NULL)
        return COLANDER_NO_MEMORY;
    if (options->describe_cluster != NULL) {
        code = options->describe_cluster(options->parts_context, builder, err);
    } else {
        colander_row_builder_begin_array(builder, "nodes");
        colander_row_builder_end(builder);
    }
    return finish_line(builder, code, bytes, err);
}

struct sums {
    uint64_t family_count;
    uint64_t sizes[SIZE_COUNT];
};

static enum colander_code
add_sizes(void *context, const char *name, struct colander_family *family,
          const struct colander_family_sizes *sizes, struct colander_error *err)
{
    struct sums *sums = context;

    (void)name;
    (void)family;
    (void)err;
    sums->family_count++;
    for (size_t i = 0; i < SIZE_COUNT; i++)
        sums->sizes[i] += size_of(sizes, i);
    return COLANDER_OK;
}

static uint32_t
answer_count(struct server *server)
{
    uint32_t count;

    pthread_mutex_lock(&server->lock);
    count = server->answer_count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static enum colander_code
append_stats(const struct facts *facts, struct colander_buffer *bytes,
             struct colander_error *err)
{
    struct colander_row_builder *builder = begin_line(err);
    struct server *server = facts->server;
    struct sums sums = {0, {0}};
    uint64_t request_count = 0;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_NO_MEMORY;
    for (size_t i = 1; i < SERVER_STATUS_MAX; i++)
        request_count += atomic_load(&server->statuses[i]);
    colander_row_builder_add(builder, "version",
                             colander_text(colander_version()));
    colander_row_builder_add(
        builder, "read_only",
        colander_boolean(server->options.read_only != NULL));
    colander_row_builder_add(builder, "uptime_seconds",
                             colander_integer(time(NULL) - server->start));
    colander_row_builder_add(
        builder, "connections",
        colander_unsigned(visitors_count(server->visitors)));
    colander_row_builder_add(builder, "answers",
                             colander_unsigned(answer_count(server)));
    colander_row_builder_add(builder, "requests",
                             colander_unsigned(request_count));
    code = visit_families(server->store, add_sizes, &sums, err);
    colander_row_builder_add(builder, "families",
                             colander_unsigned(sums.family_count));
    for (size_t i = 0; i < SIZE_COUNT; i++)
        colander_row_builder_add(builder, sizes_of_family[i].name,
                                 colander_unsigned(sums.sizes[i]));
    return finish_line(builder, code, bytes, err);
}

/* -------------------------------------------------------------- metrics --- */

/* Text that grows; the first failure is kept. */
struct text {
    struct colander_buffer *bytes;
    enum colander_code code;
    struct colander_error *err;
    size_t metric;    /* of sizes_of_family */
    const char *name; /* of the last one of a node; NULL: none */
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *text, const char *format, ...)
{
    char line[512];
    va_list list;
    int size;

    va_start(list, format);
    size = vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    if (text->code == COLANDER_OK && size > 0)
        text->code =
            colander_buffer_append(text->bytes, line, (size_t)size, text->err);
}

static void
add_head(struct text *text, const char *name, const char *type,
         const char *help)
{
    add(text, "# HELP colander_%s %s\n# TYPE colander_%s %s\n", name, help,
        name, type);
}

static void
add_metric(struct text *text, const char *name, const char *type,
           const char *help, uint64_t number)
{
    add_head(text, name, type, help);
    add(text, "colander_%s %" PRIu64 "\n", name, number);
}

/* Adds the value of a label, between its quotes. */
static void
add_label(struct text *text, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            add(text, "\\%c", *value);
        else
            add(text, "%c", *value);
    }
}

static enum colander_code
add_family_metric(void *context, const char *name,
                  struct colander_family *family,
                  const struct colander_family_sizes *sizes,
                  struct colander_error *err)
{
    struct text *text = context;

    (void)family;
    (void)err;
    add(text, "colander_family_%s{family=\"",
        sizes_of_family[text->metric].name);
    add_label(text, name);
    add(text, "\"} %" PRIu64 "\n", size_of(sizes, text->metric));
    return text->code;
}

static void
add_server_metrics(struct text *text, struct server *server)
{
    add_head(text, "info", "gauge", "The version that serves the store.");
    add(text, "colander_info{version=\"%s\"} 1\n", colander_version());
    add_metric(text, "start_time_seconds", "gauge",
               "When the server started, in seconds since 1970.",
               (uint64_t)server->start);
    add_metric(text, "connections", "gauge", "Connections that are open.",
               visitors_count(server->visitors));
    add_metric(text, "answers", "gauge", "Answers under way.",
               answer_count(server));
    add_metric(text, "rows_total", "counter", "Rows in answers.",
               atomic_load(&server->row_count));
    add_metric(text, "loads_total", "counter", "Loads that have ended.",
               atomic_load(&server->loads_ended));
    add_metric(text, "loaded_rows_total", "counter", "Rows that loads wrote.",
               atomic_load(&server->loaded_row_count));
    add_metric(text, "rejected_records_total", "counter",
               "Records that loads rejected.",
               atomic_load(&server->rejected_count));
    if (server->log != NULL)
        add_metric(text, "log_lines_dropped_total", "counter",
                   "Lines of the log of requests that were not written.",
                   request_log_dropped(server->log));
    add_head(text, "requests_total", "counter", "Requests, by their status.");
    for (size_t i = 1; i < SERVER_STATUS_MAX; i++) {
        const uint64_t count = atomic_load(&server->statuses[i]);

        if (count > 0)
            add(text, "colander_requests_total{status=\"%zu\"} %" PRIu64 "\n",
                i, count);
    }
}

/* Adds a metric of a node, with a head if its name is another one. */
static void
add_node_metric(void *context, const struct server_metric *metric)
{
    struct text *text = context;

    if (text->name == NULL || strcmp(text->name, metric->name) != 0)
        add_head(text, metric->name, "gauge", metric->help);
    text->name = metric->name;
    add(text, "colander_%s", metric->name);
    if (metric->family != NULL) {
        add(text, "{family=\"");
        add_label(text, metric->family);
        add(text, "\",partition=\"%" PRIu32 "\"}", metric->partition);
    }
    add(text, " %" PRId64 "\n", metric->value);
}

static enum colander_code
append_metrics(const struct facts *facts, struct colander_buffer *bytes,
               struct colander_error *err)
{
    const struct server_options *options = &facts->server->options;
    struct text text = {bytes, COLANDER_OK, err, 0, NULL};
    enum colander_code code;

    add_server_metrics(&text, facts->server);
    if (options->measure != NULL) {
        code = options->measure(options->parts_context, add_node_metric, &text,
                                err);
        text.code = text.code == COLANDER_OK ? code : text.code;
    }
    for (; text.metric < SIZE_COUNT && text.code == COLANDER_OK;
         text.metric++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "family_%s",
                       sizes_of_family[text.metric].name);
        add_head(&text, name, "gauge", sizes_of_family[text.metric].help);
        if (text.code == COLANDER_OK)
            text.code = visit_families(facts->server->store, add_family_metric,
                                       &text, err);
    }
    return text.code;
}

/* ------------------------------------------------------------------ all --- */

enum colander_code
facts_health(struct server *server, struct parameters *parameters,
             struct writer **writer, const char **parameter, size_t *offset,
             struct colander_error *err)
{
    (void)offset;
    return make(server, parameters, append_health, REPLY_JSON, writer,
                parameter, err);
}

enum colander_code
facts_families(struct server *server, struct parameters *parameters,
               struct writer **writer, const char **parameter, size_t *offset,
               struct colander_error *err)
{
    (void)offset;
    return make(server, parameters, append_families, REPLY_JSON, writer,
                parameter, err);
}

enum colander_code
facts_nodes(struct server *server, struct parameters *parameters,
            struct writer **writer, const char **parameter, size_t *offset,
            struct colander_error *err)
{
    (void)offset;
    return make(server, parameters, append_nodes, REPLY_JSON, writer, parameter,
                err);
}

enum colander_code
facts_stats(struct server *server, struct parameters *parameters,
            struct writer **writer, const char **parameter, size_t *offset,
            struct colander_error *err)
{
    (void)offset;
    return make(server, parameters, append_stats, REPLY_JSON, writer, parameter,
                err);
}

enum colander_code
facts_metrics(struct server *server, struct parameters *parameters,
              struct writer **writer, const char **parameter, size_t *offset,
              struct colander_error *err)
{
    (void)offset;
    return make(server, parameters, append_metrics,
                "text/plain; version=0.0.4; charset=utf-8", writer, parameter,
                err);
}
