-- Ranges, prefixes and orders where mistakes are easy: numbers of two types and
-- beyond 2^53, infinities and NaN, long beginnings, several types in a column,
-- arrays, nested and rare columns, conditions combined, changes and snapshots.
-- Each answer is written down, and asked for of rows in memory, in files and
-- compacted.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local gt, ge, lt, le = colander.gt, colander.ge, colander.lt, colander.le
local between, prefix = colander.between, colander.prefix
local where, exists, missing = colander.where, colander.exists, colander.missing

local big <const> = 1 << 53
local long <const> = ("common beginning "):rep(20)

-- The keys 1 to 12 have the rows that are asked for; all others are filler, which
-- makes orders worth it and matches nothing below.
local rows = {
    {n = big - 1, t = long .. "a"},
    {n = big, t = long .. "ab", list = {1, 50}},
    {n = big + 1, t = long .. "a\0", list = {}},
    {n = big + 2.0, t = long .. "b"},
    {n = -(big + 1), t = long},
    {n = math.huge, t = "common"},
    {n = -math.huge, t = "zebra", in_ = {deep = {x = 7}}},
    {n = 0 / 0, t = "Zebra", in_ = {deep = {x = 7.5}}},
    {n = "9007199254740993", t = 5, list = {60, "y"}},
    {n = -0.0, rare = 10, t = "mary ann jones"},
    {n = math.maxinteger, rare = 11.5, t = "mary ann jonas"},
    {n = math.mininteger, rare = "x", t = "mary ann jone"},
}

local function fill(family)
    for key = 100, 1500 do
        family:put(key, {n = 1000 + key * 7919 % 10007, t = ("filler %05d"):format(
            key * 7919 % 10007), list = {key % 40}, in_ = {deep = {x = key / 1e4}}})
    end
    for key, row in ipairs(rows) do family:put(key, row) end
end

local function keys_of(query)
    local keys = {}
    for key in query:keys() do keys[#keys + 1] = key end
    return table.concat(keys, " ")
end

local function check(family, expected, condition)
    local keys = keys_of(family:find(condition))
    if keys ~= expected then
        error(("%s instead of %s"):format(keys, expected), 2)
    end
end

local function ask(family)
    -- one order of integers and doubles, exact beyond 2^53, in which NaN is the
    -- greatest; a text is no number
    check(family, "3 4 6 8 11", {n = gt(big)})
    check(family, "2 3 4 6 8 11", {n = ge(big)})
    check(family, "4 6 8 11", {n = gt(big + 1)})
    check(family, "2", {n = between(big, big)})
    check(family, "2", {n = between(big + 0.0, big + 0.0)})
    check(family, "3", {n = between(big + 1, big + 1)})
    check(family, "5 7 12", {n = lt(-big)})
    check(family, "7 12", {n = lt(-(big + 1))})
    check(family, "6 8", {n = gt(math.maxinteger)})
    check(family, "7", {n = lt(math.mininteger)})
    check(family, "6 8", {n = ge(math.huge)})
    check(family, "5 7 10 12", {n = le(0)})
    check(family, "5 7 12", {n = lt(0.0)})
    check(family, "9", {n = prefix "90071992"})
    check(family, "9", {n = ge "9"})
    -- texts in the order of their bytes, behind a long beginning
    check(family, "1 2 3 4 5", {t = prefix(long)})
    check(family, "1 2 3", {t = prefix(long .. "a")})
    check(family, "2 3 4", {t = between(long .. "a\0", long .. "b")})
    check(family, "2 4", {t = between(long .. "a\1", long .. "b")})
    check(family, "6", {t = between("comm", "common")})
    check(family, "7", {t = gt "mary ann jonesx"})
    check(family, "10 12", {t = between("mary ann jone", "mary ann jones")})
    check(family, "10 11 12", {t = prefix "mary ann jon"})
    check(family, "8", {t = lt "a"})
    check(family, "9", {t = le(5)})
    -- elements, nested columns, and columns that few rows have
    check(family, "2 9", {["list[]"] = gt(40)})
    check(family, "9", {["list[]"] = gt "a"})
    check(family, "7 8", {["in_.deep.x"] = gt(5)})
    check(family, "8", {["in_.deep.x"] = gt(7)})
    check(family, "10 11 12", {rare = exists})
    check(family, "11", {rare = gt(10)})
    check(family, "12", {rare = ge ""})
    -- together
    check(family, "4 11", {n = gt(big), t = ge(long .. "b")})
    check(family, "2", {n = ge(big), ["list[]"] = between(50, 55)})
    check(family, "6 7 8", where {n = ge(math.huge)} | where {n = le(-math.huge)})
    check(family, "3", where {n = gt(big)} & ~where {n = gt(big + 1)})
    check(family, "3 4 6 8", where {n = gt(big)} & where {rare = missing})
    -- the first ones; rows of one value come in the order of keys
    assert(keys_of(family:find {n = ge(big)}:order("n", "desc"):limit(3)) == "8 6 11")
    assert(keys_of(family:find {t = prefix(long)}:order("t"):limit(3)) == "5 1 3")
    assert(keys_of(family:find {rare = exists}:order("rare"):limit(2)) == "10 11")
end

support.with_store(function(store)
    local family = store:family("rows")

    if family.filters then family:filters {order_budget = 1} end
    fill(family)
    ask(family)
    family:flush()
    if family.await_filters then family:await_filters() end
    ask(family)
    fill(family)
    ask(family) -- all rows are in the file, and newer ones in memory
    family:compact()
    if family.await_filters then
        family:await_filters()
        for _, column in ipairs {"n", "t", "list[]", "in_.deep.x"} do
            assert(family:order_stats(column).ordered > 0)
        end
        assert(family:find({n = gt(big)}):plan().plan == "candidates")
    end
    ask(family)

    -- changes are seen, and snapshots keep what was there
    local before <close> = store:snapshot()
    family:patch(2, {n = 5})
    family:delete(3)
    family:put(200, {n = big + 7})
    check(family, "4 6 8 11 200", {n = gt(big)})
    assert(keys_of(family:find {n = gt(big)}:at(before)) == "3 4 6 8 11")
    family:flush()
    check(family, "4 6 8 11 200", {n = gt(big)})
    assert(keys_of(family:find {n = ge(big)}:at(before)) == "2 3 4 6 8 11")
    assert(keys_of(family:find {n = ge(big)}:order("n"):limit(2)) == "4 200")
end)
