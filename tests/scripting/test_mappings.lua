-- Rows that are mapped and reduced by functions that are texts.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local fails = support.fails

support.with_store(function(db)
    local rows = db:family("rows")
    local add = "function(a, b) return a + b end"

    for i = 1, 300 do
        rows:put(i, {n = i, kind = "k" .. i % 3, list = {i, i + 1}})
    end

    -- The sum of all, of those that match, and of none.
    local n = "function(row) return row.n end"
    assert(rows:find():map(n):reduce(add) == 300 * 301 // 2)
    assert(rows:map(n):reduce(add) == 300 * 301 // 2)
    assert(rows:find {kind = "k1"}:map(n):reduce(add) == 14950)
    assert(rows:find {n = 7}:map(n):reduce(add) == 7)
    assert(rows:find {n = 1000}:map(n):reduce(add) == nil)

    -- Rows whose value is nil do not count, and false does.
    assert(rows:map "function(row) if row.n > 298 then return row.n end end"
           :reduce(add) == 599)
    assert(rows:map "function(row) return row.n == 300 end"
           :reduce "function(a, b) return a or b end" == true)

    -- Tables; keys; columns that are arrays; functions of the libraries.
    local counts = rows:map "function(row) return {[row.kind] = 1} end":reduce [[
        function(a, b)
            for kind, count in pairs(b) do a[kind] = (a[kind] or 0) + count end
            return a
        end]]
    assert(counts.k0 == 100 and counts.k1 == 100 and counts.k2 == 100)
    assert(rows:map "function(row) return row._key + row.list[2] end"
           :reduce "function(a, b) return math.max(a, b) end" == 601)
    assert(rows:find {n = 5}:map
           "function(row) return string.rep(row.kind:upper(), 2) end"
           :reduce(add) == "K2K2")

    -- As the query says.
    assert(rows:find():limit(3):map(n):reduce(add) == 6)
    assert(rows:find():order("n", "desc"):limit(2):map(n):reduce(add) == 599)
    assert(rows:find():skip(299):map(n):reduce(add) == 300)
    assert(rows:find():where(function(row) return row.n < 3 end)
           :map(n):reduce(add) == 3)
    local snapshot = db:snapshot()
    local old = rows:find():at(snapshot):map(n)
    rows:put(1000, {n = 1000})
    assert(old:reduce(add) == 300 * 301 // 2)
    assert(old:reduce "function(a, b) return math.min(a, b) end" == 1)
    snapshot:close()
    rows:delete(1000)

    -- They see nothing of the script, and cannot keep anything.
    seen = 1
    assert(rows:find {n = 1}:map "function() return seen == nil end"
           :reduce(add) == true)
    for _, name in ipairs {"os", "io", "require", "load", "setmetatable",
        "getmetatable", "_G", "debug", "print", "collectgarbage", "pcall",
        "coroutine", "colander"} do
        assert(rows:find {n = 1}:map("function() return type(" .. name .. ") end")
               :reduce(add) == "nil")
    end
    for _, name in ipairs {"random", "randomseed"} do
        assert(rows:find {n = 1}:map("function() return type(math." .. name ..
                                     ") end"):reduce(add) == "nil")
    end
    fails("a map needs a reduce after it", function()
        rows:map(n):delete()
    end)
    assert(rows:count() == 300)
    fails("the text of a function has at most 65536 bytes", function()
        rows:map("function() return 1 end" .. (" "):rep(1 << 16))
    end)
    fails("map:2: 'kept' is not local, in row 1", function()
        rows:map "function(row)\n kept = row.n\n end":reduce(add)
    end)
    fails("map:1: 'abs' is not local", function()
        rows:map "function() math.abs = nil return 1 end":reduce(add)
    end)

    -- What is wrong.
    fails("a reduce comes after a map", function() rows:find():reduce(add) end)
    fails("map takes the text of a function, as it may run elsewhere",
          function() rows:map(function(row) return row.n end) end)
    fails("map takes the text of a function, not of a number",
          function() rows:map "1" end)
    fails("map:2: ", function() rows:map "function(row)\n return return end" end)
    fails("reduce:1: ", function() rows:map(n):reduce "function(" end)
    fails("reduce:3: ", function()
        rows:map(n):reduce "function(a, b)\n\n return a.x.y end"
    end)
    fails("in row 17", function()
        rows:map "function(row) return row.n ~= 17 and 1 or row.x.y end"
            :reduce(add)
    end)
    fails("map:1: ", function() rows:map "os.exit()" end)
    fails("value", function()
        rows:find {n = 1}:map "function() return type end":reduce(add)
    end)
    fails("text", function() rows:map(nil) end)
    assert(not pcall(rows.map, rows, string.dump(function() end)))
end)
