/* SPDX-License-Identifier: MIT */
#include "core/engine/table_factory.h"

#include <rocksdb/status.h>

#include "core/engine/opened_files.h"

extern "C" {
#include "core/tables.h"
}

#include <cerrno>
#include <cstring>

namespace
{

/* A file that RocksDB has opened. */
struct file_source : table_source {
    rocksdb::FSRandomAccessFile *file;
    mutable rocksdb::IOStatus status; /* of what failed */
};

ssize_t
read_file(const struct table_source *source, void *bytes, size_t size,
          off_t offset)
{
    auto *from = static_cast<const file_source *>(source);
    rocksdb::Slice got;
    rocksdb::IOStatus status = from->file->Read(
        static_cast<uint64_t>(offset), size, rocksdb::IOOptions(), &got,
        static_cast<char *>(bytes), nullptr);

    if (!status.ok()) {
        from->status = status;
        errno = EIO;
        return -1;
    }
    if (got.data() != bytes)
        memcpy(bytes, got.data(), got.size());
    return static_cast<ssize_t>(got.size());
}

class NamedTables : public rocksdb::TableFactory
{
  public:
    explicit NamedTables(rocksdb::TableFactory *tables) : tables_(tables)
    {
    }

    const char *
    Name() const override
    {
        return "ColanderNamedTables";
    }

    /* Has the options. */
    const rocksdb::Customizable *
    Inner() const override
    {
        return tables_.get();
    }

    using rocksdb::TableFactory::NewTableReader;

    rocksdb::Status
    NewTableReader(const rocksdb::ReadOptions &how,
                   const rocksdb::TableReaderOptions &options,
                   std::unique_ptr<rocksdb::RandomAccessFileReader> &&file,
                   uint64_t size, std::unique_ptr<rocksdb::TableReader> *reader,
                   bool prefetches) const override
    {
        const std::string name = OpenedFiles::Last();
        rocksdb::Status status = tables_->NewTableReader(
            how, options, std::move(file), size, reader, prefetches);

        if (!status.IsCorruption() ||
            status.ToString().find(name) != std::string::npos)
            return status;
        return rocksdb::Status::Corruption(
            status.getState() == nullptr ? "" : status.getState(),
            "in " + name);
    }

    rocksdb::TableBuilder *
    NewTableBuilder(const rocksdb::TableBuilderOptions &options,
                    rocksdb::WritableFileWriter *file) const override
    {
        return tables_->NewTableBuilder(options, file);
    }

    rocksdb::Status
    ValidateOptions(const rocksdb::DBOptions &database,
                    const rocksdb::ColumnFamilyOptions &family) const override
    {
        return tables_->ValidateOptions(database, family);
    }

    rocksdb::Status
    PrepareOptions(const rocksdb::ConfigOptions &options) override
    {
        return tables_->PrepareOptions(options);
    }

    std::string
    GetPrintableOptions() const override
    {
        return tables_->GetPrintableOptions();
    }

    bool
    IsDeleteRangeSupported() const override
    {
        return tables_->IsDeleteRangeSupported();
    }

  private:
    std::unique_ptr<rocksdb::TableFactory> tables_;
};

} // namespace

std::shared_ptr<rocksdb::TableFactory>
make_named_tables(const rocksdb::BlockBasedTableOptions &options)
{
    return std::make_shared<NamedTables>(
        rocksdb::NewBlockBasedTableFactory(options));
}

rocksdb::IOStatus
check_table(const std::string &path, rocksdb::FSRandomAccessFile *file,
            uint64_t size)
{
    file_source source;
    const char *damage;

    source.fd = -1;
    source.size = size;
    source.read = read_file;
    source.error = nullptr;
    source.file = file;
    if (table_check_properties(&source, &damage, nullptr) != COLANDER_OK)
        return rocksdb::IOStatus::OK();
    if (source.status.ok() && damage != nullptr)
        source.status = rocksdb::IOStatus::Corruption(damage, "in " + path);
    return source.status;
}
