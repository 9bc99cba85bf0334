/*
 * Families: made, listed, measured, dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge.h"
#include "core/family_name.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <shared_mutex>

static const char family_prefix[] = "family/";

/* ---------------------------------------------------------- references --- */

void
family_ref(struct colander_engine_family *family)
{
    std::lock_guard<std::mutex> hold(family->engine->families_mutex);

    family->reference_count++;
    family->engine->family_references++;
}

void
family_unref(struct colander_engine_family *family)
{
    struct colander_engine *engine = family->engine;
    bool is_last;

    {
        std::lock_guard<std::mutex> hold(engine->families_mutex);

        engine->family_references--;
        family->reference_count--;
        is_last = family->is_dropped && family->reference_count == 0;
    }
    if (is_last)
        delete family;
}

enum colander_code
adopt_family(struct colander_engine *engine,
             std::unique_ptr<rocksdb::ColumnFamilyHandle> handle,
             struct colander_error *err)
{
    const std::string full_name = handle->GetName();
    const size_t prefix_size = sizeof(family_prefix) - 1;

    if (full_name == rocksdb::kDefaultColumnFamilyName) {
        engine->default_handle = std::move(handle);
        return COLANDER_OK;
    }
    if (full_name.compare(0, prefix_size, family_prefix) != 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "column family '%s' was not made by colander",
                             full_name.c_str());
    std::unique_ptr<colander_engine_family> family(new colander_engine_family);
    family->engine = engine;
    family->name = full_name.substr(prefix_size);
    family->handle = std::move(handle);

    std::lock_guard<std::mutex> hold(engine->families_mutex);
    engine->families[family->name] = std::move(family);
    return COLANDER_OK;
}

std::map<std::string, uint32_t>
family_ids(struct colander_engine *engine)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);
    std::map<std::string, uint32_t> ids;

    for (auto &entry : engine->families)
        ids[family_prefix + entry.first] = entry.second->handle->GetID();
    return ids;
}

std::shared_ptr<rocksdb::ColumnFamilyHandle>
family_handle(struct colander_engine *engine, uint32_t id)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);

    for (auto &entry : engine->families) {
        if (entry.second->handle->GetID() == id)
            return entry.second->handle;
    }
    return nullptr;
}

void
close_families(struct colander_engine *engine)
{
    std::map<std::string, std::unique_ptr<colander_engine_family>> taken;
    std::lock_guard<std::mutex> hold(engine->families_mutex);

    taken.swap(engine->families);
}

/* ------------------------------------------------------------ families --- */

enum colander_code
colander_engine_families(struct colander_engine *engine,
                         struct colander_names *names,
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

/* The family as a reference for the caller, or NULL where there is none. */
static struct colander_engine_family *
take_family(struct colander_engine *engine, const char *name)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);
    auto found = engine->families.find(name);

    if (found == engine->families.end())
        return nullptr;
    found->second->reference_count++;
    engine->family_references++;
    return found->second.get();
}

/* A get of a row that is in no memtable need not walk a full one, which takes
 * as long as the rest of it. But every memtable gets the whole Bloom filter
 * when it is made: not those of hundreds of families. */
rocksdb::ColumnFamilyOptions
family_options(const struct colander_engine *engine, size_t count)
{
    const size_t families_max = 8;
    const double share = 1.0 / 64; /* of the write buffer */
    rocksdb::ColumnFamilyOptions options(engine->rocksdb_options);

    if (count < families_max) {
        options.memtable_prefix_bloom_size_ratio = share;
        options.memtable_whole_key_filtering = true;
    }
    return options;
}

static size_t
family_count(struct colander_engine *engine)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);

    return engine->families.size();
}

static enum colander_code
create_family(struct colander_engine *engine, const char *name,
              struct colander_error *err)
{
    rocksdb::ColumnFamilyHandle *handle = nullptr;
    enum colander_code code = check_writable(engine, err);
    rocksdb::Status status;

    if (code != COLANDER_OK)
        return code;
    status = engine->db->CreateColumnFamily(
        family_options(engine, family_count(engine)),
        family_prefix + std::string(name), &handle);
    if (!status.ok())
        return fail_status(err, status, "create it");
    return adopt_family(
        engine, std::unique_ptr<rocksdb::ColumnFamilyHandle>(handle), err);
}

static enum colander_code
find_family(struct colander_engine *engine, const char *name, bool create,
            struct colander_engine_family **family, struct colander_error *err)
{
    *family = take_family(engine, name);
    if (*family != nullptr)
        return COLANDER_OK;
    if (!create || engine->is_read_only())
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "there is no such family");

    std::lock_guard<std::mutex> alone(engine->change_mutex);
    enum colander_code code = COLANDER_OK;

    *family = take_family(engine, name); /* somebody else may have been first */
    if (*family == nullptr) {
        code = create_family(engine, name, err);
        *family = take_family(engine, name);
    }
    return code;
}

enum colander_code
colander_engine_family_open(struct colander_engine *engine, const char *name,
                            bool create, struct colander_engine_family **family,
                            struct colander_error *err)
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
colander_engine_family_close(struct colander_engine_family *family)
{
    if (family != nullptr)
        family_unref(family);
}

uint32_t
colander_engine_family_id(const struct colander_engine_family *family)
{
    return family->handle->GetID();
}

const char *
colander_engine_family_name(const struct colander_engine_family *family)
{
    return family->name.c_str();
}

bool
colander_engine_family_is_dropped(const struct colander_engine_family *family)
{
    return family->is_dropped;
}

enum colander_code
fail_dropped(const struct colander_engine_family *family,
             struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_DROPPED, "family '%s' was dropped",
                         family->name.c_str());
}

enum colander_code
family_result(const struct colander_engine_family *family,
              const rocksdb::Status &status, const char *what,
              struct colander_error *err)
{
    enum colander_code code;

    if (status.ok())
        return COLANDER_OK;
    code = fail_status(err, status, what);
    colander_error_context(err, "family '%s'", family->name.c_str());
    return code;
}

bool
is_flushed(rocksdb::DB *db, rocksdb::ColumnFamilyHandle *handle)
{
    uint64_t entries = 0;
    uint64_t waiting = 0;

    /* In this order: what leaves the memtable in between waits. */
    return db->GetIntProperty(
               handle, rocksdb::DB::Properties::kNumEntriesActiveMemTable,
               &entries) &&
           db->GetIntProperty(handle,
                              rocksdb::DB::Properties::kNumImmutableMemTable,
                              &waiting) &&
           entries == 0 && waiting == 0;
}

/* Takes the family out of the map, so that nobody finds it any more; its
 * references own it from here on. False when that was done before. */
static bool
withdraw(struct colander_engine_family *family)
{
    std::lock_guard<std::mutex> hold(family->engine->families_mutex);
    auto entry = family->engine->families.find(family->name);

    if (family->is_dropped)
        return false;
    (void)entry->second.release();
    family->engine->families.erase(entry);
    family->is_dropped = true;
    return true;
}

/* Takes back a withdrawal. */
static void
reinstate(struct colander_engine_family *family)
{
    std::lock_guard<std::mutex> hold(family->engine->families_mutex);

    family->engine->families[family->name].reset(family);
    family->is_dropped = false;
}

enum colander_code
colander_engine_family_drop(struct colander_engine_family *family,
                            struct colander_error *err)
{
    struct colander_engine *engine = family->engine;
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
colander_engine_family_sizes(struct colander_engine_family *family,
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
                                 "family '%s': the engine does not tell sizes",
                                 family->name.c_str());
        if (is_flushed(db, handle))
            sizes->unflushed_size = 0; /* an empty memtable has some, too */
        return COLANDER_OK;
    });
}

enum colander_code
colander_engine_family_flush(struct colander_engine_family *family,
                             struct colander_error *err)
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
colander_engine_family_compact(struct colander_engine_family *family,
                               struct colander_error *err)
{
    enum colander_code code = colander_engine_family_flush(family, err);

    if (code != COLANDER_OK)
        return code;
    return guard(err, "compact the family", [&] {
        std::shared_lock<SharedLock> shared(family->flush_lock);
        rocksdb::CompactRangeOptions options;
        rocksdb::Status status;

        if (family->is_dropped)
            return fail_dropped(family, err);
        options.canceled = &family->is_dropped; /* a drop need not wait long */
        options.bottommost_level_compaction =
            rocksdb::BottommostLevelCompaction::kForceOptimized;
        status = family->engine->db->CompactRange(options, family->handle.get(),
                                                  nullptr, nullptr);
        if (!status.ok() && family->is_dropped)
            return fail_dropped(family, err);
        return family_result(family, status, "compact", err);
    });
}
