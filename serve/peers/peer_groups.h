/*
 * Groupings of a peer store: functions of its source (columns/source.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_PEERS_PEER_GROUPS_H
#define SERVE_PEERS_PEER_GROUPS_H

#include "columns/groups.h"

enum colander_code peer_groups_open(void *store, const char *family,
                                    const struct colander_query *query,
                                    struct colander_groups *groups,
                                    void **grouping,
                                    struct colander_error *err);

enum colander_code peer_groups_finish(void *grouping,
                                      struct colander_explain *explain,
                                      struct colander_error *err);

void peer_groups_close(void *grouping);

#endif
