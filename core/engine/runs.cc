/*
 * The files of a family in the order in which RocksDB searches them for a key.
 *
 * It searches each file of level 0 for itself, newest first, and then level by
 * level, where files do not overlap. A compaction never moves a version below
 * an older one of the same key. So what was first once is first in all files
 * that hold these versions at that moment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"

#include <rocksdb/metadata.h>

namespace
{

struct sst_in_run
in_run(const rocksdb::SstFileMetaData &file, bool begins_run)
{
    return {file.file_number, begins_run,
            from_rocksdb(rocksdb::Slice(file.smallestkey)),
            from_rocksdb(rocksdb::Slice(file.largestkey))};
}

enum colander_code
visit_levels(const rocksdb::ColumnFamilyMetaData &files,
             enum colander_code (*visit)(void *context,
                                         const struct sst_in_run *file,
                                         struct colander_error *err),
             void *context, struct colander_error *err)
{
    for (const rocksdb::LevelMetaData &level : files.levels) {
        bool begins_run = true;

        for (const rocksdb::SstFileMetaData &file : level.files) {
            const struct sst_in_run found = in_run(file, begins_run);
            const enum colander_code code = visit(context, &found, err);

            if (code != COLANDER_OK)
                return code;
            begins_run = level.level == 0;
        }
    }
    return COLANDER_OK;
}

} // namespace

enum colander_code
engine_runs(struct engine_family *family,
            enum colander_code (*visit)(void *context,
                                        const struct sst_in_run *file,
                                        struct colander_error *err),
            void *context, struct colander_error *err)
{
    return guard(err, "list the files of a family", [&] {
        const std::string name = family->handle->GetName();
        std::vector<rocksdb::ColumnFamilyMetaData> all;

        /* The metadata of one family is that of its readers, which may lack the
         * file of a flush that has already left the memtables. */
        family->engine->db->GetAllColumnFamilyMetaData(&all);
        for (const rocksdb::ColumnFamilyMetaData &one : all) {
            if (one.name == name)
                return visit_levels(one, visit, context, err);
        }
        return COLANDER_OK;
    });
}
