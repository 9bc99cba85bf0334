/* SPDX-License-Identifier: MIT */
#include "core/engine/remote_files.h"

#include <algorithm>

namespace
{

class RemoteFile : public rocksdb::FSRandomAccessFile
{
  public:
    RemoteFile(const struct colander_remote_files *remote, std::string path,
               uint64_t size)
        : remote_(remote), path_(std::move(path)), size_(size)
    {
    }

    rocksdb::IOStatus
    Read(uint64_t offset, size_t size, const rocksdb::IOOptions &,
         rocksdb::Slice *got, char *room,
         rocksdb::IODebugContext *) const override
    {
        struct colander_error err = {};
        enum colander_code code;

        offset = std::min(offset, size_);
        size = std::min<uint64_t>(size, size_ - offset);
        *got = rocksdb::Slice(room, 0);
        code = remote_->read(remote_->context, path_.c_str(), offset,
                             reinterpret_cast<uint8_t *>(room), size, &err);
        if (code == COLANDER_CORRUPT)
            return rocksdb::IOStatus::Corruption(err.message);
        if (code != COLANDER_OK)
            return rocksdb::IOStatus::IOError(err.message);
        *got = rocksdb::Slice(room, size);
        return rocksdb::IOStatus::OK();
    }

  private:
    const struct colander_remote_files *remote_;
    const std::string path_;
    const uint64_t size_;
};

} // namespace

std::unique_ptr<rocksdb::FSRandomAccessFile>
make_remote_file(const struct colander_remote_files *remote,
                 const std::string &path, uint64_t size)
{
    return std::make_unique<RemoteFile>(remote, path, size);
}
