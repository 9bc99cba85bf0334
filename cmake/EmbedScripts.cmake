# Generates a C file with the Lua scripts that are part of the program.
#
# Usage: cmake -D FILES=FILE|FILE... -D OUTPUT=... -P EmbedScripts.cmake
#
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/Embed.cmake)

string(REPLACE "|" ";" files "${FILES}")
set(arrays "")
set(entries "")
foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    embed(${file} ${name})
    string(APPEND entries "    {\"${name}\", ${name}, sizeof(${name})},\n")
endforeach()
file(WRITE ${OUTPUT}
"/* Generated from Lua scripts. SPDX-License-Identifier: MIT */
#include \"shell/scripts.h\"

${arrays}const struct script scripts[] = {
${entries}    {NULL, NULL, 0},
};
")
