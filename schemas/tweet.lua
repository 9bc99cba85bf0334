-- Tweets of Twitter's API (1.1) and of archives of accounts.
--
-- The key is the id as a text, which every tweet has beside the number: many
-- programs cannot keep the number exactly. The API writes times as
-- "Wed Aug 27 13:08:45 +0000 2008", older archives as
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

    -- texts in archives
    types = {
        id = "integer",
        favorite_count = "integer",
        retweet_count = "integer",
        in_reply_to_status_id = "integer",
        in_reply_to_user_id = "integer",
        ["entities.user_mentions[].id"] = "integer",
    },
}
