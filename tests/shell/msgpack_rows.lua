-- Reads a stream of msgpack rows, implementing only the specification, and
-- compares it with the rows of a family: each value, and its type.
--
-- Usage: colander shell STORE --readonly msgpack_rows.lua FAMILY FILE LIMIT
--
-- SPDX-License-Identifier: MIT
local name, path, limit = ...
local file <close> = assert(io.open(path, "rb"))
local bytes = file:read("a")
local at = 1

local function take(format)
    local value
    value, at = string.unpack(">" .. format, bytes, at)
    return value
end

local function take_bytes(size)
    assert(at + size - 1 <= #bytes, "the stream is cut")
    at = at + size
    return bytes:sub(at - size, at - 1)
end

local read

local function read_array(count)
    local items = {}
    for i = 1, count do
        items[i] = read()
    end
    return "[" .. table.concat(items, ",") .. "]"
end

-- Names are unique, so their order does not matter.
local function read_map(count)
    local items = {}
    for i = 1, count do
        items[i] = read() .. "=" .. read()
    end
    table.sort(items)
    return "{" .. table.concat(items, ",") .. "}"
end

local function read_string(size)
    return "string " .. take_bytes(size):gsub("[^%w]", function(c)
        return ("\\%02x"):format(c:byte())
    end)
end

local function hex(text)
    return (text:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

local function read_extension(size)
    local kind = take("i1")
    if kind ~= -1 then
        return ("extension %d %s"):format(kind, hex(take_bytes(size)))
    elseif size == 4 then
        return ("timestamp %d 0"):format(take("I4"))
    elseif size == 8 then
        local packed = take("I8")
        return ("timestamp %d %d"):format(packed & 0x3ffffffff, packed >> 34)
    end
    local nanoseconds = take("I4")
    return ("timestamp %d %d"):format(take("i8"), nanoseconds)
end

local function integer(value)
    return "integer " .. value
end

local long = {
    [0xc0] = function() return "null" end,
    [0xc2] = function() return "false" end,
    [0xc3] = function() return "true" end,
    [0xc4] = function() return "binary " .. hex(take_bytes(take "I1")) end,
    [0xc5] = function() return "binary " .. hex(take_bytes(take "I2")) end,
    [0xc6] = function() return "binary " .. hex(take_bytes(take "I4")) end,
    [0xc7] = function() return read_extension(take "I1") end,
    [0xca] = function() return "double " .. take "f" end,
    [0xcb] = function() return "double " .. take "d" end,
    [0xcc] = function() return integer(take "I1") end,
    [0xcd] = function() return integer(take "I2") end,
    [0xce] = function() return integer(take "I4") end,
    [0xcf] = function() return integer(("%u"):format(take "I8")) end,
    [0xd0] = function() return integer(take "i1") end,
    [0xd1] = function() return integer(take "i2") end,
    [0xd2] = function() return integer(take "i4") end,
    [0xd3] = function() return integer(take "i8") end,
    [0xd4] = function() return read_extension(1) end,
    [0xd5] = function() return read_extension(2) end,
    [0xd6] = function() return read_extension(4) end,
    [0xd7] = function() return read_extension(8) end,
    [0xd8] = function() return read_extension(16) end,
    [0xd9] = function() return read_string(take "I1") end,
    [0xda] = function() return read_string(take "I2") end,
    [0xdb] = function() return read_string(take "I4") end,
    [0xdc] = function() return read_array(take "I2") end,
    [0xde] = function() return read_map(take "I2") end,
}

function read()
    local head = take "B"
    if head < 0x80 then return integer(head) end
    if head >= 0xe0 then return integer(head - 256) end
    if head >= 0xa0 and head < 0xc0 then return read_string(head & 0x1f) end
    if head < 0x90 then return read_map(head & 0x0f) end
    if head < 0xa0 then return read_array(head & 0x0f) end
    return (long[head] or error("no msgpack: " .. head))()
end

-- Returns a value of the store in the form of read().
local function describe(value)
    local kind = colander.type(value)
    if kind == "map" or kind == "array" then
        local items = {}
        for k, v in pairs(value) do
            items[#items + 1] =
                kind == "map" and describe(k) .. "=" .. describe(v) or describe(v)
        end
        if kind == "map" then table.sort(items) end
        local text = table.concat(items, ",")
        return kind == "map" and "{" .. text .. "}" or "[" .. text .. "]"
    elseif kind == "string" then
        return "string " .. value:gsub("[^%w]", function(c)
            return ("\\%02x"):format(c:byte())
        end)
    elseif kind == "binary" then
        return "binary " .. hex(value.bytes)
    elseif kind == "timestamp" then
        return ("timestamp %d %d"):format(value.seconds, value.nanoseconds)
    elseif kind == "extension" then
        return ("extension %d %s"):format(value.kind, hex(value.bytes))
    elseif kind == "double" then
        return "double " .. value
    elseif kind == "integer" or kind == "unsigned" then
        return "integer " .. tostring(value)
    end
    return tostring(value)
end

local count = 0
for key, row in db:family(name):find():limit(tonumber(limit)) do
    local columns = colander.table(row)
    columns._key = nil
    local wanted = describe("_key") .. "=" .. describe(key)
    local others = {}
    for column, value in pairs(columns) do
        others[#others + 1] = describe(column) .. "=" .. describe(value)
    end
    -- The key is the first column.
    local head = take "B"
    local size = head < 0x90 and head & 0x0f or head == 0xde and take "I2" or
        take "I4"
    local got = read() .. "=" .. read()
    assert(got == wanted, ("key %s is not %s"):format(got, wanted))
    local read_columns = {}
    for i = 2, size do
        read_columns[i - 1] = read() .. "=" .. read()
    end
    table.sort(others)
    table.sort(read_columns)
    local read_row, stored = table.concat(read_columns, "\n"),
        table.concat(others, "\n")
    assert(read_row == stored, ("%s is not %s"):format(read_row, stored))
    count = count + 1
end
assert(at == #bytes + 1, "something follows the last row")
print(count)
