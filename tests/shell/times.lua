-- Random times in every form that a schema reads, and what a user does with
-- them after they were printed.
--
-- make COUNT: writes for each form FORM.jsonl, whose records have a text or
--     number "at", their number "n" and "k"; and FORM.lua, its schema. Prints
--     the names of the forms.
-- paste FORM: reads the exported rows from FORM.out. Writes entries of the shell
--     to FORM.in: each pastes a time in another way. FORM.expected has what
--     each must print.
--
-- SPDX-License-Identifier: MIT
local what, argument = ...

local first, last = -62135596800, 253402300799 -- years 1 to 9999
local seed = tonumber(os.getenv("COLANDER_SEED"))
math.randomseed(seed)

local function date(second, format)
    return colander.timestamp(second):date((format:gsub("%%Y", "%%04Y")))
end

-- A zone: its seconds, and how it is written with a colon and without.
local function zone(second)
    local minutes = math.random(-23 * 60, 23 * 60)

    -- the year has four digits in the zone, too
    if second + minutes * 60 < first or second + minutes * 60 > last then
        minutes = 0
    end
    local sign = minutes < 0 and "-" or "+"
    local hour, minute = math.abs(minutes) // 60, math.abs(minutes) % 60

    return minutes * 60, ("%s%02d:%02d"):format(sign, hour, minute),
        ("%s%02d%02d"):format(sign, hour, minute)
end

local function fraction(nanosecond)
    local digits = ("%09d"):format(nanosecond)

    return digits .. ("0"):rep(math.random(0, 3))
end

-- The date and time of a second in a zone. Sometimes it is a leap second.
local function clock(second, format, ahead)
    local local_second = second + ahead
    local text = date(local_second, format)

    if local_second % 60 == 0 and local_second > first and
       format:find("%%S$") and math.random(2) == 1 then
        text = date(local_second - 1, format):gsub("59$", "60")
    end
    return text
end

local patterns = {
    api = "%a %b %d %H:%M:%S %z %Y",
    us = "%m/%d/%Y %I:%M:%S.%f %p",
    day_of_year = "%Y.%j %T",
    short = "%d.%m.%Y %R",
}

-- Forms: each makes a text or number of a second and nanoseconds.
local forms = {
    { "rfc3339", "rfc3339", function(second, nanosecond)
        local ahead, with, without = zone(second)
        local text = clock(second, "%Y-%m-%dT%H:%M:%S", ahead)
        local kind = math.random(8)

        if kind <= 2 then return clock(second, "%Y-%m-%dT%H:%M:%S", 0) .. "Z" end
        if kind == 3 then return text .. "," .. fraction(nanosecond) .. with end
        if kind == 4 then return text:gsub("T", " ") .. " " .. without end
        if kind == 5 then return text:lower() .. "." .. fraction(nanosecond) .. "z" end
        if kind == 6 then
            return date(second + ahead, "%Y-%m-%dT%H:%M") .. with
        end
        if kind == 7 then return text end
        return text .. "." .. fraction(nanosecond) .. with
    end },
    { "dates", "rfc3339", function(second) return date(second, "%Y-%m-%d") end },
    { "unix", "unix", function(second, nanosecond)
        return math.random(2) == 1 and second or
            ("%d.%09d"):format(math.max(0, second), nanosecond)
    end },
    { "unix_ms", "unix_ms", function(second, nanosecond)
        return second * 1000 + nanosecond // 1000000
    end },
    { "unix_us", "unix_us", function(second, nanosecond)
        return second * 1000000 + nanosecond // 1000
    end },
    { "unix_ns", "unix_ns", function(_, nanosecond)
        return math.random(-9223372036, 9223372035) * 1000000000 + nanosecond
    end },
    { "api", patterns.api, function(second)
        local ahead, _, without = zone(second)
        local text = clock(second, "%a %b %d %H:%M:%S", ahead)

        return text .. " " .. without .. " " .. date(second + ahead, "%Y")
    end },
    { "us", patterns.us, function(second, nanosecond)
        return date(second, "%m/%d/%Y %I:%M:%S.") .. ("%09d"):format(nanosecond) ..
            date(second, " %p")
    end },
    { "day_of_year", patterns.day_of_year,
      function(second) return clock(second, "%Y.%j %H:%M:%S", 0) end },
    { "short", patterns.short,
      function(second) return date(second, "%d.%m.%Y %H:%M") end },
}

local function random_second(i)
    local chosen = { first, last, 0, -1, 951827696, 1483228800 }

    return i <= #chosen and chosen[i] or
        math.random(2) == 1 and math.random(first, last) or
        math.random(0, 2000000000) // 60 * 60
end

local function random_nanosecond()
    return math.random(3) == 1 and 0 or
        math.random(0, 999999999) // 10 ^ math.random(0, 9) // 1 | 0
end

local function write(name, text)
    local file <close> = assert(io.open(name, "w"))

    assert(file:write(text))
end

local function make(count)
    for _, form in ipairs(forms) do
        local name, format, text_of = form[1], form[2], form[3]
        local lines = {}

        for i = 1, count do
            local at = text_of(random_second(i), random_nanosecond())

            lines[i] = colander.tojson { k = "s-" .. i % 7, at = at, n = i }
        end
        write(name .. ".jsonl", table.concat(lines, "\n") .. "\n")
        write(name .. ".lua", ('return { key = { "k", "at", "n" }, ' ..
            'time = { column = "at", format = %q } }\n'):format(format))
        print(name)
    end
end

-- Several rows may have one time: a find of it returns all of them.
local function paste(form)
    local rows, by_time, by_text, written = {}, {}, {}, {}
    local entries, expected = {}, {}

    for line in io.lines(form .. ".jsonl") do
        local row = colander.fromjson(line)

        written[row.n] = row.at
    end
    for line in io.lines(form .. ".out") do
        local row = colander.fromjson(line)

        assert(row.at == row._key[2], "the key shows another time")
        rows[#rows + 1] = row
        for list, text in pairs { [by_time] = row.at,
                                  [by_text] = written[row.n] } do
            list[text] = list[text] or {}
            table.insert(list[text], row.n)
        end
    end
    local function add(entry, numbers)
        entries[#entries + 1] = entry
        expected[#expected + 1] = table.concat(numbers, "\n")
    end
    for _, row in ipairs(rows) do
        local at, same, one = row.at, by_time[row.at], { row.n }
        local key = ('["%s","%s",%d]'):format(row.k, at, row.n)
        local find = ".find " .. form .. " %s --select n"
        local function finds(numbers, format, ...)
            add(find:format(format:format(...)), numbers)
        end

        finds(same, "at=%s", at)
        finds(same, "'at=\"%s\"'", at)
        finds(same, "at=@%s", at)
        finds(same, "'at=[5,\"%s\",\"x\"]'", at)
        finds(same, "at~%s", at)
        finds(same, "'at>=%s' 'at<=%s'", at, at)
        finds(same, "--any %s", at)
        finds(one, "--key '%s'", key)
        finds(one, "--from '%s' --to '%s'", key, key)
        finds(one, "--prefix '%s'", key)
        finds(one, "--key '%s'", key:gsub('","', '","@'))
        add((".get %s '%s' --select n"):format(form, key), one)
        add(("for _, r in %s:find{at = %q} do print(r.n) end"):format(form, at),
            same)
        add(("print(%s:get{%q, colander.timestamp(%q), %d}.n)")
            :format(form, row.k, at, row.n), one)
        -- the rows that were loaded without a schema have their texts
        local text = written[row.n]
        if type(text) == "string" then
            table.sort(by_text[text]) -- their keys
            add((".find plain_%s 'at=%q' --select n"):format(form, text),
                by_text[text])
        end
        -- and what is written as in RFC 3339 finds its time in that form, too
        if form == "rfc3339" then
            finds(same, "'at=%s' ", text)
            finds(same, "'at=@%s' ", text)
            finds(one, "--key '%s'", key:gsub(at, text, 1))
        end
    end
    write(form .. ".in", table.concat(entries, "\n") .. "\n")
    write(form .. ".expected", table.concat(expected, "\n") .. "\n")
end

if what == "make" then make(tonumber(argument)) else paste(argument) end
