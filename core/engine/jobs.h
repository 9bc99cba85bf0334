/*
 * RocksDB's background jobs, and the handles that are kept for them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_JOBS_H
#define COLANDER_CORE_ENGINE_JOBS_H

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include <rocksdb/db.h>
#include <rocksdb/env.h>

/*
 * At the end of a flush or compaction RocksDB notifies listeners, which it
 * finds by the options of the family, even if that was dropped. If its last
 * handle was destroyed, so were the options, and this sometimes ends the
 * process by a signal (SuperVersionContext::Clean, in 7.8 and later). So the
 * handle of a dropped family is kept until all jobs have ended that ran when it
 * was dropped. Later jobs do not use the family. Its files are kept as well.
 */
class Jobs
{
  public:
    /* A handle to keep. Allocated before, so that keeping it cannot fail. */
    struct Kept {
        std::shared_ptr<rocksdb::ColumnFamilyHandle> handle;
        uint64_t before = 0; /* jobs with lower numbers may need it */
    };

    /* Running jobs, by number. */
    using Running = std::list<uint64_t>;

    /* Keeps the handle in the list as long as jobs need it. */
    void Keep(std::list<Kept> kept) noexcept;

    /* Begins a job: sets the number in the list, and takes it until the end. */
    void Begin(Running *job) noexcept;
    void End(Running::iterator job) noexcept;

    /* Waits until nothing is kept. Requires that no family is dropped. */
    void Await();

  private:
    void TakeUnneeded(std::list<Kept> *unneeded) noexcept;

    std::mutex mutex_;
    std::condition_variable ended_;
    uint64_t next_ = 0;
    Running running_;
    size_t ending_ = 0; /* jobs that release handles */
    std::list<Kept> kept_;
};

/* Returns an environment with these files that notes its jobs. */
std::unique_ptr<rocksdb::Env>
make_jobs_env(const std::shared_ptr<rocksdb::FileSystem> &files,
              std::shared_ptr<Jobs> jobs);

#endif
