/*
 * SST files written beside the database, that join it: see "bulk" in sst.h.
 *
 * RocksDB writes such a file as it would write one of the family's last level,
 * and our collector sees its rows. Joining is one edit of the MANIFEST. It
 * links the files into the database, so that a crash leaves the links, which
 * RocksDB removes when it next opens, and the directory, which we do.
 *
 * RocksDB puts the rows behind all snapshots that there are by then. A snapshot
 * that is taken between that and the edit would see rows appear; hence
 * snapshots_lock. And a find that takes a snapshot and then a view of the files
 * has all of them in its view: their observer is told within the same call.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge.h"
#include "core/bulk_directory.h"

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <shared_mutex>

#include <unistd.h>

namespace
{

/* A file that was finished. */
struct File {
    std::string path;
    uint8_t tag[SST_TAG_SIZE];
    bool is_tagged;
};

} // namespace

struct bulk_files {
    struct colander_engine_family *family = nullptr;
    rocksdb::Options options; /* of its files */
    char *directory = nullptr;
    std::atomic<uint64_t> begun{0}; /* files; their names */

    std::mutex mutex;        /* guards: */
    std::vector<File> files; /* that will join */

    std::vector<std::string> withdrawn; /* paths of files that will not */

    ~bulk_files();
};

struct bulk_sst {
    struct bulk_files *files;
    std::string path;
    std::unique_ptr<rocksdb::SstFileWriter> writer;
    uint64_t size = 0;        /* of the file, when it last grew, */
    size_t waiting = 0;       /* and bytes put since then, without keys */
    bool is_ended = false;    /* its writing */
    bool is_finished = false; /* and well */
};

/* ----------------------------------------------------------------- life --- */

/* The observer hears that a file will not join. */
static void
forget(struct colander_engine_family *family, const File &file)
{
    if (file.is_tagged)
        beside_failed(family->engine, family->handle->GetID(), file.tag);
}

bulk_files::~bulk_files()
{
    for (const File &file : files)
        forget(family, file);
    if (directory != nullptr)
        bulk_directory_remove(directory);
    free(directory);
    if (family != nullptr)
        family_unref(family);
}

/* INVALID when the family has a key. */
static enum colander_code
check_no_keys(struct colander_engine_family *family, struct colander_error *err)
{
    const struct colander_engine_cursor_options all = {};
    struct colander_engine_cursor *cursor;
    struct colander_slice key = {};
    struct colander_slice value;
    enum colander_code code;

    if (family->is_dropped)
        return fail_dropped(family, err);
    code = colander_engine_cursor_open(family, &all, &cursor, err);
    if (code == COLANDER_OK)
        code = colander_engine_cursor_next(cursor, &key, &value, err);
    if (code == COLANDER_OK && key.data != nullptr)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "family '%s' has rows: a bulk is for one that has "
                             "none",
                             family->name.c_str());
    colander_engine_cursor_close(cursor);
    return code;
}

/* As the family's, but that the last level has no Bloom filters. */
static rocksdb::Options
options_of_files(const struct colander_engine *engine)
{
    rocksdb::Options options = engine->rocksdb_options;
    const auto *table =
        options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();

    if (table != nullptr && options.optimize_filters_for_hits &&
        options.compaction_style != rocksdb::kCompactionStyleFIFO) {
        rocksdb::BlockBasedTableOptions plain = *table;

        plain.filter_policy.reset();
        options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(plain));
    }
    return options;
}

enum colander_code
bulk_files_create(struct colander_engine_family *family,
                  struct bulk_files **files, struct colander_error *err)
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
        result = bulk_directory_make(family->engine->path.c_str(),
                                     &made->directory, err);
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
    return files->directory;
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
        made->path = std::string(files->directory) + "/" +
                     std::to_string(++files->begun) + ".sst";
        beside_begin(files->family->engine);
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

/* Takes the file in; one that has a tag, and no place in the list, would leave
 * its filter behind: the place comes first, with room for other threads. */
static rocksdb::Status
complete(struct bulk_sst *sst)
{
    const size_t room = 64;
    struct bulk_files *files = sst->files;
    rocksdb::Status status;
    File file = {sst->path, {}, false};

    {
        std::lock_guard<std::mutex> hold(files->mutex);

        if (files->files.capacity() - files->files.size() < room)
            files->files.reserve(2 * files->files.size() + room);
    }
    status = sst->writer->Finish();
    sst->is_ended = true;
    file.is_tagged = beside_end(files->family->engine, file.tag);
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

/* Notes the size of the file. RocksDB 7.8 says that it could not write only
 * when the file is finished, and takes rows for nothing until then; but a file
 * to which some blocks were added has grown. Of a key a block may have no more
 * than three numbers, of a byte each, where it is nearly the one before. */
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
    uint8_t tag[SST_TAG_SIZE];

    sst->writer.reset();
    if (!sst->is_ended)
        (void)beside_end(sst->files->family->engine, tag);
    if (!sst->is_finished)
        (void)unlink(sst->path.c_str());
    delete sst;
}

/* --------------------------------------------------------- withdrawing --- */

enum colander_code
bulk_files_withdraw(struct bulk_files *files, const size_t *places,
                    size_t count, struct colander_error *err)
{
    return guard(err, "withdraw SSTs", [&] {
        std::vector<File> joining;
        size_t next = 0;

        joining.reserve(files->files.size());
        files->withdrawn.reserve(files->withdrawn.size() + count);
        for (size_t i = 0; i < files->files.size(); i++) {
            File &file = files->files[i];

            if (next == count || places[next] != i) {
                joining.push_back(std::move(file));
                continue;
            }
            forget(files->family, file);
            files->withdrawn.push_back(std::move(file.path));
            next++;
        }
        files->files = std::move(joining);
        return COLANDER_OK;
    });
}

struct bulk_reader {
    const struct bulk_files *files;
    rocksdb::Options options;
    std::string from;
    size_t next = 0; /* file */
    std::unique_ptr<rocksdb::SstFileReader> file;
    std::unique_ptr<rocksdb::Iterator> rows;
    bool is_given = false; /* the row where `rows` stands */
};

/* Nobody asks for these blocks again. */
static rocksdb::Options
options_to_read(const struct bulk_files *files)
{
    rocksdb::Options options = files->options;
    const auto *table =
        options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();

    if (table != nullptr) {
        rocksdb::BlockBasedTableOptions plain = *table;

        plain.block_cache.reset();
        plain.no_block_cache = true;
        options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(plain));
    }
    return options;
}

enum colander_code
bulk_reader_open(const struct bulk_files *files, struct colander_slice from,
                 struct bulk_reader **reader, struct colander_error *err)
{
    *reader = nullptr;
    return guard(err, "read SSTs", [&] {
        std::unique_ptr<bulk_reader> made(new bulk_reader());

        made->files = files;
        made->options = options_to_read(files);
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
    reader->file.reset(new rocksdb::SstFileReader(reader->options));
    status = reader->file->Open(reader->files->withdrawn[reader->next++]);
    if (!status.ok())
        return status;
    reader->rows.reset(reader->file->NewIterator(rocksdb::ReadOptions()));
    reader->rows->Seek(reader->from);
    reader->is_given = false;
    return reader->rows->status();
}

/* Goes to the next row, if there is one. */
static rocksdb::Status
step(struct bulk_reader *reader)
{
    rocksdb::Status status;

    if (reader->rows && reader->is_given) {
        reader->rows->Next();
        status = reader->rows->status();
    }
    while (status.ok() && (!reader->rows || !reader->rows->Valid()) &&
           reader->next < reader->files->withdrawn.size())
        status = open_next(reader);
    return status;
}

enum colander_code
bulk_reader_next(struct bulk_reader *reader, struct colander_slice *key,
                 struct colander_slice *value, struct colander_error *err)
{
    *key = *value = colander_slice_of(nullptr, 0);
    return guard(err, "read an SST", [&] {
        rocksdb::Status status = step(reader);

        reader->is_given = status.ok() && reader->rows && reader->rows->Valid();
        if (reader->is_given) {
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
    struct colander_engine_family *family = files->family;
    rocksdb::IngestExternalFileOptions how;
    std::vector<std::string> paths;

    for (const File &file : files->files)
        paths.push_back(file.path);
    how.move_files = true;
    how.write_global_seqno = false; /* it stands in the MANIFEST */
    return family->engine->db->IngestExternalFile(family->handle.get(), paths,
                                                  how);
}

enum colander_code
bulk_files_install(struct bulk_files *files, struct colander_error *err)
{
    struct colander_engine_family *family = files->family;
    struct colander_engine *engine = family->engine;

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
