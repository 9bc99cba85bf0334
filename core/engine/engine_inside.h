/*
 * The inside of the engine: the C++ code over RocksDB, and the only code that
 * knows RocksDB. The README lists its files.
 *
 * The engine owns every RocksDB handle, and catches every exception in the
 * functions of engine.h (guard).
 *
 * Families: the family `name` is the column family "family/name", unless it was
 * renamed (names.cc). The column family "default" is for the store's own
 * records. The engine owns one object for each live family, with a count of
 * references. A dropped family leaves the map at once, and is freed with its
 * last reference.
 *
 * Locks, in the order in which they are taken:
 *     a budget's      held while it looks for a memtable to flush
 *     change_mutex    held while a family is created, renamed or dropped
 *     flush_lock      of a family: shared by flushes and compactions that were
 *                     requested, exclusive for a drop
 *     writes_lock     shared by writes; exclusive for a drop, while the files
 *                     of a bulk join, and while a backup lists files
 *     snapshots_lock  shared while a snapshot is taken; exclusive while files
 *                     join, which RocksDB may show to snapshots taken then
 *     families_mutex  guards the map of families and all reference counts;
 *                     never held while RocksDB is called
 *
 * A drop is exclusive because one write, flush or compaction of a column family
 * that is being dropped stops all later writes of the database. Callbacks of
 * RocksDB (events.cc) take families_mutex and gone_mutex and no other lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_ENGINE_INSIDE_H
#define COLANDER_CORE_ENGINE_ENGINE_INSIDE_H

#include "core/engine/budget.h"
#include "core/engine/jobs.h"
#include "core/engine/opened_files.h"

extern "C" {
#include "core/directory.h"
#include "core/ledger.h"
#include "core/sst.h"
}

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <atomic>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include <pthread.h>

/* ------------------------------------------------------------- locks --- */

/* A shared lock that prefers the exclusive owner. With std::shared_mutex, new
 * shared owners could delay it forever. */
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

/* Returns what the status says, with the names of SST files instead of their
 * numbers. All errors have it from here. */
std::string text_of(const rocksdb::Status &status);

inline enum colander_code
fail_status(struct colander_error *err, const rocksdb::Status &status,
            const char *what)
{
    return COLANDER_FAIL(err, code_of(status), "cannot %s: %s", what,
                         text_of(status).c_str());
}

/* Whether the status says in which SST it was. */
inline bool
names_sst(const rocksdb::Status &status)
{
    return text_of(status).find(".sst") != std::string::npos;
}

/* Runs `body`, and returns an exception as an error. */
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

/* Runs `body`, and ignores exceptions. */
template <typename Body>
void
quietly(Body body) noexcept
{
    try {
        body();
    } catch (...) { // NOLINT(bugprone-empty-catch)
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

struct engine_family {
    struct engine *engine;
    std::atomic<const std::string *> name; /* the last of `names` */
    std::list<std::string> names; /* all that it had; under families_mutex */
    /* Shared with callbacks, which may outlive the family. */
    std::shared_ptr<rocksdb::ColumnFamilyHandle> handle;
    size_t reference_count = 0; /* under families_mutex */
    std::atomic<bool> is_dropped{false};
    SharedLock flush_lock;
};

struct engine {
    std::string path;
    struct colander_recovery recovery = {};
    struct directory directory = DIRECTORY_CLOSED;
    struct colander_options options = {};
    std::shared_ptr<struct ledger> ledger; /* shared with the files of `env` */
    std::shared_ptr<Jobs> jobs = std::make_shared<Jobs>(); /* of `env` */
    BudgetRef budget;                                      /* NULL: none */
    std::unique_ptr<rocksdb::Env> env;
    std::shared_ptr<OpenedFiles> opened = std::make_shared<OpenedFiles>();
    rocksdb::Options rocksdb_options; /* see also family_options */
    std::shared_ptr<rocksdb::Cache> cache;
    std::unique_ptr<rocksdb::DB> db;
    std::unique_ptr<rocksdb::ColumnFamilyHandle> default_handle;
    std::shared_ptr<const struct sst_observer> observer; /* NULL: none */

    std::mutex change_mutex;
    std::mutex families_mutex;
    std::map<std::string, std::unique_ptr<engine_family>> families;
    size_t family_references = 0;         /* of handles and cursors */
    std::atomic<size_t> other_handles{0}; /* batches, snapshots and SSTs */

    SharedLock writes_lock;
    SharedLock snapshots_lock;

    /* SST files that were replaced or deleted while others join, which RocksDB
     * reports only afterwards: see Ingested in events.cc. */
    std::mutex gone_mutex;
    bool is_joining = false;
    std::set<uint64_t> gone;

    std::atomic<bool> is_stopped{false}; /* see check_writable */
    std::string stop_cause;              /* set once, before is_stopped */
    enum colander_code stop_code = COLANDER_OK;

    ~engine();

    bool
    is_read_only() const
    {
        return options.mode == COLANDER_OPEN_READ_ONLY;
    }
};

struct colander_snapshot {
    struct engine *engine = nullptr; /* null: it consists of parts */
    const rocksdb::Snapshot *snapshot = nullptr;
    std::vector<struct colander_snapshot *> parts;
};

struct engine_rows {
    static constexpr size_t few = 8; /* values without an allocation */

    rocksdb::PinnableSlice few_values[few];
    bool few_found[few];
    std::vector<rocksdb::PinnableSlice> many_values;
    std::unique_ptr<bool[]> many_found;
    rocksdb::PinnableSlice *values = few_values; /* or many_values */
    bool *found = few_found;
    size_t count = 0;
    size_t block_size = 0; /* of SST files */

    void reset(size_t size);
};

struct engine_cursor {
    struct engine_family *family; /* NULL: on an SST */
    uint64_t sst_number;
    std::string from;
    std::string until;
    rocksdb::Slice lower;
    rocksdb::Slice upper;
    std::unique_ptr<rocksdb::Iterator> iterator;
    bool is_reverse;
    bool is_started;
    bool is_failed; /* a seek has failed: the iterator may be anywhere */
    bool is_sought; /* the next step returns the row that a seek has found */
};

struct engine_batch {
    struct engine *engine;
    std::unique_ptr<rocksdb::WriteBatch> plain;
    std::unique_ptr<rocksdb::WriteBatchWithIndex> indexed;
    /* Families in it, each with a reference; the last one used is the last. */
    std::vector<struct engine_family *> families;

    rocksdb::WriteBatchBase *
    base() const
    {
        if (indexed)
            return indexed.get();
        return plain.get();
    }
};

/* ------------------------------------------------------------ families --- */

/* Adds a reference to the family. */
void family_ref(struct engine_family *family);

/* Removes a reference. The last one to a dropped family frees it. */
void family_unref(struct engine_family *family);

/* Adds a reference to the family of that name, if there is one. */
struct engine_family *family_find(struct engine *engine, const char *name);

/* Names of families by their ids. */
using family_names = std::map<uint32_t, std::string>;

/* Adds a family by the handle of its column family. Its name is among `names`,
 * or else that of the column family says it. */
enum colander_code
family_adopt(struct engine *engine,
             std::unique_ptr<rocksdb::ColumnFamilyHandle> handle,
             const family_names &names, struct colander_error *err);

/* Whether it is the column family of a family. */
bool is_family_column(const std::string &column);

/* Returns the name that the family had at first. */
std::string family_name_of(const std::string &column);

/* Returns the name of a column family for a new family. */
std::string family_column_name(struct engine *engine, const char *name);

/* Gives the family a name. Requires families_mutex, or that no one else knows
 * the family. */
void family_set_name(struct engine_family *family, const std::string &name);

/* Reads the names of families that were renamed. */
enum colander_code read_names(struct engine *engine, family_names *names,
                              struct colander_error *err);

/* Forgets the name of a dropped family. */
void forget_name(const struct engine_family *family);

/* Returns the ids of the live families by the names of their column families.
 * They stay valid while change_mutex is held. */
std::map<std::string, uint32_t> family_ids(struct engine *engine);

/* Returns the handle of the live family of that id, or none. */
std::shared_ptr<rocksdb::ColumnFamilyHandle>
family_handle(struct engine *engine, uint32_t id);

/* Removes all families from an engine that closes. */
void families_close(struct engine *engine);

/* Returns the options of a family in a store with `count` others. */
rocksdb::ColumnFamilyOptions family_options(const struct engine *engine,
                                            size_t count);

/* Whether all writes to the column family are in SST files. */
bool is_flushed(rocksdb::DB *db, rocksdb::ColumnFamilyHandle *handle);

/* Fails with DROPPED, naming the family. */
enum colander_code fail_dropped(const struct engine_family *family,
                                struct colander_error *err);

/* Returns the status of a call as an error that names the family. */
enum colander_code family_result(const struct engine_family *family,
                                 const rocksdb::Status &status,
                                 const char *what, struct colander_error *err);

/* Reports a status of an SST. It means damage, unless the system refused. */
enum colander_code fail_sst(struct colander_error *err,
                            const rocksdb::Status &status, uint64_t number,
                            const char *what);

/* Reads an SST without RocksDB. Fails, naming the path, with CORRUPT if a block
 * is not where it was written, and as table_check. */
enum colander_code check_sst_places(const std::string &path,
                                    struct colander_error *err);

/* Notes that the batch writes to the family. */
void batch_touch(struct engine_batch *batch, struct engine_family *family);

/* Returns the key of a mark in the column family `default`. */
std::string mark_key(const struct engine_family *family,
                     struct colander_slice name);

/* Removes the marks of a dropped family. */
void remove_marks(const struct engine_family *family);

/* -------------------------------------------------------------- faults --- */

/* Adds a listener to RocksDB's options that notices failed writes of files. */
void install_fault_listener(struct engine *engine);

/* Fails with READ_ONLY in a read-only store, and with the cause, such as IO,
 * after a fault that stops writes until the next open. */
enum colander_code check_writable(struct engine *engine,
                                  struct colander_error *err);

/* -------------------------------------------------------------- events --- */

/* Adds the observer (copied) to RocksDB's options. */
void install_observer(struct engine *engine,
                      const struct sst_observer *observer);

/* Returns what is known of the SST that this thread writes. It is reported to
 * the observer if the SST fails or is not used. */
struct sst_created &present_sst();

/* Whether the SST at this path was written outside the database by us. */
bool is_beside(const struct engine *engine, const std::string &path);

/* Fills the tag in the properties of an SST, or returns false. */
bool find_tag(const rocksdb::TableProperties &properties,
              uint8_t tag[SST_TAG_SIZE]);

/* Returns the number in the path of an SST, or 0. */
uint64_t number_of_file(const std::string &path);

#endif
