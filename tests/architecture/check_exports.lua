-- Fails when the shared library shows anything but the functions that the
-- front headers declare with COLANDER_API, or lacks one of them.
--
-- Usage: lua5.4 check_exports.lua NM LIBRARY HEADER...
--
-- SPDX-License-Identifier: MIT
local nm, library = arg[1], arg[2]

local problem_count = 0
local function complain(...)
    io.stderr:write(string.format(...), "\n")
    problem_count = problem_count + 1
end

local function without_comments(text)
    return (text:gsub("/%*.-%*/", " "):gsub("\n#[^\n]*", "\n"))
end

local declared, declared_count = {}, 0
for index = 3, #arg do
    local file <close> = assert(io.open(arg[index]))
    local text = without_comments(file:read("a"))

    for name in text:gmatch("COLANDER_API[^;(]-([%w_]+)%s*%(") do
        if not declared[name] then declared_count = declared_count + 1 end
        declared[name] = true
    end
end
if declared_count == 0 then complain("no function in the headers") end

local exported = {}
local symbols <close> =
    assert(io.popen(nm .. " -D --defined-only '" .. library .. "'"))
for line in symbols:lines() do
    local name = line:match("(%S+)$")

    exported[name] = true
    if not declared[name] then
        complain("%s is exported, but in no header", name)
    end
end
for name in pairs(declared) do
    if not exported[name] then
        complain("%s is in a header, but not exported", name)
    end
end
os.exit(problem_count == 0)
