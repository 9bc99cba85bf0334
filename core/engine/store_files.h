/*
 * The file system that RocksDB sees.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_STORE_FILES_H
#define COLANDER_CORE_ENGINE_STORE_FILES_H

#include "core/engine/budget.h"
#include "core/engine/opened_files.h"

extern "C" {
#include "core/ledger.h"
}

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

/* What RocksDB learns, and reports to its log, when it writes OPTIONS. */
#define NO_OPTIONS_FILES "no OPTIONS files here"

/*
 * Returns a file system over RocksDB's default one:
 *
 * Each file and directory that it creates is private to the owner.
 *
 * RocksDB opens the directory of the database once for each family. Here these
 * share one descriptor.
 *
 * There are no OPTIONS files. Nothing reads them, and RocksDB writes one with
 * the options of all families when it creates a family: 300 families take 9
 * seconds with them, and one without.
 *
 * A file whose name RocksDB would not give, such as 0.log, does not seem to be
 * there.
 *
 * Writes to logs are noted in the ledger, if there is one. No more of a log is
 * read than the ledger says counts. An SST is opened only if it can be read as
 * a table: see check_table. `opened` gets the last failure of an open. If
 * `shared` is not NULL, the descriptors of SST files are among these. If
 * `remote` is not NULL, it reads SST files.
 *
 * RocksDB's harmful reactions to a failing disk are prevented: see Faults and
 * TextLog.
 */
std::shared_ptr<rocksdb::FileSystem>
make_store_files(std::shared_ptr<struct ledger> ledger,
                 std::shared_ptr<OpenedFiles> opened,
                 std::shared_ptr<OpenFiles> shared,
                 const struct colander_remote_files *remote);

#endif
