# Makes one HTML file of the files of a page, and generates a C file with it,
# with the same compressed, and with the policy that lets a browser run only
# its script and use only its style.
#
# Usage: cmake -D DIRECTORY=... -D OUTPUT=... -P EmbedPage.cmake
#
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/Embed.cmake)

# hash_of(TEXT RESULT): its SHA-256 in base64, as a policy has it.
function(hash_of text result)
    set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz)
    string(APPEND alphabet 0123456789+/)
    string(SHA256 hex "${text}")
    set(base64 "")
    foreach(at RANGE 0 63 3) # three digits are two characters
        string(SUBSTRING "${hex}00" ${at} 3 digits)
        math(EXPR high "0x${digits} >> 6")
        math(EXPR low "0x${digits} & 63")
        string(SUBSTRING ${alphabet} ${high} 1 first)
        string(SUBSTRING ${alphabet} ${low} 1 second)
        string(APPEND base64 ${first}${second})
    endforeach()
    string(SUBSTRING ${base64} 0 43 base64)
    set(${result} "'sha256-${base64}='" PARENT_SCOPE)
endfunction()

# In the order in which they run: main starts.
set(names text json dom server state families nodes columns search histogram rows
          row sieve export tail main)
set(script "\n'use strict';\n{\n")
foreach(name ${names})
    file(READ ${DIRECTORY}/${name}.js text)
    string(APPEND script "${text}")
endforeach()
string(APPEND script "}\n")
file(READ ${DIRECTORY}/page.css style)
file(READ ${DIRECTORY}/page.html page)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
hash_of("${script}" script_hash)
hash_of("${style}" style_hash)

set(plain ${OUTPUT}.html)
file(WRITE ${plain} "${page}")
execute_process(COMMAND gzip -9nc ${plain} OUTPUT_FILE ${plain}.gz
                COMMAND_ERROR_IS_FATAL ANY)
set(arrays "")
embed(${plain} plain)
embed(${plain}.gz packed)
file(WRITE ${OUTPUT}
"/* Generated from serve/page. SPDX-License-Identifier: MIT */
#include \"serve/page.h\"

${arrays}const struct page_bytes page_plain = {plain, sizeof(plain)};
const struct page_bytes page_packed = {packed, sizeof(packed)};
const char page_policy[] =
    \"default-src 'none'; script-src ${script_hash}; \"
    \"style-src ${style_hash}; img-src data:; connect-src 'self'; \"
    \"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \"
    \"require-trusted-types-for 'script'; trusted-types 'none'\";
")
