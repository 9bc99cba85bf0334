# The libraries. RocksDB is found through pkg-config: its own CMake package
# requires the development files of everything that it was built with.
#
# SPDX-License-Identifier: MIT
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ROCKSDB REQUIRED IMPORTED_TARGET rocksdb>=7.8)
pkg_check_modules(MSGPACK REQUIRED IMPORTED_TARGET msgpack)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson>=3.0)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(EDIT REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(LUA REQUIRED lua5.4)
if(COLANDER_SERVER)
    pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd>=0.9.75)
endif()
if(COLANDER_SERVER OR COLANDER_CLUSTER)
    pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.88)
endif()
if(COLANDER_CLUSTER)
    pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto>=3.0)
    pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka>=2.0.2)
endif()

# Without RE2 the library has no patterns, and says so. It is C++, and Debian's
# file has no version.
if(COLANDER_PATTERNS)
    pkg_check_modules(RE2 IMPORTED_TARGET re2)
endif()
set(COLANDER_RE2)
if(COLANDER_PATTERNS AND RE2_FOUND)
    set(COLANDER_RE2 PkgConfig::RE2)
    set(COLANDER_PC_RE2 ", re2")
else()
    message(STATUS "Without patterns (=~): RE2 is off or missing")
endif()
