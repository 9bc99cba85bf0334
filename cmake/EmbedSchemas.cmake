# Generates a C file with all schemas and the script that checks schemas, so
# that the library needs no directory to find them in.
#
# Usage: cmake -D DIRECTORY=... -D CHECK=... -D OUTPUT=... -P EmbedSchemas.cmake
#
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/Embed.cmake)

file(GLOB files ${DIRECTORY}/*.lua)
list(SORT files)
set(arrays "")
set(entries "")
set(index 0)
foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    embed(${file} text_${index})
    string(APPEND entries
           "    {\"${name}\", text_${index}, sizeof(text_${index})},\n")
    math(EXPR index "${index} + 1")
endforeach()
embed(${CHECK} check)
file(WRITE ${OUTPUT}
"/* Generated from schemas/. SPDX-License-Identifier: MIT */
#include \"loading/known_schemas.h\"

${arrays}const struct known_schema known_schemas[] = {
${entries}    {NULL, NULL, 0},
};

const struct known_schema schema_check = {\"check\", check, sizeof(check)};
")
