-- Completion: see completion.h. The line is read from its end. The state of Lua
-- is inspected without running any code of a script.
--
-- SPDX-License-Identifier: MIT
local store, _, debug = ...

-- Scripts may change the globals.
local globals = _G
local find, gmatch, gsub = string.find, string.gmatch, string.gsub
local byte, match, rep, sub =
    string.byte, string.match, string.rep, string.sub
local concat, sort = table.concat, table.sort
local getmetatable, getregistry = debug.getmetatable, debug.getregistry
local next, pcall, rawget, type = next, pcall, rawget, type
local families_of = store.families

local names_max = 32 -- between dots
local seen_lines = 100 -- completions that a family's columns are known for
local families_max = 10 -- whose columns are offered without a name

local name_class = "^[%w_\x80-\xff]"
local keywords = {
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function",
    "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return",
    "then", "true", "until", "while",
}
-- Globals that a family of the name hides.
local hidden = {"words", "phrase", "regex", "icase", "search"}
local command_words = {
    "on", "off", "table", "line", "json", "jsonl", "csv", "msgpack",
}

-- Commands whose words are files.
local file_commands = {load = true, read = true, output = true, once = true}

local known = {age = 0} -- the columns of one family

-- Returns the bytes at the end of the text that are all of a class, which
-- begins with ^. A pattern that ends with $ would take quadratic time.
local function tail(text, class)
    local at = #text
    while at > 0 and match(text, class, at) do at = at - 1 end
    return sub(text, at + 1)
end

-- Returns the list that the function returns, or an empty one if it fails.
local function list_of(call, argument)
    local is_fine, items = pcall(call, argument)
    return is_fine and items or {}
end

-- Returns the paths of a family's columns, read again after a while.
local function columns_of(family, read_columns)
    if known.family ~= family or known.age == seen_lines then
        local paths = list_of(read_columns, family)
        known = {family = family, age = 0, paths = paths}
    else
        known.age = known.age + 1
    end
    return known.paths
end

-- Returns the quote that is open at the end of the line, what is after it, and
-- the depth of braces.
local function open_quote(line)
    local quote, first, depth = nil, 1, 0
    local at = 1
    while at <= #line do
        local char = sub(line, at, at)
        if quote and char == "\\" then
            at = at + 1
        elseif quote then
            if char == quote then quote = nil end
        elseif char == '"' or char == "'" then
            quote, first = char, at + 1
        elseif char == "{" then
            depth = depth + 1
        elseif char == "}" and depth > 0 then
            depth = depth - 1
        end
        at = at + 1
    end
    return quote, sub(line, first), depth
end

-- Returns the value of the dotted name at the end of `text`, of globals and
-- plain fields. A string has no members to offer.
local function named_value(text)
    local value, count = globals, 0
    local dotted = tail(text, "^[%w_.\x80-\xff]")
    for name in gmatch(dotted .. ".", "([^.]*)%.") do
        count = count + 1
        if name == "" or count > names_max or type(value) ~= "table" then
            return nil
        end
        value = rawget(value, name)
    end
    return type(value) ~= "string" and value or nil
end

-- Returns the last place of the name in the line, as a whole word.
local function last_place(line, name)
    local last
    local at = find(line, name, 1, true)
    while at do
        if not match(sub(line, at - 1, at - 1), name_class) and
            not match(sub(line, at + #name, at + #name), name_class) then
            last = at
        end
        at = find(line, name, at + 1, true)
    end
    return last
end

-- Returns the texts, which are in order, as lines of some width.
local function list(texts, width)
    local cell, column, parts = 0, 0, {}
    for i = 1, #texts do
        if #texts[i] > cell then cell = #texts[i] end
    end
    for i = 1, #texts do
        if column > 0 and column + cell > width then
            parts[#parts + 1] = "\n"
            column = 0
        end
        parts[#parts + 1] = texts[i] .. rep(" ", cell + 2 - #texts[i])
        column = column + cell + 2
    end
    return concat(parts)
end

-- Returns what all texts, which are in order, have in common.
local function common(texts)
    local first, last = texts[1], texts[#texts]
    local size = 0
    while size < #first and byte(first, size + 1) == byte(last, size + 1) do
        size = size + 1
    end
    while size > 0 and match(first, "^[\x80-\xbf]", size + 1) do
        size = size - 1 -- not a part of a character
    end
    return sub(first, 1, size)
end

-- Returns what to add to the line, if all that may follow begins with it, or
-- else what may follow, as lines. `commands` are the dot commands with their
-- options; `read_columns` returns the paths of a family, `list_files` the files
-- whose names begin with a text; nil: none are offered.
return function(line, commands, read_columns, width, list_files)
    local families = list_of(families_of, store)
    local offered = {}

    local function offer(text)
        offered[text] = true
    end

    local function offer_all(texts)
        for i = 1, #texts do offer(texts[i]) end
    end

    -- Offers the names in a table.
    local function offer_keys(members)
        if type(members) ~= "table" then return end
        for name in next, members do
            if type(name) == "string" and match(name, "^[%a_][%w_]*$") then
                offer(name)
            end
        end
    end

    -- Offers the methods of a type.
    local function offer_methods(metatable)
        if metatable then
            offer_keys(rawget(metatable, "methods") or
                       rawget(metatable, "__index"))
        end
    end

    -- Offers the columns of the last family that the line names, or of some.
    -- In quotes they are escaped; elsewhere they must be names of Lua.
    local function offer_columns(in_quotes)
        local last, last_at
        for i = 1, #families do
            local at = last_place(line, families[i])
            if at and (not last or at > last_at) then
                last, last_at = families[i], at
            end
        end
        for i = 1, last and 1 or #families do
            if i > families_max then break end
            local paths = columns_of(last or families[i], read_columns)
            for j = 1, #paths do
                if in_quotes then
                    offer((gsub(paths[j], "[\\\"']", "\\%0")))
                elseif match(paths[j], "^[%a_][%w_]*$") then
                    offer(paths[j])
                end
            end
        end
    end

    -- Offers what may follow `text` and a dot or colon.
    local function offer_after(text)
        local registry = getregistry()
        local value = named_value(text)
        if value ~= nil then
            offer_keys(value)
            offer_methods(getmetatable(value))
            return
        end
        local name = tail(text, name_class)
        for i = 1, #families do
            if families[i] == name then
                offer_methods(registry["colander.family"])
                return
            end
        end
        if not match(text, '[})"]$') then return end
        offer_methods(registry["colander.query"]) -- probably
        if find(text, ":group(", 1, true) then
            offer_methods(registry["colander.grouped"])
        end
        if find(text, ":family(", 1, true) then
            offer_methods(registry["colander.family"])
        end
    end

    -- Both return the word.
    local function complete_chunk()
        local quote, inside, depth = open_quote(line)
        local word = tail(line, name_class)
        local before = sub(line, 1, #line - #word)
        if quote then
            offer_all(families)
            offer_columns(true)
            return inside
        end
        if match(before, "[.:]$") then
            offer_after(sub(before, 1, -2))
            return word
        end
        if depth > 0 then offer_columns(false) end
        offer_keys(globals)
        offer_all(families)
        offer_all(keywords)
        offer_all(hidden)
        return word
    end

    local function complete_command()
        local word = tail(line, "^[^ .]")
        local command = match(line, "^.([^ ]*) ")
        if command and file_commands[command] and sub(word, 1, 1) ~= "-" then
            word = tail(line, "^[^ '\"]")
            offer_all(list_of(list_files, word))
            if command ~= "load" then return word end
            offer_all(families)
            return word
        end
        if #word == #line - 1 then
            offer_keys(commands)
        elseif sub(word, 1, 1) == "-" then
            offer_all(commands[match(line, "^.([^ ]*) ")] or {})
        else
            offer_all(families)
            offer_columns(true)
            offer_all(command_words)
        end
        return word
    end

    local word = match(line, "^%.%f[%a\0]") and complete_command() or
        complete_chunk()
    local texts = {}
    for text in next, offered do
        if sub(text, 1, #word) == word then texts[#texts + 1] = text end
    end
    if #texts == 0 then return nil end
    sort(texts)
    local added = sub(common(texts), #word + 1)
    if added ~= "" then return added end
    return nil, #texts > 1 and list(texts, width) or nil
end
