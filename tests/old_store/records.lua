-- Prints tweets as JSON lines, or sensor records as CSV: always the same ones.
--
-- usage: lua5.4 records.lua tweets|sensors FIRST LAST
--
-- SPDX-License-Identifier: MIT
local kind, first, last = arg[1], math.tointeger(arg[2]), math.tointeger(arg[3])

local users = { "Smith", "Jones", "Wu", "Ångström", "O'Neil", "Houston" }
local tags = { "news", "local", "rain", "music" }
local langs = { "en", "pl", "de", "ja" }
local words = {
    "colander", "rows", "rain", "in", "Houston", "again", "café", "tea", "and",
    "chess", "so", "late",
}

-- A number below `limit` that depends only on `n` and `salt`.
local function pick(n, salt, limit)
    local x = (n * 2654435761 + salt * 40503) & 0xffffffff

    x = (x ~ (x >> 15)) * 2246822519 & 0xffffffff
    return (x ~ (x >> 13)) % limit
end

local function text(n)
    local list = {}

    for i = 1, 20 + pick(n, 1, 60) do
        list[i] = words[pick(n, i + 1, #words) + 1]
    end
    return table.concat(list, " ")
end

local function tweet(n)
    local tag = '{"text":"%s","indices":[%d,%d]}'
    local list = {}

    for i = 1, pick(n, 2, 4) do
        list[i] = tag:format(tags[pick(n, 2 + i, #tags) + 1], i, i + 4)
    end
    return ('{"id":%d,"id_str":"%d","text":"%s","lang":"%s","likes":%d,' ..
        '"user":{"name":"%s","id":%d,"verified":%s},' ..
        '"entities":{"hashtags":[%s]},"place":%s,"score":%.3f}'):format(
        900000000000000000 + n, 900000000000000000 + n, text(n),
        langs[pick(n, 3, #langs) + 1], pick(n, 4, 1000),
        users[pick(n, 5, #users) + 1], pick(n, 6, 1 << 31),
        pick(n, 7, 10) == 0, table.concat(list, ","),
        pick(n, 8, 5) == 0 and '"Houston"' or "null", pick(n, 9, 10000) / 1000)
end

local function sensor(n)
    return ("sensor-%d,%d,%.1f,%d,%s"):format(pick(n, 1, 7),
        1600000000 + 60 * n, pick(n, 2, 400) / 10 - 5, pick(n, 3, 100),
        pick(n, 4, 20) == 0 and "stuck" or "")
end

if kind == "sensors" then print("sensor,time,temperature,humidity,fault") end
for n = first, last do
    print(kind == "tweets" and tweet(n) or sensor(n))
end
