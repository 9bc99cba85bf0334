/*
 * Disks that fail: what RocksDB cannot be sure of any longer stops writes until
 * the store is opened again.
 *
 * RocksDB would go on by itself once it finds room on the disk. It is not let:
 * 7.8 may then append to a log that ends in half a record, by which it ends the
 * process; and from then on a flush says that it is done before it is. An open
 * looks at every file instead. Reads go on meanwhile. A compaction that finds
 * no room stops nothing: it is tried again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge.h"

#include <rocksdb/listener.h>

namespace
{

class FaultListener : public rocksdb::EventListener
{
  public:
    explicit FaultListener(struct colander_engine *engine) : engine_(engine)
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

    struct colander_engine *engine_;
};

} // namespace

void
install_fault_listener(struct colander_engine *engine)
{
    rocksdb::Options &options = engine->rocksdb_options;

    options.listeners.push_back(std::make_shared<FaultListener>(engine));
    options.max_bgerror_resume_count = 0;
}

enum colander_code
check_writable(struct colander_engine *engine, struct colander_error *err)
{
    if (engine->is_read_only())
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "store '%s' is open for reading only",
                             engine->path.c_str());
    if (!engine->is_stopped)
        return COLANDER_OK;
    return COLANDER_FAIL(err, engine->stop_code,
                         "store '%s' takes no writes until it is opened again, "
                         "since a file could not be written: %s",
                         engine->path.c_str(), engine->stop_cause.c_str());
}
