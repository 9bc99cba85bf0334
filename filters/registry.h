/*
 * Registry: which SST files each family has, the filters of those files, and
 * views of them.
 *
 * A *view* is a family's files at one moment, with the hierarchy over their
 * filters: it does not change, and what it holds stays readable. Callbacks of
 * the engine change the registry; they take its mutex, and whoever holds that
 * never calls the engine.
 *
 * Files come before their rows leave the recent rows, and before the files that
 * they replace go. So a view that is taken after the recent rows, and both
 * after a snapshot, cover every row of the snapshot (invariant I2).
 *
 * A file is known in one of these states, and goes from one to the next by
 * being replaced, so that a view sees it as it was:
 *     UNSURE   no usable filter: every question says maybe
 *     PENDING  a filter is on disk, and has not been opened
 *     OPEN     its locator can be asked; the hierarchy does not know it
 *     LOADED   the hierarchy knows its parts
 *
 * Life:   create -> callbacks -> open_end -> views ... -> destroy
 * Memory: files, filters and views are counted
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_REGISTRY_H
#define COLANDER_FILTERS_REGISTRY_H

#include "core/sst.h"
#include "filters/hierarchy.h"
#include "filters/recent.h"
#include "filters/settings.h"

#include <pthread.h>

enum file_state { FILE_UNSURE, FILE_PENDING, FILE_OPEN, FILE_LOADED };

/* A filter file that is opened. */
struct filter {
    struct filter_file *file;
    struct block_cache *cache;
    atomic_size_t reference_count;
};

/* Takes the file, also on failure: NULL when memory is short. */
struct filter *filter_create(struct filter_file *file,
                             struct block_cache *cache);
struct filter *filter_ref(struct filter *filter);
void filter_unref(struct filter *filter);

/* An SST file, unchanging. */
struct sst_file {
    atomic_size_t reference_count;
    struct family_filters *family;
    uint64_t number;
    uint64_t size;
    uint64_t entry_count; /* 0: not known */
    bool is_tag_known;
    uint8_t tag[SST_TAG_SIZE]; /* of the SST; zeros: it has none */
    int64_t born;              /* second of a clock that only goes forward */
    enum file_state state;
    struct filter *filter; /* OPEN and LOADED */
    uint32_t *slots;       /* LOADED: of its parts in the hierarchy */
};

/* A hierarchy, counted: settings may replace it while views have editions. */
struct shared_hierarchy {
    struct hierarchy *hierarchy;
    size_t reference_count; /* under the registry's mutex */
};

struct view {
    atomic_size_t reference_count;
    struct registry *registry;
    struct family_filters *family;
    struct settings *settings;
    struct sst_file **files;
    size_t file_count;
    struct shared_hierarchy *hierarchy;
    struct hierarchy_edition *edition;
    uint32_t slot_count; /* of the edition */

    /* Known of the files as a whole. */
    uint32_t *slot_files; /* by slot, the index of the file; else 0 */
    uint64_t *asides;    /* a bit for each: the hierarchy does not tell of it */
    uint64_t row_count;  /* about */
    uint64_t valid_from; /* snapshots before: some say maybe */
    bool has_pending;
};

/* The filters of one family. */
struct family_filters {
    uint32_t id;
    struct recent *recent;
    atomic_bool is_recent_all; /* every row that is in no SST was noted */

    /* under the registry's mutex */
    struct settings *settings;
    struct shared_hierarchy *hierarchy;
    struct sst_file **files;
    size_t file_count;
    size_t file_capacity;
    struct view *view;       /* NULL: to be made anew */
    bool is_refilled;        /* all parts go into the hierarchy anew */
    uint64_t refilled_bytes; /* what they came to then, unfolded, */
    uint64_t refilled_folds; /* and how often they were folded */
    uint64_t *used_slots;
    uint32_t slot_capacity; /* a multiple of 64 */
};

/* A file that is in no view any more. */
struct gone_file {
    uint64_t number;
    uint64_t size; /* 0: it was in none */
    bool is_deleted;
};

struct registry {
    pthread_mutex_t mutex;
    struct block_cache *cache;
    struct family_filters **families;
    size_t family_count;
    bool is_opening;        /* files may be listed that are gone already */
    struct gone_file *gone; /* while opening, and until they are deleted */
    size_t gone_count;
    size_t gone_capacity;
    atomic_bool is_blind; /* a file could not be listed: finds must scan */
};

COLANDER_CHECKED enum colander_code registry_init(struct registry *registry,
                                                  size_t cache_size,
                                                  struct colander_error *err);

/* Every view is released. */
void registry_release(struct registry *registry);

/* The filters of the family, made when there are none, with the defaults. They
 * live as long as the registry. NULL when memory is short. */
struct family_filters *registry_family(struct registry *registry, uint32_t id);

/* The same, with its settings, counted for the caller. */
struct family_filters *registry_family_settings(struct registry *registry,
                                                uint32_t id,
                                                struct settings **settings);

/* Counted for the caller. */
struct settings *registry_settings(struct registry *registry,
                                   struct family_filters *family);

struct hierarchy_sizes registry_hierarchy_sizes(struct registry *registry,
                                                struct family_filters *family);

/* Replaces the settings (taken); the hierarchy is made anew when it must be,
 * and its files are to be loaded again. */
COLANDER_CHECKED enum colander_code
registry_set_settings(struct registry *registry, struct family_filters *family,
                      struct settings *settings, struct colander_error *err);

/*
 * Makes those hierarchies anew that were folded for files that are gone, as
 * compactions leave them: what was folded stays so, and finds would look into
 * many parts in vain. Their files become OPEN. To be called when all files are
 * loaded, and again when those are; says whether there was one.
 */
bool registry_unfold(struct registry *registry);

/* --------------------------------------------------------------- files --- */

/* Adds a file. One that is there already, or gone already, is left alone. On
 * failure the registry is blind: no view says all from then on. */
COLANDER_CHECKED enum colander_code registry_add(struct registry *registry,
                                                 const struct sst_info *file,
                                                 enum file_state state,
                                                 struct colander_error *err);

/* Removes a file; one that is not there is fine. */
void registry_remove(struct registry *registry, uint64_t number);

/* The same, once it is deleted. Gives its size; 0: that is not known. */
uint64_t registry_forget(struct registry *registry, uint64_t number);

/* All files were listed that were there when the store was opened. */
void registry_open_end(struct registry *registry);

/* The file, counted; NULL: it is not there. */
struct sst_file *registry_find(struct registry *registry, uint64_t number);

/* Whether this very file, in this state, is there now. */
bool registry_has(struct registry *registry, const struct sst_file *file);

struct sst_file *sst_file_ref(struct sst_file *file);
void sst_file_unref(struct registry *registry, struct sst_file *file);

/*
 * Replaces `file` by one of another state: PENDING and UNSURE without a filter,
 * OPEN with `filter`, LOADED with `filter` and a presence for each of its
 * parts. The filter is counted. False: the file is not what it was any more, or
 * memory is short, and nothing was changed.
 */
bool registry_change(struct registry *registry, struct sst_file *file,
                     enum file_state state, struct filter *filter,
                     const struct presence *presences);

/* The next file after `number` that is in `state`, of any family, or NULL.
 * Counted. */
struct sst_file *registry_next(struct registry *registry, uint64_t number,
                               enum file_state state);

/* How many rows a file has, about. */
uint64_t sst_file_rows(const struct sst_file *file);

/* Seconds on the clock of sst_file.born. */
int64_t registry_clock(void);

/* --------------------------------------------------------------- views --- */

/* The view of now, counted. Release it. */
COLANDER_CHECKED enum colander_code registry_view(struct registry *registry,
                                                  struct family_filters *family,
                                                  struct view **view,
                                                  struct colander_error *err);

/* NULL is allowed. */
void view_release(struct view *view);

#endif
