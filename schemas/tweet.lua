-- Tweets, as Twitter's API (1.1) and the archives of accounts have them.
--
-- The key is the id as a text: as a number it is beyond what many programs
-- keep exactly, and both are in every tweet. Times become times: the API
-- writes "Wed Aug 27 13:08:45 +0000 2008", older archives
-- "2008-08-27 13:08:45 +0000". Archives wrap each tweet: {"tweet": {...}}.
--
-- SPDX-License-Identifier: MIT
local api_time = "%a %b %d %H:%M:%S %z %Y"

return {
    about = "Tweets of Twitter's API, and of archives of accounts",
    record = "tweet",
    key = "id_str",
    time = {
        column = {
            "created_at",
            "user.created_at",
            "retweeted_status.created_at",
            "retweeted_status.user.created_at",
            "quoted_status.created_at",
            "quoted_status.user.created_at",
        },
        format = { api_time, "rfc3339" },
    },

    -- archives have these as texts
    types = {
        id = "integer",
        favorite_count = "integer",
        retweet_count = "integer",
        in_reply_to_status_id = "integer",
        in_reply_to_user_id = "integer",
        ["entities.user_mentions[].id"] = "integer",
    },
}
