-- Who tweets most, and whose tweets are liked most.
--
--     colander shell demo top_users.lua [COUNT]
--     lua5.4 top_users.lua demo [COUNT]
--
-- prints two lists of COUNT (10) users, with their number of tweets or likes.
-- The module counts and sums; a number for each user is held.
--
-- SPDX-License-Identifier: MIT
local colander = require "colander"
local words = {...}
local db = db or colander.open(
    table.remove(words, 1) or error("usage: top_users.lua STORE [COUNT]", 0),
    {mode = "readonly"})
local count = tonumber(words[1] or 10) or error("COUNT must be a number", 0)

-- Prints the `count` largest groups.
local function print_top(title, walk)
    local users = {}

    for user, number in walk do
        users[#users + 1] = {user = user, number = number}
    end
    table.sort(users, function(a, b)
        if a.number ~= b.number then return a.number > b.number end
        return colander.compare(a.user, b.user) < 0
    end)
    print(title)
    for i = 1, math.min(count, #users) do
        print(("%8d  %s"):format(users[i].number, users[i].user))
    end
end

local tweets = db:family("tweets")
print_top("tweets", tweets:find():group("user"):count())
print_top("likes", tweets:find():group("user"):sum("likes"))
