/*
 * Tables that can be read, or say in which file they are damaged.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BRIDGE_TABLES_H
#define COLANDER_CORE_BRIDGE_TABLES_H

#include <rocksdb/file_system.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>

/*
 * RocksDB's own tables. Where one cannot be opened RocksDB often tells what is
 * wrong and not in which file; the status of these names it. For a file system
 * of make_store_files.
 */
std::shared_ptr<rocksdb::TableFactory>
make_named_tables(const rocksdb::BlockBasedTableOptions &options);

/*
 * Whether a file that was opened as a table can be read as one. RocksDB reads
 * what a table says of itself before it looks at the checksum, and may end the
 * process by that; and when it is wrong goes on without, and takes the index
 * for one of another kind. Corruption, naming the path; or what reading failed
 * with. When memory is short it is not looked at.
 *
 * Not one of these is a file that another program took into the database and
 * has put its sequence into, against the checksum.
 */
rocksdb::IOStatus check_table(const std::string &path,
                              rocksdb::FSRandomAccessFile *file, uint64_t size);

#endif
