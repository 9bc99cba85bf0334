-- Leaves out of the sandbox what nothing can stop: the count of instructions is
-- looked at neither in functions of C nor in finalizers and message handlers.
-- Patterns may backtrack for ever, tables with metatables may say that they
-- have any length, and empty texts can be repeated any number of times.
--
-- SPDX-License-Identifier: MIT
local error, getmetatable, rawget, type = error, getmetatable, rawget, type
local find, load_text, rep = string.find, load, string.rep
local set = setmetatable

local FIND_MAX = 100 -- bytes of what is looked for

collectgarbage, xpcall = nil, nil
string.gmatch, string.gsub, string.match = nil, nil, nil
string.pack, string.packsize, string.unpack = nil, nil, nil
table.move = nil

-- Lua's, without patterns.
function string.find(text, wanted, init)
    if #wanted > FIND_MAX then
        error("what is looked for has more than " .. FIND_MAX .. " bytes", 2)
    end
    return find(text, wanted, init, true)
end

-- Lua's, of a text that is not empty.
function string.rep(text, count, separator)
    if #text + #(separator or "") == 0 then return "" end
    return rep(text, count, separator)
end

-- Lua's, of a text.
function load(chunk, ...)
    if type(chunk) ~= "string" then error("load takes a text", 2) end
    return load_text(chunk, ...)
end

-- Lua's, without finalizers.
function setmetatable(table, metatable)
    if type(metatable) == "table" and rawget(metatable, "__gc") ~= nil then
        error("a finalizer cannot be set", 2)
    end
    return set(table, metatable)
end

for _, name in pairs {"concat", "insert", "remove", "sort", "unpack"} do
    local inner = table[name]

    table[name] = function(list, ...)
        if getmetatable(list) ~= nil then
            error("table." .. name .. " takes a table without a metatable", 2)
        end
        return inner(list, ...)
    end
end
