-- Reads files of records, implementing only docs/schemas.md and RFC 8259 and
-- 4180, to check the result of a load. It does not use Colander.
--
-- Lua's integers, floats, strings and booleans represent themselves. A map is
-- {names = {...}, values = {[name] = value}}, so that its order is kept.
--
-- SPDX-License-Identifier: MIT
local records = {null = setmetatable({}, {__name = "null"})}

local Map, Array, Time = {__name = "map"}, {__name = "array"}, {__name = "time"}

-- Returns the kind of a value, as colander.type would.
function records.type(value)
    local meta = getmetatable(value)

    if value == records.null then return "null" end
    if meta == Map then return "map" end
    if meta == Array then return "array" end
    if meta == Time then return "timestamp" end
    if math.type(value) == "float" then return "double" end
    return math.type(value) or type(value)
end

local function new_map()
    return setmetatable({names = {}, values = {}}, Map)
end

local function add(map, name, value)
    assert(map.values[name] == nil, "a name appears twice")
    map.names[#map.names + 1] = name
    map.values[name] = value
end

-- ------------------------------------------------------------------ numbers --

local function fits(digits, limit)
    return #digits < #limit or #digits == #limit and digits <= limit
end

-- Returns the number that a text is in JSON, or nil if it is not a number.
local function read_number(text)
    local minus, digits, rest = text:match("^(%-?)(%d+)(.*)$")

    if digits == nil or digits:find("^0%d") then return nil end
    if rest == "" then
        local limit = minus == "" and "9223372036854775807" or
                      "9223372036854775808"

        if not fits(digits, limit) then
            assert(minus == "-" or not fits(digits, "18446744073709551615"),
                   "these files have no integers above 2^63 - 1")
            return nil
        end
        return math.tointeger(tonumber(text)) -- -0 is 0
    end
    local fraction, exponent = rest:match("^(%.?%d*)([eE]?[+-]?%d*)$")
    if fraction == nil or fraction ~= "" and not fraction:find("^%.%d+$") or
       exponent ~= "" and not exponent:find("^[eE][+-]?%d+$") then
        return nil
    end
    local number = tonumber(text) + 0.0
    return math.abs(number) < math.huge and number or nil
end

-- --------------------------------------------------------------------- JSON --

local escapes = {
    ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n",
    r = "\r", t = "\t",
}
local words = {["true"] = true, ["false"] = false, null = records.null}
local read_value

-- The character of an escape at `at`, and the position after it.
local function read_escape(text, at)
    local letter = text:sub(at + 1, at + 1)

    if letter ~= "u" then
        return assert(escapes[letter], "no such escape"), at + 2
    end
    local code = tonumber(text:match("^%x%x%x%x", at + 2), 16)
    if code < 0xd800 or code > 0xdfff then return utf8.char(code), at + 6 end
    local low = tonumber(text:match("^\\u(%x%x%x%x)", at + 6), 16)
    assert(code < 0xdc00 and low >= 0xdc00 and low <= 0xdfff, "no pair")
    return utf8.char(0x10000 + (code - 0xd800 << 10) + low - 0xdc00), at + 12
end

-- The string whose quote is at `at`, and the position after it.
local function read_string(text, at)
    local stop = text:find('["\\]', at + 1)

    if text:byte(stop) == 0x22 then
        return text:sub(at + 1, stop - 1), stop + 1
    end
    local pieces = {}
    at = at + 1
    while text:byte(stop) == 0x5c do
        pieces[#pieces + 1] = text:sub(at, stop - 1)
        pieces[#pieces + 1], at = read_escape(text, stop)
        stop = text:find('["\\]', at)
    end
    pieces[#pieces + 1] = text:sub(at, stop - 1)
    return table.concat(pieces), stop + 1
end

local function skip(text, at)
    return text:find("[^ \t\r\n]", at)
end

local function read_object(text, at)
    local map, name, value = new_map(), nil, nil

    at = skip(text, at + 1)
    if text:byte(at) == 0x7d then return map, at + 1 end
    while true do
        name, at = read_string(text, skip(text, at))
        at = skip(text, at)
        assert(text:byte(at) == 0x3a, "a colon must be here")
        value, at = read_value(text, at + 1)
        add(map, name, value)
        at = skip(text, at)
        if text:byte(at) == 0x7d then return map, at + 1 end
        assert(text:byte(at) == 0x2c, "a comma must be here")
        at = at + 1
    end
end

local function read_array(text, at)
    local array = setmetatable({}, Array)

    at = skip(text, at + 1)
    if text:byte(at) == 0x5d then return array, at + 1 end
    while true do
        array[#array + 1], at = read_value(text, at)
        at = skip(text, at)
        if text:byte(at) == 0x5d then return array, at + 1 end
        assert(text:byte(at) == 0x2c, "a comma must be here")
        at = at + 1
    end
end

function read_value(text, at)
    at = skip(text, at)
    local byte = text:byte(at)
    if byte == 0x22 then return read_string(text, at) end
    if byte == 0x7b then return read_object(text, at) end
    if byte == 0x5b then return read_array(text, at) end
    local word = text:match("^[%w+.-]+", at)
    local value = words[word]
    if value == nil then value = read_number(word) end
    assert(value ~= nil, "no value of JSON")
    return value, at + #word
end

-- Returns the record in a text.
function records.parse(text)
    local map, at = read_value(text, 1)

    assert(records.type(map) == "map" and not skip(text, at), "no record")
    return map
end

-- ---------------------------------------------------------------------- CSV --

-- The fields of one line, and whether each was quoted. No field of these files
-- spans lines.
local function read_fields(line)
    local fields, quoted, at = {}, {}, 1

    repeat
        local stop
        local i = #fields + 1
        if line:byte(at) == 0x22 then
            local pieces = ""
            repeat
                stop = assert(line:find('"', at + 1, true), "an open quote")
                pieces = pieces .. line:sub(at + 1, stop)
                at = stop + 1
            until line:byte(at) ~= 0x22
            fields[i], quoted[i] = pieces:sub(1, -2), true
            stop = at
        else
            stop = line:find(",", at, true) or #line + 1
            fields[i] = line:sub(at, stop - 1)
        end
        assert(stop > #line or line:byte(stop) == 0x2c, "text after a quote")
        at = stop + 1
    until at > #line + 1
    return fields, quoted
end

-- Returns the value of a text without a type.
local function guess(text)
    local number = read_number(text)

    if number ~= nil then return number end
    if text == "true" then return true end
    if text == "false" then return false end
    return text
end

-- -------------------------------------------------------------------- times --

-- Days from 1970 to a day of the Gregorian calendar, by counting.
local function days_to(year, month, day)
    local function is_leap(y)
        return y % 4 == 0 and y % 100 ~= 0 or y % 400 == 0
    end
    local lengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
    local days = day - 1

    for y = 1970, year - 1 do days = days + (is_leap(y) and 366 or 365) end
    for m = 1, month - 1 do days = days + lengths[m] end
    return days + (month > 2 and is_leap(year) and 1 or 0)
end

-- The instant of a text such as "2011-03-31 20:29:23 +0000", or the text.
local function read_time(text)
    local year, month, day, hour, minute, second, zone =
        text:match("^(%d%d%d%d)%-(%d%d)%-(%d%d)[ T](%d%d):(%d%d):(%d%d)(.*)$")
    local sign, zone_hour, zone_minute

    if year == nil then return text end
    if zone == "Z" then
        sign, zone_hour, zone_minute = "+", "00", "00"
    else
        sign, zone_hour, zone_minute = zone:match("^ ?([+-])(%d%d):?(%d%d)$")
    end
    if sign == nil then return text end
    local seconds = days_to(tonumber(year), tonumber(month), tonumber(day)) *
                    86400 + hour * 3600 + minute * 60 + second
    local ahead = zone_hour * 3600 + zone_minute * 60
    seconds = math.tointeger(sign == "+" and seconds - ahead or seconds + ahead)
    return setmetatable({seconds = seconds, nanoseconds = 0}, Time)
end

-- Converts the texts at paths of maps to times.
local function convert_times(map, paths)
    for _, path in ipairs(paths) do
        local inner, name = map, nil

        for part in path:gmatch("[^.]+") do
            if name ~= nil then inner = inner.values[name] end
            name = part
            if records.type(inner) ~= "map" then break end
        end
        if records.type(inner) == "map" and
           type(inner.values[name]) == "string" then
            inner.values[name] = read_time(inner.values[name])
        end
    end
end

-- -------------------------------------------------------------------- files --

local function read_csv(file, schema)
    local names = read_fields((file:read("l"):gsub("\r$", "")))
    local list = {}

    for line in file:lines() do
        local fields, quoted = read_fields((line:gsub("\r$", "")))
        local map = new_map()

        assert(#fields == #names, "a line with other fields")
        for i, text in ipairs(fields) do
            if text == schema.null and not quoted[i] then
                add(map, names[i], records.null)
            elseif schema.strings[names[i]] then
                if text ~= "" or quoted[i] then add(map, names[i], text) end
            elseif text ~= "" or quoted[i] then
                add(map, names[i], guess(text))
            end
        end
        list[#list + 1] = map
    end
    return list
end

local function read_jsonl(file, schema)
    local list = {}

    for line in file:lines() do
        local map = records.parse(line)

        convert_times(map, schema.times)
        list[#list + 1] = map
    end
    return list
end

-- The contents of schemas/<name>.lua for these files.
local schemas = {
    none = {strings = {}, times = {}},
    tweet = {
        strings = {},
        times = {
            "created_at", "user.created_at", "retweeted_status.created_at",
            "retweeted_status.user.created_at", "quoted_status.created_at",
            "quoted_status.user.created_at",
        },
    },
    ["air-quality"] = {
        null = "NA", strings = {station = true, wd = true}, times = {},
    },
}

-- The records of a compressed file in order, as a schema reads them.
function records.read(path, schema)
    local file <close> = assert(io.popen("gzip -dc '" .. path .. "'"))
    local read = path:find("%.csv%.gz$") and read_csv or read_jsonl

    return read(file, schemas[schema])
end

return records
