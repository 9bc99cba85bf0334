-- What the tests of the module share: temporary stores and assertions.
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local support = {}

-- Runs `test(store, path)` on a new store, which is removed afterwards.
function support.with_store(test, options)
    local path = os.tmpname()

    os.remove(path)
    local store = colander.open(path, options)
    local done, problem = xpcall(test, debug.traceback, store, path)
    collectgarbage()
    store:close()
    os.execute("rm -rf '" .. path .. "'")
    if not done then error(problem, 0) end
end

-- Whether two values of rows are the same, types and all.
function support.same(a, b)
    if colander.type(a) ~= colander.type(b) or
       math.type(a) ~= math.type(b) then
        return false
    end
    if type(a) ~= "table" then return a == b or (a ~= a and b ~= b) end
    for name, value in pairs(a) do
        if not support.same(value, b[name]) then return false end
    end
    for name in pairs(b) do
        if a[name] == nil then return false end
    end
    return true
end

-- Fails unless `f(...)` raises an error that contains all `texts`. Returns the
-- error.
function support.fails(texts, f, ...)
    local done, problem = pcall(f, ...)

    if done then
        error("no error contains '" .. tostring(texts[1]) .. "'", 2)
    end
    for _, text in ipairs(texts) do
        if not tostring(problem):find(text, 1, true) then
            error(("'%s' does not contain '%s'"):format(tostring(problem), text), 2)
        end
    end
    return problem
end

-- Seeds random numbers and prints the seed. Returns how often to try:
-- `normally` unless COLANDER_RUNS is set.
function support.random(name, normally)
    local seed = math.tointeger(os.getenv("COLANDER_SEED")) or
                 os.time() * 1000003 + math.floor(os.clock() * 1e9)

    print(("%s: COLANDER_SEED=%d"):format(name, seed))
    math.randomseed(seed)
    return math.tointeger(os.getenv("COLANDER_RUNS")) or normally
end

return support
