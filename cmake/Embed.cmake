# embed(FILE ARRAY): appends a C array with the bytes of the file to `arrays`.
#
# SPDX-License-Identifier: MIT
function(embed file array)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x0a,)" "\\1\n" bytes "${bytes}")
    set(arrays "${arrays}static const unsigned char ${array}[] = {\n${bytes}};\n\n"
        PARENT_SCOPE)
endfunction()
