/*
 * Snapshots, reads and writes.
 *
 * Every scan begins in cursor_open. Scans ignore range deletions, of which a
 * store has none: a scan of RocksDB 7.8 that looks for them loses errors, and
 * so rows, when it enters a damaged file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"

#include <algorithm>
#include <shared_mutex>

/* ----------------------------------------------------------- snapshots --- */

/* While there is a snapshot of sequence 0, compactions of RocksDB 7.8 drop all
 * keys of sequence 0, as if newer ones had replaced them. Rows of files that
 * joined a store before its first write have that sequence. So there is a write
 * before the first snapshot: it removes a record that does not exist. An engine
 * that accepts no writes does not compact. */
static enum colander_code
leave_sequence_0(struct engine *engine, struct colander_error *err)
{
    if (engine->db->GetLatestSequenceNumber() > 0 ||
        check_writable(engine, nullptr) != COLANDER_OK)
        return COLANDER_OK;
    return engine_record_put(engine, "none", {nullptr, 0}, err);
}

enum colander_code
engine_snapshot_create(struct engine *engine,
                       struct colander_snapshot **snapshot,
                       struct colander_error *err)
{
    *snapshot = nullptr;
    return guard(err, "take a snapshot", [&] {
        std::unique_ptr<colander_snapshot> made(new colander_snapshot);
        enum colander_code code = leave_sequence_0(engine, err);

        if (code != COLANDER_OK)
            return code;
        made->engine = engine;
        {
            std::shared_lock<SharedLock> shared(engine->snapshots_lock);

            made->snapshot = engine->db->GetSnapshot();
        }
        if (made->snapshot == nullptr)
            return COLANDER_FAIL(err, COLANDER_IO,
                                 "RocksDB returned no snapshot");
        engine->other_handles++;
        *snapshot = made.release();
        return COLANDER_OK;
    });
}

void
colander_snapshot_release(struct colander_snapshot *snapshot)
{
    if (snapshot == nullptr)
        return;
    for (struct colander_snapshot *part : snapshot->parts)
        colander_snapshot_release(part);
    if (snapshot->engine != nullptr) {
        snapshot->engine->db->ReleaseSnapshot(snapshot->snapshot);
        snapshot->engine->other_handles--;
    }
    delete snapshot;
}

enum colander_code
engine_snapshot_join(struct colander_snapshot *const *parts, size_t count,
                     struct colander_snapshot **snapshot,
                     struct colander_error *err)
{
    enum colander_code code;

    *snapshot = nullptr;
    code = guard(err, "take a snapshot", [&] {
        std::unique_ptr<colander_snapshot> made(new colander_snapshot);

        made->parts.assign(parts, parts + count);
        *snapshot = made.release();
        return COLANDER_OK;
    });
    if (code != COLANDER_OK)
        for (size_t i = 0; i < count; i++)
            colander_snapshot_release(parts[i]);
    return code;
}

const struct colander_snapshot *
engine_snapshot_part(const struct colander_snapshot *snapshot,
                     const struct engine *engine)
{
    const struct colander_snapshot *found = nullptr;

    if (snapshot == nullptr || snapshot->engine == engine)
        return snapshot;
    for (const struct colander_snapshot *part : snapshot->parts) {
        found = engine_snapshot_part(part, engine);
        if (found != nullptr)
            break;
    }
    return found;
}

static rocksdb::ReadOptions
read_options_at(const struct colander_snapshot *snapshot)
{
    rocksdb::ReadOptions options;

    if (snapshot != nullptr)
        options.snapshot = snapshot->snapshot;
    return options;
}

/* --------------------------------------------------------------- reads --- */

/* Replaces the buffer's content. */
static enum colander_code
fill(struct colander_buffer *value, const rocksdb::Slice &slice,
     struct colander_error *err)
{
    colander_buffer_clear(value);
    return colander_buffer_append(value, slice.data(), slice.size(), err);
}

/* Copies the result of a lookup to the buffer and flag of the caller. */
static enum colander_code
take_value(const struct engine_family *family, const rocksdb::Status &status,
           const rocksdb::Slice &slice, struct colander_buffer *value,
           bool *found, struct colander_error *err)
{
    enum colander_code code;

    *found = false;
    if (status.ok()) {
        code = fill(value, slice, err);
        *found = code == COLANDER_OK;
        return code;
    }
    colander_buffer_clear(value);
    if (status.IsNotFound())
        return COLANDER_OK;
    return family_result(family, status, "read a key", err);
}

enum colander_code
engine_get(struct engine_family *family,
           const struct colander_snapshot *snapshot, struct colander_slice key,
           struct colander_buffer *value, bool *found,
           struct colander_error *err)
{
    *found = false;
    return guard(err, "read a key", [&] {
        rocksdb::PinnableSlice pinned;
        rocksdb::Status status = family->engine->db->Get(
            read_options_at(snapshot), family->handle.get(), to_rocksdb(key),
            &pinned);

        return take_value(family, status, pinned, value, found, err);
    });
}

/* MultiGet sorts keys unless they are known to be sorted. */
static bool
is_ascending(const rocksdb::Slice *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (keys[i - 1].compare(keys[i]) > 0)
            return false;
    }
    return true;
}

/* Releases all values, and makes room for `size` others. */
void
engine_rows::reset(size_t size)
{
    for (size_t i = 0; i < count; i++)
        values[i].Reset();
    count = 0;
    if (size > few && size > many_values.size()) {
        many_found.reset(new bool[size]);
        many_values = std::vector<rocksdb::PinnableSlice>(size);
    }
    values = size <= few ? few_values : many_values.data();
    found = size <= few ? few_found : many_found.get();
}

enum colander_code
engine_rows_create(struct engine_rows **rows, struct colander_error *err)
{
    *rows = nullptr;
    return guard(err, "read keys", [&] {
        *rows = new engine_rows();
        return COLANDER_OK;
    });
}

void
engine_rows_destroy(struct engine_rows *rows)
{
    delete rows;
}

/* Reads into `rows`. `slices` and `statuses` have room for `count` elements. */
static enum colander_code
read_rows(struct engine_rows *rows, struct engine_family *family,
          const struct colander_snapshot *snapshot,
          const struct colander_slice *keys, size_t count,
          rocksdb::Slice *slices, rocksdb::Status *statuses,
          struct colander_error *err)
{
    const rocksdb::ReadOptions options = read_options_at(snapshot);
    rocksdb::DB *db = family->engine->db.get();

    rows->reset(count);
    for (size_t i = 0; i < count; i++)
        slices[i] = to_rocksdb(keys[i]);
    if (count == 1)
        statuses[0] =
            db->Get(options, family->handle.get(), slices[0], &rows->values[0]);
    else
        db->MultiGet(options, family->handle.get(), count, slices, rows->values,
                     statuses, is_ascending(slices, count));
    rows->count = count;
    rows->block_size = family->engine->options.block_size;
    for (size_t i = 0; i < count; i++) {
        rows->found[i] = statuses[i].ok();
        if (statuses[i].ok() || statuses[i].IsNotFound())
            continue;
        rows->reset(0);
        return family_result(family, statuses[i], "read a key", err);
    }
    return COLANDER_OK;
}

enum colander_code
engine_rows_read(struct engine_rows *rows, struct engine_family *family,
                 const struct colander_snapshot *snapshot,
                 const struct colander_slice *keys, size_t count,
                 struct colander_error *err)
{
    return guard(err, "read keys", [&] {
        if (count <= engine_rows::few) {
            rocksdb::Slice slices[engine_rows::few];
            rocksdb::Status statuses[engine_rows::few];

            return read_rows(rows, family, snapshot, keys, count, slices,
                             statuses, err);
        }
        std::vector<rocksdb::Slice> slices(count);
        std::vector<rocksdb::Status> statuses(count);

        return read_rows(rows, family, snapshot, keys, count, slices.data(),
                         statuses.data(), err);
    });
}

bool
engine_rows_get(const struct engine_rows *rows, size_t index,
                struct colander_slice *value)
{
    if (index >= rows->count || !rows->found[index])
        return false;
    *value = from_rocksdb(rows->values[index]);
    return true;
}

size_t
engine_rows_size(const struct engine_rows *rows, size_t index)
{
    if (index >= rows->count || !rows->found[index])
        return 0;
    return std::max(rows->values[index].size(), rows->block_size);
}

void
engine_rows_clear(struct engine_rows *rows)
{
    rows->reset(0);
}

enum colander_code
engine_get_many(struct engine_family *family,
                const struct colander_snapshot *snapshot,
                const struct colander_slice *keys, size_t count,
                struct colander_buffer *values, bool *found,
                struct colander_error *err)
{
    return guard(err, "read keys", [&] {
        struct engine_rows rows;
        enum colander_code code =
            engine_rows_read(&rows, family, snapshot, keys, count, err);

        for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
            colander_buffer_clear(&values[i]);
            found[i] = rows.found[i];
            if (found[i])
                code = fill(&values[i], rows.values[i], err);
        }
        return code;
    });
}

static enum colander_code
cursor_open(struct engine_family *family,
            const struct engine_cursor_options *options, rocksdb::ReadTier tier,
            struct engine_cursor **cursor, struct colander_error *err)
{
    *cursor = nullptr;
    return guard(err, "open a cursor", [&] {
        std::unique_ptr<engine_cursor> made(new engine_cursor());
        rocksdb::ReadOptions how = read_options_at(options->snapshot);

        made->family = family;
        made->from = to_rocksdb(options->from).ToString();
        made->until = to_rocksdb(options->until).ToString();
        made->lower = made->from;
        made->upper = made->until;
        made->is_reverse = options->is_reverse;
        if (!made->from.empty())
            how.iterate_lower_bound = &made->lower;
        if (!made->until.empty())
            how.iterate_upper_bound = &made->upper;
        how.read_tier = tier;
        how.fill_cache = !options->skips_cache;
        how.ignore_range_deletions = true;
        made->iterator.reset(
            family->engine->db->NewIterator(how, family->handle.get()));
        family_ref(family);
        *cursor = made.release();
        return COLANDER_OK;
    });
}

enum colander_code
engine_cursor_open(struct engine_family *family,
                   const struct engine_cursor_options *options,
                   struct engine_cursor **cursor, struct colander_error *err)
{
    return cursor_open(family, options, rocksdb::kReadAllTier, cursor, err);
}

enum colander_code
engine_unflushed_cursor_open(struct engine_family *family,
                             const struct engine_cursor_options *options,
                             struct engine_cursor **cursor,
                             struct colander_error *err)
{
    return cursor_open(family, options, rocksdb::kMemtableTier, cursor, err);
}

/* Returns the status of the iterator as an error that names family or SST. */
static enum colander_code
cursor_result(const struct engine_cursor *cursor, const char *what,
              struct colander_error *err)
{
    const rocksdb::Status status = cursor->iterator->status();

    if (status.ok())
        return COLANDER_OK;
    return cursor->family != nullptr
               ? family_result(cursor->family, status, what, err)
               : fail_sst(err, status, cursor->sst_number, "read");
}

/* RocksDB keeps all within the bounds of the cursor. */
static void
seek(struct engine_cursor *cursor, struct colander_slice key)
{
    rocksdb::Iterator *iterator = cursor->iterator.get();

    cursor->is_started = true;
    if (key.size == 0)
        cursor->is_reverse ? iterator->SeekToLast() : iterator->SeekToFirst();
    else if (cursor->is_reverse)
        iterator->SeekForPrev(to_rocksdb(key));
    else
        iterator->Seek(to_rocksdb(key));
}

/* The end of an iterator is final. */
static void
step(struct engine_cursor *cursor)
{
    rocksdb::Iterator *iterator = cursor->iterator.get();

    if (iterator->Valid())
        cursor->is_reverse ? iterator->Prev() : iterator->Next();
}

enum colander_code
engine_cursor_seek(struct engine_cursor *cursor, struct colander_slice key,
                   bool skips_key, struct colander_error *err)
{
    const rocksdb::Iterator *iterator = cursor->iterator.get();
    enum colander_code code = guard(err, "seek", [&] {
        seek(cursor, key);
        if (skips_key && iterator->Valid() &&
            iterator->key() == to_rocksdb(key))
            step(cursor);
        cursor->is_sought = true;
        return cursor_result(cursor, "seek", err);
    });

    cursor->is_failed = code != COLANDER_OK;
    return code;
}

enum colander_code
engine_cursor_next(struct engine_cursor *cursor, bool *is_row,
                   struct colander_slice *key, struct colander_slice *value,
                   struct colander_error *err)
{
    const rocksdb::Iterator *iterator = cursor->iterator.get();

    *is_row = false;
    *key = *value = colander_slice_of(nullptr, 0);
    if (cursor->is_failed)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the last seek has failed: seek again");
    return guard(err, "scan", [&] {
        if (!cursor->is_started)
            seek(cursor, colander_slice_of(nullptr, 0));
        else if (!cursor->is_sought)
            step(cursor);
        cursor->is_sought = false;
        *is_row = iterator->Valid();
        if (!*is_row)
            return cursor_result(cursor, "scan", err);
        *key = from_rocksdb(iterator->key());
        *value = from_rocksdb(iterator->value());
        return COLANDER_OK;
    });
}

void
engine_cursor_close(struct engine_cursor *cursor)
{
    if (cursor == nullptr)
        return;
    cursor->iterator.reset();
    if (cursor->family != nullptr)
        family_unref(cursor->family);
    delete cursor;
}

/* -------------------------------------------------------------- writes --- */

enum colander_code
engine_batch_create(struct engine *engine, bool is_indexed,
                    struct engine_batch **batch, struct colander_error *err)
{
    enum colander_code code = check_writable(engine, err);

    *batch = nullptr;
    if (code != COLANDER_OK)
        return code;
    return guard(err, "make a batch", [&] {
        std::unique_ptr<engine_batch> made(new engine_batch);

        made->engine = engine;
        if (is_indexed)
            made->indexed.reset(new rocksdb::WriteBatchWithIndex(
                rocksdb::BytewiseComparator(), 0, true));
        else
            made->plain.reset(new rocksdb::WriteBatch());
        engine->other_handles++;
        *batch = made.release();
        return COLANDER_OK;
    });
}

void
engine_batch_clear(struct engine_batch *batch)
{
    batch->base()->Clear();
    for (struct engine_family *family : batch->families)
        family_unref(family);
    batch->families.clear();
}

void
engine_batch_destroy(struct engine_batch *batch)
{
    if (batch == nullptr)
        return;
    engine_batch_clear(batch);
    batch->engine->other_handles--;
    delete batch;
}

size_t
engine_batch_size(const struct engine_batch *batch)
{
    return batch->base()->GetWriteBatch()->GetDataSize();
}

void
batch_touch(struct engine_batch *batch, struct engine_family *family)
{
    auto &families = batch->families;

    if (!families.empty() && families.back() == family)
        return;
    auto place = std::find(families.begin(), families.end(), family);
    if (place == families.end()) {
        families.push_back(family);
        family_ref(family);
    } else {
        std::swap(*place, families.back());
    }
}

enum colander_code
engine_batch_put(struct engine_batch *batch, struct engine_family *family,
                 struct colander_slice key, struct colander_slice value,
                 struct colander_error *err)
{
    return guard(err, "add to a batch", [&] {
        rocksdb::Status status;

        batch_touch(batch, family);
        status = batch->base()->Put(family->handle.get(), to_rocksdb(key),
                                    to_rocksdb(value));
        return family_result(family, status, "add to a batch", err);
    });
}

enum colander_code
engine_batch_delete(struct engine_batch *batch, struct engine_family *family,
                    struct colander_slice key, struct colander_error *err)
{
    return guard(err, "add to a batch", [&] {
        rocksdb::Status status;

        batch_touch(batch, family);
        status = batch->base()->Delete(family->handle.get(), to_rocksdb(key));
        return family_result(family, status, "add to a batch", err);
    });
}

enum colander_code
engine_batch_get(struct engine_batch *batch, struct engine_family *family,
                 struct colander_slice key, struct colander_buffer *value,
                 bool *found, struct colander_error *err)
{
    *found = false;
    if (!batch->indexed)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "cannot read from a batch without an index");
    return guard(err, "read a key", [&] {
        rocksdb::PinnableSlice pinned;
        rocksdb::Status status = batch->indexed->GetFromBatchAndDB(
            batch->engine->db.get(), rocksdb::ReadOptions(),
            family->handle.get(), to_rocksdb(key), &pinned);

        return take_value(family, status, pinned, value, found, err);
    });
}

enum colander_code
engine_batch_write(struct engine_batch *batch,
                   enum colander_durability durability,
                   struct colander_error *err)
{
    struct engine *engine = batch->engine;
    enum colander_code written = guard(err, "write", [&] {
        std::shared_lock<SharedLock> shared(engine->writes_lock);
        enum colander_code code = check_writable(engine, err);
        rocksdb::WriteOptions options;
        rocksdb::Status status;

        if (code != COLANDER_OK)
            return code;
        for (struct engine_family *family : batch->families) {
            if (family->is_dropped)
                return fail_dropped(family, err);
        }
        options.sync =
            durability == COLANDER_SYNC ||
            (durability == COLANDER_AS_STORE && engine->options.sync);
        status = engine->db->Write(options, batch->base()->GetWriteBatch());
        if (!status.ok())
            return fail_status(err, status, "write");
        engine_batch_clear(batch);
        return COLANDER_OK;
    });

    if (engine->budget)
        quietly([&] { engine->budget->Relieve(); });
    return written;
}
