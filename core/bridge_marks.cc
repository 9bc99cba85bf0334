/*
 * Marks: small values beside the rows of a family, in no row of it.
 *
 * They stand in the column family of the store's own records, under the
 * family's id, which is never used again; so they can be written in one batch
 * with rows, and those of a dropped family lead nowhere.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge.h"

#include <shared_mutex>

/* The key before every mark of the family. */
static std::string
prefix_of(const struct colander_engine_family *family)
{
    uint32_t id = family->handle->GetID();
    std::string prefix = "mark/";

    for (int shift = 24; shift >= 0; shift -= 8)
        prefix += static_cast<char>(id >> shift & 0xff);
    return prefix;
}

enum colander_code
engine_mark_get(struct colander_engine_family *family,
                struct colander_slice name, struct colander_buffer *value,
                bool *found, struct colander_error *err)
{
    struct colander_engine *engine = family->engine;

    *found = false;
    colander_buffer_clear(value);
    return guard(err, "read a mark", [&] {
        std::string kept;
        std::string key = prefix_of(family) + to_rocksdb(name).ToString();
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
engine_batch_mark(struct colander_engine_batch *batch,
                  struct colander_engine_family *family,
                  struct colander_slice name, struct colander_slice value,
                  struct colander_error *err)
{
    return guard(err, "add to a batch", [&] {
        rocksdb::ColumnFamilyHandle *marks =
            batch->engine->default_handle.get();
        std::string key = prefix_of(family) + to_rocksdb(name).ToString();
        rocksdb::Status status;

        batch_touch(batch, family);
        if (value.size == 0)
            status = batch->base()->Delete(marks, key);
        else
            status = batch->base()->Put(marks, key, to_rocksdb(value));
        return family_result(family, status, "add to a batch", err);
    });
}

/* What cannot be removed only takes its bytes. */
void
remove_marks(const struct colander_engine_family *family)
{
    struct colander_engine *engine = family->engine;
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
