-- The records of the demo store, each computed from its number, so that every
-- demo has the same rows. Called with a task, and whether to show progress.
--
-- SPDX-License-Identifier: MIT
local task, is_shown = ...
local fromjson = colander.fromjson
local concat, format = table.concat, string.format

local record_count = 100000 -- of each kind
local batch_rows = 1000
local readings_per_station = 1000

local surnames = {
    "Smith", "Nowak", "Garcia", "Houston", "Tanaka", "Silva", "Becker",
    "Jones", "Kowalska", "Lopez", "Suzuki", "Costa", "Keller", "Brown",
    "Wilson", "Zielinska", "Martin", "Rossi", "Novak", "Dubois", "Okafor",
    "Patel", "Andersson", "Murphy", "Yilmaz",
}
local first_names = {
    "Anna", "James", "Maria", "Piotr", "Yuki", "Lucas", "Emma", "Ahmed",
    "Zofia", "Daniel", "Chloe", "Mateo", "Ingrid", "Omar", "Grace", "Jan",
}
local cities = {
    "Houston", "Warsaw", "Madrid", "Berlin", "Tokyo", "Lisbon", "Chicago",
    "Krakow", "Seville", "Munich", "Osaka", "Porto", "Portland", "Gdansk",
    "Bilbao", "Bremen", "Nagoya", "Recife", "Dublin", "Lagos", "Mumbai",
    "Izmir", "Lyon", "Turin",
}
local words = {
    "coffee", "morning", "train", "rain", "music", "city", "river", "bread",
    "garden", "winter", "match", "bridge", "paper", "light", "again", "never",
    "today", "already", "maybe", "so", "the", "a", "my", "our", "with",
    "after", "before", "without", "love", "hate", "need", "see", "found",
    "missed", "heard", "good", "slow", "late", "quiet", "bright", "broken",
    "new",
}
local tags = {
    "coffee", "music", "travel", "weather", "Houston", "football", "garden",
    "books", "trains", "food", "news", "photo",
}
local languages = {"en", "en", "en", "en", "en", "es", "es", "pl", "de", "ja"}
local faults = {"fan", "drift", "power", "icing"}

local state -- of roll

-- Begins the numbers of a record, which depend on it alone.
local function begin(kind, number)
    state = (kind << 32 | number) * 0xD1342543DE82EF95
end

-- Returns the next number below `sides`, mixed as in MurmurHash3.
local function roll(sides)
    state = state + 0x9E3779B97F4A7C15
    local mixed = state
    mixed = (mixed ~ mixed >> 33) * 0xFF51AFD7ED558CCD
    mixed = (mixed ~ mixed >> 33) * 0xC4CEB9FE1A85EC53
    mixed = mixed ~ mixed >> 33
    if mixed >= 0 then return mixed % sides end
    return ((mixed >> 1) % sides * 2 + (mixed & 1)) % sides -- unsigned
end

local function pick(list)
    return list[roll(#list) + 1]
end

-- The account, which is the same for all tweets of a user.
local accounts = {}
local function account(user)
    if not accounts[user] then
        local before = state
        begin(3, user)
        local surname = surnames[user % #surnames + 1]
        local namesake = user // #surnames
        accounts[user] = format(
            '"user":"%s","profile":{"name":"%s %s","city":"%s","followers":%d}',
            namesake == 0 and surname or surname .. namesake,
            pick(first_names), surname, pick(cities), roll(20000))
        state = before
    end
    return accounts[user]
end

local text = {} -- of a tweet, word by word
local function tweet(number)
    begin(1, number)
    local user = account(roll(4000))
    local count = 5 + roll(7)
    for i = 1, count do
        text[i] = words[roll(#words) + 1]
    end
    local language = pick(languages)
    local die = roll(1000) -- most likes are few, and a few up to a thousand
    local place, entities = "", ""
    if roll(10) < 3 then
        place = ',"place":"' .. pick(cities) .. '"'
    end
    if roll(10) < 4 then
        local is_one = roll(2) == 0
        entities = ',"entities":{"hashtags":[{"text":"' .. pick(tags) ..
            (is_one and '"}]}' or '"},{"text":"' .. pick(tags) .. '"}]}')
    end
    return format(
        '{"_key":"t%06u",%s,"text":"%s","lang":"%s","likes":%d%s%s}', number,
        user, concat(text, " ", 1, count), language,
        die * die // 1000 * die // 1000, place, entities)
end

local function reading(number)
    begin(2, number)
    local step = number % readings_per_station
    local temperature = 150 + step // 20 + roll(20) -- of tenths
    local humidity = 30 + roll(50)
    local pressure = 9900 + roll(300) -- of tenths
    local fault = roll(2000) == 0 and ',"fault":"' .. pick(faults) .. '"' or ""
    return '{"_key":["sensor-' .. number // readings_per_station .. '",' ..
        1600000000 + step * 60 .. '],"temperature":' ..
        temperature // 10 .. "." .. temperature % 10 ..
        ',"humidity":' .. humidity .. ',"pressure":' ..
        pressure // 10 .. "." .. pressure % 10 ..
        ',"battery":' .. 100 - step // 25 .. fault .. "}"
end

local kinds = {
    {family = "tweets", record = tweet}, {family = "sensors", record = reading},
}

-- Returns whether the store has the record as it is generated.
local function has_record(kind, number)
    local row = fromjson(kind.record(number))
    local stored = db:family(kind.family):get(row._key)
    return stored and colander.tojson(stored) == colander.tojson(row)
end

local function report(family, count)
    if is_shown then
        io.stderr:write(format("\rloading %s: %d of %d%s", family, count,
            record_count, count == record_count and "\n" or ""))
    end
end

local tasks = {}

-- Returns whether the store has the last record of every kind.
function tasks.is_complete()
    return has_record(kinds[1], record_count - 1) and
        has_record(kinds[2], record_count - 1)
end

-- Returns whether the store is empty or a demo, complete or not: the first
-- record is written first.
function tasks.is_demo()
    return #db:families() == 0 or has_record(kinds[1], 0)
end

function tasks.load()
    for _, kind in ipairs(kinds) do
        local family = db:family(kind.family)
        local batch = db:batch()
        for first = 0, record_count - 1, batch_rows do
            for number = first, first + batch_rows - 1 do
                local row = fromjson(kind.record(number))
                batch:put(family, row._key, row)
            end
            batch:commit()
            report(kind.family, first + batch_rows)
        end
        family:flush()
    end
end

return tasks[task]()
