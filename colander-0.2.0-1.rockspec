-- The Lua module as a rock: `luarocks --lua-version 5.4 make` in this folder.
-- The rock contains the library. The libraries it links must be installed, as for
-- any build (script/install-dependencies).
--
-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "colander"
version = "0.2.0-1"
source = {
    url = ".", -- this tree
}
description = {
    summary = "A wide-column store that finds rows by any value",
    detailed = [[
An embedded store on RocksDB. A row is any set of named columns under a key.
Columns are not declared and indexes are not chosen: rows are found by any value,
in a named column or in any column.]],
    license = "MIT",
}
supported_platforms = {"linux"}
dependencies = {"lua >= 5.4, < 5.5"}
build = {
    type = "command",
    build_command = "cmake -S . -B build/rock -DCMAKE_BUILD_TYPE=Release"
        .. " -DCOLANDER_TESTS=OFF -DCOLANDER_SERVER=OFF -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"
        .. " && cmake --build build/rock --target colander_module",
    install = {
        lib = {
            colander = "build/rock/scripting/colander.so",
            "build/rock/libcolander.so.0.2",
        },
    },
    copy_directories = {"docs"},
}
