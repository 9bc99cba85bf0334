/*
 * Registry: the SST files of each family, their filters, and views of them.
 *
 * A *view* is the files of a family at one moment, with the hierarchy over
 * their filters. It never changes, and what it holds stays readable. Callbacks
 * of the engine change the registry under its mutex. A thread that holds the
 * mutex never calls the engine.
 *
 * A file is added before its rows leave the recent rows, and before the files
 * that it replaces are removed. So a view that is taken after the recent rows,
 * both after a snapshot, covers every row of the snapshot (invariant I2).
 *
 * A file is in one of these states. To change its state, another object
 * replaces it, so views keep the old state:
 *     UNSURE   there is no usable filter: the file may contain anything
 *     PENDING  the filter is on disk and was not opened yet
 *     OPEN     its locator can be used; the hierarchy does not have it
 *     LOADED   the hierarchy has its parts
 *
 * Life:   create -> callbacks -> open_end -> views ... -> destroy
 * Memory: files, filters and views are counted
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_REGISTRY_H
#define COLANDER_FILTERS_REGISTRY_H

#include "core/sst.h"
#include "filters/commons.h"
#include "filters/hierarchy.h"
#include "filters/levels.h"
#include "filters/recent.h"
#include "filters/settings.h"

#include <pthread.h>

enum file_state { FILE_UNSURE, FILE_PENDING, FILE_OPEN, FILE_LOADED };

/* What direct reads keep of an SST: its descriptor, opened when a block is read
 * first, and its blocks in the cache. Counted. */
struct sst_descriptor {
    atomic_size_t reference_count;
    atomic_int fd;             /* -1: not open */
    struct registry *registry; /* borrowed */
    uint64_t number;
    uint32_t span_count; /* of its filter, once one was opened */
};

/* An SST file. Never changes, except that tries are counted. */
struct sst_file {
    atomic_size_t reference_count;
    struct family_filters *family;
    uint64_t number;
    uint64_t size;
    uint64_t data_size;   /* of its blocks of data; 0: unknown */
    uint64_t entry_count; /* 0: unknown */
    uint64_t joined_at;   /* snapshots before see no row of the sequence 0 */
    bool is_tag_known;
    uint8_t tag[SST_TAG_SIZE]; /* of the SST; zeros: none */
    int64_t born;              /* seconds of the monotonic clock */
    enum file_state state;
    struct filter_file *filter; /* OPEN and LOADED */
    uint32_t *slots;            /* LOADED: of each part in the hierarchy */
    struct sst_descriptor *descriptor; /* shared by all states of the file */
    atomic_uint tries; /* to rebuild the filter, in any state; a failure
                                 * counts several times */
};

struct file_view {
    atomic_size_t reference_count;
    struct registry *registry;
    struct family_filters *family;
    struct settings *settings;
    struct sst_file **files;
    size_t file_count;
    struct hierarchy_version *version;
    uint32_t slot_count; /* of the version */

    /* Computed once for all finds. */
    uint32_t *slot_files; /* index of the file of each slot, else 0 */
    uint64_t *asides;     /* a bit for each file that the hierarchy does not
                           * cover, */
    uint64_t *wordless;   /* and for each that lacks words */
    uint64_t row_count;   /* approximate */
    bool has_pending;
};

/* The filters of one family. */
struct family_filters {
    uint32_t id;
    struct recent *recent;
    atomic_bool is_recent_all; /* the recent rows have every row that is in no
                                * SST */
    atomic_bool knows_recent_keys;   /* and the keys of deletes in no SST */
    atomic_uint_fast64_t changes;    /* of its files; counted before recent rows
                                    * are removed */
    atomic_uint_fast64_t full_until; /* if memory is full before (clock_us()),
                                      * it is filled fast */

    atomic_uint_fast64_t set_at; /* clock_us() when its settings were changed;
                                      * 0: never */

    /* Under the registry's mutex. */
    struct settings *settings;
    struct hierarchy *hierarchy;
    struct commons *commons; /* borrowed */
    uint64_t memory;         /* bytes of the hierarchy that these know of */
    struct sst_file **files; /* ascending numbers */
    size_t file_count;
    size_t file_capacity;
    struct file_view *view; /* current view; NULL: not created yet */
    struct levels *levels;  /* as of `levels_change`; NULL: not listed yet */
    uint64_t levels_change;
    bool is_refilled;        /* all parts are being added to a new hierarchy */
    uint64_t refilled_bytes; /* their size in the last one, unfolded, */
    uint64_t refilled_folds; /* and how often they were folded there */
    uint64_t *used_slots;
    uint32_t slot_capacity; /* a multiple of 64 */
};

/* A file that is listed, or was removed and is not deleted yet. */
struct known_file {
    uint64_t number;
    struct family_filters *family; /* NULL: it was removed */
    uint64_t size;                 /* then; 0: it was in no family */
    bool is_deleted;               /* kept until opening ends */
};

struct registry {
    pthread_mutex_t mutex;
    struct commons *commons; /* borrowed */
    uint64_t file_ids;       /* what they add to numbers of SST files */
    struct family_filters **families;
    size_t family_count;
    bool is_opening;          /* files may be listed after they were removed */
    struct known_file *known; /* of all families; ascending numbers */
    size_t known_count;
    size_t known_capacity;
    atomic_bool is_blind; /* a file could not be listed: all finds must scan */
};

/* `commons` are borrowed. */
void registry_init(struct registry *registry, struct commons *commons);

/* Requires that all views are released. */
void registry_release(struct registry *registry);

/* Returns the filters of the family, created with default settings if
 * necessary, and a reference to its settings unless `settings` is NULL. Valid
 * as long as the registry. NULL if memory is short. */
struct family_filters *registry_family(struct registry *registry, uint32_t id,
                                       struct settings **settings);

/* Returns a reference. */
struct settings *registry_settings(struct registry *registry,
                                   struct family_filters *family);

struct hierarchy_sizes registry_hierarchy_sizes(struct registry *registry,
                                                struct family_filters *family);

/* Replaces the settings (taken). If they require it, also replaces the
 * hierarchy; then its files must be loaded again. */
COLANDER_CHECKED enum colander_code
registry_set_settings(struct registry *registry, struct family_filters *family,
                      struct settings *settings, struct colander_error *err);

/* Replaces the hierarchies that were folded for files that are gone, as
 * compactions leave them: folded presences stay folded and let through too many
 * parts. Their files become OPEN. Returns whether there was one. Call when all
 * files are loaded, and again when these are. */
bool registry_unfold(struct registry *registry);

/* If filters in memory are more than all stores may have together: folds those
 * of families that have more than their share. */
void registry_shrink(struct registry *registry);

/* Returns the id of an SST file in the commons' cache of rows. */
static inline uint64_t
registry_file_id(const struct registry *registry, uint64_t number)
{
    return registry->file_ids + number;
}

/* --------------------------------------------------------------- files --- */

/* Adds a file. Ignores one that is listed already or was removed. On failure
 * the registry is blind: its views are incomplete from then on. */
COLANDER_CHECKED enum colander_code registry_add(struct registry *registry,
                                                 const struct sst_info *file,
                                                 enum file_state state,
                                                 struct colander_error *err);

/* Removes a file. One that is not listed is fine. */
void registry_remove(struct registry *registry, uint64_t number);

/* Removes a file that was deleted. Returns its size; 0: unknown. */
uint64_t registry_forget(struct registry *registry, uint64_t number);

/* Ends opening: all files that existed then are listed. */
void registry_open_end(struct registry *registry);

/* Returns a reference to the file, or NULL. */
struct sst_file *registry_find(struct registry *registry, uint64_t number);

struct sst_file *sst_file_ref(struct sst_file *file);
void sst_file_unref(struct registry *registry, struct sst_file *file);

/* Replaces `file` by one in another state: PENDING and UNSURE without a filter,
 * OPEN with `filter`, LOADED with `filter` and a presence for each of its
 * parts. Adds a reference to the filter. Changes nothing, and returns NOT_FOUND
 * or NO_MEMORY, if this object is not listed any more or memory is short. */
enum colander_code registry_change(struct registry *registry,
                                   struct sst_file *file, enum file_state state,
                                   struct filter_file *filter,
                                   const struct presence *presences);

/* Returns a reference to the next file after `number` in `state`, of any
 * family, or NULL. */
struct sst_file *registry_next(struct registry *registry, uint64_t number,
                               enum file_state state);

/* Returns the approximate number of rows. */
uint64_t sst_file_rows(const struct sst_file *file);

/* Returns the current time for sst_file.born. */
int64_t registry_clock(void);

/* --------------------------------------------------------------- views --- */

/* Returns a reference to the current view. */
COLANDER_CHECKED enum colander_code registry_view(struct registry *registry,
                                                  struct family_filters *family,
                                                  struct file_view **view,
                                                  struct colander_error *err);

/* NULL is allowed. */
void file_view_release(struct file_view *view);

/* Returns a reference to the levels of the family. They have every file whose
 * flush or joining was reported before. NULL if they cannot be listed. Calls
 * the engine. */
struct levels *registry_levels(struct registry *registry,
                               struct family_filters *family,
                               struct engine *engine,
                               struct engine_family *engine_family,
                               struct levels_memory *memory);

/* Releases the levels of a family that was dropped. */
void registry_drop_levels(struct registry *registry,
                          struct family_filters *family);

#endif
