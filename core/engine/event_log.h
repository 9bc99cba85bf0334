/*
 * RocksDB's log, passed on to the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_EVENT_LOG_H
#define COLANDER_CORE_ENGINE_EVENT_LOG_H

extern "C" {
#include "core/engine.h"
}

#include <rocksdb/options.h>

#include <string>

/* Makes RocksDB's warnings and errors go to the log of `options`, if there is
 * one, as well as to its own file in the directory `path`. */
void install_event_log(const struct colander_options &options,
                       const std::string &path,
                       rocksdb::Options *rocksdb_options);

#endif
