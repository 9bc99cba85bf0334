/* SPDX-License-Identifier: MIT */
#include "core/engine/store_files.h"
#include "core/engine/remote_files.h"
#include "core/engine/table_factory.h"

extern "C" {
#include "core/files.h"
#include "core/log_records.h"
#include "core/log_tail.h"
}

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <xxhash.h>

namespace
{

/* State of a failing disk, with which RocksDB alone would end the process or
 * lose files. */
class Faults
{
  public:
    /* After a failure the MANIFEST may have what RocksDB takes for absent: a
     * record that could not be synced, or a new MANIFEST whose name could not.
     * RocksDB would delete SST files of a bulk, which the next open needs. */
    rocksdb::IOStatus
    ManifestDone(rocksdb::IOStatus status)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        is_manifest_known_ &= status.ok();
        return status;
    }

    /* Obsolete files are removed at the next open. */
    bool
    MayDeleteTables()
    {
        std::lock_guard<std::mutex> hold(mutex_);

        return is_manifest_known_;
    }

    void
    LogCreated(uint64_t number)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        newest_log_ = std::max(newest_log_, number);
    }

    /* A write that is synced relies on the sync of the newest log. */
    bool
    IsNewestLog(uint64_t number)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        return number == newest_log_;
    }

    /* Returns what RocksDB learns about the sync of a write-ahead log. Several
     * threads may sync an old log, and RocksDB ends the process if one fails
     * and another succeeds later. So the failure is reported to what next
     * relies on that sync: a write that syncs the newest log, or a record of
     * the MANIFEST. */
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

    /* Fails if an old log could not be synced. */
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

/* A directory whose descriptor is shared. */
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

    /* The last owner closes it. */
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

    *kind = LEDGER_WAL;
    *number = files_number(name.c_str(), "", ".log");
    if (*number != 0)
        return true;
    *kind = LEDGER_MANIFEST;
    *number = files_number(name.c_str(), "MANIFEST-", "");
    return *number != 0;
}

/* Whether RocksDB would take the name for that of one of its files, but give
 * that file another name: 12.log, or 000000.log, which ends the process. */
bool
is_misnamed(const std::string &name)
{
    const size_t end = name.find_first_not_of("0123456789");

    return end != 0 && end != std::string::npos &&
           files_number(name.c_str(), "", name.c_str() + end) == 0;
}

/* Refuses what is not a regular file before it is opened: an open of a pipe
 * would wait, in a thread that no signal reaches, and a device has no end. Sets
 * *size to the size of a file. One that is missing is left to the open. */
rocksdb::IOStatus
check_kind(const std::string &name, uint64_t *size = nullptr)
{
    rocksdb::IOStatus status;
    struct stat found = {};
    const bool is_there = stat(name.c_str(), &found) == 0;

    if (!is_there && errno != ENOENT)
        status = rocksdb::IOStatus::IOError("cannot look at " + name,
                                            strerror(errno));
    else if (is_there && !S_ISREG(found.st_mode))
        status =
            rocksdb::IOStatus::IOError("'" + name + "' is not a regular file");
    if (size != nullptr)
        *size = static_cast<uint64_t>(found.st_size);
    return status;
}

/* A log whose whole records are noted in the ledger. */
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
            faults_->LogCreated(number_);
    }

    rocksdb::IOStatus
    Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &how,
           rocksdb::IODebugContext *debug) override
    {
        rocksdb::IOStatus status;

        if (kind_ == LEDGER_MANIFEST) /* a record may rely on logs */
            status = faults_->LogsSynced();
        if (!status.ok())
            return status;

        struct log_tail next;

        if (!NoteAhead(bytes, &next))
            return rocksdb::IOStatus::IOError(
                "cannot note in the ledger what is written to a log");
        return Noted(target()->Append(bytes, how, debug), next);
    }

    rocksdb::IOStatus
    Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &how,
           const rocksdb::DataVerificationInfo &,
           rocksdb::IODebugContext *debug) override
    {
        return Append(bytes, how, debug); /* as of files of the system */
    }

    rocksdb::IOStatus
    Sync(const rocksdb::IOOptions &how, rocksdb::IODebugContext *debug) override
    {
        const struct log_extent whole = Whole();

        return Synced(target()->Sync(how, debug), whole);
    }

    rocksdb::IOStatus
    Fsync(const rocksdb::IOOptions &how,
          rocksdb::IODebugContext *debug) override
    {
        const struct log_extent whole = Whole();

        return Synced(target()->Fsync(how, debug), whole);
    }

  private:
    /* One thread may sync a log while another writes it. */
    struct log_extent
    Whole()
    {
        std::lock_guard<std::mutex> hold(tail_mutex_);

        return tail_.whole;
    }

    /* Fills `next` with the tail after these bytes. */
    bool
    NoteAhead(const rocksdb::Slice &bytes, struct log_tail *next)
    {
        std::lock_guard<std::mutex> hold(tail_mutex_);

        *next = tail_;
        log_tail_add(next, reinterpret_cast<const uint8_t *>(bytes.data()),
                     bytes.size());
        return !is_known_ || next->whole.size == tail_.whole.size ||
               ledger_note_ahead(ledger_.get(), kind_, number_, next->whole);
    }

    rocksdb::IOStatus
    Noted(rocksdb::IOStatus status, const struct log_tail &next)
    {
        if (kind_ == LEDGER_MANIFEST)
            status = faults_->ManifestDone(std::move(status));

        std::lock_guard<std::mutex> hold(tail_mutex_);

        if (!status.ok())
            is_known_ = false; /* some of it may have been written */
        if (!is_known_)
            return status;
        tail_ = next;
        ledger_note_written(ledger_.get(), kind_, number_, tail_.whole);
        return status;
    }

    /* The first sync of a write-ahead log is not noted: RocksDB syncs the
     * directory, which has its name, only after it. A MANIFEST is used only
     * when CURRENT names it. Syncs after a failed one are not noted either: the
     * system may have dropped what it could not write and report success. */
    rocksdb::IOStatus
    Synced(rocksdb::IOStatus status, struct log_extent whole)
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
        if (kind_ == LEDGER_WAL) {
            if (status.ok() && whole.size > LOG_EMPTY_WRITE_SIZE &&
                !ledger_mark_synced(ledger_.get(), number_,
                                    faults_->IsNewestLog(number_)))
                status = rocksdb::IOStatus::IOError(
                    "cannot note in the ledger that a log is synced");
            return faults_->LogSynced(number_, status);
        }
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

/* A file that seems to end early. */
class Prefix : public rocksdb::FSSequentialFileOwnerWrapper
{
  public:
    Prefix(std::unique_ptr<rocksdb::FSSequentialFile> file, uint64_t size)
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

/* RocksDB's text log. RocksDB ends the process when it writes to a file whose
 * last write failed. So this one reports no failures, as of a full disk, and
 * lines are lost. */
class TextLog : public rocksdb::FSWritableFileOwnerWrapper
{
  public:
    explicit TextLog(std::unique_ptr<rocksdb::FSWritableFile> file)
        : rocksdb::FSWritableFileOwnerWrapper(std::move(file))
    {
    }

    rocksdb::IOStatus
    Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &how,
           rocksdb::IODebugContext *debug) override
    {
        return Succeed(target()->Append(bytes, how, debug));
    }

    rocksdb::IOStatus
    Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &how,
           const rocksdb::DataVerificationInfo &verification,
           rocksdb::IODebugContext *debug) override
    {
        return Succeed(target()->Append(bytes, how, verification, debug));
    }

    rocksdb::IOStatus
    Flush(const rocksdb::IOOptions &how,
          rocksdb::IODebugContext *debug) override
    {
        return Succeed(target()->Flush(how, debug));
    }

    rocksdb::IOStatus
    Close(const rocksdb::IOOptions &how,
          rocksdb::IODebugContext *debug) override
    {
        return Succeed(target()->Close(how, debug));
    }

  private:
    static rocksdb::IOStatus
    Succeed(const rocksdb::IOStatus &status)
    {
        status.PermitUncheckedError();
        return rocksdb::IOStatus::OK();
    }
};

/* An SST whose ends are in memory: see opened_files.h. */
class EndsInMemory : public rocksdb::FSRandomAccessFileOwnerWrapper
{
  public:
    EndsInMemory(std::unique_ptr<rocksdb::FSRandomAccessFile> file,
                 uint64_t until, uint64_t from, uint64_t size)
        : rocksdb::FSRandomAccessFileOwnerWrapper(std::move(file)),
          from_(std::min(from, size)), first_(std::min(until, from_), '\0'),
          last_(size - from_, '\0')
    {
    }

    uint64_t
    Hash() const
    {
        return XXH3_64bits_withSeed(last_.data(), last_.size(),
                                    XXH3_64bits(first_.data(), first_.size()));
    }

    rocksdb::IOStatus
    Fill()
    {
        rocksdb::IOStatus status = FillFrom(0, &first_);

        return status.ok() ? FillFrom(from_, &last_) : status;
    }

    rocksdb::IOStatus
    Read(uint64_t offset, size_t size, const rocksdb::IOOptions &how,
         rocksdb::Slice *got, char *room,
         rocksdb::IODebugContext *debug) const override
    {
        const bool is_first = offset + size <= first_.size();
        const std::string &end = is_first ? first_ : last_;

        if (!is_first && offset < from_)
            return target()->Read(offset, size, how, got, room, debug);
        if (!is_first)
            offset -= from_;
        offset = std::min<uint64_t>(offset, end.size());
        size = std::min<size_t>(size, end.size() - offset);
        memcpy(room, end.data() + offset, size);
        *got = rocksdb::Slice(room, size);
        return rocksdb::IOStatus::OK();
    }

    /* The ends are what it would fetch. */
    rocksdb::IOStatus
    Prefetch(uint64_t, size_t, const rocksdb::IOOptions &,
             rocksdb::IODebugContext *) override
    {
        return rocksdb::IOStatus::OK();
    }

  private:
    rocksdb::IOStatus
    FillFrom(uint64_t offset, std::string *end)
    {
        rocksdb::Slice got;
        rocksdb::IOStatus status;

        if (end->empty())
            return status;
        status = target()->Read(offset, end->size(), rocksdb::IOOptions(), &got,
                                &(*end)[0], nullptr);
        if (status.ok() && got.size() != end->size())
            status = rocksdb::IOStatus::IOError("an SST ends early");
        if (status.ok() && got.data() != end->data())
            memcpy(&(*end)[0], got.data(), got.size());
        return status;
    }

    const uint64_t from_;
    std::string first_;
    std::string last_;
};

class StoreFileSystem : public rocksdb::FileSystemWrapper
{
  public:
    StoreFileSystem(const std::shared_ptr<rocksdb::FileSystem> &base,
                    std::shared_ptr<struct ledger> ledger,
                    std::shared_ptr<OpenedFiles> opened,
                    std::shared_ptr<OpenFiles> shared,
                    const struct colander_remote_files *remote)
        : rocksdb::FileSystemWrapper(base), base_(base),
          ledger_(std::move(ledger)), opened_(std::move(opened)),
          shared_(std::move(shared)), remote_(remote)
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
            return rocksdb::IOStatus::NotSupported(NO_OPTIONS_FILES);

        enum ledger_kind kind;
        uint64_t number;
        const bool is_noted = ledger_ && is_log(name, &kind, &number);

        if (is_noted && kind == LEDGER_WAL &&
            !ledger_begin(ledger_.get(), number))
            return rocksdb::IOStatus::IOError(
                "cannot note in the ledger that a log begins", name);
        rocksdb::IOStatus status = check_kind(name);

        if (status.ok())
            status = Privately(
                name, 0600, target()->NewWritableFile(name, how, file, debug));

        if (status.ok() && base_name(name) == "LOG")
            *file = std::make_unique<TextLog>(std::move(*file));
        if (status.ok() && is_noted)
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
                "cannot note in the ledger that it is removed, or another "
                "thread removes it",
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

    /* Hides files that logs_check does not take for those of a database. */
    rocksdb::IOStatus
    GetChildren(const std::string &directory, const rocksdb::IOOptions &how,
                std::vector<std::string> *names,
                rocksdb::IODebugContext *debug) override
    {
        rocksdb::IOStatus status =
            target()->GetChildren(directory, how, names, debug);

        names->erase(std::remove_if(names->begin(), names->end(), is_misnamed),
                     names->end());
        return status;
    }

    /* Hides the bytes of a log that do not count: RocksDB may refuse a MANIFEST
     * for them, and reads a write-ahead log over a hole of zeros. */
    rocksdb::IOStatus
    NewSequentialFile(const std::string &name, const rocksdb::FileOptions &how,
                      std::unique_ptr<rocksdb::FSSequentialFile> *file,
                      rocksdb::IODebugContext *debug) override
    {
        enum ledger_kind kind;
        uint64_t number;
        rocksdb::IOStatus status = check_kind(name);

        if (status.ok())
            status = target()->NewSequentialFile(name, how, file, debug);

        if (status.ok() && ledger_ && is_log(name, &kind, &number)) {
            if (kind == LEDGER_WAL)
                opened_->NoteLog(base_name(name));
            const struct ledger_entry noted =
                ledger_noted(ledger_.get(), kind, number);

            const uint64_t written = noted.extents[LEDGER_WRITTEN].size;

            if (noted.is_cut || (kind == LEDGER_MANIFEST && written > 0))
                *file = std::make_unique<Prefix>(std::move(*file), written);
        }
        return status;
    }

    /* RocksDB looks for a missing SST under LevelDB's name as well, and would
     * report that one. */
    rocksdb::IOStatus
    NewRandomAccessFile(const std::string &name,
                        const rocksdb::FileOptions &how,
                        std::unique_ptr<rocksdb::FSRandomAccessFile> *file,
                        rocksdb::IODebugContext *debug) override
    {
        std::string sst = name;

        if (name.size() > 4 && name.compare(name.size() - 4, 4, ".ldb") == 0)
            sst.replace(name.size() - 4, 4, ".sst");
        OpenedFiles::Last() = sst;
        uint64_t size = 0;
        rocksdb::IOStatus status = check_kind(sst, &size);

        if (status.ok() && is_sst(sst) && remote_ != nullptr)
            *file = make_remote_file(remote_, sst, size);
        else if (status.ok())
            status = target()->NewRandomAccessFile(sst, how, file, debug);
        if (status.ok() && is_sst(sst) && shared_ && remote_ == nullptr)
            status = share_descriptor(shared_, base_, sst, how, file);
        if (status.ok() && is_sst(sst))
            status = ReadEnds(sst, size, file);
        if (status.ok() && is_sst(sst)) {
            status = check_table(sst, file->get(), size);
            if (!status.ok())
                file->reset();
        }
        if (!status.ok() && !status.IsPathNotFound() && !status.IsCorruption())
            opened_->NoteFailure(status.ToString());
        return status;
    }

    rocksdb::IOStatus
    ReopenWritableFile(const std::string &name, const rocksdb::FileOptions &how,
                       std::unique_ptr<rocksdb::FSWritableFile> *file,
                       rocksdb::IODebugContext *debug) override
    {
        rocksdb::IOStatus status = check_kind(name);

        if (status.ok())
            status =
                Privately(name, 0600,
                          target()->ReopenWritableFile(name, how, file, debug));
        return status;
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

    /* Over a file of this file system: see TextLog.
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
        rocksdb::IOStatus status = check_kind(name);

        if (status.ok())
            status = Privately(name, 0600,
                               target()->LockFile(name, how, lock, debug));
        return status;
    }

  private:
    /* Reads the ends of an SST that joins the database. */
    rocksdb::IOStatus
    ReadEnds(const std::string &sst, uint64_t size,
             std::unique_ptr<rocksdb::FSRandomAccessFile> *file)
    {
        uint64_t until;
        uint64_t from;

        if (!opened_->IsReadAtOnce(sst, &until, &from))
            return rocksdb::IOStatus::OK();

        auto whole =
            std::make_unique<EndsInMemory>(std::move(*file), until, from, size);
        rocksdb::IOStatus status = whole->Fill();

        if (status.ok() && !opened_->HasSameEnds(sst, whole->Hash()))
            status = rocksdb::IOStatus::Corruption(
                "it has changed since it was written", "in " + sst);
        *file = std::move(whole);
        return status;
    }

    static rocksdb::IOStatus
    Privately(const std::string &name, mode_t mode, rocksdb::IOStatus status)
    {
        if (status.ok() && chmod(name.c_str(), mode) != 0)
            return rocksdb::IOStatus::IOError("cannot make private", name);
        return status;
    }

    const std::shared_ptr<rocksdb::FileSystem> base_;
    std::shared_ptr<struct ledger> ledger_;
    std::shared_ptr<OpenedFiles> opened_;
    const std::shared_ptr<OpenFiles> shared_;
    const struct colander_remote_files *const remote_; /* NULL: none */
    const std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
    std::mutex directories_mutex_;
    std::map<std::string, std::weak_ptr<rocksdb::FSDirectory>> directories_;
};

} // namespace

std::shared_ptr<rocksdb::FileSystem>
make_store_files(std::shared_ptr<struct ledger> ledger,
                 std::shared_ptr<OpenedFiles> opened,
                 std::shared_ptr<OpenFiles> shared,
                 const struct colander_remote_files *remote)
{
    return std::make_shared<StoreFileSystem>(
        rocksdb::FileSystem::Default(), std::move(ledger), std::move(opened),
        std::move(shared), remote);
}
