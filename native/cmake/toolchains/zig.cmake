# Compiles with Zig's C and C++ compiler, which has the C library of each platform and a C++ library that goes into each file.
#
# Reads     LOREKEEP_ZIG         a folder of programs for one target, see scripts/cross/zig.mjs
#           LOREKEEP_SYSTEM      Linux
#           LOREKEEP_PROCESSOR   x86_64 or aarch64
#           LOREKEEP_EMULATOR    runs the tests; optional
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LOREKEEP_ZIG LOREKEEP_SYSTEM LOREKEEP_PROCESSOR)
set(CMAKE_SYSTEM_NAME "${LOREKEEP_SYSTEM}")
set(CMAKE_SYSTEM_PROCESSOR "${LOREKEEP_PROCESSOR}")
set(CMAKE_C_COMPILER "${LOREKEEP_ZIG}/cc")
set(CMAKE_CXX_COMPILER "${LOREKEEP_ZIG}/c++")
set(CMAKE_AR "${LOREKEEP_ZIG}/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${LOREKEEP_ZIG}/ranlib" CACHE FILEPATH "")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-s")  # no program here strips the files of every target
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-s")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
if(LOREKEEP_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${LOREKEEP_EMULATOR}")
endif()
