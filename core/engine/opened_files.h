/*
 * The files that RocksDB has opened to read tables and logs. RocksDB opens a
 * file and reads it as a table in two calls of one thread, and does not pass
 * the name to the second. What it says of a log may lack the name, too.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_OPENED_FILES_H
#define COLANDER_CORE_ENGINE_OPENED_FILES_H

#include <mutex>
#include <string>

class OpenedFiles
{
  public:
    /* Returns the path that the calling thread has opened last. */
    static std::string &
    Last()
    {
        static thread_local std::string path;

        return path;
    }

    /* The system refused to open a file. */
    void
    NoteFailure(const std::string &failure)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        failure_ = failure;
    }

    /* Returns the last failure, or an empty string. */
    std::string
    Failure()
    {
        std::lock_guard<std::mutex> hold(mutex_);

        return failure_;
    }

    /* A write-ahead log was opened to be read. */
    void
    NoteLog(const std::string &name)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        log_ = name;
    }

    /* Returns the last one, or an empty string. */
    std::string
    LastLog()
    {
        std::lock_guard<std::mutex> hold(mutex_);

        return log_;
    }

  private:
    std::mutex mutex_;
    std::string failure_;
    std::string log_;
};

#endif
