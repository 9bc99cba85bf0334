/*
 * Split keys: keys that divide a family into ranges of approximately equal
 * size.
 *
 * RocksDB knows the approximate number of bytes before any string, from index
 * blocks and memtables, without reading rows. So the string with a share of the
 * bytes before it is searched for, byte by byte from the left. The split key is
 * the first key from there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine/engine_inside.h"

#include <algorithm>

/* Bytes that are searched for, after the common prefix of all keys. */
static constexpr size_t depth_max = 16;

namespace
{

class Measure
{
  public:
    explicit Measure(struct engine_family *family) : family_(family)
    {
        options_.include_memtables = true;
        options_.include_files = true;
    }

    /* Returns the approximate number of bytes of the keys below `end`. */
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
    struct engine_family *family_;
    rocksdb::SizeApproximationOptions options_;
    rocksdb::Status status_;
};

} // namespace

/* Finds the first key at or after `from`, or the last of all. An empty key
 * means that there is none. */
static enum colander_code
find_key(struct engine_family *family, const std::string &from, bool is_last,
         std::string *key, struct colander_error *err)
{
    struct engine_cursor_options options = {};
    struct engine_cursor *cursor = nullptr;
    struct colander_slice found = {nullptr, 0};
    struct colander_slice value;
    bool is_row;
    enum colander_code code;

    options.from = colander_slice_of(from.data(), from.size());
    options.is_reverse = is_last;
    code = engine_cursor_open(family, &options, &cursor, err);
    if (code == COLANDER_OK)
        code = engine_cursor_next(cursor, &is_row, &found, &value, err);
    if (code == COLANDER_OK)
        key->assign(reinterpret_cast<const char *>(found.data), found.size);
    engine_cursor_close(cursor);
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

/* Returns the largest string that has at most `target` bytes before it, with
 * `prefix` and at most a few bytes more; exact to `margin`. */
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

/* Finds the first key of the family, and the common prefix of all. */
static enum colander_code
find_ends(struct engine_family *family, std::string *first, std::string *prefix,
          struct colander_error *err)
{
    std::string last;
    enum colander_code code = find_key(family, "", false, first, err);

    if (code == COLANDER_OK)
        code = find_key(family, "", true, &last, err);
    *prefix = common_prefix(*first, last);
    return code;
}

static enum colander_code
find_split_keys(struct engine_family *family, struct colander_buffer *keys,
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
engine_family_split_keys(struct engine_family *family,
                         struct colander_buffer *keys, size_t count,
                         size_t *found, struct colander_error *err)
{
    *found = 0;
    return guard(err, "find split keys", [&] {
        if (family->is_dropped)
            return fail_dropped(family, err);
        return find_split_keys(family, keys, count, found, err);
    });
}
