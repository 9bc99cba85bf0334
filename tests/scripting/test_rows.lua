-- Rows written and read by put and get, read lazily, changed, put again.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local same, fails = support.same, support.fails

-- A value of any type that a row may have, at most `depth` levels deep.
local function random_value(depth)
    local kinds = {
        function() return math.random(0) end,
        function() return math.random(-10, 10) end,
        function() return math.random() * 10 ^ math.random(-300, 300) end,
        function() return math.random(5) + 0.0 end,
        function() return 0 / 0 end,
        function() return 1 / 0 end,
        function() return math.random(2) == 1 end,
        function() return colander.null end,
        function() return ("ä€x\0"):rep(math.random(0, 9)) end,
        function() return colander.binary(("\0\xff"):rep(math.random(0, 9))) end,
        function()
            return colander.timestamp(math.random(0) >> math.random(0, 63),
                                      math.random(0, 999999999))
        end,
        function() return colander.extension(math.random(0, 127), "\x80x") end,
        function() return colander.unsigned("18446744073709551615") end,
    }
    local kind = math.random(depth > 0 and #kinds + 2 or #kinds)

    if kind <= #kinds then return kinds[kind]() end
    if kind == #kinds + 1 then
        local array = colander.array {}

        for i = 1, math.random(0, 4) do array[i] = random_value(depth - 1) end
        return array
    end
    local map = {}

    for _ = 1, math.random(0, 4) do
        map["c" .. math.random(20)] = random_value(depth - 1)
    end
    return map
end

local function random_row()
    local row = {}

    for _ = 1, math.random(0, 8) do
        row["c" .. math.random(30)] = random_value(3)
    end
    return row
end

-- Random rows are unchanged when they are read, also from disk, and put again.
support.with_store(function(store)
    local family = store:family("rows")
    local wanted = support.random("values of rows", 60000)
    local values, run = 0, 0
    local kept = {}

    while values < wanted do
        local row = random_row()

        run = run + 1
        family:put(run, row)
        assert(same(colander.table(family:get(run)), row), "another row")
        for _ in pairs(row) do values = values + 1 end
        if run % 10 == 0 then kept[run] = row end
    end
    family:flush()
    for run, row in pairs(kept) do
        local got = family:get(run)

        for name, value in pairs(row) do
            assert(same(got[name], value), "a column is another")
        end
        assert(got.no_such_column == nil)
        family:put(-run, got)
        assert(same(colander.table(family:get(-run)), row), "put again")
    end
    print(values .. " values of " .. run .. " rows")
    assert(values >= wanted)
end)

-- A row behaves as a table.
support.with_store(function(store)
    local family = store:family("rows")

    family:put("k", {a = 1, b = {x = {1, 2}}, c = "c", no = false})
    local row = family:get("k")
    assert(row._key == "k" and row.a == 1 and row.no == false)
    assert(row.b == row.b, "a column that is a table is one table")
    row.b.x[3] = 3
    row.a = nil
    row.c = false
    row.d = "new"
    local columns = {}
    for name, value in pairs(row) do columns[name] = value end
    assert(same(columns, {b = {x = {1, 2, 3}}, c = false, d = "new",
                          no = false}))
    assert(row.a == nil)
    assert(family:put(row) == "k")
    assert(same(colander.table(family:get("k")), columns))
    family:patch("k", {b = {y = 1}, c = colander.null})
    columns.b.y, columns.c = 1, nil
    assert(same(colander.table(family:get("k")), columns))
    family:delete("k")
    assert(family:get("k") == nil)
    assert(tostring(row):find('"d":"new"', 1, true))
    fails({"cannot set the key of a row"},
          function() row._key = "other" end)
    fails({"name of a column must be a string"}, function() row[1] = 1 end)
end)

-- Columns are stored in the order of their names; a row that was read keeps its
-- order.
support.with_store(function(store)
    local family = store:family("rows")

    local function text(row)
        return tostring(family:get(family:put("k", row))):sub(13)
    end
    local row = {b = 1, [""] = 2, ["a\0b"] = 3, a = {z = {{d = 1, c = 2}}, y = 1}}
    for _ = 1, 20 do
        assert(text(row) == '"":2,"a":{"y":1,"z":[{"c":2,"d":1}]},' ..
                            '"a\\u0000b":3,"b":1}', text(row))
        local other = {}
        for _, name in ipairs {"b", "a\0b", "a", ""} do
            other[name] = row[name]
        end
        assert(text(other) == text(row))
    end
    local wide, last = {}, ""
    for i = 1, 3000 do wide[("%x"):format(math.random(0))] = i end
    for name in text(wide):gmatch('"(%x+)":') do
        assert(last < name)
        last = name
    end
    assert(same(colander.table(family:get("k")), wide))
    family:put("k", {d = 1})
    for _, name in ipairs {"c", "a", "b", "e"} do
        family:patch("k", {[name] = {1}})
    end
    local read = family:get("k")
    assert(text(read) == '"d":1,"c":[1],"a":[1],"b":[1],"e":[1]}')
    read.a[2] = 2
    read.c = nil
    read.e, read.z, read.y, read.b = 5, 1, {1}, read.b
    assert(text(read) == '"d":1,"a":[1,2],"b":[1],"e":5,"y":[1],"z":1}')
    assert(text(read) == tostring(read):sub(13))
    read.d, read.a, read.b, read.e, read.y, read.z = nil, nil
    assert(family:put(read) == "k" and tostring(family:get("k")) == '{"_key":"k"}')
    read.q = print
    fails({"column 'q': a function cannot be stored"}, family.put, family, read)
    fails({"x': a function cannot be stored"}, family.put, family, -- cut before
          {[("x"):rep(1000)] = print})
    read.q = {r = {1, {s = print}}}
    fails({"column 'q.r[2].s': a function"}, family.put, family, read)
end)

-- Keys: any scalar, several parts, or generated.
support.with_store(function(store)
    local family = store:family("rows")
    local keys = {"text", 5, -5, 1.5, true, {"sensor", 7},
                  colander.binary("\0"), colander.timestamp(5),
                  {colander.timestamp(5, 1), "", math.mininteger}}

    for i, key in ipairs(keys) do
        assert(same(family:put(key, {number = i}), key))
        assert(family:get(key).number == i)
        assert(same(family:get(key)._key, key))
    end
    local first, second = family:put {}, family:put {a = 1}
    assert(#first == 26 and first < second)
    assert(family:get(second).a == 1)
    assert(family:count() == #keys + 2)
    fails({"a key: a function"}, family.get, family, print)
    fails({"must have 1 to 16 parts"}, family.get, family, {})
    fails({"a row must be a map"}, family.put, family, "k", "row")
    fails({"null"}, family.get, family, colander.null)
end)

-- An insert leaves an existing row unchanged. Errors name the family, even if
-- its name is in their text by chance.
support.with_store(function(store)
    local family = store:family("i")

    assert(family:insert("k", {n = 1}, {sync = true}) == "k")
    assert(family:insert("k", {n = 2}) == nil and family:get("k").n == 1)
    assert(family:insert(family:get("k")) == nil and #family:insert {} == 26)
    family:delete("k")
    assert(same(family:insert({"k", 2}, {n = 3}), {"k", 2}))
    fails({"options require a key"}, family.insert, family, {}, nil, {})
    fails({"family 'i': column 'n': a function"}, family.insert, family, 1,
          {n = print})
end)

-- get_many returns the same as get.
support.with_store(function(store)
    local family = store:family("rows")
    local keys = {}

    assert(family:get_many({}).n == 0 and family:get_many({1, 2})[2] == nil)
    for i = 1, 500 do
        family:put({"k", i}, {n = i, s = ("x"):rep(i)})
        if i == 250 then family:flush() end
    end
    local before <close> = store:snapshot()
    family:delete({"k", 7})
    for i = 1, 1000 do keys[i] = {"k", math.random(600)} end
    keys[1001] = {"k", 7}
    for _, options in ipairs {{}, {select = {"n"}}, {at = before},
                              {at = before, select = {"s", "n"}}} do
        local rows = family:get_many(keys, options)

        assert(rows.n == #keys)
        for i, key in ipairs(keys) do
            local alone = family:get(key, options)

            assert(tostring(rows[i]) == tostring(alone))
            assert(not alone or same(rows[i]._key, key))
        end
    end
    assert(family:get_many {1, "k", true}.n == 3)
    fails({"a list of keys expected"}, family.get_many, family, "k")
    fails({"a part of a key: a function"}, family.get_many, family, {{print}})
    fails({"a key: nil"}, family.get_many, family, {n = 1, [2] = 1, [1] = nil,
                                                    [4] = 1, 5, nil, 5})
    fails({"get_many: unknown option 'form'"}, family.get_many, family, {},
          {form = 1})
end)

-- Functions of rows accept rows and tables.
support.with_store(function(store)
    local family = store:family("rows")
    local plain = {a = 1, m = {x = {1, 2}, y = "z"}, t = {{u = 5}, {u = 6}}}

    family:put("k", plain)
    local changed = family:get("k")
    changed.b = 1
    changed.b = nil
    for _, row in ipairs {plain, family:get("k"), changed} do
        assert(colander.get(row, "a") == 1)
        assert(same(colander.get(row, "m.x"), {1, 2}))
        assert(colander.get(row, "t[].u") == 5)
        assert(colander.get(row, "m.z") == nil)
        local cut = colander.select(row, "t[].u", "m.y")
        assert(same(colander.table(cut), {m = {y = "z"}, t = plain.t}))
        local new = colander.patch(row, {m = {y = colander.null, z = 1}, b = 2})
        assert(same(colander.table(new),
                    {a = 1, b = 2, m = {x = {1, 2}, z = 1}, t = plain.t}))
        assert(row.b == nil and row.m.y == "z")
        assert(colander.matches(row, {["m.x[]"] = colander.gt(1)}))
        assert(not colander.matches(row, {a = 2}))
        assert(cut._key == row._key and new._key == row._key)
    end
    assert(family:put(colander.patch(family:get("k"), {a = 5})) == "k")
    assert(family:get("k").a == 5)
    assert(tostring(colander.select({a = 1}, "a")) == '{"a":1}')
    assert(#family:put(colander.select({a = 1}, "a")) == 26)
    for text, value in pairs {["[]"] = colander.array {}, ["{}"] = {},
                              ['"x\\u0000"'] = "x\0", ["null"] = colander.null,
                              ["1.0"] = 1.0, ['{"a":[1,{"b":true}]}'] = {
                                  a = {1, {b = true}}}} do
        assert(colander.tojson(value) == text, colander.tojson(value))
    end
    assert(colander.tojson(nil) == "null")
    assert(colander.tojson(family:get("k")) == tostring(family:get("k")))
    local read = colander.fromjson('{"a":[1,2.0,{}],"_key":["k",7],"b":null}')
    assert(tostring(read) ==
           '{"_key":["k",7],"a":[1,2.0,{}],"b":null}', tostring(read))
    assert(read._key[2] == 7 and read.b == colander.null)
    assert(family:put(colander.fromjson("{}")))
    fails({"byte 5: no value begins here"}, colander.fromjson, '{"a":}')
    fails({"string expected"}, colander.fromjson, nil)
    fails({"a path contains a zero byte"}, colander.get, {}, "a\0")
    fails({"a row must be a map"}, colander.get, 5, "a")
    fails({"a function cannot be stored"}, colander.tojson, print)
    fails({"path expected"}, colander.select, {})
    fails({"path 'a\\'"}, colander.get, {}, "a\\")
    fails({"table expected"}, colander.matches, {}, nil)
end)

-- The order of values, whatever their types.
local sorted = {colander.null, false, true, -1, 0.5, 1,
                colander.unsigned("9223372036854775808"), "", "a", "b",
                colander.binary(""), colander.timestamp(-1),
                colander.extension(1, "")}
for i, a in ipairs(sorted) do
    for j, b in ipairs(sorted) do
        assert(colander.compare(a, b) == (i < j and -1 or i > j and 1 or 0))
    end
end
assert(colander.compare(1, 1.0) == 0 and colander.compare(0/0, 0/0) == 0)
fails({"compare: a table is not a scalar"}, colander.compare, 1, {})

-- A value that cannot be stored is an error with its path; nothing is written.
support.with_store(function(store)
    local family = store:family("rows")
    local deep = {}
    local circle = {}

    circle.inside = {circle}
    for _ = 1, 70 do deep = {deep} end
    for text, row in pairs {
        ["column 'f': a function"] = {f = print},
        ["column 'a.b[2]': a function"] = {a = {b = {1, print}}},
        ["column 'a': a table must be an array"] = {a = {1, 2, x = 3}},
        ["column 'm': a name must be a string"] = {m = {[true] = 1}},
        ["a name must be a string"] = {"no", "names"},
        ["nested deeper"] = circle,
        ["nested deeper than 64"] = {deep = deep},
        ["UTF-8"] = {text = "\xff"},
        ["_key"] = {_key = "k"},
    } do
        assert(fails({text}, family.put, family, "k", row).code == "invalid")
        assert(family:get("k") == nil)
    end
    family:put("k", {fine = true})
    assert(family:get("k").fine)
end)

-- Values that Lua has no type for.
local at = colander.timestamp(1600000000, 5)
assert(at.seconds == 1600000000 and at.nanoseconds == 5)
assert(tostring(at) == "2020-09-13T12:26:40.000000005Z")
assert(at == colander.timestamp(1600000000, 5))
assert(at < colander.timestamp(1600000001) and at <= at)
assert(colander.binary("ab").bytes == "ab" and #colander.binary("ab") == 2)
assert(colander.extension(3, "x").kind == 3)
assert(colander.unsigned("9223372036854775807") == math.maxinteger)
local large = colander.unsigned("9223372036854775808")
assert(tostring(large) == "9223372036854775808" and large > math.maxinteger)
assert(colander.binary("a") ~= "a" and colander.null ~= nil)
assert(colander.type({}) == "map" and colander.type({1}) == "array")
assert(colander.type(colander.array {}) == "array")
assert(colander.type(1) == "integer" and colander.type(1.0) == "double")
assert(colander.type(print) == nil and colander.type(at) == "timestamp")
fails({"64 bits"}, colander.unsigned, "18446744073709551616")
fails({"0 to 999999999"}, colander.timestamp, 1, 1000000000)

-- Times: read, calculated with, compared with texts.
do
    local time = colander.timestamp
    local noon = time("2015-03-24T12:00Z")

    assert(noon.seconds == 1427198400 and noon.nanoseconds == 0)
    assert(noon == time("2015-03-24 14:00:00,0+0200") and noon == time(1427198400))
    assert(time("1427198400") == noon, "a number as text is still a number")
    assert(time("2015-03") == time("2015-03-01T00:00:00Z"))
    assert(time("@now-1d") < time("@now") and time("@2015-03-24") < noon)
    assert(noon + 86400 == time("2015-03-25T12:00Z"))
    assert(86400 + noon == noon + 86400 and noon - -1 == noon + 1)
    assert(noon - 0.25 == time("2015-03-24T11:59:59.75Z"))
    assert(noon + 0.999999999 + 0.000000001 == noon + 1)
    assert(time(0) - 1e-9 == time(-1, 999999999))
    assert(math.type(noon - time(0)) == "integer" and noon - time(0) == noon.seconds)
    assert(noon - time("2015-03-24T11:59:59.75Z") == 0.25)
    assert(noon:date() == "2015-03-24" and noon:date("%Y-%m %H") == "2015-03 12")
    assert(time("0001-01-01"):date() == "0001-01-01" and noon:date("") == "")
    assert(noon:date(("x"):rep(10000)) == ("x"):rep(10000))
    assert(colander.duration("1h30m") == 5400 and colander.duration("1w") == 604800)
    assert(noon > "2015-03-23" and noon <= "2015-03-24" and noon >= "2015-03")
    assert(not (noon > "2015-03-24") and not (noon < "2015-03") and "2016-01" > noon)
    assert(noon ~= "2015-03-24T12:00Z")
    fails({"a time such as"}, time, "yesterday")
    fails({"a duration such as"}, colander.duration, "7")
    fails({"out of range"}, function() return time(math.maxinteger) + 1 end)
    fails({"out of range"}, function() return noon - math.mininteger end)
    fails({"out of range"}, function() return noon + 0 / 0 end)
    fails({"out of range"}, function() return time(math.mininteger) - noon end)
    fails({"year"}, function() return time(math.maxinteger):date() end)
    fails({"too long"}, function() return noon:date("%9999999d") end)
    fails({"not a time"}, function() return noon < "x" end)
    fails({"calculate with a null"}, function() return colander.null + 1 end)
    fails({"calculate with a string"}, function() return "x" - noon end)
    fails({"has no date"}, noon.date, colander.binary("x"))
    fails({"cannot compare"}, function() return colander.binary("x") < "2015-03" end)
end
fails({"has no length"}, function() return #at end)

-- Null and nil, and values that are printed as what they are.
support.with_store(function(store)
    local family = store:family("rows")
    family:put({"s", 7}, {a = colander.null, b = {c = colander.null, d = 1}, list = {1, 2}})
    local key, row = family:find():first()
    assert(tostring(key) == '["s",7]' and key[2] == 7)
    assert(row.a and row("a") == nil and row("b.c") == nil and row("none") == nil)
    assert(row("b.d") == 1 and row("list[]") == 1 and row("_key") == nil)
    assert(tostring(row("list")) == "[1,2]" and tostring(row.list) == "[1,2]")
    assert(tostring(colander.array {print}):find("^array: "))
    assert(colander.isnull(row.a) and colander.isnull(row.none))
    assert(not colander.isnull(row.b) and not colander.isnull(false))
    fails({"string expected"}, row, 5 > 6)
    fails({"takes"}, row, "a", "b")
    local query = family:find()
    assert(tostring(query) == "query of family 'rows'")
    query:close()
    assert(tostring(query) == "query (closed)")
    fails({"attempt to index a nil value", ', in row ["s",7]'}, function()
        return family:find():where(function(row) return row.none.more end):first()
    end)
    fails({', in row ["s",7]'}, function()
        family:find():each(function(_, row) return row.none.more end)
    end)
    fails({"an error"}, function()
        family:find():where(function() error(setmetatable({},
            {__tostring = function() return "an error" end})) end):first()
    end)
end)
