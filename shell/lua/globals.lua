-- The globals of the shell: the store, the functions for conditions, and a
-- global for each family, created when it is first used.
--
-- SPDX-License-Identifier: MIT
local store, exists = ...
local open = store.family
local error, pcall, type = error, pcall, type

local conditions = {
    "eq", "ne", "lt", "le", "gt", "ge", "between", "prefix", "any", "all",
    "none", "exists", "contains", "missing", "null", "where", "any_column",
    "value", -- until 0.3: any_column
    "isnull",
}
-- A family, or a global of a script, may have one of these names instead.
local later = {}
for _, name in ipairs {
    "bucket", "count", "sum", "avg", "min", "max", "first", "last", "distinct",
    "approx_distinct", "quantile", "words", "phrase", "regex", "icase", "search",
} do
    later[name] = colander[name]
end
local families = {}
local missing = setmetatable({}, {__mode = "v"}) -- when last looked up

db = store
for _, name in ipairs(conditions) do
    _G[name] = colander[name]
end

setmetatable(_G, {
    __index = function(_, name)
        local family = families[name]
        if family and exists(family, name) then return family end
        if type(name) ~= "string" then return nil end
        if family then families[name], missing[name] = nil, nil end
        family = missing[name]
        local is_there = family and exists(family, name)
        if is_there == nil then -- never looked up, or closed
            local is_fine
            is_fine, family = pcall(open, store, name)
            if not is_fine then
                local failure = family
                if type(failure) == "table" and failure.code == "invalid" then
                    return nil -- the name cannot be that of a family
                end
                error(failure, 0)
            end
            missing[name] = family
            is_there = exists(family, name)
        end
        if not is_there then return later[name] end
        families[name] = family
        return family
    end,
})
