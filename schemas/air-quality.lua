-- Air quality of Beijing, hour by hour and station by station (UCI Machine
-- Learning Repository, 501): CSV with the columns
--
--     No year month day hour PM2.5 PM10 SO2 NO2 CO O3 TEMP PRES DEWP RAIN wd
--     WSPM station
--
-- SPDX-License-Identifier: MIT
return {
    about = "Hourly air quality of Beijing's stations (UCI 501), CSV",
    key = { "station", "year", "month", "day", "hour" },
    null = "NA",
    delimiter = ",",

    -- guesses are right for all others
    types = {
        station = "string",
        wd = "string",
    },
}
