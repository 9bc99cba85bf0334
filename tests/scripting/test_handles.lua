-- Handles closed in any order, by hand, by <close> or by the collector.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local fails = support.fails

local function make_all(store)
    local family = store:family("rows")
    local snapshot = store:snapshot()
    local query = family:find {n = 1}:at(snapshot)
    local scan = family:scan()
    local batch = store:batch():put(family, "b", {n = 1})

    query()
    scan()
    return {family, snapshot, query, scan, batch}
end

-- In every order of five.
support.with_store(function(store, path)
    local family = store:family("rows")
    local orders = {}

    for i = 1, 100 do family:put(i, {n = i % 3}) end
    local function permute(order, left)
        if #left == 0 then orders[#orders + 1] = {table.unpack(order)} end
        for i = 1, #left do
            local rest = {table.unpack(left)}
            order[#order + 1] = table.remove(rest, i)
            permute(order, rest)
            order[#order] = nil
        end
    end
    permute({}, {1, 2, 3, 4, 5})
    assert(#orders == 120)
    for number, order in ipairs(orders) do
        local handles = make_all(store)

        for _, place in ipairs(order) do
            handles[place]:close()
            handles[place]:close()
            if number % 7 == 0 then collectgarbage() end
        end
    end
    local handles = make_all(store)
    store:close()
    for i, method in pairs {"count", [3] = "count", [4] = "all", [5] = "clear"} do
        fails({"is closed"}, handles[i][method], handles[i])
    end
    fails({"the family is closed"}, family.put, family, 1, {})
    fails({"the store is closed"}, store.family, store, "rows")
    -- closed it was: it can be opened again
    local again <close> = colander.open(path, {mode = "existing"})
    assert(again:family("rows"):count() == 100)
end)

-- By the collector, whichever comes first.
support.with_store(function(store, path)
    store:family("rows"):put("k", {n = 1})
    store:close()
    for _ = 1, 20 do
        local function use()
            local handles = make_all(colander.open(path))

            return handles[math.random(5)]
        end
        local last = use()

        collectgarbage()
        assert(tostring(last))
        last = nil
        collectgarbage()
        collectgarbage()
    end
end)

-- By <close>, also when an error leaves the block.
support.with_store(function(store)
    local kept

    fails({"oops"}, function()
        local query <close> = store:family("rows"):find()
        kept = query
        error("oops")
    end)
    fails({"the query is closed"}, kept)
end)

-- A snapshot that is closed stays for the query that looks at it.
support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 3 do family:put(i, {n = i}) end
    local snapshot = store:snapshot()
    local query = family:find():at(snapshot)
    family:put(4, {n = 4})
    snapshot:close()
    assert(query:count() == 3 and family:count() == 4)
    fails({"snapshot is closed"}, query.at, query, snapshot)
end)

-- What is called in the wrong way says how.
support.with_store(function(store)
    local family = store:family("rows")

    fails({"argument 1: a family is expected"}, family.put, store, 1, {})
    fails({"a family is expected"}, family.put)
    fails({"mode", "sync"}, colander.open, "x", {sink = true})
    fails({"option 'sync' is true or false"}, colander.open, "x", {sync = 1})
    fails({"a write knows no 'synk'"}, family.put, family, 1, {}, {synk = true})
    family:put(1, {}, {sync = true})
    local refused = fails({"is open in this process already"}, function()
        colander.open(store:path(), {mode = "existing"})
    end)
    assert(refused.code == "busy", refused.code)
    assert(("a " .. refused):find("^a "))
    local first = store:batch()
    first:put(family, "a", {n = 1}):patch(family, "a", {m = 2})
    first:delete(family, 1)
    assert(#first == 3 and family:count() == 1)
    first:commit()
    assert(#first == 0 and family:get("a").m == 2 and family:count() == 1)
    assert(store:families()[1] == "rows" and family:name() == "rows")
    family:drop()
    assert(#store:families() == 0)
end)
