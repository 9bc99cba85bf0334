/*
 * RocksDB's own functions: see rocksdb_inside.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/rocksdb_inside.h"

#include "core/engine/engine_inside.h"
#include "core/engine/jobs.h"

#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/debug.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

static void
must(const rocksdb::Status &status)
{
    if (status.ok())
        return;
    (void)fprintf(stderr, "%s\n", status.ToString().c_str());
    abort();
}

static rocksdb::DB *
db_of(struct engine_family *family)
{
    return family->engine->db.get();
}

void
rocksdb_set_option(struct engine_family *family, const char *name,
                   const char *value)
{
    must(db_of(family)->SetDBOptions({{name, value}}));
}

void
rocksdb_stop_compactions(struct engine_family *family)
{
    must(db_of(family)->SetOptions(family->handle.get(),
                                   {{"disable_auto_compactions", "true"}}));
}

static bool
is_busy(struct engine_family *family)
{
    static const char *const names[] = {
        "rocksdb.mem-table-flush-pending",
        "rocksdb.num-running-flushes",
        "rocksdb.compaction-pending",
        "rocksdb.num-running-compactions",
    };

    for (const char *name : names) {
        uint64_t number = 0;

        if (db_of(family)->GetIntProperty(family->handle.get(), name,
                                          &number) &&
            number > 0)
            return true;
    }
    return false;
}

void
rocksdb_settle(struct engine_family *family)
{
    while (is_busy(family))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

uint64_t
rocksdb_files_at(struct engine_family *family, int level)
{
    std::string number;

    if (!db_of(family)->GetProperty(
            family->handle.get(),
            "rocksdb.num-files-at-level" + std::to_string(level), &number))
        abort();
    return strtoull(number.c_str(), nullptr, 10);
}

void
rocksdb_move_down(struct engine_family *family)
{
    rocksdb::CompactRangeOptions how;

    how.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kSkip;
    must(db_of(family)->CompactRange(how, family->handle.get(), nullptr,
                                     nullptr));
}

void
rocksdb_move_to(struct engine_family *family, int level)
{
    rocksdb::CompactRangeOptions how;

    how.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kSkip;
    how.change_level = true;
    how.target_level = level;
    must(db_of(family)->CompactRange(how, family->handle.get(), nullptr,
                                     nullptr));
}

void
rocksdb_compact_files(struct engine_family *family)
{
    const int last_level = 6;
    rocksdb::ColumnFamilyMetaData meta;
    std::vector<std::string> names;

    db_of(family)->GetColumnFamilyMetaData(family->handle.get(), &meta);
    for (const rocksdb::SstFileMetaData &file : meta.levels[0].files)
        names.push_back(file.name);
    must(db_of(family)->CompactFiles(rocksdb::CompactionOptions(),
                                     family->handle.get(), names, last_level));
}

void
rocksdb_write_sst(const char *path, const struct colander_slice *keys,
                  const struct colander_slice *rows, size_t count)
{
    rocksdb::SstFileWriter writer{rocksdb::EnvOptions(), rocksdb::Options()};

    must(writer.Open(path));
    for (size_t i = 0; i < count; i++)
        must(writer.Put(to_rocksdb(keys[i]), to_rocksdb(rows[i])));
    must(writer.Finish());
}

void
rocksdb_write_table(const char *path, const struct rocksdb_table *how,
                    const struct colander_slice *keys,
                    const struct colander_slice *rows, size_t count)
{
    rocksdb::BlockBasedTableOptions table;
    rocksdb::Options options;

    table.block_size = how->block_size;
    table.block_restart_interval = how->restart_interval;
    if (how->has_partitioned_index)
        table.index_type =
            rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    options.compression =
        static_cast<rocksdb::CompressionType>(how->compression);
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));

    rocksdb::SstFileWriter writer{rocksdb::EnvOptions(), options};

    must(writer.Open(path));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].data == nullptr)
            must(writer.Delete(to_rocksdb(keys[i])));
        else if (how->has_merges && i % 10 == 9)
            must(writer.Merge(to_rocksdb(keys[i]), to_rocksdb(rows[i])));
        else
            must(writer.Put(to_rocksdb(keys[i]), to_rocksdb(rows[i])));
    }
    must(writer.Finish());
}

uint64_t
rocksdb_count_items(struct engine *engine)
{
    const std::unique_ptr<rocksdb::Iterator> iterator(engine->db->NewIterator(
        rocksdb::ReadOptions(), engine->default_handle.get()));
    uint64_t count = 0;

    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next())
        count++;
    must(iterator->status());
    return count;
}

namespace
{

class PausingBatch : public rocksdb::WriteBatchWithIndex
{
  public:
    PausingBatch(void (*pause)(void *context), void *context)
        : pause_(pause), context_(context)
    {
    }

    rocksdb::WriteBatch *
    GetWriteBatch() override
    {
        pause_(context_);
        return rocksdb::WriteBatchWithIndex::GetWriteBatch();
    }

  private:
    void (*pause_)(void *context);
    void *context_;
};

} // namespace

void
rocksdb_pause_batch(struct engine_batch *batch, void (*pause)(void *context),
                    void *context)
{
    batch->plain.reset();
    batch->indexed = std::make_unique<PausingBatch>(pause, context);
}

unsigned
rocksdb_jobs_awaited(void)
{
    bool is_released = false;
    unsigned awaited = 0;
    Jobs jobs;
    Jobs::Running before = {0};
    Jobs::Running after = {0};
    std::list<Jobs::Kept> kept(1);
    const auto before_place = before.begin();
    const auto after_place = after.begin();

    kept.front().handle.reset(
        static_cast<rocksdb::ColumnFamilyHandle *>(nullptr),
        [&](rocksdb::ColumnFamilyHandle *) { is_released = true; });
    jobs.Begin(&before);
    jobs.Keep(std::move(kept));
    jobs.Begin(&after);
    awaited += is_released ? 0 : 1;
    jobs.End(before_place);
    awaited += is_released ? 0 : 2;
    jobs.End(after_place);
    return awaited;
}

void
rocksdb_single_delete(struct engine_family *family, struct colander_slice key)
{
    must(db_of(family)->SingleDelete(rocksdb::WriteOptions(),
                                     family->handle.get(), to_rocksdb(key)));
}

void
rocksdb_visit_entries(struct engine_family *family,
                      void (*visit)(void *context, struct colander_slice key,
                                    struct colander_slice value,
                                    uint64_t sequence, int type),
                      void *context)
{
    std::vector<rocksdb::KeyVersion> versions;

    must(rocksdb::GetAllKeyVersions(db_of(family), family->handle.get(), "", "",
                                    SIZE_MAX, &versions));
    for (const rocksdb::KeyVersion &version : versions)
        visit(
            context,
            colander_slice_of(version.user_key.data(), version.user_key.size()),
            colander_slice_of(version.value.data(), version.value.size()),
            version.sequence, version.type);
}

void
rocksdb_visit_files(struct engine_family *family,
                    void (*visit)(void *context, const char *path,
                                  uint64_t entry_count),
                    void *context)
{
    rocksdb::ColumnFamilyMetaData meta;

    db_of(family)->GetColumnFamilyMetaData(family->handle.get(), &meta);
    for (const rocksdb::LevelMetaData &level : meta.levels)
        for (const rocksdb::SstFileMetaData &file : level.files)
            visit(context, (file.db_path + file.name).c_str(),
                  file.num_entries);
}

void
rocksdb_ingest(struct engine_family *family, const char *path)
{
    rocksdb::IngestExternalFileOptions how;

    how.write_global_seqno = false;
    must(db_of(family)->IngestExternalFile(family->handle.get(), {path}, how));
}
