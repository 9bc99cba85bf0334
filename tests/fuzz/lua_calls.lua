-- Makes calls to the module that the bytes select: a function or method, with
-- arguments of any type. Results are used again.
--
-- fuzz_lua.c runs it with the bytes, the store and the module. An error that
-- escapes and begins with "broken" is a violated claim; other errors raised by
-- calls are permitted.
--
-- SPDX-License-Identifier: MIT
local bytes, db, colander = ...
local calls_max, kept_max, depth_max, loop_max = 24, 24, 4, 40

local at = 1
local function byte()
    local b = bytes:byte(at) or 0
    at = at + 1
    return b
end

local function taken(size)
    local part = bytes:sub(at, at + size - 1)
    at = at + size
    return part .. ("\0"):rep(size - #part)
end

-- The values that a script has; the first are handles that stay open.
local family = db:family("f")
local kept = { db, family, db:family("g") }
local kept_first = #kept

local function keep(...)
    for i = 1, select("#", ...) do
        local value = select(i, ...)
        if value ~= nil then
            if #kept == kept_max then table.remove(kept, kept_first + 1) end
            kept[#kept + 1] = value
        end
    end
end

local function sorted(names)
    table.sort(names)
    return names
end

local functions = {}
for name, value in pairs(colander) do
    if type(value) == "function" then functions[#functions + 1] = name end
end
sorted(functions)

local methods = {
    "all", "at", "avg", "await_filters", "batch", "bytes", "clear", "close",
    "code", "columns", "commit", "compact", "count", "create", "delete",
    "delete_range", "distinct", "drop", "each", "exists", "explain",
    "families", "family", "filters", "find", "any_column", "first", "flush",
    "get", "get_many", "group", "limit", "max", "message", "min", "name",
    "options", "order", "patch", "path", "plan", "put", "refilter", "reverse",
    "scan", "select", "sizes", "skip", "snapshot", "stats", "sum", "threads",
    "tojson", "where", "agg", "having", "fill", "search",
}

local words = {
    "a", "b", "c", "tags", "_key", "a.b", "tags[]", "a[].b", "a\\.b", "", ".",
    "[]", "a..b", "\xff\xfe", "x\0y", "k1", "k2", "f", "g", "desc", "prefix",
    "from", "to", "reverse", "sync", "select", "at", "on", "rows_per_segment",
    "hash_bits", "fp_rate", "bits_per_value", "filter_bits", "hierarchy",
    "tree", "slices", "tree_order", "memory_budget", "unfiltered", "auto", "mode",
    "create", "readonly", "new", "cache_size", "write_buffer_size",
    "open_files", "threads", "compression", "zstd", "compaction", "universal",
    "block_size", "sst_size", "fifo_size", "18446744073709551615", "1e999",
    '{"a":[1,{"b":null}],"_key":["k",2]}', "text of more than a few bytes",
    '"of more"', "te* few", "(a|b)*", "a:few",
}

-- ------------------------------------------------------------- values ---
local value

local function list(depth)
    local made = {}
    for i = 1, byte() % 6 do made[i] = value(depth + 1) end
    return made
end

local function map(depth)
    local made = {}
    for _ = 1, byte() % 5 do
        local name = value(depth + 1)
        if name ~= nil and name == name then made[name] = value(depth + 1) end
    end
    return made
end

local function columns(depth)
    local made = {}
    for _ = 1, byte() % 5 do
        made[words[byte() % #words + 1]] = value(depth + 1)
    end
    return made
end

local function deep()
    local made = 1
    for _ = 1, byte() * 4 do made = { a = made } end
    return made
end

local function cycle()
    local made = { 1, {} }
    made[2][1], made.a = made, made
    return made
end

-- A table with a lying metatable.
local function liar(depth)
    local answer = value(depth + 1)
    local kind = byte() % 8
    local function lie() return answer end
    local meta = {
        __index = lie, __len = lie, __pairs = lie, __tostring = lie,
        __eq = lie, __lt = lie, __name = kind % 2 == 0 and "row" or answer,
    }
    if kind == 1 then meta.__index = function() error(answer) end end
    if kind == 2 then meta.__len = function() return math.maxinteger end end
    if kind == 3 then
        meta.__pairs = function() return function() return answer end end
    end
    if kind == 4 then meta.__newindex = function() error({}) end end
    if kind == 5 then meta.__index = function(t, k) return t end end
    if kind == 6 then
        meta.__index = function() family:put("k9", { a = 1 }) end
    end
    if kind == 7 then meta.__len = function() kept = { db, family } end end
    return setmetatable({ 1, a = 2 }, meta)
end

-- A function as queries take one, but with side effects.
local function callback(depth)
    local answer = value(depth + 1)
    local kind = byte() % 5
    return function(...)
        keep(...)
        if kind == 1 then error(answer) end
        if kind == 2 then family:delete_range {} end
        if kind == 3 then coroutine.yield(answer) end
        if kind == 4 then
            for _, held in ipairs(kept) do pcall(held.close, held) end
        end
        return answer
    end
end

local function called(name, ...)
    local done, result = pcall(colander[name], ...)
    return done and result or nil
end

local makers = {
    function() return nil end,
    function() return true end,
    function() return false end,
    function() return byte() - 128 end,
    function() return (string.unpack("<i8", taken(8))) end,
    function() return (string.unpack("<d", taken(8))) end,
    function() return ({ 0 / 0, 1 / 0, -1 / 0, -0.0, 2 ^ 53, 2 ^ 63 })
        [byte() % 6 + 1] end,
    function() return words[byte() % #words + 1] end,
    function() return words[byte() % #words + 1] end,
    function() return taken(byte() % 32) end,
    function() return ("x"):rep(byte() << 10) end,
    list, map, columns, columns, deep, cycle, liar, callback,
    function() return coroutine.create(callback(depth_max)) end,
    function() return colander.null end,
    function(depth) return called("array", list(depth)) end,
    function() return called("binary", taken(byte() % 16)) end,
    function() return called("timestamp", value(depth_max), byte()) end,
    function() return called("unsigned", words[byte() % #words + 1]) end,
    function() return called("extension", byte() - 128, taken(4)) end,
    function(depth) return called("where", columns(depth)) end,
    function(depth)
        return called(functions[byte() % #functions + 1], value(depth + 1),
            value(depth + 1))
    end,
    function() return kept[byte() % #kept + 1] end,
    function() return kept[#kept] end,
    function() return family:get("k" .. byte() % 4) end,
}

function value(depth)
    local choice = byte() % #makers + 1
    if depth > depth_max then choice = choice % 10 + 1 end
    return makers[choice](depth)
end

-- -------------------------------------------------------------- calls ---
local operators = {
    function(a) return #a end,
    function(a) return tostring(a) end,
    function(a, b) return a == b end,
    function(a, b) return a < b end,
    function(a, b) return a <= b end,
    function(a, b) return a & b end,
    function(a, b) return a | b end,
    function(a) return ~a end,
    function(a, b) return a[b] end,
    function(a, b) a[b] = value(depth_max) end,
    function(a, b) return a(b) end,
    function(a)
        local count = 0
        for key, held in pairs(a) do
            keep(key, held)
            count = count + 1
            if count == loop_max then break end
        end
    end,
    function(a)
        local count = 0
        for key, row, extra in a do
            keep(key, row, extra)
            count = count + 1
            if count == loop_max then break end
        end
    end,
    function(a) local held <close> = a end,
    function(a) return coroutine.wrap(function() return a:each(print) end)() end,
}

local function take_results(done, ...)
    keep(...)
    if not done then
        local problem = ...
        pcall(function() return problem.message .. problem.code end)
    end
end

local function arguments()
    local count = byte() % 5
    local list = {}
    for i = 1, count do list[i] = value(1) end
    return list, count
end

local function step()
    local choice = byte()
    if choice < 80 then
        local list, count = arguments()
        take_results(pcall(colander[functions[choice % #functions + 1]],
            table.unpack(list, 1, count)))
    elseif choice < 208 then
        local object = kept[choice % #kept + 1]
        local name = methods[byte() % #methods + 1]
        local list, count = arguments()
        take_results(pcall(function()
            return object[name](object, table.unpack(list, 1, count))
        end))
    else
        take_results(pcall(operators[choice % #operators + 1],
            kept[byte() % #kept + 1], value(1)))
    end
end

-- A find returns the rows for which matches() is true.
local function compare_find(condition)
    local done, count = pcall(family.count, family, condition)
    if not done or condition == nil then return end
    local expected = 0
    for _, row in family:find() do
        local ok, does = pcall(colander.matches, row, condition)
        if not ok then return end
        if does then expected = expected + 1 end
    end
    if count ~= expected then
        error(("broken: a find returns %d rows, not %d"):format(count, expected))
    end
end

-- A row that is read and put again is unchanged.
local function put_again()
    for key, row in family:find():all() do
        local text = colander.tojson(row)
        family:put(row)
        local again = colander.tojson(family:get(row._key))
        if text ~= again then error("broken: " .. text .. " is " .. again) end
    end
end

local condition = value(1)
compare_find(condition)
for _ = 1, calls_max do
    if at > #bytes then break end
    step()
end
compare_find(condition)
put_again()
