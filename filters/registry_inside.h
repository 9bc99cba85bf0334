/*
 * What the files of the registry share. All of it is called under the mutex.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_REGISTRY_INSIDE_H
#define COLANDER_FILTERS_REGISTRY_INSIDE_H

#include "filters/registry.h"

/* Give back what is counted. NULL is allowed, but for a file. */
void registry_unref_file(struct sst_file *file);
void registry_unref_view(struct view *view);
void registry_unref_hierarchy(struct shared_hierarchy *shared);

/* The family has changed: the next view is a new one. */
void registry_touch(struct family_filters *family);

/* Takes the parts of a file out of the hierarchy. */
void registry_leave_hierarchy(struct family_filters *family,
                              const struct sst_file *file);

/* The same file in another state; NULL when memory is short. */
struct sst_file *registry_derive_file(const struct sst_file *file,
                                      enum file_state state,
                                      struct filter *filter,
                                      const struct presence *presences);

/* NULL is allowed. */
void registry_destroy_family(struct family_filters *family);

#endif
