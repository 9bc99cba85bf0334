/*
 * Failing disks: a fault after which RocksDB's state is uncertain stops writes
 * until the store is opened again.
 *
 * RocksDB alone would continue when the disk has room again. 7.8 may then
 * append to a log that ends with half a record, which ends the process, and its
 * flushes may report success before they are done. An open checks every file
 * instead. Reads continue. A compaction without room stops nothing, and is
 * repeated.
 *
 * RocksDB does not say in which file a compaction saw keys out of order. So the
 * files that it read are checked one by one. The calls for a compaction come in
 * one thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"

#include <rocksdb/listener.h>

namespace
{

class FaultListener : public rocksdb::EventListener
{
  public:
    explicit FaultListener(struct engine *engine) : engine_(engine)
    {
    }

    const char *
    Name() const override
    {
        return "ColanderFaultListener";
    }

    void
    OnCompactionBegin(rocksdb::DB *,
                      const rocksdb::CompactionJobInfo &info) override
    {
        quietly([&] { Inputs() = info.input_files; });
    }

    void
    OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                      rocksdb::Status *status) override
    {
        std::string cause;

        if (status->severity() < rocksdb::Status::Severity::kHardError)
            return;
        quietly([&] {
            cause = reason == rocksdb::BackgroundErrorReason::kCompaction
                        ? CompactionCause(*status)
                        : "a file could not be written: " + text_of(*status);
        });
        Stop(*status, std::move(cause));
    }

    void
    OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                         bool *recovers) override
    {
        *recovers = false;
    }

  private:
    /* The files that the compaction of this thread reads. */
    static std::vector<std::string> &
    Inputs()
    {
        static thread_local std::vector<std::string> files;

        return files;
    }

    static std::string
    CompactionCause(const rocksdb::Status &status)
    {
        std::string cause = "a compaction failed: " + text_of(status);
        struct colander_error damage;

        if (!status.IsCorruption() || names_sst(status))
            return cause;
        for (const std::string &file : Inputs()) {
            if (check_sst_places(file, &damage) == COLANDER_CORRUPT)
                return cause + ": " + damage.message;
        }
        return cause;
    }

    /* The first one counts. */
    void
    Stop(const rocksdb::Status &status, std::string cause) noexcept
    {
        std::lock_guard<std::mutex> hold(engine_->families_mutex);

        if (engine_->is_stopped)
            return;
        engine_->stop_cause = std::move(cause);
        engine_->stop_code = code_of(status);
        engine_->is_stopped = true;
    }

    struct engine *engine_;
};

} // namespace

void
install_fault_listener(struct engine *engine)
{
    rocksdb::Options &options = engine->rocksdb_options;

    options.listeners.push_back(std::make_shared<FaultListener>(engine));
    options.max_bgerror_resume_count = 0;
}

enum colander_code
check_writable(struct engine *engine, struct colander_error *err)
{
    if (engine->is_read_only())
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "store '%s' is open for reading only",
                             engine->path.c_str());
    if (!engine->is_stopped)
        return COLANDER_OK;
    return COLANDER_FAIL(err, engine->stop_code,
                         "store '%s' accepts no writes until it is opened "
                         "again, because %s",
                         engine->path.c_str(), engine->stop_cause.c_str());
}
