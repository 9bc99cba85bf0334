/*
 * Tables that say in which file they are damaged.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BRIDGE_TABLES_H
#define COLANDER_CORE_BRIDGE_TABLES_H

#include <rocksdb/table.h>

#include <memory>

/*
 * RocksDB's own tables, of which each is opened only when its properties are
 * whole, as written: they are not where another program took a file into the
 * database and put its sequence there. Where one cannot be opened RocksDB often
 * tells what is wrong and not in which file; the status of these names it. For
 * a file system of make_store_files.
 */
std::shared_ptr<rocksdb::TableFactory>
make_named_tables(const rocksdb::BlockBasedTableOptions &options);

#endif
