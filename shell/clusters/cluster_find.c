/* See cluster_find.h. SPDX-License-Identifier: MIT */
#include "shell/cluster_find.h"
#include "shell/cluster_store.h"
#ifdef COLANDER_SERVER
#include "shell/clusters/cluster_nodes.h"
#include "shell/elsewhere.h"
#endif
#include "shell/interrupt.h"

#ifdef COLANDER_SERVER
/* Asks one node after another until one answers. Fails with BUSY if none does;
 * *why then says that none runs, or is NULL, as one does. */
static enum colander_code
ask_nodes(struct session *session, const struct arguments *arguments,
          const struct cluster_definition *cluster, const char **why,
          enum session_exit *status, struct colander_error *err)
{
    struct cluster_nodes *nodes = NULL;
    struct colander_error last = {.code = COLANDER_OK};
    const char *address = NULL;
    bool has_run = false;
    enum colander_code code = cluster_nodes_open(
        cluster, arguments_value(arguments, "settings"), &nodes, err);

    if (code != COLANDER_OK)
        return code;
    do {
        code = cluster_nodes_next(nodes, &address, err);
        if (code != COLANDER_OK || address == NULL)
            break;
        code = elsewhere_run_at(session, arguments, address, status, &last);
        has_run = code == COLANDER_OK;
    } while (code == COLANDER_BUSY);
    *why = cluster_nodes_is_deaf(nodes)    ? "no broker answers, so no node is "
                                             "known"
           : cluster_nodes_is_alive(nodes) ? NULL
                                           : "no node runs";
    cluster_nodes_close(nodes);
    if (has_run || code != COLANDER_OK)
        return code;
    return COLANDER_FAIL(err, COLANDER_BUSY,
                         "nodes of cluster '%s' run, and none can be asked: %s",
                         cluster->name, last.message);
}
#endif

/* Opens the checkpoints, and says what is missing. */
static enum colander_code
open_checkpoints(struct session *session, struct cluster *cluster,
                 const struct arguments *arguments, bool is_whole,
                 const char *why, struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    const char *family =
        is_whole || arguments->word_count < 2 ? NULL : arguments->words[1];
    enum colander_code code;

    interrupt_takes_ends(); /* readers have directories to remove */
    code = cluster_store_open(cluster, arguments->words[0], family,
                              &session->checkpoints, err);
    if (code != COLANDER_OK)
        return code;
    session->store = cluster_store_get(session->checkpoints);
    session->path = arguments->words[0];
    session->is_read_only = true;
    code = cluster_store_describe(session->checkpoints, &text, err);
    if (code == COLANDER_OK)
        session_complain(session, SESSION_FINE,
                         "%s: rows are those of the checkpoints of cluster "
                         "'%s', without what the log has of %.*s",
                         why, cluster_definition(cluster)->name, (int)text.size,
                         (const char *)text.data);
    colander_buffer_release(&text);
    return code;
}

enum cluster_find
cluster_find(struct session *session, const struct arguments *arguments,
             bool is_whole, enum session_exit *status)
{
    struct cluster *cluster = NULL;
    const char *why = "no node is asked";
    struct colander_error err;
    enum colander_code code = cluster_open(arguments->words[0], &cluster, &err);

    if (code == COLANDER_NOT_FOUND)
        return CLUSTER_FIND_NONE;
#ifdef COLANDER_SERVER
    if (code == COLANDER_OK && !arguments_has(arguments, "no-share")) {
        code = ask_nodes(session, arguments, cluster_definition(cluster), &why,
                         status, &err);
        if (code == COLANDER_OK) {
            cluster_close(cluster);
            return CLUSTER_FIND_RAN;
        }
    }
#endif
    if (code == COLANDER_OK || (code == COLANDER_BUSY && why != NULL))
        code =
            open_checkpoints(session, cluster, arguments, is_whole, why, &err);
    cluster_close(cluster);
    if (code == COLANDER_OK)
        return CLUSTER_FIND_OPEN;
    *status = session_fail(session, &err);
    if (session->checkpoints != NULL)
        *status = session_finish(session, *status);
    return CLUSTER_FIND_RAN;
}
