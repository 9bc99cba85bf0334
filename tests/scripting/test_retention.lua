-- Old rows deleted as a policy says, and policies of families.
--
-- SPDX-License-Identifier: MIT
package.path = "./?.lua;" .. package.path
local colander = require "colander"
local support = require "support"
local same, fails = support.same, support.fails
local day = 86400

support.with_store(function(store)
    local family = store:family("rows")

    for i = 1, 100 do
        family:put(i, {at = colander.timestamp(i * day),
                       level = i % 2 == 0 and "debug" or "info"})
    end
    family:put("x", {at = "1990-01-01"})
    fails({"no time column"}, family.retain, family, {keep = "30d"})
    assert(family:time_column() == nil)
    assert(family:time_column("at") == "at" and family:time_column() == "at")
    fails({"path"}, family.time_column, family, "a[")
    assert(family:time_column() == "at")

    local count, done = family:retain {keep = "30d", dry_run = true}
    assert(count == 69 and done.newest == colander.timestamp(100 * day))
    assert(done.reference == done.newest and family:count() == 101)
    assert(family:retention() == nil)
    fails({"has no retention"}, family.retain, family)
    assert(family:retain {keep = 50 * day, once = true} == 49)
    assert(family:retention() == nil and family:count() == 52)
    local policy = {keep = "40d", max_bytes = 1 << 40, rules = {
        {where = "level=debug", keep = "3d"},
        {where = {"level=info", "at<1970-01-02"}, keep = 7},
    }}
    assert(family:retain(policy) == 29) -- rows 50, 51, 53, ..., 59, 52, 54, ..., 96
    assert(same(family:retention(), {
        keep = 40 * day, max_bytes = 1 << 40, paused = false, rules = {
            {where = {"level=debug"}, keep = 3 * day},
            {where = {"level=info", "at<1970-01-02"}, keep = 7},
        }}))
    assert(family:retain() == 0)
    family:put("late", {at = colander.timestamp(10 * day)})
    assert(family:retain {dry_run = true} == 1 and family:retain() == 1)
    family:time_column("level")
    assert(family:retention().paused)
    fails({"paused"}, family.retain, family)
    family:time_column("at")
    assert(family:retain {off = true} == nil)
    assert(family:retention() == nil)

    -- conditions that may be others than were meant
    local function refused(part, options)
        options.keep = options.keep or "1s"
        fails({part}, family.retain, family, options)
        assert(family:retention() == nil)
    end
    local count = family:count()
    refused("a list expected, and it has '",
            {rules = {where = "level=info", keep = "999d"}})
    refused("a list expected, and it has 'pinned'",
            {rules = {{where = {"level=info", pinned = true}, keep = "999d"}}})
    refused("rules is empty", {rules = {}})
    refused("where is empty", {rules = {{where = "", keep = "9d"}}})
    refused("no row has 'levl'", {rules = {{where = "levl=info", keep = "9d"}}})
    refused("no row has 'levl'",
            {rules = {{where = {"not", "levl=info"}, keep = "9d"}}})
    refused("no row has 'pined'",
            {rules = {{where = {"level=info", "or", "pined?"}, keep = "9d"}}})
    refused("no row has 'pined'", {rules = {{where = "pined!", keep = "9d"}}})
    refused("no row meets 'level=inof'",
            {rules = {{where = "level=inof", keep = "9d"}}})
    refused("'or' must be a word beside it",
            {rules = {{where = "level=info\tor\tlevel=debug", keep = "9d"}}})
    fails({"force needs a policy"}, family.retain, family, {force = true})
    assert(family:count() == count)
    local force = {keep = "999d", once = true, force = true,
                   rules = {{where = "levl=info", keep = "9d"}}}
    assert(family:retain(force) == 0)
    force.force, force.dry_run = nil, true -- which only counts
    assert(family:retain(force) == 0)

    fails({"off excludes"}, family.retain, family, {off = true, keep = "1d"})
    fails({"unknown option 'kep'"}, family.retain, family, {kep = "1d"})
    fails({"not a duration"}, family.retain, family, {keep = "30"})
    fails({"keep must be"}, family.retain, family, {keep = {}})
    fails({"a second at least"}, family.retain, family, {keep = 0})
    fails({"max_bytes"}, family.retain, family, {max_bytes = 0})
    fails({"where is missing"}, family.retain, family, {rules = {{keep = 1}}})
    fails({"where is empty"}, family.retain, family,
          {rules = {{where = {}, keep = 1}}})
    fails({"keep is missing"}, family.retain, family, {rules = {{where = "a"}}})
    fails({"unknown option 'when'"}, family.retain, family,
          {rules = {{when = "a", keep = 1}}})
    fails({""}, family.retain, family, {rules = {{where = {1, {}}, keep = 1}}})
    fails({""}, family.retain, family, {rules = {{where = "a=[", keep = 1}}})
    assert(family:retain {rules = {{where = "level=none", keep = 1}}} == 0)
    assert(family:retention().keep == nil)
end)
