-- Compares a family with the file that it was loaded from, as plain_records.lua
-- reads it: each record with its row; then values drawn from the records, and
-- some that are in none, found in their column and in any, with what a list of
-- all values says.
--
-- Usage: LUA_PATH=.../?.lua COLANDER_SEED=N \
--        colander shell STORE --readonly real_data.lua FAMILY FILE SCHEMA
--        FIND_COUNT [KEY_COLUMN...]
--
-- Without key columns the keys were made by the load.
--
-- SPDX-License-Identifier: MIT
local records = require "plain_records"
local name, path, schema, find_count = ...
local key_columns = {select(5, ...)}
local family = db:family(name)
local type_of = colander.type
local ROWS_MANY = 50 -- of one find

-- ----------------------------------------------------------------- compare ---

local function tell(value)
    local kind = records.type(value)

    if kind == "map" then return "a map of " .. #value.names end
    if kind == "array" then return "an array of " .. #value end
    if kind == "timestamp" then return "the time " .. value.seconds end
    if kind == "null" then return "null" end
    return kind .. " " .. tostring(value)
end

-- What is stored otherwise than it was read, type and all; nil: nothing.
local function differ(stored, value)
    local kind = records.type(value)
    local stored_kind = type_of(stored)
    local is_same = stored_kind == kind

    if is_same and kind == "array" then
        for i = 1, math.max(#stored, #value) do
            local difference = differ(stored[i], value[i])
            if difference then return "[]" .. difference end
        end
    elseif is_same and kind == "map" then
        for _, inner in ipairs(value.names) do
            local difference = differ(stored[inner], value.values[inner])
            if difference then return "." .. inner .. difference end
        end
        for inner in pairs(stored) do
            is_same = is_same and value.values[inner] ~= nil
        end
    elseif is_same and kind == "timestamp" then
        is_same = stored.seconds == value.seconds and
                  stored.nanoseconds == value.nanoseconds
    elseif is_same and kind ~= "null" then
        is_same = stored == value
    end
    if not is_same then
        return (": stored is %s %s, and %s was read"):format(
            stored_kind, tostring(stored), tell(value))
    end
end

-- The names of columns as they stand in the text of a record.
local function list_names(map)
    local names = {}

    for _, column in ipairs(map.names) do
        local inner = map.values[column]
        if column ~= "_key" then names[#names + 1] = column end
        if records.type(inner) == "map" then
            names[#names + 1] = "{" .. list_names(inner) .. "}"
        end
    end
    return table.concat(names, " ")
end

-- Columns have the order of the file, which tables of Lua do not tell.
local function differ_order(row, record)
    local stored = list_names(records.parse(colander.tojson(row)))
    local read = list_names(record)

    if stored ~= read then
        return ("columns are %s, not %s"):format(stored, read)
    end
end

-- A key as one text, whatever its parts are.
local function key_text(parts)
    local texts = {}

    for i, part in ipairs(type(parts) == "table" and parts or {parts}) do
        texts[i] = ("%s %s"):format(math.type(part) or type(part), part)
    end
    return table.concat(texts, ", ")
end

-- The records by the keys that they must have.
local function by_key(list)
    local map = {}

    for i, record in ipairs(list) do
        local parts = {}
        for j, column in ipairs(key_columns) do
            parts[j] = assert(record.values[column])
        end
        local text = key_text(parts)
        assert(map[text] == nil, "two records have one key")
        map[text] = i
    end
    return map
end

-- What a row has otherwise than its record; nil: nothing.
local function differ_row(row, record)
    local count = 0

    if record == nil then return "there is no such record" end
    for column, value in pairs(row) do
        if column ~= "_key" then
            local difference = differ(value, record.values[column])
            if difference then return column .. difference end
            count = count + 1
        end
    end
    if count ~= #record.names then
        return ("%d columns, not %d"):format(count, #record.names)
    end
end

-- Compares all rows; gives the numbers of their records and the keys, in the
-- order of the keys.
local function compare_all(list)
    local has_key = #key_columns > 0
    local numbers = has_key and by_key(list)
    local order, keys, seen = {}, {}, {}

    for key, row in family:find() do
        local number = #order + 1
        local difference

        if has_key then
            number = numbers[key_text(key)]
        else
            assert(type(key) == "string" and #key == 26, "a strange new key")
        end
        if number and number % 16 == 0 then
            difference = differ_order(row, list[number])
        end
        difference = difference or differ_row(row, list[number]) or
                     seen[number] and "is there twice"
        if difference then
            error(("%s, key %s, record %s: %s"):format(name, key_text(key),
                                                      number, difference), 0)
        end
        seen[number] = true
        order[#order + 1], keys[#keys + 1] = number, key
    end
    if #order ~= #list then
        error(("%s has %d rows of %d records"):format(name, #order, #list), 0)
    end
    return order, keys
end

-- -------------------------------------------------------------------- list ---

-- What equal values have in common: 1 equals 1.0, and nothing of another type.
local function value_text(value)
    local kind = records.type(value)

    if kind == "null" then return "null" end
    if kind == "timestamp" then
        return ("time %d %d"):format(value.seconds, value.nanoseconds)
    end
    if kind == "integer" or kind == "double" then
        local integer = math.tointeger(value)
        return integer and "number " .. integer or ("number %a"):format(value)
    end
    return kind .. " " .. tostring(value)
end

-- Calls visit(path, value) for each scalar, in the order of the record.
local function walk(value, path, visit)
    local kind = records.type(value)

    if kind == "array" then
        for _, inner in ipairs(value) do walk(inner, path .. "[]", visit) end
    elseif kind == "map" then
        for _, inner in ipairs(value.names) do
            local part = inner:gsub("[.\\]", "\\%0")
            walk(value.values[inner],
                 path == "" and part or path .. "." .. part, visit)
        end
    else
        visit(path, value)
    end
end

-- All places of all values: for each value a list of positions among the rows
-- and numbers of paths, packed into one.
local function list_values(list, order)
    local places, paths, path_numbers = {}, {}, {}

    for position, number in ipairs(order) do
        walk(list[number], "", function(path, value)
            local path_number = path_numbers[path]
            if path_number == nil then
                path_number = #paths + 1
                paths[path_number], path_numbers[path] = path, path_number
            end
            local text = value_text(value)
            local all = places[text]
            if all == nil then
                all = {}
                places[text] = all
            end
            all[#all + 1] = position << 16 | path_number
        end)
    end
    return places, paths, path_numbers
end

-- -------------------------------------------------------------------- find ---

-- The positions of the rows that have a value, in a path or in any, and where
-- the list of its places has the first of each.
local function find_positions(values, all, path)
    local sought = path and values.path_numbers[path]
    local positions, firsts, last = {}, {}, nil

    for i, packed in ipairs(all) do
        local position = packed >> 16
        if position ~= last and
           (sought == nil or packed & 0xffff == sought) then
            positions[#positions + 1], firsts[#firsts + 1] = position, i
            last = position
        end
    end
    return positions, firsts
end

-- The paths of all places from the first on that are in the same row.
local function list_paths(values, all, first)
    local paths, seen, i = {}, {}, first

    repeat
        local path = values.paths[all[i] & 0xffff]
        if not seen[path] then
            seen[path] = true
            paths[#paths + 1] = path
        end
        i = i + 1
    until i > #all or all[i] >> 16 ~= all[first] >> 16
    return table.concat(paths, " ")
end

-- The value as the module takes it; numbers at times of the other type.
local function to_module(value)
    local kind = records.type(value)

    if kind == "null" then return colander.null end
    if kind == "timestamp" then
        return colander.timestamp(value.seconds, value.nanoseconds)
    end
    if math.random(4) > 1 then return value end
    if kind == "double" then return math.tointeger(value) or value end
    if kind == "integer" and math.abs(value) < 1 << 53 then
        return value + 0.0
    end
    return value
end

-- Finds the value, and fails unless rows and columns are those of the list.
-- Of many rows mostly some are asked for, from a random one on.
local function find(values, value, path)
    local all = values.places[value_text(value)] or {}
    local positions, firsts = find_positions(values, all, path)
    local sought = to_module(value)
    local what = ("%s: find of %s in %s"):format(name, tell(value),
                                                path or "any column")
    local first, last, range = 1, #positions, nil

    if #positions > ROWS_MANY and math.random(40) > 1 then
        first = math.random(#positions - ROWS_MANY + 1)
        last = first + ROWS_MANY - 1
        range = {from = values.keys[positions[first]]}
    end
    local query = family:find(path and {[path] = sought} or
                              colander.any_column(sought), range):columns()
    if range ~= nil then query:limit(ROWS_MANY) end
    local at = first
    for key, _, columns in query do
        local position = positions[at]
        if at > last or key_text(values.keys[position]) ~= key_text(key) then
            error(("%s: row %d of %d is %s"):format(what, at, last,
                                                   key_text(key)), 0)
        end
        local told = table.concat(columns, " ")
        local wanted = path or list_paths(values, all, firsts[at])
        if told ~= wanted or columns.is_cut then
            error(("%s: %s matches in %s, not in %s"):format(what,
                  key_text(key), told, wanted), 0)
        end
        at = at + 1
    end
    if at ~= last + 1 then
        error(("%s: %d rows, not %d"):format(what, at - first,
                                            last - first + 1), 0)
    end
    return at - first
end

-- A scalar of a random record, and its path.
local function draw(list)
    local scalars, paths = {}, {}

    walk(list[math.random(#list)], "", function(path, value)
        scalars[#scalars + 1], paths[#paths + 1] = value, path
    end)
    local i = math.random(#scalars)
    return scalars[i], paths[i]
end

-- A value much like one of the file, that is in none of its records.
local function draw_absent(list, places)
    while true do
        local value, path = draw(list)
        local kind = records.type(value)

        if kind == "string" then
            value = math.random(2) == 1 and value .. "\1" or
                    value:sub(utf8.offset(value, 2) or 1)
        elseif kind == "timestamp" then
            value = os.date("!%Y-%m-%dT%H:%M:%SZ", value.seconds)
        elseif kind == "integer" and math.random(2) == 1 then
            value = tostring(value) .. ".0"
        elseif kind == "integer" then
            value = value + math.random(1 << 40) * (value < 0 and -1 or 1)
        elseif kind == "double" then
            value = value + math.random() / 7
        end
        if places[value_text(value)] == nil then return value, path end
    end
end

-- Values are drawn until so many different ones are found: `true` is in many
-- rows, and once is enough to find it.
local function find_all(list, values, wanted)
    local done, count, row_count, tries = {}, 0, 0, 0

    while count < wanted and tries < 100 * wanted do
        local value, path = draw(list)
        local text = value_text(value)
        local both = path .. "\0" .. text

        tries = tries + 1
        if not done[both] then
            count = count + 1
            done[both] = true
            row_count = row_count + find(values, value, path)
            if not done[text] then
                done[text] = true
                row_count = row_count + find(values, value, nil)
            end
        end
    end
    assert(count == wanted, "the file has too few different values")
    for _ = 1, (wanted + 9) // 10 do
        local value, path = draw_absent(list, values.places)

        assert(find(values, value, path) + find(values, value, nil) == 0)
    end
    return row_count
end

local list = records.read(path, schema)
local order, keys = compare_all(list)
local text = ("%s: %d rows are as they were read"):format(name, #order)

if tonumber(find_count) > 0 then
    local started = os.clock()
    local values = {keys = keys}

    math.randomseed(math.tointeger(tonumber(os.getenv("COLANDER_SEED"))))
    values.places, values.paths, values.path_numbers =
        list_values(list, order)
    local row_count = find_all(list, values, tonumber(find_count))
    text = ("%s, %s values found in %d rows (%.1f s)"):format(
        text, find_count, row_count, os.clock() - started)
end
print(text)
