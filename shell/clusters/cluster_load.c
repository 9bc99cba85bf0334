/* See cluster_load.h. SPDX-License-Identifier: MIT */
#include "shell/cluster_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum colander_code
fail_other(const struct cluster_family *family, const char *option,
           struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "--%s is not what family '%s' of the cluster is "
                         "defined with: leave it out, as the definition counts",
                         option, family->name);
}

/* Fails if an option differs from the definition. */
static enum colander_code
check_options(const struct cluster_family *family,
              const struct arguments *arguments,
              const struct load_request *asked, struct colander_error *err)
{
    const char *wanted = family->schema == NULL ? "" : family->schema;
    uint64_t partition_by = family->partition_by;
    bool is_same = asked->key.count == family->key.count;
    enum colander_code code =
        arguments_number(arguments, "partition-by", &partition_by, err);

    for (size_t i = 0; i < asked->key.count && is_same; i++)
        is_same = strcmp(asked->key.paths[i], family->key.items[i]) == 0;
    if (code == COLANDER_OK && asked->key.count > 0 && !is_same)
        code = fail_other(family, "key", err);
    if (code == COLANDER_OK && partition_by != family->partition_by)
        code = fail_other(family, "partition-by", err);
    if (code == COLANDER_OK && asked->schema != NULL &&
        !colander_slice_equal(colander_schema_text(asked->schema),
                              colander_slice_text(wanted)))
        code = fail_other(family, "schema", err);
    return code;
}

static enum colander_code
set_brokers(struct cluster_load *load, const struct cluster *cluster,
            struct broker_options *brokers, struct colander_error *err)
{
    const struct cluster_definition *definition = cluster_definition(cluster);
    enum colander_code code =
        broker_options_add(brokers, &definition->settings, err);

    if (asprintf(&load->topic, "%s/%s", definition->log, load->family.topic) <
        0) {
        load->topic = NULL;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an address");
    }
    brokers->options.address = load->topic;
    return code;
}

enum colander_code
cluster_load_open(struct cluster_load *load, const struct arguments *arguments,
                  struct load_request *asked, struct broker_options *brokers,
                  struct colander_error *err)
{
    enum colander_code code =
        cluster_open(arguments->words[0], &load->cluster, err);

    if (code == COLANDER_OK)
        code = cluster_family(load->cluster, arguments->words[1], &load->family,
                              err);
    if (code == COLANDER_OK)
        code = check_options(&load->family, arguments, asked, err);
    if (code == COLANDER_OK)
        code = family_load_init(&load->rows, &load->family, err);
    if (code == COLANDER_OK)
        code = cluster_family_encode(&load->family, &load->text, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&load->text, "", 1, err);
    if (code == COLANDER_OK)
        code = set_brokers(load, load->cluster, brokers, err);
    asked->options.schema = load->rows.schema;
    asked->options.key = load->rows.options.key;
    asked->options.key_count = load->rows.options.key_count;
    if (code == COLANDER_OK && !arguments_has(arguments, "record-size"))
        asked->options.record_size = load->rows.options.record_size;
    else if (code == COLANDER_OK &&
             asked->options.record_size > load->rows.options.record_size)
        code = fail_other(&load->family, "record-size", err);
    return code;
}

enum colander_code
cluster_load_check(const struct cluster_load *load, uint32_t partition_count,
                   struct colander_error *err)
{
    const struct cluster_family *family = &load->family;

    if (partition_count == family->partition_count)
        return COLANDER_OK;
    return COLANDER_FAIL(
        err, COLANDER_INVALID,
        "topic '%s' has %" PRIu32 " partitions, and family '%s' is defined "
        "with %" PRIu32 ", which nodes read: make it again with as many, or "
        "define another family for it",
        family->topic, partition_count, family->name, family->partition_count);
}

void
cluster_load_release(struct cluster_load *load)
{
    family_load_release(&load->rows);
    cluster_family_release(&load->family);
    colander_buffer_release(&load->text);
    free(load->topic);
    cluster_close(load->cluster);
}
