-- Reads with options, ranges, sizes, options of stores, filters, backups.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local same, fails = support.same, support.fails

support.with_store(function(store)
    local family = store:family("rows")

    assert(not family:exists() and family:create():exists())
    for i = 1, 100 do family:put({"k", i}, {n = i, m = {x = i, y = 0}}) end
    family:put("other", {n = 0})
    local snapshot <close> = store:snapshot()
    family:put({"k", 1}, {n = -1})
    assert(family:get({"k", 1}).n == -1)
    assert(family:get({"k", 1}, {at = snapshot}).n == 1)
    assert(same(colander.table(family:get({"k", 2}, {select = {"m.x"}})),
                {m = {x = 2}}))
    fails({"get: unknown option 'form'"}, family.get, family, 1, {form = 1})
    fails({"select: a path must be a string, not a number"}, family.get, family,
          1, {select = {1}})
    assert(family:delete_range {prefix = {"k"}, from = {"k", 51}} == 50)
    assert(family:delete_range {exact = {"k", 50}} == 1)
    assert(family:delete_range {exact = {"k"}, sync = true} == 0)
    assert(family:count() == 50)
    assert(family:find():at(snapshot):count() == 101)
    family:flush():compact()
    local sizes = family:sizes()
    assert(sizes.sst_count >= 1 and sizes.sst_size > 0)
    assert(family:delete_range {} == 50 and family:count() == 0)
end)

-- Options are those that were set; the store keeps some.
local given = {cache_size = 8 << 20, write_buffer_size = 1 << 20, sync = true,
               open_files = 64, threads = 1, compression = "zstd",
               compaction = "universal", block_size = 4096,
               sst_size = 2 << 20, fifo_size = 4 << 20, mode = "new"}
support.with_store(function(store, path)
    assert(same(store:options(), given))
    store:close()
    local again <close> = colander.open(path, {mode = "existing"})
    local options = again:options()
    assert(options.compression == "zstd" and options.block_size == 4096)
    assert(options.compaction == "universal" and not options.sync)
    assert(options.mode == "existing" and options.cache_size == 64 << 20)
end, given)

-- A copy has all rows and the options of filters, or there is no copy.
support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 3 do family:put(i, {n = i, text = "row " .. i}) end
    if family.filters then family:filters {unfiltered = {"text"}} end
    assert(family:copy("copy") == 3 and store.copy:get(2).text == "row 2")
    if family.filters then
        assert(store.copy:filters().unfiltered[1] == "text")
        family:filters {unfiltered = {}}
    end
    fails({"family 'copy'"}, family.copy, family, "copy")
    fails({"family 'rows'"}, family.copy, family, "rows")
    fails({"there is no family 'none' to copy"}, function()
        store:family("none"):copy("other")
    end)
    fails({"string expected"}, family.copy, family, {})
    assert(not store.other and store.copy:count() == 3)
    if family.filters then
        assert(store.copy:filters().unfiltered[1] == "text")
    end
    store.copy:delete_range {}
    assert(family:copy("copy") == 3 and store.copy:count() == 3)
end)

-- Options and statistics of filters, if there are any.
support.with_store(function(store)
    local family = store:family("rows")

    if not family.filters then return end
    for i = 1, 1000 do family:put(i, {n = i, text = "row " .. i}) end
    -- compacted, because RocksDB could do it during the test
    family:flush():compact():await_filters()
    local options = family:filters()
    assert(options.on and options.rows_per_segment == "auto")
    assert(options.hash_bits == 32 and #options.unfiltered == 0)
    assert(family:find {text = "row 7"}:plan().plan == "candidates")
    options = family:filters {unfiltered = {"text"}, rows_per_segment = 16}
    assert(options.unfiltered[1] == "text" and options.rows_per_segment == 16)
    assert(same(family:filters(), options))
    assert(family:refilter() == 1)
    assert(family:find {text = "row 7"}:plan().plan == "scan")
    assert(family:find {text = "row 7"}:count() == 1)
    local stats = family:await_filters():stats()
    assert(stats.filter_count == 1 and stats.row_count == 1000)
    assert(family:filters {rows_per_segment = "auto", unfiltered = {}}.on)
    fails({"filters: unknown option 'of'"}, family.filters, family, {of = true})
    fails({"hash_bits must be 16 to 40"}, family.filters, family, {hash_bits = 1})
    fails({"'hierarchy': unknown value 'heap' (values: slices, tree)"},
          family.filters, family, {hierarchy = "heap"})
    fails({"unfiltered: a list of paths expected"}, family.filters, family,
          {unfiltered = "text"})
    fails({"word_columns: a list of paths expected"}, family.filters, family,
          {word_columns = true})
    assert(family:filters().hash_bits == 32)
    assert(#family:filters().word_columns == 0)
    options = family:filters {word_columns = {"a", "text"}}
    assert(options.words and options.word_columns[2] == "text")
    assert(same(family:filters(options), options))
    assert(family:filters {words = false}.words == false)
    assert(family:filters {ordered = {"text"}, unordered = {"n"}}.unordered[1]
               == "n")
    family:refilter()
    local order = family:order_stats("text")
    assert(order.ordered == 1 and order.values == 1000 and order.bytes > 0)
    assert(family:order_stats("none").ordered == 0)
    fails({"path"}, family.order_stats, family, "a[")
end)

-- Backups during a batch, and stores restored from them.
support.with_store(function(store, path)
    local rows = store:family("rows")
    local batch <close> = store:batch()

    rows:put(1, {n = 1})
    batch:put(rows, 2, {n = 2})
    local made = store:backup(path .. "-backups")
    assert(made.number == 1 and made.files == made.copied_files)
    assert(made.size == made.copied_size and made.removed == 0)
    batch:commit()
    rows:flush()
    store:backup(path .. "-backups")
    made = store:backup(path .. "-backups", {keep = 1})
    assert(made.number == 3 and made.removed == 2)
    assert(made.copied_files < made.files)
    local restored = colander.restore(path .. "-backups", path .. "-restored",
                                      {number = 3})
    assert(restored.number == 3 and restored.size > 0)
    local copy <close> = colander.open(path .. "-restored")
    assert(copy:family("rows"):count() == 2)
    fails({"there is a store already", code = "exists"}, colander.restore,
          path .. "-backups", path .. "-restored")
    fails({"backup: unknown option 'kep'"}, store.backup, store, path .. "-b",
          {kep = 1})
    fails({"restore: unknown option 'keep'"}, colander.restore, path, path,
          {keep = 1})
    os.execute("rm -rf '" .. path .. "-backups' '" .. path .. "-restored'")
end)
