# What is installed: libraries, headers, program, manual pages, the schemas, to
# be read and copied, and the files by which pkg-config and CMake find the
# library. All of it may be moved as a whole.
#
# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/colander)

file(RELATIVE_PATH COLANDER_PC_PREFIX
     /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" COLANDER_PC_PREFIX ${COLANDER_PC_PREFIX})
configure_file(cmake/colander.pc.in colander.pc @ONLY)
configure_file(cmake/colander-load.pc.in colander-load.pc @ONLY)
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/colanderConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)

install(TARGETS colander colander_load EXPORT colander)
install(DIRECTORY ${COLANDER_PUBLISHED}/colander TYPE INCLUDE)
install(FILES docs/colander.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg"
                      PATTERN "*.png")
install(DIRECTORY schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/colander
        FILES_MATCHING PATTERN "*.lua")
install(FILES ${PROJECT_BINARY_DIR}/colander.pc
              ${PROJECT_BINARY_DIR}/colander-load.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT colander NAMESPACE colander:: DESTINATION ${package_dir}
        FILE colanderTargets.cmake)
install(FILES cmake/colanderConfig.cmake
              ${PROJECT_BINARY_DIR}/colanderConfigVersion.cmake
        DESTINATION ${package_dir})
