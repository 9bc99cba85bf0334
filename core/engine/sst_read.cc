/*
 * SST files: listed, and read one by one; sequences; the store's own records.
 *
 * An SST has a reader of its own. Its blocks have the same keys in the block
 * cache as those of the database's reader, and its file stays open when the
 * database deletes it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"
#include "core/engine/store_files.h"
#include "core/engine/table_factory.h"

extern "C" {
#include "core/tables.h"
}

#include <rocksdb/sst_file_reader.h>

#include <fcntl.h>

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <shared_mutex>

/* The hash of keys in Bloom filters, which is part of their format. RocksDB
 * has no header for it. */
namespace ROCKSDB_NAMESPACE
{
uint64_t Hash64(const char *data, size_t size);
}

struct sst {
    struct engine *engine;
    uint64_t number;
    std::unique_ptr<rocksdb::SstFileReader> reader;
    std::shared_ptr<const rocksdb::TableProperties> properties;
};

/* -------------------------------------------------------------- errors --- */

/* Whether `word` ends before the place in the text. */
static bool
follows(const std::string &text, size_t at, const char *word)
{
    const size_t size = strlen(word);

    return at >= size && text.compare(at - size, size, word) == 0;
}

/* RocksDB's checks of its lists of files write "file #12", or "files #12, #14"
 * of one level. */
std::string
text_of(const rocksdb::Status &status)
{
    std::string text = status.ToString();

    for (size_t at = text.find('#'); at != std::string::npos;
         at = text.find('#', at + 1)) {
        const size_t end = text.find_first_not_of("0123456789", at + 1);
        char name[32];

        if (!follows(text, at, "file ") && !follows(text, at, "files ") &&
            !follows(text, at, ".sst, "))
            continue;
        (void)snprintf(name, sizeof(name), "%06llu.sst",
                       strtoull(text.c_str() + at + 1, nullptr, 10));
        text.replace(at, end - at, name);
    }
    return text;
}

enum colander_code
fail_sst(struct colander_error *err, const rocksdb::Status &status,
         uint64_t number, const char *what)
{
    enum colander_code code = code_of(status);

    if (status.IsPathNotFound())
        code = COLANDER_NOT_FOUND;
    else if (status.IsInvalidArgument() || status.IsNotSupported() ||
             status.IsNotFound())
        code = COLANDER_CORRUPT;
    return COLANDER_FAIL(err, code, "cannot %s SST %06" PRIu64 ": %s", what,
                         number, text_of(status).c_str());
}

/* ------------------------------------------------------------- reading --- */

/* Returns the path of an SST of the engine. */
static std::string
path_of(const struct engine *engine, uint64_t number)
{
    char name[sizeof("/" DIRECTORY_ENGINE "/.sst") + 20];

    (void)snprintf(name, sizeof(name),
                   "/" DIRECTORY_ENGINE "/%06" PRIu64 ".sst", number);
    return engine->path + name;
}

bool
engine_sst_path(const struct engine *engine, uint64_t number,
                char path[SST_PATH_MAX])
{
    const int size =
        snprintf(path, SST_PATH_MAX, "%s", path_of(engine, number).c_str());

    return size > 0 && size < SST_PATH_MAX;
}

/* Opens the reader. A file without properties is damaged, and its blocks in the
 * cache could be taken for those of another such file. */
static enum colander_code
open_reader(struct sst *sst, struct colander_error *err)
{
    rocksdb::Status status;

    sst->reader.reset(new rocksdb::SstFileReader(sst->engine->rocksdb_options));
    status = sst->reader->Open(path_of(sst->engine, sst->number));
    if (!status.ok())
        return fail_sst(err, status, sst->number, "open");
    sst->properties = sst->reader->GetTableProperties();
    if (!sst->properties)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "cannot open SST %06" PRIu64
                             ": its properties are damaged",
                             sst->number);
    return COLANDER_OK;
}

enum colander_code
sst_open(struct engine *engine, uint64_t number, struct sst **sst,
         struct colander_error *err)
{
    *sst = nullptr;
    return guard(err, "open an SST", [&] {
        std::unique_ptr<struct sst> made(new struct sst());
        enum colander_code code;

        made->engine = engine;
        made->number = number;
        code = open_reader(made.get(), err);
        if (code != COLANDER_OK)
            return code;
        engine->other_handles++;
        *sst = made.release();
        return COLANDER_OK;
    });
}

void
sst_close(struct sst *sst)
{
    if (sst == nullptr)
        return;
    struct engine *engine = sst->engine;

    delete sst;
    engine->other_handles--;
}

bool
sst_tag(const struct sst *sst, uint8_t tag[SST_TAG_SIZE])
{
    return find_tag(*sst->properties, tag);
}

uint64_t
sst_entry_count(const struct sst *sst)
{
    return sst->properties->num_entries;
}

enum colander_code
sst_cursor_open(struct sst *sst, const struct colander_snapshot *snapshot,
                bool is_reverse, struct engine_cursor **cursor,
                struct colander_error *err)
{
    *cursor = nullptr;
    return guard(err, "open a cursor on an SST", [&] {
        std::unique_ptr<engine_cursor> made(new engine_cursor());
        rocksdb::ReadOptions how;

        if (snapshot != nullptr)
            how.snapshot = snapshot->snapshot;
        how.ignore_range_deletions = true; /* as all scans do */
        made->sst_number = sst->number;
        made->is_reverse = is_reverse;
        made->iterator.reset(sst->reader->NewIterator(how));
        *cursor = made.release();
        return COLANDER_OK;
    });
}

/* ------------------------------------------------------------ checking --- */

uint64_t
engine_key_hash(struct colander_slice key)
{
    return rocksdb::Hash64(reinterpret_cast<const char *>(key.data), key.size);
}

enum colander_code
check_sst_places(const std::string &path, struct colander_error *err)
{
    enum colander_code code =
        table_check(AT_FDCWD, path.c_str(), engine_key_hash, err);

    if (code != COLANDER_OK)
        colander_error_context(err, "cannot check SST '%s'", path.c_str());
    return code;
}

/* Checks every byte, and then whether each block is where it belongs. */
static enum colander_code
check_reader(rocksdb::SstFileReader *reader, const std::string &path,
             struct colander_error *err)
{
    rocksdb::Status status = reader->VerifyChecksum();

    return status.ok() ? check_sst_places(path, err)
                       : fail_sst(err, status, number_of_file(path), "check");
}

enum colander_code
sst_check_file(const char *path, struct colander_error *err)
{
    return guard(err, "check an SST", [&] {
        std::unique_ptr<rocksdb::Env> env =
            rocksdb::NewCompositeEnv(make_store_files(
                nullptr, std::make_shared<OpenedFiles>(), nullptr, nullptr));
        rocksdb::BlockBasedTableOptions table;
        rocksdb::Options options;

        table.no_block_cache = true; /* reads the file, whatever is cached */
        options.env = env.get();
        options.table_factory = make_named_tables(table);

        rocksdb::SstFileReader reader(options);
        rocksdb::Status status = reader.Open(path);

        return status.ok()
                   ? check_reader(&reader, path, err)
                   : fail_sst(err, status, number_of_file(path), "check");
    });
}

enum colander_code
sst_check(struct sst *sst, struct colander_error *err)
{
    return guard(err, "check an SST", [&] {
        return check_reader(sst->reader.get(),
                            path_of(sst->engine, sst->number), err);
    });
}

/* ---------------------------------------------------------------- list --- */

/* Notes the properties of a family's files by number, as far as they can be
 * read. Reads nothing else of a file that is not open. */
static void
read_properties(struct engine *engine, uint32_t family,
                std::map<uint64_t, struct sst_info> *known)
{
    auto handle = family_handle(engine, family);
    rocksdb::TablePropertiesCollection found;

    if (!handle)
        return;
    (void)engine->db->GetPropertiesOfAllTables(handle.get(), &found);
    for (const auto &one : found) {
        struct sst_info &file = (*known)[number_of_file(one.first)];

        file.data_size = one.second->data_size;
        file.entry_count = one.second->num_entries;
        file.is_tag_known = true;
        (void)find_tag(*one.second, file.tag);
    }
}

static void
list_files(struct engine *engine, std::vector<struct sst_info> *files)
{
    std::vector<rocksdb::LiveFileMetaData> live;
    std::map<uint64_t, struct sst_info> known;
    std::lock_guard<std::mutex> alone(engine->change_mutex);
    const auto ids = family_ids(engine);

    engine->db->GetLiveFilesMetaData(&live);
    for (const auto &family : ids)
        if (engine->options.remote == nullptr) /* each would be fetched */
            read_properties(engine, family.second, &known);
    for (const rocksdb::LiveFileMetaData &one : live) {
        auto family = ids.find(one.column_family_name);
        struct sst_info file = known[one.file_number];

        if (family == ids.end())
            continue; /* `default` */
        file.family = family->second;
        file.number = one.file_number;
        file.size = one.size;
        file.last_sequence = one.largest_seqno;
        if (!file.is_tag_known)
            file.entry_count = one.num_entries;
        files->push_back(file);
    }
}

enum colander_code
engine_ssts(struct engine *engine,
            enum colander_code (*visit)(void *context,
                                        const struct sst_info *file,
                                        struct colander_error *err),
            void *context, struct colander_error *err)
{
    return guard(err, "list SSTs", [&] {
        std::vector<struct sst_info> files;
        enum colander_code code = COLANDER_OK;

        list_files(engine, &files);
        for (size_t i = 0; i < files.size() && code == COLANDER_OK; i++)
            code = visit(context, &files[i], err);
        return code;
    });
}

/* ----------------------------------------------------------- sequences --- */

uint64_t
engine_sequence(const struct engine *engine)
{
    return engine->db->GetLatestSequenceNumber();
}

uint64_t
snapshot_sequence(const struct colander_snapshot *snapshot)
{
    return snapshot->snapshot->GetSequenceNumber();
}

/* ------------------------------------------------------------- records --- */

/* Runs `body` with the key of the record `name`. */
template <typename Body>
static enum colander_code
with_record(const char *name, const char *what, struct colander_error *err,
            Body body)
{
    size_t size = strlen(name);
    enum colander_code code;

    if (size < 1 || size > 255)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a record's name has 1 to 255 bytes, not %zu",
                             size);
    code = guard(err, what, [&] {
        rocksdb::Status status = body("record/" + std::string(name));

        if (status.ok() || status.IsNotFound())
            return COLANDER_OK;
        return fail_status(err, status, what);
    });
    if (code != COLANDER_OK)
        colander_error_context(err, "record '%s'", name);
    return code;
}

enum colander_code
engine_record_get(struct engine *engine, const char *name,
                  struct colander_buffer *record, bool *found,
                  struct colander_error *err)
{
    std::string value;
    enum colander_code code;

    *found = false;
    colander_buffer_clear(record);
    code = with_record(name, "read it", err, [&](const std::string &key) {
        rocksdb::Status status = engine->db->Get(
            rocksdb::ReadOptions(), engine->default_handle.get(), key, &value);

        *found = status.ok();
        return status;
    });
    if (code == COLANDER_OK)
        code = colander_buffer_append(record, value.data(), value.size(), err);
    *found = *found && code == COLANDER_OK;
    return code;
}

enum colander_code
engine_record_put(struct engine *engine, const char *name,
                  struct colander_slice record, struct colander_error *err)
{
    enum colander_code code = check_writable(engine, err);

    if (code != COLANDER_OK)
        return code;
    return with_record(name, "keep it", err, [&](const std::string &key) {
        rocksdb::ColumnFamilyHandle *records = engine->default_handle.get();
        std::shared_lock<SharedLock> shared(engine->writes_lock);
        rocksdb::WriteOptions how;

        how.sync = engine->options.sync;
        if (record.size == 0)
            return engine->db->Delete(how, records, key);
        return engine->db->Put(how, records, key, to_rocksdb(record));
    });
}
