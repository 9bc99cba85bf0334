-- Readings of sensors: one row for each sensor and time.
--
-- For files with the columns "sensor" and "time" and any others, for example CSV
-- with sensor,time,temperature,humidity. For other names copy this file and
-- change them.
--
-- The key begins with the sensor, so the readings of one sensor are together,
-- ordered by time. In CSV the usual texts for missing values are null.
--
-- SPDX-License-Identifier: MIT
return {
    about = "Readings of sensors: the columns sensor and time, and any others",
    key = { "sensor", "time" },
    types = {
        sensor = "string", -- 007 is not 7
    },
    time = {
        column = "time",
        format = { "rfc3339", "unix" },
    },
    null = { "NA", "N/A", "NaN", "nan", "null", "NULL", "-" },
}
