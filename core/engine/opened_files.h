/*
 * The files that RocksDB has opened to read tables and logs. RocksDB opens a
 * file and reads it as a table in two calls of one thread, and does not pass
 * the name to the second. What it says of a log may lack the name, too.
 *
 * RocksDB 7.8 ends the process if it cannot read the last block of an SST that
 * joins the database, and takes the file for one without keys if it cannot read
 * the first. So both blocks, and all after the last, are read while such a file
 * is opened, where a failure is an error. Its writer reads it first. From then
 * on other bytes are an error, too.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_OPENED_FILES_H
#define COLANDER_CORE_ENGINE_OPENED_FILES_H

#include <cstdint>
#include <map>
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

    /* From now on the SST is read to `until`, and from `from` to its end, when
     * it is opened, and must be the same each time. */
    void
    ReadAtOnce(const std::string &path, uint64_t until, uint64_t from)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        ends_[path] = Ends{until, from, false, 0};
    }

    void
    Forget(const std::string &path)
    {
        std::lock_guard<std::mutex> hold(mutex_);

        ends_.erase(path);
    }

    /* Whether it is read at once, and what of it. */
    bool
    IsReadAtOnce(const std::string &path, uint64_t *until, uint64_t *from)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        const auto found = ends_.find(path);

        if (found == ends_.end())
            return false;
        *until = found->second.until;
        *from = found->second.from;
        return true;
    }

    /* Returns whether the ends of the SST are what they were at first. */
    bool
    HasSameEnds(const std::string &path, uint64_t hash)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        const auto found = ends_.find(path);

        if (found == ends_.end())
            return true;
        if (!found->second.is_known)
            found->second.hash = hash;
        found->second.is_known = true;
        return found->second.hash == hash;
    }

  private:
    /* Of an SST that is read at once. */
    struct Ends {
        uint64_t until;
        uint64_t from;
        bool is_known; /* it was read */
        uint64_t hash;
    };

    std::mutex mutex_;
    std::string failure_;
    std::string log_;
    std::map<std::string, Ends> ends_;
};

#endif
