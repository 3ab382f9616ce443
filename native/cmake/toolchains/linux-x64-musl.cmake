# Compiles for musl with a cross compiler, such as musl.cc's or Alpine's. LOREKEEP_MUSL names its prefix:
# x86_64-linux-musl. `npm run test:musl` brings Zig's compiler. (Debian's musl-tools has a C compiler only.)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(LOREKEEP_MUSL x86_64-linux-musl CACHE STRING "Prefix of the compiler's programs")
set(CMAKE_C_COMPILER ${LOREKEEP_MUSL}-gcc)
set(CMAKE_CXX_COMPILER ${LOREKEEP_MUSL}-g++)
