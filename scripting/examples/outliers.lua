-- Readings that are far from what their sensor usually says.
--
--     colander shell demo outliers.lua [COLUMN [N]]
--     lua5.4 outliers.lua demo [COLUMN [N]]
--
-- prints the readings whose COLUMN (temperature) is more than N (2.2) standard
-- deviations from the mean of its sensor, and by how many, and at the end how
-- many there were. Rows are read twice, in one state of the store; what is held
-- is three numbers for each sensor.
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local words = {...}
local db = db or colander.open(
    table.remove(words, 1) or
        error("usage: outliers.lua STORE [COLUMN [N]]", 0),
    {mode = "readonly"})
local column = words[1] or "temperature"
local limit = tonumber(words[2] or 2.2) or error("N is a number", 0)

local snapshot <close> = db:snapshot()

-- Calls f(sensor, key, number) for each reading that has the column.
local function each_reading(f)
    local readings = db:family("sensors"):find():select(column):at(snapshot)

    for key, row in readings do
        local number = colander.get(row, column)

        if math.type(number) then f(key[1], key, number) end
    end
end

-- How many readings of each sensor, their mean, and the sum of the squares of
-- their distances from it, as Welford has it: without a sum that grows large.
local known = {}
each_reading(function(sensor, _, number)
    local sums = known[sensor] or {count = 0, mean = 0.0, squares = 0.0}
    local distance = number - sums.mean

    sums.count = sums.count + 1
    sums.mean = sums.mean + distance / sums.count
    sums.squares = sums.squares + distance * (number - sums.mean)
    known[sensor] = sums
end)

local count, outlier_count = 0, 0
each_reading(function(sensor, key, number)
    local sums = known[sensor]
    local deviation = math.sqrt(sums.squares / sums.count)
    local distance = (number - sums.mean) / deviation

    count = count + 1
    if deviation > 0 and math.abs(distance) > limit then
        outlier_count = outlier_count + 1
        print(("%-10s %s  %8.2f  %+.2f"):format(
            sensor, os.date("!%F %T", key[2]), number, distance))
    end
end)
print(("%d of %d readings"):format(outlier_count, count))
