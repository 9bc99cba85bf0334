/*
 * Shared by the sources of the registry. Every function requires its mutex.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_LIVE_REGISTRY_INSIDE_H
#define COLANDER_FILTERS_LIVE_REGISTRY_INSIDE_H

#include "filters/registry.h"

/* Release a reference. NULL is allowed, except for a file. */
void registry_unref_file(struct sst_file *file);
void registry_unref_view(struct file_view *view);

/* Marks the family as changed: the next view is a new one. */
void registry_touch(struct family_filters *family);

/* Lets the hierarchy grow as far as it may, before a part is added. */
void registry_allow_memory(struct family_filters *family);

/* Tells the commons how large the hierarchy is. */
void registry_count_memory(struct family_filters *family);

/* Removes the parts of a file from the hierarchy. */
void registry_leave_hierarchy(struct family_filters *family,
                              const struct sst_file *file);

/* Returns the same file in another state; NULL if memory is short. */
struct sst_file *registry_derive_file(const struct sst_file *file,
                                      enum file_state state,
                                      struct filter_file *filter,
                                      const struct presence *presences);

/* NULL is allowed. */
void registry_destroy_family(struct family_filters *family);

#endif
