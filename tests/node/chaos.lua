-- The model of test_chaos.sh: what the stores of a family must have, by the
-- records in its topic.
--
--     lua5.4 chaos.lua WORK
--
-- WORK/log has the records of all partitions, by kcat: partition, offset, key,
-- headers, size and value of each, with tabs between them. journal.N is
-- that of a loader. Checks that each acknowledged record is in the log, and none
-- that was not sent. Some may be there twice: librdkafka sends a record again if
-- brokers have lost what they knew of its producer; then it counts twice, as for
-- the stores. Writes what is wanted in the end for each line of
-- WORK/queries to WORK/wanted.N, and that of rejects to WORK/wanted.rejects.
--
-- Then checks the answers in WORK/answers, which were given meanwhile: N.ask has
-- the time in ms, the exit status, the node, and the query; N.out the rows. A
-- store is a function of a prefix of its partition. So there must be, for each
-- partition, a prefix by which the answer is exact. WORK/stores has such answers
-- of one partition each.
--
-- SPDX-License-Identifier: MIT
local work = arg[1]
local problems = 0

local function complain(...)
    problems = problems + 1
    if problems <= 20 then
        io.stderr:write("FAILED: ", string.format(...), "\n")
    end
end

-- Files of a folder with this end, without it.
local function list(folder, ending)
    local names = {}
    local pipe = io.popen("ls -f '" .. work .. "/" .. folder .. "' 2>&1")
    for name in pipe:lines() do
        local stem = name:match("^(.*)%." .. ending .. "$")
        if stem then
            names[#names + 1] = work .. "/" .. folder .. "/" .. stem
        end
    end
    pipe:close()
    table.sort(names)
    return names
end

-- journal ------------------------------------------------------------------

local sent, acknowledged, acknowledged_count = {}, {}, 0
for loader = 1, 2 do
    local file = io.open(work .. "/journal." .. loader)
    for line in file:lines() do
        local what, number, time = line:match("^([sa]) (%d+) (%d+)$")
        if what then -- a loader may be killed in the middle of a line
            number = loader .. "-" .. number
            if what == "s" then
                sent[number] = true
            elseif not acknowledged[number] then
                acknowledged[number] = tonumber(time)
                acknowledged_count = acknowledged_count + 1
            end
        end
    end
    file:close()
end

-- log ------------------------------------------------------------------------

-- Of each key: the offsets of its records, and what the row was after them.
local histories = {}
local partitions = {} -- ids of each, and when records were acknowledged
local rejects = {}
local seen, log_count, twice_count = {}, 0, 0

local function columns_of(text)
    local columns = {}
    for name, value in text:gmatch('"(%w+)":("?[^",}]*"?)') do
        columns[#columns + 1] = { name, value }
    end
    return columns
end

local function text_of(id, columns)
    local parts = { '{"_key":' .. id }
    for _, column in ipairs(columns) do
        parts[#parts + 1] = '"' .. column[1] .. '":' .. column[2]
    end
    return table.concat(parts, ",") .. "}"
end

local function merge(text, columns)
    local merged = columns_of(text)
    for _, column in ipairs(columns) do
        local is_there = false
        for _, old in ipairs(merged) do
            if old[1] == column[1] then
                old[2], is_there = column[2], true
            end
        end
        if not is_there then
            merged[#merged + 1] = column
        end
    end
    return merged
end

local function apply(partition, offset, kind, op, key, value)
    if kind == "bad" then
        rejects[#rejects + 1] = { partition, offset, value }
        return
    end
    local id = tonumber(key)
    local history = histories[id]
    if not history then
        history = { partition = partition, offsets = { -1 }, texts = { false },
            places = {} }
        histories[id] = history
        local ids = partitions[partition].ids
        ids[#ids + 1] = id
    end
    if history.partition ~= partition then
        complain("key %d is in partitions %d and %d", id, partition,
            history.partition)
    end
    local before = history.texts[#history.texts]
    local text = false
    if kind == "put" then
        text = text_of(id, columns_of(value))
    elseif kind == "patch" then
        text = text_of(id, before and merge(before, columns_of(value)) or
            columns_of(value))
    end
    history.offsets[#history.offsets + 1] = offset
    history.texts[#history.texts + 1] = text
    if text then
        history.places[text] = #history.texts
    end
end

for line in io.lines(work .. "/log") do
    local partition, offset, key, headers, size, value = line:match(
        "^(%d+)\t(%d+)\t([^\t]*)\t([^\t]*)\t(%-?%d+)\t(.*)$")
    if not partition then
        complain("the log has the line '%s'", line)
        break
    end
    partition, offset = tonumber(partition), tonumber(offset)
    partitions[partition] = partitions[partition] or { ids = {}, times = {} }
    log_count = log_count + 1
    local number = headers:match("number=([%d-]+)")
    partitions[partition].times[offset] = acknowledged[number]
    if seen[number] then
        twice_count = twice_count + 1
    elseif not sent[number] then
        complain("record %s in the log was not sent", number)
    end
    seen[number] = true
    apply(partition, offset, headers:match("kind=(%w+)"),
        headers:match("op=(%w+)"), key, tonumber(size) >= 0 and value or nil)
end
for number in pairs(acknowledged) do
    if not seen[number] then
        complain("record %s was acknowledged, and is not in the log", number)
    end
end

-- queries --------------------------------------------------------------------

-- Returns the first and last key, the limit, whether it is reversed, and whether
-- a row that is text matches.
local function read_query(words)
    local kind, first, second = words:match("^(%S+) ?(%S*) ?(%S*)$")
    local query = { from = 0, to = math.huge, limit = math.huge,
        matches = function() return true end }
    if kind == "range" then
        query.from, query.to = tonumber(first), tonumber(second)
    elseif kind == "key" then
        query.from, query.to = tonumber(first), tonumber(first)
    elseif kind == "limit" or kind == "reverse" then
        query.limit = tonumber(first)
        query.is_reversed = kind == "reverse"
    elseif kind == "city" or kind == "any" or kind == "note" then
        local wanted = '"' .. first .. (second ~= "" and " " .. second or "") ..
            '"'
        query.matches = function(text)
            return text:find(wanted, 1, true) ~= nil
        end
    elseif kind ~= "all" then
        complain("the query '%s' is not known", words)
    end
    return query
end

local all = {}
for id in pairs(histories) do
    all[#all + 1] = id
end
table.sort(all)

local function write_wanted(words, path, partition)
    local query = read_query(words)
    local file = assert(io.open(path, "w"))
    local count = 0
    for i = 1, #all do
        local id = all[query.is_reversed and #all + 1 - i or i]
        local texts = histories[id].texts
        local text = texts[#texts]
        if id >= query.from and id <= query.to and text and
            query.matches(text) and count < query.limit and
            (not partition or histories[id].partition == partition) then
            count = count + 1
            file:write(text, "\n")
        end
    end
    file:close()
    return count
end

local row_count = write_wanted("all", work .. "/wanted.all")
local count = 0
for words in io.lines(work .. "/queries") do
    count = count + 1
    write_wanted(words, work .. "/wanted." .. count)
end
local file = assert(io.open(work .. "/wanted.rejects", "w"))
table.sort(rejects, function(a, b)
    return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2])
end)
for _, reject in ipairs(rejects) do
    file:write(string.format('{"_key":["c.rows",%d,%d],"record":"%s"}\n',
        reject[1], reject[2], (reject[3]:gsub('"', '\\"'))))
end
file:close()
for number, partition in pairs(partitions) do
    write_wanted("all", work .. "/wanted.p" .. number, number)
end

-- answers --------------------------------------------------------------------

-- Whether all of lo to hi is in one of the ranges.
local function is_covered(lo, hi, ranges)
    table.sort(ranges, function(a, b) return a[1] < b[1] end)
    for _, range in ipairs(ranges) do
        if range[1] > lo then
            return false
        end
        lo = math.max(lo, range[2] + 1)
        if lo > hi then
            return true
        end
    end
    return false
end

-- Returns the largest count of records of a partition after which it answers so,
-- or nil and the reason.
local function find_prefix(number, query, got)
    local lo, hi = 0, math.huge
    local why = {}
    local ids = partitions[number].ids
    for _, id in ipairs(ids) do
        local text = got[id]
        if text then
            local history = histories[id]
            local place = history.places[text]
            if not place then
                return nil, "there never was " .. text
            end
            if history.offsets[place] + 1 > lo then
                lo = history.offsets[place] + 1
                why[1] = text
            end
            local until_offset = history.offsets[place + 1] or math.huge
            if until_offset < hi then
                hi = until_offset
                why[2] = text
            end
        end
    end
    if lo > hi then
        return nil, string.format("%s is from offset %d on, %s only until %d",
            why[1], lo, why[2], hi)
    end
    local ranges = {}
    local missing
    for _, id in ipairs(ids) do
        if not got[id] and id >= query.from and id <= query.to then
            local offsets, texts = histories[id].offsets, histories[id].texts
            for i = #offsets, 2, -1 do
                local ends = offsets[i + 1] or math.huge
                if ends < lo then
                    break
                end
                if offsets[i] + 1 <= hi and texts[i] and
                    query.matches(texts[i]) then
                    ranges[#ranges + 1] = { offsets[i] + 1, ends }
                    missing = texts[i]
                end
            end
        end
    end
    if #ranges > 0 and is_covered(lo, hi, ranges) then
        return nil, string.format("of prefixes %d to %s none lacks rows such " ..
            "as %s", lo, hi, missing)
    end
    return hi
end

local answers, errors, oldest, oldest_name = 0, 0, 0, "none"

local function check(stem)
    local ask = assert(io.open(stem .. ".ask"))
    local time, status, node, words = ask:read("a"):match(
        "^(%d+) (%d+) (%S+) ([^\n]*)\n")
    ask:close()
    if not time then -- the last one was ended
        return
    elseif status ~= "0" then
        errors = errors + 1
        return
    end
    answers = answers + 1
    local query = read_query(words)
    local got, last = {}, query.is_reversed and math.huge or -1
    local lines, problem = 0, nil
    for line in io.lines(stem .. ".out") do
        local id = tonumber(line:match('^{"_key":(%d+)[,}]'))
        lines = lines + 1
        if not id or not histories[id] then
            problem = "there never was " .. line
            break
        elseif (query.is_reversed and id >= last) or
            (not query.is_reversed and id <= last) then
            problem = string.format("key %d after %d", id, last)
        elseif id < query.from or id > query.to then
            problem = string.format("key %d", id)
        elseif not query.matches(line) then
            problem = string.format("row %s", line)
        end
        got[id], last = line, id
    end
    if lines > query.limit then
        problem = "too many rows"
    elseif lines == query.limit then -- nothing is known of those after them
        query.from = query.is_reversed and last or query.from
        query.to = query.is_reversed and query.to or last
    end
    local only = words:match("^all") and stem:match("/p(%d+)%-[^/]*$")
    for number, partition in pairs(partitions) do
        if not problem and (not only or number == tonumber(only)) then
            local prefix, why = find_prefix(number, query, got)
            if not prefix then
                problem = string.format("partition %d: %s", number, why)
            elseif prefix < math.huge and partition.times[prefix] then
                local age = tonumber(time) - partition.times[prefix]
                if age > oldest then
                    oldest, oldest_name = age, stem .. " p" .. number
                end
            end
        end
    end
    if problem then
        complain("%s: node %s answers '%s' with %d rows: %s", stem, node, words,
            lines, problem)
    end
end

for _, folder in ipairs({ "answers", "stores" }) do
    for _, stem in ipairs(list(folder, "ask")) do
        check(stem)
    end
end

print(string.format("%d records, %d of them sent twice, %d acknowledged, " ..
    "%d rows, %d rejects; %d answers and %d errors meanwhile, the oldest %.1f s behind (%s)",
    log_count, twice_count, acknowledged_count, row_count, #rejects, answers,
    errors, oldest / 1000, oldest_name))
os.exit(problems == 0)
