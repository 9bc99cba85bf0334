# A layer is a folder, and a static library of its contents.
#
# SPDX-License-Identifier: MIT

# colander_layer(NAME [BELOW LAYER...] [LIBRARIES TARGET...])
#
# Declares colander_NAME, from the sources of the current folder and of its
# subfolders. BELOW lists the layers that it may call, from the top one down.
function(colander_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "BELOW;LIBRARIES")
    list(TRANSFORM layer_BELOW PREPEND colander_)

    file(GLOB sources CONFIGURE_DEPENDS *.c */*.c */*.cc)
    add_library(colander_${name} STATIC ${sources})
    target_compile_definitions(colander_${name} PUBLIC _GNU_SOURCE
        PRIVATE COLANDER_VERSION="${PROJECT_VERSION}")
    target_include_directories(colander_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(colander_${name} PUBLIC ${layer_BELOW}
        PRIVATE ${layer_LIBRARIES} Threads::Threads)

    set_property(GLOBAL APPEND PROPERTY COLANDER_LAYERS ${name})
    set_property(GLOBAL APPEND PROPERTY COLANDER_LIBRARIES ${layer_LIBRARIES})
endfunction()
