-- Short forms: rows that say their key, families dropped by name.
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
