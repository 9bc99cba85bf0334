/*
 * RocksDB's log, passed on to the program.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/event_log.h"
#include "core/engine/store_files.h"

#include <rocksdb/env.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

/* Longer messages are cut. */
#define MESSAGE_SIZE 1024

namespace
{

class EventLog : public rocksdb::Logger
{
  public:
    EventLog(const struct colander_options &options,
             std::shared_ptr<rocksdb::Logger> file)
        : log_(options.log), context_(options.log_context),
          file_(std::move(file))
    {
    }

    using rocksdb::Logger::Logv;

    void
    Logv(const char *format, va_list arguments) override
    {
        Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
    }

    void
    Logv(const rocksdb::InfoLogLevel level, const char *format,
         va_list arguments) override
    {
        if (level == rocksdb::InfoLogLevel::WARN_LEVEL)
            pass_on(COLANDER_LOG_WARNING, format, arguments);
        else if (level == rocksdb::InfoLogLevel::ERROR_LEVEL ||
                 level == rocksdb::InfoLogLevel::FATAL_LEVEL)
            pass_on(COLANDER_LOG_ERROR, format, arguments);
        if (file_ != nullptr)
            file_->Logv(level, format, arguments);
    }

    void
    Flush() override
    {
        if (file_ != nullptr)
            file_->Flush();
    }

    size_t
    GetLogFileSize() const override
    {
        return file_ == nullptr ? 0 : file_->GetLogFileSize();
    }

  private:
    void
    pass_on(enum colander_log_level level, const char *format,
            va_list arguments) const
    {
        char message[MESSAGE_SIZE];
        va_list copied;
        int size;

        va_copy(copied, arguments);
        size = vsnprintf(message, sizeof(message), format, copied);
        va_end(copied);
        if (size <= 0 || strstr(message, NO_OPTIONS_FILES) != nullptr)
            return; /* store_files.cc refuses these files on purpose */
        for (char *at = message; *at != '\0'; at++) {
            if (*at == '\n')
                *at = ' ';
        }
        log_(context_, level, message);
    }

    colander_log *log_;
    void *context_;
    std::shared_ptr<rocksdb::Logger> file_; /* none in a read-only store */
};

} // namespace

void
install_event_log(const struct colander_options &options,
                  const std::string &path, rocksdb::Options *rocksdb_options)
{
    std::shared_ptr<rocksdb::Logger> file;

    if (options.log == nullptr)
        return;
    /* without a file the messages still reach the program */
    if (options.mode != COLANDER_OPEN_READ_ONLY)
        (void)rocksdb::CreateLoggerFromOptions(path, *rocksdb_options, &file);
    rocksdb_options->info_log = std::make_shared<EventLog>(options, file);
}
