-- Tarantool's vinyl engine as a peer, run by the program tarantool. Reads
-- commands, one JSON array a line, and answers each with a line: a number, or
-- an error message.
--
-- Usage: tarantool bench_peer_tarantool.lua FOLDER KEY WAY
--
-- A row is the tuple {key, document}. Ways: "none" scans; "one" has indexes on
-- paths into the document; "all" also stores the document's scalars, under one
-- multikey index.
--
-- SPDX-License-Identifier: MIT
local fiber = require("fiber")
local fio = require("fio")
local json = require("json")
local socket = require("socket")

local folder, key_name, way = arg[1], arg[2], arg[3]
local transaction = 1000

box.cfg {
    work_dir = folder, log = "log",
    vinyl_memory = 256 * 1024 * 1024,
    vinyl_cache = 256 * 1024 * 1024,
    wal_mode = "write", checkpoint_interval = 0,
}

local rows = box.schema.space.create("rows", { engine = "vinyl" })
rows:create_index("primary", { parts = { { 1, "unsigned" } } })

local indexed = {} -- column -> index

-- Calls take(scalar) for each scalar in a document, at every depth.
local function visit(value, take)
    if type(value) ~= "table" then
        take(value)
        return
    end
    for _, member in pairs(value) do
        visit(member, take)
    end
end

local function scalars_of(document)
    local list, is_listed = {}, {}

    for name, member in pairs(document) do
        visit(name == key_name and {} or member, function(scalar)
            if scalar ~= nil and not is_listed[scalar] then
                is_listed[scalar] = true
                table.insert(list, scalar)
            end
        end)
    end
    return list
end

local function add_column(column)
    indexed[column] = rows:create_index("by " .. column, {
        unique = false,
        parts = { { field = 2, path = '["' .. column .. '"]',
                    type = "scalar", is_nullable = true } },
    })
end

local function has(document, wanted)
    local is_there = false

    visit(document, function(scalar)
        is_there = is_there or scalar == wanted
    end)
    return is_there
end

local function count_all(column, value)
    local path = column and '[2]["' .. column .. '"]'
    local count = 0

    for _, tuple in rows.index.primary:pairs() do
        if path and tuple[path] == value or
            not path and has(tuple[2], value) then
            count = count + 1
        end
    end
    return count
end

local commands = {}

function commands.load(path)
    local count = 0

    box.begin()
    for line in io.lines(path) do
        local document = json.decode(line)
        local key = document[key_name]

        rows:replace({ key, document,
                       way == "all" and scalars_of(document) or nil })
        count = count + 1
        if count % transaction == 0 then
            box.commit()
            box.begin()
        end
    end
    box.commit()
    return count
end

function commands.index(column)
    if way == "one" then
        add_column(column)
    elseif way == "all" then
        rows:create_index("values", {
            unique = false,
            parts = { { field = 3, path = "[*]", type = "scalar" } },
        })
    end
    return 0
end

function commands.add_column(column)
    if way ~= "one" then
        return 0
    end
    add_column(column)
    return 1
end

function commands.settle()
    box.snapshot()
    while box.stat.vinyl().scheduler.tasks_inprogress > 0 do
        fiber.sleep(0.05)
    end
    return 0
end

-- Of its runs: pages of rows, what finds a page, and Bloom filters.
function commands.size()
    local size = 0
    local number = 0

    while rows.index[number] do
        local disk = rows.index[number]:stat().disk

        size = size + disk.bytes_compressed + disk.index_size +
            disk.bloom_size
        number = number + 1
    end
    return size
end

function commands.ask(column, value)
    local path, count

    column = column ~= json.NULL and column or nil
    if column and indexed[column] then
        return #indexed[column]:select(value)
    elseif not rows.index.values then
        return count_all(column, value)
    end
    path = column and '[2]["' .. column .. '"]'
    count = 0
    for _, tuple in rows.index.values:pairs(value) do
        if not column or tuple[path] == value then
            count = count + 1
        end
    end
    return count
end

io.stdout:setvbuf("line")
print(_TARANTOOL)
while socket.iowait(0, "R") do
    local line = io.read("*l")

    if not line then
        os.exit(0)
    end
    local command = json.decode(line)
    local _, answer = pcall(commands[command[1]], command[2], command[3])
    print((tostring(answer):gsub("\n", " ")))
end
