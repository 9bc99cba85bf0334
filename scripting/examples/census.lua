-- The columns of the rows of a family, at any depth.
--
--     colander shell demo census.lua FAMILY [ROWS]
--     lua5.4 census.lua demo FAMILY [ROWS]
--
-- prints each column by its path: the number of rows that have it, the number
-- of its values of each type, and its first value. The elements of an array are
-- one column, []. Reads all rows, or the first ROWS, and holds a few numbers
-- for each column. (`colander columns` counts the same, faster.)
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local words = {...}
local usage = "usage: census.lua STORE FAMILY [ROWS]"
local db = db or colander.open(
    table.remove(words, 1) or error(usage, 0), {mode = "readonly"})
local family = db:family(words[1] or error(usage, 0))
local limit = tonumber(words[2] or math.maxinteger) or error(usage, 0)

if not family:exists() then error("no family '" .. words[1] .. "'", 0) end

local columns, row_number = {}, 0 -- columns by path

-- Counts a value, and the values inside it.
local function visit(path, value)
    local kind = colander.type(value)
    local column = columns[path] or {path = path, row_count = 0, types = {}}

    columns[path] = column
    if column.last_row ~= row_number then
        column.row_count, column.last_row = column.row_count + 1, row_number
    end
    column.types[kind] = (column.types[kind] or 0) + 1
    if kind == "map" then
        for name, member in pairs(value) do
            visit(path .. "." .. colander.name(name), member)
        end
    elseif kind == "array" then
        for _, element in ipairs(value) do visit(path .. "[]", element) end
    elseif column.example == nil then
        column.example = value
    end
end

for _, row in family:find():limit(limit) do
    row_number = row_number + 1
    for name, value in pairs(row) do visit(colander.name(name), value) end
end

-- Prints the columns in the order of their paths.
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
    local cut = utf8.offset(text, 41) -- the start of character 41, if any

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
