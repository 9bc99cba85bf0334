-- The state of expressions over rows: their names, and how they are read.
--
-- SPDX-License-Identifier: MIT
local colander = colander
local load, error, tonumber, tostring = load, error, tonumber, tostring
local find, format, gsub, gmatch, lower, match, sub = string.find,
    string.format, string.gsub, string.gmatch, string.lower, string.match,
    string.sub
local rawget, rawset, type = rawget, rawset, type

-- The names that are not columns. A name that is set would hide a column of
-- later rows.
local names = {
    ipairs = ipairs, pairs = pairs, tonumber = tonumber, tostring = tostring,
    string = string, math = math, table = table, utf8 = utf8,
    colander = {
        binary = colander.binary, duration = colander.duration,
        extension = colander.extension, null = colander.null,
        timestamp = colander.timestamp, type = colander.type,
        unsigned = colander.unsigned,
    },
    row = false, -- exists, so that it may be set
}

-- Functions whose names may also be columns: they are these where a parenthesis
-- follows.
local functions = {
    time = colander.timestamp,
    contains = function(text, part)
        return type(text) == "string" and find(text, part, 1, true) ~= nil
    end,
    lower = function(text)
        return type(text) == "string" and lower(text) or nil
    end,
}
local metatable = {
    __newindex = function(_, name)
        error(format("an expression cannot set '%s'", tostring(name)), 2)
    end,
}
setmetatable(names, metatable)

local function begins(text, lead)
    return sub(text, 1, #lead) == lead
end

-- Returns the size of the token in quotes after "near". An unprintable byte is
-- '<\195>' there.
local function token_size(token)
    if #token < 2 or not begins(token, "'") then return 0 end
    return match(token, "^'<\\.*>'$") and 1 or #token - 2
end

-- How to write in Lua what a token means in other languages.
local hints = {
    ["'='"] = " (write == for equal)", ["'!'"] = " (write ~= for not equal)",
    ["'&'"] = " (write and)", ["'|'"] = " (write or)",
    ["'like'"] = ' (write contains(text, "x"))',
    ["'LIKE'"] = ' (write contains(text, "x"))',
}

-- Returns a message of Lua as one that fits an expression.
local function reword(message, token, is_whole)
    local is_unexpected = begins(message, "unexpected symbol")
    local is_end = token == "<eof>"

    if (tonumber(match(token, "^'<\\(%d+)")) or 0) >= 0x80 then
        return "names have ASCII letters only: write any other column as " ..
            'row["..."]'
    elseif is_whole and is_unexpected then
        return "expected an expression"
    elseif is_whole or begins(message, "<eof> expected") then
        return format("unexpected %s after the expression%s", token,
            hints[token] or "")
    elseif is_unexpected then
        return "expected an expression" ..
            (is_end and "" or " instead of " .. token .. (hints[token] or ""))
    elseif is_end then
        return sub(message, 1, -1 - #token - #"near ") .. "at the end"
    end
    return message
end

-- Returns how to write a column with a dot in its name, if the mistake may be
-- one: PM2.5, PM2\.5.
local function hint_at_dot(text, place)
    local before = match(sub(text, 1, place), "[%a_][%w_.]*$")
    local after = match(sub(text, place + 1), "^\\?%.[%w_.\\]+")
    if not before or not after then return "" end
    local name = gsub(gsub(before, "^row%.", "") .. after, "\\", "")
    return format(' (for a dot in a name write row["%s"])', name)
end

-- Returns the function of the text between two others, or nil, a message and
-- the offset of the mistake in it. Lua reads byte by byte, and its parser is
-- one byte ahead, so the bytes read say where it stopped.
local function read(lead, text, tail)
    local source = lead .. text .. tail
    local at = 0
    local loaded, message = load(function()
        at = at + 1
        return at <= #source and sub(source, at, at) or nil
    end, "=where", "t", names)

    if loaded then return loaded end
    message = match(message, "^where:%d+: (.*)$") or message
    local near = match(message, " near (.*)$")
    local place = at - 1 - token_size(near or "<eof>") - #lead
    place = place < 0 and 0 or place > #text and #text or place
    if near then
        message = reword(message, near, tail ~= "") .. hint_at_dot(text, place)
    end
    return nil, message, place
end

-- Loads the expression twice. Without parentheses Lua stops at what does not
-- belong to an expression, such as an extra parenthesis. Within them it accepts
-- exactly one expression. The newline ends a comment.
local function add(text)
    for name, call in pairs(functions) do
        if find(" " .. text, "[^%w_.:]" .. name .. "%s*[(\"']") then
            rawset(names, name, call)
        end
    end
    local loaded, message, offset = read("return ", text, "")
    if loaded then loaded, message, offset = read("return (", text, "\n)") end
    return loaded or message, offset
end

local keywords = {}
for word in gmatch("and or not nil true false function return end if then " ..
    "else elseif local for in do while repeat until goto break", "%a+") do
    keywords[word] = true
end

-- Whether a path that an expression seems to read may be a column.
local function is_column(path)
    local name = match(path, "^[^.]*")
    return not keywords[name] and rawget(names, name) == nil and
        path ~= "_key" and sub(path, -1) ~= "."
end

-- Returns the text with each string in it replaced by its number in quotes, and
-- these strings.
local function without_strings(text)
    local strings = {}
    text = gsub(gsub(text, '\\.', ""), "([\"'])(.-)%1", function(_, string)
        strings[#strings + 1] = string
        return format('"%d"', #strings)
    end)
    return " " .. text, strings
end

-- Returns a list of the paths that the text seems to read.
local function columns(text)
    local paths = {}
    for path in gmatch(without_strings(text), "[^%w_.:]([%a_][%w_.]*)") do
        path = gsub(path, "^row%.", "")
        if is_column(path) then paths[#paths + 1] = path end
    end
    return paths
end

local literals = {["true"] = true, ["false"] = false}

-- Returns a list of what the text seems to compare: a path, a value and whether
-- order matters, again and again.
local function comparisons(text)
    local list = {}
    local masked, strings = without_strings(text)
    for path, operator, literal in gmatch(masked,
            "[^%w_.:#]([%a_][%w_.]*)%s*([=~<>]=?)%s*([%w_.\"-]+)") do
        path = gsub(path, "^row%.", "")
        local value = literals[literal]
        if value == nil then
            value = strings[tonumber(match(literal, '^"(%d+)"$'))] or
                tonumber(literal)
        end
        if is_column(path) and value ~= nil then
            list[#list + 1] = path
            list[#list + 1] = value
            list[#list + 1] = find(operator, "[<>]") ~= nil
        end
    end
    return list
end

return add, columns, comparisons, names, metatable, colander.null
