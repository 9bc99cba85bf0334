/*
 * The files of a database at one moment: their paths, and backups of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"

extern "C" {
#include "core/backup.h"
}

#include <rocksdb/version.h>

#include <algorithm>
#include <cinttypes>
#include <deque>

/* Prevents the deletion of files of the database during its life. (A reader
 * deletes none, and has no such call.) */
class FilesKept
{
  public:
    explicit FilesKept(rocksdb::DB *db)
        : db_(db), status_(db->DisableFileDeletions())
    {
    }

    FilesKept(const FilesKept &) = delete;
    FilesKept &operator=(const FilesKept &) = delete;

    ~FilesKept()
    {
        if (!status_.ok())
            return;
#if ROCKSDB_MAJOR >= 9
        status_ = db_->EnableFileDeletions();
#else
        status_ =
            db_->EnableFileDeletions(false); /* others may keep them, too */
#endif
    }

  private:
    rocksdb::DB *db_;
    rocksdb::Status status_;
};

enum colander_code
engine_sst_places(struct engine *engine,
                  enum colander_code (*visit)(void *context,
                                              const struct sst_place *file,
                                              struct colander_error *err),
                  void *context, struct colander_error *err)
{
    return guard(err, "list SSTs", [&] {
        FilesKept kept(engine->db.get());
        std::vector<rocksdb::LiveFileMetaData> live;
        enum colander_code code = COLANDER_OK;

        engine->db->GetLiveFilesMetaData(&live);
        for (size_t i = 0; i < live.size() && code == COLANDER_OK; i++) {
            const std::string path = DIRECTORY_ENGINE + live[i].name;
            const struct sst_place file = {
                live[i].file_number, path.c_str(),
                live[i].column_family_name !=
                    rocksdb::kDefaultColumnFamilyName};

            code = visit(context, &file, err);
        }
        return code;
    });
}

/* -------------------------------------------------------------- backup --- */

/* Above this size of logs a backup flushes first. */
static const uint64_t log_size_max = 16 << 20;

/* Flushes if logs are large: backups share SST files, but copy all logs. */
static enum colander_code
flush_much(struct engine *engine, struct colander_error *err)
{
    rocksdb::VectorLogPtr logs;
    struct colander_names names;
    uint64_t size = 0;
    enum colander_code code;

    if (engine->is_read_only() || !engine->db->GetSortedWalFiles(logs).ok())
        return COLANDER_OK;
    for (const std::unique_ptr<rocksdb::LogFile> &log : logs)
        size += log->SizeFileBytes();
    if (size <= log_size_max)
        return COLANDER_OK;
    code = engine_families(engine, &names, err);
    for (size_t i = 0; code == COLANDER_OK && i < names.count; i++) {
        struct engine_family *family;

        code = engine_family_open(engine, names.names[i], false, &family, err);
        if (code == COLANDER_OK)
            code = engine_family_flush(family, err);
        engine_family_close(family);
        if (code == COLANDER_DROPPED || code == COLANDER_NOT_FOUND)
            code = COLANDER_OK; /* dropped by another thread */
    }
    colander_names_release(&names);
    return code;
}

/* The files of the store at one moment. */
struct Listing {
    std::vector<rocksdb::LiveFileStorageInfo> infos;
    std::deque<std::string> names; /* do not move */
    std::vector<struct backup_file> files;

    struct backup_file &
    Add(std::string name, enum backup_kind kind, uint64_t size)
    {
        struct backup_file file = {};

        names.push_back(std::move(name));
        file.name = names.back().c_str();
        file.kind = kind;
        file.size = size;
        files.push_back(file);
        return files.back();
    }
};

/* Adds a log, with the bytes of its whole records. The MANIFEST may have grown
 * since it was listed. Of a reader's log only these bytes count: RocksDB does
 * not see the others. */
static void
list_log(struct engine *engine, const rocksdb::LiveFileStorageInfo &info,
         const std::string &name, Listing *listing)
{
    const bool is_manifest = info.file_type == rocksdb::kDescriptorFile;
    const struct ledger_entry noted = ledger_noted(
        engine->ledger.get(), is_manifest ? LEDGER_MANIFEST : LEDGER_WAL,
        info.file_number);
    const uint64_t written = noted.extents[LEDGER_WRITTEN].size;
    struct backup_file &file = listing->Add(
        name, is_manifest ? BACKUP_MANIFEST : BACKUP_WAL, info.size);

    if (engine->is_read_only() && noted.is_found)
        file.size = std::min(file.size, written);
    file.number = info.file_number;
    file.whole = is_manifest ? std::min(written, file.size) : written;
}

static enum colander_code
list_file(struct engine *engine, const rocksdb::LiveFileStorageInfo &info,
          Listing *listing, struct colander_error *err)
{
    const std::string name = DIRECTORY_ENGINE "/" + info.relative_filename;

    switch (info.file_type) {
    case rocksdb::kTableFile:
        listing->Add(name, BACKUP_FILE, info.size);
        return COLANDER_OK;
    case rocksdb::kWalFile:
    case rocksdb::kDescriptorFile:
        list_log(engine, info, name, listing);
        return COLANDER_OK;
    case rocksdb::kCurrentFile:
        listing->Add(name, BACKUP_TEXT, info.size).bytes =
            from_rocksdb(info.replacement_contents);
        return COLANDER_OK;
    default:
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the database has a file of an unknown kind: '%s'",
                             name.c_str());
    }
}

/* Finds logs that RocksDB did not list: it takes one whose first record it
 * cannot read for empty. */
static enum colander_code
check_logs_listed(struct engine *engine, const Listing &listing,
                  struct colander_error *err)
{
    const auto &files = listing.files;
    struct ledger *ledger = engine->ledger.get();
    struct ledger_entry log = ledger_next(ledger, LEDGER_WAL, 0);

    for (; log.number != 0; log = ledger_next(ledger, LEDGER_WAL, log.number)) {
        const bool is_listed = std::any_of(
            files.begin(), files.end(), [&](const struct backup_file &file) {
                return file.kind == BACKUP_WAL && file.number == log.number;
            });

        if (log.extents[LEDGER_WRITTEN].size > 0 && !is_listed)
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "'" DIRECTORY_ENGINE "/%06" PRIu64 ".log' is "
                                 "missing, or corrupt at its beginning",
                                 log.number);
    }
    return COLANDER_OK;
}

/* Lists the files between two writes, with the sizes of that moment: MANIFEST
 * and logs grow after it. */
static enum colander_code
list_at_one_moment(struct engine *engine, Listing *listing,
                   struct colander_error *err)
{
    std::unique_lock<SharedLock> no_write(engine->writes_lock);
    rocksdb::LiveFilesStorageInfoOptions how;
    rocksdb::Status status;
    enum colander_code code = COLANDER_OK;

    how.wal_size_for_flush = UINT64_MAX; /* never, while writes wait */
    status = engine->db->GetLiveFilesStorageInfo(how, &listing->infos);
    if (!status.ok())
        return fail_status(err, status, "list the files of the database");
    for (size_t i = 0; i < listing->infos.size() && code == COLANDER_OK; i++)
        code = list_file(engine, listing->infos[i], listing, err);
    listing->Add(DIRECTORY_RECORD, BACKUP_FILE, FILES_WHOLE);
    listing->Add(DIRECTORY_IDENTITY, BACKUP_OPTIONAL_FILE, FILES_WHOLE);
    return code == COLANDER_OK ? check_logs_listed(engine, *listing, err)
                               : code;
}

/* Adds the files that belong to SSTs. */
static void
list_sidecars(const struct engine_sidecars *sidecars, Listing *listing)
{
    char name[SIDECAR_PATH_MAX];

    for (const rocksdb::LiveFileStorageInfo &info : listing->infos) {
        if (info.file_type == rocksdb::kTableFile &&
            sidecars->find(sidecars->context, info.file_number, info.size,
                           name))
            listing->Add(name, BACKUP_OPTIONAL_FILE, FILES_WHOLE);
    }
    for (size_t i = 0; sidecars->more != nullptr &&
                       sidecars->more(sidecars->context, i, name);
         i++)
        listing->Add(name, BACKUP_OPTIONAL_FILE, FILES_WHOLE);
}

/* Calls `make` with the files of one moment, which stay until it returns. */
template <typename Make>
static enum colander_code
with_listing(struct engine *engine, const struct engine_sidecars *sidecars,
             struct colander_error *err, Make make)
{
    return guard(err, "make a backup", [&] {
        enum colander_code code = flush_much(engine, err);
        FilesKept kept(engine->db.get());
        Listing listing;

        if (code == COLANDER_OK)
            code = list_at_one_moment(engine, &listing, err);
        if (code == COLANDER_OK && sidecars != nullptr)
            list_sidecars(sidecars, &listing);
        return code == COLANDER_OK ? make(listing.files) : code;
    });
}

enum colander_code
engine_backup(struct engine *engine, const char *directory, uint64_t keep_count,
              const struct engine_sidecars *sidecars,
              struct colander_backup *made, struct colander_error *err)
{
    enum colander_code code = with_listing(
        engine, sidecars, err, [&](const std::vector<backup_file> &files) {
            return backup_make(directory, keep_count, engine->directory.fd,
                               files.data(), files.size(), sst_check_file, made,
                               err);
        });

    if (code != COLANDER_OK)
        colander_error_context(err, "cannot back up to '%s'", directory);
    return code;
}

enum colander_code
engine_backup_to(struct engine *engine,
                 const struct colander_backup_target *target,
                 const struct engine_sidecars *sidecars,
                 struct colander_backup *made, struct colander_error *err)
{
    return with_listing(
        engine, sidecars, err, [&](const std::vector<backup_file> &files) {
            return backup_send(target, engine_path(engine),
                               engine->directory.fd, files.data(), files.size(),
                               sst_check_file, made, err);
        });
}

enum colander_code
colander_backup_restore(const char *directory, uint64_t number,
                        const char *path, struct colander_backup *restored,
                        struct colander_error *err)
{
    return backup_restore(directory, number, path, sst_check_file, restored,
                          err);
}

enum colander_code
colander_backup_restore_from(const struct colander_backup_source *source,
                             const char *path, struct colander_backup *restored,
                             struct colander_error *err)
{
    return backup_restore_from(source, path, sst_check_file, restored, err);
}
