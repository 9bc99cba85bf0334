-- The rockspec: it is valid Lua, of this version, and its names exist.
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local top = "../../"

local function read(path)
    local file <close> = assert(io.open(top .. path))

    return file:read("a")
end

local path = ("colander-%s-1.rockspec"):format(colander.version)
local rock = {}
assert(load(read(path), "@" .. path, "t", rock))()
assert(rock.package == "colander" and type(rock.source.url) == "string")
assert(rock.version == colander.version .. "-1", rock.version)
assert(rock.description.license == "MIT" and read("LICENSE"):find("^MIT"))
for _, directory in ipairs(rock.build.copy_directories) do
    assert(os.rename(top .. directory, top .. directory), directory)
end

-- Its options exist, and it installs files from where the build puts them.
local command = rock.build.build_command
for option in command:gmatch("%-D(COLANDER_[%w_]+)") do
    assert(read("CMakeLists.txt"):find("option(" .. option .. " ", 1, true))
end
local target = command:match("%-%-target ([%w_]+)")
assert(read("scripting/CMakeLists.txt"):find(
    "add_library(" .. target .. " MODULE", 1, true))
local build, installed = command:match("%-B ([%w/]+)"), rock.build.install.lib
assert(installed.colander == build .. "/scripting/colander.so")
local so = rock.version:match("^%d+%.%d+") -- the same as in CMakeLists.txt
assert(installed[1] == build .. "/libcolander.so." .. so and not installed[2])
