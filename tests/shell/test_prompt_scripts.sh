#!/bin/bash
# Lua at the prompt: the completions of Tab, how values are printed, and the
# globals.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/lib"
: "${COLANDER_SOURCE:?the folder of the sources}"

"$COLANDER" shell "$work/s" -e 'db:family("users"):put(1, {name = "Ann"})' \
    </dev/null >/dev/null || complain 'no store'

# ---- Tab ------------------------------------------------------------------------

# completes LINE ADDED [CHUNK]: Tab adds ADDED, a Lua expression, to the line.
# The chunk runs first.
cat >"$work/complete.lua" <<'END'
local line, before = ...
local function read_columns(name)
    assert(name == "users", "cannot read")
    return {"name"}
end
local chunk = assert(loadfile(os.getenv("COLANDER_SOURCE") ..
    "/shell/prompt/completion.lua"))
local complete = chunk(db, nil, debug)
load(before or "")()
local start = os.clock()
print(complete(load("return " .. line)(), {families = {}}, read_columns, 80))
assert(os.clock() - start < 5, "it takes quadratic time")
END
completes() {
    run 0 shell "$work/s" "$work/complete.lua" "$1" "${3-}"
    prints "$2"
}
completes '"users:coun"' t
completes '"x = string.form"' at
completes '"users:find{na"' me
completes '"\"Ann\" .. users:find{[\"na"' me
completes '".find users na"' me
completes '".fam"' ilies
for line in '("a"):rep(100000) .. "("' '("."):rep(100000) .. "a("' \
    '".find " .. ("a"):rep(100000) .. ","' '("\"\""):rep(50000) .. "z"'; do
    run 0 shell "$work/s" "$work/complete.lua" "$line"
done

completes '"string.form"' at 'db:close()'
completes '".fam"' ilies 'db:close()'
completes '"x{retu"' rn 'db:family("others"):create()'

# ---- values ---------------------------------------------------------------------

for value in 5 '"text"' false 'function() return {} end' \
    'function() error("of the script", 2) end' \
    'function() error("of the script", 3) end'; do
    run 1 shell "$work/s" -e "{setmetatable({}, {__tostring = $value})}"
    ! grep -q 'inspect' "$work/err" || complain "a line of ours: $(cat "$work/err")"
done
run 0 shell "$work/s" --safe -e '{setmetatable({}, {__tostring = function()
    return 5 end}), "\"a\\b"}'
prints '{5, "\"a\\b"}'

cat >"$work/inspect.lua" <<'END'
local chunk = assert(loadfile(os.getenv("COLANDER_SOURCE") ..
    "/shell/prompt/inspect.lua"))
local inspect = chunk(nil, function(text) return text end, debug)
local long = ("x"):rep(1e7)
collectgarbage("stop")
local before = collectgarbage("count")
print(inspect({long}, 10), inspect(long, 10), inspect({"12345678"}, 10))
assert(collectgarbage("count") - before < 1000, "it copies what it cuts off")
END
run 0 shell "$work/s" "$work/inspect.lua"
prints '{"xxxxxxxx…", …}'$'\t''xxxxxxxxxx…'$'\t''{"12345678", …}'

# ---- globals --------------------------------------------------------------------

run 0 shell "$work/s" -e 'print(users, nosuch, _G[1], _G["a\0b"], _G["\xff"],
    _G[""], _G["a/b"], _G[("x"):rep(100000)])'
prints "family 'users'"$'\tnil\tnil\tnil\tnil\tnil\tnil\tnil'
run 0 shell "$work/s" -e 'later = nil; print(later); db:family("later"):put(1, {})
    print(later:count()); later:drop(); db:family("later"):put(2, {})
    print(later:get(2) ~= nil, later:get(1))'
prints $'nil\n1\ntrue\tnil'
for name in users nosuch; do
    run 1 shell "$work/s" -e "local _ = users; db:close(); print($name)"
    says_some '^colander: the store is closed$'
done

# Dot commands are for the prompt, and for what is piped. Help has conditions.
run 1 shell "$work/s" -e '.find users'
says_some '^commands that begin with a dot are for the prompt'
run 1 shell "$work/s" -e '5 +* 5'
grep -q 'for the prompt' "$work/err" && complain 'Lua is said to be a dot command'
echo .help | "$COLANDER" shell "$work/s" >"$work/out" 2>&1
prints_some '^Conditions: eq ne .* between '

# A family that a global hides, and methods of other values
"$COLANDER" shell "$work/hidden" -e 'db:family("all"):put(1, {}) db:family("print"):put(1, {})' \
    </dev/null || complain 'no store'
run 1 shell "$work/hidden" -e 'all:find()'
says_some "\(global 'all'\): the family is db\.all$"
run 1 shell "$work/hidden" -e 'print.x:find()'
says_some "\(global 'print'\): the family is db\.print$"
run 1 shell "$work/hidden" -e 'all = {} all:find()'
says_some "\(method 'find'\): a family has it: the family is db\.all$"
run 1 shell "$work/hidden" -e 'any:find()'
grep -q 'the family' "$work/err" && complain 'a family that does not exist is named'
run 0 shell "$work/hidden" -e 'db.all:find()'
prints '{"_key":1}'
run 1 shell "$work/hidden" -e 'db.all:first()'
says_some "\(method 'first'\): queries have it, such as find\{\.\.\.\}:first\(\)$"
run 1 shell "$work/hidden" -e 'db.all:find():group("a"):count():limit(3)'
says_some 'a function value: groups are for a loop, such as for value, count in '
run 1 shell "$work/hidden" -e 'db:put(1, {})'
says_some "\(method 'put'\): a family has it$"

# Groups are headed by names, not by paths.
run 0 shell "$work/hidden" -e 'local all = db.all
all:put(1, {["PM2.5"] = 3, count = 5})
return all:find():group("PM2\\.5"):avg("PM2\\.5")'
prints '{"PM2.5":3,"avg PM2.5":3.0}'
run 0 shell "$work/hidden" -e 'return db.all:find():group("count"):count()'
prints '{"count":5,"rows":1}'

# Help has no word that does not exist, and each example runs.
cat >"$work/words.lua" <<'END'
local registry = debug.getregistry()
local types = {["db:"] = "store", ["family:"] = "family", ["query:"] = "query"}
local count = 0
for lead, type in pairs(types) do
    local handle = type == "store" and db or tweets
    if type == "query" then handle = tweets:find() end
    for form, example in help(handle):gmatch("(%S[^\n]*)\n    ([^\n]+)") do
        local name = form:match("^%w+:([%w_]+)%(")
        assert(registry["colander." .. type].methods[name], form)
        assert(load("return " .. example), example)
        assert(help(name):find("example: ", 1, true), name)
        count = count + 1
    end
end
for name in pairs(colander) do
    local text = help(name)
    local example = text and text:match("example: ([^\n]+)")
    if example and not text:find("[yb]:") then -- no method has the name
        local works, why = pcall(assert(load("return " .. example)))
        assert(works or tostring(why):find("patterns were not built", 1, true), why)
        count = count + 1
    end
end
print(count > 70)
END
make_demo
run 0 shell "$work/demo" --readonly "$work/words.lua"
prints true
finish
