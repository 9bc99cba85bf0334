-- Which hashtags occur together most often.
--
--     colander shell demo hashtags.lua [COUNT]
--     lua5.4 hashtags.lua demo [COUNT]
--
-- prints the COUNT (10) pairs that most tweets have, and the share of the
-- tweets with either tag that have both. Value filters find the tweets with
-- hashtags; a number for each tag and each pair is held.
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local words = {...}
local db = db or colander.open(
    table.remove(words, 1) or error("usage: hashtags.lua STORE [COUNT]", 0),
    {mode = "readonly"})
local count = tonumber(words[1] or 10) or error("COUNT must be a number", 0)

local tag_counts, pair_counts = {}, {}

local function add(counts, name)
    counts[name] = (counts[name] or 0) + 1
end

-- The distinct tags of a tweet, sorted.
local function tags_of(tweet)
    local tags, is_known = {}, {}

    for _, hashtag in ipairs(tweet.entities.hashtags) do
        if not is_known[hashtag.text] then tags[#tags + 1] = hashtag.text end
        is_known[hashtag.text] = true
    end
    table.sort(tags)
    return tags
end

local tagged = {["entities.hashtags"] = colander.exists}
for _, tweet in db:family("tweets"):find(tagged):select("entities.hashtags") do
    local tags = tags_of(tweet)

    for i, tag in ipairs(tags) do
        add(tag_counts, tag)
        for j = i + 1, #tags do add(pair_counts, tag .. "\0" .. tags[j]) end
    end
end

local pairs_found = {}
for name, number in pairs(pair_counts) do
    local first, second = name:match("(.*)\0(.*)")
    local either = tag_counts[first] + tag_counts[second] - number

    pairs_found[#pairs_found + 1] = {
        number = number,
        share = 100 * number / either,
        name = first .. " " .. second,
    }
end
table.sort(pairs_found, function(a, b)
    if a.number ~= b.number then return a.number > b.number end
    return a.name < b.name
end)
print("  tweets  share  hashtags")
for i = 1, math.min(count, #pairs_found) do
    local found = pairs_found[i]

    print(("%8d %5.1f%%  %s"):format(found.number, found.share, found.name))
end
