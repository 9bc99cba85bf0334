/*
 * Budgets: what several stores of a process have together.
 *
 * RocksDB shares a cache and a limit of memtables between databases, and its
 * threads are those of the process anyway. Two things are ours:
 *
 * Descriptors. RocksDB counts them for each database. The files that it opens
 * for one with a budget open themselves when they are read, and the budget
 * closes the one that was not read for longest.
 *
 * Flushes. When all memtables together are too large, RocksDB flushes that
 * database which happens to be written, however little it has. Before that, the
 * budget flushes the largest memtable of all.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_BUDGET_H
#define COLANDER_CORE_ENGINE_BUDGET_H

extern "C" {
#include "core/engine.h"
}

#include <rocksdb/cache.h>
#include <rocksdb/file_system.h>
#include <rocksdb/write_buffer_manager.h>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/* Files that are open, at most `max`, and those that threads just read. */
class OpenFiles
{
  public:
    struct Entry {
        std::shared_ptr<rocksdb::FSRandomAccessFile> file; /* NULL: closed */
        std::list<Entry *>::iterator place; /* in the list, if it is open */
    };

    explicit OpenFiles(size_t max) : max_(max)
    {
    }

    /* Returns the file if it is open. It was read last then. */
    std::shared_ptr<rocksdb::FSRandomAccessFile> Find(Entry *entry);

    /* The file is open from now on, unless it was. Returns it. */
    std::shared_ptr<rocksdb::FSRandomAccessFile>
    Add(Entry *entry, std::shared_ptr<rocksdb::FSRandomAccessFile> file);

    /* The entry ends. */
    void Remove(Entry *entry);

    size_t Count();

  private:
    const size_t max_;
    std::mutex mutex_;
    std::list<Entry *> open_; /* the one that was read last is the first */
};

struct colander_budget {
    explicit colander_budget(const struct colander_budget_options &given);
    ~colander_budget();

    /* A store is opened, or about to be closed. */
    void Join(struct engine *engine);
    void Leave(struct engine *engine);

    /* Flushes the largest memtable of all stores if they are too large
     * together. Call after a write, without locks. */
    void Relieve();

    const struct colander_budget_options options;
    const std::shared_ptr<rocksdb::Cache> cache;
    const std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
    const std::shared_ptr<OpenFiles> files;
    std::atomic<size_t> reference_count{1};

    struct Part {
        struct budget_part kind;
        void *part;
    };

    std::mutex parts_mutex;
    std::vector<Part> parts;

  private:
    std::mutex engines_mutex_; /* before the locks of an engine */
    std::set<struct engine *> engines_;

    friend void colander_budget_measure_sized(struct colander_budget *budget,
                                              struct colander_budget_use *use,
                                              size_t struct_size);
};

/* Removes a reference. */
struct BudgetRelease {
    void
    operator()(struct colander_budget *budget) const
    {
        colander_budget_release(budget);
    }
};

using BudgetRef = std::unique_ptr<struct colander_budget, BudgetRelease>;

/* Replaces an open file by one whose descriptor is one of `open`. */
rocksdb::IOStatus
share_descriptor(const std::shared_ptr<OpenFiles> &open,
                 const std::shared_ptr<rocksdb::FileSystem> &files,
                 const std::string &path, const rocksdb::FileOptions &how,
                 std::unique_ptr<rocksdb::FSRandomAccessFile> *file);

#endif
