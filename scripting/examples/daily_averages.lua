-- Daily averages of what sensors measure.
--
--     colander shell demo daily_averages.lua [COLUMN [SENSOR]]
--     lua5.4 daily_averages.lua demo [COLUMN [SENSOR]]
--
-- prints for each day (UTC) of each sensor, or of SENSOR alone, the number of
-- readings with COLUMN (temperature), and their minimum, average and maximum.
-- Keys are {sensor, seconds}, so readings come sensor by sensor and day by day,
-- and one day at a time is held.
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local words = {...}
local db = db or colander.open(
    table.remove(words, 1) or
        error("usage: daily_averages.lua STORE [COLUMN [SENSOR]]", 0),
    {mode = "readonly"})
local column = words[1] or "temperature"
local range = words[2] and {prefix = {words[2]}} or {}

local sensor, day             -- being read
local count, sum, least, most -- of that day

local function print_day()
    if day == nil then return end
    print(("%-10s %s  %6d  %8.2f  %8.2f  %8.2f"):format(
        sensor, os.date("!%F", day * 86400), count, least, sum / count, most))
end

local readings = db:family("sensors"):scan(range):select(column)
for key, row in readings do
    local number = colander.get(row, column)

    if math.type(number) then
        if key[1] ~= sensor or key[2] // 86400 ~= day then
            print_day()
            sensor, day = key[1], key[2] // 86400
            count, sum, least, most = 0, 0, number, number
        end
        count, sum = count + 1, sum + number
        least, most = math.min(least, number), math.max(most, number)
    end
end
print_day()
