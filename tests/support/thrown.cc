/*
 * See thrown.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/thrown.h"

#include "core/engine/engine_inside.h"

#include <stdexcept>

static rocksdb::Status
status_of(enum thrown said)
{
    switch (said) {
    case SAID_CORRUPTION:
        return rocksdb::Status::Corruption("a block");
    case SAID_MEMORY_LIMIT:
        return rocksdb::Status::MemoryLimit();
    case SAID_DROPPED:
        return rocksdb::Status::ColumnFamilyDropped();
    case SAID_NO_SPACE:
        return rocksdb::Status::NoSpace();
    default:
        return rocksdb::Status::OK();
    }
}

static enum colander_code
act(enum thrown thrown, struct colander_error *err)
{
    switch (thrown) {
    case THROWN_NOTHING:
        return COLANDER_OK;
    case THROWN_BAD_ALLOC:
        throw std::bad_alloc();
    case THROWN_RUNTIME_ERROR:
        throw std::runtime_error("thrown");
    case THROWN_NUMBER:
        throw 5;
    default:
        break;
    }
    const rocksdb::Status status = status_of(thrown);

    return status.ok() ? COLANDER_OK : fail_status(err, status, "try");
}

enum colander_code
guard_tried(enum thrown thrown, struct colander_error *err)
{
    return guard(err, "try", [=] { return act(thrown, err); });
}
