# Cross-compiles for Linux on 64-bit ARM with Debian's g++-aarch64-linux-gnu; tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(LOREKEEP_QEMU qemu-aarch64)
if(LOREKEEP_QEMU)
  # Not `qemu-aarch64 -L /usr/aarch64-linux-gnu`: that folder would then be the programs' "/".
  set(LOREKEEP_ARM64_LIBRARIES /usr/aarch64-linux-gnu/lib)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${LOREKEEP_QEMU};${LOREKEEP_ARM64_LIBRARIES}/ld-linux-aarch64.so.1;--library-path;${LOREKEEP_ARM64_LIBRARIES}")
endif()
