-- Reads the lists of bugs in this folder: see README.md.
--
-- Usage: lua5.4 plant.lua check TOP          every bug still applies
--        lua5.4 plant.lua list TOP           "NAME TEST FILE" of each bug
--        lua5.4 plant.lua apply TOP NAME     changes the file in TOP
--
-- SPDX-License-Identifier: MIT
local command, top, wanted = ...

local problem_count = 0
local function complain(...)
    io.stderr:write(string.format(...), "\n")
    problem_count = problem_count + 1
end

local function read(path)
    local file <close> = io.open(top .. "/" .. path, "rb")
    return file and file:read("a")
end

-- The bugs of a list: {name, test, path, old = lines, new = lines}
local function read_list(path, bugs)
    local bug
    for line in read(path):gmatch("[^\n]*") do
        local sign, text = line:match("^([-+ ])(.*)$")
        local name, test, file = line:match("^([%w_]+): ([%w_]+) (%S+)$")
        if name then
            bug = {name = name, test = test, path = file, old = {}, new = {}}
            bugs[#bugs + 1] = bug
        elseif sign and bug then
            if sign ~= "+" then bug.old[#bug.old + 1] = text .. "\n" end
            if sign ~= "-" then bug.new[#bug.new + 1] = text .. "\n" end
        elseif line ~= "" and line:sub(1, 1) ~= "#" then
            complain("%s: cannot read '%s'", path, line)
        end
    end
end

-- The text of the bug's file with the bug; nil and why it does not apply.
local function planted(bug)
    local text = read(bug.path)
    local old = table.concat(bug.old)
    if not text then return nil, "there is no " .. bug.path end
    if old == "" then return nil, "it says no line of the file" end
    text = "\n" .. text
    old = "\n" .. old
    local first, last = text:find(old, 1, true)
    if not first then return nil, bug.path .. " has no such lines" end
    if text:find(old, first + 1, true) then
        return nil, bug.path .. " has these lines twice"
    end
    return text:sub(2, first) .. table.concat(bug.new) .. text:sub(last + 1)
end

-- Whether tests/ has the source of the test.
local function has_test(test)
    local folder, stem = test:match("^(%l+)_(.+)$")
    if not folder then return false end
    return read("tests/" .. folder .. "/test_" .. stem .. ".c") or
        read("tests/" .. folder .. "/test_" .. stem .. ".lua") or
        read("tests/" .. folder .. "/test_" .. stem:gsub("_script$", "") ..
             ".sh")
end

local bugs = {}
for _, list in ipairs {"core", "columns", "filters", "clients"} do
    read_list("tests/planted/" .. list .. ".txt", bugs)
end

local seen = {}
for _, bug in ipairs(bugs) do
    if command == "list" then
        print(bug.name .. " " .. bug.test .. " " .. bug.path)
    elseif command == "check" then
        local text, why = planted(bug)
        if not text then complain("%s: %s", bug.name, why) end
        if seen[bug.name] then complain("%s: there are two", bug.name) end
        seen[bug.name] = true
        if not has_test(bug.test) then
            complain("%s: there is no test %s", bug.name, bug.test)
        end
    elseif bug.name == wanted then
        local text = assert(planted(bug))
        local file <close> = assert(io.open(top .. "/" .. bug.path, "wb"))
        file:write(text)
    end
end
os.exit(problem_count == 0)
