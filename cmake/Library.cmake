# The library that programs link: all layers as one, and the headers as clients
# see them.
#
# SPDX-License-Identifier: MIT
set(COLANDER_PUBLISHED ${PROJECT_BINARY_DIR}/include)

# In the tree headers include each other by folder. Published, they are all in
# colander/, and their includes are rewritten accordingly.
function(colander_publish)
    set(headers colander.h core/core.h columns/limits.h columns/json.h
        columns/bulk.h columns/columns.h columns/groups.h columns/retention.h
        columns/partitions.h columns/predicates.h columns/rows.h
        columns/upkeep.h columns/values.h columns/words.h loading/load.h)
    if(COLANDER_FILTERS)
        list(APPEND headers filters/filters.h)
    endif()
    foreach(header ${headers})
        set(source ${PROJECT_SOURCE_DIR}/${header})
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
                     CMAKE_CONFIGURE_DEPENDS ${source})
        file(READ ${source} text)
        string(REGEX REPLACE "#include \"[a-z]+/([a-z_]+\\.h)\""
                             "#include \"\\1\"" text "${text}")
        if(NOT COLANDER_FILTERS)
            string(REPLACE "#include \"filters.h\"\n" "" text "${text}")
        endif()
        get_filename_component(name ${header} NAME)
        file(CONFIGURE OUTPUT ${COLANDER_PUBLISHED}/colander/${name}
             CONTENT "${text}" @ONLY)
    endforeach()
endfunction()

function(colander_library)
    get_property(layers GLOBAL PROPERTY COLANDER_LAYERS)
    get_property(libraries GLOBAL PROPERTY COLANDER_LIBRARIES)
    set(objects ${layers})
    list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:colander_\\1>")
    set(map ${PROJECT_SOURCE_DIR}/cmake/colander.map)

    colander_publish()
    add_library(colander SHARED ${objects})
    add_library(colander::colander ALIAS colander)
    set_target_properties(colander PROPERTIES LINKER_LANGUAGE CXX
        VERSION ${PROJECT_VERSION} SOVERSION ${COLANDER_SOVERSION} LINK_DEPENDS ${map})
    target_link_options(colander PRIVATE -Wl,--version-script=${map})
    if(NOT "${CMAKE_C_FLAGS}" MATCHES "-fsanitize")
        # A sanitizer's symbols are in the program; all others must be here.
        target_link_options(colander PRIVATE -Wl,-z,defs)
    endif()
    target_link_libraries(colander PRIVATE ${libraries} Threads::Threads)
    target_include_directories(colander INTERFACE
        $<BUILD_INTERFACE:${COLANDER_PUBLISHED}>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()
