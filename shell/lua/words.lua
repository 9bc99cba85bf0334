-- Help on the words of Lua: what `help` and .help print.
--
-- SPDX-License-Identifier: MIT
local _, _, debug = ...

-- Scripts may change the globals.
local find, gmatch, match = string.find, string.gmatch, string.match
local concat, sort = table.concat, table.sort
local getmetatable, getregistry = debug.getmetatable, debug.getregistry
local next, rawget, type = next, rawget, type
local module = colander

-- Each line: how the word is written | what it is | an example.
local lines = [==[
db:family(name)|a family, which need not exist|db:family("new"):put("k", {a = 1})
db:families()|the names of the families|db:families()
db:drop(name)|deletes a family with its rows|db:drop("old")
db:batch()|a batch of writes: all are stored, or none|db:batch():put(tweets, "k", {a = 1}):commit()
db:snapshot()|the store as it is now|tweets:find():at(db:snapshot()):count()
db:backup(directory [, options])|copies the store|db:backup("backups")
db:options()|the options in force|db:options()
db:path()|the absolute path of the store|db:path()
db:recovery()|what the open dropped from the logs, or nil|db:recovery()
family:find([condition [, range]])|the rows that meet the condition|tweets:find{lang = "pl", likes = gt(100)}
family:any_column(value)|the rows with the value in any column|tweets:any_column("Houston")
family:search(text)|the rows with these words in any column, or this "phrase"|tweets:search("rain"):limit(3)
family:scan([range])|the rows with keys in a range|sensors:scan{prefix = {"sensor-7"}}
family:count([condition [, range]])|the number of rows|tweets:count{lang = "pl"}
family:explain([condition [, range]])|how a find ran|tweets:explain{lang = "pl"}
family:get(key [, options])|the row with the key, or nil|tweets:get("t000001")
family:get_many(keys [, options])|the rows with the keys|tweets:get_many{"t000001", "t000002"}
family:put(key, row [, options])|writes a row; without a key under a new one|tweets:put("k", {user = "Wu"})
family:insert(key, row [, options])|writes a row unless there is one|tweets:insert("k", {user = "Wu"})
family:patch(key, columns [, options])|changes some columns of a row|tweets:patch("k", {likes = 5})
family:delete(key [, options])|deletes a row|tweets:delete("k")
family:delete_range(range)|deletes the rows with keys in a range|sensors:delete_range{prefix = {"sensor-7"}}
family:exists()|whether the family exists|tweets:exists()
family:create()|creates the family without rows|db:family("new"):create()
family:drop()|deletes the family with its rows|db:family("old"):drop()
family:rename(name)|gives it another name|db:family("old"):rename("new")
family:copy(name)|copies its rows|db:family("old"):copy("new")
family:time_column([path])|sets or returns its time column|tweets:time_column("created_at")
family:retain([policy])|deletes old rows|tweets:retain{keep = "30d", dry_run = true}
family:retention()|how long its rows are kept|tweets:retention()
family:flush()|writes unflushed rows to files|tweets:flush()
family:compact()|rewrites the files into few|tweets:compact()
family:sizes()|its rows and bytes, about|tweets:sizes()
family:name()|its name|tweets:name()
query:select(path, ...)|only these columns|tweets:find():select("user", "likes")
query:keys()|only keys|tweets:find():keys():limit(3)
query:limit(n)|at most n rows|tweets:find():limit(10)
query:skip(n)|without the first n rows|tweets:find():skip(10):limit(10)
query:order(path [, "desc"])|in the order of a column|tweets:find():order("likes", "desc"):limit(3)
query:reverse()|from the last key to the first|tweets:find():reverse():limit(3)
query:where(function)|rows for which the function returns true|tweets:find():where(function(row) return #row.text > 60 end)
query:at(snapshot)|as the store was|tweets:find():at(db:snapshot())
query:columns()|with the columns that matched|tweets:find{lang = "pl"}:columns()
query:threads(n)|read by n threads|tweets:find():threads(1)
query:first()|key and row of the first, or nothing|tweets:find{lang = "pl"}:first()
query:all()|an array of rows|#tweets:find{lang = "pl"}:all()
query:each(function)|calls the function for each row|tweets:find():limit(3):each(print)
query:count()|the number of rows|tweets:find{lang = "pl"}:count()
query:tojson()|lines of JSON|tweets:find():limit(2):tojson()
query:sum(path)|the sum of a column|tweets:find():sum("likes")
query:min(path)|its least value|tweets:find():min("likes")
query:max(path)|its greatest value|tweets:find():max("likes")
query:avg(path)|its average|tweets:find():avg("likes")
query:distinct(path)|each value of a column once|tweets:find():distinct("lang")
query:group(path)|rows by the values of a column|tweets:find():group("lang"):count()
group(key, ...):agg(measures)|groups with several keys and measures|tweets:find():group("lang", "place"):agg{n = count(), l = avg("likes")}
groups:order(name [, "desc"])|in the order of a column|tweets:find():group("user"):agg{n = count()}:order("n", "desc"):limit(3)
groups:limit(n)|the first n groups|tweets:find():group("user"):agg{n = count()}:limit(3)
groups:having(condition)|only groups that meet it; or a function|tweets:find():group("user"):agg{n = count()}:having{n = gt(40)}
groups:fill(what)|buckets without rows too: "null", "prev" or 0|tweets:find():group(bucket("at", "1h")):agg{n = count()}:fill(0)
groups:all()|an array of groups|#tweets:find():group("lang"):agg{n = count()}:all()
bucket(path, size [, zone])|the interval of a time|tweets:find():group(bucket("at", "1mo", "Europe/Berlin")):agg{n = count()}
count()|the number of rows of a group|tweets:find():group("lang"):agg{n = count()}
sum(path)|a sum; avg, min, max alike|tweets:find():group("lang"):agg{l = sum("likes")}
first(path [, time])|the value at the least time; last alike|tweets:find():group("lang"):agg{m = first("text", "at")}
distinct(path)|the number of different values; approx_distinct alike|tweets:find():group("lang"):agg{u = distinct("user")}
quantile(path, part)|a quantile, within 1 %|tweets:find():group("lang"):agg{p = quantile("likes", 0.95)}
query:delete([options])|deletes the rows; returns their number|tweets:find{lang = "pl"}:delete()
query:update(columns [, options])|changes columns of the rows; returns their number|tweets:find{lang = "pl"}:update{likes = 5}
query:plan()|how it would run|tweets:find{lang = "pl"}:plan()
query:explain()|how it ran|tweets:find{lang = "pl"}:explain()
query:seek(key)|continues at the key|tweets:find():seek("t05"):first()
eq(value)|equals the value|tweets:find{likes = eq(5)}
ne(value)|has another value|tweets:count{lang = ne("en")}
lt(value)|is less|tweets:count{likes = lt(5)}
le(value)|is less or equal|tweets:count{likes = le(5)}
gt(value)|is greater|tweets:count{likes = gt(900)}
ge(value)|is greater or equal|tweets:count{likes = ge(900)}
between(low, high)|is in the range, with its bounds|tweets:count{likes = between(5, 9)}
prefix(text)|begins with the text|tweets:count{user = prefix("Sm")}
contains(text)|has the text in it|tweets:count{text = contains("rain")}
words(text)|is a text with all these words, whatever their case|tweets:count{text = words("rain coff*")}
phrase(text)|is a text with these words, one after the other|tweets:count{text = phrase("fresh bread")}
regex(pattern)|is a text that the pattern matches|tweets:count{text = regex("r[ai]+n$")}
icase(condition)|the same, whatever the case of texts|tweets:count{user = icase("smith")}
search(text)|some column is a text with these words|tweets:count(search("rain") & where{lang = "en"})
exists|is there|tweets:count{place = exists}
missing|is not there|tweets:count{place = missing}
null|is null|tweets:count{place = null}
any(condition, ...)|meets one of the conditions|tweets:count{likes = any(0, ge(900))}
all(condition, ...)|meets all of them|tweets:count{likes = all(ge(5), ne(7))}
none(condition, ...)|meets none of them|tweets:count{lang = none("en", "pl")}
where(table)|a condition for & and the like|tweets:count(where{lang = "pl"} | where{likes = 0})
row(path)|the value at the path; nil if it is null, too|tweets:find():where(function(row) return row("place") end)
isnull(value)|whether the value is null or nil|isnull(tweets:get("t000001").place)
colander.timestamp(text)|a time|colander.timestamp("2015-03-24T10:00Z")
colander.duration(text)|seconds|colander.duration("7d")
colander.binary(bytes)|a binary value|colander.binary("\0\1")
colander.array(table)|the table, as an array|colander.array{}
colander.type(value)|the type of a value in a row|colander.type(5)
colander.compare(a, b)|-1, 0 or 1, in the order of keys|colander.compare(2, 10)
colander.tojson(value)|as JSON|colander.tojson{1, 2}
colander.fromjson(text)|a row|colander.fromjson('{"a": 1}')
]==]

local words = {} -- by name: a list of {form, what, example}
for form, what, example in gmatch(lines, "([^|\n]+)|([^|\n]+)|([^\n]+)\n") do
    local name = match(form, "^[%w_]+[:.]([%w_]+)") or match(form, "^[%w_]+")
    words[name] = words[name] or {}
    words[name][#words[name] + 1] = {form, what, example}
end

-- The handles of Lua, and how their methods are written.
local types = {
    ["colander.store"] = "db:", ["colander.family"] = "family:",
    ["colander.query"] = "query:",
}

local function describe(word)
    return concat {word[1], "\n    ", word[2], "\n    example: ", word[3]}
end

-- Returns the forms that begin so, in order, each with an example.
local function list(lead)
    local forms = {}
    for _, same in next, words do
        for i = 1, #same do
            if find(same[i][1], lead, 1, true) == 1 then
                forms[#forms + 1] = same[i][1] .. "  " .. same[i][2] ..
                    "\n    " .. same[i][3]
            end
        end
    end
    sort(forms)
    return concat(forms, "\n")
end

-- Returns the name of a function of the module or of a method.
local function name_of(call)
    for name, member in next, module do
        if member == call then return name end
    end
    for name in next, types do
        local metatable = rawget(getregistry(), name)
        local methods = metatable and rawget(metatable, "methods")
        for method, member in next, methods or {} do
            if member == call then return method end
        end
    end
end

-- Returns help on a word, a handle or a function, or nil.
return function(subject)
    if subject == nil then
        return "help(tweets), help \"find\" or help(gt) describe what can be " ..
            "written; .help lists commands.\n" .. list("family:")
    end
    local metatable = type(subject) == "userdata" and getmetatable(subject)
    local lead = metatable and types[rawget(metatable, "__name")]
    if lead then return list(lead) end
    if type(subject) == "function" then subject = name_of(subject) end
    for name in next, words do -- null and exists are values
        if rawget(module, name) == subject and type(subject) ~= "string" then
            subject = name
        end
    end
    local same = type(subject) == "string" and
        rawget(words, match(subject, "([%w_]+)%(?%)?$") or "")
    if not same then return nil end
    local texts = {}
    for i = 1, #same do texts[i] = describe(same[i]) end
    return concat(texts, "\n")
end
