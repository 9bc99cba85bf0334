-- Fails if the shared library exports anything but the functions that the front
-- headers declare with COLANDER_API, or lacks one of them; and if the comment
-- of such a function does not begin with a verb: "Returns", "Opens".
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

-- The first word of the comment that ends right before `position`; nil: none.
local function first_word(text, position)
    local before = text:sub(1, position - 1)
    local comment = before:match("^.*(/%*.*)$")

    if not comment or not comment:find("%*/%s*$") then return nil end
    return comment:match("^/%*[%s%*]*(%a+)")
end

local function check_contracts(path, text)
    for position, name in
        text:gmatch("\n()COLANDER_API[^;(]-([%w_]+)%s*%(") do
        local word = first_word(text, position)

        if not word then
            complain("%s: %s has no contract", path, name)
        elseif not word:find("^%u%l*s$") then
            complain("%s: the contract of %s begins with '%s', not a verb",
                     path, name, word)
        end
    end
end

local declared, declared_count = {}, 0
for index = 3, #arg do
    local file <close> = assert(io.open(arg[index]))
    local whole = file:read("a")
    local text = without_comments(whole)

    check_contracts(arg[index], whole)

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
