/*
 * The file system that RocksDB sees.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge_files.h"
#include "core/bridge_tables.h"

#include "core/log_walk.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include <sys/stat.h>

static thread_local std::string opened_last;
static thread_local std::string failed_last;

const std::string &
file_opened_last()
{
    return opened_last;
}

std::string
file_take_failure()
{
    std::string failure;

    failure.swap(failed_last);
    return failure;
}

namespace
{

/* What the files of a store tell of a disk that fails, where RocksDB by itself
 * would end the process or lose files. */
class Faults
{
  public:
    /* The MANIFEST may now have what RocksDB takes for absent: a record that
     * could not be synced, or a new MANIFEST whose name could not. Of a bulk it
     * would delete the SST files, which the next open would look for. */
    rocksdb::IOStatus
    ManifestDone(rocksdb::IOStatus status)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        is_manifest_known_ &= status.ok();
        return status;
    }

    /* Those that are not needed go at the next open. */
    bool
    MayDeleteTables()
    {
        std::lock_guard<std::mutex> hold(mutex_);

        return is_manifest_known_;
    }

    void
    LogMade(uint64_t number)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        newest_log_ = std::max(newest_log_, number);
    }

    /* What is told of the sync of a write-ahead log. Several threads may sync
     * an old one, and RocksDB ends the process when one has failed and another
     * comes after it. So the failure is told to whoever next counts on that
     * sync: a write that syncs the newest log, or a record of the MANIFEST. */
    rocksdb::IOStatus
    LogSynced(uint64_t number, const rocksdb::IOStatus &status)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        if (number == newest_log_)
            return status.ok() ? unsynced_ : status;
        if (!status.ok())
            unsynced_ = status;
        return rocksdb::IOStatus::OK();
    }

    /* Not OK: an old log could not be synced. */
    rocksdb::IOStatus
    LogsSynced()
    {
        std::lock_guard<std::mutex> hold(mutex_);

        return unsynced_;
    }

  private:
    std::mutex mutex_;
    bool is_manifest_known_ = true;
    uint64_t newest_log_ = 0;
    rocksdb::IOStatus unsynced_;
};

/* One descriptor for all that sync the same directory. */
class SharedDirectory : public rocksdb::FSDirectoryWrapper
{
  public:
    SharedDirectory(std::shared_ptr<rocksdb::FSDirectory> shared,
                    std::shared_ptr<Faults> faults)
        : rocksdb::FSDirectoryWrapper(shared.get()), shared_(std::move(shared)),
          faults_(std::move(faults))
    {
    }

    rocksdb::IOStatus
    Fsync(const rocksdb::IOOptions &how,
          rocksdb::IODebugContext *debug) override
    {
        return faults_->ManifestDone(shared_->Fsync(how, debug));
    }

    rocksdb::IOStatus
    FsyncWithDirOptions(const rocksdb::IOOptions &how,
                        rocksdb::IODebugContext *debug,
                        const rocksdb::DirFsyncOptions &why) override
    {
        return faults_->ManifestDone(
            shared_->FsyncWithDirOptions(how, debug, why));
    }

    /* The last one that goes closes it. */
    rocksdb::IOStatus
    Close(const rocksdb::IOOptions &, rocksdb::IODebugContext *) override
    {
        return rocksdb::IOStatus::OK();
    }

  private:
    std::shared_ptr<rocksdb::FSDirectory> shared_;
    std::shared_ptr<Faults> faults_;
};

std::string
base_name(const std::string &path)
{
    return path.substr(path.rfind('/') + 1);
}

bool
is_sst(const std::string &path)
{
    return path.size() > 4 && path.compare(path.size() - 4, 4, ".sst") == 0;
}

/* Whether the file is a log, and which. */
bool
is_log(const std::string &path, enum ledger_kind *kind, uint64_t *number)
{
    const std::string name = base_name(path);
    const bool is_manifest = name.compare(0, 9, "MANIFEST-") == 0;
    const char *digits = name.c_str() + (is_manifest ? 9 : 0);
    char *end;

    *kind = is_manifest ? LEDGER_MANIFEST : LEDGER_WAL;
    *number = std::strtoull(digits, &end, 10);
    return end != digits && std::string(end) == (is_manifest ? "" : ".log");
}

/* A log: the ledger is told how many bytes of whole records it has. */
class NotedLog : public rocksdb::FSWritableFileOwnerWrapper
{
  public:
    NotedLog(std::unique_ptr<rocksdb::FSWritableFile> file,
             std::shared_ptr<struct ledger> ledger, enum ledger_kind kind,
             uint64_t number, std::shared_ptr<Faults> faults)
        : rocksdb::FSWritableFileOwnerWrapper(std::move(file)),
          ledger_(std::move(ledger)), kind_(kind), number_(number),
          faults_(std::move(faults))
    {
        if (kind_ == LEDGER_WAL)
            faults_->LogMade(number_);
    }

    rocksdb::IOStatus
    Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &how,
           rocksdb::IODebugContext *debug) override
    {
        rocksdb::IOStatus status = Before();

        return status.ok() ? Noted(target()->Append(bytes, how, debug), bytes)
                           : status;
    }

    rocksdb::IOStatus
    Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &how,
           const rocksdb::DataVerificationInfo &verification,
           rocksdb::IODebugContext *debug) override
    {
        rocksdb::IOStatus status = Before();

        return status.ok()
                   ? Noted(target()->Append(bytes, how, verification, debug),
                           bytes)
                   : status;
    }

    rocksdb::IOStatus
    Sync(const rocksdb::IOOptions &how, rocksdb::IODebugContext *debug) override
    {
        const uint64_t whole = Whole();

        return Synced(target()->Sync(how, debug), whole);
    }

    rocksdb::IOStatus
    Fsync(const rocksdb::IOOptions &how,
          rocksdb::IODebugContext *debug) override
    {
        const uint64_t whole = Whole();

        return Synced(target()->Fsync(how, debug), whole);
    }

  private:
    /* A record of the MANIFEST may count on logs. */
    rocksdb::IOStatus
    Before()
    {
        return kind_ == LEDGER_MANIFEST ? faults_->LogsSynced()
                                        : rocksdb::IOStatus::OK();
    }

    /* A log may be synced by one thread while another writes it. */
    uint64_t
    Whole()
    {
        std::lock_guard<std::mutex> hold(tail_mutex_);

        return tail_.whole;
    }

    rocksdb::IOStatus
    Noted(rocksdb::IOStatus status, const rocksdb::Slice &bytes)
    {
        if (kind_ == LEDGER_MANIFEST)
            status = faults_->ManifestDone(std::move(status));

        std::lock_guard<std::mutex> hold(tail_mutex_);

        if (!status.ok())
            is_known_ = false; /* nobody knows how much was written */
        if (!is_known_)
            return status;
        log_tail_add(&tail_, reinterpret_cast<const uint8_t *>(bytes.data()),
                     bytes.size());
        ledger_note_written(ledger_.get(), kind_, number_, tail_.whole);
        return status;
    }

    /* The first one of a log of writes is not noted: RocksDB syncs the
     * directory, which has the name, after it; a MANIFEST counts when another
     * file names it. Nor is any behind one that failed: the system may have
     * dropped what it could not write, and say OK the next time. */
    rocksdb::IOStatus
    Synced(rocksdb::IOStatus status, uint64_t whole)
    {
        bool is_noted;

        {
            std::lock_guard<std::mutex> hold(tail_mutex_);

            if (!status.ok())
                is_sync_known_ = false;
            is_noted = is_sync_known_ &&
                       (sync_count_++ > 0 || kind_ == LEDGER_MANIFEST);
        }
        is_noted = is_noted &&
                   ledger_note_synced(ledger_.get(), kind_, number_, whole);
        if (kind_ == LEDGER_WAL)
            return faults_->LogSynced(number_, status);
        if (status.ok() && !is_noted)
            return faults_->ManifestDone(rocksdb::IOStatus::IOError(
                "cannot note in the ledger how far the MANIFEST is synced"));
        return faults_->ManifestDone(std::move(status));
    }

    std::shared_ptr<struct ledger> ledger_;
    const enum ledger_kind kind_;
    const uint64_t number_;
    std::shared_ptr<Faults> faults_;
    std::mutex tail_mutex_; /* guards the rest */
    struct log_tail tail_ = {};
    bool is_known_ = true;
    bool is_sync_known_ = true;
    unsigned sync_count_ = 0;
};

/* The beginning of a file, as if it had no more. */
class Beginning : public rocksdb::FSSequentialFileOwnerWrapper
{
  public:
    Beginning(std::unique_ptr<rocksdb::FSSequentialFile> file, uint64_t size)
        : rocksdb::FSSequentialFileOwnerWrapper(std::move(file)), left_(size)
    {
    }

    rocksdb::IOStatus
    Read(size_t size, const rocksdb::IOOptions &how, rocksdb::Slice *bytes,
         char *room, rocksdb::IODebugContext *debug) override
    {
        rocksdb::IOStatus status = target()->Read(
            std::min<uint64_t>(size, left_), how, bytes, room, debug);

        if (status.ok())
            left_ -= bytes->size();
        return status;
    }

    rocksdb::IOStatus
    Skip(uint64_t size) override
    {
        size = std::min(size, left_);
        left_ -= size;
        return target()->Skip(size);
    }

  private:
    uint64_t left_;
};

/* Where RocksDB tells what it does, for people. It writes this log as it writes
 * files of rows, and ends the process when it meets one that failed before: so
 * it is told of no failure, as on a full disk, and lines are lost. */
class Chatter : public rocksdb::FSWritableFileOwnerWrapper
{
  public:
    explicit Chatter(std::unique_ptr<rocksdb::FSWritableFile> file)
        : rocksdb::FSWritableFileOwnerWrapper(std::move(file))
    {
    }

    rocksdb::IOStatus
    Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &how,
           rocksdb::IODebugContext *debug) override
    {
        return Whatever(target()->Append(bytes, how, debug));
    }

    rocksdb::IOStatus
    Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &how,
           const rocksdb::DataVerificationInfo &verification,
           rocksdb::IODebugContext *debug) override
    {
        return Whatever(target()->Append(bytes, how, verification, debug));
    }

    rocksdb::IOStatus
    Flush(const rocksdb::IOOptions &how,
          rocksdb::IODebugContext *debug) override
    {
        return Whatever(target()->Flush(how, debug));
    }

    rocksdb::IOStatus
    Close(const rocksdb::IOOptions &how,
          rocksdb::IODebugContext *debug) override
    {
        return Whatever(target()->Close(how, debug));
    }

  private:
    static rocksdb::IOStatus
    Whatever(const rocksdb::IOStatus &status)
    {
        status.PermitUncheckedError();
        return rocksdb::IOStatus::OK();
    }
};

class StoreFileSystem : public rocksdb::FileSystemWrapper
{
  public:
    StoreFileSystem(const std::shared_ptr<rocksdb::FileSystem> &base,
                    std::shared_ptr<struct ledger> ledger)
        : rocksdb::FileSystemWrapper(base), ledger_(std::move(ledger))
    {
    }

    const char *
    Name() const override
    {
        return "ColanderStoreFileSystem";
    }

    rocksdb::IOStatus
    NewWritableFile(const std::string &name, const rocksdb::FileOptions &how,
                    std::unique_ptr<rocksdb::FSWritableFile> *file,
                    rocksdb::IODebugContext *debug) override
    {
        if (base_name(name).compare(0, 8, "OPTIONS-") == 0)
            return rocksdb::IOStatus::NotSupported("no OPTIONS files here");

        rocksdb::IOStatus status = Privately(
            name, 0600, target()->NewWritableFile(name, how, file, debug));
        enum ledger_kind kind;
        uint64_t number;

        if (status.ok() && base_name(name) == "LOG")
            *file = std::make_unique<Chatter>(std::move(*file));
        if (status.ok() && ledger_ && is_log(name, &kind, &number))
            *file = std::make_unique<NotedLog>(std::move(*file), ledger_, kind,
                                               number, faults_);
        return status;
    }

    rocksdb::IOStatus
    DeleteFile(const std::string &name, const rocksdb::IOOptions &how,
               rocksdb::IODebugContext *debug) override
    {
        enum ledger_kind kind;
        uint64_t number;

        if (ledger_ && is_log(name, &kind, &number) &&
            !ledger_forget(ledger_.get(), kind, number))
            return rocksdb::IOStatus::IOError(
                "cannot note in the ledger that it goes, or another thread "
                "is about to",
                name);
        if (is_sst(name) && !faults_->MayDeleteTables())
            return rocksdb::IOStatus::IOError(
                "the MANIFEST, which could not be written, may have it", name);
        return target()->DeleteFile(name, how, debug);
    }

    rocksdb::IOStatus
    RenameFile(const std::string &from, const std::string &to,
               const rocksdb::IOOptions &how,
               rocksdb::IODebugContext *debug) override
    {
        rocksdb::IOStatus status = target()->RenameFile(from, to, how, debug);

        return base_name(to) == "CURRENT"
                   ? faults_->ManifestDone(std::move(status))
                   : status;
    }

    /* What is behind the whole records of a MANIFEST counts for nothing:
     * RocksDB would not always see that, and refuse it. */
    rocksdb::IOStatus
    NewSequentialFile(const std::string &name, const rocksdb::FileOptions &how,
                      std::unique_ptr<rocksdb::FSSequentialFile> *file,
                      rocksdb::IODebugContext *debug) override
    {
        rocksdb::IOStatus status =
            target()->NewSequentialFile(name, how, file, debug);
        enum ledger_kind kind;
        uint64_t number;
        uint64_t whole;

        if (!status.ok() || !ledger_ || !is_log(name, &kind, &number) ||
            kind != LEDGER_MANIFEST)
            return status;
        whole = ledger_written(ledger_.get(), kind, number);
        if (whole > 0)
            *file = std::make_unique<Beginning>(std::move(*file), whole);
        return status;
    }

    /* An SST that is not there is sought under LevelDB's name as well, and that
     * one is told. */
    rocksdb::IOStatus
    NewRandomAccessFile(const std::string &name,
                        const rocksdb::FileOptions &how,
                        std::unique_ptr<rocksdb::FSRandomAccessFile> *file,
                        rocksdb::IODebugContext *debug) override
    {
        std::string sst = name;

        if (name.size() > 4 && name.compare(name.size() - 4, 4, ".ldb") == 0)
            sst.replace(name.size() - 4, 4, ".sst");
        opened_last = sst;
        rocksdb::IOStatus status =
            target()->NewRandomAccessFile(sst, how, file, debug);

        if (status.ok() && is_sst(sst))
            status = Checked(sst, file, debug);
        if (!status.ok() && !status.IsPathNotFound() && !status.IsCorruption())
            failed_last = status.ToString();
        return status;
    }

    rocksdb::IOStatus
    ReopenWritableFile(const std::string &name, const rocksdb::FileOptions &how,
                       std::unique_ptr<rocksdb::FSWritableFile> *file,
                       rocksdb::IODebugContext *debug) override
    {
        return Privately(name, 0600,
                         target()->ReopenWritableFile(name, how, file, debug));
    }

    rocksdb::IOStatus
    CreateDir(const std::string &name, const rocksdb::IOOptions &how,
              rocksdb::IODebugContext *debug) override
    {
        return Privately(name, 0700, target()->CreateDir(name, how, debug));
    }

    rocksdb::IOStatus
    CreateDirIfMissing(const std::string &name, const rocksdb::IOOptions &how,
                       rocksdb::IODebugContext *debug) override
    {
        return Privately(name, 0700,
                         target()->CreateDirIfMissing(name, how, debug));
    }

    rocksdb::IOStatus
    NewDirectory(const std::string &name, const rocksdb::IOOptions &how,
                 std::unique_ptr<rocksdb::FSDirectory> *directory,
                 rocksdb::IODebugContext *debug) override
    {
        std::lock_guard<std::mutex> hold(directories_mutex_);
        std::shared_ptr<rocksdb::FSDirectory> shared =
            directories_[name].lock();

        if (!shared) {
            std::unique_ptr<rocksdb::FSDirectory> opened;
            rocksdb::IOStatus status =
                target()->NewDirectory(name, how, &opened, debug);

            if (!status.ok())
                return status;
            shared = std::move(opened);
            directories_[name] = shared;
        }
        directory->reset(new SharedDirectory(std::move(shared), faults_));
        return rocksdb::IOStatus::OK();
    }

    /* Over a file of ours, which the one below would not ask for: see Chatter.
     * NOLINTBEGIN(bugprone-parent-virtual-call) */
    rocksdb::IOStatus
    NewLogger(const std::string &name, const rocksdb::IOOptions &how,
              std::shared_ptr<rocksdb::Logger> *logger,
              rocksdb::IODebugContext *debug) override
    {
        return rocksdb::FileSystem::NewLogger(name, how, logger, debug);
    }
    /* NOLINTEND(bugprone-parent-virtual-call) */

    rocksdb::IOStatus
    LockFile(const std::string &name, const rocksdb::IOOptions &how,
             rocksdb::FileLock **lock, rocksdb::IODebugContext *debug) override
    {
        return Privately(name, 0600,
                         target()->LockFile(name, how, lock, debug));
    }

  private:
    rocksdb::IOStatus
    Checked(const std::string &name,
            std::unique_ptr<rocksdb::FSRandomAccessFile> *file,
            rocksdb::IODebugContext *debug)
    {
        uint64_t size;
        rocksdb::IOStatus status =
            target()->GetFileSize(name, rocksdb::IOOptions(), &size, debug);

        if (status.ok())
            status = check_table(name, file->get(), size);
        if (!status.ok())
            file->reset();
        return status;
    }

    static rocksdb::IOStatus
    Privately(const std::string &name, mode_t mode, rocksdb::IOStatus status)
    {
        if (status.ok() && chmod(name.c_str(), mode) != 0)
            return rocksdb::IOStatus::IOError("cannot make private", name);
        return status;
    }

    std::shared_ptr<struct ledger> ledger_;
    const std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
    std::mutex directories_mutex_;
    std::map<std::string, std::weak_ptr<rocksdb::FSDirectory>> directories_;
};

} // namespace

std::shared_ptr<rocksdb::FileSystem>
make_store_files(std::shared_ptr<struct ledger> ledger)
{
    return std::make_shared<StoreFileSystem>(rocksdb::FileSystem::Default(),
                                             std::move(ledger));
}
