/*
 * SST files that are written outside the database: see bulk_files.h.
 *
 * Our collector sees the rows of such a file while it is written. Joining is
 * one group of edits of the MANIFEST, one for the files and one for the marks,
 * which counts as a whole. It links the files into the database. After a crash
 * RocksDB removes the links when it next opens, and the engine removes the
 * directory.
 *
 * RocksDB gives the rows of each file one sequence, after those of all writes
 * and snapshots, unless no other file has keys in its range and there is no
 * snapshot. A snapshot taken between that and the edit would see rows appear,
 * hence snapshots_lock.
 * The observer is called within the same call, so a find that takes a snapshot
 * and then the list of files has all of them in the list.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"

extern "C" {
#include "core/bulk_files.h"
#include "core/files.h"
}

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <cassert>
#include <cstdlib>
#include <map>
#include <shared_mutex>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace
{

/* A finished file. */
struct File {
    std::string path;
    struct sst_created created; /* for the observer, if it does not join */
};

} // namespace

struct bulk_files {
    struct engine_family *family = nullptr;
    bool is_first = true;     /* in a family without keys */
    rocksdb::Options options; /* of its files */
    std::string directory;
    std::atomic<uint64_t> begun{0}; /* number of files, which names the next */

    std::mutex mutex;
    std::vector<File> files;           /* that will join; under the mutex */
    std::vector<std::string> finished; /* paths; under the mutex */

    std::vector<std::string> withdrawn; /* paths */

    std::map<std::string, std::string> marks; /* by key; empty: removed */
    bool is_prepared = false;                 /* the file of marks is written */

    ~bulk_files();
};

struct bulk_sst {
    struct bulk_files *files;
    std::string path;
    std::unique_ptr<rocksdb::SstFileWriter> writer;
    uint64_t first = 0; /* size of the file when it first grew, */
    uint64_t size = 0;  /* and when it last grew */
    size_t waiting = 0; /* bytes of values added since then */
    bool is_finished = false;
};

/* ------------------------------------------------------------ leftovers --- */

enum colander_code
bulk_files_visit_leftovers(
    const struct engine *engine,
    enum colander_code (*visit)(void *context, int directory, const char *name,
                                struct colander_error *err),
    void *context, struct colander_error *err)
{
    return engine->is_read_only()
               ? directory_visit_bulks(&engine->directory, visit, context, err)
               : COLANDER_OK;
}

/* ----------------------------------------------------------------- life --- */

/* Reports to the observer that a file will not join. */
static void
forget(const struct engine_family *family, const File &file)
{
    const auto &observer = family->engine->observer;

    if (file.created.is_tagged)
        observer->created(observer->context, &file.created);
}

bulk_files::~bulk_files()
{
    for (const std::string &path : finished)
        family->engine->opened->Forget(path);
    for (const File &file : files)
        forget(family, file);
    if (!directory.empty())
        files_remove(AT_FDCWD, directory.c_str());
    if (family != nullptr)
        family_unref(family);
}

/* Fails with INVALID if the family has a key. */
static enum colander_code
check_no_keys(struct engine_family *family, struct colander_error *err)
{
    const struct engine_cursor_options all = {};
    struct engine_cursor *cursor;
    struct colander_slice key;
    struct colander_slice value;
    bool is_row = false;
    enum colander_code code;

    if (family->is_dropped)
        return fail_dropped(family, err);
    code = engine_cursor_open(family, &all, &cursor, err);
    if (code == COLANDER_OK)
        code = engine_cursor_next(cursor, &is_row, &key, &value, err);
    if (code == COLANDER_OK && is_row)
        code =
            COLANDER_FAIL(err, COLANDER_INVALID,
                          "family '%s' has rows: a bulk needs a family without "
                          "rows",
                          engine_family_name(family));
    engine_cursor_close(cursor);
    return code;
}

/* Returns the options of the files, without a cache: blocks are read once. The
 * first files of a family are those of its last level, which has no Bloom
 * filters. */
static rocksdb::Options
options_of_files(const struct engine *engine, bool is_first)
{
    rocksdb::Options options = engine->rocksdb_options;
    const auto *table =
        options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();

    if (table != nullptr) {
        rocksdb::BlockBasedTableOptions plain = *table;

        if (is_first && options.optimize_filters_for_hits &&
            options.compaction_style != rocksdb::kCompactionStyleFIFO)
            plain.filter_policy.reset();
        plain.block_cache.reset();
        plain.no_block_cache = true;
        options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(plain));
    }
    return options;
}

static enum colander_code
make_directory(struct bulk_files *files, struct colander_error *err)
{
    const std::string &store = files->family->engine->path;
    std::string path = store + "/" DIRECTORY_BULK "XXXXXX";

    if (mkdtemp(&path[0]) == nullptr) /* 0700 */
        return files_fail(err, "create a directory in", store.c_str());
    files->directory = std::move(path);
    return COLANDER_OK;
}

enum colander_code
bulk_files_create(struct engine_family *family, bool is_first,
                  struct bulk_files **files, struct colander_error *err)
{
    enum colander_code code = check_writable(family->engine, err);

    *files = nullptr;
    if (code == COLANDER_OK && is_first)
        code = check_no_keys(family, err);
    if (code != COLANDER_OK)
        return code;
    return guard(err, "begin a bulk", [&] {
        std::unique_ptr<bulk_files> made(new bulk_files());
        enum colander_code result;

        family_ref(family);
        made->family = family;
        made->is_first = is_first;
        made->options = options_of_files(family->engine, is_first);
        result = make_directory(made.get(), err);
        if (result == COLANDER_OK)
            *files = made.release();
        return result;
    });
}

void
bulk_files_destroy(struct bulk_files *files)
{
    delete files;
}

const char *
bulk_files_path(const struct bulk_files *files)
{
    return files->directory.c_str();
}

/* ------------------------------------------------------------- writing --- */

enum colander_code
bulk_sst_begin(struct bulk_files *files, struct bulk_sst **sst,
               struct colander_error *err)
{
    *sst = nullptr;
    return guard(err, "begin an SST", [&] {
        std::unique_ptr<bulk_sst> made(new bulk_sst());
        rocksdb::Status status;

        made->files = files;
        made->path =
            files->directory + "/" + std::to_string(++files->begun) + ".sst";
        made->writer.reset(new rocksdb::SstFileWriter(
            rocksdb::EnvOptions(files->options), files->options,
            files->family->handle.get(), false));
        status = made->writer->Open(made->path);
        *sst = made.release();
        if (status.ok())
            return COLANDER_OK;
        bulk_sst_destroy(*sst);
        *sst = nullptr;
        return fail_status(err, status, "begin an SST");
    });
}

/* Reads what joining needs of the file: see opened_files.h. */
static rocksdb::Status
read_back(struct bulk_files *files, const std::string &path, uint64_t first_end,
          uint64_t last_block)
{
    rocksdb::SstFileReader reader(files->options);
    std::unique_ptr<rocksdb::Iterator> rows;
    rocksdb::Status status;

    {
        std::lock_guard<std::mutex> hold(files->mutex);

        files->finished.push_back(path);
    }
    files->family->engine->opened->ReadAtOnce(path, first_end, last_block);
    status = reader.Open(path);
    if (!status.ok())
        return status;
    rows.reset(reader.NewIterator(rocksdb::ReadOptions()));
    rows->SeekToFirst();
    if (rows->status().ok())
        rows->SeekToLast();
    return rows->status();
}

namespace
{

/* A file that is being finished. What its observer has for it is removed unless
 * the file gets into the list, also by an exception. Until then present_sst()
 * has what is known of it. */
class Unlisted
{
  public:
    explicit Unlisted(struct bulk_sst *sst) : sst_(sst)
    {
        present_sst() = {};
    }

    Unlisted(const Unlisted &) = delete;
    Unlisted &operator=(const Unlisted &) = delete;

    ~Unlisted()
    {
        const File file = {std::string(), Created()};

        present_sst() = {};
        if (!sst_->is_finished)
            forget(sst_->files->family, file);
    }

    void
    List()
    {
        std::lock_guard<std::mutex> hold(sst_->files->mutex);

        sst_->files->files.push_back({sst_->path, Created()});
        sst_->is_finished = true;
    }

  private:
    struct sst_created
    Created() const
    {
        struct sst_created created = present_sst();

        created.family = sst_->files->family->handle->GetID();
        return created;
    }

    struct bulk_sst *sst_;
};

} // namespace

/* Finishes the file and adds it to the list. */
static rocksdb::Status
complete(struct bulk_sst *sst)
{
    Unlisted unlisted(sst);
    rocksdb::Status status = sst->writer->Finish();

    if (status.ok())
        status = read_back(sst->files, sst->path, sst->first, sst->size);
    if (status.ok())
        unlisted.List();
    return status;
}

static enum colander_code
result_of(const rocksdb::Status &status, const char *what,
          struct colander_error *err)
{
    return status.ok() ? COLANDER_OK : fail_status(err, status, what);
}

/* Notes the size of the file. RocksDB 7.8 reports a failed write only when the
 * file is finished. But a file grows after some blocks were added. A block
 * needs at most three bytes for a key that is nearly the one before. */
static bool
has_stopped_growing(struct bulk_sst *sst, size_t value_size)
{
    const size_t added = value_size + 3;
    const size_t blocks =
        size_t{4} * sst->files->family->engine->options.block_size;
    const uint64_t size = sst->writer->FileSize();

    sst->waiting = size == sst->size ? sst->waiting + added : 0;
    sst->size = size;
    if (sst->first == 0)
        sst->first = size;
    return sst->waiting > blocks + added;
}

enum colander_code
bulk_sst_add(struct bulk_sst *sst, struct colander_slice key,
             struct colander_slice value, uint64_t *size,
             struct colander_error *err)
{
    return guard(err, "write an SST", [&] {
        rocksdb::Status status =
            sst->writer->Put(to_rocksdb(key), to_rocksdb(value));

        if (status.ok() && has_stopped_growing(sst, value.size)) {
            status = complete(sst);
            if (status.ok())
                status = rocksdb::Status::IOError("the file does not grow");
        }
        *size = sst->size;
        return result_of(status, "write an SST", err);
    });
}

enum colander_code
bulk_sst_finish(struct bulk_sst **sst, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (*sst != nullptr)
        code = guard(err, "finish an SST", [&] {
            return result_of(complete(*sst), "finish an SST", err);
        });
    bulk_sst_destroy(*sst);
    *sst = nullptr;
    return code;
}

void
bulk_sst_destroy(struct bulk_sst *sst)
{
    if (sst == nullptr)
        return;
    sst->writer.reset();
    if (!sst->is_finished)
        (void)unlink(sst->path.c_str());
    delete sst;
}

/* --------------------------------------------------------- withdrawing --- */

enum colander_code
bulk_files_withdraw(struct bulk_files *files, size_t place,
                    struct colander_error *err)
{
    return guard(err, "withdraw an SST", [&] {
        const auto file = files->files.begin() + (ptrdiff_t)place;

        files->withdrawn.push_back(file->path);
        forget(files->family, *file);
        files->files.erase(file);
        return COLANDER_OK;
    });
}

struct bulk_reader {
    const struct bulk_files *files;
    std::string from;
    size_t next = 0; /* file */
    std::unique_ptr<rocksdb::SstFileReader> file;
    std::unique_ptr<rocksdb::Iterator> rows;
    bool is_returned = false; /* the row at `rows` */
};

enum colander_code
bulk_reader_open(const struct bulk_files *files, struct colander_slice from,
                 struct bulk_reader **reader, struct colander_error *err)
{
    *reader = nullptr;
    return guard(err, "read SSTs", [&] {
        std::unique_ptr<bulk_reader> made(new bulk_reader());

        made->files = files;
        made->from = to_rocksdb(from).ToString();
        *reader = made.release();
        return COLANDER_OK;
    });
}

static rocksdb::Status
open_next(struct bulk_reader *reader)
{
    rocksdb::Status status;

    reader->rows.reset();
    reader->file.reset(new rocksdb::SstFileReader(reader->files->options));
    status = reader->file->Open(reader->files->withdrawn[reader->next++]);
    if (!status.ok())
        return status;
    reader->rows.reset(reader->file->NewIterator(rocksdb::ReadOptions()));
    reader->rows->Seek(reader->from);
    reader->is_returned = false;
    return reader->rows->status();
}

/* Steps to the next row, if there is one. */
static rocksdb::Status
step(struct bulk_reader *reader)
{
    rocksdb::Status status;

    if (reader->rows && reader->is_returned) {
        reader->rows->Next();
        status = reader->rows->status();
    }
    while (status.ok() && (!reader->rows || !reader->rows->Valid()) &&
           reader->next < reader->files->withdrawn.size())
        status = open_next(reader);
    return status;
}

enum colander_code
bulk_reader_next(struct bulk_reader *reader, bool *is_row,
                 struct colander_slice *key, struct colander_slice *value,
                 struct colander_error *err)
{
    *is_row = false;
    *key = *value = colander_slice_of(nullptr, 0);
    return guard(err, "read an SST", [&] {
        rocksdb::Status status = step(reader);

        *is_row = status.ok() && reader->rows && reader->rows->Valid();
        reader->is_returned = *is_row;
        if (*is_row) {
            *key = from_rocksdb(reader->rows->key());
            *value = from_rocksdb(reader->rows->value());
        }
        return result_of(status, "read an SST", err);
    });
}

void
bulk_reader_close(struct bulk_reader *reader)
{
    delete reader;
}

/* --------------------------------------------------------------- marks --- */

enum colander_code
bulk_files_mark(struct bulk_files *files, struct colander_slice name,
                struct colander_slice value, struct colander_error *err)
{
    return guard(err, "add a mark", [&] {
        assert(!files->is_prepared);
        files->marks[mark_key(files->family, name)] =
            to_rocksdb(value).ToString();
        return COLANDER_OK;
    });
}

static std::string
path_of_marks(const struct bulk_files *files)
{
    return files->directory + "/marks.sst";
}

/* Writes the marks to a file of the column family that has them. */
static rocksdb::Status
write_marks(struct bulk_files *files)
{
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(files->options),
                                  files->options,
                                  files->family->engine->default_handle.get());
    rocksdb::Status status;

    if (files->marks.empty())
        return status;
    status = writer.Open(path_of_marks(files));
    for (const auto &mark : files->marks) {
        if (status.ok())
            status = mark.second.empty() ? writer.Delete(mark.first)
                                         : writer.Put(mark.first, mark.second);
    }
    if (status.ok())
        status = writer.Finish();
    return status.ok() ? read_back(files, path_of_marks(files), 0, 0) : status;
}

/* ----------------------------------------------------------- preparing --- */

static enum colander_code
check_joins(const struct bulk_files *files, struct colander_error *err)
{
    if (files->family->is_dropped)
        return fail_dropped(files->family, err);
    return files->is_first ? check_no_keys(files->family, err) : COLANDER_OK;
}

/* Flushes what would be between older and newer files. RocksDB 7.8 refuses
 * files of level 0 whose sequences overlap, as those of a memtable and of a
 * file that joins may after a compaction. */
static rocksdb::Status
flush(const struct bulk_files *files)
{
    struct engine *engine = files->family->engine;
    rocksdb::ColumnFamilyHandle *const handles[] = {
        files->family->handle.get(), engine->default_handle.get()};
    rocksdb::FlushOptions options;
    rocksdb::Status status;

    options.allow_write_stall = true;
    for (rocksdb::ColumnFamilyHandle *handle : handles) {
        if (status.ok() && !is_flushed(engine->db.get(), handle))
            status = engine->db->Flush(options, handle);
    }
    return status;
}

/* Whether writes to the family would have to wait long for a flush. Those to
 * the store's own records are few. */
static bool
has_much_unflushed(const struct bulk_files *files)
{
    const uint64_t much = uint64_t{1} << 20;
    uint64_t size = 0;

    return files->family->engine->db->GetIntProperty(
               files->family->handle.get(),
               rocksdb::DB::Properties::kCurSizeAllMemTables, &size) &&
           size > much;
}

/* While a flush is under way, others write. That is less each time, unless they
 * write faster than files can be written. */
static rocksdb::Status
flush_most(const struct bulk_files *files)
{
    const unsigned rounds = 4;
    rocksdb::Status status = flush(files);

    for (unsigned i = 1; i < rounds && status.ok() && has_much_unflushed(files);
         i++)
        status = flush(files);
    return status;
}

enum colander_code
bulk_files_prepare(struct bulk_files *files, struct colander_error *err)
{
    struct engine_family *family = files->family;

    return guard(err, "prepare SSTs", [&] {
        std::shared_lock<SharedLock> no_drop(family->flush_lock);
        enum colander_code code = check_joins(files, err);
        rocksdb::Status status;

        if (code != COLANDER_OK)
            return code;
        status = write_marks(files);
        files->is_prepared = status.ok();
        if (!status.ok())
            return family_result(family, status, "write marks", err);
        return family_result(family, flush_most(files), "flush", err);
    });
}

/* ------------------------------------------------------------- joining --- */

static rocksdb::IngestExternalFileArg
argument_for(rocksdb::ColumnFamilyHandle *handle)
{
    rocksdb::IngestExternalFileArg argument;

    argument.column_family = handle;
    argument.options.move_files = true;
    argument.options.write_global_seqno = false; /* the MANIFEST has it */
    return argument;
}

namespace
{

/* While it exists, it is noted which files are replaced. */
class Joining
{
  public:
    explicit Joining(struct engine *engine) : engine_(engine)
    {
        Note(true);
    }

    Joining(const Joining &) = delete;
    Joining &operator=(const Joining &) = delete;

    ~Joining()
    {
        Note(false);
    }

  private:
    void
    Note(bool is_joining)
    {
        std::lock_guard<std::mutex> hold(engine_->gone_mutex);

        engine_->is_joining = is_joining;
        engine_->gone.clear();
    }

    struct engine *engine_;
};

} // namespace

static rocksdb::Status
ingest(struct bulk_files *files)
{
    struct engine *engine = files->family->engine;
    std::vector<rocksdb::IngestExternalFileArg> arguments;

    if (!files->files.empty()) {
        arguments.push_back(argument_for(files->family->handle.get()));
        for (const File &file : files->files)
            arguments.back().external_files.push_back(file.path);
    }
    if (!files->marks.empty()) {
        arguments.push_back(argument_for(engine->default_handle.get()));
        arguments.back().external_files.push_back(path_of_marks(files));
    }
    if (arguments.empty())
        return rocksdb::Status::OK();

    const Joining joining(engine);

    return engine->db->IngestExternalFiles(arguments);
}

/* With all locks. */
static enum colander_code
install(struct bulk_files *files, struct colander_error *err)
{
    struct engine_family *family = files->family;
    enum colander_code code = check_joins(files, err);
    rocksdb::Status status;

    if (code == COLANDER_OK)
        code = check_writable(family->engine, err);
    if (code != COLANDER_OK)
        return code;
    status = ingest(files);
    if (status.ok())
        files->files.clear();
    return family_result(family, status, "install SSTs", err);
}

enum colander_code
bulk_files_install(struct bulk_files *files, struct colander_error *err)
{
    struct engine_family *family = files->family;
    struct engine *engine = family->engine;

    assert(files->is_prepared);
    return guard(err, "install SSTs", [&] {
        std::shared_lock<SharedLock> no_drop(family->flush_lock);
        std::unique_lock<SharedLock> no_write(engine->writes_lock);
        rocksdb::Status status;

        if (family->is_dropped)
            return fail_dropped(family, err);
        status = flush(files); /* what was written since it was prepared */
        if (!status.ok())
            return family_result(family, status, "flush", err);

        std::unique_lock<SharedLock> no_snapshot(engine->snapshots_lock);

        return install(files, err);
    });
}
