-- Fails on phrases that must be read twice, and suggests what to write instead.
-- Reads headers, *.md and docs/colander.1; the string literals of C and C++
-- files; Lua files of scripting/ and schemas/. Tests are not read, nor is
-- CHANGELOG.md, which is history.
--
-- Usage: lua5.4 check_prose.lua TOP [--count]
--
-- With --count it prints only the number of phrases, by folder.
--
-- SPDX-License-Identifier: MIT
local phrases = {
    { "a maybe", "a false positive" },
    { "anew", "again; or say rebuild" },
    { "are no", "are not", is_negation = true },
    { "are told", "are reported, are notified" },
    { "at hand", "present, available" },
    { "behind it", "after it" },
    { "behind that", "after that" },
    { "behind them", "after them" },
    { "besides", "in addition, also" },
    { "by itself", "automatically, alone" },
    { "feeder", "reader" },
    { "for ever", "forever, always" },
    { "gave up", "abandoned, provided" },
    { "given up", "abandoned, provided" },
    { "gives up", "abandons, provides" },
    { "go on behind", "continue after" },
    { "goes on behind", "continues after" },
    { "in vain", "without a result" },
    { "is no", "is not a", is_negation = true },
    { "is told", "is reported" },
    { "it is well", "it is intact" },
    { "mended", "repaired" },
    { "mends", "repairs" },
    { "newcomer", "new key" },
    { "newcomers", "new keys" },
    { "nobody", "no one, no thread, no caller" },
    { "of its own", "its own, separate" },
    { "so many", "a number of, N" },
    { "somebody", "another thread, the caller" },
    { "stand beside", "lie next to" },
    { "stand in", "are in" },
    { "stands beside", "lies next to" },
    { "stands in", "is in" },
    { "tell of", "report" },
    { "tells of", "reports" },
    { "those who", "callers, programs" },
    { "to be had", "available" },
    { "told of", "reported" },
    { "what is left", "the rest" },
    { "whoever", "the caller, a program that" },
    { "wrong maybe", "false positive" },
}

-- "there is no family" and "is no longer" are English.
local after_no = {
    faster = true, larger = true, later = true, less = true, longer = true,
    more = true, newer = true, older = true, smaller = true,
}

local top = arg[1] or "."
local counts_only = arg[2] == "--count"
local counts, total = {}, 0

local function report(path, line, phrase)
    local folder = path:match("^([^/]+)/") or "."

    counts[folder] = (counts[folder] or 0) + 1
    total = total + 1
    if not counts_only then
        io.stderr:write(('%s:%d: "%s": write %s\n'):format(path, line,
            phrase[1], phrase[2]))
    end
end

local function is_english(phrase, text, from, to)
    if not phrase.is_negation then return false end
    return text:sub(1, from - 1):find("there%s*$") ~= nil or
        after_no[text:match("^%s+(%a+)", to + 1)] ~= nil
end

-- Reports the phrases of a text whose other parts were replaced by spaces, so
-- that lines keep their numbers.
local function check_text(path, text)
    text = text:lower()
    for _, phrase in ipairs(phrases) do
        local pattern = "%f[%w_]" .. phrase[1]:gsub(" ", "%%s+") .. "%f[^%w_]"
        local at = 1

        while true do
            local from, to = text:find(pattern, at)

            if not from then break end
            if not is_english(phrase, text, from, to) then
                local _, newlines = text:sub(1, from):gsub("\n", "")

                report(path, newlines + 1, phrase)
            end
            at = to + 1
        end
    end
end

-- Everything but newlines becomes spaces.
local function blank(text)
    return (text:gsub("[^\n]", " "))
end

-- The string literals of a C text. Adjacent literals are joined.
local function literals_of(text)
    local parts, at = {}, 1

    while at <= #text do
        local two = text:sub(at, at + 1)
        local _, to

        if two == "/*" then
            _, to = text:find("*/", at + 2, true)
        elseif two == "//" then
            to = (text:find("\n", at, true) or #text + 1) - 1
        elseif two:find("^'") then
            _, to = text:find("^'\\?.[^']*'", at)
        elseif two:find('^"') then
            to = at + 1
            while to <= #text and text:sub(to, to) ~= '"' do
                to = to + (text:sub(to, to) == "\\" and 2 or 1)
            end
            parts[#parts + 1] = " " ..
                text:sub(at + 1, to - 1):gsub("\\.", "  ") .. " "
            at = to + 1
            goto continue
        else
            to = (text:find("[/'\"]", at + 1) or #text + 1) - 1
            -- code between two literals separates them, spaces do not
            local code = text:sub(at, to)

            parts[#parts + 1] = code:find("^%s*$") and code or
                blank(code):gsub("^ ", ".", 1)
            at = to + 1
            goto continue
        end
        to = to or #text
        parts[#parts + 1] = blank(text:sub(at, to))
        at = to + 1
        ::continue::
    end
    return table.concat(parts)
end

local function check_file(path)
    local file <close> = assert(io.open(top .. "/" .. path, "rb"))
    local text = file:read("a")

    if path:find("%.cc?$") then
        text = literals_of(text)
    else -- the start of a comment line does not separate a phrase
        text = text:gsub("\n( *)%*", "\n%1 "):gsub("\n( *)%-%-", "\n%1  ")
        text = text:gsub('"\n( *)"', " \n%1 ")
    end
    check_text(path, text)
end

local list <close> = io.popen("cd '" .. top .. "' && find . -path ./build " ..
    "-prune -o -name .git -prune -o -path ./tests -prune -o -type f \\( " ..
    "-name '*.[ch]' -o -name '*.cc' -o -name '*.md' -o -name colander.1 " ..
    "-o -path './scripting/*.lua' -o -path './schemas/*.lua' \\) -print | sort")
local file_count = 0

for path in list:lines() do
    if path ~= "./CHANGELOG.md" then check_file(path:sub(3)) end
    file_count = file_count + 1
end
if counts_only then
    for _, folder in ipairs { ".", "core", "columns", "filters", "loading",
        "scripting", "shell", "schemas", "docs", "examples" } do
        print(("%-10s %d"):format(folder, counts[folder] or 0))
    end
    print(("%-10s %d"):format("all", total))
end
os.exit(total == 0 and file_count > 0)
