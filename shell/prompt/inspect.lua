-- Inspection: a value as readable text; a table as it is written in Lua.
--
-- SPDX-License-Identifier: MIT
local _, printable, debug = ...

-- Scripts may change the globals.
local find, match, sub = string.find, string.match, string.sub
local concat, sort = table.concat, table.sort
local getmetatable, integer = debug.getmetatable, math.type
local error, next, pcall, rawget = error, next, pcall, rawget
local rawlen, tostring, type = rawlen, tostring, type

local depth_max = 8
local ellipsis = "\u{2026}"

-- Returns the value, printable, up to about `size_max` bytes and then an
-- ellipsis.
local function inspect(value, size_max)
    local parts, size, depth = {}, 0, 0
    local add_value

    local function add(text)
        parts[#parts + 1] = text
        size = size + #text
    end

    local function is_full()
        return size > size_max
    end

    -- Adds as many bytes, printable, as there is room for.
    local function add_printable(text)
        local room = size < size_max and size_max - size or 0
        add(printable(sub(text, 1, room)))
        if #text > room then add(ellipsis) end
    end

    -- Returns the text, or as much of it as can be printed and one byte more.
    local function cut(text)
        return sub(text, 1, size_max + 1)
    end

    local function add_quoted(text)
        local at = 1
        text = cut(text)
        add('"')
        while at <= #text and not is_full() do
            local stop = find(text, '["\\]', at) or #text + 1
            add_printable(sub(text, at, stop - 1))
            if stop <= #text then add("\\" .. sub(text, stop, stop)) end
            at = stop + 1
        end
        add('"')
    end

    -- Adds a string that is not in a table: without quotes, line by line.
    local function add_lines(text)
        local at = 1
        text = cut(text)
        while at <= #text and not is_full() do
            local stop = find(text, "\n", at, true) or #text + 1
            add_printable(sub(text, at, stop - 1))
            if stop <= #text then add("\n") end
            at = stop + 1
        end
    end

    -- Returns the names in the table that are not elements, in order if all of
    -- them are strings.
    local function names_of(items, count)
        local names, is_sortable = {}, true
        for name in next, items do
            if integer(name) ~= "integer" or name < 1 or name > count then
                names[#names + 1] = name
                is_sortable = is_sortable and type(name) == "string"
            end
        end
        if is_sortable then sort(names) end
        return names
    end

    local function add_table(items)
        local count = rawlen(items)
        local separator = ""
        add("{")
        for i = 1, count do
            if is_full() then break end
            add(separator)
            add_value(rawget(items, i))
            separator = ", "
        end
        local names = is_full() and {} or names_of(items, count)
        for i = 1, #names do
            local name = names[i]
            if is_full() then break end
            add(separator)
            if type(name) == "string" and match(name, "^[%a_][%w_]*$") then
                add_printable(name)
            else
                add("[")
                add_value(name)
                add("]")
            end
            add(" = ")
            add_value(rawget(items, name))
            separator = ", "
        end
        add(is_full() and ", " .. ellipsis .. "}" or "}")
    end

    function add_value(item)
        local metatable = getmetatable(item)
        local describe = metatable and rawget(metatable, "__tostring")
        if metatable and rawget(metatable, "__name") == "colander.array" then
            describe = nil -- as a table
        end
        if type(item) == "string" then
            add_quoted(item)
        elseif type(item) ~= "table" or describe ~= nil then
            local is_fine, text = pcall(tostring, item)
            if not is_fine then error(text, 0) end -- names no line of this file
            add_printable(text)
        elseif depth == depth_max then
            add("{" .. ellipsis .. "}")
        else
            depth = depth + 1
            add_table(item)
            depth = depth - 1
        end
    end

    if type(value) == "string" then
        add_lines(value)
    else
        add_value(value)
    end
    return concat(parts)
end

return inspect
