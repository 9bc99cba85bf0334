/*
 * The bridge, from the inside: the C++ behind the engine of core.h, and the
 * only code that knows RocksDB.
 *
 *     bridge_open.cc      a store opened, described and closed
 *     bridge_families.cc  families made, listed, measured and dropped
 *     bridge_data.cc      snapshots, reads and writes
 *     bridge_sst.cc       SST files one by one, and the store's own records
 *     bridge_live.cc      all files of one moment, and backups of them
 *     bridge_marks.cc     small values beside the rows of a family
 *     bridge_events.cc    what RocksDB does with SST files, told to an observer
 *     bridge_bulk.cc      SST files written beside the database, that join it
 *     bridge_files.cc     the file system that RocksDB sees
 *     bridge_faults.cc    what a disk that fails stops
 *
 * Every RocksDB handle is owned here, and every exception is caught at the
 * border (guard): callers see codes and sentences.
 *
 * Families: a user's family `name` is the column family "family/name"; the
 * column family "default" stays free for the store's own records. The engine
 * owns one object per live family, and references are counted; a dropped
 * family leaves the map at once and lives until its last reference goes.
 *
 * Locks, in the order in which they are taken:
 *     change_mutex    held by who creates or drops a family
 *     flush_lock      of a family: shared by flushes and compactions that
 *                     somebody asked for, taken alone by a drop
 *     writes_lock     shared by writes, taken alone by a drop, while the files
 *                     of a bulk join their family, and for a backup's moment
 *     snapshots_lock  shared by who takes a snapshot, taken alone while files
 *                     join: RocksDB may show them to snapshots of meanwhile
 *     families_mutex  guards the map of families and all reference counts;
 *                     never held while RocksDB is called
 * A drop goes alone because one write, flush or compaction of a column family
 * that is dropped meanwhile stops all later writes of the whole database.
 * RocksDB's callbacks (bridge_events.cc) take families_mutex, and no other.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BRIDGE_H
#define COLANDER_CORE_BRIDGE_H

#include "core/bridge_jobs.h"
#include "core/core.h"
#include "core/directory.h"
#include "core/logs.h"
#include "core/sst.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <pthread.h>

/* ------------------------------------------------------------- locks --- */

/* Shared, or taken alone: and then newcomers wait, while std::shared_mutex
 * would let them go before. */
class SharedLock
{
  public:
    SharedLock()
    {
        pthread_rwlockattr_t attributes;

        pthread_rwlockattr_init(&attributes);
        pthread_rwlockattr_setkind_np(
            &attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&lock_, &attributes);
        pthread_rwlockattr_destroy(&attributes);
    }

    SharedLock(const SharedLock &) = delete;
    SharedLock &operator=(const SharedLock &) = delete;

    ~SharedLock()
    {
        pthread_rwlock_destroy(&lock_);
    }

    void
    lock()
    {
        pthread_rwlock_wrlock(&lock_);
    }

    void
    unlock()
    {
        pthread_rwlock_unlock(&lock_);
    }

    void
    lock_shared()
    {
        pthread_rwlock_rdlock(&lock_);
    }

    void
    unlock_shared()
    {
        pthread_rwlock_unlock(&lock_);
    }

  private:
    pthread_rwlock_t lock_;
};

/* -------------------------------------------------------------- errors --- */

inline enum colander_code
code_of(const rocksdb::Status &status)
{
    if (status.ok())
        return COLANDER_OK;
    if (status.IsCorruption())
        return COLANDER_CORRUPT;
    if (status.IsMemoryLimit())
        return COLANDER_NO_MEMORY;
    if (status.IsColumnFamilyDropped())
        return COLANDER_DROPPED;
    return COLANDER_IO;
}

inline enum colander_code
fail_status(struct colander_error *err, const rocksdb::Status &status,
            const char *what)
{
    return COLANDER_FAIL(err, code_of(status), "cannot %s: %s", what,
                         status.ToString().c_str());
}

/* Runs `body`, and turns what it throws into an error. */
template <typename Body>
enum colander_code
guard(struct colander_error *err, const char *what, Body body) noexcept
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot %s: no memory",
                             what);
    } catch (const std::exception &e) {
        return COLANDER_FAIL(err, COLANDER_IO, "cannot %s: %s", what, e.what());
    } catch (...) {
        return COLANDER_FAIL(err, COLANDER_IO, "cannot %s: unknown exception",
                             what);
    }
}

inline rocksdb::Slice
to_rocksdb(struct colander_slice slice)
{
    return rocksdb::Slice(reinterpret_cast<const char *>(slice.data),
                          slice.size);
}

inline struct colander_slice
from_rocksdb(const rocksdb::Slice &slice)
{
    return colander_slice_of(slice.data(), slice.size());
}

/* --------------------------------------------------------------- types --- */

class Observed; /* the observer, and what is being written for it */

struct colander_engine_family {
    struct colander_engine *engine;
    std::string name;
    /* Shared with a callback that looks at the family, and may outlive it. */
    std::shared_ptr<rocksdb::ColumnFamilyHandle> handle;
    size_t reference_count = 0; /* under families_mutex */
    std::atomic<bool> is_dropped{false};
    SharedLock flush_lock;
};

struct colander_engine {
    std::string path;
    struct colander_recovery recovery = {};
    struct directory directory = DIRECTORY_CLOSED;
    struct colander_options options = {};
    std::shared_ptr<struct ledger> ledger; /* the files of `env` have it, too */
    std::shared_ptr<Jobs> jobs = std::make_shared<Jobs>(); /* of `env` */
    std::unique_ptr<rocksdb::Env> env;
    rocksdb::Options rocksdb_options; /* see family_options, too */
    std::unique_ptr<rocksdb::DB> db;
    std::unique_ptr<rocksdb::ColumnFamilyHandle> default_handle;
    std::shared_ptr<Observed> observed; /* empty: nobody observes */

    std::mutex change_mutex;
    std::mutex families_mutex;
    std::map<std::string, std::unique_ptr<colander_engine_family>> families;
    size_t family_references = 0;         /* of handles and cursors */
    std::atomic<size_t> other_handles{0}; /* batches, snapshots and SSTs */

    SharedLock writes_lock;
    SharedLock snapshots_lock;

    std::atomic<bool> is_stopped{false}; /* see check_writable */
    std::string stop_cause;              /* both set before it, and once */
    enum colander_code stop_code = COLANDER_OK;

    ~colander_engine();

    bool
    is_read_only() const
    {
        return options.mode == COLANDER_OPEN_READ_ONLY;
    }
};

struct colander_snapshot {
    struct colander_engine *engine;
    const rocksdb::Snapshot *snapshot;
};

struct colander_engine_rows {
    static constexpr size_t few = 8; /* need no memory of their own */

    rocksdb::PinnableSlice few_values[few];
    bool few_found[few];
    std::vector<rocksdb::PinnableSlice> many_values;
    std::unique_ptr<bool[]> many_found;
    rocksdb::PinnableSlice *values = few_values; /* or many_values */
    bool *found = few_found;
    size_t count = 0;      /* read */
    size_t block_size = 0; /* of the engine's SST files */

    void reset(size_t size);
};

struct colander_engine_cursor {
    struct colander_engine_family *family;
    std::string from;
    std::string until;
    rocksdb::Slice lower;
    rocksdb::Slice upper;
    std::unique_ptr<rocksdb::Iterator> iterator;
    bool is_reverse;
    bool is_started;
};

struct colander_engine_batch {
    struct colander_engine *engine;
    std::unique_ptr<rocksdb::WriteBatch> plain;
    std::unique_ptr<rocksdb::WriteBatchWithIndex> indexed;
    /* Each family in it, with a reference; the last one used stands last. */
    std::vector<struct colander_engine_family *> families;

    rocksdb::WriteBatchBase *
    base() const
    {
        if (indexed)
            return indexed.get();
        return plain.get();
    }
};

/* ------------------------------------------------------------ families --- */

/* Counts a reference to the family. */
void family_ref(struct colander_engine_family *family);

/* Gives it back; the last one to a dropped family frees it. */
void family_unref(struct colander_engine_family *family);

/* Takes the handle of a column family into the engine: `default`, or one of
 * ours. */
enum colander_code
adopt_family(struct colander_engine *engine,
             std::unique_ptr<rocksdb::ColumnFamilyHandle> handle,
             struct colander_error *err);

/* The ids of the live families, by the names of their column families. They
 * stay right while change_mutex is held. */
std::map<std::string, uint32_t> family_ids(struct colander_engine *engine);

/* The handle of the live family of that id; empty: there is none. */
std::shared_ptr<rocksdb::ColumnFamilyHandle>
family_handle(struct colander_engine *engine, uint32_t id);

/* Takes all families from the engine, which is about to close. */
void close_families(struct colander_engine *engine);

/* Whether everything written to the column family is in SST files. */
bool is_flushed(rocksdb::DB *db, rocksdb::ColumnFamilyHandle *handle);

/* Options of a family of users, when there are `count` others. */
rocksdb::ColumnFamilyOptions
family_options(const struct colander_engine *engine, size_t count);

/* DROPPED, with the family's name. */
enum colander_code fail_dropped(const struct colander_engine_family *family,
                                struct colander_error *err);

/* The status of a call on a family, as an error with the family's name. */
enum colander_code family_result(const struct colander_engine_family *family,
                                 const rocksdb::Status &status,
                                 const char *what, struct colander_error *err);

/* Notes that the batch writes to the family. */
void batch_touch(struct colander_engine_batch *batch,
                 struct colander_engine_family *family);

/* Removes the marks of a family that is gone. */
void remove_marks(const struct colander_engine_family *family);

/* -------------------------------------------------------------- faults --- */

/* Puts into the engine's options for RocksDB what notices that a file could not
 * be written. */
void install_fault_listener(struct colander_engine *engine);

/* READ_ONLY when the store is; IO, with the cause, when the disk has failed so
 * that writes have to wait for the next open. */
enum colander_code check_writable(struct colander_engine *engine,
                                  struct colander_error *err);

/* -------------------------------------------------------------- events --- */

/* Puts into the engine's options for RocksDB what tells the observer
 * (copied). */
void install_observer(struct colander_engine *engine,
                      const struct sst_observer *observer);

/* This thread writes an SST beside the database, from begin to end. */
void beside_begin(struct colander_engine *engine);

/* Fills the tag that the observer gave; false: none. */
bool beside_end(struct colander_engine *engine, uint8_t tag[SST_TAG_SIZE]);

/* Tells the observer that such an SST, which has a tag, is not used. */
void beside_failed(struct colander_engine *engine, uint32_t family,
                   const uint8_t tag[SST_TAG_SIZE]);

/* Whether an SST at this path was written by us, beside the database. */
bool is_beside(const struct colander_engine *engine, const std::string &path);

/* The tag among the properties of an SST; false: none. */
bool find_tag(const rocksdb::TableProperties &properties,
              uint8_t tag[SST_TAG_SIZE]);

/* The number in the path of an SST; 0: none. */
uint64_t number_of_file(const std::string &path);

#endif
