-- Short forms: rows that say their key, families by name and dropped by name,
-- families with the methods of queries, conditions as words.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local fails, with_store = support.fails, support.with_store

-- put{_key = ...}: the key is in the table, which stays as it is.
with_store(function(store)
    local rows = store:family("rows")
    local given = {_key = {"a", 1}, n = 1}

    assert(rows:put(given)[2] == 1)
    assert(given._key[1] == "a" and given.n == 1)
    assert(tostring(rows:get {"a", 1}) == '{"_key":["a",1],"n":1}')
    assert(rows:insert {_key = "b"} == "b")
    assert(rows:insert {_key = "b", n = 2} == nil)
    assert(rows:get("b").n == nil)
    assert(#rows:put {n = 3} == 26) -- a new key
    local row = rows:get("b") -- a row that was read keeps its key
    row.n = 4
    assert(rows:put(row) == "b" and rows:get("b").n == 4)
    assert(rows:count() == 3)
    fails({"_key"}, rows.put, rows, "c", {_key = "d"})
    fails({"_key"}, rows.patch, rows, "b", {_key = "d"})
    fails({"key"}, rows.put, rows, {_key = colander.null})
    fails({"key"}, rows.put, rows, {_key = {}})
    assert(rows:count() == 3)
end)

with_store(function(store)
    local rows = store:family("rows")

    rows:put(1, {})
    store:drop("rows")
    assert(not rows:exists() and #store:families() == 0)
    assert(fails({"rows"}, store.drop, store, "rows").code == "not found")
    fails({"dropped"}, rows.put, rows, 1, {})
end)

-- store.name: a family that exists; methods come first.
with_store(function(store)
    assert(store.rows == nil)
    store:family("rows"):put(1, {n = 1})
    store:family("close"):put(1, {})
    assert(store.rows:name() == "rows" and store.rows == store.rows)
    assert(store.rows:get(1).n == 1)
    assert(type(store.close) == "function" and store[1] == nil)
    store.rows:close() -- the next use opens another handle
    assert(store.rows:count() == 1)
    local old = store.rows
    store:drop("rows")
    assert(store.rows == nil)
    store:family("rows"):put(2, {})
    assert(store.rows ~= old and store.rows:count() == 1)
    fails({"UTF-8"}, function() return store["\xff"] end)
    local other = store:family("rows")
    store:close()
    fails({"closed"}, function() return store.rows end)
    fails({"closed"}, other.count, other)
end)

-- A family is a query of all its rows.
with_store(function(store)
    local rows = store:family("rows")

    for i = 1, 9 do rows:put(i, {n = i, m = i % 3, text = "t" .. i}) end
    assert(#rows:select("n"):all() == 9 and rows:select("n"):first())
    assert(select(2, rows:select("n"):first()).text == nil)
    assert(rows:order("n", "desc"):first() == 9)
    assert(rows:limit(4):count() == 4 and rows:skip(2):limit(1):first() == 3)
    assert(rows:reverse():first() == 9)
    assert(rows:where(function(row) return row.n > 7 end):count() == 2)
    assert(rows:keys():limit(1):all()[1].n == nil)
    local before <close> = store:snapshot()
    rows:put(10, {})
    assert(rows:at(before):count() == 9 and rows:count() == 10)
    assert(rows:order("m"):limit(3):delete() == 3)
    fails({"a path"}, rows.select, rows, 1)

    -- words of the command line, alone or with columns
    assert(rows:count {"n>3", "n<=5"} == 2)
    assert(rows:count {"n=4", "or", "n=8"} == 2)
    assert(rows:count {"not", "(", "n>3", "text~t", ")"} == 3)
    assert(rows:count {"n>3", m = 1} == 2)
    assert(rows:find({"text=t8"}, {from = 4}):first() == 8)
    assert(rows:count(colander.where {"n=4"} | colander.where {n = 5}) == 2)
    assert(colander.matches({n = 7}, {"n>6"}))
    assert(rows:find {"n>6"}:delete() == 2)
    fails({"family 'rows'", "'n>'"}, rows.find, rows, {"n=1", "n>'"})
    fails({"'n' is a column"}, rows.find, rows, {"n"})
    assert(rows:find("n=4"):count() == 1 and rows:count("n>3") == rows:count {"n>3"})
    assert(rows:count(colander.where {"n=4"} | "n=5") == rows:count {"n=4", "or", "n=5"})
    fails({"'n' is a column"}, rows.find, rows, "n")
    fails({'or a text such as "likes>5", not a number'}, rows.find, rows, 5)
    fails({"an element of a condition"}, rows.find, rows, {"n=1", 5})
    fails({"name of a column"}, rows.find, rows, {"n=1", [true] = 5})
    fails({"name of a column"}, rows.find, rows, {"n=1", [9] = 5})
    assert(rows:count {n = {4, 5}} == 2) -- a list of values, as before

    -- delete takes a key: words that find would take are one only for a row
    local count = rows:count()
    for _, words in ipairs {
        {"n=4"}, {"n>3", "n<=5"}, {"n=4", "or", "n=8"}, {"text?"},
    } do
        assert(rows:count(words) > 0)
        fails({"family 'rows'", "takes a key", "find{...}:delete()"},
              rows.delete, rows, words)
        rows:put(words, {is = "a key"})
        rows:delete(words)
        assert(rows:get(words) == nil and rows:count() == count)
    end
    fails({"1 to 16 parts, not 0 (conditions are for find{...})"},
          rows.delete, rows, {n = 4})
    rows:delete({"no row", 1}) -- other keys need no row
    rows:delete("n=4")
    assert(rows:count() == count)
end)
