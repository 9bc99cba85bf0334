-- Which columns the rows of a family have, at whatever depth.
--
--     colander shell demo census.lua FAMILY [ROWS]
--     lua5.4 census.lua demo FAMILY [ROWS]
--
-- prints each column by its path: how many rows have it, how many values of
-- which types it has, and the first value that was met. The elements of arrays
-- are one column, []. It reads all rows, or the first ROWS; what is held is a
-- little for each column, of which there may be 10,000. (What it counts,
-- `colander columns` counts faster.)
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local words = {...}
local usage = "usage: census.lua STORE FAMILY [ROWS]"
local db = db or colander.open(
    table.remove(words, 1) or error(usage, 0), {mode = "readonly"})
local family = db:family(words[1] or error(usage, 0))
local row_limit = words[2] and (tonumber(words[2]) or error(usage, 0))

if not family:exists() then error("no family '" .. words[1] .. "'", 0) end

local columns, column_count = {}, 0 -- by their paths
local row_number = 0

-- Counts a value under its path.
local function count(path, value, kind)
    local column = columns[path]

    if not column then
        column = {path = path, row_count = 0, last_row = 0, types = {}}
        columns[path], column_count = column, column_count + 1
        if column_count > 10000 then error("more than 10,000 columns", 0) end
    end
    if column.last_row ~= row_number then
        column.row_count, column.last_row = column.row_count + 1, row_number
    end
    column.types[kind] = (column.types[kind] or 0) + 1
    if column.example == nil and kind ~= "map" and kind ~= "array" then
        column.example = value
    end
end

-- Paths are made once: prefix -> name -> path.
local paths = {}
local function path_of(prefix, name)
    local known = paths[prefix] or {}

    paths[prefix] = known
    -- the name "a.b" is the path a\.b
    known[name] = known[name] or prefix .. tostring(colander.name(name))
    return known[name]
end

-- Counts what is in a row, a map or an array.
local visit_member

local function visit_map(prefix, map)
    for name, value in pairs(map) do
        visit_member(path_of(prefix, name), value)
    end
end

function visit_member(path, value)
    local kind = colander.type(value)

    count(path, value, kind)
    if kind == "map" then
        visit_map(path .. ".", value)
    elseif kind == "array" then
        for _, element in ipairs(value) do visit_member(path .. "[]", element) end
    end
end

local rows = family:find()
if row_limit then rows:limit(row_limit) end
for _, row in rows do
    row_number = row_number + 1
    visit_map("", row)
end

-- Prints them in the order of their paths.
local kinds = {"null", "boolean", "integer", "unsigned", "double", "string",
    "binary", "timestamp", "extension", "array", "map"}

local function types_of(column)
    local texts = {}

    for _, kind in ipairs(kinds) do
        local number = column.types[kind]

        if number then texts[#texts + 1] = kind .. ":" .. number end
    end
    return table.concat(texts, ",")
end

local function example_of(column)
    if column.example == nil then return "" end
    local text = colander.tojson(column.example)
    local cut = utf8.offset(text, 41) -- where character 41 begins, if any

    return cut and cut <= #text and text:sub(1, cut - 1) .. "..." or text
end

local sorted = {}
for _, column in pairs(columns) do sorted[#sorted + 1] = column end
table.sort(sorted, function(a, b) return a.path < b.path end)
for _, column in ipairs(sorted) do
    print(("%-24s %8d  %-20s %s"):format(column.path, column.row_count,
        types_of(column), example_of(column)):match("^(.-)%s*$"))
end
print(("%d columns in %d rows"):format(#sorted, row_number))
