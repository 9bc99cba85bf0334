/*
 * The list of commands, one file each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"

extern const struct command command_load;
extern const struct command command_follow;
extern const struct command command_find;
extern const struct command command_group;
extern const struct command command_get;
extern const struct command command_put;
extern const struct command command_delete;
extern const struct command command_update;
extern const struct command command_retain;
extern const struct command command_export;
extern const struct command command_drop;
extern const struct command command_rename;
extern const struct command command_copy;
extern const struct command command_families;
extern const struct command command_columns;
extern const struct command command_stats;
extern const struct command command_refilter;
extern const struct command command_check;
extern const struct command command_backup;
extern const struct command command_backups;
extern const struct command command_cluster;
extern const struct command command_restore;
extern const struct command command_salvage;
extern const struct command command_serve;
extern const struct command command_shell;
extern const struct command command_demo;
extern const struct command command_completion;

const struct command *const commands_all[] = {
    &command_load,
#ifdef COLANDER_CLUSTER
    &command_follow,
#endif
    &command_find,
    &command_group,
    &command_get,
    &command_export,
    &command_put,
    &command_delete,
    &command_update,
    &command_retain,
    &command_drop,
    &command_rename,
    &command_copy,
    &command_families,
    &command_columns,
    &command_stats,
#ifdef COLANDER_FILTERS
    &command_refilter,
#endif
    &command_check,
    &command_backup,
#ifdef COLANDER_CLUSTER
    &command_backups,
#endif
    &command_restore,
    &command_salvage,
#ifdef COLANDER_CLUSTER
    &command_cluster,
#endif
#ifdef COLANDER_SERVER
    &command_serve,
#endif
    &command_shell,
    &command_demo,
    &command_completion,
    &command_help,
    NULL,
};
