/*
 * Events of SST files, passed to the observer of sst.h.
 *
 * A collector sees the rows of one SST while it is written, and stores the
 * writer's tag in its properties. A listener learns of files that are created
 * and deleted. RocksDB owns both, and calls them without holding a lock. No
 * exception leaves them.
 *
 * RocksDB creates, finishes and reports an SST in one thread. If that fails,
 * the report may lack number and properties. So the present file of each thread
 * is noted (present_sst), and its observer can clean up.
 *
 * The column family `default`, with the store's own records, is not observed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "core/engine/engine_inside.h"

#include <rocksdb/listener.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

static const char tag_property[] = "colander.tag";
static const uint32_t default_family = 0; /* RocksDB's id of `default` */

/* --------------------------------------------------------------- files --- */

bool
find_tag(const rocksdb::TableProperties &properties, uint8_t tag[SST_TAG_SIZE])
{
    const auto &collected = properties.user_collected_properties;
    auto found = collected.find(tag_property);

    if (found == collected.end() || found->second.size() != SST_TAG_SIZE)
        return false;
    memcpy(tag, found->second.data(), SST_TAG_SIZE);
    return true;
}

uint64_t
number_of_file(const std::string &path)
{
    size_t slash = path.rfind('/');
    size_t start = slash == std::string::npos ? 0 : slash + 1;

    return strtoull(path.c_str() + start, nullptr, 10);
}

struct sst_created &
present_sst()
{
    static thread_local struct sst_created file;

    return file;
}

bool
is_beside(const struct engine *engine, const std::string &path)
{
    const char bulks[] = "/" DIRECTORY_BULK;
    const size_t size = engine->path.size();

    return path.compare(0, size, engine->path) == 0 &&
           path.compare(size, sizeof(bulks) - 1, bulks) == 0;
}

namespace
{

/* Whether the flush of this thread has begun because memory was full. */
thread_local bool is_memory_full;

/* ----------------------------------------------------------- collector --- */

class Collector : public rocksdb::TablePropertiesCollector
{
  public:
    Collector(std::shared_ptr<const struct sst_observer> observer,
              uint32_t family)
        : observer_(std::move(observer))
    {
        if (family == default_family)
            return;
        present_sst().family = family;
        writer_ = observer_->writer_begin(observer_->context, family,
                                          present_sst().is_passing);
    }

    Collector(const Collector &) = delete;
    Collector &operator=(const Collector &) = delete;

    ~Collector() override
    {
        if (writer_ != nullptr)
            observer_->writer_end(writer_);
    }

    rocksdb::Status
    AddUserKey(const rocksdb::Slice &key, const rocksdb::Slice &value,
               rocksdb::EntryType type, rocksdb::SequenceNumber,
               uint64_t file_size) override
    {
        bool is_put = type == rocksdb::kEntryPut;
        bool is_row = is_put || type == rocksdb::kEntryDelete ||
                      type == rocksdb::kEntrySingleDelete;
        /* The block that is being filled will begin where the file ends, as
         * blocks are not compressed in parallel or with a dictionary. */
        const struct sst_entry entry = {from_rocksdb(key), from_rocksdb(value),
                                        file_size, is_put};

        if (writer_ != nullptr && is_row)
            observer_->writer_add(writer_, &entry);
        return rocksdb::Status::OK();
    }

    /* Called more than once: for the file, and for RocksDB's copy. */
    rocksdb::Status
    Finish(rocksdb::UserCollectedProperties *properties) override
    {
        if (writer_ != nullptr && !is_finished_) {
            is_finished_ = true;
            is_tagged_ = observer_->writer_finish(writer_, tag_);
            present_sst().is_tagged = is_tagged_;
            memcpy(present_sst().tag, tag_, SST_TAG_SIZE);
        }
        if (is_tagged_)
            quietly([&] {
                (*properties)[tag_property] = std::string(
                    reinterpret_cast<const char *>(tag_), SST_TAG_SIZE);
            });
        return rocksdb::Status::OK();
    }

    /* For RocksDB's text log. */
    rocksdb::UserCollectedProperties
    GetReadableProperties() const override
    {
        rocksdb::UserCollectedProperties properties;

        if (is_tagged_)
            quietly([&] {
                rocksdb::Slice tag(reinterpret_cast<const char *>(tag_),
                                   SST_TAG_SIZE);

                properties[tag_property] = tag.ToString(true);
            });
        return properties;
    }

    const char *
    Name() const override
    {
        return "ColanderCollector";
    }

  private:
    std::shared_ptr<const struct sst_observer> observer_;
    void *writer_ = nullptr;
    bool is_finished_ = false;
    bool is_tagged_ = false;
    uint8_t tag_[SST_TAG_SIZE] = {};
};

class CollectorFactory : public rocksdb::TablePropertiesCollectorFactory
{
  public:
    explicit CollectorFactory(
        std::shared_ptr<const struct sst_observer> observer)
        : observer_(std::move(observer))
    {
    }

    /* RocksDB 7.8 does not accept NULL; an exception ends the process. */
    rocksdb::TablePropertiesCollector *
    CreateTablePropertiesCollector(
        rocksdb::TablePropertiesCollectorFactory::Context context) override
    {
        return new Collector(observer_, context.column_family_id);
    }

    const char *
    Name() const override
    {
        return "ColanderCollectorFactory";
    }

  private:
    std::shared_ptr<const struct sst_observer> observer_;
};

/* ------------------------------------------------------------ listener --- */

class Listener : public rocksdb::EventListener
{
  public:
    explicit Listener(struct engine *engine)
        : engine_(engine), observer_(engine->observer)
    {
    }

    const char *
    Name() const override
    {
        return "ColanderListener";
    }

    void
    OnFlushBegin(rocksdb::DB *, const rocksdb::FlushJobInfo &info) override
    {
        const rocksdb::FlushReason reason = info.flush_reason;

        is_memory_full = reason == rocksdb::FlushReason::kWriteBufferFull ||
                         reason == rocksdb::FlushReason::kWriteBufferManager ||
                         reason == rocksdb::FlushReason::kWalFull;
    }

    /* FIFO replaces no files. */
    void
    OnTableFileCreationStarted(
        const rocksdb::TableFileCreationBriefInfo &info) override
    {
        present_sst() = {};
        present_sst().number = number_of_file(info.file_path);
        present_sst().began = clock_us();
        present_sst().is_passing =
            is_memory_full &&
            info.reason == rocksdb::TableFileCreationReason::kFlush &&
            engine_->rocksdb_options.compaction_style !=
                rocksdb::kCompactionStyleFIFO;
    }

    void
    OnTableFileCreated(const rocksdb::TableFileCreationInfo &info) override
    {
        quietly([&] { Created(info); });
    }

    void
    OnCompactionCompleted(rocksdb::DB *,
                          const rocksdb::CompactionJobInfo &info) override
    {
        quietly([&] { Replaced(info); });
    }

    /* Also for a file that could not be deleted: it is not used any more. */
    void
    OnTableFileDeleted(const rocksdb::TableFileDeletionInfo &info) override
    {
        const uint64_t number = number_of_file(info.file_path);

        quietly([&] { NoteGone(number); });
        observer_->deleted(observer_->context, number);
    }

    void
    OnFlushCompleted(rocksdb::DB *db,
                     const rocksdb::FlushJobInfo &info) override
    {
        quietly([&] { Flushed(db, info); });
    }

    void
    OnExternalFileIngested(
        rocksdb::DB *, const rocksdb::ExternalFileIngestionInfo &info) override
    {
        quietly([&] { Ingested(info); });
    }

  private:
    void
    Created(const rocksdb::TableFileCreationInfo &info)
    {
        const rocksdb::TableProperties &properties = info.table_properties;
        const uint64_t number = number_of_file(info.file_path);
        struct sst_created file = std::exchange(present_sst(), {});

        file.is_ok = info.status.ok() && number != 0;
        if (file.is_ok) {
            file.number = number;
            file.family = static_cast<uint32_t>(properties.column_family_id);
            file.size = info.file_size;
            file.data_size = properties.data_size;
            file.entry_count = properties.num_entries;
            file.is_tagged = find_tag(properties, file.tag);
        } else if (info.status.IsAborted() && !file.is_tagged) {
            return; /* it would be empty: there is no file, and no failure */
        }
        if (file.family != default_family)
            observer_->created(observer_->context, &file);
    }

    /* Reports input files that are not also outputs, as moved files are. */
    void
    Replaced(const rocksdb::CompactionJobInfo &info)
    {
        const auto &outputs = info.output_file_infos;
        std::vector<uint64_t> numbers;

        if (!info.status.ok() || info.cf_id == default_family)
            return;
        for (const rocksdb::CompactionFileInfo &input : info.input_file_infos) {
            if (std::none_of(outputs.begin(), outputs.end(),
                             [&](const rocksdb::CompactionFileInfo &output) {
                                 return output.file_number == input.file_number;
                             }))
                numbers.push_back(input.file_number);
        }
        quietly([&] {
            for (const uint64_t number : numbers)
                NoteGone(number);
        });
        if (!numbers.empty())
            observer_->replaced(observer_->context, numbers.data(),
                                numbers.size());
    }

    /* If the family has nothing unflushed, all writes before that check are in
     * files, and the sequence of the store is higher than that of the file. */
    void
    Flushed(rocksdb::DB *db, const rocksdb::FlushJobInfo &info)
    {
        uint64_t sequence =
            db->GetLatestSequenceNumber(); /* before the check */
        auto handle = family_handle(engine_, info.cf_id);

        if (!handle || !is_flushed(db, handle.get()))
            sequence = 0;
        if (info.smallest_seqno <= info.largest_seqno) /* not an empty flush */
            sequence = std::max<uint64_t>(sequence, info.largest_seqno);
        if (sequence != 0 && info.cf_id != default_family)
            observer_->flushed(observer_->context, info.cf_id, sequence);
    }

    void
    NoteGone(uint64_t number)
    {
        std::lock_guard<std::mutex> hold(engine_->gone_mutex);

        if (engine_->is_joining)
            engine_->gone.insert(number);
    }

    /* Reports a file after it was installed. A compaction may have replaced it
     * by then: its rows are in files that were reported, and it is not used. */
    void
    Joined(struct sst_created *file)
    {
        std::lock_guard<std::mutex> hold(engine_->gone_mutex);

        file->is_ok = engine_->gone.count(file->number) == 0;
        observer_->created(observer_->context, file);
    }

    /* Sets the family of a file that has joined. Of a file that we wrote it is
     * in its properties, also while the family is dropped; of another, only the
     * name of its column family is known. */
    bool
    FindFamily(const rocksdb::ExternalFileIngestionInfo &info,
               struct sst_created *file) const
    {
        file->family =
            static_cast<uint32_t>(info.table_properties.column_family_id);
        if (is_beside(engine_, info.external_file_path))
            return file->family != default_family;

        const auto ids = family_ids(engine_);
        const auto family = ids.find(info.cf_name);

        if (family != ids.end())
            file->family = family->second;
        return family != ids.end();
    }

    /* A tag counts only in a file that we wrote. In others it is that of
     * another file. RocksDB does not report the size. Nothing that could fail
     * keeps a file that we wrote from being reported. */
    void
    Ingested(const rocksdb::ExternalFileIngestionInfo &info)
    {
        struct sst_created file = {};

        if (!FindFamily(info, &file))
            return;
        file.number = number_of_file(info.internal_file_path);
        quietly([&] {
            (void)engine_->env->GetFileSize(info.internal_file_path,
                                            &file.size);
        });
        file.data_size = info.table_properties.data_size;
        file.entry_count = info.table_properties.num_entries;
        file.joined_at = info.global_seqno;
        file.has_joined = true;
        file.is_tagged = is_beside(engine_, info.external_file_path) &&
                         find_tag(info.table_properties, file.tag);
        Joined(&file);
    }

    struct engine *engine_;
    std::shared_ptr<const struct sst_observer> observer_;
};

} // namespace

void
install_observer(struct engine *engine, const struct sst_observer *observer)
{
    rocksdb::Options &options = engine->rocksdb_options;

    engine->observer = std::make_shared<const struct sst_observer>(*observer);
    options.listeners.push_back(std::make_shared<Listener>(engine));
    options.table_properties_collector_factories.push_back(
        std::make_shared<CollectorFactory>(engine->observer));
}
