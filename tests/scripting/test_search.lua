-- Conditions on texts: words, phrases, pieces, patterns, any case.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local fails = support.fails
local words, phrase, contains = colander.words, colander.phrase, colander.contains
local regex, icase, search = colander.regex, colander.icase, colander.search
local any_column, where = colander.any_column, colander.where

support.with_store(function(store)
    local rows = store:family("rows")

    rows:put(1, {text = "Heavy rain and wind", user = "Ann", n = 5})
    rows:put(2, {text = "a heavy load", user = "ann",
                 tags = {"rain", "cold snow"}, b = colander.binary("RAIN")})
    rows:put(3, {text = "Zürich: RAIN, heavy storms", user = "Wu",
                 m = {rain = "sun"}})

    -- Patterns may not be built.
    local has_patterns = pcall(rows.count, rows, {text = regex "x"})

    -- Keys as digits, in order.
    local function found(condition)
        local keys = {}
        for key in rows:find(condition):keys() do keys[#keys + 1] = key end
        return table.concat(keys)
    end

    local function check(expected, condition)
        local keys = found(condition)
        if keys ~= expected then
            error(("%s instead of %s"):format(keys, expected), 2)
        end
        local matching = {}
        for key = 1, 3 do
            local is_table = type(condition) == "table"
            if is_table and colander.matches(rows:get(key), condition) then
                matching[#matching + 1] = key
            end
        end
        assert(type(condition) ~= "table" or
               table.concat(matching) == expected)
    end

    check("13", {text = words "rain"})
    check("13", {text = words "HEAVY rain"})
    check("1", {text = phrase "heavy rain"})
    check("13", {text = words "rai*"})
    check("2", {["tags[]"] = phrase "cold sn*"})
    check("2", {["tags[]"] = contains "ld s"})
    check("3", {text = colander.all(words "storms", words "rain")})
    check("12", {user = icase "ANN"})
    check("123", {user = icase {"ANN", "wU"}})
    check("12", {user = icase(colander.prefix "AN")})
    check("13", {text = icase(contains "AIN")})
    check("3", {user = icase(colander.ne "ANN")})
    check("12", icase {user = "ANN"})
    check("1", icase {user = "ANN", n = 5})
    check("12", icase {"user=ANN", "or", "user=x"})
    check("1", icase {"user=ANN", "text~HEAVY"})
    check("12", where {user = icase "ANN"} & icase "user~A")
    check("123", search "heavy")
    check("123", search "rain")
    check("1", search '"heavy rain"')
    check("13", search "rain" & ~search "snow")
    check("23", search "snow" | where {user = "Wu"})
    check("2", any_column(contains "ld s"))
    check("2", "~~ld s")
    check("12", any_column(icase "ANN"))
    check("2", any_column(icase(phrase "COLD snow")))
    check("2", any_column(icase(contains "LD S")))
    check("1", any_column(colander.prefix "Heavy"))
    check("123", {"rain"})
    check("13", {"text:rain"})
    check("1", {"rain", user = "Ann"})
    check("123", "rain")
    check("13", "text:rain")
    check("1", '"heavy rain"')
    check("", {n = words "5"})
    check("2", {b = contains(colander.binary "AI")})

    check("", {b = icase(contains "rain")})
    if has_patterns then
        check("3", {text = regex "^Z.*[A-Z]{4},"})
        check("3", {text = icase(regex "^ZÜRICH")})
        check("12", {user = colander.any(icase "ANN", regex "^x")})
        check("3", any_column(regex "^sun$"))
        check("", {b = icase(regex "rain")})
        fails({"missing )"}, rows.find, rows, {text = regex "("})
    else
        fails({"patterns were not built"}, rows.find, rows, {text = regex "x"})
    end

    -- The columns that matched.
    local columns = {}
    for _, _, matched in rows:search("rain") do
        columns[#columns + 1] = table.concat(matched, " ")
    end
    assert(table.concat(columns, ",") == "text,tags[],text")
    assert(rows:search("rain"):count() == 3)
    assert(rows:search('"heavy rain"'):count() == 1)

    -- A word that is a column has two readings.
    fails({"'user' is a column", "'user?'"}, rows.find, rows, "user")
    fails({"'m.rain' is a column"}, rows.count, rows, {"m.rain", "or", "n=5"})
    check("", '"user"')
    check("", search "user")
    assert(store:family("none"):count("user") == 0)

    fails({"only the last word"}, rows.find, rows, {text = words "a* b"})
    fails({"no word"}, rows.search, rows, "...")
    fails({"no word"}, rows.find, rows, search "...")
    fails({"any_column"}, rows.find, rows, words "x")
    fails({"any_column", "gt"}, rows.any_column, rows, colander.gt(5))
    fails({"any_column"}, any_column, {})
    fails({"string expected"}, words, 5)
    fails({"text"}, rows.find, rows,
          {text = icase(contains(colander.binary "x"))})
    fails({"icase takes 1 value"}, icase)
    local endless = icase "x"
    endless[1] = endless
    fails({"nested deeper"}, rows.find, rows, {text = endless})
    fails({"nested deeper"}, rows.any_column, rows, endless)
end)
