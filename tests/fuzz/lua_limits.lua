-- Removes from a script the functions of C that may run for long, where no hook
-- ends them: fuzz_lua.c runs scripts in its own process. The others are
-- limited.
--
-- SPDX-License-Identifier: MIT
local size_max, steps_max = 200, 3

local find, gsub, rep = string.find, string.gsub, string.rep
local set = setmetatable

-- Patterns that backtrack take a time that is the size of the text to the power
-- of their repetitions.
local function bound(name)
    local whole = string[name]
    string[name] = function(text, pattern, ...)
        text, pattern = tostring(text), tostring(pattern)
        local _, count = gsub(pattern, "[*+?-]", "")
        if #text > size_max or #pattern > size_max or count > steps_max then
            error("too much for here")
        end
        return whole(text, pattern, ...)
    end
end
for _, name in ipairs { "find", "match", "gmatch", "gsub" } do bound(name) end

string.rep = function(text, count, between)
    if type(count) ~= "number" or count > size_max then error("too often") end
    return rep(text, count, between)
end

-- A table's own claim about its length is used.
for _, name in ipairs { "concat", "insert", "remove", "sort" } do
    local whole = table[name]
    table[name] = function(held, ...)
        if getmetatable(held) ~= nil then error("not here") end
        return whole(held, ...)
    end
end
table.move = nil

-- Finalizers run without hooks.
function setmetatable(held, meta)
    if type(meta) == "table" and rawget(meta, "__gc") ~= nil then
        error("not here")
    end
    return set(held, meta)
end
