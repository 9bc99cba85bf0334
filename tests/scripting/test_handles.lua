-- Handles closed in any order, by hand, by <close> or by the collector.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local fails = support.fails

-- Runs `body` while finalizers call `f` again and again.
local function meddling(f, body)
    local is_meddling = true
    local function meddle()
        if not is_meddling then return end
        f()
        setmetatable({}, {__gc = meddle})
    end

    collectgarbage("generational")
    meddle()
    body()
    is_meddling = false
    collectgarbage("incremental")
end

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
    -- it can be opened again
    local again <close> = colander.open(path, {mode = "existing"})
    assert(again:family("rows"):count() == 100)
end)

-- By the collector, in any order.
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

-- A query keeps its snapshot when the handle is closed.
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

-- Wrong calls say what is right.
support.with_store(function(store)
    local family = store:family("rows")

    fails({"argument 1: family expected, got userdata"}, family.put, store, 1, {})
    fails({"family expected, got no value"}, family.put)
    fails({"mode", "sync"}, colander.open, "x", {sink = true})
    fails({"option 'sync' must be true or false"}, colander.open, "x",
          {sync = 1})
    fails({"a write: unknown option 'synk' (options: sync)"}, family.put,
          family, 1, {}, {synk = true})
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

-- A batch keeps its families open until it is committed.
support.with_store(function(store)
    local batch = store:batch()

    batch:put(store:family("a"), "k", {n = 1})
    local closed = store:family("b")
    batch:put(closed, "k", {n = 2})
    closed:close()
    collectgarbage()
    collectgarbage()
    batch:commit()
    assert(store:family("a"):get("k").n == 1)
    assert(store:family("b"):get("k").n == 2)
end)

-- A query whose function fails, or that returned its first row, is closed: it
-- does not wait for the collector. A query that is open keeps the files it reads.
support.with_store(function(store, path)
    local family = store:family("rows")
    local function count_files()
        local list <close> = io.popen("ls '" .. path .. "'/rocksdb/*.sst | wc -l")
        return list:read("n")
    end

    family:put("k", {n = 1})
    family:flush()
    collectgarbage("stop")
    for _ = 1, 100 do
        fails({"oops"}, family:find():where(function() error("oops") end))
        assert(select(2, family:scan():first()).n == 1)
    end
    family:put("k", {n = 2})
    family:compact()
    for _ = 1, 500 do -- files are deleted in the background
        if count_files() == 1 then break end
        os.execute("sleep 0.01")
    end
    assert(count_files() == 1)
    collectgarbage("restart")
end)

-- Only handles can be closed.
support.with_store(function(store)
    for _, other in ipairs {colander.binary(("\1"):rep(200)), io.stdout,
                            colander.null, 5, {}} do
        fails({"handle expected"}, store.close, other)
    end
    fails({"of another store"}, function()
        support.with_store(function(other)
            store:family("rows"):find():at(other:snapshot())
        end)
    end)
end)

-- Functions of the script that run inside a call (metamethods of options,
-- functions of queries, finalizers) may use the same family.
support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 50 do family:put({"key", i}, {n = i, s = "text " .. i}) end
    local meddles = setmetatable({}, {__index = function() family:get("x") end})
    assert(family:get({"key", 7}, meddles).n == 7)
    local query = family:find()
    query:where(function() return true end)
    for key in query do
        if key[2] == 3 then break end
    end
    local count = 0
    for _ in query do count = count + 1 end
    assert(count == 50, "a loop starts again after a break")
    fails({"run by something else"}, function()
        for _ in query do query:count() end
    end)
    fails({"has used the same query"}, function()
        query:each(function() query:count() end)
    end)
    local names = 0
    for i = 1, 20 do
        local text = "s" .. i

        for _ in family:find():group(text:sub(1, 1)):count() do
            names = names + 1
            collectgarbage()
        end
    end
    assert(names == 20 * 50)
    meddling(function() family:get({"key", math.random(50)}) end, function()
        for round = 1, 20 do
            for key, row in family:find():columns() do
                assert(key[1] == "key" and row.n == key[2])
                assert(row._key[2] == key[2] and row.s == "text " .. key[2])
            end
            for i = 1, 50 do
                local key = family:put({"key", i}, {n = i, s = "text " .. i})
                assert(key[2] == i)
            end
        end
    end)
    assert(family:count() == 50)
end)

-- Finalizers change neither the keys of a range, a get or a delete, nor the
-- columns of a row that is being built.
support.with_store(function(store)
    local family = store:family("rows")

    meddling(function() family:get({"z", math.random(50)}) end, function()
        for round = 1, 100 do
            local name = "a" .. round

            for i = 1, 6 do family:put({name, i}, {n = i}) end
            assert(family:delete_range {prefix = {name}, from = {name, 3},
                                        to = {name, 4}} == 2)
            family:delete({name, 6})
            assert(family:get({name, 5}, {select = {"n"}}).n == 5)
            assert(family:get({name, 6}, {select = {"n"}}) == nil)
        end
    end)
    assert(family:count() == 300)
    local columns = {}
    for i = 1, 40 do
        columns["c" .. i] = {[("d"):rep(50) .. i] = {x = i, y = {i}}}
    end
    local function put() family:put("z", {z = {y = {x = 1}}, w = 1}) end
    meddling(put, function()
        for i = 1, 500 do
            family:put(i, columns)
            local row = family:get(i)
            row.c7["e" .. i] = i
            row.c8 = nil
            family:put(row)
            assert(family:get(i).c7["e" .. i] == i)
            assert(colander.get(row, "c9." .. ("d"):rep(50) .. "9.x") == 9)
        end
    end)
    columns.c8 = nil
    for i = 1, 500 do
        local row = colander.table(family:get(i))
        row.c7["e" .. i] = nil
        assert(support.same(row, columns))
    end
end)

-- C reads a name up to its first zero byte, so names with one are rejected.
support.with_store(function(store, path)
    local family = store:family("rows")
    local zero = "n\0x"
    local query = family:find()

    family:put("k", {n = 1, m = {[zero] = 2}, [zero] = 3})
    for text, uses in pairs {
        ["the path of a store"] = {colander.open, path .. zero},
        ["the name of a family"] = {store.family, store, zero},
        ["a path"] = {family.find, family, {[zero] = 1}},
        ["a path"] = {family.get, family, "k", {select = {zero}}},
        ["the name of an option"] = {family.put, family, "k", {},
                                     {["sync\0"] = true}},
        ["mode"] = {colander.open, path, {mode = "new\0"}},
        ["a number"] = {colander.unsigned, "1\0002"},
    } do
        fails({text .. " contains a zero byte"}, table.unpack(uses))
    end
    for _, method in ipairs {"select", "order", "distinct", "group", "sum"} do
        fails({"a path contains a zero byte"}, query[method], query, zero)
    end
    fails({"a path contains a zero byte"}, function()
        query:group("n"):max(zero)
    end)
    -- columns may have such names: in a path they are escaped
    local row = family:get("k")
    assert(row[zero] == 3 and row["_key\0"] == nil and row._key == "k")
    assert(family:count {[colander.name(zero)] = 3} == 1)
    assert(family:count {["m." .. colander.name(zero)] = 2} == 1)
    row["_key\0"] = 4
    assert(family:get(family:put(row))["_key\0"] == 4)
end)

-- The border of a table can be any number.
support.with_store(function(store)
    local family = store:family("rows")
    local long = {}

    for i = 0, 61 do long[1 << i], long[(1 << i) + 1] = "n", "n" end
    assert(#long > 1 << 60)
    for _, refused in ipairs {
        fails({"a list of more than"}, family.find, family, {n = long}),
        fails({"a list of more than"}, family.get, family, 1, {select = long}),
    } do
        assert(refused.code == "limit")
    end
    fails({"a key must have 1 to 16 parts"}, family.get, family, long)
end)

-- A list of paths is kept while it is used, even if its table changes.
support.with_store(function(store)
    local family = store:family("rows")

    family:put("k", {n = 1, m = 2})
    collectgarbage("generational")
    for i = 1, 200 do
        local paths = {"m" .. ("x"):rep(60) .. i, "n"}
        local function meddle()
            paths[1], paths[2] = nil, nil
            collectgarbage()
            assert(#(("y"):rep(61) .. i) > 61)
        end
        setmetatable({}, {__gc = meddle})
        local done, row = pcall(family.get, family, "k", {select = paths})
        assert(not done or row.n == 1 or #paths == 0)
    end
    collectgarbage("incremental")
end)

-- If a finalizer closes a handle, or uses the module, while a method of the
-- handle runs, the method returns the whole result or raises an error.
support.with_store(function(store)
    local family = store:family("rows")
    local binary = store:family("binary")
    local live
    local meta = {__gc = function()
        if live then live:close() end
        binary:get(colander.binary(("\0\1\2"):rep(30)))
    end}
    -- Calls f(handle) many times, with garbage that is collected during the call.
    local function meddle(times, open, f)
        for i = 1, times do
            live = nil
            for _ = 1, 60 do setmetatable({}, meta) end
            local pad = ("p"):rep(i * 37 % 8000) -- to collect at another time
            local handle = open()

            live = handle
            local done, result = pcall(f, handle)
            live = nil
            assert(#pad < 8000 and (not done or result), result)
        end
    end

    for i = 1, 200 do
        family:put(i, {n = i})
        binary:put(colander.binary(("\0"):rep(i % 90)), {n = i % 90})
    end
    meddle(1500, function() return family:find {n = 5} end,
           function(query) return query:explain().matched end)
    meddle(400, function() return family:find() end,
           function(query) return #query:all() == 200 end)
    meddle(400, function() return family:find() end, function(query)
        return select(2, query:tojson():gsub("\n", "")) == 200
    end)
    meddle(1500, function() return store:family("rows") end,
           function(handle) return not handle.filters or handle:filters() end)
    for _ = 1, 60 do
        for _ = 1, 300 do setmetatable({}, meta) end
        for key, row in binary:find() do
            assert(#key.bytes == row.n, "the key of another row")
        end
    end
end)

-- An argument that nothing reads is a mistake.
support.with_store(function(store, path)
    local family = store:family("rows")
    family:put(1, {a = 1, b = 2})
    local function too_many(name, most, object, ...)
        local arguments = table.pack(...)
        for i = arguments.n + 1, most do arguments[i] = nil end
        arguments[most + 1] = "more"
        local call = load(("local o, a = ... return o:%s(table.unpack(a, 1, %d))")
            :format(name, most + 1))
        fails({("%s takes %d argument"):format(name, most),
               (", not %d"):format(most + 1)}, call, object, arguments)
    end
    local function check(new, methods)
        for name, most in pairs(methods) do too_many(name, most, new(), nil) end
    end
    check(function() return store end, {families = 1, options = 0, path = 0,
        snapshot = 0, recovery = 0, batch = 0})
    too_many("family", 1, store, "rows")
    too_many("drop", 1, store, "rows")
    too_many("backup", 2, store, path .. ".b", {})
    check(function() return family end, {name = 0, exists = 0, sizes = 0,
        create = 0, drop = 0, flush = 0, compact = 0, scan = 1, find = 2,
        count = 2, explain = 2})
    too_many("put", 3, family, 1, {a = 1}, {})
    too_many("insert", 3, family, 1, {a = 1}, {})
    too_many("patch", 3, family, 1, {a = 1}, {})
    too_many("delete", 2, family, 1, {})
    too_many("get", 2, family, 1, {})
    too_many("get_many", 2, family, {1}, {})
    too_many("delete_range", 1, family, {})
    too_many("any_column", 1, family, 1)
    too_many("search", 1, family, "a")
    too_many("rename", 1, family, "others")
    too_many("copy", 1, family, "others")
    too_many("limit", 1, family, 1)
    too_many("delete", 1, family:find(), {})
    too_many("update", 2, family:find(), {a = 1}, {})
    check(function() return family:find() end, {first = 0, all = 0, count = 0,
        tojson = 0, plan = 0, explain = 0, keys = 0, columns = 0})
    for name, argument in pairs {limit = 1, skip = 1, threads = 1,
        reverse = true, distinct = "a", sum = "a", min = "a", max = "a",
        avg = "a", where = print, each = print} do
        too_many(name, 1, family:find(), argument)
    end
    too_many("order", 2, family:find(), "a", "desc")
    too_many("count", 0, family:find():group("a"))
    too_many("sum", 1, family:find():group("a"), "b")
    local batch <close> = store:batch()
    too_many("put", 3, batch, family, 1, {})
    too_many("delete", 2, batch, family, 1)
    for name, most in pairs {newkey = 0, binary = 1, array = 1, type = 1,
        name = 1, tojson = 1, fromjson = 1, duration = 1, unsigned = 1} do
        fails({"takes " .. most .. " argument"}, colander[name],
            table.unpack({most > 0 and "1" or "x", "x"}, 1, most + 1))
    end
    assert(family:find({a = 1}, nil, nil):first(nil) == 1) -- nils are nothing
    fails({"a query has one order"}, function()
        family:find():order("a"):order("b")
    end)
    fails({"a query has one order"}, function()
        family:find():order("_key"):order("b")
    end)
end)

-- Stores with one budget.
support.with_store(function(_, path)
    local budget = colander.budget {cache_size = 1 << 20, open_files = 32,
                                    write_buffer_size = 1 << 20, threads = 1}
    local stores = {}

    for i = 1, 3 do
        stores[i] = colander.open(path .. "-" .. i, {budget = budget})
        stores[i]:family("rows"):put("k", {n = i})
    end
    assert(budget:use().stores == 3)
    assert(stores[2]:options().cache_size == 1 << 20)
    budget:close() -- the stores keep it
    for i, store in ipairs(stores) do
        assert(store.rows:find {n = i}:count() == 1)
        store:close()
        os.execute("rm -r '" .. path .. "-" .. i .. "'")
    end
    fails({"closed"}, function() budget:use() end)
    fails({"budget"}, function() colander.open(path, {budget = stores}) end)
    fails({"filter_memory"}, function() colander.budget {filter_memory = 1} end)
end)
