/*
 * The file system that RocksDB sees.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BRIDGE_FILES_H
#define COLANDER_CORE_BRIDGE_FILES_H

#include "core/ledger.h"

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

/*
 * A file system over RocksDB's default one:
 *
 * Every file and directory that it makes is for the owner alone.
 *
 * Each family that RocksDB creates opens the database's directory once more;
 * here they share one descriptor.
 *
 * There are no OPTIONS files: nobody reads them, and RocksDB writes one with
 * the options of all families at each creation of a family. 300 families took
 * 9 seconds with them and take one without.
 *
 * What is written to logs is noted in the ledger, if there is one; and of a
 * MANIFEST no more is read than the ledger knows to be whole. An SST is opened
 * only when it can be read as a table: see check_table.
 *
 * What a disk that fails would make RocksDB do is prevented: see Faults and
 * Chatter.
 */
std::shared_ptr<rocksdb::FileSystem>
make_store_files(std::shared_ptr<struct ledger> ledger);

/* The path of the file that the calling thread has opened last in one of these,
 * to read it here and there. */
const std::string &file_opened_last();

/* Why the calling thread could last not open a file so, other than that it is
 * not there; empty: it always could, since this was asked. */
std::string file_take_failure();

#endif
