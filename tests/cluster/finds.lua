-- Prints what 2,000 random finds return: finds.lua SEED [COUNT].
--
-- SPDX-License-Identifier: MIT
local seed, count = tonumber(arg[1]), tonumber(arg[2] or 2000)
local rows = db.rows
local top = 3000

math.randomseed(seed)

local function number() return math.random(1, top + 300) end

local kinds = {
    function() return {n = number()} end,
    function() return {"text:" .. number()} end,
    function() return {"k=x" .. number()} end,
    function()
        local low = number()
        return {"n>=" .. low, "n<" .. low + math.random(40)}
    end,
    function() return {"n=" .. number() .. " or k=x" .. number()} end,
    function() return {"fifth=" .. number() // 5, "n>" .. number()} end,
    function() return {"k~^x" .. math.random(10, 99)} end,
    function() return {"text~~w " .. number() // 10} end,
}

for i = 1, count do
    local kind = kinds[math.random(#kinds)]
    local done, query = pcall(function() return rows:find(kind()) end)

    if not done then
        print(i, query)
    else
        local found = {}
        for key, row in query do
            found[#found + 1] = tostring(key) .. ":" .. tostring(row.n)
        end
        print(i, table.concat(found, " "))
    end
end
