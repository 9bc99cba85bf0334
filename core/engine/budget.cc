/* SPDX-License-Identifier: MIT */
#include "core/engine/budget.h"

#include "core/engine/cache.h"
#include "core/engine/engine_inside.h"

extern "C" {
#include "core/options.h"
#include "core/sized.h"
}

#include <cerrno>
#include <cstring>
#include <shared_mutex>
#include <utility>

#include <sys/stat.h>

/* --------------------------------------------------------------- files --- */

std::shared_ptr<rocksdb::FSRandomAccessFile>
OpenFiles::Find(Entry *entry)
{
    std::lock_guard<std::mutex> hold(mutex_);

    if (entry->file)
        open_.splice(open_.begin(), open_, entry->place);
    return entry->file;
}

std::shared_ptr<rocksdb::FSRandomAccessFile>
OpenFiles::Add(Entry *entry, std::shared_ptr<rocksdb::FSRandomAccessFile> file)
{
    std::shared_ptr<rocksdb::FSRandomAccessFile> closed; /* without the lock */
    std::lock_guard<std::mutex> hold(mutex_);

    if (entry->file)
        return entry->file; /* another thread was faster */
    if (open_.size() >= max_) {
        Entry *last = open_.back();

        closed = std::move(last->file);
        last->file.reset();
        open_.splice(open_.begin(), open_, last->place);
        open_.front() = entry;
    } else {
        open_.push_front(entry);
    }
    entry->place = open_.begin();
    entry->file = std::move(file);
    return entry->file;
}

void
OpenFiles::Remove(Entry *entry)
{
    std::lock_guard<std::mutex> hold(mutex_);

    if (entry->file)
        open_.erase(entry->place);
    entry->file.reset();
}

size_t
OpenFiles::Count()
{
    std::lock_guard<std::mutex> hold(mutex_);

    return open_.size();
}

namespace
{

/* A file that is opened again when it is read and was closed. */
class SharedFile : public rocksdb::FSRandomAccessFile
{
  public:
    SharedFile(std::shared_ptr<OpenFiles> open,
               std::shared_ptr<rocksdb::FileSystem> files, std::string path,
               const rocksdb::FileOptions &how)
        : open_(std::move(open)), files_(std::move(files)),
          path_(std::move(path)), how_(how)
    {
    }

    SharedFile(const SharedFile &) = delete;
    SharedFile &operator=(const SharedFile &) = delete;

    ~SharedFile() override
    {
        open_->Remove(&entry_);
    }

    /* Takes a file that was just opened. */
    rocksdb::IOStatus
    Take(std::unique_ptr<rocksdb::FSRandomAccessFile> file)
    {
        const std::shared_ptr<rocksdb::FSRandomAccessFile> opened =
            std::move(file);

        (void)open_->Add(&entry_, opened);
        return Look(&first_);
    }

    rocksdb::IOStatus
    Read(uint64_t offset, size_t size, const rocksdb::IOOptions &how,
         rocksdb::Slice *got, char *room,
         rocksdb::IODebugContext *debug) const override
    {
        std::shared_ptr<rocksdb::FSRandomAccessFile> file;
        rocksdb::IOStatus status = Open(&file);

        return status.ok() ? file->Read(offset, size, how, got, room, debug)
                           : status;
    }

    rocksdb::IOStatus
    Prefetch(uint64_t offset, size_t size, const rocksdb::IOOptions &how,
             rocksdb::IODebugContext *debug) override
    {
        std::shared_ptr<rocksdb::FSRandomAccessFile> file;
        rocksdb::IOStatus status = Open(&file);

        return status.ok() ? file->Prefetch(offset, size, how, debug) : status;
    }

    size_t
    GetUniqueId(char *id, size_t size) const override
    {
        std::shared_ptr<rocksdb::FSRandomAccessFile> file;

        return Open(&file).ok() ? file->GetUniqueId(id, size) : 0;
    }

  private:
    struct Identity {
        dev_t device;
        ino_t inode;
    };

    rocksdb::IOStatus
    Look(Identity *identity) const
    {
        struct stat found = {};

        if (stat(path_.c_str(), &found) != 0)
            return rocksdb::IOStatus::IOError("cannot look at " + path_,
                                              strerror(errno));
        *identity = {found.st_dev, found.st_ino};
        return rocksdb::IOStatus::OK();
    }

    rocksdb::IOStatus
    Open(std::shared_ptr<rocksdb::FSRandomAccessFile> *file) const
    {
        std::unique_ptr<rocksdb::FSRandomAccessFile> opened;
        Identity now = {};
        rocksdb::IOStatus status;

        *file = open_->Find(&entry_);
        if (*file)
            return status;
        status = files_->NewRandomAccessFile(path_, how_, &opened, nullptr);
        if (status.ok())
            status = Look(&now);
        if (status.ok() &&
            (now.device != first_.device || now.inode != first_.inode))
            status = rocksdb::IOStatus::IOError("another file has replaced it",
                                                path_);
        if (status.ok())
            *file = open_->Add(&entry_, std::move(opened));
        return status;
    }

    const std::shared_ptr<OpenFiles> open_;
    const std::shared_ptr<rocksdb::FileSystem> files_;
    const std::string path_;
    const rocksdb::FileOptions how_;
    Identity first_ = {}; /* of the file that was opened first */
    mutable OpenFiles::Entry entry_;
};

} // namespace

rocksdb::IOStatus
share_descriptor(const std::shared_ptr<OpenFiles> &open,
                 const std::shared_ptr<rocksdb::FileSystem> &files,
                 const std::string &path, const rocksdb::FileOptions &how,
                 std::unique_ptr<rocksdb::FSRandomAccessFile> *file)
{
    auto shared = std::make_unique<SharedFile>(open, files, path, how);
    rocksdb::IOStatus status = shared->Take(std::move(*file));

    *file = std::move(shared);
    return status;
}

/* -------------------------------------------------------------- budget --- */

static std::shared_ptr<rocksdb::Cache>
cache_of(const struct colander_budget_options &budget)
{
    struct colander_options options;

    colander_options_init(&options);
    options_fill_kept(&options);
    options_set_budget(&options, &budget);
    return make_block_cache(options);
}

/* Direct reads of the layer above have a quarter of the descriptors. */
colander_budget::colander_budget(const struct colander_budget_options &given)
    : options(given), cache(cache_of(given)),
      write_buffers(std::make_shared<rocksdb::WriteBufferManager>(
          given.write_buffer_size)),
      files(std::make_shared<OpenFiles>(given.open_files_max -
                                        given.open_files_max / 4))
{
}

colander_budget::~colander_budget()
{
    for (const Part &part : parts)
        part.kind.destroy(part.part);
}

void
colander_budget::Join(struct engine *engine)
{
    std::lock_guard<std::mutex> hold(engines_mutex_);

    engines_.insert(engine);
}

void
colander_budget::Leave(struct engine *engine)
{
    std::lock_guard<std::mutex> hold(engines_mutex_);

    engines_.erase(engine);
}

namespace
{

/* References to families. */
class Families
{
  public:
    Families() = default;
    Families(const Families &) = delete;
    Families &operator=(const Families &) = delete;

    ~Families()
    {
        for (struct engine_family *family : families)
            family_unref(family);
    }

    void
    Add(struct engine *engine)
    {
        std::lock_guard<std::mutex> hold(engine->families_mutex);

        families.reserve(families.size() + engine->families.size());
        for (auto &entry : engine->families) {
            entry.second->reference_count++;
            engine->family_references++;
            families.push_back(entry.second.get());
        }
    }

    std::vector<struct engine_family *> families;
};

} // namespace

/* Returns the size of the memtable that is written. */
static uint64_t
memtable_size(const struct engine_family *family)
{
    uint64_t size = 0;

    return family->engine->db->GetIntProperty(
               family->handle.get(),
               rocksdb::DB::Properties::kCurSizeActiveMemTable, &size)
               ? size
               : 0;
}

static void
begin_flush(struct engine_family *family)
{
    std::shared_lock<SharedLock> no_drop(family->flush_lock);
    rocksdb::FlushOptions how;
    rocksdb::Status status;

    how.wait = false;
    how.allow_write_stall = true;
    if (family->is_dropped || family->engine->is_stopped)
        return;
    status = family->engine->db->Flush(how, family->handle.get());
    status.PermitUncheckedError(); /* the next write reports it */
}

void
colander_budget::Relieve()
{
    if (write_buffers->mutable_memtable_memory_usage() <=
        options.write_buffer_size / 2)
        return;

    std::unique_lock<std::mutex> hold(engines_mutex_, std::try_to_lock);
    struct engine_family *largest = nullptr;
    uint64_t largest_size = 0;
    Families all;

    if (!hold.owns_lock()) /* another thread does it */
        return;
    for (struct engine *engine : engines_)
        all.Add(engine);
    for (struct engine_family *family : all.families) {
        const uint64_t size = memtable_size(family);

        if (family->is_dropped || family->engine->is_stopped ||
            family->engine->is_read_only() || size <= largest_size)
            continue;
        largest = family;
        largest_size = size;
    }
    if (largest != nullptr)
        begin_flush(largest);
}

enum colander_code
colander_budget_create(const struct colander_budget_options *options,
                       struct colander_budget **budget,
                       struct colander_error *err)
{
    struct colander_budget_options accepted;
    enum colander_code code = budget_options_accept(&accepted, options, err);

    *budget = nullptr;
    if (code == COLANDER_OK)
        code = guard(err, "create a budget", [&] {
            *budget = new colander_budget(accepted);
            return COLANDER_OK;
        });
    if (code != COLANDER_OK)
        colander_error_context(err, "budget");
    return code;
}

void
colander_budget_release(struct colander_budget *budget)
{
    if (budget != nullptr && --budget->reference_count == 0)
        delete budget;
}

void *
budget_get_part(struct colander_budget *budget, const struct budget_part *kind)
{
    std::lock_guard<std::mutex> hold(budget->parts_mutex);
    void *part = nullptr;

    for (const colander_budget::Part &known : budget->parts) {
        if (known.kind.create == kind->create)
            part = known.part;
    }
    if (part != nullptr) {
        budget->reference_count++;
        return part;
    }
    quietly([&] {
        budget->parts.reserve(budget->parts.size() + 1);
        part = kind->create(&budget->options);
        if (part == nullptr)
            return;
        budget->parts.push_back({*kind, part});
        budget->reference_count++;
    });
    return part;
}

void
colander_budget_measure_sized(struct colander_budget *budget,
                              struct colander_budget_use *use,
                              size_t struct_size)
{
    struct colander_budget_use now = {};

    {
        std::lock_guard<std::mutex> hold(budget->engines_mutex_);

        now.store_count = budget->engines_.size();
    }
    now.cache_size = budget->cache->GetUsage();
    now.unflushed_size = budget->write_buffers->memory_usage();
    now.file_count = budget->files->Count();
    {
        std::lock_guard<std::mutex> hold(budget->parts_mutex);

        for (const colander_budget::Part &part : budget->parts)
            part.kind.use(part.part, &now);
    }
    sized_return(use, struct_size, &now, sizeof(now));
}
