/*
 * Marks: small values of a family, outside its rows.
 *
 * They are records of the store under the family's id. The id is never reused,
 * so marks of a dropped family are unreachable; and one batch can write marks
 * and rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "core/engine/engine_inside.h"

#include <shared_mutex>

/* Returns the prefix of the keys of the family's marks. */
static std::string
prefix_of(const struct engine_family *family)
{
    char id[4];

    bytes_put_be32(id, family->handle->GetID());
    return "mark/" + std::string(id, sizeof(id));
}

std::string
mark_key(const struct engine_family *family, struct colander_slice name)
{
    return prefix_of(family) + to_rocksdb(name).ToString();
}

enum colander_code
engine_mark_get(struct engine_family *family, struct colander_slice name,
                struct colander_buffer *value, bool *found,
                struct colander_error *err)
{
    struct engine *engine = family->engine;

    *found = false;
    colander_buffer_clear(value);
    return guard(err, "read a mark", [&] {
        std::string kept;
        std::string key = mark_key(family, name);
        rocksdb::Status status = engine->db->Get(
            rocksdb::ReadOptions(), engine->default_handle.get(), key, &kept);
        enum colander_code code;

        if (family->is_dropped)
            return fail_dropped(family, err);
        if (status.IsNotFound())
            return COLANDER_OK;
        if (!status.ok())
            return family_result(family, status, "read a mark", err);
        code = colander_buffer_append(value, kept.data(), kept.size(), err);
        *found = code == COLANDER_OK;
        return code;
    });
}

enum colander_code
engine_batch_mark(struct engine_batch *batch, struct engine_family *family,
                  struct colander_slice name, struct colander_slice value,
                  struct colander_error *err)
{
    return guard(err, "add to a batch", [&] {
        rocksdb::ColumnFamilyHandle *marks =
            batch->engine->default_handle.get();
        std::string key = mark_key(family, name);
        rocksdb::Status status;

        batch_touch(batch, family);
        if (value.size == 0)
            status = batch->base()->Delete(marks, key);
        else
            status = batch->base()->Put(marks, key, to_rocksdb(value));
        return family_result(family, status, "add to a batch", err);
    });
}

/* A mark that cannot be removed only wastes its bytes. */
void
remove_marks(const struct engine_family *family)
{
    struct engine *engine = family->engine;
    rocksdb::ColumnFamilyHandle *marks = engine->default_handle.get();

    (void)guard(nullptr, "remove marks", [&] {
        std::string prefix = prefix_of(family);
        rocksdb::WriteBatch batch;
        std::unique_ptr<rocksdb::Iterator> iterator(
            engine->db->NewIterator(rocksdb::ReadOptions(), marks));

        for (iterator->Seek(prefix);
             iterator->Valid() && iterator->key().starts_with(prefix);
             iterator->Next())
            (void)batch.Delete(marks, iterator->key());
        if (batch.Count() > 0) {
            std::shared_lock<SharedLock> shared(engine->writes_lock);

            (void)engine->db->Write(rocksdb::WriteOptions(), &batch);
        }
        return COLANDER_OK;
    });
}
