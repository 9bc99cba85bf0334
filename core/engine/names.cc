/*
 * Names: of families and of their column families.
 *
 * RocksDB cannot rename a column family. So the name of a family that was
 * renamed is a record under its id, "name/" and four bytes, which counts more
 * than the name of its column family. The record is synced: the old name may
 * be given to a new family right after, and the MANIFEST, which is always
 * synced, then has that family.
 *
 * A column family is "family/NAME". If there is one of that name, which belongs
 * to a family that was renamed, a byte 31 and a number follow.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "core/engine/engine_inside.h"
#include "core/family_name.h"

#include <cstring>
#include <shared_mutex>

static const char family_prefix[] = "family/";
static const char name_prefix[] = "name/";
static const char separator = '\x1f'; /* names have no control characters */

static std::string
key_of(uint32_t id)
{
    char bytes[4];

    bytes_put_be32(bytes, id);
    return name_prefix + std::string(bytes, sizeof(bytes));
}

/* ------------------------------------------------------ column families --- */

bool
is_family_column(const std::string &column)
{
    return column.compare(0, sizeof(family_prefix) - 1, family_prefix) == 0;
}

std::string
family_name_of(const std::string &column)
{
    const size_t begin = sizeof(family_prefix) - 1;

    return column.substr(begin, column.find(separator, begin) - begin);
}

std::string
family_column_name(struct engine *engine, const char *name)
{
    const std::string plain = family_prefix + std::string(name);
    const auto taken = family_ids(engine);
    std::string column = plain;

    for (unsigned i = 2; taken.count(column) > 0; i++)
        column = plain + separator + std::to_string(i);
    return column;
}

/* ---------------------------------------------------------------- names --- */

void
family_set_name(struct engine_family *family, const std::string &name)
{
    family->names.push_back(name);
    family->name = &family->names.back();
}

/* Moves the family in the map to its new name. */
static void
move_family(struct engine *engine, const std::string &from,
            const std::string &to)
{
    auto node = engine->families.extract(from);

    family_set_name(node.mapped().get(), to);
    node.key() = to;
    engine->families.insert(std::move(node));
}

enum colander_code
read_names(struct engine *engine, family_names *names,
           struct colander_error *err)
{
    std::unique_ptr<rocksdb::Iterator> iterator(engine->db->NewIterator(
        rocksdb::ReadOptions(), engine->default_handle.get()));
    const size_t size = key_of(0).size();

    for (iterator->Seek(name_prefix);
         iterator->Valid() && iterator->key().starts_with(name_prefix);
         iterator->Next()) {
        const rocksdb::Slice key = iterator->key();

        if (key.size() == size)
            (*names)[bytes_get_be32(key.data() + size - sizeof(uint32_t))] =
                iterator->value().ToString();
    }
    if (iterator->status().ok())
        return COLANDER_OK;
    return fail_status(err, iterator->status(), "read the names of families");
}

void
forget_name(const struct engine_family *family)
{
    struct engine *engine = family->engine;

    (void)guard(nullptr, "forget a name", [&] {
        std::shared_lock<SharedLock> shared(engine->writes_lock);
        rocksdb::ColumnFamilyHandle *records = engine->default_handle.get();
        const std::string key = key_of(family->handle->GetID());
        std::string name;

        if (engine->db->Get(rocksdb::ReadOptions(), records, key, &name).ok())
            (void)engine->db->Delete(rocksdb::WriteOptions(), records, key);
        return COLANDER_OK;
    });
}

/* Writes the record. Waits for the disk. */
static rocksdb::Status
keep_name(struct engine *engine, uint32_t id, const char *name)
{
    std::shared_lock<SharedLock> shared(engine->writes_lock);
    rocksdb::WriteOptions options;

    options.sync = true;
    return engine->db->Put(options, engine->default_handle.get(), key_of(id),
                           name);
}

/* Requires change_mutex, so that no family of that name can come. */
static enum colander_code
rename_family(struct engine_family *family, const char *name,
              struct colander_error *err)
{
    struct engine *engine = family->engine;
    struct engine_family *taken = family_find(engine, name);
    rocksdb::Status status;

    if (taken != nullptr) {
        family_unref(taken);
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "there is a family '%.255s'", name);
    }
    if (family->is_dropped)
        return fail_dropped(family, err);
    status = keep_name(engine, family->handle->GetID(), name);
    if (!status.ok())
        return fail_status(err, status, "rename it");

    std::lock_guard<std::mutex> hold(engine->families_mutex);

    move_family(engine, *family->name, name);
    return COLANDER_OK;
}

enum colander_code
engine_family_rename(struct engine_family *family, const char *name,
                     struct colander_error *err)
{
    enum colander_code code = check_writable(family->engine, err);

    if (code == COLANDER_OK)
        code = family_name_check(name, err);
    if (code == COLANDER_OK)
        code = guard(err, "rename the family", [&] {
            std::lock_guard<std::mutex> alone(family->engine->change_mutex);

            return rename_family(family, name, err);
        });
    if (code != COLANDER_OK)
        colander_error_context(err, "family '%s'", engine_family_name(family));
    return code;
}
