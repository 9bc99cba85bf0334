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

-- The scalars at a path, and whether something is there.
local paths = {
    ["a"] = function(row) return {row.a}, row.a ~= nil end,
    ["b\\.c"] = function(row) return {row["b.c"]}, row["b.c"] ~= nil end,
    ["m.x"] = function(row)
        local x = row.m and row.m.x
        return {x}, x ~= nil
    end,
    ["t[]"] = function(row)
        local t = row.t or {}
        return t, #t > 0
    end,
}
local names = {"a", "b\\.c", "m.x", "t[]"}

local function class(value)
    if type(value) == "number" then return "number" end
    return colander.type(value)
end

local function equal(a, b)
    if class(a) ~= class(b) then return false end
    if type(a) == "userdata" and class(a) == "binary" then
        return a.bytes == b.bytes
    end
    return a == b
end

local function less(a, b)
    if class(a) ~= class(b) then return false end
    if class(a) == "boolean" then return not a and b end
    if class(a) == "null" then return false end
    if class(a) == "binary" then return a.bytes < b.bytes end
    return a < b
end

local function orders(a, b) return class(a) == class(b) and class(a) ~= "null" end

local function some(scalars, test)
    for _, scalar in ipairs(scalars) do
        if test(scalar) then return true end
    end
    return false
end

-- A condition on a column: what is asked, and what answers it in Lua.
local function random_operator(depth)
    local v, w = random_scalar(), random_scalar()
    local kind = math.random(depth > 0 and 15 or 12)

    while kind >= 3 and kind <= 7 and v == null do v = random_scalar() end
    if kind == 1 then
        return v, function(s) return some(s, function(x) return equal(x, v) end) end
    elseif kind == 2 then
        return colander.ne(v), function(s)
            return some(s, function(x) return not equal(x, v) end)
        end
    elseif kind == 3 then
        return colander.lt(v), function(s)
            return some(s, function(x) return less(x, v) end)
        end
    elseif kind == 4 then
        return colander.ge(v), function(s)
            return some(s, function(x) return orders(x, v) and not less(x, v) end)
        end
    elseif kind == 5 then
        return colander.gt(v), function(s)
            return some(s, function(x) return less(v, x) end)
        end
    elseif kind == 6 then
        return colander.le(v), function(s)
            return some(s, function(x) return orders(x, v) and not less(v, x) end)
        end
    elseif kind == 7 then
        while class(w) ~= class(v) do w = random_scalar() end
        if less(w, v) then v, w = w, v end
        return colander.between(v, w), function(s)
            return some(s, function(x)
                return orders(x, v) and not less(x, v) and not less(w, x)
            end)
        end
    elseif kind == 8 then
        return {v, w, 3}, function(s)
            return some(s, function(x)
                return equal(x, v) or equal(x, w) or equal(x, 3)
            end)
        end
    elseif kind == 9 then
        return colander.prefix("ab"), function(s)
            return some(s, function(x)
                return type(x) == "string" and x:sub(1, 2) == "ab"
            end)
        end
    elseif kind == 10 then
        return colander.contains("b"), function(s)
            return some(s, function(x)
                return type(x) == "string" and x:find("b", 1, true) ~= nil
            end)
        end
    elseif kind == 11 then
        return colander.exists, function(_, there) return there end
    elseif kind == 12 then
        return colander.missing, function(_, there) return not there end
    end
    local one, test_one = random_operator(depth - 1)
    local two, test_two = random_operator(depth - 1)

    if kind == 13 then
        return colander.any(one, two), function(s, there)
            return test_one(s, there) or test_two(s, there)
        end
    elseif kind == 14 then
        return colander.all(one, two), function(s, there)
            return test_one(s, there) and test_two(s, there)
        end
    end
    return colander.none(one, two), function(s, there)
        return not (test_one(s, there) or test_two(s, there))
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

        return colander.value(value),
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
    local runs = support.random("finds", 20000)
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

-- The ways to a result.
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
    for _, _, columns in family:find_value(7) do
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
    fails({"find knows no 'form'"}, family.find, family, nil, {form = 1})
    for threads = 0, 2 do
        assert(family:find {s = "x"}:threads(threads):count() == 10)
    end
    local query = family:find()
    fails({"0 to 1024"}, query.threads, query, -1)
    local plan = family:find {n = 5}:plan()
    assert(plan.plan and plan.reason and plan.rows_read == nil)
    local told = family:explain {n = 5}
    assert(told.rows_returned == 1 and told.matched.n == 1)
    local twice = family:find {n = 1}
    assert(twice:count() == 1 and twice:count() == 1)
    for _ in twice do
        fails({"cannot be changed while it runs"}, twice.limit, twice, 1)
        break
    end
    for _ in family:find() do family:put("new", {}) break end
end)

-- Order, groups and sums, of random rows, against the same by Lua.
local function by_value(a, b)
    local order = {null = 1, boolean = 2, number = 3, string = 4, binary = 5,
                   timestamp = 6}

    if order[class(a)] ~= order[class(b)] then
        return order[class(a)] < order[class(b)]
    end
    return less(a, b)
end

local function collect(...)
    local list = {}

    for value, measure in ... do
        list[#list + 1] = {value, measure}
    end
    return list
end

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
        local is_descending = math.random(2) == 1
        local first, limit = math.random(0, 20), math.random(0, 200)
        local expected = {}

        for key = 1, ROWS do expected[key] = key end
        table.sort(expected, function(a, b)
            local x, y = rows[a].a, rows[b].a

            if x == nil or y == nil then
                if x ~= nil or y ~= nil then return x ~= nil end
            elseif is_descending and by_value(y, x) or
                   not is_descending and by_value(x, y) then
                return true
            elseif by_value(x, y) or by_value(y, x) then
                return false
            end
            return a < b
        end)
        local query = family:find():order("a", is_descending and "desc" or nil)
        local count = 0
        query:skip(first):limit(limit):select("n")
        for key, row in query do
            count = count + 1
            assert(key == expected[first + count], "another order")
            assert(row.n == rows[key].n and row.a == nil)
        end
        assert(count == math.min(limit, ROWS - first))
    end
    local counts, sums, least, most, numbers = {}, {}, {}, {}, {}
    for key = 1, ROWS do
        local value = rows[key].a

        if value ~= nil then
            local name = class(value) .. tostring(
                class(value) == "number" and value + 0.0 or value)

            counts[name] = (counts[name] or 0) + 1
            sums[name] = (sums[name] or 0) + rows[key].n
            least[name] = math.min(least[name] or 99, rows[key].n)
            most[name] = math.max(most[name] or -99, rows[key].n)
        end
        numbers[#numbers + 1] = rows[key].n
    end
    local groups = family:find():group("a")
    assert(tostring(groups):find("rows by 'a'", 1, true) == 1)
    local counted = collect(groups:count())
    local summed = collect(groups:sum("n"))
    local values = collect(family:find():distinct("a"))
    local smallest, largest = collect(groups:min("n")), collect(groups:max("n"))
    local averages = collect(groups:avg("n"))
    local number = 0
    for _ in pairs(counts) do number = number + 1 end
    assert(#counted == number and #values == number and #summed == number)
    for i, group in ipairs(counted) do
        local value, count = table.unpack(group)
        local name = class(value) .. tostring(
            class(value) == "number" and value + 0.0 or value)

        assert(i == 1 or by_value(counted[i - 1][1], value), "groups in order")
        assert(equal(values[i][1], value))
        assert(count == counts[name])
        assert(math.abs(summed[i][2] - sums[name]) < 1e-9)
        assert(smallest[i][2] == least[name] and largest[i][2] == most[name])
        assert(math.abs(averages[i][2] - sums[name] / count) < 1e-9)
    end
    table.sort(numbers)
    assert(family:find():min("n") == numbers[1])
    assert(family:find():max("n") == numbers[#numbers])
    assert(family:find():min("nowhere") == nil)
    assert(family:find():avg("nowhere") == nil)
    assert(family:find():sum("nowhere") == 0)
    assert(family:find {n = colander.gt(0)}:sum("n") > 0)
end)

-- Sums stay integers where they can; what holds too much says so.
support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 5000 do family:put(i, {n = i, s = ("x"):rep(50) .. i}) end
    assert(math.type(family:find():sum("n")) == "integer")
    assert(family:find():sum("n") == 12502500)
    family:put("large", {n = math.maxinteger})
    assert(family:find():sum("n") == 12502500 + 2.0 ^ 63)
    assert(family:find():min("s") == ("x"):rep(50) .. "1")
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
    assert(family:find():order("n"):order("_key"):reverse():first() == last)
    assert(family:find():reverse():order("_key"):first() ==
           select(1, family:find():first()))
    local top = family:find():order("n", "desc"):limit(3):all()
    assert(top[1]._key == "large" and top[2].n == 5000 and top[3].n == 4999)
    for key, _, columns in family:find_value(7):order("s") do
        assert(key == 7 and columns[1] == "n")
    end
    colander.memory_limit(before)
    local query = family:find():order("n"):limit(2)
    assert(query:explain().rows_returned == 5001 and query:plan().plan)
    assert(query:count() == 2)
    query = family:find()
    query:where(function() return query:plan() ~= nil end)
    fails({"went on with the same query, or ended it"}, query)
    query = family:find()
    query:where(function() query:close() end)
    fails({"went on with the same query, or ended it"}, query)
end)

-- Mistakes.
support.with_store(function(store)
    local family = store:family("rows")

    for text, condition in pairs {
        ["column 'user': a function is no condition"] = {user = print},
        ["gt says something of a column"] = colander.gt(1),
        ["'where' says something of a row"] = {a = colander.where {b = 1}},
        ["a condition on columns has their names"] = {1, 2},
        ["a condition is a table"] = "Smith",
        ["have no order"] = {a = colander.between(1, "x")},
        ["an empty table is no condition"] = {a = {}},
        ["path 'a\\'"] = {["a\\"] = 1},
    } do
        fails({text}, family.find, family, condition)
    end
    fails({"gt takes 1 value, not 2"}, colander.gt, 1, 2)
    fails({"a function is no single value"}, colander.gt, print)
    local deep = colander.where {a = 1}
    for _ = 1, 70 do deep = ~deep end
    fails({"nested deeper"}, family.find, family, deep)
    fails({"scan knows no 'form'"}, family.scan, family, {form = 1})
end)
