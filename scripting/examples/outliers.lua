-- Readings far from the mean of their sensor.
--
--     colander shell demo outliers.lua [COLUMN [N]]
--     lua5.4 outliers.lua demo [COLUMN [N]]
--
-- prints the readings whose COLUMN (temperature) is more than N (2.2) standard
-- deviations from the mean of its sensor, and how many deviations, and finally
-- their number. Reads rows twice, in one snapshot, and holds three numbers for
-- each sensor.
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local words = {...}
local db = db or colander.open(
    table.remove(words, 1) or
        error("usage: outliers.lua STORE [COLUMN [N]]", 0),
    {mode = "readonly"})
local column = words[1] or "temperature"
local limit = tonumber(words[2] or 2.2) or error("N must be a number", 0)

local snapshot <close> = db:snapshot()

-- Calls f(sensor, key, number) for each reading that has the column.
local function each_reading(f)
    local readings = db:family("sensors"):find():select(column):at(snapshot)

    for key, row in readings do
        local number = colander.get(row, column)

        if math.type(number) then f(key[1], key, number) end
    end
end

-- For each sensor the number of readings, their mean, and the sum of squared
-- distances from it, by Welford's method, which avoids large sums.
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
