# Cross-compiles for Windows with Debian's g++-mingw-w64-x86-64-posix; programs run under Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# GCC aligns the stack to 16 bytes for Windows and may move 32 as if it were aligned to 32 (GCC bug 54412). Kernels with many
# sections need big objects.
set(LOREKEEP_MINGW_FLAGS "-Wa,-muse-unaligned-vector-move -Wa,-mbig-obj")
set(CMAKE_C_FLAGS_INIT "${LOREKEEP_MINGW_FLAGS}")
set(CMAKE_CXX_FLAGS_INIT "${LOREKEEP_MINGW_FLAGS}")
# The libraries of GCC go into each file, and none of them exports those of another.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static -Wl,--exclude-libs,ALL")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-static -Wl,--exclude-libs,ALL")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(LOREKEEP_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(LOREKEEP_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${LOREKEEP_WINE}")
endif()
