/*
 * Families: created, listed, measured, dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"
#include "core/family_name.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <shared_mutex>

/* ------------------------------------------------------------ families --- */

enum colander_code
engine_families(struct engine *engine, struct colander_names *names,
                struct colander_error *err)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);
    size_t count = engine->families.size();

    names->count = 0;
    names->names = static_cast<char **>(calloc(count + 1, sizeof(char *)));
    if (names->names == nullptr)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot list families");
    for (auto &entry : engine->families) {
        char *name = strdup(entry.first.c_str());

        if (name == nullptr) {
            colander_names_release(names);
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "cannot list families");
        }
        names->names[names->count++] = name;
    }
    return COLANDER_OK;
}

void
colander_names_release(struct colander_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    names->names = nullptr;
    names->count = 0;
}

/* With a Bloom filter, a get of a row that is not in the memtable skips the
 * search there, which takes half of its time. But a memtable allocates the
 * whole filter when it is created: too much for hundreds of families. */
rocksdb::ColumnFamilyOptions
family_options(const struct engine *engine, size_t count)
{
    const size_t families_max = 8;
    const double share = 1.0 / 64; /* of the write buffer */
    rocksdb::ColumnFamilyOptions options(engine->rocksdb_options);

    /* It is there even if the memtable is empty, and a budget has many. */
    if (count < families_max && !engine->budget) {
        options.memtable_prefix_bloom_size_ratio = share;
        options.memtable_whole_key_filtering = true;
    }
    return options;
}

static size_t
family_count(struct engine *engine)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);

    return engine->families.size();
}

static enum colander_code
create_family(struct engine *engine, const char *name,
              struct colander_error *err)
{
    rocksdb::ColumnFamilyHandle *handle = nullptr;
    enum colander_code code = check_writable(engine, err);
    rocksdb::Status status;

    if (code != COLANDER_OK)
        return code;
    status = engine->db->CreateColumnFamily(
        family_options(engine, family_count(engine)),
        family_column_name(engine, name), &handle);
    if (!status.ok())
        return fail_status(err, status, "create it");
    return family_adopt(
        engine, std::unique_ptr<rocksdb::ColumnFamilyHandle>(handle), {}, err);
}

static enum colander_code
find_family(struct engine *engine, const char *name, bool create,
            struct engine_family **family, struct colander_error *err)
{
    *family = family_find(engine, name);
    if (*family != nullptr)
        return COLANDER_OK;
    if (!create || engine->is_read_only())
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "there is no such family");

    std::lock_guard<std::mutex> alone(engine->change_mutex);
    enum colander_code code = COLANDER_OK;

    *family = family_find(engine, name); /* another thread may be first */
    if (*family == nullptr) {
        code = create_family(engine, name, err);
        *family = family_find(engine, name);
    }
    return code;
}

enum colander_code
engine_family_open(struct engine *engine, const char *name, bool create,
                   struct engine_family **family, struct colander_error *err)
{
    enum colander_code code;

    *family = nullptr;
    code = family_name_check(name, err);
    if (code == COLANDER_OK)
        code = guard(err, "open the family", [&] {
            return find_family(engine, name, create, family, err);
        });
    if (code != COLANDER_OK)
        colander_error_context(err, "family '%.255s'", name);
    return code;
}

void
engine_family_close(struct engine_family *family)
{
    if (family != nullptr)
        family_unref(family);
}

uint32_t
engine_family_id(const struct engine_family *family)
{
    return family->handle->GetID();
}

const char *
engine_family_name(const struct engine_family *family)
{
    return family->name.load()->c_str();
}

bool
engine_family_is_dropped(const struct engine_family *family)
{
    return family->is_dropped;
}

/* Removes the family from the map. From then on its references own it. Returns
 * false if that was done before. */
static bool
withdraw(struct engine_family *family)
{
    std::lock_guard<std::mutex> hold(family->engine->families_mutex);
    auto entry = family->engine->families.find(*family->name);

    if (family->is_dropped)
        return false;
    (void)entry->second.release();
    family->engine->families.erase(entry);
    family->is_dropped = true;
    return true;
}

/* Undoes a withdrawal. */
static void
reinstate(struct engine_family *family)
{
    std::lock_guard<std::mutex> hold(family->engine->families_mutex);

    family->engine->families[*family->name].reset(family);
    family->is_dropped = false;
}

enum colander_code
engine_family_drop(struct engine_family *family, struct colander_error *err)
{
    struct engine *engine = family->engine;
    enum colander_code code = check_writable(engine, err);

    if (code != COLANDER_OK)
        return code;
    return guard(err, "drop the family", [&] {
        std::lock_guard<std::mutex> alone(engine->change_mutex);
        std::list<Jobs::Kept> kept(1);
        rocksdb::Status status;

        kept.front().handle = family->handle;
        if (!withdraw(family))
            return fail_dropped(family, err);
        {
            std::unique_lock<SharedLock> no_flush(family->flush_lock);
            std::unique_lock<SharedLock> no_write(engine->writes_lock);

            status = engine->db->DropColumnFamily(family->handle.get());
        }
        if (status.ok()) {
            engine->jobs->Keep(std::move(kept));
            remove_marks(family);
            forget_name(family);
        } else {
            reinstate(family);
        }
        return family_result(family, status, "drop it", err);
    });
}

static void
add_level(struct colander_family_sizes *sizes,
          const rocksdb::LevelMetaData &level)
{
    const size_t last = COLANDER_LEVELS_MAX - 1;
    const size_t index = std::min(static_cast<size_t>(level.level), last);

    sizes->levels[index].sst_count += level.files.size();
    sizes->levels[index].sst_size += level.size;
}

enum colander_code
engine_family_sizes(struct engine_family *family,
                    struct colander_family_sizes *sizes,
                    struct colander_error *err)
{
    rocksdb::DB *db = family->engine->db.get();
    rocksdb::ColumnFamilyHandle *handle = family->handle.get();

    memset(sizes, 0, sizeof(*sizes));
    return guard(err, "measure the family", [&] {
        rocksdb::ColumnFamilyMetaData meta;

        if (family->is_dropped)
            return fail_dropped(family, err);
        db->GetColumnFamilyMetaData(handle, &meta);
        sizes->sst_count = meta.file_count;
        sizes->sst_size = meta.size;
        for (const rocksdb::LevelMetaData &level : meta.levels)
            add_level(sizes, level);
        if (!db->GetIntProperty(handle,
                                rocksdb::DB::Properties::kEstimateNumKeys,
                                &sizes->key_count) ||
            !db->GetIntProperty(handle,
                                rocksdb::DB::Properties::kCurSizeAllMemTables,
                                &sizes->unflushed_size))
            return COLANDER_FAIL(err, COLANDER_IO,
                                 "family '%s': RocksDB reports no sizes",
                                 engine_family_name(family));
        if (is_flushed(db, handle))
            sizes->unflushed_size = 0; /* an empty memtable has a size, too */
        return COLANDER_OK;
    });
}

uint64_t
engine_family_size_bound(struct engine_family *family)
{
    rocksdb::DB *db = family->engine->db.get();
    rocksdb::ColumnFamilyHandle *handle = family->handle.get();
    uint64_t bound = UINT64_MAX;

    (void)guard(nullptr, "measure the family", [&] {
        rocksdb::TablePropertiesCollection files;
        uint64_t size = 0;

        /* memory first: what is flushed meanwhile counts twice */
        if (!is_flushed(db, handle) &&
            !db->GetIntProperty(
                handle, rocksdb::DB::Properties::kCurSizeAllMemTables, &size))
            return COLANDER_OK;
        if (!db->GetPropertiesOfAllTables(handle, &files).ok())
            return COLANDER_OK;
        for (const auto &file : files)
            size += file.second->raw_key_size + file.second->raw_value_size;
        bound = size;
        return COLANDER_OK;
    });
    return bound;
}

enum colander_code
engine_family_flush(struct engine_family *family, struct colander_error *err)
{
    enum colander_code code = check_writable(family->engine, err);

    if (code != COLANDER_OK)
        return code;
    return guard(err, "flush the family", [&] {
        std::shared_lock<SharedLock> shared(family->flush_lock);
        rocksdb::FlushOptions options;
        rocksdb::Status status;

        options.allow_write_stall = true;
        if (family->is_dropped)
            return fail_dropped(family, err);
        status = family->engine->db->Flush(options, family->handle.get());
        return family_result(family, status, "flush", err);
    });
}

enum colander_code
engine_family_compact(struct engine_family *family, struct colander_error *err)
{
    enum colander_code code = engine_family_flush(family, err);

    /* FIFO only deletes files, and does so after each flush. RocksDB 7.8 ends
     * the process when it is asked for more while a bulk lies below level 0. */
    if (code != COLANDER_OK ||
        family->engine->rocksdb_options.compaction_style ==
            rocksdb::kCompactionStyleFIFO)
        return code;
    return guard(err, "compact the family", [&] {
        std::shared_lock<SharedLock> shared(family->flush_lock);
        rocksdb::CompactRangeOptions options;
        rocksdb::Status status;

        if (family->is_dropped)
            return fail_dropped(family, err);
        options.canceled = &family->is_dropped; /* so that a drop waits less */
        options.bottommost_level_compaction =
            rocksdb::BottommostLevelCompaction::kForceOptimized;
        status = family->engine->db->CompactRange(options, family->handle.get(),
                                                  nullptr, nullptr);
        if (!status.ok() && family->is_dropped)
            return fail_dropped(family, err);
        if (status.IsCorruption()) { /* the cause names the file */
            const enum colander_code stopped =
                check_writable(family->engine, err);

            if (stopped != COLANDER_OK)
                return stopped;
        }
        return family_result(family, status, "compact", err);
    });
}
