/*
 * Stores: opened and closed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/cache.h"
#include "core/engine/engine_inside.h"
#include "core/engine/event_log.h"
#include "core/engine/store_files.h"
#include "core/engine/table_factory.h"

extern "C" {
#include "core/drop_report.h"
#include "core/logs.h"
#include "core/options.h"
#include "core/tables.h"
}

#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

/* ------------------------------------------------------------- opening --- */

/* By enum colander_compression and enum colander_compaction. */
static const rocksdb::CompressionType compressions[] = {
    rocksdb::kLZ4Compression, rocksdb::kNoCompression, rocksdb::kLZ4Compression,
    rocksdb::kZSTD};
static const rocksdb::CompactionStyle compactions[] = {
    rocksdb::kCompactionStyleLevel, rocksdb::kCompactionStyleLevel,
    rocksdb::kCompactionStyleUniversal, rocksdb::kCompactionStyleFIFO};

static void
set_database_options(const struct colander_options &options,
                     rocksdb::DBOptions *database)
{
    unsigned threads = options.thread_count != 0
                           ? options.thread_count
                           : std::thread::hardware_concurrency();

    /* logs_check made sure that this mode drops only what is to be dropped. */
    database->wal_recovery_mode =
        rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    database->max_background_jobs = static_cast<int>(std::max(2u, threads));
    /* The rest is for the layer above. */
    database->max_open_files =
        static_cast<int>(options.open_files_max - options.open_files_max / 4);

    /* Hundreds of families share memory and log. Without these limits each
     * could keep 64 MiB of memory and gigabytes of log. */
    if (options.budget != nullptr)
        database->write_buffer_manager = options.budget->write_buffers;
    else
        database->db_write_buffer_size = options.write_buffer_size;
    database->max_total_wal_size = 4 * options.write_buffer_size;

    /* An open reads some files as far as there is room, and others for
     * statistics. Each would be fetched. */
    if (options.remote != nullptr) {
        database->max_open_files = 20; /* the least that RocksDB takes */
        database->skip_stats_update_on_db_open = true;
    }

    database->avoid_flush_during_shutdown = true; /* close does */
    database->stats_dump_period_sec = 0;
    database->stats_persist_period_sec = 0;
    database->bytes_per_sync = 1 << 20;
    database->max_log_file_size = 4 << 20;
    database->keep_log_file_num = 2;
}

static void
set_family_options(const struct colander_options &options,
                   const std::shared_ptr<rocksdb::Cache> &cache,
                   rocksdb::ColumnFamilyOptions *family)
{
    rocksdb::BlockBasedTableOptions table;

    family->write_buffer_size = options.write_buffer_size;
    family->arena_block_size = 64 << 10; /* small: there are many families */
    family->compression = compressions[options.compression];
    family->compaction_style = compactions[options.compaction];
    family->target_file_size_base = options.sst_size;
    family->max_bytes_for_level_base =
        std::max<uint64_t>(4 * options.sst_size, 4 * options.write_buffer_size);
    family->level_compaction_dynamic_level_bytes = true;
    family->compaction_options_fifo.max_table_files_size = options.fifo_size;
    if (family->compaction_style == rocksdb::kCompactionStyleFIFO)
        family->ttl = 0; /* by size only; the default needs all files open */
    /* Almost all rows that finds and gets look up exist. So the last level,
     * with nine tenths of the keys, needs no Bloom filter, which leaves more
     * cache for rows. */
    family->optimize_filters_for_hits = true;
    /* More versions of a key than this are skipped by seeking. If a block is
     * not where it was written, that seek leads a backward scan of RocksDB 7.8
     * to the same block again, forever. No block has as many entries: each
     * takes more than four bytes. */
    family->max_sequential_skip_in_iterations = options.block_size / 4 + 1;
    /* Scans are slow on deleted rows: files with many are compacted soon. */
    family->table_properties_collector_factories.push_back(
        rocksdb::NewCompactOnDeletionCollectorFactory(1 << 15, 1 << 14));

    table.block_cache = cache;
    table.block_size = options.block_size;
    table.cache_index_and_filter_blocks = true; /* bounded, by the cache */
    table.cache_index_and_filter_blocks_with_high_priority = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.format_version = TABLE_FORMAT; /* this and no other is read */
    table.checksum = rocksdb::kXXH3;     /* likewise */
    family->table_factory = make_named_tables(table);
}

static void
set_rocksdb_options(struct engine *engine)
{
    engine->env = make_jobs_env(
        make_store_files(engine->ledger, engine->opened,
                         engine->budget ? engine->budget->files : nullptr,
                         engine->options.remote),
        engine->jobs);
    engine->cache = engine->budget ? engine->budget->cache
                                   : make_block_cache(engine->options);
    set_database_options(engine->options, &engine->rocksdb_options);
    set_family_options(engine->options, engine->cache,
                       &engine->rocksdb_options);
    engine->rocksdb_options.env = engine->env.get();
    /* A store without its database is damaged, not new. */
    engine->rocksdb_options.create_if_missing = !engine->directory.is_store;
}

/* Reads the options of the store, or sets the defaults of a new one. */
static enum colander_code
load_options(struct engine *engine, struct colander_error *err)
{
    struct colander_options kept;
    enum colander_code code;

    if (!engine->directory.is_store) {
        options_fill_kept(&engine->options);
        return COLANDER_OK;
    }
    code = directory_read_options(&engine->directory, &kept, err);
    if (code == COLANDER_OK)
        code = options_merge_kept(&engine->options, &kept, err);
    if (code == COLANDER_OK && !engine->is_read_only())
        code = directory_keep_identity(&engine->directory, err);
    return code;
}

/* An open that fails because of what is on disk means damage, unless the system
 * refused to open a file, which RocksDB may report as an invalid argument. */
static enum colander_code
fail_open(struct engine *engine, struct colander_error *err,
          const rocksdb::Status &status)
{
    const std::string refused = engine->opened->Failure();
    const std::string log = engine->opened->LastLog();
    const std::string text = text_of(status);
    bool is_refused = status.IsInvalidArgument() && !refused.empty();
    bool is_damage = status.IsInvalidArgument() || status.IsNotFound() ||
                     status.IsPathNotFound() || status.IsCorruption();

    if (is_refused)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot open the database: %s",
                             refused.c_str());
    /* What RocksDB says of a write that it cannot apply names no file. */
    if (status.IsCorruption() && text.find('/') == std::string::npos &&
        !log.empty())
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "cannot open the database: cannot apply a write "
                             "of %s: %s",
                             log.c_str(), text.c_str());
    return COLANDER_FAIL(err, is_damage ? COLANDER_CORRUPT : code_of(status),
                         "cannot open the database: %s", text.c_str());
}

/* Blocks all signals in threads that start during its life: see thread.h. */
class SignalsBlocked
{
  public:
    SignalsBlocked()
    {
        sigset_t all;

        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }

    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;

    ~SignalsBlocked()
    {
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

  private:
    sigset_t before_;
};

/* RocksDB returns a plain pointer up to version 10, then a unique_ptr. */
static rocksdb::Status
open_rocksdb(const rocksdb::Options &options, bool is_read_only,
             const std::string &path,
             const std::vector<rocksdb::ColumnFamilyDescriptor> &families,
             std::vector<rocksdb::ColumnFamilyHandle *> *handles,
             std::unique_ptr<rocksdb::DB> *owned)
{
    SignalsBlocked blocked; /* RocksDB's threads start here */
    rocksdb::Status status;
#if ROCKSDB_MAJOR >= 11
    std::unique_ptr<rocksdb::DB> &db = *owned;
#else
    rocksdb::DB *db = nullptr;
#endif

    if (is_read_only)
        status =
            rocksdb::DB::OpenForReadOnly(options, path, families, handles, &db);
    else
        status = rocksdb::DB::Open(options, path, families, handles, &db);
#if ROCKSDB_MAJOR < 11
    owned->reset(db);
#endif
    return status;
}

/* Whether a database that has only the column family `default` has no key. */
static bool
is_database_empty(const struct engine *engine, const std::string &path)
{
    const rocksdb::Options &options = engine->rocksdb_options;
    std::unique_ptr<rocksdb::DB> db;
    std::vector<rocksdb::ColumnFamilyHandle *> handles;
    rocksdb::Status status = open_rocksdb(
        options, true, path, {{rocksdb::kDefaultColumnFamilyName, options}},
        &handles, &db);

    if (!status.ok())
        return false;
    std::unique_ptr<rocksdb::ColumnFamilyHandle> handle(handles[0]);
    std::unique_ptr<rocksdb::Iterator> iterator(
        db->NewIterator(rocksdb::ReadOptions()));
    iterator->SeekToFirst();
    return !iterator->Valid() && iterator->status().ok();
}

/* Fills the names of all column families, or for a new store those of a new
 * database. A database that has rows belongs to a store that lost its record,
 * or to another program, and is not used for a new store. */
static enum colander_code
list_column_families(struct engine *engine, const std::string &path,
                     std::vector<std::string> *names,
                     struct colander_error *err)
{
    rocksdb::Status status =
        rocksdb::DB::ListColumnFamilies(engine->rocksdb_options, path, names);

    if (engine->directory.is_store)
        return status.ok() ? COLANDER_OK : fail_open(engine, err, status);
    if (status.IsIOError() && !status.IsPathNotFound())
        return fail_open(engine, err, status); /* a database may exist */
    if (!status.ok()) {
        names->assign(1, rocksdb::kDefaultColumnFamilyName);
        return COLANDER_OK;
    }
    if (names->size() == 1 && is_database_empty(engine, path))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "it has a database but no '" DIRECTORY_RECORD
                         "', the record that makes it a store");
}

static enum colander_code
open_database(struct engine *engine, struct colander_error *err)
{
    const std::string path = engine->path + "/" DIRECTORY_ENGINE;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    std::vector<rocksdb::ColumnFamilyHandle *> handles;
    std::vector<std::unique_ptr<rocksdb::ColumnFamilyHandle>> owned;
    std::vector<std::string> names;
    family_names renamed;
    rocksdb::Status status;
    enum colander_code code;

    code = list_column_families(engine, path, &names, err);
    if (code != COLANDER_OK)
        return code;
    families.reserve(names.size());
    for (const std::string &name : names) {
        if (name == rocksdb::kDefaultColumnFamilyName)
            families.emplace_back(name, engine->rocksdb_options);
        else
            families.emplace_back(name,
                                  family_options(engine, families.size() - 1));
    }
    owned.reserve(names.size()); /* so that owning them cannot fail */
    install_event_log(engine->options, path, &engine->rocksdb_options);
    status = open_rocksdb(engine->rocksdb_options, engine->is_read_only(), path,
                          families, &handles, &engine->db);
    if (!status.ok())
        return fail_open(engine, err, status);
    for (rocksdb::ColumnFamilyHandle *handle : handles) {
        owned.emplace_back(handle);
        if (handle->GetName() == rocksdb::kDefaultColumnFamilyName) {
            engine->default_handle = std::move(owned.back());
            owned.pop_back();
        }
    }
    code = read_names(engine, &renamed, err);
    for (size_t i = 0; i < owned.size() && code == COLANDER_OK; i++)
        code = family_adopt(engine, std::move(owned[i]), renamed, err);
    return code;
}

/* Without CURRENT the store cannot be opened. The ledger must keep what it
 * knows of the MANIFEST: a repair needs that. */
static enum colander_code
check_current(const struct engine *engine, struct colander_error *err)
{
    const int fd = engine->directory.fd;

    if (!engine->directory.is_store ||
        faccessat(fd, DIRECTORY_ENGINE "/CURRENT", F_OK, 0) == 0 ||
        errno != ENOENT || faccessat(fd, DIRECTORY_ENGINE, F_OK, 0) != 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         DIRECTORY_ENGINE
                         "/CURRENT is missing: a repair rebuilds it, if there "
                         "is only one MANIFEST");
}

/* Fills the sentence. */
static void
describe_recovery(struct colander_recovery *recovery)
{
    if (recovery->dropped_size > 0)
        (void)snprintf(
            recovery->message, sizeof(recovery->message),
            recovery->has_gap
                ? "dropped %" PRIu64 " bytes from %s on: a power failure lost "
                  "writes that were not synced"
                : "dropped %" PRIu64 " bytes at the end of %s: its last write "
                  "is incomplete",
            recovery->dropped_size, recovery->dropped_file);
}

/* Checks the logs before RocksDB reads them. A reader writes no ledger. */
static enum colander_code
check_logs(struct engine *engine, struct colander_error *err)
{
    struct ledger *opened;
    enum colander_code code = ledger_open(engine->directory.fd, &opened, err);

    if (code != COLANDER_OK)
        return code;
    engine->ledger.reset(opened, ledger_close);
    code = check_current(engine, err);
    if (code == COLANDER_OK)
        code = logs_check(engine->directory.fd, DIRECTORY_ENGINE, opened,
                          !engine->is_read_only(), &engine->recovery, err);
    if (code != COLANDER_OK)
        engine->recovery = {}; /* the next open finds it, or reads a report */
    describe_recovery(&engine->recovery);
    if (code == COLANDER_OK && !engine->is_read_only())
        code = ledger_settle(opened, err);
    return code;
}

/* Releases all handles, which must not outlive the database, after the jobs
 * that need them have ended. */
static void
release_handles(struct engine *engine)
{
    families_close(engine);
    if (engine->db)
        rocksdb::CancelAllBackgroundWork(engine->db.get());
    engine->jobs->Await();
    engine->default_handle.reset();
}

engine::~engine()
{
    release_handles(this);
    db.reset();
    rocksdb_options.info_log.reset(); /* its file is in the directory */
    directory_close(&directory);
}

/* RocksDB opens files by name. The path is absolute, so that it stays valid
 * when the program changes its directory. */
static enum colander_code
set_path(struct engine *engine, const char *path, struct colander_error *err)
{
    std::unique_ptr<char, decltype(&free)> absolute(realpath(path, nullptr),
                                                    free);

    if (!absolute)
        return COLANDER_FAIL(err,
                             errno == ENOMEM ? COLANDER_NO_MEMORY : COLANDER_IO,
                             "cannot find its path: %s", strerror(errno));
    engine->path = absolute.get();
    return COLANDER_OK;
}

static enum colander_code
engine_create(const char *path, const struct colander_options *options,
              const struct sst_observer *observer, struct engine **out,
              struct colander_error *err)
{
    std::unique_ptr<struct engine> engine(new struct engine());
    enum colander_code code;

    engine->options = *options;
    if (options->budget != nullptr) {
        options->budget->reference_count++;
        engine->budget.reset(options->budget);
        options_set_budget(&engine->options, &options->budget->options);
    }
    code = directory_open(&engine->directory, path, options->mode, err);
    if (code == COLANDER_OK)
        code = set_path(engine.get(), path, err);
    if (code == COLANDER_OK)
        code = load_options(engine.get(), err);
    if (code == COLANDER_OK)
        code = check_logs(engine.get(), err);
    if (code == COLANDER_OK) {
        /* first, as all that follows can fail: the logs have been cut */
        if (engine->recovery.dropped_size > 0 && options->log != nullptr)
            options->log(options->log_context, COLANDER_LOG_WARNING,
                         engine->recovery.message);
        if (!engine->is_read_only())
            directory_remove_bulks(&engine->directory);
        set_rocksdb_options(engine.get());
        install_fault_listener(engine.get());
        if (observer != nullptr && !engine->is_read_only())
            install_observer(engine.get(), observer);
        code = open_database(engine.get(), err);
    }
    if (code == COLANDER_OK && !engine->is_read_only())
        code =
            directory_write_options(&engine->directory, &engine->options, err);
    if (code == COLANDER_OK) {
        if (engine->budget)
            engine->budget->Join(engine.get());
        *out = engine.release();
    } else if (engine->recovery.dropped_size > 0 && !engine->is_read_only()) {
        colander_error_context(err, "%s. Then the open failed",
                               engine->recovery.message);
    }
    return code;
}

enum colander_code
engine_open(const char *path, const struct colander_options *options,
            const struct sst_observer *observer, struct engine **engine,
            struct colander_error *err)
{
    struct colander_options defaults;
    enum colander_code code;

    *engine = nullptr;
    colander_options_init(&defaults);
    if (options == nullptr)
        options = &defaults;
    code = options_check(options, err);
    if (code == COLANDER_OK && options->remote != nullptr &&
        options->mode != COLANDER_OPEN_READ_ONLY)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "remote files can only be read: the mode must be "
                             "READ_ONLY");
    if (code == COLANDER_OK)
        code = guard(err, "open the store", [&] {
            return engine_create(path, options, observer, engine, err);
        });
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot open store '%s'", path);
    return code;
}

void
engine_opened(struct engine *engine)
{
    if (!engine->is_read_only() && engine->recovery.dropped_size > 0)
        drop_report_remove(engine->directory.fd);
}

/* ------------------------------------------------------------- closing --- */

static enum colander_code
check_unused(struct engine *engine, struct colander_error *err)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);
    size_t others = engine->other_handles;

    if (engine->family_references == 0 && others == 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_BUSY,
                         "cannot close store '%s': families and cursors open: "
                         "%zu, batches and snapshots: %zu",
                         engine->path.c_str(), engine->family_references,
                         others);
}

/* Starts all flushes before it waits for any. Checks the memtables, since
 * RocksDB may report success before a flush is done. */
static enum colander_code
flush_all(struct engine *engine, struct colander_error *err)
{
    rocksdb::Status failure = rocksdb::Status::IOError("no reason was given");
    const char *unflushed = nullptr;

    for (bool waits : {false, true}) {
        rocksdb::FlushOptions options;

        options.wait = waits;
        options.allow_write_stall = true;
        for (auto &entry : engine->families) {
            rocksdb::ColumnFamilyHandle *handle = entry.second->handle.get();
            rocksdb::Status status;

            if (!engine->is_stopped)
                status = engine->db->Flush(options, handle);
            if (waits && !is_flushed(engine->db.get(), handle)) {
                unflushed = entry.first.c_str();
                if (!status.ok())
                    failure = status;
            }
        }
    }
    if (unflushed == nullptr)
        return COLANDER_OK;
    return COLANDER_FAIL(
        err, engine->is_stopped ? engine->stop_code : code_of(failure),
        "closed store '%s' without flushing family '%s': %s (its last writes "
        "are in the write-ahead log and come back at the next open)",
        engine->path.c_str(), unflushed,
        engine->is_stopped ? engine->stop_cause.c_str()
                           : text_of(failure).c_str());
}

static size_t
count_logs(const struct engine *engine)
{
    std::vector<std::string> files;
    rocksdb::Status status =
        engine->env->GetChildren(engine->path + "/" DIRECTORY_ENGINE, &files);
    auto logs =
        std::count_if(files.begin(), files.end(), [](const std::string &file) {
            return file.size() > 4 &&
                   file.compare(file.size() - 4, 4, ".log") == 0;
        });

    return status.ok() ? static_cast<size_t>(logs) : 0;
}

/* RocksDB keeps a log file, and reads it at each open, while some family has a
 * write in it that is not in an SST: so the records are flushed, too. It also
 * keeps an empty log file for each open until some family is flushed. A store
 * that is opened often and seldom written would collect them, so a record is
 * written and flushed. What fails here is done by the next close. */
static void
shed_logs(struct engine *engine)
{
    const size_t logs_max = 8;
    rocksdb::ColumnFamilyHandle *records = engine->default_handle.get();
    rocksdb::Status status;

    if (count_logs(engine) > logs_max)
        status =
            engine->db->Put(rocksdb::WriteOptions(), records, "logs shed", "");
    if (status.ok() && !is_flushed(engine->db.get(), records))
        status = engine->db->Flush(rocksdb::FlushOptions(), records);
    status.PermitUncheckedError();
}

enum colander_code
engine_close(struct engine *engine, struct colander_error *err)
{
    enum colander_code code;

    if (engine == nullptr)
        return COLANDER_OK;
    if (engine->budget) /* which may refer to its families */
        engine->budget->Leave(engine);
    code = check_unused(engine, err);
    if (code != COLANDER_OK) {
        if (engine->budget)
            quietly([&] { engine->budget->Join(engine); });
        return code;
    }
    return guard(err, "close the store", [&] {
        enum colander_code flushed = COLANDER_OK;
        bool is_exact = false;
        rocksdb::Status status;

        std::unique_ptr<struct engine> owner(
            engine); /* destroyed in any case */

        if (!engine->is_read_only())
            flushed = flush_all(engine, err);
        if (!engine->is_read_only() && flushed == COLANDER_OK)
            shed_logs(engine);
        release_handles(engine);
        /* A log may have a write to a family that was dropped. After a fault a
         * file may have what the ledger does not know, or not have what it
         * knows, and RocksDB may end the process. */
        is_exact = !engine->is_read_only() && !engine->is_stopped &&
                   flushed == COLANDER_OK && engine->db->SyncWAL().ok();
        status = engine->db->Close();
        engine->db.reset();
        if (!status.ok() && flushed == COLANDER_OK)
            flushed = fail_status(err, status, "close the database");
        if (is_exact && flushed == COLANDER_OK)
            ledger_seal(owner->ledger.get());
        return flushed;
    });
}

void
engine_recovery(const struct engine *engine, struct colander_recovery *recovery)
{
    *recovery = engine->recovery;
}

void
engine_options(const struct engine *engine, struct colander_options *options)
{
    *options = engine->options;
}

const struct colander_remote_files *
engine_remote(const struct engine *engine)
{
    return engine->options.remote;
}

const char *
engine_path(const struct engine *engine)
{
    return engine->path.c_str();
}

enum colander_code
engine_original(struct engine *engine, bool creates,
                struct colander_buffer *text, struct colander_error *err)
{
    std::lock_guard<std::mutex> alone(engine->change_mutex);

    return directory_read_original(&engine->directory, creates, text, err);
}
