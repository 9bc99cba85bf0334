-- Puts rows with every type of value, under keys of every type, and flushes
-- them; or writes rows that stay in the log, and kills its process.
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local tweets, kinds = db:family("tweets"), db:family("kinds")
local sensors, bulk = db:family("sensors"), db:family("bulk")
local step = ...

local every_type = {
    null = colander.null,
    truth = true,
    lie = false,
    small = -7,
    large = 9007199254740993,
    least = math.mininteger,
    unsigned = colander.unsigned("18446744073709551615"),
    double = -2.5,
    whole = 3.0,
    infinite = math.huge,
    empty = "",
    text = "café \u{1F600} \\ \" \1",
    binary = colander.binary("\0\1\255"),
    at = colander.timestamp(1600000000, 123456789),
    before = colander.timestamp(-5),
    extension = colander.extension(5, "five"),
    list = colander.array {},
    map = {},
    ["a.b"] = "dotted",
    deep = { a = { { b = { 1, { c = "deep" } } }, "Houston" }, n = 1.5 },
}

local keys = {
    "text", "", "t\0t", 0, -1, 255, 256, math.mininteger, 5.5, -2.25, true,
    false, colander.unsigned("18446744073709551615"), colander.binary("\0k"),
    colander.timestamp(1600000000, 5), colander.extension(9, "key"),
    { "sensor-7", 1600000000 }, { "sensor-7", 1600000000, "deep", 1.5, false },
}

local function id(n)
    return tostring(900000000000000000 + n)
end

if step == "flushed" then
    sensors:filters { noindex = { "humidity" } }
    bulk:filters { rows_per_segment = 0, hierarchy = "tree" }
    for i, key in ipairs(keys) do
        every_type.number = i
        kinds:put(key, every_type)
    end
    tweets:put(id(7), { text = "flushed over a loaded row", likes = 7 })
    tweets:delete(id(8))
    tweets:patch(id(9), { likes = 9, place = colander.null, late = "patched" })
    tweets:flush()
    kinds:flush()
    db:family("dropped"):put(1, { gone = true })
    db:family("dropped"):drop()
else
    for _, name in ipairs(db:families()) do db:family(name):await_filters() end
    tweets:put(id(17), { text = "unflushed", likes = -17, user = "Smith" })
    tweets:delete(id(18))
    tweets:patch(id(19), { likes = 19, late = { "unflushed", "patch" } })
    tweets:put("new", { text = "under a key of another type" })
    kinds:put("text", { number = 100, text = "unflushed" })
    db:batch():put(kinds, "batch", { of = "two families" })
        :put(sensors, { "sensor-9", 1 }, { temperature = 99.5, fault = "batch" })
        :delete(kinds, 255):commit()
    os.execute("kill -KILL $PPID")
end
