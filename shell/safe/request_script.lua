-- Leaves out of the sandbox what nothing can stop: the count of instructions is
-- looked at neither in functions of C nor in finalizers and message handlers.
-- Patterns may backtrack for ever, tables may say that they have any length, by
-- a metatable or by where their members are, values may take long to compare,
-- empty texts can be repeated any number of times, and compiling a text takes a
-- time that grows with its square.
--
-- SPDX-License-Identifier: MIT
local error, getmetatable, pcall = error, getmetatable, pcall
local next, rawlen, type = next, rawlen, type
local find, load_text, rep = string.find, load, string.rep
local math_integer, sub = math.tointeger, string.sub
local close, create, wrap = coroutine.close, coroutine.create, coroutine.wrap
local set, sort = setmetatable, table.sort

local FIND_MAX = 100 -- bytes of what is looked for
local TEXT_MAX = 1 << 16 -- bytes of what is compiled
local LIST_MAX = 1 << 22 -- members: memory has no room for more
local DEPTH_MAX = 100 -- of what closes coroutines; Lua does not count it

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

-- Whether a text of this size would be taken for members of a table (sandbox.c)
-- that are too many.
local function is_like_members(size)
    local count = size // 24
    return size % 24 == 0 and count & (count - 1) == 0 and count > 2048
end

-- Lua's, of a text that is not empty.
function string.rep(text, count, separator)
    local between = separator or ""
    local number = math_integer(count) or 0
    if #text + #between == 0 then return "" end
    if number > 1 and is_like_members(
        #text * number + #between * (number - 1)) then
        return rep(text, number - 1, separator) .. between .. text
    end
    return rep(text, count, separator)
end

-- Lua's.
for _, name in pairs {"lower", "reverse", "upper"} do
    local inner = string[name]

    string[name] = function(text)
        if type(text) ~= "string" or not is_like_members(#text) then
            return inner(text)
        end
        local first, rest = inner(sub(text, 1, 1)), inner(sub(text, 2))
        return name == "reverse" and rest .. first or first .. rest
    end
end

-- Lua's, of a text.
function load(chunk, ...)
    if type(chunk) ~= "string" or #chunk > TEXT_MAX then
        error("load takes a text of up to " .. TEXT_MAX .. " bytes", 2)
    end
    return load_text(chunk, ...)
end

-- Lua's, without finalizers and weak references: the collector may look at what
-- these refer to any number of times. The metatable is a copy, which does not
-- get them later.
function setmetatable(table, metatable)
    local copy = metatable
    if type(metatable) == "table" then
        copy = {__metatable = metatable}
        for name, member in next, metatable do copy[name] = member end
        if copy.__gc ~= nil then error("a finalizer cannot be set", 2) end
        if copy.__mode ~= nil then error("references cannot be weak", 2) end
    end
    return set(table, copy)
end
if getmetatable(_G) then getmetatable(_G).__metatable = false end

-- Returns what pcall did, or raises the error again.
local function pass(is_fine, ...)
    if not is_fine then error((...), 0) end
    return ...
end

-- Returns a function that does what the body of a coroutine does. Errors are
-- caught in it: where the clock's error ends a coroutine, instructions are not
-- counted any more, and what closes its variables would run as long as it likes.
local function guarded(name, body)
    if type(body) ~= "function" then
        error("coroutine." .. name .. " takes a function", 3)
    end
    return function(...) return pass(pcall(body, ...)) end
end

-- Lua's.
function coroutine.create(body) return create(guarded("create", body)) end
function coroutine.wrap(body) return wrap(guarded("wrap", body)) end

local depth = 0

local function leave(...)
    depth = depth - 1
    return pass(...)
end

-- Lua's, so that the stack of C suffices.
function coroutine.close(thread)
    if depth == DEPTH_MAX then
        error("too many coroutines close others", 2)
    end
    depth = depth + 1
    return leave(pcall(close, thread))
end

-- Lua's, with comparisons that are instructions, also where a function of C
-- compares.
function table.sort(list, comes_before)
    if comes_before ~= nil and type(comes_before) ~= "function" then
        error("table.sort takes a function", 2)
    end
    return sort(list, function(one, other)
        if comes_before then return comes_before(one, other) end
        return one < other
    end)
end

for _, name in pairs {"concat", "insert", "remove", "sort", "unpack"} do
    local inner = table[name]

    table[name] = function(list, ...)
        if getmetatable(list) ~= nil then
            error("table." .. name .. " takes a table without a metatable", 2)
        end
        if type(list) == "table" and rawlen(list) > LIST_MAX then
            error("table." .. name .. " takes a list", 2)
        end
        return inner(list, ...)
    end
end
