-- Groups with several keys and measures, against the same in Lua.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local fails = support.fails
local bucket, count, sum, avg = colander.bucket, colander.count, colander.sum,
                                colander.avg
local gt, quantile = colander.gt, colander.quantile

support.with_store(function(db)
    local rows = db:family("rows")
    local start = 1767225600 -- 2026-01-01

    for i = 1, 500 do
        rows:put(i, {
            sensor = i % 7 > 0 and "s" .. i % 7 or nil,
            t = i % 11 == 0 and "text" or i % 5 / 2,
            at = colander.timestamp(start + i * 1200),
        })
    end

    -- Groups by keys, and by a function of the row.
    local expected, groups_count = {}, 0
    for _, row in rows:find() do
        local hour = (row.at.seconds - start) // 7200
        local name = hour .. "/" .. tostring(row.sensor)
        local group = expected[name]
        if not group then
            group = {n = 0, s = 0}
            expected[name], groups_count = group, groups_count + 1
        end
        group.n = group.n + 1
        if math.type(row.t) then group.s = group.s + row.t end
    end
    local function check(by, hour_of)
        local seen = 0
        for g in by:agg {n = count(), s = sum("t"), a = avg("t")} do
            local group = expected[hour_of(g) .. "/" .. tostring(g.sensor)]
            assert(g.n == group.n and (g.s or 0) == group.s)
            assert(g.a == nil or g.a <= 2)
            seen = seen + 1
        end
        assert(seen == groups_count)
    end
    check(rows:find():group(bucket("at", "2h"), "sensor"),
          function(g) return (g.at.seconds - start) // 7200 end)
    check(rows:find():group(function(row)
        return (row.at.seconds - start) // 7200
    end, "sensor"), function(g) return g.by1 end)
    check(rows:find():where(function() return true end)
          :group(bucket("at", "2h"), "sensor"),
          function(g) return (g.at.seconds - start) // 7200 end)

    -- Order, limit, conditions on groups, and measures of functions.
    local by_sensor = rows:find {t = gt(0)}:group("sensor")
    local all = by_sensor:agg {n = count(), p = quantile("t", 0.5),
        double = sum(function(row) return row.t * 2 end), t = sum("t")}:all()
    assert(#all == 7 and all[1].sensor == nil and all[2].sensor == "s1")
    for _, g in ipairs(all) do
        assert(g.double == 2 * g.t and math.abs(g.p - 1) <= 0.51)
    end
    local top = by_sensor:agg {n = count()}:order("n", "desc"):limit(2):all()
    assert(#top == 2 and top[1].n >= top[2].n)
    local most = top[1].n
    assert(#by_sensor:agg {n = count()}:having {n = gt(most)}:all() == 0)
    assert(#by_sensor:agg {n = count()}:having("n<0"):all() == 0)
    assert(#by_sensor:agg {n = count()}:having("n>0"):all() ==
           #by_sensor:agg {n = count()}:all())
    assert(#by_sensor:agg {n = count()}:having(function(g)
        return g.n == most
    end):limit(1):all() == 1)
    assert(by_sensor:agg {n = count()}:order("sensor", "desc"):first().sensor ==
           "s6")
    assert(rows:find {t = 99}:group():agg {n = count(), s = sum("t")}:first().n == 0)
    assert(rows:find {t = 99}:group():agg {s = sum("t")}:first().s == nil)
    assert(rows:find():limit(10):group():agg {n = count()}:first().n == 10)

    -- First and last are by the time column.
    local ends = {f = colander.first("t", "at"), l = colander.last("t", "at")}
    local both = rows:find {t = gt(-1)}:group():agg(ends):first()
    assert(both.f == 0.5 and both.l == 0.0)
    fails({"need a time column"}, function()
        rows:find():group():agg {f = colander.first("t")}:first()
    end)

    -- Gaps.
    local few = rows:find {t = 1.5, sensor = "s1"}
    local hours = few:group(bucket("at", "1h")):agg {n = count()}:all()
    local filled = few:group(bucket("at", "1h")):agg {n = count()}:fill(0):all()
    assert(#filled == (hours[#hours].at.seconds - hours[1].at.seconds) // 3600 + 1)
    assert(filled[2].n == 0)
    filled = few:group(bucket("at", "1h")):agg {n = count()}:fill("prev"):all()
    assert(filled[2].n == hours[1].n)
    filled = few:group(bucket("at", "1h")):agg {n = count()}:fill("null"):all()
    assert(filled[2].n == nil)

    -- A row is in the group of each of its values.
    local tagged = db:family("tagged")
    tagged:put(1, {tags = {"new", "sale"}, n = 1})
    tagged:put(2, {tags = {"sale", "sale", {"x"}}, n = 2})
    tagged:put(3, {tags = {}, n = 4})
    tagged:put(4, {n = 8})
    tagged:put(5, {tags = {"new", 7}})
    local seen = {}
    for g in tagged:find():group("tags[]"):agg {n = count(), s = sum("n")} do
        local tag = g["tags[]"]
        seen[#seen + 1] = ("%s %s %s"):format(
            type(tag) == "table" and tag[1] or tag, g.n, g.s)
    end
    assert(table.concat(seen, ", ") ==
        "nil 2 12, 7 1 nil, new 2 1, sale 2 3, x 1 2")
    seen = {}
    for tag, n in tagged:find():group("tags[]"):count() do
        seen[#seen + 1] = tag .. n
    end
    for tag, s in tagged:find():group("tags[]"):sum("n") do
        seen[#seen + 1] = tag .. s
    end
    for tag in tagged:find():distinct("tags[]") do seen[#seen + 1] = tag end
    assert(table.concat(seen, " ") == "71 new2 sale2 new1 sale3 7 new sale")

    -- Mistakes.
    for _, mistake in ipairs {
        {"several keys", function() rows:find():group("a", "b"):count() end},
        {"measures with names", function() rows:find():group():agg {count()} end},
        {"measures with names", function() rows:find():group():agg {n = 1} end},
        {"not the size of a bucket", function()
            rows:find():group(bucket("at", "1x")):agg {n = count()}:all()
        end},
        {"time zone", function()
            rows:find():group(bucket("at", "1d", "No/Where")):agg {}:all()
        end},
        {"only one key, and no measure, can have a path with []", function()
            rows:find():group("a[]", "b[]"):agg {}:all()
        end},
        {"only one key, and no measure, can have a path with []", function()
            rows:find():group("a"):agg {s = sum("b[]")}:all()
        end},
        {"no column 'x'", function()
            rows:find():group("a"):agg {n = count()}:order("x"):all()
        end},
        {"two columns are called 'n'", function()
            rows:find():group("n"):agg {n = count()}:all()
        end},
        {"a quantile is 0 to 1", function()
            rows:find():group():agg {n = quantile("t", 2)}:all()
        end},
        {"exactly one key", function()
            rows:find():group("a"):agg {n = count()}:fill(0):all()
        end},
        {"returned a function", function()
            rows:find():group(function() return print end):agg {}:all()
        end},
        {"in row 1", function()
            rows:find():group(function() error("oh", 0) end):agg {}:all()
        end},
        {"count", function() count(print) end},
    } do
        local is_fine, message = pcall(mistake[2])
        assert(not is_fine)
        if mistake[1] ~= "count" then
            assert(tostring(message):find(mistake[1], 1, true), message)
        end
    end

    -- Memory has a limit.
    local before = colander.memory_limit(20000)
    fails({"colander.memory_limit"}, function()
        rows:find():group("at"):agg {n = count()}:all()
    end)
    fails({"colander.memory_limit"}, function()
        rows:find():group(function(row) return row._key end):agg {n = count()}:all()
    end)
    colander.memory_limit(before)

    -- A function that uses the same query, or the groups, ends the run.
    local query = rows:find()
    local groups
    groups = query:group(function(row)
        query:count()
        return row.t
    end):agg {n = count()}
    fails({"has used the same query"}, function() groups:all() end)
    groups = rows:find():group("sensor"):agg {n = count()}
    for _ in groups do
        assert(#groups:all() == 7)
        break
    end
    for g in groups do assert(g.n > 0) end
    fails({"run by something else"}, function() groups(nil, {}) end)

    -- A loop within a loop over the same groups once made the outer one endless.
    fails({"run by something else"}, function()
        local count = 0
        for _ in groups do
            count = count + 1
            assert(count < 20, "endless")
            for _ in groups do break end
        end
    end)

    -- A measure that lost its path once crashed, and one that got a function
    -- moved the values of others.
    for _, spoil in ipairs {
        function(measure) measure.of = nil end,
        function(measure) measure.of = 7 end,
        function(measure) measure.of = measure end,
        function(measure) measure.aggregate, measure.of = 0, print end,
    } do
        local measure = sum("t")
        spoil(measure)
        fails({"agg: 'm' has lost its path or function"}, function()
            rows:find():group("sensor"):agg {m = measure, n = sum(function()
                return 1
            end)}:all()
        end)
    end

    -- Fields have the names of columns, and not their paths.
    rows:put("dots", {["PM2.5"] = 7, m = {["a.b"] = 8}})
    local only = rows:find {["PM2\\.5"] = 7}:group("PM2\\.5", "m.a\\.b")
        :agg {n = count()}:order("PM2.5"):first()
    assert(only["PM2.5"] == 7 and only["m.a.b"] == 8)
    rows:delete("dots")

    -- As many keys and functions as there may be.
    local keys, measures = {}, {}
    for i = 1, 16 do keys[i] = function() return i end end
    for i = 1, 64 do measures["m" .. i] = sum(function() return i end) end
    only = rows:find():group(table.unpack(keys)):agg(measures):first()
    assert(only.by16 == 16 and only.m64 == 64 * 500)
end)
