# find_package(colander) defines the targets colander::colander and
# colander::load.
#
# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/colanderTargets.cmake)
