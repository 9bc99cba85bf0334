/*
 * The files that a database has at one moment: where they are, and copies of
 * all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/backup.h"
#include "core/bridge.h"

#include <rocksdb/version.h>

#include <algorithm>
#include <cinttypes>
#include <shared_mutex>

/* While one lives, no file of the database is deleted. (A reader deletes none,
 * and has no such call.) */
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
        status_ = db_->EnableFileDeletions(false); /* others may want them */
#endif
    }

  private:
    rocksdb::DB *db_;
    rocksdb::Status status_;
};

enum colander_code
engine_sst_places(struct colander_engine *engine,
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

/* What a log may have that no SST has, in a backup: more is flushed before. */
static const uint64_t log_size_max = 16 << 20;

/* Writes what is in memory to SST files where there is much of it: a backup
 * shares these with the next, and copies logs each time. */
static enum colander_code
flush_much(struct colander_engine *engine, struct colander_error *err)
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
    code = colander_engine_families(engine, &names, err);
    for (size_t i = 0; code == COLANDER_OK && i < names.count; i++) {
        struct colander_engine_family *family;

        code = colander_engine_family_open(engine, names.names[i], false,
                                           &family, err);
        if (code == COLANDER_OK)
            code = colander_engine_family_flush(family, err);
        colander_engine_family_close(family);
        if (code == COLANDER_DROPPED || code == COLANDER_NOT_FOUND)
            code = COLANDER_OK; /* meanwhile */
    }
    colander_names_release(&names);
    return code;
}

struct LiveFile {
    rocksdb::LiveFileStorageInfo info;
    uint64_t whole; /* of a log: so many bytes are whole records */
};

/* The MANIFEST may have grown since it was listed. */
static uint64_t
whole_bytes(struct colander_engine *engine,
            const rocksdb::LiveFileStorageInfo &file)
{
    struct ledger *ledger = engine->ledger.get();

    if (file.file_type == rocksdb::kWalFile)
        return ledger_written(ledger, LEDGER_WAL, file.file_number);
    if (file.file_type != rocksdb::kDescriptorFile)
        return 0;
    return std::min(ledger_written(ledger, LEDGER_MANIFEST, file.file_number),
                    file.size);
}

/* RocksDB takes a log whose first record it cannot read for an empty one. */
static enum colander_code
check_logs_listed(struct colander_engine *engine,
                  const std::vector<LiveFile> &files,
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
                                 "gone, or damaged at its beginning",
                                 number);
    }
    return COLANDER_OK;
}

/* All files of one moment, between two writes. The MANIFEST and the logs grow
 * after it, so their sizes are of that moment. */
static enum colander_code
list_at_one_moment(struct colander_engine *engine, std::vector<LiveFile> *files,
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
        const uint64_t whole = whole_bytes(engine, info);

        files->push_back(LiveFile{std::move(info), whole});
    }
    return check_logs_listed(engine, *files, err);
}

/* An SST, and what belongs to it. What was copied is read again: a backup of
 * what is damaged would take the place of a good one. */
static enum colander_code
back_up_sst(struct backup *backup, const rocksdb::LiveFileStorageInfo &file,
            const std::string &name, const struct engine_companions *companions,
            struct colander_error *err)
{
    char companion[COMPANION_PATH_MAX];
    enum colander_code code;
    bool is_new;

    code = backup_file(backup, name.c_str(), file.size, &is_new, err);
    if (code == COLANDER_OK && is_new) {
        std::unique_ptr<char, decltype(&free)> copy(
            backup_path_of(backup, name.c_str()), free);

        if (!copy)
            throw std::bad_alloc();
        code = sst_check_file(copy.get(), err);
    }
    if (code == COLANDER_NOT_FOUND)
        code = COLANDER_CORRUPT; /* it must be there */
    if (code == COLANDER_OK && companions != nullptr &&
        companions->find(companions->context, file.file_number, file.size,
                         companion))
        code = backup_file(backup, companion, FILES_WHOLE, &is_new, err);
    return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
}

static enum colander_code
back_up_file(struct backup *backup, const LiveFile &live,
             const struct engine_companions *companions,
             struct colander_error *err)
{
    const rocksdb::LiveFileStorageInfo &file = live.info;
    const std::string name = DIRECTORY_ENGINE "/" + file.relative_filename;

    switch (file.file_type) {
    case rocksdb::kTableFile:
        return back_up_sst(backup, file, name, companions, err);
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
                             "the database has a file of a kind that is not "
                             "known: '%s'",
                             name.c_str());
    }
}

static enum colander_code
back_up_all(struct colander_engine *engine, struct backup *backup,
            const struct engine_companions *companions,
            struct colander_error *err)
{
    FilesKept kept(engine->db.get());
    std::vector<LiveFile> files;
    enum colander_code code = list_at_one_moment(engine, &files, err);
    bool is_new;

    for (size_t i = 0; i < files.size() && code == COLANDER_OK; i++)
        code = back_up_file(backup, files[i], companions, err);
    if (code == COLANDER_OK)
        code = backup_file(backup, DIRECTORY_RECORD, FILES_WHOLE, &is_new, err);
    return code;
}

enum colander_code
engine_backup(struct colander_engine *engine, const char *directory,
              uint64_t keep_count, const struct engine_companions *companions,
              struct colander_backup *made, struct colander_error *err)
{
    struct backup *backup = nullptr;
    enum colander_code code = guard(err, "make a backup", [&] {
        enum colander_code done = flush_much(engine, err);

        if (done == COLANDER_OK)
            done = backup_begin(directory, engine->directory.fd, &backup, err);
        if (done == COLANDER_OK)
            done = back_up_all(engine, backup, companions, err);
        return done;
    });

    if (code == COLANDER_OK)
        code = backup_finish(backup, keep_count, made, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot back up to '%s'", directory);
    backup_destroy(backup);
    return code;
}
