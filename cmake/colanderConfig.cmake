# find_package(colander) gives the target colander::colander.
#
# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/colanderTargets.cmake)
