-- Checks the table that a schema file returns, and puts its fields into the
-- schema in memory.
--
-- Arguments: the table; the text of the file, to find lines in; and the
-- function put(field, value [, type, formats]), which adds one value to the
-- schema and returns nil, or what is wrong with it.
--
-- A mistake is an error "schema:LINE: FIELD: what is wrong", as Lua's own are.
-- The line is missing if the file does not spell out the field.
--
-- SPDX-License-Identifier: MIT
local schema, source, put = ...

local one_column = "a column or a list of columns"
local one_text = "a text or a list of texts"
local type_names = { "string", "integer", "number", "boolean", "time", "guess" }

-- --------------------------------------------------------------- places ---

-- A place in the table: how messages show it, and the name to look for in the
-- file, after the name of the place above.
local root = { shown = "" }

local function inside(place, shown, name)
    return { above = place, shown = place.shown .. shown, name = name }
end

-- A text for messages, short and without control characters.
local function brief(text)
    return (text:sub(1, 100):gsub("%c", function(byte)
        return ("\\x%02x"):format(byte:byte())
    end))
end

local function field_of(place, name)
    return inside(place, (place == root and "" or ".") .. brief(name), name)
end

local code = source:gsub("%-%-[^\n]*", "") -- without comments

-- Returns where `name` is next written as a field or in quotes.
local function find(name, from)
    if #name > 200 then return math.huge end -- a search has no time limit

    local pattern = name:gsub("\\", "\\\\"):gsub("%W", "%%%0")
    local field = code:find("%f[%w_]" .. pattern .. "%s*=[^=]", from)
    local quoted = code:find("[\"']" .. pattern .. "[\"']", from)

    return math.min(field or math.huge, quoted or math.huge)
end

local function position(place)
    local above = place.above and position(place.above) or 0
    local found = place.name and find(place.name, above + 1) or math.huge

    return found < math.huge and found or above
end

local function fail(place, format, ...)
    local at = position(place)
    local _, line_ends = code:sub(1, at):gsub("\n", "")
    local line = at > 0 and ("schema:%d: "):format(line_ends + 1) or ""
    local shown = place == root and "" or place.shown .. ": "

    error(line .. shown .. format:format(...), 0)
end

local function fail_value(place, wanted, value)
    local found = type(value) == "string" and '"' .. brief(value) .. '"' or
        (type(value) == "number" or type(value) == "boolean") and
        tostring(value) or "a " .. type(value)

    fail(place, "must be %s, not %s", wanted, found)
end

-- --------------------------------------------------------------- values ---

local function check_text(place, value, wanted)
    if type(value) ~= "string" then fail_value(place, wanted, value) end
    if value:find("\0", 1, true) then fail(place, "contains a zero byte") end
end

local function check_number(place, value, wanted, above, most)
    if type(value) ~= "number" or not (value > above and value <= most) then
        fail_value(place, wanted, value)
    end
end

-- Calls each(place, value) for the elements of a list, or for a single value.
local function for_each(place, value, wanted, each)
    local count = 0

    if type(value) ~= "table" then return each(place, value) end
    for _ in pairs(value) do count = count + 1 end
    if count ~= #value then
        fail(place, "must be %s, and have no other fields", wanted)
    end
    if count == 0 then fail(place, "is empty") end
    for index, element in ipairs(value) do
        each(inside(place, "[" .. index .. "]"), element)
    end
end

-- Returns a reader of one path or a list of up to `count_max`.
local function columns(name, count_max, many)
    return function(place, value)
        local seen = {}

        for_each(place, value, one_column, function(at, path)
            check_text(at, path, one_column)
            local wrong = put(name, path)

            at = inside(at, "", path) -- for its line
            if wrong then fail(at, "%s", wrong) end
            if many and path:find("[]", 1, true) then
                fail(at, "'%s' may be many values, %s", brief(path), many)
            end
            if many and seen[path] then
                fail(at, "'%s' is listed twice", brief(path))
            end
            seen[path] = true
        end)
        if type(value) == "table" and #value > count_max then
            fail(place, "has %d columns, over the limit of %d", #value,
                 count_max)
        end
    end
end

-- Reads the fields of a table in the order of `readers`: { name, function }.
local function read_fields(place, value, readers)
    local known, names = {}, {}

    if type(value) ~= "table" then
        fail_value(place, "a table with fields", value)
    end
    for _, reader in ipairs(readers) do
        known[reader[1]] = true
        if not reader.is_old then names[#names + 1] = reader[1] end
    end
    for name in pairs(value) do
        if type(name) ~= "string" then
            fail(place, "has a value without a name")
        elseif not known[name] then
            fail(field_of(place, name), "unknown field (there are %s)",
                 table.concat(names, ", "))
        end
    end
    for _, reader in ipairs(readers) do
        local name, read = reader[1], reader[2]

        if value[name] ~= nil then read(field_of(place, name), value[name]) end
    end
end

-- ---------------------------------------------------------------- types ---

local function put_column(place, path, kind, formats)
    local wrong = put("column", path, kind, formats)

    if wrong then fail(inside(place, "", path), "%s", wrong) end
end

local function read_types(place, value)
    if type(value) ~= "table" then
        fail_value(place, "a table of columns and their types, " ..
                   '{ id = "string" }', value)
    end
    for path, kind in pairs(value) do
        if type(path) ~= "string" then
            fail(place, 'must name columns and their types, { id = "string" }')
        end
        local at = inside(place, '["' .. brief(path) .. '"]', path)
        local is_known = false

        check_text(at, path, "a column")
        check_text(at, kind, "the name of a type")
        for _, name in ipairs(type_names) do
            is_known = is_known or name == kind
        end
        if not is_known then
            fail(at, "unknown type '%s' (there are %s)", brief(kind),
                 table.concat(type_names, ", "))
        end
        put_column(at, path, kind)
    end
end

local has_time_column = false -- the first one

-- Reads a column, or columns and their format.
local function read_time(place, value)
    local formats

    local function add_column(at, path)
        check_text(at, path, one_column)
        put_column(at, path, "time", formats and table.concat(formats, "\n"))
        if not has_time_column then put("time", path) end
        has_time_column = true
    end

    if type(value) ~= "table" then return add_column(place, value) end
    read_fields(place, value, {
        { "format", function(at, format)
            formats = {}
            for_each(at, format, one_text, function(below, text)
                check_text(below, text, one_text)
                if text == "" or text:find("\n", 1, true) then
                    fail(below, "is not a time format")
                end
                formats[#formats + 1] = text
            end)
        end },
        { "column", function(at, path)
            for_each(at, path, one_column, add_column)
        end },
    })
    if value.column == nil then fail(place, "has no 'column'") end
end

-- --------------------------------------------------------------- fields ---

local read_unfiltered = columns("unfiltered", 64)
local unfiltered_name -- that the schema uses

local function unfiltered(place, value)
    if unfiltered_name then
        fail(place, "means the same as %s: give one of them", unfiltered_name)
    end
    unfiltered_name = place.name
    read_unfiltered(place, value)
end

read_fields(root, schema, {
    { "about", function(place, value) check_text(place, value, "a text") end },
    { "record", function(place, value)
        check_text(place, value, "a column")
        columns("record", 1, "a record is one")(place, value)
    end },
    { "key", columns("key", 16, "a key has one") },
    { "types", read_types },
    { "time", function(place, value)
        if type(value) == "table" and #value == 0 then
            read_time(place, value)
        else
            for_each(place, value, "a column, { column = ..., format = ... } " ..
                     "or a list of these", read_time)
        end
    end },
    { "null", function(place, value)
        for_each(place, value, one_text, function(at, text)
            check_text(at, text, one_text)
            put("null", text)
        end)
    end },
    { "delimiter", function(place, value)
        local wanted = 'one character such as "," or "\\t", ' ..
            "neither a quote nor a line end"

        check_text(place, value, wanted)
        if #value ~= 1 or value:find("[\"\r\n\x80-\xff]") then
            fail_value(place, wanted, value)
        end
        put("delimiter", value)
    end },
    { "guess", function(place, value)
        if type(value) ~= "boolean" then
            fail_value(place, "true or false", value)
        end
        put("guess", value)
    end },
    { "unfiltered", unfiltered },
    { "noindex", unfiltered, is_old = true },
    { "left_out", unfiltered, is_old = true },
    { "family", function(place, value)
        read_fields(place, value, {
            { "fp_rate", function(at, rate)
                check_number(at, rate, "a number above 1e-9 and below 1", 1e-9,
                             0.9999999999)
                put("fp_rate", rate)
            end },
            { "bits_per_value", function(at, bits)
                check_number(at, bits, "a number above 0, at most 64", 0, 64)
                if value.fp_rate then
                    fail(at, "replaces fp_rate: give one of them")
                end
                put("bits_per_value", bits)
            end },
            { "rows_per_segment", function(at, rows)
                if math.type(rows) ~= "integer" or rows < 0 or
                   rows > 65536 or rows & (rows - 1) ~= 0 then
                    fail_value(at, "0 or a power of two up to 65536", rows)
                end
                put("rows_per_segment", rows)
            end },
        })
    end },
})
