/* SPDX-License-Identifier: MIT */
#include "core/engine/jobs.h"

#include <utility>

/* ----------------------------------------------------------------- jobs --- */

/* Requires the mutex. The handles are destroyed without it, since RocksDB then
 * looks for files to delete. */
void
Jobs::TakeUnneeded(std::list<Kept> *unneeded) noexcept
{
    const uint64_t lowest = running_.empty() ? next_ : running_.front();
    auto end = kept_.begin();

    while (end != kept_.end() && end->before <= lowest)
        ++end;
    unneeded->splice(unneeded->end(), kept_, kept_.begin(), end);
}

void
Jobs::Keep(std::list<Kept> kept) noexcept
{
    std::list<Kept> unneeded;
    std::lock_guard<std::mutex> hold(mutex_);

    kept.front().before = next_;
    kept_.splice(kept_.end(), kept);
    TakeUnneeded(&unneeded);
}

void
Jobs::Begin(Running *job) noexcept
{
    std::lock_guard<std::mutex> hold(mutex_);

    job->front() = next_++;
    running_.splice(running_.end(), *job);
}

void
Jobs::End(Running::iterator job) noexcept
{
    std::list<Kept> unneeded;
    std::unique_lock<std::mutex> hold(mutex_);

    running_.erase(job);
    TakeUnneeded(&unneeded);
    ending_++;
    hold.unlock();
    unneeded.clear();
    hold.lock();
    ending_--;
    ended_.notify_all();
}

void
Jobs::Await()
{
    std::unique_lock<std::mutex> hold(mutex_);

    ended_.wait(hold, [this] { return kept_.empty() && ending_ == 0; });
}

/* --------------------------------------------------------------- system --- */

namespace
{

class JobsEnv : public rocksdb::EnvWrapper
{
  public:
    JobsEnv(std::unique_ptr<rocksdb::Env> system, std::shared_ptr<Jobs> jobs)
        : rocksdb::EnvWrapper(std::move(system)), jobs_(std::move(jobs))
    {
        /* otherwise RocksDB would use adapters of old interfaces */
        file_system_ = target()->GetFileSystem();
        system_clock_ = target()->GetSystemClock();
    }

    void
    Schedule(void (*function)(void *), void *argument, Priority priority,
             void *tag, void (*unscheduled)(void *)) override
    {
        std::unique_ptr<Job> job(
            new Job{function, argument, unscheduled, jobs_});

        target()->Schedule(Run, job.get(), priority, tag, Forget);
        (void)job.release();
    }

  private:
    struct Job {
        void (*function)(void *);
        void *argument;
        void (*unscheduled)(void *); /* NULL: nothing to do */
        std::shared_ptr<Jobs> jobs;
        Jobs::Running place = {0};
    };

    static void
    Run(void *context)
    {
        std::unique_ptr<Job> job(static_cast<Job *>(context));
        const auto place = job->place.begin();

        job->jobs->Begin(&job->place);
        job->function(job->argument);
        job->jobs->End(place);
    }

    static void
    Forget(void *context)
    {
        std::unique_ptr<Job> job(static_cast<Job *>(context));

        if (job->unscheduled != nullptr)
            job->unscheduled(job->argument);
    }

    std::shared_ptr<Jobs> jobs_;
};

} // namespace

std::unique_ptr<rocksdb::Env>
make_jobs_env(const std::shared_ptr<rocksdb::FileSystem> &files,
              std::shared_ptr<Jobs> jobs)
{
    return std::unique_ptr<rocksdb::Env>(
        new JobsEnv(rocksdb::NewCompositeEnv(files), std::move(jobs)));
}
