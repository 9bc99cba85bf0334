-- Fails when a folder includes a folder above it, looks past its front headers,
-- or uses a library that is another layer's business.
--
-- Usage: lua5.4 check_layers.lua TOP
--
-- SPDX-License-Identifier: MIT
local layers = {
    "core", "columns", "filters", "loading", "scripting", "shell",
}

-- A folder's front headers besides the one that is named like it. Users get
-- those with COLANDER_API in them; the others are for the layers above. A folder
-- in a folder has one, which stands beside it.
local published = {
    ["core/block_slots.h"] = true,
    ["core/quiet_thread.h"] = true,
    ["core/mend.h"] = true,
    ["core/salvage.h"] = true,
    ["core/sst.h"] = true,
    ["columns/bulk.h"] = true,
    ["columns/upkeep.h"] = true,
    ["columns/values.h"] = true,
    ["columns/json.h"] = true,
    ["columns/limits.h"] = true,
    ["columns/candidates.h"] = true,
    ["loading/schema.h"] = true,
}

-- A bridge: the C++ files of a layer, and the headers that they share.
local function is_bridge(path)
    return path:find("%.cc$") or path:find("/bridge[%w_]*%.h$")
end

-- In core only this one decompresses what RocksDB compressed.
local function is_codec(path)
    return path == "core/tables/table_codec.c" or not path:find("^core/")
end

-- Libraries, the layers that may include their headers, and in which files.
local libraries = {
    { header = "^rocksdb/", layers = { core = true }, files = is_bridge },
    { header = "^msgpack", layers = { columns = true, shell = true } },
    { header = "^simdjson", layers = { columns = true }, files = is_bridge },
    { header = "^lua[a-z]*%.h", layers = { scripting = true, shell = true } },
    { header = "^zlib%.h", layers = { loading = true } },
    { header = "^zstd[%w_]*%.h", layers = { core = true, loading = true },
      files = is_codec, only = "core/tables/table_codec.c and loading" },
    { header = "^lz4[%w_]*%.h", layers = { core = true }, files = is_codec,
      only = "core/tables/table_codec.c" },
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

local function check(path, layer)
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

                if quoted or height[folder] then
                    check_folder(place, layer, included)
                end
                check_library(place, path, layer, included)
            end
        end
    end
end

local file_count = 0
for _, layer in ipairs(layers) do
    local list = io.popen("cd '" .. top .. "' && find " .. layer ..
                          " -name '*.c' -o -name '*.h' -o -name '*.cc'")
    for path in list:lines() do
        check(path, layer)
        file_count = file_count + 1
    end
    list:close()
end
if file_count == 0 then complain("no sources in %s", top) end
os.exit(problem_count == 0)
