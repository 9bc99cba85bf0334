/*
 * Tables that are checked when they are opened, and errors that name the file.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_TABLE_FACTORY_H
#define COLANDER_CORE_ENGINE_TABLE_FACTORY_H

#include <rocksdb/file_system.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>

/* Returns RocksDB's own tables, whose errors name the file. RocksDB often says
 * what is wrong with a table and not where. */
std::shared_ptr<rocksdb::TableFactory>
make_named_tables(const rocksdb::BlockBasedTableOptions &options);

/*
 * Checks that a file can be read as a table. RocksDB reads the properties of a
 * table before it verifies their checksum, which may end the process; and if
 * the checksum is wrong it continues without them, and takes the index for one
 * of another kind. Fails with Corruption, naming the path, or as the read does.
 * Succeeds without a check if there is no memory.
 *
 * Fails for a file that another program has ingested into the database, if
 * RocksDB has written a sequence into it, against the checksum.
 */
rocksdb::IOStatus check_table(const std::string &path,
                              rocksdb::FSRandomAccessFile *file, uint64_t size);

#endif
