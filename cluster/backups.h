/*
 * The backups at an address: their names and lists.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_BACKUPS_H
#define CLUSTER_BACKUPS_H

#include "cluster/file_list.h"

#define BACKUPS_FOLDER "backups"
#define BACKUPS_FILES "files"
#define BACKUPS_MAKING "making"

/* An object is collected if no backup has it and it is older than the one. A
 * backup uses what is there if an earlier backup has it, or it is not older
 * than the other. */
#define BACKUPS_COLLECTED_SECONDS (24 * 3600)
#define BACKUPS_REUSED_SECONDS (12 * 3600)

/* Lists the backups, in the order of their numbers. Other objects are left
 * out. */
COLANDER_CHECKED enum colander_code backups_list(struct objects *objects,
                                                 struct object_list *list,
                                                 struct colander_error *err);

/* Returns the number in "backups/NUMBER-ID", or 0 if it is another name. */
uint64_t backups_number(const char *name);

/* Sets *chosen, which the list owns, to backup `number`, or to the newest for
 * 0. */
COLANDER_CHECKED enum colander_code
backups_choose(const struct object_list *backups, uint64_t number,
               const struct object **chosen, struct colander_error *err);

struct content_name backups_name(uint64_t number, uint64_t id);

/* Reads the list of a backup. */
COLANDER_CHECKED enum colander_code backups_read(struct objects *objects,
                                                 const char *name,
                                                 struct file_list *files,
                                                 struct colander_error *err);

#endif
