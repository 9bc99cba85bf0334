/*
 * Tables that say in which file they are damaged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge_tables.h"

#include "core/bridge_files.h"

#include <rocksdb/status.h>

namespace
{

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

    /* Who asks for the options of the tables gets those. */
    const rocksdb::Customizable *
    Inner() const override
    {
        return tables_.get();
    }

    using rocksdb::TableFactory::NewTableReader;

    /* RocksDB opens the file just before, in the same thread. */
    rocksdb::Status
    NewTableReader(const rocksdb::ReadOptions &how,
                   const rocksdb::TableReaderOptions &options,
                   std::unique_ptr<rocksdb::RandomAccessFileReader> &&file,
                   uint64_t size, std::unique_ptr<rocksdb::TableReader> *reader,
                   bool prefetches) const override
    {
        const std::string &name = file_opened_last();
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
