# Makes a C file of all schemas, so that the program needs no place to find
# them in.
#
# Usage: cmake -D DIRECTORY=... -D OUTPUT=... -P EmbedSchemas.cmake
#
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)

file(GLOB files ${DIRECTORY}/*.lua)
list(SORT files)
set(arrays "")
set(entries "")
set(index 0)
foreach(file ${files})
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x0a,)" "\\1\n" bytes "${bytes}")
    string(APPEND arrays
           "static const unsigned char text_${index}[] = {\n${bytes}};\n\n")
    string(APPEND entries
           "    {\"${name}\", text_${index}, sizeof(text_${index})},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT}
"/* Made of schemas/. SPDX-License-Identifier: MIT */
#include \"shell/known_schemas.h\"

${arrays}const struct known_schema known_schemas[] = {
${entries}    {NULL, NULL, 0},
};
")
