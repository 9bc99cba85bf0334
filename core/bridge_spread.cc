/*
 * Spread: keys that part a family into runs of about as many bytes.
 *
 * RocksDB tells how many bytes stand before any string of bytes, from the index
 * blocks of SST files and the memtable's list, without reading a row. So the
 * string with a share of the bytes before it is searched for, byte by byte from
 * the left, and the first key from there on is what is given.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bridge.h"

#include <algorithm>

/* Bytes that are searched for, behind those that all keys begin with. */
static constexpr size_t depth_max = 16;

namespace
{

class Measure
{
  public:
    explicit Measure(struct colander_engine_family *family) : family_(family)
    {
        options_.include_memtables = true;
        options_.include_files = true;
    }

    /* Bytes of the keys below `end`, about. */
    uint64_t
    before(const std::string &end)
    {
        const rocksdb::Range range("", end);
        uint64_t size = 0;

        status_ = family_->engine->db->GetApproximateSizes(
            options_, family_->handle.get(), &range, 1, &size);
        return status_.ok() ? size : 0;
    }

    const rocksdb::Status &
    status() const
    {
        return status_;
    }

  private:
    struct colander_engine_family *family_;
    rocksdb::SizeApproximationOptions options_;
    rocksdb::Status status_;
};

} // namespace

/* The first key from `from` on, or the last of all; empty: there is none. */
static enum colander_code
find_key(struct colander_engine_family *family, const std::string &from,
         bool is_last, std::string *key, struct colander_error *err)
{
    struct colander_engine_cursor_options options = {};
    struct colander_engine_cursor *cursor = nullptr;
    struct colander_slice found = {nullptr, 0};
    struct colander_slice value = {nullptr, 0};
    enum colander_code code;

    options.from = colander_slice_of(from.data(), from.size());
    options.is_reverse = is_last;
    code = colander_engine_cursor_open(family, &options, &cursor, err);
    if (code == COLANDER_OK)
        code = colander_engine_cursor_next(cursor, &found, &value, err);
    if (code == COLANDER_OK)
        key->assign(reinterpret_cast<const char *>(found.data), found.size);
    colander_engine_cursor_close(cursor);
    return code;
}

static std::string
common_prefix(const std::string &a, const std::string &b)
{
    size_t size = 0;

    while (size < a.size() && size < b.size() && a[size] == b[size])
        size++;
    return a.substr(0, size);
}

/* The largest string, of those that begin with `prefix` and go on for a few
 * bytes, that has at most `target` bytes before it; exact to `margin`. */
static std::string
find_place(Measure &measure, std::string prefix, uint64_t target,
           uint64_t margin)
{
    uint64_t size = 0;

    for (size_t depth = 0; depth < depth_max; depth++) {
        unsigned low = 0;
        unsigned high = 256;

        while (high - low > 1) {
            const unsigned middle = (low + high) / 2;
            const uint64_t there =
                measure.before(prefix + static_cast<char>(middle));

            if (there <= target) {
                low = middle;
                size = there;
            } else {
                high = middle;
            }
        }
        prefix += static_cast<char>(low);
        if (target - std::min(size, target) <= margin)
            break;
    }
    return prefix;
}

/* The family's first key, and what all of its keys begin with. */
static enum colander_code
find_ends(struct colander_engine_family *family, std::string *first,
          std::string *prefix, struct colander_error *err)
{
    std::string last;
    enum colander_code code = find_key(family, "", false, first, err);

    if (code == COLANDER_OK)
        code = find_key(family, "", true, &last, err);
    *prefix = common_prefix(*first, last);
    return code;
}

static enum colander_code
spread(struct colander_engine_family *family, struct colander_buffer *keys,
       size_t count, size_t *found, struct colander_error *err)
{
    Measure measure(family);
    std::string previous;
    std::string prefix;
    enum colander_code code = find_ends(family, &previous, &prefix, err);
    const uint64_t total = measure.before("\xff");

    for (size_t i = 1; i <= count && code == COLANDER_OK && total > 0; i++) {
        const uint64_t target = static_cast<uint64_t>(
            static_cast<double>(total) * static_cast<double>(i) /
            static_cast<double>(count + 1));
        const std::string place =
            find_place(measure, prefix, target, total / (8 * (count + 1)));
        std::string key;

        code = find_key(family, place, false, &key, err);
        if (code != COLANDER_OK || key.empty() || key <= previous)
            continue;
        colander_buffer_clear(&keys[*found]);
        code =
            colander_buffer_append(&keys[*found], key.data(), key.size(), err);
        *found += code == COLANDER_OK;
        previous = key;
    }
    return code == COLANDER_OK
               ? family_result(family, measure.status(), "measure it", err)
               : code;
}

enum colander_code
colander_engine_family_spread(struct colander_engine_family *family,
                              struct colander_buffer *keys, size_t count,
                              size_t *found, struct colander_error *err)
{
    *found = 0;
    return guard(err, "part the family", [&] {
        if (family->is_dropped)
            return fail_dropped(family, err);
        return spread(family, keys, count, found, err);
    });
}
