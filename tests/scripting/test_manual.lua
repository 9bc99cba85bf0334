-- The examples of docs/lua.md are one script that prints what the page says.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local support = require "support"

local has_filters
support.with_store(function(store)
    has_filters = store:family("rows").filters ~= nil
end)

local directory = os.tmpname()
os.remove(directory)
os.execute("mkdir '" .. directory .. "'")

-- The lines of the examples by line number, and the expected output.
local script, expected = {}, {}
local number, is_skipped = 0, false

for line in io.lines("../../docs/lua.md") do
    number = number + 1
    local code = line:match("^    (.*)$")

    if line:match("^## ") then
        is_skipped = line == "## Value filters" and not has_filters
    end
    script[number] = ""
    if code and not is_skipped then
        code = code:gsub('db:backup%("', '%0' .. directory .. "/")
        local text = code:match("%-%-> ?(.*)$")

        script[number] = code
        if text then
            expected[#expected + 1] = {text = text, line = number}
        end
    end
end
assert(#expected > 40, "few examples were found: " .. #expected)

-- What `print` would write, as lines.
local printed = {}
local environment = setmetatable({
    print = function(...)
        local texts = table.pack(...)

        for i = 1, texts.n do texts[i] = tostring(texts[i]) end
        for line in (table.concat(texts, "\t") .. "\n"):gmatch("(.-)\n") do
            printed[#printed + 1] = line
        end
    end,
}, {__index = _G})

local colander = require "colander"
local open = colander.open
function colander.open(path, options)
    if path ~= "nowhere" then path = directory .. "/" .. path end
    local opened, store = pcall(open, path, options)
    return opened and store or error(store, 0)
end
local restore = colander.restore
function colander.restore(from, path)
    return restore(directory .. "/" .. from, directory .. "/" .. path)
end

local chunk = assert(load(table.concat(script, "\n"), "@docs/lua.md", "t",
                          environment))
local done, problem = xpcall(chunk, debug.traceback)
colander.open, colander.restore = open, restore
collectgarbage()
collectgarbage()
os.execute("rm -rf '" .. directory .. "'")
if not done then error(problem, 0) end
for i, each in ipairs(expected) do
    if printed[i] ~= each.text then
        error(("docs/lua.md:%d: it prints '%s', and the manual says '%s'"):format(
            each.line, tostring(printed[i]), each.text))
    end
end
assert(#printed == #expected, "more is printed than the manual says")

-- Each function of the module and each method is in the manual.
local manual = io.open("../../docs/lua.md"):read("a")
local function check_names(functions)
    for name in pairs(functions) do
        assert(manual:find(name, 1, true), name .. " is not in the manual")
    end
end

check_names(colander)
support.with_store(function(store)
    local family = store:family("rows")

    for _, handle in ipairs {store, family, family:find(), store:batch()} do
        check_names(debug.getmetatable(handle).methods)
    end
end)
