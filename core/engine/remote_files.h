/*
 * Files of a store that are not in its directory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_REMOTE_FILES_H
#define COLANDER_CORE_ENGINE_REMOTE_FILES_H

extern "C" {
#include "core/core.h"
}

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

/* Returns a file of `size` bytes whose bytes are read by `remote`, borrowed. */
std::unique_ptr<rocksdb::FSRandomAccessFile>
make_remote_file(const struct colander_remote_files *remote,
                 const std::string &path, uint64_t size);

#endif
