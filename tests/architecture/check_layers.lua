-- Checks the layers and their rooms. Fails when
--   * a layer includes a layer above it, looks past the front headers of one
--     below, or uses a library that is another layer's business;
--   * a header inside a room is included from outside that room;
--   * rooms of one layer include each other in a circle;
--   * a layer has two sources of one name, or a folder too many of them;
--   * a source is missing in the README of its layer, or only named there.
--
-- Usage: lua5.4 check_layers.lua TOP
--
-- SPDX-License-Identifier: MIT
local layers = {
    "core", "columns", "filters", "loading", "scripting", "serve", "cluster",
    "node", "shell",
}

-- The front headers of a layer other than the one with its name. Those with
-- COLANDER_API are installed; the others are for the layers above. The headers
-- of a room are private to it, except those next to the room's folder.
local published = {
    ["core/array.h"] = true,
    ["core/block_slots.h"] = true,
    ["core/bulk_files.h"] = true,
    ["core/bytes.h"] = true,
    ["core/civil_time.h"] = true,
    ["core/clock.h"] = true,
    ["core/engine.h"] = true,
    ["core/fields.h"] = true,
    ["core/hash_index.h"] = true,
    ["core/heap.h"] = true,
    ["core/repair.h"] = true,
    ["core/salvage.h"] = true,
    ["core/sized.h"] = true,
    ["core/sst.h"] = true,
    ["core/sst_places.h"] = true,
    ["core/thread.h"] = true,
    ["core/zeroed.h"] = true,
    ["columns/bulk.h"] = true,
    ["columns/conditional.h"] = true,
    ["columns/groups.h"] = true,
    ["columns/retention.h"] = true,
    ["columns/upkeep.h"] = true,
    ["columns/values.h"] = true,
    ["columns/json.h"] = true,
    ["columns/limits.h"] = true,
    ["columns/numbers.h"] = true,
    ["columns/path.h"] = true,
    ["columns/partitions.h"] = true,
    ["columns/predicates.h"] = true,
    ["columns/rows.h"] = true,
    ["columns/runs.h"] = true,
    ["columns/union.h"] = true,
    ["columns/query_bytes.h"] = true,
    ["columns/group_bytes.h"] = true,
    ["columns/source.h"] = true,
    ["columns/unchecked.h"] = true,
    ["columns/words.h"] = true,
    ["columns/utf8.h"] = true,
    ["columns/candidates.h"] = true,
    ["filters/option_fields.h"] = true,
    ["loading/load.h"] = true,
    ["cluster/definition.h"] = true,
    ["cluster/members.h"] = true,
    ["cluster/placement.h"] = true,
    ["cluster/node_text.h"] = true,
    ["cluster/survey.h"] = true,
    ["cluster/topic.h"] = true,
    ["node/family_load.h"] = true,
    ["node/topic_stream.h"] = true,
    ["serve/peer_store.h"] = true,
    ["serve/remote.h"] = true,
    ["serve/systemd.h"] = true,
    ["serve/token.h"] = true,
}

-- A bridge: the C++ files of a layer, and the headers that they share.
local function is_bridge(path)
    return path:find("%.cc$") or path:find("^core/engine/")
end

-- In core only this one decompresses RocksDB's blocks, and in filters only
-- dictionaries are compressed.
local function is_codec(path)
    return path == "core/tables/table_codec.c" or
           path:find("^filters/files/dictionary_%a+%.c$") or
           not (path:find("^core/") or path:find("^filters/"))
end

-- In loading only the reader of schema files knows Lua.
local function reads_lua(path)
    return path:find("^loading/schema_") or not path:find("^loading/")
end

-- Libraries, the layers that may include their headers, and in which files.
local libraries = {
    { header = "^rocksdb/", layers = { core = true }, files = is_bridge },
    { header = "^msgpack", layers = { columns = true, shell = true } },
    { header = "^simdjson", layers = { columns = true }, files = is_bridge },
    { header = "^re2/", layers = { columns = true }, files = is_bridge },
    { header = "^lua[a-z]*%.h",
      layers = { loading = true, scripting = true, shell = true },
      files = reads_lua, only = "scripting, shell and loading/schema_*.c" },
    { header = "^zlib%.h", layers = { loading = true } },
    { header = "^zstd[%w_]*%.h",
      layers = { core = true, filters = true, loading = true },
      files = is_codec,
      only = "core/tables/table_codec.c, filters/files/dictionary_*.c and loading" },
    { header = "^lz4[%w_]*%.h", layers = { core = true }, files = is_codec,
      only = "core/tables/table_codec.c" },
    { header = "^microhttpd%.h", layers = { serve = true } },
    { header = "^curl/", layers = { serve = true, cluster = true } },
    { header = "^openssl/", layers = { cluster = true } },
    { header = "^librdkafka/", layers = { cluster = true } },
    { header = "^histedit%.h", layers = { shell = true } },
    { header = "^editline/", layers = { shell = true } },
}

local top = arg[1] or "."
local height = {}
for level, name in ipairs(layers) do height[name] = level end

local problem_count = 0
local function complain(...)
    io.stderr:write(string.format(...), "\n")
    problem_count = problem_count + 1
end

local function check_folder(place, layer, included)
    local target, header = included:match("^(%w+)/(.+)$")
    local inner = included:match("^%w+/%w+/")

    if included:find("..", 1, true) then
        complain("%s: write %s from the top of the tree", place, included)
    elseif not target then
        if included ~= "colander.h" or layer ~= "shell" then
            complain("%s: write the folder of %s", place, included)
        end
    elseif not height[target] then
        complain("%s: %s may not know %s", place, layer, target)
    elseif height[target] > height[layer] then
        complain("%s: %s may not know %s", place, layer, target)
    elseif target ~= layer and header ~= target .. ".h" and
           not published[included] then
        complain("%s: include %s/%s.h instead", place, target, target)
    elseif inner and place:sub(1, #inner) ~= inner then
        complain("%s: include %s.h instead", place, inner:sub(1, -2))
    end
end

local function check_library(place, path, layer, included)
    for _, library in ipairs(libraries) do
        if included:find(library.header) then
            if not library.layers[layer] then
                complain("%s: %s may not know %s", place, layer, included)
            elseif library.files and not library.files(path) then
                complain("%s: only %s may know %s", place,
                         library.only or "a bridge", included)
            end
        end
    end
end

-- Flat: they are a sequence of stages, not a set of rooms.
local source_count_max = 25
local flat = { loading = true, scripting = true }

-- The room that a file belongs to; nil if it is in the layer itself. A header
-- next to the rooms belongs to the room with its source or its name.
local function rooms_of(paths)
    local room_of, sources, rooms = {}, {}, {}

    for _, path in ipairs(paths) do
        local layer, room, name = path:match("^(%w+)/([%w_]+)/(.+)%.%w+$")

        if room then
            room_of[path] = layer .. "/" .. room
            rooms[layer .. "/" .. room] = true
            sources[layer .. "/" .. name] = room_of[path]
        end
    end
    for _, path in ipairs(paths) do
        local stem = path:match("^(%w+/[%w_]+)%.h$")

        if stem then
            room_of[path] = rooms[stem] and stem or sources[stem]
        end
    end
    return room_of
end

-- Complains of the first circle found among `edges`: room -> room -> place.
local function check_circles(edges)
    local names, state = {}, {}

    local function visit(room, trail)
        state[room] = "open"
        trail[#trail + 1] = room
        local targets = {}
        for target in pairs(edges[room] or {}) do
            targets[#targets + 1] = target
        end
        table.sort(targets)
        for _, target in ipairs(targets) do
            if state[target] == "open" then
                complain("%s: %s and %s include each other",
                         edges[room][target], target, room)
            elseif not state[target] then
                visit(target, trail)
            end
        end
        trail[#trail] = nil
        state[room] = "done"
    end

    for room in pairs(edges) do names[#names + 1] = room end
    table.sort(names)
    for _, room in ipairs(names) do
        if not state[room] then visit(room, {}) end
    end
end

local function check_names(layer, paths)
    local seen, counts = {}, {}

    for _, path in ipairs(paths) do
        local folder, name = path:match("^(.*)/([^/]+)$")

        if seen[name] then
            complain("%s: %s has that name, too", path, seen[name])
        end
        seen[name] = path
        if not name:find("%.h$") then
            counts[folder] = (counts[folder] or 0) + 1
        end
    end
    for folder, count in pairs(counts) do
        if count > source_count_max and not flat[folder] then
            complain("%s: %d sources, of %d at most", folder, count,
                     source_count_max)
        end
    end
    return seen
end

-- The names of sources in backquotes; `row.[ch]` is two, `order_*.c` many.
local function check_readmes(layer, seen)
    local list <close> = io.popen("cd '" .. top .. "' && find " .. layer ..
                                  " -name README.md")
    local named = {}

    for readme in list:lines() do
        for line in io.lines(top .. "/" .. readme) do
            if line:find("^|") then
                for word in line:match("^|([^|]*)"):gmatch("`([^`]+)`") do
                    local stem, ends = word:match("^(.*)%.%[([%w,]+)%]$")
                    local endings = {}

                    if not stem then
                        stem, ends = word:match("^(.*)%.(%l+)$")
                        endings = { ends }
                    elseif ends:find(",") then
                        for ending in ends:gmatch("%w+") do
                            endings[#endings + 1] = ending
                        end
                    else
                        for ending in ends:gmatch("%w") do
                            endings[#endings + 1] = ending
                        end
                    end
                    for _, ending in ipairs(endings) do
                        if ending == "c" or ending == "h" or ending == "cc" then
                            named[stem .. "." .. ending] = readme
                        end
                    end
                end
            end
        end
    end
    for name, path in pairs(seen) do
        if not named[name] then
            complain("%s: no README of %s names it", path, layer)
        end
    end
    for name, readme in pairs(named) do
        if not seen[name] then
            complain("%s: %s is not a source of %s", readme, name, layer)
        end
    end
end

local function check(path, layer, room_of, edges)
    local line_number = 0

    for line in io.lines(top .. "/" .. path) do
        local directive = line:match("^%s*#%s*include%s*(.+)")

        line_number = line_number + 1
        if directive then
            local place = path .. ":" .. line_number
            local quoted = directive:match('^"([^"]+)"')
            local included = quoted or directive:match("^<([^>]+)>")

            if not included then
                complain("%s: an include that names no file", place)
            else
                local folder = included:match("^(%w+)/")
                local from, to = room_of[path], room_of[included]

                if quoted or height[folder] then
                    check_folder(place, layer, included)
                end
                check_library(place, path, layer, included)
                if from and to and from ~= to and folder == layer then
                    edges[from] = edges[from] or {}
                    edges[from][to] = edges[from][to] or place
                end
            end
        end
    end
end

local file_count = 0
for _, layer in ipairs(layers) do
    local list <close> = io.popen("cd '" .. top .. "' && find " .. layer ..
        " -name '*.c' -o -name '*.h' -o -name '*.cc' | LC_ALL=C sort")
    local paths, edges = {}, {}

    for path in list:lines() do paths[#paths + 1] = path end
    local room_of = rooms_of(paths)
    for _, path in ipairs(paths) do check(path, layer, room_of, edges) end
    check_circles(edges)
    check_readmes(layer, check_names(layer, paths))
    file_count = file_count + #paths
end
if file_count == 0 then complain("no sources in %s", top) end
os.exit(problem_count == 0)
