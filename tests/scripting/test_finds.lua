-- Random conditions, against a search by Lua over the same rows.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local fails = support.fails
local null = colander.null

local ROWS = 300

local function random_scalar()
    return ({
        function() return math.random(0, 9) end,
        function() return math.random(0, 9) + 0.0 end,
        function() return math.random(0, 18) / 2 end,
        function() return ({"", "a", "ab", "abc", "b"})[math.random(5)] end,
        function() return math.random(2) == 1 end,
        function() return null end,
        function() return colander.binary("ab") end,
        function() return colander.timestamp(math.random(0, 3)) end,
    })[math.random(8)]()
end

local function random_row()
    local row = {}

    if math.random(4) > 1 then row.a = random_scalar() end
    if math.random(4) > 1 then row["b.c"] = random_scalar() end
    if math.random(4) > 1 then
        row.m = {}
        if math.random(3) > 1 then row.m.x = random_scalar() end
    end
    if math.random(4) > 1 then
        row.t = colander.array {}
        for i = 1, math.random(0, 3) do row.t[i] = random_scalar() end
    end
    return row
end

-- Returns the scalars at a path.
local paths = {
    ["a"] = function(row) return {row.a} end,
    ["b\\.c"] = function(row) return {row["b.c"]} end,
    ["m.x"] = function(row) return {row.m and row.m.x} end,
    ["t[]"] = function(row) return row.t or {} end,
}
local names = {"a", "b\\.c", "m.x", "t[]"}

local function class(value)
    if type(value) == "number" then return "number" end
    return colander.type(value)
end

local function equal(a, b)
    if class(a) ~= class(b) then return false end
    if class(a) == "binary" then return a.bytes == b.bytes end
    return a == b
end

local function less(a, b)
    if class(a) ~= class(b) or class(a) == "null" then return false end
    if class(a) == "boolean" then return not a and b end
    if class(a) == "binary" then return a.bytes < b.bytes end
    return a < b
end

local function orders(a, b) return class(a) == class(b) and class(a) ~= "null" end

-- Whether a column matches if `holds` is true for one of its scalars.
local function some(holds)
    return function(scalars)
        for _, scalar in ipairs(scalars) do
            if holds(scalar) then return true end
        end
        return false
    end
end

-- Each returns a condition on a column, and a function that evaluates it in
-- Lua.
local operators = {
    function(v) return v, some(function(x) return equal(x, v) end) end,
    function(v, w)
        while not orders(v, w) do v, w = random_scalar(), random_scalar() end
        if less(w, v) then v, w = w, v end
        return colander.between(v, w), some(function(x)
            return orders(x, v) and not less(x, v) and not less(w, x)
        end)
    end,
    function(v, w)
        return {v, w, 3}, some(function(x)
            return equal(x, v) or equal(x, w) or equal(x, 3)
        end)
    end,
    function()
        return colander.prefix("ab"), some(function(x)
            return type(x) == "string" and x:sub(1, 2) == "ab"
        end)
    end,
    function()
        return colander.contains("b"), some(function(x)
            return type(x) == "string" and x:find("b", 1, true) ~= nil
        end)
    end,
    function()
        return colander.words("Ab*"), some(function(x)
            return type(x) == "string" and x:sub(1, 2) == "ab"
        end)
    end,
    function()
        return colander.icase(colander.any("AB", colander.prefix "B")),
            some(function(x) return x == "ab" or x == "b" end)
    end,
    function() return colander.exists, function(s) return #s > 0 end end,
    function() return colander.missing, function(s) return #s == 0 end end,
}
for _, comparison in ipairs {
    {"ne", function(x, v) return not equal(x, v) end},
    {"lt", less},
    {"le", function(x, v) return orders(x, v) and not less(v, x) end},
    {"gt", function(x, v) return less(v, x) end},
    {"ge", function(x, v) return orders(x, v) and not less(x, v) end},
} do
    local name, holds = table.unpack(comparison)

    operators[#operators + 1] = function(v)
        while name ~= "ne" and v == null do v = random_scalar() end
        return colander[name](v), some(function(x) return holds(x, v) end)
    end
end

local function random_operator(depth)
    local kind = math.random(#operators + (depth > 0 and 3 or 0)) - #operators

    if kind <= 0 then
        return operators[kind + #operators](random_scalar(), random_scalar())
    end
    local one, test_one = random_operator(depth - 1)
    local two, test_two = random_operator(depth - 1)

    return colander[({"any", "all", "none"})[kind]](one, two), function(s)
        if kind == 2 then return test_one(s) and test_two(s) end
        return (test_one(s) or test_two(s)) == (kind == 1)
    end
end

local function anywhere(row, value)
    if type(row) ~= "table" then return equal(row, value) end
    for _, inside in pairs(row) do
        if anywhere(inside, value) then return true end
    end
    return false
end

-- A condition on rows.
local function random_condition(depth)
    local kind = math.random(depth > 0 and 8 or 4)

    if kind <= 2 then
        local name = names[math.random(#names)]
        local operator, test = random_operator(1)

        return colander.where {[name] = operator},
               function(row) return test(paths[name](row)) end
    elseif kind == 3 then
        local on_a, test_a = random_operator(0)
        local on_x, test_x = random_operator(0)

        return {a = on_a, m = {x = on_x}}, function(row)
            return test_a(paths.a(row)) and test_x(paths["m.x"](row))
        end
    elseif kind == 4 then
        local value = random_scalar()

        return colander.any_column(value),
               function(row) return anywhere(row, value) end
    end
    local one, test_one = random_condition(depth - 1)
    local two, test_two = random_condition(depth - 1)

    one = getmetatable(one) and one or colander.where(one)
    if kind == 5 then
        return ~one, function(row) return not test_one(row) end
    elseif kind == 6 then
        return one | two, function(row)
            return test_one(row) or test_two(row)
        end
    end
    return one & two, function(row) return test_one(row) and test_two(row) end
end

support.with_store(function(store)
    local family = store:family("rows")
    local rows = {}
    local runs = support.random("finds", 5000)
    local found = 0

    for key = 1, ROWS do
        rows[key] = random_row()
        family:put(key, rows[key])
        if key == ROWS // 2 then family:flush() end
    end
    for run = 1, runs do
        local condition, test = random_condition(3)
        local query = family:find(condition)
        local first = math.random(10) == 1 and math.random(0, 5) or 0
        local limit = math.random(10) == 1 and math.random(0, 5) or ROWS
        local is_reverse = math.random(4) == 1
        local expected = {}

        for i = 1, ROWS do
            local key = is_reverse and ROWS + 1 - i or i

            if test(rows[key]) then expected[#expected + 1] = key end
        end
        expected = {table.unpack(expected, first + 1,
                                 math.min(#expected, first + limit))}
        query:skip(first):limit(limit):reverse(is_reverse)
        local count = 0
        for key, row in query do
            count = count + 1
            if key ~= expected[count] then
                error(("run %d: row %s where %s is expected"):format(
                    run, key, tostring(expected[count])))
            end
            if count == 1 then
                assert(support.same(colander.table(row), rows[key]))
            end
        end
        assert(count == #expected, "too few rows")
        local key = math.random(ROWS)
        assert(colander.matches(rows[key], condition) == test(rows[key]))
        if run % 4 == 0 then
            if math.random(2) == 1 then query:order("a") end
            if math.random(2) == 1 then query:columns() end
            if math.random(2) == 1 then query:select("m.x") end
            if math.random(2) == 1 then
                query:where(function() return true end)
            end
            assert(query:count() == count, "a count is not that of the rows")
        end
        found = found + count
    end
    assert(found > runs, "hardly anything was found")
end)

-- The methods of queries.
support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 10 do family:put({"k", i}, {n = i, s = "x", t = {u = i % 2}}) end
    assert(family:find {s = "x"}:count() == 10 and family:count {n = 3} == 1)
    assert(#family:find {["t.u"] = 1}:all() == 5)
    local key, row = family:find {n = 7}:first()
    assert(key[2] == 7 and row.n == 7)
    assert(family:find {n = 70}:first() == nil)
    local sum = 0
    assert(family:find {t = {u = 0}}:each(function(_, each)
        sum = sum + each.n
    end) == 5)
    assert(sum == 30)
    local odd = family:find():where(function(each) return each.n % 2 == 1 end)
    assert(odd:count() == 5 and odd:skip(1):limit(2):all()[2].n == 5)
    local cut = family:find {n = 2}:select("n", "t.u"):first()
    local _, selected = family:find {n = 2}:select("n", "t.u"):first()
    assert(cut and support.same(colander.table(selected), {n = 2, t = {u = 0}}))
    local lines = family:find {n = colander.le(2)}:select("n"):tojson()
    assert(lines == '{"_key":["k",1],"n":1}\n{"_key":["k",2],"n":2}\n', lines)
    for _, _, columns in family:any_column(7) do
        assert(#columns == 1 and columns[1] == "n")
    end
    local keys = {}
    for each in family:scan {prefix = {"k"}, from = {"k", 3}, to = {"k", 5},
                             reverse = true} do
        keys[#keys + 1] = each[2]
    end
    assert(table.concat(keys, " ") == "5 4 3")
    local function ranged(...)
        local list = {}
        for each in family:find(...) do list[#list + 1] = each[2] end
        return table.concat(list, " ")
    end
    assert(ranged({["t.u"] = 1}, {from = {"k", 3}, to = {"k", 7}}) == "3 5 7")
    assert(ranged({n = 1}, {prefix = {"k", 2}}) == "")
    assert(ranged(nil, {from = {"k", 9}, reverse = true}) == "10 9")
    assert(family:count({s = "x"}, {to = {"k", 4}}) == 4)
    assert(ranged({s = "x"}, {exact = {"k", 4}}) == "4")
    assert(ranged(nil, {exact = {"k"}}) == "")
    fails({"find: unknown option 'form'"}, family.find, family, nil, {form = 1})
    for threads = 0, 2 do
        assert(family:find {s = "x"}:threads(threads):count() == 10)
    end
    local query = family:find()
    fails({"0 to 1024"}, query.threads, query, -1)
    local plan = family:find {n = 5}:plan()
    assert(plan.plan and plan.reason and plan.rows_read == nil)
    local explained = family:explain {n = 5}
    assert(explained.rows_returned == 1 and explained.matched.n == 1)
    local twice = family:find {n = 1}
    assert(twice:count() == 1 and twice:count() == 1)
    for _ in twice do
        fails({"cannot be changed while it runs"}, twice.limit, twice, 1)
        break
    end
    for _ in family:find() do family:put("new", {}) break end
end)

-- A loop can seek, and can begin with a seek.
support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 100 do
        family:put({i // 10, i % 10}, {n = i, odd = i % 2 == 1})
    end
    for _, query in ipairs {family:find {odd = true}, family:scan(),
                            family:scan():where(function() return true end)} do
        local seen = {}

        for key, row in query do
            seen[#seen + 1] = row.n
            query:seek {key[1] + 1}
        end
        assert(#seen == (seen[2] == 11 and 10 or 11), #seen)
        seen = {}
        for _, row in query:seek {9, 5} do seen[#seen + 1] = row.n end
        assert(seen[1] == 95 and seen[#seen] >= 99)
        assert(select(2, query()).n == 1, "the next loop begins at the start")
        query:seek {9}
        assert(query:seek()()[2] == 1, "no key is the first row")
        query:close()
    end
    local query = family:scan():reverse():limit(2)
    assert(query:seek({5, 5})()[2] == 5 and query()[2] == 4 and not query())
    for _, i in ipairs {11, 55} do
        family:patch({i // 10, i % 10}, {rare = true})
    end
    query = family:find {rare = true}:reverse()
    assert(query:seek({5, 5})()[2] == 5 and query()[1] == 1 and not query())
    query:seek({5, 4})
    assert(query()[1] == 1 and not query())
    fails({"a key: a function"}, query.seek, query, print)
    query = family:scan():order("n")
    fails({"cannot seek"}, query.seek, query, {1})
    query = family:scan()
    query:where(function() query:seek {1} return true end)
    fails({"has used the same query"}, query)
end)

-- Keys are returned with rows without columns, however they are found.
support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 9 do family:put(i, {n = -i, s = i % 2}) end
    for _, query in ipairs {
        family:scan {from = 4}, family:find {n = colander.le(-4)},
        family:find():where(function(row) return row.n <= -4 end),
        family:find {n = colander.le(-4)}:order("n", "desc"):select("n"),
    } do
        local expected = 4

        for key, row in query:keys() do
            assert(key == expected and row._key == key and row.n == nil)
            expected = expected + 1
        end
        assert(expected == 10 and query:count() == 6)
        assert(query:sum("n") == -39 and query:max("n") == -4)
        assert(tostring(query:all()[1]) == '{"_key":4}')
    end
    for key, _, columns in family:any_column(-7):keys() do
        assert(key == 7 and columns[1] == "n")
    end
end)

-- Order, groups and sums of random rows, compared with the same in Lua.
support.with_store(function(store)
    local family = store:family("rows")
    local rows = {}

    support.random("order", 1)
    for key = 1, ROWS do
        rows[key] = random_row()
        rows[key].n = math.random(2) == 1 and math.random(-50, 50) or
                      math.random(-50, 50) / 4
        family:put(key, rows[key])
    end
    for _ = 1, 40 do
        local sign = math.random(2) == 1 and -1 or 1
        local first, limit = math.random(0, 20), math.random(0, 200)
        local expected = {}

        for key = 1, ROWS do expected[key] = key end
        table.sort(expected, function(a, b)
            local x, y = rows[a].a, rows[b].a
            local order = x ~= nil and y ~= nil and colander.compare(x, y) or 0

            if (x == nil) ~= (y == nil) then return x ~= nil end
            return order * sign < 0 or order == 0 and a < b
        end)
        local query = family:find():order("a", sign < 0 and "desc" or nil)
        local count = 0
        query:skip(first):limit(limit):select("n")
        for key, row in query do
            count = count + 1
            assert(key == expected[first + count], "another order")
            assert(row.n == rows[key].n and row.a == nil)
        end
        assert(count == math.min(limit, ROWS - first))
    end
    local groups, all = {}, {count = 0, sum = 0, min = 99, max = -99}
    local function add(group, n)
        group.count, group.sum = group.count + 1, group.sum + n
        group.min, group.max = math.min(group.min, n), math.max(group.max, n)
        group.avg = group.sum / group.count
    end
    for _, row in ipairs(rows) do
        local i = 1

        add(all, row.n)
        while row.a ~= nil and groups[i] and
              colander.compare(groups[i].value, row.a) ~= 0 do i = i + 1 end
        if row.a ~= nil then
            groups[i] = groups[i] or {value = row.a, count = 0, sum = 0,
                                      min = 99, max = -99}
            add(groups[i], row.n)
        end
    end
    table.sort(groups, function(a, b)
        return colander.compare(a.value, b.value) < 0
    end)
    local query = family:find()
    assert(tostring(query:group("a")):find("rows by 'a'", 1, true) == 1)
    for _, measure in ipairs {"distinct", "count", "sum", "min", "max", "avg"} do
        local walk = measure == "distinct" and query:distinct("a") or
                     query:group("a")[measure](query:group("a"),
                         measure ~= "count" and "n" or nil)
        local i = 0

        for value, number in walk do
            i = i + 1
            assert(equal(value, groups[i].value), "groups in order")
            assert(measure == "distinct" or
                   math.abs(number - groups[i][measure]) < 1e-9)
        end
        assert(i == #groups)
        if query[measure] and measure ~= "distinct" then
            local number = measure == "count" and query:count() or
                           query[measure](query, "n")
            assert(math.abs(number - all[measure]) < 1e-9)
        end
    end
    assert(query:min("nowhere") == nil and query:avg("nowhere") == nil)
    assert(query:sum("nowhere") == 0)
end)

-- Sums are integers if possible; too many values to hold are an error.
support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 5000 do family:put(i, {n = i, s = ("x"):rep(50) .. i}) end
    assert(math.type(family:find():sum("n")) == "integer")
    assert(family:find():sum("n") == 12502500)
    family:put("large", {n = math.maxinteger})
    assert(family:find():sum("n") == 12502500 + 2.0 ^ 63)
    assert(family:find():min("s") == ("x"):rep(50) .. "1")
    local sums = store:family("sums") -- are rounded once
    for i, n in ipairs {1e16, 1.0, -1e16, "x"} do sums:put(i, {n = n}) end
    assert(sums:find():sum("n") == 1 and sums:find():avg("n") == 1 / 3)
    assert(sums:find {n = "x"}:sum("n") == 0 and
           sums:find {n = "x"}:group("n"):avg("n")() == "x")
    local before = colander.memory_limit(200000)
    assert(before == 64 << 20 and colander.memory_limit() == 200000)
    for _, run in ipairs {
        function() return family:find():order("s"):first() end,
        function() return family:find():distinct("s") end,
        function() return family:find():group("s"):count() end,
    } do
        assert(fails({"200000 bytes", "memory_limit"}, run).code == "limit")
    end
    local last = select(1, family:find():reverse():first())
    assert(family:find():order("_key", "desc"):first() == last)
    assert(family:find():order("_key"):reverse():first() == last)
    assert(family:find():reverse():order("_key"):first() ==
           select(1, family:find():first()))
    local top = family:find():order("n", "desc"):limit(3):all()
    assert(top[1]._key == "large" and top[2].n == 5000 and top[3].n == 4999)
    for key, _, columns in family:any_column(7):order("s") do
        assert(key == 7 and columns[1] == "n")
    end
    colander.memory_limit(before)
    local query = family:find():order("n"):limit(2)
    assert(query:explain().rows_returned == 5001 and query:plan().plan)
    assert(query:count() == 2)
    query = family:find()
    query:where(function() return query:plan() ~= nil end)
    fails({"has used the same query"}, query)
    query = family:find()
    query:where(function() query:close() end)
    fails({"has used the same query"}, query)
end)

-- The names of version 0.1 work until 0.3.
support.with_store(function(store)
    local family = store:family("rows")

    family:put("k", {n = 7})
    for _, _, columns in family:find_value(7) do assert(columns[1] == "n") end
    assert(family:count(colander.value(7)) == 1)
    if family.filters then
        assert(family:filters({noindex = {"n"}}).unfiltered[1] == "n")
        local old = family:filters()
        old.noindex = {"m"}
        assert(family:filters(old).unfiltered[1] == "m")
    end
end)

-- Mistakes.
support.with_store(function(store)
    local family = store:family("rows")

    for text, condition in pairs {
        ["column 'user': a function is not a condition"] = {user = print},
        ["gt requires a column"] = colander.gt(1),
        ["'where' is a condition on rows"] = {a = colander.where {b = 1}},
        ["the name of a column must be a string, not a number"] = {1, 2},
        ["a condition must be a table"] = 5,
        ["have no order"] = {a = colander.between(1, "x")},
        ["an empty table is not a condition"] = {a = {}},
        ["path 'a\\'"] = {["a\\"] = 1},
    } do
        fails({text}, family.find, family, condition)
    end
    fails({"gt takes 1 value, not 2"}, colander.gt, 1, 2)
    fails({"a function is not a scalar"}, colander.gt, print)
    local deep = colander.where {a = 1}
    for _ = 1, 70 do deep = ~deep end
    fails({"nested deeper"}, family.find, family, deep)
    fails({"scan: unknown option 'form'"}, family.scan, family, {form = 1})
end)
