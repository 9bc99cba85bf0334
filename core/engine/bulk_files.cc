/*
 * SST files that are written outside the database: see bulk_files.h.
 *
 * RocksDB writes such a file as one of the family's last level, and our
 * collector sees its rows. Joining is one edit of the MANIFEST. It links the
 * files into the database. After a crash RocksDB removes the links when it next
 * opens, and the engine removes the directory.
 *
 * RocksDB gives the rows a sequence after all existing snapshots. A snapshot
 * taken between that and the edit would see rows appear, hence snapshots_lock.
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

#include <cstdlib>
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
    rocksdb::Options options; /* of its files */
    std::string directory;
    std::atomic<uint64_t> begun{0}; /* number of files, which names the next */

    std::mutex mutex;
    std::vector<File> files; /* that will join; under the mutex */

    std::vector<std::string> withdrawn; /* paths */

    ~bulk_files();
};

struct bulk_sst {
    struct bulk_files *files;
    std::string path;
    std::unique_ptr<rocksdb::SstFileWriter> writer;
    uint64_t size = 0;  /* of the file when it last grew */
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

/* Returns the options of the family's last level, which has no Bloom filters,
 * without a cache: blocks are read once. */
static rocksdb::Options
options_of_files(const struct engine *engine)
{
    rocksdb::Options options = engine->rocksdb_options;
    const auto *table =
        options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();

    if (table != nullptr) {
        rocksdb::BlockBasedTableOptions plain = *table;

        if (options.optimize_filters_for_hits &&
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
bulk_files_create(struct engine_family *family, struct bulk_files **files,
                  struct colander_error *err)
{
    enum colander_code code = check_writable(family->engine, err);

    *files = nullptr;
    if (code == COLANDER_OK)
        code = check_no_keys(family, err);
    if (code != COLANDER_OK)
        return code;
    return guard(err, "begin a bulk", [&] {
        std::unique_ptr<bulk_files> made(new bulk_files());
        enum colander_code result;

        family_ref(family);
        made->family = family;
        made->options = options_of_files(family->engine);
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

/* Finishes the file and adds it to the list. The list gets its room first, with
 * some for other threads: a file with a tag that is not in the list would leave
 * its filter on disk. */
static rocksdb::Status
complete(struct bulk_sst *sst)
{
    const size_t room = 64;
    struct bulk_files *files = sst->files;
    rocksdb::Status status;
    File file = {sst->path, {}};

    {
        std::lock_guard<std::mutex> hold(files->mutex);

        if (files->files.capacity() - files->files.size() < room)
            files->files.reserve(2 * files->files.size() + room);
    }
    present_sst() = {};
    status = sst->writer->Finish();
    file.created = std::exchange(present_sst(), {});
    file.created.family = files->family->handle->GetID();
    sst->is_finished = status.ok();
    if (status.ok()) {
        std::lock_guard<std::mutex> hold(files->mutex);

        files->files.push_back(std::move(file));
    } else {
        forget(files->family, file);
    }
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

/* ------------------------------------------------------------- joining --- */

static rocksdb::Status
ingest(struct bulk_files *files)
{
    struct engine_family *family = files->family;
    rocksdb::IngestExternalFileOptions how;
    std::vector<std::string> paths;

    for (const File &file : files->files)
        paths.push_back(file.path);
    how.move_files = true;
    how.write_global_seqno = false; /* the MANIFEST has it */
    return family->engine->db->IngestExternalFile(family->handle.get(), paths,
                                                  how);
}

enum colander_code
bulk_files_install(struct bulk_files *files, struct colander_error *err)
{
    struct engine_family *family = files->family;
    struct engine *engine = family->engine;

    return guard(err, "install SSTs", [&] {
        std::shared_lock<SharedLock> no_drop(family->flush_lock);
        std::unique_lock<SharedLock> no_write(engine->writes_lock);
        std::unique_lock<SharedLock> no_snapshot(engine->snapshots_lock);
        enum colander_code code = check_no_keys(family, err);
        rocksdb::Status status;

        if (code != COLANDER_OK || files->files.empty())
            return code;
        status = ingest(files);
        if (status.ok())
            files->files.clear();
        return family_result(family, status, "install SSTs", err);
    });
}
