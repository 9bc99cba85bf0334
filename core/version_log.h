/*
 * The MANIFEST, read without RocksDB: which families and which SST files a
 * database has, as far as it can be read.
 *
 * It is a log of edits, each of which adds and removes files. Where one is lost
 * nobody knows which files are the last; what is known even then is the names
 * of families and which files were removed, as no number is used twice.
 *
 * Life:   VERSION_LOG_EMPTY -> read -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_VERSION_LOG_H
#define COLANDER_CORE_VERSION_LOG_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct version_family {
    uint32_t id;
    char *name;          /* of the column family */
    uint64_t log_number; /* logs before it have nothing of the family that is in
                          * no SST */
    bool is_dropped;
};

struct version_table {
    uint64_t number;
    size_t noted_at; /* while it is read: the order of edits */
    uint64_t size;
    uint64_t only_sequence; /* of all that is in it; 0: there are several */
    uint64_t session;       /* of whoever wrote it; 0: not known */
    uint32_t family;
    bool is_live;                    /* false: it was removed */
    struct colander_buffer smallest; /* keys of users */
    struct colander_buffer largest;
};

struct version_log {
    struct version_family *families;
    size_t family_count;
    struct version_table *tables; /* by number, ascending */
    size_t table_count;
    uint32_t family_max; /* ids up to it were given to families */
    bool is_whole;  /* all of it was read: these are all files that there are */
    uint64_t whole; /* bytes up to the first that cannot be read */
};

#define VERSION_LOG_EMPTY                                                      \
    {                                                                          \
        NULL, 0, NULL, 0, 0, false, 0                                          \
    }

/* Reads the MANIFEST of that name. NOT_FOUND, IO or NO_MEMORY; of one that is
 * damaged it is OK. An edit at its end that is not whole counts as not written.
 */
COLANDER_CHECKED enum colander_code
version_log_read(struct version_log *log, int directory, const char *name,
                 struct colander_error *err);

/* The family was dropped, which the MANIFEST does not tell; it need not know
 * it. */
COLANDER_CHECKED enum colander_code
version_log_drop(struct version_log *log, uint32_t id,
                 struct colander_error *err);

void version_log_release(struct version_log *log);

/* NULL where there is none. */
const struct version_family *version_log_family(const struct version_log *log,
                                                uint32_t id);
const struct version_table *version_log_table(const struct version_log *log,
                                              uint64_t number);

#ifdef __cplusplus
}
#endif

#endif
