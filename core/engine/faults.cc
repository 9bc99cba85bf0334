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
    OnBackgroundError(rocksdb::BackgroundErrorReason,
                      rocksdb::Status *status) override
    {
        if (status->severity() >= rocksdb::Status::Severity::kHardError)
            Stop(*status);
    }

    void
    OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                         bool *recovers) override
    {
        *recovers = false;
    }

  private:
    /* The first one counts. */
    void
    Stop(const rocksdb::Status &status) noexcept
    {
        std::lock_guard<std::mutex> hold(engine_->families_mutex);

        if (engine_->is_stopped)
            return;
        try {
            engine_->stop_cause = status.ToString();
        } catch (...) { // NOLINT(bugprone-empty-catch)
        }
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
                         "again, because a file could not be written: %s",
                         engine->path.c_str(), engine->stop_cause.c_str());
}
