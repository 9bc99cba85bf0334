/*
 * The family as an object: its references, its handle, its errors.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"

void
family_ref(struct engine_family *family)
{
    std::lock_guard<std::mutex> hold(family->engine->families_mutex);

    family->reference_count++;
    family->engine->family_references++;
}

void
family_unref(struct engine_family *family)
{
    struct engine *engine = family->engine;
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
family_adopt(struct engine *engine,
             std::unique_ptr<rocksdb::ColumnFamilyHandle> handle,
             const family_names &names, struct colander_error *err)
{
    const std::string column = handle->GetName();
    auto renamed = names.find(handle->GetID());

    if (!is_family_column(column))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "column family '%s' was not made by colander",
                             column.c_str());
    std::unique_ptr<engine_family> family(new engine_family);
    family->engine = engine;
    family_set_name(family.get(), renamed == names.end()
                                      ? family_name_of(column)
                                      : renamed->second);
    family->handle = std::move(handle);

    std::lock_guard<std::mutex> hold(engine->families_mutex);
    std::unique_ptr<engine_family> &place = engine->families[*family->name];

    if (place)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "two families are called '%s'",
                             engine_family_name(family.get()));
    place = std::move(family);
    return COLANDER_OK;
}

std::map<std::string, uint32_t>
family_ids(struct engine *engine)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);
    std::map<std::string, uint32_t> ids;

    for (auto &entry : engine->families)
        ids[entry.second->handle->GetName()] = entry.second->handle->GetID();
    return ids;
}

std::shared_ptr<rocksdb::ColumnFamilyHandle>
family_handle(struct engine *engine, uint32_t id)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);

    for (auto &entry : engine->families) {
        if (entry.second->handle->GetID() == id)
            return entry.second->handle;
    }
    return nullptr;
}

void
families_close(struct engine *engine)
{
    std::map<std::string, std::unique_ptr<engine_family>> taken;
    std::lock_guard<std::mutex> hold(engine->families_mutex);

    taken.swap(engine->families);
}

struct engine_family *
family_find(struct engine *engine, const char *name)
{
    std::lock_guard<std::mutex> hold(engine->families_mutex);
    auto found = engine->families.find(name);

    if (found == engine->families.end())
        return nullptr;
    found->second->reference_count++;
    engine->family_references++;
    return found->second.get();
}

/* -------------------------------------------------------------- state --- */

enum colander_code
fail_dropped(const struct engine_family *family, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_DROPPED, "family '%s' was dropped",
                         engine_family_name(family));
}

enum colander_code
family_result(const struct engine_family *family, const rocksdb::Status &status,
              const char *what, struct colander_error *err)
{
    enum colander_code code;

    if (status.ok())
        return COLANDER_OK;
    code = fail_status(err, status, what);
    if (status.IsCorruption() && !names_sst(status))
        code = COLANDER_FAIL(err, code,
                             "cannot %s: %s in one of its SST files (a check "
                             "of the store names it)",
                             what, text_of(status).c_str());
    colander_error_context(err, "family '%s'", engine_family_name(family));
    return code;
}

bool
engine_family_is_flushed(struct engine_family *family)
{
    return is_flushed(family->engine->db.get(), family->handle.get());
}

/* A property of the family, or 0. */
static uint64_t
property_of(const struct engine_family *family, const std::string &name)
{
    uint64_t value = 0;

    return family->engine->db->GetIntProperty(family->handle.get(), name,
                                              &value)
               ? value
               : 0;
}

bool
engine_family_is_stalled(struct engine_family *family)
{
    using Properties = rocksdb::DB::Properties;
    bool is_stalled = false;

    quietly([&] {
        is_stalled =
            !family->is_dropped && !family->engine->is_stopped &&
            (property_of(family, Properties::kIsWriteStopped) > 0 ||
             property_of(family, Properties::kActualDelayedWriteRate) > 0) &&
            (property_of(family, Properties::kNumRunningCompactions) > 0 ||
             property_of(family, Properties::kCompactionPending) > 0);
    });
    return is_stalled;
}

bool
is_flushed(rocksdb::DB *db, rocksdb::ColumnFamilyHandle *handle)
{
    uint64_t entries = 0;
    uint64_t waiting = 0;

    /* in this order: what leaves the memtable in between counts as waiting */
    return db->GetIntProperty(
               handle, rocksdb::DB::Properties::kNumEntriesActiveMemTable,
               &entries) &&
           db->GetIntProperty(handle,
                              rocksdb::DB::Properties::kNumImmutableMemTable,
                              &waiting) &&
           entries == 0 && waiting == 0;
}
