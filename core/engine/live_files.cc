/*
 * The files of a database at one moment: their paths, and backups of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/backup.h"
#include "core/engine/engine_inside.h"

#include <rocksdb/version.h>

#include <algorithm>
#include <cinttypes>
#include <shared_mutex>

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

/* Flushes if logs are large: backups share SST files, and copy logs each time.
 */
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

struct LiveFile {
    rocksdb::LiveFileStorageInfo info;
    uint64_t whole; /* of a log: bytes of whole records */
};

/* Returns the bytes of whole records of a log. The MANIFEST may have grown
 * since it was listed. Of a reader's log only these bytes count: RocksDB does
 * not see the others. */
static uint64_t
whole_bytes(struct engine *engine, rocksdb::LiveFileStorageInfo *file)
{
    const bool is_manifest = file->file_type == rocksdb::kDescriptorFile;

    if (!is_manifest && file->file_type != rocksdb::kWalFile)
        return 0;

    const struct ledger_entry noted = ledger_noted(
        engine->ledger.get(), is_manifest ? LEDGER_MANIFEST : LEDGER_WAL,
        file->file_number);

    if (engine->is_read_only() && noted.is_found)
        file->size = std::min(file->size, noted.written);
    return is_manifest ? std::min(noted.written, file->size) : noted.written;
}

/* Finds logs that RocksDB did not list: it takes one whose first record it
 * cannot read for empty. */
static enum colander_code
check_logs_listed(struct engine *engine, const std::vector<LiveFile> &files,
                  struct colander_error *err)
{
    uint64_t number = 0;

    while ((number = ledger_next_wal(engine->ledger.get(), number)) != 0) {
        const bool is_listed =
            std::any_of(files.begin(), files.end(), [&](const LiveFile &file) {
                return file.info.file_type == rocksdb::kWalFile &&
                       file.info.file_number == number;
            });

        if (!is_listed)
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "'" DIRECTORY_ENGINE "/%06" PRIu64 ".log' is "
                                 "missing, or corrupt at its beginning",
                                 number);
    }
    return COLANDER_OK;
}

/* Lists the files between two writes, with the sizes of that moment: MANIFEST
 * and logs grow after it. */
static enum colander_code
list_at_one_moment(struct engine *engine, std::vector<LiveFile> *files,
                   struct colander_error *err)
{
    std::unique_lock<SharedLock> no_write(engine->writes_lock);
    std::vector<rocksdb::LiveFileStorageInfo> infos;
    rocksdb::LiveFilesStorageInfoOptions how;
    rocksdb::Status status;

    how.wal_size_for_flush = UINT64_MAX; /* never, while writes wait */
    status = engine->db->GetLiveFilesStorageInfo(how, &infos);
    if (!status.ok())
        return fail_status(err, status, "list the files of the database");
    for (rocksdb::LiveFileStorageInfo &info : infos) {
        const uint64_t whole = whole_bytes(engine, &info);

        files->push_back(LiveFile{std::move(info), whole});
    }
    return check_logs_listed(engine, *files, err);
}

/* Copies an SST, and the file that belongs to it. */
static enum colander_code
back_up_sst(struct backup *backup, const rocksdb::LiveFileStorageInfo &file,
            const std::string &name, const struct engine_sidecars *sidecars,
            struct colander_error *err)
{
    char sidecar[SIDECAR_PATH_MAX];
    enum colander_code code = backup_file(backup, name.c_str(), file.size, err);

    if (code == COLANDER_NOT_FOUND)
        code = COLANDER_CORRUPT; /* it must be there */
    if (code == COLANDER_OK && sidecars != nullptr &&
        sidecars->find(sidecars->context, file.file_number, file.size, sidecar))
        code = backup_file(backup, sidecar, FILES_WHOLE, err);
    return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
}

static enum colander_code
back_up_file(struct backup *backup, const LiveFile &live,
             const struct engine_sidecars *sidecars, struct colander_error *err)
{
    const rocksdb::LiveFileStorageInfo &file = live.info;
    const std::string name = DIRECTORY_ENGINE "/" + file.relative_filename;

    switch (file.file_type) {
    case rocksdb::kTableFile:
        return back_up_sst(backup, file, name, sidecars, err);
    case rocksdb::kWalFile:
        return backup_log(backup, name.c_str(), LEDGER_WAL, file.file_number,
                          file.size, live.whole, err);
    case rocksdb::kDescriptorFile:
        return backup_log(backup, name.c_str(), LEDGER_MANIFEST,
                          file.file_number, file.size, live.whole, err);
    case rocksdb::kCurrentFile:
        return backup_text(backup, name.c_str(),
                           colander_slice_of(file.replacement_contents.data(),
                                             file.replacement_contents.size()),
                           err);
    default:
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the database has a file of an unknown kind: '%s'",
                             name.c_str());
    }
}

static enum colander_code
back_up_all(struct engine *engine, struct backup *backup,
            const struct engine_sidecars *sidecars, struct colander_error *err)
{
    FilesKept kept(engine->db.get());
    std::vector<LiveFile> files;
    enum colander_code code = list_at_one_moment(engine, &files, err);

    for (size_t i = 0; i < files.size() && code == COLANDER_OK; i++)
        code = back_up_file(backup, files[i], sidecars, err);
    if (code == COLANDER_OK)
        code = backup_file(backup, DIRECTORY_RECORD, FILES_WHOLE, err);
    return code;
}

enum colander_code
engine_backup(struct engine *engine, const char *directory, uint64_t keep_count,
              const struct engine_sidecars *sidecars,
              struct colander_backup *made, struct colander_error *err)
{
    struct backup *backup = nullptr;
    enum colander_code code = guard(err, "make a backup", [&] {
        enum colander_code done = flush_much(engine, err);

        if (done == COLANDER_OK)
            done = backup_begin(directory, engine->directory.fd, sst_check_file,
                                &backup, err);
        if (done == COLANDER_OK)
            done = back_up_all(engine, backup, sidecars, err);
        return done;
    });

    if (code == COLANDER_OK)
        code = backup_finish(backup, keep_count, made, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot back up to '%s'", directory);
    backup_destroy(backup);
    return code;
}

enum colander_code
colander_backup_restore(const char *directory, uint64_t number,
                        const char *path, struct colander_backup *restored,
                        struct colander_error *err)
{
    return backup_restore(directory, number, path, sst_check_file, restored,
                          err);
}
