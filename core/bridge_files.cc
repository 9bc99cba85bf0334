/*
 * The file system that RocksDB sees.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge_files.h"

#include <map>
#include <mutex>
#include <string>

#include <sys/stat.h>

namespace
{

/* One descriptor for all that sync the same directory. */
class SharedDirectory : public rocksdb::FSDirectoryWrapper
{
  public:
    explicit SharedDirectory(std::shared_ptr<rocksdb::FSDirectory> shared)
        : rocksdb::FSDirectoryWrapper(shared.get()), shared_(std::move(shared))
    {
    }

    /* The last one that goes closes it. */
    rocksdb::IOStatus
    Close(const rocksdb::IOOptions &, rocksdb::IODebugContext *) override
    {
        return rocksdb::IOStatus::OK();
    }

  private:
    std::shared_ptr<rocksdb::FSDirectory> shared_;
};

class StoreFileSystem : public rocksdb::FileSystemWrapper
{
  public:
    using rocksdb::FileSystemWrapper::FileSystemWrapper;

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
        if (name.compare(name.rfind('/') + 1, 8, "OPTIONS-") == 0)
            return rocksdb::IOStatus::NotSupported("no OPTIONS files here");
        return Privately(name, 0600,
                         target()->NewWritableFile(name, how, file, debug));
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
        directory->reset(new SharedDirectory(std::move(shared)));
        return rocksdb::IOStatus::OK();
    }

    rocksdb::IOStatus
    NewLogger(const std::string &name, const rocksdb::IOOptions &how,
              std::shared_ptr<rocksdb::Logger> *logger,
              rocksdb::IODebugContext *debug) override
    {
        return Privately(name, 0600,
                         target()->NewLogger(name, how, logger, debug));
    }

    rocksdb::IOStatus
    LockFile(const std::string &name, const rocksdb::IOOptions &how,
             rocksdb::FileLock **lock, rocksdb::IODebugContext *debug) override
    {
        return Privately(name, 0600,
                         target()->LockFile(name, how, lock, debug));
    }

  private:
    static rocksdb::IOStatus
    Privately(const std::string &name, mode_t mode, rocksdb::IOStatus status)
    {
        if (status.ok() && chmod(name.c_str(), mode) != 0)
            return rocksdb::IOStatus::IOError("cannot make private", name);
        return status;
    }

    std::mutex directories_mutex_;
    std::map<std::string, std::weak_ptr<rocksdb::FSDirectory>> directories_;
};

} // namespace

std::shared_ptr<rocksdb::FileSystem>
make_store_files()
{
    return std::make_shared<StoreFileSystem>(rocksdb::FileSystem::Default());
}
