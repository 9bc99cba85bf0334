-- Removes from the open libraries what sandbox.h does not allow. It is an
-- allow-list: what it does not name is missing.
--
-- SPDX-License-Identifier: MIT
local load, collect, error = load, collectgarbage, error

local allowed = {
    _G = [[_VERSION assert collectgarbage error getmetatable ipairs load next
        pairs pcall print rawequal rawget rawlen rawset select setmetatable
        tonumber tostring type xpcall _G coroutine math os string table utf8]],
    coroutine = "close create isyieldable resume running status wrap yield",
    math = [[abs acos asin atan ceil cos deg exp floor fmod huge log max
        maxinteger min mininteger modf pi rad random randomseed sin sqrt tan
        tointeger type ult]],
    os = "clock date difftime time",
    string = [[byte char find format gmatch gsub len lower match pack packsize
        rep reverse sub unpack upper]],
    table = "concat insert move pack remove sort unpack",
    utf8 = "char charpattern codepoint codes len offset",
}

-- Lua's, but the mode is always "t".
_G.load = function(chunk, name, _, ...)
    return load(chunk, name, "t", ...)
end

-- Lua's, but scripts must not tune the collector.
function collectgarbage(option)
    if option ~= nil and option ~= "collect" and option ~= "count" then
        error("bad argument #1 to 'collectgarbage' (invalid option)", 2)
    end
    return collect(option)
end

for library, names in pairs(allowed) do
    local members = _G[library]
    local kept = {}
    for name in names:gmatch("%S+") do kept[name] = true end
    for name in pairs(members) do
        if not kept[name] then members[name] = nil end
    end
end
