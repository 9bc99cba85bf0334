/*
 * RocksDB's jobs in the background: which of them run, and what is kept for
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BRIDGE_JOBS_H
#define COLANDER_CORE_BRIDGE_JOBS_H

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include <rocksdb/db.h>
#include <rocksdb/env.h>

/*
 * At the end of a flush or compaction RocksDB tells listeners that writes wait
 * no longer, and finds these by the options of the family: also of one that was
 * dropped meanwhile. When its last handle is gone by then the options are, too,
 * and now and then that ends the process by a signal
 * (SuperVersionContext::Clean, in 7.8 as in later ones). So the handle of a
 * dropped family stays until all jobs have ended that ran when it was dropped;
 * later ones leave the family alone. So long its files stay, too.
 */
class Jobs
{
  public:
    /* A handle to be kept; made beforehand, so that keeping it cannot fail. */
    struct Kept {
        std::shared_ptr<rocksdb::ColumnFamilyHandle> handle;
        uint64_t before = 0; /* jobs with lower numbers may need it */
    };

    /* Running jobs, by number. */
    using Running = std::list<uint64_t>;

    /* Keeps the one in the list for as long as it is needed. */
    void Keep(std::list<Kept> kept) noexcept;

    /* A job begins: the one in the list gets its number, and goes to the others
     * until its end. */
    void Begin(Running *job) noexcept;
    void End(Running::iterator job) noexcept;

    /* Waits until nothing is kept, where no family can be dropped. */
    void Await();

  private:
    void TakeUnneeded(std::list<Kept> *unneeded) noexcept;

    std::mutex mutex_;
    std::condition_variable ended_;
    uint64_t next_ = 0;
    Running running_;
    size_t ending_ = 0; /* jobs that let go what was kept */
    std::list<Kept> kept_;
};

/* The system as RocksDB sees it, with these files; its jobs are known. */
std::unique_ptr<rocksdb::Env>
make_jobs_env(const std::shared_ptr<rocksdb::FileSystem> &files,
              std::shared_ptr<Jobs> jobs);

#endif
