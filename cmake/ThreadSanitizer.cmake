# Programs and libraries under ThreadSanitizer report to it the memory that they
# access through the C library: tests/tsan/README.md explains why.
#
# SPDX-License-Identifier: MIT
if(NOT "${CMAKE_C_FLAGS}" MATCHES "-fsanitize=thread")
    return()
endif()

add_library(tsan_accesses STATIC
    ${PROJECT_SOURCE_DIR}/tests/tsan/accesses.c
    ${PROJECT_SOURCE_DIR}/tests/tsan/realloc.c)
target_include_directories(tsan_accesses PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_compile_definitions(tsan_accesses PRIVATE _GNU_SOURCE)
foreach(function memcpy memmove memset memcmp strlen pread pwrite realloc free
                 _ZdlPv _ZdlPvm _ZdaPv)
    add_link_options(LINKER:--wrap=${function})
endforeach()
# Applies to every target from here on, in whatever order it links the library.
add_link_options(LINKER:--undefined=__wrap_memcpy,--undefined=__wrap_realloc)
link_libraries($<BUILD_INTERFACE:tsan_accesses>)
