-- Fails on tabs, trailing spaces, long lines, long files, and files without
-- an SPDX line.
--
-- Usage: lua5.4 check_style.lua TOP
--
-- SPDX-License-Identifier: MIT
local width_max = 80
local line_count_max = 800

local top = arg[1] or "."

local problem_count = 0
local function complain(...)
    io.stderr:write(string.format(...), "\n")
    problem_count = problem_count + 1
end

local function check(path, is_c)
    local line_number = 0
    local has_licence = false

    for line in io.lines(top .. "/" .. path) do
        line_number = line_number + 1
        if line:find("SPDX-License-Identifier: MIT", 1, true) then
            has_licence = true
        end
        if line:find("\t", 1, true) then
            complain("%s:%d: a tab", path, line_number)
        end
        if line:find("%s$") then
            complain("%s:%d: spaces at the end", path, line_number)
        end
        -- Characters, not bytes; a line that is not UTF-8 counts its bytes.
        local width = utf8.len(line) or #line
        if is_c and width > width_max then
            complain("%s:%d: %d columns", path, line_number, width)
        end
    end
    if not has_licence then
        complain("%s: no SPDX line", path)
    end
    if is_c and line_number > line_count_max then
        complain("%s: %d lines", path, line_number)
    end
end

local file_count = 0
local function check_all(is_c, condition)
    local list <close> = io.popen("cd '" .. top .. "' && find . -path ./build " ..
        "-prune -o -name .git -prune -o -type f \\( " .. condition ..
        " \\) -print")
    for path in list:lines() do
        check(path:sub(3), is_c)
        file_count = file_count + 1
    end
end

check_all(true, "-name '*.c' -o -name '*.h' -o -name '*.cc'")
check_all(false, "-name '*.lua' -o -name '*.cmake' -o -name CMakeLists.txt " ..
    "-o -name '*.sh' -o -name 'check_*' -o -path './script/*' -o -path './.ci/*'")
if file_count == 0 then complain("no sources in %s", top) end
os.exit(problem_count == 0)
