-- Readings of sensors: one row for each sensor and time.
--
-- For files with the columns "sensor" and "time" and any others beside them: in
-- CSV, say, sensor,time,temperature,humidity. Where they are called otherwise,
-- copy this file and change the names.
--
-- The key begins with the sensor, so that the readings of one are together, in
-- the order of time. What was not measured is written in many ways: in CSV all
-- that is usual is taken for null.
--
-- SPDX-License-Identifier: MIT
return {
    about = "Readings of sensors: the columns sensor and time, and any others",
    key = { "sensor", "time" },
    types = {
        sensor = "string", -- 007 is no 7
    },
    time = {
        column = "time",
        format = { "rfc3339", "unix" },
    },
    null = { "NA", "N/A", "NaN", "nan", "null", "NULL", "-" },
}
